//! The commands.

use crate::batch;
use crate::graph::{self, GraphDetail, GraphFormat};
#[cfg(feature = "pictures")]
use crate::graph_watch::Served;
use crate::input::{Input, load_input};
use crate::output::{no_such, print, print_json, show, show_program, shown};
use crate::{check, convert, rewrite};
#[cfg(feature = "runtime")]
use crate::{run, session, test};
use agentir_diagnostics::{Severity, escape_json};
use agentir_ir::Dialect;
use agentir_ir_json::{Mode, Written};
use agentir_lint::RuleInfo;
use agentir_secrets::Masker;
use clap::{Args, CommandFactory, Parser, Subcommand, ValueEnum};
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// A linter, formatter, compiler, converter and runtime for conversational AI agents.
#[derive(Parser)]
#[command(name = "agentir", version, about, max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Check agents for mistakes
    ///
    /// Exit code 0: no errors (or findings of the level of `--fail-on`); 1: errors; 2: the check could not
    /// run. With `--diff`, 1 means that fixes are available.
    Check(Box<check::Check>),
    /// Print the AgentIR of agents as JSON
    ///
    /// Agents with errors are reported and omitted. Exit code 0: all agents compiled; 1: some did not;
    /// 2: the command could not run.
    Compile(Input),
    /// Draw the control-flow graph of agents
    ///
    /// Unreachable nodes and cycles are highlighted. Exit code 0: success; 1: parts of a file could not be
    /// parsed, so the graph may lack them; 2: the graph could not be drawn.
    Graph(Draw),
    /// Compute the maximum number of model and tool calls per user message, for each agent
    ///
    /// Exit code 0: success; 1: parts of a file could not be parsed, so the numbers may be too low; 2: the command could
    /// not run.
    Cost(CostOf),
    /// Convert agents to another language, and report what was lost
    ///
    /// Exit code 0: nothing was dropped and nothing must be done by hand; 1: something was, or must be; 2: the conversion failed.
    Convert(convert::Convert),
    /// Compare the meaning of two programs, in any languages
    ///
    /// Exit code 0: no differences, or only in names, order and notation, which is proved; 1: differences; 2: the comparison
    /// failed.
    Diff(convert::Diff),
    /// Format documents
    ///
    /// Strings, comments and the meaning are preserved; files with syntax errors are left unchanged. Exit
    /// code 0: success; 1: with `--check` or `--diff`, a file is not formatted; 2: a file could not be
    /// formatted.
    Fmt(rewrite::Fmt),
    /// Migrate ABL documents to a newer version of the language, with minimal edits
    ///
    /// Forms that cannot be migrated automatically are reported. Exit code 0: success; 1: with `--check` or
    /// `--diff`, a file would change; 2: a file could not be migrated.
    Migrate(rewrite::Migrate),
    /// Talk to agents, in the terminal or through a pipe
    ///
    /// The network is used only with `--model openai` or `--allow-tools`, and then only for hosts that are
    /// named. Each line is a message; `!id`
    /// presses the button with that id. Exit code 0: the conversation or the input ended; 1: the
    /// conversation failed; 2: it could not be started.
    #[cfg(feature = "runtime")]
    Run(Box<run::Run>),
    /// List, show, export, copy and delete the conversations that `agentir run --session` keeps
    ///
    /// Exit code 0: success; 2: the command could not run.
    #[cfg(feature = "runtime")]
    #[command(subcommand)]
    Session(session::SessionCommand),
    /// Run conversation tests
    ///
    /// `agentir schema test` describes their format. Exit code 0: all passed; 1: some failed; 2: some
    /// could not be run.
    #[cfg(feature = "runtime")]
    Test(test::Test),
    /// Start a process of a tool, and end it with the process that has this id
    #[cfg(all(unix, feature = "runtime"))]
    #[command(hide = true, name = run::SUPERVISE)]
    Supervise {
        /// The id, the program and its arguments
        #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true)]
        process: Vec<std::ffi::OsString>,
    },
    /// Talk to agents
    #[cfg(not(feature = "runtime"))]
    #[command(hide = true)]
    Run(NotBuilt),
    /// Work with stored conversations
    #[cfg(not(feature = "runtime"))]
    #[command(hide = true)]
    Session(NotBuilt),
    /// Run conversation tests
    #[cfg(not(feature = "runtime"))]
    #[command(hide = true)]
    Test(NotBuilt),
    /// Serve an editor on standard input and output, by the Language Server Protocol
    ///
    /// Editors start it themselves; `docs/editors.md` says how. Exit code 0: the editor ended it; 1: the editor was gone
    /// before; 2: standard output cannot be written to.
    Lsp(Lsp),
    /// Print statistics of many programs and of the findings in them
    ///
    /// Memory use does not depend on the number of programs. Exit code 0: success, whatever was found; 2:
    /// the command could not run.
    Corpus(batch::corpus::CorpusOf),
    /// Work with existing reports
    #[command(subcommand)]
    Report(batch::report::ReportCommand),
    /// Manage the cache
    #[command(subcommand)]
    Cache(CacheCommand),
    /// Print shell completions
    Completions {
        /// The shell
        #[arg(value_enum)]
        shell: clap_complete::Shell,
    },
    /// Write the manual pages
    #[command(hide = true)]
    Man {
        /// The folder to write them to
        folder: PathBuf,
    },
    /// Print the JSON Schema of an input or output format
    Schema {
        /// The format
        #[arg(value_enum)]
        what: SchemaOf,
    },
    /// Explain a rule, with examples
    Explain {
        /// The rule's name
        rule: String,
    },
    /// List all rules
    Rules {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}

