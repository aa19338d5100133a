//! The schema of ABL as tables: every section and field, the shape of its value, and the versions that
//! have it. The reader checks documents against these tables, and an editor's questions are answered
//! by them. To add a field, add a row.
//!
//! Sources: the current specification (§3), the legacy specification, the supervisor reference, and
//! the newer public documentation where it adds forms.

mod agent;
mod behavior;
mod coordination;
mod docs;
mod flow;
mod supervisor;
mod tools;

use crate::tree::DocumentKind;
pub use agent::{AGENT, FRAGMENT_PARENTS, MAIN_SECTIONS, VALIDATION};
use agentir_diagnostics::RuleName;
pub use agentir_expr::Version;
pub(crate) use agentir_ir::FIELD_TYPES;
pub use agentir_syntax::context::NameKind;
use agentir_syntax::data::Keys;
pub use behavior::{GUARDRAIL, PROFILE};
pub(crate) use docs::docs;
pub use flow::{FLOW, STEP};
pub use tools::{TOOL, TOOL_LIBRARY};

/// The shape of a field's value.
#[derive(Debug, Clone, Copy)]
pub enum FieldType {
    /// Text without placeholders.
    Text,
    /// Text with placeholders.
    Template,
    /// Several texts: a list, or one text.
    Templates,
    /// An expression or natural language, evaluated at run time.
    Condition,
    /// A condition, optionally with the keyword of a constraint.
    Rule,
    /// A value computed at run time.
    Expr,
    /// `true` or `false`.
    Bool,
    /// A number, possibly `"{{config.X}}"`.
    Number,
    /// One of a fixed set, letter case ignored.
    Enum(&'static [&'static str]),
    /// A name or a dotted path.
    Name,
    /// Several names: `a, b`, `[a, b]`, or a list.
    Names,
    /// Several of a fixed set.
    Choices(&'static [&'static str]),
    /// A type.
    Type,
    /// `name: type` pairs, `{a: T, b?: T}`, or a type.
    Types,
    /// An action: `step`, `COMPLETE`, `HANDOFF X`, …
    Action,
    /// A tool call.
    Call,
    /// `value -> path`.
    Store,
    /// `a -> b -> c`, a list of names, or a single one.
    Chain,
    /// `target = value`, inline or one per line.
    Assignments,
    /// `name: value` pairs whose values are expressions; `{a, b: c}`.
    Bindings,
    /// The same for a tool: texts among the values may have placeholders (specification 3.14, `call_with`).
    Arguments,
    /// `source AS item INTO target`.
    TransformHeader,
    /// `field DESC`.
    SortBy,
    /// `ROUTE_TO X` and the like.
    RouteAction,
    /// A record with these fields.
    Record(&'static RecordType),
    /// The first of these that fits what is written: a record if entries are nested, a template if quoted, an
    /// action if it starts like one, …
    OneOf(&'static [FieldType]),
    /// Only the presence of the key matters; nested entries belong to the enclosing record.
    Marker,
    /// Any value, kept as data.
    Data,
}

/// A field of a record.
#[derive(Debug)]
pub struct FieldDef {
    /// The name in lower case. `.abl` writes section keywords in upper case, other keys in any case.
    pub name: &'static str,
    /// Alternative spellings.
    pub aliases: &'static [&'static str],
    /// The shape of the value.
    pub field_type: FieldType,
    /// Whether the record is incomplete without the field.
    pub need: Need,
    /// The first version that has it.
    pub since: Version,
    /// The last version that has it, and the replacement in later ones.
    pub until: Option<(Version, &'static str)>,
    /// The rule that reports its use in another version, if not the default.
    pub rule: Option<RuleName>,
    /// What the names in its value stand for, where the shape does not say it.
    pub names: Option<NameKind>,
    /// Whether it may be written several times, for one name each.
    pub repeats: bool,
    /// The only kind of document that has it, where one kind of a shared table does.
    pub only: Option<DocumentKind>,
    /// The texts that it may have, if they have parts between colons.
    pub patterns: &'static [&'static [Part]],
    /// The keys that its data may have; any if there are none here.
    pub keys: Keys,
    /// Whether its text says how long something is kept.
    pub is_time: bool,
}

/// A part of a text between colons.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// This word.
    Word(&'static str),
    /// The name of something, or `*` for any.
    Name(NameKind),
}

/// Whether a field is required.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Need {
    /// Optional.
    Optional,
    /// Recommended; the text says what happens without it.
    Recommended(&'static str),
    /// Required.
    Required,
}

/// Renamed paths of the runtime: old and new name.
pub static RENAMED: &[(&str, &str)] = &[("user.requests_human", "user.wants_human_agent")];

impl FieldDef {
    const fn aliased(mut self, aliases: &'static [&'static str]) -> Self {
        self.aliases = aliases;
        self
    }
    const fn required(mut self) -> Self {
        self.need = Need::Required;
        self
    }
    /// Required by the specification but not by the platform; the text says what happens without it.
    const fn recommended(mut self, otherwise: &'static str) -> Self {
        self.need = Need::Recommended(otherwise);
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

    const fn names(mut self, kind: NameKind) -> Self {
        self.names = Some(kind);
        self
    }

    const fn repeated(mut self) -> Self {
        self.repeats = true;
        self
    }

    const fn patterns(mut self, patterns: &'static [&'static [Part]]) -> Self {
        self.patterns = patterns;
        self
    }

    const fn keys(mut self, keys: Keys) -> Self {
        self.keys = keys;
        self
    }

    const fn time(mut self) -> Self {
        self.is_time = true;
        self
    }

    const fn only(mut self, kind: DocumentKind) -> Self {
        self.only = Some(kind);
        self
    }

    const fn reported_as(mut self, rule: RuleName) -> Self {
        self.rule = Some(rule);
        self
    }

    /// Whether `key` names this field, ignoring case.
    #[must_use]
    pub fn matches(&self, key: &str) -> bool {
        self.name.eq_ignore_ascii_case(key)
            || self.aliases.iter().any(|alias| alias.eq_ignore_ascii_case(key))
    }
}

