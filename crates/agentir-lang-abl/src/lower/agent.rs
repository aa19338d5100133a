//! Lowers an agent and the sections that describe it.

use super::fields::Fields;
use super::{Context, coordination, data, flow, gather, memory, rules, supervisor, tools};
use crate::dialect;
use crate::{DocumentKind, HeaderValue};
use agentir_diagnostics::{Diagnostic, Span, Spanned};
use agentir_ir::{
    Agent, AgentType, Attachment, Body, Completion, ConversationIntents, Data, Entity,
    EntitySource, Execution, ExecutionHints, Extensions, Hooks, IR_VERSION, Identity, Instruction,
    IntentHandling, LookupTable, Metadata, MultiIntent, NamedTemplate, Nlu, NluIntent, Number,
    Response, SystemPrompt, Timeouts,
};
use agentir_ir_json::Mode;
use agentir_syntax::lower::merge_extensions;
use agentir_syntax::misspelled::explain_missing;
use indexmap::IndexMap;
use smol_str::SmolStr;

pub(super) fn agent(
    cx: &mut Context<'_>,
    mut f: Fields<'_>,
    kind: DocumentKind,
    text: &str,
) -> Agent {
    let mut extensions = Extensions::default();
    let (word, kind) = match kind {
        DocumentKind::Supervisor => ("supervisor", AgentType::Supervisor),
        _ => ("agent", AgentType::Agent),
    };
    let name = f.name_of(word).unwrap_or_else(|| {
        if !cx.fragment {
            let at = f.key(word).unwrap_or(f.span);
            cx.problems.push(
                Diagnostic::error(
                    agentir_syntax::rules::MISSING_FIELD,
                    at,
                    format!("this {word} has no name"),
                )
                .help(format!("write `{}: Name`", word.to_uppercase())),
            );
        }
        Spanned::new(SmolStr::default(), f.span.at_start())
    });
    let identity = identity(cx, &mut f, name.span, kind);
    let (tools, use_tools) = all_tools(cx, &mut f, &mut extensions);
    let own = tools.iter().map(|tool| &tool.name.value);
    cx.tools = own.chain(use_tools.iter().map(|tool| &tool.value)).cloned().collect();
    let memory = memory::memory(&mut f);
    let mut gathered = agentir_ir::Gather::default();
    for section in f.records("gather") {
        let part = gather::gather(cx, section);
        gathered.fields.extend(part.fields);
        gathered.strategy = part.strategy.or(gathered.strategy);
        gathered.prompt = part.prompt.or(gathered.prompt);
        gathered.message_key = part.message_key.or(gathered.message_key);
        gathered.correction_patterns.extend(part.correction_patterns);
        merge_extensions(&mut gathered.extensions, part.extensions);
    }
    let flow = flow::flow(cx, &mut f);
    let mut coordination = coordination::coordination(cx, &mut f);
    let (routing, available_agents, policies) =
        supervisor::supervisor(cx, &mut f, &mut coordination, &mut extensions);
    let mut profiles: Vec<_> = Vec::new();
    for mut section in f.records("behavior_profiles") {
        for item in std::mem::take(&mut section.items) {
            profiles.push(rules::profile(cx, Fields::new(item)));
        }
        section.preserve(&mut extensions);
    }
    for section in f.records("behavior_profile") {
        profiles.push(rules::profile(cx, section));
    }
    let mut on_start = Vec::new();
    for section in f.records("on_start") {
        let hook = flow::hook(cx, section);
        on_start.extend(hook.body.0);
        merge_extensions(&mut extensions, hook.extensions);
    }
    let mut use_behavior_profiles = Vec::new();
    while f.has("use_behavior_profile") {
        let names = f.names("use_behavior_profile");
        if names.is_empty() {
            break;
        }
        use_behavior_profiles.splice(0..0, names);
    }
    let (named_templates, shadowed_templates) = templates(&mut f, &mut extensions);
    let (tables, shadowed_lookup_tables) = lookup_tables(&mut f, &mut extensions);
    let mut agent = Agent {
        ir_version: IR_VERSION,
        metadata: Metadata {
            version: f.text("version"),
            kind,
            description: f.template("description"),
            notation: cx.notation,
            ..Metadata::new(name, dialect::ABL, agentir_syntax::lower::source_hash(text))
        },
        execution: execution(&mut f),
        identity,
        tools,
        gather: gathered,
        attachments: attachments(&mut f, &mut extensions),
        memory,
        knowledge: None,
        constraints: rules::constraints(cx, &mut f, &mut extensions),
        completion: Completion { conditions: coordination::completions(&mut f, &mut extensions) },
        error_handling: flow::error_handling(cx, &mut f, &mut extensions),
        coordination,
        flow,
        reasoning: None,
        on_start: Body(on_start),
        messages: messages(&mut f, &mut extensions),
        hooks: hooks(cx, &mut f, &mut extensions),
        nlu: nlu(cx, &mut f),
        entities: entities(cx, &mut f, &mut extensions),
        intent_handling: intent_handling(&mut f),
        templates: named_templates,
        shadowed_templates,
        routing,
        available_agents,
        lookup_tables: tables,
        shadowed_lookup_tables,
        behavior_profiles: profiles,
        use_behavior_profiles,
        use_tools,
        conversation_behavior: f.data("conversation"),
        destinations: destinations(&mut f),
        action_handlers: f
            .items_of("action_handlers", &mut extensions)
            .into_iter()
            .filter_map(|item| flow::action_handler(cx, Fields::new(item)))
            .collect(),
        policies,
        extensions,
        span: f.span,
    };
    f.preserve(&mut agent.extensions);
    agent.execution.hints = ExecutionHints::of(&agent);
    pass_types(&mut agent);
    agent
}

