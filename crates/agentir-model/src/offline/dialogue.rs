//! A heuristic dialogue policy: do what the user asks for, ask for missing fields, report tool
//! results, or else explain what the agent is for.

use super::choose::choose;
use super::extract::extract;
use super::words::{name_words, yes_or_no};
use super::{Offline, sentence};
use agentir_runtime::{Answer, Candidate, FieldSpec, Message, Purpose, Role, ToolSpec, ToolUse};
use serde_json::{Map, Value as Json};

/// The number of fields that a sentence about a result mentions.
const MAX_SHOWN_FIELDS: usize = 6;

/// The number of list items that a sentence about a result mentions.
const MAX_SHOWN_ITEMS: usize = 3;

/// The confidence required to hand over, escalate or complete.
const MIN_LEAVE_CONFIDENCE: f64 = 0.55;

/// The input of [`agentir_runtime::ModelTask::Converse`].
pub(super) struct ConverseInput<'r> {
    pub system: &'r str,
    pub messages: &'r [Message],
    pub tools: &'r [ToolSpec],
    pub missing: &'r [FieldSpec],
    pub known: &'r Map<String, Json>,
}

impl ConverseInput<'_> {
    pub(super) fn answer(&self, offline: &Offline) -> Answer {
        let user = self.messages.iter().rposition(|m| m.role == Role::User);
        let said = user.and_then(|at| self.messages.get(at)).map_or("", |m| m.text.as_str());
        let since = self.messages.get(user.map_or(0, |at| at + 1)..).unwrap_or_default();
        let call = |tool: &ToolSpec, arguments| {
            let id = format!("call_{}", offline.calls);
            let calls = vec![ToolUse { id, name: tool.name.clone(), arguments }];
            Answer::Message { text: String::new(), calls }
        };
        let say = |text: String| Answer::Message { text, calls: Vec::new() };
        let called = |tool: &ToolSpec| {
            since.iter().flat_map(|m| &m.calls).any(|call| call.name == tool.name)
        };
        let open: Vec<&ToolSpec> = self.tools.iter().filter(|tool| !called(tool)).collect();

        // A request for another agent or a person takes precedence over missing fields.
        let leaving = self
            .best_tool(said, &open, |purpose| !matches!(purpose, Purpose::Call | Purpose::Collect));
        let acting = self.best_tool(said, &open, |purpose| purpose == Purpose::Call);
        if let Some((tool, sure)) = leaving
            && sure >= MIN_LEAVE_CONFIDENCE
            && acting.is_none_or(|(_, other)| sure > other)
            && let Some(arguments) = self.arguments(offline, tool, said)
        {
            return call(tool, arguments);
        }
        // Report the result of a tool.
        if let Some(result) = since.iter().rev().find(|m| m.role == Role::Tool) {
            return say(describe_result(&result.text));
        }
        // Extract the fields that tools collect.
        for tool in open.iter().filter(|t| t.purpose == Purpose::Collect) {
            let asked = self.missing.first().map(|field| field.name.as_str());
            let values = extract(offline, said, &tool.parameters, asked);
            let new = values.iter().any(|(name, value)| self.known.get(name) != Some(value));
            if new {
                return call(tool, values);
            }
        }
        if let Some(field) = self.missing.first() {
            return say(question(field));
        }
        // All fields are known: call the tool that matches the message, or else the only one whose
        // parameters are all known.
        let ready = |tool: &ToolSpec| self.arguments(offline, tool, said);
        if let Some((tool, _)) = acting {
            if let Some(arguments) = ready(tool) {
                return call(tool, arguments);
            }
            let lacking =
                tool.parameters.iter().find(|p| p.required && !self.known.contains_key(&p.name));
            if let Some(field) = lacking {
                return say(question(field));
            }
        }
        let mut all =
            open.iter().filter(|t| t.purpose == Purpose::Call && !t.parameters.is_empty());
        let given = |tool: &ToolSpec| {
            let mut required = tool.parameters.iter().filter(|p| p.required).peekable();
            required.peek().is_some() && required.all(|p| self.known.contains_key(&p.name))
        };
        let before = |tool: &ToolSpec| {
            self.messages.iter().flat_map(|m| &m.calls).any(|call| call.name == tool.name)
        };
        if let Some(tool) = all.find(|tool| given(tool) && !before(tool))
            && let Some(arguments) = ready(tool)
        {
            return call(tool, arguments);
        }
        // "No" to the question whether there is anything else completes the agent.
        let done = open.iter().find(|t| t.purpose == Purpose::Complete);
        if let Some(tool) = done
            && yes_or_no(said) == Some(false)
            && let Some(arguments) = ready(tool)
        {
            return call(tool, arguments);
        }
        if let Some((tool, _)) = leaving
            && let Some(arguments) = ready(tool)
        {
            return call(tool, arguments);
        }
        say(self.fallback())
    }

    /// The tool of given purposes that matches the message best.
    fn best_tool<'t>(
        &self,
        said: &str,
        open: &[&'t ToolSpec],
        purpose: impl Fn(Purpose) -> bool,
    ) -> Option<(&'t ToolSpec, f64)> {
        // All tools are compared, so that words that all of them share have little weight.
        let all: Vec<Candidate> = self
            .tools
            .iter()
            .map(|tool| Candidate {
                name: tool.name.clone(),
                description: tool.description.clone(),
                examples: Vec::new(),
                keywords: Vec::new(),
            })
            .collect();
        choose(said, &all, true).into_iter().find_map(|(name, sure)| {
            let tool = open.iter().find(|tool| tool.name == name && purpose(tool.purpose))?;
            Some((*tool, sure))
        })
    }

    /// The arguments of a tool: known values, or values from the last message. `None` if a required
    /// one is missing.
    fn arguments(
        &self,
        offline: &Offline,
        tool: &ToolSpec,
        said: &str,
    ) -> Option<Map<String, Json>> {
        let is_known =
            |field: &FieldSpec| self.known.get(&field.name).is_some_and(|v| !v.is_null());
        let unknown: Vec<FieldSpec> =
            tool.parameters.iter().filter(|p| !is_known(p)).cloned().collect();
        let new =
            if unknown.is_empty() { Map::new() } else { extract(offline, said, &unknown, None) };
        let mut arguments = Map::new();
        for parameter in &tool.parameters {
            let value = self.known.get(&parameter.name).filter(|v| !v.is_null());
            match value.or_else(|| new.get(&parameter.name)) {
                Some(value) => {
                    arguments.insert(parameter.name.clone(), value.clone());
                }
                None if parameter.required => return None,
                None => {}
            }
        }
        Some(arguments)
    }

    /// The answer if nothing else applies; mentions the agent's goal if it is known.
    fn fallback(&self) -> String {
        let lines = self.system.lines();
        let goal = lines.filter_map(|line| line.trim().strip_prefix("Goal:")).find_map(|goal| {
            let goal = sentence(goal.trim());
            (!goal.is_empty()).then_some(goal)
        });
        match goal {
            Some(goal) => {
                format!(
                    "I'm sorry, I can't help with that. What I am here for: {}",
                    goal.trim_end_matches('.')
                ) + "."
            }
            None => "I'm sorry, I can't help with that.".to_owned(),
        }
    }
}

