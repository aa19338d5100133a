//! Statements: the imperative language of steps, branches, hooks, handlers and procedures.
//!
//! Statements of all languages have this form. ABL's phases within a step are put into ABL's order
//! of execution.

use crate::coordination::{Decider, VariableBinding as Binding};
use crate::data::{Data, Extensions};
use crate::gather::Gather;
use agentir_diagnostics::{Span, Spanned};
use agentir_expr::{Argument, Condition, Expr, Name, Path, Template};
use smol_str::SmolStr;

/// Statements in execution order.
#[derive(Clone, Debug, Default)]
pub struct Body(pub Vec<Statement>);

/// A statement.
#[derive(Clone, Debug)]
pub enum Statement {
    /// Assigns a value to a variable.
    Set(SetVariable),
    /// Clears variables.
    Clear {
        /// The names or paths.
        variables: Vec<Spanned<Name>>,
    },
    /// Filters, maps, sorts and limits a list.
    Transform(Transform),
    /// Writes to the log.
    Log {
        /// The value.
        value: Spanned<Data>,
    },
    /// Sends a message to the user.
    Respond(Response),
    /// Adds to the model's instructions.
    Instruct {
        /// The text.
        text: Template,
    },
    /// Collects fields from the user.
    Collect(Collect),
    /// Calls a tool.
    Call(Box<Call>),
    /// Checks a condition and jumps if it does not hold.
    Check {
        /// The condition.
        condition: Condition,
        /// The jump taken if it does not hold.
        otherwise: Option<Jump>,
    },
    /// Waits for the user's next message and takes the first branch whose condition holds.
    Await {
        /// The branches, in order.
        branches: Vec<Branch>,
    },
    /// Takes the first branch whose condition holds.
    If {
        /// The branches, in order.
        branches: Vec<Branch>,
    },
    /// Delegates to another agent; control returns.
    Delegate(Delegation),
    /// Hands the conversation over to another agent.
    Handoff(Delegation),
    /// Hands the conversation over to a human.
    Escalate {
        /// The reason, the priority and the like.
        details: Option<Data>,
        /// Its location in the source.
        span: Span,
    },
    /// Jumps.
    Goto(Jump),
    /// Jumps, at most this many times while the agent runs; after that, execution continues with the
    /// next statement.
    Repeat {
        /// The target.
        jump: Jump,
        /// The maximum number of jumps.
        times: u32,
    },
    /// A statement that AgentIR does not model, kept as data.
    Other {
        /// Its keyword.
        keyword: SmolStr,
        /// Its value.
        value: Data,
        /// Its location in the source.
        span: Span,
    },
}

/// ABL's execution order (§3.14): the order in which the parts of a step or another body run, however they are written, but
/// for those that [keep their place](Phase::keeps_its_place). The keys of AgentIR's JSON are in this order, all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    /// Assignments; the only phase with several statements.
    Set,
    /// Variables are cleared.
    Clear,
    /// A list is transformed.
    Transform,
    /// A value is logged.
    Log,
    /// A message is sent.
    Respond,
    /// Fields are collected.
    Collect,
    /// A tool is called.
    Call,
    /// A condition is checked.
    Check,
    /// The agent delegates.
    Delegate,
    /// Another agent takes over.
    Handoff,
    /// A branch, possibly on a result.
    If,
    /// Branches on the user's answer.
    Await,
    /// A human takes over.
    Escalate,
    /// A jump.
    Goto,
}

impl Phase {
    /// Whether ABL executes it where it is written: after what is written above it, before what is written below it, but
    /// always before jumps.
    #[must_use]
    pub const fn keeps_its_place(self) -> bool {
        matches!(self, Self::Set | Self::Clear | Self::Transform | Self::Log)
    }
}

