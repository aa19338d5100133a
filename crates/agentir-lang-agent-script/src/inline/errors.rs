//! Agent Script's error messages for inline text.

use super::lexer::{EntryPoint, SyntaxErrorKind, Token};
use agentir_diagnostics::{Applicability, Diagnostic, Edit, Fix, RuleName, Span};
use agentir_syntax::inline::{
    Expected, Explain, ForeignSyntax, InlineLanguage, InlineText, Notation, SyntaxError,
};
use agentir_syntax::rules;

/// Agent Script's inline languages.
pub(crate) enum AgentScript {}

/// A failed parse.
pub(crate) type ParseFailure<'a> = agentir_syntax::inline::ParseFailure<'a, AgentScript>;

/// The diagnostic of a notation of another language.
pub(crate) fn foreign_syntax(form: &ForeignSyntax, input: &InlineText<'_>) -> Diagnostic {
    form.diagnostic(input, |written, replacement| {
        format!("`{written}` is not valid in Agent Script; write `{replacement}`")
    })
}

/// The diagnostic of an unknown escape.
pub(crate) fn bad_escape(span: Span, written: &str) -> Diagnostic {
    Diagnostic::error(
        rules::INVALID_VALUE,
        span,
        format!("unknown escape `{written}`"),
    )
    .help("escapes are `\\\"`, `\\'`, `\\\\`, `\\n`, `\\r`, `\\t` and `\\0`; write `\\\\` for a backslash")
}

impl InlineLanguage for AgentScript {
    type Token<'a> = Token<'a>;
    type Kind = SyntaxErrorKind;
    const TOO_DEEP: SyntaxErrorKind = SyntaxErrorKind::TooDeep;
}

impl Explain for AgentScript {
    type EntryPoint = EntryPoint;

    const NOTATION: Notation = Notation {
        value: ["NUMBER", "\"None\""],
        operator: "\"and\"",
        terminals: &[
            ("WORD", "a name"),
            ("REF", "a reference such as `@variables.name`"),
            ("NUMBER", "a number"),
            ("STRING", "a quoted string"),
            ("DATE", "a date"),
        ],
        quotes: &['"'],
        texts_on_one_line: true,
        comment: Some('#'),
        helps_closing: true,
    };

    fn rule(entry_point: EntryPoint) -> RuleName {
        match entry_point {
            EntryPoint::Value | EntryPoint::Condition | EntryPoint::Available => {
                rules::INVALID_EXPRESSION
            }
            EntryPoint::Placeholder => rules::INVALID_TEMPLATE,
            _ => rules::SYNTAX,
        }
    }

