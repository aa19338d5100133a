//! The document about what conversions preserve.

use std::error::Error;
use std::fs;
use std::path::Path;

pub(crate) fn write(root: &Path) -> Result<(), Box<dyn Error>> {
    let path = root.join("docs/conversions.md");
    fs::write(&path, agentir_tests::conversions::document())?;
    println!("wrote {}", path.display());
    Ok(())
}
