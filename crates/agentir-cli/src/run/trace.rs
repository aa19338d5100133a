//! Traces: for people, and in files.

use crate::output::mask_value;
use crate::write::{Private, private};
use agentir::SourceMap;
use agentir_diagnostics::escape_json;
use agentir_runtime::{Event, EventKind};
use agentir_secrets::Masker;
use std::fs::File;
use std::io::{self, Seek, SeekFrom, Write};
use std::path::Path;

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
    /// The number of bytes of whole turns, if nothing else is in the file.
    length: Option<u64>,
}

impl TraceFile {
    pub fn create(path: &Path) -> Result<Self, String> {
        let Private { file, is_empty } = private(path)?;
        Ok(Self { file, length: is_empty.then_some(0) })
    }

    /// Writes the events of a turn, each as a line of JSON: all of them or, where they cannot be written, none. Where
    /// others write to the file as well, nothing is taken back: it may be theirs.
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
        let alone = |length: &u64| self.file.metadata().is_ok_and(|there| there.len() == *length);
        self.length = self.length.filter(alone);
        let written = self.file.write_all(text.as_bytes());
        match (&mut self.length, &written) {
            (Some(length), Ok(())) => *length += text.len() as u64,
            (Some(length), Err(_)) => {
                let _ = self.file.set_len(*length);
                let _ = self.file.seek(SeekFrom::Start(*length));
            }
            (None, _) => {}
        }
        written
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
        EventKind::Reuse { tool, arguments } => format!(
            "  uses the result that it has of {tool} {}",
            serde_json::Value::Object(arguments.clone())
        ),
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
