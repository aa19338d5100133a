//! Writes a table of all pages in this folder to `OUT_DIR/pages.rs`.

use std::error::Error;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::{env, fs};

fn main() -> Result<(), Box<dyn Error>> {
    let folder = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").ok_or("no manifest directory")?);
    // The folder itself changes when a page is added or removed.
    println!("cargo::rerun-if-changed={}", folder.display());
    let mut pages: Vec<(String, PathBuf)> = fs::read_dir(&folder)?
        .filter_map(|entry| {
            let path = entry.ok()?.path();
            let name = path.file_name()?.to_str()?.strip_suffix(".md")?.to_owned();
            Some((name, path))
        })
        .collect();
    pages.sort();
    let mut code = String::from(
        "/// The name and the Markdown text of each page, sorted by name.\n\
         pub static PAGES: &[(&str, &str)] = &[\n",
    );
    for (name, path) in pages {
        let path = path.to_str().ok_or("the path of a page is not UTF-8")?;
        writeln!(code, "    ({name:?}, include_str!({path:?})),")?;
    }
    code.push_str("];\n");
    let out = PathBuf::from(env::var_os("OUT_DIR").ok_or("no output directory")?);
    fs::write(out.join("pages.rs"), code)?;
    Ok(())
}
