//! The walk that collects the occurrences of all names of a program.

use super::{Occurrence, Role, Scope, Symbol, SymbolId, SymbolKind};
use crate::expressions::tool_lookups;
use crate::prompt::Instructions;
use crate::script;
use crate::variables::first;
use agentir_diagnostics::{SourceMap, Span, Spanned};
use agentir_expr::dialect::RuntimeNames;
use agentir_expr::{ExprKind, Name, Template, TypeExpr, TypeKind, Visit};
use agentir_flow::cfg::AgentId;
use agentir_ir::{
    Agent, AgentReference, AgentUse, BindingAction, Call, GatherField, Jump, Node, Profile,
    Program, Target, Tool, ToolBinding, VariableBinding, WriteUse,
};
use rustc_hash::{FxHashMap, FxHashSet};

/// The runtime's name for the variables of a session.
pub(super) const SESSION: &str = "session";

/// Collects occurrences.
pub(super) struct Collector<'a> {
    program: &'a Program,
    symbols: Vec<Symbol>,
    pub ids: FxHashMap<(SymbolKind, Scope, Name), SymbolId>,
    all: Vec<Occurrence>,
    pub agents: FxHashMap<&'a str, AgentId>,
    /// The profiles of the program, of those with one name the first.
    profiles: FxHashMap<&'a str, &'a Profile>,
    /// The variables that all agents share.
    shared: FxHashSet<&'a str>,
    /// The declared paths of persistent memory.
    pub persistent: FxHashSet<&'a str>,
    /// The names that the runtime owns.
    pub runtime: &'static RuntimeNames,
    /// Whether what is declared for an agent elsewhere is its name here, beside its address: where references say what
    /// they refer to.
    names_elsewhere: bool,
    /// The instructions of the agents, if names in them mean something.
    instructions: Option<Instructions<'a>>,
    /// The texts of the program, if they are at hand.
    pub sources: Option<&'a SourceMap>,
}

/// An agent whose names are collected.
#[derive(Clone, Copy)]
pub(super) struct Owner<'c, 'a> {
    pub agent: &'a Agent,
    pub id: AgentId,
    /// The tools that it declares itself.
    pub tools: &'c FxHashMap<&'a str, SymbolId>,
    /// The names of results, and the tools that they come from.
    pub results: &'c FxHashMap<&'a str, SymbolId>,
    /// The names that it declares or writes.
    pub variables: &'c FxHashSet<&'a str>,
    /// The fields of the results of its tools, which it may use without the names of the tools.
    pub returned: &'c FxHashMap<&'a str, SymbolId>,
}

impl<'a> Collector<'a> {
    pub(super) fn new(program: &'a Program, sources: Option<&'a SourceMap>) -> Self {
        let mut agents = FxHashMap::default();
        let mut profiles = FxHashMap::default();
        for profile in program.profiles() {
            profiles.entry(profile.name.value.as_str()).or_insert(profile);
        }
        let mut shared = FxHashSet::default();
        let mut persistent = FxHashSet::default();
        for (id, agent) in (0..).map(AgentId).zip(program.agents()) {
            agents.entry(agent.metadata.name.value.as_str()).or_insert(id);
            let memory = &agent.memory;
            let everywhere = memory.session.iter().filter(|v| v.scope == Some("program"));
            shared.extend(everywhere.map(|v| v.name.value.as_str()));
            persistent.extend(memory.persistent.iter().map(|p| p.path.value.as_str()));
        }
        Self {
            program,
            symbols: Vec::new(),
            ids: FxHashMap::default(),
            all: Vec::new(),
            agents,
            profiles,
            shared,
            persistent,
            runtime: program.dialect().runtime(),
            names_elsewhere: program.dialect().traits().namespaced_references,
            // Where references say what they refer to, other words are only words.
            instructions: (!program.dialect().traits().namespaced_references)
                .then(|| Instructions::new(program)),
            sources,
        }
    }

