//! Converts AgentIR to text in another language, and measures what was preserved.
//!
//! ```text
//! program ──► emit (the emitter of a language) ──► files ──► read back ──► program'
//!    └──────────────► values ──► compare ◄── values ◄────────────────────┘
//!                                   │
//!                                   ▼
//!                      report: kept, approximated, dropped
//! ```
//!
//! Emitters do not track losses; fidelity is measured by reading the output back. The output is parsed
//! by our own front end, and every value of the source is looked up in the result. A value that is
//! missing or different counts as approximated if the target's loss table describes how it is expressed
//! instead, and as dropped otherwise. Nothing can be lost unlisted, and a value reported as kept is
//! kept. [`Conversion::verify`] additionally checks whether the conditions of both programs are
//! equivalent and whether a conversation can tell the programs apart. What conversations show that somebody held with both is
//! a part of the report, too ([`Replays`]).
//!
//! What is left to do by hand is listed by urgency, agent and cause (`todo`), and written as comments to where it is to be
//! done ([`Conversion::annotate`]).
//!
//! Comments are transferred to the values they refer to (`comments`), for all targets alike.
//!
//! *Invariant*: this crate does no I/O, and every loss is listed in the report.

mod comments;
mod fidelity;
mod needs;
mod places;
mod renames;
mod render;
mod replays;
mod tasks;
mod todo;
mod tools;
mod truthiness;

pub use agentir_compare::{Difference, Location, NormalizedProgram, differences};
pub use agentir_syntax::emit::{
    LossRule, OutputFile, Preservation, Renamed, Target, Task, file_stem,
};
pub use comments::Comment;
pub use fidelity::{Addition, Entry, Report, Totals, is_unneeded, loss_rules, report_schema};
pub use replays::{DifferingConversation, ReplayTurn, Replays};
pub use todo::{Place, Todo};

use agentir_compare::{Comparison, Side};
use agentir_diagnostics::{Diagnostic, SourceMap};
use agentir_expr::dialect::Notation;
use agentir_ir::Program;
use agentir_syntax::emit::{Emitted, Invented, InventedAt, Remark};
use agentir_syntax::{Languages, ReadOptions};
use rustc_hash::FxHashMap;
use smol_str::SmolStr;
use std::borrow::Cow;

/// A converted program.
#[derive(Debug)]
pub struct Conversion {
    /// The files, by path in the output folder.
    pub files: Vec<OutputFile>,
    /// What was kept, approximated and dropped.
    pub report: Report,
    /// The front end's diagnostics for the output; errors are bugs of the emitter.
    pub diagnostics: Vec<Diagnostic>,
    /// The output files as read back, for rendering `diagnostics`.
    pub sources: SourceMap,
    /// The program read back from the output.
    pub program: Program,
    /// What the output has only because its language asks for it.
    invented: Vec<Invented>,
    /// How agents were written.
    remarks: Vec<Remark>,
    /// The agents whose flows were left to the model.
    led_by_model: Vec<SmolStr>,
}

/// Whether a program is a document of AgentIR: what lies beside the files of its source is not there.
fn is_document(program: &Program) -> bool {
    program.agents().any(|agent| agent.metadata.notation == Notation::Json)
}

/// Whether the output is of the language of its source, so that what lies beside the one is there for the other.
fn keeps_surroundings(source: &Program, output: &Program) -> bool {
    source.dialect() == output.dialect() && !is_document(source)
}

/// Converts a program to a language, possibly its own. `languages` are those of the program and of the target.
#[must_use]
pub fn convert(
    languages: Languages,
    program: &Program,
    sources: &SourceMap,
    target: Target,
) -> Conversion {
    let (distinct, mut renamed) = match target.shares_tools(program) {
        true => tools::with_distinct_names(program),
        false => (Cow::Borrowed(program), Vec::new()),
    };
    let Emitted { mut files, renamed: by_emitter, mut invented, remarks, led_by_model } =
        target.emit(&distinct);
    renamed.extend(by_emitter);
    if let Some(code) = tools::own_code(program, sources, target, &renamed) {
        files.retain(|file| target.code_file() != Some(file.path.as_str()));
        files.extend(code);
        invented.retain(|one| !matches!(one.at, InventedAt::Tool(_)));
    }
    let (mut read, mut program_read, mut diagnostics) = read_back(languages, &files);
    let source = NormalizedProgram::new(program);
    let mut output = NormalizedProgram::new(&program_read);
    let (commented, mut comments) =
        comments::transfer(languages, (&source, sources), (&output, &read), &files);
    if commented != files {
        let (again, program_again, found) = read_back(languages, &commented);
        let normalized = NormalizedProgram::new(&program_again);
        if differences(&output, &normalized).is_empty() && found.len() == diagnostics.len() {
            (files, read, program_read, diagnostics) = (commented, again, program_again, found);
            output = normalized;
        } else {
            // Comments that would change the meaning are dropped.
            comments.iter_mut().for_each(|comment| comment.target = None);
        }
    }
    let mut report = fidelity::report(
        (&source, sources),
        (&output, &read),
        renamed,
        languages,
        (target, &truthiness::differing_conditions(program, target)),
        &led_by_model,
    );
    report.comments = comments;
    report.todo = tasks::of_losses(&report, (program, sources), &read);
    let (sources, program) = (read, program_read);
    Conversion { files, report, diagnostics, sources, program, invented, remarks, led_by_model }
}

