//! The Agent Script emitter: one `.agent` file per program (specification part II, 1).

mod adapt;
mod agent;
mod data;
mod document;
mod expr;
mod layout;
mod losses;
mod prompt;
mod statement;

pub(super) use losses::{BASE_LOSSES, LOSSES};

use super::Emitted;
use crate::target::{OutputFile, Target, file_stem};
use agentir_ir::{Agent, Program};
use agentir_syntax::agent_script::Dialect;
use document::Script;
use std::sync::Arc;

pub(super) fn emit(program: &Program, target: Target) -> Emitted {
    let dialect = match target {
        Target::AgentScriptBase => Dialect::AgentScript,
        _ => Dialect::Agentforce,
    };
    let native = |a: &Agent| a.metadata.dialect == agentir_expr::dialect::AGENT_SCRIPT;
    let mut renamed = Vec::new();
    let (agents, entry) = if program.agents().all(native) {
        let entry = program.entry_agent.as_ref().map(|name| name.value.clone());
        (program.agents.clone(), entry)
    } else {
        let all = adapt::program(program);
        renamed = all.renamed;
        (all.agents.into_iter().map(Arc::new).collect(), all.entry)
    };
    let text = document::print(&Script { agents: &agents, entry: entry.clone(), dialect });
    let is_entry = |a: &&Arc<Agent>| Some(&a.metadata.name.value) == entry.as_ref();
    let first = agents.iter().find(is_entry).or(agents.first());
    let developer_name = first.and_then(|agent| {
        let own = data::own_fields(&agent.extensions);
        let config = own.get("config")?;
        let name = config.get("developer_name").or_else(|| config.get("agent_name"))?;
        Some(name.as_str()?.to_owned())
    });
    let name =
        developer_name.or_else(|| Some(first?.metadata.name.value.to_string())).unwrap_or_default();
    let files = vec![OutputFile { path: format!("{}.agent", file_stem(&name)), text }];
    Emitted { files, renamed }
}
