//! A variable that is read where nothing has set it.

use crate::dataflow::{Dataflow, Harm, Reads};
use crate::rule::{ANY, AgentContext, Check, Group, Report, Rule};
use agentir_diagnostics::{RuleName, Severity, Span};
use agentir_expr::Dialect;
use petgraph::graph::NodeIndex;
use std::cell::OnceCell;

pub(crate) static RULE: Rule = Rule {
    name: RuleName("used-before-set"),
    group: Group::Data,
    severity: Severity::Warning,
    summary: "a variable is read where nothing has set it yet",
    vendor: &[],
    dialects: ANY,
    check: Check::Agent(check),
};

/// A read that comes too early.
struct Early {
    node: NodeIndex,
    span: Span,
    harm: Harm,
    /// Whether no way sets the variable before.
    never: bool,
}

fn check(cx: &AgentContext<'_>, report: &mut Report<'_>) {
    let Some(flow) = cx.dataflow() else { return };
    for name in flow.owned.unset_at_first() {
        if flow.is_exhausted() {
            return;
        }
        // Another agent had it and did not pass it on; that is told where it is handed over.
        if cx.program.lost().takes(&cx.agent.metadata.name.value, name) {
            continue;
        }
        let early = early(cx, &flow, name);
        if let Some((first, rest)) = early.split_first() {
            tell(&flow, name, first, rest, report);
        }
    }
}

/// The reads of a variable that come too early, the nearest to the beginning first.
fn early<'a>(cx: &AgentContext<'a>, flow: &Dataflow<'a>, name: &str) -> Vec<Early> {
    let mut found = Vec::new();
    // What is only tested or copied may be meant to be unset, and in Agent Script nothing is told of it.
    let may_be_meant = flow.dialect == Dialect::AgentScript;
    let mut readers = cx.readers(flow, name).iter().filter(|r| r.harms || !may_be_meant).peekable();
    if readers.peek().is_none() {
        return found;
    }
    let unset = flow.unset_from_start(name);
    let set = OnceCell::new();
    // What is handed over to again begins with what it left.
    let again = flow.cfg.sources(flow.agent).next().is_some();
    for node in readers.map(|reader| reader.node) {
        let Some(known) = unset.at(node) else { continue };
        for (harm, span) in Reads::at(flow, node, name, known, &|tool| cx.tool(tool)) {
            let never = !again
                && flow.dialect != Dialect::AgentScript
                && !set.get_or_init(|| flow.may_be_set(name)).contains(&node);
            if cx.answers_for(span) && (harm.is_certain() || (never && harm != Harm::Test)) {
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
        format!("`{name}` is read here, but nothing has set it before")
    } else {
        format!("`{name}` may not be set here")
    };
    let mut finding =
        report.finding(first.span, message).note(consequence(first.harm, flow.dialect));
    if !first.never {
        let way = flow.unset_from_start(name).way(&flow.cfg, first.node);
        finding = flow.explain(finding, &way);
    }
    let setters = flow.setters(name);
    for place in setters.iter().take(3).filter_map(|n| setter(flow, *n, name)) {
        let says = if first.never { "it is set here only" } else { "this way passes what sets it" };
        if first.never {
            finding = finding.label(place, says);
        } else {
            finding = finding.label(place, "it is set here, which is not on the way");
        }
    }
    for other in rest.iter().take(3) {
        finding = finding.label(other.span, "also read here");
    }
    if let Some(declared) = flow.owned.declared(name).filter(|_| setters.is_empty()) {
        finding = finding.label(declared, "declared without a value");
    }
    report.push(finding.help(remedy(name, flow.dialect)));
}

/// Where a node sets a variable.
fn setter(flow: &Dataflow<'_>, node: NodeIndex, name: &str) -> Option<Span> {
    flow.defs(node)
        .iter()
        .find(|a| a.kind == agentir_flow::cfg::AccessKind::Def && crate::dataflow::root(a) == name)
        .map(|a| a.variable.span)
}

/// What the user notices of it.
pub(crate) fn consequence(harm: Harm, dialect: Dialect) -> &'static str {
    let stops = "calculating with what is unset fails, and the conversation stops there";
    match (harm, dialect) {
        (Harm::Text, Dialect::AgentScript) => "the user reads `None` in its place",
        (Harm::Text, _) => "the user reads a text with nothing in its place",
        (Harm::Argument, _) => "the tool is called without what it needs",
        (Harm::Arithmetic, Dialect::Abl) => {
            "what is unset counts as 0, so the result looks right and is wrong"
        }
        (Harm::Order, Dialect::Abl) => "what is unset counts as 0, so this holds",
        (Harm::Arithmetic | Harm::Order, _) => stops,
        (Harm::Pass, _) => "the other agent gets nothing under this name",
        (Harm::Copy | Harm::Test, _) => "what is made of it is unset as well",
    }
}

/// What to write instead.
pub(crate) fn remedy(name: &str, dialect: Dialect) -> String {
    match dialect {
        Dialect::Abl => {
            format!("set it before, give it an `INITIAL` value, or test `{name} IS SET` first")
        }
        Dialect::AgentScript => format!(
            "give it a default below `variables:`, set it before, or test `@variables.{name} is not None` first"
        ),
        Dialect::Adl => format!("set it before, or test `{name} != None` first"),
    }
}
