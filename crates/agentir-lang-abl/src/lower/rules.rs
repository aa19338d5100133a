//! Lowers constraints, guardrails and profiles (§3.8, §3.9, §3.13.2).

use super::checkpoints::checkpoints;
use super::fields::Fields;
use super::{Context, flow, gather, tools};
use crate::dialect;
use crate::inline;
use crate::{HeaderValue, Record, Value};
use agentir_diagnostics::{Spanned, closest};
use agentir_expr::{Condition, ConditionKind, Name, Template};
use agentir_ir::{
    Checkpoint, Constraint, ConstraintFailure, ConstraintKind, Constraints, Data, Extensions,
    FailureKind, FlowModifications, GatherOverrides, Guardrail, GuardrailKind, Insertion, Jump,
    Number, NumberOrText, Profile, Target,
};
use agentir_syntax::lower::merge_extensions;
use smol_str::{SmolStr, format_smolstr};

pub(super) fn constraints(
    cx: &mut Context<'_>,
    f: &mut Fields<'_>,
    rest: &mut Extensions,
) -> Constraints {
    let mut all = Vec::new();
    for mut section in f.records("constraints") {
        for item in std::mem::take(&mut section.items) {
            constraint(cx, item, None, &mut all, rest);
        }
        all.extend(section.unknown_texts().map(|text| unreadable(text, None)));
        section.preserve(rest);
    }
    let mut guardrails = Vec::new();
    for item in f.items_of("guardrails", rest) {
        guardrail(item, &mut guardrails, rest);
    }
    Constraints { constraints: all, guardrails }
}

/// A rule, or a label with nested rules. What is none and cannot be read is a rule that never holds, so that nothing opens
/// where a check was meant.
pub(super) fn constraint(
    cx: &mut Context<'_>,
    item: Record<'_>,
    label: Option<&Spanned<Name>>,
    all: &mut Vec<Constraint>,
    rest: &mut Extensions,
) {
    let mut f = Fields::new(item);
    let own_label = f.name.take().or_else(|| f.name_of("label"));
    let label = own_label.as_ref().or(label).cloned();
    let items = std::mem::take(&mut f.items);
    let is_label = !items.is_empty();
    for inner in items {
        constraint(cx, inner, label.as_ref(), all, rest);
    }
    let known = all.len();
    all.extend(f.unknown_texts().map(|text| unreadable(text, label.clone())));
    let is_read = is_label || all.len() > known;
    let header = f.headers.iter().position(|h| matches!(h, HeaderValue::Constraint(_)));
    let header = header.and_then(|at| match f.headers.remove(at) {
        HeaderValue::Constraint(rule) => Some(*rule),
        _ => None,
    });
    let (kind, condition, checkpoint) = if let Some(rule) = header {
        (Some(rule.kind.value), rule.condition, rule.checkpoint)
    } else {
        use inline::ConstraintKind as K;
        let rule = f.value("rule", |v| match v {
            Value::Rule(rule) => Ok((Some(rule.kind.value), rule.condition, rule.checkpoint)),
            Value::Condition(condition) => Ok((Some(K::Require), *condition, None)),
            other => Err(other),
        });
        let text = f.headers.iter().position(|h| matches!(h, HeaderValue::Text(_)));
        let text = text.and_then(|at| match f.headers.remove(at) {
            HeaderValue::Text(text) => Some(text),
            _ => None,
        });
        let written = [
            ("require", K::Require),
            ("warn", K::Warn),
            ("limit", K::Limit),
            ("restrict", K::Restrict),
        ]
        .into_iter()
        .find_map(|(name, kind)| Some((kind, f.condition(name)?)));
        match (rule, written, text) {
            (Some((kind, condition, checkpoint)), ..) => (kind, condition, checkpoint),
            (None, Some((kind, condition)), _) => (Some(kind), condition, None),
            // Natural language for the model.
            (None, None, Some(text)) => {
                (None, Condition { text: text.text, kind: ConditionKind::Natural }, None)
            }
            (None, None, None) => {
                // A label without rules is none, unless something stands behind it.
                let end = own_label.as_ref().map(|label| label.span.end);
                let is_alone = end.is_some_and(|end| f.span.end <= end.saturating_add(1));
                if !is_read && (!is_alone || f.has_fields()) {
                    let text = SmolStr::new_static("a rule that cannot be read");
                    let text = Spanned::new(text, f.span);
                    all.push(unreadable(text, label));
                }
                f.preserve(rest);
                return;
            }
        }
    };
    let kind = kind.map(|k| match k {
        inline::ConstraintKind::Require => ConstraintKind::Require,
        inline::ConstraintKind::Warn => ConstraintKind::Warn,
        inline::ConstraintKind::Limit => ConstraintKind::Limit,
        inline::ConstraintKind::Restrict => ConstraintKind::Restrict,
    });
    let message = f.template("message");
    let on_fail = failure(cx, &mut f, message);
    let severity =
        f.choice("severity").or((kind == Some(ConstraintKind::Warn)).then_some("warning"));
    let points = match checkpoint {
        Some(point) => match point.value {
            inline::Checkpoint::ToolCall(target) => vec![Checkpoint::ToolCall { target }],
            inline::Checkpoint::Response => vec![Checkpoint::Response],
            inline::Checkpoint::Other(words) => {
                checkpoints(cx, Spanned::new(words, point.span), true)
            }
        },
        None => match f.text("before") {
            Some(words) => match words.value.strip_prefix("calling ").map(str::trim) {
                Some(tool) if inline::is_dashed_name(tool) => {
                    let target = Spanned::new(SmolStr::new(tool), words.span);
                    vec![Checkpoint::ToolCall { target }]
                }
                None if words.value == "returning results" => vec![Checkpoint::Response],
                _ => checkpoints(cx, words, false),
            },
            None => Vec::new(),
        },
    };
    let mut points = points.into_iter();
    let rule = Constraint {
        condition,
        on_fail,
        severity,
        kind,
        applies_when: f.condition("when"),
        checkpoint: points.next(),
        label,
        span: f.span,
        extensions: f.into_extensions(),
    };
    let others = points.map(|point| Constraint { checkpoint: Some(point), ..rule.clone() });
    let others: Vec<_> = others.collect();
    all.push(rule);
    all.extend(others);
}

