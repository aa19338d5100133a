//! Streamed answers, as server-sent events.

use super::answer::{Answered, Call, Cut, usage};
use super::transport::{BodyError, TOO_LONG};
use serde_json::Value as Json;
use std::io::{BufRead, BufReader, Read};

/// The maximum length of a line, in bytes.
const MAX_LINE_BYTES: u64 = 1 << 20;

/// The maximum number of tool calls in an answer.
const MAX_TOOL_CALLS: usize = 128;

/// Reads an answer and passes on its text as it arrives.
pub(super) fn read(
    reader: impl Read,
    partial: &mut dyn FnMut(&str),
) -> Result<Answered, BodyError> {
    let mut lines = BufReader::new(reader);
    let mut answered = Answered::default();
    let mut finished = false;
    let mut data = String::new();
    loop {
        let mut line = Vec::new();
        let size = (&mut lines)
            .take(MAX_LINE_BYTES)
            .read_until(b'\n', &mut line)
            .map_err(BodyError::Io)?;
        if size as u64 == MAX_LINE_BYTES {
            return Err(BodyError::Malformed("a line of the stream is too long".to_owned()));
        }
        let line = String::from_utf8_lossy(&line);
        let line = line.trim_end_matches(['\r', '\n']);
        // An empty line or the end of the stream ends an event.
        if line.is_empty() {
            match data.trim() {
                "" => {}
                "[DONE]" => return Ok(answered),
                event => {
                    finished |= add_event(event, &mut answered, partial)?;
                    if answered.is_too_long() {
                        return Err(BodyError::Malformed(TOO_LONG.to_owned()));
                    }
                }
            }
            data.clear();
            if size == 0 {
                break;
            }
        } else if let Some(text) = line.strip_prefix("data:") {
            if !data.is_empty() {
                data.push('\n');
            }
            if (data.len() + text.len()) as u64 > MAX_LINE_BYTES {
                return Err(BodyError::Malformed("an event of the stream is too long".to_owned()));
            }
            data.push_str(text.strip_prefix(' ').unwrap_or(text));
        }
    }
    if finished { Ok(answered) } else { Err(BodyError::Cut) }
}

/// Adds an event to an answer. Returns whether the text is complete.
fn add_event(
    event: &str,
    answered: &mut Answered,
    partial: &mut dyn FnMut(&str),
) -> Result<bool, BodyError> {
    let json: Json = serde_json::from_str(event).map_err(|error| {
        BodyError::Malformed(format!("an event of the stream is not valid JSON: {error}"))
    })?;
    if let Some(error) = json.get("error").filter(|e| !e.is_null()) {
        let words = error.get("message").and_then(Json::as_str).unwrap_or("no reason given");
        return Err(BodyError::Service(format!("the service failed while answering: {words}")));
    }
    if let Some(used) = usage(&json) {
        answered.usage = Some(used);
    }
    // The last event may contain the usage only.
    let Some(choice) = json.pointer("/choices/0") else { return Ok(false) };
    if let Some(delta) = choice.get("delta") {
        let text = |name| delta.get(name).and_then(Json::as_str).filter(|t| !t.is_empty());
        if let Some(text) = text("content") {
            answered.text.push_str(text);
            partial(text);
        }
        // A refusal is no answer, so it is not shown as one.
        answered.refusal.push_str(text("refusal").unwrap_or_default());
        let calls = delta.get("tool_calls").and_then(Json::as_array);
        for (place, call) in calls.into_iter().flatten().enumerate() {
            let index = call.get("index").and_then(Json::as_u64);
            let index = index.and_then(|i| usize::try_from(i).ok()).unwrap_or(place);
            if index >= MAX_TOOL_CALLS {
                return Err(BodyError::Malformed(
                    "the answer contains too many tool calls".to_owned(),
                ));
            }
            while answered.calls.len() <= index {
                answered.calls.push(Call::default());
            }
            if let Some(known) = answered.calls.get_mut(index) {
                known.add(call);
            }
        }
    }
    answered.cut = answered.cut.or_else(|| Cut::of(choice));
    Ok(choice.get("finish_reason").is_some_and(|reason| !reason.is_null()))
}
