//! The time to convert the third-party corpus, without proofs.

use crate::documents::load_with;
use crate::external;
use crate::generate::Project;
use crate::measure::{Options, fastest};
use agentir::{languages, targets};
use agentir_convert::convert;
use agentir_lang_abl as abl;
use agentir_project::Loaded;
use std::fmt::Write;
use std::hint::black_box;
use std::path::Path;
use std::time::Duration;

fn read(project: &Project) -> Loaded {
    // The examples of the specifications are parts of documents.
    let fragment = project.name.ends_with("-fragment.abl");
    load_with(project, abl::Options { fragment, ..Default::default() }.into())
}

/// Converts all third-party programs to every language, on one thread.
#[must_use]
pub fn table(root: &Path, options: &Options) -> String {
    let projects: Vec<_> =
        ["abl", "agent", "yml"].iter().flat_map(|end| external::projects(root, end)).collect();
    let loaded: Vec<Loaded> = projects.iter().map(read).collect();
    let programs: Vec<_> = loaded
        .iter()
        .flat_map(|loaded| loaded.programs.iter().map(|p| (&p.program, &loaded.sources)))
        .filter(|(program, _)| !program.agents.is_empty())
        .collect();
    let mut out =
        format!("{:<30}{:>12}\n", format!("{} third-party programs", programs.len()), "seconds");
    let mut sum = Duration::ZERO;
    for target in targets::all() {
        let time = fastest(options.rounds, || {
            for (program, sources) in &programs {
                black_box(convert(languages(), program, sources, target));
            }
        });
        sum += time;
        let name = format!("converted to {}", target.name());
        let _ = writeln!(out, "{name:<30}{:>12.3}", time.as_secs_f64());
    }
    let _ = writeln!(out, "{:<30}{:>12.3}", "total", sum.as_secs_f64());
    out
}
