//! Findings that the server tells, and that it is asked for.

use crate::client::{Client, at, capabilities, uri};
use crate::{POOL, write};
use serde_json::{Value, json};
use std::fs;

#[test]
fn findings_follow_edits() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), &[("pool.agent.abl", POOL)]);
    let pool = uri(&folder.path().join("pool.agent.abl"));
    let mut client = Client::in_folder(folder.path());
    client.open(&pool, "abl", POOL);
    assert!(client.rules(&pool).contains(&"undefined-tool".to_owned()));
    let found = client.current(&pool);
    let one = found.as_array().unwrap().iter().find(|d| d["code"] == "undefined-tool").unwrap();
    assert_eq!(one["source"], "agentir");
    assert_eq!(one["severity"], 1);
    assert_eq!(one["range"], json!({ "start": at(8, 8), "end": at(8, 17) }));
    assert_eq!(one["codeDescription"]["href"], "agentir:/rules/undefined-tool.md");
    // `line` becomes `lane`.
    let range = json!({ "start": at(8, 14), "end": at(8, 15) });
    client.change(&pool, json!({ "range": range, "text": "a" }));
    assert!(!client.rules(&pool).contains(&"undefined-tool".to_owned()));
    assert!(client.end());
}

#[test]
fn files_that_are_not_open_have_findings() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), &[("a/pool.agent.abl", POOL), ("b/other.agent.abl", POOL)]);
    let [a, b] =
        ["a/pool.agent.abl", "b/other.agent.abl"].map(|name| uri(&folder.path().join(name)));
    let mut client = Client::in_folder(folder.path());
    let count = |client: &Client, uri: &str| {
        client.findings.get(uri).map(|found| found["diagnostics"].as_array().unwrap().len())
    };
    client
        .until(|client| (count(client, &a) > Some(0) && count(client, &b) > Some(0)).then_some(()));
    // Files that are changed by others are read again, and those that are gone have no findings.
    fs::remove_file(folder.path().join("b/other.agent.abl")).unwrap();
    fs::write(folder.path().join("a/pool.agent.abl"), POOL.replace("book_line", "book_lane"))
        .unwrap();
    let changes = json!([{ "uri": a, "type": 2 }, { "uri": b, "type": 3 }]);
    let before = count(&client, &a).unwrap();
    client.notify("workspace/didChangeWatchedFiles", json!({ "changes": changes }));
    client.until(|client| {
        (count(client, &a) < Some(before) && count(client, &b) == Some(0)).then_some(())
    });
    assert!(client.end());
}

/// A client that cannot tell of changes is not needed for that.
#[test]
fn changes_on_disk_are_noticed_without_the_client() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("pool.agent.abl");
    let mut client = Client::new(json!({ "capabilities": {}, "rootUri": uri(folder.path()) }));
    // What is written before the server looks is found as well.
    fs::write(&path, POOL).unwrap();
    let pool = uri(&path);
    client.until(|client| client.findings.get(&pool).map(|_| ()));
    assert!(client.end());
}

#[test]
fn configurations_are_read_again() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), &[("pool.agent.abl", POOL)]);
    let pool = uri(&folder.path().join("pool.agent.abl"));
    let mut client = Client::in_folder(folder.path());
    client.open(&pool, "abl", POOL);
    let severity = |client: &mut Client| {
        let found = client.findings.get(&pool)?;
        let found = found["diagnostics"].as_array().unwrap();
        Some(found.iter().find(|d| d["code"] == "undefined-tool")?["severity"].as_u64().unwrap())
    };
    assert!(client.rules(&pool).contains(&"undefined-tool".to_owned()));
    assert_eq!(severity(&mut client), Some(1));
    let config = folder.path().join("agentir.toml");
    fs::write(&config, "[rules]\nundefined-tool = \"info\"\n").unwrap();
    let changes = json!([{ "uri": uri(&config), "type": 1 }]);
    client.notify("workspace/didChangeWatchedFiles", json!({ "changes": changes }));
    client.until(|client| {
        let found = client.findings.get(&pool)?["diagnostics"].as_array().unwrap().clone();
        found.iter().any(|d| d["code"] == "undefined-tool" && d["severity"] == 3).then_some(())
    });
    // What is wrong with a configuration is said where it stands.
    fs::write(&config, "[rules]\nno-such-rule = \"off\"\n").unwrap();
    let changes = json!([{ "uri": uri(&config), "type": 2 }]);
    client.notify("workspace/didChangeWatchedFiles", json!({ "changes": changes }));
    let config = uri(&config);
    let found = client.until(|client| client.findings.get(&config).cloned());
    let message = found["diagnostics"][0]["message"].as_str().unwrap().to_owned();
    assert!(message.contains("no-such-rule"), "{message}");
    assert!(client.end());
}

