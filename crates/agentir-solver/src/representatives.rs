//! Representative strings.

use regex_syntax::hir::{Class, Hir, HirKind};
use smol_str::{SmolStr, format_smolstr};

/// Strings for values that differ from all constants, most natural first.
const WORDS: [&str; 3] = ["other", "something else", "anything"];

/// The number of content tests that are combined with each other.
const COMBINED: usize = 8;

/// Returns a string that neither contains nor is contained in any of `texts`.
pub(crate) fn fresh(texts: &[SmolStr]) -> SmolStr {
    let apart = |word: &str| {
        !texts.iter().any(|t| !t.is_empty() && (word.contains(t.as_str()) || t.contains(word)))
    };
    WORDS
        .into_iter()
        .find(|w| apart(w))
        .map(SmolStr::new_static)
        .or_else(|| (0..1000).map(|n| format_smolstr!("other {n}")).find(|w| apart(w)))
        .unwrap_or_else(|| {
            // Longer than any of them.
            let length = texts.iter().map(|t| t.chars().count()).max().unwrap_or_default();
            SmolStr::from("x".repeat(length.saturating_add(1)))
        })
}

/// Returns strings that may pass content tests: each constant, a match of each pattern, and
/// concatenations of pairs.
pub(crate) fn combined(texts: &[SmolStr], patterns: &[SmolStr]) -> Vec<SmolStr> {
    let matching = texts.iter().chain(patterns).filter_map(|p| matching(p));
    let short = texts.iter().filter(|t| t.len() <= 200).cloned();
    let mut parts: Vec<SmolStr> = short.chain(matching).take(COMBINED).collect();
    parts.dedup();
    let mut all = parts.clone();
    for a in &parts {
        for b in parts.iter().filter(|b| *b != a) {
            all.push(format_smolstr!("{a}{b}"));
            all.push(format_smolstr!("{a} {b}"));
        }
        all.push(format_smolstr!("{a} other"));
        all.push(format_smolstr!("other {a}"));
        all.push(format_smolstr!("other {a} other"));
    }
    all.push(parts.join(" ").into());
    all
}

/// Returns a short string that matches a pattern, if the pattern is simple.
pub(crate) fn matching(pattern: &str) -> Option<SmolStr> {
    // Plain strings match themselves.
    if pattern.len() > 500 {
        return None;
    }
    let hir = regex_syntax::parse(&agentir_eval::portable(pattern)).ok()?;
    let mut made = String::new();
    write(&hir, &mut made)?;
    Some(made.into())
}

/// Recursive; `regex_syntax` rejects patterns that are nested deeper than 250 levels.
fn write(hir: &Hir, made: &mut String) -> Option<()> {
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => {}
        HirKind::Literal(literal) => made.push_str(std::str::from_utf8(&literal.0).ok()?),
        HirKind::Class(Class::Unicode(class)) => {
            let has = |c: &char| class.iter().any(|r| r.start() <= *c && *c <= r.end());
            let usual = ['a', '1', 'A', ' ', 'x'];
            let first = || class.iter().next().map(|r| r.start());
            made.push(usual.into_iter().find(has).or_else(first)?);
        }
        HirKind::Class(Class::Bytes(_)) => return None,
        HirKind::Repetition(repetition) => {
            // Matches of `+` and `*` are more readable if they are not empty.
            let count =
                repetition.min.max(u32::from(repetition.max != Some(0) && repetition.min > 0));
            if count > 100 || made.len() > 1000 {
                return None;
            }
            for _ in 0..count {
                write(&repetition.sub, made)?;
            }
        }
        HirKind::Capture(capture) => write(&capture.sub, made)?,
        HirKind::Concat(parts) => {
            for part in parts {
                write(part, made)?;
            }
        }
        HirKind::Alternation(parts) => write(parts.first()?, made)?,
    }
    (made.len() <= 1000).then_some(())
}

/// Returns a string in each gap of the sorted `texts`, if there is one.
pub(crate) fn between(texts: &[SmolStr]) -> Vec<SmolStr> {
    let mut sorted: Vec<&str> = texts.iter().map(SmolStr::as_str).chain([""]).collect();
    sorted.sort_unstable();
    sorted.dedup();
    let mut all = Vec::new();
    for (i, low) in sorted.iter().enumerate() {
        let high = sorted.get(i + 1);
        // The successors of `low` are the strings that it is a prefix of.
        let found = ["a", " ", "\u{0}"]
            .iter()
            .map(|end| format_smolstr!("{low}{end}"))
            .find(|t| high.is_none_or(|h| t.as_str() < *h));
        all.extend(found);
    }
    all
}

/// Returns a string of this length that is none of `texts`.
pub(crate) fn of_length(texts: &[SmolStr], length: usize) -> Option<SmolStr> {
    if length == 0 {
        return Some(SmolStr::default());
    }
    ('a'..='z')
        .chain('\u{4e00}'..='\u{9000}')
        .map(|c| SmolStr::from(c.to_string().repeat(length)))
        .find(|t| !texts.contains(t))
}
