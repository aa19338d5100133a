//! What follows a call that failed, and conditions that cannot be evaluated (ABL).

use super::talk_abl;

/// Cur. 8.10: `ON_SUCCESS` is for a "CALL or GATHER [that] completes successfully", also where a handler of the agent
/// goes on after the last try; and what it would have set opens no check.
#[test]
fn on_success_is_for_calls_that_succeeded() {
    for handler in ["RETRY: 1", "THEN: CONTINUE", "RETRY: 1\n    THEN: RETRY_STEP"] {
        let tries = if handler.starts_with("RETRY") { "[verify, verify]" } else { "[verify]" };
        talk_abl(
            &format!(
                r#"AGENT: Desk
GOAL: "Payments"
TOOLS:
  verify(pin: string) -> {{ok: boolean}}
    description: "Check the PIN"
  pay(amount: number) -> {{id: string}}
    description: "Pay"
MEMORY:
  session:
    - verified
CONSTRAINTS:
  paying:
    - REQUIRE verified == true BEFORE calling pay
      ON_FAIL: "Verify first."
ON_ERROR:
  tool_timeout:
    RESPOND: "One moment."
    {handler}
FLOW:
  check -> pay
  check:
    REASONING: false
    CALL: verify("0000")
    ON_SUCCESS:
      SET: verified = true
      RESPOND: "Verified."
    THEN: pay
  pay:
    REASONING: false
    CALL: pay(5)
    ON_SUCCESS:
      RESPOND: "Paid."
      THEN: COMPLETE
"#
            ),
            &format!(
                r#"
tools: {{ verify: [{{ fail: timeout }}], pay: [{{ answer: {{ id: P1 }} }}] }}
tests:
  - name: the PIN is never checked
    turns:
      - calls: {tries}
        status: await
        state: {{ verified: null }}
"#
            ),
        );
    }
}

/// Cur. 3.14: a step's handlers come before the agent's. `RETRY` has its limit, with and without a message; then, as
/// after `CONTINUE` or nothing, the flow goes on behind the call.
#[test]
fn handlers_of_a_step_end() {
    for (handler, calls) in [
        ("RETRY: 1", "[find, find]"),
        ("RETRY: 2\n        THEN: CONTINUE", "[find, find, find]"),
        ("THEN: CONTINUE", "[find]"),
        ("SET: seen = true", "[find]"),
    ] {
        talk_abl(
            &format!(
                r#"AGENT: Desk
GOAL: "Look things up"
TOOLS:
  find(what: string) -> {{name: string}}
    description: "Find it"
MEMORY:
  session:
    - seen
FLOW:
  look -> tell
  look:
    REASONING: false
    CALL: find("it")
    ON_ERROR:
      - TYPE: tool_error
        {handler}
    THEN: tell
  tell:
    REASONING: false
    RESPOND: "Not found."
    THEN: COMPLETE
"#
            ),
            &format!(
                r#"
tools: {{ find: [{{ fail: error, message: down }}] }}
tests:
  - name: it ends
    turns:
      - says: ["Not found."]
        calls: {calls}
"#
            ),
        );
    }
}

/// A guardrail with a type error triggers neither way, so it blocks.
#[test]
fn a_guardrail_that_looks_into_a_number_blocks() {
    talk_abl(
        r#"AGENT: Desk
GOAL: "Talk"
GUARDRAILS:
  odd:
    kind: input
    check: "input in 5"
    action: block
    msg: "No."
"#,
        r#"
answers: [{ say: "Let through.", times: always }]
tests:
  - name: blocked
    turns:
      - user: hello
        says: ["Sorry, I cannot do that right now."]
"#,
    );
}

/// Cur. 3.7.2: only `readwrite` "grants both read and write".
#[test]
fn what_is_declared_to_be_read_is_not_written() {
    talk_abl(
        r#"AGENT: Desk
GOAL: "Remember"
MEMORY:
  session:
    - name
  persistent:
    - PATH: user.name
      SCOPE: user
      ACCESS: read
    - PATH: user.nick
      SCOPE: user
      ACCESS: readwrite
  remember:
    - WHEN: name IS SET
      STORE: name -> user.name
    - WHEN: name IS SET
      STORE: name -> user.nick
FLOW:
  ask:
    REASONING: false
    RESPOND: "{{user.name}}, {{user.nick}}"
    ON_INPUT:
      - ELSE:
        SET: name = input
        THEN: ask
"#,
        r#"
memory: { user.name: Ada, user.nick: A }
tests:
  - name: kept
    turns:
      - {}
      - user: Bo
      - user: Cy
        says: ["Ada, Bo"]
"#,
    );
}

