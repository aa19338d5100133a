//! What the rules about data find and what they leave alone, beyond the examples of their pages: each
//! sample differs from a neighbour in the one thing that decides.

#![allow(clippy::panic, reason = "tests end by panicking")]

use agentir_syntax::abl::Options;
use agentir_tests::check::{File, check};

/// A rule, whether it must speak, the file's name, and its text.
type Sample = (&'static str, bool, &'static str, String);

/// A flow of two steps behind a head.
fn abl(head: &str, first: &str, second: &str) -> String {
    let step = |name: &str, body: &str| {
        let body: String = body.lines().map(|l| format!("    {l}\n")).collect();
        format!("  {name}:\n    REASONING: false\n{body}")
    };
    format!(
        "AGENT: Desk\nGOAL: \"Help\"\n{head}\nFLOW:\n  entry_point: one\n  steps:\n    - one\n    - two\n{}{}",
        step("one", first),
        step("two", second)
    )
}

/// An agent whose procedure runs before the model is asked.
fn script(variables: &str, before: &str) -> String {
    let lines = |text: &str, indent: &str| -> String {
        text.lines().map(|l| format!("{indent}{l}\n")).collect()
    };
    format!(
        "system:\n    messages:\n        error: \"Again, please.\"\n\nconfig:\n    developer_name: \"Desk\"\n\nvariables:\n{}\nstart_agent desk:\n    description: \"Helps\"\n    before_reasoning:\n{}    reasoning:\n        instructions: ->\n            | The sum is {{!@variables.sum}}.\n",
        lines(variables, "    "),
        lines(before, "        ")
    )
}

/// A flow that is called at the beginning.
fn adl(steps: &str) -> String {
    let steps: String = steps.lines().map(|l| format!("    {l}\n")).collect();
    format!(
        "main:\n  type: flow agent\n  steps:\n    - call: desk\n\ndesk:\n  type: flow agent\n  description: Helps\n  args:\n    - name\n    - other\n  steps:\n{steps}"
    )
}

const TOOL: &str =
    "TOOLS:\n  book(seat: string, note?: string) -> {ok: boolean}\n    description: \"Books\"\n";
const BRANCH: &str = "ON_INPUT:\n  - IF: input == \"a\"\n    SET: seat = \"A\"\n    THEN: two\n  - ELSE:\n    THEN: two";
const NUMBERS: &str = "rate: mutable number\nsum: mutable number = 0";
const CARD: &str = "GATHER:\n  card:\n    prompt: \"Card?\"\n    type: string\n    sensitive: true\n    sensitive_display: mask\n";

