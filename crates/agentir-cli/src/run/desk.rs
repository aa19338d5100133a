//! Where conversations are handed over to people.

use super::lines::{self, Line};
use super::spinner::Spinner;
use super::style::Style;
use crate::output::shown;
use agentir_runtime::{Escalation, Human, HumanReply};
use agentir_secrets::Masker;
use serde_json::Value as Json;
use std::io::{self, Write};

/// Shows a person what an agent hands over; the person may be at this terminal.
pub struct Desk {
    /// Whether the person answers at this terminal.
    pub attended: bool,
    pub masker: Masker,
    pub style: Style,
    pub spinner: Spinner,
}

impl Desk {
    fn print(&self, text: &str) {
        for line in shown(text, &self.masker).lines() {
            let _ = writeln!(io::stdout().lock(), "{}", self.style.aside(line));
        }
    }
}

/// What a person gets with a conversation, in lines.
fn package(escalation: &Escalation<'_>) -> Vec<String> {
    let mut lines = Vec::new();
    lines.extend(escalation.reason.as_ref().map(|reason| format!("reason: {reason}")));
    lines.extend(escalation.priority.as_ref().map(|priority| format!("priority: {priority}")));
    if !escalation.context.is_empty() {
        lines.push("context:".to_owned());
        for (name, value) in &escalation.context {
            let value = match value {
                Json::String(text) => text.replace('\n', "\n    "),
                other => other.to_string(),
            };
            lines.push(format!("  {name}: {value}"));
        }
    }
    lines
}

impl Human for Desk {
    fn take_over(&mut self, escalation: &Escalation<'_>) -> HumanReply {
        self.spinner.clear();
        self.print(&format!("[{} hands over to a human agent]", escalation.agent));
        for line in package(escalation) {
            self.print(&format!("  {line}"));
        }
        let mut reply = HumanReply::default();
        if !self.attended {
            return reply;
        }
        self.print(
            "[you are the human agent: write what you say; an empty line hands back to the agent, `end` keeps \
             the conversation]",
        );
        let mut input = io::stdin().lock();
        while let Ok(Some(line)) = lines::next(&mut input) {
            let line = match line {
                Line::Text(line) => line,
                Line::Unusable(why) => {
                    tell!("note: this line is not sent: {why}");
                    continue;
                }
            };
            match line.trim() {
                "" => {
                    let outcome = serde_json::json!({ "resolved": true, "handed_back": true });
                    reply.outcome = outcome.as_object().cloned();
                    break;
                }
                "end" => break,
                said => reply.messages.push(said.to_owned()),
            }
        }
        reply
    }
}
