//! What each kind of node does in its step.

use super::dialog::{Place, tail};
use super::said::{self, Message, Said, Variant};
use super::scripts::{self, Home};
use super::{Context, entity, form, localized, make, service};
use agentir_diagnostics::{Diagnostic, Span, Spanned};
use agentir_expr::{Condition, Expr, Name, Template};
use agentir_ir::{
    Agent, Body, Branch, Decider, Delegation, GatherField, ReasoningZone, Statement, Step, Target,
};
use agentir_syntax::rules;
use agentir_syntax::xo::tables::NodeKind;
use agentir_syntax::xo::{Json, Text, script};
use smol_str::SmolStr;

/// Where a step leads, and what it says elsewhere.
pub(super) struct Turn {
    pub(super) branches: Vec<Branch>,
    pub(super) onwards: (Target, Span),
    /// What it says in other channels and languages.
    pub(super) variants: Vec<Variant>,
    /// Whether the dialog begins here.
    pub(super) begins: bool,
    /// The field that it asks for, if that is where it says it.
    pub(super) field: Option<GatherField>,
}

impl Turn {
    fn tail(&mut self) -> Vec<Statement> {
        let branches = std::mem::take(&mut self.branches);
        tail(branches, self.onwards.clone())
    }
}

/// What users say for yes and no at a confirmation, where it says so.
pub(super) fn synonyms(place: &Place<'_>, language: &str) -> [Vec<SmolStr>; 2] {
    let texts = place.component.and_then(|c| localized(c, language));
    let of = |answer: &str| {
        let list = texts.and_then(|t| t.at(&["synonyms", answer])).map_or(&[][..], Json::items);
        list.iter().filter_map(|s| s.take().text()).map(|t| SmolStr::new(&t.value)).collect()
    };
    [of("yes"), of("no")]
}

/// The body of a node's step, and what belongs to it.
pub(super) fn body<'j>(
    cx: &mut Context<'j, '_>,
    place: &Place<'j>,
    agent: &mut Agent,
    step: &mut Step,
    turn: &mut Turn,
) {
    let mut statements = Vec::new();
    let waits = place
        .node
        .get("nodeOptions")
        .is_some_and(|o| o.take_text("transitionType").is_some_and(|t| t.value == "onInput"));
    if let (Some(component), Some(kind)) = (place.component, place.kind) {
        component.get("type").map(Json::take);
        let name = component.take_text("name").map(|t| SmolStr::new(&t.value));
        let name = name.unwrap_or_else(|| step.name.value.clone());
        describe(cx, component, &name, step);
        statements = node(cx, place, component, kind, &name, agent, step, turn);
    }
    let speaks = matches!(place.kind, Some(NodeKind::Message | NodeKind::Confirmation));
    let answered = matches!(statements.last(), Some(Statement::Await { .. } | Statement::Goto(_)));
    merge_clears(&mut statements);
    if !answered {
        let tail = turn.tail();
        let branches = matches!(tail.as_slice(), [Statement::If { .. }]);
        if let (true, Some(Statement::Collect(collect))) = (branches, statements.last_mut()) {
            // What follows an answer stands with the question.
            collect.on_success = Body(tail);
        } else if let Some(Statement::Call(call)) = statements.last_mut()
            && !call.on_success.is_empty()
        {
            call.on_success.0.extend(tail);
        } else if waits && speaks {
            let any = make::branch(None, tail, turn.onwards.1);
            let branches = match any.body.0.as_slice() {
                [Statement::If { branches }] => branches.clone(),
                _ => vec![any],
            };
            statements.push(Statement::Await { branches });
        } else {
            statements.extend(tail);
        }
    }
    step.body = Body(statements);
}

/// Variables that are removed one after the other are removed together.
fn merge_clears(statements: &mut Vec<Statement>) {
    let mut merged: Vec<Statement> = Vec::with_capacity(statements.len());
    for statement in statements.drain(..) {
        match (merged.last_mut(), statement) {
            (Some(Statement::Clear { variables }), Statement::Clear { variables: more }) => {
                variables.extend(more);
            }
            (_, other) => merged.push(other),
        }
    }
    *statements = merged;
}

/// A label that is more than the name.
fn describe(cx: &Context<'_, '_>, component: &Json, name: &str, step: &mut Step) {
    let Some(texts) = localized(component, &cx.language) else { return };
    let said = texts.take_text("desc").filter(|t| !t.value.is_empty());
    let label = texts
        .take_text("label")
        .filter(|t| super::names::word(&t.value) != super::names::word(name));
    step.description = said.or(label).map(|t| Template::plain(t.spanned()));
}

