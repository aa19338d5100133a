//! The questions of failed constraints (ABL, current specification, 3.8.3, `COLLECT`): a message that comes while they are
//! asked begins a turn as any other.

use super::{talk, talk_despite};

/// An agent that asks for the country where a constraint fails, and everything that begins a turn.
fn asker(rule: &str) -> String {
    format!(
        r#"AGENT: Asker
GOAL: "Pay"
TOOLS:
  pay(amount: number) -> {{ok: boolean}}
    description: "Pay"
    confirm: never
GATHER:
  country:
    prompt: "Which country?"
    type: string
    required: false
MEMORY:
  session:
    - armed
    - turns
        INITIAL: 0
    - ends
        INITIAL: 0
CONSTRAINTS:
  rules:
    - REQUIRE NOT input.contains("stolen")
      ON_FAIL: "Stopped."
    - REQUIRE turns < 6
      ON_FAIL: "Too long."
    - REQUIRE country IS SET {rule}
      ON_FAIL:
        COLLECT: [country]
ESCALATE:
  triggers:
    - WHEN: input.contains("lawyer")
      REASON: "legal"
      PRIORITY: high
HANDOFF:
  - TO: Desk
    WHEN: input.contains("counter")
    CONTEXT:
      pass: []
      summary: "s"
HOOKS:
  before_turn:
    SET:
      turns: turns + 1
  after_turn:
    SET:
      ends: ends + 1
FLOW:
  global_digressions:
    - INTENT: "skip"
      KEYWORDS: [skip]
      RESPOND: "Skipping at {{{{ends}}}}."
      RESUME: true
  a -> b
  a:
    REASONING: false
    RESPOND: "Ready?"
    ON_INPUT:
      - ELSE:
        SET: armed = true
        THEN: b
  b:
    REASONING: false
    CALL: pay(1)
    ON_SUCCESS:
      RESPOND: "Paid."
      THEN: a
    DIGRESSIONS:
      - INTENT: "why"
        KEYWORDS: [why]
        RESPOND: "Because."
        RESUME: true
"#
    )
}

/// What the model understands, and the tools.
const SCRIPT: &str = r#"
entry: Asker
model: scripted
answers:
  - { message: "DE", values: { country: DE } }
  - { message: "DE with a stolen card", values: { country: DE } }
  - { values: {}, times: always }
  - { ask: choose, choose: [], times: always }
tools: { pay: [{ answer: { ok: true } }] }
"#;

const DESK: &str = "AGENT: Desk\nGOAL: \"Desk\"\nFLOW:\n  d:\n    REASONING: false\n    RESPOND: \"Desk.\"\n    THEN: COMPLETE\n";

/// "Order within a turn" (Ref., "Evaluation order across constructs"; Cur. 3.8.1: "evaluated every turn"): a message that
/// comes while a failed constraint asks for a value begins a turn as any other.
#[test]
fn a_message_to_the_question_of_a_check_begins_a_turn() {
    let before_call = "BEFORE calling pay";
    let every_turn = "\n      WHEN: armed == true";
    for (rule, routed) in [(before_call, true), (every_turn, false)] {
        let scenario = r#"
tests:
  - name: answered
    turns:
      - says: ["Ready?"]
      - { user: go, calls: [] }
      - { user: "DE", says: [SAID] }
  - name: a rule about the message
    turns:
      - says: ["Ready?"]
      - { user: go }
      - { user: "DE with a stolen card", calls: [], says: ["Stopped."] }
  - name: a hook and a rule about what it counts
    turns:
      - says: ["Ready?"]
      - { user: go }
      - { user: a, calls: [] }
      - { user: b, calls: [] }
      - { user: c, calls: [] }
      - { user: "DE", calls: [], says: ["Too long."] }
  - name: a digression of the flow, and the end of each turn
    turns:
      - says: ["Ready?"]
      - { user: go }
      - { user: skip, calls: [], says: ["Skipping at 2.", "Which country?"] }
      - { user: "DE", says: [SAID] }
  - name: another agent
    turns:
      - says: ["Ready?"]
      - { user: go }
      - { user: to the counter, calls: [], says: [DESK] }
  - name: a person
    turns:
      - says: ["Ready?"]
      - { user: go }
      - { user: my lawyer, calls: [], status: human }
"#;
        let scenario = SCRIPT.to_owned() + scenario;
        let scenario = if routed {
            scenario.replace("SAID", "\"Paid.\", \"Ready?\"").replace("DESK", "\"Desk.\"")
        } else {
            // Nobody else gets the message before the rule is met.
            scenario.replace("SAID", "\"Paid.\", \"Ready?\"").replace("DESK", "\"Which country?\"")
        };
        talk(&[("asker.agent.abl", &asker(rule)), ("desk.agent.abl", DESK)], &scenario);
    }
    talk(
        &[("asker.agent.abl", &asker(before_call)), ("desk.agent.abl", DESK)],
        r#"
entry: Asker
model: scripted
answers: [{ values: {}, times: always }, { ask: choose, choose: [], times: always }]
tests:
  - name: a digression of the step
    turns:
      - says: ["Ready?"]
      - { user: go, says: ["Which country?"] }
      - { user: why?, calls: [], says: ["Because.", "Which country?"] }
"#,
    );
}

