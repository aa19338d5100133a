//! What is offered and what is not, place by place. The cases follow the specifications.

use super::{Files, ask, edited};

/// An edit of a text with the caret in it, what is offered there, and what is not.
type Case<'c> = (&'c str, &'c str, &'c [&'c str], &'c [&'c str]);

fn check(files: Files<'_>, cases: &[Case<'_>]) {
    let mut wrong = Vec::new();
    for (part, by, offered, others) in cases {
        let (context, expected, _) = ask(files, &edited(files, part, by));
        let is_listed = |name: &&&str| expected.iter().any(|one| one.label == **name);
        let missing: Vec<_> = offered.iter().filter(|name| !is_listed(name)).collect();
        let surplus: Vec<_> = others.iter().filter(is_listed).collect();
        if !missing.is_empty() || !surplus.is_empty() {
            let all: Vec<&str> = expected.iter().map(|one| one.label.as_str()).collect();
            let shapes = context.map(|context| context.shapes);
            wrong.push(format!(
                "{by:?}: missing {missing:?}, surplus {surplus:?}, {shapes:?}, all {all:?}"
            ));
        }
    }
    assert!(wrong.is_empty(), "{} of {}\n{}", wrong.len(), cases.len(), wrong.join("\n"));
}

const AGENT: &str = r#"AGENT: Stable_Desk
VERSION: "1.0"
GOAL: "Book rides for {{rider}}"

MEMORY:
  session:
    - name: rider
      type: string
    - name: ready
      type: boolean
    - name: booking
      type: "{horse: {name: string, age: number}, rides: {day: string, paid: boolean}[]}"
  persistent:
    - PATH: user.level
  recall:
    - ON: session:start
      ACTION: load_memory

TOOLS:
  find_horse(size: string, level: string, day?: string) -> {horse: {name: string, stable: string}, slots: {hour: number, free: boolean}[]}
    description: "Find a horse"

GATHER:
  day:
    prompt: "Which day?"
    type: date
    required: true

CONSTRAINTS:
  always:
    - REQUIRE ready == true
      ON_FAIL: "Not ready, {rider}"

FLOW:
  steps:
    - ask
    - find
    - done

  ask:
    GATHER:
      - day
    THEN: find

  find:
    CALL: find_horse(size: "big", level: user.level)
    ON_SUCCESS:
      SET: ready = result.slots
      SET: found = find_horse.horse
      RESPOND: "Here is {{find_horse.horse.name}}"
      THEN: done
    ON_FAIL:
      THEN: ask

  done:
    IF: ready == true AND rider IS SET
    THEN: COMPLETE

DELEGATE:
  - AGENT: Price_Desk
    WHEN: ready
    INPUT: {rides: day}
    RETURNS: {price: number}

HANDOFF:
  - TO: Price_Desk
    WHEN: day IS SET
    ON_RETURN:
      MAP:
        price: rider
"#;

const PRICE: &str = r#"AGENT: Price_Desk
GOAL: "Say prices"
GATHER:
  rides:
    prompt: "How many?"
    type: number
MEMORY:
  session:
    - name: price
      type: number
"#;

const NATIVE: Files<'_> = Files {
    name: "stable/agents/stable_desk.agent.abl",
    text: AGENT,
    others: &[
        ("stable/agents/price_desk.agent.abl", PRICE),
        ("stable/project.json", "{\"entry_agent\": \"Stable_Desk\"}"),
    ],
};

