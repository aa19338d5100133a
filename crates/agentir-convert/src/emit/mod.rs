//! Writing: one module a language, each with its table of what it cannot say.

mod abl;
mod adl;
mod agent_script;
mod imported;

use crate::fidelity::Loss;
use crate::names::Renamed;
use crate::target::{OutputFile, Target};
use agentir_ir::Program;

/// What an emitter wrote.
#[derive(Debug, Default)]
pub(crate) struct Written {
    pub(crate) files: Vec<OutputFile>,
    /// What is called otherwise there.
    pub(crate) renamed: Vec<Renamed>,
}

/// A program in another language.
pub(crate) fn emit(program: &Program, target: Target) -> Written {
    match target {
        Target::Abl | Target::AblYaml => abl::emit(program, target),
        Target::AgentScript | Target::AgentScriptBase => agent_script::emit(program, target),
        Target::Adl => adl::emit(program),
    }
}

/// What a language says in another way or not at all, the most particular rows first, by the names of
/// the path that is looked for.
pub(crate) fn losses(target: Target, names: &[&str]) -> &'static [&'static [Loss]] {
    if names.contains(&imported::KEY) {
        return imported::LOSSES;
    }
    match target {
        Target::Abl | Target::AblYaml => &[abl::LOSSES],
        Target::AgentScript => &[agent_script::LOSSES],
        Target::AgentScriptBase => &[agent_script::BASE_LOSSES, agent_script::LOSSES],
        Target::Adl => &[adl::LOSSES],
    }
}
