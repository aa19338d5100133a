//! Rules about routing, ends and loops.

use super::{Sample, files};
use std::fmt::Write;

const FIELDS: &str = r#"AGENT: Desk

GOAL: "Help people"

GATHER:
  n:
    prompt: "How many?"
    type: number
    required: true
  plan:
    prompt: "Which plan?"
    type: enum
    values: [basic, plus, gold]
    required: true
  city:
    prompt: "Which city?"
    type: string
    required: true
  urgent:
    prompt: "Is it urgent?"
    type: boolean
    required: true
"#;

/// Handoffs: to whom, when, priority.
fn handoffs(all: &[(&str, &str, &str)]) -> String {
    let mut text = format!("{FIELDS}\nHANDOFF:\n");
    for (to, when, priority) in all {
        let _ = write!(text, "  - TO: {to}\n    WHEN: {when}\n");
        if !priority.is_empty() {
            let _ = writeln!(text, "    PRIORITY: {priority}");
        }
        text.push_str("    CONTEXT:\n      pass: [n]\n      summary: \"s\"\n    RETURN: false\n");
    }
    text
}

/// Ways to be done.
fn completes(memory: &str, all: &[&str]) -> String {
    let mut text = format!("{FIELDS}\n{memory}\nCOMPLETE:\n");
    for when in all {
        let _ = write!(text, "  - WHEN: {when}\n    RESPOND: \"Done.\"\n");
    }
    text
}

fn session(name: &str, ty: &str, value: &str) -> String {
    let first =
        if value.is_empty() { String::new() } else { format!("        initial_value: {value}\n") };
    format!("MEMORY:\n  session:\n    - {name}:\n        type: {ty}\n{first}")
}

fn supervisor(rest: &str, rules: &[&str]) -> String {
    let mut text = String::from("SUPERVISOR: Desk\n\nGOAL: \"Send people on\"\n\nAGENTS:\n");
    for agent in ["a", "b", "c"] {
        let _ = write!(
            text,
            "  {agent}:\n    ref: \"./{agent}.agent.abl\"\n    agent: Agent_{agent}\n"
        );
    }
    let _ = write!(text, "\n{rest}\nROUTING:\n");
    for rule in rules {
        let _ = writeln!(text, "  - {rule}");
    }
    text
}

/// A named rule of a supervisor.
fn rule(name: &str, priority: u32, when: &str, to: &str) -> String {
    format!("NAME: \"{name}\"\n    PRIORITY: {priority}\n    WHEN: {when}\n    THEN: ROUTE_TO {to}")
}

fn named(rules: &[String]) -> String {
    let rules: Vec<&str> = rules.iter().map(String::as_str).collect();
    supervisor("", &rules)
}

/// A flow with a counter; `steps` are indented by two.
fn flow(steps: &str) -> String {
    format!(
        "AGENT: Desk\n\nGOAL: \"Help people\"\n\nTOOLS:\n  look(id: string) -> {{state: string}}\n    description: \"Looks\"\n\n{}    - open:\n        type: boolean\n        initial_value: true\n\nFLOW:\n  one -> two -> three\n\n{steps}",
        session("count", "number", "0")
    )
}

/// A step without the model.
fn step(name: &str, lines: &[&str]) -> String {
    let mut text = format!("  {name}:\n    REASONING: false\n");
    for line in lines {
        let _ = writeln!(text, "    {line}");
    }
    text.push('\n');
    text
}

const END: &[&str] = &["RESPOND: \"Bye.\"", "THEN: COMPLETE"];

fn neighbours(rule: &str, fires: &[String], passes: &[String]) -> Vec<Sample> {
    let sample = |(at, text, fires): (usize, &String, bool)| Sample {
        rule: rule.to_owned(),
        fires,
        files: files("desk.agent.abl", text),
        at: format!("{}, sample {at}", if fires { "to be found" } else { "to be left alone" }),
    };
    let fires = fires.iter().enumerate().map(|(at, text)| (at, text, true));
    let passes = passes.iter().enumerate().map(|(at, text)| (at, text, false));
    fires.chain(passes).map(sample).collect()
}

pub(super) fn samples() -> Vec<Sample> {
    let all: [fn() -> Vec<Sample>; 9] = [
        shadowed_route,
        shadowed_completion,
        priority_tie,
        done_at_start,
        routing_hole,
        shadowed_profile,
        endless_loop,
        unbounded_retry,
        handoff_circle,
    ];
    all.iter().flat_map(|of_rule| of_rule()).collect()
}

