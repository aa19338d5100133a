//! The emitters: one module per language, each with its loss table.

mod abl;
mod adl;
mod agent_script;
mod imported;

use crate::fidelity::LossRule;
use crate::names::Renamed;
use crate::target::{OutputFile, Target};
use agentir_ir::Program;

/// The output of an emitter.
#[derive(Debug, Default)]
pub(crate) struct Emitted {
    pub(crate) files: Vec<OutputFile>,
    /// Renamings in the output.
    pub(crate) renamed: Vec<Renamed>,
}

/// Emits a program in a language.
pub(crate) fn emit(program: &Program, target: Target) -> Emitted {
    match target {
        Target::Abl | Target::AblYaml => abl::emit(program, target),
        Target::AgentScript | Target::AgentScriptBase => agent_script::emit(program, target),
        Target::Adl => adl::emit(program),
    }
}

/// The loss table of a target, most specific rows first. `names` are the segments of the path that is
/// looked up.
pub(crate) fn losses(target: Target, names: &[&str]) -> &'static [&'static [LossRule]] {
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
