//! How an agent goes on when another one is done: after a delegate, with the message that it delegated
//! with and the result (ABL, current specification, 3.10); as a supervisor, with the next message
//! (reference of supervisors); at the first agent, where a program says so (Agentforce).

use super::scope::path_of;
use super::{Input, Next, Run, index};
use crate::session::{Frame, HeldMessage, RuntimeError, Status};
use crate::trace::EventKind;
use agentir_diagnostics::Spanned;
use agentir_eval::{Value, member};
use agentir_expr::{Name, Segment};
use agentir_flow::cfg::{Node, Origin};
use agentir_ir::{Agent, AgentType, Delegate, Handoff, Node as IrNode};
use rustc_hash::FxHashSet;
use serde_json::Value as Json;

/// The variables that an agent declares, collects or writes: the first names of their paths.
pub(super) fn variable_names(agent: &Agent) -> FxHashSet<&str> {
    let memory = &agent.memory;
    let session = memory.session.iter().map(|variable| &variable.name.value);
    let declared = session.chain(memory.state.iter().map(|variable| &variable.name.value));
    let mut names: FxHashSet<&str> = declared.map(|name| name.as_str()).collect();
    agent.walk(&mut |node| match node {
        IrNode::Set(set) => {
            names.insert(set.target.root.value.as_str());
        }
        IrNode::Field(field) => {
            names.insert(field.name.value.as_str());
        }
        IrNode::Writes(name, _) => {
            names.insert(name.value.as_str());
        }
        IrNode::Clear(all) => names.extend(all.iter().map(|name| name.value.as_str())),
        _ => {}
    });
    names.into_iter().map(|name| name.split('.').next().unwrap_or(name)).collect()
}

impl<'p> Run<'_, 'p, '_> {
    /// Keeps the message that an agent delegates with, for when it continues.
    pub(super) fn hold_message(&mut self) {
        let unread = self.progress.input_unread;
        let held = self.input.as_ref().map(|input| HeldMessage {
            text: input.text.clone(),
            action: input.action.clone(),
            attachments: input.attachments.clone(),
            unread,
        });
        self.frame().held = held;
    }

    /// Continues with the message that the agent delegated with (ABL, current specification, 3.10:
    /// "current agent continues with result"), which is an earlier one if the user talked to the other
    /// agent.
    pub(super) fn resume_held_message(&mut self) {
        let Some(held) = self.frame().held.take() else {
            self.progress.input_unread = false;
            return;
        };
        self.progress.input_unread = held.unread;
        if !held.unread || self.input.as_ref().is_some_and(|input| input.text == held.text) {
            return;
        }
        self.session.set_system("input", &Json::from(held.text.as_str()));
        let HeldMessage { text, action, attachments, .. } = held;
        self.input = Some(Input { text, action, attachments });
        // The agent has seen it; the answers to the other agent's questions are not for this one.
        let turn = self.session.turn;
        let frame = self.frame();
        if frame.last_seen_turn.is_some() {
            frame.last_seen_turn = Some(turn);
        }
    }

    /// Whether the agent in charge is a supervisor that routes the next message when the agent that
    /// gets this one is done (reference of supervisors: "the Supervisor decides which agent should handle
    /// each user message"). A declared handoff without a return is for good.
    pub(super) fn routes_next_message(&self, node: &Node<'p>, to: &str) -> bool {
        let Ok(agent) = self.agent() else { return false };
        let routed =
            matches!(node.origin, Origin::Rule(_) | Origin::Name(_) | Origin::Reference(_));
        let declared = |h: &Handoff| agent.resolve_alias(&h.to).value == to;
        let given = matches!(node.origin, Origin::Rule(rule) if rule.returns == Some(false));
        agent.metadata.kind == AgentType::Supervisor
            && routed
            && !given
            && !agent.coordination.handoffs.iter().any(declared)
    }

