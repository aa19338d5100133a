//! One file a rule.

pub(crate) mod undefined_tool;
