//! Who may write a path. Some names belong to the runtime: `user_id`, `channel`, `tool_failures` (ABL, current
//! specification, 3.7.2: "Treat them as immutable", and 8.8). What an agent, the user or a model would write there is not
//! written, so that a check of such a name is about what the runtime knows. State of a supervisor may be written by some
//! agents only (`updatedBy`), and memory may be declared as read-only (`ACCESS: read`).

use super::Run;
use super::scope::{declared_access, path_of};
use crate::json::to_json;
use crate::session::RuntimeError;
use crate::trace::EventKind;
use agentir_eval::Value;
use agentir_expr::Version;
use agentir_expr::dialect::SystemVariable;
use agentir_ir::{Agent, Program};
use rustc_hash::FxHashSet;

/// Whether a path belongs to the runtime, for an agent.
pub(super) fn is_owned(agent: &Agent, path: &str) -> bool {
    let runtime = agent.metadata.dialect.runtime();
    if let Some(variable) = owned_variable(agent, path) {
        return !variable.authored_wins;
    }
    let root = path.split('.').next().unwrap_or(path);
    runtime.namespace(root).is_some_and(|space| !space.writable && space.since == Version::Legacy)
}

/// Why an agent does not write a path that belongs to the runtime.
fn ownership(agent: &Agent, path: &str) -> Option<RuntimeError> {
    is_owned(agent, path).then(|| {
        let message = format!("`{path}` is read-only: the runtime sets it; use another name");
        RuntimeError::new("reserved_name", message)
    })
}

/// The variable of the runtime that a path is, or is a part of.
fn owned_variable(agent: &Agent, path: &str) -> Option<&'static SystemVariable> {
    let runtime = agent.metadata.dialect.runtime();
    let root = path.split('.').next().unwrap_or(path);
    // Only the results of existing tools are the runtime's: `last_known_result` is not.
    let exists = |tool: &str| {
        agent.tools.iter().any(|own| own.name.value == tool)
            || agent.use_tools.iter().any(|used| used.value == tool)
    };
    runtime.variable(path).filter(|_| runtime.tool_of_result(root).is_none_or(exists))
}

/// The state variables that only some agents may write, with these agents.
pub(super) type Writers<'p> = Vec<(&'p str, FxHashSet<&'p str>)>;

/// The state variables that only some agents may write (`updatedBy`, supervisor reference, "State variable properties"): the
/// listed ones, and the supervisor that declares them, which maps what agents return.
pub(super) fn writers(program: &Program) -> Writers<'_> {
    let mut all = Vec::new();
    for agent in program.agents() {
        let own = agent.metadata.name.value.as_str();
        for variable in agent.memory.state.iter().filter(|v| !v.updated_by.is_empty()) {
            let named = variable.updated_by.iter();
            let listed = named.flat_map(|name| [&name.value, &agent.resolve_alias(name).value]);
            let writers = listed.map(|name| name.as_str()).chain([own]).collect();
            all.push((variable.name.value.as_str(), writers));
        }
    }
    all
}

/// Whether one path is the other, or a part of it.
fn overlap(one: &str, other: &str) -> bool {
    let within = |inner: &str, outer: &str| {
        inner
            .strip_prefix(outer)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
    };
    within(one, other) || within(other, one)
}

impl Run<'_, '_, '_> {
    /// Why the active agent does not write a path: it belongs to the runtime, other agents write it (`updatedBy`), or it
    /// may only be read (`ACCESS: read`, current specification, 3.7.2).
    fn write_refusal(&self, path: &str) -> Option<RuntimeError> {
        let agent = self.agent().ok()?;
        if let Some(owned) = ownership(agent, path) {
            return Some(owned);
        }
        let active = self.session.agent().unwrap_or_default();
        let mut restricted = self.machine.writers.iter();
        let others = restricted
            .find(|(declared, writers)| overlap(path, declared) && !writers.contains(active));
        if let Some((declared, _)) = others {
            let message = format!(
                "`{path}` is not written: `{active}` is not among the agents that `updatedBy` of `{declared}` lists"
            );
            return Some(RuntimeError::new("write_denied", message));
        }
        (declared_access(agent, path) == Some("read")).then(|| {
            let message = format!("`{path}` is declared with `ACCESS: read`, and is not written");
            RuntimeError::new("write_denied", message)
        })
    }

    /// Whether the active agent may not write a path; an attempt is reported.
    pub(super) fn is_write_protected(&mut self, path: &str) -> bool {
        let refusal = self.write_refusal(path);
        self.report_refusal(refusal)
    }

    /// Whether the active agent may not write a path, or has the value there already: then there is no attempt to report.
    pub(super) fn keeps_protected(&mut self, path: &str, value: &Value) -> bool {
        let refusal = self.write_refusal(path);
        refusal.is_some()
            && (self.variable(path).as_ref() == Some(value) || self.report_refusal(refusal))
    }

    /// Whether a path belongs to the runtime; an attempt to write it is reported.
    pub(super) fn refuses_owned(&mut self, path: &str) -> bool {
        let owned = self.agent().ok().and_then(|agent| ownership(agent, path));
        self.report_refusal(owned)
    }

    fn report_refusal(&mut self, refusal: Option<RuntimeError>) -> bool {
        let Some(RuntimeError { kind, message }) = refusal else { return false };
        self.emit(EventKind::Error { kind, message });
        true
    }

    /// Assigns what another agent has returned. That may be who the user is, as in the specification's own example (3.10),
    /// as long as the runtime does not know better.
    pub(super) fn assign_returned(&mut self, name: &str, value: Value) -> Result<(), RuntimeError> {
        let own = self.own_path(&path_of(name));
        let path = super::scope::dotted(&own);
        let variable = self.agent().ok().and_then(|agent| owned_variable(agent, &path));
        let returned = variable.is_some_and(|variable| variable.returned && variable.name == path);
        if !returned {
            return self.assign_name(name, value);
        }
        let known = self.session.system.get(&path).filter(|known| !known.is_unset());
        if known.is_some_and(|known| *known != value) {
            self.refuses_owned(&path);
            return Ok(());
        }
        let shown = self.masked(&path, &to_json(&value));
        self.session.system.set(path.clone(), value);
        self.emit(EventKind::Set { variable: path.to_string(), value: shown });
        Ok(())
    }
}
