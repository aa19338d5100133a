//! Equivalence of the conditions at corresponding program points.

use crate::location::{AnnouncedLosses, Location};
use crate::prover::{Condition, Prover};
use crate::text::on_one_line;
use crate::{Side, Verdict};
use agentir_diagnostics::Span;
use agentir_flow::cfg::Test;
use agentir_ir::{Agent, Node, Program};
use agentir_ir_json::shared_expression;
use agentir_solver::Answer;
use rustc_hash::{FxHashMap, FxHashSet};
use schemars::JsonSchema;
use serde::Serialize;

/// The comparison of the conditions at corresponding paths of two programs.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct Conditions {
    /// Expressions that are textually identical, in the same dialect.
    pub identical: usize,
    /// Proved to hold in the same states.
    pub proved: usize,
    /// Of those proved, how many are equivalent only if values have the types with which they are
    /// compared: one dialect converts the string `"9"` to a number, another raises an error.
    pub if_typed: usize,
    /// Natural language on at least one side, which cannot be proved.
    pub in_words: usize,
    /// Neither proved nor refuted.
    pub undecided: usize,
    /// Those that are not equivalent.
    pub different: Vec<ConditionDifference>,
}

/// Two conditions at the same path that are not equivalent.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ConditionDifference {
    /// The path in the IR.
    pub path: String,
    /// The condition of the first program.
    pub left: String,
    /// The condition of the second program.
    pub right: String,
    /// A state in which one of them holds and the other does not.
    pub state: String,
    /// Whether a loss was announced here.
    pub announced: bool,
    /// The location in the first program.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub left_at: Option<Location>,
    /// The location in the second program.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub right_at: Option<Location>,
}

impl Conditions {
    /// Calls `change` with every text in it.
    pub(crate) fn texts_mut(&mut self, change: &mut dyn FnMut(&mut String)) {
        for one in &mut self.different {
            [&mut one.path, &mut one.left, &mut one.right, &mut one.state]
                .into_iter()
                .for_each(&mut *change);
            let places = one.left_at.iter_mut().chain(&mut one.right_at);
            places.for_each(|at| change(&mut at.file));
        }
    }

    /// Branches in another order have other conditions at their paths. If no conversation distinguishes the programs, they
    /// do the same: what is left are conditions that the other program does not have in any branch of the choice.
    pub(crate) fn settle_order(&mut self, is_compared: &dyn Fn(&str) -> bool) {
        let list = |path: &str| path.rfind('[').and_then(|end| path.get(..end)).map(str::to_owned);
        let sides = |one: &ConditionDifference| {
            Some((list(&one.path)?, one.left.clone(), one.right.clone()))
        };
        let all: Vec<(String, String, String)> = self.different.iter().filter_map(sides).collect();
        let is_moved = |one: &ConditionDifference| {
            let Some((choice, left, right)) = sides(one) else { return false };
            let here = || all.iter().filter(|(other, ..)| *other == choice);
            here().any(|(.., theirs)| *theirs == left) && here().any(|(_, ours, _)| *ours == right)
        };
        self.different.retain(|one| !is_compared(&one.path) || !is_moved(one));
    }

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

/// The conditions of a program with their agents, by span. Lowering may give several the same span.
type BySpan<'a> = FxHashMap<Span, Vec<(Test<'a>, &'a Agent)>>;

fn conditions(program: &Program) -> BySpan<'_> {
    let mut all = BySpan::default();
    for agent in program.agents() {
        agent.walk(&mut |node| {
            if let Node::Condition(condition, _) = node {
                let test = Test::Condition(condition);
                // The span of an expression excludes its quotes.
                let inner = condition.expr().map(|e| e.span);
                for span in inner.into_iter().chain([condition.span()]) {
                    all.entry(span).or_default().push((test, agent));
                }
            }
        });
        for check in agent.constraints.guardrails.iter().filter_map(|g| g.check.as_ref()) {
            all.entry(check.span).or_default().push((Test::Expr(check), agent));
        }
    }
    all.remove(&Span::default());
    all
}

/// The condition that a value at a span is, if it is one and not a neighbour that inherits its span.
fn condition_at<'a>(
    all: &BySpan<'a>,
    value: &serde_json::Value,
    span: Span,
) -> Option<(Test<'a>, &'a Agent)> {
    let value = on_one_line(value.as_str()?);
    let is_written = |test: &Test<'_>| {
        let written = match test.expr() {
            Some(expr) => shared_expression(expr).to_string(),
            None => test.to_string(),
        };
        on_one_line(&written) == value
    };
    all.get(&span)?.iter().find(|(test, _)| is_written(test)).copied()
}

/// Compares conditions, and gives the paths of those that hold in the same states.
pub(crate) fn compare(
    left: Side<'_>,
    right: Side<'_>,
    announced: &AnnouncedLosses,
    prover: &mut Prover,
) -> (Conditions, FxHashSet<String>) {
    let mut found = Conditions::default();
    let mut proved = FxHashSet::default();
    let (ours, theirs) = (conditions(left.program), conditions(right.program));
    let mut others: FxHashMap<String, (Span, (Test<'_>, &Agent))> = FxHashMap::default();
    right.normalized.values(&mut |path, value, at| {
        if let Some(at) = at
            && let Some(condition) = condition_at(&theirs, value, at)
        {
            others.insert(path.to_owned(), (at, condition));
        }
    });
    left.normalized.values(&mut |path, value, at| {
        let Some(at) = at else { return };
        let Some((one, agent)) = condition_at(&ours, value, at) else { return };
        let Some((other_at, (other, other_agent))) = others.get(path).copied() else { return };
        let a = Condition::new(one, agent, &AnnouncedLosses::none());
        let b = Condition::new(other, other_agent, announced);
        // Equal words are no proof: nobody knows what the model makes of them.
        if matches!(a, Condition::Words(_)) || matches!(b, Condition::Words(_)) {
            found.in_words += 1;
            return;
        }
        if a == b {
            found.identical += 1;
            proved.insert(path.to_owned());
            return;
        }
        let (answer, typed) = prover.equivalent(&a, &b, false, &agent.metadata.name.value);
        found.if_typed += usize::from(typed);
        match answer {
            Answer::Unsat(_) => {
                found.proved += 1;
                proved.insert(path.to_owned());
            }
            Answer::Unknown(_) => found.undecided += 1,
            Answer::Sat(example) => found.different.push(ConditionDifference {
                path: path.to_owned(),
                left: a.to_string(),
                right: b.to_string(),
                state: example.to_string(),
                announced: announced.has_path(path),
                left_at: Location::of(left.sources, at),
                right_at: Location::of(right.sources, other_at),
            }),
        }
    });
    (found, proved)
}
