//! The tree-sitter grammars of editors: they read every text, find what our parsers find, and have the words of our tables.

#![allow(clippy::panic, clippy::unwrap_used, reason = "tests end by panicking")]

use agentir::diagnostics::FileId;
use agentir::references::SymbolKind;
use agentir::{OutlineItem, Snapshot, Workspace};
use agentir_syntax::docs::Documented;
use agentir_tests::check::File;
use agentir_tests::documents::assert_fresh;
use agentir_tests::samples::{
    self, agent_script, external_agent_script, external_documents, files_below, root,
};
use agentir_tree_sitter::{ABL, AGENT_SCRIPT, Grammar};
use proptest::prelude::*;
use regex::{Captures, Regex};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use tree_sitter::{InputEdit, Parser, Point, Query, QueryCursor, StreamingIterator as _, Tree};

const FOLDER: &str = "crates/agentir-lsp/editors/tree-sitter";

/// Texts of others that have another outline, by the end of their names, with the reason.
const OTHERWISE: &[(&str, &str)] =
    &[("00-s3.1-agent.abl", "two names of agents, one below the other, are no document")];

/// The tables of a language, behind its grammar.
fn reference(grammar: &Grammar) -> Vec<Documented> {
    if grammar.name == ABL.name {
        agentir_lang_abl::ABL.reference()
    } else {
        agentir_lang_agent_script::AGENT_SCRIPT.reference()
    }
}

fn parser(grammar: &Grammar) -> Parser {
    let mut parser = Parser::new();
    parser.set_language(&grammar.parser.into()).unwrap();
    parser
}

fn grammar_of(name: &str) -> Option<&'static Grammar> {
    match name.rsplit_once('.')?.1 {
        "abl" => Some(&ABL),
        "agent" => Some(&AGENT_SCRIPT),
        _ => None,
    }
}

/// Our samples, valid and not, by program.
fn ours() -> Vec<Vec<File>> {
    let abl = samples::all_ours().into_iter();
    let scripts = ["valid", "invalid"].into_iter().flat_map(agent_script);
    let mut programs: Vec<Vec<File>> = abl.chain(scripts).map(|sample| sample.files).collect();
    programs.push(files_below(&root().join("corpus/rosetta")));
    programs
}

/// Those of others.
fn external() -> Vec<Vec<File>> {
    let documents = external_documents().into_iter().map(|sample| sample.files);
    documents.chain(external_agent_script().into_iter().map(|file| vec![file])).collect()
}

/// A symbol: its kind, its name, the offset of the name.
type Symbol = (&'static str, String, usize);

/// The kinds that are compared, by the names that editors have for them.
const fn kind(kind: SymbolKind) -> Option<&'static str> {
    match kind {
        SymbolKind::Agent => Some("class"),
        SymbolKind::Tool => Some("function"),
        SymbolKind::Step => Some("method"),
        SymbolKind::Variable => Some("variable"),
        _ => None,
    }
}

fn outline(snapshot: &Snapshot, file: FileId) -> BTreeSet<Symbol> {
    fn add(items: &[OutlineItem], text: &str, found: &mut BTreeSet<Symbol>) {
        for item in items {
            if let Some(kind) = kind(item.kind) {
                let range = item.selection.range();
                let written = text.get(range.clone()).unwrap_or_default();
                let quotes = written.len() - written.trim_start_matches('"').len();
                let name = written.trim_matches('"').to_owned();
                found.insert((kind, name, range.start + quotes));
            }
            add(&item.children, text, found);
        }
    }
    let mut found = BTreeSet::new();
    let text = &*snapshot.sources().get(file).unwrap().text;
    add(&snapshot.outline(file), text, &mut found);
    found
}

fn query(grammar: &Grammar, name: &str) -> Query {
    let (_, text) = grammar.queries.iter().find(|(file, _)| *file == name).unwrap();
    Query::new(&grammar.parser.into(), text)
        .unwrap_or_else(|e| panic!("{}: {name}: {e}", grammar.name))
}

