//! All words of ADL, with what is said of them.

use crate::config::settings;
use crate::context::{shapes, step_shapes};
use crate::dialect::ADL;
use crate::docs::docs;
use crate::inline::Adl;
use crate::schema::{AgentKind, FIELDS, FieldType, VERBS, companion_keys};
use agentir_expr::dialect::Entry as Beginning;
use agentir_syntax::context::{Shape, in_words};
use agentir_syntax::docs::Documented;
use agentir_syntax::inline::following::Following as _;

/// The keys of agents, of steps and of settings with their values, keywords, operators and functions.
pub(crate) fn reference() -> Vec<Documented> {
    let mut all: Vec<Documented> = Vec::new();
    let mut key = |record: &'static str, field: &'static str, shapes: &[Shape]| {
        if !all.iter().any(|one| (one.record, one.field) == (record, field)) {
            let doc = docs().field(record, field);
            let shape = in_words(shapes);
            all.push(Documented { record, field, ..Documented::word("", shape, doc) });
        }
    };
    if let Beginning::Named(name) = ADL.traits().entry {
        key("program", name, &[Shape::Record("agent")]);
    }
    for field in FIELDS {
        key("agent", field.name, &shapes(field));
    }
    key("question", "q", &[Shape::Text]);
    key("question", "a", &[Shape::Text]);
    key("step", "user", &[]);
    for verb in VERBS {
        key("step", verb, &step_shapes(verb));
        companion_keys(verb).iter().for_each(|name| key("step", name, &step_shapes(name)));
    }
    for (name, is_switch, _) in settings() {
        key("settings", name, &[if is_switch { Shape::Boolean } else { Shape::Text }]);
    }
    let policies = FIELDS.iter().filter(|field| field.field_type == FieldType::Policy);
    let kinds = AgentKind::NAMES.into_iter().map(|name| ("agent", "type", name));
    let policies = policies.map(|field| ("agent", field.name, "default"));
    let results = ["success", "error"].into_iter().map(|word| ("step", "return", word));
    all.extend(kinds.chain(policies).chain(results).map(|(record, field, word)| {
        Documented::value(record, field, word, docs().value(record, field, word))
    }));
    let spelled = Adl::SPELLINGS.iter().flat_map(|spelling| {
        // Its second word is offered behind the first.
        let rest = spelling.text.match_indices(' ');
        let rest = rest.filter_map(|(at, _)| spelling.text.get(at + 1..));
        std::iter::once(spelling.text).chain(rest)
    });
    let words = spelled.chain(["true", "false", "null"]);
    all.extend(words.map(|word| Documented::word(word, "", docs().word(word))));
    all
}
