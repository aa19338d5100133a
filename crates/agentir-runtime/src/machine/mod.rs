//! The machine: walks the control-flow graph of a program, with a user, a model and tools.
//!
//! There is no second description of what can follow what. A node says what is done; among the edges
//! that leave it the machine takes the first that its guard and its reason allow. Whatever a
//! conversation does is therefore a path in the graph, and what the graph says is unreachable is
//! never entered.
//!
//! What many places share is in the graph once (the turn around a wait, handlers of errors, checks
//! before a call); an agent remembers where it came from ([`Back`]), and `Resume` leads back there.

mod call;
mod checks;
mod collect;
mod confirm;
mod converse;
mod detect;
mod effects;
mod memory;
mod notice;
mod orchestrate;
mod prompt;
mod remote;
mod render;
mod route;
mod scope;
mod transfer;
mod until;

use crate::host::Host;
use crate::model::{Message, Role, Usage};
use crate::session::{Back, Problem, SESSION_VERSION, Session, Status, Thread};
use crate::trace::{Event, What};
use agentir_eval::State;
use agentir_expr::{Condition, Dialect};
use agentir_flow::cfg::{
    AgentId, Cfg, Edge, EdgeKind, Guard, Node, NodeKind, Origin, Test, Transfer,
};
use agentir_ir::{Agent, Node as IrNode, NumberOrText, Program};
use petgraph::graph::{EdgeIndex, NodeIndex};
use petgraph::visit::EdgeRef;
use rustc_hash::{FxHashMap, FxHashSet};
use scope::Scope;
use serde_json::Value as Json;
use std::fmt;

/// So many nodes one turn may enter. What needs more turns in circles.
const MAX_VISITS: u32 = 5_000;

/// So many agents may wait for each other.
const MAX_STACK: usize = 32;

/// A program, ready to be run.
pub struct Machine<'p> {
    program: &'p Program,
    cfg: Cfg<'p>,
    /// What leaves each node, in the order in which it is tried.
    leaving: Vec<Vec<EdgeIndex>>,
    /// Whom each node leads to.
    transfers: FxHashMap<NodeIndex, Vec<Transfer<'p>>>,
    /// What conditions ask about messages, by agent.
    asked: Vec<notice::Asked>,
    awaited: until::Awaited<'p>,
    /// What must not be shown: names of fields and entities, and paths of memory.
    sensitive: FxHashSet<&'p str>,
    fingerprint: String,
}

/// What the user sent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Input {
    /// What they said.
    pub text: String,
    /// The button they pressed or the menu they used: its id, and its value.
    pub action: Option<(String, Option<String>)>,
}

impl Input {
    /// Words.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self { text: text.into(), action: None }
    }
}

/// Something the user is told.
#[derive(Clone, Debug, PartialEq)]
pub struct Said {
    /// By which agent.
    pub agent: String,
    /// What.
    pub text: String,
    /// Buttons, menus and inputs beside it.
    pub actions: Option<Json>,
}

/// What came of a message.
#[derive(Clone, Debug, PartialEq)]
pub struct Turn {
    /// What the user is told.
    pub said: Vec<Said>,
    /// How the conversation stands.
    pub status: Status,
    /// What went wrong, if the status says so.
    pub error: Option<String>,
}

/// Why a conversation cannot begin or go on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StartError {
    /// No agent talks to the user first: there are several, and nothing says which.
    NoEntry,
    /// There is no agent of this name.
    NoAgent(String),
    /// The session was begun with another program, or by another version.
    OtherProgram,
}

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoEntry => f.write_str(
                "it is not clear which agent talks to the user first; name it with `--agent`",
            ),
            Self::NoAgent(name) => write!(f, "there is no agent `{name}`"),
            Self::OtherProgram => f.write_str(
                "the session was begun with another version of these agents; begin a new one",
            ),
        }
    }
}

impl std::error::Error for StartError {}

