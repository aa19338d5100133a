//! Agent Script.

use super::{talk, talk_despite};

fn talk_script(script: &str, scenario: &str) {
    talk(&[("desk.agent", script)], scenario);
}

/// AS part II, 5 to 9: procedures before and after reasoning, assignments, actions with outputs,
/// variables that the model fills, confirmation, escalation.
#[test]
fn procedures_run_around_reasoning() {
    talk_script(
        r#"config:
    agent_name: "Desk"
system:
    instructions: "You help."
variables:
    n: mutable number = 0
    total: mutable number = 0
    city: mutable string = ""
start_agent desk:
    description: "Helps"
    before_reasoning:
        set @variables.n = @variables.n + 1
        if @variables.n == 1:
            run @actions.price
                with item = "lamp"
                set @variables.total = @outputs.amount
    reasoning:
        instructions: ->
            | Help. The price is {!@variables.total}.
        actions:
            price_of: @actions.price
                with item = ...
                set @variables.total = @outputs.amount
            fill: @utils.setVariables
                with city = ...
            person: @utils.escalate
    after_reasoning:
        set @variables.n = @variables.n + 10
    actions:
        price:
            description: "The price of an item"
            inputs:
                item: string
            outputs:
                amount: number
            target: "flow://Price"
"#,
        r#"
tools: { price: [{ when: { item: lamp }, answer: { amount: 5 } }, { answer: { amount: 9 } }] }
answers:
  - { calls: [{ name: fill, arguments: { city: Rome } }], message: Rome }
  - { say: "Noted.", message: Rome }
  - { calls: [{ name: price_of, arguments: { item: chair } }], message: chair }
  - { say: "Nine.", message: chair }
  - { calls: [{ name: person, arguments: {} }], message: person }
tests:
  - name: in order
    turns:
      - user: I am in Rome
        says: ["Noted."]
        calls: [{ price: { item: lamp } }]
        state: { "@variables.city": Rome, "@variables.total": 5, "@variables.n": 11 }
      - user: a chair
        says: ["Nine."]
        calls: [{ price: { item: chair } }]
        state: { "@variables.total": 9, "@variables.n": 22 }
      - user: a person please
        status: human
"#,
    );
}

/// AS part II, 7 and 11: what is offered under a condition, transitions, and who sees the message.
#[test]
fn transitions_pass_the_message_on() {
    talk_script(
        r#"config:
    agent_name: "Desk"
system:
    instructions: "You help."
variables:
    verified: mutable boolean = False
start_agent desk:
    description: "Routes"
    reasoning:
        instructions: ->
            | Route.
        actions:
            go: @utils.transition to @subagent.orders
                description: "Orders"
                available when @variables.verified == True
            verify: @utils.setVariables
                with verified = ...
subagent orders:
    description: "Orders"
    reasoning:
        instructions: ->
            | Answer about orders.
"#,
        r#"
answers:
  - { agent: desk, say: "Not yet.", message: first }
  - { agent: desk, calls: [{ name: verify, arguments: { verified: true } }], message: code }
  - { agent: desk, calls: [{ name: go, arguments: {} }], message: code }
  - { agent: orders, say: "Order 7, as you said.", message: code }
  - { agent: orders, say: "Still orders.", message: more }
tests:
  - name: hidden, then taken
    turns:
      - user: first
        says: ["Not yet."]
        agent: desk
      - user: my code
        says: ["Order 7, as you said."]
        agent: orders
      - user: more
        says: ["Still orders."]
        agent: orders
"#,
    );
}

/// AS part II, 4 ("the first subagent the runtime activates") says where a conversation begins, not
/// where each message does. The platform begins at the start with each if `reset_to_initial_node` of
/// `config.runtime` says so. See the table of decisions in `docs/semantics.md`.
#[test]
fn messages_begin_at_the_start_if_the_script_says_so() {
    let script = |setting: &str| {
        format!(
            r#"config:
    agent_name: "Desk"
{setting}system:
    instructions: "You help."
variables:
    n: mutable number = 0
start_agent desk:
    description: "Routes"
    before_reasoning:
        set @variables.n = @variables.n + 1
    reasoning:
        instructions: ->
            | Route.
        actions:
            go: @utils.transition to @subagent.orders
subagent orders:
    description: "Orders"
    reasoning:
        instructions: ->
            | Orders, {{!@variables.n}}.
"#
        )
    };
    let scenario = |agent: &str, n: u8| {
        format!(
            r#"
answers:
  - {{ agent: desk, calls: [{{ name: go, arguments: {{}} }}], message: order }}
  - {{ agent: orders, say: "Order 7.", message: order }}
  - {{ agent: {agent}, say: "I am {agent}.", message: more }}
tests:
  - name: the second message
    turns:
      - user: an order
        says: ["Order 7."]
      - user: more
        says: ["I am {agent}."]
        agent: {agent}
        state: {{ "@variables.n": {n} }}
"#
        )
    };
    talk_script(&script(""), &scenario("orders", 1));
    let setting = "    runtime:\n        reset_to_initial_node: True\n";
    talk_script(&script(setting), &scenario("desk", 2));
    let setting = "    runtime:\n        reset_to_initial_node: False\n";
    talk_script(&script(setting), &scenario("orders", 1));
}

