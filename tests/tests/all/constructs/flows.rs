//! Flows of ABL.

use super::talk_abl;

/// Cur. 3.14.3 and 8.10: the first condition that holds on the state in which the message arrived is
/// taken; what a branch sets does not lead to another one.
#[test]
fn on_input_takes_the_first_branch_of_the_old_state() {
    talk_abl(
        r#"AGENT: Desk
GOAL: "Count"
MEMORY:
  session:
    - n
        INITIAL: 1
FLOW:
  entry_point: ask
  steps: [ask, second]
  ask:
    REASONING: false
    RESPOND: "Say something."
    ON_INPUT:
      - IF: n == 1
        SET: n = 2
        RESPOND: "One."
        THEN: second
      - IF: n == 2
        RESPOND: "Two."
        THEN: second
      - ELSE:
        RESPOND: "Else."
        THEN: second
  second:
    REASONING: false
    RESPOND: "Again."
    ON_INPUT:
      - IF: input.contains("no") AND n == 2
        RESPOND: "No."
        THEN: COMPLETE
      - IF: n == 2
        RESPOND: "Now two."
        THEN: COMPLETE
"#,
        r#"
tests:
  - name: in order
    turns:
      - says: ["Say something."]
      - user: hello
        says: ["One.", "Again."]
        state: { n: 2 }
      - user: hello
        says: ["Now two."]
        status: done
"#,
    );
}

/// Cur. 3.14.5 and 8.8: the groups of a pattern, named and by number, are `match`.
#[test]
fn groups_of_a_pattern_are_readable() {
    talk_abl(
        r#"AGENT: Desk
GOAL: "Rooms"
FLOW:
  entry_point: ask
  steps: [ask]
  ask:
    REASONING: false
    RESPOND: "Which room?"
    ON_INPUT:
      - IF: input matches /room\s*(?<room_id>\d+)/
        SET: room = match.room_id
        RESPOND: "Room {{room}}, said as {{match.0}}."
        THEN: COMPLETE
      - ELSE:
        RESPOND: "A number, please."
        THEN: ask
"#,
        r#"
tests:
  - name: a group
    turns:
      - user: somewhere
        says: ["A number, please.", "Which room?"]
      - user: room 12 please
        says: ["Room 12, said as room 12."]
        state: { room: "12" }
        status: done
"#,
    );
}

/// Cur. 3.14 ("order of execution") and 3.14.6: a step responds before it calls, wherever the response
/// is written; what follows the call is said in `ON_SUCCESS`. The first example of 3.14.1 reads a
/// result in the response; see the table of decisions in `docs/semantics.md`.
#[test]
fn a_step_responds_before_it_calls() {
    talk_abl(
        r#"AGENT: Desk
GOAL: "Hotels"
TOOLS:
  search_hotels(city: string) -> {total: number}
    description: "Search"
FLOW:
  entry_point: look
  steps: [look, more]
  look:
    REASONING: false
    RESPOND: "Let me look."
    CALL: search_hotels("Rome")
    ON_SUCCESS:
      RESPOND: "Found {{result.total}} hotels!"
      THEN: more
  more:
    REASONING: false
    RESPOND: "And again {{last_search_hotels_result.total}}."
    THEN: COMPLETE
"#,
        r#"
tools: { search_hotels: [{ answer: { total: 7 } }] }
tests:
  - name: in order
    turns:
      - says: ["Let me look.", "Found 7 hotels!", "And again 7."]
        calls: [{ search_hotels: { city: Rome } }]
        status: done
"#,
    );
}

