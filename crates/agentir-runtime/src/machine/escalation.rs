//! Escalation to people (ABL, current specification, 3.12).

use super::refusals::{Consequence, Guarded};
use super::{Next, NodeResult, Run, index};
use crate::host::Escalation;
use crate::session::{RuntimeError, Status};
use crate::trace::EventKind;
use agentir_expr::Expr;
use agentir_flow::cfg::{EdgeKind, Origin};
use agentir_ir::{TextData, Trigger};
use petgraph::graph::NodeIndex;
use serde_json::{Map, Value as Json};
use std::collections::BTreeMap;

impl<'p> Run<'_, 'p, '_> {
    /// Decides about an escalation. A condition that led to a person and still holds for the same values does not lead
    /// there again: the person has seen them. One about the message is decided anew for each message.
    pub(super) fn escalation_trigger(&mut self, at: NodeIndex, trigger: &'p Trigger) -> NodeResult {
        let when = trigger.when.as_ref();
        if let Some((when, expr)) = when.and_then(|when| Some((when, standing(when.expr()?)?))) {
            let values = self.values_read(expr)?;
            let seen = self.frame().escalations.get(when.text.value.as_str()) == Some(&values);
            if !self.condition(when)? {
                self.frame().escalations.remove(when.text.value.as_str());
            } else if seen && let Some(edge) = self.passing_edge(at) {
                return Ok(Next::Take(edge));
            }
        }
        self.leave(at)
    }

    fn record_escalation(&mut self, trigger: &'p Trigger) -> Result<(), RuntimeError> {
        let when = trigger.when.as_ref();
        if let Some((when, expr)) = when.and_then(|when| Some((when, standing(when.expr()?)?))) {
            let values = self.values_read(expr)?;
            self.frame().escalations.insert(when.text.value.to_string(), values);
        }
        Ok(())
    }

    /// The values that an expression reads, as a hash: they may be confidential.
    pub(super) fn values_read(&self, expr: &Expr) -> Result<String, RuntimeError> {
        let mut values = BTreeMap::new();
        expr.paths(&mut |path| {
            let name = path.root.value.as_str();
            values.insert(name.to_owned(), self.session.variable(name));
        });
        let text = serde_json::to_string(&values);
        let text = text.map_err(|error| RuntimeError::unknown(error.to_string()))?;
        Ok(blake3::hash(text.as_bytes()).to_hex().to_string())
    }

    /// A call that led to a person is not made: when they hand back, the flow is where it was.
    fn refuse_for_person(&mut self) {
        if let Guarded::Call(checkpoint) = self.guarded() {
            self.refuse_call(checkpoint, Consequence::Person);
        }
    }

    pub(super) fn escalate(&mut self, at: NodeIndex, element: &Origin<'p>) -> NodeResult {
        let agent = self.agent()?;
        if let Origin::Trigger(trigger) = element {
            self.record_escalation(trigger)?;
            self.refuse_for_person();
        }
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
        self.emit(EventKind::Escalated { reason: reason.clone() });
        if let Origin::Guardrail(rail) = element {
            let text = self.guardrail_message(rail);
            self.tell(&text);
        }
        let mut context = Map::new();
        for item in agent.coordination.escalation.iter().flat_map(|e| &e.context_for_human) {
            match item {
                // A string is the name of a variable.
                TextData::Text(name) => {
                    let name = &name.text.value;
                    let value = self.session.variable(name).unwrap_or(Json::Null);
                    context.insert(name.to_string(), self.masked(name, &value));
                }
                // The value of a named entry is a variable or a template.
                TextData::Object(fields) => {
                    for (name, value) in fields {
                        let value = self.context_value(value);
                        context.insert(name.to_string(), value);
                    }
                }
                _ => {}
            }
        }
        let name = agent.metadata.name.value.clone();
        let escalation = Escalation { agent: &name, reason, priority, context };
        self.show_messages();
        let reply = self.host.human.take_over(&escalation);
        for message in &reply.messages {
            self.tell(message);
        }
        let Some(outcome) = reply.outcome else { return Ok(Next::Stop(Status::Human)) };
        let is = |name: &str| outcome.get(name).and_then(Json::as_bool) == Some(true);
        let keeps = is("transferred") || is("escalated_further");
        self.session.set_system("human", &Json::Object(outcome));
        self.session.set_system("escalate", &serde_json::json!({ "completed": true }));
        // The message that led to the person was for the person.
        self.progress.input_unread = false;
        self.progress.handed_back = true;
        let back =
            self.outgoing_edges(at).into_iter().find(|(.., edge)| edge.kind == EdgeKind::Return);
        let Some((edge, to, _)) = back else {
            // Without a continuation, the agent waits for the next message.
            let part = self.agent_id().and_then(|id| self.machine.cfg.agent(id)).filter(|_| !keeps);
            let Some(wait) = part.map(|part| part.wait) else {
                return Ok(Next::Stop(Status::Human));
            };
            if matches!(element, Origin::ToolBinding(_)) {
                self.answer_tool_use(&Json::from("done"));
                self.frame().pending.clear();
            }
            self.frame().node = index(wait.index());
            return Ok(Next::Stop(Status::Await));
        };
        // If the person passes the conversation on, it stays with people unless the author defines
        // a continuation.
        if keeps && self.pick_edge(to, |edge, _| edge.kind == EdgeKind::Branch)?.is_none() {
            return Ok(Next::Stop(Status::Human));
        }
        Ok(Next::Take(edge))
    }

    /// A context value for a person: the value of a variable, or a rendered template.
    fn context_value(&self, value: &TextData) -> Json {
        match value {
            TextData::Text(text) => match self.session.variable(&text.text.value) {
                Some(value) => self.masked(&text.text.value, &value),
                None => Json::from(self.render(text)),
            },
            TextData::Object(fields) => fields
                .iter()
                .map(|(name, value)| (name.to_string(), self.context_value(value)))
                .collect(),
            TextData::List(all) => all.iter().map(|value| self.context_value(value)).collect(),
            TextData::Other(data) => data.clone(),
        }
    }
}

/// A condition that is about the state alone, not about the message.
fn standing(expr: &Expr) -> Option<&Expr> {
    (!super::routing::reads_message(expr)).then_some(expr)
}
