//! What a bot says: messages, with their channels, languages and alternatives.

use super::{Context, XO, make, rest, scripts};
use agentir_diagnostics::{Span, Spanned};
use agentir_expr::{Expr, ExprKind, Literal, Template};
use agentir_ir::{
    ActionElement, Actions, Body, Data, Extensions, FlowModifications, GatherField,
    GatherOverrides, Number, NumberOrText, Profile, Response, Statement, Step,
};
use agentir_syntax::xo::script::Statement as Code;
use agentir_syntax::xo::tables::{CHANNELS, DEFAULT_CHANNEL};
use agentir_syntax::xo::{Json, Text};
use smol_str::SmolStr;

/// A message.
#[derive(Debug, Default)]
pub(super) struct Message {
    /// What is done before it is said: its script's assignments, or the tool that makes its text.
    pub(super) before: Vec<Statement>,
    /// What is said.
    pub(super) response: Response,
}

impl Message {
    /// What is done to say it. What makes the text comes before it is said.
    pub(super) fn statements(self) -> Vec<Statement> {
        let Self { mut before, response } = self;
        match before.last_mut() {
            Some(Statement::Call(call)) => call.on_success.0.push(Statement::Respond(response)),
            _ => before.push(Statement::Respond(response)),
        }
        before
    }
}

/// A message for one channel or language.
#[derive(Debug)]
pub(super) struct Variant {
    pub(super) channel: Option<SmolStr>,
    pub(super) language: Option<SmolStr>,
    pub(super) message: Message,
    pub(super) span: Span,
}

/// All that is said at one place.
#[derive(Debug, Default)]
pub(super) struct Said {
    /// Where nothing else fits.
    pub(super) main: Option<Message>,
    /// For channels and languages.
    pub(super) variants: Vec<Variant>,
}

/// The messages of a list. One of several for the same channel and language is said; the others are kept
/// in `into` as alternatives.
pub(super) fn said(
    cx: &mut Context<'_, '_>,
    list: Option<&Json>,
    name: &str,
    into: &mut scripts::Home<'_>,
) -> Said {
    let mut said = Said::default();
    let mut alternatives: Vec<Data> = Vec::new();
    let mut seen: Vec<(SmolStr, SmolStr)> = Vec::new();
    let place = list.map(|l| l.span);
    for item in list.map_or(&[][..], Json::items) {
        let channel = item.take_text("channel").map_or(DEFAULT_CHANNEL, |t| t.value.as_str());
        let channel = SmolStr::new(channel);
        for texts in item.get("localeData").map_or(&[][..], Json::members) {
            let (language, value) = (&texts.key, &texts.value);
            let Some(text) = value.take_text("text") else { continue };
            let computed = value.take_text("type").is_some_and(|t| t.value == "uxmap");
            let text = cx.decoded(text);
            let key = (channel.clone(), language.clone());
            if seen.contains(&key) {
                let lost = &mut Vec::new();
                let shown = cx.names.holes(&text, lost).value;
                alternatives.push(Data::from(shown));
                continue;
            }
            seen.push(key);
            let message = if computed {
                let named = match channel.as_str() {
                    DEFAULT_CHANNEL => name.to_owned(),
                    channel => format!("{name}_{channel}"),
                };
                scripts::message(cx, &text, &named, into)
            } else {
                plain(cx, &text)
            };
            let main = channel == DEFAULT_CHANNEL && *language == cx.language;
            if main && said.main.is_none() {
                said.main = Some(message);
                continue;
            }
            said.variants.push(Variant {
                channel: (channel != DEFAULT_CHANNEL).then(|| our_channel(&channel)),
                language: (*language != cx.language).then(|| language.clone()),
                message,
                span: text.span,
            });
        }
    }
    if said.main.is_none() && !said.variants.is_empty() {
        let first = said.variants.remove(0);
        said.main = Some(first.message);
        let only = first.channel.as_ref().or(first.language.as_ref());
        if let (Some(only), Some(place)) = (only, place) {
            into.extensions.keep(XO, "onlyFor", Data::from(only.as_str()), place);
        }
    }
    if let (false, Some(place)) = (alternatives.is_empty(), place) {
        into.extensions.keep(XO, "alternatives", Data::Array(alternatives), place);
    }
    said
}

/// Keeps what is said in other channels and languages where nothing can say it.
pub(super) fn keep_variants(variants: Vec<Variant>, name: &str, into: &mut Extensions) {
    for variant in variants {
        let text = variant.message.response.text.map(|t| t.text.value).unwrap_or_default();
        let mut item = serde_json::Map::new();
        for (key, value) in [("channel", variant.channel), ("language", variant.language)] {
            if let Some(value) = value {
                item.insert(key.to_owned(), Data::from(value.as_str()));
            }
        }
        item.insert(name.to_owned(), Data::from(text.as_str()));
        into.keep(XO, "otherTexts", Data::Object(item), variant.span);
    }
}

