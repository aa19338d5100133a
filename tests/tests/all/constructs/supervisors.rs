//! Supervisors, and what handoffs, delegates and agents that are elsewhere return (ABL).

use super::talk;

const CLOSER: &str = r#"AGENT: Refunds
GOAL: "Refunds"
FLOW:
  steps: [end]
  end:
    REASONING: false
    SET: code = "R1"
    RESPOND: "Refund {{case}}."
    THEN: COMPLETE
"#;

/// Ref., "Routing actions": the agent that a variable names, by its alias or its own name, gets the message; a name of
/// none of the agents costs the turn, and the next message goes on. Guardrails of handoffs see it as any handoff.
#[test]
fn a_variable_names_the_agent() {
    let desk = |next: &str, rail: &str| {
        format!(
            r#"SUPERVISOR: Desk
GOAL: "Route"
AGENTS:
  - ALIAS: money
    AGENT: Refunds
    CAPABILITIES: [refunds]
MEMORY:
  session:
    - next
        INITIAL: "{next}"
    - case
        INITIAL: "C1"
{rail}ROUTING:
  RULES:
    - NAME: by_name
      PRIORITY: 1
      WHEN: next IS SET
      THEN: ROUTE_TO_VARIABLE next
      PASS: [case]
"#
        )
    };
    let with = |next: &str, rail: &str, expected: &str| {
        talk(
            &[("desk.agent.abl", &desk(next, rail)), ("refunds.agent.abl", CLOSER)],
            &format!("entry: Desk\ntests:\n  - name: by name\n    turns:\n{expected}"),
        );
    };
    for next in ["money", "Refunds"] {
        with(
            next,
            "",
            "      - { user: my money, says: [Refund C1.], agent: Desk, status: await }\n      - { user: again, says: [Refund C1.] }\n",
        );
    }
    with(
        "Nobody",
        "",
        "      - { user: my money, says: [{ contains: went wrong }], status: await }\n",
    );
    let rail = "GUARDRAILS:\n  not_now:\n    kind: handoff\n    check: \"case == 'C1'\"\n    action: block\n    msg: \"Not now.\"\n";
    with("money", rail, "      - { user: my money, says: [Not now.], agent: Desk }\n");
}

/// Ref., "HANDOFF": the keys of `MAP` beside `TO` are what the other agent returns; below `ON_RETURN` they are the
/// variables of this one (Cur. 3.10).
#[test]
fn map_beside_the_target_names_what_is_returned_first() {
    for map in ["MAP:\n      code: receipt", "ON_RETURN:\n      map:\n        receipt: code"] {
        let front = format!(
            r#"AGENT: Front
GOAL: "Front"
MEMORY:
  session:
    - receipt
    - case
        INITIAL: "C2"
HANDOFF:
  - TO: Refunds
    WHEN: input.contains("refund")
    CONTEXT:
      pass: [case]
      summary: "A refund"
    RETURN: true
    {map}
FLOW:
  steps: [ask]
  ask:
    REASONING: false
    RESPOND: "What now?"
    ON_INPUT:
      - ELSE:
        THEN: ask
"#
        );
        talk(
            &[("front.agent.abl", &front), ("refunds.agent.abl", CLOSER)],
            "entry: Front\ntests:\n  - name: mapped\n    turns:\n      - user: refund\n        state: { receipt: R1 }\n",
        );
    }
}

