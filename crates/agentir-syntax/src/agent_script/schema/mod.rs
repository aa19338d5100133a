//! What there is in Agent Script, as data: every block, every field, the form of its value and its
//! limits, for each dialect. The reader checks documents against these tables, and so will
//! completion, hover and the documentation. Adding a field is adding a row.
//!
//! The three dialects share one base (`base.rs`). `agentforce.rs` extends its records row by row: a
//! row of the same name replaces the base's. `agentfabric.rs` has records of its own and extends only
//! the few that it shares.
//!
//! The shape of these tables is that of [`crate::abl::schema`]; they are not the same type because
//! what a field's value can be has next to nothing in common.
//!
//! Sources: the formal specification (part II) and the published schemas of the official tools.

mod agentfabric;
mod agentforce;
mod base;

pub use base::COLLECT;
use std::fmt;

/// A dialect of Agent Script.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Dialect {
    /// The base that the others extend.
    AgentScript,
    /// Salesforce's; what nearly every document is.
    #[default]
    Agentforce,
    /// MuleSoft's, for networks of agents.
    Agentfabric,
}

impl Dialect {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::AgentScript, Self::Agentforce, Self::Agentfabric];

    /// Its name, as a `# @dialect:` line has it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::AgentScript => "agentscript",
            Self::Agentforce => "agentforce",
            Self::Agentfabric => "agentfabric",
        }
    }

    /// The dialect called `name`, letter case ignored.
    #[must_use]
    pub fn called(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|d| d.name().eq_ignore_ascii_case(name))
    }

    /// The newest version that is known; of agentfabric there is only one so far.
    #[must_use]
    pub const fn newest(self) -> Option<Version> {
        match self {
            Self::AgentScript | Self::Agentforce => Some(V3_2),
            Self::Agentfabric => None,
        }
    }

    /// The blocks of a document.
    #[must_use]
    pub fn root(self) -> &'static RecordType {
        match self {
            Self::AgentScript => &base::DOCUMENT,
            Self::Agentforce => &agentforce::DOCUMENT,
            Self::Agentfabric => &agentfabric::DOCUMENT,
        }
    }
}

