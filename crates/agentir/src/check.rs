//! `agentir check`: findings, what is left of them, how they are written, and what is mended.

use crate::commands::{Input, findings, load_with};
use crate::load::Loaded;
use crate::settings::{self, Levels};
use crate::write::replace;
use agentir_config::{Configs, Threshold};
use agentir_diagnostics::{Applicability, Diagnostic, FileId, Fix, Report, SourceMap};
use agentir_draw::{Detail, View};
use agentir_flow::Cfg;
use agentir_flow::cost::{Most, cost};
use agentir_lint::{Checked, Selection, Statistics, Times};
use agentir_report::{Baseline, CostRow, Findings, Format, Page, Picture};
use agentir_syntax::abl::Options;
use clap::builder::PossibleValuesParser;
use clap::{Args, ValueEnum};
use similar::TextDiff;
use std::collections::HashMap;
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{env, fs};

#[derive(Args)]
pub struct Check {
    #[command(flatten)]
    input: Input,
    /// How findings are printed
    #[arg(
        long,
        default_value = "text",
        value_parser = PossibleValuesParser::new(Format::ALL.map(|(name, _)| name)),
    )]
    format: String,
    /// Write findings to a file instead of standard output; with a format in front, `sarif=FILE`, beside
    /// it. Can be given more than once
    #[arg(short, long, value_name = "[FORMAT=]FILE")]
    output: Vec<String>,
    /// Only these rules or groups of rules
    #[arg(long, value_delimiter = ',', value_name = "RULE")]
    select: Vec<String>,
    /// All but these rules or groups of rules
    #[arg(long, value_delimiter = ',', value_name = "RULE")]
    ignore: Vec<String>,
    /// The least level of a finding that makes the exit code 1 [default: error, or what agentir.toml says]
    #[arg(long, value_enum, value_name = "LEVEL")]
    fail_on: Option<FailOn>,
    /// Leave out the findings that this file knows
    #[arg(long, value_name = "FILE")]
    baseline: Option<PathBuf>,
    /// Write all findings to the file of `--baseline`
    #[arg(long, requires = "baseline")]
    write_baseline: bool,
    /// Mend what can be mended without changing what is meant
    #[arg(long)]
    fix: bool,
    /// Mend as well what was probably meant otherwise
    #[arg(long)]
    unsafe_fixes: bool,
    /// Show what would be mended, and write nothing
    #[arg(long)]
    diff: bool,
    /// Say what the solver was asked, where variables were followed, and how long each rule took, on
    /// standard error
    #[arg(long)]
    statistics: bool,
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
const MOST_ROUNDS: usize = 10;

/// Runs the command; see its exit codes.
pub fn run(check: &Check) -> ExitCode {
    try_run(check).unwrap_or_else(|code| code)
}

fn failed(message: &str) -> ExitCode {
    eprintln!("error: {message}");
    ExitCode::from(2)
}

