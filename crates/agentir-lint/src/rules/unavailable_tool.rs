//! Instructions that tell the model to call a tool which is hidden whenever they are given.

use crate::evidence::explain_core;
use crate::rule::{AgentContext, Check, Group, Report, Rule};
use agentir_analysis::conditions::{is_stable, roots};
use agentir_diagnostics::{RuleName, Severity};
use agentir_expr::TemplatePart;
use agentir_ir::{BindingAction, Node, ToolBinding};
use rustc_hash::FxHashSet;
use smol_str::SmolStr;

pub(crate) static RULE: Rule = Rule {
    name: RuleName("unavailable-tool"),
    group: Group::Prompts,
    severity: Severity::Warning,
    summary: "instructions name a tool that is hidden whenever they are given",
    vendor: &[],
    requires: &[],
    check: Check::Agent(check),
};

/// Words before the name of a tool that tell the model to call it.
const ORDERS: [&str; 7] = ["call", "use", "run", "invoke", "execute", "start", "with"];

fn check(cx: &AgentContext<'_, '_>, report: &mut Report<'_>) {
    let guarded = cx.index.offers.iter().copied().filter(|offer| offer.available_when.is_some());
    let guarded: Vec<&ToolBinding> = guarded.collect();
    if guarded.is_empty() {
        return;
    }
    for instruction in &cx.agent.identity.instructions {
        let Some(when) = instruction
            .when
            .as_ref()
            .filter(|when| when.expr().is_some_and(is_stable) && cx.owns(when.span()))
        else {
            continue;
        };
        let template = &instruction.text;
        let mut named: Vec<(&str, u32, agentir_diagnostics::Span)> = Vec::new();
        for part in &template.parts {
            let TemplatePart::Value { expr, at, span, .. } = part else { continue };
            let Some(path) = expr.as_path() else { continue };
            if path.namespace.as_ref().is_some_and(|n| n.value == "actions") {
                named.push((&path.root.value, at.start, *span));
            }
        }
        for (name, at, span) in &named {
            let Some(offer) = guarded.iter().find(|offer| offer.name.value == *name) else {
                continue;
            };
            let before = template.text.value.get(..*at as usize).unwrap_or_default();
            if !is_order(before) {
                continue;
            }
            let Some(available) = offer.available_when.as_ref() else { continue };
            // The model may open the gate by another tool, in the same turn.
            let mut gate = FxHashSet::default();
            if let Some(expr) = available.expr().filter(|expr| is_stable(expr)) {
                roots(expr, &mut gate);
            }
            if gate.is_empty() || opens(cx, &gate, name) {
                continue;
            }
            let mut query = cx.query();
            query.assume(when, true);
            query.assume(available, true);
            let Some(core) = query.refute().filter(|core| core.assumptions.len() == 2) else {
                continue;
            };
            let finding = report
                .finding(*span, format!("`{name}` is hidden whenever this instruction is given"))
                .label(when.span(), "the instruction is given if this is true")
                .label(available.span(), "the tool is available if this is true")
                .note("the model is told to call what it is not offered")
                .help("change one of the two conditions");
            report.push(explain_core(finding, &core));
        }
    }
}

/// Whether a text ends in an order to call what follows.
fn is_order(text: &str) -> bool {
    let sentence = text.rsplit(['.', '!', '?', ';', '\n']).next().unwrap_or_default();
    let words: Vec<String> = sentence
        .split(|c: char| !(c.is_alphanumeric() || c == '\''))
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect();
    let denied = words.iter().any(|word| {
        matches!(word.as_str(), "not" | "never" | "don't" | "until" | "unless" | "if" | "once")
            || matches!(word.as_str(), "when" | "after")
    });
    !denied && words.iter().rev().take(3).any(|word| ORDERS.contains(&word.as_str()))
}

/// Whether another tool that is offered here sets a variable of a gate.
fn opens(cx: &AgentContext<'_, '_>, gate: &FxHashSet<SmolStr>, name: &str) -> bool {
    cx.index.offers.iter().filter(|offer| offer.name.value != *name).any(|offer| {
        let collects = matches!(offer.action, BindingAction::Collect)
            && offer.with.iter().any(|with| gate.contains(&with.name.value));
        let mut sets = false;
        offer.after.walk(&mut |node| match node {
            Node::Set(set) => sets |= gate.contains(&set.target.root.value),
            Node::Clear(names) => sets |= names.iter().any(|n| gate.contains(&n.value)),
            _ => {}
        });
        collects || sets
    })
}
