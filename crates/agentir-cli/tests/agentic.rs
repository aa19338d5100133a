//! `agentir convert --style agentic`: flows that only collect, call tools and answer are left to the model, with what they
//! make sure of.

#![cfg(feature = "runtime")]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that fails should stop"
)]

mod common;

use common::{ran, samples, write};
use serde_json::Value;
use std::fs;
use std::path::Path;

const LOCKERS: &str = r#"AGENT: Locker_Desk

GOAL: "Rent lockers at stations"

TOOLS:
  find_locker(station: string, size: string) -> {free: number}
    description: "How many lockers are free?"

  rent_locker(station: string, size: string, contact: string) -> {code: string}
    description: "Rent a locker"
    side_effects: true
    confirm: never

FLOW:
  entry_point: place

  place:
    REASONING: false
    RESPOND: "Welcome to the lockers."
    GATHER:
      station:
        prompt: "At which station?"
        type: string
        required: true
      size:
        prompt: "Large or small?"
        type: enum
        values: [large, small]
        required: true
    THEN: look

  look:
    REASONING: false
    CALL: find_locker
      WITH:
        station: station
        size: size
      AS: found
    ON_RESULT:
      - IF: found.free > 0
        RESPOND: "{{found.free}} are free."
        THEN: contact
      - ELSE:
        RESPOND: "No locker is free at {{station}}."
        THEN: COMPLETE

  contact:
    REASONING: false
    GATHER:
      contact:
        prompt: "Your email?"
        type: email
        required: true
    ON_SUCCESS:
      - IF: size == "large"
        THEN: weight
      - ELSE:
        THEN: sure

  weight:
    REASONING: false
    GATHER:
      weight:
        prompt: "How heavy is it, in kilograms?"
        type: number
        required: true
    ON_SUCCESS:
      - IF: weight > 30
        RESPOND: "That is too heavy."
        THEN: COMPLETE
      - ELSE:
        THEN: sure

  sure:
    REASONING: false
    RESPOND: "A {{size}} locker at {{station}}. Shall I rent it?"
    ON_INPUT:
      - IF: LOWER(TRIM(input)) IN ["yes", "sure"]
        THEN: rent
      - IF: LOWER(TRIM(input)) IN ["no", "never"]
        THEN: nothing
      - ELSE:
        THEN: sure

  rent:
    REASONING: false
    CALL: rent_locker(station: station, size: size, contact: contact)
    ON_SUCCESS:
      RESPOND: "Your code is {{result.code}}."
      THEN: COMPLETE
    ON_FAIL:
      RESPOND: "I could not rent it: {{result.error}}"
      THEN: COMPLETE

  nothing:
    REASONING: false
    RESPOND: "Then nothing is rented."
    THEN: COMPLETE
"#;

/// Conversations with the agent that the flow becomes. The model calls too early, names another station, and goes on alone.
const TALKS: &str = r#"agents: locker_desk.agent.abl
tools:
  find_locker:
    - when: { station: Ostend }
      answer: { free: 0 }
    - answer: { free: 2 }