/// §3.8.2: operands and operators of conditions.
#[test]
fn expressions_of_abl() {
    const BINARY: &[&str] = &["AND", "OR", "==", "!=", "<", ">=", "IS SET", "IS NOT SET", "IN"];
    let when = "WHEN: day IS SET";
    check(
        NATIVE,
        &[
            (when, "WHEN: <|>", &["true", "false", "null", "NOT", "rider", "UPPER"], BINARY),
            (when, "WHEN: NOT <|>", &["true", "NOT", "rider"], &["AND", "=="]),
            (when, "WHEN: day <|>", BINARY, &["true", "rider", "UPPER", "NOT"]),
            (when, "WHEN: day IS SET <|>", &["AND", "OR", "IMPLIES"], &["==", "IS SET", "rider"]),
            (when, "WHEN: day IS <|>", &["SET", "NOT SET"], &["true", "rider", "AND"]),
            (when, "WHEN: day IS NOT <|>", &["SET"], &["true", "rider"]),
            (when, "WHEN: day NOT <|>", &["IN"], &["AND"]),
            (when, "WHEN: day == <|>", &["true", "null", "rider", "NOW"], &["AND", "==", "NOT"]),
            (when, "WHEN: day == \"x\" A<|>", &["AND", "OR", "IMPLIES"], &["==", "rider"]),
            (when, "WHEN: day == \"<|>\"", &[], &["true", "rider", "AND"]),
            (when, "WHEN: (day == null OR <|>", &["rider", "NOT", "true"], &["AND"]),
            (when, "WHEN: (day == null) <|>", &["AND", "OR"], &["true", "rider"]),
            (when, "WHEN: UPPER(rider) <|>", &["==", "contains", "matches"], &["rider"]),
            (when, "WHEN: UPPER(<|>", &["rider", "null"], &["=="]),
            (when, "WHEN: day IN [<|>", &["rider", "true"], &["=="]),
            (when, "WHEN: rider cont<|>", &["contains", "startsWith", "endsWith"], &["rider"]),
            (when, "WHEN: ready ? <|>", &["true", "rider"], &[":"]),
            (when, "WHEN: ready ? 1 <|>", &[":"], &["rider"]),
            ("REQUIRE ready == true", "<|>", &["REQUIRE", "WARN", "LIMIT", "RESTRICT"], &[]),
            ("REQUIRE ready == true", "REQUIRE ready <|>", &["==", "IMPLIES", "AND"], &["true"]),
            (
                "REQUIRE ready == true",
                "REQUIRE ready <|>",
                &["BEFORE calling", "BEFORE returning results"],
                &["rider"],
            ),
            (
                "REQUIRE ready == true",
                "REQUIRE ready BEFORE calling <|>",
                &["find_horse"],
                &["rider"],
            ),
            ("SET: ready = result.slots", "SET: ready <|>", &["="], &["rider", "true"]),
            ("SET: ready = result.slots", "SET: ready = <|>", &["true", "null", "rider"], &["="]),
            ("SET: ready = result.slots", "SET: ready = 1 <|>", &["+", "-", "*", "/"], &["rider"]),
            ("{{rider}}", "{{rider <|>}}", &["==", "|"], &["true"]),
            (
                "IF: ready == true AND rider IS SET",
                "IF: \"ready == true <|>\"",
                &["AND", "OR"],
                &["rider"],
            ),
        ],
    );
}

/// §3.4, §3.7: what results and variables consist of.
#[test]
fn members_of_abl() {
    let set = "SET: ready = result.slots";
    let horse = &["name", "stable"];
    check(
        NATIVE,
        &[
            (set, "SET: ready = find_horse.<|>", &["horse", "slots"], &["rider", "true", "AND"]),
            (set, "SET: ready = find_horse.horse.<|>", horse, &["slots"]),
            (set, "SET: ready = find_horse.slots[0].<|>", &["hour", "free"], &["horse"]),
            (set, "SET: ready = result.<|>", &["horse", "slots"], &["rider"]),
            (set, "SET: ready = result.horse.<|>", horse, &["slots"]),
            (set, "SET: ready = UPPER(result.<|>)", &["horse", "slots"], &[]),
            (set, "SET: ready = re<|>", &["result", "ready"], &[]),
            ("WHEN: day IS SET", "WHEN: re<|>", &["ready"], &["result"]),
            ("WHEN: day IS SET", "WHEN: booking.<|>", &["horse", "rides"], &["slots"]),
            ("WHEN: day IS SET", "WHEN: booking.horse.<|>", &["name", "age"], &["stable"]),
            ("WHEN: day IS SET", "WHEN: booking.rides[0].<|>", &["day", "paid"], &["horse"]),
            ("WHEN: day IS SET", "WHEN: found.<|>", horse, &["slots"]),
            ("WHEN: day IS SET", "WHEN: user.<|>", &["level", "intent", "sentiment"], &["rider"]),
            ("WHEN: day IS SET", "WHEN: match.<|>", &[], &["rider"]),
        ],
    );
}

