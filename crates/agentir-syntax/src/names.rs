//! What may be the name of something.

use crate::lower::data::{NO_FLOW, of_bare};
use crate::outline::yaml_1_1_bool;
use std::fmt;

/// Why a text cannot be the name of something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NameProblem {
    /// It is empty, or has characters that names do not have. What names are, as a sentence.
    Form(&'static str),
    /// The language reads it as a word of its own.
    Keyword,
    /// The runtime gives it a meaning.
    Runtime,
    /// YAML reads it as a value that is no text.
    Yaml,
    /// It names a function or a parameter in Python, which has no such names.
    Python,
}

impl NameProblem {
    /// What names are that expressions read.
    pub const WORD: Self =
        Self::Form("a name has letters, digits and `_`, and does not begin with a digit");
}

impl fmt::Display for NameProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Form(allowed) => allowed,
            Self::Keyword => "the language has a meaning for this word; choose another one",
            Self::Runtime => "the runtime has a meaning for this name; choose another one",
            Self::Yaml => "YAML reads it as another value than a text; choose another name",
            Self::Python => {
                "a name in Python has letters, digits and `_`, does not begin with a digit, and is no keyword"
            }
        })
    }
}

/// Whether YAML 1.1 or 1.2 reads an unquoted text as a value that is no text: `yes`, `null`, `1.5`.
#[must_use]
pub fn is_yaml_value(text: &str) -> bool {
    let null = matches!(text, "Null" | "NULL");
    null || yaml_1_1_bool(text).is_some() || !of_bare(text, NO_FLOW).is_string()
}

#[cfg(test)]
mod tests {
    use super::is_yaml_value;

    #[test]
    fn some_words_are_values_in_yaml() {
        for value in ["yes", "Off", "y", "null", "NULL", "~", "true", "1", "1.5", "-2"] {
            assert!(is_yaml_value(value), "{value}");
        }
        for text in ["yesterday", "nulls", "one", "n1", "a b"] {
            assert!(!is_yaml_value(text), "{text}");
        }
    }
}
