//! Files and the spans in them.

use crate::lines::LineIndex;
use agentir_secrets::{MASK, Mask, Masker, masks, with_secrets};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::Range;
use std::sync::{Arc, OnceLock};

/// A file of the [`SourceMap`] it was added to.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
pub struct FileId(pub u32);

/// A half-open range of bytes in one file. Twelve bytes, so that every node can afford one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
pub struct Span {
    /// The file.
    pub file: FileId,
    /// The first byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// The span of bytes `start..end` in `file`.
    #[must_use]
    pub const fn new(file: FileId, start: u32, end: u32) -> Self {
        Self { file, start, end }
    }

    /// From the start of `self` to the end of `other`, which lies in the same file.
    #[must_use]
    pub fn to(self, other: Self) -> Self {
        Self { file: self.file, start: self.start.min(other.start), end: self.end.max(other.end) }
    }

    /// The empty span at the start of this one.
    #[must_use]
    pub const fn at_start(self) -> Self {
        Self { file: self.file, start: self.start, end: self.start }
    }

    /// As a range of indices into the file's text.
    #[must_use]
    pub const fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }

    /// Whether the span holds no byte.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.start >= self.end
    }
}

impl fmt::Debug for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}..{}", self.file.0, self.start, self.end)
    }
}

/// A value and where it was written. Two are equal when the values are: location is not meaning.
#[derive(Clone, Copy, Default)]
pub struct Spanned<T> {
    /// The value.
    pub value: T,
    /// Where it was written.
    pub span: Span,
}

impl<T> Spanned<T> {
    /// `value`, written at `span`.
    pub const fn new(value: T, span: Span) -> Self {
        Self { value, span }
    }

    /// Applies `f` to the value and keeps the place.
    pub fn map<U>(self, f: impl FnOnce(T) -> U) -> Spanned<U> {
        Spanned { value: f(self.value), span: self.span }
    }

    /// Borrows the value.
    pub const fn as_ref(&self) -> Spanned<&T> {
        Spanned { value: &self.value, span: self.span }
    }
}

impl Spanned<String> {
    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.value
    }
}

impl<T: PartialEq> PartialEq for Spanned<T> {
    fn eq(&self, other: &Self) -> bool {
        self.value == other.value
    }
}
impl<T: Eq> Eq for Spanned<T> {}
impl<T: PartialOrd> PartialOrd for Spanned<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        self.value.partial_cmp(&other.value)
    }
}
impl<T: Ord> Ord for Spanned<T> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.value.cmp(&other.value)
    }
}
impl<T: Hash> Hash for Spanned<T> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.value.hash(state);
    }
}
impl<T: fmt::Debug> fmt::Debug for Spanned<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.value.fmt(f)
    }
}
impl<T: fmt::Display> fmt::Display for Spanned<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.value.fmt(f)
    }
}
/// One file's name and text.
#[derive(Clone, Debug)]
pub struct SourceFile {
    /// How the file is called in messages: the path as the user gave it.
    pub name: Arc<str>,
    /// The whole text.
    pub text: Arc<str>,
    /// Made on first use: clean files never pay for it.
    pub(crate) lines: LineIndex,
    /// Found on first use: only files that are shown are searched.
    pub(crate) masks: OnceLock<Box<[Mask]>>,
    /// What is a secret because a reader of the file says so, in order; not told by its text alone.
    pub(crate) secrets: Arc<[Range<usize>]>,
}

impl SourceFile {
    /// A file called `name` with `text`.
    pub fn new(name: impl Into<Arc<str>>, text: impl Into<Arc<str>>) -> Self {
        Self {
            name: name.into(),
            text: text.into(),
            lines: LineIndex::default(),
            masks: OnceLock::new(),
            secrets: Arc::default(),
        }
    }

    /// The text of `span`, empty if it does not lie on character boundaries of this file.
    #[must_use]
    pub fn slice(&self, span: Span) -> &str {
        self.text.get(span.range()).unwrap_or_default()
    }

    /// The masks of the secrets in the text, wherever they stand in it.
    pub fn masks(&self) -> &[Mask] {
        self.masks.get_or_init(|| {
            let found = self.found(masks(&self.text));
            if found.is_empty() {
                return found.into();
            }
            let masker: Masker = [(&*self.text, found.as_slice())].into_iter().collect();
            self.masks_with(&masker)
        })
    }

