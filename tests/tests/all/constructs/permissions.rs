//! Who may do what, whatever leads there: agents that supervisors keep for some users, actions that are forbidden, calls that
//! the user has confirmed.

use super::payment::Payment;
use super::{Talk, run_talk, talk, talk_despite};

const SECURE: &str = r#"AGENT: Secure
GOAL: "Money"
FLOW:
  a:
    REASONING: false
    RESPOND: "The vault."
    THEN: COMPLETE
"#;

/// A supervisor that keeps one of its agents for some users, with more sections.
fn supervisor(kept: &str, more: &str) -> String {
    format!(
        r#"SUPERVISOR: Desk
GOAL: "Route"
AGENTS:
  - REF: "secure.agent.abl"
    ALIAS: Vault
    AGENT: Secure
    CAPABILITIES: [money]
    {kept}
  - REF: "open.agent.abl"
    ALIAS: Open
    CAPABILITIES: [talk]
TOOLS:
  audit() -> {{ok: boolean}}
    description: "Audit"
    confirm: never
{more}ROUTING:
  - DEFAULT -> Open
"#
    )
}

const WAITS: &str = "FLOW:\n  a:\n    REASONING: false\n    RESPOND: \"Open.\"\n    ON_INPUT:\n      - ELSE:\n        THEN: a\n";

/// Ref., "Agent reference properties": `REQUIRES_VALIDATION` and `CHANNELS` hold for every path to an agent, also for those of
/// agents that the supervisor leads to.
#[test]
fn agents_are_kept_from_others_whatever_leads_there() {
    let of_supervisor = [
        ("CONSTRAINTS:\n  c:\n    - REQUIRE input != \"h\"\n      ON_FAIL: HANDOFF Vault\n", WAITS),
        ("HOOKS:\n  before_turn:\n    DELEGATE: Vault\n", WAITS),
        (
            "HOOKS:\n  before_turn:\n    CALL: audit()\nON_ERROR:\n  tool_error:\n    HANDOFF_TARGET: Vault\n    THEN: HANDOFF\n",
            WAITS,
        ),
        (
            "ESCALATE:\n  triggers:\n    - WHEN: input == \"h\"\n      REASON: \"r\"\n      PRIORITY: low\n  on_human_complete:\n    - IF human.resolved == true: HANDOFF to Vault\n",
            WAITS,
        ),
        (
            "",
            "HANDOFF:\n  - TO: Secure\n    WHEN: input == \"h\"\n    CONTEXT:\n      pass: []\n      summary: \"x\"\n    RETURN: false\n",
        ),
        (
            "",
            "DELEGATE:\n  - AGENT: Secure\n    WHEN: input == \"h\"\n    PURPOSE: \"x\"\n    INPUT: {}\n    RETURNS: {}\n    USE_RESULT: \"x\"\n",
        ),
        (
            "",
            "FLOW:\n  global_digressions:\n    - KEYWORDS: [h]\n      HANDOFF: Secure\n  a:\n    REASONING: false\n    RESPOND: \"Open.\"\n    ON_INPUT:\n      - ELSE:\n        THEN: a\n",
        ),
    ];
    for (more, others) in of_supervisor {
        let reaches = |kept: &str| {
            let files = [
                ("desk.agent.abl", supervisor(kept, more)),
                ("secure.agent.abl", SECURE.to_owned()),
                ("open.agent.abl", format!("AGENT: Open\nGOAL: \"Talk\"\n{others}")),
            ];
            let first = if more.is_empty() { "{ user: talk }, " } else { "" };
            let script = format!("{SCRIPT}    turns: [{first}{{ user: h }}]\n");
            talk_of(&files, &script).transcript().contains("The vault.")
        };
        assert!(reaches("CHANNELS: [web]"), "{more}{others}");
        for kept in ["REQUIRES_VALIDATION: true", "CHANNELS: [voice]"] {
            assert!(!reaches(kept), "{kept}\n{more}{others}");
        }
    }
}

const SCRIPT: &str = r#"
entry: Desk
tools: { audit: [{ fail: error, message: down }] }
answers: [{ ask: choose, choose: [], times: always }, { ask: converse, say: "I see.", times: always }, { ask: judge, holds: false, times: always }]
tests:
  - name: path
    humans: [{ says: [Solved.], outcome: { resolved: true } }]
"#;

/// Conversations with agents in which nothing is wrong.
fn talk_of(files: &[(&str, String)], scenario: &str) -> Talk {
    let files: Vec<(&str, &str)> =
        files.iter().map(|(name, text)| (*name, text.as_str())).collect();
    let talk = run_talk(&files, scenario);
    talk.assert_errors(&[]);
    talk
}

