//! The tables themselves.

use super::ParameterType::{Any, Array, Boolean, Date, Number, Object, String};
use super::{Effect, Function, Method, Parameter, ParameterType, Scope};
use crate::version::Version;

const fn p(name: &'static str, ty: ParameterType) -> Parameter {
    Parameter { name, ty, optional: false, variadic: false }
}
const fn opt(name: &'static str, ty: ParameterType) -> Parameter {
    Parameter { name, ty, optional: true, variadic: false }
}
/// One or more.
const fn many(name: &'static str, ty: ParameterType) -> Parameter {
    Parameter { name, ty, optional: false, variadic: true }
}

/// A function that is pure, callable everywhere and part of every version.
const fn f(
    source: &'static str,
    name: &'static str,
    parameters: &'static [Parameter],
    returns: ParameterType,
    summary: &'static str,
) -> Function {
    Function {
        name,
        parameters,
        returns,
        scope: Scope::Everywhere,
        effect: Effect::Pure,
        since: Version::Legacy,
        removed: None,
        summary,
        source,
    }
}

impl Function {
    const fn guardrail(self) -> Self {
        Self { scope: Scope::Guardrail, ..self }
    }
    const fn since(self, since: Version) -> Self {
        Self { since, ..self }
    }
    const fn removed(self, version: Version) -> Self {
        Self { removed: Some(version), ..self }
    }
    const fn effect(self, effect: Effect) -> Self {
        Self { effect, ..self }
    }
}

/// Functions of CEL itself, which have no `abl.` prefix.
pub(super) const CEL: &[&str] = &["size", "has", "int", "double", "string", "bool"];