tests:
  - name: a large locker
    tools:
      rent_locker:
        - answer: { code: K7 }
    answers:
      - { message: "a large one at the main station", values: { station: Main, size: large } }
      - calls: [{ name: find_locker, arguments: { station: Elsewhere } }]
      - { say: "Two are free. Your email?" }
      - { message: "me@x.example", values: { contact: me@x.example } }
      - { say: "How heavy?" }
      - { message: "12 kilos", values: { weight: 12 } }
      - { say: "Shall I rent it?" }
      - { message: "yes please", values: { confirmed: true } }
      - calls: [{ name: rent_locker, arguments: {} }]
      - { say: "Done." }
    turns:
      - says: ["Welcome to the lockers."]
      - user: a large one at the main station
        calls: [{ find_locker: { station: Main } }]
        says: ["Two are free. Your email?"]
      - user: me@x.example
        says: ["How heavy?"]
      - user: 12 kilos
        says: ["Shall I rent it?"]
      - user: yes please
        calls: [{ rent_locker: { station: Main, contact: me@x.example } }]
        says: ["Done.", "Your code is K7."]
        status: done

  - name: the user does not want it
    answers:
      - { message: "a small one", values: { station: Main, size: small, contact: me@x.example } }
      - calls: [{ name: find_locker, arguments: {} }]
      - { say: "Shall I rent it?" }
      - { message: "no", values: { confirmed: false } }
      - { say: "All right." }
    turns:
      - says: ["Welcome to the lockers."]
      - user: a small one
        calls: [find_locker]
      - user: no
        calls: []
        says: ["All right.", "Then nothing is rented."]
        status: done

  - name: renting fails
    tools:
      rent_locker:
        - fail: error
          message: out of order
    answers:
      - message: "a small one, yes"
        values: { station: Main, size: small, contact: me@x.example, confirmed: true }
      - calls: [{ name: find_locker, arguments: {} }]
      - calls: [{ name: rent_locker, arguments: {} }]
      - { say: "Sorry." }
    turns:
      - says: ["Welcome to the lockers."]
      - user: a small one, yes
        calls: [find_locker, rent_locker]
        says: ["Sorry.", "I could not rent it: out of order"]
        status: done

  - name: none is free
    answers:
      - { message: "a large one at Ostend", values: { station: Ostend, size: large } }
      - calls: [{ name: find_locker, arguments: {} }]
      - { say: "Sorry." }
    turns:
      - says: ["Welcome to the lockers."]
      - user: a large one at Ostend
        calls: [{ find_locker: { station: Ostend } }]
        says: ["Sorry.", "No locker is free at Ostend."]
        status: done

  - name: nothing is rented before the user has agreed, or before it is known whether one is free
    answers:
      - message: "a small one"
        values: { station: Main, size: small, contact: me@x.example }
      - calls: [{ name: rent_locker, arguments: {} }]
      - { message: "go on", values: {} }
      - calls: [{ name: find_locker, arguments: {} }]
      - calls: [{ name: rent_locker, arguments: {} }]
    turns:
      - says: ["Welcome to the lockers."]
      - user: a small one
        calls: []
      - user: go on
        calls: [find_locker]
"#;

/// Conversations with the subagent of Agent Script that the flow becomes: its procedure makes the calls.
const SCRIPTED_TALKS: &str = r#"agents: locker_desk.agent
tools:
  find_locker:
    - when: { station: Ostend }
      answer: { free: 0 }
    - answer: { free: 2 }
  rent_locker:
    - answer: { code: K7 }
tests:
  - name: a large locker
    answers:
      - calls: [{ name: note_details, arguments: { station: Main, size: large } }]
      - { say: "Two are free. Your email?" }
      - calls: [{ name: note_details, arguments: { contact: me@x.example } }]
      - { say: "How heavy?" }
      - calls: [{ name: note_details, arguments: { weight: 12 } }]
      - { say: "Shall I rent it?" }
      - calls: [{ name: note_confirmed, arguments: { confirmed: true } }]
      - { say: "Your code is K7." }
      - calls: [{ name: finish, arguments: {} }]
    turns:
      - says: ["Welcome to the lockers."]
      - user: a large one at the main station
        calls: [{ find_locker: { station: Main } }]
        says: ["Two are free. Your email?"]
      - user: me@x.example
        says: ["How heavy?"]
      - user: 12 kilos
        says: ["Shall I rent it?"]
      - user: yes please
        calls: [{ rent_locker: { station: Main, contact: me@x.example } }]
        says: ["Your code is K7."]
      - user: thanks
        status: done
  - name: none is free
    answers:
      - calls: [{ name: note_details, arguments: { station: Ostend, size: large } }]
      - { say: "No locker is free at Ostend." }
      - calls: [{ name: finish, arguments: {} }]
    turns:
      - says: ["Welcome to the lockers."]
      - user: a large one at Ostend
        calls: [{ find_locker: { station: Ostend } }]
        says: ["No locker is free at Ostend."]
      - user: bye
        calls: []
        status: done

  - name: renting fails
    tools:
      rent_locker:
        - fail: error
    answers:
      - calls: [{ name: note_details, arguments: { station: Main, size: small, contact: me@x.example } }]
      - { say: "Shall I rent it?" }
      - calls: [{ name: note_confirmed, arguments: { confirmed: true } }]
      - { say: "I could not rent it." }
      - calls: [{ name: finish, arguments: {} }]
    turns:
      - says: ["Welcome to the lockers."]
      - user: a small one, I am me@x.example
        calls: [find_locker]
        says: ["Shall I rent it?"]
      - user: yes
        calls: [rent_locker]
        says: ["I could not rent it."]
      - user: bye
        calls: []
        status: done
