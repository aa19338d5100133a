//! `agentir convert` and `agentir diff`.

use crate::input::{Input, load_input, load_workspace, read_files, unreadable};
use crate::output::{show, show_document, unless_closed};
use crate::write::{check_folder, check_input, check_output, replace_all, replace_output};
use agentir::Snapshot;
use agentir::{languages, targets};
use agentir_compare::{
    AnnouncedLosses, Comparison, Difference, NormalizedProgram, Side, differences,
    with_named_arguments,
};
use agentir_convert::{OutputFile, Report, Target, Task, Totals, is_unneeded};
use agentir_diagnostics::{
    Diagnostic, FileId, Format, RuleName, Severity, SourceMap, Span, escape_json, render, sort,
};
use agentir_ir::Program;
#[cfg(feature = "runtime")]
use agentir_scenario::{Limits, compare_by_replay};
use agentir_secrets::Masker;
use agentir_syntax::rules::OF_IMPORTS;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;
use std::io;
use std::path::{Component, Path, PathBuf};
use std::process::ExitCode;
use unicase::UniCase;

/// What to convert, and where to.
#[derive(Args)]
pub struct Convert {
    #[command(flatten)]
    input: Input,
    /// The target language
    #[arg(long, value_parser = target_parser(), value_name = "LANGUAGE")]
    to: Target,
    /// What becomes of flows: steps, or what the model leads by rules (of ABL) or by one procedure (of Agent Script), where
    /// they only collect, call tools and answer
    #[arg(long, value_enum, default_value_t = Style::Flow)]
    style: Style,
    /// The output folder; without it a single file is written to standard output
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
    /// Write the fidelity report to this file: JSON, HTML or text, by its extension
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
    /// Overwrite existing files, and write the output even if a check of it finds errors
    #[arg(long)]
    force: bool,
    /// Prove that the output behaves like the source, or show a conversation in which they differ
    /// [default: for single agents], and hold generated conversations with both
    #[arg(long, conflicts_with = "no_verify")]
    verify: bool,
    /// Skip the proof
    #[arg(long)]
    no_verify: bool,
}

/// What becomes of flows.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Style {
    /// They stay flows, of steps.
    Flow,
    /// The model leads where a flow only collects, calls tools and answers.
    Agentic,
}

impl Convert {
    /// The target in the style that is wanted.
    fn target(&self) -> Result<Target, String> {
        match self.style {
            Style::Flow => Ok(self.to),
            Style::Agentic => self.to.agentic().ok_or_else(|| {
                format!(
                    "`--style agentic` is not for {}, only for ABL and Agent Script\nhelp: leave it out, or use `--to abl`",
                    self.to.title()
                )
            }),
        }
    }

    /// Whether the conversion of a program is to be proved.
    fn verifies(&self, program: &agentir_ir::Program) -> bool {
        !self.no_verify && (self.verify || program.agents.len() == 1)
    }
}

/// Parses the name of a target.
fn target_parser() -> impl TypedValueParser<Value = Target> {
    let values = |target: Target| PossibleValue::new(target.name()).help(target.summary());
    PossibleValuesParser::new(targets::all().into_iter().map(values)).try_map(|name| {
        let target = targets::all().into_iter().find(|target| target.name() == name);
        target.ok_or("there is no such target")
    })
}

/// What to compare.
#[derive(Args)]
pub struct Diff {
    /// A file or a folder
    left: PathBuf,
    /// Another file or folder, in any language
    right: PathBuf,
}

const FAILED: u8 = 2;

/// How many conversations are held with the source and the output of a conversion.
#[cfg(feature = "runtime")]
const REPLAY_LIMITS: Limits = Limits { max_tries: 100, max_turns: 10 };

/// The file in the output folder that says what is left to do.
const MIGRATION: &str = "MIGRATION.md";

fn failed(message: impl std::fmt::Display) -> ExitCode {
    tell!("error: {message}");
    ExitCode::from(FAILED)
}

/// Errors that are no mistakes of the language: the program means what it says, and is converted as it is.
const NOT_OF_THE_LANGUAGE: &[RuleName] = &[agentir_lint::HARDCODED_SECRET];

/// Whether a finding keeps a program from being converted.
fn is_blocking(finding: &Diagnostic) -> bool {
    finding.severity == Severity::Error && !NOT_OF_THE_LANGUAGE.contains(&finding.rule)
}

