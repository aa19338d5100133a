//! `agentir check`: findings, filters, outputs and fixes.

use crate::batch::{self, CheckQuery, ExecOptions, Gathered};
use crate::input::{Input, InputSources};
use crate::output::{delivered, no_such, show_diff, unified};
use crate::write::{check_input, check_output, is_same, replace, replace_output};
use agentir_config::Threshold;
use agentir_diagnostics::{
    Applicability, Diagnostic, FileId, Fix, Report, SourceMap, Stream, one_line,
};
use agentir_lint::{Selection, Statistics, Times};
use agentir_project::{FileResult, Levels, max_steps, selection};
use agentir_report::{Baseline, Findings, Format, RuleDoc};
use agentir_vfs::{Disk, read_text};
use clap::builder::PossibleValuesParser;
use clap::{Args, ValueEnum};
use std::collections::HashMap;
use std::env;
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

#[derive(Args)]
pub struct Check {
    #[command(flatten)]
    input: Input,
    /// The output format of findings
    #[arg(
        long,
        default_value = "text",
        value_parser = PossibleValuesParser::new(Format::ALL.map(|(name, _)| name)),
    )]
    format: String,
    /// Write findings to a file instead of standard output; with a format, `sarif=FILE`, in addition to
    /// it. Can be used multiple times
    #[arg(short, long, value_name = "[FORMAT=]FILE")]
    output: Vec<String>,
    /// Run only these rules or groups of rules
    #[arg(long, value_delimiter = ',', value_name = "RULE")]
    select: Vec<String>,
    /// Disable these rules or groups of rules
    #[arg(long, value_delimiter = ',', value_name = "RULE")]
    ignore: Vec<String>,
    /// The lowest level of findings for exit code 1 [default: error, or as set in agentir.toml]
    #[arg(long, value_enum, value_name = "LEVEL")]
    fail_on: Option<FailOn>,
    /// Hide the findings recorded in this file
    #[arg(long, value_name = "FILE")]
    baseline: Option<PathBuf>,
    /// Record all findings in the file of `--baseline`
    #[arg(long, requires = "baseline")]
    write_baseline: bool,
    /// Apply fixes that do not change the meaning
    #[arg(long)]
    fix: bool,
    /// Also apply fixes that may change the meaning
    #[arg(long)]
    unsafe_fixes: bool,
    /// Show the fixes without applying them
    #[arg(long)]
    diff: bool,
    /// Print statistics of the solver and of the data-flow analysis, and the time of each rule, to
    /// standard error
    #[arg(long)]
    statistics: bool,
    /// Check again whenever a file changes, until Ctrl-C
    #[arg(long, conflicts_with_all = ["stdin_filename", "fix", "unsafe_fixes", "write_baseline"])]
    watch: bool,
    #[command(flatten)]
    work: ExecOptions,
}

#[derive(Clone, Copy, ValueEnum)]
enum FailOn {
    /// Errors
    Error,
    /// Warnings and errors
    Warning,
    /// Any finding
    Info,
    /// Never
    Never,
}

impl From<FailOn> for Threshold {
    fn from(from: FailOn) -> Self {
        match from {
            FailOn::Error => Self::Error,
            FailOn::Warning => Self::Warning,
            FailOn::Info => Self::Info,
            FailOn::Never => Self::Never,
        }
    }
}

/// Where findings go to.
struct Target {
    format: Format,
    /// Standard output if there is none.
    file: Option<PathBuf>,
}

/// So often fixes are looked for in what fixes made.
const MAX_FIX_ROUNDS: usize = 10;

/// Runs the command; see its exit codes.
pub fn run(check: &Check) -> ExitCode {
    let once = || try_run(check).unwrap_or_else(|code| code);
    if check.watch && check.input.reads_stdin() {
        return failed("standard input cannot be watched\nhelp: name files or folders");
    }
    if check.watch {
        let outputs = targets(check).unwrap_or_default().into_iter().filter_map(|t| t.file);
        return batch::watch::watch(check.input.paths(), outputs.collect(), || {
            let code = once();
            crate::note_missing_z3();
            code
        });
    }
    once()
}

fn failed(message: &str) -> ExitCode {
    tell!("error: {message}");
    ExitCode::from(2)
}

