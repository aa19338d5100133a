//! `agentir lsp` as a process: what it finds is what `agentir check` finds.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "tests end by panicking"
)]

mod common;

use common::{CACHE, agentir, code, run, samples, stdout};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Stdio};

/// A server, and what it says.
struct Server {
    child: Child,
    out: BufReader<ChildStdout>,
}

impl Server {
    fn start(folder: &Path) -> Self {
        let mut command = agentir(folder, Path::new(CACHE));
        command.arg("lsp").stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let out = BufReader::new(child.stdout.take().unwrap());
        Self { child, out }
    }

    fn raw(&mut self, bytes: &[u8]) {
        self.child.stdin.as_mut().unwrap().write_all(bytes).unwrap();
    }

    fn send(&mut self, message: &Value) {
        let text = message.to_string();
        self.raw(format!("Content-Length: {}\r\n\r\n{text}", text.len()).as_bytes());
    }

    fn ask(&mut self, id: i32, method: &str, params: &Value) -> Value {
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        loop {
            let message = self.receive();
            if message["id"] == id && message.get("method").is_none() {
                return message;
            }
        }
    }

    fn receive(&mut self) -> Value {
        let mut length = 0;
        loop {
            let mut line = String::new();
            assert!(self.out.read_line(&mut line).unwrap() > 0, "the server ended");
            match line.trim() {
                "" => break,
                line => {
                    if let Some(value) = line.strip_prefix("Content-Length: ") {
                        length = value.parse().unwrap();
                    }
                }
            }
        }
        let mut text = vec![0; length];
        self.out.read_exact(&mut text).unwrap();
        serde_json::from_slice(&text).unwrap()
    }

    /// The exit code, once it is told to end.
    fn end(mut self) -> Option<i32> {
        let answer = self.ask(1_000, "shutdown", &Value::Null);
        assert_eq!(answer["result"], Value::Null);
        self.send(&json!({ "jsonrpc": "2.0", "method": "exit" }));
        self.child.wait().unwrap().code()
    }
}

/// Line, column, severity, rule and message of a finding.
type Row = (u64, u64, u64, String, String);

/// The first line of a text.
fn first_line(text: &Value) -> String {
    text.as_str().unwrap().lines().next().unwrap_or_default().to_owned()
}

/// What `agentir check` finds, by file.
fn checked(root: &Path) -> BTreeMap<String, Vec<Row>> {
    let args = ["check", root.to_str().unwrap(), "--format", "json", "--no-cache"];
    let output = run(root, Path::new(CACHE), &args);
    assert!(code(&output) < 2);
    let report: Value = serde_json::from_str(&stdout(&output)).unwrap();
    let mut all: BTreeMap<String, Vec<Row>> = BTreeMap::new();
    for finding in report["diagnostics"].as_array().unwrap() {
        let start = &finding["range"]["start"];
        let number = |key: &str| start[key].as_u64().unwrap() - 1;
        let severity = match finding["severity"].as_str().unwrap() {
            "error" => 1,
            "warning" => 2,
            _ => 3,
        };
        let rule = finding["rule"].as_str().unwrap().to_owned();
        let row =
            (number("line"), number("column"), severity, rule, first_line(&finding["message"]));
        all.entry(finding["file"].as_str().unwrap().to_owned()).or_default().push(row);
    }
    all
}

