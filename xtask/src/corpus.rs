//! Made-up projects as files.

use std::error::Error;
use std::fs;
use std::path::Path;

pub(crate) fn write(out: &Path, files: usize, seed: u64) -> Result<(), Box<dyn Error>> {
    let mut bytes = 0;
    for project in agentir_bench::generate::projects(files, seed) {
        for file in &project.files {
            let path = out.join(&project.name).join(&file.path);
            fs::create_dir_all(path.parent().ok_or("a file has a folder")?)?;
            fs::write(&path, &file.text)?;
            bytes += file.text.len();
        }
    }
    println!("wrote {files} documents, {} KB, to {}", bytes / 1000, out.display());
    Ok(())
}
