//! Checks `config`, `system`, `language`, `model_config`, `context` and `modality`.

use super::super::tree::{Data, Record, Value};
use super::{Check, EMPLOYEE, SERVICE, constant, head};
use agentir_diagnostics::{Diagnostic, closest};
use agentir_expr::{ExprKind, Literal};
use agentir_syntax::rules;

/// The allowed number of starter prompts, and their length.
const PROMPTS: std::ops::RangeInclusive<usize> = 3..=20;
const PROMPT_LENGTH: std::ops::RangeInclusive<usize> = 1..=50;

/// A parameter that the platform rejects.
const REFUSED: &str = "additional_parameter__disable_graph_runtime";

/// The fields of the older form of `modality voice`.
const VOICE_1: &[&str] =
    &["voice_id", "outbound_speed", "pronunciation_dict", "additional_configs"];
/// The fields of the newer form.
const VOICE_2: &[&str] = &["inbound", "outbound", "session_language_switching", "languages"];

pub(super) fn check(check: &mut Check<'_, '_, '_>) {
    match check.root.record("config") {
        Some(config) => names(check, config),
        None => check.missing(
            check.root,
            "config",
            check.root.span.at_start(),
            "this document has no `config`",
            "add `config:` with `developer_name: \"…\"` below it",
        ),
    }
    agent_type(check);
    user(check);
    prompts(check);
    if let Some(language) = check.root.field("language")
        && let Value::Record(record) = &language.value
        && record.field("default_locale").is_none()
        && record.bool("adaptive") != Some(true)
    {
        check.missing(
            record,
            "default_locale",
            language.key,
            "`language` has no `default_locale`",
            "add `default_locale: \"en_US\"`, or another locale",
        );
    }
    if let Some(model) = check.root.record("model_config") {
        model_address(check, model);
    }
    if let Some(context) = check.root.record("context") {
        for name in ["memory", "user_profile", "past_conversations"] {
            if let Some(field) = context.field(name)
                && let Value::Record(record) = &field.value
                && record.field("enabled").is_none()
            {
                check.missing(
                    record,
                    "enabled",
                    field.key,
                    format!("`{name}` has no `enabled`"),
                    "add `enabled: True` or `enabled: False`",
                );
            }
        }
    }
    for voice in check.root.records("modality") {
        modality(check, voice);
    }
}

/// `config-missing-agent-name`, `config-duplicate-agent-name`, `disabled-additional-parameter`, and the
/// compiler's constraints on `runtime` and `file_upload`.
fn names(check: &mut Check<'_, '_, '_>, config: &Record<'_>) {
    match (config.field("developer_name"), config.field("agent_name")) {
        (None, None) => {
            let at = check.root.field("config").map_or(config.span, |f| f.key);
            check.missing(
                config,
                "developer_name",
                at,
                "`config` has no `developer_name`",
                "add `developer_name: \"…\"`",
            );
        }
        (Some(one), Some(other)) => {
            let (first, second) =
                if one.span.start < other.span.start { (one, other) } else { (other, one) };
            check.conflict(
                second.key,
                first.key,
                "the agent has two names: `developer_name` and `agent_name`",
                "keep one of them",
            );
        }
        _ => {}
    }
    if let Some(field) = config.field(REFUSED) {
        check.invalid(field.key, "the platform rejects this parameter", "remove it");
    }
    if let Some(field) = config.field("runtime")
        && let Value::Record(runtime) = &field.value
        && runtime.fields.is_empty()
    {
        check.invalid(field.key, "`runtime` is empty", "add a setting below it, or remove it");
    }
    if let Some(field) = config.field("file_upload")
        && let Value::Record(upload) = &field.value
        && upload.field("mode").is_none()
    {
        check.missing(
            upload,
            "mode",
            field.key,
            "`file_upload` has no `mode`",
            "add `mode: \"auto\"`, `\"managed\"`, `\"disabled\"` or `\"error\"`",
        );
    }
}

/// `agent-type-not-allowed`: an unknown type that resembles a known one.
fn agent_type(check: &mut Check<'_, '_, '_>) {
    let Some((kind, span)) = check.agent_type() else { return };
    let known = [EMPLOYEE, SERVICE];
    if !known.contains(&kind.as_str())
        && let Some(near) = closest(&kind, known)
    {
        check.report(
            Diagnostic::error(rules::INVALID_VALUE, span, format!("unknown agent type `{kind}`"))
                .help(format!("did you mean `{near}`?"))
                .replace(format!("\"{near}\""), agentir_diagnostics::Applicability::Unsafe),
        );
    }
}

