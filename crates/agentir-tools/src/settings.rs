//! Numbers in the declaration of a tool, which settings may stand for: `timeout: "{{config.TIMEOUT}}"`.

use crate::environment::{EnvVars, Secrets};
use agentir_ir::{Data, NumberOrText, Tool};
use agentir_runtime::ToolCall;
use serde_json::Value as Json;
use std::time::Duration;

/// Fills the settings of a text.
pub(crate) type Setting<'s> = &'s dyn Fn(&str) -> Result<String, String>;

/// A number or a setting that stands for one, as text.
pub(crate) fn setting_text(written: &Data, setting: Setting<'_>) -> Result<String, String> {
    match written {
        Json::String(text) => setting(text),
        other => Ok(crate::template::value_text(other)),
    }
}

/// Milliseconds, or a number with its unit: `15s`.
pub(crate) fn duration(
    written: &Data,
    field: &str,
    setting: Setting<'_>,
) -> Result<Duration, String> {
    const UNITS: &[(&str, f64)] =
        &[("ms", 1.0), ("s", 1000.0), ("m", 60_000.0), ("h", 3_600_000.0)];
    let text = setting_text(written, setting)?;
    let text = text.trim();
    let split = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
    let (number, unit) = text.split_at(split);
    let unit = if unit.is_empty() { "ms" } else { unit };
    let factor = UNITS.iter().find(|(name, _)| *name == unit).map(|(_, factor)| factor);
    let ms = factor.and_then(|factor| Some(number.trim().parse::<f64>().ok()? * factor));
    let ms = ms
        .filter(|ms| ms.is_finite() && (0.0..=crate::MAX_TIMEOUT.as_millis() as f64).contains(ms));
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked above")]
    ms.map(|ms| Duration::from_millis(ms as u64)).ok_or_else(|| {
        format!("its `{field}` needs milliseconds, or a number with `s`, `m` or `h`")
    })
}

/// How long a call may take, in milliseconds, whatever kind of tool it is: as long as the tool's own
/// `timeout` says, or else its hint (`hints.timeout`), or else the agent.
///
/// # Errors
/// In words: what the tool says is no time.
pub(crate) fn time_limit(
    tool: Option<&Tool>,
    call: &ToolCall<'_>,
    env: &EnvVars,
) -> Result<u64, String> {
    let setting =
        |text: &str| env.fill(text, &mut Secrets::default()).map_err(|error| error.to_string());
    let binding = tool.and_then(|tool| tool.binding.as_ref());
    let hint = tool.and_then(|tool| tool.hints.timeout.as_ref()).map(|hint| match hint {
        NumberOrText::Number(number) => Json::from(number.0),
        NumberOrText::Text(text) => Json::from(text.as_str()),
    });
    let own = binding.and_then(|binding| binding.0.get("timeout"));
    match own.or(hint.as_ref()) {
        Some(written) => {
            let limit = duration(written, "timeout", &setting)?;
            Ok(u64::try_from(limit.as_millis()).unwrap_or(u64::MAX).max(1))
        }
        None => Ok(call.timeout_ms),
    }
}
