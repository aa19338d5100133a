//! What stands at an offset of a text, and what may be written there: the answers of a language that completion, hover
//! and signature help are made of.
//!
//! A language answers for half-written text: [`Cursor`] makes copies of the text with a marker in place of the word at
//! the offset, and the reader of the language tells in which record or value it met the marker.

mod cursor;

pub use cursor::{Cursor, MARKER, Marked, without_dashes};

use crate::text::alternatives;
use agentir_diagnostics::{FileId, Span};
use smol_str::SmolStr;
use std::fmt;

/// What stands at an offset, and what its language allows there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Context {
    /// The records around the offset, from the outermost in.
    pub records: Vec<RecordContext>,
    /// The field whose value the offset is in, or whose key it is.
    pub field: Option<FieldContext>,
    /// The word at the offset, which a completion replaces; empty between words.
    pub word: Span,
    /// Whether a key or a value is written here.
    pub position: Position,
    /// What is allowed here, as alternatives; empty where nothing is known of it.
    pub shapes: Vec<Shape>,
    /// The path before the word and its dot: `order.item` in `order.item.pri`, `@variables` in `@variables.x`.
    pub qualifier: Option<SmolStr>,
    /// The tool that the offset is in a call of.
    pub tool: Option<SmolStr>,
    /// The tool whose call the offset follows, so that its result is at hand.
    pub result_of: Option<SmolStr>,
    /// The path that the value here is compared with.
    pub compared: Option<SmolStr>,
    /// The arguments that the call has already, and the keys that the mapping around the offset has.
    pub given: Vec<SmolStr>,
    /// The keys, keywords and values that the tables of the language allow here. Names are not among them: these are
    /// those of a program.
    pub expected: Vec<Expected>,
}

impl Context {
    /// A place for a key, of which nothing else is known yet.
    #[must_use]
    pub const fn new(word: Span) -> Self {
        Self {
            records: Vec::new(),
            field: None,
            word,
            position: Position::Key,
            shapes: Vec::new(),
            qualifier: None,
            tool: None,
            result_of: None,
            compared: None,
            given: Vec::new(),
            expected: Vec::new(),
        }
    }

    /// The same with all spans in another file.
    #[must_use]
    pub fn in_file(mut self, file: FileId) -> Self {
        let records = self.records.iter_mut().map(|record| &mut record.span);
        let keys = self.field.iter_mut().map(|field| &mut field.key);
        records.chain(keys).chain([&mut self.word]).for_each(|span| span.file = file);
        self
    }

    /// Adds a shape, unless it is there.
    pub fn add_shape(&mut self, shape: Shape) {
        if !self.shapes.contains(&shape) {
            self.shapes.push(shape);
        }
    }

    /// Adds words that may be written here, unless they are there.
    pub fn add_words(&mut self, kind: ExpectedKind, words: &[&'static str]) {
        for word in words {
            if !self.expected.iter().any(|one| one.label == *word) {
                self.expected.push(Expected::word(kind, *word, ""));
            }
        }
    }

    /// Whether an expression may be written here.
    #[must_use]
    pub fn takes_expression(&self) -> bool {
        self.shapes.contains(&Shape::Expression)
    }

    /// The kinds of symbols whose names may be written here.
    pub fn names(&self) -> impl Iterator<Item = NameKind> {
        self.shapes.iter().filter_map(|shape| match shape {
            Shape::Name(kind) => Some(*kind),
            _ => None,
        })
    }
}

/// A record around an offset.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordContext {
    /// What such records are called in messages: "flow step".
    pub title: &'static str,
    /// Its key, or the name that its author gave it.
    pub key: Option<SmolStr>,
    /// Its span.
    pub span: Span,
}

/// A field at an offset.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldContext {
    /// Its name in the table.
    pub name: &'static str,
    /// The span of its key.
    pub key: Span,
    /// The shape of its value, in words.
    pub shape: String,
    /// What it is for, where the table says it.
    pub doc: &'static str,
    /// Where it is specified: a section, or what else the table goes by.
    pub source: &'static str,
    /// Whether its record is incomplete without it.
    pub required: bool,
}

/// What is written at an offset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Position {
    /// A key, or another beginning of a line.
    Key,
    /// A value, or a part of one.
    Value,
}

/// What may be written in a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// A text.
    Text,
    /// A text with placeholders.
    Template,
    /// True or false.
    Boolean,
    /// A number.
    Number,
    /// One of these words.
    Words(&'static [&'static str]),
    /// A type.
    Type,
    /// An expression.
    Expression,
    /// An action: what happens next.
    Action,
    /// A statement.
    Statement,
    /// A record with this title.
    Record(&'static str),
    /// A list.
    List,
    /// The name of a symbol.
    Name(NameKind),
    /// A reference with one of these namespaces, or with any if there are none: `@namespace.name`.
    Reference(&'static [&'static str]),
    /// Anything.
    Data,
}

/// The kinds of symbols that names stand for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum NameKind {
    /// An agent.
    Agent,
    /// A variable or a collected field.
    Variable,
    /// A step of a flow.
    Step,
    /// A tool.
    Tool,
    /// A parameter of a tool.
    Parameter,
    /// A field of the result of a tool.
    ResultField,
    /// A template.
    Template,
    /// A behaviour profile.
    Profile,
    /// An entity.
    Entity,
    /// A lookup table.
    LookupTable,
}