/// Ref., "Delegate failure strategies": `retry` repeats the delegation, as often as its count says; with
/// `FAILURE_MESSAGE` the agent goes on after that, without it the turn fails.
#[test]
fn delegations_are_retried() {
    let front = |words: &str| {
        format!(
            r#"AGENT: Front
GOAL: "Front"
MEMORY:
  session:
    - score
DELEGATE:
  - AGENT: Scores
    WHEN: input.contains("score")
    PURPOSE: "Get the score"
    INPUT: {{}}
    RETURNS: {{score: score}}
    USE_RESULT: "Tell it"
    REMOTE:
      endpoint: "https://scores.example/agent"
    ON_FAIL:
      type: retry
      count: 2
{words}FLOW:
  steps: [ask]
  ask:
    REASONING: false
    RESPOND: "What now?"
    ON_INPUT:
      - IF: score IS SET
        RESPOND: "It is {{{{score}}}}."
        THEN: COMPLETE
      - ELSE:
        RESPOND: "Nothing."
        THEN: COMPLETE
"#
        )
    };
    let words = "    FAILURE_MESSAGE: \"No scores now.\"\n";
    let with = |words: &str, answers: &str, turn: &str| {
        talk(
            &[("front.agent.abl", &front(words))],
            &format!(
                "entry: Front\ntools: {{ Scores: {answers} }}\ntests:\n  - name: again\n    turns:\n      - {turn}\n"
            ),
        );
    };
    let down = |times: u32| format!("{{ fail: error, message: down, times: {times} }}");
    let up = "{ answer: { score: 7 } }";
    with(
        words,
        &format!("[{}, {up}]", down(2)),
        "{ user: score, calls: [Scores, Scores, Scores], says: [It is 7.] }",
    );
    with(
        words,
        &format!("[{}, {up}]", down(3)),
        "{ user: score, calls: [Scores, Scores, Scores], says: [No scores now., Nothing.] }",
    );
    with(
        "",
        &format!("[{}, {up}]", down(3)),
        "{ user: score, calls: [Scores, Scores, Scores], says: [{ contains: went wrong }], status: await }",
    );
    // No earlier score stands for the one that is not there.
    let before = front(words).replace("    - score\n", "    - score\n        INITIAL: 3\n");
    talk(
        &[("front.agent.abl", &before)],
        &format!(
            "entry: Front\ntools: {{ Scores: [{}] }}\ntests:\n  - name: as before\n    turns:\n      - {{ user: score, says: [No scores now., Nothing.] }}\n",
            down(3)
        ),
    );
}

/// Ref., "SUPERVISOR Declaration": the supervisor routes the next message also after an agent that is elsewhere.
#[test]
fn supervisors_go_on_after_agents_that_are_elsewhere() {
    talk(
        &[(
            "desk.agent.abl",
            r#"SUPERVISOR: Desk
GOAL: "Route"
AGENTS:
  - ALIAS: away
    REF: "agents/elsewhere.agent.abl"
    CAPABILITIES: [anything]
ROUTING:
  RULES:
    - NAME: all
      PRIORITY: 1
      WHEN: input IS SET
      THEN: ROUTE_TO away
"#,
        )],
        r#"
entry: Desk
tools: { away: [{ times: 1, answer: { says: "From afar.", done: true } }, { answer: { says: "Again.", done: true } }] }
tests:
  - name: two messages
    turns:
      - { user: one, says: [From afar.], agent: Desk, status: await }
      - { user: two, says: [Again.] }
"#,
    );
}

/// Ref., "Agent references": `REF` is the path of a document, whatever the agent in it is called; relative to the
/// supervisor's document or to a folder above it.
#[test]
fn agents_are_referred_to_by_the_path_of_their_document() {
    for path in
        ["agents/money.agent.abl", "./agents/money.agent.abl", "desks/agents/money.agent.abl"]
    {
        let desk = format!(
            r#"SUPERVISOR: Desk
GOAL: "Route"
AGENTS:
  - ALIAS: bank
    REF: "{path}"
    CAPABILITIES: [anything]
ROUTING:
  RULES:
    - NAME: all
      PRIORITY: 1
      WHEN: input IS SET
      THEN: ROUTE_TO bank
"#
        );
        talk(
            &[("desks/desk.agent.abl", &desk), ("desks/agents/money.agent.abl", CLOSER)],
            "entry: Desk\ntests:\n  - name: by path\n    turns:\n      - { user: money, says: [{ contains: Refund }] }\n",
        );
    }
}

/// Ref., "Routing actions": the message of `ROUTE_TO_USER` is a template, as every message is.
#[test]
fn supervisors_answer_with_templates() {
    talk(
        &[(
            "desk.agent.abl",
            r#"SUPERVISOR: Desk
GOAL: "Route"
MEMORY:
  session:
    - city
        INITIAL: "Rome"
ROUTING:
  RULES:
    - NAME: all
      PRIORITY: 1
      WHEN: input IS SET
      THEN: ROUTE_TO_USER "Hello from {{city}}"
"#,
        )],
        "tests:\n  - name: filled in\n    turns:\n      - { user: hi, says: [Hello from Rome], status: await }\n",
    );
}

