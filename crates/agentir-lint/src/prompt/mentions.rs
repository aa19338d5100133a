//! The agents and tools that instructions name.

use super::text::{Prompt, Said, Sentence, guard, is_word};
use agentir_ir::Program;
use rustc_hash::FxHashMap;
use std::ops::Range;

/// How strongly instructions ask for something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Strength {
    /// Whatever happens.
    Must,
    /// If something holds, or the user agrees.
    May,
    /// If something holds that a tool has just looked up, so that it can change in between.
    Checked,
}

/// Instructions to hand over to an agent.
#[derive(Debug)]
pub(crate) struct Handoff<'a> {
    /// The agent, as it is called.
    pub(crate) to: &'a str,
    pub(crate) strength: Strength,
    /// Whether the same sentence ends the agent.
    pub(crate) exits: bool,
    /// The place of the step in the prompt.
    pub(crate) step: usize,
    pub(crate) sentence: Sentence<'a>,
    /// The name, with its marks.
    pub(crate) name: Range<usize>,
}

/// Instructions to call a tool.
#[derive(Debug)]
pub(crate) struct ToolMention<'a> {
    /// Its name.
    pub(crate) name: &'a str,
    /// Where in the prompt.
    pub(crate) range: Range<usize>,
    /// The place of the step in the prompt.
    pub(crate) step: usize,
    /// Whether it is marked as a tool: with the word beside it, or with parentheses.
    pub(crate) marked: bool,
}

/// The agents of a program, by their names as people say them.
#[derive(Debug)]
pub(crate) struct Names<'a> {
    agents: FxHashMap<String, &'a str>,
}

impl<'a> Names<'a> {
    pub(crate) fn new(program: &'a Program) -> Self {
        let mut agents = FxHashMap::default();
        for agent in &program.agents {
            let name = agent.metadata.name.value.as_str();
            let said = folded(name);
            if !said.is_empty() {
                agents.entry(said).or_insert(name);
            }
        }
        Self { agents }
    }
}

/// Verbs of handing over. `call` and `use` are for tools as well, so the name must be an agent's.
const VERBS: &[&str] = &[
    "enter", "transfer", "go", "switch", "run", "hand", "route", "redirect", "call", "invoke",
    "start", "move", "forward", "pass", "dispatch", "jump", "return", "proceed", "trigger",
    "launch", "delegate", "connect", "activate", "continue", "handoff", "escalate", "execute",
];

/// Ways to say that the agent is done.
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

/// How many words may stand between the verb and the name.
const REACH: usize = 8;

/// A word of a sentence.
struct Word<'a> {
    text: &'a str,
    range: Range<usize>,
}

fn words(text: &str) -> Vec<Word<'_>> {
    let mut words = Vec::new();
    let mut start = None;
    for (at, c) in text.char_indices().chain([(text.len(), ' ')]) {
        // The apostrophe of `don't`, not a closing quote.
        let apostrophe = c == '\''
            && start.is_some()
            && text.get(at + 1..).is_some_and(|rest| rest.starts_with(char::is_alphabetic));
        let inside = c.is_alphanumeric() || c == '_' || apostrophe;
        match (inside, start) {
            (true, None) => start = Some(at),
            (false, Some(from)) => {
                words.extend(text.get(from..at).map(|text| Word { text, range: from..at }));
                start = None;
            }
            _ => {}
        }
    }
    words
}

/// A name as people say it: `add_payee`, `AddPayee` and `add payee` are one.
fn folded(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// The handoffs that a prompt asks for.
pub(crate) fn handoffs<'a>(prompt: &Prompt<'a>, names: &Names<'a>) -> Vec<Handoff<'a>> {
    let mut all = Vec::new();
    // Whether a tool was called in the step before, or in this one so far.
    let mut looked_up = false;
    for (at, step) in prompt.steps.iter().enumerate() {
        let mut here = false;
        for sentence in &step.sentences {
            for (to, name) in mentions(sentence, prompt, names) {
                let before = sentence.text.get(..name.start).unwrap_or_default();
                let condition = guard(before);
                let strength = match condition {
                    // The state that decides whether it is said can change in between.
                    _ if prompt.said == Said::Conditionally => Strength::Checked,
                    None if !step.guarded && prompt.said == Said::Always => Strength::Must,
                    _ if (looked_up || here) && !about_user(before) => Strength::Checked,
                    _ => Strength::May,
                };
                let base = sentence.range.start;
                all.push(Handoff {
                    to,
                    strength,
                    exits: ends_agent(sentence).is_some(),
                    step: at,
                    sentence: sentence.clone(),
                    name: base + name.start..base + name.end,
                });
            }
            here |= calls_tool(sentence);
        }
        looked_up = here;
    }
    all
}

/// Where a sentence says that the agent is done.
pub(crate) fn ends_agent(sentence: &Sentence<'_>) -> Option<Range<usize>> {
    let lower = sentence.text.to_ascii_lowercase();
    EXITS.iter().find_map(|words| lower.find(words).map(|at| at..at + words.len()))
}

/// Whether a condition is about what the user says or wants.
fn about_user(text: &str) -> bool {
    let lower = text.to_lowercase();
    ["user", "they", "customer", "so", "yes", "agree", "agrees", "wants", "confirmed", "caller"]
        .iter()
        .any(|word| lower.match_indices(word).any(|(at, w)| is_word(&lower, at..at + w.len())))
}

fn calls_tool(sentence: &Sentence<'_>) -> bool {
    !tool_words(sentence).is_empty()
}

/// The agents that a sentence names behind a verb of handing over, with the places of their names.
fn mentions<'a>(
    sentence: &Sentence<'a>,
    prompt: &Prompt<'a>,
    names: &Names<'a>,
) -> Vec<(&'a str, Range<usize>)> {
    let words = words(sentence.text);
    let mut found = Vec::new();
    let mut at = 0;
    while at < words.len() {
        let offered = || offer_at(sentence.text, &words, at, prompt);
        match name_at(sentence.text, &words, at, names).or_else(offered) {
            Some((agent, count, range)) => {
                if told_before(sentence.text, &words, at) {
                    found.push((agent, range));
                }
                at += count;
            }
            None => at += 1,
        }
    }
    found
}

