//! Cross-language replay: the same conversation with another program.
//!
//! A generated conversation records what users, models, tools and people intend: the values that
//! the user provides, the agents and tools that the model chooses, the results of tools. [`Replayer`]
//! replays these intents with another program, in whichever order and form that program asks for
//! them, and records the observable actions. `docs/semantics.md`, "Cross-language replay", defines
//! what is compared.
//!
//! [`compare_by_replay`] does that for a conversion, and tells differences that its report accounts for from others. A test
//! (`tests/tests/all/replay.rs`) accepts only the former, for the samples in every pair of languages.

mod compare;

pub use compare::{compare_by_replay, compare_conversations, first_agent};

use crate::generate::{Conversation, FixedClock, self_contained};
use crate::intents::{ANSWER, Effects, IntentModel, Names};
use agentir_runtime::{
    Escalation, Event, EventKind, Host, Human, HumanReply, Machine, Observer, StartError, Status,
    ToolCall, ToolFailure, Tools,
};
use agentir_tools::Toolbox;
use rustc_hash::FxHashSet;
use serde_json::{Map, Value as Json};
use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::fmt;

/// An observable action.
#[derive(Clone, Debug, PartialEq)]
pub enum ActionKind {
    /// The agent sends this message.
    Says(String),
    /// The model sends a message of its own.
    Answers,
    /// A tool call.
    Calls {
        /// The tool.
        tool: String,
        /// The arguments, without nulls.
        arguments: Map<String, Json>,
    },
    /// A value is written to long-term memory.
    Remembers {
        /// The path.
        path: String,
        /// The value.
        value: Json,
    },
    /// An agent takes over or continues.
    Controls(String),
    /// A person takes over.
    Human,
    /// The turn ends.
    Ends(Status),
}

impl fmt::Display for ActionKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Says(text) => write!(f, "says “{text}”"),
            Self::Answers => f.write_str("sends a message of the model"),
            Self::Calls { tool, arguments } => {
                write!(f, "calls {tool} {}", Json::Object(arguments.clone()))
            }
            Self::Remembers { path, value } => write!(f, "remembers {path} = {value}"),
            Self::Controls(agent) => write!(f, "`{agent}` takes over"),
            Self::Human => f.write_str("escalates to a person"),
            Self::Ends(status) => write!(f, "ends the turn: {}", status.name()),
        }
    }
}

/// An observable action and the path that led to it.
#[derive(Clone, Debug)]
pub struct Action {
    /// The action.
    pub kind: ActionKind,
    /// The nodes entered since the previous action.
    pub path: Vec<usize>,
}

/// A replayed turn.
#[derive(Clone, Debug, Default)]
pub struct ReplayedTurn {
    /// The actions, in order.
    pub actions: Vec<Action>,
    /// The variables that both programs have, under their names in the first program, without unset
    /// ones.
    pub state: BTreeMap<String, Json>,
    /// The nodes that last set each variable, in this turn or an earlier one.
    pub set_at: BTreeMap<String, usize>,
    /// Whether the model intended to complete or to return control but could not; the languages
    /// differ in who decides that.
    pub exit_blocked: bool,
}

/// Replays conversations with a program.
pub struct Replayer<'m, 'p> {
    machine: &'m Machine<'p>,
    entry: Option<&'p str>,
    effects: Effects,
    toolbox: RefCell<Toolbox>,
    /// The tools that answer by themselves.
    alone: FxHashSet<String>,
}

impl<'m, 'p> Replayer<'m, 'p> {
    /// Prepares a program, whose conversations begin with its [`first_agent`].
    #[must_use]
    pub fn new(machine: &'m Machine<'p>) -> Self {
        let program = machine.program();
        Self {
            machine,
            entry: first_agent(program),
            effects: Effects::of(machine.cfg()),
            toolbox: RefCell::new(Toolbox::new(program)),
            alone: self_contained(program),
        }
    }

    /// The machine of the program.
    #[must_use]
    pub const fn machine(&self) -> &'m Machine<'p> {
        self.machine
    }

    /// Replays a conversation. `names` maps the agents and variables of the program to those of the program that was
    /// recorded.
    ///
    /// # Errors
    /// Returns a [`StartError`] if the program has no entry agent.
    pub fn replay(
        &self,
        conversation: &Conversation,
        names: &Names,
    ) -> Result<Vec<ReplayedTurn>, StartError> {
        let machine = self.machine;
        let recording = conversation.recording();
        let mut model = IntentModel::new(&self.effects, names, &recording.intents);
        let mut tools = RecordedTools {
            replayer: self,
            results: recording.calls.iter().map(|c| (c.tool.as_str(), c.result.clone())).collect(),
        };
        let mut humans = ScriptedHumans(recording.humans.iter().cloned().collect());
        let mut session = machine.session(self.entry)?;
        let first = session.agent().and_then(|agent| names.agent(agent)).map(str::to_owned);
        let mut recorder = Recorder { names, control: first, ..Recorder::new(names) };
        let extractor = FixedClock::extractor();
        let mut turns = Vec::new();
        for (number, turn) in conversation.turns.iter().enumerate() {
            model.turn(number);
            let mut host = Host {
                model: &mut model,
                extractor: &extractor,
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
                exit_blocked: model.exit_was_blocked(),
            });
            if outcome.status != Status::Await {
                break;
            }
        }
        Ok(turns)
    }
}

struct Recorder<'n> {
    names: &'n Names,
    /// The agent known to both programs that was last in control.
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

struct RecordedTools<'c, 'm, 'p> {
    replayer: &'c Replayer<'m, 'p>,
    results: Vec<(&'c str, Result<Json, ToolFailure>)>,
}

impl Tools for RecordedTools<'_, '_, '_> {
    /// What a tool of the program answers by itself, else its next recorded result; null if there is none.
    fn call(&mut self, call: &ToolCall<'_>) -> Result<Json, ToolFailure> {
        if self.replayer.alone.contains(call.name) {
            return self.replayer.toolbox.borrow_mut().call(call);
        }
        match self.results.iter().position(|(tool, _)| *tool == call.name) {
            Some(at) => self.results.remove(at).1,
            None => Ok(Json::Null),
        }
    }

    fn refusal(&self, call: &ToolCall<'_>) -> Option<ToolFailure> {
        self.replayer.toolbox.borrow().refusal(call)
    }
}

struct ScriptedHumans(VecDeque<HumanReply>);

impl Human for ScriptedHumans {
    fn take_over(&mut self, _: &Escalation<'_>) -> HumanReply {
        self.0.pop_front().unwrap_or_default()
    }
}
