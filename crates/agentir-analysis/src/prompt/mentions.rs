//! Mentions of agents and tools in instructions.

use super::text::{PromptStep, PromptUse, Sentence, guard, is_word};
use agentir_ir::Program;
use rustc_hash::FxHashMap;
use std::ops::Range;

/// How strongly an instruction asks for something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Strength {
    /// Unconditionally.
    Must,
    /// Under a condition, or if the user agrees.
    May,
    /// Under a condition on data that a tool has just looked up, so that it may change.
    Checked,
}

/// An instruction to hand over to an agent.
#[derive(Debug)]
pub struct Handoff<'a> {
    /// The name of the agent.
    pub to: &'a str,
    /// How strongly the instruction asks for it.
    pub strength: Strength,
    /// Whether the same sentence ends the agent.
    pub exits: bool,
    /// The index of the step in the prompt.
    pub step: usize,
    /// The sentence that asks for it.
    pub sentence: Sentence<'a>,
    /// The range of the name, marks included.
    pub name: Range<usize>,
}

/// An instruction to call a tool.
#[derive(Debug)]
pub struct ToolMention<'a> {
    /// The name of the tool.
    pub name: &'a str,
    /// Its range in the prompt.
    pub range: Range<usize>,
    /// The index of the step in the prompt.
    pub step: usize,
    /// Whether it is marked as a tool: by a word next to it, or by parentheses.
    pub marked: bool,
}

/// An instruction to hand over to an agent that there is not, under a name that is nearly that of another one.
#[derive(Debug)]
pub struct MisspelledAgent<'a> {
    /// The agent that is meant.
    pub meant: &'a str,
    /// The range of the name in the prompt.
    pub range: Range<usize>,
}

/// The agents and tools that a prompt mentions.
#[derive(Debug, Default)]
pub struct Mentions<'a> {
    /// The handoffs.
    pub handoffs: Vec<Handoff<'a>>,
    /// The handoffs to agents that there are not.
    pub misspelled: Vec<MisspelledAgent<'a>>,
    /// The tools to call: names with an underscore, in quotes or after `call` and similar verbs.
    pub tools: Vec<ToolMention<'a>>,
}

/// The agents of a program by their normalized names.
#[derive(Debug, Default)]
pub struct AgentNames<'a> {
    agents: FxHashMap<String, &'a str>,
    /// A filter for the first two letters of the names, which skips nearly all words: indexed by
    /// the low bits of the first letter, with a bit for the low bits of the second one. It may have
    /// false positives.
    begin: [u32; 32],
    /// The length of the longest name.
    longest: usize,
}

impl<'a> AgentNames<'a> {
    pub fn new(program: &'a Program) -> Self {
        let mut names = Self::default();
        for agent in program.agents() {
            let name = agent.metadata.name.value.as_str();
            let mut folded = String::with_capacity(name.len());
            name.chars().for_each(|c| fold(c, &mut folded));
            if let Some(first) = folded.bytes().next() {
                if let Some(begin) = names.begin.get_mut(usize::from(first & 31)) {
                    // A single letter may be followed by anything.
                    *begin |=
                        folded.as_bytes().get(1).map_or(u32::MAX, |second| 1 << (second & 31));
                }
                names.longest = names.longest.max(folded.len());
                names.agents.entry(folded).or_insert(name);
            }
        }
        names
    }

    /// Whether a name may begin with this word.
    fn may_begin(&self, word: &str) -> bool {
        let mut letters = word.bytes().filter(|b| b.is_ascii_alphanumeric() || !b.is_ascii());
        letters.next().is_some_and(|first| self.may_begin_with(first, letters.next()))
    }

    /// Whether a name may begin with these two letters, or bytes of letters.
    fn may_begin_with(&self, first: u8, second: Option<u8>) -> bool {
        if !first.is_ascii() {
            return true;
        }
        // The low bits do not depend on case.
        let begin = self.begin.get(usize::from(first & 31)).copied().unwrap_or_default();
        match second.filter(u8::is_ascii) {
            Some(second) => begin & (1 << (second & 31)) != 0,
            None => begin != 0,
        }
    }

