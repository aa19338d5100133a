//! What is done with texts that nobody wrote: the entry points that `fuzz/` and `tests/tests/all/fuzz.rs`
//! share. Each ends without a panic, and what holds for every text is asserted.

use crate::check::{File, check, json};
use crate::samples::root;
use agentir_convert::{Meaning, Target, Totals, convert};
use agentir_diagnostics::{FileId, Severity};
use agentir_expr::Version;
use agentir_rewrite::RewriteError;
use agentir_syntax::abl::Options;
use std::fs;
use std::path::{Path, PathBuf};

/// A language: what a file is called so that it is read as that, and how it is found among samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Input {
    /// The name of the target, and of its folder of seeds.
    pub name: &'static str,
    /// What the file is called.
    pub file: &'static str,
    /// The endings of samples that it may begin with.
    pub seeds: &'static [&'static str],
}

/// All languages that are read.
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

/// The input that is called so.
fn input(name: &str) -> Input {
    *INPUTS.iter().find(|input| input.name == name).expect("an input of this name")
}

fn file(input: Input, text: &str) -> File {
    File { name: input.file.to_owned(), text: text.to_owned() }
}

/// Reads, lowers and checks a text, and writes what came of it as JSON: every place lies inside the file.
fn read(input: Input, text: &str) {
    let checked = check(&[file(input, text)], Options::default());
    for diagnostic in &checked.diagnostics {
        for span in std::iter::once(&diagnostic.primary).chain(&diagnostic.labels).map(|l| l.span) {
            assert!(text.get(span.range()).is_some(), "{diagnostic:?} is not about this text");
        }
    }
    let _json = json(&checked.program);
}

/// Brings a text into its layout: what comes out is stable.
fn layout(input: Input, text: &str) {
    let language = agentir_lower::language(input.file, text);
    match agentir_rewrite::format(language, FileId(0), text) {
        Ok(once) => {
            let twice = agentir_rewrite::format(language, FileId(0), &once);
            assert_eq!(twice.ok().as_deref(), Some(once.as_str()), "the layout is not stable");
        }
        // The text stays as it is.
        Err(RewriteError::InvalidStructure(_) | RewriteError::MeaningChanged(_)) => {}
    }
    for to in [Version::Current, Version::Newest] {
        let _either = agentir_rewrite::migrate(language, FileId(0), text, None, to);
    }
}

/// Everything that is done with a text of the input called `name`.
pub fn everything(name: &str, text: &str) {
    let input = input(name);
    read(input, text);
    layout(input, text);
    write(input, text);
}

/// Writes a text in all languages: what is written can be read, and every value has its line in the report.
fn write(input: Input, text: &str) {
    let checked = check(&[file(input, text)], Options::default());
    // Functions alone are nobody's.
    if checked.errors().next().is_some() || checked.program.agents.is_empty() {
        return;
    }
    for target in Target::ALL {
        let conversion = convert(&checked.program, &checked.sources, target);
        let broken = conversion.diagnostics.iter().find(|d| d.severity == Severity::Error);
        assert!(broken.is_none(), "{} that cannot be read: {broken:?}", target.name());
        let Totals { kept, approximated, dropped } = conversion.report.totals;
        let values = Meaning::new(&checked.program).size();
        assert_eq!(kept + approximated + dropped, values, "values without a line in the report");
    }
}