fn try_run(check: &Check) -> Result<ExitCode, ExitCode> {
    let targets = targets(check).map_err(|message| failed(&message))?;
    let wanted = Selection::new(check.select.iter().cloned(), check.ignore.iter().cloned())
        .map_err(|error| no_such(&error, error.closest))?;
    let fixes = check.fix || check.unsafe_fixes || check.diff;
    if fixes && !check.diff && check.input.reads_stdin() {
        return Err(failed(
            "standard input cannot be fixed in place\nhelp: `--diff` shows the fixes",
        ));
    }
    if let Some(format) = streamed(check, &targets) {
        return stream(check, wanted, format);
    }
    let recorded = check.baseline.as_deref().filter(|_| check.write_baseline);
    let written = || targets.iter().filter_map(|target| target.file.as_deref()).chain(recorded);
    written().try_for_each(check_output).map_err(|message| failed(&message))?;
    let root = env::current_dir().map_err(|error| failed(&error.to_string()))?;
    let baseline = baseline(check).map_err(|message| failed(&message))?;
    let mut fixed = AppliedFixes::default();
    let mut round = 0;
    let with_page = targets.iter().any(|target| target.format == Format::Html);
    let run = loop {
        let run = once(check, &wanted, &root, baseline.as_ref(), with_page, &fixed.texts)?;
        round += 1;
        if !fixes || round > MAX_FIX_ROUNDS || !fixed.apply(check, &run) {
            break run;
        }
    };
    if check.diff {
        return fixed.show();
    }
    let Gathered { diagnostics, sources, files: files_checked, page } = &run.gathered;
    let documents = || sources.iter().map(|(_, file)| Path::new(&*file.name));
    let others: Vec<PathBuf> = match recorded {
        Some(_) => run.sources.configs.files(),
        None => run.sources.configs.files().into_iter().chain(check.baseline.clone()).collect(),
    };
    let read = || documents().chain(others.iter().map(PathBuf::as_path));
    for file in written() {
        check_input(file, read()).map_err(|message| failed(&message))?;
    }
    fixed.write().map_err(|message| failed(&message))?;
    let levels = Levels::new(&run.sources.configs, &run.selection);
    let fails = |finding: &Diagnostic| check.fails(&levels, finding, sources);
    let report = Report { sources, diagnostics, files_checked: *files_checked };
    let findings = Findings { report, root: &root, fails: &fails, page, rules: &rule_doc };
    for target in &targets {
        deliver(&findings, target)?;
    }
    if fixed.count > 0 {
        let noun = if fixed.count == 1 { "fix" } else { "fixes" };
        tell!("{} {noun} applied in {}", fixed.count, files(fixed.texts.len()));
    }
    if let (Some(path), true) = (&check.baseline, check.write_baseline) {
        let all = Baseline::of(&findings);
        replace_output(path, &all.to_json()).map_err(|message| failed(&message))?;
        let findings = if all.len() == 1 { "finding" } else { "findings" };
        tell!("{} {findings} recorded in {}", all.len(), path.display());
        return Ok(ExitCode::SUCCESS);
    }
    if run.known > 0 {
        let findings = if run.known == 1 { "finding" } else { "findings" };
        tell!("{} {findings} hidden by the baseline", run.known);
    }
    if !run.gone.is_empty() {
        let (findings, occur) =
            if run.gone.len() == 1 { ("finding", "occurs") } else { ("findings", "occur") };
        tell!("{} {findings} in the baseline no longer {occur}:", run.gone.len());
        for gone in run.gone.iter().take(10) {
            tell!("  {}: {}: {}", gone.file, gone.rule, gone.message);
        }
        tell!("help: `--write-baseline` removes them from the baseline");
    }
    if let Some((statistics, times)) = &run.statistics {
        tell!("{statistics}\n\n{times}");
    }
    Ok(ExitCode::from(u8::from(diagnostics.iter().any(fails))))
}

impl Check {
    /// Whether a finding makes the run fail.
    fn fails(&self, levels: &Levels<'_>, finding: &Diagnostic, sources: &SourceMap) -> bool {
        match self.fail_on {
            Some(least) => Threshold::from(least).fails(finding.severity),
            None => levels.fails(finding, sources),
        }
    }
}

/// The format in which findings can be written while others are still being looked for: nothing but the
/// findings themselves is wanted, in one place, in a format that goes from the first to the last.
fn streamed(check: &Check, targets: &[Target]) -> Option<agentir_diagnostics::Format> {
    let fixes = check.fix || check.unsafe_fixes || check.diff;
    match targets {
        [Target { format, file: None }] if !fixes && check.baseline.is_none() => format.plain(),
        _ => None,
    }
}

