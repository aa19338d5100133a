//! Suppression comments.
//!
//! `# agentir: ignore[rule, rule] reason` applies to its own line or, on a line of its own, to the
//! next line that is not a comment. `# agentir: ignore-file[rule] reason`, above everything else,
//! applies to the whole file. A comment must name rules or groups: one that suppressed everything
//! would hide unknown problems.

use crate::names::suggest;
use agentir_diagnostics::{
    Applicability, Diagnostic, Edit, FileId, Fix, RuleName, SourceFile, SourceMap, Span,
};
use rustc_hash::FxHashMap;

/// A suppression without effect.
pub const UNUSED: RuleName = RuleName("unused-suppression");
/// A suppression that cannot be parsed or names an unknown rule.
pub const INVALID: RuleName = RuleName("invalid-suppression");

/// The marker of suppression comments.
pub const MARKER: &str = "agentir:";

/// The scope of a suppression.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Scope {
    /// A line, counted from 0.
    Line(usize),
    /// The file.
    File,
}

/// A rule or group that a comment names.
struct Named {
    name: String,
    span: Span,
    used: bool,
}

/// A suppression comment.
struct Suppression {
    scope: Scope,
    /// The span to delete together with the comment.
    whole: Span,
    comment: Span,
    names: Vec<Named>,
}

/// A comment of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Comment {
    /// Its source, from the mark to the end of the line.
    pub span: Span,
    /// Whether it is above everything else in the file.
    pub at_top: bool,
    /// Whether it has a line of its own.
    pub alone: bool,
    /// The line that it is about, counted from 0: its own or, if it is alone, the next one that is
    /// not a comment.
    pub about: usize,
}

/// Removes findings that comments in some of the files suppress, and reports problems with the comments. `comments` returns those of
/// a file in order; it is asked only if the file may suppress something. `ran` says whether a rule
/// has checked a file; otherwise a suppression of it may be needed.
pub fn suppress(
    (sources, files): (&SourceMap, &[FileId]),
    diagnostics: &mut Vec<Diagnostic>,
    comments: &dyn Fn(FileId, &SourceFile) -> Vec<Comment>,
    ran: &dyn Fn(FileId, &str) -> bool,
) {
    let mut problems = Vec::new();
    let mut by_file: FxHashMap<FileId, Vec<Suppression>> = FxHashMap::default();
    for id in files.iter().copied() {
        let Some(file) = sources.get(id) else { continue };
        if !file.text.contains(MARKER) {
            continue;
        }
        let found = of_file(id, &file.text, &comments(id, file), &mut problems);
        if !found.is_empty() {
            by_file.insert(id, found);
        }
    }
    diagnostics.append(&mut problems);
    if by_file.is_empty() {
        return;
    }
    let groups: FxHashMap<&str, &str> =
        crate::rule_names().map(|(rule, group)| (rule, group.name())).collect();
    diagnostics.retain(|finding| {
        let at = finding.primary.span;
        let Some(all) = by_file.get_mut(&at.file) else { return true };
        let line = sources.get(at.file).map_or(0, |file| file.line_index(at.start as usize));
        let group = groups.get(finding.rule.0).copied().unwrap_or_default();
        let mut ignored = false;
        for one in all.iter_mut().filter(|s| s.scope == Scope::File || s.scope == Scope::Line(line))
        {
            for named in &mut one.names {
                let meant = named.name == finding.rule.0 || named.name == group;
                named.used |= meant;
                ignored |= meant;
            }
        }
        !ignored
    });
    // In file order, which the map does not have.
    let mut rest: Vec<_> = by_file.into_iter().collect();
    rest.sort_by_key(|(id, _)| *id);
    for (id, all) in rest {
        let has_run = |name: &str| {
            let mut of_group = groups.iter().filter(|(_, group)| **group == name).peekable();
            match of_group.peek() {
                Some(_) => of_group.all(|(rule, _)| ran(id, rule)),
                None => ran(id, name),
            }
        };
        let text = sources.get(id).map_or("", |file| &file.text);
        for one in all {
            unused(&one, text, &has_run, diagnostics);
        }
    }
}

/// Returns the suppressions of a file and reports invalid ones.
fn of_file(
    id: FileId,
    text: &str,
    comments: &[Comment],
    problems: &mut Vec<Diagnostic>,
) -> Vec<Suppression> {
    let mut found = Vec::new();
    for Comment { span: comment, at_top, alone, about } in comments.iter().copied() {
        let written = text.get(comment.range()).unwrap_or_default();
        let bare = written.trim_start_matches(['#', '/', ' ', '\t']);
        let Some(rest) = bare.strip_prefix(MARKER) else { continue };
        let start = comment.end - size(rest);
        match read(id, rest, start) {
            Ok((in_file, names)) => {
                let scope = if in_file {
                    if !at_top {
                        problems.push(misplaced(comment));
                        continue;
                    }
                    Scope::File
                } else {
                    Scope::Line(about)
                };
                let whole = whole(text, comment, alone);
                let names = known(names, problems);
                if !names.is_empty() {
                    found.push(Suppression { scope, whole, comment, names });
                }
            }
            Err(message) => problems.push(
                Diagnostic::warning(INVALID, comment, message)
                    .note("this comment suppresses nothing")
                    .help("write `# agentir: ignore[rule] reason`, or `ignore-file[rule]` at the top of the file"),
            ),
        }
    }
    found
}

