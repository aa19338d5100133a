//! The variables that an agent knows, by origin.

use crate::index::AgentIndex;
use agentir_diagnostics::Spanned;
use agentir_expr::dialect::{NONE, RuntimeNames};
use agentir_expr::{Expr, ExprKind, Name, TypeKind, Visit};
use agentir_ir::{Agent, ConversationIntents, Data, Program, ReadUse, RecallAction, Step, Tool};
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;

/// The variables that an agent knows, by origin.
#[derive(Debug)]
pub struct Variables<'a> {
    /// Names that are declared or written: session memory, gather fields, assignments, results of
    /// calls, returns of other agents, state, variables passed by other agents.
    pub defined: FxHashSet<&'a str>,
    /// Roots of paths in persistent memory: `user`, `workflow`.
    pub roots: FxHashSet<&'a str>,
    /// Fields of tool results. After a call they may be used without the tool's name.
    pub returned: FxHashSet<&'a str>,
    /// Names of results: those of tools, `search` in `search.total`, and of agents.
    pub results: FxHashSet<&'a str>,
    /// Names that are not variables but may be used like one: intents, entities, buttons.
    pub labels: FxHashSet<&'a str>,
    /// The variables of library tools, which all agents share.
    pub shared: Option<Rc<Variables<'a>>>,
    /// The names that the runtime owns.
    pub runtime: &'static RuntimeNames,
}

impl Default for Variables<'_> {
    /// No variables of no language.
    fn default() -> Self {
        Self {
            defined: FxHashSet::default(),
            roots: FxHashSet::default(),
            returned: FxHashSet::default(),
            results: FxHashSet::default(),
            labels: FxHashSet::default(),
            shared: None,
            runtime: NONE.runtime(),
        }
    }
}

/// Returns the root of a path.
pub fn first(path: &str) -> &str {
    path.split(['.', '[']).next().unwrap_or(path)
}

impl<'a> Variables<'a> {
    /// Returns the variables of an agent, given those of library tools and those that other agents
    /// pass to it.
    #[must_use]
    pub fn new(
        agent: &'a Agent,
        index: &AgentIndex<'a>,
        shared: Rc<Self>,
        passed: Option<&FxHashSet<&'a str>>,
    ) -> Self {
        let runtime = agent.metadata.dialect.runtime();
        let mut all = Self { shared: Some(shared), runtime, ..Self::default() };
        all.declared(agent, index);
        all.written(agent, index);
        all.named(agent);
        all.of_tools(index.tools.values().copied());
        all.defined.extend(passed.into_iter().flatten());
        all
    }

    /// Adds the results of tools and the variables that they write.
    pub fn of_tools(&mut self, tools: impl Iterator<Item = &'a Tool>) {
        for tool in tools {
            self.results.insert(&tool.name.value);
            let sets = tool.on_result.iter().chain(&tool.on_error);
            self.defined.extend(sets.map(|s| s.target.root.value.as_str()));
            self.returned
                .extend(tool.returns.iter().flat_map(|r| &r.fields).map(|f| f.name.value.as_str()));
            let access = tool.context_access.iter().flat_map(|a| &a.write);
            self.defined.extend(access.map(|w| first(&w.value)));
        }
    }

    fn declared(&mut self, agent: &'a Agent, index: &AgentIndex<'a>) {
        let memory = &agent.memory;
        self.defined.extend(memory.session.iter().map(|v| first(&v.name.value)));
        self.defined.extend(memory.state.iter().map(|v| first(&v.name.value)));
        self.defined.extend(index.fields.iter().map(|f| f.name.value.as_str()));
        self.defined.extend(agent.attachments.iter().map(|a| a.name.value.as_str()));
        self.roots.extend(memory.persistent.iter().map(|p| first(&p.path.value)));
        let recalled = index.reads.iter().filter(|(_, used)| *used == ReadUse::Recall);
        self.roots.extend(recalled.map(|(name, _)| first(&name.value)));
        for recall in &memory.recall {
            if let Some(RecallAction::LoadMemory { domain: Some(domain) }) = &recall.action {
                self.roots.insert(domain);
            }
        }
    }

