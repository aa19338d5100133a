//! The machine: follows the control-flow graph of a program, interacting with a user, a model and
//! tools.
//!
//! There is no second description of the control flow. A node defines an action; the machine takes
//! the first outgoing edge whose kind and guard allow it. So every conversation is a path in the
//! graph, and unreachable nodes are never entered.
//!
//! Shared parts exist only once in the graph (the turn around a wait, error handlers, checks before
//! a call). An agent records where it came from ([`ReturnPoint`]), and `Resume` returns there.

mod adopt;
mod answers;
mod authorization;
mod checks;
mod collect;
mod conditions;
mod confirmation;
mod delegates;
mod detectors;
mod escalation;
mod execute;
mod exit_conditions;
mod failed_turn;
mod fields;
mod history;
mod inferences;
mod input;
mod memory;
mod message_classifiers;
mod model_calls;
mod orchestrate;
mod plan;
mod prompt;
mod questions;
mod refusals;
mod remote;
mod render;
mod reserved;
mod resume;
mod routing;
mod scope;
mod sensitive;
mod shown;
mod stages;
mod tool_calls;
mod transfer;
mod turn;
mod uses;
mod verdicts;
mod write_access;

pub use adopt::Misfit;
pub use fields::entry_of;
pub use input::Input;
pub use sensitive::ShownSession;

use crate::host::Host;
use crate::model::Usage;
use crate::session::{
    AgentMessage, CompletedCall, Frame, ReturnPoint, RuntimeError, SESSION_VERSION, Session, Status,
};
use crate::trace::{Event, EventKind};
use agentir_eval::State;
use agentir_expr::Dialect;
use agentir_expr::dialect::Traits;
use agentir_flow::cfg::{AgentId, Cfg, Edge, EdgeKind, Node, NodeKind, Origin, Transfer};
use agentir_ir::{Agent, Program, Statement};
use petgraph::graph::{EdgeIndex, NodeIndex};
use petgraph::visit::EdgeRef;
use rustc_hash::{FxHashMap, FxHashSet};
use serde_json::Value as Json;
use stages::{STAGE_ANSWERS, STAGE_ASKS, STAGE_HANDOFF, STAGE_REFUSED, STAGE_RULE, STAGE_SKIP};
use std::cell::RefCell;
use std::fmt;

/// The maximum number of nodes that a turn may enter; exceeding it indicates an infinite loop.
const MAX_NODE_VISITS: u32 = 5_000;

/// The maximum number of nested agents.
const MAX_STACK_DEPTH: usize = 32;

/// A program that is ready to run.
pub struct Machine<'p> {
    program: &'p Program,
    /// The agents by name; the first one if several share a name.
    agents: FxHashMap<&'p str, &'p Agent>,
    cfg: Cfg<'p>,
    /// The outgoing edges of each node, in the order in which they are tried.
    outgoing: Vec<Vec<EdgeIndex>>,
    /// The agents that each node transfers control to.
    transfers: FxHashMap<NodeIndex, Vec<Transfer<'p>>>,
    /// The classifiers that the conditions of each agent require.
    classifiers: Vec<message_classifiers::Classifiers>,
    exit_variables: exit_conditions::ExitVariables<'p>,
    /// The names to mask: fields, entities and memory paths declared as sensitive.
    sensitive: FxHashSet<&'p str>,
    /// The fields that each agent and its steps collect, with the strategy of the steps that collect them.
    fields: FxHashMap<&'p str, Vec<collect::DeclaredField<'p>>>,
    /// The names of what each agent still learns: what it collects, and what tools and other agents return.
    learned: FxHashMap<&'p str, FxHashSet<&'p str>>,
    /// The variables that each agent has, with or without a value.
    variables: FxHashMap<&'p str, FxHashSet<&'p str>>,
    /// The variables that declarations of tools read.
    session_paths: std::collections::BTreeSet<String>,
    /// The variables without a type that conditions compare with numbers.
    numeric: FxHashSet<&'p str>,
    writers: write_access::Writers<'p>,
    /// The nodes that ask the user before a call, by the node of the call.
    confirmations: FxHashMap<NodeIndex, NodeIndex>,
    fingerprint: String,
}