/// The agent that an action leads to, where instructions name the action: `{!@actions.name}`.
fn offer_at<'a>(
    text: &str,
    words: &[Word<'_>],
    at: usize,
    prompt: &Prompt<'a>,
) -> Option<(&'a str, usize, Range<usize>)> {
    let word = words.get(at)?;
    let to = *prompt.offers.get(word.text)?;
    let before = text.get(..word.range.start)?;
    before.ends_with("@actions.").then(|| (to, 1, word.range.clone()))
}

/// The agent whose name begins at a word, if it is marked as a name: in quotes, with a capital or an
/// underscore inside, as a reference, with `agent` behind it, or written with the agent's own capital.
/// `transfer money` alone is what users do.
fn name_at<'a>(
    text: &str,
    words: &[Word<'_>],
    at: usize,
    names: &Names<'a>,
) -> Option<(&'a str, usize, Range<usize>)> {
    let mut joined = String::new();
    for count in 1..=5 {
        let word = words.get(at + count - 1)?;
        joined.push_str(&folded(word.text));
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
        // An action may have the name of an agent, and a variable as well.
        let reference = text.get(..range.start)?;
        if reference.ends_with("@actions.") || reference.ends_with("@variables.") {
            return None;
        }
        let referred = ["@subagent.", "@topic.", "@agent."].iter().any(|r| reference.ends_with(r));
        // `hand over to Billing`, where a capital is no matter of grammar.
        let proper = at > 0 && written == *agent && written.starts_with(char::is_uppercase);
        if quoted || like_code || titled || referred || proper {
            return Some((agent, count, range));
        }
    }
    None
}

/// Whether a verb of handing over stands in the clause before a word, and is not forbidden.
fn told_before(text: &str, words: &[Word<'_>], at: usize) -> bool {
    let Some(name) = words.get(at) else { return false };
    // Actions are used; nobody says so of an agent.
    let action = text.get(..name.range.start).is_some_and(|t| t.ends_with("@actions."));
    for back in 1..=REACH.min(at) {
        let index = at - back;
        let Some(word) = words.get(index) else { return false };
        // A new clause begins behind a semicolon or a full stop.
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

/// The tools that a prompt says to call: names with an underscore, in quotes or behind `call` and
/// the like.
pub(crate) fn tools<'a>(prompt: &Prompt<'a>) -> Vec<ToolMention<'a>> {
    let mut all = Vec::new();
    for (step, content) in prompt.steps.iter().enumerate() {
        for sentence in &content.sentences {
            let base = sentence.range.start;
            for ToolWord { name, range, marked } in tool_words(sentence) {
                let range = base + range.start..base + range.end;
                all.push(ToolMention { name, range, step, marked });
            }
        }
    }
    all
}

/// A tool that a sentence says to call.
struct ToolWord<'a> {
    name: &'a str,
    range: Range<usize>,
    marked: bool,
}

fn tool_words<'a>(sentence: &Sentence<'a>) -> Vec<ToolWord<'a>> {
    let words = words(sentence.text);
    let mut found = Vec::new();
    for (at, word) in words.iter().enumerate() {
        if !word.text.contains('_') || word.text.starts_with('_') {
            continue;
        }
        let near =
            |n: usize| at.checked_sub(n).and_then(|i| words.get(i)).map(|w| w.text.to_lowercase());
        let verb =
            |w: &str| matches!(w, "call" | "calls" | "calling" | "invoke" | "run" | "execute");
        let noun = |w: &str| {
            matches!(w, "function" | "functions" | "tool" | "tools" | "action" | "actions" | "api")
        };
        // `the function "f"`, `the "f" function`, `f(x)`; what is only used may be anything.
        let after = words.get(at + 1).is_some_and(|w| noun(&w.text.to_lowercase()));
        let titled = words.get(at + 1).is_some_and(|w| w.text.eq_ignore_ascii_case("agent"));
        let called = sentence.text.get(word.range.end..).is_some_and(|r| r.starts_with('('));
        let marked = after || called || (1..=3).filter_map(near).any(|w| noun(&w));
        // `call the "f"`
        let told = marked || (1..=3).filter_map(near).any(|w| verb(&w));
        if told && !titled {
            found.push(ToolWord { name: word.text, range: word.range.clone(), marked });
        }
    }
    found
}