/// Ref., "Behavior settings": what a supervisor must never do is not offered to its model, and not done.
#[test]
fn forbidden_actions_are_not_done() {
    let desk = |behavior: &str| {
        format!(
            r#"SUPERVISOR: Desk
GOAL: "Route"
AGENTS:
  o: Open
TOOLS:
  pay(amount: number) -> {{ok: boolean}}
    description: "Pay"
    confirm: never
BEHAVIOR:
  canRespondDirectly: true
{behavior}HOOKS:
  before_turn:
    CALL: pay(1)
ROUTING:
  - INTENT(talk) -> o
"#
        )
    };
    let open = format!("AGENT: Open\nGOAL: \"Talk\"\n{WAITS}");
    let talk = |behavior: &str, calls: &str| {
        talk(
            &[("desk.agent.abl", &desk(behavior)), ("open.agent.abl", &open)],
            &format!(
                r#"
entry: Desk
tools: {{ pay: [{{ answer: {{ ok: true }} }}] }}
answers: [{{ ask: choose, choose: [], times: always }}, {{ ask: converse, say: "I see.", times: always }}]
tests:
  - name: forbidden
    turns: [{{}}, {{ user: x, calls: {calls} }}]
"#
            ),
        );
    };
    talk("", "[pay]");
    talk("  forbiddenActions: [pay]\n", "[]");
}

/// An agent that pays an amount when somebody says something, after the user has confirmed it.
fn cashier(sections: &str, paid: &str) -> String {
    Payment {
        tool: "    confirm: always\n",
        sections: &format!(
            "MEMORY:\n  session:\n    - amount\n        INITIAL: 5\n    - verified\n        INITIAL: true\n{sections}"
        ),
        flow: r#"  global_digressions:
    - KEYWORDS: [close]
      SET: verified = false
      RESPOND: "Closed."
      RESUME: true
    - KEYWORDS: [raise]
      SET:
        verified = true
        amount = 5000
      RESPOND: "Raised."
      RESUME: true
    - KEYWORDS: [open]
      SET: verified = true
      RESPOND: "Opened."
      RESUME: true
"#,
        amount: "amount",
        paid,
        ..Payment::default()
    }
    .to_string()
}

/// The conversation ends with the call.
const ENDS: &str = "      THEN: COMPLETE\n";

const AGREES: &str = r#"
answers: [{ ask: judge, message: "^yes$", holds: true, times: always }, { ask: judge, holds: false, times: always }, { ask: extract, values: {}, times: always }]
"#;

/// Cur. 3.5: what the user agrees to is a call with its arguments. If these are others when the call is made, the user is
/// asked again, in whichever turn that is.
#[test]
fn what_was_confirmed_is_what_is_done() {
    let guard = "CONSTRAINTS:\n  c:\n    - REQUIRE verified == true BEFORE calling pay\n      ON_FAIL: \"Closed now.\"\n";
    let ask = |amount: &str| format!("Shall I do this? Pay (amount: {amount}).");
    let (five, more) = (ask("5"), ask("5000"));
    let begin = format!(
        r#"
      - says: ["Hi."]
      - {{ user: go, calls: [], says: ["{five}"] }}
      - {{ user: close, calls: [], says: ["Closed.", "{five}"] }}
      - {{ user: "yes", calls: [], says: ["Closed now."] }}"#
    );
    talk(
        &[(
            "cashier.agent.abl",
            &cashier(guard, &format!("{ENDS}    ON_FAIL:\n      RESPOND: \"Not paid.\"\n{ENDS}")),
        )],
        &format!(
            r#"{AGREES}
tools: {{ pay: [{{ answer: {{ ok: true }} }}] }}
tests:
  - name: another amount
    turns:{begin}
      - {{ user: raise, calls: [], says: ["Raised.", "{more}"] }}
      - {{ user: "yes", calls: [{{ pay: {{ amount: 5000 }} }}], says: ["Paid."] }}
  - name: the same amount
    turns:{begin}
      - {{ user: open, calls: [{{ pay: {{ amount: 5 }} }}], says: ["Opened.", "Paid."] }}
"#
        ),
    );
    // A retry with another amount is another call.
    let errors = "ON_ERROR:\n  tool_error:\n    SET: amount = 5000\n    RETRY: 2\n";
    talk(
        &[("cashier.agent.abl", &cashier(errors, ENDS))],
        &format!(
            r#"{AGREES}
tools: {{ pay: [{{ times: 1, fail: error, message: down }}, {{ answer: {{ ok: true }} }}] }}
tests:
  - name: retried
    turns:
      - says: ["Hi."]
      - {{ user: go, calls: [], says: ["{five}"] }}
      - {{ user: "yes", calls: [{{ pay: {{ amount: 5 }} }}], says: ["{more}"] }}
      - {{ user: "yes", calls: [{{ pay: {{ amount: 5000 }} }}], says: ["Paid."] }}
"#
        ),
    );
}

