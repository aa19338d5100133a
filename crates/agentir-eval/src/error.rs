//! Why an expression has no value.

use agentir_expr::Name;
use std::fmt;

/// Why an expression has no value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EvalError {
    /// A division or remainder by zero.
    DivisionByZero,
    /// A number too large for a double.
    Overflow,
    /// What was to be a number is none; the kind of value.
    NotANumber(&'static str),
    /// Values that have no order; their kinds.
    NoOrder(&'static str, &'static str),
    /// Operands that an operator does not take; their kinds.
    Operands(&'static str, &'static str),
    /// A member of something unset, or an item that the list does not have.
    NoMember,
    /// A function or method that does not exist, or whose result the specifications leave open.
    UnknownFunction(Name),
    /// A wrong number of arguments, or one of a wrong kind, for this function.
    Arguments(Name),
    /// A pattern that is not a valid regular expression, or is too large.
    Pattern(String),
    /// A text longer than [`crate::MAX_TEXT`], or a value with more than [`crate::MAX_SIZE`] parts.
    TooLarge,
    /// A value nested deeper than [`crate::MAX_VALUE_DEPTH`].
    TooDeep,
    /// Something only the model fills in.
    Ellipsis,
    /// Something the environment does not give: the time, chance.
    Environment,
}

impl fmt::Display for EvalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::DivisionByZero => f.write_str("a division by zero"),
            Self::Overflow => f.write_str("a number that is too large"),
            Self::NotANumber(kind) => write!(f, "{kind} is not a number"),
            Self::NoOrder(a, b) => write!(f, "{a} and {b} have no order"),
            Self::Operands(a, b) => write!(f, "the operator does not take {a} and {b}"),
            Self::NoMember => f.write_str("there is no such member or item"),
            Self::UnknownFunction(name) => write!(f, "what `{name}` gives is not known"),
            Self::Arguments(name) => write!(f, "`{name}` does not take these arguments"),
            Self::Pattern(why) => write!(f, "the pattern cannot be used: {why}"),
            Self::TooLarge => f.write_str("the value would be too large"),
            Self::TooDeep => f.write_str("the value would be nested too deeply"),
            Self::Ellipsis => f.write_str("only the model can fill in `...`"),
            Self::Environment => f.write_str("the value comes from outside"),
        }
    }
}

impl std::error::Error for EvalError {}
