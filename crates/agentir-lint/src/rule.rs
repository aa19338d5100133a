//! What a rule is, and what it gets to see.

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
    /// Its name, in kebab case; the page is `rules/NAME.md`.
    pub name: RuleName,
    /// What it belongs to.
    pub group: Group,
    /// How bad its findings are.
    pub severity: Severity,
    /// What it finds, in one line.
    pub summary: &'static str,
    /// What the vendors' tools call the same thing, if they find it.
    pub vendor: &'static [&'static str],
    /// The dialects it has something to say about.
    pub dialects: &'static [Dialect],
    /// How it finds it.
    pub check: Check,
}

/// Every dialect.
pub(crate) const ANY: &[Dialect] = &[Dialect::Abl, Dialect::AgentScript, Dialect::Adl];
/// What only ABL has, or has in this way.
pub(crate) const ABL: &[Dialect] = &[Dialect::Abl];
/// What ABL and Agent Script have in common.
pub(crate) const ABL_AND_SCRIPT: &[Dialect] = &[Dialect::Abl, Dialect::AgentScript];
/// What ABL and ADL have in common.
pub(crate) const ABL_AND_ADL: &[Dialect] = &[Dialect::Abl, Dialect::Adl];
/// What only ADL has.
pub(crate) const ADL: &[Dialect] = &[Dialect::Adl];
/// What only Agent Script has.
pub(crate) const AGENT_SCRIPT: &[Dialect] = &[Dialect::AgentScript];

impl Rule {
    /// Whether it has something to say about agents of a dialect. What is no dialect of ours, such as an
    /// imported export, is told what holds for all of them.
    pub(crate) fn speaks(&self, dialect: Option<Dialect>) -> bool {
        match dialect {
            Some(dialect) => self.dialects.contains(&dialect),
            None => self.dialects == ANY,
        }
    }
}

/// Groups of rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Group {
    /// The text itself.
    Syntax,
    /// Versions of the language and forms that contradict each other.
    Versions,
    /// Names that are undefined, defined twice, or unused.
    Names,
    /// Names that belong to the runtime.
    Reserved,
    /// What can never happen.
    Reachability,
    /// What conditions say, proved by a solver.
    Proofs,
    /// What variables hold: where they are set, read, removed and handed on.
    Data,
    /// What others must not see.
    Security,
    /// What instructions in words ask for.
    Prompts,
    /// Differences between ADL as its paper has it and MICA, which runs it.
    Mica,
}

/// How a rule looks.
#[derive(Debug, Clone, Copy)]
pub enum Check {
    /// While the text is read; nothing is left to do here.
    FrontEnd,
    /// At the text of a file as it stands, comments included.
    Text(fn(FileId, &str, &mut Report<'_>)),
    /// At one agent.
    Agent(fn(&AgentContext<'_>, &mut Report<'_>)),
    /// At all of them together.
    Program(for<'a> fn(&'a ProgramContext<'a>, &mut Report<'_>)),
}

/// An agent, and what is known about it.
#[derive(Debug)]
pub struct AgentContext<'a> {
    /// The agent.
    pub agent: &'a Agent,
    /// The agents it runs with.
    pub program: &'a ProgramContext<'a>,
    /// The version of the language its document is held to.
    pub version: Version,
    /// What it says, sorted by what it does.
    pub index: Rc<AgentIndex<'a>>,
    /// Its part of the program's graph.
    pub id: AgentId,
    variable_facts: OnceLock<VariableFacts>,
    flow_facts: OnceLock<FlowFacts<'a>>,
    use_sites: OnceLock<FxHashMap<SmolStr, Vec<UseSite>>>,
    output_types: OnceLock<OutputTypes>,
    /// Where the types of Agent Script do not fit in conditions.
    pub(crate) mistyped_spans: OnceLock<FxHashSet<Span>>,
    /// Of the conditions and comparisons that were asked about, by their addresses, whether they always
    /// hold, or never.
    pub(crate) decided: RefCell<FxHashMap<(usize, bool), Decided>>,
}

/// Whether something always comes out so: the lines that show it.
pub(crate) type Decided = Option<Rc<UnsatCore>>;

