//! Lowers an agent, by its type (B.1 to B.5).

use super::{ADL, Context, flow};
use crate::dialect;
use crate::rules;
use crate::{AgentKind, Faq, Member, Value};
use agentir_diagnostics::{Confidence, Diagnostic, Span, Spanned, closest};
use agentir_expr::{Condition, Expr, Name, Template};
use agentir_ir::{
    Agent, AgentType, Context as HandoffContext, Data, Decider, ExecutionHints, Extensions,
    GatherField, Handoff, Instruction, Knowledge, Metadata, Policy, PolicyRule, Question, Routing,
    SessionVariable, VariableBinding,
};
use agentir_syntax::lower::data;
use agentir_syntax::lower::data::NO_FLOW;
use agentir_syntax::lower::required_field;
use agentir_syntax::outline::Entry;
use smol_str::SmolStr;

pub(super) fn agent(cx: &mut Context<'_>, tree: crate::Agent<'_>) -> Agent {
    let kind = tree.kind;
    let mut agent = empty(tree.name.clone(), kind, tree.span, cx.hash.clone());
    let mut steps = None;
    let is_fallback = |entry: &Entry<'_>| closest(&key_of(entry), ["fallback"]).is_some();
    let has_fallback =
        tree.field("fallback").is_some() || tree.unknown.iter().any(|entry| is_fallback(entry));
    if let Some(kind) = kind {
        agent.extensions.insert(ADL, "type", Data::from(kind.name()), tree.name.span);
    }
    for field in tree.fields {
        match (field.def.name, field.value) {
            ("type", _) => {
                if kind.is_none() {
                    let data = data::of_value(field.entry, NO_FLOW);
                    agent.extensions.insert(ADL, "type", data, field.key);
                }
            }
            ("description", Value::Text(text)) => agent.identity.goal = Some(text),
            ("prompt", Value::Text(text)) => {
                agent.identity.instructions.push(Instruction { when: None, text });
            }
            ("args", Value::Names(names)) => args(&mut agent, kind, names),
            ("uses", Value::Names(names)) => agent.use_tools.extend(names),
            ("sources" | "web" | "file", Value::Names(names)) => {
                let known = knowledge(&mut agent, field.key);
                if field.def.name != "sources" {
                    // The position in the file only matters to ADL itself.
                    let all: Vec<_> = names.iter().map(|n| n.value.as_str()).collect();
                    known.extensions.insert(ADL, field.def.name, all.into(), field.key);
                }
                known.sources.extend(names);
            }
            ("faq", Value::Faq(all)) => {
                let questions = all.into_iter().map(question);
                knowledge(&mut agent, field.key).questions.extend(questions);
            }
            ("steps", Value::Steps(read)) => steps = Some((field.key, read)),
            ("contains", Value::Members(members)) => contains(cx, &mut agent, members),
            ("fallback" | "exit", Value::Text(text)) => {
                policy(cx, &mut agent, field.def.name, field.key, text);
            }
            (name, _) => {
                agent.extensions.insert(ADL, name, data::of_value(field.entry, NO_FLOW), field.key);
            }
        }
    }
    for entry in tree.unknown {
        let (key, span) = (key_of(entry), entry.span(tree.span.file));
        agent.extensions.insert(ADL, &key, data::of_value(entry, NO_FLOW), span);
    }
    if kind == Some(AgentKind::Ensemble) && !has_fallback {
        cx.problems.push(
            Diagnostic::info(
                rules::MICA_POLICY,
                tree.name.span,
                format!("MICA raises an error when no agent of `{}` matches", tree.name),
            )
            .note("an ensemble without `fallback` then has nothing to say")
            .help("add `fallback: default`, or the text to show to the user"),
        );
    }
    match (kind, steps) {
        (Some(AgentKind::Flow) | None, steps) if steps.is_some() || !tree.subflows.is_empty() => {
            let flow = flow::flow(cx, &tree.name, steps, tree.subflows, &mut agent.extensions);
            agent.flow = Some(flow);
        }
        (_, Some((key, steps))) => {
            flow::check_initial(cx, kind, key, &steps);
            agent.on_start = flow::initial(cx, &tree.name, steps, &mut agent.extensions);
        }
        _ => {}
    }
    agent.execution.hints = ExecutionHints::of(&agent);
    agent
}

pub(super) fn key_of(entry: &agentir_syntax::outline::Entry<'_>) -> SmolStr {
    match &entry.kind {
        agentir_syntax::outline::EntryKind::Pair { key, .. } => SmolStr::new(key.text),
        _ => SmolStr::new_static("unknown"),
    }
}

fn empty(name: Spanned<Name>, kind: Option<AgentKind>, span: Span, source_hash: SmolStr) -> Agent {
    let mut metadata = Metadata::new(name, dialect::ADL, source_hash);
    if kind == Some(AgentKind::Ensemble) {
        metadata.kind = AgentType::Supervisor;
    }
    Agent::new(metadata, span)
}

