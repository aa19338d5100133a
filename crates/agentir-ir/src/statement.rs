//! The statement language: what is done, one thing after the other, in steps, branches, hooks,
//! handlers and procedures of all dialects.
//!
//! In JSON a [`Body`] is written the way ABL writes it (`{"set": […], "respond": "…", "then": "…"}`)
//! as long as that says it all: each kind of statement at most once and in ABL's order of
//! execution. Otherwise it is a list, under `do`.

use crate::coordination::{Decider, VariableBinding as Binding};
use crate::data::{Data, Extensions};
use crate::gather::Gather;
use agentir_diagnostics::{Span, Spanned, serialize_at};
use agentir_expr::{Argument, Condition, Expr, Name, Path, Template};
use schemars::JsonSchema;
use serde::Serialize;
use serde_with::skip_serializing_none;
use smol_str::SmolStr;

/// Statements in the order in which they are executed.
#[derive(Clone, Debug, Default)]
pub struct Body(pub Vec<Statement>);

/// One thing that is done.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Statement {
    /// Gives a variable a value.
    Set(SetVariable),
    /// Removes variables.
    Clear {
        /// Their names or paths.
        variables: Vec<Spanned<Name>>,
    },
    /// Filters, maps, sorts and cuts a list.
    Transform(Transform),
    /// Writes something to the log.
    Log {
        /// What.
        value: Spanned<Data>,
    },
    /// Says something to the user.
    Respond(Response),
    /// Tells the model something: adds to its instructions.
    Instruct {
        /// What.
        text: Template,
    },
    /// Asks the user for fields until they are there.
    Collect(Collect),
    /// Calls a tool.
    Call(Box<Call>),
    /// Goes elsewhere if a condition does not hold.
    Check {
        /// The condition.
        condition: Condition,
        /// Where to go if it does not hold.
        #[serde(skip_serializing_if = "Option::is_none")]
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
    /// Lets another agent do something and comes back.
    Delegate(Delegation),
    /// Hands the conversation to another agent.
    Handoff(Delegation),
    /// Hands the conversation to a person.
    Escalate {
        /// Reason, priority and the like.
        #[serde(skip_serializing_if = "Option::is_none")]
        details: Option<Data>,
        /// Where it is written.
        #[serde(skip)]
        span: Span,
    },
    /// Goes on elsewhere.
    Goto(
        #[serde(serialize_with = "goto_json")]
        #[schemars(with = "GotoJson<'static>")]
        Jump,
    ),
    /// Goes on elsewhere, but not more often than this while the agent runs; then with what stands
    /// behind it.
    Repeat {
        /// Where to.
        jump: Jump,
        /// How often at most.
        times: u32,
    },
    /// Something the model has no statement for; kept as data.
    Other {
        /// Its keyword.
        keyword: SmolStr,
        /// Its value.
        value: Data,
        /// Where it is written.
        #[serde(skip)]
        span: Span,
    },
}

/// ABL's order of execution (§3.14): what a step, or anything else that is done, does first and what
/// later, however it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    /// Values are set; the only phase of which there may be several statements.
    Set,
    /// Variables are removed.
    Clear,
    /// A list is transformed.
    Transform,
    /// Something is logged.
    Log,
    /// Something is said.
    Respond,
    /// Fields are asked for.
    Collect,
    /// A tool is called.
    Call,
    /// A condition is checked.
    Check,
    /// Another agent is asked.
    Delegate,
    /// Another agent takes over.
    Handoff,
    /// A choice, perhaps by a result.
    If,
    /// The user's answer.
    Await,
    /// A person takes over.
    Escalate,
    /// On to somewhere else.
    Goto,
}

impl Statement {
    /// When ABL does it; `None` if ABL has no such statement.
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

/// How [`Statement::Goto`] looks among other statements, all of which are objects.
#[derive(Serialize, JsonSchema)]
struct GotoJson<'a> {
    /// Where to.
    then: &'a Jump,
}

