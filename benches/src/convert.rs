//! How long it takes to convert the corpus of others, without proofs.

use crate::external;
use crate::measure::{Options, fastest};
use agentir_convert::{Target, convert};
use agentir_diagnostics::{SourceFile, SourceMap};
use agentir_ir::Program;
use agentir_syntax::abl;
use std::fmt::Write;
use std::hint::black_box;
use std::path::Path;
use std::time::Duration;

/// A program of others, read.
fn read(path: &str, text: &str) -> (Program, SourceMap) {
    let mut sources = SourceMap::new();
    let mut program = Program::default();
    let id = sources.add(SourceFile::new(path, text));
    // The examples of the specifications are parts of documents.
    let options = abl::Options { fragment: path.ends_with("-fragment.abl"), ..Default::default() };
    let lowered = agentir_lower::file(id, path, text, options);
    lowered.add_to(&mut program, &mut Vec::new());
    (program, sources)
}

/// Converts all programs of others to every language, on one thread.
#[must_use]
pub fn table(root: &Path, options: &Options) -> String {
    let projects: Vec<_> =
        ["abl", "agent", "yml"].iter().flat_map(|end| external::projects(root, end)).collect();
    let programs: Vec<_> = projects
        .iter()
        .flat_map(|p| &p.files)
        .map(|file| read(&file.path, &file.text))
        .filter(|(program, _)| !program.agents.is_empty())
        .collect();
    let mut out =
        format!("{:<30}{:>12}\n", format!("{} programs by others", programs.len()), "seconds");
    let mut sum = Duration::ZERO;
    for target in Target::ALL {
        let time = fastest(options.rounds, || {
            for (program, sources) in &programs {
                black_box(convert(program, sources, target));
            }
        });
        sum += time;
        let name = format!("converted to {}", target.name());
        let _ = writeln!(out, "{name:<30}{:>12.3}", time.as_secs_f64());
    }
    let _ = writeln!(out, "{:<30}{:>12.3}", "all of them", sum.as_secs_f64());
    out
}
