//! Reasoning zones, in which the model chooses, and routing between agents.

use super::build::{Builder, OpenEdge, OpenEdges, decided_by_condition};
use super::{DecidedBy, Edge, EdgeKind, Guard, NodeKind, Origin};
use agentir_diagnostics::{Span, Spanned};
use agentir_expr::Name;
use agentir_ir::{
    Agent, AgentReference, BindingAction, Decider, Delegate, Handoff, NumberOrText, Profile,
    ReasoningZone, RoutingRule, RoutingTarget, Target, ToolBinding,
};
use petgraph::graph::NodeIndex;
use rustc_hash::FxHashSet;

/// The default number of tool calls per turn (§7.11).
const MAX_ITERATIONS: u32 = 10;

/// The sort key of a priority. Entries without a number come last, in source order.
fn priority(number: Option<&NumberOrText>) -> f64 {
    match number {
        Some(NumberOrText::Number(n)) => n.0,
        _ => f64::INFINITY,
    }
}

const fn decided(decided_by_condition: Decider) -> DecidedBy {
    match decided_by_condition {
        Decider::Condition => DecidedBy::Condition,
        Decider::User => DecidedBy::User,
        // The source does not decide whether the rule is considered.
        Decider::Model | Decider::Always => DecidedBy::Model,
    }
}

/// Returns how many requests the model may be sent in a turn, and how many calls it may choose. `None` if only the
/// configuration defines it.
#[must_use]
pub fn iterations(agent: &Agent) -> Option<u32> {
    match &agent.execution.max_iterations {
        Some(NumberOrText::Number(n)) => super::step::to_count(*n),
        Some(NumberOrText::Text(_)) => None,
        None => Some(MAX_ITERATIONS),
    }
}