/// Cur. 3.14.6, 3.14.9 and 3.14.10: success, failure, and branches on the result, which is also
/// readable by its name in `AS` and as `last_<tool>_result`.
#[test]
fn results_decide_what_follows() {
    talk_abl(
        r#"AGENT: Desk
GOAL: "Banks"
TOOLS:
  validate(number: string) -> {status: string, bank: string}
    description: "Validate"
  book(number: string) -> {reference: string}
    description: "Book"
FLOW:
  entry_point: check
  steps: [check, booking, late]
  check:
    REASONING: false
    CALL: validate
      WITH:
        number: "12"
      AS: checked
    ON_RESULT:
      - IF: checked.status == "valid"
        SET: bank = checked.bank
        THEN: booking
      - ELSE:
        RESPOND: "Not valid: {{last_validate_result.status}}."
        THEN: COMPLETE
  booking:
    REASONING: false
    CALL: book("12")
    ON_SUCCESS:
      RESPOND: "Booked at {{bank}}: {{result.reference}}"
      THEN: COMPLETE
    ON_FAIL:
      RESPOND: "The booking failed: {{result.error}}"
      THEN: late
  late:
    REASONING: false
    RESPOND: "Later, then."
    THEN: COMPLETE
"#,
        r#"
tests:
  - name: success
    tools:
      validate: [{ answer: { status: valid, bank: Blue } }]
      book: [{ answer: { reference: R1 } }]
    turns:
      - says: ["Booked at Blue: R1"]
  - name: failure
    tools:
      validate: [{ answer: { status: valid, bank: Blue } }]
      book: [{ fail: error, message: the desk is closed }]
    turns:
      - says: ["The booking failed: the desk is closed", "Later, then."]
  - name: another result
    tools:
      validate: [{ answer: { status: closed } }]
    turns:
      - says: ["Not valid: closed."]
"#,
    );
}

/// Cur. 3.14.6: `result.error` is a text also if the tool returned data with its error, as HTTP tools
/// do; the data stays readable.
#[test]
fn errors_with_data_have_a_text() {
    let agent = r#"AGENT: Desk
GOAL: "Prices"
TOOLS:
  price(item: string) -> {amount: number}
    description: "Price"
FLOW:
  entry_point: ask
  steps: [ask]
  ask:
    REASONING: false
    CALL: price("lamp")
    ON_SUCCESS:
      RESPOND: "{{result.amount}}"
      THEN: COMPLETE
    ON_FAIL:
      RESPOND: "{{result.error}} ({{result.status}}{{result.data}})"
      THEN: COMPLETE
"#;
    talk_abl(
        agent,
        r#"
tests:
  - name: an object
    tools:
      price: [{ fail: api, message: the shop answered 503, data: { status: 503, body: { x: 1 } } }]
    turns:
      - says: ['the shop answered 503 ({"body":{"x":1},"status":503})']
  - name: a text
    tools:
      price: [{ fail: api, message: the shop is closed, data: until nine }]
    turns:
      - says: ["the shop is closed (until nine)"]
  - name: nothing
    tools:
      price: [{ fail: timeout, message: no answer }]
    turns:
      - says: ["no answer ()"]
  - name: an error that is data
    tools:
      price: [{ fail: error, message: no such item, data: { error: { code: 4 } } }]
    turns:
      - says: ['no such item ({"error":{"code":4}})']
"#,
    );
}

/// Cur. 3.13: a handler responds, retries as often as it says, and then goes where it says.
#[test]
fn handlers_respond_retry_and_go_on() {
    talk_abl(
        r#"AGENT: Desk
GOAL: "Prices"
TOOLS:
  price(item: string) -> {amount: number}
    description: "Price"
FLOW:
  entry_point: ask
  steps: [ask]
  ask:
    REASONING: false
    CALL: price("lamp")
    RESPOND: "One moment."
    THEN: COMPLETE
ON_ERROR:
  api_error:
    RESPOND: "Trying again."
    RETRY: 2
    THEN: COMPLETE
"#,
        r#"
tests:
  - name: three calls
    tools:
      price: [{ fail: api }]
    turns:
      - calls: [price, price, price]
        status: done
"#,
    );
}

