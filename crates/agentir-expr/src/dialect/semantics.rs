//! How dialects compute values. The documentation of `agentir-eval` shows the tables for people.

/// What a dialect makes of values where others do otherwise. Operators that differ as such have
/// their own kind in the tree ([`BinaryOp`](crate::BinaryOp)) and are not here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Semantics {
    /// Whether the text `"false"` is falsy.
    pub false_text_is_falsy: bool,
    /// How tests of membership compare: `IN`, `contains`.
    pub equality: Equality,
    /// Whether dates are values of their own. Elsewhere they are texts that look like dates.
    pub has_dates: bool,
    /// How `<` and its kin compare.
    pub ordering: Ordering,
    /// What an unset value is in arithmetic and in `<`.
    pub unset_number: Unset,
    /// What a member of an unset value is.
    pub unset_member: Unset,
    /// What `AND` and `OR` give.
    pub logic: Logic,
    /// The sign of `%`.
    pub remainder: Remainder,
    /// Whether a condition that cannot be evaluated just does not hold; else it stops what runs.
    pub error_is_false: bool,
    /// What stands in a text for an unset value.
    pub unset_text: &'static str,
    /// What stands in a text for false.
    pub false_text: &'static str,
    /// What stands in a text for true.
    pub true_text: &'static str,
}

/// When two values are equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Equality {
    /// A number equals the text that says it.
    Converting,
    /// No conversions, but truth values are the numbers 0 and 1, as in Python.
    Strict,
}

/// How values are put in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Ordering {
    /// All are taken as numbers; two texts that are dates are compared as dates; values that are not numbers
    /// are unordered, which is not an error.
    AsNumbers,
    /// Values of one type are compared, numbers and truth values being one; the rest is an error.
    ByType,
}

/// What becomes of something unset.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Unset {
    /// It counts as nothing: 0, or undefined.
    Nothing,
    /// It is an error.
    Error,
}

/// What `AND` and `OR` give.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Logic {
    /// True or false.
    Boolean,
    /// The operand that decided.
    Operand,
}

/// The sign of a remainder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Remainder {
    /// That of the dividend, as in JavaScript.
    Dividend,
    /// That of the divisor, as in Python.
    Divisor,
}
