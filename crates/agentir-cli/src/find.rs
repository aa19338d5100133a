//! The documents that a request names.

use crate::found::{Found, MANIFEST};
use crate::request::{LoadError, Request};
use crate::walk::below;
use rayon::prelude::*;
use std::ffi::OsStr;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::{fs, io};

/// The documents in the paths of a request, each once for every program that it belongs to, in order.
pub fn find(request: &Request<'_>) -> Result<Vec<Found>, LoadError> {
    let mut files: Vec<Found> = Vec::new();
    for path in request.paths {
        if path.as_os_str() == "-" {
            let mut text = String::new();
            io::stdin()
                .read_to_string(&mut text)
                .map_err(|e| LoadError(format!("standard input cannot be read: {e}")))?;
            let path = request.stdin_filename.unwrap_or(Path::new("<stdin>")).to_owned();
            let home = PathBuf::from("<stdin>");
            files.push(Found { text: Some(text), home, ..Found::alone(path, request) });
            continue;
        }
        // The same file is not found twice because slashes are.
        let path: PathBuf = path.components().collect();
        let metadata = fs::metadata(&path)
            .map_err(|e| LoadError(format!("`{}` cannot be read: {e}", path.display())))?;
        if metadata.is_dir() {
            files.extend(below(&path, request));
        } else if path.file_name().is_some_and(|n| n == MANIFEST) {
            let above = path.parent().filter(|folder| !folder.as_os_str().is_empty());
            let folder = above.unwrap_or(Path::new("."));
            let inner = Request { paths: &[folder.to_owned()], ..*request };
            files.extend(find(&inner)?);
        } else {
            // A file that is named is read, whatever it is called and configurations say, and alone.
            files.push(Found::alone(path, request));
        }
    }
    if let Some(folder) = request.together {
        files.iter_mut().for_each(|found| found.home = folder.to_owned());
    }
    Ok(sorted(files))
}

/// Documents by their paths, each once for every program.
fn sorted(mut files: Vec<Found>) -> Vec<Found> {
    fn key(found: &Found) -> (&OsStr, &OsStr) {
        // Bytes: to take paths apart takes longer than to compare them.
        (found.path.as_os_str(), found.home.as_os_str())
    }
    files.par_sort_by(|a, b| key(a).cmp(&key(b)));
    // Functions may belong to several bots of one folder.
    files.dedup_by(|a, b| a.text.is_none() && b.text.is_none() && key(a) == key(b));
    for at in 1..files.len() {
        if let Some([before, found]) = files.get_mut(at - 1..=at) {
            let read = found.text.is_none() && before.text.is_none();
            found.again = read && key(found).0 == key(before).0;
        }
    }
    files
}

#[cfg(test)]
mod tests {
    use super::sorted;
    use crate::found::Found;
    use std::path::PathBuf;
    use std::sync::Arc;

    /// Paths that differ early, late, in length, in their program only, and not at all.
    #[test]
    fn documents_are_in_order_and_once() {
        let names = ["", "a", "a/b", "a-b", "a/b/a_long_name", "b", "b/\u{e9}"];
        let long = names
            .iter()
            .flat_map(|end| ["", "a/b/a_long_name/"].map(|folder| format!("x/{folder}{end}")));
        let mut all: Vec<(String, &str)> =
            long.flat_map(|path| ["home", "a", "home"].map(|home| (path.clone(), home))).collect();
        for turn in 0..all.len() {
            all.rotate_left(turn);
            let found = |(path, home): &(String, &str)| {
                Found::new(PathBuf::from(path), PathBuf::from(home), Arc::default())
            };
            let sorted = sorted(all.iter().map(found).collect());
            let said = |f: &Found| (f.path.display().to_string(), f.home.display().to_string());
            let is: Vec<_> = sorted.iter().map(said).collect();
            let mut should: Vec<_> =
                all.iter().map(|(path, home)| (path.clone(), (*home).to_owned())).collect();
            should.sort();
            should.dedup();
            assert_eq!(is, should);
            let again: Vec<bool> = sorted.iter().map(|f| f.again).collect();
            let second: Vec<bool> = should.iter().map(|(_, home)| home == "home").collect();
            assert_eq!(again, second);
        }
    }
}
