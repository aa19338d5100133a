//! Text with placeholders.

use crate::expr::{Expr, Name};
use agentir_diagnostics::{Span, Spanned};
use smol_str::SmolStr;

/// Text to be shown to a user or a model, with the parts that are filled in at run time. In JSON it
/// is its text, placeholders included.
#[derive(Clone, Debug, Default)]
pub struct Template {
    /// The whole text, quotes and block indentation removed.
    pub text: Spanned<SmolStr>,
    /// The placeholders, in order. Plain text between them is not listed.
    pub parts: Vec<TemplatePart>,
    /// Where the source is ahead of the text, because quotes and indentation were removed and escapes
    /// resolved: offsets in the text, ascending, and by how many bytes in all from there on, counted
    /// from where `text` is written.
    pub shifts: Box<[(u32, u32)]>,
}

impl PartialEq for Template {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

/// A part of a text, in its order.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Piece<'t> {
    /// Plain text.
    Text(&'t str),
    /// A placeholder and its source text, braces included.
    Part(&'t TemplatePart, &'t str),
}

/// A placeholder in a template.
#[derive(Clone, Debug, PartialEq)]
pub enum TemplatePart {
    /// `{{expr}}`, `{{expr | filter}}`.
    Value {
        /// What is inserted.
        expr: Expr,
        /// The filters it goes through, in order.
        filters: Vec<Spanned<Name>>,
        /// From brace to brace.
        span: Span,
    },
    /// `{expr}` with single braces, a form of older message texts.
    SingleBrace {
        /// What is inserted.
        expr: Expr,
        /// From brace to brace.
        span: Span,
    },
    /// `{{#if x}}`, `{{#each items}}`, `{{#unless x}}`.
    Open {
        /// `if`, `each`, …
        block: Spanned<Name>,
        /// What it is about.
        expr: Option<Expr>,
        /// From brace to brace.
        span: Span,
    },
    /// `{{else}}`.
    Else {
        /// From brace to brace.
        span: Span,
    },
    /// `{{/if}}`.
    Close {
        /// Which block ends.
        block: Spanned<Name>,
        /// From brace to brace.
        span: Span,
    },
}

impl Template {
    /// A template without placeholders.
    #[must_use]
    pub fn plain(text: Spanned<SmolStr>) -> Self {
        Self { text, parts: Vec::new(), shifts: Box::default() }
    }

    /// The same text inside `span`: after a quote, or after the indentation of a block.
    #[must_use]
    pub fn inside(mut self, span: Span) -> Self {
        let lead = self.text.span.start.saturating_sub(span.start);
        self.text.span = span;
        if lead > 0 {
            let ahead = self.shifts.iter().map(|(from, ahead)| (*from, ahead.saturating_add(lead)));
            self.shifts = std::iter::once((0, lead)).chain(ahead).collect();
        }
        self
    }

    /// The text, split into plain text and placeholders. A placeholder that cannot be found in the text,
    /// because escapes changed it, is left out.
    pub fn pieces(&self) -> impl Iterator<Item = Piece<'_>> {
        let mut rest = self.text.value.as_str();
        let mut parts = self.parts.iter();
        let mut waiting: Option<Piece<'_>> = None;
        std::iter::from_fn(move || {
            if let Some(piece) = waiting.take() {
                return Some(piece);
            }
            for part in parts.by_ref() {
                let Some((start, end)) = find_placeholder(rest, part) else { continue };
                let (before, written) = (rest.get(..start)?, rest.get(start..end)?);
                rest = rest.get(end..)?;
                if before.is_empty() {
                    return Some(Piece::Part(part, written));
                }
                waiting = Some(Piece::Part(part, written));
                return Some(Piece::Text(before));
            }
            let last = std::mem::take(&mut rest);
            (!last.is_empty()).then_some(Piece::Text(last))
        })
    }

