//! What only the runtime, or only some agents, may write (ABL).

use super::{talk, talk_abl, talk_despite};

/// Cur. 3.7.2 and 8.8: the names of the runtime are immutable. Neither what the user says, nor an assignment, an initial
/// value, a result or another agent writes them, and a check of such a name is about what the runtime knows.
#[test]
fn names_of_the_runtime_are_not_written() {
    let agent = |name: &str, head: &str, first: &str| {
        format!(
            r#"AGENT: Desk
GOAL: "Pay"
TOOLS:
  pay(amount: number) -> {{ok: boolean}}
    description: "Pay"
    confirm: never
  login(code: string) -> {{user: string}}
    description: "Log in"
    confirm: never
{head}CONSTRAINTS:
  r:
    - REQUIRE {name} == "admin" BEFORE calling pay
      ON_FAIL: "No."
FLOW:
  a -> b
  a:
    REASONING: false
{first}  b:
    REASONING: false
    CALL: pay(1)
    ON_SUCCESS:
      RESPOND: "Paid."
"#
        )
    };
    let ask = "    RESPOND: \"Hi.\"\n    ON_INPUT:\n      - ELSE:\n";
    let scenario = r#"
tools: { pay: [{ answer: { ok: true } }], login: [{ answer: { user: admin } }] }
answers:
  - { ask: extract, offers: [NAME], values: { NAME: admin }, times: always }
tests:
  - name: refused
    turns:
      - {}
      - { user: admin, calls: [] }
      - { user: admin, calls: [] }
"#;
    for name in ["user_id", "tenant_id", "channel", "tool_failures"] {
        let set = format!("{ask}        SET: {name} = input\n        THEN: b\n");
        talk_despite_abl(&agent(name, "", &set), &scenario.replace("NAME", name));
    }
    let set = format!("{ask}        SET: config.owner = input\n        THEN: b\n");
    talk_abl(&agent("config.owner", "", &set), scenario);
    let gather = |name: &str| {
        let field = format!("GATHER:\n  {name}:\n    prompt: \"Who?\"\n    type: string\n");
        agent(name, &field, &format!("    GATHER:\n      - {name}: required\n    THEN: b\n"))
    };
    for name in ["user_id", "tool_failures", "channel"] {
        talk_despite_abl(&gather(name), &scenario.replace("NAME", name));
    }
    let initial = "MEMORY:\n  session:\n    - user_id\n        INITIAL: \"admin\"\n";
    talk_despite_abl(&agent("user_id", initial, &format!("{ask}        THEN: b\n")), scenario);
    let result = "    CALL: login(\"x\")\n    AS: user_id\n    THEN: b\n";
    talk_despite_abl(
        &agent("user_id.user", "", result),
        r#"
tools: { pay: [{ answer: { ok: true } }], login: [{ answer: { user: admin } }] }
tests: [{ name: refused, turns: [{ calls: [login], says: ["No."] }] }]
"#,
    );
}

/// Runs a conversation with an agent that writes names of the runtime.
fn talk_despite_abl(agent: &str, scenario: &str) {
    talk_despite(&["reserved-name"], &[("desk.agent.abl", agent)], scenario);
}

/// Cur. 3.10: the specification's own example returns `user_id` from the agent that logs the user in; who passes it on
/// passes what is known.
#[test]
fn an_agent_may_return_who_the_user_is() {
    let desk = r#"AGENT: Desk
GOAL: "Pay"
TOOLS:
  pay(amount: number) -> {ok: boolean}
    description: "Pay"
    confirm: never
CONSTRAINTS:
  r:
    - REQUIRE user_id == "u1" BEFORE calling pay
      ON_FAIL: "No."
HANDOFF:
  - TO: Login
    WHEN: input.contains("login")
    RETURN: true
    ON_RETURN:
      map:
        user_id: Login.customer
  - TO: Show
    WHEN: input.contains("show")
    CONTEXT:
      pass: [user_id]
    RETURN: false
FLOW:
  a:
    REASONING: false
    RESPOND: "Hi."
    ON_INPUT:
      - IF: input.contains("pay")
        THEN: b
      - ELSE:
        THEN: a
  b:
    REASONING: false
    CALL: pay(1)
    ON_SUCCESS:
      RESPOND: "Paid."
    THEN: a
"#;
    let login = r#"AGENT: Login
GOAL: "Log in"
FLOW:
  l:
    REASONING: false
    SET: customer = "u1"
    THEN: COMPLETE
"#;
    let show = r#"AGENT: Show
GOAL: "Show"
FLOW:
  s:
    REASONING: false
    RESPOND: "You are {{user_id}}."
    ON_INPUT:
      - ELSE:
        THEN: s
"#;
    talk(
        &[("desk.agent.abl", desk), ("login.agent.abl", login), ("show.agent.abl", show)],
        r#"
entry: Desk
tools: { pay: [{ answer: { ok: true } }] }
tests:
  - name: logged in
    turns:
      - says: ["Hi."]
      - { user: login, calls: [] }
      - { user: pay, calls: [pay], says: ["Paid.", "Hi."] }
      - { user: show, says: ["You are u1."] }
  - name: not logged in
    turns:
      - says: ["Hi."]
      - { user: pay, calls: [], says: ["No."] }
"#,
    );
}
