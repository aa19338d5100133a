//! `agentir report merge`: reports of shares, put together.

use crate::output::{mask_value, print, show_json};
use agentir_corpus::Corpus;
use agentir_diagnostics::MergeError;
use agentir_secrets::Masker;
use agentir_vfs::{Disk, read_text};
use clap::Subcommand;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
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
    let disk = Disk::named(files.iter().cloned());
    let mut texts = Vec::new();
    let mut known: HashMap<PathBuf, &Path> = HashMap::new();
    for path in files {
        let read = path.canonicalize().and_then(|real| Ok((real, read_text(&disk, path)?)));
        match read {
            Ok((real, text)) => {
                if let Some(other) = known.insert(real, path) {
                    let (path, other) = (path.display(), other.display());
                    return failed(&if path.to_string() == other.to_string() {
                        format!("{path} is passed twice, so its findings would count twice")
                    } else {
                        format!(
                            "{other} and {path} are the same file, so its findings would count twice"
                        )
                    });
                }
                texts.push(text);
            }
            Err(error) => return failed(&format!("{} cannot be read: {error}", path.display())),
        }
    }
    let corpora: Result<Vec<Corpus>, _> =
        texts.iter().map(|text| serde_json::from_str(text)).collect();
    if let Ok(corpora) = corpora {
        return merge_corpora(corpora);
    }
    let mut merged = Vec::new();
    let masker = Masker::default();
    let show = |finding: &mut _| mask_value(finding, &masker);
    match agentir_diagnostics::merge(&texts, &show, &mut merged) {
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
    show_json(&all)
}

fn failed(error: &str) -> ExitCode {
    tell!("error: {error}");
    ExitCode::from(2)
}
