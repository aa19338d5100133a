//! What stands at an offset of a script, and what may be written there.
//!
//! The layout pass reads a copy of the text with a marker at the offset; the entries that the marker is in lead through
//! the tables to it.

mod clause;
mod keys;

use crate::inline::EntryPoint;
use crate::outline::{Entry, EntryKind, Inline, Key, Outline};
use crate::reader::statement::StatementContext;
use crate::schema::{Dialect, FieldDef, FieldType, Limit, RecordType, TYPES, Version};
use crate::tree::Modifier;
use crate::{detect, dialect_line, outline};
use agentir_diagnostics::{FileId, Span};
use agentir_syntax::context::{
    Context, Cursor, Expected, ExpectedKind, FieldContext, MARKER, Marked, Position, RecordContext,
    Shape, in_words,
};
use smol_str::SmolStr;

const FILE: FileId = FileId(0);

/// What stands at an offset of a script whose dialect is given, unless the script says it.
pub(crate) fn context(text: &str, offset: u32, dialect: Option<Dialect>) -> Option<Context> {
    let cursor = Cursor::new(text, offset)?;
    if let Some(found) = dialect_names(&cursor) {
        return Some(found);
    }
    cursor.marked().find_map(|marked| {
        let outline = outline::parse(FILE, &marked.text, &mut Vec::new());
        if outline.comments.iter().any(|comment| marked.is_in(*comment)) {
            return None;
        }
        let named = dialect_line(FILE, &marked.text, &mut Vec::new());
        let version = named.as_ref().and_then(|line| line.version.as_ref()).map(|v| v.value);
        let dialect = named.and_then(|line| line.dialect).or(dialect);
        let dialect = dialect.unwrap_or_else(|| detect(&outline));
        let context = Context::new(cursor.word(FILE));
        let version = version.filter(|_| dialect != Dialect::Agentfabric);
        let mut search = Search {
            cursor: &cursor,
            marked: &marked,
            outline: &outline,
            dialect,
            version,
            context,
        };
        search.document()?;
        Some(search.context)
    })
}

/// The names of dialects, in the line that chooses one.
fn dialect_names(cursor: &Cursor<'_>) -> Option<Context> {
    let said = cursor.content_before().strip_prefix('#')?.trim_start().strip_prefix("@dialect")?;
    if !said.trim_start().strip_prefix(':')?.trim().is_empty() {
        return None;
    }
    const NAMES: &[&str] =
        &[Dialect::ALL[0].name(), Dialect::ALL[1].name(), Dialect::ALL[2].name()];
    let mut context = Context::new(cursor.word(FILE));
    context.position = Position::Value;
    context.add_shape(Shape::Words(NAMES));
    context.add_words(ExpectedKind::Value, NAMES);
    Some(context)
}

/// The way to the marker.
struct Search<'c, 't> {
    cursor: &'c Cursor<'t>,
    marked: &'c Marked,
    outline: &'c Outline<'c>,
    dialect: Dialect,
    /// The version that the script declares; otherwise it may use what the newest has.
    version: Option<Version>,
    context: Context,
}

