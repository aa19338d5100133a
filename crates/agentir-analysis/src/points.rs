//! What is known at a location of a source: the facts at the program point there.

use crate::program::ProgramAnalysis;
use agentir_diagnostics::{Premise, Span};
use agentir_flow::cfg::{AgentId, EdgeKind, Fact, Guard, NodeKind};
use petgraph::graph::NodeIndex;
use std::cmp::Reverse;

/// The facts at a program point.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PointFacts {
    /// The agent.
    pub agent: AgentId,
    /// What stands at the program point.
    pub span: Span,
    /// Whether a path from the entry of the agent may lead to it; false if there is none, or if what holds on all of
    /// them is proved impossible.
    pub is_reachable: bool,
    /// What holds there on every path, oldest first, each with what it rests on.
    pub facts: Vec<Premise>,
}

/// Returns the facts at the part of a program that a reader means who points to an offset of a line: the innermost
/// part that begins on the line and holds the offset, else the first part behind it (whose key the offset is in),
/// else the innermost part of several lines that holds it. `None` if nothing that is executed stands there.
///
/// A fact is a test or an assignment that every path from the agent's entry passes, and that nothing
/// invalidates in between.
#[must_use]
pub fn facts_at(program: &ProgramAnalysis<'_>, line: Span, offset: u32) -> Option<PointFacts> {
    let holds = |point: &Point| point.span.start <= offset && offset <= point.span.end;
    let length = |point: &Point| (point.span.end - point.span.start, Reverse(point.node));
    let here = |span: Span| span.file == line.file && span.end > span.start;
    let points: Vec<Point> = points(program).filter(|point| here(point.span)).collect();
    let on_line = |point: &&Point| line.start <= point.span.start && point.span.start <= line.end;
    let around = || points.iter().filter(|point| holds(point));
    let point = around().filter(on_line).min_by_key(|point| length(point)).or_else(|| {
        let behind = points.iter().filter(on_line).filter(|point| point.span.start > offset);
        let first = behind.min_by_key(|point| (point.span.start, length(point)));
        first.or_else(|| around().min_by_key(|point| length(point)))
    })?;
    let analysis = program.agent(point.agent)?;
    let known = analysis.flow_facts();
    // What is checked again before calls stands there once: the reader means the check that is made.
    let same = |other: &&Point| {
        other.agent == point.agent && other.span == point.span && other.is_behind == point.is_behind
    };
    let described = |point: &Point| {
        let before: Vec<Fact<'_>> = match point.is_behind {
            true => known.at(point.node).collect(),
            false => known.before(point.node).collect(),
        };
        let mut facts: Vec<Premise> = Vec::new();
        let mut query = analysis.query();
        let tests = program.graph().guard(point.guard).into_iter().map(Fact::Test);
        for fact in before.into_iter().chain(tests) {
            let premise = premise(&fact);
            if !facts.contains(&premise) {
                facts.push(premise);
            }
            query.assume_fact(fact);
        }
        let is_reachable = known.reaches(point.node) && query.is_satisfiable() != Some(false);
        PointFacts { agent: point.agent, span: point.span, is_reachable, facts }
    };
    let chosen = described(point);
    if chosen.is_reachable {
        return Some(chosen);
    }
    let mut others: Vec<&Point> = points.iter().filter(same).collect();
    others.sort_by_key(|point| length(point));
    Some(others.into_iter().map(described).find(|other| other.is_reachable).unwrap_or(chosen))
}

/// A program point with a place in the source: a node, or a jump from one.
struct Point {
    agent: AgentId,
    span: Span,
    node: NodeIndex,
    /// Whether it is on a way out of the node, where the node has had its effect.
    is_behind: bool,
    /// What holds besides the facts at the node.
    guard: Guard,
}

fn points(program: &ProgramAnalysis<'_>) -> impl Iterator<Item = Point> {
    let graph = program.graph();
    let nodes = graph.agents().iter().flat_map(|agent| agent.nodes());
    nodes.filter_map(|index| graph.node(index).map(|node| (index, node))).flat_map(
        move |(index, node)| {
            // These stand for what happens around the part that they name.
            let is_written = !matches!(
                node.kind,
                NodeKind::Exit
                    | NodeKind::TurnStart
                    | NodeKind::TurnEnd
                    | NodeKind::FlowEnd
                    | NodeKind::Interrupt
                    | NodeKind::Resume
            );
            let agent = node.agent;
            let guard = Guard::ALWAYS;
            let own = Point { agent, span: node.span, node: index, is_behind: false, guard };
            let jumps = graph.successors(index).filter(|(_, edge)| edge.kind == EdgeKind::Jump);
            let jumps = jumps.map(move |(_, edge)| Point {
                agent,
                span: edge.span,
                node: index,
                is_behind: true,
                guard: edge.guard,
            });
            // A condition is asked where the ones before it do not hold.
            let asked = graph.successors(index).filter_map(move |(_, edge)| {
                let test = graph.last_literal(edge.guard).filter(|literal| literal.holds)?.test;
                let guard = graph.guard_prefix(edge.guard);
                Some(Point { agent, span: test.span(), node: index, is_behind: true, guard })
            });
            is_written.then_some(own).into_iter().chain(jumps).chain(asked)
        },
    )
}

fn premise(fact: &Fact<'_>) -> Premise {
    let (span, message) = match fact {
        Fact::Test(literal) => {
            let outcome = if literal.holds { "holds" } else { "does not hold" };
            (literal.test.span(), format!("`{}` {outcome}", literal.test))
        }
        Fact::Value(set) => (set.span, format!("`{}` is `{}`", set.target, set.value)),
        Fact::Cleared(name) => (name.span, format!("`{}` has no value", name.value)),
    };
    Premise { span: Some(span), message }
}
