//! Conversations with constraints that only warn, guardrails on tool results, and escalations.

#![allow(clippy::unwrap_used, clippy::panic, clippy::format_push_string, missing_docs)]

#[path = "checks/beside_texts.rs"]
mod beside_texts;
mod support;

use agentir_runtime::HumanReply;
use serde_json::{Value as Json, json};
use support::{Talk, program, says};

/// An agent that looks up a note, with one guardrail on the result of the tool.
fn notes(check: &str, action: &str) -> String {
    format!(
        r#"AGENT: Note_Desk

GOAL: "Read notes aloud"

TOOLS:
  find(code: string) -> {{note: string}}
    description: "Finds a note"

GUARDRAILS:
  numbers:
    kind: tool_output
    check: "{check}"
    action: {action}
    msg: "That note is not for you."

FLOW:
  start:
    REASONING: false
    CALL: find("x")
    ON_SUCCESS:
      RESPOND: "It says: {{{{find.note}}}}"
      THEN: COMPLETE
    ON_FAIL:
      RESPOND: "No: {{{{find.error}}}}"
      THEN: COMPLETE
"#
    )
}

fn note(check: &str, action: &str) -> String {
    let program = program("note_desk.agent.abl", &notes(check, action));
    let mut talk = Talk::new(&program, |_, _| Ok(json!({ "note": "the code is 123456" })));
    talk.turn(None);
    talk.script.clone()
}

#[test]
fn guardrails_check_tool_results() {
    let six = "abl.matches_pattern(tool_output, '[0-9]{6}')";
    let nine = "abl.matches_pattern(tool_output, '[0-9]{9}')";
    let as_it_is = note(nine, "block");
    assert!(as_it_is.contains("It says: the code is 123456"), "{as_it_is}");
    assert!(note(six, "warn").contains("It says: the code is 123456"));
    let changed = note(six, "redact");
    assert!(changed.contains("It says: the code is [REDACTED]"), "{changed}");
    assert!(note(six, "filter").contains("It says: the code is"));
    // Blocked values are not stored.
    let blocked = note(six, "block");
    assert!(blocked.contains("No: That note is not for you."), "{blocked}");
    assert!(!blocked.contains("It says"), "{blocked}");
}

#[test]
fn warning_constraint_sends_its_message_and_continues() {
    let text = r#"AGENT: Lending_Desk

GOAL: "Lend tools"

TOOLS:
  member() -> {overdue: number}
    description: "Who it is"

CONSTRAINTS:
  rules:
    - WARN member.overdue == 0
      ON_FAIL: "Note: you still have something of ours."

FLOW:
  start:
    REASONING: false
    CALL: member()
    THEN: wishes
  wishes:
    REASONING: false
    RESPOND: "What would you like?"
    ON_INPUT:
      - IF: input == "saw"
        RESPOND: "A saw, then."
        THEN: COMPLETE
      - ELSE:
        RESPOND: "We have no such thing."
        THEN: COMPLETE
"#;
    let program = program("lending_desk.agent.abl", text);
    let mut talk = Talk::new(&program, |_, _| Ok(json!({ "overdue": 2 })));
    talk.turn(None).turn(Some("saw"));
    let script = &talk.script;
    let (warned, answered) = (script.find("Note: you still have"), script.find("A saw, then."));
    assert!(warned.is_some() && warned < answered, "{script}");
}

/// An agent that always escalates; `after` is its code that handles the outcome.
fn person(after: &str, outcome: Json) -> (String, Json, String) {
    let text = format!(
        r#"AGENT: Care_Desk

GOAL: "Care"

MEMORY:
  session:
    - case_number

ESCALATE:
  triggers:
    - WHEN: input == "help"
      REASON: "Asked for help"
  context_for_human:
    - case_number
    - kind: "a question of {{{{case_number}}}}"
  on_human_complete:
{after}
"#
    );
    let program = program("care_desk.agent.abl", &text);
    let mut talk = Talk::new(&program, |_, _| Ok(Json::Null));
    let reply = HumanReply { messages: Vec::new(), outcome: outcome.as_object().cloned() };
    talk.people.replies.push_back(reply);
    talk.model.answers.extend([says("Here I am again.")]);
    talk.turn(None).turn(Some("help"));
    let status = format!("{:?}", talk.session.status);
    (talk.script.clone(), talk.people.told.first().cloned().unwrap_or_default(), status)
}

#[test]
fn escalation_passes_context_and_outcome() {
    let resolved = "    - IF human.resolved == true:\n        RESPOND: \"All is well.\"\n        COMPLETE: true";
    let (script, told, status) = person(resolved, json!({ "resolved": true }));
    assert!(script.contains("All is well."), "{script}");
    assert_eq!(status, "Done");
    assert!(told.get("case_number").is_some() && told.get("kind").is_some(), "{told}");
    // Without a continuation, the agent goes on after `handed_back` and stays suspended otherwise.
    let (_, _, status) = person(resolved, json!({ "handed_back": true }));
    assert_eq!(status, "Await");
    let (_, _, status) = person(resolved, json!({ "transferred": true }));
    assert_eq!(status, "Human");
}

#[test]
fn adl_functions_return_instruction_lists() {
    let text = r#"main:
  type: flow agent
  args:
    - day
  steps:
    - call: look
    - bot: "It is ${day}, and ${look.status}."
"#;
    let program = program("agents.yml", text);
    let mut talk = Talk::new(&program, |_, _| {
        Ok(
            json!([{ "bot": "One moment." }, { "arg": "day", "value": "Monday" }, { "status": "open" }]),
        )
    });
    talk.turn(None);
    let script = &talk.script;
    assert!(
        script.contains("One moment.") && script.contains("It is Monday, and open."),
        "{script}"
    );
}
