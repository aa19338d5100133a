//! The built-in functions and methods, as data.
//!
//! Section 8 of the current specification lists 36 functions (and says 35); the newest
//! documentation adds seven. The helpers of guardrail checks, which are CEL, are written with the
//! prefix `abl.` in the current specification and bare in the legacy one; both are found.

mod table;

use crate::version::Version;
use table::{CEL, FUNCTIONS, METHODS};

/// A built-in function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Function {
    /// Its name; guardrail helpers are listed without `abl.`.
    pub name: &'static str,
    /// What it takes.
    pub parameters: &'static [Parameter],
    /// What it gives. It may also give null where [`Function::summary`] says so.
    pub returns: ParameterType,
    /// Where it may be called.
    pub scope: Scope,
    /// Whether the same arguments always give the same result.
    pub effect: Effect,
    /// The first version that has it.
    pub since: Version,
    /// The first version that no longer has it.
    pub removed: Option<Version>,
    /// What it does, in one line.
    pub summary: &'static str,
    /// Where it is specified: a section of the current specification of ABL, or another source.
    pub source: &'static str,
}

/// A parameter of a built-in function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Its name in the specification.
    pub name: &'static str,
    /// What it takes.
    pub ty: ParameterType,
    /// Whether it may be left out.
    pub optional: bool,
    /// Whether any number of arguments may follow here; only the last parameter is.
    pub variadic: bool,
}

/// What a parameter takes and a function gives, after coercion: functions on numbers also take
/// numeric strings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ParameterType {
    /// Anything.
    Any,
    /// Text.
    String,
    /// A number, or a string that reads as one.
    Number,
    /// `true` or `false`.
    Boolean,
    /// A date as text or as a number of milliseconds.
    Date,
    /// A list.
    Array,
    /// An object.
    Object,
}

/// Where a function may be called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scope {
    /// In every expression.
    Everywhere,
    /// In the `check` of a guardrail, which is CEL.
    Guardrail,
}

/// What else than its arguments a result depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Effect {
    /// Nothing.
    Pure,
    /// The time.
    Clock,
    /// Chance.
    Random,
}

/// A method: `receiver.name(args)`. The specifications show `contains` only; the others are those
/// of the host languages (JavaScript, CEL) that real files use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Method {
    /// Its name.
    pub name: &'static str,
    /// What it takes, without the receiver.
    pub parameters: &'static [Parameter],
    /// What it gives.
    pub returns: ParameterType,
    /// What it gives, in words; `it` is the receiver.
    pub summary: &'static str,
}

/// Where methods come from that no specification of ABL lists.
pub const METHODS_SOURCE: &str = "JavaScript and CEL";

/// The namespace that functions stand in where conditions are CEL: `abl.upper(name)`.
pub const FUNCTION_NAMESPACE: &str = "abl";

/// All built-in functions, in the order of the specification.
#[must_use]
pub const fn functions() -> &'static [Function] {
    FUNCTIONS
}

/// All known methods.
#[must_use]
pub const fn methods() -> &'static [Method] {
    METHODS
}

/// The function of exactly this name. `abl.word_count` is `word_count`, and `abl.upper` is `UPPER`.
#[must_use]
pub fn function(name: &str) -> Option<&'static Function> {
    match without_namespace(name) {
        Some(name) => FUNCTIONS
            .iter()
            .find(|f| f.name == name)
            .or_else(|| FUNCTIONS.iter().find(|f| f.name.to_ascii_lowercase() == name)),
        None => FUNCTIONS.iter().find(|f| f.name == name),
    }
}

/// The rest of a name that begins with [`FUNCTION_NAMESPACE`].
pub(crate) fn without_namespace(name: &str) -> Option<&str> {
    name.strip_prefix(FUNCTION_NAMESPACE)?.strip_prefix('.')
}

/// The function of this name in whatever case, to say what was probably meant.
#[must_use]
pub fn function_ignoring_case(name: &str) -> Option<&'static Function> {
    FUNCTIONS.iter().find(|f| f.name.eq_ignore_ascii_case(name))
}

impl Function {
    /// The name as it is to be written where the function may be called.
    #[must_use]
    pub fn written(&self) -> String {
        // CEL's own functions have no prefix.
        let bare = self.scope == Scope::Everywhere || CEL.contains(&self.name);
        if bare { self.name.to_owned() } else { format!("{FUNCTION_NAMESPACE}.{}", self.name) }
    }

    /// Whether `version` has it.
    #[must_use]
    pub fn exists_in(&self, version: Version) -> bool {
        version >= self.since && self.removed.is_none_or(|removed| version < removed)
    }

    /// `NAME(a, b?, ...c)`, as in the specification.
    #[must_use]
    pub fn signature(&self) -> String {
        signature(self.name, self.parameters)
    }
}

impl Method {
    /// `name(a, b?)`, as in the specification.
    #[must_use]
    pub fn signature(&self) -> String {
        signature(self.name, self.parameters)
    }
}

fn signature(name: &str, parameters: &[Parameter]) -> String {
    let parameters: Vec<String> = parameters
        .iter()
        .map(|p| {
            let dots = if p.variadic { "..." } else { "" };
            let mark = if p.optional { "?" } else { "" };
            format!("{dots}{}{mark}", p.name)
        })
        .collect();
    format!("{name}({})", parameters.join(", "))
}

impl ParameterType {
    /// The type with its article: "a number".
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::Any => "anything",
            Self::String => "a string",
            Self::Number => "a number",
            Self::Boolean => "a boolean",
            Self::Date => "a date",
            Self::Array => "a list",
            Self::Object => "an object",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn counts_are_those_of_the_sources() {
        let count = |version: Version| {
            functions()
                .iter()
                .filter(|f| f.scope == Scope::Everywhere && f.exists_in(version))
                .filter(|f| !["len", "NOW_MS"].contains(&f.name))
                .count()
        };
        assert_eq!(count(Version::Current), 36);
        assert_eq!(count(Version::Legacy), 37, "`AVG` besides");
        assert_eq!(count(Version::Newest), 43);
    }

    #[test]
    fn tables_are_well_formed() {
        let names: HashSet<_> = functions().iter().map(|f| f.name).collect();
        assert_eq!(names.len(), functions().len(), "names are unique");
        for function in functions() {
            let after_optional = function.parameters.iter().skip_while(|p| !p.optional);
            assert!(after_optional.clone().all(|p| p.optional), "{}", function.name);
            let variadic = function.parameters.iter().position(|p| p.variadic);
            assert!(variadic.is_none_or(|i| i + 1 == function.parameters.len()));
        }
    }

    #[test]
    fn names_are_found_with_and_without_prefix() {
        assert_eq!(function("abl.word_count").map(|f| f.name), Some("word_count"));
        assert_eq!(function("word_count").map(|f| f.name), Some("word_count"));
        assert_eq!(function("abl.upper").map(|f| f.name), Some("UPPER"));
        assert_eq!(function("upper"), None);
        assert_eq!(function_ignoring_case("upper").map(|f| f.name), Some("UPPER"));
    }
}
