//! Sets `cfg(external_corpus)` if the corpus of third-party programs is present. Tests that need it are
//! ignored without it, so that a test report shows which tests have not run.

use std::env;
use std::error::Error;
use std::path::Path;

/// The folder of the corpus. `none` stands for no corpus.
const VARIABLE: &str = "AGENTIR_EXTERNAL_CORPUS";

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed={VARIABLE}");
    println!("cargo::rustc-check-cfg=cfg(external_corpus)");
    println!("cargo::rustc-check-cfg=cfg(vendor_diagnostics)");
    let manifest = env::var_os("CARGO_MANIFEST_DIR").ok_or("no manifest directory")?;
    let repository = Path::new(&manifest).parent().ok_or("the crate is not in the repository")?;
    let corpus = match env::var_os(VARIABLE) {
        Some(given) if given == "none" => return Ok(()),
        Some(given) => {
            let corpus = repository.join(given);
            if !corpus.is_dir() {
                return Err(format!("{VARIABLE}: {} is not a folder", corpus.display()).into());
            }
            corpus
        }
        None => repository.join("../shared/corpus"),
    };
    // A path that does not exist would make Cargo run this script, and rebuild the tests, every time.
    let Ok(corpus) = corpus.canonicalize() else { return Ok(()) };
    println!("cargo::rerun-if-changed={}", corpus.display());
    println!("cargo::rustc-cfg=external_corpus");
    println!("cargo::rustc-env=AGENTIR_EXTERNAL_CORPUS_FOLDER={}", corpus.display());
    // The vendor's list of diagnostics is documentation, which need not come with the programs.
    let diagnostics = corpus.join("../languages/agent-script-diagnostics.md");
    if let Ok(diagnostics) = diagnostics.canonicalize() {
        println!("cargo::rerun-if-changed={}", diagnostics.display());
        println!("cargo::rustc-cfg=vendor_diagnostics");
    }
    Ok(())
}
