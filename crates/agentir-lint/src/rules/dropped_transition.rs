//! A transition that follows an action.

use crate::rule::{AgentContext, Check, Group, Report, Rule};
use agentir_diagnostics::{RuleName, Severity, Spanned};
use agentir_expr::Name;
use agentir_expr::dialect::Construct;
use agentir_ir::{BindingAction, Body, Statement};

pub(crate) static RULE: Rule = Rule {
    name: RuleName("dropped-transition"),
    group: Group::Reachability,
    severity: Severity::Warning,
    summary: "a transition below an action is dropped by the vendor's compiler",
    vendor: &["action-before-transition"],
    requires: &[Construct::Procedures],
    check: Check::Agent(check),
};

fn check(cx: &AgentContext<'_, '_>, report: &mut Report<'_>) {
    for offer in &cx.index.offers {
        let BindingAction::Call { tool } = &offer.action else { continue };
        for statement in &offer.after.0 {
            if let Statement::Handoff(handoff) = statement {
                let hook = cx.words(tool.span).either("`after_reasoning:`", "`hooks.after_turn`");
                tell(cx, &handoff.agent, tool, hook, report);
            }
        }
    }
    let hooks = cx.agent.hooks.iter().map(|(_, hook)| &hook.body);
    let prompt = cx.agent.reasoning.iter().map(|zone| &zone.prepare);
    hooks.chain(prompt).for_each(|body| of_body(cx, body, None, report));
}

/// Checks the transitions below actions that are run; `after` is the enclosing action.
fn of_body(
    cx: &AgentContext<'_, '_>,
    body: &Body,
    after: Option<&Spanned<Name>>,
    report: &mut Report<'_>,
) {
    for statement in &body.0 {
        match statement {
            Statement::Handoff(handoff) => {
                if let Some(tool) = after {
                    let below = cx
                        .words(tool.span)
                        .either("the lines below the action", "the statements after the call");
                    tell(cx, &handoff.agent, tool, below, report);
                }
            }
            Statement::Call(call) => of_body(cx, &call.on_success, Some(&call.tool), report),
            Statement::If { branches } => {
                branches.iter().for_each(|b| of_body(cx, &b.body, after, report));
            }
            _ => {}
        }
    }
}

fn tell(
    cx: &AgentContext<'_, '_>,
    to: &Spanned<Name>,
    tool: &Spanned<Name>,
    instead: &str,
    report: &mut Report<'_>,
) {
    report.push(
        report
            .finding(to.span, format!("the transition to `{to}` is dropped"))
            .label(tool.span, format!("it is below the action `{tool}`"))
            .note("the specification allows it here (part I, 5.9), but the vendor's compiler silently drops it")
            .help(match cx.words(to.span).is_json() {
                true => format!(
                    "set a variable here, and hand over to `{to}` in `branches` on it in {instead}"
                ),
                false => format!(
                    "set a variable here, and write `transition to @subagent.{to}` below an `if` on it in {instead}"
                ),
            }),
    );
}
