//! A variable that is read before it is set.

use crate::evidence::explain_path;
use crate::rule::{ANY, AgentContext, Check, Group, Report, Rule};
use agentir_analysis::dataflow::{Consequence, Dataflow, UseCollector};
use agentir_diagnostics::{RuleName, Severity, Span};
use agentir_expr::Dialect;
use petgraph::graph::NodeIndex;
use std::cell::OnceCell;

pub(crate) static RULE: Rule = Rule {
    name: RuleName("used-before-set"),
    group: Group::Data,
    severity: Severity::Warning,
    summary: "a variable is read before it is set",
    vendor: &[],
    dialects: ANY,
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
            tell(&flow, name, first, rest, report);
        }
    }
}

/// Returns the reads that happen too early, the nearest to the entry first.
fn early<'a>(cx: &AgentContext<'_, 'a>, flow: &Dataflow<'a>, name: &str) -> Vec<Early> {
    let mut found = Vec::new();
    // A test or a copy of an unset variable may be intended. In Agent Script these are never
    // reported.
    let may_be_meant = flow.dialect == Dialect::AgentScript;
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
                && flow.dialect != Dialect::AgentScript
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

fn tell(flow: &Dataflow<'_>, name: &str, first: &Early, rest: &[Early], report: &mut Report<'_>) {
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
    report.push(finding.help(remedy(name, flow.dialect)));
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
pub(crate) fn consequence(harm: Consequence, dialect: Dialect) -> &'static str {
    let stops = "arithmetic with an unset variable fails, and the conversation stops";
    match (harm, dialect) {
        (Consequence::Text, Dialect::AgentScript) => "the user sees `None` in its place",
        (Consequence::Text, _) => "the user sees a text with nothing in its place",
        (Consequence::Argument, _) => "the tool is called without a value",
        (Consequence::Arithmetic, Dialect::Abl) => {
            "an unset variable counts as 0, so the result is wrong"
        }
        (Consequence::Order, Dialect::Abl) => "an unset variable counts as 0, so this is true",
        (Consequence::Arithmetic | Consequence::Order, _) => stops,
        (Consequence::Pass, _) => "the other agent gets nothing under this name",
        (Consequence::Copy | Consequence::Test, _) => "the result is unset as well",
    }
}

/// Returns what to write instead.
pub(crate) fn remedy(name: &str, dialect: Dialect) -> String {
    match dialect {
        Dialect::Abl => {
            format!("set it first, give it an `INITIAL` value, or test `{name} IS SET`")
        }
        Dialect::AgentScript => format!(
            "give it a default below `variables:`, set it first, or test `@variables.{name} is not None`"
        ),
        Dialect::Adl => format!("set it first, or test `{name} != None`"),
    }
}
