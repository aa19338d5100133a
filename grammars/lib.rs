//! Compiles the grammars of a language, in the build script of its crate.
//!
//! The folders beside this file have the grammars, one package per language.
//!
//! *Invariant*: knows no language; writes only to the output folder of a build.

use std::error::Error;
use std::path::PathBuf;
use std::{env, fs};

/// Compiles grammars, given by name and text, to `OUT_DIR/<name>.rs`.
///
/// # Errors
/// If a grammar is not valid, or a file cannot be written.
pub fn compile(grammars: &[(&str, &str)]) -> Result<(), Box<dyn Error>> {
    // A changed grammar changes the build script, which makes Cargo run it.
    println!("cargo::rerun-if-changed=build.rs");
    let out = PathBuf::from(env::var_os("OUT_DIR").ok_or("no output directory")?);
    // Compiled files are kept: LALRPOP leaves those alone whose grammar has not changed.
    let texts = out.join("grammars");
    if texts.exists() {
        fs::remove_dir_all(&texts)?;
    }
    fs::create_dir(&texts)?;
    for (name, text) in grammars {
        fs::write(texts.join(name).with_extension("lalrpop"), text)?;
    }
    lalrpop::Configuration::new().set_in_dir(&texts).set_out_dir(&out).log_quiet().process()
}
