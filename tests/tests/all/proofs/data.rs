//! Rules about data: what is set, read, removed, handed on and shown.

use super::{Sample, files};

/// A rule, whether it must speak, the file's name, and its text.
type Case = (&'static str, bool, &'static str, String);

/// A flow of two steps behind a head.
fn abl(head: &str, first: &str, second: &str) -> String {
    format!("AGENT: Desk\nGOAL: \"Help\"\n{}", body(head, first, second))
}

/// The same without the name and the goal of the agent.
fn body(head: &str, first: &str, second: &str) -> String {
    let step = |name: &str, body: &str| {
        let body: String = body.lines().map(|l| format!("    {l}\n")).collect();
        format!("  {name}:\n    REASONING: false\n{body}")
    };
    format!(
        "{head}\nFLOW:\n  entry_point: one\n  steps:\n    - one\n    - two\n{}{}",
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

fn cases() -> Vec<Case> {
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

/// A complete project: each agent with its name and what stands below its goal.
fn project(agents: &[(&str, String)]) -> String {
    let first = agents.first().map_or("", |(name, _)| name);
    let mut text = format!(
        "--- project.json\n{{\"format_version\": \"2.0\", \"entry_agent\": \"{first}\"}}\n"
    );
    for (name, rest) in agents {
        text.push_str(&format!(
            "--- agents/{name}.agent.abl\nAGENT: {name}\nGOAL: \"Help\"\n{rest}"
        ));
    }
    text
}

/// What is set and read, and what is not.
fn unread() -> Vec<Case> {
    let rule = "unread-variable";
    let one = |first: &str, second: &str| project(&[("Desk", body("", first, second))]);
    let asks = "GATHER:\n  - seat: required\n";
    let other = "MEMORY:\n  session:\n    - total\n";
    let pair = |pass: &str| {
        let flow =
            body("", "GATHER:\n  - seat: required\nSET: total = 3\nTHEN: two", "HANDOFF: Bank");
        let handoff = format!(
            "HANDOFF:\n  - TO: Bank\n    WHEN: seat IS SET\n    CONTEXT:\n      pass: [{pass}]\n      summary: \"Pays\"\n    RETURN: false\n"
        );
        let bank = body(other, "RESPOND: \"It is {{total}}.\"\nTHEN: two", "THEN: COMPLETE");
        project(&[("Desk", format!("{flow}\n{handoff}")), ("Bank", bank)])
    };
    vec![
        (rule, true, "", one("SET: total = 3\nTHEN: two", "THEN: COMPLETE")),
        (
            rule,
            true,
            "",
            one(
                &format!("{asks}SET: total = seat + 1\nTHEN: two"),
                "RESPOND: \"Seat {{seat}}.\"\nTHEN: COMPLETE",
            ),
        ),
        (
            rule,
            true,
            "",
            one(
                "SET:\n  done = true\n  dome = false\nTHEN: two",
                "WHEN: done == true\nTHEN: COMPLETE",
            ),
        ),
        (
            rule,
            false,
            "",
            one("SET: total = 3\nTHEN: two", "RESPOND: \"It is {{total}}.\"\nTHEN: COMPLETE"),
        ),
        (rule, false, "", one("SET: total = 3\nTHEN: two", "WHEN: total > 2\nTHEN: COMPLETE")),
        (rule, false, "", pair("seat, total")),
        // Who calls an agent that stands alone may read what it sets.
        (rule, false, "a.abl", abl("", "SET: total = 3\nTHEN: two", "THEN: COMPLETE")),
        (
            rule,
            true,
            "a.agent",
            script(
                "sum: mutable number = 0\nrate: mutable number = 1",
                "set @variables.sum = 2\nset @variables.rate = 2",
            ),
        ),
        (
            rule,
            false,
            "a.agent",
            script(
                "sum: mutable number = 0\nrate: mutable number = 1",
                "set @variables.rate = 2\nset @variables.sum = @variables.rate + 1",
            ),
        ),
        (rule, true, "agents.yml", adl("- set:\n    other: Ann\n- bot: \"Hello ${name}\"")),
        (
            rule,
            false,
            "agents.yml",
            adl("- set:\n    other: Ann\n- bot: \"Hello ${other} ${name}\""),
        ),
    ]
}

/// What is taken from another agent, which has it or does not.
fn unreturned() -> Vec<Case> {
    let rule = "unreturned-field";
    let book = "SET: berth_number = 12\nRESPOND: \"Berth {{berth_number}}.\"\nTHEN: COMPLETE";
    let flow = |head: &str, text: &str| body(head, text, "THEN: COMPLETE");
    let handoff = |map: &str, child: String| {
        let desk = format!(
            "MEMORY:\n  session:\n    - berth\nHANDOFF:\n  - TO: Booking\n    WHEN: berth IS NOT SET\n    CONTEXT:\n      pass: []\n      summary: \"s\"\n    RETURN: true\n    ON_RETURN:\n      action: continue\n      map:\n        {map}\n"
        );
        project(&[("Desk", desk), ("Booking", child)])
    };
    let delegate = |returns: &str, child: String| {
        let desk = format!(
            "MEMORY:\n  session:\n    - berth\nDELEGATE:\n  - AGENT: Booking\n    WHEN: berth IS NOT SET\n    PURPOSE: \"Book\"\n    INPUT: {{}}\n    RETURNS: {returns}\n    USE_RESULT: \"Tell it\"\n"
        );
        project(&[("Desk", desk), ("Booking", child)])
    };
    let asks = "GATHER:\n  berth_number:\n    prompt: \"Which?\"\n    type: number\n";
    let finds = "TOOLS:\n  find() -> {berth_number: number}\n    description: \"Finds\"\n";
    vec![
        (rule, true, "", handoff("berth: berth_numer", flow("", book))),
        (rule, true, "", handoff("berth: number", flow("", book))),
        (rule, true, "", delegate("{berth: number}", flow("", book))),
        (rule, true, "", delegate("{berth_number: number, pier: string}", flow("", book))),
        (rule, true, "", delegate("{pier: string}", flow(asks, "RESPOND: \"a\"\nTHEN: COMPLETE"))),
        (rule, false, "", handoff("berth: berth_number", flow("", book))),
        (rule, false, "", delegate("{berth_number: number}", flow("", book))),
        (rule, false, "", delegate("{berth_number: number, pier?: string}", flow("", book))),
        (
            rule,
            false,
            "",
            delegate("{berth_number: number}", flow(asks, "RESPOND: \"a\"\nTHEN: COMPLETE")),
        ),
        (
            rule,
            false,
            "",
            delegate("{berth_number: number}", flow(finds, "CALL: find()\nTHEN: COMPLETE")),
        ),
    ]
}

/// What the next agent needs, and what it is given.
fn lost() -> Vec<Case> {
    let rule = "lost-at-handoff";
    let memory = "MEMORY:\n  session:\n    - boat\n    - length\n";
    let desk = |asks: &str, pass: &str, summary: &str| {
        let flow = body("", &format!("{asks}THEN: two"), "HANDOFF: Booking");
        format!(
            "{flow}\nHANDOFF:\n  - TO: Booking\n    WHEN: length > 0\n    CONTEXT:\n      pass: [{pass}]\n      summary: \"{summary}\"\n    RETURN: false\n"
        )
    };
    let both = "GATHER:\n  - boat: required\n  - length: required\n";
    let says = "RESPOND: \"{{length}} metres for {{boat}}.\"\nTHEN: two";
    let child = |head: &str, first: &str| body(head, first, "THEN: COMPLETE");
    let case = |desk: String, child: String| project(&[("Desk", desk), ("Booking", child)]);
    let bind = |args: &str| {
        format!(
            "main:\n  type: flow agent\n  steps:\n    - call: desk\n\ndesk:\n  type: flow agent\n  description: Asks\n  args:\n    - boat\n  steps:\n    - set:\n        boat: Heron\n    - call: berths\n{args}\nberths:\n  type: flow agent\n  description: Books\n  args:\n    - boat\n  steps:\n    - bot: \"A berth for ${{boat}}.\"\n"
        )
    };
    vec![
        (rule, true, "", case(desk(both, "length", "s"), child(memory, says))),
        (rule, true, "", case(desk(both, "boat", "s"), child(memory, says))),
        (
            rule,
            true,
            "",
            case(
                desk("SET:\n  boat = \"Heron\"\n  length = 4\n", "length", "s"),
                child(memory, says),
            ),
        ),
        (rule, true, "agents.yml", bind("")),
        (rule, false, "", case(desk(both, "length, boat", "s"), child(memory, says))),
        (rule, false, "", case(desk(both, "length", "For {{boat}}"), child(memory, says))),
        // It asks for it itself.
        (
            rule,
            false,
            "",
            case(
                desk(both, "length", "s"),
                child(memory, &format!("GATHER:\n  - boat: required\n{says}")),
            ),
        ),
        // It may not have it.
        (
            rule,
            false,
            "",
            case(
                desk("GATHER:\n  - boat: optional\n  - length: required\n", "length", "s"),
                child(memory, says),
            ),
        ),
        (rule, false, "agents.yml", bind("      args:\n        boat: boat\n")),
    ]
}

/// Values that are listed, and values that are set.
fn listed() -> Vec<Case> {
    let rule = "unlisted-value";
    let boat = |default: &str| {
        format!(
            "GATHER:\n  boat:\n    prompt: \"Which?\"\n    type: enum\n    values: [canoe, kayak]\n{default}"
        )
    };
    let end = "RESPOND: \"The {{boat}}.\"\nTHEN: COMPLETE";
    let set = |value: &str| abl(&boat(""), &format!("SET: boat = {value}\nTHEN: two"), end);
    let branch = |value: &str| {
        let first = format!(
            "RESPOND: \"Which?\"\nON_INPUT:\n  - IF: input == \"any\"\n    SET: boat = {value}\n    THEN: two\n  - ELSE:\n    THEN: two"
        );
        abl(&boat(""), &first, end)
    };
    let default = |value: &str| {
        abl(&boat(&format!("    default: \"{value}\"\n")), "RESPOND: \"a\"\nTHEN: two", end)
    };
    vec![
        (rule, true, "a.abl", set("\"raft\"")),
        (rule, true, "a.abl", set("\"Kayak\"")),
        (rule, true, "a.abl", branch("\"kayack\"")),
        (rule, true, "a.abl", default("raft")),
        (rule, false, "a.abl", set("\"kayak\"")),
        (rule, false, "a.abl", set("\"\"")),
        (rule, false, "a.abl", set("TRIM(input)")),
        (rule, false, "a.abl", branch("\"canoe\"")),
        (rule, false, "a.abl", default("kayak")),
    ]
}

/// A counter that is never counted, in a project that is all there.
fn first_values() -> Vec<Case> {
    let rule = "unreachable-branch";
    let memory = "MEMORY:\n  session:\n    - tries\n        INITIAL: 0\n";
    let asks = |otherwise: &str| {
        let first = format!(
            "RESPOND: \"Which?\"\nON_INPUT:\n  - IF: tries >= 3\n    THEN: COMPLETE\n  - IF: input == \"a\"\n    THEN: two\n  - ELSE:\n{otherwise}"
        );
        body(memory, &first, "RESPOND: \"{{tries}}\"\nTHEN: COMPLETE")
    };
    let counts = "    SET: tries = tries + 1\n    THEN: one";
    let once = "    SET: tries = tries + 1\n    THEN: two";
    let never = "    THEN: one";
    let called = |child: String| {
        let desk = "HANDOFF:\n  - TO: Asks\n    WHEN: user.intent == \"ask\"\n    CONTEXT:\n      pass: []\n      summary: \"s\"\n    RETURN: true\n";
        project(&[("Desk", desk.to_owned()), ("Asks", child)])
    };
    vec![
        (rule, true, "", project(&[("Desk", asks(never))])),
        (rule, false, "", project(&[("Desk", asks(counts))])),
        // It may have counted before it was handed over to again.
        (rule, false, "", called(asks(once))),
        // Others may know more of it.
        (rule, false, "a.abl", format!("AGENT: Desk\nGOAL: \"Help\"\n{}", asks(never))),
    ]
}

/// In Agent Script: a value that the model does not see, in its prompt.
fn hidden(prompt: &str) -> String {
    format!(
        "system:\n    messages:\n        error: \"Again, please.\"\n\nconfig:\n    developer_name: \"Desk\"\n\nvariables:\n    card: mutable string = \"\"\n\nstart_agent desk:\n    description: \"Helps\"\n    actions:\n        find_card:\n            description: \"Finds the card\"\n            inputs:\n                member: string\n            outputs:\n                number: string\n                    filter_from_agent: True\n                    is_displayable: False\n            target: \"flow://Find_Card\"\n    reasoning:\n        instructions: ->\n            {prompt}\n        actions:\n            find_card: @actions.find_card\n                with member=...\n                set @variables.card = @outputs.number\n"
    )
}

pub(super) fn samples() -> Vec<Sample> {
    let sample = |(at, (rule, fires, name, text)): (usize, Case)| Sample {
        rule: rule.to_owned(),
        fires,
        files: files(name, &text),
        at: format!("data, sample {at}"),
    };
    let exposed = "exposed-sensitive-data";
    let known = "if @variables.card != \"\":\n                | The card is known.";
    let mut all = cases();
    let more = [unread(), unreturned(), lost(), listed(), first_values()];
    all.extend(more.into_iter().flatten());
    all.push((exposed, true, "a.agent", hidden("| Pay with {!@variables.card}.")));
    all.push((exposed, false, "a.agent", hidden(known)));
    all.into_iter().enumerate().map(sample).collect()
}
