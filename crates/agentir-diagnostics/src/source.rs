//! Files, spans, and the way from a byte offset to a line and a column.

use serde::{Deserialize, Serialize};
use std::cmp::Ordering;
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
thread_local! {
    static WITH_PLACES: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
}

/// The keys under which a value and its place are written by [`with_places`].
pub const PLACED: [&str; 2] = ["$value", "$at"];

/// Everything that `serialize` serializes says where it was written: a value that has a place becomes
/// `{"$value": …, "$at": [file, start, end]}`. For tools that relate two serializations to their
/// sources; the formats that others read have no places.
pub fn with_places<R>(serialize: impl FnOnce() -> R) -> R {
    struct Reset(bool);
    impl Drop for Reset {
        fn drop(&mut self) {
            WITH_PLACES.set(self.0);
        }
    }
    let _reset = Reset(WITH_PLACES.replace(true));
    serialize()
}

/// Serializes a value that was written at `span`; see [`with_places`].
///
/// # Errors
/// Those of the serializer.
pub fn serialize_at<T: serde::Serialize + ?Sized, S: serde::Serializer>(
    value: &T,
    span: Span,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    use serde::ser::SerializeMap;
    if !WITH_PLACES.get() {
        return value.serialize(serializer);
    }
    let [what, place] = PLACED;
    let mut map = serializer.serialize_map(Some(2))?;
    map.serialize_entry(what, value)?;
    map.serialize_entry(place, &[span.file.0, span.start, span.end])?;
    map.end()
}

impl<T: serde::Serialize> serde::Serialize for Spanned<T> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serialize_at(&self.value, self.span, serializer)
    }
}
impl<T: schemars::JsonSchema> schemars::JsonSchema for Spanned<T> {
    fn inline_schema() -> bool {
        T::inline_schema()
    }
    fn schema_name() -> std::borrow::Cow<'static, str> {
        T::schema_name()
    }
    fn schema_id() -> std::borrow::Cow<'static, str> {
        T::schema_id()
    }
    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        T::json_schema(generator)
    }
}

/// A line and a column, both from 1; the column counts characters, as editors show it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LineColumn {
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1, in Unicode scalar values.
    pub column: u32,
}

/// One file's name and text.
#[derive(Clone, Debug)]
pub struct SourceFile {
    /// How the file is called in messages: the path as the user gave it.
    pub name: Arc<str>,
    /// The whole text.
    pub text: Arc<str>,
    line_starts: OnceLock<Box<[u32]>>,
    char_counts: OnceLock<Box<[u32]>>,
}

/// Some editors put it in front of a file; it is no part of the text.
pub(crate) const BYTE_ORDER_MARK: char = '\u{FEFF}';

/// How many bytes lie between two entries of a file's running count of characters.
const STRIDE: usize = 4096;

/// How many characters start in these bytes.
fn count_chars(bytes: &[u8]) -> usize {
    bytes.iter().filter(|&&byte| byte & 0xC0 != 0x80).count()
}

impl SourceFile {
    /// A file called `name` with `text`.
    pub fn new(name: impl Into<Arc<str>>, text: impl Into<Arc<str>>) -> Self {
        Self {
            name: name.into(),
            text: text.into(),
            line_starts: OnceLock::new(),
            char_counts: OnceLock::new(),
        }
    }

    /// The offsets at which lines start. Made on first use: clean files never pay for it.
    pub fn line_starts(&self) -> &[u32] {
        self.line_starts.get_or_init(|| {
            std::iter::once(0)
                .chain(
                    memchr::memchr_iter(b'\n', self.text.as_bytes())
                        .map(|i| u32::try_from(i + 1).unwrap_or(u32::MAX)),
                )
                .collect()
        })
    }

    /// The line and column of a byte offset; past the end counts as the end. A byte order mark is
    /// no character: no editor counts it.
    pub fn line_column(&self, offset: u32) -> LineColumn {
        let end = self.floor(offset);
        let line = self.line_index(end);
        let mut start = self.line_starts().get(line).copied().unwrap_or(0) as usize;
        if start == 0 && self.text.starts_with(BYTE_ORDER_MARK) {
            start = BYTE_ORDER_MARK.len_utf8();
        }
        LineColumn {
            line: u32::try_from(line + 1).unwrap_or(u32::MAX),
            column: u32::try_from(self.chars_between(start, end) + 1).unwrap_or(u32::MAX),
        }
    }

    /// The nearest start of a character at or before `offset`; past the end counts as the end.
    pub(crate) fn floor(&self, offset: u32) -> usize {
        let mut offset = (offset as usize).min(self.text.len());
        while !self.text.is_char_boundary(offset) {
            offset -= 1;
        }
        offset
    }

    /// The index, from 0, of the line that holds the byte at `offset`.
    #[must_use]
    pub fn line_index(&self, offset: usize) -> usize {
        self.line_starts().partition_point(|&start| start as usize <= offset).saturating_sub(1)
    }

    /// The bytes of a line, counted from 0, without what ends it.
    #[must_use]
    pub fn line_range(&self, line: usize) -> Range<usize> {
        let starts = self.line_starts();
        let start = starts.get(line).map_or(self.text.len(), |&start| start as usize);
        let end = starts.get(line + 1).map_or(self.text.len(), |&next| next as usize - 1);
        let text = self.text.get(start..end).unwrap_or_default();
        // Only a line that `\n` ends can have a carriage return that is part of the line's end.
        let ended = end < self.text.len();
        let content = text.strip_suffix('\r').filter(|_| ended).unwrap_or(text);
        start..start + content.len()
    }

