//! Reads headers: what an item may start with instead of a field.

use super::{Reader, versions::Usage};
use crate::inline;
use crate::schema::{Header, Version};
use crate::tree::HeaderValue;
use agentir_diagnostics::{Edit, Span, Spanned};
use agentir_expr::Name;
use agentir_syntax::outline::Scalar;
use agentir_syntax::text::offset;
use smol_str::SmolStr;

impl<'t, 's: 't> Reader<'t, 's, '_> {
    pub(super) fn bare_name(&self, text: &Scalar<'s>) -> Option<Spanned<Name>> {
        let value = text.value();
        let ok = !value.is_empty()
            && value.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '.' | '-' | '*'));
        ok.then(|| Spanned::new(SmolStr::new(value), text.span))
    }

    /// `name` of `name(…`.
    pub(super) fn name_before_parenthesis(&self, text: &Scalar<'s>) -> Option<Spanned<Name>> {
        let (name, _) = text.raw.split_once('(')?;
        let name = name.trim_end();
        let span = Span::new(text.span.file, text.span.start, text.span.start + offset(name.len()));
        self.bare_name(&Scalar::bare(name, span))
    }

    pub(super) fn header(&mut self, headers: &[Header], text: &Scalar<'s>) -> Option<HeaderValue> {
        let raw = text.raw;
        let first = raw.split([' ', '\t', '(']).next().unwrap_or_default();
        let word = |w: &str| first.eq_ignore_ascii_case(w);
        for header in headers {
            let found = match header {
                Header::Constraint
                    if word("require") || word("warn") || word("limit") || word("restrict") =>
                {
                    text.with_inline(|l| inline::constraint_rule(l, self.problems))
                        .map(|r| HeaderValue::Constraint(Box::new(r)))
                }
                Header::Condition if word("if") || word("when") => {
                    let rest = raw.get(first.len()..).unwrap_or_default();
                    let condition = rest.trim_start();
                    let start = text.span.start + offset(raw.len()) - offset(condition.len());
                    let condition = condition.strip_suffix(':').unwrap_or(condition).trim_end();
                    // `IF condition: ACTION` on one line.
                    let split = condition.rsplit_once(": ").filter(|(_, action)| {
                        let word = action.split_whitespace().next().unwrap_or_default();
                        inline::ActionKind::from_word(word).is_some()
                    });
                    let (condition, action) = match split {
                        Some((condition, action)) => {
                            let at = text.span.end - offset(action.len());
                            let action =
                                Scalar::bare(action, Span::new(text.span.file, at, text.span.end));
                            (
                                condition.trim_end(),
                                action.with_inline(|l| inline::action(l, self.problems)),
                            )
                        }
                        None => (condition, None),
                    };
                    let span = Span::new(text.span.file, start, start + offset(condition.len()));
                    if word("when") {
                        let end = text.span.start + offset(first.len());
                        self.usages.push(Usage {
                            span: Span::new(span.file, text.span.start, end),
                            description: "`WHEN` without a colon".to_owned(),
                            since: Version::Legacy,
                            until: Some((Version::Legacy, "write `WHEN: condition`")),
                            rule: None,
                            fix: Some(Edit {
                                span: Span::new(span.file, end, end),
                                text: ":".to_owned(),
                            }),
                            indicates_version: true,
                        });
                    }
                    let scalar = Scalar::bare(condition, span);
                    Some(HeaderValue::Condition(
                        Box::new(self.condition(&scalar)),
                        action.map(Box::new),
                    ))
                }
                Header::Routing if word("intent") || word("default") => text
                    .with_inline(|l| inline::routing_rule(l, self.problems))
                    .map(|r| HeaderValue::Routing(Box::new(r))),
                Header::Protocol if word("from") => {
                    let body = raw.strip_suffix(':').unwrap_or(raw).trim_end();
                    let scalar = Scalar::bare(
                        body,
                        Span::new(
                            text.span.file,
                            text.span.start,
                            text.span.start + offset(body.len()),
                        ),
                    );
                    scalar
                        .with_inline(|l| inline::protocol_header(l, self.problems))
                        .map(|header| HeaderValue::Protocol(Box::new(header)))
                }
                Header::Signature if raw.contains('(') || raw.contains("->") => {
                    self.tool_signature(text).map(|s| HeaderValue::Signature(Box::new(s)))
                }
                Header::Chain if raw.contains("->") => {
                    text.with_inline(|l| inline::chain(l, self.problems)).map(HeaderValue::Chain)
                }
                Header::Resume if word("resume") => Some(HeaderValue::Resume(text.span)),
                Header::Text => Some(HeaderValue::Text(self.template(text))),
                _ => None,
            };
            if found.is_some() {
                return found;
            }
        }
        None
    }
}