/// Checks everything, and writes findings as soon as nothing can come before them.
fn stream(
    check: &Check,
    wanted: Selection,
    format: agentir_diagnostics::Format,
) -> Result<ExitCode, ExitCode> {
    let sources = check.input.sources(&HashMap::new())?;
    let request = check.input.request(&sources);
    let groups = check.work.programs(&request)?;
    let selection = selection(wanted, &sources.configs);
    let levels = Levels::new(&sources.configs, &selection);
    let query = CheckQuery {
        request: &request,
        selection: &selection,
        levels: &levels,
        max_steps: max_steps(groups.len()),
    };
    let mut statistics = check.statistics.then(<(Statistics, Times)>::default);
    let mut stdout = io::stdout();
    let terminal = stdout.is_terminal();
    let color = terminal && env::var_os("NO_COLOR").is_none();
    let mut stream = Stream::new(format, color, &mut stdout);
    let mut failing = false;
    let written = batch::check(groups, &check.work, query, statistics.as_mut(), |found| {
        stream.checked(found.files);
        stream.add(&found.diagnostics, &found.sources)?;
        failing |= found.diagnostics.iter().any(|d| check.fails(&levels, d, &found.sources));
        if terminal { stream.flush() } else { Ok(()) }
    });
    delivered(written.and_then(|()| stream.finish()).map(|_| ()))?;
    if let Some((statistics, times)) = statistics {
        tell!("{statistics}\n\n{times}");
    }
    Ok(ExitCode::from(u8::from(failing)))
}

fn files(count: usize) -> String {
    if count == 1 { "1 file".to_owned() } else { format!("{count} files") }
}

/// Where the command line wants findings.
fn targets(check: &Check) -> Result<Vec<Target>, String> {
    let format = Format::from_name(&check.format).unwrap_or(Format::Text);
    let mut all = Vec::new();
    let mut instead = false;
    for output in &check.output {
        let named = output.split_once('=').and_then(|(name, file)| {
            Format::from_name(name).map(|format| (format, PathBuf::from(file)))
        });
        match named {
            Some((format, file)) => all.push(Target { format, file: Some(file) }),
            None if let Some((name, file)) = unknown_format(output) => {
                let names = || Format::ALL.iter().map(|(known, _)| *known);
                let help = match agentir_diagnostics::closest(name, names()) {
                    Some(near) => format!("did you mean `{near}={file}`?"),
                    None => format!("the formats are: {}", names().collect::<Vec<_>>().join(", ")),
                };
                return Err(format!(
                    "there is no format `{name}`\nhelp: {help}\nhelp: `./{output}` is a file with this name"
                ));
            }
            None if instead => {
                return Err(format!(
                    "two output files have the format `{}`\nhelp: name the format of one of them, such as `--output sarif={output}`",
                    check.format
                ));
            }
            None => {
                instead = true;
                all.push(Target { format, file: Some(PathBuf::from(output)) });
            }
        }
    }
    if !instead {
        all.push(Target { format, file: None });
    }
    for (at, target) in all.iter().enumerate() {
        let Some(file) = &target.file else { continue };
        let other = |other: &Target| other.file.as_ref().is_some_and(|other| is_same(other, file));
        if all.iter().take(at).any(other) {
            return Err(format!("two reports would be written to {}", file.display()));
        }
        if check.write_baseline
            && check.baseline.as_deref().is_some_and(|other| is_same(other, file))
        {
            return Err(format!(
                "a report and the baseline would be written to {}",
                file.display()
            ));
        }
    }
    Ok(all)
}

/// The parts of an output that looks like `FORMAT=FILE`, but has no known format.
fn unknown_format(output: &str) -> Option<(&str, &str)> {
    output.split_once('=').filter(|(name, _)| !name.contains(['/', '\\', '.']))
}

fn baseline(check: &Check) -> Result<Option<Baseline>, String> {
    let Some(path) = check.baseline.as_ref().filter(|_| !check.write_baseline) else {
        return Ok(None);
    };
    let text = read_text(&Disk::default(), path).map_err(|error| {
        let help = "help: `--write-baseline` creates it";
        format!("the baseline {} cannot be read: {error}\n{help}", path.display())
    })?;
    Baseline::read(&text)
        .map(Some)
        .map_err(|error| format!("{} is not a valid baseline: {error}", path.display()))
}

/// What one look at everything came to.
struct Run {
    sources: InputSources,
    selection: Selection,
    gathered: Gathered,
    statistics: Option<(Statistics, Times)>,
    /// How many findings the baseline knows.
    known: usize,
    gone: Vec<agentir_report::Known>,
}

/// Checks everything, with some texts instead of those of the files.
fn once(
    check: &Check,
    wanted: &Selection,
    root: &Path,
    baseline: Option<&Baseline>,
    with_page: bool,
    instead: &HashMap<String, String>,
) -> Result<Run, ExitCode> {
    let sources = check.input.sources(instead)?;
    let request = check.input.request(&sources);
    let groups = check.work.programs(&request)?;
    let selection = selection(wanted.clone(), &sources.configs);
    let levels = Levels::new(&sources.configs, &selection);
    let query = CheckQuery {
        request: &request,
        selection: &selection,
        levels: &levels,
        max_steps: max_steps(groups.len()),
    };
    let mut statistics = check.statistics.then(<(Statistics, Times)>::default);
    let mut gathered = batch::gather(groups, &check.work, query, statistics.as_mut(), with_page);
    let (mut known, mut gone) = (0, Vec::new());
    if let Some(baseline) = baseline {
        let Gathered { diagnostics, sources, files, page } = &gathered;
        let report = Report { sources, diagnostics, files_checked: *files };
        let fails = &|_: &_| false;
        let compared = baseline.compare(&Findings { report, root, fails, page, rules: &rule_doc });
        let mut is_known = compared.known.into_iter();
        let before = gathered.diagnostics.len();
        gathered.diagnostics.retain(|_| !is_known.next().unwrap_or(false));
        known = before - gathered.diagnostics.len();
        gone = compared.gone;
    }
    Ok(Run { sources, selection, gathered, statistics, known, gone })
}

