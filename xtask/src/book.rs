//! The book: the documents as they are in the repository, and the rules by group, for mdBook.
//!
//! All files keep their paths relative to each other, so the same links work in the repository and in the book.

use agentir_lint::catalogue;
use agentir_syntax::Language;
use agentir_syntax::docs::Documented;
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
            ("In the editor", "docs/editors.md"),
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
            ("Precision", "docs/precision.md"),
            ("Upgrading to 0.2", "docs/upgrade-0.2.md"),
            ("Messages in 0.2", "docs/messages-0.2.md"),
            ("Architecture", "ARCHITECTURE.md"),
            ("Contributing", "CONTRIBUTING.md"),
        ],
    ),
];

/// The page of a language: its words by record, as hover and completion show them. Nothing for a language that has none.
fn page(language: &dyn Language) -> Option<String> {
    let all = language.reference();
    if all.is_empty() {
        return None;
    }
    let mut text = format!(
        "# {}\n\nThe words of the language, as editors show them: what they are for, what is written behind them, and \
         where they are specified. A star means that a record is incomplete without the field.\n",
        language.title()
    );
    let mut records: Vec<&str> = Vec::new();
    for one in &all {
        if !records.contains(&one.record) {
            records.push(one.record);
        }
    }
    for record in records {
        let title =
            if record.is_empty() { "Keywords, operators, types and functions" } else { record };
        let _ = write!(
            text,
            "\n## {}\n\n| | | form | source |\n|---|---|---|---|\n",
            capitalized(title)
        );
        // The values of a field follow it.
        let of_record = all.iter().filter(|one| one.record == record);
        let fields = of_record.clone().filter(|one| one.word.is_empty());
        for field in fields {
            row(language, field, &mut text);
            let values = of_record.clone().filter(|one| one.field == field.field);
            values.filter(|one| !one.word.is_empty()).for_each(|one| row(language, one, &mut text));
        }
        of_record.filter(|one| one.field.is_empty()).for_each(|one| row(language, one, &mut text));
    }
    Some(text)
}

fn row(language: &dyn Language, one: &Documented, text: &mut String) {
    let cell = |text: &str| text.replace('|', "\\|");
    let star = if one.required { "\\*" } else { "" };
    let name = match (one.field, one.word.as_str()) {
        (field, "") => format!("`{field}`{star}"),
        ("", word) => format!("`{}`", cell(word)),
        (field, word) => format!("`{field}: {word}`"),
    };
    let (doc, source) = one.doc;
    let source = match language.docs().and_then(|docs| docs.link(source)) {
        Some(link) => format!("[{source}]({link})"),
        None => source.to_owned(),
    };
    let (doc, shape) = (cell(&capitalized(doc)), cell(&one.shape));
    let _ = writeln!(text, "| {name} | {doc} | {shape} | {source} |");
}

/// What makes a package of a folder of documents, and is not part of the book.
const PACKAGE: [&str; 5] = ["Cargo.toml", "build.rs", "lib.rs", "LICENSE-MIT", "LICENSE-APACHE"];

/// The title of a group of rules.
fn title(group: &str) -> String {
    capitalized(&group.replace('-', " "))
}

fn capitalized(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().into_iter().flat_map(char::to_uppercase).chain(chars).collect()
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
    text.push_str("\n# Languages\n\n");
    for language in agentir::languages().iter().filter(|language| language.docs().is_some()) {
        let _ = writeln!(text, "- [{}](language/{}.md)", language.title(), language.id());
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
    fs::create_dir_all(source.join("language"))?;
    for language in agentir::languages().iter() {
        if let Some(page) = page(language) {
            fs::write(source.join("language").join(format!("{}.md", language.id())), page)?;
        }
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

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests end by panicking")]
mod tests {
    use super::page;

    #[test]
    fn pages_of_languages_have_what_editors_show() {
        let page = |id: &str| page(agentir::languages().get(id).unwrap()).unwrap_or_default();
        let abl = page("abl");
        let has = |text: &str, line: &str| assert!(text.lines().any(|one| one == line), "{line}");
        has(&abl, "## Gather field");
        has(
            &abl,
            "| `prompt_mode: ask` | The user is asked for the value |  | platform documentation |",
        );
        has(&abl, "| `UPPER` | `s` in upper case | UPPER(s) | §8.2 |");
        has(&page("agent-script"), "## Echo");
        has(&page("adl"), "| `tries` | How often the step may go there | number | §B.4.6 |");
        assert_eq!(page("kore-xo"), "");
    }
}
