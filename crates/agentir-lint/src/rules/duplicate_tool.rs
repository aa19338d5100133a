//! Two tools with the same name.

use crate::names::defined_twice;
use crate::rule::{Check, Group, Report, Rule};
use agentir_analysis::ProgramAnalysis;
use agentir_diagnostics::{RuleName, Severity};

pub(crate) static RULE: Rule = Rule {
    name: RuleName("duplicate-tool"),
    group: Group::Names,
    severity: Severity::Error,
    summary: "an agent or a library declares a tool twice",
    vendor: &["duplicate-key"],
    requires: &[],
    check: Check::Program(check),
};

fn check(cx: &ProgramAnalysis<'_>, report: &mut Report<'_>) {
    // An agent may declare the signature of a tool that a library binds.
    let agents = cx.program.agents().map(|a| &a.tools);
    let libraries = cx.program.libraries.iter().map(|l| &l.tools);
    let profiles = cx.program.profiles.iter().map(|p| &p.tools_add);
    for tools in agents.chain(libraries).chain(profiles) {
        defined_twice(tools.iter().map(|t| &t.name), &mut |again, before| {
            let word = cx.words(again.span).nouns.tool;
            report.push(
                report
                    .finding(again.span, format!("the {word} `{again}` is declared twice"))
                    .label(before.span, "first declared here")
                    .help("keep one declaration; if the two differ, rename one of them")
                    .note("calls go by name, so only one of the two declarations is ever used"),
            );
        });
    }
}
