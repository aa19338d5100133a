//! Programs (agents that run together) and the output of compilation.

use crate::agent::Agent;
use crate::coordination::AgentReference;
use crate::data::Extensions;
use crate::rules::Profile;
use crate::statement::Response;
use crate::tool::Tool;
use agentir_diagnostics::{FileId, Span, Spanned};
use agentir_expr::dialect::{self, Notation, Vocabulary};
use agentir_expr::{Dialect, Name, Template};
use indexmap::IndexMap;
use rustc_hash::FxHashMap;
use smol_str::SmolStr;
use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

/// Agents that run together: a project, or the given files. Definitions are shared with the files
/// they come from, so cloning a program is cheap.
#[derive(Clone, Debug, Default)]
pub struct Program {
    /// All agents including supervisors, in file order. Names may be duplicated; a lint rule reports it.
    pub agents: Vec<Arc<Agent>>,
    /// Tool libraries.
    pub libraries: Vec<Arc<ToolLibrary>>,
    /// Standalone behaviour profiles.
    pub profiles: Vec<Arc<Profile>>,
    /// The agent that talks to the user first, if a manifest names it.
    pub entry_agent: Option<Spanned<Name>>,
    /// Whether these are all agents of the project. If not, unresolved names may be defined elsewhere.
    pub complete: bool,
    /// The agents that run elsewhere, where no agent says so: they are none of `agents`.
    pub remote_agents: Vec<SmolStr>,
    /// Platform settings that AgentIR has no field for.
    pub extensions: Extensions,
}

/// Tools shared by several agents.
#[derive(Clone, Debug)]
pub struct ToolLibrary {
    /// The source dialect.
    pub dialect: Dialect,
    /// The tools.
    pub tools: Vec<Tool>,
    /// The modules imported by tools written in code.
    pub imports: Vec<Spanned<Name>>,
    /// Where the comments of tools written in code are: they are no part of what the tools do.
    pub comments: Vec<Span>,
    /// Dialect-specific data that AgentIR has no field for.
    pub extensions: Extensions,
    /// Its location in the source.
    pub span: Span,
}

impl Program {
    /// All agents, in the order of their files.
    pub fn agents(&self) -> impl DoubleEndedIterator<Item = &Agent> + ExactSizeIterator {
        self.agents.iter().map(|agent| &**agent)
    }

    /// All agents, to be changed. An agent that other programs share is copied first.
    pub fn agents_mut(&mut self) -> impl Iterator<Item = &mut Agent> {
        self.agents.iter_mut().map(Arc::make_mut)
    }

    /// The behaviour profiles that stand alone, in the order of their files.
    pub fn profiles(&self) -> impl Iterator<Item = &Profile> {
        self.profiles.iter().map(|profile| &**profile)
    }

    /// The first agent called `name`.
    #[must_use]
    pub fn agent(&self, name: &str) -> Option<&Agent> {
        self.agents().find(|a| a.metadata.name.value == name)
    }

    /// All declared tools: of agents, libraries and profiles.
    pub fn tools(&self) -> impl Iterator<Item = &Tool> {
        let own = self.agents.iter().flat_map(|a| &a.behavior_profiles);
        let profiles = self.profiles().chain(own);
        self.agents
            .iter()
            .flat_map(|a| &a.tools)
            .chain(self.libraries.iter().flat_map(|l| &l.tools))
            .chain(profiles.flat_map(|p| &p.tools_add))
    }

    /// The notation of a file.
    #[must_use]
    pub fn notation(&self, file: FileId) -> Notation {
        let agents = self.agents().map(|a| (a.metadata.name.span.file, a.metadata.notation));
        let profiles = self.profiles().map(|p| (p.name.span.file, p.notation));
        let mut all = agents.chain(profiles);
        all.find(|(of, _)| *of == file).map(|(_, notation)| notation).unwrap_or_default()
    }

