//! What agents say, and the checks before it is said (ABL, current specification, 3.8: `BEFORE returning results`;
//! 3.9: guardrails of kind `output`).
//!
//! An agent with such checks says nothing before they pass: its messages wait in [`Progress::unchecked`], and the
//! machine makes a detour through the checks wherever the turn may end or another agent may take over. What they
//! refuse is neither sent nor shown in the trace.
//!
//! [`Progress::unchecked`]: super::Progress

use super::refusals::BLOCKED;
use super::shown::shown_texts;
use super::verdicts::Verdict;
use super::{AgentMessage, Run, STAGE_ANSWERS, STAGE_HANDOFF, STAGE_SKIP};
use crate::json::to_json;
use crate::model::{Message, Role};
use crate::session::{ReturnPoint, RuntimeError};
use crate::trace::EventKind;
use agentir_expr::Template;
use agentir_flow::cfg::{EdgeKind, NodeKind, Origin};
use agentir_ir::{Checkpoint, GuardrailKind, Response, Statement};
use petgraph::graph::{EdgeIndex, NodeIndex};
use serde_json::Value as Json;

/// A message that its agent's checks have not passed yet.
#[derive(Clone, Debug)]
pub(super) struct Unchecked {
    pub(super) message: AgentMessage,
    /// Whether it is about a failed check or an error. Constraints on results do not apply to it, guardrails do.
    pub(super) notice: bool,
}

impl<'p> Run<'_, 'p, '_> {
    pub(super) fn say_element(&mut self, element: &Origin<'p>) -> Result<(), RuntimeError> {
        let template: Option<&Template> = match element {
            Origin::Statement(Statement::Respond(response)) => {
                self.respond(response);
                return Ok(());
            }
            Origin::Statement(Statement::Collect(collect)) => collect.present.as_ref(),
            Origin::Trigger(trigger) => trigger.respond.as_ref(),
            Origin::HumanOutcome(outcome) => outcome.respond.as_ref(),
            Origin::Failure(failure) => {
                if let Some(message) = &failure.message {
                    let text = self.render(message);
                    self.say_notice(&text);
                }
                return Ok(());
            }
            Origin::Handler(handler) => {
                if let Some(respond) = &handler.respond {
                    let text = self.render(respond);
                    self.say_notice(&text);
                }
                return Ok(());
            }
            Origin::Guardrail(rail) => {
                let text = self.guardrail_message(rail);
                self.tell(&text);
                return Ok(());
            }
            Origin::Completion(done) => {
                if let Some(name) = &done.respond_template {
                    let response = Response { template: Some(name.clone()), ..Response::default() };
                    self.respond(&response);
                    return Ok(());
                }
                done.respond.as_ref()
            }
            Origin::Rule(rule) => match &rule.action {
                Some(agentir_ir::RoutingTarget::RouteToUser { message }) => Some(message),
                _ => None,
            },
            Origin::Jump(jump) => {
                if let Some(said) = &jump.reason {
                    self.say(&said.value, None);
                }
                return Ok(());
            }
            Origin::Zone(_) | Origin::Agent(_) => {
                if let Some(answer) = self.frame().answer.take() {
                    self.say(&answer, None);
                }
                return Ok(());
            }
            _ => None,
        };
        if let Some(template) = template {
            let text = self.render(template);
            self.check_rendered()?;
            self.say(&text, None);
        }
        Ok(())
    }

    /// Sends a response: its text, its named template, or its message.
    pub(super) fn respond(&mut self, response: &Response) {
        let text = self.response_text(response, 0);
        if self.render_error.borrow().is_some() {
            return;
        }
        let actions = response.actions.as_ref().map(|actions| self.filled_actions(actions));
        let beside = self.words_beside(response, 0);
        self.say_with(&text, actions, beside);
    }

    /// Messages may refer to each other; the depth limit stops cycles.
    pub(super) fn response_text(&self, response: &Response, depth: u8) -> String {
        let Ok(agent) = self.agent() else { return String::new() };
        if let Some(name) = &response.template
            && let Some(template) = agent.templates.get(name.value.as_str())
        {
            let channel = self.session.system.get("channel").map(to_json);
            let variant = channel
                .as_ref()
                .and_then(Json::as_str)
                .and_then(|channel| template.rich_content.get(channel));
            return variant
                .or(template.default.as_ref())
                .map(|t| self.render(t))
                .unwrap_or_default();
        }
        if let Some(text) = &response.text {
            return self.render(text);
        }
        match response.message_key.as_ref().and_then(|k| agent.messages.get(k.value.as_str())) {
            Some(message) if depth < 8 => self.response_text(message, depth + 1),
            _ => String::new(),
        }
    }

