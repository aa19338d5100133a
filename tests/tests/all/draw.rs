//! Pictures of graphs: a few small ones as Mermaid, in full; all the others keep what holds for every
//! picture.

#![allow(
    clippy::panic,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "tests end by panicking"
)]

use agentir_draw::{Detail, Finding, Graph, View, dot, graph, html, mermaid, svg};
use agentir_flow::Cfg;
use agentir_lang_abl::Options;
use agentir_tests::check::{Checked, File, check};
use agentir_tests::documents::assert_fresh;
use agentir_tests::samples::{adl, agent_script, all_ours, root};
use rayon::prelude::*;

fn read(name: &str, text: &str) -> Checked {
    let file = File { name: name.to_owned(), text: text.to_owned() };
    check(&[file], Options { fragment: true, ..Options::default() })
}

fn drawn(checked: &Checked, detail: Detail) -> Graph {
    let cfg = Cfg::of_program(&checked.program);
    let entry = checked.program.entry().and_then(|a| cfg.find(&a.metadata.name.value));
    graph(&cfg, &checked.sources, &View { detail, agents: &[], entry })
}

/// Without the lines that say how it looks.
fn flowchart(checked: &Checked, detail: Detail) -> String {
    let text = mermaid(&drawn(checked, detail));
    let plain = text.lines().filter(|l| !l.trim_start().starts_with("classDef"));
    plain.collect::<Vec<_>>().join("\n")
}

#[test]
fn a_flow_with_a_way_out_and_a_lost_step() {
    let checked = read(
        "a.agent.abl",
        "AGENT: Ferry_Desk
GOAL: \"Sell tickets\"
TOOLS:
  book(seats: number) -> {ok: boolean}
FLOW:
  ask:
    REASONING: false
    GATHER: seats
    DIGRESSIONS:
      - INTENT: \"cancel\"
        GOTO: bye
    THEN: buy
  buy:
    REASONING: false
    CALL: book(seats)
    ON_SUCCESS:
      RESPOND: \"Done\"
      THEN: COMPLETE
    ON_FAIL:
      THEN: ask
  bye:
    REASONING: false
    RESPOND: \"Bye\"
    THEN: COMPLETE
  lost:
    REASONING: false
    THEN: COMPLETE
",
    );
    insta::assert_snapshot!(flowchart(&checked, Detail::Steps));
}

#[test]
fn each_line_of_an_agent_belongs_to_what_is_written_there() {
    let text = "AGENT: Desk
GOAL: \"Sell tickets\"
TOOLS:
  book(seats: number) -> {ok: boolean}
FLOW:
  ask:
    REASONING: false
    GATHER: seats
    THEN: buy
  buy:
    REASONING: false
    CALL: book(seats)
    ON_SUCCESS:
      RESPOND: \"Done\"
      THEN: COMPLETE
    ON_FAIL:
      THEN: ask
  bye:
    RESPOND: \"Bye\"
    THEN: COMPLETE
";
    let graph = drawn(&read("a.agent.abl", text), Detail::Steps);
    // As the page looks for it.
    let at = |line: usize| {
        let lines = graph.nodes.iter().filter_map(|node| {
            let first: usize = node.location.as_ref()?.rsplit(':').nth(1)?.parse().ok()?;
            let last = node.last_line?;
            (first..=last).contains(&line).then(|| (last - first, node.step.as_deref()))
        });
        lines.min_by_key(|(length, _)| *length).and_then(|(_, step)| step)
    };
    for (line, step) in [
        (2, None),
        (4, None),
        (6, Some("ask")),
        (8, Some("ask")),
        (12, Some("buy")),
        (14, Some("buy")),
        (17, Some("buy")),
        (19, Some("bye")),
    ] {
        assert_eq!(at(line), step, "line {line}");
    }
}

#[test]
fn branches_after_an_answer() {
    let checked = read(
        "b.agent.abl",
        "AGENT: Yes_No
GOAL: \"Ask\"
FLOW:
  ask:
    REASONING: false
    RESPOND: \"Sure?\"
    ON_INPUT:
      - IF: input == \"yes\"
        SET: sure = true
        THEN: COMPLETE
      - IF: input == \"no\"
        THEN: ESCALATE
      - ELSE:
        THEN: ask
",
    );
    insta::assert_snapshot!(flowchart(&checked, Detail::Statements));
}

