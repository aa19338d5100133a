//! A profile that others always override.

use crate::evidence::add_core;
use crate::rule::{AgentContext, Check, Group, Report, Rule};
use agentir_analysis::proof::UnsatCore;
use agentir_analysis::routes::numeric_priority;
use agentir_analysis::shadowing::shadowed_by;
use agentir_diagnostics::{RuleName, Severity, Span};
use agentir_expr::Condition;
use agentir_expr::dialect::{Construct, Keyword};
use agentir_ir::Profile;

pub(crate) static RULE: Rule = Rule {
    name: RuleName("shadowed-profile"),
    group: Group::Proofs,
    severity: Severity::Warning,
    summary: "a profile has no effect because one of higher priority always applies with it",
    vendor: &[],
    requires: &[Construct::Profiles],
    check: Check::Agent(check),
};

/// A field that a profile sets.
pub(super) struct Field {
    /// Its name.
    pub(super) name: &'static str,
    /// Whether one profile's value replaces another one's; lists are concatenated.
    pub(super) decides: bool,
}

/// Returns the fields that a profile sets.
pub(super) fn fields(profile: &Profile) -> Vec<Field> {
    let decides = |name| Field { name, decides: true };
    let adds = |name| Field { name, decides: false };
    [
        profile.instructions.is_some().then(|| adds("INSTRUCTIONS")),
        profile.voice.is_some().then(|| decides("VOICE")),
        profile.response_rules.is_some().then(|| decides("RESPONSE")),
        profile.conversation_behavior.is_some().then(|| decides("CONVERSATION")),
        profile.gather_overrides.is_some().then(|| decides("GATHER")),
        profile.flow_replace.is_some().then(|| decides("FLOW")),
        profile.flow_modifications.is_some().then(|| adds("FLOW")),
        (!profile.constraints.is_empty() || !profile.constraint_texts.is_empty())
            .then(|| adds("CONSTRAINTS")),
        (!profile.tools_hide.is_empty() || !profile.tools_add.is_empty()).then(|| adds("TOOLS")),
        (!profile.extensions.is_empty()).then(|| adds("its other fields")),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn check(cx: &AgentContext<'_, '_>, report: &mut Report<'_>) {
    let all: Vec<&Profile> = cx.profiles().filter(|p| cx.owns(p.span)).collect();
    for profile in &all {
        let (own, sets) = (numeric_priority(Some(&profile.priority)), fields(profile));
        if sets.is_empty() || sets.iter().any(|field| !field.decides) {
            continue;
        }
        let mut over: Vec<Span> = Vec::new();
        let mut cores: Vec<UnsatCore> = Vec::new();
        let hidden = sets.iter().all(|field| {
            let higher: Vec<&&Profile> = all
                .iter()
                .filter(|p| {
                    numeric_priority(Some(&p.priority)).zip(own).is_some_and(|(p, own)| p > own)
                        && fields(p).iter().any(|f| f.name == field.name)
                })
                .collect();
            let conditions: Vec<Option<&Condition>> =
                higher.iter().map(|p| p.when.as_ref()).collect();
            let Some(found) = shadowed_by(cx, &conditions, profile.when.as_ref()) else {
                return false;
            };
            over.extend(found.by.iter().filter_map(|at| higher.get(*at)).map(|p| p.name.span));
            cores.push(found.core);
            true
        });
        if !hidden {
            continue;
        }
        over.sort();
        over.dedup();
        let mut finding = report.finding(
            profile.name.span,
            format!("the profile `{}` never has any effect", profile.name),
        );
        // Fields that are overridden for different reasons have no common proof.
        if let Some(core) = cores.first().filter(|core| cores.iter().all(|c| c == *core)) {
            finding = add_core(finding, core);
        }
        if let Some(when) = &profile.when {
            finding = finding.label(when.span(), "whenever this is true …");
        }
        for span in over {
            finding =
                finding.label(span, "… this profile applies as well, sets the same, and wins");
        }
        let words = cx.words(profile.name.span);
        let (priority, when) = (words.keyword(Keyword::Priority), words.keyword(Keyword::When));
        report.push(
            finding
                .note(format!("among profiles that apply together, the one with the highest `{priority}` wins, field by field"))
                .help(format!("give it a higher `{priority}`, narrow the other one's `{when}`, or remove it")),
        );
    }
}
