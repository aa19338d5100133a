//! Where dialects differ, as a table. The crate's documentation shows it for people.

use agentir_expr::Dialect;

/// What a dialect makes of values where others do otherwise. Operators that differ as such have
/// their own kind in the tree ([`agentir_expr::BinaryOp`]) and are not here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Semantics {
    /// Whether the text `"false"` is falsy.
    pub false_text_is_falsy: bool,
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

/// How values are put in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ordering {
    /// All are taken as numbers; two texts that are dates are compared as dates; values that are not numbers
    /// are unordered, which is not an error.
    AsNumbers,
    /// Values of one type are compared, numbers and truth values being one; the rest is an error.
    ByType,
}

/// What becomes of something unset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unset {
    /// It counts as nothing: 0, or undefined.
    Nothing,
    /// It is an error.
    Error,
}

/// What `AND` and `OR` give.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Logic {
    /// True or false.
    Boolean,
    /// The operand that decided.
    Operand,
}

/// The sign of a remainder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Remainder {
    /// That of the dividend, as in JavaScript.
    Dividend,
    /// That of the divisor, as in Python.
    Divisor,
}

const ABL: Semantics = Semantics {
    false_text_is_falsy: true,
    ordering: Ordering::AsNumbers,
    unset_number: Unset::Nothing,
    unset_member: Unset::Nothing,
    logic: Logic::Boolean,
    remainder: Remainder::Dividend,
    error_is_false: true,
    unset_text: "",
    false_text: "false",
    true_text: "true",
};

const AGENT_SCRIPT: Semantics = Semantics {
    false_text_is_falsy: false,
    ordering: Ordering::ByType,
    unset_number: Unset::Error,
    unset_member: Unset::Error,
    logic: Logic::Operand,
    remainder: Remainder::Divisor,
    error_is_false: false,
    unset_text: "None",
    false_text: "False",
    true_text: "True",
};

const ADL: Semantics = Semantics {
    unset_member: Unset::Nothing,
    logic: Logic::Boolean,
    unset_text: "",
    ..AGENT_SCRIPT
};

/// The row of `dialect`.
#[must_use]
pub const fn semantics(dialect: Dialect) -> &'static Semantics {
    match dialect {
        Dialect::Abl => &ABL,
        Dialect::AgentScript => &AGENT_SCRIPT,
        Dialect::Adl => &ADL,
    }
}
