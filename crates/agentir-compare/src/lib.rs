//! What two programs have in common, and in what they differ, whatever languages they are in.
//!
//! Three questions, each with its answer:
//!
//! - [`Meaning`], [`differences`]: do they say the same? The values of the IR, without what only says
//!   where an agent comes from.
//! - [`Comparison::conditions`]: are the conditions in the same places true in the same states, each by
//!   the meaning of its own dialect? The solver decides.
//! - [`Comparison::behaviour`]: can a conversation tell them apart? The control-flow graphs become
//!   transition systems of what an agent *does*, what it does silently is collapsed, and the coarsest
//!   bisimulation is computed. The first difference is a conversation.
//!
//! Who announced losses (a converter) says so with [`Announced`]: differences at those places are told
//! apart from those that nobody announced.
//!
//! *Invariant*: nothing here knows a rule or writes a language; work is bounded by counts, and what
//! could not be decided is said to be undecided, never the same.

mod behaviour;
mod conditions;
mod meaning;
mod place;
mod prover;
mod render;
mod words;

pub use behaviour::{Behaviour, Divergence, Turn};
pub use conditions::{Conditions, Unlike};
pub use meaning::{Difference, ENTRY, MENTIONS, Meaning, differences};
pub use place::{Announced, Place};

use agentir_diagnostics::SourceMap;
use agentir_ir::Program;
use schemars::JsonSchema;
use serde::Serialize;

/// A program and what is needed to speak of it.
#[derive(Debug, Clone, Copy)]
pub struct Side<'a> {
    /// The program.
    pub program: &'a Program,
    /// Its files.
    pub sources: &'a SourceMap,
    /// What it means.
    pub meaning: &'a Meaning,
}

/// Whether two programs do the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Proved.
    Same,
    /// They differ, but only where losses were announced.
    SameButAnnounced,
    /// It could not be decided everywhere; where it could, they do the same.
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

    /// Of things that differ, each of which was announced or not, and of whether all was decided.
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

    /// In a sentence: "the output …".
    #[must_use]
    pub const fn says(self) -> &'static str {
        match self {
            Self::Same => "is proved to do the same",
            Self::SameButAnnounced => "differs only where a loss is reported",
            Self::Undecided => "does the same as far as it could be decided",
            Self::Different => "does something else",
        }
    }
}

/// What two programs do the same and what not. Of values that differ see [`differences`].
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Comparison {
    /// Both together: the worse of the two.
    pub verdict: Verdict,
    /// The conditions.
    pub conditions: Conditions,
    /// What is done in which order.
    pub behaviour: Behaviour,
}

impl Comparison {
    /// Compares what two programs do.
    #[must_use]
    pub fn new(left: Side<'_>, right: Side<'_>, announced: &Announced) -> Self {
        let mut prover = prover::Prover::new(left.program);
        let conditions = conditions::compare(left, right, announced, &mut prover);
        let behaviour = behaviour::compare(left, right, announced, &mut prover);
        let verdict = conditions.verdict().max(behaviour.verdict());
        Self { verdict, conditions, behaviour }
    }

    /// Adds the comparison of another pair of programs.
    pub fn add(&mut self, other: Self) {
        self.verdict = self.verdict.max(other.verdict);
        self.conditions.add(other.conditions);
        self.behaviour.add(other.behaviour);
    }
}
