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
//! [`Comparison::not_compared`] names what none of them looks at: what tools do that are declared otherwise, what a model
//! makes of other texts, what two languages make of one expression or placeholder, and how an import was read.
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
//! collected value. What stands beside it explains nothing: a loss counts for the characters that it is about, not for
//! their line, and only if behaviour depends on such a value. Names that a conversion changed are equal, and so do variables that all
//! agents of one program share and those of the other pass on.
//!
//! *Invariant*: this crate knows no rule and prints no language. Work is bounded by counts; what
//! could not be decided is reported as undecided, never as equal.

mod behaviour;
mod conditions;
mod location;
mod named;
mod normalized;
mod prover;
mod render;
mod text;
mod unknown;
mod values;

pub use behaviour::{Behaviour, Divergence, Turn};
pub use conditions::{ConditionDifference, Conditions};
pub use location::{AnnouncedLosses, Location};
pub use named::with_named_arguments;
pub use normalized::{Difference, ENTRY, NormalizedProgram, differences, value_differences};
pub use unknown::{NotCompared, Unknown};
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
}

/// The comparison of two programs: three statements, about control flow, about the values outside of it, and about what
/// was not compared.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Comparison {
    /// The worst of the verdicts on control flow and on values; never `same` if something was not compared.
    pub verdict: Verdict,
    /// The worse of the verdicts on conditions and on behaviour.
    pub control_flow: Verdict,
    /// The comparison of the conditions.
    pub conditions: Conditions,
    /// The comparison of the behaviour.
    pub behaviour: Behaviour,
    /// The comparison of the values that neither of them looks at.
    pub values: Values,
    /// What no comparison looks at.
    pub not_compared: Vec<NotCompared>,
}

impl Comparison {
    /// Compares two programs.
    #[must_use]
    pub fn new(left: Side<'_>, right: Side<'_>, announced: &AnnouncedLosses) -> Self {
        let mut prover = prover::Prover::new(left.program);
        let (mut conditions, proved) = conditions::compare(left, right, announced, &mut prover);
        let behaviour = behaviour::compare(left, right, announced, &mut prover);
        if behaviour.verdict() == Verdict::Same {
            conditions.settle_order(&values::is_compared);
        }
        let values = values::compare(left, right, announced, &proved);
        let control_flow = conditions.verdict().max(behaviour.verdict());
        let not_compared = unknown::not_compared(left, right, &values, &prover);
        let mut verdict = control_flow.max(values.verdict());
        if verdict == Verdict::Same && !not_compared.is_empty() {
            verdict = Verdict::Undecided;
        }
        Self { verdict, control_flow, conditions, behaviour, values, not_compared }
    }

    /// Calls `change` with every text in it.
    pub fn texts_mut(&mut self, change: &mut dyn FnMut(&mut String)) {
        self.conditions.texts_mut(change);
        self.behaviour.texts_mut(change);
        self.values.texts_mut(change);
        self.not_compared.iter_mut().flat_map(|one| &mut one.names).for_each(change);
    }

    /// Adds the comparison of another pair of programs.
    pub fn add(&mut self, other: Self) {
        self.verdict = self.verdict.max(other.verdict);
        self.conditions.add(other.conditions);
        self.behaviour.add(other.behaviour);
        self.values.add(other.values);
        self.control_flow = self.control_flow.max(other.control_flow);
        for NotCompared { what, names } in other.not_compared {
            match self.not_compared.iter_mut().find(|one| one.what == what) {
                Some(one) => {
                    let new = names.into_iter().filter(|name| !one.names.contains(name));
                    let new: Vec<String> = new.collect();
                    one.names.extend(new);
                }
                None => self.not_compared.push(NotCompared { what, names }),
            }
        }
    }
}
