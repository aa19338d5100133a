//! What stands at a caret, and what may be written there, in every language. `<|>` is the caret.
//!
//! The answers were compared with the specifications: ABL's current one (§3, §8), Agent Script's formal one (parts I and
//! II), and appendix A and B of the paper of ADL.
#![expect(clippy::unwrap_used, clippy::panic, reason = "tests")]

#[path = "context/abl.rs"]
mod abl;
#[path = "context/adl.rs"]
mod adl;
#[path = "context/agent_script.rs"]
mod agent_script;
#[path = "context/completion.rs"]
mod completion;
#[path = "context/texts.rs"]
mod texts;

use agentir::diagnostics::FileId;
use agentir::{Context, Expected, ExpectedKind, Position, Snapshot, Workspace};
use std::fmt::Write;

const CARET: &str = "<|>";

/// A file, and other files of its program.
#[derive(Clone, Copy)]
struct Files<'a> {
    name: &'a str,
    text: &'a str,
    others: &'a [(&'a str, &'a str)],
}

fn snapshot(name: &str, text: &str, others: &[(&str, &str)]) -> (Snapshot, FileId) {
    let mut workspace = Workspace::in_memory();
    workspace.set_text(name, text);
    for (name, text) in others {
        workspace.set_text(name, *text);
    }
    let snapshot = workspace.snapshot().unwrap();
    let file = snapshot.file(name).unwrap().0;
    (snapshot, file)
}

/// The answers at the caret of a text.
fn ask(files: Files<'_>, text: &str) -> (Option<Context>, Vec<Expected>, String) {
    let (before, after) = text.split_once(CARET).unwrap_or_else(|| panic!("no caret in {text}"));
    let text = format!("{before}{after}");
    let (snapshot, file) = snapshot(files.name, &text, files.others);
    let offset = u32::try_from(before.len()).unwrap();
    (snapshot.context(file, offset), snapshot.expected(file, offset), text)
}

/// Compares what is said at each place with a snapshot.
fn check(name: &str, files: Files<'_>, places: &[(&str, &str)]) {
    let mut settings = insta::Settings::clone_current();
    settings.set_omit_expression(true);
    settings.set_snapshot_path("snapshots");
    settings.set_prepend_module_to_snapshot(false);
    settings.bind(|| insta::assert_snapshot!(format!("context__{name}"), table(files, places)));
}

/// The text with a part replaced by one with a caret.
fn edited(files: Files<'_>, part: &str, by: &str) -> String {
    let found = files.text.matches(part).count();
    assert!(found > 0, "there is no {part:?}");
    files.text.replacen(part, by, 1)
}

/// What is said at each place: an edit of the text with the caret in it.
fn table(files: Files<'_>, places: &[(&str, &str)]) -> String {
    let mut out = String::new();
    for (part, by) in places {
        let by_line = by.lines().find(|line| line.contains(CARET)).unwrap_or_default();
        writeln!(out, "## {}", by_line.trim()).unwrap();
        let (context, expected, text) = ask(files, &edited(files, part, by));
        match context {
            Some(context) => describe(&mut out, &context, &text),
            None => out.push_str("nothing\n"),
        }
        list(&mut out, &expected);
        out.push('\n');
    }
    out
}

