//! Writing generated conversations as a test file.

use super::choices::RecordedCall;
use super::{Conversation, Generated};
use agentir_diagnostics::escape_json;
use agentir_runtime::FailureKind;
use serde_json::{Map, Value as Json, json};
use std::borrow::Cow;

impl Generated {
    /// Writes a test file for the agents at `agents`. Its expectations are the actual behaviour, so
    /// it has to be reviewed before it is kept.
    #[must_use]
    pub fn to_yaml(&self, agents: &str, entry: Option<&str>) -> String {
        let tests: Vec<Json> =
            self.conversations.iter().enumerate().map(|(n, c)| test(n, c)).collect();
        let mut file = Map::new();
        file.insert("agents".to_owned(), json!(agents));
        if let Some(entry) = entry {
            file.insert("entry".to_owned(), json!(entry));
        }
        file.insert("model".to_owned(), json!("scripted"));
        file.insert("tests".to_owned(), Json::Array(tests));
        let file = Json::Object(file);
        // Plain data can always be serialised. JSON is YAML, and can say what a terminal must not receive.
        let json = serde_json::to_string_pretty(&file).unwrap_or_default();
        match escape_json(&json) {
            Cow::Owned(escaped) => escaped + "\n",
            Cow::Borrowed(_) => serde_saphyr::to_string(&file).unwrap_or_default(),
        }
    }
}

fn test(number: usize, conversation: &Conversation) -> Json {
    let mut tools: Map<String, Json> = Map::new();
    for RecordedCall { tool, result, .. } in
        conversation.recording.calls.iter().filter(|c| !c.is_fixed)
    {
        let case = match result {
            Ok(answer) => json!({ "answer": answer, "times": 1 }),
            Err(failure) => {
                let fail = match failure.kind {
                    FailureKind::Timeout => "timeout",
                    FailureKind::Api => "api",
                    FailureKind::Error | FailureKind::Refused => "error",
                };
                json!({ "fail": fail, "message": failure.message, "times": 1 })
            }
        };
        let cases = tools.entry(tool.clone()).or_insert_with(|| json!([]));
        if let Json::Array(cases) = cases {
            cases.push(case);
        }
    }
    let humans: Vec<Json> = conversation
        .recording
        .humans
        .iter()
        .map(|h| match &h.outcome {
            Some(outcome) => json!({ "outcome": outcome }),
            None => json!({}),
        })
        .collect();
    let turns: Vec<Json> = conversation
        .turns
        .iter()
        .map(|turn| {
            let mut json = Map::new();
            if let Some(input) = &turn.input {
                match &input.action {
                    Some((id, _)) => json.insert("press".to_owned(), json!({ "id": id })),
                    None => json.insert("user".to_owned(), json!(input.text)),
                };
            }
            let messages: Vec<&str> = turn.messages.iter().map(|s| s.words()).collect();
            json.insert("says".to_owned(), json!(messages));
            json.insert("status".to_owned(), json!(turn.status.name()));
            Json::Object(json)
        })
        .collect();
    let mut test = Map::new();
    test.insert("name".to_owned(), json!(format!("conversation {}", number + 1)));
    let answers = serde_json::to_value(&conversation.recording.answers).unwrap_or_default();
    for (key, value) in
        [("answers", answers), ("tools", Json::Object(tools)), ("humans", json!(humans))]
    {
        let empty = value.as_array().is_some_and(Vec::is_empty)
            || value.as_object().is_some_and(Map::is_empty);
        if !empty {
            test.insert(key.to_owned(), value);
        }
    }
    test.insert("turns".to_owned(), Json::Array(turns));
    Json::Object(test)
}
