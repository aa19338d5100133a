//! A variable that the next agent needs but does not receive.

use super::used_before_set::consequence;
use crate::rule::{ABL_AND_ADL, Check, Group, Report, Rule};
use agentir_analysis::ProgramAnalysis;
use agentir_diagnostics::{Label, RuleName, Severity};
use agentir_expr::Dialect;

pub(crate) static RULE: Rule = Rule {
    name: RuleName("lost-at-handoff"),
    group: Group::Data,
    severity: Severity::Warning,
    summary: "the next agent reads a variable that this agent does not pass on",
    vendor: &[],
    dialects: ABL_AND_ADL,
    check: Check::Program(check),
};

fn check(cx: &ProgramAnalysis<'_>, report: &mut Report<'_>) {
    let adl = agentir_analysis::dialects::is_adl_program(cx.program);
    let dialect = if adl { Dialect::Adl } else { Dialect::Abl };
    for dropped in &cx.dropped().all {
        let (name, to) = (&dropped.name, &dropped.to);
        let (harm, read) = dropped.read;
        let help = match (dialect, dropped.delegated) {
            (Dialect::Adl, _) => format!("bind it below `args:`: `{name}: {name}`"),
            (_, true) => {
                format!("add `{name}` to `pass:` of the handoff, or to `INPUT:` of the delegation")
            }
            (_, false) => format!("add `{name}` to `pass:` of the handoff"),
        };
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
                .note(consequence(harm, dialect))
                .help(help),
        );
    }
}
