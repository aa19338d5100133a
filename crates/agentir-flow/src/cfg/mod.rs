//! One control-flow graph for the agents of all languages.
//!
//! A node is a place in an agent at which something is done, asked, decided or handed on; an edge
//! says what can come next, under which conditions, who decides it, and where that is written. Both
//! borrow what they came from, so that whoever reads the graph can read what a node does.
//!
//! Edges are what *can* happen: everything that is written is taken to be possible, and the guard of
//! an edge is necessary for it, not always sufficient (an edge that also needs an intent of the user
//! carries only its conditions).
//!
//! # The shape of an agent
//!
//! ```text
//! Entry → before_agent → ON_START → TurnStart → before_turn → input guardrails → constraints
//!       → escalation → routing → first step, or Choose
//! Choose → tools → Choose; Choose → Say → TurnEnd → response checks → after_turn → COMPLETE?
//!       → Await → TurnStart
//! ```
//!
//! Every step of a flow can wait, but the turn around a wait is there once per agent: an `Await` in a
//! step has an edge of [`Why::Turn`] to the agent's `TurnEnd`, and besides it goes on to what the
//! answer leads to, as a call has an edge into what it calls and one behind it. The turn ends for such
//! a flow in `Resume`, "where it was". So that a graph stays linear in what is written, what many
//! places share (error handlers, checks before a tool is called, buttons) is built in this way too.

mod access;
mod agent;
mod body;
mod build;
mod choice;
mod handlers;
mod known;
mod query;
mod rules;
mod step;

pub use choice::iterations;

pub use access::{Access, How, Variable};
pub use known::{Knowledge, Known};
pub use query::{Loop, NodeSet, Unset};

use agentir_diagnostics::{Span, Spanned};
use agentir_expr::{Condition, Expr, Name};
use agentir_ir::{
    ActionHandler, Agent, AgentReference, Branch, CompletionCondition, Constraint,
    ConstraintFailure, Data, Delegate, Digression, ErrorHandler, Guardrail, Handoff, Hook,
    HumanOutcome, Jump, OnReturn, Profile, ReasoningZone, Remember, RoutingRule, SetVariable,
    Statement, Step, Tool, ToolBinding, Trigger,
};
use petgraph::Direction;
use petgraph::graph::{DiGraph, EdgeIndex, NodeIndex};
use petgraph::visit::EdgeRef;
use rustc_hash::FxHashMap;

/// An agent of a graph, by its place in [`agentir_ir::Program::agents`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct AgentId(pub u32);

/// What a node is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum NodeKind {
    /// The agent begins.
    Entry,
    /// A hook, `ON_START` or another procedure begins.
    Hook,
    /// A turn begins: the user has said something.
    TurnStart,
    /// A turn ends: the user has been answered.
    TurnEnd,
    /// A step begins.
    Step,
    /// Something is said to the user.
    Say,
    /// Something is told to the model.
    Instruct,
    /// Something is written to a log.
    Log,
    /// The user's next message is waited for.
    Await,
    /// The user is asked until fields are filled; those that are filled already are not asked for.
    Collect,
    /// The user is asked whether a tool may be called, and answers.
    Confirm,
    /// A tool is called.
    Call,
    /// A variable gets a value.
    Set,
    /// Variables are removed.
    Clear,
    /// A list is made from another.
    Transform,
    /// Something goes into the longer-lived memory.
    Store,
    /// The first branch whose condition holds is taken.
    Branch,
    /// The model chooses.
    Choose,
    /// Rules for handing over are tried in their order.
    Route,
    /// Something must hold: a constraint, a guardrail, `CHECK`.
    Check,
    /// What is checked before a tool is called or a conversation handed over.
    Checkpoint,
    /// What the user may do instead of answering: digressions, buttons.
    Interrupt,
    /// Something went wrong, and handlers are looked for.
    Error,
    /// Another agent does something and comes back.
    Delegate,
    /// Another agent takes over.
    Handoff,
    /// Several agents are asked at once.
    FanOut,
    /// Another agent, or a person, has come back.
    Return,
    /// A person takes over.
    Escalate,
    /// The agent is done.
    Complete,
    /// The agent is done, without success.
    Fail,
    /// The last step is over and says nothing; the agent's `COMPLETE` conditions decide.
    FlowEnd,
    /// Back to where the conversation was before.
    Resume,
    /// Where nobody knows: a step that does not exist, a target that is only known at run time.
    Unknown,
    /// Something the IR has no statement for.
    Other,
    /// The agent is over; whoever called it goes on.
    Exit,
    /// Statements that nothing leads to, because what stands before them always leaves, begin here.
    Dead,
}

