//! What is said about a leaf that cannot be read.

use super::lexer::{FaultKind, Goal, Token};
use crate::leaf::{Expected, Explain, Fault, Language, Leaf, Notation, Slip};
use crate::rules;
use agentir_diagnostics::{Applicability, Diagnostic, Edit, Fix, RuleName, Span};

/// The leaves of Agent Script.
pub(crate) enum AgentScript {}

/// A leaf that could not be read.
pub(crate) type Failure<'a> = crate::leaf::Failure<'a, AgentScript>;

/// A form of another language.
pub(crate) fn slip(slip: &Slip, leaf: &Leaf<'_>) -> Diagnostic {
    slip.diagnostic(leaf, |written, meant| {
        format!("Agent Script has no `{written}`; it is read as `{meant}`")
    })
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

impl Language for AgentScript {
    type Token<'a> = Token<'a>;
    type Kind = FaultKind;
    const TOO_DEEP: FaultKind = FaultKind::TooDeep;
}

impl Explain for AgentScript {
    type Goal = Goal;

    const NOTATION: Notation = Notation {
        value: ["NUMBER", "\"None\""],
        operator: "\"and\"",
        terminals: &[
            ("WORD", "a name"),
            ("REF", "a reference such as `@variables.name`"),
            ("NUMBER", "a number"),
            ("STRING", "a text in quotes"),
            ("DATE", "a date"),
        ],
        quotes: &['"'],
        texts_on_one_line: true,
        comment: Some('#'),
        helps_closing: true,
    };

    fn rule(goal: Goal) -> RuleName {
        match goal {
            Goal::Value | Goal::Condition | Goal::Available => rules::INVALID_EXPRESSION,
            Goal::Hole => rules::INVALID_TEMPLATE,
            _ => rules::SYNTAX,
        }
    }

    fn example(goal: Goal) -> Option<&'static str> {
        Some(match goal {
            Goal::Value | Goal::Hole => return None,
            Goal::Condition => "a condition is written `if @variables.ready:`",
            Goal::Set => "an assignment is written `set @variables.name = value`",
            Goal::With => "inputs are written `with name=value`, several with commas between",
            Goal::Run => "an action is run by `run @actions.name`",
            Goal::Transition => "write `transition to @subagent.name`",
            Goal::To => "write `to @subagent.name`",
            Goal::Available => "write `available when @variables.ready`",
            Goal::Collect => "write `collect @variables.name`",
            Goal::Ask => "write `ask for @variables.name`",
            Goal::Declaration => {
                "a declaration is written `name: string`, `name: mutable string = \"\"` or `name: linked string`"
            }
            Goal::Binding => {
                "a tool is written `name: @actions.name` or `name: @utils.transition to @subagent.name`"
            }
        })
    }

    fn missing(goal: Goal, _: Expected) -> String {
        match goal {
            Goal::Set | Goal::Collect | Goal::Ask => "a variable",
            Goal::With => "`name=value`",
            Goal::Run => "an action",
            Goal::Transition | Goal::To => "where to",
            Goal::Condition | Goal::Available => "a condition",
            Goal::Declaration => "a type",
            Goal::Binding => "an action",
            Goal::Value | Goal::Hole => "a value",
        }
        .to_owned()
    }

    fn likely(failure: &Failure<'_>, start: u32, end: u32) -> Option<Diagnostic> {
        let mut diagnostic = one_cause(failure, start, end)?;
        diagnostic.rule = rules::SYNTAX;
        Some(diagnostic)
    }

    fn left_open(failure: &Failure<'_>, start: u32, found: &str) -> Option<Diagnostic> {
        // Behind the line on which the bracket was left open, or at the end of a condition.
        let [(_, before_end), _] = failure.last;
        let condition = found == ":" && failure.goal == Goal::Condition;
        if !condition && !failure.slice(before_end, start).contains('\n') {
            return None;
        }
        let (at, open) = failure.open_bracket(start)?;
        (!condition || open != '{').then(|| failure.never_closed(at, open))
    }

    fn no_operator(failure: &Failure<'_>, start: u32, end: u32) -> Diagnostic {
        let (found, before) = (failure.slice(start, end), failure.before());
        let begins_value =
            |c: char| c.is_alphanumeric() || matches!(c, '_' | '@' | '"' | '{' | '[');
        if found.starts_with(begins_value) {
            let message = format!("expected an operator between `{before}` and `{found}`");
            let diagnostic = failure.error(start, end, message);
            if found.starts_with(['"', '@', '[', '{']) || before.starts_with('@') {
                diagnostic
            } else {
                diagnostic.help("put texts in quotes")
            }
        } else if found.starts_with(['=', '!', '<', '>']) {
            failure
                .error(start, end, format!("`{found}` cannot follow another comparison"))
                .help("compare in two steps, joined by `and`")
        } else {
            failure.error(start, end, format!("`{found}` cannot stand here"))
        }
    }

    fn fault(failure: &Failure<'_>, fault: Fault<FaultKind>) -> Option<Diagnostic> {
        let Fault { kind, start, end } = fault;
        let written = failure.slice(start, end);
        Some(match kind {
            FaultKind::TooDeep => Diagnostic::error(
                rules::EXPRESSION_TOO_DEEP,
                failure.leaf.place(start, end),
                "this is nested too deep to be read",
            )
            .help("give names to parts of it, with `set`"),
            FaultKind::Character => {
                let diagnostic =
                    failure.error(start, end, format!("`{written}` means nothing here"));
                if written.contains(['“', '”', '„', '‘', '’']) {
                    diagnostic.help("use straight quotes: `\"text\"`")
                } else {
                    diagnostic
                }
            }
            // Lines are cut by the layout pass, which has reported it; holes are not.
            FaultKind::UnclosedString if failure.goal != Goal::Hole => return None,
            FaultKind::UnclosedString => {
                failure.error(start, start + 1, "this text has no closing `\"`")
            }
            FaultKind::SingleQuotes => {
                let diagnostic =
                    failure.error(start, end, "texts stand in double quotes").help("write `\"…\"`");
                match written.strip_prefix('\'').and_then(|w| w.strip_suffix('\'')) {
                    Some(inner) if !inner.contains(['"', '\\']) => {
                        diagnostic.replace(format!("\"{inner}\""), Applicability::Safe)
                    }
                    _ => diagnostic,
                }
            }
            FaultKind::Escape => {
                return Some(bad_escape(failure.leaf.place(start, end), written));
            }
            FaultKind::NumberTooLarge => {
                failure.error(start, end, format!("the number `{written}` is too large"))
            }
            FaultKind::BareReference if written.len() > 1 => failure
                .error(start, end, format!("`{written}` names no member"))
                .help(format!("write `{written}.name`")),
            FaultKind::BareReference => failure
                .error(start, end, "`@` begins a reference, but none follows")
                .help("write `@variables.name`"),
            FaultKind::NoOperator => {
                let diagnostic =
                    failure.error(start, end, format!("Agent Script has no operator `{written}`"));
                match written {
                    "%" => diagnostic,
                    _ => diagnostic.help("compare with each value: `a == \"x\" or a == \"y\"`"),
                }
            }
            FaultKind::NotCallable => failure
                .error(start, end, "only functions can be called, by their names")
                .help("write `len(@variables.list)`"),
            FaultKind::NoReference => failure
                .error(start, end, format!("expected a reference, found `{written}`"))
                .help("write `@variables.name`"),
            FaultKind::NotGeneric if written.starts_with("list") => failure
                .error(start, end, "there are no lists of lists")
                .help("write `list[object]`"),
            FaultKind::NotGeneric => failure
                .error(start, end, format!("only `list` takes a type in brackets, not `{written}`"))
                .help("write `list[string]`"),
        })
    }
}