/// Cur. 3.9: a guardrail of kind `tool_input` validates "tool parameters", so it reads them by their names. A message of
/// the user stays a text, even if it looks like arguments.
#[test]
fn a_guardrail_reads_the_arguments_of_a_tool() {
    talk_abl(
        r#"AGENT: Desk
GOAL: "Pay"
TOOLS:
  pay(amount: number) -> {id: string}
    description: "Pay"
GUARDRAILS:
  most:
    kind: tool_input
    check: "tool_input.amount > 10"
    action: block
    msg: "Too much."
  long:
    kind: input
    check: "input.length > 12"
    action: block
    msg: "Too long."
"#,
        r#"
tools: { pay: [{ answer: { id: P1 } }] }
tests:
  - name: above
    answers: [{ calls: [{ name: pay, arguments: { amount: 50 } }], times: 1 }, { say: "Hm.", times: always }]
    turns:
      - user: pay
        calls: []
  - name: below
    answers: [{ calls: [{ name: pay, arguments: { amount: 5 } }], times: 1 }, { say: "Paid.", times: always }]
    turns:
      - user: pay
        calls: [pay]
        says: ["Paid."]
  - name: a text that looks like arguments
    answers: [{ say: "Let through.", times: always }]
    turns:
      - user: '{"length": 1, "x": 2}'
        says: ["Too long."]
"#,
    );
}

/// Cur. 3.5: a parameter's values and its validation hold for every call; the tool is not called.
#[test]
fn arguments_are_validated() {
    for (rule, argument, calls, error) in [
        ("validation:\n          type: range\n          rule: \"1-10\"", "5", "[pay]", ""),
        ("validation:\n          type: range\n          rule: \"1-10\"", "50", "[]", "may not be"),
        (
            "validation:\n          type: custom\n          rule: \"amount > 10\"",
            "5",
            "[]",
            "may not be",
        ),
        ("enum: [\"5\", \"7\"]", "6", "[]", "may not be"),
        ("enum: [\"5\", \"7\"]", "7", "[pay]", ""),
        ("validation:\n          type: pattern\n          rule: \"(\"", "7", "[]", "may not be"),
    ] {
        talk_abl(
            &format!(
                r#"AGENT: Desk
GOAL: "Payments"
TOOLS:
  pay(amount: number) -> {{id: string}}
    description: "Pay"
    parameters:
      amount:
        type: number
        {rule}
FLOW:
  steps: [pay, tell]
  pay:
    REASONING: false
    CALL: pay({argument})
    THEN: tell
  tell:
    REASONING: false
    RESPOND: "Error: {{{{result.error}}}}"
    THEN: COMPLETE
"#
            ),
            &format!(
                r#"
tools: {{ pay: [{{ answer: {{ id: P1 }} }}] }}
tests:
  - name: "{argument}"
    turns:
      - calls: {calls}
        says: [{{ contains: "{error}" }}]
"#
            ),
        );
    }
}

/// A text that is no number has no place among numbers, so a check over it can say neither yes nor no: it refuses.
#[test]
fn texts_that_are_no_numbers_open_no_check() {
    for (check, value, calls) in [
        ("REQUIRE amount < 100", "much", "[]"),
        ("RESTRICT amount > 100", "much", "[]"),
        ("REQUIRE NOT (amount > 100)", "much", "[]"),
        ("RESTRICT amount > 100", "50", "[pay]"),
        ("RESTRICT amount > 100", "500", "[]"),
        ("REQUIRE amount < \"2026-12-01\"", "2026-11-01", "[pay]"),
        ("REQUIRE amount < \"2026-12-01\"", "soon", "[]"),
    ] {
        talk_abl(
            &format!(
                r#"AGENT: Desk
GOAL: "Payments"
TOOLS:
  pay(what: string) -> {{id: string}}
    description: "Pay"
MEMORY:
  session:
    - amount
        INITIAL: "{value}"
CONSTRAINTS:
  paying:
    - {check} BEFORE calling pay
      ON_FAIL: "No."
FLOW:
  steps: [pay]
  pay:
    REASONING: false
    CALL: pay("it")
    THEN: COMPLETE
"#
            ),
            &format!(
                "tools: {{ pay: [{{ answer: {{ id: P1 }} }}] }}\ntests:\n  - name: it\n    turns:\n      - calls: {calls}\n"
            ),
        );
    }
}

/// Cur. 3.9: `msg` is about a violation. A guardrail that cannot be evaluated has found none; what it guards is not said.
#[test]
fn a_broken_guardrail_speaks_for_itself() {
    talk_abl(
        r#"AGENT: Desk
GOAL: "Talk"
MEMORY:
  session:
    - n
        INITIAL: 5
GUARDRAILS:
  odd:
    kind: output
    check: "n.size.parts(3) == 2"
    action: block
    msg: "Rude words."
FLOW:
  steps: [ask]
  ask:
    REASONING: false
    RESPOND: "What now?"
    THEN: COMPLETE
"#,
        r#"
tests:
  - name: it blocks
    turns:
      - says: ["Sorry, I cannot do that right now."]
"#,
    );
}