    /// Whether a word of a text may begin a name. Faster than testing each word, with slightly more
    /// false positives. For texts without `_`.
    fn may_be_in(&self, text: &str) -> bool {
        let bytes = text.as_bytes();
        let mut inside = false;
        bytes.iter().enumerate().any(|(at, byte)| {
            let was = std::mem::replace(&mut inside, byte.is_ascii_alphanumeric());
            if inside {
                return !was && {
                    let letter = |b: &u8| b.is_ascii_alphanumeric() || !b.is_ascii();
                    self.may_begin_with(*byte, bytes.get(at + 1).copied().filter(letter))
                };
            }
            // The first byte of a multi-byte character.
            *byte >= 0xC0
                && text
                    .get(at..)
                    .and_then(|rest| rest.chars().next())
                    .is_some_and(char::is_alphanumeric)
        })
    }
}

/// Verbs of handing over. `call` and `use` are for tools as well, so the name must be that of an
/// agent.
const VERBS: &[&str] = &[
    "enter", "transfer", "go", "switch", "run", "hand", "route", "redirect", "call", "invoke",
    "start", "move", "forward", "pass", "dispatch", "jump", "return", "proceed", "trigger",
    "launch", "delegate", "connect", "activate", "continue", "handoff", "escalate", "execute",
];

/// Verbs of calling a tool.
const CALLS: &[&str] = &["call", "calls", "calling", "invoke", "run", "execute"];

/// Nouns for tools.
const TOOLS: &[&str] = &["function", "functions", "tool", "tools", "action", "actions", "api"];

/// What relates two things, so that a noun before does not name what stands after.
const PREPOSITIONS: &[&str] = &[
    "after", "at", "before", "by", "for", "from", "in", "inside", "of", "on", "per", "to", "under",
    "with", "within",
];

/// Phrases that end the agent.
const EXITS: &[&str] = &[
    "exit this agent",
    "exit the agent",
    "exit the current agent",
    "terminate this agent",
    "terminate the agent",
    "leave this agent",
    "end this agent",
    "end the agent",
    "quit this agent",
    "complete this agent",
    "stop this agent",
    "and exit",
    "then exit",
];

/// The maximum number of words between the verb and the name.
const MAX_VERB_DISTANCE: usize = 8;

/// A word of a sentence.
struct Word<'a> {
    text: &'a str,
    range: Range<usize>,
}

/// The words of a text.
struct Words<'a> {
    text: &'a str,
    all: Vec<Word<'a>>,
}

impl<'a> Words<'a> {
    fn of(text: &'a str) -> Self {
        // On average a word has five letters and a space.
        let mut all = Vec::with_capacity(text.len() / 6 + 4);
        all.extend(words(text));
        Self { text, all }
    }

    fn get(&self, at: usize) -> Option<&Word<'a>> {
        self.all.get(at)
    }
}

/// Returns the words of a text in order.
fn words(text: &str) -> impl Iterator<Item = Word<'_>> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let mut start = None;
        while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
            let plain = |b: &u8| b.is_ascii_alphanumeric() || *b == b'_';
            let (inside, width) = match rest.bytes().take_while(plain).count() {
                0 => match rest.chars().next() {
                    // The apostrophe of `don't`, not a closing quote.
                    Some('\'') => {
                        let behind = rest.get(1..).unwrap_or_default();
                        (start.is_some() && behind.starts_with(char::is_alphabetic), 1)
                    }
                    Some(c) => (c.is_alphanumeric(), c.len_utf8()),
                    None => break,
                },
                run => (true, run),
            };
            let here = at;
            at += width;
            if inside {
                start.get_or_insert(here);
            } else if let Some(from) = start {
                return word(text, from..here);
            }
        }
        word(text, start?..text.len())
    })
}

fn word(text: &str, range: Range<usize>) -> Option<Word<'_>> {
    text.get(range.clone()).map(|text| Word { text, range })
}

