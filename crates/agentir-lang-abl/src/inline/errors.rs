//! ABL's error messages for inline text.

use super::lexer::SyntaxErrorKind;
use super::token::{EntryPoint, Token};
use agentir_diagnostics::{Diagnostic, RuleName};
use agentir_syntax::inline::{
    Expected, Explain, ForeignSyntax, InlineLanguage, InlineText, Notation, SyntaxError,
};
use agentir_syntax::rules::EXPRESSION_TOO_DEEP as TOO_DEEP;
pub(crate) use agentir_syntax::rules::{INVALID_EXPRESSION, INVALID_TEMPLATE, INVALID_VALUE};

const INVALID_ACTION: RuleName = RuleName("invalid-action");
const INVALID_SIGNATURE: RuleName = RuleName("invalid-signature");

/// ABL's inline languages.
pub(crate) enum Abl {}

/// A failed parse.
pub(crate) type ParseFailure<'a> = agentir_syntax::inline::ParseFailure<'a, Abl>;

/// The diagnostic of an operator of another language.
pub(crate) fn foreign_syntax(form: &ForeignSyntax, input: &InlineText<'_>) -> Diagnostic {
    form.diagnostic(input, |written, replacement| {
        format!("`{written}` is not an operator here; it is read as `{replacement}`")
    })
}

/// The word operators that may be meant by a name in place of an operator.
const WORD_OPERATORS: [&str; 10] =
    ["AND", "OR", "IN", "IS", "NOT", "IMPLIES", "contains", "matches", "startsWith", "endsWith"];

impl InlineLanguage for Abl {
    type Token<'a> = Token<'a>;
    type Kind = SyntaxErrorKind;
    const TOO_DEEP: SyntaxErrorKind = SyntaxErrorKind::TooDeep;
}

impl Explain for Abl {
    type EntryPoint = EntryPoint;