fn identity(cx: &mut Context<'_>, f: &mut Fields<'_>, name: Span, kind: AgentType) -> Identity {
    let mut identity = Identity {
        limitations: f.templates("limitations"),
        language: f.text("language"),
        ..Identity::default()
    };
    // `IDENTITY` and the single sections are equivalent; the last one is effective.
    let goal_at = f.key("goal").map_or(0, |k| k.start);
    let persona_at = f.key("persona").map_or(0, |k| k.start);
    let identity_at = f.key("identity").map_or(0, |k| k.start);
    let has_goal = f.has("goal");
    identity.goal = f.template("goal");
    // What is wrong with its value was reported.
    let goal_is_invalid = has_goal && identity.goal.is_none();
    identity.persona = f.template("persona");
    let mut misspelled = f.misspelling("goal");
    if let Some(mut i) = f.record("identity") {
        let goal = i.template("role").or_else(|| i.template("goal"));
        if identity.goal.is_none() || identity_at > goal_at {
            identity.goal = goal.or(identity.goal);
        }
        let persona = i.template("persona");
        if identity.persona.is_none() || identity_at > persona_at {
            identity.persona = persona.or(identity.persona);
        }
        identity.limitations.extend(i.templates("limitations"));
        identity.language = identity.language.or_else(|| i.text("language"));
        identity
            .instructions
            .extend(i.template("instructions").map(|text| Instruction { when: None, text }));
        misspelled = misspelled.or(i.misspelling("role")).or(i.misspelling("goal"));
        identity.extensions = i.into_extensions();
    }
    if let Some(text) = f.template("instructions") {
        identity.instructions.push(Instruction { when: None, text });
    }
    for mut section in f.records("instructions") {
        for item in std::mem::take(&mut section.items) {
            let mut i = Fields::new(item);
            let when = i.condition("when");
            let text = i.template("text").or_else(|| {
                let at = i.headers.iter().position(|h| matches!(h, HeaderValue::Text(_)))?;
                match i.headers.remove(at) {
                    HeaderValue::Text(t) => Some(t),
                    _ => None,
                }
            });
            identity.instructions.extend(text.map(|text| Instruction { when, text }));
            i.preserve(&mut identity.extensions);
        }
        section.preserve(&mut identity.extensions);
    }
    identity.system_prompt =
        f.template("system_prompt").map(|template| SystemPrompt { template, custom: true });
    let has_text = |t: &Option<agentir_expr::Template>| {
        t.as_ref().is_some_and(|t| !t.text.value.trim().is_empty())
    };
    let message = "this agent has no `GOAL`";
    if !has_text(&identity.goal)
        && !goal_is_invalid
        && kind == AgentType::Agent
        && !cx.fragment
        && !misspelled.is_some_and(|key| explain_missing(cx.problems, key, message))
    {
        cx.problems.push(
            Diagnostic::error(
                agentir_syntax::rules::MISSING_SECTION,
                name,
                message,
            )
            .note("the goal is what the model works towards; the agent does not compile without it")
            .help("add `GOAL: \"…\"` with what the agent should achieve"),
        );
    }
    identity
}