/// Cur. 3.14.4: digressions of the flow and of a step come back; `CLEAR` is done before that.
#[test]
fn digressions_come_back() {
    talk_abl(
        r#"AGENT: Desk
GOAL: "Trips"
FLOW:
  entry_point: ask
  steps: [ask, bye]
  global_digressions:
    - INTENT: "cancel"
      KEYWORDS: [cancel]
      RESPOND: "Cancelled."
      GOTO: bye
  ask:
    REASONING: false
    GATHER:
      - city:
          TYPE: string
          REQUIRED: true
          PROMPT: "Which city?"
      - day:
          TYPE: string
          REQUIRED: true
          PROMPT: "Which day?"
    DIGRESSIONS:
      - INTENT: "weather"
        KEYWORDS: [weather]
        RESPOND: "It is sunny in {{city}}."
        CLEAR: [city]
        RESUME: true
    THEN: bye
  bye:
    REASONING: false
    RESPOND: "Bye."
    THEN: COMPLETE
"#,
        r#"
answers:
  - { ask: extract, values: { city: Rome }, message: Rome }
  - { ask: extract, values: {}, times: always }
  - { choose: [], times: always }
tests:
  - name: of the step
    turns:
      - says: ["Which city?"]
      - user: Rome
        says: ["Which day?"]
      - user: what is the weather
        says: ["It is sunny in Rome.", "Which city?"]
        state: { city: { any: false } }
  - name: of the flow
    turns:
      - says: ["Which city?"]
      - user: please cancel it
        says: ["Cancelled.", "Bye."]
        status: done
"#,
    );
}

/// Cur. 3.14.5: sub-intents stay in the step.
#[test]
fn sub_intents_stay_in_the_step() {
    talk_abl(
        r#"AGENT: Desk
GOAL: "Rooms"
FLOW:
  entry_point: ask
  steps: [ask]
  ask:
    REASONING: false
    RESPOND: "Select a room."
    SUB_INTENTS:
      - INTENT: "price breakdown"
        RESPOND: "It is 80 per night."
    ON_INPUT:
      - IF: input.contains("double")
        RESPOND: "Done."
        THEN: COMPLETE
      - ELSE:
        THEN: ask
"#,
        r#"
answers:
  - { choose: ["price breakdown"], message: price }
  - { choose: [], times: always }
tests:
  - name: stays
    turns:
      - says: ["Select a room."]
      - user: what is the price breakdown
        says: ["It is 80 per night.", "Select a room."]
      - user: the double
        says: ["Done."]
"#,
    );
}

/// Cur. 3.5, 7.11 and 3.14: confirmation of tools, parameters that must not change, the limit on steps,
/// the attempts of a step.
#[test]
fn confirmation_and_limits() {
    talk_abl(
        r#"AGENT: Desk
GOAL: "Payments"
TOOLS:
  pay(amount: number) -> {reference: string}
    description: "Pay the bill"
    side_effects: true
    confirm: always
    immutable: [amount]
FLOW:
  entry_point: ask
  steps: [ask, pay_it, enough]
  enough:
    REASONING: false
    RESPOND: "Enough."
    THEN: COMPLETE
  ask:
    REASONING: false
    MAX_ATTEMPTS: 2
    ON_EXHAUSTED: enough
    RESPOND: "How much?"
    ON_INPUT:
      - IF: input.contains("5")
        THEN: pay_it
      - ELSE:
        THEN: ask
  pay_it:
    REASONING: false
    CALL: pay(5)
    ON_SUCCESS:
      RESPOND: "Paid: {{result.reference}}."
      THEN: COMPLETE
    ON_FAIL:
      RESPOND: "Not paid: {{result.error}}."
      THEN: COMPLETE
"#,
        r#"
tools: { pay: [{ answer: { reference: P1 } }] }
answers:
  - { holds: true, message: "^yes$", times: always }
  - { holds: false, message: "^no$", times: always }
tests:
  - name: agreed
    turns:
      - says: ["How much?"]
      - user: "5"
        says: [{ contains: Pay the bill }]
        calls: []
      - user: "yes"
        says: ["Paid: P1."]
        calls: [{ pay: { amount: 5 } }]
  - name: refused
    turns:
      - user: "5"
      - user: "no"
        calls: []
        says: ["Not paid: the user did not agree."]
  - name: two attempts
    turns:
      - user: nothing
        says: ["How much?"]
      - user: nothing
        says: ["Enough."]
        status: done
"#,
    );
    // What is said then is followed by the next step.
    talk_abl(
        r#"AGENT: Desk
GOAL: "Payments"
FLOW:
  entry_point: ask
  steps: [ask, closing]
  ask:
    REASONING: false
    MAX_ATTEMPTS: 2
    ON_EXHAUSTED: RESPOND "That is enough."
    RESPOND: "How much?"
    ON_INPUT:
      - ELSE:
        THEN: ask
  closing:
    REASONING: false
    RESPOND: "Closing."
    THEN: COMPLETE
"#,
        r#"
tests:
  - name: two attempts
    turns:
      - user: nothing
        says: ["How much?"]
      - user: nothing
        says: ["That is enough.", "Closing."]
        status: done
"#,
    );
    talk_abl(
        r#"AGENT: Desk
GOAL: "Circles"
EXECUTION:
  max_flow_iterations: 3
FLOW:
  entry_point: ask
  steps: [ask]
  ask:
    REASONING: false
    RESPOND: "Again?"
    ON_INPUT:
      - ELSE:
        THEN: ask
ON_ERROR:
  loop:
    RESPOND: "Too often."
    THEN: COMPLETE
"#,
        r#"
tests:
  - name: three steps
    turns:
      - user: a
      - user: b
        says: ["Again?"]
        status: await
"#,
    );
}

