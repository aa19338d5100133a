//! Answers to queries.

use crate::query::Label;
use agentir_eval::{State, Value};
use smol_str::SmolStr;
use std::fmt;

/// An answer. The meaning of [`Self::Sat`] depends on the goal of the query.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// A state exists: the assumptions are consistent, do not imply the goal, or the two conditions
    /// are not equivalent.
    Sat(Example),
    /// No such state exists: the assumptions are contradictory, imply the goal, or the two
    /// conditions are equivalent. The labels are a minimal core of assumptions and facts: without
    /// any one of them the proof fails.
    Unsat(Vec<Label>),
    /// The query could not be decided. Never a reason for a finding.
    Unknown(UnknownReason),
}

/// An answer without the state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// A state exists.
    Sat,
    /// No state exists; see [`Answer::Unsat`].
    Unsat(Vec<Label>),
    /// The query could not be decided. Never a reason for a finding.
    Unknown(UnknownReason),
}

impl From<Answer> for Verdict {
    fn from(answer: Answer) -> Self {
        match answer {
            Answer::Sat(_) => Self::Sat,
            Answer::Unsat(labels) => Self::Unsat(labels),
            Answer::Unknown(why) => Self::Unknown(why),
        }
    }
}

/// A state that the evaluator confirmed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Example {
    /// All variables of the query that have a value.
    pub state: State,
    /// The relevant variables in alphabetical order. Any other variable may have any value that the
    /// facts allow.
    pub shown: Vec<(SmolStr, Value)>,
}

impl Example {
    /// Whether any state would do.
    #[must_use]
    pub const fn is_any(&self) -> bool {
        self.shown.is_empty()
    }
}

/// `guests = 9, user.email is not set`
impl fmt::Display for Example {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, (name, value)) in self.shown.iter().enumerate() {
            f.write_str(if i > 0 { ", " } else { "" })?;
            if value.is_unset() {
                write!(f, "{name} is not set")?;
            } else {
                write!(f, "{name} = {value}")?;
            }
        }
        Ok(())
    }
}

/// Why a query could not be decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum UnknownReason {
    /// It depends on natural-language conditions, or on calls without a known result.
    Opaque,
    /// The budget is exhausted.
    Budget,
    /// A state was found, but the evaluator did not confirm it: the solver's model of strings and
    /// functions is incomplete.
    Unconfirmed,
    /// It needs Z3, which is not available.
    Unavailable,
}

impl Answer {
    /// Whether the absence of a state has been proved.
    #[must_use]
    pub const fn is_unsat(&self) -> bool {
        matches!(self, Self::Unsat(_))
    }

    /// Returns the unsatisfiable core, if there is one.
    #[must_use]
    pub fn core(&self) -> Option<&[Label]> {
        match self {
            Self::Unsat(labels) => Some(labels),
            _ => None,
        }
    }

    /// Returns the state, if there is one.
    #[must_use]
    pub const fn example(&self) -> Option<&Example> {
        match self {
            Self::Sat(example) => Some(example),
            _ => None,
        }
    }
}
