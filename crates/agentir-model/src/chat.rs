//! Conversion of model tasks into chat completion requests.

use crate::fields::schema_of;
use agentir_runtime::{Candidate, FieldSpec, FieldType, Message, ModelTask, Role, ToolSpec};
use serde_json::{Map, Value as Json, json};
use std::collections::HashSet;

/// The maximum length of a function name (OpenAI, "Function calling").
const MAX_NAME_CHARS: usize = 64;

/// A chat completion request in OpenAI's format.
#[derive(Clone, Debug, PartialEq)]
pub struct Chat {
    /// `messages`.
    pub messages: Vec<Json>,
    /// `tools`.
    pub tools: Vec<Json>,
    /// The JSON Schema for the answer; `None` for free text.
    pub form: Option<Json>,
    /// The name of each tool as sent, and its original name: services allow fewer characters.
    pub names: Vec<(String, String)>,
    /// Whether the last message is about the current state, so that more can be added to it.
    ends_in_state: bool,
}

impl Chat {
    /// The chat for a task. It begins with what is the same in many requests, and ends with what changes from request to
    /// request, because services cache the beginning.
    #[must_use]
    pub fn of(task: &ModelTask) -> Self {
        match task {
            // The prompts include the other parts of the task.
            ModelTask::Converse { system, situation, messages, tools, .. } => {
                converse(system, situation, messages, tools)
            }
            ModelTask::Summarize { before, messages } => summarize(before, messages),
            question => questions(std::slice::from_ref(question)),
        }
    }

    /// Appends text to the system message, unless the message already ends with it.
    pub(crate) fn instruct(&mut self, words: &str) {
        let system = self.messages.first_mut().and_then(|message| message.get_mut("content"));
        if let Some(Json::String(system)) = system
            && !system.ends_with(words)
        {
            system.push_str("\n\n");
            system.push_str(words);
        }
    }

    /// Appends text that changes from request to request, such as the time.
    pub(crate) fn append(&mut self, words: &str) {
        let last = self.messages.last_mut().filter(|_| self.ends_in_state);
        match last.and_then(|last| last.get_mut("content")) {
            Some(Json::String(text)) => {
                text.push_str("\n\n");
                text.push_str(words);
            }
            _ => self.messages.push(json!({"role": "system", "content": words})),
        }
    }

    fn text(system: &str, user: &str) -> Self {
        let messages = vec![
            json!({"role": "system", "content": system}),
            json!({"role": "user", "content": user}),
        ];
        let (tools, names) = (Vec::new(), Vec::new());
        Self { messages, tools, form: None, names, ends_in_state: true }
    }

    fn with_schema(system: &str, user: &str, form: Json) -> Self {
        Self { form: Some(form), ..Self::text(system, user) }
    }
}

fn converse(system: &str, situation: &str, history: &[Message], tools: &[ToolSpec]) -> Chat {
    let names = wire_names(tools);
    let mut messages = vec![json!({"role": "system", "content": system})];
    messages.extend(conversation(history, &names));
    let ends_in_state = !situation.trim().is_empty();
    if ends_in_state {
        let text = format!("At the moment:\n{}", situation.trim_end());
        messages.push(json!({"role": "system", "content": text}));
    }
    let tools = tools.iter().zip(&names).map(|(tool, (wire, _))| tool_json(tool, wire)).collect();
    Chat { messages, tools, form: None, names, ends_in_state }
}

fn summarize(before: &str, messages: &[Message]) -> Chat {
    let system = "You summarise the beginning of a conversation for the agent that continues it. Keep what the user \
                  wants, every value that was given or found (names, numbers, dates, codes), what was decided and what \
                  is still open. Leave out courtesies. Do not add anything. At most 200 words, in the language of the \
                  conversation.";
    let before =
        if before.is_empty() { String::new() } else { format!("What came before:\n{before}\n\n") };
    Chat::text(system, &format!("{before}The conversation:\n{}", transcript(messages)))
}

/// Unique tool names that consist of allowed characters.
fn wire_names(tools: &[ToolSpec]) -> Vec<(String, String)> {
    let mut taken = HashSet::new();
    let mut names = Vec::new();
    for tool in tools {
        let plain = sanitized_name(&tool.name);
        let mut wire = plain.clone();
        let mut number = 2;
        while !taken.insert(wire.clone()) {
            let end = format!("_{number}");
            wire = plain.chars().take(MAX_NAME_CHARS - end.len()).chain(end.chars()).collect();
            number += 1;
        }
        names.push((wire, tool.name.clone()));
    }
    names
}

fn sanitized_name(name: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '_' || c == '-' { c } else { '_' };
    let name: String = name.chars().take(MAX_NAME_CHARS).map(plain).collect();
    if name.is_empty() { "_".to_owned() } else { name }
}