impl<'c> Search<'c, '_> {
    fn document(&mut self) -> Option<()> {
        let entries = &self.outline.entries;
        self.at(entries)?;
        let end = entries.last().map_or(0, |entry| entry.end);
        let start = entries.first().map_or(0, |entry| entry.start);
        let root = self.dialect.root();
        self.push(root.name, None, self.marked.original(Span::new(FILE, start, end)));
        self.record(root, entries);
        Some(())
    }

    // ---- records -------------------------------------------------------------------------------

    /// A record of type `ty`, which the marker is in.
    fn record(&mut self, ty: &'static RecordType, entries: &[Entry<'_>]) {
        let Some(entry) = self.at(entries) else { return };
        let EntryKind::Pair { key, value } = &entry.kind else {
            self.context.position = Position::Value;
            return;
        };
        if self.is_marker(key) {
            self.own_key(ty);
            self.fields(ty, entries);
            return;
        }
        match ty.field(key.name) {
            Some(def) => self.field(ty, def, key, value, entry),
            None => self.context.position = Position::Value,
        }
    }

    /// A field that the marker is in.
    fn field(
        &mut self,
        ty: &'static RecordType,
        def: &'static FieldDef,
        key: &Key<'_>,
        value: &Inline<'_>,
        entry: &Entry<'_>,
    ) {
        let below = self.at(&entry.children).is_some();
        let shapes = shapes(def);
        self.set_field(ty, def, self.marked.original(key.span(FILE)), &shapes);
        self.context.position = Position::Value;
        match def.field_type {
            FieldType::Block(ty) | FieldType::Type(ty) if below => {
                self.within(ty, None, entry);
                self.record(ty, &entry.children);
            }
            FieldType::Named(ty) if below => {
                let name = key.instance.map(|name| SmolStr::new(name.raw));
                self.within(ty, name, entry);
                self.record(ty, &entry.children);
            }
            // Its author's to choose.
            FieldType::Named(_) => self.context.position = Position::Key,
            FieldType::Collection(ty) if below => {
                self.named(ty, &entry.children, |search, _, _| search.context.shapes.clear());
            }
            FieldType::Declarations(ty) if below => {
                self.named(ty, &entry.children, |search, _, from| search.declaration(ty, from));
            }
            FieldType::Bindings(ty) if below => {
                self.bindings(ty, def.name == "response_actions", &entry.children);
            }
            FieldType::Items(ty) if below => {
                if let Some(item) = self.at(&entry.children) {
                    self.within(ty, None, item);
                    self.record(ty, &item.children);
                }
            }
            FieldType::Procedure(kind) if below => {
                self.context.tool = None;
                self.statements(&entry.children, StatementContext::In(kind));
            }
            FieldType::Open if below => {}
            _ => {
                self.context.shapes = shapes;
                self.inline(def, value, key.colon + 1);
            }
        }
    }

    /// A value behind its key, or on a line of its own below it.
    fn inline(&mut self, def: &'static FieldDef, value: &Inline<'_>, from: u32) {
        let before = self.before(from);
        match (def.field_type, value) {
            (_, Inline::Template(raw)) => self.template(raw.pipe + 1),
            (FieldType::Procedure(_), _) => {
                self.context.add_words(ExpectedKind::Keyword, &["->", "|"]);
            }
            (FieldType::Bool, _) => self.context.add_words(ExpectedKind::Value, &["True", "False"]),
            (FieldType::Type(_), _) => self.types(),
            (FieldType::Reference(_), _) => self.reference(before.trim_start()),
            (FieldType::Values | FieldType::Expr, _) => {
                self.context.shapes.clear();
                let line = before.rsplit('\n').next().unwrap_or(before).trim_start();
                self.expression(EntryPoint::Value, line.strip_prefix("- ").unwrap_or(line));
            }
            (FieldType::Text | FieldType::Quoted | FieldType::QuotedOrNone, _) => {
                let quoted = before.trim_start().starts_with('"');
                if def.limit_words().is_some() {
                    self.listed(def, quoted);
                } else if matches!(def.field_type, FieldType::QuotedOrNone) && !quoted {
                    self.context.add_words(ExpectedKind::Value, &["None"]);
                } else if matches!(def.field_type, FieldType::Text) {
                    if !quoted {
                        self.context.add_words(ExpectedKind::Keyword, &["|"]);
                    }
                    self.placeholder(before);
                }
            }
            _ => {}
        }
    }

    /// The texts that a field may have.
    fn listed(&mut self, def: &'static FieldDef, quoted: bool) {
        for word in def.limit_words().unwrap_or_default() {
            let one = Expected::word(ExpectedKind::Value, *word, "");
            let insert = if quoted { (*word).to_owned() } else { format!("\"{word}\"") };
            self.context.expected.push(one.inserting(insert));
        }
    }

    // ---- entries with names --------------------------------------------------------------------

    /// Entries with names that their author chose. `value` answers for what follows the colon.
    fn named(
        &mut self,
        ty: &'static RecordType,
        entries: &[Entry<'_>],
        value: impl FnOnce(&mut Self, &Inline<'_>, u32),
    ) {
        let Some(entry) = self.at(entries) else { return };
        let EntryKind::Pair { key, value: inline } = &entry.kind else { return };
        self.context.field = None;
        if self.is_marker(key) {
            self.context.position = Position::Key;
            self.context.shapes = vec![Shape::Record(ty.name)];
            return;
        }
        self.within(ty, Some(SmolStr::new(key.name)), entry);
        if self.at(&entry.children).is_some() {
            self.record(ty, &entry.children);
        } else {
            self.context.position = Position::Value;
            value(self, inline, key.colon + 1);
        }
    }

    /// `mutable string = ""`.
    fn declaration(&mut self, ty: &'static RecordType, from: u32) {
        let before = self.before(from).trim_start();
        self.context.shapes.clear();
        if let Some((_, value)) = before.split_once('=') {
            return self.expression(EntryPoint::Value, value);
        }
        let mut words = before.split_whitespace();
        match (words.next(), words.next()) {
            (None, _) => {
                if ty.has_modifier {
                    for (word, _) in Modifier::WORDS {
                        let one = Expected::word(ExpectedKind::Keyword, *word, "type");
                        self.context.expected.push(one.inserting(format!("{word} ")));
                    }
                }
                self.types();
            }
            (Some(word), None) if Modifier::WORDS.iter().any(|(name, _)| *name == word) => {
                self.types();
            }
            _ if before.ends_with('[') => self.types(),
            // The variable that an input is bound to.
            (Some(reference), None) if !ty.has_modifier && reference.starts_with('@') => {
                self.expression(EntryPoint::Placeholder, before);
            }
            _ => {}
        }
    }

    fn types(&mut self) {
        self.context.add_shape(Shape::Type);
        let types = TYPES.iter().filter(|(_, instead)| instead.is_none()).map(|(name, _)| *name);
        self.context.add_words(ExpectedKind::Type, &types.collect::<Vec<_>>());
    }

    // ---- the parts of an answer ----------------------------------------------------------------

    fn push(&mut self, title: &'static str, key: Option<SmolStr>, span: Span) {
        self.context.records.push(RecordContext { title, key, span });
    }

    fn within(&mut self, ty: &'static RecordType, key: Option<SmolStr>, entry: &Entry<'_>) {
        let span = self.marked.original(entry.span(FILE));
        self.push(ty.name, key, span);
        self.context.field = None;
        self.context.shapes.clear();
    }

    fn set_field(
        &mut self,
        ty: &'static RecordType,
        def: &'static FieldDef,
        key: Span,
        shapes: &[Shape],
    ) {
        let (doc, source) = ty.doc(def.name);
        self.context.field = Some(FieldContext {
            name: def.name,
            key,
            shape: in_words(shapes),
            doc,
            source,
            required: def.required,
        });
    }

    /// The entry that the marker is in.
    fn at<'e, 's>(&self, entries: &'e [Entry<'s>]) -> Option<&'e Entry<'s>> {
        entries.iter().find(|entry| self.marked.is_in(entry.span(FILE)))
    }

    fn is_marker(&self, key: &Key<'_>) -> bool {
        key.name == MARKER && self.marked.is_in(key.span(FILE))
    }

    /// The text between an offset of the copy and the marker.
    fn before(&self, from: u32) -> &'c str {
        self.marked.text.get(from as usize..self.marked.at as usize).unwrap_or_default()
    }
}

