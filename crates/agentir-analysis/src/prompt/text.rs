//! Texts as numbered steps and sentences.

use std::ops::Range;

/// When the model sees a prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PromptUse {
    /// Whenever the agent runs.
    Always,
    /// In a step of its flow.
    InStep,
    /// Under a condition.
    Conditionally,
}

/// A numbered step, including the list below it.
#[derive(Debug)]
pub struct PromptStep<'a> {
    /// `4`, `4a`.
    pub number: Option<(&'a str, Range<usize>)>,
    /// Its sentences and list items.
    pub sentences: Vec<Sentence<'a>>,
    /// Whether it begins with a condition, which applies to the whole step.
    pub guarded: bool,
}

/// A sentence or a list item.
#[derive(Debug, Clone)]
pub struct Sentence<'a> {
    /// Its text.
    pub text: &'a str,
    /// Its range in the prompt.
    pub range: Range<usize>,
}

/// Words that introduce a condition; so does `in case`.
const GUARDS: &[&str] = &[
    "if",
    "when",
    "whenever",
    "unless",
    "after",
    "once",
    "upon",
    "otherwise",
    "else",
    "only",
    "should",
];

/// Returns the range of the first word that introduces a condition. Quoted text is speech, not an
/// instruction.
pub fn guard(text: &str) -> Option<Range<usize>> {
    let mut quoted = false;
    let mut start = None;
    // The start of an `in` that `case` may follow.
    let mut behind_in = None;
    for (at, c) in text.char_indices().chain([(text.len(), ' ')]) {
        let quote = matches!(c, '"' | '“' | '”');
        let inside = !quoted && (c.is_ascii_alphanumeric() || c == '_');
        match (inside, start) {
            (true, None) => start = Some(at),
            (false, Some(from)) => {
                start = None;
                let word = text.get(from..at).unwrap_or_default();
                if let Some(before) = behind_in.take()
                    && word.eq_ignore_ascii_case("case")
                    && text.get(before + 2..from) == Some(" ")
                {
                    return Some(before..at);
                }
                if (2..=9).contains(&word.len()) {
                    if GUARDS.iter().any(|guard| guard.eq_ignore_ascii_case(word)) {
                        return Some(from..at);
                    }
                    behind_in = word.eq_ignore_ascii_case("in").then_some(from);
                }
            }
            _ => {}
        }
        if quote {
            quoted = match c {
                '“' => true,
                '”' => false,
                _ => !quoted,
            };
        }
    }
    None
}

/// Whether a range begins and ends at word boundaries.
pub(super) fn is_word(text: &str, range: Range<usize>) -> bool {
    let inside = |c: char| c.is_alphanumeric() || c == '_';
    let before = text.get(..range.start).and_then(|t| t.chars().next_back());
    let after = text.get(range.end..).and_then(|t| t.chars().next());
    !before.is_some_and(inside) && !after.is_some_and(inside)
}

/// Splits a text into steps.
pub(super) fn steps(text: &str) -> Vec<PromptStep<'_>> {
    let mut steps = vec![PromptStep { number: None, sentences: Vec::new(), guarded: false }];
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let start = at;
        at += line.len();
        let (number, body) = number(text, start..at);
        if let Some(number) = number {
            steps.push(PromptStep { number: Some(number), sentences: Vec::new(), guarded: false });
        }
        let Some(step) = steps.last_mut() else { continue };
        // A line continues the sentence of the previous line, unless that sentence has ended or the
        // line is a list item.
        let content = text.get(body.clone()).unwrap_or_default();
        let item = content.trim_start().starts_with(['-', '•', '*', '—']);
        sentences(text, body, item, &mut step.sentences);
    }
    for step in &mut steps {
        step.guarded = step.sentences.first().is_some_and(|s| {
            // Longer than any word that introduces a condition.
            let begin = s.text.get(..s.text.floor_char_boundary(16)).unwrap_or(s.text);
            guard(begin).is_some_and(|guard| guard.start == 0)
        });
    }
    steps.retain(|s| s.number.is_some() || !s.sentences.is_empty());
    steps
}

