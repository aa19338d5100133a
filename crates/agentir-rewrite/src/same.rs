//! Whether two texts of a document say the same.

use agentir_diagnostics::{Diagnostic, FileId, Severity};
use agentir_expr::Version;
use agentir_lower::{Language, Lowered, Unit, read_as};
use agentir_syntax::abl::Options;
use agentir_syntax::lines::Lines;
use agentir_syntax::rules;
use serde_json::{Value, json};

/// What makes the structure of a document doubtful.
const BROKEN: &[agentir_diagnostics::RuleName] = &[
    rules::SYNTAX,
    rules::UNTERMINATED_STRING,
    rules::NESTING,
    rules::NOT_TEXT,
    rules::UNFILLED_PLACEHOLDER,
];

/// What a document means, without the places and the hash of its text.
pub(crate) struct Reading {
    /// Read as a part of a document.
    pub(crate) fragment: bool,
    pub(crate) version: Version,
    pub(crate) meaning: Value,
    pub(crate) diagnostics: Vec<Diagnostic>,
}

/// Reads a document; ABL as one of a version, found out if not given.
pub(crate) fn read(
    language: Language,
    file: FileId,
    text: &str,
    version: Option<Version>,
) -> Reading {
    let options = Options { version, fragment: false };
    let whole = read_as(language, file, text, options);
    // What names no agent may be a part of one.
    let fragment = whole.unit.is_none();
    let Lowered { unit, version, diagnostics } = match whole.unit {
        Some(_) => whole,
        None => read_as(language, file, text, Options { fragment: true, ..options }),
    };
    let meaning = match unit {
        Some(Unit::Agent(agent)) => json!({ "agents": [agent] }),
        Some(Unit::Agents { agents, entry, tools, profiles }) => {
            json!({ "agents": agents, "entry": entry, "tools": tools, "profiles": profiles })
        }
        Some(Unit::Profile(profile)) => json!({ "profile": profile }),
        Some(Unit::Tools(library)) => json!({ "library": library }),
        Some(Unit::Settings(_)) | None => Value::Null,
    };
    Reading { fragment, version, meaning: without_hash(meaning), diagnostics }
}

fn without_hash(mut meaning: Value) -> Value {
    for agent in meaning.get_mut("agents").and_then(Value::as_array_mut).into_iter().flatten() {
        if let Some(metadata) = agent.get_mut("metadata").and_then(Value::as_object_mut) {
            metadata.remove("source_hash");
        }
    }
    meaning
}

impl Reading {
    /// The errors that say that lines may not belong together as they were read.
    pub(crate) fn broken(&self) -> Vec<Diagnostic> {
        let broken = |d: &&Diagnostic| d.severity == Severity::Error && BROKEN.contains(&d.rule);
        self.diagnostics.iter().filter(broken).cloned().collect()
    }
}

/// A value that two readings do not have in common.
pub(crate) struct Difference<'r> {
    /// Where it is.
    pub(crate) path: String,
    /// What the first says; null if it says nothing.
    pub(crate) left: &'r Value,
    /// What the second says.
    pub(crate) right: &'r Value,
}

/// What two readings do not have in common.
pub(crate) fn differences<'r>(left: &'r Reading, right: &'r Reading) -> Vec<Difference<'r>> {
    let mut found = Vec::new();
    differ(&left.meaning, &right.meaning, "", &mut found);
    found
}

fn differ<'r>(left: &'r Value, right: &'r Value, at: &str, found: &mut Vec<Difference<'r>>) {
    match (left, right) {
        (Value::Object(left), Value::Object(right)) => {
            let dot = if at.is_empty() { "" } else { "." };
            for (key, value) in left {
                let other = right.get(key).unwrap_or(&Value::Null);
                differ(value, other, &format!("{at}{dot}{key}"), found);
            }
            let new = right.iter().filter(|(key, _)| !left.contains_key(*key));
            found.extend(new.map(|(key, right)| Difference {
                path: format!("{at}{dot}{key}"),
                left: &Value::Null,
                right,
            }));
        }
        (Value::Array(left), Value::Array(right)) if left.len() == right.len() => {
            for (i, (left, right)) in left.iter().zip(right).enumerate() {
                differ(left, right, &format!("{at}[{i}]"), found);
            }
        }
        _ if left != right => found.push(Difference { path: at.to_owned(), left, right }),
        _ => {}
    }
}

/// The first comment that two texts do not have in common.
pub(crate) fn lost_comment(old: (&Lines, &str), new: (&Lines, &str)) -> Option<String> {
    let texts = |(lines, text): (&Lines, &str)| -> Vec<String> {
        lines.comments().map(|c| text.get(c.range()).unwrap_or_default().to_owned()).collect()
    };
    let (old, new) = (texts(old), texts(new));
    let longest = old.len().max(new.len());
    (0..longest).find(|&i| old.get(i) != new.get(i)).map(|i| {
        let text = old.get(i).or(new.get(i)).map_or("", String::as_str);
        format!("the comment `{text}`")
    })
}
