//! `agentir run` in a terminal: a pseudo-terminal, in which somebody types.

#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests end by panicking"
)]

mod common;

use common::write;
use rexpect::reader::Options;
use rexpect::session::{PtySession, spawn_with_options};
use std::fs;
use std::path::Path;
use std::process::Command;

const DESK: &str = "AGENT: Echo_Desk\n\nGOAL: \"Repeat what is said\"\n\nTOOLS:\n  wait(word: string) -> object\n    \
    description: \"Wait\"\n\nESCALATE:\n  triggers:\n    - WHEN: input == \"person\"\n      \
    REASON: \"Wants a person\"\n      PRIORITY: high\n  context_for_human:\n    - result\n\nFLOW:\n  ask:\n    REASONING: false\n    GATHER:\n      - word: required\n        type: \
    string\n        prompt: \"A word?\"\n    THEN: look\n  look:\n    REASONING: false\n    CALL: wait(word)\n    THEN: tell\n  tell:\n    REASONING: false\n    \
    RESPOND: \"I heard {{word}}.\"\n      ACTIONS:\n        - SELECT: \"Where to\"\n          ID: port\n          \
    OPTIONS:\n            - { id: \"OSL\", label: \"Oslo\" }\n            - { id: \"BER\", label: \"Bergen\" }\n    \
    CLEAR: [word]\n    THEN: ask\n";

const STUBS: &str = "tools:\n  wait:\n    - when: { word: slow }\n      delay: 25000\n      answer: {}\n    - when: { word: broken }\n      fail: error\n      message: \"the \\e[31mline\\a is down\"\n    - answer: {}\n";

/// The program in a terminal. Escape sequences are removed from what it prints, if that is not asked for.
fn terminal(folder: &Path, args: &[&str], raw: bool) -> PtySession {
    write(folder, &[("desk.agent.abl", DESK), ("stubs.yaml", STUBS)]);
    let args = [&["desk.agent.abl", "--stubs", "stubs.yaml"], args].concat();
    terminal_with(folder, &args, raw)
}

/// `run` with arguments in a terminal.
fn terminal_with(folder: &Path, args: &[&str], raw: bool) -> PtySession {
    let mut command = Command::new(env!("CARGO_BIN_EXE_agentir"));
    command.arg("run").args(args).current_dir(folder);
    command.env("TERM", "xterm").env_remove("NO_COLOR").env_remove("CI");
    let options = Options::new().timeout_ms(Some(20_000)).strip_ansi_escape_codes(!raw);
    spawn_with_options(command, options).unwrap()
}

/// What the reader makes of a text: it takes each byte for a character.
fn bytes(text: &str) -> String {
    text.bytes().map(char::from).collect()
}

/// What is sent without the end of a line stays in a buffer until it is flushed.
fn types(session: &mut PtySession, keys: &str) {
    session.send(keys).unwrap();
    session.flush().unwrap();
}

fn leaves(mut session: PtySession) {
    session.exp_eof().unwrap();
    let status = session.process().wait().unwrap();
    let status = format!("{status:?}");
    assert!(status.starts_with("Exited(") && status.ends_with(", 0)"), "{status}");
}

#[test]
fn lines_are_edited_and_remembered() {
    let folder = tempfile::tempdir().unwrap();
    let mut session = terminal(folder.path(), &[], false);
    session.exp_string("agent: Echo_Desk    model: offline").unwrap();
    session.exp_string("session: not kept").unwrap();
    session.exp_string("Echo_Desk: A word?").unwrap();
    session.exp_string("> ").unwrap();
    // Backspace; Left, and a letter in the middle.
    types(&mut session, "oxe\u{7f}\u{7f}e\u{1b}[Dn\u{1b}[D\u{1b}[D\u{1b}[C\r");
    session.exp_string("Echo_Desk: I heard one.").unwrap();
    session.exp_string("Where to").unwrap();
    session.exp_string("[!port OSL] Oslo").unwrap();
    session.exp_string("> ").unwrap();
    types(&mut session, "two\r");
    session.exp_string("I heard two.").unwrap();
    // Up, twice.
    session.exp_string("> ").unwrap();
    types(&mut session, "\u{1b}[A\u{1b}[A\r");
    session.exp_string("I heard one.").unwrap();
    session.exp_string("> ").unwrap();
    types(&mut session, "\u{4}");
    leaves(session);
}

