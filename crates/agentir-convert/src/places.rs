//! Where the output has what stands for a value of the source.

use crate::renames::{Renames, in_word};
use agentir_compare::{ENTRY, matches_pattern, segments};
use agentir_diagnostics::Span;
use rustc_hash::{FxHashMap, FxHashSet};
use serde_json::Value;
use std::collections::BTreeMap;

/// Operators and constants, which every language spells differently.
const OPERATORS: &[&str] = &[
    "is",
    "not",
    "and",
    "or",
    "in",
    "if",
    "else",
    "null",
    "none",
    "true",
    "false",
    "set",
    "undefined",
];

/// The words of a text in lower case, so that `TRUE` and `True` are equal.
fn words(text: &str) -> impl Iterator<Item = String> {
    text.split(|c: char| !c.is_alphanumeric())
        .map(str::to_lowercase)
        .filter(|w| !w.is_empty() && !OPERATORS.contains(&w.as_str()))
}

/// Fields whose values are keywords of the IR rather than the author's text.
const IR_KEYWORD_FIELDS: &[&str] = &["type", "kind", "decided_by", "prompt_mode", "require"];

/// What declarations begin with: it is there, or it is not.
const FIRST_VALUES: &[&str] = &["default", "default_value", "initial_value"];

/// Whether a value is what a declaration of a variable, a field or a parameter begins with.
fn is_first_value(path: &str) -> bool {
    let names = segments(path);
    names.last().is_some_and(|key| FIRST_VALUES.contains(key))
        && ["memory", "fields", "parameters"].iter().any(|part| names.contains(part))
}

/// What computes: an expression with other operators has another value.
const ARITHMETIC: &[&str] = &[" + ", " - ", " * ", " / "];

fn is_ir_keyword(path: &str, text: &str) -> bool {
    let field = path.rsplit('.').next().unwrap_or_default();
    text == ENTRY || IR_KEYWORD_FIELDS.contains(&field)
}

/// Finds the place in the output that corresponds to a value which is not there as it was.
///
/// A text corresponds to a value of the output that has all its words: `guests > 3` to `@variables.guests > 3`. A name also
/// corresponds to a declaration of that name. What a declaration begins with is only found in a declaration of its name, as
/// the same value. Only what may stem from the same agent is searched: the agent of that name, agents that only the output
/// has, and what belongs to no agent. Any other value corresponds to what is said instead of the element that it belongs
/// to.
pub(crate) struct OutputIndex<'o> {
    /// The values with their places, in source order.
    values: Vec<PlacedValue<'o>>,
    /// The values by their texts, in source order.
    by_text: FxHashMap<&'o str, Vec<usize>>,
    /// The values by the words of their texts, in source order.
    by_word: FxHashMap<String, Vec<usize>>,
    /// The values by the names in their paths, in source order.
    by_name: FxHashMap<&'o str, Vec<usize>>,
    /// The values by their paths.
    paths: BTreeMap<&'o str, usize>,
    /// What was found for a text of a part of the source: the words of elements repeat.
    found: FxHashMap<String, FxHashMap<String, Option<Span>>>,
}

/// A value of the output.
struct PlacedValue<'o> {
    path: &'o str,
    value: &'o Value,
    text: Option<&'o str>,
    at: Span,
    /// The agent that it is in, if the source has this agent, too: it stems from no other.
    agent: Option<&'o str>,
}

impl PlacedValue<'_> {
    /// Whether it may stem from a part of the source.
    fn may_stem_from(&self, source: &str) -> bool {
        self.agent.is_none_or(|agent| agent == source) || !source.starts_with("agents.")
    }
}

/// The agent or other part of a program that a path leads into.
pub(crate) fn part(path: &str) -> &str {
    let end = path.match_indices(['.', '[']).nth(1).map_or(path.len(), |(at, _)| at);
    path.get(..end).unwrap_or(path)
}

impl<'o> OutputIndex<'o> {
    /// How many values that have the words of a text are searched for the text itself.
    const MAX_SEARCHED: usize = 256;

