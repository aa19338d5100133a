//! An agent that hands over to itself.

use crate::rule::{AgentContext, Check, Group, Report, Rule};
use agentir_diagnostics::{RuleName, Severity, Span, Spanned};
use agentir_expr::Name;
use agentir_expr::dialect::Construct;
use agentir_ir::AgentUse;
use rustc_hash::FxHashSet;

pub(crate) static RULE: Rule = Rule {
    name: RuleName("self-handoff"),
    group: Group::Reachability,
    severity: Severity::Error,
    summary: "an agent hands over, delegates or routes to itself",
    vendor: &["INVALID_DEFAULT_ROUTING_TARGET", "INVALID_HANDOFF_TARGET"],
    requires: &[Construct::ContextPassing],
    check: Check::Agent(check),
};

fn check(cx: &AgentContext<'_, '_>, report: &mut Report<'_>) {
    let agent = cx.agent;
    let own = &agent.metadata.name;
    // `HANDOFF_PROTOCOL` of a supervisor describes handoffs of other agents.
    let others: FxHashSet<Span> = agent
        .coordination
        .handoffs
        .iter()
        .filter(|h| h.extensions.has("from"))
        .map(|h| h.to.span)
        .collect();
    let aliases = || {
        agent
            .available_agents
            .iter()
            .filter_map(|r| Some((r.alias.value.as_str(), r.agent.as_ref()?)))
    };
    let mut names: FxHashSet<&str> =
        aliases().filter(|(_, a)| a.value == own.value).map(|(alias, _)| alias).collect();
    // The agent's own name, unless it is an alias of another agent.
    if !own.value.is_empty() && aliases().all(|(alias, _)| alias != own.value) {
        names.insert(&own.value);
    }
    let mut reported = FxHashSet::default();
    let mut look = |to: &Spanned<Name>, does: &str| {
        // A router names an agent once for both the route and the handoff.
        if !names.contains(to.value.as_str())
            || others.contains(&to.span)
            || !reported.insert(to.span)
        {
            return;
        }
        report.push(
            report
                .finding(to.span, format!("`{own}` {does} itself"))
                .label(own.span, "the agent itself")
                .note("the runtime refuses to hand a conversation to the agent that already has it")
                .help("name another agent, or remove this"),
        );
    };
    for (to, by) in &cx.index.agent_refs {
        match by {
            AgentUse::Handoff | AgentUse::Failure | AgentUse::Flow => look(to, "hands over to"),
            AgentUse::Delegate => look(to, "delegates to"),
            AgentUse::Routing => look(to, "routes to"),
            AgentUse::DefaultRoute => look(to, "routes unrecognized messages to"),
            AgentUse::Available => {}
        }
    }
    for to in cx.index.jumps.iter().filter_map(|jump| jump.target.agent()) {
        look(to, "hands over to");
    }
}
