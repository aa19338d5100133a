//! The mutation score table.

use super::{Mutant, MutantReport, RuleCounts, operators};
use std::fmt::Write as _;

/// The score of a mutation operator.
#[derive(Debug, Default)]
pub struct Row {
    /// The name of the operator.
    pub operator: &'static str,
    /// The number of mutants.
    pub changes: usize,
    /// The number of mutants that cannot be judged.
    pub unjudged: usize,
    /// The number of mutants with defects.
    pub defects: usize,
    /// The number of these defects that were detected.
    pub found: usize,
    /// Rules that report something although the mutant has no defect.
    pub false_positives: RuleCounts,
    /// Rules that report something besides the defect.
    pub additional: RuleCounts,
}

/// Rules that know what variables hold on the paths of a program. What only they report is not judged here.
const RULES_ABOUT_VALUES: &[&str] = &["missing-case", "never-set", "unreachable-branch"];

/// The score of each operator.
#[must_use]
pub fn rows(all: &[Mutant]) -> Vec<Row> {
    let mut rows: Vec<Row> =
        operators().map(|operator| Row { operator: operator.name, ..Row::default() }).collect();
    for mutant in all {
        let row = &mut rows[mutant.operator];
        row.changes += 1;
        // The judge knows states, not what variables hold on the paths of a program.
        let by_values = !mutant.others.is_empty()
            && mutant.others.iter().all(|rule| RULES_ABOUT_VALUES.contains(rule));
        if mutant.problems.is_empty() && (!mutant.judged || by_values) {
            row.unjudged += 1;
            continue;
        }
        let counts = if mutant.problems.is_empty() {
            &mut row.false_positives
        } else {
            row.defects += 1;
            row.found += usize::from(!mutant.found.is_empty());
            &mut row.additional
        };
        for rule in &mutant.others {
            *counts.entry(rule).or_default() += 1;
        }
    }
    rows
}

fn counts(all: &RuleCounts) -> String {
    if all.is_empty() {
        return "–".to_owned();
    }
    let each: Vec<String> = all.iter().map(|(rule, n)| format!("{n} {rule}")).collect();
    each.join(", ")
}

/// The report in Markdown.
#[must_use]
pub fn report(all: &MutantReport) -> String {
    let rows = rows(&all.mutants);
    let mut out = String::from(PREFACE);
    let _ = writeln!(
        out,
        "\n| mutation | changes | not judged | defects | found | found (%) | false positives | other reports |\n|---|--:|--:|--:|--:|--:|---|---|"
    );
    let mut sum = Row::default();
    for row in &rows {
        line(&mut out, row.operator, row);
        sum.changes += row.changes;
        sum.unjudged += row.unjudged;
        sum.defects += row.defects;
        sum.found += row.found;
        for (all, more) in [
            (&mut sum.false_positives, &row.false_positives),
            (&mut sum.additional, &row.additional),
        ] {
            for (rule, n) in more {
                *all.entry(rule).or_default() += n;
            }
        }
    }
    let count = |all: &RuleCounts| all.values().sum::<usize>();
    let _ = writeln!(
        out,
        "| all | {} | {} | {} | {} | {} | {} | {} |",
        sum.changes,
        sum.unjudged,
        sum.defects,
        sum.found,
        percent(&sum),
        count(&sum.false_positives),
        count(&sum.additional),
    );
    let _ = writeln!(out, "\n{} programs without findings were changed.", all.programs);
    out
}

fn percent(row: &Row) -> String {
    match row.defects {
        0 => "–".to_owned(),
        n => format!("{:.1}", 100.0 * row.found as f64 / n as f64),
    }
}

fn line(out: &mut String, name: &str, row: &Row) {
    let _ = writeln!(
        out,
        "| {name} | {} | {} | {} | {} | {} | {} | {} |",
        row.changes,
        row.unjudged,
        row.defects,
        row.found,
        percent(row),
        counts(&row.false_positives),
        counts(&row.additional),
    );
}

const PREFACE: &str = "# Mutation score

Programs without findings are changed in one location at a time, and the rules have to detect the defect.
`cargo xtask mutate` writes this page; a test keeps it up to date and checks the rules against it.

Not every change is a defect: reversing `n > 5` gives another agent, but perhaps one that works. Whether a change
is one is decided independently of the rules: conditions are evaluated in all states that they can distinguish, as
far as declarations allow these; flows are run several hundred times with arbitrary choices of the user, the tools
and the model; some changes are defects in any program. A defect counts as found if a rule reports it whose page
claims to. Rules that report a change that is not a defect must be investigated; so should, less urgently, rules
that report something else besides a defect, which is mostly a consequence of it. What only rules report that know
the values of variables on paths (`missing-case`, `never-set`, `unreachable-branch`) is not judged.
";