fn samples() -> Vec<Sample> {
    let unset = "used-before-set";
    let cleared = "used-after-clear";
    let exposed = "exposed-sensitive-data";
    let end = "THEN: COMPLETE";
    let two = |text: &str| format!("{text}\n{end}");
    let abl_two = |head, text: &str| abl(head, BRANCH, &two(text));
    let remote = |pass: &str, more: &str| {
        format!(
            "AGENT: Desk\nGOAL: \"Help\"\n{CARD}HANDOFF:\n  - TO: Bank\n    WHEN: card IS SET\n    REMOTE:\n      location: remote\n      endpoint: \"https://bank.invalid\"\n    CONTEXT:\n      pass: [{pass}]\n      summary: \"Pays\"\n{more}    RETURN: false\n"
        )
    };
    vec![
        // Harm by place.
        (unset, true, "a.abl", abl_two(TOOL, "CALL: book(seat)")),
        (unset, false, "a.abl", abl_two(TOOL, "CALL: book(\"B\", seat)")),
        (unset, true, "a.abl", abl_two("", "RESPOND: \"Seat {{seat}}.\"")),
        (unset, false, "a.abl", abl_two("", "RESPOND: \"{{#if seat}}Seat {{seat}}.{{/if}}\"")),
        (
            unset,
            true,
            "a.abl",
            abl_two("", "RESPOND: \"{{#unless seat}}Seat {{seat}}.{{/unless}}\""),
        ),
        (unset, true, "a.abl", abl_two("", "SET: row = seat + 1\nRESPOND: \"{{row}}\"")),
        (
            unset,
            false,
            "a.abl",
            abl_two("", "SET: row = COALESCE(seat, 0) + 1\nRESPOND: \"{{row}}\""),
        ),
        (unset, false, "a.abl", abl_two("", "WHEN: seat IS SET\nRESPOND: \"Seat {{seat}}.\"")),
        (unset, false, "a.abl", abl_two("", "CHECK: seat == \"A\"\nON_FAIL: one")),
        // What else may set it.
        (
            unset,
            false,
            "a.abl",
            abl_two(
                "MEMORY:\n  session:\n    - seat\n        INITIAL: 3\n",
                "RESPOND: \"Seat {{seat}}.\"",
            ),
        ),
        (
            unset,
            false,
            "a.abl",
            abl_two(
                "GATHER:\n  seat:\n    prompt: \"Which seat?\"\n    type: string\n",
                "RESPOND: \"Seat {{seat}}.\"",
            ),
        ),
        // A flag that is set together with it.
        (
            unset,
            false,
            "a.abl",
            abl(
                "",
                "ON_INPUT:\n  - IF: input == \"a\"\n    SET:\n      seat = \"A\"\n      has_seat = true\n    THEN: two\n  - ELSE:\n    SET: has_seat = false\n    THEN: two",
                "WHEN: has_seat == true\nRESPOND: \"Seat {{seat}}.\"\nTHEN: COMPLETE",
            ),
        ),
        (
            unset,
            true,
            "a.abl",
            abl(
                "",
                "ON_INPUT:\n  - IF: input == \"a\"\n    SET:\n      seat = \"A\"\n      has_seat = true\n    THEN: two\n  - ELSE:\n    SET: has_seat = false\n    THEN: two",
                "WHEN: has_seat == false\nRESPOND: \"Seat {{seat}}.\"\nTHEN: COMPLETE",
            ),
        ),
        (
            unset,
            true,
            "a.agent",
            script(NUMBERS, "set @variables.sum = @variables.rate + 1\nset @variables.rate = 2"),
        ),
        (
            unset,
            false,
            "a.agent",
            script(NUMBERS, "set @variables.rate = 2\nset @variables.sum = @variables.rate + 1"),
        ),
        (
            unset,
            false,
            "a.agent",
            script(
                NUMBERS,
                "if @variables.rate is not None and @variables.rate > 1:\n    set @variables.sum = 1\nset @variables.rate = 2",
            ),
        ),
        (
            unset,
            true,
            "a.agent",
            script(
                NUMBERS,
                "if @variables.rate > 1:\n    set @variables.sum = 1\nset @variables.rate = 2",
            ),
        ),
        (unset, true, "agents.yml", adl("- bot: \"Hello ${name}\"\n- user\n- bot: \"${other}\"")),
        (unset, false, "agents.yml", adl("- user\n- bot: \"Hello ${name} ${other}\"")),
        // Removed, and used again.
        (
            cleared,
            true,
            "a.abl",
            abl(
                "GATHER:\n  seat:\n    prompt: \"Which seat?\"\n    type: string\n",
                "CLEAR: seat\nTHEN: two",
                "RESPOND: \"Seat {{seat}}.\"\nTHEN: COMPLETE",
            ),
        ),
        (
            cleared,
            false,
            "a.abl",
            abl(
                "",
                "CLEAR: seat\nGATHER:\n  - seat: required\nTHEN: two",
                "RESPOND: \"Seat {{seat}}.\"\nTHEN: COMPLETE",
            ),
        ),
        (
            cleared,
            false,
            "a.abl",
            abl(
                "GATHER:\n  seat:\n    prompt: \"Which seat?\"\n    type: string\n",
                "CLEAR: seat\nTHEN: two",
                "WHEN: seat IS SET\nRESPOND: \"Seat {{seat}}.\"\nTHEN: COMPLETE",
            ),
        ),
        (
            cleared,
            true,
            "a.agent",
            script(
                "sum: mutable number = 0\nrate: mutable number = 1",
                "set @variables.rate = None\nset @variables.sum = @variables.rate + 1",
            ),
        ),
        (
            cleared,
            false,
            "a.agent",
            script(
                "sum: mutable number = 0\nrate: mutable number = 1",
                "set @variables.rate = None\nset @variables.rate = 4\nset @variables.sum = @variables.rate + 1",
            ),
        ),
        (
            cleared,
            true,
            "agents.yml",
            adl("- set:\n    name: Ann\n- set:\n    name: null\n- bot: \"Hello ${name}\""),
        ),
        (
            cleared,
            false,
            "agents.yml",
            adl("- set:\n    name: null\n- set:\n    name: Ann\n- bot: \"Hello ${name}\""),
        ),
        // Sensitive data.
        (exposed, true, "a.abl", remote("card", "")),
        (exposed, false, "a.abl", remote("tier", "")),
        (
            exposed,
            true,
            "a.abl",
            abl(CARD, "SET: copy = card\nTHEN: two", "RESPOND: \"Card {{copy}}.\"\nTHEN: COMPLETE"),
        ),
        (
            exposed,
            false,
            "a.abl",
            abl(
                CARD,
                "SET: copy = LENGTH(card)\nTHEN: two",
                "RESPOND: \"Card {{copy}}.\"\nTHEN: COMPLETE",
            ),
        ),
        (
            exposed,
            false,
            "a.abl",
            abl(
                CARD,
                "SET: copy = card == \"1\"\nTHEN: two",
                "RESPOND: \"Card {{copy}}.\"\nTHEN: COMPLETE",
            ),
        ),
        (
            exposed,
            true,
            "a.abl",
            abl(
                CARD,
                "SET: copy = {number: card}\nTHEN: two",
                "RESPOND: \"Card {{copy.number}}.\"\nTHEN: COMPLETE",
            ),
        ),
    ]
}

#[test]
fn the_rules_about_data_tell_neighbours_apart() {
    let mut problems = Vec::new();
    for (rule, fires, name, text) in samples() {
        let file = File { name: name.to_owned(), text: text.clone() };
        let checked = check(&[file], Options::default());
        let given = checked.diagnostics.iter().any(|d| d.rule.0 == rule);
        if given != fires {
            let all = checked.lines().join("\n    ");
            let verb = if fires { "does not find" } else { "finds" };
            problems.push(format!("{rule} {verb} it in\n{text}\n  all findings:\n    {all}"));
        }
    }
    assert!(problems.is_empty(), "{} of the samples:\n{}", problems.len(), problems.join("\n\n"));
}
