//! The LALRPOP grammars of all languages, as text.
//!
//! The build script of `agentir-syntax` compiles them. They are a package of their own because a
//! packaged crate can read files only from its own folder, and grammars belong at the top of the
//! repository, where people read them.
//!
//! *Invariant*: contains grammars as text; never compiles or interprets them.

macro_rules! grammars {
    ($($name:literal),+ $(,)?) => {
        &[$(($name, include_str!(concat!($name, ".lalrpop")))),+]
    };
}

/// The name and the text of each grammar. The grammar `abl_flow` is the file `abl_flow.lalrpop`.
pub const GRAMMARS: &[(&str, &str)] = grammars![
    "abl_flow",
    "abl_inline",
    "abl_outline",
    "adl_inline",
    "agent_script",
    "agent_script_inline",
];
