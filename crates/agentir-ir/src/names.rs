//! The names in a program, to be changed: definitions, and references to them.

use crate::agent::{Agent, ErrorHandler};
use crate::coordination::{RoutingTarget, VariableBinding};
use crate::flow::{Digression, Flow, ReasoningZone, Step};
use crate::gather::Gather;
use crate::memory::StoredValue;
use crate::program::Program;
use crate::rules::{Checkpoint, Constraint, Profile};
use crate::statement::{ActionHandler, Body, Branch, Jump, SetVariable, Statement, Target};
use crate::tool::{BindingAction, Tool, ToolBinding};
use agentir_diagnostics::Spanned;
use agentir_expr::Name;
use indexmap::IndexMap;
use smol_str::SmolStr;
use std::sync::Arc;

/// What a name stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum NamedThing {
    /// An agent.
    Agent,
    /// A step of a flow.
    Step,
    /// A tool.
    Tool,
    /// A variable or a collected field.
    Variable,
}

impl NamedThing {
    /// The noun.
    #[must_use]
    pub const fn noun(self) -> &'static str {
        match self {
            Self::Agent => "agent",
            Self::Step => "step",
            Self::Tool => "tool",
            Self::Variable => "variable",
        }
    }
}

impl Program {
    /// Visits every name of an agent, a step, a tool or a variable, where it is defined and where it is referred to.
    /// Expressions and texts are not visited: what they can refer to is a name in every language.
    pub fn names_mut(&mut self, visit: &mut dyn FnMut(NamedThing, &mut Name)) {
        let mut names = Names { visit };
        for agent in self.agents_mut() {
            names.agent(agent);
        }
        for library in self.libraries.iter_mut().map(Arc::make_mut) {
            library.tools.iter_mut().for_each(|tool| names.tool(tool));
        }
        for profile in self.profiles.iter_mut().map(Arc::make_mut) {
            names.profile(profile);
        }
        if let Some(entry) = &mut self.entry_agent {
            names.name(NamedThing::Agent, entry);
        }
    }
}

impl Agent {
    /// Visits every name of an agent, a step, a tool or a variable in it; see [`Program::names_mut`].
    pub fn names_mut(&mut self, visit: &mut dyn FnMut(NamedThing, &mut Name)) {
        Names { visit }.agent(self);
    }
}

struct Names<'v> {
    visit: &'v mut dyn FnMut(NamedThing, &mut Name),
}

