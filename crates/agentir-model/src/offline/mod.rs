//! The offline model: heuristics instead of a language model. It is deterministic, needs no network
//! and never invents values.
//!
//! It is meant for trying out and testing agents and understands English only.
//!
//! Libraries find typed values (`interim` dates, `text2num` spelled-out numbers, `phonenumber`
//! telephone numbers). Each value goes to the field that the surrounding words name, else to the
//! field that was asked for. Choices are weighed by the words that distinguish the candidates.

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
use agentir_runtime::{
    Answer, Extractor, FieldSpec, Model, ModelError, ModelRequest, ModelResponse, ModelTask,
};
use jiff::Zoned;
use jiff::tz::TimeZone;
use phonenumber::country;
use serde_json::{Map, Value as Json};
use std::fmt;
use std::sync::Arc;

/// The number of characters after which a sentence is truncated.
const MAX_SENTENCE_CHARS: usize = 200;

/// A model based on heuristics. Cheap to clone; clones give the same answers.
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
    /// Creates a model with a fixed time. "Tomorrow" is the day after `now`, in its time zone.
    #[must_use]
    pub fn at(now: Zoned) -> Self {
        Self::with_clock(move || now.clone())
    }

    /// Creates a model with a clock.
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

    /// Sets the interpretation of `3/4/2026` and "next Friday".
    #[must_use]
    pub fn date_order(self, order: DateOrder) -> Self {
        Self { order, ..self }
    }

    /// Sets the default country of telephone numbers, as a two-letter code (ISO 3166); the default
    /// is `US`. Returns `None` for an unknown code.
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
    /// A model whose time is fixed at 2026-01-01T00:00:00Z.
    fn default() -> Self {
        let start = jiff::civil::date(2026, 1, 1).to_zoned(TimeZone::UTC);
        Self::at(start.unwrap_or_default())
    }
}

/// What needs no language model is what the offline model does, too.
impl Extractor for Offline {
    fn extract(
        &self,
        message: &str,
        fields: &[FieldSpec],
        asked: Option<&str>,
    ) -> Map<String, Json> {
        extract::extract(self, message, fields, asked)
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

/// The first sentence of a text in one line, truncated.
fn sentence(text: &str) -> String {
    let text = words::truncated(text);
    let end = text.find(['.', '!', '?', '\n']).map_or(text.len(), |at| at + 1);
    let first = text.get(..end).unwrap_or(text).trim();
    if first.chars().count() > MAX_SENTENCE_CHARS {
        return first.chars().take(MAX_SENTENCE_CHARS).chain(std::iter::once('…')).collect();
    }
    first.to_owned()
}
