//! The last check before a call (ABL, current specification, 3.8 and 3.9).

use super::Run;
use super::checks::action_of;
use super::refusals::{BLOCKED, Verdict};
use crate::host::{FailureKind, ToolFailure};
use crate::json::from_json;
use agentir_eval::Value;
use agentir_expr::Condition;
use agentir_ir::{Checkpoint, Constraint, GuardrailKind, Profile};
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
        // A tool that nobody declares may be this one, written wrongly.
        let platform = self.dialect().runtime().tools;
        let unknown = |tool: &str| {
            self.tool(tool).is_none()
                && self.machine.agent(tool).is_none()
                && platform.iter().all(|(own, _)| *own != tool)
        };
        let before = |c: &Constraint| match &c.checkpoint {
            Some(Checkpoint::ToolCall { target }) if unknown(&target.value) => true,
            _ => c.is_before_call(name) || c.is_before_every_call(),
        };
        for (constraint, profile) in self.constraints_where(before) {
            if constraint.refuses()
                && !self.allows_call(constraint, profile, &arguments_read(constraint, arguments))
            {
                let failure = refused(name, &constraint.condition.text.value);
                let words = constraint.on_fail.as_ref().and_then(|f| f.message.as_ref());
                let message = words.map_or_else(|| failure.message.clone(), |w| self.render(w));
                return Err(ToolFailure { message, ..failure });
            }
        }
        for rail in self.guardrails_of(GuardrailKind::ToolInput) {
            if self.guardrail_passes(rail, &as_text(arguments)) || !self.must_refuse(rail) {
                continue;
            }
            if !matches!(action_of(rail), "redact" | "filter" | "fix") {
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

    /// Whether the model may hand over now: what is checked before the call of the platform's tool for that holds.
    pub(super) fn may_hand_over(&mut self) -> bool {
        let Some(tool) = self.dialect().runtime().handoff_tool else { return true };
        self.constraints_where(|c| c.is_before_call(tool) && c.refuses())
            .into_iter()
            .all(|(constraint, profile)| self.allows_call(constraint, profile, &[]))
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
