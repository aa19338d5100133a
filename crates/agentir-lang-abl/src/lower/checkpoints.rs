//! Where constraints are checked (specification 3.8.2).
//!
//! `BEFORE calling tool` and `BEFORE returning results` are the points of the specification. It accepts other words with a
//! warning, and gives them no effect; here a mistake opens no guard: words that clearly mean a point are read as that,
//! and with any others the constraint holds in every turn and before every call ([`Checkpoint::Other`]). Behind several
//! `BEFORE`, which the specification does not have, each names a point.

use super::Context;
use super::fields::text_start;
use crate::inline::{CALLING, RETURNING, befores};
use agentir_diagnostics::{Applicability, Diagnostic, Span, Spanned, closest};
use agentir_ir::Checkpoint;
use agentir_syntax::rules;
use agentir_syntax::text::offset;
use rustc_hash::FxHashSet;
use smol_str::SmolStr;
use std::ops::Range;

/// What may follow verbs that mean an answer.
const ANSWERS: &[&str] =
    &["results", "result", "response", "responses", "answer", "answers", "the", "a", "to", "user"];
/// Words that may stand between the names of tools.
const FILLERS: &[&str] = &["and", "or", "the", "a", "any", "of", "tool", "tools", "function"];

/// A sentence of more words names no tools, and each tool makes a rule.
const MAX_WORDS: usize = 16;

/// A constraint with more `BEFORE` holds in every turn and before every call, as one whose words are not understood.
const MAX_POINTS: usize = 16;

/// The points that the words after `BEFORE` mean: several for a list of tools. Words that are not those of the
/// specification are reported. `keyword` says whether the span begins with `BEFORE`.
pub(super) fn checkpoints(
    cx: &mut Context<'_>,
    written: Spanned<SmolStr>,
    keyword: bool,
) -> Vec<Checkpoint> {
    let text = written.value.as_str();
    let ends = befores(text);
    if !ends.is_empty() {
        return several(cx, &written, keyword, &ends);
    }
    let meant = meant(text, &cx.tools);
    let canonical = |point: &Checkpoint| match point {
        Checkpoint::ToolCall { target } => format!("BEFORE calling {target}"),
        _ => "BEFORE returning results".to_owned(),
    };
    let shown = excerpt(text);
    let problem = |message| Diagnostic::warning(rules::UNKNOWN_CHECKPOINT, written.span, message);
    let points: Vec<Checkpoint> = match &meant {
        Meant::Tools(tools) => {
            let target = |(tool, at): &(SmolStr, Range<usize>)| {
                Spanned::new(tool.clone(), part(&written, keyword, at))
            };
            tools.iter().map(|tool| Checkpoint::ToolCall { target: target(tool) }).collect()
        }
        Meant::Answers => vec![Checkpoint::Response],
        Meant::Unknown => {
            let message = format!("`BEFORE {shown}` is not a checkpoint");
            cx.problems.push(
                problem(message)
                    .note("the constraint is checked in every turn and before every call; other platforms ignore it")
                    .help("write `BEFORE calling tool` with the name of a tool, `BEFORE returning results`, or no `BEFORE`"),
            );
            return vec![Checkpoint::Other { target: written }];
        }
    };
    let read: Vec<String> = points.iter().map(|point| format!("`{}`", canonical(point))).collect();
    let message = format!("`BEFORE {shown}` is read as {}", read.join(" and "));
    let problem = problem(message).note("other platforms ignore these words, and the constraint");
    cx.problems.push(match points.as_slice() {
        [point] => {
            let instead = canonical(point);
            let help = format!("write `{instead}`");
            let text = if keyword { &instead } else { instead.trim_start_matches("BEFORE ") };
            problem.help(help).replace(text, Applicability::Safe)
        }
        _ => problem.help("write a rule for each tool"),
    });
    points
}

