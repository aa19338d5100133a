//! The typed tree of an ADL file.

use super::inline::Verb;
use super::schema::{AgentKind, FieldDef};
use agentir_diagnostics::{Span, Spanned};
use agentir_expr::{Condition, Literal, Name, Path, Template};
use agentir_syntax::outline::Entry;
use smol_str::SmolStr;

/// A file: agents by name (Appendix A, `adl`).
#[derive(Debug, Default)]
pub struct Document<'t> {
    /// The agents, in order; a repeated agent occurs repeatedly.
    pub agents: Vec<Agent<'t>>,
    /// The Python files named by `tools`.
    pub tools: Vec<Spanned<Name>>,
    /// The key of `tools`.
    pub tools_key: Option<Span>,
    /// Entries that are not agents.
    pub unknown: Vec<&'t Entry<'t>>,
}

/// An agent.
#[derive(Debug)]
pub struct Agent<'t> {
    /// Its name.
    pub name: Spanned<Name>,
    /// The type, if valid.
    pub kind: Option<AgentKind>,
    /// Its fields, in order.
    pub fields: Vec<Field<'t>>,
    /// The subflows of a flow agent (B.4.4).
    pub subflows: Vec<Subflow<'t>>,
    /// Unknown keys.
    pub unknown: Vec<&'t Entry<'t>>,
    /// From the name to the last line.
    pub span: Span,
}

/// A field of an agent.
#[derive(Debug)]
pub struct Field<'t> {
    /// The row in the table.
    pub def: &'static FieldDef,
    /// Its key.
    pub key: Span,
    /// Its value.
    pub value: Value<'t>,
    /// The outline entry.
    pub entry: &'t Entry<'t>,
}

/// The value of a field.
#[derive(Debug)]
pub enum Value<'t> {
    /// A text.
    Text(Template),
    /// Names.
    Names(Vec<Spanned<Name>>),
    /// Questions and answers.
    Faq(Vec<Faq>),
    /// Steps.
    Steps(Vec<Step<'t>>),
    /// Agents of an ensemble.
    Members(Vec<Member>),
    /// Stored elsewhere in the tree, or of an unexpected shape.
    Other,
}

/// A question and its answer (Appendix A, `faq_block`).
#[derive(Debug)]
pub struct Faq {
    /// The question.
    pub question: Option<Template>,
    /// The answer.
    pub answer: Option<Template>,
    /// The location in the source.
    pub span: Span,
}

/// An agent of an ensemble (Appendix A, `invoke_agent`).
#[derive(Debug)]
pub struct Member {
    /// Its name.
    pub name: Spanned<Name>,
    /// The bindings of its arguments.
    pub bindings: Vec<Binding>,
    /// The location in the source.
    pub span: Span,
}

/// An argument of an agent, and the ensemble's argument it is bound to.
#[derive(Debug)]
pub struct Binding {
    /// The argument of the agent.
    pub name: Spanned<Name>,
    /// The argument of the ensemble.
    pub value: Spanned<Path>,
    /// `ref`: whether the agent may change the ensemble's argument.
    pub by_reference: bool,
}

/// A named list of steps.
#[derive(Debug)]
pub struct Subflow<'t> {
    /// The name.
    pub name: Spanned<Name>,
    /// The steps.
    pub steps: Vec<Step<'t>>,
    /// The location in the source.
    pub span: Span,
}

/// A step (Appendix A, `step`).
#[derive(Debug)]
pub struct Step<'t> {
    /// The kind.
    pub kind: StepKind<'t>,
    /// The location in the source.
    pub span: Span,
    /// Keys that its verb does not take, including other verbs.
    pub unknown: Vec<&'t Entry<'t>>,
}

impl Step<'_> {
    /// The span of the verb.
    #[must_use]
    pub fn verb(&self) -> Span {
        let verb = match self.kind {
            StepKind::User => "user",
            StepKind::Bot(_) => "bot",
            StepKind::Set(_) => "set",
            StepKind::Label(_) => "label",
            StepKind::Next { .. } => "next",
            StepKind::Call { .. } => "call",
            StepKind::If(_) => "if",
            StepKind::Return { .. } => "return",
            StepKind::Other(_) => "",
        };
        let start = self.span.start;
        Span::new(self.span.file, start, start + agentir_syntax::text::offset(verb.len()))
    }
}

/// The kinds of steps.
#[derive(Debug)]
pub enum StepKind<'t> {
    /// `user`: waits for the user's message.
    User,
    /// `bot`: sends a message.
    Bot(Template),
    /// `set`: assigns arguments.
    Set(Vec<Assignment>),
    /// `label`: the target of jumps.
    Label(Spanned<Name>),
    /// `next`: jumps to a label or a subflow.
    Next {
        /// The target.
        target: Spanned<Name>,
        /// The maximum number of jumps.
        tries: Option<Spanned<u32>>,
    },
    /// `call`: calls an agent or a function.
    Call {
        /// The agent or function.
        target: Spanned<Name>,
        /// The arguments.
        args: Vec<Assignment>,
    },
    /// `if` with its `else if` and `else` branches.
    If(Vec<Branch<'t>>),
    /// `return`: ends the agent.
    Return {
        /// `success`; any other value is a failure.
        status: Spanned<Name>,
        /// The message to the caller.
        message: Option<Spanned<Name>>,
    },
    /// Not a valid step; a diagnostic was reported.
    Other(&'t Entry<'t>),
}

/// A branch of an `if`.
#[derive(Debug)]
pub struct Branch<'t> {
    /// The condition; absent for `else`.
    pub condition: Option<Condition>,
    /// The intents in the condition.
    pub intent: Option<(Verb, Vec<Spanned<SmolStr>>)>,
    /// The steps.
    pub steps: Vec<Step<'t>>,
    /// The maximum number of times the branch is taken; MICA only.
    pub tries: Option<Spanned<u32>>,
    /// The location in the source.
    pub span: Span,
}

/// `name: value`, in `set` and in the `args` of a call. Whether a value is the name of an argument is
/// resolved during lowering.
#[derive(Debug)]
pub struct Assignment {
    /// The argument.
    pub target: Spanned<Path>,
    /// The value as a constant.
    pub literal: Literal,
    /// The value as the name of an argument, if it can be one.
    pub path: Option<Spanned<Path>>,
    /// The location of the value.
    pub value_span: Span,
    /// Whether the value is quoted.
    pub quoted: bool,
}

impl Agent<'_> {
    /// The field called `name`, if any.
    #[must_use]
    pub fn field(&self, name: &str) -> Option<&Field<'_>> {
        self.fields.iter().find(|f| f.def.name == name)
    }
}
