//! MCP servers: a process, and one at an address. The server is `examples/clerk.rs`.

#![allow(
    clippy::panic,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "tests end by panicking"
)]

use agentir::languages;
use agentir_ir::Tool;
use agentir_mcp::Mcp;
use agentir_runtime::{FailureKind, ToolCall, ToolFailure, Tools};
use agentir_tools::{EnvVars, McpFile};
use serde_json::{Value as Json, json};
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

/// Cargo builds examples beside the tests.
fn clerk() -> PathBuf {
    let mut path = std::env::current_exe().unwrap();
    path.pop();
    path.pop();
    path.push(format!("examples/clerk{}", std::env::consts::EXE_SUFFIX));
    assert!(path.exists(), "{} is missing: cargo build --example clerk", path.display());
    path
}

fn mcp(file: &str) -> Mcp {
    let settings = [("CLERK_KEY", "open-sesame"), ("CLERK_NAME", "Iris")];
    Mcp::new(McpFile::read(file).unwrap(), settings.into_iter().collect::<EnvVars>()).unwrap()
}

fn process() -> Mcp {
    let command = json!(clerk());
    mcp(&format!(
        "servers:\n  desk:\n    command: {command}\n    env: {{ NAME: '{{{{env.CLERK_NAME}}}}' }}\n"
    ))
}

/// Tool `t` is the server's tool `name`.
fn desk(name: &str) -> Tool {
    let text =
        format!("TOOLS:\n  t(name?: string)\n    type: mcp\n    server: desk\n    tool: {name}\n");
    let files = [("x.tools.abl", text.as_str())];
    let loaded = agentir_project::read_program(languages(), files, agentir::ReadOptions::default());
    loaded.programs[0].program.tools().next().cloned().unwrap()
}

fn call(mcp: &mut Mcp, tool: &Tool, with: Json) -> Result<Json, ToolFailure> {
    call_within(mcp, tool, with, 20_000)
}

fn call_within(
    mcp: &mut Mcp,
    tool: &Tool,
    with: Json,
    timeout_ms: u64,
) -> Result<Json, ToolFailure> {
    let arguments = with.as_object().unwrap().clone();
    mcp.call(&ToolCall {
        agent: "Desk",
        name: "t",
        tool: Some(tool),
        remote: None,
        arguments,
        timeout_ms,
        idempotency_key: String::new(),
        session: serde_json::Map::new(),
    })
}

fn answers(mcp: &mut Mcp) {
    let with = json!({ "name": "Ann", "list": [1, 2] });
    let mut ask = |name: &str| call(mcp, &desk(name), with.clone()).unwrap();
    assert_eq!(ask("echo"), with);
    assert_eq!(ask("text"), json!("7 days"));
    assert_eq!(ask("json"), json!({ "days": 7 }));
    assert_eq!(ask("list"), json!([1, "two"]));
    assert_eq!(ask("nothing"), Json::Null);
    // One server for all calls.
    assert_eq!(ask("count"), json!(1));
    assert_eq!(ask("count"), json!(2));
    let failure = call(mcp, &desk("fail"), json!({})).unwrap_err();
    assert_eq!(failure.kind, FailureKind::Error);
    assert_eq!(failure.message, "`t` (server `desk`): out of stamps");
    let failure = call(mcp, &desk("missing"), json!({})).unwrap_err();
    assert_eq!(failure.kind, FailureKind::Error);
    assert_eq!(failure.message, "`t` (server `desk`): no tool `missing`");
}

#[test]
fn a_process_answers() {
    let mut mcp = process();
    answers(&mut mcp);
    let environment = desk("environment");
    assert_eq!(call(&mut mcp, &environment, json!({ "name": "NAME" })).unwrap(), json!("Iris"));
    let others = call(&mut mcp, &environment, json!({ "name": "CARGO_MANIFEST_DIR" })).unwrap();
    assert_eq!(others, json!(""), "the environment is not passed on");
}

#[test]
fn a_server_that_is_slow_or_gone_is_told() {
    let mut mcp = process();
    assert_eq!(call(&mut mcp, &desk("count"), json!({})).unwrap(), json!(1));
    let late = call_within(&mut mcp, &desk("sleep"), json!({}), 200).unwrap_err();
    assert_eq!(late.kind, FailureKind::Timeout);
    assert_eq!(late.message, "`t` (server `desk`) did not answer within 200 ms");
    assert_eq!(call(&mut mcp, &desk("count"), json!({})).unwrap(), json!(2), "it goes on");
    assert_eq!(call(&mut mcp, &desk("quit"), json!({})).unwrap_err().kind, FailureKind::Api);
    // What it says when it ends is for whoever runs the agents.
    let failure = call(&mut mcp, &desk("complain"), json!({ "name": "Ann" })).unwrap_err();
    assert_eq!(failure.message, "`t` (server `desk`): it ended (exit status: 3)");
    assert_eq!(
        failure.explanation(),
        "`t` (server `desk`): it ended (exit status: 3); its error output:\nthe counter of Ann is on fire"
    );
    // The next call starts another one.
    assert_eq!(call(&mut mcp, &desk("count"), json!({})).unwrap(), json!(1));
}

