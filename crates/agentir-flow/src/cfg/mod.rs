//! The control-flow graph of an agent or a program, one representation for all languages.
//!
//! A node is a program point: a statement, a check, a choice, a transfer. An edge says what can
//! come next, under which conditions, who decides, and where the source says so. Both borrow their
//! origin in the IR.
//!
//! Edges over-approximate: every written edge is taken to be possible. The guard of an edge is
//! necessary, not always sufficient (an edge that also needs an intent of the user carries only its
//! conditions).
//!
//! # The graph of an agent
//!
//! ```text
//! Entry → before_agent → ON_START → TurnStart → before_turn → input guardrails → constraints
//!       → escalation → routing → first step, or Choose
//! Choose → tools → Choose; Choose → Say → TurnEnd → after_turn → COMPLETE? → Await → TurnStart
//! ```
//!
//! Every step of a flow can wait, but the turn around a wait exists once per agent. An `Await` in a
//! step has an edge of [`EdgeKind::Turn`] to the agent's `TurnEnd`, and further edges to the
//! continuation after the user's answer, as a call has an edge into its callee and one to its
//! continuation. In such a flow the turn ends in `Resume`, which stands for the program point of
//! the wait. Other shared parts (error handlers, checks before a tool call or an answer, buttons) are built in
//! the same way, so that a graph stays linear in the size of the source.

mod agent;
mod body;
mod build;
mod checks;
mod choice;
mod def_use;
mod exit_variables;
mod facts;
mod handlers;
mod query;
mod step;

pub use choice::iterations;

pub use def_use::{Access, AccessKind, Variable};
pub use facts::{Fact, Facts};
pub use query::{Loop, NodeSet, UninitializedRead};

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

/// An agent of a graph: its index in [`agentir_ir::Program::agents`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct AgentId(pub u32);

impl AgentId {
    /// Its position among the agents.
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// The kind of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum NodeKind {
    /// The agent is entered.
    Entry,
    /// A hook, `ON_START` or another procedure begins.
    Hook,
    /// A turn begins with a message of the user.
    TurnStart,
    /// A turn ends with an answer.
    TurnEnd,
    /// A step begins.
    Step,
    /// A message to the user.
    Say,
    /// An instruction to the model.
    Instruct,
    /// A log entry.
    Log,
    /// A wait for the user's next message.
    Await,
    /// The user is asked until all fields are filled. Filled fields are skipped.
    Collect,
    /// The user is asked to confirm a tool call.
    Confirm,
    /// A tool call.
    Call,
    /// An assignment.
    Set,
    /// Variables are removed.
    Clear,
    /// A list is computed from another one.
    Transform,
    /// A value is written to persistent memory.
    Store,
    /// The first branch whose condition holds is taken.
    Branch,
    /// The model chooses.
    Choose,
    /// Routing rules are tried in order.
    Route,
    /// A condition must hold: a constraint, a guardrail, `CHECK`.
    Check,
    /// The checks before a tool call or a handoff.
    Checkpoint,
    /// Alternatives to an answer of the user: digressions, buttons.
    Interrupt,
    /// An error occurred; its handlers are tried.
    Error,
    /// A call of another agent, which returns.
    Delegate,
    /// A transfer to another agent.
    Handoff,
    /// Several agents are called in parallel.
    FanOut,
    /// Control returns from another agent or from a person.
    Return,
    /// A transfer to a person.
    Escalate,
    /// The agent completes.
    Complete,
    /// The agent fails.
    Fail,
    /// The last step ends without a jump; the agent's `COMPLETE` conditions decide.
    FlowEnd,
    /// Control returns to where the conversation was interrupted.
    Resume,
    /// An unknown target: an undefined step, or a target that is only known at run time.
    Unknown,
    /// A statement without an IR form.
    Other,
    /// The agent is left; its caller continues.
    Exit,
    /// The start of statements that are unreachable because the statement before them always
    /// leaves.
    Dead,
}

