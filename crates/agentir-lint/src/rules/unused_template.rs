//! A template without references.

use crate::rule::{AgentContext, Check, Group, Report, Rule};
use agentir_analysis::expressions::template_refs;
use agentir_diagnostics::{RuleName, Severity};
use agentir_expr::Name;
use agentir_expr::dialect::{Construct, Keyword};
use rustc_hash::FxHashSet;

pub(crate) static RULE: Rule = Rule {
    name: RuleName("unused-template"),
    group: Group::Names,
    severity: Severity::Warning,
    summary: "a template is defined, but nothing uses it",
    vendor: &[],
    requires: &[Construct::Templates],
    check: Check::Agent(check),
};

fn check(cx: &AgentContext<'_, '_>, report: &mut Report<'_>) {
    let mut used = FxHashSet::default();
    template_refs(cx, &mut |name| {
        used.insert(name.value);
    });
    for prompt in cx.prompts() {
        used.extend(named_in(&prompt.template.text.value).map(Name::from));
    }
    for template in cx.agent.templates.values().filter(|t| !used.contains(&t.name.value)) {
        let name = &template.name;
        let words = cx.words(name.span);
        report.push(
            report
                .finding(name.span, format!("the template `{name}` is never used"))
                .help(format!(
                    "use it, for example {}, or remove it",
                    words.entry(words.keyword(Keyword::Respond), &format!("TEMPLATE({name})"))
                ))
                .note("a template that nothing refers to is never shown"),
        );
    }
}

/// The templates that instructions name: `respond with TEMPLATE(goodbye)`.
fn named_in(text: &str) -> impl Iterator<Item = &str> {
    text.split("TEMPLATE(").skip(1).filter_map(|rest| {
        let name = rest.split(')').next()?.trim();
        Some(name.trim_matches(['"', '\'', '`']))
    })
}
