//! `agentir session`, and conversations whose agents are changed meanwhile.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests end by panicking"
)]

mod common;

use common::{agentir, code, ran, run_with_input, stderr, stdout, write};
use serde_json::Value as Json;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

const DESK: &str = "AGENT: Ferry_Desk\n\nGOAL: \"Sell tickets\"\n\nFLOW:\n  name:\n    REASONING: false\n    GATHER:\n      \
    - passenger: required\n        type: string\n        prompt: \"Your name?\"\n    THEN: port\n  port:\n    REASONING: \
    false\n    GATHER:\n      - port: required\n        type: string\n        prompt: \"Where to?\"\n    THEN: tell\n  \
    tell:\n    REASONING: false\n    RESPOND: \"To {{port}}, {{passenger}}.\"\n    THEN: COMPLETE\n";

fn talk(folder: &Path, input: &str) -> (i32, String, String) {
    let output = run_with_input(
        folder,
        &["run", "desk.agent.abl", "--session", "s", "--store", "s.sqlite"],
        input.as_bytes(),
    );
    (code(&output), stdout(&output), stderr(&output))
}

fn session(folder: &Path, args: &[&str]) -> (i32, String, String) {
    ran(folder, &[&["session"], args, &["--store", "s.sqlite"]].concat())
}

#[test]
fn conversations_are_listed_shown_copied_and_deleted() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    write(here, &[("desk.agent.abl", DESK)]);
    let (code, _, err) = session(here, &["list"]);
    assert_eq!(code, 2);
    assert!(err.contains("there is no database s.sqlite"), "{err}");
    assert!(!here.join("s.sqlite").exists(), "to look makes none");

    talk(here, "Ann\n");
    let (_, out, _) = session(here, &["list"]);
    let row: Vec<&str> = out.lines().nth(1).unwrap().split_whitespace().collect();
    assert_eq!((row[0], row[1], row[2], row[5]), ("s", "await", "1", "Ferry_Desk"), "{out}");
    let (_, out, _) = session(here, &["list", "--json"]);
    assert_eq!(serde_json::from_str::<Json>(&out).unwrap()[0]["agents"], "Ferry_Desk");
    let (_, out, _) = session(here, &["show", "s"]);
    assert!(out.starts_with("Your name?\n> Ann\nWhere to?\n\nstatus: await    turns: 1"), "{out}");
    assert!(out.contains("passenger = \"Ann\""), "{out}");

    assert_eq!(session(here, &["fork", "s", "t"]).0, 0);
    let (code, _, err) = session(here, &["fork", "s", "t"]);
    assert_eq!(code, 2);
    assert!(err.contains("there is a session `t` already"), "{err}");
    let (_, out, _) = talk(here, "Oslo\n");
    assert!(out.ends_with("> Oslo\nTo Oslo, Ann.\n"), "{out}");
    // The copy still waits.
    let (_, out, _) = session(here, &["export", "t"]);
    let copy: Json = serde_json::from_str(&out).unwrap();
    assert_eq!((&copy["status"], &copy["turn"]), (&"await".into(), &1.into()));
    assert_eq!(copy["variables"]["passenger"], "Ann");

    let (code, out, err) = talk(here, "again\n");
    assert_eq!(code, 0);
    assert!(out.ends_with("To Oslo, Ann.\n") && err.contains("has ended"), "{out}{err}");
    assert_eq!(session(here, &["delete", "s", "t"]).0, 0);
    let (code, _, err) = session(here, &["show", "s"]);
    assert_eq!(code, 2);
    assert!(err.contains("there is no session `s`"), "{err}");
    assert!(!here.join("s.sqlite-locks").exists());
}

