//! The tree-sitter grammars of ABL and Agent Script with their queries, as editors load them.
//!
//! They are for editors: our own programs read these languages with the parsers of `agentir-lang-*`. This package lets
//! tests compare the two.
//!
//! *Invariant*: contains what is in the folders beside it, and nothing else.

use tree_sitter_language::LanguageFn;

/// A grammar with its queries.
pub struct Grammar {
    /// The folder that it is in.
    pub name: &'static str,
    /// The parser.
    pub parser: LanguageFn,
    /// Each query with the name of its file.
    pub queries: &'static [(&'static str, &'static str)],
}

/// ABL.
pub const ABL: Grammar = Grammar {
    name: "abl",
    // SAFETY: the function is a parser that tree-sitter generated.
    #[expect(unsafe_code, reason = "the parser is a function in C")]
    parser: unsafe { LanguageFn::from_raw(c::tree_sitter_abl) },
    queries: &[
        ("highlights.scm", include_str!("abl/queries/highlights.scm")),
        ("folds.scm", include_str!("abl/queries/folds.scm")),
        ("indents.scm", include_str!("abl/queries/indents.scm")),
        ("tags.scm", include_str!("abl/queries/tags.scm")),
    ],
};

/// Agent Script.
pub const AGENT_SCRIPT: Grammar = Grammar {
    name: "agent-script",
    // SAFETY: the function is a parser that tree-sitter generated.
    #[expect(unsafe_code, reason = "the parser is a function in C")]
    parser: unsafe { LanguageFn::from_raw(c::tree_sitter_agent_script) },
    queries: &[
        ("highlights.scm", include_str!("agent-script/queries/highlights.scm")),
        ("folds.scm", include_str!("agent-script/queries/folds.scm")),
        ("indents.scm", include_str!("agent-script/queries/indents.scm")),
        ("tags.scm", include_str!("agent-script/queries/tags.scm")),
    ],
};

#[expect(unsafe_code, reason = "the parsers are functions in C")]
mod c {
    unsafe extern "C" {
        pub(crate) fn tree_sitter_abl() -> *const ();
        pub(crate) fn tree_sitter_agent_script() -> *const ();
    }
}