impl Statement {
    /// The statement's phase in ABL; `None` if ABL has no such statement.
    #[must_use]
    pub const fn phase(&self) -> Option<Phase> {
        Some(match self {
            Self::Set(_) => Phase::Set,
            Self::Clear { .. } => Phase::Clear,
            Self::Transform(_) => Phase::Transform,
            Self::Log { .. } => Phase::Log,
            Self::Respond(_) => Phase::Respond,
            Self::Collect(_) => Phase::Collect,
            Self::Call(_) => Phase::Call,
            Self::Check { .. } => Phase::Check,
            Self::Delegate(_) => Phase::Delegate,
            Self::Handoff(_) => Phase::Handoff,
            Self::If { .. } => Phase::If,
            Self::Await { .. } => Phase::Await,
            Self::Escalate { .. } => Phase::Escalate,
            Self::Goto(_) => Phase::Goto,
            Self::Instruct { .. } | Self::Repeat { .. } | Self::Other { .. } => return None,
        })
    }
}

/// `variable = expression`.
#[derive(Clone, Debug)]
pub struct SetVariable {
    /// The assigned variable.
    pub target: Path,
    /// The value.
    pub value: Expr,
    /// The whole assignment.
    pub span: Span,
}

/// A list pipeline (ABL §3.14.11).
#[derive(Clone, Debug)]
pub struct Transform {
    /// The list.
    pub source: Expr,
    /// The name of the current item in the other fields.
    pub item_var: Spanned<Name>,
    /// The variable that receives the result.
    pub target: Spanned<Name>,
    /// Keeps only items for which this holds.
    pub filter: Option<Expr>,
    /// The fields of each resulting item.
    pub map: Vec<(Spanned<Name>, Expr)>,
    /// The sort order.
    pub sort_by: Option<SortBy>,
    /// The maximum number of items.
    pub limit: Option<Expr>,
    /// Its location in the source.
    pub span: Span,
}

/// The sort order of a [`Transform`].
#[derive(Clone, Debug)]
pub struct SortBy {
    /// The field to sort by.
    pub field: Spanned<Name>,
    /// `asc` or `desc`.
    pub order: &'static str,
}

/// A message to the user.
#[derive(Clone, Debug, Default)]
pub struct Response {
    /// The text; may be absent if there is a message key or rich content.
    pub text: Option<Template>,
    /// The named template: `TEMPLATE(name)`.
    pub template: Option<Spanned<Name>>,
    /// The key into the agent's messages.
    pub message_key: Option<Spanned<Name>>,
    /// Settings for speech output.
    pub voice_config: Option<Data>,
    /// Rich content for channels that show more than text.
    pub rich_content: Option<Data>,
    /// Buttons and inputs shown with the message.
    pub actions: Option<Actions>,
}

/// Buttons, menus and inputs shown with a message.
#[derive(Clone, Debug, Default)]
pub struct Actions {
    /// The elements, in order.
    pub elements: Vec<ActionElement>,
    /// The label of the button that submits them.
    pub submit_label: Option<Template>,
    /// Its id.
    pub submit_id: Option<Spanned<Name>>,
    /// The id under which the client renders them.
    pub render_id: Option<Spanned<Name>>,
}

/// One button, menu or input.
#[derive(Clone, Debug)]
pub struct ActionElement {
    /// The id that handlers refer to.
    pub id: Option<Spanned<Name>>,
    /// `button`, `select`, `input`, …
    pub kind: Spanned<Name>,
    /// The label.
    pub label: Option<Template>,
    /// The submitted value.
    pub value: Option<Spanned<Name>>,
    /// The options of a menu.
    pub options: Option<Data>,
    /// `text`, `number`, `date`, …
    pub input_type: Option<Spanned<Name>>,
    /// The placeholder of an empty input.
    pub placeholder: Option<Template>,
    /// A description.
    pub description: Option<Template>,
    /// The URL a button opens.
    pub url: Option<Spanned<Name>>,
    /// Whether the input is required.
    pub required: Option<bool>,
    /// Dialect-specific data that AgentIR has no field for.
    pub extensions: Extensions,
    /// Its location in the source.
    pub span: Span,
}