/// The question for a field.
fn question(field: &FieldSpec) -> String {
    if let Some(prompt) = field.prompt.as_ref().filter(|p| !p.trim().is_empty()) {
        return prompt.clone();
    }
    let what =
        if field.description.is_empty() { spoken(&field.name) } else { field.description.clone() };
    format!("Please tell me: {}.", what.trim_end_matches('.'))
}

/// A name as words.
fn spoken(name: &str) -> String {
    let words: Vec<String> = name_words(name).into_iter().map(|w| w.text).collect();
    if words.is_empty() { name.to_owned() } else { words.join(" ") }
}

/// A sentence about a tool result. Text fields meant for people are used as they are.
fn describe_result(result: &str) -> String {
    match serde_json::from_str::<Json>(result) {
        Ok(Json::Object(fields)) => {
            let words = ["message", "text", "answer", "summary"];
            let written = words.iter().find_map(|name| fields.get(*name)?.as_str());
            match written.filter(|text| !text.trim().is_empty()) {
                Some(text) => text.to_owned(),
                None if fields.is_empty() => "Done.".to_owned(),
                None => {
                    format!("Here is what I found: {}.", describe_value(&Json::Object(fields), 0))
                }
            }
        }
        Ok(Json::Array(items)) if items.is_empty() => "I found nothing.".to_owned(),
        Ok(Json::Null) => "Done.".to_owned(),
        Ok(Json::String(text)) => text,
        Ok(other) => format!("Here is what I found: {}.", describe_value(&other, 0)),
        Err(_) if result.trim().is_empty() => "Done.".to_owned(),
        Err(_) => result.to_owned(),
    }
}

/// Recursive, limited to three levels; deeper values are omitted.
fn describe_value(value: &Json, depth: u8) -> String {
    match value {
        Json::Null => "nothing".to_owned(),
        Json::Bool(true) => "yes".to_owned(),
        Json::Bool(false) => "no".to_owned(),
        Json::Number(number) => number.to_string(),
        Json::String(text) => sentence(text).trim_end_matches('.').to_owned(),
        Json::Array(_) | Json::Object(_) if depth > 2 => "…".to_owned(),
        Json::Array(items) => {
            let shown_items =
                items.iter().take(MAX_SHOWN_ITEMS).map(|item| describe_value(item, depth + 1));
            let mut list = shown_items.collect::<Vec<_>>().join("; ");
            if items.len() > MAX_SHOWN_ITEMS {
                list.push_str(&format!("; and {} more", items.len() - MAX_SHOWN_ITEMS));
            }
            if items.is_empty() { "none".to_owned() } else { list }
        }
        Json::Object(fields) => {
            let shown = fields.iter().filter(|(_, value)| !value.is_null()).take(MAX_SHOWN_FIELDS);
            let fields = shown.map(|(name, value)| {
                format!("{} {}", spoken(name), describe_value(value, depth + 1))
            });
            fields.collect::<Vec<_>>().join(", ")
        }
    }
}