fn goto_json<S: serde::Serializer>(jump: &Jump, serializer: S) -> Result<S::Ok, S::Error> {
    GotoJson { then: jump }.serialize(serializer)
}

/// `variable = expression`.
#[derive(Clone, Debug)]
pub struct SetVariable {
    /// What gets the value.
    pub target: Path,
    /// The value.
    pub value: Expr,
    /// The whole assignment.
    pub span: Span,
}

/// How [`SetVariable`] looks in JSON.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "SetVariable")]
struct SetJson {
    /// What gets the value.
    variable: String,
    /// The value, as an expression.
    expression: String,
}

impl SetVariable {
    fn json(&self) -> SetJson {
        SetJson {
            variable: Expr::path(self.target.clone(), self.span).to_string(),
            expression: self.value.to_string(),
        }
    }
}

impl Serialize for SetVariable {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serialize_at(&self.json(), self.span, serializer)
    }
}

impl JsonSchema for SetVariable {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "SetVariable".into()
    }
    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        SetJson::json_schema(generator)
    }
}

/// A list pipeline (ABL §3.14.11).
#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Transform {
    /// The list.
    pub source: Expr,
    /// The name each item goes by in the other fields.
    pub item_var: Spanned<Name>,
    /// The variable that gets the result.
    pub target: Spanned<Name>,
    /// Keeps the items for which it holds.
    pub filter: Option<Expr>,
    /// What each item becomes, field by field.
    #[serde(skip_serializing_if = "Vec::is_empty", serialize_with = "bindings_json")]
    #[schemars(with = "Option<std::collections::BTreeMap<String, String>>")]
    pub map: Vec<(Spanned<Name>, Expr)>,
    /// The order.
    pub sort_by: Option<SortBy>,
    /// At most so many items.
    pub limit: Option<Expr>,
    /// Where it is written.
    #[serde(skip)]
    pub span: Span,
}

/// The order of a [`Transform`].
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct SortBy {
    /// The field that decides.
    pub field: Spanned<Name>,
    /// `asc` or `desc`.
    pub order: &'static str,
}

/// Writes named expressions as a JSON object of their texts.
pub(crate) fn bindings_json<S: serde::Serializer>(
    bindings: &[(Spanned<Name>, Expr)],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer
        .collect_map(bindings.iter().map(|(name, value)| (name.value.as_str(), value.to_string())))
}

/// A message to the user.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct Response {
    /// The text; may be absent where a message key or rich content says it all.
    pub text: Option<Template>,
    /// The named template it takes its text from: `TEMPLATE(name)`.
    pub template: Option<Spanned<Name>>,
    /// The key of a message in the agent's messages.
    pub message_key: Option<Spanned<Name>>,
    /// How it is spoken.
    pub voice_config: Option<Data>,
    /// How it looks in channels that can show more than text.
    pub rich_content: Option<Data>,
    /// Buttons and inputs beside it.
    pub actions: Option<Actions>,
}

/// Buttons, menus and inputs beside a message.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct Actions {
    /// The elements, in order.
    pub elements: Vec<ActionElement>,
    /// The label of the button that submits them.
    pub submit_label: Option<Template>,
    /// Its id.
    pub submit_id: Option<Spanned<Name>>,
    /// The id under which the client draws them.
    #[serde(rename = "renderId")]
    pub render_id: Option<Spanned<Name>>,
}

/// One button, menu or input.
#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ActionElement {
    /// What handlers know it by.
    pub id: Option<Spanned<Name>>,
    /// `button`, `select`, `input`, …
    #[serde(rename = "type")]
    pub kind: Spanned<Name>,
    /// What the user reads.
    pub label: Option<Template>,
    /// What is submitted.
    pub value: Option<Spanned<Name>>,
    /// Choices of a menu.
    pub options: Option<Data>,
    /// `text`, `number`, `date`, …
    pub input_type: Option<Spanned<Name>>,
    /// Shown while an input is empty.
    pub placeholder: Option<Template>,
    /// More about it.
    pub description: Option<Template>,
    /// Where a button leads.
    pub url: Option<Spanned<Name>>,
    /// Whether it must be filled in.
    pub required: Option<bool>,
    /// What the model does not model.
    #[serde(skip_serializing_if = "Extensions::is_empty")]
    pub extensions: Extensions,
    /// Where it is written.
    #[serde(skip)]
    pub span: Span,
}

