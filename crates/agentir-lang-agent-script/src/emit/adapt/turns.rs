//! What a flow does around each turn.
//!
//! A turn of a flow passes through several subagents, and each has its own `before_reasoning` and `after_reasoning`. A
//! variable says whether what comes before the turn is done; the subagent that ends the turn does what comes after it.
//! A transition ends a procedure, so its end is only reached where the turn ends.

use super::Adapter;
use super::exposed_tools::{after_turn, before_turn, boolean, branch, set};
use super::expr::{self, not};
use super::order;
use agentir_ir::{Agent, Hook, Statement};

/// Whether a hook of a subagent always leads on to another one.
fn leads_on(hook: Option<&Hook>) -> bool {
    hook.and_then(|hook| hook.body.0.last()).is_some_and(order::diverges)
}

impl Adapter<'_> {
    /// Adds what `agent` does around its turns to a subagent of its flow. `begins` is whether a conversation begins there;
    /// elsewhere a turn begins where another one has ended.
    pub(super) fn turn_hooks(&mut self, agent: &Agent, begins: bool, new: &mut Agent) {
        let hooks = [new.hooks.before_turn.as_ref(), new.hooks.after_turn.as_ref()];
        let passes = hooks.into_iter().any(leads_on);
        if let Some(hook) = agent.hooks.before_turn.as_ref().filter(|_| begins || !passes) {
            let mut done = self.effects(&hook.body.0, new);
            if !done.is_empty() {
                let own = self.agent_name(&agent.metadata.name.value, None);
                let flag = self.flag(&format!("{own}_turn_begun"));
                done.push(set(&flag, boolean(true)));
                let unset = not(expr::reference("variables", &flag));
                // What a conversation begins with is done first.
                let before = before_turn(new);
                let leads = before.iter().position(order::diverges);
                let at = if begins { leads.unwrap_or(before.len()) } else { 0 };
                before.insert(at, Statement::If { branches: vec![branch(unset, done)] });
                if !self.turn_flags.contains(&flag) {
                    self.turn_flags.push(flag);
                }
            }
        }
        if let Some(hook) = agent.hooks.after_turn.as_ref().filter(|_| !passes) {
            let done = self.effects(&hook.body.0, new);
            if !done.is_empty() {
                after_turn(new).extend(done);
            }
        }
    }

    /// Says where turns end, in the subagents of all agents, that the next one has not begun.
    pub(super) fn end_turns(&mut self) {
        for new in &mut self.out {
            let hooks = [new.hooks.before_turn.as_ref(), new.hooks.after_turn.as_ref()];
            if hooks.into_iter().any(leads_on) {
                continue;
            }
            for flag in &self.turn_flags {
                after_turn(new).push(set(flag, boolean(false)));
            }
        }
    }
}
