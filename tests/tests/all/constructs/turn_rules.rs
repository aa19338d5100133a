//! Rules of every turn, and values that the same turn brings: what is refused does not happen because its value came late
//! (ABL, current specification, 3.8: "checks over session state and execution checkpoints").

use super::{talk, talk_abl};

/// A flow that learns a value and uses it in one turn.
fn desk(rule: &str, before: &str) -> String {
    format!(
        r#"AGENT: Desk
GOAL: "Payments"
TOOLS:
  look_up(owner: string) -> {{balance: number}}
    description: "Balance"
  pay(amount: number) -> {{id: string}}
    description: "Pay"
MEMORY:
  session:
    - limit
        INITIAL: 1000
{rule}FLOW:
  steps: [ask, {before}go]
  ask:
    REASONING: false
    GATHER:
      - amount:
          TYPE: number
          REQUIRED: true
          PROMPT: "How much?"
    THEN: {next}
  look:
    REASONING: false
    CALL: look_up("Ann")
      AS: account
    THEN: go
  go:
    REASONING: false
    CALL: pay(amount)
    ON_SUCCESS:
      RESPOND: "Paid {{{{amount}}}}."
      THEN: COMPLETE
    ON_FAIL:
      RESPOND: "Not paid."
      THEN: COMPLETE
"#,
        next = if before.is_empty() { "go" } else { "look" },
    )
}

/// Cur. 3.8: a constraint of every turn holds for a value that the turn has just collected.
#[test]
fn a_constraint_holds_for_what_the_turn_collects() {
    let rule =
        "CONSTRAINTS:\n  always:\n    - REQUIRE amount <= limit\n      ON_FAIL: \"Too much.\"\n";
    talk_abl(
        &desk(rule, ""),
        r#"
tools: { pay: [{ answer: { id: P1 } }] }
tests:
  - name: too much
    turns:
      - says: ["How much?"]
      - { user: "9000", calls: [], says: ["Too much."], status: await }
      - { user: why?, calls: [], says: ["Too much."] }
  - name: enough
    turns:
      - says: ["How much?"]
      - { user: "900", calls: [{ pay: { amount: 900 } }], says: ["Paid 900."] }
"#,
    );
}

/// ... and for what a tool has just returned.
#[test]
fn a_constraint_holds_for_what_a_tool_returns() {
    let rule = "CONSTRAINTS:\n  always:\n    - REQUIRE account.balance >= amount\n      ON_FAIL: \"Not enough.\"\n";
    talk_abl(
        &desk(rule, "look, "),
        r#"
tools: { look_up: [{ answer: { balance: 50 } }], pay: [{ answer: { id: P1 } }] }
tests:
  - name: too little there
    turns:
      - says: ["How much?"]
      - { user: "60", calls: [look_up], says: ["Not enough."] }
  - name: enough there
    turns:
      - says: ["How much?"]
      - { user: "40", calls: [look_up, pay], says: ["Paid 40."] }
"#,
    );
}

/// What `THEN: continue` allows, and what a hook does, is not held up.
#[test]
fn what_goes_on_behind_a_failure_is_not_held_up() {
    let rule = "CONSTRAINTS:\n  always:\n    - REQUIRE amount <= limit\n      ON_FAIL:\n        RESPOND: \"A lot.\"\n        THEN: continue\n";
    talk_abl(
        &desk(rule, ""),
        r#"
tools: { pay: [{ answer: { id: P1 } }] }
tests:
  - name: a lot
    turns:
      - says: ["How much?"]
      - { user: "9000", calls: [pay], says: ["Paid 9000."] }
"#,
    );
}

const ESCALATION: &str = r#"ESCALATE:
  triggers:
    - WHEN: amount > 1000
      REASON: "a lot"
      PRIORITY: high
  on_human_complete:
    - IF: human.back == true
      THEN: CONTINUE
"#;

/// Cur. 3.12, Ref. ("ESCALATE triggers — checked first; critical safety and compliance"): a person sees the value before
/// it is used. When they have handed back, they have seen it; another value is for them again.
#[test]
fn a_person_sees_the_value_before_it_is_used() {
    talk_abl(
        &desk(ESCALATION, ""),
        r#"
tools: { pay: [{ answer: { id: P1 } }] }
tests:
  - name: a lot
    humans: [{ outcome: { back: true } }]
    turns:
      - says: ["How much?"]
      - { user: "9000", calls: [], status: await }
      - { user: so?, calls: [{ pay: { amount: 9000 } }], says: ["Paid 9000."] }
  - name: nothing special
    turns:
      - says: ["How much?"]
      - { user: "900", calls: [pay], says: ["Paid 900."] }
"#,
    );
}