#[derive(Args)]
struct Lsp {
    /// What some editors add; there is no other transport
    #[arg(long, hide = true)]
    stdio: bool,
    /// What some editors add: the process that the server belongs to
    #[arg(long = "clientProcessId", value_name = "ID", hide = true)]
    client: Option<u32>,
}

/// A command that this build lacks, with whatever it was given.
#[cfg(not(feature = "runtime"))]
#[derive(Args)]
struct NotBuilt {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    _arguments: Vec<std::ffi::OsString>,
}

/// Says how to get what this build lacks.
#[cfg(not(feature = "runtime"))]
fn not_built(what: &str) -> ExitCode {
    tell!("error: this build of agentir has no {what}");
    tell!("help: {}", crate::INSTALL_FULL);
    ExitCode::from(2)
}

#[derive(Subcommand)]
enum CacheCommand {
    /// Remove all cached results
    Clean {
        /// The cache folder [default: the one used by `check`]
        #[arg(long, value_name = "FOLDER")]
        cache_dir: Option<PathBuf>,
    },
    /// Print the path of the cache folder
    Dir,
}

#[derive(Clone, Copy, ValueEnum)]
enum SchemaOf {
    /// `agentir compile`
    Ir,
    /// `agentir check --format json`
    Report,
    /// The file `agentir.toml`
    Config,
    /// The file of `agentir check --baseline`
    Baseline,
    /// `agentir graph --format json`
    Graph,
    /// `agentir cost --format json`
    Cost,
    /// `agentir corpus --format json`
    Corpus,
    /// `agentir convert --report FILE.json`
    Fidelity,
    /// A line of `agentir run --trace-file FILE`
    #[cfg(feature = "runtime")]
    Trace,
    /// A file of `agentir test`
    #[cfg(feature = "runtime")]
    Test,
    /// A file of `agentir run --stubs FILE`
    #[cfg(feature = "runtime")]
    Stubs,
    /// A file of `agentir run --answers FILE`
    #[cfg(feature = "runtime")]
    Answers,
    /// A file of `agentir run --mcp FILE`
    #[cfg(feature = "runtime")]
    Mcp,
}

