//! Documents in memory, and each phase that reads them. What several phases do together, from texts to findings,
//! is `agentir-project`.

use crate::generate::{File, Project};
use agentir_config::Configs;
use agentir_diagnostics::FileId;
use agentir_lint::{Cancellation, Checked, Selection, Times};
use agentir_lower::{Language, LoweredFile, ReadOptions};
use agentir_project::{CheckOptions, Levels, Loaded, check_programs, read_program};
use agentir_syntax::abl::{self, Arena, Format, Options as Reading};
use agentir_syntax::{adl, agent_script, outline};
use std::hint::black_box;

/// A document in memory.
pub(crate) struct Document<'p> {
    name: &'p str,
    pub(crate) text: &'p str,
    language: Language,
}

impl<'p> Document<'p> {
    pub(crate) fn new(file: &'p File) -> Self {
        let (name, text) = (file.path.as_str(), file.text.as_str());
        Self { name, text, language: agentir_lower::language_in_program(name, text) }
    }

    /// Lines and columns to tokens; YAML, which has a lexer of its own, up to its outline.
    pub(crate) fn lex(&self) {
        match self.language {
            Language::Abl => {
                black_box(outline::count_tokens(self.text));
            }
            Language::AgentScript => {
                black_box(agent_script::count_tokens(self.text));
            }
            _ => self.outline(),
        }
    }

    /// To the outline.
    pub(crate) fn outline(&self) {
        let mut problems = Vec::new();
        match self.language {
            Language::Abl => {
                black_box(outline::parse(FileId(0), self.text, &mut problems));
            }
            Language::AblYaml | Language::Adl | Language::AdlSettings => {
                black_box(outline::parse_yaml(FileId(0), self.text, &mut problems));
            }
            Language::AgentScript => {
                black_box(agent_script::count_entries(self.text));
            }
            Language::Python | Language::Xo | Language::XoSettings | Language::AgentIr => {
                self.parse();
            }
        }
    }

    /// To the typed tree. Exports of XO have none.
    pub(crate) fn parse(&self) {
        let mut problems = Vec::new();
        let mut abl = |format: Format| {
            let outline = match format {
                Format::Abl => outline::parse(FileId(0), self.text, &mut problems),
                Format::Yaml => outline::parse_yaml(FileId(0), self.text, &mut problems),
            };
            let arena = Arena::new();
            black_box(abl::read(&outline, format, Reading::default(), &arena, &mut problems));
        };
        match self.language {
            Language::Abl => abl(Format::Abl),
            Language::AblYaml => abl(Format::Yaml),
            Language::AgentScript => {
                let options = agent_script::Options::default();
                black_box(agent_script::parse(FileId(0), self.text, options, &mut problems));
            }
            Language::Adl => {
                let outline = outline::parse_yaml(FileId(0), self.text, &mut problems);
                black_box(adl::read(&outline, &mut problems));
            }
            Language::Python => {
                black_box(adl::python::read(FileId(0), self.text, &mut problems));
            }
            Language::AdlSettings | Language::Xo | Language::XoSettings | Language::AgentIr => {
                black_box(self.lower());
            }
        }
    }

    /// To the IR.
    pub(crate) fn lower(&self) -> LoweredFile {
        let options = ReadOptions::default();
        agentir_lower::file_as(self.language, FileId(0), self.name, self.text, options)
    }

    /// In canonical layout. One that has another is read back as well.
    pub(crate) fn format(&self) {
        black_box(agentir_rewrite::format(self.language, FileId(0), self.text).ok());
    }
}

/// Reads a project's files as one program.
pub(crate) fn load(project: &Project) -> Loaded {
    load_with(project, ReadOptions::default())
}

/// Reads a project's files as one program.
pub(crate) fn load_with(project: &Project, options: ReadOptions) -> Loaded {
    let files = project.files.iter().map(|file| (file.path.as_str(), file.text.as_str()));
    read_program(files, options)
}

/// Which rules check programs, without configurations.
pub(crate) struct Rules {
    selection: Selection,
    configs: Configs,
    never: Cancellation,
}

impl Rules {
    pub(crate) fn new(selection: Selection) -> Self {
        let configs = Configs::none(agentir_project::config_names());
        Self { selection, configs, never: Cancellation::default() }
    }

    /// Runs the rules over a program. Findings of its front end are left out.
    pub(crate) fn check(&self, loaded: &Loaded, timed: bool) -> (Checked, Times) {
        let options = CheckOptions {
            selection: &self.selection,
            levels: &Levels::new(&self.configs, &self.selection),
            fragment: false,
            timed,
            cancellation: &self.never,
        };
        let checked = check_programs(&loaded.programs, Vec::new(), &loaded.sources, options);
        // Nobody cancels it.
        checked.unwrap_or_default()
    }
}

/// The documents of a project, without its manifest.
pub(crate) fn documents(project: &Project) -> impl Iterator<Item = &File> {
    project.files.iter().filter(|f| !f.path.ends_with(".json"))
}
