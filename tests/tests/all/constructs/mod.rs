//! Small conversations, one or more per construct of the languages. Each says which section of which
//! specification it is from: *Cur.* is the current specification of ABL, *Ref.* its reference of
//! supervisors and multiple agents, *AS* the formal specification of Agent Script, *Paper* the paper of
//! ADL. Constraints, guardrails of tools and the limits of retries have tests of their own.

#![allow(clippy::unwrap_used, clippy::panic, missing_docs)]

mod adl;
mod agent_script;
mod agents;
mod errors;
mod fields;
mod flows;
mod memory;
mod policies;
mod questions;
mod supervisors;
mod turn_rules;
mod unclear_checks;

use agentir_lang_abl::Options;
use agentir_runtime::Machine;
use agentir_scenario::{Scenario, TestOutcome, run, text};
use agentir_tests::check::{File, check};

/// Runs the conversations of a test file with agents that are one program.
fn talk(files: &[(&str, &str)], scenario: &str) {
    let named = |(name, text): &(&str, &str)| File { name: (*name).into(), text: (*text).into() };
    let files: Vec<File> = files.iter().map(named).collect();
    let checked = check(&files, Options::default());
    let errors: Vec<String> = checked.errors().map(|finding| checked.line(finding)).collect();
    assert!(errors.is_empty(), "{errors:#?}");
    let scenario = Scenario::read(scenario).unwrap();
    let machine = Machine::new(&checked.program);
    let outcomes = run(&machine, &scenario).unwrap();
    let failed: Vec<TestOutcome> =
        outcomes.into_iter().filter(|outcome| !outcome.failures.is_empty()).collect();
    let transcripts: Vec<&str> = failed.iter().map(|one| one.transcript.as_str()).collect();
    assert!(failed.is_empty(), "{}\n{}", text("test", &failed), transcripts.join("\n---\n"));
}

/// Runs the conversations of a test file with one agent.
fn talk_abl(agent: &str, scenario: &str) {
    talk(&[("desk.agent.abl", agent)], scenario);
}
