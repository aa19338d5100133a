//! What is shown of a conversation, in the order in which it happens.

use super::spinner::Spinner;
use super::style::Style;
use super::terminal::Terminal;
use super::trace::{self, TraceFile};
use agentir::SourceMap;
use agentir_runtime::{
    AgentMessage, Cancellation, Event, EventKind, FailureKind, Observer, ToolFailure,
};
use agentir_secrets::Masker;
use serde_json::Value as Json;
use std::collections::BTreeSet;
use std::io::{Write, stdout};

/// Shows messages, traces and what is going on. Through a pipe, messages are plain lines.
pub struct Screen<'s> {
    sources: &'s SourceMap,
    terminal: Terminal,
    style: Style,
    spinner: Spinner,
    cancellation: Cancellation,
    /// Whether a person reads it in a terminal.
    interactive: bool,
    /// Whether each step is shown.
    pub trace: bool,
    file: Option<TraceFile>,
    /// The agent of the last event.
    agent: String,
    /// What was streamed and is not known as a message yet.
    streamed: Option<String>,
    /// Whether the cursor is behind a text that was streamed.
    in_line: bool,
    /// The events of the turn, if they are kept: what is sensitive in them may be known only at its end.
    events: Vec<Event>,
    /// The sensitive values of the conversation.
    sensitive: BTreeSet<String>,
    /// The tools that were called in the turn.
    calls: Vec<String>,
    /// The errors of the turn that are not of tools, with what is said about them.
    errors: Vec<(String, String)>,
    /// The ids of what could be chosen last.
    offered: BTreeSet<String>,
    /// The messages that are shown when the turn is written, if that is waited for.
    held: Option<Vec<AgentMessage>>,
    /// What is going on.
    doing: String,
    /// The calls that were refused, as was said about them once.
    refused: BTreeSet<String>,
}

/// What is going on when nothing else is known.
const THINKING: &str = "thinking";

impl<'s> Screen<'s> {
    pub fn new(
        sources: &'s SourceMap,
        masker: Masker,
        interactive: bool,
        spinner: Spinner,
        cancellation: Cancellation,
    ) -> Self {
        Self {
            sources,
            terminal: Terminal::new(masker),
            style: Style::of_stdout(),
            spinner,
            cancellation,
            interactive,
            trace: false,
            file: None,
            agent: String::new(),
            streamed: None,
            in_line: false,
            events: Vec::new(),
            sensitive: BTreeSet::new(),
            calls: Vec::new(),
            errors: Vec::new(),
            offered: BTreeSet::new(),
            held: None,
            doing: THINKING.to_owned(),
            refused: BTreeSet::new(),
        }
    }

    /// Shows messages at the end of a turn only, when it is written: what was shown is never lost.
    pub fn hold(&mut self) {
        self.held = Some(Vec::new());
    }

    /// Writes each step to a file as well.
    pub fn trace_file(&mut self, file: TraceFile) {
        self.file = Some(file);
    }

    /// Forgets the messages of a turn that cannot be written.
    pub fn drop_held(&mut self) {
        if let Some(held) = &mut self.held {
            held.clear();
        }
    }

    pub const fn style(&self) -> Style {
        self.style
    }

    /// What masks secrets here.
    pub const fn masker(&self) -> &Masker {
        self.terminal.masker()
    }

    /// A text as it may be shown.
    pub fn shown(&self, text: &str) -> String {
        self.terminal.shown(text)
    }

    /// The steps of the last turn.
    pub fn steps(&self) -> Vec<String> {
        let masked = self.events.iter().map(|event| self.masked(event.clone()));
        masked.map(|event| self.shown(&trace::line(&event))).collect()
    }

    /// An event without the sensitive values that are known by now.
    fn masked(&self, mut event: Event) -> Event {
        event.kind.mask(&self.sensitive);
        event
    }

    /// The tools that were called in the last turn.
    pub fn calls(&self) -> &[String] {
        &self.calls
    }

    /// Whether a button or a menu of this id was shown since the last message.
    pub fn offers(&self, id: &str) -> bool {
        self.offered.contains(id)
    }