impl NodeKind {
    /// Whether the node waits for the user. [`Self::Collect`] waits only if a field is empty.
    #[must_use]
    pub const fn waits(self) -> bool {
        matches!(self, Self::Await | Self::Collect | Self::Confirm)
    }

    /// Whether the agent ends at the node, or may end, as far as the source tells.
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

    /// Whether an answer that is still to be checked leaves the agent at the node: the turn ends, or the agent is left.
    #[must_use]
    pub const fn releases_answers(self) -> bool {
        matches!(
            self,
            Self::TurnEnd
                | Self::Complete
                | Self::Fail
                | Self::Escalate
                | Self::Handoff
                | Self::Delegate
                | Self::FanOut
                | Self::Exit
        )
    }

    /// Whether the node is something that is written in a step or a procedure, and not the place where one begins, where it
    /// is decided what comes next, or where something ends.
    #[must_use]
    pub const fn is_statement(self) -> bool {
        match self {
            Self::Say
            | Self::Instruct
            | Self::Await
            | Self::Collect
            | Self::Call
            | Self::Set
            | Self::Clear
            | Self::Transform
            | Self::Store
            | Self::Check
            | Self::Branch
            | Self::Delegate
            | Self::Handoff
            | Self::Escalate
            | Self::Complete => true,
            Self::Entry
            | Self::Hook
            | Self::TurnStart
            | Self::TurnEnd
            | Self::Step
            | Self::Log
            | Self::Confirm
            | Self::Choose
            | Self::Route
            | Self::Checkpoint
            | Self::Interrupt
            | Self::Error
            | Self::FanOut
            | Self::Return
            | Self::Fail
            | Self::FlowEnd
            | Self::Resume
            | Self::Unknown
            | Self::Other
            | Self::Exit
            | Self::Dead => false,
        }
    }

    /// Whether another agent takes over at the node.
    #[must_use]
    pub const fn transfers(self) -> bool {
        matches!(self, Self::Handoff | Self::Delegate)
    }

