//! What is known at a location of a source: the facts at the program point there.

use crate::program::ProgramAnalysis;
use agentir_diagnostics::{FileId, Premise, Span};
use agentir_flow::cfg::{AgentId, Fact};
use petgraph::graph::NodeIndex;

/// The facts at a program point.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PointFacts {
    /// The agent.
    pub agent: AgentId,
    /// What stands at the program point.
    pub span: Span,
    /// Whether any path from the entry of the agent leads to it.
    pub is_reachable: bool,
    /// What holds there on every path, oldest first, each with what it rests on.
    pub facts: Vec<Premise>,
}

/// Returns the facts at the innermost part of a program that holds an offset; `None` if nothing that
/// is executed stands there.
///
/// A fact is a test or an assignment that every path from the agent's entry passes, and that nothing
/// invalidates in between. Nothing is asked of the solver.
#[must_use]
pub fn facts_at(program: &ProgramAnalysis<'_>, file: FileId, offset: u32) -> Option<PointFacts> {
    let (agent, node, span) = innermost(program, file, offset)?;
    let analysis = program.agent(agent)?;
    let known = analysis.flow_facts();
    let facts = known.at(node).map(|fact| premise(&fact)).collect();
    Some(PointFacts { agent, span, is_reachable: known.reaches(node), facts })
}

/// The program point with the smallest span that holds an offset; of several, the last.
fn innermost(
    program: &ProgramAnalysis<'_>,
    file: FileId,
    offset: u32,
) -> Option<(AgentId, NodeIndex, Span)> {
    let graph = program.graph();
    let nodes = graph.agents().iter().flat_map(|agent| agent.nodes());
    let here = nodes.filter_map(|index| {
        let node = graph.node(index)?;
        let holds = node.span.file == file && node.span.start <= offset && offset <= node.span.end;
        (holds && node.span.end > node.span.start).then_some((node.agent, index, node.span))
    });
    here.min_by_key(|(_, index, span)| (span.end - span.start, std::cmp::Reverse(*index)))
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
