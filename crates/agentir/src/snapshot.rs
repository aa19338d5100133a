//! A consistent view of a workspace.

use crate::compile;
use crate::languages::languages;
use agentir_analysis::references::{Occurrence, References, Role, Scope, SymbolId, SymbolKind};
use agentir_compare::{AnnouncedLosses, Comparison, NormalizedProgram, Side};
use agentir_config::{ConfigProblems, Configs};
use agentir_convert::{Conversion, Target};
use agentir_diagnostics::{
    Applicability, Diagnostic, FileId, Fix, SourceFile, SourceMap, Span, sort,
};
use agentir_draw::{Detail, Graph, View};
use agentir_flow::Cfg;
use agentir_flow::cost::{CostReport, cost};
use agentir_ir::{CompilationOutput, Program};
use agentir_lint::{Cancellation, Cancelled, Selection};
use agentir_project::{
    CheckOptions, FileResult, Levels, Loaded, LoadedProgram, READ_ERROR, Unit, check_units, keep,
    max_steps, read_options, units,
};
use agentir_rewrite::RewriteError;
use agentir_secrets::Masker;
use agentir_syntax::rules::{NOT_TEXT, OF_IMPORTS};
use agentir_syntax::{Detected, FileHead, ReadOptions};
use rustc_hash::FxHashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

/// A program of a snapshot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ProgramId(pub usize);

/// Why a file was not formatted.
#[derive(Debug, thiserror::Error)]
pub enum FormatError {
    /// There is no such file.
    #[error("there is no such file in the workspace")]
    NotFound,
    /// The file is not UTF-8 text, or cannot be read. [`Snapshot::read_findings`] says where and why.
    #[error("the file is not readable text")]
    NotText,
    /// The file has errors, or the formatter would have changed its meaning.
    #[error(transparent)]
    Refused(#[from] RewriteError),
}

/// Why the fixes of a file were not applied.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum FixError {
    /// There is no such file.
    #[error("there is no such file in the workspace")]
    NotFound,
    /// The file is not UTF-8 text, or cannot be read. [`Snapshot::read_findings`] says where and why.
    #[error("the file is not readable text")]
    NotText,
    /// The check was cancelled.
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
}

/// A consistent view of a workspace at one moment. Clones share everything.
#[derive(Debug, Clone)]
pub struct Snapshot {
    data: Arc<Data>,
    cancellation: Cancellation,
}

#[derive(Debug)]
struct Data {
    loaded: Loaded,
    configs: Arc<Configs>,
    problems: Arc<ConfigProblems>,
    selection: Selection,
    options: ReadOptions,
    ignored: Arc<[PathBuf]>,
    /// Programs that share files, with their findings.
    units: Vec<Unit>,
    /// The unit of each file.
    unit_of: Vec<usize>,
    findings: OnceLock<Vec<Diagnostic>>,
    /// By program.
    references: Vec<OnceLock<References>>,
}

impl Snapshot {
    pub(crate) fn new(
        loaded: Loaded,
        configs: Arc<Configs>,
        problems: Arc<ConfigProblems>,
        selection: Selection,
        options: ReadOptions,
        ignored: Arc<[PathBuf]>,
    ) -> Self {
        let findings = OnceLock::new();
        let units = units(&loaded, max_steps(loaded.programs.len()));
        let mut unit_of = vec![0; loaded.sources.len()];
        for (index, unit) in units.iter().enumerate() {
            for file in unit.files() {
                if let Some(of) = unit_of.get_mut(file.0 as usize) {
                    *of = index;
                }
            }
        }
        let references = loaded.programs.iter().map(|_| OnceLock::new()).collect();
        let data = Arc::new(Data {
            loaded,
            configs,
            problems,
            selection,
            options,
            ignored,
            units,
            unit_of,
            findings,
            references,
        });
        Self { data, cancellation: Cancellation::default() }
    }

    /// Takes the findings of programs that are as they were in an earlier view; all else must be as it was, too.
    pub(crate) fn keep_findings(&mut self, before: &Self) {
        let same_rules = self.data.selection == before.data.selection
            && self.data.options == before.data.options
            && Arc::ptr_eq(&self.data.configs, &before.data.configs);
        if let Some(data) = Arc::get_mut(&mut self.data).filter(|_| same_rules) {
            keep(&mut data.units, &before.data.units);
        }
    }

