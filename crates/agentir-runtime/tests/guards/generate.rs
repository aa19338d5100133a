//! Random programs with guards of all kinds. Texts that a guard may make an agent say begin with `notice:`.

use super::random::Random;
use std::fmt::Write as _;

/// The files of a program; the first agent of the first one is the entry.
pub fn program(random: &mut Random) -> Vec<(String, String)> {
    match random.below(20) {
        0..=2 => vec![("desk.agent".to_owned(), agent_script(random))],
        3 => vec![("agents.yml".to_owned(), adl(random))],
        kind => {
            let text = abl(random, kind < 12);
            let parts = text.split("\n---\n").filter(|part| !part.trim().is_empty());
            let names = ["desk.agent.abl", "review.agent.abl", "back.agent.abl"];
            names.iter().map(|n| (*n).to_owned()).zip(parts.map(str::to_owned)).collect()
        }
    }
}

/// Conditions over the variables of the programs: some read what is never set, some cannot be evaluated.
const CONDITIONS: &[&str] = &[
    "ok == true",
    "ok",
    "NOT blocked",
    "n > 1",
    "n >= 1 AND ok == true",
    "n < 3 OR ok == true",
    "word IS SET",
    "word == \"go\"",
    "word != \"stop\"",
    "n != 0",
    "ok == true IMPLIES n > 0",
    "probe.ok == true",
    "last_probe_result.ok == true",
    "checked.ok",
    "missing == true",
    "missing > 1",
    "missing < 1",
    "missing != null",
    "missing.part == 2",
    "risk < 3",
    "session.risk < 3",
    "Back.risk < 3",
    "tool_failures < 1",
    "user.limit < 3",
    "input != \"stop\"",
    "NOT (input contains \"eve\")",
    "LENGTH(word) > 2",
    "word contains \"o\"",
    "n >",
    "ok == ",
    "FOO(n) == 1",
    "abl.matches_pattern(word, '(')",
    "UPPER(word, 1, 2, 3, 4) == \"GO\"",
    "n / 0 == 1",
    "n % 0 < 5",
];

/// Conditions of every turn over what a turn brings: the message, what other agents return and remember, counts.
const TURN_CONDITIONS: &[&str] = &[
    "risk < 3",
    "session.risk < 3",
    "Back.risk < 3",
    "user.limit < 3",
    "tool_failures < 1",
    "input != \"stop\"",
    "NOT (input contains \"eve\")",
];

/// What follows a failed constraint; `{}` is the indentation.
const ON_FAIL: &[&str] = &[
    "",
    "ON_FAIL: \"notice: no.\"",
    "ON_FAIL: BLOCK",
    "ON_FAIL: ESCALATE",
    "ON_FAIL: HANDOFF Review",
    "ON_FAIL:\n{}  RESPOND: \"notice: no.\"",
    "ON_FAIL:\n{}  RESPOND: \"notice: no.\"\n{}  COLLECT: [ok]",
    "ON_FAIL:\n{}  COLLECT: [ok, n]",
    "ON_FAIL:\n{}  RESPOND: \"notice: no.\"\n{}  COLLECT: [word]\n{}  GOTO: first",
    "ON_FAIL:\n{}  COLLECT: [nothing]",
    "ON_FAIL:\n{}  RETRY: true",
    "ON_FAIL:\n{}  RESPOND: \"notice: again.\"\n{}  RETRY: true",
    "ON_FAIL:\n{}  RESPOND: \"notice: again.\"\n{}  THEN: retry",
    "ON_FAIL:\n{}  THEN: retry",
    "ON_FAIL:\n{}  GOTO: first",
    "ON_FAIL:\n{}  RESPOND: \"notice: back.\"\n{}  GOTO: second",
    "ON_FAIL:\n{}  RESPOND: \"notice: bye.\"\n{}  THEN: COMPLETE",
    "ON_FAIL:\n{}  RESPOND: \"notice: well.\"\n{}  THEN: continue",
    "ON_FAIL:\n{}  THEN: continue",
    "ON_FAIL:\n{}  RESPOND: \"notice: over.\"\n{}  ESCALATE: true",
    "ON_FAIL:\n{}  RESPOND: \"notice: over.\"\n{}  HANDOFF: Review",
    "ON_FAIL:\n{}  RESPOND: \"notice: no.\"\n{}  BLOCK: true",
];

