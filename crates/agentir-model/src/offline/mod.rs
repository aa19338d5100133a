//! The offline model: heuristics instead of a language model. It is deterministic, needs no network
//! and never invents values.
//!
//! It is meant for trying out and testing agents and understands English only.
//!
//! Libraries find typed values (`interim` dates, `text2num` spelled-out numbers, `phonenumber`
//! telephone numbers). Each value goes to the field that the surrounding words name, else to the
//! field that was asked for. Choices are weighed by the words that distinguish the candidates.

mod abilities;
mod addressed;
mod agenda;
mod answers;
mod barriers;
mod choose;
mod conditions;
mod consent;
mod corrections;
mod dates;
mod dialogue;
mod extract;
mod facts;
mod instructions;
mod judge;
mod kinds;
mod next;
mod nouns;
mod numbers;
mod phrases;
mod questions;
mod replies;
mod results;
mod sentences;
mod spans;
mod strings;
mod tools;
mod words;
mod yes_no;

pub use dates::DateOrder;

use crate::tokens::Tokens;
use agentir_runtime::{
    Answer, Extractor, FieldSpec, FieldType, Message, Model, ModelError, ModelRequest,
    ModelResponse, ModelTask, Role,
};
use jiff::Zoned;
use jiff::civil::Date;
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
    /// The day that "the 14th" follows, if it is not today: a day that the conversation is about.
    anchor: Option<Date>,
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
            anchor: None,
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

impl Offline {
    /// The model for a message to somebody who has named days already: "the 14th" is the one after the first of them, or, if
    /// one of them is `corrected`, the one in its month.
    fn with_days_of(&self, known: &Map<String, Json>, corrected: Option<&str>) -> Self {
        let day = |value: &Json| value.as_str()?.parse::<Date>().ok();
        let today = self.now().date();
        let anchor = match corrected.and_then(|name| known.get(name)).and_then(day) {
            Some(old) => Some(old.first_of_month().max(today)),
            None => known.values().filter_map(day).filter(|day| *day >= today).min(),
        };
        Self { anchor, ..self.clone() }
    }

    /// The dates in a text.
    fn dates(&self, text: &str, direction: dates::Direction) -> Vec<dates::Located<Date>> {
        let now = self.now();
        let anchor = self.anchor.unwrap_or_else(|| now.date());
        dates::dates(text, &now, anchor, self.order, direction)
    }

    const fn home(&self) -> country::Id {
        self.region
    }

    /// Answers a question about a message.
    fn answer_question(&self, question: &ModelTask) -> Result<Answer, ModelError> {
        Ok(match question {
            ModelTask::Extract { message, context, fields, asked, known } => {
                let asked = asked_field(context, fields, asked.as_deref(), known);
                // "What can I do for you?" asks for no field.
                let asked = asked.filter(|_| !(phrases::is_wish(message) && is_open(context)));
                let corrected = corrections::corrected(self, message, fields, known);
                let offline = &self.with_days_of(known, corrected.as_ref().map(|one| one.field));
                let reach = if corrected.is_none() && asked.is_none() && phrases::is_wish(message) {
                    extract::Reach::Wish
                } else {
                    extract::Reach::Named
                };
                // A code that does not name a field does not replace a code that the field has, and what counts something
                // else no number.
                let given = corrected.as_ref().map(|one| one.field).or(asked);
                let open: Vec<FieldSpec> = fields
                    .iter()
                    .filter(|field| {
                        given == Some(field.name.as_str())
                            || known.get(&field.name).is_none_or(is_blank)
                            || !kinds::is_code_of_another(field, message)
                                && corrections::may_replace(message, field)
                    })
                    .cloned()
                    .collect();
                let corrected = corrected.as_ref();
                Answer::Values(corrections::extract_corrected(
                    offline, message, &open, corrected, asked, reach,
                ))
            }
            ModelTask::Choose { purpose, message, candidates, several, .. } => {
                let chosen = choose::choose(message, candidates, *several);
                match candidates.as_slice() {
                    // Where there is no choice, whatever the user wants goes to the only agent.
                    [only]
                        if chosen.is_empty() && purpose == ModelTask::ROUTING && wants(message) =>
                    {
                        Answer::Choice(vec![(only.name.clone(), choose::MIN_CONFIDENCE)])
                    }
                    _ => Answer::Choice(chosen),
                }
            }
            ModelTask::Judge { statement, text, context, in_doubt } => {
                Answer::Verdict(judge::judge(statement, text, context, *in_doubt))
            }
            ModelTask::Several { questions } => {
                let answers = questions.iter().map(|question| self.answer_question(question));
                Answer::Several(answers.collect::<Result<_, _>>()?)
            }
            ModelTask::Summarize { .. } | ModelTask::Converse { .. } => {
                return Err(ModelError::Unavailable("it does not write summaries".to_owned()));
            }
        })
    }
}

/// Whether a message wants something: it is not small talk, and says what it is about.
fn wants(message: &str) -> bool {
    phrases::small_talk(message).is_none()
        && words::words(message).iter().any(words::Word::is_content)
}

