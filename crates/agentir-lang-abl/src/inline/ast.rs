//! Syntax trees of inline texts other than expressions, types and templates.

use agentir_diagnostics::{Span, Spanned};
use agentir_expr::{Argument, Condition, Expr, Name, Path, TypeExpr};
use smol_str::SmolStr;

/// The signature of a tool: `search(city: string, guests: number = 2) -> Hotel[]` (specification 3.4).
#[derive(Clone, Debug, PartialEq)]
pub struct ToolSignature {
    /// Its name.
    pub name: Spanned<Name>,
    /// The parameters.
    pub parameters: Vec<SignatureParameter>,
    /// The result type, if written.
    pub returns: Option<TypeExpr>,
}

/// A parameter of a tool.
#[derive(Clone, Debug, PartialEq)]
pub struct SignatureParameter {
    /// Its name.
    pub name: Spanned<Name>,
    /// Whether it is optional: `name?`.
    pub optional: bool,
    /// Its type, if written.
    pub ty: Option<TypeExpr>,
    /// The default value.
    pub default: Option<Expr>,
}

/// `REQUIRE condition BEFORE calling tool` (specification 3.8).
#[derive(Clone, Debug, PartialEq)]
pub struct ConstraintRule {
    /// The keyword.
    pub kind: Spanned<ConstraintKind>,
    /// The condition; `a IMPLIES b` is a single expression.
    pub condition: Condition,
    /// The point where it is checked, if limited.
    pub checkpoint: Option<Spanned<Checkpoint>>,
}

/// The kinds of constraint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ConstraintKind {
    /// `REQUIRE`: must hold.
    Require,
    /// `LIMIT`: bounds a value.
    Warn,
    /// `LIMIT`: bounds something.
    Limit,
    /// `RESTRICT`: must not hold.
    Restrict,
}

impl ConstraintKind {
    /// The keywords, with their kinds.
    pub const WORDS: &[(&str, Self)] = &[
        ("REQUIRE", Self::Require),
        ("WARN", Self::Warn),
        ("LIMIT", Self::Limit),
        ("RESTRICT", Self::Restrict),
    ];

    /// The kind of a keyword, in any case.
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        Self::WORDS.iter().find(|(w, _)| w.eq_ignore_ascii_case(word)).map(|(_, kind)| *kind)
    }
}

/// The point where a constraint is checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Checkpoint {
    /// `BEFORE calling tool`.
    ToolCall(Spanned<Name>),
    /// `BEFORE returning results`.
    Response,
    /// `BEFORE` with other words, as written. The specification gives them no effect (3.8.2); what they are read as is
    /// decided where the tools of the agent are known.
    Other(SmolStr),
}

/// An action: the value of `THEN`, `ON_FAIL`, `ON_EXHAUSTED` (specification 3.14, 3.16).
#[derive(Clone, Debug, PartialEq)]
pub struct Action {
    /// The kind.
    pub kind: ActionKind,
    /// The first word as written. If the flow has a step with the name of a keyword, the step is meant.
    pub word: Spanned<Name>,
    /// The target step or agent.
    pub target: Option<Spanned<Name>>,
    /// A quoted text: the `REASON` of an escalation, the message of `RESPOND`.
    pub reason: Option<Spanned<SmolStr>>,
    /// `PRIORITY`.
    pub priority: Option<Spanned<SmolStr>>,
    /// Names in braces, or after `with`: `ASK_USER {retry, escalate}`, `CONTINUE: with x`.
    pub arguments: Vec<Spanned<Name>>,
    /// The whole action.
    pub span: Span,
}

/// The kind of an [`Action`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ActionKind {
    /// Jumps to the step [`Action::target`]: its bare name, or `GOTO name`.
    GoTo,
    /// `COMPLETE`.
    Complete,
    /// `CONTINUE`.
    Continue,
    /// `RETRY`.
    Retry,
    /// `RETRY_STEP`.
    RetryStep,
    /// `RESUME`.
    Resume,
    /// `RESUME_INTENT`.
    ResumeIntent,
    /// `ESCALATE`.
    Escalate,
    /// `HANDOFF agent`.
    Handoff,
    /// `DELEGATE agent`.
    Delegate,
    /// `BLOCK`.
    Block,
    /// `REDACT`.
    Redact,
    /// `ASK_USER {choices}`.
    AskUser,
    /// `BACKTRACK step`.
    Backtrack,
    /// `RESPOND "text"`.
    Respond,
    /// `FAIL`.
    Fail,
}

impl ActionKind {
    /// Whether an agent, a step or a text follows the keyword.
    #[must_use]
    pub const fn takes_target(self) -> bool {
        matches!(
            self,
            Self::AskUser
                | Self::Backtrack
                | Self::Delegate
                | Self::GoTo
                | Self::Handoff
                | Self::Respond
        )
    }