impl<'p> Machine<'p> {
    /// Makes a program ready. Linear in its size.
    #[must_use]
    pub fn new(program: &'p Program) -> Self {
        let cfg = Cfg::of_program(program);
        let graph = cfg.graph();
        let mut leaving = vec![Vec::new(); graph.node_count()];
        for edge in graph.edge_references() {
            if let Some(edges) = leaving.get_mut(edge.source().index()) {
                edges.push(edge.id());
            }
        }
        leaving.iter_mut().for_each(|edges| edges.sort_unstable());
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
        let asked = cfg.agents().iter().map(|part| notice::Asked::of(&cfg, part)).collect();
        let awaited = until::Awaited::of(&cfg);
        let sensitive = program.agents.iter().flat_map(sensitive).collect();
        Self { program, cfg, leaving, transfers, asked, awaited, sensitive, fingerprint }
    }

    /// The graph that is walked.
    #[must_use]
    pub const fn cfg(&self) -> &Cfg<'p> {
        &self.cfg
    }

    /// The program.
    #[must_use]
    pub const fn program(&self) -> &'p Program {
        self.program
    }

    /// The step of a flow at which a conversation stands: where the agent at work waits, whatever ends
    /// its turns stands in no step.
    #[must_use]
    pub fn step(&self, session: &Session) -> Option<&'p str> {
        let thread = session.stack.last()?;
        let places = std::iter::once(thread.node).chain(thread.back.last().map(|back| back.node));
        places
            .filter_map(|node| self.cfg.node(NodeIndex::new(node as usize))?.step)
            .map(|step| step.name.value.as_str())
            .next()
    }

    /// A new conversation, with the agent that talks to the user first or with `entry`.
    ///
    /// # Errors
    /// [`StartError::NoEntry`], [`StartError::NoAgent`].
    pub fn session(&self, entry: Option<&str>) -> Result<Session, StartError> {
        let agent = match entry {
            Some(name) => {
                self.program.agent(name).ok_or_else(|| StartError::NoAgent(name.to_owned()))?
            }
            None => self.program.entry().ok_or(StartError::NoEntry)?,
        };
        let mut session = Session {
            version: SESSION_VERSION,
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
            last: None,
            flow_steps: 0,
            orchestration: None,
        };
        session.set_system("channel", &Json::from("web"));
        session.set_system("language", &Json::from("en"));
        let name = agent.metadata.name.value.as_str();
        let id = self.cfg.find(name).ok_or_else(|| StartError::NoAgent(name.to_owned()))?;
        let entry = self.cfg.agent(id).map_or(0, |part| part.entry.index());
        session.stack.push(Thread::new(name, index(entry), 0));
        for agent in &self.program.agents {
            scope::shared_variables(agent, &mut session.shared);
        }
        Ok(session)
    }

    /// Lets the agents do what they do before the user says anything, or as an answer to a message.
    ///
    /// # Errors
    /// [`StartError::OtherProgram`]. What goes wrong in the conversation is in the [`Turn`].
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
            return Ok(Turn { said: Vec::new(), status: session.status, error: None });
        }
        let mut run = Run {
            machine: self,
            session,
            host,
            input: input.cloned(),
            confidential: false,
            progress: Progress { fresh: input.is_some(), ..Progress::default() },
            visits: 0,
            judged: FxHashMap::default(),
            locals: Vec::new(),
            methods: orchestrate::Orchestration::default(),
        };
        let now = run.host.clock.now();
        run.session.forget(now);
        let before = run.session.last.replace(now);
        if let Some(error) = before.and_then(|before| run.expired(now.saturating_sub(before))) {
            return Ok(run.end_expired(error));
        }
        run.begin();
        let status = run.go();
        Ok(run.end(status))
    }
}