#[test]
fn settings_choose_rules() {
    let mut client = Client::new(json!({
        "capabilities": capabilities(),
        "initializationOptions": { "ignore": ["undefined-tool"] },
    }));
    let pool = "untitled:Untitled-1";
    client.open(pool, "abl", POOL);
    assert!(!client.rules(pool).contains(&"undefined-tool".to_owned()));
    let settings = json!({ "settings": { "agentir": { "select": ["undefined-tool"] } } });
    client.notify("workspace/didChangeConfiguration", settings);
    client.until(|client| {
        let found = client.findings.get(pool)?["diagnostics"].as_array().unwrap().clone();
        found.iter().any(|d| d["code"] == "undefined-tool").then_some(())
    });
    assert_eq!(client.rules(pool), ["undefined-tool"]);
    // What is wrong with settings is said, and they have no effect.
    let settings = json!({ "settings": { "agentir": { "ignore": ["undefined-tol"] } } });
    client.notify("workspace/didChangeConfiguration", settings);
    let said = client.until(|client| {
        let said = client.notifications.iter().find(|n| n.method == "window/logMessage")?;
        Some(said.params["message"].as_str().unwrap().to_owned())
    });
    assert!(said.contains("did you mean `undefined-tool`"), "{said}");
    assert!(client.end());
}

#[test]
fn documents_outside_of_folders_and_without_files_are_checked() {
    let folder = tempfile::tempdir().unwrap();
    write(
        folder.path(),
        &[("in/x.agent.abl", POOL), ("out/y.agent.abl", POOL), ("out/z.agent.abl", POOL)],
    );
    let mut client = Client::in_folder(&folder.path().join("in"));
    let outside = uri(&folder.path().join("out/y.agent.abl"));
    for uri in [outside.as_str(), "untitled:Untitled-1", "vscode-notebook-cell:/a#1"] {
        client.open(uri, "abl", POOL);
        assert!(client.rules(uri).contains(&"undefined-tool".to_owned()), "{uri}");
    }
    // Its neighbour is not open.
    assert!(!client.findings.contains_key(&uri(&folder.path().join("out/z.agent.abl"))));
    // What is of no language is left alone.
    client.open("untitled:notes.yaml", "yaml", "a: [\n");
    assert_eq!(
        client.ask(
            "textDocument/diagnostic",
            json!({ "textDocument": { "uri": "untitled:notes.yaml" } })
        )["items"],
        json!([])
    );
    client.close(&outside);
    client.until(|client| (client.findings[&outside]["diagnostics"] == json!([])).then_some(()));
    assert!(client.end());
}

