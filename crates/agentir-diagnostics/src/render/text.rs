//! Findings for people: a header, excerpts of the source with labels, then why it matters and what to
//! write instead.

use super::clean::one_line;
use super::picture::{MAX_LABELS, Pictures};
use super::{Report, Summary, paint};
use crate::diagnostic::{Applicability, Diagnostic};
use std::io;

pub(crate) fn findings(
    report: &Report<'_>,
    color: bool,
    out: &mut dyn io::Write,
) -> io::Result<()> {
    let mut pictures = Pictures::new(report.sources);
    for diagnostic in report.diagnostics {
        let mut text = header(diagnostic, color);
        let frame = pictures.draw(diagnostic, color, &mut text)?;
        notes(diagnostic, &" ".repeat(frame), color, &mut text);
        writeln!(out, "{text}")?;
    }
    Ok(())
}

/// The last line.
pub(crate) fn summary(summary: &Summary, color: bool, out: &mut dyn io::Write) -> io::Result<()> {
    let mut text = String::new();
    paint::push(&mut text, color, paint::BOLD, &summary.to_string());
    writeln!(out, "{text}")
}

fn header(diagnostic: &Diagnostic, color: bool) -> String {
    let mut text = String::new();
    let level = format!("{}[{}]", diagnostic.severity.name(), diagnostic.rule.0);
    paint::push(&mut text, color, paint::severity(diagnostic.severity), &level);
    let message = format!(": {}", one_line(&diagnostic.message));
    paint::push(&mut text, color, paint::BOLD, &message);
    text.push('\n');
    text
}

/// The lines below the excerpt.
fn notes(diagnostic: &Diagnostic, indent: &str, color: bool, out: &mut String) {
    let omitted = match (diagnostic.labels.len() + 1).saturating_sub(MAX_LABELS) {
        0 => String::new(),
        1 => "1 more place is not shown".to_owned(),
        n => format!("{n} more places are not shown"),
    };
    let mut notes: Vec<(&str, &str)> = vec![("note", &omitted)];
    notes.extend(diagnostic.note.as_deref().map(|note| ("note", note)));
    notes.extend(diagnostic.help.as_deref().map(|help| ("help", help)));
    notes.extend(diagnostic.fixes.iter().map(|fix| {
        let word = match fix.applicability {
            Applicability::Safe => "fix",
            Applicability::Unsafe => "unsafe fix",
            Applicability::DisplayOnly => "suggestion",
        };
        (word, fix.title.as_str())
    }));
    for (word, text) in notes {
        for (i, line) in text.lines().enumerate() {
            out.push_str(indent);
            if i == 0 {
                paint::push(out, color, paint::FRAME, "=");
                out.push(' ');
                paint::push(out, color, paint::BOLD, &format!("{word}:"));
            } else {
                out.push_str(&" ".repeat("= :".len() + word.len()));
            }
            out.push_str(&format!(" {}\n", one_line(line)));
        }
    }
}
