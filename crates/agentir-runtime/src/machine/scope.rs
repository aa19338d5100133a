//! Name resolution for expressions: variables, results and the user's message.

use super::write_access::is_owned;
use crate::host::Clock;
use crate::json::from_json;
use crate::session::Session;
use agentir_eval::{Environment, EvalError, State, Value, member};
use agentir_expr::dialect::Semantics;
use agentir_expr::{Path, Segment};
use agentir_ir::{Agent, Data};
use smol_str::{SmolStr, format_smolstr};

/// The layers in which a name is looked up. The first one in which the whole path has a value is
/// used.
pub(super) struct Scope<'s> {
    session: &'s Session,
    locals: &'s [(SmolStr, Value)],
    clock: &'s dyn Clock,
    /// The outputs of the action in whose callback this is.
    outputs: Option<&'s Data>,
    /// Whether `agent.arg` refers to an argument of another agent, as in ADL.
    others: bool,
    /// The agent in charge.
    agent: Option<&'s Agent>,
}

impl<'s> Scope<'s> {
    pub(super) const fn new(
        session: &'s Session,
        locals: &'s [(SmolStr, Value)],
        clock: &'s dyn Clock,
        outputs: Option<&'s Data>,
        others: bool,
        agent: Option<&'s Agent>,
    ) -> Self {
        Self { session, locals, clock, outputs, others, agent }
    }

    /// Whether the agent may read a path of long-term memory (`ACCESS`, current specification, 3.7.2).
    fn may_read(&self, path: &str) -> bool {
        self.agent.and_then(|agent| declared_access(agent, path)) != Some("write")
    }

    /// `triage.date`: an argument of another active or parked agent.
    fn other(&self, path: &Path, semantics: &Semantics) -> Option<Value> {
        let (Segment::Field(field), rest) = path.segments.split_first()? else { return None };
        let frame = self.session.other_frame(&path.root.value).filter(|_| self.others)?;
        let inner = Path { namespace: None, root: field.clone(), segments: rest.to_vec() };
        frame.variables.path(&inner, semantics).ok().filter(|value| !value.is_unset())
    }

    fn local(&self, path: &Path, semantics: &Semantics) -> Option<Result<Value, EvalError>> {
        let (_, value) = self.locals.iter().rev().find(|(name, _)| *name == path.root.value)?;
        let mut value = Ok(value.clone());
        for segment in &path.segments {
            value = value.and_then(|v| member(&v, segment, semantics));
        }
        Some(value)
    }

    /// A value of long-term memory, or a part of one. Memory is keyed by the whole path that something
    /// was stored under (ABL, current specification, 3.7.3), so that `user.trip.city` is the `city` of
    /// what was stored as `user.trip`.
    fn remembered(&self, path: &Path, semantics: &Semantics) -> Option<Value> {
        let (whole, ends) = dotted_parts(path);
        ends.iter().enumerate().rev().find_map(|(length, end)| {
            let (_, rest) = path.segments.split_at_checked(length)?;
            let stored = whole.get(..*end)?;
            let value = self.session.memory.get(stored).filter(|_| self.may_read(stored))?;
            let inner = rest.iter().try_fold(value.clone(), |v, part| member(&v, part, semantics));
            inner.ok()
        })
    }

    /// `@outputs.total`: a field of the result of the action in whose callback it is read; elsewhere there is nothing of
    /// that name (Agent Script, part I, 5.9).
    fn output(&self, path: &Path, semantics: &Semantics) -> Result<Value, EvalError> {
        let Some(outputs) = self.outputs else { return Ok(Value::Undefined) };
        let mut value = from_json(outputs)?;
        value = member(&value, &Segment::Field(path.root.clone()), semantics)?;
        for segment in &path.segments {
            value = member(&value, segment, semantics)?;
        }
        Ok(value)
    }
}

