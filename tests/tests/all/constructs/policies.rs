//! Constraints, guardrails, completion and comparisons with nothing (ABL).

use super::payment::Payment;
use super::{talk, talk_abl};

/// Cur. 3.8: the kinds of constraints, `WHEN` and `IMPLIES`, and what a failure leads to. `BLOCK` says
/// nothing; a constraint that failed keeps the message from the step. See the table of decisions in
/// `docs/semantics.md`.
#[test]
fn constraints_hold_in_every_turn() {
    talk_abl(
        r#"AGENT: Desk
GOAL: "Orders"
MEMORY:
  session:
    - amount
        INITIAL: 0
    - card
CONSTRAINTS:
  always:
    - LIMIT amount < 100
      ON_FAIL: "Too much."
    - REQUIRE card IS SET
      WHEN: amount > 50
      ON_FAIL: "A card, please."
    - WARN amount < 20
      ON_FAIL: "That is a lot."
FLOW:
  entry_point: ask
  steps: [ask]
  ask:
    REASONING: false
    RESPOND: "How much?"
    ON_INPUT:
      - IF: input.contains("500")
        SET: amount = 500
        THEN: ask
      - IF: input.contains("60")
        SET: amount = 60
        THEN: ask
      - IF: input.contains("30")
        SET: amount = 30
        THEN: ask
      - ELSE:
        RESPOND: "Hm."
        THEN: ask
"#,
        r#"
tests:
  - name: a limit
    turns:
      - user: "500"
      - user: go on
        says: ["Too much."]
  - name: under a condition
    turns:
      - user: "60"
      - user: go on
        says: ["A card, please."]
  - name: a warning goes on
    turns:
      - user: "30"
      - user: go on
        says: ["That is a lot.", "Hm.", "How much?"]
"#,
    );
}

/// Cur. 3.9: guardrails of input, of output and of both, by priority; what they redact and block.
#[test]
fn guardrails_look_at_what_comes_and_goes() {
    talk_abl(
        r#"AGENT: Desk
GOAL: "Talk"
GUARDRAILS:
  no_bombs:
    kind: input
    check: "abl.matches_pattern(input, '(?i)bomb')"
    action: block
    msg: "Not about that."
    priority: 1
  no_numbers:
    kind: output
    check: "abl.matches_pattern(content, '[0-9]{4}')"
    action: redact
    msg: "Numbers"
  no_rivals:
    kind: both
    check: "abl.matches_pattern(input, '(?i)rival')"
    action: block
    msg: "Not about them."
    priority: 2
FLOW:
  entry_point: ask
  steps: [ask]
  ask:
    REASONING: false
    RESPOND: "Yes?"
    ON_INPUT:
      - ELSE:
        RESPOND: "Call 5551 for {{input}}."
        THEN: ask
"#,
        r#"
tests:
  - name: each
    turns:
      - user: a rival bomb
        says: ["Not about that."]
      - user: a rival
        says: ["Not about them."]
      - user: help
        says: [{ contains: "[REDACTED]" }, "Yes?"]
"#,
    );
}

/// Cur. 3.9: input guardrails are "evaluated pre-message": what is blocked sets no values and interrupts nothing.
#[test]
fn what_an_input_guardrail_blocks_is_not_read() {
    talk_abl(
        r#"AGENT: Desk
GOAL: "Book a room"
GUARDRAILS:
  no_orders:
    kind: input
    check: "abl.matches_pattern(input, '(?i)ignore')"
    action: block
    msg: "I cannot read that."
GATHER:
  - city: required
    type: string
    prompt: "Which city?"
  - guests: required
    type: number
    prompt: "How many guests?"
COMPLETE:
  - WHEN: city IS SET AND guests IS SET
    RESPOND: "{{guests}} to {{city}}"
"#,
        r#"
tests:
  - name: the values of a blocked message are not there
    turns:
      - user: hello
        says: [{ contains: "Which city?" }]
      - user: ignore all that, the city is Rome for 3 guests
        says: ["I cannot read that."]
      - user: the city is Oslo
        says: [{ contains: "How many guests?" }]
      - user: 4 guests
        says: ["4 to Oslo"]
"#,
    );
}

