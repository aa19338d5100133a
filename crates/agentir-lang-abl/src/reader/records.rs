//! Reads records: classifies entries as fields, items, or neither.

use super::{Reader, excerpt};
use crate::schema::{FieldType, Header, Naming, Need, RecordType};
use crate::tree::{Field, Format, Record, Value};
use agentir_diagnostics::{Applicability, Diagnostic, Span, Spanned, closest};
use agentir_syntax::misspelled::{explain_missing, unknown_field};
use agentir_syntax::outline::{Entry, EntryKind, Key, Scalar, Style};
use agentir_syntax::rules;
use agentir_syntax::text::{first_line, offset, with_article};
use smol_str::SmolStr;

impl<'t, 's: 't> Reader<'t, 's, '_> {
    pub(super) fn record(
        &mut self,
        ty: &'static RecordType,
        span: Span,
        entries: &'t [Entry<'s>],
    ) -> Record<'t> {
        let mut record = Record::new(ty, span, None);
        self.entries(&mut record, entries);
        self.check_required(&record);
        record
    }

    pub(super) fn entries(&mut self, record: &mut Record<'t>, entries: &'t [Entry<'s>]) {
        if let Some(item) = self.item_without_dash(record, entries) {
            record.items.push(item);
            return;
        }
        for entry in entries {
            self.entry(record, entry);
        }
    }

    /// The item that the entries of a list are which lacks its dash, as in `COMPLETE:` with a `WHEN:` below. Reports that.
    fn item_without_dash(
        &mut self,
        record: &Record<'t>,
        entries: &'t [Entry<'s>],
    ) -> Option<Record<'t>> {
        let item = record.ty.items.filter(|item| item.naming != Naming::Keyed)?;
        // Statements may stand in a body with or without a dash.
        if record.ty.fields.iter().any(|field| item.field(field.name).is_some()) {
            return None;
        }
        let is_inner = |entry: &Entry<'_>| match &entry.kind {
            EntryKind::Pair { key, .. } => {
                record.ty.field(key.text).is_none() && item.field(key.text).is_some()
            }
            _ => false,
        };
        let first = entries.first().filter(|_| entries.iter().all(is_inner))?;
        let EntryKind::Pair { key, .. } = &first.kind else { return None };
        self.problems.push(
            Diagnostic::error(
                rules::SYNTAX,
                key.span,
                format!("a `- ` is missing before `{}`", key.text),
            )
            .help(format!(
                "write `- {}: …`, and indent the other lines of {} like it",
                key.text,
                with_article(item.name)
            )),
        );
        let span = self.span_of(first).to(self.span_of(entries.last()?));
        let mut read = Record::new(item, span, None);
        for entry in entries {
            self.entry(&mut read, entry);
        }
        self.take_name(&mut read);
        self.check_required(&read);
        Some(read)
    }

    pub(super) fn entry(&mut self, record: &mut Record<'t>, entry: &'t Entry<'s>) {
        let top = std::mem::replace(&mut self.top, false);
        match &entry.kind {
            EntryKind::Pair { key, value, children } => {
                let def = record.ty.field(key.text).filter(|def| {
                    // A name chosen by the author may equal the name of a field: `prompt:` with a nested
                    // gather field.
                    let named = record.ty.items.is_some_and(|i| i.naming == Naming::Keyed);
                    !(named
                        && value.is_none()
                        && !children.is_empty()
                        && def.field_type.is_inline())
                });
                if let Some(def) = def {
                    if top {
                        self.check_case(def, *key);
                    }
                    self.field(record, def, entry, *key, value.as_ref(), children, top);
                } else if let Some(item) = record.ty.items.filter(|i| i.naming == Naming::Keyed)
                    && !is_field_misspelled(record, item, *key, value.as_ref())
                {
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
                if let Some(header) = self.header(record.ty.headers, text) {
                    record.headers.push(header);
                    self.entries(record, children);
                } else if !children.is_empty()
                    && let Some(read) = self.key_without_colon(record, text, children)
                {
                    self.top = top;
                    self.entry(record, read);
                } else if let Some(item) = record.ty.items
                    && let Some(read) = self.name_without_colon(item, text, children)
                {
                    self.entry(record, read);
                } else if let Some(item) = record.ty.items {
                    let whole = std::slice::from_ref(entry);
                    if let Some(read) = self.item(item, entry, whole) {
                        record.items.push(read);
                    }
                } else if let Some(read) = self.key_without_colon(record, text, children) {
                    self.top = top;
                    self.entry(record, read);
                } else {
                    self.top = top;
                    self.unexpected(record, entry);
                }
            }
        }
        self.top = top;
    }

    /// The entries of a document, where what follows a stray line at the margin is part of the section that the line
    /// interrupts: the rest of the section is checked as if the line were not there.
    pub(super) fn rejoined(
        &self,
        ty: &'static RecordType,
        entries: &'t [Entry<'s>],
    ) -> &'t [Entry<'s>] {
        let column = |entry: &Entry<'_>| {
            let before = self.outline.text.get(..entry.start as usize).unwrap_or_default();
            before.len() - before.rfind('\n').map_or(0, |at| at + 1)
        };
        let is_stray = |entry: &Entry<'s>| match &entry.kind {
            // Without a value it is a section that ABL does not have, with content of its own.
            EntryKind::Pair { key, value, .. } => value.is_some() && ty.field(key.text).is_none(),
            EntryKind::Line { text, .. } => {
                self.key_word(text).is_none_or(|word| ty.field(word).is_none())
            }
            EntryKind::Item { .. } => false,
        };
        let stray = |entry: &Entry<'s>| !entry.children().is_empty() && is_stray(entry);
        if self.format != Format::Abl || !entries.iter().skip(1).any(stray) {
            return entries;
        }
        let mut all: Vec<Entry<'s>> = Vec::with_capacity(entries.len());
        let mut section = None;
        for entry in entries {
            let mut entry = entry.clone();
            if !is_stray(&entry) {
                section = Some(all.len());
            } else if let EntryKind::Pair { children, .. } | EntryKind::Line { children, .. } =
                &mut entry.kind
                && let Some(first) = children.first()
            {
                if let Some(before) = section.and_then(|at| all.get_mut(at))
                    && let Some(home) = block_at(before, column(first), &column)
                {
                    home.append(children);
                    before.end = entry.end;
                }
                // A line without meaning, whatever it looks like: the structure of the document is in doubt.
                if let EntryKind::Pair { key, children, .. } = &mut entry.kind {
                    let (text, children) = (self.outline.line(key), std::mem::take(children));
                    entry.kind = EntryKind::Line { text, children };
                }
            }
            all.push(entry);
        }
        let whole = Entry { start: 0, end: 0, empty: None, kind: EntryKind::Item { entries: all } };
        self.arena.alloc(whole).children()
    }

    /// Reports a line that begins with the name of a field and lacks its colon, as in `GOAL "…"`. Returns the entry with
    /// the colon, so that the field does not count as missing.
    fn key_without_colon(
        &mut self,
        record: &Record<'t>,
        line: &'t Scalar<'s>,
        children: &'t [Entry<'s>],
    ) -> Option<&'t Entry<'s>> {
        let word = self.key_word(line)?;
        let is_keyword = word.chars().all(|c| c.is_ascii_uppercase() || c == '_');
        let def = record.ty.field(word).filter(|def| is_keyword || def.name == word)?;
        let rest = line.raw.get(word.len()..).unwrap_or_default();
        let block = rest.trim_start_matches([' ', '\t', '：']).starts_with(['|', '>']);
        let is_record = matches!(def.field_type, FieldType::Record(_));
        // `FLOW steps can use …` is a sentence that begins with a section's name, and no section.
        if is_record && children.is_empty() && is_prose(rest.trim()) {
            return None;
        }
        let children = if block && !is_record { &[] } else { children };
        Some(self.with_colon(line, word, children))
    }

    /// Reports a line that is the name of an item with its content below, but for its colon. Returns the entry with it.
    fn name_without_colon(
        &mut self,
        ty: &'static RecordType,
        line: &'t Scalar<'s>,
        children: &'t [Entry<'s>],
    ) -> Option<&'t Entry<'s>> {
        let word = self.key_word(line)?;
        let is_wide = line.raw.get(word.len()..).is_some_and(|rest| rest.starts_with('：'));
        let whole = word.len() == line.raw.len() && !children.is_empty();
        let named = ty.naming == Naming::Keyed && !ty.headers.contains(&Header::Signature);
        (named && (whole || is_wide)).then(|| self.with_colon(line, word, children))
    }

    /// Whether the only value in the place of a record is a field of it without its colon, which YAML reads as a string.
    /// Reports that.
    pub(super) fn is_key_without_colon(
        &mut self,
        ty: &'static RecordType,
        value: &'t Scalar<'s>,
    ) -> bool {
        let word = value.raw.split([' ', '\t', ':', '：']).next().unwrap_or_default();
        let found = self.format == Format::Yaml
            && value.style == Style::Bare
            && word.len() < value.raw.len()
            && ty.fields.iter().any(|def| def.name == word);
        if found {
            let Span { file, start, .. } = value.span;
            let span = Span::new(file, start, start + offset(word.len()));
            let message = format!("a `:` and a space are missing after `{word}`");
            let finding = Diagnostic::error(rules::SYNTAX, span, message);
            self.problems.push(finding.help(format!("write `{word}: …`")));
        }
        found
    }

    /// The word that a line begins with, if it may be a key and could end there.
    fn key_word(&self, line: &Scalar<'s>) -> Option<&'s str> {
        if self.format != Format::Abl || line.is_quoted() {
            return None;
        }
        let end = line.raw.find([' ', '\t', '：']).unwrap_or(line.raw.len());
        let word = line.raw.get(..end)?;
        let is_word = word.chars().all(|c| c.is_alphanumeric() || c == '_');
        (is_word && !word.is_empty()).then_some(word)
    }

    /// Reports that a colon is missing after `word`, the first of a line, or that it is one of full width. Returns the
    /// entry as if it were there.
    fn with_colon(
        &mut self,
        line: &'t Scalar<'s>,
        word: &'s str,
        children: &'t [Entry<'s>],
    ) -> &'t Entry<'s> {
        let Span { file, start, end } = line.span;
        let span = Span::new(file, start, start + offset(word.len()));
        let rest = line.raw.get(word.len()..).unwrap_or_default();
        let text = match rest.strip_prefix('：') {
            Some(value) => {
                let wide = Span::new(file, span.end, span.end + offset(rest.len() - value.len()));
                self.problems.push(
                    Diagnostic::error(rules::SYNTAX, wide, "a full-width colon does not end a key")
                        .help("write `:`")
                        .replace(":", Applicability::Safe),
                );
                value.trim_start()
            }
            None => {
                let example =
                    if rest.is_empty() { format!("{word}:") } else { format!("{word}: …") };
                self.problems.push(
                    Diagnostic::error(
                        rules::SYNTAX,
                        span,
                        format!("a `:` is missing after `{word}`"),
                    )
                    .help(format!("write `{example}`")),
                );
                rest.trim_start()
            }
        };
        let value = (!text.is_empty()).then(|| Scalar {
            style: match text.as_bytes() {
                [b'"', .., b'"'] => Style::Double,
                [b'\'', .., b'\''] => Style::Single,
                _ => Style::Bare,
            },
            ..Scalar::bare(text, Span::new(file, end - offset(text.len()), end))
        });
        self.arena.alloc(Entry {
            start,
            end: children.last().map_or(end, |child| child.end),
            empty: None,
            kind: EntryKind::Pair {
                key: Key { text: word, span, line_length: end - start },
                value,
                children: children.to_vec(),
            },
        })
    }

    /// `name:` with its content.
    pub(super) fn named_item(
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
        let mut record =
            Record::new(ty, span, Some(Spanned::new(SmolStr::new(key.text), key.span)));
        if let Some(value) = value {
            if let Some(inline) = self.inline_entries(value) {
                self.entries(&mut record, inline);
            } else if let Some(field) = self.shorthand(ty, key.span, value, entry) {
                record.fields.push(field);
            } else if !self.is_key_without_colon(ty, value) {
                self.problems.push(
                    Diagnostic::error(
                        rules::INVALID_VALUE,
                        value.span,
                        format!(
                            "the {} `{}` does not take a value on the same line",
                            ty.name, key.text
                        ),
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

    /// Whether a key that no table knows is not the beginning of a text, but a misspelling: it is written as keywords are
    /// and is close to one, or the text is in a field of its own.
    fn is_keyword_misspelled(&self, ty: &RecordType, key: Key<'_>, rest: &[Entry<'_>]) -> bool {
        let has_text = rest.iter().any(|entry| {
            matches!(&entry.kind, EntryKind::Pair { key, .. } if ty.field(key.text).is_some_and(|f| f.name == "text"))
        });
        let is_keyword = key.text == self.in_format_case(&key.text.to_lowercase());
        has_text || (is_keyword && closest(key.text, ty.fields.iter().map(|f| f.name)).is_some())
    }

    /// The field that a value on the line of its record's key stands for.
    pub(super) fn shorthand(
        &mut self,
        ty: &'static RecordType,
        key: Span,
        value: &'t Scalar<'s>,
        entry: &'t Entry<'s>,
    ) -> Option<Field<'t>> {
        let def = ty.shorthand.and_then(|name| ty.field(name))?;
        Some(Field { def, key, value: self.field_value(def, value), span: value.span, entry })
    }

    /// A list item, or a line among named entries.
    pub(super) fn item(
        &mut self,
        ty: &'static RecordType,
        entry: &'t Entry<'s>,
        entries: &'t [Entry<'s>],
    ) -> Option<Record<'t>> {
        let (first, rest) = entries.split_first()?;
        let span = self.span_of(entry);
        match &first.kind {
            EntryKind::Pair { key, value, children } => {
                // `- name: required` is the short form of a field of that name (specification 3.14.2).
                let is_short =
                    value.as_ref().is_some_and(|value| ty.has_short_form(&value.value()));
                let is_name = ty.name_field == Some("name")
                    && key.text.eq_ignore_ascii_case("name")
                    && !is_short;
                if is_name || ty.field(key.text).is_some() {
                    let mut record = self.record(ty, span, entries);
                    self.take_name(&mut record);
                    return Some(record);
                }
                if ty.naming == Naming::Keyed {
                    return Some(self.named_item(ty, first, *key, value.as_ref(), children, rest));
                }
                // The colon is part of a text, unless the key is a misspelled one.
                let line = self.outline.line(key);
                if ty.headers.contains(&Header::Text)
                    && !self.is_keyword_misspelled(ty, *key, rest)
                    && let Some(header) = self.header(ty.headers, &line)
                {
                    let mut record = self.record(ty, span, rest);
                    record.headers.push(header);
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
                    ty.headers.contains(&Header::Name).then(|| self.bare_name(text)).flatten();
                let before = self.problems.len();
                let header = if named.is_some() { None } else { self.header(ty.headers, text) };
                let told = self.problems.len() > before;
                if header.is_none() && told {
                    // An invalid header was reported; other references still need its name.
                    named = named.or_else(|| self.name_before_parenthesis(text));
                } else if named.is_none() && header.is_none() {
                    self.problems.push(Diagnostic::error(
                        rules::SYNTAX,
                        text.span,
                        format!("expected {}, found `{}`", describe(ty), excerpt(text.raw)),
                    ));
                    // A rule that was meant to guard something must not be lost.
                    return ty.headers.contains(&Header::Constraint).then(|| {
                        let mut record = Record::new(ty, span, None);
                        record.unknown.push(first);
                        record
                    });
                }
                let mut record = Record::new(ty, span, named);
                record.headers.extend(header);
                self.entries(&mut record, children);
                self.entries(&mut record, rest);
                self.check_required(&record);
                Some(record)
            }
            EntryKind::Item { .. } => {
                self.problems.push(Diagnostic::error(
                    rules::SYNTAX,
                    span,
                    format!("expected {}, found a nested list", describe(ty)),
                ));
                None
            }
        }
    }

    /// Sets an item's name from the field that holds it.
    pub(super) fn take_name(&mut self, record: &mut Record<'t>) {
        if record.name.is_none()
            && let Some(field) = record.ty.name_field.and_then(|n| record.field(n))
        {
            record.name = match &field.value {
                Value::Name(name) | Value::Text(name) => Some(name.clone()),
                _ => None,
            };
        } else if record.name.is_none() && record.ty.name_field == Some("name") {
            // `- name: x` where `name` is not a field: it was stored as unknown.
            let at = record.unknown.iter().position(|e| {
                matches!(&e.kind, EntryKind::Pair { key, .. } if key.text.eq_ignore_ascii_case("name"))
            });
            if let Some(at) = at
                && let EntryKind::Pair { key, value, .. } = &record.unknown.remove(at).kind
            {
                match value {
                    Some(value) => {
                        record.name = Some(Spanned::new(value.to_smol(), value.span));
                    }
                    None => self.problems.push(
                        Diagnostic::error(
                            rules::INVALID_VALUE,
                            key.span,
                            format!("`{}` has no value", key.text),
                        )
                        .help(format!("write the name of the {}", record.ty.name)),
                    ),
                }
            }
        }
    }

    pub(super) fn check_required(&mut self, record: &Record<'t>) {
        // A list of such records, which have the fields.
        let list = record.ty.items.is_some_and(|item| item.name == record.ty.name);
        if list && record.fields.is_empty() && !record.items.is_empty() {
            return;
        }
        for def in record.ty.fields {
            // A header or a name replaces the field.
            let said = !record.headers.is_empty()
                || (record.name.is_some() && record.ty.name_field == Some(def.name))
                || def.need == Need::Optional
                || record.fields.iter().any(|f| std::ptr::eq(f.def, def));
            if said {
                continue;
            }
            let first = record
                .fields
                .first()
                .map_or_else(|| first_line(self.outline.text, record.span), |f| f.key);
            let at = record.name.as_ref().map_or(first, |n| n.span);
            let message =
                format!("this {} has no `{}`", record.ty.name, self.in_format_case(def.name));
            if let Some(key) = record.misspelling(def.name)
                && explain_missing(self.problems, key, &message)
            {
                continue;
            }
            let diagnostic = match def.need {
                Need::Recommended(otherwise) => {
                    Diagnostic::warning(rules::MISSING_FIELD, at, message).note(otherwise)
                }
                _ => Diagnostic::error(rules::MISSING_FIELD, at, message),
            };
            self.problems
                .push(diagnostic.help(format!("add `{}: …`", self.in_format_case(def.name))));
        }
    }

    /// The name of a field in the case of this format.
    pub(super) fn in_format_case(&self, name: &str) -> String {
        match self.format {
            Format::Abl => name.to_uppercase(),
            Format::Yaml => name.to_owned(),
        }
    }

    pub(super) fn unknown_key(
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
        let near = closest(&key.text.to_lowercase(), known).map(|near| {
            let near = self.in_format_case(near);
            match top || key.text.chars().any(char::is_uppercase) {
                true => near,
                false => near.to_lowercase(),
            }
        });
        let diagnostic = match (top, &near) {
            (false, _) => {
                let record = with_article(record.ty.name);
                let message = format!("`{}` is not a field of {record}", key.text);
                unknown_field(key.span, message, near.as_deref())
            }
            (true, near) => {
                let message = format!("`{}` is not a section of ABL", key.text);
                let problem = Diagnostic::error(rules::UNKNOWN_SECTION, key.span, message);
                match near {
                    Some(near) => problem.did_you_mean(near),
                    None => problem,
                }
            }
        };
        self.problems.push(diagnostic.note("it has no effect at run time"));
    }

    pub(super) fn unexpected(&mut self, record: &mut Record<'t>, entry: &'t Entry<'s>) {
        record.unknown.push(entry);
        let (span, found) = match &entry.kind {
            EntryKind::Line { text, .. } => (text.span, format!("`{}`", excerpt(text.raw))),
            _ => (self.span_of(entry), "a list".to_owned()),
        };
        let message = format!("expected a field of the {}, found {found}", record.ty.name);
        let finding = Diagnostic::error(rules::SYNTAX, span, message);
        self.problems.push(if self.top && !record.fields.is_empty() {
            finding.help("indent the line if it belongs to the section above")
        } else {
            finding
        });
    }
}

/// The last block below an entry whose entries are in a column.
fn block_at<'e, 's>(
    entry: &'e mut Entry<'s>,
    at: usize,
    column: &dyn Fn(&Entry<'_>) -> usize,
) -> Option<&'e mut Vec<Entry<'s>>> {
    let children = match &mut entry.kind {
        EntryKind::Pair { children, .. } | EntryKind::Line { children, .. } => children,
        EntryKind::Item { entries } => entries,
    };
    if children.first().is_some_and(|first| column(first) == at) {
        return Some(children);
    }
    block_at(children.last_mut()?, at, column)
}

/// Whether a key that no table knows is meant as a field of the record, and not as the name of one of its items: items have
/// no value on the line of their name, or the record is itself one like its items.
fn is_field_misspelled(
    record: &Record<'_>,
    item: &RecordType,
    key: Key<'_>,
    value: Option<&Scalar<'_>>,
) -> bool {
    if item.name == record.ty.name {
        return !record.fields.is_empty() || !record.headers.is_empty();
    }
    let is_valued = item.shorthand.is_none()
        && value.is_some_and(|value| value.is_quoted() || !value.raw.starts_with(['{', '[']));
    is_valued && closest(key.text, record.ty.fields.iter().map(|field| field.name)).is_some()
}

/// A description of the content of a record type, for a message.
pub(super) fn describe(ty: &RecordType) -> String {
    match ty.headers.first() {
        Some(Header::Signature) => "a tool such as `name(p: string) -> Result`".to_owned(),
        Some(Header::Constraint) => "a rule such as `REQUIRE condition`".to_owned(),
        Some(Header::Condition) => format!("{} such as `IF: condition`", with_article(ty.name)),
        Some(Header::Routing) => "a rule such as `INTENT(a, b) -> agent`".to_owned(),
        Some(Header::Protocol) => "a rule such as `FROM a TO b:`".to_owned(),
        _ if ty.naming == Naming::Keyed => format!("{} (`name:`)", with_article(ty.name)),
        _ => match ty.fields.first() {
            Some(first) => {
                format!("{} (`{}: …`)", with_article(ty.name), first.name.to_uppercase())
            }
            None => with_article(ty.name),
        },
    }
}

/// Whether a text is words or a heading, and no value of a section: neither quoted nor a list.
fn is_prose(text: &str) -> bool {
    let is_value = text.starts_with(['"', '\'', '[', '{', '：']) || text.contains(',');
    !is_value && (text.contains(' ') || text.ends_with(':'))
}