    /// The same view, whose checks stop when `cancellation` says so.
    #[must_use]
    pub fn cancelled_by(mut self, cancellation: Cancellation) -> Self {
        self.cancellation = cancellation;
        self
    }

    /// The files. Spans of findings and of programs refer to them.
    #[must_use]
    pub fn sources(&self) -> &SourceMap {
        &self.data.loaded.sources
    }

    /// The file called `name`: its path as it was given, without a leading `./`.
    #[must_use]
    pub fn file(&self, name: &str) -> Option<(FileId, &SourceFile)> {
        self.sources().iter().find(|(_, file)| &*file.name == name)
    }

    /// The programs, in the order of their folders.
    pub fn programs(&self) -> impl Iterator<Item = (ProgramId, &Program)> {
        let programs = self.data.loaded.programs.iter().enumerate();
        programs.map(|(index, loaded)| (ProgramId(index), &loaded.program))
    }

    /// How many documents were read.
    #[must_use]
    pub fn files_read(&self) -> usize {
        self.data.loaded.files
    }

    /// The files whose texts were set, but are no part of any program: nothing claims their names, they are outside the
    /// roots of the workspace, or a configuration excludes them. Paths are absolute, or relative to the root in memory.
    #[must_use]
    pub fn ignored(&self) -> &[PathBuf] {
        &self.data.ignored
    }

    /// The files `agentir.toml` that the files go by.
    #[must_use]
    pub fn config_files(&self) -> Vec<PathBuf> {
        self.data.configs.files()
    }

    /// What is wrong with the configurations of the files. Such a configuration has no effect.
    #[must_use]
    pub fn config_problems(&self) -> &ConfigProblems {
        &self.data.problems
    }

    /// What parsing and lowering found, before levels and suppressions are applied; part of what
    /// [`Snapshot::check`] finds. Where there are errors, programs lack the parts that could not be read.
    #[must_use]
    pub fn read_findings(&self) -> &[Diagnostic] {
        &self.data.loaded.diagnostics
    }

    /// The symbols of a program with their definitions and references. Computed once per snapshot.
    #[must_use]
    pub fn references(&self, program: ProgramId) -> Option<&References> {
        let loaded = self.loaded(program)?;
        let references = self.data.references.get(program.0)?;
        Some(references.get_or_init(|| {
            let all = References::with_texts(&loaded.program, self.sources());
            let in_code = self.references_in_code(&loaded.program, &all);
            if in_code.is_empty() { all } else { all.with_more(in_code) }
        }))
    }

    /// The references in the code of libraries to the tools that they implement.
    fn references_in_code(&self, program: &Program, all: &References) -> Vec<Occurrence> {
        let known: FxHashMap<(SymbolKind, Scope, &str), SymbolId> = all
            .symbols()
            .map(|(id, symbol)| ((symbol.kind, symbol.scope, symbol.name.as_str()), id))
            .collect();
        let mut found = Vec::new();
        for file in program.libraries.iter().map(|library| library.span.file) {
            let Some(source) = self.sources().get(file) else { continue };
            let head = FileHead { name: &source.name, text: &source.text, in_program: true };
            let Detected { language, kind } = languages().detect_head(&head);
            for one in language.code_references(kind, &source.text) {
                let tool = known.get(&(SymbolKind::Tool, Scope::Program, one.tool.as_str()));
                // Files may have functions of one name.
                let is_here = |tool: &SymbolId| {
                    all.definitions(*tool).iter().all(|definition| definition.file == file)
                };
                let Some(tool) = tool.copied().filter(is_here) else { continue };
                let scope = Scope::Symbol(tool);
                let symbol = match &one.parameter {
                    Some(name) => known.get(&(SymbolKind::Parameter, scope, name)).copied(),
                    None => Some(tool),
                };
                let [start, end] = [one.at.start, one.at.end].map(u32::try_from);
                if let (Some(symbol), Ok(start), Ok(end)) = (symbol, start, end) {
                    let span = Span::new(file, start, end);
                    found.push(Occurrence { span, symbol, role: Role::Read });
                }
            }
        }
        found
    }

    pub(crate) fn read_options(&self, path: &Path) -> ReadOptions {
        read_options(self.data.options, path, &self.data.configs.of(path))
    }

    pub(crate) fn loaded(&self, program: ProgramId) -> Option<&LoadedProgram> {
        self.data.loaded.programs.get(program.0)
    }

    /// The files that a program was read from.
    #[must_use]
    pub fn files_of(&self, program: ProgramId) -> &[FileId] {
        self.loaded(program).map_or(&[], |loaded| &loaded.files)
    }