impl NodeKind {
    /// Whether the user is waited for here (at [`Self::Collect`]: unless all is known).
    #[must_use]
    pub const fn waits(self) -> bool {
        matches!(self, Self::Await | Self::Collect | Self::Confirm)
    }

    /// Whether the agent's part in the conversation is over here, or may be, as far as anybody knows.
    #[must_use]
    pub const fn ends(self) -> bool {
        matches!(
            self,
            Self::Handoff
                | Self::Escalate
                | Self::Complete
                | Self::Fail
                | Self::FlowEnd
                | Self::Resume
                | Self::Unknown
                | Self::Exit
        )
    }

    /// Its name, in kebab case.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Entry => "entry",
            Self::Hook => "hook",
            Self::TurnStart => "turn-start",
            Self::TurnEnd => "turn-end",
            Self::Step => "step",
            Self::Say => "say",
            Self::Instruct => "instruct",
            Self::Log => "log",
            Self::Await => "await",
            Self::Collect => "collect",
            Self::Confirm => "confirm",
            Self::Call => "call",
            Self::Set => "set",
            Self::Clear => "clear",
            Self::Transform => "transform",
            Self::Store => "store",
            Self::Branch => "branch",
            Self::Choose => "choose",
            Self::Route => "route",
            Self::Check => "check",
            Self::Checkpoint => "checkpoint",
            Self::Interrupt => "interrupt",
            Self::Error => "error",
            Self::Delegate => "delegate",
            Self::Handoff => "handoff",
            Self::FanOut => "fan-out",
            Self::Return => "return",
            Self::Escalate => "escalate",
            Self::Complete => "complete",
            Self::Fail => "fail",
            Self::FlowEnd => "flow-end",
            Self::Resume => "resume",
            Self::Unknown => "unknown",
            Self::Other => "other",
            Self::Exit => "exit",
            Self::Dead => "dead",
        }
    }
}

