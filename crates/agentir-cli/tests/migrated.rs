//! Conversions between ABL, Agent Script and ADL: what holds in the source holds in the output, and what does not is said.
//!
//! Source and output are run where both can be; otherwise the output or the report says what is tested.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests end by panicking"
)]

mod common;

use common::{ran, run_with_input, stderr, stdout, write};
use serde_json::Value as Json;
use std::fs;
use std::path::Path;

/// Converts into `out`; the exit code and the report.
fn converted(folder: &Path, input: &str, to: &str) -> (i32, Json) {
    let args = ["convert", input, "--to", to, "-o", "out", "--verify", "--report", "out.json"];
    let (code, _, stderr) = ran(folder, &args);
    assert!(code < 2, "{stderr}");
    let report = fs::read_to_string(folder.join("out.json")).unwrap();
    (code, serde_json::from_str(&report).unwrap())
}

/// All files of the output, one after the other.
fn written(folder: &Path) -> String {
    let mut all = String::new();
    let mut open = vec![folder.join("out")];
    while let Some(path) = open.pop() {
        if path.is_dir() {
            let mut inside: Vec<_> =
                fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()).collect();
            inside.sort();
            open.extend(inside.into_iter().rev());
        } else if path.file_name().is_some_and(|name| name != "MIGRATION.md") {
            all.push_str(&fs::read_to_string(path).unwrap());
        }
    }
    all
}

/// A subagent, step or other part of a text: from `start` to the next empty line and a line without indentation.
fn part<'t>(text: &'t str, start: &str) -> &'t str {
    let from = text.find(start).unwrap_or_else(|| panic!("no {start} in {text}"));
    let rest = &text[from..];
    let end = rest
        .match_indices("\n\n")
        .find(|(at, _)| rest[at + 2..].chars().next().is_some_and(|c| !c.is_whitespace()));
    &rest[..end.map_or(rest.len(), |(at, _)| at)]
}

/// What became of the value at a path.
fn fate<'r>(report: &'r Json, path: &str) -> &'r str {
    let entries = report["entries"].as_array().unwrap();
    let entry = entries.iter().find(|entry| entry["path"] == path);
    entry.unwrap_or_else(|| panic!("no {path}"))["fate"].as_str().unwrap()
}

fn musts(report: &Json) -> Vec<String> {
    let all = report["todo"].as_array().unwrap().iter().filter(|todo| todo["task"] == "must");
    let text = |todo: &Json| format!("{}: {}", todo["cause"], todo["help"]);
    all.map(text).collect()
}

/// What is said and called in a conversation, in order: lines of the trace.
fn trace(folder: &Path, program: &str, messages: &str) -> String {
    let args = ["run", program, "--stubs", "stubs.yaml", "--trace"];
    let output = run_with_input(folder, &args, messages.as_bytes());
    format!("{}{}", stdout(&output), stderr(&output))
}

const ROUTER: &str = "config:\n    developer_name: \"Sample\"\n\naccess:\n    default_agent_user: \"desk@example.com\"\n\nsystem:\n    instructions: \"You help.\"\n\nvariables:\n    proved: mutable boolean = False\n        description: \"Whether the guest has proved who they are\"\n\nstart_agent desk:\n    description: \"Receives guests\"\n    reasoning:\n        instructions: ->\n            | Choose.\n        actions:\nACTIONS\nsubagent vault:\n    description: \"Opens the vault\"\n    reasoning:\n        instructions: ->\n            | Open it.\n\nsubagent hours:\n    description: \"Tells the hours\"\n    reasoning:\n        instructions: ->\n            | Nine to five.\n";

fn router(actions: &[(&str, &str)]) -> String {
    let mut text = String::new();
    for (at, (to, guard)) in actions.iter().enumerate() {
        text.push_str(&format!(
            "            way_{at}: @utils.transition to @subagent.{to}\n                description: \"The guest wants {to} {at}\"\n"
        ));
        if !guard.is_empty() {
            text.push_str(&format!("                available when {guard}\n"));
        }
    }
    ROUTER.replace("ACTIONS\n", &text)
}

