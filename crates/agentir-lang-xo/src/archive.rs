//! Bot exports in zip files, read with limits.
//!
//! Nothing is ever unpacked to a path: the files that are known by their names are read into memory, and
//! the names of the others are told.

use crate::{FILE_NAMES, SETTINGS};
use agentir_syntax::Package;
use std::io::{Cursor, Read, Seek};
use zip::ZipArchive;

/// How many files an archive may hold. Exports have about ten.
const MAX_FILES: usize = 10_000;

/// The largest file of an archive that is read, unpacked.
const MAX_SIZE: u64 = agentir_syntax::MAX_FILE_SIZE as u64;

/// [`MAX_SIZE`] in messages.
const MAX_MEGABYTES: u64 = MAX_SIZE >> 20;

/// Why an archive was not read.
#[derive(Debug, thiserror::Error)]
pub enum ArchiveError {
    /// Its structure is damaged.
    #[error("{}", damage(.0))]
    Damaged(#[from] zip::result::ZipError),
    /// It contains too many files.
    #[error("it is an archive of more than {MAX_FILES} files")]
    TooManyFiles,
    /// A file in it cannot be decompressed.
    #[error("`{name}` in this archive cannot be decompressed: {error}")]
    File {
        /// The file's name.
        name: String,
        /// Why.
        error: std::io::Error,
    },
    /// A file in it is too large.
    #[error("`{0}` in this archive is larger than {MAX_MEGABYTES} MB")]
    TooLarge(String),
    /// There is no definition of a bot in it.
    #[error("this archive contains no {}", FILE_NAMES.join(" and no "))]
    NoBot,
}

/// What is wrong with an archive.
fn damage(error: &zip::result::ZipError) -> String {
    use zip::result::ZipError::{InvalidArchive, UnsupportedArchive};
    match error {
        InvalidArchive(_) => "it is a zip archive that is damaged or incomplete".to_owned(),
        UnsupportedArchive(reason) => format!("it is an unsupported zip archive ({reason})"),
        error => error.to_string(),
    }
}

/// Whether bytes are a zip archive, by how they begin.
pub fn is_zip(bytes: &[u8]) -> bool {
    bytes.starts_with(b"PK\x03\x04") || bytes.starts_with(b"PK\x05\x06")
}

/// Whether bytes are an archive with the definition of a bot, also if that cannot be read.
pub fn has_bot(bytes: &[u8]) -> bool {
    use ArchiveError::{File, TooLarge};
    is_zip(bytes) && matches!(read(Cursor::new(bytes)), Ok(_) | Err(File { .. } | TooLarge(_)))
}

/// Reads an archive: the definition and the settings of an export, each the first of its name.
///
/// # Errors
/// If it is damaged, too large, or does not contain a bot.
pub fn read(archive: impl Read + Seek) -> Result<Package, ArchiveError> {
    let mut archive = ZipArchive::new(archive)?;
    if archive.len() > MAX_FILES {
        return Err(ArchiveError::TooManyFiles);
    }
    let (mut definition, mut settings, mut others) = (None, None, Vec::new());
    for index in 0..archive.len() {
        let mut file = archive.by_index(index)?;
        if file.is_dir() {
            continue;
        }
        let name = file.name()?.into_owned();
        let last = name.rsplit(['/', '\\']).next().unwrap_or_default();
        let known = if FILE_NAMES.contains(&last) {
            &mut definition
        } else if last == SETTINGS {
            &mut settings
        } else {
            others.push(name);
            continue;
        };
        if known.is_some() {
            others.push(name);
            continue;
        }
        // What an archive says of its sizes is not to be trusted.
        let mut bytes = Vec::new();
        let read = file.by_ref().take(MAX_SIZE + 1).read_to_end(&mut bytes);
        if let Err(error) = read {
            return Err(ArchiveError::File { name, error });
        }
        if bytes.len() as u64 > MAX_SIZE {
            return Err(ArchiveError::TooLarge(name));
        }
        *known = Some((name, bytes));
    }
    if definition.is_none() {
        return Err(ArchiveError::NoBot);
    }
    Ok(Package { files: definition.into_iter().chain(settings).collect(), others })
}
