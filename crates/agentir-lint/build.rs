//! Embeds the pages of `rules/`, which `agentir explain` prints.

use std::error::Error;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::{env, fs};

fn main() -> Result<(), Box<dyn Error>> {
    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").ok_or("no manifest directory")?);
    let pages = root.join("../../rules").canonicalize()?;
    println!("cargo::rerun-if-changed={}", pages.display());
    println!("cargo::rerun-if-changed=build.rs");
    let mut found: Vec<(String, PathBuf)> = fs::read_dir(&pages)?
        .filter_map(|entry| {
            let path = entry.ok()?.path();
            let name = path.file_name()?.to_str()?.strip_suffix(".md")?.to_owned();
            Some((name, path))
        })
        .filter(|(name, _)| name != "README")
        .collect();
    found.sort();
    let mut code = String::from("pub(crate) static PAGES: &[(&str, &str)] = &[\n");
    for (name, path) in found {
        println!("cargo::rerun-if-changed={}", path.display());
        writeln!(code, "    ({name:?}, include_str!({:?})),", path.display().to_string())?;
    }
    code.push_str("];\n");
    let out = PathBuf::from(env::var_os("OUT_DIR").ok_or("no output directory")?);
    fs::write(out.join("pages.rs"), code)?;
    Ok(())
}
