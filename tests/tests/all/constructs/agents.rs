//! Several agents (ABL).

use super::talk;

/// Cur. 3.10, HANDOFF: what is passed, what comes back, and what is known then; without a return, the
/// other agent stays.
#[test]
fn handoffs_pass_and_return() {
    let front = |back: &str| {
        format!(
            r#"AGENT: Front
GOAL: "Front"
MEMORY:
  session:
    - city
        INITIAL: "Rome"
    - reference
HANDOFF:
  - TO: Booking
    WHEN: input.contains("book")
    CONTEXT:
      pass: [city]
      summary: "Booking in {{{{city}}}}"
    RETURN: {back}
FLOW:
  entry_point: ask
  steps: [ask]
  ask:
    REASONING: false
    RESPOND: "What now?"
    ON_INPUT:
      - IF: handoff.completed
        RESPOND: "Reference {{{{reference}}}}."
        THEN: COMPLETE
      - ELSE:
        THEN: ask
"#
        )
    };
    let map = "true\n    ON_RETURN:\n      action: continue\n      map:\n        reference: number";
    let booking = r#"AGENT: Booking
GOAL: "Book"
FLOW:
  entry_point: ask
  steps: [ask, done]
  ask:
    REASONING: false
    RESPOND: "In {{city}}, yes?"
    ON_INPUT:
      - ELSE:
        SET: number = "B7"
        THEN: done
  done:
    REASONING: false
    RESPOND: "Booked."
    THEN: COMPLETE
"#;
    talk(
        &[("front.agent.abl", &front(map)), ("booking.agent.abl", booking)],
        r#"
entry: Front
tests:
  - name: and back
    turns:
      - user: book
        says: ["In Rome, yes?"]
        agent: Booking
        state: { city: Rome }
      - user: fine
        says: [{ contains: Booked }]
        agent: Front
        state: { reference: B7 }
      - user: and now
        says: ["Reference B7."]
"#,
    );
    talk(
        &[("front.agent.abl", &front("false")), ("booking.agent.abl", booking)],
        r#"
entry: Front
tests:
  - name: for good
    turns:
      - user: book
        agent: Booking
      - user: fine
        says: ["Booked."]
        status: done
"#,
    );
}

const POINTS: &str = r#"AGENT: Loyalty
GOAL: "Loyalty"
TOOLS:
  lookup(member: string) -> {balance: number, tier: string}
    description: "Look up"
MEMORY:
  session:
    - member
    - level
        INITIAL: "basic"
    - gone
        INITIAL: null
FLOW:
  entry_point: get
  steps: [get]
  get:
    REASONING: false
    CALL: lookup
      WITH:
        member: member
      AS: found
    ON_SUCCESS:
      SET:
        balance = found.balance
        account = {"tier": found.tier}
      THEN: COMPLETE
"#;

fn front(returns: &str) -> String {
    format!(
        r#"AGENT: Front
GOAL: "Front"
MEMORY:
  session:
    - member_number
        INITIAL: "M1"
    - points
    - balance
    - gone
        INITIAL: "here"
    - user_level
DELEGATE:
  - AGENT: Loyalty
    WHEN: input.contains("points")
    PURPOSE: "Look up points"
    INPUT: {{member: member_number}}
    {returns}
    USE_RESULT: "Tell the points"
FLOW:
  entry_point: ask
  steps: [ask]
  ask:
    REASONING: false
    RESPOND: "Yes?"
    ON_INPUT:
      - IF: points > 40 OR balance > 40
        RESPOND: "You said {{{{input}}}}: {{{{points}}}}{{{{balance}}}}."
        THEN: ask
      - ELSE:
        RESPOND: "No points for {{{{input}}}}."
        THEN: ask
"#
    )
}