/// Cur. 3.7.2: a new activation begins without what the last one had; so it does without the results of its tools.
#[test]
fn results_do_not_outlive_their_activation() {
    talk(
        &[
            (
                "desk.agent.abl",
                r#"SUPERVISOR: Desk
GOAL: "Route"
AGENTS:
  - ALIAS: pay
    AGENT: Pay_Agent
    CAPABILITIES: [pay]
ROUTING:
  RULES:
    - NAME: all
      PRIORITY: 1
      WHEN: input IS SET
      THEN: ROUTE_TO pay
"#,
            ),
            (
                "pay.agent.abl",
                r#"AGENT: Pay_Agent
GOAL: "Pay"
TOOLS:
  verify(pin: string) -> {ok: boolean}
    description: "Verify"
  pay(amount: number) -> {id: string}
    description: "Pay"
CONSTRAINTS:
  paying:
    - REQUIRE last_verify_result.ok == true BEFORE calling pay
      ON_FAIL: "Verify first."
FLOW:
  steps: [begin, check, go]
  begin:
    REASONING: false
    WHEN: input.contains("verify")
    CALL: verify("1")
    THEN: check
  check:
    REASONING: false
    THEN: go
  go:
    REASONING: false
    CALL: pay(1)
    ON_SUCCESS:
      RESPOND: "Paid."
      THEN: COMPLETE
"#,
            ),
        ],
        r#"
entry: Desk
tools: { verify: [{ answer: { ok: true } }], pay: [{ answer: { id: P1 } }] }
tests:
  - name: the second is not verified
    turns:
      - { user: verify, calls: [verify, pay], says: [Paid.] }
      - { user: again, calls: [], says: [Verify first.] }
"#,
    );
}

/// Ref., "Delegate failure strategies": they are for "when the sub-agent fails or times out", wherever it runs. Nothing is
/// left of the one that failed.
#[test]
fn a_delegate_of_the_program_may_fail() {
    let front = |on_fail: &str| {
        format!(
            r#"AGENT: Front
GOAL: "Front"
MEMORY:
  session:
    - score
        INITIAL: 3
DELEGATE:
  - AGENT: Scores
    WHEN: input.contains("score")
    PURPOSE: "Look"
    INPUT: {{q: input}}
    RETURNS: {{age: score}}
    USE_RESULT: "x"
{on_fail}FLOW:
  s:
    REASONING: false
    RESPOND: "What now?"
    ON_INPUT:
      - IF: score IS SET
        RESPOND: "It is {{{{score}}}}."
        THEN: s
      - ELSE:
        RESPOND: "Nothing."
        THEN: s
"#
        )
    };
    let leads = "AGENT: Scores\nGOAL: \"Scores\"\nMEMORY:\n  session:\n    - age\n";
    let asks = r#"AGENT: Scores
GOAL: "Scores"
GATHER:
  age:
    prompt: "Age?"
    type: number
    validate:
      type: range
      rule: "18-99"
      error: "Adults only."
      max_retries: 1
FLOW:
  k:
    REASONING: false
    GATHER: age
    THEN: COMPLETE
"#;
    let run = |on_fail: &str, scores: &str, scenario: &str| {
        let front = front(on_fail);
        talk(&[("front.agent.abl", &front), ("scores.agent.abl", scores)], scenario);
    };
    let down = |times: &str, says: &str, status: &str| {
        format!(
            r#"
entry: Front
model: scripted
answers:
  - {{ agent: Scores, ask: converse, fail: timeout, times: {times} }}
tests:
  - name: down
    turns:
      - says: ["What now?"]
      - {{ user: score, says: [{says}], status: {status} }}
"#
        )
    };
    let respond = "    ON_FAIL: respond\n    FAILURE_MESSAGE: \"No scores.\"\n";
    let retry =
        "    ON_FAIL:\n      type: retry\n      count: 2\n    FAILURE_MESSAGE: \"No scores.\"\n";
    run(respond, leads, &down("always", "No scores., Nothing., \"What now?\"", "await"));
    run("    ON_FAIL: continue\n", leads, &down("always", "Nothing., \"What now?\"", "await"));
    let silent = respond.replace("respond", "continue");
    run(&silent, leads, &down("always", "Nothing., \"What now?\"", "await"));
    run("    ON_FAIL: escalate\n", leads, &down("always", "", "human"));
    run(retry, leads, &down("always", "No scores., Nothing., \"What now?\"", "await"));
    // The turn costs nothing but itself where nobody says what follows.
    run("", leads, &down("always", "{ contains: went wrong }", "await"));
    let never = |says: &str| {
        format!(
            r#"
entry: Front
tests:
  - name: never valid
    turns:
      - says: ["What now?"]
      - {{ user: score, says: ["Age?"] }}
      - {{ user: "3", says: ["Adults only."] }}
      - {{ user: "4", says: [{says}], status: await, agent: Front }}
      - {{ user: hello, says: [Nothing., "What now?"], agent: Front }}
"#
        )
    };
    run(respond, asks, &never("No scores., Nothing., \"What now?\""));
    run("    ON_FAIL: continue\n", asks, &never("Nothing., \"What now?\""));
}