/// What happens when the user presses or submits something.
#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ActionHandler {
    /// The id of the element.
    pub action_id: Spanned<Name>,
    /// Only if this holds.
    pub condition: Option<Condition>,
    /// What is done.
    #[serde(flatten)]
    pub body: Body,
    /// What the model does not model.
    #[serde(skip_serializing_if = "Extensions::is_empty")]
    pub extensions: Extensions,
    /// Where it is written.
    #[serde(skip)]
    pub span: Span,
}

/// Asking for fields.
#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Collect {
    /// Said first.
    pub present: Option<Template>,
    /// The fields.
    pub gather: Gather,
    /// Whether the user may correct earlier answers.
    pub corrections: Option<bool>,
    /// When enough is known.
    pub complete_when: Option<Condition>,
    /// After all fields are there.
    #[serde(skip_serializing_if = "Body::is_empty")]
    pub on_success: Body,
    /// After the attempts are used up.
    #[serde(skip_serializing_if = "Body::is_empty")]
    pub on_failure: Body,
    /// Where it is written.
    #[serde(skip)]
    pub span: Span,
}

/// A tool call and what follows from its result.
#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Call {
    /// The tool.
    pub tool: Spanned<Name>,
    /// The arguments, by position or by name.
    #[serde(skip_serializing_if = "Vec::is_empty", serialize_with = "arguments_json")]
    #[schemars(with = "Option<Vec<ArgumentJson>>")]
    pub with: Vec<Argument>,
    /// Whether arguments were written at all. Without them the call takes variables of the
    /// parameters' names.
    #[serde(skip)]
    pub has_arguments: bool,
    /// The variable that gets the result.
    #[serde(rename = "as")]
    pub result: Option<Spanned<Name>>,
    /// What counts as success, where it is not the tool's own word.
    pub success_when: Option<Condition>,
    /// After success.
    #[serde(skip_serializing_if = "Outcome::is_empty")]
    pub on_success: Outcome,
    /// After failure.
    #[serde(skip_serializing_if = "Outcome::is_empty")]
    pub on_failure: Outcome,
    /// After either: the first branch whose condition holds.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub on_result: Vec<Branch>,
    /// The call itself.
    #[serde(skip)]
    pub span: Span,
}

