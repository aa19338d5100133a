//! Bot exports in zip files, read with limits.
//!
//! Nothing is ever unpacked to a path: the files that are known by their names are read into memory, and
//! the names of the others are told.

use agentir_syntax::xo::FILE_NAMES;
use std::io::{Read, Seek};
use zip::ZipArchive;

/// How many files an archive may hold. Exports have about ten.
const MAX_FILES: usize = 10_000;

/// The largest file of an archive that is read, unpacked.
const MAX_SIZE: u64 = agentir_lower::MAX_FILE_SIZE as u64;

/// How the settings of an export are called.
const SETTINGS: &str = "config.json";

/// What is read of an archive.
#[derive(Debug, Default)]
pub struct Export {
    /// The definition: its name in the archive, and its bytes.
    pub definition: Option<(String, Vec<u8>)>,
    /// The settings.
    pub settings: Option<(String, Vec<u8>)>,
    /// The names of the other files, in order.
    pub others: Vec<String>,
}

/// Whether bytes are a zip archive, by how they begin.
pub fn is_zip(bytes: &[u8]) -> bool {
    bytes.starts_with(b"PK\x03\x04") || bytes.starts_with(b"PK\x05\x06")
}

/// Reads an archive.
///
/// # Errors
/// Why it cannot be read, in words: it is broken, holds too much, or no bot.
pub fn read(archive: impl Read + Seek) -> Result<Export, String> {
    let broken = |e: zip::result::ZipError| format!("this archive cannot be read: {e}");
    let mut archive = ZipArchive::new(archive).map_err(broken)?;
    if archive.len() > MAX_FILES {
        return Err(format!("this archive contains more than {MAX_FILES} files and was not read"));
    }
    let mut export = Export::default();
    for index in 0..archive.len() {
        let mut file = archive.by_index(index).map_err(broken)?;
        if file.is_dir() {
            continue;
        }
        let name = file.name().map_err(broken)?.into_owned();
        let last = name.rsplit(['/', '\\']).next().unwrap_or_default();
        let known = if FILE_NAMES.contains(&last) {
            &mut export.definition
        } else if last == SETTINGS {
            &mut export.settings
        } else {
            export.others.push(name);
            continue;
        };
        if known.is_some() {
            export.others.push(name);
            continue;
        }
        // What an archive says of its sizes is not to be trusted.
        let mut bytes = Vec::new();
        let read = file.by_ref().take(MAX_SIZE + 1).read_to_end(&mut bytes);
        read.map_err(|e| format!("`{name}` in this archive cannot be read: {e}"))?;
        if bytes.len() as u64 > MAX_SIZE {
            return Err(format!(
                "`{name}` in this archive is larger than {} MB and was not read",
                MAX_SIZE >> 20
            ));
        }
        *known = Some((name, bytes));
    }
    if export.definition.is_none() {
        return Err(format!("this archive contains no {}", FILE_NAMES.join(" and no ")));
    }
    Ok(export)
}
