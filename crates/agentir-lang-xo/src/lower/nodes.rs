//! Lowers nodes, by kind, to the bodies of steps.

use super::dialog::{DialogNode, tail};
use super::messages::{self, Message, Messages, Variant};
use super::scripts::{self, ScriptOutput};
use super::{Context, builders, condition, entity, form, generative, localized, service, status};
use crate::tables::NodeKind;
use crate::{Json, Text, script};
use agentir_diagnostics::{Diagnostic, Span, Spanned};
use agentir_expr::{Condition, Expr, Name, Template};
use agentir_ir::{
    Agent, Body, Branch, Decider, Delegation, GatherField, ReasoningZone, Statement, Step, Target,
};
use agentir_syntax::rules;
use smol_str::SmolStr;

/// The transitions of a step, and what is collected while its body is lowered.
pub(super) struct StepTransitions {
    pub(super) branches: Vec<Branch>,
    pub(super) default_target: (Target, Span),
    /// Whether the node says where it goes on by default.
    pub(super) says_default: bool,
    /// Messages for other channels and languages.
    pub(super) variants: Vec<Variant>,
    /// Whether the dialog starts here.
    pub(super) begins: bool,
    /// The field that the step collects, if the messages belong to its prompt.
    pub(super) field: Option<GatherField>,
    /// The fields that are asked for again, with what is said before that in other channels and languages.
    pub(super) retries: Option<(Vec<GatherField>, Vec<Variant>)>,
    /// What is said after a form in other channels and languages.
    pub(super) submitted: Vec<Variant>,
}

impl StepTransitions {
    fn tail(&mut self) -> Vec<Statement> {
        let branches = std::mem::take(&mut self.branches);
        tail(branches, self.default_target.clone())
    }
}

/// Synonyms of yes and no at a confirmation, in all languages, if the node defines any.
pub(super) fn synonyms(node: &DialogNode<'_>) -> [Vec<SmolStr>; 2] {
    let texts = node.component.and_then(|c| c.get("localeData")).map_or(&[][..], Json::members);
    let of = |answer: &str| {
        let lists = texts.iter().filter_map(|texts| texts.value.at(&["synonyms", answer]));
        let words = lists.flat_map(Json::items).filter_map(|s| s.take().text());
        words.flat_map(|t| entity::separated(&t.value).map(SmolStr::new)).collect()
    };
    [of("yes"), of("no")]
}