fn all_tools(
    cx: &mut Context<'_>,
    f: &mut Fields<'_>,
    extensions: &mut Extensions,
) -> (Vec<agentir_ir::Tool>, Vec<Spanned<SmolStr>>) {
    let mut tools = Vec::new();
    let mut used = Vec::new();
    for section in f.records("tools") {
        let (more, names, rest) = tools::tools(cx, section);
        tools.extend(more);
        used.extend(names);
        merge_extensions(extensions, rest);
    }
    while let Some(name) = f.name_of("use_tool") {
        used.push(name);
    }
    (tools, used)
}

fn execution(f: &mut Fields<'_>) -> Execution {
    let mut execution = Execution::default();
    for mut e in f.records("execution") {
        let mut limits = |e: &mut Fields<'_>| {
            let Timeouts { tool_timeout_ms, llm_timeout_ms, session_timeout_ms, .. } =
                &mut execution.timeouts;
            for (slot, name) in [
                (tool_timeout_ms, "tool_timeout"),
                (llm_timeout_ms, "llm_timeout"),
                (session_timeout_ms, "session_idle_timeout"),
            ] {
                if let Some(value) = e.number(name) {
                    *slot = value;
                }
            }
            if let Some(value) = e.number("voice_latency_target") {
                execution.timeouts.voice_latency_target_ms = Some(value);
            }
        };
        limits(&mut e);
        if let Some(mut timeouts) = e.record("timeouts") {
            limits(&mut timeouts);
            timeouts.preserve(&mut execution.extensions);
        }
        let x = &mut execution;
        x.model = e.text("model").or(x.model.take());
        x.temperature = e.number("temperature").or(x.temperature.take());
        x.max_tokens = e.number("max_tokens").or(x.max_tokens.take());
        x.max_iterations = e.number("max_reasoning_iterations").or(x.max_iterations.take());
        x.max_flow_iterations = e.number("max_flow_iterations").or(x.max_flow_iterations.take());
        x.fallback_model = e.text("fallback_model").or(x.fallback_model.take());
        x.reasoning_effort = e.choice("reasoning_effort").or(x.reasoning_effort);
        x.enable_thinking = e.boolean("enable_thinking").or(x.enable_thinking);
        x.thinking_budget = e.number("thinking_budget").or(x.thinking_budget.take());
        x.compaction_threshold = e.number("compaction_threshold").or(x.compaction_threshold.take());
        x.compaction = e.data("compaction").or(x.compaction.take());
        x.concurrency = e.choice("concurrency").or(x.concurrency);
        x.max_queue_depth = e.number("max_queue_depth").or(x.max_queue_depth.take());
        x.max_concurrent_messages =
            e.number("max_concurrent_messages").or(x.max_concurrent_messages.take());
        x.pipeline = e.data("pipeline").or(x.pipeline.take());
        x.inline_gather = e.boolean("inline_gather").or(x.inline_gather);
        x.voice = e.data("voice").or(x.voice.take());
        for item in e.items_of("models", &mut x.extensions) {
            let mut m = Fields::new(item);
            let Some(operation) = m.name.take() else { continue };
            let model = m.text("model").map(|t| Data::from(t.value.as_str()));
            let rest = m.into_extensions();
            let value = if rest.is_empty() {
                model.unwrap_or_default()
            } else {
                let mut value = agentir_ir_json::to_value(&rest, Mode::Plain);
                if let (Some(object), Some(model)) = (value.as_object_mut(), model) {
                    object.insert("model".to_owned(), model);
                }
                value
            };
            x.operation_models.insert(operation.value, value);
        }
        e.preserve(&mut execution.extensions);
    }
    execution
}

