//! The state of a conversation: everything that survives between two turns.

mod memory;

pub use memory::MemoryWrite;
pub(crate) use memory::append;

use crate::derived::Derived;
use crate::model::{Message, ToolUse, Usage};
use crate::orchestration::OrchestrationMethod;
use agentir_eval::State;
use agentir_secrets::{Masker, may_be_told};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};
use std::collections::{BTreeMap, BTreeSet};

/// The version of the stored form of a session; other versions are rejected.
pub const SESSION_VERSION: u32 = 2;

/// A message of an agent to the user.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AgentMessage {
    /// The agent.
    pub agent: String,
    /// The text.
    pub text: String,
    /// Buttons, menus and input fields that accompany the text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub actions: Option<Json>,
    /// What is spoken, or shown by channels that show more than text: it is checked as the text is.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub beside: String,
    /// The step that said it, if it was a step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) step: Option<String>,
    /// Whether the observer has it already ([`crate::Observer::message`]).
    #[serde(skip)]
    pub delivered: bool,
}

impl AgentMessage {
    /// What the user reads; of a message without a text, what is spoken or shown instead of it.
    #[must_use]
    pub fn words(&self) -> &str {
        if self.text.trim().is_empty() { &self.beside } else { &self.text }
    }

    /// Whether there is nothing to read, hear or press.
    pub(crate) fn is_empty(&self) -> bool {
        self.words().trim().is_empty() && self.actions.is_none()
    }
}

/// A file that a user sends (ABL, current specification, 3.13.4).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attachment {
    /// Its name.
    pub name: String,
    /// Its media type, such as `image/jpeg`.
    pub media_type: String,
    /// Its size, in bytes.
    pub size: u64,
    /// Where tools find it: a path or an address.
    pub location: String,
}

impl Attachment {
    /// The attachment as a value of the languages.
    pub(crate) fn to_json(&self) -> Json {
        let Self { name, media_type, size, location } = self;
        serde_json::json!({ "name": name, "mime_type": media_type, "size": size, "url": location })
    }
}

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
    /// Distinguishes this conversation from all others; the idempotency keys of its calls are made of
    /// it. If it is empty, the first turn assigns a random one.
    #[serde(default)]
    pub id: String,
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
    /// The session variables of agents that keep them when they are entered again, by agent.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) kept: BTreeMap<String, BTreeMap<String, Json>>,
    /// The time of the last turn, in milliseconds since the Unix epoch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(rename = "last")]
    pub(crate) last_turn_at: Option<i64>,
    /// The number of flow steps entered since the conversation began.
    pub(crate) flow_steps: u32,
    /// The orchestration method; `None` for the semantics of the language.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) orchestration: Option<OrchestrationMethod>,
    /// Where the nodes and edges are that the session refers to by number; `None` if it was written
    /// by a version that did not note it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) places: Option<Places>,
    /// The names whose values are masked where a session is shown.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub(crate) sensitive: BTreeSet<String>,
    /// What expressions made of such values.
    #[serde(default, skip_serializing_if = "Derived::is_empty")]
    pub(crate) derived: Derived,
    /// The values of the host's secrets that the conversation contains, which are masked where it is shown.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub(crate) secrets: BTreeSet<String>,
    /// The buttons and menus that were offered, by their ids.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) offered: BTreeMap<String, Offer>,
    /// The successful tool calls of a turn that failed afterwards. The same call in the next turn is not made again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) unfinished: Vec<CompletedCall>,
    /// How the turn wrote long-term memory, by path.
    #[serde(skip)]
    pub(crate) memory_writes: BTreeMap<String, Vec<MemoryWrite>>,
}

/// Where a conversation waits: the agent, and its step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Place {
    pub(crate) agent: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) step: Option<String>,
}

/// A button or a menu that was offered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Offer {
    /// Where it is an answer.
    #[serde(flatten)]
    pub(crate) place: Place,
    /// What it submits if it is pressed (ABL, current specification, 3.13.5: `VALUE`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) value: Option<String>,
    /// The ids, values and labels of the options of a menu; empty for a button.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) options: Vec<String>,
}

