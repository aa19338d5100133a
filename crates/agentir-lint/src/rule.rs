//! Rules and the contexts that they query.

use crate::dataflow::{
    Dataflow, DefIndex, DroppedVariables, ExternalDefs, SearchStats, UseCollector, UseSite,
};
use crate::index::AgentIndex;
use crate::options::Options;
use crate::prompt::{Instructions, Prompt};
use crate::proof::cycles::AutonomousCycles;
use crate::proof::{Prover, QueryBuilder, SharedDeclarations, UnsatCore, VariableFacts};
use crate::timing::Clock;
use crate::types::{OutputTypes, output_types};
use crate::variables::{self, Variables};
use agentir_diagnostics::{Diagnostic, FileId, RuleName, Severity, Span};
use agentir_expr::{ValueType, Version};
use agentir_flow::Cfg;
use agentir_flow::cfg::{AgentCfg, AgentId, Facts as FlowFacts};
use agentir_ir::{Agent, Dialect, Profile, Program, SessionVariable, Tool};
use rustc_hash::{FxHashMap, FxHashSet};
use smol_str::SmolStr;
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::{Arc, LazyLock, OnceLock};

/// A rule of the catalogue.
#[derive(Debug)]
pub struct Rule {
    /// Its name in kebab case; its page is `rules/NAME.md`.
    pub name: RuleName,
    /// Its group.
    pub group: Group,
    /// The severity of its findings.
    pub severity: Severity,
    /// What it finds, in one line.
    pub summary: &'static str,
    /// The names of the equivalent checks in the vendors' tools.
    pub vendor: &'static [&'static str],
    /// The dialects that it applies to.
    pub dialects: &'static [Dialect],
    /// Its check.
    pub check: Check,
}

/// All dialects.
pub(crate) const ANY: &[Dialect] = &[Dialect::Abl, Dialect::AgentScript, Dialect::Adl];
/// Features of ABL only.
pub(crate) const ABL: &[Dialect] = &[Dialect::Abl];
/// Features of ABL and Agent Script.
pub(crate) const ABL_AND_SCRIPT: &[Dialect] = &[Dialect::Abl, Dialect::AgentScript];
/// Features of ABL and ADL.
pub(crate) const ABL_AND_ADL: &[Dialect] = &[Dialect::Abl, Dialect::Adl];
/// Features of ADL only.
pub(crate) const ADL: &[Dialect] = &[Dialect::Adl];
/// Features of Agent Script only.
pub(crate) const AGENT_SCRIPT: &[Dialect] = &[Dialect::AgentScript];

impl Rule {
    /// Whether the rule applies to a dialect. Programs of unknown dialects, such as imported
    /// exports, get the rules for all dialects.
    pub(crate) fn speaks(&self, dialect: Option<Dialect>) -> bool {
        match dialect {
            Some(dialect) => self.dialects.contains(&dialect),
            None => self.dialects == ANY,
        }
    }
}

/// A group of rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Group {
    /// Syntax.
    Syntax,
    /// Versions of the language, and conflicting forms.
    Versions,
    /// Undefined, duplicate and unused names.
    Names,
    /// Names reserved by the runtime.
    Reserved,
    /// Unreachable code.
    Reachability,
    /// Conditions, decided by a solver.
    Proofs,
    /// Dataflow: definitions, uses and transfers of variables.
    Data,
    /// Security.
    Security,
    /// Natural-language instructions.
    Prompts,
    /// Differences between ADL's paper and MICA, its implementation.
    Mica,
}