/// Cur. 3.9: a guardrail of both kinds is two, and what one agent filters says nothing about the guardrails of another.
#[test]
fn a_filtered_message_is_no_checked_answer() {
    let front = r#"AGENT: Front
GOAL: "Talk"
GUARDRAILS:
  plain:
    kind: both
    check: "abl.matches_pattern(content, '[0-9]{4}')"
    action: redact
FLOW:
  entry_point: ask
  steps: [ask, code]
  ask:
    REASONING: false
    RESPOND: "Yes?"
    ON_INPUT:
      - IF: input CONTAINS "back"
        THEN: HANDOFF Back
      - ELSE:
        THEN: code
  code:
    REASONING: false
    RESPOND: "Your code is 5551, {{input}}"
    THEN: ask
HANDOFF:
  - TO: Back
    WHEN: false
    RETURN: false
"#;
    let back = r#"AGENT: Back
GOAL: "Talk"
GUARDRAILS:
  plain:
    kind: input
    check: "abl.matches_pattern(content, '(?i)refund')"
    action: block
    msg: "No refunds."
FLOW:
  entry_point: say
  steps: [say]
  say:
    REASONING: false
    RESPOND: "Back here."
    ON_INPUT:
      - ELSE:
        RESPOND: "I heard {{input}}"
        THEN: say
"#;
    talk(
        &[("front.agent.abl", front), ("back.agent.abl", back)],
        r#"
entry: Front
tests:
  - name: the answer is filtered, too
    turns:
      - user: my number is 1234
        says: [{ contains: "Your code is [REDACTED], my number is [REDACTED]" }, "Yes?"]
  - name: the guardrail of the other agent
    turns:
      - user: 1234 back
        says: ["Back here."]
      - user: a refund of 1234
        says: ["No refunds."]
"#,
    );
}

/// Cur. 3.11.1 and 3.8.3: triggers of escalation, and a limit that escalates.
#[test]
fn escalation_by_trigger_and_by_limit() {
    talk_abl(
        r#"AGENT: Desk
GOAL: "Help"
MEMORY:
  session:
    - tries
        INITIAL: 0
CONSTRAINTS:
  always:
    - LIMIT tries < 3
      ON_FAIL: ESCALATE
ESCALATE:
  triggers:
    - WHEN: input.contains("lawyer")
      REASON: "Legal"
      PRIORITY: high
FLOW:
  entry_point: ask
  steps: [ask]
  ask:
    REASONING: false
    RESPOND: "Yes?"
    ON_INPUT:
      - ELSE:
        SET: tries = tries + 1
        THEN: ask
"#,
        r#"
tests:
  - name: a trigger
    turns:
      - user: my lawyer says
        status: human
  - name: a limit
    turns:
      - user: a
      - user: b
      - user: c
      - user: d
        status: human
"#,
    );
}

/// Cur. 3.6 and 3.12: a completion reads a result under the names that results have, so that a field of
/// it is `process_refund.refund_id`; the example of 3.6 reads it without the tool's name. See the table
/// of decisions in `docs/semantics.md`.
#[test]
fn completion_reads_results_by_their_tool() {
    talk_abl(
        r#"AGENT: Refund_Desk
GOAL: "Refund"
TOOLS:
  process_refund(order_id: string) -> {refund_id: string, amount: number}
    description: "Process refund"
    side_effects: false
COMPLETE:
  - WHEN: process_refund.refund_id IS SET
    RESPOND: "Your refund of {{process_refund.amount}}: {{process_refund.refund_id}}"
"#,
        r#"
tools: { process_refund: [{ answer: { refund_id: R9, amount: 12 } }] }
answers:
  - { calls: [{ name: process_refund, arguments: { order_id: O1 } }] }
  - { say: "Done." }
tests:
  - name: completes
    turns:
      - user: refund order O1
        says: ["Done.", "Your refund of 12: R9"]
        status: done
"#,
    );
}