#[test]
fn a_script_that_hands_over() {
    let checked = read(
        "c.agent",
        "system:
    instructions: \"Be kind\"
config:
    agent_name: \"Kiln\"
variables:
    hot: mutable boolean = False
start_agent hall:
    description: \"Decides\"
    before_reasoning:
        if @variables.hot:
            transition to @subagent.alarm
    reasoning:
        instructions: \"Help\"
        actions:
            heat: @utils.setVariables
                with hot = ...
            go_alarm: @utils.transition to @subagent.alarm
                available when @variables.hot == True
subagent alarm:
    description: \"Alarms\"
    reasoning:
        instructions: \"Calm down\"
        actions:
            person: @utils.escalate
",
    );
    insta::assert_snapshot!(flowchart(&checked, Detail::Steps));
}

#[test]
fn tries_and_a_circle_that_never_waits() {
    let checked = read(
        "d.yml",
        "meta:
  type: ensemble agent
  description: Chooses
  contains:
    - clock
main:
  type: flow agent
  steps:
    - call: meta
clock:
  type: flow agent
  description: Tells the time
  args:
    - time
  steps:
    - label: again
    - user
    - if: time == None
      then:
        - next: again
          tries: 3
    - next: spin
  spin:
    - bot: \"Tick\"
    - next: spin
",
    );
    insta::assert_snapshot!(flowchart(&checked, Detail::Steps));
}

#[test]
fn every_picture_of_our_samples_is_sound() {
    let abl = all_ours().into_iter().map(|s| s.files);
    let adl = ["valid", "invalid"].into_iter().flat_map(adl);
    let script = ["valid", "invalid"].into_iter().flat_map(agent_script).map(|s| s.files);
    let all: Vec<Vec<File>> = abl.chain(adl).chain(script).collect();
    all.into_par_iter().for_each(|files| {
        let checked = check(&files, Options::default());
        for detail in [Detail::Agents, Detail::Steps, Detail::Statements] {
            let graph = drawn(&checked, detail);
            for edge in &graph.edges {
                assert!(edge.from < graph.nodes.len() && edge.to < graph.nodes.len());
            }
            let wide = graph.nodes.len() > 60;
            let _ = (mermaid(&graph), dot(&graph));
            // The layout is slow without optimization.
            if !wide {
                let picture = svg(&graph).expect("it is small");
                assert!(picture.starts_with("<svg") && picture.ends_with("</svg>\n"));
                assert!(!picture.contains("NaN"), "{}", files[0].name);
            }
        }
    });
}

#[test]
fn what_a_document_says_is_escaped() {
    let nasty = "</script><img src=x onerror=alert(1)>\\\" & `x`";
    let text = format!(
        "AGENT: Bad\nGOAL: \"x\"\nFLOW:\n  a:\n    REASONING: false\n    RESPOND: |\n      {nasty}\n    THEN: COMPLETE\n"
    );
    let graph = drawn(&read("e.agent.abl", &text), Detail::Statements);
    assert!(graph.nodes.iter().any(|n| n.label.contains("<img")), "the text is in the picture");
    let found = Finding {
        file: "e.agent.abl".to_owned(),
        line: 5,
        severity: "error",
        message: nasty.to_owned(),
    };
    let page = html("<b>", ("<i>".to_owned(), graph.clone()), [], &[found]).unwrap();
    assert!(!page.contains("<img") && !page.contains("<b>") && !page.contains("<i>"));
    assert!(!svg(&graph).unwrap().contains("<img"));
    assert!(!mermaid(&graph).contains("<img"));
    // Between quotes DOT only knows the quote and the backslash.
    assert!(!dot(&graph).contains(" onerror=alert(1)>\\\""));
    assert!(dot(&graph).contains("onerror=alert(1)>\\\\\\\" &"));
}

/// The picture in the documentation is that of the sample; `AGENTIR_UPDATE_PAGES=1` writes it anew.
#[test]
fn the_picture_in_the_documentation_is_fresh() {
    // As `agentir graph` prints it in the root of the repository.
    let sample = "corpus/abl/valid/parking_permit.agent.abl";
    let text = std::fs::read_to_string(root().join(sample)).unwrap();
    let file = File { name: sample.to_owned(), text };
    let checked = check(&[file], Options::default());
    let fresh = svg(&drawn(&checked, Detail::Steps)).unwrap();
    let at = root().join("docs/parking_permit.svg");
    assert_fresh(&at, &fresh, "this test with AGENTIR_UPDATE_PAGES=1");
}
