//! `{x}` in a text, a placeholder of older versions.

use crate::rule::{AgentContext, Check, Group, Report, Rule};
use agentir_diagnostics::{Applicability, Confidence, Edit, Fix, RuleName, Severity, Span};
use agentir_expr::dialect::Construct;
use agentir_expr::{Template, TemplatePart, Version};

pub(crate) static RULE: Rule = Rule {
    name: RuleName("single-brace-hole"),
    group: Group::Versions,
    severity: Severity::Info,
    summary: "a text uses `{x}`, which newer versions write `{{x}}`",
    vendor: &[],
    requires: &[Construct::Placeholders],
    check: Check::Agent(check),
};

fn check(cx: &AgentContext<'_, '_>, report: &mut Report<'_>) {
    if cx.version == Version::Legacy {
        return;
    }
    for template in cx.index.templates.iter().filter(|t| cx.owns(t.text.span)) {
        let holes = holes(template);
        let Some(((first, text), rest)) = holes.split_first() else { continue };
        let mut finding = report
            .finding(*first, format!("`{{{text}}}` is a placeholder of older versions"))
            .confidence(Confidence::Medium)
            .note("newer versions show it literally, including the braces")
            .help(format!("write `{{{{{text}}}}}`"));
        for (span, _) in rest.iter().take(3) {
            finding = finding.label(*span, "and here");
        }
        let edits = holes
            .iter()
            .flat_map(|(span, _)| {
                let end = Span::new(span.file, span.end, span.end);
                [
                    Edit { span: span.at_start(), text: "{".to_owned() },
                    Edit { span: end, text: "}".to_owned() },
                ]
            })
            .collect();
        let title = "double the braces".to_owned();
        report.push(finding.fix(Fix { title, edits, applicability: Applicability::Unsafe }));
    }
}

fn holes(template: &Template) -> Vec<(Span, String)> {
    let hole = |part: &TemplatePart| match part {
        TemplatePart::SingleBrace { expr, span, .. } => Some((*span, expr.to_string())),
        _ => None,
    };
    template.parts.iter().filter_map(hole).collect()
}
