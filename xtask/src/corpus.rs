//! Generated projects as files.

use agentir_bench::generate::{Project, bots, project_of, projects, scripts};
use std::error::Error;
use std::fs;
use std::path::Path;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// Writes `files` ABL documents.
pub(crate) fn write(out: &Path, files: usize, seed: u64) -> Result<()> {
    let bytes = write_all(out, &projects(files, seed))?;
    println!("wrote {files} documents, {} KB, to {}", bytes / 1000, out.display());
    Ok(())
}

/// Writes one project of `files` ABL documents, and returns the number of bytes.
pub(crate) fn write_project(out: &Path, files: usize, seed: u64) -> Result<usize> {
    write_all(out, &[project_of(files, seed)])
}

/// Writes `files` files, half of them ABL, a quarter Agent Script, a quarter ADL with its functions, and returns
/// the number of bytes.
pub(crate) fn write_mixed(out: &Path, files: usize, seed: u64) -> Result<usize> {
    let all = [projects(files / 2, seed), scripts(files / 4, seed), bots(files / 8, seed)];
    all.iter().map(|projects| write_all(out, projects)).sum()
}

fn write_all(out: &Path, projects: &[Project]) -> Result<usize> {
    let mut bytes = 0;
    for project in projects {
        for file in &project.files {
            let path = out.join(&project.name).join(&file.path);
            fs::create_dir_all(path.parent().ok_or("a file has a folder")?)?;
            fs::write(&path, &file.text)?;
            bytes += file.text.len();
        }
    }
    Ok(bytes)
}