/// The handler of a button or input.
#[derive(Clone, Debug)]
pub struct ActionHandler {
    /// The id of the element.
    pub action_id: Spanned<Name>,
    /// The condition.
    pub condition: Option<Condition>,
    /// The statements.
    pub body: Body,
    /// Dialect-specific data that AgentIR has no field for.
    pub extensions: Extensions,
    /// Its location in the source.
    pub span: Span,
}

/// Collecting fields from the user.
#[derive(Clone, Debug)]
pub struct Collect {
    /// The message before collecting.
    pub present: Option<Template>,
    /// The fields.
    pub gather: Gather,
    /// Whether the user may correct earlier answers.
    pub corrections: Option<bool>,
    /// Collecting ends when this holds.
    pub complete_when: Option<Condition>,
    /// Runs after all fields are collected.
    pub on_success: Body,
    /// Runs after the attempts are used up.
    pub on_failure: Body,
    /// Its location in the source.
    pub span: Span,
}

/// A tool call and its follow-up.
#[derive(Clone, Debug)]
pub struct Call {
    /// The tool.
    pub tool: Spanned<Name>,
    /// Where a document names the tool a second time: AgentIR has it as `call` and in `call_spec`.
    pub named_again: Option<Span>,
    /// The arguments, positional or named.
    pub with: Vec<Argument>,
    /// Whether arguments are written at all. Without them the call takes the variables named like the
    /// parameters.
    pub has_arguments: bool,
    /// The variable that receives the result.
    pub result: Option<Spanned<Name>>,
    /// The success condition, if it is not left to the tool.
    pub success_when: Option<Condition>,
    /// Runs after success.
    pub on_success: Outcome,
    /// Runs after failure.
    pub on_failure: Outcome,
    /// After success or failure: the first branch whose condition holds.
    pub on_result: Vec<Branch>,
    /// Its location in the source.
    pub span: Span,
}

impl Call {
    /// A call with these arguments and no follow-up.
    #[must_use]
    pub fn new(tool: Spanned<Name>, with: Vec<Argument>, span: Span) -> Self {
        Self {
            tool,
            named_again: None,
            has_arguments: !with.is_empty(),
            with,
            result: None,
            success_when: None,
            on_success: Body::default(),
            on_failure: Body::default(),
            on_result: Vec::new(),
            span,
        }
    }
}

/// The follow-up of success or failure: statements, possibly with branches.
pub type Outcome = Body;

impl Body {
    /// Whether there are no statements.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether what is written next may follow ([`falls_through`]).
    #[must_use]
    pub fn falls_through(&self) -> bool {
        falls_through(&self.0)
    }

    /// The body, unless it is empty.
    #[must_use]
    pub fn non_empty(&self) -> Option<&Self> {
        (!self.is_empty()).then_some(self)
    }
}

/// Whether what is written below some statements may follow: on some way through them, none jumps elsewhere, or hands over
/// to somebody who does not return. Recursive; parsers limit the depth.
#[must_use]
pub fn falls_through(statements: &[Statement]) -> bool {
    statements.iter().all(|statement| match statement {
        Statement::Goto(jump) => !jump.target.diverges(),
        Statement::Escalate { .. } => false,
        Statement::Handoff(to) => to.returns == Some(true),
        Statement::If { branches } | Statement::Await { branches } => any_falls_through(branches),
        Statement::Collect(collect) => falls_through(&collect.on_success.0),
        Statement::Call(call) => {
            (falls_through(&call.on_success.0) || falls_through(&call.on_failure.0))
                && any_falls_through(&call.on_result)
        }
        _ => true,
    })
}

/// Whether control may pass one of some branches, or all of them.
fn any_falls_through(branches: &[Branch]) -> bool {
    branches.iter().all(|branch| branch.condition.is_some())
        || branches.iter().any(|branch| branch.body.falls_through())
}

/// A branch.
#[derive(Clone, Debug)]
pub struct Branch {
    /// The condition; absent for `ELSE`.
    pub condition: Option<Condition>,
    /// The statements.
    pub body: Body,
    /// Dialect-specific data that AgentIR has no field for.
    pub extensions: Extensions,
    /// Its location in the source.
    pub span: Span,
}

