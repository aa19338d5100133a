//! A walk over every part of an agent, classified by use.

use crate::agent::{Agent, ErrorHandler, Hook};
use crate::coordination::VariableBinding;
use crate::flow::{Digression, Flow, ReasoningZone, Step};
use crate::gather::{Activation, Gather, GatherField};
use crate::memory::StoredValue;
use crate::rules::{Checkpoint, Constraint, Profile};
use crate::statement::{
    ActionHandler, Actions, Body, Branch, Call, Jump, Response, SetVariable, Statement, Transform,
};
use crate::tool::{BindingAction, ToolBinding};
use agentir_diagnostics::Spanned;
use agentir_expr::{Condition, Expr, Name, Template};

/// A part of an agent, classified by use.
#[derive(Debug, Clone, Copy)]
pub enum Node<'a> {
    /// A condition that is evaluated or left to the model.
    Condition(&'a Condition, ConditionUse),
    /// An expression whose value is used.
    Expr(&'a Expr),
    /// A template whose placeholders are filled.
    Template(&'a Template),
    /// A variable is assigned.
    Set(&'a SetVariable),
    /// A variable is written other than by an assignment.
    Writes(&'a Spanned<Name>, WriteUse),
    /// A list is made of another one. What it reads and writes are nodes of their own.
    Transform(&'a Transform),
    /// Variables are cleared.
    Clear(&'a [Spanned<Name>]),
    /// A variable or path is read by name.
    Reads(&'a Spanned<Name>, ReadUse),
    /// A field is collected.
    Field(&'a GatherField),
    /// A tool is called.
    Call(&'a Call),
    /// A tool is exposed to the model.
    ToolBinding(&'a ToolBinding),
    /// A tool is referred to.
    Tool(&'a Spanned<Name>, ToolUse),
    /// Another agent is referred to.
    AgentRef(&'a Spanned<Name>, AgentUse),
    /// A value is bound to a variable of this agent.
    Binding(&'a Spanned<Name>, &'a VariableBinding),
    /// A named template is used.
    TemplateRef(&'a Spanned<Name>),
    /// Control jumps.
    Jump(&'a Jump),
    /// A step is referred to other than as the target of a jump.
    StepRef(&'a Spanned<Name>),
    /// Interactive elements are shown.
    Actions(&'a Actions),
}

impl<'a> Node<'a> {
    /// Visits every expression evaluated in this node: a condition, a value, an assigned value, the
    /// placeholders of a template. Arguments of a call are nodes of their own.
    pub fn exprs(self, visit: &mut dyn FnMut(&'a Expr)) {
        match self {
            Self::Condition(condition, _) => condition.expr().into_iter().for_each(visit),
            Self::Expr(expr) => visit(expr),
            Self::Set(set) => visit(&set.value),
            Self::Template(template) => template.exprs(visit),
            _ => {}
        }
    }
}

/// What a condition decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConditionUse {
    /// A constraint's rule.
    Constraint,
    /// Whether a rule or profile applies.
    Applies,
    /// A branch.
    Branch,
    /// A handoff, delegation or routing rule.
    Coordination,
    /// The trigger of an escalation.
    Escalation,
    /// A completion condition.
    Completion,
    /// The condition of a remember rule.
    Remember,
    /// Anything else: checks, exits, activations.
    Other,
}

/// What writes a variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WriteUse {
    /// The result of a tool call.
    ToolResult,
    /// The result of a list pipeline.
    Transform,
    /// The item of a list pipeline, visible only inside it.
    TransformItem,
    /// The result of another agent.
    Return,
    /// Persistent memory, by `STORE`.
    Store,
}

/// Why a variable is referred to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReadUse {
    /// Passed to another agent.
    Pass,
    /// Another field depends on it.
    DependsOn,
    /// It is collected again.
    Collect,
    /// It is loaded from memory.
    Recall,
    /// It is shown to a human.
    Human,
    /// It must have a value.
    Required,
}

/// Why a tool is referred to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolUse {
    /// Exposed to the model in a step.
    Available,
    /// A constraint is checked before it is called.
    Checkpoint,
    /// A profile hides it.
    Hidden,
    /// A supervisor must never call it.
    Forbidden,
}

/// Why an agent is referred to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AgentUse {
    /// Target of a handoff.
    Handoff,
    /// Target of a delegation.
    Delegate,
    /// Target of a routing rule.
    Routing,
    /// The default agent of the routing.
    DefaultRoute,
    /// It takes over after a failed constraint or an error.
    Failure,
    /// It is listed as available.
    Available,
    /// It takes over from within a flow.
    Flow,
}

impl Agent {
    /// Calls `visit` with every part of the agent.
    pub fn walk<'a>(&'a self, visit: &mut dyn FnMut(Node<'a>)) {
        Walker { visit }.agent(self);
    }
}

impl Profile {
    /// Calls `visit` with every part of the profile.
    pub fn walk<'a>(&'a self, visit: &mut dyn FnMut(Node<'a>)) {
        Walker { visit }.profile(self);
    }
}

impl Step {
    /// Calls `visit` with every part of the step.
    pub fn walk<'a>(&'a self, visit: &mut dyn FnMut(Node<'a>)) {
        Walker { visit }.step(self);
    }
}

impl Body {
    /// Calls `visit` with every part of the body.
    pub fn walk<'a>(&'a self, visit: &mut dyn FnMut(Node<'a>)) {
        Walker { visit }.body(self);
    }
}

struct Walker<'v, 'a> {
    visit: &'v mut dyn FnMut(Node<'a>),
}

impl<'a> Walker<'_, 'a> {
    fn emit(&mut self, node: Node<'a>) {
        (self.visit)(node);
    }

    fn condition(&mut self, condition: Option<&'a Condition>, used: ConditionUse) {
        if let Some(condition) = condition {
            self.emit(Node::Condition(condition, used));
        }
    }

    fn jump(&mut self, jump: Option<&'a Jump>) {
        if let Some(jump) = jump {
            self.emit(Node::Jump(jump));
        }
    }

    fn templates(&mut self, all: impl IntoIterator<Item = &'a Template>) {
        for template in all {
            self.emit(Node::Template(template));
        }
    }

    fn sets(&mut self, all: &'a [SetVariable]) {
        for set in all {
            self.emit(Node::Set(set));
        }
    }

    fn bindings(&mut self, to: &'a Spanned<Name>, all: &'a [VariableBinding]) {
        for binding in all {
            self.emit(Node::Binding(to, binding));
            self.emit(Node::Expr(&binding.value));
        }
    }

    fn reads(&mut self, all: &'a [Spanned<Name>], used: ReadUse) {
        for name in all {
            self.emit(Node::Reads(name, used));
        }
    }

    fn agent(&mut self, agent: &'a Agent) {
        let identity = &agent.identity;
        self.templates(identity.goal.iter().chain(&identity.persona).chain(&identity.limitations));
        for instruction in &identity.instructions {
            self.condition(instruction.when.as_ref(), ConditionUse::Applies);
            self.emit(Node::Template(&instruction.text));
        }
        self.templates(identity.system_prompt.iter().map(|p| &p.template));
        for tool in &agent.tools {
            for parameter in &tool.parameters {
                parameter.value_expr.iter().for_each(|value| self.emit(Node::Expr(value)));
            }
            self.sets(&tool.on_result);
            self.sets(&tool.on_error);
        }
        self.gather(&agent.gather);
        for attachment in &agent.attachments {
            self.templates(&attachment.prompt);
        }
        self.memory(agent);
        for constraint in &agent.constraints.constraints {
            self.constraint(constraint);
        }
        for guardrail in &agent.constraints.guardrails {
            if let Some(check) = &guardrail.check {
                self.emit(Node::Expr(check));
            }
            self.templates(&guardrail.llm_check);
        }
        self.coordination(agent);
        for done in &agent.completion.conditions {
            self.condition(done.when.as_ref(), ConditionUse::Completion);
            self.templates(&done.respond);
            if let Some(template) = &done.respond_template {
                self.emit(Node::TemplateRef(template));
            }
            self.sets(&done.set);
            self.stored(done.store.as_ref());
        }
        for handler in agent
            .error_handling
            .handlers
            .iter()
            .chain(agent.error_handling.default_handler.as_deref())
        {
            self.handler(handler);
        }
        if let Some(zone) = &agent.reasoning {
            self.zone(zone);
        }
        self.body(&agent.on_start);
        for (_, hook) in agent.hooks.iter() {
            self.hook(hook);
        }
        for message in agent.messages.values() {
            self.templates(&message.text);
            if let Some(template) = &message.template {
                self.emit(Node::TemplateRef(template));
            }
        }
        for template in agent.templates.values() {
            self.templates(template.texts());
        }
        if let Some(flow) = &agent.flow {
            self.flow(flow);
        }
        for handler in &agent.action_handlers {
            self.action_handler(handler);
        }
        for profile in &agent.behavior_profiles {
            self.profile(profile);
        }
        for policy in &agent.policies {
            for rule in &policy.rules {
                self.condition(rule.allowed_when.as_ref(), ConditionUse::Applies);
                self.condition(rule.forbidden_when.as_ref(), ConditionUse::Applies);
                self.templates(&rule.behavior);
            }
        }
    }

    fn gather(&mut self, gather: &'a Gather) {
        self.templates(&gather.prompt);
        for field in &gather.fields {
            self.field(field);
        }
    }

    fn field(&mut self, field: &'a GatherField) {
        self.emit(Node::Field(field));
        self.templates(&field.prompt);
        if let Some(validation) = &field.validation {
            self.templates(validation.error_message.iter().chain(&validation.retry_prompt));
        }
        if let Some(Activation::When { when }) = &field.activation {
            self.condition(Some(when), ConditionUse::Other);
        }
        self.reads(&field.depends_on, ReadUse::DependsOn);
    }

    fn stored(&mut self, store: Option<&'a StoredValue>) {
        let Some(store) = store else { return };
        // A bare word without a target is the name of a store, not a variable.
        if let Some(value) =
            store.value.as_ref().filter(|v| store.target.is_some() || v.as_path().is_none())
        {
            self.emit(Node::Expr(value));
        }
        if let Some(target) = &store.target {
            self.emit(Node::Writes(target, WriteUse::Store));
        }
    }

    fn memory(&mut self, agent: &'a Agent) {
        for rule in &agent.memory.remember {
            self.condition(rule.when.as_ref(), ConditionUse::Remember);
            self.stored(rule.store.as_ref());
        }
        for recall in &agent.memory.recall {
            self.templates(&recall.instruction);
            if let Some(crate::memory::RecallAction::InjectContext { paths }) = &recall.action {
                self.reads(paths, ReadUse::Recall);
            }
        }
    }

    fn constraint(&mut self, constraint: &'a Constraint) {
        self.condition(Some(&constraint.condition), ConditionUse::Constraint);
        self.condition(constraint.applies_when.as_ref(), ConditionUse::Applies);
        if let Some(Checkpoint::ToolCall { target }) = &constraint.checkpoint {
            self.emit(Node::Tool(target, ToolUse::Checkpoint));
        }
        let Some(failure) = &constraint.on_fail else { return };
        self.templates(&failure.message);
        if let Some(agent) = &failure.target {
            self.emit(Node::AgentRef(agent, AgentUse::Failure));
        }
        self.reads(&failure.collect_fields, ReadUse::Collect);
        if !failure.clear.is_empty() {
            self.emit(Node::Clear(&failure.clear));
        }
        for jump in failure.then_action.iter().chain(&failure.then_step) {
            self.emit(Node::Jump(jump));
        }
    }

    fn coordination(&mut self, agent: &'a Agent) {
        let c = &agent.coordination;
        for handoff in &c.handoffs {
            if handoff.remote.is_none() {
                self.emit(Node::AgentRef(&handoff.to, AgentUse::Handoff));
            }
            self.condition(handoff.when.as_ref(), ConditionUse::Coordination);
            for value in &handoff.context.pass {
                self.emit(Node::Reads(&value.name, ReadUse::Pass));
            }
            self.templates(handoff.context.summary.iter().chain(&handoff.failure_message));
            self.sets(&handoff.context.set);
            self.bindings(&handoff.to, &handoff.context.bindings);
            self.jump(handoff.on_failure.as_ref());
            if let Some(on_return) = &handoff.on_return {
                for (name, _) in &on_return.map {
                    self.emit(Node::Writes(name, WriteUse::Return));
                }
                self.sets(&on_return.set);
            }
        }
        for delegate in &c.delegates {
            if delegate.remote.is_none() {
                self.emit(Node::AgentRef(&delegate.agent, AgentUse::Delegate));
            }
            self.condition(delegate.when.as_ref(), ConditionUse::Coordination);
            for (_, value) in &delegate.input {
                self.emit(Node::Expr(value));
            }
            self.templates(
                delegate
                    .purpose
                    .iter()
                    .chain(&delegate.use_result)
                    .chain(&delegate.failure_message),
            );
            self.jump(delegate.on_failure.as_ref());
        }
        for handler in c.return_handlers.values() {
            self.templates(&handler.respond);
            if !handler.clear.is_empty() {
                self.emit(Node::Clear(&handler.clear));
            }
        }
        if let Some(escalation) = &c.escalation {
            for trigger in &escalation.triggers {
                self.condition(trigger.when.as_ref(), ConditionUse::Escalation);
                self.templates(trigger.reason.iter().chain(&trigger.respond));
                self.reads(&trigger.context, ReadUse::Human);
                self.sets(&trigger.set);
            }
            for outcome in &escalation.on_human_complete {
                self.condition(outcome.condition.as_ref(), ConditionUse::Escalation);
                self.templates(&outcome.respond);
                self.stored(outcome.store.as_ref());
                self.sets(&outcome.set);
                if let Some(jump) = &outcome.action {
                    self.emit(Node::Jump(jump));
                }
            }
        }
        if let Some(routing) = &agent.routing {
            for rule in &routing.rules {
                if let Some(to) = &rule.to {
                    self.emit(Node::AgentRef(to, AgentUse::Routing));
                }
                self.condition(rule.when.as_ref(), ConditionUse::Coordination);
                self.reads(&rule.pass, ReadUse::Pass);
                self.reads(&rule.requires_state, ReadUse::Required);
                if let Some(crate::coordination::RoutingTarget::RouteToVariable { variable }) =
                    &rule.action
                {
                    self.emit(Node::Reads(variable, ReadUse::Required));
                }
            }
            if let Some(default) = &routing.default_agent {
                self.emit(Node::AgentRef(default, AgentUse::DefaultRoute));
            }
            for tool in &routing.forbidden_actions {
                self.emit(Node::Tool(tool, ToolUse::Forbidden));
            }
        }
        for reference in &agent.available_agents {
            if let (Some(name), None) = (&reference.agent, &reference.file) {
                self.emit(Node::AgentRef(name, AgentUse::Available));
            }
        }
    }

    fn handler(&mut self, handler: &'a ErrorHandler) {
        self.templates(&handler.respond);
        self.body(&handler.body);
        if let Some(jump) = &handler.then {
            self.emit(Node::Jump(jump));
        }
        if let Some(agent) = &handler.handoff_target {
            self.emit(Node::AgentRef(agent, AgentUse::Failure));
        }
        if let Some(step) = &handler.backtrack_to {
            self.emit(Node::StepRef(step));
        }
    }

    fn hook(&mut self, hook: &'a Hook) {
        self.body(&hook.body);
    }

    fn flow(&mut self, flow: &'a Flow) {
        for step in flow.definitions.values().chain(&flow.shadowed) {
            self.step(step);
        }
        for digression in &flow.global_digressions {
            self.digression(digression);
        }
    }

    fn step(&mut self, step: &'a Step) {
        self.condition(step.when.as_ref(), ConditionUse::Applies);
        if let Some(zone) = &step.reasoning_zone {
            self.zone(zone);
        }
        self.body(&step.body);
        self.jump(step.on_exhausted.as_ref());
        for digression in step.digressions.iter().chain(&step.sub_intents) {
            self.digression(digression);
        }
        for handler in &step.on_action {
            self.action_handler(handler);
        }
        for handler in &step.on_error {
            self.handler(handler);
        }
    }

    fn zone(&mut self, zone: &'a ReasoningZone) {
        self.templates(&zone.goal);
        for tool in zone.available_tools.iter().flatten() {
            self.emit(Node::Tool(tool, ToolUse::Available));
        }
        self.body(&zone.prepare);
        for binding in &zone.bindings {
            self.binding(binding);
        }
        self.condition(zone.exit_when.as_ref(), ConditionUse::Other);
        for constraint in &zone.constraints {
            self.constraint(constraint);
        }
    }

    fn binding(&mut self, binding: &'a ToolBinding) {
        self.emit(Node::ToolBinding(binding));
        match &binding.action {
            BindingAction::Call { tool } => self.emit(Node::Tool(tool, ToolUse::Available)),
            BindingAction::Handoff { to } => self.emit(Node::AgentRef(to, AgentUse::Handoff)),
            BindingAction::Delegate { agent } => {
                self.emit(Node::AgentRef(agent, AgentUse::Delegate))
            }
            _ => {}
        }
        self.templates(&binding.description);
        self.condition(binding.available_when.as_ref(), ConditionUse::Applies);
        for input in &binding.with {
            if let Some(value) = &input.value {
                self.emit(Node::Expr(value));
            }
        }
        self.body(&binding.after);
    }

    fn digression(&mut self, digression: &'a Digression) {
        self.condition(digression.condition.as_ref(), ConditionUse::Branch);
        self.body(&digression.body);
    }

    fn action_handler(&mut self, handler: &'a ActionHandler) {
        self.condition(handler.condition.as_ref(), ConditionUse::Branch);
        self.body(&handler.body);
    }

    fn profile(&mut self, profile: &'a Profile) {
        self.condition(profile.when.as_ref(), ConditionUse::Applies);
        self.templates(&profile.instructions);
        for constraint in &profile.constraints {
            self.constraint(constraint);
        }
        for tool in &profile.tools_hide {
            self.emit(Node::Tool(tool, ToolUse::Hidden));
        }
        if let Some(changes) = &profile.flow_modifications {
            for step in &changes.skip {
                self.emit(Node::StepRef(step));
            }
            for step in changes.overrides.values() {
                self.emit(Node::StepRef(&step.name));
                self.step(step);
            }
            for insertion in &changes.insertions {
                self.emit(Node::StepRef(&insertion.target_step));
                self.step(&insertion.step);
            }
        }
    }

    fn body(&mut self, body: &'a Body) {
        for statement in &body.0 {
            self.statement(statement);
        }
    }

    fn branches(&mut self, branches: &'a [Branch]) {
        for branch in branches {
            self.condition(branch.condition.as_ref(), ConditionUse::Branch);
            self.body(&branch.body);
        }
    }

    fn statement(&mut self, statement: &'a Statement) {
        match statement {
            Statement::Set(set) => self.emit(Node::Set(set)),
            Statement::Clear { variables } => self.emit(Node::Clear(variables)),
            Statement::Transform(t) => {
                self.emit(Node::Transform(t));
                self.emit(Node::Expr(&t.source));
                self.emit(Node::Writes(&t.item_var, WriteUse::TransformItem));
                self.emit(Node::Writes(&t.target, WriteUse::Transform));
                for expr in t.filter.iter().chain(t.map.iter().map(|(_, e)| e)).chain(&t.limit) {
                    self.emit(Node::Expr(expr));
                }
            }
            Statement::Respond(response) => self.response(response),
            Statement::Instruct { text } => self.emit(Node::Template(text)),
            Statement::Collect(collect) => {
                self.templates(&collect.present);
                self.gather(&collect.gather);
                self.condition(collect.complete_when.as_ref(), ConditionUse::Other);
                self.body(&collect.on_success);
                self.body(&collect.on_failure);
            }
            Statement::Call(call) => {
                self.emit(Node::Call(call));
                for argument in &call.with {
                    self.emit(Node::Expr(&argument.value));
                }
                if let Some(result) = &call.result {
                    self.emit(Node::Writes(result, WriteUse::ToolResult));
                }
                self.condition(call.success_when.as_ref(), ConditionUse::Branch);
                self.body(&call.on_success);
                self.body(&call.on_failure);
                self.branches(&call.on_result);
            }
            Statement::Check { condition, otherwise } => {
                self.condition(Some(condition), ConditionUse::Other);
                self.jump(otherwise.as_ref());
            }
            Statement::Await { branches } | Statement::If { branches } => self.branches(branches),
            Statement::Delegate(delegation) => {
                self.emit(Node::AgentRef(&delegation.agent, AgentUse::Delegate));
                self.bindings(&delegation.agent, &delegation.bindings);
            }
            Statement::Handoff(delegation) => {
                self.emit(Node::AgentRef(&delegation.agent, AgentUse::Flow));
                self.bindings(&delegation.agent, &delegation.bindings);
            }
            Statement::Goto(jump) | Statement::Repeat { jump, .. } => self.emit(Node::Jump(jump)),
            Statement::Log { .. } | Statement::Escalate { .. } | Statement::Other { .. } => {}
        }
    }

    fn response(&mut self, response: &'a Response) {
        self.templates(&response.text);
        if let Some(template) = &response.template {
            self.emit(Node::TemplateRef(template));
        }
        if let Some(actions) = &response.actions {
            self.emit(Node::Actions(actions));
            for element in &actions.elements {
                self.templates(
                    element.label.iter().chain(&element.placeholder).chain(&element.description),
                );
            }
        }
    }
}