impl Call {
    /// A call with these arguments, after which nothing is done.
    #[must_use]
    pub fn new(tool: Spanned<Name>, with: Vec<Argument>, span: Span) -> Self {
        Self {
            tool,
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

/// What follows success or failure: statements, and then perhaps branches.
pub type Outcome = Body;

impl Body {
    /// Whether there is nothing to do.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The statements, if there are any.
    #[must_use]
    pub fn non_empty(&self) -> Option<&Self> {
        (!self.is_empty()).then_some(self)
    }
}

/// A call without what follows from it, which ABL writes beside it.
#[skip_serializing_none]
#[derive(Serialize, JsonSchema)]
pub(crate) struct CallSpec<'a> {
    /// The tool.
    tool: &'a Spanned<Name>,
    /// The arguments, by position or by name.
    #[serde(skip_serializing_if = "<[Argument]>::is_empty", serialize_with = "arguments_json")]
    #[schemars(with = "Option<Vec<ArgumentJson>>")]
    with: &'a [Argument],
    /// The variable that gets the result.
    #[serde(rename = "as")]
    result: Option<&'a Spanned<Name>>,
}

impl<'a> CallSpec<'a> {
    pub(crate) fn new(call: &'a Call) -> Self {
        Self { tool: &call.tool, with: &call.with, result: call.result.as_ref() }
    }
}

/// How an argument looks in JSON.
#[skip_serializing_none]
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Argument")]
struct ArgumentJson {
    /// The parameter, if named.
    name: Option<String>,
    /// The value, as an expression.
    value: String,
}

fn arguments_json<S: serde::Serializer>(
    args: &[Argument],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(args.iter().map(|a| ArgumentJson {
        name: a.name.as_ref().map(|n| n.value.to_string()),
        value: a.value.to_string(),
    }))
}

/// One of several ways to go on.
#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Branch {
    /// When it is taken; absent for `ELSE`.
    pub condition: Option<Condition>,
    /// What is done then.
    #[serde(flatten)]
    pub body: Body,
    /// What the model does not model.
    #[serde(skip_serializing_if = "Extensions::is_empty")]
    pub extensions: Extensions,
    /// Where it is written.
    #[serde(skip)]
    pub span: Span,
}

/// Calling or handing over to another agent, from a statement.
#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Delegation {
    /// The agent.
    pub agent: Spanned<Name>,
    /// Whether the conversation comes back.
    #[serde(rename = "return")]
    pub returns: Option<bool>,
    /// Who decides that it happens.
    pub decided_by: Decider,
    /// What its own variables are bound to.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub bindings: Vec<Binding>,
}

/// Going on elsewhere.
#[derive(Clone, Debug, PartialEq)]
pub struct Jump {
    /// Where to.
    pub target: Target,
    /// Why, for the person or the log.
    pub reason: Option<Spanned<SmolStr>>,
    /// Where it is written.
    pub span: Span,
}

/// Where a [`Jump`] leads.
#[derive(Clone, Debug, PartialEq)]
pub enum Target {
    /// A step of the same flow.
    Step(Spanned<Name>),
    /// The agent is done.
    Complete,
    /// On with the conversation, as if nothing had happened.
    Continue,
    /// The same again.
    Retry,
    /// The step again, from its start.
    RetryStep,
    /// Back to the step that was left.
    Resume,
    /// An earlier step.
    Backtrack(Option<Spanned<Name>>),
    /// A person.
    Escalate,
    /// Another agent, for good.
    Handoff(Option<Spanned<Name>>),
    /// Another agent, and back.
    Delegate(Option<Spanned<Name>>),
    /// Nothing more is done with what caused this.
    Block,
    /// The offending part is removed.
    Redact,
    /// The user chooses among these.
    AskUser(Vec<Spanned<Name>>),
    /// The agent is done, without success.
    Fail,
}

impl Target {
    /// Whether statements behind a jump to here can never be reached.
    #[must_use]
    pub const fn leaves(&self) -> bool {
        !matches!(self, Self::Continue | Self::Redact | Self::AskUser(_))
    }

    /// The agent, if the target is one.
    #[must_use]
    pub const fn agent(&self) -> Option<&Spanned<Name>> {
        match self {
            Self::Handoff(Some(agent)) | Self::Delegate(Some(agent)) => Some(agent),
            _ => None,
        }
    }

    /// The step, if the target is one.
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

impl Serialize for Jump {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.reason {
            Some(reason) => {
                let reason = serde_json::Value::from(reason.value.as_str());
                let text = format_args!("{} with REASON: {reason}", self.target);
                serialize_at(&text, self.span, serializer)
            }
            None => serialize_at(&format_args!("{}", self.target), self.span, serializer),
        }
    }
}

impl JsonSchema for Jump {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Jump".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "type": "string",
            "description": "Where to go on: a step's name, or `COMPLETE`, `CONTINUE`, `RETRY`, `ESCALATE`, `HANDOFF Agent`, …"
        })
    }
}