/// Each agent that is offered under guards only is constrained by them; where one way is open, nothing may close it.
#[test]
fn guards_of_choices_hold_for_every_way_to_the_agent() {
    let proved = "@variables.proved == True";
    type Case<'a> = (&'a [(&'a str, &'a str)], &'a [&'a str], &'a [&'a str]);
    let cases: [Case<'_>; 4] = [
        (
            &[("vault", proved), ("hours", "")],
            &["REQUIRE proved == true BEFORE calling vault"],
            &["BEFORE calling hours"],
        ),
        (
            &[("vault", proved), ("hours", "@variables.proved == False")],
            &[
                "REQUIRE proved == true BEFORE calling vault",
                "REQUIRE proved == false BEFORE calling hours",
            ],
            &[],
        ),
        (
            &[("vault", proved), ("vault", "@variables.proved is None"), ("hours", "")],
            &["REQUIRE proved == true OR proved IS NOT SET BEFORE calling vault"],
            &[],
        ),
        (&[("vault", proved), ("vault", ""), ("hours", "")], &[], &["BEFORE calling"]),
    ];
    for (actions, has, has_not) in cases {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), &[("desk.agent", &router(actions)), ("stubs.yaml", "tools: {}\n")]);
        converted(folder.path(), "desk.agent", "abl");
        let text = written(folder.path());
        for rule in has {
            assert!(text.contains(rule), "{rule} is not in {text}");
        }
        for rule in has_not {
            assert!(!text.contains(rule), "{rule} is in {text}");
        }
    }
}

/// Whoever has not proved who they are does not reach the agent, in the source and in the output.
#[test]
fn a_guarded_agent_is_not_reached() {
    let folder = tempfile::tempdir().unwrap();
    let text = router(&[("vault", "@variables.proved == True"), ("hours", "")]);
    write(folder.path(), &[("desk.agent", &text), ("stubs.yaml", "tools: {}\n")]);
    converted(folder.path(), "desk.agent", "abl");
    let message = "the guest wants vault\n";
    let source = trace(folder.path(), "desk.agent", message);
    let output = trace(folder.path(), "out", message);
    assert!(!source.contains("-> vault"), "{source}");
    assert!(!output.contains("-> vault"), "{output}");
}

const PAYER: &str = r#"AGENT: Payer
GOAL: "Pay"
TOOLS:
  pay(amount: number) -> {ok: boolean}
    description: "Pays"
    type: http
    endpoint: "https://pool.example/pay"
    method: PUT
CONSTRAINTS:
  - REQUIRE amount <= 100 BEFORE calling pay
    ON_FAIL: "At most 100."
FLOW:
  entry_point: ask
  ask:
    REASONING: false
    GATHER:
      amount:
        prompt: "How much?"
        type: number
        required: true
    THEN: go
  go:
    REASONING: false
    CALL: pay(amount)
    THEN: done
  done:
    REASONING: false
    RESPOND: "Paid."
    THEN: COMPLETE
"#;

const PAY: &str = "tools:\n  pay: [{answer: {ok: true}}]\n  log_turn: [{answer: {ok: true}}, {answer: {ok: true}}, {answer: {ok: true}}, {answer: {ok: true}}]\n";

/// The guard of a call in a flow stands at the call. It is made when the guard holds, and then only.
#[test]
fn a_call_of_a_flow_is_guarded_where_it_is() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), &[("payer.agent.abl", PAYER), ("stubs.yaml", PAY)]);
    converted(folder.path(), "payer.agent.abl", "agent-script");
    let text = written(folder.path());
    let go = part(&text, "subagent go:");
    assert!(
        go.contains("if @variables.amount is not None and @variables.amount <= 100:\n            run @actions.pay"),
        "{go}"
    );
    assert!(go.contains("Say: \"At most 100.\""), "{go}");
    // Nobody is refused before the call.
    assert!(!part(&text, "subagent ask:").contains("At most 100."), "{text}");
    for program in ["payer.agent.abl", "out"] {
        let refused = trace(folder.path(), program, "500\n");
        assert!(!refused.contains("pay {"), "{program}: {refused}");
        let paid = trace(folder.path(), program, "50\n");
        assert!(paid.contains("pay {\"amount\":50}"), "{program}: {paid}");
    }
    // Who gives another amount goes on.
    let corrected = trace(folder.path(), "out", "500\n50\n");
    assert!(corrected.contains("pay {\"amount\":50}"), "{corrected}");
    // The list of what must be done has the service that the source names.
    let list = fs::read_to_string(folder.path().join("out/MIGRATION.md")).unwrap();
    assert!(list.contains("PUT https://pool.example/pay"), "{list}");
}

/// Where the model leads, it is told of a constraint about what it may call, and only when the values are known.
#[test]
fn values_that_are_not_known_refuse_nothing() {
    let agent = "AGENT: Hotel\nGOAL: \"Book rooms\"\nTOOLS:\n  book(nights: number) -> {code: string}\n    description: \"Books\"\n    type: http\n    endpoint: \"https://hotel.example/book\"\n    method: POST\nGATHER:\n  nights:\n    prompt: \"How many nights?\"\n    type: number\n    required: true\nCONSTRAINTS:\n  - REQUIRE nights <= 14 BEFORE calling book\n    ON_FAIL: \"Two weeks at most.\"\n  - REQUIRE nights != 13\n    ON_FAIL: \"Not thirteen.\"\n";
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), &[("hotel.agent.abl", agent)]);
    converted(folder.path(), "hotel.agent.abl", "agent-script");
    let text = written(folder.path());
    assert!(
        text.contains("if @variables.nights is not None and not @variables.nights <= 14:\n                | Do not use {!@actions.use_book} now. Say: \"Two weeks at most.\""),
        "{text}"
    );
    assert!(
        text.contains("if @variables.nights is not None and @variables.nights == 13:\n                | Do not go on. Say: \"Not thirteen.\""),
        "{text}"
    );
}