"#;

fn converted(folder: &Path, source: &str, to: &str) -> (i32, String) {
    let args =
        ["convert", source, "--to", to, "--style", "agentic", "-o", "out", "--report", "r.json"];
    let (code, _, stderr) = ran(folder, &args);
    (code, stderr)
}

fn report(folder: &Path) -> Value {
    serde_json::from_str(&fs::read_to_string(folder.join("r.json")).unwrap()).unwrap()
}

/// Why agents keep their flows.
fn kept(folder: &Path) -> Vec<(String, String)> {
    let todo = report(folder)["todo"].as_array().unwrap().clone();
    let why = todo.iter().filter_map(|one| {
        let why = one["cause"].as_str().unwrap().strip_prefix("the agent keeps its flow: ")?;
        Some((one["agent"].as_str().unwrap().to_owned(), why.to_owned()))
    });
    why.collect()
}

#[test]
fn a_dialog_keeps_its_promises_without_its_steps() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    write(folder, &[("lockers.agent.abl", LOCKERS)]);
    let (code, stderr) = converted(folder, "lockers.agent.abl", "abl");
    assert_eq!(code, 1, "{stderr}");
    // What is left to the model is not proved.
    assert!(stderr.contains("control flow: differs only where a loss is reported"), "{stderr}");
    assert!(!stderr.contains("proved equal"), "{stderr}");
    let (code, stdout, stderr) = ran(folder, &["check", "out"]);
    assert_eq!(code, 0, "{stdout}{stderr}");
    let text = fs::read_to_string(folder.join("out/locker_desk.agent.abl")).unwrap();
    assert!(!text.contains("FLOW"), "{text}");
    insta::assert_snapshot!(text);
    write(&folder.join("out"), &[("lockers.test.yaml", TALKS)]);
    let (code, stdout, stderr) = ran(folder, &["test", "out"]);
    assert_eq!(code, 0, "{stdout}{stderr}");
    assert_eq!(stdout.matches("ok ").count(), 5, "{stdout}");
}

/// In Agent Script the procedure of one subagent calls, asks and ends.
#[test]
fn a_dialog_is_one_subagent_of_agent_script() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    write(folder, &[("lockers.agent.abl", LOCKERS)]);
    let (code, stderr) = converted(folder, "lockers.agent.abl", "agent-script");
    assert_eq!(code, 1, "{stderr}");
    assert!(!stderr.contains("proved equal"), "{stderr}");
    let (code, stdout, stderr) = ran(folder, &["check", "out"]);
    assert_eq!(code, 0, "{stdout}{stderr}");
    let text = fs::read_to_string(folder.join("out/locker_desk.agent")).unwrap();
    assert!(!text.contains("\nsubagent "), "{text}");
    insta::assert_snapshot!(text);
    // Every value has a reason that is true of this agent.
    let report = report(folder);
    let entries = report["entries"].as_array().unwrap();
    let how = |end: &str| {
        let found = entries.iter().find(|one| one["path"].as_str().unwrap().ends_with(end));
        found.unwrap_or_else(|| panic!("{end}"))["how"].as_str().unwrap().to_owned()
    };
    assert_eq!(how("flow.steps[0]"), "the procedure of a subagent has no steps");
    assert_eq!(how("definitions.look.call_spec.tool"), "is a part of the subagent's procedure");
    write(&folder.join("out"), &[("lockers.test.yaml", SCRIPTED_TALKS)]);
    let (code, stdout, stderr) = ran(folder, &["test", "out"]);
    assert_eq!(code, 0, "{stdout}{stderr}");
    assert_eq!(stdout.matches("ok ").count(), 3, "{stdout}");
    // A flow that does more has a subagent for each step, and the report says why.
    let text = LOCKERS.replacen("THEN: COMPLETE", "THEN: ESCALATE", 1);
    write(folder, &[("lockers.agent.abl", &text)]);
    let args = [
        "convert",
        "lockers.agent.abl",
        "--to",
        "agent-script",
        "--style",
        "agentic",
        "-o",
        "steps",
        "--report",
        "steps.json",
    ];
    let (_, _, stderr) = ran(folder, &args);
    let list = fs::read_to_string(folder.join("steps/MIGRATION.md")).unwrap();
    assert!(
        list.contains("each step of the flow is a subagent: it hands over to a person"),
        "{list}{stderr}"
    );
    let text = fs::read_to_string(folder.join("steps/locker_desk.agent")).unwrap();
    assert!(text.contains("\nsubagent "), "{text}");
    assert!(!text.contains("_called"), "{text}");
    let report = fs::read_to_string(folder.join("steps.json")).unwrap();
    assert!(report.contains("a step is a subagent") && !report.contains("procedure"), "{report}");
}

