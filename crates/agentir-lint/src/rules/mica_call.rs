//! Calls that behave differently in MICA than in the paper.

use crate::rule::{Check, Group, Report, Rule};
use agentir_analysis::ProgramAnalysis;
use agentir_diagnostics::{RuleName, Severity, Span, Spanned};
use agentir_expr::Name;
use agentir_expr::dialect::Construct;
use agentir_ir::{Agent, AgentType, Body, Call, Flow, Statement, Target};
use petgraph::algo::kosaraju_scc;
use petgraph::graph::{DiGraph, NodeIndex};
use rustc_hash::FxHashMap;

pub(crate) static RULE: Rule = Rule {
    name: RuleName("mica-call"),
    group: Group::Mica,
    severity: Severity::Warning,
    summary: "a call behaves differently in MICA than in the paper",
    vendor: &[],
    requires: &[Construct::Mica],
    check: Check::Program(check),
};

fn check(cx: &ProgramAnalysis<'_>, report: &mut Report<'_>) {
    let mut agents: FxHashMap<&str, Callee<'_>> = FxHashMap::default();
    for agent in cx.program.agents() {
        agents.entry(&agent.metadata.name.value).or_insert_with(|| Callee::new(agent));
    }
    for flow in cx.program.agents().filter_map(|a| a.flow.as_ref()) {
        let loops = Loops::new(flow);
        for step in flow.definitions.values() {
            let cycle = loops.of.get(step.name.value.as_str()).copied();
            let mut walk = Walk { flow, agents: &agents, loops: &loops, cycle, report };
            walk.body(&step.body, After::default());
        }
    }
}

/// What a caller needs to know about an agent.
struct Callee<'a> {
    ensemble: bool,
    /// It answers from a knowledge base.
    knows: bool,
    /// The statement with which it fails.
    fails: Option<&'a Span>,
}

impl<'a> Callee<'a> {
    fn new(agent: &'a Agent) -> Self {
        let bodies = agent.flow.iter().flat_map(|f| f.definitions.values());
        Self {
            ensemble: agent.metadata.kind == AgentType::Supervisor,
            knows: agent.flow.is_none() && agent.knowledge.is_some(),
            fails: bodies.filter_map(|step| failure(&step.body)).next(),
        }
    }
}

fn failure(body: &Body) -> Option<&Span> {
    body.0.iter().find_map(|statement| match statement {
        Statement::Goto(jump) if matches!(jump.target, Target::Fail) => Some(&jump.span),
        Statement::If { branches } | Statement::Await { branches } => {
            branches.iter().find_map(|b| failure(&b.body))
        }
        _ => None,
    })
}

/// The cycles of a flow.
struct Loops<'a> {
    /// The cycle that each step is part of.
    of: FxHashMap<&'a str, usize>,
}

impl<'a> Loops<'a> {
    fn new(flow: &'a Flow) -> Self {
        let mut graph: DiGraph<&str, ()> = DiGraph::new();
        let nodes: FxHashMap<&str, NodeIndex> =
            flow.definitions.keys().map(|name| (name.as_str(), graph.add_node(name))).collect();
        for (name, step) in &flow.definitions {
            let mut to = Vec::new();
            jumps(&step.body, &mut to);
            for target in to {
                if let (Some(from), Some(to)) = (nodes.get(name.as_str()), nodes.get(target)) {
                    graph.add_edge(*from, *to, ());
                }
            }
        }
        let mut of = FxHashMap::default();
        for (number, cycle) in kosaraju_scc(&graph).iter().enumerate() {
            let round = |node: &NodeIndex| cycle.len() > 1 || graph.contains_edge(*node, *node);
            for node in cycle.iter().filter(|n| round(n)) {
                of.extend(graph.node_weight(*node).map(|name| (*name, number)));
            }
        }
        Self { of }
    }
}