#[test]
fn a_conversation_goes_on_with_changed_agents() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    write(here, &[("desk.agent.abl", DESK)]);
    talk(here, "Ann\n");
    // Another text, another step before, another statement, another variable.
    let changed = DESK
        .replace("Where to?", "Which port?")
        .replace("FLOW:\n", "MEMORY:\n  session:\n    - price\n      TYPE: number\n      INITIAL_VALUE: 7\n\nFLOW:\n  before:\n    REASONING: false\n    RESPOND: \"Hello.\"\n    THEN: name\n")
        .replace("\"To {{port}}, {{passenger}}.\"", "\"To {{port}} for {{price}}, {{passenger}}.\"");
    write(here, &[("desk.agent.abl", &changed)]);
    let (code, out, err) = talk(here, "Oslo\n");
    assert_eq!(code, 0, "{err}");
    assert!(err.contains("the agents were changed since the last turn"), "{err}");
    assert!(out.ends_with("> Oslo\nTo Oslo for 7, Ann.\n"), "{out}{err}");
}

/// The user agrees to a question: a tool with its arguments. After a change of the agents anything else is asked again.
#[test]
fn a_confirmation_is_for_what_was_asked() {
    let agent = |call: &str, described: &str| {
        format!(
            "AGENT: Pay_Desk\nGOAL: \"Pay\"\nTOOLS:\n  pay(amount: number) -> {{ok: boolean}}\n    description: \"{described}\"\n    \
             confirm: always\n    immutable: [amount]\n  wipe(amount: number) -> {{ok: boolean}}\n    description: \"Wipe\"\n    confirm: \
             always\n    immutable: [amount]\nFLOW:\n  a -> b\n  a:\n    REASONING: false\n    RESPOND: \"Hi.\"\n    ON_INPUT:\n      - \
             ELSE:\n        THEN: b\n  b:\n    REASONING: false\n    CALL: {call}\n    ON_SUCCESS:\n      RESPOND: \"Done.\"\n      THEN: \
             COMPLETE\n"
        )
    };
    for (call, described, asks) in [
        ("pay(10)", "Pay", None),
        ("wipe(999)", "Pay", Some("Shall I do this? Wipe (amount: 999).")),
        ("wipe(10)", "Pay", Some("Shall I do this? Wipe (amount: 10).")),
        ("pay(900)", "Pay", Some("Shall I do this? Pay (amount: 900).")),
        ("pay(10)", "Pay for ever", Some("Shall I do this? Pay for ever (amount: 10).")),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let here = folder.path();
        let stubs =
            "tools:\n  pay: [{ answer: { ok: true } }]\n  wipe: [{ answer: { ok: true } }]\n";
        write(here, &[("desk.agent.abl", &agent("pay(10)", "Pay")), ("stubs.yaml", stubs)]);
        let talk = |input: &str| {
            let args = ["run", "desk.agent.abl", "--session", "s", "--store", "s.sqlite"];
            let output = run_with_input(
                here,
                &[&args[..], &["--stubs", "stubs.yaml"]].concat(),
                input.as_bytes(),
            );
            stdout(&output)
        };
        let out = talk("go\n");
        assert!(out.ends_with("Shall I do this? Pay (amount: 10).\n"), "{out}");
        // A file that says the same is not a change.
        let changed = format!("{}\n# changed\n", agent(call, described));
        write(here, &[("desk.agent.abl", &changed)]);
        let out = talk("yes\n");
        match asks {
            None => assert!(out.ends_with("> yes\nDone.\n"), "{out}"),
            Some(question) => {
                assert!(out.ends_with(&format!("> yes\n{question}\n")), "{call}: {out}");
                assert!(talk("yes\n").ends_with("> yes\nDone.\n"));
            }
        }
    }
}

