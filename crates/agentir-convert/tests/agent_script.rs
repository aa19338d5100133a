//! Agent Script as a target: one feature per snapshot.

#![allow(clippy::expect_used, reason = "tests end by panicking")]

use agentir_convert::{OutputFile, Target, convert, read_back};
use agentir_lang_abl::ABL;
use agentir_lang_agent_script::{AGENT_SCRIPT, AGENTFORCE};
use agentir_syntax::{Language, Languages};

fn languages() -> Languages {
    static ALL: [&dyn Language; 2] = [ABL, AGENT_SCRIPT];
    Languages::new(ABL, &ALL)
}

fn written(path: &str, source: &str) -> String {
    let files = [OutputFile { path: path.to_owned(), text: source.to_owned() }];
    let (sources, program, _) = read_back(languages(), &files);
    let done = convert(languages(), &program, &sources, Target(AGENTFORCE));
    assert!(done.diagnostics.is_empty(), "{:?}", done.diagnostics);
    // The header is the same for all.
    let text = &done.files.first().expect("one file").text;
    text.split_once("variables:").map_or_else(|| text.clone(), |(_, rest)| rest.to_owned())
}

#[test]
fn steps_become_subagents() {
    insta::assert_snapshot!(written(
        "booking.agent.abl",
        r#"AGENT: booking
GOAL: "Books a table"
GATHER:
  count:
    TYPE: number
    PROMPT_MODE: extract_only
FLOW:
  entry_point: start
  start:
    RESPOND: "For how many people?"
    ON_INPUT:
      - IF: count > 8
        RESPOND: "We have no table for more than eight."
        THEN: start
      - IF: input.contains("later")
        SET: count = null
        THEN: done
      - ELSE:
        THEN: done
  done:
    RESPOND: "A table for {{count}}."
    THEN: COMPLETE
"#
    ));
}

#[test]
fn meanings_are_kept_where_the_languages_differ() {
    insta::assert_snapshot!(written(
        "shop.agent.abl",
        r#"AGENT: shop
GOAL: "Sells lamps"
MEMORY:
  session:
    - wish
    - total
        TYPE: number
TOOLS:
  sell(lamp: string) -> {code: string}
    description: "Sells a lamp"
CONSTRAINTS:
  rules:
    - REQUIRE total < 100 AND wish IN ["desk", "floor"] BEFORE calling sell
      ON_FAIL: "We do not sell that."
COMPLETE:
  - WHEN: sell.code IS SET
    RESPOND: "Your code is {{sell.code}}."
"#
    ));
}

#[test]
fn a_prompt_is_not_nested() {
    insta::assert_snapshot!(written(
        "desk.agent",
        r#"config:
    developer_name: "desk"
access:
    default_agent_user: "a@b.example"
system:
    messages:
        error: "Sorry."
variables:
    day: mutable string = ""
    open: mutable boolean = False
start_agent desk:
    description: "Tells the hours"
    reasoning:
        instructions: ->
            if @variables.open:
                if @variables.day == "sunday":
                    | Until noon.
                else:
                    | Until six.
            else if @variables.day != "":
                | Closed
                  on {!@variables.day}.
            else:
                | Closed.
"#
    ));
}
