//! Reads an outline by the tables: which entry is which field, what its value says, and what is
//! wrong with it. Nothing is thrown away: what the tables do not know stays in the tree.

use super::schema::{
    AGENT, FRAGMENT_HOMES, FieldDef, Head, Naming, Need, PROFILE, RENAMED, RecordType, STEP, Shape,
    TOOL_LIBRARY, Version,
};
use super::tree::{Document, DocumentKind, Field, Format, HeadValue, Record, Value};
use crate::leaf::{self, Flow, FlowKind, Leaf, Origin};
use crate::outline::{Entry, EntryKind, Key, Outline, Scalar, Style};
use crate::rules;
use agentir_diagnostics::{Applicability, Diagnostic, RuleName, Span, Spanned, closest};
use agentir_expr::{
    Condition, Expr, ExprKind, Literal, Name, ObjectEntry, Path, Template, TypeExpr, TypeField,
    TypeKind,
};
use smol_str::SmolStr;
use typed_arena::Arena;

/// How to read a document.
#[derive(Debug, Clone, Copy, Default)]
pub struct Options {
    /// The version to hold the document to; detected if not given.
    pub version: Option<Version>,
    /// Whether the text may be a section, or a part of one, without an agent around it.
    pub fragment: bool,
}

/// What the document defines, by its first telling keyword (letter case ignored); `None` if it has
/// none and so is no ABL.
#[must_use]
pub fn classify(outline: &Outline<'_>) -> Option<DocumentKind> {
    let mut tools = false;
    for entry in &outline.entries {
        let EntryKind::Pair { key, .. } = &entry.kind else { continue };
        for (word, kind) in [
            ("agent", DocumentKind::Agent),
            ("supervisor", DocumentKind::Supervisor),
            ("behavior_profile", DocumentKind::Profile),
        ] {
            if key.text.eq_ignore_ascii_case(word) {
                return Some(kind);
            }
        }
        tools |= key.text.eq_ignore_ascii_case("tools");
        // Any other section of an agent means that the header was forgotten.
        if !tools && AGENT.field(key.text).is_some() && TOOL_LIBRARY.field(key.text).is_none() {
            return None;
        }
    }
    tools.then_some(DocumentKind::ToolLibrary)
}

/// Reads a document. `arena` keeps the entries of lists and maps that are written inline.
pub fn read<'t, 's: 't>(
    outline: &'t Outline<'s>,
    format: Format,
    options: Options,
    arena: &'t Arena<Entry<'s>>,
    problems: &mut Vec<Diagnostic>,
) -> Option<Document<'t>> {
    let kind = match classify(outline) {
        Some(kind) => kind,
        None if options.fragment => DocumentKind::Agent,
        None => {
            report_no_document(outline, problems);
            return None;
        }
    };
    let mut reader = Reader {
        outline,
        format,
        arena,
        problems,
        usages: Vec::new(),
        top: true,
        miswritten: Vec::new(),
    };
    let ty = match kind {
        DocumentKind::Agent | DocumentKind::Supervisor => &AGENT,
        DocumentKind::Profile => &PROFILE,
        DocumentKind::ToolLibrary => &TOOL_LIBRARY,
    };
    let entries: &'t [Entry<'s>] =
        if options.fragment { reader.adopt(&outline.entries) } else { &outline.entries };
    let span = Span::new(
        outline.file,
        entries.first().map_or(0, |e| e.start),
        entries.last().map_or(0, |e| e.end),
    );
    let root = reader.record(ty, span, entries);
    let usages = std::mem::take(&mut reader.usages);
    let version = options.version.unwrap_or_else(|| detect(&usages));
    if version > Version::Legacy {
        reader.report_case();
    } else if options.version.is_none() {
        report_legacy(&usages, reader.problems);
    }
    for usage in usages {
        usage.report(version, problems);
    }
    Some(Document { kind, format, version, root })
}

fn report_no_document(outline: &Outline<'_>, problems: &mut Vec<Diagnostic>) {
    let Some(first) = outline.entries.first() else {
        problems.push(Diagnostic::error(
            rules::MISSING_SECTION,
            Span::new(outline.file, 0, 0),
            "this file is empty",
        ));
        return;
    };
    let span = match &first.kind {
        EntryKind::Pair { key, .. } => key.span,
        _ => Span::new(outline.file, first.start, first.start),
    };
    problems.push(
        Diagnostic::error(rules::MISSING_SECTION, span, "this document does not say what it defines")
            .help(
                "begin it with `AGENT: Name`, `SUPERVISOR: Name`, `BEHAVIOR_PROFILE: name`, or `TOOLS:`",
            ),
    );
}

/// A form that not every version has.
struct Usage {
    span: Span,
    what: String,
    since: Version,
    until: Option<(Version, &'static str)>,
    rule: Option<RuleName>,
    /// Whether it says something about the version of the whole document.
    telling: bool,
}

/// The version that a document's forms speak for: the newest if it has forms of it and none that
/// are gone, legacy if it has several that are gone and none that came later.
fn detect(usages: &[Usage]) -> Version {
    let telling = || usages.iter().filter(|u| u.telling);
    let gone =
        telling().filter(|u| u.until.is_some_and(|(last, _)| last == Version::Legacy)).count();
    let newest = telling().filter(|u| u.since == Version::Newest).count();
    let current = telling().filter(|u| u.since == Version::Current).count();
    if newest > 0 && gone == 0 {
        Version::Newest
    } else if gone > 1 && newest + current == 0 {
        Version::Legacy
    } else {
        Version::Current
    }
}

/// Says once that a document was found to be of an old version: its forms are not reported then.
fn report_legacy(usages: &[Usage], problems: &mut Vec<Diagnostic>) {
    let gone = |u: &&Usage| u.until.is_some_and(|(last, _)| last == Version::Legacy);
    let count = usages.iter().filter(gone).count();
    if let Some(first) = usages.iter().find(gone) {
        problems.push(
            Diagnostic::info(
                rules::LEGACY_FORM,
                first.span,
                "this document is written in legacy ABL",
            )
            .note(format!(
                "{count} of its forms are gone in the current version, and none is newer"
            ))
            .help("`--abl-version current` shows what would have to change"),
        );
    }
}

impl Usage {
    fn report(self, version: Version, problems: &mut Vec<Diagnostic>) {
        let Self { span, what, since, until, rule, .. } = self;
        match until {
            Some((last, instead)) if version > last => {
                problems.push(
                    Diagnostic::warning(
                        rule.unwrap_or(rules::LEGACY_FORM),
                        span,
                        format!("{what} belongs to an older version of ABL"),
                    )
                    .note(format!("this document is read as {version} ABL"))
                    .help(if instead.contains(' ') {
                        instead.to_owned()
                    } else {
                        format!("write `{instead}`")
                    }),
                );
            }
            _ if since > version => {
                problems.push(
                    Diagnostic::warning(
                        rules::NEWER_FORM,
                        span,
                        format!("{what} belongs to a newer version of ABL"),
                    )
                    .note(format!(
                        "this document is read as {version} ABL; {what} came with {since} ABL"
                    )),
                );
            }
            _ => {}
        }
    }
}

struct Reader<'t, 's, 'p> {
    outline: &'t Outline<'s>,
    format: Format,
    arena: &'t Arena<Entry<'s>>,
    problems: &'p mut Vec<Diagnostic>,
    usages: Vec<Usage>,
    /// Reading the document itself, whose keys are section keywords.
    top: bool,
    /// Section keywords in the wrong case, with what to write instead.
    miswritten: Vec<(Span, String, String)>,
}

