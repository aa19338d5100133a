//! A reference to a template that does not exist.

use crate::names::suggest;
use crate::rule::{AgentContext, Check, Group, Report, Rule};
use agentir_analysis::expressions::template_refs;
use agentir_diagnostics::{RuleName, Severity};
use agentir_expr::dialect::Construct;

pub(crate) static RULE: Rule = Rule {
    name: RuleName("undefined-template"),
    group: Group::Names,
    severity: Severity::Error,
    summary: "`TEMPLATE(name)` names a template that does not exist",
    vendor: &[],
    requires: &[Construct::Templates],
    check: Check::Agent(check),
};

fn check(cx: &AgentContext<'_, '_>, report: &mut Report<'_>) {
    let templates = &cx.agent.templates;
    template_refs(cx, &mut |name| {
        if templates.contains_key(&name.value) || name.span.file != cx.agent.metadata.name.span.file
        {
            return;
        }
        let finding = report
            .finding(name.span, format!("there is no template `{name}`"))
            .note("the user sees no text where a template is missing");
        let finding = suggest(finding, &name.value, templates.keys().map(|k| k.as_str()), || {
            format!("define it: `{name}:` with `DEFAULT: \"…\"` below `TEMPLATES:`")
        });
        report.push(finding);
    });
}
