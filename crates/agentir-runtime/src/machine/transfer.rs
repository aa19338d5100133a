//! One agent after, below and beside the other, and people (ABL, current specification, 3.10, 3.11,
//! 5.2; ADL, B.3).

use super::scope::{dotted, path_of};
use super::{MAX_STACK, Next, Run, Step, index};
use crate::host::Escalation;
use crate::json::{from_json, to_json};
use crate::model::{Message, Role};
use crate::session::{Bound, Problem, Status, Thread};
use crate::trace::What;
use agentir_diagnostics::FileId;
use agentir_eval::Value;
use agentir_expr::Dialect;
use agentir_flow::cfg::{EdgeKind, Node, NodeKind, Origin, Transfer};
use agentir_ir::{
    AgentType, BindingAction, Context, Data, Delegate, Handoff, Statement, Target, VariableBinding,
};
use agentir_syntax::abl::leaf::template;
use agentir_syntax::leaf::Leaf;
use petgraph::graph::NodeIndex;
use serde_json::{Map, Value as Json};

/// What an agent is given on its way in.
#[derive(Default)]
pub(super) struct Given {
    pub(super) variables: Vec<(String, Value)>,
    bound: Vec<Bound>,
    pub(super) messages: Vec<Message>,
}

impl<'p> Run<'_, 'p, '_> {
    pub(super) fn transfer(&mut self, at: NodeIndex, node: &Node<'p>) -> Step {
        let transfer = self.machine.transfers.get(&at).and_then(|all| all.first()).copied();
        let Some(transfer) = transfer else {
            return Err(Problem::unknown("it is not known who takes over"));
        };
        let asks = node.kind == NodeKind::Delegate;
        let part = transfer.target.and_then(|id| self.machine.cfg.agent(id));
        let Some(part) = part else {
            return self.elsewhere(at, node, &transfer);
        };
        if self.session.stack.len() >= MAX_STACK {
            return Err(Problem::new("loop", "too many agents wait for each other"));
        }
        let given = self.given(&node.origin, asks)?;
        // An offer that the model picked is done with.
        if matches!(node.origin, Origin::ToolBinding(_)) {
            self.answer_call(&Json::from("done"));
            self.thread().pending.clear();
        }
        let from = self.session.agent().unwrap_or_default().to_owned();
        let to = part.agent.metadata.name.value.to_string();
        let how = if asks { "delegate" } else { "handoff" };
        self.emit(What::Transfer { how, from, to: to.clone() });
        let entry = index(part.entry.index());
        // The next agent sees the message that led to it.
        let flow = part.agent.flow.is_some();
        if self.input.is_some() && (!flow || self.progress.fresh) {
            self.progress.fresh = true;
        }
        match transfer.returns {
            Some(back) => {
                self.thread().node = index(back.index());
                self.push(&to, entry, given, index(back.index()), asks);
            }
            None => {
                let old = self.session.stack.pop();
                let mut thread = Thread::new(&to, entry, self.session.turn);
                if let Some(old) = old {
                    thread.returns_to = old.returns_to;
                    thread.delegated = old.delegated;
                    thread.bound.clone_from(&old.bound);
                }
                self.session.stack.push(thread);
                self.give(given)?;
            }
        }
        Ok(Next::Switch)
    }

    /// Another agent begins, or goes on where it gave control back.
    fn push(&mut self, to: &str, entry: u32, given: Given, back: u32, asks: bool) {
        let parked = self
            .session
            .parked
            .iter()
            .position(|t| t.agent == to && t.returns_to.is_some() && !t.failed)
            .map(|at| self.session.parked.remove(at));
        let thread = match parked {
            Some(mut thread) => {
                thread.returns_to = Some(back);
                thread.iterations = 0;
                thread
            }
            None => {
                let mut thread = Thread::new(to, entry, self.session.turn);
                thread.returns_to = Some(back);
                thread.delegated = asks;
                thread
            }
        };
        self.session.stack.push(thread);
        // What cannot be given because it is no variable is not given.
        let _ = self.give(given);
    }