/// Appends a character of a normalized name: `add_payee`, `AddPayee` and `add payee` are the same
/// name.
fn fold(c: char, to: &mut String) {
    if c.is_ascii() {
        if c.is_ascii_alphanumeric() {
            to.push(c.to_ascii_lowercase());
        }
    } else if c.is_alphanumeric() {
        to.extend(c.to_lowercase());
    }
}

impl<'a> Mentions<'a> {
    /// Collects the mentions in the steps of a prompt.
    pub(super) fn of(
        steps: &[PromptStep<'a>],
        prompt_use: PromptUse,
        offers: &FxHashMap<&'a str, &'a str>,
        names: &AgentNames<'a>,
    ) -> Self {
        let mut mentions = Self::default();
        // Whether a tool was called in the previous step, or in this one so far.
        let mut looked_up = false;
        for (at, step) in steps.iter().enumerate() {
            let mut here = false;
            for sentence in &step.sentences {
                // Names of tools and actions have an underscore or are marked; most sentences have
                // no name at all.
                let marked = sentence.text.bytes().any(|b| matches!(b, b'_' | b'@'));
                if !marked && !names.may_be_in(sentence.text) && !speaks_of_agents(sentence.text) {
                    continue;
                }
                let words = Words::of(sentence.text);
                let base = sentence.range.start;
                for (to, name) in agent_mentions(&words, offers, names) {
                    let before = sentence.text.get(..name.start).unwrap_or_default();
                    let condition = guard(before);
                    let strength = match condition {
                        // The condition of the instruction may change in between.
                        _ if prompt_use == PromptUse::Conditionally => Strength::Checked,
                        None if !step.guarded && prompt_use == PromptUse::Always => Strength::Must,
                        _ if (looked_up || here) && !about_user(before) => Strength::Checked,
                        _ => Strength::May,
                    };
                    mentions.handoffs.push(Handoff {
                        to,
                        strength,
                        exits: ends_agent(sentence).is_some(),
                        step: at,
                        sentence: sentence.clone(),
                        name: base + name.start..base + name.end,
                    });
                }
                let near = misspelled(&words, names);
                mentions.misspelled.extend(near.into_iter().map(|(meant, name)| MisspelledAgent {
                    meant,
                    range: base + name.start..base + name.end,
                }));
                let known = mentions.tools.len();
                tools(&words, |name, range, marked| {
                    let range = base + range.start..base + range.end;
                    mentions.tools.push(ToolMention { name, range, step: at, marked });
                });
                here |= mentions.tools.len() > known;
            }
            looked_up = here;
        }
        mentions
    }
}

/// Returns the range in which a sentence ends the agent.
pub fn ends_agent(sentence: &Sentence<'_>) -> Option<Range<usize>> {
    let lower = sentence.text.to_ascii_lowercase();
    // Each phrase has one of these words, and most sentences have none.
    if !(lower.contains("agent") || lower.contains("exit")) {
        return None;
    }
    EXITS.iter().find_map(|words| lower.find(words).map(|at| at..at + words.len()))
}

/// Whether a condition is about what the user says or wants.
fn about_user(text: &str) -> bool {
    let lower = text.to_lowercase();
    ["user", "they", "customer", "so", "yes", "agree", "agrees", "wants", "confirmed", "caller"]
        .iter()
        .any(|word| lower.match_indices(word).any(|(at, w)| is_word(&lower, at..at + w.len())))
}

/// Returns the agents that a sentence names after a verb of handing over, with the ranges of their
/// names.
fn agent_mentions<'a>(
    words: &Words<'_>,
    offers: &FxHashMap<&'a str, &'a str>,
    names: &AgentNames<'a>,
) -> Vec<(&'a str, Range<usize>)> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < words.all.len() {
        match name_at(words, at, names).or_else(|| offer_at(words, at, offers)) {
            Some((agent, count, range)) => {
                if follows_handoff_verb(words, at) {
                    found.push((agent, range));
                }
                at += count;
            }
            None => at += 1,
        }
    }
    found
}

/// The nouns that say that the word before them is the name of an agent.
const AGENTS: &[&str] = &["agent", "subagent"];

