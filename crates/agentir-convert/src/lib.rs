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
//! equivalent and whether a conversation can tell the programs apart.
//!
//! What is left to do by hand is listed by urgency, agent and cause (`todo`), and written as comments to where it is to be
//! done ([`Conversion::annotate`]).
//!
//! Comments are transferred to the values they refer to (`comments`), for all targets alike.
//!
//! *Invariant*: this crate does no I/O, and every loss is listed in the report.

mod comments;
mod fidelity;
mod render;
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
pub use todo::{Place, Todo};

use agentir_compare::{Comparison, Side};
use agentir_diagnostics::{Diagnostic, SourceFile, SourceMap, Span};
use agentir_ir::{Agent, Knowledge, LookupTable, Program, Tool};
use agentir_syntax::emit::{Emitted, knowledge_of, questions_from_csv, table_from_csv, table_of};
use agentir_syntax::{Languages, ReadOptions};
use rustc_hash::FxHashMap;
use std::borrow::Cow;
use std::sync::Arc;

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
    let Emitted { mut files, renamed: by_emitter } = target.emit(&distinct);
    renamed.extend(by_emitter);
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
    );
    report.comments = comments;
    report.todo = tasks::of_losses(&report, (program, sources), &read);
    Conversion { files, report, diagnostics, sources: read, program: program_read }
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
        self.add_todos(sources, told);
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
        );
        report.comments = std::mem::take(&mut self.report.comments);
        let targets = report.comments.iter_mut().filter_map(|comment| comment.target.as_mut());
        targets.for_each(|at| moved.apply(at));
        report.todo = tasks::of_losses(&report, (program, sources), &read);
        *self = Self { files, report, diagnostics: found, sources: read, program: program_read };
        self.add_todos(sources, told);
    }

    fn add_todos(&mut self, sources: &SourceMap, told: &[Diagnostic]) {
        let import = tasks::of_import(told, &self.report, sources, &self.sources);
        let output = tasks::of_output(&self.files, &self.program, &self.sources);
        self.report.add_todos(import.into_iter().chain(output));
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

/// Reads files with our own front ends, and the data of knowledge bases and tables into the agents that use them.
#[must_use]
pub fn read_back(
    languages: Languages,
    files: &[OutputFile],
) -> (SourceMap, Program, Vec<Diagnostic>) {
    // Data files are of no language.
    let is_data =
        |file: &&OutputFile| knowledge_of(&file.path).is_some() || table_of(&file.path).is_some();
    let (data, documents): (Vec<_>, Vec<_>) = files.iter().partition(is_data);
    let texts = documents.iter().map(|file| (file.path.as_str(), file.text.as_str()));
    let mut loaded = agentir_project::read_program(languages, texts, ReadOptions::default());
    let mut program = loaded.programs.pop().unwrap_or_default().program;
    for file in data {
        let id = loaded.sources.add(SourceFile::new(file.path.as_str(), file.text.as_str()));
        if let Some(base) = knowledge_of(&file.path) {
            let agent = program.agents_mut().find(|agent| searches(agent, base));
            if let Some(agent) = agent {
                let questions = questions_from_csv(id, &file.text);
                let span = Span::new(id, 0, 0);
                agent.knowledge = Some(Knowledge { questions, span, ..Knowledge::default() });
            }
        } else if let Some(name) = table_of(&file.path) {
            let named = |table: &LookupTable| {
                let collection = table.table_name.as_ref().is_some_and(|of| of.value == name);
                collection && table.source == Some("collection")
            };
            // An agent that others share is only copied if it has the table.
            for agent in &mut program.agents {
                if !agent.lookup_tables.values().any(named) {
                    continue;
                }
                let all = Arc::make_mut(agent).lookup_tables.values_mut();
                for table in all.filter(|table| named(table)) {
                    table_from_csv(id, &file.text, table);
                    table.source = Some("inline");
                    table.table_name = None;
                }
            }
        }
    }
    (loaded.sources, program, loaded.diagnostics)
}

/// Whether an agent searches a knowledge base.
fn searches(agent: &Agent, base: &str) -> bool {
    agent.tools.iter().any(|tool| is_search(tool, base))
}

/// Whether a tool searches a knowledge base.
fn is_search(tool: &Tool, base: &str) -> bool {
    let named = tool.binding.as_ref().and_then(|binding| binding.0.get("kb_name"));
    named.is_some_and(|name| name.as_str() == Some(base))
}