/// The outcome of a turn.
#[derive(Clone, Debug, PartialEq)]
pub struct Turn {
    /// The messages to the user.
    pub messages: Vec<AgentMessage>,
    /// The status after the turn.
    pub status: Status,
    /// Why the turn failed. The conversation goes on unless the status is [`Status::Failed`].
    pub error: Option<String>,
}

/// The reason why a conversation cannot start or continue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StartError {
    /// There are several agents and the program does not define an entry agent.
    NoEntry,
    /// No agent has this name.
    NoAgent(String),
    /// The session belongs to another program or to another version of the runtime.
    OtherProgram,
    /// The turn was given up ([`crate::Observer::is_cancelled`]).
    Cancelled,
}

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoEntry => f.write_str("the entry agent is ambiguous; name it with `--agent`"),
            Self::NoAgent(name) => write!(f, "there is no agent `{name}`"),
            Self::OtherProgram => f.write_str(
                "the session belongs to another version of these agents; start a new session",
            ),
            Self::Cancelled => f.write_str("the turn was cancelled"),
        }
    }
}

impl std::error::Error for StartError {}

impl<'p> Machine<'p> {
    /// The agent of this name.
    pub(crate) fn agent(&self, name: &str) -> Option<&'p Agent> {
        self.agents.get(name).copied()
    }

    /// Prepares a program. Takes linear time.
    #[must_use]
    pub fn new(program: &'p Program) -> Self {
        let cfg = Cfg::of_program(program);
        let graph = cfg.graph();
        let mut outgoing = vec![Vec::new(); graph.node_count()];
        for edge in graph.edge_references() {
            if let Some(edges) = outgoing.get_mut(edge.source().index()) {
                edges.push(edge.id());
            }
        }
        outgoing.iter_mut().for_each(|edges| edges.sort_unstable());
        let mut transfers: FxHashMap<NodeIndex, Vec<Transfer<'p>>> = FxHashMap::default();
        for transfer in cfg.transfers() {
            transfers.entry(transfer.node).or_default().push(*transfer);
        }
        let parts: Vec<&str> = program
            .agents
            .iter()
            .flat_map(|a| [a.metadata.name.value.as_str(), a.metadata.source_hash.as_str()])
            .collect();
        let fingerprint = parts.join("\n");
        let classifiers = cfg
            .agents()
            .iter()
            .map(|part| message_classifiers::Classifiers::of(&cfg, part))
            .collect();
        let exit_variables = exit_conditions::ExitVariables::of(&cfg);
        let sensitive = program.agents().flat_map(sensitive::sensitive_names).collect();
        let mut agents = FxHashMap::default();
        let (mut learned, mut variables) = (FxHashMap::default(), FxHashMap::default());
        let mut fields = FxHashMap::default();
        for part in cfg.agents() {
            let name = part.agent.metadata.name.value.as_str();
            fields.entry(name).or_insert_with(|| collect::declared_fields(&cfg, part));
        }
        for agent in program.agents() {
            agents.entry(agent.metadata.name.value.as_str()).or_insert(agent);
            let name = agent.metadata.name.value.as_str();
            learned.entry(name).or_insert_with(|| checks::learned_names(agent));
            variables.entry(name).or_insert_with(|| delegates::variable_names(agent));
        }
        Self {
            program,
            agents,
            confirmations: confirmation::confirmations(&cfg),
            cfg,
            outgoing,
            transfers,
            classifiers,
            exit_variables,
            sensitive,
            fields,
            learned,
            variables,
            session_paths: tool_calls::session_paths(program),
            numeric: uses::numeric_names(program),
            writers: write_access::writers(program),
            fingerprint,
        }
    }

    /// The control-flow graph.
    #[must_use]
    pub const fn cfg(&self) -> &Cfg<'p> {
        &self.cfg
    }

    /// The program.
    #[must_use]
    pub const fn program(&self) -> &'p Program {
        self.program
    }

    /// The flow step at which a conversation waits; `None` if it waits outside of a flow.
    #[must_use]
    pub fn current_step(&self, session: &Session) -> Option<&'p str> {
        let frame = session.stack.last()?;
        let back = frame.return_points.iter().rev().map(|back| back.node);
        std::iter::once(frame.node)
            .chain(back)
            .filter_map(|node| self.cfg.node(NodeIndex::new(node as usize))?.step)
            .map(|step| step.name.value.as_str())
            .next()
    }

    /// Creates a session that starts with the program's entry agent, or with `entry`.
    ///
    /// # Errors
    /// Returns [`StartError::NoEntry`] or [`StartError::NoAgent`].
    pub fn session(&self, entry: Option<&str>) -> Result<Session, StartError> {
        let agent = match entry {
            Some(name) => {
                self.program.agent(name).ok_or_else(|| StartError::NoAgent(name.to_owned()))?
            }
            None => self.program.entry().ok_or_else(|| match &self.program.entry_agent {
                Some(name) => StartError::NoAgent(name.value.to_string()),
                None => StartError::NoEntry,
            })?,
        };
        let mut session = Session {
            version: SESSION_VERSION,
            id: String::new(),
            program: self.fingerprint.clone(),
            status: Status::Await,
            turn: 0,
            transcript: Vec::new(),
            usage: Usage::default(),
            model_calls: 0,
            stack: Vec::new(),
            parked: Vec::new(),
            shared: State::new(),
            system: State::new(),
            memory: State::new(),
            expires: std::collections::BTreeMap::new(),
            kept: std::collections::BTreeMap::new(),
            last_turn_at: None,
            flow_steps: 0,
            orchestration: None,
            places: None,
            sensitive: self.sensitive.iter().map(|name| (*name).to_owned()).collect(),
            derived: crate::derived::Derived::default(),
            secrets: std::collections::BTreeSet::new(),
            offered: std::collections::BTreeMap::new(),
            unfinished: Vec::new(),
            memory_writes: std::collections::BTreeMap::new(),
        };
        session.set_system("channel", &Json::from("web"));
        session.set_system("language", &Json::from("en"));
        let name = agent.metadata.name.value.as_str();
        let id = self.cfg.find(name).ok_or_else(|| StartError::NoAgent(name.to_owned()))?;
        let entry = self.cfg.agent(id).map_or(0, |part| part.entry.index());
        session.stack.push(Frame::new(name, index(entry), 0));
        for agent in self.program.agents() {
            scope::shared_variables(agent, &mut session.shared, &mut session.system);
        }
        Ok(session)
    }

    /// Runs one turn: in response to `input`, or the opening turn before the user says anything.
    ///
    /// # Errors
    /// Returns [`StartError::OtherProgram`], or [`StartError::Cancelled`]; the session has then stopped in
    /// the middle of the turn, and only a copy made before can continue. Errors during the
    /// conversation are part of the [`Turn`].
    pub fn turn(
        &self,
        session: &mut Session,
        input: Option<&Input>,
        host: &mut Host<'_>,
    ) -> Result<Turn, StartError> {
        if session.version != SESSION_VERSION || session.program != self.fingerprint {
            return Err(StartError::OtherProgram);
        }
        if matches!(session.status, Status::Done | Status::Failed) {
            return Ok(Turn { messages: Vec::new(), status: session.status, error: None });
        }
        if session.id.is_empty() {
            session.id = format!("{:016x}{:016x}", host.clock.random(), host.clock.random());
        }
        let input = input.map(|input| input.submitted(session));
        let mut run = Run::new(self, session, host, input);
        let now = run.host.clock.now();
        run.session.memory_writes.clear();
        run.session.remove_expired(now);
        let before = run.session.last_turn_at.replace(now);
        if let Some(error) =
            before.and_then(|before| run.session_timeout(now.saturating_sub(before)))
        {
            return Ok(run.end_timed_out(error));
        }
        // The transcript only grows, and is kept.
        let transcript = std::mem::take(&mut run.session.transcript);
        let good = run.session.clone();
        run.session.transcript = transcript;
        run.note_sensitive_values();
        run.begin_turn();
        run.ask_ahead();
        let status = match run.screen_message() {
            Some(status) => status,
            None => {
                run.restart_at_entry();
                run.run_until_wait()
            }
        };
        if run.was_cancelled() {
            return Err(StartError::Cancelled);
        }
        let turn = match run.progress.failed.take() {
            Some(failed) => run.end_failed_turn(good, failed),
            None => {
                run.settle_answers();
                run.say_that_it_was_refused(status);
                run.session.unfinished.clear();
                run.end_turn(status)
            }
        };
        self.note_places(session);
        Ok(turn)
    }

    /// A value as it may be shown: that of a sensitive variable is masked.
    #[must_use]
    pub fn masked(&self, name: &str, value: &Json) -> Json {
        if self.is_sensitive(name) && !value.is_null() { Json::from(MASK) } else { value.clone() }
    }

    /// Whether any agent declares a variable as sensitive.
    fn is_sensitive(&self, name: &str) -> bool {
        sensitive::is_one_of(name, |name| self.sensitive.contains(name))
    }
}

