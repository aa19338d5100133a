//! The intents of users and models, independent of the form of the request that reveals them.

mod effects;
mod names;

pub(crate) use effects::Effects;
pub use names::Names;

use agentir_runtime::{
    Answer, Model, ModelError, ModelRequest, ModelResponse, ModelTask, Purpose, ToolUse, Usage,
};
use effects::{Effect, plain};
use serde_json::{Map, Value as Json};

/// Stands for any message that the model writes itself.
pub(crate) const ANSWER: &str = "(the model answers)";

/// An intent of the user or the model in a turn.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Intent {
    /// The user provides a value.
    Value(String, Json),
    /// Something is chosen, with arguments if it is a tool, under this name; several names may have
    /// the same effect.
    Effect(Effect, Map<String, Json>, String),
    /// A natural-language statement holds, or does not hold.
    Holds(String, bool),
    /// The model sends a message.
    Says,
}

impl Intent {
    /// The intents behind an answer; may be empty.
    pub(crate) fn of(effects: &Effects, request: &ModelRequest, answer: &Answer) -> Vec<Self> {
        let agent = request.agent.as_str();
        match (&request.task, answer) {
            (_, Answer::Values(values)) => values
                .iter()
                .map(|(name, value)| Self::Value(name.clone(), value.clone()))
                .collect(),
            (_, Answer::Choice(choice)) => choice
                .iter()
                .map(|(name, _)| {
                    Self::Effect(effects.chosen(agent, name), Map::new(), name.clone())
                })
                .collect(),
            // In other languages the model escalates by a tool call instead of judging a reason.
            (ModelTask::Judge { statement, .. }, Answer::Verdict(true))
                if effects.is_reason(agent, statement) =>
            {
                vec![Self::Effect(Effect::Human, Map::new(), String::new())]
            }
            (ModelTask::Judge { statement, .. }, Answer::Verdict(holds)) => {
                vec![Self::Holds(plain(statement), *holds)]
            }
            (ModelTask::Converse { tools, .. }, Answer::Message { calls, .. })
                if !calls.is_empty() =>
            {
                let effect = |call: &ToolUse| {
                    let purpose = tools.iter().find(|t| t.name == call.name).map(|t| t.purpose);
                    let purpose = purpose.unwrap_or(Purpose::Call);
                    let effect = effects.offered(agent, &call.name, purpose);
                    Self::Effect(effect, call.arguments.clone(), call.name.clone())
                };
                calls.iter().map(effect).collect()
            }
            (_, Answer::Message { .. }) => vec![Self::Says],
            (_, Answer::Verdict(_) | Answer::Several(_) | Answer::Summary(_)) => Vec::new(),
        }
    }
}

/// A model that replays recorded intents.
pub(crate) struct IntentModel<'w> {
    effects: &'w Effects,
    names: &'w Names,
    /// By turn.
    intents: &'w [Vec<Intent>],
    turn: usize,
    /// Which intents of this turn have been used.
    consumed: Vec<bool>,
}

impl<'w> IntentModel<'w> {
    pub(crate) fn new(effects: &'w Effects, names: &'w Names, intents: &'w [Vec<Intent>]) -> Self {
        Self { effects, names, intents, turn: 0, consumed: Vec::new() }
    }

    /// Starts a turn.
    pub(crate) fn turn(&mut self, number: usize) {
        self.turn = number;
        self.consumed = vec![false; self.now().len()];
    }

    /// Whether an intent to complete or to return control was not used in this turn.
    pub(crate) fn exit_was_blocked(&self) -> bool {
        let intents = self.now().iter().zip(&self.consumed);
        intents
            .filter(|(_, consumed)| !**consumed)
            .any(|(intent, _)| matches!(intent, Intent::Effect(Effect::Back | Effect::Done, ..)))
    }