    /// The values of the output, and the parts that the source has, too.
    pub(crate) fn new(
        values: &'o FxHashMap<String, (&Value, Option<Span>)>,
        shared: &FxHashSet<String>,
    ) -> Self {
        let placed = values.iter().filter_map(|(path, (value, at))| {
            let own = part(path);
            let agent = (own.starts_with("agents.") && shared.contains(own)).then_some(own);
            Some(PlacedValue { path, value, text: value.as_str(), at: (*at)?, agent })
        });
        let mut values: Vec<_> = placed.collect();
        values.sort_unstable_by_key(|value| (value.at, value.path));
        let mut by_text: FxHashMap<&str, Vec<usize>> = FxHashMap::default();
        let mut by_word: FxHashMap<String, Vec<usize>> = FxHashMap::default();
        let mut by_name: FxHashMap<&str, Vec<usize>> = FxHashMap::default();
        for (index, value) in values.iter().enumerate() {
            if let Some(text) = value.text {
                by_text.entry(text).or_default().push(index);
            }
            let different: FxHashSet<String> = words(value.text.unwrap_or_default()).collect();
            for word in different {
                by_word.entry(word).or_default().push(index);
            }
            let names: FxHashSet<&str> = segments(value.path).into_iter().collect();
            for name in names {
                by_name.entry(name).or_default().push(index);
            }
        }
        let paths = values.iter().enumerate().map(|(at, value)| (value.path, at)).collect();
        Self { values, by_text, by_word, by_name, paths, found: FxHashMap::default() }
    }

    /// The place of a value that has all words of a text.
    fn of_text(&mut self, source: &str, text: &str) -> Option<Span> {
        if let Some(found) = self.found.get(source).and_then(|found| found.get(text)) {
            return *found;
        }
        let place = self.search(source, text, &[]);
        self.found.entry(source.to_owned()).or_default().insert(text.to_owned(), place);
        place
    }

    /// The same at one of the paths that patterns describe.
    fn of_text_within(&mut self, source: &str, text: &str, within: &[&str]) -> Option<Span> {
        if within.is_empty() {
            self.of_text(source, text)
        } else {
            self.search(source, text, within)
        }
    }