/// `!=` with an unset operand holds on the platform; the specification is silent. `IS SET` asks whether
/// there is a value. See the table of decisions in `docs/semantics.md`.
#[test]
fn unequal_holds_for_nothing() {
    talk_abl(
        r#"AGENT: Desk
GOAL: "Compare"
FLOW:
  entry_point: ask
  steps: [ask]
  ask:
    REASONING: false
    RESPOND: "Yes?"
    ON_INPUT:
      - IF: x IS SET AND x != null
        RESPOND: "Set."
        THEN: COMPLETE
      - IF: x != "a"
        RESPOND: "Another, or none."
        THEN: COMPLETE
      - ELSE:
        RESPOND: "a."
        THEN: COMPLETE
MEMORY:
  session:
    - x
"#,
        r#"
tests:
  - name: nothing
    turns:
      - user: go
        says: ["Another, or none."]
"#,
    );
}

/// Cur. 3.8, 3.11: the message that led to a person was for the person; when the agent continues, it waits for the next.
#[test]
fn a_message_for_a_person_is_not_an_answer() {
    let agent = |escalation: &str| {
        format!(
            r#"AGENT: Desk
GOAL: "Payments"
TOOLS:
  pay(amount: number) -> {{id: string}}
    description: "Pay"
{escalation}FLOW:
  steps: [ask, go]
  ask:
    REASONING: false
    RESPOND: "Shall I pay?"
    ON_INPUT:
      - IF: input == "stop"
        THEN: COMPLETE
      - ELSE:
        THEN: go
  go:
    REASONING: false
    CALL: pay(1)
    ON_SUCCESS:
      RESPOND: "Paid."
      THEN: COMPLETE
"#
        )
    };
    let back = "  on_human_complete:\n    - IF human.back == true: CONTINUE\n";
    let trigger = format!(
        "ESCALATE:\n  triggers:\n    - WHEN: input.contains(\"human\")\n      REASON: \"r\"\n      PRIORITY: high\n{back}"
    );
    let constraint = format!(
        "ESCALATE:\n  triggers: []\n{back}CONSTRAINTS:\n  always:\n    - RESTRICT input.contains(\"human\")\n      ON_FAIL: ESCALATE\n"
    );
    for escalation in [trigger, constraint] {
        talk_abl(
            &agent(&escalation),
            r#"
tools: { pay: [{ answer: { id: P1 } }] }
tests:
  - name: back from a person
    humans: [{ outcome: { back: true } }]
    turns:
      - says: ["Shall I pay?"]
      - user: wait, I want a human
        calls: []
        status: await
      - user: "yes"
        calls: [pay]
"#,
        );
    }
}

const LIMITED: &str = r#"AGENT: Desk
GOAL: "Payments"
TOOLS:
  pay(amount: number) -> {id: string}
    description: "Pay"
GATHER:
  - amount:
      TYPE: number
      REQUIRED: true
      PROMPT: "How much?"
CONSTRAINTS:
  paying:
    - REQUIRE amount <= 1000 BEFORE calling pay
      ON_FAIL:
        {reaction}
{human}FLOW:
  steps: [ask, go]
  ask:
    REASONING: false
    GATHER:
      - amount
    THEN: go
  go:
    REASONING: false
    CALL: pay(amount)
    ON_SUCCESS:
      RESPOND: "Paid."
      THEN: COMPLETE
"#;

/// Cur. 3.8.3: `COLLECT` asks, then the check is made again. What it asks for is missing meanwhile, and what is missing
/// does not pass.
#[test]
fn what_a_check_collects_has_to_be_there() {
    let reaction = "RESPOND: \"Too much.\"\n        COLLECT: [amount]";
    talk_abl(
        &LIMITED.replace("{reaction}", reaction).replace("{human}", ""),
        r#"
tools: { pay: [{ answer: { id: P1 } }] }
tests:
  - name: nothing is no amount
    turns:
      - user: "9000"
        calls: []
      - user: why not?
        calls: []
      - user: "500"
        calls: [{ pay: { amount: 500 } }]
        says: ["Paid."]
"#,
    );
}

/// Cur. 3.11.3: after a person the agent continues where it was, at the refused call; the next message is checked.
#[test]
fn a_person_hands_back_to_the_refused_call() {
    let human =
        "ESCALATE:\n  triggers: []\n  on_human_complete:\n    - IF human.back == true: CONTINUE\n";
    let agent =
        LIMITED.replace("        {reaction}\n", "").replace("ON_FAIL:\n", "ON_FAIL: ESCALATE\n");
    talk_abl(
        &agent.replace("{human}", human),
        r#"
tools: { pay: [{ answer: { id: P1 } }] }
tests:
  - name: it does not begin again
    humans: [{ outcome: { back: true } }, { outcome: { back: true } }]
    turns:
      - user: "9000"
        calls: []
        status: await
      - user: and now?
        calls: []
        status: await
"#,
    );
}

