//! `agentir corpus`: what is in many programs and what was found in them.

use super::store::{self, Known};
use super::{CheckQuery, ExecOptions, Store, each};
use crate::input::Input;
use crate::output::{show, show_json};
use agentir_corpus::{Corpus, Measured};
use agentir_lint::Selection;
use agentir_project::{Levels, ProgramFiles, build, max_steps, selection};
use agentir_secrets::Masker;
use clap::{Args, ValueEnum};
use std::collections::HashMap;
use std::ops::ControlFlow;
use std::process::ExitCode;
use std::time::Instant;

/// How many rows are kept for each program; no list of the result is longer.
const MAX_ROWS: usize = 100;

/// What is to be counted.
#[derive(Args)]
pub struct CorpusOf {
    #[command(flatten)]
    pub input: Input,
    #[command(flatten)]
    work: ExecOptions,
    /// The output format
    #[arg(long, value_enum, default_value_t = CorpusFormat::Table)]
    format: CorpusFormat,
    /// How many of the slowest programs, and of those with the most findings, are listed
    #[arg(long, value_name = "ROWS", default_value_t = 10, value_parser = rows)]
    top: usize,
}

#[derive(Clone, Copy, ValueEnum)]
enum CorpusFormat {
    /// Tables
    Table,
    /// One JSON object; `agentir schema corpus` describes it
    Json,
    /// A page with charts
    Html,
}

fn rows(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(rows) if rows <= MAX_ROWS => Ok(rows),
        _ => Err(format!("expected a number up to {MAX_ROWS}")),
    }
}

/// Runs `agentir corpus`.
pub fn run(args: &CorpusOf) -> ExitCode {
    let corpus = match count(args) {
        Ok(corpus) => corpus,
        Err(code) => return code,
    };
    match args.format {
        CorpusFormat::Table => show(&agentir_corpus::text(&corpus), &Masker::default()),
        CorpusFormat::Json => show_json(&corpus),
        CorpusFormat::Html => {
            let paths: Vec<String> =
                args.input.paths().iter().map(|p| p.display().to_string()).collect();
            match agentir_corpus::html(&format!("Corpus: {}", paths.join(", ")), &corpus) {
                Ok(page) => show(&page, &Masker::default()),
                Err(error) => {
                    tell!("error: {error}");
                    ExitCode::from(2)
                }
            }
        }
    }
}

fn count(args: &CorpusOf) -> Result<Corpus, ExitCode> {
    let sources = args.input.sources(&HashMap::new())?;
    let request = args.input.request(&sources);
    let groups = args.work.programs(&request)?;
    let selection = selection(Selection::default(), &sources.configs);
    let levels = Levels::new(&sources.configs, &selection);
    let query = CheckQuery {
        request: &request,
        selection: &selection,
        levels: &levels,
        max_steps: max_steps(groups.len()),
    };
    let store = args.work.store("corpus", &query);
    let mut all = Corpus::new(args.top);
    each(
        groups,
        |group| count_one(group, query, store.as_ref()),
        |one, _| {
            all.add(one);
            ControlFlow::Continue(())
        },
    );
    Ok(all)
}

fn count_one(group: ProgramFiles, query: CheckQuery<'_>, store: Option<&Store>) -> Corpus {
    let request = query.request;
    let begun = Instant::now();
    let name = group.root().display().to_string();
    // Not postcard: it cannot read what is flattened.
    let decode = |bytes: &[u8]| serde_json::from_slice(bytes).ok();
    let (contents, place) = match store::known(store, group, request, decode, |_| false) {
        Known::Before(corpus, _) => return corpus,
        Known::Nothing(contents, place) => (contents, place),
    };
    let bytes = contents.bytes();
    let mut loaded = build(contents, request);
    let (checked, _) = query.check(&mut loaded, false);
    let programs: Vec<_> = loaded.programs.iter().map(|p| &p.program).collect();
    let measured = Measured {
        name: &name,
        programs: &programs,
        files: loaded.files,
        bytes,
        diagnostics: &checked.diagnostics,
        sources: &loaded.sources,
        duration: begun.elapsed(),
    };
    let corpus = measured.corpus(MAX_ROWS);
    if let (Some(store), Some(place)) = (store, place)
        && checked.statistics.solver.is_complete()
    {
        store.put(&place, serde_json::to_vec(&corpus).ok());
    }
    corpus
}
