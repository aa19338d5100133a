//! The documents that a client has open, and their texts after its edits.

use agentir::diagnostics::PositionEncoding;
use gen_lsp_types::{Position, TextDocumentContentChangeEvent, Uri};
use rustc_hash::FxHashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Some editors put it in front of a text.
pub(crate) const BYTE_ORDER_MARK: char = '\u{FEFF}';

/// An open document.
#[derive(Debug, Clone)]
pub(crate) struct Document {
    /// What the client calls it.
    pub(crate) uri: Uri,
    /// The file that it is, or would be.
    pub(crate) path: PathBuf,
    /// The version of the text.
    pub(crate) version: i32,
    /// The text.
    pub(crate) text: Arc<str>,
}

/// The open documents.
#[derive(Debug, Clone, Default)]
pub(crate) struct Documents {
    by_uri: FxHashMap<String, Document>,
    by_path: FxHashMap<PathBuf, String>,
}

impl Documents {
    pub(crate) fn open(&mut self, document: Document) {
        self.by_path.insert(document.path.clone(), document.uri.0.clone());
        self.by_uri.insert(document.uri.0.clone(), document);
    }

    pub(crate) fn close(&mut self, uri: &Uri) -> Option<Document> {
        let document = self.by_uri.remove(&uri.0)?;
        self.by_path.remove(&document.path);
        Some(document)
    }

    pub(crate) fn get(&self, uri: &Uri) -> Option<&Document> {
        self.by_uri.get(&uri.0)
    }

    pub(crate) fn get_mut(&mut self, uri: &Uri) -> Option<&mut Document> {
        self.by_uri.get_mut(&uri.0)
    }

    pub(crate) fn at(&self, path: &Path) -> Option<&Document> {
        self.by_uri.get(self.by_path.get(path)?)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Document> {
        self.by_uri.values()
    }
}

/// A text after edits, which are made one after the other.
pub(crate) fn edited(
    text: &str,
    changes: Vec<TextDocumentContentChangeEvent>,
    encoding: PositionEncoding,
) -> String {
    let mut text = text.to_owned();
    for change in changes {
        match change {
            TextDocumentContentChangeEvent::TextDocumentContentChangeWholeDocument(whole) => {
                text = whole.text;
            }
            TextDocumentContentChangeEvent::TextDocumentContentChangePartial(part) => {
                let start = offset(&text, part.range.start, encoding);
                let end = offset(&text, part.range.end, encoding).max(start);
                text.replace_range(start..end, &part.text);
            }
        }
    }
    text
}

/// The offset of a position in the text that a client has. Unlike in the answers of the library, a byte order mark counts:
/// it is a character of that text.
fn offset(text: &str, position: Position, encoding: PositionEncoding) -> usize {
    let bytes = text.as_bytes();
    let mut start = 0;
    for _ in 0..position.line {
        let rest = bytes.get(start..).unwrap_or_default();
        let Some(end) = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r')) else {
            return text.len();
        };
        let ending =
            if rest.get(end..).is_some_and(|rest| rest.starts_with(b"\r\n")) { 2 } else { 1 };
        start += end + ending;
    }
    let mut units = 0;
    for (at, c) in text.get(start..).unwrap_or_default().char_indices() {
        units += match encoding {
            PositionEncoding::Utf8 => c.len_utf8(),
            PositionEncoding::Utf16 => c.len_utf16(),
            PositionEncoding::Utf32 => 1,
        };
        if matches!(c, '\n' | '\r') || units > position.character as usize {
            return start + at;
        }
    }
    text.len()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests end by panicking")]
mod tests {
    use super::{edited, offset};
    use agentir::diagnostics::PositionEncoding;
    use gen_lsp_types::{
        Position, Range, TextDocumentContentChangeEvent, TextDocumentContentChangePartial,
    };
    use proptest::prelude::*;

