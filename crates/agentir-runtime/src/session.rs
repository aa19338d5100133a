//! The state of a conversation: everything that must survive between two turns.

use crate::model::{Message, ToolUse, Usage};
use crate::orchestration::OrchestrationMethod;
use agentir_eval::State;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};
use std::collections::BTreeMap;

/// The form of a session as it is stored; another one cannot be read.
pub const SESSION_VERSION: u32 = 2;

/// How a conversation stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// The user is to say something.
    Await,
    /// A person has taken over.
    Human,
    /// The agents are done.
    Done,
    /// An agent gave up, or something went wrong that nobody handles.
    Failed,
}

impl Status {
    /// Its name, in snake case.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Await => "await",
            Self::Human => "human",
            Self::Done => "done",
            Self::Failed => "failed",
        }
    }
}

/// A conversation. It is plain data: written out between two turns and read back, it goes on as if
/// nothing had happened.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Session {
    /// [`SESSION_VERSION`].
    pub version: u32,
    /// What the program was that it was begun with; with another one it cannot go on.
    pub program: String,
    /// How it stands.
    pub status: Status,
    /// How many messages the user has sent.
    pub turn: u32,
    /// What was said, by whom.
    pub transcript: Vec<Message>,
    /// What all questions to models cost.
    pub usage: Usage,
    /// How many questions there were.
    pub model_calls: u64,
    /// The agents at work; the last is in charge, each of the others waits for the one behind it.
    pub(crate) stack: Vec<Frame>,
    /// Agents that gave control back before they were done, each with the agent it came back to.
    pub(crate) parked: Vec<Frame>,
    /// The variables that all agents share.
    #[serde(with = "crate::json::state")]
    pub(crate) shared: State,
    /// What the runtime assigns: `user.intent`, `channel`, `last_search_result`.
    #[serde(with = "crate::json::state")]
    pub(crate) system: State,
    /// What outlives the conversation, by path.
    #[serde(with = "crate::json::state")]
    pub(crate) memory: State,
    /// When what is remembered for a time only is forgotten, by path.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) expires: BTreeMap<String, i64>,
    /// When the last turn was, in milliseconds since the beginning of 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(rename = "last")]
    pub(crate) last_turn_at: Option<i64>,
    /// Steps of flows that were entered since the conversation began.
    pub(crate) flow_steps: u32,
    /// How the agents of an ensemble share the conversation; as the language says if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) orchestration: Option<OrchestrationMethod>,
}

impl Session {
    /// The agent in charge; none if all are done.
    #[must_use]
    pub fn agent(&self) -> Option<&str> {
        self.stack.last().map(|frame| frame.agent.as_str())
    }

    /// The value of a variable as the agent in charge sees it, by its name: its own variables first,
    /// then those of the program, then what the runtime assigns. After the end, those of the agent
    /// that was last in charge.
    #[must_use]
    pub fn variable(&self, name: &str) -> Option<Json> {
        let value = self
            .stack
            .last()
            .or_else(|| self.parked.last())
            .and_then(|frame| frame.variables.get(name))
            .or_else(|| self.shared.get(name))
            .or_else(|| self.system.get(name))?;
        Some(crate::json::to_json(value))
    }

    /// All variables of the agents at work and of the program, by name; inner agents win.
    #[must_use]
    pub fn variables(&self) -> BTreeMap<String, Json> {
        let all = self.shared.variables().chain(
            self.parked.iter().chain(&self.stack).flat_map(|frame| frame.variables.variables()),
        );
        all.map(|(name, value)| (name.to_string(), crate::json::to_json(value))).collect()
    }

    /// Sets what the runtime knows about the session and agents read: `channel`, `user_id`.
    pub fn set_system(&mut self, name: &str, value: &Json) {
        if let Ok(value) = crate::json::from_json(value) {
            self.system.set(name, value);
        }
    }

    /// Says how the agents of an ensemble, or of a supervisor, share the conversation from now on; with
    /// none as the language says.
    pub fn set_orchestration(&mut self, method: Option<OrchestrationMethod>) {
        self.orchestration = method;
    }

    /// Another agent that is at work or waits to go on, by its name; the innermost of this name.
    pub(crate) fn other_frame(&self, name: &str) -> Option<&Frame> {
        let inner = self.stack.len().saturating_sub(1);
        let others = self.stack.iter().take(inner).rev().chain(self.parked.iter().rev());
        others.into_iter().find(|frame| frame.agent == name)
    }

    /// When what is remembered under a path is forgotten, in milliseconds since the beginning of 1970.
    #[must_use]
    pub fn memory_expiry(&self, path: &str) -> Option<i64> {
        self.expires.get(path).copied()
    }

    /// Forgets what was to be remembered until now.
    pub(crate) fn remove_expired(&mut self, now: i64) {
        let over = self.expires.iter().filter(|(_, at)| **at <= now);
        let over: Vec<String> = over.map(|(path, _)| path.clone()).collect();
        if over.is_empty() {
            return;
        }
        let mut kept = State::new();
        for (path, value) in self.memory.variables() {
            if !over.iter().any(|o| o == path.as_str()) {
                kept.set(path.clone(), value.clone());
            }
        }
        self.memory = kept;
        self.expires.retain(|path, _| !over.contains(path));
    }

