//! Lowers Agent Script's typed tree to AgentIR (specification part II).
//!
//! A file is a program. `start_agent`, every `subagent` and `topic`, and the nodes of agentfabric are
//! its agents. Data of the whole document is stored once:
//!
//! - variables are session memory of the first agent, with the scope `program`;
//! - `system.instructions` is the system prompt of every agent without one of its own;
//! - the first agent starts with the welcome message; the error message is one of its messages;
//! - data without a field in the IR (`config`, `language`, `connection`, …) is its extensions;
//! - agents deployed elsewhere are its `available_agents`, and the `remote` of every handoff to them.

mod agent;
mod data;
mod fields;
mod statement;
mod tools;

use crate::dialect;
use crate::{self as script, Declaration, Document, Modifier};
use agentir_diagnostics::{Span, Spanned};
use agentir_expr::{Name, Template};
use agentir_ir::{
    Agent, AgentReference, ExecutionHints, Extensions, Remote, Response, SessionVariable,
    Statement, Tool,
};
use agentir_syntax::Definition;
pub(crate) use data::{REFERENCE, constant};
use fields::Fields;
use indexmap::IndexMap;
use rustc_hash::FxHashMap;
use smol_str::SmolStr;

/// The text of a document.
#[derive(Clone, Copy)]
struct Source<'s>(&'s str);

impl<'s> Source<'s> {
    fn slice(self, span: Span) -> &'s str {
        self.0.get(span.range()).unwrap_or_default()
    }

    /// A piece of source text without its indentation, so that equal texts at different levels are equal.
    fn dedented(self, span: Span) -> String {
        let before = self.0.get(..span.start as usize).unwrap_or_default();
        let line = before.rsplit('\n').next().unwrap_or_default();
        let column = line.len() - line.trim_start_matches([' ', '\t']).len();
        let mut lines = self.slice(span).lines();
        let mut text = lines.next().unwrap_or_default().to_owned();
        for line in lines {
            let white = line.len() - line.trim_start_matches([' ', '\t']).len();
            text.push('\n');
            text.push_str(line.get(white.min(column)..).unwrap_or_default());
        }
        text
    }
}

/// What all agents of a document share.
struct Shared<'s> {
    source: Source<'s>,
    /// `system.instructions`.
    instructions: Option<Template>,
    /// Agents deployed elsewhere, with their endpoints.
    remote: FxHashMap<Name, Remote>,
    hash: SmolStr,
}

/// The kinds of block that are agents, including those of agentfabric.
const AGENTS: &[&str] = &[
    "trigger",
    "start_agent",
    "subagent",
    "topic",
    "orchestrator",
    "generator",
    "executor",
    "router",
    "echo",
];

/// The number of a document's agents.
pub(crate) fn agent_count(document: &Document<'_>) -> usize {
    document.root.fields.iter().filter(|field| AGENTS.contains(&field.def.name)).count()
}

