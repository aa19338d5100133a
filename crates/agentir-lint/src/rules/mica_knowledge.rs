//! A kb agent outside of every ensemble, which MICA calls nevertheless.

use crate::rule::{Check, Group, Report, Rule};
use agentir_analysis::ProgramAnalysis;
use agentir_diagnostics::{RuleName, Severity};
use agentir_expr::dialect::Construct;
use agentir_ir::{AgentType, Node};

pub(crate) static RULE: Rule = Rule {
    name: RuleName("mica-knowledge"),
    group: Group::Mica,
    severity: Severity::Info,
    summary: "MICA queries a kb agent that no ensemble contains",
    vendor: &[],
    requires: &[Construct::Mica],
    check: Check::Program(check),
};

fn check(cx: &ProgramAnalysis<'_>, report: &mut Report<'_>) {
    let agents = &cx.program.agents;
    let routers = || agents.iter().filter(|a| a.metadata.kind == AgentType::Supervisor);
    let first = agents.iter().find(|a| a.knowledge.is_some());
    let (Some(first), Some(router)) = (first, routers().next()) else { return };
    let name = &first.metadata.name;
    let mut named = false;
    for agent in agents {
        named |= agent.targets().any(|t| t.value == name.value);
        agent.walk(&mut |node| {
            if let Node::AgentRef(to, _) = node {
                named |= to.value == name.value;
            }
        });
    }
    if named {
        return;
    }
    report.push(
        report
            .finding(name.span, format!("MICA queries `{name}` at every turn, although no ensemble contains it"))
            .label(router.metadata.name.span, "whenever an ensemble begins a turn")
            .note("it queries the first kb agent of the file whether it is listed or not; in the paper only listed ones are queried")
            .help(format!("list `{name}` in the `contains` of the ensemble that should query it, or remove it")),
    );
}
