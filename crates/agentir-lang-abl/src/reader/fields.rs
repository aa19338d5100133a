//! Reads fields: selects the shape of a value and finds where it is written.

use super::{
    HEADS, Reader,
    collections::{depth, is_inline, is_unclosed},
    versions::Usage,
};
use crate::inline;
use crate::schema::{FieldDef, FieldType, Header, Naming, RecordType, Version};
use crate::tree::{Field, Format, Record, Value};
use agentir_diagnostics::{Applicability, Diagnostic, Span, Spanned, closest};
use agentir_expr::{Condition, ConditionKind};
use agentir_syntax::misspelled::unknown_field;
use agentir_syntax::outline::{Entry, EntryKind, Key, Scalar, Style};
use agentir_syntax::rules;
use agentir_syntax::text::offset;
use smol_str::SmolStr;

impl<'t, 's: 't> Reader<'t, 's, '_> {
    #[expect(clippy::too_many_arguments, reason = "the parts of one entry")]
    pub(super) fn field(
        &mut self,
        record: &mut Record<'t>,
        def: &'static FieldDef,
        entry: &'t Entry<'s>,
        key: Key<'s>,
        value: Option<&'t Scalar<'s>>,
        children: &'t [Entry<'s>],
        top: bool,
    ) {
        self.note_version(def, key);
        if let Some(before) = record.fields.iter().find(|f| std::ptr::eq(f.def, def)) {
            // A repeated collection is continued; any other field is overwritten.
            let is_continued =
                matches!(&before.value, Value::Record(r) if r.ty.items.is_some()) || def.repeats;
            if !is_continued || top {
                let rule = if top { rules::DUPLICATE_SECTION } else { rules::DUPLICATE_FIELD };
                let effect = if is_continued {
                    "the contents of both are merged"
                } else {
                    "the last one is used; the earlier one is ignored"
                };
                if !def.repeats {
                    self.problems.push(
                        Diagnostic::warning(rule, key.span, format!("duplicate `{}`", key.text))
                            .label(before.key, "first used here")
                            .note(effect),
                    );
                }
            }
        }
        let (field_type, value) = self.select_type(def.field_type, value, children);
        let span = value.map_or_else(
            || children.first().map_or(key.span, |c| self.span_of(c).to(self.span_of(entry))),
            |v| v.span,
        );
        if let Some(value) = value {
            self.check_calls(def, field_type, value);
        } else if children.is_empty()
            && !top
            && !(entry.empty.is_some() && matches!(field_type, FieldType::Data))
        {
            self.check_content(record, field_type, key);
        }
        let parsed = match (field_type, value) {
            (FieldType::Data, value) => {
                if let Some(value) = value
                    && (is_unclosed(value, '[', ']') || is_unclosed(value, '{', '}'))
                {
                    // Reports the bracket.
                    self.flow(value);
                }
                self.check_keys(def, children);
                record.fields.push(Field {
                    def,
                    key: key.span,
                    value: Value::Data(value.map(|v| v as &'t Scalar<'t>)),
                    span,
                    entry,
                });
                return;
            }
            (FieldType::Record(ty), value) => {
                let mut read = match value {
                    Some(value) => self.record_from_scalar(ty, value, key, entry),
                    None => Record::new(ty, self.span_of(entry), None),
                };
                self.entries(&mut read, children);
                // Only now the record is complete.
                self.check_required(&read);
                record.fields.push(Field {
                    def,
                    key: key.span,
                    value: Value::Record(Box::new(read)),
                    span,
                    entry,
                });
                return;
            }
            (FieldType::Marker, _) => Value::Bool(true),
            (_, Some(value)) => self.field_value(def, value),
            (field_type, None) => {
                if let Some(parsed) = self.nested_value(field_type, children) {
                    record.fields.push(Field { def, key: key.span, value: parsed, span, entry });
                    return;
                }
                let value = self.no_value(record, def, field_type, key, children, top);
                if !children.is_empty() && !matches!(value, Value::Empty) {
                    record.fields.push(Field { def, key: key.span, value, span, entry });
                    return;
                }
                value
            }
        };
        record.fields.push(Field { def, key: key.span, value: parsed, span, entry });
        // Entries nested below a value belong to the record of the field: `CALL: f` with `WITH:`,
        // `RESPOND: "…"` with `ACTIONS:`.
        self.entries(record, children);
    }

    /// Reports a text that is meant as a call, such as `min(3)` in `validate`, and lacks its closing parenthesis: it
    /// would be a text that nobody wants to be read.
    fn check_calls(&mut self, def: &FieldDef, field_type: FieldType, value: &Scalar<'s>) {
        const VALIDATIONS: &[&str] =
            &["min", "max", "range", "enum", "pattern", "email", "phone", "url"];
        let is_text =
            matches!(field_type, FieldType::Template | FieldType::Templates | FieldType::Text);
        let Some((word, _)) =
            value.raw.split_once('(').filter(|_| is_text && value.style == Style::Bare)
        else {
            return;
        };
        let is_call = match def.name {
            "validate" | "validation" => VALIDATIONS.contains(&word),
            _ => word == "TEMPLATE",
        };
        if is_call && depth(value.raw, '(', ')') > 0 {
            let at = value.span.start + offset(word.len());
            let span = Span::new(value.span.file, at, at + 1);
            self.problems.push(
                Diagnostic::error(rules::INVALID_VALUE, span, "`(` is never closed")
                    .help(format!("write `{word}(…)`")),
            );
        }
    }

    /// Reports the keys of data that has some of its own.
    fn check_keys(&mut self, def: &FieldDef, children: &[Entry<'s>]) {
        let known = || def.keys.iter().map(|(key, _)| *key);
        let keys = children.iter().filter_map(|child| match &child.kind {
            EntryKind::Pair { key, .. } => Some(*key),
            _ => None,
        });
        for key in keys.filter(|_| !def.keys.is_empty()) {
            if known().any(|known| known.eq_ignore_ascii_case(key.text)) {
                continue;
            }
            let message = format!("`{}` is not a key of `{}`", key.text, def.name);
            let meant = closest(&key.text.to_lowercase(), known());
            let problem = unknown_field(key.span, message, meant);
            self.problems.push(problem.note("it has no effect at run time"));
        }
    }

    /// Reports a key that takes values below it or on its line, and has none.
    fn check_content(&mut self, record: &Record<'t>, field_type: FieldType, key: Key<'s>) {
        let is_collection = !field_type.is_inline()
            && !matches!(
                field_type,
                FieldType::Marker | FieldType::Assignments | FieldType::OneOf(_)
            );
        if is_collection && !record.ty.open {
            self.problems.push(
                Diagnostic::warning(
                    rules::INVALID_VALUE,
                    key.span,
                    format!("`{}` is empty", key.text),
                )
                .help("write its content, or remove the line"),
            );
        }
    }

    /// What a field has that takes a value on its line and has none. Reports that, also where a list is in its place.
    fn no_value(
        &mut self,
        record: &Record<'t>,
        def: &FieldDef,
        field_type: FieldType,
        key: Key<'s>,
        children: &'t [Entry<'s>],
        top: bool,
    ) -> Value<'t> {
        let is_item = |entry: &Entry<'_>| matches!(entry.kind, EntryKind::Item { .. });
        let is_list = !children.is_empty() && children.iter().all(is_item);
        // Fields of the record itself may be indented below one of its fields.
        let is_inner = |entry: &Entry<'_>| match &entry.kind {
            EntryKind::Pair { key, .. } => record.ty.field(key.text).is_none(),
            _ => false,
        };
        let is_map = !children.is_empty() && children.iter().all(is_inner);
        let takes_value = field_type.is_inline() || matches!(field_type, FieldType::Assignments);
        // A document without the name of what it describes is reported by what needs the name.
        let is_header = top && HEADS.iter().any(|(word, _)| *word == def.name);
        let is_wrong = children.is_empty() || is_list || (is_map && field_type.is_inline());
        if !takes_value || is_header || !is_wrong {
            return Value::Empty;
        }
        let name = self.in_format_case(def.name);
        let (message, help) = if is_list || is_map {
            let what = if is_list { "a list" } else { "a map" };
            (
                format!("`{}` does not take {what}", key.text),
                format!("write `{name}: …` on one line"),
            )
        } else {
            (
                format!("`{}` has no value", key.text),
                format!("write `{name}: …`, or remove the line"),
            )
        };
        self.problems.push(Diagnostic::error(rules::INVALID_VALUE, key.span, message).help(help));
        match field_type {
            // Unknown, not absent: a branch without a condition is something else.
            FieldType::Condition | FieldType::Rule => Value::Condition(Box::new(Condition {
                text: Spanned::new(SmolStr::default(), key.span),
                kind: ConditionKind::Invalid,
            })),
            _ => Value::Invalid,
        }
    }

    pub(super) fn note_version(&mut self, def: &'static FieldDef, key: Key<'s>) {
        if def.since > Version::Legacy || def.until.is_some() {
            self.usages.push(Usage {
                span: key.span,
                description: format!("`{}`", key.text),
                since: def.since,
                until: def.until,
                rule: def.rule,
                fix: None,
                indicates_version: true,
            });
        }
    }

    /// The formats differ in the case of keywords; the legacy version accepted any.
    pub(super) fn check_case(&mut self, def: &'static FieldDef, key: Key<'s>) {
        let (wrong, right) = match self.format {
            Format::Abl => (key.text.chars().any(char::is_lowercase), key.text.to_uppercase()),
            Format::Yaml => (key.text.chars().any(char::is_uppercase), def.name.to_owned()),
        };
        if wrong {
            self.wrong_case_keywords.push((key.span, key.text.to_owned(), right));
        }
    }

    pub(super) fn report_case(&mut self) {
        let (here, case) = match self.format {
            Format::Abl => (".abl", "upper"),
            Format::Yaml => (".yaml", "lower"),
        };
        for (span, written, right) in std::mem::take(&mut self.wrong_case_keywords) {
            self.problems.push(
                Diagnostic::error(
                    rules::KEYWORD_CASE,
                    span,
                    format!("`{written}` must be written in {case} case in a {here} document"),
                )
                .note("the formats differ in the case of their keywords; the platform's parser rejects this one")
                .replace(right, Applicability::Safe),
            );
        }
    }

    /// Selects the shape that fits what is written.
    pub(super) fn select_type(
        &self,
        field_type: FieldType,
        value: Option<&'t Scalar<'s>>,
        children: &'t [Entry<'s>],
    ) -> (FieldType, Option<&'t Scalar<'s>>) {
        let FieldType::OneOf(field_types) = field_type else { return (field_type, value) };
        let find =
            |test: &dyn Fn(&FieldType) -> bool| field_types.iter().copied().find(|s| test(s));
        let is_record = |s: &FieldType| matches!(s, FieldType::Record(_));
        let is_list =
            |s: &FieldType| matches!(s, FieldType::Chain | FieldType::Names | FieldType::Templates);
        let chosen = match value {
            None if children.is_empty() => find(&|s| matches!(s, FieldType::Marker)),
            None if children.iter().all(is_bare_item) => {
                find(&is_list).or_else(|| find(&is_record))
            }
            None => find(&is_record)
                .filter(|_| !children.iter().all(is_text_line))
                .or_else(|| find(&|s| !is_record(s))),
            Some(value) if is_inline(value, '[', ']') => {
                find(&is_list).or_else(|| find(&is_record))
            }
            Some(value) if is_inline(value, '{', '}') => find(&is_record),
            Some(value) if value.style != Style::Bare => {
                find(&|s| matches!(s, FieldType::Template | FieldType::Text | FieldType::Templates))
            }
            Some(value) => find(&|s| match s {
                FieldType::Bool => matches!(value.raw, "true" | "false"),
                FieldType::Action => looks_like_action(value.raw),
                FieldType::Number => value.raw.parse::<f64>().is_ok(),
                FieldType::Enum(all) => all.iter().any(|a| a.eq_ignore_ascii_case(value.raw)),
                _ => false,
            }),
        };
        // The most general shape is the best guess; otherwise any shape with a value.
        let fallback = || {
            find(&|s| matches!(s, FieldType::Template | FieldType::Text | FieldType::Templates))
                .or_else(|| find(&|s| !is_record(s)))
                .or_else(|| field_types.first().copied())
        };
        (chosen.or_else(fallback).unwrap_or(FieldType::Data), value)
    }

    /// A record whose content, or the first part of it, is on the line of its key.
    pub(super) fn record_from_scalar(
        &mut self,
        ty: &'static RecordType,
        value: &'t Scalar<'s>,
        key: Key<'s>,
        entry: &'t Entry<'s>,
    ) -> Record<'t> {
        let span = self.span_of(entry);
        let mut record = Record::new(ty, span, None);
        if let Some(inline) = self.inline_entries(value) {
            self.entries(&mut record, inline);
            return record;
        }
        let by_name =
            ty.items.filter(|i| i.headers.contains(&Header::Name) || i.naming == Naming::Keyed);
        if let Some(field) = self.shorthand(ty, key.span, value, entry) {
            record.fields.push(field);
        } else if let (Some(item), Some(names)) = (by_name, self.plain_names(value)) {
            for name in names {
                record.items.push(Record::new(item, name.span, Some(name)));
            }
        } else if let Some(header) = ty.items.and_then(|i| self.header(i.headers, value)) {
            if let Some(item) = ty.items {
                let mut read = self.record(item, value.span, &[]);
                read.headers.push(header);
                record.items.push(read);
            }
        } else if !self.is_key_without_colon(ty, value) {
            self.problems.push(
                Diagnostic::error(
                    rules::INVALID_VALUE,
                    value.span,
                    format!("`{}` does not take a value on the same line", key.text),
                )
                .help("write its contents on the lines below, indented"),
            );
        }
        record
    }
}

