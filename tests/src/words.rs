//! Word coverage: every word of a document occurs in its IR.
//!
//! A word is a run of letters, digits and `_`, or a number, outside comments, ignoring case. Excluded
//! are the keys in the tables of the language, which have other names in the IR, and `KEYWORDS`, which
//! the IR represents by its structure. User-defined keys are included. Words are counted: one that
//! occurs twice in the document must occur twice in the IR.

use crate::check::File;
use agentir::languages;
use agentir_diagnostics::FileId;
use agentir_lang_abl::outline;
use agentir_lang_abl::schema::{AGENT, FieldType, PROFILE, RecordType, TOOL_LIBRARY};
use agentir_lang_adl::SETTINGS_FILE;
use agentir_lang_agent_script as agent_script;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

/// Words that the IR represents by its structure or omits as defaults: of constraints, routing, calls,
/// templates, and the values for "none".
const KEYWORDS: &[&str] = &[
    "before",
    "calling",
    "returning",
    "results",
    "intent",
    "default",
    "route_to",
    "use",
    "as",
    "into",
    "template",
    "if",
    "optional",
    "false",
    "null",
];

/// The words of the documents that are missing in the IR, with their counts and locations.
#[must_use]
pub fn lost(files: &[File], ir: &Value) -> Vec<String> {
    let mut there: BTreeMap<String, usize> = BTreeMap::new();
    collect(ir, &mut there);
    let mut wanted: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for file in files.iter().filter(|f| !f.name.ends_with("project.json")) {
        for (line, word) in document_words(file) {
            wanted.entry(word).or_default().push(format!("{}:{line}", file.name));
        }
    }
    wanted
        .into_iter()
        .filter_map(|(word, places)| {
            let found = there.get(&word).copied().unwrap_or(0);
            (found < places.len())
                .then(|| format!("`{word}` {found} of {}: {}", places.len(), places.join(" ")))
        })
        .collect()
}

/// Words that the IR represents by its structure: statements, namespaces and types of Agent Script.
const SCRIPT_KEYWORDS: &[&str] = &[
    "actions",
    "and",
    "available",
    "ask",
    "collect",
    "connected_subagent",
    "else",
    "end_session",
    "escalate",
    "false",
    "for",
    "generator",
    "echo",
    "executor",
    "router",
    "if",
    "is",
    "linked",
    "list",
    "llm",
    "message",
    "mutable",
    "none",
    "not",
    "null",
    "or",
    "orchestrator",
    "output",
    "outputs",
    "run",
    "set",
    "setvariables",
    "start_agent",
    "subagent",
    "to",
    "topic",
    "transition",
    "trigger",
    "true",
    "utils",
    "variables",
    "when",
    "with",
];

/// The words of an Agent Script document, each with its line.
fn agent_script_words(file: &File) -> Vec<(usize, String)> {
    let document = agent_script::parse(
        FileId(0),
        &file.text,
        agent_script::Options::default(),
        &mut Vec::new(),
    );
    let mut text = file.text.clone().into_bytes();
    for comment in &document.comments {
        text[comment.range()].fill(b' ');
    }
    let text = String::from_utf8(text).expect("comments are replaced as a whole");
    // Escaped line breaks in strings are not words.
    let text = text.replace("\\n", "  ");
    let mut document_words = Vec::new();
    for (number, line) in text.lines().enumerate() {
        for (word, end) in words(line) {
            let key = line[end..].trim_start().starts_with(':') && script_keys().contains(&word);
            if !key && !SCRIPT_KEYWORDS.contains(&word.as_str()) {
                document_words.push((number + 1, word));
            }
        }
    }
    document_words
}

/// The names of all fields of all tables of Agent Script.
fn script_keys() -> &'static BTreeSet<String> {
    use agent_script::schema::{Dialect, FieldType, RecordType};
    static KEYS: OnceLock<BTreeSet<String>> = OnceLock::new();
    KEYS.get_or_init(|| {
        let mut keys = BTreeSet::new();
        let mut seen = BTreeSet::new();
        let mut open: Vec<&'static RecordType> = Dialect::ALL.iter().map(|d| d.root()).collect();
        open.push(&agent_script::schema::COLLECT);
        while let Some(ty) = open.pop() {
            if !seen.insert(std::ptr::from_ref(ty)) {
                continue;
            }
            open.extend(ty.extends);
            for def in ty.own_fields {
                keys.insert(def.name.to_lowercase());
                match def.field_type {
                    FieldType::Items(ty)
                    | FieldType::Block(ty)
                    | FieldType::Named(ty)
                    | FieldType::Collection(ty)
                    | FieldType::Declarations(ty)
                    | FieldType::Bindings(ty)
                    | FieldType::Type(ty) => open.push(ty),
                    _ => {}
                }
            }
        }
        keys
    })
}

