//! What there is in ABL, as data: every section, every field, the form of its value, and the
//! versions it belongs to. The reader checks documents against these tables, and so will
//! completion, hover and the documentation. Adding a field is adding a row.
//!
//! Sources: the current specification (§3), the legacy specification, the supervisor reference, and
//! the newer public documentation where it adds forms.

mod agent;
mod behavior;
mod coordination;
mod flow;
mod supervisor;
mod tools;

pub use agent::{AGENT, FRAGMENT_HOMES};
use agentir_diagnostics::RuleName;
pub use agentir_expr::Version;
pub use behavior::PROFILE;
pub use flow::{FLOW, STEP};
pub use tools::TOOL_LIBRARY;

/// The form of a field's value.
#[derive(Debug, Clone, Copy)]
pub enum Shape {
    /// Text without holes.
    Text,
    /// Text with holes.
    Template,
    /// Several texts: a list, or one text.
    Templates,
    /// An expression or words, decided at run time.
    Condition,
    /// A condition, perhaps with the keyword of a constraint before it.
    Rule,
    /// A value computed at run time.
    Expr,
    /// `true` or `false`.
    Bool,
    /// A number, possibly `"{{config.X}}"`.
    Number,
    /// One of a fixed set, letter case ignored.
    Enum(&'static [&'static str]),
    /// The name of something, or a dotted path.
    Name,
    /// Several names: `a, b`, `[a, b]`, or a list.
    Names,
    /// Several of a fixed set.
    Choices(&'static [&'static str]),
    /// A type.
    Type,
    /// `name: type` pairs, `{a: T, b?: T}`, or a type.
    Types,
    /// What to do next: `step`, `COMPLETE`, `HANDOFF X`, …
    Action,
    /// A tool call.
    Call,
    /// `value -> path`.
    Store,
    /// `a -> b -> c`, a list of names, or a single one.
    Chain,
    /// `target = value`, inline or one a line.
    Assignments,
    /// `name: value` pairs whose values are expressions; `{a, b: c}`.
    Bindings,
    /// `source AS item INTO target`.
    TransformHead,
    /// `field DESC`.
    SortBy,
    /// `ROUTE_TO X` and its like.
    RouteAction,
    /// A record with these fields.
    Record(&'static RecordType),
    /// The first of these that fits the form of what is written: a record if there is something
    /// below, a template if it is quoted, an action if it begins like one, …
    OneOf(&'static [Shape]),
    /// Being there is all it says; what is below belongs to the record around it.
    Marker,
    /// Anything, kept as data.
    Data,
}

/// A field of a record.
#[derive(Debug)]
pub struct FieldDef {
    /// Its name in lower case. Sections are written in upper case in `.abl`, other keys in either.
    pub name: &'static str,
    /// Other spellings that mean the same.
    pub aliases: &'static [&'static str],
    /// The form of its value.
    pub shape: Shape,
    /// Whether the record is incomplete without it.
    pub need: Need,
    /// The first version that has it.
    pub since: Version,
    /// The last version that has it, and what to write instead since.
    pub until: Option<(Version, &'static str)>,
    /// The rule under which its use in another version is reported, where it has one of its own.
    pub rule: Option<RuleName>,
}

/// Whether a record can do without a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Need {
    /// It can.
    Optional,
    /// It should not; this is what happens then.
    Expected(&'static str),
    /// It cannot.
    Required,
}

/// Names of the runtime that were called otherwise before: the old one, the new one.
pub static RENAMED: &[(&str, &str)] = &[("user.requests_human", "user.wants_human_agent")];

impl FieldDef {
    const fn aka(mut self, aliases: &'static [&'static str]) -> Self {
        self.aliases = aliases;
        self
    }
    const fn required(mut self) -> Self {
        self.need = Need::Required;
        self
    }
    /// The specification requires it, but the platform gets by without: what happens then.
    const fn expected(mut self, otherwise: &'static str) -> Self {
        self.need = Need::Expected(otherwise);
        self
    }
    const fn newest(mut self) -> Self {
        self.since = Version::Newest;
        self
    }
    const fn current(mut self) -> Self {
        self.since = Version::Current;
        self
    }
    const fn until(mut self, last: Version, instead: &'static str) -> Self {
        self.until = Some((last, instead));
        self
    }

    const fn reported_as(mut self, rule: RuleName) -> Self {
        self.rule = Some(rule);
        self
    }

    /// Whether `key` names this field, letter case ignored.
    #[must_use]
    pub fn is_called(&self, key: &str) -> bool {
        self.name.eq_ignore_ascii_case(key)
            || self.aliases.iter().any(|alias| alias.eq_ignore_ascii_case(key))
    }
}