/// AS part I, 3.1: a member of a `None` value "produces a runtime error", in a text as in a condition.
#[test]
fn members_of_none_are_errors() {
    let script = |text: &str| {
        format!(
            r#"config:
    agent_name: "Desk"
system:
    instructions: "You help."
variables:
    info: mutable object = None
    name: mutable string = None
start_agent desk:
    description: "Helps"
    reasoning:
        instructions: ->
            | Help {text}.
"#
        )
    };
    talk_script(
        &script("{!@variables.info.name}"),
        r#"
answers: [{ say: "Hello.", times: always }]
tests:
  - name: a member
    turns:
      - user: hello
        says: ["Sorry, something went wrong."]
        status: await
"#,
    );
    talk_script(
        &script("{!@variables.name}"),
        r#"
answers: [{ say: "Hello.", times: always }]
tests:
  - name: None itself
    turns:
      - user: hello
        says: ["Hello."]
"#,
    );
}

/// AS part II, 7, does not say what a failed action leaves behind: its outputs are `None`, and what is
/// set from them is set; nothing else is. See the table of decisions in `docs/semantics.md`.
#[test]
fn a_failed_action_has_no_outputs() {
    talk_script(
        r#"config:
    agent_name: "Desk"
system:
    instructions: "You help."
variables:
    verified: mutable boolean = True
    after: mutable boolean = False
start_agent desk:
    description: "Helps"
    reasoning:
        instructions: ->
            | Help.
        actions:
            verify_code: @actions.verify
                with code = ...
                set @variables.verified = @outputs.ok
                set @variables.after = True
    actions:
        verify:
            description: "Verify"
            inputs:
                code: string
            outputs:
                ok: boolean
            target: "flow://Verify"
"#,
        r#"
tools: { verify: [{ fail: error, message: down }] }
answers:
  - { calls: [{ name: verify_code, arguments: { code: "1" } }] }
  - { say: "It is down." }
tests:
  - name: down
    turns:
      - user: "1"
        says: ["It is down."]
        state: { "@variables.verified": { any: false }, "@variables.after": false }
"#,
    );
}

/// The same where the script calls the action: no earlier result stands for the one that failed.
#[test]
fn a_failed_run_has_no_outputs() {
    talk_script(
        r#"config:
    agent_name: "Desk"
system:
    instructions: "You help."
variables:
    verified: mutable boolean = False
    done: mutable boolean = False
start_agent desk:
    description: "Helps"
    before_reasoning:
        run @actions.verify
            with code = "1"
            set @variables.verified = @outputs.state == "ok"
            set @variables.done = True
    reasoning:
        instructions: ->
            | Help.
        actions:
            pay: @actions.pay
                available when @variables.verified == True
                with amount = ...
    actions:
        verify:
            description: "Verify"
            inputs:
                code: string
            outputs:
                state: string
            target: "flow://Verify"
        pay:
            description: "Pay"
            inputs:
                amount: number
            target: "flow://Pay"
"#,
        r#"
tools: { verify: [{ answer: { state: ok }, times: 1 }, { fail: error, message: down }], pay: [{ answer: {} }] }
answers: [{ say: "Hm.", times: always }]
tests:
  - name: down
    turns:
      - user: hello
        state: { "@variables.verified": true, "@variables.done": true }
      - user: again
        calls: [verify]
        state: { "@variables.verified": null, "@variables.done": true }
      - user: and again
        state: { "@variables.verified": null }
"#,
    );
}

/// AS part II, 12: `user_input` is the text of the current turn. AS part II, 1 and 4: the welcome message opens the
/// conversation; coming back to the first subagent is no new one.
#[test]
fn the_welcome_opens_the_conversation() {
    talk_script(
        r#"config:
    agent_name: "Desk"
system:
    instructions: "You help."
    messages:
        welcome: "Welcome!"
        error: "Sorry."
variables:
    heard: mutable string = ""
start_agent desk:
    description: "Helps"
    before_reasoning:
        set @variables.heard = @system_variables.user_input
    reasoning:
        instructions: ->
            | Help.
        actions:
            to_sales: @utils.transition to @subagent.sales
subagent sales:
    description: "Sells"
    reasoning:
        instructions: ->
            | Sell.
        actions:
            back: @utils.transition to @subagent.desk
"#,
        r#"
answers:
  - { calls: [{ name: to_sales, arguments: {} }], message: buy, times: 1 }
  - { calls: [{ name: back, arguments: {} }], message: back, times: 1 }
  - { say: "Yes?", times: always }
tests:
  - name: once
    turns:
      - says: ["Welcome!"]
      - user: buy
        says: ["Yes?"]
        state: { "@variables.heard": buy }
      - user: back
        says: ["Yes?"]
        agent: desk
        state: { "@variables.heard": back }
"#,
    );
}