fn tool_json(tool: &ToolSpec, wire: &str) -> Json {
    let mut properties = Map::new();
    let mut required = Vec::new();
    for parameter in &tool.parameters {
        properties.insert(parameter.name.clone(), Json::Object(schema_of(parameter)));
        if parameter.required {
            required.push(Json::String(parameter.name.clone()));
        }
    }
    let parameters = json!({"type": "object", "properties": properties, "required": required});
    json!({
        "type": "function",
        "function": {"name": wire, "description": tool.description, "parameters": parameters},
    })
}

/// The messages so far. Services reject calls without results and results without calls, which
/// occur in truncated conversations; those are converted to plain text.
fn conversation(history: &[Message], names: &[(String, String)]) -> Vec<Json> {
    let answered: HashSet<&str> = history.iter().filter_map(|m| m.tool_use_id.as_deref()).collect();
    let mut made: HashSet<&str> = HashSet::new();
    let mut messages = Vec::new();
    for message in history {
        let call = message.tool_use_id.as_deref().filter(|id| made.contains(id));
        match (message.role, call) {
            (Role::Tool, Some(id)) => messages.push(json!({
                "role": "tool", "tool_call_id": id, "content": message.text,
            })),
            (Role::Tool, None) => messages.push(json!({
                "role": "system", "content": format!("A tool answered: {}", message.text),
            })),
            (Role::Assistant, _) => {
                let calls = message.calls.iter().filter(|c| answered.contains(c.id.as_str()));
                let calls: Vec<Json> = calls
                    .map(|call| {
                        made.insert(&call.id);
                        let wire = names.iter().find(|(_, own)| *own == call.name);
                        let name =
                            wire.map_or_else(|| sanitized_name(&call.name), |(w, _)| w.clone());
                        let arguments = Json::Object(call.arguments.clone()).to_string();
                        json!({
                            "id": call.id, "type": "function",
                            "function": {"name": name, "arguments": arguments},
                        })
                    })
                    .collect();
                if calls.is_empty() {
                    if !message.text.is_empty() {
                        messages.push(json!({"role": "assistant", "content": message.text}));
                    }
                } else {
                    messages.push(json!({
                        "role": "assistant", "content": message.text, "tool_calls": calls,
                    }));
                }
            }
            (Role::System, _) => messages.push(json!({"role": "system", "content": message.text})),
            (Role::User, _) => messages.push(json!({"role": "user", "content": message.text})),
        }
    }
    messages
}

/// A question about a message, as part of a request.
struct Part {
    /// What is asked, the same for all messages.
    system: String,
    /// What is asked about this message.
    now: String,
    /// The schema of the answer.
    schema: Json,
    /// The name of the schema, if this is the only question.
    name: &'static str,
    strict: bool,
}

/// The name of the answer to a question among several.
pub(crate) fn part_name(index: usize) -> String {
    format!("answer_{}", index + 1)
}

/// The chat for questions about a message; if there are several, with one answer that has a part for each.
fn questions(tasks: &[ModelTask]) -> Chat {
    let tasks = match tasks {
        [ModelTask::Several { questions }] => questions.as_slice(),
        other => other,
    };
    let mut parts: Vec<Part> = tasks.iter().filter_map(part).collect();
    // The texts that the questions are about, each with the conversation before it, once.
    let mut about: Vec<(&str, &str, &[Message])> = Vec::new();
    for task in tasks {
        if let Some(text) = text_of(task)
            && about.iter().all(|(_, known, _)| *known != text.1)
        {
            about.push(text);
        }
    }
    let before = about.iter().map(|(_, _, before)| *before).max_by_key(|before| before.len());
    let mut user = String::new();
    if let Some(before) = before.filter(|before| !before.is_empty()) {
        user.push_str(&format!("The conversation before:\n{}\n\n", transcript(before)));
    }
    let texts: Vec<String> =
        about.iter().map(|(what, text, _)| format!("{what}:\n{text}")).collect();
    user.push_str(&texts.join("\n\n"));
    if let [Part { system, now, schema, name, strict }] = parts.as_mut_slice() {
        if !now.is_empty() {
            user.push_str(&format!("\n\n{now}"));
        }
        return Chat::with_schema(system, &user, json_schema(name, *strict, schema.take()));
    }
    let mut system =
        "Answer each of these questions about what the user says. They are independent.".to_owned();
    let mut properties = Map::new();
    for (index, part) in parts.iter_mut().enumerate() {
        let name = part_name(index);
        system.push_str(&format!("\n\n# {name}\n{}", part.system));
        if !part.now.is_empty() {
            user.push_str(&format!("\n\n{name}: {}", part.now));
        }
        properties.insert(name, part.schema.take());
    }
    let required: Vec<&String> = properties.keys().collect();
    let schema = json!({
        "type": "object", "required": required, "properties": properties,
        "additionalProperties": false,
    });
    let strict = parts.iter().all(|part| part.strict);
    Chat::with_schema(&system, &user, json_schema("answers", strict, schema))
}