    /// The AgentIR of a program.
    #[must_use]
    pub fn ir(&self, program: ProgramId) -> Option<&Program> {
        self.loaded(program).map(|loaded| &loaded.program)
    }

    /// All findings, in the order of the files. Computed once per snapshot.
    ///
    /// # Errors
    /// If the check was cancelled; a later call starts again.
    pub fn check(&self) -> Result<&[Diagnostic], Cancelled> {
        if let Some(findings) = self.data.findings.get() {
            return Ok(findings);
        }
        let Data { loaded, units, findings, .. } = &*self.data;
        self.checking(|options| check_units(units, loaded, options))?;
        Ok(findings.get_or_init(|| {
            let all = units.iter().filter_map(Unit::findings).flatten();
            let mut all: Vec<Diagnostic> = all.cloned().collect();
            sort(&mut all, &loaded.sources);
            all
        }))
    }

    /// The findings in one file, for which only the programs that it belongs to are checked.
    ///
    /// # Errors
    /// If the check was cancelled.
    pub fn check_file(&self, file: FileId) -> Result<impl Iterator<Item = &Diagnostic>, Cancelled> {
        let unit = self.unit(file);
        self.checking(|options| check_units(unit, &self.data.loaded, options))?;
        let findings = unit.and_then(Unit::findings).unwrap_or_default();
        Ok(findings.iter().filter(move |finding| finding.primary.span.file == file))
    }

    /// Whether the programs of a file were checked, so that [`Snapshot::check_file`] takes no time.
    #[must_use]
    pub fn is_checked(&self, file: FileId) -> bool {
        self.unit(file).is_none_or(|unit| unit.findings().is_some())
    }

    /// What reading one file finds, as [`Snapshot::check_file`] reports it: without what comments suppress, and at the
    /// levels of the configuration. No rule runs.
    ///
    /// # Errors
    /// If the check was cancelled.
    pub fn check_reading(&self, file: FileId) -> Result<Vec<Diagnostic>, Cancelled> {
        let Some(unit) = self.unit(file) else { return Ok(Vec::new()) };
        let mut found = self.checking(|options| unit.read_findings(&self.data.loaded, options))?;
        found.retain(|finding| finding.primary.span.file == file);
        Ok(found)
    }

    /// The files whose findings may change with those of a file: the files of all programs that it belongs to, and of
    /// those that share files with them.
    #[must_use]
    pub fn checked_with(&self, file: FileId) -> &[FileId] {
        self.unit(file).map_or(&[], Unit::files)
    }

    /// What masks the secrets of the files that are checked with one, in what is said of it: those that their texts tell
    /// to be secrets, and those that the findings tell that are known already.
    #[must_use]
    pub fn masker(&self, file: FileId) -> Masker {
        let unit = self.unit(file);
        let files = unit.map_or(std::slice::from_ref(&file), Unit::files);
        let found = unit.and_then(Unit::findings).unwrap_or_default();
        self.sources().masker_of(files.iter().copied(), found)
    }

    fn unit(&self, file: FileId) -> Option<&Unit> {
        self.data.units.get(*self.data.unit_of.get(file.0 as usize)?)
    }

