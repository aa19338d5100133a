//! References in texts.

/// The prefixes of references to callables in texts that a model reads.
pub const MENTIONS: &[&str] =
    &["@actions.", "@subagent.", "@topic.", "@connected_subagent.", "@utils."];