    /// How things are called in a file.
    #[must_use]
    pub fn vocabulary(&self, file: FileId) -> &'static Vocabulary {
        self.dialect().vocabulary(self.notation(file))
    }

    /// The dialect of the program. What runs together shares one.
    #[must_use]
    pub fn dialect(&self) -> Dialect {
        let agents = self.agents().map(|agent| agent.metadata.dialect);
        let profiles = self.profiles().map(|profile| profile.dialect);
        let libraries = self.libraries.iter().map(|library| library.dialect);
        agents.chain(profiles).chain(libraries).next().unwrap_or(dialect::NONE)
    }

    /// The agent that talks to the user first: the one the manifest names, else the only agent, else the
    /// only supervisor that no agent routes to.
    #[must_use]
    pub fn entry(&self) -> Option<&Agent> {
        use crate::agent::AgentType::Supervisor;
        if let Some(name) = &self.entry_agent {
            return self.agent(&name.value);
        }
        if let [only] = self.agents.as_slice() {
            return Some(only);
        }
        // The agents that others lead to.
        let mut routed: HashSet<&str> = HashSet::new();
        for other in &self.agents {
            let own = &other.metadata.name.value;
            routed.extend(other.targets().filter(|t| t.value != *own).map(|t| t.value.as_str()));
        }
        let routed = |agent: &Agent| routed.contains(agent.metadata.name.value.as_str());
        let mut roots = self.agents().filter(|a| a.metadata.kind == Supervisor && !routed(a));
        match (roots.next(), roots.next()) {
            (Some(root), None) => Some(root),
            _ => None,
        }
    }
}

impl Agent {
    /// Whether the agent only looks up answers: it has knowledge, and neither instructions nor anything to do
    /// (ADL, B.2).
    #[must_use]
    pub fn is_knowledge_base(&self) -> bool {
        let works = self.flow.is_some()
            || self.reasoning.is_some()
            || !self.gather.fields.is_empty()
            || !self.tools.is_empty()
            || !self.use_tools.is_empty();
        let instructed = !self.identity.instructions.is_empty()
            || self.identity.system_prompt.is_some()
            || self.identity.persona.is_some();
        self.knowledge.is_some() && !works && !instructed
    }

    /// Whether there is something of this name that the agent can call: a tool that it declares, takes from a library, or
    /// gets from one of these profiles, a tool of its platform, or another agent, by its name or the agent's own name for it.
    /// Whatever leads there, every agent of the program is one, which `is_agent` knows.
    pub fn can_call<'p>(
        &self,
        name: &str,
        profiles: impl IntoIterator<Item = &'p Profile>,
        is_agent: impl Fn(&str) -> bool,
    ) -> bool {
        let added = profiles.into_iter().flat_map(|profile| &profile.tools_add);
        let tools = self.tools.iter().chain(added).map(|tool| &tool.name);
        tools.chain(&self.use_tools).any(|tool| tool.value == name)
            || is_agent(name)
            || self.references_to(name).next().is_some()
            || self.targets().any(|agent| agent.value == name)
            || self.remote_agents().any(|agent| agent == name)
            || self.metadata.dialect.runtime().has_tool(name)
    }

    /// The agents its declarations lead to: handoffs, delegates, routing. Aliases of a supervisor are
    /// resolved. Jumps inside flows are not included.
    pub fn targets(&self) -> impl Iterator<Item = &Spanned<Name>> {
        let aliases = self.aliases();
        let routing = self.routing.iter().flat_map(|r| {
            r.rules.iter().filter_map(|rule| rule.to.as_ref()).chain(r.default_agent.as_ref())
        });
        self.coordination
            .handoffs
            .iter()
            .filter(|h| h.remote.is_none())
            .map(|h| &h.to)
            .chain(
                self.coordination.delegates.iter().filter(|d| d.remote.is_none()).map(|d| &d.agent),
            )
            .chain(routing)
            .map(move |name| aliases.resolve(name))
    }

    /// What a response says: its text, the template, or the message that it names.
    #[must_use]
    pub fn response_text<'a>(&'a self, response: &'a Response) -> Option<&'a Template> {
        let named = |name: &str| self.templates.get(name)?.default.as_ref();
        let message = |key: &str| self.messages.get(key)?.text.as_ref();
        let text = response.text.as_ref();
        text.or_else(|| named(response.template.as_ref()?.value.as_str()))
            .or_else(|| message(response.message_key.as_ref()?.value.as_str()))
    }

    /// The agent that `name` stands for, if it is an alias of a supervisor.
    #[must_use]
    pub fn resolve_alias<'a>(&'a self, name: &'a Spanned<Name>) -> &'a Spanned<Name> {
        self.available_agents
            .iter()
            .find(|r| r.alias.value == name.value)
            .and_then(|r| r.agent.as_ref())
            .unwrap_or(name)
    }

    /// What its list of agents says about what it calls `name`: the entries of that alias, else all entries of the agent of
    /// that name.
    pub fn references_to(&self, name: &str) -> impl Iterator<Item = &AgentReference> {
        let aliased = self.available_agents.iter().any(|r| r.alias.value == name);
        self.available_agents.iter().filter(move |reference| match aliased {
            true => reference.alias.value == name,
            false => reference.agent.as_ref().is_some_and(|agent| agent.value == name),
        })
    }

    /// The names that the agent has for others, for many look-ups.
    #[must_use]
    pub fn aliases(&self) -> Aliases<'_> {
        let mut all = FxHashMap::default();
        for reference in &self.available_agents {
            all.entry(reference.alias.value.as_str()).or_insert(reference.agent.as_ref());
        }
        Aliases(all)
    }
}