/// Prints the errors of what was loaded, and what is to be known of an import; whether there are errors that keep it from
/// being used.
pub fn has_errors(snapshot: &Snapshot) -> bool {
    let told = |d: &&Diagnostic| d.severity == Severity::Error || OF_IMPORTS.contains(&d.rule);
    let mut diagnostics: Vec<Diagnostic> =
        snapshot.read_findings().iter().filter(told).cloned().collect();
    if diagnostics.is_empty() {
        return false;
    }
    let sources = snapshot.sources();
    sort(&mut diagnostics, sources);
    print_findings(sources, &diagnostics, snapshot.files_read());
    diagnostics.iter().any(is_blocking)
}

/// Prints findings of an output that was not written.
fn print_findings(sources: &SourceMap, diagnostics: &[Diagnostic], files_checked: usize) {
    let report = agentir_diagnostics::Report { sources, diagnostics, files_checked };
    // Whoever read our output has gone: nobody is left to be told.
    let _ = render(&report, Format::Text, false, &mut io::stderr().lock());
}

/// Converts. Exit code 0: nothing was dropped and nothing must be done; 1: something was, or must be; 2: it could not be done.
pub fn run(args: &Convert) -> ExitCode {
    if let Some(path) = &args.report
        && !extension(path).is_empty()
        && !REPORTS.contains(&extension(path))
    {
        return failed(format_args!(
            "a report cannot be written as `.{}`\nhelp: use `.json`, `.html` or `.txt`",
            extension(path)
        ));
    }
    let target = match args.target() {
        Ok(target) => target,
        Err(message) => return failed(message),
    };
    let snapshot = match load_input(&args.input) {
        Ok(snapshot) => snapshot,
        Err(code) => return code,
    };
    if let Some(path) = &args.report {
        let read = read_files(&snapshot);
        let inputs = read.iter().filter(|_| !args.force).map(PathBuf::as_path);
        if let Err(message) = check_output(path).and_then(|()| check_input(path, inputs)) {
            return failed(message);
        }
    }
    if let Some(Err(message)) = args.output.as_deref().map(check_folder) {
        return failed(message);
    }
    let errors = has_errors(&snapshot);
    let broken = files_with_errors(&snapshot);
    let mut folders = (snapshot.programs().count() > 1).then(FolderNames::default);
    let mut files: Vec<OutputFile> = Vec::new();
    let mut reports = Vec::new();
    // A program that fails does not keep the others from being converted.
    let mut left_out = 0_usize;
    let mut summary = Summary::default();
    for (id, program) in snapshot.programs() {
        let own = snapshot.files_of(id);
        if own.iter().any(|file| broken.contains(file)) {
            left_out += 1;
            summary.fail(&snapshot, own);
            continue;
        }
        if program.agents.is_empty() {
            continue;
        }
        let Some(mut done) = snapshot.convert(id, target) else { continue };
        if let Some(wrong) = done.diagnostics.iter().find(|d| is_blocking(d)) {
            tell!(
                "error: the output of `{}` has an error, so it was not written: {} ({})",
                program_name(program),
                wrong.message,
                wrong.rule.0
            );
            left_out += 1;
            let why = format!("the output has an error: {}", wrong.message);
            summary.failed.push((source_name(&snapshot, own), why));
            continue;
        }
        let Ok((checked, mut found)) = snapshot.check_output(&mut done) else { continue };
        found.retain(is_blocking);
        if let (Some(first), false) = (found.first(), args.force) {
            let why = format!("a check of the output finds an error: {}", first.message);
            print_findings(&checked, &found, done.files.len());
            tell!(
                "error: the output of `{}` has errors, so it was not written\nhelp: fix them in the source, or use `--force` and fix them in the output",
                program_name(program)
            );
            left_out += 1;
            summary.failed.push((source_name(&snapshot, own), why));
            continue;
        }
        if args.verifies(program) {
            done.verify(program, snapshot.sources());
        }
        #[cfg(feature = "runtime")]
        if args.verify {
            // A program without an agent to begin with has no conversations.
            let held = compare_by_replay(program, snapshot.sources(), &done, REPLAY_LIMITS);
            done.report.replays = held.ok();
        }
        let folder = folders.as_mut().map(|folders| folders.claim(program_name(program)));
        if let Some(folder) = &folder {
            summary.done.push(Converted {
                source: source_name(&snapshot, own),
                folder: folder.clone(),
                agents: program.agents.len(),
                files: done.files.len(),
                totals: done.report.totals,
                must: done.report.todo.iter().filter(|todo| todo.task == Task::Must).count(),
            });
        }
        if args.output.is_some() && done.report.has_todos() {
            let report = done.report.clone().shown(&snapshot.sources().masker());
            let path = MIGRATION.to_owned();
            done.files.push(OutputFile { path, text: report.markdown() });
        }
        files.extend(done.files.into_iter().map(|file| match &folder {
            Some(folder) => OutputFile { path: format!("{folder}/{}", file.path), ..file },
            None => file,
        }));
        reports.push(done.report);
    }
    let masker = snapshot.sources().masker();
    if folders.is_some() && !files.is_empty() {
        let text = masker.mask(&summary.page(args.to)).into_owned();
        files.push(OutputFile { path: "SUMMARY.md".to_owned(), text });
    }
    let [report] = merge(reports).try_into().unwrap_or_else(|_| [Report::empty(args.to)]);
    let report = report.shown(&masker);
    if files.is_empty() {
        return match (left_out, errors) {
            (0, false) => failed("there is no agent to convert"),
            (_, true) => failed("nothing was converted; fix these errors first"),
            (_, false) => failed("nothing was converted"),
        };
    }
    if let Err(message) = write(args, &files, &report, &masker) {
        return failed(message);
    }
    tell!("{}", report.text().trim_end_matches('\n'));
    if left_out == 0 && errors {
        return failed("the files with the errors above belong to no program that was written");
    }
    if left_out > 0 {
        let programs = if left_out == 1 { "program was" } else { "programs were" };
        return failed(format_args!(
            "{left_out} {programs} not converted because of the errors above; the others were written"
        ));
    }
    let must = report.todo.iter().any(|todo| todo.task == Task::Must);
    ExitCode::from(u8::from(report.totals.dropped > 0 || must))
}