fn our_channel(channel: &SmolStr) -> SmolStr {
    let known = CHANNELS.iter().find(|(theirs, _)| theirs == channel);
    known.map_or_else(|| channel.clone(), |(_, ours)| SmolStr::new_static(ours))
}

/// A text that is said as it stands.
pub(super) fn plain(cx: &mut Context<'_, '_>, text: &Text) -> Message {
    let mut lost = Vec::new();
    let start = text.value.len() - text.value.trim_start().len();
    let text = text.part(start..start + text.value.trim().len());
    let text = rest::without(&text, "message", cx.problems);
    let template = cx.names.template(&text, &mut lost);
    cx.untranslated(lost);
    Message { before: Vec::new(), response: response(template) }
}

fn response(text: Template) -> Response {
    Response { text: Some(text), ..Response::default() }
}

/// What a simple script does and says; nothing if it says several things, or under conditions.
pub(super) fn of_script(cx: &mut Context<'_, '_>, code: &[Code]) -> Option<Message> {
    let mut message = Message::default();
    let mut printed = None;
    for statement in code {
        match statement {
            Code::Print(value) if printed.is_none() => printed = Some(value),
            Code::Assign { .. } | Code::Log(_) => {
                message.before.extend(scripts::statement(cx, statement)?);
            }
            Code::Print(_) | Code::If(_) => return None,
        }
    }
    let printed = printed?;
    if let ExprKind::Object(_) = printed.kind {
        message.response = template(cx, printed)?;
        return Some(message);
    }
    let mut lost = Vec::new();
    let text = cx.names.text_of(printed, &mut lost);
    cx.untranslated(lost);
    message.response = response(text);
    Some(message)
}

fn member<'e>(object: &'e Expr, name: &str) -> Option<&'e Expr> {
    match &object.kind {
        ExprKind::Object(entries) => {
            entries.iter().find(|o| o.key.value == name).and_then(|o| o.value.as_ref())
        }
        _ => None,
    }
}

fn text_in<'e>(object: &'e Expr, names: &[&str]) -> Option<&'e Expr> {
    names.iter().find_map(|name| member(object, name))
}

/// A message of a template of XO's: its text, and its buttons where it has some that ABL has, too. What
/// else it says of how it looks is kept as rich content.
fn template(cx: &mut Context<'_, '_>, object: &Expr) -> Option<Response> {
    let payload = member(object, "payload").unwrap_or(object);
    let mut lost = Vec::new();
    let text = text_in(payload, &["text", "title", "heading"]);
    let text = text.map(|t| cx.names.text_of(t, &mut lost));
    let kind = member(payload, "template_type").and_then(constant);
    let buttons = match kind.as_deref() {
        Some("button") => member(payload, "buttons"),
        Some("quick_replies") => member(payload, "quick_replies"),
        _ => None,
    };
    let elements = buttons.and_then(|b| match &b.kind {
        ExprKind::List(items) => items.iter().map(|i| button(cx, i, &mut lost)).collect(),
        _ => None,
    });
    cx.untranslated(lost);
    let elements: Option<Vec<ActionElement>> = elements;
    Some(match elements {
        Some(elements) => Response {
            text,
            actions: Some(Actions { elements, ..Actions::default() }),
            ..Response::default()
        },
        None => Response {
            text: Some(text?),
            rich_content: Some(make::data_of(&cx.names.expr(object))?),
            ..Response::default()
        },
    })
}

fn constant(e: &Expr) -> Option<SmolStr> {
    match &e.kind {
        ExprKind::Literal(Literal::String(text)) => Some(text.clone()),
        _ => None,
    }
}

fn button(cx: &mut Context<'_, '_>, item: &Expr, lost: &mut Vec<Text>) -> Option<ActionElement> {
    let label = member(item, "title")?;
    let span = item.span;
    let title = constant(label);
    let value = text_in(item, &["payload", "value"]).and_then(constant);
    let url = member(item, "url").and_then(constant);
    let id = title.as_deref().map_or_else(|| SmolStr::new_static("choice"), super::names::word);
    let kind = SmolStr::new_static("button");
    Some(ActionElement {
        id: Some(Spanned::new(SmolStr::new(id.to_ascii_lowercase()), span)),
        kind: Spanned::new(kind, span),
        label: Some(cx.names.text_of(label, lost)),
        value: value.map(|v| Spanned::new(v, span)),
        options: None,
        input_type: None,
        placeholder: None,
        description: None,
        url: url.map(|u| Spanned::new(u, span)),
        required: None,
        extensions: Extensions::default(),
        span,
    })
}