/// The index of a node or an edge, as stored in sessions.
fn index(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX)
}

/// The execution of one turn.
struct Run<'r, 'p, 'h> {
    machine: &'r Machine<'p>,
    session: &'r mut Session,
    host: &'r mut Host<'h>,
    /// The user's input.
    input: Option<Input>,
    /// Whether the input answers a question for a sensitive field.
    confidential: bool,
    progress: Progress,
    visits: u32,
    waited_ms: u64,
    /// The results of conditions during this visit, so that each is evaluated once.
    condition_results: FxHashMap<conditions::ConditionKey<'p>, bool>,
    /// Names that are in scope for the current evaluation only, such as the item of a list.
    locals: Vec<(smol_str::SmolStr, agentir_eval::Value)>,
    /// The clock of expressions while the arguments of a call are computed that the user is asked to confirm.
    stopped: Option<confirmation::StoppedClock>,
    /// The state of the orchestration method.
    orchestration: orchestrate::Orchestration,
    /// How often each call has succeeded in this turn, by what it consists of.
    calls_done: FxHashMap<String, u32>,
    /// Whether the turn was given up.
    cancelled: bool,
    /// Whether a condition that cannot be evaluated is an error, as in checks, whatever the language says about
    /// other conditions.
    strict: bool,
    /// Whether what is said is about a failed check or an error, not an answer.
    notice: bool,
    /// The verdicts of the model in this turn, by statement and text.
    judged: FxHashMap<(String, String), bool>,
    /// The successful tool calls of this turn.
    calls: Vec<CompletedCall>,
    /// The first expression of a text that could not be evaluated in this node.
    render_error: RefCell<Option<String>>,
    /// The questions that are asked together, and their answers.
    ahead: plan::Ahead,
    /// The values that are not shown in traces.
    sensitive: RefCell<sensitive::SensitiveValues>,
}