#[derive(Args)]
struct CostOf {
    #[command(flatten)]
    input: Input,
    /// The output format
    #[arg(long, value_enum, default_value_t = TableFormat::Text)]
    format: TableFormat,
}

#[derive(Clone, Copy, ValueEnum)]
enum TableFormat {
    /// A table
    Text,
    /// One JSON object
    Json,
}

#[derive(Args)]
struct Draw {
    #[command(flatten)]
    input: Input,
    /// The output format
    #[arg(long, value_enum, default_value_t = GraphFormat::Mermaid)]
    format: GraphFormat,
    /// Only this agent
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,
    /// Serve the page of `--format html` on this machine, and draw it again when files change
    #[cfg(feature = "pictures")]
    #[arg(long, conflicts_with = "format")]
    watch: bool,
    /// The port of the page [default: one that is free]
    #[cfg(feature = "pictures")]
    #[arg(long, requires = "watch")]
    port: Option<u16>,
    /// The level of detail [default: statements with `--agent`; otherwise steps, or agents if there are more than 8]
    #[arg(long, value_enum)]
    detail: Option<GraphDetail>,
}

/// Prints help, or what is wrong with the arguments, and ends the process. A shell passes names of files as
/// arguments, and some look like options.
fn misused(error: &clap::Error) -> ! {
    let plain = error.render().to_string();
    let safe = shown(&plain, &Masker::default());
    if !error.use_stderr() || safe == plain {
        error.exit();
    }
    tell!("{}", safe.trim_end());
    std::process::exit(error.exit_code());
}

/// Runs the command line; see the exit codes in each command.
pub fn run() -> ExitCode {
    let cli = Cli::try_parse().unwrap_or_else(|error| misused(&error));
    match cli.command {
        Command::Check(args) => check::run(&args),
        Command::Compile(input) => compile_command(&input),
        Command::Graph(draw) => graph_command(&draw),
        Command::Cost(cost) => cost_command(&cost),
        Command::Convert(args) => convert::run(&args),
        Command::Diff(args) => convert::diff(&args),
        Command::Fmt(args) => rewrite::fmt(&args),
        Command::Migrate(args) => rewrite::migrate(&args),
        #[cfg(feature = "runtime")]
        Command::Run(args) => run::run(&args),
        #[cfg(feature = "runtime")]
        Command::Session(command) => session::run(&command),
        #[cfg(feature = "runtime")]
        Command::Test(args) => test::test(&args),
        #[cfg(all(unix, feature = "runtime"))]
        Command::Supervise { process } => ExitCode::from(agentir_tools::supervise(&process)),
        #[cfg(not(feature = "runtime"))]
        Command::Run(_) => not_built("`run`"),
        #[cfg(not(feature = "runtime"))]
        Command::Session(_) => not_built("`session`"),
        #[cfg(not(feature = "runtime"))]
        Command::Test(_) => not_built("`test`"),
        Command::Lsp(Lsp { stdio: _, client: _ }) => match agentir_lsp::run() {
            Ok(is_done) => ExitCode::from(u8::from(!is_done)),
            Err(error) => {
                tell!("error: {error}");
                ExitCode::from(2)
            }
        },
        Command::Corpus(args) => batch::corpus::run(&args),
        Command::Report(command) => batch::report::run(&command),
        Command::Cache(command) => cache_command(command),
        Command::Completions { shell } => completions_command(shell),
        Command::Man { folder } => man_command(&folder),
        Command::Schema { what } => print_json(&match what {
            SchemaOf::Ir => agentir_ir_json::schema(agentir::languages().dialects()),
            SchemaOf::Report => agentir_diagnostics::report_schema(),
            SchemaOf::Config => agentir_config::config_schema(),
            SchemaOf::Baseline => agentir_report::baseline_schema(),
            SchemaOf::Cost => agentir_flow::cost::cost_schema(),
            SchemaOf::Corpus => agentir_corpus::corpus_schema(),
            SchemaOf::Fidelity => agentir_convert::report_schema(),
            SchemaOf::Graph => agentir_draw::graph_schema(),
            #[cfg(feature = "runtime")]
            SchemaOf::Trace => agentir_runtime::trace_schema(),
            #[cfg(feature = "runtime")]
            SchemaOf::Test => agentir_scenario::scenario_schema(),
            #[cfg(feature = "runtime")]
            SchemaOf::Stubs => agentir_tools::stubs_schema(),
            #[cfg(feature = "runtime")]
            SchemaOf::Answers => agentir_model::script_schema(),
            #[cfg(feature = "runtime")]
            SchemaOf::Mcp => agentir_tools::mcp_schema(),
        }),
        Command::Explain { rule } => explain_command(&rule),
        Command::Rules { json } => rules_command(json),
    }
}

