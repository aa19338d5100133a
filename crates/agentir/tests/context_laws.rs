//! What holds of the answers at every place of every sample.
#![expect(clippy::unwrap_used, clippy::panic, reason = "tests")]

use agentir::diagnostics::FileId;
use agentir::{ExpectedKind, Position, Snapshot, Workspace};
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
