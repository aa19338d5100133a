//! Routing of messages: interruptions, routing rules, declared handoffs (ABL, current
//! specification, 3.14.4, 5.1; supervisor reference, "Evaluation order across constructs").

use super::refusals::Guarded;
use super::scope::path_of;
use super::{Input, Next, NodeResult, Run, STAGE_ASKS, index};
use crate::json::to_json;
use crate::model::{Candidate, ModelTask};
use crate::session::{QueuedIntent, ReturnPoint, RuntimeError};
use crate::trace::EventKind;
use agentir_eval::{Outcome, Value};
use agentir_expr::{Condition, Expr, ExprKind, Template, Visit};
use agentir_flow::cfg::{Edge, EdgeKind, NodeKind, Origin, Test, Transfer};
use agentir_ir::{
    Agent, AgentReference, AgentType, Delegate, Digression, Handoff, NumberOrText, RoutingRule,
    RoutingTarget,
};
use petgraph::graph::{EdgeIndex, NodeIndex};
use serde_json::{Map, Value as Json};

/// The variable that says whether the user is authenticated, as in the examples of the specification (3.10).
const AUTHENTICATED: &str = "user.is_authenticated";

impl<'p> Run<'_, 'p, '_> {
    /// The edge to the interruption that the input triggers at a node: a digression or a button.
    pub(super) fn interruption_edge(
        &mut self,
        at: NodeIndex,
    ) -> Result<Option<EdgeIndex>, RuntimeError> {
        // The questions of a check before a call are asked where the call is refused.
        let place = match self.guarded() {
            Guarded::Call(checkpoint) if self.is_question_of_check(at) => checkpoint,
            _ => at,
        };
        let hub = self.outgoing_edges(place).into_iter().find(|(_, to, edge)| {
            edge.kind == EdgeKind::Digression
                && self.machine.cfg.node(*to).is_some_and(|n| n.kind == NodeKind::Interrupt)
        });
        let Some((way, hub, _)) = hub else { return Ok(None) };
        let Some(chosen) = self.find_interruption(at, hub)? else { return Ok(None) };
        // At the beginning of a turn, it is known where the conversation was.
        let kind = self.machine.cfg.node(at).map(|node| node.kind);
        if kind != Some(NodeKind::TurnStart) {
            let waits = matches!(kind, Some(NodeKind::Await | NodeKind::Collect));
            let stage = if waits { STAGE_ASKS } else { 0 };
            self.frame().return_points.push(ReturnPoint { node: index(at.index()), stage });
        }
        self.progress.chosen_edge = Some(chosen);
        self.consume_input();
        Ok(Some(way))
    }

