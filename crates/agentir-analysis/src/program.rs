//! A program and its agents with all analyses, each computed on demand and kept.

use crate::broken_guards::{self, Guard};
use crate::cancel::Cancellation;
use crate::clock::Clock;
use crate::cycles::AutonomousCycles;
use crate::dataflow::{
    Dataflow, DefIndex, DroppedVariables, ExternalDefs, SearchStats, UseCollector, UseSite,
};
use crate::limits::Limits;
use crate::prompt::{Instructions, Prompt};
use crate::proof::{Outcomes, Prover, QueryBuilder, SharedDeclarations, UnsatCore, VariableFacts};
use crate::references::References;
use crate::symbols::{AgentSymbols, AgentTables, ProgramSymbols};
use crate::types::{
    OutputTypes, ReferenceTypes, VariableTypes, mistyped_conditions, output_types, variable_types,
};
use crate::values::Values;
use agentir_diagnostics::Span;
use agentir_expr::{Expr, TypeExpr, Version};
use agentir_flow::Cfg;
use agentir_flow::cfg::{AgentCfg, AgentId, Facts as FlowFacts};
use agentir_ir::Program;
use rustc_hash::{FxHashMap, FxHashSet};
use smol_str::SmolStr;
use std::cell::OnceCell;
use std::ops::Deref;
use std::rc::Rc;

/// A program with its analyses. Its names are collected at once, everything else on demand.
#[derive(Debug)]
pub struct ProgramAnalysis<'a> {
    symbols: ProgramSymbols<'a>,
    /// The parts of the agents, by id.
    agents: Vec<AgentParts<'a>>,
    graph: OnceCell<Rc<Cfg<'a>>>,
    /// The definitions in all agents, if the program shares its variables.
    shared_defs: OnceCell<Rc<DefIndex<'a>>>,
    search_stats: Rc<SearchStats>,
    limits: Rc<Limits>,
    autonomous_cycles: OnceCell<AutonomousCycles>,
    dropped: OnceCell<DroppedVariables>,
    declared_variables: OnceCell<Rc<SharedDeclarations>>,
    variable_types: OnceCell<VariableTypes<'a>>,
    session_types: OnceCell<FxHashMap<&'a str, &'a TypeExpr>>,
    instructions: OnceCell<Instructions<'a>>,
    external_defs: OnceCell<ExternalDefs<'a>>,
    references: OnceCell<References>,
    pub(crate) values: OnceCell<Values>,
    prover: Prover,
    clock: Clock,
}

/// What is computed for an agent.
#[derive(Debug, Default)]
struct AgentParts<'a> {
    version: Version,
    tables: OnceCell<AgentTables<'a>>,
    defs: OnceCell<Option<Rc<DefIndex<'a>>>>,
    variable_facts: OnceCell<VariableFacts>,
    flow_facts: OnceCell<FlowFacts<'a>>,
    use_sites: OnceCell<FxHashMap<SmolStr, Vec<UseSite>>>,
    output_types: OnceCell<OutputTypes>,
    mistyped: OnceCell<FxHashSet<Span>>,
    guards: OnceCell<(Vec<Guard<'a>>, FxHashSet<Span>)>,
    outcomes: Outcomes<'a>,
}

impl<'a> Deref for ProgramAnalysis<'a> {
    type Target = ProgramSymbols<'a>;
    fn deref(&self) -> &Self::Target {
        &self.symbols
    }
}

impl<'a> ProgramAnalysis<'a> {
    /// Collects the names of a program. Its agents follow the default version of their language.
    #[must_use]
    pub fn new(program: &'a Program) -> Self {
        let limits = Rc::<Limits>::default();
        Self {
            symbols: ProgramSymbols::new(program),
            agents: program.agents().map(|_| AgentParts::default()).collect(),
            graph: OnceCell::new(),
            shared_defs: OnceCell::new(),
            search_stats: Rc::default(),
            limits: Rc::clone(&limits),
            autonomous_cycles: OnceCell::new(),
            dropped: OnceCell::new(),
            declared_variables: OnceCell::new(),
            variable_types: OnceCell::new(),
            session_types: OnceCell::new(),
            instructions: OnceCell::new(),
            external_defs: OnceCell::new(),
            references: OnceCell::new(),
            values: OnceCell::new(),
            prover: Prover::new(program.agents.len(), limits),
            clock: Clock::default(),
        }
    }

