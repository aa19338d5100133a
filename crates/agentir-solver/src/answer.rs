//! Answers.

use crate::query::Label;
use agentir_eval::{State, Value};
use smol_str::SmolStr;
use std::fmt;

/// An answer. Which one is the good news depends on the question.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// There is such a state, and here is one: the conditions can hold together, do not follow, are
    /// not equivalent.
    State(Example),
    /// There is no such state: the conditions contradict each other, follow, are equivalent. The
    /// labels are a smallest set of what is given (and of facts) that suffices: without any one of
    /// them it could not be shown.
    NoState(Vec<Label>),
    /// It could not be decided. Never a reason for a finding.
    Unknown(Why),
}

/// An answer without the state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// There is such a state.
    State,
    /// There is none, because of these; see [`Answer::NoState`].
    NoState(Vec<Label>),
    /// It could not be decided. Never a reason for a finding.
    Unknown(Why),
}

impl From<Answer> for Verdict {
    fn from(answer: Answer) -> Self {
        match answer {
            Answer::State(_) => Self::State,
            Answer::NoState(labels) => Self::NoState(labels),
            Answer::Unknown(why) => Self::Unknown(why),
        }
    }
}

/// A state, confirmed by the evaluator.
#[derive(Clone, Debug, PartialEq)]
pub struct Example {
    /// All variables that the question mentions, those that have a value.
    pub state: State,
    /// The variables that matter, as they are written, in alphabetical order. For any other variable
    /// every value that the facts allow would do.
    pub shown: Vec<(SmolStr, Value)>,
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

/// Why a question could not be decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Why {
    /// It depends on words that the model judges, or on calls whose results are not known.
    Opaque,
    /// The work it may take was used up.
    Budget,
    /// A state was found, but the evaluator did not confirm it: what the solver knows about texts
    /// and functions is not enough.
    Unconfirmed,
}

impl Answer {
    /// Whether it is proved that there is no such state.
    #[must_use]
    pub const fn is_no_state(&self) -> bool {
        matches!(self, Self::NoState(_))
    }

    /// The labels of the proof, if there is no such state.
    #[must_use]
    pub fn core(&self) -> Option<&[Label]> {
        match self {
            Self::NoState(labels) => Some(labels),
            _ => None,
        }
    }

    /// The state, if there is one.
    #[must_use]
    pub const fn example(&self) -> Option<&Example> {
        match self {
            Self::State(example) => Some(example),
            _ => None,
        }
    }
}
