//! How long it takes from a keystroke to all findings.

use crate::callgrind;
use agentir_bench::keystroke::{Case, cases, percentile, replay};
use std::error::Error;
use std::time::Duration;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// Types in each case, and prints a table.
pub(crate) fn measure(keystrokes: usize, counted: usize) -> Result<()> {
    let counts = callgrind::is_installed();
    println!(
        "{:<20}{:>7}{:>7}{:>9}{:>9}{:>9}{:>9}{:>16}",
        "ms per keystroke", "files", "lines", "p50", "p99", "CPU p50", "CPU p99", "M instructions"
    );
    for case in cases() {
        let times = replay(&case, keystrokes)?;
        let ms = |times: &[Duration], percent| percentile(times, percent).as_secs_f64() * 1e3;
        let instructions = if counts {
            format!("{:.1}", instructions(&case, counted)? / 1e6)
        } else {
            "-".to_owned()
        };
        println!(
            "{:<20}{:>7}{:>7}{:>9.2}{:>9.2}{:>9.2}{:>9.2}{instructions:>16}",
            case.name,
            case.files(),
            case.text().lines().count(),
            ms(&times.clock, 50),
            ms(&times.clock, 99),
            ms(&times.processor, 50),
            ms(&times.processor, 99),
        );
    }
    if !counts {
        println!("instructions are counted where valgrind is installed");
    }
    Ok(())
}

/// Only types, for callgrind.
pub(crate) fn type_only(name: &str, keystrokes: usize) -> Result<()> {
    let case = cases().into_iter().find(|case| case.name == name);
    let case = case.ok_or_else(|| format!("there is no case `{name}`"))?;
    replay(&case, keystrokes).map(|_| ())
}

/// The instructions of a keystroke: of twice as many keystrokes, without those of the first half and of the start.
fn instructions(case: &Case, keystrokes: usize) -> Result<f64> {
    let program = std::env::current_exe()?;
    let of = |keystrokes: usize| {
        let keystrokes = keystrokes.to_string();
        let arguments = ["keystroke", "--replay", case.name, "--keystrokes", &keystrokes];
        callgrind::instructions(&program, arguments, &[0])
    };
    let (once, twice) = (of(keystrokes)?, of(2 * keystrokes)?);
    Ok(twice.saturating_sub(once) as f64 / keystrokes.max(1) as f64)
}