    /// Sets the versions of the language that the agents follow, in the order of the agents. Those
    /// without one follow the default version.
    #[must_use]
    pub fn with_versions(mut self, versions: &[Version]) -> Self {
        for (agent, version) in self.agents.iter_mut().zip(versions) {
            agent.version = *version;
        }
        self
    }

    /// Measures the time of all analyses with a clock, and that of the solver if the clock runs.
    #[must_use]
    pub fn with_clock(mut self, clock: Clock) -> Self {
        if clock.is_running() {
            self.prover = self.prover.timed();
        }
        self.clock = clock;
        self
    }

    /// Answers no further query to the solver once `cancellation` says so.
    #[must_use]
    pub fn with_cancellation(mut self, cancellation: Cancellation) -> Self {
        self.prover.stop_at(cancellation);
        self
    }

    /// The clock that measures the analyses.
    #[must_use]
    pub const fn clock(&self) -> &Clock {
        &self.clock
    }

    /// Returns statistics of the queries to the solver.
    #[must_use]
    pub fn solver_statistics(&self) -> agentir_solver::Statistics {
        self.prover.statistics()
    }

    /// Limits the work of the solver to a number of steps; see [`agentir_solver::Statistics::steps`].
    #[must_use]
    pub fn with_max_steps(mut self, steps: u64) -> Self {
        self.prover = self.prover.limited(steps);
        self
    }

    /// Where analyses stopped early so far.
    #[must_use]
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Statistics of the dataflow searches.
    #[must_use]
    pub fn search_stats(&self) -> &SearchStats {
        &self.search_stats
    }

    /// Returns the analysis of an agent.
    #[must_use]
    pub fn agent(&self, id: AgentId) -> Option<AgentAnalysis<'_, 'a>> {
        let parts = self.agents.get(id.index())?;
        let agent = self.symbols.program.agents.get(id.index())?;
        let new = || AgentTables::new(agent, &self.symbols);
        let tables = parts.tables.get_or_init(|| self.clock.time("(index of names)", new));
        let AgentTables { index, variables } = tables;
        let symbols = AgentSymbols { program: &self.symbols, agent, id, index, variables };
        Some(AgentAnalysis { program: self, version: parts.version, symbols, parts })
    }

    /// Returns the analyses of all agents, in order.
    pub fn all_agents(&self) -> impl Iterator<Item = AgentAnalysis<'_, 'a>> {
        (0..).map(AgentId).map_while(|id| self.agent(id))
    }

