//! What agents are told about values that other agents pass and return.

#![allow(clippy::indexing_slicing, clippy::unwrap_used, missing_docs)]

mod support;

use agentir_runtime::{FailureKind, ToolFailure};
use serde_json::json;
use support::{Talk, says, together};

const LOYALTY: &str = r#"AGENT: Loyalty
GOAL: "Look up points"
FLOW:
  entry_point: get
  steps: [get]
  get:
    REASONING: false
    CALL: lookup
    ON_SUCCESS:
      SET: balance = result.balance
      THEN: COMPLETE
TOOLS:
  lookup() -> {balance: number}
    description: "Look up"
"#;

fn front(returns: &str) -> String {
    format!(
        r#"AGENT: Front
GOAL: "Tell the balance"
DELEGATE:
  - AGENT: Loyalty
    WHEN: input.contains("points")
    PURPOSE: "Points"
    {returns}
    USE_RESULT: "Offer the points, {{{{result.balance}}}}"
"#
    )
}

/// What the model of the first agent is told when the delegate has returned, in two turns.
fn told(returns: &str) -> Vec<String> {
    let front = front(returns);
    let program = together(&[("front.agent.abl", &front), ("loyalty.agent.abl", LOYALTY)]);
    let mut talk = Talk::new(&program, |_, _| Ok(json!({ "balance": 1250 })));
    talk.model.answers.extend([says("You have 1250 points."), says("You are welcome.")]);
    talk.turn(None).say("how many points have I").say("thanks");
    assert!(talk.script.contains("Front: You have 1250 points."), "{}", talk.script);
    assert_eq!(talk.model.messages[0].last().unwrap(), "user: how many points have I");
    talk.model.system
}

/// Cur. 3.10: "Current agent continues with result".
#[test]
fn the_result_of_a_delegate_is_in_the_prompt() {
    for returns in ["RETURNS: {balance: points}", "RETURNS: {balance: number}", ""] {
        let told = told(returns);
        assert!(told[0].contains("1250"), "{returns}: {}", told[0]);
        assert!(told[0].contains("Offer the points, 1250"), "{returns}: {}", told[0]);
        // It is still known when the next message comes.
        assert!(told[1].contains("1250"), "{returns}: {}", told[1]);
    }
}

/// Cur. 3.10, `CONTEXT.pass`: an agent is told what it is passed, whether or not it declares it.
#[test]
fn passed_values_are_in_the_prompt() {
    let front = r#"AGENT: Front
GOAL: "Front"
MEMORY:
  session:
    - city
        INITIAL: "Rome"
    - trip
        INITIAL: { "days": 3, "note": null }
    - nothing
HANDOFF:
  - TO: Back
    WHEN: input.contains("book")
    CONTEXT:
      pass: [city, trip.days, nothing]
      summary: "A trip to {{city}}"
    RETURN: true
"#;
    let back = r#"AGENT: Back
GOAL: "Book {{city}} for {{trip.days}} days"
"#;
    let program = together(&[("front.agent.abl", front), ("back.agent.abl", back)]);
    let mut talk = Talk::new(&program, |tool, _| {
        Err(ToolFailure::new(FailureKind::Refused, format!("no {tool}")))
    });
    talk.model.answers.extend([says("Booked?")]);
    talk.turn(None).say("book it");
    let system = &talk.model.system[0];
    assert!(system.contains("- city: Rome"), "{system}");
    assert!(system.contains("- trip.days: 3"), "{system}");
    assert!(system.contains("Book Rome for 3 days"), "{system}");
    assert!(!system.contains("nothing"), "{system}");
    assert_eq!(talk.session.variable("city"), Some(json!("Rome")));
    assert_eq!(talk.session.variable("trip"), Some(json!({ "days": 3 })));
}

/// Cur. 3.6: `STRATEGY: pattern` makes no request; `hybrid` makes one for what patterns do not find.
#[test]
fn patterns_need_no_model() {
    let desk = |strategy: &str| {
        format!(
            r#"AGENT: Desk
GOAL: "Desk"
FLOW:
  entry_point: ask
  steps: [ask]
  ask:
    REASONING: false
    GATHER:
      - size:
          TYPE: number
          REQUIRED: true
          PROMPT: "Which size?"
      - guest:
          TYPE: string
          REQUIRED: true
          PROMPT: "Which guest?"
      STRATEGY: {strategy}
    THEN: COMPLETE
"#
        )
    };
    let extracted = |strategy: &str| {
        let desk = desk(strategy);
        let program = together(&[("desk.agent.abl", &desk)]);
        let mut talk = Talk::new(&program, |_, _| Ok(json!(null)));
        talk.turn(None).say("size=3").say("Ann");
        assert_eq!(talk.session.variable("size"), Some(json!(3)), "{}", talk.script);
        assert_eq!(talk.session.variable("guest"), Some(json!("Ann")), "{}", talk.script);
        talk.model.extracted
    };
    assert!(extracted("pattern").is_empty());
    assert_eq!(extracted("hybrid"), [["guest"], ["guest"]]);
    assert_eq!(extracted("llm")[0], ["size", "guest"]);
}