fn deliver(findings: &Findings<'_>, target: &Target) -> Result<(), ExitCode> {
    let Some(file) = &target.file else {
        let stdout = io::stdout();
        let color = stdout.is_terminal() && env::var_os("NO_COLOR").is_none();
        let mut out = stdout.lock();
        let written = agentir_report::write(findings, target.format, color, &mut out);
        return delivered(written.and_then(|()| out.flush()));
    };
    let mut text = Vec::new();
    agentir_report::write(findings, target.format, false, &mut text)
        .map_err(|error| failed(&error.to_string()))?;
    replace_output(file, &String::from_utf8_lossy(&text)).map_err(|message| failed(&message))
}

/// Texts that were fixed.
#[derive(Default)]
struct AppliedFixes {
    /// By the names of their files.
    texts: HashMap<String, String>,
    /// What the files said before.
    before: HashMap<String, String>,
    /// How many fixes were applied.
    count: usize,
}

impl AppliedFixes {
    /// Applies the fixes of a run, and says whether that changed anything.
    fn apply(&mut self, check: &Check, run: &Run) -> bool {
        let least = if check.unsafe_fixes { Applicability::Unsafe } else { Applicability::Safe };
        let sources = &run.gathered.sources;
        let request = check.input.request(&run.sources);
        let mut by_file: HashMap<FileId, Vec<&Fix>> = HashMap::new();
        for finding in &run.gathered.diagnostics {
            if let Some(fix) = finding.applicable_fix(least) {
                by_file.entry(finding.primary.span.file).or_default().push(fix);
            }
        }
        let mut changed = false;
        for (id, fixes) in by_file {
            let Some(file) = sources.get(id) else { continue };
            // What comes out of an archive has no place to be written to.
            if !check.input.reads_stdin() && !Path::new(&*file.name).is_file() {
                continue;
            }
            let path = Path::new(&*file.name);
            let options = request.options(path, &request.configs.of(path));
            let read = |text: &str| {
                FileResult::new(agentir::languages(), id, &file.name, text, false, options)
                    .lowered
                    .diagnostics
            };
            let fixed = agentir_rewrite::fix(id, &file.text, &fixes, &read);
            if fixed.applied == 0 || *fixed.text == *file.text {
                continue;
            }
            changed = true;
            self.count += fixed.applied;
            self.before.entry(file.name.to_string()).or_insert_with(|| file.text.to_string());
            self.texts.insert(file.name.to_string(), fixed.text);
        }
        changed
    }

    fn sorted(&self) -> Vec<(&String, &String)> {
        let mut all: Vec<_> = self.texts.iter().collect();
        all.sort();
        all
    }

    fn show(&self) -> Result<ExitCode, ExitCode> {
        for (name, text) in self.sorted() {
            let before = self.before.get(name).map_or("", String::as_str);
            let line = one_line(name);
            let diff = unified(before, text, &line, &line);
            delivered(show_diff(&diff, &[(name, before), (name, text)]))?;
        }
        let fixes = if self.count == 1 { "fix" } else { "fixes" };
        tell!("{} {fixes} would be applied in {}", self.count, files(self.texts.len()));
        Ok(ExitCode::from(u8::from(!self.texts.is_empty())))
    }

    /// Writes all files, each in one step. What was changed by somebody else meanwhile stays.
    fn write(&self) -> Result<(), String> {
        for (name, text) in self.sorted() {
            let path = Path::new(name);
            let now = read_text(&Disk::default(), path)
                .map_err(|error| format!("{name} cannot be read: {error}"))?;
            if self.before.get(name).is_some_and(|before| *before != now) {
                return Err(format!(
                    "{name} changed during the check and was not fixed\nhelp: run the command again"
                ));
            }
            replace(path, text)?;
        }
        Ok(())
    }
}

/// What a report says of the rule of this name.
fn rule_doc(name: &str) -> Option<RuleDoc> {
    let info = agentir_lint::rule(name)?;
    Some(RuleDoc {
        name: info.name,
        group: info.group_name(),
        severity: info.severity,
        summary: info.summary,
        page: agentir_lint::page(info.name).unwrap_or(info.summary),
    })
}
