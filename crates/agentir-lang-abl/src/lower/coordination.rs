//! Lowers delegation, handoffs, escalation and completion (§3.10–§3.12).

use super::fields::Fields;
use super::memory::{header_condition, stored};
use super::tools::set_variable;
use super::{Context, data, flow};
use crate::inline::template;
use crate::{HeaderValue, Record};
use agentir_diagnostics::{Diagnostic, Span, Spanned, closest};
use agentir_expr::{Condition, Expr, Name, Path, Template};
use agentir_ir::{
    CompletionCondition, Context as HandoffContext, Coordination, Data, Decider, Delegate,
    Escalation, Extensions, Handoff, HumanOutcome, Jump, MemoryGrant, NumberOrText, OnReturn,
    PassedValue, Remote, ReturnHandler, Target, TextData, Trigger,
};
use agentir_syntax::data as words;
use agentir_syntax::inline::InlineText;
use agentir_syntax::lower::merge_extensions;
use agentir_syntax::rules;
use indexmap::IndexMap;
use smol_str::{SmolStr, format_smolstr};

pub(super) fn coordination(cx: &mut Context<'_>, f: &mut Fields<'_>) -> Coordination {
    let mut rest = Extensions::default();
    let delegates =
        f.items_of("delegate", &mut rest).into_iter().filter_map(|i| delegate(cx, i)).collect();
    let handoffs =
        f.items_of("handoff", &mut rest).into_iter().filter_map(|i| handoff(cx, i)).collect();
    let mut return_handlers = IndexMap::new();
    for item in f.items_of("return_handlers", &mut rest) {
        let mut h = Fields::new(item);
        let Some(name) = h.name.take() else { continue };
        let handler = ReturnHandler {
            respond: h.template("respond"),
            clear: h.names("clear"),
            continues: h.boolean("continue"),
            resume_intent: h.boolean("resume_intent"),
            extensions: h.into_extensions(),
        };
        return_handlers.insert(name.value, handler);
    }
    let mut escalation: Option<Escalation> = None;
    for section in f.records("escalate") {
        let part = escalate(cx, section);
        match &mut escalation {
            None => escalation = Some(part),
            Some(all) => {
                all.triggers.extend(part.triggers);
                all.context_for_human.extend(part.context_for_human);
                all.on_human_complete.extend(part.on_human_complete);
                all.routing = part.routing.or(all.routing.take());
                all.connector_action = part.connector_action.or(all.connector_action.take());
                merge_extensions(&mut all.extensions, part.extensions);
            }
        }
    }
    Coordination { delegates, handoffs, return_handlers, escalation, extensions: rest }
}

fn delegate(cx: &mut Context<'_>, item: Record<'_>) -> Option<Delegate> {
    let mut f = Fields::new(item);
    let agent = f.name_of("agent").or_else(|| f.name.take())?;
    let when = f.condition("when");
    let mut extensions = Extensions::default();
    let mut failure_message = f.template("failure_message");
    let mut max_retries = None;
    let action = f.action("on_fail");
    let on_failure = action.map(|a| jump_and_message(cx, a, &mut failure_message)).or_else(|| {
        let span = f.value_span("on_fail")?;
        let mut block = f.record("on_fail")?;
        max_retries = block.plain_number("count");
        let message = block.template("message").or_else(|| block.template("respond"));
        let target = match block.choice("type") {
            Some("escalate") => Target::Escalate,
            Some("retry") => Target::Retry,
            Some("respond") => Target::Respond,
            None if message.is_some() => Target::Respond,
            _ => Target::Continue,
        };
        failure_message = failure_message.take().or(message);
        block.preserve(&mut extensions);
        Some(Jump { target, reason: None, span })
    });
    Some(Delegate {
        agent,
        decided_by: Decider::of(when.as_ref()),
        when,
        purpose: f.template("purpose").or_else(|| f.template("summary")),
        input: f.bindings("input").unwrap_or_default(),
        returns: f.ty("returns"),
        use_result: f.template("use_result"),
        timeout: f.text("timeout"),
        on_failure,
        max_retries,
        failure_message,
        remote: remote(&mut f),
        experience_mode: f.choice("experience_mode"),
        memory_grants: f.data("memory_grants"),
        span: f.span,
        repeats_binding: false,
        extensions: {
            f.preserve(&mut extensions);
            extensions
        },
    })
}

