//! Compiles every grammar in `grammars/` to `OUT_DIR/<name>.rs`.

use std::error::Error;
use std::path::PathBuf;

fn main() -> Result<(), Box<dyn Error>> {
    let root =
        PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").ok_or("no manifest directory")?);
    let grammars = root.join("../../grammars").canonicalize()?;
    // A new file in the directory counts as a change of it.
    println!("cargo::rerun-if-changed={}", grammars.display());
    println!("cargo::rerun-if-changed=build.rs");
    // Finds `*.lalrpop` below the directory, leaves what has not changed, and tells cargo the rest.
    lalrpop::Configuration::new()
        .set_in_dir(&grammars)
        .set_out_dir(std::env::var_os("OUT_DIR").ok_or("no output directory")?)
        .emit_rerun_directives(true)
        .log_quiet()
        .process()
}
