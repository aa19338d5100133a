//! The library through its public door.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests end by panicking")]

use agentir::diagnostics::Applicability;
use agentir::{Cancellation, Cancelled, Detail, Severity, Snapshot, Target, Workspace};
use std::fs;

const POOL: &str = "AGENT: Pool\nGOAL: \"Book lanes\"\n\nTOOLS:\n  book_lane(day: string) -> object\n\nON_START:\n  CALL: book_line(\"monday\")\n  RESPOND: \"Hello\"\n";

fn rules(snapshot: &Snapshot) -> Vec<(String, &'static str)> {
    let name = |d: &agentir::Diagnostic| {
        snapshot.sources().get(d.primary.span.file).unwrap().name.to_string()
    };
    snapshot.check().unwrap().iter().map(|d| (name(d), d.rule.0)).collect()
}

#[test]
fn texts_in_memory_are_checked_without_a_disk() {
    let mut workspace = Workspace::in_memory();
    workspace.set_text("pool.agent.abl", POOL);
    let snapshot = workspace.snapshot().unwrap();
    assert!(rules(&snapshot).contains(&("pool.agent.abl".to_owned(), "undefined-tool")));
    let (file, source) = snapshot.file("pool.agent.abl").unwrap();
    let (fixed, applied) = snapshot.fix(file, Applicability::Unsafe).unwrap().unwrap();
    assert_eq!((applied, fixed), (1, source.text.replace("book_line", "book_lane")));
}

#[test]
fn snapshots_do_not_see_later_changes() {
    let mut workspace = Workspace::in_memory();
    workspace.set_text("pool.agent.abl", POOL);
    let before = workspace.snapshot().unwrap();
    workspace.set_text("pool.agent.abl", POOL.replace("book_line", "book_lane"));
    let after = workspace.snapshot().unwrap();
    let undefined =
        |snapshot: &Snapshot| rules(snapshot).iter().any(|(_, rule)| *rule == "undefined-tool");
    assert!(undefined(&before) && !undefined(&after));
    assert!(before.file("pool.agent.abl").unwrap().1.text.contains("book_line"));
}

#[test]
fn unchanged_files_are_shared_between_snapshots() {
    let mut workspace = Workspace::in_memory();
    workspace.set_text("a/one.agent.abl", POOL);
    workspace.set_text("a/two.agent.abl", POOL.replace("Pool", "Other"));
    let agents = |snapshot: &Snapshot| {
        let (_, program) = snapshot.programs().next().unwrap();
        program.agents.clone()
    };
    let before = agents(&workspace.snapshot().unwrap());
    workspace.set_text("a/two.agent.abl", POOL.replace("Pool", "Third"));
    let after = agents(&workspace.snapshot().unwrap());
    assert!(std::sync::Arc::ptr_eq(&before[0], &after[0]), "the file that was left alone");
    assert_eq!(after[1].metadata.name.value, "Third");
}

#[test]
fn files_come_and_go() {
    let mut workspace = Workspace::in_memory();
    workspace.set_text("pool.agent.abl", POOL);
    assert_eq!(workspace.snapshot().unwrap().programs().count(), 1);
    workspace.set_text("other/x.agent", "system:\n    instructions: \"hi\"\n");
    assert_eq!(workspace.snapshot().unwrap().programs().count(), 2);
    workspace.remove_text("other/x.agent");
    assert_eq!(workspace.snapshot().unwrap().programs().count(), 1);
}

#[test]
fn configurations_in_memory_count() {
    let mut workspace = Workspace::in_memory();
    workspace.set_text("pool.agent.abl", POOL);
    workspace.snapshot().unwrap();
    workspace.set_text("agentir.toml", "[rules]\nundefined-tool = \"info\"\n");
    let snapshot = workspace.snapshot().unwrap();
    let of = |rule| snapshot.check().unwrap().iter().find(|d| d.rule.0 == rule).unwrap().severity;
    assert_eq!(of("undefined-tool"), Severity::Info);
}

#[test]
fn unsaved_texts_take_precedence_over_files() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("pool.agent.abl");
    fs::write(&path, POOL).unwrap();
    let mut workspace = Workspace::on_disk([folder.path()]);
    let count = |workspace: &mut Workspace| {
        let snapshot = workspace.snapshot().unwrap();
        rules(&snapshot).iter().filter(|(_, rule)| *rule == "undefined-tool").count()
    };
    assert_eq!(count(&mut workspace), 1);
    workspace.set_text(&path, POOL.replace("book_line", "book_lane"));
    assert_eq!(count(&mut workspace), 0);
    workspace.remove_text(&path);
    assert_eq!(count(&mut workspace), 1);
}

#[test]
fn checks_can_be_cancelled_and_asked_again() {
    let mut workspace = Workspace::in_memory();
    workspace.set_text("pool.agent.abl", POOL);
    let snapshot = workspace.snapshot().unwrap();
    let cancellation = Cancellation::default();
    cancellation.cancel();
    let cancelled = snapshot.clone().cancelled_by(cancellation);
    assert_eq!(cancelled.check().unwrap_err(), Cancelled);
    assert!(!snapshot.check().unwrap().is_empty());
    assert!(cancelled.check().is_ok(), "what is known needs no work");
}

