//! Many programs: read and checked beside each other, handed on in order, a few in memory at a time.

pub mod corpus;
mod entry;
mod in_order;
mod ordered;
mod progress;
pub mod report;
mod shard;
mod store;
pub mod watch;

use crate::commands::findings;
use crate::load::{self, Group, LoadError, Request};
use agentir_diagnostics::{Diagnostic, SourceMap};
use agentir_lint::{Selection, Statistics, Times};
use clap::Args;
use ordered::Ordered;
use progress::Progress;
use shard::Shard;
use std::io;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;
pub use store::{Store, folder};

/// How the work is done; what comes out does not depend on it, but for the share.
#[derive(Args, Clone)]
pub struct Work {
    /// Only a share of the programs, such as `2/5`: the second of five. `agentir report merge` puts
    /// the reports together
    #[arg(long, value_name = "SHARE")]
    shard: Option<Shard>,
    /// Where what was found in files is kept until they change [default: the user's cache folder]
    #[arg(long, value_name = "FOLDER", conflicts_with = "no_cache")]
    cache_dir: Option<PathBuf>,
    /// Neither use what was found before nor keep anything
    #[arg(long)]
    no_cache: bool,
}

impl Work {
    /// What was found before by the same program asked in the same way, if that may be used.
    pub fn store(&self, kind: &str, request: &Request<'_>, selection: &Selection) -> Option<Store> {
        if self.no_cache {
            return None;
        }
        let folder = match &self.cache_dir {
            Some(folder) => folder.clone(),
            None => folder()?,
        };
        match Store::open(&folder, kind, request, selection) {
            Ok(store) => Some(store),
            Err(error) => {
                eprintln!("warning: nothing is kept for the next time: {error}");
                None
            }
        }
    }
}

/// What was found in a program.
#[derive(Default)]
pub struct Findings {
    /// The findings, in order.
    pub diagnostics: Vec<Diagnostic>,
    /// The files that they point into; none if there are no findings.
    pub sources: Arc<SourceMap>,
    /// How many documents were read.
    pub files: usize,
}

/// Does something with each of the programs that were asked for. `done` gets the results in the order of
/// the programs, and the smallest name of a file in those that are still to come.
fn each<R: Send>(
    request: &Request<'_>,
    work: &Work,
    job: impl Fn(Group) -> R + Sync,
    mut done: impl FnMut(R, Option<&str>) -> ControlFlow<()>,
) -> Result<(), LoadError> {
    let mut groups = load::programs(request)?;
    if let Some(shard) = &work.shard {
        groups.retain(|group| shard.takes(&group.place));
    }
    let names: Vec<String> = groups.iter().map(|group| group.first.clone()).collect();
    let progress = Progress::new(groups.len());
    in_order::in_order(groups, job, |index, result| {
        progress.step();
        let next = names.get(index + 1).map(String::as_str);
        progress.hidden(|| done(result, next))
    });
    Ok(())
}

/// Checks programs, and hands on what was found, by the names of the files, until `done` cannot go on.
pub fn check(
    request: &Request<'_>,
    work: &Work,
    selection: &Selection,
    statistics: Option<&mut (Statistics, Times)>,
    mut done: impl FnMut(&Findings) -> io::Result<()>,
) -> Result<io::Result<()>, LoadError> {
    // What the rules did is only known where they do it.
    let store = match statistics {
        Some(_) => None,
        None => work.store("check", request, selection),
    };
    let mut ordered = Ordered::default();
    let mut result = Ok(());
    let mut sums = <(Statistics, Times)>::default();
    each(
        request,
        work,
        |group| check_one(group, request, selection, store.as_ref()),
        |(found, counts), next| {
            sums.0 += counts.0;
            sums.1 += counts.1;
            ordered.add(found);
            result = ordered.ready(next).try_for_each(|found| done(&found));
            if result.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        },
    )?;
    if let Some(statistics) = statistics {
        *statistics = sums;
    }
    Ok(result)
}

/// Checks a program, or finds out that it was checked before.
fn check_one(
    group: Group,
    request: &Request<'_>,
    selection: &Selection,
    store: Option<&Store>,
) -> (Findings, (Statistics, Times)) {
    let contents = group.read();
    let key = store.and_then(|store| store.key(&contents));
    if let (Some(store), Some(key)) = (store, &key)
        && let Some((files, diagnostics)) = store.get(key).and_then(|bytes| entry::decode(&bytes))
    {
        let sources = if diagnostics.is_empty() { SourceMap::new() } else { contents.sources() };
        return (Findings { diagnostics, sources: Arc::new(sources), files }, Default::default());
    }
    let mut loaded = load::build(contents, request);
    let (checked, times) = findings(&mut loaded, selection, request.options.fragment);
    let (diagnostics, files) = (checked.diagnostics, loaded.files);
    if let (Some(store), Some(key)) = (store, key) {
        store.put(key, entry::encode(files, &diagnostics));
    }
    let sources = if diagnostics.is_empty() { SourceMap::new() } else { loaded.sources };
    (Findings { diagnostics, sources: Arc::new(sources), files }, (checked.statistics, times))
}
