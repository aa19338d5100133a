//! Questions with fixed answers. A few are said in the instructions; more are a file that a knowledge base loads, which
//! the agent searches.

use agentir_ir::{Agent, Knowledge, Program};
use agentir_syntax::emit::{
    NameSyntax, Namespace, OutputFile, file_stem, is_data_path, knowledge_path, questions_to_csv,
};
use rustc_hash::FxHashMap;
use smol_str::SmolStr;

/// How many questions are said in the instructions.
const MAX_SAID: usize = 5;

/// Whether the questions of a knowledge base are a file.
fn is_file(knowledge: &Knowledge) -> bool {
    knowledge.questions.len() > MAX_SAID
}

/// The knowledge bases of agents whose questions are files, by the agents' names. Agents whose names differ in no more than
/// their case or their signs have different ones.
pub(super) struct Bases(FxHashMap<SmolStr, SmolStr>);

impl Bases {
    /// The knowledge bases of a program.
    pub(super) fn of(program: &Program) -> Self {
        let mut names = Namespace::of(NameSyntax::Any);
        let with_file = program.agents().filter(|a| a.knowledge.as_ref().is_some_and(is_file));
        let named = with_file.map(|agent| {
            let name = &agent.metadata.name.value;
            (name.clone(), names.claim(&[&file_stem(name)]))
        });
        Self(named.collect())
    }

    /// The name of an agent's knowledge base, if its questions are a file.
    pub(super) fn get(&self, agent: &Agent) -> Option<&SmolStr> {
        self.0.get(&agent.metadata.name.value)
    }
}

/// The file with the questions of an agent.
pub(super) fn file(agent: &Agent, bases: &Bases) -> Option<OutputFile> {
    let (knowledge, base) = (agent.knowledge.as_ref()?, bases.get(agent)?);
    Some(OutputFile { path: knowledge_path(base), text: questions_to_csv(&knowledge.questions) })
}

/// The files of the knowledge bases that tools search, as far as their questions are known.
pub(super) fn searched(program: &Program) -> Vec<OutputFile> {
    let mut files: Vec<OutputFile> = Vec::new();
    for tool in program.tools().filter(|tool| !tool.questions.is_empty()) {
        let Some(path) = tool.knowledge_base().map(knowledge_path) else { continue };
        // A name may be no name of a file.
        if is_data_path(&path) && files.iter().all(|file| file.path != path) {
            files.push(OutputFile { path, text: questions_to_csv(&tool.questions) });
        }
    }
    files
}
