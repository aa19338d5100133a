//! Lowers agents: `start_agent`, `subagent`, `topic` (specification part II, 4 and 5), and the nodes of
//! agentfabric.

use super::fields::Fields;
use super::{Shared, statement, tools};
use crate::dialect;
use agentir_diagnostics::{Span, Spanned};
use agentir_expr::Name;
use agentir_ir::{
    Agent, Body, Decider, Extensions, Hook, Hooks, Metadata, Routing, RoutingRule, SystemPrompt,
};

/// An agent with default values.
pub(super) fn empty(span: Span, shared: &Shared<'_>) -> Agent {
    let name = Spanned::new(Name::default(), span.at_start());
    let metadata = Metadata::new(name, dialect::AGENT_SCRIPT, shared.hash.clone());
    let mut agent = Agent::new(metadata, span);
    let instructions = shared.instructions.clone();
    agent.identity.system_prompt =
        instructions.map(|template| SystemPrompt { template, custom: true });
    agent
}

/// Lowers an agent. `kind` is its keyword.
pub(super) fn agent(kind: &'static str, mut fields: Fields<'_>, shared: &Shared<'_>) -> Agent {
    let source = shared.source;
    let mut agent = empty(fields.span, shared);
    if let Some(name) = fields.name.take() {
        agent.metadata.name = name;
    }
    // The description is the goal; only ABL has both.
    agent.identity.goal = fields.template("description");
    let mut extensions = Extensions::default();
    // The subagent's own instructions replace the global ones.
    if let Some(mut system) = fields.record("system") {
        if let Some(own) = system.template("instructions") {
            agent.identity.system_prompt = Some(SystemPrompt { template: own, custom: true });
        }
        agent.identity.extensions = system.into_extensions();
    }
    if let Some(mut model) = fields.record("model_config") {
        agent.execution.model = model.text("model");
        agent.execution.extensions = model.into_extensions();
    }
    for (_, action) in fields.records(&["actions"]) {
        agent.tools.extend(tools::tool(action, source));
    }
    let hook = |fields: &mut Fields<'_>, name: &str| {
        let body = statement::body(fields.procedure(name)?.statements, source);
        Some(Hook { body, ..Hook::default() })
    };
    agent.hooks = Hooks {
        before_agent: hook(&mut fields, "on_init"),
        before_turn: hook(&mut fields, "before_reasoning"),
        after_turn: hook(&mut fields, "after_reasoning"),
        after_agent: hook(&mut fields, "on_exit"),
    };
    fields.with_record("reasoning", &mut extensions, |reasoning| {
        if let Some(procedure) = reasoning.procedure("instructions") {
            set_prompt(&mut agent, statement::prompt(procedure, source));
        }
        for binding in reasoning.bindings("actions") {
            tools::binding(binding, shared, &mut agent);
        }
    });
    // The prompt of a generator, the steps of an executor, the target of a trigger's message.
    if let Some(procedure) = fields.procedure("prompt") {
        set_prompt(&mut agent, statement::prompt(procedure, source));
    }
    for name in ["do", "on_message"] {
        if let Some(procedure) = fields.procedure(name) {
            agent.on_start.0.extend(statement::body(procedure.statements, source).0);
        }
    }
    if kind == "router" {
        agent.routing = Some(router(&mut fields, shared, &mut extensions));
    }
    fields.preserve(&mut extensions);
    agent.extensions = extensions;
    agent
}

fn set_prompt(agent: &mut Agent, (instructions, prepare): (Vec<agentir_ir::Instruction>, Body)) {
    agent.identity.instructions.extend(instructions);
    if !prepare.is_empty() {
        agent.reasoning.get_or_insert_default().prepare = prepare;
    }
}

/// The routes of an agentfabric router: the first match is taken.
fn router(fields: &mut Fields<'_>, shared: &Shared<'_>, rest: &mut Extensions) -> Routing {
    let mut routing = Routing::default();
    for (_, mut route) in fields.records(&["routes"]) {
        let to = route.expr("target").and_then(|e| statement::named(&e, tools::AGENT_SPACES));
        let when = route.expr("when").map(|e| statement::condition(&e, shared.source));
        routing.rules.push(RoutingRule {
            name: None,
            to,
            action: None,
            when,
            intents: Vec::new(),
            decided_by: Decider::Condition,
            description: None,
            priority: None,
            returns: None,
            pass: Vec::new(),
            flags: Vec::new(),
            channels: Vec::new(),
            ignore_intents: Vec::new(),
            requires_state: Vec::new(),
            continues: false,
            span: route.span,
            extensions: route.into_extensions(),
        });
    }
    fields.with_record("otherwise", rest, |otherwise| {
        routing.default_agent =
            otherwise.expr("target").and_then(|e| statement::named(&e, tools::AGENT_SPACES));
    });
    routing
}