#[expect(clippy::too_many_arguments, reason = "what a node is made of, taken apart once")]
fn node<'j>(
    cx: &mut Context<'j, '_>,
    place: &Place<'j>,
    component: &'j Json,
    kind: NodeKind,
    name: &str,
    agent: &mut Agent,
    step: &mut Step,
    turn: &mut Turn,
) -> Vec<Statement> {
    let span = place.node.span;
    match kind {
        NodeKind::Entity => {
            let (mut field, said) = entity::field(cx, component, name, agent, &mut step.extensions);
            entity::options(place.node, &mut field);
            let Said { main, variants } = said;
            // A question that a tool words would have to be asked in two steps.
            let (made, plain) = variants.into_iter().partition(|v| !v.message.before.is_empty());
            said::keep_variants(made, "message", &mut step.extensions);
            turn.variants = plain;
            turn.field = Some(field.clone());
            let mut all = main.map(|m| m.before).unwrap_or_default();
            all.push(entity::collect(vec![field], span));
            all
        }
        NodeKind::Message => message(cx, component, name, agent, step, turn),
        NodeKind::Confirmation => {
            let mut all = message(cx, component, name, agent, step, turn);
            let mut branches = std::mem::take(&mut turn.branches);
            // Whatever else the user says, it is asked again, unless the node says otherwise.
            let (target, at) = turn.onwards.clone();
            let again =
                if target == Target::Complete { Target::Step(step.name.clone()) } else { target };
            branches.push(make::branch(None, vec![make::goto(again, at)], at));
            all.push(Statement::Await { branches });
            all
        }
        NodeKind::Service | NodeKind::Webhook | NodeKind::Process | NodeKind::Search => {
            called(cx, component, kind, name, agent, step)
        }
        NodeKind::Script => match component.take_text("script") {
            Some(text) => {
                let text = cx.decoded(text);
                let Agent { tools, .. } = agent;
                let mut home = Home { tools, extensions: &mut step.extensions };
                scripts::body(cx, &text, name, &mut home)
            }
            None => Vec::new(),
        },
        NodeKind::Form => {
            let fields = form::fields(cx, place.node, component);
            let mut all = message(cx, component, name, agent, step, turn);
            if !fields.is_empty() {
                all.push(entity::collect(fields, span));
            }
            all
        }
        NodeKind::AgentTransfer => {
            let mut all = message(cx, component, name, agent, step, turn);
            all.push(make::goto(Target::Escalate, span));
            all
        }
        NodeKind::Generative => {
            generative(cx, component, name, agent, step);
            Vec::new()
        }
        NodeKind::Intent => dialog(cx, place, component, agent, step, turn),
        NodeKind::Logic | NodeKind::BotAction => Vec::new(),
    }
}

fn message(
    cx: &mut Context<'_, '_>,
    component: &Json,
    name: &str,
    agent: &mut Agent,
    step: &mut Step,
    turn: &mut Turn,
) -> Vec<Statement> {
    let mut home = Home { tools: &mut agent.tools, extensions: &mut step.extensions };
    let Said { main, variants } = said::said(cx, component.get("message"), name, &mut home);
    turn.variants = variants;
    main.map(Message::statements).unwrap_or_default()
}

fn called(
    cx: &mut Context<'_, '_>,
    component: &Json,
    kind: NodeKind,
    name: &str,
    agent: &mut Agent,
    step: &mut Step,
) -> Vec<Statement> {
    let mut all = Vec::new();
    let script =
        |cx: &mut Context<'_, '_>, key: &str, what: &str, agent: &mut Agent, step: &mut Step| {
            let Some(text) = component.take_text(key) else { return Vec::new() };
            let text = cx.decoded(text);
            let mut home = Home { tools: &mut agent.tools, extensions: &mut step.extensions };
            scripts::body(cx, &text, &format!("{name}_{what}"), &mut home)
        };
    all.extend(script(cx, "preProcessor", "before", agent, step));
    let mut home = Home { tools: &mut agent.tools, extensions: &mut step.extensions };
    let call = service::call(cx, kind, component, name, &mut home);
    let tool = call.tool.value.clone();
    all.push(Statement::Call(Box::new(call)));
    all.extend(script(cx, "postProcessor", "after", agent, step));
    service::keep_rest(cx, component, &mut agent.tools, &tool, &mut step.extensions);
    all
}

