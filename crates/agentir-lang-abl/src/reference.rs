//! All words of ABL, with what is said of them.

use crate::context::shapes;
use crate::inline::{Abl, ActionKind, BLOCKS};
use crate::runtime_names::RUNTIME;
use crate::schema::{AGENT, FieldDef, FieldType, Need, PROFILE, Part, TOOL_LIBRARY, docs, walk};
use agentir_expr::{Function, METHODS_SOURCE, functions, methods};
use agentir_syntax::context::in_words;
use agentir_syntax::docs::Documented;
use agentir_syntax::inline::following::Following as _;
use smol_str::SmolStr;

/// All words of the language: the fields of its records with their values, keywords, operators, types and functions.
pub(crate) fn reference() -> Vec<Documented> {
    let mut records = Vec::new();
    for root in [&AGENT, &PROFILE, &TOOL_LIBRARY] {
        walk(root, &mut records);
    }
    let mut all = Vec::new();
    for record in &records {
        let is_known = |one: &Documented| (one.record, one.field) == (record.name, "name");
        if record.has_implicit_name() && !all.iter().any(is_known) {
            let doc = docs().field(record.name, "name");
            let name = Documented::word("", "name", doc);
            all.push(Documented { record: record.name, field: "name", ..name });
        }
        // Records of one name have one heading.
        for field in record.fields {
            if !all
                .iter()
                .any(|one: &Documented| (one.record, one.field) == (record.name, field.name))
            {
                of_field(record.name, field, &mut all);
            }
        }
    }
    let mut words: Vec<(&'static str, String)> = Vec::new();
    let mut add = |word: &'static str, shape: &str| {
        if !words.iter().any(|(known, _)| *known == word) {
            words.push((word, shape.to_owned()));
        }
    };
    for (word, kind) in ActionKind::WORDS {
        add(word, if kind.takes_target() { "name or text" } else { "" });
    }
    for header in records.iter().flat_map(|record| record.headers) {
        shapes::words_of(*header).into_iter().for_each(|word| add(word, shapes::after(*header)));
    }
    for spelling in Abl::SPELLINGS {
        add(spelling.text, spelling.means);
        // Its second word is offered behind the first.
        for (at, _) in spelling.text.match_indices(' ') {
            add(spelling.text.get(at + 1..).unwrap_or_default(), "");
        }
    }
    BLOCKS.into_iter().for_each(|word| add(word, "block in a text"));
    agentir_ir::FIELD_TYPES.iter().for_each(|word| add(word, "type"));
    RUNTIME.namespaces.iter().for_each(|space| add(space.name, space.holds));
    let words = words.into_iter();
    all.extend(words.map(|(word, shape)| Documented::word(word, shape, docs().word(word))));
    let of = |f: &Function| Documented::word(f.name, f.signature(), (f.summary, f.source));
    all.extend(functions().iter().map(of));
    all.extend(methods().iter().map(|method| {
        let shape = format!("value.{}", method.signature());
        Documented::word(method.name, shape, (method.summary, METHODS_SOURCE))
    }));
    all
}

fn of_field(record: &'static str, field: &'static FieldDef, all: &mut Vec<Documented>) {
    all.push(Documented {
        record,
        field: field.name,
        word: SmolStr::default(),
        shape: in_words(&shapes::of(field.field_type, field.names)),
        required: field.need == Need::Required,
        doc: docs().field(record, field.name),
    });
    let mut values = Vec::new();
    values_of(field.field_type, &mut values);
    for part in field.patterns.iter().copied().flatten() {
        values.push(match part {
            Part::Word(word) => word,
            Part::Name(_) => "*",
        });
    }
    let mut seen: Vec<&str> = Vec::new();
    for word in values {
        if !seen.contains(&word) {
            seen.push(word);
            let doc = docs().value(record, field.name, word);
            all.push(Documented::value(record, field.name, word, doc));
        }
    }
}

/// The words that a value may be. Types are words of the language.
fn values_of(field_type: FieldType, all: &mut Vec<&'static str>) {
    match field_type {
        FieldType::Enum(words) | FieldType::Choices(words)
            if !std::ptr::eq(words, agentir_ir::FIELD_TYPES) =>
        {
            all.extend(words);
        }
        FieldType::OneOf(types) => types.iter().for_each(|one| values_of(*one, all)),
        _ => {}
    }
}