/// Cur. 3.8.2: a constraint before an agent's name guards every path to that agent.
#[test]
fn constraints_before_an_agent_hold() {
    let handoff = "HANDOFF:\n  - TO: Secure\n    WHEN: input == \"h\"\n    CONTEXT:\n      pass: []\n      summary: \"x\"\n    RETURN: false\n";
    let delegate = "DELEGATE:\n  - AGENT: Secure\n    WHEN: input == \"h\"\n    PURPOSE: \"x\"\n    INPUT: {}\n    RETURNS: {}\n    USE_RESULT: \"x\"\n";
    for path in [handoff, delegate] {
        let desk = |verified: bool| {
            format!(
                "AGENT: Desk\nGOAL: \"Talk\"\nMEMORY:\n  session:\n    - verified\n        INITIAL: {verified}\nCONSTRAINTS:\n  c:\n    - REQUIRE verified == true BEFORE calling Secure\n      ON_FAIL: \"Not you.\"\n{path}"
            )
        };
        let reaches = |verified: bool| {
            let files =
                [("desk.agent.abl", desk(verified)), ("secure.agent.abl", SECURE.to_owned())];
            let script = format!("{SCRIPT}    turns: [{{ user: h }}]\n");
            talk_of(&files, &script).transcript().contains("The vault.")
        };
        assert!(reaches(true), "{path}");
        assert!(!reaches(false), "{path}");
    }
}

const PAYS: &str = "entry: Desk\ntools: { pay: [{ answer: { ok: true } }] }\ntests:\n";

/// An agent that pays unless a rule refuses it, that becomes verified if somebody says so, and that another agent follows.
fn desk_before_vault(rule: &str, digression: &str, handoff: &str) -> String {
    Payment {
        sections: &format!(
            "MEMORY:\n  session:\n    - verified\n        INITIAL: false\nCONSTRAINTS:\n  c:\n    - REQUIRE verified == true {rule}\n      ON_FAIL: \"Not you.\"\n{handoff}"
        ),
        flow: digression,
        inputs: "      - IF: input == \"verify\"\n        SET: verified = true\n        THEN: a\n",
        ..Payment::default()
    }
    .to_string()
}

const TO_SECURE: &str = "HANDOFF:\n  - TO: Secure\n    WHEN: input == \"vault\"\n    CONTEXT:\n      pass: []\n      summary: \"x\"\n    RETURN: false\n";

/// A slip in the name of an agent opens nothing: a constraint before what nobody declares holds before every call and every
/// transfer.
#[test]
fn a_slip_in_the_name_of_an_agent_opens_nothing() {
    talk_despite(
        &["undefined-tool"],
        &[
            ("desk.agent.abl", &desk_before_vault("BEFORE calling Secur", "", TO_SECURE)),
            ("secure.agent.abl", SECURE),
        ],
        &format!(
            r#"{PAYS}
  - name: refused
    turns:
      - says: ["Hi."]
      - {{ user: go, calls: [], says: ["Not you."] }}
      - {{ user: vault, says: ["Not you."] }}
  - name: verified
    turns:
      - says: ["Hi."]
      - {{ user: verify, says: ["Hi."] }}
      - {{ user: go, calls: [pay], says: ["Paid.", "Hi."] }}
      - {{ user: vault, says: ["The vault."] }}
"#
        ),
    );
}

/// Whatever leads to an agent, a constraint before its name is about it, and about no call.
#[test]
fn a_constraint_before_an_agent_is_about_no_call() {
    let digression = "  global_digressions:\n    - KEYWORDS: [vault]\n      HANDOFF: Secure\n";
    talk(
        &[
            ("desk.agent.abl", &desk_before_vault("BEFORE calling Secure", digression, "")),
            ("secure.agent.abl", SECURE),
        ],
        &format!(
            r#"{PAYS}
  - name: refused
    turns:
      - says: ["Hi."]
      - {{ user: go, calls: [pay], says: ["Paid.", "Hi."] }}
      - {{ user: vault, says: ["Not you."] }}
  - name: verified
    turns:
      - says: ["Hi."]
      - {{ user: verify, says: ["Hi."] }}
      - {{ user: vault, says: ["The vault."] }}
"#
        ),
    );
    // An alias is a name of an agent, too.
    let rule = |name: &str| {
        format!(
            "STATE:\n  verified:\n    type: boolean\n    default: false\n    source: agent\nCONSTRAINTS:\n  c:\n    - REQUIRE verified == true BEFORE calling {name}\n      ON_FAIL: \"Not you.\"\nHOOKS:\n  before_turn:\n    CALL: audit()\nESCALATE:\n  triggers:\n    - WHEN: input == \"h\"\n      REASON: \"r\"\n      PRIORITY: low\n  on_human_complete:\n    - IF human.resolved == true: HANDOFF to Vault\n"
        )
    };
    for name in ["Vault", "Secure"] {
        let files = [
            ("desk.agent.abl", supervisor("CHANNELS: [web]", &rule(name))),
            ("secure.agent.abl", SECURE.to_owned()),
            ("open.agent.abl", format!("AGENT: Open\nGOAL: \"Talk\"\n{WAITS}")),
        ];
        let script = format!("{SCRIPT}    turns: [{{ user: h, calls: [audit] }}]\n");
        let talk = talk_of(&files, &script);
        talk.assert_succeeds();
        let transcript = talk.transcript();
        assert!(!transcript.contains("The vault."), "{name}\n{transcript}");
        assert!(transcript.contains("Not you."), "{name}\n{transcript}");
    }
}

