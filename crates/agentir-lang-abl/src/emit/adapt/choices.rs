//! Guarded choices of the model: a transition that is offered only while a condition holds.
//!
//! In ABL a condition over the state decides alone (current specification, 3.10, `WHEN`), so it must not stand where the
//! model is to choose. The description says when the agent is wanted; the guard becomes a constraint before the call of
//! the tool that hands over, which is one for all agents, and an instruction for each of them. Whether a person is wanted
//! is a variable that the model judges, so there the guard is a part of the condition.

use super::expr::{self, Scope};
use super::label;
use super::reasoning::call_constraint;
use crate::runtime_names::HANDOFF_TOOL;
use agentir_diagnostics::{Span, Spanned};
use agentir_expr::{BinaryOp, Condition, Expr, ExprKind, Literal, Name, Path, Segment, Template};
use agentir_ir::{Agent, CompletionCondition, Constraint, Decider, Instruction, ToolBinding};
use agentir_syntax::emit::Choices;
use smol_str::{SmolStr, format_smolstr};

/// What the model may do while a guard holds, as completes "do not …": `hand over to`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Choice {
    HandOver,
    Ask,
}

impl Choice {
    const fn words(self) -> &'static str {
        match self {
            Self::HandOver => "hand over to",
            Self::Ask => "ask",
        }
    }
}

/// A choice with its guard, in the words of the source.
struct GuardedChoice {
    choice: Choice,
    to: Spanned<Name>,
    guard: Condition,
    span: Span,
}

/// The guarded choices of an agent.
#[derive(Default)]
pub(super) struct GuardedChoices {
    all: Vec<GuardedChoice>,
    /// Whether the model may hand over without a guard, too.
    unguarded_handoffs: bool,
}

/// The condition of a choice of the model without its guard: the description of its tool.
fn words(binding: Option<&ToolBinding>) -> Option<Condition> {
    let described = binding.and_then(|binding| binding.description.as_ref());
    described.filter(|text| !text.text.value.trim().is_empty()).map(Condition::words)
}

/// The guard of a choice of the model.
fn guard(when: Option<&Condition>, binding: Option<&ToolBinding>) -> Option<Condition> {
    match binding {
        Some(binding) => binding.available_when.clone(),
        None => when.filter(|when| when.expr().is_some()).cloned(),
    }
}

/// Takes the guards out of the conditions of what the model decides about.
pub(super) fn take_guards(agent: &mut Agent) -> GuardedChoices {
    let mut found = GuardedChoices::default();
    let beside = Choices::of(agent);
    let by_model = |decided_by: Decider| decided_by == Decider::Model;
    let (mut handoffs, mut delegates, mut triggers) = (Vec::new(), Vec::new(), Vec::new());
    for (handoff, binding) in agent.coordination.handoffs.iter().zip(&beside.handoffs) {
        let guard = guard(handoff.when.as_ref(), *binding).filter(|_| by_model(handoff.decided_by));
        found.unguarded_handoffs |= guard.is_none() && by_model(handoff.decided_by);
        handoffs.push(guard.map(|guard| {
            let (choice, to) = (Choice::HandOver, handoff.to.clone());
            found.all.push(GuardedChoice { choice, to, guard, span: handoff.span });
            words(*binding)
        }));
    }
    for (delegate, binding) in agent.coordination.delegates.iter().zip(&beside.delegates) {
        let guard =
            guard(delegate.when.as_ref(), *binding).filter(|_| by_model(delegate.decided_by));
        delegates.push(guard.map(|guard| {
            let (choice, to) = (Choice::Ask, delegate.agent.clone());
            found.all.push(GuardedChoice { choice, to, guard, span: delegate.span });
            words(*binding)
        }));
    }
    let all = agent.coordination.escalation.iter().flat_map(|e| &e.triggers);
    for (trigger, binding) in all.zip(&beside.triggers) {
        let guard = guard(trigger.when.as_ref(), *binding).filter(|_| by_model(trigger.decided_by));
        let when = guard.and_then(|guard| person_is_wanted(&guard, trigger.span));
        let described = binding.and_then(|binding| binding.description.as_ref());
        triggers.push(when.map(|when| (when, described.cloned())));
    }
    let ends: Vec<Option<Instruction>> = agent
        .completion
        .conditions
        .iter()
        .zip(&beside.completions)
        .map(|(done, binding)| end(done, (*binding)?))
        .collect();
    let c = &mut agent.coordination;
    for (handoff, when) in c.handoffs.iter_mut().zip(handoffs) {
        if let Some(when) = when {
            handoff.when = when;
        }
    }
    for (delegate, when) in c.delegates.iter_mut().zip(delegates) {
        if let Some(when) = when {
            delegate.when = when;
        }
    }
    let all = c.escalation.iter_mut().flat_map(|e| &mut e.triggers);
    for (trigger, when) in all.zip(triggers) {
        if let Some((when, reason)) = when {
            trigger.when = Some(when);
            trigger.reason = trigger.reason.take().or(reason);
        }
    }
    let mut ends = ends.into_iter();
    agent.completion.conditions.retain(|_| match ends.next().flatten() {
        Some(instruction) => {
            agent.identity.instructions.push(instruction);
            false
        }
        None => true,
    });
    found
}

