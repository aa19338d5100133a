//! Batches: many programs are checked in parallel and reported in order, with a few in memory at a time.
//!
//! Files are grouped into programs by their names alone; then programs are read, checked and
//! forgotten one by one on all threads (`in_order`). Findings are reported in the order of file
//! names, although programs may be nested: the findings of a file wait until no remaining program
//! can have a smaller name (`ordered`). So the report is the same for any number of threads, and
//! shards can be merged by sorting. It is written while programs are being checked; JSON, whose
//! summary comes first, goes through a temporary file.
//!
//! A program's files are read once, and everything uses these bytes, including the key of the
//! cache: version and build (a hash of the sources), options, names, contents, manifest. The key
//! contains everything that determines the result, so entries never become stale. A second entry
//! maps the metadata of the files (size, inode, times of change, as in git's index; `agentir_vfs`)
//! to this key, so that a program without findings is not read at all. Files that changed in the
//! last two seconds get no such entry, because they may change again within a tick of the clock.

pub mod corpus;
mod entry;
mod in_order;
mod ordered;
mod progress;
pub mod report;
mod shard;
mod store;
pub mod watch;

use crate::input::unreadable;
use crate::page::{MAX_PICTURES, page};
use crate::settings;

use agentir_diagnostics::{Diagnostic, FileId, SourceFile, SourceMap, sort};
use agentir_lint::{Cancellation, Checked, Selection, Statistics, Times};
use agentir_project::{
    CheckOptions, Contents, Levels, Loaded, ProgramFiles, Request, build, check_loaded, guarded,
};
use agentir_report::Page;
use clap::Args;
use entry::Entry;
use ordered::Ordered;
use progress::Progress;
use shard::Shard;
use std::collections::HashMap;
use std::io;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use store::Known;
pub use store::{Store, folder};

/// The size in bytes up to which a single program is checked faster than the cache is opened.
const SMALL: usize = 32 << 10;

/// How the work is done; what comes out does not depend on it, but for the share.
#[derive(Args, Clone)]
pub struct ExecOptions {
    /// Check only one shard of the programs, such as `2/5`, the second of five. `agentir report merge`
    /// merges the reports
    #[arg(long, value_name = "SHARD")]
    shard: Option<Shard>,
    /// The cache folder [default: a folder in the user's cache folder]
    #[arg(long, value_name = "FOLDER", conflicts_with = "no_cache")]
    cache_dir: Option<PathBuf>,
    /// Disable the cache
    #[arg(long)]
    no_cache: bool,
}

impl ExecOptions {
    /// The programs of a request, as far as they are in the share; or what is wrong with the request or
    /// the configurations of its files.
    pub fn programs(&self, request: &Request<'_>) -> Result<Vec<ProgramFiles>, ExitCode> {
        let mut groups = ProgramFiles::find(request).map_err(unreadable)?;
        settings::sound(&request.configs.problems())?;
        if let Some(shard) = &self.shard {
            groups.retain(|group| shard.takes(group.relative_root(request.paths)));
        }
        Ok(groups)
    }

    /// The results of checks, if they may be used and are worth it: a small program is checked at once.
    pub fn check_store(&self, query: &CheckQuery<'_>, groups: &[ProgramFiles]) -> Option<Store> {
        match groups {
            [only] if self.cache_dir.is_none() => {
                let small = only.size(query.request).is_ok_and(|size| size <= SMALL);
                if small { None } else { self.store("check", query) }
            }
            _ => self.store("check", query),
        }
    }

    /// What was found before by the same program asked in the same way, if that may be used.
    pub fn store(&self, kind: &str, query: &CheckQuery<'_>) -> Option<Store> {
        if self.no_cache {
            return None;
        }
        let folder = match &self.cache_dir {
            Some(folder) => folder.clone(),
            None => folder()?,
        };
        match Store::open(&folder, kind, query) {
            Ok(store) => Some(store),
            Err(error) => {
                tell!("warning: the cache is not used: {error}");
                None
            }
        }
    }
}

/// What is asked of each program.
#[derive(Clone, Copy)]
pub struct CheckQuery<'a> {
    /// How its files are read.
    pub request: &'a Request<'a>,
    /// Which rules run.
    pub selection: &'a Selection,
    /// How bad their findings are.
    pub levels: &'a Levels<'a>,
    /// The steps that the solver may take for a program.
    pub max_steps: u64,
}

