//! The values that nothing else compares: whatever a user of an agent could notice, and the comparison of behaviour does
//! not look at, must be equal before two programs are called the same.

use crate::location::AnnouncedLosses;
use crate::normalized::{Difference, differences};
use crate::{Side, Verdict};
use agentir_diagnostics::value_texts_mut;
use rustc_hash::FxHashSet;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

/// The comparison of the values that the comparisons of conditions and of behaviour do not look at.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct Values {
    /// Those that differ.
    pub different: Vec<ValueDifference>,
}

/// A value that differs, and what that means for the behaviour is not known.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ValueDifference {
    /// The path in the IR.
    pub path: String,
    /// The value of the first program.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub left: Option<Value>,
    /// The value of the second program.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub right: Option<Value>,
    /// Whether the report of the conversion lists it.
    pub announced: bool,
}

impl Values {
    /// Calls `change` with every text in it.
    pub(crate) fn texts_mut(&mut self, change: &mut dyn FnMut(&mut String)) {
        for one in &mut self.different {
            change(&mut one.path);
            let values = one.left.iter_mut().chain(&mut one.right);
            values.for_each(|value| value_texts_mut(value, change));
        }
    }

    /// A difference here is no proof that the programs differ: it is not known what follows from it.
    pub(crate) fn verdict(&self) -> Verdict {
        match self.different.as_slice() {
            [] => Verdict::Same,
            all if all.iter().all(|one| one.announced) => Verdict::SameButAnnounced,
            _ => Verdict::Undecided,
        }
    }

    pub(crate) fn add(&mut self, other: Self) {
        self.different.extend(other.different);
    }
}

/// Who looks at a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compared {
    /// The comparison of behaviour: an action, a condition, or where the conversation goes on.
    Behaviour,
    /// Nobody has to: no user of the agent can notice it.
    Unnoticed,
}

/// Which values are compared elsewhere, by their paths; `*` is one name or index, `**` any number. The first row that
/// fits holds. **A value without a row must be equal**, so that a new field of AgentIR is compared before anybody thinks
/// of it.
pub const COMPARED: &[(&str, Option<Compared>)] = &[
    // What the model is told in words is no condition that could be compared.
    ("agents.*.flow.definitions.**.natural", None),
    ("agents.*.flow.definitions.*.**", Some(Compared::Behaviour)),
    ("agents.*.flow.entry_point", Some(Compared::Behaviour)),
    ("agents.*.flow.steps.*", Some(Compared::Behaviour)),
    ("agents.*.flow.steps", Some(Compared::Behaviour)),
    ("agents.*.on_start.**", Some(Compared::Behaviour)),
    ("agents.*.hooks.**", Some(Compared::Behaviour)),
];

/// Who looks at the value at a path; nobody but this comparison if there is no row.
#[must_use]
pub fn compared(path: &str) -> Option<Compared> {
    let path = segments(path);
    let fits = |pattern: &str| matches_pattern(&segments(pattern), &path);
    COMPARED.iter().find(|(pattern, _)| fits(pattern)).and_then(|(_, by)| *by)
}

/// The segments of a path or a pattern; list indices and item names are segments too.
#[must_use]
pub fn segments(path: &str) -> Vec<&str> {
    path.split(['.', '[']).map(|n| n.trim_end_matches(']')).collect()
}

/// Whether a path matches a pattern, in which `*` is one segment and `**` any number.
#[must_use]
pub fn matches_pattern(pattern: &[&str], path: &[&str]) -> bool {
    match (pattern.split_first(), path.split_first()) {
        (None, None) => true,
        (Some((&"**", rest)), _) => {
            (0..=path.len()).any(|n| path.get(n..).is_some_and(|path| matches_pattern(rest, path)))
        }
        (Some((&"*", rest)), Some((_, path))) => matches_pattern(rest, path),
        (Some((name, rest)), Some((here, path))) => name == here && matches_pattern(rest, path),
        _ => false,
    }
}

/// Compares the values of two programs that nothing else looks at. `proved` are the paths of conditions that hold in the
/// same states.
pub(crate) fn compare(
    left: Side<'_>,
    right: Side<'_>,
    announced: &AnnouncedLosses,
    proved: &FxHashSet<String>,
) -> Values {
    let open = |difference: &Difference| {
        compared(&difference.path).is_none() && !proved.contains(&difference.path)
    };
    let all = differences(left.normalized, right.normalized).into_iter().filter(open);
    let different = all.map(|Difference { path, left, right }| {
        let [left, right] = [left, right].map(|said| said.map(|(value, _)| value));
        let announced = announced.has_path(&path);
        ValueDifference { path, left, right, announced }
    });
    Values { different: different.collect() }
}

#[cfg(test)]
mod tests {
    use super::{matches_pattern, segments};

    #[test]
    fn patterns_fit_paths() {
        let fit = |pattern: &str, path: &str| {
            matches_pattern(&pattern.split('.').collect::<Vec<_>>(), &segments(path))
        };
        assert!(fit("gather.fields.*.required", "gather.fields[count].required"));
        assert!(fit("**.set.*.expression", "flow.definitions.a.on_input[0].set[x].expression"));
        assert!(fit("memory.**", "memory.session[a].type"));
        assert!(!fit("gather.fields.*", "gather.fields[count].required"));
    }
}