    fn give(&mut self, given: Given) -> Result<(), Problem> {
        self.thread().bound = given.bound;
        self.thread().messages.extend(given.messages);
        for (name, value) in given.variables {
            let path = path_of(&name);
            self.thread()
                .variables
                .set_path(&path, value.clone())
                .map_err(|e| Problem::unknown(e.to_string()))?;
            let value = self.shown(&name, &to_json(&value));
            self.emit(What::Set { variable: name, value });
        }
        Ok(())
    }

    /// What the next agent is given: by the declaration of the handoff, or of this one.
    pub(super) fn given(&mut self, element: &Origin<'p>, asks: bool) -> Result<Given, Problem> {
        match element {
            Origin::Handoff(handoff) => self.context(&handoff.context),
            Origin::Delegate(delegate) => self.input_of(delegate),
            Origin::Statement(Statement::Delegate(d) | Statement::Handoff(d)) => {
                let mut given = self.by_name(&d.agent.value, asks)?;
                self.bindings(&d.bindings, &mut given)?;
                Ok(given)
            }
            Origin::Jump(jump) => match jump.target.agent() {
                Some(agent) => self.by_name(&agent.value, asks),
                None => Ok(Given::default()),
            },
            Origin::Name(name) => self.by_name(&name.value, asks),
            Origin::Rule(rule) => {
                let mut given = match &rule.to {
                    Some(to) => self.by_name(&to.value, asks)?,
                    None => Given::default(),
                };
                for name in &rule.pass {
                    self.pass(&name.value, &mut given);
                }
                Ok(given)
            }
            Origin::ToolBinding(offer) => {
                let agent = match &offer.action {
                    BindingAction::Handoff { to } => to,
                    BindingAction::Delegate { agent } => agent,
                    _ => return Ok(Given::default()),
                };
                let mut given = self.by_name(&agent.value, asks)?;
                for with in &offer.with {
                    if let Some(value) = &with.value {
                        let value = self.value(value)?;
                        given.variables.push((with.name.value.to_string(), value));
                    }
                }
                // What the model sees of the conversation goes along where all share it.
                if given.messages.is_empty() {
                    given.messages = self.words();
                }
                Ok(given)
            }
            _ => Ok(Given::default()),
        }
    }

    /// The conversation, without calls.
    fn words(&mut self) -> Vec<Message> {
        let all = self.thread().messages.iter();
        all.filter(|m| m.calls.is_empty() && m.role != Role::Tool && !m.text.is_empty())
            .cloned()
            .collect()
    }