/// Cur. 3.10 and Ref., "Input/output mapping": the fields of the result are written to the variables
/// that `RETURNS` names, in its three notations, or to those of their own names where it says types;
/// then the agent continues with the message.
#[test]
fn delegates_return_values_and_the_agent_goes_on() {
    let scenario = |state: &str| {
        format!(
            r#"
entry: Front
tools: {{ lookup: [{{ answer: {{ balance: 50, tier: gold }} }}] }}
tests:
  - name: in the same turn
    turns:
      - says: ["Yes?"]
      - user: my points
        calls: [{{ lookup: {{ member: M1 }} }}]
        says: ["You said my points: 50.", "Yes?"]
        state: {state}
        agent: Front
      - user: thanks
        calls: []
        says: ["You said thanks: 50.", "Yes?"]
"#
        )
    };
    let talk = |returns: &str, state: &str| {
        talk(
            &[("front.agent.abl", &front(returns)), ("loyalty.agent.abl", POINTS)],
            &scenario(state),
        );
    };
    talk("RETURNS: {balance: points}", "{ points: 50, balance: { any: false } }");
    talk("RETURNS: {balance: number}", "{ balance: 50, points: { any: false } }");
    talk("RETURNS:\n      balance: points", "{ points: 50 }");
    // A default and null are values; what the other agent does not have changes nothing.
    talk(
        "RETURNS: {balance: points, level: user_level, gone: gone}",
        "{ points: 50, user_level: basic, gone: { any: false } }",
    );
    talk("RETURNS: {balance: points, missing: gone}", "{ points: 50, gone: here }");
    // Paths, on either side.
    talk(
        "RETURNS: {balance: points, account.tier: user_level}",
        "{ points: 50, user_level: gold }",
    );
    talk("RETURNS: {balance: points, level: card.level}", "{ points: 50, card.level: basic }");
}

/// Cur. 3.10: a delegate whose variable has no value any more returns that, and no older
/// value stands for it.
#[test]
fn what_a_delegate_has_no_value_for_is_unset() {
    let front = r#"AGENT: Desk
GOAL: "Desk"
TOOLS:
  pay() -> object
    description: "Pays"
MEMORY:
  session:
    - okay
        INITIAL: true
    - go
CONSTRAINTS:
  c:
    - REQUIRE okay == true BEFORE calling pay
      ON_FAIL: "Not verified."
DELEGATE:
  - AGENT: Verifier
    WHEN: go == true
    INPUT: {go}
    RETURNS: {verified: okay}
FLOW:
  entry_point: ask
  steps: [ask]
  ask:
    REASONING: false
    RESPOND: "Yes?"
    ON_INPUT:
      - IF: input == "pay"
        CALL: pay()
        THEN: ask
      - ELSE:
        SET: go = true
        THEN: ask
"#;
    let verifier = |done: &str| {
        format!(
            r#"AGENT: Verifier
GOAL: "Verifies"
TOOLS:
  verify() -> object
    description: "Verifies"
MEMORY:
  session:
    - verified
        INITIAL: false
FLOW:
  entry_point: check
  steps: [check]
  check:
    REASONING: false
{done}
    THEN: COMPLETE
"#
        )
    };
    let scenario = r#"
entry: Desk
tools:
  verify: [{ fail: error, message: down, times: 3 }]
  pay: [{ answer: {}, times: 3 }]
tests:
  - name: a check that failed
    turns:
      - says: ["Yes?"]
      - user: verify me
      - user: pay
        says: [{ contains: "Not verified." }]
"#;
    for done in [
        "    CALL: verify()\n    SET: verified = result.ok",
        "    CLEAR: [verified]",
        "    CALL: verify()\n    ON_SUCCESS:\n      SET: other = 1",
    ] {
        let verifier = verifier(done).replace("        INITIAL: false\n", "");
        talk(&[("desk.agent.abl", front), ("verifier.agent.abl", &verifier)], scenario);
    }
    // Also if it is not declared, and for a member of what has no value.
    let undeclared = verifier("    CALL: verify()\n    ON_SUCCESS:\n      SET: verified = true")
        .replace("MEMORY:\n  session:\n    - verified\n        INITIAL: false\n", "");
    talk(&[("desk.agent.abl", front), ("verifier.agent.abl", &undeclared)], scenario);
    let member = front.replace("{verified: okay}", "{verified.ok: okay}");
    let none = verifier("    SET: verified = null");
    talk(&[("desk.agent.abl", &*member), ("verifier.agent.abl", &none)], scenario);
}