/// The names that an agent has for others.
#[derive(Debug)]
pub struct Aliases<'a>(FxHashMap<&'a str, Option<&'a Spanned<Name>>>);

impl<'a> Aliases<'a> {
    /// The name of the agent that a name stands for; see [`Agent::resolve_alias`].
    #[must_use]
    pub fn resolve(&self, name: &'a Spanned<Name>) -> &'a Spanned<Name> {
        self.0.get(name.value.as_str()).copied().flatten().unwrap_or(name)
    }
}

/// The output of `agentir compile`.
#[derive(Clone, Debug)]
pub struct CompilationOutput {
    /// [`crate::IR_VERSION`].
    pub version: &'static str,
    /// The agents including supervisors. Agents with errors are omitted.
    pub agents: IndexMap<SmolStr, Arc<Agent>>,
    /// The agent that talks to the user first.
    pub entry_agent: Option<Spanned<Name>>,
    /// Tools shared by several agents.
    pub libraries: Vec<Arc<ToolLibrary>>,
    /// Standalone behaviour profiles.
    pub behavior_profiles: Vec<Arc<Profile>>,
    /// Hints for deployment.
    pub deployment: Deployment,
    /// Agents that run elsewhere.
    pub remote_agents: Vec<SmolStr>,
    /// Whether these are all agents of the program, where their number does not say.
    pub complete: Option<bool>,
    /// Errors that prevented agents from being compiled.
    pub compilation_errors: Vec<CompilationIssue>,
    /// Warnings.
    pub compilation_warnings: Vec<CompilationIssue>,
    /// Platform settings that AgentIR has no field for.
    pub extensions: Extensions,
}

/// Hints for deployment.
#[derive(Clone, Debug, Default)]
pub struct Deployment {
    /// `voice`, `digital` or `workflow`, by agent.
    pub runtime_recommendations: BTreeMap<SmolStr, &'static str>,
    /// Stateless agents, of which many instances may run at once.
    pub parallel_safe: Vec<SmolStr>,
    /// Stateful agents.
    pub stateful: Vec<SmolStr>,
    /// Agents that a human can take over from.
    pub hitl_capable: Vec<SmolStr>,
}

/// An error or warning of the compilation.
#[derive(Clone, Debug)]
pub struct CompilationIssue {
    /// The agent, if known.
    pub agent: Option<SmolStr>,
    /// The message.
    pub message: String,
    /// The rule.
    pub code: SmolStr,
    /// The location: `file:line:column`.
    pub path: String,
    /// `parse`, `compilation`, `validation`.
    pub kind: &'static str,
    /// `error`, `warning`.
    pub severity: &'static str,
}
