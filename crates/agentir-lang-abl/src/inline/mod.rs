//! Parses ABL's inline languages: conditions, values, templates, types, signatures and the other small
//! languages after a key or a dash.
//!
//! Every function takes an [`InlineText`] and reports errors; the caller gets `None` or a value that marks
//! the error. The grammars are `grammars/abl/inline.lalrpop` and `grammars/abl/flow.lalrpop`.

mod ast;
mod condition;
mod context;
mod errors;
mod flow;
mod following;
mod lexer;
mod template;
mod token;

pub use ast::{
    Action, ActionKind, Assignment, Checkpoint, ConstraintKind, ConstraintRule, Direction,
    ProtocolHeader, RouteAction, RoutingRule, SignatureParameter, SortBy, Store, ToolCall,
    ToolSignature, TransformHeader,
};
pub use condition::{CALLING, RETURNING, befores, condition, constraint_rule};
pub(crate) use errors::Abl;
pub use flow::{Flow, FlowEntry, FlowKind, flow_collection};
pub use lexer::is_word_of_expressions;
pub(crate) use lexer::{is_dashed_name, is_step_name, is_word, route_words};
pub(crate) use template::BLOCKS;
pub use template::template;
pub(crate) use token::EntryPoint;

use agentir_diagnostics::{Diagnostic, Spanned};
use agentir_expr::{Expr, Name, Path, TypeExpr};
use agentir_syntax::inline::{ForeignSyntax, InlineText};
use agentir_syntax::text::offset;
use context::{Context, Parsed};
use errors::ParseFailure;
use lexer::Lexer;
use std::ops::Range;

agentir_syntax::grammars!(inline, flow);

/// Parses `range` of the text with an entry point. Accepted notations of other languages are added to
/// `foreign`, to be reported if the result is used.
fn parse<'a>(
    input: InlineText<'a>,
    range: Range<usize>,
    entry_point: EntryPoint,
    foreign: &mut Vec<ForeignSyntax>,
) -> Result<Parsed, Box<ParseFailure<'a>>> {
    let text = input.text.get(range.clone()).unwrap_or_default();
    let base = offset(range.start);
    let context = Context { input };
    if let Some(parsed) = plain(&context, text, base, entry_point) {
        return Ok(parsed);
    }
    let mut lexer = Lexer::new(text, base, entry_point);
    let result = grammar::inline::InlineParser::new().parse(&context, lexer.by_ref());
    match result {
        Ok(parsed) => {
            foreign.append(&mut lexer.foreign_syntax);
            Ok(parsed)
        }
        Err(error) => {
            Err(Box::new(ParseFailure { input, range, entry_point, error, last: lexer.last }))
        }
    }
}

/// A single name: a variable, a type, a step, a tool. This is the most common text and needs no parser; a
/// test checks that the grammar gives the same result.
fn plain(context: &Context<'_>, text: &str, base: u32, entry_point: EntryPoint) -> Option<Parsed> {
    if !matches!(
        entry_point,
        EntryPoint::Expr | EntryPoint::Type | EntryPoint::Action | EntryPoint::Call
    ) {
        return None;
    }
    let path = context.plain_path(text, base)?;
    if entry_point == EntryPoint::Expr {
        return Some(Parsed::Expr(Expr::path(path.value, path.span).into()));
    }
    let span = path.span;
    let name = Some(path.value).filter(|p| p.segments.is_empty())?.root;
    match entry_point {
        EntryPoint::Type => Some(Parsed::Type(TypeExpr::named(name.value, span))),
        EntryPoint::Action if ActionKind::from_word(text).is_none() => {
            Some(Parsed::Action(Box::new(context.go_to(name))))
        }
        EntryPoint::Call => {
            let call = ToolCall { tool: name, arguments: Vec::new(), span };
            Some(Parsed::Call(Box::new(call)))
        }
        _ => None,
    }
}

