//! Answers of a service, parsed into the types of the runtime.

use super::form;
use crate::chat::{Chat, part_name};
use crate::fields::fits;
use crate::tokens::Tokens;
use agentir_runtime::{Answer, ModelTask, ToolUse, Usage};
use serde_json::{Map, Value as Json};

/// An answer as it came.
#[derive(Clone, Debug, Default)]
pub(super) struct Answered {
    pub text: String,
    /// Why the model does not answer; empty if it does.
    pub refusal: String,
    pub calls: Vec<Call>,
    /// What the service says it cost.
    pub usage: Option<Usage>,
    /// Why it is not complete, if it is not.
    pub cut: Option<Cut>,
}

/// Why the service ended an answer before the model did (`finish_reason`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cut {
    /// It reached the maximum length.
    Length,
    /// The content filter of the service stopped it.
    Filter,
}

impl Cut {
    /// Whether an answer, or the last part of a stream, says that it was cut.
    pub(super) fn of(choice: &Json) -> Option<Self> {
        match choice.get("finish_reason").and_then(Json::as_str)? {
            "length" => Some(Self::Length),
            "content_filter" => Some(Self::Filter),
            _ => None,
        }
    }
}

/// The maximum length of an answer, in bytes of text and arguments of calls.
const MAX_ANSWER: usize = 1 << 20;

/// A call as it came.
#[derive(Clone, Debug, Default)]
pub(super) struct Call {
    id: String,
    name: String,
    /// JSON, if the model follows the instructions.
    arguments: String,
}

impl Call {
    /// Adds what came: all of it, or the next piece.
    pub(super) fn add(&mut self, call: &Json) {
        let text = |pointer| call.pointer(pointer).and_then(Json::as_str).unwrap_or_default();
        if self.id.is_empty() {
            self.id.push_str(text("/id"));
        }
        if self.name.is_empty() {
            self.name.push_str(text("/function/name"));
        }
        match call.pointer("/function/arguments") {
            Some(Json::String(arguments)) => self.arguments.push_str(arguments),
            // Some services send the object itself.
            Some(arguments @ Json::Object(_)) => self.arguments.push_str(&arguments.to_string()),
            _ => {}
        }
    }
}

/// What the service says an answer cost.
pub(super) fn usage(json: &Json) -> Option<Usage> {
    let usage = json.get("usage")?;
    Some(Usage {
        input_tokens: usage.get("prompt_tokens")?.as_u64()?,
        output_tokens: usage.get("completion_tokens")?.as_u64()?,
    })
}

impl Answered {
    /// An answer in one piece.
    pub(super) fn of(json: &Json) -> Result<Self, String> {
        let choice = json.pointer("/choices/0").ok_or("the answer has no `choices`")?;
        let message = choice.get("message").ok_or("the answer has no `message`")?;
        let text = |name| message.get(name).and_then(Json::as_str).unwrap_or_default();
        let calls = message.get("tool_calls").and_then(Json::as_array).into_iter().flatten();
        let calls = calls.map(|call| {
            let mut read = Call::default();
            read.add(call);
            read
        });
        Ok(Self {
            text: text("content").to_owned(),
            refusal: text("refusal").to_owned(),
            calls: calls.collect(),
            usage: usage(json),
            cut: Cut::of(choice),
        })
    }

    /// How many tokens it is, where the service does not say.
    pub(super) fn tokens(&self, tokens: Tokens) -> u64 {
        let calls = self.calls.iter().map(|c| tokens.count(&c.name) + tokens.count(&c.arguments));
        tokens.count(&self.text) + tokens.count(&self.refusal) + calls.sum::<u64>()
    }

    /// Whether it is longer than any model should answer.
    pub(super) fn is_too_long(&self) -> bool {
        let calls = self.calls.iter().map(|call| call.arguments.len()).sum::<usize>();
        self.text.len() + self.refusal.len() + calls > MAX_ANSWER
    }

    /// The text of an invalid answer, which the model is shown to correct it.
    pub(super) fn raw(&self) -> String {
        let calls = self.calls.iter().map(|call| format!("{}({})", call.name, call.arguments));
        let all = std::iter::once(self.text.clone()).chain(calls);
        all.filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n")
    }

