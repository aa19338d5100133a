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
use agentir_diagnostics::Spanned;
use agentir_expr::Dialect as Semantics;
use agentir_expr::{Name, Template};
use agentir_ir::{Agent, Data, NamedThing, Program, SessionVariable, Tool};
use agentir_syntax::emit::{
    Emitted, Emitter, Invented, InventedAt, LossRule, OutputFile, declare_called_tools, file_stem,
    with_legal_names,
};
use document::Script;
use losses::{BASE_LOSSES, LOSSES, PROCEDURE_LOSSES};
use rustc_hash::FxHashSet;
use smol_str::SmolStr;
use std::sync::Arc;

/// Writes one `.agent` file per program.
struct Writer {
    dialect: Dialect,
    /// Whether a flow becomes the procedure of one subagent, where that can be.
    agentic: bool,
}

/// In the dialect agentforce.
pub static AGENTFORCE: &dyn Emitter = &Writer { dialect: Dialect::Agentforce, agentic: false };

/// In the base dialect.
pub static BASE: &dyn Emitter = &Writer { dialect: Dialect::AgentScript, agentic: false };

static AGENTIC: &dyn Emitter = &Writer { dialect: Dialect::Agentforce, agentic: true };

static AGENTIC_BASE: &dyn Emitter = &Writer { dialect: Dialect::AgentScript, agentic: true };

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
        emit(program, self.dialect, self.agentic)
    }

    fn agentic(&self) -> Option<&'static dyn Emitter> {
        Some(match self.dialect {
            Dialect::AgentScript => AGENTIC_BASE,
            _ => AGENTIC,
        })
    }

    fn shares_tools(&self, program: &Program) -> bool {
        // A subagent declares its own, but the results that other languages keep are variables, which all share.
        program.agents().any(|agent| agent.metadata.dialect != dialect::AGENT_SCRIPT)
    }

    fn code_file(&self) -> Option<&'static str> {
        None
    }

    fn losses(&self) -> &'static [&'static [LossRule]] {
        match (self.dialect, self.agentic) {
            (Dialect::AgentScript, false) => &[BASE_LOSSES, LOSSES],
            (Dialect::AgentScript, true) => &[BASE_LOSSES, PROCEDURE_LOSSES, LOSSES],
            (_, false) => &[LOSSES],
            (_, true) => &[PROCEDURE_LOSSES, LOSSES],
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

fn emit(program: &Program, dialect: Dialect, agentic: bool) -> Emitted {
    let (mut remarks, mut led_by_model, mut made) = Default::default();
    let native = |a: &Agent| a.metadata.dialect == dialect::AGENT_SCRIPT;
    let is_native = program.agents().all(native);
    // Adapting names agents, steps and variables.
    let (program, mut renamed) = with_legal_names(program, |what, name| {
        (!is_native && what != NamedThing::Tool) || names::can_be_written(what, name)
    });
    let (mut agents, entry) = if is_native {
        let entry = program.entry_agent.as_ref().map(|name| name.value.clone());
        let mut agents = program.agents.clone();
        let mut flags = Vec::new();
        let own = |agent: &Arc<Agent>| agent.extensions.0.get(dialect::AGENT_SCRIPT.id()).cloned();
        let is_network = agents.iter().filter_map(own).any(|all| all.contains_key("dialect"));
        for agent in agents.iter_mut().map(Arc::make_mut) {
            flags.extend(start::initialize(agent));
            words::say(agent);
            if is_network {
                as_subagent(agent);
            }
            calls::name_arguments(agent);
            agent.tools.iter_mut().for_each(adapt::give_target);
        }
        share_variables(&mut agents, entry.as_ref(), flags);
        (agents, entry)
    } else {
        let mut called = program.clone();
        declare_called_tools(&mut called, dialect::AGENT_SCRIPT);
        let mut all = adapt::program(&called, agentic);
        renamed.extend(all.renamed);
        (remarks, led_by_model, made) = (all.remarks, all.procedures, all.made);
        renamed.extend(reserved::rename(&mut all.agents));
        (all.agents.into_iter().map(Arc::new).collect(), all.entry)
    };
    let invented_targets = invented_targets(&program, &agents);
    // What the source has already, it has with what was said about it.
    let lacks_user = !program
        .agents()
        .any(|agent| document::is_placeholder_user(&data::own_fields(&agent.extensions)));
    let print = |agents: &[Arc<Agent>]| {
        document::print(&Script { agents, entry: entry.clone(), dialect, lacks_user })
    };
    let mut text = print(&agents);
    made.retain(|name| !is_used(&text, name));
    if !made.is_empty() {
        for agent in agents.iter_mut().filter(|agent| !agent.memory.session.is_empty()) {
            let session = &mut Arc::make_mut(agent).memory.session;
            session.retain(|one| !made.contains(&one.name.value));
        }
        renamed.retain(|one| one.what != "variable" || !made.contains(one.to.as_str()));
        text = print(&agents);
    }
    let is_entry = |a: &&Arc<Agent>| Some(&a.metadata.name.value) == entry.as_ref();
    let first = agents.iter().find(is_entry).or(agents.first());
    // The base dialect has no `config` that names the document.
    let named = first.filter(|_| dialect == Dialect::Agentforce);
    let developer_name = named.and_then(|agent| {
        let own = data::own_fields(&agent.extensions);
        let config = own.get("config")?;
        let name = config.get("developer_name").or_else(|| config.get("agent_name"))?;
        Some(name.as_str()?.to_owned())
    });
    let name =
        developer_name.or_else(|| Some(first?.metadata.name.value.to_string())).unwrap_or_default();
    let files = vec![OutputFile { path: format!("{}.agent", file_stem(&name)), text }];
    let is_user_missing = lacks_user && files.iter().any(|file| file.text.contains(adapt::USER));
    let user = is_user_missing.then(|| Invented {
        at: InventedAt::Text(adapt::USER),
        cause: "an agent runs as a user of the platform, which nothing names".to_owned(),
        help: "put the user as whom the agent runs".to_owned(),
        snippet: "default_agent_user: \"agent@company.example\"\n".to_owned(),
    });
    let invented = invented_targets.into_iter().chain(user).collect();
    Emitted { files, renamed, invented, remarks, led_by_model }
}

/// Whether a document reads or sets a variable.
fn is_used(text: &str, name: &str) -> bool {
    let ends = |rest: &str| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_');
    ["@variables.", "with "].into_iter().any(|before| {
        let used = format!("{before}{name}");
        text.match_indices(&used).any(|(at, _)| text.get(at + used.len()..).is_some_and(ends))
    })
}

/// A node of a network as a subagent, which has a description (part II, 4), and leads on behind its reasoning.
fn as_subagent(agent: &mut Agent) {
    if agent.identity.goal.is_none() && agent.metadata.description.is_none() {
        let name = &agent.metadata.name;
        let words = SmolStr::new(name.value.replace('_', " "));
        agent.identity.goal = Some(Template::plain(Spanned::new(words, name.span)));
    }
    if let Some(exit) = agent.hooks.after_agent.take() {
        agent.hooks.after_turn.get_or_insert_default().body.0.extend(exit.body.0);
    }
}

/// The targets of actions that the source does not have.
fn invented_targets(source: &Program, agents: &[Arc<Agent>]) -> Vec<Invented> {
    let target = |tool: &Tool| Some(tool.binding.as_ref()?.0.get("target")?.as_str()?.to_owned());
    let written: FxHashSet<String> = source.tools().filter_map(target).collect();
    let mut seen = FxHashSet::default();
    let mut all = Vec::new();
    for tool in agents.iter().flat_map(|agent| &agent.tools) {
        let name = tool.name.value.to_string();
        let Some(target) = target(tool).filter(|target| !written.contains(target)) else {
            continue;
        };
        if seen.insert(name.clone()) {
            let service = source.tools().find(|one| one.name.value == tool.name.value);
            let said = |key: &str| {
                let value = service?.binding.as_ref()?.0.get(key)?.as_str()?;
                Some(value.split(['?', '#']).next().unwrap_or_default().to_owned())
            };
            let cause = match (said("endpoint"), said("method")) {
                (Some(endpoint), method) => format!(
                    "in the source `{name}` is `{} {endpoint}`",
                    method.as_deref().unwrap_or("POST")
                ),
                (None, _) if service.is_none() => {
                    "its signature is guessed from the agents that use it".to_owned()
                }
                (None, _) => format!("nothing in the source says what `{name}` calls"),
            };
            all.push(Invented {
                cause,
                help: format!("create the flow of the action `{name}`, or put another target"),
                snippet: format!("target: {}\n", Data::from(target)),
                at: InventedAt::Tool(name),
            });
        }
    }
    all
}