/// A delegation or handoff by a statement.
#[derive(Clone, Debug)]
pub struct Delegation {
    /// The agent.
    pub agent: Spanned<Name>,
    /// Whether control returns.
    pub returns: Option<bool>,
    /// Who decides that it happens.
    pub decided_by: Decider,
    /// Values bound to the other agent's variables.
    pub bindings: Vec<Binding>,
}

/// A jump.
#[derive(Clone, Debug, PartialEq)]
pub struct Jump {
    /// The target.
    pub target: Target,
    /// The reason, for a human or the log.
    pub reason: Option<Spanned<SmolStr>>,
    /// Its location in the source.
    pub span: Span,
}

/// The target of a [`Jump`].
#[derive(Clone, Debug, PartialEq)]
pub enum Target {
    /// A step of the same flow.
    Step(Spanned<Name>),
    /// Completes the agent.
    Complete,
    /// Continues the conversation unchanged.
    Continue,
    /// Tells the user something, and continues: the message of a failure, or else the reason of the jump.
    Respond,
    /// Tries the same again.
    Retry,
    /// Restarts the step.
    RetryStep,
    /// Returns to the step that was left.
    Resume,
    /// Returns to an earlier step.
    Backtrack(Option<Spanned<Name>>),
    /// Escalates to a human.
    Escalate,
    /// Hands over to another agent.
    Handoff(Option<Spanned<Name>>),
    /// Delegates to another agent.
    Delegate(Option<Spanned<Name>>),
    /// Stops processing what caused the jump.
    Block,
    /// Removes the offending part.
    Redact,
    /// Lets the user choose.
    AskUser(Vec<Spanned<Name>>),
    /// Completes the agent without success.
    Fail,
}

impl Target {
    /// Whether statements after a jump to this target are unreachable.
    #[must_use]
    pub const fn diverges(&self) -> bool {
        !matches!(self, Self::Continue | Self::Respond | Self::Redact | Self::AskUser(_))
    }

    /// Whether what led here goes on as if it had not.
    #[must_use]
    pub const fn continues(&self) -> bool {
        matches!(self, Self::Continue | Self::Respond)
    }

    /// The target agent, if any.
    #[must_use]
    pub const fn agent(&self) -> Option<&Spanned<Name>> {
        match self {
            Self::Handoff(Some(agent)) | Self::Delegate(Some(agent)) => Some(agent),
            _ => None,
        }
    }

    /// The target step, if any.
    #[must_use]
    pub const fn step(&self) -> Option<&Spanned<Name>> {
        match self {
            Self::Step(step) | Self::Backtrack(Some(step)) => Some(step),
            _ => None,
        }
    }
}

impl std::fmt::Display for Target {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let with = |f: &mut std::fmt::Formatter<'_>, word: &str, name: &Option<Spanned<Name>>| {
            match name {
                Some(name) => write!(f, "{word} {name}"),
                None => f.write_str(word),
            }
        };
        match self {
            Self::Step(name) => f.write_str(&name.value),
            Self::Complete => f.write_str("COMPLETE"),
            Self::Continue => f.write_str("CONTINUE"),
            Self::Respond => f.write_str("RESPOND"),
            Self::Retry => f.write_str("RETRY"),
            Self::RetryStep => f.write_str("RETRY_STEP"),
            Self::Resume => f.write_str("RESUME"),
            Self::Backtrack(name) => with(f, "BACKTRACK", name),
            Self::Escalate => f.write_str("ESCALATE"),
            Self::Handoff(name) => with(f, "HANDOFF", name),
            Self::Delegate(name) => with(f, "DELEGATE", name),
            Self::Block => f.write_str("BLOCK"),
            Self::Redact => f.write_str("REDACT"),
            Self::AskUser(choices) => {
                let choices: Vec<_> = choices.iter().map(|c| c.value.as_str()).collect();
                write!(f, "ASK_USER {{{}}}", choices.join(", "))
            }
            Self::Fail => f.write_str("FAIL"),
        }
    }
}
