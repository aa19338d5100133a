//! An agent as a whole: how it begins, its turns, its errors, its end.

use super::build::{Builder, Ends, Open, decider};
use super::{DecidedBy, Edge, Element, Guard, NodeKind, Why};
use agentir_diagnostics::Span;
use agentir_ir::{GuardrailKind, Hook, Trigger};
use petgraph::graph::NodeIndex;
use rustc_hash::FxHashSet;

impl<'a> Builder<'_, 'a> {
    pub(super) fn whole_agent(&mut self) {
        let agent = self.agent;
        let element = Element::Agent(agent);
        let name = agent.metadata.name.span;
        let entry = self.node(NodeKind::Entry, element, name);
        self.places.entry = entry;
        self.places.exit = self.node(NodeKind::Exit, element, name);
        self.places.turn_start = self.node(NodeKind::TurnStart, element, name);
        self.places.turn_end = self.node(NodeKind::TurnEnd, element, name);
        self.places.wait = self.node(NodeKind::Await, element, name);
        self.places.resume = self.node(NodeKind::Resume, element, name);
        self.places.finish = self.places.exit;
        self.resume = self.places.resume;
        self.retry = (self.places.resume, None);
        let errors = &agent.error_handling;
        if !errors.handlers.is_empty() || errors.default_handler.is_some() {
            self.places.errors = Some(self.node(NodeKind::Error, element, name));
        }
        if let Some(escalation) = &agent.coordination.escalation
            && !escalation.on_human_complete.is_empty()
        {
            self.places.human = Some(self.node(NodeKind::Return, element, escalation.span));
        }
        if let Some(flow) = &agent.flow {
            self.step_nodes(flow);
        }
        self.before_tools();
        if let Some(hook) = &agent.hooks.after_agent {
            let (finish, ends) = self.hook(hook, "after_agent", Vec::new());
            self.places.finish = finish;
            let exit = self.places.exit;
            self.lead(ends, exit, Why::Finish, element, name);
        }
        let mut ends = vec![Self::after(entry)];
        if let Some(hook) = &agent.hooks.before_agent {
            ends = self.hook(hook, "before_agent", ends).1;
        }
        if !agent.on_start.is_empty() {
            ends = self.then(ends, NodeKind::Hook, Element::Procedure("on_start"), name);
            ends = self.body(&agent.on_start, ends);
        }
        let turn_start = self.places.turn_start;
        self.attach(ends, turn_start);
        let ends = self.turn_start(turn_start);
        self.look_after_errors();
        match &agent.flow {
            Some(flow) => {
                // In a later turn the flow goes on where it was.
                self.go_on_where_it_was(&ends, flow.span);
                self.flow(flow, ends);
            }
            None => self.led_by_the_model(ends),
        }
        self.turn_end();
        self.agent_errors();
        self.people();
    }

    /// Behind the beginning of a later turn: the place at which something was waited for.
    pub(super) fn go_on_where_it_was(&mut self, ends: &Ends<'a>, span: Span) {
        for open in ends {
            let edge = Edge { why: Why::Return, ..open.edge };
            self.edge(open.from, self.places.resume, edge.by(Element::Agent(self.agent), span));
        }
    }

    /// A hook: where it begins, and where it goes on.
    fn hook(
        &mut self,
        hook: &'a Hook,
        name: &'static str,
        ends: Ends<'a>,
    ) -> (NodeIndex, Ends<'a>) {
        let span = self.agent.metadata.name.span;
        let node = self.node(NodeKind::Hook, Element::Hook(hook, name), span);
        self.attach(ends, node);
        self.hooked = true;
        let ends = self.body(&hook.body, vec![Self::after(node)]);
        self.hooked = false;
        (node, ends)
    }

    /// From the user's message to what the agent does about it.
    fn turn_start(&mut self, start: NodeIndex) -> Ends<'a> {
        let agent = self.agent;
        let (element, name) = (Element::Agent(agent), agent.metadata.name.span);
        let mut ends = vec![Self::after(start)];
        if let Some(hook) = &agent.hooks.before_turn {
            ends = self.hook(hook, "before_turn", ends).1;
        }
        ends = self.guardrails(GuardrailKind::Input, ends);
        ends = self.turn_constraints(ends);
        let offered = self.offered_spans();
        for trigger in agent.coordination.escalation.iter().flat_map(|e| &e.triggers) {
            if !offered.contains(&trigger.span) {
                ends = self.trigger(trigger, ends);
            }
        }
        let digressions = agent.flow.iter().flat_map(|f| &f.global_digressions);
        if digressions.clone().next().is_some() || !agent.action_handlers.is_empty() {
            let hub = self.node(NodeKind::Interrupt, element, name);
            let edge = Edge::of(Why::Digression).decided(DecidedBy::User).by(element, name);
            self.edge(start, hub, edge);
            let back = self.places.resume;
            for digression in digressions {
                self.digression(digression, hub, back);
            }
            for handler in &agent.action_handlers {
                self.action(handler, hub, back);
            }
        }
        if let Some(errors) = self.places.errors {
            let edge = Edge::of(Why::Unhandled).decided(DecidedBy::Outcome).by(element, name);
            self.edge(start, errors, edge);
        }
        self.waits.clear();
        self.routes(ends)
    }

    fn trigger(&mut self, trigger: &'a Trigger, ends: Ends<'a>) -> Ends<'a> {
        let (element, span) = (Element::Trigger(trigger), trigger.span);
        let node = self.node(NodeKind::Branch, element, span);
        self.attach(ends, node);
        let yes = self.and_if(Guard::ALWAYS, trigger.when.as_ref(), true);
        let no = self.and_if(Guard::ALWAYS, trigger.when.as_ref(), false);
        let decided = trigger.when.as_ref().map_or(DecidedBy::Model, decider);
        let edge = |why, guard| Edge::of(why).decided(decided).guarded(guard).by(element, span);
        let mut inside = vec![Open { from: node, edge: edge(Why::Route, yes) }];
        for set in &trigger.set {
            inside = self.then(inside, NodeKind::Set, Element::Set(set), set.span);
        }
        if trigger.respond.is_some() {
            inside = self.then(inside, NodeKind::Say, element, span);
        }
        self.escalate(inside, element, span);
        vec![Open { from: node, edge: edge(Why::Next, no) }]
    }

    /// From the answer to the wait for the next message.
    fn turn_end(&mut self) {
        let agent = self.agent;
        let (element, name) = (Element::Agent(agent), agent.metadata.name.span);
        let mut ends = vec![Self::after(self.places.turn_end)];
        ends = self.response_constraints(ends);
        ends = self.guardrails(GuardrailKind::Output, ends);
        if let Some(hook) = &agent.hooks.after_turn {
            ends = self.hook(hook, "after_turn", ends).1;
        }
        ends = self.remember(ends);
        ends = self.completion(ends);
        let (wait, start) = (self.places.wait, self.places.turn_start);
        self.attach(ends, wait);
        self.edge(wait, start, Edge::of(Why::Turn).decided(DecidedBy::User).by(element, name));
    }

    fn agent_errors(&mut self) {
        let errors = &self.agent.error_handling;
        let Some(hub) = self.places.errors else { return };
        for handler in errors.handlers.iter().chain(errors.default_handler.as_deref()) {
            self.handler(handler, hub);
        }
        self.look_after_errors();
    }

    /// Outside of steps only the agent's own handlers look after what goes wrong.
    fn look_after_errors(&mut self) {
        let Some(hub) = self.places.errors else { return };
        let element = Element::Agent(self.agent);
        let span = self.agent.metadata.name.span;
        let edge = Edge::of(Why::Unhandled).decided(DecidedBy::Outcome).by(element, span);
        for node in std::mem::take(&mut self.fallible) {
            self.edge(node, hub, edge);
        }
    }

    /// What happens when a person is done: the first outcome that fits.
    fn people(&mut self) {
        let Some(human) = self.places.human else { return };
        let outcomes = self.agent.coordination.escalation.iter().flat_map(|e| &e.on_human_complete);
        let mut none = Guard::ALWAYS;
        for outcome in outcomes {
            let (element, span) = (Element::HumanOutcome(outcome), outcome.span);
            let guard = self.and_if(none, outcome.condition.as_ref(), true);
            none = self.and_if(none, outcome.condition.as_ref(), false);
            let decided = outcome.condition.as_ref().map_or(DecidedBy::Outcome, decider);
            let edge = Edge::of(Why::Branch).decided(decided).guarded(guard).by(element, span);
            let mut ends = vec![Open { from: human, edge }];
            for set in &outcome.set {
                ends = self.then(ends, NodeKind::Set, Element::Set(set), set.span);
            }
            if outcome.respond.is_some() {
                ends = self.then(ends, NodeKind::Say, element, span);
            }
            if outcome.store.is_some() {
                ends = self.then(ends, NodeKind::Store, element, span);
            }
            if let Some(jump) = &outcome.action {
                ends = self.jump(jump, ends);
            }
            self.lead(ends, self.places.resume, Why::Return, element, span);
        }
        // Nothing is said about what the person did: it goes on where it was.
        if let Some(escalation) = &self.agent.coordination.escalation {
            let (element, span) = (Element::Agent(self.agent), escalation.span);
            let edge = Edge::of(Why::Return).decided(DecidedBy::Outcome).guarded(none);
            let ends = vec![Open { from: human, edge: edge.by(element, span) }];
            self.lead(ends, self.places.resume, Why::Return, element, span);
        }
    }

    /// Where the tools are written that the model is offered. What an offer makes an agent able to do
    /// is declared a second time, for those who look for declarations.
    pub(super) fn offered_spans(&self) -> FxHashSet<Span> {
        self.agent.reasoning.iter().flat_map(|z| &z.bindings).map(|b| b.span).collect()
    }
}