fn tags(query: &Query, tree: &Tree, text: &str) -> BTreeSet<Symbol> {
    let names = query.capture_names();
    let mut found = BTreeSet::new();
    let mut cursor = QueryCursor::new();
    let mut matches = cursor.matches(query, tree.root_node(), text.as_bytes());
    while let Some(one) = matches.next() {
        let capture = |begin: &str| {
            one.captures().iter().find_map(|c| {
                let name = names.get(c.index as usize)?.strip_prefix(begin)?;
                Some((name.to_owned(), c.node))
            })
        };
        let (Some((kind, _)), Some((_, node))) = (capture("definition."), capture("name")) else {
            continue;
        };
        let written = text.get(node.byte_range()).unwrap();
        let quotes = written.len() - written.trim_start_matches('"').len();
        let kind = ["class", "function", "method", "variable"].into_iter().find(|k| *k == kind);
        found.insert((
            kind.unwrap(),
            written.trim_matches('"').to_owned(),
            node.start_byte() + quotes,
        ));
    }
    found
}

/// The errors of a tree, each with its line.
fn errors(tree: &Tree) -> Vec<usize> {
    let mut lines = Vec::new();
    let mut open = vec![tree.root_node()];
    while let Some(node) = open.pop() {
        if node.is_error() || node.is_missing() {
            lines.push(node.start_position().row + 1);
        } else if node.has_error() {
            open.extend((0..node.child_count()).filter_map(|n| node.child(n)));
        }
    }
    lines
}

fn report(what: &str, problems: &[String]) {
    let shown = problems.iter().take(40).cloned().collect::<Vec<_>>().join("\n  ");
    assert!(problems.is_empty(), "{} {what}:\n  {shown}\n", problems.len());
}

fn assert_no_errors(programs: &[Vec<File>]) {
    let mut problems = Vec::new();
    let mut read = 0;
    for file in programs.iter().flatten() {
        let Some(grammar) = grammar_of(&file.name) else { continue };
        let tree = parser(grammar).parse(&file.text, None).unwrap();
        problems.extend(errors(&tree).iter().map(|line| format!("{}:{line}", file.name)));
        read += 1;
    }
    assert!(read > 50, "{read} files");
    report("errors", &problems);
}

fn assert_same_symbols(programs: &[Vec<File>]) {
    let queries: BTreeMap<&str, Query> =
        [&ABL, &AGENT_SCRIPT].map(|g| (g.name, query(g, "tags.scm"))).into();
    let mut problems = Vec::new();
    let mut compared = 0;
    for files in programs {
        let mut workspace = Workspace::in_memory();
        for file in files {
            workspace.set_text(&file.name, file.text.as_str());
        }
        let snapshot = workspace.snapshot().unwrap();
        for file in files {
            let Some(grammar) = grammar_of(&file.name) else { continue };
            let Some((id, source)) = snapshot.file(&file.name) else { continue };
            let tree = parser(grammar).parse(&*source.text, None).unwrap();
            let expected = outline(&snapshot, id);
            let found = tags(queries.get(grammar.name).unwrap(), &tree, &source.text);
            // Without an agent there is no program, and no outline.
            let has_agent = |symbols: &BTreeSet<Symbol>| symbols.iter().any(|s| s.0 == "class");
            let is_program = has_agent(&expected) || has_agent(&found);
            if !is_program && grammar.name == AGENT_SCRIPT.name
                || OTHERWISE.iter().any(|(name, _)| file.name.ends_with(name))
            {
                continue;
            }
            compared += expected.len();
            let line = |at: usize| source.line_index(at) + 1;
            for (what, all, others) in
                [("missing", &expected, &found), ("too many", &found, &expected)]
            {
                problems.extend(all.difference(others).map(|(kind, name, at)| {
                    format!("{}:{}: {what}: {kind} {name}", file.name, line(*at))
                }));
            }
        }
    }
    assert!(compared > 30, "{compared} symbols");
    report("differences", &problems);
}

#[test]
fn our_samples_are_read_without_errors() {
    assert_no_errors(&ours());
}

#[test]
#[cfg_attr(not(external_corpus), ignore = "needs the external corpus (AGENTIR_EXTERNAL_CORPUS)")]
fn samples_of_others_are_read_without_errors() {
    assert_no_errors(&external());
}

#[test]
fn symbols_are_those_of_the_outline() {
    assert_same_symbols(&ours());
}

#[test]
#[cfg_attr(not(external_corpus), ignore = "needs the external corpus (AGENTIR_EXTERNAL_CORPUS)")]
fn symbols_of_others_are_those_of_the_outline() {
    assert_same_symbols(&external());
}

