//! Parses templates: texts with the placeholders `{{path}}` and `{{FN(x) | filter}}`, the blocks
//! `{{#if x}}…{{else}}…{{/if}}`, and the older `{x}`.

use super::context::Parsed;
use super::errors::{self, INVALID_TEMPLATE};
use super::parse;
use super::token::EntryPoint;
use agentir_diagnostics::{Applicability, Diagnostic, Severity, Span, Spanned};
use agentir_expr::{Expr, ExprKind, Name, Template, TemplatePart};
use agentir_syntax::inline::InlineText;
use agentir_syntax::text::offset;
use memchr::{memchr, memmem};
use smol_str::SmolStr;
use std::ops::Range;

/// The blocks of templates.
pub(crate) const BLOCKS: [&str; 4] = ["if", "unless", "each", "with"];

/// The maximum length of a placeholder `{…}`. Code and JSON are longer.
const MAX_SINGLE: usize = 200;

/// A text with placeholders (specification 3.14.1, `RESPOND` and all texts shown to the user).
///
/// Single braces are placeholders only around a path or a call, so that JSON and style sheets are plain
/// text.
pub fn template(input: InlineText<'_>, problems: &mut Vec<Diagnostic>) -> Template {
    let text = Spanned::new(SmolStr::new(input.text), input.span());
    let Some(first) = memchr(b'{', input.text.as_bytes()) else {
        return Template { shifts: input.shifts(), ..Template::plain(text) };
    };
    let mut scan =
        Scan { input, parts: Vec::new(), open: Vec::new(), problems, no_more_ends: false };
    scan.run(first);
    scan.close_all();
    Template { text, parts: scan.parts, shifts: input.shifts() }
}

struct Scan<'a, 'p> {
    input: InlineText<'a>,
    parts: Vec<TemplatePart>,
    /// The open blocks.
    open: Vec<Spanned<Name>>,
    problems: &'p mut Vec<Diagnostic>,
    /// Whether the rest has no `}}`, so that it need not be searched again.
    no_more_ends: bool,
}

