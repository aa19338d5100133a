//! `agentir test --update`: expectations brought up to what agents do, and nothing else touched.

#![allow(clippy::unwrap_used, missing_docs, reason = "tests end by panicking")]

use agentir_lang_abl::Options;
use agentir_runtime::Machine;
use agentir_scenario::{Scenario, run, update};
use agentir_tests::check::{File, check};

const AGENT: &str = r#"AGENT: Kiosk

GOAL: "Sell newspapers"

TOOLS:
  price(paper: string) -> {euros: number}
    description: "What a newspaper costs"

FLOW:
  ask:
    REASONING: false
    RESPOND: "Good morning."
    COLLECT: paper
    PROMPT: "Which newspaper?"
    THEN: tell

  tell:
    REASONING: false
    CALL: price(paper)
      AS: cost
    ON_SUCCESS:
      RESPOND: "{{paper}}: {{cost.euros}} euros."
      THEN: COMPLETE
    ON_FAIL:
      RESPOND: "We do not have {{paper}}."
      THEN: COMPLETE
"#;

/// The file after an update, which then passes.
fn updated(text: &str) -> String {
    let file = File { name: "kiosk.agent.abl".to_owned(), text: AGENT.to_owned() };
    let checked = check(&[file], Options::default());
    let machine = Machine::new(&checked.program);
    let done = update(&machine, text).unwrap();
    assert!(done.left.is_empty(), "{:?}", done.left);
    let outcomes = run(&machine, &Scenario::read(&done.text).unwrap()).unwrap();
    assert!(outcomes.iter().all(|o| o.failures.is_empty()), "{}", done.text);
    assert_eq!(update(&machine, &done.text).unwrap().changes, 0, "doing it twice changes nothing");
    done.text
}

#[test]
fn what_differs_is_written_anew_where_it_stands() {
    let file = r#"# Prices of newspapers.
agents: kiosk.agent.abl
tools:
  price:
    - answer: { euros: 3 }   # since May
tests:
  - name: a newspaper
    turns:
      - says: ["Good evening.", "Which newspaper?"]  # the greeting
        step: start
      - user: "The   Herald"
        calls: [{ price: { paper: Herald } }, track]
        says:
          # what it costs
          - 'The   Herald: 2 euros.'   # once
          - Goodbye.
          - See you.
        state: { paper: { any: false }, cost.euros: 2 }
        status: await

  - name: in the other form
    turns:
      - says:
          - "Good morning."   # in the morning
        agent: "Nobody"
      - {user: Globe, says: []}
"#;
    insta::assert_snapshot!(updated(file), @r#"
    # Prices of newspapers.
    agents: kiosk.agent.abl
    tools:
      price:
        - answer: { euros: 3 }   # since May
    tests:
      - name: a newspaper
        turns:
          - says: ["Good morning.", "Which newspaper?"]  # the greeting
            step: ask
          - user: "The   Herald"
            calls: [{ price: { paper: "The   Herald" } }]
            says:
              # what it costs
              - "The   Herald: 3 euros."   # once
            state: { paper: "The   Herald", cost.euros: 3 }
            status: done

      - name: in the other form
        turns:
          - says:
              - "Good morning."   # in the morning
              - "Which newspaper?"
            agent: Kiosk
          - {user: Globe, says: ["Globe: 3 euros."]}
    "#);
}

#[test]
fn a_file_that_is_right_stays_as_it_is() {
    let file = "agents: kiosk.agent.abl\ntests:\n- name: x\n  turns:\n  - says: [ {contains: MORNING} , {matches: '^Which'} ]\n";
    assert_eq!(updated(file), file);
}

#[test]
fn lists_become_empty_and_fill_up() {
    let file = "tests:\n- name: x\n  turns:\n  - says: []\n    calls:\n      - price  # never\n    state: {}\n";
    insta::assert_snapshot!(updated(file), @r#"
    tests:
    - name: x
      turns:
      - says: ["Good morning.", "Which newspaper?"]
        calls: []  # never
        state: {}
    "#);
}