/// What an agent declares as sensitive, the fields that its steps ask for included.
fn sensitive(agent: &Agent) -> Vec<&str> {
    let mut names = Vec::new();
    agent.walk(&mut |node| {
        if let IrNode::Field(field) = node
            && field.sensitive == Some(true)
        {
            names.push(field.name.value.as_str());
        }
    });
    let paths = agent.memory.persistent.iter().filter(|p| p.sensitive == Some(true));
    let entities = agent.entities.iter().filter(|e| e.sensitive == Some(true));
    names.extend(entities.map(|e| e.name.value.as_str()));
    names.extend(paths.map(|p| p.path.value.as_str()));
    names
}

/// A node's or an edge's number, as sessions keep it.
fn index(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX)
}

/// One turn.
struct Run<'r, 'p, 'h> {
    machine: &'r Machine<'p>,
    session: &'r mut Session,
    host: &'r mut Host<'h>,
    /// What the user sent.
    input: Option<Input>,
    /// Whether what the user sent answers a question for something that must not be shown.
    confidential: bool,
    progress: Progress,
    visits: u32,
    /// What conditions gave at this visit, by their address: each is asked once.
    judged: FxHashMap<usize, bool>,
    /// Names that only exist where something is evaluated: the item of a list.
    locals: Vec<(smol_str::SmolStr, agentir_eval::Value)>,
    /// What a method of orchestration remembers.
    methods: orchestrate::Orchestration,
}

/// How far a turn is. With the session it is all that is as it was where a turn is tried out and taken
/// back.
#[derive(Clone, Default)]
struct Progress {
    said: Vec<Said>,
    /// Whether nobody has taken yet what the user sent.
    fresh: bool,
    /// How far the node was that is come back to.
    stage: u32,
    /// The edge that was taken last.
    arrived: Option<EdgeIndex>,
    /// The edge that a node before has chosen already: out of an interruption.
    chosen: Option<EdgeIndex>,
    /// The field whose value was refused last, and what is wrong with it.
    refused: Option<(String, String)>,
    /// The agent that has taken values from the message before it came to where it asks for them, with
    /// what it has to say about one that was refused.
    ahead: Option<(String, Option<String>)>,
    /// Whether the user was told something in this turn by an agent that is done.
    answered: bool,
    error: Option<String>,
}

/// How it goes on behind a node.
enum Next {
    /// Along an edge.
    Take(EdgeIndex),
    /// Back to where the agent was before.
    Back(Back),
    /// Another agent goes on; its place is set already.
    Switch,
    /// Not before somebody else does something.
    Stop(Status),
}

/// What the machine does or what went wrong.
type Step = Result<Next, Problem>;

impl Problem {
    fn new(kind: &str, message: impl Into<String>) -> Self {
        Self { kind: kind.to_owned(), message: message.into() }
    }

    /// Something that only a mistake of the author's or of ours explains.
    fn unknown(message: impl Into<String>) -> Self {
        Self::new("unknown_error", message)
    }
}