/// §3.14.3: arguments that a call was given; §5.2: what other agents take and give.
#[test]
fn arguments_of_abl() {
    let call = "find_horse(size: \"big\", level: user.level)";
    let input = "INPUT: {rides: day}";
    check(
        NATIVE,
        &[
            (call, "find_horse(<|>)", &["size", "level", "day"], &[]),
            (call, "find_horse(size: \"a,b\", <|>)", &["level", "day"], &["size"]),
            (call, "find_horse(size: \"big\", le<|>)", &["level"], &["size"]),
            (call, "find_horse(size: <|>)", &["rider", "null"], &["level"]),
            (
                call,
                "find_horse\n    WITH:\n      size: \"big\"\n      <|>",
                &["level", "day"],
                &["size"],
            ),
            (call, "find_horse\n    WITH: {size: \"big\", <|>}", &["level", "day"], &["size"]),
            (call, "find_horse\n    WITH: {size: UPPER(<|>", &["rider", "true"], &["level"]),
            (input, "INPUT: {<|>}", &["rides"], &[]),
            (input, "INPUT: {rides: <|>}", &["day", "rider"], &[]),
            ("RETURNS: {price: number}", "RETURNS: {<|>}", &["price"], &[]),
            ("        price: rider", "        <|>", &["price"], &[]),
            ("        price: rider", "        price: <|>", &["rider", "day"], &["rides"]),
        ],
    );
}

/// The supervisor reference: what supervisors have, and what they have not.
#[test]
fn sections_of_abl() {
    const ROUTING: &[&str] = &[
        "AGENTS",
        "ROUTING",
        "HANDOFF_PROTOCOL",
        "STATE",
        "POLICIES",
        "COMMUNICATION",
        "BEHAVIOR",
    ];
    let files = Files {
        name: "front.agent.abl",
        text: "SUPERVISOR: Front\nGOAL: \"Route\"\nHERE\n",
        others: &[],
    };
    check(NATIVE, &[("VERSION: \"1.0\"", "<|>", &["PERSONA", "NLU"], ROUTING)]);
    check(files, &[("HERE", "<|>", ROUTING, &["GATHER", "FLOW"]), ("HERE", "RO<|>", ROUTING, &[])]);
    let files =
        Files { name: "front.agent.yaml", text: "supervisor: Front\ngoal: x\nHERE\n", others: &[] };
    check(files, &[("HERE", "<|>", &["agents", "routing"], &["gather", "flow"])]);
    let files =
        Files { name: "desk.agent.yaml", text: "agent: Desk\ngoal: x\nHERE\n", others: &[] };
    check(files, &[("HERE", "<|>", &["gather", "flow", "tools"], &["agents", "routing"])]);
}