/// What texts are read as.
#[test]
fn lines_have_the_nodes_of_what_they_are() {
    let value = "value: (value (identifier))";
    let cases = [
        (&ABL, "A: b\n", format!("(source_file (pair key: (key) {value}))")),
        (
            &ABL,
            "A:\n  - b\n  - c: d\n    e: f\n",
            format!(
                "(source_file (pair key: (key) (block (item (line (value (identifier)))) \
                 (item (pair key: (key) {value}) (pair key: (key) {value})))))"
            ),
        ),
        // Dashes at the column of their key.
        (
            &ABL,
            "A:\n- b\nC: d\n",
            format!(
                "(source_file (pair key: (key) (block (item (line (value (identifier)))))) (pair key: (key) {value}))"
            ),
        ),
        (
            &ABL,
            "A: |\n  b {{c}}\n\n  d\n# e\nF: g\n",
            format!(
                "(source_file (pair key: (key) value: (block_text (text) (placeholder (identifier)) (text))) \
                 (comment) (pair key: (key) {value}))"
            ),
        ),
        (
            &ABL,
            "A:\n  - |\n      b\n",
            "(source_file (pair key: (key) (block (item (line (block_text (text)))))))".to_owned(),
        ),
        (
            &ABL,
            "A: [b,\n  c]\nd ->\n  e\nf\n  g\n",
            "(source_file (pair key: (key) value: (value (identifier) (identifier))) \
             (line (value (identifier) (identifier))) \
             (line (value (identifier)) (block (line (value (identifier))))))"
                .to_owned(),
        ),
        (
            &AGENT_SCRIPT,
            "a b:\n    | c {!@d.e}\n      f\n    set @d.e = 1\n",
            "(source_file (pair key: (key) name: (name) (block (line (block_text (text) \
             (placeholder (reference (namespace) (property))) (text))) (statement (keyword) \
             (value (reference (namespace) (property)) (operator) (number))))))"
                .to_owned(),
        ),
        (
            &AGENT_SCRIPT,
            "if a:\n  # b\n  | c\n# d\nelse if e:\n  | f\nelse:\n  | g\nelse:\n",
            "(source_file (conditional \
             (if_clause (keyword) (value (identifier)) (block (comment) (line (block_text (text))))) \
             (comment) \
             (else_if_clause (keyword) (value (identifier)) (block (line (block_text (text))))) \
             (else_clause (keyword) (value) (block (line (block_text (text)))))) \
             (statement (keyword) (value)))"
                .to_owned(),
        ),
        (
            &AGENT_SCRIPT,
            "a: [\n  # b\n  c,\n]\nd: ->\n  run e\n",
            "(source_file (pair key: (key) value: (value (comment) (identifier))) \
             (pair key: (key) value: (value) (block (statement (keyword) (value (identifier))))))"
                .to_owned(),
        ),
    ];
    for (grammar, text, expected) in cases {
        let tree = parser(grammar).parse(text, None).unwrap();
        assert_eq!(tree.root_node().to_sexp(), expected, "{}: {text}", grammar.name);
    }
}

/// The words that a list of a query has, by what stands above it.
fn words(grammar: &Grammar, list: &str) -> BTreeSet<String> {
    let reference = reference(grammar);
    let mut found = BTreeSet::new();
    if let Some(records) = list.strip_prefix("fields of ") {
        let records: Vec<&str> = records.split(", ").collect();
        for one in reference.iter().filter(|one| records.contains(&one.record)) {
            // In capitals, or as the table has them.
            found.extend([one.field.to_owned(), one.field.to_uppercase()]);
        }
    } else {
        let is_word = |text: &str| text.starts_with(|c: char| c.is_alphabetic());
        let all = reference.iter().filter(|one| one.record.is_empty() && is_word(&one.word));
        let is_function = |one: &Documented| {
            one.shape == "function" || one.shape.contains('(') && !one.shape.starts_with("value.")
        };
        let chosen = all.filter(|one| match list {
            "functions" => is_function(one),
            "types" => one.shape == "type",
            "capitals" => !is_function(one),
            "keywords" => {
                !["type", "dialect", "function"].contains(&one.shape.as_str())
                    && !one.word.starts_with(char::is_uppercase)
            }
            _ => panic!("no list is called {list}"),
        });
        found.extend(chosen.flat_map(|one| one.word.split(' ')).map(str::to_owned));
        if list == "capitals" {
            found.retain(|word| !word.contains(char::is_lowercase));
        }
    }
    assert!(!found.is_empty(), "{}: {list}", grammar.name);
    found
}