/// What the server finds, by file.
fn served(root: &Path) -> BTreeMap<String, Vec<Row>> {
    let mut server = Server::start(root);
    let uri = format!("file://{}", root.display());
    let capabilities = json!({
        "general": { "positionEncodings": ["utf-32"] },
        "textDocument": { "diagnostic": {} },
    });
    let folders = json!([{ "uri": uri, "name": "x" }]);
    server.ask(
        1,
        "initialize",
        &json!({ "capabilities": capabilities, "workspaceFolders": folders }),
    );
    let answer = server.ask(2, "workspace/diagnostic", &json!({ "previousResultIds": [] }));
    let mut all: BTreeMap<String, Vec<Row>> = BTreeMap::new();
    for report in answer["result"]["items"].as_array().unwrap() {
        let file = report["uri"].as_str().unwrap().strip_prefix("file://").unwrap();
        let file = percent_decoded(file);
        for finding in report["items"].as_array().unwrap() {
            let start = &finding["range"]["start"];
            let number = |key: &str| start[key].as_u64().unwrap();
            let severity = finding["severity"].as_u64().unwrap();
            let rule = finding["code"].as_str().unwrap().to_owned();
            let message = first_line(&finding["message"]);
            let row = (number("line"), number("character"), severity, rule, message);
            all.entry(file.clone()).or_default().push(row);
        }
    }
    assert_eq!(server.end(), Some(0));
    all
}

fn percent_decoded(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        rest = after;
        match (first, after) {
            (b'%', [high, low, more @ ..]) => {
                let digits = [*high, *low];
                let digits = std::str::from_utf8(&digits).unwrap();
                bytes.push(u8::from_str_radix(digits, 16).unwrap());
                rest = more;
            }
            _ => bytes.push(*first),
        }
    }
    String::from_utf8(bytes).unwrap()
}

fn assert_same(root: &Path, least: usize) {
    let (checked, served) = (checked(root), served(root));
    assert!(checked.len() >= least, "{}", checked.len());
    let names = |all: &BTreeMap<String, Vec<Row>>| all.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(&checked), names(&served));
    for (file, expected) in &checked {
        let found = &served[file];
        // The protocol ends lines at a carriage return that stands alone, and reports do not.
        let text = fs::read_to_string(file).unwrap_or_default();
        let has_other_lines = text.replace("\r\n", "").contains('\r');
        assert_eq!(expected.len(), found.len(), "{file}");
        for (one, other) in expected.iter().zip(found) {
            assert_eq!((one.2, &one.3), (other.2, &other.3), "{file}");
            if !has_other_lines {
                assert_eq!((one.0, one.1), (other.0, other.1), "{file}: {one:?} {other:?}");
            }
            // The editor's message goes on with what is said at the place. Reports mask secrets.
            assert!(
                other.4.starts_with(&one.4) || one.4.contains('…'),
                "{file}: {one:?} {other:?}"
            );
        }
    }
}

#[test]
fn the_server_finds_what_a_check_finds_in_all_samples() {
    assert_same(&samples(), 50);
}

/// Only where the third-party programs are.
#[test]
fn the_server_finds_what_a_check_finds_in_third_party_files() {
    let Some(root) = std::env::var_os("AGENTIR_EXTERNAL_CORPUS").map(PathBuf::from) else { return };
    assert_same(&root.canonicalize().unwrap(), 100);
}

#[test]
fn an_orderly_end_has_code_0_and_any_other_1() {
    let folder = tempfile::tempdir().unwrap();
    let mut server = Server::start(folder.path());
    server.ask(1, "initialize", &json!({ "capabilities": {} }));
    assert_eq!(server.end(), Some(0));
    let mut server = Server::start(folder.path());
    server.ask(1, "initialize", &json!({ "capabilities": {} }));
    server.send(&json!({ "jsonrpc": "2.0", "method": "exit" }));
    assert_eq!(server.child.wait().unwrap().code(), Some(1));
    let mut server = Server::start(folder.path());
    drop(server.child.stdin.take());
    assert_eq!(server.child.wait().unwrap().code(), Some(1));
}

#[test]
fn what_is_no_message_is_skipped() {
    let folder = tempfile::tempdir().unwrap();
    let mut server = Server::start(folder.path());
    server.raw(b"nonsense\r\n\r\nContent-Length: 5\r\n\r\n{\"a\":");
    server.raw(b"Content-Length: 2\r\n\r\n[]Content-Length: 3\r\n\r\n\xff\xfe\xfd");
    let answer = server.ask(1, "initialize", &json!({ "capabilities": {} }));
    assert_eq!(answer["result"]["serverInfo"]["name"], "agentir");
    assert_eq!(server.end(), Some(0));
}
