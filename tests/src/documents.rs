//! Documents that tests hold to what the program says, and can write anew.

use std::fs;
use std::path::Path;

/// Set, and not to `0`, to write documents anew instead of comparing them.
const UPDATE: &str = "AGENTIR_UPDATE_PAGES";

/// Whether documents are written anew.
#[must_use]
pub fn updates() -> bool {
    std::env::var_os(UPDATE).is_some_and(|value| value != "0")
}

/// Checks that the document at `path` is `expected`, or writes it anew. `how` says what writes it.
///
/// # Panics
/// If the document differs, or can't be read or written.
pub fn assert_fresh(path: &Path, expected: &str, how: &str) {
    if updates() {
        fs::write(path, expected).unwrap();
        return;
    }
    let committed = fs::read_to_string(path).unwrap();
    assert!(
        committed == expected,
        "{} is not what the program says now; {how} writes it",
        path.display()
    );
}
