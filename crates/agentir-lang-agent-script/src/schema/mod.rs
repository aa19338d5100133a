//! The schema of Agent Script as tables: every block and field, the shape of its value and its limits, for
//! each dialect. The reader checks documents against these tables, and an editor's questions are answered by them. To
//! add a field, add a row.
//!
//! The three dialects share one base (`base.rs`). `agentforce.rs` extends its records row by row; a row
//! replaces the base's row of the same name. `agentfabric.rs` has records of its own and extends only the
//! few that it shares.
//!
//! The tables resemble those of ABL. The types differ, since the shapes of values have
//! almost nothing in common.
//!
//! Sources: the formal specification (part II) and the published schemas of the official tools.

mod agentfabric;
mod agentforce;
mod base;

use agentir_syntax::docs::Doc;
pub use base::COLLECT;
use std::fmt;

/// A dialect of Agent Script.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Dialect {
    /// The base of the others.
    AgentScript,
    /// Salesforce's dialect, which nearly every document uses.
    #[default]
    Agentforce,
    /// MuleSoft's dialect, for networks of agents.
    Agentfabric,
}

impl Dialect {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::AgentScript, Self::Agentforce, Self::Agentfabric];

    /// The name, as in a `# @dialect:` line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::AgentScript => "agentscript",
            Self::Agentforce => "agentforce",
            Self::Agentfabric => "agentfabric",
        }
    }

    /// The dialect with this name, ignoring case.
    #[must_use]
    pub fn called(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|d| d.name().eq_ignore_ascii_case(name))
    }

    /// The newest known version; agentfabric has only one so far.
    #[must_use]
    pub const fn newest(self) -> Option<Version> {
        match self {
            Self::AgentScript | Self::Agentforce => Some(V3_2),
            Self::Agentfabric => None,
        }
    }

    /// The namespaces of the blocks that a transition leads to, without former ones.
    #[must_use]
    pub const fn targets(self) -> &'static [&'static str] {
        match self {
            Self::AgentScript | Self::Agentforce => base::TARGETS,
            Self::Agentfabric => agentfabric::NODES,
        }
    }

    /// The namespaces of references that have a value; empty if not all are known.
    #[must_use]
    pub const fn values(self) -> &'static [&'static str] {
        match self {
            Self::AgentScript | Self::Agentforce => base::VALUES,
            Self::Agentfabric => &[],
        }
    }

    /// The document's record type.
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
    /// The part before the point.
    pub major: u16,
    /// The part after the point; 0 if not written.
    pub minor: u16,
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

/// The sources of records: the published schemas of the dialects.
const BASE_SCHEMA: &str = "schema of agentscript";
const AGENTFORCE_SCHEMA: &str = "schema of agentforce";
const AGENTFABRIC_SCHEMA: &str = "schema of agentfabric";

/// The version that replaced `collect` by `ask for` and `skills` by `skill_definitions`.
pub const V3_2: Version = Version { major: 3, minor: 2 };

