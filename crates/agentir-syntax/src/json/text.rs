//! Texts of a document, with JSON escapes and URI encoding resolved and mapped to the source.

use crate::inline::{InlineText, Origin};
use crate::text::offset;
use agentir_diagnostics::{Span, Spanned};
use smol_str::SmolStr;
use std::ops::Range;

/// A text and its mapping to the source.
#[derive(Clone, Debug)]
pub struct Text {
    /// The text.
    pub value: String,
    /// The span in the source, without quotes.
    pub span: Span,
    /// Offsets in the text, ascending, and the total number of bytes that the source is ahead from there on. Behind
    /// [`MAX_SHIFTS`] of them, places are approximate.
    shifts: Vec<(u32, u32)>,
}

/// The number of places of a text at which the source gets further ahead that are kept. No text of an author has as many.
const MAX_SHIFTS: usize = 1 << 16;

/// Builds a text that is never longer than its source.
struct Builder {
    value: String,
    span: Span,
    shifts: Vec<(u32, u32)>,
}

impl Builder {
    const fn new(span: Span) -> Self {
        Self { value: String::new(), span, shifts: Vec::new() }
    }

    /// Appends a part written at `source`.
    fn push(&mut self, part: &str, source: u32) {
        let at = offset(self.value.len());
        let ahead = source.saturating_sub(self.span.start).saturating_sub(at);
        let before = self.shifts.last().map_or(0, |(_, ahead)| *ahead);
        if ahead > before && self.shifts.len() < MAX_SHIFTS {
            self.shifts.push((at, ahead));
        }
        self.value.push_str(part);
    }

    fn text(self) -> Text {
        Text { value: self.value, span: self.span, shifts: self.shifts }
    }
}

impl Text {
    /// A JSON string; `raw` is its source, `value` its value.
    pub(super) fn of_json(raw: &str, value: &str, span: Span) -> Self {
        let mut shifts = Vec::new();
        if raw.len() != value.len() {
            let mut escapes = raw.char_indices().peekable();
            let (mut said, mut ahead) = (0_usize, 0_usize);
            while let Some((at, c)) = escapes.next() {
                if c != '\\' {
                    said += c.len_utf8();
                    continue;
                }
                let rest = raw.get(at..).unwrap_or_default();
                let (written, length) = escape(rest);
                // The escape has been consumed up to its first character.
                while escapes.next_if(|(next, _)| *next < at + written).is_some() {}
                said += length;
                ahead += written.saturating_sub(length);
                if shifts.len() == MAX_SHIFTS {
                    break;
                }
                shifts.push((offset(said), offset(ahead)));
            }
        }
        Self { value: value.to_owned(), span, shifts }
    }

    /// A synthesised text that corresponds to `span` as a whole.
    #[must_use]
    pub const fn synthetic(value: String, span: Span) -> Self {
        Self { value, span, shifts: Vec::new() }
    }

    fn origin(&self) -> Origin<'_> {
        Origin { file: self.span.file, base: self.span.start, shifts: &self.shifts }
    }

    /// The text as input of an inline parser.
    #[must_use]
    pub fn inline_text(&self) -> InlineText<'_> {
        InlineText { text: &self.value, origin: self.origin() }
    }

    /// The span of a part.
    #[must_use]
    pub fn place(&self, range: Range<usize>) -> Span {
        let span = self.origin().span(range);
        let end = span.end.min(self.span.end);
        Span::new(span.file, span.start.min(end), end)
    }

    /// The text with its span.
    #[must_use]
    pub fn spanned(&self) -> Spanned<SmolStr> {
        Spanned::new(SmolStr::new(&self.value), self.span)
    }

    /// Replaces ranges of the text, which are in order and do not overlap. If a replacement is longer than its
    /// range, spans after it are approximate.
    #[must_use]
    pub fn replaced(&self, parts: &[(Range<usize>, String)]) -> Self {
        let mut out = Builder::new(self.span);
        let mut at = 0;
        for (range, by) in parts {
            self.copy(at..range.start, &mut out);
            out.push(by, self.origin().offset(range.start));
            at = range.end;
        }
        self.copy(at..self.value.len(), &mut out);
        out.text()
    }

    /// A part of the text.
    #[must_use]
    pub fn part(&self, range: Range<usize>) -> Self {
        let mut out = Builder::new(self.place(range.clone()));
        self.copy(range, &mut out);
        out.text()
    }

    /// Copies a part, in runs with equal shifts.
    fn copy(&self, range: Range<usize>, out: &mut Builder) {
        let inside = self.shifts.iter().map(|(from, _)| *from as usize);
        let inside = inside.filter(|from| *from > range.start && *from < range.end);
        let mut start = range.start;
        for end in inside.chain([range.end]) {
            let part = self.value.get(start..end).unwrap_or_default();
            if !part.is_empty() {
                out.push(part, self.origin().offset(start));
            }
            start = end;
        }
    }

    /// Resolves URI encoding (`encodeURIComponent`); returns the text unchanged if it is not encoded.
    ///
    /// # Errors
    /// The span of an invalid encoding, if the rest of the text is encoded.
    pub fn decoded(&self) -> Result<Self, Span> {
        let bytes = self.value.as_bytes();
        // An encoded text has no spaces, quotes or braces: they would be encoded.
        let plain = |b: &u8| !b.is_ascii_graphic() || matches!(b, b'"' | b'{' | b'<');
        let escapes = bytes.windows(3).any(|w| encoded(w).is_some());
        if !escapes || bytes.iter().any(plain) {
            return Ok(self.clone());
        }
        let mut out = Builder::new(self.span);
        let mut at = 0;
        while at < bytes.len() {
            let rest = bytes.get(at..).unwrap_or_default();
            if rest.first() != Some(&b'%') {
                let length = rest.iter().take_while(|b| **b != b'%').count();
                let part = self.value.get(at..at + length).unwrap_or_default();
                out.push(part, self.origin().offset(at));
                at += length;
                continue;
            }
            let run: Vec<u8> = rest.chunks_exact(3).map_while(encoded).collect();
            let broken = |at: usize| self.place(at..(at + 3).min(bytes.len()));
            if run.is_empty() {
                return Err(broken(at));
            }
            let said = std::str::from_utf8(&run).map_err(|e| broken(at + 3 * e.valid_up_to()))?;
            for c in said.chars() {
                let mut buffer = [0; 4];
                out.push(c.encode_utf8(&mut buffer), self.origin().offset(at));
                at += 3 * c.len_utf8();
            }
        }
        Ok(out.text())
    }
}

