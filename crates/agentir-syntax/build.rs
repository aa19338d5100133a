//! Compiles the grammars of `agentir-grammars` to `OUT_DIR/<name>.rs`.

use std::error::Error;
use std::path::PathBuf;
use std::{env, fs};

fn main() -> Result<(), Box<dyn Error>> {
    // A changed grammar changes this program, which makes Cargo run it.
    println!("cargo::rerun-if-changed=build.rs");
    let out = PathBuf::from(env::var_os("OUT_DIR").ok_or("no output directory")?);
    // Compiled files are kept: LALRPOP leaves those alone whose grammar has not changed.
    let texts = out.join("grammars");
    if texts.exists() {
        fs::remove_dir_all(&texts)?;
    }
    fs::create_dir(&texts)?;
    for (name, text) in agentir_grammars::GRAMMARS {
        fs::write(texts.join(name).with_extension("lalrpop"), text)?;
    }
    lalrpop::Configuration::new().set_in_dir(&texts).set_out_dir(&out).log_quiet().process()
}