/// The files in which an error was found while they were read.
fn files_with_errors(snapshot: &Snapshot) -> HashSet<FileId> {
    let errors = snapshot.read_findings().iter().filter(|d| is_blocking(d));
    errors.map(|error| error.primary.span.file).collect()
}

fn program_name(program: &agentir_ir::Program) -> String {
    let first = program.entry().or(program.agents().next());
    first.map_or_else(String::new, |a| agentir_convert::file_stem(&a.metadata.name.value))
}

/// A program that was converted, in a run over several.
struct Converted {
    /// The first file that it was read from.
    source: String,
    folder: String,
    agents: usize,
    files: usize,
    totals: Totals,
    /// How many things must be done by hand.
    must: usize,
}

/// What became of each program of a run over several.
#[derive(Default)]
struct Summary {
    done: Vec<Converted>,
    /// What was not converted, and why.
    failed: Vec<(String, String)>,
}

impl Summary {
    /// Adds a program with errors: its first one is why it was not converted.
    fn fail(&mut self, snapshot: &Snapshot, files: &[FileId]) {
        let mut errors = snapshot.read_findings().iter().filter(|d| is_blocking(d));
        let first = errors.find(|error| files.contains(&error.primary.span.file));
        let why = first.map_or_else(String::new, |first| first.message.clone());
        self.failed.push((source_name(snapshot, files), why));
    }

    /// The page, in Markdown.
    fn page(&self, target: Target) -> String {
        let line = |text: &str| text.replace(['\r', '\n'], " ");
        let cell = |text: &str| line(text).replace('|', "\\|");
        let mut out = format!("# Conversion to {}\n\n", target.title());
        let (done, failed) = (self.done.len(), self.failed.len());
        let _ = writeln!(out, "{done} converted, {failed} not.\n");
        out.push_str(
            "| program | written to | agents | files | kept | approximated | dropped | must do |\n",
        );
        out.push_str("|---|---|--:|--:|--:|--:|--:|--:|\n");
        for one in &self.done {
            let Converted { source, folder, agents, files, totals, must } = one;
            let Totals { kept, approximated, dropped, .. } = totals;
            let source = cell(source);
            let _ = writeln!(
                out,
                "| {source} | [{folder}]({folder}) | {agents} | {files} | {kept} | {approximated} | {dropped} | {must} |"
            );
        }
        if !self.failed.is_empty() {
            out.push_str("\n## Not converted\n\n");
            for (source, why) in &self.failed {
                let _ = writeln!(out, "- {}: {}", line(source), line(why));
            }
        }
        out
    }
}

/// What a program was read from: the first of its files.
fn source_name(snapshot: &Snapshot, files: &[FileId]) -> String {
    let first = files.first().and_then(|file| snapshot.sources().get(*file));
    first.map_or_else(String::new, |file| file.name.to_string())
}

/// The names of the folders of programs. File systems that ignore case would merge folders whose names differ in
/// nothing else.
#[derive(Default)]
struct FolderNames {
    taken: HashSet<String>,
    /// How often each name was wanted.
    wanted: HashMap<String, usize>,
}