/// Cur. 3.10: an agent that asks the user before it returns. The agent that delegated then continues
/// with the message that it delegated with, not with the answer to the other agent's question.
#[test]
fn delegates_may_talk_before_they_return() {
    let asking = r#"AGENT: Loyalty
GOAL: "Loyalty"
FLOW:
  entry_point: ask
  steps: [ask]
  ask:
    REASONING: false
    GATHER:
      - number:
          TYPE: string
          REQUIRED: true
          PROMPT: "Your number?"
    SET: balance = LENGTH(number) + 40
    THEN: finish
  finish:
    REASONING: false
    SET: balance = 40 + LENGTH(number)
    THEN: COMPLETE
"#;
    talk(
        &[
            ("front.agent.abl", &front("RETURNS: {balance: points}")),
            (
                "loyalty.agent.abl",
                &asking
                    .replace("    SET: balance = LENGTH(number) + 40\n", "")
                    .replace("steps: [ask]", "steps: [ask, finish]"),
            ),
        ],
        r#"
entry: Front
answers:
  - { ask: extract, message: "^A12$", values: { number: A12 } }
  - { ask: extract, values: {}, times: always }
tests:
  - name: two turns
    turns:
      - user: my points please
        says: ["Your number?"]
        agent: Loyalty
      - user: A12
        says: ["You said my points please: 43.", "Yes?"]
        agent: Front
"#,
    );
}

/// Ref., "Evaluation order across constructs": a delegation whose condition goes on to hold is not made
/// again with the same input. See `docs/semantics.md`.
#[test]
fn delegations_are_not_repeated_for_nothing() {
    let front = r#"AGENT: Front
GOAL: "Front"
MEMORY:
  session:
    - ready
        INITIAL: false
    - number
    - seen
DELEGATE:
  - AGENT: Teller
    WHEN: ready == true
    PURPOSE: "Look"
    INPUT: {n: number}
    RETURNS: {n: seen}
FLOW:
  entry_point: ask
  steps: [ask]
  ask:
    REASONING: false
    RESPOND: "Yes?"
    ON_INPUT:
      - IF: input.contains("number")
        SET:
          ready = true
          number = input
        THEN: ask
      - ELSE:
        RESPOND: "Seen {{seen}}."
        THEN: ask
"#;
    let teller = r#"AGENT: Teller
GOAL: "Look"
FLOW:
  entry_point: look
  steps: [look]
  look:
    REASONING: false
    RESPOND: "I look at {{n}}."
    THEN: COMPLETE
"#;
    talk(
        &[("front.agent.abl", front), ("teller.agent.abl", teller)],
        r#"
entry: Front
tests:
  - name: once per input
    turns:
      - user: number 1
        says: ["Yes?"]
      - user: go
        says: ["I look at number 1.", "Seen number 1.", "Yes?"]
      - user: go
        says: ["Seen number 1.", "Yes?"]
      - user: number 2
      - user: go
        says: ["I look at number 2.", "Seen number 2.", "Yes?"]
"#,
    );
}

/// Cur. 3.10: delegates of delegates, each with its own scope, and two delegations to one agent.
#[test]
fn delegates_delegate_too() {
    let outer = r#"AGENT: Outer
GOAL: "Outer"
MEMORY:
  session:
    - a
    - b
DELEGATE:
  - AGENT: Middle
    WHEN: input.contains("one")
    PURPOSE: "One"
    INPUT: {x: 1}
    RETURNS: {y: a}
  - AGENT: Middle
    WHEN: input.contains("two")
    PURPOSE: "Two"
    INPUT: {x: 2}
    RETURNS: {y: b}
FLOW:
  entry_point: ask
  steps: [ask]
  ask:
    REASONING: false
    RESPOND: "Yes?"
    ON_INPUT:
      - ELSE:
        RESPOND: "a {{a}}, b {{b}}."
        THEN: ask
"#;
    let middle = r#"AGENT: Middle
GOAL: "Middle"
MEMORY:
  session:
    - x
    - y
DELEGATE:
  - AGENT: Inner
    WHEN: x IS SET
    PURPOSE: "Inner"
    INPUT: {value: x}
    RETURNS: {doubled: y}
FLOW:
  entry_point: add
  steps: [add]
  add:
    REASONING: false
    SET: y = y + 1
    THEN: COMPLETE
"#;
    let inner = r#"AGENT: Inner
GOAL: "Inner"
FLOW:
  entry_point: go
  steps: [go]
  go:
    REASONING: false
    SET: doubled = value * 10
    THEN: COMPLETE
"#;
    talk(
        &[("outer.agent.abl", outer), ("middle.agent.abl", middle), ("inner.agent.abl", inner)],
        r#"
entry: Outer
tests:
  - name: each
    turns:
      - user: one
        says: ["a 11, b .", "Yes?"]
      - user: two
        says: ["a 11, b 21.", "Yes?"]
"#,
    );
}

