//! What holds of the answers at every place of every sample.
#![expect(clippy::unwrap_used, clippy::panic, reason = "tests")]

use agentir::diagnostics::{FileId, Span};
use agentir::ir::Node;
use agentir::references::{Occurrence, Role};
use agentir::{Expected, ExpectedKind, Position, Shape, Snapshot, Workspace};
use agentir_analysis::expressions::expressions_of;
use agentir_expr::{Expr, ExprKind, Literal, Visit};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The samples, with their texts.
fn samples() -> Vec<(PathBuf, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus");
    let mut folders = vec![root];
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if let Ok(text) = std::fs::read_to_string(&path)
                && path.extension().is_none_or(|end| end != "md")
            {
                files.push((path, text));
            }
        }
    }
    files.sort();
    files
}

fn snapshot(path: &Path, text: &str) -> (Snapshot, FileId) {
    let name = path.file_name().unwrap().to_string_lossy().into_owned();
    let mut workspace = Workspace::in_memory();
    workspace.set_text(&name, text);
    let snapshot = workspace.snapshot().unwrap();
    let file = snapshot.file(&name).map_or(FileId(u32::MAX), |(id, _)| id);
    (snapshot, file)
}

fn offset(at: usize) -> u32 {
    u32::try_from(at).unwrap()
}

/// The starts of lines, and the ends of words.
fn places(text: &str) -> Vec<usize> {
    let starts = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1));
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let ends = text
        .char_indices()
        .filter(|(at, c)| is_word(*c) && !text[at + c.len_utf8()..].starts_with(is_word));
    let mut all: Vec<usize> = starts.chain(ends.map(|(at, c)| at + c.len_utf8())).collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// What is offered says what it is for and where it is specified, unless it is a name of the program, or what the runtime
/// assigns.
#[test]
fn words_of_the_language_are_documented() {
    let mut words = 0;
    let mut silent = std::collections::BTreeSet::new();
    for (path, text) in samples() {
        let (snapshot, file) = snapshot(&path, &text);
        for at in places(&text).into_iter().step_by(3) {
            let Some(context) = snapshot.context(file, offset(at)) else { continue };
            for one in snapshot.expected(file, offset(at)) {
                let is_of_program = match one.kind {
                    ExpectedKind::Name(_) | ExpectedKind::SystemVariable => true,
                    ExpectedKind::Member => {
                        !context.qualifier.as_ref().is_some_and(|q| q.starts_with('@'))
                    }
                    ExpectedKind::Value => one.shape.starts_with("value of "),
                    _ => false,
                };
                if !is_of_program {
                    words += 1;
                    if one.doc.is_empty() || one.source.is_empty() {
                        let record = context.records.last().map(|record| record.title);
                        silent.insert(format!("{record:?} {:?} {}", one.kind, one.label));
                    }
                }
            }
        }
    }
    assert!(words > 10_000, "{words}");
    assert!(silent.is_empty(), "nothing is said of {silent:#?}");
}

/// Nothing panics, whatever the file says; the word of an answer holds the offset; and what may be written is named.
#[test]
fn answers_hold_at_every_word() {
    let mut asked = 0;
    let mut answered = 0;
    for (path, text) in samples() {
        let (snapshot, file) = snapshot(&path, &text);
        for at in places(&text) {
            asked += 1;
            let Some(context) = snapshot.context(file, offset(at)) else { continue };
            answered += 1;
            let word = context.word.range();
            assert!(word.start <= at && at <= word.end, "{}: {at}", path.display());
            assert!(text.get(word).is_some(), "{}: {at}", path.display());
            for record in &context.records {
                let is_in = text.get(record.span.range()).is_some();
                assert!(is_in, "{}: {at}: {record:?}", path.display());
            }
            for one in &context.expected {
                assert!(
                    !one.label.is_empty() && !one.insert.is_empty(),
                    "{}: {at}",
                    path.display()
                );
            }
        }
    }
    assert!(asked > 30_000, "{asked}");
    assert!(answered * 2 > asked, "{answered} of {asked}");
}

