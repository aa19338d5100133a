//! Where the model leads, and where rules choose among agents.

use super::build::{Builder, Ends, Open, decider};
use super::{DecidedBy, Edge, Element, Guard, NodeKind, Why};
use agentir_diagnostics::{Span, Spanned};
use agentir_expr::Name;
use agentir_ir::{
    Agent, AgentReference, BindingAction, Decider, Handoff, NumberOrText, ReasoningZone,
    RoutingRule, RoutingTarget, ToolBinding,
};
use petgraph::graph::NodeIndex;
use rustc_hash::{FxHashMap, FxHashSet};

/// How many tool calls a model may make in a turn if nobody says (§7.11).
const MAX_ITERATIONS: u32 = 10;

/// By number; what has none comes last, in the order of the source.
fn priority(number: Option<&NumberOrText>) -> f64 {
    match number {
        Some(NumberOrText::Number(n)) => n.0,
        _ => f64::INFINITY,
    }
}

const fn decided(decider: Decider) -> DecidedBy {
    match decider {
        Decider::Condition => DecidedBy::Condition,
        Decider::User => DecidedBy::User,
        // Whether such a rule is looked at is nothing that the text decides.
        Decider::Model | Decider::Always => DecidedBy::Model,
    }
}

/// How often the model may call tools before it must answer; none if only configuration says so.
#[must_use]
pub fn iterations(agent: &Agent) -> Option<u32> {
    match &agent.execution.max_iterations {
        Some(NumberOrText::Number(n)) => super::step::whole(*n),
        Some(NumberOrText::Text(_)) => None,
        None => Some(MAX_ITERATIONS),
    }
}

