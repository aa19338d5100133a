//! Says which build this is: results of one must not be taken for those of another.

use std::collections::BTreeSet;
use std::error::Error;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::{env, fs};

/// What decides what is found: the code, what it is generated from, and what it is built with.
const SOURCES: [&str; 4] = ["crates", "grammars", "rules", "Cargo.lock"];

/// The same in a package from a registry, which has only this crate. The others have exactly the version
/// of this one (`=` in the requirements), which identifies their code.
const PACKAGED: [&str; 2] = ["src", "Cargo.lock"];

fn main() -> Result<(), Box<dyn Error>> {
    let package = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?);
    let repository = package.join("../..");
    let (root, sources) = if repository.join("grammars").is_dir() {
        (repository, SOURCES.as_slice())
    } else {
        (package, PACKAGED.as_slice())
    };
    let mut hasher = DefaultHasher::new();
    for source in sources {
        let path = root.join(source);
        println!("cargo::rerun-if-changed={}", path.display());
        let mut files = BTreeSet::new();
        below(&path, &mut files);
        for file in files {
            file.strip_prefix(&root)?.hash(&mut hasher);
            fs::read(&file)?.hash(&mut hasher);
        }
    }
    // Where the program is unpacked from an archive, its libraries are beside it, and so are those that
    // Z3 needs, which is loaded from there.
    match env::var("CARGO_CFG_TARGET_OS")?.as_str() {
        // Libraries that are needed by libraries are looked for there as well, by a path of the old form.
        "linux" => {
            println!("cargo::rustc-link-arg-bins=-Wl,--disable-new-dtags,-rpath,$ORIGIN/../lib");
        }
        "macos" => println!("cargo::rustc-link-arg-bins=-Wl,-rpath,@executable_path/../lib"),
        _ => {}
    }
    println!("cargo::rustc-env=AGENTIR_BUILD={:016x}", hasher.finish());
    Ok(())
}

/// All files below a path, but for those that only tests read.
fn below(path: &Path, files: &mut BTreeSet<PathBuf>) {
    let Ok(entries) = fs::read_dir(path) else {
        if path.is_file() {
            files.insert(path.to_owned());
        }
        return;
    };
    for entry in entries.flatten().map(|entry| entry.path()) {
        if entry.file_name().is_none_or(|name| name != "tests") {
            below(&entry, files);
        }
    }
}