impl FolderNames {
    /// The name, or the first of `name-2`, `name-3`, … that no other folder has.
    fn claim(&mut self, name: String) -> String {
        let count = self.wanted.entry(folded(&name)).or_insert(0);
        loop {
            *count += 1;
            let free = if *count == 1 { name.clone() } else { format!("{name}-{count}") };
            if self.taken.insert(folded(&free)) {
                return free;
            }
        }
    }
}

/// A name as file systems that ignore case compare it: `Straße` is `STRASSE` (Unicode, full case folding).
fn folded(name: &str) -> String {
    UniCase::unicode(name).to_folded_case()
}

fn merge(reports: Vec<Report>) -> Vec<Report> {
    let mut all = reports.into_iter();
    let Some(mut whole) = all.next() else { return Vec::new() };
    all.for_each(|report| whole.add(report));
    vec![whole]
}

fn write(
    args: &Convert,
    files: &[OutputFile],
    report: &Report,
    masker: &Masker,
) -> Result<(), String> {
    match (&args.output, files) {
        (Some(folder), _) => save(folder, files, args.force)?,
        (None, [file]) => {
            let written = show_document(&file.text, masker);
            unless_closed(written).map_err(|e| format!("the output cannot be written: {e}"))?;
        }
        (None, _) => {
            let names: Vec<_> = files.iter().map(|f| f.path.as_str()).collect();
            return Err(format!(
                "the output consists of {} files ({}): specify a folder with `-o DIR`",
                files.len(),
                names.join(", ")
            ));
        }
    }
    let Some(path) = &args.report else { return Ok(()) };
    let text = match extension(path) {
        "json" => {
            let json = serde_json::to_string_pretty(report);
            let json = json.map_err(|e| format!("{}: {e}", path.display()))?;
            escape_json(&json).into_owned() + "\n"
        }
        "html" | "htm" => report.html(),
        _ => report.text(),
    };
    replace_output(path, &text)
}

/// The extension of a report, which decides its format.
fn extension(path: &Path) -> &str {
    path.extension().and_then(|e| e.to_str()).unwrap_or_default()
}

/// The extensions that a report can have.
const REPORTS: [&str; 6] = ["json", "html", "htm", "txt", "text", "log"];

/// Writes files into a folder: all of them or, where one exists already or cannot be written, none. The folder may be
/// a link [within the working directory](check_folder); links below it are not followed.
fn save(folder: &Path, files: &[OutputFile], force: bool) -> Result<(), String> {
    check_folder(folder)?;
    let there = folder.metadata();
    if there.is_ok_and(|there| !there.is_dir()) {
        return Err(format!("{} is not a folder, but `-o` names one", folder.display()));
    }
    let mut targets = Vec::with_capacity(files.len());
    let mut names: HashMap<String, &str> = HashMap::with_capacity(files.len());
    for file in files {
        let inside = Path::new(&file.path);
        // Names come from documents that others wrote.
        if !inside.components().all(|c| matches!(c, Component::Normal(_))) {
            return Err(format!("`{}` is not a path inside the output folder", file.path));
        }
        // File systems that ignore case would keep only one of them.
        if let Some(other) = names.insert(folded(&file.path), &file.path) {
            return Err(format!("`{other}` and `{}` would be the same file", file.path));
        }
        if let Some(link) = link_below(folder, inside) {
            return Err(format!(
                "{} is a link, and nothing is written through links below the output folder",
                link.display()
            ));
        }
        targets.push((folder.join(inside), file.text.as_str()));
    }
    if !force && let Some((there, _)) = targets.iter().find(|(path, _)| path.exists()) {
        return Err(format!("{} already exists; use `--force` to overwrite it", there.display()));
    }
    replace_all(&targets)
}

/// The first link on the way from a folder to a path below it.
fn link_below(folder: &Path, inside: &Path) -> Option<PathBuf> {
    let mut path = folder.to_owned();
    inside.components().find_map(|component| {
        path.push(component);
        path.is_symlink().then(|| path.clone())
    })
}