const AUDITOR: &str = r#"AGENT: Auditor
GOAL: "Talk"
TOOLS:
  log_turn(text: string) -> {ok: boolean}
    description: "Writes an audit line"
    type: http
    endpoint: "https://audit.example/lines"
    method: POST
MEMORY:
  session:
    - turns
        TYPE: number
        INITIAL: 0
HOOKS:
  before_turn:
    SET: turns = turns + 1
  after_turn:
    CALL: log_turn("turn done")
FLOW:
  entry_point: ask
  ask:
    REASONING: false
    GATHER:
      name:
        prompt: "Your name?"
        type: string
        required: true
    THEN: town
  town:
    REASONING: false
    GATHER:
      town:
        prompt: "Your town?"
        type: string
        required: true
    THEN: done
  done:
    REASONING: false
    RESPOND: "Hello {{name}} of {{town}}."
    THEN: COMPLETE
"#;

/// A turn passes through several subagents: what is done before it is done once, and so is what is done after it.
#[test]
fn hooks_of_a_flow_run_in_every_turn_once() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), &[("auditor.agent.abl", AUDITOR), ("stubs.yaml", PAY)]);
    let (_, report) = converted(folder.path(), "auditor.agent.abl", "agent-script");
    assert_ne!(fate(&report, "agents.Auditor.hooks.after_turn.call"), "dropped");
    let run = |messages: &str| trace(folder.path(), "out", messages);
    let lines = |trace: &str, what: &str| trace.matches(what).count();
    let one = run("Ann\n");
    assert_eq!(lines(&one, "log_turn {"), 1, "{one}");
    assert_eq!(lines(&one, "@variables.turns = 1"), 1, "{one}");
    let two = run("Ann\nBath\n");
    assert_eq!(lines(&two, "log_turn {"), 2, "{two}");
    assert_eq!(lines(&two, "@variables.turns = 2"), 1, "{two}");
    assert_eq!(lines(&two, "@variables.turns = 3"), 0, "{two}");
}

/// What a variable begins with stays, also if the agent asks for it.
#[test]
fn a_first_value_of_a_variable_that_is_asked_for_stays() {
    let agent = AUDITOR.replace(
        "    - turns\n",
        "    - name\n        TYPE: string\n        DESCRIPTION: \"Who it is\"\n        INITIAL: \"\"\n    - turns\n",
    );
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), &[("auditor.agent.abl", &agent)]);
    let (_, report) = converted(folder.path(), "auditor.agent.abl", "agent-script");
    let text = written(folder.path());
    assert!(
        text.contains("name: mutable string = \"\"\n        description: \"Who it is\""),
        "{text}"
    );
    assert_eq!(fate(&report, "agents.Auditor.memory.session[name].initial_value"), "kept");
}

const BOT: &str = "main:\n  type: flow agent\n  steps:\n    - call: desk\n\ndesk:\n  type: ensemble agent\n  description: Chooses who answers\n  contains:\n    - rates\n    - card\n  steps:\n    - call: card\n\nrates:\n  type: llm agent\n  description: Tells the rates of today\n  prompt: Tell the rates. Use \"get_rate\".\n  uses:\n    - get_rate\n\ncard:\n  type: flow agent\n  description: Blocks a card\n  args:\n    - last4\n  steps:\n    - bot: \"Which card?\"\n    - user\n    - call: block\n      args:\n        last4: last4\n    - return: success\n";

const PYTHON: &str = "\"\"\"Functions of the desk.\"\"\"\n# The rates of the bank.\nRATES = {\"eur\": 1.5}\n\n\ndef get_rate(currency: str = \"eur\", days: Optional[int] = None):\n    \"\"\"The rate of today.\"\"\"\n    return [{\"arg\": \"rate\", \"value\": RATES[currency]}]\n\n\ndef block(last4, force=False, why=None, tags=None):\n    \"\"\"Blocks the card.\n\n    Args:\n        last4 (str): the digits\n        why: the reason\n        tags (list[str]): more\n    \"\"\"\n    return [{\"arg\": \"ok\", \"value\": last4 != \"0000\"}]\n";

