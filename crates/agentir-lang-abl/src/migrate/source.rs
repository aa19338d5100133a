//! A document under migration and the changes collected for it.

use crate::inline::{FlowKind, flow_collection};
use crate::{Document, Field, Format, HeaderValue, Record, Value};
use agentir_diagnostics::{Diagnostic, Edit, FileId, RuleName, Span, Spanned};
use agentir_expr::{Expr, Version};
use agentir_syntax::inline::InlineText;
use agentir_syntax::migrate::Changes;
use agentir_syntax::outline::{Entry, EntryKind, Style};
use agentir_syntax::rules;

/// A document and the versions it is migrated between.
pub struct Source<'a, 't> {
    pub(super) file: FileId,
    pub(super) text: &'a str,
    pub(super) document: &'a Document<'t>,
    pub(super) from: Version,
    pub(super) to: Version,
}

/// How the rows add to the collected changes.
pub(super) trait Collect {
    /// Edits that are applied together or not at all.
    fn edits(&mut self, edits: impl IntoIterator<Item = Edit>);

    /// Replaces a span.
    fn replace(&mut self, span: Span, text: impl Into<String>) {
        self.edits([Edit { span, text: text.into() }]);
    }

    /// Reports a change that an author has to decide.
    fn undecided(&mut self, span: Span, message: String, help: &str) {
        self.undecided_by(rules::LEGACY_FORM, span, message, help);
    }

    /// Reports it under another rule.
    fn undecided_by(&mut self, rule: RuleName, span: Span, message: String, help: &str);
}

impl Collect for Changes {
    fn edits(&mut self, edits: impl IntoIterator<Item = Edit>) {
        self.groups.push(edits.into_iter().collect());
    }

    fn undecided_by(&mut self, rule: RuleName, span: Span, message: String, help: &str) {
        self.findings.push(Diagnostic::warning(rule, span, message).help(help));
    }
}

impl<'a, 't> Source<'a, 't> {
    pub(super) fn slice(&self, span: Span) -> &'a str {
        self.text.get(span.range()).unwrap_or_default()
    }

    pub(super) fn span(&self, start: u32, end: u32) -> Span {
        Span::new(self.file, start, end)
    }

    /// The line ending of the document: that of its first line.
    pub(super) fn line_break(&self) -> &'static str {
        let first = self.text.split('\n').next().unwrap_or_default();
        if first.ends_with('\r') { "\r\n" } else { "\n" }
    }

    /// White space as wide as the text before an offset on its line, for a line to be inserted below;
    /// `None` if that text is more than indentation and dashes.
    pub(super) fn indentation_at(&self, at: u32) -> Option<String> {
        let before = self.text.get(..at as usize)?;
        let line = before.rsplit('\n').next()?.trim_start_matches('\u{feff}');
        line.chars()
            .map(|c| match c {
                ' ' | '\t' => Some(c),
                '-' => Some(' '),
                _ => None,
            })
            .collect()
    }

    /// The keys of an entry, whether written one per line or in braces.
    pub(super) fn keys(&self, entry: &Entry<'t>) -> Vec<Spanned<&'t str>> {
        let below = entry.children().iter().filter_map(|entry| match &entry.kind {
            EntryKind::Pair { key, .. } => Some(Spanned::new(key.text, key.span)),
            _ => None,
        });
        let mut keys: Vec<_> = below.collect();
        if let EntryKind::Pair { value: Some(value), .. } = &entry.kind
            && value.style == Style::Bare
        {
            let input = InlineText::verbatim(value.raw, self.file, value.span.start);
            // Its errors were reported when the document was read.
            if let FlowKind::Map(entries) = flow_collection(input, &mut Vec::new()).kind {
                keys.extend(entries.into_iter().map(|entry| entry.key));
            }
        }
        keys
    }

    /// A keyword in the same case as an existing one.
    pub(super) fn in_case_of(&self, key: Span, word: &str) -> String {
        let upper = !self.slice(key).chars().any(char::is_lowercase);
        if upper { word.to_uppercase() } else { word.to_owned() }
    }

    /// A field's key in the case of the notation.
    pub(super) fn in_notation_case(&self, word: &str) -> String {
        match self.document.format {
            Format::Abl => word.to_uppercase(),
            Format::Yaml => word.to_owned(),
        }
    }

    /// Visits every record of a type.
    pub(super) fn records(&self, ty: &str, visit: &mut dyn FnMut(&'a Record<'t>)) {
        visit_records(&self.document.root, &mut |record| {
            if record.ty.name == ty {
                visit(record);
            }
        });
    }

    /// Visits every expression.
    pub(super) fn exprs(&self, visit: &mut dyn FnMut(&'a Expr)) {
        visit_records(&self.document.root, &mut |record| {
            for header in &record.headers {
                match header {
                    HeaderValue::Condition(condition, _) => {
                        condition.expr().into_iter().for_each(&mut *visit)
                    }
                    HeaderValue::Constraint(rule) => {
                        rule.condition.expr().into_iter().for_each(&mut *visit)
                    }
                    _ => {}
                }
            }
            for field in &record.fields {
                match &field.value {
                    Value::Condition(condition) => {
                        condition.expr().into_iter().for_each(&mut *visit)
                    }
                    Value::Rule(rule) => rule.condition.expr().into_iter().for_each(&mut *visit),
                    Value::Expr(expr) => visit(expr),
                    Value::Assignments(all) => all.iter().for_each(|a| visit(&a.value)),
                    Value::Bindings(all) => all.iter().for_each(|(_, value)| visit(value)),
                    _ => {}
                }
            }
        });
    }
}

/// Visits a record and all records in it. The outline bounds the nesting depth.
pub(super) fn visit_records<'r, 't>(record: &'r Record<'t>, visit: &mut dyn FnMut(&'r Record<'t>)) {
    visit(record);
    for field in &record.fields {
        if let Value::Record(inner) = &field.value {
            visit_records(inner, visit);
        }
    }
    for item in &record.items {
        visit_records(item, visit);
    }
}

/// The record a field holds.
pub(super) fn record_of<'r, 't>(field: &'r Field<'t>) -> Option<&'r Record<'t>> {
    match &field.value {
        Value::Record(record) => Some(record),
        _ => None,
    }
}
