//! Two agents with the same name.

use crate::names::defined_twice;
use crate::rule::{Check, Group, Report, Rule};
use crate::wording::plural;
use agentir_analysis::ProgramAnalysis;
use agentir_diagnostics::{RuleName, Severity};

pub(crate) static RULE: Rule = Rule {
    name: RuleName("duplicate-agent"),
    group: Group::Names,
    severity: Severity::Error,
    summary: "two agents of a project have the same name",
    vendor: &["duplicate-key"],
    requires: &[],
    check: Check::Program(check),
};

fn check(cx: &ProgramAnalysis<'_>, report: &mut Report<'_>) {
    // Files in one folder do not necessarily belong to one program.
    if !cx.program.complete {
        return;
    }
    defined_twice(cx.program.agents().map(|a| &a.metadata.name), &mut |again, before| {
        let nouns = cx.words(again.span).nouns;
        report.push(
            report
                .finding(
                    again.span,
                    format!("there are two {} named `{again}`", plural(nouns.agent, 2)),
                )
                .label(before.span, "the other is here")
                .help("rename one of them, and update what refers to it")
                .note(format!(
                    "{} refer to {} by name, so one of the two is never reached",
                    nouns.transfers,
                    plural(nouns.agent, 2)
                )),
        );
    });
}