impl Names<'_> {
    fn name(&mut self, what: NamedThing, name: &mut Spanned<Name>) {
        (self.visit)(what, &mut name.value);
    }

    fn names<'n>(
        &mut self,
        what: NamedThing,
        all: impl IntoIterator<Item = &'n mut Spanned<Name>>,
    ) {
        all.into_iter().for_each(|name| self.name(what, name));
    }

    fn variables<'n>(&mut self, all: impl IntoIterator<Item = &'n mut Spanned<Name>>) {
        self.names(NamedThing::Variable, all);
    }

    fn sets(&mut self, all: &mut [SetVariable]) {
        for set in all.iter_mut().filter(|set| set.target.namespace.is_none()) {
            self.name(NamedThing::Variable, &mut set.target.root);
        }
    }

    fn bindings(&mut self, all: &mut [VariableBinding]) {
        self.variables(all.iter_mut().map(|binding| &mut binding.variable));
    }

    fn jump(&mut self, jump: &mut Jump) {
        match &mut jump.target {
            Target::Step(step) | Target::Backtrack(Some(step)) => {
                self.name(NamedThing::Step, step);
            }
            Target::Handoff(Some(agent)) | Target::Delegate(Some(agent)) => {
                self.name(NamedThing::Agent, agent);
            }
            _ => {}
        }
    }

    fn agent(&mut self, agent: &mut Agent) {
        self.name(NamedThing::Agent, &mut agent.metadata.name);
        agent.tools.iter_mut().for_each(|tool| self.tool(tool));
        self.names(NamedThing::Tool, &mut agent.use_tools);
        self.gather(&mut agent.gather);
        let memory = &mut agent.memory;
        self.variables(memory.session.iter_mut().map(|v| &mut v.name));
        self.variables(memory.state.iter_mut().map(|v| &mut v.name));
        for rule in &mut memory.remember {
            self.stored(rule.store.as_mut());
        }
        agent.constraints.constraints.iter_mut().for_each(|c| self.constraint(c));
        self.coordination(agent);
        for done in &mut agent.completion.conditions {
            self.sets(&mut done.set);
            self.stored(done.store.as_mut());
        }
        let handlers = agent.error_handling.handlers.iter_mut();
        handlers
            .chain(agent.error_handling.default_handler.as_deref_mut())
            .for_each(|handler| self.handler(handler));
        agent.reasoning.iter_mut().for_each(|zone| self.zone(zone));
        self.body(&mut agent.on_start);
        agent.hooks.bodies_mut().for_each(|body| self.body(body));
        agent.flow.iter_mut().for_each(|flow| self.flow(flow));
        agent.action_handlers.iter_mut().for_each(|handler| self.action_handler(handler));
        agent.behavior_profiles.iter_mut().for_each(|profile| self.profile(profile));
    }

    fn tool(&mut self, tool: &mut Tool) {
        self.name(NamedThing::Tool, &mut tool.name);
        self.sets(&mut tool.on_result);
        self.sets(&mut tool.on_error);
    }

    fn gather(&mut self, gather: &mut Gather) {
        for field in &mut gather.fields {
            self.name(NamedThing::Variable, &mut field.name);
            self.variables(&mut field.depends_on);
        }
    }

    /// Only a target that is one name is a variable; others are paths of persistent memory.
    fn stored(&mut self, store: Option<&mut StoredValue>) {
        if let Some(target) = store.and_then(|s| s.target.as_mut()) {
            self.name(NamedThing::Variable, target);
        }
    }

    fn constraint(&mut self, constraint: &mut Constraint) {
        if let Some(Checkpoint::ToolCall { target }) = &mut constraint.checkpoint {
            self.name(NamedThing::Tool, target);
        }
        let Some(failure) = &mut constraint.on_fail else { return };
        self.names(NamedThing::Agent, &mut failure.target);
        self.variables(&mut failure.collect_fields);
        self.variables(&mut failure.clear);
        let jumps = failure.then_action.iter_mut().chain(&mut failure.then_step);
        jumps.for_each(|jump| self.jump(jump));
    }

    fn coordination(&mut self, agent: &mut Agent) {
        let c = &mut agent.coordination;
        for handoff in &mut c.handoffs {
            self.name(NamedThing::Agent, &mut handoff.to);
            self.variables(handoff.context.pass.iter_mut().map(|value| &mut value.name));
            self.sets(&mut handoff.context.set);
            self.bindings(&mut handoff.context.bindings);
            handoff.on_failure.iter_mut().for_each(|jump| self.jump(jump));
            if let Some(back) = &mut handoff.on_return {
                self.variables(back.map.iter_mut().map(|(name, _)| name));
                self.sets(&mut back.set);
            }
        }
        for delegate in &mut c.delegates {
            self.name(NamedThing::Agent, &mut delegate.agent);
            self.variables(delegate.input.iter_mut().map(|(name, _)| name));
        }
        for handler in c.return_handlers.values_mut() {
            self.variables(&mut handler.clear);
        }
        if let Some(escalation) = &mut c.escalation {
            for trigger in &mut escalation.triggers {
                self.variables(&mut trigger.context);
                self.sets(&mut trigger.set);
            }
            for outcome in &mut escalation.on_human_complete {
                self.stored(outcome.store.as_mut());
                self.sets(&mut outcome.set);
                outcome.action.iter_mut().for_each(|jump| self.jump(jump));
            }
        }
        if let Some(routing) = &mut agent.routing {
            for rule in &mut routing.rules {
                self.names(NamedThing::Agent, &mut rule.to);
                self.variables(&mut rule.pass);
                self.variables(&mut rule.requires_state);
                if let Some(RoutingTarget::RouteToVariable { variable }) = &mut rule.action {
                    self.name(NamedThing::Variable, variable);
                }
            }
            self.names(NamedThing::Agent, &mut routing.default_agent);
        }
        for reference in &mut agent.available_agents {
            self.name(NamedThing::Agent, &mut reference.alias);
            self.names(NamedThing::Agent, &mut reference.agent);
        }
    }

    fn handler(&mut self, handler: &mut ErrorHandler) {
        self.body(&mut handler.body);
        handler.then.iter_mut().for_each(|jump| self.jump(jump));
        self.names(NamedThing::Agent, &mut handler.handoff_target);
        self.names(NamedThing::Step, &mut handler.backtrack_to);
    }

    fn action_handler(&mut self, handler: &mut ActionHandler) {
        self.body(&mut handler.body);
    }

    fn flow(&mut self, flow: &mut Flow) {
        self.names(NamedThing::Step, flow.steps.iter_mut().chain(&mut flow.sequence));
        self.names(NamedThing::Step, &mut flow.entry_point);
        self.steps(&mut flow.definitions);
        flow.shadowed.iter_mut().for_each(|step| self.step(step));
        flow.global_digressions.iter_mut().for_each(|digression| self.digression(digression));
    }

    fn steps(&mut self, all: &mut IndexMap<SmolStr, Step>) {
        let steps = std::mem::take(all).into_iter();
        all.extend(steps.map(|(mut key, mut step)| {
            (self.visit)(NamedThing::Step, &mut key);
            self.step(&mut step);
            (key, step)
        }));
    }

    fn step(&mut self, step: &mut Step) {
        self.name(NamedThing::Step, &mut step.name);
        step.reasoning_zone.iter_mut().for_each(|zone| self.zone(zone));
        self.body(&mut step.body);
        step.on_exhausted.iter_mut().for_each(|jump| self.jump(jump));
        let digressions = step.digressions.iter_mut().chain(&mut step.sub_intents);
        digressions.for_each(|digression| self.digression(digression));
        step.on_action.iter_mut().for_each(|handler| self.action_handler(handler));
        step.on_error.iter_mut().for_each(|handler| self.handler(handler));
    }

    fn zone(&mut self, zone: &mut ReasoningZone) {
        self.names(NamedThing::Tool, zone.available_tools.iter_mut().flatten());
        self.body(&mut zone.prepare);
        zone.bindings.iter_mut().for_each(|binding| self.binding(binding));
        zone.constraints.iter_mut().for_each(|constraint| self.constraint(constraint));
    }

    fn binding(&mut self, binding: &mut ToolBinding) {
        match &mut binding.action {
            BindingAction::Call { tool } => self.name(NamedThing::Tool, tool),
            BindingAction::Handoff { to: agent } | BindingAction::Delegate { agent } => {
                self.name(NamedThing::Agent, agent);
            }
            BindingAction::Collect => {
                self.variables(binding.with.iter_mut().map(|input| &mut input.name));
            }
            BindingAction::Escalate | BindingAction::Complete | BindingAction::Other { .. } => {}
        }
        self.body(&mut binding.after);
    }

    fn digression(&mut self, digression: &mut Digression) {
        self.body(&mut digression.body);
    }

    fn profile(&mut self, profile: &mut Profile) {
        profile.constraints.iter_mut().for_each(|constraint| self.constraint(constraint));
        self.names(NamedThing::Tool, &mut profile.tools_hide);
        profile.tools_add.iter_mut().for_each(|tool| self.tool(tool));
        if let Some(overrides) = &mut profile.gather_overrides {
            for field in &mut overrides.field_overrides {
                self.name(NamedThing::Variable, &mut field.name);
            }
        }
        if let Some(changes) = &mut profile.flow_modifications {
            self.names(NamedThing::Step, &mut changes.skip);
            self.steps(&mut changes.overrides);
            for insertion in &mut changes.insertions {
                self.name(NamedThing::Step, &mut insertion.target_step);
                self.step(&mut insertion.step);
            }
        }
    }

    fn body(&mut self, body: &mut Body) {
        body.0.iter_mut().for_each(|statement| self.statement(statement));
    }

    fn branches(&mut self, all: &mut [Branch]) {
        all.iter_mut().for_each(|branch| self.body(&mut branch.body));
    }

    fn statement(&mut self, statement: &mut Statement) {
        match statement {
            Statement::Set(set) => self.sets(std::slice::from_mut(set)),
            Statement::Clear { variables } => self.variables(variables),
            Statement::Transform(transform) => {
                self.variables([&mut transform.item_var, &mut transform.target]);
            }
            Statement::Collect(collect) => {
                self.gather(&mut collect.gather);
                self.body(&mut collect.on_success);
                self.body(&mut collect.on_failure);
            }
            Statement::Call(call) => {
                self.name(NamedThing::Tool, &mut call.tool);
                self.variables(&mut call.result);
                self.body(&mut call.on_success);
                self.body(&mut call.on_failure);
                self.branches(&mut call.on_result);
            }
            Statement::Check { otherwise, .. } => {
                otherwise.iter_mut().for_each(|jump| self.jump(jump));
            }
            Statement::Await { branches } | Statement::If { branches } => self.branches(branches),
            Statement::Delegate(delegation) | Statement::Handoff(delegation) => {
                self.name(NamedThing::Agent, &mut delegation.agent);
                self.bindings(&mut delegation.bindings);
            }
            Statement::Goto(jump) | Statement::Repeat { jump, .. } => self.jump(jump),
            Statement::Respond(_)
            | Statement::Instruct { .. }
            | Statement::Log { .. }
            | Statement::Escalate { .. }
            | Statement::Other { .. } => {}
        }
    }
}
