//! A reference to a template that does not exist.

use crate::names::suggest;
use crate::rule::{AgentContext, Check, Group, Report, Rule};
use agentir_analysis::expressions::template_refs;
use agentir_diagnostics::{RuleName, Severity};
use agentir_expr::dialect::{Construct, Keyword};

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
            let words = cx.words(name.span);
            let (default, all) =
                (words.keyword(Keyword::Default), words.keyword(Keyword::Templates));
            match words.is_json() {
                true => format!("define it in `{all}`: `\"{name}\": {{\"{default}\": \"…\"}}`"),
                false => format!("define it: `{name}:` with `{default}: \"…\"` below `{all}:`"),
            }
        });
        report.push(finding);
    });
}