/// Cur. 5.1 and Ref., "SUPERVISOR Declaration": rules by intent and the default; when an agent is done,
/// the supervisor routes the next message.
#[test]
fn supervisors_route_every_message() {
    let desk = r#"SUPERVISOR: Desk
GOAL: "Route"
AGENTS:
  hotel: Hotel_Desk
  flight: Flight_Desk
ROUTING:
  - INTENT(hotel, room) -> hotel
  - INTENT(flight, plane) -> flight
  - DEFAULT -> hotel
"#;
    let child = |name: &str, word: &str| {
        format!(
            r#"AGENT: {name}
GOAL: "{name}"
FLOW:
  entry_point: ask
  steps: [ask]
  ask:
    REASONING: false
    RESPOND: "Which {word}?"
    ON_INPUT:
      - ELSE:
        RESPOND: "Booked {{{{input}}}}."
        THEN: COMPLETE
"#
        )
    };
    talk(
        &[
            ("desk.agent.abl", desk),
            ("hotel.agent.abl", &child("Hotel_Desk", "hotel")),
            ("flight.agent.abl", &child("Flight_Desk", "flight")),
        ],
        r#"
entry: Desk
model: offline
tests:
  - name: one after the other
    turns:
      - user: I need a room
        says: ["Which hotel?"]
        agent: Hotel_Desk
      - user: the Ritz
        says: ["Booked the Ritz."]
        agent: Desk
        status: await
      - user: and a plane
        says: ["Which flight?"]
        agent: Flight_Desk
      - user: the early one
        says: ["Booked the early one."]
        status: await
      - user: xyzzy
        says: ["Which hotel?"]
"#,
    );
}

/// Cur. 3.5.3: with `primary_queue`, what else a message asks for comes after what comes first.
#[test]
fn several_intents_are_queued() {
    let desk = |strategy: &str| {
        format!(
            r#"SUPERVISOR: Desk
GOAL: "Route"
MULTI_INTENT:
  enabled: true
  strategy: {strategy}
  max_intents: 3
AGENTS:
  hotel: Hotel_Desk
  flight: Flight_Desk
ROUTING:
  - INTENT(hotel, room) -> hotel
  - INTENT(flight, plane) -> flight
  - DEFAULT -> hotel
"#
        )
    };
    let child = |name: &str, word: &str| {
        format!(
            r#"AGENT: {name}
GOAL: "{name}"
FLOW:
  entry_point: ask
  steps: [ask]
  ask:
    REASONING: false
    RESPOND: "Which {word}?"
    ON_INPUT:
      - ELSE:
        RESPOND: "Booked {{{{input}}}}."
        THEN: COMPLETE
"#
        )
    };
    for strategy in ["primary_queue", "sequential"] {
        talk(
            &[
                ("desk.agent.abl", &desk(strategy)),
                ("hotel.agent.abl", &child("Hotel_Desk", "hotel")),
                ("flight.agent.abl", &child("Flight_Desk", "flight")),
            ],
            r#"
entry: Desk
model: offline
tests:
  - name: both
    turns:
      - user: I need a hotel room and also a flight
        says: ["Which hotel?"]
      - user: the Ritz
        says: ["Booked the Ritz.", "Which flight?"]
        agent: Flight_Desk
      - user: the early one
        says: ["Booked the early one."]
        agent: Desk
"#,
        );
    }
}
