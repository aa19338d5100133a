//! The source excerpts of a finding, with its labels. ariadne draws them.

use super::clean::one_line;
use super::excerpt::{Excerpt, content, is_long};
use super::paint;
use crate::diagnostic::{Diagnostic, Label, Severity};
use crate::source::{FileId, SourceFile, SourceMap};
use ariadne::{Color, Config, ReportKind, Source};
use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::HashMap;
use std::io;
use std::rc::Rc;

/// How many labels of one finding are shown. More would hide the primary one.
pub(crate) const MAX_LABELS: usize = 10;
/// How many lines a drawing reaches over: ariadne looks at each line between its labels. Labels that
/// are farther apart have drawings of their own.
const MAX_LINES: usize = 1000;
/// How many lines ariadne's heading has. It is left out: its columns would be those of the excerpt.
const HEADING: usize = 2;

/// Draws the excerpts of findings.
pub(crate) struct Pictures<'a> {
    sources: &'a SourceMap,
    /// Copies of the files that were drawn before.
    copies: HashMap<FileId, Rc<Source<String>>>,
}

/// A label, as it is drawn.
struct Mark<'a> {
    /// 0 is the primary one.
    number: usize,
    message: Cow<'a, str>,
    start: usize,
    end: usize,
    first_line: usize,
    last_line: usize,
    /// Whether a line has to be cut, so that other labels would not be seen.
    is_cut: bool,
}

impl<'a> Mark<'a> {
    fn new(file: &SourceFile, number: usize, label: &'a Label) -> Self {
        let message = match (label.message.as_str(), number) {
            ("", 0) => "here",
            ("", _) => "and here",
            (message, _) => message,
        };
        let start = file.floor(label.span.start);
        let end = file.text.ceil_char_boundary(label.span.end as usize).max(start);
        // A block that ends with its line would seem to end on the next one.
        let text = file.text.get(start..end).unwrap_or_default().trim_end();
        let end = if text.is_empty() { end } else { start + text.len() };
        let first_line = file.line_index(start);
        let last_line = file.line_index(end.saturating_sub(1).max(start));
        let is_cut = is_long(file, first_line) || is_long(file, last_line);
        let message = one_line(message);
        let mark = Self { number, message, start, end, first_line, last_line, is_cut };
        if last_line - first_line <= MAX_LINES {
            return mark;
        }
        let message = format!("{} (to line {})", mark.message, last_line + 1).into();
        Self { message, end: content(file, first_line).end, last_line: first_line, ..mark }
    }

    /// Whether one drawing is enough for both.
    fn is_near(&self, other: &Self) -> bool {
        let first = self.first_line.min(other.first_line);
        let last = self.last_line.max(other.last_line);
        !self.is_cut && !other.is_cut && last - first <= MAX_LINES
    }
}

impl<'a> Pictures<'a> {
    /// Draws excerpts of these files.
    pub(crate) fn new(sources: &'a SourceMap) -> Self {
        Self { sources, copies: HashMap::new() }
    }

