//! A jump to a step that does not exist.

use crate::names::suggest;
use crate::rule::{AgentContext, Check, Group, Report, Rule};
use agentir_analysis::dialects::is_adl;
use agentir_diagnostics::{RuleName, Severity};
use rustc_hash::FxHashSet;

pub(crate) static RULE: Rule = Rule {
    name: RuleName("undefined-step"),
    group: Group::Names,
    severity: Severity::Error,
    summary: "a step is named that does not exist",
    vendor: &["DANGLING_STEP_REF"],
    dialects: crate::rule::ABL_AND_ADL,
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
        let adl = is_adl(cx.agent);
        let finding = if adl {
            report
                .finding(name.span, format!("there is no label or subflow `{name}`"))
                .note("MICA raises an error when the conversation reaches this")
        } else {
            report
                .finding(name.span, format!("there is no step `{name}`"))
                .note("control cannot go to a step that does not exist; the agent does not compile")
        };
        // In ABL a jump may end the flow instead.
        let ends = if adl { None } else { Some("COMPLETE") };
        let known = steps.iter().copied().chain(ends);
        report.push(suggest(finding, &name.value, known, || match flow {
            _ if adl => format!("add `- label: {name}` to the steps, or a subflow `{name}:`"),
            Some(_) => format!("add the step: `{name}:` below `FLOW:`"),
            None => "this agent has no `FLOW`, so there are no steps to go to".to_owned(),
        }));
    }
}