fn attachments(f: &mut Fields<'_>, extensions: &mut Extensions) -> Vec<Attachment> {
    f.items_of("attachments", extensions)
        .into_iter()
        .filter_map(|item| {
            let mut a = Fields::new(item);
            let name = a.name.take()?;
            let megabytes =
                a.plain_number("max_file_size_mb").map(|n| Number(n.0 * 1024.0 * 1024.0));
            Some(Attachment {
                name,
                prompt: a.template("prompt"),
                category: a.choice("category").unwrap_or("document"),
                required: a.boolean("required").unwrap_or(true),
                allowed_mime_types: a.templates("allowed_types"),
                max_file_size_bytes: megabytes.or_else(|| a.plain_number("max_file_size")),
                processing: a.data("processing"),
                span: a.span,
                extensions: a.into_extensions(),
            })
        })
        .collect()
}

fn messages(f: &mut Fields<'_>, extensions: &mut Extensions) -> IndexMap<SmolStr, Response> {
    let mut messages = IndexMap::new();
    for item in f.items_of("messages", extensions) {
        let mut m = Fields::new(item);
        let name = m.name.take();
        if let (Some(name), Some(text)) = (name, m.template("text")) {
            let (text, template) = flow::split_template(Some(text));
            messages.insert(name.value, Response { text, template, ..Response::default() });
        }
        m.preserve(extensions);
    }
    messages
}

/// Named templates, and those redefined under the same name.
fn templates(
    f: &mut Fields<'_>,
    extensions: &mut Extensions,
) -> (IndexMap<SmolStr, NamedTemplate>, Vec<NamedTemplate>) {
    const VARIANTS: &[&str] = &["markdown", "html", "adaptive_card", "slack", "whatsapp", "ag_ui"];
    let mut templates = IndexMap::new();
    let mut shadowed = Vec::new();
    for item in f.items_of("templates", extensions) {
        let mut t = Fields::new(item);
        let Some(name) = t.name.take() else {
            t.preserve(extensions);
            continue;
        };
        let mut rich_content = IndexMap::new();
        for variant in VARIANTS {
            if let Some(text) = t.template(variant) {
                rich_content.insert(SmolStr::new_static(variant), text);
            }
        }
        let template = NamedTemplate {
            name: name.clone(),
            default: t.template("default"),
            rich_content,
            voice_instructions: t.template("voice instructions"),
            actions: None,
            span: t.span,
            extensions: t.into_extensions(),
        };
        // The last definition is effective; lint reports the earlier ones.
        if let Some(earlier) = templates.insert(name.value.clone(), template) {
            extensions.insert(
                dialect::ABL.id(),
                &format!("templates.{}", name.value),
                agentir_ir_json::to_value(&earlier, Mode::Plain),
                earlier.span,
            );
            shadowed.push(earlier);
        }
    }
    (templates, shadowed)
}

fn hooks(cx: &mut Context<'_>, f: &mut Fields<'_>, extensions: &mut Extensions) -> Hooks {
    let mut hooks = Hooks::default();
    for mut h in f.records("hooks") {
        for (name, slot) in hooks.slots_mut() {
            if let Some(hook) = h.record(name) {
                *slot = Some(flow::hook(cx, hook));
            }
        }
        h.preserve(extensions);
    }
    hooks
}

fn nlu(cx: &mut Context<'_>, f: &mut Fields<'_>) -> Option<Nlu> {
    let mut n = f.record("nlu")?;
    let mut extensions = Extensions::default();
    let intents = intents(n.items_of("intents", &mut extensions));
    let entities = n
        .items_of("entities", &mut extensions)
        .into_iter()
        .filter_map(|item| entity(cx, Fields::new(item), EntitySource::NluLowered))
        .collect();
    let mut nlu = Nlu {
        intents,
        entities,
        languages: n.names("languages"),
        default_language: n.plain_text("default_language"),
        allow_code_switching: n.boolean("allow_code_switching"),
        extensions,
    };
    n.preserve(&mut nlu.extensions);
    Some(nlu)
}

fn intents(items: Vec<crate::Record<'_>>) -> Vec<NluIntent> {
    items
        .into_iter()
        .filter_map(|item| {
            let mut i = Fields::new(item);
            let name = i.name.take()?;
            Some(NluIntent {
                name,
                description: i.template("description"),
                patterns: i.templates("patterns"),
                examples: i.templates("examples"),
                examples_file: i.plain_text("examples_file"),
                entities: i.names("entities"),
                span: i.span,
                extensions: i.into_extensions(),
            })
        })
        .collect()
}