fn describe(out: &mut String, context: &Context, text: &str) {
    let records: Vec<String> = context
        .records
        .iter()
        .map(|record| match &record.key {
            Some(key) => format!("{} `{key}`", record.title),
            None => record.title.to_owned(),
        })
        .collect();
    writeln!(out, "in {}", records.join(" > ")).unwrap();
    let position = match context.position {
        Position::Key => "key",
        Position::Value => "value",
    };
    write!(out, "{position}").unwrap();
    if let Some(field) = &context.field {
        let required = if field.required { "required " } else { "" };
        write!(out, " of {required}`{}`: {}", field.name, field.shape).unwrap();
        let key = &text[field.key.range()];
        assert!(!key.is_empty(), "the key of {field:?}");
    }
    out.push('\n');
    let shapes: Vec<String> = context.shapes.iter().map(ToString::to_string).collect();
    if !shapes.is_empty() {
        writeln!(out, "takes {}", shapes.join(", or ")).unwrap();
    }
    let word = &text[context.word.range()];
    if !word.is_empty() {
        writeln!(out, "replaces {word:?}").unwrap();
    }
    if let Some(path) = &context.qualifier {
        writeln!(out, "below {path}").unwrap();
    }
    if let Some(tool) = &context.tool {
        writeln!(out, "in a call of {tool}").unwrap();
    }
    if let Some(tool) = &context.result_of {
        writeln!(out, "after a call of {tool}").unwrap();
    }
    if !context.given.is_empty() {
        writeln!(out, "beside {}", context.given.join(", ")).unwrap();
    }
}

/// The list, of long lists of the same kind the first ones.
fn list(out: &mut String, all: &[Expected]) {
    let limit = |kind| match kind {
        ExpectedKind::Function | ExpectedKind::SystemVariable => 2,
        ExpectedKind::Namespace | ExpectedKind::Type => 3,
        _ => usize::MAX,
    };
    let mut rest: Vec<&Expected> = all.iter().collect();
    while let Some(kind) = rest.first().map(|one| one.kind) {
        let (same, others): (Vec<_>, Vec<_>) = rest.into_iter().partition(|one| one.kind == kind);
        same.iter().take(limit(kind)).for_each(|one| line(out, one));
        if same.len() > limit(kind) {
            writeln!(out, "- … {} more ({kind:?})", same.len() - limit(kind)).unwrap();
        }
        rest = others;
    }
}

fn line(out: &mut String, one: &Expected) {
    let kind = match one.kind {
        ExpectedKind::Name(kind) => kind.noun().to_owned(),
        kind => format!("{kind:?}"),
    };
    write!(out, "- {} ({kind})", one.label).unwrap();
    if one.required {
        out.push_str(" required");
    }
    if !one.shape.is_empty() {
        write!(out, ": {}", one.shape).unwrap();
    }
    if one.insert != one.label {
        write!(out, " → {:?}", one.insert).unwrap();
    }
    out.push('\n');
}

/// The labels at the caret, sorted.
fn labels(files: Files<'_>, text: &str) -> Vec<String> {
    let (_, expected, _) = ask(files, text);
    let mut labels: Vec<String> = expected.iter().map(|one| one.label.to_string()).collect();
    labels.sort_unstable();
    labels
}

#[test]
fn fields_offer_what_they_name() {
    let abl = "AGENT: Desk\nGOAL: \"g\"\nTOOLS:\n  file: \"tools/bank.tools.abl\" [IMPORT]\n  find(city: string) -> {x: string}\n    description: \"d\"\nLOOKUP_TABLES:\n  cities:\n    source: inline\n    values: [Rome]\nGATHER:\n  city:\n    prompt: \"p\"\n    type: string\n    semantics:\n      lookup: WHICH\nHANDOFF:\n  - TO: OTHER\n    WHEN: true\n";
    let files = Files { name: "desk.agent.abl", text: abl, others: &[] };
    let at = |place: &str| labels(files, &abl.replacen(place, CARET, 1));
    assert_eq!(at("IMPORT"), ["find"]);
    assert_eq!(at("WHICH"), ["cities"]);
    // An agent does not hand over to itself.
    assert!(!at("OTHER").contains(&"Desk".to_owned()));
}

#[test]
fn a_dash_that_is_written_is_not_written_again() {
    let text = "AGENT: Desk\nGOAL: \"g\"\nCONSTRAINTS:\n  always:\n    - - <|>\n";
    let expected = ask(Files { name: "desk.agent.abl", text, others: &[] }, text).1;
    assert!(!expected.is_empty());
    assert!(expected.iter().all(|one| !one.insert.starts_with('-')), "{expected:?}");
}