/// A rule that could not be read. It never holds.
fn unreadable(text: Spanned<SmolStr>, label: Option<Spanned<Name>>) -> Constraint {
    let span = text.span;
    Constraint {
        condition: Condition { text, kind: ConditionKind::Invalid },
        on_fail: None,
        severity: None,
        kind: Some(ConstraintKind::Require),
        applies_when: None,
        checkpoint: None,
        label,
        extensions: Extensions::default(),
        span,
    }
}

fn failure(
    cx: &mut Context<'_>,
    f: &mut Fields<'_>,
    message: Option<Template>,
) -> Option<ConstraintFailure> {
    let span = f.value_span("on_fail").or_else(|| message.as_ref().map(|m| m.text.span))?;
    let mut result = ConstraintFailure {
        kind: FailureKind::Respond,
        message,
        target: None,
        reason: None,
        collect_fields: Vec::new(),
        clear: Vec::new(),
        then_action: None,
        then_step: None,
        extensions: Extensions::default(),
        span,
    };
    if let Some(text) = f.template("on_fail") {
        result.message = Some(text);
        return Some(result);
    }
    if let Some(action) = f.action("on_fail") {
        if action.word.value.eq_ignore_ascii_case("respond") {
            let message = action.reason.map(Template::plain);
            result.message = message.or(result.message);
            return Some(result);
        }
        apply(&mut result, flow::jump(cx, action));
        return Some(result);
    }
    let Some(mut block) = f.record("on_fail") else {
        return result.message.is_some().then_some(result);
    };
    if let Some(text) = block.template("respond") {
        result.message = Some(text);
    }
    result.collect_fields = block.names("collect");
    result.clear = block.names("clear");
    if !result.collect_fields.is_empty() {
        result.kind = FailureKind::CollectField;
    }
    if block.boolean("retry") == Some(true) {
        result.kind = FailureKind::RetryStep;
    }
    if let Some(action) = block.action("handoff") {
        result.kind = FailureKind::Handoff;
        let jump = flow::jump(cx, action);
        result.target = match jump.target {
            Target::Step(name) | Target::Handoff(Some(name)) => Some(name),
            _ => None,
        };
    }
    if block.has("escalate") {
        result.kind = FailureKind::Escalate;
    }
    for name in ["goto", "then"] {
        if let Some(action) = block.action(name) {
            apply(&mut result, flow::jump(cx, action));
        }
    }
    result.extensions = block.into_extensions();
    Some(result)
}