/// The progress of a turn. Together with the session, this is the state that speculative execution
/// saves and restores.
#[derive(Clone, Default)]
struct Progress {
    messages: Vec<AgentMessage>,
    /// Messages that are sent once the checks of their agent pass.
    unchecked: Vec<answers::Unchecked>,
    /// How often a guardrail has made the model answer again.
    reasks: u32,
    /// The verdicts of the input guardrails that were evaluated when the message came.
    screened: Vec<(refusals::Screened, verdicts::Verdict)>,
    /// The error that ends the turn, and not the conversation.
    failed: Option<RuntimeError>,
    /// How many messages there were before the reaction to such an error.
    before_error: Option<usize>,
    /// Whether the input has not been consumed yet.
    input_unread: bool,
    /// The progress within the node that is being resumed.
    stage: u32,
    /// The edge taken last.
    entered_by: Option<EdgeIndex>,
    /// The edge that an earlier node chose for an interruption.
    chosen_edge: Option<EdgeIndex>,
    /// The field whose value was rejected last, and the message about it.
    rejected: Option<(String, String)>,
    /// The agent whose fields were extracted before its collect node was reached, with the message
    /// about a rejected value.
    extracted_ahead: Option<(String, Option<String>)>,
    /// Whether the messages that the active agent was handed end with the user's message of this turn.
    passed_message: bool,
    /// Whether an agent that is done has answered the user in this turn.
    answered: bool,
    /// Whether a person has handed the conversation back in this turn.
    handed_back: bool,
    /// The call by the model that has just failed, with its node: a handler may try it again.
    failed_use: Option<(NodeIndex, crate::model::ToolUse)>,
    /// Where the conversation waited before this turn.
    waited_at: Option<crate::session::Place>,
    /// The calls of a step that begins again, which are not made again.
    reusable_calls: Vec<CompletedCall>,
    /// How many calls the turn had made when the step was entered that may begin again.
    calls_before_step: usize,
    /// What the constraints saw that have failed and have led to another step.
    failed_constraints: FxHashMap<NodeIndex, checks::FailedCheck>,
    /// Whether a check has refused something.
    refused: bool,
    /// The constraints that refuse nothing and have failed in this turn, with the values for which they did.
    noted_failures: Vec<(agentir_diagnostics::Span, Vec<agentir_eval::Value>)>,
    /// The reactions of failed constraints whose questions have been answered in this turn.
    answered_questions: Vec<agentir_diagnostics::Span>,
    /// Whether this message came to a constraint of every turn that has asked for a value.
    rule_awaits_answer: bool,
    /// The intent whose turn it is, of several that the user has.
    due_intent: Option<String>,
    error: Option<String>,
}