/// Ref., "Agent reference properties": `REQUIRES_VALIDATION` says "whether the user must be authenticated before routing to
/// this agent", `CHANNELS` which channels it supports. Rules, intents, handoffs and the default keep to both.
#[test]
fn what_a_supervisor_says_of_its_agents_holds() {
    let agent = |name: &str| {
        format!(
            "AGENT: {name}\nGOAL: \"Help\"\nFLOW:\n  a:\n    REASONING: false\n    RESPOND: \"{name} here.\"\n    THEN: COMPLETE\n"
        )
    };
    let (billing, tech) = (agent("Billing"), agent("Tech"));
    let rules = "ROUTING:\n  - NAME: r1\n    PRIORITY: 1\n    WHEN: input.contains(\"bill\")\n    THEN: ROUTE_TO bill\n  - NAME: r2\n    PRIORITY: 2\n    WHEN: input != \"\"\n    THEN: ROUTE_TO tech\n";
    let handoffs = "HANDOFF:\n  - TO: Billing\n    WHEN: input.contains(\"bill\")\n    PRIORITY: 1\n  - TO: Tech\n    WHEN: input != \"\"\n    PRIORITY: 2\n";
    let scenario = |says: &str| {
        format!(
            "entry: Desk\ntests:\n  - name: t\n    turns:\n      - {{ user: my bill, says: [\"{says} here.\"] }}\n"
        )
    };
    for (about, says) in [
        ("", "Billing"),
        ("    CHANNELS: [web, voice]\n", "Billing"),
        ("    CHANNELS: [voice]\n", "Tech"),
        ("    REQUIRES_VALIDATION: false\n", "Billing"),
        ("    REQUIRES_VALIDATION: true\n", "Tech"),
    ] {
        for routing in [rules, handoffs] {
            let desk = format!(
                "SUPERVISOR: Desk\nGOAL: \"Route\"\nAGENTS:\n  - ALIAS: bill\n    AGENT: Billing\n    CAPABILITIES: [b]\n{about}  - ALIAS: tech\n    AGENT: Tech\n    CAPABILITIES: [t]\n{routing}"
            );
            let files = [
                ("desk.agent.abl", desk.as_str()),
                ("b.agent.abl", &billing),
                ("t.agent.abl", &tech),
            ];
            talk(&files, &scenario(says));
        }
    }
    let desk = format!(
        "SUPERVISOR: Desk\nGOAL: \"Route\"\nAGENTS:\n  - ALIAS: bill\n    AGENT: Billing\n    CAPABILITIES: [b]\n    REQUIRES_VALIDATION: true\n  - ALIAS: tech\n    AGENT: Tech\n    CAPABILITIES: [t]\nON_START:\n  SET: user.is_authenticated = true\n{rules}"
    );
    let files =
        [("desk.agent.abl", desk.as_str()), ("b.agent.abl", &billing), ("t.agent.abl", &tech)];
    talk(&files, &scenario("Billing"));
}

const OPEN: &str = r#"AGENT: Open
GOAL: "Small talk"
FLOW:
  a:
    REASONING: false
    SET: sec.ok = true
    RESPOND: "Open."
    THEN: COMPLETE
"#;

const SAFE: &str = r#"AGENT: Safe
GOAL: "Money"
FLOW:
  a:
    REASONING: false
    SET: sec.ok = true
    RESPOND: "Safe."
    THEN: COMPLETE