/// `clerk http`; it ends with its input.
struct Served(Child, String);

impl Served {
    fn new() -> Self {
        let mut child = Command::new(clerk())
            .arg("http")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut url = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut url).unwrap();
        Self(child, url.trim().to_owned())
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        let _ = self.0.wait();
    }
}

#[test]
fn an_address_answers() {
    let served = Served::new();
    let file = |key: &str| {
        format!("servers:\n  desk:\n    url: {}\n    headers: {{ X-Key: '{key}' }}\n", served.1)
    };
    answers(&mut mcp(&file("{{secrets.CLERK_KEY}}")));
    let failure =
        call(&mut mcp(&file("{{secrets.CLERK_KEY}}x")), &desk("text"), json!({})).unwrap_err();
    assert_eq!(failure.kind, FailureKind::Api);
    assert!(failure.message.starts_with("`t` (server `desk`): it does not start"), "{failure}");
    assert!(!failure.message.contains("sesame"), "{failure}");
}

#[test]
fn why_a_server_does_not_come_up_is_told_in_words() {
    let told = |file: &str| {
        call(&mut mcp(file), &desk("text"), json!({})).unwrap_err().explanation().to_owned()
    };
    let told = [
        told("servers:\n  desk: { command: 'sh', args: ['-c', 'echo no permit >&2; exit 4'] }\n"),
        told("servers:\n  desk: { command: 'true' }\n"),
        told("servers:\n  desk: { url: 'http://127.0.0.1:1/mcp' }\n"),
    ];
    insta::assert_snapshot!(told.join("\n"), @"
    `t` (server `desk`): `sh` does not start: it ended (exit status: 4); its error output:
    no permit
    `t` (server `desk`): `true` does not start: it ended (exit status: 0); it wrote nothing to its error output
    `t` (server `desk`): it does not start: error sending request for url (http://127.0.0.1:1/mcp)
    ");
}

#[cfg(unix)]
#[test]
fn a_server_that_writes_without_end_is_left() {
    let told = |script: &str| {
        let file =
            format!("servers:\n  desk: {{ command: sh, args: ['-c', {}] }}\n", json!(script));
        call(&mut mcp(&file), &desk("text"), json!({})).unwrap_err().message
    };
    let pings = r#"yes '{"jsonrpc":"2.0","id":1,"method":"ping"}'"#;
    let told = [told(pings), told("cat /dev/zero | tr '\\0' x")];
    insta::assert_snapshot!(told.join("\n"), @"
    `t` (server `desk`): `sh` does not start: it wrote more than 1000 messages in a second
    `t` (server `desk`): `sh` does not start: it wrote a message of more than 4 MB
    ");
}

/// A server that comes up, and answers calls with a line. In the line, `ID` is that of the call.
#[cfg(unix)]
fn answering(line: &str) -> Mcp {
    let up = r#"{"jsonrpc":"2.0","id":ID,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"x","version":"1"}}}"#;
    let script = format!(
        "say() {{ printf '%s\\n' \"$1\" | sed \"s/ID/$2/\"; }}\n\
         while read -r l; do id=$(printf %s \"$l\" | sed -n 's/.*\"id\":\\([0-9]*\\).*/\\1/p')\n\
         case $l in *initialize\\\"*) say '{up}' \"$id\";; *tools/call*) say '{line}' \"$id\";; esac; done\n"
    );
    mcp(&format!("servers:\n  desk: {{ command: sh, args: ['-c', {}] }}\n", json!(script)))
}

#[cfg(unix)]
#[test]
fn an_answer_that_cannot_be_read_is_told_at_once() {
    let deep = format!(
        r#"{{"jsonrpc":"2.0","id":ID,"result":{{"content":{}1{}}}}}"#,
        "[".repeat(200),
        "]".repeat(200)
    );
    let lines = [
        r#"{"jsonrpc":"2.0","id":ID,"result":{"content":[]},"error":{"code":1,"message":"no"}}"#,
        r#"{"jsonrpc":"2.0","id":ID}"#,
        r#"{"jsonrpc":"2.0","id":"other","result":{"content":[]}}"#,
        r#"{"jsonrpc":"2.0","id":ID,"error":"no"}"#,
        r#"{"jsonrpc":"2.0","id":ID,"result":"#,
        deep.as_str(),
    ];
    let mut told = Vec::new();
    for line in lines {
        let began = std::time::Instant::now();
        let failure = call_within(&mut answering(line), &desk("text"), json!({}), 60_000);
        let failure = failure.unwrap_err();
        assert_eq!(failure.kind, FailureKind::Api, "{line}");
        assert!(began.elapsed().as_secs() < 20, "{line}");
        told.push(failure.message);
    }
    insta::assert_snapshot!(told.join("\n"), @"
    `t` (server `desk`): its answer cannot be read: it has both `result` and `error`
    `t` (server `desk`): its answer cannot be read: it has neither `result` nor `error`
    `t` (server `desk`): its answer cannot be read: its `id` is not that of the question
    `t` (server `desk`): its answer cannot be read: unrecognized JSON-RPC message
    `t` (server `desk`): its answer cannot be read: EOF while parsing a value at line 1 column 33
    `t` (server `desk`): its answer cannot be read: recursion limit exceeded at line 1 column 170
    ");
    // An answer that is none of a tool is told as what it is: the server is still there, and answers again.
    let results = [
        r#"{"content":"seven"}"#,
        r#"{"content":[{"type":"text"}]}"#,
        r#"{"content":[{"type":"song","text":"la"}]}"#,
        r#"{"days":7}"#,
        r#"{"tools":[]}"#,
        "{}",
        "7",
    ];
    let mut told = Vec::new();
    for result in results {
        let line = format!(r#"{{"jsonrpc":"2.0","id":ID,"result":{result}}}"#);
        let mut mcp = answering(&line);
        let failures = [(); 2].map(|()| call(&mut mcp, &desk("text"), json!({})).unwrap_err());
        assert!(failures.iter().all(|f| f.kind == FailureKind::Api), "{result}");
        assert_eq!(failures[0].message, failures[1].message);
        told.extend(failures.into_iter().take(1).map(|failure| failure.message));
    }
    insta::assert_snapshot!(told.join("\n"), @r#"
    `t` (server `desk`): its answer is no result of a tool: invalid type: string "seven", expected a sequence
    `t` (server `desk`): its answer is no result of a tool: missing field `text`
    `t` (server `desk`): its answer is no result of a tool: unknown variant `song`, expected one of `text`, `image`, `audio`, `resource`, `resource_link`
    `t` (server `desk`): its answer is no result of a tool: it has neither `content` nor `structuredContent`
    `t` (server `desk`): its answer is no result of a tool: it has neither `content` nor `structuredContent`
    `t` (server `desk`): its answer is no result of a tool: it has neither `content` nor `structuredContent`
    `t` (server `desk`): its answer is no result of a tool: it is no object
    "#);
    // Words that do not belong there are passed over, and so is what the server asks.
    let good = "note: here it comes\n{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{\"level\":\"info\",\"data\":1}}\n{\"jsonrpc\":\"2.0\",\"id\":ID,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"7 days\"}]}}";
    assert_eq!(call(&mut answering(good), &desk("text"), json!({})).unwrap(), json!("7 days"));
}

#[test]
fn a_server_gets_the_key_of_a_call() {
    let served = Served::new();
    let at_address = format!(
        "servers:\n  desk:\n    url: {}\n    headers: {{ X-Key: open-sesame }}\n",
        served.1
    );
    for mut mcp in [process(), mcp(&at_address)] {
        let call = |mcp: &mut Mcp, key: &str| {
            mcp.call(&ToolCall {
                agent: "Desk",
                name: "t",
                tool: Some(&desk("key")),
                remote: None,
                arguments: serde_json::Map::new(),
                timeout_ms: 20_000,
                idempotency_key: key.to_owned(),
                session: serde_json::Map::new(),
            })
        };
        assert_eq!(call(&mut mcp, "k17").unwrap(), json!("k17"));
        assert_eq!(call(&mut mcp, "").unwrap(), json!("none"));
    }
}

#[test]
fn servers_that_cannot_be_had_are_told() {
    let told = [
        "servers: {}\n",
        "servers:\n  office: { command: x }\n  shop: { url: 'http://127.0.0.1:1' }\n",
        "servers:\n  desk: { command: no-such-program-anywhere }\n",
        "servers:\n  desk: { command: 'true' }\n",
        "servers:\n  desk: { command: x, env: { A: '{{secrets.NOT_THERE}}' } }\n",
        "servers:\n  desk: { url: 'http://127.0.0.1:1/mcp', headers: { 'a b': c } }\n",
    ]
    .map(|file| {
        let failure = call(&mut mcp(file), &desk("text"), json!({})).unwrap_err();
        let message = failure.message.split(':').next().unwrap_or_default().to_owned();
        format!("{:?} {message}", failure.kind)
    });
    insta::assert_snapshot!(told.join("\n"), @"
    Refused `t` cannot be called
    Refused `t` cannot be called
    Api `t` (server `desk`)
    Api `t` (server `desk`)
    Refused `t` cannot be called
    Refused `t` cannot be called
    ");
}
