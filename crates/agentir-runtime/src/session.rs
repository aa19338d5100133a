//! The state of a conversation: everything that survives between two turns.

use crate::model::{Message, ToolUse, Usage};
use crate::orchestration::OrchestrationMethod;
use agentir_eval::State;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};
use std::collections::BTreeMap;

/// The version of the stored form of a session; other versions are rejected.
pub const SESSION_VERSION: u32 = 2;

/// The status of a conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Waiting for the user's next message.
    Await,
    /// Handed over to a person.
    Human,
    /// All agents are done.
    Done,
    /// An agent gave up, or an error was not handled.
    Failed,
}

impl Status {
    /// The name, in snake case.
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

/// A conversation. It is plain data: it can be serialised between two turns and continues after
/// deserialisation without a difference.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Session {
    /// [`SESSION_VERSION`].
    pub version: u32,
    /// A fingerprint of the program; the session cannot continue with another program.
    pub program: String,
    /// The current status.
    pub status: Status,
    /// The number of messages that the user has sent.
    pub turn: u32,
    /// The messages so far.
    pub transcript: Vec<Message>,
    /// The total token usage of all model requests.
    pub usage: Usage,
    /// The number of model requests.
    pub model_calls: u64,
    /// The active agents; the last one is in charge, each of the others waits for the one above it.
    pub(crate) stack: Vec<Frame>,
    /// Agents that returned control before they were done, each with the node to return to.
    pub(crate) parked: Vec<Frame>,
    /// The variables shared by all agents.
    #[serde(with = "crate::json::state")]
    pub(crate) shared: State,
    /// Variables that the runtime assigns: `user.intent`, `channel`, `last_search_result`.
    #[serde(with = "crate::json::state")]
    pub(crate) system: State,
    /// Long-term memory, by path.
    #[serde(with = "crate::json::state")]
    pub(crate) memory: State,
    /// Expiry times of memory paths, in milliseconds since the Unix epoch.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) expires: BTreeMap<String, i64>,
    /// The time of the last turn, in milliseconds since the Unix epoch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(rename = "last")]
    pub(crate) last_turn_at: Option<i64>,
    /// The number of flow steps entered since the conversation began.
    pub(crate) flow_steps: u32,
    /// The orchestration method; `None` for the semantics of the language.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) orchestration: Option<OrchestrationMethod>,
}

impl Session {
    /// The agent in charge; `None` if all agents are done.
    #[must_use]
    pub fn agent(&self) -> Option<&str> {
        self.stack.last().map(|frame| frame.agent.as_str())
    }

    /// The value of a variable, as the agent in charge sees it: its own variables take precedence
    /// over shared ones, and those over the ones that the runtime assigns. After the end of the
    /// conversation, the last agent's view.
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

    /// All variables of the active agents and of the program, by name; inner agents take
    /// precedence.
    #[must_use]
    pub fn variables(&self) -> BTreeMap<String, Json> {
        let all = self.shared.variables().chain(
            self.parked.iter().chain(&self.stack).flat_map(|frame| frame.variables.variables()),
        );
        all.map(|(name, value)| (name.to_string(), crate::json::to_json(value))).collect()
    }

    /// Sets a session attribute that agents can read, such as `channel` or `user_id`.
    pub fn set_system(&mut self, name: &str, value: &Json) {
        if let Ok(value) = crate::json::from_json(value) {
            self.system.set(name, value);
        }
    }

    /// Sets the method by which the agents of an ensemble or a supervisor share the conversation;
    /// `None` for the semantics of the language.
    pub fn set_orchestration(&mut self, method: Option<OrchestrationMethod>) {
        self.orchestration = method;
    }

    /// The innermost frame of another active or parked agent, by name.
    pub(crate) fn other_frame(&self, name: &str) -> Option<&Frame> {
        let inner = self.stack.len().saturating_sub(1);
        let others = self.stack.iter().take(inner).rev().chain(self.parked.iter().rev());
        others.into_iter().find(|frame| frame.agent == name)
    }

    /// The expiry time of a memory path, in milliseconds since the Unix epoch.
    #[must_use]
    pub fn memory_expiry(&self, path: &str) -> Option<i64> {
        self.expires.get(path).copied()
    }

    /// Removes expired memory entries.
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

    /// Like [`Self::set_memory`], with an expiry time in milliseconds since the Unix epoch.
    pub fn set_memory_until(&mut self, path: &str, value: &Json, until: i64) {
        self.set_memory(path, value);
        self.expires.insert(path.to_owned(), until);
    }

