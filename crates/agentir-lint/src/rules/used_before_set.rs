//! A variable that is read before it is set.

use crate::evidence::explain_path;
use crate::rule::{AgentContext, Check, Group, Report, Rule};
use agentir_analysis::dataflow::{Consequence, Dataflow, UseCollector};
use agentir_diagnostics::{RuleName, Severity, Span};
use agentir_expr::Dialect;
use agentir_expr::dialect::{Phrase, Unset};
use petgraph::graph::NodeIndex;
use std::cell::OnceCell;

pub(crate) static RULE: Rule = Rule {
    name: RuleName("used-before-set"),
    group: Group::Data,
    severity: Severity::Warning,
    summary: "a variable is read before it is set",
    vendor: &[],
    requires: &[],
    check: Check::Agent(check),
};

/// A read that happens too early.
struct Early {
    node: NodeIndex,
    span: Span,
    harm: Consequence,
    /// Whether no path sets the variable before.
    never: bool,
}

fn check(cx: &AgentContext<'_, '_>, report: &mut Report<'_>) {
    let Some(flow) = cx.dataflow() else { return };
    for name in flow.locals.initially_unset() {
        if flow.is_exhausted() {
            return;
        }
        // Another rule reports variables that a previous agent did not pass on.
        if cx.program.dropped().takes(&cx.agent.metadata.name.value, name) {
            continue;
        }
        let early = early(cx, &flow, name);
        if let Some((first, rest)) = early.split_first() {
            tell(cx, &flow, name, first, rest, report);
        }
    }
}

/// Returns the reads that happen too early, the nearest to the entry first.
fn early<'a>(cx: &AgentContext<'_, 'a>, flow: &Dataflow<'a>, name: &str) -> Vec<Early> {
    let mut found = Vec::new();
    // A test or a copy of an unset variable may be intended.
    let may_be_meant = cx.traits().unset_is_a_value;
    let mut use_sites =
        cx.use_sites(flow, name).iter().filter(|r| r.has_consequence || !may_be_meant).peekable();
    if use_sites.peek().is_none() {
        return found;
    }
    let unset = flow.undefined_from_entry(name);
    let set = OnceCell::new();
    // An agent that is entered again keeps its variables.
    let again = flow.cfg.sources(flow.agent).next().is_some();
    for node in use_sites.map(|reader| reader.node) {
        let Some(constants) = unset.at(node) else { continue };
        for (harm, span) in UseCollector::at(flow, node, name, constants, &|tool| cx.tool(tool)) {
            let never = !again
                && !cx.traits().shared_variables
                && !set.get_or_init(|| flow.may_be_set(name)).contains(&node);
            if cx.owns(span) && (harm.is_certain() || (never && harm != Consequence::Test)) {
                found.push(Early { node, span, harm, never });
            }
        }
    }
    if found.is_empty() {
        return found;
    }
    let lengths = unset.lengths(&flow.cfg);
    found.sort_by_key(|e| (!e.never, lengths.get(&e.node).copied(), e.span.start));
    found.dedup_by_key(|e| e.span);
    found
}

fn tell(
    cx: &AgentContext<'_, '_>,
    flow: &Dataflow<'_>,
    name: &str,
    first: &Early,
    rest: &[Early],
    report: &mut Report<'_>,
) {
    let message = if first.never {
        format!("`{name}` is read before anything sets it")
    } else {
        format!("`{name}` may be unset here")
    };
    let mut finding =
        report.finding(first.span, message).note(consequence(first.harm, flow.dialect));
    if !first.never {
        let path = flow.undefined_from_entry(name).path_to(&flow.cfg, first.node);
        finding = explain_path(&flow.cfg, finding, None, &path);
    }
    let def_nodes = flow.def_nodes(name);
    for place in def_nodes.iter().take(3).filter_map(|n| setter(flow, *n, name)) {
        let message =
            if first.never { "it is only set here" } else { "this path bypasses what sets it" };
        if first.never {
            finding = finding.label(place, message);
        } else {
            finding = finding.label(place, "it is set here, which is not on every path");
        }
    }
    for other in rest.iter().take(3) {
        finding = finding.label(other.span, "also read here");
    }
    if let Some(declared) = flow.locals.declared(name).filter(|_| def_nodes.is_empty()) {
        finding = finding.label(declared, "declared without a value");
    }
    report.push(finding.help(remedy(cx, first.span, name)));
}

/// Returns the span at which a node sets a variable.
fn setter(flow: &Dataflow<'_>, node: NodeIndex, name: &str) -> Option<Span> {
    flow.defs(node)
        .iter()
        .find(|a| {
            a.kind == agentir_flow::cfg::AccessKind::Def
                && agentir_analysis::dataflow::root(a) == name
        })
        .map(|a| a.variable.span)
}

/// Returns the effect that the user notices.
pub(crate) fn consequence(harm: Consequence, dialect: Dialect) -> String {
    let semantics = dialect.semantics();
    match (harm, semantics.unset_number) {
        (Consequence::Text, _) if semantics.unset_text.is_empty() => {
            "the user sees a text with nothing in its place".to_owned()
        }
        (Consequence::Text, _) => format!("the user sees `{}` in its place", semantics.unset_text),
        (Consequence::Argument, _) => "the tool is called without a value".to_owned(),
        (Consequence::Arithmetic, Unset::Nothing) => {
            "an unset variable counts as 0, so the result is wrong".to_owned()
        }
        (Consequence::Order, Unset::Nothing) => {
            "an unset variable counts as 0, so this is true".to_owned()
        }
        (Consequence::Arithmetic | Consequence::Order, Unset::Error) => {
            "arithmetic with an unset variable fails, and the conversation stops".to_owned()
        }
        (Consequence::Pass, _) => "the other agent gets nothing under this name".to_owned(),
        (Consequence::Copy | Consequence::Test, _) => "the result is unset as well".to_owned(),
    }
}

/// Returns what to write instead.
pub(crate) fn remedy(cx: &AgentContext<'_, '_>, span: Span, name: &str) -> String {
    let phrase = if cx.tool(name).is_some() { Phrase::CallBefore } else { Phrase::SetBefore };
    cx.words(span).phrase_with(phrase, &[("name", name)])
}
