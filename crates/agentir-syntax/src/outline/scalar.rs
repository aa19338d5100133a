//! The scalars of an outline, in all their notations.

use crate::inline::{InlineText, Origin};
use crate::text::offset;
use agentir_diagnostics::Span;
use smol_str::SmolStr;
use std::borrow::Cow;

/// A scalar as written.
#[derive(Debug, Clone)]
pub struct Scalar<'s> {
    /// The source, including quotes and block indentation.
    pub raw: &'s str,
    /// The span.
    pub span: Span,
    /// The notation.
    pub style: Style,
    /// The text, if it cannot be computed from `raw` by [`Style`] (YAML's folded forms).
    pub decoded: Option<Box<str>>,
}

/// The notation of a scalar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// Unquoted, to the end of the line or a comment.
    Bare,
    /// `"…"`, with backslash escapes. Unknown escapes are literal: `"\d"` is `\d`.
    Double,
    /// `'…'`.
    Single,
    /// A block text after `|`, with this common indentation in bytes.
    Block(u32),
}

/// The boolean that YAML 1.1 reads a word without quotes as.
#[must_use]
pub fn yaml_1_1_bool(word: &str) -> Option<bool> {
    Some(match word {
        "y" | "Y" | "yes" | "Yes" | "YES" | "true" | "True" | "TRUE" | "on" | "On" | "ON" => true,
        "n" | "N" | "no" | "No" | "NO" | "false" | "False" | "FALSE" | "off" | "Off" | "OFF" => {
            false
        }
        _ => return None,
    })
}

impl<'s> Scalar<'s> {
    /// An unquoted scalar.
    #[must_use]
    pub const fn bare(raw: &'s str, span: Span) -> Self {
        Self { raw, span, style: Style::Bare, decoded: None }
    }

    /// The same span with another text.
    #[must_use]
    pub fn with_text(mut self, text: &str) -> Self {
        self.decoded = Some(text.into());
        self
    }

    /// Whether it is quoted.
    #[must_use]
    pub const fn is_quoted(&self) -> bool {
        matches!(self.style, Style::Double | Style::Single)
    }

    /// The boolean that YAML 1.1 reads an unquoted word as: `yes`, `on` and `y` are true.
    #[must_use]
    pub fn yaml_1_1_bool(&self) -> Option<bool> {
        if self.style != Style::Bare || self.decoded.is_some() {
            return None;
        }
        yaml_1_1_bool(self.raw)
    }

    /// The text.
    #[must_use]
    pub fn value(&self) -> Cow<'_, str> {
        if let Some(decoded) = &self.decoded {
            return Cow::Borrowed(decoded);
        }
        match self.style {
            Style::Bare => Cow::Borrowed(self.raw),
            Style::Double | Style::Single => {
                let inner = self.inner();
                if inner.contains('\\') {
                    Cow::Owned(unescape(inner, self.style, &mut Vec::new()))
                } else {
                    Cow::Borrowed(inner)
                }
            }
            Style::Block(indent) => {
                if indent == 0 || !self.raw.contains('\n') {
                    Cow::Borrowed(self.raw.get(leading(self.raw, indent)..).unwrap_or_default())
                } else {
                    Cow::Owned(dedent(self.raw, indent, &mut Vec::new()))
                }
            }
        }
    }

    /// The text as an owned, compact string.
    #[must_use]
    pub fn to_smol(&self) -> SmolStr {
        SmolStr::new(self.value())
    }

    /// Passes the text to an inline parser, with the mapping of its offsets to the file.
    pub fn with_inline<R>(&self, parse: impl FnOnce(InlineText<'_>) -> R) -> R {
        let mut shifts = Vec::new();
        let (text, base) = if let Some(decoded) = &self.decoded {
            find_lines(decoded, self.raw, &mut shifts);
            (Cow::Borrowed(&**decoded), self.span.start)
        } else {
            match self.style {
                Style::Bare => (Cow::Borrowed(self.raw), self.span.start),
                Style::Double | Style::Single => {
                    let inner = self.inner();
                    let text = if inner.contains('\\') {
                        Cow::Owned(unescape(inner, self.style, &mut shifts))
                    } else {
                        Cow::Borrowed(inner)
                    };
                    (text, self.span.start + 1)
                }
                Style::Block(indent) => {
                    (Cow::Owned(dedent(self.raw, indent, &mut shifts)), self.span.start)
                }
            }
        };
        let origin = Origin { file: self.span.file, base, shifts: &shifts };
        parse(InlineText { text: &text, origin })
    }

    fn inner(&self) -> &'s str {
        self.raw.get(1..self.raw.len().saturating_sub(1)).unwrap_or_default()
    }
}

fn push_shift(shifts: &mut Vec<(u32, u32)>, at: usize, total: u32) {
    shifts.push((offset(at), total));
}

/// Resolves backslash escapes. Where the result is shorter than the source, `shifts` records the offset
/// in the result and the total difference from there on.
fn unescape(inner: &str, style: Style, shifts: &mut Vec<(u32, u32)>) -> String {
    let mut out = String::with_capacity(inner.len());
    let mut ahead = 0u32;
    let mut chars = inner.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        let rest = chars.as_str();
        let plain = match (style, rest.chars().next()) {
            (_, Some('\\')) => Some('\\'),
            (Style::Single, Some('\'')) => Some('\''),
            (Style::Single, _) => None,
            (_, Some('"')) => Some('"'),
            (_, Some('/')) => Some('/'),
            (_, Some('n')) => Some('\n'),
            (_, Some('t')) => Some('\t'),
            (_, Some('r')) => Some('\r'),
            _ => None,
        };
        if let Some(plain) = plain {
            out.push(plain);
            chars.next();
            ahead += 1;
            push_shift(shifts, out.len(), ahead);
        } else if let Some(c) = rest
            .strip_prefix('u')
            .and_then(|r| r.get(..4))
            .and_then(|hex| u32::from_str_radix(hex, 16).ok())
            .and_then(char::from_u32)
            .filter(|_| style == Style::Double)
        {
            out.push(c);
            chars = rest.get(5..).unwrap_or_default().chars();
            ahead += 6 - offset(c.len_utf8());
            push_shift(shifts, out.len(), ahead);
        } else {
            out.push('\\');
        }
    }
    out
}