fn shadowed_route() -> Vec<Sample> {
    neighbours(
        "shadowed-route",
        &[
            handoffs(&[("A", "n > 0", ""), ("B", "n > 10", "")]),
            handoffs(&[("A", "n > 10", "2"), ("B", "n > 0", "1")]),
            handoffs(&[("A", "n > 5", ""), ("B", "n <= 5", ""), ("C", "n == 7", "")]),
            handoffs(&[
                ("A", "plan == \"basic\" OR plan == \"plus\"", ""),
                ("B", "plan == \"plus\"", ""),
            ]),
            handoffs(&[("A", "urgent == true", ""), ("B", "urgent == true AND n > 3", "")]),
            handoffs(&[("A", "city IS SET", ""), ("B", "city == \"Oslo\"", "")]),
            handoffs(&[("A", "n < 3", ""), ("B", "n < 3", "")]),
            supervisor("", &["INTENT(pay, refund) -> a", "INTENT(refund) -> b", "DEFAULT -> c"]),
            supervisor("", &["INTENT(pay) -> a", "INTENT(Pay, cancel) -> b", "DEFAULT -> c"]),
            named(&[
                rule("all", 1, "user.intent == \"pay\" OR user.intent == \"refund\"", "a"),
                rule("one", 2, "user.intent == \"refund\"", "b"),
            ]),
        ],
        &[
            handoffs(&[("A", "n > 10", ""), ("B", "n > 0", "")]),
            handoffs(&[("A", "n > 0", "2"), ("B", "n > 10", "1")]),
            handoffs(&[("A", "n > 5", ""), ("B", "n < 5", ""), ("C", "n == 5", "")]),
            handoffs(&[("A", "plan == \"basic\"", ""), ("B", "plan == \"plus\"", "")]),
            handoffs(&[("A", "the user is angry", ""), ("B", "the user is very angry", "")]),
            handoffs(&[("A", "n > 0", ""), ("B", "city == \"Oslo\"", "")]),
            // Equal priorities are a tie.
            handoffs(&[("A", "n > 0", "1"), ("B", "n > 10", "1")]),
            // What can never hold is another rule's.
            handoffs(&[("A", "n > 0", ""), ("B", "n > 10 AND n < 5", "")]),
            supervisor("", &["INTENT(pay) -> a", "INTENT(refund) -> b", "DEFAULT -> c"]),
            named(&[
                rule("one", 1, "user.intent == \"refund\"", "b"),
                rule("all", 2, "user.intent == \"pay\" OR user.intent == \"refund\"", "a"),
            ]),
        ],
    )
}

fn shadowed_completion() -> Vec<Sample> {
    neighbours(
        "shadowed-completion",
        &[
            completes("", &["n > 0", "n > 10"]),
            completes("", &["n IS SET", "n == 4"]),
            completes("", &["n > 5", "n <= 5", "n == 2"]),
            completes("", &["plan == \"gold\" OR plan == \"plus\"", "plan == \"gold\""]),
            completes("", &["urgent == true", "city == \"Oslo\" AND urgent == true"]),
            completes("", &["the user is happy", "the user is happy"]),
        ],
        &[
            completes("", &["n > 10", "n > 0"]),
            completes("", &["n == 4", "n IS SET"]),
            completes("", &["n > 5", "n < 5", "n == 5"]),
            completes("", &["plan == \"gold\"", "plan == \"plus\""]),
            completes("", &["the user is happy", "the user is content"]),
            completes("", &["n > 0", "n > 10 AND n < 5"]),
        ],
    )
}

fn priority_tie() -> Vec<Sample> {
    neighbours(
        "priority-tie",
        &[
            handoffs(&[("A", "n > 0", "1"), ("B", "n > 10", "1")]),
            handoffs(&[("A", "n > 0", "1"), ("B", "city == \"Oslo\"", "1")]),
            handoffs(&[("A", "n < 5", "2"), ("C", "n > 9", "1"), ("B", "n < 3", "2")]),
            handoffs(&[("A", "plan != \"gold\"", "1"), ("B", "plan == \"plus\"", "1")]),
            handoffs(&[("A", "n >= 5", "1"), ("B", "n <= 5", "1")]),
            named(&[
                rule("x", 1, "user.intent == \"pay\"", "a"),
                rule("y", 1, "channel == \"voice\"", "b"),
            ]),
        ],
        &[
            handoffs(&[("A", "n > 0", "2"), ("B", "n > 10", "1")]),
            handoffs(&[("A", "n > 5", "1"), ("B", "n < 5", "1")]),
            handoffs(&[("A", "n > 0", ""), ("B", "n > 10", "")]),
            handoffs(&[("A", "n > 0", "1"), ("A", "n > 10", "1")]),
            handoffs(&[("A", "plan == \"gold\"", "1"), ("B", "plan == \"plus\"", "1")]),
            handoffs(&[("A", "the user is angry", "1"), ("B", "n > 1", "1")]),
            named(&[
                rule("x", 1, "user.intent == \"pay\"", "a"),
                rule("y", 1, "user.intent == \"refund\"", "b"),
            ]),
        ],
    )
}