/// AS part I, "messages": the error message of the system is that of every subagent.
#[test]
fn the_systems_error_message_is_for_all_subagents() {
    talk_script(
        r#"config:
    agent_name: "Desk"
system:
    instructions: "You help."
    messages:
        welcome: "Welcome."
        error: "Our fault."
variables:
    total: mutable number
start_agent desk:
    description: "Routes"
    reasoning:
        instructions: ->
            transition to @subagent.sums
subagent sums:
    description: "Sums"
    reasoning:
        instructions: ->
            set @variables.total = @variables.total + 1
            | Say the sum.
"#,
        r#"
tests:
  - name: in the second subagent
    turns:
      - says: ["Welcome."]
      - user: hi
        says: ["Our fault."]
        status: await
"#,
    );
}

/// AS part II, `collect`: the conversation waits for the variable, and the message asks for it once. Instructions are for
/// the model.
#[test]
fn collect_waits_for_its_variable() {
    talk_script(
        r#"config:
    agent_name: "Desk"
system:
    instructions: "You help."
variables:
    town: mutable string
    street: mutable string
start_agent desk:
    description: "Routes"
    reasoning:
        instructions: ->
            transition to @subagent.addresses
subagent addresses:
    description: "Takes addresses"
    reasoning:
        instructions: ->
            collect @variables.town
                message: "Which town?"
            collect @variables.street
                message: "Which street?"
            | Thank the user.
"#,
        r#"
answers:
  - { values: { town: Leeds }, message: Leeds }
  - { values: { street: Rose Lane }, message: Rose }
  - { values: {}, times: always, ask: extract }
  - { say: "Thank you.", times: always }
tests:
  - name: one after the other
    turns:
      - user: hello
        says: ["Which town?"]
      - user: Leeds
        says: ["Which street?"]
        state: { "@variables.town": Leeds }
      - user: Rose Lane
        says: ["Thank you."]
        state: { "@variables.street": Rose Lane }
"#,
    );
}

/// AS part I, 5.9: `@outputs` is scoped to the callback of its action, where an inner action shadows the outer one only in
/// its own callback. Elsewhere, and later, it has no value.
#[test]
fn outputs_end_with_their_callback() {
    let script = |before: &str, reasoning: &str| {
        format!(
            r#"config:
    agent_name: "Desk"
system:
    instructions: "You help."
variables:
    seen: mutable string = "nothing"
    inner: mutable string = "nothing"
start_agent desk:
    description: "Helps"
    actions:
        Look:
            description: "Looks"
            inputs:
                what: string
            outputs:
                found: string
            target: "flow://Look"
        Pay:
            description: "Pays"
            outputs:
                ok: boolean
            target: "flow://Pay"
    before_reasoning:
{before}
    reasoning:
        instructions: ->
            | Seen: {{!@variables.seen}}, inner: {{!@variables.inner}}.
        actions:
            look: @actions.Look
                with what=...
{reasoning}"#
        )
    };
    let tools = r#"tools:
  Look: [{ when: { what: a }, answer: { found: A } }, { when: { what: A }, answer: { found: B } }]
  Pay: [{ answer: { ok: true } }]
"#;
    let pays = r#"        if @outputs.found == "A":
            run @actions.Pay"#;
    talk_despite(
        &["outputs-out-of-scope"],
        &[("desk.agent", &script(pays, ""))],
        &format!(
            r#"{tools}
answers:
  - {{ ask: converse, message: "^look$", calls: [{{ name: look, arguments: {{ what: a }} }}], times: 1 }}
  - {{ ask: converse, say: "Yes.", times: always }}
tests:
  - name: not in a later turn
    turns:
      - {{}}
      - {{ user: look, calls: [Look] }}
      - {{ user: hi, calls: [] }}
"#
        ),
    );
    let after = r#"        run @actions.Look
            with what="a"
        if @outputs.found == "A":
            run @actions.Pay"#;
    talk_despite(
        &["outputs-out-of-scope"],
        &[("desk.agent", &script(after, ""))],
        &format!(
            r#"{tools}
answers: [{{ ask: converse, say: "Yes.", times: always }}]
tests: [{{ name: not behind the callback, turns: [{{}}, {{ user: hi, calls: [Look] }}] }}]
"#
        ),
    );
    let nested = r#"        run @actions.Look
            with what="a"
            run @actions.Look
                with what=@outputs.found
                set @variables.inner = @outputs.found
            set @variables.seen = @outputs.found"#;
    talk_script(
        &script(nested, "                set @variables.seen = @outputs.found\n"),
        &format!(
            r#"{tools}
answers: [{{ ask: converse, say: "Yes.", times: always }}]
tests:
  - name: the outer ones again
    turns:
      - {{}}
      - {{ user: hi, calls: [Look, Look], state: {{ "@variables.seen": A, "@variables.inner": B }} }}
"#
        ),
    );
}
