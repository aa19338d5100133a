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
}

impl Chat {
    /// The chat for a task.
    #[must_use]
    pub fn of(task: &ModelTask) -> Self {
        match task {
            // The system prompt already includes missing fields and known values.
            ModelTask::Converse { system, messages, tools, missing: _, known: _ } => {
                converse(system, messages, tools)
            }
            ModelTask::Extract { message, context, fields, asked } => {
                extract(message, context, fields, asked.as_deref())
            }
            ModelTask::Choose { purpose, message, context, candidates, several } => {
                choose(purpose, message, context, candidates, *several)
            }
            ModelTask::Judge { statement, text, context } => judge(statement, text, context),
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

    fn text(system: &str, user: &str) -> Self {
        let messages = vec![
            json!({"role": "system", "content": system}),
            json!({"role": "user", "content": user}),
        ];
        Self { messages, tools: Vec::new(), form: None, names: Vec::new() }
    }

    fn with_schema(system: &str, user: &str, form: Json) -> Self {
        Self { form: Some(form), ..Self::text(system, user) }
    }
}

fn converse(system: &str, history: &[Message], tools: &[ToolSpec]) -> Chat {
    let names = wire_names(tools);
    let mut messages = vec![json!({"role": "system", "content": system})];
    messages.extend(conversation(history, &names));
    let tools = tools.iter().zip(&names).map(|(tool, (wire, _))| tool_json(tool, wire)).collect();
    Chat { messages, tools, form: None, names }
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

fn extract(message: &str, before: &[Message], fields: &[FieldSpec], asked: Option<&str>) -> Chat {
    let mut system = "You read values out of what a user says. Give a value only if the user says \
                      it; give null for every other field. Never guess and never give an example."
        .to_owned();
    if let Some(asked) = asked {
        system.push_str(&format!(" The user was just asked for `{asked}`."));
    }
    let mut properties = Map::new();
    for field in fields {
        let schema = Json::Object(schema_of(field));
        properties.insert(field.name.clone(), json!({"anyOf": [schema, {"type": "null"}]}));
    }
    let required: Vec<&String> = properties.keys().collect();
    let form = json!({
        "type": "object", "required": required, "properties": properties,
        "additionalProperties": false,
    });
    // The fields of an object are not known, which strict schemas cannot express.
    let strict = !fields.iter().any(|field| field.ty == FieldType::Object);
    Chat::with_schema(
        &system,
        &with_context(before, "The user says", message),
        json_schema("values", strict, form),
    )
}

fn choose(
    purpose: &str,
    message: &str,
    before: &[Message],
    candidates: &[Candidate],
    several: bool,
) -> Chat {
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
        if !candidate.examples.is_empty() {
            system.push_str(&format!(" (as in: {})", candidate.examples.join(" / ")));
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
    let form = json!({
        "type": "object", "required": ["choices"], "additionalProperties": false,
        "properties": {"choices": {"type": "array", "items": choice}},
    });
    Chat::with_schema(
        &system,
        &with_context(before, "The user says", message),
        json_schema("choice", true, form),
    )
}

fn judge(statement: &str, text: &str, before: &[Message]) -> Chat {
    let system = format!(
        "Say whether this holds for the text below: {statement}\nIt does not hold if you are not \
         sure."
    );
    let form = json!({
        "type": "object", "required": ["holds"], "additionalProperties": false,
        "properties": {"holds": {"type": "boolean"}},
    });
    Chat::with_schema(
        &system,
        &with_context(before, "The text", text),
        json_schema("verdict", true, form),
    )
}

/// The `json_schema` of a `response_format`.
fn json_schema(name: &str, strict: bool, schema: Json) -> Json {
    json!({"name": name, "strict": strict, "schema": schema})
}

/// A text with the preceding conversation.
fn with_context(before: &[Message], what: &str, text: &str) -> String {
    if before.is_empty() {
        return format!("{what}:\n{text}");
    }
    format!("The conversation before:\n{}\n\n{what}:\n{text}", transcript(before))
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
