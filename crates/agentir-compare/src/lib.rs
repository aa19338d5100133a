//! Compares two programs, in any languages: values, conditions, behaviour.
//!
//! There are four comparisons:
//!
//! - [`NormalizedProgram`], [`differences`]: the values of the IR, without those that only identify
//!   the origin of an agent.
//! - [`Comparison::conditions`]: whether the conditions of corresponding program points hold in the
//!   same states, each with the semantics of its own dialect. The solver decides.
//! - [`Comparison::behaviour`]: whether a conversation distinguishes the programs. The control-flow
//!   graphs become labelled transition systems, internal steps are eliminated, and the coarsest
//!   weak bisimulation is computed. A difference is reported as a conversation.
//!
//! - [`Comparison::values`]: whether the values are equal that a user could notice and that the other two do not look at.
//!   Tables say which ones they look at; all others, also those of fields that are yet to come, must be equal.
//!
//! A converter passes the losses that it reported ([`AnnouncedLosses`]); differences that follow from
//! them are reported separately.
//!
//! # Behaviour
//!
//! The states of the transition system are program points after an observable action (a message, a
//! question, a call, an assignment, a handoff, completion); its transitions are the next observable
//! actions, each with a guard. Internal steps (τ-moves) are eliminated by a fixpoint over guards.
//! Guards are binary decision diagrams over the conditions of both programs, in which conditions
//! that the solver proves equivalent share a variable. Agents that only one program has, such as
//! the subagents that steps become, are internal parts of the agents that lead to them.
//!
//! The coarsest bisimulation is computed by signature refinement. Following the rounds back gives a
//! conversation that distinguishes two states. Before it is reported, the solver checks its
//! conditions: an unsatisfiable combination is excluded and refinement starts again; an undecided one is reported as undecided. Decisions are compared by
//! their outcome; who decides is compared with the values.
//!
//! # Announced differences
//!
//! A difference is announced if a loss is reported for its cause: a value that is emitted there, a
//! path that only one program has, a condition that only one program tests, or the declaration of a
//! collected value. Names that a conversion changed are equal, and so do variables that all
//! agents of one program share and those of the other pass on.
//!
//! *Invariant*: this crate knows no rule and prints no language. Work is bounded by counts; what
//! could not be decided is reported as undecided, never as equal.

mod behaviour;
mod conditions;
mod location;
mod normalized;
mod prover;
mod render;
mod text;
mod values;

pub use behaviour::{Behaviour, Divergence, Turn};
pub use conditions::{ConditionDifference, Conditions};
pub use location::{AnnouncedLosses, Location};
pub use normalized::{Difference, ENTRY, NormalizedProgram, differences, value_differences};
pub use values::{ValueDifference, Values, matches_pattern, segments};

use agentir_diagnostics::SourceMap;
use agentir_ir::Program;
use schemars::JsonSchema;
use serde::Serialize;

/// One of the two programs of a comparison.
#[derive(Debug, Clone, Copy)]
pub struct Side<'a> {
    /// The program.
    pub program: &'a Program,
    /// Its files.
    pub sources: &'a SourceMap,
    /// Its normal form.
    pub normalized: &'a NormalizedProgram,
}

/// The result of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Proved equivalent.
    Same,
    /// They differ, but every difference is announced, or follows from what is.
    SameButAnnounced,
    /// Not everything could be decided; what could is equivalent.
    Undecided,
    /// They differ.
    Different,
}

impl Verdict {
    /// Its name, as in JSON.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Same => "same",
            Self::SameButAnnounced => "same_but_announced",
            Self::Undecided => "undecided",
            Self::Different => "different",
        }
    }

    /// The verdict for a list of differences, each announced or not; `decided` is whether
    /// everything could be decided.
    pub(crate) fn of(announced: impl IntoIterator<Item = bool>, decided: bool) -> Self {
        let mut announced = announced.into_iter().peekable();
        let differs = announced.peek().is_some();
        match (announced.all(|announced| announced), decided) {
            (false, _) => Self::Different,
            (true, false) => Self::Undecided,
            (true, true) if differs => Self::SameButAnnounced,
            (true, true) => Self::Same,
        }
    }

    /// The predicate of a sentence: "the output …".
    #[must_use]
    pub const fn predicate(self) -> &'static str {
        match self {
            Self::Same => "is proved to behave the same",
            Self::SameButAnnounced => "differs only where the report says so",
            Self::Undecided => "does the same as far as it could be decided",
            Self::Different => "does something else",
        }
    }
}

/// The comparison of the conditions and the behaviour of two programs. For values see
/// [`differences`].
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Comparison {
    /// The worst of the three verdicts.
    pub verdict: Verdict,
    /// The comparison of the conditions.
    pub conditions: Conditions,
    /// The comparison of the behaviour.
    pub behaviour: Behaviour,
    /// The comparison of the values that neither of them looks at.
    pub values: Values,
}

impl Comparison {
    /// Compares two programs.
    #[must_use]
    pub fn new(left: Side<'_>, right: Side<'_>, announced: &AnnouncedLosses) -> Self {
        let mut prover = prover::Prover::new(left.program);
        let (conditions, proved) = conditions::compare(left, right, announced, &mut prover);
        let behaviour = behaviour::compare(left, right, announced, &mut prover);
        let values = values::compare(left, right, announced, &proved);
        let verdict = conditions.verdict().max(behaviour.verdict()).max(values.verdict());
        Self { verdict, conditions, behaviour, values }
    }

    /// Calls `change` with every text in it.
    pub fn texts_mut(&mut self, change: &mut dyn FnMut(&mut String)) {
        self.conditions.texts_mut(change);
        self.behaviour.texts_mut(change);
        self.values.texts_mut(change);
    }

    /// Adds the comparison of another pair of programs.
    pub fn add(&mut self, other: Self) {
        self.verdict = self.verdict.max(other.verdict);
        self.conditions.add(other.conditions);
        self.behaviour.add(other.behaviour);
        self.values.add(other.values);
    }
}
