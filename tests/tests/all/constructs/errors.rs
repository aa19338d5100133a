//! What follows a call that failed, and conditions that cannot be evaluated (ABL).

use super::{run_talk, talk_abl};

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
/// after `CONTINUE` or nothing, the flow continues after the call.
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

/// Cur. 3.5: a parameter's validation holds for every call; the tool is not called.
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

const AUDITED: &str = r#"AGENT: Desk
GOAL: "Payments"
TOOLS:
  pay(amount: number) -> {id: string}
    description: "Pay"
  audit() -> {ok: boolean}
    description: "Audit"
HOOKS:
  before_turn:
    CALL: audit()
{handler}FLOW:
  steps: [go]
  go:
    REASONING: false
    CALL: pay(1)
    ON_SUCCESS:
      RESPOND: "Paid. More?"
    ON_INPUT:
      - ELSE:
        RESPOND: "Bye."
        THEN: COMPLETE
"#;

/// Cur. 8.10: after a failed call it goes on behind it; a hook that fails takes nothing from where the conversation is.
#[test]
fn a_failed_hook_does_not_begin_the_flow_again() {
    for (handler, says) in [
        ("", "[Bye.]"),
        (
            "ON_ERROR:\n  tool_error:\n    RESPOND: \"Audit down.\"\n    THEN: CONTINUE\n",
            "[Audit down., Bye.]",
        ),
    ] {
        talk_abl(
            &AUDITED.replace("{handler}", handler),
            &format!(
                r#"
tools: {{ pay: [{{ answer: {{ id: P1 }} }}], audit: [{{ times: 1, answer: {{ ok: true }} }}, {{ fail: error }}] }}
tests:
  - name: the audit fails
    turns:
      - calls: [audit, pay]
      - user: "no"
        calls: [audit]
        says: {says}
        status: done
"#
            ),
        );
    }
}

/// Cur. 3.5: a tool that needs the user's approval is not called where nobody can be asked.
#[test]
fn hooks_make_no_call_that_needs_approval() {
    let agent = AUDITED.replace("{handler}", "").replace(
        "    description: \"Audit\"\n",
        "    description: \"Audit\"\n    confirm: always\n",
    );
    talk_abl(
        &agent,
        r#"
tools: { pay: [{ answer: { id: P1 } }], audit: [{ answer: { ok: true } }] }
tests:
  - name: no approval
    turns:
      - calls: [pay]
      - user: "no"
        calls: []
        says: [Bye.]
"#,
    );
}

/// Cur. 3.14 and 8.10: what begins again is the step; what it has done already is not done again, unless it does nothing.
#[test]
fn a_retry_pays_once() {
    for (effects, calls) in
        [("", "[pay, mail, mail]"), ("    side_effects: false\n", "[pay, mail, pay, mail]")]
    {
        talk_abl(
            &format!(
                r#"AGENT: Desk
GOAL: "Payments"
TOOLS:
  pay(amount: number) -> {{id: string}}
    description: "Pay"
{effects}  mail(to: string) -> {{ok: boolean}}
    description: "Mail"
FLOW:
  steps: [go, end]
  go:
    REASONING: false
    CALL: pay(1)
    ON_SUCCESS:
      CALL: mail("a@b.example")
    ON_ERROR:
      - TYPE: tool_error
        RETRY: 1
    THEN: end
  end:
    REASONING: false
    RESPOND: "Done."
    THEN: COMPLETE
"#
            ),
            &format!(
                r#"
tools: {{ pay: [{{ answer: {{ id: P1 }} }}], mail: [{{ times: 1, fail: error }}, {{ answer: {{ ok: true }} }}] }}
tests:
  - name: the mail fails once
    turns:
      - calls: {calls}
        says: [Done.]
"#
            ),
        );
    }
}

