//! Tools that require the user's confirmation.

#![allow(clippy::unwrap_used, missing_docs)]

mod support;

use agentir_runtime::EventKind;
use serde_json::{Value as Json, json};
use std::collections::BTreeSet;
use support::{Talk, calls, program, says};

/// A flow that asks before it waters; a hook changes the amount between the question and the call.
fn garden(confirm: &str) -> String {
    format!(
        r#"AGENT: Garden_Hose

GOAL: "Water the beds"

TOOLS:
  water(bed: string, litres: number) -> {{done: boolean}}
    description: "Water a bed."
    side_effects: true
{confirm}
MEMORY:
  session:
    - name: litres
      type: number
      initial_value: 5

HOOKS:
  before_turn:
    SET: litres = litres + 1

FLOW:
  ask:
    REASONING: false
    GATHER:
      - bed: required
        type: string
        prompt: "Which bed?"
    DIGRESSIONS:
      - INTENT: "weather"
        KEYWORDS: ["weather"]
        RESPOND: "It is dry."
    CALL: water
      WITH:
        bed: bed
        litres: litres
    ON_SUCCESS:
      RESPOND: "Done."
      THEN: COMPLETE
    ON_FAIL:
      RESPOND: "Not done: {{{{result.error}}}}."
      THEN: ask
"#
    )
}

fn talk(text: &str, said: &[&str]) -> String {
    let program = program("garden_hose.agent.abl", text);
    let mut talk = Talk::new(&program, |_, _| Ok(json!({ "done": true })));
    talk.turn(None);
    for message in said {
        talk.say(message);
    }
    talk.script
}

#[test]
fn confirmed_arguments_are_used() {
    let locked = garden("    confirm: always\n    immutable: [litres]\n");
    insta::assert_snapshot!(talk(&locked, &["roses", "yes"]));
}

#[test]
fn other_arguments_are_asked_about_again() {
    let free = garden("    confirm: when_side_effects\n");
    insta::assert_snapshot!(talk(&free, &["roses", "yes"]));
}

#[test]
fn refusal_fails_the_call_without_calling() {
    let locked = garden("    confirm: always\n");
    insta::assert_snapshot!(talk(&locked, &["roses", "rather not"]));
}

#[test]
fn digression_returns_to_the_question() {
    let locked = garden("    confirm: always\n");
    insta::assert_snapshot!(talk(&locked, &["roses", "how is the weather?", "yes"]));
}

#[test]
fn no_confirmation_when_not_required() {
    for confirm in ["", "    confirm: never\n"] {
        let script = talk(&garden(confirm), &["roses"]);
        assert!(script.contains("Done.") && !script.contains("Shall I"), "{script}");
    }
    let harmless =
        garden("    confirm: when_side_effects\n").replace("effects: true", "effects: false");
    assert!(!talk(&harmless, &["roses"]).contains("Shall I"));
}

#[test]
fn refusal_is_reported_to_the_model() {
    let text = r#"AGENT: Garden_Helper

GOAL: "Water the beds"

TOOLS:
  water(bed: string) -> {done: boolean}
    confirm: always
  look(bed: string) -> {dry: boolean}
"#;
    let program = program("garden_helper.agent.abl", text);
    let mut talk = Talk::new(&program, |tool, _| match tool {
        "look" => Ok(json!({ "dry": true })),
        _ => Ok(json!({ "done": true })),
    });
    talk.model.answers.extend([
        calls("look", json!({ "bed": "roses" })),
        calls("water", json!({ "bed": "roses" })),
        says("Then I leave them dry."),
        calls("water", json!({ "bed": "roses" })),
        says("They are watered."),
    ]);
    talk.turn(None).say("the roses").say("better not").say("oh, do it").say("yes");
    insta::assert_snapshot!(talk.script);
    // Every call by the model is followed by its result.
    let messages = &talk.model.messages;
    insta::assert_snapshot!("what_the_model_sees_of_calls", messages.last().unwrap().join("\n"));
}