fn constraints(random: &mut Random) -> String {
    let mut text = String::from("\nCONSTRAINTS:\n  rules:\n");
    for at in 0..1 + random.below(4) {
        let kind = match random.below(10) {
            0 | 1 => "RESTRICT",
            2 => "LIMIT",
            3 => "WARN",
            _ => "REQUIRE",
        };
        let checkpoint = match random.below(10) {
            0..=3 => " BEFORE calling act",
            4 | 5 => " BEFORE returning results",
            6 => " BEFORE calling probe",
            // What names no point, and what nobody declares.
            7 if random.chance(50) => " BEFORE anything",
            7 => " BEFORE calling actt",
            _ if at == 0 => " BEFORE calling act",
            _ => "",
        };
        let _ = writeln!(text, "    - {kind} {}{checkpoint}", random.pick(CONDITIONS));
        if random.chance(20) {
            let _ = writeln!(text, "      WHEN: {}", random.pick(CONDITIONS));
        }
        let on_fail = random.pick(ON_FAIL).replace("{}", "      ");
        if !on_fail.is_empty() {
            let _ = writeln!(text, "      {on_fail}");
        }
    }
    text
}

/// Rules of every turn, and a call that waits for a value.
fn turn_rules(random: &mut Random) -> String {
    let mut text = String::from("\nCONSTRAINTS:\n  rules:\n");
    for _ in 0..1 + random.below(2) {
        let condition = random.pick(TURN_CONDITIONS);
        let _ = writeln!(text, "    - REQUIRE {condition}\n      ON_FAIL: \"notice: no.\"");
    }
    if random.chance(70) {
        let when = random.pick(&[" BEFORE calling act", " BEFORE calling act", ""]);
        let condition = random.pick(&["ok == true", "word IS SET", "n > 0"]);
        let field = condition.split(' ').next().unwrap_or_default();
        let _ = writeln!(
            text,
            "    - REQUIRE {condition}{when}\n      ON_FAIL:\n        COLLECT: [{field}]"
        );
    }
    text
}

/// A flow that acts for each message.
fn flow_that_acts(random: &mut Random) -> String {
    let mut text = String::from("\nFLOW:\n");
    if random.chance(30) {
        text.push_str("  global_digressions:\n    - INTENT: \"why\"\n      KEYWORDS: [help]\n      CALL: act(1, \"fine\")\n      RESUME: true\n");
    }
    let before = random.pick(&[
        "",
        "",
        "    CALL: probe()\n",
        "    DELEGATE: Back\n",
        "    SET: session.risk = n\n",
    ]);
    let _ = write!(
        text,
        "  first -> second -> third\n\n  first:\n    REASONING: false\n    RESPOND: \"step first\"\n    ON_INPUT:\n      - ELSE:\n        THEN: second\n\n  second:\n    REASONING: false\n{before}    THEN: third\n\n  third:\n    REASONING: false\n    CALL: {}\n    THEN: first\n",
        call_of_act(random)
    );
    text
}

