//! Nested callbacks: actions after actions after actions.

use crate::rule::{AgentContext, Check, Group, Report, Rule};
use agentir_diagnostics::{RuleName, Severity, Spanned};
use agentir_expr::Name;
use agentir_expr::dialect::Construct;
use agentir_ir::{BindingAction, Body, Statement};

pub(crate) static RULE: Rule = Rule {
    name: RuleName("callback-too-deep"),
    group: Group::Reachability,
    severity: Severity::Warning,
    summary: "an action runs in the callback of a callback",
    vendor: &["action-chain-too-deep"],
    requires: &[Construct::Callbacks],
    check: Check::Agent(check),
};

fn check(cx: &AgentContext<'_, '_>, report: &mut Report<'_>) {
    let offered = cx.index.offers.iter().filter_map(|offer| match &offer.action {
        BindingAction::Call { tool } => Some((&offer.after, tool)),
        _ => None,
    });
    for (after, tool) in offered {
        below(after, &[tool], report);
    }
    let agent = cx.agent;
    let hooks = agent.hooks.iter().map(|(_, hook)| &hook.body);
    let prompt = agent.reasoning.iter().map(|zone| &zone.prepare);
    hooks.chain(prompt).chain([&agent.on_start]).for_each(|body| below(body, &[], report));
}

/// Checks the statements that run after these actions.
fn below(body: &Body, after: &[&Spanned<Name>], report: &mut Report<'_>) {
    for statement in &body.0 {
        match statement {
            Statement::Call(call) => {
                if let [.., outer, inner] = after {
                    report.push(
                        report
                            .finding(
                                call.tool.span,
                                format!("`{}` runs in the callback of a callback", call.tool),
                            )
                            .label(inner.span, "it is the callback of this action")
                            .label(outer.span, "which is the callback of this one")
                            .note("callbacks may be one level deep (specification part I, 5.9)")
                            .help("set a variable here, and run the action below an `if` on it"),
                    );
                    continue;
                }
                let mut all = after.to_vec();
                all.push(&call.tool);
                below(&call.on_success, &all, report);
            }
            Statement::If { branches } => {
                branches.iter().for_each(|b| below(&b.body, after, report));
            }
            _ => {}
        }
    }
}
