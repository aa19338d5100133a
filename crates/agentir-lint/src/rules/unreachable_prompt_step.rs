//! Numbered instructions after a step that always ends the agent.

use crate::rule::{Check, Group, Report, Rule};
use crate::wording::listed;
use agentir_analysis::ProgramAnalysis;
use agentir_analysis::prompt::{Prompt, PromptUse, ends_agent, guard, steps_named};
use agentir_diagnostics::{Confidence, RuleName, Severity, Span};
use rustc_hash::FxHashSet;

pub(crate) static RULE: Rule = Rule {
    name: RuleName("unreachable-prompt-step"),
    group: Group::Prompts,
    severity: Severity::Warning,
    summary: "numbered instructions follow a step that always ends the agent",
    vendor: &[],
    requires: &[],
    check: Check::Program(check),
};

fn check(cx: &ProgramAnalysis<'_>, report: &mut Report<'_>) {
    // The rule for cycles reports the steps that a cycle cuts off.
    let said = cx.instructions();
    let reported: FxHashSet<Span> =
        said.cycles().iter().flat_map(|l| l.edges.first()).map(|e| e.span).collect();
    for agent in cx.all_agents() {
        for prompt in agent.prompts().iter().filter(|p| p.prompt_use != PromptUse::Conditionally) {
            let Some((end, cut_off)) = cut_off(prompt) else { continue };
            if reported.contains(&end) {
                continue;
            }
            let numbers: Vec<&str> = cut_off
                .iter()
                .filter_map(|at| prompt.steps.get(*at)?.number.as_ref().map(|n| n.0))
                .collect();
            let (plural, verb) = if numbers.len() == 1 { ("step", "is") } else { ("steps", "are") };
            let mut finding = report
                .finding(
                    end,
                    format!(
                        "{plural} {} {verb} never reached: this one always ends the agent",
                        listed(&numbers)
                    ),
                )
                .confidence(Confidence::Medium)
                .help("make ending the agent conditional, or move this after the other steps");
            let first = cut_off.first().and_then(|at| prompt.steps.get(*at)?.number.as_ref());
            if let Some((number, range)) = first {
                finding =
                    finding.label(prompt.place(range), format!("step {number} and what follows"));
            }
            let all = &prompt.mentions.tools;
            let kept: FxHashSet<&str> =
                all.iter().filter(|t| !cut_off.contains(&t.step)).map(|t| t.name).collect();
            let mut seen = FxHashSet::default();
            let lost: Vec<String> = all
                .iter()
                .filter(|t| {
                    cut_off.contains(&t.step) && !kept.contains(t.name) && seen.insert(t.name)
                })
                .map(|t| format!("`{}`", t.name))
                .collect();
            if !lost.is_empty() {
                finding = finding.note(format!("{} can never be called", listed(&lost)));
            }
            report.push(finding);
        }
    }
}

/// Returns the sentence that always ends the agent, and the steps that are unreachable because of
/// it.
fn cut_off(prompt: &Prompt<'_>) -> Option<(Span, Vec<usize>)> {
    let steps = &prompt.steps;
    // Several lists in one text are not the steps of one procedure.
    let starts =
        steps.iter().filter(|s| s.number.as_ref().is_some_and(|n| matches!(n.0, "1" | "1a")));
    if starts.count() > 1 {
        return None;
    }
    let ends: Vec<Option<Span>> = (0..steps.len()).map(|at| always_ends(prompt, at)).collect();
    if ends.iter().all(Option::is_none) {
        return None;
    }
    let named: Vec<Vec<usize>> = steps
        .iter()
        .map(|step| {
            let numbers = step.sentences.iter().flat_map(|s| steps_named(s.text));
            // `step 4` includes 4a and 4b.
            let fits = |number: &str, other: &str| {
                other == number || other.trim_end_matches(char::is_alphabetic) == number
            };
            let place = |(number, _): (&str, _)| {
                steps.iter().position(|s| s.number.as_ref().is_some_and(|(n, _)| fits(number, n)))
            };
            numbers.filter_map(place).collect()
        })
        .collect();
    let mut reached = vec![false; steps.len()];
    let mut open = vec![0];
    while let Some(at) = open.pop() {
        match reached.get_mut(at) {
            Some(seen) if !*seen => *seen = true,
            _ => continue,
        }
        open.extend(named.get(at).into_iter().flatten());
        if ends.get(at).is_some_and(Option::is_none) {
            open.push(at + 1);
        }
    }
    let end = ends.iter().zip(&reached).find_map(|(end, reached)| end.filter(|_| *reached))?;
    let cut: Vec<usize> = (0..steps.len())
        .filter(|at| !reached.get(*at).copied().unwrap_or(true))
        .filter(|at| steps.get(*at).is_some_and(|s| s.number.is_some()))
        .collect();
    (!cut.is_empty()).then_some((end, cut))
}

/// Returns the sentence of a numbered step that always ends the agent.
fn always_ends(prompt: &Prompt<'_>, at: usize) -> Option<Span> {
    let step = prompt.steps.get(at)?;
    let (number, _) = step.number.as_ref()?;
    // `6a` and `6b` are alternatives.
    if step.guarded || number.ends_with(char::is_alphabetic) {
        return None;
    }
    for sentence in &step.sentences {
        let end = ends_agent(sentence);
        let before = end
            .as_ref()
            .map_or(sentence.text, |e| sentence.text.get(..e.start).unwrap_or_default());
        // The end of a conditional instruction is unknown.
        if guard(before).is_some() {
            return None;
        }
        if end.is_some() {
            let behind = end.and_then(|e| sentence.text.get(e.end..)).unwrap_or_default();
            return guard(behind).is_none().then(|| prompt.place(&sentence.range));
        }
    }
    None
}