/// The scope of a rule's check.
#[derive(Debug, Clone, Copy)]
pub enum Check {
    /// The front end checks it while reading.
    FrontEnd,
    /// Checks the source text of a file, comments included.
    Text(fn(FileId, &str, &mut Report<'_>)),
    /// Checks each agent.
    Agent(fn(&AgentContext<'_>, &mut Report<'_>)),
    /// Checks the program as a whole.
    Program(for<'a> fn(&'a ProgramContext<'a>, &mut Report<'_>)),
}

/// An agent with its analyses, which are computed on demand.
#[derive(Debug)]
pub struct AgentContext<'a> {
    /// The agent.
    pub agent: &'a Agent,
    /// The program that it belongs to.
    pub program: &'a ProgramContext<'a>,
    /// The version of the language that its document must follow.
    pub version: Version,
    /// Its parts by kind.
    pub index: Rc<AgentIndex<'a>>,
    /// Its id in the control-flow graph.
    pub id: AgentId,
    variable_facts: OnceLock<VariableFacts>,
    flow_facts: OnceLock<FlowFacts<'a>>,
    use_sites: OnceLock<FxHashMap<SmolStr, Vec<UseSite>>>,
    output_types: OnceLock<OutputTypes>,
    /// The ill-typed expressions in conditions (Agent Script).
    pub(crate) mistyped_spans: OnceLock<FxHashSet<Span>>,
    /// The outcomes of conditions and comparisons that have been queried, by address and required
    /// outcome.
    pub(crate) decided: RefCell<FxHashMap<(usize, bool), Decided>>,
}

/// The proof of an outcome, if there is one.
pub(crate) type Decided = Option<Rc<UnsatCore>>;

/// A program with its analyses, which are computed on demand.
#[derive(Debug)]
pub struct ProgramContext<'a> {
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
    /// All variables that any agent receives.
    pub handed: FxHashSet<&'a str>,
    /// The variables of library tools.
    pub shared: Variables<'a>,
    /// The variables that all agents share, by name.
    pub variables: FxHashMap<&'a str, &'a SessionVariable>,
    /// Whether the program uses the agentfabric dialect of Agent Script, whose nodes have
    /// references and functions of their own.
    pub agentfabric: bool,
    /// The ids of agents by address; names may be ambiguous.
    ids: FxHashMap<usize, AgentId>,
    /// The file of the first agent that uses a profile, by the profile's file.
    homes: FxHashMap<FileId, FileId>,
    graph: OnceLock<Rc<Cfg<'a>>>,
    /// The index of each agent.
    indices: Vec<OnceLock<Rc<AgentIndex<'a>>>>,
    /// The definitions of each agent.
    def_indices: Vec<OnceLock<Option<Rc<DefIndex<'a>>>>>,
    /// The options of the rules for each agent.
    pub(crate) options: &'a [Arc<Options>],
    pub(crate) search_stats: Rc<SearchStats>,
    autonomous_cycles: OnceLock<AutonomousCycles>,
    dropped: OnceLock<DroppedVariables>,
    declared_variables: OnceLock<Rc<SharedDeclarations>>,
    variable_types: OnceLock<FxHashMap<&'a str, ValueType>>,
    instructions: OnceLock<Instructions<'a>>,
    external_defs: OnceLock<ExternalDefs<'a>>,
    pub(crate) prover: Prover,
    pub(crate) clock: Clock,
}

impl<'a> ProgramContext<'a> {
    pub(crate) fn new(program: &'a Program) -> Self {
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
        let handed = passed.values().flatten().copied().collect();
        let mut shared = Variables::default();
        shared.of_tools(program.libraries.iter().flat_map(|l| &l.tools));
        let everywhere = program.agents().flat_map(|a| &a.memory.session);
        let variables = everywhere
            .filter(|v| v.scope == Some("program"))
            .map(|v| (v.name.value.as_str(), v))
            .collect();
        let said = program.agents().flat_map(|a| a.extensions.0.values());
        let agentfabric =
            said.filter_map(|all| all.get("dialect")).any(|d| d.value == "agentfabric");
        let mut agents = FxHashMap::default();
        for agent in program.agents() {
            agents.entry(agent.metadata.name.value.as_str()).or_insert(agent);
        }
        let mut declared = FxHashSet::default();
        for agent in program.agents().filter(|a| crate::dialects::is_adl(a)) {
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
            handed,
            shared,
            variables,
            agentfabric,
            ids: (0..).zip(&program.agents).map(|(i, a)| (address(a), AgentId(i))).collect(),
            homes,
            external_defs: OnceLock::new(),
            graph: OnceLock::new(),
            indices: program.agents().map(|_| OnceLock::new()).collect(),
            def_indices: program.agents().map(|_| OnceLock::new()).collect(),
            options: &[],
            search_stats: Rc::default(),
            autonomous_cycles: OnceLock::new(),
            dropped: OnceLock::new(),
            declared_variables: OnceLock::new(),
            variable_types: OnceLock::new(),
            instructions: OnceLock::new(),
            prover: Prover::new(program.agents.len()),
            clock: Clock::default(),
        }
    }

