//! Tools that reach the world: what they may, and that nothing of them outlives the program.

#![cfg(target_os = "linux")]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests end by panicking"
)]

mod common;

use agentir_runtime::{FailureKind, ToolCall, Tools};
use agentir_tools::{Python, Supervisor};
use common::{CACHE, agentir, ran, write};
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

/// How long processes may take to be gone, and to come up on a slow machine.
const GONE: Duration = Duration::from_secs(5);
const UP: Duration = Duration::from_secs(60);

const BOT: &str = "main:\n  type: flow agent\n  steps:\n    - call: work\n    - bot: over\n";

/// Starts a process in a session of its own, whose parent ends at once; `hang()` goes on for ever.
const ESCAPE: &str = r#"
import os, subprocess, sys, time

def escape(folder):
    code = "import subprocess, sys; subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)', sys.argv[1]], start_new_session=True)"
    subprocess.run([sys.executable, "-c", code, folder], start_new_session=True)
    subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)", folder])
    open(os.path.join(folder, "up"), "w").close()

def hang():
    while True:
        time.sleep(1)
"#;

/// The processes that run in a folder or have its path among their arguments. Zombies have neither.
fn processes(folder: &Path) -> Vec<String> {
    let folder = folder.canonicalize().unwrap();
    let name = folder.to_str().unwrap();
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc").unwrap().flatten() {
        let arguments = fs::read(entry.path().join("cmdline")).unwrap_or_default();
        let arguments = String::from_utf8_lossy(&arguments).replace('\0', " ");
        let runs_there = fs::read_link(entry.path().join("cwd")).is_ok_and(|cwd| cwd == folder);
        if !arguments.is_empty() && (runs_there || arguments.contains(name)) {
            found.push(format!("{:?}: {arguments}", entry.file_name()));
        }
    }
    found
}

fn assert_gone(folder: &Path, why: &str) {
    let end = Instant::now() + GONE;
    loop {
        let left = processes(folder);
        match left.as_slice() {
            [] => return,
            _ if Instant::now() > end => panic!("after {why}: {left:#?}"),
            _ => thread::sleep(Duration::from_millis(20)),
        }
    }
}

fn wait_for(file: &Path) {
    let end = Instant::now() + UP;
    while !file.exists() {
        assert!(Instant::now() < end, "{} does not come", file.display());
        thread::sleep(Duration::from_millis(20));
    }
}

fn start(folder: &Path, args: &[&str]) -> Child {
    let mut command = agentir(folder, Path::new(CACHE));
    command.args(args).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().unwrap()
}

fn signal(child: &mut Child, signal: &str) {
    let id = child.id().to_string();
    assert!(Command::new("kill").args([signal, &id]).status().unwrap().success());
    assert!(!child.wait().unwrap().success());
}

const SIGNALS: [&str; 4] = ["-INT", "-TERM", "-HUP", "-KILL"];

#[test]
fn functions_end_with_the_program() {
    for kind in SIGNALS {
        let folder = tempfile::tempdir().unwrap();
        let tools = format!("{ESCAPE}\ndef work():\n    escape(os.getcwd())\n    hang()\n");
        write(folder.path(), &[("agents.yml", BOT), ("tools.py", &tools)]);
        let mut child = start(folder.path(), &["run", ".", "--allow-tools"]);
        wait_for(&folder.path().join("up"));
        // agentir, the supervisor, the function, and what it started.
        let all = processes(folder.path());
        assert_eq!(all.len(), 5, "{all:#?}");
        signal(&mut child, kind);
        assert_gone(folder.path(), kind);
    }
}

#[test]
fn functions_leave_nothing_when_they_end() {
    let folder = tempfile::tempdir().unwrap();
    let tools = format!("{ESCAPE}\ndef work():\n    escape(os.getcwd())\n    return []\n");
    write(folder.path(), &[("agents.yml", BOT), ("tools.py", &tools)]);
    let (code, out, err) = ran(folder.path(), &["run", ".", "--allow-tools"]);
    assert_eq!((code, out.as_str(), err.as_str()), (0, "over\n", ""));
    assert!(folder.path().join("up").exists());
    assert_gone(folder.path(), "the end of the conversation");
    let crash = format!("{ESCAPE}\ndef work():\n    escape(os.getcwd())\n    os.abort()\n");
    write(folder.path(), &[("tools.py", &crash)]);
    let (_, _, err) = ran(folder.path(), &["run", ".", "--allow-tools", "--trace"]);
    assert!(err.contains("ended without an answer"), "{err}");
    assert_gone(folder.path(), "a crash");
}