fn try_run(check: &Check) -> Result<ExitCode, ExitCode> {
    let targets = targets(check).map_err(|message| failed(&message))?;
    let known = agentir_lint::catalogue();
    for name in check.select.iter().chain(&check.ignore) {
        if !known.iter().any(|r| r.name == name || r.group_name() == name) {
            let code = failed(&format!("there is no rule or group `{name}`"));
            let all = known.iter().flat_map(|r| [r.name, r.group_name()]);
            if let Some(near) = agentir_diagnostics::closest(name, all) {
                eprintln!("help: did you mean `{near}`?");
            }
            return Err(code);
        }
    }
    let fixes = check.fix || check.unsafe_fixes || check.diff;
    if fixes && !check.diff && check.input.reads_stdin() {
        return Err(failed(
            "what comes from standard input cannot be mended in place\nhelp: `--diff` shows what would be mended",
        ));
    }
    let configs = check.input.configs()?;
    let root = env::current_dir().map_err(|error| failed(&error.to_string()))?;
    let baseline = baseline(check).map_err(|message| failed(&message))?;
    let mut mended = Mended::default();
    let mut round = 0;
    let run = loop {
        let run = once(check, &configs, &root, baseline.as_ref(), &mended.texts)?;
        round += 1;
        if !fixes || round > MOST_ROUNDS || !mended.mend(check, &run) {
            break run;
        }
    };
    if check.diff {
        return mended.show();
    }
    mended.write().map_err(|message| failed(&message))?;
    let sources = &run.loaded.sources;
    let levels = Levels::new(&configs, &run.selection);
    let fails = |finding: &Diagnostic| match check.fail_on {
        Some(least) => Threshold::from(least).fails(finding.severity),
        None => levels.fails(finding, sources),
    };
    let page = match targets.iter().any(|target| target.format == Format::Html) {
        true => page(&run.loaded),
        false => Page::default(),
    };
    let report = Report { sources, diagnostics: &run.diagnostics, files_checked: run.loaded.files };
    let findings = Findings { report, root: &root, fails: &fails, page: &page };
    for target in &targets {
        deliver(&findings, target)?;
    }
    if mended.count > 0 {
        let mend = if mended.count == 1 { "fix" } else { "fixes" };
        eprintln!("{} {mend} applied in {}", mended.count, files(mended.texts.len()));
    }
    if let (Some(path), true) = (&check.baseline, check.write_baseline) {
        let all = Baseline::of(&findings);
        replace(path, &all.to_json()).map_err(|message| failed(&message))?;
        let findings = if all.len() == 1 { "finding is" } else { "findings are" };
        eprintln!("{} {findings} known from now on, by {}", all.len(), path.display());
        return Ok(ExitCode::SUCCESS);
    }
    if run.known > 0 {
        let findings = if run.known == 1 { "finding is" } else { "findings are" };
        eprintln!("{} {findings} known from before and not shown", run.known);
    }
    if !run.gone.is_empty() {
        eprintln!("{} known from before and gone:", run.gone.len());
        for gone in run.gone.iter().take(10) {
            eprintln!("  {}: {}: {}", gone.file, gone.rule, gone.message);
        }
        eprintln!("help: `--write-baseline` forgets them");
    }
    if check.statistics {
        eprintln!("{}\n\n{}", run.statistics, run.times);
    }
    Ok(ExitCode::from(u8::from(run.diagnostics.iter().any(fails))))
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
            None if instead => {
                return Err(format!(
                    "two files are to have the format `{}`\nhelp: say which: `--output sarif={output}`",
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
    Ok(all)
}

fn baseline(check: &Check) -> Result<Option<Baseline>, String> {
    let Some(path) = check.baseline.as_ref().filter(|_| !check.write_baseline) else {
        return Ok(None);
    };
    let text = fs::read_to_string(path).map_err(|error| {
        let help = "help: `--write-baseline` makes it";
        format!("the baseline {} cannot be read: {error}\n{help}", path.display())
    })?;
    Baseline::read(&text)
        .map(Some)
        .map_err(|error| format!("{} is no baseline: {error}", path.display()))
}

/// What one look at everything came to.
struct Run {
    loaded: Loaded,
    selection: Selection,
    diagnostics: Vec<Diagnostic>,
    statistics: Statistics,
    times: Times,
    /// How many findings the baseline knows.
    known: usize,
    gone: Vec<agentir_report::Known>,
}

/// Checks everything, with some texts instead of those of the files.
fn once(
    check: &Check,
    configs: &Configs,
    root: &Path,
    baseline: Option<&Baseline>,
    instead: &HashMap<String, String>,
) -> Result<Run, ExitCode> {
    let mut loaded = load_with(&check.input, configs, instead)?;
    let selection = settings::selection(&check.select, &check.ignore, configs);
    let (Checked { mut diagnostics, statistics }, times) =
        findings(&mut loaded, &selection, check.input.fragment());
    let sources = &loaded.sources;
    let levels = Levels::new(configs, &selection);
    let name = |id: FileId| sources.get(id).map_or("", |file| &*file.name);
    // Fragments are only read: most rules did not run.
    let ran = |id: FileId, rule: &str| {
        !check.input.fragment() && selection.wants(rule) && !levels.is_off(name(id), rule)
    };
    agentir_lint::suppress(sources, &mut diagnostics, &ran);
    diagnostics.retain(|d| selection.wants(d.rule.0));
    levels.apply(&mut diagnostics, sources);
    agentir_diagnostics::sort(&mut diagnostics, sources);
    let (mut known, mut gone) = (0, Vec::new());
    if let Some(baseline) = baseline {
        let report = Report { sources, diagnostics: &diagnostics, files_checked: loaded.files };
        let findings = Findings { report, root, fails: &|_| false, page: &Page::default() };
        let compared = baseline.compare(&findings);
        let mut is_known = compared.known.into_iter();
        let before = diagnostics.len();
        diagnostics.retain(|_| !is_known.next().unwrap_or(false));
        known = before - diagnostics.len();
        gone = compared.gone;
    }
    Ok(Run { loaded, selection, diagnostics, statistics, times, known, gone })
}

fn deliver(findings: &Findings<'_>, target: &Target) -> Result<(), ExitCode> {
    let Some(file) = &target.file else {
        let stdout = io::stdout();
        let color = stdout.is_terminal() && env::var_os("NO_COLOR").is_none();
        let mut out = stdout.lock();
        return agentir_report::write(findings, target.format, color, &mut out)
            .and_then(|()| out.flush())
            // Whoever read our output has gone.
            .map_err(|_| ExitCode::from(2));
    };
    let mut text = Vec::new();
    agentir_report::write(findings, target.format, false, &mut text)
        .map_err(|error| failed(&error.to_string()))?;
    replace(file, &String::from_utf8_lossy(&text)).map_err(|message| failed(&message))
}

/// Texts that were mended.
#[derive(Default)]
struct Mended {
    /// By the names of their files.
    texts: HashMap<String, String>,
    /// What the files said before.
    before: HashMap<String, String>,
    /// How many fixes were applied.
    count: usize,
}

impl Mended {
    /// Applies the fixes of a run, and says whether that changed anything.
    fn mend(&mut self, check: &Check, run: &Run) -> bool {
        let least = if check.unsafe_fixes { Applicability::Unsafe } else { Applicability::Safe };
        let sources: &SourceMap = &run.loaded.sources;
        let mut by_file: HashMap<FileId, Vec<&Fix>> = HashMap::new();
        for finding in &run.diagnostics {
            if let Some(fix) = finding.fix.as_ref().filter(|fix| fix.applicability >= least) {
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
            let options = Options { fragment: check.input.fragment(), ..Options::default() };
            let fixed = agentir_rewrite::fix(id, &file.name, &file.text, options, &fixes);
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
        let mut out = io::stdout().lock();
        for (name, text) in self.sorted() {
            let before = self.before.get(name).map_or("", String::as_str);
            let diff = TextDiff::from_lines(before, text);
            let diff = diff.unified_diff().header(name, name).to_string();
            out.write_all(diff.as_bytes()).map_err(|_| ExitCode::from(2))?;
        }
        let fixes = if self.count == 1 { "fix" } else { "fixes" };
        eprintln!("{} {fixes} would be applied in {}", self.count, files(self.texts.len()));
        Ok(ExitCode::from(u8::from(!self.texts.is_empty())))
    }

    /// Writes all files, each in one step. What was changed by somebody else meanwhile stays.
    fn write(&self) -> Result<(), String> {
        for (name, text) in self.sorted() {
            let path = Path::new(name);
            let now = fs::read_to_string(path).map_err(|error| format!("{name}: {error}"))?;
            if self.before.get(name).is_some_and(|before| *before != now) {
                return Err(format!(
                    "{name} was changed while it was checked, and is left as it is\nhelp: run the command again"
                ));
            }
            replace(path, text)?;
        }
        Ok(())
    }
}

/// So many agents fit on a picture of steps.
const MANY_AGENTS: usize = 8;
/// So many programs are drawn.
const MOST_PICTURES: usize = 40;

/// What only the page shows.
fn page(loaded: &Loaded) -> Page {
    let mut page = Page::default();
    for program in loaded.programs.iter().map(|p| &p.program).filter(|p| !p.agents.is_empty()) {
        let cfg = Cfg::of_program(program);
        let entry = program.entry().and_then(|a| cfg.find(&a.metadata.name.value));
        let many = program.agents.len() > MANY_AGENTS;
        let detail = if many { Detail::Agents } else { Detail::Steps };
        if page.pictures.len() < MOST_PICTURES {
            let view = View { detail, agents: &[], entry };
            let graph = agentir_draw::graph(&cfg, &loaded.sources, &view);
            let name = program.entry().or_else(|| program.agents.first());
            let name = name.map_or("agents", |agent| agent.metadata.name.value.as_str());
            if let Ok(svg) = agentir_draw::svg(&graph) {
                page.pictures.push(Picture { name: name.to_owned(), svg });
            }
        }
        let bound = |most: Most| match most {
            Most::AtMost(n) => Some(n),
            Most::Unbounded => None,
        };
        for one in cost(&cfg) {
            let Some(part) = cfg.part(one.agent) else { continue };
            page.costs.push(CostRow {
                agent: part.agent.metadata.name.value.to_string(),
                own_models: bound(one.own.models),
                own_tools: bound(one.own.tools),
                all_models: bound(one.total.models),
                all_tools: bound(one.total.tools),
            });
        }
    }
    page
}