#[test]
fn commands_show_and_change_the_conversation() {
    let folder = tempfile::tempdir().unwrap();
    let mut session = terminal(folder.path(), &["--session", "s"], false);
    session.exp_string("session: s in agentir.sqlite, new").unwrap();
    session.exp_string("> ").unwrap();
    types(&mut session, "one\r");
    session.exp_string("I heard one.").unwrap();
    types(&mut session, "/help\r");
    session.exp_string("/undo").unwrap();
    session.exp_string("Everything else is a message.").unwrap();
    types(&mut session, "/sta\t\r");
    session.exp_string("step: ask    status: await    turn: 1").unwrap();
    types(&mut session, "/trace\r");
    session.exp_string("calls wait").unwrap();
    types(&mut session, "/undo\r");
    session.exp_string("[taken back: one;").unwrap();
    session.exp_string("A word?").unwrap();
    types(&mut session, "/state\r");
    session.exp_string("turn: 0").unwrap();
    types(&mut session, "two\r");
    session.exp_string("I heard two.").unwrap();
    types(&mut session, "/retry\r");
    session.exp_string("I heard two.").unwrap();
    types(&mut session, "/nothing\r");
    session.exp_string("there is no command `/nothing`").unwrap();
    types(&mut session, "!nope\r");
    session.exp_string("no button or menu `nope` was shown").unwrap();
    types(&mut session, "/undo\r");
    session.exp_string("[taken back").unwrap();
    types(&mut session, "/save talk.txt\r");
    session.exp_string("[written to talk.txt]").unwrap();
    types(&mut session, "/save talk.txt\r");
    session.exp_string("talk.txt exists already").unwrap();
    types(&mut session, "/quit\r");
    leaves(session);
    let saved = fs::read_to_string(folder.path().join("talk.txt")).unwrap();
    assert_eq!(saved, "A word?\n> two\nI heard two.\nA word?\n");
    // It goes on, with its history.
    let mut session = terminal(folder.path(), &["--session", "s"], false);
    session.exp_string("session: s in agentir.sqlite, after 1 turn").unwrap();
    session.exp_string("> two").unwrap();
    session.exp_string("A word?").unwrap();
    types(&mut session, "\u{1b}[A\r");
    session.exp_string("I heard two.").unwrap();
    // Before the prompt, Ctrl-D is the terminal's.
    session.exp_string("> ").unwrap();
    types(&mut session, "\u{4}");
    leaves(session);
}

/// Keeps notes for a project, and says what it has.
const NOTEBOOK: &str = r#"AGENT: Notebook
GOAL: "Keep notes"
MEMORY:
  session:
    - v
  persistent:
    - PATH: project.notes
      SCOPE: project
      ACCESS: readwrite
  remember:
    - WHEN: v IS SET
      STORE:
        value: v
        target: project.notes
        operation: append
FLOW:
  a:
    REASONING: false
    RESPOND: "Notes {{project.notes}}."
    ON_INPUT:
      - IF: input == "look"
        CLEAR: v
        THEN: a
      - ELSE:
        SET: v = input
        THEN: a
"#;