/// Lowers the reaction to a failure (`continue`, `respond`, `escalate`), where no steps exist. What `RESPOND` says is the
/// message about it, unless there is one.
fn jump_and_message(
    cx: &mut Context<'_>,
    action: crate::inline::Action,
    message: &mut Option<Template>,
) -> Jump {
    let mut jump = flow::jump(cx, action.without_steps());
    if jump.target == Target::Respond
        && message.is_none()
        && let Some(text) = jump.reason.take()
    {
        *message = Some(filled_in(cx, &text.value, text.span));
    }
    jump
}

fn remote(f: &mut Fields<'_>) -> Option<Remote> {
    if let Some(remote) = f.with_record("remote", |r| Remote {
        location: r.choice("location"),
        endpoint: r.text("endpoint").or_else(|| r.text("service_url")),
        protocol: r.choice("protocol"),
        auth: r.data("auth").or_else(|| r.data("auth_header")),
        timeout: r.text("timeout"),
        extensions: Extensions::default(),
    }) {
        return Some(remote);
    }
    match f.data("remote")? {
        Data::Bool(true) => Some(Remote { location: Some("remote"), ..Remote::default() }),
        Data::String(url) => Some(Remote {
            endpoint: Some(Spanned::new(SmolStr::new(url), f.span)),
            ..Remote::default()
        }),
        _ => None,
    }
}

fn handoff(cx: &mut Context<'_>, item: Record<'_>) -> Option<Handoff> {
    let mut f = Fields::new(item);
    let to = f.name_of("to").or_else(|| f.name.take())?;
    let when = f.condition("when");
    let mut context = f.with_record("context", |c| context(c, cx.problems)).unwrap_or_default();
    context.pass.extend(f.names("context").into_iter().map(passed));
    let beside = self::context(&mut f, cx.problems);
    context.pass.extend(beside.pass);
    context.summary = context.summary.or(beside.summary);
    context.set.extend(beside.set);
    context.memory_grants.extend(beside.memory_grants);
    context.history = context.history.or(beside.history);
    let failure_message = f.template("failure_message").or_else(|| f.template("respond"));
    let said = f.value_span("on_failure");
    let on_failure_text = f.template("on_failure");
    // A text is what to say.
    let says = said.filter(|_| on_failure_text.is_some());
    let says = says.map(|span| Jump { target: Target::Respond, reason: None, span });
    let mut failure_message = failure_message.or(on_failure_text);
    let action = f.action("on_failure");
    let on_failure = action.map(|a| jump_and_message(cx, a, &mut failure_message)).or(says);
    let map = f.bindings("map").unwrap_or_default();
    let mut on_return = f.text("on_return").map(plain_return).or_else(|| {
        f.with_record("on_return", |r| OnReturn {
            action: r.text("action"),
            handler: r.text("handler"),
            resume_with: r.text("resume_with"),
            map: r.bindings("map").unwrap_or_default(),
            set: r.assignments("set").into_iter().map(set_variable).collect(),
            extensions: Extensions::default(),
        })
    });
    if !map.is_empty() {
        let on_return = on_return.get_or_insert(OnReturn {
            action: None,
            handler: None,
            resume_with: None,
            map: Vec::new(),
            set: Vec::new(),
            extensions: Extensions::default(),
        });
        on_return.map.extend(map.into_iter().map(returned_to));
    }
    let returns = f.boolean("expect_return").or_else(|| f.boolean("return"));
    Some(Handoff {
        to,
        decided_by: Decider::of(when.as_ref()),
        when,
        priority: f.number("priority"),
        context,
        returns: returns.unwrap_or(false),
        on_failure,
        failure_message,
        on_return,
        remote: remote(&mut f),
        timeout: f.data("timeout"),
        on_timeout: f.data("on_timeout"),
        is_async: f.boolean("async"),
        async_timeout: f.number("async_timeout"),
        experience_mode: f.choice("experience_mode"),
        span: f.span,
        repeats_binding: false,
        extensions: f.into_extensions(),
    })
}

/// An entry of a handoff's own `MAP`, whose keys are what the other agent returns, and whose values are variables
/// of this one (supervisor reference, "HANDOFF"): the other way round than below `ON_RETURN` (3.10).
fn returned_to((field, value): (Spanned<Name>, Expr)) -> (Spanned<Name>, Expr) {
    match value.as_path() {
        Some(variable) => {
            let variable = Spanned::new(Name::new(variable.to_string()), value.span);
            (variable, Expr::path(Path::dotted(&field.value, field.span), field.span))
        }
        // An expression cannot be written to; it can only be meant to be read.
        None => (field, value),
    }
}

fn plain_return(text: Spanned<SmolStr>) -> OnReturn {
    OnReturn {
        action: Some(text),
        handler: None,
        resume_with: None,
        map: Vec::new(),
        set: Vec::new(),
        extensions: Extensions::default(),
    }
}