    fn find_interruption(
        &mut self,
        at: NodeIndex,
        hub: NodeIndex,
    ) -> Result<Option<EdgeIndex>, RuntimeError> {
        let Some(input) = self.input.clone() else { return Ok(None) };
        let mut intents: Vec<(EdgeIndex, &'p Digression)> = Vec::new();
        for (id, to, edge) in self.outgoing_edges(hub) {
            if !self.can_take(id, to, &edge) {
                continue;
            }
            match edge.origin {
                Origin::Action(handler) => {
                    let pressed = input
                        .action
                        .as_ref()
                        .is_some_and(|(action, _)| handler.action_id.value == action.as_str());
                    if pressed && !self.is_unknown_option() && self.guard_holds(edge.guard)? {
                        let value = input.action.as_ref().and_then(|(_, v)| v.clone());
                        self.session.set_system("action_value", &Json::from(value));
                        return Ok(Some(id));
                    }
                }
                Origin::Digression(digression)
                    if input.action.is_none() && self.guard_holds(edge.guard)? =>
                {
                    let text = input.text.to_lowercase();
                    let keyword = digression.keywords.iter().any(|k| {
                        let word = self.render(k).to_lowercase();
                        !word.is_empty() && text.contains(&word)
                    });
                    let conditional = digression.intent.is_none()
                        && digression.keywords.is_empty()
                        && digression.condition.is_some();
                    if keyword || conditional {
                        return Ok(Some(id));
                    }
                    if digression.intent.is_some() {
                        intents.push((id, digression));
                    }
                }
                _ => {}
            }
        }
        if intents.is_empty() || self.input_matches_branch(at) {
            return Ok(None);
        }
        let agent = self.agent()?;
        let candidates = intents
            .iter()
            .filter_map(|(_, d)| {
                let intent = d.intent.as_ref()?.value.as_str();
                let mut candidate = self.intent_candidate(agent, intent);
                candidate.keywords.extend(d.keywords.iter().map(|k| self.render(k)));
                Some(candidate)
            })
            .collect();
        let purpose = "Does the user want one of these instead of answering?";
        let chosen = self.choose_among(purpose, candidates, false)?;
        let found = chosen.first().and_then(|name| {
            intents
                .iter()
                .find(|(_, d)| d.intent.as_ref().is_some_and(|i| i.value == name.as_str()))
        });
        if let Some((_, digression)) = found {
            self.set_intent(digression.intent.as_ref().map_or("", |i| i.value.as_str()));
        }
        Ok(found.map(|(id, _)| *id))
    }

    /// Whether a branch of `ON_INPUT` matches the text of the input. Then the model is not asked
    /// about digressions (current specification, 8.10: a message that a predicate matches leads to
    /// the same place in every replay).
    fn input_matches_branch(&self, at: NodeIndex) -> bool {
        // At the start of a turn, the waiting node is the one to return to.
        let back = self.session.stack.last().and_then(|frame| frame.return_points.last());
        let waits = |at: NodeIndex| {
            self.machine.cfg.node(at).is_some_and(|node| node.kind == NodeKind::Await)
        };
        let place = Some(at)
            .filter(|at| waits(*at))
            .or_else(|| back.map(|back| NodeIndex::new(back.node as usize)).filter(|b| waits(*b)));
        let Some(place) = place else { return false };
        let successors = self.outgoing_edges(place).into_iter().filter(|(_, to, edge)| {
            super::leads_onward(edge.kind)
                && self.machine.cfg.node(*to).is_some_and(|n| n.kind == NodeKind::Branch)
        });
        let places =
            std::iter::once(place).chain(successors.map(|(_, to, _)| to)).collect::<Vec<_>>();
        let mut edges = places.into_iter().flat_map(|place| self.outgoing_edges(place));
        edges.any(|(.., edge)| {
            let literals = self.machine.cfg.guard(edge.guard);
            let mut by_words = false;
            let holds = literals.iter().all(|literal| {
                let Test::Condition(condition) = &literal.test else { return false };
                let Some(expr) = condition.expr() else { return false };
                by_words |= literal.holds && reads_input(expr);
                let outcome = agentir_eval::outcome(expr, &self.scope(), self.dialect());
                outcome == if literal.holds { Outcome::True } else { Outcome::False }
            });
            holds && by_words
        })
    }

    /// The candidate for an intent, from its declaration if there is one.
    pub(super) fn intent_candidate(&self, agent: &Agent, name: &str) -> Candidate {
        let nlu = agent.nlu.iter().flat_map(|n| &n.intents);
        let listed = agent
            .intent_handling
            .iter()
            .filter_map(|h| h.intents.as_ref())
            .flat_map(|i| &i.intents);
        let declared = nlu.chain(listed).find(|i| i.name.value == name);
        let texts = |all: &[Template]| all.iter().map(|t| self.render(t)).collect::<Vec<_>>();
        Candidate {
            name: name.to_owned(),
            description: declared
                .and_then(|i| i.description.as_ref())
                .map(|d| self.render(d))
                .unwrap_or_default(),
            examples: declared.map(|i| texts(&i.examples)).unwrap_or_default(),
            keywords: declared.map(|i| texts(&i.patterns)).unwrap_or_default(),
        }
    }

    fn set_intent(&mut self, intent: &str) {
        self.set_user_attribute("intent", &Json::from(intent));
    }

    /// Tries routing rules in order. Rules over the state decide at once; natural-language rules
    /// are put to the model together, once no earlier rule over the state holds.
    pub(super) fn route(&mut self, at: NodeIndex) -> NodeResult {
        // What a constraint of the turn has asked for is heard before the message goes anywhere.
        if self.awaits_answer_for_rule()
            && let Some(edge) = self.pick_edge(at, |edge, _| edge.kind == EdgeKind::Return)?
        {
            return Ok(Next::Take(edge));
        }
        let edges = self.outgoing_edges(at);
        let mut asked: Vec<(EdgeIndex, Candidate)> = Vec::new();
        let mut default = None;
        for (id, to, edge) in &edges {
            if edge.kind != EdgeKind::Route || !self.can_take(*id, *to, edge) {
                continue;
            }
            match self.consider(*id, edge)? {
                RouteDecision::Skip => {}
                RouteDecision::Unreachable(message) => {
                    self.emit(EventKind::Error { kind: "handoff_error".to_owned(), message });
                }
                RouteDecision::Take => {
                    if asked.is_empty() {
                        return Ok(Next::Take(*id));
                    }
                    // A rule over the state ranks after the natural-language rules before it.
                    default = default.or(Some(*id));
                    break;
                }
                RouteDecision::Default => default = default.or(Some(*id)),
                // The model hands over only through exposed tools.
                RouteDecision::AskModel(_) if self.traits().model_acts_by_tools => {}
                RouteDecision::AskModel(candidate) => asked.push((*id, candidate)),
            }
        }
        if self.progress.input_unread
            && !asked.is_empty()
            && let Some(next) = self.choose_by_method(at, &asked)?
        {
            return Ok(next);
        }
        if self.progress.input_unread && !asked.is_empty() {
            let candidates = asked.iter().map(|(_, c)| c.clone()).collect();
            // Any other agent looks after the user itself.
            let agent = self.agent()?;
            let routes = agent.metadata.kind == AgentType::Supervisor && agent.flow.is_none();
            let purpose = if routes { ModelTask::ROUTING } else { ModelTask::HANDING_OVER };
            let fans_out = self.fan_out_edge(&edges).is_some();
            let queue = self.intent_queue()?;
            let chosen = match self.progress.due_intent.take() {
                Some(due) => vec![due],
                None => self.choose_among(purpose, candidates, fans_out || queue.is_some())?,
            };
            if let Some(limit) = queue.filter(|_| !fans_out) {
                self.queue_intents(chosen.iter().take(limit).skip(1));
            }
            if chosen.len() > 1
                && let Some(fan_out) = self.fan_out_edge(&edges)
            {
                self.frame().pending.clear();
                let names = chosen.iter().map(|n| Json::from(n.as_str())).collect();
                self.session.set_system("_disambiguation_intents", &Json::Array(names));
                return Ok(Next::Take(fan_out));
            }
            let found = chosen.first().and_then(|n| asked.iter().find(|(_, c)| c.name == *n));
            if let Some((id, candidate)) = found {
                let name = candidate.name.clone();
                self.set_intent(&name);
                self.routed_to(*id);
                return Ok(Next::Take(*id));
            }
        }
        if let Some(default) = default.filter(|_| self.progress.input_unread) {
            return Ok(Next::Take(default));
        }
        if self.progress.input_unread && !asked.is_empty() {
            self.follow_fallback()?;
        }
        match self.pick_edge(at, |edge, _| edge.kind != EdgeKind::Route)? {
            Some(edge) => Ok(Next::Take(edge)),
            None => self.leave(at),
        }
    }

    /// Takes the edge to the agent that a variable names, by its own name or its alias (supervisor reference,
    /// "Routing actions").
    pub(super) fn route_by_variable(&mut self, at: NodeIndex, rule: &'p RoutingRule) -> NodeResult {
        let Some(RoutingTarget::RouteToVariable { variable }) = &rule.action else {
            return self.leave(at);
        };
        let agent = self.agent()?;
        let value = self.value(&Expr::path(path_of(&variable.value), variable.span))?;
        let name = match &value {
            Value::Text(name) => Some(&**name),
            _ => None,
        };
        if let Some(why) = name.and_then(|name| self.unavailable(name)) {
            return Err(RuntimeError::new("handoff_error", why));
        }
        let edges = self.outgoing_edges(at);
        let to = |is: &dyn Fn(&Transfer<'_>) -> bool| {
            let leads = |(_, to, _): &&(EdgeIndex, NodeIndex, Edge<'p>)| {
                self.machine.transfers.get(to).is_some_and(|all| all.iter().any(is))
            };
            edges.iter().find(leads)
        };
        // The name as it is written comes first: an agent may have several.
        let found = name.and_then(|name| {
            to(&|transfer| transfer.named == name).or_else(|| to(&|transfer| transfer.to == name))
        });
        match found {
            Some((edge, ..)) => Ok(Next::Take(*edge)),
            None => Err(RuntimeError::new(
                "handoff_error",
                format!(
                    "`{}` is {value}, which is none of the agents of `{}`",
                    variable.value, agent.metadata.name.value
                ),
            )),
        }
    }

    /// Follows the policy for a message that none of the agents fits: a message is said as it is; an
    /// instruction is for the model, which answers next (ADL 3.3, B.1).
    fn follow_fallback(&mut self) -> Result<(), RuntimeError> {
        let agent = self.agent()?;
        let Some(fallback) = self.traits().fallback else { return Ok(()) };
        let policies = agent.policies.iter().filter(|p| p.name.value == fallback.policy);
        let Some(rule) = policies.flat_map(|policy| &policy.rules).next() else { return Ok(()) };
        let Some(behavior) = &rule.behavior else { return Ok(()) };
        let text = self.render(behavior);
        let says = rule.name.as_ref().is_some_and(|name| name.value == fallback.message);
        if says || !fallback.instructs(&text) {
            self.frame().answer = Some(text);
        } else {
            self.frame().notes.push(format!("None of your agents fits the message. {text}"));
        }
        Ok(())
    }

    /// The maximum number of intents of a message, if they are handled one after the other
    /// (`MULTI_INTENT`, current specification, 3.5.3).
    fn intent_queue(&self) -> Result<Option<usize>, RuntimeError> {
        let agent = self.agent()?;
        let several = agent.intent_handling.as_ref().and_then(|i| i.multi_intent.as_ref());
        let Some(several) = several.filter(|m| m.enabled != Some(false)) else { return Ok(None) };
        if !matches!(several.strategy, None | Some("primary_queue" | "sequential")) {
            return Ok(None);
        }
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped")]
        let most = match &several.max_intents {
            Some(NumberOrText::Number(n)) => n.0.clamp(1.0, 10.0) as usize,
            _ => 3,
        };
        Ok(Some(most))
    }

    /// Keeps what else the user wants for later.
    fn queue_intents<'n>(&mut self, names: impl Iterator<Item = &'n String>) {
        let Some(input) = &self.input else { return };
        let message = input.text.clone();
        let at = self.host.clock.now();
        let names =
            names.map(|name| QueuedIntent { name: name.clone(), message: message.clone(), at });
        let names: Vec<_> = names.collect();
        self.frame().queue.extend(names);
    }