/// The continuation after a node.
enum Next {
    /// Take an edge.
    Take(EdgeIndex),
    /// Return to an earlier node.
    ReturnTo(ReturnPoint),
    /// Continue with another agent, whose frame is already on top of the stack.
    Switch,
    /// Stop and wait for external input.
    Stop(Status),
}

/// The continuation after a node, or an error.
type NodeResult = Result<Next, RuntimeError>;

impl RuntimeError {
    fn new(kind: &str, message: impl Into<String>) -> Self {
        Self { kind: kind.to_owned(), message: message.into() }
    }

    /// An error that indicates a mistake in the program or in the runtime.
    fn unknown(message: impl Into<String>) -> Self {
        Self::new("unknown_error", message)
    }
}

impl<'r, 'p, 'h> Run<'r, 'p, 'h> {
    fn new(
        machine: &'r Machine<'p>,
        session: &'r mut Session,
        host: &'r mut Host<'h>,
        input: Option<Input>,
    ) -> Self {
        Self {
            machine,
            session,
            host,
            confidential: false,
            sensitive: RefCell::default(),
            progress: Progress { input_unread: input.is_some(), ..Progress::default() },
            input,
            visits: 0,
            waited_ms: 0,
            condition_results: FxHashMap::default(),
            locals: Vec::new(),
            stopped: None,
            orchestration: orchestrate::Orchestration::default(),
            calls_done: FxHashMap::default(),
            cancelled: false,
            strict: false,
            notice: false,
            judged: FxHashMap::default(),
            calls: Vec::new(),
            render_error: RefCell::new(None),
            ahead: plan::Ahead::default(),
        }
    }

    /// Follows edges until the machine has to wait for external input.
    fn run_until_wait(&mut self) -> Status {
        loop {
            let Some(frame) = self.session.stack.last() else {
                return Status::Done;
            };
            let at = NodeIndex::new(frame.node as usize);
            if self.cancelled || self.host.observer.is_cancelled() {
                self.cancelled = true;
                return Status::Await;
            }
            self.visits += 1;
            self.condition_results.clear();
            if let Some(kind) = self.machine.cfg.node(at).map(|node| node.kind) {
                if self.plan_is_complete() || self.stops_speculation(at, kind) {
                    return Status::Await;
                }
                if self.restore_deferred_guardrails(at, kind) {
                    continue;
                }
                if let Some(edge) = self.detour(at, kind) {
                    if let Some(node) = self.machine.cfg.node(at).copied() {
                        self.trace(at, &node);
                    }
                    self.take_edge(edge);
                    continue;
                }
            }
            let step = if self.visits > MAX_NODE_VISITS {
                Err(RuntimeError::new(
                    "loop",
                    "the agents run in a loop without waiting for the user",
                ))
            } else {
                self.execute(at).and_then(|next| self.check_rendered().map(|()| next))
            };
            let next = match step {
                Ok(next) => next,
                Err(problem) => self.fail(at, problem),
            };
            match next {
                Next::Take(edge) => self.take_edge(edge),
                Next::ReturnTo(back) => {
                    self.progress.entered_by = None;
                    self.progress.stage = back.stage;
                    self.frame().node = back.node;
                }
                Next::Switch => self.progress.entered_by = None,
                Next::Stop(status) => return status,
            }
        }
    }

