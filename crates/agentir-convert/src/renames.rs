//! The names that things have in the output.

use agentir_diagnostics::Span;
use agentir_syntax::emit::Renamed;
use rustc_hash::FxHashMap;
use serde_json::Value;

pub(crate) fn in_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The name in a jump to a step. The word only tells that the name is no keyword.
fn without_step(jump: &str) -> &str {
    jump.strip_prefix("STEP ").unwrap_or(jump)
}

/// Renamed names, by old name.
pub(crate) struct Renames<'r> {
    words: FxHashMap<&'r str, &'r str>,
    /// Names that are no words, which may contain others, the longest first, by what stands before their first delimiter.
    others: FxHashMap<&'r str, Vec<(&'r str, &'r str)>>,
}

/// What delimits the names in a path.
const DELIMITERS: [char; 3] = ['.', '[', ']'];

/// A text up to its first delimiter.
fn first_segment(text: &str) -> &str {
    text.split(DELIMITERS).next().unwrap_or(text)
}

impl<'r> Renames<'r> {
    /// The renamings that hold in an agent.
    pub(crate) fn new(renamed: &'r [Renamed], agent: Option<&str>) -> Self {
        let is_word = |name: &str| !name.is_empty() && name.chars().all(in_word);
        let holds = |r: &&Renamed| r.agent.is_none() || r.agent.as_deref() == agent;
        let all = renamed.iter().filter(holds).map(|r| (r.from.as_str(), r.to.as_str()));
        let (words, mut others): (Vec<_>, Vec<_>) = all.partition(|(from, _)| is_word(from));
        others.sort_by_key(|(from, _)| std::cmp::Reverse(from.len()));
        let mut by_segment: FxHashMap<&str, Vec<(&str, &str)>> = FxHashMap::default();
        for other in others {
            by_segment.entry(first_segment(other.0)).or_default().push(other);
        }
        Self { words: words.into_iter().collect(), others: by_segment }
    }

    fn is_empty(&self) -> bool {
        self.words.is_empty() && self.others.is_empty()
    }

    /// Applies the renamings to a text; `None` if none applies.
    fn apply(&self, text: &str) -> Option<String> {
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        let mut changed = false;
        while !rest.is_empty() {
            let (word, tail) = rest.split_at(rest.find(|c| !in_word(c)).unwrap_or(rest.len()));
            let to = self.words.get(word);
            changed |= to.is_some();
            out.push_str(to.unwrap_or(&word));
            let (between, tail) = tail.split_at(tail.find(in_word).unwrap_or(tail.len()));
            out.push_str(between);
            rest = tail;
        }
        changed.then_some(out)
    }

    /// Applies the renamings to the names in a path, which stand between its delimiters.
    pub(crate) fn apply_to_path(&self, path: &str) -> Option<String> {
        if self.others.is_empty() {
            return self.apply(path);
        }
        let mut out = String::with_capacity(path.len());
        let mut rest = path;
        let mut changed = false;
        while !rest.is_empty() {
            let ends = |tail: &str| tail.is_empty() || tail.starts_with(DELIMITERS);
            let word = first_segment(rest);
            let others = self.others.get(word).map(Vec::as_slice).unwrap_or_default();
            let other = others.iter().find_map(|(from, to)| {
                let tail = rest.strip_prefix(from).filter(|tail| ends(tail))?;
                Some((*to, tail))
            });
            let (to, tail) = other.unwrap_or_else(|| {
                let tail = rest.get(word.len()..).unwrap_or_default();
                (self.words.get(word).copied().unwrap_or(word), tail)
            });
            changed |= !rest.starts_with(to) || other.is_some();
            out.push_str(to);
            let next = tail.chars().next().map_or(0, char::len_utf8);
            let (between, tail) = tail.split_at(next);
            out.push_str(between);
            rest = tail;
        }
        changed.then_some(out)
    }

    /// The new name, if a text is a renamed name, or a jump to a step called so.
    pub(crate) fn of_name(&self, text: &str) -> Option<&'r str> {
        let text = without_step(text);
        let word = self.words.get(text).copied();
        let others = || Some(self.others.get(first_segment(text))?.iter());
        word.or_else(|| Some(others()?.find(|(from, _)| *from == text)?.1))
    }

    /// Whether a text is another one with the renamings applied: a name, a jump to it, or an expression.
    fn equal(&self, text: &str, other: &str) -> bool {
        let jump = || {
            let (verb, target) = text.split_once(' ')?;
            Some(format!("{verb} {}", self.of_name(target)?))
        };
        self.of_name(text).is_some_and(|to| to == without_step(other))
            || jump().is_some_and(|jump| jump == other)
            || self.apply(text).is_some_and(|to| to == other)
    }

    /// Where another tool of a name is in a program that gives it a name of its own.
    pub(crate) fn moved_tool(&self, path: &str) -> Option<String> {
        let (tool, rest) = path.strip_prefix("tools.")?.split_once('@')?;
        let end = rest.find('.')?;
        Some(format!("tools.{}{}", self.of_name(tool)?, rest.get(end..)?))
    }

    /// The output's value at `path`, or at that of a moved tool, if it equals `value` after renaming.
    pub(crate) fn renamed_value<'o>(
        &self,
        path: &str,
        moved: Option<&str>,
        value: &Value,
        values: &'o FxHashMap<String, (&Value, Option<Span>)>,
    ) -> Option<&'o (&'o Value, Option<Span>)> {
        if self.is_empty() {
            return None;
        }
        let renamed_path = self.apply_to_path(path);
        let moved = || values.get(moved?);
        let other = values.get(renamed_path.as_deref().unwrap_or(path)).or_else(moved)?;
        let same = other.0 == value
            || match (value, other.0) {
                (Value::String(value), Value::String(other)) => self.equal(value, other),
                _ => false,
            };
        same.then_some(other)
    }
}

/// The renamings of the agent that a path leads into, if it has its own.
pub(crate) fn renames_at<'a>(
    own: &'a FxHashMap<&str, Renames<'a>>,
    path: &str,
) -> Option<&'a Renames<'a>> {
    let of_tool = path.strip_prefix("tools.").and_then(|path| path.split_once('@'));
    let rest = of_tool.map(|(_, rest)| rest).or_else(|| path.strip_prefix("agents."))?;
    // Names of agents may have dots.
    let mut starts = rest.match_indices('.').filter_map(|(end, _)| rest.get(..end));
    starts.find_map(|start| own.get(start))
}
