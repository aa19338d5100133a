//! Keystrokes: from a changed text to all findings, through the library, as an editor uses it.

use crate::generate::{self, Project};
use crate::sizes;
use agentir::{Severity, Workspace};
use cpu_time::ProcessTime;
use std::error::Error;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The lines of a large file.
const LINES: usize = 2_000;
/// The documents of the project.
const DOCUMENTS: usize = 50;
/// The keystrokes at one line, after which the text is what it was.
const CYCLE: usize = 6;
const SEED: u64 = 1;

/// A project, and the file of it that is edited.
#[derive(Debug)]
pub struct Case {
    /// Its name, in kebab case.
    pub name: &'static str,
    project: Project,
    edited: String,
    /// How lines with an expression are known: they contain this.
    expression: &'static str,
}

/// Everything that is measured.
#[must_use]
pub fn cases() -> Vec<Case> {
    let project = generate::project_of(DOCUMENTS, SEED);
    let flow = project.files.iter().find(|file| file.text.matches(" IF: ").count() > 2);
    let edited = flow.map_or_else(String::new, |file| file.path.clone());
    let large = |path: &str, text: String| {
        let files = vec![generate::File { path: path.to_owned(), text }];
        (Project { name: "large".to_owned(), files }, path.to_owned())
    };
    let (abl, abl_path) = large("large.agent.abl", sizes::file_of_lines(LINES));
    let (script, script_path) = large("large.agent", generate::script_of(LINES, SEED));
    let bot = generate::bot_of(LINES, SEED);
    let case = |name, project, edited, expression| Case { name, project, edited, expression };
    vec![
        case("abl-project", project, edited, " IF: "),
        case("abl-file", abl, abl_path, " IF: "),
        case("agent-script-file", script, script_path, "available when "),
        case("adl-file", bot, "agents.yml".to_owned(), "- if: "),
    ]
}

impl Case {
    /// The number of its files.
    #[must_use]
    pub fn files(&self) -> usize {
        self.project.files.len()
    }

    /// The text that is edited.
    #[must_use]
    pub fn text(&self) -> &str {
        let edited = self.project.files.iter().find(|file| file.path == self.edited);
        edited.map_or("", |file| &file.text)
    }
}

/// An edit at one line. Each is undone by the next one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Key {
    /// A character in an expression.
    Character,
    /// A line above it.
    Line,
    /// Removes the closing quotation mark that comes next.
    Unquote,
    /// Restores the text.
    Undo,
}

impl Key {
    const fn nth(keystroke: usize) -> Self {
        match keystroke % CYCLE {
            0 => Self::Character,
            2 => Self::Line,
            4 => Self::Unquote,
            _ => Self::Undo,
        }
    }

    /// The text after it is typed at the line that begins at `at`.
    fn apply(self, text: &str, at: usize) -> Option<String> {
        let (before, rest) = text.split_at_checked(at)?;
        let line = rest.lines().next()?;
        let (at, length, new) = match self {
            Self::Undo => return Some(text.to_owned()),
            Self::Character => (at + line.rfind(|c: char| c.is_ascii_alphanumeric())? + 1, 0, "1"),
            Self::Line => (at, 0, "# a note\n"),
            Self::Unquote => {
                let quoted =
                    rest.lines().find(|line| line.ends_with('"') && line.contains(": \""))?;
                let start = quoted.as_ptr() as usize - rest.as_ptr() as usize;
                (before.len() + start + quoted.len() - 1, 1, "")
            }
        };
        let mut changed = text.to_owned();
        changed.replace_range(at..at + length, new);
        Some(changed)
    }
}

/// The time of each keystroke.
#[derive(Debug, Default)]
pub struct Times {
    /// Wall-clock time.
    pub clock: Vec<Duration>,
    /// Processor time of all threads.
    pub processor: Vec<Duration>,
}

/// The duration that `percent` of all do not exceed.
#[must_use]
pub fn percentile(times: &[Duration], percent: usize) -> Duration {
    let mut times = times.to_vec();
    times.sort_unstable();
    let rank = (times.len() * percent).div_ceil(100).max(1);
    times.get(rank - 1).copied().unwrap_or_default()
}

/// Loads and checks a project, and then types: after each key, all findings are computed.
///
/// # Errors
/// If the project cannot be loaded, or an edit does not have the effect it is meant to have.
pub fn replay(case: &Case, keystrokes: usize) -> Result<Times, Box<dyn Error>> {
    let mut workspace = Workspace::in_memory();
    for file in &case.project.files {
        workspace.set_text(&file.path, file.text.as_str());
    }
    let text = case.text();
    let lines = text.split_inclusive('\n').scan(0, |at, line| {
        let start = *at;
        *at += line.len();
        Some((start, line))
    });
    let expressions: Vec<usize> =
        lines.filter(|(_, line)| line.contains(case.expression)).map(|(start, _)| start).collect();
    let before = workspace.snapshot()?.check()?.to_vec();
    if let Some(error) = before.iter().find(|found| found.severity == Severity::Error) {
        return Err(format!("{} is not correct: {}", case.name, error.message).into());
    }
    let mut times = Times::default();
    for keystroke in 0..keystrokes {
        let key = Key::nth(keystroke);
        // All over the file.
        let line = expressions.get(keystroke / CYCLE * 7 % expressions.len().max(1));
        let changed = line.and_then(|at| key.apply(text, *at));
        let changed: Arc<str> = changed.ok_or("there is nothing to edit")?.into();
        let (clock, processor) = (Instant::now(), ProcessTime::now());
        workspace.set_text(&case.edited, changed);
        let snapshot = workspace.snapshot()?;
        let found = snapshot.check()?;
        times.processor.push(processor.elapsed());
        times.clock.push(clock.elapsed());
        let broken = found.iter().any(|found| found.severity == Severity::Error);
        let as_expected = match key {
            Key::Undo => found == before,
            Key::Line => !broken,
            Key::Unquote => broken,
            Key::Character => true,
        };
        if !as_expected {
            return Err(format!("{}: {key:?} has other findings than expected", case.name).into());
        }
    }
    Ok(times)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests end by panicking")]
mod tests {
    use super::{CYCLE, DOCUMENTS, LINES, cases, percentile, replay};
    use std::time::Duration;

    #[test]
    fn edits_have_the_effects_they_are_meant_to_have() {
        for case in cases() {
            assert_eq!(replay(&case, 2 * CYCLE).unwrap().clock.len(), 2 * CYCLE, "{}", case.name);
        }
    }

    #[test]
    fn cases_are_as_large_as_they_are_said_to_be() {
        for case in cases() {
            let lines = case.text().lines().count();
            if case.name == "abl-project" {
                // The manifest is not a document.
                assert_eq!(case.files(), DOCUMENTS + 1);
            } else {
                assert!((LINES..LINES + LINES / 10).contains(&lines), "{}: {lines}", case.name);
            }
        }
    }

    #[test]
    fn percentiles_are_of_those_there_are() {
        let times: Vec<Duration> = (1..=200).rev().map(Duration::from_millis).collect();
        let of = |percent| percentile(&times, percent).as_millis();
        assert_eq!([of(0), of(50), of(99), of(100)], [1, 100, 198, 200]);
        assert_eq!(percentile(&[], 50), Duration::ZERO);
    }
}