fn guardrails(random: &mut Random) -> String {
    const TOOL: &[&str] = &[
        "abl.matches_pattern(tool_input, 'seven')",
        "abl.word_count(tool_input) > 2",
        "abl.matches_pattern(tool_input, 'seven'",
        "foo(tool_input)",
        "abl.matches_pattern(tool_input, '(')",
        "ok == true",
    ];
    const SAID: &[&str] = &[
        "abl.matches_pattern(output, 'secret')",
        "abl.matches_pattern(content, 'secret|fine')",
        "abl.matches_pattern(output, 'secret'",
        "abl.word_count(output) > 4",
        "foo(output)",
        "n > 2",
    ];
    let mut text = String::from("\nGUARDRAILS:\n");
    for at in 0..1 + random.below(2) {
        let (kind, check) = match random.below(5) {
            0..=2 => ("tool_input", random.pick(TOOL)),
            _ => ("output", random.pick(SAID)),
        };
        let action = random
            .pick(&["block", "block", "redact", "filter", "escalate", "reask", "warn", "fix"]);
        let _ = writeln!(text, "  rail{at}:\n    kind: {kind}\n    check: \"{check}\"");
        let _ = writeln!(text, "    action: {action}\n    msg: \"notice: rail.\"");
    }
    text
}

/// A statement of a flow; `pad` is its indentation.
fn statement(random: &mut Random, pad: &str) -> String {
    let act = call_of_act(random);
    match random.below(14) {
        0 => format!("{pad}SET: ok = true\n"),
        1 => format!("{pad}SET: ok = false\n"),
        2 => format!("{pad}SET: n = n + 1\n"),
        3 => format!("{pad}SET: word = input\n"),
        4 => format!("{pad}SET: blocked = true\n"),
        5 => format!("{pad}CLEAR: ok, word\n"),
        6 => format!("{pad}RESPOND: \"word is {{{{word}}}}\"\n"),
        7 => format!("{pad}RESPOND: \"the secret is out\"\n"),
        8 => format!("{pad}CALL: probe()\n{pad}  AS: checked\n"),
        9 => format!("{pad}CALL: {act}\n{pad}ON_FAIL:\n{pad}  RESPOND: \"that failed\"\n"),
        _ => format!("{pad}CALL: {act}\n"),
    }
}

fn call_of_act(random: &mut Random) -> &'static str {
    random.pick(&[
        "act(1, \"fine\")",
        "act(n, word)",
        "act(7, \"seven\")",
        "act(2, \"one two three\")",
    ])
}

fn branch(random: &mut Random, pad: &str) -> String {
    let then = random.pick(&["first", "second", "third", "COMPLETE", "first"]);
    let act = call_of_act(random);
    let inner = format!("{pad}  ");
    let body = match random.below(5) {
        0 => format!("{inner}SET: ok = true\n"),
        1 => format!("{inner}CALL: {act}\n"),
        2 => format!("{inner}RESPOND: \"fine\"\n"),
        3 => format!("{inner}SET: n = n + 1\n{inner}CALL: {act}\n"),
        _ => String::new(),
    };
    format!("{body}{inner}THEN: {then}\n")
}