/// Lowers a node to the body of its step.
pub(super) fn body<'j>(
    cx: &mut Context<'j, '_>,
    node: &DialogNode<'j>,
    agent: &mut Agent,
    step: &mut Step,
    transitions: &mut StepTransitions,
) {
    let mut statements = Vec::new();
    let waits = node
        .json
        .get("nodeOptions")
        .is_some_and(|o| o.take_text("transitionType").is_some_and(|t| t.value == "onInput"));
    if let (Some(component), Some(kind)) = (node.component, node.kind) {
        component.get("type").map(Json::take);
        let name = component.take_text("name").map(|t| SmolStr::new(&t.value));
        let name = name.unwrap_or_else(|| step.name.value.clone());
        describe(cx, component, &name, step);
        statements = self::statements(cx, node, component, kind, &name, agent, step, transitions);
    }
    let speaks = matches!(node.kind, Some(NodeKind::Message | NodeKind::Confirmation));
    let answered = matches!(statements.last(), Some(Statement::Await { .. } | Statement::Goto(_)));
    merge_clears(&mut statements);
    if !answered && !by_outcome(cx, &mut statements, transitions) {
        let tail = transitions.tail();
        let branches = matches!(tail.as_slice(), [Statement::If { .. }]);
        if let Some(Statement::Collect(collect)) = statements.last_mut()
            && (branches || !collect.on_success.is_empty())
        {
            // Transitions on the answer follow the collected field.
            collect.on_success.0.extend(tail);
        } else if let Some(Statement::Call(call)) = statements.last_mut()
            && !call.on_success.is_empty()
        {
            call.on_success.0.extend(tail);
        } else if waits && speaks {
            let any = builders::branch(None, tail, transitions.default_target.1);
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

/// Puts the ways on below the call that they depend on, if it is the last statement and they do.
fn by_outcome(
    cx: &Context<'_, '_>,
    statements: &mut [Statement],
    transitions: &mut StepTransitions,
) -> bool {
    let Some(Statement::Call(call)) = statements.last_mut() else { return false };
    let Some(variable) = cx.names.statuses().get(&call.tool.value) else { return false };
    let ways = (std::mem::take(&mut transitions.branches), transitions.default_target.clone());
    match status::by_outcome(&ways, variable) {
        Some(by_outcome) => {
            status::follow(call, by_outcome);
            true
        }
        None => {
            transitions.branches = ways.0;
            false
        }
    }
}

/// Merges consecutive `Clear` statements.
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

/// Uses the label as description, unless it equals the name.
fn describe(cx: &Context<'_, '_>, component: &Json, name: &str, step: &mut Step) {
    let Some(texts) = localized(component, &cx.language) else { return };
    let text = texts.take_text("desc").filter(|t| !t.value.is_empty());
    let label = texts
        .take_text("label")
        .filter(|t| super::names::identifier(&t.value) != super::names::identifier(name));
    step.description = text.or(label).map(|t| Template::plain(t.spanned()));
}

#[expect(clippy::too_many_arguments, reason = "what a node is made of, taken apart once")]
fn statements<'j>(
    cx: &mut Context<'j, '_>,
    node: &DialogNode<'j>,
    component: &'j Json,
    kind: NodeKind,
    name: &str,
    agent: &mut Agent,
    step: &mut Step,
    transitions: &mut StepTransitions,
) -> Vec<Statement> {
    let span = node.json.span;
    match kind {
        NodeKind::Entity => {
            let (mut field, messages, retries) =
                entity::field(cx, component, name, agent, &mut step.extensions);
            entity::options(cx.base, node.json, &mut field);
            let Messages { main, variants } = messages;
            // A question whose text a tool computes would need two steps.
            let (computed, literal) =
                variants.into_iter().partition(|v| !v.message.before.is_empty());
            messages::preserve_variants(computed, "message", &mut step.extensions);
            transitions.variants = literal;
            transitions.field = Some(field.clone());
            transitions.retries = Some((vec![field.clone()], retries));
            let mut all = main.map(|m| m.before).unwrap_or_default();
            all.push(entity::collect(vec![field], span));
            all
        }
        NodeKind::Message => message(cx, component, name, agent, step, transitions),
        NodeKind::Confirmation => {
            let mut all = message(cx, component, name, agent, step, transitions);
            let mut branches = std::mem::take(&mut transitions.branches);
            let (target, at) = transitions.default_target.clone();
            let ends = target == Target::Complete;
            // Where the dialog ends here, the answer that leads nowhere else ends it.
            let own = self::synonyms(node);
            let said = branches.len();
            for answer in condition::answers(cx, &own, at).into_iter().filter(|_| ends) {
                let is_answer =
                    |b: &Branch| b.condition.as_ref().and_then(|c| c.expr()) == Some(&answer);
                if !branches.iter().any(is_answer) {
                    let end = vec![builders::goto(Target::Complete, at)];
                    branches.push(builders::branch(Some(answer), end, at));
                }
            }
            // What is no answer repeats the question, unless the node says otherwise: where both answers lead on, its
            // default is about nothing else.
            let repeats = ends && !(transitions.says_default && branches.len() == said);
            let repeat = if repeats { Target::Step(step.name.clone()) } else { target };
            branches.push(builders::branch(None, vec![builders::goto(repeat, at)], at));
            all.push(Statement::Await { branches });
            all
        }
        NodeKind::Service | NodeKind::Webhook | NodeKind::Process | NodeKind::Search => {
            service_call(cx, component, kind, name, agent, step)
        }
        NodeKind::Script => match component.take_text("script") {
            Some(text) => {
                let text = cx.decoded(text);
                let Agent { tools, .. } = agent;
                let mut output = ScriptOutput { tools, extensions: &mut step.extensions };
                scripts::body(cx, &text, name, &mut output)
            }
            None => Vec::new(),
        },
        NodeKind::Form => {
            let mut all = message(cx, component, name, agent, step, transitions);
            let Some(found) = form::of_node(cx, node.json, component) else { return all };
            let form = form::lower(cx, found, agent);
            form::add_notes(cx, &form.notes, &mut all);
            for variant in &mut transitions.variants {
                let language = variant.language.clone().unwrap_or_else(|| cx.language.clone());
                let notes = form::notes_in(cx, found, &language);
                let text = &mut variant.message.response.text;
                *text = form::noted(cx, &notes, text.as_ref()).or_else(|| text.take());
            }
            let mut fields = form.fields;
            let retries = retry_prompts(cx, component, name, agent, step, &mut fields);
            transitions.retries = Some((fields.clone(), retries));
            let (sent, others) = submitted(cx, component, name, agent, step);
            transitions.submitted = others;
            if !fields.is_empty() {
                let mut collect = entity::collect(fields, span);
                if let Statement::Collect(collect) = &mut collect {
                    collect.on_success = Body(sent);
                }
                all.push(collect);
            }
            all
        }
        NodeKind::AgentTransfer => {
            let mut all = message(cx, component, name, agent, step, transitions);
            all.push(builders::goto(Target::Escalate, span));
            all
        }
        NodeKind::Generative => match generative::request(component) {
            Some(request) => ask(cx, component, request, name, agent, step),
            None => {
                lead(cx, component, name, agent, step);
                Vec::new()
            }
        },
        NodeKind::Intent => dialog(cx, node, component, agent, step, transitions),
        NodeKind::Logic | NodeKind::BotAction => Vec::new(),
    }
}

/// What is said if an answer is not what the form asks for; returns what is said in other languages and channels.
fn retry_prompts(
    cx: &mut Context<'_, '_>,
    component: &Json,
    name: &str,
    agent: &mut Agent,
    step: &mut Step,
    fields: &mut [GatherField],
) -> Vec<Variant> {
    let mut output = ScriptOutput { tools: &mut agent.tools, extensions: &mut step.extensions };
    let name = format!("{name}_error");
    let Messages { main, variants } =
        messages::messages(cx, component.get("errorMessage"), &name, &mut output);
    if let Some(text) = main.and_then(|m| m.response.text) {
        fields.iter_mut().for_each(|field| entity::ask_again(cx.base, field, text.clone()));
    }
    variants
}

/// What is said when the form has been sent, and what is said then in other languages and channels.
fn submitted(
    cx: &mut Context<'_, '_>,
    component: &Json,
    name: &str,
    agent: &mut Agent,
    step: &mut Step,
) -> (Vec<Statement>, Vec<Variant>) {
    let mut output = ScriptOutput { tools: &mut agent.tools, extensions: &mut step.extensions };
    let name = format!("{name}_submitted");
    let Messages { main, variants } =
        messages::messages(cx, component.get("submitMessage"), &name, &mut output);
    (main.map(Message::statements).unwrap_or_default(), variants)
}

fn message(
    cx: &mut Context<'_, '_>,
    component: &Json,
    name: &str,
    agent: &mut Agent,
    step: &mut Step,
    transitions: &mut StepTransitions,
) -> Vec<Statement> {
    let mut output = ScriptOutput { tools: &mut agent.tools, extensions: &mut step.extensions };
    let Messages { main, variants } =
        messages::messages(cx, component.get("message"), name, &mut output);
    transitions.variants = variants;
    main.map(Message::statements).unwrap_or_default()
}

fn service_call(
    cx: &mut Context<'_, '_>,
    component: &Json,
    kind: NodeKind,
    name: &str,
    agent: &mut Agent,
    step: &mut Step,
) -> Vec<Statement> {
    let mut all = script_at(cx, component, "preProcessor", &format!("{name}_before"), agent, step);
    let mut output = ScriptOutput { tools: &mut agent.tools, extensions: &mut step.extensions };
    let call = service::call(cx, kind, component, name, &mut output);
    let tool = call.tool.value.clone();
    all.push(Statement::Call(Box::new(call)));
    let after = format!("{name}_after");
    all.extend(script_at(cx, component, "postProcessor", &after, agent, step));
    service::preserve_remaining(cx, component, &mut agent.tools, &tool, &mut step.extensions);
    all
}

/// The statements of the script in a member.
fn script_at(
    cx: &mut Context<'_, '_>,
    of: &Json,
    key: &str,
    name: &str,
    agent: &mut Agent,
    step: &mut Step,
) -> Vec<Statement> {
    let Some(text) = of.take_text(key) else { return Vec::new() };
    let text = cx.decoded(text);
    let mut output = ScriptOutput { tools: &mut agent.tools, extensions: &mut step.extensions };
    scripts::body(cx, &text, name, &mut output)
}

/// A node that asks a model once.
fn ask(
    cx: &mut Context<'_, '_>,
    component: &Json,
    request: &Json,
    name: &str,
    agent: &mut Agent,
    step: &mut Step,
) -> Vec<Statement> {
    let before = format!("{name}_before");
    let mut all = script_at(cx, request, "preProcessorScript", &before, agent, step);
    let mut output = ScriptOutput { tools: &mut agent.tools, extensions: &mut step.extensions };
    let call = generative::call(cx, component, request, name, &mut output);
    let tool = call.tool.value.clone();
    all.push(Statement::Call(Box::new(call)));
    let after = format!("{name}_after");
    all.extend(script_at(cx, request, "postProcessorScript", &after, agent, step));
    service::preserve_remaining(cx, component, &mut agent.tools, &tool, &mut step.extensions);
    all
}

/// A node led by the model: its goal, its fields, and its exit condition.
fn lead(
    cx: &mut Context<'_, '_>,
    component: &Json,
    name: &str,
    agent: &mut Agent,
    step: &mut Step,
) {
    let texts = localized(component, &cx.language).unwrap_or(component);
    let text_of = |keys: &[&str]| {
        keys.iter().find_map(|key| component.take_text(key).or_else(|| texts.take_text(key)))
    };
    let goal = text_of(&["prompt", "businessContext", "description", "goal"]);
    let goal = goal.map(|text| literal(cx, text)).or_else(|| step.description.take());
    let goal = goal.unwrap_or_else(|| {
        Template::plain(Spanned::new(SmolStr::new(name.replace('_', " ")), step.span.at_start()))
    });
    let list =
        |key: &str| component.get(key).or_else(|| texts.get(key)).map_or(&[][..], Json::items);
    for rule in list("rules") {
        if let Some(text) = text_or_name(rule) {
            agent.identity.limitations.push(literal(cx, text));
        }
    }
    for part in list("dynamicEntities") {
        let Some(text) = part.take_text("name").or_else(|| text_or_name(part)) else { continue };
        let variable = cx.names.entity(&text.value, text.span);
        let mut field = agentir_syntax::lower::required_field(variable);
        if let Some(id) = part.take_text("entityType").or_else(|| part.take_text("type")) {
            match crate::tables::EntityType::called(&id.value) {
                Some(ty) => entity::apply_type(&mut field, ty, id.span),
                None => part.get("type").iter().for_each(|t| t.release()),
            }
        }
        field.prompt = part.take_text("prompt").map(|t| literal(cx, t));
        agent.gather.fields.push(field);
    }
    let exits: Vec<&str> =
        list("exitScenarios").iter().filter_map(text_or_name).map(|t| t.value.as_str()).collect();
    let exit_when = (!exits.is_empty()).then(|| {
        let text = SmolStr::new(exits.join(", or "));
        Condition::words(&Template::plain(Spanned::new(text, step.span)))
    });
    step.reasoning = Some(true);
    step.reasoning_zone =
        Some(ReasoningZone { goal: Some(goal), exit_when, ..ReasoningZone::default() });
}

fn text_or_name(json: &Json) -> Option<&Text> {
    if json.text().is_some() {
        return json.take().text();
    }
    ["rule", "text", "name", "description", "scenario"].into_iter().find_map(|k| json.take_text(k))
}

fn literal(cx: &mut Context<'_, '_>, text: &Text) -> Template {
    let text = cx.decoded(text);
    messages::literal(cx, &text).response.text.unwrap_or_default()
}

/// Another dialog: a delegation, or a handoff if nothing follows.
fn dialog<'j>(
    cx: &mut Context<'j, '_>,
    node: &DialogNode<'j>,
    component: &'j Json,
    agent: &mut Agent,
    step: &mut Step,
    transitions: &mut StepTransitions,
) -> Vec<Statement> {
    // The intent that starts this dialog is not a call, even if it has branches.
    if transitions.begins {
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
                "the export does not contain the dialog that this node calls",
            )
            .note("the step only continues with the next one")
            .help("export the bot with its dependent tasks, or write the handover by hand"),
        );
        return Vec::new();
    };
    let callee = Spanned::new(known.value, step.name.span);
    let input = context_map(cx, node.json);
    let is_last =
        transitions.branches.is_empty() && transitions.default_target.0 == Target::Complete;
    let delegation = || Delegation {
        agent: callee.clone(),
        returns: None,
        decided_by: Decider::Always,
        bindings: Vec::new(),
    };
    if is_last && input.is_empty() {
        transitions.default_target = (Target::Handoff(Some(callee)), transitions.default_target.1);
        return vec![builders::goto(
            transitions.default_target.0.clone(),
            transitions.default_target.1,
        )];
    }
    if !input.is_empty() {
        let declared = &mut agent.coordination.delegates;
        if declared.iter().all(|d| d.agent.value != callee.value) {
            declared.push(builders::delegate(callee.clone(), input));
        }
    }
    vec![Statement::Delegate(delegation())]
}

