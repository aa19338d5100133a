//! A flow or a project without an entry point.

use crate::rule::{Check, Group, Report, Rule};
use agentir_analysis::ProgramAnalysis;
use agentir_diagnostics::{Diagnostic, RuleName, Severity, Spanned, closest};
use agentir_expr::Name;
use agentir_expr::dialect::{Entry, Phrase};

pub(crate) static RULE: Rule = Rule {
    name: RuleName("missing-entry-point"),
    group: Group::Reachability,
    severity: Severity::Error,
    summary: "the entry point of a flow or a project does not exist",
    vendor: &["MISSING_ENTRY_POINT"],
    requires: &[],
    check: Check::Program(check),
};

fn check(cx: &ProgramAnalysis<'_>, report: &mut Report<'_>) {
    let program = cx.program;
    for flow in program.agents().filter_map(|a| a.flow.as_ref()) {
        let Some(entry) = &flow.entry_point else { continue };
        if flow.definitions.is_empty() || flow.definitions.contains_key(&entry.value) {
            continue;
        }
        let mut finding = report
            .finding(entry.span, format!("the entry point `{entry}` is not a step of this flow"))
            .note("the agent does not compile: its flow cannot start");
        if let Some(first) = flow.definitions.values().next() {
            finding = finding.label(first.name.span, "the first step");
            finding = suggest(
                finding,
                entry,
                flow.definitions.keys().map(Name::as_str),
                &first.name.value,
            );
        }
        report.push(finding);
    }
    // What is missing may be in the part that is not here.
    if !program.complete {
        return;
    }
    let several = program.agents.len() > 1 || program.agents().any(|a| a.routing.is_some());
    let is_needed = match cx.traits().entry {
        Entry::Found => false,
        Entry::Declared => true,
        Entry::Named(_) => several,
    };
    if is_needed && program.entry_agent.is_none() {
        return no_entry(cx, report);
    }
    let Some(entry) = program.entry_agent.as_ref().filter(|_| !program.agents.is_empty()) else {
        return;
    };
    if program.agent(&entry.value).is_none() {
        let finding = report
            .finding(entry.span, format!("the entry agent `{entry}` does not exist"))
            .note("no conversation can start");
        let names = || program.agents().map(|a| a.metadata.name.value.as_str());
        let first = names().next().unwrap_or_default();
        report.push(suggest(finding, entry, names(), first));
    }
}

/// Reports a program without the entry agent that its dialect demands.
fn no_entry(cx: &ProgramAnalysis<'_>, report: &mut Report<'_>) {
    let program = cx.program;
    let Some(first) = program.agents().next() else { return };
    let name = &first.metadata.name;
    let at = if name.value.is_empty() { first.span.at_start() } else { name.span };
    let words = cx.words(at);
    let router = program.agents().find(|a| a.routing.is_some()).unwrap_or(first);
    report.push(
        report
            .finding(at, words.phrase(Phrase::EntryMissing))
            .note(words.phrase(Phrase::EntryMustExist))
            .help(
                words.phrase_with(Phrase::DeclareEntry, &[("name", &router.metadata.name.value)]),
            ),
    );
}

fn suggest<'a>(
    finding: Diagnostic,
    entry: &Spanned<Name>,
    names: impl Iterator<Item = &'a str>,
    first: &'a str,
) -> Diagnostic {
    match closest(&entry.value, names) {
        Some(near) => finding.did_you_mean(near),
        None => finding.help(format!("name an existing one, such as `{first}`")),
    }
}
