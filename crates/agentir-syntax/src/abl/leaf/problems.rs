//! What is said about a leaf that cannot be read.

use super::lexer::FaultKind;
use super::token::{Goal, Token};
use crate::leaf::{Expected, Explain, Fault, Language, Leaf, Notation, Slip};
use crate::rules::EXPRESSION_TOO_DEEP as TOO_DEEP;
pub(crate) use crate::rules::{INVALID_EXPRESSION, INVALID_TEMPLATE, INVALID_VALUE};
use agentir_diagnostics::{Diagnostic, RuleName};

const INVALID_ACTION: RuleName = RuleName("invalid-action");
const INVALID_SIGNATURE: RuleName = RuleName("invalid-signature");

/// The leaves of ABL.
pub(crate) enum Abl {}

/// A leaf that could not be read.
pub(crate) type Failure<'a> = crate::leaf::Failure<'a, Abl>;

/// An operator of another language.
pub(crate) fn slip(slip: &Slip, leaf: &Leaf<'_>) -> Diagnostic {
    slip.diagnostic(leaf, |written, meant| {
        format!("`{written}` is not an operator here; it is read as `{meant}`")
    })
}

/// The words that could have been meant where a name stands in place of an operator.
const WORD_OPERATORS: [&str; 10] =
    ["AND", "OR", "IN", "IS", "NOT", "IMPLIES", "contains", "matches", "startsWith", "endsWith"];

impl Language for Abl {
    type Token<'a> = Token<'a>;
    type Kind = FaultKind;
    const TOO_DEEP: FaultKind = FaultKind::TooDeep;
}

impl Explain for Abl {
    type Goal = Goal;

    const NOTATION: Notation = Notation {
        value: ["NUMBER", "\"null\""],
        operator: "\"AND\"",
        terminals: &[
            ("WORD", "a name"),
            ("NUMBER", "a number"),
            ("STRING", "a text in quotes"),
            ("REGEX", "a regular expression"),
            ("CONSTRAINT", "`REQUIRE`, `WARN`, `LIMIT` or `RESTRICT`"),
            ("ACTION", "an action"),
            ("DIRECTION", "`ASC` or `DESC`"),
        ],
        quotes: &['"', '\''],
        texts_on_one_line: false,
        comment: None,
        helps_closing: false,
    };

    fn rule(goal: Goal) -> RuleName {
        match goal {
            Goal::Expr => INVALID_EXPRESSION,
            Goal::Hole => INVALID_TEMPLATE,
            Goal::Signature => INVALID_SIGNATURE,
            Goal::Action => INVALID_ACTION,
            _ => INVALID_VALUE,
        }
    }