/// A [`Body`] as ABL writes it.
#[skip_serializing_none]
#[derive(Default, Serialize, JsonSchema)]
#[schemars(rename = "Body")]
struct BodyJson<'a> {
    /// Assignments, in order.
    set: Option<Vec<&'a SetVariable>>,
    /// Variables that are removed.
    clear: Option<&'a [Spanned<Name>]>,
    /// A list pipeline.
    transform: Option<&'a Transform>,
    /// What is logged.
    log: Option<&'a Spanned<Data>>,
    /// What is said.
    respond: Option<&'a Template>,
    /// The named template that is said.
    respond_template: Option<&'a Spanned<Name>>,
    /// The key of the message that is said.
    message_key: Option<&'a Spanned<Name>>,
    /// How it is spoken.
    voice_config: Option<&'a Data>,
    /// How it looks.
    rich_content: Option<&'a Data>,
    /// Buttons and inputs beside it.
    actions: Option<&'a Actions>,
    /// The tool that is called.
    call: Option<&'a Spanned<Name>>,
    /// The call in full.
    call_spec: Option<CallSpec<'a>>,
    /// What counts as success.
    success_when: Option<&'a Condition>,
    /// After success.
    on_success: Option<&'a Body>,
    /// After failure.
    on_failure: Option<&'a Body>,
    /// After either: the first branch whose condition holds.
    on_result: Option<&'a [Branch]>,
    /// The agent that is asked.
    delegate: Option<&'a Delegation>,
    /// The agent that takes over.
    handoff: Option<&'a Delegation>,
    /// Branches that are tried in order.
    branches: Option<&'a [Branch]>,
    /// Where to go on.
    then: Option<&'a Jump>,
    /// All statements in their order, where the fields above cannot say it.
    #[serde(rename = "do")]
    statements: Option<&'a [Statement]>,
}

/// The phase of a statement in a body; `None` if ABL's fields cannot say it there.
fn phase_in_body(statement: &Statement) -> Option<Phase> {
    let no_fields = [Phase::Collect, Phase::Check, Phase::Await, Phase::Escalate];
    statement.phase().filter(|phase| !no_fields.contains(phase))
}

impl<'a> From<&'a Body> for BodyJson<'a> {
    fn from(body: &'a Body) -> Self {
        let mut json = Self::default();
        let mut last = None;
        for statement in &body.0 {
            let here = phase_in_body(statement);
            // Several assignments stand together; of anything else there is one.
            let fits =
                here.is_some() && (last < here || (last == here && here == Some(Phase::Set)));
            if !fits {
                return Self { statements: Some(&body.0), ..Self::default() };
            }
            last = here;
            match statement {
                Statement::Set(set) => json.set.get_or_insert_default().push(set),
                Statement::Clear { variables } => json.clear = Some(variables),
                Statement::Transform(transform) => json.transform = Some(transform),
                Statement::Log { value } => json.log = Some(value),
                Statement::Respond(response) => {
                    json.respond = response.text.as_ref();
                    json.respond_template = response.template.as_ref();
                    json.message_key = response.message_key.as_ref();
                    json.voice_config = response.voice_config.as_ref();
                    json.rich_content = response.rich_content.as_ref();
                    json.actions = response.actions.as_ref();
                }
                Statement::Call(call) => {
                    json.call = Some(&call.tool);
                    json.call_spec = Some(CallSpec::new(call));
                    json.success_when = call.success_when.as_ref();
                    json.on_success = call.on_success.non_empty();
                    json.on_failure = call.on_failure.non_empty();
                    json.on_result = (!call.on_result.is_empty()).then_some(&call.on_result);
                }
                Statement::Delegate(delegation) => json.delegate = Some(delegation),
                Statement::Handoff(delegation) => json.handoff = Some(delegation),
                Statement::If { branches } => json.branches = Some(branches),
                Statement::Goto(jump) => json.then = Some(jump),
                _ => {}
            }
        }
        json
    }
}

impl Serialize for Body {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        BodyJson::from(self).serialize(serializer)
    }
}

impl JsonSchema for Body {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Body".into()
    }
    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        BodyJson::json_schema(generator)
    }
}
