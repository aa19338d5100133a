//! The leaves of a document: conditions, values, templates, types, signatures and the other small
//! languages that stand behind a key or a dash.
//!
//! Every function here takes a [`Leaf`] and never fails as a whole: what cannot be read is reported,
//! and the caller gets `None` or a value that says so. The grammars are `grammars/abl_leaf.lalrpop`
//! and `grammars/abl_flow.lalrpop`.

mod ast;
mod condition;
mod context;
mod flow;
mod lexer;
mod problems;
mod template;
mod token;

pub use ast::{
    Action, ActionKind, Assignment, Checkpoint, ConstraintKind, ConstraintRule, Direction,
    ProtocolHead, RouteAction, RoutingRule, SignatureParameter, SortBy, Store, ToolCall,
    ToolSignature, TransformHead,
};
pub use condition::{condition, constraint_rule};
pub use flow::{Flow, FlowEntry, FlowKind, flow_collection};
pub use lexer::is_word_of_expressions;
pub use template::template;

use crate::leaf::{Leaf, Slip};
use crate::text::offset;
use agentir_diagnostics::{Diagnostic, Spanned};
use agentir_expr::{Expr, Name, Path, TypeExpr};
use context::{Context, Parsed};
use lexer::Lexer;
use problems::Failure;
use std::ops::Range;
use token::Goal;

grammars!(abl_leaf, abl_flow);

/// Reads `range` of the leaf as `goal`. Operators of other languages that were understood go to
/// `slips`, which matters only if the result is used.
fn parse<'a>(
    leaf: Leaf<'a>,
    range: Range<usize>,
    goal: Goal,
    slips: &mut Vec<Slip>,
) -> Result<Parsed, Box<Failure<'a>>> {
    let text = leaf.text.get(range.clone()).unwrap_or_default();
    let base = offset(range.start);
    let context = Context { leaf };
    if let Some(parsed) = plain(&context, text, base, goal) {
        return Ok(parsed);
    }
    let mut lexer = Lexer::new(text, base, goal);
    let result = grammar::abl_leaf::LeafParser::new().parse(&context, lexer.by_ref());
    match result {
        Ok(parsed) => {
            slips.append(&mut lexer.slips);
            Ok(parsed)
        }
        Err(error) => Err(Box::new(Failure { leaf, range, goal, error, last: lexer.last })),
    }
}

/// Most leaves are a single name: a variable, a type, a step to go to, a tool to call. These need no
/// parser; the grammar gives the same for them, and a test compares.
fn plain(context: &Context<'_>, text: &str, base: u32, goal: Goal) -> Option<Parsed> {
    if !matches!(goal, Goal::Expr | Goal::Type | Goal::Action | Goal::Call) {
        return None;
    }
    let path = context.plain_path(text, base)?;
    if goal == Goal::Expr {
        return Some(Parsed::Expr(Expr::path(path.value, path.span).into()));
    }
    let span = path.span;
    let name = Some(path.value).filter(|p| p.segments.is_empty())?.root;
    match goal {
        Goal::Type => Some(Parsed::Type(TypeExpr::named(name.value, span))),
        Goal::Action if ActionKind::from_word(text).is_none() => {
            Some(Parsed::Action(Box::new(context.go_to(name))))
        }
        Goal::Call => {
            let call = ToolCall { tool: name, arguments: Vec::new(), span };
            Some(Parsed::Call(Box::new(call)))
        }
        _ => None,
    }
}

/// Reads the whole leaf as `goal` and reports what is wrong with it.
fn read(leaf: Leaf<'_>, goal: Goal, problems: &mut Vec<Diagnostic>) -> Option<Parsed> {
    let mut slips = Vec::new();
    match parse(leaf, leaf.trimmed(), goal, &mut slips) {
        Ok(parsed) => {
            problems.extend(slips.iter().map(|slip| problems::slip(slip, &leaf)));
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
        pub fn $name(leaf: Leaf<'_>, problems: &mut Vec<Diagnostic>) -> Option<$result> {
            match read(leaf, Goal::$variant, problems)? {
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
    /// The head of a tool: `name(p: type = default, q?: type) -> type` (specification 3.4).
    tool_signature -> ToolSignature { Signature(signature) => *signature }
    /// What happens next: `THEN`, `ON_FAIL` (specification 3.14). Messages are not actions, so the
    /// caller takes quoted texts of `ON_FAIL` out before.
    action -> Action { Action(action) => *action }
    /// A call: `tool`, `tool(a, b)`, `tool(k = v)`, `tool(k: v)` (specification 3.14.3).
    call -> ToolCall { Call(call) => *call }
    /// What is remembered: `value -> path` (specification 3.7).
    store -> Store { Store(store) => *store }
    /// A sequence of steps: `a -> b -> c` (specification 3.14).
    chain -> Vec<Spanned<Name>> { Chain(steps) => steps }
    /// `target = value`, `target: value` (specification 3.14.7).
    assignment -> Assignment { Assignment(assignment) => *assignment }
    /// `source AS item INTO target` (specification 3.14.11).
    transform_head -> TransformHead { Transform(head) => *head }
    /// `field ASC`, `field DESC`, `field` (specification 3.14.11).
    sort_by -> SortBy { Sort(sort) => *sort }
    /// `INTENT(a, b) -> alias`, `DEFAULT -> alias` (supervisors).
    routing_rule -> RoutingRule { RoutingRule(rule) => *rule }
    /// `ROUTE_TO x`, `ROUTE_TO_USER "text"`, … (supervisors).
    route_action -> RouteAction { RouteAction(action) => *action }
    /// `FROM a TO b` (supervisors).
    protocol_head -> ProtocolHead { Protocol(head) => *head }
}

#[cfg(test)]
mod tests {
    use super::*;
    use agentir_diagnostics::FileId;

    #[test]
    #[allow(clippy::unwrap_used)]
    fn plain_names_are_read_as_the_grammar_reads_them() {
        for text in ["step_one", "x", "date", "_a1", "Hotel", "user.intent", "a.b.c"] {
            for goal in [Goal::Expr, Goal::Type, Goal::Action, Goal::Call] {
                let leaf = Leaf::verbatim(text, FileId(3), 40);
                let context = Context { leaf };
                let Some(fast) = plain(&context, text, 0, goal) else { continue };
                let slow = grammar::abl_leaf::LeafParser::new()
                    .parse(&context, Lexer::new(text, 0, goal))
                    .unwrap();
                assert_eq!(format!("{fast:?}"), format!("{slow:?}"), "{text} as {goal:?}");
            }
        }
    }
}