impl<'a> Builder<'_, 'a> {
    /// Builds an agent without a flow. Control that returns from elsewhere returns to the model.
    pub(super) fn model_driven(&mut self, ends: OpenEdges<'a>) {
        let span = self.agent.metadata.name.span;
        let origin = self.agent.reasoning.as_ref().map_or(Origin::Agent(self.agent), Origin::Zone);
        if self.confirms_outside_steps() {
            self.connect_resume(&ends, span);
        }
        let choose = self.reasoning(self.agent.reasoning.as_ref(), origin, span, ends);
        if !self.agent.gather.fields.is_empty() {
            let agent = Origin::Agent(self.agent);
            let span = self.agent.gather.fields.first().map_or(span, |f| f.span);
            let node = self.node(NodeKind::Collect, agent, span);
            let ask = Edge::of(EdgeKind::Choice).decided(DecidedBy::Model).at(agent, span);
            self.edge(choose.node, node, ask);
            let back = Edge::of(EdgeKind::Return).decided(DecidedBy::User).at(agent, span);
            self.edge(node, choose.again, back);
            let turn_end = self.shared.turn_end;
            self.edge(
                node,
                turn_end,
                Edge::of(EdgeKind::Turn).decided(DecidedBy::User).at(agent, span),
            );
        }
        let say = self.node(NodeKind::Say, origin, span);
        let edge = Edge::of(EdgeKind::Choice).decided(DecidedBy::Model).at(origin, span);
        self.edge(choose.node, say, edge);
        let turn_end = self.shared.turn_end;
        self.edge(say, turn_end, Edge::of(EdgeKind::Turn).at(origin, span));
        let resume = self.shared.resume;
        self.edge(resume, choose.again, Edge::of(EdgeKind::Return).at(origin, span));
    }

    /// Builds the reasoning zone of a step. Returns the open edges after it.
    pub(super) fn zone(
        &mut self,
        zone: &'a ReasoningZone,
        mut ends: OpenEdges<'a>,
    ) -> OpenEdges<'a> {
        let origin = Origin::Zone(zone);
        let span = self.step.map_or(self.agent.metadata.name.span, |s| s.name.span);
        for constraint in &zone.constraints {
            ends = self.constraint(constraint, None, ends);
        }
        let choose = self.reasoning(Some(zone), origin, span, ends);
        let edge = Edge::of(EdgeKind::Choice).decided(DecidedBy::Model).at(origin, span);
        let say = self.node(NodeKind::Say, origin, span);
        self.edge(choose.node, say, edge);
        let wait = self.node(NodeKind::Await, origin, span);
        self.edge(say, wait, Edge::of(EdgeKind::Next).at(origin, span));
        let limit = zone.max_turns.and_then(super::step::to_count);
        let back =
            Edge::of(EdgeKind::Return).decided(DecidedBy::User).at_most(limit).at(origin, span);
        self.edge(wait, choose.again, back);
        let mut ends = Vec::new();
        match &zone.exit_when {
            Some(when) => {
                let guard = self.extend_guard_if(Guard::ALWAYS, Some(when), true);
                let edge =
                    Edge::of(EdgeKind::Next).decided(decided_by_condition(when)).guarded(guard);
                ends.push(OpenEdge { from: choose.node, edge: edge.at(origin, when.span()) });
            }
            None => {
                let edge = Edge::of(EdgeKind::Next).decided(DecidedBy::Model).at(origin, span);
                ends.push(OpenEdge { from: choose.node, edge });
            }
        }
        if limit.is_some() {
            let edge = Edge::of(EdgeKind::Exhausted).decided(DecidedBy::Outcome).at(origin, span);
            ends.push(OpenEdge { from: wait, edge });
        }
        ends
    }

    fn reasoning(
        &mut self,
        zone: Option<&'a ReasoningZone>,
        origin: Origin<'a>,
        span: Span,
        ends: OpenEdges<'a>,
    ) -> ChoiceNodes {
        let prepare = zone.map(|z| &z.prepare).filter(|body| !body.is_empty());
        let choice = match prepare {
            Some(body) => {
                let before = self.node(NodeKind::Hook, Origin::Procedure("instructions"), span);
                self.connect(ends, before);
                let prepared = self.body(body, vec![Self::fallthrough(before)]);
                let node = self.node(NodeKind::Choose, origin, span);
                self.connect(prepared, node);
                ChoiceNodes { node, again: before }
            }
            None => {
                let node = self.node(NodeKind::Choose, origin, span);
                self.connect(ends, node);
                ChoiceNodes { node, again: node }
            }
        };
        self.fallible.push(choice.node);
        let bindings = zone.map(|z| z.bindings.as_slice()).unwrap_or_default();
        for binding in bindings {
            self.tool_binding(binding, choice);
        }
        match zone.and_then(|z| z.available_tools.as_ref()) {
            Some(tools) => tools.iter().for_each(|tool| self.model_calls(tool, choice)),
            None if !bindings.is_empty() => {}
            // Nothing is offered that is not bound.
            None if self.agent.metadata.dialect.traits().model_acts_by_tools => {}
            None if self.step.is_none() => self.all_tools(choice),
            None => self.share_tools(origin, span, choice),
        }
        choice
    }

    fn model_calls(&mut self, tool: &'a Spanned<Name>, choice: ChoiceNodes) {
        let declared = self.tools.get(tool.value.as_str()).copied();
        let origin = declared.map_or(Origin::Name(tool), Origin::Tool);
        let edge = Edge::of(EdgeKind::Choice).decided(DecidedBy::Model).at(origin, tool.span);
        let limit = iterations(self.agent);
        let ends = self.check_before_call(tool, vec![OpenEdge { from: choice.node, edge }]);
        let (ends, declined) = self.confirm_before_call(tool, origin, ends);
        let call = self.node(NodeKind::Call, origin, tool.span);
        self.connect(ends, call);
        let back = Edge::of(EdgeKind::Return).decided(DecidedBy::Outcome).at_most(limit);
        self.edge(call, choice.again, back.at(origin, tool.span));
        self.return_declined(declined, choice);
    }

    /// A refused call returns to the model that chose it.
    fn return_declined(&mut self, declined: Option<OpenEdge<'a>>, choice: ChoiceNodes) {
        let Some(OpenEdge { from, edge }) = declined else { return };
        let back = Edge { kind: EdgeKind::Return, ..edge }.at_most(iterations(self.agent));
        self.edge(from, choice.again, back);
    }

    /// The tools of the agent, of its profiles and of the libraries that it names, but for those that a profile always
    /// hides from the model.
    fn tool_names(&self) -> Vec<&'a Spanned<Name>> {
        let profiles = self.profiles.iter().flat_map(|p| p.tools_add.iter().map(|t| &t.name));
        let own = self.agent.tools.iter().map(|t| &t.name);
        let always = |p: &&Profile| p.when.as_ref().is_none_or(|when| when.always_holds());
        let hiding = self.profiles.iter().copied().filter(always);
        let hidden = hiding.flat_map(|p| &p.tools_hide).map(|name| name.value.as_str());
        let mut seen: FxHashSet<&str> = hidden.collect();
        own.chain(profiles)
            .chain(&self.agent.use_tools)
            .filter(|name| seen.insert(name.value.as_str()))
            .collect()
    }

    fn all_tools(&mut self, choice: ChoiceNodes) {
        for tool in self.tool_names() {
            self.model_calls(tool, choice);
        }
    }

    /// All reasoning zones of steps may use all tools, so the tool nodes are shared.
    fn share_tools(&mut self, origin: Origin<'a>, span: Span, choice: ChoiceNodes) {
        let tools = self.tool_names();
        if tools.is_empty() {
            return;
        }
        let toolbox = match self.shared.toolbox {
            Some(toolbox) => toolbox,
            None => {
                let step = self.step.take();
                let fallible = std::mem::take(&mut self.fallible);
                let waits = std::mem::take(&mut self.waits);
                let name = self.agent.metadata.name.span;
                let agent = Origin::Agent(self.agent);
                let toolbox = self.node(NodeKind::Choose, agent, name);
                self.shared.toolbox = Some(toolbox);
                let back = self.shared.resume;
                for tool in tools {
                    self.model_calls(tool, ChoiceNodes { node: toolbox, again: back });
                }
                self.waits = waits;
                let inside = std::mem::replace(&mut self.fallible, fallible);
                if let Some(errors) = self.shared.errors {
                    let edge =
                        Edge::of(EdgeKind::Unhandled).decided(DecidedBy::Outcome).at(agent, name);
                    inside.into_iter().for_each(|node| self.edge(node, errors, edge));
                }
                self.step = step;
                toolbox
            }
        };
        let edge = Edge::of(EdgeKind::Choice).decided(DecidedBy::Model).at(origin, span);
        self.edge(choice.node, toolbox, edge);
        let again = edge.at_most(iterations(self.agent));
        self.edge(choice.node, choice.again, Edge { kind: EdgeKind::Return, ..again });
    }

    /// Builds a tool binding and the statements after the call.
    fn tool_binding(&mut self, binding: &'a ToolBinding, choice: ChoiceNodes) {
        let (origin, span) = (Origin::ToolBinding(binding), binding.span);
        let guard = self.extend_guard_if(Guard::ALWAYS, binding.available_when.as_ref(), true);
        let edge = Edge::of(EdgeKind::Choice)
            .decided(DecidedBy::Model)
            .guarded(guard)
            .at(origin, binding.name.span);
        let picked = vec![OpenEdge { from: choice.node, edge }];
        let ends = match &binding.action {
            BindingAction::Call { tool } => {
                let ends = self.check_before_call(tool, picked);
                let (ends, declined) = self.confirm_before_call(tool, origin, ends);
                self.return_declined(declined, choice);
                self.append(ends, NodeKind::Call, origin, span)
            }
            BindingAction::Collect => self.append(picked, NodeKind::Set, origin, span),
            BindingAction::Other { .. } => self.append(picked, NodeKind::Other, origin, span),
            BindingAction::Handoff { to } => {
                let node = self.node(NodeKind::Handoff, origin, span);
                self.connect(picked, node);
                self.hand_over(node, to, false)
            }
            BindingAction::Delegate { agent } => {
                let node = self.node(NodeKind::Delegate, origin, span);
                self.connect(picked, node);
                self.hand_over(node, agent, true)
            }
            BindingAction::Escalate => {
                self.escalate(picked, origin, span);
                Vec::new()
            }
            BindingAction::Complete => {
                self.finish(NodeKind::Complete, picked, origin, span);
                Vec::new()
            }
        };
        let ends = self.callback(&binding.after, ends);
        let limit = iterations(self.agent);
        let ends = ends
            .into_iter()
            .map(|o| OpenEdge { edge: o.edge.at_most(o.edge.limit.or(limit)), ..o });
        self.connect_as(ends.collect(), choice.again, EdgeKind::Return, origin, span);
    }

    /// Builds the declared routing rules, handoffs and delegations, by priority.
    pub(super) fn routes(&mut self, ends: OpenEdges<'a>) -> OpenEdges<'a> {
        let agent = self.agent;
        let c = &agent.coordination;
        let mut handoffs: Vec<&'a Handoff> =
            c.handoffs.iter().filter(|h| !h.repeats_binding).collect();
        let delegates: Vec<_> = c.delegates.iter().filter(|d| !d.repeats_binding).collect();
        let rules = agent.routing.as_ref().map(|r| r.rules.as_slice()).unwrap_or_default();
        let default = agent.routing.as_ref().and_then(|r| r.default_agent.as_ref());
        let listed = self.only_listed();
        if handoffs.is_empty()
            && delegates.is_empty()
            && rules.is_empty()
            && default.is_none()
            && listed.is_empty()
        {
            return ends;
        }
        let (origin, name) = (Origin::Agent(agent), agent.metadata.name.span);
        let node = self.node(NodeKind::Route, origin, name);
        self.connect(ends, node);
        let mut none = Guard::ALWAYS;
        let mut rules: Vec<&'a RoutingRule> = rules.iter().collect();
        rules.sort_by(|a, b| {
            priority(a.priority.as_ref()).total_cmp(&priority(b.priority.as_ref()))
        });
        for (at, rule) in rules.iter().enumerate() {
            let guard = self.extend_guard_if(none, rule.when.as_ref(), true);
            self.rule(rule, node, guard);
            // A rule with several targets occurs once per target; the next rule is tried only after
            // all of them. If a rule depends on more than its condition, its failure says nothing
            // about the condition.
            let last = rules.get(at + 1).is_none_or(|next| !next.continues);
            let plain = rule.intents.is_empty()
                && rule.channels.is_empty()
                && rule.requires_state.is_empty()
                && rule.ignore_intents.is_empty();
            if last && plain {
                none = self.extend_guard_if(none, rule.when.as_ref(), false);
            }
        }
        if let Some(to) = default {
            let decided = if rules.iter().all(|r| decided(r.decided_by) == DecidedBy::Condition) {
                DecidedBy::Condition
            } else {
                DecidedBy::Model
            };
            let origin = Origin::Name(to);
            let edge = Edge::of(EdgeKind::Route).decided(decided).guarded(none).at(origin, to.span);
            self.routed_to(to, origin, self.returns_from(to), OpenEdge { from: node, edge });
        }
        // Handoffs are tried by priority too. That a rule was tried before says nothing about them.
        handoffs.sort_by(|a, b| {
            priority(a.priority.as_ref()).total_cmp(&priority(b.priority.as_ref()))
        });
        let mut none = Guard::ALWAYS;
        for handoff in handoffs {
            let mut guard = self.extend_guard_if(none, handoff.when.as_ref(), true);
            if decided(handoff.decided_by) == DecidedBy::Model {
                guard = self.guard_handing_over(guard);
            }
            let expression = handoff.when.as_ref().filter(|w| w.expr().is_some());
            none = self.extend_guard_if(none, expression, false);
            let origin = Origin::Handoff(handoff);
            let edge = Edge::of(EdgeKind::Route)
                .decided(decided(handoff.decided_by))
                .guarded(guard)
                .at(origin, handoff.span);
            self.handoff(handoff, OpenEdge { from: node, edge });
        }
        let mut on = Vec::new();
        for delegate in delegates {
            let (origin, span) = (Origin::Delegate(delegate), delegate.span);
            let guard = self.extend_guard_if(Guard::ALWAYS, delegate.when.as_ref(), true);
            let edge = Edge::of(EdgeKind::Route)
                .decided(decided(delegate.decided_by))
                .guarded(guard)
                .at(origin, span);
            let asks = self.node(NodeKind::Delegate, origin, span);
            self.edge(node, asks, edge);
            on.extend(self.hand_over(asks, &delegate.agent, true));
            match &delegate.on_failure {
                Some(jump) if matches!(jump.target, Target::Retry | Target::RetryStep) => {
                    on.extend(self.delegates_again(asks, delegate));
                }
                Some(jump) => {
                    let left = self.failed(asks, jump, origin, span);
                    on.extend(self.joined(left, origin, span));
                }
                None => {}
            }
        }
        self.fan_out(node);
        for reference in listed {
            let origin = Origin::Reference(reference);
            let edge =
                Edge::of(EdgeKind::Route).decided(DecidedBy::Model).at(origin, reference.span);
            self.routed_to(&reference.alias, origin, false, OpenEdge { from: node, edge });
        }
        // Without a condition the agent itself decides whether it needs another agent.
        let edge = Edge::of(EdgeKind::Next).decided(DecidedBy::Outcome).at(origin, name);
        on.push(OpenEdge { from: node, edge });
        on
    }

    /// The agents that a supervisor lists and that no other construct of it targets. The model may
    /// choose them.
    fn only_listed(&self) -> Vec<&'a AgentReference> {
        let agent = self.agent;
        let named: FxHashSet<&str> = agent.targets().map(|t| t.value.as_str()).collect();
        let lists = |r: &&AgentReference| {
            let name = r.agent.as_ref().unwrap_or(&r.alias);
            !named.contains(name.value.as_str())
        };
        agent.available_agents.iter().filter(lists).collect()
    }

    /// Several intents in one message may go to several agents in parallel, all of which return.
    fn fan_out(&mut self, route: NodeIndex) {
        let several = self.agent.intent_handling.as_ref().and_then(|i| i.multi_intent.as_ref());
        let strategy = several.filter(|m| m.enabled != Some(false)).and_then(|m| m.strategy);
        if !matches!(strategy, Some("parallel" | "auto")) {
            return;
        }
        let (origin, name) = (Origin::Agent(self.agent), self.agent.metadata.name.span);
        let node = self.node(NodeKind::FanOut, origin, name);
        let edge = Edge::of(EdgeKind::Route).decided(DecidedBy::Model).at(origin, name);
        self.edge(route, node, edge);
        let back = self.node(NodeKind::Return, origin, name);
        self.edge(
            node,
            back,
            Edge::of(EdgeKind::Return).decided(DecidedBy::Outcome).at(origin, name),
        );
        let agent = self.agent;
        let rules = agent.routing.iter().flat_map(|r| &r.rules).filter_map(|r| r.to.as_ref());
        let mut seen = FxHashSet::default();
        for to in rules.chain(agent.coordination.delegates.iter().map(|d| &d.agent)) {
            if seen.insert(to.value.as_str()) {
                self.transfer(node, to, Some(back));
            }
        }
        let resume = self.shared.resume;
        self.edge(back, resume, Edge::of(EdgeKind::Return).at(origin, name));
    }

    fn rule(&mut self, rule: &'a RoutingRule, node: NodeIndex, guard: Guard) {
        let (origin, span) = (Origin::Rule(rule), rule.span);
        let decided =
            if rule.intents.is_empty() { decided(rule.decided_by) } else { DecidedBy::User };
        let edge = Edge::of(EdgeKind::Route).decided(decided).guarded(guard).at(origin, span);
        let open = OpenEdge { from: node, edge };
        match (&rule.to, &rule.action) {
            (Some(to), _) => {
                let returns = rule.returns.unwrap_or_else(|| self.returns_from(to));
                self.routed_to(to, origin, returns, open);
            }
            (None, Some(RoutingTarget::RouteToUser { .. })) => {
                let ends = self.append(vec![open], NodeKind::Say, origin, span);
                let turn_end = self.shared.turn_end;
                self.connect_as(ends, turn_end, EdgeKind::Turn, origin, span);
            }
            (None, Some(RoutingTarget::RouteToVariable { .. })) => {
                self.by_variable(rule, open);
            }
            (None, Some(RoutingTarget::EndConversation)) => {
                self.finish(NodeKind::Complete, vec![open], origin, span);
            }
            (None, Some(RoutingTarget::SystemAction { .. }) | None) => {
                let ends = self.append(vec![open], NodeKind::Other, origin, span);
                self.connect_as(ends, self.shared.resume, EdgeKind::Return, origin, span);
            }
        }
    }

    /// Builds the route to the agent that a variable names: one of those that the agent knows, or none.
    fn by_variable(&mut self, rule: &'a RoutingRule, open: OpenEdge<'a>) {
        let (origin, span) = (Origin::Rule(rule), rule.span);
        let branch = self.node(NodeKind::Branch, origin, span);
        self.connect(vec![open], branch);
        let agent = self.agent;
        let listed = agent.available_agents.iter().map(|reference| &reference.alias);
        let mut seen = FxHashSet::default();
        for to in listed.chain(agent.targets()) {
            if seen.insert(to.value.as_str()) {
                let returns = rule.returns.unwrap_or_else(|| self.returns_from(to));
                let edge =
                    Edge::of(EdgeKind::Branch).decided(DecidedBy::Condition).at(origin, span);
                self.routed_to(to, origin, returns, OpenEdge { from: branch, edge });
            }
        }
        let unknown = self.node(NodeKind::Unknown, origin, span);
        let edge = Edge::of(EdgeKind::Branch).decided(DecidedBy::Condition).at(origin, span);
        self.edge(branch, unknown, edge);
    }

    /// Whether a declared handoff to the agent returns.
    fn returns_from(&self, to: &'a Spanned<Name>) -> bool {
        let name = self.agent_name(&to.value);
        let handoffs = &self.agent.coordination.handoffs;
        handoffs.iter().any(|h| h.returns && self.agent_name(&h.to.value) == name)
    }

    fn routed_to(
        &mut self,
        to: &'a Spanned<Name>,
        origin: Origin<'a>,
        returns: bool,
        open: OpenEdge<'a>,
    ) {
        let node = self.node(NodeKind::Handoff, origin, to.span);
        self.connect(vec![open], node);
        let ends = self.hand_over(node, to, returns);
        self.connect_as(ends, self.shared.resume, EdgeKind::Return, origin, to.span);
    }

    /// Builds a declared handoff: its checks and assignments, the transfer, the continuation after
    /// a return or a failure.
    fn handoff(&mut self, handoff: &'a Handoff, open: OpenEdge<'a>) {
        let (origin, span) = (Origin::Handoff(handoff), handoff.span);
        let mut ends = vec![open];
        for set in &handoff.context.set {
            ends = self.append(ends, NodeKind::Set, Origin::Set(set), set.span);
        }
        let node = self.node(NodeKind::Handoff, origin, span);
        self.connect(ends, node);
        let mut back = self.hand_over(node, &handoff.to, handoff.returns);
        if let Some(on_return) = &handoff.on_return {
            for set in &on_return.set {
                back = self.append(back, NodeKind::Set, Origin::Set(set), set.span);
            }
            // These names may be steps, in an agent that has steps.
            let named = [&on_return.action, &on_return.handler, &on_return.resume_with]
                .into_iter()
                .flatten();
            let origin = Origin::OnReturn(on_return);
            let from = if handoff.returns {
                back.clone()
            } else {
                let edge = Edge::of(EdgeKind::Return).decided(DecidedBy::Outcome).at(origin, span);
                vec![OpenEdge { from: node, edge }]
            };
            for name in named {
                if self.connect_named_step(&from, name, origin) {
                    back.clear();
                }
            }
        }
        self.connect_as(back, self.shared.resume, EdgeKind::Return, origin, span);
        if let Some(jump) = &handoff.on_failure {
            let left = self.failed(node, jump, origin, span);
            self.connect_as(left, self.shared.resume, EdgeKind::Error, origin, span);
        }
    }

    /// Builds further attempts of a delegation; if they fail too, the agent goes on if there is a message for that
    /// (reference of supervisors and multiple agents, "Delegate failure strategies").
    fn delegates_again(&mut self, asks: NodeIndex, delegate: &'a Delegate) -> OpenEdges<'a> {
        let (origin, span) = (Origin::Delegate(delegate), delegate.span);
        let times = delegate.max_retries.and_then(super::step::to_count);
        let again = Edge::of(EdgeKind::Retry)
            .decided(DecidedBy::Outcome)
            .at_most(Some(times.unwrap_or(super::step::ERROR_RETRIES)));
        self.edge(asks, asks, again.at(origin, span));
        let left = Edge::of(EdgeKind::Error).decided(DecidedBy::Outcome).at(origin, span);
        let left = delegate.failure_message.iter().map(|_| OpenEdge { from: asks, edge: left });
        let left = left.collect();
        self.joined(left, origin, span)
    }

    /// Builds the reaction to an agent that is not available.
    fn failed(
        &mut self,
        node: NodeIndex,
        jump: &'a agentir_ir::Jump,
        origin: Origin<'a>,
        span: Span,
    ) -> OpenEdges<'a> {
        let edge = Edge::of(EdgeKind::Error).decided(DecidedBy::Outcome).at(origin, span);
        let left = vec![OpenEdge { from: node, edge }];
        // What is said then belongs to the edge.
        if jump.target == Target::Respond { left } else { self.jump(jump, left) }
    }
}

/// The node at which the model chooses, and the node to return to for the next choice.
#[derive(Debug, Clone, Copy)]
struct ChoiceNodes {
    node: NodeIndex,
    again: NodeIndex,
}
