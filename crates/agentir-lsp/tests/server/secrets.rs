//! What the server says has no secrets, but for what is the client's own: the text of documents, and edits of it.

use crate::client::{Client, place, uri};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

/// The values that nobody is shown.
const SECRETS: [&str; 4] = [
    "oeq3hDavJA76rNicHTp8",
    "QFI14zGtSnovm14TUOiz",
    "Hq4Zt8LmW92xKcV8sRb3",
    "5nf4Gakq5p1Vm8kV6um4",
];

const TIDES: &str = "config:\n    developer_name: \"Tides\"\nvariables:\n    api_token: mutable string = \"oeq3hDavJA76rNicHTp8\"\n        \
    description: \"password: Hq4Zt8LmW92xKcV8sRb3\"\nstart_agent tides:\n    description: \"x\"\n    reasoning:\n        instructions: ->\n            \
    if @variables.api_token == \"QFI14zGtSnovm14TUOiz\":\n                | Say it.\n";

const DESK: &str = "AGENT: Desk\nGOAL: \"password: Hq4Zt8LmW92xKcV8sRb3 is yours\"\n\nTOOLS:\n  find(q: string) -> object\n    \
    description: \"password: 5nf4Gakq5p1Vm8kV6um4\"\n    type: http\n    endpoint: \"https://h.example/x\"\n    method: GET\n    headers:\n      \
    Authorization: \"ApiKey-v1 oeq3hDavJA76rNicHTp8\"\n\nMEMORY:\n  session:\n    - name: api_key\n      type: string\n      \
    initial_value: \"QFI14zGtSnovm14TUOiz\"\n\nON_START:\n  IF: api_key == \"QFI14zGtSnovm14TUOiz\"\n    CALL: fimd(q: \"x\")\n  RESPOND: \"Hello\"\n";

fn assert_hidden(what: &str, said: &Value) {
    let said = said.to_string();
    for secret in SECRETS {
        assert!(!said.contains(&secret[4..]), "{what}: {said}");
    }
}

/// A finding or an action without what is the client's: edits.
fn without_edits(mut all: Value) -> Value {
    for action in all.as_array_mut().into_iter().flatten() {
        if let Some(action) = action.as_object_mut() {
            action.remove("edit");
        }
    }
    all
}

fn open(folder: &Path, name: &str, language: &str, text: &str, pulls: bool) -> (Client, String) {
    let path = folder.join(name);
    fs::write(&path, text).unwrap();
    let mut capabilities = crate::client::capabilities();
    if pulls {
        capabilities["textDocument"]["diagnostic"] = json!({ "relatedDocumentSupport": true });
    }
    let mut client = Client::new(json!({
        "capabilities": capabilities,
        "workspaceFolders": [{ "uri": uri(folder), "name": "x" }],
        "initializationOptions": { "commands": ["agentir.convertTo", "agentir.showFindings"] },
    }));
    let uri = uri(&path);
    client.open(&uri, language, text);
    (client, uri)
}

#[test]
fn nothing_that_is_said_of_a_program_has_its_secrets() {
    for (name, language, text) in
        [("tides.agent", "agent-script", TIDES), ("desk.agent.abl", "abl", DESK)]
    {
        let folder = tempfile::tempdir().unwrap();
        // Findings that are published.
        let (mut client, document) = open(folder.path(), name, language, text, false);
        let found = client.current(&document);
        assert!(!found.as_array().unwrap().is_empty(), "{name}");
        assert!(name != "tides.agent" || found.to_string().contains("oeq3…"), "{found}");
        assert_hidden("publishDiagnostics", &found);
        let mut said = 0;
        for (number, line) in text.lines().enumerate() {
            let number = u32::try_from(number).unwrap();
            for column in (0..line.len()).step_by(3) {
                let at = place(&document, number, u32::try_from(column).unwrap());
                for method in ["textDocument/hover", "textDocument/signatureHelp"] {
                    let answer = client.ask(method, at.clone());
                    said += usize::from(!answer.is_null());
                    assert_hidden(method, &answer);
                }
            }
            let range = json!({
                "start": { "line": number, "character": 0 },
                "end": { "line": number, "character": line.len() },
            });
            let params = json!({
                "textDocument": { "uri": document }, "range": range, "context": { "diagnostics": [] },
            });
            let actions = client.ask("textDocument/codeAction", params);
            assert_hidden("codeAction", &without_edits(actions));
        }
        assert!(said > 5, "{name}: {said}");
        let all = json!({ "start": { "line": 0, "character": 0 }, "end": { "line": 99, "character": 0 } });
        let of = json!({ "textDocument": { "uri": document }, "range": all });
        for method in
            ["textDocument/codeLens", "textDocument/documentSymbol", "textDocument/inlayHint"]
        {
            assert_hidden(method, &client.ask(method, of.clone()));
        }
        for target in ["abl", "adl", "agent-script"] {
            let argument = json!({ "uri": document, "target": target });
            let params = json!({ "command": "agentir.convert", "arguments": [argument] });
            let converted = client.ask("workspace/executeCommand", params);
            assert_hidden("agentir.convert", &converted["report"]);
            assert!(converted["report"]["entries"].is_array(), "{converted}");
        }
        let logged = client.notifications.iter().map(|one| one.params.clone());
        let logged = Value::Array(logged.collect());
        assert_hidden("notifications", &logged);
        assert!(client.end());
        // Findings that are asked for.
        let (mut client, document) = open(folder.path(), name, language, text, true);
        let params = json!({ "textDocument": { "uri": document } });
        let found = client.ask("textDocument/diagnostic", params);
        assert!(!found["items"].as_array().unwrap().is_empty(), "{found}");
        assert_hidden("diagnostic", &found);
        let found = client.ask("workspace/diagnostic", json!({ "previousResultIds": [] }));
        assert_hidden("workspace/diagnostic", &found);
        assert!(client.end());
    }
}
