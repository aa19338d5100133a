//! Tasks for contributors: `cargo xtask …`.
//!
//! *Invariant*: nothing here is shipped, and no test depends on it; messages of failed tests name the command that
//! updates a file.

mod book;
mod budget;
mod callgrind;
mod conversions;
mod corpus;
mod dist;
mod editors;
mod fuzz;
mod keystroke;
mod many;
mod mutate;
mod new_rule;
mod orchestration;
mod schemas;
mod sessions;
mod start;
mod talk;
mod tidy;

use clap::{Parser, Subcommand};
use std::error::Error;
use std::path::{Path, PathBuf};

/// The allocator of the program that is measured.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Commands for contributors.
#[derive(Parser)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Assemble the book from the documents and the rules
    Book {
        /// The folder to write it to
        #[arg(long, default_value = "target/book")]
        out: PathBuf,
    },
    /// Write `schemas/` from the code
    Schemas,
    /// Write `docs/conversions.md`: what conversions between all languages preserve
    Conversions,
    /// Measure the methods of orchestration, and write `docs/orchestration.md`
    Orchestration,
    /// Write the file and the page of a new rule, and register it
    NewRule {
        /// The name of the rule, in kebab case
        name: String,
    },
    /// Seed defects in correct programs, and write the mutation score table, `docs/mutations.md`
    Mutate {
        /// List missed defects, and findings about changes that are not defects
        #[arg(long)]
        missed: bool,
    },
    /// Write generated projects
    CorpusGen {
        /// The number of documents
        #[arg(long, default_value_t = 1000)]
        files: usize,
        /// The seed; the same seed gives the same projects
        #[arg(long, default_value_t = 1)]
        seed: u64,
        /// The folder to write them to
        #[arg(long)]
        out: PathBuf,
    },
    /// Measure the speed of each phase for each language, and the time for a single file
    Bench {
        /// The number of ABL documents; of the other languages half as many
        #[arg(long, default_value_t = 10_000)]
        files: usize,
        /// The seed of the documents
        #[arg(long, default_value_t = 1)]
        seed: u64,
        /// The number of runs of each measurement, of which the fastest counts
        #[arg(long, default_value_t = 3)]
        rounds: usize,
        /// Instead, generate this number of files, and compare checking them with reading and hashing them
        #[arg(long, value_name = "FILES")]
        corpus: Option<usize>,
        /// The profile that the measured program is built with; releases use `dist`
        #[arg(long, default_value = "release")]
        profile: String,
    },
    /// Measure the time from a keystroke to all findings, in a project and in large files of each language
    Keystroke {
        /// The number of keystrokes that are timed
        #[arg(long, default_value_t = 402)]
        keystrokes: usize,
        /// The number of keystrokes whose instructions are counted, if valgrind is installed
        #[arg(long, default_value_t = 60)]
        counted: usize,
        /// Instead, type in the language server, in files of 7, 60 and 200 KB, and measure its memory for 1,000 files
        #[arg(long)]
        server: bool,
        /// The profile of the server whose memory is measured
        #[arg(long, default_value = "release")]
        profile: String,
        /// Only type in this case, for a profiler
        #[arg(long, value_name = "CASE")]
        replay: Option<String>,
    },
    /// Measure what it costs to keep a conversation in a database, beside commits of SQLite alone
    Sessions {
        /// The number of turns
        #[arg(long, default_value_t = 1_000)]
        turns: usize,
    },
    /// Compare builds, the program's start and its size with the limits in `docs/budgets.md`
    Budget(budget::Budget),
    /// Talk to agents with the offline model, and print which messages were answered sensibly
    Talk {
        /// Only dialogues whose path contains this
        #[arg(long, default_value = "")]
        only: String,
        /// Only this set: `known`, `held-out`, `blind-1` to `blind-10`
        #[arg(long)]
        set: Option<String>,
        /// Also print sensible answers
        #[arg(long)]
        verbose: bool,
    },
    /// Check the layers of the crates, and that the number of places that name a language does not grow
    Tidy,
    /// Drive Neovim, Emacs and VS Code with the language server, without windows, and `tree-sitter` with the grammars
    Editors {
        /// Only this editor
        #[arg(long)]
        only: Option<editors::Name>,
        /// The folder that `tests/editors/install-code-server` has installed VS Code's workbench in
        #[arg(long, default_value = "target/editors")]
        workbench: PathBuf,
    },
    /// Write the samples as seeds for `cargo fuzz`
    FuzzSeeds,
    /// Make an archive that runs on machines without Z3
    Dist {
        /// The folder to write it to
        #[arg(long, default_value = "dist")]
        out: PathBuf,
        /// Test it in a file system with nothing else but the C library; requires root
        #[arg(long = "try")]
        attempt: bool,
    },
}

fn main() -> Result<(), Box<dyn Error>> {
    match Cli::parse().command {
        Command::Book { out } => book::write(&root()?, &out),
        Command::Schemas => schemas::write(&root()?),
        Command::Conversions => conversions::write(&root()?),
        Command::Orchestration => orchestration::write(&root()?),
        Command::NewRule { name } => new_rule::write(&root()?, &name),
        Command::Mutate { missed } => mutate::write(&root()?, missed),
        Command::CorpusGen { files, seed, out } => corpus::write(&out, files, seed),
        Command::Bench { seed, rounds, corpus: Some(files), profile, .. } => {
            let root = root()?;
            many::measure(&start::program(&root, &profile)?, files, seed, rounds)
        }
        Command::Keystroke { keystrokes, server: true, profile, .. } => {
            keystroke::measure_server(keystrokes)?;
            if cfg!(target_os = "linux") {
                keystroke::measure_memory(&start::program(&root()?, &profile)?, 1_000)?;
            }
            Ok(())
        }
        Command::Keystroke { keystrokes, replay: Some(case), .. } => {
            keystroke::type_only(&case, keystrokes)
        }
        Command::Keystroke { keystrokes, counted, replay: None, .. } => {
            keystroke::measure(keystrokes, counted)
        }
        Command::Sessions { turns } => sessions::measure(&root()?, turns),
        Command::Budget(budget) => budget::run(&root()?, &budget),
        Command::Talk { only, set, verbose } => {
            talk::print(&only, set.as_deref(), verbose);
            Ok(())
        }
        Command::Tidy => tidy::check(&root()?),
        Command::Editors { only, workbench } => editors::run(&root()?, only, &workbench),
        Command::FuzzSeeds => fuzz::write_seeds(&root()?),
        Command::Dist { out, attempt } => dist::make(&root()?, &out, attempt),
        Command::Bench { files, seed, rounds, corpus: None, profile } => {
            let options = agentir_bench::Options { files, seed, rounds };
            let external = std::env::var_os("AGENTIR_EXTERNAL_CORPUS").map(PathBuf::from);
            agentir_bench::tables(&options, external.as_deref(), |table| println!("{table}"));
            start::measure(&root()?, &profile)
        }
    }
}

/// The root of the repository.
fn root() -> Result<PathBuf, Box<dyn Error>> {
    Ok(Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .ok_or("xtask is not in the repository")?
        .to_owned())
}