    /// Checks with the options of this view.
    fn checking<T>(&self, check: impl FnOnce(CheckOptions<'_>) -> T) -> T {
        let Data { configs, selection, options, .. } = &*self.data;
        check(CheckOptions {
            selection,
            levels: &Levels::new(configs, selection),
            fragment: options.fragment,
            timed: false,
            languages: languages(),
            cancellation: &self.cancellation,
            max_steps: max_steps(self.data.loaded.programs.len()),
        })
    }

    /// All programs as they are published, `agentir schema ir`: agents, libraries, and the findings of a check. Agents
    /// of files with errors are omitted.
    ///
    /// # Errors
    /// If the check was cancelled.
    pub fn compile(&self) -> Result<CompilationOutput, Cancelled> {
        Ok(compile::output(&self.data.loaded, self.check()?))
    }

    /// The maximum number of model and tool calls per user message, for each agent of all programs.
    #[must_use]
    pub fn cost(&self) -> CostReport {
        let mut report = CostReport::default();
        for (_, program) in self.programs() {
            let cfg = Cfg::of_program(program);
            report.add(&cfg, &cost(&cfg), self.sources());
        }
        report
    }

    /// The control-flow graph of a program, drawn at some level of detail.
    #[must_use]
    pub fn graph(&self, program: ProgramId, detail: Detail) -> Option<Graph> {
        let program = self.ir(program)?;
        let cfg = Cfg::of_program(program);
        let entry = program.entry().and_then(|agent| cfg.find(&agent.metadata.name.value));
        let view = View { detail, agents: &[], entry };
        Some(agentir_draw::graph(&cfg, self.sources(), &view))
    }

    /// A program in another language, with the report of what was kept. Nothing is proved; see
    /// [`Conversion::verify`].
    #[must_use]
    pub fn convert(&self, program: ProgramId, target: Target) -> Option<Conversion> {
        let (own, program) = (self.files_of(program), self.ir(program)?);
        let told = self
            .read_findings()
            .iter()
            .filter(|d| OF_IMPORTS.contains(&d.rule) && own.contains(&d.primary.span.file));
        let told: Vec<Diagnostic> = told.cloned().collect();
        let source = (program, self.sources());
        let mut done = agentir_convert::convert(languages(), program, self.sources(), target);
        done.annotate(languages(), source, target, &told);
        Some(done)
    }

    /// The options that the files were read with.
    pub(crate) fn options(&self) -> &ReadOptions {
        &self.data.options
    }

    /// What ends the work on this state.
    pub(crate) const fn cancellation(&self) -> &Cancellation {
        &self.cancellation
    }

    /// The differences in meaning between a program and another one, of this or another workspace.
    #[must_use]
    pub fn diff(
        &self,
        program: ProgramId,
        other: &Self,
        other_program: ProgramId,
    ) -> Option<Comparison> {
        let (left, right) = (self.ir(program)?, other.ir(other_program)?);
        let (one, two) = (NormalizedProgram::new(left), NormalizedProgram::new(right));
        let left = Side { program: left, sources: self.sources(), normalized: &one };
        let right = Side { program: right, sources: other.sources(), normalized: &two };
        Some(Comparison::new(left, right, &AnnouncedLosses::none()))
    }

    /// Whether the text of a source is exactly what the file says.
    pub(crate) fn is_text(&self, file: FileId) -> bool {
        let mut findings = self.read_findings().iter();
        !findings.any(|d| d.primary.span.file == file && [NOT_TEXT, READ_ERROR].contains(&d.rule))
    }

    /// The text of a file in the canonical layout.
    ///
    /// # Errors
    /// If there is no such file, it is not text, or its structure is in doubt because of errors.
    pub fn format(&self, file: FileId) -> Result<String, FormatError> {
        let source = self.sources().get(file).ok_or(FormatError::NotFound)?;
        if !self.is_text(file) {
            return Err(FormatError::NotText);
        }
        let language = languages().detect(&source.name, &source.text);
        agentir_rewrite::format(language, file, &source.text).map_err(FormatError::from)
    }

    /// The text of a file with the lines of a span in the canonical layout, and all others as they are.
    ///
    /// # Errors
    /// If there is no such file, it is not text, its structure is in doubt because of errors, or these lines cannot be laid
    /// out without others.
    pub fn format_range(&self, span: Span) -> Result<String, FormatError> {
        let source = self.sources().get(span.file).ok_or(FormatError::NotFound)?;
        if !self.is_text(span.file) {
            return Err(FormatError::NotText);
        }
        let language = languages().detect(&source.name, &source.text);
        agentir_rewrite::format_range(language, span, &source.text).map_err(FormatError::from)
    }

    /// The text of a file with all fixes of at least this applicability that are compatible, and how many they are;
    /// the same text if there are none.
    ///
    /// # Errors
    /// If there is no such file, it is not text, or the check was cancelled.
    pub fn fix(&self, file: FileId, least: Applicability) -> Result<(String, usize), FixError> {
        let source = self.sources().get(file).ok_or(FixError::NotFound)?;
        if !self.is_text(file) {
            return Err(FixError::NotText);
        }
        let fixes: Vec<&Fix> =
            self.check_file(file)?.filter_map(|finding| finding.applicable_fix(least)).collect();
        let path = Path::new(&*source.name);
        let options = self.read_options(path);
        let read = |text: &str| {
            FileResult::new(languages(), file, &source.name, text, false, options)
                .lowered
                .diagnostics
        };
        let fixed = agentir_rewrite::fix(file, &source.text, &fixes, &read);
        Ok((fixed.text, fixed.applied))
    }
}