/// ... also where the turn itself was refused: the step, from which the message was kept, asks again.
#[test]
fn a_message_to_the_question_of_a_refused_turn_begins_a_turn() {
    let rule = "\n      WHEN: turns > 1";
    let tests = r#"
tests:
  - name: answered
    turns:
      - says: ["Ready?"]
      - { user: go, calls: [], says: ["Which country?"] }
      - { user: no, calls: [], says: ["Which country?"] }
      - { user: "DE", calls: [], says: ["Ready?"] }
      - { user: go, calls: [pay], says: ["Paid.", "Ready?"] }
  - name: a rule about the message
    turns:
      - says: ["Ready?"]
      - { user: go }
      - { user: "DE with a stolen card", calls: [], says: ["Stopped."] }
  - name: a digression, another agent, a person
    turns:
      - says: ["Ready?"]
      - { user: go }
      - { user: skip, calls: [], says: ["Skipping at 2.", "Which country?"] }
      - { user: to the counter, calls: [], says: ["Which country?"] }
      - { user: my lawyer, calls: [], status: human }
"#;
    talk(
        &[("asker.agent.abl", &asker(rule)), ("desk.agent.abl", DESK)],
        &(SCRIPT.to_owned() + tests),
    );
}

/// ... also where the words after `BEFORE` name no point, so that the constraint holds in every turn and before every call.
#[test]
fn a_question_of_an_unclear_check_is_asked_until_it_is_answered() {
    let cases: [(&str, &str, &[&str]); 2] = [
        ("BEFORE payment", "Which country?", &[]),
        ("BEFORE calling payy", "Ready?", &["undefined-tool"]),
    ];
    for (words, asked, errors) in cases {
        let tests = format!(
            r#"
tests:
  - name: answered
    turns:
      - says: ["{asked}"]
      - {{ user: no, calls: [], says: ["Which country?"] }}
      - {{ user: "DE", says: [{}] }}
"#,
            if asked == "Ready?" { "\"Paid.\", \"Ready?\"" } else { "\"Ready?\"" }
        );
        talk_despite(
            errors,
            &[("asker.agent.abl", &asker(words)), ("desk.agent.abl", DESK)],
            &(SCRIPT.to_owned() + &tests),
        );
    }
}

/// Cur. 3.8: a value that a failed constraint of every turn has asked for is missing, and not unknown, until it is there.
#[test]
fn what_a_rule_has_asked_for_is_not_unknown() {
    let agent = asker("")
        .replace("country IS SET", "country == \"DE\"")
        .replace("RESPOND: \"Skipping at {{ends}}.\"\n      RESUME: true", "THEN: b");
    talk(
        &[("asker.agent.abl", &agent), ("desk.agent.abl", DESK)],
        r#"
entry: Asker
model: scripted
answers: [{ message: "FR", values: { country: FR }, times: 1 }, { values: {}, times: always }, { ask: choose, choose: [], times: always }]
tools: { pay: [{ answer: { ok: true } }] }
tests:
  - name: by another way
    turns:
      - says: ["Ready?"]
      - { user: "FR", calls: [], says: ["Which country?"] }
      - { user: skip, calls: [], says: ["Which country?"] }
"#,
    );
}
