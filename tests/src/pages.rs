//! The pages of the rules, and the examples in them.

use crate::check::File;
use crate::samples::root;
use agentir_expr::Version;
use std::fs;

/// A page of `rules/`.
#[derive(Debug)]
pub struct Page {
    /// The file's name without its ending.
    pub name: String,
    /// The first heading.
    pub heading: String,
    /// The examples.
    pub examples: Vec<Example>,
    /// What is wrong with the page itself.
    pub problems: Vec<String>,
}

/// A fenced block of a page.
#[derive(Debug)]
pub struct Example {
    /// The line of the fence, from 1.
    pub line: usize,
    /// Whether the rule has something to say about it.
    pub fails: bool,
    /// The version it is held to.
    pub version: Option<Version>,
    /// The files.
    pub files: Vec<File>,
}

/// All pages, by name.
#[must_use]
pub fn all() -> Vec<Page> {
    let folder = root().join("rules");
    let mut pages: Vec<Page> = fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == "md"))
        .map(|path| (path.file_stem().unwrap().to_str().unwrap().to_owned(), path))
        .filter(|(name, _)| name != "README")
        .map(|(name, path)| read(name, &fs::read_to_string(path).unwrap()))
        .collect();
    pages.sort_by(|a, b| a.name.cmp(&b.name));
    pages
}

fn read(name: String, text: &str) -> Page {
    let mut page =
        Page { name, heading: String::new(), examples: Vec::new(), problems: Vec::new() };
    page.heading =
        text.lines().find_map(|l| l.strip_prefix("# ")).unwrap_or_default().trim().to_owned();
    let mut lines = text.lines().enumerate();
    while let Some((at, line)) = lines.next() {
        let Some(info) = line.strip_prefix("```").filter(|info| !info.is_empty()) else { continue };
        let mut body = String::new();
        for (_, line) in lines.by_ref().take_while(|(_, line)| *line != "```") {
            body.push_str(line);
            body.push('\n');
        }
        match example(at + 1, info, &body) {
            Ok(example) => page.examples.extend(example),
            Err(problem) => page.problems.push(format!("line {}: {problem}", at + 1)),
        }
    }
    page
}

/// Reads ```` ```abl fail version=legacy ````; other languages are no examples.
fn example(line: usize, info: &str, body: &str) -> Result<Option<Example>, String> {
    let mut words = info.split_whitespace();
    let language = words.next().unwrap_or_default();
    let ending = match language {
        "abl" => "agent.abl",
        "yaml" => "agent.yaml",
        "agent" => "agent",
        "adl" => "agents.yml",
        "xo" => "botDefinition.json",
        _ => return Ok(None),
    };
    // An ADL bot and an export are recognised by the names of their files.
    let whole = matches!(language, "adl" | "xo");
    let name = if whole { ending.to_owned() } else { format!("example.{ending}") };
    let fails = match words.next() {
        Some("fail") => true,
        Some("pass") => false,
        // A form that is shown and is no document of its own.
        None => return Ok(None),
        Some(other) => return Err(format!("`{other}` is neither `fail` nor `pass`")),
    };
    let mut version = None;
    for word in words {
        version = Some(match word {
            "version=legacy" => Version::Legacy,
            "version=current" => Version::Current,
            "version=newest" => Version::Newest,
            other => return Err(format!("`{other}` is no option of an example")),
        });
    }
    Ok(Some(Example { line, fails, version, files: files(&name, body) }))
}

/// Splits a block at its `--- file: NAME` lines.
fn files(name: &str, body: &str) -> Vec<File> {
    let mut files = vec![File { name: name.to_owned(), text: String::new() }];
    for line in body.lines() {
        if let Some(name) = line.strip_prefix("--- file:") {
            files.push(File { name: name.trim().to_owned(), text: String::new() });
        } else {
            let file = files.last_mut().unwrap();
            file.text.push_str(line);
            file.text.push('\n');
        }
    }
    if files.len() > 1 && files[0].text.trim().is_empty() {
        files.remove(0);
    }
    files
}
