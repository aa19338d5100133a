//! Prints texts with `${…}` for what ADL has a name for.

use super::Scope;
use super::expr::Form;
use agentir_expr::{Expr, Piece, Template, TemplatePart};
use agentir_syntax::emit::template_phrase;

/// A text that is said, and what of it is left out.
///
/// Filters and conditions within texts are dropped, and of a call only its first argument stays. ADL repeats no text: in
/// place of one for each item stands the list.
pub(super) fn said(template: &Template, scope: Scope<'_>) -> (String, Vec<String>) {
    if scope.form == Form::AsWritten {
        return (template_phrase(template), Vec::new());
    }
    let mut out = String::with_capacity(template.text.value.len());
    let mut left_out = Vec::new();
    // How many blocks are open since the text that is repeated began.
    let mut repeated = 0_usize;
    for piece in template.pieces() {
        match piece {
            Piece::Text(text) if repeated == 0 => push_plain(text, &mut out, &mut left_out),
            Piece::Part(TemplatePart::Open { .. }, _) if repeated > 0 => repeated += 1,
            Piece::Part(TemplatePart::Close { .. }, _) => repeated = repeated.saturating_sub(1),
            _ if repeated > 0 => {}
            Piece::Part(part, _) if part.literal().is_some() => {
                push_plain(part.literal().unwrap_or_default(), &mut out, &mut left_out);
            }
            Piece::Part(part, written) if part.mention(written).is_some() => {
                out.push_str(part.mention(written).unwrap_or_default());
            }
            Piece::Part(TemplatePart::Open { block, expr: Some(expr), .. }, written)
                if block.value == "each" =>
            {
                repeated = 1;
                out.push_str(&placeholder(expr, scope).unwrap_or_default());
                left_out.push(format!("a text for each item of {}", written_in(written)));
            }
            Piece::Part(
                TemplatePart::Value { expr, .. } | TemplatePart::SingleBrace { expr, .. },
                written,
            ) => match placeholder(expr, scope) {
                Some(name) => out.push_str(&name),
                None => left_out.push(format!("{} in this text", written_in(written))),
            },
            _ => {}
        }
    }
    // Where something is left out at the start, a space would be left.
    let out = if left_out.is_empty() { out.trim_end() } else { out.trim() };
    (out.to_owned(), left_out)
}

/// Adds plain text. What would be a placeholder in ADL, which has no other notation for it, gets a space.
fn push_plain(text: &str, out: &mut String, left_out: &mut Vec<String>) {
    if text.contains("${") {
        left_out.push("`${` as text".to_owned());
        out.push_str(&text.replace("${", "$ {"));
    } else {
        out.push_str(text);
    }
}

/// `${name}` for the first name in an expression that ADL has.
fn placeholder(expr: &Expr, scope: Scope<'_>) -> Option<String> {
    let mut first = None;
    expr.paths(&mut |path| {
        if first.is_none() {
            first = scope.name(path);
        }
    });
    first.map(|name| format!("${{{name}}}"))
}

/// What is between the braces of a placeholder, as words of a comment.
fn written_in(placeholder: &str) -> &str {
    let inner = placeholder.trim_matches(['{', '}', '!']);
    inner.strip_prefix("#each").unwrap_or(inner).trim()
}
