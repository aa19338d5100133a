//! `agentir run` through a pipe: what comes in, what is checked, what traces and notes say.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests end by panicking"
)]

mod common;

use common::{code, ran, run_with_input, stderr, stdout, write};
use serde_json::Value as Json;
use std::fs;

const ECHO: &str = "AGENT: Echo\n\nGOAL: \"Repeat\"\n\nFLOW:\n  hear:\n    REASONING: false\n    GATHER:\n      - word: required\n        type: string\n        prompt: \"A word?\"\n    THEN: tell\n  tell:\n    REASONING: false\n    RESPOND: \"I heard {{word}}.\"\n    CLEAR: [word]\n    THEN: hear\n";

#[test]
fn lines_that_are_no_messages_are_refused_and_the_conversation_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), &[("echo.agent.abl", ECHO)]);
    let mut input = b"one\nt\xffwo\n".to_vec();
    // At most 1 MiB, with and without an end of the line.
    input.extend(vec![b'x'; (1 << 20) + 1]);
    input.push(b'\n');
    input.extend(b"four\r\n");
    input.extend(vec![b'y'; 3 << 20]);
    let output = run_with_input(folder.path(), &["run", "echo.agent.abl"], &input);
    let out = stdout(&output);
    assert_eq!(
        out, "A word?\n> one\nI heard one.\nA word?\n> four\nI heard four.\nA word?\n",
        "{out:.300}"
    );
    assert_eq!(
        stderr(&output),
        "note: line 2 of the input is not sent: it is not valid UTF-8\n\
         note: line 3 of the input is not sent: a message may have at most 1 MiB\n\
         note: line 5 of the input is not sent: a message may have at most 1 MiB\n"
    );
    assert_eq!(code(&output), 0);
    // A message of exactly that size is one.
    let mut input = vec![b'x'; 1 << 20];
    input.push(b'\n');
    let output = run_with_input(folder.path(), &["run", "echo.agent.abl"], &input);
    assert!(stdout(&output).len() > 1 << 20 && stderr(&output).is_empty(), "{}", stderr(&output));
}

#[test]
fn a_call_that_is_refused_comes_with_a_stub() {
    let agent = "AGENT: Payer\n\nGOAL: \"Pay\"\n\nTOOLS:\n  pay(amount: number) -> {id: string}\n    description: \"Pays\"\n    type: http\n    endpoint: \"http://127.0.0.1:1/pay\"\n\nFLOW:\n  pay:\n    REASONING: false\n    CALL: pay(5)\n    ON_FAIL:\n      RESPOND: \"Not paid.\"\n      THEN: bye\n  bye:\n    REASONING: false\n    RESPOND: \"Bye.\"\n    THEN: COMPLETE\n";
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), &[("pay.agent.abl", agent)]);
    let output = run_with_input(folder.path(), &["run", "pay.agent.abl"], b"");
    let err = stderr(&output);
    let (_, stub) = err.split_once("or stub it:\n").unwrap_or_else(|| panic!("{err}"));
    // The stub of the message answers the call.
    write(folder.path(), &[("stubs.yaml", stub)]);
    let output =
        run_with_input(folder.path(), &["run", "pay.agent.abl", "--stubs", "stubs.yaml"], b"");
    assert_eq!(stdout(&output), "Bye.\n", "{}{stub}", stderr(&output));
}

/// A field `x` with one more line, that a flow asks for.
fn field(ty: &str, line: &str) -> String {
    format!(
        "AGENT: V\n\nGOAL: \"Ask\"\n\nFLOW:\n  ask -> done\n  ask:\n    REASONING: false\n    GATHER: x\n    THEN: done\n  done:\n    REASONING: false\n    RESPOND: \"accepted {{{{x}}}}\"\n    THEN: COMPLETE\n\nGATHER:\n  x:\n    prompt: \"X?\"\n    type: {ty}\n    {line}\n"
    )
}

