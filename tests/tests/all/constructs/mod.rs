//! Small conversations, one or more per construct of the languages. Each says which section of which
//! specification it is from: *Cur.* is the current specification of ABL, *Ref.* its reference of
//! supervisors and multiple agents, *AS* the formal specification of Agent Script, *Paper* the paper of
//! ADL. Constraints, guardrails of tools and the limits of retries have tests of their own.

#![allow(clippy::unwrap_used, clippy::panic, missing_docs)]

mod adl;
mod agent_script;
mod agents;
mod broken_checks;
mod buttons;
mod errors;
mod fields;
mod flows;
mod listed_values;
mod memory;
mod payment;
mod permissions;
mod policies;
mod questions;
mod runtime_names;
mod supervisors;
mod turn_rules;
mod unclear_checks;
mod written_order;

use agentir_lang_abl::Options;
use agentir_runtime::Machine;
use agentir_scenario::{Scenario, TestOutcome, run, text};
use agentir_tests::check::{Checked, File, check};
use std::collections::BTreeSet;

/// Runs the conversations of a test file with agents that are one program, in which nothing is wrong.
fn talk(files: &[(&str, &str)], scenario: &str) {
    talk_despite(&[], files, scenario);
}

/// Runs the conversations of a test file with agents in which these rules, each of them, report an error.
fn talk_despite(rules: &[&str], files: &[(&str, &str)], scenario: &str) {
    let talk = run_talk(files, scenario);
    talk.assert_errors(rules);
    talk.assert_succeeds();
}

/// Agents that are one program, and conversations with them.
struct Talk {
    checked: Checked,
    outcomes: Vec<TestOutcome>,
}

/// Runs the conversations of a test file with agents, whatever is wrong with either.
fn run_talk(files: &[(&str, &str)], scenario: &str) -> Talk {
    let named = |(name, text): &(&str, &str)| File { name: (*name).into(), text: (*text).into() };
    let files: Vec<File> = files.iter().map(named).collect();
    let checked = check(&files, Options::default());
    let scenario = Scenario::read(scenario).unwrap();
    let outcomes = run(&Machine::new(&checked.program), &scenario).unwrap();
    Talk { checked, outcomes }
}

impl Talk {
    /// The rules that report an error are these.
    fn assert_errors(&self, rules: &[&str]) {
        let reported: BTreeSet<&str> = self.checked.errors().map(|error| error.rule.0).collect();
        let expected: BTreeSet<&str> = rules.iter().copied().collect();
        assert_eq!(reported, expected, "{:#?}", self.checked.lines());
    }

    /// All conversations are as expected.
    fn assert_succeeds(&self) {
        let failed: Vec<TestOutcome> =
            self.outcomes.iter().filter(|one| !one.failures.is_empty()).cloned().collect();
        let transcripts: Vec<&str> = failed.iter().map(|one| one.transcript.as_str()).collect();
        assert!(failed.is_empty(), "{}\n{}", text("test", &failed), transcripts.join("\n---\n"));
    }

    /// What happens in the conversations.
    fn transcript(&self) -> String {
        self.outcomes.iter().map(|one| one.transcript.as_str()).collect()
    }
}

/// Runs the conversations of a test file with one agent.
fn talk_abl(agent: &str, scenario: &str) {
    talk(&[("desk.agent.abl", agent)], scenario);
}