    /// The keywords, with their kinds.
    pub const WORDS: &[(&str, Self)] = &[
        ("ASK_USER", Self::AskUser),
        ("BACKTRACK", Self::Backtrack),
        ("BLOCK", Self::Block),
        ("COMPLETE", Self::Complete),
        ("CONTINUE", Self::Continue),
        ("DELEGATE", Self::Delegate),
        ("ESCALATE", Self::Escalate),
        ("FAIL", Self::Fail),
        ("GOTO", Self::GoTo),
        ("HANDOFF", Self::Handoff),
        ("REDACT", Self::Redact),
        ("RESPOND", Self::Respond),
        ("RESUME", Self::Resume),
        ("RESUME_INTENT", Self::ResumeIntent),
        ("RETRY", Self::Retry),
        ("RETRY_STEP", Self::RetryStep),
        ("TRANSITION", Self::GoTo),
    ];

    /// The kind of a keyword, in any case.
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        Self::WORDS.iter().find(|(w, _)| w.eq_ignore_ascii_case(word)).map(|(_, kind)| *kind)
    }
}

impl Action {
    /// Reads a lower-case word as a keyword, where no steps exist (`ON_FAIL: retry`). Where steps exist,
    /// `THEN: retry` jumps to the step of that name.
    #[must_use]
    pub fn without_steps(mut self) -> Self {
        let bare = self.kind == ActionKind::GoTo
            && self.target.as_ref().is_some_and(|t| t.span == self.word.span);
        if bare && let Some(kind) = ActionKind::from_word(&self.word.value) {
            self.kind = kind;
            self.target = None;
        }
        self
    }
}

/// `tool(a, b)`, `tool(k = v)`, `tool(k: v)` or just `tool` (specification 3.14.3).
#[derive(Clone, Debug, PartialEq)]
pub struct ToolCall {
    /// The tool.
    pub tool: Spanned<Name>,
    /// The arguments.
    pub arguments: Vec<Argument>,
    /// The whole call.
    pub span: Span,
}

/// `expr -> path`, the value of `STORE` (specification 3.7).
#[derive(Clone, Debug, PartialEq)]
pub struct Store {
    /// The value: a path, an object or any expression.
    pub value: Expr,
    /// The target, if written. May end in `.*` or in a name such as `preferred_*`.
    pub target: Option<Spanned<Path>>,
}

/// `target = value` or `target: value`.
#[derive(Clone, Debug, PartialEq)]
pub struct Assignment {
    /// The target.
    pub target: Spanned<Path>,
    /// The value.
    pub value: Expr,
}

/// `source AS item INTO target`, the header of `TRANSFORM` (specification 3.14.11).
#[derive(Clone, Debug, PartialEq)]
pub struct TransformHeader {
    /// The source list.
    pub source: Expr,
    /// The name of the current item.
    pub item: Spanned<Name>,
    /// The target.
    pub target: Spanned<Path>,
}

/// `field DESC`.
#[derive(Clone, Debug, PartialEq)]
pub struct SortBy {
    /// The field to sort by.
    pub field: Spanned<Path>,
    /// `ASC` or `DESC`, if written.
    pub direction: Option<Spanned<Direction>>,
}

/// The direction of a sort.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Direction {
    /// Smallest first.
    #[default]
    Ascending,
    /// Largest first.
    Descending,
}

/// `INTENT(a, b c) -> alias` or `DEFAULT -> alias` in `ROUTING`.
#[derive(Clone, Debug, PartialEq)]
pub struct RoutingRule {
    /// The intents; `None` for `DEFAULT`. An intent may have several words.
    pub intents: Option<Vec<Spanned<SmolStr>>>,
    /// The agent, by alias.
    pub target: Spanned<Name>,
}

/// The `THEN` of a routing rule of a supervisor.
#[derive(Clone, Debug, PartialEq)]
pub enum RouteAction {
    /// `ROUTE_TO agent`.
    Agent(Spanned<Name>),
    /// `ROUTE_TO_USER "message"`.
    User(Spanned<SmolStr>),
    /// `ROUTE_TO_VARIABLE variable`: the variable holds the name of the agent.
    Variable(Spanned<Path>),
    /// `END_CONVERSATION`.
    EndConversation,
    /// `SYSTEM_ACTION action`.
    System(Spanned<Name>),
    /// `INTENT_MATCH`, with a nested table.
    IntentMatch,
}

/// `FROM agent TO agent`, the header of an entry of `HANDOFF_PROTOCOL`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProtocolHeader {
    /// The source agent; `None` for `any`.
    pub from: Option<Spanned<Name>>,
    /// The target agent.
    pub to: Spanned<Name>,
}
