//! An entity without references.

use crate::rule::{AgentContext, Check, Group, Report, Rule};
use agentir_analysis::expressions::expressions;
use agentir_analysis::variables::roots;
use agentir_diagnostics::{RuleName, Severity};
use agentir_expr::dialect::{Construct, Keyword};
use rustc_hash::FxHashSet;

pub(crate) static RULE: Rule = Rule {
    name: RuleName("unused-entity"),
    group: Group::Names,
    severity: Severity::Warning,
    summary: "an entity is defined, but no field or intent uses it",
    vendor: &[],
    requires: &[Construct::Entities],
    check: Check::Agent(check),
};

fn check(cx: &AgentContext<'_, '_>, report: &mut Report<'_>) {
    if cx.agent.entities.is_empty() {
        return;
    }
    let fields = &cx.index.fields;
    let mut used: FxHashSet<&str> = fields
        .iter()
        .filter_map(|f| f.entity_ref.as_ref())
        .map(|name| name.value.as_str())
        .collect();
    used.extend(fields.iter().map(|f| f.name.value.as_str()));
    let intents = cx.agent.nlu.iter().flat_map(|n| &n.intents).flat_map(|i| &i.entities);
    used.extend(intents.map(|name| name.value.as_str()));
    used.extend(
        cx.agent
            .memory
            .recall
            .iter()
            .filter_map(|r| r.event.value.strip_prefix("entity:")?.split(':').next()),
    );
    expressions(cx, &mut |expr, _| {
        roots(expr, &mut |name, _| {
            used.insert(&name.value);
        });
    });
    for entity in cx.agent.entities.iter().filter(|e| !used.contains(e.name.value.as_str())) {
        let name = &entity.name;
        let words = cx.words(name.span);
        report.push(
            report
                .finding(name.span, format!("the entity `{name}` is never used"))
                .help(format!(
                    "refer to it from a field with {}, or remove it",
                    words.entry(words.keyword(Keyword::EntityRef), name.value.as_str())
                ))
                .note("an entity that no field or intent refers to is never extracted"),
        );
    }
}
