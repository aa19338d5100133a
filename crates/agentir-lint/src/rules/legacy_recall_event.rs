//! A recall event with a legacy name.

use crate::rule::{AgentContext, Check, Group, Report, Rule};
use agentir_diagnostics::{RuleName, Severity};
use agentir_expr::Version;
use agentir_expr::dialect::{Construct, Keyword};
use agentir_ir::recall::{Legacy, legacy};

pub(crate) static RULE: Rule = Rule {
    name: RuleName("legacy-recall-event"),
    group: Group::Versions,
    severity: Severity::Warning,
    summary: "a recall event has its name from an older version of ABL",
    vendor: &[],
    requires: &[Construct::Recall],
    check: Check::Agent(check),
};

fn check(cx: &AgentContext<'_, '_>, report: &mut Report<'_>) {
    if cx.version == Version::Legacy {
        return;
    }
    for recall in &cx.agent.memory.recall {
        let event = &recall.event;
        let Some(now) = legacy(&event.value) else { continue };
        let (instead, more) = match now {
            Legacy::Event(name) => (name.to_owned(), ""),
            Legacy::Field(field) => (format!("entity:{field}:extracted"), ""),
            Legacy::Unknown => ("tool:NAME:after".to_owned(), ", with the name of the tool"),
        };
        let words = cx.words(event.span);
        let mut finding = report
            .finding(
                event.span,
                format!("the recall event `{event}` is from an older version of {}", cx.dialect()),
            )
            .help(match words.is_json() {
                true => format!("write `{instead}`{more}, and what is done as `action`"),
                false => format!(
                    "write `{}: {instead}`{more}, and the action below it as `{}:`",
                    words.keyword(Keyword::On),
                    words.keyword(Keyword::Action)
                ),
            })
            .note("newer versions of the platform reject such a rule; older ones guess the event");
        if cx.version >= Version::Newest {
            finding.severity = Severity::Error;
        }
        report.push(finding);
    }
}
