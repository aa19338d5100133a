//! The control-flow graph of every sample is well formed, and that of broken texts as well; it is
//! made in linear time.

#![allow(
    clippy::panic,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "tests end by panicking"
)]

use agentir_flow::cfg::{Cfg, DecidedBy, EdgeKind, NodeKind, Origin};
use agentir_ir::Program;
use agentir_lang_abl::Options;
use agentir_tests::check::{File, check};
use agentir_tests::mutate::damaged;
use agentir_tests::samples::{
    Sample, adl, agent_script, all_ours, external_abl, external_agent_script,
};
use cpu_time::ThreadTime;
use rayon::prelude::*;
use std::time::Duration;

/// What must hold for every graph, whatever the agent.
fn problems(program: &Program) -> Vec<String> {
    let cfg = Cfg::of_program(program);
    let mut wrong = Vec::new();
    for stuck in cfg.dead_ends() {
        wrong.push(format!("leads nowhere: {:?}", cfg.node(stuck).unwrap().kind));
    }
    for node in cfg.graph().node_indices() {
        let kind = cfg.node(node).unwrap().kind;
        let edges: Vec<_> = cfg.successors(node).map(|(_, e)| e).collect();
        // Where branches are tried, one is taken or control goes on: some edge has no guard, or only
        // tests that must not hold.
        let covers =
            |e: &&&agentir_flow::cfg::Edge<'_>| cfg.guard(e.guard).iter().all(|l| !l.holds);
        let restricts =
            matches!(cfg.node(node).unwrap().origin, Origin::Constraint(_) | Origin::Guardrail(_));
        if matches!(kind, NodeKind::Branch | NodeKind::Check)
            && !restricts
            && !edges.iter().any(|e| covers(&e))
        {
            wrong.push(format!("branches that cover not everything: {kind:?}"));
        }
        for edge in &edges {
            // Who decides by a condition has one.
            if edge.decided_by == DecidedBy::Condition
                && edge.guard.is_always()
                && !matches!(
                    edge.kind,
                    EdgeKind::Route
                        | EdgeKind::Branch
                        | EdgeKind::Next
                        | EdgeKind::Jump
                        | EdgeKind::Sequence
                )
            {
                wrong.push(format!("decided by no condition: {:?} from {kind:?}", edge.kind));
            }
            let guard = cfg.guard(edge.guard);
            for (at, literal) in guard.iter().enumerate() {
                let contradicts = |other: &agentir_flow::cfg::GuardLiteral<'_>| {
                    other.test.span() == literal.test.span() && other.holds != literal.holds
                };
                if guard[..at].iter().any(contradicts) {
                    wrong.push(format!("a guard that contradicts itself: {}", literal.test));
                }
            }
        }
    }
    for part in cfg.agents() {
        let entry = part.entry;
        if cfg.node(entry).unwrap().kind != NodeKind::Entry {
            wrong.push("an agent that does not begin".to_owned());
        }
        for node in part.nodes() {
            let _ = cfg.accesses(node);
        }
    }
    let _ =
        (cfg.loops(|_, _| true), cfg.turnless_loops(|a| cfg.interacts(a)), cfg.handoff_cycles());
    for id in (0..cfg.agents().len() as u32).map(agentir_flow::cfg::AgentId) {
        assert!(cfg.dominators(id).is_some());
        let _ = (cfg.can_finish(id), cfg.reachable_in(id), cfg.interacts(id));
        for unset in cfg.uninitialized_reads(id, |_| true) {
            let mut at = cfg.agent(id).unwrap().entry;
            for edge in &unset.path {
                let (from, to, _) = cfg.edge(*edge).unwrap();
                assert_eq!(from, at, "a way has no gaps");
                at = to;
            }
            assert_eq!(at, unset.read, "a way leads to the read");
        }
    }
    wrong
}

type Input = (Vec<File>, Options);

fn input(sample: Sample) -> Input {
    (sample.files, Options { version: sample.version, fragment: sample.fragment })
}

fn samples() -> Vec<Input> {
    let scripts = ["valid", "invalid"].into_iter().flat_map(agent_script);
    let adl = ["valid", "invalid"].into_iter().flat_map(adl);
    let abl = all_ours().into_iter().chain(scripts).map(input);
    abl.chain(adl.map(|f| (f, Options::default()))).collect()
}

#[test]
fn graphs_of_all_samples_are_well_formed() {
    graphs_are_well_formed(samples());
}

#[test]
#[cfg_attr(not(external_corpus), ignore = "needs the external corpus (AGENTIR_EXTERNAL_CORPUS)")]
fn graphs_of_third_party_programs_are_well_formed() {
    let scripts = external_agent_script().into_iter().map(|f| (vec![f], Options::default()));
    graphs_are_well_formed(external_abl().into_iter().map(input).chain(scripts).collect());
}

