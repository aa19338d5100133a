//! Checks what the compiler does not: the layers of the crates, cycles of modules, where languages are named, and that
//! nothing is identified by its address.

mod modules;

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
    ("agentir-analysis", "agentir-syntax", "analyses see AgentIR, not what was written"),
    ("agentir-report", "agentir-lint", "writes what it is given"),
    ("agentir-config", "agentir-syntax", "knows names of versions and dialects, not languages"),
    ("agentir-runtime", "agentir-syntax", "runs AgentIR, and parses nothing"),
    ("agentir-rewrite", "agentir-lint", "is given what rules find"),
];

/// How often the source of a crate names a language that is not its own, and why that remains. These numbers only go
/// down.
const LANGUAGES_NAMED: &[(&str, usize, &str)] = &[
    ("agentir-expr", 1, "the namespace of functions in CEL is called so"),
    ("agentir-lang-abl", 2, "reports say which platform alone knows what was dropped"),
];

/// The only crate that depends on languages. An edge to a language from any other would rebuild that crate, and what is
/// above it, when a grammar changes.
const REGISTRY: &str = "agentir";

/// The crate that calls a library in C, with addresses.
const UNSAFE: &str = "agentir-z3";

/// What the names of the languages' crates begin with.
const LANGUAGE: &str = "agentir-lang-";

/// What the names of the grammars' crates begin with.
const GRAMMAR: &str = "agentir-grammar-";

/// A language, and how source may name it. Only the registry may name them all.
struct LanguageNames {
    /// The crate that may use these names.
    own: &'static str,
    /// The handle of its tables.
    handle: &'static str,
    /// Its id, alone and in a path, and what else names it or asks for it under another name.
    words: &'static [&'static str],
}

const LANGUAGES: &[LanguageNames] = &[
    LanguageNames {
        own: "agentir-lang-abl",
        handle: "ABL",
        words: &[
            "\"abl\"",
            ".abl.",
            "agentir_lang_abl",
            "Dialect::Abl",
            "Language::Abl",
            "Target::Abl",
            "is_abl(",
            "of_abl",
        ],
    },
    LanguageNames {
        own: "agentir-lang-agent-script",
        handle: "AGENT_SCRIPT",
        words: &[
            "\"agent-script\"",
            ".agent-script.",
            "agentir_lang_agent_script",
            "Dialect::AgentScript",
            "Language::AgentScript",
            "Target::AgentScript",
            "is_agent_script(",
            "of_script",
        ],
    },
    LanguageNames {
        own: "agentir-lang-adl",
        handle: "ADL",
        words: &[
            "\"adl\"",
            ".adl.",
            "agentir_lang_adl",
            "Dialect::Adl",
            "Language::Adl",
            "Language::Python",
            "Target::Adl",
            "is_adl(",
            "of_adl",
        ],
    },
    LanguageNames {
        own: "agentir-lang-xo",
        handle: "XO",
        words: &["\"kore-xo\"", ".kore-xo.", "agentir_lang_xo", "Language::Xo", "is_xo("],
    },
];

/// What asks for the id of a language.
const QUESTIONS: &[&str] = &[
    "dialect.id() ==",
    "dialect.id() !=",
    "dialect().id() ==",
    "dialect().id() !=",
    "match dialect.id()",
    "dialect.title() ==",
];

/// Checks everything and fails with all that is wrong.
pub fn check(root: &Path) -> Result<(), Box<dyn Error>> {
    let layers = layers(&fs::read_to_string(root.join("ARCHITECTURE.md"))?);
    let crates = crates(root)?;
    let mut problems = wrong_edges(&layers, &crates);
    problems.extend(edges_to_languages(&crates));
    problems.extend(wrong_numbers(root, &crates)?);
    for name in crates.keys() {
        let source = root.join("crates").join(name).join("src");
        if source.is_dir() {
            problems.extend(modules::cycles(name, &source)?);
            if name != UNSAFE && counted(&source, &addresses_in)? > 0 {
                problems
                    .push(format!("`{name}` takes addresses: use an id, or a span and the value"));
            }
        }
    }
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

/// Edges to languages from anything but the registry, and to grammars from anything but their language.
fn edges_to_languages(crates: &BTreeMap<String, Vec<String>>) -> Vec<String> {
    let mut problems = Vec::new();
    for (name, dependencies) in crates {
        for dependency in dependencies {
            if dependency.starts_with(LANGUAGE) && name != REGISTRY {
                problems.push(format!(
                    "`{name}` must not depend on `{dependency}`: only `{REGISTRY}` knows the languages"
                ));
            }
            if let Some(language) = dependency.strip_prefix(GRAMMAR)
                && name.strip_prefix(LANGUAGE) != Some(language)
            {
                problems.push(format!(
                    "`{name}` must not depend on `{dependency}`: only `{LANGUAGE}{language}` compiles it"
                ));
            }
        }
    }
    problems
}

/// Crates that name languages more often than they may, or less often than the table says.
fn wrong_numbers(
    root: &Path,
    crates: &BTreeMap<String, Vec<String>>,
) -> Result<Vec<String>, io::Error> {
    let mut problems = Vec::new();
    for name in crates.keys().filter(|name| *name != REGISTRY) {
        let source = root.join("crates").join(name).join("src");
        let named = |code: &str| named_in(name, code);
        let count = if source.is_dir() { counted(&source, &named)? } else { 0 };
        let known = LANGUAGES_NAMED.iter().find(|(crate_name, ..)| crate_name == name);
        let most = known.map_or(0, |(_, most, _)| *most);
        if count > most {
            problems.push(format!(
                "`{name}` names other languages {count} times, and {most} are allowed: ask a trait or a table of the language"
            ));
        } else if count < most {
            problems.push(format!(
                "`{name}` names other languages only {count} times: lower its number in xtask/src/tidy/mod.rs from {most}"
            ));
        }
    }
    Ok(problems)
}

/// The sum of a number over the code of the Rust files below a folder.
fn counted(folder: &Path, number: &dyn Fn(&str) -> usize) -> Result<usize, io::Error> {
    let mut count = 0;
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            count += counted(&path, number)?;
        } else if path.extension().is_some_and(|end| end == "rs") {
            count += number(&code(&fs::read_to_string(&path)?));
        }
    }
    Ok(count)
}