impl FieldType {
    /// Whether the value is on the line of its key.
    pub(crate) const fn is_inline(self) -> bool {
        !matches!(
            self,
            Self::Record(_)
                | Self::OneOf(_)
                | Self::Data
                | Self::Templates
                | Self::Names
                | Self::Choices(_)
                | Self::Assignments
                | Self::Bindings
                | Self::Arguments
                | Self::Types
                | Self::Marker
        )
    }
}

/// Whether an unquoted text is an action rather than a message: it starts with a keyword or is a single
/// name of a step.
pub(super) fn looks_like_action(text: &str) -> bool {
    let first = text.split([' ', ':', '{']).next().unwrap_or_default();
    let upper = !first.chars().any(char::is_lowercase);
    let keyword = inline::ActionKind::from_word(first).is_some();
    (keyword && (upper || first == text))
        || (!text.is_empty() && !text.contains(char::is_whitespace))
}

/// Whether an entry is only `- name`.
pub(super) fn is_bare_item(entry: &Entry<'_>) -> bool {
    matches!(&entry.kind, EntryKind::Item { entries } if matches!(entries.as_slice(), [only] if is_text_line(only)))
}

pub(super) fn is_text_line(entry: &Entry<'_>) -> bool {
    matches!(&entry.kind, EntryKind::Line { children, .. } if children.is_empty())
}