"#;

/// Talks to a supervisor of two agents; `rest` are its further sections.
fn talk_supervised(rest: &str, scenario: &str) {
    let desk = format!(
        r#"SUPERVISOR: Desk
GOAL: "Route"
AGENTS:
  - REF: "open.agent.abl"
    ALIAS: Open
    CAPABILITIES: [talk]
  - REF: "safe.agent.abl"
    ALIAS: Safe
    CAPABILITIES: [money]
TOOLS:
  note(text: string) -> {{ok: boolean}}
    description: "Make a note"
    confirm: never
STATE:
  sec:
    ok:
      type: boolean
      default: false
      source: agent
      updatedBy: [Safe]
{rest}"#
    );
    talk(
        &[("desk.agent.abl", &desk), ("open.agent.abl", OPEN), ("safe.agent.abl", SAFE)],
        &format!("entry: Desk\n{scenario}"),
    );
}

/// Ref., "State variable properties": `updatedBy` lists the agents that can update a variable; others do not.
#[test]
fn state_is_updated_by_the_listed_agents() {
    talk_supervised(
        r#"ROUTING:
  - NAME: done
    PRIORITY: 1
    WHEN: sec.ok == true
    THEN: ROUTE_TO Safe
  - NAME: safe
    PRIORITY: 2
    WHEN: input.contains("money")
    THEN: ROUTE_TO Safe
  - NAME: other
    PRIORITY: 3
    WHEN: 1 == 1
    THEN: ROUTE_TO Open
"#,
        r#"tests:
  - name: by another
    turns:
      - {}
      - { user: hi, says: [Open.], state: { sec.ok: false } }
      - { user: hi, says: [Open.] }
  - name: by the one
    turns:
      - {}
      - { user: money, says: [Safe.], state: { sec.ok: true } }
      - { user: hi, says: [Safe.] }
"#,
    );
}

/// Ref., "Behavior settings": with `canRespondDirectly: false` nothing that the supervisor's model says reaches the user; its
/// tools may be called.
#[test]
fn a_supervisor_that_may_not_answer_does_not() {
    let rest = |can: bool| {
        format!(
            "BEHAVIOR:\n  canRespondDirectly: {can}\nROUTING:\n  - INTENT(money) -> Safe\n  - INTENT(talk) -> Open\n"
        )
    };
    let scenario = |says: &str, after: &str| {
        format!(
            r#"tools: {{ note: [{{ answer: {{ ok: true }} }}] }}
answers:
  - {{ ask: choose, message: money, choose: [money] }}
  - {{ ask: choose, choose: [], times: always }}
  - {{ ask: converse, message: note, say: "I note it.", calls: [{{ name: note, arguments: {{ text: x }} }}], times: 1 }}
  - {{ ask: converse, say: "I say so.", times: always }}
tests:
  - name: nothing matches
    turns:
      - {{}}
      - {{ user: hm, says: [{says}] }}
      - {{ user: money, says: [Safe.] }}
  - name: with a call
    turns:
      - {{}}
      - {{ user: note, calls: [note], says: [{after}] }}
"#
        )
    };
    let blocked = "\"Sorry, I cannot do that right now.\"";
    talk_supervised(&rest(false), &scenario(blocked, blocked));
    talk_supervised(&rest(true), &scenario("I say so.", "I note it., I say so."));
}

/// Ref., "Routing constraint blocks": intents of `ignoreIntents` do not trigger the rule.
#[test]
fn ignored_intents_do_not_trigger_a_rule() {
    talk_supervised(
        r#"ROUTING:
  - NAME: safe
    PRIORITY: 1
    WHEN: 1 == 1
    THEN: ROUTE_TO Safe
    CONSTRAINTS:
      ignoreIntents: [small_talk]
  - NAME: open
    PRIORITY: 2
    WHEN: 1 == 1
    THEN: ROUTE_TO Open
"#,
        r#"answers:
  - { ask: choose, message: hi, offers: [small_talk], choose: [small_talk], times: always }
  - { ask: choose, choose: [], times: always }
tests:
  - name: by intent
    turns:
      - {}
      - { user: hi, says: [Open.] }
      - { user: money, says: [Safe.] }
      - { user: hi, says: [Open.] }
"#,
    );
}