    const NOTATION: Notation = Notation {
        value: ["NUMBER", "\"null\""],
        operator: "\"AND\"",
        terminals: &[
            ("WORD", "a name"),
            ("NUMBER", "a number"),
            ("STRING", "a quoted string"),
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

    fn rule(entry_point: EntryPoint) -> RuleName {
        match entry_point {
            EntryPoint::Expr => INVALID_EXPRESSION,
            EntryPoint::Placeholder => INVALID_TEMPLATE,
            EntryPoint::Signature => INVALID_SIGNATURE,
            EntryPoint::Action => INVALID_ACTION,
            _ => INVALID_VALUE,
        }
    }

    fn example(entry_point: EntryPoint) -> Option<&'static str> {
        Some(match entry_point {
            EntryPoint::Expr | EntryPoint::Placeholder => return None,
            EntryPoint::Path => "a path is written `name.field`",
            EntryPoint::Type => "a type is a name, `type[]` or `{field: type, optional?: type}`",
            EntryPoint::Signature => {
                "a tool is written `name(parameter: type, optional?: type) -> type`"
            }
            EntryPoint::Constraint => {
                "a constraint is written `REQUIRE condition` or `REQUIRE condition BEFORE calling tool`, \
                 also with `WARN`, `LIMIT` and `RESTRICT`"
            }
            EntryPoint::Action => {
                "write the name of a step, or a keyword such as `COMPLETE`, `CONTINUE`, `RETRY`, \
                 `ESCALATE`, `HANDOFF agent`"
            }
            EntryPoint::Call => {
                "a call is written `tool`, `tool(a, b)` or `tool(parameter: value)`"
            }
            EntryPoint::Store => "a stored value is written `value -> path`",
            EntryPoint::Chain => "a sequence of steps is written `first -> second -> third`",
            EntryPoint::Assignment => "an assignment is written `name = value`",
            EntryPoint::Transform => "a transformation is written `list AS item INTO result`",
            EntryPoint::Sort => "a sort is written `field` or `field DESC`",
            EntryPoint::RoutingRule => {
                "a routing rule is written `INTENT(name, name) -> agent` or `DEFAULT -> agent`"
            }
            EntryPoint::RouteAction => {
                "a route is written `ROUTE_TO agent`, `ROUTE_TO_USER \"text\"`, \
                 `ROUTE_TO_VARIABLE name`, `SYSTEM_ACTION name`, `INTENT_MATCH` or `END_CONVERSATION`"
            }
            EntryPoint::Protocol => "a protocol is written `FROM agent TO agent`",
        })
    }

    fn missing(_: EntryPoint, expected: Expected) -> String {
        match expected {
            Expected::Value | Expected::Operator => "a value".to_owned(),
            Expected::Name => "a name".to_owned(),
            Expected::Symbols(words) => words,
        }
    }

    fn no_operator(failure: &ParseFailure<'_>, start: u32, end: u32) -> Diagnostic {
        let found = failure.slice(start, end);
        if found.eq_ignore_ascii_case("is") {
            return failure
                .error(start, end, format!("expected `SET` or `NOT SET` after `{found}`"))
                .help("write `IS SET` to test whether there is a value, and `==` to compare");
        }
        if found.starts_with(['=', '!', '<', '>']) {
            return failure
                .error(start, end, "comparisons cannot be chained")
                .help("write two comparisons joined by `AND`");
        }
        let begins_value =
            |c: char| c.is_alphanumeric() || matches!(c, '_' | '$' | '"' | '\'' | '{');
        if !found.starts_with(begins_value) {
            return failure.error(start, end, format!("unexpected `{found}`"));
        }
        let message = format!("expected an operator between `{}` and `{found}`", failure.before());
        let diagnostic = failure.error(start, end, message);
        let near = agentir_diagnostics::closest(found, WORD_OPERATORS);
        if let Some(near) = near.filter(|_| found.len() > 2) {
            diagnostic.did_you_mean(near)
        } else if found.starts_with(['"', '\'']) {
            diagnostic
        } else {
            diagnostic.help("put strings of several words in quotes")
        }
    }

    fn syntax_error(
        failure: &ParseFailure<'_>,
        error: SyntaxError<SyntaxErrorKind>,
    ) -> Option<Diagnostic> {
        let SyntaxError { kind, start, end } = error;
        let written = failure.slice(start, end);
        Some(match kind {
            SyntaxErrorKind::TooDeep => {
                Diagnostic::error(TOO_DEEP, failure.input.span_of(start, end), "this expression is nested too deeply")
                    .help("assign parts of it to variables with `SET`")
            }
            SyntaxErrorKind::Character => {
                let diagnostic =
                    failure.error(start, end, format!("unexpected character `{written}`"));
                if written.contains(['“', '”', '„', '‘', '’']) {
                    diagnostic.help("use straight quotes: `\"text\"`")
                } else {
                    diagnostic
                }
            }
            SyntaxErrorKind::UnclosedString => {
                let quote = written.get(..1).unwrap_or("\"");
                failure.error(start, start + 1, format!("this string has no closing `{quote}`"))
            }
            SyntaxErrorKind::UnclosedRegex => failure
                .error(start, end, "this regular expression has no closing `/`")
                .help("`/` starts a regular expression where a value is expected; write `\\/` for a slash in it"),
            SyntaxErrorKind::RegexFlag => failure
                .error(start, end, format!("`{written}` has an unknown flag"))
                .help("flags are `i`, `m`, `s`, `u` and `g`"),
            SyntaxErrorKind::NumberTooLarge => {
                failure.error(start, end, format!("the number `{written}` is too large"))
            }
            SyntaxErrorKind::Subscript => failure
                .error(start, end, format!("expected a whole number between `[` and `]`, found `{written}`")),
            SyntaxErrorKind::AtWord => failure
                .error(start, end, format!("`{written}` cannot be used here"))
                .help("names with `@` are only available in the template of an `{{#each}}`"),
            SyntaxErrorKind::ActionDetail => {
                let diagnostic =
                    failure.error(start, end, format!("`{written}` is not a valid action"));
                match Self::example(failure.entry_point) {
                    Some(example) => diagnostic.help(example),
                    None => diagnostic,
                }
            }
        })
    }
}
