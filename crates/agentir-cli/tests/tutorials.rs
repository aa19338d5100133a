//! The commands of the tutorials print what the tutorials show. `TRYCMD=overwrite` writes down what they
//! print now.

#![allow(clippy::panic, reason = "tests end by panicking")]

use std::env;
use std::path::Path;

#[test]
fn tutorials_show_what_happens() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    // A reader is in the root of the repository.
    env::set_current_dir(&root).unwrap_or_else(|error| panic!("{error}"));
    // Not where the user's own runs keep something.
    trycmd::TestCases::new()
        .env("XDG_CACHE_HOME", env!("CARGO_TARGET_TMPDIR"))
        .case("docs/tutorials/*.md");
}