    fn now(&self) -> &'w [Intent] {
        self.intents.get(self.turn).map(Vec::as_slice).unwrap_or_default()
    }

    /// The first unused intent of this turn that matches.
    fn next<T>(&mut self, fits: impl Fn(&'w Intent) -> Option<T>) -> Option<T> {
        let intents = self.now().iter().zip(&mut self.consumed);
        for (intent, consumed) in intents {
            if !*consumed && let Some(found) = fits(intent) {
                *consumed = true;
                return Some(found);
            }
        }
        None
    }

    /// Translates an effect into the names of the program that was recorded.
    fn known(&self, effect: Effect) -> Effect {
        match effect {
            Effect::Agent(name) => {
                let first = self.names.agent(&name).map(str::to_owned);
                Effect::Agent(first.unwrap_or(name))
            }
            other => other,
        }
    }
}

/// The exposed name for an effect: the recorded name if possible, else the first one with that
/// effect.
fn offered<'o>(all: &'o [(String, Effect)], effect: &Effect, picked: &str) -> Option<&'o str> {
    let mut fits =
        all.iter().filter(|(_, offered)| offered == effect).map(|(name, _)| name.as_str());
    fits.clone().find(|name| *name == picked).or_else(|| fits.next())
}

impl Model for IntentModel<'_> {
    fn respond(
        &mut self,
        request: &ModelRequest,
        _: &mut dyn FnMut(&str),
    ) -> Result<ModelResponse, ModelError> {
        let agent = request.agent.as_str();
        let answer = match &request.task {
            ModelTask::Extract { fields, .. } => {
                let mut values = Map::new();
                for field in fields {
                    let first = self.names.variable(&field.name).to_owned();
                    let value = self.next(|intent| match intent {
                        Intent::Value(name, value) if *name == first => Some(value.clone()),
                        _ => None,
                    });
                    values.extend(value.map(|value| (field.name.clone(), value)));
                }
                Answer::Values(values)
            }
            ModelTask::Judge { statement, .. } if self.effects.is_reason(agent, statement) => {
                let wants = |intent: &Intent| {
                    matches!(intent, Intent::Effect(Effect::Human, ..)).then_some(())
                };
                Answer::Verdict(self.next(wants).is_some())
            }
            ModelTask::Judge { statement, .. } => {
                let words = plain(statement);
                let about = |intent: &Intent| match intent {
                    Intent::Holds(text, holds) if *text == words => Some(*holds),
                    _ => None,
                };
                let again = || self.now().iter().rev().find_map(about);
                let last = again();
                Answer::Verdict(self.next(about).or(last).unwrap_or(false))
            }
            ModelTask::Choose { candidates, .. } => {
                let effects: Vec<(String, Effect)> = candidates
                    .iter()
                    .map(|c| (c.name.clone(), self.known(self.effects.chosen(agent, &c.name))))
                    .collect();
                let chosen = self.next(|intent| match intent {
                    Intent::Effect(effect, _, name) => {
                        offered(&effects, effect, name).map(str::to_owned)
                    }
                    _ => None,
                });
                Answer::Choice(chosen.into_iter().map(|name| (name, 1.0)).collect())
            }
            // They are sent only to models that ask for them.
            ModelTask::Several { .. } | ModelTask::Summarize { .. } => {
                return Err(ModelError::Unavailable("it answers single questions".to_owned()));
            }
            ModelTask::Converse { tools, .. } => {
                let effects: Vec<(String, Effect)> = tools
                    .iter()
                    .map(|t| {
                        let effect = self.effects.offered(agent, &t.name, t.purpose);
                        (t.name.clone(), self.known(effect))
                    })
                    .collect();
                let picked = self.next(|intent| match intent {
                    Intent::Effect(effect, arguments, name) => {
                        let name = offered(&effects, effect, name)?;
                        Some(Some((name.to_owned(), arguments.clone())))
                    }
                    Intent::Says => Some(None),
                    _ => None,
                });
                match picked.flatten() {
                    Some((name, arguments)) => {
                        let call = ToolUse { id: "call".to_owned(), name, arguments };
                        Answer::Message { text: String::new(), calls: vec![call] }
                    }
                    None => Answer::Message { text: ANSWER.to_owned(), calls: Vec::new() },
                }
            }
        };
        Ok(ModelResponse { answer, usage: Usage::default() })
    }
}