/// Each function of a validation refuses what does not fit, alone, with others, and in the other notations.
#[test]
fn every_function_of_a_validation_is_enforced() {
    let cases = [
        ("number", "validate: min(2)", "1", "2"),
        ("number", "validate: max(9)", "10", "9"),
        ("number", "validate: min(2) max(9)", "99", "5"),
        ("number", "validate: min(2) max(9)", "1", "2"),
        ("number", "validate: \"min(2), max(9)\"", "10", "9"),
        ("number", "validate: range(2, 9)", "1", "3"),
        ("number", "range: \"1-10\"", "99", "10"),
        ("number", "validate:\n      range: \"1-10\"", "11", "10"),
        ("number", "validate:\n      type: range\n      rule: \"min(2) max(9)\"", "1", "9"),
        ("string", "validate: enum(red, blue)", "green", "red"),
        ("string", "validate: pattern(^[A-Z]+$)", "12", "AB"),
        ("string", "validate: pattern(^(A|B)[)0-9]{2}$)", "C12", "A12"),
        ("string", "validate: min(3) pattern(^[A-Z]+$)", "AB", "ABC"),
        ("string", "validate: email()", "nothing", "ann@example.com"),
        ("string", "validate: phone()", "nothing", "555-0123"),
        ("string", "validate: url()", "nothing", "https://example.com/a"),
    ];
    let folder = tempfile::tempdir().unwrap();
    for (ty, line, bad, good) in cases {
        let agent = field(ty, line);
        write(folder.path(), &[("v.agent.abl", &agent)]);
        let output = run_with_input(folder.path(), &["run", "v.agent.abl"], bad.as_bytes());
        assert!(!stdout(&output).contains("accepted"), "{line}: {}", stdout(&output));
        let output = run_with_input(folder.path(), &["run", "v.agent.abl"], good.as_bytes());
        assert!(
            stdout(&output).ends_with(&format!("accepted {good}\n")),
            "{line}: {}{}",
            stdout(&output),
            stderr(&output)
        );
        let (failed, out, _) = ran(folder.path(), &["check", "v.agent.abl"]);
        assert_eq!(failed, 0, "{out}");
        // Written again, it is enforced as well.
        let (_, again, _) = ran(folder.path(), &["convert", "v.agent.abl", "--to", "abl"]);
        write(folder.path(), &[("w.agent.abl", &again)]);
        let output = run_with_input(folder.path(), &["run", "w.agent.abl"], bad.as_bytes());
        assert!(!stdout(&output).contains("accepted"), "{again}{}", stdout(&output));
    }
}

#[test]
fn a_validation_that_cannot_be_understood_refuses_values_and_is_reported() {
    let cases = [
        ("number", "validate: min(two)", "has no number"),
        ("number", "validate: min(1) and max(9)", "is no function"),
        ("number", "validate: between(1, 9)", "there is no function `between`"),
        ("number", "range: \"one to ten\"", "is no range of numbers"),
        ("number", "validate:\n      type: range\n      rule: \"small\"", "is no range of numbers"),
        ("string", "validate: pattern(^a{2,1}$)", "invalid repetition"),
    ];
    let folder = tempfile::tempdir().unwrap();
    for (ty, line, why) in cases {
        write(folder.path(), &[("v.agent.abl", &field(ty, line))]);
        let (failed, out, _) = ran(folder.path(), &["check", "v.agent.abl"]);
        assert!(failed == 1 && out.contains(why), "{line}: {out}");
        let output = run_with_input(folder.path(), &["run", "v.agent.abl"], b"5\n");
        assert!(!stdout(&output).contains("accepted"), "{line}: {}", stdout(&output));
        assert!(stderr(&output).contains("values of `x` are refused"), "{}", stderr(&output));
    }
}