fn intent_handling(f: &mut Fields<'_>) -> Option<IntentHandling> {
    let multi_intent = f.record("multi_intent").map(|mut m| MultiIntent {
        enabled: m.boolean("enabled"),
        strategy: m.choice("strategy"),
        unknown_relationship_strategy: m.plain_text("unknown_relationship_strategy"),
        max_intents: m.number("max_intents"),
        confidence_threshold: m.number("confidence_threshold"),
        queue_max_age_ms: m.number("queue_max_age_ms"),
        extensions: m.into_extensions(),
    });
    let named = f.record("intents").map(|mut i| ConversationIntents {
        lexical_fallback: i.choice("lexical_fallback"),
        intents: intents(std::mem::take(&mut i.items)),
    });
    (multi_intent.is_some() || named.is_some())
        .then_some(IntentHandling { multi_intent, intents: named })
}

fn entities(cx: &mut Context<'_>, f: &mut Fields<'_>, extensions: &mut Extensions) -> Vec<Entity> {
    f.items_of("entities", extensions)
        .into_iter()
        .filter_map(|item| entity(cx, Fields::new(item), EntitySource::Explicit))
        .collect()
}

fn entity(cx: &mut Context<'_>, mut e: Fields<'_>, source: EntitySource) -> Option<Entity> {
    let name = e.name.take()?;
    Some(Entity {
        name,
        ty: e.choice("type").unwrap_or("string"),
        values: e.templates("values").into_iter().map(|t| t.text).collect(),
        synonyms: e.data("synonyms"),
        pattern: e.text("pattern"),
        validation: gather::validation(cx, &mut e, "validation"),
        sensitive: e.boolean("sensitive"),
        sensitive_display: e.choice("sensitive_display"),
        mask_config: gather::mask_config(&mut e),
        pii_type: e.name_of("pii_type"),
        description: e.template("description"),
        extraction_hints: e.templates("extraction_hints"),
        source,
        span: e.span,
        extensions: e.into_extensions(),
    })
}

/// Lookup tables, and those redefined under the same name.
fn lookup_tables(
    f: &mut Fields<'_>,
    extensions: &mut Extensions,
) -> (IndexMap<SmolStr, LookupTable>, Vec<LookupTable>) {
    let mut tables = IndexMap::new();
    let mut shadowed = Vec::new();
    for item in f.items_of("lookup_tables", extensions) {
        let mut t = Fields::new(item);
        let Some(name) = t.name.take() else {
            t.preserve(extensions);
            continue;
        };
        let source = t.choice("source").map(|s| match s {
            "mongodb" => "collection",
            "http" => "api",
            other => other,
        });
        let table = LookupTable {
            name: name.clone(),
            source,
            values: t.templates("values"),
            map: t.data("map"),
            table_name: t.text("table_name"),
            endpoint: t.text("endpoint"),
            field: t.text("field"),
            headers: t.data("headers"),
            timeout_ms: t.number("timeout_ms"),
            case_sensitive: t.boolean("case_sensitive"),
            fuzzy_match: t.boolean("fuzzy_match"),
            fuzzy_threshold: t.number("fuzzy_threshold"),
            span: t.span,
            extensions: t.into_extensions(),
        };
        if let Some(earlier) = tables.insert(name.value.clone(), table) {
            extensions.insert(
                dialect::ABL.id(),
                &format!("lookup_tables.{}", name.value),
                agentir_ir_json::to_value(&earlier, Mode::Plain),
                earlier.span,
            );
            shadowed.push(earlier);
        }
    }
    (tables, shadowed)
}

fn destinations(f: &mut Fields<'_>) -> Vec<Data> {
    let Some(entry) = f.entry("destinations") else { return Vec::new() };
    match data::of_value(entry) {
        Data::Array(all) => all,
        Data::Null => Vec::new(),
        one => vec![one],
    }
}

/// Gives passed variables their declared types.
fn pass_types(agent: &mut Agent) {
    let types: rustc_hash::FxHashMap<SmolStr, SmolStr> = agent
        .memory
        .session
        .iter()
        .filter_map(|v| Some((v.name.value.clone(), SmolStr::new(v.ty.as_ref()?.to_string()))))
        .collect();
    for handoff in &mut agent.coordination.handoffs {
        for value in &mut handoff.context.pass {
            if let Some(ty) = types.get(&value.name.value) {
                value.ty = ty.clone();
            }
        }
    }
}
