//! The correspondence between the agents and steps of two programs.

use crate::location::AnnouncedLosses;
use agentir_expr::{Expr, Name, Segment};
use agentir_flow::cfg::{AgentId, Cfg};
use agentir_ir::Program;
use petgraph::graph::NodeIndex;
use rustc_hash::{FxHashMap, FxHashSet};

/// The agents of one side that correspond to agents of the other.
#[derive(Debug, Default)]
pub(super) struct Pairs<'a> {
    /// Agents that only this program has.
    inner: FxHashSet<AgentId>,
    /// The name of an agent in the first program, where it differs.
    names: FxHashMap<&'a str, &'a str>,
    /// Variables that all agents of one program share, so that those of the other pass them on.
    shared: FxHashSet<Name>,
}

/// The variables that agents share: those with program scope, and those that they read from another
/// agent by its name.
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
    /// Whether only this program has the agent, which is then internal to its callers.
    pub(super) fn is_inner(&self, agent: AgentId) -> bool {
        self.inner.contains(&agent)
    }

    /// Whether all agents of one of the programs share a variable, by its name in this program.
    pub(super) fn is_shared(&self, variable: &str) -> bool {
        self.shared.contains(variable)
    }

    /// The name of an agent in the first program.
    pub(super) fn agent_name<'n>(&self, name: &'n str) -> &'n str
    where
        'a: 'n,
    {
        self.names.get(name).copied().unwrap_or(name)
    }
}

/// A pair of corresponding program points.
#[derive(Debug, Clone)]
pub(super) struct PointPair {
    /// The agent's name in the first program.
    pub(super) agent: String,
    /// The step; none for the entry of the agent.
    pub(super) step: Option<String>,
    /// Whether a conversation with the agent begins there, where an assignment is equivalent to an
    /// initial value.
    pub(super) first: bool,
    /// The nodes in the two graphs.
    pub(super) at: [NodeIndex; 2],
}

/// Pairs the agents by name; the only agents of two programs correspond whatever their names.
pub(super) fn agents<'a>(
    sides: [&'a Program; 2],
    cfgs: [&Cfg<'a>; 2],
    announced: &AnnouncedLosses,
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
    // The entry agents correspond whatever their names.
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

/// The corresponding program points: the entries of agents, and their steps. The first steps of
/// flows correspond whatever their names.
pub(super) fn points(
    cfgs: [&Cfg<'_>; 2],
    agents: &[(AgentId, AgentId)],
    announced: &AnnouncedLosses,
) -> Vec<PointPair> {
    let [left, right] = cfgs;
    let mut all = Vec::new();
    for (one, other) in agents {
        let (Some(a), Some(b)) = (left.agent(*one), right.agent(*other)) else { continue };
        let agent = a.agent.metadata.name.value.to_string();
        all.push(PointPair {
            agent: agent.clone(),
            step: None,
            first: true,
            at: [a.entry, b.entry],
        });
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
                all.push(PointPair { agent: agent.clone(), step, first: begins, at: [at, there] });
            }
        }
    }
    all
}
