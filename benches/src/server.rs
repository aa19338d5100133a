//! Keystrokes in the language server: from the notification of a change to the findings that are published for it.

use crate::generate;
use crate::keystroke::Times;
use crate::sizes;
use cpu_time::ProcessTime;
use lsp_server::{Connection, Message, Notification, Request};
use serde_json::{Value, json};
use std::error::Error;
use std::fs;
use std::io::BufReader;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// The sizes of the files.
const SIZES: [(&str, usize); 3] = [("7 KB", 7_000), ("60 KB", 60_000), ("200 KB", 200_000)];

/// From this size on what reading finds is published first.
const LARGE: usize = 60_000;

/// Longer than any answer takes.
const LIMIT: Duration = Duration::from_secs(60);

/// A file.
#[derive(Debug)]
pub struct Case {
    /// Its language and its size.
    pub name: String,
    /// Its text.
    pub text: String,
    uri: &'static str,
    /// How lines with an expression are known: they contain this.
    expression: &'static str,
}

/// Everything that is measured.
#[must_use]
pub fn cases() -> Vec<Case> {
    let of_size = |size: usize, of_lines: &dyn Fn(usize) -> String| {
        let texts = (1..).map(|step| of_lines(step * size / 1_000));
        texts.take(100).find(|text| text.len() >= size).unwrap_or_default()
    };
    let abl = SIZES.iter().map(|(name, size)| Case {
        name: format!("ABL, {name}"),
        text: of_size(*size, &sizes::file_of_lines),
        uri: "untitled:typed.agent.abl",
        expression: " IF: ",
    });
    let script = SIZES.iter().map(|(name, size)| Case {
        name: format!("Agent Script, {name}"),
        text: of_size(*size, &|lines| generate::script_of(lines, 1)),
        uri: "untitled:typed.agent",
        expression: "available when ",
    });
    abl.chain(script).collect()
}

/// The time of each keystroke until something was published, and until all findings were.
#[derive(Debug, Default)]
pub struct Stages {
    /// Until the first findings: those of reading, if the file is large.
    pub first: Times,
    /// Until all findings.
    pub all: Times,
}

/// Types: a character into an expression, and removes it again, at lines all over the file.
///
/// # Errors
/// If the server is silent, or there is nothing to edit.
pub fn replay(case: &Case, keystrokes: usize) -> Result<Stages, Box<dyn Error>> {
    let (client, theirs) = Connection::memory();
    let server = thread::spawn(move || agentir_lsp::serve(&theirs));
    let notify = |method: &str, params: Value| {
        let sent = client.sender.send(Notification { method: method.to_owned(), params }.into());
        sent.map_err(|_| "the server ended")
    };
    let capabilities = json!({ "textDocument": { "publishDiagnostics": { "versionSupport": true } },
        "workspace": { "didChangeWatchedFiles": { "dynamicRegistration": true } } });
    let initialize = json!({ "capabilities": capabilities });
    client.sender.send(Request::new(1.into(), "initialize".to_owned(), initialize).into())?;
    notify("initialized", json!({}))?;
    let document = json!({ "uri": case.uri, "languageId": "x", "version": 0, "text": case.text });
    notify("textDocument/didOpen", json!({ "textDocument": document }))?;
    let publications = |version: usize, count: usize| -> Result<(), Box<dyn Error>> {
        let mut left = count;
        while left > 0 {
            if let Message::Notification(told) = client.receiver.recv_timeout(LIMIT)?
                && told.params.get("version").and_then(Value::as_u64) == u64::try_from(version).ok()
            {
                left -= 1;
            }
        }
        Ok(())
    };
    let is_large = case.text.len() > LARGE;
    publications(0, if is_large { 2 } else { 1 })?;
    let lines = case.text.lines().enumerate();
    let lines: Vec<(usize, usize)> = lines
        .filter(|(_, line)| line.contains(case.expression))
        .filter_map(|(at, line)| Some((at, line.rfind(|c: char| c.is_ascii_alphanumeric())? + 1)))
        .collect();
    let mut stages = Stages::default();
    for keystroke in 0..keystrokes {
        let at = keystroke / 2 * 7 % lines.len().max(1);
        let (line, character) = *lines.get(at).ok_or("there is nothing to edit")?;
        let at = |character: usize| json!({ "line": line, "character": character });
        let change = match keystroke % 2 {
            0 => json!({ "range": { "start": at(character), "end": at(character) }, "text": "1" }),
            _ => {
                json!({ "range": { "start": at(character), "end": at(character + 1) }, "text": "" })
            }
        };
        let document = json!({ "uri": case.uri, "version": keystroke + 1 });
        let params = json!({ "textDocument": document, "contentChanges": [change] });
        let (clock, processor) = (Instant::now(), ProcessTime::now());
        notify("textDocument/didChange", params)?;
        publications(keystroke + 1, 1)?;
        stages.first.processor.push(processor.elapsed());
        stages.first.clock.push(clock.elapsed());
        if is_large {
            publications(keystroke + 1, 1)?;
        }
        stages.all.processor.push(processor.elapsed());
        stages.all.clock.push(clock.elapsed());
    }
    client.sender.send(Request::new(2.into(), "shutdown".to_owned(), Value::Null).into())?;
    notify("exit", Value::Null)?;
    server.join().map_err(|_| "the server ended")?;
    Ok(stages)
}

/// The memory of a server in KB, as it is and at its peak, after it was asked for the findings of all files of a folder.
/// Only Linux says it.
///
/// # Errors
/// If the server does not start or does not answer.
pub fn memory(program: &Path, folder: &Path) -> Result<(u64, u64), Box<dyn Error>> {
    let mut child =
        Command::new(program).arg("lsp").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    let mut input = child.stdin.take().ok_or("no input")?;
    let mut output = BufReader::new(child.stdout.take().ok_or("no output")?);
    let mut ask = |id: i32, method: &str, params: Value| -> Result<(), Box<dyn Error>> {
        Message::from(Request::new(id.into(), method.to_owned(), params)).write(&mut input)?;
        loop {
            match Message::read(&mut output)?.ok_or("the server ended")? {
                Message::Response(answer) if answer.id == id.into() => return Ok(()),
                _ => {}
            }
        }
    };
    let capabilities = json!({ "textDocument": { "diagnostic": {} } });
    let folders = json!([{ "uri": format!("file://{}", folder.display()), "name": "all" }]);
    let initialize = json!({ "capabilities": capabilities, "workspaceFolders": folders });
    let told = ask(1, "initialize", initialize)
        .and_then(|()| ask(2, "workspace/diagnostic", json!({ "previousResultIds": [] })));
    let status = fs::read_to_string(format!("/proc/{}/status", child.id()));
    child.kill()?;
    child.wait()?;
    told?;
    let status = status?;
    let of = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name));
        line.and_then(|rest| rest.split_whitespace().next()?.parse().ok()).ok_or("no such line")
    };
    Ok((of("VmRSS:")?, of("VmHWM:")?))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests end by panicking")]
mod tests {
    use super::{SIZES, cases, replay};

    #[test]
    fn cases_are_as_large_as_they_are_said_to_be() {
        let cases = cases();
        for (case, (_, size)) in cases.iter().zip(SIZES.iter().cycle()) {
            assert!(
                (*size..size + size / 4).contains(&case.text.len()),
                "{}: {}",
                case.name,
                case.text.len()
            );
        }
        assert_eq!(replay(&cases[0], 4).unwrap().all.clock.len(), 4);
    }
}