/// Maps the lines of a decoded text to its source: exact for lines that occur unchanged, else the previous
/// line.
pub fn find_lines(decoded: &str, raw: &str, shifts: &mut Vec<(u32, u32)>) {
    let (mut at, mut from) = (0, 0);
    for line in decoded.split('\n') {
        let content = line.trim();
        // Search only nearby: a folded line does not occur in the source.
        let mut until = (from + content.len() + 256).min(raw.len());
        while !raw.is_char_boundary(until) {
            until += 1;
        }
        let near = raw.get(from..until).unwrap_or_default();
        let found = if content.is_empty() {
            None
        } else if let next = near.trim_start()
            && next.starts_with(content)
        {
            Some(near.len() - next.len())
        } else {
            near.find(content)
        };
        let lead = line.len() - line.trim_start().len();
        if let Some(found) = found {
            let ahead = (from + found).saturating_sub(at + lead);
            push_shift(shifts, at, offset(ahead));
            from += found + content.len();
        } else {
            from = find_words(content, at + lead, raw, from, shifts);
        }
        at += line.len() + 1;
    }
}

/// Maps the words of a folded line, which occur in `raw` from `from` on with line breaks between some of
/// them. Returns the end of the last word found.
fn find_words(
    content: &str,
    at: usize,
    raw: &str,
    mut from: usize,
    shifts: &mut Vec<(u32, u32)>,
) -> usize {
    let mut cursor = from;
    if from == 0 {
        // The quote, or the header of a folded block.
        let first = raw.split_inclusive('\n').next().unwrap_or_default();
        cursor = match raw.bytes().next() {
            Some(b'"' | b'\'') => 1,
            Some(b'>' | b'|') => first.len(),
            _ => 0,
        };
    }
    let mut end = 0;
    for word in content.split_whitespace() {
        let Some(begin) = content.get(end..).and_then(|c| c.find(word)).map(|i| end + i) else {
            break;
        };
        end = begin + word.len();
        let rest = raw.get(cursor..).unwrap_or_default();
        let written = rest.trim_start();
        let start = cursor + rest.len() - written.len();
        cursor = start + written.find(char::is_whitespace).unwrap_or(written.len());
        // A quote may follow the last word.
        if written.starts_with(word) {
            push_shift(shifts, at + begin, offset(start.saturating_sub(at + begin)));
            from = start + word.len();
        }
    }
    from
}

/// The number of white space bytes among the first `indent` bytes of a line.
fn leading(line: &str, indent: u32) -> usize {
    line.bytes().take(indent as usize).take_while(|b| matches!(b, b' ' | b'\t')).count()
}

/// Removes `indent` bytes of white space from every line, and carriage returns.
fn dedent(raw: &str, indent: u32, shifts: &mut Vec<(u32, u32)>) -> String {
    let mut out = String::with_capacity(raw.len());
    let mut ahead = 0u32;
    for (i, line) in raw.split('\n').enumerate() {
        if i > 0 {
            out.push('\n');
        }
        let cut = leading(line, indent);
        if cut > 0 {
            ahead += offset(cut);
            push_shift(shifts, out.len(), ahead);
        }
        let kept = line.get(cut..).unwrap_or_default();
        let clean = kept.strip_suffix('\r').unwrap_or(kept);
        out.push_str(clean);
        if clean.len() < kept.len() {
            ahead += 1;
            push_shift(shifts, out.len(), ahead);
        }
    }
    out
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing)]
mod tests {
    use super::*;
    use agentir_diagnostics::FileId;

    fn scalar(raw: &str, style: Style) -> Scalar<'_> {
        Scalar {
            raw,
            span: Span::new(FileId(0), 100, 100 + raw.len() as u32),
            style,
            decoded: None,
        }
    }

    #[test]
    fn escapes_are_resolved_and_places_kept() {
        let s = scalar(r#""a\"b\\d {x}""#, Style::Double);
        assert_eq!(s.value(), r#"a"b\d {x}"#);
        let at = s.with_inline(|l| l.origin.offset(l.text.find('{').unwrap()));
        assert_eq!(at as usize, 100 + s.raw.find('{').unwrap());
        assert_eq!(scalar(r#""\d+""#, Style::Double).value(), r"\d+");
        assert_eq!(scalar(r#""\u00e9!""#, Style::Double).value(), "é!");
    }

    #[test]
    fn blocks_lose_their_indentation_and_places_are_kept() {
        let s = scalar("  one\r\n    {two}\n\n  three", Style::Block(2));
        assert_eq!(s.value(), "one\n  {two}\n\nthree");
        for needle in ["one", "{", "three"] {
            let at = s.with_inline(|l| l.origin.offset(l.text.find(needle).unwrap()));
            assert_eq!(at as usize, 100 + s.raw.find(needle).unwrap(), "{needle}");
        }
    }
}
