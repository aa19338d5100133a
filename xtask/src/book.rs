//! The book: the documents as they are in the repository, and the rules by group, for mdBook.
//!
//! All files keep their paths relative to each other, so the same links work in the repository and in the book.

use agentir_lint::catalogue;
use std::collections::BTreeMap;
use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;

/// The chapters before the rules: a title and a path.
const CHAPTERS: &[(&str, &[(&str, &str)])] = &[
    (
        "Tutorials",
        &[
            ("Finding mistakes, and keeping them out", "docs/tutorials/lint.md"),
            ("Converting agents to another language", "docs/tutorials/migrate.md"),
            ("Running agents, and testing conversations", "docs/tutorials/run.md"),
            ("Reading AgentIR", "docs/tutorials/ir.md"),
        ],
    ),
    (
        "Reference",
        &[
            ("Configuration and CI", "docs/ci.md"),
            ("Converting and comparing programs", "docs/convert.md"),
            ("Conversions", "docs/conversions.md"),
            ("Formatting", "docs/format.md"),
            ("Graphs and costs", "docs/graph.md"),
            ("Running and testing agents", "docs/run.md"),
            ("Semantics", "docs/semantics.md"),
            ("Models", "docs/models.md"),
            ("Tools", "docs/tools.md"),
            ("Orchestration", "docs/orchestration.md"),
            ("Benchmarks", "docs/benchmarks.md"),
            ("Budgets", "docs/budgets.md"),
            ("Mutation score", "docs/mutations.md"),
            ("Upgrading to 0.2", "docs/upgrade-0.2.md"),
            ("Messages in 0.2", "docs/messages-0.2.md"),
            ("Architecture", "ARCHITECTURE.md"),
            ("Contributing", "CONTRIBUTING.md"),
        ],
    ),
];

/// What makes a package of a folder of documents, and is not part of the book.
const PACKAGE: [&str; 5] = ["Cargo.toml", "build.rs", "lib.rs", "LICENSE-MIT", "LICENSE-APACHE"];

/// The titles of a group of rules.
fn title(group: &str) -> String {
    let mut letters = group.replace('-', " ");
    if let Some(first) = letters.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    letters
}

/// The table of contents.
fn summary() -> String {
    let mut text = "# Summary\n\n[agentir](README.md)\n".to_owned();
    for (part, chapters) in CHAPTERS {
        let _ = write!(text, "\n# {part}\n\n");
        for (title, path) in *chapters {
            let _ = writeln!(text, "- [{title}]({path})");
        }
    }
    let mut groups: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for rule in catalogue() {
        groups.entry(rule.group_name()).or_default().push(rule.name);
    }
    text.push_str("\n# Rules\n\n");
    for (group, mut rules) in groups {
        rules.sort_unstable();
        let _ = writeln!(text, "- [{}]()", title(group));
        for rule in rules {
            let _ = writeln!(text, "  - [{rule}](rules/{rule}.md)");
        }
    }
    text
}

fn copy(from: &Path, to: &Path) -> Result<(), Box<dyn Error>> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let path = entry?.path();
        let Some(name) = path.file_name() else { continue };
        if path.is_dir() {
            copy(&path, &to.join(name))?;
        } else if !PACKAGE.contains(&name.to_str().unwrap_or_default()) {
            fs::copy(&path, to.join(name))?;
        }
    }
    Ok(())
}

/// Assembles the book in `to`, and renders it if mdBook is installed.
pub(crate) fn write(root: &Path, to: &Path) -> Result<(), Box<dyn Error>> {
    let source = to.join("src");
    if source.exists() {
        fs::remove_dir_all(&source)?;
    }
    fs::create_dir_all(&source)?;
    fs::write(
        to.join("book.toml"),
        "[book]\ntitle = \"agentir\"\nlanguage = \"en\"\n\n[output.html.fold]\nenable = true\n",
    )?;
    for chapter in ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"] {
        fs::copy(root.join(chapter), source.join(chapter))?;
    }
    // Documents link to schemas and samples.
    for folder in ["docs", "rules", "schemas", "corpus"] {
        copy(&root.join(folder), &source.join(folder))?;
    }
    let summary = summary();
    for chapter in CHAPTERS.iter().flat_map(|(_, chapters)| *chapters) {
        if !source.join(chapter.1).is_file() {
            return Err(format!("the book's chapter `{}` does not exist", chapter.1).into());
        }
    }
    fs::write(source.join("SUMMARY.md"), summary)?;
    match Command::new("mdbook").arg("build").arg(to).status() {
        Ok(status) if status.success() => {
            println!("{}", to.join("book/index.html").display());
            Ok(())
        }
        Ok(_) => Err("mdbook failed".into()),
        Err(_) => {
            println!(
                "assembled {}; install mdBook to render it: `cargo install mdbook`",
                to.display()
            );
            Ok(())
        }
    }
}
