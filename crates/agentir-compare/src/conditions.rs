//! Equivalence of the conditions at corresponding program points.

use crate::place::{Announced, Place};
use crate::prover::{Asked, Prover};
use crate::words::plain;
use crate::{Side, Verdict};
use agentir_diagnostics::Span;
use agentir_flow::cfg::Test;
use agentir_ir::{Agent, Node, Program};
use agentir_solver::Answer;
use rustc_hash::FxHashMap;
use schemars::JsonSchema;
use serde::Serialize;

/// What became of the conditions that stand in the same place of two programs.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct Conditions {
    /// Written the same, in the same dialect.
    pub identical: usize,
    /// Proved to hold in the same states.
    pub proved: usize,
    /// Of those proved, how many hold in the same states only as long as values have the types with
    /// which they are compared: the text `"9"` is a number to one dialect and an error to another.
    pub if_typed: usize,
    /// Words for the model on one side at least, which nobody can prove.
    pub in_words: usize,
    /// Neither proved nor refuted.
    pub undecided: usize,
    /// Those that do not hold in the same states.
    pub different: Vec<Unlike>,
}

/// Two conditions in the same place that do not hold in the same states.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Unlike {
    /// The place in the IR.
    pub path: String,
    /// What the first program says.
    pub left: String,
    /// What the second says.
    pub right: String,
    /// A state in which one of them holds and the other does not.
    pub state: String,
    /// Whether a loss was announced here.
    pub announced: bool,
    /// Where the first says it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub left_at: Option<Place>,
    /// Where the second says it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub right_at: Option<Place>,
}

impl Conditions {
    pub(crate) fn verdict(&self) -> Verdict {
        Verdict::of(self.different.iter().map(|d| d.announced), self.undecided == 0)
    }

    pub(crate) fn add(&mut self, other: Self) {
        self.identical += other.identical;
        self.proved += other.proved;
        self.if_typed += other.if_typed;
        self.in_words += other.in_words;
        self.undecided += other.undecided;
        self.different.extend(other.different);
    }
}

/// The conditions of a program, by where they are written.
fn conditions(program: &Program) -> FxHashMap<Span, (Test<'_>, &Agent)> {
    let mut all = FxHashMap::default();
    for agent in program.agents() {
        agent.walk(&mut |node| {
            if let Node::Condition(condition, _) = node {
                let test = Test::Condition(condition);
                // The IR says of an expression where it stands without its quotes.
                let inner = condition.expr().map(|e| e.span);
                for span in inner.into_iter().chain([condition.span()]) {
                    all.entry(span).or_insert((test, agent));
                }
            }
        });
        for check in agent.constraints.guardrails.iter().filter_map(|g| g.check.as_ref()) {
            all.entry(check.span).or_insert((Test::Expr(check), agent));
        }
    }
    all.remove(&Span::default());
    all
}

/// Whether a value is the condition itself, and not something beside it that has no place of its own.
fn is(value: &serde_json::Value, condition: Test<'_>) -> bool {
    let written = condition.expr().map_or_else(|| condition.to_string(), ToString::to_string);
    value.as_str().is_some_and(|value| plain(value) == plain(&written))
}

pub(crate) fn compare(
    left: Side<'_>,
    right: Side<'_>,
    announced: &Announced,
    prover: &mut Prover,
) -> Conditions {
    let mut found = Conditions::default();
    let (ours, theirs) = (conditions(left.program), conditions(right.program));
    let mut places: FxHashMap<String, Span> = FxHashMap::default();
    right.meaning.values(&mut |path, value, at| {
        if let Some(at) = at.filter(|at| theirs.get(at).is_some_and(|(c, _)| is(value, *c))) {
            places.insert(path.to_owned(), at);
        }
    });
    left.meaning.values(&mut |path, value, at| {
        let Some((at, (one, agent))) = at.and_then(|at| Some((at, ours.get(&at)?))) else { return };
        if !is(value, *one) {
            return;
        }
        let Some(other_at) = places.get(path).copied() else { return };
        let Some((other, other_agent)) = theirs.get(&other_at) else { return };
        let a = Asked::new(*one, agent, &Announced::nothing());
        let b = Asked::new(*other, other_agent, announced);
        if a == b {
            found.identical += 1;
            return;
        }
        if matches!(a, Asked::Words(_)) || matches!(b, Asked::Words(_)) {
            found.in_words += 1;
            return;
        }
        let (answer, typed) = prover.equivalent(&a, &b, false, &agent.metadata.name.value);
        found.if_typed += usize::from(typed);
        match answer {
            Answer::Unsat(_) => found.proved += 1,
            Answer::Unknown(_) => found.undecided += 1,
            Answer::Sat(example) => found.different.push(Unlike {
                path: path.to_owned(),
                left: a.to_string(),
                right: b.to_string(),
                state: example.to_string(),
                announced: announced.path(path),
                left_at: Place::of(left.sources, at),
                right_at: Place::of(right.sources, other_at),
            }),
        }
    });
    found
}
