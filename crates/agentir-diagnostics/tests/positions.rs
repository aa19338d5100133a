//! Offsets, lines and columns, in both directions.

use agentir_diagnostics::{Position, PositionEncoding, SourceFile};
use proptest::prelude::*;

const ENCODINGS: [PositionEncoding; 3] =
    [PositionEncoding::Utf8, PositionEncoding::Utf16, PositionEncoding::Utf32];

/// The byte order mark, which has no position of its own.
const MARK: char = '\u{FEFF}';

fn line_column(file: &SourceFile, offset: usize) -> (u32, u32) {
    let at = file.line_column(offset as u32);
    (at.line, at.column)
}

fn position(file: &SourceFile, offset: usize, encoding: PositionEncoding) -> (u32, u32) {
    let at = file.position(offset as u32, encoding);
    (at.line, at.character)
}

fn offset(file: &SourceFile, line: u32, character: u32, encoding: PositionEncoding) -> usize {
    file.offset(Position { line, character }, encoding) as usize
}

#[test]
fn columns_count_characters() {
    let file = SourceFile::new("a", "ä€\r\n\n😀x");
    assert_eq!(line_column(&file, 0), (1, 1));
    assert_eq!(line_column(&file, 2), (1, 2));
    assert_eq!(line_column(&file, 3), (1, 2), "inside a character counts as its start");
    assert_eq!(line_column(&file, 5), (1, 3));
    assert_eq!(line_column(&file, 7), (2, 1));
    assert_eq!(line_column(&file, 12), (3, 2));
    assert_eq!(line_column(&file, 13), (3, 3));
    assert_eq!(line_column(&file, 999), (3, 3), "past the end counts as the end");
    assert_eq!(line_column(&SourceFile::new("b", ""), 0), (1, 1));
    assert_eq!(line_column(&SourceFile::new("b", ""), 5), (1, 1));
}

#[test]
fn a_byte_order_mark_has_no_column() {
    let file = SourceFile::new("a", "\u{FEFF}ab\nc");
    assert_eq!(line_column(&file, 0), (1, 1));
    assert_eq!(line_column(&file, 3), (1, 1));
    assert_eq!(line_column(&file, 4), (1, 2));
    assert_eq!(line_column(&file, 6), (2, 1));
    for encoding in ENCODINGS {
        assert_eq!(position(&file, 0, encoding), (0, 0));
        assert_eq!(position(&file, 4, encoding), (0, 1));
        assert_eq!(offset(&file, 0, 0, encoding), 3, "the text starts after the mark");
        assert_eq!(offset(&file, 0, 1, encoding), 4);
    }
}

#[test]
fn encodings_count_different_units() {
    let file = SourceFile::new("a", "aé€😀b");
    let characters = |at| ENCODINGS.map(|encoding| position(&file, at, encoding).1);
    assert_eq!(characters(1), [1, 1, 1]);
    assert_eq!(characters(3), [3, 2, 2]);
    assert_eq!(characters(6), [6, 3, 3]);
    assert_eq!(characters(10), [10, 5, 4]);
    assert_eq!(characters(11), [11, 6, 5]);
    for encoding in ENCODINGS {
        assert_eq!(PositionEncoding::from_name(encoding.name()), Some(encoding));
    }
    assert_eq!(PositionEncoding::from_name("utf-7"), None);
}

#[test]
fn positions_that_do_not_exist_are_clamped() {
    use PositionEncoding::{Utf8, Utf16, Utf32};
    let file = SourceFile::new("a", "é😀\r\nx\ry");
    assert_eq!(offset(&file, 0, 2, Utf16), 2, "between the surrogates");
    assert_eq!(offset(&file, 0, 3, Utf16), 6);
    assert_eq!(offset(&file, 0, 1, Utf8), 0, "inside two bytes");
    assert_eq!(offset(&file, 0, 5, Utf8), 2, "inside four bytes");
    for encoding in ENCODINGS {
        assert_eq!(offset(&file, 0, 99, encoding), 6, "before what ends the line");
        assert_eq!(offset(&file, 1, u32::MAX, encoding), 9);
        assert_eq!(offset(&file, 2, 99, encoding), 11);
        assert_eq!(offset(&file, 3, 0, encoding), 11, "past the last line");
        assert_eq!(offset(&file, u32::MAX, u32::MAX, encoding), 11);
        assert_eq!(offset(&SourceFile::new("b", ""), 0, 7, encoding), 0);
    }
    assert_eq!(position(&file, 7, Utf32), (0, 2), "inside `\\r\\n` is the line's end");
}

#[test]
fn a_lone_carriage_return_ends_a_line_of_the_protocol_only() {
    let file = SourceFile::new("a", "x\ry\r\nz\r");
    for encoding in ENCODINGS {
        assert_eq!(position(&file, 2, encoding), (1, 0));
        assert_eq!(position(&file, 5, encoding), (2, 0));
        assert_eq!(position(&file, 7, encoding), (3, 0), "an empty last line");
        assert_eq!(offset(&file, 2, 9, encoding), 6);
    }
    assert_eq!(line_column(&file, 2), (1, 3));
    assert_eq!(line_column(&file, 5), (2, 1));
    assert_eq!(file.line_range(0), 0..3);
    assert_eq!(file.line_range(1), 5..7);
}

