//! A reference to a behavior profile that does not exist.

use crate::names::suggest;
use crate::rule::{AgentContext, Check, Group, Report, Rule};
use agentir_diagnostics::{RuleName, Severity};
use agentir_expr::dialect::{Construct, Keyword};

pub(crate) static RULE: Rule = Rule {
    name: RuleName("undefined-profile"),
    group: Group::Names,
    severity: Severity::Error,
    summary: "`USE BEHAVIOR_PROFILE` names a profile that does not exist",
    vendor: &[],
    requires: &[Construct::Profiles],
    check: Check::Agent(check),
};

fn check(cx: &AgentContext<'_, '_>, report: &mut Report<'_>) {
    // The profile may be in a file outside of an incomplete program.
    if !cx.program.program.complete {
        return;
    }
    for name in &cx.agent.use_behavior_profiles {
        let inline = cx.agent.behavior_profiles.iter().any(|p| p.name.value == name.value);
        if inline || cx.program.profiles.contains_key(name.value.as_str()) {
            continue;
        }
        let finding = report
            .finding(name.span, format!("there is no behavior profile `{name}`"))
            .note("the agent does not compile, or runs without the profile");
        report.push(suggest(finding, &name.value, cx.program.profiles.keys().copied(), || {
            let words = cx.words(name.span);
            let profile = words.keyword(Keyword::BehaviorProfile);
            match words.is_json() {
                true => format!("add `{{\"name\": \"{name}\", …}}` to `{profile}`"),
                false => format!("add a file with `{profile}: {name}`"),
            }
        }));
    }
}