    fn take_edge(&mut self, edge: EdgeIndex) {
        let Some((_, to, weight)) = self.machine.cfg.edge(edge) else { return };
        let counts = weight.limit.is_some();
        // A flow is at one place: a step that begins leaves nothing behind to return to.
        let jumps = self.machine.cfg.node(to).is_some_and(|node| node.kind == NodeKind::Step);
        let frame = self.frame();
        if jumps {
            frame.return_points.clear();
            frame.withheld.clear();
        }
        frame.node = index(to.index());
        if counts {
            *frame.edge_counts.entry(index(edge.index())).or_default() += 1;
        }
        self.progress.entered_by = Some(edge);
        // A loop of the author is no further attempt: each pass makes its calls (ADL, B.4.6).
        let loops = matches!(weight.origin, Origin::Statement(Statement::Repeat { .. }));
        if weight.kind == EdgeKind::Retry && jumps && !loops {
            self.keep_calls_of_step();
        } else if jumps {
            self.progress.reusable_calls.clear();
            self.progress.calls_before_step = self.calls.len();
        }
    }

    /// The frame of the agent in charge; there always is one while the machine runs.
    #[expect(clippy::expect_used, reason = "`run_until_wait` stops before the stack is empty")]
    fn frame(&mut self) -> &mut Frame {
        self.session.stack.last_mut().expect("an agent is at work")
    }

    fn agent_id(&self) -> Option<AgentId> {
        self.machine.cfg.find(self.session.agent()?)
    }