fn done_at_start() -> Vec<Sample> {
    let with = |name: &str, ty: &str, value: &str, when: &str| {
        completes(&session(name, ty, value), &[when])
    };
    let escalate = |when: &str| {
        format!(
            "{FIELDS}\n{}\nESCALATE:\n  triggers:\n    - WHEN: {when}\n      REASON: \"r\"\n",
            session("tries", "number", "0")
        )
    };
    let tool = "TOOLS:\n  look(id: string) -> {state: string}\n    description: \"Looks\"\n    ON_RESULT:\n      SET:\n        left = 3\n\n";
    neighbours(
        "done-at-start",
        &[
            with("left", "number", "0", "left == 0"),
            with("state", "string", "\"new\"", "state != \"open\""),
            with("state", "string", "", "state != \"open\""),
            with("asked", "boolean", "false", "asked == false"),
            with("left", "number", "0", "left < 3 OR n > 5"),
            completes("", &["plan != \"gold\""]),
            escalate("tries < 3"),
        ],
        &[
            with("left", "number", "1", "left == 0"),
            with("state", "string", "\"open\"", "state != \"open\""),
            with("left", "number", "0", "left == 0 AND n IS SET"),
            with("asked", "boolean", "false", "asked == true"),
            completes("", &["plan == \"gold\""]),
            escalate("tries >= 3"),
            completes(
                "ON_START:\n  SET: left = 4\n\nMEMORY:\n  session:\n    - left:\n        type: number\n        initial_value: 0\n",
                &["left == 0"],
            ),
            completes(&format!("{tool}{}", session("left", "number", "0")), &["n > 3"]),
        ],
    )
}

fn routing_hole() -> Vec<Sample> {
    let nlu = "INTENTS:\n  - name: pay\n    description: \"p\"\n    examples: [\"pay\"]\n  - name: refund\n    description: \"r\"\n    examples: [\"back\"]\n";
    let chosen = |extra: &str, rules: &[String]| {
        let fields = FIELDS.split_once("GATHER:").map(|(_, fields)| fields).unwrap_or_default();
        let rules: Vec<&str> = rules.iter().map(String::as_str).collect();
        supervisor(&format!("GATHER:{fields}\n{extra}"), &rules)
    };
    neighbours(
        "routing-hole",
        &[
            handoffs(&[("A", "n < 5", ""), ("B", "n > 5", "")]),
            handoffs(&[("A", "n < 5", ""), ("B", "n > 5 AND n < 9", ""), ("C", "n >= 9", "")]),
            handoffs(&[("A", "n <= 4", ""), ("B", "n > 4 AND n < 8", ""), ("C", "n > 8", "")]),
            chosen(
                "",
                &[rule("x", 1, "plan == \"gold\"", "a"), rule("y", 2, "plan == \"plus\"", "b")],
            ),
            chosen(
                "",
                &[
                    rule("x", 1, "plan == \"gold\"", "a"),
                    rule("y", 2, "plan == \"plus\" OR plan == \"gold\"", "b"),
                ],
            ),
            supervisor(nlu, &["INTENT(pay) -> a"]),
        ],
        &[
            handoffs(&[("A", "n < 5", ""), ("B", "n >= 5", "")]),
            // Between far ends there may be nothing to hand over.
            handoffs(&[("A", "n < 5", ""), ("B", "n > 9", "")]),
            handoffs(&[("A", "plan == \"gold\"", ""), ("B", "plan == \"plus\"", "")]),
            chosen(
                "",
                &[rule("x", 1, "plan == \"gold\"", "a"), rule("y", 2, "plan != \"gold\"", "b")],
            ),
            chosen(
                "",
                &[
                    rule("x", 1, "plan == \"gold\"", "a"),
                    rule("y", 2, "plan == \"plus\"", "b"),
                    "DEFAULT -> c".to_owned(),
                ],
            ),
            supervisor(nlu, &["INTENT(pay) -> a", "DEFAULT -> b"]),
            supervisor(nlu, &["INTENT(pay) -> a", "INTENT(refund) -> b"]),
        ],
    )
}

