//! Rules of every turn, and values that the same turn brings: what is refused does not happen because its value came late
//! (ABL, current specification, 3.8: "checks over session state and execution checkpoints").

use super::payment::Payment;
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
    // The value may be in the rule, or in what says when it applies.
    for rule in ["amount <= limit", "limit > 5000\n      WHEN: amount > 1000"] {
        let rule = format!(
            "CONSTRAINTS:\n  always:\n    - REQUIRE {rule}\n      ON_FAIL: \"Too much.\"\n"
        );
        talk_abl(
            &desk(&rule, ""),
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

/// What `THEN: continue` allows is not held up; its words come before the call.
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
      - { user: "9000", calls: [pay], says: ["A lot.", "Paid 9000."] }
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

/// Cur. 3.8.3: `COLLECT` asks for a field of a step as for one of the agent, the way the step finds it; nothing goes on
/// with a default in place of what was refused.
#[test]
fn a_check_collects_fields_of_steps() {
    for before in ["", " BEFORE calling pay"] {
        let rule = format!(
            "CONSTRAINTS:\n  paying:\n    - REQUIRE amount <= limit{before}\n      ON_FAIL:\n        RESPOND: \"Too much.\"\n        COLLECT: [amount]\n"
        );
        let agent = desk(&rule, "")
            .replace("pay(amount: number)", "pay(amount: number = 5000)")
            .replace("PROMPT: \"How much?\"\n", "PROMPT: \"How much?\"\n      STRATEGY: pattern\n");
        talk_abl(
            &agent,
            r#"
tools: { pay: [{ answer: { id: P1 } }] }
tests:
  - name: asked again
    turns:
      - says: ["How much?"]
      - { user: "9000", calls: [], says: ["Too much.", "How much?"] }
      - { user: what?, calls: [], says: ["How much?"] }
      - { user: "8000", calls: [], says: ["Too much.", "How much?"] }
      - { user: "70", calls: [{ pay: { amount: 70 } }], says: ["Paid 70."] }
"#,
        );
    }
}

/// Cur. 3.6, "Field Activation Modes": whether a field is asked for depends on the values of the same message.
#[test]
fn a_field_is_active_by_what_the_message_says() {
    talk_abl(
        r#"AGENT: Desk
GOAL: "Open accounts"
TOOLS:
  open_account(resident: boolean, source: string = "none") -> {ref: string}
    description: "Opens"
FLOW:
  form -> open
  form:
    REASONING: false
    GATHER:
      - resident:
          TYPE: boolean
          REQUIRED: true
          PROMPT: "Do you live here?"
      - source:
          TYPE: string
          REQUIRED: true
          PROMPT: "Source of funds?"
          ACTIVATION:
            WHEN: "resident == false"
      STRATEGY: pattern
    THEN: open
  open:
    REASONING: false
    CALL: open_account(resident)
    ON_SUCCESS:
      RESPOND: "Opened."
      THEN: COMPLETE
"#,
        r#"
tools: { open_account: [{ answer: { ref: R1 } }] }
tests:
  - name: lives elsewhere
    turns:
      - says: ["Do you live here?"]
      - { user: "no", calls: [], says: ["Source of funds?"] }
  - name: lives here
    turns:
      - says: ["Do you live here?"]
      - { user: "yes", calls: [open_account], says: ["Opened."] }
"#,
    );
}

/// Ref., "HANDOFF": an agent that has returned is not handed the same values again because the condition goes on to hold.
#[test]
fn a_handoff_is_not_repeated_for_nothing() {
    let front = r#"AGENT: Front
GOAL: "Front"
HANDOFF:
  - TO: Payer
    WHEN: go == true
    CONTEXT:
      pass: [amount]
      summary: "s"
    RETURN: true
    ON_RETURN:
      map:
        paid: ref
MEMORY:
  session:
    - go
    - amount
        INITIAL: 7
    - paid
FLOW:
  s:
    REASONING: false
    RESPOND: "Paid: {{paid}}"
    ON_INPUT:
      - IF: input == "go"
        SET: go = true
        THEN: s
      - IF: input == "more"
        SET: amount = 9
        THEN: s
      - ELSE:
        THEN: s
"#;
    let payer = r#"AGENT: Payer
GOAL: "Pay"
TOOLS:
  pay(amount: number) -> {ref: string}
    description: "Pays"
MEMORY:
  session:
    - amount
    - ref
FLOW:
  c:
    REASONING: false
    CALL: pay(amount)
    ON_SUCCESS:
      SET: ref = result.ref
      RESPOND: "Paid {{amount}}."
      THEN: COMPLETE
"#;
    talk(
        &[("front.agent.abl", front), ("payer.agent.abl", payer)],
        r#"
entry: Front
tools: { pay: [{ answer: { ref: R1 } }] }
tests:
  - name: once for each amount
    turns:
      - { says: ["Paid: "] }
      - { user: go, calls: [] }
      - { user: a, calls: [{ pay: { amount: 7 } }] }
      - { user: b, calls: [] }
      - { user: more, calls: [] }
      - { user: c, calls: [{ pay: { amount: 9 } }] }
      - { user: d, calls: [] }
"#,
    );
}

/// Cur. 3.14.6: a call that failed has verified nothing, whatever data came with the failure.
#[test]
fn data_of_a_failed_call_opens_nothing() {
    talk_abl(
        r#"AGENT: Desk
GOAL: "Payments"
TOOLS:
  pay(amount: number) -> {id: string}
    description: "Pay"
  verify(code: string) -> {ok: boolean}
    description: "Verify"
CONSTRAINTS:
  paying:
    - REQUIRE last_verify_result.ok == true BEFORE calling pay
      ON_FAIL: "Not verified."
FLOW:
  ask:
    REASONING: false
    RESPOND: "Code?"
    ON_INPUT:
      - ELSE:
        THEN: v
  v:
    REASONING: false
    CALL: verify("x")
    THEN: p
  p:
    REASONING: false
    CALL: pay(5)
    ON_SUCCESS:
      RESPOND: "Paid."
      THEN: COMPLETE
"#,
        r#"
tools:
  verify: [{ fail: error, message: down, data: { ok: true }, times: 1 }, { answer: { ok: true } }]
  pay: [{ answer: { id: P1 } }]
tests:
  - name: down
    turns:
      - says: ["Code?"]
      - { user: x, calls: [verify], says: ["Not verified."] }
"#,
    );
}

/// Cur. 3.9: a guardrail of handoffs reads what is handed over by the name of its kind, too.
#[test]
fn a_guardrail_of_handoffs_has_the_name_of_its_kind() {
    for check in [
        "abl.matches_pattern(handoff, 'DE\\d+')",
        "abl.matches_pattern(context, 'DE\\d+')",
        "abl.matches_pattern(content, 'DE\\d+')",
        "handoff.iban == 'DE123'",
    ] {
        let front = format!(
            r#"AGENT: Front
GOAL: "Front"
MEMORY:
  session:
    - iban
        INITIAL: "DE123"
GUARDRAILS:
  private:
    kind: handoff
    check: "{check}"
    action: block
    msg: "Not handed over."
HANDOFF:
  - TO: Back
    WHEN: iban IS SET
    CONTEXT:
      pass: [iban]
      summary: "s"
"#,
            check = check.replace('\\', "\\\\")
        );
        let back = "AGENT: Back\nGOAL: \"Back\"\nFLOW:\n  b:\n    REASONING: false\n    RESPOND: \"Here.\"\n    THEN: COMPLETE\n";
        talk(
            &[("front.agent.abl", &front), ("back.agent.abl", back)],
            "entry: Front\ntests:\n  - name: kept\n    turns:\n      - { user: hello, says: [Not handed over.], agent: Front }\n",
        );
    }
}

/// An agent that pays in the turn in which `change` has happened, and a rule about what it changes.
fn payer(declared: &str, rule: &str, change: &str) -> String {
    format!(
        r#"AGENT: Payer
GOAL: "Pay"
TOOLS:
  pay(amount: number) -> {{ok: boolean}}
    description: "Pay"
    confirm: never
  quote() -> {{total: number}}
    description: "Quote"
MEMORY:
  session:
    - risk
        INITIAL: 10
    - out
{declared}CONSTRAINTS:
  always:
    - REQUIRE {rule}
      ON_FAIL: "Too risky."
FLOW:
  a -> b -> c
  a:
    REASONING: false
    RESPOND: "Hi."
    ON_INPUT:
{change}
        THEN: c
      - ELSE:
        THEN: b
  b:
    REASONING: false
    CALL: quote()
    THEN: c
  c:
    REASONING: false
    CALL: pay(1)
    ON_SUCCESS:
      RESPOND: "Paid."
      THEN: a
"#
    )
}

const ASSESSOR: &str = r#"AGENT: Assessor
GOAL: "Assess"
MEMORY:
  session:
    - score
  persistent:
    - PATH: user.score
      SCOPE: user
      ACCESS: readwrite
  remember:
    - WHEN: score IS SET
      STORE: score -> user.score
FLOW:
  k:
    REASONING: false
    SET: score = 500
    THEN: COMPLETE
"#;

/// Cur. 3.8: whatever brings the value in this turn, the rule is read again before the call. No list of constructs decides
/// that.
#[test]
fn a_rule_is_read_again_whatever_changed_its_values() {
    let delegate = |returns: &str| {
        format!(
            "DELEGATE:\n  - AGENT: Assessor\n    WHEN: input == \"go\"\n    PURPOSE: \"Assess\"\n    RETURNS: {returns}\n    USE_RESULT: \"x\"\n"
        )
    };
    let set = "      - IF: input == \"other\"\n        SET: out = 1";
    let cases = [
        ("result of RETURNS", delegate("{score: risk}"), "risk < 100", set),
        ("RETURNS to its other name", delegate("{score: session.risk}"), "risk < 100", set),
        (
            "result by the agent's name",
            delegate("{nothing: out}"),
            "Assessor.score < 100 OR Assessor.score IS NOT SET",
            set,
        ),
        (
            "what the delegate remembered",
            delegate("{nothing: out}"),
            "user.score < 100 OR user.score IS NOT SET",
            set,
        ),
        (
            "another name of the variable",
            String::new(),
            "session.risk < 100",
            "      - IF: input == \"go\"\n        SET: risk = 500",
        ),
        (
            "the variable by its other name",
            String::new(),
            "risk < 100",
            "      - IF: input == \"go\"\n        SET: session.risk = 500",
        ),
        (
            "what a pattern found",
            String::new(),
            "match.1 IS NOT SET OR match.1 != \"go\"",
            "      - IF: input matches \"(go)\"\n        SET: out = 1",
        ),
    ];
    for (name, declared, rule, change) in cases {
        talk(
            &[
                ("payer.agent.abl", &payer(&declared, rule, change)),
                ("assessor.agent.abl", ASSESSOR),
            ],
            &format!(
                r#"
entry: Payer
tools: {{ pay: [{{ answer: {{ ok: true }} }}], quote: [{{ answer: {{ total: 5 }} }}] }}
tests:
  - name: {name}
    turns:
      - says: ["Hi."]
      - {{ user: go, calls: [], says: ["Too risky."] }}
"#
            ),
        );
    }
    // A count of the runtime.
    let rule = "tool_failures < 1 OR tool_failures IS NOT SET";
    talk(
        &[("payer.agent.abl", &payer("", rule, set))],
        r#"
tools: { pay: [{ answer: { ok: true } }], quote: [{ fail: error, message: down }] }
tests:
  - name: after a failure
    turns:
      - says: ["Hi."]
      - { user: go, calls: [quote], says: ["Too risky."] }
"#,
    );
}

/// ... and before a call is tried again: what handles its failure may have changed them.
#[test]
fn a_rule_is_read_again_before_a_call_is_tried_again() {
    let agent = payer("", "risk < 100", "      - IF: input == \"go\"\n        SET: out = 1")
        .replace(
            "FLOW:",
            "ON_ERROR:\n  tool_error:\n    SET: risk = 500\n    RETRY: 2\n    THEN: CONTINUE\nFLOW:",
        );
    talk_abl(
        &agent,
        r#"
tools: { pay: [{ fail: error, message: down }], quote: [{ answer: { total: 5 } }] }
tests:
  - name: once
    turns:
      - says: ["Hi."]
      - { user: go, calls: [pay], says: ["Too risky."] }
"#,
    );
}

/// What is written for a check that holds is done only if it holds, whether or not something is written for one that fails.
#[test]
fn a_check_that_fails_does_not_succeed() {
    let desk = |fails: &str| {
        format!(
            r#"AGENT: Desk
GOAL: "Help"
MEMORY:
  session:
    - n
        TYPE: number
        INITIAL: 1
FLOW:
  s:
    REASONING: false
    ON_INPUT:
      - IF: input == "more"
        SET: n = 3
        THEN: t
      - ELSE:
        THEN: t
  t:
    REASONING: false
    CHECK: n > 2
    ON_SUCCESS: big
{fails}    THEN: small
  small:
    REASONING: false
    RESPOND: "small"
    THEN: COMPLETE
  big:
    REASONING: false
    RESPOND: "big"
    THEN: COMPLETE
"#
        )
    };
    for fails in ["", "    ON_FAIL: small\n", "    ON_FAIL:\n      SET: n = 0\n"] {
        talk_abl(
            &desk(fails),
            r#"
tests:
  - name: fails
    turns: [{}, { user: go, says: [small] }]
  - name: holds
    turns: [{}, { user: more, says: [big] }]
"#,
        );
    }
}

/// Cur. 3.8: words that the model judges are judged again before a call: they may be about a value of the turn.
#[test]
fn words_of_every_turn_are_judged_again_before_a_call() {
    let sections = "CONSTRAINTS:\n  r:\n    - REQUIRE the user has accepted the fee\n      ON_FAIL: \"Verify first.\"\n";
    talk_abl(
        &Payment { sections, ..Payment::default() }.to_string(),
        r#"
tools: { pay: [{ answer: { ok: true } }] }
answers:
  - { statement: accepted, holds: true }
  - { statement: accepted, holds: true }
  - { statement: accepted, holds: false, times: always }
tests:
  - name: no longer
    turns:
      - says: ["Hi."]
      - { user: go, calls: [], says: ["Verify first."] }
"#,
    );
}
