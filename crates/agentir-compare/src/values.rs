//! The values that nothing else compares: whatever a user of an agent could notice, and the comparison of behaviour does
//! not look at, must be equal before two programs are called the same.

use crate::location::AnnouncedLosses;
use crate::normalized::{Difference, differences};
use crate::{Side, Verdict};
use agentir_diagnostics::value_texts_mut;
use agentir_ir::Program;
use rustc_hash::FxHashSet;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

/// The comparison of the values that the comparisons of conditions and of behaviour do not look at.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct Values {
    /// How many values of the first program are the same in the second.
    pub kept: usize,
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
    /// The values as the files have them, where those are texts that AgentIR writes otherwise.
    #[serde(skip)]
    pub(crate) written: [Option<String>; 2],
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
            one.written.iter_mut().flatten().for_each(&mut *change);
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
        self.kept += other.kept;
        self.different.extend(other.different);
    }
}

/// The bodies whose actions and conditions the comparison of behaviour looks at.
const BODIES: &[&[&str]] =
    &[&["agents", "*", "flow", "definitions", "*"], &["agents", "*", "on_start"]];

/// The keys in these bodies whose values are actions, conditions of actions, or where the conversation goes on, with
/// whatever is below them. Others may be looked at only in some places, or only where the model is not asked. They are
/// compared as values.
const ACTIONS: &[&str] = &[
    "action_id",
    "actions",
    "agent",
    "as",
    "backtrack_to",
    "bindings",
    "by_reference",
    "call",
    "call_spec",
    "check",
    "clear",
    "complete_when",
    "condition",
    "details",
    "expression",
    "filter",
    "gather",
    "handoff_target",
    "intent",
    "item_var",
    "jump",
    "keyword",
    "keywords",
    "limit",
    "log",
    "map",
    "max_attempts",
    "message_key",
    "on_exhausted",
    "on_fail",
    "otherwise",
    "present",
    "respond",
    "respond_template",
    "retry",
    "return",
    "rich_content",
    "set",
    "sort_by",
    "source",
    "subtypes",
    "success_when",
    "target",
    "template",
    "text",
    "then",
    "times",
    "tool",
    "transform",
    "type",
    "value",
    "variable",
    "variables",
    "voice_config",
    "when",
    "with",
];

/// Parts of these bodies of which the comparison of behaviour does not look at everything.
const IN_PART: &[&str] =
    &["await_attachment", "extensions", "human_approval", "natural", "reasoning_zone"];

/// What no user of an agent can notice, or what follows from other values, by path; `*` is one name or index.
const UNNOTICED: &[&[&str]] = &[
    // The name of a step. Where it leads and what leads there is compared by behaviour.
    &["agents", "*", "flow", "definitions", "*", "name"],
    // Which step is the first one decides where the agent begins, which is compared.
    &["agents", "*", "flow", "entry_point"],
    &["agents", "*", "flow", "steps"],
    &["agents", "*", "flow", "steps", "*"],
    // The agent with which a conversation begins is compared by behaviour.
    &["entry"],
    // The order of declarations, where the whole list is the path.
    &["agents", "*", "memory", "session"],
    &["agents", "*", "tools"],
    &["agents", "*", "use_tools"],
];

/// Whether the value at a path need not be equal, because the comparison of behaviour looks at it or nobody can notice
/// it. **Whatever no table has must be equal**, so that a new field of AgentIR is compared before anybody thinks of it.
pub(crate) fn is_compared(path: &str) -> bool {
    let whole = segments(path);
    if UNNOTICED.iter().any(|pattern| matches_pattern(pattern, &whole)) {
        return true;
    }
    // Names in brackets are those of items, and no keys.
    let keys: Vec<&str> = path.split('.').map(|key| key.split('[').next().unwrap_or(key)).collect();
    let body = BODIES.iter().find_map(|body| {
        let (start, rest) = keys.split_at_checked(body.len())?;
        matches_pattern(body, start).then_some(rest)
    });
    body.is_some_and(|keys| {
        let of = |table: &[&str]| keys.iter().any(|key| table.contains(key));
        of(ACTIONS) && !of(IN_PART)
    })
}

/// Whether a program has a name that looks like a path.
fn has_names_like_paths(program: &Program) -> bool {
    let odd = |name: &str| name.contains(['.', '[', ']']);
    program.agents().any(|agent| {
        odd(&agent.metadata.name.value)
            || agent.flow.iter().any(|flow| flow.definitions.keys().any(|step| odd(step)))
    })
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
    let unclear = [left, right].iter().any(|side| has_names_like_paths(side.program));
    let open = |path: &str| {
        (unclear || !is_compared(path)) && !proved.contains(path) && !announced.is_unneeded(path)
    };
    let mut all = differences(left.normalized, right.normalized);
    all.retain(|difference| open(&difference.path));
    let lost: FxHashSet<&str> = all.iter().map(|difference| &*difference.path).collect();
    let mut kept = 0;
    left.normalized
        .values(&mut |path, _, _| kept += usize::from(open(path) && !lost.contains(path)));
    let texts = [left, right].map(|side| side.normalized.written());
    let all = all.into_iter();
    let different = all.map(|Difference { path, left, right }| {
        let [left, right] = [left, right].map(|said| said.map(|(value, _)| value));
        let announced = announced.has_path(&path);
        let written = texts.each_ref().map(|texts| texts.get(&path).map(|text| (*text).to_owned()));
        ValueDifference { path, left, right, written, announced }
    });
    Values { kept, different: different.collect() }
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
