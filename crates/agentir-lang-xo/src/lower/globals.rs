//! Variables shared by several dialogs. XO's session is global, but session memory belongs to one agent.
//! What belongs to the session is state of the supervisor. Of other variables, a caller passes those that both use.

use super::{Context, builders, types};
use crate::dialect::ID;
use agentir_diagnostics::Spanned;
use agentir_expr::{Name, TypeExpr};
use agentir_ir::{
    Agent, Data, Decider, Delegation, Extensions, StateVariable, Statement, Step, Target,
};
use rustc_hash::FxHashMap;
use smol_str::SmolStr;

/// Declares the variables of the session that several dialogs use, as the state of the supervisor: agents read and write
/// them in place.
pub(super) fn declare_states(cx: &mut Context<'_, '_>, agents: &mut [Agent]) {
    let mut states = cx.names.states();
    states.sort_by(|a, b| a.value.cmp(&b.value));
    let types: Vec<_> = states.iter().map(|name| types::assigned(agents, &name.value)).collect();
    let Some(supervisor) = agents.first_mut() else { return };
    for (name, ty) in states.into_iter().zip(types) {
        let span = name.span;
        supervisor.memory.state.push(StateVariable {
            name,
            ty: Some(TypeExpr::named(ty.unwrap_or("string"), span)),
            required: None,
            // Without a value it is there, so that all agents mean the same variable.
            default: Some(Data::Null),
            description: None,
            source: Some("agent"),
            updated_by: Vec::new(),
            extensions: Extensions::default(),
            span,
        });
    }
}

/// A delegation or handoff to an agent.
struct Call {
    agent: Spanned<Name>,
    returns: bool,
}

/// Passes shared variables wherever dialogs call each other. `agents` starts with the supervisor, whose
/// extensions list the names of the shared variables.
pub(super) fn pass_shared_variables(agents: &mut [Agent]) {
    let own = |a: &Agent| a.memory.session.iter().map(|v| v.name.value.clone()).collect();
    let known: FxHashMap<SmolStr, Vec<SmolStr>> =
        agents.iter().map(|a| (a.metadata.name.value.clone(), own(a))).collect();
    let mut users: FxHashMap<&SmolStr, usize> = FxHashMap::default();
    for name in known.values().flatten() {
        *users.entry(name).or_default() += 1;
    }
    let mut shared: Vec<&SmolStr> =
        users.iter().filter(|(_, count)| **count > 1).map(|(name, _)| *name).collect();
    shared.sort_unstable();
    if let (false, Some(supervisor)) = (shared.is_empty(), agents.first_mut()) {
        let all = shared.iter().map(|name| Data::from(name.as_str())).collect();
        let span = supervisor.metadata.name.span;
        supervisor.extensions.insert(ID, "sharedVariables", Data::Array(all), span);
    }
    for agent in agents {
        let mut calls = Vec::new();
        for step in agent.flow.iter().flat_map(|f| f.definitions.values()) {
            collect_calls(step, &mut calls);
        }
        for call in calls {
            let callee_variables = known.get(&call.agent.value).map_or(&[][..], Vec::as_slice);
            let own = agent.memory.session.iter().map(|v| v.name.clone());
            let given: Vec<Spanned<Name>> =
                own.filter(|v| callee_variables.contains(&v.value)).collect();
            if given.is_empty() {
                continue;
            }
            if !call.returns {
                delegate_instead(agent, &call.agent);
            }
            pass_variables(agent, call.agent, given);
        }
    }
}

/// Turns handoffs to an agent into delegations followed by `COMPLETE`: a step cannot pass variables to a
/// handoff, and nothing follows the handoff.
fn delegate_instead(agent: &mut Agent, other: &Spanned<Name>) {
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
            let done = builders::goto(Target::Complete, other.span);
            step.body.0.splice(at..=at, [Statement::Delegate(delegation), done]);
        }
    }
}

fn collect_calls(step: &Step, calls: &mut Vec<Call>) {
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

fn pass_variables(agent: &mut Agent, to: Spanned<Name>, given: Vec<Spanned<Name>>) {
    let declared = &mut agent.coordination.delegates;
    let at = declared.iter().position(|d| d.agent.value == to.value);
    let at = at.unwrap_or_else(|| {
        declared.push(builders::delegate(to, Vec::new()));
        declared.len() - 1
    });
    let Some(delegate) = declared.get_mut(at) else { return };
    for name in given {
        if delegate.input.iter().all(|(known, _)| known.value != name.value) {
            delegate.input.push((name.clone(), builders::variable(name)));
        }
    }
}