/// The shape of the values of a field.
pub(crate) fn shapes(def: &FieldDef) -> Vec<Shape> {
    if let Some(words) = def.limit_words() {
        return vec![Shape::Words(words)];
    }
    vec![match def.field_type {
        FieldType::Text => Shape::Template,
        FieldType::Quoted | FieldType::QuotedOrNone => Shape::Text,
        FieldType::Bool => Shape::Boolean,
        FieldType::Number => Shape::Number,
        FieldType::Reference(namespaces) => Shape::Reference(namespaces),
        FieldType::Expr => Shape::Expression,
        FieldType::Values => return vec![Shape::List, Shape::Expression],
        FieldType::Items(ty) => return vec![Shape::List, Shape::Record(ty.name)],
        FieldType::Procedure(_) => Shape::Statement,
        FieldType::Block(ty)
        | FieldType::Named(ty)
        | FieldType::Collection(ty)
        | FieldType::Declarations(ty)
        | FieldType::Bindings(ty) => Shape::Record(ty.name),
        FieldType::Type(_) => Shape::Type,
        FieldType::Open => Shape::Data,
    }]
}

impl FieldDef {
    /// The only texts that it may have.
    fn limit_words(&self) -> Option<&'static [&'static str]> {
        match self.limit {
            Limit::OneOf(words) => Some(words),
            _ => None,
        }
    }
}
