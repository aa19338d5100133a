//! What is kept between edits.

use super::{POOL, rules};
use agentir::{Snapshot, Workspace};

/// What was found in programs that did not change is kept, and equals what a new workspace finds.
#[test]
fn findings_of_other_programs_are_kept() {
    let idle = format!("# agentir: ignore-file[unused-tool] for a while\n{POOL}");
    let files = |pool: &str| {
        [
            ("a/pool.agent.abl", pool.to_owned()),
            ("b/other.agent.abl", idle.clone()),
            ("c/shop.agent", "system:\n    instructions: \"hi\"\n".to_owned()),
            ("c/broken.agent.abl", "AGENT:\n  x".to_owned()),
        ]
    };
    let mut edited = Workspace::in_memory();
    for (name, text) in files(POOL) {
        edited.set_text(name, text);
    }
    let before = edited.snapshot().unwrap();
    assert!(!before.is_checked(before.file("b/other.agent.abl").unwrap().0));
    before.check().unwrap();
    for pool in
        [POOL.replace("book_line", "book_lane"), "AGENT: Pool\n".to_owned(), POOL.to_owned()]
    {
        edited.set_text("a/pool.agent.abl", pool.as_str());
        let snapshot = edited.snapshot().unwrap();
        for (name, kept) in
            [("a/pool.agent.abl", false), ("b/other.agent.abl", true), ("c/shop.agent", true)]
        {
            assert_eq!(snapshot.is_checked(snapshot.file(name).unwrap().0), kept, "{name}");
        }
        let mut new = Workspace::in_memory();
        for (name, text) in files(&pool) {
            new.set_text(name, text);
        }
        let new = new.snapshot().unwrap();
        // By file, and all together.
        for (id, source) in new.sources().iter() {
            let (own, _) = snapshot.file(&source.name).unwrap();
            let messages = |snapshot: &Snapshot, file| {
                let found = snapshot.check_file(file).unwrap();
                found.map(|d| (d.rule.0, d.message.clone())).collect::<Vec<_>>()
            };
            assert_eq!(messages(&snapshot, own), messages(&new, id), "{}", source.name);
        }
        assert_eq!(rules(&snapshot), rules(&new));
    }
    // Other rules find other things.
    edited.set_selection(agentir::Selection::new(["undefined-tool"], []).unwrap());
    let snapshot = edited.snapshot().unwrap();
    assert!(!snapshot.is_checked(snapshot.file("b/other.agent.abl").unwrap().0));
    assert!(rules(&snapshot).iter().all(|(_, rule)| *rule == "undefined-tool"));
}

/// Configurations are read again when they change, and only then.
#[test]
fn configurations_are_kept_between_edits() {
    let mut workspace = Workspace::in_memory();
    workspace.set_text("agentir.toml", "[rules]\nundefined-tool = \"off\"\n");
    workspace.set_text("a/pool.agent.abl", POOL);
    let has = |workspace: &mut Workspace| {
        let snapshot = workspace.snapshot().unwrap();
        rules(&snapshot).iter().any(|(_, rule)| *rule == "undefined-tool")
    };
    assert!(!has(&mut workspace));
    workspace.set_text("b/new.agent.abl", POOL);
    assert!(!has(&mut workspace));
    workspace.set_text("agentir.toml", "[rules]\nundefined-tool = \"info\"\n");
    assert!(has(&mut workspace));
    workspace.remove_text("agentir.toml");
    assert!(has(&mut workspace));
    // Problems stay known while other files come and go.
    workspace.set_text("agentir.toml", "[rules]\nno-such-rule = \"off\"\n");
    for name in ["c/x.agent.abl", "d/y.agent.abl"] {
        workspace.set_text(name, POOL);
        assert_eq!(workspace.snapshot().unwrap().config_problems().diagnostics.len(), 1);
    }
    workspace.set_text("d/agentir.toml", "[rules]\nno-other-rule = \"off\"\n");
    workspace.set_text("e/z.agent.abl", POOL);
    assert_eq!(workspace.snapshot().unwrap().config_problems().diagnostics.len(), 2);
}