    /// The expression of the placeholder that is the whole text, if there is no filter.
    #[must_use]
    pub fn only_placeholder(&self) -> Option<&Expr> {
        let mut pieces = self.pieces();
        match (pieces.next(), pieces.next()) {
            (Some(Piece::Part(TemplatePart::Value { expr, filters, .. }, _)), None)
                if filters.is_empty() =>
            {
                Some(expr)
            }
            _ => None,
        }
    }

    /// Where a part of the text is written.
    #[must_use]
    pub fn place(&self, range: std::ops::Range<usize>) -> Span {
        let whole = self.text.span;
        let ahead = |at: u32| {
            let passed = self.shifts.partition_point(|(from, _)| *from <= at);
            passed.checked_sub(1).and_then(|i| self.shifts.get(i)).map_or(0, |(_, ahead)| *ahead)
        };
        let offset = |at: usize| {
            let at = u32::try_from(at).unwrap_or(u32::MAX);
            let at = at.saturating_add(ahead(at));
            whole.start.saturating_add(at).min(whole.end.max(whole.start))
        };
        Span::new(whole.file, offset(range.start), offset(range.end))
    }

    /// The name in `TEMPLATE(name)`, if the text is such a reference to a named template.
    #[must_use]
    pub fn template_ref(&self) -> Option<Spanned<Name>> {
        let text = self.text.value.as_str();
        let argument = text.trim().strip_prefix("TEMPLATE(")?.strip_suffix(')')?;
        let name = argument.trim().trim_matches(['"', '\'']);
        let start = name.as_ptr().addr().saturating_sub(text.as_ptr().addr());
        Some(Spanned::new(name.into(), self.place(start..start + name.len())))
    }

    /// Calls `found` with every expression in it.
    pub fn exprs<'a>(&'a self, found: &mut dyn FnMut(&'a Expr)) {
        for part in &self.parts {
            match part {
                TemplatePart::Value { expr, .. }
                | TemplatePart::SingleBrace { expr, .. }
                | TemplatePart::Open { expr: Some(expr), .. } => found(expr),
                _ => {}
            }
        }
    }
}

impl Template {
    /// Calls `change` with every expression in it.
    pub(crate) fn exprs_mut(&mut self, change: &mut dyn FnMut(&mut Expr)) {
        for part in &mut self.parts {
            match part {
                TemplatePart::Value { expr, .. }
                | TemplatePart::SingleBrace { expr, .. }
                | TemplatePart::Open { expr: Some(expr), .. } => change(expr),
                _ => {}
            }
        }
    }
}

/// The byte range of the first placeholder of this form.
fn find_placeholder(text: &str, part: &TemplatePart) -> Option<(usize, usize)> {
    // Double braces, Agent Script's and ADL's notation; or single braces.
    let forms: &[(&str, &str)] = match part {
        TemplatePart::SingleBrace { .. } => &[("{", "}")],
        _ => &[("{{", "}}"), ("{!", "}"), ("${", "}")],
    };
    // One pass for all forms: a search for one that is not there would read the whole rest for each placeholder.
    let (start, open, close) = text.match_indices(['{', '$']).find_map(|(at, _)| {
        let form =
            forms.iter().find(|(open, _)| text.get(at..).is_some_and(|t| t.starts_with(open)));
        form.map(|(open, close)| (at, *open, *close))
    })?;
    let inside = start + open.len();
    // A brace inside quotes or of an inner object does not end the placeholder.
    let mut quote = None;
    let mut depth = 0usize;
    for (at, c) in text.get(inside..)?.char_indices() {
        match (quote, c) {
            (Some(q), c) if c == q => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') if has_closing_quote(text.get(inside + at..)?, c) => quote = Some(c),
            (None, '{') => depth += 1,
            (None, '}') if depth > 0 => depth -= 1,
            (None, '}') if text.get(inside + at..)?.starts_with(close) => {
                return Some((start, inside + at + close.len()));
            }
            _ => {}
        }
    }
    None
}

/// Whether a quote is closed before the line ends, so that it is not an apostrophe.
fn has_closing_quote(text: &str, quote: char) -> bool {
    text.chars().skip(1).take_while(|c| *c != '\n' && *c != '}').any(|c| c == quote)
}