#[test]
fn clients_may_ask_for_findings() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), &[("a/pool.agent.abl", POOL), ("b/other.agent.abl", POOL)]);
    let [a, b] =
        ["a/pool.agent.abl", "b/other.agent.abl"].map(|name| uri(&folder.path().join(name)));
    let mut client = Client::new(json!({
        "capabilities": {
            "textDocument": { "diagnostic": { "relatedDocumentSupport": true } },
            "workspace": {
                "diagnostics": { "refreshSupport": true },
                "didChangeWatchedFiles": { "dynamicRegistration": true },
            },
        },
        "workspaceFolders": [{ "uri": uri(folder.path()), "name": "x" }],
    }));
    let provider = &client.server_capabilities["capabilities"]["diagnosticProvider"];
    assert_eq!(provider["workspaceDiagnostics"], true);
    client.open(&a, "abl", POOL);
    let ask = |client: &mut Client, before: Value| {
        let mut params = json!({ "textDocument": { "uri": a } });
        if !before.is_null() {
            params["previousResultId"] = before;
        }
        client.ask("textDocument/diagnostic", params)
    };
    let first = ask(&mut client, Value::Null);
    assert_eq!(first["kind"], "full");
    assert!(first["items"].as_array().unwrap().iter().any(|d| d["code"] == "undefined-tool"));
    let again = ask(&mut client, first["resultId"].clone());
    assert_eq!(again, json!({ "kind": "unchanged", "resultId": first["resultId"] }));

    let all = client.ask("workspace/diagnostic", json!({ "previousResultIds": [] }));
    let all = all["items"].as_array().unwrap().clone();
    let ids: Vec<Value> =
        all.iter().map(|one| json!({ "uri": one["uri"], "value": one["resultId"] })).collect();
    assert_eq!(ids.len(), 2);
    assert!(all.iter().all(|one| !one["items"].as_array().unwrap().is_empty()), "{all:?}");
    // Without news the answer waits for a change.
    let id = client.send("workspace/diagnostic", json!({ "previousResultIds": ids }));
    client.replace(&a, &POOL.replace("book_line", "book_lane"));
    let news = client.answer(&id).response_result.unwrap();
    let kind = |uri: &str| {
        let items = news["items"].as_array().unwrap();
        items.iter().find(|one| one["uri"] == uri).unwrap()["kind"].clone()
    };
    assert_eq!((kind(&a), kind(&b)), (json!("full"), json!("unchanged")));
    let changed = ask(&mut client, first["resultId"].clone());
    assert!(!changed["items"].as_array().unwrap().iter().any(|d| d["code"] == "undefined-tool"));
    assert!(client.findings.is_empty(), "who asks is not told");
    // A request that waits is answered when it is cancelled.
    let id = client.send("workspace/diagnostic", json!({ "previousResultIds": news["items"].as_array().unwrap().iter().map(|one| json!({ "uri": one["uri"], "value": one["resultId"] })).collect::<Vec<_>>() }));
    let Value::Number(number) = serde_json::to_value(&id).unwrap() else { panic!() };
    client.notify("$/cancelRequest", json!({ "id": number }));
    assert_eq!(client.answer(&id).response_result.unwrap_err().code, -32800);
    assert!(client.end());
}

/// What reading a large file finds is told at once, and what rules found before stays where it is.
#[test]
fn large_files_are_answered_in_two_stages() {
    let mut text = POOL.to_owned();
    text.push_str("\nINSTRUCTIONS: |\n");
    for n in 0..3000 {
        text.push_str(&format!("  Be kind to guest {n}, and brief.\n"));
    }
    let mut client = Client::alone();
    let large = "untitled:large.agent.abl";
    client.open(large, "abl", &text);
    client.until(|client| {
        let found = client.findings.get(large)?["diagnostics"].as_array().unwrap().clone();
        found.iter().any(|d| d["code"] == "undefined-tool").then_some(())
    });
    // An error in a line above: rules that cannot run any more are not waited for.
    let range = json!({ "start": at(1, 5), "end": at(1, 6) });
    client.notifications.clear();
    client.change(large, json!({ "range": range, "text": "\nPERSONA: " }));
    let first = client.until(|client| {
        let mut told = client.notifications.iter().filter(|n| n.params["version"] == 2);
        told.next().map(|n| n.params["diagnostics"].clone())
    });
    let line = |found: &Value| {
        let found = found.as_array().unwrap().iter().find(|d| d["code"] == "undefined-tool");
        found.map(|d| d["range"]["start"]["line"].as_u64().unwrap())
    };
    assert_eq!(line(&first), Some(9), "{first}");
    assert!(client.end());
}
