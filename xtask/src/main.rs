//! What contributors run: `cargo xtask …`.
//!
//! *Invariant*: nothing here is part of what users run, and the tests do without it, except that
//! they name the command that mends what they found.

mod book;
mod conversions;
mod corpus;
mod dist;
mod fuzz;
mod many;
mod mutate;
mod new_rule;
mod orchestration;
mod schemas;
mod start;

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
    /// Put the book together from the documents and the rules
    Book {
        /// The folder to write it to
        #[arg(long, default_value = "target/book")]
        out: PathBuf,
    },
    /// Write `schemas/` from the code
    Schemas,
    /// Write `docs/conversions.md`: what conversions between all languages keep
    Conversions,
    /// Measure the methods of orchestration, and write `docs/orchestration.md`
    Orchestration,
    /// Write the file and the page of a new rule, and register it
    NewRule {
        /// Its name, in kebab case
        name: String,
    },
    /// Plant defects in programs that are in order, and write `docs/mutations.md`
    Mutate {
        /// Tell as well what was missed, and what spoke of changes that are no defects
        #[arg(long)]
        missed: bool,
    },
    /// Write made-up projects
    CorpusGen {
        /// How many documents
        #[arg(long, default_value_t = 1000)]
        files: usize,
        /// What they are made from; the same seed gives the same projects
        #[arg(long, default_value_t = 1)]
        seed: u64,
        /// The folder to write them to
        #[arg(long)]
        out: PathBuf,
    },
    /// Measure how fast each phase is for each language, and how fast the program starts
    Bench {
        /// How many documents of ABL; half as many of the others
        #[arg(long, default_value_t = 10_000)]
        files: usize,
        /// What they are made from
        #[arg(long, default_value_t = 1)]
        seed: u64,
        /// How often each measurement is repeated; the fastest counts
        #[arg(long, default_value_t = 3)]
        rounds: usize,
        /// Instead: how the program does on a folder of as many files, beside reading and hashing them
        #[arg(long, value_name = "FILES")]
        corpus: Option<usize>,
        /// The build of the program that is measured; `dist` is what is handed out
        #[arg(long, default_value = "release")]
        profile: String,
    },
    /// Write our samples as seeds for `cargo fuzz`
    FuzzSeeds,
    /// Make an archive that runs on machines without Z3
    Dist {
        /// The folder to write it to
        #[arg(long, default_value = "dist")]
        out: PathBuf,
        /// Try it where there is nothing else but the C library; takes root
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