/// Cur. 3.14.11, 3.13.1, 8.10, 3.13.5: hooks, templates with blocks and functions, transformed lists,
/// buttons, messages.
#[test]
fn hooks_templates_transforms_and_buttons() {
    talk_abl(
        r#"AGENT: Desk
GOAL: "Lists"
MESSAGES:
  hello: "Hello, {{UPPER(name)}}."
TEMPLATES:
  rows:
    DEFAULT: "{{#each large}}{{this.id}};{{/each}}{{#if large}}some{{else}}none{{/if}}"
TOOLS:
  fetch() -> {items: object[]}
    description: "Items"
HOOKS:
  before_turn:
    SET: turns = turns + 1
MEMORY:
  session:
    - turns
        INITIAL: 0
    - name
        INITIAL: "ann"
FLOW:
  entry_point: get
  steps: [get, show]
  get:
    REASONING: false
    MESSAGE_KEY: hello
    CALL: fetch()
    THEN: show
  show:
    REASONING: false
    TRANSFORM: last_fetch_result.items AS item INTO large
      FILTER: item.n > 1
      MAP:
        id: item.id
      SORT_BY: id DESC
      LIMIT: 2
    RESPOND: TEMPLATE(rows)
      ACTIONS:
        - BUTTON: "Again"
          ID: again
          VALUE: "a"
    ON_INPUT:
      - IF: input == "stop"
        RESPOND: "After {{turns}}."
        THEN: COMPLETE
      - ELSE:
        THEN: get
ACTION_HANDLERS:
  again:
    RESPOND: "You pressed {{action_value}}."
    THEN: show
"#,
        r#"
tools:
  fetch: [{ answer: { items: [{ id: a, n: 1 }, { id: b, n: 2 }, { id: c, n: 3 }, { id: d, n: 4 }] } }]
tests:
  - name: all
    turns:
      - says: ["Hello, ANN.", "d;c;some"]
      - press: { id: again, value: a }
        says: ["You pressed a.", "d;c;some"]
      - user: stop
        says: [{ matches: "After [0-9]" }]
        status: done
"#,
    );
}

/// Cur. 3.14.4: an interruption returns to the step, which goes on where it waits: it is not done again.
#[test]
fn interruptions_repeat_nothing() {
    for interruption in [
        "DIGRESSIONS:\n      - KEYWORDS: [help]\n        RESPOND: \"Just say no.\"\n        RESUME: true",
        "SUB_INTENTS:\n      - KEYWORDS: [help]\n        RESPOND: \"Just say no.\"",
    ] {
        talk_abl(
            &format!(
                r#"AGENT: Desk
GOAL: "Payments"
TOOLS:
  pay(amount: number) -> {{id: string}}
    description: "Pay"
FLOW:
  steps: [go]
  go:
    REASONING: false
    CALL: pay(100)
    ON_SUCCESS:
      RESPOND: "Paid. Anything else?"
    {interruption}
    ON_INPUT:
      - ELSE:
        RESPOND: "Bye."
        THEN: COMPLETE
"#
            ),
            r#"
tools: { pay: [{ answer: { id: P1 } }] }
tests:
  - name: one payment
    turns:
      - calls: [pay]
      - user: help
        says: ["Just say no."]
        calls: []
      - user: "no"
        says: ["Bye."]
        calls: []
"#,
        );
    }
}

