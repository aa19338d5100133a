//! What users and models are after, apart from the form in which somebody asks for it.

use super::aims::{Aim, Aims, plain};
use super::names::Names;
use agentir_runtime::{Answer, Ask, Model, ModelError, Purpose, Reply, Request, ToolUse, Usage};
use serde_json::{Map, Value as Json};

/// What the model says in its own words.
pub(super) const ANSWER: &str = "(the model answers)";

/// What somebody was after in a turn.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Wish {
    /// The user gives a value.
    Value(String, Json),
    /// Something is picked, with arguments if it is a tool, under this name: several names may come to
    /// the same.
    Aim(Aim, Map<String, Json>, String),
    /// Something in words holds, or does not.
    Holds(String, bool),
    /// The model answers.
    Says,
}

impl Wish {
    /// What an answer to a question comes down to; nothing if it gives nothing.
    pub(crate) fn of(aims: &Aims, request: &Request, answer: &Answer) -> Vec<Self> {
        let agent = request.agent.as_str();
        match (&request.ask, answer) {
            (_, Answer::Values(values)) => values
                .iter()
                .map(|(name, value)| Self::Value(name.clone(), value.clone()))
                .collect(),
            (_, Answer::Choice(choice)) => choice
                .iter()
                .map(|(name, _)| Self::Aim(aims.chosen(agent, name), Map::new(), name.clone()))
                .collect(),
            // Other languages let the model get a person where one judges whether there is a reason.
            (Ask::Judge { statement, .. }, Answer::Verdict(true))
                if aims.is_reason(agent, statement) =>
            {
                vec![Self::Aim(Aim::Person, Map::new(), String::new())]
            }
            (Ask::Judge { statement, .. }, Answer::Verdict(holds)) => {
                vec![Self::Holds(plain(statement), *holds)]
            }
            (Ask::Converse { tools, .. }, Answer::Message { calls, .. }) if !calls.is_empty() => {
                let aim = |call: &ToolUse| {
                    let purpose = tools.iter().find(|t| t.name == call.name).map(|t| t.purpose);
                    let purpose = purpose.unwrap_or(Purpose::Call);
                    let aim = aims.offered(agent, &call.name, purpose);
                    Self::Aim(aim, call.arguments.clone(), call.name.clone())
                };
                calls.iter().map(aim).collect()
            }
            (_, Answer::Message { .. }) => vec![Self::Says],
            (_, Answer::Verdict(_)) => Vec::new(),
        }
    }
}

/// A model that is after the same as another was.
pub(super) struct Wished<'w> {
    aims: &'w Aims,
    names: &'w Names,
    /// By turn.
    wishes: &'w [Vec<Wish>],
    turn: usize,
    /// Which wishes of this turn were heard.
    heard: Vec<bool>,
}

impl<'w> Wished<'w> {
    pub(super) fn new(aims: &'w Aims, names: &'w Names, wishes: &'w [Vec<Wish>]) -> Self {
        Self { aims, names, wishes, turn: 0, heard: Vec::new() }
    }

    /// A turn begins.
    pub(super) fn turn(&mut self, number: usize) {
        self.turn = number;
        self.heard = vec![false; self.now().len()];
    }

    /// Whether somebody wanted to be done, or to give control back, and was not heard in this turn.
    pub(super) fn is_kept(&self) -> bool {
        let wishes = self.now().iter().zip(&self.heard);
        wishes
            .filter(|(_, heard)| !**heard)
            .any(|(wish, _)| matches!(wish, Wish::Aim(Aim::Back | Aim::Done, ..)))
    }

    fn now(&self) -> &'w [Wish] {
        self.wishes.get(self.turn).map(Vec::as_slice).unwrap_or_default()
    }

    /// The first wish of this turn that nobody has heard and that fits.
    fn next<T>(&mut self, fits: impl Fn(&'w Wish) -> Option<T>) -> Option<T> {
        let wishes = self.now().iter().zip(&mut self.heard);
        for (wish, heard) in wishes {
            if !*heard && let Some(found) = fits(wish) {
                *heard = true;
                return Some(found);
            }
        }
        None
    }

    /// What somebody is after, in the names of the program that the wishes were made for.
    fn known(&self, aim: Aim) -> Aim {
        match aim {
            Aim::Agent(name) => {
                let first = self.names.agent(&name).map(str::to_owned);
                Aim::Agent(first.unwrap_or(name))
            }
            other => other,
        }
    }
}

/// What is offered to who is after something: under the name that was picked, else the first that comes
/// to the same.
fn offered<'o>(all: &'o [(String, Aim)], aim: &Aim, picked: &str) -> Option<&'o str> {
    let mut fits = all.iter().filter(|(_, offered)| offered == aim).map(|(name, _)| name.as_str());
    fits.clone().find(|name| *name == picked).or_else(|| fits.next())
}

impl Model for Wished<'_> {
    fn ask(&mut self, request: &Request, _: &mut dyn FnMut(&str)) -> Result<Reply, ModelError> {
        let agent = request.agent.as_str();
        let answer = match &request.ask {
            Ask::Extract { fields, .. } => {
                let mut values = Map::new();
                for field in fields {
                    let first = self.names.variable(&field.name).to_owned();
                    let value = self.next(|wish| match wish {
                        Wish::Value(name, value) if *name == first => Some(value.clone()),
                        _ => None,
                    });
                    values.extend(value.map(|value| (field.name.clone(), value)));
                }
                Answer::Values(values)
            }
            Ask::Judge { statement, .. } if self.aims.is_reason(agent, statement) => {
                let wants = |wish: &Wish| matches!(wish, Wish::Aim(Aim::Person, ..)).then_some(());
                Answer::Verdict(self.next(wants).is_some())
            }
            Ask::Judge { statement, .. } => {
                let words = plain(statement);
                let about = |wish: &Wish| match wish {
                    Wish::Holds(said, holds) if *said == words => Some(*holds),
                    _ => None,
                };
                let again = || self.now().iter().rev().find_map(about);
                let last = again();
                Answer::Verdict(self.next(about).or(last).unwrap_or(false))
            }
            Ask::Choose { candidates, .. } => {
                let aims: Vec<(String, Aim)> = candidates
                    .iter()
                    .map(|c| (c.name.clone(), self.known(self.aims.chosen(agent, &c.name))))
                    .collect();
                let chosen = self.next(|wish| match wish {
                    Wish::Aim(aim, _, name) => offered(&aims, aim, name).map(str::to_owned),
                    _ => None,
                });
                Answer::Choice(chosen.into_iter().map(|name| (name, 1.0)).collect())
            }
            Ask::Converse { tools, .. } => {
                let aims: Vec<(String, Aim)> = tools
                    .iter()
                    .map(|t| {
                        let aim = self.aims.offered(agent, &t.name, t.purpose);
                        (t.name.clone(), self.known(aim))
                    })
                    .collect();
                let picked = self.next(|wish| match wish {
                    Wish::Aim(aim, arguments, name) => {
                        let name = offered(&aims, aim, name)?;
                        Some(Some((name.to_owned(), arguments.clone())))
                    }
                    Wish::Says => Some(None),
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
        Ok(Reply { answer, usage: Usage::default() })
    }
}
