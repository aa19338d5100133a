//! Builders for requests.

#![allow(dead_code, reason = "each test uses some of it")]

use agentir_model::Offline;
use agentir_runtime::{
    Answer, Candidate, FieldSpec, FieldType, Message, Model, ModelError, ModelRequest,
    ModelResponse, ModelSettings, ModelTask, Purpose, Role, ToolSpec, ToolUse,
};
use indexmap::IndexMap;
use serde_json::{Map, Value as Json, json};

/// The date is a Wednesday.
pub fn offline() -> Offline {
    Offline::at("2026-11-18T10:00:00[UTC]".parse().unwrap())
}

pub fn request(task: ModelTask) -> ModelRequest {
    ModelRequest {
        agent: "Desk".to_owned(),
        step: None,
        settings: ModelSettings { timeout_ms: 10_000, ..ModelSettings::default() },
        task,
    }
}

/// A field, written `name: type`, or `name: type = value, value / synonym`.
pub fn field(text: &str) -> FieldSpec {
    let (head, values) = text.split_once('=').unwrap_or((text, ""));
    let (name, ty) = head.split_once(':').unwrap_or((head, "text"));
    let ty: FieldType = serde_json::from_value(Json::from(ty.trim())).unwrap();
    let values: IndexMap<String, Vec<String>> = values
        .split(',')
        .filter(|v| !v.trim().is_empty())
        .map(|value| {
            let mut words = value.split('/').map(|w| w.trim().to_owned());
            (words.next().unwrap(), words.collect())
        })
        .collect();
    FieldSpec {
        name: name.trim().to_owned(),
        ty,
        description: String::new(),
        prompt: None,
        values,
        pattern: None,
        format: None,
        rule: None,
        hints: Vec::new(),
        required: true,
    }
}

pub fn fields(list: &[&str]) -> Vec<FieldSpec> {
    list.iter().map(|text| field(text)).collect()
}

pub fn extract(message: &str, fields: Vec<FieldSpec>, asked: Option<&str>) -> ModelRequest {
    let asked = asked.map(str::to_owned);
    request(ModelTask::Extract {
        message: message.to_owned(),
        context: Vec::new(),
        fields,
        asked,
        known: Map::new(),
    })
}

/// A candidate, written `name: description | example | example`.
pub fn candidate(text: &str) -> Candidate {
    let mut parts = text.split('|').map(str::trim);
    let head = parts.next().unwrap();
    let (name, description) = head.split_once(':').unwrap_or((head, ""));
    Candidate {
        name: name.trim().to_owned(),
        description: description.trim().to_owned(),
        examples: parts.map(str::to_owned).collect(),
        keywords: Vec::new(),
    }
}

pub fn choose(message: &str, candidates: Vec<Candidate>, several: bool) -> ModelRequest {
    request(ModelTask::Choose {
        purpose: "Which is meant?".to_owned(),
        message: message.to_owned(),
        context: Vec::new(),
        candidates,
        several,
    })
}

pub fn judge(statement: &str, text: &str) -> ModelRequest {
    request(ModelTask::Judge {
        statement: statement.to_owned(),
        text: text.to_owned(),
        context: Vec::new(),
        in_doubt: false,
    })
}

pub fn tool(purpose: Purpose, name: &str, description: &str, parameters: &[&str]) -> ToolSpec {
    ToolSpec { parameters: fields(parameters), ..ToolSpec::new(name, description, purpose) }
}

pub fn converse(
    messages: Vec<Message>,
    tools: Vec<ToolSpec>,
    missing: Vec<FieldSpec>,
    known: Json,
) -> ModelRequest {
    let Json::Object(known) = known else { panic!("what is known is an object") };
    let system = "Goal: Help people to find books. Be kind.".to_owned();
    request(ModelTask::Converse {
        system,
        situation: String::new(),
        instructions: Vec::new(),
        messages,
        tools,
        missing,
        optional: Vec::new(),
        known,
        agents: Vec::new(),
        closing: None,
    })
}

pub fn user(text: &str) -> Message {
    Message::new(Role::User, text)
}

pub fn assistant(text: &str) -> Message {
    Message::new(Role::Assistant, text)
}

/// A tool call and its result.
pub fn called(name: &str, arguments: Json, result: Json) -> [Message; 2] {
    let Json::Object(arguments) = arguments else { panic!("arguments are an object") };
    let mut call = assistant("");
    call.calls.push(ToolUse { id: "call_7".to_owned(), name: name.to_owned(), arguments });
    let mut answer = Message::new(Role::Tool, result.to_string());
    answer.tool_use_id = Some("call_7".to_owned());
    [call, answer]
}

pub fn respond(model: &mut dyn Model, request: &ModelRequest) -> Result<ModelResponse, ModelError> {
    model.respond(request, &mut |_| {})
}

pub fn values(model: &mut dyn Model, request: &ModelRequest) -> Map<String, Json> {
    match respond(model, request).unwrap().answer {
        Answer::Values(values) => values,
        other => panic!("{other:?}"),
    }
}

pub fn said(request: &ModelRequest) -> String {
    match respond(&mut offline(), request).unwrap().answer {
        Answer::Message { text, calls } => {
            let calls = calls.iter().map(|c| format!("{}({})", c.name, json!(c.arguments)));
            let all = std::iter::once(text).chain(calls).filter(|part| !part.is_empty());
            all.collect::<Vec<_>>().join("\n")
        }
        other => panic!("{other:?}"),
    }
}

/// Whether a statement holds about an answer to a question.
pub fn verdict(statement: &str, question: &str, text: &str) -> bool {
    let mut request = judge(statement, text);
    if let ModelTask::Judge { context, .. } = &mut request.task {
        context.push(assistant(question));
    }
    respond(&mut offline(), &request).unwrap().answer == Answer::Verdict(true)
}

/// A request with instructions of the author.
pub fn instructed(mut request: ModelRequest, instructions: &[&str]) -> ModelRequest {
    if let ModelTask::Converse { instructions: own, .. } = &mut request.task {
        *own = instructions.iter().map(|text| (*text).to_owned()).collect();
    }
    request
}

/// A conversation with an agent that has instructions and no fields: the answers to the messages, in order.
pub fn follow(instructions: &[&str], tools: &[ToolSpec], said_by_user: &[&str]) -> Vec<String> {
    let mut messages = Vec::new();
    let mut answers = Vec::new();
    for text in said_by_user {
        messages.push(user(text));
        let request = converse(messages.clone(), tools.to_vec(), Vec::new(), json!({}));
        let answer = said(&instructed(request, instructions));
        messages.push(assistant(&answer));
        answers.push(answer);
    }
    answers
}
