//! Inconsistent numbers of instructions.

use crate::rule::{AgentContext, Check, Group, Report, Rule};
use agentir_analysis::prompt::{Prompt, steps_named};
use agentir_diagnostics::{Confidence, RuleName, Severity};
use rustc_hash::FxHashMap;
use std::ops::Range;

pub(crate) static RULE: Rule = Rule {
    name: RuleName("prompt-steps"),
    group: Group::Prompts,
    severity: Severity::Warning,
    summary: "numbered instructions repeat a number, or refer to a missing one",
    vendor: &[],
    requires: &[],
    check: Check::Agent(check),
};

fn check(cx: &AgentContext<'_, '_>, report: &mut Report<'_>) {
    for prompt in cx.prompts() {
        numbers(prompt, report);
    }
}

fn numbers(prompt: &Prompt<'_>, report: &mut Report<'_>) {
    let mut first: FxHashMap<&str, &Range<usize>> = FxHashMap::default();
    let numbered: Vec<_> = prompt.steps.iter().filter_map(|s| s.number.as_ref()).collect();
    // Several lists that start at one are not the steps of one procedure.
    let starts = numbered.iter().filter(|(n, _)| matches!(*n, "1" | "1a")).count();
    if starts > 1 || numbered.len() < 2 {
        return;
    }
    for (number, range) in &numbered {
        if let Some(before) = first.get(number) {
            report.push(
                report
                    .finding(prompt.place(range), format!("there are two steps numbered {number}"))
                    .label(prompt.place(before), "the first one")
                    .confidence(Confidence::Medium)
                    .note("the model cannot tell which of the two is meant, and may skip one")
                    .help("number the steps consecutively"),
            );
        } else {
            first.insert(number, range);
        }
    }
    for step in &prompt.steps {
        for sentence in &step.sentences {
            for (number, range) in steps_named(sentence.text) {
                let base = sentence.range.start;
                // `step 4` includes 4a and 4b.
                if first
                    .keys()
                    .any(|n| *n == number || n.trim_end_matches(char::is_alphabetic) == number)
                {
                    continue;
                }
                report.push(
                    report
                        .finding(
                            prompt.place(&(base + range.start..base + range.end)),
                            format!("there is no step {number}"),
                        )
                        .confidence(Confidence::Medium)
                        .note("the model has to guess where to continue")
                        .help("refer to an existing step"),
                );
            }
        }
    }
}
