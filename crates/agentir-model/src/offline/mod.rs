//! The embedded default: rules of thumb in the place of a language model. The same question always
//! has the same answer, no network is needed, and no value is invented.
//!
//! It is made to try agents and to test them, not to talk well. It understands English.

mod choose;
mod dates;
mod dialogue;
mod extract;
mod judge;
mod numbers;
mod strings;
mod words;

pub use dates::DateOrder;

use crate::tokens::Tokens;
use agentir_runtime::{Answer, Model, ModelError, ModelRequest, ModelResponse, ModelTask};
use jiff::Zoned;
use jiff::tz::TimeZone;
use phonenumber::country;
use std::fmt;
use std::sync::Arc;

/// How much of a sentence is told, in characters.
const MAX_SENTENCE_CHARS: usize = 200;

/// Answers by rules of thumb. Cheap to copy; copies answer alike.
#[derive(Clone)]
pub struct Offline {
    clock: Arc<dyn Fn() -> Zoned + Send + Sync>,
    order: DateOrder,
    region: country::Id,
    tokens: Tokens,
    calls: u64,
}

impl fmt::Debug for Offline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Offline")
            .field("now", &self.now())
            .field("order", &self.order)
            .field("region", &self.region)
            .finish_non_exhaustive()
    }
}

impl Offline {
    /// A model for which it is always the same time. "Tomorrow" is the day after `now`, in its time
    /// zone.
    #[must_use]
    pub fn at(now: Zoned) -> Self {
        Self::with_clock(move || now.clone())
    }

    /// A model that asks a clock what "tomorrow" means.
    #[must_use]
    pub fn with_clock(clock: impl Fn() -> Zoned + Send + Sync + 'static) -> Self {
        Self {
            clock: Arc::new(clock),
            order: DateOrder::default(),
            region: country::US,
            tokens: Tokens::default(),
            calls: 0,
        }
    }

    /// How `3/4/2026` and "next Friday" are meant.
    #[must_use]
    pub fn date_order(self, order: DateOrder) -> Self {
        Self { order, ..self }
    }

    /// The country of telephone numbers that name none, as its two letters (ISO 3166), `US` if it is
    /// left out. None if there is no such country.
    #[must_use]
    pub fn region(self, letters: &str) -> Option<Self> {
        let region = letters.to_ascii_uppercase().parse().ok()?;
        Some(Self { region, ..self })
    }

    fn now(&self) -> Zoned {
        (self.clock)()
    }
}

impl Default for Offline {
    /// The first moment of 2026 in UTC, for ever: who wants the time passes it in.
    fn default() -> Self {
        let start = jiff::civil::date(2026, 1, 1).to_zoned(TimeZone::UTC);
        Self::at(start.unwrap_or_default())
    }
}

impl Model for Offline {
    fn respond(
        &mut self,
        request: &ModelRequest,
        partial: &mut dyn FnMut(&str),
    ) -> Result<ModelResponse, ModelError> {
        let answer = match &request.task {
            ModelTask::Converse { system, messages, tools, missing, known } => {
                let turn = dialogue::ConverseInput { system, messages, tools, missing, known };
                self.calls += 1;
                turn.answer(self)
            }
            ModelTask::Extract { message, fields, asked, .. } => {
                Answer::Values(extract::extract(self, message, fields, asked.as_deref()))
            }
            ModelTask::Choose { message, candidates, several, .. } => {
                Answer::Choice(choose::choose(message, candidates, *several))
            }
            ModelTask::Judge { statement, text, .. } => {
                Answer::Verdict(judge::judge(statement, text))
            }
        };
        if let Answer::Message { text, .. } = &answer
            && !text.is_empty()
        {
            partial(text);
        }
        let usage = self.tokens.usage(&request.task, &answer);
        Ok(ModelResponse { answer, usage })
    }
}

/// The first sentence of a text, without its line ends; cut if it is long.
fn sentence(text: &str) -> String {
    let text = words::truncated(text);
    let end = text.find(['.', '!', '?', '\n']).map_or(text.len(), |at| at + 1);
    let first = text.get(..end).unwrap_or(text).trim();
    if first.chars().count() > MAX_SENTENCE_CHARS {
        return first.chars().take(MAX_SENTENCE_CHARS).chain(std::iter::once('…')).collect();
    }
    first.to_owned()
}
