//! Round-trip check: whether two texts of a document lower to the same IR.

use agentir_diagnostics::{Diagnostic, FileId, Severity};
use agentir_expr::Version;
use agentir_ir_json::{Json, Mode, to_value};
use agentir_syntax::line_layout::LineLayout;
use agentir_syntax::migrate::Difference;
use agentir_syntax::rules;
use agentir_syntax::{Definition, Detected, LoweredFile, ReadOptions};
use serde_json::{Value, json};

/// The rules whose errors make the structure of a document doubtful.
const STRUCTURE_RULES: &[agentir_diagnostics::RuleName] = &[
    rules::SYNTAX,
    rules::UNTERMINATED_STRING,
    rules::NESTING,
    rules::NOT_TEXT,
    rules::UNREADABLE_FILE,
    rules::UNFILLED_PLACEHOLDER,
];

/// The IR of a document as JSON, without spans and the hash of its text, and its diagnostics.
pub(crate) struct Reading {
    /// Whether it was read as a fragment of a document.
    pub(crate) fragment: bool,
    pub(crate) version: Version,
    pub(crate) ir: Value,
    pub(crate) diagnostics: Vec<Diagnostic>,
}

/// Reads a document. `version` is the version of its language; it is detected if `None`.
pub(crate) fn read(
    language: Detected,
    file: FileId,
    text: &str,
    version: Option<Version>,
) -> Reading {
    let options = ReadOptions { version, ..ReadOptions::default() };
    let whole = language.read(file, text, options);
    // A document that names no agent may be a fragment of one.
    let fragment = whole.definition.is_none();
    let LoweredFile { definition, version, diagnostics, .. } = match whole.definition {
        Some(_) => whole,
        None => language.read(file, text, ReadOptions { fragment: true, ..options }),
    };
    let ir = match definition {
        Some(Definition::Agent(agent)) => json!({ "agents": [ir(&agent)] }),
        Some(Definition::Program { agents, entry, tools, profiles, .. }) => json!({
            "agents": ir(&agents),
            "entry": ir(&entry),
            "tools": ir(&tools),
            "profiles": ir(&profiles),
        }),
        Some(Definition::Profile(profile)) => json!({ "profile": ir(&profile) }),
        Some(Definition::Tools(library)) => json!({ "library": ir(&library) }),
        // AgentIR itself is not rewritten.
        Some(Definition::Settings(_) | Definition::Whole(_)) | None => Value::Null,
    };
    Reading { fragment, version, ir: without_hash(ir), diagnostics }
}

fn ir(part: &impl Json) -> Value {
    to_value(part, Mode::Plain)
}

fn without_hash(mut ir: Value) -> Value {
    for agent in ir.get_mut("agents").and_then(Value::as_array_mut).into_iter().flatten() {
        if let Some(metadata) = agent.get_mut("metadata").and_then(Value::as_object_mut) {
            metadata.remove("source_hash");
            metadata.remove("language_version");
        }
    }
    ir
}

impl Reading {
    /// The errors because of which lines may have been grouped wrongly.
    pub(crate) fn structure_errors(&self) -> Vec<Diagnostic> {
        let broken =
            |d: &&Diagnostic| d.severity == Severity::Error && STRUCTURE_RULES.contains(&d.rule);
        self.diagnostics.iter().filter(broken).cloned().collect()
    }
}

/// The values that differ between two readings.
pub(crate) fn differences<'r>(left: &'r Reading, right: &'r Reading) -> Vec<Difference<'r>> {
    let mut found = Vec::new();
    collect_differences(&left.ir, &right.ir, "", &mut found);
    found
}

fn collect_differences<'r>(
    left: &'r Value,
    right: &'r Value,
    at: &str,
    found: &mut Vec<Difference<'r>>,
) {
    match (left, right) {
        (Value::Object(left), Value::Object(right)) => {
            let dot = if at.is_empty() { "" } else { "." };
            for (key, value) in left {
                let other = right.get(key).unwrap_or(&Value::Null);
                collect_differences(value, other, &format!("{at}{dot}{key}"), found);
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
                collect_differences(left, right, &format!("{at}[{i}]"), found);
            }
        }
        _ if left != right => found.push(Difference { path: at.to_owned(), left, right }),
        _ => {}
    }
}

/// Describes the first comment that differs between two texts.
pub(crate) fn changed_comment(
    old: (&LineLayout, &str),
    new: (&LineLayout, &str),
) -> Option<String> {
    let texts = |(lines, text): (&LineLayout, &str)| -> Vec<String> {
        lines.comments().map(|c| text.get(c.range()).unwrap_or_default().to_owned()).collect()
    };
    let (old, new) = (texts(old), texts(new));
    let longest = old.len().max(new.len());
    (0..longest).find(|&i| old.get(i) != new.get(i)).map(|i| {
        let text = old.get(i).or(new.get(i)).map_or("", String::as_str);
        format!("the comment `{text}`")
    })
}
