//! What came of planted defects, in a table.

use super::{Everything, Planted, Spoken, kinds};
use std::fmt::Write as _;

/// A kind of defect, and how many of it were found.
#[derive(Debug, Default)]
pub struct Row {
    /// What was done.
    pub kind: &'static str,
    /// How many changes were made.
    pub changes: usize,
    /// How many of these cannot be judged.
    pub unjudged: usize,
    /// How many are defects.
    pub defects: usize,
    /// How many of these were found.
    pub found: usize,
    /// Rules that spoke although the change is no defect.
    pub false_alarms: Spoken,
    /// Rules that spoke beside those that claim to find the defect.
    pub beside: Spoken,
}

/// What came of each kind.
#[must_use]
pub fn rows(all: &[Planted]) -> Vec<Row> {
    let mut rows: Vec<Row> =
        kinds().map(|kind| Row { kind: kind.name, ..Row::default() }).collect();
    for planted in all {
        let row = &mut rows[planted.kind];
        row.changes += 1;
        if planted.problems.is_empty() && !planted.judged {
            row.unjudged += 1;
            continue;
        }
        let spoken = if planted.problems.is_empty() {
            &mut row.false_alarms
        } else {
            row.defects += 1;
            row.found += usize::from(!planted.found.is_empty());
            &mut row.beside
        };
        for rule in &planted.others {
            *spoken.entry(rule).or_default() += 1;
        }
    }
    rows
}

fn spoken(all: &Spoken) -> String {
    if all.is_empty() {
        return "–".to_owned();
    }
    let each: Vec<String> = all.iter().map(|(rule, n)| format!("{n} {rule}")).collect();
    each.join(", ")
}

/// All of it as a page in Markdown.
#[must_use]
pub fn report(all: &Everything) -> String {
    let rows = rows(&all.planted);
    let mut out = String::from(PREFACE);
    let _ = writeln!(
        out,
        "\n| what was changed | changes | not judged | defects | found | found of 100 | spoke of no defect | spoke as well |\n|---|--:|--:|--:|--:|--:|---|---|"
    );
    let mut sum = Row::default();
    for row in &rows {
        line(&mut out, row.kind, row);
        sum.changes += row.changes;
        sum.unjudged += row.unjudged;
        sum.defects += row.defects;
        sum.found += row.found;
        for (all, more) in
            [(&mut sum.false_alarms, &row.false_alarms), (&mut sum.beside, &row.beside)]
        {
            for (rule, n) in more {
                *all.entry(rule).or_default() += n;
            }
        }
    }
    let count = |all: &Spoken| all.values().sum::<usize>();
    let _ = writeln!(
        out,
        "| all | {} | {} | {} | {} | {} | {} | {} |",
        sum.changes,
        sum.unjudged,
        sum.defects,
        sum.found,
        percent(&sum),
        count(&sum.false_alarms),
        count(&sum.beside),
    );
    let _ = writeln!(
        out,
        "\nChanged were {} programs, in which nothing is found before.",
        all.programs
    );
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
        spoken(&row.false_alarms),
        spoken(&row.beside),
    );
}

const PREFACE: &str = "# Planted defects

Programs that are in order are changed in one place at a time, and the rules are to find what went wrong.
`cargo xtask mutate` writes this page; a test keeps it fresh and holds the rules to it.

Not every change is a defect: `n > 5` turned round is another agent, but perhaps one that works. Whether a change
is one is decided without the rules: conditions are evaluated in all states that they could tell apart, as far as
declarations allow these; flows are run several hundred times with a user, tools and a model that do anything;
some changes are defects whatever else there is. A defect is found if a rule speaks whose page says so. Rules that
speak of a change that is none have to be looked into; so have, less urgently, those that speak of something else
beside a defect, which is mostly what follows from it.
";
