//! Shadowing between ordered alternatives of which the first match is taken: handoffs, routing
//! rules, completions.

use crate::program::AgentAnalysis;
use crate::proof::{Assumption, UnsatCore};
use agentir_expr::{Condition, ConditionKind};
use rustc_hash::FxHashSet;
use smol_str::SmolStr;

/// The maximum number of earlier alternatives per query; the nearest ones are used.
const MAX_EARLIER: usize = 24;

/// Why an alternative is never taken.
#[derive(Debug)]
pub struct Shadowed {
    /// The earlier alternatives that cover it, as indices into the given ones.
    pub by: Vec<usize>,
    /// The core of the proof.
    pub core: UnsatCore,
}

/// Returns the earlier conditions of which one holds whenever `this` does, if there are such.
/// `None` stands for a condition that always holds. A condition that can never hold is not
/// shadowed.
pub fn shadowed_by<'a>(
    cx: &AgentAnalysis<'_, 'a>,
    earlier: &[Option<&'a Condition>],
    this: Option<&'a Condition>,
) -> Option<Shadowed> {
    if let Some(always) = earlier.iter().position(Option::is_none) {
        let core = UnsatCore::default();
        return Some(Shadowed { by: vec![always], core });
    }
    let this = this?;
    let about = variables_of(this);
    let mut asked: Vec<(usize, &'a Condition)> = earlier
        .iter()
        .enumerate()
        .rev()
        .take(MAX_EARLIER)
        .filter_map(|(at, condition)| Some((at, (*condition)?)))
        .filter(|(_, condition)| variables_of(condition).iter().any(|name| about.contains(name)))
        .collect();
    asked.reverse();
    if asked.is_empty() {
        return None;
    }
    let mut query = cx.query();
    query.assume(this, true);
    for (_, condition) in &asked {
        query.assume(*condition, false);
    }
    let core = query.refute()?;
    let by: Vec<usize> = core
        .assumptions
        .iter()
        .filter_map(|Assumption(at)| asked.get(at.checked_sub(1)?).map(|(place, _)| *place))
        .collect();
    (!by.is_empty()).then_some(Shadowed { by, core })
}

/// Returns the variables of a condition. A natural-language condition stands for itself.
pub fn variables_of(condition: &Condition) -> FxHashSet<SmolStr> {
    let mut names = FxHashSet::default();
    match &condition.kind {
        ConditionKind::Expr(expr) => expr.paths(&mut |path| {
            names.insert(path.root.value.clone());
        }),
        ConditionKind::Natural => {
            names.insert(condition.text.value.clone());
        }
        ConditionKind::Invalid => {}
    }
    names
}