/// Cur. 3.9: guardrails of `tool_output` see whatever a tool returns, also with a failure; each tier of a guardrail counts.
#[test]
fn guardrails_see_failures_and_all_tiers_count() {
    let agent = |rail: &str| {
        format!(
            r#"AGENT: Desk
GOAL: "Cards"
TOOLS:
  card(n: number) -> {{number: string}}
    description: "Card"
GUARDRAILS:
  numbers:
{rail}
FLOW:
  steps: [look, tell]
  look:
    REASONING: false
    CALL: card(1)
    THEN: tell
  tell:
    REASONING: false
    RESPOND: "Got {{{{card.error}}}}{{{{card.number}}}}"
    THEN: COMPLETE
"#
        )
    };
    let redact = "    kind: tool_output\n    check: \"abl.matches_pattern(content, '[0-9]{16}')\"\n    action: redact\n    msg: \"x\"";
    let block = redact.replace("action: redact", "action: block");
    let both = "    kind: output\n    check: \"abl.matches_pattern(content, 'never')\"\n    llm_check: \"Does it contain a card?\"\n    action: block\n    msg: \"Not that.\"";
    for (rail, answer, says) in [
        (
            redact,
            "{ fail: error, message: \"no 4111111111111111\" }",
            "{ contains: \"[REDACTED]\" }",
        ),
        (block.as_str(), "{ fail: error, message: \"no 4111111111111111\" }", "Got x"),
        (both, "{ answer: { number: \"4111111111111111\" } }", "Not that."),
    ] {
        talk_abl(
            &agent(rail),
            &format!(
                r#"
tools: {{ card: [{answer}] }}
answers:
  - {{ statement: card, holds: true }}
tests:
  - name: it
    turns:
      - says: [{says}]
"#
            ),
        );
    }
}

/// Cur. 3.11 (`RETRY`): a handler tries the same call again, with its arguments, also if the model has chosen another one
/// after it; the model hears how it ended.
#[test]
fn a_retry_repeats_the_call_of_the_model() {
    talk_abl(
        r#"AGENT: Desk
GOAL: "Book pitches"
TOOLS:
  book(pitch: string) -> {number: string}
    description: "Books a pitch"
  tell(whom: string) -> {done: boolean}
    description: "Tells somebody"
ON_ERROR:
  tool_error:
    RETRY: 2
    THEN: CONTINUE
"#,
        r#"
answers:
  - ask: converse
    calls:
      - { name: book, arguments: { pitch: P7 } }
      - { name: tell, arguments: { whom: Ann } }
  - say: "Booked."
tools:
  book: [{ times: 1, fail: error, message: down }, { answer: { number: B1 } }]
  tell: [{ answer: { done: true } }]
tests:
  - name: down, then up
    turns:
      - user: P7, and tell Ann
        calls: [{ book: { pitch: P7 } }, { book: { pitch: P7 } }, { tell: { whom: Ann } }]
        says: ["Booked."]
"#,
    );
}

/// Cur. 3.5: a call whose arguments are not what the tool declares is not made, and no call is recorded.
#[test]
fn a_call_with_other_arguments_is_no_call() {
    talk_abl(
        r#"AGENT: Desk
GOAL: "Pay"
TOOLS:
  pay(amount: number, times?: integer) -> {ok: boolean}
    description: "Pay"
    confirm: never
"#,
        r#"
tools: { pay: [{ answer: { ok: true } }] }
answers:
  - { ask: converse, message: fraction, calls: [{ name: pay, arguments: { amount: 5, times: 2.5 } }], times: 1 }
  - { ask: converse, message: whole, calls: [{ name: pay, arguments: { amount: 5.5, times: 2.0 } }], times: 1 }
  - { ask: converse, message: list, calls: [{ name: pay, arguments: { amount: [5] } }], times: 1 }
  - { ask: converse, message: nothing, calls: [{ name: pay, arguments: {} }], times: 1 }
  - { ask: converse, message: number, calls: [{ name: pay, arguments: { amount: 5 } }], times: 1 }
  - { ask: converse, say: "Done.", times: always }
tests:
  - name: refused and made
    turns:
      - {}
      - { user: list, calls: [], says: ["Done."] }
      - { user: nothing, calls: [], says: ["Done."] }
      - { user: number, calls: [pay: { amount: 5 }], says: ["Done."] }
      - { user: fraction, calls: [], says: ["Done."] }
      - { user: whole, calls: [pay: { amount: 5.5 }], says: ["Done."] }
"#,
    );
}

/// A test expects that the model fails a turn by what is said in it, or by its status; otherwise the error is reported.
#[test]
fn a_failed_turn_is_expected_by_its_words_or_its_status() {
    let agent = "AGENT: Desk\nGOAL: \"Help\"\nON_ERROR:\n  default:\n    RESPOND: \"Our line is down.\"\n    THEN: CONTINUE\n";
    let fails = |expected: &str| {
        let turn = format!("      - {{ user: hello{expected} }}\n");
        let scenario = format!(
            "answers: [{{ ask: converse, message: nobody, say: Hm }}]\ntests:\n  - name: down\n    turns:\n{turn}"
        );
        let talk = run_talk(&[("desk.agent.abl", agent)], &scenario);
        talk.outcomes.iter().any(|outcome| !outcome.failures.is_empty())
    };
    assert!(!fails(", says: [\"Our line is down.\"]"));
    assert!(!fails(", status: await"));
    assert!(fails("") && fails(", says: []") && fails(", status: done"));
}
