//! Tools that require the user's confirmation.

#![allow(clippy::unwrap_used, missing_docs)]

mod support;

use serde_json::json;
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
fn only_immutable_params_are_kept() {
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