/// The user wants a person, and a guard holds. Conditions of escalations are evaluated, and the model judges this variable
/// (current specification, 3.11.1).
fn person_is_wanted(guard: &Condition, span: Span) -> Option<Condition> {
    let wanted = Path {
        namespace: None,
        root: Spanned::new(Name::new_static("user"), span),
        segments: vec![Segment::Field(Spanned::new(Name::new_static("wants_human_agent"), span))],
    };
    let is_true = ExprKind::Binary {
        op: BinaryOp::Equal,
        left: Box::new(Expr::path(wanted, span)),
        right: Box::new(Expr::literal(Literal::Bool(true), span)),
    };
    let wanted = Expr::new(is_true, span).ok()?;
    Expr::and(wanted, guard.expr()?.clone()).ok().map(expr::of_expr)
}

/// The model ends the conversation while a condition holds: an instruction, since `COMPLETE` would end it as soon as the
/// condition holds.
fn end(done: &CompletionCondition, binding: &ToolBinding) -> Option<Instruction> {
    let guard = binding.available_when.clone().filter(|guard| guard.expr().is_some())?;
    let when = binding.description.as_ref().map(|text| text.text.value.as_str());
    let when = when.unwrap_or("when nothing is left to do");
    let text = format_smolstr!("End the conversation: {when}");
    Some(Instruction { when: Some(guard), text: Template::plain(Spanned::new(text, done.span)) })
}

impl GuardedChoices {
    /// Declares the guards.
    pub(super) fn declare(&self, scope: Scope<'_>, agent: &mut Agent) {
        let mut open: Vec<&GuardedChoice> = self.all.iter().collect();
        let mut handing_over: Vec<Condition> = Vec::new();
        let mut exact = !self.unguarded_handoffs;
        while let Some(first) = open.first().copied() {
            let (same, rest): (Vec<_>, Vec<_>) = open.into_iter().partition(|one| {
                one.choice == first.choice && one.guard.text.value == first.guard.text.value
            });
            open = rest;
            let evaluated = scope.evaluated(&first.guard).filter(|guard| guard.expr().is_some());
            let names: Vec<String> = same.iter().map(|one| format!("`{}`", one.to)).collect();
            let what = format!("{} {}", first.choice.words(), names.join(" or "));
            let (when, text) = match &evaluated {
                Some(guard) => (Some(expr::not(guard)), format_smolstr!("Do not {what} now.")),
                None => {
                    let words = scope.condition(&first.guard).text.value;
                    (None, format_smolstr!("Do not {what} unless {words}."))
                }
            };
            let text = Template::plain(Spanned::new(text, first.span));
            agent.identity.instructions.push(Instruction { when, text });
            if first.choice == Choice::HandOver {
                exact &= evaluated.is_some();
                handing_over.extend(evaluated);
            }
        }
        let Some(span) = handing_over.first().map(Condition::span).filter(|_| exact) else {
            return;
        };
        let mut any = handing_over.iter().filter_map(|guard| guard.expr().cloned());
        let Some(first) = any.next() else { return };
        let Ok(any) = any.try_fold(first, Expr::or) else { return };
        let tool = Spanned::new(SmolStr::new_static(HANDOFF_TOOL), span);
        agent.constraints.constraints.push(Constraint {
            label: Some(Spanned::new(label("handoff"), span)),
            ..call_constraint(expr::of_expr(any), &tool)
        });
    }
}