/// Words that the IR represents by its structure: bindings, returns and expressions of ADL.
const ADL_KEYWORDS: &[&str] =
    &["and", "error", "false", "match", "none", "not", "null", "or", "re", "ref", "success"];

/// The words of an ADL document, each with its line.
fn adl_words(file: &File) -> Vec<(usize, String)> {
    let keys = adl_keys();
    let mut document_words = Vec::new();
    for (number, line) in without_comments(file).lines().enumerate() {
        // A step of one word.
        if line.trim().trim_start_matches('-').trim() == "user" {
            continue;
        }
        for (word, end) in words(line) {
            let key = line[end..].trim_start().starts_with(':') && keys.contains(word.as_str());
            // `else if:`
            let key = key || (word == "else" && line[end..].trim_start().starts_with("if:"));
            if !key && !ADL_KEYWORDS.contains(&word.as_str()) {
                document_words.push((number + 1, word));
            }
        }
    }
    document_words
}

/// The keys of all tables of ADL.
fn adl_keys() -> BTreeSet<&'static str> {
    use agentir_lang_adl::schema::{FIELDS, VERBS, companion_keys};
    let fields = FIELDS.iter().flat_map(|f| f.former_names.iter().copied().chain([f.name]));
    let verbs = VERBS.iter().flat_map(|v| companion_keys(v).iter().copied().chain([*v]));
    fields.chain(verbs).chain(["q", "a", "policy"]).collect()
}

/// The words of the signatures and docstrings of Python functions, each with its line. Function
/// bodies are not part of the IR.
fn python_words(file: &File) -> Vec<(usize, String)> {
    let mut document_words = Vec::new();
    let mut signature = false;
    let mut description = false;
    let mut before = false;
    for (number, line) in file.text.lines().enumerate() {
        let code = line.split(" #").next().unwrap_or_default().trim();
        signature |= line.starts_with("def ") || line.starts_with("async def ");
        let quotes = code.matches("\"\"\"").count();
        // A docstring directly follows a signature.
        let begins = before && quotes > 0;
        if signature || begins || description {
            let found = words(code).into_iter().map(|(word, _)| word);
            let keywords = ["async", "def", "none", "int", "str", "bool", "list", "dict", "false"];
            document_words
                .extend(found.filter(|w| !keywords.contains(&w.as_str())).map(|w| (number + 1, w)));
        }
        description = match (begins, description) {
            (true, _) => quotes == 1,
            (false, true) => quotes == 0,
            (false, false) => false,
        };
        before = signature && code.ends_with(':');
        signature &= !code.ends_with(':');
    }
    document_words
}

/// The words of a document that must not be lost, each with its line.
fn document_words(file: &File) -> Vec<(usize, String)> {
    if file.name.ends_with(".agent") {
        return agent_script_words(file);
    }
    if file.name.ends_with(".py") {
        return python_words(file);
    }
    if agentir_lang_adl::is_adl(&file.name, &file.text)
        || languages().detect(&file.name, &file.text).kind == &SETTINGS_FILE
    {
        return adl_words(file);
    }
    let text = without_comments(file);
    let mut document_words = Vec::new();
    for (number, line) in text.lines().enumerate() {
        for (word, end) in words(line) {
            let rest = line[end..].trim_start_matches('?').trim_start();
            let key = rest.starts_with(':') && known_keys().contains(&word)
                // `VOICE INSTRUCTIONS:`
                || rest.split_once(':').is_some_and(|(second, _)| {
                    known_keys().contains(&format!("{word} {}", second.to_lowercase()))
                });
            if !key && !KEYWORDS.contains(&word.as_str()) {
                document_words.push((number + 1, word));
            }
        }
    }
    document_words
}

/// The text with comments blanked out.
fn without_comments(file: &File) -> String {
    let yaml = file.name.ends_with(".yaml") || file.name.ends_with(".yml");
    if yaml {
        // The outline of YAML keeps no comments; in our samples no string holds ` #`.
        let uncommented = |line: &str| {
            let at = line.find('#').filter(|at| line[..*at].ends_with([' ', '\t']) || *at == 0);
            line[..at.unwrap_or(line.len())].to_owned()
        };
        return file.text.lines().map(uncommented).collect::<Vec<_>>().join("\n");
    }
    let mut text = file.text.clone().into_bytes();
    for comment in &outline::parse(FileId(0), &file.text, &mut Vec::new()).comments {
        text[comment.range()].fill(b' ');
    }
    String::from_utf8(text).expect("comments are replaced as a whole")
}