/// A call of the function `work`, with the built program as the supervisor.
fn work(folder: &Path, timeout_ms: u64) -> (FailureKind, String) {
    let functions = [("work".to_owned(), folder.join("tools.py"))];
    let supervisor = Supervisor::new(env!("CARGO_BIN_EXE_agentir"), "supervise");
    let mut python = Python::new(folder, functions).unwrap().supervisor(supervisor);
    let failure = python
        .call(&ToolCall {
            agent: "main",
            name: "work",
            tool: None,
            remote: None,
            arguments: serde_json::Map::new(),
            timeout_ms,
            idempotency_key: String::new(),
            session: serde_json::Map::new(),
        })
        .unwrap_err();
    (failure.kind, failure.message)
}

#[test]
fn functions_end_at_their_time_limit() {
    let folder = tempfile::tempdir().unwrap();
    let tools = format!("{ESCAPE}\ndef work():\n    escape(os.getcwd())\n    hang()\n");
    write(folder.path(), &[("tools.py", &tools)]);
    let mut timeout = 1000;
    // A slow machine may not have come to its children.
    while !folder.path().join("up").exists() {
        assert_eq!(work(folder.path(), timeout).0, FailureKind::Timeout);
        assert_gone(folder.path(), "the time limit");
        timeout *= 2;
    }
}

#[test]
fn functions_that_are_supervised_are_told_apart_from_programs_that_are_not_there() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), &[("tools.py", "def work():\n    return []\n")]);
    let functions = [("work".to_owned(), folder.path().join("tools.py"))];
    let supervisor = Supervisor::new(env!("CARGO_BIN_EXE_agentir"), "supervise");
    let python = Python::new(folder.path(), functions).unwrap().supervisor(supervisor);
    let mut python = python.interpreter("no-such-python");
    let call = ToolCall {
        agent: "main",
        name: "work",
        tool: None,
        remote: None,
        arguments: serde_json::Map::new(),
        timeout_ms: 20_000,
        idempotency_key: String::new(),
        session: serde_json::Map::new(),
    };
    let failure = python.call(&call).unwrap_err();
    assert!(failure.message.contains("`no-such-python` is not found"), "{failure}");
}

#[test]
fn functions_have_limits() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), &[("tools.py", "def work():\n    return len(bytearray(5 << 30))\n")]);
    let (kind, message) = work(folder.path(), 60_000);
    assert_eq!(kind, FailureKind::Error);
    assert!(message.contains("MemoryError"), "{message}");
    let limits = "import resource\ndef work():\n    raise Exception(resource.getrlimit(resource.RLIMIT_CPU))\n";
    write(folder.path(), &[("tools.py", limits)]);
    let threads = thread::available_parallelism().unwrap().get() as u64;
    let (_, message) = work(folder.path(), 20_000);
    let most = 21 * threads;
    assert!(message.contains(&format!("({most}, {most})")), "{message}");
}

/// A server of the Model Context Protocol, with a process that has escaped it.
const SERVER: &str = r#"
import json