/// What agents are called that are not named.
const NO_NAMES: &[&str] = &[
    "another",
    "best",
    "current",
    "first",
    "following",
    "free",
    "human",
    "last",
    "live",
    "local",
    "main",
    "next",
    "other",
    "previous",
    "real",
    "right",
    "same",
    "second",
    "senior",
    "sub",
    "support",
    "this",
    "that",
    "third",
    "user",
    "voice",
];

/// Whether a text says of something that it is an agent.
fn speaks_of_agents(text: &str) -> bool {
    let starts = text.as_bytes().windows(5);
    starts.into_iter().any(|window| window.eq_ignore_ascii_case(b"agent"))
}

/// The names of agents that there are not and that are nearly those of others: one letter is wrong, missing, too many,
/// or in another place. The noun after it says that a word is a name, and a verb of handing over before it that it counts.
fn misspelled<'a>(words: &Words<'_>, names: &AgentNames<'a>) -> Vec<(&'a str, Range<usize>)> {
    let mut found = Vec::new();
    for (at, word) in words.all.iter().enumerate() {
        let noun = words.get(at + 1).is_some_and(|next| {
            AGENTS.iter().any(|noun| next.text.eq_ignore_ascii_case(noun))
                && words.text.get(word.range.end..next.range.start).is_some_and(|between| {
                    between.chars().all(|c| {
                        c.is_whitespace() || !(c.is_alphanumeric() || ".;:!?,".contains(c))
                    })
                })
        });
        if !noun {
            continue;
        }
        let mut folded = String::new();
        word.text.chars().for_each(|c| fold(c, &mut folded));
        let length = folded.chars().count();
        if length < 4
            || NO_NAMES.contains(&folded.as_str())
            || names.agents.contains_key(&folded)
            || !follows_handoff_verb(words, at)
        {
            continue;
        }
        // The name may have more words.
        let whole = (2..=4).take(at).any(|count| {
            let mut joined = String::new();
            let parts = words.all.get((at + 1).saturating_sub(count)..=at).unwrap_or_default();
            parts.iter().for_each(|part| part.text.chars().for_each(|c| fold(c, &mut joined)));
            names.agents.contains_key(&joined)
        });
        // One of many is one of that kind.
        let is_plural = |one: &str, other: &str| one.strip_suffix('s') == Some(other);
        let mut near = names.agents.iter().filter(|(known, _)| {
            known.chars().count().abs_diff(length) <= 1
                && !is_plural(known, &folded)
                && !is_plural(&folded, known)
                && differs_by_a_letter(&folded, known)
        });
        if let (false, Some((_, meant)), None) = (whole, near.next(), near.next()) {
            found.push((*meant, word.range.clone()));
        }
    }
    found
}

/// Whether one letter is wrong, missing, too many, or in another place.
fn differs_by_a_letter(one: &str, other: &str) -> bool {
    let (one, other): (Vec<char>, Vec<char>) = (one.chars().collect(), other.chars().collect());
    let same = one.iter().zip(&other).take_while(|(a, b)| a == b).count();
    let (a, b) = (one.get(same..).unwrap_or_default(), other.get(same..).unwrap_or_default());
    match (a, b) {
        ([], [_]) | ([_], []) => true,
        ([x, y, rest @ ..], [v, w, others @ ..]) if x == w && y == v && rest == others => true,
        ([_, rest @ ..], [_, others @ ..]) if rest == others => true,
        ([_, rest @ ..], all) if rest == all => true,
        (all, [_, rest @ ..]) if rest == all => true,
        _ => false,
    }
}

/// Returns the target agent of an action that the instructions name: `{!@actions.name}`.
fn offer_at<'a>(
    words: &Words<'_>,
    at: usize,
    offers: &FxHashMap<&'a str, &'a str>,
) -> Option<(&'a str, usize, Range<usize>)> {
    if offers.is_empty() {
        return None;
    }
    let word = words.get(at)?;
    let before = words.text.get(..word.range.start)?;
    if !before.ends_with("@actions.") {
        return None;
    }
    let to = *offers.get(word.text)?;
    Some((to, 1, word.range.clone()))
}

