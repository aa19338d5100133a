//! Findings for people: a header, an excerpt of the source with what is to say about its parts, then
//! why it matters and what to write instead.

use super::clean::one_line;
use super::picture::Picture;
use super::{Report, Summary, paint};
use crate::diagnostic::{Applicability, Diagnostic};
use std::io;

pub(crate) fn findings(
    report: &Report<'_>,
    color: bool,
    out: &mut dyn io::Write,
) -> io::Result<()> {
    for diagnostic in report.diagnostics {
        let mut text = header(diagnostic, color);
        let picture = Picture::new(diagnostic, report.sources);
        picture.draw(paint::severity(diagnostic.severity), color, &mut text)?;
        notes(diagnostic, &picture, color, &mut text);
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
fn notes(diagnostic: &Diagnostic, picture: &Picture<'_>, color: bool, out: &mut String) {
    let mut notes: Vec<(&str, &str)> = Vec::new();
    let omitted = match picture.omitted {
        0 => String::new(),
        1 => "1 more place is not shown".to_owned(),
        n => format!("{n} more places are not shown"),
    };
    if picture.omitted > 0 {
        notes.push(("note", &omitted));
    }
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

    notes.retain(|(_, text)| !text.is_empty());

    let indent = " ".repeat(picture.width + 2);
    if !notes.is_empty() && !picture.is_empty() {
        out.push_str(&indent);
        paint::push(out, color, paint::FRAME, "│");
        out.push('\n');
    }
    for (word, text) in notes {
        out.push_str(&indent);
        paint::push(out, color, paint::FRAME, "=");
        out.push(' ');
        paint::push(out, color, paint::BOLD, &format!("{word}:"));
        for (i, line) in text.lines().enumerate() {
            if i > 0 {
                out.push_str(&indent);
                out.push_str(&" ".repeat("= :".len() + word.len()));
            }
            out.push(' ');
            out.push_str(&one_line(line));
            out.push('\n');
        }
    }
}
