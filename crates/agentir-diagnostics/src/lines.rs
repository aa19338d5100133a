//! Byte offsets, lines and columns of a file, in both directions.
//!
//! There are two notions of a line. Reports and the languages themselves end a line at `\n`, as
//! `git`, `grep` and the lexers do. The Language Server Protocol also ends it at a carriage return
//! that stands alone. They differ only in files that contain one.

use crate::source::SourceFile;
use std::ops::Range;
use std::sync::OnceLock;

/// A line and a column, both from 1; the column counts characters, as editors show it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LineColumn {
    /// The line, from 1. Lines end at `\n`.
    pub line: u32,
    /// The column, from 1, in Unicode scalar values.
    pub column: u32,
}

/// A position as in the Language Server Protocol: a line and a character, both from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// The line, from 0. Lines end at `\n`, `\r\n` or `\r`.
    pub line: u32,
    /// The offset in the line, from 0, in the units of a [`PositionEncoding`].
    pub character: u32,
}

/// What [`Position::character`] counts; the Language Server Protocol's `PositionEncodingKind`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum PositionEncoding {
    /// Bytes of UTF-8.
    Utf8,
    /// Code units of UTF-16, the protocol's default: characters beyond U+FFFF count twice.
    #[default]
    Utf16,
    /// Unicode scalar values.
    Utf32,
}

impl PositionEncoding {
    /// The protocol's name of the encoding, such as `utf-16`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Utf8 => "utf-8",
            Self::Utf16 => "utf-16",
            Self::Utf32 => "utf-32",
        }
    }

    /// The encoding that the protocol calls `name`.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Utf8, Self::Utf16, Self::Utf32].into_iter().find(|known| known.name() == name)
    }

    const fn units_of(self, c: char) -> usize {
        match self {
            Self::Utf8 => c.len_utf8(),
            Self::Utf16 => c.len_utf16(),
            Self::Utf32 => 1,
        }
    }

    /// How many units the characters that start in these bytes of UTF-8 take.
    fn units(self, bytes: &[u8]) -> usize {
        let count = |starts: fn(u8) -> bool| bytes.iter().filter(|&&byte| starts(byte)).count();
        let chars = || count(|byte| byte & 0xC0 != 0x80);
        match self {
            _ if bytes.is_ascii() => bytes.len(),
            Self::Utf8 => bytes.len(),
            Self::Utf16 => chars() + count(|byte| byte >= 0xF0),
            Self::Utf32 => chars(),
        }
    }
}

/// Some editors put it in front of a file; it is not part of the text and has no column.
pub(crate) const BYTE_ORDER_MARK: char = '\u{FEFF}';

/// How many bytes lie between two entries of [`LineIndex::units`].
const STRIDE: usize = 4096;

/// What is known about the lines of a text; each part is made on first use.
#[derive(Clone, Debug, Default)]
pub(crate) struct LineIndex {
    /// The offsets after each `\n`, after a first 0.
    starts: OnceLock<Box<[u32]>>,
    /// The same for the protocol's lines, if these are others.
    protocol_starts: OnceLock<Option<Box<[u32]>>>,
    /// The running count of units before each stride, and that of the whole text; empty if the text
    /// is ASCII. Only lines that are longer than a stride need it.
    units: OnceLock<Box<[Units]>>,
}

/// How many units start before an offset.
#[derive(Clone, Copy, Debug, Default)]
struct Units {
    utf16: u32,
    utf32: u32,
}