/// A tool call with its result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct CompletedCall {
    /// The agent that called.
    pub(crate) agent: String,
    /// The tool.
    pub(crate) tool: String,
    /// The arguments, by name.
    pub(crate) arguments: Map<String, Json>,
    /// The result.
    pub(crate) result: Json,
}

impl Session {
    /// Whether the opening turn has taken place.
    #[must_use]
    pub const fn has_begun(&self) -> bool {
        self.last_turn_at.is_some() || self.turn > 0
    }

    /// The lists of messages: the transcript, and what the model sees of each agent. Turns only
    /// append to them, with few exceptions, and everything else is about the same size in all turns.
    /// A store can therefore write [`Self::without_messages`], and the new messages.
    #[must_use]
    pub fn message_lists(&self) -> Vec<&[Message]> {
        let frames = self.frames();
        std::iter::once(&self.transcript)
            .chain(frames.map(|frame| &frame.messages))
            .map(Vec::as_slice)
            .collect()
    }

    /// Notes which of these secrets of the host the conversation contains, in any form that a [`Masker`] finds: a tool may
    /// have answered with one. They are kept with it, so that whoever shows it later can mask them; those that it does not
    /// contain are not, nor are those that cannot be told from words.
    pub fn note_secrets<'v>(&mut self, values: impl IntoIterator<Item = &'v str>) {
        let values = values.into_iter().map(str::trim);
        let missing: Vec<&str> =
            values.filter(|value| may_be_told(value) && !self.secrets.contains(*value)).collect();
        if missing.is_empty() {
            return;
        }
        let Ok(mut state) = serde_json::to_value(&*self) else { return };
        // What is noted already is nothing that was said.
        if let Json::Object(fields) = &mut state {
            fields.remove("secrets");
        }
        let mut said = String::new();
        add_texts(&state, &mut said);
        let is_said = |value: &&str| Masker::default().with_values([*value]).finds_value(&said);
        self.secrets.extend(missing.into_iter().filter(is_said).map(str::to_owned));
    }

    /// The secrets of the host that the conversation contains, as [`Self::note_secrets`] noted them.
    pub fn secrets(&self) -> impl Iterator<Item = &str> {
        self.secrets.iter().map(String::as_str)
    }

    /// The session with empty lists of messages.
    #[must_use]
    pub fn without_messages(&self) -> Self {
        let frames = |all: &[Frame]| all.iter().map(Frame::without_messages).collect();
        Self {
            version: self.version,
            id: self.id.clone(),
            program: self.program.clone(),
            status: self.status,
            turn: self.turn,
            transcript: Vec::new(),
            usage: self.usage,
            model_calls: self.model_calls,
            stack: frames(&self.stack),
            parked: frames(&self.parked),
            shared: self.shared.clone(),
            system: self.system.clone(),
            memory: self.memory.clone(),
            expires: self.expires.clone(),
            kept: self.kept.clone(),
            last_turn_at: self.last_turn_at,
            flow_steps: self.flow_steps,
            orchestration: self.orchestration,
            places: self.places.clone(),
            sensitive: self.sensitive.clone(),
            derived: self.derived.clone(),
            secrets: self.secrets.clone(),
            offered: self.offered.clone(),
            unfinished: self.unfinished.clone(),
            memory_writes: BTreeMap::new(),
        }
    }

    /// Puts lists of messages back, in the order of [`Self::message_lists`]; returns whether there
    /// are as many as this session has.
    #[must_use]
    pub fn restore_messages(&mut self, lists: Vec<Vec<Message>>) -> bool {
        let mut places = vec![&mut self.transcript];
        for frame in self.stack.iter_mut().chain(&mut self.parked) {
            let mut next = Some(frame);
            while let Some(Frame { messages, routed_by, .. }) = next {
                places.push(messages);
                next = routed_by.as_deref_mut();
            }
        }
        let fits = places.len() == lists.len();
        for (place, list) in places.iter_mut().zip(lists) {
            place.extend(list);
        }
        fits
    }

    /// All frames, each followed by those of the supervisors that routed the conversation to it.
    pub(crate) fn frames(&self) -> impl Iterator<Item = &Frame> {
        let all = self.stack.iter().chain(&self.parked);
        all.flat_map(|frame| std::iter::successors(Some(frame), |frame| frame.routed_by.as_deref()))
    }

    /// The agent in charge; `None` if all agents are done.
    #[must_use]
    pub fn agent(&self) -> Option<&str> {
        self.stack.last().map(|frame| frame.agent.as_str())
    }

    /// The value of a variable, as the agent in charge sees it: its own variables take precedence
    /// over shared ones, and those over the ones that the runtime assigns. After the end of an agent,
    /// its variables are the last ones looked at.
    #[must_use]
    pub fn variable(&self, name: &str) -> Option<Json> {
        let value = self
            .stack
            .last()
            .or_else(|| self.parked.last())
            .and_then(|frame| frame.variables.get(name))
            .or_else(|| self.shared.get(name))
            .or_else(|| self.system.get(name))
            .or_else(|| self.parked.last()?.variables.get(name))?;
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

    /// Whether a button or a menu of this id was offered in this conversation.
    #[must_use]
    pub fn has_offered(&self, id: &str) -> bool {
        self.offered.contains_key(id)
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
}

/// A tool call that requires the user's confirmation.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Proposal {
    /// The node that asks for confirmation.
    pub(crate) node: u32,
    /// The node that makes the call.
    #[serde(default)]
    pub(crate) call: u32,
    /// The tool.
    #[serde(default)]
    pub(crate) tool: String,
    /// The arguments shown to the user.
    pub(crate) arguments: Map<String, Json>,
    /// The question that the user was asked.
    #[serde(default)]
    pub(crate) question: String,
    /// Whether the agents have changed since then: what the user agrees to is what the question was about.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) before_change: bool,
    /// The turn in which confirmation was requested or given.
    pub(crate) turn: u32,
    /// When the arguments were computed: what they say of the time and of chance is what the user agrees to.
    #[serde(default)]
    pub(crate) moment: Moment,
}

