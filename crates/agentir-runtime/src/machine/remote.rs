//! Remote agents (ABL, current specification, 3.10, "Remote Agent"; multi-agent reference, "Remote
//! agent support"; Agent Script, `connected_subagent`).
//!
//! A remote agent is called like a tool, under its own name, with one user message at a time: by
//! [`Tools::call`](crate::Tools::call), with `{message, context, history, conversation}`. It
//! answers `{says, result, done, conversation}`; see [`RemoteReply`].

use super::{MASK, Next, NodeResult, Run, index};
use crate::host::{ToolCall, ToolFailure};
use crate::json::{from_json, to_json};
use crate::model::{Message, Role};
use crate::session::{Frame, RemoteConversation, Status};
use crate::trace::EventKind;
use agentir_flow::cfg::{Node, NodeKind, Origin, Transfer};
use agentir_ir::Remote;
use petgraph::graph::NodeIndex;
use serde_json::{Map, Value as Json};

/// The answer of a remote agent to a message.
struct RemoteReply {
    /// The messages to the user.
    says: Vec<String>,
    /// The variables that the remote agent returns.
    result: Map<String, Json>,
    /// Whether the remote agent is done; otherwise it receives the next message.
    done: bool,
    /// The state that the remote agent wants back with the next message.
    conversation: Json,
}

impl RemoteReply {
    /// A string is a message and nothing else; an object without any field of a reply is a result.
    fn read(answer: Json) -> Self {
        let mut this =
            Self { says: Vec::new(), result: Map::new(), done: true, conversation: Json::Null };
        match answer {
            Json::String(text) => this.says.push(text),
            Json::Object(mut fields) => {
                let known = ["says", "result", "done", "conversation"];
                if !fields.keys().any(|name| known.contains(&name.as_str())) {
                    this.result = fields;
                    return this;
                }
                match fields.remove("says") {
                    Some(Json::String(text)) => this.says.push(text),
                    Some(Json::Array(all)) => {
                        this.says.extend(all.iter().filter_map(Json::as_str).map(str::to_owned));
                    }
                    _ => {}
                }
                if let Some(Json::Object(result)) = fields.remove("result") {
                    this.result = result;
                }
                this.done = fields.get("done").and_then(Json::as_bool) != Some(false);
                this.conversation = fields.remove("conversation").unwrap_or_default();
            }
            _ => {}
        }
        this
    }
}

impl<'p> Run<'_, 'p, '_> {
    /// Calls an agent that is not part of the program.
    pub(super) fn call_remote_agent(
        &mut self,
        at: NodeIndex,
        node: &Node<'p>,
        transfer: &Transfer<'p>,
    ) -> NodeResult {
        let asks = node.kind == NodeKind::Delegate;
        let here = index(at.index());
        let message = self.input.as_ref().map(|input| input.text.clone()).unwrap_or_default();
        let mut arguments = Map::new();
        arguments.insert("message".to_owned(), Json::from(message));
        match self.frame().remote.take().filter(|away| away.node == here) {
            Some(away) => {
                arguments.insert("conversation".to_owned(), away.conversation);
            }
            None => {
                let given = self.handoff_input(&node.origin, transfer.to, asks)?;
                // The tool call that led here is completed.
                if matches!(node.origin, Origin::ToolBinding(_)) {
                    self.answer_tool_use(&Json::from("done"));
                    self.frame().pending.clear();
                }
                let how = if asks { "delegate" } else { "handoff" };
                let from = self.session.agent().unwrap_or_default().to_owned();
                self.emit(EventKind::Transfer { how, from, to: transfer.to.to_owned() });
                if asks {
                    self.hold_message();
                }
                let context: Map<String, Json> =
                    given.variables.iter().map(|(name, v)| (name.clone(), to_json(v))).collect();
                arguments.insert("context".to_owned(), Json::Object(context));
                let history = given
                    .messages
                    .iter()
                    .map(|m| serde_json::json!({ "role": m.role, "text": m.text.as_str() }));
                arguments.insert("history".to_owned(), history.collect());
            }
        }
        self.add_user_message();
        self.progress.input_unread = false;
        if let Err(failure) = self.authorize(transfer.to, &mut arguments) {
            self.report_refused_transfer(&failure);
            return self.stop_turn();
        }
        let shown = self.masked_arguments(&arguments);
        self.emit(EventKind::Call { tool: transfer.to.to_owned(), arguments: shown });
        let nothing = Remote::default();
        let remote = self.remote(transfer).unwrap_or(&nothing);
        let agent = self.session.agent().unwrap_or_default().to_owned();
        let timeout_ms = self.remote_timeout(transfer, remote);
        let idempotency_key = self.idempotency_key(transfer.to, &arguments);
        let call = ToolCall {
            agent: &agent,
            name: transfer.to,
            tool: None,
            remote: Some(remote),
            arguments,
            timeout_ms,
            idempotency_key,
            session: Map::new(),
        };
        let answer = self.perform(&call).and_then(|answer| self.checked_reply(answer));
        let (result, error) = match &answer {
            Ok(answer) => (Some(self.masked_answer(answer)), None),
            Err(failure) => (None, Some(failure.explanation().to_owned())),
        };
        self.emit(EventKind::Result { tool: transfer.to.to_owned(), result, error });
        let reply = match answer {
            Ok(answer) => RemoteReply::read(answer),
            Err(failure) => return self.unreachable(at, transfer, &failure.message),
        };
        for text in &reply.says {
            self.say_as(transfer.to, text, None);
        }
        if !reply.done {
            let conversation = reply.conversation;
            self.frame().remote = Some(RemoteConversation { node: here, conversation });
            return Ok(Next::Stop(Status::Await));
        }
        self.return_from_remote(node, transfer, reply)
    }