    fn by_name(&mut self, name: &str, asks: bool) -> Result<Given, Problem> {
        let agent = self.agent()?;
        let real = |declared: &'p agentir_diagnostics::Spanned<agentir_expr::Name>| {
            declared.value == name || agent.resolve_alias(declared).value == name
        };
        let delegate = agent.coordination.delegates.iter().find(|d| real(&d.agent));
        let handoff: Option<&Handoff> = agent.coordination.handoffs.iter().find(|h| real(&h.to));
        match (delegate, handoff) {
            (Some(delegate), _) if asks => self.input_of(delegate),
            (_, Some(handoff)) => self.context(&handoff.context),
            (Some(delegate), None) => self.input_of(delegate),
            _ => Ok(Given::default()),
        }
    }

    fn pass(&mut self, name: &str, given: &mut Given) {
        if let Some(value) = self.variable(name) {
            given.variables.push((name.to_owned(), value));
        }
    }

    fn context(&mut self, context: &'p Context) -> Result<Given, Problem> {
        let mut given = Given::default();
        for passed in &context.pass {
            self.pass(&passed.name.value, &mut given);
        }
        self.bindings(&context.bindings, &mut given)?;
        match &context.history {
            Some(Data::String(word)) if word == "full" || word == "auto" => {
                given.messages = self.words();
            }
            Some(Data::Object(fields)) => {
                if let Some(n) = fields.get("last_n").and_then(Data::as_u64) {
                    let all = self.words();
                    let skip = all.len().saturating_sub(usize::try_from(n).unwrap_or(usize::MAX));
                    given.messages = all.into_iter().skip(skip).collect();
                }
            }
            _ => {}
        }
        if let Some(summary) = &context.summary {
            let text = self.render(summary);
            given.messages.insert(0, Message::new(Role::System, text));
        }
        Ok(given)
    }

    fn input_of(&mut self, delegate: &'p Delegate) -> Result<Given, Problem> {
        let mut given = Given::default();
        for (name, value) in &delegate.input {
            let value = self.value(value)?;
            given.variables.push((name.value.to_string(), value));
        }
        if let Some(purpose) = &delegate.purpose {
            let text = self.render(purpose);
            given.messages.push(Message::new(Role::System, text));
        }
        Ok(given)
    }

    /// Variables of the next agent's that are given a value, or stand for one of ours.
    fn bindings(&self, all: &[VariableBinding], given: &mut Given) -> Result<(), Problem> {
        for binding in all {
            let value = self.value(&binding.value)?;
            let name = binding.variable.value.to_string();
            if binding.by_reference
                && let Some(path) = binding.value.as_path()
            {
                given.bound.push(Bound { variable: name.clone(), path: dotted(path).to_string() });
            }
            given.variables.push((name, value));
        }
        Ok(())
    }

    /// The agent runs elsewhere, if it runs at all, and does not answer.
    pub(super) fn unreachable(
        &mut self,
        at: NodeIndex,
        transfer: &Transfer<'p>,
        why: &str,
    ) -> Step {
        let message = format!("the agent `{}` does not answer: {why}", transfer.to);
        let failed = self
            .leaving(at)
            .into_iter()
            .find(|(_, to, edge)| edge.kind == EdgeKind::Error && !self.is_hub(*to));
        if let Some((edge, _, weight)) = failed {
            self.emit(What::Error { kind: "handoff_error".to_owned(), message });
            let (words, jump) = match weight.origin {
                Origin::Handoff(h) => (h.failure_message.as_ref(), h.on_failure.as_ref()),
                Origin::Delegate(d) => (d.failure_message.as_ref(), d.on_failure.as_ref()),
                _ => (None, None),
            };
            // `ON_FAILURE: RESPOND "…"` goes on, and says why.
            let told = jump.filter(|jump| jump.target == Target::Continue);
            let told = told.and_then(|jump| jump.reason.as_ref());
            let text = match (words, told) {
                (Some(words), _) => self.render(words),
                (None, told) => told.map(|text| text.value.to_string()).unwrap_or_default(),
            };
            self.say(&text, None);
            return Ok(Next::Take(edge));
        }
        Err(Problem::new("handoff_error", message))
    }

    /// The agent at work is done: the one that asked it goes on, or the conversation is over.
    pub(super) fn exit(&mut self) -> Step {
        let name = self.session.agent().unwrap_or_default().to_owned();
        self.recall(&format!("agent:{name}:after"));
        let Some(child) = self.session.stack.pop() else { return Ok(Next::Stop(Status::Done)) };
        let Some(back) = child.returns_to.filter(|_| !self.session.stack.is_empty()) else {
            let failed = child.failed;
            self.session.parked.push(child);
            self.session.stack.clear();
            return Ok(Next::Stop(if failed { Status::Failed } else { Status::Done }));
        };
        self.come_back(child, back, true);
        Ok(Next::Switch)
    }

    /// The agent at work cannot do what the user wants: the one that handed over decides again.
    pub(super) fn give_back(&mut self) -> Step {
        let Some(mut child) = self.session.stack.pop() else {
            return Ok(Next::Stop(Status::Done));
        };
        let Some(back) = child.returns_to.filter(|_| !self.session.stack.is_empty()) else {
            self.session.stack.push(child);
            return Err(Problem::unknown("there is nobody to give control back to"));
        };
        child.pending.clear();
        self.progress.fresh = self.input.is_some();
        // Where it was is kept, so that it goes on there if it is asked again.
        self.session.parked.push(child.clone());
        self.come_back(child, back, false);
        // The one above looks at the message anew.
        self.begin_anew();
        Ok(Next::Switch)
    }

    /// Variables of the caller's that stood for an agent's own get what became of them.
    pub(super) fn bring(&mut self, child: &Thread) {
        for bound in &child.bound {
            if let Some(value) = child.variables.get(&bound.variable) {
                let value = value.clone();
                // The caller's variable may be gone.
                let _ = self.assign_name(&bound.path, value);
            }
        }
    }

    pub(super) fn come_back(&mut self, child: Thread, back: u32, done: bool) {
        let to = self.session.agent().unwrap_or_default().to_owned();
        self.emit(What::Transfer { how: "return", from: child.agent.clone(), to });
        self.bring(&child);
        // What it was told by others in turn is not its own: handed on, it would double with each turn.
        let program = self.machine.program;
        let own = |name: &str| {
            name != "result" && program.agent(name).is_none() && self.tool(name).is_none()
        };
        let result: Map<String, Json> = child
            .variables
            .variables()
            .filter(|(name, value)| !value.is_unset() && own(name))
            .map(|(name, value)| (name.to_string(), to_json(value)))
            .collect();
        if let Ok(value) = from_json(&Json::Object(result.clone())) {
            // What an agent of an ADL bot held can be read by all others.
            if self.dialect() == Dialect::Adl {
                self.session.shared.set(child.agent.as_str(), value.clone());
            } else {
                self.thread().variables.set(child.agent.as_str(), value.clone());
            }
            self.thread().variables.set("result", value);
        }
        self.thread().outputs = Json::Object(result);
        let which = if child.delegated { "delegate" } else { "handoff" };
        let failed = child.failed;
        let state = serde_json::json!({ "completed": done && !failed });
        self.session.set_system(which, &state);
        let words: Vec<Message> = child
            .messages
            .iter()
            .filter(|m| m.role == Role::Assistant && m.calls.is_empty())
            .cloned()
            .collect();
        // Who only chooses among agents has nothing to add when one of them is done. What was given back
        // is still to be answered.
        let chooses = self.agent().is_ok_and(|a| a.metadata.kind == AgentType::Supervisor);
        self.progress.answered =
            done && (chooses || self.progress.said.iter().any(|s| s.agent == child.agent));
        let thread = self.thread();
        thread.node = back;
        if !child.delegated {
            thread.messages.extend(words);
        }
        thread.failed = false;
        thread.error = failed.then(|| Problem::new("agent_failed", "the agent gave up"));
        if !thread.pending.is_empty() {
            let outputs = thread.outputs.clone();
            self.answer_call(&outputs);
        }
        self.progress.fresh = self.progress.fresh && !done;
        self.session.parked.retain(|t| !(done && t.agent == child.agent));
        if done {
            // What a finished agent knew can still be asked for after the end.
            self.session.parked.retain(|t| t.returns_to.is_some());
        }
    }

    /// What the agent that is back has brought along.
    pub(super) fn returned(&mut self, node: &Node<'p>) -> Result<(), Problem> {
        let agent = self.agent()?;
        match node.origin {
            Origin::Handoff(handoff) => self.after_return(handoff),
            Origin::Delegate(delegate) => {
                if let Some(words) = &delegate.use_result {
                    let text = self.render(words);
                    self.thread().notes.push(text);
                }
                Ok(())
            }
            Origin::Statement(Statement::Handoff(d)) => {
                let declared = agent.coordination.handoffs.iter().find(|h| {
                    agent.resolve_alias(&h.to).value == agent.resolve_alias(&d.agent).value
                });
                match declared {
                    Some(handoff) => self.after_return(handoff),
                    None => Ok(()),
                }
            }
            _ => Ok(()),
        }
    }

    fn after_return(&mut self, handoff: &'p Handoff) -> Result<(), Problem> {
        let Some(on_return) = &handoff.on_return else { return Ok(()) };
        let agent = self.agent()?;
        for (name, value) in &on_return.map {
            // The child's fields are read from its result.
            if let Value::Object(object) = self.result() {
                let mark = self.locals.len();
                let fields: Vec<_> =
                    object.fields().iter().map(|(n, v)| (n.clone(), v.clone())).collect();
                self.locals.extend(fields);
                let value = self.value(value);
                self.locals.truncate(mark);
                self.assign_name(&name.value, value?)?;
            }
        }
        let handler = on_return
            .handler
            .as_ref()
            .or(on_return.action.as_ref())
            .and_then(|name| agent.coordination.return_handlers.get(name.value.as_str()));
        if let Some(handler) = handler {
            if let Some(words) = &handler.respond {
                let text = self.render(words);
                self.say(&text, None);
            }
            for name in &handler.clear {
                self.clear(&name.value);
            }
        }
        Ok(())
    }

    fn result(&mut self) -> Value {
        self.thread().variables.get("result").cloned().unwrap_or_default()
    }

    /// Several agents are asked, one after the other; each sees the same message.
    pub(super) fn fan_out(&mut self, at: NodeIndex) -> Step {
        let wanted = match self.session.variable("_disambiguation_intents") {
            Some(Json::Array(all)) => all,
            _ => Vec::new(),
        };
        let mut left: Vec<Json> = wanted;
        let next = loop {
            let Some(Json::String(name)) = left.first().cloned() else { break None };
            left.remove(0);
            let target = self.fan_out_target(at, &name);
            if target.is_some() {
                break target;
            }
        };
        self.session.set_system("_disambiguation_intents", &Json::Array(left));
        let Some(transfer) = next else {
            return match self.pick(at, |edge, _| edge.kind == EdgeKind::Return)? {
                Some(edge) => Ok(Next::Take(edge)),
                None => self.leave(at),
            };
        };
        let Some(part) = transfer.target.and_then(|id| self.machine.cfg.agent(id)) else {
            return Ok(Next::Back(crate::session::Back { node: index(at.index()), stage: 0 }));
        };
        let from = self.session.agent().unwrap_or_default().to_owned();
        let to = part.agent.metadata.name.value.to_string();
        let given = self.by_name(transfer.to, true)?;
        self.emit(What::Transfer { how: "delegate", from, to: to.clone() });
        self.progress.fresh = self.input.is_some();
        // It comes back here, for the next.
        self.push(&to, index(part.entry.index()), given, index(at.index()), true);
        Ok(Next::Switch)
    }

    /// The agent that a wish is for.
    fn fan_out_target(&self, at: NodeIndex, wish: &str) -> Option<Transfer<'p>> {
        let agent = self.agent().ok()?;
        let by_rule = agent.routing.iter().flat_map(|r| &r.rules).find(|rule| {
            rule.intents.first().is_some_and(|i| i.value == wish)
                || rule.name.as_ref().is_some_and(|n| n.value == wish)
        });
        let name = by_rule
            .and_then(|rule| rule.to.as_ref())
            .map_or(wish, |to| agent.resolve_alias(to).value.as_str());
        self.machine.transfers.get(&at)?.iter().find(|t| t.to == name).copied()
    }

    pub(super) fn escalate(&mut self, at: NodeIndex, element: &Origin<'p>) -> Step {
        let agent = self.agent()?;
        let (reason, priority) = match element {
            Origin::Trigger(trigger) => (
                trigger.reason.as_ref().map(|r| self.render(r)),
                trigger.priority.as_ref().map(ToString::to_string),
            ),
            Origin::Jump(jump) => (jump.reason.as_ref().map(|r| r.value.to_string()), None),
            Origin::Failure(failure) => {
                (failure.reason.as_ref().map(|r| r.value.to_string()), None)
            }
            _ => (None, None),
        };
        self.emit(What::Escalated { reason: reason.clone() });
        if let Origin::Guardrail(rail) = element {
            let text = self.guardrail_message(rail);
            self.say(&text, None);
        }
        let mut context = Map::new();
        for item in agent.coordination.escalation.iter().flat_map(|e| &e.context_for_human) {
            match item {
                // A name is the variable of that name.
                Data::String(name) => {
                    let value = self.session.variable(name).unwrap_or(Json::Null);
                    context.insert(name.to_string(), self.shown(name, &value));
                }
                // What has a name of its own is what it says: a variable again, or a text with holes.
                Data::Object(fields) => {
                    for (name, value) in fields {
                        let value = self.told(value);
                        context.insert(name.to_string(), value);
                    }
                }
                _ => {}
            }
        }
        let name = agent.metadata.name.value.clone();
        let escalation = Escalation { agent: &name, reason, priority, context };
        let reply = self.host.human.take_over(&escalation);
        for message in &reply.messages {
            self.say(message, None);
        }
        let Some(outcome) = reply.outcome else { return Ok(Next::Stop(Status::Human)) };
        let is = |name: &str| outcome.get(name).and_then(Json::as_bool) == Some(true);
        let keeps = is("transferred") || is("escalated_further");
        self.session.set_system("human", &Json::Object(outcome));
        self.session.set_system("escalate", &serde_json::json!({ "completed": true }));
        let back = self.leaving(at).into_iter().find(|(.., edge)| edge.kind == EdgeKind::Return);
        let Some((edge, to, _)) = back else {
            // Nothing is said about it: the agent goes on with the next message.
            let part = self.id().and_then(|id| self.machine.cfg.agent(id)).filter(|_| !keeps);
            let Some(wait) = part.map(|part| part.wait) else {
                return Ok(Next::Stop(Status::Human));
            };
            if matches!(element, Origin::ToolBinding(_)) {
                self.answer_call(&Json::from("done"));
                self.thread().pending.clear();
            }
            self.thread().node = index(wait.index());
            return Ok(Next::Stop(Status::Await));
        };
        // Who passes it on to other people keeps it, unless the author says what follows.
        if keeps && self.pick(to, |edge, _| edge.kind == EdgeKind::Branch)?.is_none() {
            return Ok(Next::Stop(Status::Human));
        }
        Ok(Next::Take(edge))
    }

    /// What a person is told: the value of a variable, or a text with its holes filled.
    fn told(&self, value: &Data) -> Json {
        match value {
            Data::String(text) => match self.session.variable(text) {
                Some(value) => self.shown(text, &value),
                None => {
                    // What is wrong with the text was reported where the agent was read.
                    let leaf = Leaf::verbatim(text, FileId(0), 0);
                    Json::from(self.render(&template(leaf, &mut Vec::new())))
                }
            },
            Data::Object(fields) => {
                fields.iter().map(|(name, value)| (name.to_string(), self.told(value))).collect()
            }
            Data::Array(all) => all.iter().map(|value| self.told(value)).collect(),
            other => serde_json::to_value(other).unwrap_or(Json::Null),
        }
    }

    /// The agent is done; what ends the whole conversation ends those that wait, too.
    pub(super) fn complete(&mut self, at: NodeIndex, element: &Origin<'p>) -> Step {
        let all = match element {
            Origin::ToolBinding(_) => true,
            Origin::Completion(done) => done.terminal == Some(true),
            Origin::Rule(_) => true,
            _ => false,
        };
        if matches!(element, Origin::ToolBinding(_)) {
            self.answer_call(&Json::from("done"));
        }
        if all && let Some(last) = self.session.stack.pop() {
            self.session.stack.clear();
            self.session.stack.push(Thread { returns_to: None, ..last });
        }
        self.leave(at)
    }
}
