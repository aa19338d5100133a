//! The Agent Script emitter: one `.agent` file per program (specification part II, 1).

mod adapt;
mod agent;
mod calls;
mod data;
mod document;
mod expr;
mod layout;
mod losses;
mod prompt;
mod reserved;
mod start;
mod statement;
mod words;

use crate::{Dialect, dialect, names};
use agentir_expr::Dialect as Semantics;
use agentir_expr::Name;
use agentir_ir::{Agent, NamedThing, Program, SessionVariable};
use agentir_syntax::emit::{Emitted, Emitter, LossRule, OutputFile, file_stem, with_legal_names};
use document::Script;
use losses::{BASE_LOSSES, LOSSES};
use std::sync::Arc;

/// Writes one `.agent` file per program.
struct Writer {
    dialect: Dialect,
}

/// In the dialect agentforce.
pub static AGENTFORCE: &dyn Emitter = &Writer { dialect: Dialect::Agentforce };

/// In the base dialect.
pub static BASE: &dyn Emitter = &Writer { dialect: Dialect::AgentScript };

impl Emitter for Writer {
    fn name(&self) -> &'static str {
        match self.dialect {
            Dialect::AgentScript => "agent-script-base",
            _ => dialect::AGENT_SCRIPT.id(),
        }
    }

    fn title(&self) -> &'static str {
        match self.dialect {
            Dialect::AgentScript => "Agent Script (base)",
            _ => dialect::AGENT_SCRIPT.title(),
        }
    }

    fn summary(&self) -> &'static str {
        match self.dialect {
            Dialect::AgentScript => "Agent Script, base dialect (cannot be deployed)",
            _ => "Agent Script, agentforce dialect",
        }
    }

    fn dialect(&self) -> Semantics {
        dialect::AGENT_SCRIPT
    }

    fn emit(&self, program: &Program) -> Emitted {
        emit(program, self.dialect)
    }

    fn shares_tools(&self, program: &Program) -> bool {
        // A subagent declares its own, but the results that other languages keep are variables, which all share.
        program.agents().any(|agent| agent.metadata.dialect != dialect::AGENT_SCRIPT)
    }

    fn losses(&self) -> &'static [&'static [LossRule]] {
        match self.dialect {
            Dialect::AgentScript => &[BASE_LOSSES, LOSSES],
            _ => &[LOSSES],
        }
    }
}

/// A script has its variables in one place, that of its first agent.
fn share_variables(
    agents: &mut [Arc<Agent>],
    entry: Option<&Name>,
    mut others: Vec<SessionVariable>,
) {
    let is_first = |agent: &Arc<Agent>| Some(&agent.metadata.name.value) == entry;
    let first = agents.iter().position(is_first).unwrap_or_default();
    for (at, agent) in agents.iter_mut().enumerate() {
        if at != first && !agent.memory.session.is_empty() {
            others.append(&mut Arc::make_mut(agent).memory.session);
        }
    }
    let Some(first) = agents.get_mut(first).filter(|_| !others.is_empty()) else { return };
    let own = &mut Arc::make_mut(first).memory.session;
    for one in others {
        if own.iter().all(|known| known.name.value != one.name.value) {
            own.push(one);
        }
    }
}

fn emit(program: &Program, dialect: Dialect) -> Emitted {
    let native = |a: &Agent| a.metadata.dialect == dialect::AGENT_SCRIPT;
    let is_native = program.agents().all(native);
    // Adapting names agents, steps and variables.
    let (program, mut renamed) = with_legal_names(program, |what, name| {
        (!is_native && what != NamedThing::Tool) || names::can_be_written(what, name)
    });
    let (agents, entry) = if is_native {
        let entry = program.entry_agent.as_ref().map(|name| name.value.clone());
        let mut agents = program.agents.clone();
        let mut flags = Vec::new();
        for agent in agents.iter_mut().map(Arc::make_mut) {
            flags.extend(start::initialize(agent));
            words::say(agent);
            calls::name_arguments(agent);
            agent.tools.iter_mut().for_each(adapt::give_target);
        }
        share_variables(&mut agents, entry.as_ref(), flags);
        (agents, entry)
    } else {
        let mut all = adapt::program(&program);
        renamed.extend(all.renamed);
        renamed.extend(reserved::rename(&mut all.agents));
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
