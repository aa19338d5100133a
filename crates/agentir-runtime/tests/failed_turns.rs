//! One failed question costs a turn, and not the conversation.

#![allow(clippy::unwrap_used, missing_docs)]

mod support;

use agentir_runtime::{EventKind, FailureKind, Status, ToolFailure};
use serde_json::json;
use std::cell::Cell;
use support::{Talk, calls, program, says};

const DESK: &str = r#"AGENT: Desk

GOAL: "Work"

TOOLS:
  pay(amount: number) -> {id: string}
    description: "Pays"

MEMORY:
  session:
    - name: turns
      initial_value: 0

HOOKS:
  before_turn:
    SET:
      turns: turns + 1
"#;

#[test]
fn a_model_that_does_not_answer_costs_a_turn() {
    let program = program("desk.agent.abl", DESK);
    let mut talk = Talk::new(&program, |_, _| Ok(json!({ "id": "p1" })));
    talk.model.answers.extend([says("Hello.")]);
    // The script has no second answer.
    talk.turn(None).say("hi").say("and now?");
    assert!(talk.script.contains("Sorry, something went wrong."), "{}", talk.script);
    assert_eq!(talk.session.status, Status::Await);
    assert_eq!(talk.session.variable("turns"), Some(json!(1)));
    talk.model.answers.extend([says("Here I am.")]);
    talk.say("still there?");
    assert!(talk.script.contains("Here I am."), "{}", talk.script);
    assert_eq!(talk.session.variable("turns"), Some(json!(2)));
    // The model has not seen the turn that failed.
    let last = talk.model.messages.last().unwrap().join("\n");
    assert!(!last.contains("and now?") && !last.contains("Sorry"), "{last}");
}

#[test]
fn the_agents_words_are_used() {
    let text = format!(
        "{DESK}\nON_ERROR:\n  unknown_error:\n    RESPOND: \"Our line is down.\"\n    THEN: CONTINUE\n"
    );
    let program = program("desk.agent.abl", &text);
    let mut talk = Talk::new(&program, |_, _| Ok(json!({ "id": "p1" })));
    talk.turn(None).say("hi");
    assert!(talk.script.contains("Our line is down."), "{}", talk.script);
    assert!(!talk.script.contains("Sorry"), "{}", talk.script);
    assert_eq!(talk.session.status, Status::Await);
    assert_eq!(talk.session.variable("turns"), Some(json!(0)));
}

#[test]
fn a_call_of_a_failed_turn_is_not_made_twice() {
    let program = program("desk.agent.abl", DESK);
    let made = Cell::new(0);
    let mut talk = Talk::new(&program, |_, _| {
        made.set(made.get() + 1);
        Ok(json!({ "id": format!("p{}", made.get()) }))
    });
    let pay = || calls("pay", json!({ "amount": 5 }));
    talk.model.answers.extend([pay()]);
    talk.turn(None).say("pay 5");
    assert_eq!(made.get(), 1);
    // The same call gets the same result, once.
    talk.model.answers.extend([pay(), says("Paid.")]);
    talk.say("pay 5");
    assert_eq!((made.get(), talk.script.contains("Paid.")), (1, true), "{}", talk.script);
    talk.model.answers.extend([pay(), says("Paid again.")]);
    talk.say("pay 5 again");
    assert_eq!(made.get(), 2, "{}", talk.script);
    // Who reads the trace sees the calls that were made, and that one was not.
    let count = |is: fn(&EventKind) -> bool| talk.events.iter().filter(|e| is(&e.kind)).count();
    assert_eq!(count(|kind| matches!(kind, EventKind::Call { .. })), 2);
    assert_eq!(count(|kind| matches!(kind, EventKind::Reuse { .. })), 1);
}

#[test]
fn going_round_in_circles_costs_a_turn() {
    let program = program("desk.agent.abl", DESK);
    let mut talk = Talk::new(&program, |_, _| Ok(json!({ "id": "p1" })));
    talk.model.answers.extend((0..40).map(|_| calls("pay", json!({ "amount": 5 }))));
    talk.turn(None).say("pay");
    assert_eq!(talk.session.status, Status::Await, "{}", talk.script);
    talk.model.answers.clear();
    talk.model.answers.extend([says("Better.")]);
    talk.say("hello?");
    assert!(talk.script.contains("Better."), "{}", talk.script);
}

#[test]
fn a_remote_agent_that_is_down_costs_a_turn() {
    let text = r#"AGENT: Desk

GOAL: "Work"

HANDOFF:
  - TO: Far_Desk
    WHEN: input == "far"
    REMOTE:
      location: remote
      endpoint: "https://far.example"
      protocol: a2a
    RETURN: true
"#;
    let program = program("desk.agent.abl", text);
    let mut talk = Talk::new(&program, |_, _| Err(ToolFailure::new(FailureKind::Api, "down")));
    talk.model.answers.extend([says("Hello."), says("Here I am.")]);
    talk.turn(None).say("hi").say("far");
    assert!(talk.script.contains("Sorry, something went wrong."), "{}", talk.script);
    assert_eq!(talk.session.status, Status::Await, "{}", talk.script);
    talk.say("hi again");
    assert!(talk.script.contains("Here I am."), "{}", talk.script);
}

/// The limit on the calls of the model is one of each turn.
#[test]
fn many_calls_in_many_turns_are_no_loop() {
    let program = program("desk.agent.abl", DESK);
    let mut talk = Talk::new(&program, |_, _| Ok(json!({ "id": "p1" })));
    talk.turn(None);
    for n in 0..15 {
        talk.model.answers.extend([calls("pay", json!({ "amount": n })), says("Paid.")]);
        talk.say("pay");
    }
    assert_eq!(talk.script.matches("Paid.").count(), 15, "{}", talk.script);
}
