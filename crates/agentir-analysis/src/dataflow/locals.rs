//! Variables whose definitions are all known.

use super::external::ExternalDefs;
use crate::expressions::mentioned;
use crate::symbols::{AgentSymbols, ProgramSymbols};
use crate::variables::first;
use agentir_diagnostics::Span;
use agentir_eval::Value;
use agentir_flow::cfg::{Access, AccessKind};
use agentir_ir::{BindingAction, Data, SessionVariable, WriteUse};
use rustc_hash::{FxHashMap, FxHashSet};
use smol_str::SmolStr;

/// Known values of variables. A missing variable may have any value.
pub type Constants = FxHashMap<SmolStr, Value>;

/// Variables that only the agent's own statements define (in Agent Script: those of the program),
/// so they are unset until one of these runs. Variables that the user, another agent, a tool, the
/// platform or persistent memory may fill are excluded.
#[derive(Debug, Default)]
pub struct LocalVariables<'a> {
    /// The variables with their initial values.
    all: FxHashMap<&'a str, Value>,
    /// Variables that the model sees, and may set in a reasoning zone.
    model_visible: FxHashSet<&'a str>,
    /// The declarations.
    declared: FxHashMap<&'a str, Span>,
    entry_agent: Option<&'a str>,
}

impl<'a> LocalVariables<'a> {
    /// The variables of an agent.
    pub(super) fn of_agent<'s>(
        cx: &AgentSymbols<'_, 'a>,
        external_defs: &ExternalDefs<'a>,
        accesses: impl Iterator<Item = &'s Access>,
    ) -> Self {
        let agent = cx.agent;
        let traits = agent.metadata.dialect.traits();
        let arguments = traits.arguments_are_variables;
        // Definitions outside of the graph may happen at any time.
        let (mut seen, mut defined) = (FxHashSet::default(), FxHashSet::default());
        for access in accesses.filter(|a| a.kind == AccessKind::Def && !root(a).is_empty()) {
            seen.insert((access.variable.span.file, access.variable.span.start));
            defined.insert(SmolStr::new(root(access)));
        }
        // Results that calls of the graph give. The model may call the tools, too.
        let results: FxHashSet<&str> =
            cx.index.tools.keys().copied().filter(|tool| defined.contains(*tool)).collect();
        let externally_defined = externally_defined(cx, external_defs, &results);
        let mut locals = Self::default();
        for result in results {
            locals.all.insert(result, Value::Undefined);
            locals.model_visible.insert(result);
        }
        let mut hidden: FxHashSet<&str> = FxHashSet::default();
        let sets = cx.index.sets.iter().map(|s| &s.target.root);
        let writes = cx
            .index
            .writes
            .iter()
            .filter(|(_, used)| matches!(used, WriteUse::ToolResult | WriteUse::Transform));
        for name in sets.chain(writes.map(|(name, _)| *name)) {
            let name_of = first(&name.value);
            if !seen.contains(&(name.span.file, name.span.start)) {
                hidden.insert(name_of);
            }
            locals.all.entry(name_of).or_insert(Value::Undefined);
        }
        // Arguments are variables that the model fills from the user's messages.
        for field in agent.gather.fields.iter().filter(|_| arguments) {
            locals.declared.insert(&field.name.value, field.name.span);
            locals.all.insert(&field.name.value, Value::Undefined);
        }
        for variable in &agent.memory.session {
            let name = first(&variable.name.value);
            locals.declared.insert(name, variable.name.span);
            // A caller outside of the program may pass variables that are declared and never set.
            if locals.all.contains_key(name)
                || cx.program.program.complete
                || traits.closed_programs
            {
                locals.all.insert(name, initial(variable).unwrap_or_default());
            }
            if !arguments {
                locals.model_visible.insert(name);
            }
            if variable.initial_value.is_some() && initial(variable).is_none() {
                hidden.insert(name);
            }
        }
        locals.all.retain(|name, _| {
            let own = !externally_defined.contains(name) && !hidden.contains(name);
            own && !name.is_empty() && (!arguments || !name.contains('.'))
        });
        locals
    }

    /// Agent Script: the variables of the program.
    pub(super) fn of_program(symbols: &ProgramSymbols<'a>) -> Self {
        let program = symbols.program;
        let mut externally_defined: FxHashSet<SmolStr> = FxHashSet::default();
        for agent in program.agents() {
            for offer in agent.reasoning.iter().flat_map(|z| &z.bindings) {
                if matches!(offer.action, BindingAction::Collect) {
                    externally_defined.extend(offer.with.iter().map(|w| w.name.value.clone()));
                }
            }
            externally_defined.extend(agent.gather.fields.iter().map(|f| f.name.value.clone()));
            mentioned(agent, &mut externally_defined);
        }
        let mut locals = Self {
            entry_agent: program.entry_agent.as_ref().map(|name| name.value.as_str()),
            ..Self::default()
        };
        for (name, variable) in &symbols.variables {
            let external = variable.extensions.has("visibility");
            if variable.mutability != Some("linked")
                && !external
                && !externally_defined.contains(*name)
            {
                let value = initial(variable);
                if variable.initial_value.is_none() || value.is_some() {
                    locals.all.insert(name, value.unwrap_or_default());
                    locals.declared.insert(name, variable.name.span);
                }
            }
        }
        locals
    }

    /// Whether a variable is local.
    pub fn has(&self, name: &str) -> bool {
        self.all.contains_key(name)
    }

    /// Returns the initial value of a local variable.
    pub fn first(&self, name: &str) -> Option<&Value> {
        self.all.get(name)
    }

    /// Returns the local variables without an initial value, by name.
    pub fn initially_unset(&self) -> Vec<&'a str> {
        let unset = self.all.iter().filter(|(_, value)| **value == Value::Undefined);
        let mut names: Vec<&str> = unset.map(|(name, _)| *name).collect();
        names.sort_unstable();
        names
    }

    /// Returns the constants at the agent's entry.
    pub(super) fn initial(&self) -> Constants {
        self.all.iter().map(|(name, value)| (SmolStr::new(name), value.clone())).collect()
    }

    /// Whether the model may set the variable in a reasoning zone.
    pub(super) fn is_model_visible(&self, name: &str) -> bool {
        self.model_visible.contains(name)
    }

    /// Returns the declaration of a variable.
    pub fn declared(&self, name: &str) -> Option<Span> {
        self.declared.get(name).copied()
    }

    pub(super) fn entry_agent(&self) -> Option<&'a str> {
        self.entry_agent
    }
}

