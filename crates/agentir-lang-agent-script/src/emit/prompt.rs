//! Emits a conditional prompt: texts under `if` and `else`.
//!
//! Conditions are not nested, since the official tools reject an `if` inside an `if`.

use super::expr;
use super::layout::Writer;
use agentir_expr::{Expr, ExprKind, UnaryOp};
use agentir_ir::Instruction;

/// An open chain of `if`, `else if`, `else`.
#[derive(Default)]
struct Chain<'i> {
    /// The conditions so far.
    conditions: Vec<&'i Expr>,
    /// Whether the chain has an `else` and is complete.
    complete: bool,
}

enum Next<'i> {
    Else,
    ElseIf(&'i Expr),
    If(&'i Expr),
}

fn conjuncts(condition: &Expr) -> Vec<&Expr> {
    match &condition.kind {
        ExprKind::And(parts) => parts.iter().collect(),
        _ => vec![condition],
    }
}

impl<'i> Chain<'i> {
    fn next(&self, when: &'i Expr) -> Next<'i> {
        let parts = conjuncts(when);
        let excluded = |part: &Expr, condition: &Expr| matches!(&part.kind, ExprKind::Unary { op: UnaryOp::Not, operand } if **operand == *condition);
        let follows = !self.conditions.is_empty()
            && !self.complete
            && parts.len() >= self.conditions.len()
            && parts
                .iter()
                .zip(&self.conditions)
                .all(|(part, condition)| excluded(part, condition));
        match parts.get(self.conditions.len()..) {
            Some([]) if follows => Next::Else,
            Some([last]) if follows => Next::ElseIf(last),
            _ => Next::If(when),
        }
    }
}

/// Emits the texts in order.
pub(super) fn instructions(w: &mut Writer, all: &[Instruction]) {
    let mut chain = Chain::default();
    let mut at = 0;
    while let Some(one) = all.get(at) {
        let Some(when) = one.when.as_ref().and_then(|c| c.expr()) else {
            chain = Chain::default();
            w.bar("", &one.text.text.value);
            at += 1;
            continue;
        };
        let head = match chain.next(when) {
            Next::Else => {
                chain.complete = true;
                "else:".to_owned()
            }
            Next::ElseIf(condition) => {
                chain.conditions.push(condition);
                format!("else if {}:", expr::print(condition))
            }
            Next::If(condition) => {
                chain = Chain { conditions: vec![condition], complete: false };
                format!("if {}:", expr::print(condition))
            }
        };
        let same = |i: &&Instruction| i.when.as_ref().and_then(|c| c.expr()) == Some(when);
        let run: Vec<_> = all.iter().skip(at).take_while(same).collect();
        at += run.len();
        w.block(head, |w| run.iter().for_each(|i| w.bar("", &i.text.text.value)));
    }
}