    /// Whether the program is written in Agent Script, in which each file is a program.
    #[must_use]
    pub fn is_agent_script(&self) -> bool {
        self.program.agents().any(is_agent_script)
    }

    /// The natural-language instructions of all agents.
    pub(crate) fn instructions(&self) -> &Instructions<'a> {
        let new = || Instructions::new(self.program);
        self.instructions.get_or_init(|| self.clock.time("(instructions)", new))
    }

    /// The cycles without a decision of the user or the model, in all agents.
    pub(crate) fn autonomous_cycles(&self) -> &AutonomousCycles {
        self.autonomous_cycles.get_or_init(|| {
            self.clock.time("(cycles without an exit)", || AutonomousCycles::of(self.graph()))
        })
    }

    /// Returns the id of an agent in the control-flow graph.
    pub(crate) fn id(&self, agent: &Agent) -> Option<AgentId> {
        self.ids.get(&address(agent)).copied()
    }

    /// Returns the context of one agent, with the default version of the language.
    pub(crate) fn context(&'a self, agent: &'a Agent) -> AgentContext<'a> {
        let position = self.id(agent).map_or(usize::MAX, |id| id.0 as usize);
        AgentContext::new(agent, position, self, Version::default())
    }

    /// The declarations of variables that the program shares (Agent Script).
    pub(crate) fn declared_variables(&self) -> Rc<SharedDeclarations> {
        Rc::clone(self.declared_variables.get_or_init(|| Rc::new(SharedDeclarations::new(self))))
    }

    /// The types of shared variables, for those that declare one.
    pub(crate) fn variable_types(&self) -> &FxHashMap<&'a str, ValueType> {
        let typed = |(name, variable): (&&'a str, &&SessionVariable)| {
            Some((*name, ValueType::of(variable.ty.as_ref()?)?))
        };
        self.variable_types.get_or_init(|| self.variables.iter().filter_map(typed).collect())
    }

    /// The definitions of variables by other agents.
    pub(crate) fn external_defs(&self) -> &ExternalDefs<'a> {
        let new = || ExternalDefs::new(self.program, self.graph());
        self.external_defs.get_or_init(|| self.clock.time("(definitions by other agents)", new))
    }

    /// The variables that are dropped at handoffs.
    pub(crate) fn dropped(&'a self) -> &'a DroppedVariables {
        self.dropped.get_or_init(|| {
            self.clock.time("(values dropped at handoffs)", || DroppedVariables::new(self))
        })
    }

    /// The control-flow graph.
    pub fn graph(&self) -> &Cfg<'a> {
        self.graph_or_new()
    }

    /// The control-flow graph, for analyses that keep it.
    pub(crate) fn shared_graph(&self) -> Rc<Cfg<'a>> {
        Rc::clone(self.graph_or_new())
    }

    fn graph_or_new(&self) -> &Rc<Cfg<'a>> {
        let new = || Rc::new(Cfg::of_program(self.program));
        self.graph.get_or_init(|| self.clock.time("(control-flow graph)", new))
    }
}

fn address(agent: &Agent) -> usize {
    std::ptr::from_ref(agent).addr()
}

/// Whether an agent is written in Agent Script.
pub(crate) fn is_agent_script(agent: &Agent) -> bool {
    agent.metadata.dialect == Dialect::AgentScript.name()
}

impl<'a> AgentContext<'a> {
    /// Whether the agent is written in Agent Script.
    #[must_use]
    pub fn is_agent_script(&self) -> bool {
        is_agent_script(self.agent)
    }