#[test]
fn what_does_not_fit_changed_agents_is_told() {
    let port = "    GATHER:\n      - port: required\n        type: string\n        prompt: \"Where to?\"\n";
    let renamed = DESK.replace("  port:\n", "  harbour:\n").replace("THEN: port", "THEN: harbour");
    for (changed, why) in [
        (renamed, "`Ferry_Desk` has no step `port` any more"),
        (DESK.replace("Ferry_Desk", "Boat_Desk"), "there is no agent `Ferry_Desk` any more"),
        (
            DESK.replace(port, "    RESPOND: \"No boats.\"\n"),
            "step `port` of `Ferry_Desk` has not as many nodes of kind `collect` as before",
        ),
        (
            DESK.replacen("type: string", "type: number", 1),
            "the variable `passenger` of `Ferry_Desk` takes a number now",
        ),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let here = folder.path();
        write(here, &[("desk.agent.abl", DESK)]);
        talk(here, "Ann\n");
        write(here, &[("desk.agent.abl", &changed)]);
        let (code, out, err) = talk(here, "Oslo\n");
        assert_eq!((code, out.as_str()), (2, ""), "{err}");
        assert!(err.contains("session `s` cannot go on, because its agents were changed"), "{err}");
        assert!(err.contains(why), "{err}");
        // It is left as it was.
        write(here, &[("desk.agent.abl", DESK)]);
        assert!(talk(here, "Oslo\n").1.ends_with("To Oslo, Ann.\n"));
    }
}

/// A file with an earlier conversation is replaced by a whole one, or stays.
#[cfg(target_os = "linux")]
#[test]
fn an_export_that_fails_leaves_the_old_file() {
    use std::os::unix::fs::PermissionsExt;

    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    write(here, &[("desk.agent.abl", DESK), ("old.json", "as it was")]);
    let (code, _, err) = talk(here, "Ann\n");
    assert_eq!(code, 0, "{err}");
    let program = common::agentir(here, here);
    let mut command = std::process::Command::new("prlimit");
    command.arg("--fsize=64").arg(program.get_program()).current_dir(here);
    command.envs(program.get_envs().filter_map(|(name, value)| Some((name, value?))));
    command.args(["session", "export", "s", "-o", "old.json", "--store", "s.sqlite"]);
    let output = command.output().unwrap();
    assert_eq!(common::code(&output), 2, "{}", stderr(&output));
    assert_eq!(std::fs::read_to_string(here.join("old.json")).unwrap(), "as it was");

    let (code, _, err) = session(here, &["export", "s", "-o", "old.json"]);
    assert_eq!(code, 0, "{err}");
    let written = std::fs::metadata(here.join("old.json")).unwrap();
    assert_eq!(written.permissions().mode() & 0o777, 0o600);
    assert!(std::fs::read_to_string(here.join("old.json")).unwrap().contains("Ann"));
}

/// Keeps notes for a user or a project, and says what it has.
fn notebook(scope: &str, store: &str) -> String {
    format!(
        "AGENT: Notebook\nGOAL: \"Keep notes\"\nMEMORY:\n  session:\n    - v\n  persistent:\n    - PATH: {scope}.notes\n      \
         SCOPE: {scope}\n      ACCESS: readwrite\n  remember:\n    - WHEN: v IS SET\n      STORE:\n        value: v\n        \
         target: {scope}.notes\n{store}FLOW:\n  a:\n    REASONING: false\n    RESPOND: \"Notes {{{{{scope}.notes}}}}.\"\n    \
         ON_INPUT:\n      - IF: input == \"look\"\n        CLEAR: v\n        THEN: a\n      - ELSE:\n        SET: v = input\n        \
         THEN: a\n"
    )
}