/// A time, and what is random at that time.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Moment {
    /// Milliseconds since the Unix epoch.
    pub(crate) now: i64,
    /// What the random numbers follow from.
    pub(crate) seed: u64,
}

/// One of several things that the user wants, for which it is not yet its turn.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct QueuedIntent {
    /// The name by which it was chosen.
    pub(crate) name: String,
    /// The message.
    pub(crate) message: String,
    /// When it was said, in milliseconds since the Unix epoch.
    pub(crate) at: i64,
}

/// A value that the user has still to confirm.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Inference {
    /// The value.
    pub(crate) value: Json,
    /// The turn in which it was inferred.
    pub(crate) turn: u32,
}

/// The message with which an agent continues when an agent that it delegated to is done.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct HeldMessage {
    /// The text.
    pub(crate) text: String,
    /// The button that was pressed, and its value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) action: Option<(String, Option<String>)>,
    /// The files that came with it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) attachments: Vec<Attachment>,
    /// Whether the agent has still to process it.
    pub(crate) unread: bool,
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
    /// The message to continue with when the agent above is done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) held: Option<HeldMessage>,
    /// The delegations whose conditions held when they were last evaluated, each with the input that
    /// it was made with.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) delegations: BTreeMap<u32, String>,
    /// The conditions that led to a person, with a hash of the values that they read then.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) escalations: BTreeMap<String, String>,
    /// The inferred values that the user has still to confirm, by field.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) inferences: BTreeMap<String, Inference>,
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
    /// Messages that a check holds back until it passes (`BEFORE returning results`).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) withheld: Vec<AgentMessage>,
    /// The number of model requests in this turn.
    pub(crate) iterations: u32,
    /// The number of calls that the model chose in this turn.
    #[serde(default)]
    pub(crate) choices: u32,
    /// The caller's node to return to, if the agent returns.
    pub(crate) returns_to: Option<u32>,
    /// The supervisor that routed the conversation here. It routes the next message when the agent is
    /// done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) routed_by: Option<Box<Frame>>,
    /// What else the user wants, to be routed when the current agent is done.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) queue: Vec<QueuedIntent>,
    /// Whether the agent was delegated to, without taking over the conversation.
    pub(crate) delegated: bool,
    /// Whether the agent returned control to its supervisor before it was done.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) returned: bool,
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
    /// The outputs of the last action and of those in whose callbacks it was run, the outermost first: what `@outputs`
    /// reads in their callbacks. Sessions of earlier versions have an object under `outputs`.
    #[serde(rename = "callbacks", default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) outputs: Vec<Json>,
}

