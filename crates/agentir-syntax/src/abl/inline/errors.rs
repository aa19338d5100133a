//! ABL's error messages for inline text.

use super::lexer::SyntaxErrorKind;
use super::token::{EntryPoint, Token};
use crate::inline::{
    Expected, Explain, ForeignSyntax, InlineLanguage, InlineText, Notation, SyntaxError,
};
use crate::rules::EXPRESSION_TOO_DEEP as TOO_DEEP;
pub(crate) use crate::rules::{INVALID_EXPRESSION, INVALID_TEMPLATE, INVALID_VALUE};
use agentir_diagnostics::{Diagnostic, RuleName};

const INVALID_ACTION: RuleName = RuleName("invalid-action");
const INVALID_SIGNATURE: RuleName = RuleName("invalid-signature");

/// ABL's inline languages.
pub(crate) enum Abl {}

/// A failed parse.
pub(crate) type ParseFailure<'a> = crate::inline::ParseFailure<'a, Abl>;

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
            EntryPoint::Store => "what is stored is written `value -> path`",
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

    fn syntax_error(
        failure: &ParseFailure<'_>,
        error: SyntaxError<SyntaxErrorKind>,
    ) -> Option<Diagnostic> {
        let SyntaxError { kind, start, end } = error;
        let written = failure.slice(start, end);
        Some(match kind {
            SyntaxErrorKind::TooDeep => {
                Diagnostic::error(TOO_DEEP, failure.input.span_of(start, end), "this is nested too deeply to be read")
                    .help("name parts of it, with `SET`")
            }
            SyntaxErrorKind::Character => {
                let diagnostic =
                    failure.error(start, end, format!("`{written}` means nothing here"));
                if written.contains(['“', '”', '„', '‘', '’']) {
                    diagnostic.help("use straight quotes: `\"text\"`")
                } else {
                    diagnostic
                }
            }
            SyntaxErrorKind::UnclosedString => {
                let quote = written.get(..1).unwrap_or("\"");
                failure.error(start, start + 1, format!("the text that starts here has no closing `{quote}`"))
            }
            SyntaxErrorKind::UnclosedRegex => failure
                .error(start, end, "the regular expression that starts here has no closing `/`")
                .help("where a value is expected, `/` starts a regular expression; write `\\/` for a slash in it"),
            SyntaxErrorKind::RegexFlag => failure
                .error(start, end, format!("`{written}` has a flag that does not exist"))
                .help("flags are `i`, `m`, `s`, `u` and `g`"),
            SyntaxErrorKind::NumberTooLarge => {
                failure.error(start, end, format!("the number `{written}` is too large"))
            }
            SyntaxErrorKind::Subscript => failure
                .error(start, end, format!("expected a whole number between `[` and `]`, found `{written}`")),
            SyntaxErrorKind::AtWord => failure
                .error(start, end, format!("`{written}` cannot stand here"))
                .help("names with `@` exist only in the templates of `{{#each}}`"),
            SyntaxErrorKind::ActionDetail => {
                let diagnostic =
                    failure.error(start, end, format!("`{written}` cannot be read as an action"));
                match Self::example(failure.entry_point) {
                    Some(example) => diagnostic.help(example),
                    None => diagnostic,
                }
            }
        })
    }
}