/// The names of programs are found in files with and without errors.
#[test]
fn names_are_listed_at_every_line() {
    for (path, text) in samples() {
        let (snapshot, file) = snapshot(&path, &text);
        let lines = text.match_indices('\n').map(|(at, _)| at);
        for at in lines.step_by(3) {
            let all = snapshot.expected(file, offset(at));
            let mut labels: Vec<_> = all.iter().map(|one| (one.label.as_str(), one.kind)).collect();
            labels.sort_unstable();
            assert!(labels.windows(2).all(|two| two.first() != two.last()), "{}", path.display());
        }
    }
}

/// A key that is written in a sample without errors is listed where it stands.
#[test]
fn keys_of_samples_are_listed() {
    let mut keys = 0;
    let mut missing = Vec::new();
    for (path, text) in samples() {
        if path.components().any(|part| part.as_os_str() == "invalid") {
            continue;
        }
        let (whole, file) = snapshot(&path, &text);
        let mut start = 0;
        for line in text.split_inclusive('\n') {
            let content = line.trim_start_matches([' ', '\t', '-']);
            let at = start + line.len() - content.len();
            start += line.len();
            let Some((key, _)) = content.split_once(':') else { continue };
            let Some(context) = whole.context(file, offset(at)) else { continue };
            let is_key = context.position == Position::Key && context.word.range().start == at;
            let Some(field) = context.field.filter(|field| is_key && field.key == context.word)
            else {
                continue;
            };
            keys += 1;
            let word = context.word.range();
            let without = [&text[..word.start], &text[word.end..]].concat();
            let (snapshot, file) = snapshot(&path, &without);
            let all = snapshot.expected(file, offset(at));
            if !all.iter().any(|one| {
                one.kind == ExpectedKind::Field
                    && one
                        .label
                        .replace(' ', "_")
                        .eq_ignore_ascii_case(&field.name.replace(' ', "_"))
            }) {
                missing.push(format!("{}: `{key}` at {at}", path.display()));
            }
        }
    }
    assert!(keys > 3_000, "{keys}");
    assert!(missing.is_empty(), "{} of {keys}\n{}", missing.len(), missing.join("\n"));
}

/// The files that are read together with a sample: those of its folder, where a folder is a sample.
fn group(path: &Path) -> PathBuf {
    const LOOSE: &[&str] = &["valid", "invalid", "legacy", "newest", "conversations"];
    let name = |path: &Path| path.file_name().map(|name| name.to_string_lossy().into_owned());
    let is_sample = |folder: &&Path| {
        let parent = folder.parent();
        let above = parent.and_then(Path::parent).and_then(name);
        parent.and_then(name).is_some_and(|name| LOOSE.contains(&name.as_str()))
            || above.as_deref() == Some("rosetta")
    };
    path.ancestors().skip(1).find(is_sample).unwrap_or(path).to_owned()
}

/// Calls `ask` with each file of each sample that has a language of its own.
fn each_file(mut ask: impl FnMut(&Path, &str, &Snapshot, FileId)) {
    let all = samples();
    let is_import = |path: &Path| path.components().any(|part| part.as_os_str() == "xo");
    let mut groups: Vec<PathBuf> = all.iter().map(|(path, _)| group(path)).collect();
    groups.dedup();
    for folder in groups.iter().filter(|folder| !is_import(folder)) {
        let files = || all.iter().filter(|(path, _)| group(path) == *folder);
        let root = folder.parent().unwrap();
        let name = |path: &Path| path.strip_prefix(root).unwrap().to_string_lossy().into_owned();
        let mut workspace = Workspace::in_memory();
        files().for_each(|(path, text)| workspace.set_text(name(path), text.clone()));
        let Ok(snapshot) = workspace.snapshot() else { continue };
        for (path, text) in files() {
            if let Some((file, _)) = snapshot.file(&name(path)) {
                ask(path, text, &snapshot, file);
            }
        }
    }
}

