//! Checks programs in memory.

use agentir::languages;
use agentir_compare::{AnnouncedLosses, Comparison, NormalizedProgram, Side};
use agentir_config::Configs;
use agentir_diagnostics::{Diagnostic, FileId, Severity, SourceMap, Span};
use agentir_ir::Program;
use agentir_ir_json::{Mode, to_value};
use agentir_lang_abl::Options;
use agentir_lint::{Cancellation, Selection};
use agentir_project::{CheckOptions, FileResult, Levels, Loaded, check_loaded, config_names};
use serde_json::{Value, json};

/// A file.
#[derive(Debug, Clone)]
pub struct File {
    /// Its name, which determines its format.
    pub name: String,
    /// Its text.
    pub text: String,
}

/// The result of checking some files.
#[derive(Debug)]
pub struct Checked {
    /// The files.
    pub sources: SourceMap,
    /// The findings of front end and rules, in order.
    pub diagnostics: Vec<Diagnostic>,
    /// The program that the files define.
    pub program: Program,
}

impl Checked {
    /// The findings as lines: `file:line rule (level): message`.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        self.diagnostics.iter().map(|d| self.line(d)).collect()
    }

    /// One finding as a line.
    #[must_use]
    pub fn line(&self, d: &Diagnostic) -> String {
        let (name, line) = self.place(d.primary.span);
        let level = d.severity.name();
        format!("{name}:{line} {} ({level}): {}", d.rule.0, d.message)
    }

    /// The file and the line, from 1, of a span.
    #[must_use]
    pub fn place(&self, span: Span) -> (&str, u32) {
        self.sources.get(span.file).map_or(("", 0), |f| (&f.name, f.line_column(span.start).line))
    }

    /// The findings of error level.
    pub fn errors(&self) -> impl Iterator<Item = &Diagnostic> {
        self.diagnostics.iter().filter(|d| d.severity == Severity::Error)
    }
}

/// Reads files as one program and checks it, as the command line does. A `project.json` among them makes it
/// complete.
#[must_use]
pub fn check(files: &[File], options: Options) -> Checked {
    run_rules(load(files, options), options)
}

/// Reads files as one program; see [`check`].
#[must_use]
pub fn load(files: &[File], options: Options) -> Loaded {
    let texts = files.iter().map(|file| (file.name.as_str(), file.text.as_str()));
    agentir_project::read_program(languages(), texts, options.into())
}

/// Checks a program that was read with the same options.
#[must_use]
pub fn run_rules(mut loaded: Loaded, options: Options) -> Checked {
    let configs = Configs::none(config_names());
    let selection = Selection::default();
    let options = CheckOptions {
        max_steps: u64::MAX,
        languages: languages(),
        selection: &selection,
        levels: &Levels::new(&configs, &selection),
        fragment: options.fragment,
        timed: false,
        cancellation: &Cancellation::default(),
    };
    let (checked, _) = check_loaded(&mut loaded, options).expect("nobody cancels it");
    let program = loaded.programs.pop().expect("it is one program").program;
    Checked { sources: loaded.sources, diagnostics: checked.diagnostics, program }
}

/// The findings in a single file: those of the front end and of rules on source text.
#[must_use]
pub fn front_end(file: &File, options: Options) -> Vec<Diagnostic> {
    let File { name, text } = file;
    FileResult::new(languages(), FileId(0), name, text, true, options.into()).lowered.diagnostics
}

/// Compares the behaviour of two programs.
#[must_use]
pub fn compare(left: &Checked, right: &Checked) -> Comparison {
    let [one, other] = [left, right].map(|checked| NormalizedProgram::new(&checked.program));
    let left = Side { program: &left.program, sources: &left.sources, normalized: &one };
    let right = Side { program: &right.program, sources: &right.sources, normalized: &other };
    Comparison::new(left, right, &AnnouncedLosses::none())
}

/// The JSON of a program, without the source hash.
#[must_use]
pub fn json(program: &Program) -> Value {
    let mut agents = to_value(&program.agents, Mode::Plain);
    for agent in agents.as_array_mut().into_iter().flatten() {
        agent["metadata"].as_object_mut().expect("metadata").remove("source_hash");
    }
    let libraries: Vec<Value> = program
        .libraries
        .iter()
        .map(|library| {
            let extensions = to_value(&library.extensions, Mode::Plain);
            json!({ "tools": to_value(&library.tools, Mode::Plain), "extensions": extensions })
        })
        .collect();
    json!({
        "agents": agents,
        "profiles": to_value(&program.profiles, Mode::Plain),
        "libraries": libraries,
        "extensions": to_value(&program.extensions, Mode::Plain),
        "entry_agent": program.entry_agent.as_ref().map(|name| name.value.as_str()),
    })
}