/// A bot of ADL keeps its Python file to the character.
#[test]
fn functions_of_the_same_language_are_copied() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), &[("bot/agents.yml", BOT), ("bot/lib.py", PYTHON)]);
    let (code, report) = converted(folder.path(), "bot", "adl");
    assert_eq!(fs::read_to_string(folder.path().join("out/lib.py")).unwrap(), PYTHON);
    assert!(!folder.path().join("out/tools.py").exists());
    assert_eq!((code, musts(&report)), (0, Vec::new()));
    assert_eq!(report["proof"]["not_compared"], Json::Array(Vec::new()));
    // Another body is nothing that the comparison has seen.
    write(folder.path(), &[("out/lib.py", &PYTHON.replace("!= \"0000\"", "== \"0000\""))]);
    let (code, out, _) = ran(folder.path(), &["diff", "bot", "out"]);
    assert_eq!(code, 1, "{out}");
    assert!(out.contains("not compared: the bodies of functions: `block`\n"), "{out}");
}

/// ABL calls no Python: each function is to be made a service, and its parameters have the types that the code tells.
#[test]
fn functions_in_code_are_something_to_do() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), &[("bot/agents.yml", BOT), ("bot/lib.py", PYTHON)]);
    let (code, report) = converted(folder.path(), "bot", "abl");
    assert_eq!(code, 1);
    let musts = musts(&report).join("\n");
    for name in ["get_rate", "block"] {
        assert!(musts.contains(&format!("make `{name}` a service")), "{musts}");
    }
    let text = written(folder.path());
    assert!(text.contains("days:\n        type: integer\n        default: null"), "{text}");
    assert_eq!(text.matches(concat!("TO", "DO: make `")).count(), 2, "{text}");
    let unknown = report["proof"]["not_compared"].to_string();
    assert!(unknown.contains("\"code\"") && unknown.contains("get_rate"), "{unknown}");
}

/// An ensemble that begins with a call asks that agent first.
#[test]
fn the_first_call_of_an_ensemble_is_made() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), &[("bot/agents.yml", BOT), ("bot/lib.py", PYTHON)]);
    let (_, report) = converted(folder.path(), "bot", "agent-script");
    let text = written(folder.path());
    let desk = part(&text, "start_agent desk:");
    assert!(
        desk.contains("if not @variables.desk_asked_card:\n                | First of all, ask with {!@actions.ask_card}."),
        "{desk}"
    );
    assert!(desk.contains("set @variables.desk_asked_card = True"), "{desk}");
    assert_eq!(fate(&report, "agents.desk.on_start.delegate.agent"), "approximated");
}

const COUNTER: &str = r#"AGENT: Scorer
GOAL: "Score"
TOOLS:
  score(account: string) -> {points: number}
    description: "Scores"
    type: http
    endpoint: "https://score.example/{account}"
    method: GET
MEMORY:
  session:
    - attempts
        TYPE: number
        INITIAL: 0
    - label
        TYPE: string
FLOW:
  entry_point: ask
  ask:
    REASONING: false
    GATHER:
      account:
        prompt: "Which account?"
        type: string
        required: true
    THEN: scoring
  scoring:
    REASONING: false
    CALL: score(account)
    ON_SUCCESS:
      THEN: granted
    ON_FAIL:
      RESPOND: "The scoring is down."
      THEN: again
  granted:
    REASONING: false
    RESPOND: "Granted."
    THEN: COMPLETE
  again:
    REASONING: false
    SET:
      attempts = attempts + 1
      label = UPPER(account)
    ON_INPUT:
      - IF: attempts >= 2
        RESPOND: "Enough."
        THEN: COMPLETE
      - ELSE:
        THEN: scoring
"#;

/// ADL's `set` takes constants: what can be computed is, by a function, and what cannot is lost under its own name.
#[test]
fn an_assignment_is_computed_or_lost_under_its_name() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), &[("scorer.agent.abl", COUNTER)]);
    let (_, report) = converted(folder.path(), "scorer.agent.abl", "adl");
    let text = written(folder.path());
    assert!(
        text.contains("- call: set_attempts\n      args:\n        attempts: attempts"),
        "{text}"
    );
    assert!(text.contains("return [{\"arg\": \"attempts\", \"value\": (attempts + 1)}]"), "{text}");
    let path = |name: &str| format!("agents.Scorer.flow.definitions.again.set[{name}].expression");
    assert_eq!(fate(&report, &path("attempts")), "approximated");
    assert_eq!(fate(&report, &path("label")), "dropped");
    let musts = musts(&report).join("\n");
    assert!(musts.contains("`set` gives an argument a constant"), "{musts}");
}