/// Mistakes that have one likely cause.
fn one_cause(failure: &Failure<'_>, start: u32, end: u32) -> Option<Diagnostic> {
    let [(before_start, before_end), _] = failure.last;
    let first = before_start == before_end;
    Some(match failure.goal {
        // `transition @subagent.x`
        Goal::Transition if first => missing_word(failure, start, end, "transition", "to")
            .help("write `transition to @subagent.name`"),
        Goal::Available if first => missing_word(failure, start, end, "available", "when")
            .help("write `available when @variables.ready`"),
        Goal::Ask if first => {
            missing_word(failure, start, end, "ask", "for").help("write `ask for @variables.name`")
        }
        Goal::With
            if failure.slice(start, end).starts_with('@') || failure.slice(start, end) == "." =>
        {
            failure
                .error(start, end, "`with` takes named inputs")
                .help("write the name of the input: `with name=@variables.name`")
        }
        Goal::Condition if failure.before() == ":" => failure
            .error(start, end, "what the condition decides about goes on the next line")
            .help("write it below `if …:`, indented"),
        _ => return None,
    })
}

/// The second of two words that belong together is missing.
fn missing_word(
    failure: &Failure<'_>,
    start: u32,
    end: u32,
    first: &str,
    second: &str,
) -> Diagnostic {
    failure.error(start, end, format!("`{second}` is missing behind `{first}`")).fix(Fix {
        title: format!("insert `{second}`"),
        edits: vec![Edit { span: failure.leaf.place(start, start), text: format!("{second} ") }],
        applicability: Applicability::Safe,
    })
}