fn flow(random: &mut Random) -> String {
    let mut text = String::from("\nFLOW:\n");
    if random.chance(40) {
        let act = call_of_act(random);
        let resume = random.pick(&["true", "false"]);
        let body = random.pick(&["RESPOND: \"fine\"", "SET: risk = 5", "CALL: act"]);
        let body = if body == "CALL: act" { format!("CALL: {act}") } else { body.to_owned() };
        let _ = write!(
            text,
            "  global_digressions:\n    - INTENT: \"why\"\n      KEYWORDS: [seven]\n      {body}\n      RESUME: {resume}\n"
        );
    }
    text.push_str("  first -> second -> third\n");
    for step in ["first", "second", "third"] {
        let _ = write!(text, "\n  {step}:\n");
        if random.chance(20) {
            let tools = random.pick(&["[act, probe]", "[act]", "[probe]"]);
            let _ = write!(text, "    REASONING: true\n    GOAL: \"Talk\"\n    MAX_TURNS: 3\n");
            if random.chance(60) {
                let _ = writeln!(text, "    AVAILABLE_TOOLS: {tools}");
            }
            if random.chance(50) {
                text.push_str("    EXIT_WHEN: n > 2\n");
            }
            if random.chance(30) {
                let condition = random.pick(CONDITIONS);
                let _ = write!(text, "    STEP_CONSTRAINTS:\n      - REQUIRE {condition}\n");
            }
        } else {
            text.push_str("    REASONING: false\n");
        }
        if random.chance(40) {
            let _ = writeln!(text, "    RESPOND: \"step {step}\"");
        }
        if random.chance(35) {
            let field = random.pick(&["ok", "n", "word"]);
            let _ = write!(text, "    GATHER:\n      - {field}: required\n");
        }
        for _ in 0..random.below(3) {
            text.push_str(&statement(random, "    "));
        }
        if random.chance(15) {
            let how = random.pick(&["HANDOFF: Review", "DELEGATE: Back"]);
            let _ = writeln!(text, "    {how}");
        }
        if random.chance(50) {
            let _ = write!(text, "    ON_INPUT:\n      - IF: input == \"go\"\n");
            text.push_str(&branch(random, "      "));
            text.push_str("      - ELSE:\n");
            text.push_str(&branch(random, "      "));
        }
        if random.chance(25) {
            let act = call_of_act(random);
            let resume = random.pick(&["true", "false"]);
            let _ = write!(
                text,
                "    DIGRESSIONS:\n      - INTENT: help\n        KEYWORDS: [help]\n        CALL: {act}\n        RESUME: {resume}\n"
            );
        }
        if random.chance(20) {
            let act = call_of_act(random);
            let _ = write!(
                text,
                "    ON_ACTION:\n      - ACTION: press\n        DO:\n          - CALL: {act}\n"
            );
        }
        if random.chance(20) {
            let then = random.pick(&["CONTINUE", "ESCALATE", "COMPLETE", "RETRY_STEP"]);
            let respond = random.pick(&["", "\n        RESPOND: \"notice: an error.\""]);
            let _ = write!(
                text,
                "    ON_ERROR:\n      - TYPE: tool_error{respond}\n        RETRY: 2\n        THEN: {then}\n"
            );
        }
    }
    text
}

