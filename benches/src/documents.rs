//! Documents in memory, and what each phase makes of them.

use crate::generate::{File, Project};
use agentir_diagnostics::FileId;
use agentir_ir::Program;
use agentir_lower::LoweredFile;
use agentir_syntax::abl::schema::Version;
use agentir_syntax::abl::{self, Arena, Format, Options as Reading};
use agentir_syntax::{adl, agent_script, outline};
use std::hint::black_box;

/// What a text is written in.
#[derive(Debug, Clone, Copy)]
enum Language {
    Abl(Format),
    AgentScript,
    Adl,
    /// The functions of a bot.
    Python,
}

/// A document in memory.
pub(crate) struct Document<'p> {
    name: &'p str,
    pub(crate) text: &'p str,
    language: Language,
}

impl<'p> Document<'p> {
    pub(crate) fn new(file: &'p File) -> Self {
        let (name, text) = (file.path.as_str(), file.text.as_str());
        let language = if name.ends_with(".agent") {
            Language::AgentScript
        } else if name.ends_with(".py") {
            Language::Python
        } else if agentir_lower::is_adl(name, text) {
            Language::Adl
        } else if name.ends_with(".yaml") {
            Language::Abl(Format::Yaml)
        } else {
            Language::Abl(Format::Abl)
        };
        Self { name, text, language }
    }

    /// Lines and columns to tokens; YAML, which has a lexer of its own, up to its outline.
    pub(crate) fn lex(&self) {
        match self.language {
            Language::Abl(Format::Abl) => {
                black_box(outline::count_tokens(self.text));
            }
            Language::AgentScript => {
                black_box(agent_script::count_tokens(self.text));
            }
            Language::Abl(Format::Yaml) | Language::Adl | Language::Python => self.outline(),
        }
    }

    /// To the outline.
    pub(crate) fn outline(&self) {
        let mut problems = Vec::new();
        match self.language {
            Language::Abl(Format::Abl) => {
                black_box(outline::parse(FileId(0), self.text, &mut problems));
            }
            Language::Abl(Format::Yaml) | Language::Adl => {
                black_box(outline::parse_yaml(FileId(0), self.text, &mut problems));
            }
            Language::AgentScript => {
                black_box(agent_script::count_entries(self.text));
            }
            Language::Python => self.parse(),
        }
    }

    /// To the typed tree.
    pub(crate) fn parse(&self) {
        let mut problems = Vec::new();
        match self.language {
            Language::Abl(format) => {
                let outline = match format {
                    Format::Abl => outline::parse(FileId(0), self.text, &mut problems),
                    Format::Yaml => outline::parse_yaml(FileId(0), self.text, &mut problems),
                };
                let arena = Arena::new();
                let options = Reading::default();
                black_box(abl::read(&outline, format, options, &arena, &mut problems));
            }
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
        }
    }

    /// To the IR.
    pub(crate) fn lower(&self, file: FileId) -> LoweredFile {
        match self.language {
            Language::Abl(_) => agentir_lower::abl(file, self.name, self.text, Reading::default()),
            Language::AgentScript => {
                agentir_lower::agent_script(file, self.text, agent_script::Options::default())
            }
            Language::Adl => agentir_lower::adl(file, self.text),
            Language::Python => agentir_lower::python(file, self.text),
        }
    }

    /// In canonical layout. One that has another is read back as well.
    pub(crate) fn format(&self) {
        let language = agentir_lower::language(self.name, self.text);
        black_box(agentir_rewrite::format(language, FileId(0), self.text).ok());
    }
}

/// A project's documents as one program.
pub(crate) fn program(project: &Project) -> (Program, Vec<Version>) {
    let mut program = Program { complete: true, ..Program::default() };
    let mut versions = Vec::new();
    for (file, id) in documents(project).zip(0..) {
        Document::new(file).lower(FileId(id)).add_to(&mut program, &mut versions);
    }
    (program, versions)
}

/// The documents of a project, without its manifest.
pub(crate) fn documents(project: &Project) -> impl Iterator<Item = &File> {
    project.files.iter().filter(|f| !f.path.ends_with(".json"))
}
