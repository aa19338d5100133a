//! The mutation score table.

use agentir_tests::plant;
use std::error::Error;
use std::fs;
use std::path::Path;

pub(crate) fn write(root: &Path, missed: bool) -> Result<(), Box<dyn Error>> {
    let planted = plant::everywhere();
    if missed {
        plant::odd(&planted).iter().for_each(|line| println!("{line}"));
    }
    let path = root.join("docs/mutations.md");
    fs::write(&path, plant::report(&planted))?;
    println!("wrote {}", path.display());
    Ok(())
}
