//! What is said about a leaf that cannot be read.

use super::Leaf;
use super::context::Error;
use super::lexer::{Fault, FaultKind, Slip};
use super::token::Goal;
use agentir_diagnostics::{Applicability, Diagnostic, RuleName};
use lalrpop_util::ParseError;
use std::ops::Range;

pub(crate) const INVALID_EXPRESSION: RuleName = RuleName("invalid-expression");
pub(crate) const INVALID_TEMPLATE: RuleName = RuleName("invalid-template");
pub(crate) const INVALID_VALUE: RuleName = RuleName("invalid-value");
const INVALID_ACTION: RuleName = RuleName("invalid-action");
const INVALID_SIGNATURE: RuleName = RuleName("invalid-signature");
pub(crate) const TOO_DEEP: RuleName = RuleName("expression-too-deep");

/// A leaf that could not be read. Turned into a diagnostic only when it is clear that it was meant
/// to be read as such: words for the model fail as expressions too.
pub(crate) struct Failure<'a> {
    pub leaf: Leaf<'a>,
    pub range: Range<usize>,
    pub goal: Goal,
    pub error: Error<'a>,
    /// The places of the last two tokens the parser saw.
    pub last: [(u32, u32); 2],
}

/// An operator of another language.
pub(crate) fn slip(leaf: &Leaf<'_>, slip: &Slip) -> Diagnostic {
    let range = slip.start as usize..slip.end as usize;
    let written = leaf.text.get(range.clone()).unwrap_or_default();
    let message = format!("`{written}` is not an operator here; it is read as `{}`", slip.meant);
    Diagnostic::error(INVALID_EXPRESSION, leaf.origin.span(range), message)
        .help(format!("write `{}`", slip.meant))
        .replace(slip.meant, Applicability::Safe)
}

impl Goal {
    const fn rule(self) -> RuleName {
        match self {
            Self::Expr => INVALID_EXPRESSION,
            Self::Hole => INVALID_TEMPLATE,
            Self::Signature => INVALID_SIGNATURE,
            Self::Action => INVALID_ACTION,
            _ => INVALID_VALUE,
        }
    }

    /// What the leaf should look like.
    const fn example(self) -> Option<&'static str> {
        Some(match self {
            Self::Expr | Self::Hole => return None,
            Self::Path => "a path is written `name.field`",
            Self::Type => "a type is a name, `type[]` or `{field: type, optional?: type}`",
            Self::Signature => "a tool is written `name(parameter: type, optional?: type) -> type`",
            Self::Constraint => {
                "a constraint is written `REQUIRE condition` or `REQUIRE condition BEFORE calling tool`, \
                 also with `WARN`, `LIMIT` and `RESTRICT`"
            }
            Self::Action => {
                "write the name of a step, or a keyword such as `COMPLETE`, `CONTINUE`, `RETRY`, \
                 `ESCALATE`, `HANDOFF agent`"
            }
            Self::Call => "a call is written `tool`, `tool(a, b)` or `tool(parameter: value)`",
            Self::Store => "what is stored is written `value -> path`",
            Self::Chain => "a sequence of steps is written `first -> second -> third`",
            Self::Assignment => "an assignment is written `name = value`",
            Self::Transform => "a transformation is written `list AS item INTO result`",
            Self::Sort => "a sort is written `field` or `field DESC`",
            Self::RoutingRule => {
                "a routing rule is written `INTENT(name, name) -> agent` or `DEFAULT -> agent`"
            }
            Self::RouteAction => {
                "a route is written `ROUTE_TO agent`, `ROUTE_TO_USER \"text\"`, \
                 `ROUTE_TO_VARIABLE name`, `SYSTEM_ACTION name`, `INTENT_MATCH` or `END_CONVERSATION`"
            }
            Self::Protocol => "a protocol is written `FROM agent TO agent`",
        })
    }
}

/// What could have stood at the place of an error.
enum Expected {
    Value,
    Name,
    Operator,
    /// One of a few symbols, in words.
    Symbols(String),
}

impl Expected {
    fn of(tokens: &[String]) -> Self {
        let has = |token: &str| tokens.iter().any(|t| t == token);
        if has("NUMBER") && has("\"null\"") {
            return Self::Value;
        }
        if has("\"AND\"") {
            return Self::Operator;
        }
        if has("WORD") {
            return Self::Name;
        }
        if tokens.is_empty() {
            // Nothing fits, because the leaf could have ended here.
            return Self::Operator;
        }
        let mut words: Vec<String> = tokens.iter().map(|t| in_words(t)).collect();
        words.dedup();
        let more = words.len() > 4;
        words.truncate(4);
        let all = match words.split_last() {
            Some((last, [])) => last.clone(),
            Some((last, rest)) if !more => format!("{} or {last}", rest.join(", ")),
            _ => words.join(", "),
        };
        Self::Symbols(all)
    }
}