/// A program, and what is known about it.
#[derive(Debug)]
pub struct ProgramContext<'a> {
    /// The program.
    pub program: &'a Program,
    /// The agents by name; of several the first.
    pub agents: FxHashMap<&'a str, &'a Agent>,
    /// The arguments that agents of ADL declare, each with the place of the agent's name.
    pub declared: FxHashSet<(Span, &'a str)>,
    /// The tools of the libraries.
    pub library: FxHashMap<&'a str, &'a Tool>,
    /// The profiles that stand alone.
    pub profiles: FxHashMap<&'a str, &'a Profile>,
    /// What agents are given by others, by the name of who is given it.
    pub passed: FxHashMap<&'a str, FxHashSet<&'a str>>,
    /// All that any agent is given.
    pub handed: FxHashSet<&'a str>,
    /// The variables that the libraries' tools bring.
    pub shared: Variables<'a>,
    /// The variables that all agents share, by name.
    pub variables: FxHashMap<&'a str, &'a SessionVariable>,
    /// Whether it is written in the dialect agentfabric of Agent Script, whose nodes have references
    /// and functions of their own.
    pub agentfabric: bool,
    /// The agents by their addresses; two may have one name.
    ids: FxHashMap<usize, AgentId>,
    /// The file of the first agent that uses a profile, by the profile's file.
    homes: FxHashMap<FileId, FileId>,
    graph: OnceLock<Rc<Cfg<'a>>>,
    /// What each agent says.
    indices: Vec<OnceLock<Rc<AgentIndex<'a>>>>,
    /// What each agent does to variables.
    def_indices: Vec<OnceLock<Option<Rc<DefIndex<'a>>>>>,
    /// What the project sets for the rules, by agent.
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
            program.profiles.iter().map(|p| (p.name.value.as_str(), p)).collect();
        let mut homes = FxHashMap::default();
        for agent in &program.agents {
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
        let everywhere = program.agents.iter().flat_map(|a| &a.memory.session);
        let variables = everywhere
            .filter(|v| v.scope == Some("program"))
            .map(|v| (v.name.value.as_str(), v))
            .collect();
        let said = program.agents.iter().flat_map(|a| a.extensions.0.values());
        let agentfabric =
            said.filter_map(|all| all.get("dialect")).any(|d| d.value == "agentfabric");
        let mut agents = FxHashMap::default();
        for agent in &program.agents {
            agents.entry(agent.metadata.name.value.as_str()).or_insert(agent);
        }
        let mut declared = FxHashSet::default();
        for agent in program.agents.iter().filter(|a| crate::dialects::is_adl(a)) {
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
            indices: program.agents.iter().map(|_| OnceLock::new()).collect(),
            def_indices: program.agents.iter().map(|_| OnceLock::new()).collect(),
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

    /// Whether the program is written in Agent Script, where a file is a program.
    #[must_use]
    pub fn is_agent_script(&self) -> bool {
        self.program.agents.iter().any(is_agent_script)
    }

    /// What its agents are told in words.
    pub(crate) fn instructions(&self) -> &Instructions<'a> {
        let new = || Instructions::new(self.program);
        self.instructions.get_or_init(|| self.clock.time("(instructions)", new))
    }

    /// The loops and circles of all agents in which nobody has a say.
    pub(crate) fn autonomous_cycles(&self) -> &AutonomousCycles {
        self.autonomous_cycles.get_or_init(|| {
            self.clock.time("(forced circles)", || AutonomousCycles::of(self.graph()))
        })
    }

    /// An agent's part of the control-flow graph.
    pub(crate) fn id(&self, agent: &Agent) -> Option<AgentId> {
        self.ids.get(&address(agent)).copied()
    }

    /// One of its agents on its own, without the version it is held to.
    pub(crate) fn context(&'a self, agent: &'a Agent) -> AgentContext<'a> {
        let position = self.id(agent).map_or(usize::MAX, |id| id.0 as usize);
        AgentContext::new(agent, position, self, Version::default())
    }

    /// What the variables of a program in Agent Script are declared as.
    pub(crate) fn declared_variables(&self) -> Rc<SharedDeclarations> {
        Rc::clone(self.declared_variables.get_or_init(|| Rc::new(SharedDeclarations::new(self))))
    }

    /// The types of the variables that all agents share, of those that have one.
    pub(crate) fn variable_types(&self) -> &FxHashMap<&'a str, ValueType> {
        let typed = |(name, variable): (&&'a str, &&SessionVariable)| {
            Some((*name, ValueType::of(variable.ty.as_ref()?)?))
        };
        self.variable_types.get_or_init(|| self.variables.iter().filter_map(typed).collect())
    }

    /// What agents set of each other.
    pub(crate) fn external_defs(&self) -> &ExternalDefs<'a> {
        let new = || ExternalDefs::new(self.program, self.graph());
        self.external_defs.get_or_init(|| self.clock.time("(set of each other)", new))
    }

    /// What is lost where agents hand over to each other.
    pub(crate) fn dropped(&'a self) -> &'a DroppedVariables {
        self.dropped
            .get_or_init(|| self.clock.time("(lost at handoffs)", || DroppedVariables::new(self)))
    }

    /// What can follow what.
    pub fn graph(&self) -> &Cfg<'a> {
        self.graph_or_new()
    }

    /// The same, for what is kept beside it.
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

    /// The agent that stands at `place` in the program.
    pub(crate) fn new(
        agent: &'a Agent,
        position: usize,
        program: &'a ProgramContext<'a>,
        version: Version,
    ) -> Self {
        let id = AgentId(u32::try_from(position).unwrap_or(u32::MAX));
        let new = || Rc::new(AgentIndex::new(agent, program));
        let new = || program.clock.time("(facts)", new);
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

    /// What the project sets for an option of a rule that is a number, or what it is otherwise.
    pub(crate) fn number(&self, rule: &Rule, option: &str) -> usize {
        self.options().number(rule.name.0, option)
    }

    /// Whether the project names `word` in an option of a rule.
    pub(crate) fn names(&self, rule: &Rule, option: &str, word: &str) -> bool {
        self.options().names(rule.name.0, option, word)
    }

    fn options(&self) -> &Options {
        static NOTHING: LazyLock<Options> = LazyLock::new(Options::new);
        self.program.options.get(self.id.0 as usize).map_or(&NOTHING, Arc::as_ref)
    }

    /// Its part of the program's graph.
    #[must_use]
    pub fn agent_cfg(&self) -> Option<&AgentCfg<'a>> {
        self.program.graph().agent(self.id)
    }

    /// What its model is told in words.
    pub(crate) fn prompts(&self) -> &[Prompt<'a>] {
        self.program.instructions().of(self.id)
    }

    /// What tests and assignments on every way to a place say there.
    pub fn flow_facts(&self) -> &FlowFacts<'a> {
        let graph = self.program.graph();
        let new = || graph.facts(self.id);
        self.flow_facts.get_or_init(|| self.program.clock.time("(known at a place)", new))
    }

    /// What the agent says about its variables, for the solver.
    pub fn variable_facts(&self) -> &VariableFacts {
        let new = || VariableFacts::new(self);
        self.variable_facts.get_or_init(|| self.program.clock.time("(said of variables)", new))
    }

    /// A search for what variables hold, with a limit of its own.
    pub(crate) fn dataflow(&self) -> Option<Dataflow<'a>> {
        // Where variables belong to the program, so do the places that set them.
        let slot = if self.is_agent_script() { 0 } else { self.id.0 as usize };
        let slot = self.program.def_indices.get(slot)?;
        let new = || DefIndex::new(self).map(Rc::new);
        let new = || self.program.clock.time("(places of variables)", new);
        let defs = slot.get_or_init(new).clone()?;
        Some(Dataflow::new(defs, self.id, Rc::clone(&self.program.search_stats)))
    }

    /// The places of the agent at which a variable may be read.
    pub(crate) fn use_sites(&self, flow: &Dataflow<'a>, name: &str) -> &[UseSite] {
        let new = || UseCollector::places(flow, &|tool| self.tool(tool));
        let new = || self.program.clock.time("(places of variables)", new);
        self.use_sites.get_or_init(new).get(name).map_or(&[], Vec::as_slice)
    }

    /// The types of the outputs that it reads, in Agent Script.
    pub(crate) fn output_types(&self) -> &OutputTypes {
        self.output_types.get_or_init(|| output_types(self))
    }

    /// A question about its conditions.
    #[must_use]
    pub fn query(&self) -> QueryBuilder<'_, 'a> {
        QueryBuilder::new(self)
    }

    /// Whether a finding at `span` is to be reported for this agent: it is in the agent's own file,
    /// or in a profile that no agent before it uses.
    #[must_use]
    pub fn answers_for(&self, span: Span) -> bool {
        let own = self.agent.metadata.name.span.file;
        span.file == own || self.program.homes.get(&span.file) == Some(&own)
    }

    /// The profiles that may apply to the agent: its own, and those it names.
    pub fn profiles(&self) -> impl Iterator<Item = &'a Profile> + '_ {
        let named = self
            .agent
            .use_behavior_profiles
            .iter()
            .filter_map(|name| self.program.profiles.get(name.value.as_str()).copied());
        self.agent.behavior_profiles.iter().chain(named)
    }

    /// The tool called `name`: its own, one of a profile, one of a library.
    #[must_use]
    pub fn tool(&self, name: &str) -> Option<&'a Tool> {
        self.index.tools.get(name).copied().or_else(|| self.program.library.get(name).copied())
    }
}

/// Where a rule puts its findings.
pub struct Report<'r> {
    pub(crate) rule: &'static Rule,
    pub(crate) diagnostics: &'r mut Vec<Diagnostic>,
}

impl Report<'_> {
    /// A finding of the rule's own severity at `span`; give it back with [`Report::push`].
    #[must_use]
    pub fn finding(&self, span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(self.rule.name, self.rule.severity, span, message)
    }

    /// Reports a finding.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
    }
}
