//! Traces: for people, and in files.

use crate::output::mask_value;
use agentir::SourceMap;
use agentir_diagnostics::escape_json;
use agentir_runtime::{Event, EventKind};
use agentir_secrets::Masker;
use std::fs::File;
use std::io::{BufWriter, Write};

/// Where a place is written.
pub fn placed(event: &Event, sources: &SourceMap) -> Event {
    let mut event = event.clone();
    if let EventKind::Node { location, span, .. } = &mut event.kind
        && let Some(file) = sources.get(span.file)
    {
        let at = file.line_column(span.start);
        *location = Some(format!("{}:{}:{}", file.name, at.line, at.column));
    }
    event
}

/// Writes an event as a line of JSON. That it cannot be written is said at the end of the turn.
pub fn write(event: &Event, file: &mut BufWriter<File>, masker: &Masker) {
    if let Ok(mut value) = serde_json::to_value(event) {
        mask_value(&mut value, masker);
        let _ = writeln!(file, "{}", escape_json(&value.to_string()));
    }
}

/// An event for people.
pub fn line(event: &Event) -> String {
    let who = match &event.step {
        Some(step) => format!("{}/{step}", event.agent),
        None => event.agent.clone(),
    };
    let what = match &event.kind {
        EventKind::Input { text } => format!("user: {text}"),
        EventKind::Node { node, kind, why, location, .. } => format!(
            "{kind} #{node}{}{}",
            why.map(|w| format!(" ({w})")).unwrap_or_default(),
            location.as_ref().map(|p| format!(" at {p}")).unwrap_or_default()
        ),
        EventKind::Condition { condition, holds, decided_by } => {
            format!("  {condition} = {holds} ({decided_by})")
        }
        EventKind::Set { variable, value } => format!("  {variable} = {value}"),
        EventKind::Clear { variable } => format!("  {variable} cleared"),
        EventKind::Call { tool, arguments } => {
            format!("  calls {tool} {}", serde_json::Value::Object(arguments.clone()))
        }
        EventKind::Result { tool, result, error } => match (result, error) {
            (_, Some(error)) => format!("  {tool} failed: {error}"),
            (Some(result), None) => format!("  {tool} returned {result}"),
            (None, None) => format!("  {tool} returned nothing"),
        },
        EventKind::Model { task, answer, usage } => format!(
            "  model, {task}: {answer} ({} + {} tokens)",
            usage.input_tokens, usage.output_tokens
        ),
        EventKind::Say { text } => format!("  says: {text}"),
        EventKind::Log { value } => format!("  log: {value}"),
        EventKind::Violation { rule, action } => format!("  violated: {rule} ({action})"),
        EventKind::Error { kind, message } => format!("  {kind}: {message}"),
        EventKind::Transfer { how, from, to } => format!("  {how}: {from} -> {to}"),
        EventKind::Attempt { by, taken: true } => format!("  the answer of {by} is used"),
        EventKind::Attempt { by, taken: false } => format!("  the answer of {by} is discarded"),
        EventKind::Escalated { reason } => {
            format!(
                "  escalated to a human agent{}",
                reason.as_ref().map(|r| format!(": {r}")).unwrap_or_default()
            )
        }
        EventKind::Remember { path, value } => format!("  remembers {path} = {value}"),
        EventKind::TurnEnd { status } => format!("  end of turn: {status}"),
    };
    format!("{:>3} {who}: {what}", event.turn)
}