impl<'r, 'p> Run<'r, 'p, '_> {
    fn begin(&mut self) {
        let Some(input) = self.input.clone() else { return };
        self.session.turn += 1;
        let last = self.session.stack.last_mut();
        let confidential = last.is_some_and(|thread| std::mem::take(&mut thread.confidential));
        self.confidential = confidential;
        let shown = if confidential { HIDDEN } else { input.text.as_str() };
        self.emit(What::Input { text: shown.to_owned() });
        self.session.transcript.push(Message::new(Role::User, input.text.as_str()));
        self.session.set_system("input", &Json::from(input.text.as_str()));
        self.session.set_system("recent_input", &Json::from(input.text.as_str()));
        if let Some(thread) = self.session.stack.last_mut() {
            thread.iterations = 0;
        }
    }

    /// Whether the user was silent for longer than the agent at work waits (ABL, current specification,
    /// 7.11), and what is said about it.
    fn expired(&self, idle: i64) -> Option<String> {
        let limit = match &self.agent().ok()?.execution.timeouts.session_timeout_ms {
            NumberOrText::Number(n) => n.0,
            NumberOrText::Text(text) => call::milliseconds(text)?,
        };
        (self.dialect() == Dialect::Abl && idle as f64 > limit).then(|| {
            let (idle, limit) = (idle / 1_000, limit / 1_000.0);
            format!(
                "the user was silent for {idle} seconds, and the session is kept for {limit} (`session_timeout_ms`)"
            )
        })
    }

    /// Nothing is done any more.
    fn end_expired(&mut self, message: String) -> Turn {
        let kind = "session_timeout".to_owned();
        self.emit(What::Error { kind, message: message.clone() });
        self.progress.error = Some(message);
        self.end(Status::Failed)
    }

    fn end(&mut self, status: Status) -> Turn {
        self.session.status = status;
        let said = std::mem::take(&mut self.progress.said);
        for one in &said {
            self.session.transcript.push(Message::new(Role::Assistant, one.text.as_str()));
        }
        self.emit(What::TurnEnd { status: status.name() });
        Turn { said, status, error: self.progress.error.take() }
    }

    /// Walks until somebody else has to do something.
    fn go(&mut self) -> Status {
        loop {
            let Some(thread) = self.session.stack.last() else {
                return Status::Done;
            };
            let at = NodeIndex::new(thread.node as usize);
            self.visits += 1;
            self.judged.clear();
            if let Some(kind) = self.machine.cfg.node(at).map(|node| node.kind) {
                if self.halts(at, kind) {
                    return Status::Await;
                }
                if self.unmerge(at, kind) {
                    continue;
                }
            }
            let step = if self.visits > MAX_VISITS {
                Err(Problem::new("loop", "the agents go round in circles without the user"))
            } else {
                self.visit(at)
            };
            let next = match step {
                Ok(next) => next,
                Err(problem) => self.fail(at, problem),
            };
            match next {
                Next::Take(edge) => self.take(edge),
                Next::Back(back) => {
                    self.progress.arrived = None;
                    self.progress.stage = back.stage;
                    self.thread().node = back.node;
                }
                Next::Switch => self.progress.arrived = None,
                Next::Stop(status) => return status,
            }
        }
    }

    fn take(&mut self, edge: EdgeIndex) {
        let Some((_, to, weight)) = self.machine.cfg.edge(edge) else { return };
        let counts = weight.limit.is_some();
        let thread = self.thread();
        thread.node = index(to.index());
        if counts {
            *thread.taken.entry(index(edge.index())).or_default() += 1;
        }
        self.progress.arrived = Some(edge);
    }

    /// The agent at work. There always is one while the machine walks.
    #[expect(clippy::expect_used, reason = "`go` stops before the stack is empty")]
    fn thread(&mut self) -> &mut Thread {
        self.session.stack.last_mut().expect("an agent is at work")
    }

    fn id(&self) -> Option<AgentId> {
        self.machine.cfg.find(self.session.agent()?)
    }

    /// The agent at work.
    fn agent(&self) -> Result<&'p Agent, Problem> {
        let name = self.session.agent().unwrap_or_default();
        self.machine.program.agent(name).ok_or_else(|| Problem::unknown("there is no such agent"))
    }

    fn dialect(&self) -> Dialect {
        let name = self.agent().map_or("abl", |agent| agent.metadata.dialect);
        Dialect::from_name(name).unwrap_or(Dialect::Abl)
    }

    fn node(&self, at: NodeIndex) -> Result<Node<'p>, Problem> {
        self.machine.cfg.node(at).copied().ok_or_else(|| Problem::unknown("there is no such place"))
    }

    /// What leaves a node, in the order in which it is tried.
    fn leaving(&self, at: NodeIndex) -> Vec<(EdgeIndex, NodeIndex, Edge<'p>)> {
        let edges = self.machine.leaving.get(at.index()).map(Vec::as_slice).unwrap_or_default();
        edges
            .iter()
            .filter_map(|id| self.machine.cfg.edge(*id).map(|(_, to, edge)| (*id, to, *edge)))
            .collect()
    }

    fn emit(&mut self, what: What) {
        self.emit_as(self.session.agent().unwrap_or_default().to_owned(), what);
    }

    /// Something happened that another agent than the one at work did.
    fn emit_as(&mut self, agent: String, what: What) {
        let step = self
            .session
            .stack
            .last()
            .and_then(|t| self.machine.cfg.node(NodeIndex::new(t.node as usize)))
            .and_then(|node| node.step)
            .map(|step| step.name.value.to_string());
        self.host.observer.event(&Event { turn: self.session.turn, agent, step, what });
    }

    fn trace(&mut self, at: NodeIndex, node: &Node<'p>) {
        let why = self
            .progress
            .arrived
            .and_then(|e| self.machine.cfg.edge(e))
            .map(|(.., e)| e.kind.name());
        self.emit(What::Node {
            node: at.index(),
            kind: node.kind.name(),
            why,
            place: None,
            span: node.span,
        });
    }

    // ---- conditions -------------------------------------------------------------------------

    fn scope(&self) -> Scope<'_> {
        let others = self.dialect() == Dialect::Adl;
        Scope::new(self.session, &self.locals, self.host.clock, others)
    }

    /// Whether all of a guard's tests come out as it wants.
    fn holds(&mut self, guard: Guard) -> Result<bool, Problem> {
        for literal in self.machine.cfg.guard(guard) {
            if self.test(&literal.test)? != literal.holds {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn test(&mut self, test: &Test<'p>) -> Result<bool, Problem> {
        match test {
            Test::Condition(condition) => self.condition(condition),
            Test::Expr(expr) => {
                let dialect = self.dialect();
                let value = agentir_eval::evaluate(expr, &self.scope(), dialect);
                // A check that cannot be made finds nothing.
                Ok(value.is_ok_and(|v| agentir_eval::truthy(&v, agentir_eval::semantics(dialect))))
            }
        }
    }

    /// Whether a condition holds: by the evaluator, or by the model if it is in words. Each is asked
    /// once where branches are chosen among, on the state as it was before any of them.
    fn condition(&mut self, condition: &'p Condition) -> Result<bool, Problem> {
        let key = std::ptr::from_ref(condition).addr();
        if let Some(known) = self.judged.get(&key) {
            return Ok(*known);
        }
        let (holds, decided_by) = match condition.expr() {
            Some(expr) => {
                let dialect = self.dialect();
                let outcome = agentir_eval::outcome(expr, &self.scope(), dialect);
                match outcome {
                    agentir_eval::Outcome::True => {
                        self.captures(expr);
                        (true, "expression")
                    }
                    agentir_eval::Outcome::False => (false, "expression"),
                    agentir_eval::Outcome::Error => {
                        let text = &condition.text.value;
                        return Err(Problem::unknown(format!("`{text}` cannot be evaluated")));
                    }
                }
            }
            None => (self.judge_user(&condition.text.value)?, "model"),
        };
        self.emit(What::Condition {
            condition: condition.text.value.to_string(),
            holds,
            decided_by,
        });
        self.judged.insert(key, holds);
        Ok(holds)
    }

    // ---- choosing among edges ---------------------------------------------------------------

    /// Whether an edge may still be taken: by its limit, and by whether the flow has begun.
    fn open(&mut self, id: EdgeIndex, to: NodeIndex, edge: &Edge<'p>) -> bool {
        let kind = |at| self.machine.cfg.node(at).map(|node| node.kind);
        let from = self.machine.cfg.edge(id).and_then(|(from, ..)| kind(from));
        // Where somebody gives the conversation back it goes on in any case.
        let resumes = edge.kind == EdgeKind::Return
            && matches!(edge.origin, Origin::Agent(_))
            && from != Some(NodeKind::Return)
            && kind(to) == Some(NodeKind::Resume);
        let starts = edge.kind == EdgeKind::Start;
        let thread = self.thread();
        if (starts && !thread.back.is_empty()) || (resumes && thread.back.is_empty()) {
            return false;
        }
        let times = thread.taken.get(&index(id.index())).copied().unwrap_or(0);
        edge.limit.is_none_or(|limit| times < limit)
    }

    /// The first edge that is wanted, may still be taken, and whose guard holds.
    fn pick(
        &mut self,
        at: NodeIndex,
        wanted: impl Fn(&Edge<'p>, NodeIndex) -> bool,
    ) -> Result<Option<EdgeIndex>, Problem> {
        for (id, to, edge) in self.leaving(at) {
            if wanted(&edge, to) && self.open(id, to, &edge) && self.holds(edge.guard)? {
                return Ok(Some(id));
            }
        }
        Ok(None)
    }

    /// Leaves a node that is done in the way that its guards say.
    fn leave(&mut self, at: NodeIndex) -> Step {
        // Where a profile is active, what it says comes first.
        if let Some(edge) = self.profile_edge(at)? {
            return Ok(Next::Take(edge));
        }
        // A reason to escalate that has come about is a way out of the question whether it has.
        let asks = self.machine.cfg.node(at).is_some_and(|node| node.kind == NodeKind::Branch);
        let usual = |edge: &Edge<'p>, _: NodeIndex| {
            onward(edge.kind)
                || edge.kind == EdgeKind::Turn
                || (asks && edge.kind == EdgeKind::Route)
        };
        if let Some(edge) = self.pick(at, usual)? {
            return Ok(Next::Take(edge));
        }
        // What is said because of an error goes on because of it.
        let cfg = &self.machine.cfg;
        let goes_on = |edge: &Edge<'p>, to: NodeIndex| {
            matches!(edge.kind, EdgeKind::Error | EdgeKind::Exhausted)
                && cfg.node(to).is_some_and(|n| n.kind != NodeKind::Error)
        };
        match self.pick(at, goes_on)? {
            Some(edge) => Ok(Next::Take(edge)),
            None => Err(Problem::unknown("nothing follows")),
        }
    }

    /// Something went wrong at a node: its step's handlers look after it, then the agent's.
    fn fail(&mut self, at: NodeIndex, problem: Problem) -> Next {
        self.emit(What::Error { kind: problem.kind.clone(), message: problem.message.clone() });
        self.session.set_system(
            "_error",
            &serde_json::json!({ "type": problem.kind, "message": problem.message }),
        );
        let hub = self.leaving(at).into_iter().find(|(_, to, edge)| {
            matches!(edge.kind, EdgeKind::Error | EdgeKind::Unhandled) && self.is_hub(*to)
        });
        let message = problem.message.clone();
        let endless = problem.kind == "loop";
        self.thread().error = Some(problem);
        match hub {
            Some((edge, ..)) if !endless => {
                let back = Back { node: index(at.index()), stage: SKIP };
                self.thread().back.push(back);
                Next::Take(edge)
            }
            _ => self.give_up(message),
        }
    }

    /// Nobody handles what went wrong.
    fn give_up(&mut self, message: String) -> Next {
        let messages = self.agent().ok().map(|a| &a.messages);
        let own = messages.and_then(|all| all.get("error_default").or_else(|| all.get("error")));
        match own {
            Some(response) => self.respond(response),
            None => self.say("Sorry, something went wrong.", None),
        }
        self.progress.error = Some(message);
        self.thread().failed = true;
        Next::Stop(Status::Failed)
    }
}

/// Whether an edge is a way on: not what interrupts, checks, fails or is only possible. How the way on
/// is written (behind it, a jump, the next step) makes no difference to whoever is done.
const fn onward(why: EdgeKind) -> bool {
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

/// What a trace shows of what must not be shown.
const HIDDEN: &str = "***";

/// The stage of a node at which something went wrong and was handled: it is left without being done
/// again.
const SKIP: u32 = u32::MAX;
