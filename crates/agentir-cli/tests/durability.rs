//! Stored conversations survive whatever happens to the program: no turn that was shown is lost, none is
//! there twice, and the next start goes on.

#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests end by panicking"
)]

mod common;

use common::{CACHE, agentir, ran, run_with_input, stderr, stdout, write};
use serde_json::Value as Json;
use std::fs;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

/// Says every word back.
const ECHO: &str = "AGENT: Echo_Desk\n\nGOAL: \"Repeat what is said\"\n\nEXECUTION:\n  max_flow_iterations: 1000000\n\nFLOW:\n  ask:\n    REASONING: false\n    \
    GATHER:\n      - word: required\n        type: string\n        prompt: \"A word?\"\n    THEN: tell\n  tell:\n    \
    REASONING: false\n    RESPOND: \"I heard {{word}}.\"\n    CLEAR: [word]\n    THEN: ask\n";

const ARGS: [&str; 6] = ["run", "echo.agent.abl", "--session", "s", "--store", "s.sqlite"];

/// What the database has: the words that were said, each of which was answered.
fn stored(folder: &Path) -> Vec<String> {
    let (code, out, err) = ran(folder, &["session", "export", "s", "--store", "s.sqlite"]);
    assert_eq!(code, 0, "{err}");
    let session: Json = serde_json::from_str(&out).unwrap();
    let mut words = Vec::new();
    let transcript = session["transcript"].as_array().unwrap();
    for (n, message) in transcript.iter().enumerate() {
        if message["role"] == "user" {
            let word = message["text"].as_str().unwrap().to_owned();
            assert_eq!(transcript[n + 1]["text"], format!("I heard {word}."), "{transcript:?}");
            words.push(word);
        }
    }
    assert_eq!(session["turn"], words.len());
    words
}

/// Kills the program at random moments, while it talks.
fn kill_at_random_moments(rounds: u32) {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    write(here, &[("echo.agent.abl", ECHO)]);
    let mut next = 1;
    for round in 0..rounds {
        let mut child = agentir(here, Path::new(CACHE));
        let child = child.args(ARGS).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = child.stderr(Stdio::null()).spawn().unwrap();
        let mut input = child.stdin.take().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        let begin = next;
        let writer = thread::spawn(move || {
            for n in begin.. {
                if writeln!(input, "w{n}").is_err() {
                    return;
                }
            }
        });
        let (tell, ready) = mpsc::channel();
        let reader = thread::spawn(move || {
            let lines = output.split(b'\n').map_while(Result::ok);
            let lines = lines.map(|line| String::from_utf8_lossy(&line).into_owned());
            let heard = lines.filter(|line| line.starts_with("I heard ") && line.ends_with('.'));
            let heard = heard.inspect(|_| {
                let _ = tell.send(());
            });
            heard.last()
        });
        // Now and then while it starts, else during one of the turns that follow.
        let random = RandomState::new().build_hasher().finish();
        for _ in 0..random % 4 {
            let _ = ready.recv_timeout(Duration::from_secs(30));
        }
        thread::sleep(Duration::from_millis(random / 4 % 120));
        child.kill().unwrap();
        child.wait().unwrap();
        writer.join().unwrap();
        let shown = reader.join().unwrap();

        if !here.join("s.sqlite").exists() {
            continue;
        }
        let (code, _, err) = ran(here, &["session", "export", "s", "--store", "s.sqlite"]);
        if code == 2 && err.contains("there is no session") {
            assert_eq!(next, 1, "{err}");
            continue;
        }
        let words = stored(here);
        let expected: Vec<String> = (1..=words.len()).map(|n| format!("w{n}")).collect();
        assert_eq!(words, expected, "round {round}");
        if let Some(shown) = shown {
            assert!(
                words.iter().any(|word| shown == format!("I heard {word}.")),
                "{shown} is lost"
            );
        }
        next = words.len() + 1;
    }
    assert!(next > 1, "it was never quick enough to take a turn");
    // The lock of the last one that was killed is removed by the next that comes.
    assert!(!here.join("s.sqlite-locks").exists());
    let end = run_with_input(here, &ARGS, format!("w{next}\n").as_bytes());
    assert!(stdout(&end).ends_with(&format!("I heard w{next}.\nA word?\n")), "{}", stdout(&end));
}

#[test]
fn a_killed_conversation_goes_on_after_its_last_turn() {
    kill_at_random_moments(5);
}

