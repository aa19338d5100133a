//! Text with placeholders.

use crate::expr::{Expr, ExprKind, Literal, Name};
use agentir_diagnostics::{Span, Spanned};
use smol_str::SmolStr;
use std::borrow::Cow;
use std::ops::Range;

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
        /// Where it is in the text, in bytes, braces included.
        at: Range<u32>,
        /// From brace to brace, in the source.
        span: Span,
    },
    /// `{expr}` with single braces, a form of older message texts.
    SingleBrace {
        /// What is inserted.
        expr: Expr,
        /// Where it is in the text, in bytes, braces included.
        at: Range<u32>,
        /// From brace to brace, in the source.
        span: Span,
    },
    /// `{{#if x}}`, `{{#each items}}`, `{{#unless x}}`.
    Open {
        /// `if`, `each`, …
        block: Spanned<Name>,
        /// What it is about.
        expr: Option<Expr>,
        /// Where it is in the text, in bytes, braces included.
        at: Range<u32>,
        /// From brace to brace, in the source.
        span: Span,
    },
    /// `{{else}}`.
    Else {
        /// Where it is in the text, in bytes, braces included.
        at: Range<u32>,
        /// From brace to brace, in the source.
        span: Span,
    },
    /// `{{/if}}`.
    Close {
        /// Which block ends.
        block: Spanned<Name>,
        /// Where it is in the text, in bytes, braces included.
        at: Range<u32>,
        /// From brace to brace, in the source.
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

    /// The text, split into plain text and placeholders.
    pub fn pieces(&self) -> impl Iterator<Item = Piece<'_>> {
        let text = self.text.value.as_str();
        let mut at = 0_usize;
        let mut parts = self.parts.iter();
        let mut waiting: Option<Piece<'_>> = None;
        std::iter::from_fn(move || {
            if let Some(piece) = waiting.take() {
                return Some(piece);
            }
            for part in parts.by_ref() {
                let Range { start, end } = part.range();
                let (Some(before), Some(written)) = (text.get(at..start), text.get(start..end))
                else {
                    continue;
                };
                at = end;
                let piece = Piece::Part(part, written);
                if before.is_empty() {
                    return Some(piece);
                }
                waiting = Some(piece);
                return Some(Piece::Text(before));
            }
            let last = text.get(at..).unwrap_or_default();
            at = text.len();
            (!last.is_empty()).then_some(Piece::Text(last))
        })
    }

    /// The text in AgentIR's notation, with placeholders as `write` writes them; `None` leaves one as it is written. Plain
    /// text that would be a placeholder, and texts in placeholders (`{{"{x}"}}`), are written so that they stay text.
    pub fn rewritten(
        &self,
        mut write: impl FnMut(&TemplatePart, &str) -> Option<String>,
    ) -> String {
        let mut out = String::with_capacity(self.text.value.len());
        let mut plain = String::new();
        for piece in self.pieces() {
            match piece {
                Piece::Text(text) => plain.push_str(text),
                Piece::Part(part, written) => match part.literal() {
                    Some(text) => plain.push_str(text),
                    None => {
                        let part = write(part, written);
                        let part = part.as_deref().unwrap_or(written);
                        push_plain(&plain, part.starts_with('{'), &mut out);
                        plain.clear();
                        out.push_str(part);
                    }
                },
            }
        }
        push_plain(&plain, false, &mut out);
        out
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
    /// Calls `change` with every expression in it. The text stays as it is: who changes an expression writes the text anew.
    pub fn exprs_mut(&mut self, change: &mut dyn FnMut(&mut Expr)) {
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

impl TemplatePart {
    /// The placeholder in AgentIR's notation, with another expression; `None` if it has none.
    #[must_use]
    pub fn written_with(&self, expr: &Expr) -> Option<String> {
        match self {
            Self::Value { filters, .. } => {
                let filters = filters.iter().map(|filter| format!(" | {}", filter.value));
                Some(format!("{{{{{expr}{}}}}}", filters.collect::<String>()))
            }
            Self::SingleBrace { .. } => Some(format!("{{{expr}}}")),
            Self::Open { block, expr: Some(_), .. } => Some(format!("{{{{#{block} {expr}}}}}")),
            Self::Open { expr: None, .. } | Self::Else { .. } | Self::Close { .. } => None,
        }
    }

    /// What is inserted, or what a block is about.
    #[must_use]
    pub const fn expr(&self) -> Option<&Expr> {
        match self {
            Self::Value { expr, .. }
            | Self::SingleBrace { expr, .. }
            | Self::Open { expr: Some(expr), .. } => Some(expr),
            Self::Open { expr: None, .. } | Self::Else { .. } | Self::Close { .. } => None,
        }
    }

    /// Where it is in the text, in bytes, braces included.
    #[must_use]
    pub fn range(&self) -> Range<usize> {
        let (Self::Value { at, .. }
        | Self::SingleBrace { at, .. }
        | Self::Open { at, .. }
        | Self::Else { at, .. }
        | Self::Close { at, .. }) = self;
        at.start as usize..at.end as usize
    }

    /// The text that it inserts, whatever the values of variables are: `{{"{x}"}}`.
    #[must_use]
    pub fn literal(&self) -> Option<&str> {
        match self {
            Self::Value { expr, filters, .. } if filters.is_empty() => match &expr.kind {
                ExprKind::Literal(Literal::String(text)) => Some(text),
                _ => None,
            },
            _ => None,
        }
    }

    /// The name of something that can be called, in a text that refers to it: `find` in `{!@actions.find}`. `written` is
    /// the part with its braces. It is a name for whoever reads the text; nothing is inserted.
    #[must_use]
    pub fn mention<'w>(&self, written: &'w str) -> Option<&'w str> {
        let Self::Value { .. } = self else { return None };
        let inside = written.strip_prefix("{!")?.strip_suffix('}')?.trim();
        let name = MENTIONS.iter().find_map(|space| inside.strip_prefix(space))?;
        let is_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
        name.chars().all(is_name).then_some(name)
    }
}

