//! The pages of the rules, and the examples in them.
//!
//! Below a source line of an example stand *marks*: carets under the span of a finding, and its message.
//! They are part of the page only; whoever checks the example gets its files without them.

use crate::check::{Checked, File, check};
use crate::samples::root;
use agentir_diagnostics::{Diagnostic, SourceFile};
use agentir_expr::Version;
use agentir_lang_abl::Options;
use std::fs;
use std::path::PathBuf;

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
    /// The files, without marks.
    pub files: Vec<File>,
    /// The block as it is on the page, with marks.
    pub body: String,
}

impl Example {
    /// Checks the files, in the order of their names, as `agentir check .` reads them.
    #[must_use]
    pub fn check(&self) -> Checked {
        let mut files = self.files.clone();
        files.sort_by(|a, b| a.name.cmp(&b.name));
        check(&files, Options { version: self.version, ..Options::default() })
    }

    /// The block with a mark for each finding of `rule`, and no others.
    #[must_use]
    pub fn marked(&self, checked: &Checked, rule: &str) -> String {
        let findings = checked.diagnostics.iter().filter(|d| d.rule.0 == rule);
        let mut marks: Vec<Mark> = findings.map(|d| Mark::of(checked, d)).collect();
        marks.sort();
        let mut text = String::new();
        let mut file = self.files[0].name.as_str();
        let mut number = 0;
        for line in self.body.lines().filter(|line| !is_mark(line)) {
            text.push_str(line);
            text.push('\n');
            if let Some(name) = line.strip_prefix(FILE) {
                (file, number) = (name.trim(), 0);
                continue;
            }
            number += 1;
            for mark in marks.extract_if(.., |m| m.file == file && m.line == number) {
                text.push_str(&mark.below(line));
            }
        }
        assert!(marks.is_empty(), "findings outside of the example: {marks:?}");
        text
    }
}

/// The carets and the message that stand for a finding.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Mark {
    file: String,
    /// The number of the source line it is below, from 1.
    line: usize,
    /// How many characters of the line are before the span.
    column: usize,
    /// How many characters of the span are in its first line.
    width: usize,
    message: String,
}

impl Mark {
    fn of(checked: &Checked, finding: &Diagnostic) -> Self {
        let span = finding.primary.span;
        let SourceFile { name, text, .. } =
            checked.sources.get(span.file).expect("a finding is in a file");
        let (before, rest) = text.split_at(span.start as usize);
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        let spanned = rest[..span.range().len()].lines().next().unwrap_or_default();
        Self {
            file: name.to_string(),
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().count(),
            width: spanned.chars().count(),
            message: finding.message.clone(),
        }
    }

    /// The mark as a line below `line`. Tabs stay tabs, so that carets are below what they underline.
    fn below(&self, line: &str) -> String {
        let blank = |c| if c == '\t' { '\t' } else { ' ' };
        let indent: String =
            line.chars().map(blank).chain(std::iter::repeat(' ')).take(self.column).collect();
        format!("{indent}{} {}\n", "^".repeat(self.width.max(1)), self.message)
    }
}

/// Whether a line of an example is a mark: carets, and what the finding says. No language has such lines.
fn is_mark(line: &str) -> bool {
    let carets = line.trim_start();
    carets.starts_with('^') && carets.trim_start_matches('^').starts_with(' ')
}

/// What begins the line before a file of an example that has several.
const FILE: &str = "--- file:";

fn path(rule: &str) -> PathBuf {
    root().join(format!("rules/{rule}.md"))
}

/// The page of a rule.
#[must_use]
pub fn text(rule: &str) -> String {
    fs::read_to_string(path(rule)).unwrap()
}

/// Replaces the page of a rule, at once: other tests may be reading it.
pub fn write(rule: &str, text: &str) {
    let new = path(rule).with_extension("md.new");
    fs::write(&new, text).unwrap();
    fs::rename(&new, path(rule)).unwrap();
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

/// Reads ```` ```abl fail version=legacy ````; other languages are not examples.
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
        // A form that is shown and is not a document of its own.
        None => return Ok(None),
        Some(other) => return Err(format!("`{other}` is neither `fail` nor `pass`")),
    };
    let mut version = None;
    for word in words {
        version = Some(match word {
            "version=legacy" => Version::Legacy,
            "version=current" => Version::Current,
            "version=newest" => Version::Newest,
            other => return Err(format!("`{other}` is not an option of an example")),
        });
    }
    let files = files(&name, body);
    Ok(Some(Example { line, fails, version, files, body: body.to_owned() }))
}

/// Splits a block at its `--- file: NAME` lines, and leaves out marks.
fn files(name: &str, body: &str) -> Vec<File> {
    let mut files = vec![File { name: name.to_owned(), text: String::new() }];
    for line in body.lines().filter(|line| !is_mark(line)) {
        if let Some(name) = line.strip_prefix(FILE) {
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