    /// How many characters start in the bytes `start..end`. Costs one stride, however far apart the
    /// two are: a thousand findings on one line of ten megabytes must not read it a thousand times.
    fn chars_between(&self, start: usize, end: usize) -> usize {
        if end.saturating_sub(start) <= STRIDE {
            return self.text.as_bytes().get(start..end).map_or(0, count_chars);
        }
        self.chars_before(end).saturating_sub(self.chars_before(start))
    }

    fn chars_before(&self, offset: usize) -> usize {
        // The count before each stride, and that of the whole text. Made on first use: only long
        // lines need it.
        let counts = self.char_counts.get_or_init(|| {
            let mut sum = 0;
            let mut counts = vec![0];
            for stride in self.text.as_bytes().chunks(STRIDE) {
                sum += u32::try_from(count_chars(stride)).unwrap_or(u32::MAX);
                counts.push(sum);
            }
            counts.into()
        });
        let stride = offset / STRIDE;
        let before = counts.get(stride).copied().unwrap_or(0) as usize;
        before + self.text.as_bytes().get(stride * STRIDE..offset).map_or(0, count_chars)
    }

    /// The text of `span`, empty if it does not lie on character boundaries of this file.
    #[must_use]
    pub fn slice(&self, span: Span) -> &str {
        self.text.get(span.range()).unwrap_or_default()
    }
}

/// All files of one run; spans point into it.
#[derive(Clone, Debug, Default)]
pub struct SourceMap {
    files: Vec<SourceFile>,
}

impl SourceMap {
    /// No files yet.
    #[must_use]
    pub const fn new() -> Self {
        Self { files: Vec::new() }
    }

    /// Adds a file; its id is its index.
    pub fn add(&mut self, file: SourceFile) -> FileId {
        let id = FileId(u32::try_from(self.files.len()).unwrap_or(u32::MAX));
        self.files.push(file);
        id
    }

    /// The file with this id.
    #[must_use]
    pub fn get(&self, id: FileId) -> Option<&SourceFile> {
        self.files.get(id.0 as usize)
    }

    /// All files, in the order they were added.
    pub fn iter(&self) -> impl Iterator<Item = (FileId, &SourceFile)> {
        self.files
            .iter()
            .enumerate()
            .map(|(i, f)| (FileId(u32::try_from(i).unwrap_or(u32::MAX)), f))
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

    /// The text of `span`.
    #[must_use]
    pub fn slice(&self, span: Span) -> &str {
        self.get(span.file).map_or("", |f| f.slice(span))
    }
}

#[cfg(test)]
mod tests {
    use super::{LineColumn, STRIDE, SourceFile};

    fn at(file: &SourceFile, offset: usize) -> (u32, u32) {
        let LineColumn { line, column } = file.line_column(offset as u32);
        (line, column)
    }

    #[test]
    fn columns_count_characters() {
        let file = SourceFile::new("a", "ä€\r\n\n😀x");
        assert_eq!(at(&file, 0), (1, 1));
        assert_eq!(at(&file, 2), (1, 2));
        assert_eq!(at(&file, 3), (1, 2), "inside a character counts as its start");
        assert_eq!(at(&file, 5), (1, 3));
        assert_eq!(at(&file, 7), (2, 1));
        assert_eq!(at(&file, 12), (3, 2));
        assert_eq!(at(&file, 13), (3, 3));
        assert_eq!(at(&file, 999), (3, 3), "past the end counts as the end");
        assert_eq!(at(&SourceFile::new("b", ""), 0), (1, 1));
        assert_eq!(at(&SourceFile::new("b", ""), 5), (1, 1));
    }

    #[test]
    fn a_byte_order_mark_is_no_column() {
        let file = SourceFile::new("a", "\u{FEFF}ab\nc");
        assert_eq!(at(&file, 0), (1, 1));
        assert_eq!(at(&file, 3), (1, 1));
        assert_eq!(at(&file, 4), (1, 2));
        assert_eq!(at(&file, 6), (2, 1));
    }

    #[test]
    fn long_lines_count_like_short_ones() {
        for text in ["é", "ab", "a😀é"] {
            let text = format!("first\n{}", text.repeat(3 * STRIDE));
            let file = SourceFile::new("a", text.as_str());
            for (offset, _) in text.char_indices().step_by(97).chain([(text.len(), ' ')]) {
                let column = text.get(6..offset).map(|s| s.chars().count() + 1);
                if let Some(column) = column {
                    assert_eq!(at(&file, offset), (2, column as u32));
                }
            }
        }
        let whole = SourceFile::new("a", "x".repeat(2 * STRIDE));
        assert_eq!(at(&whole, 2 * STRIDE), (1, 2 * STRIDE as u32 + 1));
    }

    #[test]
    fn lines_end_before_what_ends_them() {
        let file = SourceFile::new("a", "a\r\nb\n\nc\r");
        let lines: Vec<_> = (0..5).map(|line| file.line_range(line)).collect();
        assert_eq!(lines, [0..1, 3..4, 5..5, 6..8, 8..8], "a lone `\\r` is text");
    }
}