fn shadowed_profile() -> Vec<Sample> {
    let project = |all: &[(&str, u32, &str, &str)]| {
        let mut text = String::from(
            "--- project.json\n{\"format_version\": \"2.0\", \"entry_agent\": \"Desk\"}\n--- agents/desk.agent.abl\nAGENT: Desk\n\n",
        );
        for (name, ..) in all {
            let _ = writeln!(text, "USE BEHAVIOR_PROFILE: {name}");
        }
        text.push_str("\nGOAL: \"Help people\"\n");
        for (name, priority, when, sets) in all {
            let _ = write!(
                text,
                "--- behavior_profiles/{name}.behavior_profile.abl\nBEHAVIOR_PROFILE: {name}\n\nPRIORITY: {priority}\nWHEN: {when}\n{sets}\n"
            );
        }
        text
    };
    let (buttons, more) =
        ("RESPONSE_RULES:\n  max_buttons: 2", "RESPONSE_RULES:\n  max_buttons: 3");
    let voice = "channel == \"voice\"";
    let both = "channel == \"voice\" OR channel == \"web\"";
    let danish = "channel == \"voice\" AND language == \"da\"";
    neighbours(
        "shadowed-profile",
        &[
            project(&[("one", 5, voice, buttons), ("two", 9, voice, more)]),
            project(&[("one", 9, voice, buttons), ("two", 5, danish, more)]),
            project(&[("one", 9, both, buttons), ("two", 5, voice, more)]),
            project(&[("one", 9, "language == \"da\"", buttons), ("two", 5, danish, more)]),
            project(&[
                ("one", 9, "language == \"da\"", buttons),
                ("two", 8, "language != \"da\"", buttons),
                ("three", 5, "language != \"fr\"", more),
            ]),
        ],
        &[
            project(&[("one", 5, voice, buttons), ("two", 9, danish, more)]),
            project(&[("one", 9, voice, buttons), ("two", 5, "channel == \"web\"", more)]),
            project(&[("one", 5, both, buttons), ("two", 9, voice, more)]),
            project(&[("one", 9, voice, "INSTRUCTIONS: \"Brief.\""), ("two", 5, voice, more)]),
            project(&[("one", 9, voice, buttons), ("two", 5, voice, "INSTRUCTIONS: \"Brief.\"")]),
        ],
    )
}

fn endless_loop() -> Vec<Sample> {
    let end = step("three", END);
    let two = |one: &[&str], two: &[&str]| {
        flow(&format!("{}{}{end}", step("one", one), step("two", two)))
    };
    neighbours(
        "endless-loop",
        &[
            two(&["RESPOND: \"a\"", "THEN: two"], &["RESPOND: \"b\"", "THEN: one"]),
            two(&["THEN: two"], &["IF: count < 3", "  THEN: one", "ELSE:", "  THEN: three"]),
            two(&["THEN: two"], &["IF: open == true", "  THEN: one", "ELSE:", "  THEN: three"]),
            two(&["IF: count > 5", "  THEN: three", "ELSE:", "  THEN: two"], &["THEN: one"]),
            two(
                &["SET: open = false", "THEN: two"],
                &["IF: count < 3", "  THEN: one", "ELSE:", "  THEN: three"],
            ),
            two(&["RESPOND: \"a\"", "THEN: one"], &["THEN: three"]),
        ],
        &[
            two(&["RESPOND: \"a\"", "THEN: two"], &["RESPOND: \"b\"", "THEN: three"]),
            two(
                &["SET: count = count + 1", "THEN: two"],
                &["IF: count < 3", "  THEN: one", "ELSE:", "  THEN: three"],
            ),
            two(
                &[
                    "GATHER:",
                    "  - id:",
                    "      TYPE: string",
                    "      PROMPT: \"Which?\"",
                    "THEN: two",
                ],
                &["THEN: one"],
            ),
            two(
                &["THEN: two"],
                &[
                    "RESPOND: \"b\"",
                    "ON_INPUT:",
                    "  - IF: input == \"x\"",
                    "    THEN: one",
                    "  - ELSE:",
                    "    THEN: three",
                ],
            ),
            two(
                &["IF: count > 5", "  THEN: three", "ELSE:", "  THEN: two"],
                &["IF: count < 3", "  THEN: three", "ELSE:", "  SET: count = 9", "  THEN: one"],
            ),
            two(
                &["CALL: look(id: \"1\")", "  AS: found", "THEN: two"],
                &["IF: found.state == \"busy\"", "  THEN: one", "ELSE:", "  THEN: three"],
            ),
            // The two conditions exclude each other.
            two(
                &["IF: count > 5", "  THEN: two", "ELSE:", "  THEN: three"],
                &["IF: count < 3", "  THEN: one", "ELSE:", "  THEN: three"],
            ),
        ],
    )
}

