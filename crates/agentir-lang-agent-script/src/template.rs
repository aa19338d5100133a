//! Texts with placeholders: `{!expression}` (specification part I, 6).

use super::inline::{self, EntryPoint, Reading, escape};
use super::layout::TABS;
use super::outline::RawTemplate;
use agentir_diagnostics::{Diagnostic, FileId, Span, Spanned};
use agentir_expr::{Expr, TemplatePart};
use agentir_syntax::inline::{InlineText, unescaped};
use agentir_syntax::outline::find_lines;
use agentir_syntax::rules::INVALID_TEMPLATE;
use agentir_syntax::text::offset;
use memchr::memmem;
use smol_str::SmolStr;
use std::ops::Range;

/// A text, quoted or after `|`, with placeholders that are resolved at run time.
#[derive(Debug, Clone)]
pub struct Template<'s> {
    /// From its quote or bar to its end.
    pub span: Span,
    /// The notation.
    pub style: TemplateStyle,
    /// The placeholders, in order.
    pub placeholders: Vec<Placeholder>,
    /// The source between the quotes, or after the bar.
    raw: &'s str,
}

/// The notation of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TemplateStyle {
    /// Double-quoted.
    Quoted,
    /// After `|` in `pipe_column`, on a line that starts in column `base`.
    Block {
        /// The column of the bar, from 0; a tab counts three.
        pipe_column: u32,
        /// Lines at this column or left of it are comments rather than text.
        base: u32,
    },
}

/// `{!expression}`.
#[derive(Debug, Clone, PartialEq)]
pub struct Placeholder {
    /// The expression; `None` if it is invalid.
    pub expr: Option<Expr>,
    /// From brace to brace.
    pub span: Span,
}

/// A part of a template, without quotes, escapes and indentation.
#[derive(Debug, PartialEq)]
pub enum Segment<'t> {
    /// Literal text.
    Text(String),
    /// A placeholder.
    Placeholder(&'t Placeholder),
}

/// `line` without its first `columns` columns of white space, or all of it if it has less.
pub(crate) fn without(line: &str, columns: u32) -> &str {
    let mut column = 0;
    let mut rest = line;
    while column < columns
        && let Some(behind) = rest.as_bytes().first().and_then(|b| TABS.column_after(column, *b))
    {
        column = behind;
        rest = rest.get(1..).unwrap_or_default();
    }
    rest
}

impl<'s> Template<'s> {
    /// The source without the quotes or the bar, but with indentation.
    #[must_use]
    pub const fn raw(&self) -> &'s str {
        self.raw
    }

    /// The start offset of [`raw`](Self::raw).
    const fn raw_start(&self) -> u32 {
        // One quote, or one bar.
        self.span.start + 1
    }

    /// Literal texts and placeholders, in order.
    #[must_use]
    pub fn segments(&self) -> Vec<Segment<'_>> {
        let mut segments = Vec::with_capacity(2 * self.placeholders.len() + 1);
        let mut dedent = match self.style {
            TemplateStyle::Quoted => None,
            TemplateStyle::Block { .. } => Some(Dedent::new(self)),
        };
        let mut at = 0usize;
        for placeholder in &self.placeholders {
            let start = placeholder.span.start.saturating_sub(self.raw_start()) as usize;
            self.text_segment(at, start, &mut dedent, false, &mut segments);
            segments.push(Segment::Placeholder(placeholder));
            at = placeholder.span.end.saturating_sub(self.raw_start()) as usize;
        }
        self.text_segment(at, self.raw.len(), &mut dedent, true, &mut segments);
        segments
    }

    fn text_segment<'t>(
        &'t self,
        start: usize,
        end: usize,
        dedent: &mut Option<Dedent>,
        last: bool,
        segments: &mut Vec<Segment<'t>>,
    ) {
        let raw = self.raw.get(start..end).unwrap_or_default();
        let text = match dedent {
            None => unescaped(raw, escape).map_or_else(|_| raw.to_owned(), String::from),
            Some(dedent) => dedent.text(raw, last),
        };
        if !text.is_empty() {
            segments.push(Segment::Text(text));
        }
    }

    /// The text with placeholders as written: what `|` adds to a prompt, without the line break before it.
    #[must_use]
    pub fn text(&self) -> String {
        self.text_and_places().0
    }

    /// The text, and where each of the placeholders is in it.
    pub(crate) fn text_and_places(&self) -> (String, Vec<Range<u32>>) {
        let mut text = String::with_capacity(self.raw.len());
        let mut places = Vec::with_capacity(self.placeholders.len());
        for segment in self.segments() {
            match segment {
                Segment::Text(part) => text.push_str(&part),
                Segment::Placeholder(placeholder) => {
                    let start = placeholder.span.start.saturating_sub(self.raw_start()) as usize;
                    let end = placeholder.span.end.saturating_sub(self.raw_start()) as usize;
                    let at = offset(text.len());
                    text.push_str(self.raw.get(start..end).unwrap_or_default());
                    places.push(at..offset(text.len()));
                }
            }
        }
        (text, places)
    }

    /// The mapping of `text`, the result of [`text`](Self::text), to the source, relative to the quote or bar:
    /// offsets in the text, ascending, and the total number of bytes that the source is ahead from there on.
    #[must_use]
    pub fn shifts(&self, text: &str) -> Box<[(u32, u32)]> {
        let mut shifts = vec![(0, 0)];
        if self.style == TemplateStyle::Quoted {
            // An escape is a backslash and one more byte, and becomes one byte.
            let (mut at, mut ahead, mut bytes) = (0, 0, self.raw.bytes());
            while let Some(byte) = bytes.next() {
                at += 1;
                if byte == b'\\' && bytes.next().is_some() {
                    ahead += 1;
                    shifts.push((at, ahead));
                }
            }
        } else {
            find_lines(text, self.raw, &mut shifts);
        }
        shifts.into_iter().map(|(from, ahead)| (from, ahead + 1)).collect()
    }

    /// Visits every expression in the template.
    pub fn exprs<'t>(&'t self, found: &mut dyn FnMut(&'t Expr)) {
        self.placeholders.iter().filter_map(|h| h.expr.as_ref()).for_each(found);
    }
}

