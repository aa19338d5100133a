//! A name in backticks without the closing one.

use crate::rule::{AgentContext, Check, Group, Report, Rule};
use agentir_analysis::prompt::Prompt;
use agentir_diagnostics::{Applicability, Edit, Fix, RuleName, Severity};

pub(crate) static RULE: Rule = Rule {
    name: RuleName("unclosed-backtick"),
    group: Group::Prompts,
    severity: Severity::Warning,
    summary: "instructions open a backtick and do not close it",
    vendor: &[],
    requires: &[],
    check: Check::Agent(check),
};

fn check(cx: &AgentContext<'_, '_>, report: &mut Report<'_>) {
    for prompt in cx.prompts() {
        for at in unclosed(prompt) {
            let finding = report
                .finding(prompt.place(&(at..at + 1)), "this backtick is not closed")
                .note("the model has to guess where the name ends")
                .help("add a backtick after the name");
            report.push(match end_of_name(&prompt.template.text.value, at + 1) {
                Some(end) => finding.fix(Fix {
                    title: "close it after the name".to_owned(),
                    edits: vec![Edit { span: prompt.place(&(end..end)), text: "`".to_owned() }],
                    applicability: Applicability::Unsafe,
                }),
                None => finding,
            });
        }
    }
}

/// Returns the end of the name that begins at `from`, if it is one word followed only by
/// punctuation.
fn end_of_name(text: &str, from: usize) -> Option<usize> {
    let rest = text.get(from..)?;
    let length = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_')?;
    let behind = rest.get(length..)?.trim_start_matches([',', '.', ';', ':', '!', '?', ')']);
    let ends = behind.chars().next().is_none_or(char::is_whitespace);
    (length > 0 && ends).then_some(from + length)
}

/// Returns the unpaired backticks. They are paired within a line and its continuation lines; code
/// blocks are skipped.
fn unclosed(prompt: &Prompt<'_>) -> Vec<usize> {
    let mut found = Vec::new();
    if !prompt.template.text.value.contains('`') {
        return found;
    }
    let mut open: Option<usize> = None;
    let mut code = false;
    let mut at = 0;
    for line in prompt.template.text.value.split_inclusive('\n') {
        let start = at;
        at += line.len();
        let content = line.trim_start();
        let fence = content.starts_with("```");
        let item = content.starts_with(['-', '•', '*', '—', '#', '>'])
            || content.starts_with(|c: char| c.is_ascii_digit());
        if fence || item || content.is_empty() {
            found.extend(open.take());
        }
        code ^= fence && line.matches("```").count() % 2 == 1;
        if fence || code {
            continue;
        }
        for (offset, _) in line.match_indices('`') {
            // Two and more in a row are a mention of the marks themselves, not a name.
            let around = |at: Option<usize>| {
                at.and_then(|at| line.as_bytes().get(at)).is_some_and(|byte| *byte == b'`')
            };
            if around(offset.checked_sub(1)) || around(offset.checked_add(1)) {
                continue;
            }
            open = match open {
                Some(_) => None,
                None => Some(start + offset),
            };
        }
    }
    found.extend(open);
    found
}