    /// The symbols of the program, and their occurrences in the order in which they were met.
    pub(super) fn collect(mut self) -> (Vec<Symbol>, Vec<Occurrence>) {
        self.program();
        (self.symbols, self.all)
    }

    pub(super) fn symbol(&mut self, kind: SymbolKind, scope: Scope, name: &str) -> SymbolId {
        let next = SymbolId(u32::try_from(self.symbols.len()).unwrap_or(u32::MAX));
        let key = (kind, scope, Name::new(name));
        let id = *self.ids.entry(key).or_insert(next);
        if id == next {
            self.symbols.push(Symbol { kind, name: Name::new(name), scope });
        }
        id
    }

    pub(super) fn add(&mut self, symbol: SymbolId, span: Span, role: Role) {
        // What was not written (an implied name) has no location.
        if span.end > span.start {
            self.all.push(Occurrence { span, symbol, role });
        }
    }

    pub(super) fn name(
        &mut self,
        kind: SymbolKind,
        scope: Scope,
        name: &Spanned<Name>,
        role: Role,
    ) {
        if !name.value.is_empty() {
            let symbol = self.symbol(kind, scope, &name.value);
            self.add(symbol, name.span, role);
        }
    }

    fn program(&mut self) {
        let program = self.program;
        if let Some(entry) = &program.entry_agent {
            self.name(SymbolKind::Agent, Scope::Program, entry, Role::Read);
        }
        for tool in program.libraries.iter().flat_map(|library| &library.tools) {
            self.tool(Scope::Program, tool);
        }
        for profile in program.profiles() {
            self.name(SymbolKind::Profile, Scope::Program, &profile.name, Role::Definition);
        }
        for (id, agent) in (0..).map(AgentId).zip(program.agents()) {
            self.agent(id, agent);
        }
    }

    /// A declared tool, its parameters and the fields of its result.
    fn tool(&mut self, scope: Scope, tool: &'a Tool) -> SymbolId {
        let symbol = self.symbol(SymbolKind::Tool, scope, &tool.name.value);
        self.add(symbol, tool.name.span, Role::Definition);
        let below = Scope::Symbol(symbol);
        for parameter in &tool.parameters {
            self.name(SymbolKind::Parameter, below, &parameter.name, Role::Definition);
        }
        for name in tool.confirmation.iter().flat_map(|confirmation| &confirmation.immutable_params)
        {
            self.name(SymbolKind::Parameter, below, name, Role::Read);
        }
        if let Some(returns) = &tool.returns {
            for field in &returns.fields {
                self.name(SymbolKind::ResultField, below, &field.name, Role::Definition);
            }
            self.members(symbol, &returns.ty);
        }
        for hole in self.holes(tool) {
            if !hole.is_variable
                && hole.root.value == hole.name.value
                && tool.parameters.iter().any(|p| p.name.value == hole.name.value)
            {
                self.name(SymbolKind::Parameter, below, &hole.name, Role::Read);
            }
        }
        symbol
    }

