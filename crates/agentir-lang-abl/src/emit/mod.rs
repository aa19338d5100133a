//! The ABL emitter, for the current version in both notations.
//!
//! ```text
//! program ──► adapt (to ABL's constructs) ──► agent, body, rules, tools ──► tree ──► layout
//!                                                          │                              ├► .abl
//!                                                   schema tables                        └► YAML
//! ```
//!
//! A document is built once, as a tree of fields, items and lines; `layout` writes it in either notation.
//! Names of fields and forms of values come from the tables that the reader uses, so every field that can
//! be read can be written.
//!
//! What came from another language is first adapted: prompts with branches become conditional
//! instructions, guards become constraints, and steps are split where ABL's phases end
//! ([`agentir_ir::Phase`]). What other languages share implicitly becomes explicit: handoffs,
//! variables of other agents that are passed on, calls of undeclared tools. Variables whose names
//! the runtime reserves are renamed in the whole program. The emitter does not choose a version: it
//! uses a form of the newest version where only that version can express the IR.

mod adapt;
mod agent;
mod body;
mod knowledge;
mod layout;
mod losses;
mod record;
mod rules;
mod supervisor;
mod tables;
mod tools;
mod tree;

use crate::schema::FLOW;
use crate::{dialect, names};
use agentir_expr::Dialect;
use agentir_ir::{NamedThing, Program};
use agentir_syntax::emit::{
    Emitted, Emitter, LossRule, NameSyntax, Namespace, OutputFile, file_stem, with_legal_names,
};
use body::Bodies;
use indexmap::IndexMap;
use losses::LOSSES;
use rustc_hash::FxHashMap;
use serde::Serialize;
use std::borrow::Cow;
use tree::{Entry, Notation};

/// The manifest of a project.
#[derive(Serialize)]
struct Manifest {
    format_version: &'static str,
    abl_version: &'static str,
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    entry_agent: Option<String>,
    agents: IndexMap<String, Part>,
    #[serde(skip_serializing_if = "IndexMap::is_empty")]
    tools: IndexMap<String, Part>,
    #[serde(skip_serializing_if = "IndexMap::is_empty")]
    behavior_profiles: IndexMap<String, Part>,
}

#[derive(Serialize)]
struct Part {
    path: String,
}

/// The files of a project, in one folder per kind.
struct Files {
    notation: Notation,
    /// Whether there is a single document, which needs no project.
    alone: bool,
    all: Vec<OutputFile>,
    /// File stems in use, by kind.
    stems: FxHashMap<String, Namespace>,
}

impl Files {
    fn add(&mut self, folder: &str, kind: &str, name: &str, entries: &[Entry]) -> (String, Part) {
        let ending = match self.notation {
            Notation::Abl => "abl",
            Notation::Yaml => "yaml",
        };
        let folder = if self.alone { String::new() } else { format!("{folder}/") };
        let stems =
            self.stems.entry(kind.to_owned()).or_insert_with(|| Namespace::of(NameSyntax::Any));
        let stem = stems.claim(&[&file_stem(name)]);
        let path = format!("{folder}{stem}.{kind}.{ending}");
        let text = layout::write(self.notation, entries);
        self.all.push(OutputFile { path: path.clone(), text });
        (name.to_owned(), Part { path })
    }
}

/// Writes ABL of the current version, a file per agent.
struct Writer {
    notation: Notation,
}

/// In `.abl` notation.
pub static ABL: &dyn Emitter = &Writer { notation: Notation::Abl };

/// In YAML notation.
pub static YAML: &dyn Emitter = &Writer { notation: Notation::Yaml };

impl Emitter for Writer {
    fn name(&self) -> &'static str {
        match self.notation {
            Notation::Abl => dialect::ABL.id(),
            Notation::Yaml => "abl-yaml",
        }
    }

    fn title(&self) -> &'static str {
        match self.notation {
            Notation::Abl => dialect::ABL.title(),
            Notation::Yaml => "ABL in YAML",
        }
    }

    fn summary(&self) -> &'static str {
        match self.notation {
            Notation::Abl => "ABL, current version",
            Notation::Yaml => "ABL in its YAML notation",
        }
    }

    fn dialect(&self) -> Dialect {
        dialect::ABL
    }

    fn emit(&self, program: &Program) -> Emitted {
        emit(program, self.notation)
    }

    fn shares_tools(&self, _: &Program) -> bool {
        // Each agent declares its own.
        false
    }

    fn losses(&self) -> &'static [&'static [LossRule]] {
        &[LOSSES]
    }
}

/// The name that a program has in its language, if that has names of programs.
fn own_name(program: &Program) -> Option<&str> {
    let dialect = program.dialect();
    let settings = program.extensions.0.get(dialect.id())?;
    settings.get(dialect.program_name()?)?.value.as_str()
}

/// Emits the files of a program.
fn emit(program: &Program, notation: Notation) -> Emitted {
    let (program, mut renamed) = with_legal_names(program, |what, name| {
        // The first step of others may have no name, and then gets one when it is adapted.
        let is_unnamed = what == NamedThing::Step && program.dialect() != dialect::ABL;
        names::can_be_written(what, name) || (is_unnamed && FLOW.field(name).is_some())
    });
    let bases = &knowledge::Bases::of(&program);
    let questions = program.agents().filter_map(|agent| knowledge::file(agent, bases));
    let questions: Vec<OutputFile> = questions.collect();
    let (adapted, more) = &adapt::program(&program, bases);
    renamed.extend(more.iter().cloned());
    // What is ABL keeps its form.
    let (program, tables) = match program.dialect() == dialect::ABL {
        true => (Cow::Borrowed(adapted), Vec::new()),
        false => tables::shared(adapted),
    };
    let documents = program.agents.len() + program.libraries.len() + program.profiles.len();
    let alone = documents == 1;
    let mut files = Files { notation, alone, all: Vec::new(), stems: FxHashMap::default() };
    let mut agents = IndexMap::new();
    for agent in program.agents() {
        let entries = agent::agent(notation, agent);
        let (name, part) = files.add("agents", "agent", &agent.metadata.name.value, &entries);
        agents.insert(name, part);
    }
    let mut libraries = IndexMap::new();
    for library in &program.libraries {
        let entries = tools::library(notation, library);
        let name = library.tools.first().map_or("tools", |t| t.name.value.as_str());
        let name = if program.libraries.len() == 1 { "tools" } else { name };
        let (name, part) = files.add("tools", "tools", name, &entries);
        libraries.insert(name, part);
    }
    let mut profiles = IndexMap::new();
    for profile in &program.profiles {
        let entries = rules::profile(Bodies { notation }, profile);
        let (name, part) =
            files.add("behavior_profiles", "behavior_profile", &profile.name.value, &entries);
        profiles.insert(name, part);
    }
    files.all.extend(questions.into_iter().chain(tables));
    if !files.alone {
        let entry = program.entry().map(|a| a.metadata.name.value.to_string());
        let first = program.agents().next().map(|a| a.metadata.name.value.to_string());
        let called = own_name(&program);
        let called = called.or(entry.as_deref()).or(first.as_deref()).unwrap_or("project");
        let manifest = Manifest {
            format_version: "2.0",
            abl_version: "1.0",
            name: file_stem(called),
            entry_agent: entry,
            agents,
            tools: libraries,
            behavior_profiles: profiles,
        };
        let mut text = serde_json::to_string_pretty(&manifest).unwrap_or_default();
        text.push('\n');
        files.all.push(OutputFile { path: "project.json".to_owned(), text });
    }
    Emitted { files: files.all, renamed }
}