/// The points that several `BEFORE` name, the second and later ones of which stand at `ends`.
fn several(
    cx: &mut Context<'_>,
    written: &Spanned<SmolStr>,
    keyword: bool,
    ends: &[usize],
) -> Vec<Checkpoint> {
    let text = written.value.as_str();
    let message = "a constraint has one `BEFORE`, and this one has several";
    cx.problems.push(
        Diagnostic::error(rules::UNKNOWN_CHECKPOINT, written.span, message)
            .note("the constraint is checked before each of them here; other platforms ignore it")
            .help("write a constraint for each of them"),
    );
    // Each of them makes a rule.
    if ends.len() >= MAX_POINTS {
        return vec![Checkpoint::Other { target: written.clone() }];
    }
    let starts = std::iter::once(0).chain(ends.iter().map(|at| at + "BEFORE".len()));
    let ends = ends.iter().copied().chain([text.len()]);
    let mut points: Vec<Checkpoint> = Vec::new();
    for (start, end) in starts.zip(ends) {
        let words = text.get(start..end).unwrap_or_default();
        let start = end - words.trim_start_matches(is_between).len();
        let words = without_conjunction(text.get(start..end).unwrap_or_default());
        let span = |at: Range<usize>| part(written, keyword, &at);
        let here = span(start..start + words.len());
        let found = match meant(words, &cx.tools) {
            Meant::Tools(tools) => tools
                .into_iter()
                .map(|(tool, at)| Checkpoint::ToolCall {
                    target: Spanned::new(tool, span(start + at.start..start + at.end)),
                })
                .collect(),
            Meant::Answers => vec![Checkpoint::Response],
            Meant::Unknown => {
                let target = match words {
                    "" => written.value.clone(),
                    words => SmolStr::new(words),
                };
                vec![Checkpoint::Other { target: Spanned::new(target, here) }]
            }
        };
        points.extend(found);
    }
    let mut known: Vec<Checkpoint> = Vec::new();
    for point in points {
        let is_same = |other: &Checkpoint| match (other, &point) {
            (Checkpoint::ToolCall { target: a }, Checkpoint::ToolCall { target: b }) => {
                a.value == b.value
            }
            (Checkpoint::Response, Checkpoint::Response) => true,
            _ => false,
        };
        if !known.iter().any(is_same) {
            known.push(point);
        }
    }
    known
}

/// Whether a character may stand between points.
fn is_between(c: char) -> bool {
    !c.is_alphanumeric() && c != '_'
}

/// The words of a point without what joins it to the next one.
fn without_conjunction(words: &str) -> &str {
    let mut words = words.trim_end_matches(is_between);
    while let Some((before, last)) = words.rsplit_once(char::is_whitespace)
        && ["and", "or", "then"].iter().any(|one| one.eq_ignore_ascii_case(last))
    {
        words = before.trim_end_matches(is_between);
    }
    words
}

/// The span of a part of the words; that of all of them where escapes have moved it.
fn part(written: &Spanned<SmolStr>, keyword: bool, at: &Range<usize>) -> Span {
    let Spanned { value, span } = written;
    let start = match keyword {
        true => span.end.checked_sub(offset(value.len())),
        false => text_start(value, *span),
    };
    let Some(start) = start else { return *span };
    Span::new(span.file, start + offset(at.start), start + offset(at.end))
}

/// What words mean.
enum Meant {
    /// Calls of these tools, with the place of each in the words.
    Tools(Vec<(SmolStr, Range<usize>)>),
    Answers,
    Unknown,
}

fn meant(text: &str, tools: &FxHashSet<SmolStr>) -> Meant {
    let in_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
    let words: Vec<&str> = text
        .split(|c: char| !in_name(c))
        .map(|word| word.trim_matches(['.', '-']))
        .filter(|word| !word.is_empty())
        .take(MAX_WORDS + 1)
        .collect();
    if words.len() > MAX_WORDS {
        return Meant::Unknown;
    }
    let is = |word: &str, all: &[&str]| all.iter().any(|one| one.eq_ignore_ascii_case(word));
    let Some((verb, rest)) = words.split_first() else { return Meant::Unknown };
    // Of several tools that differ in case, none is clear.
    let tool = |word: &str| {
        let mut similar = tools.iter().filter(|tool| tool.eq_ignore_ascii_case(word));
        tools.get(word).or_else(|| similar.next().filter(|_| similar.next().is_none()))
    };
    if is(verb, RETURNING) && tool(verb).is_none() && rest.iter().all(|word| is(word, ANSWERS)) {
        return Meant::Answers;
    }
    let names = |words: &[&str]| {
        let mut found: Vec<(SmolStr, Range<usize>)> = Vec::new();
        for word in words {
            match tool(word) {
                Some(tool) if found.iter().any(|(known, _)| known == tool) => {}
                Some(tool) => {
                    let start = word.as_ptr().addr().saturating_sub(text.as_ptr().addr());
                    found.push((tool.clone(), start..start + word.len()));
                }
                None if is(word, FILLERS) => {}
                // One name that is not a tool's may be that of the tool that matters.
                None => return Vec::new(),
            }
        }
        found
    };
    let calls = is(verb, CALLING) || closest(verb, CALLING.iter().copied()).is_some();
    let found = match tool(verb) {
        None if calls => names(rest),
        _ => names(&words),
    };
    if found.is_empty() { Meant::Unknown } else { Meant::Tools(found) }
}

/// The first line of a text, without its end if it is long.
fn excerpt(text: &str) -> String {
    const MAX_EXCERPT_CHARS: usize = 60;
    let line = text.lines().next().unwrap_or_default();
    match line.char_indices().nth(MAX_EXCERPT_CHARS) {
        Some((at, _)) => format!("{}…", line.get(..at).unwrap_or_default()),
        None => line.to_owned(),
    }
}
