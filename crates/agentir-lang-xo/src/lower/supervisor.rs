//! Lowers the bot as a whole to a supervisor with intents and routing.

use super::dialog::Entry;
use super::knowledge::Topic;
use super::messages::{self, Message, Variant};
use super::names::Namespace;
use super::scripts::ScriptOutput;
use super::{Context, extensions, localized, profiles};
use crate::{Json, Text, factory};
use agentir_diagnostics::{Span, Spanned};
use agentir_expr::{Name, Template};
use agentir_ir::{
    Agent, AgentReference, AgentType, Body, Branch, Decider, Delegation, ErrorHandler, Extensions,
    IntentClassification, Jump, Nlu, NluIntent, Number, NumberOrText, Routing, Statement, Target,
};
use agentir_syntax::limits::makes_sense;
use rustc_hash::FxHashMap;
use smol_str::SmolStr;

/// The name of the supervisor, derived from the bot's.
pub(super) fn name(cx: &mut Context<'_, '_>, root: &Json, names: &mut Namespace) -> Spanned<Name> {
    let named = localized(root, &cx.language).and_then(|t| t.take_text("name"));
    let named = named.or_else(|| root.take_text("name"));
    let span = named.map_or(root.span.at_start(), |n| n.span);
    Spanned::new(names.claim(named.map_or("Bot", |n| &n.value), "Bot"), span)
}

