//! Evidence of findings: what a conclusion was drawn from, in words.

use agentir_analysis::proof::UnsatCore;
use agentir_diagnostics::{Binding, Diagnostic, Label, Premise, Span};
use agentir_eval::Value;
use agentir_flow::Cfg;
use agentir_flow::cfg::{DecidedBy, NodeKind};
use agentir_solver::Example;
use petgraph::graph::EdgeIndex;

/// Adds the facts of a core to a finding, and the whole core to its evidence.
pub(crate) fn explain_core(finding: Diagnostic, core: &UnsatCore) -> Diagnostic {
    let finding = add_core(finding, core);
    core.facts.iter().fold(finding, |finding, source| {
        let finding = match source.span {
            Some(span) => finding.label(span, source.message.clone()),
            None => finding.note(source.message.clone()),
        };
        let places = source.places.iter();
        places.fold(finding, |finding, (span, message)| finding.label(*span, message.clone()))
    })
}

/// Adds a core to the evidence of a finding.
pub(crate) fn add_core(finding: Diagnostic, core: &UnsatCore) -> Diagnostic {
    let facts = core.facts.iter().flat_map(|source| {
        let places = source.places.iter();
        let places =
            places.map(|(span, message)| Premise { span: Some(*span), message: message.clone() });
        let own = Premise { span: source.span, message: source.message.clone() };
        std::iter::once(own).chain(places)
    });
    finding.proof(core.premises().iter().cloned().chain(facts))
}

/// Returns the relevant variables of an example, as evidence.
pub(crate) fn bindings(example: &Example) -> impl Iterator<Item = Binding> {
    example.shown.iter().map(|(name, value)| binding(name, value))
}

/// Returns a variable and its value, as evidence.
pub(crate) fn binding(variable: &str, value: &Value) -> Binding {
    let value = (!value.is_unset()).then(|| value.to_json());
    Binding { variable: variable.to_owned(), value }
}

/// Explains a path through the graph in a finding, by its branches and steps. `begins` is where the path begins.
pub(crate) fn explain_path(
    cfg: &Cfg<'_>,
    mut finding: Diagnostic,
    begins: Option<Label>,
    path: &[EdgeIndex],
) -> Diagnostic {
    let mut shown: Vec<Span> = vec![finding.primary.span];
    let waypoints = path.iter().filter_map(|edge| {
        let (_, to, edge) = cfg.edge(*edge)?;
        let step = cfg.node(to)?;
        match (step.kind, step.step) {
            _ if edge.decided_by == DecidedBy::Condition && !edge.guard.is_always() => {
                let literal = cfg.last_literal(edge.guard)?;
                let message = if literal.holds { "this is true" } else { "this is false" };
                let label = format!("{message} on the path");
                Some((literal.test.span(), message.to_owned(), label))
            }
            (NodeKind::Step, Some(step)) => {
                let message = format!("then the step `{}`", step.name);
                let label = format!("the path continues with the step `{}`", step.name);
                Some((step.name.span, message, label))
            }
            _ => None,
        }
    });
    let waypoints: Vec<(Span, String, String)> = waypoints.collect();
    let mut run: Vec<Label> = begins.into_iter().collect();
    run.extend(waypoints.iter().map(|(span, message, _)| Label::new(*span, message.as_str())));
    if !run.is_empty() {
        run.push(Label::new(finding.primary.span, finding.message.as_str()));
    }
    finding = finding.run(run, false);
    // Long paths are abbreviated in the middle.
    let skipped = waypoints.len().saturating_sub(6);
    for (at, (span, _, label)) in waypoints.into_iter().enumerate() {
        if (3..3 + skipped).contains(&at) || shown.contains(&span) {
            continue;
        }
        shown.push(span);
        finding = finding.label(span, label);
    }
    finding
}

/// Returns the edges of a path that lead from one step to the next, in order.
pub(crate) fn step_transitions(cfg: &Cfg<'_>, path: &[EdgeIndex]) -> Vec<(Span, String)> {
    let mut step_transitions = Vec::new();
    for (from, to, edge) in path.iter().filter_map(|id| cfg.edge(*id)) {
        let (Some(from), Some(to)) = (cfg.node(from), cfg.node(to)) else { continue };
        let (NodeKind::Step, Some(step)) = (to.kind, to.step) else { continue };
        let Some(before) = from.step else { continue };
        if edge.span != Span::default() {
            let message = if before.name == step.name {
                format!("`{}` starts again", step.name)
            } else {
                format!("`{}` continues with `{}`", before.name, step.name)
            };
            step_transitions.push((edge.span, message));
        }
    }
    step_transitions
}
