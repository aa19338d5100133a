//! What may be the name of something.

use crate::dialect::AGENT_SCRIPT;
use crate::inline::is_word;
use agentir_ir::NamedThing;
use agentir_syntax::names::NameProblem;

/// Why a text cannot be the name of something, of whatever kind: `@namespace.name` refers to all of them.
pub(crate) fn name_problem(name: &str) -> Option<NameProblem> {
    if !is_word(name) {
        Some(NameProblem::WORD)
    } else if is_reserved(name) {
        Some(NameProblem::Keyword)
    } else {
        None
    }
}

/// Whether the vendor's compiler reserves a name, so that no variable, input or output can have it: keywords and the names
/// of types (`reserved-name`).
pub(crate) fn is_reserved(name: &str) -> bool {
    AGENT_SCRIPT.reserved_words().contains(&name)
}

/// Whether a document can have a name so that it is read again.
pub(crate) fn can_be_written(what: NamedThing, name: &str) -> bool {
    is_word(name) && (what != NamedThing::Variable || (name.is_ascii() && !is_reserved(name)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_words_of_references() {
        for name in ["", "x y", "1a", "a-b", "a.b", "@x", "x:"] {
            assert_eq!(name_problem(name), Some(NameProblem::WORD), "{name}");
        }
        for name in ["True", "None", "and", "if", "mutable", "date", "list"] {
            assert_eq!(name_problem(name), Some(NameProblem::Keyword), "{name}");
        }
        for name in ["order_id", "yes", "Größe", "go_to"] {
            assert_eq!(name_problem(name), None, "{name}");
        }
    }
}
