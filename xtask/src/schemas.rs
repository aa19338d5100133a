//! The published schemas.

use std::error::Error;
use std::fs;
use std::path::Path;

pub(crate) fn write(root: &Path) -> Result<(), Box<dyn Error>> {
    let folder = root.join("schemas");
    fs::create_dir_all(&folder)?;
    for (name, schema) in agentir_tests::schemas::published() {
        let path = folder.join(name);
        fs::write(&path, serde_json::to_string_pretty(&schema)? + "\n")?;
        println!("wrote {}", path.display());
    }
    Ok(())
}
