//! Public Agent Script documents, with the verdict of the official tools on each. They are not part
//! of the repository; without them, nothing is tested here.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

use agentir_diagnostics::{Diagnostic, FileId, RuleName, Severity};
use agentir_syntax::agent_script::{Options, parse};
use agentir_syntax::rules;
use std::path::{Path, PathBuf};

/// The rules that say that a text is no Agent Script, whatever its tables say.
const SYNTAX: &[RuleName] = &[
    rules::SYNTAX,
    rules::UNTERMINATED_STRING,
    rules::NESTING,
    rules::INVALID_EXPRESSION,
    rules::INVALID_TEMPLATE,
    rules::EXPRESSION_TOO_DEEP,
    rules::UNFILLED_PLACEHOLDER,
];

/// Files that the official parser accepts and we do not, or the other way round, and why.
const REVIEWED: &[(&str, &str)] = &[];

fn corpus() -> Option<PathBuf> {
    let given = std::env::var_os("AGENTIR_EXTERNAL_CORPUS").map(PathBuf::from);
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    [given, Some(manifest.join("../../../shared/corpus"))]
        .into_iter()
        .flatten()
        .map(|root| root.join("agentscript"))
        .find(|root| root.join("official-verdicts.json").is_file())
}

fn shown(text: &str, d: &Diagnostic) -> String {
    let line =
        text.as_bytes()[..d.primary.span.start as usize].iter().filter(|b| **b == b'\n').count()
            + 1;
    format!("  {line}: {}: {} / {}", d.rule.0, d.message, d.help.clone().unwrap_or_default())
}

#[test]
fn the_official_verdicts() {
    let Some(root) = corpus() else { return };
    let verdicts = std::fs::read_to_string(root.join("official-verdicts.json")).unwrap();
    let verdicts: serde_json::Map<String, serde_json::Value> =
        serde_json::from_str(&verdicts).unwrap();
    assert!(verdicts.len() > 100);
    let verbose = std::env::var_os("AGENTIR_VERBOSE").is_some();
    let mut wrong = Vec::new();
    for (name, verdict) in &verdicts {
        let text = std::fs::read_to_string(root.join(name)).unwrap();
        let mut problems = Vec::new();
        let document = parse(FileId(0), &text, Options::default(), &mut problems);
        let official = verdict["parseErrors"].as_u64().unwrap();
        let ours: Vec<String> = problems
            .iter()
            .filter(|d| d.severity == Severity::Error && SYNTAX.contains(&d.rule))
            .map(|d| shown(&text, d))
            .collect();
        if verbose && !problems.is_empty() {
            eprintln!("{name}  ({official} official parse errors, {})", verdict["lint"]);
            for d in &problems {
                eprintln!("{}", shown(&text, d));
            }
        }
        assert_eq!(document.dialect.name(), verdict["dialect"], "{name}");
        let reviewed = REVIEWED.iter().any(|(file, _)| name.ends_with(file));
        if (official > 0) == ours.is_empty() && !reviewed {
            wrong.push(format!("{name}: {official} official\n{}", ours.join("\n")));
        }
    }
    assert!(wrong.is_empty(), "{} files:\n{}", wrong.len(), wrong.join("\n"));
}