/// A row of a table.
const fn field(name: &'static str, field_type: FieldType) -> FieldDef {
    FieldDef {
        name,
        aliases: &[],
        field_type,
        need: Need::Optional,
        since: Version::Legacy,
        until: None,
        rule: None,
        names: None,
        repeats: false,
        only: None,
        patterns: &[],
        keys: &[],
        is_time: false,
    }
}

/// The header that a list item or a line may start with instead of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Header {
    /// `name(p: type) -> type`.
    Signature,
    /// `REQUIRE condition`.
    Constraint,
    /// `IF condition:`, `WHEN condition`, where other versions have a field of that name.
    Condition,
    /// `INTENT(a) -> alias`, `DEFAULT -> alias`.
    Routing,
    /// `FROM a TO b:`.
    Protocol,
    /// A bare name.
    Name,
    /// `a -> b -> c`.
    Chain,
    /// An unquoted text.
    Text,
    /// A bare `RESUME`.
    Resume,
}

/// How the items of a record are named.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Naming {
    /// Unnamed: list items.
    Anonymous,
    /// `name:` with nested fields; also `- name: …` and items with a `name` field.
    Keyed,
}

/// A type of record: its possible content.
#[derive(Debug)]
pub struct RecordType {
    /// The name in messages: "gather field", "flow step".
    pub name: &'static str,
    /// The fields.
    pub fields: &'static [FieldDef],
    /// The type of items: list items, or entries with names chosen by the author.
    pub items: Option<&'static RecordType>,
    /// As an item: how it is named.
    pub naming: Naming,
    /// As an item: the possible headers.
    pub headers: &'static [Header],
    /// The field for a value directly after the name.
    pub shorthand: Option<&'static str>,
    /// The field that may hold the name.
    pub name_field: Option<&'static str>,
    /// As an item of a list: what its name stands for, if that is defined elsewhere.
    pub refers_to: Option<NameKind>,
    /// Whether unknown keys are allowed.
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
    const fn referring_to(mut self, kind: NameKind) -> Self {
        self.refers_to = Some(kind);
        self
    }
    const fn headers(mut self, headers: &'static [Header]) -> Self {
        self.headers = headers;
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

    /// Whether a word directly after the name of an item is one of those that stand there: `- city: required`.
    #[must_use]
    pub fn has_short_form(&self, word: &str) -> bool {
        fn takes(field_type: FieldType, word: &str) -> bool {
            match field_type {
                FieldType::Enum(all) => all.iter().any(|one| one.eq_ignore_ascii_case(word)),
                FieldType::OneOf(all) => all.iter().any(|one| takes(*one, word)),
                _ => false,
            }
        }
        self.shorthand
            .and_then(|name| self.field(name))
            .is_some_and(|field| takes(field.field_type, word))
    }

    /// Whether its items may have their names in a field that is no row of its own.
    #[must_use]
    pub fn has_implicit_name(&self) -> bool {
        self.name_field == Some("name") && self.field("name").is_none()
    }

    /// The field with this key, ignoring case.
    #[must_use]
    pub fn field(&self, key: &str) -> Option<&'static FieldDef> {
        self.fields.iter().find(|f| f.matches(key))
    }
}

const fn record(name: &'static str, fields: &'static [FieldDef]) -> RecordType {
    RecordType {
        name,
        fields,
        items: None,
        naming: Naming::Anonymous,
        headers: &[],
        shorthand: None,
        name_field: None,
        refers_to: None,
        open: false,
    }
}

/// Collects every record type reachable from `root`.
pub(crate) fn walk(root: &'static RecordType, seen: &mut Vec<&'static RecordType>) {
    if seen.iter().any(|s| std::ptr::eq(*s, root)) {
        return;
    }
    seen.push(root);
    if let Some(items) = root.items {
        walk(items, seen);
    }
    for f in root.fields {
        field_types(f.field_type, seen);
    }
}

fn field_types(s: FieldType, seen: &mut Vec<&'static RecordType>) {
    match s {
        FieldType::Record(r) => walk(r, seen),
        FieldType::OneOf(types) => types.iter().for_each(|s| field_types(*s, seen)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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

    /// The fields whose names are those of nothing that a program defines: names that are given here, and words of the
    /// platform or of the author.
    const FREE_NAMES: &[&str] = &[
        "agent",
        "alias",
        "as",
        "behavior_profile",
        "channels",
        "components",
        "entities",
        "ignore_intents",
        "label",
        "languages",
        "message_key",
        "name",
        "operations",
        "path",
        "provides",
        "subtypes",
        "supervisor",
        "system_action",
        "tags",
    ];

    #[test]
    fn fields_with_names_say_what_they_name() {
        let mut seen = Vec::new();
        for root in [&AGENT, &PROFILE, &TOOL_LIBRARY] {
            walk(root, &mut seen);
        }
        let takes_names = |ty: &FieldType| matches!(ty, FieldType::Name | FieldType::Names);
        for record in seen {
            for field in record.fields.iter().filter(|field| takes_names(&field.field_type)) {
                let is_known = field.names.is_some() || !field.patterns.is_empty();
                let is_free = FREE_NAMES.contains(&field.name);
                assert!(is_known || is_free, "`{}` of `{}`: which names?", field.name, record.name);
            }
        }
    }
}
