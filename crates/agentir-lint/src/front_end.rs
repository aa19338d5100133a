//! The rules that are found while the text is read. They are listed here so that the catalogue is
//! whole; the front ends report them.

use crate::rule::{Check, Group, Rule};
use agentir_diagnostics::{RuleName, Severity};

const fn rule(
    name: &'static str,
    group: Group,
    severity: Severity,
    summary: &'static str,
    vendor: &'static [&'static str],
) -> Rule {
    Rule {
        name: RuleName(name),
        group,
        severity,
        summary,
        vendor,
        dialects: crate::rule::ANY,
        check: Check::FrontEnd,
    }
}

use Group::{Mica, Syntax, Versions};
use Severity::{Error, Info, Warning};

pub(crate) static RULES: &[Rule] = &[
    rule("syntax-error", Syntax, Error, "a line cannot be read as what it should be", &[]),
    rule("unterminated-string", Syntax, Error, "a string has no closing quote", &[]),
    rule(
        "inconsistent-indentation",
        Syntax,
        Warning,
        "a line stands between two levels of indentation",
        &[],
    ),
    rule(
        "nesting-too-deep",
        Syntax,
        Error,
        "lines are nested deeper than anybody nests on purpose",
        &[],
    ),
    rule("not-text", Syntax, Error, "a file is no text, or too large to be read", &[]),
    rule("unreadable-file", Syntax, Error, "a file cannot be read", &[]),
    rule("unknown-section", Syntax, Error, "a section does not exist in ABL", &[]),
    rule("unknown-field", Syntax, Warning, "a field does not exist in its section", &[]),
    rule("invalid-value", Syntax, Error, "a field does not take this value", &[]),
    rule("missing-section", Syntax, Error, "a section that must be there is missing", &[]),
    rule("missing-field", Syntax, Error, "a field that must be there is missing", &[]),
    rule("duplicate-section", Syntax, Warning, "a section is written twice", &[]),
    rule("duplicate-field", Syntax, Warning, "a field is written twice", &[]),
    rule("invalid-expression", Syntax, Error, "an expression cannot be read", &[]),
    rule("expression-too-deep", Syntax, Error, "an expression is nested too deep", &[]),
    rule("invalid-template", Syntax, Warning, "a hole in a text cannot be read", &[]),
    rule("invalid-signature", Syntax, Error, "the head of a tool cannot be read", &[]),
    rule("invalid-action", Syntax, Error, "what happens next cannot be read", &[]),
    rule(
        "misplaced-statement",
        Syntax,
        Error,
        "a statement stands where it has no effect",
        &["template-in-deterministic-procedure"],
    ),
    rule(
        "unknown-dialect",
        Syntax,
        Error,
        "a document names a dialect that does not exist",
        &["unknown-dialect"],
    ),
    rule(
        "unfilled-placeholder",
        Syntax,
        Error,
        "a template of a document is not filled in yet",
        &[],
    ),
    rule(
        "deprecated-field",
        Versions,
        Warning,
        "a block, a field or a type has a successor",
        &["deprecated-field"],
    ),
    rule("keyword-case", Versions, Error, "a keyword is in the wrong case for its format", &[]),
    rule("legacy-form", Versions, Warning, "a form belongs to an older version of ABL", &[]),
    rule("newer-form", Versions, Warning, "a form belongs to a newer version of ABL", &[]),
    rule(
        "behavior-profiles-plural",
        Versions,
        Warning,
        "profiles are written inside the agent",
        &[],
    ),
    rule(
        "deprecated-field",
        Versions,
        Warning,
        "a block, a field or a type has a successor",
        &["deprecated-field"],
    ),
    rule(
        "misplaced-statement",
        Syntax,
        Warning,
        "a statement or a clause stands where it has no effect",
        &[],
    ),
    rule("unknown-dialect", Versions, Error, "a `# @dialect:` line names no dialect", &[]),
    rule(
        "unfilled-placeholder",
        Syntax,
        Error,
        "`{{…}}` in a template for documents still has to be filled in",
        &[],
    ),
    rule("mode-removed", Versions, Warning, "`MODE` is used, which no longer exists", &[]),
    rule("invalid-pattern", Syntax, Error, "a pattern of `re.match` is broken", &[]),
    rule("typographic-punctuation", Syntax, Warning, "typographic signs stand for plain ones", &[]),
    rule("yaml-boolean", Syntax, Warning, "YAML takes a word for true or false", &[]),
    rule("step-with-two-verbs", Syntax, Error, "a step says two things to do", &[]),
    rule("else-without-if", Syntax, Error, "an `else` belongs to no `if`", &[]),
    rule("mica-argument", Mica, Warning, "MICA does not take an argument in this form", &[]),
    rule("mica-call", Mica, Warning, "a call does not do in MICA what the paper says", &[]),
    rule(
        "mica-condition",
        Mica,
        Warning,
        "MICA does not evaluate a condition as the paper says",
        &[],
    ),
    rule("mica-field", Mica, Warning, "MICA rejects a field that the paper has", &[]),
    rule("mica-main", Mica, Warning, "MICA cannot start with this `main`", &[]),
    rule("mica-nested-else", Mica, Warning, "MICA drops an `else` inside a `then`", &[]),
    rule("mica-policy", Mica, Warning, "MICA does not follow a policy in words", &[]),
    rule("mica-return", Mica, Warning, "MICA takes a failure for a success", &[]),
    rule("mica-source", Mica, Warning, "MICA does not load a source", &[]),
    rule("mica-steps", Mica, Warning, "MICA does not execute the steps of this agent", &[]),
    rule("mica-tries", Mica, Info, "MICA counts `tries` otherwise", &[]),
];
