//! The part of the conversation that a model is sent. Its size is limited: if it grows beyond that, the older half is
//! replaced by a summary. So a request does not grow with the length of the conversation, and each message is summarised
//! once.

use super::Run;
use crate::model::{Answer, Message, ModelTask, Role};
use crate::session::RuntimeError;
use agentir_ir::NumberOrText;

/// The size from which a conversation is summarised, in tokens, unless the agent defines it.
const MAX_TOKENS: usize = 8_000;

/// The smallest threshold that an agent can define.
const MIN_TOKENS: usize = 500;

/// The number of bytes of a token, by which the size is estimated.
const TOKEN_BYTES: usize = 4;

/// The messages before the current one that questions about it are sent with.
const RECENT_MESSAGES: usize = 8;

/// The size of a summary that is made without a model, in bytes, and of a message in it.
const MAX_SUMMARY_BYTES: usize = 4_000;
const MAX_QUOTE_BYTES: usize = 200;

impl Run<'_, '_, '_> {
    /// The conversation as it is sent to a model that leads it: a summary of the older part, and the newer messages.
    pub(super) fn history(&mut self) -> Result<Vec<Message>, RuntimeError> {
        self.shorten_history()?;
        let frame = self.frame();
        let mut messages = Vec::with_capacity(frame.messages.len() + 1);
        if !frame.summary.is_empty() {
            messages.push(Message::new(Role::System, earlier(&frame.summary)));
        }
        messages.extend(frame.messages.iter().cloned());
        Ok(messages)
    }

    /// The messages before the user's current one, for questions about it: the latest of those that were said.
    pub(super) fn recent_messages(&mut self, current: &str) -> Vec<Message> {
        let messages = &self.frame().messages;
        let end = messages
            .iter()
            .rposition(|m| m.role == Role::User)
            .filter(|at| messages.get(*at).is_some_and(|m| m.text == current))
            .unwrap_or(messages.len());
        let said = messages.get(..end).unwrap_or_default().iter().rev();
        let said = said.filter(|m| {
            matches!(m.role, Role::User | Role::Assistant) && !m.text.trim().is_empty()
        });
        let mut recent: Vec<Message> =
            said.take(RECENT_MESSAGES).map(|m| Message::new(m.role, m.text.as_str())).collect();
        recent.reverse();
        recent
    }

    /// Replaces the older part of a conversation that has become too long by a summary.
    fn shorten_history(&mut self) -> Result<(), RuntimeError> {
        let limit = match &self.agent()?.execution.compaction_threshold {
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "positive")]
            Some(NumberOrText::Number(n)) if n.0 > 1.0 => (n.0 as usize).max(MIN_TOKENS),
            _ => MAX_TOKENS,
        };
        let sizes: Vec<usize> = self.frame().messages.iter().map(size).collect();
        if sizes.iter().sum::<usize>() <= limit {
            return Ok(());
        }
        // Half of it stays, from a message of the user on: a call and its result stay together.
        let mut left = limit / 2;
        let newest = sizes.iter().rev().take_while(|size| {
            let fits = **size <= left;
            left = left.saturating_sub(**size);
            fits
        });
        let from = sizes.len() - newest.count();
        let messages = &self.frame().messages;
        let is_user = |at: &usize| messages.get(*at).is_some_and(|m| m.role == Role::User);
        let last = (0..messages.len()).rev().find(is_user);
        let Some(split) = (from..messages.len()).find(is_user).or(last).filter(|at| *at > 0) else {
            return Ok(());
        };
        let frame = self.frame();
        let newer = frame.messages.split_off(split);
        let older = std::mem::replace(&mut frame.messages, newer);
        let before = std::mem::take(&mut frame.summary);
        let summary = self.summarize(before, older);
        self.frame().summary = summary;
        Ok(())
    }

    /// A summary by the model, or else the beginnings of the messages.
    fn summarize(&mut self, before: String, messages: Vec<Message>) -> String {
        if self.host.model.summarizes() {
            let task = ModelTask::Summarize { before: before.clone(), messages: messages.clone() };
            if let Ok(Answer::Summary(summary)) = self.ask_model(task)
                && !summary.trim().is_empty()
            {
                return summary;
            }
        }
        shortened(&before, &messages)
    }
}

/// What precedes the messages that are sent.
pub(super) fn earlier(summary: &str) -> String {
    format!("Earlier in this conversation:\n{summary}")
}

/// The estimated size of a message, in tokens.
fn size(message: &Message) -> usize {
    let calls = message.calls.iter().map(|call| {
        call.name.len()
            + call.arguments.iter().map(|(name, v)| name.len() + json_len(v)).sum::<usize>()
    });
    (message.text.len() + calls.sum::<usize>()) / TOKEN_BYTES + 4
}

fn json_len(value: &serde_json::Value) -> usize {
    value.as_str().map_or_else(|| value.to_string().len(), str::len)
}

/// The beginnings of what was said, after those that were there before. The oldest are left out.
fn shortened(before: &str, messages: &[Message]) -> String {
    let mut lines: Vec<String> = before.lines().map(str::to_owned).collect();
    for message in messages {
        let who = match message.role {
            Role::User => "user",
            Role::Assistant => "agent",
            Role::System | Role::Tool => continue,
        };
        let text = message.text.split_whitespace().collect::<Vec<_>>().join(" ");
        if text.is_empty() {
            continue;
        }
        let end = text.floor_char_boundary(MAX_QUOTE_BYTES);
        let cut = if end < text.len() { "…" } else { "" };
        lines.push(format!("{who}: {}{cut}", text.get(..end).unwrap_or_default()));
    }
    let mut left = MAX_SUMMARY_BYTES;
    let kept = lines.iter().rev().take_while(|line| {
        let fits = line.len() < left;
        left = left.saturating_sub(line.len() + 1);
        fits
    });
    let from = lines.len() - kept.count();
    lines.split_off(from).join("\n")
}
