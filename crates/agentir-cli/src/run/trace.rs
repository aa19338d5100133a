//! Traces: for people, and in files.

use crate::output::mask_value;
use agentir::SourceMap;
use agentir_diagnostics::escape_json;
use agentir_runtime::{Event, EventKind};
use agentir_secrets::Masker;
use std::fs::File;
use std::io::{self, Seek, SeekFrom, Write};

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

/// A file with events, each on a line.
pub struct TraceFile {
    file: File,
    /// The number of bytes of whole turns.
    length: u64,
}

impl TraceFile {
    pub const fn new(file: File) -> Self {
        Self { file, length: 0 }
    }

    /// Writes the events of a turn, each as a line of JSON: all of them or, where they cannot be written, none.
    pub fn write(
        &mut self,
        events: impl Iterator<Item = Event>,
        masker: &Masker,
    ) -> io::Result<()> {
        let mut text = String::new();
        for event in events {
            let mut value = serde_json::to_value(event)?;
            mask_value(&mut value, masker);
            text.push_str(&escape_json(&value.to_string()));
            text.push('\n');
        }
        let written = self.file.write_all(text.as_bytes());
        if written.is_err() {
            // A pipe or a device has no length, and nothing to take back.
            let _ = self.file.set_len(self.length);
            let _ = self.file.seek(SeekFrom::Start(self.length));
            return written;
        }
        self.length += text.len() as u64;
        Ok(())
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
