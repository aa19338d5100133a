//! `agentir report merge`: reports of shares, put together.

use crate::output::{print, print_json};
use agentir_corpus::Corpus;
use agentir_diagnostics::MergeError;
use clap::Subcommand;
use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(Subcommand)]
pub enum ReportCommand {
    /// Merge JSON reports of `agentir check --format json`, or of `agentir corpus --format json`
    ///
    /// The reports of all shards of a run (`--shard`) become exactly the report of that run. Exit code 0:
    /// no errors in the reports; 1: errors; 2: they could not be merged.
    Merge {
        /// The reports, in any order
        #[arg(required = true)]
        files: Vec<PathBuf>,
    },
}

/// Runs `agentir report`.
pub fn run(command: &ReportCommand) -> ExitCode {
    let ReportCommand::Merge { files } = command;
    let mut texts = Vec::new();
    for path in files {
        match fs::read_to_string(path) {
            Ok(text) => texts.push(text),
            Err(error) => return failed(&format!("{}: {error}", path.display())),
        }
    }
    let corpora: Result<Vec<Corpus>, _> =
        texts.iter().map(|text| serde_json::from_str(text)).collect();
    if let Ok(corpora) = corpora {
        return merge_corpora(corpora);
    }
    let mut merged = Vec::new();
    match agentir_diagnostics::merge(&texts, &mut merged) {
        Ok(summary) => {
            let code = print(&String::from_utf8_lossy(&merged));
            let errors = code == ExitCode::SUCCESS && summary.errors > 0;
            if errors { ExitCode::from(1) } else { code }
        }
        Err(error) => match &error {
            MergeError::NoReport(index, _) | MergeError::Version(index, _) => {
                let name = files.get(*index).map(|path| path.display().to_string());
                failed(&format!("{}: {error}", name.unwrap_or_default()))
            }
            MergeError::Io(_) => failed(&error.to_string()),
        },
    }
}

fn merge_corpora(corpora: Vec<Corpus>) -> ExitCode {
    let Some(rows) = corpora.iter().map(Corpus::rows).min() else {
        return failed("there is nothing to merge");
    };
    if !corpora.iter().all(Corpus::is_current) {
        return failed(
            "these reports are from different versions: create all of them with the same agentir",
        );
    }
    let mut all = Corpus::new(rows);
    corpora.into_iter().for_each(|corpus| all.add(corpus));
    print_json(&all)
}

fn failed(error: &str) -> ExitCode {
    eprintln!("error: {error}");
    ExitCode::from(2)
}