/// The input of a called dialog: JSON in a string, from the callee's variables to expressions.
fn context_map(cx: &mut Context<'_, '_>, node: &Json) -> Vec<(Spanned<Name>, Expr)> {
    let Some(text) = node.get("contextMap").and_then(Json::text) else { return Vec::new() };
    let parsed = serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(&text.value);
    let Ok(all) = parsed else { return Vec::new() };
    node.take_member("contextMap");
    let span = text.span;
    let mut input: Vec<(Spanned<Name>, Expr)> = Vec::new();
    for (callee_path, value) in all {
        let expr = |cx: &mut Context<'_, '_>, code: String| {
            let e = script::expression(&Text::synthetic(code, span))?;
            Some(cx.names.expr(&e))
        };
        let Some(callee_path) =
            expr(cx, callee_path).and_then(|e| e.as_path().map(|p| p.root.clone()))
        else {
            continue;
        };
        let value = match value {
            serde_json::Value::String(code)
                if code.starts_with("context") || code.starts_with("env") =>
            {
                expr(cx, code)
            }
            serde_json::Value::String(text) => Some(builders::text(&text, span)),
            other => expr(cx, other.to_string()),
        };
        let same = |(name, _): &(Spanned<Name>, Expr)| name.value == callee_path.value;
        if let Some(value) = value.filter(|_| !input.iter().any(same)) {
            input.push((callee_path, value));
        }
    }
    input
}