#[test]
#[ignore = "takes half a minute"]
fn a_hundred_killed_conversations_go_on() {
    kill_at_random_moments(100);
}

#[test]
fn a_second_process_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    write(here, &[("echo.agent.abl", ECHO)]);
    let mut first = agentir(here, Path::new(CACHE));
    let mut first = first.args(ARGS).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut output = BufReader::new(first.stdout.take().unwrap());
    output.read_line(&mut String::new()).unwrap();
    let second = run_with_input(here, &ARGS, b"w1\n");
    assert_eq!(second.status.code(), Some(2));
    assert!(
        stderr(&second).contains("session `s` is in use by another process"),
        "{}",
        stderr(&second)
    );
    // Other conversations of the database are free.
    let other = ["run", "echo.agent.abl", "--session", "t", "--store", "s.sqlite"];
    assert!(stdout(&run_with_input(here, &other, b"w1\n")).contains("I heard w1."));
    drop(first.stdin.take());
    output.read_to_string(&mut String::new()).unwrap();
    assert!(first.wait().unwrap().success());
    assert!(!here.join("s.sqlite-locks").exists(), "locks are removed");
    assert!(stdout(&run_with_input(here, &ARGS, b"w1\n")).contains("I heard w1."));
}

/// A limit of the size of files is what a disk that is full is, without the rights to make one.
#[test]
fn a_full_disk_costs_the_turn_that_does_not_fit() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    write(here, &[("echo.agent.abl", ECHO)]);
    let words: String = (1..=400).map(|n| format!("w{n}\n")).collect();
    // 96 blocks of 1,024 bytes, as `bash` counts.
    let limited = format!("ulimit -f 96; exec {} \"$@\"", env!("CARGO_BIN_EXE_agentir"));
    let mut child = Command::new("bash")
        .args(["-c", &limited, "agentir"])
        .args(ARGS)
        .current_dir(here)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    let writer = thread::spawn(move || input.write_all(words.as_bytes()));
    let output = child.wait_with_output().unwrap();
    let _ = writer.join().unwrap();
    assert_eq!(output.status.code(), Some(2), "{:?} {}", output.status, stderr(&output));
    assert!(stderr(&output).contains("cannot use s.sqlite"), "{}", stderr(&output));
    let shown = stdout(&output);
    let shown = shown.lines().filter(|line| line.starts_with("I heard ")).count();
    assert!(shown > 0, "there is place for some turns");
    let words = stored(here);
    assert_eq!(
        words,
        (1..=shown).map(|n| format!("w{n}")).collect::<Vec<_>>(),
        "as many as were shown"
    );
    let end = run_with_input(here, &ARGS, b"more\n");
    assert!(stdout(&end).ends_with("I heard more.\nA word?\n"), "{}", stderr(&end));
}

#[test]
fn a_damaged_database_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    write(here, &[("echo.agent.abl", ECHO)]);
    run_with_input(here, &ARGS, b"w1\nw2\n");
    let path = here.join("s.sqlite");
    let mut bytes = fs::read(&path).unwrap();
    let middle = bytes.len() / 2;
    bytes[..100].fill(7);
    bytes.truncate(middle);
    fs::write(&path, &bytes).unwrap();
    for args in [&ARGS[..], &["session", "list", "--store", "s.sqlite"]] {
        let output = run_with_input(here, args, b"w3\n");
        assert_eq!(output.status.code(), Some(2));
        assert!(stderr(&output).contains("damaged"), "{}", stderr(&output));
    }
    assert_eq!(fs::read(&path).unwrap(), bytes, "it is left as it is");
}

#[test]
fn files_are_for_their_owner_only() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    write(here, &[("echo.agent.abl", ECHO), ("s.sqlite", ""), ("t.jsonl", "")]);
    for file in ["s.sqlite", "t.jsonl"] {
        fs::set_permissions(here.join(file), fs::Permissions::from_mode(0o644)).unwrap();
    }
    let args = [&ARGS[..], &["--trace-file", "t.jsonl"]].concat();
    run_with_input(here, &args, b"w1\n");
    ran(here, &["session", "export", "s", "--store", "s.sqlite", "-o", "s.json"]);
    for file in ["s.sqlite", "t.jsonl", "s.json"] {
        let mode = fs::metadata(here.join(file)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{file}");
    }
}