impl NameKind {
    /// The kind as a noun.
    #[must_use]
    pub const fn noun(self) -> &'static str {
        match self {
            Self::Agent => "agent",
            Self::Variable => "variable",
            Self::Step => "step",
            Self::Tool => "tool",
            Self::Parameter => "parameter",
            Self::ResultField => "field of a result",
            Self::Template => "template",
            Self::Profile => "profile",
            Self::Entity => "entity",
            Self::LookupTable => "lookup table",
        }
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words = match self {
            Self::Text => "text",
            Self::Template => "text with placeholders",
            Self::Boolean => "true or false",
            Self::Number => "number",
            Self::Type => "type",
            Self::Expression => "expression",
            Self::Action => "action",
            Self::Statement => "statements",
            Self::List => "list",
            Self::Data => "any value",
            Self::Record(title) => title,
            Self::Reference([]) => "reference",
            Self::Reference(namespaces) => {
                let forms: Vec<String> =
                    namespaces.iter().map(|one| format!("`@{one}.name`")).collect();
                return write!(f, "reference such as {}", alternatives(&forms));
            }
            Self::Words(words) => {
                let words: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
                return f.write_str(&alternatives(&words));
            }
            Self::Name(kind) => {
                return write!(f, "name of {}", crate::text::with_article(kind.noun()));
            }
        };
        f.write_str(words)
    }
}

/// Several shapes in words, as alternatives.
#[must_use]
pub fn in_words(shapes: &[Shape]) -> String {
    let all: Vec<String> = shapes.iter().map(Shape::to_string).collect();
    all.join(", or ")
}

/// Something that may be written at an offset.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expected {
    /// Its name.
    pub label: SmolStr,
    /// What it is.
    pub kind: ExpectedKind,
    /// Its shape or type, in words.
    pub shape: String,
    /// What it is for, where a table says it.
    pub doc: &'static str,
    /// Where it is specified: a section, or what else the table goes by.
    pub source: &'static str,
    /// The text that replaces the word at the offset.
    pub insert: String,
    /// Whether its record is incomplete without it.
    pub required: bool,
}

/// The kinds of what may be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ExpectedKind {
    /// A field of a record.
    Field,
    /// A word of the language.
    Keyword,
    /// One of the values that a table lists.
    Value,
    /// A type.
    Type,
    /// A namespace of references.
    Namespace,
    /// The name of a symbol of the program.
    Name(NameKind),
    /// A member of a value.
    Member,
    /// A variable that the runtime assigns.
    SystemVariable,
    /// A built-in function.
    Function,
    /// An operator of expressions.
    Operator,
}

impl Expected {
    /// Something that is written as it is called.
    #[must_use]
    pub fn word(kind: ExpectedKind, label: impl Into<SmolStr>, shape: impl Into<String>) -> Self {
        let label = label.into();
        let insert = label.to_string();
        let shape = shape.into();
        Self { label, kind, shape, doc: "", source: "", insert, required: false }
    }

    /// The same with what it is for, and where it is specified.
    #[must_use]
    pub const fn documented(mut self, (doc, source): (&'static str, &'static str)) -> Self {
        self.doc = doc;
        self.source = source;
        self
    }

    /// The same with another text to insert.
    #[must_use]
    pub fn inserting(mut self, insert: impl Into<String>) -> Self {
        self.insert = insert.into();
        self
    }
}

/// The path that a text ends with, if its last character is a dot: what stands before it, with its subscripts. `@` may
/// begin it, and is a path of its own.
#[must_use]
pub fn qualifier(before: &str) -> Option<SmolStr> {
    if before.ends_with('@') {
        return Some(SmolStr::new_static("@"));
    }
    path_at_end(before.strip_suffix('.')?)
}

/// The path that a text ends with, with its subscripts.
#[must_use]
pub fn path_at_end(path: &str) -> Option<SmolStr> {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '@');
    let mut start = path.len();
    let mut brackets = 0_usize;
    for (at, c) in path.char_indices().rev() {
        match c {
            // A subscript belongs to the path, but a list is none.
            ']' => brackets += 1,
            '[' if brackets > 0 => {
                brackets -= 1;
                if brackets == 0 && !path.get(..at).is_some_and(|before| before.ends_with(is_part))
                {
                    break;
                }
            }
            _ if brackets > 0 || is_part(c) => {}
            _ => break,
        }
        start = at;
    }
    path.get(start..).filter(|path| !path.is_empty() && brackets == 0).map(SmolStr::new)
}

/// Whether a text ends within a quoted string.
#[must_use]
pub fn ends_in_string(text: &str) -> bool {
    let mut quote = None;
    let mut escaped = false;
    for c in text.chars() {
        match (quote, c) {
            _ if escaped => escaped = false,
            (Some(_), '\\') => escaped = true,
            (Some(open), c) if open == c => quote = None,
            (None, '"' | '\'') => quote = Some(c),
            _ => {}
        }
    }
    quote.is_some()
}

/// The name of the call whose arguments a text ends in, as in `book(id: 1, d`.
#[must_use]
pub fn open_call(text: &str) -> Option<&str> {
    let mut open = Vec::new();
    for (at, c) in text.char_indices() {
        match c {
            '(' => open.push(at),
            ')' => {
                open.pop();
            }
            _ => {}
        }
    }
    let before = text.get(..*open.last()?)?.trim_end();
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let start = before.rfind(|c: char| !is_word(c)).map_or(0, |at| {
        at + before.get(at..).and_then(|rest| rest.chars().next()).map_or(1, char::len_utf8)
    });
    before.get(start..).filter(|name| !name.is_empty())
}

/// The text behind the last opening mark of a placeholder that is not closed, in a text with placeholders.
#[must_use]
pub fn open_placeholder<'t>(text: &'t str, open: &str, close: &str) -> Option<&'t str> {
    let at = text.rfind(open)?;
    let inner = text.get(at + open.len()..)?;
    (!inner.contains(close)).then_some(inner)
}