escape(os.getcwd())
for line in sys.stdin:
    asked = json.loads(line)
    if asked.get("method") == "initialize":
        version = asked["params"]["protocolVersion"]
        result = {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": {"name": "s", "version": "1"}}
    elif asked.get("method") == "tools/call" and os.environ.get("MODE") == "answer":
        result = {"content": [{"type": "text", "text": os.environ.get("TOKEN", "none")}]}
    elif "id" in asked and asked.get("method") == "tools/call":
        open("called", "w").close()
        hang()
    else:
        continue
    print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": result}), flush=True)
hang()
"#;

const DESK: &str = "AGENT: Desk\nGOAL: \"Look things up\"\nTOOLS:\n  look() -> {answer: string}\n    \
    description: \"Looks\"\nTYPE\nFLOW:\n  start:\n    REASONING: false\n    CALL: look()\n    ON_SUCCESS:\n      \
    RESPOND: \"found {{look}}\"\n    ON_FAIL:\n      RESPOND: \"not found\"\n    THEN: COMPLETE\n";

fn desk(binding: &[&str]) -> String {
    let binding: Vec<String> = binding.iter().map(|line| format!("    {line}")).collect();
    DESK.replace("TYPE", &binding.join("\n"))
}

fn with_server(mode: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let agent = desk(&["type: mcp", "server: shelf", "tool: look"]);
    let servers = format!(
        "servers:\n  shelf:\n    command: python3\n    args: [server.py]\n    env: {{ MODE: {mode}, TOKEN: '{{{{secrets.SHELF_TOKEN}}}}' }}\n"
    );
    let server = format!("{ESCAPE}{SERVER}");
    write(
        folder.path(),
        &[("desk.agent.abl", &agent), ("mcp.yaml", &servers), ("server.py", &server)],
    );
    folder
}

#[test]
fn servers_end_with_the_program() {
    for kind in SIGNALS {
        let folder = with_server("hang");
        let mut command = agentir(folder.path(), Path::new(CACHE));
        command.args(["run", "desk.agent.abl", "--allow-tools", "--mcp", "mcp.yaml"]);
        let mut child = command.env("SHELF_TOKEN", "t").stdin(Stdio::piped()).spawn().unwrap();
        wait_for(&folder.path().join("called"));
        signal(&mut child, kind);
        assert_gone(folder.path(), kind);
    }
}

#[test]
fn servers_end_with_the_conversation_and_get_what_their_file_says() {
    let folder = with_server("answer");
    let mut command = agentir(folder.path(), Path::new(CACHE));
    command.args(["run", "desk.agent.abl", "--allow-tools", "--mcp", "mcp.yaml"]);
    let output = command.env("SHELF_TOKEN", "shelf-token").output().unwrap();
    // It got the variable, and what it says of it is not shown.
    assert_eq!(common::stdout(&output), "found …\n", "{}", common::stderr(&output));
    assert_gone(folder.path(), "the end of the conversation");
}

/// A web server on this machine; the heads of the requests that it got.
fn web() -> (u16, Arc<Mutex<Vec<String>>>) {
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = server.local_addr().unwrap().port();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let noted = seen.clone();
    thread::spawn(move || {
        for stream in server.incoming() {
            let mut stream = stream.unwrap();
            let lines = BufReader::new(&stream).lines().map_while(Result::ok);
            let head: Vec<String> = lines.take_while(|line| !line.is_empty()).collect();
            noted.lock().unwrap().push(head.join("\n"));
            let (status, more) = if head[0].contains("/away") {
                ("302 Found", "Location: /here\r\n")
            } else {
                ("200 OK", "")
            };
            let answer = format!(
                "HTTP/1.1 {status}\r\n{more}Content-Length: 5\r\nConnection: close\r\n\r\n\"yes\""
            );
            let _ = stream.write_all(answer.as_bytes());
        }
    });
    (port, seen)
}

/// Runs an agent that calls an address, and returns what it said and what was noted.
fn look(binding: &[&str], args: &[&str]) -> (String, String) {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), &[("desk.agent.abl", &desk(binding))]);
    let mut command = agentir(folder.path(), Path::new(CACHE));
    command.args(["run", "desk.agent.abl"]).args(args);
    command.env("LOOK_SECRET", "s3cret-of-the-user").env("no_proxy", "*").env("NO_PROXY", "*");
    let output = command.output().unwrap();
    (common::stdout(&output), common::stderr(&output))
}

#[test]
fn hosts_and_variables_are_allowed_by_name() {
    let (port, seen) = web();
    let at = format!("endpoint: \"http://127.0.0.1:{port}/x\"");
    let binding = ["type: http", &at, "headers:", "  X-Key: \"{{env.LOOK_SECRET}}\""];
    let mut args = vec!["--allow-tools"];
    let flags = [format!("--allow-host 127.0.0.1:{port}"), "--allow-env LOOK_SECRET".to_owned()];
    let (_, note) = look(&binding, &[]);
    assert!(note.contains("run with --allow-tools"), "{note}");
    // Each message says which flag is missing, and nothing is sent before all are there.
    for flag in &flags {
        let (said, note) = look(&binding, &args);
        assert_eq!(said, "not found\n");
        assert!(note.trim_end().ends_with(flag.as_str()), "{note}");
        assert!(seen.lock().unwrap().is_empty());
        args.extend(flag.split(' '));
    }
    assert_eq!(look(&binding, &args), ("found yes\n".to_owned(), String::new()));
    assert!(seen.lock().unwrap()[0].to_lowercase().contains("x-key: s3cret-of-the-user"));
    // Another port, another variable, another name of the same machine.
    let other_port = format!("127.0.0.1:{}", port.wrapping_add(1).max(1));
    for (others, flag) in [
        (["--allow-env", "LOOK_SECRET", "--allow-host", &other_port], &flags[0]),
        (["--allow-env", "LOOK_SECRET", "--allow-host", "localhost"], &flags[0]),
        (["--allow-env", "LOOK", "--allow-host", "127.0.0.1"], &flags[1]),
    ] {
        let mut args = vec!["--allow-tools"];
        args.extend(others);
        let (said, note) = look(&binding, &args);
        assert_eq!(said, "not found\n");
        assert!(note.trim_end().ends_with(flag.as_str()), "{note}");
    }
    assert_eq!(seen.lock().unwrap().len(), 1);
}

