//! What is said about a leaf that cannot be read.

use super::context::Error;
use super::lexer::{Fault, FaultKind, Goal, Slip};
use crate::rules;
use agentir_diagnostics::{Applicability, Diagnostic, Edit, FileId, Fix, RuleName, Span};
use lalrpop_util::ParseError;

/// A leaf that could not be read.
pub(crate) struct Failure<'a> {
    pub file: FileId,
    pub text: &'a str,
    /// Where the text begins.
    pub start: u32,
    pub goal: Goal,
    pub error: Error<'a>,
    /// The places of the last two tokens the parser saw.
    pub last: [(u32, u32); 2],
}

/// A form of another language.
pub(crate) fn slip(file: FileId, text: &str, base: u32, slip: Slip) -> Diagnostic {
    let range = slip.start.saturating_sub(base) as usize..slip.end.saturating_sub(base) as usize;
    let written = text.get(range).unwrap_or_default();
    let meant = slip.meant.trim();
    Diagnostic::error(
        rules::INVALID_EXPRESSION,
        Span::new(file, slip.start, slip.end),
        format!("Agent Script has no `{written}`; it is read as `{meant}`"),
    )
    .help(format!("write `{meant}`"))
    .replace(slip.meant, Applicability::Safe)
}

/// An escape that does not exist.
pub(crate) fn bad_escape(span: Span, written: &str) -> Diagnostic {
    Diagnostic::error(
        rules::INVALID_VALUE,
        span,
        format!("`{written}` is no escape of Agent Script"),
    )
    .help("escapes are `\\\"`, `\\'`, `\\\\`, `\\n`, `\\r`, `\\t` and `\\0`; write `\\\\` for a backslash")
}

impl Goal {
    const fn rule(self) -> RuleName {
        match self {
            Self::Value | Self::Condition | Self::Available => rules::INVALID_EXPRESSION,
            Self::Hole => rules::INVALID_TEMPLATE,
            _ => rules::SYNTAX,
        }
    }

    /// What the leaf should look like.
    const fn example(self) -> Option<&'static str> {
        Some(match self {
            Self::Value | Self::Hole => return None,
            Self::Condition => "a condition is written `if @variables.ready:`",
            Self::Set => "an assignment is written `set @variables.name = value`",
            Self::With => "inputs are written `with name=value`, several with commas between",
            Self::Run => "an action is run by `run @actions.name`",
            Self::Transition => "write `transition to @subagent.name`",
            Self::To => "write `to @subagent.name`",
            Self::Available => "write `available when @variables.ready`",
            Self::Collect => "write `collect @variables.name`",
            Self::Ask => "write `ask for @variables.name`",
            Self::Declaration => {
                "a declaration is written `name: string`, `name: mutable string = \"\"` or `name: linked string`"
            }
            Self::Binding => {
                "a tool is written `name: @actions.name` or `name: @utils.transition to @subagent.name`"
            }
        })
    }

    /// Whether the condition's colon may be the first thing that does not fit.
    const fn ends_with_colon(self) -> bool {
        matches!(self, Self::Condition)
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
        if has("NUMBER") && has("\"None\"") {
            return Self::Value;
        }
        if has("\"and\"") || tokens.is_empty() {
            return Self::Operator;
        }
        if has("WORD") {
            return Self::Name;
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
        "REF" => "a reference such as `@variables.name`".to_owned(),
        "NUMBER" => "a number".to_owned(),
        "STRING" => "a text in quotes".to_owned(),
        "DATE" => "a date".to_owned(),
        quoted => format!("`{}`", quoted.trim_matches('"')),
    }
}

