//! Keeps the linker from asking for libraries that are only loaded at run time.
//!
//! The build script of `z3-sys` tells the linker to link `libz3` and the C++ library. This crate defines
//! every function of Z3 that is called (`src/functions.rs`), so the linker takes nothing from either,
//! but it still wants to find them. It is given archives without any code under these names instead, so
//! that a build needs neither Z3 nor a C++ compiler, and the program does not depend on them.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

/// A program of one byte: an archive of an object file, in the format of the target's linker.
const PLACEHOLDER: &str =
    "#![no_std]\n#[unsafe(no_mangle)]\npub static AGENTIR_Z3_PLACEHOLDER: u8 = 0;\n";

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=build.rs");
    let folder = PathBuf::from(env::var("OUT_DIR")?);
    let target = env::var("TARGET")?;
    let msvc = env::var("CARGO_CFG_TARGET_ENV")? == "msvc";
    let archive = folder.join(if msvc { "libz3.lib" } else { "libz3.a" });
    compile(&folder, &target, &archive)?;
    // Where there is a C++ library, it is left alone: other crates may really link with it.
    if env::var("CARGO_CFG_TARGET_OS")? == "linux" && !links_with_cxx() {
        fs::copy(&archive, folder.join("libstdc++.a"))?;
    }
    println!("cargo::rustc-link-search=native={}", folder.display());
    Ok(())
}

fn compile(folder: &Path, target: &str, archive: &Path) -> Result<(), Box<dyn Error>> {
    let source = folder.join("placeholder.rs");
    fs::write(&source, PLACEHOLDER)?;
    let status = Command::new(env::var("RUSTC")?)
        .args(["--crate-type=rlib", "--crate-name=agentir_z3_placeholder", "--edition=2024"])
        .arg(format!("--target={target}"))
        .arg("-o")
        .args([archive, &source])
        .status()?;
    if status.success() { Ok(()) } else { Err(format!("rustc ended with {status}").into()) }
}

/// Whether the linker finds the C++ library; also where it cannot be asked.
fn links_with_cxx() -> bool {
    println!("cargo::rerun-if-env-changed=RUSTC_LINKER");
    let linker = env::var("RUSTC_LINKER").unwrap_or_else(|_| "cc".to_owned());
    ["libstdc++.so", "libstdc++.a"].into_iter().any(|name| {
        let answer = Command::new(&linker).arg(format!("-print-file-name={name}")).output();
        // What it does not find it calls by the name alone.
        answer.map_or(true, |answer| answer.stdout.trim_ascii() != name.as_bytes())
    })
}