    /// Begins a turn.
    pub fn begin(&mut self) {
        self.events.clear();
        self.calls.clear();
        self.errors.clear();
        self.offered.clear();
        self.working();
    }

    /// Ends a turn. `error` is said elsewhere.
    pub fn end(&mut self, error: Option<&str>) -> Result<(), String> {
        self.spinner.clear();
        for message in self.held.as_mut().map(std::mem::take).unwrap_or_default() {
            self.show_message(&message);
        }
        self.end_stream();
        self.streamed = None;
        self.end_line();
        for (message, said) in std::mem::take(&mut self.errors) {
            if !self.trace && Some(message.as_str()) != error {
                tell!("{}", self.masker().mask(&said));
            }
        }
        if let Some(mut file) = self.file.take() {
            let events = self.events.iter().map(|event| self.masked(event.clone()));
            let written = file.write(events, self.masker());
            self.file = Some(file);
            written.map_err(|e| {
                format!("the trace cannot be written: {e}\nnote: it ends before this turn")
            })?;
        }
        stdout().flush().map_err(|e| e.to_string())
    }

    /// Prints a line of the conversation.
    pub fn say(&mut self, text: &str) -> Result<(), String> {
        self.end_line();
        self.terminal.say(text)
    }

    /// Prints a line of the program.
    pub fn aside(&mut self, text: &str) {
        self.end_line();
        let lines = self.shown(text);
        for line in lines.lines() {
            let _ = writeln!(stdout().lock(), "{}", self.style.aside(line));
        }
    }

    /// Prints a message of somebody.
    pub fn speak(&mut self, who: &str, text: &str) {
        self.end_line();
        let prefix = self.prefix(who);
        let text = self.shown(text);
        let _ = writeln!(stdout().lock(), "{prefix}{text}");
    }

    fn prefix(&self, who: &str) -> String {
        if !self.interactive || who.is_empty() {
            return String::new();
        }
        format!("{} ", self.style.speaker(&format!("{}:", self.shown(who))))
    }

    fn working(&mut self) {
        THINKING.clone_into(&mut self.doing);
        self.show_doing();
    }

    /// Says what is going on, unless a text is being written.
    fn show_doing(&self) {
        if !self.in_line {
            self.spinner.show(&self.doing);
        }
    }

    /// Forgets the errors of a turn that was given up, because giving up is one.
    pub fn cancel(&mut self) {
        self.errors.clear();
    }

    /// The text that is streamed has ended; whether it is a message is still to be seen.
    fn end_stream(&mut self) {
        if self.in_line && self.streamed.is_none() {
            self.streamed = Some(self.terminal.finish());
        }
    }

    fn end_line(&mut self) {
        self.spinner.clear();
        if std::mem::take(&mut self.in_line) {
            let _ = writeln!(stdout().lock());
        }
    }

    fn show_message(&mut self, message: &AgentMessage) {
        self.end_stream();
        let streamed = self.streamed.take();
        // What was shown while it was written is not shown again.
        if streamed.is_some_and(|streamed| streamed.trim() == message.words().trim()) {
            self.end_line();
        } else if !message.words().trim().is_empty() || message.actions.is_none() {
            self.speak(&message.agent, message.words());
        }
        if let Some(actions) = &message.actions {
            self.show_actions(actions);
        }
        let _ = stdout().flush();
    }

    /// Shows what can be chosen with a message.
    fn show_actions(&mut self, actions: &Json) {
        let elements = actions.get("elements").and_then(Json::as_array);
        for element in elements.into_iter().flatten() {
            let text = |of: &Json, name: &str| match of.get(name) {
                Some(Json::String(text)) => Some(text.clone()),
                Some(Json::Number(number)) => Some(number.to_string()),
                _ => None,
            };
            let Some(id) = text(element, "id") else { continue };
            self.offered.insert(id.clone());
            let label = text(element, "label").unwrap_or_else(|| id.clone());
            let options = element.get("options").and_then(Json::as_array);
            let hint = text(element, "placeholder").or_else(|| text(element, "input_type"));
            let mut lines = Vec::new();
            match (options, text(element, "type").as_deref()) {
                (Some(options), _) => {
                    lines.push(format!("  {label}"));
                    for option in options {
                        let value = text(option, "id")
                            .or_else(|| text(option, "value"))
                            .or_else(|| option.as_str().map(str::to_owned))
                            .unwrap_or_default();
                        let label = text(option, "label").unwrap_or_else(|| value.clone());
                        lines.push(format!("    [!{id} {value}] {label}"));
                    }
                }
                (None, Some("input")) => {
                    let hint = hint.map(|hint| format!(" ({hint})")).unwrap_or_default();
                    lines.push(format!("  [!{id} …] {label}{hint}"));
                }
                (None, _) => lines.push(format!("  [!{id}] {label}")),
            }
            for line in lines {
                let line = self.shown(&line);
                let _ = writeln!(stdout().lock(), "{}", self.style.choice(&line));
            }
        }
    }
}