/// Cur. 3.7.2: what other conversations remember stays when a message of this one is taken back, also if nobody has read it
/// here.
#[test]
fn a_message_that_is_taken_back_takes_nothing_of_others() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), &[("notebook.agent.abl", NOTEBOOK)]);
    let args = |session| ["notebook.agent.abl", "--store", "s.sqlite", "--session", session];
    // A turn remembers at its end.
    let mut ours = terminal_with(folder.path(), &args("ours"), false);
    ours.exp_string("Notes .").unwrap();
    types(&mut ours, "a\r");
    ours.exp_string("Notes .").unwrap();
    types(&mut ours, "b\r");
    ours.exp_string(r#"Notes ["a"]."#).unwrap();
    types(&mut ours, "/undo\r");
    ours.exp_string("[taken back: b;").unwrap();
    let mut theirs = terminal_with(folder.path(), &args("theirs"), false);
    theirs.exp_string(r#"Notes ["a"]."#).unwrap();
    types(&mut ours, "b\r");
    ours.exp_string(r#"Notes ["a"]."#).unwrap();
    types(&mut theirs, "c\r");
    theirs.exp_string(r#"Notes ["a","b"]."#).unwrap();
    // What others have added to stays as they left it.
    types(&mut ours, "/undo\r");
    ours.exp_string("[taken back: b;").unwrap();
    types(&mut theirs, "look\r");
    theirs.exp_string(r#"Notes ["a","b","c"]."#).unwrap();
    for mut session in [ours, theirs] {
        types(&mut session, "/quit\r");
        leaves(session);
    }
}

#[test]
fn ctrl_c_cancels_a_turn_and_then_leaves() {
    let folder = tempfile::tempdir().unwrap();
    let mut session = terminal(folder.path(), &[], false);
    session.exp_string("> ").unwrap();
    types(&mut session, "slow\r");
    // The sign of life.
    session.exp_string("calling wait").unwrap();
    types(&mut session, "\u{3}");
    session.exp_string("[cancelled").unwrap();
    session.exp_string("[what was called stays called: wait]").unwrap();
    session.exp_string("> ").unwrap();
    types(&mut session, "quick\r");
    session.exp_string("I heard quick.").unwrap();
    session.exp_string("> ").unwrap();
    types(&mut session, "unfinished");
    session.exp_string("unfinished").unwrap();
    types(&mut session, "\u{3}");
    session.exp_string("Ctrl-C once more").unwrap();
    session.exp_string("> ").unwrap();
    types(&mut session, "\u{3}");
    leaves(session);
}

#[test]
fn errors_of_tools_and_signs_of_control_are_shown() {
    let folder = tempfile::tempdir().unwrap();
    let mut session = terminal(folder.path(), &[], true);
    session.exp_string("> ").unwrap();
    types(&mut session, "broken\r");
    // In the order in which it happened.
    let before = session.exp_string(&bytes("note: the \u{241b}[31mline\u{2407} is down")).unwrap();
    assert!(!before.contains("I heard broken."), "{before}");
    session.exp_string("I heard broken.").unwrap();
    types(&mut session, "person\r");
    session.exp_string("[Echo_Desk hands over to a human agent]").unwrap();
    session.exp_string("reason: Wants a person").unwrap();
    session.exp_string("priority: high").unwrap();
    session.exp_string("result: ").unwrap();
    session.exp_string("[a human agent has taken over").unwrap();
    types(&mut session, "\u{4}");
    leaves(session);
}

/// The program in a terminal, with an agent of its own.
fn terminal_of(folder: &Path, agent: &str, args: &[&str]) -> PtySession {
    write(folder, &[("own.agent.abl", agent), ("stubs.yaml", STUBS)]);
    let mut command = Command::new(env!("CARGO_BIN_EXE_agentir"));
    command.args(["run", "own.agent.abl"]).args(args).current_dir(folder);
    command.env("TERM", "xterm").env("OPENAI_API_KEY", "k").env_remove("CI");
    let options = Options::new().timeout_ms(Some(20_000)).strip_ansi_escape_codes(true);
    spawn_with_options(command, options).unwrap()
}

#[test]
fn a_call_shows_a_sign_of_life_behind_what_was_said() {
    let agent = "AGENT: Waiter\n\nGOAL: \"Wait\"\n\nTOOLS:\n  wait(word: string) -> object\n    description: \"Wait\"\n\nFLOW:\n  hello:\n    REASONING: false\n    RESPOND: \"One moment.\"\n    THEN: look\n  look:\n    REASONING: false\n    CALL: wait(\"slow\")\n    THEN: COMPLETE\n";
    let folder = tempfile::tempdir().unwrap();
    let mut session = terminal_of(folder.path(), agent, &["--stubs", "stubs.yaml"]);
    session.exp_string("One moment.").unwrap();
    session.exp_string("calling wait").unwrap();
    types(&mut session, "\u{3}");
    session.exp_string("[cancelled").unwrap();
    session.exp_string("> ").unwrap();
    types(&mut session, "\u{4}");
    leaves(session);
}

#[test]
fn a_cancelled_request_is_no_error() {
    // A service that never answers: nobody takes its connections.
    let service = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/v1", service.local_addr().unwrap());
    let folder = tempfile::tempdir().unwrap();
    let agent = "AGENT: Talker\n\nGOAL: \"Talk\"\n";
    let args = ["--model", "openai", "--base-url", &url, "--model-name", "m"];
    let mut session = terminal_of(folder.path(), agent, &args);
    session.exp_string("> ").unwrap();
    types(&mut session, "hi\r");
    session.exp_string("thinking").unwrap();
    types(&mut session, "\u{3}");
    let mut shown = session.exp_string("[cancelled").unwrap();
    shown.push_str(&session.exp_string("> ").unwrap());
    assert!(!shown.contains("note:") && !shown.contains("error"), "{shown}");
    types(&mut session, "\u{4}");
    leaves(session);
}

#[test]
fn colours_can_be_switched_off() {
    for (no_color, colored) in [("", true), ("1", false)] {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), &[("desk.agent.abl", DESK)]);
        let mut command = Command::new(env!("CARGO_BIN_EXE_agentir"));
        command.args(["run", "desk.agent.abl"]).current_dir(folder.path());
        command.env("TERM", "xterm").env("NO_COLOR", no_color);
        let options = Options::new().timeout_ms(Some(20_000)).strip_ansi_escape_codes(false);
        let mut session = spawn_with_options(command, options).unwrap();
        let before = session.exp_string("A word?").unwrap();
        assert_eq!(before.contains("\u{1b}[1;36mEcho_Desk:"), colored, "{before:?}");
        types(&mut session, "\u{4}");
        leaves(session);
    }
}
