//! Reports of test results, for people and for CI.

use crate::coverage::CoverageMetric;
use crate::run::TestOutcome;
use agentir_diagnostics::{clean_lines, one_line};
use agentir_secrets::Masker;
use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};
use std::fmt::Write;

impl TestOutcome {
    /// The outcome as it may be shown: without secrets, and without commands to terminals and logs.
    #[must_use]
    pub fn shown(mut self, masker: &Masker) -> Self {
        self.name = one_line(&masker.mask(&self.name)).into_owned();
        for failure in &mut self.failures {
            for text in [&mut failure.expected, &mut failure.found] {
                *text = clean_lines(&masker.mask(text)).into_owned();
            }
        }
        self.transcript = clean_lines(&masker.mask(&self.transcript)).into_owned();
        self
    }
}

/// The results of one file, for people.
#[must_use]
pub fn text(file: &str, outcomes: &[TestOutcome]) -> String {
    let mut out = String::new();
    for outcome in outcomes {
        let mark = if outcome.failures.is_empty() { "ok  " } else { "FAIL" };
        let _ = writeln!(out, "{mark} {file}: {}", outcome.name);
        for failure in &outcome.failures {
            let _ = writeln!(
                out,
                "     turn {}, {}:\n       expected: {}\n       found:    {}",
                failure.turn, failure.what, failure.expected, failure.found
            );
        }
        if !outcome.failures.is_empty() {
            for line in outcome.transcript.lines() {
                let _ = writeln!(out, "     | {line}");
            }
        }
    }
    out
}

/// The coverage, one line per kind of element.
#[must_use]
pub fn coverage(metrics: &[CoverageMetric]) -> String {
    let mut out = String::new();
    for metric in metrics.iter().filter(|metric| metric.total > 0) {
        let share = 100.0 * metric.covered as f64 / metric.total as f64;
        let _ = writeln!(
            out,
            "{:<10}{:>6} of {:<6}{share:>5.0} %",
            metric.kind, metric.covered, metric.total
        );
    }
    out
}

/// The results as JUnit XML.
#[must_use]
pub fn junit(files: &[(String, Vec<TestOutcome>)]) -> String {
    let mut report = Report::new("agentir test");
    for (file, outcomes) in files {
        let mut suite = TestSuite::new(file.as_str());
        for outcome in outcomes {
            let status = if outcome.failures.is_empty() {
                TestCaseStatus::success()
            } else {
                let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
                let all: Vec<String> = outcome
                    .failures
                    .iter()
                    .map(|f| {
                        format!(
                            "turn {}, {}: expected {}, found {}",
                            f.turn, f.what, f.expected, f.found
                        )
                    })
                    .collect();
                status.set_message(all.first().cloned().unwrap_or_default());
                status.set_description(format!("{}\n\n{}", all.join("\n"), outcome.transcript));
                status
            };
            let mut case = TestCase::new(outcome.name.as_str(), status);
            case.set_time(outcome.time);
            suite.add_test_case(case);
        }
        report.add_test_suite(suite);
    }
    // Writing to memory does not fail.
    report.to_string().unwrap_or_default()
}
