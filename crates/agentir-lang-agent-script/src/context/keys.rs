//! The keys and keywords that may begin a line.

use super::{FILE, Search, shapes};
use crate::outline::{BranchKind, Entry, EntryKind, Inline};
use crate::reader::statement::{KEYWORDS, StatementContext};
use crate::schema::{Deprecation, FieldDef, FieldType, RecordType, V3_2};
use agentir_syntax::context::{Expected, ExpectedKind, Position, Shape, in_words};

impl Search<'_, '_> {
    /// Says which field the key at the offset is.
    pub(super) fn own_key(&mut self, ty: &'static RecordType) {
        self.context.position = Position::Key;
        self.context.field = None;
        self.context.shapes.clear();
        if let Some(def) = ty.field(self.cursor.word_text()) {
            let shapes = shapes(def);
            self.set_field(ty, def, self.cursor.word(FILE), &shapes);
        }
    }

    /// Adds the fields that a record may have and lacks.
    pub(super) fn fields(&mut self, ty: &'static RecordType, entries: &[Entry<'_>]) {
        for def in ty.fields() {
            if self.is_current(def) && !is_taken(def, entries) && is_possible(def, entries) {
                let one = self.key(def).documented(ty.doc(def.name));
                self.context.expected.push(one);
            }
        }
    }

    /// Whether the version of the script has a field, under this name.
    fn is_current(&self, def: &FieldDef) -> bool {
        let applies = |deprecation: &Deprecation| {
            deprecation.since.is_none_or(|since| self.version.is_none_or(|own| own >= since))
        };
        let is_known = def.since.is_none_or(|since| self.version.is_none_or(|own| own >= since));
        is_known && !def.deprecated.as_ref().is_some_and(applies)
    }

    fn key(&self, def: &'static FieldDef) -> Expected {
        let name = def.name.trim_end_matches('*');
        let insert = if name.len() < def.name.len() || self.cursor.has_colon() {
            name.to_owned()
        } else {
            match def.field_type {
                FieldType::Named(_) => format!("{name} "),
                FieldType::Procedure(_) => format!("{name}: ->"),
                FieldType::Items(_)
                | FieldType::Block(_)
                | FieldType::Collection(_)
                | FieldType::Declarations(_)
                | FieldType::Bindings(_)
                | FieldType::Values
                | FieldType::Open => format!("{name}:"),
                _ => format!("{name}: "),
            }
        };
        let one = Expected::word(ExpectedKind::Field, def.name, in_words(&shapes(def)));
        Expected { required: def.required, ..one.inserting(insert) }
    }

    /// Adds the keywords of statements.
    pub(super) fn keywords(&mut self, entries: &[Entry<'_>], context: StatementContext) {
        self.context.position = Position::Key;
        self.context.add_shape(Shape::Statement);
        if context == StatementContext::In(crate::schema::ProcedureKind::Prompt) {
            let text = Expected::word(ExpectedKind::Keyword, "|", "text with placeholders");
            self.context.expected.push(text.inserting("| "));
        }
        let continues = self.continues_condition(entries);
        for keyword in KEYWORDS.iter().filter(|keyword| keyword.contexts.contains(&context)) {
            let is_current = match keyword.words {
                // The rows of its fields say the same of `message` and `instructions`.
                "collect" => self.version.is_some_and(|own| own < V3_2),
                "ask for" => self.version.is_none_or(|own| own >= V3_2),
                "else" => continues,
                _ => true,
            };
            if is_current {
                self.keyword(keyword.words, keyword.then);
            }
        }
        if continues {
            self.keyword("else if", "condition");
        }
    }

    fn keyword(&mut self, words: &'static str, then: &'static str) {
        let insert = match words {
            "else" => "else:".to_owned(),
            _ => format!("{words} "),
        };
        let one = Expected::word(ExpectedKind::Keyword, words, then);
        self.context.expected.push(one.inserting(insert));
    }

    /// Whether the entry before the marker is a condition that may go on.
    fn continues_condition(&self, entries: &[Entry<'_>]) -> bool {
        let before = entries.iter().take_while(|entry| entry.end <= self.marked.at).last();
        match before.map(|entry| &entry.kind) {
            Some(EntryKind::Conditional(branches)) => {
                branches.last().is_some_and(|last| last.kind != BranchKind::Else)
            }
            _ => false,
        }
    }
}

/// Whether a record has a field that it may have only once.
fn is_taken(def: &FieldDef, entries: &[Entry<'_>]) -> bool {
    let repeats = matches!(def.field_type, FieldType::Named(_)) && !def.singular;
    !repeats && value_of(entries, def.name).is_some()
}

/// Whether a record has what gives a field its meaning.
fn is_possible(def: &FieldDef, entries: &[Entry<'_>]) -> bool {
    let Some((other, values)) = def.requires else { return true };
    value_of(entries, other)
        .is_some_and(|written| values.is_empty() || values.contains(&written.trim_matches('"')))
}

/// The text behind a key.
fn value_of<'s>(entries: &[Entry<'s>], name: &str) -> Option<&'s str> {
    entries.iter().find_map(|entry| match &entry.kind {
        EntryKind::Pair { key, value } if key.name == name => Some(match value {
            Inline::Text(text) => text.raw,
            _ => "",
        }),
        _ => None,
    })
}
