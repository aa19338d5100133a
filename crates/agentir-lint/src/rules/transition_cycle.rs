//! Subagents that hand over to each other before the model or the user gets a word in.

use crate::rule::{AGENT_SCRIPT, Check, Group, ProgramContext, Report, Rule};
use agentir_diagnostics::{RuleName, Severity, Spanned};
use agentir_expr::Name;
use agentir_ir::{Agent, Statement};
use rustc_hash::{FxHashMap, FxHashSet};

pub(crate) static RULE: Rule = Rule {
    name: RuleName("transition-cycle"),
    group: Group::Reachability,
    severity: Severity::Error,
    summary: "subagents hand over to each other in a circle, whatever happens",
    vendor: &["cycle-detected"],
    dialects: AGENT_SCRIPT,
    check: Check::Program(check),
};

/// Where `before_reasoning` goes in any case: a transition that stands below no condition.
fn always(agent: &Agent) -> Option<&Spanned<Name>> {
    let hook = agent.hooks.before_turn.as_ref()?;
    hook.body.0.iter().find_map(|s| match s {
        Statement::Handoff(handoff) => Some(&handoff.agent),
        _ => None,
    })
}

fn check(cx: &ProgramContext<'_>, report: &mut Report<'_>) {
    let next: FxHashMap<&str, (&Agent, &Spanned<Name>)> = cx
        .program
        .agents
        .iter()
        .filter_map(|a| Some((a.metadata.name.value.as_str(), (a, always(a)?))))
        .collect();
    let mut done: FxHashSet<&str> = FxHashSet::default();
    for agent in &cx.program.agents {
        let mut way: Vec<&Spanned<Name>> = Vec::new();
        let mut places: FxHashMap<&str, usize> = FxHashMap::default();
        let mut at = agent.metadata.name.value.as_str();
        while let Some((from, to)) = next.get(at) {
            if !done.insert(at) {
                break;
            }
            places.insert(&from.metadata.name.value, way.len());
            way.push(to);
            at = to.value.as_str();
        }
        let Some(circle) = places.get(at).and_then(|start| way.get(*start..)) else { continue };
        let Some((first, rest)) = circle.split_first() else { continue };
        let mut finding = report
            .finding(first.span, "these transitions go round in a circle")
            .at(format!("on to `{first}`"))
            .note("`before_reasoning` runs before the model is asked, and none of these transitions has a condition: the turn never ends")
            .help("put one of them below an `if`");
        for step in rest {
            finding = finding.label(step.span, format!("on to `{step}`"));
        }
        report.push(finding);
    }
}