    fn example(goal: Goal) -> Option<&'static str> {
        Some(match goal {
            Goal::Expr | Goal::Hole => return None,
            Goal::Path => "a path is written `name.field`",
            Goal::Type => "a type is a name, `type[]` or `{field: type, optional?: type}`",
            Goal::Signature => "a tool is written `name(parameter: type, optional?: type) -> type`",
            Goal::Constraint => {
                "a constraint is written `REQUIRE condition` or `REQUIRE condition BEFORE calling tool`, \
                 also with `WARN`, `LIMIT` and `RESTRICT`"
            }
            Goal::Action => {
                "write the name of a step, or a keyword such as `COMPLETE`, `CONTINUE`, `RETRY`, \
                 `ESCALATE`, `HANDOFF agent`"
            }
            Goal::Call => "a call is written `tool`, `tool(a, b)` or `tool(parameter: value)`",
            Goal::Store => "what is stored is written `value -> path`",
            Goal::Chain => "a sequence of steps is written `first -> second -> third`",
            Goal::Assignment => "an assignment is written `name = value`",
            Goal::Transform => "a transformation is written `list AS item INTO result`",
            Goal::Sort => "a sort is written `field` or `field DESC`",
            Goal::RoutingRule => {
                "a routing rule is written `INTENT(name, name) -> agent` or `DEFAULT -> agent`"
            }
            Goal::RouteAction => {
                "a route is written `ROUTE_TO agent`, `ROUTE_TO_USER \"text\"`, \
                 `ROUTE_TO_VARIABLE name`, `SYSTEM_ACTION name`, `INTENT_MATCH` or `END_CONVERSATION`"
            }
            Goal::Protocol => "a protocol is written `FROM agent TO agent`",
        })
    }

    fn missing(_: Goal, expected: Expected) -> String {
        match expected {
            Expected::Value | Expected::Operator => "a value".to_owned(),
            Expected::Name => "a name".to_owned(),
            Expected::Symbols(words) => words,
        }
    }

    fn no_operator(failure: &Failure<'_>, start: u32, end: u32) -> Diagnostic {
        let found = failure.slice(start, end);
        if found.eq_ignore_ascii_case("is") {
            return failure
                .error(start, end, format!("expected `SET` or `NOT SET` after `{found}`"))
                .help("write `IS SET` to ask whether there is a value, and `==` to compare");
        }
        if found.starts_with(['=', '!', '<', '>']) {
            return failure
                .error(start, end, format!("`{found}` cannot follow another comparison"))
                .help("compare in two steps, joined by `AND`");
        }
        let begins_value =
            |c: char| c.is_alphanumeric() || matches!(c, '_' | '$' | '"' | '\'' | '{');
        if !found.starts_with(begins_value) {
            return failure.error(start, end, format!("`{found}` cannot stand here"));
        }
        let message = format!("expected an operator between `{}` and `{found}`", failure.before());
        let diagnostic = failure.error(start, end, message);
        let near = agentir_diagnostics::closest(found, WORD_OPERATORS);
        if let Some(near) = near.filter(|_| found.len() > 2) {
            diagnostic.did_you_mean(near)
        } else if found.starts_with(['"', '\'']) {
            diagnostic
        } else {
            diagnostic.help("put texts of several words in quotes")
        }
    }

    fn fault(failure: &Failure<'_>, fault: Fault<FaultKind>) -> Option<Diagnostic> {
        let Fault { kind, start, end } = fault;
        let written = failure.slice(start, end);
        Some(match kind {
            FaultKind::TooDeep => {
                Diagnostic::error(TOO_DEEP, failure.leaf.place(start, end), "this is nested too deeply to be read")
                    .help("name parts of it, with `SET`")
            }
            FaultKind::Character => {
                let diagnostic =
                    failure.error(start, end, format!("`{written}` means nothing here"));
                if written.contains(['“', '”', '„', '‘', '’']) {
                    diagnostic.help("use straight quotes: `\"text\"`")
                } else {
                    diagnostic
                }
            }
            FaultKind::UnclosedString => {
                let quote = written.get(..1).unwrap_or("\"");
                failure.error(start, start + 1, format!("the text that starts here has no closing `{quote}`"))
            }
            FaultKind::UnclosedRegex => failure
                .error(start, end, "the regular expression that starts here has no closing `/`")
                .help("where a value is expected, `/` starts a regular expression; write `\\/` for a slash in it"),
            FaultKind::RegexFlag => failure
                .error(start, end, format!("`{written}` has a flag that does not exist"))
                .help("flags are `i`, `m`, `s`, `u` and `g`"),
            FaultKind::NumberTooLarge => {
                failure.error(start, end, format!("the number `{written}` is too large"))
            }
            FaultKind::Subscript => failure
                .error(start, end, format!("expected a whole number between `[` and `]`, found `{written}`")),
            FaultKind::AtWord => failure
                .error(start, end, format!("`{written}` cannot stand here"))
                .help("names with `@` exist only in the templates of `{{#each}}`"),
            FaultKind::ActionDetail => {
                let diagnostic =
                    failure.error(start, end, format!("`{written}` cannot be read as an action"));
                match Self::example(failure.goal) {
                    Some(example) => diagnostic.help(example),
                    None => diagnostic,
                }
            }
        })
    }
}