/// The shape of a field's value.
#[derive(Debug, Clone, Copy)]
pub enum FieldType {
    /// A text, quoted or after `|`, with placeholders.
    Text,
    /// A quoted text without placeholders.
    Quoted,
    /// A quoted text without placeholders, or `None`.
    QuotedOrNone,
    /// `True` or `False`.
    Bool,
    /// A number.
    Number,
    /// `@namespace.name`; limited to these namespaces, if any are listed.
    Reference(&'static [&'static str]),
    /// Any expression; also the items of a sequence.
    Expr,
    /// `- value`, one per line, or `[a, b]`.
    Values,
    /// `- field: …`, one record per item.
    Items(&'static RecordType),
    /// Statements.
    Procedure(ProcedureKind),
    /// A block with nested fields.
    Block(&'static RecordType),
    /// Blocks named on their line: `subagent order_handler:`.
    Named(&'static RecordType),
    /// Nested blocks with names chosen by the author.
    Collection(&'static RecordType),
    /// `name: type = value`, with these properties.
    Declarations(&'static RecordType),
    /// `name: @actions.x`, with these properties.
    Bindings(&'static RecordType),
    /// A type with nested constraints.
    Type(&'static RecordType),
    /// Anything.
    Open,
}

/// The purpose of a procedure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProcedureKind {
    /// Builds a text for the model; `|` adds to it.
    Prompt,
    /// Executes statements; there is no text to add to.
    Deterministic,
    /// Only selects a transition.
    Exit,
}

/// A further constraint on a value.
#[derive(Debug, Clone, Copy)]
pub enum Limit {
    /// None.
    Any,
    /// One of these texts.
    OneOf(&'static [&'static str]),
    /// `scheme://…`; limited to these schemes, if any are listed.
    Uri(&'static [&'static str]),
    /// `scheme://name`, with this number of names separated by slashes.
    Connection(&'static [&'static str], usize),
    /// A number in this range, inclusive.
    Range(f64, f64),
    /// At least this number of items.
    AtLeast(usize),
}

/// The deprecation of a field.
#[derive(Debug, Clone, Copy)]
pub struct Deprecation {
    /// The version that deprecates it; always deprecated if `None`.
    pub since: Option<Version>,
    /// The replacement.
    pub instead: &'static str,
    /// Whether only the name changed, so that the key can be replaced in place.
    pub renamed: bool,
}

/// A field of a record.
#[derive(Debug)]
pub struct FieldDef {
    /// The name. A trailing `*` matches any suffix.
    pub name: &'static str,
    /// A description for hover and documentation.
    pub doc: &'static str,
    /// Where it is specified, if not where its record is.
    source: Option<&'static str>,
    /// The shape of the value.
    pub field_type: FieldType,
    /// Whether the field is required.
    pub required: bool,
    /// Whether there may be only one, although it is a named block.
    pub singular: bool,
    /// A further constraint on the value.
    pub limit: Limit,
    /// The deprecation, if any.
    pub deprecated: Option<Deprecation>,
    /// The first version that has it, if known.
    pub since: Option<Version>,
    /// A field that this one requires, with one of these values, if any are listed.
    pub requires: Option<(&'static str, &'static [&'static str])>,
}

impl FieldDef {
    /// Specified elsewhere than its record.
    const fn of(mut self, source: &'static str) -> Self {
        self.source = Some(source);
        self
    }
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
    const fn requires(mut self, field: &'static str, values: &'static [&'static str]) -> Self {
        self.requires = Some((field, values));
        self
    }

    /// Whether `key` names this field.
    #[must_use]
    pub fn matches(&self, key: &str) -> bool {
        match self.name.strip_suffix('*') {
            Some(prefix) => key.starts_with(prefix),
            None => self.name == key,
        }
    }
}

/// A row of a table.
const fn field(name: &'static str, doc: &'static str, field_type: FieldType) -> FieldDef {
    FieldDef {
        name,
        doc,
        source: None,
        field_type,
        required: false,
        singular: false,
        limit: Limit::Any,
        deprecated: None,
        since: None,
        requires: None,
    }
}

/// A type of block: its possible content.
#[derive(Debug)]
pub struct RecordType {
    /// The name in messages: "action", "subagent".
    pub name: &'static str,
    /// Where it is specified: a section of the formal specification, or the published schema of a dialect.
    pub source: &'static str,
    /// The record whose rows it inherits; its own rows take precedence.
    pub extends: Option<&'static RecordType>,
    /// The rows of its own.
    pub own_fields: &'static [FieldDef],
    /// Whether unknown keys are allowed.
    pub open: bool,
    /// Whether declarations of it may have a modifier: whether it is a variable, not a parameter.
    pub has_modifier: bool,
    /// Whether the author's names (of variables) are limited to letters, digits and single underscores.
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
    const fn with_modifier(mut self) -> Self {
        self.has_modifier = true;
        self
    }
    const fn plain_names(mut self) -> Self {
        self.plain_names = true;
        self
    }

    /// The field with this key.
    #[must_use]
    pub fn field(&self, key: &str) -> Option<&'static FieldDef> {
        let own = self.own_fields.iter().find(|f| f.matches(key));
        own.or_else(|| self.extends.and_then(|base| base.field(key)))
    }

    /// What a field with this key is for, and where it is specified.
    #[must_use]
    pub fn doc(&self, key: &str) -> Doc {
        let inherited =
            self.extends.map(|base| base.doc(key)).filter(|(_, source)| !source.is_empty());
        match self.own_fields.iter().find(|f| f.matches(key)) {
            // A row that replaces another one is specified where that is.
            Some(own) => {
                let elsewhere = own.source.or_else(|| inherited.map(|(_, source)| source));
                (own.doc, elsewhere.unwrap_or(self.source))
            }
            None => inherited.unwrap_or_default(),
        }
    }

    /// All rows, its own first, without replaced ones.
    pub fn fields(&'static self) -> impl Iterator<Item = &'static FieldDef> {
        self.rows().filter(|f| self.has(f))
    }

    /// The required fields.
    pub(crate) fn required(&'static self) -> impl Iterator<Item = &'static FieldDef> {
        self.rows().filter(|f| f.required && self.has(f))
    }

    /// All rows, including replaced ones.
    pub(crate) fn rows(&'static self) -> impl Iterator<Item = &'static FieldDef> {
        std::iter::successors(Some(self), |r| r.extends).flat_map(|r| r.own_fields)
    }

    /// Whether `row` is its own, or inherited and not replaced.
    fn has(&self, row: &'static FieldDef) -> bool {
        self.field(row.name).is_some_and(|f| std::ptr::eq(f, row))
    }
}

const fn record(
    name: &'static str,
    source: &'static str,
    own_fields: &'static [FieldDef],
) -> RecordType {
    RecordType {
        name,
        source,
        extends: None,
        own_fields,
        open: false,
        has_modifier: false,
        plain_names: false,
    }
}

/// The types of variables and parameters, with the replacement of deprecated ones.
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

/// Collects every record type reachable from `root`.
pub(crate) fn walk(root: &'static RecordType, seen: &mut Vec<&'static RecordType>) {
    if seen.iter().any(|s| std::ptr::eq(*s, root)) {
        return;
    }
    seen.push(root);
    for f in root.fields() {
        match f.field_type {
            FieldType::Items(r)
            | FieldType::Block(r)
            | FieldType::Named(r)
            | FieldType::Collection(r)
            | FieldType::Declarations(r)
            | FieldType::Bindings(r)
            | FieldType::Type(r) => walk(r, seen),
            _ => {}
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_unique() {
        let mut seen = vec![];
        for dialect in Dialect::ALL {
            walk(dialect.root(), &mut seen);
        }
        assert!(seen.len() > 40, "the walk finds the tables: {}", seen.len());
        for r in seen {
            for (i, f) in r.own_fields.iter().enumerate() {
                assert!(
                    r.own_fields.iter().skip(i + 1).all(|g| g.name != f.name),
                    "`{}` has two rows `{}`",
                    r.name,
                    f.name
                );
                if let Some((other, _)) = f.requires {
                    assert!(r.field(other).is_some(), "`{}` has no `{other}`", r.name);
                }
            }
        }
    }

    #[test]
    fn dialects_extend_the_base() {
        let subagent = |d: Dialect| match d.root().field("subagent").unwrap().field_type {
            FieldType::Named(r) => r,
            _ => unreachable!(),
        };
        assert!(subagent(Dialect::AgentScript).field("model_config").is_none());
        assert!(subagent(Dialect::Agentforce).field("model_config").is_some());
        assert!(subagent(Dialect::Agentforce).field("before_reasoning").is_some());
        assert!(subagent(Dialect::Agentfabric).field("before_reasoning").is_none());
        assert!(subagent(Dialect::Agentfabric).field("on_exit").unwrap().required);
    }
}