/// Cur. 3.14.4: after a digression of the flow a step says what it says before it waits, as after one of its own.
#[test]
fn a_step_asks_again_after_a_digression_of_the_flow() {
    for (body, asked) in [
        ("    ON_INPUT:\n      - ELSE:\n        THEN: a\n", "\"Tea or coffee?\""),
        (
            "    GATHER:\n      - drink: required\n        prompt: \"Which?\"\n",
            "\"Tea or coffee?\", \"Which?\"",
        ),
    ] {
        talk_abl(
            &format!(
                r#"AGENT: Cafe
GOAL: "Serve"
FLOW:
  global_digressions:
    - INTENT: "hours"
      KEYWORDS: [hours]
      RESPOND: "We open at 9."
      RESUME: true
  a:
    REASONING: false
    RESPOND: "Tea or coffee?"
{body}"#
            ),
            &format!(
                "tests:\n  - name: hours\n    turns:\n      - says: [{asked}]\n      - {{ user: \"hours?\", says: [We open at 9., {asked}] }}\n"
            ),
        );
    }
}

/// Ref., "HANDOFF": an agent that continues after another one does not leave the user without a word.
#[test]
fn a_waiting_step_asks_again_if_nothing_else_is_said() {
    let front = r#"AGENT: Front
GOAL: "Front"
MEMORY:
  session:
    - got
HANDOFF:
  - TO: Back
    WHEN: input.contains("go")
    CONTEXT:
      pass: []
      summary: "s"
    RETURN: true
    ON_RETURN:
      map:
        got: answer
FLOW:
  a:
    REASONING: false
    RESPOND: "Got {{got}}."
    ON_INPUT:
      - ELSE:
        THEN: a
"#;
    let back = |words: &str| {
        format!(
            r#"AGENT: Back
GOAL: "Back"
MEMORY:
  session:
    - answer
FLOW:
  a:
    REASONING: false
    RESPOND: "Yes?"
    ON_INPUT:
      - ELSE:
        SET: answer = input
{words}        THEN: COMPLETE
"#
        )
    };
    for (words, said) in [("", "Got 42."), ("        RESPOND: \"Noted.\"\n", "Noted.")] {
        super::talk(
            &[("front.agent.abl", front), ("back.agent.abl", &back(words))],
            &format!(
                "entry: Front\ntests:\n  - name: back again\n    turns:\n      - says: [Got .]\n      - {{ user: go, says: [\"Yes?\"] }}\n      - {{ user: \"42\", says: [{said}] }}\n"
            ),
        );
    }
}

/// Cur. 3.14.2: `- field: required`, also where the field is called `name`.
#[test]
fn a_field_of_a_step_may_be_called_name() {
    let agent = r#"AGENT: Desk
GOAL: "Ask"
FLOW:
  g -> h
  g:
    REASONING: false
    GATHER:
      - name: required
      - city: required
    THEN: h
  h:
    REASONING: false
    RESPOND: "{{name}} from {{city}}."
    THEN: COMPLETE
"#;
    super::talk_abl(
        agent,
        r#"
tests:
  - name: both
    turns:
      - says: ["Please tell me: name."]
      - { user: Ann, says: ["Please tell me: city."] }
      - { user: Oslo, says: ["Ann from Oslo."] }
"#,
    );
}

/// Cur. 3.5.2: what a lookup refuses has the field's `error`; a `validate` without a rule judges nothing.
#[test]
fn a_validation_without_a_rule_is_only_its_text() {
    let agent = r#"AGENT: Desk
GOAL: "Ask"
LOOKUP_TABLES:
  airports:
    source: inline
    values: [LAX, JFK]
GATHER:
  from:
    prompt: "From?"
    type: string
    semantics:
      lookup: airports
    validate:
      error: "Unknown airport."
FLOW:
  g -> h
  g:
    REASONING: false
    GATHER: from
    THEN: h
  h:
    REASONING: false
    RESPOND: "From {{from}}."
    THEN: COMPLETE
"#;
    super::talk_abl(
        agent,
        r#"
answers:
  - { message: ZZZ, values: { from: ZZZ } }
  - { message: JFK, values: { from: JFK } }
  - { holds: false, times: always }
tests:
  - name: known and unknown
    turns:
      - says: ["From?"]
      - { user: ZZZ, says: ["Unknown airport."] }
      - { user: JFK, says: ["From JFK."] }
"#,
    );
}
