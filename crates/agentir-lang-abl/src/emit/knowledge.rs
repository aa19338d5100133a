//! Questions with fixed answers. A few are said in the instructions; more are a file that a knowledge base loads, which
//! the agent searches.

use agentir_ir::{Agent, Knowledge};
use agentir_syntax::emit::{OutputFile, file_stem, knowledge_path, questions_to_csv};

/// How many questions are said in the instructions.
const MAX_SAID: usize = 5;

/// Whether the questions of a knowledge base are a file.
pub(super) fn is_file(knowledge: &Knowledge) -> bool {
    knowledge.questions.len() > MAX_SAID
}

/// The name of an agent's knowledge base.
pub(super) fn base(agent: &Agent) -> String {
    file_stem(&agent.metadata.name.value)
}

/// The path of the file with the questions of an agent.
pub(super) fn path(agent: &Agent) -> String {
    knowledge_path(&base(agent))
}

/// The file with the questions of an agent.
pub(super) fn file(agent: &Agent) -> Option<OutputFile> {
    let knowledge = agent.knowledge.as_ref().filter(|knowledge| is_file(knowledge))?;
    Some(OutputFile { path: path(agent), text: questions_to_csv(&knowledge.questions) })
}
