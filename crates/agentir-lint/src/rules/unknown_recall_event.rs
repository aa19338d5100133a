//! A recall event that never happens.

use crate::rule::{AgentContext, Check, Group, Report, Rule};
use agentir_diagnostics::{Applicability, RuleName, Severity, closest};
use agentir_expr::dialect::Construct;
use agentir_ir::recall::{Event, event, legacy};

pub(crate) static RULE: Rule = Rule {
    name: RuleName("unknown-recall-event"),
    group: Group::Versions,
    severity: Severity::Warning,
    summary: "a recall event does not exist, or refers to something that does not exist",
    vendor: &["UNKNOWN_RECALL_EVENT", "UNKNOWN_RECALL_TOOL", "UNKNOWN_RECALL_AGENT"],
    requires: &[Construct::Recall],
    check: Check::Agent(check),
};

fn check(cx: &AgentContext<'_, '_>, report: &mut Report<'_>) {
    const NOTE: &str = "nothing is recalled because the event never occurs";
    for recall in &cx.agent.memory.recall {
        let at = &recall.event;
        if legacy(&at.value).is_some() {
            continue;
        }
        let Some(about) = event(&at.value) else {
            report.push(
                report.finding(at.span, format!("`{at}` is not a recall event")).note(NOTE).help(
                    "write `session:start`, `session:end`, `agent:NAME:before`, `agent:NAME:after`, \
                     `tool:NAME:after`, `entity:FIELD:extracted`, `step:enter:NAME` or `step:exit:NAME`",
                ),
            );
            continue;
        };
        if let Some((what, name, near)) = missing(cx, about) {
            let finding = report
                .finding(at.span, format!("`{at}` never occurs: there is no {what} `{name}`"))
                .note(NOTE);
            report.push(match near {
                Some(near) => finding
                    .help(format!("did you mean `{near}`?"))
                    .replace(at.value.replacen(name, near, 1), Applicability::Unsafe),
                None => finding,
            });
        }
    }
}

/// Returns the subject of the event if it does not exist, and a similar name.
fn missing<'a>(
    cx: &AgentContext<'_, 'a>,
    about: Event<'a>,
) -> Option<(&'static str, &'a str, Option<&'a str>)> {
    let agent = cx.agent;
    Some(match about {
        Event::Session | Event::Agent("*") | Event::Tool("*") => return None,
        Event::Agent(name) => {
            let known = || cx.program.program.agents().map(|a| a.metadata.name.value.as_str());
            let alias = agent.available_agents.iter().any(|r| r.alias.value == name);
            if !cx.program.program.complete || alias || known().any(|n| n == name) {
                return None;
            }
            ("agent", name, closest(name, known()))
        }
        Event::Tool(name) => {
            if cx.tool(name).is_some() || agent.use_tools.iter().any(|t| t.value == name) {
                return None;
            }
            ("tool", name, closest(name, cx.index.tools.keys().copied()))
        }
        Event::Field(name) => {
            let fields = || cx.index.fields.iter().map(|f| f.name.value.as_str());
            let entity = agent.entities.iter().any(|e| e.name.value == name);
            if name == "*" || entity || fields().any(|f| f == name) {
                return None;
            }
            ("gather field", name, closest(name, fields()))
        }
        Event::Step(name) => {
            let steps = || agent.flow.iter().flat_map(|f| f.definitions.keys()).map(|s| s.as_str());
            let inserted = cx
                .profiles()
                .filter_map(|p| p.flow_modifications.as_ref())
                .flat_map(|c| &c.insertions);
            if name == "*"
                || steps().any(|s| s == name)
                || inserted.into_iter().any(|i| i.step.name.value == name)
            {
                return None;
            }
            ("step", name, closest(name, steps()))
        }
    })
}
