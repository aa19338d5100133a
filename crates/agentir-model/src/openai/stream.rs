//! Answers that come piece by piece, as server-sent events.

use super::answer::{Answered, Call, usage};
use super::transport::Failed;
use serde_json::Value as Json;
use std::io::{BufRead, BufReader, Read};

/// How long a line may be, in bytes, and how many calls an answer may make.
const MAX: (u64, usize) = (1 << 20, 128);

/// Reads an answer, and gives away what is said as soon as it comes.
pub(super) fn read(reader: impl Read, partial: &mut dyn FnMut(&str)) -> Result<Answered, Failed> {
    let mut lines = BufReader::new(reader);
    let mut answered = Answered::default();
    let mut finished = false;
    let mut data = String::new();
    loop {
        let mut line = Vec::new();
        let size = (&mut lines).take(MAX.0).read_until(b'\n', &mut line).map_err(Failed::Io)?;
        if size as u64 == MAX.0 {
            return Err(Failed::Malformed("a line of the stream is too long".to_owned()));
        }
        let line = String::from_utf8_lossy(&line);
        let line = line.trim_end_matches(['\r', '\n']);
        // An event is over at an empty line, and at the end.
        if line.is_empty() {
            match data.trim() {
                "" => {}
                "[DONE]" => return Ok(answered),
                event => finished |= piece(event, &mut answered, partial)?,
            }
            data.clear();
            if size == 0 {
                break;
            }
        } else if let Some(text) = line.strip_prefix("data:") {
            if !data.is_empty() {
                data.push('\n');
            }
            data.push_str(text.strip_prefix(' ').unwrap_or(text));
        }
    }
    if finished { Ok(answered) } else { Err(Failed::Cut) }
}

/// Adds a piece to an answer. Says whether it is the last one of the text.
fn piece(
    event: &str,
    answered: &mut Answered,
    partial: &mut dyn FnMut(&str),
) -> Result<bool, Failed> {
    let json: Json = serde_json::from_str(event).map_err(|error| {
        Failed::Malformed(format!("an event of the stream is no JSON: {error}"))
    })?;
    if let Some(error) = json.get("error").filter(|e| !e.is_null()) {
        let words = error.get("message").and_then(Json::as_str).unwrap_or("it gives no reason");
        return Err(Failed::Service(format!("the service failed while it answered: {words}")));
    }
    if let Some(used) = usage(&json) {
        answered.usage = Some(used);
    }
    // The last event may hold nothing but the cost.
    let Some(choice) = json.pointer("/choices/0") else { return Ok(false) };
    if let Some(delta) = choice.get("delta") {
        for name in ["content", "refusal"] {
            if let Some(text) = delta.get(name).and_then(Json::as_str).filter(|t| !t.is_empty()) {
                answered.text.push_str(text);
                partial(text);
            }
        }
        let calls = delta.get("tool_calls").and_then(Json::as_array);
        for (place, call) in calls.into_iter().flatten().enumerate() {
            let index = call.get("index").and_then(Json::as_u64);
            let index = index.and_then(|i| usize::try_from(i).ok()).unwrap_or(place);
            if index >= MAX.1 {
                return Err(Failed::Malformed("the answer makes too many calls".to_owned()));
            }
            while answered.calls.len() <= index {
                answered.calls.push(Call::default());
            }
            if let Some(known) = answered.calls.get_mut(index) {
                known.add(call);
            }
        }
    }
    if choice.get("finish_reason").and_then(Json::as_str) == Some("length") {
        answered.cut = true;
    }
    Ok(choice.get("finish_reason").is_some_and(|reason| !reason.is_null()))
}