/// A conversation in a process of its own, which is told one message at a time.
struct Process {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Process {
    fn start(here: &Path, session: &str, user: &str) -> Self {
        let mut command = agentir(here, here);
        command.args(["run", "notebook.agent.abl", "--store", "s.sqlite", "--session", session]);
        command.args(["--user", user]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let (input, output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let mut process = Self { child, input, output: BufReader::new(output) };
        process.answer();
        process
    }

    /// The next answer of the agent.
    fn answer(&mut self) -> String {
        loop {
            let mut line = String::new();
            assert_ne!(self.output.read_line(&mut line).unwrap(), 0, "the process has ended");
            if line.starts_with("Notes") {
                return line.trim_end().to_owned();
            }
        }
    }

    fn say(&mut self, message: &str) -> String {
        writeln!(self.input, "{message}").unwrap();
        self.answer()
    }

    fn end(mut self) {
        drop(self.input);
        assert!(self.child.wait().unwrap().success());
    }
}

/// Cur. 3.7.2: what belongs to a user or a project is shared by all of its conversations, also by those that are open at
/// once.
#[test]
fn conversations_that_are_open_at_once_share_what_they_remember() {
    for (scope, users) in [("project", ["ann", "bob"]), ("user", ["ann", "ann"])] {
        let folder = tempfile::tempdir().unwrap();
        let here = folder.path();
        let append = "        operation: append\n";
        write(here, &[("notebook.agent.abl", &notebook(scope, append))]);
        let mut one = Process::start(here, "one", users[0]);
        let mut two = Process::start(here, "two", users[1]);
        two.say("from two");
        one.say("from one");
        assert_eq!(two.say("look"), r#"Notes ["from two","from one"]."#, "{scope}");
        assert_eq!(one.say("look"), r#"Notes ["from two","from one"]."#, "{scope}");
        two.say("again");
        one.say("and again");
        one.end();
        two.end();
        let mut later = Process::start(here, "later", users[0]);
        let all = r#"Notes ["from two","from one","again","and again"]."#;
        assert_eq!(later.say("look"), all, "{scope}");
        later.end();
        // Another user has no part in what belongs to this one.
        let mut other = Process::start(here, "other", "eve");
        let seen = other.say("look");
        assert_eq!(seen == all, scope == "project", "{seen}");
        other.end();
    }
}

/// A value that is set replaces the one before it; the other conversation sees the last one.
#[test]
fn the_last_value_that_is_set_holds() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    write(here, &[("notebook.agent.abl", &notebook("project", ""))]);
    let mut one = Process::start(here, "one", "ann");
    let mut two = Process::start(here, "two", "bob");
    two.say("first");
    one.say("second");
    assert_eq!(two.say("look"), "Notes second.");
    one.end();
    two.end();
}

/// Cur. 3.5.1: what is sensitive because of its entity is masked as what the field itself declares so, wherever it is shown.
#[test]
fn what_an_entity_declares_sensitive_is_masked() {
    // The field may have the name of its entity.
    let cases = ["word", "code"].map(|name| {
        [("", true), ("    SENSITIVE: true\n", true), ("    SENSITIVE: false\n", false)]
            .map(|(field, masked)| (name, field, masked))
    });
    for (name, field, masked) in cases.into_iter().flatten() {
        for entity in [
            "TYPE: pattern\n    PATTERN: \"[a-z]{9}\"",
            "TYPE: enum\n    VALUES: [swordfish, crocodile]",
        ] {
            let folder = tempfile::tempdir().unwrap();
            let here = folder.path();
            let agent = format!(
                "AGENT: Desk\nGOAL: \"Ask\"\nENTITIES:\n  code:\n    {entity}\n    SENSITIVE: true\nGATHER:\n  {name}:\n    \
                 ENTITY_REF: code\n    PROMPT: \"Word?\"\n{field}FLOW:\n  g -> h\n  g:\n    REASONING: false\n    GATHER: {name}\n    \
                 THEN: h\n  h:\n    REASONING: false\n    RESPOND: \"Thanks.\"\n    ON_INPUT:\n      - ELSE:\n        THEN: h\n"
            );
            write(here, &[("desk.agent.abl", &agent)]);
            let args = [
                "run",
                "desk.agent.abl",
                "--session",
                "s",
                "--store",
                "s.sqlite",
                "--trace-file",
                "t.jsonl",
            ];
            run_with_input(here, &args, b"swordfish\n");
            let trace = std::fs::read_to_string(here.join("t.jsonl")).unwrap();
            let shown = session(here, &["show", "s"]).1;
            let exported = session(here, &["export", "s"]).1;
            for text in [trace, shown, exported] {
                assert!(text.contains("Thanks."), "{text}");
                assert_eq!(!text.contains("swordfish"), masked, "{text}");
            }
        }
    }
}
