//! The last check before a call (ABL, current specification, 3.8 and 3.9).

use super::Run;
use super::refusals::BLOCKED;
use super::verdicts::Verdict;
use crate::host::{FailureKind, ToolFailure};
use crate::json::from_json;
use agentir_eval::Value;
use agentir_expr::Condition;
use agentir_ir::{Constraint, GuardrailKind, Profile};
use serde_json::{Map, Value as Json};
use smol_str::SmolStr;

impl<'p> Run<'_, 'p, '_> {
    /// The last check before a call, whatever led to it, and the arguments as guardrails have changed them. The graph
    /// has the checks, too, with their consequences; here a call cannot be reached without them.
    pub(super) fn authorize(
        &mut self,
        name: &str,
        arguments: &mut Map<String, Json>,
    ) -> Result<(), ToolFailure> {
        let routing = self.agent().ok().and_then(|agent| agent.routing.as_ref());
        if routing.is_some_and(|all| all.forbidden_actions.iter().any(|one| one.value == name)) {
            let why = format!("the call of `{name}` is refused: it is among `forbiddenActions`");
            let failure = ToolFailure::new(FailureKind::Refused, BLOCKED);
            return Err(ToolFailure { for_developers: Some(why.into()), ..failure });
        }
        if let Some(failure) = self.refused_by_constraint(&[name], arguments) {
            return Err(failure);
        }
        for rail in self.guardrails_of(GuardrailKind::ToolInput) {
            if self.guardrail_passes(rail, &as_text(arguments)) || !self.must_refuse(rail) {
                continue;
            }
            if !matches!(rail.action_type(), "redact" | "filter" | "fix") {
                return Err(refused(name, &rail.name.value));
            }
            for value in arguments.values_mut() {
                super::checks::filter_strings(rail, value);
            }
            if rail.check.is_none() || self.guardrail_passes(rail, &as_text(arguments)) {
                continue;
            }
            return Err(refused(name, &rail.name.value));
        }
        Ok(())
    }

    /// Whether a constraint has to hold before a call, or before an agent takes over, by one of its names. What nobody
    /// declares may be this one, written wrongly.
    fn guards(&self, constraint: &Constraint, names: &[&str]) -> bool {
        constraint.refuses()
            && (names.iter().any(|name| constraint.is_before_call(name))
                || self.is_before_every_call(constraint))
    }

    /// Why a constraint before a call, or before an agent takes over, refuses it. The first name is that of the tool or the
    /// agent; an agent takes no arguments.
    pub(super) fn refused_by_constraint(
        &mut self,
        names: &[&str],
        arguments: &Map<String, Json>,
    ) -> Option<ToolFailure> {
        for (constraint, profile) in self.constraints_where(|c| self.guards(c, names)) {
            if !self.allows_call(constraint, profile, &arguments_read(constraint, arguments)) {
                let name = names.first().copied().unwrap_or_default();
                let failure = refused(name, &constraint.condition.text.value);
                let message = constraint.on_fail.as_ref().and_then(|f| f.message.as_ref());
                let message = message.map_or_else(|| failure.message.clone(), |m| self.render(m));
                return Some(ToolFailure { message, ..failure });
            }
        }
        None
    }

    /// Whether the model may hand over now: what is checked before the call of the platform's tool for that holds.
    pub(super) fn may_hand_over(&mut self) -> bool {
        let Some(tool) = self.dialect().runtime().handoff_tool else { return true };
        self.refused_by_constraint(&[tool], &Map::new()).is_none()
    }

    /// Whether a constraint before a call holds: with the variables, and with the values that the call carries under
    /// their names.
    fn allows_call(
        &mut self,
        constraint: &'p Constraint,
        profile: Option<&'p Profile>,
        arguments: &[(SmolStr, Value)],
    ) -> bool {
        self.constraint_verdict(constraint, profile) == Verdict::Passes
            && (arguments.is_empty()
                || self.with_arguments(arguments, |run| {
                    run.constraint_verdict(constraint, profile) == Verdict::Passes
                }))
    }

    /// Evaluates something with the arguments of a call in place of the variables of their names.
    pub(super) fn with_arguments<T>(
        &mut self,
        arguments: &[(SmolStr, Value)],
        evaluate: impl FnOnce(&mut Self) -> T,
    ) -> T {
        let mark = self.locals.len();
        self.condition_results.clear();
        self.locals.extend_from_slice(arguments);
        let result = evaluate(self);
        self.locals.truncate(mark);
        self.condition_results.clear();
        result
    }
}

fn refused(name: &str, rule: &str) -> ToolFailure {
    let why = format!("the call of `{name}` is refused by `{rule}`");
    ToolFailure {
        for_developers: Some(why.into()),
        ..ToolFailure::new(FailureKind::Refused, BLOCKED)
    }
}

fn as_text(arguments: &Map<String, Json>) -> String {
    serde_json::to_string(arguments).unwrap_or_default()
}

/// The arguments of a call whose names a constraint reads.
pub(super) fn arguments_read(
    constraint: &Constraint,
    arguments: &Map<String, Json>,
) -> Vec<(SmolStr, Value)> {
    let mut read = Vec::new();
    for condition in [Some(&constraint.condition), constraint.applies_when.as_ref()] {
        let Some(expr) = condition.and_then(Condition::expr) else { continue };
        expr.paths(&mut |path| {
            let name = &path.root.value;
            let known = path.namespace.is_some() || read.iter().any(|(n, _)| n == name);
            if let Some(value) = arguments.get(name.as_str()).filter(|_| !known)
                && let Ok(value) = from_json(value)
            {
                read.push((name.clone(), value));
            }
        });
    }
    read
}
