//! A variable that the next agent needs but does not receive.

use super::used_before_set::consequence;
use crate::rule::{Check, Group, Report, Rule};
use agentir_analysis::ProgramAnalysis;
use agentir_diagnostics::{Label, RuleName, Severity};
use agentir_expr::dialect::{Construct, Phrase};

pub(crate) static RULE: Rule = Rule {
    name: RuleName("lost-at-handoff"),
    group: Group::Data,
    severity: Severity::Warning,
    summary: "the next agent reads a variable that this agent does not pass on",
    vendor: &[],
    requires: &[Construct::ContextPassing],
    check: Check::Program(check),
};

fn check(cx: &ProgramAnalysis<'_>, report: &mut Report<'_>) {
    for dropped in &cx.dropped().all {
        let (name, to) = (&dropped.name, &dropped.to);
        let (harm, read) = dropped.read;
        let pass = if dropped.delegated { Phrase::PassToDelegate } else { Phrase::PassVariable };
        let help = cx.words(dropped.at).phrase_with(pass, &[("name", name)]);
        let message = format!("`{to}` reads `{name}`, which is not passed to it");
        let set = Label::new(dropped.set, "this agent sets it here");
        let here = Label::new(dropped.at, message.as_str());
        let read = Label::new(read, format!("`{to}` reads it here, and never sets it"));
        report.push(
            report
                .finding(dropped.at, message)
                .label(set.span, set.message.as_str())
                .label(read.span, read.message.as_str())
                .run([set, here, read], false)
                .note(consequence(harm, cx.dialect()))
                .help(help),
        );
    }
}