/// §3: the words that a field may have, also half written; placeholders; names that are being declared.
#[test]
fn values_of_abl() {
    let tool = "    description: \"Find a horse\"\n";
    check(
        NATIVE,
        &[
            ("ON: session:start", "ON: <|>", &["session", "agent", "tool", "step"], &["start"]),
            ("ON: session:start", "ON: session:<|>", &["start", "end"], &["tool", "enter"]),
            ("ON: session:start", "ON: tool:<|>", &["find_horse", "*"], &["after", "rider"]),
            ("ON: session:start", "ON: tool:find_horse:<|>", &["after"], &["before"]),
            ("ON: session:start", "ON: step:enter:<|>", &["ask", "done"], &["find_horse"]),
            ("ACTION: load_memory", "ACTION: l<|>", &["load_memory", "prompt_llm"], &["rider"]),
            ("type: date", "type: <|>", &["string", "number", "date", "boolean"], &["rider"]),
            ("type: date", "type: da<|>", &["date", "datetime"], &["rider"]),
            ("required: true", "required: t<|>", &["true", "false"], &["rider"]),
            ("    type: date\n", "    strategy: <|>\n", &["pattern", "llm", "hybrid"], &["rider"]),
            ("    type: date\n", "    strategy: p<|>\n", &["pattern", "llm", "hybrid"], &["rider"]),
            ("for {{rider}}", "for {{<|>}}", &["rider", "day"], &[]),
            ("Not ready, {rider}", "Not ready, {<|>}", &["rider", "day"], &[]),
            ("Not ready, {rider}", "Not ready, {booking.<|>}", &["horse"], &["rider"]),
            ("    - name: rider\n", "    - name: <|>\n", &[], &["ready", "rider", "day"]),
            ("    - ask\n", "    - <|>\n", &["ask", "find", "done"], &["rider"]),
            ("    THEN: find\n", "    THEN: <|>\n", &["done", "COMPLETE"], &["rider"]),
            ("TO: Price_Desk", "TO: <|>", &["Price_Desk"], &["rider"]),
            ("AGENT: Stable_Desk", "AGENT: <|>", &[], &["Price_Desk", "rider"]),
            // §3.5: parameters that stay as the user confirmed them.
            (tool, "    immutable: [<|>]\n", &["size", "level", "day"], &["rider"]),
            (tool, "    immutable: [size, le<|>]\n", &["level", "day"], &["size"]),
            // §3.10: what of the conversation goes along; §3.13: types of errors.
            ("    WHEN: day IS SET\n", "    history: <|>\n", &["full", "summary_only"], &["rider"]),
            (
                "DELEGATE:\n",
                "ON_ERROR:\n  <|>\n\nDELEGATE:\n",
                &["tool_timeout", "api_error", "unknown_error"],
                &["rider"],
            ),
            // §3.14.1: blocks in templates.
            ("for {{rider}}", "for {{#<|>", &["if", "each", "unless"], &["rider"]),
        ],
    );
}

/// §3.6, §3.8.2: what a field is compared with.
#[test]
fn values_of_fields() {
    let choice = "    type: date\n";
    let text = AGENT.replace(choice, "    type: enum\n    options: [\"today\", \"next week\"]\n");
    let files = Files { text: &text, ..NATIVE };
    let when = "WHEN: day IS SET";
    check(
        files,
        &[
            (when, "WHEN: day == <|>", &["\"today\"", "\"next week\"", "null"], &["today"]),
            (when, "WHEN: day == \"<|>\"", &["today", "next week"], &["\"today\"", "rider"]),
            (when, "WHEN: day != \"to<|>", &["today"], &["rider"]),
            (when, "WHEN: ready AND day IN [\"today\", <|>", &["\"next week\"", "rider"], &[]),
            (when, "WHEN: day NOT IN [\"<|>\"]", &["today"], &[]),
            (when, "WHEN: rider == <|>", &["day"], &["\"today\""]),
            (when, "WHEN: UPPER(day) == <|>", &["rider"], &["\"today\""]),
        ],
    );
}

const YAML_AGENT: &str = r#"agent: Stable_Desk
goal: "Book rides for {{rider}}"
memory:
  session:
    - name: rider
    - name: ready
      type: boolean
tools:
  - name: find_horse
    description: "Find a horse"
    parameters:
      - name: size
        type: string
      - name: level
        type: string
    returns:
      type: object
      fields:
        name: string
flow:
  entry_point: find
  steps: [find, done]
  find:
    call: find_horse
    with:
      size: "big"
      level: rider
    on_success:
      respond: "Here is {{result.name}}"
      then: done
  done:
    if: ready == true
    then: COMPLETE
complete:
  - when: "rider == \"Ada\" AND ready"
    respond: "Bye"
"#;

