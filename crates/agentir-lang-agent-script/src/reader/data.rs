//! Reads entries without a table: unknown blocks and free-form ones.

use super::super::inline::{EntryPoint, Parsed};
use super::super::outline::{Entry, EntryKind, Inline, Key, Text};
use super::super::template;
use super::super::tree::{Data, Procedure, Unknown};
use super::Reader;
use super::statement::StatementContext;
use agentir_diagnostics::{Diagnostic, Span, Spanned};
use agentir_expr::Name;
use agentir_syntax::rules;

impl<'s> Reader<'s, '_> {
    /// `key: …` without a row in the table.
    pub(super) fn unknown_pair(
        &mut self,
        key: Key<'s>,
        value: Inline<'s>,
        children: Vec<Entry<'s>>,
        span: Span,
    ) -> Unknown<'s> {
        let file = self.file();
        Unknown {
            key: Some(Spanned::new(Name::new(key.name), key.span(file))),
            name: key
                .instance
                .map(|i| Spanned::new(Name::new(i.raw.trim_matches('"')), i.span(file))),
            data: self.data(value, children),
            span,
        }
    }

    pub(super) fn unknowns(&mut self, entries: Vec<Entry<'s>>) -> Vec<Unknown<'s>> {
        entries.into_iter().map(|entry| self.unknown(entry)).collect()
    }

    fn unknown(&mut self, entry: Entry<'s>) -> Unknown<'s> {
        let span = entry.span(self.file());
        match entry.kind {
            EntryKind::Pair { key, value } => self.unknown_pair(key, value, entry.children, span),
            _ => Unknown { key: None, name: None, data: self.data_of(entry), span },
        }
    }

    /// The content of an entry that was reported as a whole: what is wrong inside of it follows from that.
    pub(super) fn rejected(&mut self, entry: Entry<'s>) -> Data<'s> {
        let reported = self.reading.problems.len();
        let data = self.data_of(entry);
        self.reading.problems.truncate(reported);
        data
    }

    /// An entry that is not a field.
    pub(super) fn data_of(&mut self, entry: Entry<'s>) -> Data<'s> {
        match entry.kind {
            EntryKind::Item => self.item(entry.children),
            EntryKind::Pair { .. } => Data::Map(vec![self.unknown(entry)]),
            _ => Data::Procedure(Procedure {
                arrow: None,
                statements: self.statements(vec![entry], StatementContext::Unknown),
            }),
        }
    }

    /// The content after a dash.
    fn item(&mut self, mut entries: Vec<Entry<'s>>) -> Data<'s> {
        if let [Entry { kind: EntryKind::Line(_), .. }] = entries.as_slice()
            && let Some(Entry { kind: EntryKind::Line(text), children, .. }) = entries.pop()
        {
            return self.data(Inline::Text(text), children);
        }
        self.data(Inline::Nothing, entries)
    }

    /// The value after a colon, and its nested entries.
    pub(super) fn data(&mut self, inline: Inline<'s>, children: Vec<Entry<'s>>) -> Data<'s> {
        match inline {
            Inline::Nothing => self.block(children),
            Inline::Template(raw) => Data::Text(template::block(&mut self.reading, raw)),
            Inline::Arrow(at, behind) => {
                if let Some(text) = behind {
                    let span = text.span(self.file());
                    self.report(Diagnostic::error(
                        rules::SYNTAX,
                        span,
                        "statements begin on the line below `->`",
                    ));
                }
                Data::Procedure(Procedure {
                    arrow: Some(Span::new(self.file(), at, at + 2)),
                    statements: self.statements(children, StatementContext::Unknown),
                })
            }
            Inline::Text(text) => self.inline(text, children),
        }
    }

    fn block(&mut self, children: Vec<Entry<'s>>) -> Data<'s> {
        let mut items = 0usize;
        let mut pairs = 0usize;
        for child in &children {
            match child.kind {
                EntryKind::Item => items += 1,
                EntryKind::Pair { .. } => pairs += 1,
                _ => {
                    return Data::Procedure(Procedure {
                        arrow: None,
                        statements: self.statements(children, StatementContext::Unknown),
                    });
                }
            }
        }
        if items > 0 && pairs > 0 {
            let first = children.iter().find(|c| matches!(c.kind, EntryKind::Item));
            let at = first.map(|c| self.first_line_of(c.span(self.file()))).unwrap_or_default();
            self.report(Diagnostic::error(
                rules::SYNTAX,
                at,
                "fields and sequence items cannot be mixed",
            ));
        }
        if children.is_empty() {
            return Data::Nothing;
        }
        let all = self.unknowns(children);
        if items > 0 && pairs == 0 { Data::List(all) } else { Data::Map(all) }
    }

    /// A value of unknown shape: a text, an expression, a declaration or a tool.
    fn inline(&mut self, text: Text<'s>, children: Vec<Entry<'s>>) -> Data<'s> {
        if text.quoted && children.is_empty() {
            let inner = text.raw.get(1..text.raw.len() - 1).unwrap_or_default();
            let span = text.span(self.file());
            return Data::Text(template::quoted(&mut self.reading, inner, span));
        }
        let failure = match self.reading.attempt(text.raw, text.start, EntryPoint::Binding) {
            Ok(Parsed::Binding(expr, targets)) => {
                let tool = !targets.is_empty()
                    || children.iter().any(|c| !matches!(c.kind, EntryKind::Pair { .. }));
                return if tool {
                    let statements = self.statements(children, StatementContext::Unknown);
                    Data::Bound(*expr, targets, Procedure { arrow: None, statements })
                } else {
                    Data::Expr(*expr, self.unknowns(children))
                };
            }
            Ok(_) => None,
            Err(failure) => Some(failure),
        };
        if let Ok(Parsed::Declaration(declared)) =
            self.reading.attempt(text.raw, text.start, EntryPoint::Declaration)
        {
            return Data::Declared(declared, self.unknowns(children));
        }
        self.reading.problems.extend(failure.and_then(|f| f.diagnostic()));
        let below = self.unknowns(children);
        self.misplaced.extend(below);
        Data::Invalid(text.raw)
    }
}
