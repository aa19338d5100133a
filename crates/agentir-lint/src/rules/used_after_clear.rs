//! A variable that is used after it has been removed.

use super::used_before_set::consequence;
use crate::evidence::explain_path;
use crate::rule::{AgentContext, Check, Group, Report, Rule};
use agentir_analysis::dataflow::{Consequence, Dataflow, UseCollector};
use agentir_diagnostics::{Label, RuleName, Severity, Span};
use agentir_expr::dialect::Phrase;
use agentir_flow::cfg::{AccessKind, EdgeKind, NodeKind};
use petgraph::graph::{EdgeIndex, NodeIndex};
use rustc_hash::FxHashSet;
use smol_str::SmolStr;

pub(crate) static RULE: Rule = Rule {
    name: RuleName("used-after-clear"),
    group: Group::Data,
    severity: Severity::Warning,
    summary: "a variable is cleared, and then used without being set again",
    vendor: &[],
    requires: &[],
    check: Check::Agent(check),
};

/// The maximum number of waits at which a digression is looked at.
const MAX_WAITS: usize = 32;

fn check(cx: &AgentContext<'_, '_>, report: &mut Report<'_>) {
    let Some(flow) = cx.dataflow() else { return };
    let mut reported: FxHashSet<Span> = FxHashSet::default();
    for (node, name, cleared) in clears(&flow) {
        if flow.is_exhausted() {
            return;
        }
        if !cx.owns(cleared) {
            continue;
        }
        let from_start = flow
            .locals
            .initially_unset()
            .contains(&name.as_str())
            .then(|| flow.undefined_from_entry(&name));
        let use_from = |from: NodeIndex| {
            let unset = flow.undefined_from(from, &name);
            let mut nodes: Vec<NodeIndex> = unset.nodes().filter(|n| *n != from).collect();
            let lengths = unset.lengths(&flow.cfg);
            nodes.sort_by_key(|n| (lengths.get(n).copied(), *n));
            // Whether this goes on where the conversation was.
            let is =
                |n: NodeIndex, kind: NodeKind| flow.cfg.node(n).is_some_and(|n| n.kind == kind);
            let resumes = nodes.iter().any(|n| {
                is(*n, NodeKind::Resume)
                    && unset.path_to(&flow.cfg, *n).iter().all(|edge| {
                        let to = flow.cfg.edge(*edge).map(|(_, to, _)| to);
                        let to = to.and_then(|to| flow.cfg.node(to));
                        to.is_some_and(|to| !to.kind.waits() && to.kind != NodeKind::Step)
                    })
            });
            let found = nodes.into_iter().find_map(|at| {
                let constants = unset.at(at)?;
                // Another rule reports variables that may not have been set at all.
                if from_start.as_ref().is_some_and(|start| start.at(at).is_some()) {
                    return None;
                }
                let path = unset.path_to(&flow.cfg, at);
                let near = from == node && !path.iter().any(|edge| leaves(&flow, *edge));
                let reads = UseCollector::at(&flow, at, &name, constants, &|tool| cx.tool(tool));
                let harmful = |(harm, span): &(Consequence, Span)| {
                    (harm.is_certain() || matches!(harm, Consequence::Pass | Consequence::Copy))
                        && cx.owns(*span)
                        && !reported.contains(span)
                        // Statements before it in the same list may run before it.
                        && !(near && span.start < cleared.start)
                };
                Some((path, reads.into_iter().find(harmful)?))
            });
            (found, resumes)
        };
        let (mut first, resumes) = use_from(node);
        let reached = || flow.cfg.reachable_in(flow.agent).contains(node);
        if first.is_none() && resumes && reached() {
            // The conversation goes on where it was: behind any wait.
            let waits = flow
                .nodes()
                .filter(|n| flow.cfg.node(*n).is_some_and(|n| n.kind.waits() && n.step.is_some()));
            first = waits.take(MAX_WAITS).find_map(|wait| use_from(wait).0);
        }
        let Some((path, (harm, span))) = first else { continue };
        reported.insert(span);
        let removed = "it is cleared here";
        let finding = report
            .finding(span, format!("`{name}` is used here after it was cleared"))
            .label(cleared, removed)
            .note(consequence(harm, flow.dialect));
        let begins = Some(Label::new(cleared, removed));
        let finding = explain_path(&flow.cfg, finding, begins, &path);
        let how = cx.words(cleared).phrase(Phrase::Clear);
        report.push(finding.help(format!("{how} after its last use, or set it again before")));
    }
}

/// Whether an edge leaves its list of statements.
fn leaves(flow: &Dataflow<'_>, edge: EdgeIndex) -> bool {
    flow.cfg.edge(edge).is_some_and(|(_, _, edge)| edge.kind != EdgeKind::Next)
}

/// Returns the nodes that remove a variable, with the variable.
fn clears(flow: &Dataflow<'_>) -> Vec<(NodeIndex, SmolStr, Span)> {
    let mut found = Vec::new();
    for node in flow.nodes() {
        for access in flow.defs(node) {
            let name = &access.variable.name;
            let persistent = name.contains('.') || name.starts_with('@');
            let clears = access.kind == AccessKind::Kill || flow.assigns_null(node, name);
            if !persistent && clears {
                found.push((node, name.clone(), access.variable.span));
            }
        }
    }
    found
}
