//! Sessions that were begun with an earlier version of the agents.
//!
//! A session stores nodes and edges by their numbers in the graph, which change with the agents. So
//! each turn also notes where the numbers in use are: the agent, the step, the kind, and which of the
//! nodes of this kind. A changed program has the same place if the step still has as many nodes of the
//! kind; texts, conditions, and statements of other kinds may be different.

use super::{Machine, index, scope};
use crate::json::from_json;
use crate::session::{EdgePlace, Frame, NodePlace, Places, ReturnPoint, Session};
use agentir_eval::{State, Value};
use agentir_expr::ValueType;
use agentir_flow::cfg::NodeKind;
use agentir_ir::{Agent, Node as IrNode};
use petgraph::graph::{EdgeIndex, NodeIndex};
use std::fmt;

/// The part of a session that does not fit changed agents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Misfit {
    /// The session was written by a version that does not note where it stands.
    NoPlaces,
    /// An agent that is active does not exist any more.
    Agent(String),
    /// A step where the conversation stands does not exist any more: the agent and the step.
    Step(String, String),
    /// The place where the conversation stands cannot be found again: the agent, the step, and the
    /// kind of node.
    Place(String, Option<String>, String),
    /// A variable has a value that is not of its type any more: the agent, the variable, and the type.
    Variable(String, String, &'static str),
}

impl fmt::Display for Misfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoPlaces => f.write_str(
                "it was last written by an earlier version of agentir, which did not note where it stands",
            ),
            Self::Agent(name) => write!(f, "there is no agent `{name}` any more, and it is active"),
            Self::Step(agent, step) => {
                write!(f, "`{agent}` has no step `{step}` any more, and the conversation stands there")
            }
            Self::Place(agent, step, kind) => {
                let of = step.as_ref().map(|step| format!("step `{step}` of ")).unwrap_or_default();
                write!(
                    f,
                    "{of}`{agent}` has not as many nodes of kind `{kind}` as before, and the conversation stands \
                     at one of them"
                )
            }
            Self::Variable(agent, name, words) => {
                write!(f, "the variable `{name}` of `{agent}` takes {words} now, and its value is something else")
            }
        }
    }
}

impl std::error::Error for Misfit {}

impl<'p> Machine<'p> {
    /// Notes where the numbers of a session are.
    pub(super) fn note_places(&self, session: &mut Session) {
        let mut places = Places::default();
        for frame in session.frames() {
            for number in frame_nodes(frame) {
                if let Some(place) = self.node_place(number) {
                    places.nodes.insert(number, place);
                }
            }
            for number in frame.edge_counts.keys().chain(frame.delegations.keys()) {
                if let Some(place) = self.edge_place(*number) {
                    places.edges.insert(*number, place);
                }
            }
        }
        session.places = Some(places);
    }

    fn node_place(&self, number: u32) -> Option<NodePlace> {
        let at = NodeIndex::new(number as usize);
        let node = self.cfg.node(at)?;
        let part = self.cfg.agent(node.agent)?;
        let step = node.step.map(|step| step.name.value.as_str());
        let (mut before, mut of) = (0, 0);
        for other in part.nodes() {
            let same = self.cfg.node(other).is_some_and(|n| {
                n.kind == node.kind && n.step.map(|step| step.name.value.as_str()) == step
            });
            of += usize::from(same);
            before += usize::from(same && other < at);
        }
        Some(NodePlace {
            agent: part.agent.metadata.name.value.to_string(),
            step: step.map(str::to_owned),
            kind: node.kind.name().to_owned(),
            at: before,
            of,
        })
    }

    fn edge_place(&self, number: u32) -> Option<EdgePlace> {
        let (from, to, edge) = self.cfg.edge(EdgeIndex::new(number as usize))?;
        Some(EdgePlace {
            from: self.node_place(index(from.index()))?,
            to: self.node_place(index(to.index()))?,
            kind: edge.kind.name().to_owned(),
        })
    }