    /// Appends the excerpts of a finding. Returns the column of their frame.
    pub(crate) fn draw(
        &mut self,
        finding: &Diagnostic,
        color: bool,
        out: &mut String,
    ) -> io::Result<usize> {
        let mut drawings: Vec<(FileId, &SourceFile, Vec<Mark<'_>>)> = Vec::new();
        let labels = std::iter::once(&finding.primary).chain(&finding.labels);
        for (number, label) in labels.take(MAX_LABELS).enumerate() {
            let Some(file) = self.sources.get(label.span.file) else { continue };
            let mark = Mark::new(file, number, label);
            let near = drawings.iter_mut().find(|(id, _, marks)| {
                *id == label.span.file && marks.iter().all(|other| mark.is_near(other))
            });
            match near {
                Some((_, _, marks)) => marks.push(mark),
                None => drawings.push((label.span.file, file, vec![mark])),
            }
        }
        let mut frame = 2;
        for (id, file, marks) in drawings {
            frame = heading(file, &marks, color, out);
            let excerpt = match marks.first().filter(|mark| mark.is_cut) {
                Some(mark) if mark.first_line == mark.last_line => {
                    Excerpt::cut(file, &[(mark.first_line, mark.start)])
                }
                Some(mark) => {
                    let ends = [(mark.first_line, mark.start), (mark.last_line, mark.end)];
                    Excerpt::cut(file, &ends)
                }
                None => {
                    let copy = self.copies.entry(id).or_insert_with(|| Excerpt::whole(file));
                    Excerpt::of(Rc::clone(copy))
                }
            };
            let last = marks.iter().map(|mark| mark.last_line).max().unwrap_or_default();
            let digits = |line: usize| (line + 1).to_string().len();
            let wider = digits(last) - digits(last.saturating_sub(excerpt.first));
            let drawing = drawing(file, &excerpt, marks, finding.severity, color)?;
            for line in drawing.lines().skip(HEADING) {
                match excerpt.first {
                    0 => out.push_str(line.trim_end()),
                    first => push_renumbered(line.trim_end(), first, wider, out),
                }
                out.push('\n');
            }
        }
        Ok(frame)
    }
}

/// Appends a line of a drawing whose excerpt does not begin with the first line of its file: ariadne numbers lines from
/// 1. `wider` is how many digits more the numbers of the file have.
fn push_renumbered(drawn: &str, first: usize, wider: usize, out: &mut String) {
    // What comes before the number: blanks, and the colour of the frame.
    let mut blanks = 0;
    let mut in_color = false;
    let at = drawn.bytes().position(|byte| {
        match byte {
            0x1B => in_color = true,
            b'm' if in_color => in_color = false,
            b' ' if !in_color => blanks += 1,
            _ if !in_color => return true,
            _ => {}
        }
        if byte != b' ' {
            blanks = 0;
        }
        false
    });
    let (before, rest) = drawn.split_at(at.unwrap_or(drawn.len()));
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let (number, rest) = rest.split_at(digits);
    match number.parse::<usize>() {
        Ok(number) => {
            let (before, _) = before.split_at(before.len() - blanks);
            let width = blanks + digits + wider;
            let number = number + first;
            out.push_str(&format!("{before}{number:>width$}{rest}"));
        }
        Err(_) => {
            // The last line of the frame goes on.
            let more = if rest.starts_with('─') { "─" } else { " " };
            out.push_str(&format!("{before}{}{rest}", more.repeat(wider)));
        }
    }
}

/// Appends where the first mark is. Returns the column of ariadne's frame.
fn heading(file: &SourceFile, marks: &[Mark<'_>], color: bool, out: &mut String) -> usize {
    let last = marks.iter().map(|mark| mark.last_line).max().unwrap_or_default();
    let frame = (last + 1).to_string().len() + 2;
    let start = marks.first().map_or(0, |mark| u32::try_from(mark.start).unwrap_or(u32::MAX));
    let at = file.line_column(start);
    out.push_str(&" ".repeat(frame));
    paint::push(out, color, paint::FRAME, "╭─[");
    out.push_str(&format!(" {}:{}:{} ", one_line(&file.name), at.line, at.column));
    paint::push(out, color, paint::FRAME, "]");
    out.push('\n');
    frame
}

/// What ariadne draws.
fn drawing(
    file: &SourceFile,
    excerpt: &Excerpt,
    mut marks: Vec<Mark<'_>>,
    severity: Severity,
    color: bool,
) -> io::Result<String> {
    // By lines, as ariadne wants it; in a line from the right, so that no lines cross each other.
    marks.sort_by_key(|m| (m.last_line, Reverse(m.start + m.end), m.number));
    let labels = marks.iter().zip(0..).map(|(mark, order)| {
        let start = excerpt.position(file, mark.first_line, mark.start);
        // What is empty could not be seen.
        let end = excerpt.position(file, mark.last_line, mark.end).max(start + 1);
        let label = ariadne::Label::new(start..end).with_message(&mark.message).with_order(order);
        match severity {
            _ if !color => label,
            _ if mark.number > 0 => label.with_color(Color::BrightBlue),
            Severity::Error => label.with_color(Color::BrightRed),
            Severity::Warning => label.with_color(Color::Yellow),
            Severity::Info => label.with_color(Color::BrightCyan),
        }
    });
    let mut drawing = Vec::new();
    ariadne::Report::build(ReportKind::Error, 0..0)
        .with_config(Config::new().with_color(color))
        .with_labels(labels)
        .finish()
        .write(&*excerpt.source, &mut drawing)?;
    String::from_utf8(drawing).map_err(io::Error::other)
}