/// The line around an offset.
fn line_at(text: &str, at: usize) -> &str {
    let start = text[..at].rfind('\n').map_or(0, |at| at + 1);
    text[start..].lines().next().unwrap_or_default().trim()
}

/// The places of the operators and constants of an expression, each with the text from there to its end.
fn tokens(expr: &Expr, found: &mut Vec<Span>) {
    let mut push = |start: u32, end: u32, file: FileId| {
        if start < end {
            found.push(Span::new(file, start, end));
        }
    };
    let mut between =
        |left: &Expr, right: &Expr| push(left.span.end, right.span.start, left.span.file);
    match &expr.kind {
        ExprKind::Binary { left, right, .. } => between(left, right),
        ExprKind::And(all) | ExprKind::Or(all) => {
            for two in all.windows(2) {
                let [left, right] = two else { continue };
                between(left, right);
            }
        }
        ExprKind::Conditional { condition, then, otherwise } => {
            let mut parts = [condition, then, otherwise];
            parts.sort_by_key(|part| part.span.start);
            let [first, second, third] = parts;
            between(first, second);
            between(second, third);
        }
        ExprKind::IsSet { operand, .. } => push(operand.span.end, expr.span.end, expr.span.file),
        ExprKind::Unary { operand, .. } if operand.span.start > expr.span.start => {
            push(expr.span.start, operand.span.start, expr.span.file);
        }
        ExprKind::Unary { operand, .. } => push(operand.span.end, expr.span.end, expr.span.file),
        ExprKind::Literal(Literal::Bool(_) | Literal::Null) => {
            push(expr.span.start, expr.span.end, expr.span.file);
        }
        _ => {}
    }
}

/// Whether one of these is what a text begins with.
fn begins(all: &[Expected], text: &str) -> bool {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    all.iter().any(|one| {
        let mut words = one.label.split(' ').peekable();
        let mut rest = text;
        while let Some(word) = words.next() {
            let Some((head, tail)) = rest.split_at_checked(word.len()) else { return false };
            if !head.eq_ignore_ascii_case(word) {
                return false;
            }
            rest = if words.peek().is_some() { tail.trim_start() } else { tail };
        }
        !(one.label.ends_with(is_word) && rest.starts_with(is_word))
    })
}

/// Operators of other languages that are read, with the usual ones, which are offered.
const OTHER_SPELLINGS: &[(&str, &str)] =
    &[("&&", "AND"), ("||", "OR"), ("=", "=="), ("===", "=="), ("!==", "!="), ("<>", "!=")];

/// What is read as an operator or a constant is offered where it begins, and within it.
#[test]
fn operators_and_constants_of_samples_are_listed() {
    let mut asked = 0;
    let mut missing = Vec::new();
    each_file(|path, text, snapshot, file| {
        let mut places = Vec::new();
        for (_, program) in snapshot.programs() {
            let mut visit = |node: Node<'_>| {
                expressions_of(node, &mut |expr, _| {
                    expr.visit(&mut |expr| {
                        tokens(expr, &mut places);
                        Visit::Children
                    });
                });
            };
            program.agents().for_each(|agent| agent.walk(&mut visit));
            program.profiles().for_each(|profile| profile.walk(&mut visit));
        }
        places.sort_unstable_by_key(|span| (span.start, span.end));
        places.dedup();
        for span in places.into_iter().filter(|span| span.file == file) {
            let Some(written) = text.get(span.range()) else { continue };
            let token = written.trim_start_matches([' ', '\t', '\r', '\n', ')', '(']);
            let token = token.trim_end_matches([' ', '\t', '\r', '\n', '(']);
            // A text with placeholders is read as a sum of its parts.
            if token.is_empty() || token.starts_with('"') {
                continue;
            }
            let start = span.range().start + written.find(token).unwrap();
            asked += 1;
            let all = snapshot.expected(file, offset(start));
            let usual = OTHER_SPELLINGS.iter().find(|(other, _)| *other == token);
            if !begins(&all, usual.map_or(token, |(_, usual)| usual)) {
                let line = line_at(text, start);
                missing.push(format!("{}: `{token}` at {start}: {line}", path.display()));
            }
        }
    });
    assert!(asked > 500, "{asked}");
    assert!(missing.is_empty(), "{} of {asked}\n{}", missing.len(), missing.join("\n"));
}