fn collect(value: &Value, into: &mut BTreeMap<String, usize>) {
    let mut add = |text: &str| {
        for (word, _) in words(text) {
            *into.entry(word).or_default() += 1;
        }
    };
    match value {
        Value::Null => {}
        Value::Bool(b) => add(if *b { "true" } else { "false" }),
        Value::Number(n) => add(&n.to_string()),
        Value::String(s) => add(s),
        Value::Array(all) => all.iter().for_each(|v| collect(v, into)),
        Value::Object(map) => {
            map.keys().for_each(|k| add(k));
            map.values().for_each(|v| collect(v, into));
        }
    }
}

/// The words of a text in lower case, numbers without redundant zeros, each with its end.
fn words(text: &str) -> Vec<(String, usize)> {
    let mut words = Vec::new();
    let mut start = None;
    let ends = text.char_indices().map(|(i, c)| (i, Some(c))).chain([(text.len(), None)]);
    for (at, c) in ends {
        let inside = c.is_some_and(|c| c.is_alphanumeric() || c == '_')
            // The point of a number.
            || (c == Some('.')
                && start.is_some_and(|s: usize| text[s..at].bytes().all(|b| b.is_ascii_digit()))
                && text[at + 1..].starts_with(|c: char| c.is_ascii_digit()));
        match (inside, start) {
            (true, None) => start = Some(at),
            (false, Some(from)) => {
                let word = text[from..at].to_lowercase();
                let number = word
                    .parse::<f64>()
                    .ok()
                    .filter(|_| word.starts_with(|c: char| c.is_ascii_digit()));
                words.push((number.map_or(word, |n| n.to_string()), at));
                start = None;
            }
            _ => {}
        }
    }
    words
}

/// The names and aliases of all fields of all tables.
fn known_keys() -> &'static BTreeSet<String> {
    static KEYS: OnceLock<BTreeSet<String>> = OnceLock::new();
    KEYS.get_or_init(|| {
        let mut keys = BTreeSet::new();
        let mut seen = BTreeSet::new();
        let mut open: Vec<&'static RecordType> = vec![&AGENT, &PROFILE, &TOOL_LIBRARY];
        while let Some(ty) = open.pop() {
            if !seen.insert(std::ptr::from_ref(ty)) {
                continue;
            }
            open.extend(ty.items);
            for def in ty.fields {
                keys.insert(def.name.to_lowercase());
                keys.extend(def.aliases.iter().map(|a| a.to_lowercase()));
                records(def.field_type, &mut open);
            }
        }
        keys
    })
}

fn records(field_type: FieldType, into: &mut Vec<&'static RecordType>) {
    match field_type {
        FieldType::Record(ty) => into.push(ty),
        FieldType::OneOf(shapes) => shapes.iter().for_each(|s| records(*s, into)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::{lost, words};
    use crate::check::File;

    #[test]
    fn words_are_letters_and_numbers() {
        let found: Vec<String> =
            words("Ça_va: 1.50, x2.y \"a-b\"").into_iter().map(|w| w.0).collect();
        assert_eq!(found, ["ça_va", "1.5", "x2", "y", "a", "b"]);
    }

    #[test]
    fn of_python_only_signatures_and_descriptions_count() {
        let text =
            "import os\n\ndef f(a, b=3):  # why\n    \"\"\"Does it.\"\"\"\n    return gone\n";
        let file = File { name: "tools.py".to_owned(), text: text.to_owned() };
        let document_words: Vec<String> =
            super::document_words(&file).into_iter().map(|(_, word)| word).collect();
        assert_eq!(document_words, ["f", "a", "b", "3", "does", "it"]);
    }

    #[test]
    fn words_are_counted_and_comments_and_keys_are_not() {
        let text = "GOAL: \"red red\"  # green\nMEMORY:\n  session:\n    - blue\n";
        let file = File { name: "a.abl".to_owned(), text: text.to_owned() };
        let ir = serde_json::json!({ "goal": "red", "memory": [{ "name": "blue" }] });
        assert_eq!(lost(&[file], &ir), ["`red` 1 of 2: a.abl:1 a.abl:1"]);
    }
}