/// What a node or an edge came from.
#[derive(Debug, Clone, Copy)]
pub enum Element<'a> {
    /// Nothing of its own: it follows from what the language does.
    None,
    /// The agent as a whole.
    Agent(&'a Agent),
    /// A step.
    Step(&'a Step),
    /// A statement.
    Statement(&'a Statement),
    /// An assignment outside of statements.
    Set(&'a SetVariable),
    /// A branch of a statement.
    Branch(&'a Branch),
    /// A jump.
    Jump(&'a Jump),
    /// A constraint.
    Constraint(&'a Constraint),
    /// What happens if a constraint fails.
    Failure(&'a ConstraintFailure),
    /// A guardrail.
    Guardrail(&'a Guardrail),
    /// A declared handoff.
    Handoff(&'a Handoff),
    /// A declared delegation.
    Delegate(&'a Delegate),
    /// A rule of a supervisor.
    Rule(&'a RoutingRule),
    /// What happens when an agent comes back.
    OnReturn(&'a OnReturn),
    /// A reason to escalate.
    Trigger(&'a Trigger),
    /// What happens when a person is done.
    HumanOutcome(&'a HumanOutcome),
    /// A way to be done.
    Completion(&'a CompletionCondition),
    /// Something that is remembered.
    Remember(&'a Remember),
    /// A part of the conversation that the model leads.
    Zone(&'a ReasoningZone),
    /// A tool as the model sees it.
    Offer(&'a ToolBinding),
    /// A tool.
    Tool(&'a Tool),
    /// A digression or a question that is answered inside a step.
    Digression(&'a Digression),
    /// What a button does.
    Action(&'a ActionHandler),
    /// What happens when something goes wrong.
    Handler(&'a ErrorHandler),
    /// A hook, with its name.
    Hook(&'a Hook, &'static str),
    /// A procedure that is no hook, by its name.
    Procedure(&'static str),
    /// A profile.
    Profile(&'a Profile),
    /// An agent that is only listed.
    Reference(&'a AgentReference),
    /// A name: of an agent, a tool, a step.
    Name(&'a Spanned<Name>),
    /// Something kept as it was written.
    Data(&'a Data),
}

/// A place in an agent.
#[derive(Debug, Clone, Copy)]
pub struct Node<'a> {
    /// What it is for.
    pub kind: NodeKind,
    /// Whose it is.
    pub agent: AgentId,
    /// The step it belongs to.
    pub step: Option<&'a Step>,
    /// What it came from.
    pub element: Element<'a>,
    /// Where that is written.
    pub span: Span,
}

/// Who decides that an edge is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum DecidedBy {
    /// Nobody: it is taken when it is reached.
    Nobody,
    /// A condition over the state.
    Condition,
    /// The model, from words.
    Model,
    /// The user, by what they say or press.
    User,
    /// How a call, an agent or a check turned out.
    Outcome,
}

impl DecidedBy {
    /// Its name, in kebab case.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Nobody => "nobody",
            Self::Condition => "condition",
            Self::Model => "model",
            Self::User => "user",
            Self::Outcome => "outcome",
        }
    }
}

/// Why control can go from one node to the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Why {
    /// It stands behind it.
    Next,
    /// It is the next step in the order of the flow.
    Sequence,
    /// The flow begins.
    Start,
    /// A branch.
    Branch,
    /// A jump: `THEN`, `GOTO`, `next`.
    Jump,
    /// A step that does not apply is skipped.
    Skip,
    /// The same again.
    Retry,
    /// All tries are used up.
    Exhausted,
    /// Something went wrong, or did not hold.
    Error,
    /// Something went wrong, and the agent's own handlers look after it.
    Unhandled,
    /// The user wants something else.
    Digression,
    /// The user presses something.
    Action,
    /// The turn around a wait.
    Turn,
    /// Something is checked on the way.
    Checkpoint,
    /// One of the things the model may do.
    Choice,
    /// A rule of routing, or a handoff or delegation that is declared.
    Route,
    /// Another agent begins.
    Enter,
    /// Control comes back.
    Return,
    /// The agent is done.
    Finish,
    /// A profile changes the flow.
    Profile,
    /// A definition whose name is taken by a later one.
    Shadowed,
    /// A step is named in what the model has no place for.
    Named,
}

impl Why {
    /// Its name, in kebab case.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Next => "next",
            Self::Sequence => "sequence",
            Self::Start => "start",
            Self::Branch => "branch",
            Self::Jump => "jump",
            Self::Skip => "skip",
            Self::Retry => "retry",
            Self::Exhausted => "exhausted",
            Self::Error => "error",
            Self::Unhandled => "unhandled",
            Self::Digression => "digression",
            Self::Action => "action",
            Self::Turn => "turn",
            Self::Checkpoint => "checkpoint",
            Self::Choice => "choice",
            Self::Route => "route",
            Self::Enter => "enter",
            Self::Return => "return",
            Self::Finish => "finish",
            Self::Profile => "profile",
            Self::Shadowed => "shadowed",
            Self::Named => "named",
        }
    }
}

/// Something that holds or does not.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Test<'a> {
    /// A condition; one in words is a test as well, which the model makes.
    Condition(&'a Condition),
    /// An expression, as guardrails have it.
    Expr(&'a Expr),
}

impl<'a> Test<'a> {
    /// The expression, if it is one.
    #[must_use]
    pub const fn expr(&self) -> Option<&'a Expr> {
        match self {
            Self::Condition(condition) => condition.expr(),
            Self::Expr(expr) => Some(expr),
        }
    }

    /// Where it is written.
    #[must_use]
    pub const fn span(&self) -> Span {
        match self {
            Self::Condition(condition) => condition.span(),
            Self::Expr(expr) => expr.span,
        }
    }
}

impl std::fmt::Display for Test<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Condition(condition) => f.write_str(&condition.text.value),
            Self::Expr(expr) => write!(f, "{expr}"),
        }
    }
}

/// A test and what must come of it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Literal<'a> {
    /// The test.
    pub test: Test<'a>,
    /// Whether it must hold, or must not.
    pub holds: bool,
}

/// What must hold for an edge to be taken: a conjunction of [`Literal`]s, read with [`Cfg::guard`].
///
/// The guard of the third of several branches is "not the first, not the second, the third"; that of
/// an `ELSE` is "none of them". The branches share the beginnings of their guards, so that a thousand
/// of them cost a thousand literals.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Guard(pub(crate) u32);

impl Guard {
    /// The guard that always holds.
    pub const ALWAYS: Self = Self(0);

    /// Whether it has no literal.
    #[must_use]
    pub const fn is_always(self) -> bool {
        self.0 == 0
    }
}

/// What can come after a node.
#[derive(Debug, Clone, Copy)]
pub struct Edge<'a> {
    /// Why.
    pub why: Why,
    /// Who decides.
    pub decided_by: DecidedBy,
    /// What must hold.
    pub guard: Guard,
    /// At most so many times in one run of the agent, where that is bounded.
    pub limit: Option<u32>,
    /// What says so.
    pub by: Element<'a>,
    /// Where that is written.
    pub span: Span,
}

/// Another agent that is named as the next, or as a helper.
#[derive(Debug, Clone, Copy)]
pub struct Transfer<'a> {
    /// The node that names it: of kind `Handoff` or `Delegate`.
    pub node: NodeIndex,
    /// Its name, aliases resolved.
    pub to: &'a str,
    /// Where it is named.
    pub span: Span,
    /// Where control comes back to, if it does.
    pub returns: Option<NodeIndex>,
    /// The agent, if it is among those of the graph; of two with one name the first.
    pub target: Option<AgentId>,
}

/// Statements behind one that always leaves.
#[derive(Debug, Clone, Copy)]
pub struct DeadCode<'a> {
    /// Whose they are.
    pub agent: AgentId,
    /// The one that leaves.
    pub leaves: &'a Statement,
    /// The first that is never reached.
    pub first: &'a Statement,
}

/// An agent's part of the graph.
#[derive(Debug)]
pub struct Part<'a> {
    /// The agent.
    pub agent: &'a Agent,
    /// Where it begins.
    pub entry: NodeIndex,
    /// Where it is over.
    pub exit: NodeIndex,
    /// Where it waits between turns.
    pub wait: NodeIndex,
    /// Its steps, by their names.
    steps: FxHashMap<&'a str, NodeIndex>,
    /// The tools it declares, by name; of several the first.
    tools: FxHashMap<&'a str, &'a Tool>,
    /// Its nodes are those from `first` up to, not including, `end`.
    first: u32,
    end: u32,
}

impl Part<'_> {
    /// Its nodes, in the order in which they were made: by and large, that of the source.
    pub fn nodes(&self) -> impl Iterator<Item = NodeIndex> + use<> {
        self.range().map(NodeIndex::new)
    }

    const fn range(&self) -> std::ops::Range<usize> {
        self.first as usize..self.end as usize
    }

    /// The node at which a step begins. A step that does not exist has one of kind `Unknown`, if
    /// something leads to it.
    #[must_use]
    pub fn step(&self, name: &str) -> Option<NodeIndex> {
        self.steps.get(name).copied()
    }

    /// All steps that are defined or led to, in no order.
    pub fn steps(&self) -> impl Iterator<Item = (&str, NodeIndex)> {
        self.steps.iter().map(|(name, node)| (*name, *node))
    }
}

/// A literal of a guard and the guard before it.
#[derive(Debug, Clone, Copy)]
struct Link<'a> {
    literal: Literal<'a>,
    before: Guard,
}

/// The control-flow graph of an agent or of a program.
#[derive(Debug)]
pub struct Cfg<'a> {
    graph: DiGraph<Node<'a>, Edge<'a>>,
    parts: Vec<Part<'a>>,
    /// The guard `Guard(n)` ends with the literal at `n - 1`.
    links: Vec<Link<'a>>,
    transfers: Vec<Transfer<'a>>,
    dead: Vec<DeadCode<'a>>,
    /// Whether an agent is named by a file that does not tell which agent it is.
    unmatched: bool,
    /// What each node does to variables.
    accesses: access::Kept,
    /// The same without reads.
    changes: access::Kept,
}

impl<'a> Cfg<'a> {
    /// The graph, for algorithms of petgraph's. Those that recurse are not for it.
    #[must_use]
    pub const fn graph(&self) -> &DiGraph<Node<'a>, Edge<'a>> {
        &self.graph
    }

    /// The parts of the agents, by [`AgentId`].
    #[must_use]
    pub fn parts(&self) -> &[Part<'a>] {
        &self.parts
    }

    /// The part of an agent.
    #[must_use]
    pub fn part(&self, agent: AgentId) -> Option<&Part<'a>> {
        self.parts.get(agent.0 as usize)
    }

    /// The first agent called `name`.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<AgentId> {
        let at = self.parts.iter().position(|p| p.agent.metadata.name.value == name)?;
        u32::try_from(at).ok().map(AgentId)
    }

    /// A node; `None` only for an index of another graph.
    #[must_use]
    pub fn node(&self, node: NodeIndex) -> Option<&Node<'a>> {
        self.graph.node_weight(node)
    }

    /// What can come after a node, in the order in which it is tried.
    pub fn successors(&self, node: NodeIndex) -> impl Iterator<Item = (NodeIndex, &Edge<'a>)> {
        // petgraph gives the newest first.
        let mut all: Vec<_> =
            self.graph.edges(node).map(|e| (e.id(), e.target(), e.weight())).collect();
        all.sort_by_key(|(id, ..)| *id);
        all.into_iter().map(|(_, to, edge)| (to, edge))
    }

    /// What can come before a node.
    pub fn predecessors(&self, node: NodeIndex) -> impl Iterator<Item = (NodeIndex, &Edge<'a>)> {
        let mut all: Vec<_> = self
            .graph
            .edges_directed(node, Direction::Incoming)
            .map(|e| (e.id(), e.source(), e.weight()))
            .collect();
        all.sort_by_key(|(id, ..)| *id);
        all.into_iter().map(|(_, from, edge)| (from, edge))
    }

    /// An edge with the nodes at its ends.
    #[must_use]
    pub fn edge(&self, edge: EdgeIndex) -> Option<(NodeIndex, NodeIndex, &Edge<'a>)> {
        let (from, to) = self.graph.edge_endpoints(edge)?;
        Some((from, to, self.graph.edge_weight(edge)?))
    }

    /// The literals of a guard, in the order in which they are tested.
    #[must_use]
    pub fn guard(&self, guard: Guard) -> Vec<Literal<'a>> {
        let mut all = Vec::new();
        let mut at = guard;
        while let Some(link) = at.0.checked_sub(1).and_then(|index| self.links.get(index as usize))
        {
            all.push(link.literal);
            at = link.before;
        }
        all.reverse();
        all
    }

    /// The last literal of a guard: the condition that its own branch adds to those of the branches
    /// before it; for an `ELSE` the last of the conditions that do not hold.
    #[must_use]
    pub fn last_literal(&self, guard: Guard) -> Option<Literal<'a>> {
        guard.0.checked_sub(1).and_then(|index| self.links.get(index as usize)).map(|l| l.literal)
    }

    /// The guard without its last literal: guards share their beginnings, so that what is worked out
    /// for one of them need not be worked out again for the next.
    #[must_use]
    pub fn guard_before(&self, guard: Guard) -> Guard {
        let link = guard.0.checked_sub(1).and_then(|index| self.links.get(index as usize));
        link.map_or(Guard::ALWAYS, |link| link.before)
    }

    /// The agents that are named as the next or as helpers.
    #[must_use]
    pub fn transfers(&self) -> &[Transfer<'a>] {
        &self.transfers
    }

    /// Statements that are never reached, whatever the conditions: the first of each list.
    #[must_use]
    pub fn dead_code(&self) -> &[DeadCode<'a>] {
        &self.dead
    }

    /// Whether an agent is named by a file that does not tell which agent it is, so that nobody can
    /// say who leads to whom.
    #[must_use]
    pub const fn has_unmatched_agents(&self) -> bool {
        self.unmatched
    }
}
