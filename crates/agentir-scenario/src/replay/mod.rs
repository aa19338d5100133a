//! The same conversation with another program.
//!
//! A conversation that was made for one program says what users, models, tools and people did in it:
//! which values the user gave, which agent or tool the model was after, what a tool answered. [`replay`]
//! has them do the same with another program, whatever it asks them in whichever order and form, and
//! writes down what can be noticed of it. `docs/semantics.md`, "Cross-language replay", says what is
//! compared.

mod effects;
mod intents;
mod names;

pub use names::Names;

use crate::generate::{Conversation, FixedClock};
use agentir_runtime::{
    Escalation, Event, EventKind, Host, Human, HumanReply, Machine, Observer, StartError, Status,
    ToolCall, ToolFailure, Tools,
};
pub(crate) use effects::Effects;
pub(crate) use intents::Intent;
use intents::{ANSWER, IntentModel};
use serde_json::{Map, Value as Json};
use std::collections::{BTreeMap, VecDeque};
use std::fmt;

/// Something that can be noticed in a conversation.
#[derive(Clone, Debug, PartialEq)]
pub enum ActionKind {
    /// The agent says this.
    Says(String),
    /// The model says something in its own words.
    Answers,
    /// A tool is called.
    Calls {
        /// Which.
        tool: String,
        /// With what; what is null is left out.
        arguments: Map<String, Json>,
    },
    /// Something is remembered beyond the conversation.
    Remembers {
        /// Under which path.
        path: String,
        /// What.
        value: Json,
    },
    /// An agent takes over, or goes on.
    Controls(String),
    /// A person takes over.
    Human,
    /// The turn is over.
    Ends(Status),
}

impl fmt::Display for ActionKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Says(text) => write!(f, "says “{text}”"),
            Self::Answers => f.write_str("answers in the model's words"),
            Self::Calls { tool, arguments } => {
                write!(f, "calls {tool} {}", Json::Object(arguments.clone()))
            }
            Self::Remembers { path, value } => write!(f, "remembers {path} = {value}"),
            Self::Controls(agent) => write!(f, "`{agent}` goes on"),
            Self::Human => f.write_str("gets a person"),
            Self::Ends(status) => write!(f, "ends the turn: {}", status.name()),
        }
    }
}

/// Something that was done, and where the program went for it.
#[derive(Clone, Debug)]
pub struct Action {
    /// What.
    pub kind: ActionKind,
    /// The nodes that were entered since the deed before.
    pub path: Vec<usize>,
}

/// A turn as it went.
#[derive(Clone, Debug, Default)]
pub struct ReplayedTurn {
    /// What was done, in its order.
    pub actions: Vec<Action>,
    /// The variables that both programs have, under the names of the first; what is unset is left out.
    pub state: BTreeMap<String, Json>,
    /// The nodes at which variables got their values last, in this turn or before.
    pub set_at: BTreeMap<String, usize>,
    /// Whether an agent's model wanted to be done, or to give control back, and could not: who decides
    /// that differs between the languages.
    pub kept: bool,
}

/// Has the user, the model, the tools and the people of a conversation do the same with a program.
/// `names` says what its agents and variables are called in the program that the conversation was made
/// for.
///
/// # Errors
/// [`StartError`] if no agent talks first.
pub fn replay(
    machine: &Machine<'_>,
    entry: Option<&str>,
    conversation: &Conversation,
    names: &Names,
) -> Result<Vec<ReplayedTurn>, StartError> {
    let effects = Effects::of(machine.cfg());
    let recording = conversation.recording();
    let mut model = IntentModel::new(&effects, names, &recording.intents);
    let mut tools = RecordedTools {
        results: recording.calls.iter().map(|c| (c.tool.as_str(), c.result.clone())).collect(),
    };
    let mut humans = ScriptedHumans(recording.humans.iter().cloned().collect());
    let mut session = machine.session(entry)?;
    let first = session.agent().and_then(|agent| names.agent(agent)).map(str::to_owned);
    let mut recorder = Recorder { names, control: first, ..Recorder::new(names) };
    let mut turns = Vec::new();
    for (number, turn) in conversation.turns.iter().enumerate() {
        model.turn(number);
        let mut host = Host {
            model: &mut model,
            tools: &mut tools,
            human: &mut humans,
            clock: &FixedClock,
            observer: &mut recorder,
        };
        let outcome = machine.turn(&mut session, turn.input.as_ref(), &mut host)?;
        recorder.record(ActionKind::Ends(outcome.status));
        let all = session.variables();
        let state = names
            .variables(recorder.control.as_deref())
            .filter_map(|(own, first)| {
                let plain = session.variable(own).filter(|v| !v.is_null());
                let shared = || all.get(&format!("@variables.{own}")).cloned();
                let value = plain.or_else(shared).or_else(|| all.get(own).cloned())?;
                (!value.is_null()).then(|| (first.to_owned(), value))
            })
            .collect();
        turns.push(ReplayedTurn {
            actions: std::mem::take(&mut recorder.actions),
            state,
            set_at: recorder.set_at.clone(),
            kept: model.is_kept(),
        });
        if outcome.status != Status::Await {
            break;
        }
    }
    Ok(turns)
}

