//! A document that is brought into another version, and what is to be done to it.

use super::profiles::NewFile;
use agentir_diagnostics::{Diagnostic, Edit, FileId, RuleName, Span, Spanned};
use agentir_expr::{Expr, Version};
use agentir_syntax::abl::leaf::{FlowKind, flow_collection};
use agentir_syntax::abl::{Document, Field, Format, HeadValue, Record, Value};
use agentir_syntax::leaf::Leaf;
use agentir_syntax::outline::{Entry, EntryKind, Style};
use agentir_syntax::rules;

/// A document and the versions it goes between.
pub struct Source<'a, 't> {
    pub(super) file: FileId,
    pub(super) text: &'a str,
    pub(super) document: &'a Document<'t>,
    pub(super) from: Version,
    pub(super) to: Version,
}

/// What is to be done.
#[derive(Default)]
pub struct Changes {
    /// Edits; those of one group belong together.
    pub(super) groups: Vec<Vec<Edit>>,
    /// What cannot be decided.
    pub(super) findings: Vec<Diagnostic>,
    /// What comes out of the document.
    pub(super) files: Vec<NewFile>,
}

impl Changes {
    pub(super) fn edits(&mut self, edits: impl IntoIterator<Item = Edit>) {
        self.groups.push(edits.into_iter().collect());
    }

    /// Replaces one place.
    pub(super) fn replace(&mut self, span: Span, text: impl Into<String>) {
        self.edits([Edit { span, text: text.into() }]);
    }

    /// Something that has to be decided by somebody who knows.
    pub(super) fn undecided(&mut self, span: Span, message: String, help: &str) {
        self.undecided_by(rules::LEGACY_FORM, span, message, help);
    }

    pub(super) fn undecided_by(&mut self, rule: RuleName, span: Span, message: String, help: &str) {
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

    /// The line break of the document.
    pub(super) fn line_break(&self) -> &'static str {
        if self.text.contains("\r\n") { "\r\n" } else { "\n" }
    }

    /// White space as wide as what stands before a place on its line, for a line that is to stand
    /// below it; `None` if there is more than indentation and dashes before it.
    pub(super) fn margin(&self, at: u32) -> Option<String> {
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

    /// The keys below an entry, whether they stand one a line or in braces behind it.
    pub(super) fn keys(&self, entry: &Entry<'t>) -> Vec<Spanned<&'t str>> {
        let below = entry.children().iter().filter_map(|entry| match &entry.kind {
            EntryKind::Pair { key, .. } => Some(Spanned::new(key.text, key.span)),
            _ => None,
        });
        let mut keys: Vec<_> = below.collect();
        if let EntryKind::Pair { value: Some(value), .. } = &entry.kind
            && value.style == Style::Bare
        {
            let leaf = Leaf::verbatim(value.raw, self.file, value.span.start);
            // What is wrong with it was said when the document was read.
            if let FlowKind::Map(entries) = flow_collection(leaf, &mut Vec::new()).kind {
                keys.extend(entries.into_iter().map(|entry| entry.key));
            }
        }
        keys
    }

    /// A keyword in the case of the one that is written here.
    pub(super) fn like(&self, key: Span, word: &str) -> String {
        let upper = !self.slice(key).chars().any(char::is_lowercase);
        if upper { word.to_uppercase() } else { word.to_owned() }
    }

    /// A key of a field in the case of the notation.
    pub(super) fn key(&self, word: &str) -> String {
        match self.document.format {
            Format::Abl => word.to_uppercase(),
            Format::Yaml => word.to_owned(),
        }
    }

    /// Every record of a type.
    pub(super) fn records(&self, ty: &str, found: &mut dyn FnMut(&'a Record<'t>)) {
        each(&self.document.root, &mut |record| {
            if record.ty.name == ty {
                found(record);
            }
        });
    }

    /// Every expression.
    pub(super) fn exprs(&self, found: &mut dyn FnMut(&'a Expr)) {
        each(&self.document.root, &mut |record| {
            for head in &record.heads {
                match head {
                    HeadValue::Condition(condition, _) => {
                        condition.expr().into_iter().for_each(&mut *found)
                    }
                    HeadValue::Constraint(rule) => {
                        rule.condition.expr().into_iter().for_each(&mut *found)
                    }
                    _ => {}
                }
            }
            for field in &record.fields {
                match &field.value {
                    Value::Condition(condition) => {
                        condition.expr().into_iter().for_each(&mut *found)
                    }
                    Value::Rule(rule) => rule.condition.expr().into_iter().for_each(&mut *found),
                    Value::Expr(expr) => found(expr),
                    Value::Assignments(all) => all.iter().for_each(|a| found(&a.value)),
                    Value::Bindings(all) => all.iter().for_each(|(_, value)| found(value)),
                    _ => {}
                }
            }
        });
    }
}

/// Every record in a record, and that itself. Outlines bound how deep they nest.
pub(super) fn each<'r, 't>(record: &'r Record<'t>, found: &mut dyn FnMut(&'r Record<'t>)) {
    found(record);
    for field in &record.fields {
        if let Value::Record(inner) = &field.value {
            each(inner, found);
        }
    }
    for item in &record.items {
        each(item, found);
    }
}

/// The record that a field holds.
pub(super) fn record_of<'r, 't>(field: &'r Field<'t>) -> Option<&'r Record<'t>> {
    match &field.value {
        Value::Record(record) => Some(record),
        _ => None,
    }
}