#[test]
fn snapshots_go_to_other_threads() {
    fn is_send_and_sync<T: Send + Sync>(_: &T) {}
    let mut workspace = Workspace::in_memory();
    workspace.set_text("pool.agent.abl", POOL);
    let snapshot = workspace.snapshot().unwrap();
    is_send_and_sync(&snapshot);
    let other = snapshot.clone();
    let found = std::thread::spawn(move || other.check().unwrap().len()).join().unwrap();
    assert_eq!(found, snapshot.check().unwrap().len());
}

#[test]
fn programs_are_converted_drawn_formatted_and_compared() {
    let mut workspace = Workspace::in_memory();
    workspace.set_text("pool.agent.abl", POOL.replace("book_line", "book_lane"));
    let snapshot = workspace.snapshot().unwrap();
    let (id, _) = snapshot.programs().next().unwrap();
    let script = snapshot.convert(id, Target::AgentScript).unwrap();
    assert!(script.files.iter().any(|file| file.path.ends_with(".agent")));
    assert!(!snapshot.graph(id, Detail::Steps).unwrap().agents.is_empty());
    let (file, source) = snapshot.file("pool.agent.abl").unwrap();
    assert!(snapshot.format(file).unwrap().contains("book_lane"));
    assert!(!source.text.is_empty());
    assert!(snapshot.diff(id, &snapshot, id).is_some());
    assert!(agentir::explain("undefined-tool").unwrap().contains("undefined-tool"));
    assert!(agentir::explain("no-such-rule").is_none());
}

/// A relative workspace and an editor that says absolute paths mean the same file.
#[test]
fn a_text_belongs_to_a_file_however_its_path_is_written() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("pool.agent.abl"), POOL).unwrap();
    let inner = folder.path().join(".");
    let mut workspace = Workspace::on_disk([inner]);
    workspace.snapshot().unwrap();
    workspace.set_text(folder.path().join("pool.agent.abl"), POOL.replace("Pool", "Other"));
    let snapshot = workspace.snapshot().unwrap();
    let names: Vec<_> = snapshot
        .programs()
        .flat_map(|(_, program)| program.agents().map(|a| a.metadata.name.value.to_string()))
        .collect();
    assert_eq!(names, ["Other"]);
}

/// A comment that suppresses nothing is reported as long as its file is there, and no longer.
#[test]
fn files_that_are_gone_have_no_findings() {
    let mut workspace = Workspace::in_memory();
    let idle = format!("# agentir: ignore[unused-tool] for a while\n{POOL}");
    workspace.set_text("a/pool.agent.abl", POOL);
    workspace.set_text("b/idle.agent.abl", idle.replace("book_lane", "book_line"));
    let of_idle =
        |snapshot: &Snapshot| rules(snapshot).iter().any(|(name, _)| name.contains("idle"));
    assert!(of_idle(&workspace.snapshot().unwrap()));
    workspace.remove_text("b/idle.agent.abl");
    let snapshot = workspace.snapshot().unwrap();
    assert!(!of_idle(&snapshot));
    assert!(snapshot.file("b/idle.agent.abl").is_none());
    assert!(rules(&snapshot).iter().all(|(name, _)| name == "a/pool.agent.abl"));
}

/// After each edit of a project of many files the findings are those of a workspace that was made anew.
#[test]
fn edits_lead_to_what_a_new_workspace_finds() {
    let name = |n: usize| format!("agents/agent_{n}.agent.abl");
    let text = |n: usize, edit: usize| {
        let tool = if edit.is_multiple_of(2) { "book_line" } else { "book_lane" };
        POOL.replace("Pool", &format!("Pool_{n}")).replace("book_line", tool)
    };
    let mut edited = Workspace::in_memory();
    edited.set_text("project.json", "{\"entry_agent\": \"Pool_0\"}");
    let mut edits = [0; 12];
    for n in 0..edits.len() {
        edited.set_text(name(n), text(n, 0));
    }
    for step in 0..30 {
        let n = step * 7 % edits.len();
        edits[n] += 1 + step % 3;
        edited.set_text(name(n), text(n, edits[n]));
        if step % 5 == 4 {
            let other = (n + 1) % edits.len();
            edited.remove_text(name(other));
            edited.snapshot().unwrap();
            edited.set_text(name(other), text(other, edits[other]));
        }
        let mut new = Workspace::in_memory();
        new.set_text("project.json", "{\"entry_agent\": \"Pool_0\"}");
        for (n, edit) in edits.iter().enumerate() {
            new.set_text(name(n), text(n, *edit));
        }
        let both = [edited.snapshot().unwrap(), new.snapshot().unwrap()];
        let [edited_rules, new_rules] = both.each_ref().map(rules);
        assert_eq!(edited_rules, new_rules, "after step {step}");
    }
}
