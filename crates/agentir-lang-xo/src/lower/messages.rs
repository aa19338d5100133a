//! Lowers messages, with their channels, languages and alternatives.

use super::{Context, builders, extensions, scripts};
use crate::dialect::ID;
use crate::script::Statement as Code;
use crate::tables::{CARDS, CHANNELS, DEFAULT_CHANNEL};
use crate::{Json, Text};
use agentir_diagnostics::{Span, Spanned};
use agentir_expr::{Expr, ExprKind, Literal, Template};
use agentir_ir::{ActionElement, Actions, Data, Extensions, Response, Statement};
use smol_str::SmolStr;

/// A message.
#[derive(Debug, Default)]
pub(super) struct Message {
    /// Statements before the message: the assignments of its script, or the call that computes its text.
    pub(super) before: Vec<Statement>,
    /// The response.
    pub(super) response: Response,
}

impl Message {
    /// The statements that send the message.
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

/// The messages of one element.
#[derive(Debug, Default)]
pub(super) struct Messages {
    /// The default message.
    pub(super) main: Option<Message>,
    /// Messages for specific channels and languages.
    pub(super) variants: Vec<Variant>,
}

/// A text of a message, before it is lowered.
struct Said<'j> {
    channel: SmolStr,
    language: &'j SmolStr,
    text: Text,
    computed: bool,
}

impl Said<'_> {
    /// For how many of channel and language it is not the default; `language`: the default of these texts.
    fn depth(&self, language: &str) -> usize {
        usize::from(self.channel != DEFAULT_CHANNEL) + usize::from(*self.language != language)
    }
}

/// The texts of a list of messages. Of several for the same channel and language the first is used; the others are
/// preserved in `into` as alternatives, as are those in languages that the bot does not speak. If it speaks none of them,
/// the first language is kept: something must be said.
fn texts<'j>(
    cx: &mut Context<'_, '_>,
    list: &'j Json,
    into: &mut scripts::ScriptOutput<'_>,
) -> Vec<Said<'j>> {
    let mut all: Vec<Said<'j>> = Vec::new();
    let (mut alternatives, mut unspoken) = (Vec::new(), Vec::new());
    let texts_of = |item: &'j Json| item.get("localeData").map_or(&[][..], Json::members);
    let mut known = list.items().iter().flat_map(texts_of).map(|texts| &texts.key);
    let first = known.clone().next();
    let speaks_one = known.any(|language| cx.speaks(language));
    for item in list.items() {
        let channel = item.take_text("channel").map_or(DEFAULT_CHANNEL, |t| t.value.as_str());
        let channel = SmolStr::new(channel);
        for texts in texts_of(item) {
            let (language, value) = (&texts.key, &texts.value);
            let Some(text) = value.take_text("text") else { continue };
            let computed = value.take_text("type").is_some_and(|t| t.value == "uxmap");
            let text = cx.decoded(text);
            let known = all.iter().any(|s| s.channel == channel && s.language == language);
            let spoken = match first {
                Some(first) if cx.says_languages && !speaks_one => {
                    super::is_same_language(language, first)
                }
                _ => !cx.says_languages || cx.speaks(language),
            };
            if known || !spoken {
                let text = super::entities::unescaped(&text);
                let shown = Data::from(cx.names.holes(&text, &mut Vec::new()).value);
                let others = if spoken { &mut alternatives } else { &mut unspoken };
                others.push(shown);
                continue;
            }
            all.push(Said { channel: channel.clone(), language, text, computed });
        }
    }
    for (key, others) in [("alternatives", alternatives), ("unspokenLanguages", unspoken)] {
        if !others.is_empty() {
            into.extensions.insert(ID, key, Data::Array(others), list.span);
        }
    }
    all
}