fn cache_command(command: CacheCommand) -> ExitCode {
    let folder = match &command {
        CacheCommand::Clean { cache_dir: Some(folder) } => Some(folder.clone()),
        _ => batch::folder(),
    };
    let Some(folder) = folder else {
        tell!("error: there is no cache folder, because neither XDG_CACHE_HOME nor HOME is set");
        return ExitCode::from(2);
    };
    match command {
        CacheCommand::Dir => print(&format!("{}\n", folder.display())),
        CacheCommand::Clean { .. } => match agentir_cache::Cache::clean(&folder) {
            Ok(bytes) => print(&format!("removed {} KB\n", bytes.div_ceil(1000))),
            Err(error) => {
                tell!("error: {error}");
                ExitCode::from(2)
            }
        },
    }
}

fn completions_command(shell: clap_complete::Shell) -> ExitCode {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "agentir", &mut text);
    print(&String::from_utf8_lossy(&text))
}

fn man_command(folder: &Path) -> ExitCode {
    let written = std::fs::create_dir_all(folder)
        .and_then(|()| clap_mangen::generate_to(Cli::command(), folder));
    match written {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            tell!("error: {} cannot be written: {error}", folder.display());
            ExitCode::from(2)
        }
    }
}

fn compile_command(input: &Input) -> ExitCode {
    let snapshot = match load_input(input) {
        Ok(snapshot) => snapshot,
        Err(code) => return code,
    };
    // Nobody cancels it.
    let Ok(output) = snapshot.compile() else { return ExitCode::from(2) };
    let failed = !output.compilation_errors.is_empty();
    if output.agents.is_empty() && !failed {
        // Nobody could read a program without agents.
        tell!("error: {}", crate::input::no_agent(&snapshot));
        return ExitCode::from(2);
    }
    let masker = snapshot.sources().masker();
    match show_program(&Written(&output, Mode::Published), &masker) {
        code if code != ExitCode::SUCCESS => code,
        _ if failed => ExitCode::from(1),
        code => code,
    }
}

/// Draws a page again and again, and serves it.
#[cfg(feature = "pictures")]
fn watch_graph(draw: &Draw) -> ExitCode {
    if draw.input.reads_stdin() {
        tell!("error: standard input cannot be watched\nhelp: name files or folders");
        return ExitCode::from(2);
    }
    let served = match Served::new(draw.port) {
        Ok(served) => served,
        Err(error) => {
            tell!("error: {error}");
            return ExitCode::from(2);
        }
    };
    batch::watch::watch(draw.input.paths(), Vec::new(), || {
        let drawn = load_input(&draw.input)
            .map_err(|_| "the files cannot be read; the terminal says why".to_owned())
            .and_then(|snapshot| {
                graph::graph(&snapshot, GraphFormat::Html, draw.agent.as_deref(), draw.detail)
            });
        if let Err(error) = &drawn {
            tell!("error: {error}");
        }
        served.show(drawn);
        tell!("the graph is at http://{}/", served.address);
        ExitCode::SUCCESS
    })
}

