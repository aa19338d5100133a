//! Renames of names that stand in lists, in fields and in texts.

use super::*;

/// An agent that uses tools of a library, and a lookup table.
const IMPORTING: &str = r#"AGENT: Desk
GOAL: "Help"

TOOLS:
  file: "./tools/bank.tools.abl" [get_rate, get_card]

LOOKUP_TABLES:
  cities:
    source: inline
    values: [Rome, Oslo]

GATHER:
  city:
    prompt: "Which of the cities?"
    type: string
    semantics:
      lookup: cities

FLOW:
  begin -> done

  begin:
    REASONING: false
    CALL: get_rate(x: 1)
    THEN: done

  done:
    REASONING: false
    RESPOND: "Bye"
    THEN: COMPLETE
"#;

const IMPORTED: &str = r#"TOOLS:
  get_rate(x: number) -> {rate: number}
    description: "Rates"
    type: http
    endpoint: "https://bank.example/rate"
    method: GET
  get_card(x: number) -> {card: string}
    description: "Cards"
    type: http
    endpoint: "https://bank.example/card"
    method: GET
"#;

#[test]
fn names_that_a_list_or_a_field_takes_are_renamed() {
    let files = [("bank/desk.agent.abl", IMPORTING), ("bank/tools/bank.tools.abl", IMPORTED)];
    for (file, at) in [(files[0].0, "get_rate(x"), (files[1].0, "get_rate(x")] {
        let texts = rename(&files, file, at, "get_quote").unwrap();
        assert_eq!(texts[0], IMPORTING.replace("get_rate", "get_quote"));
        assert_eq!(texts[1], IMPORTED.replace("get_rate", "get_quote"));
    }
    for at in ["cities:", "cities\n\nFLOW"] {
        let texts = rename(&files, files[0].0, at, "towns").unwrap();
        // The words of a prompt are no reference.
        let expected = IMPORTING.replace("  cities:", "  towns:").replace(": cities", ": towns");
        assert_eq!(texts[0], expected);
    }
}

pub const TWO: &str = r#"system:
    instructions: "Help {!@variables.who}"
config:
    agent_name: "Library"
    description: "For {!@variables.who}"
variables:
    who: mutable string = ""
    days: mutable number = 0
start_agent front:
    description: "Welcome {!@variables.who}, then @subagent.lending"
    actions:
        quote:
            description: "Find"
            inputs:
                title: string
            outputs:
                due: number
            target: "flow://Quote"
    reasoning:
        instructions: ->
            if @variables.days > 3:
                transition to @subagent.lending
            | Use ask_quote, or {!@actions.ask_quote}. An ask quote is no name.
        actions:
            ask_quote: @actions.quote
                with title=@variables.who
                set @variables.days = @outputs.due
            lend: @utils.transition to @subagent.lending
                available when @variables.days > 2
            ask: @connected_subagent.remote
                with who=@variables.who
connected_subagent remote:
    target: "agentforce://Remote"
    description: "Far away"
    inputs:
        who: string = @variables.who
subagent lending:
    description: "Lend"
    actions:
        quote:
            description: "Find"
            inputs:
                title: string
            outputs:
                due: number
            target: "flow://Quote"
    reasoning:
        instructions: ->
            | Use ask_quote.
        actions:
            ask_quote: @actions.quote
                with title=@variables.who
"#;

#[test]
fn names_with_a_namespace_are_renamed_wherever_they_stand() {
    let file = "library.agent";
    let renamed = |at, new| rename(&[(file, TWO)], file, at, new).unwrap().remove(0);
    let who = renamed("who: mutable", "reader");
    let expected = TWO.replace("@variables.who", "@variables.reader");
    assert_eq!(who, expected.replace("who: mutable", "reader: mutable"));
    assert_eq!(renamed("lending:", "loans"), TWO.replace("lending", "loans"));
    let remote = TWO.replace("subagent remote", "subagent far").replace(".remote", ".far");
    assert_eq!(renamed("remote:", "far"), remote);
}

