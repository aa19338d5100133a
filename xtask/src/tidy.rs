//! Checks what the compiler does not: the layers of the crates, and where languages are named.

use serde_json::Value;
use std::collections::BTreeMap;
use std::error::Error;
use std::path::Path;
use std::process::Command;
use std::{fs, io};

/// Crates that must not depend on others, although the order of the layers would allow it.
const FORBIDDEN: &[(&str, &str, &str)] = &[
    ("agentir-compare", "agentir-lint", "compares with the analyses, which rules use as well"),
    ("agentir-lint", "agentir-syntax", "rules see AgentIR, not what was written"),
    ("agentir-lint", "agentir-lower", "rules see AgentIR, not what was written"),
    ("agentir-analysis", "agentir-syntax", "analyses see AgentIR, not what was written"),
    ("agentir-analysis", "agentir-lower", "analyses see AgentIR, not what was written"),
    ("agentir-tools", "agentir-lower", "the runtime gets what is lowered"),
];

/// How often the source of a crate above the front ends names a language. A language should be one crate: these
/// numbers only go down.
const LANGUAGES_NAMED: &[(&str, usize)] = &[
    ("agentir-analysis", 29),
    ("agentir-cli", 10),
    ("agentir-compare", 5),
    ("agentir-convert", 15),
    ("agentir-ir-json", 2),
    ("agentir-lint", 87),
    ("agentir-project", 10),
    ("agentir-rewrite", 4),
    ("agentir-runtime", 13),
    ("agentir-scenario", 1),
    ("agentir-solver", 4),
];

/// The crates that may name languages: the front ends, and the tables by language below them.
const NAME_LANGUAGES: &[&str] =
    &["agentir-expr", "agentir-eval", "agentir-grammars", "agentir-syntax", "agentir-lower"];

/// What names a language in source.
const NAMES: &[&str] = &[
    "Dialect::Abl",
    "Dialect::AgentScript",
    "Dialect::Adl",
    "Dialect::KoreXo",
    "Language::Abl",
    "Language::AgentScript",
    "Language::Adl",
    "Language::Python",
    "Language::Xo",
    "is_agent_script(",
    "is_adl(",
    "of_script",
];

/// Checks everything and fails with all that is wrong.
pub fn check(root: &Path) -> Result<(), Box<dyn Error>> {
    let layers = layers(&fs::read_to_string(root.join("ARCHITECTURE.md"))?);
    let crates = crates(root)?;
    let mut problems = wrong_edges(&layers, &crates);
    problems.extend(wrong_numbers(root, &crates)?);
    if problems.is_empty() {
        return Ok(());
    }
    problems.iter().for_each(|problem| eprintln!("{problem}"));
    Err(format!("{} problems in {} crates", problems.len(), crates.len()).into())
}

/// The crates of the table in `ARCHITECTURE.md`, from the lowest layer up, each with its position.
fn layers(text: &str) -> BTreeMap<String, usize> {
    let rows = text.lines().filter_map(|line| line.strip_prefix("| `agentir")?.split('|').next());
    let names = |row: &str| {
        let row = format!("`agentir{row}");
        row.split('`').skip(1).step_by(2).map(str::to_owned).collect::<Vec<_>>()
    };
    rows.flat_map(names).enumerate().map(|(position, name)| (name, position)).collect()
}

/// The published crates, each with the crates of the workspace that it is built with.
fn crates(root: &Path) -> Result<BTreeMap<String, Vec<String>>, Box<dyn Error>> {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--no-deps", "--format-version", "1"])
        .current_dir(root)
        .output()?;
    let metadata: Value = serde_json::from_slice(&output.stdout)?;
    let list = |value: &Value, key: &str| value.get(key).and_then(Value::as_array).cloned();
    let text = |value: &Value, key: &str| value.get(key).and_then(Value::as_str).map(str::to_owned);
    let mut all = BTreeMap::new();
    for package in list(&metadata, "packages").unwrap_or_default() {
        let is_published = package.get("publish").is_none_or(Value::is_null);
        let Some(name) = text(&package, "name").filter(|_| is_published) else { continue };
        let dependencies = list(&package, "dependencies").unwrap_or_default();
        let is_built_with = |d: &&Value| text(d, "kind").as_deref() != Some("dev");
        let names = dependencies.iter().filter(is_built_with).filter_map(|d| text(d, "name"));
        all.insert(name, names.filter(|n| n.starts_with("agentir")).collect());
    }
    Ok(all)
}

