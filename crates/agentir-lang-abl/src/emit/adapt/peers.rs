//! Makes explicit what agents of other languages take from each other implicitly: when they hand over, and which variables
//! of others they read.

use super::expr::Scope;
use agentir_diagnostics::Spanned;
use agentir_expr::{Condition, Expr, Name, Path, Segment, Template};
use agentir_ir::{Agent, Decider, PassedValue, Program, SessionVariable};
use indexmap::IndexSet;
use rustc_hash::FxHashMap;
use smol_str::{SmolStr, format_smolstr};

/// The goals of a program's agents, by name.
pub(super) type Goals = FxHashMap<Name, Template>;

/// The goals of a program's agents.
pub(super) fn goals(program: &Program) -> Goals {
    let goal = |agent: &Agent| {
        let name = &agent.metadata.name;
        Some((name.value.clone(), agent.identity.goal.clone()?))
    };
    program.agents().filter_map(goal).collect()
}

/// Gives transitions without a condition one that the model can judge: the user wants what the target
/// agent is for.
pub(super) fn add_conditions(scope: Scope<'_>, goals: &Goals, agent: &mut Agent) {
    let c = &mut agent.coordination;
    let handoffs = c.handoffs.iter_mut().map(|h| (&h.to, &mut h.when, h.decided_by));
    // What a flow asks in its steps, it asks there and nowhere else.
    let in_steps = agent.flow.is_some() && agent.reasoning.is_none();
    let delegates = c.delegates.iter_mut().filter(|_| !in_steps);
    let delegates = delegates.map(|d| (&d.agent, &mut d.when, d.decided_by));
    for (to, when, decided_by) in handoffs.chain(delegates) {
        if when.is_some() || decided_by != Decider::Model {
            continue;
        }
        let mut goal = goals.get(&to.value).cloned().unwrap_or_else(|| {
            let words = format_smolstr!("The user needs {}", to.value.replace('_', " "));
            Template::plain(Spanned::new(words, to.span))
        });
        scope.text(&mut goal);
        *when = Some(Condition::words(&goal));
    }
}

/// Whether an agent has a variable of its own.
fn has_variable(agent: &Agent, name: &str) -> bool {
    agent.memory.session.iter().any(|v| v.name.value == name)
        || agent.gather.fields.iter().any(|f| f.name.value == name)
}

/// The variables that an agent reads from other agents (`triage.date`).
pub(super) type ForeignVariables = FxHashMap<Name, IndexSet<Name>>;

/// Turns `triage.date` into a variable `date` passed by `triage`, unless the reader has a variable of that
/// name. It is declared in the reader and passed by every transition from `triage` to it.
pub(super) fn import_variables(program: &mut Program) -> FxHashMap<Name, ForeignVariables> {
    let mut all: FxHashMap<Name, ForeignVariables> = FxHashMap::default();
    for agent in program.agents().filter(|a| a.metadata.dialect.traits().reads_other_agents) {
        let mut found = ForeignVariables::default();
        let mut read = |e: &Expr| {
            e.paths(&mut |path| {
                let Some(owner) = owner(program, agent, path) else { return };
                let Some(Segment::Field(name)) = path.segments.first() else { return };
                if has_variable(owner, &name.value) && !has_variable(agent, &name.value) {
                    let of = found.entry(path.root.value.clone()).or_default();
                    of.insert(name.value.clone());
                }
            });
        };
        agent.walk(&mut |node| node.exprs(&mut read));
        // If two agents have the same variable, the name is ambiguous.
        let mut times: FxHashMap<Name, usize> = FxHashMap::default();
        found.values().flatten().for_each(|name| *times.entry(name.clone()).or_default() += 1);
        found.values_mut().for_each(|of| of.retain(|name| times.get(name) == Some(&1)));
        found.retain(|_, of| !of.is_empty());
        if !found.is_empty() {
            all.insert(agent.metadata.name.value.clone(), found);
        }
    }
    for agent in program.agents_mut() {
        let own = agent.metadata.name.clone();
        for (_, name) in all
            .get(&own.value)
            .into_iter()
            .flat_map(|f| f.iter().flat_map(|(from, of)| of.iter().map(move |name| (from, name))))
        {
            let name = Spanned::new(name.clone(), own.span);
            agent.memory.session.push(SessionVariable::new(name));
        }
        for handoff in &mut agent.coordination.handoffs {
            let passed = all.get(&handoff.to.value).and_then(|f| f.get(&own.value));
            for name in passed.into_iter().flatten() {
                let name = Spanned::new(name.clone(), handoff.to.span);
                let ty = SmolStr::new_static("string");
                handoff.context.pass.push(PassedValue { name, ty });
            }
        }
    }
    all
}

/// The agent that owns the variable of a path.
fn owner<'p>(program: &'p Program, agent: &Agent, path: &Path) -> Option<&'p Agent> {
    let root = &path.root.value;
    if path.namespace.is_some() || *root == agent.metadata.name.value || has_variable(agent, root) {
        return None;
    }
    program.agent(root)
}