/// The supervisor of a bot.
pub(super) fn agent<'j>(
    cx: &mut Context<'j, '_>,
    root: &'j Json,
    name: Spanned<Name>,
    (dialogs, entries): (&[Json], &[Entry<'j>]),
    topics: &[Topic],
) -> Agent {
    let metadata = cx.metadata(name, AgentType::Supervisor);
    let mut agent = Agent::new(metadata, root.span);
    let _ = cx.names.used();
    let texts = localized(root, &cx.language);
    let described = ["description", "desc"].into_iter().find_map(|key| {
        let text = texts?.get(key)?.text()?;
        // What the editor has put there says nothing of this bot.
        let is_own = !factory::is_setting(&["localeData", &cx.language, key], &text.value);
        texts?.take_text(key).filter(|_| is_own).or_else(|| {
            texts?.get(key)?.release();
            None
        })
    });
    agent.identity.goal = described.map(|t| Template::plain(t.spanned()));
    if let Some(time) =
        root.take_number_if("sessionInactiveTime", |time| makes_sense("session_timeout_ms", time))
    {
        agent.execution.timeouts.session_timeout_ms = NumberOrText::Number(Number(time));
    }
    let mut intents = intents(cx, root, entries);
    intents.extend(topics.iter().map(|topic| NluIntent {
        name: topic.name.clone(),
        description: Some(topic.description.clone()),
        patterns: Vec::new(),
        examples: topic.examples.clone(),
        examples_file: None,
        entities: Vec::new(),
        extensions: Extensions::default(),
        span: topic.name.span,
    }));
    routing(cx, root, (dialogs, entries), topics, &mut agent);
    events(cx, root, &mut agent);
    let languages: Vec<Spanned<Name>> = root
        .get("supportedLanguages")
        .map_or(&[][..], Json::items)
        .iter()
        .filter_map(|l| l.take().text().map(Text::spanned))
        .collect();
    let several = languages.len() > 1;
    intents.retain(|i| !i.examples.is_empty() || !i.patterns.is_empty() || i.description.is_some());
    if !intents.is_empty() || several {
        agent.nlu = Some(Nlu {
            intents,
            languages,
            default_language: Some(cx.language.clone()),
            ..Nlu::default()
        });
    } else {
        agent.identity.language =
            root.get("defaultLanguage").and_then(Json::text).map(Text::spanned);
    }
    // Components that no node refers to are preserved here, like all other remaining data.
    let mut kept = Extensions::default();
    extensions::preserve(root, &mut kept, &mut cx.reports);
    super::dialog::merge_extensions(&mut agent.extensions, kept);
    super::dialog::declare_variables(cx, &mut agent);
    agent
}

/// The intents and their example utterances.
fn intents(cx: &mut Context<'_, '_>, root: &Json, entries: &[Entry<'_>]) -> Vec<NluIntent> {
    let mut all: Vec<NluIntent> = Vec::new();
    let mut by_id: FxHashMap<&str, usize> = FxHashMap::default();
    for entry in entries {
        let Some(component) = entry.intent else { continue };
        let name = &entry.name;
        for id in ["_id", "refId"].into_iter().filter_map(|key| component.peek(key)) {
            by_id.entry(id).or_insert(all.len());
        }
        let texts = localized(component, &cx.language);
        let described = texts.and_then(|t| t.take_text("desc")).filter(|t| !t.value.is_empty());
        let described = described.or(entry.described);
        // The intent's own name is the first example, unless it equals the name in AgentIR.
        let own = texts.and_then(|t| t.take_text("intent"));
        let own = own.filter(|t| super::names::identifier(&t.value) != name.value);
        let members = component.get("localeData").map_or(&[][..], Json::members).iter();
        let others = members.filter(|member| cx.speaks(&member.key));
        let others = others.filter_map(|member| member.value.take_text("intent"));
        let mut examples: Vec<Template> = Vec::new();
        for text in own.into_iter().chain(others) {
            let known = |one: &Template| one.text.value == text.value;
            if super::names::identifier(&text.value) != name.value && !examples.iter().any(known) {
                examples.push(Template::plain(text.spanned()));
            }
        }
        all.push(NluIntent {
            name: name.clone(),
            description: described.map(|t| Template::plain(t.spanned())),
            patterns: Vec::new(),
            examples,
            examples_file: None,
            entities: Vec::new(),
            extensions: Extensions::default(),
            span: component.span,
        });
    }
    for sentence in root.get("sentences").map_or(&[][..], Json::items) {
        let Some(at) = sentence.peek("taskId").and_then(|id| by_id.get(id)) else { continue };
        let Some(intent) = all.get_mut(*at) else { continue };
        if let Some(text) = sentence.take_text("sentence") {
            for key in ["taskId", "taskName", "type"] {
                sentence.take_member(key);
            }
            let other = sentence
                .peek("language")
                .is_some_and(|l| !super::is_same_language(l, &cx.language));
            if !other {
                sentence.take_member("language");
            }
            let text = super::entities::unescaped(text);
            intent.examples.push(Template::plain(text.spanned()));
        }
    }
    for pattern in root.get("patterns").map_or(&[][..], Json::items) {
        let at = pattern.peek("refId").and_then(|id| by_id.get(id)).copied();
        let Some(intent) = at.and_then(|at| all.get_mut(at)) else { continue };
        for texts in pattern.get("localeData").map_or(&[][..], Json::members) {
            let list = texts.value.get("patterns").map_or(&[][..], Json::items);
            for item in list {
                let text = item.text().map(|_| item.take()).and_then(Json::text);
                let text = text.or_else(|| item.take_text("value"));
                let text = text.map(super::entities::unescaped);
                intent.patterns.extend(text.map(|t| Template::plain(t.spanned())));
            }
        }
    }
    all
}

/// The routing of intents to agents. Hidden dialogs are not routed to.
fn routing(
    cx: &mut Context<'_, '_>,
    root: &Json,
    (dialogs, entries): (&[Json], &[Entry<'_>]),
    topics: &[Topic],
    agent: &mut Agent,
) {
    let mut aliases = cx.names.namespace();
    let mut routing = Routing::default();
    let mut by_agent: FxHashMap<SmolStr, Spanned<Name>> = FxHashMap::default();
    let is_hidden = |dialog: &Json| {
        dialog.get("isHidden").is_some_and(|h| matches!(h.kind, crate::Kind::Bool(true)))
    };
    let of_dialogs = dialogs.iter().zip(entries).map(|(d, entry)| (&entry.name, is_hidden(d)));
    let all = of_dialogs.chain(topics.iter().map(|topic| (&topic.name, false)));
    for (name, hidden) in all {
        let span = name.span;
        let alias = aliases.claim(&name.value.to_ascii_lowercase(), "the");
        let alias = Spanned::new(alias, span);
        by_agent.insert(name.value.clone(), alias.clone());
        agent.available_agents.push(AgentReference {
            alias: alias.clone(),
            agent: Some(name.clone()),
            file: None,
            capabilities: Vec::new(),
            channels: Vec::new(),
            requires_validation: None,
            extensions: Extensions::default(),
            span,
        });
        if !hidden {
            let intents = vec![Spanned::new(name.value.clone(), span)];
            routing.rules.push(agentir_ir::RoutingRule {
                to: Some(alias),
                intents,
                decided_by: Decider::User,
                ..agentir_syntax::lower::empty_rule(span)
            });
        }
    }
    let unknown = root.at(&["botEvents", "INTENT_UNIDENTIFIED"]);
    let task = unknown.filter(|e| is_dialog(e)).and_then(|e| e.take_text("task"));
    let default = task.or_else(|| root.take_text("defaultDialogId"));
    if let Some(default) = default
        && let Some(to) = cx.agents.get(default.value.as_str())
    {
        root.get("defaultDialogId").map(Json::take);
        unknown.into_iter().for_each(take_event);
        let alias = by_agent.get(&to.value).cloned().unwrap_or_else(|| to.clone());
        routing.default_agent = Some(Spanned::new(alias.value, default.span));
    }
    let categories: Vec<SmolStr> =
        routing.rules.iter().flat_map(|r| &r.intents).map(|i| i.value.clone()).collect();
    if !categories.is_empty() {
        routing.intent_classification = Some(IntentClassification {
            categories,
            min_confidence: Number(0.6),
            source: "explicit",
            lexical_fallback: None,
        });
    }
    agent.routing = Some(routing);
}

fn is_dialog(event: &Json) -> bool {
    event.peek("action") == Some("triggerDialog") && enabled(event)
}

fn enabled(event: &Json) -> bool {
    event.get("enabled").is_some_and(|e| matches!(e.kind, crate::Kind::Bool(true)))
}

/// Marks an event as handled, since its handling has been lowered.
fn take_event(event: &Json) {
    for key in ["enabled", "action", "task"] {
        event.get(key).map(Json::take);
    }
}

/// The welcome message and the error messages.
fn events(cx: &mut Context<'_, '_>, root: &Json, agent: &mut Agent) {
    let Some(events) = root.get("botEvents") else { return };
    let mut first: Option<(String, Vec<Statement>)> = None;
    for key in ["ON_CONNECT_EVENT", "WELCOME_MESSAGE_EVENT"] {
        let Some(event) = events.get(key).filter(|e| enabled(e)) else { continue };
        let (what, body) = if is_dialog(event) {
            let Some(task) = event.get("task").and_then(Json::text) else { continue };
            let Some(to) = cx.agents.get(task.value.as_str()).cloned() else { continue };
            (to.value.to_string(), vec![greeting(to, task.span)])
        } else {
            let mut output =
                ScriptOutput { tools: &mut agent.tools, extensions: &mut agent.extensions };
            let texts = messages::messages(cx, event.get("msg"), "welcome", &mut output);
            let Some(message) = texts.main else { continue };
            let text = message.response.text.as_ref().map(|t| t.text.value.to_string());
            let body = in_each_language(message, texts.variants, event.span);
            (text.unwrap_or_default(), body)
        };
        match &first {
            None => {
                take_event(event);
                first = Some((what, body));
            }
            // The same message for both events is added once.
            Some((before, _)) if *before == what => take_event(event),
            Some(_) => event.release(),
        }
    }
    agent.on_start = Body(first.map(|(_, body)| body).unwrap_or_default());
    if let Some(event) = events.get("TASK_FAILURE_EVENT").filter(|e| enabled(e)) {
        let mut output =
            ScriptOutput { tools: &mut agent.tools, extensions: &mut agent.extensions };
        let texts = messages::messages(cx, event.get("msg"), "failure", &mut output);
        messages::preserve_variants(texts.variants, "failure", output.extensions);
        if let Some(text) = texts.main.and_then(|m| m.response.text) {
            take_event(event);
            agent.error_handling.default_handler = Some(Box::new(failure(text, event.span)));
        }
    }
}

/// A message with those for other channels and languages in front of it, the more specific ones first.
fn in_each_language(main: Message, mut variants: Vec<Variant>, span: Span) -> Vec<Statement> {
    variants.sort_by_key(|one| {
        usize::from(one.channel.is_none()) + usize::from(one.language.is_none())
    });
    let one = |one: Variant| Branch {
        condition: profiles::condition(&one),
        body: Body(one.message.statements()),
        extensions: Extensions::default(),
        span: one.span,
    };
    let mut branches: Vec<Branch> = variants.into_iter().map(one).collect();
    let main = main.statements();
    if branches.is_empty() {
        return main;
    }
    branches.push(super::builders::branch(None, main, span));
    vec![Statement::If { branches }]
}

fn greeting(to: Spanned<Name>, span: Span) -> Statement {
    Statement::Delegate(Delegation {
        agent: Spanned::new(to.value, span),
        returns: None,
        decided_by: Decider::Always,
        bindings: Vec::new(),
    })
}

fn failure(text: Template, span: Span) -> ErrorHandler {
    ErrorHandler {
        kind: Spanned::new(SmolStr::new_static("default"), span.at_start()),
        subtypes: Vec::new(),
        respond: Some(text),
        body: Body::default(),
        retry: None,
        retry_delay_ms: None,
        retry_backoff: None,
        retry_max_delay_ms: None,
        then: Some(Jump { target: Target::Continue, reason: None, span: span.at_start() }),
        handoff_target: None,
        backtrack_to: None,
        extensions: Extensions::default(),
        span,
    }
}
