//! All words of Agent Script, with what is said of them.

use crate::context::shapes;
use crate::dialect::AGENT_SCRIPT;
use crate::docs::docs;
use crate::inline::AgentScript;
use crate::reader::statement::KEYWORDS;
use crate::schema::{COLLECT, Dialect, FieldType, Limit, TYPES, walk};
use crate::tree::Modifier;
use agentir_expr::dialect::Functions;
use agentir_syntax::context::in_words;
use agentir_syntax::docs::Documented;
use agentir_syntax::inline::following::Following as _;
use smol_str::SmolStr;

/// The fields of all blocks of all dialects with their values, keywords, operators, types, references and functions.
pub(crate) fn reference() -> Vec<Documented> {
    let mut all: Vec<Documented> = Vec::new();
    let mut references: Vec<String> = Vec::new();
    for dialect in Dialect::ALL {
        let mut records = Vec::new();
        walk(dialect.root(), &mut records);
        walk(&COLLECT, &mut records);
        for record in records {
            for field in record.fields() {
                let doc = record.doc(field.name);
                let is_same = |one: &Documented| {
                    (one.record, one.field, one.doc) == (record.name, field.name, doc)
                };
                if let FieldType::Reference(namespaces) = field.field_type {
                    references.extend(namespaces.iter().map(|name| format!("@{name}")));
                }
                // Dialects share most of their blocks.
                if all.iter().any(is_same) {
                    continue;
                }
                all.push(Documented {
                    record: record.name,
                    field: field.name,
                    word: SmolStr::default(),
                    shape: in_words(&shapes(field)),
                    required: field.required,
                    doc,
                });
                if let Limit::OneOf(words) = field.limit {
                    all.extend(words.iter().map(|word| {
                        let doc = docs().value(record.name, field.name, word);
                        Documented::value(record.name, field.name, word, doc)
                    }));
                }
            }
        }
    }
    let mut words: Vec<(&'static str, &'static str)> = Vec::new();
    words.extend(KEYWORDS.iter().map(|keyword| (keyword.words, keyword.then)));
    // What the clauses of statements go on with.
    words.extend([("else if", "condition"), ("when", "condition"), ("for", "variable")]);
    words.extend([("|", "text with placeholders"), ("->", "statements")]);
    words.extend(Modifier::WORDS.iter().map(|(word, _)| (*word, "type")));
    words.extend(AgentScript::SPELLINGS.iter().map(|one| (one.text, one.means)));
    words.extend(TYPES.iter().map(|(name, _)| (*name, "type")));
    words.extend(Dialect::ALL.iter().map(|dialect| (dialect.name(), "dialect")));
    if let Functions::Listed(names) = AGENT_SCRIPT.functions() {
        words.extend(names.iter().map(|name| (*name, "function")));
    }
    let mut seen: Vec<&str> = Vec::new();
    for (word, shape) in words {
        if !seen.contains(&word) {
            seen.push(word);
            all.push(Documented::word(word, shape, docs().word(word)));
        }
    }
    for space in AGENT_SCRIPT.runtime().references {
        references.push(format!("@{}", space.name));
        let members = space.members.into_iter().flatten();
        references.extend(members.map(|member| format!("@{}.{member}", space.name)));
    }
    for target in Dialect::ALL.iter().flat_map(|dialect| dialect.targets()) {
        references.push(format!("@{target}"));
    }
    references.sort_unstable();
    references.dedup();
    all.extend(
        references.iter().map(|name| Documented::word(name, "reference", docs().word(name))),
    );
    all
}