#[rustfmt::skip]
pub(super) const FUNCTIONS: &[Function] = &[
    // 8.1 mathematics; numeric strings are taken as numbers
    f("§8.1", "ADD", &[p("a", Number), p("b", Number)], Number, "the sum"),
    f("§8.1", "SUB", &[p("a", Number), p("b", Number)], Number, "the difference"),
    f("§8.1", "MUL", &[p("a", Number), p("b", Number)], Number, "the product"),
    f("§8.1", "DIV", &[p("a", Number), p("b", Number)], Number, "the quotient; null if `b` is 0"),
    f("§8.1", "ROUND", &[p("n", Number), opt("decimals", Number)], Number, "`n` rounded to `decimals` places (0 if left out)"),
    f("§8.1", "ABS", &[p("n", Number)], Number, "`n` without its sign"),
    f("§8.1", "MIN", &[p("a", Number), p("b", Number)], Number, "the smaller of two"),
    f("§8.1", "MAX", &[p("a", Number), p("b", Number)], Number, "the larger of two"),
    f("legacy §8", "AVG", &[many("numbers", Any)], Number, "the mean; of the legacy specification, which only uses it")
        .removed(Version::Current),

    // 8.2 strings; null counts as the empty string
    f("§8.2", "UPPER", &[p("s", String)], String, "`s` in upper case"),
    f("§8.2", "LOWER", &[p("s", String)], String, "`s` in lower case"),
    f("§8.2", "TRIM", &[p("s", String)], String, "`s` without white space at its ends"),
    f("§8.2", "SUBSTRING", &[p("s", String), p("start", Number), opt("end", Number)], String, "the characters of `s` from `start` up to `end`"),
    f("§8.2", "REPLACE", &[p("s", String), p("find", String), p("replacement", String)], String, "`s` with every `find` replaced"),
    f("§8.2", "SPLIT", &[p("s", String), p("delimiter", String)], Array, "the parts of `s` between delimiters"),
    f("§8.2", "JOIN", &[p("arr", Array), p("delimiter", String)], String, "the items of `arr` with delimiters between them"),
    f("§8.2", "PAD_START", &[p("s", String), p("length", Number), opt("char", String)], String, "`s` filled up at its start"),
    f("§8.2", "PAD_END", &[p("s", String), p("length", Number), opt("char", String)], String, "`s` filled up at its end"),
    f("§8.2", "REPEAT", &[p("s", String), p("count", Number)], String, "`s`, `count` times"),

    // 8.3 formats
    f("§8.3", "MASK", &[p("s", String), p("pattern", String), opt("char", String)], String, "`s` with all but the parts that `pattern` keeps hidden: `last4`, `first4`, `N*N`"),
    f("§8.3", "FORMAT_CURRENCY", &[p("n", Number), p("currency", String), opt("locale", String)], String, "`n` as an amount of money"),
    f("§8.3", "FORMAT_DATE", &[p("d", Date), p("format", String), opt("tz", String)], String, "`d` in a format of YYYY, MM, DD, HH, mm, ss"),
    f("§8.3", "ORDINAL", &[p("n", Number)], String, "`n` with its suffix: 1st"),

    // 8.4 types
    f("§8.4", "IS_ARRAY", &[p("x", Any)], Boolean, "whether `x` is a list"),
    f("§8.4", "IS_NUMBER", &[p("x", Any)], Boolean, "whether `x` is a number"),
    f("§8.4", "IS_STRING", &[p("x", Any)], Boolean, "whether `x` is a string"),
    f("§8.4", "TO_NUMBER", &[p("x", Any)], Number, "`x` as a number; null if it is none"),
    f("§8.4", "TO_STRING", &[p("x", Any)], String, "`x` as text"),

    // 8.5 lists
    f("§8.5", "LENGTH", &[p("x", Any)], Number, "how many items or characters `x` has; 0 for other types"),
    f("§8.5", "ARRAY_FIND", &[p("arr", Array), p("field", String), p("value", Any)], Object, "the first item whose field has the value; null if none"),
    f("§8.5", "ARRAY_FIND_INDEX", &[p("arr", Array), p("field", String), p("value", Any)], Number, "the index of that item; -1 if none"),

    // 8.6 objects
    f("§8.6", "OBJECT_KEYS", &[p("obj", Object)], Array, "the names of the fields; empty for anything but an object"),
    f("§8.6", "OBJECT_VALUES", &[p("obj", Object)], Array, "the values of the fields; empty for anything but an object"),
    f("§8.6", "OBJECT_MERGE", &[many("objs", Object)], Object, "all fields; later objects win, other values are skipped"),

    // 8.7 utilities
    f("§8.7", "COALESCE", &[many("args", Any)], Any, "the first that is neither null nor undefined"),
    f("§8.7", "NOW", &[], String, "the time, as ISO 8601 text").effect(Effect::Clock),
    f("§8.7", "UNIQUE_ID", &[opt("length", Number)], String, "random letters and digits, 6 if `length` is left out").effect(Effect::Random),

    // newest documentation
    f("platform documentation", "FIRST_NON_EMPTY", &[many("args", Any)], Any, "the first that is not empty").since(Version::Newest),
    f("platform documentation", "IF", &[p("condition", Boolean), p("then", Any), p("otherwise", Any)], Any, "one of two values, both evaluated").since(Version::Newest),
    f("platform documentation", "REGEX_REPLACE", &[p("text", String), p("regex", String), p("replacement", String)], String, "`text` with matches replaced; `$1` to `$9` are groups").since(Version::Newest),
    f("platform documentation", "REGEX_EXTRACT", &[p("text", String), p("regex", String), opt("group", Number)], String, "what a group matches; null if nothing does").since(Version::Newest),
    f("platform documentation", "MATCH_SCORE", &[p("said", String), p("stored", String), opt("kind", String)], Number, "how alike two texts are, 0 to 100; -1 if one is missing").since(Version::Newest),
    f("platform documentation", "MATCHES", &[p("said", String), p("stored", String), opt("kind", String)], Boolean, "whether the score is 70 or more").since(Version::Newest),
    f("platform documentation", "MATCH_RESULT", &[p("said", String), p("stored", String), opt("kind", String)], String, "`match`, `retry` or `missing`").since(Version::Newest),
    f("platform documentation", "NOW_MS", &[], Number, "the time in milliseconds; in an example only").effect(Effect::Clock).since(Version::Newest),

    // in examples of constraints, never documented
    f("§3.8", "len", &[p("x", Any)], Number, "how many items or characters `x` has"),

    // guardrail helpers
    f("§3.9", "contains_pii", &[p("text", String)], Boolean, "whether personal data is in the text").guardrail(),
    f("§3.9", "detect_pii", &[p("text", String)], Array, "the personal data in the text").guardrail(),
    f("§3.9", "redact_pii", &[p("text", String)], String, "the text without personal data").guardrail(),
    f("§3.9", "matches_pattern", &[p("text", String), p("pattern", String)], Boolean, "whether the regular expression matches").guardrail(),
    f("§3.9", "not_matches_pattern", &[p("text", String), p("pattern", String)], Boolean, "whether it does not").guardrail(),
    f("§3.9", "word_count", &[p("text", String)], Number, "how many words").guardrail(),
    f("§3.9", "sentence_count", &[p("text", String)], Number, "how many sentences").guardrail(),
    f("§3.9", "contains_url", &[p("text", String)], Boolean, "whether a URL is in the text").guardrail(),
    f("§3.9", "contains_email", &[p("text", String)], Boolean, "whether an e-mail address is in the text").guardrail(),
    f("§3.9", "contains_code", &[p("text", String)], Boolean, "whether code is in the text").guardrail(),
    f("§3.9", "pii_equal", &[p("a", String), p("b", String)], Boolean, "whether two vault tokens stand for the same; fails for anything else").guardrail().since(Version::Newest),
    f("CEL", "size", &[p("x", Any)], Number, "how many items or characters `x` has").guardrail(),
    f("CEL", "has", &[p("x", Any)], Boolean, "whether `x` is there").guardrail(),
    f("CEL", "int", &[p("x", Any)], Number, "`x` as a whole number").guardrail(),
    f("CEL", "double", &[p("x", Any)], Number, "`x` as a number").guardrail(),
    f("CEL", "string", &[p("x", Any)], String, "`x` as text").guardrail(),
    f("CEL", "bool", &[p("x", Any)], Boolean, "`x` as true or false").guardrail(),
];

