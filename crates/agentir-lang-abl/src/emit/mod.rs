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
mod order;
mod record;
mod rules;
mod supervisor;
mod tables;
mod tools;
mod tree;

use crate::schema::FLOW;
use crate::{dialect, names};
use agentir_expr::Dialect;
use agentir_expr::dialect::Tools;
use agentir_ir::{Agent, NamedThing, Program, Tool};
use agentir_syntax::emit::{
    Emitted, Emitter, Invented, InventedAt, LossRule, NameSyntax, Namespace, OutputFile, file_stem,
    with_legal_names,
};
use body::Bodies;
use indexmap::IndexMap;
use losses::LOSSES;
use rustc_hash::{FxHashMap, FxHashSet};
use serde::Serialize;
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
    style: Style,
}

/// What becomes of flows.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Style {
    /// They stay flows.
    Flow,
    /// The model leads where a flow only collects, calls tools and answers.
    Agentic,
}

/// In `.abl` notation.
pub static ABL: &dyn Emitter = &Writer { notation: Notation::Abl, style: Style::Flow };

/// In YAML notation.
pub static YAML: &dyn Emitter = &Writer { notation: Notation::Yaml, style: Style::Flow };

static AGENTIC_ABL: &dyn Emitter = &Writer { notation: Notation::Abl, style: Style::Agentic };

static AGENTIC_YAML: &dyn Emitter = &Writer { notation: Notation::Yaml, style: Style::Agentic };

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
        emit(program, self.notation, self.style)
    }

    fn agentic(&self) -> Option<&'static dyn Emitter> {
        Some(match self.notation {
            Notation::Abl => AGENTIC_ABL,
            Notation::Yaml => AGENTIC_YAML,
        })
    }

    fn shares_tools(&self, _: &Program) -> bool {
        // Each agent declares its own.
        false
    }

    fn code_file(&self) -> Option<&'static str> {
        None
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
fn emit(program: &Program, notation: Notation, style: Style) -> Emitted {
    let (program, mut renamed) = with_legal_names(program, |what, name| {
        // The first step of others may have no name, and then gets one when it is adapted.
        let is_unnamed = what == NamedThing::Step && program.dialect() != dialect::ABL;
        names::can_be_written(what, name) || (is_unnamed && FLOW.field(name).is_some())
    });
    let bases = &knowledge::Bases::of(&program);
    let questions = program.agents().filter_map(|agent| knowledge::file(agent, bases));
    let questions: Vec<OutputFile> = questions.chain(knowledge::searched(&program)).collect();
    let (mut adapted, more) = adapt::program(&program, bases);
    let (remarks, led_by_model) = match style {
        Style::Flow => Default::default(),
        Style::Agentic => adapt::agentic(&mut adapted),
    };
    let adapted = &adapted;
    let mut invented = functions(&program, adapted);
    invented.extend(to_be_loaded(&program, adapted));
    renamed.extend(more);
    let (program, tables) = tables::collections(adapted);
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
    Emitted { files: files.all, renamed, invented, remarks, led_by_model }
}

/// The tools that ABL cannot reach as the source does: functions in code, those among them that the source calls without
/// declaring them, so that their signatures are guessed from their uses.
fn functions(source: &Program, adapted: &Program) -> Vec<Invented> {
    let in_code = |dialect: Dialect| dialect.traits().tools == Tools::Functions;
    let of_libraries = source.libraries.iter().filter(|library| in_code(library.dialect));
    let declared: FxHashSet<&str> =
        of_libraries.flat_map(|library| &library.tools).map(|t| t.name.value.as_str()).collect();
    let agents = adapted.agents().filter(|agent| in_code(agent.metadata.dialect));
    let tools = agents.flat_map(|agent| &agent.tools);
    let tools = tools.chain(adapted.libraries.iter().flat_map(|library| &library.tools));
    let mut seen: FxHashSet<&str> = FxHashSet::default();
    let all_declared: FxHashSet<&str> = source.tools().map(|t| t.name.value.as_str()).collect();
    let open = |tool: &&Tool| {
        let name = tool.name.value.as_str();
        let is_function = declared.contains(name) || !all_declared.contains(name);
        is_function && tool.tool_type.is_none() && tool.binding.is_none()
    };
    let tools = tools.filter(open).filter(|tool| seen.insert(&tool.name.value));
    let invented = |tool: &Tool| {
        let name = &tool.name.value;
        let (cause, help) = if declared.contains(name.as_str()) {
            (
                "it is a function in code, which ABL cannot call",
                format!("make `{name}` a service, and say how it is reached"),
            )
        } else {
            (
                "its signature is guessed from the agents that use it",
                format!("say what `{name}` takes and returns, and how it is called"),
            )
        };
        Invented {
            cause: cause.to_owned(),
            help,
            snippet: format!(
                "type: http\nendpoint: \"https://service.example/{name}\"\nmethod: POST\n"
            ),
            at: InventedAt::Tool(name.to_string()),
        }
    };
    tools.map(invented).collect()
}

/// The knowledge bases that agents search and that are to be filled with what the source names.
fn to_be_loaded(source: &Program, adapted: &Program) -> Vec<Invented> {
    let sources = |agent: &Agent| -> Vec<String> {
        let all = source.agent(&agent.metadata.name.value).and_then(|own| own.knowledge.as_ref());
        all.iter().flat_map(|one| &one.sources).map(|one| format!("`{}`", one.value)).collect()
    };
    let mut all = Vec::new();
    for agent in adapted.agents().filter(|agent| agent.metadata.dialect != dialect::ABL) {
        let sources = sources(agent);
        let own = agent.tools.iter().find(|tool| tool.knowledge_base().is_some());
        let Some((tool, base)) = own.and_then(|tool| Some((tool, tool.knowledge_base()?))) else {
            continue;
        };
        if !sources.is_empty() {
            all.push(Invented {
                cause: "what an agent knows belongs to a knowledge base".to_owned(),
                help: format!("load {} into the knowledge base `{base}`", sources.join(", ")),
                snippet: format!("kb_name: \"{base}\"\n"),
                at: InventedAt::Tool(tool.name.value.to_string()),
            });
        }
    }
    all
}