    /// Parses the answer to a task.
    ///
    /// # Errors
    /// If it is invalid, with a message that the model is shown, too.
    pub(super) fn read(&self, ask: &ModelTask, chat: &Chat) -> Result<Answer, String> {
        if self.cut.is_some() {
            return Err("it is cut off, because it is too long".to_owned());
        }
        match ask {
            ModelTask::Converse { closing, .. } => self.message(chat, closing.is_some()),
            ModelTask::Summarize { .. } if self.text.trim().is_empty() => {
                Err("it says nothing".to_owned())
            }
            ModelTask::Summarize { .. } => Ok(Answer::Summary(self.text.trim().to_owned())),
            ModelTask::Several { questions } => {
                let answers = self.json()?;
                let parts = form::parts(&answers, questions.len()).map_err(|e| e.to_string())?;
                let read = parts.into_iter().zip(questions).enumerate();
                let read = read.map(|(index, (part, question))| {
                    read_question(question, part)
                        .map_err(|e| format!("`{}`: {e}", part_name(index)))
                });
                Ok(Answer::Several(read.collect::<Result<_, _>>()?))
            }
            question => read_question(question, &self.json()?),
        }
    }

    /// The message and the calls. It may be empty if the agent says something after it anyway.
    fn message(&self, chat: &Chat, may_be_empty: bool) -> Result<Answer, String> {
        let mut calls: Vec<ToolUse> = Vec::new();
        for (index, call) in self.calls.iter().enumerate() {
            let known = chat.names.iter().find(|(wire, _)| *wire == call.name);
            let (_, name) = known.ok_or_else(|| {
                let offered: Vec<&str> = chat.names.iter().map(|(wire, _)| wire.as_str()).collect();
                format!("it calls `{}`; there are only {}", call.name, offered.join(", "))
            })?;
            let arguments = match call.arguments.trim() {
                "" => Map::new(),
                text => serde_json::from_str::<Map<String, Json>>(text).map_err(|error| {
                    format!("the arguments of `{}` are no JSON object: {error}", call.name)
                })?,
            };
            let arguments = arguments.into_iter().filter(|(_, value)| !value.is_null()).collect();
            let id = if call.id.is_empty() { format!("call_{index}") } else { call.id.clone() };
            calls.push(ToolUse { id, name: name.clone(), arguments });
        }
        if calls.is_empty() && self.text.trim().is_empty() && !may_be_empty {
            return Err("it says nothing and calls nothing".to_owned());
        }
        Ok(Answer::Message { text: self.text.clone(), calls })
    }

    /// The answer as JSON.
    fn json(&self) -> Result<Json, String> {
        serde_json::from_str(unfenced(&self.text))
            .map_err(|error| format!("it is not valid JSON: {error}"))
    }
}

/// Reads the answer to a question about a message.
fn read_question(question: &ModelTask, answer: &Json) -> Result<Answer, String> {
    match question {
        ModelTask::Extract { fields, .. } => {
            let values = form::values(answer, fields).map_err(|e| e.to_string())?;
            for field in fields {
                if let Some(value) = values.get(&field.name) {
                    fits(field, value).map_err(|e| e.to_string())?;
                }
            }
            Ok(Answer::Values(values))
        }
        ModelTask::Choose { candidates, several, .. } => {
            let choices = form::choices(answer, candidates).map_err(|e| e.to_string())?;
            let mut chosen: Vec<(String, f64)> = Vec::new();
            for (name, sure) in choices {
                if !chosen.iter().any(|(known, _)| *known == name) {
                    chosen.push((name, sure.clamp(0.0, 1.0)));
                }
            }
            chosen.sort_by(|(_, one), (_, other)| other.total_cmp(one));
            if !several {
                chosen.truncate(1);
            }
            Ok(Answer::Choice(chosen))
        }
        ModelTask::Judge { .. } => {
            form::verdict(answer).map(Answer::Verdict).map_err(|e| e.to_string())
        }
        _ => Err("it is no question about a message".to_owned()),
    }
}

/// A text without the fence that models like to put around code.
fn unfenced(text: &str) -> &str {
    let text = text.trim();
    let Some(inner) = text.strip_prefix("```").and_then(|t| t.strip_suffix("```")) else {
        return text;
    };
    inner.strip_prefix("json").unwrap_or(inner).trim()
}