impl Conversion {
    /// Adds to the report what `told`, the findings of an import, and the output itself leave to do, and writes what must be
    /// done into the output, as comments. A comment with which the output would mean something else is left out.
    pub fn annotate(
        &mut self,
        languages: Languages,
        (program, sources): (&Program, &SourceMap),
        target: Target,
        told: &[Diagnostic],
    ) {
        self.add_todos(program, sources, told);
        let Some((files, moved)) = comments::with_todos(languages, &self.files, &self.report.todo)
        else {
            return;
        };
        let (read, program_read, found) = read_back(languages, &files);
        let before = NormalizedProgram::new(&self.program);
        let output = NormalizedProgram::new(&program_read);
        if !differences(&before, &output).is_empty() || found.len() != self.diagnostics.len() {
            return;
        }
        let mut report = fidelity::report(
            (&NormalizedProgram::new(program), sources),
            (&output, &read),
            std::mem::take(&mut self.report.renamed),
            languages,
            (target, &truthiness::differing_conditions(program, target)),
            &self.led_by_model,
        );
        report.comments = std::mem::take(&mut self.report.comments);
        let targets = report.comments.iter_mut().filter_map(|comment| comment.target.as_mut());
        targets.for_each(|at| moved.apply(at));
        report.todo = tasks::of_losses(&report, (program, sources), &read);
        let invented = std::mem::take(&mut self.invented);
        let remarks = std::mem::take(&mut self.remarks);
        let led_by_model = std::mem::take(&mut self.led_by_model);
        let (diagnostics, sources_read) = (found, read);
        *self = Self {
            files,
            report,
            diagnostics,
            sources: sources_read,
            program: program_read,
            invented,
            remarks,
            led_by_model,
        };
        self.add_todos(program, sources, told);
    }

    fn add_todos(&mut self, program: &Program, sources: &SourceMap, told: &[Diagnostic]) {
        let import = tasks::of_import(told, &self.report, sources, &self.sources);
        let output = match keeps_surroundings(program, &self.program) {
            // What the source needs is there already.
            true => Vec::new(),
            false => tasks::of_output(&self.files, &self.program, &self.sources),
        };
        let invented = tasks::of_invented(&self.invented, &self.program, &self.sources);
        let pair = (program, &self.program);
        let needs = needs::of_conversion(pair, &self.files, &self.sources, told);
        let remarks = tasks::of_remarks(&self.remarks, &self.program, &self.sources);
        let must = import.into_iter().chain(invented).chain(output).chain(needs);
        self.report.add_todos(must.chain(remarks));
    }

    /// Adds to the report what a check of the output found.
    pub fn checked(&mut self, found: &[Diagnostic], checked: &SourceMap) {
        let mut agents: FxHashMap<&str, Vec<&str>> = FxHashMap::default();
        for agent in self.program.agents() {
            let name = &agent.metadata.name;
            if let Some(file) = self.sources.get(name.span.file) {
                agents.entry(&*file.name).or_default().push(&name.value);
            }
        }
        self.report.add_todos(tasks::of_check(found, checked, &agents));
    }

    /// Compares the behaviour of the output with `program` and adds the result to the report.
    pub fn verify(&mut self, program: &Program, sources: &SourceMap) {
        let (source, output) =
            (NormalizedProgram::new(program), NormalizedProgram::new(&self.program));
        let left = Side { program, sources, normalized: &source };
        let right = Side { program: &self.program, sources: &self.sources, normalized: &output };
        self.report.proof = Some(Comparison::new(left, right, &self.report.announced_losses()));
    }
}

/// Reads files with our own front ends, the data of knowledge bases and tables among them.
#[must_use]
pub fn read_back(
    languages: Languages,
    files: &[OutputFile],
) -> (SourceMap, Program, Vec<Diagnostic>) {
    let texts = files.iter().map(|file| (file.path.as_str(), file.text.as_str()));
    let mut loaded = agentir_project::read_program(languages, texts, ReadOptions::default());
    let program = loaded.programs.pop().unwrap_or_default().program;
    (loaded.sources, program, loaded.diagnostics)
}
