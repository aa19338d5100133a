//! The library through its public door.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests end by panicking")]

#[path = "workspace/kept.rs"]
mod kept;

use agentir::diagnostics::Applicability;
use agentir::targets;
use agentir::{Cancellation, Cancelled, Detail, Severity, Snapshot, Workspace};
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
    let (fixed, applied) = snapshot.fix(file, Applicability::Unsafe).unwrap();
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
    let script = snapshot.convert(id, targets::AGENT_SCRIPT).unwrap();
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

#[test]
fn parent_folders_in_paths_are_resolved() {
    let folder = tempfile::tempdir().unwrap();
    let bots = folder.path().join("bots");
    fs::create_dir(&bots).unwrap();
    fs::write(bots.join("pool.agent.abl"), POOL).unwrap();
    let good = POOL.replace("book_line", "book_lane");
    for root in [bots.clone(), folder.path().join("bots/../bots"), folder.path().join("./bots")] {
        let mut workspace = Workspace::on_disk([root]);
        let is_wrong = |workspace: &mut Workspace| {
            let snapshot = workspace.snapshot().unwrap();
            assert_eq!(snapshot.files_read(), 1);
            rules(&snapshot).iter().any(|(_, rule)| *rule == "undefined-tool")
        };
        assert!(is_wrong(&mut workspace));
        workspace.set_text(folder.path().join("bots/../bots/./pool.agent.abl"), good.as_str());
        assert!(!is_wrong(&mut workspace));
        workspace.remove_text(folder.path().join("other/../bots/pool.agent.abl"));
        assert!(is_wrong(&mut workspace));
    }
    let mut workspace = Workspace::in_memory();
    workspace.set_text("pool.agent.abl", POOL);
    workspace.set_text("other/../pool.agent.abl", good);
    let snapshot = workspace.snapshot().unwrap();
    assert_eq!((snapshot.files_read(), snapshot.sources().len()), (1, 1));
}

