//! A jump to a step that does not exist.

use crate::names::suggest;
use crate::rule::{AgentContext, Check, Group, Report, Rule};
use agentir_diagnostics::{RuleName, Severity};
use agentir_expr::dialect::{Construct, Keyword, Phrase};
use rustc_hash::FxHashSet;

pub(crate) static RULE: Rule = Rule {
    name: RuleName("undefined-step"),
    group: Group::Names,
    severity: Severity::Error,
    summary: "a step is named that does not exist",
    vendor: &["DANGLING_STEP_REF"],
    requires: &[Construct::Steps],
    check: Check::Agent(check),
};

fn check(cx: &AgentContext<'_, '_>, report: &mut Report<'_>) {
    let flow = cx.agent.flow.as_ref();
    let mut steps: FxHashSet<&str> =
        flow.iter().flat_map(|f| f.definitions.keys()).map(|s| s.as_str()).collect();
    for changes in cx.profiles().filter_map(|p| p.flow_modifications.as_ref()) {
        steps.extend(changes.overrides.keys().map(|name| name.as_str()));
        steps.extend(changes.insertions.iter().map(|i| i.step.name.value.as_str()));
    }
    let arrows = flow.iter().flat_map(|f| &f.steps);
    let jumps = cx.index.jumps.iter().filter_map(|jump| jump.target.step());
    let mut seen = FxHashSet::default();
    for name in arrows.chain(jumps).chain(cx.index.step_refs.iter().copied()) {
        // A profile may serve several flows.
        let own = name.span.file == cx.agent.metadata.name.span.file;
        if !own || steps.contains(name.value.as_str()) || !seen.insert(name.span) {
            continue;
        }
        let words = cx.words(name.span);
        let finding = report
            .finding(name.span, format!("there is no {} `{name}`", words.nouns.step))
            .note(words.phrase(Phrase::StepMustExist));
        // A jump may end the flow instead.
        let end = Some(words.phrase(Phrase::EndOfFlow)).filter(|end| !end.is_empty());
        let known = steps.iter().copied().chain(end);
        report.push(suggest(finding, &name.value, known, || match flow {
            Some(_) => words.phrase_with(Phrase::DeclareStep, &[("name", &name.value)]),
            None => {
                let flow = words.keyword(Keyword::Flow);
                format!("this agent has no `{flow}`, so there are no steps to go to")
            }
        }));
    }
}
