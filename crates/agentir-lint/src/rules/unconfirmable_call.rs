//! A hook that calls a tool which the user has to confirm.

use crate::rule::{AgentContext, Check, Group, Report, Rule};
use agentir_diagnostics::{RuleName, Severity};
use agentir_ir::{Node, Tool};
use rustc_hash::FxHashSet;

pub(crate) static RULE: Rule = Rule {
    name: RuleName("unconfirmable-call"),
    group: Group::Reachability,
    severity: Severity::Warning,
    summary: "a hook calls a tool that needs the user's confirmation",
    vendor: &[],
    requires: &[],
    check: Check::Agent(check),
};

fn check(cx: &AgentContext<'_, '_>, report: &mut Report<'_>) {
    let hooks = &cx.agent.hooks;
    let hooks = [&hooks.before_agent, &hooks.after_agent, &hooks.before_turn, &hooks.after_turn];
    if hooks.iter().all(|hook| hook.is_none()) {
        return;
    }
    let asks = |tool: &&Tool| tool.confirmation_required_at().is_some();
    let confirmed: FxHashSet<&str> =
        cx.program.program.tools().filter(asks).map(|tool| tool.name.value.as_str()).collect();
    for hook in hooks.into_iter().flatten() {
        hook.body.walk(&mut |part| {
            let Node::Call(call) = part else { return };
            let tool = &call.tool;
            if confirmed.contains(tool.value.as_str()) && cx.owns(tool.span) {
                report.push(
                    report
                        .finding(tool.span, format!("nobody can confirm `{tool}` here"))
                        .note("it needs the user's confirmation, and a hook cannot wait for an answer: the call is not made, or made without it")
                        .help("call it in a step, or let the model call it; or take the confirmation away from the tool"),
                );
            }
        });
    }
}
