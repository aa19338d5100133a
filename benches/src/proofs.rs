//! The cost of proofs: their share of the time, the share of queries that reach Z3, the slowest program, and one agent
//! far larger than any that people write.

use crate::documents::{Rules, load};
use crate::generate::Project;
use crate::measure::fastest;
use agentir_lint::{Selection, Statistics};
use std::fmt::Write as _;
use std::hint::black_box;
use std::time::Duration;

/// The numbers of constraints and of steps of the large agent.
const LARGE: (usize, usize) = (2_000, 500);

/// All rules except those that query the solver.
fn without_solver() -> Selection {
    let ignore = ["proofs", "unreachable-branch"].map(str::to_owned);
    Selection { ignore: ignore.into_iter().collect(), ..Selection::default() }
}

/// Measures the cost of proofs in these projects, from text to findings.
pub(crate) fn table(projects: &[Project], rounds: usize) -> String {
    let rules = Rules::new(Selection::default());
    let run = |rules: &Rules| {
        fastest(rounds, || {
            for project in projects {
                black_box(rules.check(&load(project), false));
            }
        })
    };
    let (all, without) = (run(&rules), run(&Rules::new(without_solver())));
    let mut statistics = Statistics::default();
    let mut slowest = (Duration::ZERO, "");
    for project in projects {
        let loaded = load(project);
        let mut one = Statistics::default();
        let time = fastest(rounds, || one = rules.check(&loaded, false).0.statistics);
        statistics += one;
        if time > slowest.0 {
            slowest = (time, &project.name);
        }
    }
    let solver = statistics.solver;
    let mut out = String::from("cost of proofs\n");
    let _ = writeln!(
        out,
        "speed with all rules       {:.2} of the speed without the rules that query the solver",
        without.as_secs_f64() / all.as_secs_f64().max(1e-9)
    );
    let _ = writeln!(
        out,
        "queries that reach Z3      {:.2} % of {}; {} unknown because of a limit",
        100.0 * solver.with_z3 as f64 / solver.queries.max(1) as f64,
        solver.queries,
        solver.out_of_budget
    );
    let _ = writeln!(
        out,
        "slowest program            {}: {:.2} ms for its rules",
        slowest.1,
        slowest.0.as_secs_f64() * 1e3
    );
    let (constraints, steps) = LARGE;
    let file = crate::generate::File {
        path: "large.agent.abl".to_owned(),
        text: large(constraints, steps),
    };
    let bytes = file.text.len();
    let large = Project { name: "large".to_owned(), files: vec![file] };
    let mut one = Statistics::default();
    let time = fastest(rounds, || {
        one = rules.check(&load(&large), false).0.statistics;
    });
    let _ = writeln!(
        out,
        "{constraints} constraints, {steps} steps  {:.2} s for {} KB; {} queries, {} with Z3, {} past a limit",
        time.as_secs_f64(),
        bytes / 1000,
        one.solver.queries,
        one.solver.with_z3,
        one.solver.out_of_budget
    );
    out
}

/// An agent with this number of constraints, over a tenth as many variables, and of steps that branch.
fn large(constraints: usize, steps: usize) -> String {
    let fields = constraints.div_ceil(10).max(1);
    let mut text =
        String::from("AGENT: Large_Agent\n\nGOAL: \"Be as large as asked for\"\n\nGATHER:\n");
    for n in 0..fields {
        let _ = write!(
            text,
            "  amount_{n}:\n    prompt: \"How many?\"\n    type: number\n    required: true\n    validate:\n      type: range\n      rule: \"1-5000\"\n"
        );
    }
    text.push_str("\nCONSTRAINTS:\n  bounds:\n");
    for n in 0..constraints {
        let (field, other) = (n % fields, (n + 1) % fields);
        let line = match n % 3 {
            0 => format!("REQUIRE amount_{field} < {}", 4_900 - n),
            1 => format!("REQUIRE amount_{field} > 3 OR amount_{other} < {}", 100 + n),
            _ => format!("RESTRICT amount_{field} == {n} AND amount_{other} > {}", n / 2),
        };
        let _ = write!(text, "    - {line}\n      ON_FAIL: \"That does not work.\"\n");
    }
    text.push_str("\nFLOW:\n  entry_point: step_0\n  steps:\n");
    for n in 0..steps {
        let _ = writeln!(text, "    - step_{n}");
    }
    for n in 0..steps {
        let (field, next) = (n % fields, (n + 1).min(steps - 1));
        let _ = write!(
            text,
            "\n  step_{n}:\n    REASONING: false\n    RESPOND: \"And now?\"\n    ON_INPUT:\n      - IF: amount_{field} > {} AND input == \"on\"\n        THEN: step_{next}\n      - IF: amount_{field} <= 7 OR input.contains(\"stop\")\n        THEN: COMPLETE\n      - ELSE:\n        THEN: step_{next}\n",
            n + 7
        );
    }
    text
}