/// Returns the number at the beginning of a line, and the rest of the line.
fn number(text: &str, line: Range<usize>) -> (Option<(&str, Range<usize>)>, Range<usize>) {
    let content = text.get(line.clone()).unwrap_or_default();
    let lead = content.len() - content.trim_start().len();
    let rest = content.trim_start();
    let rest = rest.strip_prefix("Step ").or_else(|| rest.strip_prefix("step ")).unwrap_or(rest);
    let skipped = content.len() - lead - rest.len();
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let letters = rest.bytes().skip(digits).take_while(u8::is_ascii_lowercase).count();
    let length = digits + letters;
    let dot = rest.get(length..).is_some_and(|r| {
        let mut after = r.chars();
        matches!(after.next(), Some('.' | ')' | ':'))
            && after.next().is_none_or(char::is_whitespace)
    });
    if digits == 0 || digits > 3 || letters > 1 || !dot {
        return (None, line);
    }
    let start = line.start + lead + skipped;
    let number = start..start + length;
    (text.get(number.clone()).map(|n| (n, number)), start + length + 1..line.end)
}

/// Returns the step numbers that a text mentions: `proceed to step 7`.
pub fn steps_named(text: &str) -> Vec<(&str, Range<usize>)> {
    let lower = text.to_ascii_lowercase();
    let mut found = Vec::new();
    for (at, word) in lower.match_indices("step ") {
        let start = at + word.len();
        let rest = lower.get(start..).unwrap_or_default();
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let letter = rest.bytes().skip(digits).take_while(u8::is_ascii_lowercase).count();
        if digits == 0 || digits > 3 || letter > 1 {
            continue;
        }
        let range = start..start + digits + letter;
        found.extend(text.get(range.clone()).map(|number| (number, range)));
    }
    found
}

/// Splits a line into sentences. It may continue the last sentence of the previous line.
fn sentences<'a>(text: &'a str, line: Range<usize>, item: bool, all: &mut Vec<Sentence<'a>>) {
    let mut start = line.start;
    let mut goes_on = !item
        && all
            .last()
            .is_some_and(|last| !last.text.trim_end().ends_with(['.', '!', '?', ':', '"', '”']));
    let content = text.get(line.clone()).unwrap_or_default();
    let marks = content.bytes().enumerate().filter(|(_, b)| matches!(b, b'.' | b'!' | b'?'));
    let ends = marks.filter_map(|(i, _)| {
        let after = content.get(i + 1..)?.chars().next();
        after.is_none_or(char::is_whitespace).then_some(line.start + i + 1)
    });
    for end in ends.chain([line.end]) {
        let Some(part) = text.get(start..end).filter(|p| !p.trim().is_empty()) else { continue };
        let begin = start + (part.len() - part.trim_start().len());
        start = end;
        if std::mem::take(&mut goes_on)
            && let Some(last) = all.last_mut()
        {
            last.range.end = begin + part.trim().len();
            last.text = text.get(last.range.clone()).unwrap_or(last.text);
            continue;
        }
        let range = begin..begin + part.trim().len();
        all.push(Sentence { text: text.get(range.clone()).unwrap_or_default(), range });
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_steps_and_sentences() {
        let text = "Be kind.\n1. Ask for a name. Then ask\n   for a day.\n2a) If it rains:\n - say so.\n - go on\n10.5 is a number\n";
        let steps = steps(text);
        let found: Vec<(Option<&str>, Vec<&str>)> = steps
            .iter()
            .map(|s| (s.number.as_ref().map(|n| n.0), s.sentences.iter().map(|s| s.text).collect()))
            .collect();
        assert_eq!(
            found,
            [
                (None, vec!["Be kind."]),
                (Some("1"), vec!["Ask for a name.", "Then ask\n   for a day."]),
                (Some("2a"), vec!["If it rains:", "- say so.", "- go on\n10.5 is a number"]),
            ]
        );
        assert!(steps[2].guarded && !steps[1].guarded);
    }

    #[test]
    fn what_is_said_is_no_guard() {
        assert!(guard("say \"if you like\" and go on").is_none());
        assert!(guard("verify it").is_none());
        assert!(guard("tell them when it rains").is_some());
    }
}