impl<'t, 's: 't> Reader<'t, 's, '_> {
    fn span_of(&self, entry: &Entry<'_>) -> Span {
        entry.span(self.outline.file)
    }

    // ---- records -------------------------------------------------------------------------------

    fn record(
        &mut self,
        ty: &'static RecordType,
        span: Span,
        entries: &'t [Entry<'s>],
    ) -> Record<'t> {
        let mut record = Record {
            ty,
            span,
            name: None,
            heads: Vec::new(),
            fields: Vec::new(),
            items: Vec::new(),
            unknown: Vec::new(),
        };
        self.entries(&mut record, entries);
        self.check_required(&record);
        record
    }

    fn entries(&mut self, record: &mut Record<'t>, entries: &'t [Entry<'s>]) {
        for entry in entries {
            self.entry(record, entry);
        }
    }

    fn entry(&mut self, record: &mut Record<'t>, entry: &'t Entry<'s>) {
        let top = std::mem::replace(&mut self.top, false);
        match &entry.kind {
            EntryKind::Pair { key, value, children } => {
                let def = record.ty.field(key.text).filter(|def| {
                    // A name of the author's that happens to be a field's: `prompt:` with a whole
                    // gather field below it.
                    let named = record.ty.items.is_some_and(|i| i.naming == Naming::Keyed);
                    !(named && value.is_none() && !children.is_empty() && def.shape.is_inline())
                });
                if let Some(def) = def {
                    if top {
                        self.check_case(def, *key);
                    }
                    self.field(record, def, entry, *key, value.as_ref(), children, top);
                } else if let Some(item) = record.ty.items.filter(|i| i.naming == Naming::Keyed) {
                    let read = self.named_item(item, entry, *key, value.as_ref(), children, &[]);
                    record.items.push(read);
                } else {
                    self.unknown_key(record, entry, *key, top);
                }
            }
            EntryKind::Item { entries } => match record.ty.items {
                Some(item) => {
                    if let Some(read) = self.item(item, entry, entries) {
                        record.items.push(read);
                    }
                }
                None => self.unexpected(record, entry),
            },
            EntryKind::Line { text, children } => {
                if let Some(head) = self.head(record.ty.heads, text) {
                    record.heads.push(head);
                    self.entries(record, children);
                } else if let Some(item) = record.ty.items {
                    let whole = std::slice::from_ref(entry);
                    if let Some(read) = self.item(item, entry, whole) {
                        record.items.push(read);
                    }
                } else {
                    self.unexpected(record, entry);
                }
            }
        }
        self.top = top;
    }

    /// `name:` and what belongs to it.
    fn named_item(
        &mut self,
        ty: &'static RecordType,
        entry: &'t Entry<'s>,
        key: Key<'s>,
        value: Option<&'t Scalar<'s>>,
        children: &'t [Entry<'s>],
        rest: &'t [Entry<'s>],
    ) -> Record<'t> {
        let end = rest.last().map_or(entry.end, |e| e.end);
        let span = Span::new(self.outline.file, entry.start, end);
        let mut record = Record {
            ty,
            span,
            name: Some(Spanned::new(SmolStr::new(key.text), key.span)),
            heads: Vec::new(),
            fields: Vec::new(),
            items: Vec::new(),
            unknown: Vec::new(),
        };
        if let Some(value) = value {
            if let Some(inline) = self.inline_entries(value) {
                self.entries(&mut record, inline);
            } else if let Some(def) = ty.shorthand.and_then(|s| ty.field(s)) {
                let parsed = self.value(def.shape, value);
                record.fields.push(Field {
                    def,
                    key: key.span,
                    value: parsed,
                    span: value.span,
                    entry,
                });
            } else {
                self.problems.push(
                    Diagnostic::error(
                        rules::INVALID_VALUE,
                        value.span,
                        format!("the {} `{}` takes no value here", ty.name, key.text),
                    )
                    .help(format!("write its fields below `{}:`, indented", key.text)),
                );
            }
        }
        self.entries(&mut record, children);
        self.entries(&mut record, rest);
        self.check_required(&record);
        record
    }

    /// An item of a list, or a line among named entries.
    fn item(
        &mut self,
        ty: &'static RecordType,
        entry: &'t Entry<'s>,
        entries: &'t [Entry<'s>],
    ) -> Option<Record<'t>> {
        let (first, rest) = entries.split_first()?;
        let span = self.span_of(entry);
        match &first.kind {
            EntryKind::Pair { key, value, children } => {
                let is_name =
                    ty.name_field == Some("name") && key.text.eq_ignore_ascii_case("name");
                if is_name || ty.field(key.text).is_some() {
                    let mut record = self.record(ty, span, entries);
                    self.take_name(&mut record);
                    return Some(record);
                }
                if ty.naming == Naming::Keyed {
                    return Some(self.named_item(ty, first, *key, value.as_ref(), children, rest));
                }
                // The colon turns out to be part of a text.
                let line = self.outline.line(key);
                if ty.heads.contains(&Head::Text)
                    && let Some(head) = self.head(ty.heads, &line)
                {
                    let mut record = self.record(ty, span, rest);
                    record.heads.push(head);
                    return Some(record);
                }
                let mut record = self.record(ty, span, entries);
                self.take_name(&mut record);
                Some(record)
            }
            EntryKind::Line { text, children } => {
                if let Some(inline) = self.inline_entries(text) {
                    let mut record = self.record(ty, span, inline);
                    self.entries(&mut record, children);
                    self.entries(&mut record, rest);
                    self.take_name(&mut record);
                    return Some(record);
                }
                let mut named =
                    ty.heads.contains(&Head::Name).then(|| self.bare_name(text)).flatten();
                let before = self.problems.len();
                let head = if named.is_some() { None } else { self.head(ty.heads, text) };
                let told = self.problems.len() > before;
                if head.is_none() && told {
                    // A broken head was reported; what it names is still there for the others.
                    named = named.or_else(|| self.name_before_bracket(text));
                } else if named.is_none() && head.is_none() {
                    self.problems.push(Diagnostic::error(
                        rules::SYNTAX,
                        text.span,
                        format!("expected {}, found `{}`", describe(ty), excerpt(text.raw)),
                    ));
                    return None;
                }
                let mut record = Record {
                    ty,
                    span,
                    name: named,
                    heads: head.into_iter().collect(),
                    fields: Vec::new(),
                    items: Vec::new(),
                    unknown: Vec::new(),
                };
                self.entries(&mut record, children);
                self.entries(&mut record, rest);
                self.check_required(&record);
                Some(record)
            }
            EntryKind::Item { .. } => {
                self.problems.push(Diagnostic::error(
                    rules::SYNTAX,
                    span,
                    format!("expected {}, found a list inside the list", describe(ty)),
                ));
                None
            }
        }
    }

    /// Gives an item its name where that is written as a field.
    fn take_name(&self, record: &mut Record<'t>) {
        if record.name.is_none()
            && let Some(field) = record.ty.name_field.and_then(|n| record.field(n))
        {
            record.name = match &field.value {
                Value::Name(name) | Value::Text(name) => Some(name.clone()),
                _ => None,
            };
        } else if record.name.is_none() && record.ty.name_field == Some("name") {
            // `- name: x` where `name` is no field of its own: it was kept as unknown.
            let at = record.unknown.iter().position(|e| {
                matches!(&e.kind, EntryKind::Pair { key, .. } if key.text.eq_ignore_ascii_case("name"))
            });
            if let Some(at) = at
                && let EntryKind::Pair { value: Some(value), .. } = &record.unknown.remove(at).kind
            {
                record.name = Some(Spanned::new(value.to_smol(), value.span));
            }
        }
    }

    fn check_required(&mut self, record: &Record<'t>) {
        for def in record.ty.fields {
            // What stands instead of a field, and a name, say what the field would.
            let said = !record.heads.is_empty()
                || (record.name.is_some() && record.ty.name_field == Some(def.name))
                || def.need == Need::Optional
                || record.fields.iter().any(|f| std::ptr::eq(f.def, def));
            if said {
                continue;
            }
            let at = record.name.as_ref().map_or(record.span.at_start(), |n| n.span);
            let message = format!("this {} has no `{}`", record.ty.name, self.spell(def.name));
            let diagnostic = match def.need {
                Need::Expected(otherwise) => {
                    Diagnostic::warning(rules::MISSING_FIELD, at, message).note(otherwise)
                }
                _ => Diagnostic::error(rules::MISSING_FIELD, at, message),
            };
            self.problems.push(diagnostic.help(format!("add `{}: …`", self.spell(def.name))));
        }
    }

    /// A field's name as authors of this format write it.
    fn spell(&self, name: &str) -> String {
        match self.format {
            Format::Abl => name.to_uppercase(),
            Format::Yaml => name.to_owned(),
        }
    }

    fn unknown_key(
        &mut self,
        record: &mut Record<'t>,
        entry: &'t Entry<'s>,
        key: Key<'s>,
        top: bool,
    ) {
        record.unknown.push(entry);
        if record.ty.open
            || (record.ty.name_field == Some("name") && key.text.eq_ignore_ascii_case("name"))
        {
            return;
        }
        let known = record.ty.fields.iter().map(|f| f.name);
        let near = closest(&key.text.to_lowercase(), known).map(|n| self.spell(n));
        let mut diagnostic = if top {
            Diagnostic::error(
                rules::UNKNOWN_SECTION,
                key.span,
                format!("`{}` is no section of ABL", key.text),
            )
        } else {
            Diagnostic::warning(
                rules::UNKNOWN_FIELD,
                key.span,
                format!("`{}` is no field of a {}", key.text, record.ty.name),
            )
        };
        diagnostic = match near {
            Some(near) => {
                let near = if top || key.text.chars().any(char::is_uppercase) {
                    near
                } else {
                    near.to_lowercase()
                };
                diagnostic
                    .help(format!("did you mean `{near}`?"))
                    .replace(near, Applicability::Unsafe)
            }
            None => diagnostic,
        };
        self.problems.push(diagnostic.note("it is kept, but means nothing at run time"));
    }

    fn unexpected(&mut self, record: &mut Record<'t>, entry: &'t Entry<'s>) {
        record.unknown.push(entry);
        let (span, found) = match &entry.kind {
            EntryKind::Line { text, .. } => (text.span, format!("`{}`", excerpt(text.raw))),
            _ => (self.span_of(entry), "a list".to_owned()),
        };
        self.problems.push(Diagnostic::error(
            rules::SYNTAX,
            span,
            format!("expected a field of the {}, found {found}", record.ty.name),
        ));
    }

    // ---- fields --------------------------------------------------------------------------------

    #[expect(clippy::too_many_arguments, reason = "the parts of one entry")]
    fn field(
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
            // Collections go on; anything else is overwritten.
            let goes_on = matches!(&before.value, Value::Record(r) if r.ty.items.is_some())
                || matches!(def.name, "use_behavior_profile" | "use_tool");
            if !goes_on || top {
                let rule = if top { rules::DUPLICATE_SECTION } else { rules::DUPLICATE_FIELD };
                let effect = if goes_on {
                    "what both say is put together"
                } else {
                    "the last one counts; the earlier one is ignored"
                };
                if !goes_on || !def.name.starts_with("use_") {
                    self.problems.push(
                        Diagnostic::warning(
                            rule,
                            key.span,
                            format!("`{}` is written twice", key.text),
                        )
                        .label(before.key, "first written here")
                        .note(effect),
                    );
                }
            }
        }
        let (shape, value) = self.choose(def.shape, value, children);
        let span = value.map_or_else(
            || children.first().map_or(key.span, |c| self.span_of(c).to(self.span_of(entry))),
            |v| v.span,
        );
        let parsed = match (shape, value) {
            (Shape::Data, value) => {
                record.fields.push(Field {
                    def,
                    key: key.span,
                    value: Value::Data(value.map(|v| v as &'t Scalar<'t>)),
                    span,
                    entry,
                });
                return;
            }
            (Shape::Record(ty), value) => {
                let mut read = match value {
                    Some(value) => self.record_from_scalar(ty, value, key, entry),
                    None => self.record(ty, self.span_of(entry), &[]),
                };
                self.entries(&mut read, children);
                record.fields.push(Field {
                    def,
                    key: key.span,
                    value: Value::Record(Box::new(read)),
                    span,
                    entry,
                });
                return;
            }
            (Shape::Marker, _) => Value::Bool(true),
            (shape, Some(value)) => self.value(shape, value),
            (shape, None) => {
                if let Some(parsed) = self.value_below(shape, children) {
                    record.fields.push(Field { def, key: key.span, value: parsed, span, entry });
                    return;
                }
                Value::Empty
            }
        };
        record.fields.push(Field { def, key: key.span, value: parsed, span, entry });
        // What is indented below a value says more about the record the value belongs to:
        // `CALL: f` with `WITH:` below it, `RESPOND: "…"` with `ACTIONS:` below it.
        self.entries(record, children);
    }

    fn note_version(&mut self, def: &'static FieldDef, key: Key<'s>) {
        if def.since > Version::Legacy || def.until.is_some() {
            self.usages.push(Usage {
                span: key.span,
                what: format!("`{}`", key.text),
                since: def.since,
                until: def.until,
                rule: def.rule,
                telling: true,
            });
        }
    }

    /// Keywords tell the formats apart by their case; the legacy version did not care.
    fn check_case(&mut self, def: &'static FieldDef, key: Key<'s>) {
        let (wrong, right) = match self.format {
            Format::Abl => (key.text.chars().any(char::is_lowercase), key.text.to_uppercase()),
            Format::Yaml => (key.text.chars().any(char::is_uppercase), def.name.to_owned()),
        };
        if wrong {
            self.miswritten.push((key.span, key.text.to_owned(), right));
        }
    }

    fn report_case(&mut self) {
        let (here, case) = match self.format {
            Format::Abl => (".abl", "upper"),
            Format::Yaml => (".yaml", "lower"),
        };
        for (span, written, right) in std::mem::take(&mut self.miswritten) {
            self.problems.push(
                Diagnostic::error(
                    rules::KEYWORD_CASE,
                    span,
                    format!("`{written}` must be written in {case} case in a {here} document"),
                )
                .note("the two formats are told apart by the case of their keywords; the platform's parser rejects this one")
                .replace(right, Applicability::Safe),
            );
        }
    }

    /// Of several shapes, the one that fits what is written.
    fn choose(
        &self,
        shape: Shape,
        value: Option<&'t Scalar<'s>>,
        children: &'t [Entry<'s>],
    ) -> (Shape, Option<&'t Scalar<'s>>) {
        let Shape::OneOf(shapes) = shape else { return (shape, value) };
        let find = |test: &dyn Fn(&Shape) -> bool| shapes.iter().copied().find(|s| test(s));
        let is_record = |s: &Shape| matches!(s, Shape::Record(_));
        let is_list = |s: &Shape| matches!(s, Shape::Chain | Shape::Names | Shape::Templates);
        let chosen = match value {
            None if children.is_empty() => find(&|s| matches!(s, Shape::Marker)),
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
                find(&|s| matches!(s, Shape::Template | Shape::Text | Shape::Templates))
            }
            Some(value) => find(&|s| match s {
                Shape::Bool => matches!(value.raw, "true" | "false"),
                Shape::Action => starts_like_action(value.raw),
                Shape::Number => value.raw.parse::<f64>().is_ok(),
                Shape::Enum(all) => all.iter().any(|a| a.eq_ignore_ascii_case(value.raw)),
                _ => false,
            }),
        };
        // What can be anything is the best guess; then whatever has a value at all.
        let fallback = || {
            find(&|s| matches!(s, Shape::Template | Shape::Text | Shape::Templates))
                .or_else(|| find(&|s| !is_record(s)))
                .or_else(|| shapes.first().copied())
        };
        (chosen.or_else(fallback).unwrap_or(Shape::Data), value)
    }

    /// A record whose content stands on the line of its key.
    fn record_from_scalar(
        &mut self,
        ty: &'static RecordType,
        value: &'t Scalar<'s>,
        key: Key<'s>,
        entry: &'t Entry<'s>,
    ) -> Record<'t> {
        let span = self.span_of(entry);
        if let Some(inline) = self.inline_entries(value) {
            return self.record(ty, span, inline);
        }
        let mut record = self.record(ty, span, &[]);
        let by_name =
            ty.items.filter(|i| i.heads.contains(&Head::Name) || i.naming == Naming::Keyed);
        if let Some(def) = ty.shorthand.and_then(|s| ty.field(s)) {
            let parsed = self.value(def.shape, value);
            record.fields.push(Field {
                def,
                key: key.span,
                value: parsed,
                span: value.span,
                entry,
            });
        } else if let (Some(item), Some(names)) = (by_name, self.plain_names(value)) {
            for name in names {
                record.items.push(Record {
                    ty: item,
                    span: name.span,
                    name: Some(name),
                    heads: Vec::new(),
                    fields: Vec::new(),
                    items: Vec::new(),
                    unknown: Vec::new(),
                });
            }
        } else if let Some(head) = ty.items.and_then(|i| self.head(i.heads, value)) {
            if let Some(item) = ty.items {
                let mut read = self.record(item, value.span, &[]);
                read.heads.push(head);
                record.items.push(read);
            }
        } else {
            self.problems.push(
                Diagnostic::error(
                    rules::INVALID_VALUE,
                    value.span,
                    format!("`{}` takes no value on its line", key.text),
                )
                .help("write what belongs to it on the lines below, indented"),
            );
        }
        record
    }

    // ---- heads ---------------------------------------------------------------------------------

    fn bare_name(&self, text: &Scalar<'s>) -> Option<Spanned<Name>> {
        let value = text.value();
        let ok = !value.is_empty()
            && value.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '.' | '-' | '*'));
        ok.then(|| Spanned::new(SmolStr::new(value), text.span))
    }

    /// `name` of `name(…`.
    fn name_before_bracket(&self, text: &Scalar<'s>) -> Option<Spanned<Name>> {
        let (name, _) = text.raw.split_once('(')?;
        let name = name.trim_end();
        let span = Span::new(text.span.file, text.span.start, text.span.start + len(name));
        self.bare_name(&Scalar::bare(name, span))
    }

    fn head(&mut self, heads: &[Head], text: &Scalar<'s>) -> Option<HeadValue> {
        let raw = text.raw;
        let first = raw.split([' ', '\t', '(']).next().unwrap_or_default();
        let word = |w: &str| first.eq_ignore_ascii_case(w);
        for head in heads {
            let found = match head {
                Head::Constraint
                    if word("require") || word("warn") || word("limit") || word("restrict") =>
                {
                    text.with_leaf(|l| leaf::constraint_rule(l, self.problems))
                        .map(|r| HeadValue::Constraint(Box::new(r)))
                }
                Head::Condition if word("if") || word("when") => {
                    let rest = raw.get(first.len()..).unwrap_or_default();
                    let condition = rest.trim_start();
                    let start = text.span.start + len(raw) - len(condition);
                    let condition = condition.strip_suffix(':').unwrap_or(condition).trim_end();
                    // `IF condition: ACTION` on one line.
                    let split = condition.rsplit_once(": ").filter(|(_, action)| {
                        let word = action.split_whitespace().next().unwrap_or_default();
                        leaf::ActionKind::from_word(word).is_some()
                    });
                    let (condition, action) = match split {
                        Some((condition, action)) => {
                            let at = text.span.end - len(action);
                            let action =
                                Scalar::bare(action, Span::new(text.span.file, at, text.span.end));
                            (
                                condition.trim_end(),
                                action.with_leaf(|l| leaf::action(l, self.problems)),
                            )
                        }
                        None => (condition, None),
                    };
                    let span = Span::new(text.span.file, start, start + len(condition));
                    if word("when") {
                        self.usages.push(Usage {
                            span: Span::new(
                                span.file,
                                text.span.start,
                                text.span.start + len(first),
                            ),
                            what: "`WHEN` without a colon".to_owned(),
                            since: Version::Legacy,
                            until: Some((Version::Legacy, "write `WHEN: condition`")),
                            rule: None,
                            telling: true,
                        });
                    }
                    let scalar = Scalar::bare(condition, span);
                    Some(HeadValue::Condition(
                        Box::new(self.condition(&scalar)),
                        action.map(Box::new),
                    ))
                }
                Head::Routing if word("intent") || word("default") => text
                    .with_leaf(|l| leaf::routing_rule(l, self.problems))
                    .map(|r| HeadValue::Routing(Box::new(r))),
                Head::Protocol if word("from") => {
                    let body = raw.strip_suffix(':').unwrap_or(raw).trim_end();
                    let scalar = Scalar::bare(
                        body,
                        Span::new(text.span.file, text.span.start, text.span.start + len(body)),
                    );
                    scalar
                        .with_leaf(|l| leaf::protocol_head(l, self.problems))
                        .map(|head| HeadValue::Protocol(Box::new(head)))
                }
                Head::Signature if raw.contains('(') || raw.contains("->") => text
                    .with_leaf(|l| leaf::tool_signature(l, self.problems))
                    .map(|s| HeadValue::Signature(Box::new(s))),
                Head::Chain if raw.contains("->") => {
                    text.with_leaf(|l| leaf::chain(l, self.problems)).map(HeadValue::Chain)
                }
                Head::Resume if word("resume") => Some(HeadValue::Resume(text.span)),
                Head::Text => Some(HeadValue::Text(self.template(text))),
                _ => None,
            };
            if found.is_some() {
                return found;
            }
        }
        None
    }

    // ---- values --------------------------------------------------------------------------------

    fn condition(&mut self, value: &Scalar<'_>) -> Condition {
        let quoted = value.is_quoted();
        let condition = value.with_leaf(|l| leaf::condition(l, quoted, self.problems));
        if let Some(expr) = condition.expr() {
            expr.paths(&mut |path| self.check_renamed(path));
        }
        condition
    }

    /// Names of the runtime that were called otherwise before.
    fn check_renamed(&mut self, path: &Path) {
        let Some(field) = path.first_field() else { return };
        let is = |old: &str| old.split_once('.') == Some((&path.root.value, &field.value));
        if let Some((old, new)) = RENAMED.iter().find(|(old, _)| is(old)) {
            self.usages.push(Usage {
                span: path.root.span.to(field.span),
                what: format!("`{old}`"),
                since: Version::Legacy,
                until: Some((Version::Legacy, new)),
                rule: None,
                telling: true,
            });
        }
    }

    /// A rule with its keyword, or a condition without one.
    fn rule(&mut self, value: &Scalar<'_>) -> Value<'t> {
        let word = value.value().split_whitespace().next().map(leaf::ConstraintKind::from_word);
        if let Some(Some(_)) = word {
            return value
                .with_leaf(|l| leaf::constraint_rule(l, self.problems))
                .map_or(Value::Invalid, |rule| Value::Rule(Box::new(rule)));
        }
        Value::Condition(Box::new(self.condition(value)))
    }

    fn template(&mut self, value: &Scalar<'_>) -> Template {
        let mut template = value.with_leaf(|l| leaf::template(l, self.problems));
        template.text.span = value.span;
        template
    }

    /// An expression: here quotes are the quotes of a string literal, not of the field.
    fn expr(&mut self, value: &Scalar<'_>) -> Option<Expr> {
        if value.decoded.is_some() || matches!(value.style, Style::Block(_)) {
            return Some(Expr::literal(Literal::String(value.to_smol()), value.span));
        }
        let origin = Origin { file: value.span.file, base: value.span.start, shifts: &[] };
        leaf::expr(Leaf { text: value.raw, origin }, self.problems)
    }

    fn text(&self, value: &Scalar<'_>) -> Spanned<Name> {
        Spanned::new(value.to_smol(), value.span)
    }

    fn value(&mut self, shape: Shape, value: &'t Scalar<'s>) -> Value<'t> {
        let problems = &mut *self.problems;
        let parsed = match shape {
            Shape::Text => Some(Value::Text(self.text(value))),
            Shape::Template => Some(Value::Template(self.template(value))),
            Shape::Templates => Some(Value::Templates(self.templates(value))),
            Shape::Condition => Some(Value::Condition(Box::new(self.condition(value)))),
            Shape::Rule => Some(self.rule(value)),
            Shape::Expr => {
                if value.is_quoted() && value.decoded.is_none() {
                    // `check: "…"`: the quotes are the field's.
                    value.with_leaf(|l| leaf::expr(l, problems)).map(|e| Value::Expr(Box::new(e)))
                } else {
                    self.expr(value).map(|e| Value::Expr(Box::new(e)))
                }
            }
            Shape::Bool => Some(self.boolean(value)),
            Shape::Number => Some(self.number(value)),
            Shape::Enum(all) => Some(self.one_of(all, value)),
            Shape::Name => Some(Value::Name(self.text(value))),
            Shape::Names => Some(Value::Names(self.names(value))),
            Shape::Choices(all) => {
                let names = self.names(value);
                self.check_choices(all, &names);
                Some(Value::Names(names))
            }
            Shape::Type | Shape::Types => {
                value.with_leaf(|l| leaf::type_expr(l, problems)).map(Value::Type)
            }
            Shape::Action => {
                value.with_leaf(|l| leaf::action(l, problems)).map(|v| Value::Action(Box::new(v)))
            }
            Shape::Call => {
                value.with_leaf(|l| leaf::call(l, problems)).map(|v| Value::Call(Box::new(v)))
            }
            Shape::Store => {
                value.with_leaf(|l| leaf::store(l, problems)).map(|v| Value::Store(Box::new(v)))
            }
            Shape::Chain => {
                if value.raw.contains("->") {
                    value.with_leaf(|l| leaf::chain(l, problems)).map(Value::Names)
                } else {
                    Some(Value::Names(self.names(value)))
                }
            }
            Shape::Assignments => {
                if value.raw.starts_with('{') {
                    self.bindings(value).map(|all| {
                        Value::Assignments(all.into_iter().map(|(n, e)| assignment(n, e)).collect())
                    })
                } else {
                    value
                        .with_leaf(|l| leaf::assignment(l, problems))
                        .map(|a| Value::Assignments(vec![a]))
                }
            }
            Shape::Bindings => self.bindings(value).map(Value::Bindings),
            Shape::TransformHead => value
                .with_leaf(|l| leaf::transform_head(l, problems))
                .map(|v| Value::TransformHead(Box::new(v))),
            Shape::SortBy => {
                value.with_leaf(|l| leaf::sort_by(l, problems)).map(|v| Value::SortBy(Box::new(v)))
            }
            Shape::RouteAction => value
                .with_leaf(|l| leaf::route_action(l, problems))
                .map(|v| Value::RouteAction(Box::new(v))),
            Shape::OneOf(_) => {
                let (shape, _) = self.choose(shape, Some(value), &[]);
                return self.value(shape, value);
            }
            Shape::Marker => Some(Value::Bool(true)),
            Shape::Record(_) | Shape::Data => Some(Value::Data(Some(value))),
        };
        parsed.unwrap_or(Value::Invalid)
    }

    fn boolean(&mut self, value: &Scalar<'s>) -> Value<'t> {
        match &*value.value() {
            "true" | "True" | "TRUE" => return Value::Bool(true),
            "false" | "False" | "FALSE" => return Value::Bool(false),
            text if text.contains("{{") => return Value::Text(self.text(value)),
            "yes" | "on" => self.invalid(value, "expected `true` or `false`", Some("true")),
            "no" | "off" => self.invalid(value, "expected `true` or `false`", Some("false")),
            _ => self.invalid(value, "expected `true` or `false`", None),
        }
        Value::Invalid
    }

    /// A number; a duration such as `15s` and a configuration value stay text.
    fn number(&mut self, value: &Scalar<'s>) -> Value<'t> {
        let text = value.value();
        if let Ok(number) = text.replace('_', "").parse::<f64>()
            && number.is_finite()
        {
            return Value::Number(number);
        }
        let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
        let unit = text.get(digits.len()..).unwrap_or_default();
        let duration =
            matches!(unit, "ms" | "s" | "m" | "h" | "d") && digits.parse::<f64>().is_ok();
        if duration || text.contains("{{") || text == "null" {
            return Value::Text(self.text(value));
        }
        self.invalid(value, "expected a number", None);
        Value::Invalid
    }

    fn one_of(&mut self, all: &'static [&'static str], value: &Scalar<'s>) -> Value<'t> {
        let text = value.value();
        if let Some(one) = all.iter().find(|a| a.eq_ignore_ascii_case(&text)) {
            return Value::Enum(one);
        }
        if text.contains("{{") {
            return Value::Text(self.text(value));
        }
        let list = all.iter().map(|a| format!("`{a}`")).collect::<Vec<_>>().join(", ");
        let near = closest(&text.to_lowercase(), all.iter().copied());
        self.invalid(value, &format!("expected one of {list}"), near);
        Value::Invalid
    }

    fn check_choices(&mut self, all: &'static [&'static str], names: &[Spanned<Name>]) {
        for name in names {
            if !all.iter().any(|a| a.eq_ignore_ascii_case(&name.value)) {
                self.one_of(all, &Scalar::bare("", name.span).with_text(&name.value));
            }
        }
    }

    fn invalid(&mut self, value: &Scalar<'s>, expected: &str, instead: Option<&str>) {
        let found = excerpt(&value.value()).to_owned();
        let mut diagnostic = Diagnostic::error(
            rules::INVALID_VALUE,
            value.span,
            format!("{expected}, found `{found}`"),
        );
        if let Some(instead) = instead {
            diagnostic = diagnostic
                .help(format!("did you mean `{instead}`?"))
                .replace(instead, Applicability::Unsafe);
        }
        self.problems.push(diagnostic);
    }

    /// `a, b, c`, `[a, b, c]`, or a single name.
    fn names(&mut self, value: &Scalar<'s>) -> Vec<Spanned<Name>> {
        if value.style == Style::Bare && value.raw.starts_with(['[', '{']) {
            let flow = self.flow(value);
            let mut names = Vec::new();
            flow_names(&flow, &mut names);
            return names;
        }
        if value.style != Style::Bare {
            return vec![self.text(value)];
        }
        let mut at = value.span.start;
        let mut names = Vec::new();
        for part in value.raw.split(',') {
            let name = part.trim();
            let start = at + len(part) - len(part.trim_start());
            at += len(part) + 1;
            if !name.is_empty() {
                let unquoted = name.trim_matches(['"', '\'']);
                names.push(Spanned::new(
                    SmolStr::new(unquoted),
                    Span::new(value.span.file, start, start + len(name)),
                ));
            }
        }
        names
    }

    /// Names, if the text is nothing but names.
    fn plain_names(&mut self, value: &Scalar<'s>) -> Option<Vec<Spanned<Name>>> {
        let names = self.names(value);
        let plain = |name: &str| {
            !name.is_empty()
                && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '.' | '-'))
        };
        names.iter().all(|n| plain(&n.value)).then_some(names)
    }

    fn templates(&mut self, value: &'t Scalar<'s>) -> Vec<Template> {
        match self.inline_entries(value) {
            Some(entries) => self.templates_below(entries),
            None => vec![self.template(value)],
        }
    }

    fn templates_below(&mut self, entries: &'t [Entry<'s>]) -> Vec<Template> {
        let mut all = Vec::new();
        for entry in entries {
            match &entry.kind {
                EntryKind::Item { entries } => all.extend(self.templates_below(entries)),
                EntryKind::Line { text, children } => {
                    all.push(self.template(text));
                    all.extend(self.templates_below(children));
                }
                // The colon is prose.
                EntryKind::Pair { key, value, children } => {
                    let line = self.outline.line(key);
                    let block = value.as_ref().filter(|v| matches!(v.style, Style::Block(_)));
                    all.push(self.template(block.unwrap_or(&line)));
                    all.extend(self.templates_below(children));
                }
            }
        }
        all
    }

    /// `{a, b: c}` or `[a, b]` with expressions as values.
    fn bindings(&mut self, value: &Scalar<'s>) -> Option<Vec<(Spanned<Name>, Expr)>> {
        let expr = self.expr(value)?;
        match expr.kind {
            ExprKind::Object(entries) => Some(
                entries
                    .into_iter()
                    .map(|ObjectEntry { key, value }| {
                        let value = value.unwrap_or_else(|| variable(&key));
                        (key, value)
                    })
                    .collect(),
            ),
            ExprKind::List(items) => Some(
                items
                    .into_iter()
                    .filter_map(|item| {
                        let name = item.as_path()?.root.clone();
                        Some((name, item))
                    })
                    .collect(),
            ),
            ExprKind::Path(ref path) => Some(vec![(path.root.clone(), expr.clone())]),
            _ => {
                self.invalid(value, "expected names with values, such as `{id: order_id}`", None);
                None
            }
        }
    }

    // ---- values below their key ----------------------------------------------------------------

    fn value_below(&mut self, shape: Shape, children: &'t [Entry<'s>]) -> Option<Value<'t>> {
        if children.is_empty() {
            return None;
        }
        match shape {
            Shape::Templates => Some(Value::Templates(self.templates_below(children))),
            Shape::Names | Shape::Chain => {
                let mut names = Vec::new();
                self.names_below(children, &mut names);
                Some(Value::Names(names))
            }
            Shape::Choices(all) => {
                let mut names = Vec::new();
                self.names_below(children, &mut names);
                self.check_choices(all, &names);
                Some(Value::Names(names))
            }
            Shape::Assignments => Some(Value::Assignments(self.assignments_below(children))),
            Shape::Bindings => Some(Value::Bindings(self.bindings_below(children))),
            Shape::Types | Shape::Type => self.types_below(children).map(Value::Type),
            // The value on the next line.
            Shape::Template
            | Shape::Text
            | Shape::Condition
            | Shape::Expr
            | Shape::Number
            | Shape::Name
                if children.iter().all(is_text_line) =>
            {
                let first = children.first()?;
                match &first.kind {
                    EntryKind::Line { text, .. } if children.len() == 1 => {
                        Some(self.value(shape, text))
                    }
                    _ => {
                        let joined = self.joined(children)?;
                        Some(self.value(shape, joined))
                    }
                }
            }
            _ => None,
        }
    }

    /// Several lines of prose below a key as one text.
    fn joined(&mut self, children: &'t [Entry<'s>]) -> Option<&'t Scalar<'s>> {
        let start = children.first()?.start;
        let end = children.last()?.end;
        let lines: Vec<String> = children
            .iter()
            .filter_map(|c| match &c.kind {
                EntryKind::Line { text, .. } => Some(text.value().into_owned()),
                _ => None,
            })
            .collect();
        let raw = match &children.first()?.kind {
            EntryKind::Line { text, .. } => text.raw,
            _ => "",
        };
        let scalar = Scalar {
            raw,
            span: Span::new(self.outline.file, start, end),
            style: Style::Block(0),
            decoded: Some(lines.join("\n").into_boxed_str()),
        };
        let entry = self.arena.alloc(Entry {
            start,
            end,
            kind: EntryKind::Line { text: scalar, children: Vec::new() },
        });
        match &entry.kind {
            EntryKind::Line { text, .. } => Some(text),
            _ => None,
        }
    }

    fn names_below(&mut self, entries: &'t [Entry<'s>], names: &mut Vec<Spanned<Name>>) {
        for entry in entries {
            match &entry.kind {
                EntryKind::Item { entries } => self.names_below(entries, names),
                EntryKind::Line { text, children } => {
                    names.extend(self.names(text));
                    self.names_below(children, names);
                }
                // `- name: x` and `- x: type` name x; what else is said there is not a name.
                EntryKind::Pair { key, value, .. } => {
                    let name = match value {
                        Some(value)
                            if key.text.eq_ignore_ascii_case("name")
                                || key.text.eq_ignore_ascii_case("path") =>
                        {
                            self.text(value)
                        }
                        _ => Spanned::new(SmolStr::new(key.text), key.span),
                    };
                    names.push(name);
                }
            }
        }
    }

    fn assignments_below(&mut self, entries: &'t [Entry<'s>]) -> Vec<leaf::Assignment> {
        let mut all = Vec::new();
        for entry in entries {
            match &entry.kind {
                EntryKind::Item { entries } => all.extend(self.assignments_below(entries)),
                EntryKind::Line { text, children } => {
                    if let Some(one) = text.with_leaf(|l| leaf::assignment(l, self.problems)) {
                        all.push(one);
                    }
                    all.extend(self.assignments_below(children));
                }
                EntryKind::Pair { key, .. } => {
                    let target = Scalar::bare(key.text, key.span);
                    let path = target.with_leaf(|l| leaf::path(l, self.problems));
                    let value = self.binding_value(entry);
                    if let (Some(target), Some(value)) = (path, value) {
                        all.push(leaf::Assignment { target, value });
                    }
                }
            }
        }
        all
    }

    fn bindings_below(&mut self, entries: &'t [Entry<'s>]) -> Vec<(Spanned<Name>, Expr)> {
        let mut all = Vec::new();
        for entry in entries {
            match &entry.kind {
                EntryKind::Item { entries } => all.extend(self.bindings_below(entries)),
                EntryKind::Pair { key, .. } => {
                    let name = Spanned::new(SmolStr::new(key.text), key.span);
                    let value = self.binding_value(entry).unwrap_or_else(|| variable(&name));
                    all.push((name, value));
                }
                EntryKind::Line { text, .. } => {
                    if let Some(one) = self.bare_name(text) {
                        let value = variable(&one);
                        all.push((one, value));
                    } else if let Some(one) = text.with_leaf(|l| leaf::assignment(l, self.problems))
                    {
                        all.push((one.target.value.root, one.value));
                    }
                }
            }
        }
        all
    }

    /// The value of `name: value`, where the value may be a map or list below.
    fn binding_value(&mut self, entry: &'t Entry<'s>) -> Option<Expr> {
        let EntryKind::Pair { key, value, children } = &entry.kind else { return None };
        if let Some(value) = value {
            return self.expr(value);
        }
        let span = self.span_of(entry);
        if children.is_empty() {
            return Some(variable(&Spanned::new(SmolStr::new(key.text), key.span)));
        }
        let kind = if children.iter().all(|c| matches!(c.kind, EntryKind::Item { .. })) {
            let mut items = Vec::new();
            for child in children {
                if let [Entry { kind: EntryKind::Line { text, .. }, .. }] = child.children() {
                    items.extend(self.expr(text));
                }
            }
            ExprKind::List(items)
        } else {
            let entries = self.bindings_below(children);
            ExprKind::Object(
                entries
                    .into_iter()
                    .map(|(key, value)| ObjectEntry { key, value: Some(value) })
                    .collect(),
            )
        };
        Expr::new(kind, span).ok()
    }

    fn types_below(&mut self, entries: &'t [Entry<'s>]) -> Option<TypeExpr> {
        let first = entries.first()?;
        let last = entries.last()?;
        let span = Span::new(self.outline.file, first.start, last.end);
        let mut fields = Vec::new();
        for entry in entries {
            match &entry.kind {
                EntryKind::Pair { key, value, children } => {
                    let (name, optional) = match key.text.strip_suffix('?') {
                        Some(name) => (name, true),
                        None => (key.text, false),
                    };
                    let ty = match value {
                        Some(value) => value.with_leaf(|l| leaf::type_expr(l, self.problems)),
                        None => self.types_below(children),
                    };
                    fields.push(TypeField {
                        name: Spanned::new(SmolStr::new(name), key.span),
                        optional,
                        ty: ty.unwrap_or_else(|| TypeExpr::named("object", key.span)),
                    });
                }
                EntryKind::Line { text, .. } if entries.len() == 1 => {
                    return text.with_leaf(|l| leaf::type_expr(l, self.problems));
                }
                EntryKind::Line { text, .. } => fields.push(TypeField {
                    name: self.text(text),
                    optional: false,
                    ty: TypeExpr::named("string", text.span),
                }),
                EntryKind::Item { entries } => {
                    if let Some(TypeExpr { kind: TypeKind::Object(more), .. }) =
                        self.types_below(entries)
                    {
                        fields.extend(more);
                    }
                }
            }
        }
        Some(TypeExpr { kind: TypeKind::Object(fields), span })
    }

    // ---- inline collections --------------------------------------------------------------------

    fn flow(&mut self, value: &Scalar<'s>) -> Flow<'s> {
        let origin = Origin { file: value.span.file, base: value.span.start, shifts: &[] };
        leaf::flow_collection(Leaf { text: value.raw, origin }, self.problems)
    }

    /// The entries of `[a, b]` and `{a: b}` as if they stood one a line.
    fn inline_entries(&mut self, value: &Scalar<'s>) -> Option<&'t [Entry<'s>]> {
        if !is_inline(value, '[', ']') && !is_inline(value, '{', '}') {
            return None;
        }
        let flow = self.flow(value);
        let entries = match flow.kind {
            FlowKind::Scalar(_) => return None,
            _ => flow_entries(flow),
        };
        let holder = self.arena.alloc(Entry {
            start: value.span.start,
            end: value.span.end,
            kind: EntryKind::Item { entries },
        });
        Some(holder.children())
    }

    // ---- fragments -----------------------------------------------------------------------------

    /// Puts a fragment's entries where they belong, as if the sections around them were written.
    fn adopt(&mut self, entries: &'t [Entry<'s>]) -> &'t [Entry<'s>] {
        let mut adopted: Vec<Entry<'s>> = Vec::new();
        for entry in entries {
            let home = match &entry.kind {
                EntryKind::Pair { key, children, .. } => {
                    if AGENT.field(key.text).is_some()
                        && !(STEP.field(key.text).is_some() && AGENT.field(key.text).is_none())
                    {
                        None
                    } else {
                        FRAGMENT_HOMES
                            .iter()
                            .find(|(_, ty)| ty.field(key.text).is_some())
                            .map(|(name, _)| *name)
                            .or_else(|| looks_like_step(children).then_some("flow"))
                    }
                }
                _ => None,
            };
            let Some(home) = home else {
                adopted.push(entry.clone());
                continue;
            };
            let (section, inner) =
                if home == "step" { ("flow", Some("fragment")) } else { (home, None) };
            let shell = |name: &'static str, children: Vec<Entry<'s>>| Entry {
                start: entry.start,
                end: entry.end,
                kind: EntryKind::Pair {
                    key: Key {
                        text: name,
                        span: Span::new(self.outline.file, entry.start, entry.start),
                        line_length: 0,
                    },
                    value: None,
                    children,
                },
            };
            let same = adopted.last_mut().filter(|last| {
                matches!(&last.kind, EntryKind::Pair { key, .. } if key.text.eq_ignore_ascii_case(section) && key.span.is_empty())
            });
            if let Some(last) = same {
                last.end = entry.end;
                if let EntryKind::Pair { children, .. } = &mut last.kind {
                    match (inner, children.last_mut()) {
                        (
                            Some(_),
                            Some(Entry {
                                kind: EntryKind::Pair { key, children: step, .. },
                                end,
                                ..
                            }),
                        ) if key.text == "fragment" => {
                            *end = entry.end;
                            step.push(entry.clone());
                        }
                        (Some(inner), _) => children.push(shell(inner, vec![entry.clone()])),
                        (None, _) => children.push(entry.clone()),
                    }
                }
            } else {
                let children = match inner {
                    Some(inner) => vec![shell(inner, vec![entry.clone()])],
                    None => vec![entry.clone()],
                };
                let name: &'static str = match (self.format, section) {
                    (Format::Abl, "flow") => "FLOW",
                    (Format::Abl, "memory") => "MEMORY",
                    (Format::Abl, "escalate") => "ESCALATE",
                    (Format::Abl, "hooks") => "HOOKS",
                    (Format::Abl, "nlu") => "NLU",
                    (_, other) => other,
                };
                adopted.push(shell(name, children));
            }
        }
        self.arena
            .alloc(Entry { start: 0, end: 0, kind: EntryKind::Item { entries: adopted } })
            .children()
    }
}

