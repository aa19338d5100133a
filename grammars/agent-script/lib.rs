//! The LALRPOP grammars of Agent Script, as text.
//!
//! The build script of `agentir-lang-agent-script` compiles them. They are a package of their own because a packaged
//! crate can read files only from its own folder, and grammars belong at the top of the repository, where
//! people read them. Each language has its own package, so that a changed grammar rebuilds that language alone.
//!
//! *Invariant*: contains grammars as text; never compiles or interprets them.

/// The name and the text of each grammar.
pub const GRAMMARS: &[(&str, &str)] =
    &[("inline", include_str!("inline.lalrpop")), ("outline", include_str!("outline.lalrpop"))];