fn size(text: &str) -> u32 {
    u32::try_from(text.len()).unwrap_or(u32::MAX)
}

/// Returns the span to delete so that nothing of a comment is left.
fn whole(text: &str, comment: Span, alone: bool) -> Span {
    let before = text.get(..comment.start as usize).unwrap_or_default();
    let start = size(before.trim_end_matches([' ', '\t']));
    let rest_of_text = text.get(comment.end as usize..).unwrap_or_default();
    let end = match alone {
        true if rest_of_text.starts_with("\r\n") => 2,
        true if rest_of_text.starts_with('\n') => 1,
        _ => 0,
    };
    Span::new(comment.file, start, comment.end + end)
}

/// Parses the text after the marker, which begins at `start`. Returns whether it applies to the
/// whole file, and the names.
fn read(id: FileId, rest: &str, start: u32) -> Result<(bool, Vec<Named>), &'static str> {
    let word = rest.trim_start();
    let (in_file, list) = if let Some(list) = word.strip_prefix("ignore-file") {
        (true, list)
    } else if let Some(list) = word.strip_prefix("ignore") {
        (false, list)
    } else {
        return Err("this `agentir:` comment cannot be parsed");
    };
    let Some(list) = list.trim_start().strip_prefix('[') else {
        return Err("this comment does not name the rules to ignore");
    };
    let Some((list, _reason)) = list.split_once(']') else {
        return Err("the list of rules in this comment is not closed");
    };
    // All names are slices of `rest`.
    let at = |part: &str| start + size(rest).min(offset_in(rest, part));
    let names: Vec<Named> = list
        .split(',')
        .map(str::trim)
        .filter(|name| !name.is_empty())
        .map(|name| {
            let span = Span::new(id, at(name), at(name) + size(name));
            Named { name: name.to_owned(), span, used: false }
        })
        .collect();
    if names.is_empty() {
        return Err("this comment does not name the rules to ignore");
    }
    Ok((in_file, names))
}

/// Returns the offset of `part`, a slice of `whole`.
fn offset_in(whole: &str, part: &str) -> u32 {
    let distance = part.as_ptr().addr().saturating_sub(whole.as_ptr().addr());
    u32::try_from(distance).unwrap_or(0)
}

fn misplaced(comment: Span) -> Diagnostic {
    Diagnostic::warning(INVALID, comment, "`ignore-file` must be at the top of the file")
        .note("this comment suppresses nothing")
        .help("move it above the first line that is not a comment")
}

/// Returns the names that exist and reports the others.
fn known(names: Vec<Named>, problems: &mut Vec<Diagnostic>) -> Vec<Named> {
    let mut all: Vec<&str> =
        crate::rule_names().flat_map(|(rule, group)| [rule, group.name()]).collect();
    all.sort_unstable();
    let (known, unknown): (Vec<_>, Vec<_>) =
        names.into_iter().partition(|named| all.contains(&named.name.as_str()));
    for Named { name, span, .. } in unknown {
        let finding =
            Diagnostic::warning(INVALID, span, format!("there is no rule or group `{name}`"));
        problems.push(suggest(finding, &name, all.iter().copied(), || {
            "`agentir rules` lists them all".to_owned()
        }));
    }
    known
}

/// Reports the names that suppress nothing.
fn unused(
    one: &Suppression,
    text: &str,
    has_run: &dyn Fn(&str) -> bool,
    diagnostics: &mut Vec<Diagnostic>,
) {
    let unused_names: Vec<&Named> =
        one.names.iter().filter(|n| !n.used && has_run(&n.name)).collect();
    let place = match one.scope {
        Scope::Line(_) => "here",
        Scope::File => "in this file",
    };
    let message =
        |name: &str| format!("`{name}` reports nothing {place}, so this suppression is unused");
    let fix = |title: &str, span: Span| Fix {
        title: title.to_owned(),
        edits: vec![Edit { span, text: String::new() }],
        applicability: Applicability::Safe,
    };
    let note = "it would hide the next finding of this kind";
    if let ([first, others @ ..], true) =
        (unused_names.as_slice(), unused_names.len() == one.names.len())
    {
        let names = others
            .iter()
            .fold(format!("`{}`", first.name), |all, n| format!("{all}, `{}`", n.name));
        let message = match others {
            [] => message(&first.name),
            _ => format!("{names} report nothing {place}, so this suppression is unused"),
        };
        diagnostics.push(
            Diagnostic::warning(UNUSED, one.comment, message)
                .note(note)
                .help("delete the comment")
                .fix(fix("delete the comment", one.whole)),
        );
        return;
    }
    for named in unused_names {
        let mut span = named.span;
        // Delete the comma after the name, or else the one before it.
        let rest_of_text = text.get(span.end as usize..).unwrap_or_default();
        let rest = rest_of_text.trim_start();
        if let Some(rest) = rest.strip_prefix(',') {
            span.end += size(rest_of_text) - size(rest.trim_start());
        } else {
            let before = text.get(..span.start as usize).unwrap_or_default();
            span.start = size(before.trim_end().trim_end_matches(','));
        }
        diagnostics.push(
            Diagnostic::warning(UNUSED, named.span, message(&named.name))
                .note(note)
                .help("remove it from the list")
                .fix(fix("remove it from the list", span)),
        );
    }
}
