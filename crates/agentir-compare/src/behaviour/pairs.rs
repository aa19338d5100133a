//! The correspondence between the agents and steps of two programs.

use crate::place::Announced;
use agentir_expr::{Expr, Name, Segment};
use agentir_flow::cfg::{AgentId, Cfg};
use agentir_ir::Program;
use petgraph::graph::NodeIndex;
use rustc_hash::{FxHashMap, FxHashSet};

/// One side's view of which of its agents the other has as well.
#[derive(Debug, Default)]
pub(super) struct Pairs<'a> {
    /// Agents that only this program has.
    inner: FxHashSet<AgentId>,
    /// The first program's name of an agent, where it is called otherwise.
    names: FxHashMap<&'a str, &'a str>,
    /// Variables that one of the programs has in common for all agents, so that the other one has to
    /// hand them on.
    shared: FxHashSet<Name>,
}

/// The variables that agents have without being given them: those of the whole program, and those that
/// they read under the names of the agents they belong to.
fn shared<'p>(program: &'p Program) -> impl Iterator<Item = Name> + 'p {
    program.agents().flat_map(|agent| {
        let of_program = agent.memory.session.iter().filter(|v| v.scope == Some("program"));
        let mut all: Vec<Name> = of_program.map(|v| v.name.value.clone()).collect();
        let mut read = |e: &Expr| {
            e.paths(&mut |path| {
                let other = path.root.value != agent.metadata.name.value
                    && program.agent(&path.root.value).is_some();
                if let (true, Some(Segment::Field(name))) = (other, path.segments.first()) {
                    all.push(name.value.clone());
                }
            });
        };
        agent.walk(&mut |node| node.exprs(&mut read));
        all
    })
}

impl<'a> Pairs<'a> {
    /// Whether only this program has the agent: it is a part of those that lead to it.
    pub(super) fn is_inner(&self, agent: AgentId) -> bool {
        self.inner.contains(&agent)
    }

    /// Whether one of the programs has a variable in common for all agents, by its name in this one.
    pub(super) fn is_shared(&self, variable: &str) -> bool {
        self.shared.contains(variable)
    }

    /// The name by which both know an agent.
    pub(super) fn agent_name<'n>(&self, name: &'n str) -> &'n str
    where
        'a: 'n,
    {
        self.names.get(name).copied().unwrap_or(name)
    }
}

/// A place that both programs have.
#[derive(Debug, Clone)]
pub(super) struct Both {
    /// The agent, by the first program's name.
    pub(super) agent: String,
    /// The step; none for where the agent begins.
    pub(super) step: Option<String>,
    /// Whether a conversation with the agent begins there: what is set then may as well be an initial
    /// value.
    pub(super) first: bool,
    /// Where it is in the two graphs.
    pub(super) at: [NodeIndex; 2],
}

/// Pairs the agents by their names; the only agents of two programs are a pair whatever they are
/// called.
pub(super) fn agents<'a>(
    sides: [&'a Program; 2],
    cfgs: [&Cfg<'a>; 2],
    announced: &Announced,
) -> ([Pairs<'a>; 2], Vec<(AgentId, AgentId)>) {
    let [left, right] = sides;
    let (mut ours, mut theirs) = (Pairs::default(), Pairs::default());
    let common: FxHashSet<Name> = shared(left).chain(shared(right)).collect();
    theirs.shared = common.clone();
    theirs.shared.extend(announced.variables_of(&common));
    ours.shared = common;
    let mut both = Vec::new();
    if let ([one], [other]) = (left.agents.as_slice(), right.agents.as_slice()) {
        let (one, other) = (&one.metadata.name.value, &other.metadata.name.value);
        if one != other {
            theirs.names.insert(other, one);
        }
        both.push((AgentId(0), AgentId(0)));
        return ([ours, theirs], both);
    }
    let [first, second] = cfgs;
    let mut taken = FxHashSet::default();
    for (id, part) in (0..).map(AgentId).zip(first.agents()) {
        let name = part.agent.metadata.name.value.as_str();
        match second.find(announced.name(name)).filter(|other| taken.insert(*other)) {
            Some(other) => {
                both.push((id, other));
                let called = second.agent(other).map(|p| p.agent.metadata.name.value.as_str());
                theirs.names.extend(called.map(|called| (called, name)));
            }
            None => {
                ours.inner.insert(id);
            }
        }
    }
    // Whatever they are called, programs begin with the same agent.
    if both.is_empty() {
        let entry = |program: &Program, cfg: &Cfg<'_>| {
            cfg.find(program.entry().map_or("", |a| a.metadata.name.value.as_str()))
        };
        if let (Some(one), Some(other)) = (entry(left, first), entry(right, second)) {
            both.push((one, other));
            taken.insert(other);
            ours.inner.remove(&one);
        }
    }
    let all = (0..).map(AgentId).zip(second.agents()).map(|(id, _)| id);
    theirs.inner.extend(all.filter(|id| !taken.contains(id)));
    ([ours, theirs], both)
}

/// The places that both programs have: where agents begin, and their steps. Flows begin with the same
/// step whatever it is called.
pub(super) fn places(
    cfgs: [&Cfg<'_>; 2],
    agents: &[(AgentId, AgentId)],
    announced: &Announced,
) -> Vec<Both> {
    let [left, right] = cfgs;
    let mut all = Vec::new();
    for (one, other) in agents {
        let (Some(a), Some(b)) = (left.agent(*one), right.agent(*other)) else { continue };
        let agent = a.agent.metadata.name.value.to_string();
        all.push(Both { agent: agent.clone(), step: None, first: true, at: [a.entry, b.entry] });
        let (Some(flow), Some(other_flow)) = (&a.agent.flow, &b.agent.flow) else { continue };
        let first = flow.entry().zip(other_flow.entry());
        for name in flow.definitions.keys() {
            let named = match first {
                Some((here, there)) if here == name.as_str() => Some(there),
                Some((_, there)) if there == name.as_str() => None,
                _ => Some(announced.name(name)),
            };
            let (Some(at), Some(there)) = (a.step(name), named.and_then(|n| b.step(n))) else {
                continue;
            };
            if other_flow.definitions.contains_key(named.unwrap_or_default()) {
                let step = Some(name.to_string());
                let begins = first.is_some_and(|(here, _)| here == name.as_str());
                all.push(Both { agent: agent.clone(), step, first: begins, at: [at, there] });
            }
        }
    }
    all
}
