//! Adapts variables shared by all agents of a program. ABL's session memory belongs to one agent: each
//! agent that uses a shared variable declares it, and handoffs and delegations pass it.

use super::default_on_return;
use agentir_diagnostics::Spanned;
use agentir_expr::{Expr, Name, Path};
use agentir_ir::{Agent, Node, PassedValue, Program, SessionVariable};
use rustc_hash::{FxHashMap, FxHashSet};
use smol_str::SmolStr;

/// Declares the shared variables in each agent that uses them. Only the agents that declared them
/// initialise them; returns the names of those.
pub(super) fn declare(program: &mut Program) -> FxHashSet<Name> {
    let shared: Vec<SessionVariable> = program
        .agents
        .iter()
        .flat_map(|a| &a.memory.session)
        .filter(|v| is_shared(v))
        .map(|v| SessionVariable { initial_value: None, ..v.clone() })
        .collect();
    if shared.is_empty() {
        return FxHashSet::default();
    }
    let owns = |agent: &&Agent| agent.memory.session.iter().any(is_shared);
    let owners = program.agents().filter(owns).map(|a| a.metadata.name.value.clone());
    let owners = owners.collect();
    for agent in program.agents_mut() {
        let used = variables(agent);
        add(agent, shared.iter().filter(|v| used.contains(&v.name.value)));
    }
    owners
}

/// Passes shared variables with each handoff and delegation. An agent that does not use a variable
/// declares it if an agent reachable from it does. The owners need none: they have all of them.
pub(super) fn pass_variables(program: &mut Program, owners: &FxHashSet<Name>) {
    let mut known: FxHashMap<Name, Vec<SessionVariable>> = FxHashMap::default();
    let mut before: FxHashMap<Name, Vec<Name>> = FxHashMap::default();
    for agent in program.agents() {
        let name = &agent.metadata.name.value;
        let shared = agent.memory.session.iter().filter(|v| is_shared(v)).cloned().collect();
        known.insert(name.clone(), shared);
        let asked = agent.coordination.delegates.iter().map(|d| &d.agent.value);
        for to in agent.coordination.handoffs.iter().map(|h| &h.to.value).chain(asked) {
            before.entry(to.clone()).or_default().push(name.clone());
        }
    }
    let mut waiting: Vec<Name> = known.keys().filter(|n| !owners.contains(*n)).cloned().collect();
    while let Some(name) = waiting.pop() {
        let Some(needed) = known.get(&name).cloned() else { continue };
        for carrier in before.get(&name).into_iter().flatten() {
            let Some(carried) = known.get_mut(carrier).filter(|_| !owners.contains(carrier)) else {
                continue;
            };
            let had: FxHashSet<Name> = carried.iter().map(|v| v.name.value.clone()).collect();
            carried.extend(needed.iter().filter(|v| !had.contains(&v.name.value)).cloned());
            if carried.len() > had.len() {
                waiting.push(carrier.clone());
            }
        }
    }
    for agent in program.agents_mut() {
        let Some(own) = known.get(&agent.metadata.name.value) else { continue };
        add(agent, own.iter());
        let own: FxHashSet<&Name> = own.iter().map(|v| &v.name.value).collect();
        for handoff in &mut agent.coordination.handoffs {
            let theirs = known.get(&handoff.to.value).into_iter().flatten();
            for name in theirs.map(|v| &v.name.value).filter(|n| own.contains(n)) {
                let context = &mut handoff.context;
                let given = context.pass.iter().any(|p| p.name.value == *name)
                    || context.set.iter().any(|s| s.target.root.value == *name);
                if given {
                    continue;
                }
                let name = Spanned::new(name.clone(), handoff.to.span);
                if handoff.returns {
                    let back = Expr::path(Path::variable(name.clone()), name.span);
                    handoff
                        .on_return
                        .get_or_insert_with(default_on_return)
                        .map
                        .push((name.clone(), back));
                }
                context.pass.push(PassedValue { name, ty: SmolStr::new_static("string") });
            }
        }
        for delegate in &mut agent.coordination.delegates {
            let theirs = known.get(&delegate.agent.value).into_iter().flatten();
            for name in theirs.map(|v| &v.name.value).filter(|n| own.contains(n)) {
                if delegate.input.iter().all(|(given, _)| given.value != *name) {
                    let name = Spanned::new(name.clone(), delegate.agent.span);
                    let value = Expr::path(Path::variable(name.clone()), name.span);
                    delegate.input.push((name, value));
                }
            }
        }
    }
}

fn is_shared(variable: &SessionVariable) -> bool {
    variable.scope == Some("program")
}

/// Declares missing variables, without initial values.
fn add<'v>(agent: &mut Agent, variables: impl Iterator<Item = &'v SessionVariable>) {
    let session = &mut agent.memory.session;
    let had: FxHashSet<Name> = session.iter().map(|v| v.name.value.clone()).collect();
    let missing = variables.filter(|v| !had.contains(&v.name.value));
    session.extend(missing.map(|v| SessionVariable { initial_value: None, ..v.clone() }));
}

/// The variables that an agent reads and writes.
fn variables(agent: &Agent) -> FxHashSet<SmolStr> {
    let mut found = FxHashSet::default();
    let mut read = |e: &Expr| e.paths(&mut |p| found.extend([p.root.value.clone()]));
    let mut written = Vec::new();
    agent.walk(&mut |node| {
        node.exprs(&mut read);
        match node {
            Node::Set(set) => written.push(set.target.root.value.clone()),
            Node::Writes(name, _) | Node::Reads(name, _) => written.push(name.value.clone()),
            _ => {}
        }
    });
    found.extend(written);
    found
}