impl CheckQuery<'_> {
    /// Everything that is wrong with what was loaded, as configurations and comments want it, in order.
    fn check(&self, loaded: &mut Loaded, timed: bool) -> (Checked, Times) {
        let options = CheckOptions {
            languages: agentir::languages(),
            selection: self.selection,
            levels: self.levels,
            fragment: self.request.options.fragment,
            timed,
            cancellation: &Cancellation::default(),
            max_steps: self.max_steps,
        };
        // Nobody cancels it.
        check_loaded(loaded, options).unwrap_or_default()
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

/// What was found in many programs, all in memory.
#[derive(Default)]
pub struct Gathered {
    /// All findings, in order.
    pub diagnostics: Vec<Diagnostic>,
    /// All files.
    pub sources: SourceMap,
    /// How many documents were read.
    pub files: usize,
    /// What the page shows beside them, if that was asked for.
    pub page: Page,
}

impl Gathered {
    /// Adds what was found in a program. A file of several programs is one file.
    fn add(&mut self, known: &mut HashMap<Arc<str>, FileId>, found: Findings, page: Page) {
        let ids: Vec<FileId> = found
            .sources
            .iter()
            .map(|(_, file)| {
                let add = || self.sources.add(file.clone());
                *known.entry(Arc::clone(&file.name)).or_insert_with(add)
            })
            .collect();
        for mut diagnostic in found.diagnostics {
            diagnostic.spans_mut(&mut |span| {
                span.file = ids.get(span.file.0 as usize).copied().unwrap_or(span.file);
            });
            self.diagnostics.push(diagnostic);
        }
        self.files += found.files;
        self.page.pictures.extend(page.pictures);
        self.page.costs.extend(page.costs);
    }
}

/// Does something with each program. `done` gets the results in the order of the programs, and the
/// smallest name of a file in those that are still to come.
fn each<R: Send>(
    groups: Vec<ProgramFiles>,
    job: impl Fn(ProgramFiles) -> R + Sync,
    mut done: impl FnMut(R, Option<&str>) -> ControlFlow<()>,
) {
    let names: Vec<Arc<str>> = groups.iter().map(|group| Arc::clone(&group.first)).collect();
    let progress = Progress::new(groups.len());
    in_order::in_order(groups, job, |index, result| {
        progress.step();
        let next = names.get(index + 1).map(|name| &**name);
        progress.hidden(|| done(result, next))
    });
}

/// Checks programs, and hands on what was found, by the names of the files, until `done` cannot go on.
pub fn check(
    groups: Vec<ProgramFiles>,
    work: &ExecOptions,
    query: CheckQuery<'_>,
    statistics: Option<&mut (Statistics, Times)>,
    mut done: impl FnMut(&Findings) -> io::Result<()>,
) -> io::Result<()> {
    // What the rules did is only known where they do it.
    let store = match statistics {
        Some(_) => None,
        None => work.check_store(&query, &groups),
    };
    let wanted = Outputs { times: statistics.is_some(), ..Outputs::default() };
    let mut ordered = Ordered::default();
    let mut result = Ok(());
    let mut sums = <(Statistics, Times)>::default();
    each(
        groups,
        |group| check_one(group, query, store.as_ref(), wanted),
        |(found, _, counts), next| {
            sums.0 += counts.0;
            sums.1 += counts.1;
            ordered.add(found);
            result = ordered.ready(next).try_for_each(|found| done(&found));
            if result.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        },
    );
    if let Some(statistics) = statistics {
        *statistics = sums;
    }
    result
}

/// Checks programs, and gathers what was found; with what the page shows, if there is to be one.
pub fn gather(
    groups: Vec<ProgramFiles>,
    work: &ExecOptions,
    query: CheckQuery<'_>,
    statistics: Option<&mut (Statistics, Times)>,
    with_page: bool,
) -> Gathered {
    // Pictures are made of programs, which are not kept.
    let store = match statistics {
        None if !with_page => work.check_store(&query, &groups),
        _ => None,
    };
    let wanted = Outputs { all_files: true, page: with_page, times: statistics.is_some() };
    let mut all = Gathered::default();
    let mut known = HashMap::new();
    let mut sums = <(Statistics, Times)>::default();
    each(
        groups,
        |group| check_one(group, query, store.as_ref(), wanted),
        |(found, page, counts), _| {
            sums.0 += counts.0;
            sums.1 += counts.1;
            all.add(&mut known, found, page);
            ControlFlow::Continue(())
        },
    );
    if let Some(statistics) = statistics {
        *statistics = sums;
    }
    sort(&mut all.diagnostics, &all.sources);
    all.page.pictures.truncate(MAX_PICTURES);
    all
}

/// What is wanted of a program beside its findings.
#[derive(Clone, Copy, Default)]
struct Outputs {
    /// Its files, although nothing is found in them.
    all_files: bool,
    /// What the page shows.
    page: bool,
    /// How long each rule took.
    times: bool,
}

/// Checks a program, or finds out that it was checked before.
fn check_one(
    group: ProgramFiles,
    query: CheckQuery<'_>,
    store: Option<&Store>,
    wanted: Outputs,
) -> (Findings, Page, (Statistics, Times)) {
    let request = query.request;
    let first = Arc::clone(&group.first);
    let shown = |found: &[Diagnostic]| wanted.all_files || !found.is_empty();
    let needs = |entry: &Entry| shown(&entry.diagnostics);
    let (contents, place) = match store::known(store, group, request, entry::decode, needs) {
        Known::Before(Entry { files, diagnostics, concealed }, contents) => {
            let contents = contents.filter(|_| shown(&diagnostics));
            let mut sources = contents.map_or_else(SourceMap::new, Contents::sources);
            sources.conceal(concealed);
            let found = Findings { diagnostics, sources: Arc::new(sources), files };
            return (found, Page::default(), Default::default());
        }
        Known::Nothing(contents, place) => (contents, place),
    };
    let done = guarded(|| {
        let mut loaded = build(contents, request);
        let (checked, times) = query.check(&mut loaded, wanted.times);
        (loaded, checked, times)
    });
    let (loaded, checked, times) = match done {
        Ok(done) => done,
        Err(error) => {
            let mut sources = SourceMap::new();
            let diagnostics = vec![error.finding(sources.add(SourceFile::new(&*first, "")))];
            let found = Findings { diagnostics, sources: Arc::new(sources), files: 1 };
            return (found, Page::default(), Default::default());
        }
    };
    let page = if wanted.page { page(&loaded) } else { Page::default() };
    let (diagnostics, files) = (checked.diagnostics, loaded.files);
    if let (Some(store), Some(place)) = (store, place)
        && checked.statistics.solver.is_complete()
    {
        store.put(&place, entry::encode(files, &diagnostics, &loaded.sources));
    }
    let sources = if shown(&diagnostics) { loaded.sources } else { SourceMap::new() };
    let found = Findings { diagnostics, sources: Arc::new(sources), files };
    (found, page, (checked.statistics, times))
}