/// The prefixes of references to callables in texts that a model reads.
const MENTIONS: [&str; 5] =
    ["@actions.", "@subagent.", "@topic.", "@connected_subagent.", "@utils."];

/// Plain text in AgentIR's notation. What would be a placeholder there is a text in one: `{x}` becomes `{{"{x}"}}`.
#[must_use]
pub fn plain_text(text: &str) -> Cow<'_, str> {
    if next_placeholder(text).is_none() {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    push_plain(text, false, &mut out);
    Cow::Owned(out)
}

/// Adds plain text, which a placeholder follows or not, and returns where the texts in placeholders are.
fn push_plain(text: &str, placeholder_follows: bool, out: &mut String) -> Vec<(Expr, Range<u32>)> {
    let mut literals = Vec::new();
    let mut push_literal = |text: &str, out: &mut String| {
        let literal = Expr::literal(Literal::String(text.into()), Span::default());
        let start = offset(out.len());
        out.push_str("{{");
        out.push_str(&literal.to_string());
        out.push_str("}}");
        literals.push((literal, start..offset(out.len())));
    };
    let mut rest = text;
    while let Some(found) = next_placeholder(rest) {
        let (Some(before), Some(inside), Some(after)) =
            (rest.get(..found.start), rest.get(found.clone()), rest.get(found.end..))
        else {
            break;
        };
        out.push_str(before);
        push_literal(inside, out);
        rest = after;
    }
    // `{` and `{{x}}` would be `{{{x}}`.
    let braces =
        if placeholder_follows { rest.len() - rest.trim_end_matches('{').len() } else { 0 };
    let (rest, braces) = rest.split_at(rest.len() - braces);
    out.push_str(rest);
    if !braces.is_empty() {
        push_literal(braces, out);
    }
    literals
}

