//! Differences in truthiness: conditions that are written alike in two languages but differ in what
//! counts as true.
//!
//! The string `"false"` is falsy in one language and truthy in another
//! ([`Semantics::false_text_is_falsy`](agentir_expr::dialect::Semantics)). A condition that tests the truthiness
//! of a value differs if the value is that string.

use agentir_diagnostics::Span;
use agentir_expr::{Expr, ExprKind, Name, UnaryOp};
use agentir_ir::{Node, Program};
use agentir_syntax::emit::Target;
use rustc_hash::FxHashSet;

/// How such a condition differs.
pub(crate) const HOW: &str =
    "the text `\"false\"` counts as false in one of the two languages, and as true in the other";

/// What can be done about it.
pub(crate) const HELP: &str = "compare with `\"false\"` where the value may be this text";

/// The spans of conditions that test the truthiness of a possible string, if the target treats
/// `"false"` differently.
pub(crate) fn differing_conditions(program: &Program, target: Target) -> FxHashSet<Span> {
    let there = target.dialect().semantics().false_text_is_falsy;
    let mut found = FxHashSet::default();
    let others: FxHashSet<Name> = program.agents().flat_map(non_string_variables).collect();
    for agent in program.agents() {
        if agent.metadata.dialect.semantics().false_text_is_falsy == there {
            continue;
        }
        agent.walk(&mut |node| {
            if let Node::Condition(condition, _) = node
                && condition.expr().is_some_and(|e| tests_truthiness(e, &others))
            {
                found.insert(condition.span());
            }
        });
    }
    found
}

/// The variables of an agent that are declared with a type other than string.
fn non_string_variables(agent: &agentir_ir::Agent) -> Vec<Name> {
    const OTHERS: &[&str] = &[
        "boolean", "bool", "number", "integer", "int", "long", "float", "double", "currency",
        "object",
    ];
    let other = |name: &str| OTHERS.contains(&name.to_lowercase().as_str());
    let session = agent.memory.session.iter().filter(|v| {
        // A list type has no name.
        v.ty.as_ref().is_some_and(|ty| ty.name().is_none_or(other))
    });
    let fields = agent.gather.fields.iter();
    let fields = fields.filter(|f| f.ty.as_ref().is_some_and(|ty| other(&ty.value)));
    let names = session.map(|v| &v.name).chain(fields.map(|f| &f.name));
    names.map(|name| name.value.clone()).collect()
}

/// Whether a condition, or an operand that decides it, is a value that may be a string.
fn tests_truthiness(e: &Expr, others: &FxHashSet<Name>) -> bool {
    match &e.kind {
        ExprKind::And(parts) | ExprKind::Or(parts) => {
            parts.iter().any(|part| tests_truthiness(part, others))
        }
        ExprKind::Unary { op: UnaryOp::Not, operand } => tests_truthiness(operand, others),
        ExprKind::Path(path) => !path.segments.is_empty() || !others.contains(&path.root.value),
        ExprKind::Member { .. } | ExprKind::Subscript { .. } => true,
        _ => false,
    }
}
