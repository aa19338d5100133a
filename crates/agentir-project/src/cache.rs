//! Files and their results, kept between builds.

use crate::file::FileResult;
use agentir_diagnostics::{FileId, SourceFile, SourceMap};
use agentir_syntax::{Languages, ReadOptions};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// What decides a file's result beside its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct ResultKey {
    pub file: FileId,
    /// Whether it belongs to a program beside other files.
    pub in_program: bool,
    pub options: ReadOptions,
}

/// A text and its result.
type CachedResult = (Arc<str>, Arc<FileResult>);

/// The files of the latest build and their results, so that the next build parses and lowers only files whose
/// content changed. A file keeps its id from build to build, because spans in its result refer to it, as long as the
/// ids have the order of the files: findings must not depend on the order in which files appeared.
#[derive(Debug, Default)]
pub struct FileCache {
    sources: SourceMap,
    /// By name. A build may have several files of one name with different texts: standard input can be given the
    /// name of a file.
    ids: FxHashMap<Arc<str>, Vec<FileId>>,
    /// How many of the ids of a name the current build has used.
    used: FxHashMap<Arc<str>, usize>,
    results: FxHashMap<ResultKey, CachedResult>,
}

impl FileCache {
    /// The files. Those that are gone have neither a name nor a text.
    pub(crate) const fn sources(&self) -> &SourceMap {
        &self.sources
    }

    pub(crate) fn into_sources(self) -> SourceMap {
        self.sources
    }

    /// Begins a build of files with these names. Forgets everything if they would get ids in another order, which is
    /// so if a file appears among those that are known.
    pub(crate) fn begin<'n>(&mut self, names: impl IntoIterator<Item = &'n str>) {
        self.used.clear();
        let (mut last, mut is_new) = (None, false);
        for name in names {
            let known = self.ids.get(name).and_then(|ids| ids.first().copied());
            match known {
                None => is_new = true,
                Some(id) if !is_new && last <= Some(id) => last = known,
                Some(_) => {
                    *self = Self::default();
                    return;
                }
            }
        }
    }

    /// Adds a file to the current build and returns its id.
    pub(crate) fn add(&mut self, name: &str, text: String) -> FileId {
        let ids = self.ids.get(name).map_or(&[][..], Vec::as_slice);
        let used = self.used.get(name).copied().unwrap_or(0);
        let has_text = |id: FileId| self.sources.get(id).is_some_and(|file| *file.text == *text);
        if let Some(same) = ids.iter().take(used).copied().find(|id| has_text(*id)) {
            return same;
        }
        let (name, id) = match ids.get(used).copied() {
            Some(id) if has_text(id) => (self.name(id), id),
            Some(id) => {
                let name = self.name(id);
                self.sources.replace(id, SourceFile::new(Arc::clone(&name), text));
                (name, id)
            }
            None => {
                let file = SourceFile::new(name, text);
                let name = Arc::clone(&file.name);
                let id = self.sources.add(file);
                self.ids.entry(Arc::clone(&name)).or_default().push(id);
                (name, id)
            }
        };
        self.used.insert(name, used + 1);
        id
    }

    fn name(&self, id: FileId) -> Arc<str> {
        self.sources.get(id).map_or_else(|| Arc::from(""), |file| Arc::clone(&file.name))
    }

    /// The result of a file of the current build.
    pub(crate) fn result(&self, languages: Languages, key: ResultKey) -> Arc<FileResult> {
        let file = self.sources.get(key.file);
        let (name, text) = file.map_or(("", None), |file| (&file.name, Some(&file.text)));
        match (self.results.get(&key), text) {
            (Some((of, result)), Some(text)) if Arc::ptr_eq(of, text) => Arc::clone(result),
            _ => {
                let text = text.map_or("", |text| text);
                let ResultKey { file, in_program, options } = key;
                Arc::new(FileResult::new(languages, file, name, text, in_program, options))
            }
        }
    }

    /// Ends a build: keeps its results, and forgets files that were not part of it.
    pub(crate) fn finish(&mut self, results: impl Iterator<Item = (ResultKey, Arc<FileResult>)>) {
        let Self { sources, ids, used, results: kept } = self;
        *kept = results
            .filter_map(|(key, result)| {
                Some((key, (Arc::clone(&sources.get(key.file)?.text), result)))
            })
            .collect();
        ids.retain(|name, ids| {
            for gone in ids.drain(used.get(name).copied().unwrap_or(0)..) {
                sources.replace(gone, SourceFile::new("", ""));
            }
            !ids.is_empty()
        });
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests end by panicking")]
mod tests {
    use super::FileCache;
    use agentir_diagnostics::FileId;

    fn build(cache: &mut FileCache, files: &[(&str, &str)]) -> Vec<FileId> {
        cache.begin(files.iter().map(|(name, _)| *name));
        let ids = files.iter().map(|(name, text)| cache.add(name, (*text).to_owned())).collect();
        cache.finish(std::iter::empty());
        ids
    }

    #[test]
    fn files_keep_their_ids_and_equal_files_share_one() {
        let mut cache = FileCache::default();
        let first = build(&mut cache, &[("a", "1"), ("a", "2"), ("a", "1"), ("b", "1")]);
        let (a, other, again, b) = (first[0], first[1], first[2], first[3]);
        assert!(a == again && a != other && a != b);
        assert_eq!(build(&mut cache, &[("a", "1"), ("a", "2"), ("b", "3")]), [a, other, b]);
        assert_eq!(&*cache.sources().get(b).unwrap().text, "3");
    }

    #[test]
    fn files_that_are_gone_leave_nothing_behind() {
        let mut cache = FileCache::default();
        let first = build(&mut cache, &[("a", "1"), ("b", "2")]);
        build(&mut cache, &[("b", "2")]);
        let texts: Vec<_> = cache.sources().iter().map(|(_, file)| &*file.text).collect();
        assert_eq!(texts, ["", "2"]);
        let second = build(&mut cache, &[("b", "2"), ("c", "3")]);
        assert!(second[0] == first[1] && second[0] < second[1]);
    }

    #[test]
    fn ids_have_the_order_of_the_files() {
        let mut cache = FileCache::default();
        build(&mut cache, &[("b", "1"), ("d", "1")]);
        for files in [
            &[("a", "2"), ("b", "1"), ("d", "1")][..],
            &[("a", "2"), ("b", "1"), ("c", "1"), ("d", "1")],
            &[("a", "2"), ("d", "1"), ("e", "1")],
            &[("a", "2"), ("a", "2"), ("d", "1"), ("e", "1")],
        ] {
            let ids = build(&mut cache, files);
            assert!(ids.is_sorted(), "{files:?}: {ids:?}");
        }
    }
}
