//! The few lines of a file that a finding is about, copied and made fit to print.
//!
//! ariadne reads and prints whole lines of whole files. A copy of a few short lines keeps a thousand
//! findings in one file of ten megabytes fast, and the copy can be cleaned of what must not reach a
//! terminal.

use super::clean::stand_in;
use crate::lines::BYTE_ORDER_MARK;
use crate::source::{SourceFile, Span};
use std::collections::BTreeMap;
use std::ops::Range;

/// Lines of more characters than this are cut: they would wrap, and a wrapped line tears what is
/// underlined from its underline.
const LONGEST_LINE: usize = 160;
/// How much of a cut line is shown around the places in it, shared among them.
const CONTEXT: usize = 100;
/// A place of up to this many characters is shown whole.
const LONGEST_PLACE: usize = 80;

/// Lines of a file, and the places in them.
pub(crate) struct Excerpt {
    /// The lines. Each ends in a space, so that the end of a line can be underlined, and `\n`.
    pub text: String,
    /// The number of each line in the file, from 1; `None` where lines are left out.
    pub numbers: Vec<Option<usize>>,
    /// Where in `text` the places are, in the order they were given; none is empty.
    pub places: Vec<Range<usize>>,
}

impl Excerpt {
    /// The lines at which `spans`, all in `file`, start and end.
    pub(crate) fn new(file: &SourceFile, spans: impl Iterator<Item = Span>) -> Self {
        let spans: Vec<_> = spans.map(|span| visible(file, span)).collect();
        let line_of_end =
            |span: &Range<usize>| file.line_index(span.end.saturating_sub(1).max(span.start));

        let mut lines: BTreeMap<usize, Vec<Range<usize>>> = BTreeMap::new();
        for span in &spans {
            let (first, last) = (file.line_index(span.start), line_of_end(span));
            if first == last {
                lines.entry(first).or_default().push(span.clone());
            } else {
                lines.entry(first).or_default().push(span.start..span.start);
                lines.entry(last).or_default().push(span.end..span.end);
            }
        }

        let mut copy = Copy { file, text: String::new(), moved: BTreeMap::new() };
        let mut numbers = Vec::new();
        let mut previous = None;
        for (index, places) in lines {
            if previous.is_some_and(|previous| previous + 1 < index) {
                copy.text.push('\n');
                numbers.push(None);
            }
            previous = Some(index);
            numbers.push(Some(index + 1));
            copy.line(index, &places);
        }

        let place = |span: &Range<usize>| {
            let at = |line, offset| copy.moved.get(&(line, offset)).copied().unwrap_or(0);
            let start = at(file.line_index(span.start), span.start);
            let end = at(line_of_end(span), span.end);
            // What is empty could not be seen.
            let next = copy.text.get(start..).and_then(|text| text.chars().next());
            start..end.max(start + next.map_or(0, char::len_utf8))
        };
        let places = spans.iter().map(place).collect();
        Self { text: copy.text, numbers, places }
    }

    /// A place, counted in characters instead of bytes.
    pub(crate) fn in_chars(&self, place: &Range<usize>) -> Range<usize> {
        let chars = |end| self.text.get(..end).map_or(0, |text| text.chars().count());
        chars(place.start)..chars(place.end)
    }

    /// The index, from 0, of the excerpt's line in which a place ends.
    pub(crate) fn line_of_end(&self, place: &Range<usize>) -> usize {
        let before = self.text.get(..place.end.saturating_sub(1)).unwrap_or_default();
        before.matches('\n').count()
    }
}

/// The span as far as it lies in the file, without the space at its end: a block that ends with its
/// line would otherwise seem to end on the next.
fn visible(file: &SourceFile, span: Span) -> Range<usize> {
    let start = file.floor(span.start);
    let mut end = (span.end as usize).clamp(start, file.text.len());
    while !file.text.is_char_boundary(end) {
        end += 1;
    }
    let text = file.text.get(start..end).unwrap_or_default().trim_end();
    if text.is_empty() { start..end } else { start..start + text.len() }
}

struct Copy<'a> {
    file: &'a SourceFile,
    text: String,
    /// Where the offsets of a line went that are the start or end of a place. The line is part of
    /// the key because one place can end where the next line starts.
    moved: BTreeMap<(usize, usize), usize>,
}

impl Copy<'_> {
    fn line(&mut self, index: usize, places: &[Range<usize>]) {
        let range = self.file.line_range(index);
        let content = self.file.text.get(range.clone()).unwrap_or_default();
        let mut wanted: Vec<_> = places.iter().flat_map(|p| [p.start, p.end]).collect();
        wanted.sort_unstable();
        let mut wanted = wanted.into_iter().peekable();

        let mut shown = 0;
        for window in windows(content, range.start, places) {
            if window.start > shown {
                self.text.push('…');
            }
            shown = window.end;
            let from = range.start + window.start;
            for (at, c) in content.get(window).unwrap_or_default().char_indices() {
                while let Some(offset) = wanted.next_if(|&offset| offset <= from + at) {
                    self.moved.insert((index, offset), self.text.len());
                }
                match c {
                    '\t' => self.text.push_str("    "),
                    BYTE_ORDER_MARK if from + at == 0 => {}
                    c => self.text.push(stand_in(c).unwrap_or(c)),
                }
            }
            while let Some(offset) = wanted.next_if(|&offset| offset <= range.start + shown) {
                self.moved.insert((index, offset), self.text.len());
            }
        }
        // In what ends the line.
        for offset in wanted {
            self.moved.insert((index, offset), self.text.len());
        }
        if shown < content.len() {
            self.text.push('…');
        }
        self.text.push_str(" \n");
    }
}

/// The parts of a line to show, as ranges of `content`, which lies at `start` in its file: all of a
/// short line, else what is around the places.
fn windows(content: &str, start: usize, places: &[Range<usize>]) -> Vec<Range<usize>> {
    let mut windows = Vec::new();
    if content.chars().nth(LONGEST_LINE).is_none() {
        windows.push(0..content.len());
        return windows;
    }
    let context = (CONTEXT / 2 / places.len().max(1)).max(10);
    let back = |from: usize, chars: usize| {
        let text = content.get(..from).unwrap_or_default();
        text.char_indices().rev().take(chars).last().map_or(from, |(at, _)| at)
    };
    let forth = |from: usize, chars: usize| {
        let text = content.get(from..).unwrap_or_default();
        from + text.chars().take(chars).map(char::len_utf8).sum::<usize>()
    };
    for place in places {
        let from = place.start.saturating_sub(start).min(content.len());
        let to = place.end.saturating_sub(start).min(content.len());
        let whole = content.get(from..to).unwrap_or_default().chars().nth(LONGEST_PLACE).is_none();
        if whole {
            windows.push(back(from, context)..forth(to, context));
        } else {
            windows.push(back(from, context / 2)..forth(from, LONGEST_PLACE / 2));
            windows.push(back(to, LONGEST_PLACE / 2)..forth(to, context / 2));
        }
    }
    windows.sort_unstable_by_key(|window| window.start);
    windows.dedup_by(|next, previous| {
        // An ellipsis takes as much room as a character or two.
        let touch = next.start <= forth(previous.end, 3);
        if touch {
            previous.end = previous.end.max(next.end);
        }
        touch
    });
    windows
}