#[test]
fn yaml_notation() {
    let files = Files { name: "stable_desk.agent.yaml", text: YAML_AGENT, others: &[] };
    let when = "when: \"rider == \\\"Ada\\\" AND ready\"";
    check(
        files,
        &[
            (when, "when: \"rider == \\\"Ada\\\" <|>\"", &["AND", "OR"], &["rider", "true"]),
            (when, "when: \"rider == \\\"Ada\\\" AND <|>\"", &["ready", "NOT", "true"], &["AND"]),
            (when, "when: rider <|>", &["==", "IS SET", "contains"], &["rider"]),
            (when, "when: rider == <|>", &["true", "null", "ready"], &["AND"]),
            ("if: ready == true", "if: ready <|>", &["==", "IS SET"], &["true"]),
            ("{{result.name}}", "{{result.<|>}}", &["name"], &["rider"]),
            ("{{rider}}", "{{<|>}}", &["rider", "ready"], &[]),
            ("      level: rider\n", "      <|>\n", &["level"], &["size"]),
            ("      level: rider\n", "      level: <|>\n", &["rider", "null"], &["level"]),
            ("      type: boolean", "      type: b<|>", &["boolean", "string"], &[]),
            ("    - name: ready\n", "    - name: <|>\n", &[], &["rider"]),
        ],
    );
}

const SCRIPT: &str = r#"config:
    developer_name: "Stable"

variables:
    rider: mutable string = ""
    age: mutable number = 0
    channel: linked string
        source: @MessagingSession.ChannelType

start_agent desk:
    description: "Books rides"
    actions:
        Find_Horse:
            description: "Finds a horse"
            inputs:
                size: string
                level: string
                day: string
            outputs:
                horse: string
                slots: list[object]
            target: "flow://Find_Horse"
    reasoning:
        instructions: ->
            | Help {!@variables.rider} well.
            if @variables.age > 12:
                | Big horses.
            run @actions.Find_Horse
                with size="big"
                with level=@variables.rider
                set @variables.rider = @outputs.horse
            transition to @subagent.later
        actions:
            find: @actions.Find_Horse
                with size="big", level=...
                available when @variables.age > 3

subagent later:
    description: "Comes later in the file"
    reasoning:
        instructions: ->
            | Bye.
"#;

/// Part I, §3 and §5.
#[test]
fn agent_script() {
    const BINARY: &[&str] = &["and", "or", "==", "!=", "<", "<=", ">", ">=", "is", "is not", "+"];
    let files = Files { name: "stable.agent", text: SCRIPT, others: &[] };
    let condition = "if @variables.age > 12:";
    let set = "set @variables.rider = @outputs.horse";
    let run = "                with level=@variables.rider\n";
    let bound = "with size=\"big\", level=...";
    check(
        files,
        &[
            (condition, "if <|>", &["True", "False", "None", "not", "@variables"], BINARY_ONLY),
            (condition, "if @variables.age <|>", BINARY, &["True", "not", "@variables"]),
            (condition, "if @variables.age > <|>", &["True", "None", "@variables"], &["and", "is"]),
            (condition, "if @variables.age > 12 <|>", &["and", "or", ":"], &["==", "True"]),
            (condition, "if @variables.age > 12 a<|>", &["and", "or"], &["@variables"]),
            (condition, "if @variables.rider is <|>", &["not", "None", "True"], &["and"]),
            (condition, "if @variables.rider is not <|>", &["None", "True"], &["and"]),
            (condition, "if not <|>", &["True", "@variables"], &["and", "=="]),
            (condition, "if len(<|>", &["True", "@variables"], &["and"]),
            (condition, "if @<|>", &["variables", "system_variables"], &["rider", "outputs"]),
            (set, "set @variables.rider = @<|>", &["variables", "outputs"], &["rider"]),
            (condition, "if @variables.<|>", &["rider", "age", "channel"], &["True", "and"]),
            (condition, "if @variables.a<|>", &["rider", "age"], &["True"]),
            (set, "set <|>", &["@variables"], &["True", "@outputs"]),
            (set, "set @variables.<|>", &["rider", "age"], &["channel"]),
            (set, "set @variables.rider <|>", &["="], &["True", "@variables"]),
            (set, "set @variables.rider = <|>", &["None", "@outputs", "@variables"], &["and"]),
            (set, "set @variables.rider = @outputs.<|>", &["horse", "slots"], &["size"]),
            (set, "set @variables.rider = 1 <|>", &["+", "-", "*", "/", "if"], &["True"]),
            (set, "set @variables.rider = 1 if True <|>", &["else", "and"], &["@variables"]),
            ("{!@variables.rider}", "{!<|>}", &["@variables"], &["and"]),
            ("{!@variables.rider}", "{!@<|>}", &["variables", "actions"], &["rider"]),
            ("{!@variables.rider}", "{!@variables.<|>}", &["rider", "age"], &["True"]),
            ("{!@variables.rider}", "{!@variables.rider <|>}", &["+", "==", "if"], &["True"]),
            (run, "                with <|>\n", &["level", "day"], &["size"]),
            (run, "                with le<|>\n", &["level", "day"], &["size"]),
            (run, "                with day=\"x\", <|>\n", &["level"], &["size", "day"]),
            (run, "                with level=<|>\n", &["True", "...", "@variables"], &["level"]),
            (bound, "with size=\"big\", <|>", &["level", "day"], &["size"]),
            (bound, "with level=@variables.age, <|>", &["size", "day"], &["level"]),
            ("when @variables.age > 3", "when @variables.age <|>", BINARY, &["True"]),
            ("@subagent.later", "@subagent.<|>", &["later"], &["rider"]),
            ("age: mutable number = 0", "age: mutable number = <|>", &["True", "None"], &["and"]),
            ("age: mutable number", "age: mutable n<|>", &["number", "string"], &["rider"]),
            ("    rider: mutable", "    <|>: mutable", &[], &["age", "channel"]),
        ],
    );
}

