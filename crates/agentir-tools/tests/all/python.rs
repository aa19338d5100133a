//! Functions of bots: results, failures, limits.

use crate::{call_by_name, does_not_hang, program};
use agentir_runtime::{FailureKind, ToolCall, Tools};
use agentir_tools::{Allow, Python, Toolbox};
use serde_json::{Map, json};
use std::fs;
use std::path::PathBuf;
use std::time::Duration;
use tempfile::TempDir;

const FUNCTIONS: &str = r#"
import os
import subprocess
import sys
import threading
import time

import prices

calls = 0


def book(route: str, cabin: bool = False):
    """Books a crossing."""
    print("booking", route)
    sys.stdout.write('{"value": "not this"}\n')
    os.write(1, b'{"value": "nor this"}\n')
    subprocess.run(["echo", "nor that"])
    return [{"arg": "price", "value": prices.PRICE}, {"bot": f"To {route}: {cabin}"}]


def counted():
    global calls
    calls += 1
    return calls


def echo(**everything):
    return everything


def broken(x):
    return 1 / x


def leaves():
    sys.exit(3)


def drops_dead():
    sys.stderr.write("out of paper\n")
    os._exit(3)


def no_json():
    return {1, 2}


def much():
    return "x" * (5 << 20)


def talks():
    for _ in range(200):
        print("x" * 10000)
    return "done"


def asks():
    return sys.stdin.read()


def hangs():
    while True:
        pass


def hangs_with_children():
    child = subprocess.Popen(["sleep", "60"])
    with open("child.pid", "w") as file:
        file.write(str(child.pid))
    time.sleep(60)


def leaves_children():
    child = subprocess.Popen(["sleep", "60"])
    return child.pid


def leaves_threads():
    threading.Thread(target=time.sleep, args=(60,)).start()
    return "done"


def environment():
    return [os.environ.get("AGENTIR_TEST_SHOWN"), "CARGO_MANIFEST_DIR" in os.environ]


def twice():
    return "first"
"#;

fn bot() -> (TempDir, Python) {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::write(at("tools.py"), FUNCTIONS).unwrap();
    fs::write(at("later.py"), "def twice():\n    return 'second'\n").unwrap();
    fs::write(at("prices.py"), "PRICE = 12.5\n").unwrap();
    let defined = FUNCTIONS.lines().filter_map(|line| line.strip_prefix("def ")?.split('(').next());
    let mut functions: Vec<_> = defined.map(|name| (name, at("tools.py"))).collect();
    functions.extend([("calls", at("tools.py")), ("twice", at("later.py"))]);
    (folder, python_of(functions))
}

fn python_of(functions: Vec<(&str, PathBuf)>) -> Python {
    let folder = functions[0].1.parent().unwrap().to_owned();
    let named = functions.into_iter().map(|(name, file)| (name.to_owned(), file));
    Python::new(&folder, named).unwrap()
}

#[test]
fn functions_answer_and_their_prints_do_not() {
    let (_folder, mut python) = bot();
    let mut run = |name: &str, with| call_by_name(&mut python, name, with).unwrap();
    assert_eq!(
        run("book", json!({ "route": "the north", "cabin": true })),
        json!([{ "arg": "price", "value": 12.5 }, { "bot": "To the north: True" }])
    );
    assert_eq!(run("echo", json!({})), json!({}));
    let odd = json!({ "a": "ü\n\"'$(id)`;", "b": [1, null, { "c": 2.5 }], "self": true });
    assert_eq!(run("echo", odd.clone()), odd);
    assert_eq!(run("twice", json!({})), json!("second"), "the last file wins");
    assert_eq!(run("talks", json!({})), json!("done"));
    assert_eq!(run("asks", json!({})), json!(""));
    assert_eq!(run("leaves_threads", json!({})), json!("done"));
    // Each call has a process of its own.
    assert_eq!(run("counted", json!({})), json!(1));
    assert_eq!(run("counted", json!({})), json!(1));
}

#[test]
fn failures_say_where() {
    let (_folder, mut python) = bot();
    let mut told = Vec::new();
    for (name, with) in [
        ("broken", json!({ "x": 0 })),
        ("broken", json!({})),
        ("leaves", json!({})),
        ("drops_dead", json!({})),
        ("no_json", json!({})),
        ("much", json!({})),
        ("nothing_like_it", json!({})),
        ("calls", json!({})),
    ] {
        let failure = call_by_name(&mut python, name, with).unwrap_err();
        told.push(format!("{:?}: {}", failure.kind, failure.message));
    }
    insta::assert_snapshot!(told.join("\n"));
}