/// The grammar's name of a token as people say it.
fn in_words(token: &str) -> String {
    match token {
        "WORD" => "a name".to_owned(),
        "NUMBER" => "a number".to_owned(),
        "STRING" => "a text in quotes".to_owned(),
        "REGEX" => "a regular expression".to_owned(),
        "CONSTRAINT" => "`REQUIRE`, `WARN`, `LIMIT` or `RESTRICT`".to_owned(),
        "ACTION" => "an action".to_owned(),
        "DIRECTION" => "`ASC` or `DESC`".to_owned(),
        quoted => format!("`{}`", quoted.trim_matches('"')),
    }
}

impl Failure<'_> {
    fn slice(&self, start: u32, end: u32) -> &str {
        self.leaf.text.get(start as usize..end as usize).unwrap_or_default()
    }

    fn error(&self, start: u32, end: u32, message: impl Into<String>) -> Diagnostic {
        let span = self.leaf.origin.span(start as usize..end as usize);
        Diagnostic::error(self.goal.rule(), span, message)
    }

    /// The finding.
    pub(crate) fn diagnostic(&self) -> Diagnostic {
        let diagnostic = match &self.error {
            ParseError::User { error } => return self.fault(*error),
            ParseError::UnrecognizedToken { token: (start, _, end), expected } => {
                self.unexpected(*start, *end, Expected::of(expected))
            }
            ParseError::ExtraToken { token: (start, _, end) } => {
                self.unexpected(*start, *end, Expected::Operator)
            }
            ParseError::UnrecognizedEof { expected, .. } => self.cut_off(Expected::of(expected)),
            ParseError::InvalidToken { location } => {
                self.error(*location, *location, "this cannot be read")
            }
        };
        match (diagnostic.help.is_none(), self.goal.example()) {
            (true, Some(example)) => diagnostic.help(example),
            _ => diagnostic,
        }
    }

    /// A token that cannot stand where it does.
    fn unexpected(&self, start: u32, end: u32, expected: Expected) -> Diagnostic {
        let found = self.slice(start, end);
        let (before_start, before_end) = self.last[0];
        let before = self.slice(before_start, before_end);
        let after = if before.is_empty() { String::new() } else { format!(" after `{before}`") };
        if !matches!(expected, Expected::Value | Expected::Name)
            && let Some(diagnostic) = self.wrong_bracket(start, end, found)
        {
            return diagnostic;
        }
        match expected {
            Expected::Value => {
                self.error(start, end, format!("expected a value{after}, found `{found}`"))
            }
            Expected::Name => {
                self.error(start, end, format!("expected a name{after}, found `{found}`"))
            }
            Expected::Symbols(words) => {
                self.error(start, end, format!("expected {words}{after}, found `{found}`"))
            }
            Expected::Operator if found.eq_ignore_ascii_case("is") => self
                .error(start, end, format!("expected `SET` or `NOT SET` after `{found}`"))
                .help("write `IS SET` to ask whether there is a value, and `==` to compare"),
            Expected::Operator if begins_value(found) => {
                let diagnostic = self.error(
                    start,
                    end,
                    format!("expected an operator between `{before}` and `{found}`"),
                );
                let words = [
                    "AND",
                    "OR",
                    "IN",
                    "IS",
                    "NOT",
                    "IMPLIES",
                    "contains",
                    "matches",
                    "startsWith",
                    "endsWith",
                ];
                if let Some(near) =
                    agentir_diagnostics::closest(found, words).filter(|_| found.len() > 2)
                {
                    diagnostic
                        .help(format!("did you mean `{near}`?"))
                        .replace(near, agentir_diagnostics::Applicability::Unsafe)
                } else if found.starts_with(['"', '\'']) {
                    diagnostic
                } else {
                    diagnostic.help("put texts of several words in quotes")
                }
            }
            Expected::Operator if is_comparison(found) => self
                .error(start, end, format!("`{found}` cannot follow another comparison"))
                .help("compare in two steps, joined by `AND`"),
            Expected::Operator => self.error(start, end, format!("`{found}` cannot stand here")),
        }
    }

    /// A bracket that closes none, or another one.
    fn wrong_bracket(&self, start: u32, end: u32, found: &str) -> Option<Diagnostic> {
        let opening = match found {
            ")" => '(',
            "]" => '[',
            "}" => '{',
            _ => return None,
        };
        match self.open_bracket(start) {
            Some((_, open)) if open == opening => None,
            Some((at, open)) => Some(
                self.error(start, end, format!("`{found}` does not close `{open}`"))
                    .label(self.leaf.origin.span(at..at + 1), "opened here"),
            ),
            None => Some(self.error(start, end, format!("`{found}` closes nothing"))),
        }
    }

    /// A leaf that ends too early.
    fn cut_off(&self, expected: Expected) -> Diagnostic {
        let end = u32::try_from(self.range.end).unwrap_or(u32::MAX);
        let (last_start, last_end) = self.last[1];
        if last_start == last_end {
            let what = match expected {
                Expected::Value | Expected::Operator => "a value".to_owned(),
                Expected::Name => "a name".to_owned(),
                Expected::Symbols(words) => words,
            };
            return self.error(last_start, end, format!("expected {what}, found nothing"));
        }
        if let Some((at, open)) = self.open_bracket(end)
            && !matches!(expected, Expected::Value)
        {
            let at = u32::try_from(at).unwrap_or(u32::MAX);
            return self.error(at, at + 1, format!("`{open}` is never closed"));
        }
        let last = self.slice(last_start, last_end);
        let what = match expected {
            Expected::Value => "a value".to_owned(),
            Expected::Name => "a name".to_owned(),
            Expected::Operator => "more".to_owned(),
            Expected::Symbols(words) => words,
        };
        self.error(last_start, last_end, format!("expected {what} after `{last}`"))
    }

    fn fault(&self, fault: Fault) -> Diagnostic {
        let Fault { kind, start, end } = fault;
        let written = self.slice(start, end);
        match kind {
            FaultKind::TooDeep => {
                let span = self.leaf.origin.span(start as usize..end as usize);
                Diagnostic::error(TOO_DEEP, span, "this is nested too deeply to be read")
                    .help("name parts of it, with `SET`")
            }
            FaultKind::Character => {
                let diagnostic =
                    self.error(start, end, format!("`{written}` means nothing here"));
                if written.contains(['“', '”', '„', '‘', '’']) {
                    diagnostic.help("use straight quotes: `\"text\"`")
                } else {
                    diagnostic
                }
            }
            FaultKind::UnclosedString => {
                let quote = written.get(..1).unwrap_or("\"");
                self.error(start, start + 1, format!("the text that starts here has no closing `{quote}`"))
            }
            FaultKind::UnclosedRegex => self
                .error(start, end, "the regular expression that starts here has no closing `/`")
                .help("where a value is expected, `/` starts a regular expression; write `\\/` for a slash in it"),
            FaultKind::RegexFlag => self
                .error(start, end, format!("`{written}` has a flag that does not exist"))
                .help("flags are `i`, `m`, `s`, `u` and `g`"),
            FaultKind::NumberTooLarge => {
                self.error(start, end, format!("the number `{written}` is too large"))
            }
            FaultKind::Subscript => self
                .error(start, end, format!("expected a whole number between `[` and `]`, found `{written}`")),
            FaultKind::AtWord => self
                .error(start, end, format!("`{written}` cannot stand here"))
                .help("names with `@` exist only in the templates of `{{#each}}`"),
            FaultKind::ActionDetail => {
                let diagnostic =
                    self.error(start, end, format!("`{written}` cannot be read as an action"));
                match self.goal.example() {
                    Some(example) => diagnostic.help(example),
                    None => diagnostic,
                }
            }
        }
    }

    /// The innermost bracket that is open at `end`, quotes considered.
    fn open_bracket(&self, end: u32) -> Option<(usize, char)> {
        let text = self.leaf.text.get(self.range.start..end as usize)?;
        let mut open: Vec<(usize, char)> = Vec::new();
        let mut quote = None;
        let mut escaped = false;
        for (i, c) in text.char_indices() {
            match (quote, c) {
                _ if std::mem::take(&mut escaped) => {}
                (Some(_), '\\') => escaped = true,
                (Some(q), c) if q == c => quote = None,
                (Some(_), _) => {}
                (None, '"' | '\'') => quote = Some(c),
                (None, '(' | '[' | '{') => open.push((self.range.start + i, c)),
                (None, ')' | ']' | '}') => {
                    open.pop();
                }
                _ => {}
            }
        }
        open.pop()
    }
}

fn begins_value(token: &str) -> bool {
    token.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | '$' | '"' | '\'' | '{'))
}

fn is_comparison(token: &str) -> bool {
    token.starts_with(['=', '!', '<', '>'])
}