fn graphs_are_well_formed(inputs: Vec<Input>) {
    let mut wrong: Vec<String> = inputs
        .into_par_iter()
        .flat_map_iter(|(files, options)| {
            let checked = check(&files, options);
            let name = files[0].name.clone();
            problems(&checked.program).into_iter().map(move |p| format!("{name}: {p}"))
        })
        .collect();
    wrong.sort();
    assert!(wrong.is_empty(), "{} problems:\n  {}", wrong.len(), wrong.join("\n  "));
}

#[test]
fn damaged_texts_have_graphs_too() {
    let files: Vec<(File, Options)> = samples()
        .into_iter()
        .flat_map(|(files, options)| files.into_iter().map(move |f| (f, options)))
        .filter(|(f, _)| !f.name.ends_with(".json") && !f.name.ends_with(".py"))
        .collect();
    files.par_iter().for_each(|(file, options)| {
        for (_, text) in damaged(&file.text, 997).step_by(23) {
            let mutant = File { name: file.name.clone(), text };
            // Without rules: what they do is tested elsewhere.
            let options = Options { fragment: true, ..*options };
            let checked = check(std::slice::from_ref(&mutant), options);
            let wrong = problems(&checked.program);
            assert!(wrong.is_empty(), "{}: {wrong:?}\n{}", file.name, mutant.text);
        }
    });
}

/// A flow of `steps` steps, each with branches, a call and digressions.
fn long_flow(steps: usize) -> String {
    let mut text = String::from(
        "AGENT: Long_Way\nGOAL: \"Go a long way\"\nTOOLS:\n  look_up(name: string) -> {found: boolean}\nCONSTRAINTS:\n  - REQUIRE name IS SET BEFORE calling look_up\n    ON_FAIL: \"Who?\"\nON_ERROR:\n  tool_error:\n    RESPOND: \"Sorry\"\n    THEN: ESCALATE\nFLOW:\n  global_digressions:\n    - INTENT: \"stop\"\n      GOTO: s0\n",
    );
    for n in 0..steps {
        let next = if n + 1 == steps { "COMPLETE".to_owned() } else { format!("s{}", n + 1) };
        text.push_str(&format!(
            "  s{n}:\n    REASONING: false\n    RESPOND: \"Step {n}\"\n    CALL: look_up(name)\n    ON_SUCCESS:\n      SET: seen = {n}\n    ON_FAIL:\n      RESPOND: \"no\"\n      THEN: {next}\n    DIGRESSIONS:\n      - INTENT: \"help\"\n        RESPOND: \"ok\"\n        RESUME: true\n    ON_INPUT:\n      - IF: input == \"a\"\n        THEN: {next}\n      - IF: input == \"b\"\n        THEN: s0\n      - ELSE:\n        THEN: s{n}\n"
        ));
    }
    text
}

#[test]
fn a_graph_is_made_in_linear_time() {
    let nodes = |steps: usize| {
        let file = File { name: "long.agent.abl".to_owned(), text: long_flow(steps) };
        let checked = check(&[file], Options { fragment: true, ..Options::default() });
        let start = ThreadTime::now();
        let cfg = Cfg::of_agent(&checked.program.agents[0], &[]);
        let took = start.elapsed();
        (cfg.graph().node_count() + cfg.graph().edge_count(), took)
    };
    let ((small, before), (large, after)) = (nodes(400), nodes(4000));
    assert!(large < 11 * small, "{small} nodes and edges for 400 steps, {large} for 4,000");
    // Small times are not compared, and larger ones with a margin.
    let free = Duration::from_millis(500);
    assert!(after < free || after < 30 * before, "{before:?} for 400 steps, {after:?} for 4,000");
}

