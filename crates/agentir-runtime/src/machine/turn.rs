//! The beginning and the end of a turn.

use super::{MASK, Run, Turn, tool_calls};
use crate::model::{Message, Role};
use crate::session::{AgentMessage, Attachment, Offer, Place, Status};
use crate::trace::EventKind;
use agentir_ir::NumberOrText;
use petgraph::graph::NodeIndex;
use serde_json::Value as Json;

/// How many buttons a session remembers.
const MAX_OFFERED: usize = 256;

/// What the user reads after pressing a button of an earlier question.
const STALE_PRESS: &str = "That button belongs to an earlier question.";

/// What a client sends for a value.
fn plain_text(value: &Json) -> Option<String> {
    match value {
        Json::Null => None,
        Json::String(text) => Some(text.clone()),
        other => Some(other.to_string()),
    }
}

/// The texts by which a client may name an option of a menu.
fn option_texts(option: &Json) -> Vec<String> {
    match option {
        Json::Object(parts) => ["id", "value", "label"]
            .iter()
            .filter_map(|name| plain_text(parts.get(*name)?))
            .collect(),
        other => plain_text(other).into_iter().collect(),
    }
}

impl Run<'_, '_, '_> {
    pub(super) fn begin_turn(&mut self) {
        let Some(input) = self.input.clone() else { return };
        self.session.turn += 1;
        self.begin_counting();
        self.progress.waited_at = self.waits_at();
        let last = self.session.stack.last_mut();
        let confidential = last.is_some_and(|frame| std::mem::take(&mut frame.confidential));
        self.confidential = confidential;
        let shown = if confidential { MASK } else { input.text.as_str() };
        self.emit(EventKind::Input { text: shown.to_owned() });
        self.session.transcript.push(Message::new(Role::User, input.text.as_str()));
        self.session.set_system("input", &Json::from(input.text.as_str()));
        self.session.set_system("recent_input", &Json::from(input.text.as_str()));
        if !input.attachments.is_empty() {
            let all: Vec<Json> = input.attachments.iter().map(Attachment::to_json).collect();
            self.session.set_system("attachments", &Json::from(all));
        }
        if let Some(frame) = self.session.stack.last_mut() {
            frame.iterations = 0;
            frame.choices = 0;
        }
    }

    /// The error message if the user was idle for longer than the agent allows (ABL, current
    /// specification, 7.11).
    pub(super) fn session_timeout(&self, idle: i64) -> Option<String> {
        let limit = match &self.agent().ok()?.execution.timeouts.session_timeout_ms {
            NumberOrText::Number(n) => n.0,
            NumberOrText::Text(text) => tool_calls::parse_duration_ms(text)?,
        };
        (self.traits().sessions_expire && idle as f64 > limit).then(|| {
            let (idle, limit) = (idle / 1_000, limit / 1_000.0);
            format!(
                "the user was idle for {idle} seconds; the session expires after {limit} (`session_timeout_ms`)"
            )
        })
    }

    /// Ends a session that has timed out.
    pub(super) fn end_timed_out(&mut self, message: String) -> Turn {
        let kind = "session_timeout".to_owned();
        self.emit(EventKind::Error { kind, message: message.clone() });
        self.progress.error = Some(message);
        self.end_turn(Status::Failed)
    }

    /// Hands the messages that have passed their checks to the observer, unless what happens now may
    /// be undone.
    pub(super) fn show_messages(&mut self) {
        if !self.may_roll_back() {
            self.deliver_all();
        }
    }

    pub(super) fn deliver_all(&mut self) {
        for message in self.progress.messages.iter_mut().filter(|message| !message.delivered) {
            message.delivered = true;
            self.host.observer.message(message);
        }
    }

    /// Whether the turn was given up, also if it has failed because of that.
    pub(super) fn was_cancelled(&self) -> bool {
        let failed = self.progress.failed.is_some() || self.progress.error.is_some();
        self.cancelled || (failed && self.host.observer.is_cancelled())
    }

    /// Notes which buttons are offered, what they submit, and where each is an answer: where the conversation waits if it
    /// came with the question, which is the last message with buttons; else in the step that showed it.
    fn note_offers(&mut self, messages: &[AgentMessage]) {
        let Some(waits) = self.waits_at() else { return };
        let shown = messages.iter().filter_map(|message| {
            let elements = message.actions.as_ref()?.get("elements")?.as_array()?;
            let place = Place { agent: message.agent.clone(), step: message.step.clone() };
            (!elements.is_empty()).then_some((place, elements))
        });
        let shown: Vec<_> = shown.collect();
        let Some((asks, _)) = shown.last().cloned() else { return };
        for (place, elements) in shown {
            let place = if place == asks { &waits } else { &place };
            for element in elements {
                let Some(id) = element.get("id").and_then(Json::as_str) else { continue };
                let value = element.get("value").and_then(plain_text);
                let options = element.get("options").and_then(Json::as_array);
                let options = options.into_iter().flatten().flat_map(option_texts).collect();
                let offer = Offer { place: place.clone(), value, options };
                self.session.offered.insert(id.to_owned(), offer);
            }
        }
        // Ids may be made of values.
        while self.session.offered.len() > MAX_OFFERED {
            self.session.offered.pop_first();
        }
    }

    fn waits_at(&self) -> Option<Place> {
        let frame = self.session.stack.last()?;
        let node = frame.return_points.last().map_or(frame.node, |back| back.node);
        let node = self.machine.cfg.node(NodeIndex::new(node as usize))?;
        let step = node.step.map(|step| step.name.value.to_string());
        Some(Place { agent: frame.agent.clone(), step })
    }

    /// Whether the user pressed what does not belong to the question that is asked: a button of an earlier one, one that was
    /// never shown, an option that a menu does not have. It is for its handler alone.
    pub(super) fn is_stale_press(&self) -> bool {
        let pressed = self.input.as_ref().and_then(|input| input.action.as_ref());
        pressed.is_some_and(|(id, _)| {
            let offered = self.session.offered.get(id);
            let place = self.progress.waited_at.as_ref();
            self.is_unknown_option() || offered.is_none_or(|offered| place != Some(&offered.place))
        })
    }

    /// Whether the user chose an option that its menu does not have, which is no choice.
    pub(super) fn is_unknown_option(&self) -> bool {
        let pressed = self.input.as_ref().and_then(|input| input.action.as_ref());
        let chosen =
            pressed.and_then(|(id, value)| self.session.offered.get(id).zip(value.as_ref()));
        chosen.is_some_and(|(offered, value)| {
            !offered.options.is_empty() && !offered.options.contains(value)
        })
    }

    /// Tells the user that a button is no answer to what is asked now.
    pub(super) fn refuse_press(&mut self) {
        self.progress.input_unread = false;
        self.say_notice(STALE_PRESS);
    }

    pub(super) fn end_turn(&mut self, status: Status) -> Turn {
        self.deliver_all();
        self.session.status = status;
        let messages = std::mem::take(&mut self.progress.messages);
        self.note_offers(&messages);
        for message in &messages {
            self.session.transcript.push(Message::new(Role::Assistant, message.words()));
        }
        self.emit(EventKind::TurnEnd { status: status.name() });
        Turn { messages, status, error: self.progress.error.take() }
    }
}