/// Strips indentation, part by part.
///
/// The text starts after the bar and its white space. Further lines lose as many columns as that, but at
/// most what they have. After a bare bar, they lose their common indentation.
struct Dedent {
    columns: u32,
    base: u32,
    /// Whether nothing follows the bar: the line breaks there do not count, except one of several.
    bare: bool,
    /// Whether nothing but white space has been seen.
    lead: bool,
}

impl Dedent {
    fn new(template: &Template<'_>) -> Self {
        let TemplateStyle::Block { pipe_column, base } = template.style else {
            return Self { columns: 0, base: 0, bare: false, lead: true };
        };
        let raw = template.raw;
        let (first, rest) = raw.split_once('\n').unwrap_or((raw, ""));
        let bare = first.trim().is_empty();
        let columns = if bare {
            rest.lines()
                .map(|line| TABS.indented(line))
                .filter(|(column, text)| !text.trim().is_empty() && *column > base)
                .map(|(column, _)| column)
                .min()
                .unwrap_or(0)
        } else {
            match TABS.indented(first) {
                (0, _) => pipe_column,
                (white, _) => pipe_column + 1 + white,
            }
        };
        Self { columns, base, bare, lead: true }
    }

    /// The next part; `last` tells whether no placeholder follows it.
    fn text(&mut self, raw: &str, last: bool) -> String {
        let mut out = String::with_capacity(raw.len());
        let lead = std::mem::take(&mut self.lead);
        let mut lines = raw.split('\n').peekable();
        if let Some(line) = lines.next() {
            let line = line.strip_suffix('\r').unwrap_or(line);
            out.push_str(if lead { line.trim_start_matches([' ', '\t']) } else { line });
        }
        while let Some(line) = lines.next() {
            let (column, text) = TABS.indented(line);
            // A comment between the lines.
            if column <= self.base && text.starts_with('#') {
                continue;
            }
            out.push('\n');
            // White space before a placeholder at the start of the line is indentation, too.
            let before_placeholder = lines.peek().is_none() && !last;
            if before_placeholder || !text.trim().is_empty() {
                let line = line.strip_suffix('\r').unwrap_or(line);
                out.push_str(without(line, self.columns));
            }
        }
        if lead && self.bare {
            let text = out.trim_start_matches('\n');
            let breaks = out.len() - text.len();
            out.drain(..if breaks > 1 { breaks - 1 } else { breaks });
        }
        if last {
            out.truncate(out.trim_end().len());
        }
        out
    }
}

/// A quoted text; `raw` is the source between the quotes.
pub(crate) fn quoted<'s>(reading: &mut Reading<'_>, raw: &'s str, span: Span) -> Template<'s> {
    if let Err(at) = unescaped(raw, escape) {
        let at = span.start + 1 + at;
        reading.problems.push(inline::bad_escape(
            Span::new(span.file, at, at + 2),
            raw.get((at - span.start - 1) as usize..),
        ));
    }
    let placeholders = placeholders(reading, raw, span.start + 1);
    Template { span, style: TemplateStyle::Quoted, placeholders, raw }
}