/// Collects the steps that a body can jump to.
fn jumps<'a>(body: &'a Body, found: &mut Vec<&'a str>) {
    for statement in &body.0 {
        match statement {
            Statement::Goto(jump) | Statement::Repeat { jump, .. } => {
                found.extend(jump.target.step().map(|s| s.value.as_str()));
            }
            Statement::If { branches } | Statement::Await { branches } => {
                branches.iter().for_each(|b| jumps(&b.body, found))
            }
            _ => {}
        }
    }
}

/// What follows a statement.
#[derive(Clone, Copy, Default)]
struct After {
    /// Any statement.
    something: bool,
    /// A jump that leads back to the statement.
    again: bool,
}

struct Walk<'w, 'a, 'r> {
    flow: &'a Flow,
    agents: &'w FxHashMap<&'a str, Callee<'a>>,
    loops: &'w Loops<'a>,
    /// The cycle of the current step.
    cycle: Option<usize>,
    report: &'w mut Report<'r>,
}

impl<'a> Walk<'_, 'a, '_> {
    /// Traverses statements in reverse, so that the successors are known.
    fn body(&mut self, body: &'a Body, mut after: After) {
        for statement in body.0.iter().rev() {
            match statement {
                Statement::Delegate(d) => self.agent(&d.agent, after),
                Statement::Call(call) => self.function(call, after),
                Statement::Goto(jump) => {
                    // Only its target follows a jump.
                    let target = jump.target.step().map(|s| s.value.as_str());
                    after.something = target.is_some_and(|t| self.does_something(t));
                    after.again = target.is_some_and(|t| self.leads_round(t));
                    continue;
                }
                Statement::Repeat { jump, .. } => {
                    after.again |= jump.target.step().is_some_and(|s| self.leads_round(&s.value));
                }
                Statement::If { branches } | Statement::Await { branches } => {
                    let mut found = Vec::new();
                    for branch in branches {
                        self.body(&branch.body, after);
                        jumps(&branch.body, &mut found);
                    }
                    after.again |= found.into_iter().any(|to| self.leads_round(to));
                }
                _ => {}
            }
            after.something = true;
        }
    }

    fn leads_round(&self, to: &str) -> bool {
        self.cycle.is_some() && self.loops.of.get(to).copied() == self.cycle
    }

    /// Whether a step does more than end the agent.
    fn does_something(&self, step: &str) -> bool {
        self.flow.definitions.get(step).is_some_and(|step| {
            let ends = |s: &Statement| {
                matches!(s, Statement::Goto(jump) if matches!(jump.target, Target::Complete))
            };
            !step.body.0.iter().all(ends)
        })
    }

    fn agent(&mut self, target: &Spanned<Name>, after: After) {
        let Some(callee) = self.agents.get(target.value.as_str()) else { return };
        if callee.knows {
            self.report.push(
                self.report
                    .finding(
                        target.span,
                        format!("MICA shows nothing when a flow calls the kb agent `{target}`"),
                    )
                    .note("the answer is only stored in the data of the turn")
                    .help("put the agent into an ensemble, and end this flow here"),
            );
        } else if callee.ensemble && after.something {
            self.report.push(
                self.report
                    .finding(
                        target.span,
                        format!("MICA does not return from the ensemble `{target}`"),
                    )
                    .note("a flow that calls an ensemble never continues, so the steps after the call are never executed")
                    .help("call its agents directly, or put the call last"),
            );
        } else if let Some(failure) = callee.fails.filter(|_| after.something) {
            self.report.push(
                self.report
                    .finding(target.span, format!("MICA ends this flow if `{target}` fails"))
                    .label(*failure, "it fails here")
                    .note("the steps after the call are then not executed, and the flow counts as completed")
                    .help("end it with `return: success`, and report the outcome in an argument"),
            );
        }
    }

    fn function(&mut self, call: &Call, after: After) {
        if !after.again {
            return;
        }
        let name = &call.tool;
        self.report.push(
            self.report
                .finding(
                    name.span,
                    format!("MICA calls `{name}` only once, although it is in a loop"),
                )
                .note("it caches the result of each step and reuses it when the step is repeated")
                .help("if the result can change, let an llm agent call the function"),
        );
    }
}