/// Ref.: where the model leads, escalations and handoffs are decided with what the message says.
#[test]
fn where_the_model_leads_the_message_counts() {
    let front = |then: &str| {
        format!(
            r#"AGENT: Front
GOAL: "Take the amount"
GATHER:
  - amount:
      TYPE: number
      REQUIRED: true
      PROMPT: "How much?"
{then}COMPLETE:
  - WHEN: amount IS SET
    RESPOND: "Noted {{{{amount}}}}."
"#
        )
    };
    let large = r#"AGENT: Large
GOAL: "Large amounts"
FLOW:
  steps: [end]
  end:
    REASONING: false
    RESPOND: "A lot."
    THEN: COMPLETE
"#;
    let handoff = "HANDOFF:\n  - TO: Large\n    WHEN: amount > 1000\n";
    talk(
        &[("front.agent.abl", &front(handoff)), ("large.agent.abl", large)],
        r#"
model: offline
entry: Front
tests:
  - name: to the one for large amounts
    turns:
      - { user: it is 9000, says: ["A lot."] }
  - name: not to them
    turns:
      - { user: it is 900, says: ["Noted 900."] }
"#,
    );
    talk_abl(
        &front(ESCALATION),
        r#"
model: offline
tests:
  - name: a person
    humans: [{ outcome: { back: true } }]
    turns:
      - { user: it is 9000, says: [] }
"#,
    );
}

/// Cur. 3.8: before a call, the call's own arguments count as well as the variables of their names.
#[test]
fn the_arguments_of_a_call_count() {
    let agent = desk(
        "CONSTRAINTS:\n  paying:\n    - REQUIRE amount <= limit BEFORE calling pay\n      ON_FAIL: \"Too much.\"\n",
        "",
    );
    let scenario = r#"
tools: { pay: [{ answer: { id: P1 } }] }
tests:
  - name: ten times as much
    turns:
      - says: ["How much?"]
      - { user: "900", calls: [], says: ["Too much."] }
  - name: enough
    turns:
      - says: ["How much?"]
      - { user: "90", calls: [{ pay: { amount: 900 } }], says: ["Paid 90."] }
"#;
    talk_abl(&agent.replace("CALL: pay(amount)", "CALL: pay(amount: amount * 10)"), scenario);
}

/// Cur. 3.13: a button answers the question that it came with. Pressed later, it fills no field and chooses no branch.
#[test]
fn a_button_of_an_earlier_question_is_no_answer() {
    talk_abl(
        r#"AGENT: Desk
GOAL: "Payments"
TOOLS:
  pay(to: string) -> {id: string}
    description: "Pay"
FLOW:
  steps: [size, name, sure]
  size:
    REASONING: false
    RESPOND: "Small or large?"
      ACTIONS:
        - BUTTON: "Small"
          ID: small
          VALUE: "small"
        - BUTTON: "Large"
          ID: large
          VALUE: "large"
    ON_INPUT:
      - IF: input == "large"
        RESPOND: "Large, then."
        THEN: name
      - ELSE:
        THEN: name
  name:
    REASONING: false
    GATHER:
      - to:
          TYPE: string
          REQUIRED: true
          PROMPT: "To whom?"
    THEN: sure
  sure:
    REASONING: false
    RESPOND: "Shall I?"
    ON_INPUT:
      - IF: input == "large"
        CALL: pay(to)
        THEN: COMPLETE
      - ELSE:
        THEN: sure
"#,
        r#"
answers: [{ ask: extract, message: Ann, values: { to: Ann } }]
tools: { pay: [{ answer: { id: P1 } }] }
tests:
  - name: pressed at once, and again
    turns:
      - says: ["Small or large?"]
      - { press: { id: large, value: large }, says: ["Large, then.", "To whom?"] }
      - { press: { id: large, value: large }, says: [{ contains: earlier question }, "To whom?"] }
      - { user: Ann, says: ["Shall I?"], state: { to: Ann } }
      - { press: { id: large, value: large }, calls: [], says: [{ contains: earlier question }] }
"#,
    );
}