impl Observer for Screen<'_> {
    fn event(&mut self, event: &Event) {
        self.agent.clone_from(&event.agent);
        self.end_stream();
        let placed = trace::placed(event, self.sources);
        if self.trace {
            self.end_line();
            tell!("{}", self.shown(&trace::line(&placed)));
        }
        if self.interactive || self.file.is_some() {
            self.events.push(placed);
        }
        match &event.kind {
            EventKind::Call { tool, .. } => {
                self.calls.push(tool.clone());
                self.end_line();
                self.doing = format!("calling {}", self.shown(tool).replace('\n', " "));
                self.show_doing();
            }
            EventKind::Error { kind, message } if !is_of_tool(kind) => {
                // What refuses because it is broken has to be repaired.
                let said = match kind.as_str() {
                    "check_error" => format!("error: {}: {message}", event.agent),
                    _ => format!("note: {kind}: {message}"),
                };
                self.errors.push((message.clone(), said));
            }
            EventKind::TurnEnd { .. } => {}
            _ if self.in_line => {}
            _ => self.working(),
        }
    }

    fn sensitive(&mut self, value: &str) {
        self.sensitive.insert(value.to_owned());
    }

    fn partial(&mut self, text: &str) {
        // What turns out to be cut is no answer, and a pipe takes nothing back: it gets whole messages.
        if self.held.is_some() || !self.interactive {
            return;
        }
        self.spinner.clear();
        if self.streamed.take().is_some() {
            self.end_line();
        }
        if !self.in_line {
            let prefix = self.prefix(&self.agent.clone());
            let _ = write!(stdout().lock(), "{prefix}");
            self.in_line = true;
        }
        self.terminal.stream(text);
    }

    fn message(&mut self, message: &AgentMessage) {
        match &mut self.held {
            Some(held) => held.push(message.clone()),
            None => {
                self.show_message(message);
                // A message that is shown before a call or a request is no sign of life for long.
                self.show_doing();
            }
        }
    }

    fn call_failed(&mut self, failure: &ToolFailure) {
        let why = failure.explanation();
        if failure.kind == FailureKind::Refused {
            // How to allow a call is said once, with a stub for the first one.
            let about = why.lines().next().unwrap_or_default().to_owned();
            if !self.refused.insert(about) {
                return;
            }
        } else if self.trace || self.cancellation.is_cancelled() {
            // A trace has it already.
            return;
        }
        self.end_stream();
        self.end_line();
        tell!("note: {}", self.masker().mask(why));
    }

    fn waits(&mut self, milliseconds: u64, left: u64) {
        let seconds = milliseconds.div_ceil(1_000);
        let note = if milliseconds > left {
            format!(
                "does not try again: the wait of {seconds} s before it (`RETRY_DELAY`) is longer than what is left of \
                 the time limit of calls"
            )
        } else if milliseconds >= 1_000 {
            format!("waits {seconds} s before it tries again, as the agent says (`RETRY_DELAY`)")
        } else {
            // Nobody notices less.
            return;
        };
        self.end_stream();
        self.end_line();
        tell!("note: {note}");
        self.show_doing();
    }

    fn is_cancelled(&self) -> bool {
        self.cancellation.is_cancelled()
    }
}

/// Whether an error is the failure of a call, which is told with the call.
fn is_of_tool(kind: &str) -> bool {
    matches!(kind, "tool_error" | "tool_timeout" | "api_error")
}