/// Returns the agent whose name begins at a word, if it is marked as a name: in quotes, with a
/// capital or an underscore inside, as a reference, followed by `agent`, or with the agent's own
/// capital letter. `transfer money` alone describes what users do.
fn name_at<'a>(
    words: &Words<'_>,
    at: usize,
    names: &AgentNames<'a>,
) -> Option<(&'a str, usize, Range<usize>)> {
    let text = words.text;
    if !names.may_begin(words.get(at)?.text) {
        return None;
    }
    let mut joined = String::with_capacity(names.longest);
    for count in 1..=5 {
        let word = words.get(at + count - 1)?;
        word.text.chars().for_each(|c| fold(c, &mut joined));
        if joined.len() > names.longest {
            return None;
        }
        let Some(agent) = names.agents.get(&joined) else { continue };
        let first = words.get(at)?;
        let range = first.range.start..word.range.end;
        let written = text.get(range.clone())?;
        let before = text.get(..range.start)?.chars().next_back();
        let after = text.get(range.end..)?.chars().next();
        let mark = |c: Option<char>| {
            c.is_some_and(|c| matches!(c, '"' | '\'' | '`' | '“' | '”' | '‘' | '’' | '*'))
        };
        let quoted = mark(before) && mark(after);
        let like_code = written.contains('_')
            || written
                .chars()
                .skip(1)
                .zip(written.chars())
                .any(|(b, a)| a.is_lowercase() && b.is_uppercase());
        let titled = words.get(at + count).is_some_and(|w| {
            matches!(w.text.to_lowercase().as_str(), "agent" | "agents" | "flow" | "subagent")
        });
        // An action or a variable may have the same name as an agent.
        let reference = text.get(..range.start)?;
        if reference.ends_with("@actions.") || reference.ends_with("@variables.") {
            return None;
        }
        let referred = ["@subagent.", "@topic.", "@agent."].iter().any(|r| reference.ends_with(r));
        // `hand over to Billing`, where grammar does not require a capital.
        let proper = at > 0 && written == *agent && written.starts_with(char::is_uppercase);
        if quoted || like_code || titled || referred || proper {
            return Some((agent, count, range));
        }
    }
    None
}

/// Whether a verb of handing over precedes a word in its clause, without a negation.
fn follows_handoff_verb(words: &Words<'_>, at: usize) -> bool {
    let text = words.text;
    let Some(name) = words.get(at) else { return false };
    // `use` refers to actions, never to agents.
    let action = text.get(..name.range.start).is_some_and(|t| t.ends_with("@actions."));
    for back in 1..=MAX_VERB_DISTANCE.min(at) {
        let index = at - back;
        let Some(word) = words.get(index) else { return false };
        // A semicolon or a full stop begins a new clause.
        let between = text.get(word.range.end..name.range.start).unwrap_or_default();
        let ends = |(at, c): (usize, char)| {
            let after = between.get(at + c.len_utf8()..).and_then(|rest| rest.chars().next());
            c == ';' || (matches!(c, '.' | '!' | '?') && after.is_some_and(char::is_whitespace))
        };
        if between.char_indices().any(ends) {
            return false;
        }
        let lower = word.text.to_lowercase();
        let stem = VERBS.iter().any(|v| {
            lower == *v
                || lower
                    .strip_suffix("ing")
                    .is_some_and(|l| *v == l || v.strip_suffix('e') == Some(l))
                || lower.strip_suffix('s') == Some(*v)
                || lower.strip_suffix("es") == Some(*v)
        });
        let used = action && matches!(lower.as_str(), "use" | "using" | "select");
        if !(stem || used) {
            continue;
        }
        let denied = (1..=3).filter_map(|n| words.get(index.checked_sub(n)?)).any(|w| {
            let w = w.text.to_lowercase();
            matches!(w.as_str(), "not" | "never" | "don't" | "cannot" | "without")
        });
        return !denied;
    }
    false
}