fn passed(name: Spanned<Name>) -> PassedValue {
    PassedValue { name, ty: SmolStr::new_static("string") }
}

fn context(f: &mut Fields<'_>, problems: &mut Vec<Diagnostic>) -> HandoffContext {
    let mut memory_grants: Vec<MemoryGrant> = f
        .names("grant_memory")
        .into_iter()
        .map(|path| MemoryGrant { path, access: None })
        .collect();
    let span = f.value_span("memory_grants").unwrap_or(f.span);
    if let Some(data) = f.data("memory_grants") {
        memory_grants.extend(grants(&data, span));
        for access in memory_grants.iter().filter_map(|grant| grant.access.as_deref()) {
            if !words::ACCESS.iter().any(|word| word.eq_ignore_ascii_case(access)) {
                problems.push(not_a_word("access", access, span, words::ACCESS));
            }
        }
    }
    let passed_history =
        f.spanned_data("history").map(|data| Spanned::new(history(data.value), data.span));
    if let Some(Spanned { value: Data::String(word), span }) = &passed_history
        && !word.contains("{{")
        && !words::HISTORY.iter().any(|known| known.eq_ignore_ascii_case(word))
    {
        problems.push(not_a_word("history", word, *span, words::HISTORY));
    }
    if let Some(Spanned { value: Data::Object(map), span }) = &passed_history
        && let Some(count) = map.get("last_n").or(map.get("count"))
        && !is_count(count)
    {
        let message = "`last_n` must be how many messages are passed";
        problems.push(
            Diagnostic::error(rules::INVALID_VALUE, *span, message)
                .help("write a whole number, such as `last_n: 10`"),
        );
    }
    HandoffContext {
        pass: f.names("pass").into_iter().map(passed).collect(),
        summary: f.template("summary"),
        set: f.assignments("set").into_iter().map(set_variable).collect(),
        memory_grants,
        bindings: Vec::new(),
        history: passed_history.map(|data| data.value),
        extensions: Extensions::default(),
    }
}

