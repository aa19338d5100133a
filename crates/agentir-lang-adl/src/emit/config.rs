//! Emits `config.yml`: the settings that MICA reads next to `agents.yml`.

use super::ADL;
use super::yaml::{self, Yaml};
use agentir_ir::Program;
use agentir_syntax::emit::OutputFile;
use indexmap::IndexSet;

/// The settings of a bot. For programs of other languages, the model if all agents name the same, since
/// MICA has one for all. `None` if there are no settings.
pub(super) fn file(program: &Program) -> Option<OutputFile> {
    let settings: Vec<(String, Yaml)> = match program.extensions.0.get(ADL) {
        Some(all) => all.iter().map(|(k, v)| (k.to_string(), Yaml::data(&v.value))).collect(),
        None => {
            let model = Yaml::pair("model", Yaml::text(model(program)?));
            vec![("llm_config".to_owned(), model)]
        }
    };
    if settings.is_empty() {
        return None;
    }
    Some(OutputFile { path: "config.yml".to_owned(), text: yaml::settings(&settings) })
}

fn model(program: &Program) -> Option<&str> {
    let named: IndexSet<&str> = program
        .agents
        .iter()
        .filter_map(|agent| Some(agent.execution.model.as_ref()?.value.as_str()))
        .collect();
    named.first().copied().filter(|_| named.len() == 1)
}