/// What buttons offer, as the rich content of a question.
pub(super) fn choices(actions: &Actions) -> Data {
    let choice = |e: &ActionElement| {
        let mut item = serde_json::Map::new();
        let label = e.label.as_ref().map(|l| l.text.value.as_str());
        item.insert("title".to_owned(), label.unwrap_or_default().into());
        if let Some(value) = &e.value {
            item.insert("value".to_owned(), value.value.as_str().into());
        }
        if let Some(url) = &e.url {
            item.insert("url".to_owned(), url.value.as_str().into());
        }
        Data::Object(item)
    };
    let all = actions.elements.iter().map(choice).collect();
    Data::Object([("QUICK_REPLIES".to_owned(), Data::Array(all))].into_iter().collect())
}

/// What a step or a field says for a channel or a language, as a part of the agent's profile for it.
pub(super) enum Place<'s> {
    /// A step that speaks; the rest of its body stays.
    Step(&'s Step),
    /// A field that is asked for.
    Field(&'s GatherField),
}

/// Adds what is said in variants to the profiles of an agent.
pub(super) fn vary(
    cx: &mut Context<'_, '_>,
    agent: &Spanned<SmolStr>,
    used: &mut Vec<Spanned<SmolStr>>,
    place: &Place<'_>,
    variants: Vec<Variant>,
) {
    for Variant { channel, language, message, span } in variants {
        let mut name = agent.value.to_string();
        let mut tests = Vec::new();
        for (variable, value) in [("channel", &channel), ("language", &language)] {
            let Some(value) = value else { continue };
            name = format!("{name}_{}", super::names::word(value));
            let left = make::variable(Spanned::new(SmolStr::new_static(variable), span));
            let right = make::text(value, span);
            let (left, right) = (Box::new(left), Box::new(right));
            let kind = ExprKind::Binary { op: agentir_expr::BinaryOp::Equal, left, right };
            tests.extend(Expr::new(kind, span));
        }
        // The more it asks for, the more it counts.
        let priority = 10 * u32::try_from(tests.len()).unwrap_or(1);
        let when = tests.into_iter().reduce(|a, b| Expr::and(a.clone(), b).unwrap_or(a));
        let at = cx.profiles.iter().position(|p| p.name.value == name);
        let at = at.unwrap_or_else(|| {
            let name = Spanned::new(SmolStr::new(&name), span);
            used.push(name.clone());
            cx.profiles.push(profile(name, priority, when, span));
            cx.profiles.len() - 1
        });
        let Some(profile) = cx.profiles.get_mut(at) else { continue };
        add(profile, place, message);
    }
}

fn add(profile: &mut Profile, place: &Place<'_>, message: Message) {
    match place {
        Place::Field(field) => {
            let overrides = profile.gather_overrides.get_or_insert_default();
            overrides.field_overrides.push(GatherField {
                prompt: message.response.text,
                rich_content: message.response.actions.as_ref().map(choices),
                required: field.required,
                ..crate::abl::flow::required_field(field.name.clone())
            });
        }
        Place::Step(step) => {
            let behind = behind(step.body.0.clone());
            let mut body = message.statements();
            match body.last_mut() {
                Some(Statement::Call(call)) => call.on_success.0.extend(behind),
                _ => body.extend(behind),
            }
            let changes = profile.flow_modifications.get_or_insert_default();
            let step =
                Step { body: Body(body), extensions: Extensions::default(), ..(*step).clone() };
            changes.overrides.insert(step.name.value.clone(), step);
        }
    }
}

/// What a step does after it has spoken.
fn behind(mut body: Vec<Statement>) -> Vec<Statement> {
    let speaks = |s: &Statement| match s {
        Statement::Respond(_) => true,
        Statement::Call(call) => {
            call.on_success.0.iter().any(|s| matches!(s, Statement::Respond(_)))
        }
        _ => false,
    };
    let Some(at) = body.iter().position(speaks) else { return body };
    let rest = body.split_off(at + 1);
    match body.pop() {
        Some(Statement::Call(call)) => {
            let mut inside = behind(call.on_success.0);
            inside.extend(rest);
            inside
        }
        _ => rest,
    }
}

fn profile(name: Spanned<SmolStr>, priority: u32, when: Option<Expr>, span: Span) -> Profile {
    Profile {
        name,
        description: None,
        priority: NumberOrText::Number(Number(f64::from(priority))),
        when: when.map(super::names::condition),
        instructions: None,
        voice: None,
        response_rules: None,
        constraints: Vec::new(),
        constraint_texts: Vec::new(),
        tools_hide: Vec::new(),
        tools_add: Vec::new(),
        gather_overrides: None::<GatherOverrides>,
        flow_modifications: None::<FlowModifications>,
        flow_replace: None,
        conversation_behavior: None,
        extensions: Extensions::default(),
        span,
    }
}