    fn written(&mut self, agent: &'a Agent, index: &AgentIndex<'a>) {
        self.defined.extend(index.sets.iter().map(|s| s.target.root.value.as_str()));
        self.defined.extend(index.writes.iter().map(|(name, _)| first(&name.value)));
        for delegate in &agent.coordination.delegates {
            self.results.insert(&delegate.agent.value);
            if let Some(TypeKind::Object(fields)) = delegate.returns.as_ref().map(|t| &t.kind) {
                self.defined.extend(fields.iter().map(|field| field.name.value.as_str()));
            }
            self.defined.extend(delegate.returned().map(|value| first(value.variable)));
        }
        self.results.extend(agent.coordination.handoffs.iter().map(|h| h.to.value.as_str()));
        if let Some(flow) = &agent.flow {
            let awaited = |step: &'a Step| awaited_variable(&step.await_attachment.as_ref()?.value);
            self.defined.extend(flow.definitions.values().filter_map(awaited));
        }
    }

    fn named(&mut self, agent: &'a Agent) {
        let intents = |named: &'a ConversationIntents| &named.intents;
        let conversation =
            agent.intent_handling.iter().filter_map(|i| i.intents.as_ref()).flat_map(intents);
        let understood = agent.nlu.iter().flat_map(|n| &n.intents);
        self.labels.extend(conversation.chain(understood).map(|i| i.name.value.as_str()));
        let entities = agent.entities.iter().chain(agent.nlu.iter().flat_map(|n| &n.entities));
        self.labels.extend(entities.map(|e| e.name.value.as_str()));
    }

    /// Whether `name` is a variable, or may be one that the runtime sets.
    #[must_use]
    pub fn knows(&self, name: &str) -> bool {
        [&self.defined, &self.roots, &self.returned, &self.results, &self.labels]
            .iter()
            .any(|set| set.contains(name))
            || self
                .shared
                .as_ref()
                .is_some_and(|s| s.defined.contains(name) || s.returned.contains(name))
            || self.is_result(name)
            || self.runtime.defines(name)
            || self.runtime.tool_of_result(name).is_some_and(|tool| self.is_result(tool))
    }

    fn is_result(&self, name: &str) -> bool {
        self.results.contains(name)
            || self.shared.as_ref().is_some_and(|s| s.results.contains(name))
    }

    /// Returns the names to suggest.
    pub fn names(&self) -> impl Iterator<Item = &'a str> + '_ {
        std::iter::once(self)
            .chain(self.shared.as_deref())
            .flat_map(|v| [&v.defined, &v.roots, &v.returned, &v.results])
            .flat_map(|set| set.iter().copied())
            .chain(self.runtime.names().map(|name| -> &'a str { name }))
    }
}

/// Returns the variable that an awaited attachment is stored in.
fn awaited_variable(awaited: &Data) -> Option<&str> {
    let (_, value) =
        awaited.as_object()?.iter().find(|(key, _)| key.eq_ignore_ascii_case("variable"))?;
    value.as_str()
}

/// Returns the variables that agents receive from others, by the name of the receiver.
pub fn passed(program: &Program) -> FxHashMap<&str, FxHashSet<&str>> {
    let mut all: FxHashMap<&str, FxHashSet<&str>> = FxHashMap::default();
    for agent in program.agents() {
        let aliases = agent.aliases();
        for handoff in &agent.coordination.handoffs {
            let given = all.entry(&aliases.resolve(&handoff.to).value).or_default();
            given.extend(handoff.context.pass.iter().map(|p| first(&p.name.value)));
            given.extend(handoff.context.set.iter().map(|s| s.target.root.value.as_str()));
            given.extend(handoff.context.bindings.iter().map(|b| b.variable.value.as_str()));
            given.extend(handoff.context.memory_grants.iter().map(|g| first(&g.path.value)));
        }
        for delegate in &agent.coordination.delegates {
            let given = all.entry(&aliases.resolve(&delegate.agent).value).or_default();
            given.extend(delegate.input.iter().map(|(name, _)| name.value.as_str()));
        }
        for rule in agent.routing.iter().flat_map(|r| &r.rules) {
            if let Some(to) = &rule.to {
                let given = all.entry(&aliases.resolve(to).value).or_default();
                given.extend(rule.pass.iter().map(|name| first(&name.value)));
            }
        }
    }
    all
}

/// Calls `found` with the root of every path in an expression, and whether a member is read.
/// Shorthand fields of objects count.
pub fn roots<'a>(expr: &'a Expr, found: &mut dyn FnMut(&'a Spanned<Name>, bool)) {
    expr.visit(&mut |e| {
        match &e.kind {
            // In other dialects the namespace tells what a name refers to.
            ExprKind::Path(path) if path.namespace.is_none() => {
                found(&path.root, path.first_field().is_some());
            }
            ExprKind::Object(entries) => {
                entries
                    .iter()
                    .filter(|entry| entry.value.is_none())
                    .for_each(|entry| found(&entry.key, false));
            }
            _ => {}
        }
        Visit::Children
    });
}
