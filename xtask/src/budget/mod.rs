//! The budgets of `docs/budgets.md`: what a build, the program and a check may cost.

mod build;
mod rebuild;
mod table;

use crate::{callgrind, start};
use clap::Args;
use std::collections::BTreeMap;
use std::error::Error;
use std::fs;
use std::path::Path;
use table::Table;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// The files that are checked from start to end, by their rows: a small one, which shows what the start of the
/// program costs, and one of usual size.
const SAMPLES: [(&str, &str); 2] = [
    ("start", "corpus/abl/valid/tool_library/agents/deposit_desk.agent.abl"),
    ("start-5kb", "corpus/abl/valid/parcel_redirect.agent.abl"),
];

/// What to measure, and how.
#[derive(Args)]
pub(crate) struct Budget {
    /// `start`, `size`, `build`, `rebuild`, or rows of the table; everything if none is given
    parts: Vec<String>,
    /// Write what was measured to `docs/budgets.md`
    #[arg(long)]
    write: bool,
    /// The build of the program whose start and size are measured
    #[arg(long, default_value = "dist")]
    profile: String,
    /// How long the last run of `.ci/run` took, which is not measured here
    #[arg(long, value_name = "SECONDS")]
    ci: Option<f64>,
}

impl Budget {
    fn wants(&self, row: &str) -> bool {
        let part = row.split('-').next().unwrap_or(row);
        self.parts.is_empty() || self.parts.iter().any(|wanted| wanted == row || wanted == part)
    }
}

/// Measures, prints, and fails if a limit is exceeded.
pub(crate) fn run(root: &Path, budget: &Budget) -> Result<()> {
    let path = root.join("docs/budgets.md");
    let mut table = Table::read(&fs::read_to_string(&path)?)?;
    let known = |part: &String| part == "rebuild" || table.rows().any(|row| row.is_part(part));
    if let Some(unknown) = budget.parts.iter().find(|part| !known(part)) {
        return Err(format!("there is no budget `{unknown}`").into());
    }
    let measured = measure(root, budget)?;
    let mut exceeded = Vec::new();
    for (name, amount) in &measured {
        let row = table.measured(name, *amount)?;
        println!("{row}");
        if row.is_exceeded() {
            exceeded.push(row.name.clone());
        }
    }
    if budget.write {
        fs::write(&path, table.to_string())?;
        println!("wrote {}", path.display());
    }
    if budget.wants("rebuild") {
        rebuild::check(root)?;
    }
    if budget.ci.is_none() && budget.wants("ci") {
        println!("ci: left out, because no duration was given (--ci SECONDS)");
    }
    if exceeded.is_empty() {
        return Ok(());
    }
    Err(format!("over budget: {}", exceeded.join(", ")).into())
}

/// What was measured, by the names of rows.
fn measure(root: &Path, budget: &Budget) -> Result<BTreeMap<&'static str, f64>> {
    let mut measured = BTreeMap::new();
    if budget.wants("start") || budget.wants("size") {
        let program = start::program(root, &budget.profile)?;
        if budget.wants("size") {
            measured.insert("size", fs::metadata(&program)?.len() as f64 / 1e6);
        }
        if budget.wants("start") {
            for (row, sample) in SAMPLES {
                let sample = root.join(sample);
                let check = [Path::new("check"), &sample];
                let instructions = callgrind::instructions(&program, check, &[0])?;
                measured.insert(row, instructions as f64 / 1e6);
            }
        }
    }
    for cold in build::ALL {
        if budget.wants(cold.row) || cold.folder.is_some_and(|row| budget.wants(row)) {
            let cost = cold.measure(root)?;
            measured.insert(cold.row, cost.processor.as_secs_f64());
            if let Some(row) = cold.folder {
                measured.insert(row, cost.bytes as f64 / 1e9);
            }
        }
    }
    if let Some(seconds) = budget.ci {
        measured.insert("ci", seconds);
    }
    Ok(measured)
}
