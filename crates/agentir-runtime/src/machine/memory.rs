//! Long-term memory: storing values with an optional lifetime, and recalling them (ABL, current
//! specification, 3.7.2 to 3.7.4).

use super::Run;
use super::scope::declared_access;
use crate::json::{from_json, to_json, to_stored_json};
use crate::session::{Frame, MemoryWrite, RuntimeError, append};
use crate::trace::EventKind;
use agentir_eval::Value;
use agentir_expr::Name;
use agentir_ir::{Agent, SessionVariable, StoredValue};
use rustc_hash::FxHashSet;
use smol_str::SmolStr;

impl Run<'_, '_, '_> {
    /// Forgets what tools returned in an earlier activation of the agent, whose fields are new as well; what a caller was
    /// told remains.
    pub(super) fn forget_results(&mut self) -> Result<(), RuntimeError> {
        let (program, agent) = (self.machine.program, self.agent()?);
        let callers = self.session.stack.iter().rev().skip(1);
        let callers = callers.filter_map(|frame| program.agent(&frame.agent));
        let known: FxHashSet<&Name> = callers.flat_map(tools_of).collect();
        for tool in tools_of(agent).filter(|tool| !known.contains(tool)) {
            self.session.system.set(format!("last_{tool}_result"), Value::Undefined);
        }
        Ok(())
    }

    /// Stores what the agent remembers at the end of a turn, where it ends before that.
    pub(super) fn remember_all(&mut self) -> Result<(), RuntimeError> {
        let rules = self.agent()?.memory.remember.iter();
        for rule in rules {
            let applies = match &rule.when {
                Some(when) => self.condition(when)?,
                None => true,
            };
            if let Some(store) = rule.store.as_ref().filter(|_| applies) {
                let ttl = rule.ttl.as_ref();
                let ttl = ttl.and_then(|ttl| super::tool_calls::parse_duration_ms(&ttl.value));
                self.store(store, ttl);
            }
        }
        Ok(())
    }

    /// Stores a value, with an optional lifetime in milliseconds.
    pub(super) fn store(&mut self, store: &StoredValue, ttl: Option<f64>) {
        let Some(target) = &store.target else { return };
        let value = store.value.as_ref().and_then(|e| self.value(e).ok()).unwrap_or_default();
        let path = target.value.trim_end_matches(".*");
        if self.is_write_protected(path) {
            return;
        }
        let shown = self.masked(path, &to_json(&value));
        let kept = match (store.operation, self.session.memory.get(path).cloned()) {
            (Some("append"), old) => {
                let mut items = match old {
                    Some(Value::List(list)) => list.items().to_vec(),
                    _ => Vec::new(),
                };
                let unique = store.unique == Some(true);
                #[expect(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "clamped"
                )]
                let max_size = store.max_size.map(|most| most.0.clamp(0.0, 1e6) as usize);
                let write = MemoryWrite::Append { value: to_json(&value), unique, max_size };
                self.session.memory_writes.entry(path.to_owned()).or_default().push(write);
                append(&mut items, value, unique, max_size);
                Value::list(items).unwrap_or_default()
            }
            _ => {
                let writes = vec![MemoryWrite::Set(to_json(&value))];
                self.session.memory_writes.insert(path.to_owned(), writes);
                value
            }
        };
        self.session.memory.set(SmolStr::new(path), kept);
        match ttl {
            Some(ttl) => {
                #[expect(clippy::cast_possible_truncation, reason = "clamped")]
                let ttl = ttl.clamp(0.0, 1e15) as i64;
                let until = self.host.clock.now().saturating_add(ttl);
                self.session.expires.insert(path.to_owned(), until);
            }
            None => {
                self.session.expires.remove(path);
            }
        }
        self.emit(EventKind::Remember { path: path.to_owned(), value: shown });
    }

    /// Keeps the session variables of an agent that ends, for when it is entered again: those that
    /// "initialize once" (`RESET: per_session`), and those that are never reset (current
    /// specification, 3.7.2).
    pub(super) fn keep_variables(&mut self, frame: &Frame) {
        let Some(agent) = self.machine.agent(&frame.agent) else { return };
        for variable in agent.memory.session.iter().filter(|v| is_kept(v)) {
            if let Some(value) = frame.variables.get(&variable.name.value) {
                let kept = self.session.kept.entry(frame.agent.clone()).or_default();
                kept.insert(variable.name.value.to_string(), to_stored_json(value));
            }
        }
    }

    /// The value that a session variable had when its agent ended.
    pub(super) fn kept_value(&self, agent: &str, variable: &SessionVariable) -> Option<Value> {
        let value = self.session.kept.get(agent)?.get(variable.name.value.as_str())?;
        from_json(value).ok().filter(|_| is_kept(variable))
    }

    /// Recalls values and instructions for the model when an event occurs.
    pub(super) fn recall(&mut self, event: &str) {
        let Ok(agent) = self.agent() else { return };
        for recall in &agent.memory.recall {
            let pattern = recall.event.value.as_str();
            let fits = match pattern.split_once('*') {
                Some((start, end)) => event.starts_with(start) && event.ends_with(end),
                None => pattern == event,
            };
            if !fits {
                continue;
            }
            let text = match &recall.action {
                Some(agentir_ir::RecallAction::PromptLlm { instruction }) => Some(instruction),
                _ => recall.instruction.as_ref(),
            };
            if let Some(text) = text {
                let text = self.render(text);
                self.frame().recalled.push(text);
            }
            if let Some(agentir_ir::RecallAction::InjectContext { paths }) = &recall.action {
                for path in paths {
                    let readable = declared_access(agent, &path.value) != Some("write");
                    let value = self.session.memory.get(&path.value).filter(|_| readable);
                    if let Some(value) = value.cloned() {
                        let line = format!("{}: {}", path.value, value);
                        self.frame().recalled.push(line);
                    }
                }
            }
        }
    }
}

/// Whether a session variable of an agent survives the agent's end.
fn is_kept(variable: &SessionVariable) -> bool {
    matches!(variable.reset, Some("per_session" | "never"))
}

/// The names of the tools that an agent declares or takes from libraries.
fn tools_of(agent: &Agent) -> impl Iterator<Item = &Name> {
    let own = agent.tools.iter().map(|tool| &tool.name.value);
    own.chain(agent.use_tools.iter().map(|tool| &tool.value))
}
