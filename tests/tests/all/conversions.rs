//! `docs/conversions.md` says what conversions keep.

#![allow(clippy::unwrap_used, reason = "tests end by panicking")]

use agentir_tests::conversions::document;
use agentir_tests::samples::root;

#[test]
fn the_table_of_conversions_is_up_to_date() {
    let written = std::fs::read_to_string(root().join("docs/conversions.md")).unwrap();
    assert!(written == document(), "run `cargo xtask conversions`");
}