impl<'a> Scan<'a, '_> {
    fn run(&mut self, first: usize) {
        let mut at = first;
        loop {
            at = if self.rest(at).starts_with("{{") { self.double(at) } else { self.single(at) };
            match memchr(b'{', self.rest(at).as_bytes()) {
                Some(next) => at += next,
                None => return,
            }
        }
    }

    fn rest(&self, at: usize) -> &'a str {
        self.input.text.get(at..).unwrap_or_default()
    }

    fn slice(&self, range: Range<usize>) -> &'a str {
        self.input.text.get(range).unwrap_or_default()
    }

    /// `range` without leading and trailing white space.
    fn trimmed(&self, range: Range<usize>) -> Range<usize> {
        let text = self.slice(range.clone());
        let start = range.start + (text.len() - text.trim_start().len());
        start..start + text.trim().len()
    }

    fn span(&self, range: Range<usize>) -> Span {
        self.input.origin.span(range)
    }

    fn warn(&mut self, range: Range<usize>, message: impl Into<String>) -> &mut Diagnostic {
        let span = self.span(range);
        self.report(Diagnostic::warning(INVALID_TEMPLATE, span, message))
    }

    fn report(&mut self, diagnostic: Diagnostic) -> &mut Diagnostic {
        let at = self.problems.len();
        self.problems.push(diagnostic);
        #[expect(clippy::indexing_slicing, reason = "just pushed")]
        &mut self.problems[at]
    }

    /// `{{…}}` at `start`. Returns where to continue.
    fn double(&mut self, start: usize) -> usize {
        let braces = if self.rest(start).starts_with("{{{") { 3 } else { 2 };
        let inner = start + braces;
        let Some(length) = self.length(inner) else {
            self.warn(start..inner, "`{{` has no closing `}}`");
            return inner;
        };
        let mut end = inner + length + 2;
        if braces == 3 && self.rest(end).starts_with('}') {
            end += 1;
        }
        self.placeholder(start..end, inner..inner + length);
        end
    }

    /// The length of the placeholder that starts at `inner`.
    fn length(&mut self, inner: usize) -> Option<usize> {
        if self.no_more_ends {
            return None;
        }
        let rest = self.rest(inner);
        let Some(near) = memmem::find(rest.as_bytes(), b"}}") else {
            self.no_more_ends = true;
            return None;
        };
        let inside = rest.get(..near).unwrap_or_default();
        if memchr::memchr3(b'{', b'"', b'\'', inside.as_bytes()).is_none() {
            return Some(near);
        }
        // Balanced braces of an object or in a string do not end the placeholder.
        Some(balanced_end(rest).unwrap_or(near))
    }

    fn placeholder(&mut self, whole: Range<usize>, inner: Range<usize>) {
        let inner = self.trimmed(inner);
        let text = self.slice(inner.clone());
        let span = self.span(whole.clone());
        if text.is_empty() {
            self.warn(whole, "this placeholder is empty");
        } else if let Some(block) = text.strip_prefix('#') {
            self.open_block(whole, inner.end - block.len()..inner.end);
        } else if let Some(block) = text.strip_prefix('/') {
            self.close_block(whole, inner.end - block.len()..inner.end);
        } else if text == "else" || text == "^" || text.starts_with("else ") {
            self.otherwise(whole, &inner);
        } else if text.starts_with('!') {
            // A comment.
        } else if let Some(Parsed::Placeholder(placeholder)) =
            self.read(inner, EntryPoint::Placeholder)
        {
            let (expr, filters) = *placeholder;
            let at = range_in_text(&whole);
            self.parts.push(TemplatePart::Value { expr, filters, at, span });
        }
    }

    fn read(&mut self, range: Range<usize>, entry_point: EntryPoint) -> Option<Parsed> {
        let mut foreign = Vec::new();
        match parse(self.input, range, entry_point, &mut foreign) {
            Ok(parsed) => {
                let input = self.input;
                self.problems
                    .extend(foreign.iter().map(|form| errors::foreign_syntax(form, &input)));
                Some(parsed)
            }
            Err(failure) => {
                self.problems.extend(failure.diagnostic().map(|mut diagnostic| {
                    diagnostic.severity = Severity::Warning;
                    diagnostic.note = Some("the braces are shown literally".to_owned());
                    diagnostic
                }));
                None
            }
        }
    }

    /// `{{#if x}}`; `inner` starts after the `#`.
    fn open_block(&mut self, whole: Range<usize>, inner: Range<usize>) {
        let (at, span) = (range_in_text(&whole), self.span(whole));
        let text = self.slice(inner.clone());
        let length = text.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(text.len());
        let name = inner.start..inner.start + length;
        let block = Spanned::new(Name::new(self.slice(name.clone())), self.span(name.clone()));
        if !BLOCKS.contains(&block.value.as_str()) {
            let message = format!("there is no block `{block}`");
            self.warn(name.clone(), message).help =
                Some("blocks are `if`, `unless`, `each` and `with`".to_owned());
        }
        let subject = self.trimmed(name.end..inner.end);
        let expr = if subject.is_empty() {
            let message = format!("`#{block}` needs a value");
            self.warn(inner, message);
            None
        } else {
            self.read_expr(subject)
        };
        self.open.push(block.clone());
        self.parts.push(TemplatePart::Open { block, expr, at, span });
    }

    fn read_expr(&mut self, range: Range<usize>) -> Option<Expr> {
        match self.read(range, EntryPoint::Placeholder)? {
            Parsed::Placeholder(placeholder) => Some(placeholder.0),
            _ => None,
        }
    }

    /// `{{/if}}`; `inner` starts after the `/`.
    fn close_block(&mut self, whole: Range<usize>, inner: Range<usize>) {
        let (at, span) = (range_in_text(&whole), self.span(whole));
        let name = self.trimmed(inner);
        let block = Spanned::new(Name::new(self.slice(name.clone())), self.span(name));
        match self.open.pop() {
            Some(open) if open.value == block.value => {}
            Some(open) => {
                let message = format!("`{{{{/{block}}}}}` does not close `{{{{#{open}}}}}`");
                let diagnostic = Diagnostic::error(INVALID_TEMPLATE, span, message)
                    .label(open.span, "opened here")
                    .help(format!("write `{{{{/{open}}}}}`"))
                    .replace(format!("{{{{/{open}}}}}"), Applicability::Unsafe);
                self.report(diagnostic);
            }
            None => {
                let message = format!("`{{{{/{block}}}}}` has no opening `{{{{#{block}}}}}`");
                self.report(Diagnostic::error(INVALID_TEMPLATE, span, message));
            }
        }
        self.parts.push(TemplatePart::Close { block, at, span });
    }

    /// `{{else}}`, `{{else if x}}`.
    fn otherwise(&mut self, whole: Range<usize>, inner: &Range<usize>) {
        let (at, span) = (range_in_text(&whole), self.span(whole));
        if self.open.is_empty() {
            let message = "`{{else}}` is not in a block";
            self.report(Diagnostic::error(INVALID_TEMPLATE, span, message));
        }
        self.parts.push(TemplatePart::Else { at, span });
        let rest = self.slice(inner.clone()).strip_prefix("else").unwrap_or_default().trim_start();
        if let Some(condition) = rest.strip_prefix("if ") {
            // The tree does not store the condition, but it has to be valid.
            let condition = self.trimmed(inner.end - condition.len()..inner.end);
            self.read_expr(condition);
        } else if !rest.is_empty() {
            let range = inner.end - rest.len()..inner.end;
            self.warn(range, format!("`{rest}` cannot follow `else`"));
        }
    }

    fn close_all(&mut self) {
        for open in std::mem::take(&mut self.open) {
            let message = format!("`{{{{#{open}}}}}` is never closed");
            let diagnostic = Diagnostic::error(INVALID_TEMPLATE, open.span, message)
                .help(format!("add `{{{{/{open}}}}}` where it ends"));
            self.report(diagnostic);
        }
    }

    /// `{…}` at `start`, which may be any text. Returns where to continue.
    fn single(&mut self, start: usize) -> usize {
        let inner = start + 1;
        if self.rest(inner).starts_with("!@") {
            let message = "`{!@…}` is a placeholder of Agent Script";
            let warning = self.warn(start..inner + 2, message);
            warning.note = Some("the user reads it as it is written".to_owned());
            warning.help = Some("write `{{name}}`".to_owned());
            return inner;
        }
        let rest = self.rest(inner).as_bytes();
        let near = rest.get(..MAX_SINGLE.min(rest.len())).unwrap_or_default();
        // A leading quote or colon excludes most texts that are not placeholders.
        let Some(length) = memchr::memchr3(b'}', b'{', b'\n', near) else { return inner };
        if rest.get(length) != Some(&b'}') {
            return inner;
        }
        let range = self.trimmed(inner..inner + length);
        let text = self.slice(range.clone());
        let begins = text.starts_with(|c: char| c.is_alphabetic() || matches!(c, '_' | '$'));
        if begins
            && let Ok(Parsed::Expr(expr)) =
                parse(self.input, range, EntryPoint::Expr, &mut Vec::new())
            && matches!(
                expr.kind,
                ExprKind::Path(_) | ExprKind::Call { .. } | ExprKind::Method { .. }
            )
        {
            let dollar = self.slice(0..start).ends_with('$');
            let span = self.span(start - usize::from(dollar)..inner + length + 1);
            let at = range_in_text(&(start..inner + length + 1));
            self.parts.push(TemplatePart::SingleBrace { expr: *expr, at, span });
        }
        inner + length + 1
    }
}

/// A range of the text, which is shorter than 4 GB.
fn range_in_text(range: &Range<usize>) -> Range<u32> {
    offset(range.start)..offset(range.end)
}

/// The position of `}}` outside of braces and quotes, if it is near.
fn balanced_end(text: &str) -> Option<usize> {
    const MAX_DISTANCE: usize = 2000;
    let bytes = text.as_bytes();
    let mut depth = 0usize;
    let mut quote = None;
    let mut escaped = false;
    for (i, &b) in bytes.iter().take(MAX_DISTANCE).enumerate() {
        match (quote, b) {
            _ if std::mem::take(&mut escaped) => {}
            (Some(_), b'\\') => escaped = true,
            (Some(q), b) if q == b => quote = None,
            (Some(_), _) => {}
            (None, b'"' | b'\'') => quote = Some(b),
            (None, b'{') => depth += 1,
            (None, b'}') if depth > 0 => depth -= 1,
            (None, b'}') if bytes.get(i + 1) == Some(&b'}') => return Some(i),
            _ => {}
        }
    }
    None
}
