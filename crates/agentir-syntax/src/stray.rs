//! Lines at the left margin that belong to no document: markers of merge conflicts, and text that somebody dropped
//! there. They are reported and left out, so that what they interrupt is read as if they were not there.

use crate::rules;
use crate::text::{first_line, offset};
use agentir_diagnostics::{Diagnostic, FileId, Span};

/// What version control begins the lines of a conflict with.
const MARKERS: [&str; 4] = ["<<<<<<<", "|||||||", "=======", ">>>>>>>"];

/// Finds stray lines while a text is read from its beginning to its end.
#[derive(Debug, Default)]
pub struct StrayLines {
    /// Whether a conflict began and has not ended.
    in_conflict: bool,
    /// Whether the conflict has no end, so that looking for it again is useless.
    unclosed: bool,
}

impl StrayLines {
    /// Where reading goes on, at the end of a line, if a line that begins at `at` is a marker of a conflict. A conflict
    /// is reported once, and of its two versions the first is read.
    pub fn after_marker(
        &mut self,
        file: FileId,
        text: &str,
        at: usize,
        problems: &mut Vec<Diagnostic>,
    ) -> Option<usize> {
        let rest = text.get(at..)?;
        let marker = MARKERS.iter().find(|marker| rest.starts_with(**marker))?;
        let line = rest.lines().next().unwrap_or_default().trim_end();
        let after = line.get(marker.len()..).unwrap_or_default();
        if !(after.is_empty() || after.starts_with(' ') && *marker != "=======") {
            return None;
        }
        let end = |from: usize| {
            text.get(from..).and_then(|rest| rest.find('\n')).map_or(text.len(), |at| from + at)
        };
        let begins = *marker == "<<<<<<<";
        if begins || !self.in_conflict {
            let span = Span::new(file, offset(at), offset(at + line.len()));
            problems.push(
                Diagnostic::error(rules::SYNTAX, span, "this is a merge conflict marker")
                    .help("keep one of the two versions, and remove the markers"),
            );
            self.in_conflict = begins;
            return Some(end(at));
        }
        if *marker == ">>>>>>>" {
            self.in_conflict = false;
            return Some(end(at));
        }
        let close = if self.unclosed { None } else { rest.find("\n>>>>>>>") };
        self.unclosed = close.is_none();
        self.in_conflict = close.is_none();
        Some(end(close.map_or(at, |close| at + close + 1)))
    }

    /// Where reading goes on if a line that begins at `at`, at the left margin, is text in the middle of a block: what
    /// follows is indented. Such a line is reported.
    pub fn after_text(
        file: FileId,
        text: &str,
        at: usize,
        problems: &mut Vec<Diagnostic>,
    ) -> Option<usize> {
        let is_comment = |line: &str| line.starts_with('#') || line.starts_with("//");
        let rest = text.get(at..).filter(|rest| !is_comment(rest))?;
        let mut lines = rest.split('\n');
        let line = lines.next()?;
        let next = lines.find(|line| !line.trim().is_empty() && !is_comment(line.trim_start()))?;
        if !next.starts_with([' ', '\t']) {
            return None;
        }
        let span = first_line(text, Span::new(file, offset(at), offset(at + line.len())));
        problems.push(
            Diagnostic::error(rules::SYNTAX, span, "unexpected text at the left margin")
                .help("indent it if it belongs to the section above, or remove it"),
        );
        Some(at + line.len())
    }
}

/// The text with spaces in the place of conflicts' markers and second versions; `None` if it has none.
pub fn without_conflicts(
    file: FileId,
    text: &str,
    problems: &mut Vec<Diagnostic>,
) -> Option<String> {
    let mut lines = StrayLines::default();
    let mut blanked: Option<String> = None;
    let mut at = 0;
    let mut copied = 0;
    while at < text.len() {
        let end = match lines.after_marker(file, text, at, problems) {
            Some(end) => {
                let all = blanked.get_or_insert_with(|| String::with_capacity(text.len()));
                all.push_str(text.get(copied..at).unwrap_or_default());
                let hidden = text.get(at..end).unwrap_or_default();
                all.extend(hidden.bytes().map(|byte| if byte == b'\n' { '\n' } else { ' ' }));
                copied = end;
                end
            }
            None => text.get(at..)?.find('\n').map_or(text.len(), |line| at + line),
        };
        at = end + 1;
    }
    let mut blanked = blanked?;
    blanked.push_str(text.get(copied..).unwrap_or_default());
    Some(blanked)
}
