//! What may be the name of something.

use crate::dialect::ADL;
use crate::inline::{is_word, is_word_of_conditions};
use crate::{python, schema};
use agentir_ir::NamedThing;
use agentir_syntax::context::NameKind;
use agentir_syntax::names::{NameProblem, is_yaml_value};

/// Agents, labels and subflows are keys and values of YAML; only `agent.argument` needs a word.
const KEY: NameProblem = NameProblem::Form(
    "a name has letters, digits and `_`, with single `-` or spaces between them, and does not begin with a digit",
);

/// The top-level key that is no agent (Appendix A).
const TOOLS: &str = "tools";

/// The steps without a verb (Appendix A, and MICA's former ones).
const BARE_STEPS: &[&str] = &["user", "begin", "end"];

/// Why a text cannot be the name of something. Functions and their parameters are defined in Python.
pub(crate) fn name_problem(what: NameKind, name: &str) -> Option<NameProblem> {
    let problem = match what {
        NameKind::Tool | NameKind::Parameter => {
            (!python::is_name(name)).then_some(NameProblem::Python)
        }
        NameKind::Agent | NameKind::Step => key_problem(what, name),
        _ if !is_word(name) => Some(NameProblem::WORD),
        _ if is_word_of_conditions(name) => Some(NameProblem::Keyword),
        NameKind::Variable if ADL.runtime().defines(name) => Some(NameProblem::Runtime),
        _ => None,
    };
    problem.or_else(|| is_yaml_value(name).then_some(NameProblem::Yaml))
}

/// Whether a bot can have a name so that it is read again.
pub(crate) fn can_be_written(what: NamedThing, name: &str) -> bool {
    match what {
        NamedThing::Agent => key_problem(NameKind::Agent, name).is_none(),
        NamedThing::Step => key_problem(NameKind::Step, name).is_none(),
        NamedThing::Tool => python::is_name(name),
        // What is collected may have several words. It stands in no expression then, because none can name it.
        NamedThing::Variable => {
            name.split(['.', '[']).next().is_some_and(|root| root.split(' ').all(is_word))
        }
    }
}

fn key_problem(what: NameKind, name: &str) -> Option<NameProblem> {
    let is_part = |part: &str| !part.is_empty() && part.chars().all(is_part);
    if !name.split(['-', ' ']).all(is_part) || name.starts_with(char::is_numeric) {
        return Some(KEY);
    }
    let is_keyword = match what {
        NameKind::Agent => name == TOOLS,
        _ => schema::by_key(name).is_some() || BARE_STEPS.contains(&name),
    };
    is_keyword.then_some(NameProblem::Keyword)
}

fn is_part(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_depend_on_where_they_stand() {
        for name in ["", "x y", "1a", "a-b", "a.b", "class", "None", "if", "x:"] {
            for what in [NameKind::Tool, NameKind::Parameter] {
                assert_eq!(name_problem(what, name), Some(NameProblem::Python), "{name}");
            }
        }
        for name in ["", "x y", "1a", "a-b", "a.b", "x:"] {
            assert_eq!(name_problem(NameKind::Variable, name), Some(NameProblem::WORD), "{name}");
        }
        for name in ["", " x", "1a", "a.b", "x:", "- x", "a  b", "#x"] {
            assert_eq!(name_problem(NameKind::Agent, name), Some(KEY), "{name}");
        }
        for name in ["and", "None", "True", "ref"] {
            assert_eq!(
                name_problem(NameKind::Variable, name),
                Some(NameProblem::Keyword),
                "{name}"
            );
        }
        assert_eq!(name_problem(NameKind::Step, "steps"), Some(NameProblem::Keyword));
        assert_eq!(name_problem(NameKind::Step, "user"), Some(NameProblem::Keyword));
        assert_eq!(name_problem(NameKind::Agent, "tools"), Some(NameProblem::Keyword));
        assert_eq!(name_problem(NameKind::Variable, "_user_input"), Some(NameProblem::Runtime));
        for what in [NameKind::Agent, NameKind::Variable, NameKind::Tool] {
            assert_eq!(name_problem(what, "yes"), Some(NameProblem::Yaml));
            assert_eq!(name_problem(what, "route"), None);
        }
        assert_eq!(name_problem(NameKind::Agent, "add payee"), None);
        assert_eq!(name_problem(NameKind::Step, "ask-again"), None);
    }
}