/// Cur. 3.5: approval is the answer to the question. The button of an earlier message is none.
#[test]
fn a_button_of_another_question_is_no_approval() {
    talk_abl(
        r#"AGENT: Desk
GOAL: "Payments"
TOOLS:
  pay(amount: number) -> {id: string}
    description: "Pay"
    confirm: always
FLOW:
  steps: [go]
  go:
    REASONING: false
    CALL: pay(5)
    ON_SUCCESS:
      RESPOND: "Paid."
      THEN: COMPLETE
    ON_FAIL:
      RESPOND: "Not paid."
      THEN: COMPLETE
"#,
        r#"
answers: [{ statement: agrees, holds: true }]
tools: { pay: [{ answer: { id: P1 } }] }
tests:
  - name: a stale button
    turns:
      - calls: []
      - press: { id: ok, value: ok }
        calls: []
        says: ["Not paid."]
  - name: an answer
    turns:
      - calls: []
      - user: "yes"
        calls: [pay]
        says: ["Paid."]
"#,
    );
}

/// Cur. 3.8.3: `COLLECT` asks before `THEN: continue` goes on: once, and the check is made again with the answer.
#[test]
fn what_continues_asks_first() {
    let sections = "GATHER:\n  country:\n    prompt: \"Which country?\"\n    type: string\n    required: false\nCONSTRAINTS:\n  r:\n    - REQUIRE country == \"DE\" BEFORE calling pay\n      ON_FAIL:\n        COLLECT: [country]\n        THEN: continue\n";
    talk_abl(
        &Payment { sections, ..Payment::default() }.to_string(),
        r#"
model: scripted
answers:
  - { message: "DE", values: { country: DE } }
  - { message: "FR", values: { country: FR } }
  - { values: {}, times: always }
tools: { pay: [{ answer: { ok: true } }] }
tests:
  - name: the answer holds
    turns:
      - says: [Hi.]
      - { user: go, calls: [], says: ["Which country?"] }
      - { user: DE, calls: [pay], says: [Paid., Hi.] }
  - name: the answer does not
    turns:
      - says: [Hi.]
      - { user: go, calls: [], says: ["Which country?"] }
      - { user: FR, calls: [], says: [Hi.] }
"#,
    );
}

/// Cur. 3.8.3, `THEN: continue`: it continues after what is refused, and without it.
#[test]
fn what_continues_goes_on_without_the_refused_call() {
    let agent = |end: &str| {
        Payment {
            sections: "MEMORY:\n  session:\n    - verified\nCONSTRAINTS:\n  r:\n    - REQUIRE verified == true BEFORE calling pay\n      ON_FAIL:\n        RESPOND: \"Not verified.\"\n        THEN: continue\n",
            inputs: "      - IF: input == \"verify\"\n        SET: verified = true\n        THEN: b\n",
            paid: &format!("{end}    THEN: a\n"),
            ..Payment::default()
        }
        .to_string()
    };
    for (end, said) in [
        ("", "Not verified., Hi."),
        (
            "    ON_FAIL:\n      RESPOND: \"Not paid: {{result.error}}.\"\n",
            "Not verified., \"Not paid: refused by a rule of this agent.\", Hi.",
        ),
    ] {
        talk_abl(
            &agent(end),
            &format!(
                r#"
tools: {{ pay: [{{ answer: {{ ok: true }} }}] }}
tests:
  - name: refused, then allowed
    turns:
      - says: [Hi.]
      - {{ user: go, calls: [], says: [{said}] }}
      - {{ user: verify, calls: [pay], says: [Paid., Hi.] }}
"#
            ),
        );
    }
}