#[test]
fn the_last_line_need_not_end() {
    for (text, end) in [("a\nbc", (1, 2)), ("a\nbc\n", (2, 0)), ("a\nbc\r\n", (2, 0))] {
        let file = SourceFile::new("a", text);
        for encoding in ENCODINGS {
            assert_eq!(position(&file, text.len(), encoding), end);
            assert_eq!(offset(&file, end.0, end.1, encoding), text.len());
        }
    }
}

#[test]
fn lines_do_not_contain_what_ends_them() {
    let file = SourceFile::new("a", "a\r\nb\n\nc\r");
    let lines: Vec<_> = (0..5).map(|line| file.line_range(line)).collect();
    assert_eq!(lines, [0..1, 3..4, 5..5, 6..8, 8..8], "a lone `\r` is text");
}

/// Reading a line of ten megabytes for each of ten thousand positions would take hours.
#[test]
fn positions_in_long_lines_are_quick() {
    for part in ["plain text, ", "söme 😀 text, "] {
        let text = part.repeat(10_000_000 / part.len());
        let file = SourceFile::new("a", text.as_str());
        for at in (0..text.len()).step_by(1000) {
            let floor = text.floor_char_boundary(at);
            for encoding in ENCODINGS {
                let (line, character) = position(&file, at, encoding);
                assert_eq!(offset(&file, line, character, encoding), floor);
            }
        }
    }
}

/// Texts with every kind of line end and character width, some of them with lines of many kilobytes.
fn text() -> impl Strategy<Value = String> {
    let part = prop_oneof![
        4 => prop::sample::select(vec!["\n", "\r", "\r\n", "\t", "a", "é", "€", "😀", "e\u{301}"])
            .prop_map(str::to_owned),
        1 => (prop::sample::select(vec!["b", "ä", "東", "😀", "a😀é"]), 1_usize..6_000)
            .prop_map(|(part, times)| part.repeat(times)),
        1 => any::<String>(),
    ];
    (any::<bool>(), prop::collection::vec(part, 0..12)).prop_map(|(mark, parts)| {
        let mark = if mark { MARK.to_string() } else { String::new() };
        mark + &parts.concat()
    })
}

/// What the protocol says, literally: the line and character of each character boundary.
fn expected(text: &str, encoding: PositionEncoding) -> Vec<(usize, (u32, u32))> {
    let mut all = Vec::new();
    let (mut line, mut character) = (0, 0);
    let mut rest = text.strip_prefix(MARK).unwrap_or(text);
    loop {
        let offset = text.len() - rest.len();
        all.push((offset, (line, character)));
        let Some(c) = rest.chars().next() else { return all };
        let end = ["\r\n", "\n", "\r"].into_iter().find_map(|end| rest.strip_prefix(end));
        if let Some(next) = end {
            (line, character) = (line + 1, 0);
            rest = next;
        } else {
            character += match encoding {
                PositionEncoding::Utf8 => c.len_utf8(),
                PositionEncoding::Utf16 => c.len_utf16(),
                PositionEncoding::Utf32 => 1,
            } as u32;
            rest = &rest[c.len_utf8()..];
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn positions_are_those_of_the_protocol_and_lead_back(text in text()) {
        let file = SourceFile::new("a", text.as_str());
        for encoding in ENCODINGS {
            let all = expected(&text, encoding);
            // Long texts have too many positions to look at each.
            for (at, (line, character)) in all.iter().copied().step_by(all.len() / 500 + 1) {
                prop_assert_eq!(position(&file, at, encoding), (line, character));
                prop_assert_eq!(offset(&file, line, character, encoding), at);
            }
        }
    }

    #[test]
    fn every_position_is_clamped_to_a_character(
        text in text(), line in 0_u32..12, character in prop_oneof![0_u32..10, 0_u32..20_000],
    ) {
        let file = SourceFile::new("a", text.as_str());
        for encoding in ENCODINGS {
            let at = offset(&file, line, character, encoding);
            prop_assert!(text.is_char_boundary(at));
            // The last position that is neither on a later line nor after the character.
            let all = expected(&text, encoding);
            let within = |found: (u32, u32)| found <= (line, character);
            let nearest = all.iter().rev().find(|(_, found)| within(*found)).map(|(at, _)| *at);
            let last = all.last().map(|(_, (line, _))| *line).unwrap_or_default();
            let nearest = if line > last { Some(text.len()) } else { nearest };
            prop_assert_eq!(Some(at), nearest);
        }
    }

    #[test]
    fn columns_of_long_lines_are_those_of_short_ones(text in text()) {
        let file = SourceFile::new("a", text.as_str());
        let bare = text.strip_prefix(MARK).unwrap_or(&text);
        let skipped = text.len() - bare.len();
        for (at, _) in bare.char_indices().step_by(text.len() / 500 + 1) {
            let before = &bare[..at];
            let line = before.matches('\n').count() + 1;
            let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
            prop_assert_eq!(line_column(&file, skipped + at), (line as u32, column as u32));
        }
    }
}
