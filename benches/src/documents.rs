//! Documents in memory, and each phase that reads them. What several phases do together, from texts to findings,
//! is `agentir-project`.

use crate::generate::{File, Project};
use agentir::languages;
use agentir_config::Configs;
use agentir_diagnostics::FileId;
use agentir_lang_abl::{self as abl, Arena, Format, Options as Reading};
use agentir_lang_abl::{ABL_FILE, YAML_FILE, outline};
use agentir_lang_adl::{self as adl, AGENTS_FILE, PYTHON_FILE, SETTINGS_FILE};
use agentir_lang_agent_script::{self as agent_script, AGENT_SCRIPT_FILE};
use agentir_lint::{Cancellation, Checked, Selection, Times};
use agentir_project::{CheckOptions, Levels, Loaded, check_programs, read_program};
use agentir_syntax::outline::parse_yaml;
use agentir_syntax::{Detected, FileHead, LoweredFile, ReadOptions};
use std::hint::black_box;

/// A document in memory.
pub(crate) struct Document<'p> {
    name: &'p str,
    pub(crate) text: &'p str,
    language: Detected,
}

impl<'p> Document<'p> {
    pub(crate) fn new(file: &'p File) -> Self {
        let (name, text) = (file.path.as_str(), file.text.as_str());
        let language = languages().detect_head(&FileHead { name, text, in_program: true });
        Self { name, text, language }
    }

    /// Lines and columns to tokens; YAML, which has a lexer of its own, up to its outline.
    pub(crate) fn lex(&self) {
        let kind = self.language.kind;
        if *kind == ABL_FILE {
            black_box(outline::count_tokens(self.text));
        } else if *kind == AGENT_SCRIPT_FILE {
            black_box(agent_script::count_tokens(self.text));
        } else {
            self.outline();
        }
    }

    /// To the outline.
    pub(crate) fn outline(&self) {
        let mut problems = Vec::new();
        let kind = self.language.kind;
        if *kind == ABL_FILE {
            black_box(outline::parse(FileId(0), self.text, &mut problems));
        } else if [&YAML_FILE, &AGENTS_FILE, &SETTINGS_FILE].contains(&kind) {
            black_box(parse_yaml(FileId(0), self.text, &mut problems));
        } else if *kind == AGENT_SCRIPT_FILE {
            black_box(agent_script::count_entries(self.text));
        } else {
            self.parse();
        }
    }

    /// To the typed tree. Exports of XO have none.
    pub(crate) fn parse(&self) {
        let mut problems = Vec::new();
        let mut abl = |format: Format| {
            let outline = match format {
                Format::Abl => outline::parse(FileId(0), self.text, &mut problems),
                Format::Yaml => parse_yaml(FileId(0), self.text, &mut problems),
            };
            let arena = Arena::new();
            black_box(abl::read(&outline, format, Reading::default(), &arena, &mut problems));
        };
        let kind = self.language.kind;
        if *kind == ABL_FILE {
            abl(Format::Abl);
        } else if *kind == YAML_FILE {
            abl(Format::Yaml);
        } else if *kind == AGENT_SCRIPT_FILE {
            let options = agent_script::Options::default();
            black_box(agent_script::parse(FileId(0), self.text, options, &mut problems));
        } else if *kind == AGENTS_FILE {
            let outline = parse_yaml(FileId(0), self.text, &mut problems);
            black_box(adl::read(&outline, &mut problems));
        } else if *kind == PYTHON_FILE {
            black_box(adl::python::read(FileId(0), self.text, &mut problems));
        } else {
            black_box(self.lower());
        }
    }

    /// To the IR.
    pub(crate) fn lower(&self) -> LoweredFile {
        let options = ReadOptions::default();
        languages().read_detected(self.language, FileId(0), self.name, self.text, options)
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
    read_program(languages(), files, options)
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
            max_steps: u64::MAX,
            languages: languages(),
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
