//! The mutation score table.

use agentir_tests::mutants;
use std::error::Error;
use std::fs;
use std::path::Path;

pub(crate) fn write(root: &Path, missed: bool) -> Result<(), Box<dyn Error>> {
    let report = mutants::run();
    if missed {
        mutants::unexpected(&report).iter().for_each(|line| println!("{line}"));
    }
    let programs = mutants::run_programs();
    if missed {
        mutants::unexpected_in_programs(&programs).iter().for_each(|line| println!("{line}"));
    }
    let path = root.join("docs/mutations.md");
    fs::write(&path, [mutants::report(&report), mutants::section(&programs)].join("\n"))?;
    println!("wrote {}", path.display());
    Ok(())
}