#[test]
fn dialogs_of_an_export_are_left_to_the_model_where_they_can_be() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let van = samples().join("xo/valid/van_hire");
    let (code, stderr) = converted(folder, van.to_str().unwrap(), "abl");
    assert_eq!(code, 1, "{stderr}");
    let (_, stdout, stderr) = ran(folder, &["check", "out"]);
    assert!(!stdout.contains("error["), "{stdout}{stderr}");
    let agent = |name: &str| fs::read_to_string(folder.join("out/agents").join(name)).unwrap();
    insta::assert_snapshot!(agent("book_a_van.agent.abl"));
    // Profiles that only changed steps are said by the agent.
    let report = report(folder);
    let entries = report["entries"].as_array().unwrap().iter();
    let of_profiles = entries.filter(|one| one["path"].as_str().unwrap().starts_with("profiles."));
    let how: Vec<&str> = of_profiles.filter_map(|one| one["how"].as_str()).collect();
    assert!(how.len() > 100, "{how:?}");
    assert!(how.iter().all(|how| how.contains("flow that the model leads")), "{how:?}");
    assert!(!agent("plan_a_move.agent.abl").contains("FLOW"));
    // Others do more.
    assert!(agent("show_vans.agent.abl").contains("FLOW"));
    let why = [
        ("Change_a_booking", "the step `Sure` branches on what the user answers"),
        ("Show_vans", "it runs the script `Collect`"),
    ];
    let why = why.map(|(agent, why)| (agent.to_owned(), why.to_owned()));
    assert_eq!(kept(folder), why);
}

/// Each kind of flow that does more than a dialog, as a change of one that does not.
#[test]
fn a_flow_that_does_more_stays_one() {
    let changes = [
        (
            "THEN: weight\n      - ELSE",
            "THEN: place\n      - ELSE",
            "it goes back to the step `place`",
        ),
        (
            "        RESPOND: \"That is too heavy.\"\n        THEN: COMPLETE",
            "        THEN: ESCALATE",
            "it hands over to a person",
        ),
        (
            "    REASONING: false\n    GATHER:\n      weight:",
            "    REASONING: false\n    SET: heavy = true\n    GATHER:\n      weight:",
            "it sets `heavy` in between",
        ),
        (
            "    REASONING: false\n    GATHER:\n      weight:",
            "    REASONING: false\n    CLEAR: station\n    GATHER:\n      weight:",
            "it forgets values",
        ),
        (
            "IN [\"no\", \"never\"]",
            "IN [\"later\"]",
            "the step `sure` branches on what the user answers",
        ),
        (
            "    ON_FAIL:\n      RESPOND: \"I could not rent it: {{result.error}}\"\n      THEN: COMPLETE",
            "    ON_FAIL:\n      THEN: weight",
            "it goes back to the step `weight`",
        ),
        (
            "    RESPOND: \"Then nothing is rented.\"\n    THEN: COMPLETE",
            "    RESPOND: \"Then nothing is rented.\"",
            "the step `nothing` does not end it",
        ),
        (
            "    RESPOND: \"Then nothing is rented.\"\n",
            "    RESPOND: \"Then nothing is rented.\"\n    CALL: find_locker(station: station, size: size)\n",
            "it decides between `rent_locker` and `find_locker`",
        ),
    ];
    for (from, to, why) in changes {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        let text = LOCKERS.replacen(from, to, 1);
        assert_ne!(text, LOCKERS, "{from}");
        write(folder, &[("lockers.agent.abl", &text)]);
        let (code, stderr) = converted(folder, "lockers.agent.abl", "abl");
        assert_ne!(code, 2, "{to}: {stderr}");
        let kept = kept(folder);
        assert_eq!(kept.len(), 1, "{to}: {kept:?}");
        assert_eq!(kept[0].1, why, "{to}");
        // It is what it is in the other style.
        let args = ["convert", "lockers.agent.abl", "--to", "abl", "-o", "flow", "--no-verify"];
        assert_ne!(ran(folder, &args).0, 2);
        let read =
            |out: &str| fs::read_to_string(folder.join(out).join("locker_desk.agent.abl")).unwrap();
        assert_eq!(read("out"), read("flow"), "{to}");
    }
}