/// Lowers a document.
pub(crate) fn lower<'s>(document: Document<'s>, text: &'s str) -> Definition {
    let source = Source(text);
    let whole = document.root.span;
    let dialect = document.dialect;
    let is_fragment = document.is_fragment();
    // Its subagent was not read, so that names in it are unknown.
    let is_first_misspelled = document.root.field("start_agent").is_none()
        && document.root.misspelling("start_agent").is_some();
    let mut root = Fields::new(document.root, source);
    let mut extensions = Extensions::default();
    let mut instructions = None;
    let mut messages = IndexMap::new();
    let mut welcome = None;
    root.with_record("system", &mut extensions, |system| {
        instructions = system.template("instructions");
        let mut rest = Extensions::default();
        system.with_record("messages", &mut rest, |block| {
            let mut message = |name| {
                let text = Some(block.template(name)?);
                Some(Response { text, ..Response::default() })
            };
            welcome = message("welcome");
            if let Some(error) = message("error") {
                messages.insert(SmolStr::new_static("error"), error);
            }
        });
        rest
    })
    .into_iter()
    .for_each(|rest| agentir_syntax::lower::merge_extensions(&mut extensions, rest));
    let mut variables: Vec<SessionVariable> =
        root.declarations("variables").into_iter().map(|d| variable(d, source)).collect();
    let mut remote = FxHashMap::default();
    let mut elsewhere = Vec::new();
    for (_, fields) in root.records(&["connected_subagent"]) {
        elsewhere.extend(connected(fields, &mut remote));
    }
    let mut library: Vec<Tool> = Vec::new();
    for (_, fields) in root.records(&["actions"]) {
        library.extend(tools::tool(fields, source));
    }
    let shared =
        Shared { source, instructions, remote, hash: agentir_syntax::lower::source_hash(text) };
    let mut agents: Vec<Agent> = Vec::new();
    let mut entry: Option<Spanned<Name>> = None;
    let mut first = 0;
    for (kind, fields) in root.records(AGENTS) {
        let agent = agent::agent(kind, fields, &shared);
        if entry.is_none() && matches!(kind, "start_agent" | "trigger") {
            entry = Some(agent.metadata.name.clone());
            first = agents.len();
        }
        agents.push(agent);
    }
    root.preserve(&mut extensions);
    for variable in &mut variables {
        let referenced = || data::resolve(&variable.extensions, &extensions);
        variable.initial_value = variable.initial_value.take().or_else(referenced);
    }
    let own = agents.iter_mut().flat_map(|agent| &mut agent.tools);
    for parameter in own.chain(&mut library).flat_map(|tool| &mut tool.parameters) {
        let referenced = || data::resolve(&parameter.extensions, &extensions);
        parameter.default = parameter.default.take().or_else(referenced);
    }
    // Its nodes follow rules of their own.
    if dialect == script::Dialect::Agentfabric {
        let name = dialect.name().into();
        extensions.insert(dialect::AGENT_SCRIPT.id(), "dialect", name, whole.at_start());
    }
    if agents.is_empty() {
        // Without agents, an empty one carries the data of the document.
        agents.push(agent::empty(whole, &shared));
    }
    if let Some(first) = agents.get_mut(first) {
        // A system prompt that no agent uses is preserved.
        if let Some(global) = shared.instructions
            && first.identity.system_prompt.as_ref().is_some_and(|own| own.template != global)
        {
            let value = global.text.value.as_str().into();
            extensions.insert(
                dialect::AGENT_SCRIPT.id(),
                "system_instructions",
                value,
                global.text.span,
            );
        }
        first.memory.session = variables;
        first.messages = messages;
        first.on_start.0.splice(0..0, welcome.map(Statement::Respond));
        first.available_agents = elsewhere;
        agentir_syntax::lower::merge_extensions(&mut first.extensions, extensions);
    }
    for agent in &mut agents {
        agent.execution.hints = ExecutionHints::of(agent);
    }
    let definition = Definition::program(agents, entry, library, Vec::new());
    match is_fragment || is_first_misspelled {
        true => definition,
        false => definition.complete(),
    }
}

/// `name: mutable string = "x"` (specification part I, 2.3).
fn variable(declaration: Declaration<'_>, source: Source<'_>) -> SessionVariable {
    let Declaration { name, modifier, ty, value, properties, span } = declaration;
    let mut fields = Fields::new(properties, source);
    let description = fields.template("description");
    let mut extensions = fields.into_extensions();
    SessionVariable {
        ty,
        description,
        initial_value: data::declared(value.as_ref(), &mut extensions),
        scope: Some("program"),
        mutability: modifier.map(|m| match m.value {
            Modifier::Mutable => "mutable",
            Modifier::Linked => "linked",
        }),
        extensions,
        span,
        ..SessionVariable::new(name)
    }
}

/// `connected_subagent` (specification part II, 10).
fn connected(
    mut fields: Fields<'_>,
    remote: &mut FxHashMap<Name, Remote>,
) -> Option<AgentReference> {
    let name = fields.name.take()?;
    let target = fields.text("target");
    let address =
        Remote { location: Some("remote"), endpoint: target.clone(), ..Remote::default() };
    remote.insert(name.value.clone(), address);
    Some(AgentReference {
        alias: name.clone(),
        agent: Some(name),
        file: target,
        capabilities: fields.template("description").into_iter().collect(),
        channels: Vec::new(),
        requires_validation: None,
        span: fields.span,
        extensions: fields.into_extensions(),
    })
}