fn abl(random: &mut Random, flows: bool) -> String {
    let mut text = String::from("AGENT: Desk\n\nGOAL: \"Act\"\n");
    text.push_str(
        "\nTOOLS:\n  act(amount: number, note: string) -> {done: boolean}\n    description: \"Acts\"\n",
    );
    if random.chance(20) {
        text.push_str("    confirm: always\n");
    }
    text.push_str("  probe() -> {ok: boolean}\n    description: \"Probes\"\n");
    text.push_str(
        "\nGATHER:\n  ok:\n    prompt: \"notice: ok?\"\n    type: boolean\n    required: false\n",
    );
    text.push_str("  n:\n    prompt: \"notice: n?\"\n    type: number\n    required: false\n");
    text.push_str(
        "  word:\n    prompt: \"notice: word?\"\n    type: string\n    required: false\n",
    );
    text.push_str(
        "\nMEMORY:\n  session:\n    - blocked\n    - missing\n    - checked\n    - risk\n        INITIAL: 1\n",
    );
    let acts = flows && random.chance(30);
    if acts {
        text.push_str(&turn_rules(random));
    } else {
        text.push_str(&constraints(random));
        if random.chance(60) {
            text.push_str(&guardrails(random));
        }
    }
    if random.chance(15) {
        let act = call_of_act(random);
        let hook = random.pick(&["before_turn", "after_turn", "before_agent", "after_agent"]);
        let _ = write!(text, "\nHOOKS:\n  {hook}:\n    CALL: {act}\n");
    }
    if random.chance(15) {
        let act = call_of_act(random);
        let _ = write!(text, "\nON_START:\n  CALL: {act}\n  RESPOND: \"hello secret\"\n");
    }
    if random.chance(20) {
        let then = random.pick(&["CONTINUE", "ESCALATE", "COMPLETE", "HANDOFF"]);
        let respond = random.pick(&["", "\n    RESPOND: \"notice: an error.\""]);
        let target = if then == "HANDOFF" { "\n    HANDOFF_TARGET: Review" } else { "" };
        let _ = write!(
            text,
            "\nON_ERROR:\n  tool_error:{respond}\n    RETRY: 2\n    THEN: {then}{target}\n"
        );
    }
    let coordinates = random.below(6);
    if coordinates == 0 || coordinates == 1 {
        let when = random.pick(&["input == \"review\"", "n > 2"]);
        let returns = random.pick(&["true", "false"]);
        let _ = write!(
            text,
            "\nHANDOFF:\n  - TO: Review\n    WHEN: {when}\n    CONTEXT:\n      pass: [ok, n]\n      summary: \"x\"\n    RETURN: {returns}\n"
        );
    }
    if coordinates == 1 || coordinates == 2 {
        let when = random.pick(&["input == \"back\"", "input == \"back\"", "input == \"go\""]);
        let returns = random.pick(&["{ok: ok}", "{risk: risk}", "{ok: ok, risk: session.risk}"]);
        let on_fail = random.pick(&[
            "",
            "    ON_FAIL: continue\n",
            "    ON_FAIL: respond\n    FAILURE_MESSAGE: \"notice: that failed.\"\n",
            "    ON_FAIL:\n      type: retry\n      count: 2\n    FAILURE_MESSAGE: \"notice: that failed.\"\n",
        ]);
        let _ = write!(
            text,
            "\nDELEGATE:\n  - AGENT: Back\n    WHEN: {when}\n    PURPOSE: \"look\"\n    INPUT: {{n: n}}\n    RETURNS: {returns}\n{on_fail}"
        );
    }
    if random.chance(25) {
        text.push_str("\nCOMPLETE:\n  - WHEN: n > 3\n    RESPOND: \"done, secret\"\n");
    }
    match flows {
        true if acts => text.push_str(&flow_that_acts(random)),
        true => text.push_str(&flow(random)),
        false => {}
    }
    text.push_str("\n---\n");
    for name in ["Review", "Back"] {
        let _ = write!(text, "AGENT: {name}\n\nGOAL: \"Help\"\n");
        text.push_str(
            "\nTOOLS:\n  act(amount: number, note: string) -> {done: boolean}\n    description: \"Acts\"\n  probe() -> {ok: boolean}\n    description: \"Probes\"\n",
        );
        text.push_str("\nMEMORY:\n  session:\n    - blocked\n    - missing\n    - checked\n    - ok\n    - n\n    - word\n    - risk\n        INITIAL: 1\n");
        if name == "Back" && random.chance(40) {
            text.push_str(
                "  remember:\n    - WHEN: risk IS SET\n      STORE: risk -> user.limit\n",
            );
        }
        if random.chance(60) {
            text.push_str(&constraints(random));
        }
        if name == "Back" {
            let act = call_of_act(random);
            let call = if random.chance(60) { format!("    CALL: {act}\n") } else { String::new() };
            let risk = random.pick(&["1", "5", "5", "n"]);
            // One that asks may be left, or never get a value.
            let asks = if random.chance(30) {
                "    GATHER:\n      - word: required\n        prompt: \"notice: word?\"\n        validate:\n          type: pattern\n          rule: \"[gs].*\"\n          max_retries: 1\n"
            } else {
                ""
            };
            let _ = write!(
                text,
                "\nFLOW:\n  first -> second\n\n  first:\n    REASONING: false\n{asks}    SET: ok = true\n    SET: risk = {risk}\n{call}\n  second:\n    REASONING: false\n    RESPOND: \"back is fine\"\n    THEN: COMPLETE\n"
            );
        }
        text.push_str("\n---\n");
    }
    text
}