struct Recorder<'n> {
    names: &'n Names,
    /// The agent of both programs that went on last.
    control: Option<String>,
    path: Vec<usize>,
    actions: Vec<Action>,
    set_at: BTreeMap<String, usize>,
}

impl<'n> Recorder<'n> {
    const fn new(names: &'n Names) -> Self {
        Self {
            names,
            control: None,
            path: Vec::new(),
            actions: Vec::new(),
            set_at: BTreeMap::new(),
        }
    }

    fn record(&mut self, kind: ActionKind) {
        self.actions.push(Action { kind, path: std::mem::take(&mut self.path) });
    }
}

impl Observer for Recorder<'_> {
    fn event(&mut self, event: &Event) {
        match &event.kind {
            EventKind::Node { node, .. } => self.path.push(*node),
            EventKind::Say { text } if text == ANSWER => self.record(ActionKind::Answers),
            EventKind::Say { text } => {
                let words: Vec<&str> = text.split_whitespace().collect();
                self.record(ActionKind::Says(words.join(" ")));
            }
            EventKind::Call { tool, arguments } => {
                let given = arguments.iter().filter(|(_, value)| !value.is_null());
                let mut given: Vec<_> = given.map(|(n, v)| (n.clone(), v.clone())).collect();
                given.sort_by(|a, b| a.0.cmp(&b.0));
                let arguments = given.into_iter().collect();
                self.record(ActionKind::Calls { tool: tool.clone(), arguments });
            }
            EventKind::Remember { path, value } => {
                self.record(ActionKind::Remembers { path: path.clone(), value: value.clone() });
            }
            EventKind::Transfer { to, .. } => {
                if let Some(agent) = self.names.agent(to)
                    && self.control.as_deref() != Some(agent)
                {
                    self.control = Some(agent.to_owned());
                    self.record(ActionKind::Controls(agent.to_owned()));
                }
            }
            EventKind::Escalated { .. } => self.record(ActionKind::Human),
            EventKind::Set { variable, .. } | EventKind::Clear { variable } => {
                let own = variable.trim_start_matches("@variables.");
                let own = own.split(['.', '[']).next().unwrap_or(own);
                let first = self.names.variable(own).to_owned();
                if let Some(node) = self.path.last() {
                    self.set_at.insert(first, *node);
                }
            }
            _ => {}
        }
    }
}

struct RecordedTools<'c> {
    results: Vec<(&'c str, Result<Json, ToolFailure>)>,
}

impl Tools for RecordedTools<'_> {
    /// What the tool answered at its next call; nothing if it was not called so often.
    fn call(&mut self, call: &ToolCall<'_>) -> Result<Json, ToolFailure> {
        match self.results.iter().position(|(tool, _)| *tool == call.name) {
            Some(at) => self.results.remove(at).1,
            None => Ok(Json::Null),
        }
    }
}

struct ScriptedHumans(VecDeque<HumanReply>);

impl Human for ScriptedHumans {
    fn take_over(&mut self, _: &Escalation<'_>) -> HumanReply {
        self.0.pop_front().unwrap_or_default()
    }
}