    /// Says something on behalf of the active agent, once its checks pass.
    pub(super) fn say(&mut self, text: &str, actions: Option<Json>) {
        self.say_with(text, actions, String::new());
    }

    /// The same with words that are spoken or shown `beside` the text.
    fn say_with(&mut self, text: &str, actions: Option<Json>, beside: String) {
        let agent = self.session.agent().unwrap_or_default();
        let message = self.to_say(agent, text, actions, beside);
        if message.is_empty() {
            return;
        }
        self.frame().messages.push(Message::new(Role::Assistant, message.words()));
        self.say_checked(message);
    }

    /// Says something about a failed check or an error.
    pub(super) fn say_notice(&mut self, text: &str) {
        let before = std::mem::replace(&mut self.notice, true);
        self.say(text, None);
        self.notice = before;
    }

    /// Says something that no check of the agent concerns: the words of a guardrail, or of a person.
    pub(super) fn tell(&mut self, text: &str) {
        if text.trim().is_empty() {
            return;
        }
        self.frame().messages.push(Message::new(Role::Assistant, text));
        let agent = self.session.agent().unwrap_or_default();
        self.release(self.to_say(agent, text, None, String::new()));
    }

    /// Says something on behalf of an agent, once the checks of the active agent pass.
    pub(super) fn say_as(&mut self, agent: &str, text: &str, actions: Option<Json>) {
        self.say_checked(self.to_say(agent, text, actions, String::new()));
    }

    fn to_say(
        &self,
        agent: &str,
        text: &str,
        actions: Option<Json>,
        beside: String,
    ) -> AgentMessage {
        AgentMessage {
            agent: agent.to_owned(),
            text: text.to_owned(),
            actions,
            beside,
            step: self.speaking_step(),
            delivered: false,
        }
    }

    fn say_checked(&mut self, message: AgentMessage) {
        if self.answer_checks().is_some() {
            let notice = self.notice;
            self.progress.unchecked.push(Unchecked { message, notice });
        } else {
            self.release(message);
        }
    }

    /// The step that is executed.
    fn speaking_step(&self) -> Option<String> {
        let node = self.session.stack.last()?.node;
        let step = self.machine.cfg.node(NodeIndex::new(node as usize))?.step?;
        Some(step.name.value.to_string())
    }

    fn release(&mut self, message: AgentMessage) {
        self.emit_as(message.agent.clone(), EventKind::Say { text: message.words().to_owned() });
        self.progress.messages.push(message);
    }

    /// The checks before an answer of the active agent, if it has any.
    pub(super) fn answer_checks(&self) -> Option<NodeIndex> {
        self.agent_id().and_then(|id| self.machine.cfg.agent(id))?.before_answers
    }

    /// The edge to the checks that have to pass before a node: those before an answer, those before a handoff.
    pub(super) fn detour(&mut self, at: NodeIndex, kind: NodeKind) -> Option<EdgeIndex> {
        let stage = self.progress.stage;
        if stage == STAGE_SKIP {
            return None;
        }
        let part = self.agent_id().and_then(|id| self.machine.cfg.agent(id))?;
        let (answers, handoffs) = (part.before_answers, part.before_handoffs);
        let leaves = kind.releases_answers() || at == part.wait;
        if matches!(stage, STAGE_ANSWERS | STAGE_HANDOFF) {
            self.progress.stage = 0;
        }
        if stage == STAGE_ANSWERS {
            self.release_answers();
        } else if let Some(checks) = answers
            && leaves
            && !self.progress.unchecked.is_empty()
        {
            if let Some(edge) = self.enter_checks(at, checks, STAGE_ANSWERS) {
                return Some(edge);
            }
            self.settle_answers();
        }
        match handoffs {
            Some(checks) if stage != STAGE_HANDOFF && kind.transfers() => {
                self.enter_checks(at, checks, STAGE_HANDOFF)
            }
            _ => None,
        }
    }

    fn enter_checks(&mut self, at: NodeIndex, to: NodeIndex, stage: u32) -> Option<EdgeIndex> {
        let edges = self.outgoing_edges(at);
        let way =
            edges.into_iter().find(|(_, node, e)| e.kind == EdgeKind::Checkpoint && *node == to)?.0;
        self.frame().return_points.push(ReturnPoint { node: super::index(at.index()), stage });
        Some(way)
    }

