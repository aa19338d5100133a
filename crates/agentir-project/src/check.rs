//! From programs to findings.
//!
//! Rules report everything they find. Afterwards findings are removed, in this order: those that
//! comments suppress (comments that suppress nothing are reported), then those that the
//! configuration of their file turns off; the others get the configured severity. The command line
//! finally removes the findings of the baseline.

use crate::assemble::LoadedProgram;
use crate::comments::comments;
use crate::internal_error::guarded;
use crate::levels::Levels;
use crate::load::Loaded;
use agentir_diagnostics::{Diagnostic, FileId, Label, SourceFile, SourceMap, Span, sort};
use agentir_ir::Program;
use agentir_lint::{Cancellation, Cancelled, CheckRun, Checked, Selection, Statistics, Times};
use agentir_syntax::{Languages, Origin, rules};
use rayon::prelude::*;
use std::collections::{HashMap, HashSet};

/// Which rules check programs, and how severe their findings are.
#[derive(Clone, Copy)]
pub struct CheckOptions<'a> {
    /// Which rules run.
    pub selection: &'a Selection,
    /// How severe their findings are, by the configurations of the files.
    pub levels: &'a Levels<'a>,
    /// Whether documents are fragments, of which most rules have nothing to say.
    pub fragment: bool,
    /// Whether to measure how long each rule takes.
    pub timed: bool,
    /// The languages of the files, for their comments.
    pub languages: Languages,
    /// Stops the check early.
    pub cancellation: &'a Cancellation,
    /// The steps that the solver may take for a program, where that is fewer than the size of the program allows; see
    /// [`max_steps`].
    pub max_steps: u64,
}

/// The steps that the solver may take for each of so many programs of a run. All together take ten seconds or so,
/// or a few milliseconds each.
#[must_use]
pub fn max_steps(programs: usize) -> u64 {
    const RUN: u64 = 150_000_000;
    const LEAST: u64 = 100_000;
    let programs = u64::try_from(programs).unwrap_or(u64::MAX).max(1);
    (RUN / programs).max(LEAST)
}

/// Checks programs that share `sources`: runs the rules, and takes out what comments suppress and what
/// configurations turn off. `front_end` are the findings about the files themselves. Returns all findings in
/// order, and how long each rule took if that was asked for.
///
/// # Errors
/// If the check was cancelled.
pub fn check_programs<P: AsRef<LoadedProgram> + Sync>(
    programs: &[P],
    front_end: Vec<Diagnostic>,
    sources: &SourceMap,
    options: CheckOptions<'_>,
) -> Result<(Checked, Times), Cancelled> {
    let files: Vec<FileId> = sources.iter().map(|(id, _)| id).collect();
    check_part(programs, front_end, (sources, &files), options)
}

/// Checks programs like [`check_programs`], of which only some of the files are.
pub(crate) fn check_part<P: AsRef<LoadedProgram> + Sync>(
    programs: &[P],
    front_end: Vec<Diagnostic>,
    (sources, files): (&SourceMap, &[FileId]),
    options: CheckOptions<'_>,
) -> Result<(Checked, Times), Cancelled> {
    let CheckOptions { selection, levels, fragment, timed, languages, cancellation, max_steps } =
        options;
    let (mut statistics, mut times) = (Statistics::default(), Times::default());
    let mut all = front_end;
    all.retain(|d| selection.wants(d.rule.0));
    let of_files = all.len();
    let own = if fragment { selection.in_fragments() } else { Some(selection.clone()) };
    let name = |id: FileId| sources.get(id).map_or("", |file| &*file.name);
    let is_off = |id: FileId, rule: &str| levels.is_off(name(id), rule);
    if let Some(selection) = &own {
        let run = |loaded: &P| {
            let LoadedProgram { program, versions, options, unread, gaps, partial, .. } =
                loaded.as_ref();
            let mut partial = partial.clone();
            partial.sort_unstable_by_key(|part| (part.file, part.start));
            let run = || {
                agentir_lint::check_with(
                    program,
                    versions,
                    options,
                    CheckRun { selection, timed, cancellation, max_steps },
                )
            };
            let mut result = guarded(run).unwrap_or_else(|error| {
                let file = program.agents().next().map(|a| a.metadata.name.span.file);
                let found = error.finding(file.unwrap_or_default());
                let checked = Checked { diagnostics: vec![found], ..Checked::default() };
                Ok((checked, Times::default()))
            });
            if let Ok((checked, _)) = &mut result {
                checked.diagnostics.retain(|d| {
                    if fragment && !agentir_lint::holds_in_fragment(d) {
                        return false;
                    }
                    let at = d.primary.span;
                    let may_be_wrong = agentir_lint::rests_on_absence(d.rule.0)
                        && gaps.iter().any(|gap| {
                            !(agentir_lint::rests_on_own_agent(d.rule.0)
                                && in_other_agents(program, *gap, at))
                        });
                    let may_be_set =
                        agentir_lint::rests_on_unset(d.rule.0) && is_about(d, &partial);
                    !may_be_wrong && !may_be_set && !unread.contains(&d.primary.span.file)
                });
            }
            result
        };
        let results: Vec<_> = match programs {
            // A thread pool costs more than a single program.
            [one] => vec![run(one)],
            several => several.par_iter().map(run).collect(),
        };
        for result in results {
            let (mut checked, took) = result?;
            let of_files = all.get(..of_files).unwrap_or_default();
            drop_consequences(&mut checked.diagnostics, of_files, sources, &is_off);
            all.extend(checked.diagnostics);
            statistics += checked.statistics;
            times += took;
        }
    }
    // Most rules do not run on fragments.
    let unread: HashSet<FileId> =
        programs.iter().flat_map(|loaded| loaded.as_ref().unread.iter().copied()).collect();
    let ran = |id: FileId, rule: &str| {
        own.as_ref().is_some_and(|own| own.wants(rule))
            && !unread.contains(&id)
            && !is_off(id, rule)
    };
    // Files that are refused are not read for comments either.
    let is_refused = |rule| [rules::NOT_TEXT, rules::UNREADABLE_FILE].contains(&rule);
    let refused: HashSet<FileId> =
        all.iter().filter(|d| is_refused(d.rule)).map(|d| d.primary.span.file).collect();
    let comments = |id: FileId, file: &SourceFile| match refused.contains(&id) {
        true => Vec::new(),
        false => comments(languages, id, file),
    };
    agentir_lint::suppress((sources, files), &mut all, &comments, &ran);
    all.retain(|d| selection.wants(d.rule.0));
    levels.apply(&mut all, sources);
    add_origins(&mut all, programs);
    sort(&mut all, sources);
    Ok((Checked { diagnostics: all, statistics }, times))
}