    fn example(entry_point: EntryPoint) -> Option<&'static str> {
        Some(match entry_point {
            EntryPoint::Value | EntryPoint::Placeholder => return None,
            EntryPoint::Condition => "a condition is written `if @variables.ready:`",
            EntryPoint::Set => "an assignment is written `set @variables.name = value`",
            EntryPoint::With => "inputs are written `with name=value`, several with commas between",
            EntryPoint::Run => "an action is called with `run @actions.name`",
            EntryPoint::Transition => "write `transition to @subagent.name`",
            EntryPoint::To => "write `to @subagent.name`",
            EntryPoint::Available => "write `available when @variables.ready`",
            EntryPoint::Collect => "write `collect @variables.name`",
            EntryPoint::Ask => "write `ask for @variables.name`",
            EntryPoint::Declaration => {
                "a declaration is written `name: string`, `name: mutable string = \"\"` or `name: linked string`"
            }
            EntryPoint::Binding => {
                "a tool is written `name: @actions.name` or `name: @utils.transition to @subagent.name`"
            }
        })
    }

    fn missing(entry_point: EntryPoint, _: Expected) -> String {
        match entry_point {
            EntryPoint::Set | EntryPoint::Collect | EntryPoint::Ask => "a variable",
            EntryPoint::With => "`name=value`",
            EntryPoint::Run => "an action",
            EntryPoint::Transition | EntryPoint::To => "a target",
            EntryPoint::Condition | EntryPoint::Available => "a condition",
            EntryPoint::Declaration => "a type",
            EntryPoint::Binding => "an action",
            EntryPoint::Value | EntryPoint::Placeholder => "a value",
        }
        .to_owned()
    }

    fn likely(failure: &ParseFailure<'_>, start: u32, end: u32) -> Option<Diagnostic> {
        let mut diagnostic = one_cause(failure, start, end)?;
        diagnostic.rule = rules::SYNTAX;
        Some(diagnostic)
    }

    fn left_open(failure: &ParseFailure<'_>, start: u32, found: &str) -> Option<Diagnostic> {
        // After the line with the open bracket, or at the end of a condition.
        let [(_, before_end), _] = failure.last;
        let condition = found == ":" && failure.entry_point == EntryPoint::Condition;
        if !condition && !failure.slice(before_end, start).contains('\n') {
            return None;
        }
        let (at, open) = failure.open_bracket(start)?;
        (!condition || open != '{').then(|| failure.never_closed(at, open))
    }

    fn no_operator(failure: &ParseFailure<'_>, start: u32, end: u32) -> Diagnostic {
        let (found, before) = (failure.slice(start, end), failure.before());
        let begins_value =
            |c: char| c.is_alphanumeric() || matches!(c, '_' | '@' | '"' | '{' | '[');
        if found.starts_with(begins_value) {
            let message = format!("expected an operator between `{before}` and `{found}`");
            let diagnostic = failure.error(start, end, message);
            if found.starts_with(['"', '@', '[', '{']) || before.starts_with('@') {
                diagnostic
            } else {
                diagnostic.help("put strings in quotes")
            }
        } else if found.starts_with(['=', '!', '<', '>']) {
            failure
                .error(start, end, "comparisons cannot be chained")
                .help("write two comparisons joined by `and`")
        } else {
            failure.error(start, end, format!("unexpected `{found}`"))
        }
    }

    fn syntax_error(
        failure: &ParseFailure<'_>,
        error: SyntaxError<SyntaxErrorKind>,
    ) -> Option<Diagnostic> {
        let SyntaxError { kind, start, end } = error;
        let written = failure.slice(start, end);
        Some(match kind {
            SyntaxErrorKind::TooDeep => Diagnostic::error(
                rules::EXPRESSION_TOO_DEEP,
                failure.input.span_of(start, end),
                "this expression is nested too deeply",
            )
            .help("assign parts of it to variables with `set`"),
            SyntaxErrorKind::Character => {
                let diagnostic =
                    failure.error(start, end, format!("unexpected character `{written}`"));
                if written.contains(['“', '”', '„', '‘', '’']) {
                    diagnostic.help("use straight quotes: `\"text\"`")
                } else {
                    diagnostic
                }
            }
            // The layout pass splits lines and has reported it; placeholders are not split.
            SyntaxErrorKind::UnclosedString if failure.entry_point != EntryPoint::Placeholder => {
                return None;
            }
            SyntaxErrorKind::UnclosedString => {
                failure.error(start, start + 1, "this string has no closing `\"`")
            }
            SyntaxErrorKind::SingleQuotes => {
                let diagnostic = failure
                    .error(start, end, "strings must be in double quotes")
                    .help("write `\"…\"`");
                match written.strip_prefix('\'').and_then(|w| w.strip_suffix('\'')) {
                    Some(inner) if !inner.contains(['"', '\\']) => {
                        diagnostic.replace(format!("\"{inner}\""), Applicability::Safe)
                    }
                    _ => diagnostic,
                }
            }
            SyntaxErrorKind::Escape => {
                return Some(bad_escape(failure.input.span_of(start, end), written));
            }
            SyntaxErrorKind::NumberTooLarge => {
                failure.error(start, end, format!("the number `{written}` is too large"))
            }
            SyntaxErrorKind::BareReference if written.len() > 1 => failure
                .error(start, end, format!("`{written}` is not a value by itself"))
                .help(format!("write `{written}.name`")),
            SyntaxErrorKind::BareReference => failure
                .error(start, end, "expected a reference after `@`")
                .help("write `@variables.name`"),
            SyntaxErrorKind::NoOperator => {
                let diagnostic =
                    failure.error(start, end, format!("Agent Script has no operator `{written}`"));
                match written {
                    "%" => diagnostic,
                    _ => diagnostic.help("compare with each value: `a == \"x\" or a == \"y\"`"),
                }
            }
            SyntaxErrorKind::NotCallable => failure
                .error(start, end, "only functions can be called, and only by name")
                .help("write `len(@variables.list)`"),
            SyntaxErrorKind::NoReference => failure
                .error(start, end, format!("expected a reference, found `{written}`"))
                .help("write `@variables.name`"),
            SyntaxErrorKind::NotGeneric if written.starts_with("list") => failure
                .error(start, end, "lists of lists are not supported")
                .help("write `list[object]`"),
            SyntaxErrorKind::NotGeneric => failure
                .error(start, end, format!("only `list` takes a type in brackets, not `{written}`"))
                .help("write `list[string]`"),
        })
    }
}

/// Mistakes that have one likely cause.
fn one_cause(failure: &ParseFailure<'_>, start: u32, end: u32) -> Option<Diagnostic> {
    let [(before_start, before_end), _] = failure.last;
    let first = before_start == before_end;
    Some(match failure.entry_point {
        // `transition @subagent.x`
        EntryPoint::Transition if first => missing_word(failure, start, end, "transition", "to")
            .help("write `transition to @subagent.name`"),
        EntryPoint::Available if first => missing_word(failure, start, end, "available", "when")
            .help("write `available when @variables.ready`"),
        EntryPoint::Ask if first => {
            missing_word(failure, start, end, "ask", "for").help("write `ask for @variables.name`")
        }
        EntryPoint::With
            if failure.slice(start, end).starts_with('@') || failure.slice(start, end) == "." =>
        {
            failure
                .error(start, end, "inputs of `with` must be named")
                .help("write the name of the input: `with name=@variables.name`")
        }
        EntryPoint::Condition if failure.before() == ":" => failure
            .error(start, end, "the statements of an `if` must begin on the next line")
            .help("write them below `if …:`, indented"),
        _ => return None,
    })
}

/// The second of two words that belong together is missing.
fn missing_word(
    failure: &ParseFailure<'_>,
    start: u32,
    end: u32,
    first: &str,
    second: &str,
) -> Diagnostic {
    failure.error(start, end, format!("expected `{second}` after `{first}`")).fix(Fix {
        title: format!("insert `{second}`"),
        edits: vec![Edit { span: failure.input.span_of(start, start), text: format!("{second} ") }],
        applicability: Applicability::Safe,
    })
}
