//! The typed tree of an ADL file.

use super::leaf::Verb;
use super::schema::{AgentKind, FieldDef};
use crate::outline::Entry;
use agentir_diagnostics::{Span, Spanned};
use agentir_expr::{Condition, Literal, Name, Path, Template};
use smol_str::SmolStr;

/// A file: agents by name (Appendix A, `adl`).
#[derive(Debug, Default)]
pub struct Document<'t> {
    /// The agents, in order; one that is written twice is there twice.
    pub agents: Vec<Agent<'t>>,
    /// The Python files named by `tools`.
    pub tools: Vec<Spanned<Name>>,
    /// The key of `tools`.
    pub tools_key: Option<Span>,
    /// What is no agent.
    pub unknown: Vec<&'t Entry<'t>>,
}

/// An agent.
#[derive(Debug)]
pub struct Agent<'t> {
    /// Its name.
    pub name: Spanned<Name>,
    /// Its type, if it has one that exists.
    pub kind: Option<AgentKind>,
    /// Its fields, in order.
    pub fields: Vec<Field<'t>>,
    /// The subflows of a flow agent (B.4.4).
    pub subflows: Vec<Subflow<'t>>,
    /// Keys that it does not have.
    pub unknown: Vec<&'t Entry<'t>>,
    /// From its name to its last line.
    pub span: Span,
}

/// A field of an agent.
#[derive(Debug)]
pub struct Field<'t> {
    /// The row of the table.
    pub def: &'static FieldDef,
    /// Its key.
    pub key: Span,
    /// Its value.
    pub value: Value<'t>,
    /// As written.
    pub entry: &'t Entry<'t>,
}

/// What a field says.
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
    /// It was said elsewhere in the tree, or is of no form that was expected.
    Other,
}

/// A question and its answer (Appendix A, `faq_block`).
#[derive(Debug)]
pub struct Faq {
    /// What users ask.
    pub question: Option<Template>,
    /// What they are told.
    pub answer: Option<Template>,
    /// Where it is written.
    pub span: Span,
}

/// An agent of an ensemble (Appendix A, `invoke_agent`).
#[derive(Debug)]
pub struct Member {
    /// Its name.
    pub name: Spanned<Name>,
    /// What its arguments are bound to.
    pub bindings: Vec<Binding>,
    /// Where it is written.
    pub span: Span,
}

/// An argument of an agent and the argument of the ensemble it is bound to.
#[derive(Debug)]
pub struct Binding {
    /// The argument of the agent.
    pub name: Spanned<Name>,
    /// The argument of the ensemble.
    pub value: Spanned<Path>,
    /// `ref`: the agent may change it.
    pub by_reference: bool,
}

/// Steps with a name of their own.
#[derive(Debug)]
pub struct Subflow<'t> {
    /// The name.
    pub name: Spanned<Name>,
    /// The steps.
    pub steps: Vec<Step<'t>>,
    /// Where it is written.
    pub span: Span,
}

/// A step (Appendix A, `step`).
#[derive(Debug)]
pub struct Step<'t> {
    /// What it does.
    pub kind: StepKind<'t>,
    /// Where it is written.
    pub span: Span,
    /// Keys that its verb does not take, other verbs included.
    pub unknown: Vec<&'t Entry<'t>>,
}

/// The kinds of steps.
#[derive(Debug)]
pub enum StepKind<'t> {
    /// `user`: waits for what the user says.
    User,
    /// `bot`: says something.
    Bot(Template),
    /// `set`: gives arguments values.
    Set(Vec<Assignment>),
    /// `label`: a place to go to.
    Label(Spanned<Name>),
    /// `next`: goes to a label or a subflow, and does not come back.
    Next {
        /// Where to.
        target: Spanned<Name>,
        /// How often at most.
        tries: Option<Spanned<u32>>,
    },
    /// `call`: lets an agent or a function do something.
    Call {
        /// Which.
        target: Spanned<Name>,
        /// What it is given.
        args: Vec<Assignment>,
    },
    /// `if`, with the `else if`s and the `else` that belong to it.
    If(Vec<Branch<'t>>),
    /// `return`: ends the agent.
    Return {
        /// `success`, or anything else for a failure.
        status: Spanned<Name>,
        /// What is said to the caller.
        message: Option<Spanned<Name>>,
    },
    /// No step of the language; a problem was reported.
    Other(&'t Entry<'t>),
}

/// A branch of an `if`.
#[derive(Debug)]
pub struct Branch<'t> {
    /// When it is taken; absent for `else`.
    pub condition: Option<Condition>,
    /// What the condition says about the user.
    pub intent: Option<(Verb, Vec<Spanned<SmolStr>>)>,
    /// The steps.
    pub steps: Vec<Step<'t>>,
    /// How often the branch may be taken; MICA only.
    pub tries: Option<Spanned<u32>>,
    /// Where it is written.
    pub span: Span,
}

/// `name: value`, in `set` and in the `args` of a call. Whether a text is the name of an argument
/// is not known here.
#[derive(Debug)]
pub struct Assignment {
    /// The argument.
    pub target: Spanned<Path>,
    /// The value as a constant.
    pub literal: Literal,
    /// The value as the name of an argument, if it can be one.
    pub path: Option<Spanned<Path>>,
    /// Where the value is written.
    pub value_span: Span,
    /// Whether it is in quotes.
    pub quoted: bool,
}

impl Agent<'_> {
    /// The field called `name`, if it has it.
    #[must_use]
    pub fn field(&self, name: &str) -> Option<&Field<'_>> {
        self.fields.iter().find(|f| f.def.name == name)
    }
}
