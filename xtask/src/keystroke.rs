//! How long it takes from a keystroke to all findings.

use crate::callgrind;
use crate::corpus;
use agentir_bench::keystroke::{Case, cases, percentile, replay};
use agentir_bench::server;
use std::error::Error;
use std::path::Path;
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

/// Types in the language server, and prints a table: from the notification of a change to its findings.
pub(crate) fn measure_server(keystrokes: usize) -> Result<()> {
    println!(
        "{:<20}{:>9}{:>9}{:>9}{:>9}{:>9}{:>14}{:>14}",
        "ms per keystroke",
        "bytes",
        "p50",
        "p99",
        "CPU p50",
        "CPU p99",
        "first p50",
        "first CPU p50"
    );
    for case in server::cases() {
        let times = server::replay(&case, keystrokes)?;
        let ms = |times: &[Duration], percent| percentile(times, percent).as_secs_f64() * 1e3;
        println!(
            "{:<20}{:>9}{:>9.2}{:>9.2}{:>9.2}{:>9.2}{:>14.2}{:>14.2}",
            case.name,
            case.text.len(),
            ms(&times.all.clock, 50),
            ms(&times.all.clock, 99),
            ms(&times.all.processor, 50),
            ms(&times.all.processor, 99),
            ms(&times.first.clock, 50),
            ms(&times.first.processor, 50),
        );
    }
    Ok(())
}

/// The memory of the language server in folders of so many files: of one project, and of many programs in all languages.
pub(crate) fn measure_memory(program: &Path, files: usize) -> Result<()> {
    let folder = tempfile::tempdir()?;
    println!(
        "\n{:<32}{:>10}{:>14}{:>12}",
        "memory of the server", "KB of text", "resident MB", "peak MB"
    );
    let mixed = |out: &Path| corpus::write_mixed(out, files, 1);
    let one = |out: &Path| corpus::write_project(out, files, 1);
    // The files, as bytes of text, that are written to a folder.
    type Written<'f> = &'f dyn Fn(&Path) -> Result<usize>;
    let cases: [(&str, Written<'_>); 2] = [("one project", &one), ("many programs", &mixed)];
    for (name, write) in cases {
        let out = folder.path().join(name.replace(' ', "-"));
        let bytes = write(&out)?;
        let (resident, peak) = server::memory(program, &out)?;
        println!(
            "{:<32}{:>10}{:>14.1}{:>12.1}",
            format!("{name}, {files} files"),
            bytes / 1_000,
            resident as f64 / 1e3,
            peak as f64 / 1e3
        );
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