/// The arguments (B.1). For agents that talk to the user they are fields, filled from messages; for an
/// ensemble they are shared variables.
fn args(agent: &mut Agent, kind: Option<AgentKind>, names: Vec<Spanned<Name>>) {
    if matches!(kind, Some(AgentKind::Llm | AgentKind::Flow)) {
        agent.gather.fields.extend(names.into_iter().map(|name| GatherField {
            required: false,
            prompt_mode: Some("extract_only"),
            ..required_field(name)
        }));
        return;
    }
    agent.memory.session.extend(names.into_iter().map(SessionVariable::new));
}

fn knowledge(agent: &mut Agent, span: Span) -> &mut Knowledge {
    agent.knowledge.get_or_insert_with(|| Knowledge { span, ..Knowledge::default() })
}

fn question(faq: Faq) -> Question {
    Question { question: faq.question, answer: faq.answer, span: faq.span }
}

/// The agents of an ensemble (B.5). The model chooses one by its description; control returns when
/// that agent is done.
fn contains(cx: &Context<'_>, agent: &mut Agent, members: Vec<Member>) {
    for member in members {
        let bindings = member.bindings.into_iter().map(|b| VariableBinding {
            variable: b.name,
            value: Expr::path(b.value.value, b.value.span),
            by_reference: b.by_reference,
        });
        let context = HandoffContext { bindings: bindings.collect(), ..HandoffContext::default() };
        let words = cx.names.description(&member.name.value);
        agent.coordination.handoffs.push(Handoff {
            when: words.map(Condition::words),
            ..handoff(member.name, Decider::Model, true, context, member.span)
        });
    }
}

fn handoff(
    to: Spanned<Name>,
    decided_by: Decider,
    returns: bool,
    context: HandoffContext,
    span: Span,
) -> Handoff {
    Handoff { decided_by, context, returns, span, ..Handoff::new(to, None) }
}

/// `fallback` and `exit` (3.3, B.1): the name of an agent, `default`, or an instruction to the model.
fn policy(cx: &mut Context<'_>, agent: &mut Agent, field: &str, key: Span, text: Template) {
    let policy = text.text.value.trim();
    let span = text.text.span;
    if policy == "default" {
        agent.extensions.insert(ADL, field, Data::from(policy), key);
        return;
    }
    let name = Spanned::new(SmolStr::new(policy), span);
    // A single identifier is taken for an agent, even if none has that name.
    let named = policy.chars().all(|c| c.is_alphanumeric() || c == '_');
    if named {
        if policy == "default_agent" && !cx.names.is_agent(policy) {
            cx.problems.push(
                Diagnostic::warning(
                    rules::MICA_POLICY,
                    span,
                    "MICA shows the text `default_agent` to the user: there is no agent of this name",
                )
                .note("its documentation uses this word, but its runtime only supports `default`")
                .help("write `default`"),
            );
            agent.extensions.insert(ADL, field, Data::from(policy), key);
            return;
        }
        match (field, agent.metadata.kind) {
            ("fallback", AgentType::Supervisor) => {
                agent.routing.get_or_insert_with(Routing::default).default_agent = Some(name);
            }
            _ => {
                let decided = if field == "exit" { Decider::Always } else { Decider::Model };
                let context = HandoffContext::default();
                agent.coordination.handoffs.push(handoff(name, decided, false, context, key));
                agent.extensions.insert(ADL, field, Data::from(policy), key);
            }
        }
        return;
    }
    if field == "exit" {
        cx.problems.push(
            Diagnostic::warning(rules::MICA_POLICY, span, "MICA ignores the value of `exit`")
                .note("it asks three times at intervals of five seconds, and then ends the conversation")
                .help("write `exit: default` if the bot should run in MICA"),
        );
    } else if dialect::FALLBACK.instructs(policy) {
        cx.problems.push(
            Diagnostic::warning(
                rules::MICA_POLICY,
                span,
                "MICA shows this policy to the user verbatim",
            )
            .confidence(Confidence::Medium)
            .note(
                "in the paper (3.3) it is an instruction to the model; MICA uses it as the message",
            )
            .help("write only the text to show to the user, or the name of an agent"),
        );
    }
    agent.policies.push(Policy {
        name: Spanned::new(SmolStr::new(field), key),
        description: None,
        rules: vec![PolicyRule {
            // MICA says whatever is written.
            name: cx.for_mica.then(|| Spanned::new(SmolStr::new(dialect::FALLBACK.message), key)),
            allowed_when: None,
            forbidden_when: None,
            trigger_signal: None,
            behavior: Some(text),
            extensions: Extensions::default(),
        }],
        extensions: Extensions::default(),
    });
}
