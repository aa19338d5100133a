//! A subagent that is named in a text for the model.

use crate::rule::{AgentContext, Check, Group, Report, Rule};
use agentir_diagnostics::{RuleName, Severity};
use agentir_expr::dialect::Construct;
use agentir_expr::{ExprKind, Visit};

pub(crate) static RULE: Rule = Rule {
    name: RuleName("agent-in-prompt"),
    group: Group::Names,
    severity: Severity::Error,
    summary: "a prompt inserts a subagent, which is not a value",
    vendor: &["invalid-connected-subagent-reference"],
    requires: &[Construct::PromptReferences],
    check: Check::Agent(check),
};

fn check(cx: &AgentContext<'_, '_>, report: &mut Report<'_>) {
    for text in &cx.index.templates {
        text.exprs(&mut |expr| {
            expr.visit(&mut |e| {
                if let ExprKind::Path(path) = &e.kind
                    && let Some(space) = path.namespace.as_ref().filter(|n| cx.dialect().runtime().refers_to_agents(&n.value))
                {
                    let name = &path.root;
                    report.push(
                        report
                            .finding(e.span, format!("`@{space}.{name}` is not a value and cannot be inserted into a prompt"))
                            .note("the model sees the tools that lead to subagents, not the subagents themselves")
                            .help(format!(
                                "add a tool {}, and refer to that: `{{!@actions.go_to_{name}}}`",
                                cx.words(e.span).either("below `reasoning:`, `actions:`", "to `reasoning.bindings`")
                            )),
                    );
                }
                Visit::Children
            });
        });
    }
}