    /// Begins a turn about the next thing that the user wants, if something is left of an earlier
    /// message that is not too old (`queue_max_age_ms`).
    pub(super) fn next_in_queue(&mut self) -> bool {
        let now = self.host.clock.now();
        let several =
            self.agent().ok().and_then(|a| a.intent_handling.as_ref()?.multi_intent.as_ref());
        let age = match several.and_then(|m| m.queue_max_age_ms.as_ref()) {
            Some(NumberOrText::Number(n)) => n.0,
            _ => 600_000.0,
        };
        self.frame().queue.retain(|queued| now.saturating_sub(queued.at) as f64 <= age);
        if self.frame().queue.is_empty() {
            return false;
        }
        let next = self.frame().queue.remove(0);
        self.session.set_system("input", &Json::from(next.message.as_str()));
        self.input = Some(Input::text(next.message));
        self.progress.input_unread = true;
        self.progress.answered = false;
        self.progress.due_intent = Some(next.name);
        self.restart_turn();
        true
    }

    fn fan_out_edge(&self, edges: &[(EdgeIndex, NodeIndex, Edge<'p>)]) -> Option<EdgeIndex> {
        let fan_out = edges.iter().find(|(_, to, _)| {
            self.machine.cfg.node(*to).is_some_and(|n| n.kind == NodeKind::FanOut)
        });
        fan_out.map(|(id, ..)| *id)
    }

    /// Why an agent does not get control now: the list of a supervisor says that the user has to be authenticated, or which
    /// channels it is for (supervisor reference, "Agent reference properties"). That holds for whoever leads there, if the
    /// agent in charge does not list it itself. `target` is the name as it is written, which may be one of several for an
    /// agent.
    pub(super) fn unavailable(&self, target: &str) -> Option<String> {
        let agent = self.agent().ok()?;
        let mut own = agent.references_to(target).peekable();
        if own.peek().is_some() {
            return own.find_map(|reference| self.unavailability(reference, target));
        }
        let all = self.machine.program.agents().flat_map(|agent| &agent.available_agents);
        let mut others =
            all.filter(|reference| reference.agent.as_ref().is_some_and(|a| a.value == target));
        others.find_map(|reference| self.unavailability(reference, target))
    }

    /// Why what a supervisor's list says about an agent does not let it have control.
    fn unavailability(&self, reference: &AgentReference, target: &str) -> Option<String> {
        let channel = self.session.variable("channel");
        let channel = channel.as_ref().and_then(Json::as_str).unwrap_or_default();
        let channels = &reference.channels;
        if !channels.is_empty() && !channels.iter().any(|one| one.value == channel) {
            return Some(format!("`{target}` is not for the channel `{channel}`"));
        }
        // Nothing but `true` is: a text that somebody stored, "no" among them, says nothing.
        let authenticated = || self.variable(AUTHENTICATED) == Some(Value::Bool(true));
        (reference.requires_authentication() && !authenticated()).then(|| {
            format!("`{target}` is only for authenticated users, and `{AUTHENTICATED}` is not true")
        })
    }

    /// Evaluates a routing edge: taken, skipped, or put to the model.
    fn consider(&mut self, id: EdgeIndex, edge: &Edge<'p>) -> Result<RouteDecision, RuntimeError> {
        let target = match edge.origin {
            Origin::Rule(rule) => rule.to.as_ref(),
            Origin::Handoff(handoff) => Some(&handoff.to),
            Origin::Delegate(delegate) => Some(&delegate.agent),
            Origin::Reference(reference) => Some(&reference.alias),
            Origin::Name(name) => Some(name),
            _ => None,
        };
        if let Some(why) = target.and_then(|target| self.unavailable(&target.value)) {
            return Ok(match edge.origin {
                Origin::Rule(rule) if matches!(self.consider_rule(rule)?, RouteDecision::Take) => {
                    RouteDecision::Unreachable(why)
                }
                _ => RouteDecision::Skip,
            });
        }
        match edge.origin {
            Origin::Rule(rule) => self.consider_rule(rule),
            Origin::Handoff(handoff) => {
                let to = self.agent_description(&handoff.to.value);
                let name = handoff.to.value.to_string();
                let decision = self.consider_declared(handoff.when.as_ref(), name, to)?;
                if matches!(decision, RouteDecision::AskModel(_)) && !self.may_hand_over() {
                    return Ok(RouteDecision::Skip);
                }
                self.hands_over_again(id, handoff, decision)
            }
            Origin::Delegate(delegate) => {
                let purpose = delegate.purpose.as_ref().map(|p| self.render(p));
                let about =
                    purpose.unwrap_or_else(|| self.agent_description(&delegate.agent.value));
                let decision = self.consider_declared(
                    delegate.when.as_ref(),
                    delegate.agent.value.to_string(),
                    about,
                )?;
                self.delegates_again(id, delegate, decision)
            }
            Origin::Reference(reference) => {
                let name = reference.agent.as_ref().unwrap_or(&reference.alias);
                let mut about = self.agent_description(&name.value);
                for capability in &reference.capabilities {
                    about.push(' ');
                    about.push_str(&self.render(capability));
                }
                let alias = &reference.alias.value;
                Ok(RouteDecision::AskModel(self.agent_candidate(alias, &name.value, about)))
            }
            // The default route.
            Origin::Name(_) => Ok(RouteDecision::Default),
            _ => Ok(RouteDecision::Skip),
        }
    }

    /// Whether to delegate although the condition of the delegation held before: if the input has other values, or if the
    /// condition is about the message.
    fn delegates_again(
        &mut self,
        id: EdgeIndex,
        delegate: &'p Delegate,
        decision: RouteDecision,
    ) -> Result<RouteDecision, RuntimeError> {
        let condition = delegate.when.as_ref().and_then(|when| when.expr());
        let about_message = condition.is_none_or(reads_message)
            || delegate.input.iter().any(|(_, value)| reads_message(value));
        if about_message || !matches!(decision, RouteDecision::Take) {
            return Ok(self.unless_repeated(id, decision, None));
        }
        let mut input = Map::new();
        for (name, value) in &delegate.input {
            input.insert(name.value.to_string(), to_json(&self.value(value)?));
        }
        Ok(self.unless_repeated(id, decision, Some(Json::Object(input).to_string())))
    }

    /// Whether to hand over although the condition of the handoff held before. When the other agent has returned, it has
    /// seen the values, as one that was delegated to; a supervisor routes each message.
    fn hands_over_again(
        &mut self,
        id: EdgeIndex,
        handoff: &'p Handoff,
        decision: RouteDecision,
    ) -> Result<RouteDecision, RuntimeError> {
        let returns = handoff.returns && self.agent()?.metadata.kind != AgentType::Supervisor;
        let condition = handoff.when.as_ref().and_then(|when| when.expr());
        let values = match condition.filter(|expr| returns && !reads_message(expr)) {
            Some(condition) => {
                let passed = handoff.context.pass.iter().map(|passed| passed.name.value.as_str());
                let passed: Vec<_> = passed.map(|name| self.session.variable(name)).collect();
                Some(format!("{} {}", self.values_read(condition)?, serde_json::json!(passed)))
            }
            None => None,
        };
        Ok(self.unless_repeated(id, decision, values))
    }

    /// A decision that was made before for the same values, and held ever since, is not made again: the same would happen
    /// with every message. `None` if it is about the message.
    fn unless_repeated(
        &mut self,
        id: EdgeIndex,
        decision: RouteDecision,
        values: Option<String>,
    ) -> RouteDecision {
        let key = super::index(id.index());
        let delegations = &mut self.frame().delegations;
        match (&decision, values) {
            (RouteDecision::Take, Some(values)) => {
                let before = delegations.insert(key, values.clone());
                match before.is_some_and(|before| before == values) {
                    true => RouteDecision::Skip,
                    false => decision,
                }
            }
            (RouteDecision::Skip, _) => {
                delegations.remove(&key);
                decision
            }
            _ => decision,
        }
    }

    /// Whether the message has an intent that does not trigger a rule (`ignoreIntents`).
    fn is_ignored_by(&self, rule: &RoutingRule) -> bool {
        if rule.ignore_intents.is_empty() {
            return false;
        }
        let known = match self.variable("user.intent") {
            Some(Value::Text(intent)) => Some(intent),
            _ => None,
        };
        let due = self.progress.due_intent.as_deref();
        let intent = due.or(known.as_deref());
        intent.is_some_and(|intent| rule.ignore_intents.iter().any(|i| i.value == intent))
    }

    fn consider_rule(&mut self, rule: &'p RoutingRule) -> Result<RouteDecision, RuntimeError> {
        let agent = self.agent()?;
        let channel = self.session.variable("channel");
        let channel = channel.as_ref().and_then(Json::as_str).unwrap_or_default().to_owned();
        if !rule.channels.is_empty() && !rule.channels.iter().any(|c| c.value == channel.as_str()) {
            return Ok(RouteDecision::Skip);
        }
        if rule.requires_state.iter().any(|name| self.variable(&name.value).is_none()) {
            return Ok(RouteDecision::Skip);
        }
        if self.is_ignored_by(rule) {
            return Ok(RouteDecision::Skip);
        }
        let natural = match &rule.when {
            Some(when) if when.expr().is_some() => {
                if !self.condition(when)? {
                    return Ok(RouteDecision::Skip);
                }
                None
            }
            when => when.as_ref(),
        };
        let target = rule.to.as_ref().map(|to| to.value.to_string());
        let own = rule.name.as_ref().map(|n| n.value.to_string());
        if rule.intents.is_empty() && natural.is_none() {
            if rule.when.is_some() {
                return Ok(RouteDecision::Take);
            }
            // A rule without conditions is described by its agent.
            let Some(name) = target.clone().or(own) else { return Ok(RouteDecision::Take) };
            let about = match &rule.description {
                Some(description) => self.render(description),
                None => self.agent_description(&name),
            };
            return Ok(RouteDecision::AskModel(self.agent_candidate(&name, &name, about)));
        }
        let about = target.as_ref().map(|t| self.agent_description(t)).unwrap_or_default();
        let mut candidate = Candidate {
            name: rule
                .intents
                .first()
                .map(|i| i.value.to_string())
                .or(own)
                .or(target)
                .unwrap_or_else(|| "rule".to_owned()),
            description: natural.map(|w| w.text.value.to_string()).unwrap_or_default(),
            examples: Vec::new(),
            keywords: Vec::new(),
        };
        add_description(&mut candidate.description, &about);
        for intent in &rule.intents {
            let known = self.intent_candidate(agent, &intent.value);
            candidate.keywords.push(intent.value.replace('_', " "));
            add_description(&mut candidate.description, &known.description);
            candidate.examples.extend(known.examples);
            candidate.keywords.extend(known.keywords);
        }
        Ok(RouteDecision::AskModel(candidate))
    }

    fn consider_declared(
        &mut self,
        when: Option<&'p Condition>,
        name: String,
        about: String,
    ) -> Result<RouteDecision, RuntimeError> {
        match when {
            Some(when) if when.expr().is_some() => {
                Ok(if self.condition(when)? { RouteDecision::Take } else { RouteDecision::Skip })
            }
            Some(when) => {
                let mut description = when.text.value.to_string();
                add_description(&mut description, &about);
                Ok(RouteDecision::AskModel(self.agent_candidate(&name, &name, description)))
            }
            None => Ok(RouteDecision::AskModel(self.agent_candidate(&name, &name, about))),
        }
    }

    /// The agents that messages to the active agent are routed to, as far as the model decides about that.
    pub(super) fn routed_agents(&mut self) -> Result<Vec<Candidate>, RuntimeError> {
        let machine = self.machine;
        let part = self.agent_id().and_then(|id| machine.cfg.agent(id));
        let Some(part) = part.filter(|_| !self.traits().model_acts_by_tools) else {
            return Ok(Vec::new());
        };
        let mut agents: Vec<Candidate> = Vec::new();
        // Nothing is decided here.
        let delegations = self.frame().delegations.clone();
        for at in part.nodes() {
            if machine.cfg.node(at).is_none_or(|node| node.kind != NodeKind::Route) {
                continue;
            }
            for (id, to, edge) in self.outgoing_edges(at) {
                if edge.kind != EdgeKind::Route || !self.can_take(id, to, &edge) {
                    continue;
                }
                if let RouteDecision::AskModel(candidate) = self.consider(id, &edge)?
                    && agents.iter().all(|agent| agent.name != candidate.name)
                {
                    agents.push(candidate);
                }
            }
        }
        self.frame().delegations = delegations;
        Ok(agents)
    }

    /// An agent of the program, by the name that the active agent has for it.
    fn agent_called(&self, name: &str) -> Option<&'p Agent> {
        let this = self.agent().ok()?;
        let spanned = agentir_diagnostics::Spanned {
            value: agentir_expr::Name::new(name),
            span: agentir_diagnostics::Span::default(),
        };
        self.machine.agent(&this.resolve_alias(&spanned).value)
    }

    /// An agent that the model may choose, under an alias: what users ask it are the questions that it has answers to.
    fn agent_candidate(&self, alias: &str, name: &str, description: String) -> Candidate {
        let examples = self.known_questions(name);
        Candidate { name: alias.to_owned(), description, examples, keywords: Vec::new() }
    }

    /// The questions that an agent has answers to.
    fn known_questions(&self, name: &str) -> Vec<String> {
        let knowledge = self.agent_called(name).and_then(|agent| agent.knowledge.as_ref());
        let questions = knowledge.into_iter().flat_map(|k| &k.questions);
        questions.filter_map(|q| q.question.as_ref()).map(|q| self.render(q)).collect()
    }

    /// The description of an agent, by its author.
    fn agent_description(&self, name: &str) -> String {
        let Some(agent) = self.agent_called(name) else { return String::new() };
        let mut text = String::new();
        for part in agent.metadata.description.iter().chain(&agent.identity.goal) {
            add_description(&mut text, &self.render(part));
        }
        text
    }
}

/// Whether an expression reads the user's message, or what was found out about it.
pub(super) fn reads_message(expr: &Expr) -> bool {
    let mut reads = false;
    expr.visit(&mut |e| {
        if let ExprKind::Path(path) = &e.kind {
            reads |= matches!(
                path.root.value.as_str(),
                "input" | "recent_input" | "input_transcript" | "user" | "match"
            );
        }
        Visit::Children
    });
    reads
}

/// Adds what a description does not say yet.
fn add_description(description: &mut String, more: &str) {
    let more = more.trim();
    if description.is_empty() {
        description.push_str(more);
    } else if !more.is_empty() && !description.contains(more) {
        description.push_str(&format!(" ({more})"));
    }
}

/// Whether an expression reads the user's message.
fn reads_input(expr: &Expr) -> bool {
    let mut reads = false;
    expr.visit(&mut |e| {
        reads |= matches!(&e.kind, ExprKind::Path(path) if path.root.value == "input");
        Visit::Children
    });
    reads
}

/// The decision about a routing edge.
enum RouteDecision {
    /// Not applicable.
    Skip,
    /// It applies, and its agent cannot be reached: why. Its author has to know that it is passed over.
    Unreachable(String),
    /// Its condition holds.
    Take,
    /// Taken if no other edge is.
    Default,
    /// Put to the model.
    AskModel(Candidate),
}
