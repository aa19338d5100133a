//! Seeds for `cargo fuzz`.

use agentir_tests::fuzz::{INPUTS, seeds};
use std::error::Error;
use std::fs;
use std::path::Path;

/// Writes the samples to the corpus folder of each fuzz target.
pub(crate) fn write_seeds(root: &Path) -> Result<(), Box<dyn Error>> {
    for input in INPUTS {
        let folder = root.join("fuzz/corpus").join(input.name);
        fs::create_dir_all(&folder)?;
        let seeds = seeds(input);
        for (number, text) in seeds.iter().enumerate() {
            fs::write(folder.join(format!("sample-{number:03}")), text)?;
        }
        println!("wrote {} seeds to {}", seeds.len(), folder.display());
    }
    Ok(())
}