fn apply(result: &mut ConstraintFailure, jump: Jump) {
    result.reason = jump.reason.clone().or(result.reason.take());
    match &jump.target {
        Target::Escalate => result.kind = FailureKind::Escalate,
        Target::Handoff(agent) => {
            result.kind = FailureKind::Handoff;
            result.target.clone_from(agent);
        }
        Target::Block => result.kind = FailureKind::Block,
        Target::Redact => result.kind = FailureKind::Redact,
        Target::RetryStep => result.kind = FailureKind::RetryStep,
        Target::Step(_) => {
            if result.kind == FailureKind::Respond {
                result.kind = FailureKind::GotoStep;
            }
            result.then_step = Some(jump);
        }
        _ => result.then_action = Some(jump),
    }
}

fn guardrail(item: Record<'_>, all: &mut Vec<Guardrail>, rest: &mut Extensions) {
    let mut f = Fields::new(item);
    let Some(name) = f.name.take() else {
        f.preserve(rest);
        return;
    };
    let check_span = f.value_span("check");
    let (check, llm_check, provider) =
        (f.expr("check"), f.template("llm_check"), f.plain_text("provider"));
    // What is written in place of a check is one that cannot be read, and refuses.
    let unread = f.unknown_texts().next().map(|text| text.span);
    let has_check = check_span.is_some() || llm_check.is_some() || provider.is_some();
    let check_span = check_span.or(unread.filter(|_| !has_check && !f.has("category")));
    let tier = if check.is_some() || check_span.is_some() {
        "local"
    } else if llm_check.is_some() {
        "llm"
    } else {
        "model"
    };
    let kinds: &[(GuardrailKind, &str)] = match f.choice("kind").or_else(|| meant_kind(&f)) {
        None if f.has("kind") => EVERYWHERE,
        Some("output") => &[(GuardrailKind::Output, "")],
        Some("tool_input") => &[(GuardrailKind::ToolInput, "")],
        Some("tool_output") => &[(GuardrailKind::ToolOutput, "")],
        Some("handoff") => &[(GuardrailKind::Handoff, "")],
        Some("both") => &[(GuardrailKind::Input, "_input"), (GuardrailKind::Output, "_output")],
        _ => &[(GuardrailKind::Input, "")],
    };
    let mut action = serde_json::Map::new();
    if let Some(kind) = f.choice("action") {
        action.insert("type".to_owned(), Data::from(kind));
    } else if let Some(mut a) = f.record("action") {
        if let Some(kind) = a.choice("type") {
            action.insert("type".to_owned(), Data::from(kind));
        }
        if let Some(message) = a.template("message") {
            action.insert("message".to_owned(), Data::from(message.text.value.as_str()));
        }
        a.preserve(rest);
    }
    if let Some(message) = f.template("message") {
        action.insert("message".to_owned(), Data::from(message.text.value.as_str()));
    }
    for name in ["fix_strategy", "fix_expression", "max_reasks", "filter_min_length"] {
        if let Some(value) = f.data(name) {
            action.insert(name.to_owned(), value);
        }
    }
    let guardrail = Guardrail {
        name,
        description: f.template("description"),
        kind: GuardrailKind::Input,
        priority: f.plain_number("priority").unwrap_or(Number(100.0)),
        tier,
        check,
        provider,
        category: f.plain_text("category"),
        threshold: f.number("threshold"),
        llm_check,
        action: Data::Object(action),
        severity_actions: f.data("severity_actions"),
        streaming: f.data("streaming"),
        streaming_interval: f.data("streaming_interval"),
        span: f.span,
        extensions: f.into_extensions(),
        check_span,
    };
    // `both` is shorthand for two guardrails (§3.9).
    for (kind, suffix) in kinds {
        let mut one = guardrail.clone();
        one.kind = *kind;
        if !suffix.is_empty() {
            one.name.value = format_smolstr!("{}{suffix}", one.name.value);
        }
        all.push(one);
    }
}

/// Where a guardrail is checked of which nobody can say where it was meant to be.
const EVERYWHERE: &[(GuardrailKind, &str)] = &[
    (GuardrailKind::Input, "_input"),
    (GuardrailKind::Output, "_output"),
    (GuardrailKind::ToolInput, "_tool_input"),
    (GuardrailKind::ToolOutput, "_tool_output"),
    (GuardrailKind::Handoff, "_handoff"),
];