/// A web server that answers with the headers that it got: `x-text` in a text, `x-number` as a number.
fn echo() -> u16 {
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = server.local_addr().unwrap().port();
    thread::spawn(move || {
        for stream in server.incoming() {
            let mut stream = stream.unwrap();
            let lines = BufReader::new(&stream).lines().map_while(Result::ok);
            let head: Vec<String> = lines.take_while(|line| !line.is_empty()).collect();
            let header = |name: &str| {
                let lines = head.iter().filter_map(|line| line.split_once(": "));
                let mut found = lines.filter(|(known, _)| known.eq_ignore_ascii_case(name));
                found.next().map(|(_, value)| value.to_owned()).unwrap()
            };
            let body = format!(
                "{{\"r\": \"echo {} of {}\", \"n\": {}}}",
                header("x-text"),
                header("x-short"),
                header("x-number")
            );
            let length = body.len();
            let answer = format!(
                "HTTP/1.1 200 OK\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}"
            );
            let _ = stream.write_all(answer.as_bytes());
        }
    });
    port
}

/// A web server that gives an access token, and answers everything else with a body. Its port, and what it was asked.
fn answering(body: &'static str) -> u16 {
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = server.local_addr().unwrap().port();
    thread::spawn(move || {
        for stream in server.incoming() {
            let mut stream = stream.unwrap();
            let lines = BufReader::new(&stream).lines().map_while(Result::ok);
            let head: Vec<String> = lines.take_while(|line| !line.is_empty()).collect();
            let is_for = |path: &str| head.first().is_some_and(|line| line.contains(path));
            let body = match is_for("/token") {
                true => "{\"access_token\": \"tok7Xk4accesstokenQ8\"}",
                false => body,
            };
            let length = body.len();
            let answer = format!(
                "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}"
            );
            let _ = stream.write_all(answer.as_bytes());
        }
    });
    port
}

/// All that a conversation shows, now and later, whose tool calls a server.
fn conversation(port: u16, login: &str, variables: &[(&str, &str)], model: &[&str]) -> Vec<String> {
    let agent = format!(
        "AGENT: Desk\nGOAL: \"Look things up\"\nMEMORY:\n  session:\n    - name: r\n      type: object\nTOOLS:\n  \
         look() -> {{r: string}}\n    description: \"Looks\"\n    type: http\n    endpoint: \"http://127.0.0.1:{port}/a\"\n    \
         method: GET\n{login}FLOW:\n  a:\n    REASONING: false\n    CALL: look()\n    AS: r\n    THEN: b\n  b:\n    \
         REASONING: false\n    RESPOND: \"got {{{{r.r}}}}\"\n    THEN: c\n  c:\n    REASONING: false\n    GATHER:\n      \
         - q: required\n    RESPOND: \"again {{{{r}}}} {{{{q}}}}\"\n    THEN: COMPLETE\n"
    );
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), &[("desk.agent.abl", &agent)]);
    let run = |args: &[&str], input: &str, variables: &[(&str, &str)]| {
        let mut command = agentir(folder.path(), Path::new(CACHE));
        command.args(args).env("no_proxy", "*").env("NO_PROXY", "*");
        command.envs(variables.iter().copied()).stdin(Stdio::piped());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        common::stdout(&output) + &common::stderr(&output)
    };
    let stored = ["--session", "s", "--store", "s.sqlite"];
    let host = format!("127.0.0.1:{port}");
    let names: Vec<&str> = variables.iter().map(|(name, _)| *name).collect();
    let names = names.join(",");
    let mut args = vec!["run", "desk.agent.abl", "--allow-tools", "--allow-host", &host];
    args.extend(["--allow-env", &names, "--trace", "--trace-file", "t"]);
    args.extend(stored.iter().chain(model));
    let mut shown = vec![run(&args, "hello\n", variables)];
    shown.push(fs::read_to_string(folder.path().join("t")).unwrap());
    let later = [&["run", "desk.agent.abl", "--trace"][..], &stored].concat();
    shown.push(run(&later, "more\n", &[]));
    for args in [&["session", "show", "s"][..], &["session", "export", "s"]] {
        shown.push(run(&[args, &["--store", "s.sqlite"]].concat(), "", &[]));
    }
    shown
}

