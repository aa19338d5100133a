//! A client of the server, on a connection in memory.

use lsp_server::{Connection, Message, Notification, Request, RequestId, Response};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;
use std::thread::JoinHandle;
use std::time::Duration;

/// Longer than any answer takes on a busy machine.
const LIMIT: Duration = Duration::from_secs(60);

/// A client that has initialized the server.
pub(crate) struct Client {
    connection: Connection,
    server: Option<JoinHandle<bool>>,
    next_id: i32,
    /// The messages that nobody has looked at.
    pub(crate) notifications: Vec<Notification>,
    pub(crate) requests: Vec<Request>,
    /// The last findings of each document.
    pub(crate) findings: BTreeMap<String, Value>,
    /// The answer to `initialize`.
    pub(crate) server_capabilities: Value,
    versions: BTreeMap<String, i32>,
}

/// What most tests say that they can do.
pub(crate) fn capabilities() -> Value {
    json!({
        "general": { "positionEncodings": ["utf-16"] },
        "textDocument": {
            "publishDiagnostics": {
                "relatedInformation": true,
                "versionSupport": true,
                "codeDescriptionSupport": true,
                "tagSupport": { "valueSet": [1, 2] },
            },
            "hover": { "contentFormat": ["markdown"] },
            "completion": { "completionItem": {
                "snippetSupport": true, "documentationFormat": ["markdown"],
            } },
            "documentSymbol": { "hierarchicalDocumentSymbolSupport": true },
            "codeAction": { "codeActionLiteralSupport": {
                "codeActionKind": { "valueSet": ["quickfix", "source.fixAll"] },
            } },
        },
        "workspace": {
            "didChangeWatchedFiles": { "dynamicRegistration": true },
            "workspaceEdit": { "documentChanges": true, "resourceOperations": ["create"] },
            "applyEdit": true,
            "textDocumentContent": {},
        },
    })
}

pub(crate) fn uri(path: &Path) -> String {
    format!("file://{}", path.display())
}

impl Client {
    /// A client with a folder.
    pub(crate) fn in_folder(folder: &Path) -> Self {
        let folders = json!([{ "uri": uri(folder), "name": "x" }]);
        Self::new(json!({ "capabilities": capabilities(), "workspaceFolders": folders }))
    }

    /// A client without a folder.
    pub(crate) fn alone() -> Self {
        Self::new(json!({ "capabilities": capabilities(), "rootUri": null }))
    }

    pub(crate) fn new(initialize: Value) -> Self {
        let mut client = Self::uninitialized();
        client.server_capabilities = client.ask("initialize", initialize);
        client.notify("initialized", json!({}));
        client
    }

    pub(crate) fn uninitialized() -> Self {
        let (connection, theirs) = Connection::memory();
        let server = std::thread::spawn(move || agentir_lsp::serve(&theirs));
        Self {
            connection,
            server: Some(server),
            next_id: 0,
            notifications: Vec::new(),
            requests: Vec::new(),
            findings: BTreeMap::new(),
            server_capabilities: Value::Null,
            versions: BTreeMap::new(),
        }
    }

    pub(crate) fn notify(&mut self, method: &str, params: Value) {
        let message = Notification { method: method.to_owned(), params };
        self.connection.sender.send(message.into()).unwrap();
    }

    /// Sends a request.
    pub(crate) fn send(&mut self, method: &str, params: Value) -> RequestId {
        self.next_id += 1;
        let id = RequestId::from(self.next_id);
        let message = Request { id: id.clone(), method: method.to_owned(), params };
        self.connection.sender.send(message.into()).unwrap();
        id
    }

    /// The answer to a request.
    pub(crate) fn answer(&mut self, id: &RequestId) -> Response {
        loop {
            if let Some(Message::Response(response)) = self.receive()
                && response.id == *id
            {
                return response;
            }
        }
    }

    /// The result of a request that is answered.
    pub(crate) fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.send(method, params);
        match self.answer(&id).response_result {
            Ok(value) => value,
            Err(error) => panic!("{method}: {error:?}"),
        }
    }

    /// The code and the message of the refusal of a request.
    pub(crate) fn refused(&mut self, method: &str, params: Value) -> (i32, String) {
        let id = self.send(method, params);
        let error = self.answer(&id).response_result.unwrap_err();
        (error.code, error.message)
    }

    fn receive(&mut self) -> Option<Message> {
        let message = self.connection.receiver.recv_timeout(LIMIT).expect("the server is silent");
        match message {
            Message::Notification(notification) => {
                if notification.method == "textDocument/publishDiagnostics" {
                    let uri = notification.params["uri"].as_str().unwrap().to_owned();
                    self.findings.insert(uri, notification.params.clone());
                }
                self.notifications.push(notification);
                None
            }
            Message::Request(request) => {
                self.requests.push(request);
                None
            }
            response @ Message::Response(_) => Some(response),
        }
    }

    /// Waits until something holds.
    pub(crate) fn until<T>(&mut self, mut check: impl FnMut(&Self) -> Option<T>) -> T {
        loop {
            if let Some(found) = check(self) {
                return found;
            }
            self.receive();
        }
    }

    /// The rules of the findings in the current version of an open document.
    pub(crate) fn rules(&mut self, uri: &str) -> Vec<String> {
        let found = self.current(uri);
        let found = found.as_array().unwrap().iter();
        found.map(|one| one["code"].as_str().unwrap().to_owned()).collect()
    }

    /// The findings in the current version of an open document.
    pub(crate) fn current(&mut self, uri: &str) -> Value {
        let version = self.versions[uri];
        self.until(|client| {
            let found = client.findings.get(uri)?;
            (found["version"] == version).then(|| found["diagnostics"].clone())
        })
    }

    pub(crate) fn open(&mut self, uri: &str, language: &str, text: &str) {
        self.versions.insert(uri.to_owned(), 1);
        let document = json!({ "uri": uri, "languageId": language, "version": 1, "text": text });
        self.notify("textDocument/didOpen", json!({ "textDocument": document }));
    }

    /// Changes a document: all of it, or the range that the change has.
    pub(crate) fn change(&mut self, uri: &str, change: Value) {
        let version = self.versions.get_mut(uri).unwrap();
        *version += 1;
        let document = json!({ "uri": uri, "version": *version });
        let changes = if change.is_array() { change } else { json!([change]) };
        let params = json!({ "textDocument": document, "contentChanges": changes });
        self.notify("textDocument/didChange", params);
    }

    pub(crate) fn replace(&mut self, uri: &str, text: &str) {
        self.change(uri, json!({ "text": text }));
    }

    pub(crate) fn close(&mut self, uri: &str) {
        self.notify("textDocument/didClose", json!({ "textDocument": { "uri": uri } }));
    }

    /// Ends the server, and returns whether it was orderly.
    pub(crate) fn end(mut self) -> bool {
        assert_eq!(self.ask("shutdown", Value::Null), Value::Null);
        self.notify("exit", Value::Null);
        self.server.take().unwrap().join().unwrap()
    }

    /// Leaves without a word.
    pub(crate) fn vanish(mut self) -> bool {
        let server = self.server.take().unwrap();
        drop(self);
        server.join().unwrap()
    }
}

/// A position.
pub(crate) fn at(line: u32, character: u32) -> Value {
    json!({ "line": line, "character": character })
}

/// The parameters of a request about a position in a document.
pub(crate) fn place(uri: &str, line: u32, character: u32) -> Value {
    json!({ "textDocument": { "uri": uri }, "position": at(line, character) })
}