#[test]
fn agent_script_actions_with_confirmation() {
    let text = r#"system:
    instructions: "Help in the garden."

config:
    agent_name: "garden"

start_agent garden:
    description: "Waters the beds"
    actions:
        Water:
            description: "Water a bed."
            inputs:
                bed: string
            target: "flow://Water"
            require_user_confirmation: True
    reasoning:
        instructions: ->
            | Water what the user wants watered.
        actions:
            water: @actions.Water
                with bed = "roses"
"#;
    let program = program("garden.agent", text);
    let mut talk = Talk::new(&program, |_, _| Ok(json!({ "done": true })));
    talk.model.answers.extend([calls("water", json!({})), says("They are watered.")]);
    talk.turn(None).say("the roses, please").say("yes");
    insta::assert_snapshot!(talk.script);
}

/// Current specification, 3.5: what the user agrees to is a call with its arguments. What they say of the time and of chance
/// was drawn for the question, each number for itself; both have moved on when the user answers.
#[test]
fn time_and_chance_are_those_of_the_question() {
    let text = r#"AGENT: Cashier
GOAL: "Pay"
TOOLS:
  pay(id: string, at: string) -> {ok: boolean}
    description: "Pay"
    confirm: always
FLOW:
  a -> b
  a:
    REASONING: false
    RESPOND: "Hi."
    ON_INPUT:
      - ELSE:
        THEN: b
  b:
    REASONING: false
    CALL: pay(UNIQUE_ID(12), NOW())
    ON_SUCCESS:
      RESPOND: "Paid."
      THEN: COMPLETE
"#;
    let program = program("cashier.agent.abl", text);
    let mut ids = BTreeSet::new();
    for hour in 0..3 {
        let mut talk = Talk::new(&program, |_, _| Ok(json!({ "ok": true })));
        talk.now += hour * 3_600_000;
        talk.turn(None).say("go");
        let asked = talk.script.clone();
        talk.now += 60_000;
        talk.say("yes");
        let mut made = talk.events.iter().filter_map(|event| match &event.kind {
            EventKind::Call { arguments, .. } => Some(arguments),
            _ => None,
        });
        let arguments = made.next().unwrap();
        assert!(made.next().is_none(), "{}", talk.script);
        for name in ["id", "at"] {
            let value = arguments.get(name).and_then(Json::as_str).unwrap();
            assert!(asked.contains(&format!("{name}: {value}")), "{value}\n{}", talk.script);
        }
        let id = arguments.get("id").and_then(Json::as_str).unwrap().to_owned();
        assert_eq!(id.len(), 12);
        // One letter twelve times would be one of 62 values.
        assert!(id.chars().collect::<BTreeSet<_>>().len() > 4, "{id}");
        ids.insert(id);
    }
    assert_eq!(ids.len(), 3, "{ids:?}");
}

/// Who has agreed to a call that is still refused, and agrees to another one meanwhile, is asked about the first one again.
#[test]
fn another_confirmed_call_in_between_is_not_what_was_agreed_to() {
    let text = r#"AGENT: Cashier
GOAL: "Pay"
TOOLS:
  pay(amount: number) -> {ok: boolean}
    description: "Pay"
    confirm: always
  refund(amount: number) -> {ok: boolean}
    description: "Refund"
    confirm: always
MEMORY:
  session:
    - open
        INITIAL: false
CONSTRAINTS:
  c:
    - REQUIRE open == true BEFORE calling pay
      ON_FAIL: "Closed."
FLOW:
  global_digressions:
    - KEYWORDS: [back]
      CALL: refund(2)
      RESUME: true
    - KEYWORDS: [open]
      SET: open = true
      RESPOND: "Open."
      RESUME: true
    - KEYWORDS: [close]
      SET: open = false
      RESPOND: "Closing."
      RESUME: true
  a -> b
  a:
    REASONING: false
    RESPOND: "Hi."
    ON_INPUT:
      - ELSE:
        THEN: b
  b:
    REASONING: false
    CALL: pay(1)
    ON_SUCCESS:
      RESPOND: "Paid."
      THEN: COMPLETE
    ON_FAIL:
      RESPOND: "Not paid: {{result.error}}."
      THEN: COMPLETE
"#;
    let program = program("cashier.agent.abl", text);
    let mut talk = Talk::new(&program, |_, _| Ok(json!({ "ok": true })));
    talk.turn(None).say("open").say("go").say("close").say("yes").say("back").say("yes");
    talk.say("open").say("yes");
    insta::assert_snapshot!(talk.script);
}