impl Failure<'_> {
    fn slice(&self, start: u32, end: u32) -> &str {
        let range =
            start.saturating_sub(self.start) as usize..end.saturating_sub(self.start) as usize;
        self.text.get(range).unwrap_or_default()
    }

    fn error(&self, start: u32, end: u32, message: impl Into<String>) -> Diagnostic {
        Diagnostic::error(self.goal.rule(), Span::new(self.file, start, end), message)
    }

    /// The finding; none where it was reported before.
    pub(crate) fn diagnostic(&self) -> Option<Diagnostic> {
        let diagnostic = match &self.error {
            ParseError::User { error } => return self.fault(*error),
            ParseError::UnrecognizedToken { token: (start, _, end), expected } => {
                if let Some(diagnostic) = self.special(*start, *end) {
                    return Some(diagnostic);
                }
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
        Some(match (diagnostic.help.is_none(), self.goal.example()) {
            (true, Some(example)) => diagnostic.help(example),
            _ => diagnostic,
        })
    }

    /// Mistakes that have one likely cause.
    fn special(&self, start: u32, end: u32) -> Option<Diagnostic> {
        let first = self.last.iter().all(|(start, end)| start == end)
            || self.last.first().is_some_and(|(start, end)| start == end);
        match self.goal {
            // `transition @subagent.x`
            Goal::Transition if first => {
                let at = Span::new(self.file, start, start);
                Some(
                    self.error(
                        start,
                        end,
                        "`to` is missing between `transition` and where it goes",
                    )
                    .help("write `transition to @subagent.name`")
                    .fix(Fix {
                        title: "insert `to`".to_owned(),
                        edits: vec![Edit { span: at, text: "to ".to_owned() }],
                        applicability: Applicability::Safe,
                    }),
                )
            }
            Goal::Available if first => Some(
                self.error(start, end, "`when` is missing behind `available`")
                    .help("write `available when @variables.ready`"),
            ),
            Goal::Ask if first => Some(
                self.error(start, end, "`for` is missing behind `ask`")
                    .help("write `ask for @variables.name`"),
            ),
            Goal::With
                if self.slice(start, end).starts_with('@') || self.slice(start, end) == "." =>
            {
                Some(
                    self.error(start, end, "`with` takes named inputs")
                        .help("write the name of the input: `with name=@variables.name`"),
                )
            }
            Goal::Condition if self.slice(self.last[0].0, self.last[0].1) == ":" => Some(
                self.error(start, end, "what the condition decides about goes on the next line")
                    .help("write it below `if …:`, indented"),
            ),
            _ => None,
        }
    }

    /// A token that cannot stand where it does.
    fn unexpected(&self, start: u32, end: u32, expected: Expected) -> Diagnostic {
        let found = self.slice(start, end);
        let (before_start, before_end) = self.last[0];
        let before = self.slice(before_start, before_end);
        let after = if before.is_empty() { String::new() } else { format!(" after `{before}`") };
        if !matches!(expected, Expected::Value | Expected::Name)
            && let Some(diagnostic) = self.brackets(start, end, found)
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
            Expected::Operator if begins_value(found) => {
                let diagnostic = self.error(
                    start,
                    end,
                    format!("expected an operator between `{before}` and `{found}`"),
                );
                if found.starts_with('"') {
                    diagnostic
                } else {
                    diagnostic.help("put texts in quotes")
                }
            }
            Expected::Operator if is_comparison(found) => self
                .error(start, end, format!("`{found}` cannot follow another comparison"))
                .help("compare in two steps, joined by `and`"),
            Expected::Operator => self.error(start, end, format!("`{found}` cannot stand here")),
        }
    }

    /// A bracket that closes none, or one that is never closed.
    fn brackets(&self, start: u32, end: u32, found: &str) -> Option<Diagnostic> {
        let opening = match found {
            ")" => '(',
            "]" => '[',
            "}" => '{',
            ":" if self.goal.ends_with_colon() => {
                let (at, open) = self.open_bracket(start)?;
                return (open != '{')
                    .then(|| self.error(at, at + 1, format!("`{open}` is never closed")));
            }
            // Behind the line on which the bracket was left open.
            _ if self.slice(self.last[0].1, start).contains('\n') => {
                let (at, open) = self.open_bracket(start)?;
                return Some(self.error(at, at + 1, format!("`{open}` is never closed")));
            }
            _ => return None,
        };
        match self.open_bracket(start) {
            Some((_, open)) if open == opening => None,
            Some((at, open)) => Some(
                self.error(start, end, format!("`{found}` does not close `{open}`"))
                    .label(Span::new(self.file, at, at + 1), "opened here"),
            ),
            None => Some(self.error(start, end, format!("`{found}` closes nothing"))),
        }
    }

    /// A leaf that ends too early.
    fn cut_off(&self, expected: Expected) -> Diagnostic {
        let end = self.start.saturating_add(super::layout::offset(self.text.len()));
        let (last_start, last_end) = self.last[1];
        if last_start == last_end {
            let what = match self.goal {
                Goal::Set | Goal::Collect | Goal::Ask => "a variable",
                Goal::With => "`name=value`",
                Goal::Run => "an action",
                Goal::Transition | Goal::To => "where to",
                Goal::Condition | Goal::Available => "a condition",
                Goal::Declaration => "a type",
                Goal::Binding => "an action",
                Goal::Value | Goal::Hole => "a value",
            };
            return self.error(last_start, end, format!("expected {what}, found nothing"));
        }
        if let Some((at, open)) = self.open_bracket(end)
            && !matches!(expected, Expected::Value)
        {
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

    fn fault(&self, fault: Fault) -> Option<Diagnostic> {
        let Fault { kind, start, end } = fault;
        let written = self.slice(start, end);
        Some(match kind {
            FaultKind::TooDeep => Diagnostic::error(
                rules::EXPRESSION_TOO_DEEP,
                Span::new(self.file, start, end),
                "this is nested too deep to be read",
            )
            .help("give names to parts of it, with `set`"),
            FaultKind::Character => {
                let diagnostic = self.error(start, end, format!("`{written}` means nothing here"));
                if written.contains(['“', '”', '„', '‘', '’']) {
                    diagnostic.help("use straight quotes: `\"text\"`")
                } else {
                    diagnostic
                }
            }
            // Lines are cut by the layout pass, which has reported it; holes are not.
            FaultKind::UnclosedString if self.goal != Goal::Hole => return None,
            FaultKind::UnclosedString => {
                self.error(start, start + 1, "this text has no closing `\"`")
            }
            FaultKind::SingleQuotes => {
                let diagnostic =
                    self.error(start, end, "texts stand in double quotes").help("write `\"…\"`");
                match written.strip_prefix('\'').and_then(|w| w.strip_suffix('\'')) {
                    Some(inner) if !inner.contains(['"', '\\']) => {
                        diagnostic.replace(format!("\"{inner}\""), Applicability::Safe)
                    }
                    _ => diagnostic,
                }
            }
            FaultKind::Escape => {
                return Some(bad_escape(Span::new(self.file, start, end), written));
            }
            FaultKind::NumberTooLarge => {
                self.error(start, end, format!("the number `{written}` is too large"))
            }
            FaultKind::BareReference if written.len() > 1 => self
                .error(start, end, format!("`{written}` names no member"))
                .help(format!("write `{written}.name`")),
            FaultKind::BareReference => self
                .error(start, end, "`@` begins a reference, but none follows")
                .help("write `@variables.name`"),
            FaultKind::NoOperator => {
                let diagnostic =
                    self.error(start, end, format!("Agent Script has no operator `{written}`"));
                match written {
                    "%" => diagnostic,
                    _ => diagnostic.help("compare with each value: `a == \"x\" or a == \"y\"`"),
                }
            }
            FaultKind::NotCallable => self
                .error(start, end, "only functions can be called, by their names")
                .help("write `len(@variables.list)`"),
            FaultKind::NoReference => self
                .error(start, end, format!("expected a reference, found `{written}`"))
                .help("write `@variables.name`"),
            FaultKind::NotGeneric if written.starts_with("list") => {
                self.error(start, end, "there are no lists of lists").help("write `list[object]`")
            }
            FaultKind::NotGeneric => self
                .error(start, end, format!("only `list` takes a type in brackets, not `{written}`"))
                .help("write `list[string]`"),
        })
    }

    /// The innermost bracket that is open at `end`, texts and comments considered.
    fn open_bracket(&self, end: u32) -> Option<(u32, char)> {
        let text = self.text.get(..end.saturating_sub(self.start) as usize)?;
        let mut open: Vec<(u32, char)> = Vec::new();
        let (mut quoted, mut escaped, mut comment) = (false, false, false);
        for (i, c) in text.char_indices() {
            match c {
                _ if std::mem::take(&mut escaped) => {}
                '\n' => (quoted, comment) = (false, false),
                _ if comment => {}
                '\\' if quoted => escaped = true,
                '"' => quoted = !quoted,
                _ if quoted => {}
                '#' => comment = true,
                '(' | '[' | '{' => {
                    open.push((self.start.saturating_add(super::layout::offset(i)), c));
                }
                ')' | ']' | '}' => {
                    open.pop();
                }
                _ => {}
            }
        }
        open.pop()
    }
}

fn begins_value(token: &str) -> bool {
    token.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | '@' | '"' | '{' | '['))
}

fn is_comparison(token: &str) -> bool {
    token.starts_with(['=', '!', '<', '>']) || token.starts_with("is")
}
