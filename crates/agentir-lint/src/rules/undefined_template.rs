//! A reference to a template that does not exist.

use crate::names::{suggest, template_refs};
use crate::rule::{AgentContext, Check, Group, Report, Rule};
use agentir_diagnostics::{RuleName, Severity};

pub(crate) static RULE: Rule = Rule {
    name: RuleName("undefined-template"),
    group: Group::Names,
    severity: Severity::Error,
    summary: "`TEMPLATE(name)` names a template that the agent does not have",
    vendor: &[],
    dialects: crate::rule::ABL,
    check: Check::Agent(check),
};

fn check(cx: &AgentContext<'_>, report: &mut Report<'_>) {
    let templates = &cx.agent.templates;
    template_refs(cx, &mut |name, whole| {
        if templates.contains_key(&name.value) || name.span.file != cx.agent.metadata.name.span.file
        {
            return;
        }
        let finding = report
            .finding(name.span, format!("there is no template `{name}`"))
            .note("the user gets no text where a template is missing");
        let mut finding =
            suggest(finding, &name.value, templates.keys().map(|k| k.as_str()), || {
                format!("define it: `{name}:` with `DEFAULT: \"…\"` below `TEMPLATES:`")
            });
        for edit in finding.fixes.iter_mut().filter(|_| whole).flat_map(|fix| &mut fix.edits) {
            edit.text = format!("TEMPLATE({})", edit.text);
        }
        report.push(finding);
    });
}