    const ENCODINGS: [PositionEncoding; 3] =
        [PositionEncoding::Utf8, PositionEncoding::Utf16, PositionEncoding::Utf32];

    /// A text as a client has it: lines with what ends each.
    fn position(text: &str, at: usize, encoding: PositionEncoding) -> Position {
        let before = text.get(..at).unwrap();
        let mut line = 0;
        let mut start = 0;
        for (at, c) in before.char_indices() {
            // `\r\n` is one end, also if the offset is inside of it.
            let is_half =
                c == '\r' && text.get(at + 1..).is_some_and(|rest| rest.starts_with('\n'));
            if (c == '\r' && !is_half) || c == '\n' {
                line += 1;
                start = at + 1;
            }
        }
        let shown = before.get(start..).unwrap();
        let units: usize = shown
            .chars()
            .map(|c| match encoding {
                PositionEncoding::Utf8 => c.len_utf8(),
                PositionEncoding::Utf16 => c.len_utf16(),
                PositionEncoding::Utf32 => 1,
            })
            .sum();
        Position { line, character: u32::try_from(units).unwrap() }
    }

    fn is_boundary(text: &str, at: usize) -> bool {
        text.is_char_boundary(at)
            && !(text.get(at..).unwrap_or_default().starts_with('\n')
                && text.get(..at).unwrap_or_default().ends_with('\r'))
    }

    fn pieces() -> impl Strategy<Value = String> {
        let piece = prop_oneof![
            Just("a"),
            Just("key: "),
            Just("\n"),
            Just("\r\n"),
            Just("\r"),
            Just("\u{feff}"),
            Just("😀"),
            Just("é"),
            Just("e\u{301}"),
            Just("中"),
            Just("👨‍👩‍👧"),
            Just("\t"),
            Just("\u{2028}"),
        ];
        prop::collection::vec(piece, 0..12).prop_map(|all| all.concat())
    }

    proptest! {
        /// The text of the server is that of the client after any edits.
        #[test]
        fn texts_stay_the_same(
            start in pieces(),
            edits in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>(), pieces()), 0..12),
            encoding in prop::sample::select(&ENCODINGS[..]),
        ) {
            let mut client = start.clone();
            let mut changes = Vec::new();
            for (one, other, new) in edits {
                let places: Vec<usize> = (0..=client.len()).filter(|at| is_boundary(&client, *at)).collect();
                let [one, other] = [one, other].map(|at| *at.get(&places));
                let (from, to) = (one.min(other), one.max(other));
                let range = Range { start: position(&client, from, encoding), end: position(&client, to, encoding) };
                changes.push(TextDocumentContentChangeEvent::TextDocumentContentChangePartial(
                    TextDocumentContentChangePartial::new(range, None, new.clone()),
                ));
                client.replace_range(from..to, &new);
            }
            prop_assert_eq!(edited(&start, changes, encoding), client);
        }

        /// Positions beyond the text, and in the middle of characters, are in it.
        #[test]
        fn every_position_is_somewhere(text in pieces(), line in 0..20_u32, character in 0..40_u32) {
            for encoding in ENCODINGS {
                let at = offset(&text, Position { line, character }, encoding);
                prop_assert!(text.is_char_boundary(at));
            }
        }
    }

    #[test]
    fn positions_are_those_of_the_protocol() {
        let at = |text, line, character| {
            offset(text, Position { line, character }, PositionEncoding::Utf16)
        };
        assert_eq!(at("a😀b", 0, 3), 5);
        // In the middle of a pair.
        assert_eq!(at("a😀b", 0, 2), 1);
        assert_eq!(at("a\r\nb", 0, 9), 1);
        assert_eq!(at("a\rb", 1, 0), 2);
        assert_eq!(at("\u{feff}a", 0, 1), 3);
        assert_eq!(at("a", 7, u32::MAX), 1);
        assert_eq!(at("a\n", 1, 0), 2);
    }
}