/// The default language of some texts: the bot's, else that of another region, else the first one.
fn default_of(cx: &Context<'_, '_>, all: &[Said<'_>]) -> SmolStr {
    let of = |is: &dyn Fn(&str) -> bool| all.iter().map(|s| s.language).find(|l| is(l)).cloned();
    of(&|language| cx.language == language)
        .or_else(|| of(&|language| super::is_same_language(language, &cx.language)))
        .or_else(|| all.first().map(|said| said.language.clone()))
        .unwrap_or_else(|| cx.language.clone())
}

/// Lowers a list of messages.
pub(super) fn messages(
    cx: &mut Context<'_, '_>,
    list: Option<&Json>,
    name: &str,
    into: &mut scripts::ScriptOutput<'_>,
) -> Messages {
    let mut messages = Messages::default();
    let Some(list) = list else { return messages };
    let mut all = texts(cx, list, into);
    // The default text first, others in their order.
    let language = default_of(cx, &all);
    let first = all.iter().position(|said| said.depth(&language) == 0).unwrap_or(0);
    if first < all.len() {
        let first = all.remove(first);
        all.insert(0, first);
    }
    let Some(default) = all.first().map(|said| said.text.value.clone()) else { return messages };
    let alike = all.iter().all(|said| said.text.value == default);
    for said in all {
        let Said { channel, language: spoken, text, computed } = &said;
        let depth = said.depth(&language);
        // What is said in any case needs no profile, unless one of channel or language alone says something else.
        if messages.main.is_some() && text.value == default && (depth < 2 || alike) {
            continue;
        }
        let message = if *computed {
            let named = match channel.as_str() {
                DEFAULT_CHANNEL => name.to_owned(),
                channel => format!("{name}_{channel}"),
            };
            scripts::message(cx, text, &named, into)
        } else {
            literal(cx, text)
        };
        let channel = (*channel != DEFAULT_CHANNEL).then(|| channel_name(channel));
        let spoken = (**spoken != language).then(|| (*spoken).clone());
        if messages.main.is_none() {
            messages.main = Some(message);
            // Of the default language, the region does not matter.
            let other =
                (!super::is_same_language(&language, &cx.language)).then(|| language.clone());
            if let Some(only) = channel.or(other) {
                into.extensions.insert(ID, "onlyFor", Data::from(only.as_str()), list.span);
            }
            continue;
        }
        messages.variants.push(Variant { channel, language: spoken, message, span: text.span });
    }
    messages
}

/// Preserves messages for other channels and languages that cannot be expressed.
pub(super) fn preserve_variants(variants: Vec<Variant>, name: &str, into: &mut Extensions) {
    for variant in variants {
        let text = variant.message.response.text.map(|t| t.text.value).unwrap_or_default();
        let mut item = serde_json::Map::new();
        for (key, value) in [("channel", variant.channel), ("language", variant.language)] {
            if let Some(value) = value {
                item.insert(key.to_owned(), Data::from(value.as_str()));
            }
        }
        item.insert(name.to_owned(), Data::from(text.as_str()));
        into.insert(ID, "otherTexts", Data::Object(item), variant.span);
    }
}

fn channel_name(channel: &SmolStr) -> SmolStr {
    let known = CHANNELS.iter().find(|(xo_name, _)| xo_name == channel);
    known.map_or_else(|| channel.clone(), |(_, name)| SmolStr::new_static(name))
}

/// A literal message.
pub(super) fn literal(cx: &mut Context<'_, '_>, text: &Text) -> Message {
    let mut untranslated = Vec::new();
    let start = text.value.len() - text.value.trim_start().len();
    let text = text.part(start..start + text.value.trim().len());
    let text = super::entities::unescaped(&text);
    let text = extensions::redacted(&text, "message", &mut cx.reports);
    let template = cx.names.template(&text, &mut untranslated);
    cx.report_untranslated(untranslated);
    Message { before: Vec::new(), response: response(template) }
}

fn response(text: Template) -> Response {
    Response { text: Some(text), ..Response::default() }
}

/// Lowers a simple script; `None` if it sends several messages, or conditionally.
pub(super) fn from_script(cx: &mut Context<'_, '_>, code: &[Code]) -> Option<Message> {
    let mut message = Message::default();
    let mut printed = None;
    for statement in code {
        match statement {
            Code::Print(value) if printed.is_none() => printed = Some(value),
            Code::Assign { .. } | Code::List { .. } | Code::Log(_) => {
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
    let mut untranslated = Vec::new();
    let text = cx.names.template_of(printed, &mut untranslated);
    cx.report_untranslated(untranslated);
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

/// Lowers a message template: its text, and its buttons as far as ABL has them. Other presentation
/// settings become rich content.
fn template(cx: &mut Context<'_, '_>, object: &Expr) -> Option<Response> {
    let payload = member(object, "payload").unwrap_or(object);
    let mut untranslated = Vec::new();
    let text = text_in(payload, &["text", "title", "heading"]);
    let text = text.map(|t| cx.names.template_of(t, &mut untranslated));
    let kind = member(payload, "template_type").and_then(constant);
    let buttons = match kind.as_deref() {
        Some("button") => member(payload, "buttons"),
        Some("quick_replies") => member(payload, "quick_replies"),
        _ => None,
    };
    let elements = buttons.and_then(|b| match &b.kind {
        ExprKind::List(items) => items.iter().map(|i| button(cx, i, &mut untranslated)).collect(),
        _ => None,
    });
    cx.report_untranslated(untranslated);
    let elements: Option<Vec<ActionElement>> = elements;
    if let Some(elements) = elements {
        let actions = Some(Actions { elements, ..Actions::default() });
        return Some(Response { text, actions, ..Response::default() });
    }
    let (name, part) = format_of(&kind?)?;
    let content = part.map_or(Some(payload), |part| member(payload, part))?;
    let content = builders::data_of(&cx.names.expr(content))?;
    let rich_content = rich(name, content);
    let text = match text {
        Some(text) => text,
        None => titles(cx, payload)?,
    };
    Some(Response { text: Some(text), rich_content: Some(rich_content), ..Response::default() })
}

/// What rich content calls a kind of card, and the member of the payload with its parts, if it is not all of it; `None` if
/// there is nothing like it.
pub(super) fn format_of(kind: &str) -> Option<(&'static str, Option<&'static str>)> {
    let known = CARDS.iter().find(|(name, ..)| name.eq_ignore_ascii_case(kind))?;
    Some((known.1, Some(known.2).filter(|part| !part.is_empty())))
}

/// Rich content of one format.
pub(super) fn rich(name: &str, content: Data) -> Data {
    Data::Object([(name.to_owned(), content)].into_iter().collect())
}

/// What a card says where only text is shown: the titles of its parts, a line each.
fn titles(cx: &mut Context<'_, '_>, payload: &Expr) -> Option<Template> {
    let lists = ["elements", "listItems", "items", "buttons", "quick_replies"];
    let ExprKind::List(parts) = &text_in(payload, &lists)?.kind else { return None };
    let mut untranslated = Vec::new();
    let lines: Vec<String> = parts
        .iter()
        .filter_map(|part| {
            let texts = ["title", "subtitle"].into_iter().filter_map(|key| member(part, key));
            let texts: Vec<String> = texts
                .map(|text| cx.names.template_of(text, &mut untranslated).text.value.to_string())
                .filter(|text| !text.is_empty())
                .collect();
            (!texts.is_empty()).then(|| texts.join(": "))
        })
        .collect();
    cx.report_untranslated(untranslated);
    if lines.is_empty() {
        return None;
    }
    let text = Text::synthetic(lines.join("\n"), payload.span);
    Some((cx.names.parsers().template)(text.inline_text(), &mut Vec::new()))
}

fn constant(e: &Expr) -> Option<SmolStr> {
    match &e.kind {
        ExprKind::Literal(Literal::String(text)) => Some(text.clone()),
        _ => None,
    }
}

fn button(
    cx: &mut Context<'_, '_>,
    item: &Expr,
    untranslated: &mut Vec<Text>,
) -> Option<ActionElement> {
    let label = member(item, "title")?;
    let span = item.span;
    let title = constant(label);
    let value = text_in(item, &["payload", "value"]).and_then(constant);
    let url = member(item, "url").and_then(constant);
    let id =
        title.as_deref().map_or_else(|| SmolStr::new_static("choice"), super::names::identifier);
    let kind = SmolStr::new_static("button");
    Some(ActionElement {
        id: Some(Spanned::new(SmolStr::new(id.to_ascii_lowercase()), span)),
        kind: Spanned::new(kind, span),
        label: Some(cx.names.template_of(label, untranslated)),
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

/// Buttons as the rich content of a question.
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