fn unbounded_retry() -> Vec<Sample> {
    let end = step("three", END);
    let two = |one: &[&str], two: &[&str]| {
        flow(&format!("{}{}{end}", step("one", one), step("two", two)))
    };
    let call = "CALL: look(id: \"1\")";
    neighbours(
        "unbounded-retry",
        &[
            two(&[call, "ON_SUCCESS:", "  THEN: three", "ON_FAIL:", "  THEN: one"], END),
            two(
                &[
                    call,
                    "ON_SUCCESS:",
                    "  THEN: three",
                    "ON_FAIL:",
                    "  RESPOND: \"Wait.\"",
                    "  THEN: two",
                ],
                &["THEN: one"],
            ),
            two(
                &[
                    call,
                    "ON_SUCCESS:",
                    "  THEN: three",
                    "ON_FAIL:",
                    "  IF: count < 3",
                    "    THEN: one",
                    "  ELSE:",
                    "    THEN: three",
                ],
                END,
            ),
            two(
                &["THEN: two"],
                &[
                    call,
                    "ON_SUCCESS:",
                    "  THEN: three",
                    "ON_FAIL:",
                    "  SET: open = false",
                    "  THEN: one",
                ],
            ),
            two(
                &["RESPOND: \"a\"", call, "ON_SUCCESS:", "  THEN: two", "ON_FAIL:", "  THEN: one"],
                &["THEN: three"],
            ),
        ],
        &[
            two(&[call, "ON_SUCCESS:", "  THEN: three", "ON_FAIL:", "  THEN: two"], END),
            two(
                &[
                    "MAX_ATTEMPTS: 3",
                    "ON_EXHAUSTED: three",
                    call,
                    "ON_SUCCESS:",
                    "  THEN: three",
                    "ON_FAIL:",
                    "  THEN: one",
                ],
                END,
            ),
            two(
                &[
                    call,
                    "ON_SUCCESS:",
                    "  THEN: three",
                    "ON_FAIL:",
                    "  SET: count = count + 1",
                    "  IF: count < 3",
                    "    THEN: one",
                    "  ELSE:",
                    "    THEN: three",
                ],
                END,
            ),
            two(
                &[call, "ON_SUCCESS:", "  THEN: three", "ON_FAIL:", "  THEN: two"],
                &[
                    "GATHER:",
                    "  - id:",
                    "      TYPE: string",
                    "      PROMPT: \"Which?\"",
                    "THEN: one",
                ],
            ),
            two(
                &[call, "ON_SUCCESS:", "  THEN: three", "ON_FAIL:", "  THEN: COMPLETE"],
                &["THEN: one"],
            ),
        ],
    )
}

fn handoff_circle() -> Vec<Sample> {
    let agents = |all: &[(&str, &str, &str, &str)]| {
        let mut text = String::from(
            "--- project.json\n{\"format_version\": \"2.0\", \"entry_agent\": \"A\"}\n",
        );
        for (name, to, when, pass) in all {
            let _ = write!(
                text,
                "--- agents/{name}.agent.abl\nAGENT: {name}\n\nGOAL: \"Help\"\n\n{}HANDOFF:\n  - TO: {to}\n    WHEN: {when}\n    CONTEXT:\n      pass: [{pass}]\n      summary: \"s\"\n    RETURN: false\n",
                session("n", "number", "")
            );
        }
        text
    };
    let (pay, refund) = ("user.intent == \"pay\"", "user.intent == \"refund\"");
    neighbours(
        "handoff-circle",
        &[
            agents(&[("A", "B", pay, ""), ("B", "A", pay, "")]),
            agents(&[("A", "B", pay, ""), ("B", "A", "user.intent != \"refund\"", "")]),
            agents(&[("A", "B", pay, ""), ("B", "C", pay, ""), ("C", "A", pay, "")]),
            agents(&[("A", "B", pay, ""), ("B", "A", "channel == \"voice\"", "")]),
            agents(&[("A", "B", "n > 3", "n"), ("B", "A", "n < 9", "n")]),
        ],
        &[
            agents(&[("A", "B", pay, ""), ("B", "A", refund, "")]),
            agents(&[("A", "B", pay, ""), ("B", "A", "the user has paid", "")]),
            agents(&[("A", "B", pay, ""), ("B", "C", pay, ""), ("C", "A", refund, "")]),
            // Each has its own `n`.
            agents(&[("A", "B", "n > 3", ""), ("B", "A", "n < 9", "")]),
            agents(&[("A", "B", "n > 9", "n"), ("B", "A", "n < 3", "n")]),
            agents(&[("A", "B", pay, ""), ("B", "C", pay, "")]),
        ],
    )
}