/// A model leads: what it is to reach, what it asks for, and when it is done.
fn generative(
    cx: &mut Context<'_, '_>,
    component: &Json,
    name: &str,
    agent: &mut Agent,
    step: &mut Step,
) {
    let texts = localized(component, &cx.language).unwrap_or(component);
    let said = |keys: &[&str]| {
        keys.iter().find_map(|key| component.take_text(key).or_else(|| texts.take_text(key)))
    };
    let goal = said(&["prompt", "businessContext", "description", "goal"]);
    let goal = goal.map(|text| plain(cx, text)).or_else(|| step.description.take());
    let goal = goal.unwrap_or_else(|| {
        Template::plain(Spanned::new(SmolStr::new(name.replace('_', " ")), step.span.at_start()))
    });
    let list =
        |key: &str| component.get(key).or_else(|| texts.get(key)).map_or(&[][..], Json::items);
    for rule in list("rules") {
        if let Some(text) = words(rule) {
            agent.identity.limitations.push(plain(cx, text));
        }
    }
    for part in list("dynamicEntities") {
        let Some(text) = part.take_text("name").or_else(|| words(part)) else { continue };
        let variable = cx.names.entity(&text.value, text.span);
        let mut field = crate::abl::flow::required_field(variable);
        if let Some(id) = part.take_text("entityType").or_else(|| part.take_text("type")) {
            match agentir_syntax::xo::tables::EntityType::called(&id.value) {
                Some(ty) => entity::typed(&mut field, ty, id.span),
                None => part.get("type").iter().for_each(|t| t.release()),
            }
        }
        field.prompt = part.take_text("prompt").map(|t| plain(cx, t));
        agent.gather.fields.push(field);
    }
    let exits: Vec<&str> =
        list("exitScenarios").iter().filter_map(words).map(|t| t.value.as_str()).collect();
    let exit_when = (!exits.is_empty()).then(|| {
        let text = SmolStr::new(exits.join(", or "));
        Condition::words(&Template::plain(Spanned::new(text, step.span)))
    });
    step.reasoning = Some(true);
    step.reasoning_zone =
        Some(ReasoningZone { goal: Some(goal), exit_when, ..ReasoningZone::default() });
}

fn words(json: &Json) -> Option<&Text> {
    if json.text().is_some() {
        return json.take().text();
    }
    ["rule", "text", "name", "description", "scenario"].into_iter().find_map(|k| json.take_text(k))
}

fn plain(cx: &mut Context<'_, '_>, text: &Text) -> Template {
    let text = cx.decoded(text);
    said::plain(cx, &text).response.text.unwrap_or_default()
}

/// Another dialog: it is called, or takes over where nothing comes behind it.
fn dialog<'j>(
    cx: &mut Context<'j, '_>,
    place: &Place<'j>,
    component: &'j Json,
    agent: &mut Agent,
    step: &mut Step,
    turn: &mut Turn,
) -> Vec<Statement> {
    // The intent that begins this dialog, where it branches, calls nobody.
    if turn.begins {
        return Vec::new();
    }
    step.description = None;
    let ids = ["dialogId", "_id", "refId"].into_iter().filter_map(|key| component.peek(key));
    let known = ids.filter_map(|id| cx.agents.get(id)).next().cloned();
    let Some(known) = known else {
        cx.problem(
            Diagnostic::warning(
                rules::MISSING_PART,
                component.span.at_start(),
                "the dialog that this node calls is not in the export",
            )
            .note("the step does nothing but lead on")
            .help("export the bot with its dependent tasks, or write the handover by hand"),
        );
        return Vec::new();
    };
    let called = Spanned::new(known.value, step.name.span);
    let input = context_map(cx, place.node);
    let ends = turn.branches.is_empty() && turn.onwards.0 == Target::Complete;
    let delegation = || Delegation {
        agent: called.clone(),
        returns: None,
        decided_by: Decider::Always,
        bindings: Vec::new(),
    };
    if ends && input.is_empty() {
        turn.onwards = (Target::Handoff(Some(called)), turn.onwards.1);
        return vec![make::goto(turn.onwards.0.clone(), turn.onwards.1)];
    }
    if !input.is_empty() {
        let declared = &mut agent.coordination.delegates;
        if declared.iter().all(|d| d.agent.value != called.value) {
            declared.push(make::delegate(called.clone(), input));
        }
    }
    vec![Statement::Delegate(delegation())]
}

/// What a dialog gives to the one it calls: JSON in a text, the other's variables to values of ours.
fn context_map(cx: &mut Context<'_, '_>, node: &Json) -> Vec<(Spanned<Name>, Expr)> {
    let Some(text) = node.get("contextMap").and_then(Json::text) else { return Vec::new() };
    let parsed = serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(&text.value);
    let Ok(all) = parsed else { return Vec::new() };
    node.take_member("contextMap");
    let span = text.span;
    let mut input: Vec<(Spanned<Name>, Expr)> = Vec::new();
    for (theirs, ours) in all {
        let expr = |cx: &mut Context<'_, '_>, code: String| {
            let e = script::expression(&Text::made(code, span))?;
            Some(cx.names.expr(&e))
        };
        let Some(theirs) = expr(cx, theirs).and_then(|e| e.as_path().map(|p| p.root.clone()))
        else {
            continue;
        };
        let ours = match ours {
            serde_json::Value::String(code)
                if code.starts_with("context") || code.starts_with("env") =>
            {
                expr(cx, code)
            }
            serde_json::Value::String(text) => Some(make::text(&text, span)),
            other => expr(cx, other.to_string()),
        };
        let same = |(name, _): &(Spanned<Name>, Expr)| name.value == theirs.value;
        if let Some(ours) = ours.filter(|_| !input.iter().any(same)) {
            input.push((theirs, ours));
        }
    }
    input
}
