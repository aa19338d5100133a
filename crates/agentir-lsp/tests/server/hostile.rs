//! What no client should send does not end the server.

use crate::client::{Client, at, place, uri};
use crate::{POOL, write};
use serde_json::{Value, json};

#[test]
fn a_client_that_is_gone_ends_the_server() {
    assert!(!Client::alone().vanish());
    assert!(!Client::uninitialized().vanish());
}

#[test]
fn the_order_of_the_protocol_is_kept() {
    let mut client = Client::uninitialized();
    assert_eq!(client.refused("textDocument/hover", place("file:///x", 0, 0)).0, -32002);
    client.notify("textDocument/didOpen", json!({}));
    assert_eq!(client.refused("shutdown", Value::Null).0, -32002);
    client.ask("initialize", json!({ "capabilities": {} }));
    assert_eq!(client.refused("initialize", json!({ "capabilities": {} })).0, -32600);
    client.ask("shutdown", Value::Null);
    assert_eq!(client.refused("textDocument/hover", place("file:///x", 0, 0)).0, -32600);
    client.notify("exit", Value::Null);
    drop(client);
}

#[test]
fn strange_parameters_of_initialize_are_nothing() {
    for strange in [
        json!(null),
        json!([]),
        json!("x"),
        json!({ "capabilities": 3 }),
        json!({ "capabilities": { "general": [], "textDocument": { "hover": null } }, "workspaceFolders": 3 }),
        json!({ "workspaceFolders": [{ "uri": "x:y" }, 3, { "uri": "file:///no/such/folder" }] }),
        json!({ "rootUri": "file:///", "initializationOptions": [1] }),
        json!({ "rootPath": "relative", "initializationOptions": { "select": "x" } }),
    ] {
        let mut client = Client::new(strange.clone());
        client.open("untitled:x", "abl", POOL);
        let params = json!({ "textDocument": { "uri": "untitled:x" } });
        let found = client.ask("textDocument/diagnostic", params);
        assert!(!found["items"].as_array().unwrap().is_empty(), "{strange}");
        assert!(client.end(), "{strange}");
    }
}

#[test]
fn strange_messages_do_not_end_the_server() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), &[("pool.agent.abl", POOL)]);
    let pool = uri(&folder.path().join("pool.agent.abl"));
    let mut client = Client::in_folder(folder.path());
    assert_eq!(client.refused("no/such/request", json!({})).0, -32601);
    assert_eq!(client.refused("$/optional", json!({})).0, -32601);
    client.notify("no/such/notification", json!({ "x": 1 }));
    for params in [json!(null), json!([]), json!({}), json!({ "textDocument": 3 })] {
        for method in ["textDocument/didOpen", "textDocument/didChange", "textDocument/didClose"] {
            client.notify(method, params.clone());
        }
        client.notify("workspace/didChangeWatchedFiles", params.clone());
        client.notify("workspace/didChangeConfiguration", params.clone());
        client.notify("workspace/didChangeWorkspaceFolders", params.clone());
        client.notify("$/cancelRequest", params.clone());
        assert_eq!(client.refused("textDocument/diagnostic", params).0, -32602);
    }
    // Documents that are not open, open twice, or at strange places.
    client.notify("textDocument/didChange", json!({
        "textDocument": { "uri": "file:///x", "version": 1 }, "contentChanges": [{ "text": "x" }],
    }));
    client.close("file:///x");
    for uri in [
        "",
        "file:",
        "file:///",
        "x",
        "file:///%00",
        "file:///a%FFb.agent",
        "untitled:",
        "http://[",
        &pool,
        &pool,
    ] {
        client.open(uri, "abl", POOL);
        client.ask("textDocument/diagnostic", json!({ "textDocument": { "uri": uri } }));
    }
    // Positions beyond the text, and ranges that end before they begin.
    let far = [at(0, u32::MAX >> 1), at(u32::MAX >> 1, 0), at(7, 3)];
    for start in &far {
        for end in &far {
            client
                .change(&pool, json!({ "range": { "start": start, "end": end }, "text": "é😀\r" }));
        }
    }
    client.replace(&pool, POOL);
    assert!(client.rules(&pool).contains(&"undefined-tool".to_owned()));
    assert!(client.end());
}

#[test]
fn a_folder_that_disappears_is_not_the_end() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), &[("x/pool.agent.abl", POOL)]);
    let pool = uri(&folder.path().join("x/pool.agent.abl"));
    let mut client = Client::in_folder(&folder.path().join("x"));
    client.open(&pool, "abl", POOL);
    assert!(client.rules(&pool).contains(&"undefined-tool".to_owned()));
    std::fs::remove_dir_all(folder.path().join("x")).unwrap();
    let changes = json!([{ "uri": uri(&folder.path().join("x/other.agent.abl")), "type": 3 }]);
    client.notify("workspace/didChangeWatchedFiles", json!({ "changes": changes }));
    client.replace(&pool, &POOL.replace("book_line", "book_lane"));
    assert!(!client.rules(&pool).contains(&"undefined-tool".to_owned()));
    assert!(client.end());
}