/// A text with its lists written anew.
fn with_words(
    grammar: &Grammar,
    text: &str,
    lists: &str,
    write: impl Fn(&BTreeSet<String>) -> String,
) -> String {
    let lists = Regex::new(lists).unwrap();
    let write = |found: &Captures<'_>| {
        format!("{}{}{}", &found["before"], write(&words(grammar, &found["list"])), &found["after"])
    };
    lists.replace_all(text, write).into_owned()
}

#[test]
fn lists_of_words_are_those_of_the_tables() {
    const HOW: &str = "this test with AGENTIR_UPDATE_PAGES=1";
    let in_lines = |words: &BTreeSet<String>| {
        let mut lines = vec![String::from("   ")];
        for word in words {
            let word = format!(" \"{word}\"");
            if lines.last().is_some_and(|line| line.len() + word.len() > 118) {
                lines.push(String::from("   "));
            }
            lines.last_mut().unwrap().push_str(&word);
        }
        format!("\n{}", lines.join("\n"))
    };
    // Longer words first, since the first that fits is taken.
    let as_choice = |words: &BTreeSet<String>| {
        let mut words: Vec<&str> = words.iter().map(String::as_str).collect();
        words.sort_by_key(|word| std::cmp::Reverse(word.len()));
        words.join("|")
    };
    for (grammar, colours) in [(&ABL, "abl"), (&AGENT_SCRIPT, "agentscript")] {
        for (name, text) in grammar.queries {
            let list = r"(?<before>; words: (?<list>[^\n]+)\n\s*\(#(?:not-)?any-of\? @[\w.]+)[^)]*(?<after>\))";
            let path = root().join(FOLDER).join(grammar.name).join("queries").join(name);
            assert_fresh(&path, &with_words(grammar, text, list, in_lines), HOW);
        }
        let path = root()
            .join(format!("crates/agentir-lsp/editors/vscode/syntaxes/{colours}.tmLanguage.json"));
        let text = fs::read_to_string(&path).unwrap();
        let list = r#"(?<before>"comment": "words: (?<list>[^"]+)",\s*"match": "[^"(]*\(\?:)[^)]*(?<after>\))"#;
        assert!(Regex::new(list).unwrap().is_match(&text), "{colours}");
        assert_fresh(&path, &with_words(grammar, &text, list, as_choice), HOW);
    }
}

