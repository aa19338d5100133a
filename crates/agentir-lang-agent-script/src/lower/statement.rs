//! Lowers statements, and the prompts they build (specification part I, 5).

use super::{Source, data};
use crate::dialect;
use crate::{self as script, Branch as Arm, Procedure, StatementKind, Target};
use agentir_diagnostics::{Span, Spanned};
use agentir_expr::{Argument, Condition, ConditionKind, Expr, ExprKind, UnaryOp};
use agentir_ir::{
    Body, Branch, Call, Collect, Data, Decider, Delegation, Extensions, Gather, GatherField,
    Instruction, SetVariable, Statement,
};
use agentir_syntax::lower::required_field;
use smol_str::SmolStr;

/// A condition with its source text.
pub(super) fn condition(expr: &Expr, source: Source<'_>) -> Condition {
    Condition {
        text: Spanned::new(SmolStr::new(source.slice(expr.span)), expr.span),
        kind: ConditionKind::Expr(expr.clone()),
    }
}

/// A synthesised condition, with its printed text.
fn synthesised(expr: Expr) -> Condition {
    let text = Spanned::new(SmolStr::new(expr.to_string()), expr.span);
    Condition { text, kind: ConditionKind::Expr(expr) }
}

/// The conjunction of conditions; `None` if there are none or it would nest too deep.
pub(super) fn conjunction(exprs: &[Expr], source: Source<'_>) -> Option<Condition> {
    let (first, rest) = exprs.split_first()?;
    if rest.is_empty() && !matches!(first.kind, ExprKind::Unary { op: UnaryOp::Not, .. }) {
        return Some(condition(first, source));
    }
    let all = rest.iter().try_fold(first.clone(), |all, one| Expr::and(all, one.clone()).ok())?;
    Some(synthesised(all))
}

/// The name a reference refers to.
pub(super) fn named(expr: &Expr, namespace: &[&str]) -> Option<Spanned<agentir_expr::Name>> {
    let path = expr.as_path()?;
    let found = path.namespace.as_ref().is_some_and(|n| namespace.contains(&n.value.as_str()));
    found.then(|| path.root.clone())
}

pub(super) fn body(statements: Vec<script::Statement<'_>>, source: Source<'_>) -> Body {
    lower_body(statements, source, Decider::Always)
}

/// Lowers statements; `decider` is who decides that they are reached.
fn lower_body(
    statements: Vec<script::Statement<'_>>,
    source: Source<'_>,
    decider: Decider,
) -> Body {
    let mut out = Vec::with_capacity(statements.len());
    for one in statements {
        statement(one, source, decider, &mut out);
    }
    Body(out)
}

/// A statement that is misplaced or could not be parsed, preserved as source text.
fn preserved(keyword: &str, span: Span, source: Source<'_>) -> Statement {
    let value = Data::from(source.dedented(span));
    Statement::Other { keyword: SmolStr::new(keyword), value, span }
}

fn statement(
    one: script::Statement<'_>,
    source: Source<'_>,
    decider: Decider,
    out: &mut Vec<Statement>,
) {
    let span = one.span;
    match one.kind {
        StatementKind::Template(text) => {
            out.push(Statement::Instruct { text: data::template(&text) });
        }
        StatementKind::Set { target, value } => {
            out.push(Statement::Set(SetVariable { target: target.value, value, span }));
        }
        StatementKind::Run { action, with, body } => match named(&action, &["actions"]) {
            Some(tool) => out.push(Statement::Call(Box::new(Call {
                has_arguments: true,
                on_success: lower_body(body, source, decider),
                ..Call::new(tool, with.into_iter().map(argument).collect(), span)
            }))),
            None => out.push(preserved("run", span, source)),
        },
        StatementKind::If { branches, otherwise } => {
            out.push(Statement::If { branches: arms(branches, otherwise, span, source) });
        }
        StatementKind::Transition { targets, with, body } => {
            handoffs(&targets, decider, out);
            if targets.is_empty() || !with.is_empty() {
                out.push(preserved("transition", span, source));
            }
            out.extend(lower_body(body, source, decider).0);
        }
        StatementKind::Collect { target, form: _, properties } => {
            out.push(collect(target, properties, span, source));
        }
        // `to @subagent.x` on its own line below a `run` is the target.
        StatementKind::To(targets) if !targets.is_empty() => handoffs(&targets, decider, out),
        StatementKind::To(_) => out.push(preserved("to", span, source)),
        StatementKind::With(_) => out.push(preserved("with", span, source)),
        StatementKind::Available(_) => out.push(preserved("available", span, source)),
        StatementKind::Expr(_) => out.push(preserved("expression", span, source)),
        StatementKind::Data(_) => out.push(preserved("data", span, source)),
        StatementKind::Invalid(..) => out.push(preserved("invalid", span, source)),
    }
}