/// Source text without comments, and without tests, whose samples are in one language.
fn code(text: &str) -> String {
    let text = text.split("#[cfg(test)]").next().unwrap_or_default();
    let code: Vec<&str> = text.lines().filter(|l| !l.trim_start().starts_with("//")).collect();
    code.join("\n")
}

/// How often code takes the address of something as a number. The offset of a part of a text is none.
fn addresses_in(code: &str) -> usize {
    let takes = |line: &&str| {
        ["from_ref(", "as *const"].iter().any(|pointer| line.contains(pointer))
            && [".addr()", "as usize"].iter().any(|number| line.contains(number))
    };
    code.lines().filter(takes).count()
}

/// How often code of a crate names a language that is not its own.
fn named_in(crate_name: &str, code: &str) -> usize {
    // `dialect::ABL`, and `dialect::{self, ABL}`.
    let paths = code.split("dialect::").skip(1).map(|rest| match rest.strip_prefix('{') {
        Some(group) => group.split('}').next().unwrap_or_default(),
        None => rest.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default(),
    });
    let words = paths.flat_map(|path| path.split(|c: char| !c.is_alphanumeric() && c != '_'));
    let words: Vec<&str> = words.collect();
    let times = |pattern: &&str| code.matches(pattern).count();
    let others = LANGUAGES.iter().filter(|language| language.own != crate_name);
    let names = others.map(|language| {
        let handles = words.iter().filter(|word| **word == language.handle).count();
        handles + language.words.iter().map(times).sum::<usize>()
    });
    names.sum::<usize>() + QUESTIONS.iter().map(times).sum::<usize>()
}

#[cfg(test)]
mod tests {
    use super::{addresses_in, check, code, edges_to_languages, layers, named_in, wrong_edges};
    use std::collections::BTreeMap;
    use std::path::Path;

    #[test]
    fn the_repository_is_tidy() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        assert!(check(&root).is_ok(), "see the problems above");
    }

    fn graph(edges: &[(&str, &[&str])]) -> BTreeMap<String, Vec<String>> {
        let list = |to: &&[&str]| to.iter().map(|name| (*name).to_owned()).collect();
        edges.iter().map(|(from, to)| ((*from).to_owned(), list(to))).collect()
    }

    #[test]
    fn a_language_is_known_to_the_registry_alone() {
        let right = graph(&[
            ("agentir", &["agentir-lang-a", "agentir-lang-b"]),
            ("agentir-lang-a", &["agentir-grammar-a", "agentir-syntax"]),
        ]);
        assert_eq!(edges_to_languages(&right), Vec::<String>::new());
        let wrong = graph(&[
            ("agentir-convert", &["agentir-lang-a"]),
            ("agentir-lang-b", &["agentir-grammar-a", "agentir-lang-a"]),
        ]);
        assert_eq!(
            edges_to_languages(&wrong),
            [
                "`agentir-convert` must not depend on `agentir-lang-a`: only `agentir` knows the languages",
                "`agentir-lang-b` must not depend on `agentir-grammar-a`: only `agentir-lang-a` compiles it",
                "`agentir-lang-b` must not depend on `agentir-lang-a`: only `agentir` knows the languages",
            ]
        );
    }

    #[test]
    fn hidden_names_of_languages_are_counted() {
        assert_eq!(addresses_in("let key = ptr::from_ref(step).addr();\nlet at = step.span;"), 1);
        let named = |code: &str| named_in("agentir-lint", code);
        assert_eq!(named("if agent.metadata.dialect == dialect::ABL {"), 1);
        assert_eq!(named("use agentir_lang_adl::dialect::{\n    self, ADL, XO,\n};"), 3);
        assert_eq!(named("if dialect.id() == \"abl\" {"), 2);
        assert_eq!(named("fn of_script(cx: &Context) {"), 1);
        assert_eq!(named(&code("// dialect::ABL\nuse agentir_expr::dialect::{Traits, Tools};")), 0);
        assert_eq!(named(&code("#[cfg(test)]\nmod tests { use dialect::ABL; }")), 0);
    }

    #[test]
    fn a_language_names_itself_alone() {
        let named = |code: &str| named_in("agentir-lang-adl", code);
        assert_eq!(named("use crate::dialect::ADL;\nextensions.0.get(\"adl\")"), 0);
        assert_eq!(named("if agent.metadata.dialect == dialect::ABL {"), 1);
        assert_eq!(named("extensions.0.get(\"abl\")"), 1);
        assert_eq!(named("dropped(\"**.extensions.agent-script.**\", \"\", \"\")"), 1);
        assert_eq!(named("let own = agent.metadata.dialect.id() == \"adl\";"), 1);
    }

    #[test]
    fn edges_go_down() {
        let table = "| crate | contents |\n|---|---|\n| `agentir-a`, `agentir-b` | x |\n| `agentir-c` | y |\n";
        let layers = layers(table);
        let right = graph(&[("agentir-a", &[]), ("agentir-b", &[]), ("agentir-c", &["agentir-a"])]);
        assert_eq!(wrong_edges(&layers, &right), Vec::<String>::new());
        let wrong = graph(&[("agentir-a", &["agentir-c"]), ("agentir-b", &[]), ("agentir-d", &[])]);
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