/// Ref., "Agent reference properties": what is said of an agent under one name holds for that name. Under a name of which
/// nothing is said, all of it holds.
#[test]
fn an_agent_with_two_names_is_kept_under_each() {
    let entry = |alias: &str, more: &str| {
        format!(
            "  - REF: \"secure.agent.abl\"\n    ALIAS: {alias}\n    AGENT: Secure\n    CAPABILITIES: [money]\n{more}"
        )
    };
    let (open, kept) = (entry("Weak", ""), entry("Vault", "    CHANNELS: [voice]\n"));
    let reaches = |agents: &str, name: &str| {
        let desk = format!(
            "SUPERVISOR: Desk\nGOAL: \"Route\"\nAGENTS:\n{agents}  - REF: \"open.agent.abl\"\n    ALIAS: Open\n    CAPABILITIES: [talk]\nCONSTRAINTS:\n  c:\n    - REQUIRE input != \"h\"\n      ON_FAIL: HANDOFF {name}\nROUTING:\n  - DEFAULT -> Open\n"
        );
        let files = [
            ("desk.agent.abl", desk),
            ("secure.agent.abl", SECURE.to_owned()),
            ("open.agent.abl", format!("AGENT: Open\nGOAL: \"Talk\"\n{WAITS}")),
        ];
        let script = format!("{SCRIPT}    turns: [{{ user: h }}]\n");
        talk_of(&files, &script).transcript().contains("The vault.")
    };
    for agents in [format!("{open}{kept}"), format!("{kept}{open}")] {
        assert!(reaches(&agents, "Weak"), "{agents}");
        assert!(!reaches(&agents, "Vault"), "{agents}");
        assert!(!reaches(&agents, "Secure"), "{agents}");
    }
}

/// Ref., "State variable properties": to be passed the value that is there already is no attempt to write it.
#[test]
fn passing_what_is_there_is_no_attempt_to_write() {
    let desk = r#"SUPERVISOR: Desk
GOAL: "Route"
AGENTS:
  - REF: "open.agent.abl"
    ALIAS: Open
    CAPABILITIES: [talk]
  - REF: "secure.agent.abl"
    ALIAS: Secure
    CAPABILITIES: [money]
STATE:
  sec:
    ok:
      type: boolean
      default: true
      source: agent
      updatedBy: [Secure]
HANDOFF:
  - TO: Open
    WHEN: input == "x"
    CONTEXT:
      pass: [sec.ok]
      summary: "s"
    RETURN: false
ROUTING:
  - DEFAULT -> Secure
"#;
    let open = |set: &str| {
        format!(
            "AGENT: Open\nGOAL: \"Talk\"\nFLOW:\n  a:\n    REASONING: false\n{set}    RESPOND: \"It is {{{{sec.ok}}}}.\"\n    ON_INPUT:\n      - ELSE:\n        THEN: a\n"
        )
    };
    for (set, denied) in [("", false), ("    SET: sec.ok = false\n", true)] {
        let files = [
            ("desk.agent.abl", desk.to_owned()),
            ("secure.agent.abl", SECURE.to_owned()),
            ("open.agent.abl", open(set)),
        ];
        let script = format!("{SCRIPT}    turns: [{{ user: x, says: [\"It is true.\"] }}]\n");
        let talk = talk_of(&files, &script);
        talk.assert_succeeds();
        assert_eq!(talk.transcript().contains("write_denied"), denied, "{}", talk.transcript());
    }
}

/// A hidden value is not shown where a call is confirmed.
#[test]
fn a_confirmation_shows_no_reserved_parameter() {
    let tool = "    confirm: always\n    parameters:\n      amount:\n        hidden: true\n        value: 7\n";
    talk(
        &[("desk.agent.abl", &Payment { tool, ..Payment::default() }.to_string())],
        r#"
tools: { pay: [{ answer: { ok: true } }] }
tests:
  - name: asked
    turns:
      - says: ["Hi."]
      - { user: go, calls: [], says: ["Shall I do this? Pay."] }
"#,
    );
}