/// Edges that go up, edges that are forbidden, and crates without a layer.
fn wrong_edges(
    layers: &BTreeMap<String, usize>,
    crates: &BTreeMap<String, Vec<String>>,
) -> Vec<String> {
    let mut problems = Vec::new();
    for (name, dependencies) in crates {
        let Some(layer) = layers.get(name) else {
            problems.push(format!("`{name}` is not in the table of crates in ARCHITECTURE.md"));
            continue;
        };
        for dependency in dependencies {
            if layers.get(dependency).is_some_and(|below| below >= layer) {
                problems.push(format!("`{name}` depends on `{dependency}`, which is not below it"));
            }
            let why = FORBIDDEN.iter().find(|(from, to, _)| from == name && to == dependency);
            if let Some((.., why)) = why {
                problems.push(format!("`{name}` must not depend on `{dependency}`: it {why}"));
            }
        }
    }
    problems.extend(
        layers
            .keys()
            .filter(|name| !crates.contains_key(*name))
            .map(|name| format!("ARCHITECTURE.md has `{name}`, which is not a crate")),
    );
    problems
}

/// Crates that name languages more often than they may, or less often than the table says.
fn wrong_numbers(
    root: &Path,
    crates: &BTreeMap<String, Vec<String>>,
) -> Result<Vec<String>, io::Error> {
    let mut problems = Vec::new();
    for name in crates.keys().filter(|name| !NAME_LANGUAGES.contains(&name.as_str())) {
        let source = root.join("crates").join(name).join("src");
        let count = if source.is_dir() { occurrences(&source)? } else { 0 };
        let known = LANGUAGES_NAMED.iter().find(|(crate_name, _)| crate_name == name);
        let most = known.map_or(0, |(_, most)| *most);
        if count > most {
            problems.push(format!(
                "`{name}` names languages {count} times, and {most} are allowed: ask a trait or a table of the language"
            ));
        } else if count < most {
            problems.push(format!(
                "`{name}` names languages only {count} times: lower its number in xtask/src/tidy.rs from {most}"
            ));
        }
    }
    Ok(problems)
}

/// How often the Rust files below a folder name a language.
fn occurrences(folder: &Path) -> Result<usize, io::Error> {
    let mut count = 0;
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            count += occurrences(&path)?;
        } else if path.extension().is_some_and(|end| end == "rs") {
            let text = fs::read_to_string(&path)?;
            count += NAMES.iter().map(|name| text.matches(name).count()).sum::<usize>();
        }
    }
    Ok(count)
}

#[cfg(test)]
mod tests {
    use super::{check, layers, wrong_edges};
    use std::collections::BTreeMap;
    use std::path::Path;

    #[test]
    fn the_repository_is_tidy() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        assert!(check(&root).is_ok(), "see the problems above");
    }

    #[test]
    fn edges_go_down() {
        let table = "| crate | contents |\n|---|---|\n| `agentir-a`, `agentir-b` | x |\n| `agentir-c` | y |\n";
        let layers = layers(table);
        let crates = |edges: &[(&str, &[&str])]| -> BTreeMap<String, Vec<String>> {
            let list = |to: &&[&str]| to.iter().map(|name| (*name).to_owned()).collect();
            edges.iter().map(|(from, to)| ((*from).to_owned(), list(to))).collect()
        };
        let right =
            crates(&[("agentir-a", &[]), ("agentir-b", &[]), ("agentir-c", &["agentir-a"])]);
        assert_eq!(wrong_edges(&layers, &right), Vec::<String>::new());
        let wrong =
            crates(&[("agentir-a", &["agentir-c"]), ("agentir-b", &[]), ("agentir-d", &[])]);
        assert_eq!(
            wrong_edges(&layers, &wrong),
            [
                "`agentir-a` depends on `agentir-c`, which is not below it",
                "`agentir-d` is not in the table of crates in ARCHITECTURE.md",
                "ARCHITECTURE.md has `agentir-c`, which is not a crate",
            ]
        );
    }
}