/// Parses the whole text with an entry point and reports errors.
fn read(
    input: InlineText<'_>,
    entry_point: EntryPoint,
    problems: &mut Vec<Diagnostic>,
) -> Option<Parsed> {
    let mut foreign = Vec::new();
    match parse(input, input.trimmed(), entry_point, &mut foreign) {
        Ok(parsed) => {
            problems.extend(foreign.iter().map(|form| errors::foreign_syntax(form, &input)));
            Some(parsed)
        }
        Err(failure) => {
            problems.extend(failure.diagnostic());
            None
        }
    }
}

macro_rules! readers {
    ($($(#[$doc:meta])* $name:ident -> $result:ty { $variant:ident($parsed:ident) => $value:expr })*) => {$(
        $(#[$doc])*
        pub fn $name(input: InlineText<'_>, problems: &mut Vec<Diagnostic>) -> Option<$result> {
            match read(input, EntryPoint::$variant, problems)? {
                Parsed::$variant($parsed) => Some($value),
                _ => None,
            }
        }
    )*};
}

readers! {
    /// An expression: values, operators, calls (expression language).
    expr -> Expr { Expr(expr) => *expr }
    /// A path: `order.items[0].id`.
    path -> Spanned<Path> { Path(path) => *path }
    /// A type: `string`, `Hotel[]`, `{a: number, b?: string}` (specification 3.4).
    type_expr -> TypeExpr { Type(ty) => ty }
    /// The signature of a tool: `name(p: type = default, q?: type) -> type` (specification 3.4).
    tool_signature -> ToolSignature { Signature(signature) => *signature }
    /// An action: `THEN`, `ON_FAIL` (specification 3.14). Messages are not actions, so the caller handles quoted
    /// texts of `ON_FAIL` before.
    action -> Action { Action(action) => *action }
    /// A call: `tool`, `tool(a, b)`, `tool(k = v)`, `tool(k: v)` (specification 3.14.3).
    call -> ToolCall { Call(call) => *call }
    /// A value to store: `value -> path` (specification 3.7).
    store -> Store { Store(store) => *store }
    /// A sequence of steps: `a -> b -> c` (specification 3.14).
    chain -> Vec<Spanned<Name>> { Chain(steps) => steps }
    /// `target = value`, `target: value` (specification 3.14.7).
    assignment -> Assignment { Assignment(assignment) => *assignment }
    /// `source AS item INTO target` (specification 3.14.11).
    transform_header -> TransformHeader { Transform(header) => *header }
    /// `field ASC`, `field DESC`, `field` (specification 3.14.11).
    sort_by -> SortBy { Sort(sort) => *sort }
    /// `INTENT(a, b) -> alias`, `DEFAULT -> alias` (supervisors).
    routing_rule -> RoutingRule { RoutingRule(rule) => *rule }
    /// `ROUTE_TO x`, `ROUTE_TO_USER "text"`, … (supervisors).
    route_action -> RouteAction { RouteAction(action) => *action }
    /// `FROM a TO b` (supervisors).
    protocol_header -> ProtocolHeader { Protocol(header) => *header }
}

#[cfg(test)]
mod tests {
    use super::*;
    use agentir_diagnostics::FileId;

    #[test]
    #[allow(clippy::unwrap_used)]
    fn plain_names_are_read_as_the_grammar_reads_them() {
        for text in ["step_one", "x", "date", "_a1", "Hotel", "user.intent", "a.b.c"] {
            for entry_point in
                [EntryPoint::Expr, EntryPoint::Type, EntryPoint::Action, EntryPoint::Call]
            {
                let input = InlineText::verbatim(text, FileId(3), 40);
                let context = Context { input };
                let Some(fast) = plain(&context, text, 0, entry_point) else { continue };
                let slow = grammar::inline::InlineParser::new()
                    .parse(&context, Lexer::new(text, 0, entry_point))
                    .unwrap();
                assert_eq!(format!("{fast:?}"), format!("{slow:?}"), "{text} as {entry_point:?}");
            }
        }
    }
}