    /// The control-flow graph.
    pub fn graph(&self) -> &Cfg<'a> {
        self.shared_graph()
    }

    /// The control-flow graph, for analyses that keep it.
    fn shared_graph(&self) -> &Rc<Cfg<'a>> {
        let new = || Rc::new(Cfg::of_program(self.symbols.program));
        self.graph.get_or_init(|| self.clock.time("(control-flow graph)", new))
    }

    /// The symbols with their definitions and references.
    pub fn references(&self) -> &References {
        let new = || References::new(self.symbols.program);
        self.references.get_or_init(|| self.clock.time("(references)", new))
    }

    /// The natural-language instructions of all agents.
    pub fn instructions(&self) -> &Instructions<'a> {
        let new = || Instructions::new(self.symbols.program);
        self.instructions.get_or_init(|| self.clock.time("(instructions)", new))
    }

    /// The cycles without a decision of the user or the model, in all agents.
    pub fn autonomous_cycles(&self) -> &AutonomousCycles {
        let new = || AutonomousCycles::of(self.graph());
        self.autonomous_cycles.get_or_init(|| self.clock.time("(cycles without an exit)", new))
    }

    /// The facts of the variables that the program shares (Agent Script).
    fn declared_variables(&self) -> &Rc<SharedDeclarations> {
        self.declared_variables.get_or_init(|| Rc::new(SharedDeclarations::new(&self.symbols)))
    }

    /// The types of shared variables, for those that declare one.
    pub fn variable_types(&self) -> &VariableTypes<'a> {
        self.variable_types.get_or_init(|| variable_types(&self.symbols))
    }

    /// The types with which any agent declares a variable of its session, by name; the first one if several do.
    pub fn session_types(&self) -> &FxHashMap<&'a str, &'a TypeExpr> {
        self.session_types.get_or_init(|| {
            let mut types = FxHashMap::default();
            for variable in self.symbols.program.agents().flat_map(|agent| &agent.memory.session) {
                if let Some(ty) = &variable.ty {
                    types.entry(variable.name.value.as_str()).or_insert(ty);
                }
            }
            types
        })
    }

    /// The definitions of variables by other agents.
    pub(crate) fn external_defs(&self) -> &ExternalDefs<'a> {
        let new = || ExternalDefs::new(self.symbols.program, self.graph());
        self.external_defs.get_or_init(|| self.clock.time("(definitions by other agents)", new))
    }

    /// The definitions in all agents of a program that shares its variables; `cx` is one of them.
    fn shared_defs(&self, cx: &AgentSymbols<'_, 'a>) -> Rc<DefIndex<'a>> {
        let new = || Rc::new(DefIndex::of_program(cx, Rc::clone(self.shared_graph())));
        let new = || self.clock.time("(definitions of variables)", new);
        Rc::clone(self.shared_defs.get_or_init(new))
    }

    /// The variables that are dropped at handoffs.
    pub fn dropped(&self) -> &DroppedVariables {
        let agents = || self.all_agents().map(|cx| (cx.symbols, cx.dataflow())).collect();
        let new = || DroppedVariables::new(&self.symbols, self.graph(), agents);
        self.dropped.get_or_init(|| self.clock.time("(values dropped at handoffs)", new))
    }
}

/// An agent with its analyses: a cheap handle to its part of a [`ProgramAnalysis`].
#[derive(Debug, Clone, Copy)]
pub struct AgentAnalysis<'p, 'a> {
    /// The program that it belongs to.
    pub program: &'p ProgramAnalysis<'a>,
    /// The version of the language that its document follows.
    pub version: Version,
    symbols: AgentSymbols<'p, 'a>,
    parts: &'p AgentParts<'a>,
}

impl<'p, 'a> Deref for AgentAnalysis<'p, 'a> {
    type Target = AgentSymbols<'p, 'a>;
    fn deref(&self) -> &Self::Target {
        &self.symbols
    }
}

impl<'p, 'a> AgentAnalysis<'p, 'a> {
    /// Its subgraph of the control-flow graph.
    #[must_use]
    pub fn agent_cfg(&self) -> Option<&'p AgentCfg<'a>> {
        self.program.graph().agent(self.id)
    }