    /// The agent in charge.
    fn agent(&self) -> Result<&'p Agent, RuntimeError> {
        let name = self.session.agent().unwrap_or_default();
        self.machine.agent(name).ok_or_else(|| RuntimeError::unknown("there is no such agent"))
    }

    /// The dialect of the agent in charge.
    fn dialect(&self) -> Dialect {
        self.agent().map_or_else(|_| self.machine.program.dialect(), |agent| agent.metadata.dialect)
    }

    /// How agents of its dialect behave.
    fn traits(&self) -> &'static Traits {
        self.dialect().traits()
    }

    fn node(&self, at: NodeIndex) -> Result<Node<'p>, RuntimeError> {
        self.machine
            .cfg
            .node(at)
            .copied()
            .ok_or_else(|| RuntimeError::unknown("there is no such node"))
    }

    /// The outgoing edges of a node, in the order in which they are tried.
    fn outgoing_edges(&self, at: NodeIndex) -> Vec<(EdgeIndex, NodeIndex, Edge<'p>)> {
        let edges = self.machine.outgoing.get(at.index()).map(Vec::as_slice).unwrap_or_default();
        edges
            .iter()
            .filter_map(|id| self.machine.cfg.edge(*id).map(|(_, to, edge)| (*id, to, *edge)))
            .collect()
    }

    fn emit(&mut self, kind: EventKind) {
        self.emit_as(self.session.agent().unwrap_or_default().to_owned(), kind);
    }

    /// Emits an event on behalf of an agent that is not in charge.
    fn emit_as(&mut self, agent: String, mut kind: EventKind) {
        self.mask_event(&mut kind);
        let step = self
            .session
            .stack
            .last()
            .and_then(|t| self.machine.cfg.node(NodeIndex::new(t.node as usize)))
            .and_then(|node| node.step)
            .map(|step| step.name.value.to_string());
        self.host.observer.event(&Event { turn: self.session.turn, agent, step, kind });
    }

    fn trace(&mut self, at: NodeIndex, node: &Node<'p>) {
        let why = self
            .progress
            .entered_by
            .and_then(|e| self.machine.cfg.edge(e))
            .map(|(.., e)| e.kind.name());
        self.emit(EventKind::Node {
            node: at.index(),
            kind: node.kind.name(),
            why,
            location: None,
            span: node.span,
        });
    }

    // ---- selecting edges --------------------------------------------------------------------

    /// Whether an edge is available, given its limit and whether the flow has started.
    fn can_take(&mut self, id: EdgeIndex, to: NodeIndex, edge: &Edge<'p>) -> bool {
        let kind = |at| self.machine.cfg.node(at).map(|node| node.kind);
        let from = self.machine.cfg.edge(id).and_then(|(from, ..)| kind(from));
        // When control is returned from outside, the flow resumes in any case. After a delegate it goes
        // on as it would have without it.
        let delegates = self.machine.cfg.edge(id).is_some_and(|(from, ..)| {
            let node = self.machine.cfg.node(from);
            node.is_some_and(|node| matches!(node.origin, Origin::Delegate(_)))
        });
        let resumes = edge.kind == EdgeKind::Return
            && matches!(edge.origin, Origin::Agent(_))
            && (from != Some(NodeKind::Return) || delegates)
            && kind(to) == Some(NodeKind::Resume);
        let starts = edge.kind == EdgeKind::Start;
        let frame = self.frame();
        if (starts && !frame.return_points.is_empty())
            || (resumes && frame.return_points.is_empty())
        {
            return false;
        }
        let times = frame.edge_counts.get(&index(id.index())).copied().unwrap_or(0);
        edge.limit.is_none_or(|limit| times < limit) && !self.is_out_of_time(edge)
    }

    /// The first matching edge that is available and whose guard holds.
    fn pick_edge(
        &mut self,
        at: NodeIndex,
        wanted: impl Fn(&Edge<'p>, NodeIndex) -> bool,
    ) -> Result<Option<EdgeIndex>, RuntimeError> {
        for (id, to, edge) in self.outgoing_edges(at) {
            if wanted(&edge, to) && self.can_take(id, to, &edge) && self.guard_holds(edge.guard)? {
                return Ok(Some(id));
            }
        }
        Ok(None)
    }

    /// Leaves a completed node by the first edge whose guard holds.
    fn leave(&mut self, at: NodeIndex) -> NodeResult {
        // Active profiles take precedence.
        if let Some(edge) = self.profile_edge(at)? {
            return Ok(Next::Take(edge));
        }
        // At a branch node, an escalation trigger is one of the alternatives.
        let asks = self.machine.cfg.node(at).is_some_and(|node| node.kind == NodeKind::Branch);
        let usual = |edge: &Edge<'p>, _: NodeIndex| {
            leads_onward(edge.kind)
                || edge.kind == EdgeKind::Turn
                || (asks && edge.kind == EdgeKind::Route)
        };
        if let Some(edge) = self.pick_edge(at, usual)? {
            return Ok(Next::Take(edge));
        }
        // A message that is sent because of an error continues along the error edge.
        let cfg = &self.machine.cfg;
        let goes_on = |edge: &Edge<'p>, to: NodeIndex| {
            matches!(edge.kind, EdgeKind::Error | EdgeKind::Exhausted)
                && cfg.node(to).is_some_and(|n| n.kind != NodeKind::Error)
        };
        match self.pick_edge(at, goes_on)? {
            Some(edge) => Ok(Next::Take(edge)),
            None => {
                let mut edges = self.outgoing_edges(at).into_iter();
                let limited = edges.any(|(id, to, edge)| {
                    edge.limit.is_some() && leads_onward(edge.kind) && !self.can_take(id, to, &edge)
                });
                Err(match limited {
                    true => RuntimeError::new("loop", "the same is done again and again"),
                    false => RuntimeError::unknown("no outgoing edge can be taken"),
                })
            }
        }
    }
}

/// The error of a check that cannot be evaluated.
fn check_error(check: &str, why: &str) -> RuntimeError {
    RuntimeError::new(CHECK_ERROR, format!("`{check}` cannot be evaluated: {why}"))
}

/// The kind of error of a check that cannot be evaluated.
const CHECK_ERROR: &str = "check_error";

/// Whether an edge continues the regular control flow, as opposed to interruptions, checks, errors
/// and alternatives.
const fn leads_onward(why: EdgeKind) -> bool {
    matches!(
        why,
        EdgeKind::Next
            | EdgeKind::Sequence
            | EdgeKind::Start
            | EdgeKind::Branch
            | EdgeKind::Jump
            | EdgeKind::Skip
            | EdgeKind::Retry
            | EdgeKind::Return
            | EdgeKind::Finish
    )
}

/// Replaces sensitive values in traces.
const MASK: &str = "***";
