//! The trees of leaves that are more than an expression, a type or a template.

use agentir_diagnostics::{Span, Spanned};
use agentir_expr::{Argument, Condition, Expr, Name, Path, TypeExpr};
use smol_str::SmolStr;

/// The head of a tool: `search(city: string, guests: number = 2) -> Hotel[]` (specification 3.4).
#[derive(Clone, Debug, PartialEq)]
pub struct ToolSignature {
    /// Its name.
    pub name: Spanned<Name>,
    /// What it takes.
    pub parameters: Vec<SignatureParameter>,
    /// What it gives, if written.
    pub returns: Option<TypeExpr>,
}

/// A parameter of a tool.
#[derive(Clone, Debug, PartialEq)]
pub struct SignatureParameter {
    /// Its name.
    pub name: Spanned<Name>,
    /// `name?`: it may be left out.
    pub optional: bool,
    /// Its type, if written.
    pub ty: Option<TypeExpr>,
    /// What is taken if it is left out.
    pub default: Option<Expr>,
}

/// `REQUIRE condition BEFORE calling tool` (specification 3.8).
#[derive(Clone, Debug, PartialEq)]
pub struct ConstraintRule {
    /// The first word.
    pub kind: Spanned<ConstraintKind>,
    /// What it is about; `a IMPLIES b` is one expression.
    pub condition: Condition,
    /// When it is checked, if not always.
    pub checkpoint: Option<Spanned<Checkpoint>>,
}

/// The kinds of constraint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ConstraintKind {
    /// `REQUIRE`: must hold.
    Require,
    /// `WARN`: should hold.
    Warn,
    /// `LIMIT`: bounds something.
    Limit,
    /// `RESTRICT`: must not hold.
    Restrict,
}

impl ConstraintKind {
    /// The kind of a keyword, in any case.
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        const WORDS: &[(&str, ConstraintKind)] = &[
            ("REQUIRE", ConstraintKind::Require),
            ("WARN", ConstraintKind::Warn),
            ("LIMIT", ConstraintKind::Limit),
            ("RESTRICT", ConstraintKind::Restrict),
        ];
        WORDS.iter().find(|(w, _)| w.eq_ignore_ascii_case(word)).map(|(_, kind)| *kind)
    }
}

/// When a constraint is checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Checkpoint {
    /// `BEFORE calling tool`.
    ToolCall(Spanned<Name>),
    /// `BEFORE returning results`.
    Response,
    /// `BEFORE` and other words, as written.
    Other(SmolStr),
}

/// What happens next: the value of `THEN`, `ON_FAIL`, `ON_EXHAUSTED` (specification 3.14, 3.16).
#[derive(Clone, Debug, PartialEq)]
pub struct Action {
    /// What.
    pub kind: ActionKind,
    /// The first word as written. A flow may have a step that is called like a keyword; then the
    /// step is meant.
    pub word: Spanned<Name>,
    /// The step or agent it is about.
    pub target: Option<Spanned<Name>>,
    /// A text in quotes: the `REASON` of an escalation, what `RESPOND` says.
    pub reason: Option<Spanned<SmolStr>>,
    /// `PRIORITY`.
    pub priority: Option<Spanned<SmolStr>>,
    /// Names in braces, or after `with`: `ASK_USER {retry, escalate}`, `CONTINUE: with x`.
    pub arguments: Vec<Spanned<Name>>,
    /// The whole.
    pub span: Span,
}

/// What an [`Action`] does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ActionKind {
    /// Goes to the step [`Action::target`]: its bare name, or `GOTO name`.
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
    /// The kind of a keyword, in any case.
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        const WORDS: &[(&str, ActionKind)] = &[
            ("ASK_USER", ActionKind::AskUser),
            ("BACKTRACK", ActionKind::Backtrack),
            ("BLOCK", ActionKind::Block),
            ("COMPLETE", ActionKind::Complete),
            ("CONTINUE", ActionKind::Continue),
            ("DELEGATE", ActionKind::Delegate),
            ("ESCALATE", ActionKind::Escalate),
            ("FAIL", ActionKind::Fail),
            ("GOTO", ActionKind::GoTo),
            ("HANDOFF", ActionKind::Handoff),
            ("REDACT", ActionKind::Redact),
            ("RESPOND", ActionKind::Respond),
            ("RESUME", ActionKind::Resume),
            ("RESUME_INTENT", ActionKind::ResumeIntent),
            ("RETRY", ActionKind::Retry),
            ("RETRY_STEP", ActionKind::RetryStep),
            ("TRANSITION", ActionKind::GoTo),
        ];
        WORDS.iter().find(|(w, _)| w.eq_ignore_ascii_case(word)).map(|(_, kind)| *kind)
    }
}

impl Action {
    /// Reads a lower-case word as its keyword where there are no steps to go to (`ON_FAIL: retry`).
    /// With steps, `THEN: retry` goes to the step of that name.
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
    /// What it is given.
    pub arguments: Vec<Argument>,
    /// The whole.
    pub span: Span,
}

/// `expr -> path`, what `STORE` remembers (specification 3.7).
#[derive(Clone, Debug, PartialEq)]
pub struct Store {
    /// What is stored: a path, an object or any expression.
    pub value: Expr,
    /// Where, if written. May end in `.*` or in a name such as `preferred_*`.
    pub target: Option<Spanned<Path>>,
}

/// `target = value` or `target: value`.
#[derive(Clone, Debug, PartialEq)]
pub struct Assignment {
    /// What is set.
    pub target: Spanned<Path>,
    /// To what.
    pub value: Expr,
}

/// `source AS item INTO target`, the head of `TRANSFORM` (specification 3.14.11).
#[derive(Clone, Debug, PartialEq)]
pub struct TransformHead {
    /// The list that is gone through.
    pub source: Expr,
    /// What an item is called below.
    pub item: Spanned<Name>,
    /// What the result is called.
    pub target: Spanned<Path>,
}

/// `field DESC`.
#[derive(Clone, Debug, PartialEq)]
pub struct SortBy {
    /// What is compared.
    pub field: Spanned<Path>,
    /// `ASC` or `DESC`, if written.
    pub direction: Option<Spanned<Direction>>,
}

/// The order of a sort.
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
    /// The intents; `None` for `DEFAULT`. One may be of several words.
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
    /// `ROUTE_TO_VARIABLE variable`: the agent is named by a variable.
    Variable(Spanned<Path>),
    /// `END_CONVERSATION`.
    EndConversation,
    /// `SYSTEM_ACTION action`.
    System(Spanned<Name>),
    /// `INTENT_MATCH`, with a table below it.
    IntentMatch,
}

/// `FROM agent TO agent`, the head of an entry of `HANDOFF_PROTOCOL`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProtocolHead {
    /// Who hands over; `None` for `any`.
    pub from: Option<Spanned<Name>>,
    /// To whom.
    pub to: Spanned<Name>,
}