    /// Applies the guardrails of results to what a remote agent says and returns, not to what it keeps of the
    /// conversation.
    fn checked_reply(&mut self, mut answer: Json) -> Result<Json, ToolFailure> {
        let kept = answer.get_mut("conversation").map(Json::take);
        let mut answer = self.apply_output_guardrails(answer)?;
        if let (Some(kept), Json::Object(fields)) = (kept, &mut answer) {
            fields.insert("conversation".to_owned(), kept);
        }
        Ok(answer)
    }

    /// Continues after a remote agent as after a local one.
    fn return_from_remote(
        &mut self,
        node: &Node<'p>,
        transfer: &Transfer<'p>,
        reply: RemoteReply,
    ) -> NodeResult {
        let Some(back) = transfer.returns else {
            if self.routes_next_message(node, transfer.to)
                && let Some(supervisor) = self.session.stack.pop()
            {
                let (from, to) = (transfer.to.to_owned(), supervisor.agent.clone());
                self.emit_as(from.clone(), EventKind::Transfer { how: "return", from, to });
                return Ok(self.resume_supervisor(supervisor));
            }
            return self.exit_agent();
        };
        let asks = node.kind == NodeKind::Delegate;
        let mut child = Frame::new(transfer.to, index(back.index()), self.session.turn);
        child.delegated = asks;
        for (name, value) in &reply.result {
            // Values that exceed the depth limit are dropped.
            if let Ok(value) = from_json(value) {
                child.variables.set(name.as_str(), value);
            }
        }
        let says = reply.says.iter().map(|text| Message::new(Role::Assistant, text.as_str()));
        child.messages = says.collect();
        self.resume_caller(child, index(back.index()), true);
        Ok(Next::Switch)
    }

    /// Whether a node transfers control to an agent that is not part of the program.
    pub(super) fn leads_to_remote(&self, at: NodeIndex) -> bool {
        let goes = |kind| matches!(kind, NodeKind::Delegate | NodeKind::Handoff);
        let transfer = self.machine.transfers.get(&at).and_then(|all| all.first());
        transfer.is_some_and(|transfer| transfer.target.is_none())
            && self.machine.cfg.node(at).is_some_and(|node| goes(node.kind))
    }

    /// The delegations to an agent and the handoffs to it, with how it is reached and how long it may take.
    fn declarations(
        &self,
        transfer: &Transfer<'p>,
    ) -> impl Iterator<Item = (Option<&'p Remote>, Option<&'p str>)> {
        let to = transfer.to;
        let agent = self.agent().ok();
        let meant = move |name: &agentir_diagnostics::Spanned<agentir_expr::Name>| {
            name.value == to || agent.is_some_and(|a| a.resolve_alias(name).value == to)
        };
        let coordination = || agent.into_iter().map(|agent| &agent.coordination);
        let delegates = coordination().flat_map(|c| &c.delegates).filter(move |d| meant(&d.agent));
        let delegates = delegates
            .map(|d| (d.remote.as_ref(), d.timeout.as_ref().map(|limit| limit.value.as_str())));
        let handoffs = coordination().flat_map(|c| &c.handoffs).filter(move |h| meant(&h.to));
        let handoffs = handoffs
            .map(|h| (h.remote.as_ref(), h.timeout.as_ref().and_then(agentir_ir::Data::as_str)));
        delegates.chain(handoffs)
    }

    /// The declaration of how to reach a remote agent.
    fn remote(&self, transfer: &Transfer<'p>) -> Option<&'p Remote> {
        self.declarations(transfer).find_map(|(remote, _)| remote)
    }

    /// The time limit of a remote agent: its own, or that of the delegation or the handoff, or else
    /// that of tools.
    fn remote_timeout(&self, transfer: &Transfer<'p>, remote: &Remote) -> u64 {
        let own = remote.timeout.as_ref().map(|limit| limit.value.as_str());
        let own = own.or_else(|| self.declarations(transfer).find_map(|(_, limit)| limit));
        match own.and_then(super::tool_calls::parse_duration_ms) {
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped")]
            Some(ms) => ms.clamp(1.0, 3_600_000.0) as u64,
            None => self.timeout(None),
        }
    }

    /// Masks the arguments for a trace; the history is replaced by its length.
    fn masked_arguments(&self, arguments: &Map<String, Json>) -> Map<String, Json> {
        let hidden = |name: &str, value: &Json| match (name, value) {
            ("message", _) if self.confidential => Json::from(MASK),
            ("context", value) => self.masked_fields(value),
            ("history", Json::Array(all)) => Json::from(all.len()),
            (_, value) => value.clone(),
        };
        arguments.iter().map(|(name, value)| (name.clone(), hidden(name, value))).collect()
    }

    /// Masks the answer for a trace.
    fn masked_answer(&self, answer: &Json) -> Json {
        match answer {
            Json::Object(fields) => {
                let mut shown = fields.clone();
                if let Some(result) = shown.get_mut("result") {
                    *result = self.masked_fields(result);
                }
                self.masked_fields(&Json::Object(shown))
            }
            other => other.clone(),
        }
    }
}
