//! Conditions and guards.

use super::scope::Scope;
use super::{Run, check_error};
use crate::host::Clock;
use crate::session::RuntimeError;
use crate::trace::EventKind;
use agentir_diagnostics::Span;
use agentir_expr::{Condition, ConditionKind};
use agentir_flow::cfg::{Guard, Test};
use petgraph::graph::NodeIndex;
use serde_json::Value as Json;

/// Why a check is refused in which a text stands for a condition.
pub(super) const TEXT_AS_CONDITION: &str = "a quoted string is not a condition";

impl<'p> Run<'_, 'p, '_> {
    pub(super) fn scope(&self) -> Scope<'_> {
        let others = self.traits().reads_other_agents;
        let clock = self.stopped.as_ref().map_or(self.host.clock, |clock| clock as &dyn Clock);
        Scope::new(self.session, &self.locals, clock, self.outputs(), others, self.agent().ok())
    }

    /// In how many callbacks of actions a node is.
    pub(super) fn callbacks(&self, node: u32) -> usize {
        let node = self.machine.cfg.node(NodeIndex::new(node as usize));
        node.map_or(0, |node| node.callbacks)
    }

    /// The outputs of the action in whose callback the agent is.
    pub(super) fn outputs(&self) -> Option<&Json> {
        let frame = self.session.stack.last()?;
        frame.outputs.get(self.callbacks(frame.node).checked_sub(1)?)
    }

    /// Whether all assertions of a guard hold.
    pub(super) fn guard_holds(&mut self, guard: Guard) -> Result<bool, RuntimeError> {
        for literal in self.machine.cfg.guard(guard) {
            if self.test(&literal.test)? != literal.holds {
                return Ok(false);
            }
        }
        Ok(true)
    }

    pub(super) fn test(&mut self, test: &Test<'p>) -> Result<bool, RuntimeError> {
        match test {
            Test::Condition(condition) => self.condition(condition),
            Test::Expr(expr) if self.strict && expr.text_as_condition().is_some() => {
                Err(check_error(&expr.to_string(), TEXT_AS_CONDITION))
            }
            Test::Expr(expr) => {
                let dialect = self.dialect();
                match agentir_eval::evaluate(expr, &self.scope(), dialect) {
                    Ok(value) => Ok(agentir_eval::truthy(&value, dialect.semantics())),
                    Err(error) => Err(check_error(&expr.to_string(), &error.to_string())),
                }
            }
        }
    }

    /// Evaluates a condition, or asks the model if it is in natural language. Among alternative
    /// branches each condition is evaluated once, in the state before the branch.
    pub(super) fn condition(&mut self, condition: &'p Condition) -> Result<bool, RuntimeError> {
        let key = condition_key(condition);
        if let Some(known) = self.condition_results.get(&key) {
            return Ok(*known);
        }
        let text = condition.text.value.as_str();
        let (holds, decided_by) = match &condition.kind {
            ConditionKind::Expr(expr) if self.strict && expr.text_as_condition().is_some() => {
                return Err(check_error(text, TEXT_AS_CONDITION));
            }
            ConditionKind::Expr(expr) => {
                let dialect = self.dialect();
                match agentir_eval::evaluate(expr, &self.scope(), dialect) {
                    Ok(value) if agentir_eval::truthy(&value, dialect.semantics()) => {
                        self.store_captures(expr);
                        (true, "expression")
                    }
                    Ok(_) => (false, "expression"),
                    Err(error) if self.strict => return Err(check_error(text, &error.to_string())),
                    Err(error) if dialect.semantics().error_is_false => {
                        let problem = check_error(text, &error.to_string());
                        self.emit(EventKind::Error {
                            kind: problem.kind,
                            message: format!("{}, so it does not hold", problem.message),
                        });
                        (false, "expression")
                    }
                    Err(error) => {
                        let message = format!("`{text}` cannot be evaluated: {error}");
                        return Err(RuntimeError::unknown(message));
                    }
                }
            }
            ConditionKind::Natural => (self.judge_user(text)?, "model"),
            // What was meant is not known, so the model is not asked either.
            ConditionKind::Invalid if self.strict => {
                return Err(check_error(text, "it is not a valid expression"));
            }
            ConditionKind::Invalid if self.dialect().semantics().error_is_false => {
                let problem = check_error(text, "it is not a valid expression");
                self.emit(EventKind::Error {
                    kind: problem.kind,
                    message: format!("{}, so it does not hold", problem.message),
                });
                (false, "expression")
            }
            ConditionKind::Invalid => {
                return Err(RuntimeError::unknown(format!("`{text}` is not a valid expression")));
            }
        };
        self.emit(EventKind::Condition {
            condition: condition.text.value.to_string(),
            holds,
            decided_by,
        });
        self.condition_results.insert(key, holds);
        Ok(holds)
    }
}

/// What identifies a condition: where it is written, and what it says, since lowering may give several conditions the
/// same span.
pub(super) type ConditionKey<'p> = (Span, &'p str);

pub(super) fn condition_key(condition: &Condition) -> ConditionKey<'_> {
    (condition.span(), condition.text.value.as_str())
}