/// A row of a table.
const fn field(name: &'static str, shape: Shape) -> FieldDef {
    FieldDef {
        name,
        aliases: &[],
        shape,
        need: Need::Optional,
        since: Version::Legacy,
        until: None,
        rule: None,
    }
}

/// What a list item or a line may begin with, instead of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Head {
    /// `name(p: type) -> type`.
    Signature,
    /// `REQUIRE condition`.
    Constraint,
    /// `IF condition:`, `WHEN condition`, where other versions write a field of that name.
    Condition,
    /// `INTENT(a) -> alias`, `DEFAULT -> alias`.
    Routing,
    /// `FROM a TO b:`.
    Protocol,
    /// A bare name.
    Name,
    /// `a -> b -> c`.
    Chain,
    /// A bare text.
    Text,
    /// A bare `RESUME`.
    Resume,
}

/// How the items of a record are told apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Naming {
    /// They have no names: items of a list.
    Anonymous,
    /// `name:` with fields below; also `- name: …` and items with a `name` field.
    Keyed,
}

/// A kind of record: what may stand in it.
#[derive(Debug)]
pub struct RecordType {
    /// What it is called in messages: "gather field", "flow step".
    pub name: &'static str,
    /// Its fields.
    pub fields: &'static [FieldDef],
    /// What stands in it besides fields: items of a list, or entries under names of the author's.
    pub items: Option<&'static RecordType>,
    /// As an item: how it is named.
    pub naming: Naming,
    /// As an item: what it may begin with.
    pub heads: &'static [Head],
    /// The field that a value directly behind its name belongs to.
    pub shorthand: Option<&'static str>,
    /// The field that may hold its name.
    pub name_field: Option<&'static str>,
    /// Whether keys that are no field are the author's own business.
    pub open: bool,
}

impl RecordType {
    const fn items(mut self, items: &'static RecordType) -> Self {
        self.items = Some(items);
        self
    }
    const fn keyed(mut self) -> Self {
        self.naming = Naming::Keyed;
        self.name_field = Some("name");
        self
    }
    const fn named_by(mut self, field: &'static str) -> Self {
        self.name_field = Some(field);
        self
    }
    const fn heads(mut self, heads: &'static [Head]) -> Self {
        self.heads = heads;
        self
    }
    const fn shorthand(mut self, field: &'static str) -> Self {
        self.shorthand = Some(field);
        self
    }
    const fn open(mut self) -> Self {
        self.open = true;
        self
    }

    /// The field called `key`, letter case ignored.
    #[must_use]
    pub fn field(&self, key: &str) -> Option<&'static FieldDef> {
        self.fields.iter().find(|f| f.is_called(key))
    }
}

const fn record(name: &'static str, fields: &'static [FieldDef]) -> RecordType {
    RecordType {
        name,
        fields,
        items: None,
        naming: Naming::Anonymous,
        heads: &[],
        shorthand: None,
        name_field: None,
        open: false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Calls `seen` with every record type that can be reached from `root`.
    fn walk(root: &'static RecordType, seen: &mut Vec<&'static RecordType>) {
        if seen.iter().any(|s| std::ptr::eq(*s, root)) {
            return;
        }
        seen.push(root);
        if let Some(items) = root.items {
            walk(items, seen);
        }
        for f in root.fields {
            shape(f.shape, seen);
        }
    }

    fn shape(s: Shape, seen: &mut Vec<&'static RecordType>) {
        match s {
            Shape::Record(r) => walk(r, seen),
            Shape::OneOf(all) => all.iter().for_each(|s| shape(*s, seen)),
            _ => {}
        }
    }

    #[test]
    fn names_are_lower_case_and_unique() {
        let mut seen = Vec::new();
        for root in [&AGENT, &PROFILE, &TOOL_LIBRARY] {
            walk(root, &mut seen);
        }
        assert!(seen.len() > 50, "the walk finds the tables");
        for r in seen {
            let mut names: Vec<String> = r
                .fields
                .iter()
                .flat_map(|f| std::iter::once(f.name).chain(f.aliases.iter().copied()))
                .map(str::to_ascii_lowercase)
                .collect();
            for f in r.fields {
                assert_eq!(f.name, f.name.to_ascii_lowercase(), "{}", r.name);
            }
            let all = names.len();
            names.sort();
            names.dedup();
            assert_eq!(all, names.len(), "a field of `{}` is called like another", r.name);
            for own in [r.shorthand, r.name_field].into_iter().flatten() {
                assert!(
                    own == "name" || r.field(own).is_some(),
                    "`{}` has no field `{own}`",
                    r.name
                );
            }
        }
    }
}