/// All words that queries ask for are words of the language, also those of short lists that are written by hand.
#[test]
fn queries_ask_for_words_of_the_language() {
    let quoted = Regex::new(r#""([A-Za-z_]+)""#).unwrap();
    for grammar in [&ABL, &AGENT_SCRIPT] {
        let known: BTreeSet<String> = reference(grammar)
            .iter()
            .flat_map(|one| [one.field.to_owned(), one.word.to_string()])
            .flat_map(|words| words.split(' ').map(str::to_lowercase).collect::<Vec<_>>())
            .collect();
        for (name, text) in grammar.queries {
            query(grammar, name);
            let code = text.lines().map(|line| line.split(';').next().unwrap_or_default());
            for line in code {
                for word in quoted.captures_iter(line) {
                    let word = word[1].to_lowercase();
                    assert!(known.contains(&word), "{}: {name}: {word}", grammar.name);
                }
            }
        }
    }
}

/// Where a byte is.
fn point(text: &str, at: usize) -> Point {
    let before = &text[..at];
    let line = before.rfind('\n').map_or(0, |n| n + 1);
    Point::new(before.matches('\n').count(), at - line)
}

/// A text of our samples.
fn any_sample() -> impl Strategy<Value = File> {
    let mut files: Vec<File> = ours().into_iter().flatten().collect();
    files.retain(|file| grammar_of(&file.name).is_some());
    prop::sample::select(files)
}

/// What is typed or pasted in the middle of a text.
const PIECES: &[&str] = &[
    "",
    "\n",
    "  ",
    "\t",
    "- ",
    "x:",
    "{",
    "}}",
    "{{",
    "{!",
    "\"",
    "'",
    "|",
    "|\n",
    "(",
    ")",
    "[\n",
    "# ",
    "->",
    ",\n",
    "\\\n",
    "else:\n",
    "if x:\n",
    "é",
    "😀",
    "\r\n",
    "\u{feff}",
    "%% ((( \"",
    "<<<<<<< ours\n",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// A text that is edited has the tree of the same text that is read at once, and no errors either way.
    #[test]
    fn edits_give_the_tree_of_the_new_text(
        file in any_sample(),
        edits in prop::collection::vec((any::<prop::sample::Index>(), 0..40usize, prop::sample::select(PIECES)), 1..6),
    ) {
        let mut parser = parser(grammar_of(&file.name).unwrap());
        let mut text = file.text;
        let mut tree = parser.parse(&text, None).unwrap();
        for (at, removed, piece) in edits {
            let boundary = |mut at: usize| {
                while !text.is_char_boundary(at) {
                    at -= 1;
                }
                at
            };
            let start = boundary(at.index(text.len() + 1));
            let end = boundary((start + removed).min(text.len())).max(start);
            let (start_position, old_end_position) = (point(&text, start), point(&text, end));
            text.replace_range(start..end, piece);
            let new_end = start + piece.len();
            tree.edit(&InputEdit {
                start_byte: start,
                old_end_byte: end,
                new_end_byte: new_end,
                start_position,
                old_end_position,
                new_end_position: point(&text, new_end),
            });
            tree = parser.parse(&text, Some(&tree)).unwrap();
            let whole = parser.parse(&text, None).unwrap();
            prop_assert_eq!(errors(&whole), Vec::<usize>::new(), "{}", text);
            prop_assert_eq!(tree.root_node().to_sexp(), whole.root_node().to_sexp(), "{}", text);
        }
    }
}

/// A line that makes no sense costs itself: all other symbols stay.
#[test]
fn symbols_around_a_broken_line_stay() {
    let mut problems = Vec::new();
    for file in ours().iter().flatten() {
        let Some(grammar) = grammar_of(&file.name) else { continue };
        let (mut parser, query) = (parser(grammar), query(grammar, "tags.scm"));
        let names = |text: &str, parser: &mut Parser| -> Vec<(&'static str, String)> {
            let tree = parser.parse(text, None).unwrap();
            let mut all: Vec<Symbol> = tags(&query, &tree, text).into_iter().collect();
            all.sort_by_key(|(_, _, at)| *at);
            all.into_iter().map(|(kind, name, _)| (kind, name)).collect()
        };
        let before = names(&file.text, &mut parser);
        let starts = file.text.match_indices(":\n").map(|(at, _)| at + 2).step_by(7);
        for at in starts {
            // As deep as the line that follows.
            let rest = &file.text[at..];
            let indentation = &rest[..rest.len() - rest.trim_start_matches([' ', '\t']).len()];
            let broken = format!("{}{indentation}%% (( \"{{{{ [a,\n{rest}", &file.text[..at]);
            if names(&broken, &mut parser) != before {
                problems.push(format!("{}:{}", file.name, point(&file.text, at).row + 1));
            }
        }
    }
    report("broken lines that cost other lines", &problems);
}

/// What nests, opens or is looked ahead over, as often as it is written.
const PIECES_OF_MANY: &[&str] = &[
    "- ",
    "# a\n",
    "x:\n - y:\n",
    "[",
    "[\n# a\n",
    "{a:\n",
    "{{",
    "{!",
    "x: |\n  # a\n",
    "\"",
    "if a:\n",
    "\n",
    "   \n",
    "a\n  b\n",
];

#[test]
fn long_texts_are_read_in_time() {
    for grammar in [&ABL, &AGENT_SCRIPT] {
        for piece in PIECES_OF_MANY {
            for start in ["", "a:\n  - b\n", "a: [\n"] {
                let text = format!("{start}{}", piece.repeat(10_000));
                let start = cpu_time::ThreadTime::now();
                let tree = parser(grammar).parse(&text, None).unwrap();
                assert_eq!(errors(&tree), [0; 0], "{}: {piece:?}", grammar.name);
                let time = start.elapsed();
                assert!(time.as_secs_f32() < 5.0, "{}: {piece:?}: {time:?}", grammar.name);
            }
        }
        let mut deep = String::new();
        for depth in 0..400 {
            deep.push_str(&" ".repeat(depth));
            deep.push_str("x:\n");
        }
        assert_eq!(errors(&parser(grammar).parse(&deep, None).unwrap()), [0; 0]);
    }
}
