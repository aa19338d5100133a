//! A section for supervisors in another kind of agent.

use crate::rule::{AgentContext, Check, Group, Report, Rule};
use agentir_diagnostics::{RuleName, Severity, Span};
use agentir_expr::dialect::{Construct, Keyword};
use agentir_ir::AgentType;

pub(crate) static RULE: Rule = Rule {
    name: RuleName("supervisor-section"),
    group: Group::Versions,
    severity: Severity::Warning,
    summary: "an agent has a section that only supervisors support",
    vendor: &[],
    requires: &[Construct::RoutingRules],
    check: Check::Agent(check),
};

fn check(cx: &AgentContext<'_, '_>, report: &mut Report<'_>) {
    let agent = cx.agent;
    if agent.metadata.kind == AgentType::Supervisor {
        return;
    }
    let routing = agent.routing.as_ref();
    let rule = routing.and_then(|r| {
        r.rules.first().map(|r| r.span).or_else(|| r.default_agent.as_ref().map(|d| d.span))
    });
    let sections: [(Keyword, Option<Span>); 4] = [
        (Keyword::Agents, agent.available_agents.first().map(|a| a.span)),
        (Keyword::Routing, rule),
        (Keyword::State, agent.memory.state.first().map(|v| v.span)),
        (Keyword::Policies, agent.policies.first().map(|p| p.name.span)),
    ];
    let name = &agent.metadata.name;
    for (section, at) in sections {
        let Some(at) = at else { continue };
        let words = cx.words(at);
        let below = words.either("below ", "in ");
        let colon = words.either(":", "");
        let instead = match section {
            Keyword::Agents | Keyword::Routing => format!(
                "use `{}{colon}` to say which agent takes over and when",
                words.keyword(Keyword::Handoff)
            ),
            Keyword::State => {
                format!("declare the variables {below}`{}{colon}`", words.keyword(Keyword::Memory))
            }
            _ => format!("write the rules {below}`{}{colon}`", words.keyword(Keyword::Constraints)),
        };
        let (section, own) = (words.keyword(section), words.keyword(Keyword::Agent));
        let supervisor = words.keyword(Keyword::Supervisor);
        report.push(
            report
                .finding(at, format!("`{section}` has no effect in an `{own}`"))
                .at(format!("`{section}` begins with this"))
                .label(name.span, "this is not a supervisor")
                .note(format!("only supervisors support `{section}`; the runtime ignores it here"))
                .help(match words.is_json() {
                    true => {
                        format!("write `\"type\": \"supervisor\"` in `metadata`, or {instead}")
                    }
                    false => format!("begin the document with `{supervisor}:`, or {instead}"),
                }),
        );
    }
}