    /// The node of a place.
    fn find_node(&self, place: &NodePlace) -> Result<u32, Misfit> {
        let agent = self.cfg.find(&place.agent).and_then(|id| self.cfg.agent(id));
        let part = agent.ok_or_else(|| Misfit::Agent(place.agent.clone()))?;
        if let Some(step) = &place.step
            && part.step(step).is_none()
        {
            return Err(Misfit::Step(place.agent.clone(), step.clone()));
        }
        let nodes: Vec<NodeIndex> = part
            .nodes()
            .filter(|at| {
                self.cfg.node(*at).is_some_and(|node| {
                    node.kind.name() == place.kind
                        && node.step.map(|step| step.name.value.as_str()) == place.step.as_deref()
                })
            })
            .collect();
        match nodes.get(place.at) {
            Some(node) if nodes.len() == place.of => Ok(index(node.index())),
            _ => Err(Misfit::Place(place.agent.clone(), place.step.clone(), place.kind.clone())),
        }
    }

    fn find_edge(&self, place: &EdgePlace) -> Option<u32> {
        let from = self.find_node(&place.from).ok()?;
        let to = NodeIndex::new(self.find_node(&place.to).ok()? as usize);
        let edges = self.outgoing.get(from as usize)?;
        let edge = edges.iter().find(|id| {
            self.cfg
                .edge(**id)
                .is_some_and(|(_, target, edge)| target == to && edge.kind.name() == place.kind)
        });
        edge.map(|id| index(id.index()))
    }

    /// Prepares a session to continue with this program, which may be a changed version of the one
    /// that it was begun with; returns whether it is. New variables get their initial values, and
    /// the number of attempts at a place that does not exist any more is forgotten.
    ///
    /// # Errors
    /// Returns the first part of the session that does not fit, and leaves the session as it is.
    pub fn adopt(&self, session: &mut Session) -> Result<bool, Misfit> {
        if session.program == self.fingerprint {
            return Ok(false);
        }
        let mut adopted = session.clone();
        let places = adopted.places.take();
        if places.is_none() && session.frames().next().is_some() {
            return Err(Misfit::NoPlaces);
        }
        let places = places.unwrap_or_default();
        for frame in adopted.stack.iter_mut().chain(&mut adopted.parked) {
            let mut next = Some(frame);
            while let Some(frame) = next {
                self.adopt_frame(frame, &places)?;
                next = frame.routed_by.as_deref_mut();
            }
        }
        let mut fresh = State::new();
        for agent in self.program.agents() {
            scope::shared_variables(agent, &mut fresh, &mut adopted.system);
        }
        for (name, value) in fresh.variables() {
            if adopted.shared.get(name).is_none() {
                adopted.shared.set(name.clone(), value.clone());
            }
        }
        adopted.program.clone_from(&self.fingerprint);
        self.note_places(&mut adopted);
        *session = adopted;
        Ok(true)
    }

    /// The node that asks the user about the call that is held up at a node, if the user had agreed to it.
    fn confirmation_before(&self, held: u32) -> Option<u32> {
        let at = NodeIndex::new(held as usize);
        self.cfg.node(at).filter(|node| node.kind == NodeKind::Checkpoint)?;
        let mut before = self.cfg.predecessors(at);
        let confirms = |from: NodeIndex| {
            self.cfg.node(from).is_some_and(|node| node.kind == NodeKind::Confirm)
        };
        let (confirm, _) = before.find(|(from, _)| confirms(*from))?;
        Some(index(confirm.index()))
    }

