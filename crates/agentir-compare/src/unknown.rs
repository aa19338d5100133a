//! What no comparison looks at.

use crate::values::{Values, segments};
use agentir_ir::Program;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeSet;

/// Something that was not compared, by name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct NotCompared {
    /// What.
    pub what: Unknown,
    /// The tools, agents or languages.
    pub names: Vec<String>,
}

/// A kind of what is not compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Unknown {
    /// What tools do whose declarations differ. Tools that are declared alike are the same tools.
    Tools,
    /// What a model makes of texts that differ.
    Prompts,
    /// Whether the import of a language that nobody writes read the program as its platform would.
    Import,
}

impl Unknown {
    /// The kind in a sentence, before the names.
    pub(crate) const fn text(self) -> &'static str {
        match self {
            Self::Tools => "what tools do that are declared otherwise:",
            Self::Prompts => "what a model makes of texts that differ, of the agents",
            Self::Import => "whether the import understood the program as its platform does:",
        }
    }
}

/// Fields of agents that only a model reads.
const PROMPTS: &[&str] =
    &["execution", "gather", "identity", "knowledge", "policies", "reasoning", "templates"];

/// What was not compared, given the values that differ.
pub(crate) fn not_compared(left: &Program, right: &Program, values: &Values) -> Vec<NotCompared> {
    let mut tools = BTreeSet::new();
    let mut prompts = BTreeSet::new();
    for difference in &values.different {
        // What only the platform of one language knows is no part of a declaration that others could have.
        match segments(&difference.path).as_slice() {
            path if path.contains(&"extensions") => {}
            ["tools", name, ..] | ["agents", _, "tools", name, ..] => {
                tools.insert((*name).to_owned());
            }
            ["agents", agent, part, ..] if PROMPTS.contains(part) => {
                prompts.insert((*agent).to_owned());
            }
            _ => {}
        }
    }
    let dialects = |program: &Program| -> BTreeSet<&'static str> {
        let all = program.agents().map(|agent| agent.metadata.dialect);
        all.filter(|dialect| !dialect.traits().is_authored).map(|dialect| dialect.title()).collect()
    };
    // What was read in the same way on both sides was understood in the same way.
    let [ours, theirs] = [left, right].map(dialects);
    let import = ours.symmetric_difference(&theirs).map(|title| (*title).to_owned()).collect();
    [(Unknown::Tools, tools), (Unknown::Prompts, prompts), (Unknown::Import, import)]
        .into_iter()
        .filter(|(_, names): &(Unknown, BTreeSet<String>)| !names.is_empty())
        .map(|(what, names)| NotCompared { what, names: names.into_iter().collect() })
        .collect()
}