    /// Returns the context of the agent at `position` in the program.
    pub(crate) fn new(
        agent: &'a Agent,
        position: usize,
        program: &'a ProgramContext<'a>,
        version: Version,
    ) -> Self {
        let id = AgentId(u32::try_from(position).unwrap_or(u32::MAX));
        let new = || Rc::new(AgentIndex::new(agent, program));
        let new = || program.clock.time("(index of names)", new);
        let index =
            program.indices.get(position).map_or_else(new, |f| Rc::clone(f.get_or_init(new)));
        Self {
            agent,
            program,
            version,
            index,
            id,
            variable_facts: OnceLock::new(),
            flow_facts: OnceLock::new(),
            use_sites: OnceLock::new(),
            output_types: OnceLock::new(),
            mistyped_spans: OnceLock::new(),
            decided: RefCell::default(),
        }
    }

    /// Returns the value of a numeric option, or its default.
    pub(crate) fn number(&self, rule: &Rule, option: &str) -> usize {
        self.options().number(rule.name.0, option)
    }

    /// Whether an option of a rule includes `word`.
    pub(crate) fn names(&self, rule: &Rule, option: &str, word: &str) -> bool {
        self.options().names(rule.name.0, option, word)
    }

    fn options(&self) -> &Options {
        static NOTHING: LazyLock<Options> = LazyLock::new(Options::new);
        self.program.options.get(self.id.0 as usize).map_or(&NOTHING, Arc::as_ref)
    }

    /// Its subgraph of the control-flow graph.
    #[must_use]
    pub fn agent_cfg(&self) -> Option<&AgentCfg<'a>> {
        self.program.graph().agent(self.id)
    }

    /// Its natural-language instructions.
    pub(crate) fn prompts(&self) -> &[Prompt<'a>] {
        self.program.instructions().of(self.id)
    }

    /// The facts at its program points, see [`Cfg::facts`].
    pub fn flow_facts(&self) -> &FlowFacts<'a> {
        let graph = self.program.graph();
        let new = || graph.facts(self.id);
        self.flow_facts.get_or_init(|| self.program.clock.time("(facts at program points)", new))
    }

    /// The facts that its declarations state about variables, for the solver.
    pub fn variable_facts(&self) -> &VariableFacts {
        let new = || VariableFacts::new(self);
        self.variable_facts.get_or_init(|| self.program.clock.time("(facts about variables)", new))
    }

    /// Returns a dataflow search with a budget of its own.
    pub(crate) fn dataflow(&self) -> Option<Dataflow<'a>> {
        // If the program shares its variables, all agents share one index.
        let slot = if self.is_agent_script() { 0 } else { self.id.0 as usize };
        let slot = self.program.def_indices.get(slot)?;
        let new = || DefIndex::new(self).map(Rc::new);
        let new = || self.program.clock.time("(definitions of variables)", new);
        let defs = slot.get_or_init(new).clone()?;
        Some(Dataflow::new(defs, self.id, Rc::clone(&self.program.search_stats)))
    }

    /// Returns the nodes that may read a variable.
    pub(crate) fn use_sites(&self, flow: &Dataflow<'a>, name: &str) -> &[UseSite] {
        let new = || UseCollector::places(flow, &|tool| self.tool(tool));
        let new = || self.program.clock.time("(uses of variables)", new);
        self.use_sites.get_or_init(new).get(name).map_or(&[], Vec::as_slice)
    }

    /// The types of the outputs that it reads (Agent Script).
    pub(crate) fn output_types(&self) -> &OutputTypes {
        self.output_types.get_or_init(|| output_types(self))
    }

    /// Returns a query about its conditions.
    #[must_use]
    pub fn query(&self) -> QueryBuilder<'_, 'a> {
        QueryBuilder::new(self)
    }

    /// Whether this agent reports a finding at `span`: if the span is in its own file, or in a
    /// profile that no earlier agent uses.
    #[must_use]
    pub fn answers_for(&self, span: Span) -> bool {
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

/// The findings of a rule.
pub struct Report<'r> {
    pub(crate) rule: &'static Rule,
    pub(crate) diagnostics: &'r mut Vec<Diagnostic>,
}

impl Report<'_> {
    /// Creates a finding at `span` with the rule's severity. Pass it to [`Report::push`].
    #[must_use]
    pub fn finding(&self, span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(self.rule.name, self.rule.severity, span, message)
    }

    /// Adds a finding.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
    }
}