/// A function that answers as usual has not failed: only one that says so has, as its stub and the list tell.
#[test]
fn a_usual_answer_takes_the_way_of_success() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), &[("scorer.agent.abl", COUNTER)]);
    converted(folder.path(), "scorer.agent.abl", "adl");
    let text = written(folder.path());
    assert!(
        text.contains("and where it fails {\"status\": \"error\", \"msg\": \"why\"}"),
        "{text}"
    );
    let list = fs::read_to_string(folder.path().join("out/MIGRATION.md")).unwrap();
    assert!(
        list.contains("requests.get(f\"https://score.example/{account}\", timeout=30)"),
        "{list}"
    );
    assert!(list.contains("return {\"status\": \"error\", \"msg\": str(error)}"), "{list}");
    for (answer, says, not) in [
        ("{points: 7}", "Granted.", "The scoring is down."),
        ("{status: error, msg: down}", "The scoring is down.", "Granted."),
    ] {
        let stubs = format!(
            "tools:\n  score: [{{answer: {answer}}}, {{answer: {answer}}}]\n  set_attempts: [{{answer: {{}}}}, {{answer: {{}}}}]\n"
        );
        write(folder.path(), &[("stubs.yaml", &stubs)]);
        let heard = trace(folder.path(), "out", "12\n");
        assert!(heard.contains(says), "{answer}: {heard}");
        assert!(!heard.contains(not), "{answer}: {heard}");
    }
}

/// `tries` of a branch counts what the branch does, also where others lead to the same step.
#[test]
fn the_tries_of_a_branch_are_its_own() {
    let bot = "main:\n  type: flow agent\n  steps:\n    - call: shop\n\nshop:\n  type: flow agent\n  description: Sells\n  args:\n    - item\n  steps:\n    - label: pick\n    - bot: \"What else?\"\n    - user\n    - if: the user claims \"more\"\n      then:\n        - next: pick\n    - else if: the user claims \"done\"\n      then:\n        - return: success\n      else:\n        - next: pick\n          tries: 3\n    - bot: \"I do not understand.\"\n";
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), &[("agents.yml", bot)]);
    converted(folder.path(), "agents.yml", "abl");
    let text = written(folder.path());
    assert!(!text.contains("MAX_ATTEMPTS"), "{text}");
    assert!(text.contains("WHEN: pick_tries < 2\n    SET: pick_tries = pick_tries + 1"), "{text}");
    // If nothing else leads there, the step itself counts.
    let alone = bot
        .replace("        - next: pick\n    - else if", "        - bot: \"Fine.\"\n    - else if");
    write(folder.path(), &[("agents.yml", &alone)]);
    fs::remove_dir_all(folder.path().join("out")).unwrap();
    converted(folder.path(), "agents.yml", "abl");
    let text = written(folder.path());
    assert!(text.contains("MAX_ATTEMPTS: 3"), "{text}");
}

/// A hook of ABL has no handoff, no list of actions and no profile inside of the agent.
#[test]
fn only_documented_forms_are_written() {
    let script = "config:\n    developer_name: \"Sample\"\n\naccess:\n    default_agent_user: \"desk@example.com\"\n\nsystem:\n    instructions: \"You help.\"\n\nvariables:\n    id: mutable string = \"\"\n        description: \"The number\"\n    name: mutable string = \"\"\n        description: \"The name\"\n    ready: mutable boolean = False\n\nstart_agent desk:\n    description: \"Receives guests\"\n    actions:\n        fetch:\n            description: \"Loads the guest\"\n            inputs:\n                id: string\n                    is_required: True\n            outputs:\n                name: string\n            target: \"flow://Fetch\"\n        pay:\n            description: \"Pays\"\n            inputs:\n                amount: number\n                    is_required: True\n                id: string\n                    is_required: True\n                note: string\n            outputs:\n                done: boolean\n            target: \"flow://Pay\"\n    reasoning:\n        instructions: ->\n            if @variables.id != \"\" and @variables.name == \"\":\n                run @actions.fetch\n                    with id = @variables.id\n                    set @variables.name = @outputs.name\n            | You must call {!@actions.take_id}, and greet {!@variables.name}.\n        actions:\n            take_id: @utils.setVariables\n                description: \"Note the number\"\n                with id = ...\n            send: @actions.pay\n                description: \"Send it\"\n                with amount = ...\n                with id = @variables.id\n                with note = \"from the desk\"\n    after_reasoning:\n        if @variables.name != \"\":\n            set @variables.ready = True\n            transition to @subagent.vault\n\nsubagent vault:\n    description: \"Opens the vault\"\n    reasoning:\n        instructions: ->\n            | Open it.\n";
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), &[("desk.agent", script)]);
    converted(folder.path(), "desk.agent", "abl");
    let text = written(folder.path());
    let hooks = part(&text, "HOOKS:");
    assert!(!hooks.contains("HANDOFF") && !hooks.contains("DO:"), "{hooks}");
    assert!(!text.contains("\nBEHAVIOR_PROFILE: internal_tools"), "{text}");
    assert!(text.contains("BEHAVIOR_PROFILE: desk_internal_tools"), "{text}");
    assert!(text.contains("TO: vault\n    WHEN: next_agent == \"vault\""), "{text}");
    // The result of the call in the hook is taken, and what the author has fixed is not the model's to say.
    assert!(text.contains("on_result:\n      set:\n        name = fetch.name"), "{text}");
    assert!(text.contains("source: expr\n        value: id"), "{text}");
    assert!(text.contains("source: config\n        value: \"from the desk\""), "{text}");
    assert!(text.contains("There is no tool for \\\"take id\\\""), "{text}");
}

