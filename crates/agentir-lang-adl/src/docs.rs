//! What the words of ADL are for, and where they are specified: the rows of `docs.txt`.

use agentir_syntax::docs::{Doc, Docs};
use std::sync::OnceLock;

/// The rows.
pub(crate) fn docs() -> &'static Docs {
    static DOCS: OnceLock<Docs> = OnceLock::new();
    DOCS.get_or_init(|| Docs::read(include_str!("docs.txt")))
}

/// What a key is for, and where it is specified; nothing for names that authors choose. Keys mean the same everywhere.
pub(crate) fn doc(key: &str) -> Doc {
    docs().everywhere(key)
}