/// `config-missing-default-agent-user`, `config-invalid-default-agent-user-none`,
/// `config-default-agent-user-conflict`.
fn user(check: &mut Check<'_, '_, '_>) {
    let root = check.root;
    let of = |block: &str| root.record(block).and_then(|r| r.field("default_agent_user"));
    let (old, new) = (of("config"), of("access"));
    let kind = check.agent_type();
    if let (Some((kind, span)), None, None) = (&kind, old, new)
        && kind == SERVICE
    {
        let block = root.record("access").or_else(|| root.record("config")).unwrap_or(root);
        check.missing(
            block,
            "default_agent_user",
            *span,
            "an agent of this type requires a `default_agent_user`",
            "add `access:` with `default_agent_user: \"…\"` below it",
        );
    }
    for field in [old, new].into_iter().flatten() {
        if matches!(field.value, Value::Nothing)
            && let Some((kind, _)) = kind.as_ref().filter(|(k, _)| k != EMPLOYEE)
        {
            check.invalid(
                field.key,
                format!("the `default_agent_user` of an agent of type `{kind}` cannot be empty"),
                "write the name of a user",
            );
        }
    }
    if let (Some(old), Some(new)) = (old, new) {
        check.report(
            Diagnostic::warning(
                rules::CONFLICTING_FIELDS,
                old.key,
                "the `default_agent_user` in `config` is ignored",
            )
            .label(new.key, "this one is used")
            .help("remove it from `config`"),
        );
    }
}

/// `recommended-prompts-agent-type`, and the compiler's limits.
fn prompts(check: &mut Check<'_, '_, '_>) {
    let Some(field) = check.root.record("system").and_then(|s| s.field("recommended_prompts"))
    else {
        return;
    };
    if let Some((kind, _)) = check.agent_type().filter(|(k, _)| k != EMPLOYEE) {
        check.not_for(field, &kind);
    }
    let Value::Record(prompts) = &field.value else { return };
    let Some(starters) = prompts.field("starter_prompts") else { return };
    let Value::List(all) = &starters.value else { return };
    if !PROMPTS.contains(&all.len()) {
        check.invalid(
            starters.key,
            format!("expected 3 to 20 `starter_prompts`, found {}", all.len()),
            "",
        );
    }
    for prompt in all {
        if let ExprKind::Literal(Literal::String(text)) = &prompt.kind
            && !PROMPT_LENGTH.contains(&text.chars().count())
        {
            check.invalid(
                prompt.span,
                format!(
                    "a starter prompt must have 1 to 50 characters, found {}",
                    text.chars().count()
                ),
                "",
            );
        }
    }
    if prompts.bool("welcome_screen") != Some(true) {
        check.error(
            rules::CONFLICTING_FIELDS,
            starters.key,
            "`starter_prompts` are only shown on the welcome screen",
            "add `welcome_screen: True`",
        );
    }
}

/// The compiler's check of `model`.
pub(super) fn model_address(check: &mut Check<'_, '_, '_>, config: &Record<'_>) {
    if let Some((text, span)) = config.field("model").and_then(constant) {
        check.address(&text, span, "a model");
    }
}

/// `voice-version-mixing`, `voice-language-not-declared`.
fn modality(check: &mut Check<'_, '_, '_>, voice: &Record<'_>) {
    let first = |names: &[&str]| voice.fields.iter().find(|f| names.contains(&f.def.name));
    if let (Some(old), Some(new)) = (first(VOICE_1), first(VOICE_2)) {
        check.conflict(
            old.key,
            new.key,
            format!(
                "`{}` is from the older form of `modality`, but `{}` is from the newer one",
                old.def.name, new.def.name
            ),
            "use only one form",
        );
    }
    let Some(Value::Data(Data::Map(languages))) = voice.field("languages").map(|f| &f.value) else {
        return;
    };
    let Some(language) = check.root.record("language") else {
        check.report(
            Diagnostic::warning(
                rules::MISSING_FIELD,
                head(voice),
                "voices are set per language, but the document declares no languages",
            )
            .help("add `language:` with `default_locale` and `additional_locales` below it"),
        );
        return;
    };
    if language.bool("all_additional_locales") == Some(true) {
        return;
    }
    let said = |name: &str| language.field(name).and_then(constant).map(|(text, _)| text);
    let declared = format!(
        "{},{}",
        said("default_locale").unwrap_or_default(),
        said("additional_locales").unwrap_or_default()
    );
    for entry in languages {
        let Some(key) = &entry.key else { continue };
        if !declared.split(',').any(|l| l.trim() == key.value) {
            check.invalid(
                key.span,
                format!("the language `{key}` is not declared"),
                "add it to `additional_locales` in `language`",
            );
        }
    }
}
