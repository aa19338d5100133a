//! A variable in the welcome message, which is printed before anything is set.

use crate::rule::{AgentContext, Check, Group, Report, Rule};
use agentir_diagnostics::{RuleName, Severity};
use agentir_expr::dialect::Construct;
use agentir_expr::{ExprKind, Visit};
use agentir_ir::{Data, Statement};

pub(crate) static RULE: Rule = Rule {
    name: RuleName("message-variable"),
    group: Group::Names,
    severity: Severity::Error,
    summary: "a system message reads a variable that has no value there",
    vendor: &["system-message-mutable-variable"],
    requires: &[Construct::PromptReferences],
    check: Check::Agent(check),
};

fn check(cx: &AgentContext<'_, '_>, report: &mut Report<'_>) {
    // Agent Script has no statement for messages; the welcome message is the first one.
    let welcome = cx.agent.on_start.0.iter().filter_map(|statement| match statement {
        Statement::Respond(said) => Some(("welcome", said.text.as_ref()?)),
        _ => None,
    });
    let others = cx.agent.messages.iter();
    let others = others.filter_map(|(name, said)| Some((name.as_str(), said.text.as_ref()?)));
    let texts = welcome.chain(others);
    for (message, text) in texts {
        text.exprs(&mut |expr| {
            expr.visit(&mut |e| {
                if let ExprKind::Path(path) = &e.kind
                    && path.namespace.as_ref().is_some_and(|n| n.value == "variables")
                    && let Some(variable) = cx.program.variables.get(path.root.value.as_str())
                    && variable.mutability != Some("linked")
                    && !is_external(&variable.extensions)
                {
                    let name = &path.root;
                    report.push(
                        report
                            .finding(name.span, format!("the `{message}` message cannot read `{name}`"))
                            .label(variable.name.span, "declared here, visible only to the agent")
                            .note("messages are sent by the platform, which can only read variables that it sets")
                            .help("use a linked variable, or add `visibility: \"External\"` to this one"),
                    );
                }
                Visit::Children
            });
        });
    }
}

/// Whether a variable can be set from outside.
fn is_external(extensions: &agentir_ir::Extensions) -> bool {
    extensions.named("visibility").any(
        |said| matches!(&said.value, Data::String(text) if text.eq_ignore_ascii_case("external")),
    )
}