fn agent_script(random: &mut Random) -> String {
    const GUARDS: &[&str] = &[
        "@variables.ok == True",
        "@variables.ok",
        "@variables.n > 1",
        "@variables.ok and @variables.n > 0",
        "not @variables.blocked",
        "@variables.word == \"go\"",
        "@variables.unset is not None",
        "@variables.unset > 1",
        "@variables.n >",
        "@variables.word > 2",
        "@variables.list[3] == 1",
    ];
    let mut text = String::from(
        "system:\n    instructions: \"Act.\"\n    messages:\n        welcome: \"notice: hello\"\n        error: \"notice: an error.\"\n\nconfig:\n    developer_name: \"Desk\"\n\naccess:\n    default_agent_user: \"a@b.example\"\n\nvariables:\n    ok: mutable boolean = False\n    n: mutable number = 0\n    blocked: mutable boolean = False\n    word: mutable string = \"\"\n    unset: mutable number\n    list: mutable list[number] = []\n\n",
    );
    let confirm =
        if random.chance(40) { "            require_user_confirmation: True\n" } else { "" };
    for (at, name) in ["start_agent main", "subagent other"].into_iter().enumerate() {
        let (guard, other) = (random.pick(GUARDS), random.pick(GUARDS));
        let act = random
            .pick(&["                with note=...\n", "                with note=\"seven\"\n"]);
        let _ = write!(
            text,
            "{name}:\n    description: \"Acts\"\n    actions:\n        Act:\n            description: \"Acts\"\n            inputs:\n                note: string\n            outputs:\n                done: boolean\n            target: \"flow://Act\"\n{confirm}        Probe:\n            description: \"Probes\"\n            outputs:\n                ok: boolean\n            target: \"flow://Probe\"\n"
        );
        if random.chance(50) {
            text.push_str("    before_reasoning:\n        set @variables.n = @variables.n + 1\n");
        }
        let _ = write!(
            text,
            "    reasoning:\n        instructions: ->\n            | Help with {{!@variables.word}}.\n        actions:\n            act: @actions.Act\n                description: \"Acts\"\n                available when {guard}\n{act}"
        );
        if random.chance(50) {
            let set = random.pick(&["@variables.ok = @outputs.done", "@variables.ok = False"]);
            let _ = writeln!(text, "                set {set}");
        }
        let _ = write!(
            text,
            "            probe: @actions.Probe\n                description: \"Probes\"\n                available when {other}\n                set @variables.ok = @outputs.ok\n"
        );
        text.push_str("            note: @utils.setVariables\n                description: \"Notes\"\n                with ok=...\n                with word=...\n");
        let to = if at == 0 { "other" } else { "main" };
        let _ = write!(
            text,
            "            go: @utils.transition to @subagent.{to}\n                description: \"Goes\"\n                available when {}\n\n",
            random.pick(GUARDS)
        );
    }
    text
}

fn adl(random: &mut Random) -> String {
    const GUARDS: &[&str] =
        &["ok == \"yes\"", "ok", "word == \"go\"", "missing == \"1\"", "missing != \"1\""];
    let mut text = String::from(
        "main:\n  type: flow agent\n  args:\n    - ok\n    - word\n    - missing\n  steps:\n",
    );
    for _ in 0..2 + random.below(3) {
        match random.below(4) {
            0 => text.push_str("    - user\n"),
            1 => text.push_str("    - bot: \"What next?\"\n    - user\n"),
            2 => {
                let value = random.pick(&["\"yes\"", "\"no\"", "None"]);
                let _ = write!(text, "    - set:\n        ok: {value}\n");
            }
            _ => {
                let guard = random.pick(GUARDS);
                let _ = write!(
                    text,
                    "    - if: {guard}\n      then:\n        - call: act\n      else:\n        - bot: \"no\"\n"
                );
            }
        }
    }
    let guard = random.pick(GUARDS);
    let _ = write!(text, "    - if: {guard}\n      then:\n        - call: act\n");
    text
}
