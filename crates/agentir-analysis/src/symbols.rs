//! The symbol tables of a program and of its agents.

use crate::index::AgentIndex;
use crate::variables::{self, Variables};
use agentir_diagnostics::{FileId, Span};
use agentir_expr::Dialect;
use agentir_expr::dialect::{Traits, Vocabulary};
use agentir_flow::cfg::AgentId;
use agentir_ir::{Agent, Profile, Program, SessionVariable, Tool};
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;

/// The symbol tables of a program.
#[derive(Debug)]
pub struct ProgramSymbols<'a> {
    /// The program.
    pub program: &'a Program,
    /// The agents by name; the first one if several share a name.
    pub agents: FxHashMap<&'a str, &'a Agent>,
    /// The arguments that ADL agents declare, each with the span of the agent's name.
    pub declared: FxHashSet<(Span, &'a str)>,
    /// The tools of libraries.
    pub library: FxHashMap<&'a str, &'a Tool>,
    /// The standalone profiles.
    pub profiles: FxHashMap<&'a str, &'a Profile>,
    /// The variables that each agent receives from others, by the name of the receiver.
    pub passed: FxHashMap<&'a str, FxHashSet<&'a str>>,
    /// The variables of library tools.
    pub shared: Rc<Variables<'a>>,
    /// The variables that all agents share, by name.
    pub variables: FxHashMap<&'a str, &'a SessionVariable>,
    /// Whether references and functions need no declarations.
    pub open_references: bool,
    /// The file of the first agent that uses a profile, by the profile's file.
    homes: FxHashMap<FileId, FileId>,
}

impl<'a> ProgramSymbols<'a> {
    /// Collects the names of a program.
    #[must_use]
    pub fn new(program: &'a Program) -> Self {
        let library = program
            .libraries
            .iter()
            .flat_map(|l| &l.tools)
            .map(|tool| (tool.name.value.as_str(), tool))
            .collect();
        let profiles: FxHashMap<&str, &Profile> =
            program.profiles.iter().map(|p| (p.name.value.as_str(), &**p)).collect();
        let mut homes = FxHashMap::default();
        for agent in program.agents() {
            for name in &agent.use_behavior_profiles {
                if let Some(profile) = profiles.get(name.value.as_str()) {
                    homes.entry(profile.span.file).or_insert(agent.metadata.name.span.file);
                }
            }
        }
        let passed = variables::passed(program);
        let mut shared = Variables::default();
        shared.of_tools(program.libraries.iter().flat_map(|l| &l.tools));
        let everywhere = program.agents().flat_map(|a| &a.memory.session);
        let variables = everywhere
            .filter(|v| v.scope == Some("program"))
            .map(|v| (v.name.value.as_str(), v))
            .collect();
        let open_references = program.agents().any(|agent| {
            let dialect = agent.metadata.dialect;
            let own = agent.extensions.0.get(dialect.id());
            let open = own.zip(dialect.open_references());
            open.is_some_and(|(all, (key, value))| all.get(key).is_some_and(|e| e.value == value))
        });
        let mut agents = FxHashMap::default();
        for agent in program.agents() {
            agents.entry(agent.metadata.name.value.as_str()).or_insert(agent);
        }
        let mut declared = FxHashSet::default();
        for agent in program.agents().filter(|a| a.metadata.dialect.traits().reads_other_agents) {
            let at = agent.metadata.name.span;
            let fields = agent.gather.fields.iter().map(|f| &f.name);
            let variables = agent.memory.session.iter().map(|v| &v.name);
            declared.extend(fields.chain(variables).map(|name| (at, name.value.as_str())));
        }
        Self {
            program,
            agents,
            declared,
            library,
            profiles,
            passed,
            shared: Rc::new(shared),
            variables,
            open_references,
            homes,
        }
    }

    /// How things are called where a span is.
    #[must_use]
    pub fn words(&self, span: Span) -> &'static Vocabulary {
        self.program.vocabulary(span.file)
    }

    /// The dialect of the program.
    #[must_use]
    pub fn dialect(&self) -> Dialect {
        self.program.dialect()
    }

    /// How agents of its dialect behave.
    #[must_use]
    pub fn traits(&self) -> &'static Traits {
        self.dialect().traits()
    }
}

/// The symbol tables of an agent: its parts by kind, and its variables by origin.
#[derive(Debug)]
pub struct AgentTables<'a> {
    /// Its parts by kind.
    pub index: AgentIndex<'a>,
    /// The variables that it knows.
    pub variables: Variables<'a>,
}

impl<'a> AgentTables<'a> {
    /// Indexes an agent of a program.
    #[must_use]
    pub fn new(agent: &'a Agent, program: &ProgramSymbols<'a>) -> Self {
        let index = AgentIndex::new(agent, &program.profiles);
        let passed = program.passed.get(agent.metadata.name.value.as_str());
        let variables = Variables::new(agent, &index, Rc::clone(&program.shared), passed);
        Self { index, variables }
    }
}

/// An agent with its symbol tables and those of its program.
#[derive(Debug, Clone, Copy)]
pub struct AgentSymbols<'p, 'a> {
    /// The symbol tables of its program.
    pub program: &'p ProgramSymbols<'a>,
    /// The agent.
    pub agent: &'a Agent,
    /// Its id.
    pub id: AgentId,
    /// Its parts by kind.
    pub index: &'p AgentIndex<'a>,
    /// The variables that it knows.
    pub variables: &'p Variables<'a>,
}

impl<'a> AgentSymbols<'_, 'a> {
    /// How things are called where a span is.
    #[must_use]
    pub fn words(&self, span: Span) -> &'static Vocabulary {
        self.program.words(span)
    }

    /// The dialect of the agent.
    #[must_use]
    pub const fn dialect(&self) -> Dialect {
        self.agent.metadata.dialect
    }

    /// How agents of its dialect behave.
    #[must_use]
    pub const fn traits(&self) -> &'static Traits {
        self.dialect().traits()
    }

    /// Whether its variables have their initial values when it begins: neither other agents nor callers set
    /// them.
    #[must_use]
    pub const fn starts_fresh(&self) -> bool {
        let traits = self.traits();
        !traits.shared_variables && !traits.arguments_are_variables
    }

    /// Whether a span belongs to this agent: if it is in the agent's own file, or in a profile that
    /// no earlier agent uses. So each span of a program belongs to one file's agents.
    #[must_use]
    pub fn owns(&self, span: Span) -> bool {
        let own = self.agent.metadata.name.span.file;
        span.file == own || self.program.homes.get(&span.file) == Some(&own)
    }

    /// Returns the profiles that may apply: its own, and those it references.
    pub fn profiles(&self) -> impl Iterator<Item = &'a Profile> + '_ {
        let named = self
            .agent
            .use_behavior_profiles
            .iter()
            .filter_map(|name| self.program.profiles.get(name.value.as_str()).copied());
        self.agent.behavior_profiles.iter().chain(named)
    }

    /// Returns the tool called `name`: its own, or one of a profile or a library.
    #[must_use]
    pub fn tool(&self, name: &str) -> Option<&'a Tool> {
        self.index.tools.get(name).copied().or_else(|| self.program.library.get(name).copied())
    }
}