impl<'a> Builder<'_, 'a> {
    /// An agent without a flow. What comes back from elsewhere comes back here.
    pub(super) fn led_by_the_model(&mut self, ends: Ends<'a>) {
        let span = self.agent.metadata.name.span;
        let element =
            self.agent.reasoning.as_ref().map_or(Element::Agent(self.agent), Element::Zone);
        if self.asks_outside_of_steps() {
            self.go_on_where_it_was(&ends, span);
        }
        let choose = self.reasoning(self.agent.reasoning.as_ref(), element, span, ends);
        if !self.agent.gather.fields.is_empty() {
            let agent = Element::Agent(self.agent);
            let span = self.agent.gather.fields.first().map_or(span, |f| f.span);
            let node = self.node(NodeKind::Collect, agent, span);
            let ask = Edge::of(Why::Choice).decided(DecidedBy::Model).by(agent, span);
            self.edge(choose.node, node, ask);
            let back = Edge::of(Why::Return).decided(DecidedBy::User).by(agent, span);
            self.edge(node, choose.again, back);
            let turn_end = self.places.turn_end;
            self.edge(node, turn_end, Edge::of(Why::Turn).decided(DecidedBy::User).by(agent, span));
        }
        let say = self.node(NodeKind::Say, element, span);
        let edge = Edge::of(Why::Choice).decided(DecidedBy::Model).by(element, span);
        self.edge(choose.node, say, edge);
        let turn_end = self.places.turn_end;
        self.edge(say, turn_end, Edge::of(Why::Turn).by(element, span));
        let resume = self.places.resume;
        self.edge(resume, choose.again, Edge::of(Why::Return).by(element, span));
    }

    /// A part of a step in which the model leads. Gives back how it goes on behind it.
    pub(super) fn zone(&mut self, zone: &'a ReasoningZone, mut ends: Ends<'a>) -> Ends<'a> {
        let element = Element::Zone(zone);
        let span = self.step.map_or(self.agent.metadata.name.span, |s| s.name.span);
        for constraint in &zone.constraints {
            ends = self.constraint(constraint, None, ends);
        }
        let choose = self.reasoning(Some(zone), element, span, ends);
        let edge = Edge::of(Why::Choice).decided(DecidedBy::Model).by(element, span);
        let say = self.node(NodeKind::Say, element, span);
        self.edge(choose.node, say, edge);
        let wait = self.node(NodeKind::Await, element, span);
        self.edge(say, wait, Edge::of(Why::Next).by(element, span));
        let limit = zone.max_turns.and_then(super::step::whole);
        let back = Edge::of(Why::Return).decided(DecidedBy::User).at_most(limit).by(element, span);
        self.edge(wait, choose.again, back);
        let mut ends = Vec::new();
        match &zone.exit_when {
            Some(when) => {
                let guard = self.and_if(Guard::ALWAYS, Some(when), true);
                let edge = Edge::of(Why::Next).decided(decider(when)).guarded(guard);
                ends.push(Open { from: choose.node, edge: edge.by(element, when.span()) });
            }
            None => {
                let edge = Edge::of(Why::Next).decided(DecidedBy::Model).by(element, span);
                ends.push(Open { from: choose.node, edge });
            }
        }
        if limit.is_some() {
            let edge = Edge::of(Why::Exhausted).decided(DecidedBy::Outcome).by(element, span);
            ends.push(Open { from: wait, edge });
        }
        ends
    }

    fn reasoning(
        &mut self,
        zone: Option<&'a ReasoningZone>,
        element: Element<'a>,
        span: Span,
        ends: Ends<'a>,
    ) -> Chooses {
        let prepare = zone.map(|z| &z.prepare).filter(|body| !body.is_empty());
        let chooses = match prepare {
            Some(body) => {
                let before = self.node(NodeKind::Hook, Element::Procedure("instructions"), span);
                self.attach(ends, before);
                let prepared = self.body(body, vec![Self::after(before)]);
                let node = self.node(NodeKind::Choose, element, span);
                self.attach(prepared, node);
                Chooses { node, again: before }
            }
            None => {
                let node = self.node(NodeKind::Choose, element, span);
                self.attach(ends, node);
                Chooses { node, again: node }
            }
        };
        self.fallible.push(chooses.node);
        let bindings = zone.map(|z| z.bindings.as_slice()).unwrap_or_default();
        for binding in bindings {
            self.offer(binding, chooses);
        }
        match zone.and_then(|z| z.available_tools.as_ref()) {
            Some(tools) => tools.iter().for_each(|tool| self.model_calls(tool, chooses)),
            None if !bindings.is_empty() => {}
            None if self.step.is_none() => self.all_tools(chooses),
            None => self.use_toolbox(element, span, chooses),
        }
        chooses
    }

    fn model_calls(&mut self, tool: &'a Spanned<Name>, chooses: Chooses) {
        let declared = self.tools.get(tool.value.as_str()).copied();
        let element = declared.map_or(Element::Name(tool), Element::Tool);
        let edge = Edge::of(Why::Choice).decided(DecidedBy::Model).by(element, tool.span);
        let limit = iterations(self.agent);
        let ends = self.checked_before_call(tool, vec![Open { from: chooses.node, edge }]);
        let (ends, declined) = self.agreed_before_call(tool, element, ends);
        let call = self.node(NodeKind::Call, element, tool.span);
        self.attach(ends, call);
        let back = Edge::of(Why::Return).decided(DecidedBy::Outcome).at_most(limit);
        self.edge(call, chooses.again, back.by(element, tool.span));
        self.tell_the_model(declined, chooses);
    }

    /// A call that the user does not agree to goes back to the model that picked it.
    fn tell_the_model(&mut self, declined: Option<Open<'a>>, chooses: Chooses) {
        let Some(Open { from, edge }) = declined else { return };
        let back = Edge { why: Why::Return, ..edge }.at_most(iterations(self.agent));
        self.edge(from, chooses.again, back);
    }

    /// The tools that an agent has, its profiles' and those of libraries that it names included.
    fn tool_names(&self) -> Vec<&'a Spanned<Name>> {
        let profiles = self.profiles.iter().flat_map(|p| p.tools_add.iter().map(|t| &t.name));
        let own = self.agent.tools.iter().map(|t| &t.name);
        let mut seen = FxHashSet::default();
        own.chain(profiles)
            .chain(&self.agent.use_tools)
            .filter(|name| seen.insert(name.value.as_str()))
            .collect()
    }

    fn all_tools(&mut self, chooses: Chooses) {
        for tool in self.tool_names() {
            self.model_calls(tool, chooses);
        }
    }

    /// Every step in which the model leads may use all tools; they are there once.
    fn use_toolbox(&mut self, element: Element<'a>, span: Span, chooses: Chooses) {
        let tools = self.tool_names();
        if tools.is_empty() {
            return;
        }
        let toolbox = match self.places.toolbox {
            Some(toolbox) => toolbox,
            None => {
                let step = self.step.take();
                let fallible = std::mem::take(&mut self.fallible);
                let waits = std::mem::take(&mut self.waits);
                let name = self.agent.metadata.name.span;
                let agent = Element::Agent(self.agent);
                let toolbox = self.node(NodeKind::Choose, agent, name);
                self.places.toolbox = Some(toolbox);
                let back = self.places.resume;
                for tool in tools {
                    self.model_calls(tool, Chooses { node: toolbox, again: back });
                }
                self.waits = waits;
                let inside = std::mem::replace(&mut self.fallible, fallible);
                if let Some(errors) = self.places.errors {
                    let edge = Edge::of(Why::Unhandled).decided(DecidedBy::Outcome).by(agent, name);
                    inside.into_iter().for_each(|node| self.edge(node, errors, edge));
                }
                self.step = step;
                toolbox
            }
        };
        let edge = Edge::of(Why::Choice).decided(DecidedBy::Model).by(element, span);
        self.edge(chooses.node, toolbox, edge);
        let again = edge.at_most(iterations(self.agent));
        self.edge(chooses.node, chooses.again, Edge { why: Why::Return, ..again });
    }

    /// A tool as the model sees it, and what is done after it.
    fn offer(&mut self, binding: &'a ToolBinding, chooses: Chooses) {
        let (element, span) = (Element::Offer(binding), binding.span);
        let guard = self.and_if(Guard::ALWAYS, binding.available_when.as_ref(), true);
        let edge = Edge::of(Why::Choice)
            .decided(DecidedBy::Model)
            .guarded(guard)
            .by(element, binding.name.span);
        let picked = vec![Open { from: chooses.node, edge }];
        let ends = match &binding.action {
            BindingAction::Call { tool } => {
                let ends = self.checked_before_call(tool, picked);
                let (ends, declined) = self.agreed_before_call(tool, element, ends);
                self.tell_the_model(declined, chooses);
                self.then(ends, NodeKind::Call, element, span)
            }
            BindingAction::Collect => self.then(picked, NodeKind::Set, element, span),
            BindingAction::Other { .. } => self.then(picked, NodeKind::Other, element, span),
            BindingAction::Handoff { to } => {
                let node = self.node(NodeKind::Handoff, element, span);
                self.attach(picked, node);
                self.hand_over(node, to, false)
            }
            BindingAction::Delegate { agent } => {
                let node = self.node(NodeKind::Delegate, element, span);
                self.attach(picked, node);
                self.hand_over(node, agent, true)
            }
            BindingAction::Escalate => {
                self.escalate(picked, element, span);
                Vec::new()
            }
            BindingAction::Complete => {
                self.finish(NodeKind::Complete, picked, element, span);
                Vec::new()
            }
        };
        let ends = self.body(&binding.after, ends);
        let limit = iterations(self.agent);
        let ends =
            ends.into_iter().map(|o| Open { edge: o.edge.at_most(o.edge.limit.or(limit)), ..o });
        self.lead(ends.collect(), chooses.again, Why::Return, element, span);
    }

    /// Routing rules, handoffs and delegations that are declared, by priority.
    pub(super) fn routes(&mut self, ends: Ends<'a>) -> Ends<'a> {
        let agent = self.agent;
        let c = &agent.coordination;
        let offered = self.offered_spans();
        let mut handoffs: Vec<&'a Handoff> =
            c.handoffs.iter().filter(|h| !offered.contains(&h.span)).collect();
        let delegates: Vec<_> = c.delegates.iter().filter(|d| !offered.contains(&d.span)).collect();
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
        let (element, name) = (Element::Agent(agent), agent.metadata.name.span);
        let node = self.node(NodeKind::Route, element, name);
        self.attach(ends, node);
        // A member of an ensemble is both a rule and a handoff.
        let twins: FxHashMap<Span, &'a Handoff> = handoffs.iter().map(|h| (h.span, *h)).collect();
        let routed: FxHashSet<Span> = rules.iter().map(|r| r.span).collect();
        handoffs.retain(|h| !routed.contains(&h.span));
        let mut none = Guard::ALWAYS;
        let mut rules: Vec<&'a RoutingRule> = rules.iter().collect();
        rules.sort_by(|a, b| {
            priority(a.priority.as_ref()).total_cmp(&priority(b.priority.as_ref()))
        });
        for (at, rule) in rules.iter().enumerate() {
            let guard = self.and_if(none, rule.when.as_ref(), true);
            self.rule(rule, twins.get(&rule.span).copied(), node, guard);
            // A rule with several targets stands here several times; it comes to the next one only
            // once all of them are passed. What takes more than its condition says nothing by it.
            let last = rules.get(at + 1).is_none_or(|next| next.span != rule.span);
            let plain = rule.intents.is_empty()
                && rule.channels.is_empty()
                && rule.requires_state.is_empty()
                && rule.ignore_intents.is_empty();
            if last && plain {
                none = self.and_if(none, rule.when.as_ref(), false);
            }
        }
        if let Some(to) = default {
            let decided = if rules.iter().all(|r| decided(r.decided_by) == DecidedBy::Condition) {
                DecidedBy::Condition
            } else {
                DecidedBy::Model
            };
            let by = Element::Name(to);
            let edge = Edge::of(Why::Route).decided(decided).guarded(none).by(by, to.span);
            self.routed_to(to, by, self.returns_from(to), Open { from: node, edge });
        }
        // Handoffs are tried by priority as well; that a rule was tried before says nothing of them.
        handoffs.sort_by(|a, b| {
            priority(a.priority.as_ref()).total_cmp(&priority(b.priority.as_ref()))
        });
        let mut none = Guard::ALWAYS;
        for handoff in handoffs {
            let guard = self.and_if(none, handoff.when.as_ref(), true);
            let expression = handoff.when.as_ref().filter(|w| w.expr().is_some());
            none = self.and_if(none, expression, false);
            let by = Element::Handoff(handoff);
            let edge = Edge::of(Why::Route)
                .decided(decided(handoff.decided_by))
                .guarded(guard)
                .by(by, handoff.span);
            self.handoff(handoff, Open { from: node, edge });
        }
        let mut on = Vec::new();
        for delegate in delegates {
            let (by, span) = (Element::Delegate(delegate), delegate.span);
            let guard = self.and_if(Guard::ALWAYS, delegate.when.as_ref(), true);
            let edge = Edge::of(Why::Route)
                .decided(decided(delegate.decided_by))
                .guarded(guard)
                .by(by, span);
            let asks = self.node(NodeKind::Delegate, by, span);
            self.edge(node, asks, edge);
            on.extend(self.hand_over(asks, &delegate.agent, true));
            if let Some(jump) = &delegate.on_failure {
                on.extend(self.failed(asks, jump, by, span));
            }
        }
        self.fan_out(node);
        for reference in listed {
            let by = Element::Reference(reference);
            let edge = Edge::of(Why::Route).decided(DecidedBy::Model).by(by, reference.span);
            let to = reference.agent.as_ref().unwrap_or(&reference.alias);
            self.routed_to(to, by, false, Open { from: node, edge });
        }
        // Whether another agent is needed is up to the agent where it is not for a condition.
        let edge = Edge::of(Why::Next).decided(DecidedBy::Outcome).by(element, name);
        on.push(Open { from: node, edge });
        on
    }

    /// The agents that a supervisor lists, and that nothing else of it leads to: the model may choose
    /// them.
    fn only_listed(&self) -> Vec<&'a AgentReference> {
        let agent = self.agent;
        let named: FxHashSet<&str> = agent.targets().map(|t| t.value.as_str()).collect();
        let lists = |r: &&AgentReference| {
            let name = r.agent.as_ref().unwrap_or(&r.alias);
            !named.contains(name.value.as_str())
        };
        agent.available_agents.iter().filter(lists).collect()
    }

    /// Several wishes at once may go to several agents at once, which all come back.
    fn fan_out(&mut self, route: NodeIndex) {
        let several = self.agent.intent_handling.as_ref().and_then(|i| i.multi_intent.as_ref());
        let strategy = several.filter(|m| m.enabled != Some(false)).and_then(|m| m.strategy);
        if !matches!(strategy, Some("parallel" | "auto")) {
            return;
        }
        let (element, name) = (Element::Agent(self.agent), self.agent.metadata.name.span);
        let node = self.node(NodeKind::FanOut, element, name);
        let edge = Edge::of(Why::Route).decided(DecidedBy::Model).by(element, name);
        self.edge(route, node, edge);
        let back = self.node(NodeKind::Return, element, name);
        self.edge(node, back, Edge::of(Why::Return).decided(DecidedBy::Outcome).by(element, name));
        let agent = self.agent;
        let rules = agent.routing.iter().flat_map(|r| &r.rules).filter_map(|r| r.to.as_ref());
        let mut seen = FxHashSet::default();
        for to in rules.chain(agent.coordination.delegates.iter().map(|d| &d.agent)) {
            if seen.insert(to.value.as_str()) {
                self.transfer(node, to, Some(back));
            }
        }
        let resume = self.places.resume;
        self.edge(back, resume, Edge::of(Why::Return).by(element, name));
    }

    fn rule(
        &mut self,
        rule: &'a RoutingRule,
        twin: Option<&'a Handoff>,
        node: NodeIndex,
        guard: Guard,
    ) {
        let (by, span) = (Element::Rule(rule), rule.span);
        let decided =
            if rule.intents.is_empty() { decided(rule.decided_by) } else { DecidedBy::User };
        let edge = Edge::of(Why::Route).decided(decided).guarded(guard).by(by, span);
        let open = Open { from: node, edge };
        match (&rule.to, &rule.action) {
            (Some(_), _) if twin.is_some() => {
                if let Some(handoff) = twin {
                    self.handoff(handoff, open);
                }
            }
            (Some(to), _) => {
                let returns = rule.returns.unwrap_or_else(|| self.returns_from(to));
                self.routed_to(to, by, returns, open);
            }
            (None, Some(RoutingTarget::RouteToUser { .. })) => {
                let ends = self.then(vec![open], NodeKind::Say, by, span);
                let turn_end = self.places.turn_end;
                self.lead(ends, turn_end, Why::Turn, by, span);
            }
            (None, Some(RoutingTarget::RouteToVariable { .. })) => {
                let unknown = self.node(NodeKind::Unknown, by, span);
                self.attach(vec![open], unknown);
            }
            (None, Some(RoutingTarget::EndConversation)) => {
                self.finish(NodeKind::Complete, vec![open], by, span);
            }
            (None, Some(RoutingTarget::SystemAction { .. }) | None) => {
                let ends = self.then(vec![open], NodeKind::Other, by, span);
                self.lead(ends, self.places.resume, Why::Return, by, span);
            }
        }
    }

    /// Whether control comes back from an agent, by the handoff that is declared to it.
    fn returns_from(&self, to: &'a Spanned<Name>) -> bool {
        let name = self.agent_name(&to.value);
        let handoffs = &self.agent.coordination.handoffs;
        handoffs.iter().any(|h| h.returns && self.agent_name(&h.to.value) == name)
    }

    fn routed_to(&mut self, to: &'a Spanned<Name>, by: Element<'a>, returns: bool, open: Open<'a>) {
        let node = self.node(NodeKind::Handoff, by, to.span);
        self.attach(vec![open], node);
        let ends = self.hand_over(node, to, returns);
        self.lead(ends, self.places.resume, Why::Return, by, to.span);
    }

    /// A declared handoff: what is checked and set before, the agent, what follows if it comes back
    /// or cannot take over.
    fn handoff(&mut self, handoff: &'a Handoff, open: Open<'a>) {
        let (by, span) = (Element::Handoff(handoff), handoff.span);
        let mut ends = vec![open];
        for set in &handoff.context.set {
            ends = self.then(ends, NodeKind::Set, Element::Set(set), set.span);
        }
        if let Some(checks) = self.places.before_handoffs {
            let node = self.node(NodeKind::Checkpoint, by, span);
            self.attach(ends, node);
            let edge = Edge::of(Why::Checkpoint).decided(DecidedBy::Outcome).by(by, span);
            self.edge(node, checks, edge);
            ends = vec![Self::after(node)];
        }
        let node = self.node(NodeKind::Handoff, by, span);
        self.attach(ends, node);
        let mut back = self.hand_over(node, &handoff.to, handoff.returns);
        if let Some(on_return) = &handoff.on_return {
            for set in &on_return.set {
                back = self.then(back, NodeKind::Set, Element::Set(set), set.span);
            }
            // What is named here may be a step, in an agent that has steps.
            let named = [&on_return.action, &on_return.handler, &on_return.resume_with]
                .into_iter()
                .flatten();
            let by = Element::OnReturn(on_return);
            let from = if handoff.returns {
                back.clone()
            } else {
                let edge = Edge::of(Why::Return).decided(DecidedBy::Outcome).by(by, span);
                vec![Open { from: node, edge }]
            };
            for name in named {
                if self.lead_to_named_step(&from, name, by) {
                    back.clear();
                }
            }
        }
        self.lead(back, self.places.resume, Why::Return, by, span);
        if let Some(jump) = &handoff.on_failure {
            let left = self.failed(node, jump, by, span);
            self.lead(left, self.places.resume, Why::Error, by, span);
        }
    }

    /// What happens if an agent cannot be reached.
    fn failed(
        &mut self,
        node: NodeIndex,
        jump: &'a agentir_ir::Jump,
        by: Element<'a>,
        span: Span,
    ) -> Ends<'a> {
        let edge = Edge::of(Why::Error).decided(DecidedBy::Outcome).by(by, span);
        self.jump(jump, vec![Open { from: node, edge }])
    }
}

/// A place at which the model chooses, and where it comes back to to choose again.
#[derive(Debug, Clone, Copy)]
struct Chooses {
    node: NodeIndex,
    again: NodeIndex,
}
