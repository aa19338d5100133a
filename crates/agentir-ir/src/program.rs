//! A program: the agents that run together, and the result of compiling them.

use crate::agent::Agent;
use crate::data::Extensions;
use crate::rules::Profile;
use crate::tool::Tool;
use agentir_diagnostics::{Span, Spanned};
use agentir_expr::Name;
use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::Serialize;
use serde_with::skip_serializing_none;
use smol_str::SmolStr;
use std::collections::{BTreeMap, HashSet};

/// Agents that run together: a project, or the files that were given.
#[derive(Clone, Debug, Default)]
pub struct Program {
    /// All agents, supervisors included, in the order of their files. A name may occur twice; the
    /// lints say so.
    pub agents: Vec<Agent>,
    /// Tool libraries.
    pub libraries: Vec<ToolLibrary>,
    /// Behaviour profiles that stand alone.
    pub profiles: Vec<Profile>,
    /// The agent that talks to the user first, where a manifest says so.
    pub entry_agent: Option<Spanned<Name>>,
    /// Whether these are all agents of the project. If not, names that are not found may be
    /// defined elsewhere.
    pub complete: bool,
    /// What holds for all of it and the model does not model: settings of the platform.
    pub extensions: Extensions,
}

/// Tools that several agents share.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ToolLibrary {
    /// Its tools.
    pub tools: Vec<Tool>,
    /// The modules that their code imports, where they are code.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub imports: Vec<Spanned<Name>>,
    /// What the model does not model.
    #[serde(skip_serializing_if = "Extensions::is_empty")]
    pub extensions: Extensions,
    /// Where it is written.
    #[serde(skip)]
    pub span: Span,
}

impl Program {
    /// The first agent called `name`.
    #[must_use]
    pub fn agent(&self, name: &str) -> Option<&Agent> {
        self.agents.iter().find(|a| a.metadata.name.value == name)
    }

    /// All tools that are declared: by agents, by libraries, by profiles.
    pub fn tools(&self) -> impl Iterator<Item = &Tool> {
        let profiles =
            self.profiles.iter().chain(self.agents.iter().flat_map(|a| &a.behavior_profiles));
        self.agents
            .iter()
            .flat_map(|a| &a.tools)
            .chain(self.libraries.iter().flat_map(|l| &l.tools))
            .chain(profiles.flat_map(|p| &p.tools_add))
    }

    /// The agent that talks to the user first: the one the manifest names, else the only
    /// supervisor that nobody routes to, else the only agent.
    #[must_use]
    pub fn entry(&self) -> Option<&Agent> {
        use crate::agent::AgentType::Supervisor;
        if let Some(name) = &self.entry_agent {
            return self.agent(&name.value);
        }
        if let [only] = self.agents.as_slice() {
            return Some(only);
        }
        // Whom somebody else leads to.
        let mut routed: HashSet<&str> = HashSet::new();
        for other in &self.agents {
            let own = &other.metadata.name.value;
            routed.extend(other.targets().filter(|t| t.value != *own).map(|t| t.value.as_str()));
        }
        let routed = |agent: &Agent| routed.contains(agent.metadata.name.value.as_str());
        let mut roots = self.agents.iter().filter(|a| a.metadata.kind == Supervisor && !routed(a));
        match (roots.next(), roots.next()) {
            (Some(root), None) => Some(root),
            _ => None,
        }
    }
}

impl Agent {
    /// The agents it may go to by its declarations: handoffs, delegates, routing. Aliases of a
    /// supervisor are resolved. Jumps inside flows are not among them.
    pub fn targets(&self) -> impl Iterator<Item = &Spanned<Name>> {
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
            .map(|name| self.resolve_alias(name))
    }

    /// The agent that a supervisor means by `name`.
    #[must_use]
    pub fn resolve_alias<'a>(&'a self, name: &'a Spanned<Name>) -> &'a Spanned<Name> {
        self.available_agents
            .iter()
            .find(|r| r.alias.value == name.value)
            .and_then(|r| r.agent.as_ref())
            .unwrap_or(name)
    }
}

/// What `agentir compile` prints.
#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct CompilationOutput {
    /// [`crate::IR_VERSION`].
    pub version: &'static str,
    /// The agents, supervisors included. An agent with errors is left out.
    pub agents: IndexMap<SmolStr, Agent>,
    /// The agent that talks to the user first.
    pub entry_agent: Option<SmolStr>,
    /// Tools that several agents share.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub libraries: Vec<ToolLibrary>,
    /// Behaviour profiles that stand alone.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub behavior_profiles: Vec<Profile>,
    /// What to know when deploying.
    pub deployment: Deployment,
    /// Agents that run elsewhere.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub remote_agents: Vec<SmolStr>,
    /// What kept agents from being compiled.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub compilation_errors: Vec<CompilationIssue>,
    /// What is probably not as meant.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub compilation_warnings: Vec<CompilationIssue>,
}

/// What to know when deploying.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct Deployment {
    /// `voice`, `digital` or `workflow`, by agent.
    pub runtime_recommendations: BTreeMap<SmolStr, &'static str>,
    /// Agents that keep nothing, so that many may run at once.
    pub parallel_safe: Vec<SmolStr>,
    /// Agents that keep something.
    pub stateful: Vec<SmolStr>,
    /// Agents that people may take over from.
    pub hitl_capable: Vec<SmolStr>,
}

/// An error or warning of the compilation.
#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct CompilationIssue {
    /// The agent, if known.
    pub agent: Option<SmolStr>,
    /// What is wrong.
    pub message: String,
    /// The rule.
    pub code: SmolStr,
    /// Where: `file:line:column`.
    pub path: String,
    /// `parse`, `compilation`, `validation`.
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// `error`, `warning`.
    pub severity: &'static str,
}
