//! Turns that fail, and checks that cannot be evaluated: what the user reads, what the developer reads, what is stored.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests end by panicking"
)]

mod common;

use common::{code, ran, run_with_input, stderr, stdout, write};
use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::thread;

const DESK: &str = "AGENT: Desk\n\nGOAL: \"Talk\"\n\nMEMORY:\n  session:\n    - name: turns\n      initial_value: 0\n\nHOOKS:\n  before_turn:\n    SET:\n      turns: turns + 1\n";

fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("failures_{name}"));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

/// A session whose model is down for one message: the next process goes on with the next one.
#[test]
fn a_stored_session_survives_a_failed_question() {
    let folder = folder("session");
    let down =
        "answers:\n  - say: \"Hello.\"\n  - { ask: converse, fail: unavailable, times: always }\n";
    let up = "answers:\n  - say: \"Here I am.\"\n    times: always\n";
    write(&folder, &[("desk.agent.abl", DESK), ("down.yaml", down), ("up.yaml", up)]);
    let run = |answers: &str, input: &str| {
        let args = [
            "run",
            "desk.agent.abl",
            "--model",
            "scripted",
            "--answers",
            answers,
            "--session",
            "s",
        ];
        run_with_input(&folder, &args, input.as_bytes())
    };
    let first = run("down.yaml", "hi\nand now?\n");
    assert!(stdout(&first).contains("Hello."), "{}", stdout(&first));
    assert!(stdout(&first).contains("Sorry, something went wrong."), "{}", stdout(&first));
    assert!(stderr(&first).contains("error: the model could not be reached"), "{}", stderr(&first));
    assert_eq!(code(&first), 1);
    let second = run("up.yaml", "still there?\n");
    assert!(stdout(&second).contains("Here I am."), "{}{}", stdout(&second), stderr(&second));
    assert_eq!(code(&second), 0);
}

/// Answers each request with the next of these bodies, and counts them.
fn service(answers: Vec<(&'static str, String)>) -> (String, Arc<Mutex<usize>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    let seen = Arc::new(Mutex::new(0));
    let count = Arc::clone(&seen);
    thread::spawn(move || {
        for (status, body) in answers {
            let Ok((mut stream, _)) = listener.accept() else { return };
            let mut request = Vec::new();
            let mut buffer = [0; 4096];
            loop {
                let size = stream.read(&mut buffer).unwrap_or(0);
                request.extend_from_slice(&buffer[..size]);
                let text = String::from_utf8_lossy(&request).into_owned();
                let Some((head, rest)) = text.split_once("\r\n\r\n") else { continue };
                let length =
                    head.to_lowercase().split_once("content-length: ").and_then(|(_, n)| {
                        n.split("\r\n").next().and_then(|n| n.trim().parse::<usize>().ok())
                    });
                if size == 0 || rest.len() >= length.unwrap_or(0) {
                    break;
                }
            }
            *count.lock().unwrap() += 1;
            // A stream that ends in the middle.
            if status == "cut" {
                let _ = write!(
                    stream,
                    "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n{body}"
                );
                continue;
            }
            let _ = write!(
                stream,
                "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
                body.len()
            );
        }
    });
    (url, seen)
}

/// Everything a service may do, one message each; the conversation goes on.
#[test]
fn a_bad_service_costs_turns_only() {
    let message = |json: &str| format!("{{\"choices\": [{{\"message\": {json}}}]}}");
    let wrong = message(
        "{\"tool_calls\": [{\"id\": \"a\", \"function\": {\"name\": \"nope\", \"arguments\": \"{}\"}}]}",
    );
    let quota =
        "{\"error\": {\"code\": \"insufficient_quota\", \"message\": \"Pay first.\"}}".to_owned();
    let cut = "data: {\"choices\": [{\"delta\": {\"content\": \"Half an ans\"}}]}\n\n".to_owned();
    let (url, seen) = service(vec![
        ("200 OK", message("{\"content\": \"First.\"}")),
        ("200 OK", message("{\"refusal\": \"I won't.\"}")),
        ("429 Too Many Requests", quota),
        ("cut", cut),
        ("200 OK", wrong.clone()),
        ("200 OK", wrong),
        ("400 Bad Request", "{}".to_owned()),
        ("200 OK", message("{\"content\": \"Last.\"}")),
    ]);
    let folder = folder("service");
    write(&folder, &[("desk.agent.abl", DESK)]);
    let args =
        ["run", "desk.agent.abl", "--model", "openai", "--base-url", &url, "--model-name", "m"];
    let output = run_with_input(&folder, &args, b"1\n2\n3\n4\n5\n6\n7\n");
    let (out, err) = (stdout(&output), stderr(&output));
    assert!(out.contains("First.") && out.contains("Last."), "{out}{err}");
    assert_eq!(out.matches("Sorry, something went wrong.").count(), 5, "{out}{err}");
    assert!(err.contains("the model refused to answer: I won't."), "{err}");
    assert!(err.contains("the quota of the API key is exhausted: Pay first."), "{err}");
    assert_eq!((*seen.lock().unwrap(), code(&output)), (8, 0), "{err}");
}

/// A check that does not parse blocks, says so, and fails `check`.
#[test]
fn a_broken_check_blocks_and_says_so() {
    let folder = folder("broken");
    let broken = "AGENT: Desk\n\nGOAL: \"Talk\"\n\nGUARDRAILS:\n  bombs:\n    kind: input\n    check: \"abl.matches_pattern(input, 'bomb'\"\n    action: block\n    msg: \"No bombs.\"\n";
    let pattern = broken.replace("'bomb'\"", "'(')\"");
    for text in [broken, &pattern] {
        write(&folder, &[("desk.agent.abl", text)]);
        let (failed, out, err) = ran(&folder, &["check", "desk.agent.abl"]);
        assert_eq!(failed, 1, "{out}{err}");
        let output = run_with_input(&folder, &["run", "desk.agent.abl"], b"a bomb\n");
        assert!(
            stdout(&output).contains("Sorry, I cannot do that right now."),
            "{}",
            stdout(&output)
        );
        let err = stderr(&output);
        assert!(err.contains("the guardrail `bombs` blocks, because"), "{err}");
    }
}
