//! Reads an outline by the schema tables: assigns entries to fields, parses values and reports errors.
//! Nothing is discarded: unknown entries stay in the tree.

mod binding;
mod data;
pub(crate) mod statement;
mod value;

use super::inline::Reading;
use super::outline::{Entry, EntryKind, Inline, Key, Text, Word};
use super::schema::{Dialect, FieldDef, FieldType, RecordType, Version};
use super::tree::{Field, Record, Unknown, Value};
use agentir_diagnostics::{Applicability, Diagnostic, FileId, Severity, Span, Spanned, closest};
use agentir_expr::Name;
use agentir_syntax::misspelled::explain_missing;
use agentir_syntax::rules;
use agentir_syntax::text::{offset, with_article};
use rustc_hash::FxHashMap;

/// The state of reading a document.
pub(crate) struct Reader<'s, 'p> {
    pub reading: Reading<'p>,
    /// The text of the file.
    pub text: &'s str,
    pub dialect: Dialect,
    /// The version the document declares.
    pub version: Option<Version>,
    /// Misplaced entries, to be stored by the enclosing block.
    pub misplaced: Vec<Unknown<'s>>,
}

impl<'s> Reader<'s, '_> {
    const fn file(&self) -> FileId {
        self.reading.file
    }

    fn report(&mut self, diagnostic: Diagnostic) {
        self.reading.problems.push(diagnostic);
    }

    /// Reads the document.
    pub(crate) fn document(&mut self, entries: Vec<Entry<'s>>) -> Record<'s> {
        let span = Span::new(
            self.file(),
            entries.first().map_or(0, |e| e.start),
            entries.last().map_or(0, |e| e.end),
        );
        if entries.is_empty() {
            self.report(Diagnostic::error(rules::MISSING_SECTION, span, "this file is empty"));
            let ty = self.dialect.root();
            return Record { ty, span, name: None, fields: Vec::new(), unknown: Vec::new() };
        }
        self.record(self.dialect.root(), span, None, entries)
    }

    // ---- records -------------------------------------------------------------------------------

    /// A block of type `ty`, with its fields.
    fn record(
        &mut self,
        ty: &'static RecordType,
        span: Span,
        name: Option<Spanned<Name>>,
        entries: Vec<Entry<'s>>,
    ) -> Record<'s> {
        let mut record = Record {
            ty,
            span,
            name,
            fields: Vec::with_capacity(entries.len()),
            unknown: Vec::new(),
        };
        let mut names = Names::default();
        for entry in entries {
            self.entry(&mut record, &mut names, entry);
        }
        self.check_whole(&record);
        record
    }

    fn entry(&mut self, record: &mut Record<'s>, names: &mut Names<'s>, mut entry: Entry<'s>) {
        let span = entry.span(self.file());
        if let EntryKind::Line(text) = entry.kind
            && let Some(word) = key_word(text.raw)
        {
            let def = record.ty.field(word);
            let named = def.is_some_and(|def| matches!(def.field_type, FieldType::Named(_)));
            if def.is_some() || !entry.children.is_empty() {
                let kind = self.read_without_colon(text, named);
                if def.is_none() {
                    let data = self.rejected(Entry { kind, ..entry });
                    record.unknown.push(Unknown { key: None, name: None, data, span });
                    return;
                }
                entry.kind = kind;
            }
        }
        match entry.kind {
            EntryKind::Pair { key, value } => {
                match record.ty.field(key.name) {
                    Some(def) => {
                        let field =
                            self.field(record, names, def, key, value, entry.children, span);
                        record.fields.push(field);
                    }
                    None => {
                        self.unknown_key(record, key, &entry.children);
                        record.unknown.push(self.unknown_pair(key, value, entry.children, span));
                    }
                };
            }
            // A block that says that it has no content.
            EntryKind::Line(text) if text.raw.trim() == "empty" && record.fields.is_empty() => {}
            kind => {
                self.unexpected(record.ty, &kind, span);
                let data = self.rejected(Entry { kind, ..entry });
                record.unknown.push(Unknown { key: None, name: None, data, span });
            }
        }
        record.unknown.append(&mut self.misplaced);
    }

    fn check_whole(&mut self, record: &Record<'s>) {
        let missing = |def: &&FieldDef| record.field(def.name).is_none();
        for def in record.ty.required().filter(missing) {
            let (what, at) = match (&record.name, std::ptr::eq(record.ty, self.dialect.root())) {
                (_, true) => ("this document".to_owned(), record.span.at_start()),
                (Some(name), _) => (format!("the {} `{name}`", record.ty.name), name.span),
                (None, _) => (format!("this {}", record.ty.name), self.key_of(record.span)),
            };
            let message = format!("{what} has no `{}`", def.name);
            if let Some(key) = record.misspelling(def.name)
                && explain_missing(self.reading.problems, key, &message)
            {
                continue;
            }
            let spelled = match def.field_type {
                FieldType::Named(_) => format!("{} name:", def.name),
                FieldType::Text | FieldType::Quoted => format!("{}: \"…\"", def.name),
                _ => format!("{}:", def.name),
            };
            self.report(
                Diagnostic::error(rules::MISSING_FIELD, at, message)
                    .help(format!("add `{spelled}`, {}", def.doc)),
            );
        }
        for field in &record.fields {
            if let Some((other, values)) = field.def.requires {
                self.check_required_companion(record, field, other, values);
            }
        }
    }

    /// Reports a field without the field that gives it meaning.
    fn check_required_companion(
        &mut self,
        record: &Record<'s>,
        field: &Field<'s>,
        other: &str,
        values: &[&str],
    ) {
        let name = field.def.name;
        let message = match record.field(other).map(|f| &f.value) {
            None => format!("`{name}` has no effect without `{other}`"),
            Some(Value::Text(text)) if !values.is_empty() && text.placeholders.is_empty() => {
                let value = text.text();
                if values.contains(&value.as_str()) {
                    return;
                }
                let all: Vec<String> =
                    values.iter().map(|v| format!("`{other}: \"{v}\"`")).collect();
                format!("`{name}` requires {}, not `\"{value}\"`", all.join(" and "))
            }
            Some(_) => return,
        };
        self.report(Diagnostic::error(rules::UNKNOWN_FIELD, field.key, message));
    }

    /// The first line of a span.
    fn first_line_of(&self, span: Span) -> Span {
        agentir_syntax::text::first_line(self.text, span)
    }

    /// The key that a block begins with; for an item of a sequence, its first line.
    fn key_of(&self, block: Span) -> Span {
        let line = self.first_line_of(block);
        let text = self.text.get(line.range()).unwrap_or_default();
        match text.split_once(':') {
            Some((key, _)) if !text.starts_with('-') => {
                Span::new(line.file, line.start, line.start + offset(key.trim_end().len()))
            }
            _ => line,
        }
    }

    fn unknown_key(&mut self, record: &Record<'s>, key: Key<'s>, children: &[Entry<'s>]) {
        if record.ty.open {
            return;
        }
        let span = key.span(self.file());
        let root = self.dialect.root();
        let top = std::ptr::eq(record.ty, root);
        let message = if top {
            format!("`{}` is not a block of {}", key.name, self.dialect)
        } else {
            format!("`{}` is not a field of the {}", key.name, record.ty.name)
        };
        let rule = if top { rules::UNKNOWN_SECTION } else { rules::UNKNOWN_FIELD };
        let mut diagnostic = Diagnostic::error(rule, span, message);
        let known = record.ty.fields().map(|f| f.name).filter(|n| !n.ends_with('*'));
        // `actions:` with its actions at the same level instead of nested.
        let beside = record.fields.last().filter(|f| match &f.value {
            Value::Records(r) => r.is_empty() && !children.is_empty(),
            Value::Declarations(d) => d.is_empty(),
            Value::Bindings(b) => b.is_empty(),
            _ => false,
        });
        if let Some(field) = beside {
            diagnostic = diagnostic
                .help(format!("indent it if it belongs to the `{}` above", field.def.name));
        } else if let Some(near) = closest(key.name, known) {
            diagnostic = diagnostic.did_you_mean(near);
        } else if let Some(home) =
            parent_type_of(root, key.name).filter(|h| !std::ptr::eq(*h, record.ty))
        {
            diagnostic = diagnostic.help(if std::ptr::eq(home, root) {
                format!("`{}` is a top-level block and must not be indented", key.name)
            } else {
                format!("`{}` is a field of {}", key.name, with_article(home.name))
            });
        } else if let Some(dialect) = Dialect::ALL
            .into_iter()
            .find(|d| *d != self.dialect && top && d.root().field(key.name).is_some())
        {
            diagnostic = diagnostic
                .help(format!("it is a block of {dialect}; select that dialect with `# @dialect: {dialect}` at the top"));
        }
        self.report(diagnostic.note("it has no effect"));
    }

    /// Reports a statement or an item where only fields are allowed.
    fn unexpected(&mut self, ty: &'static RecordType, kind: &EntryKind<'s>, span: Span) {
        let procedure = ty.fields().find(|f| matches!(f.field_type, FieldType::Procedure(_)));
        let (at, found) = self.describe_entry(kind, span);
        let diagnostic = Diagnostic::error(
            rules::SYNTAX,
            at,
            format!("expected a field of the {}, found {found}", ty.name),
        );
        self.report(match (procedure, kind) {
            (
                Some(field),
                EntryKind::Template(_) | EntryKind::Statement { .. } | EntryKind::Conditional(_),
            ) => diagnostic.help(format!("write statements below `{}:`, indented", field.name)),
            _ => diagnostic,
        });
    }

    // ---- fields --------------------------------------------------------------------------------

    #[expect(clippy::too_many_arguments, reason = "the parts of one entry")]
    fn field(
        &mut self,
        record: &Record<'s>,
        names: &mut Names<'s>,
        def: &'static FieldDef,
        key: Key<'s>,
        value: Inline<'s>,
        children: Vec<Entry<'s>>,
        span: Span,
    ) -> Field<'s> {
        self.check_use(record, names, def, key);
        let key_span = key.span(self.file());
        let value = match def.field_type {
            FieldType::Named(ty) => {
                let name = self.instance_name(def, key);
                self.no_value(def.name, value);
                Value::Record(self.record(ty, span, name, children).into())
            }
            _ => {
                if let Some(instance) = key.instance {
                    self.report(
                        Diagnostic::error(
                            rules::SYNTAX,
                            instance.span(self.file()),
                            format!("`{}` does not take a name", def.name),
                        )
                        .help(format!("write `{}:`", def.name)),
                    );
                }
                self.value(def, key, value, children, span)
            }
        };
        Field { def, key: key_span, value, span }
    }

    /// Reports duplicates, deprecated fields and fields of other versions.
    fn check_use(
        &mut self,
        record: &Record<'s>,
        names: &mut Names<'s>,
        def: &'static FieldDef,
        key: Key<'s>,
    ) {
        let span = key.span(self.file());
        let named = matches!(def.field_type, FieldType::Named(_));
        if named && let Some(instance) = key.instance {
            let whole = key.whole(self.file());
            if let Some(first) = names.first(def.name, instance.raw, whole) {
                self.report(
                    Diagnostic::warning(
                        rules::DUPLICATE_SECTION,
                        instance.span(self.file()),
                        format!("duplicate {} `{}`", def.name, instance.raw),
                    )
                    .label(first, "first defined here"),
                );
            }
        }
        if (!named || def.singular)
            && let Some(first) = record.fields.iter().rev().find(|f| std::ptr::eq(f.def, def))
            && !def.name.ends_with('*')
        {
            let diagnostic = if def.singular {
                Diagnostic::error(
                    rules::DUPLICATE_SECTION,
                    span,
                    format!("there can only be one `{}`", def.name),
                )
            } else {
                Diagnostic::warning(
                    rules::DUPLICATE_FIELD,
                    span,
                    format!("duplicate `{}`", def.name),
                )
                .note("the last one is used")
            };
            self.report(diagnostic.label(first.key, "first defined here"));
        }
        if let Some(deprecation) = def.deprecated {
            let applies = match (deprecation.since, self.version) {
                (None, _) => true,
                (Some(since), Some(version)) => version >= since,
                (Some(_), None) => false,
            };
            if applies {
                let diagnostic = Diagnostic::warning(
                    rules::DEPRECATED_FIELD,
                    span,
                    format!("`{}` is deprecated", def.name),
                )
                .help(format!("write `{}` instead", deprecation.instead));
                self.report(if deprecation.renamed {
                    diagnostic.replace(deprecation.instead, Applicability::Unsafe)
                } else {
                    diagnostic
                });
            }
        }
        if let (Some(since), Some(version)) = (def.since, self.version)
            && version < since
        {
            self.report(
                Diagnostic::warning(
                    rules::NEWER_FORM,
                    span,
                    format!("`{}` requires version {since}", def.name),
                )
                .note(format!("this document selects version {version}")),
            );
        }
    }

    /// The name of a named block.
    fn instance_name(&mut self, def: &'static FieldDef, key: Key<'s>) -> Option<Spanned<Name>> {
        let Some(instance) = key.instance else {
            self.report(
                Diagnostic::error(
                    rules::SYNTAX,
                    key.span(self.file()),
                    format!("this `{}` has no name", def.name),
                )
                .help(format!("write `{} name:`", def.name)),
            );
            return None;
        };
        let span = instance.span(self.file());
        let name = instance.raw.trim_matches('"');
        if instance.raw.contains([' ', '\t']) {
            self.report(
                Diagnostic::error(rules::SYNTAX, span, "a name must be one word")
                    .help("join the words with `_`")
                    .replace(
                        instance.raw.split_whitespace().collect::<Vec<_>>().join("_"),
                        Applicability::Unsafe,
                    ),
            );
        }
        Some(Spanned::new(Name::new(name), span))
    }

    /// The name of an entry in a collection; reports several words. If two declarations have the same name, the
    /// document cannot keep both.
    fn entry_name(
        &mut self,
        what: &str,
        names: &mut Names<'s>,
        key: Key<'s>,
        declared: bool,
    ) -> Spanned<Name> {
        let span = key.span(self.file());
        if let Some(instance) = key.instance {
            self.report(
                Diagnostic::error(
                    rules::SYNTAX,
                    key.whole(self.file()),
                    format!("the name of {} must be one word", with_article(what)),
                )
                .help(format!(
                    "write `{}_{}:`",
                    key.name,
                    instance.raw.replace(' ', "_")
                )),
            );
        }
        if key.name.is_empty() {
            self.report(Diagnostic::error(rules::SYNTAX, span, format!("this {what} has no name")));
        } else if let Some(first) = names.first("", key.name, span) {
            let message = format!("duplicate {what} `{}`", key.name);
            let mut diagnostic = Diagnostic::warning(rules::DUPLICATE_FIELD, span, message)
                .label(first, "first defined here");
            if declared {
                diagnostic.severity = Severity::Error;
            }
            self.report(diagnostic);
        }
        Spanned::new(Name::new(key.name), span)
    }

    /// Reports a value where only a block is allowed.
    fn no_value(&mut self, name: &str, value: Inline<'s>) {
        let span = match value {
            Inline::Nothing => return,
            Inline::Text(text) => text.span(self.file()),
            Inline::Template(t) => Span::new(self.file(), t.pipe, t.pipe + 1),
            Inline::Arrow(at, _) => Span::new(self.file(), at, at + 2),
        };
        self.report(
            Diagnostic::error(
                rules::INVALID_VALUE,
                span,
                format!("`{name}` does not take a value on the same line"),
            )
            .help("write its fields below it, indented"),
        );
    }

    /// Reports entries nested below a value that takes none.
    fn no_children(&mut self, name: &str, children: Vec<Entry<'s>>) -> Vec<Unknown<'s>> {
        if let Some(first) = children.first() {
            let span = first.span(self.file());
            let at = match &first.kind {
                EntryKind::Pair { key, .. } => key.whole(span.file),
                _ => self.first_line_of(span),
            };
            self.report(
                Diagnostic::error(
                    rules::INVALID_VALUE,
                    at,
                    format!("`{name}` does not take indented lines"),
                )
                .help(format!("indent this line like `{name}` if it is not part of it")),
            );
        }
        self.unknowns(children)
    }

    /// Like [`no_children`](Self::no_children), but stores the entries in the enclosing block.
    fn keep_misplaced_children(&mut self, name: &str, children: Vec<Entry<'s>>) {
        if !children.is_empty() {
            let below = self.no_children(name, children);
            self.misplaced.extend(below);
        }
    }

    /// Stores a reported entry in the enclosing block.
    fn keep_misplaced(&mut self, entry: Entry<'s>) {
        let span = entry.span(self.file());
        let data = self.data_of(entry);
        self.misplaced.push(Unknown { key: None, name: None, data, span });
    }

    /// Named blocks nested below a key.
    fn collection(&mut self, ty: &'static RecordType, entries: Vec<Entry<'s>>) -> Vec<Record<'s>> {
        let mut names = Names::default();
        let mut records = Vec::with_capacity(entries.len());
        for mut entry in entries {
            let span = entry.span(self.file());
            self.complete_name(&mut entry);
            match entry.kind {
                EntryKind::Pair { key, value } => {
                    let name = self.entry_name(ty.name, &mut names, key, false);
                    self.no_value(key.name, value);
                    records.push(self.record(ty, span, Some(name), entry.children));
                }
                kind => {
                    self.unexpected_in("a name and a colon", &kind, span);
                    let data = self.rejected(Entry { kind, ..entry });
                    let unknown = vec![Unknown { key: None, name: None, data, span }];
                    records.push(Record { ty, span, name: None, fields: Vec::new(), unknown });
                }
            }
        }
        records
    }

    /// Reports a line among named entries that is one, but for its colon, and reads it as one.
    fn complete_name(&mut self, entry: &mut Entry<'s>) {
        if let EntryKind::Line(text) = entry.kind
            && let Some(word) = key_word(text.raw)
            && (word.len() < text.raw.len() || !entry.children.is_empty())
        {
            entry.kind = self.read_without_colon(text, false);
        }
    }

    /// Reports a line that lacks the colon after its key, and reads it as if it had one: after all of its words if a
    /// name follows the first, otherwise after the first.
    fn read_without_colon(&mut self, text: Text<'s>, named: bool) -> EntryKind<'s> {
        let part = |from: usize, to: usize| {
            let raw = text.raw.get(from..to).unwrap_or_default();
            let inner = raw.trim_start();
            let start = text.start + offset(from + raw.len() - inner.len());
            let quoted = inner.len() > 1 && inner.starts_with('"') && inner.ends_with('"');
            Text { raw: inner, start, quoted }
        };
        let word = key_word(text.raw).unwrap_or_default();
        let wide = text.raw.find('：').filter(|at| named || *at == word.len());
        // Where the colon belongs, and where what follows it begins.
        let (at, rest) = match wide {
            Some(at) => (at, at + '：'.len_utf8()),
            None if named => (text.raw.len(), text.raw.len()),
            None => (word.len(), word.len()),
        };
        let colon = text.start + offset(at);
        let name = Some(part(word.len(), at)).filter(|name| !name.raw.is_empty());
        let key = Key {
            name: word,
            start: text.start,
            end: text.start + offset(word.len()),
            instance: name,
            colon,
        };
        let finding = match wide {
            Some(_) => {
                let span = Span::new(self.file(), colon, text.start + offset(rest));
                Diagnostic::error(rules::SYNTAX, span, "a full-width colon does not end a key")
                    .help("write `:`")
                    .replace(if rest < text.raw.len() { ": " } else { ":" }, Applicability::Safe)
            }
            None => {
                let written = key.whole(self.file());
                let words = self.text.get(written.range()).unwrap_or_default();
                Diagnostic::error(
                    rules::SYNTAX,
                    written,
                    format!("a `:` is missing after `{words}`"),
                )
                .replace(format!("{words}:"), Applicability::Safe)
            }
        };
        self.report(finding);
        let value = part(rest, text.raw.len());
        let value = match value.raw {
            "" => Inline::Nothing,
            "->" => Inline::Arrow(value.start, None),
            _ => Inline::Text(value),
        };
        EntryKind::Pair { key, value }
    }

    /// Reports an entry of another kind among named entries.
    fn unexpected_in(&mut self, expected: &str, kind: &EntryKind<'s>, span: Span) {
        let (at, found) = self.describe_entry(kind, span);
        self.report(Diagnostic::error(
            rules::SYNTAX,
            at,
            format!("expected {expected}, found {found}"),
        ));
    }

    /// A description of an entry, and the span to point at.
    fn describe_entry(&self, kind: &EntryKind<'s>, span: Span) -> (Span, String) {
        let at = self.first_line_of(span);
        match kind {
            EntryKind::Item => (at, "a sequence item".to_owned()),
            EntryKind::Line(text) => (text.span(at.file), format!("`{}`", excerpt(text.raw))),
            EntryKind::Template(_) => (at, "text".to_owned()),
            EntryKind::Statement { word, .. } => (at, format!("`{}`", spelled(*word))),
            EntryKind::Conditional(_) => (at, "`if`".to_owned()),
            EntryKind::Pair { .. } => (at, "a field".to_owned()),
        }
    }

    /// The records in the items of a sequence.
    fn items(&mut self, ty: &'static RecordType, children: Vec<Entry<'s>>) -> Vec<Record<'s>> {
        let mut records = Vec::with_capacity(children.len());
        for entry in children {
            let span = entry.span(self.file());
            if matches!(entry.kind, EntryKind::Item) {
                records.push(self.record(ty, span, None, entry.children));
            } else {
                self.unexpected_in("`- `", &entry.kind, span);
                let data = self.data_of(entry);
                let unknown = vec![Unknown { key: None, name: None, data, span }];
                records.push(Record { ty, span, name: None, fields: Vec::new(), unknown });
            }
        }
        records
    }
}