/// The locations that a finding names, first the one that it is at.
fn places(finding: &Diagnostic) -> impl Iterator<Item = Span> {
    [finding.primary.span].into_iter().chain(finding.labels.iter().map(|label| label.span))
}

/// Whether a finding is about one of some elements, whose locations do not overlap and are in order.
fn is_about(finding: &Diagnostic, elements: &[Span]) -> bool {
    places(finding).any(|at| {
        let after = elements.partition_point(|part| (part.file, part.start) <= (at.file, at.start));
        let before = after.checked_sub(1).and_then(|nearest| elements.get(nearest));
        before.is_some_and(|part| part.file == at.file && at.start < part.end)
    })
}

/// Drops what follows from another finding of the program or of its files, `of_files`: that nothing in its file uses, or
/// nothing in its program reaches, what a misspelled name means; and what is absent or unset by one of two statements that
/// contradict each other, of which nobody knows which one is meant.
fn drop_consequences(
    all: &mut Vec<Diagnostic>,
    of_files: &[Diagnostic],
    sources: &SourceMap,
    is_off: &dyn Fn(FileId, &str) -> bool,
) {
    let reported =
        || of_files.iter().chain(&*all).filter(|d| !is_off(d.primary.span.file, d.rule.0));
    let is_undefined = |rule: &str| rule.starts_with("undefined-");
    let undefined = || reported().filter(|d| is_undefined(d.rule.0));
    let edits = undefined().flat_map(|d| &d.fixes).flat_map(|fix| &fix.edits);
    let meant: HashSet<(FileId, String)> =
        edits.map(|edit| (edit.span.file, edit.text.clone())).collect();
    let misspelled: HashSet<Span> = undefined().map(|d| d.primary.span).collect();
    let contradicts =
        |rule: &str| ["conflicting-", "duplicate-"].iter().any(|name| rule.starts_with(name));
    let unclear: HashSet<Span> =
        reported().filter(|d| contradicts(d.rule.0)).flat_map(places).collect();
    if misspelled.is_empty() && unclear.is_empty() {
        return;
    }
    let anywhere: HashSet<&str> = meant.iter().map(|(_, name)| name.as_str()).collect();
    all.retain(|d| {
        let file = d.primary.span.file;
        let name = || {
            let text = sources.get(file).and_then(|file| file.text.get(d.primary.span.range()));
            text.unwrap_or_default().trim_matches('"')
        };
        let rule = d.rule.0;
        let is_meant = match rule {
            "unreachable-agent" => anywhere.contains(name()),
            _ if rule.starts_with("unused-") || rule.starts_with("unlisted-") => {
                meant.contains(&(file, name().to_owned()))
            }
            _ => false,
        };
        let follows = agentir_lint::rests_on_unset(rule)
            && (places(d).any(|at| unclear.contains(&at))
                || (!is_undefined(rule) && misspelled.contains(&d.primary.span)));
        !is_meant && !follows
    });
}

/// Labels findings about generated files with the locations that their authors know.
fn add_origins<P: AsRef<LoadedProgram>>(findings: &mut [Diagnostic], programs: &[P]) {
    let mut by_file: HashMap<FileId, Vec<&Origin>> = HashMap::new();
    for origin in programs.iter().flat_map(|loaded| &loaded.as_ref().origins) {
        by_file.entry(origin.element.file).or_default().push(origin);
    }
    if by_file.is_empty() {
        return;
    }
    for finding in findings {
        let at = finding.primary.span;
        let around =
            |origin: &&&Origin| origin.element.start <= at.start && at.end <= origin.element.end;
        let nearest = by_file.get(&at.file).into_iter().flatten().filter(around);
        let nearest = nearest.min_by_key(|origin| origin.element.end - origin.element.start);
        if let Some(origin) = nearest {
            let message = format!("generated from {}", origin.shown());
            finding.labels.push(Label { span: origin.span, message });
        }
    }
}

/// Checks everything that was loaded, and takes the findings about its files; see [`check_programs`].
///
/// # Errors
/// If the check was cancelled.
pub fn check_loaded(
    loaded: &mut Loaded,
    options: CheckOptions<'_>,
) -> Result<(Checked, Times), Cancelled> {
    let front_end = std::mem::take(&mut loaded.diagnostics);
    check_programs(&loaded.programs, front_end, &loaded.sources, options)
}

impl AsRef<Self> for LoadedProgram {
    fn as_ref(&self) -> &Self {
        self
    }
}

/// Whether two locations are in different agents.
fn in_other_agents(program: &Program, one: Span, other: Span) -> bool {
    let holder = |span: Span| {
        program.agents().position(|agent| {
            let Span { file, start, end } = agent.span;
            file == span.file && start <= span.start && span.end <= end
        })
    };
    matches!((holder(one), holder(other)), (Some(one), Some(other)) if one != other)
}
