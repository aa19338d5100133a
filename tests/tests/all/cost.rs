//! What a turn can cost, from texts to numbers.

#![allow(
    clippy::panic,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "tests end by panicking"
)]

use agentir_flow::Cfg;
use agentir_flow::cost::{Calls, Reason, UpperBound, cost};
use agentir_lang_abl::Options;
use agentir_tests::check::{File, check};
use agentir_tests::samples::{Sample, all_ours, external_abl};

fn files(text: &str) -> Vec<File> {
    text.split("--- ")
        .filter_map(|part| part.split_once('\n'))
        .map(|(name, text)| File { name: name.to_owned(), text: text.to_owned() })
        .collect()
}

/// The models and tools of each agent: its own, and with others.
fn table(text: &str) -> Vec<String> {
    let checked = check(&files(text), Options::default());
    let cfg = Cfg::of_program(&checked.program);
    let count = |most: UpperBound| match most {
        UpperBound::AtMost(n) => n.to_string(),
        UpperBound::Unbounded => "∞".to_owned(),
    };
    let both = |calls: Calls| format!("{} {}", count(calls.models), count(calls.tools));
    cost(&cfg)
        .iter()
        .map(|c| {
            let name = &cfg.agent(c.agent).unwrap().agent.metadata.name;
            format!("{name}: {} / {}", both(c.own), both(c.total))
        })
        .collect()
}

const TOOL: &str = "TOOLS:\n  look(id: string) -> {state: string}\n    description: \"Looks\"\n\n";

#[test]
fn a_reasoning_loop_takes_as_many_rounds_as_it_may() {
    let agent = |limit: &str| format!("--- a.agent.abl\nAGENT: A\n\nGOAL: \"g\"\n\n{limit}{TOOL}");
    assert_eq!(table(&agent("")), ["A: 10 10 / 10 10"]);
    assert_eq!(
        table(&agent("EXECUTION:\n  max_iterations: 3\n\n")),
        ["A: 3 3 / 3 3"],
        "the agent's own bound"
    );
}

#[test]
fn attempts_multiply_and_a_loop_without_a_bound_has_none() {
    let agent = |limit: &str| {
        format!(
            "--- a.agent.abl\nAGENT: A\n\nGOAL: \"g\"\n\n{TOOL}FLOW:\n  try -> done\n\n  try:\n    REASONING: false\n{limit}    CALL: look(id: \"1\")\n    ON_SUCCESS:\n      THEN: done\n    ON_FAIL:\n      THEN: try\n\n  done:\n    REASONING: false\n    RESPOND: \"Bye.\"\n    THEN: COMPLETE\n"
        )
    };
    assert_eq!(table(&agent("    MAX_ATTEMPTS: 4\n    ON_EXHAUSTED: done\n")), ["A: 0 4 / 0 4"]);
    assert_eq!(table(&agent("")), ["A: 0 ∞ / 0 ∞"]);
}

#[test]
fn other_agents_count_if_nobody_waits_before_them() {
    let agents = "--- a.agent.abl\nSUPERVISOR: A\n\nGOAL: \"g\"\n\nHANDOFF:\n  - TO: B\n    WHEN: user.intent == \"look\"\n    CONTEXT:\n      pass: []\n      summary: \"s\"\n    RETURN: false\n";
    let helper = format!("--- b.agent.abl\nAGENT: B\n\nGOAL: \"g\"\n\n{TOOL}");
    let found = table(&format!("{agents}{helper}"));
    assert_eq!(found[1], "B: 10 10 / 10 10");
    assert!(found[0].ends_with("/ 10 10") || found[0].ends_with("/ 11 10"), "{}", found[0]);
    assert!(found[0].starts_with("A: 1 0"), "{}", found[0]);
}

#[test]
fn agents_that_lead_to_each_other_have_no_bound_and_say_so() {
    let agent = |name: &str, to: &str| {
        format!(
            "--- {name}.agent.abl\nAGENT: {name}\n\nGOAL: \"g\"\n\nHANDOFF:\n  - TO: {to}\n    WHEN: the user wants {to}\n    CONTEXT:\n      pass: []\n      summary: \"s\"\n    RETURN: false\n"
        )
    };
    let text = agent("A", "B") + &agent("B", "A");
    let checked = check(&files(&text), Options::default());
    let cfg = Cfg::of_program(&checked.program);
    for one in cost(&cfg) {
        assert!(one.own.is_bounded() && !one.total.is_bounded(), "{one:?}");
        let [Reason::Agents(lines)] = one.reasons.as_slice() else { panic!("{one:?}") };
        assert_eq!(lines.len(), 2);
    }
}

#[test]
fn the_whole_is_never_less_than_a_part_and_has_a_reason_where_it_has_no_bound() {
    parts_and_wholes_agree(&all_ours());
}

#[test]
#[cfg_attr(not(external_corpus), ignore = "needs the external corpus (AGENTIR_EXTERNAL_CORPUS)")]
fn the_whole_is_never_less_than_a_part_in_the_specifications() {
    parts_and_wholes_agree(&external_abl());
}

fn parts_and_wholes_agree(samples: &[Sample]) {
    let at_least = |a: UpperBound, b: UpperBound| match (a, b) {
        (UpperBound::AtMost(a), UpperBound::AtMost(b)) => a >= b,
        (UpperBound::Unbounded, _) => true,
        (UpperBound::AtMost(_), UpperBound::Unbounded) => false,
    };
    for sample in samples {
        let options = Options { version: sample.version, fragment: sample.fragment };
        let checked = check(&sample.files, options);
        let cfg = Cfg::of_program(&checked.program);
        for one in cost(&cfg) {
            let name = &sample.files[0].name;
            assert!(at_least(one.total.models, one.own.models), "{name}: {one:?}");
            assert!(at_least(one.total.tools, one.own.tools), "{name}: {one:?}");
            assert_eq!(one.total.is_bounded(), one.reasons.is_empty(), "{name}: {one:?}");
        }
    }
}
