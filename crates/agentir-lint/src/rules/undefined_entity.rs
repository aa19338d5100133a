//! A reference to an entity that is not defined.

use crate::names::suggest;
use crate::rule::{AgentContext, Check, Group, Report, Rule};
use agentir_diagnostics::{RuleName, Severity};
use agentir_expr::dialect::{Construct, Keyword};
use rustc_hash::FxHashSet;

pub(crate) static RULE: Rule = Rule {
    name: RuleName("undefined-entity"),
    group: Group::Names,
    severity: Severity::Error,
    summary: "a field or an intent names an entity that does not exist",
    vendor: &[],
    requires: &[Construct::Entities],
    check: Check::Agent(check),
};

fn check(cx: &AgentContext<'_, '_>, report: &mut Report<'_>) {
    let understood = cx.agent.nlu.iter().flat_map(|n| &n.entities);
    let entities: FxHashSet<&str> =
        cx.agent.entities.iter().chain(understood).map(|e| e.name.value.as_str()).collect();
    let fields: FxHashSet<&str> = cx.index.fields.iter().map(|f| f.name.value.as_str()).collect();
    let referred =
        cx.index.fields.iter().filter_map(|f| f.entity_ref.as_ref()).map(|name| (name, false));
    // An intent may also mention a field.
    let intents = cx
        .agent
        .nlu
        .iter()
        .flat_map(|n| &n.intents)
        .flat_map(|i| &i.entities)
        .map(|name| (name, true));
    for (name, field_will_do) in referred.chain(intents).filter(|(name, _)| cx.owns(name.span)) {
        let word = name.value.as_str();
        if entities.contains(word) || (field_will_do && fields.contains(word)) {
            continue;
        }
        let finding = report
            .finding(name.span, format!("there is no entity `{name}`"))
            .note("without the entity no value is valid, so none is recognized");
        report.push(suggest(finding, word, entities.iter().copied(), || {
            let words = cx.words(name.span);
            let (ty, all) = (words.keyword(Keyword::Type), words.keyword(Keyword::Entities));
            match words.is_json() {
                true => format!("define it in `entities`: `{{\"name\": \"{name}\", \"type\": …}}`"),
                false => format!("define it: `{name}:` with a `{ty}` below `{all}:`"),
            }
        }));
    }
}