const fn m(
    name: &'static str,
    parameters: &'static [Parameter],
    returns: ParameterType,
    summary: &'static str,
) -> Method {
    Method { name, parameters, returns, summary }
}

#[rustfmt::skip]
pub(super) const METHODS: &[Method] = &[
    m("contains", &[p("part", Any)], Boolean, "whether the part is in it"),
    m("includes", &[p("part", Any)], Boolean, "whether the part is in it"),
    m("startsWith", &[p("prefix", String)], Boolean, "whether it begins with `prefix`"),
    m("endsWith", &[p("suffix", String)], Boolean, "whether it ends with `suffix`"),
    m("matches", &[p("pattern", String)], Boolean, "whether the regular expression matches"),
    m("indexOf", &[p("part", Any)], Number, "where the part begins; -1 if it is not in it"),
    m("toLowerCase", &[], String, "it in lower case"),
    m("toUpperCase", &[], String, "it in upper case"),
    m("lowerAscii", &[], String, "it with ASCII letters in lower case"),
    m("upperAscii", &[], String, "it with ASCII letters in upper case"),
    m("trim", &[], String, "it without white space at its ends"),
    m("length", &[], Number, "how many items or characters it has"),
    m("size", &[], Number, "how many items or characters it has"),
    m("replace", &[p("find", String), p("replacement", String)], String, "it with `find` replaced"),
    m("split", &[p("delimiter", String)], Array, "its parts between delimiters"),
    m("join", &[opt("delimiter", String)], String, "its items with delimiters between them"),
    m("substring", &[p("start", Number), opt("end", Number)], String, "its characters from `start` up to `end`"),
    m("slice", &[opt("start", Number), opt("end", Number)], Any, "its items or characters from `start` up to `end`"),
    m("toString", &[], String, "it as text"),
    m("toFixed", &[opt("decimals", Number)], String, "it as text with `decimals` places"),
];
