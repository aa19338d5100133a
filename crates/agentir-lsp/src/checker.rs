//! The thread that checks programs. It answers what needs findings, and looks for those of the whole workspace when
//! nothing is asked.

use crate::answers::Question;
use crate::findings::{KnownFindings, config_problems, diagnostics};
use crate::view::View;
use agentir::diagnostics::{self as base, FileId};
use agentir::{Cancellation, Cancelled};
use crossbeam_channel::{Receiver, RecvTimeoutError, Sender};
use gen_lsp_types::{Diagnostic, Uri};
use rustc_hash::FxHashMap;
use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// How long nothing is written before rules run on a large program.
const SILENCE: Duration = Duration::from_millis(50);

/// What the thread is to do.
pub(crate) enum Work {
    /// Answer a request.
    Answer(Box<Question>),
    /// Check the workspace that [waits](Jobs).
    Check,
}

/// The workspace that is to be checked next: the latest, since what came before is stale.
#[derive(Clone, Default)]
pub(crate) struct Jobs(Arc<Mutex<Option<Box<Job>>>>);

impl Jobs {
    /// Replaces what waits. Returns whether nothing did, so that the thread is to be told.
    pub(crate) fn put(&self, job: Job) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).replace(Box::new(job)).is_none()
    }

    fn take(&self) -> Option<Box<Job>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// A workspace to check.
pub(crate) struct Job {
    /// Counts the changes of the workspace.
    pub(crate) generation: u64,
    pub(crate) view: View,
    /// The open files, the one that changed last first.
    pub(crate) open: Vec<FileId>,
    pub(crate) baseline: Option<KnownFindings>,
}

/// What was found.
pub(crate) struct Found {
    pub(crate) generation: u64,
    pub(crate) files: Vec<(Uri, Option<i32>, Vec<Diagnostic>)>,
    /// Whether these are the findings of the whole workspace, so that files that are not among them have none.
    pub(crate) is_all: bool,
}

/// What stops the check that is running.
#[derive(Debug, Clone, Default)]
pub(crate) struct Running(Arc<Mutex<Cancellation>>);

impl Running {
    /// Stops it. What it has found until now is kept.
    pub(crate) fn stop(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).cancel();
    }

    fn start(&self) -> Cancellation {
        let new = Cancellation::default();
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = new.clone();
        new
    }
}

/// The thread.
pub(crate) struct Checker {
    pub(crate) work: Receiver<Work>,
    jobs: Jobs,
    pub(crate) running: Running,
    pub(crate) found: Sender<Found>,
    pub(crate) answer: Box<dyn Fn(Question) + Send>,
    /// The rule findings that were found last in each large file, and the text that they are about.
    latest: FxHashMap<PathBuf, (FileId, Arc<str>, Vec<base::Diagnostic>)>,
    questions: VecDeque<Question>,
    job: Option<Job>,
}

impl Checker {
    pub(crate) fn new(
        work: Receiver<Work>,
        jobs: Jobs,
        running: Running,
        found: Sender<Found>,
        answer: Box<dyn Fn(Question) + Send>,
    ) -> Self {
        let (latest, questions) = (FxHashMap::default(), VecDeque::new());
        Self { work, jobs, running, found, answer, latest, questions, job: None }
    }

    /// Works until there will be no more.
    pub(crate) fn run(mut self) {
        loop {
            if self.questions.is_empty() && self.job.is_none() {
                match self.work.recv() {
                    Ok(work) => self.take(work),
                    Err(_) => return,
                }
            }
            let running = self.running.start();
            while let Ok(work) = self.work.try_recv() {
                self.take(work);
            }
            self.take(Work::Check);
            if let Some(question) = self.questions.pop_front() {
                (self.answer)(question);
            } else if let Some(job) = self.job.take() {
                match self.check(&job, running) {
                    Ok(true) => {}
                    // It goes on when there is nothing else to do, unless there is a newer one.
                    Ok(false) | Err(Cancelled) => self.job = self.job.take().or(Some(job)),
                }
            }
        }
    }

    fn take(&mut self, work: Work) {
        match work {
            Work::Answer(question) => self.questions.push_back(*question),
            Work::Check => self.job = self.jobs.take().map(|job| *job).or(self.job.take()),
        }
    }

    /// Checks the open files, and then all. Returns whether it was done, and not interrupted by something else.
    fn check(&mut self, job: &Job, running: Cancellation) -> Result<bool, Cancelled> {
        let snapshot = job.view.snapshot.clone().cancelled_by(running);
        let view = View { snapshot, ..job.view.clone() };
        let large: Vec<FileId> =
            job.open.iter().copied().filter(|file| view.is_large(*file)).collect();
        if !large.is_empty() {
            self.read_only(job, &view, &large)?;
            match self.work.recv_timeout(SILENCE) {
                Ok(work) => {
                    self.take(work);
                    return Ok(false);
                }
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {}
            }
        }
        let mut files = Vec::new();
        for file in &job.open {
            let found = view.snapshot.check_file(*file)?;
            if large.contains(file) {
                self.remember(&view, *file)?;
            }
            files.extend(self.of_file(job, &view, *file, found));
        }
        self.tell(job, files, false);
        let all = view.snapshot.check()?;
        let mut by_file: FxHashMap<FileId, Vec<&base::Diagnostic>> = FxHashMap::default();
        for finding in all {
            by_file.entry(finding.primary.span.file).or_default().push(finding);
        }
        let mut by_file: Vec<_> = by_file.into_iter().collect();
        by_file.sort_unstable_by_key(|(file, _)| *file);
        let files = by_file
            .into_iter()
            .filter_map(|(file, found)| self.of_file(job, &view, file, found.into_iter()));
        let mut files: Vec<_> = files.collect();
        files.extend(config_problems(&view).into_iter().map(|(uri, found)| (uri, None, found)));
        self.tell(job, files, true);
        Ok(true)
    }

