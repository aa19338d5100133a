//! Documents that tests hold to what the program says, and can write anew.

use std::fs;
use std::path::Path;
use std::sync::Mutex;

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

/// Parts of one document are written one after the other.
static PARTS: Mutex<()> = Mutex::new(());

/// Like [`assert_fresh`], for the part of a document that begins with the first line of `expected`, a heading, and ends
/// before the next heading.
///
/// # Panics
/// If that part differs, or the document can't be read or written.
pub fn assert_part_fresh(path: &Path, expected: &str, how: &str) {
    let _alone = PARTS.lock().unwrap();
    let document = fs::read_to_string(path).unwrap();
    let heading = expected.lines().next().unwrap();
    let start = document.find(&format!("{heading}\n")).unwrap_or(document.len());
    let (before, rest) = document.split_at(start);
    let end = rest.find("\n#").map_or(rest.len(), |end| end + 1);
    let (part, after) = rest.split_at(end);
    let separator = if after.is_empty() { "" } else { "\n" };
    if updates() {
        let gap = if before.is_empty() || before.ends_with("\n\n") { "" } else { "\n" };
        fs::write(path, format!("{before}{gap}{expected}{separator}{after}")).unwrap();
        return;
    }
    assert!(
        part == format!("{expected}{separator}"),
        "`{heading}` in {} is not what the program says now; {how} writes it",
        path.display()
    );
}
