//! From AgentIR to text of another language, and what became of everything that was said.
//!
//! ```text
//! program ──► emit (one module a language) ──► files ──► read back ──► program'
//!    └──────────────► meaning ──► compare ◄── meaning ◄────────────────┘
//!                                   │
//!                                   ▼
//!                      report: kept, approximated, dropped
//! ```
//!
//! An emitter writes what its language can say; it does not keep books. What was kept is *measured*:
//! the text is read back by our own front end, and every value of the source's meaning is looked up
//! in the result's. A value that is not there, or is another one, is approximated if a table of the
//! target says how that part is said instead, and dropped otherwise. So nothing can vanish unlisted,
//! and the report cannot be wrong about what it calls kept. [`Conversion::verify`] then asks of the
//! two programs whether their conditions are equivalent and whether a conversation can tell them
//! apart.
//!
//! Comments are carried to what they are about (`comments`), for all targets alike.
//!
//! *Invariant*: nothing here reads or writes a file; nothing is lost that the report does not name.

mod comments;
pub mod emit;
mod fidelity;
mod names;
mod render;
mod target;
mod truth;

pub use agentir_compare::{Difference, Meaning, Place, differences};
pub use comments::Comment;
pub use fidelity::{Addition, Entry, Fate, Loss, Report, Totals, losses, report_schema};
pub use names::Renamed;
pub use target::{OutputFile, Target, file_stem};

use agentir_compare::{Comparison, Side};
use agentir_diagnostics::{Diagnostic, SourceFile, SourceMap};
use agentir_ir::Program;
use agentir_syntax::abl::Options;

/// A program in another language.
#[derive(Debug)]
pub struct Conversion {
    /// The files, by their paths in the output folder.
    pub files: Vec<OutputFile>,
    /// What became of everything that was said.
    pub report: Report,
    /// What our front end says about the output; errors are defects of the emitter.
    pub diagnostics: Vec<Diagnostic>,
    /// The output as it was read back, for those who print `diagnostics`.
    pub sources: SourceMap,
    /// What the output means.
    pub program: Program,
}

/// Writes a program in another language, or anew in its own.
#[must_use]
pub fn convert(program: &Program, sources: &SourceMap, target: Target) -> Conversion {
    let emit::Written { mut files, renamed } = emit::emit(program, target);
    let (mut read, mut program_read, mut diagnostics) = read_back(&files);
    let source = Meaning::new(program);
    let mut output = Meaning::new(&program_read);
    let (commented, mut comments) = comments::carry((&source, sources), (&output, &read), &files);
    if commented != files {
        let (again, said_again, found) = read_back(&commented);
        let meaning = Meaning::new(&said_again);
        if differences(&output, &meaning).is_empty() && found.len() == diagnostics.len() {
            (files, read, program_read, diagnostics) = (commented, again, said_again, found);
            output = meaning;
        } else {
            // A comment that would be read as something else has no place.
            comments.iter_mut().for_each(|comment| comment.target = None);
        }
    }
    let mut report = fidelity::report(
        (&source, sources),
        (&output, &read),
        &files,
        renamed,
        (target, &truth::places(program, target)),
    );
    report.comments = comments;
    Conversion { files, report, diagnostics, sources: read, program: program_read }
}

impl Conversion {
    /// Asks whether the output does what `program` does, and puts the answer into the report.
    pub fn verify(&mut self, program: &Program, sources: &SourceMap) {
        let (meaning, read) = (Meaning::new(program), Meaning::new(&self.program));
        let left = Side { program, sources, meaning: &meaning };
        let right = Side { program: &self.program, sources: &self.sources, meaning: &read };
        self.report.proof = Some(Comparison::new(left, right, &self.report.announced()));
    }
}

/// Reads files as our own front ends do.
#[must_use]
pub fn read_back(files: &[OutputFile]) -> (SourceMap, Program, Vec<Diagnostic>) {
    let mut sources = SourceMap::new();
    let mut program = Program::default();
    let mut versions = Vec::new();
    let mut diagnostics = Vec::new();
    for file in files {
        let id = sources.add(SourceFile::new(file.path.as_str(), file.text.as_str()));
        if let Some(manifest) = target::manifest(file) {
            program.entry_agent = manifest.entry_agent.map(|name| {
                agentir_diagnostics::Spanned::new(name, agentir_diagnostics::Span::new(id, 0, 0))
            });
            program.complete = true;
            continue;
        }
        let mut lowered = if agentir_lower::is_adl_config_name(&file.path) {
            agentir_lower::adl_config(id, &file.text)
        } else {
            agentir_lower::file(id, &file.path, &file.text, Options::default())
        };
        diagnostics.append(&mut lowered.diagnostics);
        lowered.add_to(&mut program, &mut versions);
    }
    (sources, program, diagnostics)
}
