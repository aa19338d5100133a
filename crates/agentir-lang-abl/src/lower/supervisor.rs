//! Lowers what only supervisors have (§5.1 and the supervisor reference).

use super::Context;
use super::coordination::filled_in;
use super::fields::Fields;
use crate::dialect;
use crate::inline::RouteAction;
use crate::{HeaderValue, Record, Value};
use agentir_diagnostics::{Diagnostic, Spanned};
use agentir_expr::Name;
use agentir_ir::{
    AgentReference, Context as HandoffContext, Coordination, Data, Decider, Extensions, Handoff,
    Number, PassedValue, Policy, PolicyRule, Routing, RoutingRule, RoutingTarget,
};
use agentir_ir_json::Mode;
use agentir_syntax::lower::{empty_rule, merge_extensions};
use agentir_syntax::misspelled::explain_missing;
use smol_str::SmolStr;

pub(super) fn supervisor(
    cx: &mut Context<'_>,
    f: &mut Fields<'_>,
    coordination: &mut Coordination,
    rest: &mut Extensions,
) -> (Option<Routing>, Vec<AgentReference>, Vec<Policy>) {
    let agents: Vec<AgentReference> =
        f.items_of("agents", rest).into_iter().filter_map(|item| reference(cx, item)).collect();
    let mut routing = None;
    for section in f.records("routing") {
        read_routing(cx, section, routing.get_or_insert_default());
    }
    for mut section in f.records("handoff_protocol") {
        for item in std::mem::take(&mut section.items) {
            coordination.handoffs.extend(protocol(item));
        }
        section.preserve(rest);
    }
    let policies = f.items_of("policies", rest).into_iter().filter_map(policy).collect();
    if let Some(mut behavior) = f.record("behavior") {
        let direct = behavior.boolean("can_respond_directly");
        let role = behavior.choice("role");
        if let Some(allowed) = direct.or(role.map(|r| r == "assistant")) {
            routing.get_or_insert_default().direct_response_allowed = Some(allowed);
        }
        let forbidden = behavior.names("forbidden_actions");
        if !forbidden.is_empty() {
            routing.get_or_insert_default().forbidden_actions = forbidden;
        }
        if let Some(role) = role {
            rest.insert(dialect::ABL.id(), "behavior.role", Data::from(role), behavior.span);
        }
        behavior.preserve(rest);
    }
    for section in f.records("communication") {
        let span = section.span;
        let remaining = section.into_extensions();
        rest.insert(
            dialect::ABL.id(),
            "communication",
            agentir_ir_json::to_value(&remaining, Mode::Plain),
            span,
        );
    }
    if let Some(routing) = &mut routing {
        classify_intents(routing);
    }
    (routing, agents, policies)
}

fn reference(cx: &mut Context<'_>, item: Record<'_>) -> Option<AgentReference> {
    let mut f = Fields::new(item);
    let file = f.text("ref");
    let named = f.name.take();
    let alias = f.name_of("alias").or(named);
    let agent = f.name_of("agent").or_else(|| {
        // The name in `agents/billing.agent.abl` need not be the agent's. It is a good guess only if it is
        // written like the name of an agent.
        let path = file.as_ref()?;
        let stem = path.value.rsplit(['/', '\\']).next()?.split('.').next()?;
        stem.starts_with(char::is_uppercase).then(|| Spanned::new(SmolStr::new(stem), path.span))
    });
    let alias = alias.or_else(|| agent.clone()).or_else(|| {
        let path = file.as_ref()?;
        let message = "this agent reference has no `ALIAS`";
        let misspelled = f.misspelling("alias");
        if !misspelled.is_some_and(|key| explain_missing(cx.problems, key, message)) {
            cx.problems.push(
                Diagnostic::error(agentir_syntax::rules::MISSING_FIELD, path.span, message)
                    .note(
                        "routing rules refer to agents by alias, so nothing can be routed to this one",
                    )
                    .help("add `ALIAS: …`"),
            );
        }
        let stem = path.value.rsplit(['/', '\\']).next()?.split('.').next()?;
        Some(Spanned::new(SmolStr::new(stem), path.span))
    })?;
    // Without a file, the alias is also the name.
    let agent = agent.or_else(|| file.is_none().then(|| alias.clone()));
    f.take_misspelled("requires_validation");
    Some(AgentReference {
        alias,
        agent,
        file,
        capabilities: f.templates("capabilities"),
        channels: f.names("channels"),
        requires_validation: f.boolean("requires_validation"),
        span: f.span,
        extensions: f.into_extensions(),
    })
}