/// Calls `found` with each tool that a sentence says to call: its name, its range, and whether it
/// is marked.
fn tools<'a>(words: &Words<'a>, mut found: impl FnMut(&'a str, Range<usize>, bool)) {
    if !words.text.contains('_') {
        return;
    }
    // How far the text has been searched for placeholders, and whether one is open there.
    let (mut scanned, mut in_placeholder) = (0, false);
    for (at, word) in words.all.iter().enumerate() {
        if !word.text.bytes().skip(1).any(|b| b == b'_') || word.text.starts_with('_') {
            continue;
        }
        let near = |n: usize| at.checked_sub(n).and_then(|i| words.get(i)).map(|w| w.text);
        let among = |all: &[&str], word: &str| all.iter().any(|w| w.eq_ignore_ascii_case(word));
        let verb = |word: &str| among(CALLS, word);
        let noun = |word: &str| among(TOOLS, word);
        // `the function "f"`, `the "f" function`, `f(x)`; `use f` may refer to anything.
        // In `{!@variables.x}` and behind `{!@actions.f}` there are values, and before an arrow cases.
        let rest = words.text.get(word.range.end..).unwrap_or_default();
        let before = words.text.get(..word.range.start).unwrap_or_default();
        let passed = words.text.as_bytes().get(scanned..word.range.start).unwrap_or_default();
        for (i, byte) in passed.iter().enumerate() {
            match byte {
                b'{' if words.text.as_bytes().get(scanned + i + 1) == Some(&b'!') => {
                    in_placeholder = true;
                }
                b'}' => in_placeholder = false,
                _ => {}
            }
        }
        scanned = word.range.start;
        let is_case = {
            let rest = rest.trim_start_matches(['`', '"', '\'', '*']).trim_start();
            rest.starts_with('→') || rest.starts_with("->") || rest.starts_with("=>")
        };
        let is_value = before.trim_end().ends_with('}');
        if (in_placeholder && !before.ends_with("@actions.")) || is_case || is_value {
            continue;
        }
        let after = words.get(at + 1).is_some_and(|w| noun(w.text));
        let titled = words.get(at + 1).is_some_and(|w| w.text.eq_ignore_ascii_case("agent"));
        let called = words.text.get(word.range.end..).is_some_and(|r| r.starts_with('('));
        // In `actions inside x_y` the name is not that of an action.
        let related = |word: &str| among(PREPOSITIONS, word);
        let between = (1..=3).map_while(near).take_while(|word| !related(word));
        let marked = after || called || between.into_iter().any(noun);
        // In `call f x_y`, `x_y` is an argument: it follows a name without a comma.
        let argument = at.checked_sub(1).and_then(|i| words.get(i)).is_some_and(|before| {
            let between = words.text.get(before.range.end..word.range.start);
            before.text.contains('_') && between.is_some_and(|b| b.trim().is_empty())
        });
        let told = marked || (!argument && (1..=3).filter_map(near).any(verb));
        if told && !titled {
            found(word.text, word.range.clone(), marked);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use agentir_diagnostics::{Span, Spanned};
    use agentir_ir::{Agent, Metadata};
    use smol_str::SmolStr;

    #[test]
    fn no_text_with_a_name_is_passed_over() {
        let agents = ["Billing", "Élan", "x", "42nd street", "don't ask"].map(|name| {
            let name = Spanned::new(SmolStr::new(name), Span::default());
            let metadata = Metadata::new(name, agentir_expr::dialect::NONE, SmolStr::default());
            Agent::new(metadata, Span::default())
        });
        let program =
            Program { agents: agents.map(std::sync::Arc::new).into(), ..Program::default() };
        let names = AgentNames::new(&program);
        let parts = ["Bi", "b", "é", "É", "x", "4", "2", "do", "'", "“", "€", "K", "-", " ", "q"];
        for first in parts {
            for second in parts {
                for third in parts {
                    let text = [first, second, third].concat();
                    let begins = words(&text).any(|word| names.may_begin(word.text));
                    assert!(!begins || names.may_be_in(&text), "{text}");
                }
            }
        }
        assert!(!names.may_be_in("go on, and say so"));
    }
}