/// What is none of the words that a key may have.
fn not_a_word(key: &str, found: &str, span: Span, words: &[&'static str]) -> Diagnostic {
    let all: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
    let message = format!("`{found}` is not a valid `{key}`");
    let problem = Diagnostic::error(rules::INVALID_VALUE, span, message)
        .note(format!("valid values are {}", all.join(", ")));
    match closest(found, words.iter().copied()) {
        Some(near) => problem.help(format!("did you mean `{near}`?")),
        None => problem,
    }
}

fn grants(data: &Data, span: Span) -> Vec<MemoryGrant> {
    let one = |value: &Data| match value {
        Data::String(path) => {
            Some(MemoryGrant { path: Spanned::new(SmolStr::new(path), span), access: None })
        }
        Data::Object(map) => {
            let get = |key: &str| {
                map.iter().find(|(k, _)| k.eq_ignore_ascii_case(key)).and_then(|(_, v)| v.as_str())
            };
            Some(MemoryGrant {
                path: Spanned::new(SmolStr::new(get("path")?), span),
                access: get("access").map(SmolStr::new),
            })
        }
        _ => None,
    };
    match data {
        Data::Array(all) => all.iter().filter_map(one).collect(),
        other => one(other).into_iter().collect(),
    }
}

/// Whether a value is a whole number, or a reference to one.
fn is_count(data: &Data) -> bool {
    match data {
        Data::String(text) => text.contains("{{"),
        other => other.as_u64().is_some_and(|count| u32::try_from(count).is_ok()),
    }
}

/// Normalises `last_10`, `last_n: 10`, and `mode: last_n` with `count: 10`.
fn history(data: Data) -> Data {
    let count = |n: u64| serde_json::json!({ "last_n": n });
    match &data {
        Data::String(word) => match word.strip_prefix("last_").and_then(|n| n.parse().ok()) {
            Some(n) => count(n),
            None => data,
        },
        Data::Object(map) if map.get("mode").and_then(Data::as_str) == Some("last_n") => {
            map.get("count").and_then(Data::as_u64).map_or(data.clone(), count)
        }
        _ => data,
    }
}

/// Reads the placeholders of a text that is somewhere in `span`.
pub(super) fn filled_in(cx: &mut Context<'_>, text: &str, span: Span) -> Template {
    let mut problems = Vec::new();
    let mut template = template(InlineText::verbatim(text, span.file, span.start), &mut problems);
    template.text.span = span;
    cx.problems.extend(problems.into_iter().map(|mut problem| {
        problem.primary.span = span;
        problem
    }));
    template
}

fn escalate(cx: &mut Context<'_>, mut f: Fields<'_>) -> Escalation {
    let mut rest = Extensions::default();
    let mut triggers: Vec<Trigger> =
        std::mem::take(&mut f.items).into_iter().map(trigger).collect();
    triggers.extend(f.items_of("triggers", &mut rest).into_iter().map(trigger));
    let context_for_human = match f.entry("context_for_human") {
        Some(entry) => {
            let span = entry.span(f.span.file);
            let mut template = |text: String| filled_in(cx, &text, span);
            match TextData::new(data::of_value(entry), &mut template) {
                TextData::List(all) => all,
                TextData::Other(Data::Null) => Vec::new(),
                one => vec![one],
            }
        }
        None => Vec::new(),
    };
    let on_human_complete = f
        .items_of("on_human_complete", &mut rest)
        .into_iter()
        .map(|i| human_outcome(cx, i))
        .collect();
    let mut escalation = Escalation {
        triggers,
        context_for_human,
        on_human_complete,
        routing: f.data("routing"),
        connector_action: f.data("connector_action"),
        extensions: rest,
        span: f.span,
    };
    f.preserve(&mut escalation.extensions);
    escalation
}

fn when(f: &mut Fields<'_>, field: &str) -> Option<Condition> {
    header_condition(f).or_else(|| f.condition(field))
}

fn trigger(item: Record<'_>) -> Trigger {
    let mut f = Fields::new(item);
    let when = when(&mut f, "when");
    Trigger {
        decided_by: Decider::of(when.as_ref()),
        when,
        reason: f.template("reason"),
        priority: f.choice("priority").map(SmolStr::new_static).or_else(|| {
            match f.number("priority")? {
                NumberOrText::Number(n) => Some(format_smolstr!("{}", n.0)),
                NumberOrText::Text(text) => Some(text),
            }
        }),
        tags: f.names("tags"),
        context: f.names("context"),
        respond: f.template("respond"),
        set: f.assignments("set").into_iter().map(set_variable).collect(),
        span: f.span,
        repeats_binding: false,
        extensions: f.into_extensions(),
    }
}

fn human_outcome(cx: &mut Context<'_>, item: Record<'_>) -> HumanOutcome {
    let mut f = Fields::new(item);
    let mut condition = when(&mut f, "if");
    let here = f.span;
    let mut action = f.action("then").map(|a| flow::jump(cx, a.without_steps()));
    // `IF condition: ACTION`.
    let headers = std::mem::take(&mut f.headers);
    for header in headers {
        match header {
            HeaderValue::Condition(c, Some(a)) => {
                condition = Some(*c);
                action = Some(flow::jump(cx, a.without_steps()));
            }
            other => f.headers.push(other),
        }
    }
    if action.is_none() && f.has("complete") {
        let span = f.value_span("complete").unwrap_or(here);
        if f.boolean("complete") == Some(true) {
            action = Some(Jump { target: Target::Complete, reason: None, span });
        }
    }
    if action.is_none()
        && let Some(handoff) = f.action("handoff")
    {
        let jump = flow::jump(cx, handoff);
        let target = match jump.target {
            Target::Step(agent) => Target::Handoff(Some(agent)),
            other => other,
        };
        action = Some(Jump { target, ..jump });
    }
    if action.is_none() && f.has("continue") {
        let span = f.value_span("continue").unwrap_or(here);
        let reason = f.text("continue");
        if reason.is_none() {
            f.boolean("continue");
        }
        action = Some(Jump { target: Target::Continue, reason, span });
    }
    HumanOutcome {
        condition,
        action,
        respond: f.template("respond"),
        store: f.store("store").map(stored),
        set: f.assignments("set").into_iter().map(set_variable).collect(),
        span: f.span,
        extensions: f.into_extensions(),
    }
}

pub(super) fn completions(f: &mut Fields<'_>, rest: &mut Extensions) -> Vec<CompletionCondition> {
    f.items_of("complete", rest)
        .into_iter()
        .map(|item| {
            let mut c = Fields::new(item);
            let respond = c.template("respond");
            let (respond, respond_template) = flow::split_template(respond);
            CompletionCondition {
                when: when(&mut c, "when"),
                respond,
                respond_template,
                voice_config: c.data("voice"),
                rich_content: c.data("rich_content").or_else(|| c.data("formats")),
                actions: c.data("actions"),
                store: c.store("store").map(stored),
                set: c.assignments("set").into_iter().map(set_variable).collect(),
                terminal: c.boolean("terminal"),
                span: c.span,
                repeats_binding: false,
                extensions: c.into_extensions(),
            }
        })
        .collect()
}