/// The field that the user was asked for: what the runtime says, unless the agent's last message asks for something else;
/// or, if the runtime does not know it, what that message asks for.
fn asked_field<'t>(
    context: &[Message],
    fields: &'t [FieldSpec],
    asked: Option<&'t str>,
    known: &Map<String, Json>,
) -> Option<&'t str> {
    let last = context.last().filter(|m| m.role == Role::Assistant).map(|m| m.text.as_str());
    let Some(last) = last else { return asked };
    // What is reported before the question is not what it asks for.
    let question = sentences::split(last).into_iter().rev().find(|s| phrases::requests(s));
    let about = words::words(question.as_deref().unwrap_or(last));
    let score = |field: &FieldSpec| {
        let prompt = field.prompt.as_deref().map(str::trim).filter(|prompt| !prompt.is_empty());
        if prompt.is_some_and(|prompt| last.contains(prompt)) {
            return 100;
        }
        let own = words::name_words(&field.name);
        let described = words::words(&sentence(&field.description));
        let shared = |own: &[words::Word]| {
            let own = own.iter().filter(|w| w.is_content());
            own.filter(|own| about.iter().any(|w| w.stem == own.stem)).count()
        };
        shared(&own) * 2 + shared(&described) + usize::from(fits_question(field, &about))
    };
    // The last sentence asks.
    if !phrases::requests(last) {
        return asked;
    }
    if let Some(name) = asked {
        let field = fields.iter().find(|field| field.name == name);
        // The question names another field that has no value yet.
        let named = fields.iter().filter(|field| known.get(&field.name).is_none_or(is_blank));
        let mut named = named.filter(|field| score(field) >= 2);
        if field.is_some_and(|field| score(field) == 0 && field.prompt.is_none())
            && let (Some(other), None) = (named.next(), named.next())
        {
            return Some(&other.name);
        }
        // A question about something else is not answered by a value of this field.
        let generic = last.contains("help") || last.contains("can I do");
        let other = field.is_some_and(|field| {
            score(field) == 0 && field.prompt.is_some() && !last.contains(':')
        });
        return if other && (generic || last.trim_end().ends_with('?')) { None } else { asked };
    }
    let open: Vec<&FieldSpec> =
        fields.iter().filter(|field| known.get(&field.name).is_none_or(is_blank)).collect();
    let best = open.iter().copied().filter(|field| score(field) > 0);
    let best = best.reduce(|best, field| if score(field) > score(best) { field } else { best });
    let generic = ["help", "can I do", "anything else"].iter().any(|phrase| last.contains(phrase));
    match (best, open.as_slice()) {
        (Some(field), _) => Some(&field.name),
        (None, [only]) if !generic => Some(&only.name),
        _ => None,
    }
}

/// Whether the agent's last message asks what the user wants.
fn is_open(context: &[Message]) -> bool {
    let last = context.iter().rev().find(|m| m.role == Role::Assistant);
    last.is_none_or(|m| {
        ["help", "can I do", "do for you", "like to do"].iter().any(|p| m.text.contains(p))
    })
}

/// Whether a question asks for values of a field's kind: where, who, when, how many.
fn fits_question(field: &FieldSpec, question: &[words::Word]) -> bool {
    let asks = |word: &str| question.iter().any(|w| w.text == word);
    let kind = kinds::kind_of(field);
    match field.ty {
        FieldType::Text if asks("where") => kind == kinds::TextKind::Place,
        FieldType::Text if asks("who") => kind == kinds::TextKind::Person,
        FieldType::Date | FieldType::Time | FieldType::DateTime => asks("when"),
        FieldType::Number | FieldType::Currency => asks("many") || asks("much"),
        _ => false,
    }
}

/// Whether a value stands for none.
fn is_blank(value: &Json) -> bool {
    match value {
        Json::Null | Json::Bool(false) => true,
        Json::Number(number) => number.as_f64() == Some(0.0),
        Json::String(text) => text.trim().is_empty(),
        Json::Array(items) => items.is_empty(),
        Json::Object(fields) => fields.is_empty(),
        Json::Bool(true) => false,
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
        extract::extract(self, message, fields, asked, extract::Reach::Named)
    }
}

impl Model for Offline {
    fn respond(
        &mut self,
        request: &ModelRequest,
        partial: &mut dyn FnMut(&str),
    ) -> Result<ModelResponse, ModelError> {
        let answer = match &request.task {
            ModelTask::Converse { .. } => {
                self.calls += 1;
                dialogue::answer(self, &request.task)
            }
            question => self.answer_question(question)?,
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
    // A full stop inside a word, as in an address, ends nothing.
    let ends = |at: &usize| {
        text.get(at + 1..).is_none_or(|rest| rest.chars().next().is_none_or(char::is_whitespace))
    };
    let stop = text.match_indices(['.', '!', '?']).map(|(at, _)| at).find(ends);
    let line = text.find('\n');
    let end = stop.into_iter().chain(line).min().map_or(text.len(), |at| at + 1);
    let first = text.get(..end).unwrap_or(text).trim();
    if first.chars().count() > MAX_SENTENCE_CHARS {
        return first.chars().take(MAX_SENTENCE_CHARS).chain(std::iter::once('…')).collect();
    }
    first.to_owned()
}