    /// Sends what the checks have passed.
    pub(super) fn release_answers(&mut self) {
        for Unchecked { message, .. } in std::mem::take(&mut self.progress.unchecked) {
            // A filter may have left nothing.
            if !message.is_empty() {
                self.release(message);
            }
        }
    }

    /// Takes back what has not been said; the model does not see it either. Notices remain.
    pub(super) fn take_back_answers(&mut self) -> Vec<AgentMessage> {
        let (kept, back): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.progress.unchecked).into_iter().partition(|m| m.notice);
        self.progress.unchecked = kept;
        let back: Vec<AgentMessage> = back.into_iter().map(|m| m.message).collect();
        self.forget_messages(&back);
        back
    }

    /// Takes back everything that has not been said.
    pub(super) fn discard_unchecked(&mut self) {
        let all = std::mem::take(&mut self.progress.unchecked);
        let all: Vec<AgentMessage> = all.into_iter().map(|m| m.message).collect();
        self.forget_messages(&all);
    }

    /// Removes messages from those that the model sees.
    fn forget_messages(&mut self, gone: &[AgentMessage]) {
        let Some(frame) = self.session.stack.last_mut() else { return };
        for message in gone.iter().rev() {
            let said = |m: &Message| {
                m.role == Role::Assistant && m.calls.is_empty() && m.text == message.words()
            };
            if let Some(at) = frame.messages.iter().rposition(said) {
                frame.messages.remove(at);
            }
        }
    }

    /// Withheld messages are due again where their flow goes on: the user's message was the answer to why they were
    /// withheld, and not to them.
    pub(super) fn resume_withheld(&mut self, back: ReturnPoint) -> Result<(), RuntimeError> {
        let there = self
            .machine
            .cfg
            .node(NodeIndex::new(back.node as usize))
            .is_some_and(|node| node.kind.releases_answers());
        // Otherwise the checks have just passed something else.
        if !there || back.stage != 0 || self.frame().withheld.is_empty() {
            return Ok(());
        }
        if self.progress.input_unread {
            self.consume_input();
            self.extract_agent_fields()?;
        }
        for message in std::mem::take(&mut self.frame().withheld) {
            self.frame().messages.push(Message::new(Role::Assistant, message.words()));
            self.progress.unchecked.push(Unchecked { message, notice: false });
        }
        Ok(())
    }

    /// Applies the checks before an answer to what is left, where control leaves without a detour. What they refuse is
    /// not said; the other consequences of the checks need a place in the graph and do not apply.
    pub(super) fn settle_answers(&mut self) {
        if self.progress.unchecked.is_empty() || self.is_speculative() {
            return;
        }
        let response = |c: &Option<Checkpoint>| matches!(c, Some(Checkpoint::Response));
        for (constraint, profile) in self.constraints_where(|c| response(&c.checkpoint)) {
            if self.progress.unchecked.iter().all(|m| m.notice) {
                break;
            }
            let verdict = self.constraint_verdict(constraint, profile);
            if verdict == Verdict::Passes || constraint.severity == Some("warning") {
                continue;
            }
            let _ = self.take_back_answers();
            let failure = constraint.on_fail.as_ref().and_then(|f| f.message.as_ref());
            match failure.filter(|_| verdict == Verdict::Fails) {
                Some(message) => {
                    let text = self.render(message);
                    self.say_notice(&text);
                }
                None if constraint.on_fail.as_ref().is_some_and(|f| f.continues()) => {}
                None => self.say_notice(BLOCKED),
            }
        }
        for rail in self.guardrails_of(GuardrailKind::Output) {
            if self.progress.unchecked.is_empty() {
                break;
            }
            let text = match self.answer_verdict(rail) {
                Verdict::Passes => continue,
                _ if !self.must_refuse(rail) => continue,
                Verdict::Fails => self.guardrail_message(rail),
                Verdict::Broken => BLOCKED.to_owned(),
            };
            self.discard_unchecked();
            self.tell(&text);
        }
        self.release_answers();
    }

    /// What is still to be said: everything that the user reads or hears.
    pub(super) fn unchecked_text(&self) -> String {
        self.unchecked_texts().join("\n")
    }

    /// The parts of what is still to be said.
    pub(super) fn unchecked_texts(&self) -> Vec<&str> {
        let parts = self.progress.unchecked.iter().flat_map(|unchecked| {
            let actions = unchecked.message.actions.as_ref().map(shown_texts).unwrap_or_default();
            let text = [unchecked.message.text.as_str(), unchecked.message.beside.as_str()];
            text.into_iter().chain(actions)
        });
        parts.filter(|text| !text.is_empty()).collect()
    }
}
