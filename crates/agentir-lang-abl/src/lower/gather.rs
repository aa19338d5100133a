//! Lowers fields and their validation (§3.6).

use super::Context;
use super::fields::{Fields, text_start};
use crate::Value;
use crate::inline::condition;
use agentir_diagnostics::Spanned;
use agentir_expr::Expr;
use agentir_ir::{Activation, Extensions, Gather, GatherField, MaskConfig, Semantics, Validation};
use agentir_syntax::inline::InlineText;
use agentir_syntax::text::offset;
use smol_str::SmolStr;

pub(super) fn gather(cx: &mut Context<'_>, mut g: Fields<'_>) -> Gather {
    let mut fields: Vec<GatherField> = std::mem::take(&mut g.items)
        .into_iter()
        .filter_map(|i| field(cx, Fields::new(i)))
        .collect();
    let mut extensions = Extensions::default();
    fields.extend(
        g.items_of("fields", &mut extensions).into_iter().filter_map(|i| field(cx, Fields::new(i))),
    );
    let mut gather = Gather {
        fields,
        strategy: g.choice("strategy"),
        prompt: g.template("prompt"),
        message_key: g.name_of("message_key"),
        correction_patterns: g.templates("correction_patterns"),
        extensions,
    };
    g.preserve(&mut gather.extensions);
    gather
}

pub(super) fn field(cx: &mut Context<'_>, mut f: Fields<'_>) -> Option<GatherField> {
    let name = f.name.take()?;
    let required = f.value("required", |v| match v {
        Value::Bool(b) => Ok(b),
        Value::Enum(word) => Ok(word == "required"),
        other => Err(other),
    });
    let default = f.data("default");
    let ty_span = f.value_span("type");
    let ty = f
        .choice("type")
        .map(|t| Spanned::new(SmolStr::new_static(t), ty_span.unwrap_or(name.span)));
    let enum_values: Vec<Spanned<SmolStr>> =
        f.templates("options").into_iter().map(|t| t.text).collect();
    let mut validation = validation(cx, &mut f, "validate");
    if validation.is_none() {
        validation = Validation::of_values(&enum_values, name.span);
    }
    // Without a validation these settings have no effect and stay with the field.
    if let Some(v) = &mut validation {
        let process = f.choice("validation_process").map(SmolStr::new_static);
        let (retry_prompt, max_retries) =
            (f.template("retry_prompt"), f.plain_number("max_retries"));
        v.validation_process =
            v.validation_process.take().or(process).map(|p| SmolStr::new(p.to_uppercase()));
        v.retry_prompt = v.retry_prompt.take().or(retry_prompt);
        v.max_retries = v.max_retries.or(max_retries);
    }
    Some(GatherField {
        entity_ref: f.name_of("entity_ref"),
        prompt: f.template("prompt"),
        message_key: f.name_of("message_key"),
        description: f.template("description"),
        ty,
        // A field with a default is optional unless stated otherwise.
        required: required.unwrap_or(default.is_none()),
        default,
        validation,
        enum_values,
        synonyms: f.data("synonyms"),
        extraction_hints: f.templates("extraction_hints"),
        extraction_pattern: f.text("extraction_pattern"),
        extraction_group: f.plain_number("extraction_group"),
        strategy: f.choice("strategy"),
        infer: f.boolean("infer"),
        infer_confidence: f.plain_number("infer_confidence"),
        infer_confirm: f.boolean("infer_confirm"),
        semantics: semantics(&mut f),
        range: f.data("range"),
        list: f.data("list"),
        preferences: f.data("preferences"),
        activation: activation(&mut f),
        depends_on: f.names("depends_on"),
        prompt_mode: f.choice("prompt_mode"),
        satisfied_by: f.choice("satisfied_by"),
        sensitive: f.boolean("sensitive"),
        sensitive_display: f.choice("sensitive_display"),
        mask_config: mask_config(&mut f),
        pii_type: f.name_of("pii_type"),
        transient: f.boolean("transient"),
        voice_config: f.data("voice"),
        rich_content: f.data("rich_content"),
        span: f.span,
        extensions: f.into_extensions(),
        name,
    })
}

/// Natural language, a short form such as `min(1)`, or a block.
pub(super) fn validation(
    cx: &mut Context<'_>,
    f: &mut Fields<'_>,
    name: &str,
) -> Option<Validation> {
    if let Some(text) = f.text(name) {
        let kind = Validation::kind_of_functions(&text.value).unwrap_or("llm");
        return Some(Validation {
            kind: Spanned::new(SmolStr::new_static(kind), text.span),
            rule: text,
            check: None,
            error_message: None,
            retry_prompt: None,
            max_retries: None,
            validation_process: None,
            extensions: Extensions::default(),
        });
    }
    let mut v = f.record(name)?;
    let kind_span = v.value_span("type").unwrap_or(v.span);
    let mut kind = v.choice("type");
    let mut rule = v.text("rule");
    for short in ["pattern", "range", "enum", "custom", "llm"] {
        if rule.is_some() {
            break;
        }
        if let Some(text) = v.text(short) {
            kind = Some(short);
            rule = Some(text);
        }
    }
    let rule = rule.unwrap_or_else(|| Spanned::new(SmolStr::default(), v.span));
    let custom = kind.is_some_and(|kind| kind.eq_ignore_ascii_case("custom"));
    Some(Validation {
        kind: Spanned::new(SmolStr::new_static(kind.unwrap_or("llm")), kind_span),
        check: custom.then(|| custom_check(cx, &rule)).flatten(),
        rule,
        error_message: v.template("error"),
        retry_prompt: v.template("retry_prompt"),
        max_retries: v.plain_number("max_retries"),
        validation_process: v.choice("validation_process").map(|p| SmolStr::new(p.to_uppercase())),
        extensions: v.into_extensions(),
    })
}

/// The expression of a custom rule.
fn custom_check(cx: &mut Context<'_>, rule: &Spanned<SmolStr>) -> Option<Expr> {
    let text = rule.value.as_str();
    let lead = text.len() - text.trim_start().len();
    let start = text_start(text, rule.span).unwrap_or(rule.span.start);
    let input = InlineText::verbatim(text.trim(), rule.span.file, start + offset(lead));
    condition(input, true, cx.problems).expr().cloned()
}

fn activation(f: &mut Fields<'_>) -> Option<Activation> {
    match f.choice("activation") {
        Some("required") => return Some(Activation::Required),
        Some("optional") => return Some(Activation::Optional),
        Some("progressive") => return Some(Activation::Progressive),
        _ => {}
    }
    f.with_record("activation", |a| a.condition("when"))?.map(|when| Activation::When { when })
}

pub(super) fn mask_config(f: &mut Fields<'_>) -> Option<MaskConfig> {
    f.with_record("mask_config", |m| MaskConfig {
        show_first: m.plain_number("show_first"),
        show_last: m.plain_number("show_last"),
        char: m.plain_text("char"),
    })
}

fn semantics(f: &mut Fields<'_>) -> Option<Semantics> {
    f.record("semantics").map(|mut s| Semantics {
        format: s.plain_text("format"),
        components: s.names("components"),
        unit: s.plain_text("unit"),
        lookup: s.name_of("lookup"),
        convert_to: s.plain_text("convert_to"),
        locale: s.plain_text("locale"),
        temporal: s.choice("temporal"),
        enum_set: s.templates("enum_set"),
        kore_entity_type: s.plain_text("kore_entity_type"),
        extensions: s.into_extensions(),
    })
}
