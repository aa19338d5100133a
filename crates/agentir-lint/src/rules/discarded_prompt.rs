//! A text for the model in a procedure without a model call.

use crate::rule::{AgentContext, Check, Group, Report, Rule};
use agentir_diagnostics::{RuleName, Severity, Spanned};
use agentir_expr::dialect::Construct;
use agentir_expr::{Name, Template};
use agentir_ir::{Body, Statement};

pub(crate) static RULE: Rule = Rule {
    name: RuleName("discarded-prompt"),
    group: Group::Reachability,
    severity: Severity::Warning,
    summary: "a prompt is built, but the subagent is left before the model reads it",
    vendor: &["discarded-prompt-before-transition"],
    requires: &[Construct::Procedures],
    check: Check::Agent(check),
};

fn check(cx: &AgentContext<'_, '_>, report: &mut Report<'_>) {
    if let Some(zone) = &cx.agent.reasoning {
        look(&zone.prepare, report);
    }
}

fn look(body: &Body, report: &mut Report<'_>) {
    let mut said: Option<&Template> = None;
    for statement in &body.0 {
        match statement {
            Statement::Instruct { text } => said = said.or(Some(text)),
            Statement::Handoff(handoff) => {
                if let Some(text) = said {
                    tell(text, &handoff.agent, report);
                }
                return;
            }
            Statement::If { branches } => branches.iter().for_each(|b| look(&b.body, report)),
            _ => {}
        }
    }
}

fn tell(text: &Template, to: &Spanned<Name>, report: &mut Report<'_>) {
    report.push(
        report
            .finding(text.text.span, "this prompt is discarded: the model never reads it")
            .label(to.span, format!("the conversation moves on to `{to}` first"))
            .note("a transition in the instructions leaves immediately, and the prompt built so far is lost")
            .help("remove the text, or make the transition a tool"),
    );
}
