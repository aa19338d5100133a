//! Writing files.

use std::io::{self, Write};
use std::path::Path;
use std::{env, fs};

/// What the names of files begin with that are there only while another one is written.
pub const TEMPORARY: &str = ".agentir-";

/// Writes a file in one step: whoever reads it sees the old text or the new one. Who may do what with
/// the file stays as it is; a link goes on leading to it.
pub fn replace(path: &Path, text: &str) -> Result<(), String> {
    write(path, text).map_err(|e| format!("{} cannot be written: {e}", path.display()))
}

fn write(path: &Path, text: &str) -> io::Result<()> {
    let there = match fs::canonicalize(path) {
        Ok(there) => there,
        Err(_) => env::current_dir()?.join(path),
    };
    let folder = there.parent().unwrap_or(&there);
    fs::create_dir_all(folder)?;
    let mut builder = tempfile::Builder::new();
    builder.prefix(TEMPORARY);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // As any new file, where the user's mask does not say otherwise.
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    let mut file = builder.tempfile_in(folder)?;
    file.write_all(text.as_bytes())?;
    if let Ok(before) = fs::metadata(&there) {
        file.as_file().set_permissions(before.permissions())?;
    }
    file.persist(&there)?;
    Ok(())
}