    /// Its natural-language instructions.
    #[must_use]
    pub fn prompts(&self) -> &'p [Prompt<'a>] {
        self.program.instructions().of(self.id)
    }

    /// The facts at its program points, see [`Cfg::facts`].
    #[must_use]
    pub fn flow_facts(&self) -> &'p FlowFacts<'a> {
        let graph = self.program.graph();
        let new = || self.program.clock.time("(facts at program points)", || graph.facts(self.id));
        self.parts.flow_facts.get_or_init(new)
    }

    /// The facts that its declarations state about variables, for the solver.
    #[must_use]
    pub fn variable_facts(&self) -> &'p VariableFacts {
        let new = || {
            let declared = match self.traits().shared_variables {
                true => Rc::clone(self.program.declared_variables()),
                false => Rc::default(),
            };
            VariableFacts::new(self, self.version, declared)
        };
        let new = || self.program.clock.time("(facts about variables)", new);
        self.parts.variable_facts.get_or_init(new)
    }

    /// Returns a dataflow search with a budget of its own.
    #[must_use]
    pub fn dataflow(&self) -> Option<Dataflow<'a>> {
        let defs = match self.traits().shared_variables {
            true => self.program.shared_defs(self),
            false => self.defs()?,
        };
        let at = self.agent.metadata.name.span;
        let stats = Rc::clone(&self.program.search_stats);
        Some(Dataflow::new(defs, (self.id, at), stats, Rc::clone(&self.program.limits)))
    }

    /// The definitions of its variables, if they are its own.
    fn defs(&self) -> Option<Rc<DefIndex<'a>>> {
        let new = || {
            let graph = Rc::clone(self.program.shared_graph());
            DefIndex::of_agent(self, graph, self.program.external_defs()).map(Rc::new)
        };
        let new = || self.program.clock.time("(definitions of variables)", new);
        self.parts.defs.get_or_init(new).clone()
    }

    /// Returns the nodes that may read a variable.
    #[must_use]
    pub fn use_sites(&self, flow: &Dataflow<'a>, name: &str) -> &'p [UseSite] {
        let new = || UseCollector::places(flow, &|tool| self.tool(tool));
        let new = || self.program.clock.time("(uses of variables)", new);
        self.parts.use_sites.get_or_init(new).get(name).map_or(&[], Vec::as_slice)
    }

    /// The types of its references with a namespace.
    #[must_use]
    pub fn reference_types(&self) -> ReferenceTypes<'p, 'a> {
        let outputs = self.parts.output_types.get_or_init(|| output_types(self));
        ReferenceTypes::new(
            self.program.variable_types(),
            outputs,
            self.agent.metadata.dialect.coercion(),
        )
    }

    /// The ill-typed expressions in its conditions, if references have namespaces.
    #[must_use]
    pub fn mistyped_conditions(&self) -> &'p FxHashSet<Span> {
        self.parts.mistyped.get_or_init(|| match self.traits().namespaced_references {
            true => mistyped_conditions(self.index, &self.reference_types()),
            false => FxHashSet::default(),
        })
    }

    /// Its guards, with the comparisons in them that cannot be evaluated.
    #[must_use]
    pub fn guards(&self) -> &'p [Guard<'a>] {
        &self.guards_and_broken().0
    }

    /// Where the comparisons in its guards are that cannot be evaluated.
    #[must_use]
    pub fn broken_comparisons(&self) -> &'p FxHashSet<Span> {
        &self.guards_and_broken().1
    }

    fn guards_and_broken(&self) -> &'p (Vec<Guard<'a>>, FxHashSet<Span>) {
        let new = || {
            let guards = broken_guards::guards(self);
            let broken = broken_guards::broken_comparisons(&guards);
            (guards, broken)
        };
        self.parts.guards.get_or_init(|| self.program.clock.time("(guards)", new))
    }

    /// Returns a query about its conditions.
    #[must_use]
    pub fn query(&self) -> QueryBuilder<'p, 'a> {
        QueryBuilder::new(self.variable_facts(), &self.program.prover, &self.program.clock)
    }

    /// Proves that a condition or a comparison always has an outcome. The result is cached, because
    /// several rules query the same expressions.
    #[must_use]
    pub fn prove_outcome(&self, expr: &'a Expr, holds: bool) -> Option<Rc<UnsatCore>> {
        self.parts.outcomes.prove(|| self.query(), expr, holds)
    }

    /// Returns the constant outcome of a comparison, with its proof.
    #[must_use]
    pub fn decide_comparison(&self, comparison: &'a Expr) -> Option<(bool, Rc<UnsatCore>)> {
        let decided = |holds| self.prove_outcome(comparison, holds).map(|core| (holds, core));
        decided(true).or_else(|| decided(false))
    }
}
