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
    f("ADD", &[p("a", Number), p("b", Number)], Number, "the sum"),
    f("SUB", &[p("a", Number), p("b", Number)], Number, "the difference"),
    f("MUL", &[p("a", Number), p("b", Number)], Number, "the product"),
    f("DIV", &[p("a", Number), p("b", Number)], Number, "the quotient; null if `b` is 0"),
    f("ROUND", &[p("n", Number), opt("decimals", Number)], Number, "`n` rounded to `decimals` places (0 if left out)"),
    f("ABS", &[p("n", Number)], Number, "`n` without its sign"),
    f("MIN", &[p("a", Number), p("b", Number)], Number, "the smaller of two"),
    f("MAX", &[p("a", Number), p("b", Number)], Number, "the larger of two"),
    f("AVG", &[many("numbers", Any)], Number, "the mean; of the legacy specification, which only uses it")
        .removed(Version::Current),

    // 8.2 strings; null counts as the empty string
    f("UPPER", &[p("s", String)], String, "`s` in upper case"),
    f("LOWER", &[p("s", String)], String, "`s` in lower case"),
    f("TRIM", &[p("s", String)], String, "`s` without white space at its ends"),
    f("SUBSTRING", &[p("s", String), p("start", Number), opt("end", Number)], String, "the characters of `s` from `start` up to `end`"),
    f("REPLACE", &[p("s", String), p("find", String), p("replacement", String)], String, "`s` with every `find` replaced"),
    f("SPLIT", &[p("s", String), p("delimiter", String)], Array, "the parts of `s` between delimiters"),
    f("JOIN", &[p("arr", Array), p("delimiter", String)], String, "the items of `arr` with delimiters between them"),
    f("PAD_START", &[p("s", String), p("length", Number), opt("char", String)], String, "`s` filled up at its start"),
    f("PAD_END", &[p("s", String), p("length", Number), opt("char", String)], String, "`s` filled up at its end"),
    f("REPEAT", &[p("s", String), p("count", Number)], String, "`s`, `count` times"),

    // 8.3 formats
    f("MASK", &[p("s", String), p("pattern", String), opt("char", String)], String, "`s` with all but the parts that `pattern` keeps hidden: `last4`, `first4`, `N*N`"),
    f("FORMAT_CURRENCY", &[p("n", Number), p("currency", String), opt("locale", String)], String, "`n` as an amount of money"),
    f("FORMAT_DATE", &[p("d", Date), p("format", String), opt("tz", String)], String, "`d` in a format of YYYY, MM, DD, HH, mm, ss"),
    f("ORDINAL", &[p("n", Number)], String, "`n` with its suffix: 1st"),

    // 8.4 types
    f("IS_ARRAY", &[p("x", Any)], Boolean, "whether `x` is a list"),
    f("IS_NUMBER", &[p("x", Any)], Boolean, "whether `x` is a number"),
    f("IS_STRING", &[p("x", Any)], Boolean, "whether `x` is a string"),
    f("TO_NUMBER", &[p("x", Any)], Number, "`x` as a number; null if it is none"),
    f("TO_STRING", &[p("x", Any)], String, "`x` as text"),

    // 8.5 lists
    f("LENGTH", &[p("x", Any)], Number, "how many items or characters `x` has; 0 for other types"),
    f("ARRAY_FIND", &[p("arr", Array), p("field", String), p("value", Any)], Object, "the first item whose field has the value; null if none"),
    f("ARRAY_FIND_INDEX", &[p("arr", Array), p("field", String), p("value", Any)], Number, "the index of that item; -1 if none"),

    // 8.6 objects
    f("OBJECT_KEYS", &[p("obj", Object)], Array, "the names of the fields; empty for anything but an object"),
    f("OBJECT_VALUES", &[p("obj", Object)], Array, "the values of the fields; empty for anything but an object"),
    f("OBJECT_MERGE", &[many("objs", Object)], Object, "all fields; later objects win, other values are skipped"),

    // 8.7 utilities
    f("COALESCE", &[many("args", Any)], Any, "the first that is neither null nor undefined"),
    f("NOW", &[], String, "the time, as ISO 8601 text").effect(Effect::Clock),
    f("UNIQUE_ID", &[opt("length", Number)], String, "random letters and digits, 6 if `length` is left out").effect(Effect::Random),

    // newest documentation
    f("FIRST_NON_EMPTY", &[many("args", Any)], Any, "the first that is not empty").since(Version::Newest),
    f("IF", &[p("condition", Boolean), p("then", Any), p("otherwise", Any)], Any, "one of two values, both evaluated").since(Version::Newest),
    f("REGEX_REPLACE", &[p("text", String), p("regex", String), p("replacement", String)], String, "`text` with matches replaced; `$1` to `$9` are groups").since(Version::Newest),
    f("REGEX_EXTRACT", &[p("text", String), p("regex", String), opt("group", Number)], String, "what a group matches; null if nothing does").since(Version::Newest),
    f("MATCH_SCORE", &[p("said", String), p("stored", String), opt("kind", String)], Number, "how alike two texts are, 0 to 100; -1 if one is missing").since(Version::Newest),
    f("MATCHES", &[p("said", String), p("stored", String), opt("kind", String)], Boolean, "whether the score is 70 or more").since(Version::Newest),
    f("MATCH_RESULT", &[p("said", String), p("stored", String), opt("kind", String)], String, "`match`, `retry` or `missing`").since(Version::Newest),
    f("NOW_MS", &[], Number, "the time in milliseconds; in an example only").effect(Effect::Clock).since(Version::Newest),

    // in examples of constraints, never documented
    f("len", &[p("x", Any)], Number, "how many items or characters `x` has"),

    // guardrail helpers
    f("contains_pii", &[p("text", String)], Boolean, "whether personal data is in the text").guardrail(),
    f("detect_pii", &[p("text", String)], Array, "the personal data in the text").guardrail(),
    f("redact_pii", &[p("text", String)], String, "the text without personal data").guardrail(),
    f("matches_pattern", &[p("text", String), p("pattern", String)], Boolean, "whether the regular expression matches").guardrail(),
    f("not_matches_pattern", &[p("text", String), p("pattern", String)], Boolean, "whether it does not").guardrail(),
    f("word_count", &[p("text", String)], Number, "how many words").guardrail(),
    f("sentence_count", &[p("text", String)], Number, "how many sentences").guardrail(),
    f("contains_url", &[p("text", String)], Boolean, "whether a URL is in the text").guardrail(),
    f("contains_email", &[p("text", String)], Boolean, "whether an e-mail address is in the text").guardrail(),
    f("contains_code", &[p("text", String)], Boolean, "whether code is in the text").guardrail(),
    f("pii_equal", &[p("a", String), p("b", String)], Boolean, "whether two vault tokens stand for the same; fails for anything else").guardrail().since(Version::Newest),
    f("size", &[p("x", Any)], Number, "how many items or characters `x` has").guardrail(),
    f("has", &[p("x", Any)], Boolean, "whether `x` is there").guardrail(),
    f("int", &[p("x", Any)], Number, "`x` as a whole number").guardrail(),
    f("double", &[p("x", Any)], Number, "`x` as a number").guardrail(),
    f("string", &[p("x", Any)], String, "`x` as text").guardrail(),
    f("bool", &[p("x", Any)], Boolean, "`x` as true or false").guardrail(),
];

const fn m(name: &'static str, parameters: &'static [Parameter], returns: ParameterType) -> Method {
    Method { name, parameters, returns }
}

#[rustfmt::skip]
pub(super) const METHODS: &[Method] = &[
    m("contains", &[p("part", Any)], Boolean),
    m("includes", &[p("part", Any)], Boolean),
    m("startsWith", &[p("prefix", String)], Boolean),
    m("endsWith", &[p("suffix", String)], Boolean),
    m("matches", &[p("pattern", String)], Boolean),
    m("indexOf", &[p("part", Any)], Number),
    m("toLowerCase", &[], String),
    m("toUpperCase", &[], String),
    m("lowerAscii", &[], String),
    m("upperAscii", &[], String),
    m("trim", &[], String),
    m("length", &[], Number),
    m("size", &[], Number),
    m("replace", &[p("find", String), p("replacement", String)], String),
    m("split", &[p("delimiter", String)], Array),
    m("join", &[opt("delimiter", String)], String),
    m("substring", &[p("start", Number), opt("end", Number)], String),
    m("slice", &[opt("start", Number), opt("end", Number)], Any),
    m("toString", &[], String),
    m("toFixed", &[opt("decimals", Number)], String),
];
