//! The agent as a whole: its entry, turns, error handling and exit.

use super::build::{Builder, OpenEdge, OpenEdges, decided_by_condition};
use super::{DecidedBy, Edge, EdgeKind, Guard, NodeKind, Origin};
use agentir_diagnostics::Span;
use agentir_ir::{GuardrailKind, Hook, Trigger};
use petgraph::graph::NodeIndex;

impl<'a> Builder<'_, 'a> {
    pub(super) fn build_agent(&mut self) {
        let agent = self.agent;
        let origin = Origin::Agent(agent);
        let name = agent.metadata.name.span;
        let entry = self.node(NodeKind::Entry, origin, name);
        self.shared.entry = entry;
        self.shared.exit = self.node(NodeKind::Exit, origin, name);
        self.shared.turn_start = self.node(NodeKind::TurnStart, origin, name);
        self.shared.turn_end = self.node(NodeKind::TurnEnd, origin, name);
        self.shared.wait = self.node(NodeKind::Await, origin, name);
        self.shared.resume = self.node(NodeKind::Resume, origin, name);
        self.shared.finish = self.shared.exit;
        self.resume = self.shared.resume;
        self.retry = (self.shared.resume, None);
        let errors = &agent.error_handling;
        if !errors.handlers.is_empty() || errors.default_handler.is_some() {
            self.shared.errors = Some(self.node(NodeKind::Error, origin, name));
        }
        if let Some(escalation) = &agent.coordination.escalation
            && !escalation.on_human_complete.is_empty()
        {
            self.shared.human = Some(self.node(NodeKind::Return, origin, escalation.span));
        }
        if let Some(flow) = &agent.flow {
            self.step_nodes(flow);
        }
        self.tool_checkpoints();
        if let Some(hook) = &agent.hooks.after_agent {
            let (finish, ends) = self.hook(hook, "after_agent", Vec::new());
            self.shared.finish = finish;
            let exit = self.shared.exit;
            self.connect_as(ends, exit, EdgeKind::Finish, origin, name);
        }
        let mut ends = vec![Self::fallthrough(entry)];
        if let Some(hook) = &agent.hooks.before_agent {
            ends = self.hook(hook, "before_agent", ends).1;
        }
        if !agent.on_start.is_empty() {
            ends = self.append(ends, NodeKind::Hook, Origin::Procedure("on_start"), name);
            ends = self.body(&agent.on_start, ends);
        }
        let turn_start = self.shared.turn_start;
        self.connect(ends, turn_start);
        let ends = self.turn_start(turn_start);
        self.connect_errors();
        match &agent.flow {
            Some(flow) => {
                // In later turns the flow resumes at its last program point.
                self.connect_resume(&ends, flow.span);
                self.flow(flow, ends);
            }
            None => self.model_driven(ends),
        }
        self.turn_end();
        self.agent_errors();
        self.human_outcomes();
        self.connect_checkpoints();
    }

    /// Connects the start of a later turn to the program point at which the flow last waited.
    pub(super) fn connect_resume(&mut self, ends: &OpenEdges<'a>, span: Span) {
        for open in ends {
            let edge = Edge { kind: EdgeKind::Return, ..open.edge };
            self.edge(open.from, self.shared.resume, edge.at(Origin::Agent(self.agent), span));
        }
    }

    /// Builds a hook. Returns its first node and its open edges.
    fn hook(
        &mut self,
        hook: &'a Hook,
        name: &'static str,
        ends: OpenEdges<'a>,
    ) -> (NodeIndex, OpenEdges<'a>) {
        let span = self.agent.metadata.name.span;
        let node = self.node(NodeKind::Hook, Origin::Hook(hook, name), span);
        self.connect(ends, node);
        self.in_hook = true;
        let ends = self.body(&hook.body, vec![Self::fallthrough(node)]);
        self.in_hook = false;
        (node, ends)
    }

    /// Builds the path from the user's message to the agent's reaction.
    fn turn_start(&mut self, start: NodeIndex) -> OpenEdges<'a> {
        let agent = self.agent;
        let (origin, name) = (Origin::Agent(agent), agent.metadata.name.span);
        let mut ends = vec![Self::fallthrough(start)];
        if let Some(hook) = &agent.hooks.before_turn {
            ends = self.hook(hook, "before_turn", ends).1;
        }
        ends = self.guardrails(GuardrailKind::Input, ends);
        ends = self.turn_constraints(ends);
        for trigger in agent.coordination.escalation.iter().flat_map(|e| &e.triggers) {
            if !trigger.repeats_binding {
                ends = self.trigger(trigger, ends);
            }
        }
        self.rules_before_calls();
        let digressions = agent.flow.iter().flat_map(|f| &f.global_digressions);
        if digressions.clone().next().is_some() || !agent.action_handlers.is_empty() {
            let hub = self.node(NodeKind::Interrupt, origin, name);
            let edge = Edge::of(EdgeKind::Digression).decided(DecidedBy::User).at(origin, name);
            self.edge(start, hub, edge);
            let back = self.shared.resume;
            for digression in digressions {
                self.digression(digression, hub, back);
            }
            for handler in &agent.action_handlers {
                self.action(handler, hub, back);
            }
        }
        if let Some(errors) = self.shared.errors {
            let edge = Edge::of(EdgeKind::Unhandled).decided(DecidedBy::Outcome).at(origin, name);
            self.edge(start, errors, edge);
        }
        self.waits.clear();
        let ends = self.joined(ends, origin, name);
        self.routes(ends)
    }

    pub(super) fn trigger(&mut self, trigger: &'a Trigger, ends: OpenEdges<'a>) -> OpenEdges<'a> {
        let (origin, span) = (Origin::Trigger(trigger), trigger.span);
        let node = self.node(NodeKind::Branch, origin, span);
        self.connect(ends, node);
        let yes = self.extend_guard_if(Guard::ALWAYS, trigger.when.as_ref(), true);
        let no = self.extend_guard_if(Guard::ALWAYS, trigger.when.as_ref(), false);
        let decided = trigger.when.as_ref().map_or(DecidedBy::Model, decided_by_condition);
        let edge = |kind, guard| Edge::of(kind).decided(decided).guarded(guard).at(origin, span);
        let mut inside = vec![OpenEdge { from: node, edge: edge(EdgeKind::Route, yes) }];
        for set in &trigger.set {
            inside = self.append(inside, NodeKind::Set, Origin::Set(set), set.span);
        }
        if trigger.respond.is_some() {
            inside = self.append(inside, NodeKind::Say, origin, span);
        }
        self.escalate(inside, origin, span);
        vec![OpenEdge { from: node, edge: edge(EdgeKind::Next, no) }]
    }

    /// Builds the path from the answer to the wait for the next message.
    fn turn_end(&mut self) {
        let agent = self.agent;
        let (origin, name) = (Origin::Agent(agent), agent.metadata.name.span);
        let mut ends = vec![Self::fallthrough(self.shared.turn_end)];
        if let Some(hook) = &agent.hooks.after_turn {
            ends = self.hook(hook, "after_turn", ends).1;
        }
        ends = self.remember(ends);
        ends = self.completion(ends);
        let (wait, start) = (self.shared.wait, self.shared.turn_start);
        self.connect(ends, wait);
        self.edge(wait, start, Edge::of(EdgeKind::Turn).decided(DecidedBy::User).at(origin, name));
    }

    fn agent_errors(&mut self) {
        let errors = &self.agent.error_handling;
        let Some(hub) = self.shared.errors else { return };
        for handler in errors.handlers.iter().chain(errors.default_handler.as_deref()) {
            self.handler(handler, hub);
        }
        self.connect_errors();
    }

    /// Outside of steps only the agent's own error handlers apply.
    fn connect_errors(&mut self) {
        let Some(hub) = self.shared.errors else { return };
        let origin = Origin::Agent(self.agent);
        let span = self.agent.metadata.name.span;
        let edge = Edge::of(EdgeKind::Unhandled).decided(DecidedBy::Outcome).at(origin, span);
        for node in std::mem::take(&mut self.fallible) {
            self.edge(node, hub, edge);
        }
    }

    /// Builds the outcomes of a handover to a person. The first outcome that matches is taken.
    fn human_outcomes(&mut self) {
        let Some(human) = self.shared.human else { return };
        let outcomes = self.agent.coordination.escalation.iter().flat_map(|e| &e.on_human_complete);
        let mut none = Guard::ALWAYS;
        for outcome in outcomes {
            let (origin, span) = (Origin::HumanOutcome(outcome), outcome.span);
            let guard = self.extend_guard_if(none, outcome.condition.as_ref(), true);
            none = self.extend_guard_if(none, outcome.condition.as_ref(), false);
            let decided =
                outcome.condition.as_ref().map_or(DecidedBy::Outcome, decided_by_condition);
            let edge = Edge::of(EdgeKind::Branch).decided(decided).guarded(guard).at(origin, span);
            let mut ends = vec![OpenEdge { from: human, edge }];
            for set in &outcome.set {
                ends = self.append(ends, NodeKind::Set, Origin::Set(set), set.span);
            }
            if outcome.respond.is_some() {
                ends = self.append(ends, NodeKind::Say, origin, span);
            }
            if outcome.store.is_some() {
                ends = self.append(ends, NodeKind::Store, origin, span);
            }
            if let Some(jump) = &outcome.action {
                ends = self.jump(jump, ends);
            }
            self.connect_as(ends, self.shared.resume, EdgeKind::Return, origin, span);
        }
        // No outcome matches: the conversation resumes where it was.
        if let Some(escalation) = &self.agent.coordination.escalation {
            let (origin, span) = (Origin::Agent(self.agent), escalation.span);
            let edge = Edge::of(EdgeKind::Return).decided(DecidedBy::Outcome).guarded(none);
            let ends = vec![OpenEdge { from: human, edge: edge.at(origin, span) }];
            self.connect_as(ends, self.shared.resume, EdgeKind::Return, origin, span);
        }
    }
}