#[test]
fn prompts_follow_the_names_of_tools_in_their_own_agent() {
    let file = "library.agent";
    let (front, lending) = TWO.split_at(TWO.find("subagent lending:").unwrap());
    let first = rename(&[(file, TWO)], file, "ask_quote: ", "get_quote").unwrap().remove(0);
    assert_eq!(first, front.replace("ask_quote", "get_quote") + lending);
    let at = "ask_quote: @actions.quote\n                with title=@variables.who\n\"";
    let at = at.trim_end_matches('"');
    assert_eq!(TWO.matches(at).count(), 2);
    let second = snapshot(&[(file, TWO)]);
    let (id, _) = second.file(file).unwrap();
    let offset = u32::try_from(TWO.rfind("ask_quote:").unwrap()).unwrap();
    let edits = second.rename(id, offset, "get_quote").unwrap().edits;
    assert_eq!(edits.len(), 2);
    assert!(edits.iter().all(|edit| edit.span.start as usize > front.len()));
}

const FORBIDDEN: &str = r#"SUPERVISOR: Desk
GOAL: "Help"

TOOLS:
  close(day: date) -> {closed: boolean}
  open(day: date) -> {open: boolean}

AGENTS:
  - REF: "booking.agent.abl"
    ALIAS: booking

BEHAVIOR:
  forbiddenActions: [close, open]

ROUTING:
  - DEFAULT -> booking
"#;

/// What a supervisor must never call stays forbidden under another name.
#[test]
fn forbidden_actions_follow_the_names_of_tools() {
    let file = "desk.agent.abl";
    let renamed = rename(&[(file, FORBIDDEN)], file, "close(day", "shut").unwrap().remove(0);
    let expected = FORBIDDEN.replace("close(day", "shut(day").replace("[close,", "[shut,");
    assert_eq!(renamed, expected);
}

const GUARDED: &str = r#"AGENT: Desk
GOAL: "Help"

GATHER:
  city:
    prompt: "Which city?"
    type: string
    default: home

MEMORY:
  session:
    - home: string
    - other: number

CONSTRAINTS:
  always:
    - REQUIRE home != "x"
      ON_FAIL: "Not {{home}}, please"

GUARDRAILS:
  polite:
    kind: output
    check: home == "y"
    action: block
    message: "I do not talk about {{home}}"
"#;

const SUMS: &str = r#"main:
  type: flow agent
  description: Rates
  args:
    - total
    - city
  steps:
    - call: rate_of
      args:
        city: city
    - if: rate_of.rate + 1 > 5
      then:
        - bot: "${rate_of.rate}"
    - if: desk.who == "x"
      then:
        - call: desk
    - if: desk.who + 1 > 5
      then:
        - call: desk

desk:
  type: llm agent
  description: d
  args:
    - who
  prompt: Ask for who
"#;

#[test]
fn names_in_messages_defaults_and_sums_are_renamed() {
    let (unguarded, _) = GUARDED.split_at(GUARDED.find("\nGUARDRAILS").unwrap());
    let desk = rename(&[("a.agent.abl", unguarded)], "a.agent.abl", "home: string", "place");
    // A default is a value, here the text `home`, and no reference.
    let expected = unguarded.replace("home", "place").replace("default: place", "default: home");
    assert_eq!(desk.unwrap().remove(0), expected);
    let bot = rename(&[("agents.yml", SUMS)], "agents.yml", "who\n  prompt", "visitor").unwrap();
    let expected = SUMS.replace("- who", "- visitor").replace("desk.who", "desk.visitor");
    assert_eq!(expected.matches("desk.visitor").count(), 2);
    assert_eq!(bot[0], expected);
    let at = "rate_of\n";
    let undefined = rename(&[("agents.yml", SUMS)], "agents.yml", at, "price_of");
    assert_eq!(undefined, Err(RenameError::Undefined("rate_of".into())));
    let bot = format!("tools:\n  - tools.py\n\n{SUMS}");
    let code = "def rate_of(city):\n    return {\"rate\": 1}\n";
    let files = [("b/agents.yml", bot.as_str()), ("b/tools.py", code)];
    let tool = rename(&files, "b/agents.yml", at, "price_of").unwrap();
    assert_eq!(tool[0], bot.replace("rate_of", "price_of"));
    assert_eq!(tool[1], code.replace("rate_of", "price_of"));
    // The message of a guardrail is data; the refusal says where the name stands.
    let refused = rename(&[("a.agent.abl", GUARDED)], "a.agent.abl", "home: string", "place");
    let said = refused.unwrap_err().to_string();
    assert!(said.contains("`message: \"I do not talk about {{home}}\"`"), "{said}");
}