/// A file that several paths name is checked once: in the program that one of them is, or contains.
#[test]
fn files_that_are_named_twice_are_checked_once() {
    let folder = tempfile::tempdir().unwrap();
    let inner = folder.path().join("inner");
    fs::create_dir(&inner).unwrap();
    fs::write(folder.path().join("project.json"), r#"{"entry_agent": "Pool"}"#).unwrap();
    fs::write(folder.path().join("pool.agent.abl"), POOL).unwrap();
    fs::write(inner.join("desk.agent.abl"), POOL.replace("Pool", "Desk")).unwrap();
    let of = |paths: &[&std::path::Path]| {
        let snapshot = Workspace::on_disk(paths).snapshot().unwrap();
        let agents: Vec<usize> = snapshot.programs().map(|(_, p)| p.agents.len()).collect();
        (rules(&snapshot), agents, snapshot.files_read())
    };
    let whole = of(&[folder.path()]);
    assert_eq!((&whole.1, whole.2), (&vec![2], 2));
    let file = folder.path().join("pool.agent.abl");
    let again = folder.path().join("inner/../pool.agent.abl");
    for paths in [
        &[folder.path(), folder.path()][..],
        &[folder.path(), &inner],
        &[&inner, folder.path()],
        &[&file, folder.path(), &again],
    ] {
        let found = of(paths);
        assert_eq!((&found.1, found.2), (&whole.1, whole.2), "{paths:?}");
        assert_eq!(found.0.len(), whole.0.len(), "{paths:?}");
    }
    assert_eq!(of(&[&file, &again]).2, 1);
    assert_eq!(of(&[&file, &inner]).1, [1, 1]);
}

#[test]
fn archives_in_memory_are_opened() {
    use std::io::Write;
    let mut archive = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    archive.start_file("botDefinition.json", zip::write::SimpleFileOptions::default()).unwrap();
    let corpus = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/xo/valid/bicycle_rental");
    let definition = fs::read(std::path::Path::new(corpus).join("botDefinition.json")).unwrap();
    archive.write_all(&definition).unwrap();
    let bytes = archive.finish().unwrap().into_inner();
    let mut workspace =
        Workspace::new(std::sync::Arc::new(agentir::vfs::Memory::new()), vec!["export.zip".into()]);
    workspace.set_bytes("export.zip", bytes);
    let snapshot = workspace.snapshot().unwrap();
    let (_, program) = snapshot.programs().next().unwrap();
    assert!(!program.agents.is_empty());
    let mermaid = agentir::draw::mermaid(
        &snapshot.graph(snapshot.programs().next().unwrap().0, Detail::Agents).unwrap(),
    );
    assert!(mermaid.starts_with("flowchart"), "{mermaid}");
}

#[test]
fn everything_a_setter_takes_can_be_named() {
    let mut workspace = Workspace::in_memory();
    workspace.set_text("agentir.toml", "[rules]\nundefined-tool = \"off\"\n");
    workspace.set_text("pool.agent.abl", POOL);
    let count = |workspace: &mut Workspace, rule| {
        let snapshot = workspace.snapshot().unwrap();
        rules(&snapshot).iter().filter(|(_, found)| *found == rule).count()
    };
    assert_eq!(count(&mut workspace, "undefined-tool"), 0);
    let none = agentir::Configs::none(agentir::config_names());
    workspace.set_configs(std::sync::Arc::new(none));
    assert_eq!(count(&mut workspace, "undefined-tool"), 1);
    workspace.set_selection(agentir::Selection::new([], ["undefined-tool"]).unwrap());
    assert_eq!(count(&mut workspace, "undefined-tool"), 0);
    workspace.set_selection(agentir::Selection::default());
    assert_eq!(count(&mut workspace, "undefined-tool"), 1);
    let version = Some(agentir::Version::Legacy);
    workspace.set_options(agentir::ReadOptions { version, fragment: true, variant: None });
    assert_eq!(
        count(&mut workspace, "undefined-tool"),
        0,
        "nothing is known of a fragment's tools"
    );
}

/// Of two agents with one name the later file is reported, whichever was opened first.
#[test]
fn findings_do_not_depend_on_the_order_in_which_files_appear() {
    let agent = "AGENT: Same\nGOAL: \"g\"\n";
    let files = ["a.agent.abl", "b.agent.abl", "c.agent.abl"];
    let of = |workspace: &mut Workspace| {
        let snapshot = workspace.snapshot().unwrap();
        let duplicates = rules(&snapshot).into_iter().filter(|(_, r)| *r == "duplicate-agent");
        let order: Vec<_> = snapshot.sources().iter().map(|(_, f)| f.name.to_string()).collect();
        (duplicates.map(|(file, _)| file).collect::<Vec<_>>(), order)
    };
    for order in [[0, 1, 2], [2, 1, 0], [1, 2, 0], [0, 2, 1]] {
        let mut workspace = Workspace::in_memory();
        workspace.set_text("project.json", "{}");
        let mut last = None;
        for index in order {
            workspace.set_text(files[index], agent);
            last = Some(of(&mut workspace));
        }
        let mut fresh = Workspace::in_memory();
        fresh.set_text("project.json", "{}");
        files.iter().for_each(|file| fresh.set_text(file, agent));
        assert_eq!(last, Some(of(&mut fresh)), "{order:?}");
        assert_eq!(last.unwrap().0, ["b.agent.abl", "c.agent.abl"]);
    }
}

/// A folder inside a project is not all of it; a folder elsewhere may be.
#[test]
fn a_part_of_a_project_is_not_complete() {
    let desk = "AGENT: Desk\nGOAL: \"g\"\nUSE BEHAVIOR_PROFILE: calm\n";
    let lead = "SUPERVISOR: Lead\nGOAL: \"g\"\nHANDOFF:\n  - TO: Desk\n    WHEN: true\n  - TO: Elsewhere\n    WHEN: true\n";
    let folder = tempfile::tempdir().unwrap();
    let agents = folder.path().join("project/agents");
    fs::create_dir_all(&agents).unwrap();
    fs::write(agents.join("desk.agent.abl"), desk).unwrap();
    fs::write(agents.join("lead.agent.abl"), lead).unwrap();
    let missing = |root: &std::path::Path| {
        let snapshot = Workspace::on_disk([root]).snapshot().unwrap();
        let undefined = |(_, rule): &(_, &str)| rule.starts_with("undefined-");
        rules(&snapshot).into_iter().filter(undefined).count()
    };
    assert_eq!(missing(&agents), 2);
    fs::write(folder.path().join("project/project.json"), "{}").unwrap();
    assert_eq!(missing(&agents), 0);
    assert_eq!(missing(&agents.join("../agents")), 0);
    assert_eq!(missing(&folder.path().join("project")), 2);
    assert_eq!(missing(&folder.path().join("project/project.json")), 2);
    assert_eq!(missing(folder.path()), 2);
}

#[test]
fn problems_of_a_configuration_stay_known() {
    let mut files = agentir::vfs::Memory::new();
    files.insert("own.toml", "[rules]\nno-such-rule = \"off\"\n");
    let path = std::path::Path::new("own.toml");
    let configs =
        agentir::Configs::fixed(std::sync::Arc::new(files), path, agentir::config_names()).unwrap();
    let mut workspace = Workspace::in_memory();
    workspace.set_configs(std::sync::Arc::new(configs));
    for name in ["a.agent.abl", "b.agent.abl"] {
        workspace.set_text(name, POOL);
        let snapshot = workspace.snapshot().unwrap();
        assert_eq!(snapshot.config_problems().diagnostics.len(), 1, "{name}");
    }
}

/// A bot of ADL consists of its file, the Python files beside it and its settings, whether its folder or its file is
/// named.
#[test]
fn a_bot_is_named_by_its_folder_or_its_file() {
    let files = [
        ("bot/tools.py", "def get_day(context):\n    return \"monday\"\n"),
        ("bot/below/more.py", "def get_day(:\n"),
        (
            "bot/agents.yml",
            "main:\n  type: flow agent\n  description: d\n  steps:\n    - call: get_dya\n",
        ),
    ];
    let found = |paths: &[&str]| {
        let disk: agentir::vfs::Memory = files.into_iter().collect();
        let roots = paths.iter().map(std::path::PathBuf::from).collect();
        let mut workspace = Workspace::new(std::sync::Arc::new(disk), roots);
        let snapshot = workspace.snapshot().unwrap();
        let texts: Vec<String> =
            snapshot.check().unwrap().iter().map(|d| format!("{d:?}")).collect();
        (texts, snapshot.sources().iter().count())
    };
    let folder = found(&["bot"]);
    assert!(
        folder.0.iter().any(|finding| finding.contains("did you mean `get_day`")),
        "{folder:?}"
    );
    assert_eq!(folder.1, 2);
    assert_eq!(found(&["bot/agents.yml"]), folder);
    assert_eq!(found(&["bot/agents.yml", "bot/tools.py"]), folder);
    assert_eq!(found(&["bot/tools.py", "bot", "bot/agents.yml"]), folder);
}

/// What lies behind an error that ends the reading of a file is unknown, so nothing is said about it.
#[test]
fn nothing_is_missing_behind_an_error_that_ends_the_reading() {
    let one = |name: &str, text: &str| {
        let mut workspace = Workspace::in_memory();
        workspace.set_text("all/project.json", "{\"entry_agent\": \"Desk\"}");
        workspace.set_text(
            "all/desk.agent.abl",
            "SUPERVISOR: Desk\nGOAL: \"Route\"\n\nHANDOFF:\n  - TO: Pool\n    WHEN: INTENT(\"pool\")\n\nCOMPLETE:\n  - WHEN: nothing_of_this == 1\n",
        );
        workspace.set_bytes(name, text.as_bytes());
        let snapshot = workspace.snapshot().unwrap();
        rules(&snapshot)
    };
    let rules_of = |text: &str| {
        let mut workspace = Workspace::in_memory();
        workspace.set_text("pool.agent.yaml", text);
        let of: Vec<_> = rules(&workspace.snapshot().unwrap());
        of.into_iter().map(|(_, rule)| rule).collect::<Vec<_>>()
    };
    let broken = "agent: Pool\ngoal: \"Book\"\npersona\ngather:\n  - day\n";
    let found = one("all/pool.agent.yaml", broken);
    let in_file = |end: &str| {
        let of: Vec<_> = found.iter().filter(|(name, _)| name.ends_with(end)).collect();
        of.into_iter().map(|(_, rule)| *rule).collect::<Vec<_>>()
    };
    assert_eq!(in_file("pool.agent.yaml"), ["syntax-error"]);
    let first = rules_of("agent Pool\ngoal: \"Book\"\n");
    assert_eq!(first, ["syntax-error"], "not even the header is missing");
    let desk = in_file("desk.agent.abl");
    assert!(desk.contains(&"undefined-variable"), "the other files are checked: {desk:?}");
    assert!(!desk.contains(&"undefined-agent"), "the agent may be there: {desk:?}");
}

/// Findings of a text that is a file of its own, as `line:column rule`.
fn found(name: &str, text: &str) -> Vec<String> {
    let mut workspace = Workspace::in_memory();
    workspace.set_text(name, text);
    let snapshot = workspace.snapshot().unwrap();
    let position = |d: &agentir::Diagnostic| {
        let file = snapshot.sources().get(d.primary.span.file).unwrap();
        let before = &file.text[..d.primary.span.start as usize];
        let line = before.matches('\n').count() + 1;
        let column = before.len() - before.rfind('\n').map_or(0, |at| at + 1) + 1;
        format!("{line}:{column} {} {}", d.rule.0, d.message)
    };
    snapshot.check().unwrap().iter().map(position).collect()
}

/// A stray line at the margin does not end the section that it interrupts.
#[test]
fn a_section_goes_on_after_a_stray_line() {
    let text = |stray: &str| {
        format!(
            "AGENT: A\nGOAL: \"x\"\nTOOLS:\n  look(day: string) -> object\nFLOW:\n  a:\n    CALL: look(\"x\")\n    THEN: b\n{stray}\n  b:\n    REASONING: false\n    THEN: nowhere\n"
        )
    };
    let missing = "12:11 undefined-step there is no step `nowhere`";
    assert_eq!(found("a.agent.abl", &text("")), [missing]);
    for stray in ["oops", "<<<<<<< HEAD", "THEN: a", "=======", "not a line of ABL"] {
        let all = found("a.agent.abl", &text(stray));
        assert_eq!(all.len(), 2, "{stray}: {all:?}");
        assert!(all[0].starts_with("9:1 "), "{stray}: {all:?}");
        assert_eq!(all[1], missing, "{stray}");
    }
}

/// A key that takes a value and has none is reported, once, and not taken for something else.
#[test]
fn keys_without_a_value_are_reported() {
    let parts = [
        ("HANDOFF:\n  - TO:\n    WHEN: true\n", "4:5 invalid-value `TO` has no value"),
        ("COMPLETE:\n  - WHEN:\n    RESPOND: \"ok\"\n", "4:5 invalid-value `WHEN` has no value"),
        (
            "FLOW:\n  a:\n    REASONING: false\n    ON_INPUT:\n      - IF:\n        THEN: b\n      - ELSE:\n        THEN: b\n  b:\n    THEN: COMPLETE\n",
            "7:9 invalid-value `IF` has no value",
        ),
        (
            "FLOW:\n  a:\n    REASONING:\n    THEN: COMPLETE\n",
            "5:5 invalid-value `REASONING` has no value",
        ),
        ("FLOW:\n  a:\n    SET:\n    THEN: COMPLETE\n", "5:5 invalid-value `SET` has no value"),
        (
            "FLOW:\n  a:\n    RESPOND:\n    THEN: COMPLETE\n",
            "5:5 invalid-value `RESPOND` has no value",
        ),
    ];
    for (part, expected) in parts {
        let text = format!("AGENT: A\nGOAL: \"x\"\n{part}");
        assert_eq!(found("a.agent.abl", &text), [expected], "{text}");
    }
    let list = found("a.agent.yaml", "agent: A\ngoal: [a, b]\n");
    assert_eq!(list, ["2:1 invalid-value `goal` does not take a list"]);
}

/// A key without its colon, or with one of full width, is one finding, and the key counts.
#[test]
fn a_missing_colon_in_abl_is_one_finding() {
    let text = "AGENT: A\nGOAL: \"x\"\nINSTRUCTIONS: |\n  Be nice.\n  Be kind.\nTOOLS:\n  look(day: string) -> object\n    description: \"Looks\"\nGATHER:\n  day:\n    prompt: \"When?\"\nFLOW:\n  a:\n    CALL: look(day)\n    THEN: b\n  b:\n    RESPOND: \"ok\"\n    THEN: COMPLETE\n";
    assert_eq!(found("a.agent.abl", text), Vec::<String>::new());
    let keys = [
        "AGENT",
        "GOAL",
        "INSTRUCTIONS",
        "TOOLS",
        "description",
        "GATHER",
        "prompt",
        "FLOW",
        "CALL",
        "THEN",
        "RESPOND",
    ];
    let named = ["  day:", "  a:", "  b:"];
    for key in keys.iter().map(|key| format!("{key}:")).chain(named.map(str::to_owned)) {
        assert_eq!(text.matches(&key).count().min(1), 1, "{key}");
        let word = key.trim().trim_end_matches(':');
        let missing = found("a.agent.abl", &text.replacen(&key, &key.replace(':', ""), 1));
        assert_eq!(missing.len(), 1, "{key}: {missing:?}");
        assert!(missing[0].ends_with(&format!("a `:` is missing after `{word}`")), "{missing:?}");
        let wide = found("a.agent.abl", &text.replacen(&key, &key.replace(':', "："), 1));
        assert_eq!(wide.len(), 1, "{key}: {wide:?}");
        assert!(wide[0].ends_with("a full-width colon does not end a key"), "{wide:?}");
    }
}

/// A broken file of a bot has its error, and none that follows from what was not read.
#[test]
fn an_error_that_ends_the_reading_is_the_only_finding() {
    let bot = "main:\n  type: flow agent\n  steps:\n    - call: desk\n\ndesk:\n  type: ensemble agent\n  description: \"Desk\"\n  contains:\n    - lanes\n  fallback: default\n\nlanes:\n  type: flow agent\n  description: \"Lanes\"\n  steps:\n    - bot: \"Hello\"\n    - call: book_lane\n";
    let python = "def book_lane():\n    return []\n";
    let of = |bot: &str, python: &str| {
        let mut workspace = Workspace::in_memory();
        workspace.set_text("bot/agents.yml", bot);
        workspace.set_text("bot/tools.py", python);
        rules(&workspace.snapshot().unwrap())
    };
    assert_eq!(of(bot, python), []);
    let breaks = [
        ("main:", "main"),
        ("type: ensemble agent", "type ensemble agent"),
        ("contains:", "contains"),
        ("contains:\n    - lanes", "contains: [lanes"),
        ("  fallback", "\tfallback"),
        ("fallback:", "fallback"),
        ("\"Lanes\"", "\"Lanes"),
        ("\"Hello\"", "\"Hello"),
        ("steps:", "steps"),
    ];
    for (from, to) in breaks {
        let found = of(&bot.replacen(from, to, 1), python);
        assert_eq!(found.len(), 1, "{to}: {found:?}");
        assert_eq!(found[0].1, "syntax-error", "{to}");
    }
    let found = of(bot, &python.replace("()", "(day: str"));
    assert_eq!(found, [("bot/tools.py".to_owned(), "syntax-error")]);
}

/// Suppression comments work in the Python files of a bot as in its own.
#[test]
fn comments_in_python_suppress() {
    let bot = "main:\n  type: flow agent\n  steps:\n    - call: lanes\n\nlanes:\n  type: flow agent\n  description: \"Lanes\"\n  steps:\n    - call: look\n";
    let of = |python: &str| {
        let mut workspace = Workspace::in_memory();
        workspace.set_text("bot/agents.yml", bot);
        workspace.set_text("bot/tools.py", python);
        rules(&workspace.snapshot().unwrap()).into_iter().map(|(_, rule)| rule).collect::<Vec<_>>()
    };
    let python = "\"\"\"Tools.\"\"\"\nimport smtplib\n\ndef look():\n    return \"# agentir: ignore[mica-call]\"\n";
    assert_eq!(of(python), ["mica-import"]);
    let at_end =
        python.replace("smtplib\n", "smtplib  # agentir: ignore[mica-import] allowed here\n");
    assert_eq!(of(&at_end), Vec::<&str>::new());
    let above = python.replace("import", "# agentir: ignore[mica-import] allowed here\nimport");
    assert_eq!(of(&above), Vec::<&str>::new());
    let whole = format!("# agentir: ignore-file[mica-import] allowed here\n{python}");
    assert_eq!(of(&whole), Vec::<&str>::new());
    let elsewhere = python.replace("def look", "# agentir: ignore[mica-import]\ndef look");
    assert_eq!(of(&elsewhere), ["mica-import", "unused-suppression"]);
    let unknown = python.replace("smtplib\n", "smtplib  # agentir: ignore[mica-imports]\n");
    assert!(of(&unknown).contains(&"invalid-suppression"));
}

/// What is not text cannot be written back: its bytes would be lost.
#[test]
fn what_is_not_text_is_not_rewritten() {
    let mut workspace = Workspace::in_memory();
    let bytes = [POOL.as_bytes(), b"# caf\xe9\n"].concat();
    workspace.set_bytes("pool.agent.abl", bytes);
    let snapshot = workspace.snapshot().unwrap();
    let (file, _) = snapshot.file("pool.agent.abl").unwrap();
    let formatted = snapshot.format(file);
    assert!(matches!(formatted, Err(agentir::FormatError::NotText)), "{formatted:?}");
    for least in [Applicability::Safe, Applicability::Unsafe] {
        assert_eq!(snapshot.fix(file, least), Err(agentir::FixError::NotText));
    }
}

#[test]
fn a_selection_takes_only_names_of_rules_and_groups() {
    let unknown = agentir::Selection::new(["undefined-tol"], []).unwrap_err();
    assert_eq!(unknown.to_string(), "there is no rule or group `undefined-tol`");
    assert_eq!(unknown.closest, Some("undefined-tool"));
    assert!(agentir::Selection::new([], ["nothing of ours"]).is_err());
    assert!(agentir::Selection::new(["syntax", "undefined-tool"], []).is_ok());
}

/// A text that is no part of the workspace does not disappear in silence.
#[test]
fn texts_that_are_not_read_are_listed() {
    let memory = agentir::vfs::Memory::new();
    let mut workspace = Workspace::new(std::sync::Arc::new(memory), vec!["project".into()]);
    workspace.set_text("project/pool.agent.abl", POOL);
    workspace.set_text("project/project.json", "{}");
    workspace.set_text("project/agentir.toml", "exclude = [\"**/*.draft.abl\"]\n");
    assert!(workspace.snapshot().unwrap().ignored().is_empty());
    workspace.set_text("project/no_extension", POOL);
    workspace.set_text("project/new.draft.abl", POOL);
    workspace.set_text("elsewhere/./pool.agent.abl", POOL);
    let snapshot = workspace.snapshot().unwrap();
    assert_eq!(snapshot.files_read(), 1);
    let ignored = ["elsewhere/pool.agent.abl", "project/new.draft.abl", "project/no_extension"];
    assert_eq!(snapshot.ignored(), ignored.map(std::path::PathBuf::from));
    workspace.remove_text("project/no_extension");
    assert_eq!(workspace.snapshot().unwrap().ignored().len(), 2);
}

/// A stray line anywhere in a document is one finding, at its place, and everything else is read as before.
#[test]
fn a_stray_line_is_one_finding_wherever_it_is() {
    let abl = "AGENT: A\nGOAL: \"x\"\nINSTRUCTIONS: |\n  Be nice.\n  Be kind.\nTOOLS:\n  look(day: string) -> object\n    description: \"Looks\"\nGATHER:\n  day:\n    prompt: \"When?\"\nFLOW:\n  a:\n    REASONING: false\n    CALL: look(day)\n      ON_FAIL:\n        RESPOND: \"no\"\n        THEN: b\n    THEN: b\n  b:\n    REASONING: false\n    RESPOND: \"ok\"\n    THEN: COMPLETE\n";
    let script = "config:\n  developer_name: \"a\"\n  agent_type: \"AgentforceEmployeeAgent\"\nvariables:\n  day: mutable string = \"\"\nstart_agent a:\n  description: \"d\"\n  reasoning:\n    instructions: ->\n      | Ask for {!@variables.day}\n        and be kind.\n      if @variables.day == \"\":\n        | Ask.\n    actions:\n      look: @actions.look\n        with day = @variables.day\n        set @variables.day = @outputs.day\n  actions:\n    look:\n      description: \"Looks\"\n      target: \"flow://look\"\n      inputs:\n        day: string\n      outputs:\n        day: string\n";
    let yaml = "agent: A\ngoal: \"x\"\ntools:\n  - name: look\n    description: \"Looks\"\n    parameters:\n      - name: day\n        type: string\nflow:\n  a:\n    reasoning: false\n    call: look(\"x\")\n    then: b\n  b:\n    reasoning: false\n    respond: \"ok\"\n    then: COMPLETE\n";
    let adl = "main:\n  type: flow agent\n  steps:\n    - call: desk\n\ndesk:\n  type: flow agent\n  description: \"Desk\"\n  steps:\n    - bot: \"Hello\"\n    - user\n    - bot: \"Bye\"\n";
    for (name, text) in
        [("a.agent.abl", abl), ("a.agent", script), ("a.agent.yaml", yaml), ("agents.yml", adl)]
    {
        assert_eq!(found(name, text), Vec::<String>::new(), "{name}");
        let lines: Vec<&str> = text.lines().collect();
        let is_yaml = name.ends_with("ml");
        let strays: &[&str] = if is_yaml {
            &["<<<<<<< HEAD", "=======", ">>>>>>> branch"]
        } else {
            &["<<<<<<< HEAD", "=======", ">>>>>>> branch", "oops", "What is this?"]
        };
        for stray in strays {
            for at in 1..lines.len() {
                let mut with = lines.clone();
                with.insert(at, stray);
                let all = found(name, &(with.join("\n") + "\n"));
                assert_eq!(all.len(), 1, "{name}, {stray} before line {}: {all:?}", at + 1);
                let line = format!("{}:1 syntax-error ", at + 1);
                assert!(all[0].starts_with(&line), "{name}, {stray}: {all:?}");
            }
        }
        // A comment at the margin is none; in ABL it ends a text.
        let in_text = |at: usize| name.ends_with(".abl") && (3..5).contains(&at);
        for at in (1..lines.len()).filter(|at| !in_text(*at)) {
            let mut with = lines.clone();
            with.insert(at, "# a comment");
            let all = found(name, &(with.join("\n") + "\n"));
            assert_eq!(all, Vec::<String>::new(), "{name}, a comment before line {}", at + 1);
        }
        // Of a whole conflict the first version counts.
        let at = lines.len() - 2;
        let mut with = lines.clone();
        with.splice(at..at, ["<<<<<<< HEAD"]);
        with.splice(at + 2..at + 2, ["=======", lines[at], lines[at], ">>>>>>> branch"]);
        let all = found(name, &(with.join("\n") + "\n"));
        assert_eq!(all.len(), 1, "{name}: {all:?}");
    }
}

/// What is half-written is reported where it is, and not taken for a text.
#[test]
fn half_written_values_are_reported() {
    let gather = |line: &str| format!("GATHER:\n  n:\n    prompt: \"p\"\n    {line}\n");
    let flow =
        |line: &str| format!("FLOW:\n  a:\n    REASONING: false\n    {line}\n    THEN: COMPLETE\n");
    let cases = [
        (gather("options: [a, b"), "6:14 invalid-value `[` is never closed"),
        (gather("hints: [a, b"), "6:12 invalid-value `[` is never closed"),
        (gather("range: [1, 5"), "6:12 invalid-value `[` is never closed"),
        (gather("validate: min(3"), "6:18 invalid-value `(` is never closed"),
        (gather("validate: pattern(\"[a-z\""), "6:22 invalid-value `(` is never closed"),
        (gather("depends_on:"), "6:5 invalid-value `depends_on` is empty"),
        (gather("default:"), "6:5 invalid-value `default` is empty"),
        (flow("RESPOND: TEMPLATE(booked"), "6:22 invalid-value `(` is never closed"),
        (flow("CLEAR:"), "6:5 invalid-value `CLEAR` is empty"),
        (flow("ON_INPUT:"), "6:5 invalid-value `ON_INPUT` is empty"),
        (
            "COMPLETE:\n  WHEN: true\n  RESPOND: \"Bye\"\n".to_owned(),
            "4:3 syntax-error a `- ` is missing before `WHEN`",
        ),
        (
            "ESCALATE:\n  triggers\n    - WHEN: true\n".to_owned(),
            "4:3 syntax-error a `:` is missing after `triggers`",
        ),
    ];
    for (part, expected) in cases {
        let all = found("a.agent.abl", &format!("AGENT: A\nGOAL: \"x\"\n{part}"));
        assert_eq!(all.len(), 1, "{part}: {all:?}");
        assert!(all[0].starts_with(expected), "{part}: {all:?}");
    }
    for right in [
        gather("validate: min(3)"),
        gather("validate: the name (not a nickname"),
        gather("options: [a, \"b [\"]"),
        flow("RESPOND: see (below"),
        "COMPLETE:\n  - WHEN: false\n    RESPOND: \"Bye\"\n".to_owned(),
    ] {
        let all = found("a.agent.abl", &format!("AGENT: A\nGOAL: \"x\"\n{right}"));
        let about = |finding: &&String| finding.contains("closed") || finding.contains("`- `");
        assert_eq!(all.iter().find(about), None, "{right}");
    }
    let tools = "agent: A\ngoal: \"x\"\ntools:\n  - name: f\n    description: \"d\"\n    parameters:\n      - name:\n        type: string\nflow:\n  a:\n    reasoning: false\n    call: f\n    then: COMPLETE\n";
    assert_eq!(found("a.agent.yaml", tools), ["7:9 invalid-value `name` has no value"]);
}