/// The byte that `%41` stands for.
fn encoded(chunk: &[u8]) -> Option<u8> {
    match chunk {
        [b'%', high, low] => {
            let digit = |b: &u8| char::from(*b).to_digit(16);
            u8::try_from(digit(high)? * 16 + digit(low)?).ok()
        }
        _ => None,
    }
}

/// The length of a JSON escape, and of its value in UTF-8.
fn escape(rest: &str) -> (usize, usize) {
    let unit = |at: usize| {
        let digits = rest.get(at..at + 6)?.strip_prefix("\\u")?;
        u32::from_str_radix(digits, 16).ok()
    };
    match (unit(0), unit(6)) {
        (Some(0xD800..=0xDBFF), Some(0xDC00..=0xDFFF)) => (12, 4),
        (Some(code), _) => (6, char::from_u32(code).map_or(3, char::len_utf8)),
        _ => (2, 1),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests end by panicking")]
mod tests {
    use super::*;
    use agentir_diagnostics::FileId;

    fn text(raw: &str, value: &str) -> Text {
        let end = 100 + u32::try_from(raw.len()).unwrap_or_default();
        Text::of_json(raw, value, Span::new(FileId(0), 100, end))
    }

    #[test]
    fn places_survive_escapes_and_encoding() {
        let plain = text(r#"a\"b\ud83c\udf1fc"#, "a\"b🌟c");
        assert_eq!(plain.place(1..2).start, 101);
        assert_eq!(plain.place(2..3).start, 103);
        assert_eq!(plain.place(7..8).start, 116);
        let encoded = text("Hi%2C%20%F0%9F%8C%9F%7B", "Hi%2C%20%F0%9F%8C%9F%7B").decoded().unwrap();
        assert_eq!(encoded.value, "Hi, 🌟{");
        assert_eq!(encoded.place(2..3).start, 102);
        assert_eq!(encoded.place(4..8).start, 108);
        assert_eq!(encoded.place(8..9).start, 120);
    }

    #[test]
    fn what_is_not_encoded_is_left_alone() {
        for same in ["100% sure", "no percent", "50%", "{\"a\": \"%20\"}"] {
            let text = text(same, same);
            let decoded = text.decoded();
            assert_eq!(decoded.map_or_else(|_| same.to_owned(), |t| t.value), same);
        }
        let broken = text("Hi%2C%ZZ", "Hi%2C%ZZ");
        assert_eq!(broken.decoded().unwrap_err().start, 105);
        let cut = text("Hi%F0%9F", "Hi%F0%9F");
        assert_eq!(cut.decoded().unwrap_err().start, 102);
    }

    #[test]
    fn replacing_keeps_the_places_of_the_rest() {
        let before = text("{{context.x}} and y", "{{context.x}} and y");
        let after = before.replaced(&[(2..11, "x".to_owned())]);
        assert_eq!(after.value, "{{x}} and y");
        assert_eq!(after.place(10..11).start, 118);
        assert_eq!(after.part(6..9).value, "and");
        assert_eq!(after.part(6..9).span.start, 114);
    }
}
