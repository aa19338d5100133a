//! Remote agents.

#![allow(clippy::unwrap_used, missing_docs)]

mod support;

use agentir_runtime::{EventKind, FailureKind, OrchestrationMethod, ToolFailure};
use serde_json::json;
use support::{Talk, program, together};

const DESK: &str = r#"AGENT: Shop_Desk

GOAL: "Help in the shop"

MEMORY:
  session:
    - name: order
      type: string
    - name: refund
      type: number

HANDOFF:
  - TO: Billing
    WHEN: input == "refund"
    CONTEXT:
      pass: [order]
      summary: "A refund for {{order}}"
    RETURN: true
    MAP:
      amount: refund
    ON_FAILURE: RESPOND "Billing is closed."
    REMOTE:
      location: remote
      endpoint: "https://billing.example.com/ask"
      protocol: rest
      timeout: "5s"

FLOW:
  ask:
    REASONING: false
    GATHER:
      - order: required
        type: string
        prompt: "Which order?"
    THEN: wait
  wait:
    REASONING: false
    RESPOND: "Anything else for {{order}}? Refunded so far: {{refund}}."
    ON_INPUT:
      - IF: input == "bye"
        THEN: COMPLETE
      - ELSE:
        THEN: wait
"#;

#[test]
fn remote_agent_receives_messages_until_done() {
    let program = program("shop_desk.agent.abl", DESK);
    let mut talk = Talk::new(&program, |tool, with| {
        assert_eq!(tool, "Billing");
        Ok(match with["message"].as_str().unwrap() {
            "refund" => json!({ "says": ["All of it?"], "done": false, "conversation": "c1" }),
            _ => json!({ "says": ["Refunded."], "result": { "amount": 12 } }),
        })
    });
    talk.turn(None).say("A7").say("refund").say("yes, all").say("and?").say("bye");
    assert_eq!(talk.session.variable("refund"), Some(json!(12)));
    insta::assert_snapshot!(talk.script);
}

#[test]
fn unreachable_remote_agent_follows_on_failure() {
    let program = program("shop_desk.agent.abl", DESK);
    let mut talk =
        Talk::new(&program, |_, _| Err(ToolFailure::new(FailureKind::Timeout, "too slow")));
    talk.turn(None).say("A7").say("refund");
    insta::assert_snapshot!(talk.script);
}

#[test]
fn connected_subagent_takes_over_permanently() {
    let text = r#"system:
    instructions: "Help in the shop."

config:
    agent_name: "shop"

connected_subagent Billing:
    description: "Refunds"
    target: "agentforce://Billing"

start_agent shop:
    description: "Helps"
    reasoning:
        instructions: ->
            | Help.
        actions:
            billing: @utils.transition to @connected_subagent.Billing
"#;
    let program = program("shop.agent", text);
    let mut talk = Talk::new(&program, |_, with| {
        let says = format!("You said {}.", with["message"].as_str().unwrap());
        Ok(json!({ "says": says, "done": with["message"] == "thanks" }))
    });
    talk.model.answers.extend([support::calls("billing", json!({}))]);
    talk.turn(None).say("a refund").say("order 7").say("thanks");
    insta::assert_snapshot!(talk.script);
}

#[test]
fn sensitive_values_are_masked_in_traces() {
    let text = DESK.replace(
        "type: string\n        prompt: \"Which order?\"",
        "type: string\n        prompt: \"Which order?\"\n        sensitive: true",
    );
    let program = program("shop_desk.agent.abl", &text);
    let mut talk = Talk::new(&program, |_, with| {
        assert_eq!(with.get("context").and_then(|c| c.get("order")), Some(&json!("A7-secret")));
        Ok(json!({ "says": "Refunded.", "result": { "order": "A7-secret", "amount": 12 } }))
    });
    talk.turn(None).say("A7-secret").say("refund");
    let told: Vec<String> = talk
        .events
        .iter()
        .filter(|event| matches!(event.kind, EventKind::Call { .. } | EventKind::Result { .. }))
        .map(|event| serde_json::to_string(event).unwrap())
        .collect();
    assert!(told.len() == 2 && !told.join("").contains("secret"), "{told:?}");
}

#[test]
fn speculative_attempts_do_not_call_remote_agents() {
    let desk = "SUPERVISOR: Front_Desk\n\nGOAL: \"Help\"\n\nAGENTS:\n  asker: Asker\n  helper: Helper\n\nROUTING:\n  - INTENT(money) -> asker\n  - INTENT(help) -> helper\n  - DEFAULT -> helper\n";
    let asker = "AGENT: Asker\n\nGOAL: \"Ask\"\n\nHANDOFF:\n  - TO: Billing\n    WHEN: input == \"my help\"\n    CONTEXT:\n      summary: \"A refund\"\n    RETURN: true\n";
    let helper = "AGENT: Helper\n\nGOAL: \"Help\"\n";
    let program = together(&[
        ("front_desk.agent.abl", desk),
        ("asker.agent.abl", asker),
        ("helper.agent.abl", helper),
    ]);
    let mut asked = 0;
    let mut talk = Talk::new(&program, |_, _| {
        asked += 1;
        Ok(json!({ "says": "Refunded." }))
    });
    talk.session.set_orchestration(Some(OrchestrationMethod::BestOfN));
    talk.model.answers.extend(["I can help.", "Again."].map(support::says));
    talk.turn(None).say("my help");
    insta::assert_snapshot!(talk.script);
    drop(talk);
    // Called once, when its answer was accepted.
    assert_eq!(asked, 1);
}