    /// The long-term memory, by path.
    #[must_use]
    pub fn memory(&self) -> BTreeMap<String, Json> {
        let all = self.memory.variables();
        all.map(|(name, value)| (name.to_string(), crate::json::to_json(value))).collect()
    }

    /// Sets a value in long-term memory, as an earlier conversation would have done.
    pub fn set_memory(&mut self, path: &str, value: &Json) {
        if let Ok(value) = crate::json::from_json(value) {
            self.memory.set(path, value);
        }
    }
}

/// A tool call that requires the user's confirmation.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Proposal {
    /// The node that asks for confirmation, or the one that makes the call.
    pub(crate) node: u32,
    /// The arguments shown to the user.
    pub(crate) arguments: Map<String, Json>,
    /// The turn in which confirmation was requested or given.
    pub(crate) turn: u32,
}

/// An ongoing conversation with a remote agent.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct RemoteConversation {
    /// The node that leads to the remote agent.
    pub(crate) node: u32,
    /// The state that the remote agent wants back with each message.
    pub(crate) conversation: Json,
}

/// The stack frame of an active agent.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Frame {
    /// The agent's name.
    pub(crate) agent: String,
    /// The current node.
    pub(crate) node: u32,
    /// The agent's variables, by name.
    #[serde(with = "crate::json::state")]
    pub(crate) variables: State,
    /// The nodes that `Resume` returns to, innermost last.
    #[serde(rename = "back")]
    pub(crate) return_points: Vec<ReturnPoint>,
    /// How often each edge with a limit was taken.
    #[serde(rename = "taken")]
    pub(crate) edge_counts: BTreeMap<u32, u32>,
    /// Variables bound to variables of the calling agent.
    #[serde(rename = "bound")]
    pub(crate) bindings: Vec<Binding>,
    /// The names of the values that other agents passed or returned, which the model sees.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) received: Vec<String>,
    /// The summary of what came before the messages.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) summary: String,
    /// The messages that the model sees.
    pub(crate) messages: Vec<Message>,
    /// Additional instructions for the model, valid until the instructions are rebuilt.
    pub(crate) instructions: Vec<String>,
    /// Instructions for the model that are valid in this turn only.
    pub(crate) notes: Vec<String>,
    /// Values recalled from memory for the model.
    pub(crate) recalled: Vec<String>,
    /// The turn whose user message the model has seen.
    #[serde(rename = "heard")]
    pub(crate) last_seen_turn: Option<u32>,
    /// The turn in which the agent started.
    #[serde(rename = "since")]
    pub(crate) started_turn: u32,
    /// Tool calls requested by the model that are still to be executed, in reverse order.
    pub(crate) pending: Vec<ToolUse>,
    /// The call that awaits the user's confirmation, with the node that asks.
    pub(crate) proposed: Option<Proposal>,
    /// The confirmed call that has not yet succeeded, with the node that makes it.
    pub(crate) approved: Option<Proposal>,
    /// The remote agent that receives the next message.
    #[serde(rename = "away")]
    pub(crate) remote: Option<RemoteConversation>,
    /// The model's answer that is still to be sent to the user.
    pub(crate) answer: Option<String>,
    /// The number of model requests in this turn.
    pub(crate) iterations: u32,
    /// The caller's node to return to, if the agent returns.
    pub(crate) returns_to: Option<u32>,
    /// Whether the agent was delegated to, without taking over the conversation.
    pub(crate) delegated: bool,
    /// Whether the agent gave up.
    pub(crate) failed: bool,
    /// How often the user was asked at each node.
    #[serde(rename = "asked")]
    pub(crate) ask_counts: BTreeMap<u32, u32>,
    /// How often a value was rejected, by field, since it was last asked for.
    #[serde(rename = "refused")]
    pub(crate) rejections: BTreeMap<String, u32>,
    /// Whether the user's next message must be masked because a sensitive field was asked for.
    pub(crate) confidential: bool,
    /// The last error.
    pub(crate) error: Option<RuntimeError>,
    /// The result of the last tool call, which `@outputs` reads.
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
            received: Vec::new(),
            summary: String::new(),
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

/// A node to return to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ReturnPoint {
    /// The node.
    pub(crate) node: u32,
    /// The progress within the node; its meaning depends on the node.
    pub(crate) stage: u32,
}

/// A variable bound to one of the calling agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Binding {
    /// The agent's variable.
    pub(crate) variable: String,
    /// The caller's variable, as a path.
    pub(crate) path: String,
}

/// An error in a conversation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RuntimeError {
    /// The kind that error handlers match on.
    pub(crate) kind: String,
    /// A message for people.
    pub(crate) message: String,
}