fn read_routing(cx: &mut Context<'_>, mut f: Fields<'_>, routing: &mut Routing) {
    let mut rest = Extensions::default();
    let mut items = std::mem::take(&mut f.items);
    items.extend(f.items_of("rules", &mut rest));
    for item in items {
        rule(cx, item, routing, &mut rest);
    }
    routing.default_agent = f.name_of("default").or(routing.default_agent.take());
    if let Some(confidence) = f.plain_number("min_confidence") {
        routing.intent_classification.get_or_insert_default().min_confidence = confidence;
    }
    f.preserve(&mut rest);
    merge_extensions(&mut routing.extensions, rest);
}

fn rule(cx: &mut Context<'_>, item: Record<'_>, routing: &mut Routing, rest: &mut Extensions) {
    let mut f = Fields::new(item);
    let span = f.span;
    for header in std::mem::take(&mut f.headers) {
        if let HeaderValue::Routing(header) = header {
            match header.intents {
                Some(intents) => routing.rules.push(RoutingRule {
                    to: Some(header.target),
                    intents,
                    decided_by: Decider::User,
                    ..empty_rule(span)
                }),
                None => routing.default_agent = Some(header.target),
            }
        }
    }
    if let Some(default) = f.name_of("default") {
        routing.default_agent = Some(default);
    }
    let when = f.condition("when");
    let mut base = RoutingRule {
        name: f.text("name"),
        description: f.template("description"),
        priority: f.number("priority"),
        to: f.name_of("to"),
        decided_by: Decider::of(when.as_ref()),
        when,
        pass: f.names("pass"),
        returns: f.boolean("return"),
        flags: f.names("flags"),
        ..empty_rule(span)
    };
    if let Some(mut c) = f.record("constraints") {
        base.ignore_intents = c.names("ignore_intents");
        base.channels = c.names("channels");
        base.requires_state = c.names("requires_state");
        c.preserve(rest);
    }
    if let (Some(name), None) = (&base.name, &base.priority) {
        let message = format!("the routing rule `{name}` has no `PRIORITY`");
        let misspelled = f.misspelling("priority");
        if !misspelled.is_some_and(|key| explain_missing(cx.problems, key, &message)) {
            cx.problems.push(
                Diagnostic::error(agentir_syntax::rules::MISSING_FIELD, name.span, message)
                    .note("rules are tried in ascending order of priority; the position of this one is undefined")
                    .help("add `PRIORITY: …`"),
            );
        }
    }
    let is_rule = base.to.is_some() || base.when.is_some() || base.name.is_some();
    let mut acts = Vec::new();
    let mut fallback = take_route(&mut f, "fallback");
    let mut matches = Vec::new();
    let mut read_matches =
        |m: Fields<'_>, fallback: &mut Option<RouteAction>, rest: &mut Extensions| {
            let mut m = m;
            *fallback = take_route(&mut m, "fallback").or(fallback.take());
            for item in std::mem::take(&mut m.items) {
                let mut i = Fields::new(item);
                let intents: Vec<Spanned<SmolStr>> =
                    i.templates("intents").into_iter().map(|t| t.text).collect();
                if let Some(action) = take_route(&mut i, "action") {
                    matches.push((intents, action));
                }
                *fallback = take_route(&mut i, "fallback").or(fallback.take());
                i.preserve(rest);
            }
            m.preserve(rest);
        };
    match take_route(&mut f, "then") {
        Some(RouteAction::IntentMatch) | None => {}
        Some(action) => acts.push(action),
    }
    if let Some(mut then) = f.record("then") {
        for (name, make) in [
            ("route_to", (|n| RouteAction::Agent(n)) as fn(Spanned<Name>) -> RouteAction),
            ("system_action", RouteAction::System),
            ("route_to_user", |n| RouteAction::User(n)),
        ] {
            acts.extend(then.text(name).map(make));
        }
        fallback = take_route(&mut then, "fallback").or(fallback);
        if let Some(m) = then.record("intent_match") {
            read_matches(m, &mut fallback, rest);
        }
        then.preserve(rest);
    }
    if let Some(m) = f.record("intent_match") {
        read_matches(m, &mut fallback, rest);
    }
    base.extensions = f.into_extensions();
    let mut continues = false;
    for (intents, action) in matches {
        let mut one = RoutingRule { intents, decided_by: Decider::User, continues, ..base.clone() };
        continues = true;
        apply(cx, &mut one, action);
        routing.rules.push(one);
    }
    let mut plain = acts;
    plain.extend(fallback);
    if plain.is_empty() && is_rule && base.to.is_some() {
        routing.rules.push(base);
        return;
    }
    for action in plain {
        let mut one = RoutingRule { continues, ..base.clone() };
        continues = true;
        apply(cx, &mut one, action);
        routing.rules.push(one);
    }
}