/// Compares two programs. Exit code 0: they mean the same; 1: they differ; 2: it could not be done.
pub fn diff(args: &Diff) -> ExitCode {
    let mut loaded: Vec<Snapshot> = Vec::new();
    let mut renamed = Vec::new();
    for path in [&args.left, &args.right] {
        let (mut workspace, mut one) = match load_workspace(&Input::of(path)) {
            Ok(one) => one,
            Err(code) => return code,
        };
        if has_errors(&one) {
            return failed(format_args!("{} has errors", path.display()));
        }
        let path = path.display();
        match one.programs().count() {
            0 => return failed(format_args!("{path} contains no program")),
            1 => {}
            several => {
                return failed(format_args!(
                    "{path} contains {several} programs, but `diff` compares exactly two programs, one per path\nhelp: pass the folder or the file of one of them"
                ));
            }
        }
        if let Some(first) = loaded.first() {
            (one, renamed) = match workspace.under_names_of(first) {
                Ok(both) => both,
                Err(error) => return unreadable(error),
            };
        }
        loaded.push(one);
    }
    let programs = loaded.iter().flat_map(|one| {
        one.programs().map(move |(_, program)| (with_named_arguments(program), one.sources()))
    });
    let programs: Vec<(Cow<'_, Program>, &SourceMap)> = programs.collect();
    let normal = NormalizedProgram::in_any_order;
    let sides: Vec<(&Program, &SourceMap, NormalizedProgram)> =
        programs.iter().map(|(program, sources)| (&**program, *sources, normal(program))).collect();
    let [left, right] = sides.as_slice() else { return ExitCode::from(FAILED) };
    let [left, right] =
        [left, right].map(|(program, sources, normalized)| Side { program, sources, normalized });
    let mut found = differences(left.normalized, right.normalized);
    let mut unneeded = AnnouncedLosses::none();
    let all = found.len();
    found.retain(|difference| {
        let counts = !is_unneeded(languages(), &difference.path);
        if !counts {
            unneeded.unneeded(&difference.path);
        }
        counts
    });
    let editor = all - found.len();
    let comparison = Comparison::new(left, right, &unneeded);
    let texts = [left, right].into_iter().flat_map(|side| side.sources.iter());
    let masker: Masker = texts.map(|(_, file)| (&*file.text, file.masks())).collect();
    let mut out = String::new();
    let written = [left, right].map(|side| side.normalized.written());
    for one in &renamed {
        let _ = writeln!(out, "{one}");
    }
    for Difference { path, left: one, right: other } in &found {
        let _ = writeln!(out, "{path}");
        let both = [('-', one, left.sources), ('+', other, right.sources)];
        for ((mark, said, sources), written) in both.into_iter().zip(&written) {
            if let Some((value, at)) = said {
                let written = written.get(path).map(|text| serde_json::Value::from(*text));
                let value = written.as_ref().unwrap_or(value);
                let _ = writeln!(out, "  {mark} {value}{}", place(sources, *at));
            }
        }
    }
    let names = ["first", "second"];
    let _ = write!(out, "{}", comparison.text(names));
    if editor > 0 {
        let _ =
            writeln!(out, "not listed: {editor} values that only the platform of the source needs");
    }
    let public = renamed.iter().filter(|one| one.is_public).count();
    if found.is_empty() && comparison.is_same() {
        out.push_str(match renamed.is_empty() {
            true => "They have the same meaning\n",
            false => "Under the names of the first, they have the same meaning\n",
        });
        if public > 0 {
            out.push_str("names of agents and tools are known outside of the program\n");
        }
        return match show(&out, &masker) {
            ExitCode::SUCCESS if public > 0 => ExitCode::FAILURE,
            code => code,
        };
    }
    let count = found.len();
    let _ = writeln!(out, "{count} {}", if count == 1 { "difference" } else { "differences" });
    for statement in comparison.statements("second") {
        let _ = writeln!(out, "{statement}");
    }
    let is_same = comparison.is_same();
    if is_same {
        out.push_str("what differs is names, order and notation\n");
    }
    match show(&out, &masker) {
        ExitCode::SUCCESS if !is_same || public > 0 => ExitCode::FAILURE,
        code => code,
    }
}

fn place(sources: &SourceMap, at: Option<Span>) -> String {
    let file = at.and_then(|at| Some((sources.get(at.file)?, at)));
    file.map_or_else(String::new, |(file, at)| {
        format!("   ({}:{})", file.name, file.line_column(at.start).line)
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that fails should stop")]

    use super::*;

    #[test]
    fn two_files_are_not_written_to_one_path() {
        let folder = tempfile::tempdir().unwrap();
        let file = |path: &str| OutputFile { path: path.to_owned(), text: String::new() };
        let error = save(folder.path(), &[file("a/Pool.abl"), file("A/pool.abl")], true);
        assert_eq!(error.unwrap_err(), "`a/Pool.abl` and `A/pool.abl` would be the same file");
        assert_eq!(folder.path().read_dir().unwrap().count(), 0);
    }
}