/// Returns the root variable of an access; empty for other namespaces.
pub fn root(access: &Access) -> &str {
    if access.variable.name.starts_with('@') { "" } else { access.variable.root() }
}

/// Returns the initial value of a variable, if it is a constant.
fn initial(variable: &SessionVariable) -> Option<Value> {
    Some(match variable.initial_value.as_ref()? {
        Data::Null => Value::Undefined,
        Data::Bool(value) => Value::Bool(*value),
        Data::Number(number) => Value::number(number.as_f64()?).ok()?,
        // Its meaning may differ from its text: quotes, dates, expressions.
        _ => return None,
    })
}

/// Returns the variables that may be defined outside of the agent's own statements.
fn externally_defined<'a>(
    cx: &AgentSymbols<'_, 'a>,
    external_defs: &ExternalDefs<'a>,
    results: &FxHashSet<&str>,
) -> FxHashSet<&'a str> {
    let (agent, index) = (cx.agent, cx.index);
    let mut all = written_outside(cx, external_defs, results);
    let name = agent.metadata.name.value.as_str();
    let arguments = agent.metadata.dialect.traits().arguments_are_variables;
    if !arguments || external_defs.chosen.contains(name) {
        all.extend(index.fields.iter().map(|f| f.name.value.as_str()));
    }
    let by_others = index
        .writes
        .iter()
        .filter(|(_, used)| !matches!(used, WriteUse::ToolResult | WriteUse::Transform));
    all.extend(by_others.map(|(name, _)| first(&name.value)));
    if let Some(passed) = cx.program.passed.get(name) {
        all.extend(passed);
    }
    all.extend(external_defs.set.get(name).into_iter().flatten());
    all
}

/// Returns the variables that something may define at any time: tools by themselves, other agents while they run, the
/// platform, buttons.
pub(crate) fn written_outside<'a>(
    cx: &AgentSymbols<'_, 'a>,
    external_defs: &ExternalDefs<'a>,
    results: &FxHashSet<&str>,
) -> FxHashSet<&'a str> {
    let (agent, index, variables) = (cx.agent, cx.index, cx.variables);
    let mut all: FxHashSet<&str> = FxHashSet::default();
    for set in [&variables.roots, &variables.returned, &variables.labels] {
        all.extend(set);
    }
    all.extend(variables.results.iter().filter(|name| !results.contains(*name)));
    all.extend(cx.program.shared.defined.iter().chain(&cx.program.shared.returned));
    all.extend(agent.attachments.iter().map(|a| a.name.value.as_str()));
    all.extend(agent.memory.state.iter().map(|v| first(&v.name.value)));
    for tool in index.tools.values() {
        let sets = tool.on_result.iter().chain(&tool.on_error);
        all.extend(sets.map(|s| s.target.root.value.as_str()));
        let written = tool.context_access.iter().flat_map(|a| &a.write);
        all.extend(written.map(|w| first(&w.value)));
    }
    let elements = index.actions.iter().flat_map(|a| &a.elements);
    all.extend(elements.filter_map(|e| e.id.as_ref()).map(|id| id.value.as_str()));
    let name = agent.metadata.name.value.as_str();
    all.extend(external_defs.by_field.get(name).into_iter().flatten());
    // A returning handoff may write to what it binds by reference.
    let bound = agent.coordination.handoffs.iter().flat_map(|h| &h.context.bindings);
    let bound = bound.filter(|b| b.by_reference).filter_map(|b| b.value.as_path());
    all.extend(bound.map(|path| path.root.value.as_str()));
    all
}