    fn agent(&mut self, id: AgentId, agent: &'a Agent) {
        let scope = Scope::Agent(id);
        let name = &agent.metadata.name;
        self.name(SymbolKind::Agent, Scope::Program, name, Role::Definition);
        let again = agent.metadata.named_again.map(|at| Spanned::new(name.value.clone(), at));
        if let Some(again) = again {
            self.name(SymbolKind::Agent, Scope::Program, &again, Role::Definition);
        }
        let named = agent.use_behavior_profiles.iter();
        let named: Vec<&'a Profile> =
            named.filter_map(|name| self.profiles.get(name.value.as_str()).copied()).collect();
        let profiles = || agent.behavior_profiles.iter().chain(named.iter().copied());
        let mut tools = FxHashMap::default();
        for tool in agent.tools.iter().chain(profiles().flat_map(|p| &p.tools_add)) {
            // The signature of a tool whose binding is in a library.
            let shared = self.tool_symbol(&tools, &tool.name.value).is_some();
            let symbol = self.tool(if shared { Scope::Program } else { scope }, tool);
            tools.entry(tool.name.value.as_str()).or_insert(symbol);
        }
        let mut results = FxHashMap::default();
        let mut variables = FxHashSet::default();
        let mut look = |node: Node<'a>| match node {
            Node::Call(call) => {
                if let (Some(result), Some(tool)) =
                    (&call.result, self.tool_symbol(&tools, &call.tool.value))
                {
                    results.entry(result.value.as_str()).or_insert(tool);
                }
            }
            Node::Set(set) => {
                variables.insert(set.target.root.value.as_str());
            }
            Node::Writes(name, _) => {
                variables.insert(first(&name.value));
            }
            Node::Field(field) => {
                variables.insert(field.name.value.as_str());
            }
            _ => {}
        };
        agent.walk(&mut look);
        named.iter().for_each(|profile| profile.walk(&mut look));
        variables.extend(agent.memory.session.iter().map(|v| first(&v.name.value)));
        variables.extend(agent.memory.state.iter().map(|v| first(&v.name.value)));
        let mut returned = FxHashMap::default();
        let declared = agent.tools.iter().chain(profiles().flat_map(|p| &p.tools_add));
        for tool in declared.chain(self.program.libraries.iter().flat_map(|l| &l.tools)) {
            let fields = tool.returns.iter().flat_map(|returns| &returns.fields);
            if let Some(symbol) = self.tool_symbol(&tools, &tool.name.value) {
                for field in fields {
                    let scope = Scope::Symbol(symbol);
                    let field_symbol =
                        self.symbol(SymbolKind::ResultField, scope, &field.name.value);
                    returned.entry(field.name.value.as_str()).or_insert(field_symbol);
                }
            }
        }
        let overridden = profiles().flat_map(|profile| &profile.gather_overrides);
        let overridden: Vec<_> = overridden.flat_map(|all| &all.field_overrides).collect();
        let (tools, results, variables) = (&tools, &results, &variables);
        let owner = Owner { agent, id, tools, results, variables, returned: &returned };
        for field in overridden {
            self.variable(owner, &field.name, Role::Read);
        }
        self.declarations(owner);
        let shared = self.program.libraries.iter().flat_map(|library| &library.tools);
        for tool in shared.filter(|tool| tools.contains_key(tool.name.value.as_str())) {
            self.tool_texts(owner, tool);
        }
        self.coordination(owner);
        agent.walk(&mut |node| self.node(owner, node));
        named.iter().for_each(|profile| profile.walk(&mut |node| self.node(owner, node)));
        if let Some(instructions) = self.instructions.take() {
            self.mentions(owner, instructions.of(id));
            self.instructions = Some(instructions);
        } else {
            self.mentions_of_bindings(owner);
        }
        self.mentions_in_identity(owner);
        script::outputs(agent, &mut |path, outputs| {
            if let script::Outputs::Of(tool, _) = outputs
                && let Some(tool) = self.tool_symbol(tools, &tool.value)
            {
                self.name(SymbolKind::ResultField, Scope::Symbol(tool), &path.root, Role::Read);
            }
        });
    }

    /// The tool that an agent calls `name`: its own, or one of a library.
    pub(super) fn tool_symbol(
        &self,
        tools: &FxHashMap<&str, SymbolId>,
        name: &str,
    ) -> Option<SymbolId> {
        let library = || {
            let key = (SymbolKind::Tool, Scope::Program, Name::new(name));
            self.ids.get(&key).copied()
        };
        tools.get(name).copied().or_else(library)
    }

    /// What an agent declares.
    fn declarations(&mut self, owner: Owner<'_, 'a>) {
        let agent = owner.agent;
        let scope = Scope::Agent(owner.id);
        // Before the types that name them.
        for entity in agent.entities.iter().chain(agent.nlu.iter().flat_map(|n| &n.entities)) {
            self.name(SymbolKind::Entity, scope, &entity.name, Role::Definition);
        }
        for name in &agent.use_behavior_profiles {
            let is_own = agent.behavior_profiles.iter().any(|own| own.name.value == name.value);
            let defined = if is_own { scope } else { Scope::Program };
            self.name(SymbolKind::Profile, defined, name, Role::Read);
        }
        for profile in &agent.behavior_profiles {
            self.name(SymbolKind::Profile, scope, &profile.name, Role::Definition);
        }
        for name in &agent.use_tools {
            self.tool_use(owner, name);
        }
        let memory = &agent.memory;
        for variable in &memory.session {
            self.variable(owner, &variable.name, Role::Definition);
            self.variable_members(owner, &variable.name.value, variable.ty.as_ref());
            self.types(owner, variable.ty.as_ref());
        }
        for variable in &memory.state {
            self.variable(owner, &variable.name, Role::Definition);
            self.variable_members(owner, &variable.name.value, variable.ty.as_ref());
            self.types(owner, variable.ty.as_ref());
            // Others than agents may update it too.
            let is_alias =
                |name: &Name| agent.available_agents.iter().any(|a| a.alias.value == *name);
            for name in &variable.updated_by {
                if is_alias(&name.value) || self.is_agent(&name.value) {
                    self.agent_use(owner, name, AgentUse::Routing);
                }
            }
        }
        for path in &memory.persistent {
            self.name(SymbolKind::Variable, Scope::Program, &path.path, Role::Definition);
            self.types(owner, path.ty.as_ref());
        }
        for attachment in &agent.attachments {
            self.variable(owner, &attachment.name, Role::Definition);
        }
        let conversation = agent
            .intent_handling
            .iter()
            .filter_map(|i| i.intents.as_ref())
            .flat_map(|i| &i.intents);
        let understood = agent.nlu.iter().flat_map(|n| &n.intents);
        for name in conversation.chain(understood).flat_map(|intent| &intent.entities) {
            self.name(SymbolKind::Entity, scope, name, Role::Read);
        }
        for recall in &memory.recall {
            self.event(owner, &recall.event);
        }
        for known in &agent.available_agents {
            let is_own = known.agent.as_ref().is_none_or(|name| name.value != known.alias.value);
            if is_own {
                self.name(SymbolKind::Alias, scope, &known.alias, Role::Definition);
            } else if self.names_elsewhere && !self.is_agent(&known.alias.value) {
                self.name(SymbolKind::Agent, Scope::Program, &known.alias, Role::Definition);
            }
        }
        for table in agent.lookup_tables.values().chain(&agent.shadowed_lookup_tables) {
            self.name(SymbolKind::LookupTable, scope, &table.name, Role::Definition);
        }
        for template in agent.templates.values() {
            self.name(SymbolKind::Template, scope, &template.name, Role::Definition);
        }
        for tool in &agent.tools {
            for parameter in &tool.parameters {
                self.types(owner, parameter.ty.as_ref());
            }
            self.types(owner, tool.returns.as_ref().map(|returns| &returns.ty));
            self.tool_texts(owner, tool);
            tool_lookups(tool, &mut |table| {
                self.name(SymbolKind::LookupTable, scope, &table, Role::Read);
            });
            let access = tool.context_access.as_ref();
            for name in access.iter().flat_map(|access| &access.read) {
                self.variable(owner, name, Role::Read);
            }
            for name in access.iter().flat_map(|access| &access.write) {
                self.variable(owner, name, Role::Write);
            }
            for set in tool.on_result.iter().chain(&tool.on_error) {
                self.node(owner, Node::Set(set));
            }
        }
        if let Some(flow) = &agent.flow {
            for step in flow.definitions.values().chain(&flow.shadowed) {
                self.name(SymbolKind::Step, scope, &step.name, Role::Definition);
            }
            for name in flow.steps.iter().chain(&flow.sequence).chain(&flow.entry_point) {
                self.name(SymbolKind::Step, scope, name, Role::Read);
            }
        }
    }

    /// What an agent passes to others, and gets back.
    fn coordination(&mut self, owner: Owner<'_, 'a>) {
        let agent = owner.agent;
        let escalation = agent.coordination.escalation.iter();
        escalation.for_each(|e| self.told(owner, &e.context_for_human));
        for handoff in &agent.coordination.handoffs {
            let Some(receiver) = self.agent_id(agent, &handoff.to) else { continue };
            for passed in &handoff.context.pass {
                self.variable_of(receiver, &passed.name, Role::Write);
            }
            for set in &handoff.context.set {
                self.variable_of(receiver, &set.target.root, Role::Write);
            }
            // What comes back is in terms of the other agent.
            for (_, value) in handoff.on_return.iter().flat_map(|on_return| &on_return.map) {
                value.visit(&mut |e| {
                    if let ExprKind::Path(path) = &e.kind {
                        self.variable_of(receiver, &path.root, Role::Read);
                    }
                    Visit::Children
                });
            }
        }
        for delegate in &agent.coordination.delegates {
            if let Some(receiver) = self.agent_id(agent, &delegate.agent) {
                for (name, _) in &delegate.input {
                    self.variable_of(receiver, name, Role::Write);
                }
                let returns = delegate.returns.as_ref().map(|ty| &ty.kind);
                if let Some(TypeKind::Object(fields)) = returns {
                    for field in fields {
                        self.variable_of(receiver, &field.name, Role::Read);
                    }
                }
            }
        }
        for delegate in &agent.coordination.delegates {
            for value in delegate.returned() {
                let variable = Spanned::new(Name::new(value.variable), value.span);
                self.variable(owner, &variable, Role::Write);
            }
        }
        for rule in agent.routing.iter().flat_map(|routing| &routing.rules) {
            if let Some(receiver) = rule.to.as_ref().and_then(|to| self.agent_id(agent, to)) {
                for name in &rule.pass {
                    self.variable_of(receiver, name, Role::Write);
                }
            }
        }
    }

    /// Whether the program has an agent of this name.
    pub(super) fn is_agent(&self, name: &str) -> bool {
        self.agents.contains_key(name)
    }

    fn agent_id(&self, from: &Agent, name: &Spanned<Name>) -> Option<AgentId> {
        self.agents.get(from.resolve_alias(name).value.as_str()).copied()
    }

    fn node(&mut self, owner: Owner<'_, 'a>, node: Node<'a>) {
        let scope = Scope::Agent(owner.id);
        node.exprs(&mut |expr| self.expr(owner, expr));
        match node {
            Node::Template(template) => self.template_ref(owner, template),
            Node::Set(set) => self.path(owner, &set.target, Role::Write),
            Node::Writes(name, used) => {
                let role = match used {
                    // Only inside the pipeline, but nothing else declares it.
                    WriteUse::TransformItem => Role::Definition,
                    _ => Role::Write,
                };
                self.variable(owner, name, role);
            }
            Node::Clear(names) => {
                names.iter().for_each(|name| self.variable(owner, name, Role::Write));
            }
            Node::Reads(name, _) => self.variable(owner, name, Role::Read),
            Node::Field(field) => {
                // What is collected into a declared variable is written to it.
                let declares = !owner.agent.metadata.dialect.traits().shared_variables;
                let role = if declares { Role::Definition } else { Role::Write };
                self.variable(owner, &field.name, role);
                self.field(owner, field);
                if let Some(entity) = &field.entity_ref {
                    self.name(SymbolKind::Entity, scope, entity, Role::Read);
                }
            }
            Node::Call(call) => self.call(owner, call),
            Node::ToolBinding(binding) => self.binding(owner, binding),
            Node::Tool(name, _) => {
                self.tool_use(owner, name);
            }
            Node::AgentRef(name, used) => self.agent_use(owner, name, used),
            Node::Binding(agent, binding) => self.passed(owner, agent, binding),
            Node::TemplateRef(name) => self.name(SymbolKind::Template, scope, name, Role::Read),
            Node::StepRef(name) => self.name(SymbolKind::Step, scope, name, Role::Read),
            Node::Jump(jump) => self.jump(owner, jump),
            Node::Condition(..) | Node::Expr(_) | Node::Actions(_) | Node::Transform(_) => {}
        }
    }

    /// What the texts and the check of a field name.
    fn field(&mut self, owner: Owner<'_, 'a>, field: &'a GatherField) {
        if let Some(table) = field.semantics.as_ref().and_then(|meaning| meaning.lookup.as_ref()) {
            self.name(SymbolKind::LookupTable, Scope::Agent(owner.id), table, Role::Read);
        }
        let check = field.validation.iter().filter_map(|validation| validation.check.as_ref());
        check.for_each(|check| self.expr(owner, check));
        let texts = field.description.iter().chain(&field.extraction_hints);
        texts.for_each(|text| text.exprs(&mut |expr| self.expr(owner, expr)));
    }

    fn passed(&mut self, owner: Owner<'_, 'a>, to: &Spanned<Name>, binding: &VariableBinding) {
        if let Some(receiver) = self.agent_id(owner.agent, to) {
            self.variable_of(receiver, &binding.variable, Role::Write);
        }
    }

    fn agent_use(&mut self, owner: Owner<'_, 'a>, name: &Spanned<Name>, used: AgentUse) {
        // The list of available agents introduces the aliases itself.
        let is_alias = |known: &&AgentReference| {
            used != AgentUse::Available && known.alias.value == name.value
        };
        let known = owner.agent.available_agents.iter().find(is_alias);
        let target = known.map_or(Some(name), |known| known.agent.as_ref());
        let is_own = target.is_some_and(|target| target.value == name.value);
        if known.is_some() && !is_own {
            self.name(SymbolKind::Alias, Scope::Agent(owner.id), name, Role::Read);
        }
        // Known by its file alone, it has no name here.
        let Some(target) = target else { return };
        let role = if is_own { Role::Read } else { Role::Alias };
        let target = Spanned::new(target.value.clone(), name.span);
        self.name(SymbolKind::Agent, Scope::Program, &target, role);
    }

    fn jump(&mut self, owner: Owner<'_, 'a>, jump: &'a Jump) {
        if let Some(agent) = jump.target.agent() {
            self.agent_use(owner, agent, AgentUse::Flow);
        }
        if let Some(step) = jump.target.step() {
            self.name(SymbolKind::Step, Scope::Agent(owner.id), step, Role::Read);
        }
        if let Target::AskUser(names) = &jump.target {
            names.iter().for_each(|name| self.variable(owner, name, Role::Read));
        }
    }

    pub(super) fn tool_use(&mut self, owner: Owner<'_, 'a>, name: &Spanned<Name>) -> SymbolId {
        let known = self.tool_symbol(owner.tools, &name.value);
        let scope = Scope::Agent(owner.id);
        let symbol = known.unwrap_or_else(|| self.symbol(SymbolKind::Tool, scope, &name.value));
        self.add(symbol, name.span, Role::Read);
        symbol
    }

    fn call(&mut self, owner: Owner<'_, 'a>, call: &'a Call) {
        let tool = self.tool_use(owner, &call.tool);
        if let Some(span) = call.named_again {
            self.add(tool, span, Role::Read);
        }
        for name in call.with.iter().filter_map(|argument| argument.name.as_ref()) {
            self.name(SymbolKind::Parameter, Scope::Symbol(tool), name, Role::Read);
        }
        let after = [&call.on_success, &call.on_failure].into_iter();
        for body in after.chain(call.on_result.iter().map(|branch| &branch.body)) {
            body.walk(&mut |node| node.exprs(&mut |expr| self.result_of(tool, expr)));
        }
    }

    /// What a recall rule waits for: `tool:NAME:after`, `entity:NAME:extracted`, `step:enter:NAME`.
    fn event(&mut self, owner: Owner<'_, 'a>, event: &Spanned<Name>) {
        let parts: Vec<&str> = event.value.split(':').collect();
        let (kind, name, before) = match parts.as_slice() {
            ["step", phase, name] => ("step", *name, "step".len() + phase.len() + 2),
            [kind, name, _] => (*kind, *name, kind.len() + 1),
            _ => return,
        };
        let offset = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        let start = event.span.start.saturating_add(offset(before));
        let span = Span::new(event.span.file, start, start.saturating_add(offset(name.len())));
        if span.end > event.span.end {
            return;
        }
        let name = Spanned::new(Name::new(name), span);
        let scope = Scope::Agent(owner.id);
        match kind {
            "step" => self.name(SymbolKind::Step, scope, &name, Role::Read),
            "agent" => self.agent_use(owner, &name, AgentUse::Delegate),
            "tool" => {
                self.tool_use(owner, &name);
            }
            "entity" => {
                let key = (SymbolKind::Entity, scope, name.value.clone());
                match self.ids.get(&key).copied() {
                    Some(entity) => self.add(entity, span, Role::Read),
                    None => self.variable(owner, &name, Role::Read),
                }
            }
            _ => {}
        }
    }

    fn binding(&mut self, owner: Owner<'_, 'a>, binding: &'a ToolBinding) {
        let known = self.tool_symbol(owner.tools, &binding.name.value);
        // Under its own name it is the tool itself, else what the model knows it by.
        let scope = Scope::Agent(owner.id);
        match known {
            Some(tool) => self.add(tool, binding.name.span, Role::Read),
            None => self.name(SymbolKind::Tool, scope, &binding.name, Role::Definition),
        }
        match &binding.action {
            BindingAction::Call { tool } => {
                let tool = self.tool_use(owner, tool);
                for input in &binding.with {
                    let scope = Scope::Symbol(tool);
                    self.name(SymbolKind::Parameter, scope, &input.name, Role::Read);
                }
            }
            BindingAction::Collect => {
                for input in &binding.with {
                    self.variable(owner, &input.name, Role::Write);
                }
            }
            _ => {}
        }
    }

    /// A variable or a path from one, as a text: `name`, `user.name`.
    pub(super) fn variable(&mut self, owner: Owner<'_, 'a>, name: &Spanned<Name>, role: Role) {
        self.variable_of(owner.id, name, role);
    }

    fn variable_of(&mut self, agent: AgentId, name: &Spanned<Name>, role: Role) {
        let path = name.value.as_str();
        if self.persistent.contains(path) {
            self.name(SymbolKind::Variable, Scope::Program, name, role);
            return;
        }
        let root = first(path);
        let declares = role == Role::Definition;
        if root.is_empty() || (self.runtime.lists(root) && !declares && !self.shared.contains(root))
        {
            return;
        }
        let mut span = name.span;
        // What is written in another form has no part that is the root.
        if (span.end - span.start) as usize == path.len()
            && let Ok(length) = u32::try_from(root.len())
        {
            span.end = span.start.saturating_add(length);
        }
        let symbol = self.variable_symbol(agent, root);
        self.add(symbol, span, role);
    }

    pub(super) fn variable_symbol(&mut self, agent: AgentId, name: &str) -> SymbolId {
        let shared = self.shared.contains(name);
        let scope = if shared { Scope::Program } else { Scope::Agent(agent) };
        self.symbol(SymbolKind::Variable, scope, name)
    }

    fn template_ref(&mut self, owner: Owner<'_, 'a>, template: &'a Template) {
        if let Some(name) = template.template_ref() {
            self.name(SymbolKind::Template, Scope::Agent(owner.id), &name, Role::Read);
        }
    }

    /// The entities that a type names.
    fn types(&mut self, owner: Owner<'_, 'a>, ty: Option<&TypeExpr>) {
        let Some(ty) = ty else { return };
        match &ty.kind {
            TypeKind::Named(name) => {
                let key = (SymbolKind::Entity, Scope::Agent(owner.id), name.clone());
                if let Some(symbol) = self.ids.get(&key).copied() {
                    self.add(symbol, ty.span, Role::Read);
                }
            }
            TypeKind::Array(item) => self.types(owner, Some(item)),
            TypeKind::Object(fields) => {
                fields.iter().for_each(|field| self.types(owner, Some(&field.ty)));
            }
        }
    }
}