/// A service answers with what it was sent, as writers of addresses, JSON, HTML and Base64 have it.
#[test]
fn what_a_service_echoes_in_another_encoding_is_shown_nowhere() {
    let key = |value| [("LOOK_KEY", value)];
    let header = "    headers:\n      X-Key: \"{{secrets.LOOK_KEY}}\"\n";
    let address = "Ab+12/cdEF34gh+9/Kq==";
    let quoted = "Ab\"12\\cdEF34gh9Kq";
    let plain = "zq7Xk4supersecretvalue9";
    let login = "    auth: basic\n    auth_config:\n      username: \"{{secrets.LOOK_USER}}\"\n      password: \"{{secrets.LOOK_KEY}}\"\n";
    for (value, body, parts) in [
        (address, r#"{"r": "is Ab%2B12%2FcdEF34gh%2B9%2FKq%3D%3D"}"#, ["cdEF34gh", "gh%2B9%2FKq"]),
        (address, r#"{"r": "is Ab%2b12%2fcdEF34gh%2b9%2fKq%3d%3d"}"#, ["cdEF34gh", "gh%2b9%2fKq"]),
        (quoted, r#"{"r": "{\"q\": \"Ab\\\"12\\\\cdEF34gh9Kq\"}"}"#, ["cdEF34gh", "34gh9Kq"]),
        (
            quoted,
            r#"{"r": "{\"k\": \"{\\\"q\\\": \\\"Ab\\\\\\\"12\\\\\\\\cdEF34gh9Kq\\\"}\"}"}"#,
            ["cdEF34gh", "34gh9Kq"],
        ),
        (quoted, r#"{"r": "is Ab&quot;12\\cdEF34gh9Kq"}"#, ["cdEF34gh", "34gh9Kq"]),
        (plain, r#"{"r": "is ZQ7XK4SUPERSECRETVALUE9"}"#, ["SUPERSECRET", "SECRETVALUE9"]),
        (plain, r#"{"r": "is enE3WGs0c3VwZXJzZWNyZXR2YWx1ZTk="}"#, ["c3VwZXJzZWNy", "ZXR2YWx1"]),
        // `username71:` and the value.
        (
            plain,
            r#"{"r": "is dXNlcm5hbWU3MTp6cTdYazRzdXBlcnNlY3JldHZhbHVlOQ=="}"#,
            ["cm5hbWU3M", "BlcnNlY3JldHZhbHV"],
        ),
        (
            plain,
            r#"{"r": "is %7a%71%37%58%6b%34%73%75%70%65%72%73%65%63%72%65%74%76%61%6c%75%65%39"}"#,
            ["%73%75%70%65", "%76%61%6c%75"],
        ),
    ] {
        let variables = [key(value)[0], ("LOOK_USER", "username71")];
        let login = if parts[0] == "cm5hbWU3M" { login } else { header };
        for shown in conversation(answering(body), login, &variables, &[]) {
            assert!(shown.contains('…'), "{body}: {shown}");
            for part in parts {
                assert!(!shown.contains(part), "{body}: {part}: {shown}");
            }
        }
    }
}

/// The token that agentir gets for a tool, and the key that it sends to a model, are no more to be seen than the variables
/// that tools read.
#[test]
fn what_a_service_echoes_of_tokens_and_keys_is_shown_nowhere() {
    let port = answering(
        r#"{"r": "is tok7Xk4accesstokenQ8", "choices": [{"message": {"content": "is mk5Xk4modelkeyQ8zz"}}]}"#,
    );
    let login = format!(
        "    auth: oauth2_client\n    auth_config:\n      token_url: \"http://127.0.0.1:{port}/token\"\n      \
         client_id: \"{{{{secrets.LOOK_USER}}}}\"\n      client_secret: \"{{{{secrets.LOOK_KEY}}}}\"\n"
    );
    let variables = [("LOOK_USER", "username71"), ("LOOK_KEY", "zq7Xk4supersecretvalue9")];
    for shown in conversation(port, &login, &variables, &[]) {
        assert!(shown.contains("is tok7…"), "{shown}");
        assert!(!shown.contains("accesstoken"), "{shown}");
    }
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), &[("desk.agent.abl", "AGENT: Desk\n\nGOAL: \"Talk\"\n")]);
    let url = format!("http://127.0.0.1:{port}");
    let stored = ["--session", "s", "--store", "s.sqlite"];
    let model =
        ["--model", "openai", "--base-url", &url, "--model-name", "m", "--key-from", "MY_KEY"];
    let run = |args: &[&str], input: &str| {
        let mut command = agentir(folder.path(), Path::new(CACHE));
        command.args(args).env("no_proxy", "*").env("NO_PROXY", "*");
        command.env("MY_KEY", "mk5Xk4modelkeyQ8zz").stdin(Stdio::piped());
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        common::stdout(&output) + &common::stderr(&output)
    };
    let args = ["run", "desk.agent.abl", "--trace", "--trace-file", "t"];
    let mut shown = vec![run(&[&args[..], &stored, &model].concat(), "hello\n")];
    shown.push(fs::read_to_string(folder.path().join("t")).unwrap());
    for args in [&["session", "show", "s"][..], &["session", "export", "s"]] {
        shown.push(run(&[args, &stored[2..]].concat(), ""));
    }
    for shown in shown {
        assert!(shown.contains("is mk5X…"), "{shown}");
        assert!(!shown.contains("modelkey"), "{shown}");
    }
}

#[test]
fn what_a_service_echoes_of_the_environment_is_shown_nowhere() {
    let port = echo();
    // What the agent does depends on the values, which it gets as they are.
    let agent = |space: &str| {
        format!(
            "AGENT: Desk\nGOAL: \"Look things up\"\nMEMORY:\n  session:\n    - r\nTOOLS:\n  look() -> {{r: string, n: number}}\n    \
             description: \"Looks\"\n    type: http\n    endpoint: \"http://127.0.0.1:{port}/a\"\n    method: GET\n    \
             headers:\n      X-Text: \"{{{{{space}.LOOK_TEXT}}}}\"\n      X-Short: \"{{{{{space}.LOOK_SHORT}}}}\"\n      \
             X-Number: \"{{{{{space}.LOOK_NUMBER}}}}\"\nFLOW:\n  a:\n    REASONING: false\n    CALL: look()\n    AS: r\n    THEN: b\n  \
             b:\n    REASONING: false\n    RESPOND: \"got {{{{r.r}}}} and {{{{r.n}}}}\"\n    ON_INPUT:\n      \
             - IF: r.n == 8394726155 AND r.r == \"echo supersecretvalue of yes-no\"\n        RESPOND: \"as they are\"\n        THEN: COMPLETE\n      \
             - ELSE:\n        RESPOND: \"changed\"\n        THEN: COMPLETE\n"
        )
    };
    for space in ["secrets", "env", "config"] {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), &[("desk.agent.abl", &agent(space))]);
        let host = format!("127.0.0.1:{port}");
        let run = |args: &[&str], input: &str| {
            let mut command = agentir(folder.path(), Path::new(CACHE));
            command.args(args).env("no_proxy", "*").env("NO_PROXY", "*");
            command.env("LOOK_TEXT", "supersecretvalue").env("LOOK_SHORT", "yes-no");
            command.env("LOOK_NUMBER", "8394726155").stdin(Stdio::piped());
            command.stdout(Stdio::piped()).stderr(Stdio::piped());
            let mut child = command.spawn().unwrap();
            child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
            let output = child.wait_with_output().unwrap();
            (common::stdout(&output), common::stderr(&output))
        };
        let allowed =
            ["--allow-env", "LOOK_TEXT", "--allow-env", "LOOK_SHORT", "--allow-env", "LOOK_NUMBER"];
        let kept = ["--session", "s", "--store", "s.sqlite", "--trace", "--trace-file", "t"];
        let mut args = vec!["run", "desk.agent.abl", "--allow-tools", "--allow-host", &host];
        args.extend(allowed.into_iter().chain(kept));
        let (said, trace) = run(&args, "go on\n");
        assert!(said.contains("got echo supe… of … and …"), "{said}{trace}");
        assert!(said.contains("as they are"), "{said}{trace}");
        let file = fs::read_to_string(folder.path().join("t")).unwrap();
        let mut shown = vec![said, trace, file];
        for args in [&["session", "show", "s"][..], &["session", "export", "s"]] {
            let (text, error) = run(&[args, &["--store", "s.sqlite"]].concat(), "");
            assert!(text.contains("echo supe… of …"), "{text}{error}");
            shown.push(text + &error);
        }
        for text in shown {
            for secret in ["ersecretvalue", "yes-no", "8394726155"] {
                // The condition of the agent has the values as constants.
                let lines = text.lines().filter(|line| !line.contains("r.n =="));
                assert!(lines.clone().all(|line| !line.contains(secret)), "{space}: {text}");
                assert!(lines.count() > 0);
            }
        }
    }
}

#[test]
fn addresses_that_are_not_public_are_named_themselves() {
    let (port, seen) = web();
    let call = |host: &str, allowed: &[&str]| {
        let at = format!("endpoint: \"http://{host}:{port}/x\"");
        let mut args = vec!["--allow-tools"];
        allowed.iter().for_each(|host| args.extend(["--allow-host", host]));
        look(&["type: http", &at], &args)
    };
    for host in ["169.254.169.254", "[fd00:ec2::254]", "10.1.2.3", "0.0.0.0", "[::ffff:127.0.0.1]"]
    {
        let (said, note) = call(host, &["example.com"]);
        assert_eq!(said, "not found\n");
        assert!(
            note.contains("which is not a public address; to allow that, run with --allow-host"),
            "{note}"
        );
    }
    // Names that the resolver of the system takes for an address of this machine.
    for name in ["2130706433", "0x7f000001", "127.1"] {
        let (said, note) = call(name, &[name]);
        assert_eq!(said, "not found\n");
        let told = format!(
            "`{name}` is at 127.0.0.1, which is not a public address; to allow that, run with --allow-host 127.0.0.1"
        );
        assert!(note.contains(&told), "{note}");
    }
    assert!(seen.lock().unwrap().is_empty());
    assert_eq!(call("127.1", &["127.1", "127.0.0.1"]).0, "found yes\n");
    assert_eq!(call("localhost", &["localhost"]).0, "found yes\n");
}

#[test]
fn a_host_that_a_variable_names_is_not_shown_as_what_to_allow() {
    let binding = ["type: http", "endpoint: \"https://{{env.LOOK_SECRET}}:8443/x\""];
    let args = ["--allow-tools", "--allow-env", "LOOK_SECRET"];
    let (said, note) = look(&binding, &args);
    assert_eq!(said, "not found\n");
    assert!(!note.contains("s3cret") && !note.contains("***"), "{note}");
    assert!(note.contains("comes from a variable of the environment"), "{note}");
    assert!(note.contains("--allow-host"), "{note}");
}

#[test]
fn redirects_and_tokens_lead_nowhere_else() {
    let (port, seen) = web();
    let host = format!("127.0.0.1:{port}");
    let at = format!("endpoint: \"http://{host}/away\"");
    let (said, _) = look(&["type: http", &at], &["--allow-tools", "--allow-host", &host]);
    assert_eq!(said, "not found\n");
    assert_eq!(seen.lock().unwrap().len(), 1);
    let login = [
        "type: http",
        &at,
        "auth: oauth2_client",
        "auth_config:",
        "  token_url: \"http://10.9.8.7/token\"",
        "  client_id: \"a\"",
        "  client_secret: \"b\"",
    ];
    let (_, note) = look(&login, &["--allow-tools", "--allow-host", &host]);
    assert!(note.trim_end().ends_with("run with --allow-host 10.9.8.7"), "{note}");
    assert_eq!(seen.lock().unwrap().len(), 1);
}

#[test]
fn only_the_file_of_a_function_runs_and_sees_only_what_is_allowed() {
    let folder = tempfile::tempdir().unwrap();
    let tools = "import os\nimport prices\n\ndef work():\n    return [{\"bot\": f\"{prices.PRICE} {os.environ.get('LOOK_SECRET')}\"}]\n";
    let noisy =
        |name: &str| format!("open('{name}', 'w').close()\n\ndef {name}():\n    return []\n");
    write(
        folder.path(),
        &[
            ("agents.yml", BOT),
            ("tools.py", tools),
            ("prices.py", "PRICE = 12\n"),
            ("other.py", &noisy("other")),
            ("setup.py", &noisy("install")),
        ],
    );
    let path: PathBuf = folder.path().to_owned();
    let run = |at: &str, more: &[&str]| {
        let mut command = agentir(&path, Path::new(CACHE));
        command.args(["run", at, "--allow-tools"]).args(more).env("LOOK_SECRET", "s3cret");
        let output = command.output().unwrap();
        (common::stdout(&output), common::stderr(&output))
    };
    for at in [".", "./", "agents.yml", path.to_str().unwrap()] {
        assert_eq!(run(at, &[]), ("12 None\nover\n".to_owned(), String::new()), "{at}");
    }
    assert_eq!(run(".", &["--allow-env", "LOOK_SECRET"]).0, "12 …\nover\n");
    for name in ["other", "install"] {
        assert!(!path.join(name).exists(), "`{name}` was executed");
    }
}

#[test]
fn waits_before_retries_are_said_and_take_no_longer_than_a_call_may() {
    let folder = tempfile::tempdir().unwrap();
    let stubs = "tools:\n  sell:\n    - fail: error\n      message: \"no\"\n";
    let text = |delay: u64| {
        format!(
            "AGENT: Desk\n\nGOAL: \"Sell\"\n\nEXECUTION:\n  tool_timeout: 2500\n\nTOOLS:\n  sell(a: string) -> {{b: string}}\n    description: \"Sells\"\n\nFLOW:\n  start:\n    REASONING: false\n    CALL: sell(a: \"1\")\n    THEN: COMPLETE\n\nON_ERROR:\n  tool_error:\n    RETRY: 1000000000\n    RETRY_DELAY: {delay}\n    RESPOND: \"Sorry\"\n    THEN: COMPLETE\n"
        )
    };
    let refused = "note: does not try again: the wait of";
    for (delay, waits) in [(1_000, 2), (1_000_000_000, 0)] {
        write(folder.path(), &[("a.agent.abl", &text(delay)), ("s.yaml", stubs)]);
        let start = Instant::now();
        let (code, said, told) = ran(folder.path(), &["run", "a.agent.abl", "--stubs", "s.yaml"]);
        let took = start.elapsed();
        assert_eq!(code, 0, "{said}{told}");
        assert_eq!(said.matches("Sorry").count(), waits + 1, "{said}");
        assert_eq!(told.matches("note: waits 1 s before it tries again").count(), waits, "{told}");
        assert_eq!(told.matches(refused).count(), 1, "{told}");
        assert!(took >= Duration::from_secs(waits as u64) && took < UP, "{took:?}");
    }
}

/// A script that is over its time within a function that is not interrupted.
const ENDLESS: &str = r#"AGENT: Desk

GOAL: "Sell"

EXECUTION:
  tool_timeout: 100

TOOLS:
  work() -> object
    type: sandbox
    runtime: javascript
    code: |
      return Array.prototype.reverse.call({ length: 2 ** 53 - 1 });

FLOW:
  start:
    REASONING: false
    CALL: work()
    ON_SUCCESS:
      RESPOND: "Done"
      THEN: ask
    ON_FAIL:
      RESPOND: "Sorry"
      THEN: ask
  ask:
    REASONING: false
    GATHER:
      - a:
          TYPE: string
          REQUIRED: true
          PROMPT: "Again?"
    CLEAR: [a]
    THEN: start
"#;

#[test]
fn few_scripts_go_on_after_their_time() {
    let folder = tempfile::tempdir().unwrap();
    let mut tests = "agents: a.agent.abl\ntests:\n".to_owned();
    for i in 0..40 {
        tests +=
            &format!("  - name: t{i}\n    turns:\n      - user: hello\n        says: [Sorry]\n");
    }
    write(folder.path(), &[("a.agent.abl", ENDLESS), ("t.test.yaml", &tests)]);
    // Of one conversation.
    let mut run = agentir(folder.path(), Path::new(CACHE));
    run.args(["run", "a.agent.abl", "--trace"]).stdin(Stdio::piped());
    let mut child = run.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(&b"again\n".repeat(5)).unwrap();
    let output = child.wait_with_output().unwrap();
    let told = String::from_utf8_lossy(&output.stderr);
    assert_eq!(told.matches("did not end within 100 ms").count(), 4, "{told}");
    let refused = "work failed: `work` is not run, because 4 other scripts are still running";
    assert_eq!(told.matches(refused).count(), 2, "{told}");
    // Of tests, each of which calls tools of its own. Some scripts may be started before others are over their time.
    let mut test = agentir(folder.path(), Path::new(CACHE));
    test.args(["test", "t.test.yaml"]).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = test.spawn().unwrap();
    let threads = format!("/proc/{}/task", child.id());
    let is_script = |task: &fs::DirEntry| {
        fs::read_to_string(task.path().join("comm")).is_ok_and(|name| name.trim() == "script")
    };
    let (mut most, end) = (0, Instant::now() + UP);
    while child.try_wait().unwrap().is_none() {
        assert!(Instant::now() < end, "the tests do not end");
        let scripts = fs::read_dir(&threads).into_iter().flatten().flatten().filter(is_script);
        most = most.max(scripts.count());
        thread::sleep(Duration::from_millis(20));
    }
    let at_once = thread::available_parallelism().unwrap().get();
    assert!((1..=4 + at_once).contains(&most), "{most} scripts");
}