    /// Goes on with the supervisor that routed the conversation to an agent: with the next thing that
    /// the user wants, or with the next message.
    pub(super) fn resume_supervisor(&mut self, supervisor: Frame) -> Next {
        self.session.stack.push(supervisor);
        self.session.set_system("handoff", &serde_json::json!({ "completed": true }));
        if self.next_in_queue() {
            return Next::Switch;
        }
        let part = self.agent_id().and_then(|id| self.machine.cfg.agent(id));
        if let Some(wait) = part.map(|part| part.wait) {
            self.frame().node = index(wait.index());
        }
        self.progress.input_unread = false;
        Next::Stop(Status::Await)
    }

    /// Takes over what a delegate returned: the variables of `RETURNS`, or else the result as a whole,
    /// under the agent's name.
    pub(super) fn after_delegate(&mut self, delegate: &'p Delegate) -> Result<(), RuntimeError> {
        let result = self.result();
        let semantics = self.dialect().semantics();
        for returned in delegate.returned() {
            let mut value = result.clone();
            let path = path_of(&returned.field.value);
            let root = path.root.value.clone();
            let first = std::iter::once(Segment::Field(path.root));
            for segment in first.chain(path.segments) {
                value = member(&value, &segment, semantics).unwrap_or_default();
            }
            if value != Value::Undefined {
                self.assign_returned(returned.variable, value)?;
                self.receive(returned.variable);
            } else if self.has_variable(&delegate.agent, &root)? {
                // It has no value there, and no older one stands for it here.
                if self.variable(returned.variable).is_some() {
                    self.clear(returned.variable);
                }
            }
        }
        if delegate.returned().next().is_none() {
            let name = self.agent()?.resolve_alias(&delegate.agent).value.clone();
            self.receive(&name);
        }
        if let Some(words) = &delegate.use_result {
            let text = self.render(words);
            self.frame().notes.push(text);
        }
        self.condition_results.clear();
        Ok(())
    }

    /// Whether an agent has a variable, with or without a value. What runs elsewhere has what is expected of it.
    fn has_variable(&self, agent: &Spanned<Name>, name: &str) -> Result<bool, RuntimeError> {
        let agent = self.agent()?.resolve_alias(agent).value.as_str();
        Ok(self.machine.variables.get(agent).is_none_or(|names| names.contains(name)))
    }

    /// Clears what a delegate would have returned: no value of an earlier time stands for the one that is not there.
    pub(super) fn forget_returned(&mut self, delegate: &'p Delegate) {
        for returned in delegate.returned() {
            if self.variable(returned.variable).is_some() {
                self.clear(returned.variable);
            }
        }
        self.condition_results.clear();
    }

    /// Begins at the first agent again, if the program says that every message does (Agentforce,
    /// `reset_to_initial_node`).
    pub(super) fn restart_at_entry(&mut self) {
        let Some(entry) = self.machine.program.entry() else { return };
        let setting = entry.metadata.dialect.traits().restart_setting;
        let Some((first, rest)) = setting.split_first() else { return };
        let own = entry.extensions.0.get(entry.metadata.dialect.id());
        let value = own.and_then(|own| own.get(*first)).map(|found| &found.value);
        let value = rest.iter().try_fold(value, |value, key| Some(value?.get(*key)));
        let restarts = value.flatten().and_then(Json::as_bool) == Some(true);
        let name = entry.metadata.name.value.as_str();
        let elsewhere = self.session.agent().is_some_and(|agent| agent != name);
        if !restarts || !elsewhere || self.input.is_none() {
            return;
        }
        let from = self.session.agent().unwrap_or_default().to_owned();
        let to = name.to_owned();
        self.emit(EventKind::Transfer { how: "return", from, to });
        let messages = self.session.stack.last().map(|frame| frame.messages.clone());
        self.session.stack.clear();
        let mut frame = Frame::new(name, 0, self.session.turn);
        frame.messages = messages.unwrap_or_default();
        self.session.stack.push(frame);
        self.restart_turn();
    }
}
