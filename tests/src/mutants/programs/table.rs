//! The table of the mutations of whole programs.

use super::{ProgramReport, operators};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// The score of an operator in a language.
#[derive(Debug, Default)]
pub struct ProgramRow {
    /// The class of defects.
    pub class: char,
    /// The operator.
    pub operator: &'static str,
    /// The title of the language.
    pub language: &'static str,
    /// The number of changed programs.
    pub changes: usize,
    /// How many of them are defects.
    pub defects: usize,
    /// How many of these are found.
    pub found: usize,
    /// How many claims conversations refute.
    pub refuted: usize,
    /// The rules that say something of changes that are not known to be defects.
    pub others: BTreeMap<&'static str, usize>,
}

impl ProgramReport {
    /// The score of each operator in each language that can say it.
    #[must_use]
    pub fn rows(&self) -> Vec<ProgramRow> {
        let mut rows: BTreeMap<(usize, &str), ProgramRow> = BTreeMap::new();
        for mutant in &self.mutants {
            let Some(operator) = operators().get(mutant.operator) else { continue };
            let row = rows.entry((mutant.operator, mutant.language)).or_default();
            (row.class, row.operator, row.language) =
                (operator.class, operator.name, mutant.language);
            row.changes += 1;
            row.refuted += usize::from(!mutant.refuted.is_empty());
            for rule in &mutant.others {
                *row.others.entry(rule).or_default() += 1;
            }
            if !mutant.faults.is_empty() {
                row.defects += 1;
                row.found += usize::from(!mutant.found.is_empty());
            }
        }
        rows.into_values().collect()
    }
}

fn percent(found: usize, defects: usize) -> String {
    match defects {
        0 => "–".to_owned(),
        n => format!("{:.1}", 100.0 * found as f64 / n as f64),
    }
}

/// The section of the report, in Markdown.
#[must_use]
pub fn section(all: &ProgramReport) -> String {
    let mut out = String::from(PREFACE);
    out.push_str(
        "\n|  | mutation | language | changes | defects | found | found (%) | refuted | not known to be a defect |\n|---|---|---|--:|--:|--:|--:|--:|---|\n",
    );
    let rows = all.rows();
    let mut sums: BTreeMap<&str, [usize; 4]> = BTreeMap::new();
    for row in &rows {
        let others: Vec<String> =
            row.others.iter().map(|(rule, n)| format!("{n} {rule}")).collect();
        let others = if others.is_empty() { "–".to_owned() } else { others.join(", ") };
        let _ = writeln!(
            out,
            "| {} | {} | {} | {} | {} | {} | {} | {} | {others} |",
            row.class,
            row.operator,
            row.language,
            row.changes,
            row.defects,
            row.found,
            percent(row.found, row.defects),
            row.refuted,
        );
        for language in [row.language, "all"] {
            let sum = sums.entry(language).or_default();
            let own = [row.changes, row.defects, row.found, row.refuted];
            sum.iter_mut().zip(own).for_each(|(sum, n)| *sum += n);
        }
    }
    for (language, [changes, defects, found, refuted]) in sums {
        let score = percent(found, defects);
        let _ = writeln!(
            out,
            "|  | all | {language} | {changes} | {defects} | {found} | {score} | {refuted} |  |"
        );
    }
    let programs: Vec<String> =
        all.programs.iter().map(|(language, n)| format!("{n} in {language}")).collect();
    let _ = writeln!(out, "\nPrograms: {}.", programs.join(", "));
    out
}

const PREFACE: &str = "## Whole programs

Programs of at least 60 lines: our samples, and the programs without a defect of the pairs (`tests/src/pairs.rs`). The
classes are **A** what variables hold over the program, **B** cases left over, **C** texts and arithmetic, **D** data
between agents and tools, **E** loops, **F** types and signatures.

For A, B, E and most of D conversations decide whether a change is a defect: the runtime talks with random users, tools
and models, who prefer what the program compares. A place that at least 6 of 40 conversations reached before and none of
120 reaches after, a turn that does not end by itself, and a value that no branch takes are defects. Other changes are
defects in any program. A claim is refuted if a conversation with the changed program takes a branch that a rule calls
impossible. Reports on changes that are not known to be defects are about parts of conditions, or about what the
conversations do not show.

What is missed, as far as it was looked into: the value analysis has no \"anything but *x*\", so a guard `!= \"\"` or
`not ==` teaches nothing; loops through a `COLLECT` of fields that are filled do not wait, and are not reported; a tool's
`forbiddenWhen` and a `REQUIRE` about a sum do not bound what holds after them.
";