/// The placeholders of a text whose quotes, escapes and indentation are resolved. Their spans are offsets in the text.
pub(crate) fn placeholders_in(
    text: &str,
    file: FileId,
    problems: &mut Vec<Diagnostic>,
) -> Vec<Placeholder> {
    placeholders(&mut Reading { file, problems }, text, 0)
}

/// A block text after a bar.
pub(crate) fn block<'s>(reading: &mut Reading<'_>, raw: RawTemplate<'s>) -> Template<'s> {
    let start = raw.pipe + 1;
    let span = Span::new(reading.file, raw.pipe, start + offset(raw.raw.len()));
    let placeholders = placeholders(reading, raw.raw, start);
    let style = TemplateStyle::Block { pipe_column: raw.pipe_column, base: raw.base };
    Template { span, style, placeholders, raw: raw.raw }
}

/// The placeholders in `raw`, which starts at `base`.
fn placeholders(reading: &mut Reading<'_>, raw: &str, base: u32) -> Vec<Placeholder> {
    let mut placeholders = Vec::new();
    let mut at = 0;
    while let Some(found) = raw.get(at..).and_then(|rest| memmem::find(rest.as_bytes(), b"{!")) {
        let open = at + found;
        let inside = raw.get(open + 2..).unwrap_or_default();
        let start = base + offset(open);
        let Some(length) = close(inside) else {
            reading.problems.push(
                Diagnostic::warning(
                    INVALID_TEMPLATE,
                    Span::new(reading.file, start, start + 2),
                    "this `{!` has no closing `}`",
                )
                .note("it is shown literally"),
            );
            at = open + 2;
            continue;
        };
        let text = inside.get(..length).unwrap_or_default();
        let span = Span::new(reading.file, start, start + 3 + offset(length));
        let expr = if text.trim().is_empty() {
            reading.problems.push(
                Diagnostic::warning(INVALID_TEMPLATE, span, "this placeholder is empty")
                    .help("name the value to insert: `{!@variables.name}`"),
            );
            None
        } else {
            reading.expr(text, start + 2, EntryPoint::Placeholder)
        };
        placeholders.push(Placeholder { expr, span });
        at = open + 3 + length;
    }
    placeholders
}

/// The distance to the brace that closes a placeholder. A placeholder ends at the next one, or with its
/// paragraph.
fn close(inside: &str) -> Option<usize> {
    let mut depth = 0u32;
    let mut bytes = inside.bytes().enumerate().peekable();
    let mut quoted = false;
    let mut newline = false;
    while let Some((at, byte)) = bytes.next() {
        match byte {
            b'\\' if quoted => {
                bytes.next();
            }
            b'"' => quoted = !quoted,
            // A string that is not closed on its line is not a string.
            b'\n' if newline || quoted => return None,
            b'\n' => newline = true,
            b' ' | b'\t' | b'\r' => continue,
            _ if quoted => {}
            b'}' if depth == 0 => return Some(at),
            b'}' => depth -= 1,
            b'{' if bytes.peek().is_some_and(|(_, b)| *b == b'!') => return None,
            b'{' => depth += 1,
            _ => {}
        }
        if byte != b'\n' {
            newline = false;
        }
    }
    None
}

/// Parses a text of AgentIR for an agent of the language: placeholders as documents have them, and no markers.
pub fn template(input: InlineText<'_>, problems: &mut Vec<Diagnostic>) -> agentir_expr::Template {
    let file = input.origin.file;
    let mut found = Vec::new();
    let placeholders = placeholders_in(input.text, file, &mut found);
    let relocate = |span: Span| input.span_of(span.start, span.end);
    for problem in &mut found {
        problem.spans_mut(&mut |span| *span = relocate(*span));
    }
    problems.append(&mut found);
    let part = |placeholder: Placeholder| {
        let expr = placeholder.expr?.relocated(&relocate);
        // The spans are offsets in the text.
        let at = placeholder.span.start..placeholder.span.end;
        let span = relocate(placeholder.span);
        Some(TemplatePart::Value { expr, filters: Vec::new(), at, span })
    };
    agentir_expr::Template {
        parts: placeholders.into_iter().filter_map(part).collect(),
        shifts: input.shifts(),
        ..agentir_expr::Template::plain(Spanned::new(SmolStr::new(input.text), input.span()))
    }
}
