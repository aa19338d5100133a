//! Discovery: the documents that a request names.

use crate::document::{Document, MANIFEST};
use crate::request::{LoadError, Request};
use crate::walk::below;
use rayon::prelude::*;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// Finds the documents in the paths of a request, each once for every program that it belongs to, in order.
///
/// # Errors
/// If a path that was named cannot be read.
pub fn discover(request: &Request<'_>) -> Result<Vec<Document>, LoadError> {
    let mut files: Vec<Document> = Vec::new();
    for path in request.paths {
        if path.as_os_str() == "-" {
            let input = request.stdin.ok_or(LoadError::NoText)?;
            let text = Some(input.text.clone());
            let root = PathBuf::from("<stdin>");
            files.push(Document { text, root, ..Document::alone(input.name.clone(), request) });
            continue;
        }
        // Doubled slashes do not make another path.
        let path: PathBuf = path.components().collect();
        if request.files.is_dir(&path) {
            files.extend(below(&path, request));
        } else if !request.files.is_file(&path) {
            // A device or a pipe can be read although it is no regular file.
            request
                .files
                .probe(&path)
                .map_err(|error| LoadError::Unreadable { path: path.clone(), error })?;
            files.push(Document::alone(path, request));
        } else if path.file_name().is_some_and(|n| n == MANIFEST) {
            let above = path.parent().filter(|folder| !folder.as_os_str().is_empty());
            let folder = above.unwrap_or(Path::new("."));
            files.extend(discover(&Request { paths: &[folder.to_owned()], ..*request })?);
        } else {
            // A file that is named is read, whatever its name and configurations say, and alone.
            files.push(Document::alone(path, request));
        }
    }
    if let Some(folder) = request.together {
        files.iter_mut().for_each(|found| found.root = folder.to_owned());
    }
    Ok(sorted(files))
}

/// Documents by their paths, each once for every program.
fn sorted(mut files: Vec<Document>) -> Vec<Document> {
    fn key(found: &Document) -> (&OsStr, &OsStr) {
        // Bytes: to take paths apart takes longer than to compare them.
        (found.path.as_os_str(), found.root.as_os_str())
    }
    files.par_sort_by(|a, b| key(a).cmp(&key(b)));
    // Functions may belong to several bots of one folder.
    files.dedup_by(|a, b| a.text.is_none() && b.text.is_none() && key(a) == key(b));
    for at in 1..files.len() {
        if let Some([before, found]) = files.get_mut(at - 1..=at) {
            let read = found.text.is_none() && before.text.is_none();
            found.repeated = read && key(found).0 == key(before).0;
        }
    }
    files
}

#[cfg(test)]
mod tests {
    use super::sorted;
    use crate::document::Document;
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
            long.flat_map(|path| ["root", "a", "root"].map(|root| (path.clone(), root))).collect();
        for turn in 0..all.len() {
            all.rotate_left(turn);
            let found = |(path, root): &(String, &str)| {
                Document::new(PathBuf::from(path), PathBuf::from(root), Arc::default())
            };
            let sorted = sorted(all.iter().map(found).collect());
            let said = |f: &Document| (f.path.display().to_string(), f.root.display().to_string());
            let is: Vec<_> = sorted.iter().map(said).collect();
            let mut should: Vec<_> =
                all.iter().map(|(path, root)| (path.clone(), (*root).to_owned())).collect();
            should.sort();
            should.dedup();
            assert_eq!(is, should);
            let again: Vec<bool> = sorted.iter().map(|f| f.repeated).collect();
            let second: Vec<bool> = should.iter().map(|(_, root)| root == "root").collect();
            assert_eq!(again, second);
        }
    }
}