#[test]
fn files_that_do_not_load_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("tools.py");
    let mut told = Vec::new();
    for text in ["import no_such_module\n", "def f(:\n", "raise SystemExit\n", "x = 1 / 0\n"] {
        fs::write(&file, text).unwrap();
        let mut python = python_of(vec![("f", file.clone())]);
        told.push(call_by_name(&mut python, "f", json!({})).unwrap_err().message);
    }
    insta::assert_snapshot!(told.join("\n"));
    let missing = ("f".to_owned(), folder.path().join("none.py"));
    assert!(Python::new(folder.path(), [missing]).is_err());
    let mut nowhere = python_of(vec![("f", file)]).interpreter("no-such-python");
    let failure = call_by_name(&mut nowhere, "f", json!({})).unwrap_err();
    assert_eq!(failure.kind, FailureKind::Api);
    assert!(failure.message.contains("`no-such-python` is not found"), "{failure}");
}

fn within(python: &mut Python, name: &str, timeout_ms: u64) -> FailureKind {
    let call = ToolCall {
        agent: "main",
        name,
        tool: None,
        remote: None,
        arguments: Map::new(),
        timeout_ms,
        idempotency_key: String::new(),
        session: serde_json::Map::new(),
    };
    python.call(&call).unwrap_err().kind
}

/// Whether a process is there and no zombie.
#[cfg(target_os = "linux")]
fn alive(pid: &str) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with('Z'))
}

#[cfg(target_os = "linux")]
fn ends(pid: &str) -> bool {
    (0..100).any(|_| {
        std::thread::sleep(Duration::from_millis(20));
        !alive(pid)
    })
}

#[test]
fn a_function_that_hangs_is_ended() {
    let (_folder, mut python) = bot();
    let kind = does_not_hang(move || within(&mut python, "hangs", 300));
    assert_eq!(kind, FailureKind::Timeout);
}

#[cfg(target_os = "linux")]
#[test]
fn so_are_its_children() {
    let (folder, mut python) = bot();
    let pid = folder.path().join("child.pid");
    let mut call_timeout = 1000;
    // A slow machine may not have come to the child.
    while !pid.exists() {
        assert_eq!(within(&mut python, "hangs_with_children", call_timeout), FailureKind::Timeout);
        call_timeout *= 2;
    }
    assert!(ends(&fs::read_to_string(pid).unwrap()));
    let left = call_by_name(&mut python, "leaves_children", json!({})).unwrap();
    assert!(ends(&left.to_string()), "what it left behind");
}

#[test]
fn functions_see_only_what_they_may() {
    let (_folder, python) = bot();
    let mut python = python.variable("AGENTIR_TEST_SHOWN", "yes");
    assert_eq!(call_by_name(&mut python, "environment", json!({})).unwrap(), json!(["yes", false]));
}

#[test]
fn the_functions_of_a_bot_are_its_tools() {
    let (_folder, python) = bot();
    let bot = program(&[
        ("agents.yml", "main:\n  type: flow agent\n  steps:\n    - call: book\n"),
        ("tools.py", FUNCTIONS),
    ]);
    let tool = bot.tools().find(|t| t.name.value == "book");
    let run = |toolbox: &mut Toolbox, with: serde_json::Value| {
        let arguments = with.as_object().unwrap().clone();
        toolbox.call(&ToolCall {
            agent: "main",
            name: "book",
            tool,
            remote: None,
            arguments,
            timeout_ms: 20_000,
            idempotency_key: String::new(),
            session: serde_json::Map::new(),
        })
    };
    let mut closed = Toolbox::new(&bot).python(python.clone());
    let refused = run(&mut closed, json!({ "route": "x" })).unwrap_err();
    assert_eq!(refused.kind, FailureKind::Refused);
    assert!(refused.explanation().contains("--allow-tools"), "{refused}");
    let mut open = Toolbox::new(&bot).python(python).allow(Allow::Everything);
    // The function knows its default.
    assert_eq!(
        run(&mut open, json!({ "route": "x" })).unwrap()[1],
        json!({ "bot": "To x: False" })
    );
    let wrong = run(&mut open, json!({ "rout": "x" })).unwrap_err();
    assert_eq!(
        wrong.message,
        "`book` cannot be called like this: there is no parameter `rout`, did you mean `route`?; `route` is missing"
    );
    // None is a value.
    assert!(run(&mut open, json!({ "route": null })).is_ok());
}