    /// What is equal to a text, else a declaration of that name, else what has the text, else what has its words.
    fn search(&self, source: &str, text: &str, within: &[&str]) -> Option<Span> {
        let within: Vec<Vec<&str>> = within.iter().map(|path| path.split('.').collect()).collect();
        let is_within = |value: &PlacedValue<'_>| {
            within.is_empty() || {
                let names = segments(value.path);
                within.iter().any(|pattern| matches_pattern(pattern, &names))
            }
        };
        let may = |value: &&PlacedValue<'_>| value.may_stem_from(source) && is_within(value);
        let get = |index: &usize| self.values.get(*index).filter(may);
        for all in [self.by_text.get(text), self.by_name.get(text)].into_iter().flatten() {
            if let Some(equal) = all.iter().find_map(get) {
                return Some(equal.at);
            }
        }
        let wanted: FxHashSet<String> = words(text).collect();
        let mut lists = Vec::with_capacity(wanted.len());
        for word in &wanted {
            lists.push(self.by_word.get(word)?);
        }
        lists.sort_unstable_by_key(|list| list.len());
        let (fewest, others) = lists.split_first()?;
        let has_all = |index: &&usize| others.iter().all(|list| list.binary_search(index).is_ok());
        let computes = |value: &&PlacedValue<'_>| {
            let own = value.text.unwrap_or_default();
            ARITHMETIC.iter().all(|op| own.contains(op) || !text.contains(op))
        };
        let all = || fewest.iter().filter(has_all).filter_map(get).filter(computes);
        let has = |value: &&PlacedValue<'_>| value.text.is_some_and(|own| own.contains(text));
        all().take(Self::MAX_SEARCHED).find(has).or_else(|| all().next()).map(|value| value.at)
    }

    /// The place of a constant that something is set to.
    fn of_constant(&self, source: &str, text: &str) -> Option<Span> {
        let same = |value: &&PlacedValue<'_>| {
            value.path.ends_with(".expression")
                && value.text.is_some_and(|own| own.eq_ignore_ascii_case(text))
                && value.may_stem_from(source)
        };
        self.values.iter().find(same).map(|value| value.at)
    }

    /// The place of a value that a declaration of the output begins with.
    fn of_first_value(
        &self,
        path: &str,
        value: &Value,
        source: &str,
        renames: &Renames<'_>,
    ) -> Option<Span> {
        let names = segments(path);
        let name = names.len().checked_sub(2).and_then(|at| names.get(at)).copied()?;
        let names: Vec<&str> = std::iter::once(name).chain(renames.of_name(name)).collect();
        let plain = match value {
            Value::String(text) => Value::from(text.as_str()).to_string(),
            value => value.to_string(),
        };
        let same = |other: &&PlacedValue<'_>| {
            other.may_stem_from(source)
                && (other.value == value
                    || other.text.is_some_and(|text| text.eq_ignore_ascii_case(&plain)))
        };
        let get = |index: &usize| self.values.get(*index);
        let declared = names.iter().filter_map(|name| self.by_name.get(name)).flatten();
        // Statements in a list say their variable beside the value.
        let set = names.iter().filter_map(|name| self.by_text.get(name)).flatten().filter_map(get);
        let set = set.filter_map(|one| {
            let value = format!("{}.expression", one.path.strip_suffix(".variable")?);
            self.paths.get(value.as_str()).and_then(get)
        });
        if let Some(found) = declared.filter_map(get).chain(set).find(same) {
            return Some(found.at);
        }
        // Or a line of a text says both.
        let said = value.as_str().unwrap_or(&plain);
        let in_line = |line: &str| {
            let parts = || line.split(|c: char| !in_word(c));
            let has = |wanted: &str| parts().any(|part| part == wanted);
            names.iter().any(|name| has(name)) && said.split(|c: char| !in_word(c)).all(has)
        };
        let all = words(said).next().and_then(|word| self.by_word.get(&word)).into_iter().flatten();
        let mut all = all.filter_map(get).filter(|other| other.may_stem_from(source));
        let found = all.find(|other| other.text.is_some_and(|text| text.lines().any(in_line)));
        found.map(|other| other.at)
    }

    /// The place of what stands for the element that a value belongs to: what has its path, or its name.
    pub(crate) fn of_element(&mut self, path: &str, source: &str) -> Option<Span> {
        let ends = path.match_indices(['.', '[']).map(|(at, _)| at);
        // The start of the agent is too unspecific.
        let ends: Vec<usize> = ends.skip(2).collect();
        let around = |end: usize| {
            let around = path.get(..=end)?;
            let (found, at) = self.paths.range(around..).next()?;
            let value = self.values.get(*at).filter(|_| found.starts_with(around))?;
            Some(value.at)
        };
        if let Some(place) = ends.iter().rev().find_map(|end| around(*end)) {
            return Some(place);
        }
        ends.iter().rev().find_map(|end| {
            let name = path.get(..*end)?.rsplit(['.', '[']).next()?.trim_end_matches(']');
            // The place of an item in a list is no name.
            let is_name = !name.chars().all(|c| c.is_ascii_digit());
            is_name.then(|| self.of_text(source, name)).flatten()
        })
    }

    /// The place of what stands for a value, among the paths that the patterns `within` describe, if there are any.
    pub(crate) fn locate(
        &mut self,
        path: &str,
        value: &Value,
        renames: &Renames<'_>,
        within: &[&str],
    ) -> Option<Span> {
        let source = renames.apply_to_path(part(path));
        let source = source.as_deref().unwrap_or_else(|| part(path));
        if is_first_value(path) {
            return self.of_first_value(path, value, source, renames);
        }
        match value.as_str().filter(|text| !is_ir_keyword(path, text)) {
            // A constant is everywhere.
            Some(text) if words(text).next().is_none() => {
                if path.ends_with(".expression") {
                    self.of_constant(source, text)
                } else {
                    self.of_element(path, source)
                }
            }
            Some(text) => {
                let own = self.of_text_within(source, text, within);
                own.or_else(|| self.of_text_within(source, renames.of_name(text)?, within))
            }
            None => self.of_element(path, source),
        }
    }
}
