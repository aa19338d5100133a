//! Agents that run elsewhere, asked by HTTP: with a body of our own (`protocol: rest`, or none), or as
//! the Agent2Agent protocol has it (`protocol: a2a`, its method `message/send`).
//!
//! The documents say how such an agent is declared, not what is sent to it. `rest` sends the arguments
//! that the runtime gives, `{message, context, history, conversation}`, and takes its
//! `{says, result, done, conversation}` back.

use agentir_diagnostics::Spanned;
use agentir_expr::Name;
use agentir_ir::{Binding, Data, Remote, Tool, ToolType};
use agentir_runtime::{FailureKind, ToolFailure};
use serde_json::{Map, Value as Json, json};
use uuid::Uuid;

/// The agent as a tool that is called by HTTP; none if nothing says where it is.
pub(crate) fn http_tool(name: &str, remote: &Remote) -> Option<Tool> {
    let endpoint = remote.endpoint.as_ref().filter(|at| at.value.contains("://"))?;
    let mut binding = Map::new();
    binding.insert("endpoint".to_owned(), Data::from(endpoint.value.as_str()));
    binding.insert("method".to_owned(), Data::from("POST"));
    match &remote.auth {
        // `auth_header: "Bearer {{token}}"`
        Some(Data::String(header)) => {
            binding.insert("headers".to_owned(), json!({ "Authorization": header }));
        }
        Some(auth) => {
            binding.insert("auth".to_owned(), auth.clone());
        }
        None => {}
    }
    Some(Tool {
        tool_type: Some(ToolType::Http),
        binding: Some(Binding(binding)),
        ..Tool::new(Spanned::new(Name::new(name), endpoint.span))
    })
}

fn is_a2a(remote: &Remote) -> bool {
    remote.protocol == Some("a2a")
}

/// What is sent.
pub(crate) fn request_arguments(
    remote: &Remote,
    mut arguments: Map<String, Json>,
    idempotency_key: &str,
) -> Map<String, Json> {
    if !is_a2a(remote) {
        return arguments;
    }
    let text = arguments.remove("message").unwrap_or_default();
    let conversation = arguments.remove("conversation").unwrap_or_default();
    let mut parts = vec![json!({ "kind": "text", "text": text })];
    if !arguments.is_empty() {
        parts.push(json!({ "kind": "data", "data": arguments }));
    }
    let mut message = Map::new();
    message.insert("kind".to_owned(), json!("message"));
    message.insert("role".to_owned(), json!("user"));
    message.insert("messageId".to_owned(), json!(message_id(idempotency_key)));
    message.insert("parts".to_owned(), Json::from(parts));
    for id in ["contextId", "taskId"] {
        if let Some(known) = conversation.get(id).filter(|known| known.is_string()) {
            message.insert(id.to_owned(), known.clone());
        }
    }
    let mut request = Map::new();
    request.insert("jsonrpc".to_owned(), json!("2.0"));
    request.insert("id".to_owned(), json!(1));
    request.insert("method".to_owned(), json!("message/send"));
    request.insert("params".to_owned(), json!({ "message": message }));
    request
}

/// An agent may drop a message whose id it has seen, so a message that is sent again has the same.
fn message_id(idempotency_key: &str) -> String {
    Uuid::try_parse(idempotency_key).unwrap_or_else(|_| Uuid::new_v4()).to_string()
}

/// What came back, as the runtime takes it.
///
/// # Errors
/// What the agent elsewhere says went wrong, or an answer that is none.
pub(crate) fn parse_answer(name: &str, remote: &Remote, answer: Json) -> Result<Json, ToolFailure> {
    if !is_a2a(remote) {
        return Ok(answer);
    }
    let failed = |why: &str| {
        let message = format!("`{name}` answered, but {why}");
        ToolFailure { data: answer.clone(), ..ToolFailure::new(FailureKind::Error, message) }
    };
    if let Some(error) = answer.get("error") {
        let words = error.get("message").and_then(Json::as_str).unwrap_or("says no reason");
        return Err(failed(&format!("with an error: {words}")));
    }
    let Some(result) = answer.get("result") else {
        return Err(failed("not as the Agent2Agent protocol has it: there is no `result`"));
    };
    let mut reply = A2aReply::default();
    let is_task = result.get("status").is_some();
    let state = result.pointer("/status/state").and_then(Json::as_str).unwrap_or_default();
    if is_task {
        match state {
            "failed" | "rejected" | "canceled" | "unknown" => {
                return Err(failed(&format!("its task is {state}")));
            }
            "submitted" | "working" => {
                return Err(failed("its task goes on, and is not waited for"));
            }
            _ => {}
        }
        reply.parts(result.pointer("/status/message/parts"));
        for artifact in result.get("artifacts").and_then(Json::as_array).into_iter().flatten() {
            reply.parts(artifact.get("parts"));
        }
    } else {
        reply.parts(result.get("parts"));
    }
    // A message without a task is all there is to say.
    let done = !is_task || state == "completed";
    let id = |name: &str| result.get(name).cloned().unwrap_or_default();
    let task = if is_task { id("id") } else { id("taskId") };
    Ok(json!({
        "says": reply.says,
        "result": reply.result,
        "done": done,
        "conversation": { "contextId": id("contextId"), "taskId": task },
    }))
}

/// What messages and artifacts consist of.
#[derive(Default)]
struct A2aReply {
    says: Vec<String>,
    result: Map<String, Json>,
}

impl A2aReply {
    fn parts(&mut self, parts: Option<&Json>) {
        for part in parts.and_then(Json::as_array).into_iter().flatten() {
            if let Some(text) = part.get("text").and_then(Json::as_str) {
                self.says.push(text.to_owned());
            }
            if let Some(Json::Object(data)) = part.get("data") {
                self.result.extend(data.clone());
            }
        }
    }
}