impl Frame {
    /// A copy with an empty list of messages.
    fn without_messages(&self) -> Self {
        Self {
            agent: self.agent.clone(),
            node: self.node,
            variables: self.variables.clone(),
            return_points: self.return_points.clone(),
            edge_counts: self.edge_counts.clone(),
            bindings: self.bindings.clone(),
            received: self.received.clone(),
            held: self.held.clone(),
            delegations: self.delegations.clone(),
            escalations: self.escalations.clone(),
            inferences: self.inferences.clone(),
            messages: Vec::new(),
            summary: self.summary.clone(),
            instructions: self.instructions.clone(),
            notes: self.notes.clone(),
            recalled: self.recalled.clone(),
            last_seen_turn: self.last_seen_turn,
            started_turn: self.started_turn,
            pending: self.pending.clone(),
            proposed: self.proposed.clone(),
            approved: self.approved.clone(),
            remote: self.remote.clone(),
            answer: self.answer.clone(),
            withheld: self.withheld.clone(),
            iterations: self.iterations,
            choices: self.choices,
            returns_to: self.returns_to,
            routed_by: self.routed_by.as_ref().map(|router| Box::new(router.without_messages())),
            queue: self.queue.clone(),
            delegated: self.delegated,
            returned: self.returned,
            failed: self.failed,
            ask_counts: self.ask_counts.clone(),
            rejections: self.rejections.clone(),
            confidential: self.confidential,
            error: self.error.clone(),
            outputs: self.outputs.clone(),
        }
    }

    pub(crate) fn new(agent: &str, node: u32, turn: u32) -> Self {
        Self {
            agent: agent.to_owned(),
            node,
            variables: State::new(),
            return_points: Vec::new(),
            edge_counts: BTreeMap::new(),
            bindings: Vec::new(),
            received: Vec::new(),
            held: None,
            delegations: BTreeMap::new(),
            escalations: BTreeMap::new(),
            inferences: BTreeMap::new(),
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
            withheld: Vec::new(),
            iterations: 0,
            choices: 0,
            returns_to: None,
            routed_by: None,
            queue: Vec::new(),
            delegated: false,
            returned: false,
            failed: false,
            ask_counts: BTreeMap::new(),
            rejections: BTreeMap::new(),
            confidential: false,
            error: None,
            outputs: Vec::new(),
        }
    }
}

/// Adds all texts of a value, names of fields and numbers included, each on a line. Values are not nested more deeply than
/// what they were read from may be.
fn add_texts(value: &Json, to: &mut String) {
    match value {
        Json::String(text) => to.extend([text.as_str(), "\n"]),
        Json::Number(number) => to.extend([&*number.to_string(), "\n"]),
        Json::Array(items) => items.iter().for_each(|item| add_texts(item, to)),
        Json::Object(fields) => {
            for (name, value) in fields {
                to.extend([name.as_str(), "\n"]);
                add_texts(value, to);
            }
        }
        Json::Null | Json::Bool(_) => {}
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

/// The nodes and edges that a session refers to, by number.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Places {
    pub(crate) nodes: BTreeMap<u32, NodePlace>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) edges: BTreeMap<u32, EdgePlace>,
}

/// What a node is called in all versions of a program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct NodePlace {
    pub(crate) agent: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) step: Option<String>,
    pub(crate) kind: String,
    /// Which of the nodes of this kind, and how many there are.
    pub(crate) at: usize,
    pub(crate) of: usize,
}

/// What an edge is called.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct EdgePlace {
    pub(crate) from: NodePlace,
    pub(crate) to: NodePlace,
    pub(crate) kind: String,
}