/// Whether entries are mostly fields of a step: then their parent is one.
fn looks_like_step(children: &[Entry<'_>]) -> bool {
    children
        .iter()
        .any(|c| matches!(&c.kind, EntryKind::Pair { key, .. } if STEP.field(key.text).is_some()))
}

/// Whether a text is a collection and nothing more: `{a} -> b` is not.
fn is_inline(value: &Scalar<'_>, open: char, close: char) -> bool {
    value.style == Style::Bare
        && value.raw.starts_with(open)
        && value.raw.ends_with(close)
        && !value.raw.starts_with("{{")
}

/// `- name` and nothing more.
fn is_bare_item(entry: &Entry<'_>) -> bool {
    matches!(&entry.kind, EntryKind::Item { entries } if matches!(entries.as_slice(), [only] if is_text_line(only)))
}

fn is_text_line(entry: &Entry<'_>) -> bool {
    matches!(&entry.kind, EntryKind::Line { children, .. } if children.is_empty())
}

fn len(text: &str) -> u32 {
    u32::try_from(text.len()).unwrap_or(u32::MAX)
}

fn variable(name: &Spanned<Name>) -> Expr {
    Expr::path(Path::variable(name.clone()), name.span)
}

fn assignment(name: Spanned<Name>, value: Expr) -> leaf::Assignment {
    let span = name.span;
    leaf::Assignment { target: Spanned::new(Path::variable(name), span), value }
}

/// Whether a bare text is meant as an action and not as words for the user: a keyword first, or
/// nothing but the name of a step.
fn starts_like_action(text: &str) -> bool {
    let first = text.split([' ', ':', '{']).next().unwrap_or_default();
    let upper = !first.chars().any(char::is_lowercase);
    let keyword = leaf::ActionKind::from_word(first).is_some();
    (keyword && (upper || first == text))
        || (!text.is_empty() && !text.contains(char::is_whitespace))
}

/// At most the first words of a text, for a message.
fn excerpt(text: &str) -> &str {
    const LONGEST: usize = 40;
    let line = text.lines().next().unwrap_or_default();
    match line.char_indices().nth(LONGEST) {
        Some((end, _)) => line.get(..end).unwrap_or(line),
        None => line,
    }
}

/// What a record of this type looks like, for a message.
fn describe(ty: &RecordType) -> String {
    match ty.heads.first() {
        Some(Head::Signature) => "a tool such as `name(p: string) -> Result`".to_owned(),
        Some(Head::Constraint) => "a rule such as `REQUIRE condition`".to_owned(),
        Some(Head::Condition) => format!("a {} such as `IF: condition`", ty.name),
        Some(Head::Routing) => "a rule such as `INTENT(a, b) -> agent`".to_owned(),
        Some(Head::Protocol) => "a rule such as `FROM a TO b:`".to_owned(),
        _ if ty.naming == Naming::Keyed => format!("a {} (`name:`)", ty.name),
        _ => match ty.fields.first() {
            Some(first) => format!("a {} (`{}: …`)", ty.name, first.name.to_uppercase()),
            None => format!("a {}", ty.name),
        },
    }
}

fn flow_names(flow: &Flow<'_>, names: &mut Vec<Spanned<Name>>) {
    match &flow.kind {
        FlowKind::Scalar(text) => {
            let text = text.trim_matches(['"', '\'']);
            if !text.is_empty() {
                names.push(Spanned::new(SmolStr::new(text), flow.span));
            }
        }
        FlowKind::List(items) => items.iter().for_each(|i| flow_names(i, names)),
        FlowKind::Map(entries) => {
            names.extend(
                entries.iter().map(|e| Spanned::new(SmolStr::new(e.key.value), e.key.span)),
            );
        }
    }
}

fn flow_entries(flow: Flow<'_>) -> Vec<Entry<'_>> {
    match flow.kind {
        FlowKind::Scalar(text) => {
            let text = flow_scalar(text, flow.span);
            let (start, end) = (text.span.start, text.span.end);
            vec![Entry { start, end, kind: EntryKind::Line { text, children: Vec::new() } }]
        }
        FlowKind::List(items) => items
            .into_iter()
            .map(|item| Entry {
                start: item.span.start,
                end: item.span.end,
                kind: EntryKind::Item { entries: flow_entries(item) },
            })
            .collect(),
        FlowKind::Map(entries) => entries
            .into_iter()
            .map(|e| {
                let key =
                    Key { text: e.key.value, span: e.key.span, line_length: len(e.key.value) };
                let end = e.value.as_ref().map_or(e.key.span.end, |v| v.span.end);
                let (value, children) = match e.value {
                    Some(Flow { kind: FlowKind::Scalar(text), span }) => {
                        (Some(flow_scalar(text, span)), Vec::new())
                    }
                    Some(nested) => (None, flow_entries(nested)),
                    None => (None, Vec::new()),
                };
                Entry {
                    start: e.key.span.start,
                    end,
                    kind: EntryKind::Pair { key, value, children },
                }
            })
            .collect(),
    }
}

fn flow_scalar(raw: &str, span: Span) -> Scalar<'_> {
    let style = match raw.as_bytes() {
        [b'"', .., b'"'] => Style::Double,
        [b'\'', .., b'\''] => Style::Single,
        _ => Style::Bare,
    };
    Scalar { raw, span, style, decoded: None }
}

impl Shape {
    /// Whether the value stands on the line of its key.
    const fn is_inline(self) -> bool {
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
                | Self::Types
                | Self::Marker
        )
    }
}