/// A number that the user volunteers is masked in all events, in the message and the answer of the agent as well.
#[test]
fn sensitive_values_are_masked_wherever_they_occur() {
    let agent = "AGENT: Guests\n\nGOAL: \"Count guests\"\n\nGATHER:\n  guests:\n    prompt: \"How many guests?\"\n    type: number\n  pin:\n    prompt: \"Your PIN?\"\n    type: string\n    sensitive: true\n\nCOMPLETE:\n  - WHEN: guests IS SET AND pin IS SET\n    RESPOND: \"{{guests}} guests, {{pin}}, not 98765.\"\n";
    let script = "answers:\n  - ask: extract\n    values: { guests: 4, pin: \"9876\" }\n  - say: \"Your 9876 is noted.\"\n    times: always\n";
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), &[("g.agent.abl", agent), ("script.yaml", script)]);
    let args = [
        "run",
        "g.agent.abl",
        "--model",
        "scripted",
        "--answers",
        "script.yaml",
        "--trace-file",
        "t.jsonl",
        "--session",
        "ann",
        "--store",
        "talks.db",
    ];
    let output = run_with_input(folder.path(), &args, b"four guests, my pin is 9876\n");
    assert!(stdout(&output).contains("4 guests, 9876, not 98765."), "{}", stdout(&output));
    let trace = fs::read_to_string(folder.path().join("t.jsonl")).unwrap();
    let events: Vec<Json> = trace.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
    let text = |kind: &str, name: &str| -> String {
        let of = events.iter().filter(|event| event["event"] == kind);
        of.map(|event| event[name].as_str().unwrap().to_owned()).collect::<Vec<_>>().join("|")
    };
    assert_eq!(text("input", "text"), "four guests, my pin is ***");
    assert!(text("say", "text").contains("4 guests, ***, not 98765."), "{trace}");
    let whole = trace.replace("98765", "");
    assert!(!whole.contains("9876"), "{trace}");
    for how in ["show", "export"] {
        let (code, out, err) = ran(folder.path(), &["session", how, "ann", "--store", "talks.db"]);
        assert!(code == 0 && out.contains("4 guests, ***, not 98765."), "{how}: {out}{err}");
        assert!(!out.replace("98765", "").contains("9876"), "{how}: {out}");
    }
}

/// The numbers that `cost` prints are those that a model can reach.
#[test]
fn a_turn_has_as_many_requests_and_calls_as_cost_says() {
    let agent = |limit: &str| {
        format!(
            "AGENT: Desk\n\nGOAL: \"Look\"\n\n{limit}TOOLS:\n  look(id: string) -> {{state: string}}\n    description: \"Looks\"\n  find(id: string) -> {{state: string}}\n    description: \"Finds\"\n"
        )
    };
    let one = "answers:\n  - calls: [{ name: look, arguments: { id: a } }]\n    times: always\n";
    let several = "answers:\n  - calls: [{ name: look, arguments: { id: a } }, { name: find, arguments: { id: a } }, { name: look, arguments: { id: b } }]\n    times: always\n";
    let stubs = "tools:\n  look: [{ answer: { state: x } }]\n  find: [{ answer: { state: x } }]\n";
    let folder = tempfile::tempdir().unwrap();
    for (limit, most) in [("", 10_usize), ("EXECUTION:\n  max_iterations: 3\n\n", 3)] {
        write(
            folder.path(),
            &[
                ("d.agent.abl", &agent(limit)),
                ("stubs.yaml", stubs),
                ("one.yaml", one),
                ("several.yaml", several),
            ],
        );
        let (_, cost, _) = ran(folder.path(), &["cost", "d.agent.abl"]);
        let row: Vec<&str> = cost.lines().last().unwrap().split_whitespace().collect();
        let most_text = most.to_string();
        assert_eq!(row[1..3], [most_text.as_str(), most_text.as_str()], "{cost}");
        for (script, requests) in [("one.yaml", most), ("several.yaml", most / 3 + 1)] {
            let args = [
                "run",
                "d.agent.abl",
                "--stubs",
                "stubs.yaml",
                "--model",
                "scripted",
                "--answers",
                script,
                "--trace-file",
                "t.jsonl",
            ];
            let output = run_with_input(folder.path(), &args, b"hi\n");
            assert!(stderr(&output).contains("`max_iterations`"), "{}", stderr(&output));
            let trace = fs::read_to_string(folder.path().join("t.jsonl")).unwrap();
            let count = |kind: &str| trace.matches(&format!("\"event\":\"{kind}\"")).count();
            assert_eq!((count("model"), count("call")), (requests, most), "{script}: {trace}");
        }
    }
}