fn to_u32(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

fn index_of_line(starts: &[u32], offset: usize) -> usize {
    starts.partition_point(|&start| start as usize <= offset).saturating_sub(1)
}

impl SourceFile {
    /// The offsets at which lines start: 0, and those after each `\n`.
    pub fn line_starts(&self) -> &[u32] {
        self.lines.starts.get_or_init(|| {
            let ends = memchr::memchr_iter(b'\n', self.text.as_bytes());
            std::iter::once(0).chain(ends.map(|end| to_u32(end + 1))).collect()
        })
    }

    /// The line and column of a byte offset. An offset past the end counts as the end, one inside a
    /// character as its start. A byte order mark has no column: no editor counts it.
    pub fn line_column(&self, offset: u32) -> LineColumn {
        let offset = self.floor(offset);
        let line = self.line_index(offset);
        let start = self.content_start(self.line_starts(), line);
        let column = self.units_between(start, offset, PositionEncoding::Utf32);
        LineColumn { line: to_u32(line + 1), column: to_u32(column + 1) }
    }

    /// The position of a byte offset. An offset past the end counts as the end, one inside a
    /// character as its start, one inside `\r\n` as the line's end, and one before a byte order mark
    /// as the start of the text.
    pub fn position(&self, offset: u32, encoding: PositionEncoding) -> Position {
        let starts = self.protocol_starts();
        let offset = self.floor(offset);
        let line = index_of_line(starts, offset);
        let Range { start, end } = self.range_of(starts, line);
        let character = self.units_between(start, offset.min(end), encoding);
        Position { line: to_u32(line), character: to_u32(character) }
    }

    /// The byte offset of a position, by the protocol's rules: a character past the end of its line
    /// is the line's end, before what ends the line. A position inside a character is the start of
    /// that character, and one on a line past the last is the end of the text.
    pub fn offset(&self, position: Position, encoding: PositionEncoding) -> u32 {
        let starts = self.protocol_starts();
        let line = position.line as usize;
        if line >= starts.len() {
            return to_u32(self.text.len());
        }
        let range = self.range_of(starts, line);
        to_u32(self.advance(range, position.character as usize, encoding))
    }

    /// The nearest start of a character at or before `offset`; past the end counts as the end.
    pub(crate) fn floor(&self, offset: u32) -> usize {
        self.text.floor_char_boundary(offset as usize)
    }

    /// The index, from 0, of the line that holds the byte at `offset`.
    #[must_use]
    pub fn line_index(&self, offset: usize) -> usize {
        index_of_line(self.line_starts(), offset)
    }

    /// The bytes of a line, counted from 0, without what ends it.
    #[must_use]
    pub fn line_range(&self, line: usize) -> Range<usize> {
        let starts = self.line_starts();
        let at = |line: usize| starts.get(line).map_or(self.text.len(), |&start| start as usize);
        let start = at(line);
        let text = self.text.get(start..at(line + 1)).unwrap_or_default();
        // A carriage return is part of the line's end only before `\n`.
        let content = match text.strip_suffix('\n') {
            Some(line) => line.strip_suffix('\r').unwrap_or(line),
            None => text,
        };
        start..start + content.len()
    }

    fn protocol_starts(&self) -> &[u32] {
        let lone = |at: &usize| self.text.as_bytes().get(at + 1) != Some(&b'\n');
        let other = self.lines.protocol_starts.get_or_init(|| {
            let bytes = self.text.as_bytes();
            memchr::memchr_iter(b'\r', bytes).find(lone)?;
            let ends = memchr::memchr2_iter(b'\n', b'\r', bytes);
            let ends = ends.filter(|at| bytes.get(*at) == Some(&b'\n') || lone(at));
            Some(std::iter::once(0).chain(ends.map(|end| to_u32(end + 1))).collect())
        });
        other.as_deref().unwrap_or_else(|| self.line_starts())
    }

    /// Where the text of a line starts: after a byte order mark.
    fn content_start(&self, starts: &[u32], line: usize) -> usize {
        match starts.get(line) {
            Some(0) if self.text.starts_with(BYTE_ORDER_MARK) => BYTE_ORDER_MARK.len_utf8(),
            Some(start) => *start as usize,
            None => self.text.len(),
        }
    }

    /// The bytes of one of the protocol's lines, without what ends it and without a byte order mark.
    fn range_of(&self, starts: &[u32], line: usize) -> Range<usize> {
        let start = self.content_start(starts, line);
        let next = starts.get(line + 1).map_or(self.text.len(), |&next| next as usize);
        let text = self.text.get(start..next).unwrap_or_default();
        let content = match text.strip_suffix('\n') {
            Some(line) => line.strip_suffix('\r').unwrap_or(line),
            None => text.strip_suffix('\r').unwrap_or(text),
        };
        start..start + content.len()
    }

    /// How many units start in the bytes `start..end`. Costs one stride, however far apart the two
    /// are: a thousand findings on one line of ten megabytes must not read it a thousand times.
    fn units_between(&self, start: usize, end: usize, encoding: PositionEncoding) -> usize {
        let length = end.saturating_sub(start);
        if encoding == PositionEncoding::Utf8 {
            length
        } else if length <= STRIDE {
            self.text.as_bytes().get(start..end).map_or(0, |bytes| encoding.units(bytes))
        } else {
            let before = |offset| self.units_before(offset, encoding);
            before(end).saturating_sub(before(start))
        }
    }

    fn units_before(&self, offset: usize, encoding: PositionEncoding) -> usize {
        let Some(before) = self.units_before_stride(offset / STRIDE, encoding) else {
            return offset;
        };
        let stride = offset - offset % STRIDE;
        before + self.text.as_bytes().get(stride..offset).map_or(0, |bytes| encoding.units(bytes))
    }

    /// How many units start before a stride; nothing if the text is ASCII, where each is a byte.
    fn units_before_stride(&self, stride: usize, encoding: PositionEncoding) -> Option<usize> {
        let table = self.lines.units.get_or_init(|| {
            if self.text.is_ascii() {
                return Box::default();
            }
            let mut sum = Units::default();
            let mut table = vec![sum];
            for bytes in self.text.as_bytes().chunks(STRIDE) {
                sum.utf16 += to_u32(PositionEncoding::Utf16.units(bytes));
                sum.utf32 += to_u32(PositionEncoding::Utf32.units(bytes));
                table.push(sum);
            }
            table.into()
        });
        let before = table.get(stride)?;
        Some(match encoding {
            PositionEncoding::Utf8 => stride * STRIDE,
            PositionEncoding::Utf16 => before.utf16 as usize,
            PositionEncoding::Utf32 => before.utf32 as usize,
        })
    }

    /// The offset `units` after the start of `range`, at most its end. Costs two strides, as
    /// [`units_between`](Self::units_between) does.
    fn advance(&self, range: Range<usize>, units: usize, encoding: PositionEncoding) -> usize {
        let Range { mut start, end } = range;
        let mut rest = units;
        if encoding == PositionEncoding::Utf8 || units >= end - start {
            // No unit is longer than a byte of UTF-8.
            return self.text.floor_char_boundary(start.saturating_add(units).min(end));
        }
        if end - start > STRIDE {
            let target = self.units_before(start, encoding) + units;
            // The last stride that starts in the line and not after the position.
            let (mut low, mut high) = (start / STRIDE + 1, end / STRIDE + 1);
            while low < high {
                let middle = usize::midpoint(low, high);
                match self.units_before_stride(middle, encoding) {
                    None => return start + units,
                    Some(before) if before <= target => low = middle + 1,
                    Some(_) => high = middle,
                }
            }
            let stride = low - 1;
            if stride * STRIDE > start {
                // A character that spans two strides is counted in the first of them.
                start = self.text.ceil_char_boundary(stride * STRIDE);
                rest = target - self.units_before_stride(stride, encoding).unwrap_or(target);
            }
        }
        let line = self.text.get(start..end).unwrap_or_default();
        for (at, c) in line.char_indices() {
            match rest.checked_sub(encoding.units_of(c)) {
                Some(less) => rest = less,
                None => return start + at,
            }
        }
        end
    }
}