    /// As [`Self::set_memory`], for as long as is said: until a moment, in milliseconds since the
    /// beginning of 1970.
    pub fn set_memory_until(&mut self, path: &str, value: &Json, until: i64) {
        self.set_memory(path, value);
        self.expires.insert(path.to_owned(), until);
    }

    /// What outlives the conversation, by path.
    #[must_use]
    pub fn memory(&self) -> BTreeMap<String, Json> {
        let all = self.memory.variables();
        all.map(|(name, value)| (name.to_string(), crate::json::to_json(value))).collect()
    }

    /// Puts something into the longer-lived memory, as an earlier conversation might have.
    pub fn set_memory(&mut self, path: &str, value: &Json) {
        if let Ok(value) = crate::json::from_json(value) {
            self.memory.set(path, value);
        }
    }
}

/// A call that needs the user's agreement.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Proposal {
    /// The node that asks for it or makes it.
    pub(crate) node: u32,
    /// The arguments that the user was told.
    pub(crate) arguments: Map<String, Json>,
    /// The turn in which it was asked for or agreed to.
    pub(crate) turn: u32,
}

/// A conversation with an agent elsewhere that is not over.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct RemoteConversation {
    /// The node that leads to it.
    pub(crate) node: u32,
    /// What it wants to be told with each message.
    pub(crate) conversation: Json,
}

/// An agent at work.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Frame {
    /// Its name.
    pub(crate) agent: String,
    /// The node it is at.
    pub(crate) node: u32,
    /// Its variables, by name.
    #[serde(with = "crate::json::state")]
    pub(crate) variables: State,
    /// Where `Resume` leads, the innermost last.
    #[serde(rename = "back")]
    pub(crate) return_points: Vec<ReturnPoint>,
    /// How often edges with a limit were taken.
    #[serde(rename = "taken")]
    pub(crate) edge_counts: BTreeMap<u32, u32>,
    /// Variables that stand for those of the agent that called.
    #[serde(rename = "bound")]
    pub(crate) bindings: Vec<Binding>,
    /// What the model sees of the conversation.
    pub(crate) messages: Vec<Message>,
    /// What the model is told in addition, until the instructions are made anew.
    pub(crate) instructions: Vec<String>,
    /// What the model is told in this turn only.
    pub(crate) notes: Vec<String>,
    /// What was brought back from memory for the model.
    pub(crate) recalled: Vec<String>,
    /// The turn in which the model saw what the user said last.
    #[serde(rename = "heard")]
    pub(crate) last_seen_turn: Option<u32>,
    /// The turn in which the agent began.
    #[serde(rename = "since")]
    pub(crate) started_turn: u32,
    /// What the model picked and is still to be done.
    pub(crate) pending: Vec<ToolUse>,
    /// The call that the user was asked about last, by the node that asks.
    pub(crate) proposed: Option<Proposal>,
    /// The call that the user agreed to last and that has not succeeded yet, by the node that calls.
    pub(crate) approved: Option<Proposal>,
    /// The agent elsewhere that the next message is for.
    #[serde(rename = "away")]
    pub(crate) remote: Option<RemoteConversation>,
    /// What the model said and is still to be told to the user.
    pub(crate) answer: Option<String>,
    /// How often the model was asked in this turn.
    pub(crate) iterations: u32,
    /// The node of the caller's to which it comes back, if it does.
    pub(crate) returns_to: Option<u32>,
    /// Whether it is asked, and not in charge of the conversation.
    pub(crate) delegated: bool,
    /// Whether it gave up.
    pub(crate) failed: bool,
    /// How often the user was asked at a node.
    #[serde(rename = "asked")]
    pub(crate) ask_counts: BTreeMap<u32, u32>,
    /// How often a value of a field was refused since it is asked for.
    #[serde(rename = "refused")]
    pub(crate) rejections: BTreeMap<String, u32>,
    /// Whether what the user is to say next must not be shown: a sensitive field was asked for.
    pub(crate) confidential: bool,
    /// What went wrong last.
    pub(crate) error: Option<RuntimeError>,
    /// The result of the last tool, which `@outputs` reads.
    pub(crate) outputs: Json,
}

impl Frame {
    pub(crate) fn new(agent: &str, node: u32, turn: u32) -> Self {
        Self {
            agent: agent.to_owned(),
            node,
            variables: State::new(),
            return_points: Vec::new(),
            edge_counts: BTreeMap::new(),
            bindings: Vec::new(),
            messages: Vec::new(),
            instructions: Vec::new(),
            notes: Vec::new(),
            recalled: Vec::new(),
            last_seen_turn: None,
            started_turn: turn,
            pending: Vec::new(),
            proposed: None,
            approved: None,
            remote: None,
            answer: None,
            iterations: 0,
            returns_to: None,
            delegated: false,
            failed: false,
            ask_counts: BTreeMap::new(),
            rejections: BTreeMap::new(),
            confidential: false,
            error: None,
            outputs: Json::Object(Map::new()),
        }
    }
}

/// A place that is come back to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ReturnPoint {
    /// The node.
    pub(crate) node: u32,
    /// How far it was: what that means is the node's.
    pub(crate) stage: u32,
}

/// A variable that stands for one of the caller's.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Binding {
    /// The variable.
    pub(crate) variable: String,
    /// The caller's, as a path.
    pub(crate) path: String,
}

/// Something that went wrong.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RuntimeError {
    /// The kind that handlers know it by.
    pub(crate) kind: String,
    /// In words.
    pub(crate) message: String,
}
