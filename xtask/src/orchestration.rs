//! The document about the cost of each orchestration method.

use std::error::Error;
use std::fs;
use std::path::Path;

pub(crate) fn write(root: &Path) -> Result<(), Box<dyn Error>> {
    let path = root.join("docs/orchestration.md");
    fs::write(&path, agentir_tests::orchestration::document())?;
    println!("wrote {}", path.display());
    Ok(())
}