    /// Maps the numbers of a frame to those of this program.
    fn adopt_frame(&self, frame: &mut Frame, places: &Places) -> Result<(), Misfit> {
        let node = |number: u32| match places.nodes.get(&number) {
            Some(place) => self.find_node(place),
            None => Err(Misfit::NoPlaces),
        };
        let edge = |number: u32| self.find_edge(places.edges.get(&number)?);
        let agent = self.program.agent(&frame.agent);
        // An agent that runs elsewhere is not in the program.
        if let Some(agent) = agent {
            check_variables(agent, &frame.variables)?;
            add_variables(agent, &mut frame.variables);
        } else if self.cfg.find(&frame.agent).is_none() {
            return Err(Misfit::Agent(frame.agent.clone()));
        }
        frame.node = node(frame.node)?;
        for back in &mut frame.return_points {
            back.node = node(back.node)?;
        }
        for back in &mut frame.return_points {
            // A call that the user has agreed to and that is still held up may be another one now.
            if let Some(confirm) = self.confirmation_before(back.node) {
                *back = ReturnPoint { node: confirm, stage: 0 };
            }
        }
        frame.approved = None;
        if let Some(proposal) = &mut frame.proposed {
            proposal.node = node(proposal.node)?;
            proposal.before_change = true;
        }
        if let Some(remote) = &mut frame.remote {
            remote.node = node(remote.node)?;
        }
        frame.returns_to = frame.returns_to.map(node).transpose()?;
        frame.ask_counts = std::mem::take(&mut frame.ask_counts)
            .into_iter()
            .filter_map(|(number, count)| Some((node(number).ok()?, count)))
            .collect();
        frame.edge_counts = std::mem::take(&mut frame.edge_counts)
            .into_iter()
            .filter_map(|(number, count)| Some((edge(number)?, count)))
            .collect();
        frame.delegations = std::mem::take(&mut frame.delegations)
            .into_iter()
            .filter_map(|(number, input)| Some((edge(number)?, input)))
            .collect();
        Ok(())
    }
}

/// The nodes that a frame refers to.
fn frame_nodes(frame: &Frame) -> impl Iterator<Item = u32> {
    let proposals = frame.proposed.iter().chain(&frame.approved).map(|proposal| proposal.node);
    std::iter::once(frame.node)
        .chain(frame.return_points.iter().map(|back| back.node))
        .chain(proposals)
        .chain(frame.remote.iter().map(|remote| remote.node))
        .chain(frame.returns_to)
        .chain(frame.ask_counts.keys().copied())
}

/// The declared types of an agent's variables, including the fields that its steps collect.
fn declared(agent: &Agent) -> Vec<(&str, ValueType)> {
    let mut types = Vec::new();
    agent.walk(&mut |node| {
        if let IrNode::Field(field) = node
            && let Some(ty) = field.ty.as_ref().and_then(|ty| ValueType::named(&ty.value))
        {
            types.push((field.name.value.as_str(), ty));
        }
    });
    let variables = agent.memory.session.iter();
    types.extend(
        variables.filter_map(|v| Some((v.name.value.as_str(), ValueType::of(v.ty.as_ref()?)?))),
    );
    types
}

/// Checks that values are of the types that are declared now.
fn check_variables(agent: &Agent, variables: &State) -> Result<(), Misfit> {
    for (name, ty) in declared(agent) {
        let Some(value) = variables.get(name) else { continue };
        let fits = matches!(
            (&ty, value),
            (_, Value::Undefined | Value::Null)
                | (ValueType::Text, Value::Text(_))
                | (ValueType::Number, Value::Number(_))
                | (ValueType::Boolean, Value::Bool(_))
                | (ValueType::Date, Value::Date(_) | Value::Text(_))
                | (ValueType::List(_), Value::List(_))
                | (ValueType::Object, Value::Object(_))
        );
        if !fits {
            let agent = agent.metadata.name.value.to_string();
            return Err(Misfit::Variable(agent, name.to_owned(), ty.words()));
        }
    }
    Ok(())
}

/// Adds the variables that were declared since the agent was entered.
fn add_variables(agent: &Agent, variables: &mut State) {
    for variable in &agent.memory.session {
        let name = &variable.name.value;
        if variable.scope != Some("program")
            && variables.get(name).is_none()
            && !super::write_access::is_owned(agent, name)
            && let Some(value) = variable.initial_value.as_ref().and_then(|v| from_json(v).ok())
        {
            variables.set(name.clone(), value);
        }
    }
}