#[test]
fn other_languages_have_no_styles() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    write(folder, &[("lockers.agent.abl", LOCKERS)]);
    let (code, stderr) = converted(folder, "lockers.agent.abl", "adl");
    assert_eq!(code, 2, "{stderr}");
    assert!(stderr.contains("`--style agentic` is not for ADL"), "{stderr}");
    assert!(!folder.join("out").exists());
    // Both notations have them.
    assert_eq!(converted(folder, "lockers.agent.abl", "abl-yaml").0, 1);
}

/// What any of our samples becomes has no errors, and an agent that keeps its flow says why.
#[test]
fn samples_have_no_errors() {
    let valid =
        ["abl", "adl", "agent-script", "xo"].map(|language| samples().join(language).join("valid"));
    let all = valid.iter().flat_map(|folder| fs::read_dir(folder).unwrap());
    let mut tried = 0;
    for one in all.map(|one| one.unwrap().path()) {
        let name = one.to_string_lossy().into_owned();
        // Programs of one agent each, which belong together.
        if name.ends_with(".test.yaml") || name.ends_with(".md") || name.ends_with("valid/same") {
            continue;
        }
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        let (code, stderr) = converted(folder, &name, "abl");
        assert_ne!(code, 2, "{name}: {stderr}");
        let (_, stdout, _) = ran(folder, &["check", "out"]);
        assert!(!stdout.contains("error["), "{name}: {stdout}");
        tried += 1;
    }
    assert!(tried > 30, "{tried}");
}

/// A flow that asks for consent before it calls, and calls either way.
#[test]
fn a_question_before_a_call_is_asked_whatever_the_answer_is() {
    let flow = r#"AGENT: Desk

GOAL: "Book tables"

TOOLS:
  book(guests: number) -> {code: string}
    description: "Book a table"
    confirm: never

FLOW:
  entry_point: guests

  guests:
    REASONING: false
    GATHER:
      guests:
        prompt: "How many?"
        type: number
        required: true
    THEN: news

  news:
    REASONING: false
    RESPOND: "Do you want our news?"
    ON_INPUT:
      - IF: LOWER(TRIM(input)) IN ["yes", "sure"]
        THEN: book
      - IF: LOWER(TRIM(input)) IN ["no", "never"]
        THEN: book
      - ELSE:
        THEN: news

  book:
    REASONING: false
    CALL: book(guests: guests)
      AS: booked
    ON_SUCCESS:
      RESPOND: "{{#if booked.code}}Your code is {{booked.code}}.{{/if}}"
      THEN: COMPLETE
"#;
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    write(folder, &[("desk.agent.abl", flow)]);
    let (_, stderr) = converted(folder, "desk.agent.abl", "abl");
    let text = fs::read_to_string(folder.join("out/desk.agent.abl")).unwrap();
    assert!(!text.contains("FLOW"), "{text}{stderr}");
    assert!(text.contains("REQUIRE confirmed IS SET BEFORE calling book"), "{text}");
    // Results are called as their tools are, in blocks as well.
    assert!(text.contains("{{#if book.code}}") && !text.contains("booked"), "{text}");
    let args =
        ["convert", "desk.agent.abl", "--to", "agent-script", "--style", "agentic", "-o", "as"];
    let (_, _, stderr) = ran(folder, &args);
    let text = fs::read_to_string(folder.join("as/desk.agent")).unwrap();
    let call = text.lines().find(|line| line.contains("not @variables.book_called")).unwrap();
    assert!(call.contains("@variables.confirmed is not None"), "{text}{stderr}");
    assert!(!text.contains("@variables.booked"), "{text}");
}