/// The names used so far.
#[derive(Default)]
struct Names<'s>(FxHashMap<(&'static str, &'s str), Span>);

impl<'s> Names<'s> {
    /// The first occurrence of a name of this kind, if any.
    fn first(&mut self, kind: &'static str, name: &'s str, span: Span) -> Option<Span> {
        match self.0.entry((kind, name)) {
            std::collections::hash_map::Entry::Occupied(first) => Some(*first.get()),
            std::collections::hash_map::Entry::Vacant(free) => {
                free.insert(span);
                None
            }
        }
    }
}

/// The block type nearest to the root that has a field called `name`.
pub(crate) fn parent_type_of(root: &'static RecordType, name: &str) -> Option<&'static RecordType> {
    let mut seen: Vec<&'static RecordType> = vec![root];
    let mut at = 0;
    while let Some(ty) = seen.get(at).copied() {
        if ty.field(name).is_some() {
            return Some(ty);
        }
        for field in ty.rows() {
            if let FieldType::Items(r)
            | FieldType::Block(r)
            | FieldType::Named(r)
            | FieldType::Collection(r)
            | FieldType::Declarations(r)
            | FieldType::Bindings(r)
            | FieldType::Type(r) = field.field_type
                && !seen.iter().any(|s| std::ptr::eq(*s, r))
            {
                seen.push(r);
            }
        }
        at += 1;
    }
    None
}

/// The spelling of a statement's keyword.
const fn spelled(word: Word) -> &'static str {
    match word {
        Word::Set => "set",
        Word::Run => "run",
        Word::With => "with",
        Word::To => "to",
        Word::Transition => "transition",
        Word::Available => "available when",
        Word::Collect => "collect",
        Word::Ask => "ask for",
        Word::StrayElse => "else",
    }
}

/// The start of a text, for messages.
fn excerpt(text: &str) -> String {
    const MAX_LEN: usize = 40;
    let line = text.lines().next().unwrap_or_default();
    match line.char_indices().nth(MAX_LEN) {
        Some((end, _)) => format!("{}…", line.get(..end).unwrap_or_default()),
        None => line.to_owned(),
    }
}

/// The first word of a line, if it is one that a key may consist of and could end there.
fn key_word(line: &str) -> Option<&str> {
    let end = line.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(line.len());
    let (word, rest) = line.split_at_checked(end)?;
    let ends = rest.is_empty() || rest.starts_with([' ', '\t', '：']);
    (ends && !word.is_empty()).then_some(word)
}