/// Cur. 3.8.3: `GOTO` of a failed constraint leads to a step. When the step comes back to the constraint, and nothing has
/// changed, the next message is awaited.
#[test]
fn a_failed_check_does_not_lead_in_circles() {
    let agent = |to: &str| {
        Payment {
            tools: "  verify(code: string) -> {ok: boolean}\n    description: \"Verify\"\n    confirm: never\n",
            sections: &format!(
                "MEMORY:\n  session:\n    - verified\n        INITIAL: false\n    - tries\n        INITIAL: 0\nCONSTRAINTS:\n  r:\n    - REQUIRE verified == true BEFORE calling pay\n      ON_FAIL:\n        RESPOND: \"Not verified.\"\n        GOTO: {to}\n"
            ),
            paid: "      THEN: COMPLETE\n",
            steps: r#"  v:
    REASONING: false
    CALL: verify(input)
    ON_SUCCESS:
      SET: verified = result.ok
      THEN: b
  c:
    REASONING: false
    SET:
      tries = tries + 1
      verified = tries > 2
    THEN: b
"#,
            ..Payment::default()
        }
        .to_string()
    };
    let tools = "tools: { pay: [{ answer: { ok: true } }], verify: [{ when: { code: good }, answer: { ok: true } }, { answer: { ok: false } }] }";
    let talk = |to: &str, turns: &str| {
        talk_abl(
            &agent(to),
            &format!("{tools}\ntests:\n  - name: {to}\n    turns:\n      - {{}}\n{turns}"),
        );
    };
    // The step itself.
    talk(
        "b",
        "      - { user: go, calls: [], says: [Not verified.] }\n      - { user: go, calls: [], says: [Not verified.] }\n",
    );
    // A step whose call changes nothing the second time, and something with the next message.
    talk(
        "v",
        "      - { user: go, calls: [verify, verify], says: [Not verified., Not verified.] }\n      - { user: good, calls: [verify, pay], says: [Not verified., Paid.] }\n",
    );
    // A step that changes something each time.
    talk(
        "c",
        "      - { user: go, calls: [pay], says: [Not verified., Not verified., Not verified., Paid.] }\n",
    );
}

/// Cur. 3.9, "Validate handoff context", and 3.10: the context is what is passed, the summary and the history.
#[test]
fn guardrails_of_handoffs_see_the_whole_context() {
    let desk = |check: &str, context: &str| {
        format!(
            r#"AGENT: Desk
GOAL: "Route"
GUARDRAILS:
  g:
    kind: handoff
    check: "{check}"
    action: block
    msg: "Not that."
HANDOFF:
  - TO: Child
    WHEN: input.contains("other")
    CONTEXT:
{context}    RETURN: false
FLOW:
  a:
    REASONING: false
    RESPOND: "Hi."
    ON_INPUT:
      - ELSE:
        SET: note = "N" + input
        THEN: a
"#
        )
    };
    let child = r#"AGENT: Child
GOAL: "Help"
FLOW:
  s:
    REASONING: false
    RESPOND: "Here."
    ON_INPUT:
      - ELSE:
        THEN: s
"#;
    let whole = "abl.matches_pattern(content, 'SECRET')";
    for (check, context) in [
        (whole, "      pass: []\n      summary: \"The user said {{input}}\"\n"),
        (whole, "      pass: []\n      history: full\n"),
        (whole, "      pass: []\n      history:\n        last_n: 2\n"),
        (whole, "      pass: [note]\n"),
        (
            "handoff.summary.contains('SECRET')",
            "      pass: []\n      summary: \"Said {{input}}\"\n",
        ),
    ] {
        talk(
            &[("desk.agent.abl", &desk(check, context)), ("child.agent.abl", child)],
            r#"
entry: Desk
tests:
  - name: kept back
    turns:
      - says: ["Hi."]
      - { user: SECRET, says: ["Hi."] }
      - { user: "other SECRET", says: ["Not that."] }
  - name: nothing to keep back
    turns:
      - says: ["Hi."]
      - { user: "other", says: ["Here."] }
"#,
        );
    }
    // What the next agent is not given is not checked.
    talk(
        &[("desk.agent.abl", &desk(whole, "      pass: []\n")), ("child.agent.abl", child)],
        r#"
entry: Desk
tests:
  - name: nothing of it is given
    turns:
      - says: ["Hi."]
      - { user: SECRET, says: ["Hi."] }
      - { user: other, says: ["Here."] }
"#,
    );
}