const BINARY_ONLY: &[&str] = &["and", "or", "==", "is"];

const BOT: &str = r#"main:
  type: flow agent
  steps:
    - call: ride

ride:
  type: flow agent
  description: Books a ride
  args:
    - rider
    - day
  steps:
    - bot: "Hello ${rider}"
    - user
    - if: rider == None and day != "Monday"
      then:
        - next: later
    - call: find_horse
      args:
        size: big
        level: rider
    - set:
        day: find_horse.day
    - return: success
  later:
    - bot: "Bye"
    - set:
        rider: find_horse.day
"#;

const TOOLS: &str = "def find_horse(size, level, hour=None):\n    return {\"day\": 1}\n";

/// Appendix A, and Table 4.
#[test]
fn adl() {
    let files = Files { name: "bot/agents.yml", text: BOT, others: &[("bot/tools.py", TOOLS)] };
    let condition = "if: rider == None and day != \"Monday\"";
    check(
        files,
        &[
            (condition, "if: <|>", &["None", "True", "not", "rider", "re.match"], &["and", "=="]),
            (condition, "if: <|>", &["the user claims"], &["or"]),
            (condition, "if: rider <|>", &["==", "!=", "and", "or"], &["None", "rider"]),
            (condition, "if: rider == <|>", &["None", "True", "False", "day"], &["and", "not"]),
            (condition, "if: rider == None <|>", &["and", "or"], &["==", "rider"]),
            (condition, "if: rider == None an<|>", &["and", "or"], &["rider"]),
            (condition, "if: rider == None and <|>", &["day", "not", "None"], &["or"]),
            (condition, "if: rider == \"<|>\"", &[], &["None", "day"]),
            (condition, "if: find_horse.<|>", &["day"], &["rider"]),
            (condition, "if: (rider == None or <|>", &["day", "None"], &["and"]),
            ("${rider}", "${<|>}", &["rider", "day"], &[]),
            ("${rider}", "${ri<|>", &["rider", "day"], &[]),
            ("        level: rider\n", "        <|>\n", &["level", "hour"], &["size"]),
            ("        level: rider\n", "        level: <|>\n", &["rider", "day"], &["hour"]),
            ("        day: find_horse.day", "        day: find_horse.<|>", &["day"], &["rider"]),
            ("        day: find_horse.day", "        <|>", &["rider", "day"], &[]),
            ("next: later", "next: <|>", &["later"], &["rider"]),
            ("return: success", "return: s<|>", &["success", "error"], &[]),
            ("    - rider\n", "    - <|>\n", &[], &["day", "main"]),
        ],
    );
}
