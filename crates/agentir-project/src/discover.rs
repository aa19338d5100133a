//! Discovery: the documents that a request names.

use crate::document::{Document, MANIFEST};
use crate::request::{LoadError, Request};
use crate::walk::{below, named};
use agentir_vfs::identity;
use rayon::prelude::*;
use rustc_hash::FxHashMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// Finds the documents in the paths of a request, each once for every program that it belongs to, in order.
///
/// # Errors
/// If a path that was named cannot be read.
pub fn discover(request: &Request<'_>) -> Result<Vec<Document>, LoadError> {
    let mut files: Vec<Document> = Vec::new();
    // The index of the first document of each path.
    let mut begins = Vec::with_capacity(request.paths.len());
    for path in request.paths {
        begins.push(files.len());
        if path.as_os_str() == "-" {
            if files.iter().any(|found| found.text.is_some()) {
                continue;
            }
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
            // A device or a pipe can be read although it is not a regular file.
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
            files.extend(named(path, request));
        }
    }
    if request.paths.len() > 1 {
        files = without_overlaps(files, &begins, request);
    }
    if let Some(folder) = request.together {
        files.iter_mut().for_each(|found| found.root = folder.to_owned());
    }
    Ok(sorted(files))
}

/// Documents of several paths that may name the same files: each file belongs to what one of the paths found. A program
/// takes precedence over a file alone, and an outer program over an inner one. `begins` has the index of the first
/// document of each path.
fn without_overlaps(
    files: Vec<Document>,
    begins: &[usize],
    request: &Request<'_>,
) -> Vec<Document> {
    /// What decides between two paths that found the same file; the smallest is kept.
    type Rank = (bool, usize, usize);
    let ranks: Vec<Option<(PathBuf, Rank)>> = files
        .iter()
        .enumerate()
        .map(|(index, found)| {
            if found.text.is_some() {
                return None;
            }
            let path = identity(request.files, &found.path);
            let root = identity(request.files, &found.root);
            let from = begins.partition_point(|begin| *begin <= index);
            let rank = (root == path, root.components().count(), from);
            Some((path, rank))
        })
        .collect();
    // The path that a file is kept for: all programs there that share it keep it.
    let mut best: FxHashMap<&Path, Rank> = FxHashMap::default();
    for (path, rank) in ranks.iter().flatten() {
        let known = best.entry(path).or_insert(*rank);
        *known = (*known).min(*rank);
    }
    let keep = |rank: &Option<(PathBuf, Rank)>| {
        rank.as_ref().is_none_or(|(path, rank)| best.get(&**path).is_none_or(|b| b.2 == rank.2))
    };
    let kept: Vec<bool> = ranks.iter().map(keep).collect();
    files.into_iter().zip(kept).filter_map(|(found, kept)| kept.then_some(found)).collect()
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
