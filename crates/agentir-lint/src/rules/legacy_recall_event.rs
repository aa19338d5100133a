//! A recall event with a legacy name.

use crate::recall::{Legacy, legacy};
use crate::rule::{AgentContext, Check, Group, Report, Rule};
use agentir_diagnostics::{RuleName, Severity};
use agentir_expr::Version;

pub(crate) static RULE: Rule = Rule {
    name: RuleName("legacy-recall-event"),
    group: Group::Versions,
    severity: Severity::Warning,
    summary: "a recall event is called as in an older version of ABL",
    vendor: &[],
    dialects: crate::rule::ABL,
    check: Check::Agent(check),
};

fn check(cx: &AgentContext<'_>, report: &mut Report<'_>) {
    if cx.version == Version::Legacy {
        return;
    }
    for recall in &cx.agent.memory.recall {
        let event = &recall.event;
        let Some(now) = legacy(&event.value) else { continue };
        let (instead, more) = match now {
            Legacy::Event(name) => (name.to_owned(), ""),
            Legacy::Field(field) => (format!("entity:{field}:extracted"), ""),
            Legacy::Unknown => ("tool:NAME:after".to_owned(), ", with the tool it is about"),
        };
        let mut finding = report
            .finding(event.span, format!("legacy RECALL event `{event}` is no longer supported"))
            .help(format!("write `ON: {instead}`{more}, and below it `ACTION:` with what is to be done"))
            .note("newer versions of the platform reject such a rule; older ones guess which event is meant");
        if cx.version >= Version::Newest {
            finding.severity = Severity::Error;
        }
        report.push(finding);
    }
}
