//! Guarded choices of the model: a transition that is offered only while a condition holds.
//!
//! In ABL a condition over the state decides alone (current specification, 3.10, `WHEN`), so it must not stand where the
//! model is to choose. The description says when the agent is wanted; the guard becomes a constraint before the agent,
//! which holds for every way there, and an instruction. Whether a person is wanted is a variable that the model judges, so
//! there the guard is a part of the condition.

use super::expr::{self, Scope};
use super::label;
use super::reasoning::call_constraint;
use agentir_diagnostics::{Span, Spanned};
use agentir_expr::{BinaryOp, Condition, Expr, ExprKind, Literal, Name, Path, Segment, Template};
use agentir_ir::{
    Agent, CompletionCondition, Constraint, Decider, Handoff, Instruction, Statement, ToolBinding,
};
use agentir_syntax::emit::Choices;
use rustc_hash::FxHashSet;
use smol_str::format_smolstr;

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
    /// Where the guarded ones stand among the agent's handoffs, and among its delegations.
    handoffs: FxHashSet<usize>,
    delegates: FxHashSet<usize>,
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
    for (at, (handoff, binding)) in
        agent.coordination.handoffs.iter().zip(&beside.handoffs).enumerate()
    {
        let guard = guard(handoff.when.as_ref(), *binding).filter(|_| by_model(handoff.decided_by));
        handoffs.push(guard.map(|guard| {
            found.handoffs.insert(at);
            let (choice, to) = (Choice::HandOver, handoff.to.clone());
            found.all.push(GuardedChoice { choice, to, guard, span: handoff.span });
            words(*binding)
        }));
    }
    for (at, (delegate, binding)) in
        agent.coordination.delegates.iter().zip(&beside.delegates).enumerate()
    {
        let guard =
            guard(delegate.when.as_ref(), *binding).filter(|_| by_model(delegate.decided_by));
        delegates.push(guard.map(|guard| {
            found.delegates.insert(at);
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
    let text = match when {
        Some(when) => format_smolstr!("End the conversation when this is the case: {when}"),
        None => "End the conversation when nothing is left to do".into(),
    };
    Some(Instruction { when: Some(guard), text: Template::plain(Spanned::new(text, done.span)) })
}

impl GuardedChoices {
    /// Tells the model what it may not choose now.
    pub(super) fn tell(&self, scope: Scope<'_>, agent: &mut Agent) {
        let mut open: Vec<&GuardedChoice> = self.all.iter().collect();
        while let Some(first) = open.first().copied() {
            let (same, rest): (Vec<_>, Vec<_>) = open.into_iter().partition(|one| {
                one.choice == first.choice && one.guard.text.value == first.guard.text.value
            });
            open = rest;
            let names: Vec<String> = same.iter().map(|one| format!("`{}`", one.to)).collect();
            let what = format!("{} {}", first.choice.words(), names.join(" or "));
            let (when, text) = match evaluated(scope, first) {
                Some(guard) => (Some(expr::not(&guard)), format_smolstr!("Do not {what} now.")),
                None => {
                    let words = scope.condition(&first.guard).text.value;
                    (None, format_smolstr!("Do not {what} unless {words}."))
                }
            };
            let text = Template::plain(Spanned::new(text, first.span));
            agent.identity.instructions.push(Instruction { when, text });
        }
    }

    /// Declares for each agent that is only reached under conditions that one of them holds. `gates` are handoffs that the
    /// agent gets, too.
    pub(super) fn constrain(&self, scope: Scope<'_>, agent: &mut Agent, gates: &[Handoff]) {
        let mut done: FxHashSet<&Name> = FxHashSet::default();
        let mut constraints: Vec<Constraint> = Vec::new();
        for GuardedChoice { to, span, .. } in &self.all {
            if !done.insert(&to.value) {
                continue;
            }
            let own = self.all.iter().filter(|one| one.to.value == to.value);
            let own = own.map(|one| evaluated(scope, one)?.expr().cloned());
            let Some(any) = own.chain(self.other_ways(agent, gates, &to.value)).collect() else {
                continue;
            };
            let Some(condition) = either(any) else { continue };
            let place = Spanned::new(to.value.clone(), *span);
            let label = Some(Spanned::new(label(&to.value), *span));
            constraints.push(Constraint { label, ..call_constraint(condition, &place) });
        }
        agent.constraints.constraints.extend(constraints);
    }

    /// The conditions of the other ways of an agent to `to`; none where nothing is known of one.
    fn other_ways<'w>(
        &'w self,
        agent: &'w Agent,
        gates: &'w [Handoff],
        to: &'w Name,
    ) -> impl Iterator<Item = Option<Expr>> + 'w {
        let c = &agent.coordination;
        let handoffs = c.handoffs.iter().enumerate().filter(|(at, _)| !self.handoffs.contains(at));
        let handoffs = handoffs.map(|(_, handoff)| handoff).chain(gates);
        let handoffs = handoffs.filter(move |handoff| handoff.to.value == *to);
        let delegates =
            c.delegates.iter().enumerate().filter(|(at, _)| !self.delegates.contains(at));
        let delegates =
            delegates.map(|(_, delegate)| delegate).filter(move |one| one.agent.value == *to);
        let conditions = handoffs.map(|one| one.when.as_ref());
        let conditions = conditions.chain(delegates.map(|one| one.when.as_ref()));
        let in_bodies = agent.hooks.iter().any(|(_, hook)| leads_to(&hook.body.0, to))
            || agent.on_start.0.iter().any(|one| leads_to(std::slice::from_ref(one), to));
        // A tool of this name would be guarded, too.
        let unknown = in_bodies || agent.tools.iter().any(|tool| tool.name.value == *to);
        conditions
            .map(|when| when?.expr().cloned())
            .chain(std::iter::repeat_n(None, usize::from(unknown)))
    }
}

/// The guard in ABL's words, if it is evaluated there.
fn evaluated(scope: Scope<'_>, choice: &GuardedChoice) -> Option<Condition> {
    scope.evaluated(&choice.guard).filter(|guard| guard.expr().is_some())
}

/// Whether a statement hands over to an agent.
fn leads_to(statements: &[Statement], to: &Name) -> bool {
    statements.iter().any(|one| match one {
        Statement::Handoff(way) | Statement::Delegate(way) => way.agent.value == *to,
        Statement::If { branches } => branches.iter().any(|b| leads_to(&b.body.0, to)),
        Statement::Call(call) => leads_to(&call.on_success.0, to),
        _ => false,
    })
}

/// One of several conditions, each named once.
fn either(all: Vec<Expr>) -> Option<Condition> {
    let mut different: Vec<Expr> = Vec::with_capacity(all.len());
    for one in all {
        if !different.contains(&one) {
            different.push(one);
        }
    }
    let mut all = different.into_iter();
    let first = all.next()?;
    all.try_fold(first, Expr::or).ok().map(expr::of_expr)
}