/// What a question is about: what it is, the text, the conversation before it.
fn text_of(task: &ModelTask) -> Option<(&'static str, &str, &[Message])> {
    match task {
        ModelTask::Extract { message, context, .. }
        | ModelTask::Choose { message, context, .. } => Some(("The user says", message, context)),
        ModelTask::Judge { text, context, .. } => Some(("The text", text, context)),
        _ => None,
    }
}

fn part(task: &ModelTask) -> Option<Part> {
    match task {
        ModelTask::Extract { fields, asked, known, .. } => {
            Some(extract(fields, asked.as_deref(), known))
        }
        ModelTask::Choose { purpose, candidates, several, .. } => {
            Some(choose(purpose, candidates, *several))
        }
        ModelTask::Judge { statement, in_doubt, .. } => Some(judge(statement, *in_doubt)),
        _ => None,
    }
}

fn extract(fields: &[FieldSpec], asked: Option<&str>, known: &Map<String, Json>) -> Part {
    let system = "You read values out of what a user says. Give a value only if the user says it, now or in answer to \
                  a question before; give null for every other field. Never guess and never give an example. Give a \
                  value as the user says it even if it breaks a rule of its field, because it is checked afterwards."
        .to_owned();
    let mut now: Vec<String> = Vec::new();
    if let Some(asked) = asked {
        now.push(format!("The user was just asked for `{asked}`."));
    }
    if !known.is_empty() {
        let known = Json::Object(known.clone());
        now.push(format!("Known so far; give these again only if the user changes them: {known}"));
    }
    let mut properties = Map::new();
    for field in fields {
        let schema = Json::Object(schema_of(field));
        properties.insert(field.name.clone(), json!({"anyOf": [schema, {"type": "null"}]}));
    }
    let required: Vec<&String> = properties.keys().collect();
    let schema = json!({
        "type": "object", "required": required, "properties": properties,
        "additionalProperties": false,
    });
    // The fields of an object are not known, which strict schemas cannot express.
    let strict = !fields.iter().any(|field| field.ty == FieldType::Object);
    Part { system, now: now.join("\n"), schema, name: "values", strict }
}

fn choose(purpose: &str, candidates: &[Candidate], several: bool) -> Part {
    let mut system = format!(
        "{purpose}\n\nSay which of these {} meant, with how sure you are (0 to 1), the surest \
         first. Give an empty list if none is.\n",
        if several { "are" } else { "one is" }
    );
    for candidate in candidates {
        system.push_str(&format!("\n- {}", candidate.name));
        if !candidate.description.is_empty() {
            system.push_str(&format!(": {}", candidate.description));
        }
        let examples: Vec<&str> = candidate
            .examples
            .iter()
            .map(String::as_str)
            .filter(|example| !candidate.description.contains(example))
            .collect();
        if !examples.is_empty() {
            system.push_str(&format!(" (as in: {})", examples.join(" / ")));
        }
        if !candidate.keywords.is_empty() {
            system.push_str(&format!(" (words: {})", candidate.keywords.join(", ")));
        }
    }
    let listed: Vec<&str> = candidates.iter().map(|c| c.name.as_str()).collect();
    let choice = json!({
        "type": "object", "required": ["name", "confidence"], "additionalProperties": false,
        "properties": {
            "name": {"type": "string", "enum": listed},
            "confidence": {"type": "number"},
        },
    });
    let schema = json!({
        "type": "object", "required": ["choices"], "additionalProperties": false,
        "properties": {"choices": {"type": "array", "items": choice}},
    });
    Part { system, now: String::new(), schema, name: "choice", strict: true }
}

fn judge(statement: &str, in_doubt: bool) -> Part {
    let doubt = if in_doubt { "It holds" } else { "It does not hold" };
    let system =
        format!("Say whether this holds for the text: {statement}\n{doubt} if you are not sure.");
    let schema = json!({
        "type": "object", "required": ["holds"], "additionalProperties": false,
        "properties": {"holds": {"type": "boolean"}},
    });
    Part { system, now: String::new(), schema, name: "verdict", strict: true }
}

/// The `json_schema` of a `response_format`.
fn json_schema(name: &str, strict: bool, schema: Json) -> Json {
    json!({"name": name, "strict": strict, "schema": schema})
}

/// A conversation as plain text.
fn transcript(messages: &[Message]) -> String {
    let line = |message: &Message| {
        let who = match message.role {
            Role::System => "system",
            Role::User => "user",
            Role::Assistant => "assistant",
            Role::Tool => "tool",
        };
        format!("{who}: {}", message.text)
    };
    messages.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// The requested JSON form of an [`agentir_runtime::Answer::Choice`].
pub(crate) fn choice_json(chosen: &[(String, f64)]) -> Json {
    let one = |(name, confidence): &(String, f64)| json!({"name": name, "confidence": confidence});
    json!({"choices": chosen.iter().map(one).collect::<Vec<_>>()})
}

/// The requested JSON form of an [`agentir_runtime::Answer::Verdict`].
pub(crate) fn verdict_json(holds: bool) -> Json {
    json!({"holds": holds})
}