/// References that are mistakes: files, what is written, and why it is not offered.
const EXEMPT: &[(&str, &str, &str)] = &[
    ("string_holes.agent", "shelf", "variables are written with their namespace"),
    ("linked_variable_set.agent", "visitor", "linked variables are not set"),
];

/// The name that stands somewhere is among what is expected there.
#[test]
fn references_of_samples_are_listed() {
    let mut asked = 0;
    let mut missing = Vec::new();
    each_file(|path, text, snapshot, file| {
        let Some(program) = snapshot.program_of(file) else { return };
        let Some(references) = snapshot.references(program) else { return };
        let is_named =
            |one: &&Occurrence| matches!(one.role, Role::Read | Role::Write | Role::Alias);
        for one in references.in_file(file).iter().filter(is_named) {
            let Some(written) = text.get(one.span.range()) else { continue };
            let Some(symbol) = references.symbol(one.symbol) else { continue };
            let middle = one.span.range().start + written.len() / 2;
            if !text.is_char_boundary(middle) {
                continue;
            }
            // A name that is introduced here, and one that nothing introduces.
            let definitions = references.definitions(one.symbol);
            if definitions.is_empty() || definitions.contains(&one.span) {
                continue;
            }
            if EXEMPT.iter().any(|(name, exempt, _)| path.ends_with(name) && *exempt == written) {
                continue;
            }
            // A key that names what it begins.
            let context = snapshot.context(file, offset(middle));
            if context.is_some_and(|context| {
                context.position == Position::Key
                    && matches!(context.shapes.as_slice(), [Shape::Record(_)])
            }) {
                continue;
            }
            // Manifests have no language.
            if path.extension().is_some_and(|end| end == "json") {
                continue;
            }
            asked += 1;
            let all = snapshot.expected(file, offset(middle));
            let is_same = |label: &str| {
                label == written || label == symbol.name || written.ends_with(&format!(".{label}"))
            };
            if !all.iter().any(|one| is_same(one.label.trim_start_matches('@'))) {
                let name = path.file_name().unwrap().to_string_lossy();
                missing.push(format!(
                    "{:?} {:?} {name}: `{written}` at {middle}: {}",
                    symbol.kind,
                    one.role,
                    line_at(text, middle)
                ));
            }
        }
    });
    missing.sort();
    assert!(asked > 1_000, "{asked}");
    assert!(missing.is_empty(), "{} of {asked}\n{}", missing.len(), missing.join("\n"));
}

/// Time grows with the text, not with its square.
#[test]
fn large_files_are_answered_at_once() {
    for name in ["parcel_redirect.agent.abl", "luthier_orders.agent", "swarm_hub.yml"] {
        let found = samples().into_iter().find(|(path, _)| path.ends_with(name));
        let Some((path, text)) = found else { panic!("there is no sample {name}") };
        let time = |times: usize| {
            let text = text.repeat(times);
            let (snapshot, file) = snapshot(&path, &text);
            let end = offset(text.trim_end().len());
            assert!(snapshot.context(file, end).is_some(), "{name}");
            let start = Instant::now();
            for _ in 0..3 {
                assert!(snapshot.context(file, end).is_some(), "{name}");
                let _ = snapshot.expected(file, end);
            }
            (start.elapsed(), text.len())
        };
        let ((few, small), (many, large)) = (time(8), time(64));
        // Builds for tests are slow; a quadratic search would take 64 times as long.
        assert!(
            many < few * 24 + Duration::from_millis(20),
            "{name}: {small} bytes in {few:?}, {large} in {many:?}"
        );
    }
}