impl Environment for Scope<'_> {
    fn path(&self, path: &Path, semantics: &Semantics) -> Result<Value, EvalError> {
        match path.namespace.as_ref().map(|n| n.value.as_str()) {
            Some("outputs" | "result") => return self.output(path, semantics),
            // The text of the current turn (Agent Script, part II, 12).
            Some("system_variables")
                if path.root.value == "user_input" && path.segments.is_empty() =>
            {
                return Ok(self.session.system.get("input").cloned().unwrap_or_default());
            }
            // `{!@actions.find}` renders the name under which the model knows the action.
            Some("actions" | "subagent" | "topic" | "utils") if path.segments.is_empty() => {
                return Ok(Value::Text(path.root.value.clone()));
            }
            _ => {}
        }
        if path.namespace.is_none()
            && let Some(value) = self.local(path, semantics)
        {
            return value;
        }
        if let Some(value) = self.other(path, semantics) {
            return Ok(value);
        }
        let frame = self.session.stack.last();
        let memory = Some(&self.session.memory).filter(|_| self.may_read(&path.root.value));
        let layers = frame
            .map(|frame| &frame.variables)
            .into_iter()
            .chain([&self.session.shared, &self.session.system])
            .chain(memory);
        let mut nothing = None;
        for layer in layers {
            match layer.path(path, semantics) {
                Ok(value) if !value.is_unset() => return Ok(value),
                // Null is an explicit value; an error means that part of the path is unset.
                other => {
                    let better = match (&nothing, &other) {
                        (None, _) => true,
                        (Some(Ok(Value::Null)), _) => false,
                        (_, Ok(Value::Null)) => true,
                        (Some(Err(_)), Ok(_)) => true,
                        _ => false,
                    };
                    if better {
                        nothing = Some(other);
                    }
                }
            }
        }
        if let Some(value) = self.remembered(path, semantics).filter(|value| !value.is_unset()) {
            return Ok(value);
        }
        // Unless there is a variable of that name.
        if let Some(inner) = of_session(path) {
            return self.path(&inner, semantics);
        }
        nothing.unwrap_or(Ok(Value::Undefined))
    }

    fn platform(&self, function: &str, args: &[Value]) -> Option<Value> {
        super::detectors::call(function, args)
    }

    fn now(&self) -> Option<i64> {
        Some(self.clock.now())
    }

    fn random(&self) -> Option<u64> {
        Some(self.clock.random())
    }
}

/// `x`, if a path is `session.x` (ABL, current specification, 3.5).
pub(super) fn of_session(path: &Path) -> Option<Path> {
    let (Segment::Field(field), rest) = path.segments.split_first()? else { return None };
    let named = path.namespace.is_none() && path.root.value == "session";
    named.then(|| Path { namespace: None, root: field.clone(), segments: rest.to_vec() })
}

/// The dotted form of a path.
pub(super) fn dotted(path: &Path) -> SmolStr {
    dotted_parts(path).0.into()
}

/// The dotted form of a path, and where its parts end in it, from the root on.
fn dotted_parts(path: &Path) -> (String, Vec<usize>) {
    let mut text = match &path.namespace {
        Some(namespace) => format!("@{}.{}", namespace.value, path.root.value),
        None => path.root.value.to_string(),
    };
    let mut ends = vec![text.len()];
    for segment in &path.segments {
        match segment {
            Segment::Field(name) => {
                text.push('.');
                text.push_str(&name.value);
            }
            Segment::Index(at) => text.push_str(&format_smolstr!("[{at}]")),
            Segment::Any => text.push_str(".*"),
        }
        ends.push(text.len());
    }
    (text, ends)
}

/// The path that a dotted name stands for.
pub(super) fn path_of(name: &str) -> Path {
    Path::dotted(name, agentir_diagnostics::Span::default())
}

/// Initialises the variables shared by all agents: the variables of Agent Script, the state of a
/// supervisor.
pub(super) fn shared_variables(agent: &Agent, shared: &mut State, system: &mut State) {
    for variable in agent.memory.session.iter().filter(|v| v.scope == Some("program")) {
        let name = name_of_variable(agent, &variable.name.value);
        let initial = variable.initial_value.as_ref().and_then(|data| from_json(data).ok());
        if shared.get(&name).is_none_or(Value::is_unset) {
            shared.set(name, initial.unwrap_or_default());
        }
    }
    let semantics = agent.metadata.dialect.semantics();
    for variable in &agent.memory.state {
        if let Some(value) = variable.default.as_ref().and_then(|data| from_json(data).ok()) {
            let path = path_of(&variable.name.value);
            // The default of what the runtime knows holds until it does.
            let store = match is_owned(agent, &variable.name.value) {
                true if system.path(&path, semantics).is_ok_and(|known| !known.is_unset()) => {
                    continue;
                }
                true => &mut *system,
                false => &mut *shared,
            };
            // A name that holds a scalar has no fields.
            let _ = store.set_path(&path, value);
        }
    }
}

/// The name under which a shared variable is stored.
pub(super) fn name_of_variable(agent: &Agent, name: &str) -> SmolStr {
    if agent.metadata.dialect.traits().namespaced_references {
        format_smolstr!("@variables.{name}")
    } else {
        SmolStr::new(name)
    }
}

/// How an agent declares a path of persistent memory, or what is above it: `read`, `write`, `readwrite`.
pub(super) fn declared_access<'a>(agent: &'a Agent, path: &str) -> Option<&'a str> {
    let covers = |declared: &str| {
        let above = declared.strip_suffix(".*").unwrap_or(declared);
        path == above || path.strip_prefix(above).is_some_and(|rest| rest.starts_with('.'))
    };
    let declared = agent.memory.persistent.iter().filter(|one| covers(&one.path.value));
    // The declaration that says most about the path.
    declared.max_by_key(|one| one.path.value.len()).map(|one| one.access)
}