    /// The masks of the secrets in the text, and of those that a masker knows.
    pub(crate) fn masks_with(&self, masker: &Masker) -> Box<[Mask]> {
        self.found(masker.masks(&self.text)).into()
    }

    /// Masks, with those of what readers of the file say is a secret.
    fn found(&self, found: Vec<Mask>) -> Vec<Mask> {
        if self.secrets.is_empty() {
            return found;
        }
        with_secrets(&self.text, found, &self.secrets)
    }

    /// Some bytes of the text as they may be shown: without secrets. Lines keep their number.
    #[must_use]
    pub fn masked(&self, range: Range<usize>) -> Cow<'_, str> {
        let text = |range| self.text.get(range).unwrap_or_default();
        let first = self.masks().partition_point(|mask| mask.hidden.end <= range.start);
        let hidden = self.masks().iter().skip(first).map(|mask| &mask.hidden);
        let mut hidden = hidden.take_while(|hidden| hidden.start < range.end).peekable();
        if hidden.peek().is_none() {
            return Cow::Borrowed(text(range));
        }
        let (mut out, mut at) = (String::new(), range.start);
        for hidden in hidden {
            out.push_str(text(at..hidden.start.max(at)));
            out.push(MASK);
            at = hidden.end.min(range.end);
        }
        out.push_str(text(at..range.end));
        Cow::Owned(out)
    }
}

/// All files of one run; spans point into it.
#[derive(Clone, Debug, Default)]
pub struct SourceMap {
    files: Vec<Arc<SourceFile>>,
}

impl SourceMap {
    /// No files yet.
    #[must_use]
    pub const fn new() -> Self {
        Self { files: Vec::new() }
    }

    /// Replaces the file with this id by a newer version of it.
    pub fn replace(&mut self, id: FileId, file: SourceFile) {
        if let Some(old) = self.files.get_mut(id.0 as usize) {
            *old = Arc::new(file);
        }
    }

    /// Hides what stands at some places, wherever it is shown: a secret that its text alone does not tell to be one.
    pub fn conceal(&mut self, places: impl IntoIterator<Item = Span>) {
        let mut by_file: BTreeMap<FileId, Vec<Range<usize>>> = BTreeMap::new();
        for place in places.into_iter().filter(|place| !place.is_empty()) {
            by_file.entry(place.file).or_default().push(place.range());
        }
        for (id, mut secrets) in by_file {
            let Some(file) = self.files.get_mut(id.0 as usize) else { continue };
            secrets.extend(file.secrets.iter().cloned());
            secrets.sort_unstable_by_key(|range| (range.start, range.end));
            secrets.dedup();
            if *secrets != *file.secrets {
                let file = Arc::make_mut(file);
                file.secrets = secrets.into();
                file.masks = OnceLock::new();
            }
        }
    }

    /// The places that are [concealed](Self::conceal).
    pub fn concealed(&self) -> impl Iterator<Item = Span> {
        let offset = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        self.iter().flat_map(move |(id, file)| {
            file.secrets.iter().map(move |at| Span::new(id, offset(at.start), offset(at.end)))
        })
    }

    /// Adds a file; its id is its index.
    pub fn add(&mut self, file: SourceFile) -> FileId {
        let id = FileId(u32::try_from(self.files.len()).unwrap_or(u32::MAX));
        self.files.push(Arc::new(file));
        id
    }

    /// The file with this id.
    #[must_use]
    pub fn get(&self, id: FileId) -> Option<&SourceFile> {
        self.files.get(id.0 as usize).map(|file| &**file)
    }

    /// All files, in the order they were added.
    pub fn iter(&self) -> impl Iterator<Item = (FileId, &SourceFile)> {
        self.files
            .iter()
            .enumerate()
            .map(|(i, f)| (FileId(u32::try_from(i).unwrap_or(u32::MAX)), &**f))
    }

    /// How many files there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.files.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// What masks the secrets of all files in other texts.
    #[must_use]
    pub fn masker(&self) -> Masker {
        self.files.iter().map(|file| (&*file.text, file.masks())).collect()
    }

    /// The text of `span`.
    #[must_use]
    pub fn slice(&self, span: Span) -> &str {
        self.get(span.file).map_or("", |f| f.slice(span))
    }
}