    /// Its name in kebab case.
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

/// The part of the IR that a node or an edge comes from.
#[derive(Debug, Clone, Copy)]
pub enum Origin<'a> {
    /// Nothing: it follows from the semantics of the language.
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
    /// The consequences of a failed constraint.
    Failure(&'a ConstraintFailure),
    /// A guardrail.
    Guardrail(&'a Guardrail),
    /// A declared handoff.
    Handoff(&'a Handoff),
    /// A declared delegation.
    Delegate(&'a Delegate),
    /// A routing rule of a supervisor.
    Rule(&'a RoutingRule),
    /// The continuation after another agent returns.
    OnReturn(&'a OnReturn),
    /// An escalation trigger.
    Trigger(&'a Trigger),
    /// An outcome of a handover to a person.
    HumanOutcome(&'a HumanOutcome),
    /// A completion condition.
    Completion(&'a CompletionCondition),
    /// A `REMEMBER` rule.
    Remember(&'a Remember),
    /// A part of the conversation that the model leads.
    Zone(&'a ReasoningZone),
    /// A tool as it is exposed to the model.
    ToolBinding(&'a ToolBinding),
    /// A tool.
    Tool(&'a Tool),
    /// A digression or a sub-intent of a step.
    Digression(&'a Digression),
    /// The handler of a button.
    Action(&'a ActionHandler),
    /// An error handler.
    Handler(&'a ErrorHandler),
    /// A hook, with its name.
    Hook(&'a Hook, &'static str),
    /// The name of a procedure that is not a hook.
    Procedure(&'static str),
    /// A profile.
    Profile(&'a Profile),
    /// An agent that is only listed.
    Reference(&'a AgentReference),
    /// The name of an agent, a tool or a step.
    Name(&'a Spanned<Name>),
    /// Data that the IR keeps verbatim.
    Data(&'a Data),
}

/// A node of the graph.
#[derive(Debug, Clone, Copy)]
pub struct Node<'a> {
    /// Its kind.
    pub kind: NodeKind,
    /// The agent that it belongs to.
    pub agent: AgentId,
    /// The step that it belongs to.
    pub step: Option<&'a Step>,
    /// The part of the IR that it comes from.
    pub origin: Origin<'a>,
    /// Its source.
    pub span: Span,
    /// In how many callbacks of calls it is, one inside the other: what follows a call and reads its outputs.
    pub callbacks: usize,
}

/// Who decides whether an edge is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum DecidedBy {
    /// Nobody: the edge is unconditional.
    Nobody,
    /// A condition over the state.
    Condition,
    /// The model, from natural language.
    Model,
    /// The user, by a message or a button.
    User,
    /// The outcome of a call, an agent or a check.
    Outcome,
}

impl DecidedBy {
    /// Its name in kebab case.
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

/// The kind of an edge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum EdgeKind {
    /// The next statement.
    Next,
    /// The next step in the order of the flow.
    Sequence,
    /// The start of the flow.
    Start,
    /// A branch.
    Branch,
    /// A jump: `THEN`, `GOTO`, `next`.
    Jump,
    /// A step whose condition does not hold is skipped.
    Skip,
    /// A repetition.
    Retry,
    /// The repetitions are exhausted.
    Exhausted,
    /// An error or a failed check.
    Error,
    /// An error that the agent's own handlers take.
    Unhandled,
    /// A digression of the user.
    Digression,
    /// A button.
    Action,
    /// The turn around a wait.
    Turn,
    /// A detour through checks.
    Checkpoint,
    /// A choice of the model.
    Choice,
    /// A routing rule, or a declared handoff or delegation.
    Route,
    /// Another agent is entered.
    Enter,
    /// Control returns.
    Return,
    /// The agent ends.
    Finish,
    /// A profile modifies the flow.
    Profile,
    /// A definition that a later one with the same name shadows.
    Shadowed,
    /// A step that is named in data the IR keeps verbatim.
    Named,
}

impl EdgeKind {
    /// Its name in kebab case.
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

/// A test on an edge.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Test<'a> {
    /// A condition. The model evaluates those in natural language.
    Condition(&'a Condition),
    /// An expression, as in guardrails.
    Expr(&'a Expr),
}

impl<'a> Test<'a> {
    /// Returns the expression, if the test is one.
    #[must_use]
    pub const fn expr(&self) -> Option<&'a Expr> {
        match self {
            Self::Condition(condition) => condition.expr(),
            Self::Expr(expr) => Some(expr),
        }
    }

    /// Its source.
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

/// A literal of a guard: a test and its required outcome.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GuardLiteral<'a> {
    /// The test.
    pub test: Test<'a>,
    /// Whether the test must hold or must fail.
    pub holds: bool,
}

/// What must hold for an edge to be taken: a conjunction of [`GuardLiteral`]s, read with
/// [`Cfg::guard`].
///
/// The guard of the third of several branches is "not the first, not the second, the third"; that
/// of an `ELSE` is "none of them". Branches share the prefixes of their guards, so that a thousand
/// branches cost a thousand literals.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Guard(pub(crate) u32);

impl Guard {
    /// The guard that always holds.
    pub const ALWAYS: Self = Self(0);

    /// Whether the guard has no literal.
    #[must_use]
    pub const fn is_always(self) -> bool {
        self.0 == 0
    }
}

/// An edge of the graph.
#[derive(Debug, Clone, Copy)]
pub struct Edge<'a> {
    /// Its kind.
    pub kind: EdgeKind,
    /// Who decides.
    pub decided_by: DecidedBy,
    /// What must hold.
    pub guard: Guard,
    /// The maximum number of times per run of the agent, if it is bounded.
    pub limit: Option<u32>,
    /// The part of the IR that it comes from.
    pub origin: Origin<'a>,
    /// Its source.
    pub span: Span,
}

/// A transfer to another agent.
#[derive(Debug, Clone, Copy)]
pub struct Transfer<'a> {
    /// The node of the transfer: of kind `Handoff` or `Delegate`.
    pub node: NodeIndex,
    /// The name of the other agent, aliases resolved.
    pub to: &'a str,
    /// The name as it is written.
    pub named: &'a str,
    /// The source of the name.
    pub span: Span,
    /// The node that control returns to, if it does.
    pub returns: Option<NodeIndex>,
    /// The other agent, if it is part of the graph. The first one if several share the name.
    pub target: Option<AgentId>,
}

/// Statements after one that always leaves.
#[derive(Debug, Clone, Copy)]
pub struct DeadCode<'a> {
    /// The agent that they belong to.
    pub agent: AgentId,
    /// The statement that leaves.
    pub leaves: &'a Statement,
    /// The first unreachable statement.
    pub first: &'a Statement,
}

/// The part of the graph that belongs to one agent.
#[derive(Debug)]
pub struct AgentCfg<'a> {
    /// The agent.
    pub agent: &'a Agent,
    /// Its first node.
    pub entry: NodeIndex,
    /// Its last node.
    pub exit: NodeIndex,
    /// The wait between turns.
    pub wait: NodeIndex,
    /// The checks before the user gets an answer, if the agent has any: constraints and guardrails.
    pub before_answers: Option<NodeIndex>,
    /// The checks before another agent takes over, if the agent has any.
    pub before_handoffs: Option<NodeIndex>,
    /// The first node of each step, by name.
    steps: FxHashMap<&'a str, NodeIndex>,
    /// The declared tools by name; the first one if several share a name.
    tools: FxHashMap<&'a str, &'a Tool>,
    /// The range of its nodes: from `first` up to but not including `end`.
    first: u32,
    end: u32,
}

impl AgentCfg<'_> {
    /// Returns its nodes in the order of construction, which roughly follows the source.
    pub fn nodes(&self) -> impl Iterator<Item = NodeIndex> + use<> {
        self.range().map(NodeIndex::new)
    }

    const fn range(&self) -> std::ops::Range<usize> {
        self.first as usize..self.end as usize
    }

    /// Returns the first node of a step. An undefined step that is targeted has a node of kind
    /// `Unknown`.
    #[must_use]
    pub fn step(&self, name: &str) -> Option<NodeIndex> {
        self.steps.get(name).copied()
    }

    /// Returns all steps that are defined or targeted, in no particular order.
    pub fn steps(&self) -> impl Iterator<Item = (&str, NodeIndex)> {
        self.steps.iter().map(|(name, node)| (*name, *node))
    }
}

/// A literal of a guard, with the guard that it extends.
#[derive(Debug, Clone, Copy)]
struct GuardLink<'a> {
    literal: GuardLiteral<'a>,
    before: Guard,
}

/// The control-flow graph of an agent or of a program.
#[derive(Debug)]
pub struct Cfg<'a> {
    graph: DiGraph<Node<'a>, Edge<'a>>,
    agents: Vec<AgentCfg<'a>>,
    /// The last literal of `Guard(n)` is at `n - 1`.
    guard_links: Vec<GuardLink<'a>>,
    transfers: Vec<Transfer<'a>>,
    dead: Vec<DeadCode<'a>>,
    /// Whether an agent is referenced by a file that does not identify it.
    unresolved: bool,
    /// The accesses of each node.
    accesses: def_use::AccessCache,
    /// The definitions and kills of each node.
    defs: def_use::AccessCache,
}

impl<'a> Cfg<'a> {
    /// The graph, for algorithms of petgraph. Recursive ones would overflow the stack.
    #[must_use]
    pub const fn graph(&self) -> &DiGraph<Node<'a>, Edge<'a>> {
        &self.graph
    }

    /// The subgraphs of the agents, by [`AgentId`].
    #[must_use]
    pub fn agents(&self) -> &[AgentCfg<'a>] {
        &self.agents
    }

    /// The subgraph of an agent.
    #[must_use]
    pub fn agent(&self, agent: AgentId) -> Option<&AgentCfg<'a>> {
        self.agents.get(agent.0 as usize)
    }

    /// Returns the first agent called `name`.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<AgentId> {
        let at = self.agents.iter().position(|p| p.agent.metadata.name.value == name)?;
        u32::try_from(at).ok().map(AgentId)
    }

    /// Returns a node; `None` only for an index of another graph.
    #[must_use]
    pub fn node(&self, node: NodeIndex) -> Option<&Node<'a>> {
        self.graph.node_weight(node)
    }

    /// Returns the successors of a node in the order in which they are tried.
    pub fn successors(&self, node: NodeIndex) -> impl Iterator<Item = (NodeIndex, &Edge<'a>)> {
        // petgraph yields the newest edge first.
        let mut all: Vec<_> =
            self.graph.edges(node).map(|e| (e.id(), e.target(), e.weight())).collect();
        all.sort_by_key(|(id, ..)| *id);
        all.into_iter().map(|(_, to, edge)| (to, edge))
    }

    /// Returns the predecessors of a node.
    pub fn predecessors(&self, node: NodeIndex) -> impl Iterator<Item = (NodeIndex, &Edge<'a>)> {
        let mut all: Vec<_> = self
            .graph
            .edges_directed(node, Direction::Incoming)
            .map(|e| (e.id(), e.source(), e.weight()))
            .collect();
        all.sort_by_key(|(id, ..)| *id);
        all.into_iter().map(|(_, from, edge)| (from, edge))
    }

    /// Returns an edge with its source and its target.
    #[must_use]
    pub fn edge(&self, edge: EdgeIndex) -> Option<(NodeIndex, NodeIndex, &Edge<'a>)> {
        let (from, to) = self.graph.edge_endpoints(edge)?;
        Some((from, to, self.graph.edge_weight(edge)?))
    }

    /// Returns the literals of a guard in the order in which they are tested.
    #[must_use]
    pub fn guard(&self, guard: Guard) -> Vec<GuardLiteral<'a>> {
        let mut all: Vec<_> = self.literals_backwards(guard).collect();
        all.reverse();
        all
    }

    /// Returns the literals of a guard, the last one first. That of the last of many branches has them all, so who
    /// asks at each branch takes no more than are needed.
    pub fn literals_backwards(&self, guard: Guard) -> impl Iterator<Item = GuardLiteral<'a>> {
        let link = |guard: Guard| {
            guard.0.checked_sub(1).and_then(|index| self.guard_links.get(index as usize))
        };
        std::iter::successors(link(guard), move |last| link(last.before)).map(|link| link.literal)
    }

    /// Returns the last literal of a guard: the condition that a branch adds to those of the
    /// branches before it. For an `ELSE`, it is the last condition that does not hold.
    #[must_use]
    pub fn last_literal(&self, guard: Guard) -> Option<GuardLiteral<'a>> {
        guard
            .0
            .checked_sub(1)
            .and_then(|index| self.guard_links.get(index as usize))
            .map(|l| l.literal)
    }

    /// Returns the guard without its last literal. Guards share prefixes, so callers can reuse what
    /// they computed for a prefix.
    #[must_use]
    pub fn guard_prefix(&self, guard: Guard) -> Guard {
        let link = guard.0.checked_sub(1).and_then(|index| self.guard_links.get(index as usize));
        link.map_or(Guard::ALWAYS, |link| link.before)
    }

    /// The transfers between agents.
    #[must_use]
    pub fn transfers(&self) -> &[Transfer<'a>] {
        &self.transfers
    }

    /// Unreachable statements, whatever the conditions: the first of each list.
    #[must_use]
    pub fn dead_code(&self) -> &[DeadCode<'a>] {
        &self.dead
    }

    /// Whether an agent is referenced by a file that does not identify it, so that the transfers
    /// between agents are incomplete.
    #[must_use]
    pub const fn has_unresolved_agents(&self) -> bool {
        self.unresolved
    }
}
