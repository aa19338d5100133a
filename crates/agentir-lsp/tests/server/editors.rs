//! Clients with the capabilities that real editors send, captured from them.

use crate::POOL;
use crate::client::Client;
use serde_json::{Value, json};

/// The parameters of `initialize`, as an editor sent them.
fn captured(name: &str) -> Value {
    let path = format!("{}/tests/server/clients/{name}.json", env!("CARGO_MANIFEST_DIR"));
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

const NAME: &str = "untitled:pool.agent.abl";

/// What an editor gets: whether it is told of findings or asks, what it counts, and in which forms it is answered.
fn answered(name: &str) -> String {
    let mut client = Client::new(captured(name));
    let server = client.server_capabilities["capabilities"].clone();
    client.open(NAME, "abl", POOL);
    let document = json!({ "textDocument": { "uri": NAME } });
    let pulls = server.get("diagnosticProvider").is_some();
    let found = match pulls {
        true => client.ask("textDocument/diagnostic", document.clone())["items"].clone(),
        false => client.until(|client| Some(client.findings.get(NAME)?["diagnostics"].clone())),
    };
    let one = found.as_array().unwrap().iter().find(|one| one["code"] == "undefined-tool").unwrap();
    let at = crate::client::place(NAME, 4, 4);
    let hover = client.ask("textDocument/hover", at.clone());
    let symbols = client.ask("textDocument/documentSymbol", document.clone());
    let completion = client.ask("textDocument/completion", crate::client::place(NAME, 8, 2));
    let item = &completion["items"][0];
    let actions = client.ask(
        "textDocument/codeAction",
        json!({ "textDocument": { "uri": NAME }, "range": one["range"], "context": { "diagnostics": [] } }),
    );
    let mut rename = at;
    rename["newName"] = json!("reserve");
    let edit = client.ask("textDocument/rename", rename);
    let keys = |value: &Value| {
        let keys = value.as_object().map(|map| map.keys().cloned().collect::<Vec<_>>());
        keys.unwrap_or_default().join(" ")
    };
    let summary = [
        format!("positions: {}", server["positionEncoding"]),
        format!("asks for findings: {pulls}"),
        format!("a finding has: {}", keys(one)),
        format!("hover: {}", hover["contents"]["kind"]),
        format!("symbols: {}", keys(&symbols[0])),
        format!("items: snippets {}", item.get("insertTextFormat").is_some()),
        format!("actions: {}", keys(&actions[0])),
        format!("edits: {}", keys(&edit)),
        format!(
            "registers: {}",
            client.requests.iter().map(|r| r.method.as_str()).collect::<Vec<_>>().join(" ")
        ),
    ];
    assert!(client.end());
    summary.join("\n")
}

#[test]
fn neovim_is_answered() {
    insta::assert_snapshot!(answered("neovim-0.7"));
}

#[test]
fn emacs_is_answered() {
    insta::assert_snapshot!(answered("emacs-28-eglot-1.9"));
}

#[test]
fn vs_code_is_answered() {
    insta::assert_snapshot!(answered("vscode-languageclient-9"));
}
