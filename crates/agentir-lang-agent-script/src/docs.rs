//! What the values and the words of Agent Script are for, and where they are specified: the rows of `docs.txt`.

use agentir_syntax::docs::Docs;
use std::sync::OnceLock;

/// The rows.
pub(crate) fn docs() -> &'static Docs {
    static DOCS: OnceLock<Docs> = OnceLock::new();
    DOCS.get_or_init(|| Docs::read(include_str!("docs.txt")))
}