/// The graph of one ABL agent, and what it was read from.
fn with_graph(text: &str, test: impl FnOnce(&Cfg<'_>)) {
    let file = File { name: "a.agent.abl".to_owned(), text: text.to_owned() };
    let checked = check(&[file], Options { fragment: true, ..Options::default() });
    test(&Cfg::of_program(&checked.program));
}

const FIRST: agentir_flow::cfg::AgentId = agentir_flow::cfg::AgentId(0);

#[test]
fn an_else_is_the_negation_of_all_before_it() {
    with_graph(
        "AGENT: A\nGOAL: \"x\"\nFLOW:\n  ask:\n    REASONING: false\n    ON_INPUT:\n      - IF: n > 1\n        THEN: COMPLETE\n      - IF: the user sounds angry\n        THEN: ESCALATE\n      - ELSE:\n        THEN: ask\n",
        |cfg| {
            let again = cfg
                .graph()
                .edge_weights()
                .find(|e| e.kind == EdgeKind::Jump && cfg.guard(e.guard).iter().all(|l| !l.holds))
                .expect("the edge of the `ELSE`");
            let said: Vec<String> =
                cfg.guard(again.guard).iter().map(|l| format!("{} {}", l.holds, l.test)).collect();
            assert_eq!(said, ["false n > 1", "false the user sounds angry"]);
            assert_eq!(again.decided_by, DecidedBy::Model, "the model judges the words before it");
        },
    );
}

#[test]
fn a_read_is_unset_only_where_some_way_sets_nothing() {
    with_graph(
        "AGENT: A\nGOAL: \"x\"\nFLOW:\n  start:\n    REASONING: false\n    ON_INPUT:\n      - IF: input == \"a\"\n        SET: one = 1\n        THEN: say\n      - ELSE:\n        SET:\n          one = 2\n          two = 2\n        THEN: say\n  say:\n    REASONING: false\n    RESPOND: \"{{one}} {{two}}\"\n    THEN: COMPLETE\n",
        |cfg| {
            let unset = cfg.uninitialized_reads(FIRST, |name| name != "input");
            let names: Vec<&str> = unset.iter().map(|u| u.variable.name.as_str()).collect();
            assert_eq!(names, ["two"]);
            // The way there is by the branch that does not set it.
            let guards: Vec<_> =
                unset[0].path.iter().map(|e| cfg.guard(cfg.edge(*e).unwrap().2.guard)).collect();
            assert!(guards.iter().flatten().any(|l| l.holds), "by the first branch: {guards:?}");
        },
    );
}

#[test]
fn loops_are_bounded_and_wait_or_not() {
    let flow = |inside: &str, attempts: &str| {
        format!(
            "AGENT: A\nGOAL: \"x\"\nTOOLS:\n  t() -> {{ok: boolean}}\nFLOW:\n  a:\n    REASONING: false\n{attempts}{inside}    CALL: t()\n    ON_SUCCESS:\n      THEN: COMPLETE\n    ON_FAIL:\n      THEN: a\n"
        )
    };
    let of = |text: &str| {
        let mut all = Vec::new();
        with_graph(text, |cfg| {
            let jumps = |why| {
                matches!(why, EdgeKind::Jump | EdgeKind::Next | EdgeKind::Error | EdgeKind::Branch)
            };
            all = cfg.loops(|_, e| jumps(e.kind)).iter().map(|l| (l.bounded, l.waits)).collect();
            assert_eq!(cfg.turnless_loops(|_| true).len(), usize::from(all == [(false, false)]));
        });
        all
    };
    assert_eq!(of(&flow("", "")), [(false, false)]);
    assert_eq!(of(&flow("", "    MAX_ATTEMPTS: 3\n")), [(true, false)]);
    assert_eq!(of(&flow("    GATHER: name\n", "")), [(false, true)]);
}

#[test]
fn agents_that_hand_back_and_forth_are_found() {
    let text = "AGENT: A\nGOAL: \"x\"\nHANDOFF:\n  - TO: B\n    WHEN: x == 1\n    RETURN: false\n";
    let files = [
        File { name: "a.agent.abl".to_owned(), text: text.to_owned() },
        File {
            name: "b.agent.abl".to_owned(),
            text: text.replace("AGENT: A", "AGENT: B").replace("TO: B", "TO: A"),
        },
    ];
    let both = check(&files, Options::default());
    let cfg = Cfg::of_program(&both.program);
    let groups = cfg.handoff_cycles();
    assert_eq!(groups.len(), 1);
    assert_eq!(groups[0].1.len(), 2, "both handoffs are told");
    // One that comes back does not hand back and forth.
    let files = files.map(|f| File { text: f.text.replace("RETURN: false", "RETURN: true"), ..f });
    let checked = check(&files, Options::default());
    assert!(Cfg::of_program(&checked.program).handoff_cycles().is_empty());
}

#[test]
fn what_every_way_passes_dominates() {
    with_graph(
        "AGENT: A\nGOAL: \"x\"\nFLOW:\n  a:\n    REASONING: false\n    ON_INPUT:\n      - IF: n > 1\n        THEN: b\n      - ELSE:\n        THEN: c\n  b:\n    REASONING: false\n    THEN: c\n  c:\n    REASONING: false\n    THEN: COMPLETE\n",
        |cfg| {
            let part = &cfg.agents()[0];
            let dominators = cfg.dominators(FIRST).unwrap();
            let of_c: Vec<_> = dominators.dominators(part.step("c").unwrap()).unwrap().collect();
            assert!(of_c.contains(&part.step("a").unwrap()));
            assert!(!of_c.contains(&part.step("b").unwrap()));
        },
    );
}