/// Where nothing can be written, conversations can still be looked at.
#[cfg(unix)]
#[test]
fn sessions_are_read_where_nothing_can_be_written() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    write(here, &[("echo.agent.abl", ECHO), ("db/keep", "")]);
    let args = ["run", "echo.agent.abl", "--session", "s", "--store", "db/s.sqlite"];
    run_with_input(here, &args, b"one\n");
    let modes = |folder: u32, file: u32| {
        fs::set_permissions(here.join("db/s.sqlite"), fs::Permissions::from_mode(file)).unwrap();
        fs::set_permissions(here.join("db"), fs::Permissions::from_mode(folder)).unwrap();
    };
    modes(0o555, 0o444);
    let of = |args: &[&str]| ran(here, &[&["session"], args, &["--store", "db/s.sqlite"]].concat());
    let (listed, shown, exported) = (of(&["list"]), of(&["show", "s"]), of(&["export", "s"]));
    modes(0o755, 0o600);
    assert!(listed.0 == 0 && listed.1.contains("Echo"), "{listed:?}");
    assert!(shown.0 == 0 && shown.1.contains("I heard one."), "{shown:?}");
    let exported: Json = serde_json::from_str(&exported.1).unwrap();
    assert_eq!(exported["transcript"][1]["text"], "one");
}

/// What a press submits is the same in a conversation and in a test of one: the button's value as it was shown, unless
/// another is typed (Cur. 3.13.5), and else its id.
#[test]
fn a_press_submits_the_same_in_run_and_in_test() {
    let agent = "AGENT: Desk\nGOAL: \"Sizes\"\nMEMORY:\n  session:\n    - word\n      INITIAL: \"big\"\nFLOW:\n  steps: [size]\n  size:\n    REASONING: false\n    RESPOND: \"Which size?\"\n      ACTIONS:\n        - BUTTON: \"Small\"\n          ID: small\n          VALUE: \"s\"\n        - BUTTON: \"Large\"\n          ID: large\n          VALUE: \"{{word}}\"\n        - BUTTON: \"Whatever\"\n          ID: any\n    ON_INPUT:\n      - ELSE:\n        RESPOND: \"Got {{input}}.\"\n        THEN: COMPLETE\n";
    let folder = tempfile::tempdir().unwrap();
    for (pressed, press, says) in [
        ("!small", "{ id: small }", "Got s."),
        ("!large", "{ id: large }", "Got big."),
        ("!small xl", "{ id: small, value: xl }", "Got xl."),
        ("!any", "{ id: any }", "Got any."),
    ] {
        let test = format!(
            "agents: d.agent.abl\ntests:\n  - name: t\n    turns:\n      - says: [\"Which size?\"]\n      - press: {press}\n        says: [\"{says}\"]\n"
        );
        write(folder.path(), &[("d.agent.abl", agent), ("d.test.yaml", &test)]);
        let (code, out, err) = ran(folder.path(), &["test", "d.test.yaml"]);
        assert_eq!(code, 0, "{pressed}: {out}{err}");
        let output = run_with_input(
            folder.path(),
            &["run", "d.agent.abl"],
            format!("{pressed}\n").as_bytes(),
        );
        assert!(stdout(&output).contains(says), "{pressed}: {}", stdout(&output));
    }
}