fn handoffs(targets: &[Target], decider: Decider, out: &mut Vec<Statement>) {
    for target in targets {
        out.push(Statement::Handoff(Delegation {
            agent: target.value.root.clone(),
            returns: None,
            decided_by: decider,
            bindings: Vec::new(),
        }));
    }
}

fn argument(a: script::Argument) -> Argument {
    Argument { name: Some(a.name), value: a.value }
}

fn arms(
    branches: Vec<Arm<'_>>,
    otherwise: Option<Vec<script::Statement<'_>>>,
    span: Span,
    source: Source<'_>,
) -> Vec<Branch> {
    let mut all: Vec<Branch> = branches
        .into_iter()
        .map(|arm| {
            let condition = match &arm.condition {
                Some(expr) => condition(expr, source),
                // The condition could not be parsed, so it is unknown when it holds.
                None => Condition {
                    text: Spanned::new(SmolStr::default(), arm.span.at_start()),
                    kind: ConditionKind::Invalid,
                },
            };
            let mut extensions = Extensions::default();
            if arm.condition.is_none() {
                let line = source.slice(arm.span).lines().next().unwrap_or_default();
                extensions.insert(dialect::AGENT_SCRIPT.id(), "if", Data::from(line), arm.span);
            }
            Branch {
                condition: Some(condition),
                body: lower_body(arm.body, source, Decider::Condition),
                extensions,
                span: arm.span,
            }
        })
        .collect();
    if let Some(otherwise) = otherwise {
        let span = match (otherwise.first(), otherwise.last()) {
            (Some(first), Some(last)) => first.span.to(last.span),
            _ => span,
        };
        all.push(Branch {
            condition: None,
            body: lower_body(otherwise, source, Decider::Condition),
            extensions: Extensions::default(),
            span,
        });
    }
    all
}

/// `collect @variables.x`, `ask for @variables.x`: the conversation waits until the variable has a value. A `message` is
/// what the user is asked; `instructions` say how to ask, so they are for the model.
fn collect(
    target: Target,
    properties: script::Record<'_>,
    span: Span,
    source: Source<'_>,
) -> Statement {
    let mut fields = super::fields::Fields::new(properties, source);
    let prompt = fields.template("message");
    let description = fields.template("instructions");
    let mut field = GatherField { span, ..required_field(target.value.root.clone()) };
    field.prompt = prompt;
    field.description = description;
    field.extensions = fields.into_extensions();
    let gather = Gather { fields: vec![field], ..Gather::default() };
    Statement::Collect(Collect {
        present: None,
        gather,
        corrections: None,
        complete_when: None,
        on_success: Body::default(),
        on_failure: Body::default(),
        span,
    })
}

/// A prompt: texts with their conditions; or, if it has side effects or too many branches, its statements
/// in order.
pub(super) fn prompt(procedure: Procedure<'_>, source: Source<'_>) -> (Vec<Instruction>, Body) {
    let mut budget = MAX_CONDITIONS;
    let mut instructions = Vec::new();
    let known = &mut Vec::new();
    if flatten(&procedure.statements, known, &mut budget, source, &mut instructions).is_some() {
        (instructions, Body::default())
    } else {
        (Vec::new(), body(procedure.statements, source))
    }
}

/// The maximum number of conditions repeated for the texts they guard; a prompt with more is lowered
/// as statements. Without a bound, `else if` chains would grow quadratically.
const MAX_CONDITIONS: usize = 256;

fn flatten(
    statements: &[script::Statement<'_>],
    known: &mut Vec<Expr>,
    budget: &mut usize,
    source: Source<'_>,
    out: &mut Vec<Instruction>,
) -> Option<()> {
    for one in statements {
        match &one.kind {
            StatementKind::Template(text) => {
                *budget = budget.checked_sub(known.len())?;
                let when = conjunction(known, source);
                if when.is_none() && !known.is_empty() {
                    return None;
                }
                out.push(Instruction { when, text: data::template(text) });
            }
            StatementKind::If { branches, otherwise } => {
                let before = known.len();
                for arm in branches {
                    let condition = arm.condition.clone()?;
                    let span = condition.span;
                    // The condition of an empty branch would be lost.
                    if arm.body.is_empty() {
                        return None;
                    }
                    known.push(condition.clone());
                    flatten(&arm.body, known, budget, source, out)?;
                    known.pop();
                    let kind = ExprKind::Unary { op: UnaryOp::Not, operand: Box::new(condition) };
                    known.push(Expr::new(kind, span).ok()?);
                    *budget = budget.checked_sub(1)?;
                }
                if let Some(otherwise) = otherwise {
                    flatten(otherwise, known, budget, source, out)?;
                }
                known.truncate(before);
            }
            _ => return None,
        }
    }
    Some(())
}
