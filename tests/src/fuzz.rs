//! The entry points that `fuzz/` and `tests/tests/all/fuzz.rs` share. They pass arbitrary text to the library
//! `agentir` and assert invariants; nothing panics.

use crate::check::json;
use crate::samples::root;
use agentir::diagnostics::{Applicability, FileId};
use agentir::targets;
use agentir::vfs::Memory;
use agentir::{
    Detail, Diagnostic, FixError, FormatError, Severity, Snapshot, Workspace, languages,
};
use agentir_convert::{NormalizedProgram, Totals};
use agentir_expr::Version;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A language, with the name of its files and the samples that seed it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Input {
    /// The name of the target, and of its folder of seeds.
    pub name: &'static str,
    /// The name of the file.
    pub file: &'static str,
    /// The extensions of samples that seed it.
    pub seeds: &'static [&'static str],
}

/// All supported languages.
pub const INPUTS: [Input; 6] = [
    Input { name: "abl", file: "x.agent.abl", seeds: &[".abl"] },
    Input { name: "abl_yaml", file: "x.agent.yaml", seeds: &[".agent.yaml", ".agent.yml"] },
    Input { name: "agent_script", file: "x.agent", seeds: &[".agent"] },
    Input { name: "adl", file: "agents.yml", seeds: &["agents.yml", "agents.yaml"] },
    Input { name: "python", file: "tools.py", seeds: &[".py"] },
    Input { name: "xo", file: "botDefinition.json", seeds: &["Definition.json"] },
];

/// Our own samples of an input.
#[must_use]
pub fn seeds(input: Input) -> Vec<String> {
    fn below(folder: &Path, input: Input, texts: &mut Vec<String>) {
        let mut paths: Vec<PathBuf> =
            fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        paths.sort();
        for path in paths {
            if path.is_dir() {
                below(&path, input, texts);
            } else if input.seeds.iter().any(|end| path.to_string_lossy().ends_with(end)) {
                texts.extend(fs::read_to_string(&path).ok());
            }
        }
    }
    let mut texts = Vec::new();
    below(&root().join("corpus"), input, &mut texts);
    assert!(!texts.is_empty(), "no seeds for {}", input.name);
    texts
}

/// The input with a name.
fn input(name: &str) -> Input {
    *INPUTS.iter().find(|input| input.name == name).expect("an input of this name")
}

/// Runs all checks on a text of the input `name`.
pub fn everything(name: &str, text: &str) {
    let input = input(name);
    let mut workspace = Workspace::new(Arc::new(Memory::new()), vec![input.file.into()]);
    workspace.set_text(input.file, text);
    let snapshot = workspace.snapshot().expect("files in memory can be read");
    check(&snapshot);
    layout(input, &snapshot, text);
    convert(&snapshot);
    edit(input, &mut workspace, text);
}

/// Checks a text: every span lies inside its file. Serializes, draws and fixes it.
fn check(snapshot: &Snapshot) {
    for diagnostic in findings(snapshot) {
        for span in std::iter::once(&diagnostic.primary).chain(&diagnostic.labels).map(|l| l.span) {
            let file = snapshot.sources().get(span.file);
            let text = file.and_then(|file| file.text.get(span.range()));
            assert!(text.is_some(), "{diagnostic:?} is outside of the text");
        }
    }
    for (id, program) in snapshot.programs() {
        let _json = json(program);
        let _graph = snapshot.graph(id, Detail::Steps);
    }
    let (file, _) = snapshot.sources().iter().next().expect("one file");
    // A text with a NUL is refused.
    let fixed = snapshot.fix(file, Applicability::Unsafe);
    assert!(matches!(fixed, Ok(_) | Err(FixError::NotText)), "{fixed:?}");
}

fn findings(snapshot: &Snapshot) -> &[Diagnostic] {
    snapshot.check().expect("nobody cancels it")
}

/// Formats a text, which is idempotent, and migrates it.
fn layout(input: Input, snapshot: &Snapshot, text: &str) {
    let language = languages().detect(input.file, text);
    let (file, _) = snapshot.sources().iter().next().expect("one file");
    match snapshot.format(file) {
        Ok(once) => {
            let twice = agentir_rewrite::format(language, FileId(0), &once);
            assert_eq!(twice.ok().as_deref(), Some(once.as_str()), "the layout is not stable");
        }
        // The text stays as it is.
        Err(FormatError::Refused(_) | FormatError::NotText) => {}
        Err(FormatError::NotFound) => panic!("the file is part of the workspace"),
    }
    for to in [Version::Current, Version::Newest] {
        let _either = agentir::migrate(language, FileId(0), text, None, to);
    }
}

/// Converts a text to all languages: the result can be read, and every value has its line in the report.
fn convert(snapshot: &Snapshot) {
    if findings(snapshot).iter().any(|found| found.severity == Severity::Error) {
        return;
    }
    for (id, program) in snapshot.programs() {
        // Functions alone are nobody's.
        if program.agents.is_empty() {
            continue;
        }
        for target in targets::all() {
            let conversion = snapshot.convert(id, target).expect("the program of this id");
            let broken = conversion.diagnostics.iter().find(|d| d.severity == Severity::Error);
            assert!(broken.is_none(), "{} that cannot be read: {broken:?}", target.name());
            let Totals { kept, approximated, dropped, unneeded } = conversion.report.totals;
            let values = NormalizedProgram::new(program).size();
            assert_eq!(
                kept + approximated + dropped + unneeded,
                values,
                "values without a line in the report"
            );
        }
    }
}

/// Truncates the text and restores it: the workspace must report the same findings as before.
fn edit(input: Input, workspace: &mut Workspace, text: &str) {
    let mut set = |text: &str| {
        workspace.set_text(input.file, text);
        let snapshot = workspace.snapshot().expect("files in memory can be read");
        format!("{:?}", findings(&snapshot))
    };
    let before = set(text);
    set(&text[..text.floor_char_boundary(text.len() / 2)]);
    assert_eq!(set(text), before, "an edit that was undone changes the findings");
}