/// The kind that a misspelled one means, which has been reported.
fn meant_kind(f: &Fields<'_>) -> Option<&'static str> {
    const KINDS: [&str; 6] = ["input", "output", "both", "tool_input", "tool_output", "handoff"];
    let written = f.written("kind")?.to_lowercase().replace(['-', ' '], "_");
    let exact = KINDS.into_iter().find(|kind| *kind == written);
    exact.or_else(|| closest(&written, KINDS))
}

/// A profile: a document of its own, inline, or an item of the legacy list.
pub(super) fn profile(cx: &mut Context<'_>, mut f: Fields<'_>) -> Profile {
    let mut rest = Extensions::default();
    let name = f
        .name_of("behavior_profile")
        .or_else(|| f.name_of("name"))
        .or_else(|| f.name.take())
        .unwrap_or_else(|| Spanned::new(SmolStr::default(), f.span.at_start()));
    let mut constraints = Vec::new();
    let constraint_texts = f.templates("constraints");
    for item in f.items_of("constraints", &mut rest) {
        constraint(cx, item, None, &mut constraints, &mut rest);
    }
    let mut tools_hide = f.names("tools_hide");
    let mut tools_add = Vec::new();
    for section in f.records("tools_add") {
        let (more, _, left) = tools::tools(cx, section);
        tools_add.extend(more);
        merge_extensions(&mut rest, left);
    }
    for mut section in f.records("tools") {
        tools_hide.extend(section.names("hide"));
        for add in section.records("add") {
            let (more, _, left) = tools::tools(cx, add);
            tools_add.extend(more);
            merge_extensions(&mut rest, left);
        }
        section.preserve(&mut rest);
    }
    let gather_overrides = f.with_record("gather", |g| {
        let mut left = Extensions::default();
        let overrides = GatherOverrides {
            validation_style: g.choice("validation_style"),
            confirmation: g.choice("confirmation"),
            field_overrides: g
                .items_of("field_overrides", &mut left)
                .into_iter()
                .filter_map(|item| gather::field(cx, Fields::new(item)))
                .collect(),
        };
        (overrides, left)
    });
    let gather_overrides = gather_overrides.map(|(overrides, left)| {
        merge_extensions(&mut rest, left);
        overrides
    });
    let mut flow_replace = f.name_of("flow_replace");
    let mut flow_modifications = None;
    for mut changes in f.records("flow") {
        flow_replace = changes.name_of("replace").or(flow_replace);
        let mut modifications =
            FlowModifications { skip: changes.names("skip"), ..FlowModifications::default() };
        for item in changes.items_of("overrides", &mut rest) {
            let step = flow::step(cx, Fields::new(item));
            modifications.overrides.insert(step.name.value.clone(), step);
        }
        for (field, position) in [("insert_before", "before"), ("insert_after", "after")] {
            for item in changes.items_of(field, &mut rest) {
                let step = flow::step(cx, Fields::new(item));
                modifications.insertions.push(Insertion {
                    position,
                    target_step: step.name.clone(),
                    step,
                });
            }
        }
        for item in changes.items_of("insertions", &mut rest) {
            let mut i = Fields::new(item);
            let place = [("before", "before"), ("after", "after")]
                .into_iter()
                .find_map(|(field, position)| Some((position, i.name_of(field)?)))
                .or_else(|| {
                    Some((i.choice("position").unwrap_or("after"), i.name_of("target_step")?))
                });
            let name = i.name_of("name");
            if let (Some((position, target_step)), Some(record)) = (place, i.record("step")) {
                let mut step = flow::step(cx, record);
                step.name = name.unwrap_or(step.name);
                modifications.insertions.push(Insertion { position, target_step, step });
            }
            i.preserve(&mut rest);
        }
        changes.preserve(&mut rest);
        flow_modifications = Some(modifications);
    }
    let mut profile = Profile {
        dialect: dialect::ABL,
        notation: cx.notation,
        name,
        description: f.template("description"),
        priority: f.number("priority").unwrap_or(NumberOrText::Number(Number(0.0))),
        when: f.condition("when"),
        instructions: f.template("instructions"),
        voice: f.data("voice"),
        response_rules: f.data("response"),
        constraints,
        constraint_texts,
        tools_hide,
        tools_add,
        gather_overrides,
        flow_modifications,
        flow_replace,
        conversation_behavior: f.data("conversation"),
        extensions: rest,
        span: f.span,
    };
    f.preserve(&mut profile.extensions);
    profile
}