fn compared(left: &str, right: &str) -> (i32, String) {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), &[("a/one.agent.abl", left), ("b/one.agent.abl", right)]);
    let (code, out, err) = ran(folder.path(), &["diff", "a", "b"]);
    (code, format!("{out}{err}"))
}

const CHOICE: &str = "AGENT: Chooser\nGOAL: \"Choose\"\nTOOLS:\n  note(id: string, amount: number) -> {ok: boolean}\n    description: \"Notes\"\n    type: http\n    endpoint: \"https://a.example/note\"\n    method: POST\nFLOW:\n  entry_point: ask\n  ask:\n    REASONING: false\n    GATHER:\n      x:\n        prompt: \"Which?\"\n        type: number\n        required: true\n    THEN: pick\n  pick:\n    REASONING: false\n    CALL: note(\"a\", x)\n    ON_RESULT:\n      - IF: x == 1\n        THEN: one\n      - IF: x == 2\n        THEN: two\n      - ELSE:\n        THEN: two\n  one:\n    REASONING: false\n    RESPOND: \"One.\"\n    THEN: COMPLETE\n  two:\n    REASONING: false\n    RESPOND: \"Two.\"\n    THEN: COMPLETE\n";

const TEAM: &str = "AGENT: Chooser\nGOAL: \"Choose\"\nMEMORY:\n  session:\n    - n\n        TYPE: number\n        INITIAL: 0\n    - wanted\n        TYPE: boolean\n        INITIAL: false\nDELEGATE:\n  - AGENT: Scores\n    WHEN: wanted == true\n    PURPOSE: \"scores\"\n    INPUT: {n: n}\n    RETURNS: {points: n}\n    USE_RESULT: \"say it\"\n    ON_FAIL: respond\n    FAILURE_MESSAGE: \"No scores today.\"\nHANDOFF:\n  - TO: Desk\n    WHEN: n > 3\n    CONTEXT:\n      pass: [n]\n      summary: \"many\"\n    RETURN: false\n    ON_FAILURE: RESPOND \"The desk of {{n}} is closed.\"\nFLOW:\n  entry_point: ask\n  ask:\n    REASONING: false\n    MAX_ATTEMPTS: 2\n    ON_EXHAUSTED: RESPOND \"Enough.\"\n    GATHER:\n      x:\n        prompt: \"Which?\"\n        type: number\n        required: true\n    ON_INPUT:\n      - IF: x == 1\n        THEN: FAIL with REASON: \"card is stolen\"\n      - IF: x == 2\n        THEN: COMPLETE with REASON: \"sold\"\n      - ELSE:\n        THEN: ESCALATE with REASON: \"fraud\"\n";

/// Why an agent ends or gets a person is read by somebody, and what a failure says is not what is silent.
#[test]
fn reasons_and_messages_of_failures_are_differences() {
    for (one, other) in [
        ("card is stolen", "card is valid"),
        ("sold", "bought"),
        ("fraud", "noise"),
        ("ON_FAIL: respond", "ON_FAIL: continue"),
        ("RESPOND \"The desk of {{n}} is closed.\"", "CONTINUE"),
        ("RESPOND \"Enough.\"", "CONTINUE"),
        ("Enough.", "Too many."),
    ] {
        let changed = TEAM.replace(one, other);
        assert_ne!(TEAM, changed, "{one}");
        let (code, out) = compared(TEAM, &changed);
        assert_eq!(code, 1, "{one}: {out}");
        let same = out.contains("the same meaning") || out.contains("names, order and notation");
        assert!(!same, "{one}: {out}");
    }
    let adl = |why: &str| {
        format!(
            "main:\n  type: flow agent\n  steps:\n    - bot: Hello\n    - return: error, {why}\n"
        )
    };
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), &[("a/agents.yml", &adl("no digits")), ("b/agents.yml", &adl("no card"))]);
    assert_eq!(ran(folder.path(), &["diff", "a", "b"]).0, 1);
}

