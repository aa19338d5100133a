//! What may be the name of something.

use crate::Format;
use crate::dialect;
use crate::inline::{
    ActionKind, ConstraintKind, is_dashed_name, is_step_name, is_word, is_word_of_expressions,
};
use crate::runtime_names::RUNTIME;
use crate::schema;
use agentir_expr::dialect::Notation;
use agentir_ir::NamedThing;
use agentir_syntax::context::NameKind;
use agentir_syntax::names::{NameProblem, is_yaml_value};

const DASHED: NameProblem = NameProblem::Form(
    "a name has letters, digits, `_`, and `-` and `.` between them, and does not begin with a digit",
);

/// Why a text cannot be the name of something.
pub(crate) fn name_problem(format: Format, what: NameKind, name: &str) -> Option<NameProblem> {
    use NameKind::{
        Agent, Entity, LookupTable, Parameter, Profile, ResultField, Step, Template, Tool, Variable,
    };
    let is_read_in_expressions = matches!(what, Variable | Parameter | ResultField | Entity);
    if is_read_in_expressions && !is_word(name) {
        return Some(NameProblem::WORD);
    }
    if !is_dashed_name(name) {
        return Some(DASHED);
    }
    let is_step_word = || !is_step_name(name) || schema::FLOW.field(name).is_some();
    if is_word_of_expressions(name) || is_keyword(name) || (what == Step && is_step_word()) {
        return Some(NameProblem::Keyword);
    }
    let is_owned = match what {
        Variable | Entity => RUNTIME.variable(name).is_some() || RUNTIME.defines(name),
        Tool => RUNTIME.tool(name).is_some() || (name.starts_with("__") && name.ends_with("__")),
        // `agent.name` and `tool.name` are paths of theirs.
        Agent => RUNTIME.namespace(name).is_some() || RUNTIME.memory_roots.contains(&name),
        Step | Parameter | ResultField | Template | Profile | LookupTable => false,
    };
    if is_owned {
        return Some(NameProblem::Runtime);
    }
    (format == Format::Yaml && is_yaml_value(name)).then_some(NameProblem::Yaml)
}

/// Whether a document can have a name so that it is read again. The names of others' runtimes can.
pub(crate) fn can_be_written(what: NamedThing, name: &str) -> bool {
    match what {
        // Paths are written where variables are.
        NamedThing::Variable => name.split(['.', '[']).next().is_some_and(is_word),
        NamedThing::Step => {
            is_dashed_name(name) && is_step_name(name) && schema::FLOW.field(name).is_none()
        }
        NamedThing::Agent | NamedThing::Tool => is_dashed_name(name),
    }
}

/// Whether a word begins a part of a statement. Fields of data are often called like keys in lower case.
fn is_keyword(word: &str) -> bool {
    let upper = !word.bytes().any(|b| b.is_ascii_lowercase());
    let table = dialect::ABL.vocabulary(Notation::Native).keywords;
    let is_known = || {
        ActionKind::from_word(word).is_some()
            || ConstraintKind::from_word(word).is_some()
            || table.iter().any(|(_, known)| *known == word)
    };
    (upper && is_known())
        || ["if", "else", "then", "when"].iter().any(|w| w.eq_ignore_ascii_case(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_words_without_a_meaning_of_their_own() {
        let problem = |what, name| name_problem(Format::Abl, what, name);
        for name in ["", "x y", " x", "1a", "a-b", "a.b", "x:", "{{"] {
            assert_eq!(problem(NameKind::Variable, name), Some(NameProblem::WORD), "{name}");
        }
        for name in ["", "x y", "1a", "a b", "-a", "x: y", "a(b"] {
            assert_eq!(problem(NameKind::Agent, name), Some(DASHED), "{name}");
        }
        assert_eq!(problem(NameKind::Agent, "a-b"), None);
        for name in ["true", "NULL", "and", "COMPLETE", "if", "SET", "REQUIRE"] {
            for what in [NameKind::Variable, NameKind::Step, NameKind::Agent, NameKind::Tool] {
                assert_eq!(problem(what, name), Some(NameProblem::Keyword), "{name}");
            }
        }
        for name in ["complete", "entry_point", "steps"] {
            assert_eq!(problem(NameKind::Step, name), Some(NameProblem::Keyword), "{name}");
            assert_eq!(problem(NameKind::ResultField, name), None, "{name}");
        }
        for name in
            ["user_id", "session", "_x", "last_find_result", "user", "result", "recent_input"]
        {
            assert_eq!(problem(NameKind::Variable, name), Some(NameProblem::Runtime), "{name}");
        }
        assert_eq!(problem(NameKind::Tool, "__mine__"), Some(NameProblem::Runtime));
        for name in ["größe", "order_id", "type"] {
            assert_eq!(problem(NameKind::Variable, name), None, "{name}");
        }
        let yaml = name_problem(Format::Yaml, NameKind::Variable, "yes");
        assert_eq!((yaml, problem(NameKind::Variable, "yes")), (Some(NameProblem::Yaml), None));
    }
}