fn take_route(f: &mut Fields<'_>, name: &str) -> Option<RouteAction> {
    f.value(name, |v| match v {
        Value::RouteAction(action) => Ok(*action),
        other => Err(other),
    })
}

fn apply(cx: &mut Context<'_>, rule: &mut RoutingRule, action: RouteAction) {
    match action {
        RouteAction::Agent(agent) => rule.to = Some(agent),
        RouteAction::User(message) => {
            let message = filled_in(cx, &message.value, message.span);
            rule.action = Some(RoutingTarget::RouteToUser { message });
        }
        RouteAction::Variable(path) => {
            rule.action = Some(RoutingTarget::RouteToVariable {
                variable: path.map(|path| SmolStr::new(path.to_string())),
            });
        }
        RouteAction::EndConversation => rule.action = Some(RoutingTarget::EndConversation),
        RouteAction::System(action) => rule.action = Some(RoutingTarget::SystemAction { action }),
        RouteAction::IntentMatch => {}
    }
}

/// Collects the intents that the rules distinguish.
fn classify_intents(routing: &mut Routing) {
    let mut categories: Vec<SmolStr> = Vec::new();
    for intent in routing.rules.iter().flat_map(|r| &r.intents) {
        if !categories.contains(&intent.value) {
            categories.push(intent.value.clone());
        }
    }
    if !categories.is_empty() || routing.intent_classification.is_some() {
        let known = routing.intent_classification.get_or_insert_default();
        known.categories = categories;
        known.source = "explicit";
        if known.min_confidence == Number(0.0) {
            known.min_confidence = Number(0.6);
        }
    }
}

/// `FROM a TO b:` is a handoff of `a`; written at the supervisor, it is lowered with its handoffs.
fn protocol(item: Record<'_>) -> Option<Handoff> {
    let mut f = Fields::new(item);
    let header = f.headers.iter().position(|h| matches!(h, HeaderValue::Protocol(_)));
    let (from, to) = match header.map(|at| f.headers.remove(at)) {
        Some(HeaderValue::Protocol(header)) => (header.from, header.to),
        _ => (f.name_of("from"), f.name_of("to")?),
    };
    let when = f.condition("trigger");
    let (context, span) = (f.names("context"), f.span);
    let mut extensions = f.into_extensions();
    let from = from.map_or_else(|| SmolStr::new_static("any"), |n| n.value);
    extensions.insert(dialect::ABL.id(), "from", Data::from(from.as_str()), span);
    Some(Handoff {
        context: HandoffContext {
            pass: context
                .into_iter()
                .map(|name| PassedValue { name, ty: SmolStr::new_static("string") })
                .collect(),
            ..HandoffContext::default()
        },
        extensions,
        span,
        ..Handoff::new(to, when)
    })
}

fn policy(item: Record<'_>) -> Option<Policy> {
    let mut f = Fields::new(item);
    let name = f.name.take()?;
    let mut rules = Vec::new();
    for mut section in f.records("rules") {
        for item in std::mem::take(&mut section.items) {
            let mut inner = Fields::new(item);
            let name = inner.name.take();
            rules.push(policy_rule(inner, name));
        }
        let own = policy_rule(section, None);
        if own.allowed_when.is_some()
            || own.forbidden_when.is_some()
            || own.behavior.is_some()
            || own.trigger_signal.is_some()
        {
            rules.push(own);
        }
    }
    Some(Policy {
        name,
        description: f.template("description"),
        rules,
        extensions: f.into_extensions(),
    })
}

fn policy_rule(mut f: Fields<'_>, name: Option<Spanned<Name>>) -> PolicyRule {
    PolicyRule {
        name,
        allowed_when: f.condition("allowed_when"),
        forbidden_when: f.condition("forbidden_when"),
        trigger_signal: f.plain_text("trigger_signal"),
        behavior: f.template("behavior"),
        extensions: f.into_extensions(),
    }
}