    /// Tells what reading large files finds, with what rules found before, where it stands now.
    fn read_only(&self, job: &Job, view: &View, large: &[FileId]) -> Result<(), Cancelled> {
        let mut files = Vec::new();
        for file in large {
            let Some(source) = view.snapshot.sources().get(*file) else { continue };
            let mut found = view.snapshot.check_reading(*file)?;
            let latest = self.latest.get(&PathBuf::from(&*source.name));
            // Files get other ids when one appears between them.
            if let Some((_, before, rules)) = latest.filter(|(known, ..)| known == file) {
                found.extend(moved(rules, before, &source.text, *file));
            }
            files.extend(self.of_file(job, view, *file, found.iter()));
        }
        self.tell(job, files, false);
        Ok(())
    }

    /// Keeps what rules found in a large file.
    fn remember(&mut self, view: &View, file: FileId) -> Result<(), Cancelled> {
        let Some(source) = view.snapshot.sources().get(file) else { return Ok(()) };
        let reading = view.snapshot.check_reading(file)?;
        let of_rules = view.snapshot.check_file(file)?.filter(|found| !reading.contains(found));
        let of_rules = of_rules.cloned().collect();
        let of_file = (file, Arc::clone(&source.text), of_rules);
        self.latest.insert(PathBuf::from(&*source.name), of_file);
        Ok(())
    }

    fn of_file<'d>(
        &self,
        job: &Job,
        view: &View,
        file: FileId,
        found: impl Iterator<Item = &'d base::Diagnostic>,
    ) -> Option<(Uri, Option<i32>, Vec<Diagnostic>)> {
        let source = view.snapshot.sources().get(file)?;
        let version = view.document(source).map(|document| document.version);
        let found = diagnostics(view, job.baseline.as_ref(), file, found);
        Some((view.uri(source)?, version, found))
    }

    fn tell(&self, job: &Job, files: Vec<(Uri, Option<i32>, Vec<Diagnostic>)>, is_all: bool) {
        // Nobody listens any more when the server ends.
        let _ = self.found.send(Found { generation: job.generation, files, is_all });
    }
}

/// The findings about a text that stand in parts of it that a newer text has, too: before and behind what changed.
fn moved(
    found: &[base::Diagnostic],
    before: &str,
    now: &str,
    file: FileId,
) -> Vec<base::Diagnostic> {
    let (one, other) = (before.as_bytes(), now.as_bytes());
    let same_start = one.iter().zip(other).take_while(|(a, b)| a == b).count();
    let most = one.len().min(other.len()) - same_start;
    let same_end = one.iter().rev().zip(other.iter().rev()).take(most).take_while(|(a, b)| a == b);
    let same_end = same_end.count();
    let (old_end, new_end) = (one.len() - same_end, other.len() - same_end);
    let in_start = |span: base::Span| span.end as usize <= same_start;
    let in_end = |span: base::Span| span.start as usize >= old_end;
    let is_kept = |span: base::Span| span.file != file || in_start(span) || in_end(span);
    let kept = found.iter().filter(|one| is_kept(one.primary.span)).cloned();
    kept.map(|mut finding| {
        // Edits and places that are gone are of no use.
        finding.fixes.clear();
        finding.labels.retain(|label| is_kept(label.span));
        finding.evidence = None;
        finding.spans_mut(&mut |span| {
            if span.file == file && in_end(*span) && !in_start(*span) {
                let to = |at: u32| u32::try_from(at as usize + new_end - old_end).unwrap_or(at);
                (span.start, span.end) = (to(span.start), to(span.end));
            }
        });
        finding
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::moved;
    use agentir::Diagnostic;
    use agentir::diagnostics::{FileId, RuleName, Span};

    #[test]
    fn findings_move_with_the_text_around_a_change() {
        let file = FileId(0);
        let at = |start, end| Diagnostic::error(RuleName("x"), Span::new(file, start, end), "x");
        let spans = |now: &str| {
            let found = [at(0, 2), at(2, 6), at(7, 9)];
            let moved = moved(&found, "ab cdef gh", now, file);
            moved
                .iter()
                .map(|one| (one.primary.span.start, one.primary.span.end))
                .collect::<Vec<_>>()
        };
        assert_eq!(spans("ab cdef gh"), [(0, 2), (2, 6), (7, 9)]);
        assert_eq!(spans("ab cdxxef gh"), [(0, 2), (9, 11)]);
        assert_eq!(spans("ab f gh"), [(0, 2), (4, 6)]);
        assert_eq!(spans("xab cdef gh"), [(1, 3), (3, 7), (8, 10)]);
        assert_eq!(spans(""), []);
        // A repetition is not counted as both the start and the end.
        assert_eq!(moved(&[at(0, 1)], "aa", "a", file).len(), 1);
    }
}