/// An offset in a text, which is shorter than 4 GB.
fn offset(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

/// Builds a text in AgentIR's notation from one in another.
#[derive(Debug, Default)]
pub struct TemplateBuilder {
    text: String,
    parts: Vec<TemplatePart>,
    /// Plain text that is not yet part of the text.
    plain: String,
}

impl TemplateBuilder {
    /// Adds plain text.
    pub fn text(&mut self, text: &str) {
        self.plain.push_str(text);
    }

    /// Adds a placeholder that is written at `span`.
    pub fn value(&mut self, expr: Expr, span: Span) {
        self.flush(true, span);
        let start = offset(self.text.len());
        self.text.push_str("{{");
        self.text.push_str(&expr.to_string());
        self.text.push_str("}}");
        let at = start..offset(self.text.len());
        self.parts.push(TemplatePart::Value { expr, filters: Vec::new(), at, span });
    }

    fn flush(&mut self, placeholder_follows: bool, span: Span) {
        let plain = std::mem::take(&mut self.plain);
        for (expr, at) in push_plain(&plain, placeholder_follows, &mut self.text) {
            self.parts.push(TemplatePart::Value { expr, filters: Vec::new(), at, span });
        }
    }

    /// The text, which is written at `span`.
    #[must_use]
    pub fn finish(mut self, span: Span) -> Template {
        self.flush(false, span);
        let text = Spanned::new(SmolStr::new(self.text), span);
        Template { parts: self.parts, ..Template::plain(text) }
    }
}

/// Where the next part of a text is that would be taken for a placeholder: two braces, or one around what begins like a
/// path or a call.
fn next_placeholder(text: &str) -> Option<Range<usize>> {
    /// How long a part may be that is shown as a whole.
    const MAX_SHOWN: usize = 80;
    let mut at = 0;
    loop {
        let start = at + text.get(at..)?.find('{')?;
        let rest = text.get(start..)?;
        let braces = rest.len() - rest.trim_start_matches('{').len();
        let inside = rest.get(braces..)?;
        let near = inside.find(['{', '}', '\n', '"', '\\']);
        let closed = near.filter(|near| {
            *near < MAX_SHOWN && inside.get(*near..).is_some_and(|t| t.starts_with('}'))
        });
        if braces > 1 {
            let closing = closed.map_or(0, |near| {
                let closing = inside.get(near..).unwrap_or_default();
                near + (closing.len() - closing.trim_start_matches('}').len()).min(braces)
            });
            return Some(start..start + braces + closing);
        }
        let named = near.and_then(|near| inside.get(..near)).is_some_and(|name| {
            let name = name.trim();
            let head = name.trim_start_matches(|c: char| c.is_alphanumeric() || "_$".contains(c));
            let begins = name.starts_with(|c: char| c.is_alphabetic() || "_$".contains(c));
            begins && (head.is_empty() || head.trim_start().starts_with(['.', '[', '(']))
        });
        // A brace inside of a call is found on its own.
        if named {
            return Some(start..start + 1 + closed.map_or(0, |near| near + 1));
        }
        at = start + 1;
    }
}

#[cfg(test)]
mod tests {
    use super::plain_text;

    #[test]
    fn plain_text_stays_text() {
        for (text, written) in [
            ("no braces", "no braces"),
            ("{\"a\": 1} { } {1} {a: b}", "{\"a\": 1} { } {1} {a: b}"),
            ("Write {v}.", "Write {{\"{v}\"}}."),
            ("{ a.b } {f(x)}", "{{\"{ a.b }\"}} {{\"{f(x)}\"}}"),
            ("{{v}} {{{v}}}", "{{\"{{v}}\"}} {{\"{{{v}}}\"}}"),
            ("{{ open", "{{\"{{\"}} open"),
            ("{f(\"x\")}", "{{\"{\"}}f(\"x\")}"),
        ] {
            assert_eq!(plain_text(text), written, "{text}");
        }
    }
}