impl fmt::Display for Dialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A version of a dialect: `3.2`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version {
    /// Before the point.
    pub major: u16,
    /// Behind it; 0 if not written.
    pub minor: u16,
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

/// The version that replaced `collect` by `ask for` and `skills` by `skill_definitions`.
pub const V3_2: Version = Version { major: 3, minor: 2 };

/// The form of a field's value.
#[derive(Debug, Clone, Copy)]
pub enum Shape {
    /// Text, quoted or behind `|`, with holes.
    Text,
    /// Text in quotes, without holes.
    Quoted,
    /// Text in quotes, or `None`.
    QuotedOrNone,
    /// `True` or `False`.
    Bool,
    /// A number.
    Number,
    /// `@namespace.name`; of one of these namespaces, if there are any.
    Reference(&'static [&'static str]),
    /// Any expression; also the items of a sequence.
    Expr,
    /// `- value`, one a line, or `[a, b]`.
    Values,
    /// `- field: …`, one record an item.
    Items(&'static RecordType),
    /// Statements.
    Procedure(Steps),
    /// A block: fields below the key.
    Block(&'static RecordType),
    /// Blocks named on their line: `subagent order_handler:`.
    Named(&'static RecordType),
    /// Blocks below the key, each under a name of the author's.
    Collection(&'static RecordType),
    /// `name: type = value`, with these properties.
    Declarations(&'static RecordType),
    /// `name: @actions.x`, with these properties.
    Bindings(&'static RecordType),
    /// A type, with what narrows it below.
    Type(&'static RecordType),
    /// Anything.
    Open,
}

/// What a procedure is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Steps {
    /// It builds a text for the model; `|` adds to it.
    Prompt,
    /// It does something; there is no text to add to.
    Deterministic,
    /// It only says where to go.
    Exit,
}

/// What a value of the right form has to fulfil besides.
#[derive(Debug, Clone, Copy)]
pub enum Limit {
    /// Nothing.
    Any,
    /// One of these texts.
    OneOf(&'static [&'static str]),
    /// `scheme://…`, with one of these schemes, if there are any.
    Uri(&'static [&'static str]),
    /// `scheme://name`, or as many names as said, with slashes between them.
    Connection(&'static [&'static str], usize),
    /// A number from the first to the second.
    Range(f64, f64),
    /// At least so many items.
    AtLeast(usize),
}

/// A field that has a successor.
#[derive(Debug, Clone, Copy)]
pub struct Deprecation {
    /// Since when; always, if not said.
    pub since: Option<Version>,
    /// What to write instead.
    pub instead: &'static str,
    /// Whether only the name changed, so that it can be replaced where it stands.
    pub renamed: bool,
}

/// A field of a record.
#[derive(Debug)]
pub struct FieldDef {
    /// Its name. A `*` at its end stands for any more letters.
    pub name: &'static str,
    /// What it says, for hover and documentation.
    pub doc: &'static str,
    /// The form of its value.
    pub shape: Shape,
    /// Whether the record is incomplete without it.
    pub required: bool,
    /// Whether there may only be one, though it has a name.
    pub singular: bool,
    /// What its value has to fulfil.
    pub limit: Limit,
    /// Whether it has a successor.
    pub deprecated: Option<Deprecation>,
    /// The first version that has it, where that is known.
    pub since: Option<Version>,
    /// It only has a meaning together with that field, with one of these values, if there are any.
    pub only_with: Option<(&'static str, &'static [&'static str])>,
}

impl FieldDef {
    const fn required(mut self) -> Self {
        self.required = true;
        self
    }
    const fn singular(mut self) -> Self {
        self.singular = true;
        self
    }
    const fn limit(mut self, limit: Limit) -> Self {
        self.limit = limit;
        self
    }
    const fn one_of(self, values: &'static [&'static str]) -> Self {
        self.limit(Limit::OneOf(values))
    }
    const fn uri(self, schemes: &'static [&'static str]) -> Self {
        self.limit(Limit::Uri(schemes))
    }
    const fn moved(mut self, instead: &'static str) -> Self {
        self.deprecated = Some(Deprecation { since: None, instead, renamed: false });
        self
    }
    const fn renamed(mut self, instead: &'static str) -> Self {
        self.deprecated = Some(Deprecation { since: None, instead, renamed: true });
        self
    }
    const fn until(mut self, version: Version, instead: &'static str) -> Self {
        self.deprecated = Some(Deprecation { since: Some(version), instead, renamed: false });
        self
    }
    const fn since(mut self, version: Version) -> Self {
        self.since = Some(version);
        self
    }
    const fn only_with(mut self, field: &'static str, values: &'static [&'static str]) -> Self {
        self.only_with = Some((field, values));
        self
    }

    /// Whether `key` names this field.
    #[must_use]
    pub fn is_called(&self, key: &str) -> bool {
        match self.name.strip_suffix('*') {
            Some(prefix) => key.starts_with(prefix),
            None => self.name == key,
        }
    }
}

/// A row of a table.
const fn field(name: &'static str, doc: &'static str, shape: Shape) -> FieldDef {
    FieldDef {
        name,
        doc,
        shape,
        required: false,
        singular: false,
        limit: Limit::Any,
        deprecated: None,
        since: None,
        only_with: None,
    }
}

/// A kind of block: what may stand in it.
#[derive(Debug)]
pub struct RecordType {
    /// What it is called in messages: "action", "subagent".
    pub name: &'static str,
    /// The record whose rows it has besides its own; its own win.
    pub extends: Option<&'static RecordType>,
    /// Its own rows.
    pub own: &'static [FieldDef],
    /// Whether keys that are no field are the author's own business.
    pub open: bool,
    /// Whether the author's names (of variables) are held to
    /// letters, digits and single underscores.
    pub plain_names: bool,
}

impl RecordType {
    const fn extends(mut self, base: &'static RecordType) -> Self {
        self.extends = Some(base);
        self
    }
    const fn open(mut self) -> Self {
        self.open = true;
        self
    }
    const fn plain_names(mut self) -> Self {
        self.plain_names = true;
        self
    }

    /// The field called `key`.
    #[must_use]
    pub fn field(&self, key: &str) -> Option<&'static FieldDef> {
        let own = self.own.iter().find(|f| f.is_called(key));
        own.or_else(|| self.extends.and_then(|base| base.field(key)))
    }

    /// All rows, its own first, without those that were replaced.
    pub fn fields(&'static self) -> impl Iterator<Item = &'static FieldDef> {
        self.rows().filter(|f| self.has(f))
    }

    /// The fields without which it is incomplete.
    pub(crate) fn required(&'static self) -> impl Iterator<Item = &'static FieldDef> {
        self.rows().filter(|f| f.required && self.has(f))
    }

    /// All rows, also those that were replaced.
    pub(crate) fn rows(&'static self) -> impl Iterator<Item = &'static FieldDef> {
        std::iter::successors(Some(self), |r| r.extends).flat_map(|r| r.own)
    }

    /// Whether `row` is its own, or was not replaced.
    fn has(&self, row: &'static FieldDef) -> bool {
        self.field(row.name).is_some_and(|f| std::ptr::eq(f, row))
    }
}

const fn record(name: &'static str, own: &'static [FieldDef]) -> RecordType {
    RecordType { name, extends: None, own, open: false, plain_names: false }
}

/// The types of variables and parameters, and what to write instead where one is deprecated.
pub static TYPES: &[(&str, Option<&str>)] = &[
    ("string", None),
    ("number", None),
    ("boolean", None),
    ("object", None),
    ("list", None),
    ("currency", None),
    ("date", None),
    ("datetime", None),
    ("time", None),
    ("timestamp", None),
    ("integer", None),
    ("long", None),
    ("id", Some("string")),
];

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// Calls `seen` with every record type that can be reached from `root`.
    fn walk(root: &'static RecordType, seen: &mut Vec<&'static RecordType>) {
        if seen.iter().any(|s| std::ptr::eq(*s, root)) {
            return;
        }
        seen.push(root);
        for f in root.fields() {
            match f.shape {
                Shape::Items(r)
                | Shape::Block(r)
                | Shape::Named(r)
                | Shape::Collection(r)
                | Shape::Declarations(r)
                | Shape::Bindings(r)
                | Shape::Type(r) => walk(r, seen),
                _ => {}
            }
        }
    }

    #[test]
    fn rows_are_unique_and_documented() {
        let mut seen = vec![];
        for dialect in Dialect::ALL {
            walk(dialect.root(), &mut seen);
        }
        assert!(seen.len() > 40, "the walk finds the tables: {}", seen.len());
        for r in seen {
            for (i, f) in r.own.iter().enumerate() {
                assert!(
                    r.own.iter().skip(i + 1).all(|g| g.name != f.name),
                    "`{}` has two rows `{}`",
                    r.name,
                    f.name
                );
                assert!(!f.doc.is_empty() && !f.doc.ends_with('.'), "{}.{}", r.name, f.name);
                if let Some((other, _)) = f.only_with {
                    assert!(r.field(other).is_some(), "`{}` has no `{other}`", r.name);
                }
            }
        }
    }

    #[test]
    fn dialects_extend_the_base() {
        let subagent = |d: Dialect| match d.root().field("subagent").unwrap().shape {
            Shape::Named(r) => r,
            _ => unreachable!(),
        };
        assert!(subagent(Dialect::AgentScript).field("model_config").is_none());
        assert!(subagent(Dialect::Agentforce).field("model_config").is_some());
        assert!(subagent(Dialect::Agentforce).field("before_reasoning").is_some());
        assert!(subagent(Dialect::Agentfabric).field("before_reasoning").is_none());
        assert!(subagent(Dialect::Agentfabric).field("on_exit").unwrap().required);
    }
}
