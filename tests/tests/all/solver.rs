//! Conditions as people write them, asked about in the ways lints do: each alone, and each with each
//! other of its agent. Nearly all are to be decided without Z3.

#![allow(clippy::panic, reason = "tests end by panicking")]

use agentir_ir::{Agent, Node};
use agentir_lang_abl::Options;
use agentir_solver::{Assertion, Facts, Goal, Label, Query, Solver, Statistics, Test};
use agentir_tests::check::{File, check};
use agentir_tests::samples::external_agent_script;

/// More conditions of an agent than this are not asked about in pairs.
const PAIRED: usize = 30;

fn ask(agent: &Agent, solver: &mut Solver) {
    let mut tests: Vec<Test<'_>> = Vec::new();
    agent.walk(&mut |node| {
        if let Node::Condition(condition, _) = node {
            tests.push(condition.into());
        }
    });
    let facts = Facts::new();
    let dialect = agent.metadata.dialect;
    let mut answer = |assumptions: Vec<Assertion<'_>>, goal: Goal<'_>| {
        solver.solve(&Query { dialect, facts: &facts, assumptions, goal })
    };
    for (i, a) in tests.iter().enumerate() {
        answer(vec![Assertion::holds(*a, Label(0))], Goal::Satisfiable);
        answer(vec![], Goal::Implied(Assertion::holds(*a, Label(0))));
        for b in tests.iter().take(PAIRED).skip(i + 1) {
            let both = vec![Assertion::holds(*a, Label(0)), Assertion::holds(*b, Label(1))];
            answer(both, Goal::Satisfiable);
            let left = vec![Assertion::fails(*a, Label(0)), Assertion::holds(*b, Label(1))];
            answer(left, Goal::Satisfiable);
            let follows = Goal::Implied(Assertion::holds(*b, Label(1)));
            answer(vec![Assertion::holds(*a, Label(0))], follows);
        }
    }
}

fn statistics(programs: Vec<Vec<File>>) -> Statistics {
    let mut solver = Solver::default();
    for files in programs {
        for agent in &check(&files, Options::default()).program.agents {
            ask(agent, &mut solver);
        }
    }
    *solver.statistics()
}

/// Under 2 % of questions need Z3, none reaches its limit, and hardly a state is refused by the
/// evaluator.
fn mostly_cheap(found: &Statistics) {
    println!("{found}");
    assert!(found.with_z3 * 50 < found.queries, "{found}");
    assert!(found.unconfirmed * 1000 < found.queries, "{found}");
    assert_eq!(found.out_of_budget, 0, "{found}");
}

#[test]
fn generated_projects_hardly_need_z3() {
    let programs = agentir_bench::generate::projects(300, 11).into_iter().map(|project| {
        let named = |f: agentir_bench::generate::File| File { name: f.path, text: f.text };
        project.files.into_iter().map(named).collect()
    });
    let found = statistics(programs.collect());
    assert!(found.queries > 1000, "{found}");
    mostly_cheap(&found);
}

#[test]
#[cfg_attr(not(external_corpus), ignore = "needs the external corpus (AGENTIR_EXTERNAL_CORPUS)")]
fn agents_by_others_hardly_need_z3() {
    let programs = external_agent_script().into_iter().map(|file| vec![file]);
    let found = statistics(programs.collect());
    assert!(found.queries > 1000, "{found}");
    mostly_cheap(&found);
}