fn graph_command(draw: &Draw) -> ExitCode {
    #[cfg(feature = "pictures")]
    if draw.watch {
        return watch_graph(draw);
    }
    let snapshot = match load_input(&draw.input) {
        Ok(snapshot) => snapshot,
        Err(code) => return code,
    };
    match graph::graph(&snapshot, draw.format, draw.agent.as_deref(), draw.detail) {
        Ok(text) if draw.format == GraphFormat::Json => {
            // What was drawn has no secrets.
            partly(&snapshot, print(&escape_json(&text)), "drawn")
        }
        Ok(text) => partly(&snapshot, show(&text, &Masker::default()), "drawn"),
        Err(error) => {
            tell!("error: {error}");
            ExitCode::from(2)
        }
    }
}

fn cost_command(cost: &CostOf) -> ExitCode {
    let snapshot = match load_input(&cost.input) {
        Ok(snapshot) => snapshot,
        Err(code) => return code,
    };
    let mut report = snapshot.cost();
    let masker = snapshot.sources().masker();
    report.texts_mut(&mut |text| masker.mask_in_place(text));
    let code = match cost.format {
        TableFormat::Text => show(&report.text(), &Masker::default()),
        TableFormat::Json => print_json(&report),
    };
    partly(&snapshot, code, "counted")
}

/// The exit code of a command whose result lacks what could not be parsed, about which it warns.
fn partly(snapshot: &agentir::Snapshot, code: ExitCode, what: &str) -> ExitCode {
    let broken = snapshot.read_findings().iter().any(|d| d.severity == Severity::Error);
    if code != ExitCode::SUCCESS || !broken {
        return code;
    }
    if snapshot.programs().all(|(_, program)| program.agents.is_empty()) {
        tell!("error: {}", crate::input::no_agent(snapshot));
        return ExitCode::from(1);
    }
    tell!(
        "warning: parts that could not be parsed are not {what}; run `agentir check` to see them"
    );
    ExitCode::from(1)
}

fn explain_command(name: &str) -> ExitCode {
    if let Some(page) = agentir_lint::page(name) {
        return print(page);
    }
    let group = agentir_lint::rule_names().filter(|(_, group)| group.name() == name);
    let mut rules: Vec<&str> = group.map(|(rule, _)| rule).collect();
    if !rules.is_empty() {
        rules.sort_unstable();
        tell!("error: `{name}` is a group of rules, not a rule");
        tell!("help: its rules are: {}", rules.join(", "));
        return ExitCode::from(2);
    }
    let names = agentir_lint::rule_names().map(|(rule, _)| rule);
    no_such(&format_args!("there is no rule `{name}`"), agentir_diagnostics::closest(name, names))
}

/// A rule with the dialects that it applies to.
#[derive(Serialize)]
struct ListedRule {
    #[serde(flatten)]
    rule: RuleInfo,
    dialects: Vec<Dialect>,
}

fn rules_command(json: bool) -> ExitCode {
    let rules = agentir_lint::catalogue();
    if json {
        let listed = |rule: RuleInfo| {
            let dialects = rule.dialects(agentir::languages().dialects()).collect();
            ListedRule { rule, dialects }
        };
        return print_json(&rules.into_iter().map(listed).collect::<Vec<_>>());
    }
    let width = rules.iter().map(|r| r.name.len()).max().unwrap_or(0);
    let mut text = String::new();
    let mut group = "";
    for rule in &rules {
        if rule.group_name() != group {
            if !group.is_empty() {
                text.push('\n');
            }
            group = rule.group_name();
            text.push_str(group);
            text.push('\n');
        }
        let severity = rule.severity.name();
        text.push_str(&format!("  {:width$}  {severity:7}  {}\n", rule.name, rule.summary));
    }
    print(&text)
}