/// Reactions to failures come back as they were, with what they say.
#[test]
fn reactions_to_failures_stay_in_the_same_language() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), &[("in.agent.abl", TEAM)]);
    for to in ["abl", "abl-yaml"] {
        let args = ["convert", "in.agent.abl", "--to", to, "-o", to];
        let (code, _, err) = ran(folder.path(), &args);
        assert_eq!(code, 0, "{err}");
        let (code, out, err) = ran(folder.path(), &["diff", "in.agent.abl", to]);
        assert_eq!(code, 0, "{out}{err}");
    }
    let text = fs::read_to_string(folder.path().join("abl/chooser.agent.abl")).unwrap();
    for line in [
        "ON_FAIL: RESPOND\n",
        "FAILURE_MESSAGE: \"No scores today.\"",
        "ON_FAILURE: RESPOND \"The desk of {{n}} is closed.\"",
        "ON_EXHAUSTED: RESPOND \"Enough.\"",
    ] {
        assert!(text.contains(line), "{line}: {text}");
    }
    assert_eq!(text.matches("FAILURE_MESSAGE").count(), 1, "{text}");
}

/// A function that is called and declared nowhere is an action, whose signature is to be checked.
#[test]
fn functions_that_nothing_declares_are_actions() {
    let bot = "main:\n  type: flow agent\n  args:\n    - who\n  steps:\n    - bot: \"Your name?\"\n    - user\n    - call: lock_card\n      args:\n        who: who\n    - if: lock_card.ok == True\n      then:\n        - bot: \"Locked.\"\n      else:\n        - bot: \"Not locked.\"\n";
    let folder = tempfile::tempdir().unwrap();
    // Code that has other functions declares nothing of it.
    write(folder.path(), &[("agents.yml", bot), ("tools.py", "def other():\n    return {}\n")]);
    let (code, report) = converted(folder.path(), "agents.yml", "agent-script");
    let text = written(folder.path());
    assert_eq!(code, 1);
    for line in ["lock_card:", "who: string", "run @actions.lock_card", "with who=@variables.who"] {
        assert!(text.contains(line), "{line}: {text}");
    }
    assert!(!text.contains("lock_card: mutable object = {}"), "{text}");
    let musts = musts(&report);
    assert!(musts.iter().any(|must| must.contains("signature is guessed")), "{musts:?}");
}

/// What the report calls approximated stands in the output where it says.
#[test]
fn nothing_is_approximated_by_words_that_stand_elsewhere() {
    let buttons = "AGENT: Shades\nGOAL: \"Collect\"\nMEMORY:\n  session:\n    - best\nFLOW:\n  entry_point: one\n  one:\n    REASONING: false\n    RESPOND: \"Choose\"\n    ACTIONS:\n      - id: red\n        type: button\n        label: \"Red one\"\n        value: r\n    ON_ACTION:\n      - ACTION: red\n        SET: best = \"red\"\n        THEN: two\n    ON_INPUT:\n      - ELSE:\n        THEN: two\n  two:\n    REASONING: false\n    RESPOND: \"You chose {{best}}\"\n    THEN: COMPLETE\n";
    let rules = "AGENT: Loans\nGOAL: \"Quote\"\nTOOLS:\n  quote(amount: number) -> {id: string}\n    description: \"Quotes\"\n    type: http\n    endpoint: \"https://a.example/q\"\n    method: POST\nCONSTRAINTS:\n  - REQUIRE amount <= 1000 BEFORE calling quote\n    ON_FAIL: \"Too much.\"\nCOMPLETE:\n  - WHEN: quote.id IS SET\n    RESPOND: \"Done.\"\nFLOW:\n  entry_point: one\n  one:\n    REASONING: false\n    GATHER:\n      amount:\n        prompt: \"How much?\"\n        type: number\n        required: true\n    CALL: quote(amount)\n    RESPOND: \"It is {{quote.id}}.\"\n    THEN: COMPLETE\n";
    let dotted = "AGENT: Cards\nGOAL: \"Collect\"\nMEMORY:\n  session:\n    - card\nFLOW:\n  entry_point: one\n  one:\n    REASONING: false\n    SET: card.type = \"debit\"\n    RESPOND: \"Card {{card.type}}\"\n    THEN: COMPLETE\n";
    let set = "flow.definitions.(entry)";
    for (name, source, to, lost) in [
        (
            "Shades",
            buttons,
            "agent-script",
            vec![
                format!("{set}.on_action[red].set[best].expression"),
                format!("{set}.on_action[red].set[best].variable"),
            ],
        ),
        (
            "Loans",
            rules,
            "adl",
            vec![
                "constraints.constraints[0].checkpoint.target".to_owned(),
                "completion.conditions[0].when".to_owned(),
            ],
        ),
        (
            "Cards",
            dotted,
            "adl",
            vec![
                format!("{set}.set[card.type].variable"),
                format!("{set}.set[card.type].expression"),
            ],
        ),
    ] {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), &[("in.agent.abl", source)]);
        let (_, report) = converted(folder.path(), "in.agent.abl", to);
        for path in lost {
            let path = format!("agents.{name}.{path}");
            assert_eq!(fate(&report, &path), "dropped", "{path}: {}", written(folder.path()));
        }
        if name == "Cards" {
            assert!(!musts(&report).is_empty());
            assert!(!written(folder.path()).contains("card.type: "), "{}", written(folder.path()));
        }
    }
}

