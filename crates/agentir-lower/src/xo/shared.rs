//! Variables that several dialogs use. XO's session is one for all of them; session memory belongs to one
//! agent, so who calls another gives it what both use.

use super::{XO, make};
use agentir_diagnostics::Spanned;
use agentir_expr::Name;
use agentir_ir::{Agent, Data, Decider, Delegation, Statement, Step, Target};
use rustc_hash::FxHashMap;
use smol_str::SmolStr;

/// An agent that is called or takes over.
struct Call {
    agent: Spanned<Name>,
    returns: bool,
}

/// Hands variables on where dialogs call each other; `agents` begins with the supervisor, which keeps the
/// names of those that several dialogs use.
pub(super) fn hand_on(agents: &mut [Agent]) {
    let own = |a: &Agent| a.memory.session.iter().map(|v| v.name.value.clone()).collect();
    let known: FxHashMap<SmolStr, Vec<SmolStr>> =
        agents.iter().map(|a| (a.metadata.name.value.clone(), own(a))).collect();
    let mut users: FxHashMap<&SmolStr, usize> = FxHashMap::default();
    for name in known.values().flatten() {
        *users.entry(name).or_default() += 1;
    }
    let mut several: Vec<&SmolStr> =
        users.iter().filter(|(_, count)| **count > 1).map(|(name, _)| *name).collect();
    several.sort_unstable();
    if let (false, Some(supervisor)) = (several.is_empty(), agents.first_mut()) {
        let all = several.iter().map(|name| Data::from(name.as_str())).collect();
        let span = supervisor.metadata.name.span;
        supervisor.extensions.keep(XO, "sharedVariables", Data::Array(all), span);
    }
    for agent in agents {
        let mut calls = Vec::new();
        for step in agent.flow.iter().flat_map(|f| f.definitions.values()) {
            called(step, &mut calls);
        }
        for call in calls {
            let theirs = known.get(&call.agent.value).map_or(&[][..], Vec::as_slice);
            let own = agent.memory.session.iter().map(|v| v.name.clone());
            let given: Vec<Spanned<Name>> = own.filter(|v| theirs.contains(&v.value)).collect();
            if given.is_empty() {
                continue;
            }
            if !call.returns {
                ask(agent, &call.agent);
            }
            give(agent, call.agent, given);
        }
    }
}

/// Whoever takes over is given nothing by a step; who is asked is. Behind it there was nothing to do.
fn ask(agent: &mut Agent, other: &Spanned<Name>) {
    for step in agent.flow.iter_mut().flat_map(|f| f.definitions.values_mut()) {
        let takes_over = |s: &Statement| match s {
            Statement::Goto(jump) => jump.target.agent().is_some_and(|a| a.value == other.value),
            _ => false,
        };
        if let Some(at) = step.body.0.iter().position(takes_over) {
            let delegation = Delegation {
                agent: other.clone(),
                returns: None,
                decided_by: Decider::Always,
                bindings: Vec::new(),
            };
            let done = make::goto(Target::Complete, other.span);
            step.body.0.splice(at..=at, [Statement::Delegate(delegation), done]);
        }
    }
}

fn called(step: &Step, calls: &mut Vec<Call>) {
    for statement in &step.body.0 {
        match statement {
            Statement::Delegate(d) => calls.push(Call { agent: d.agent.clone(), returns: true }),
            Statement::Goto(jump) => {
                if let Target::Handoff(Some(agent)) = &jump.target {
                    calls.push(Call { agent: agent.clone(), returns: false });
                }
            }
            _ => {}
        }
    }
}

fn give(agent: &mut Agent, to: Spanned<Name>, given: Vec<Spanned<Name>>) {
    let declared = &mut agent.coordination.delegates;
    let at = declared.iter().position(|d| d.agent.value == to.value);
    let at = at.unwrap_or_else(|| {
        declared.push(make::delegate(to, Vec::new()));
        declared.len() - 1
    });
    let Some(delegate) = declared.get_mut(at) else { return };
    for name in given {
        if delegate.input.iter().all(|(known, _)| known.value != name.value) {
            delegate.input.push((name.clone(), make::variable(name)));
        }
    }
}
