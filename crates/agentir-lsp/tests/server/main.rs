//! The server, as clients see it.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests end by panicking"
)]

mod client;
mod diagnostics;
mod editors;
mod features;
mod hostile;
mod project;
mod secrets;

use std::fs;
use std::path::Path;

/// An agent with one finding: it calls a tool that is called otherwise.
const POOL: &str = "AGENT: Pool\nGOAL: \"Book lanes\"\n\nTOOLS:\n  book_lane(day: string) -> object\n    description: \"Books a lane\"\n\nON_START:\n  CALL: book_line(\"monday\")\n  RESPOND: \"Hello\"\n";

/// Writes files below a folder.
fn write(folder: &Path, files: &[(&str, &str)]) {
    for (name, text) in files {
        let path = folder.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
}