/// A greeting with a variable is said first, hooks follow what a conversation begins with, and a warning stops nothing.
#[test]
fn beginnings_and_warnings_keep_their_meaning() {
    let memory = "MEMORY:\n  session:\n    - guest\n        TYPE: string\n        INITIAL: \"you\"\n    - tries\n        TYPE: number\n        INITIAL: 0\n";
    let greets = format!(
        "AGENT: Hall\nGOAL: \"Help\"\n{memory}ON_START:\n  RESPOND: \"Good day {{{{guest}}}}\"\n"
    );
    let counts = format!(
        "AGENT: Hall\nGOAL: \"Help\"\n{memory}ON_START:\n  SET: tries = 0\nHOOKS:\n  before_turn:\n    SET: tries = tries + 1\nFLOW:\n  entry_point: ask\n  ask:\n    REASONING: false\n    RESPOND: \"Turn {{{{tries}}}}\"\n    THEN: COMPLETE\n"
    );
    let warns = "AGENT: Hall\nGOAL: \"Help\"\nTOOLS:\n  quote(years: number) -> {rate: number}\n    description: \"Rate\"\n    type: http\n    endpoint: \"https://a.example/q\"\n    method: GET\nGATHER:\n  years:\n    prompt: \"Years?\"\n    type: number\n    required: true\nCONSTRAINTS:\n  - WARN years < 35 BEFORE calling quote\n    ON_FAIL: \"Long terms cost more.\"\n".to_owned();
    let text = |source: &str| {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), &[("in.agent.abl", source)]);
        converted(folder.path(), "in.agent.abl", "agent-script");
        written(folder.path())
    };
    let greeting = text(&greets);
    assert!(greeting.contains("Say: \"Good day {!@variables.guest}\""), "{greeting}");
    assert!(!greeting.contains("welcome:"), "{greeting}");
    let counting = text(&counts);
    let place = |what: &str| counting.find(what).unwrap_or_else(|| panic!("{what}: {counting}"));
    let (reset, count) =
        (place("set @variables.tries = 0"), place("set @variables.tries = @variables.tries + 1"));
    assert!(reset < count && count < place("transition to @subagent.ask"), "{counting}");
    let warning = text(&warns);
    assert!(warning.contains("Long terms cost more.\" Then go on."), "{warning}");
    assert!(!warning.contains("Do not"), "{warning}");
}

/// What is proved to do the same is the same, however it is written: the code says so, and the text that something is
/// written otherwise.
#[test]
fn notation_is_no_difference() {
    let swapped = CHOICE.replace(
        "      - IF: x == 1\n        THEN: one\n      - IF: x == 2\n        THEN: two\n",
        "      - IF: x == 2\n        THEN: two\n      - IF: x == 1\n        THEN: one\n",
    );
    let named = CHOICE.replace(
        "    CALL: note(\"a\", x)\n",
        "    CALL: note\n      WITH:\n        id: \"a\"\n        amount: x\n",
    );
    let renamed = CHOICE.replace("one\n", "first\n").replace("  one:", "  first:");
    for (what, other) in [("swapped", swapped), ("named", named), ("renamed", renamed)] {
        assert_ne!(CHOICE, other, "{what}");
        let (code, out) = compared(CHOICE, &other);
        assert_eq!(code, 0, "{what}: {out}");
        assert!(!out.contains("control flow: differs"), "{what}: {out}");
        let same = [
            "They have the same meaning\n",
            "Under the names of the first, they have the same meaning\n",
            "what differs is names, order and notation\n",
        ];
        assert!(same.iter().any(|text| out.contains(text)), "{what}: {out}");
    }
    for (what, other) in [
        ("arguments", CHOICE.replace("note(\"a\", x)", "note(\"b\", x)")),
        ("branches that overlap", CHOICE.replace("IF: x == 2", "IF: x == 1")),
        ("texts", CHOICE.replace("One.", "Eins.")),
    ] {
        let (code, out) = compared(CHOICE, &other);
        assert_eq!(code, 1, "{what}: {out}");
    }
}
