//! Flows: steps, what happens in them, and how to leave them.

use crate::agent::ErrorHandler;
use crate::coordination::Decider;
use crate::data::{Data, Extensions, Number};
use crate::rules::Constraint;
use crate::statement::{
    ActionHandler, Body, Branch, CallSpec, Collect, Jump, Phase, Response, SetVariable, Statement,
    Transform,
};
use crate::tool::ToolBinding;
use agentir_diagnostics::{Span, Spanned};
use agentir_expr::{Condition, Name, Template};
use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::Serialize;
use serde_with::skip_serializing_none;
use smol_str::SmolStr;

/// A flow. An agent without one leaves everything to the model.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct Flow {
    /// The steps in the order in which they are declared; a step without a `then` goes on with the
    /// next one here.
    pub steps: Vec<Spanned<Name>>,
    /// The order that is written as arrows, `a -> b -> c`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sequence: Vec<Spanned<Name>>,
    /// The steps by name.
    pub definitions: IndexMap<SmolStr, Step>,
    /// The first step; the first of `steps` if absent.
    pub entry_point: Option<Spanned<Name>>,
    /// Ways out of every step.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub global_digressions: Vec<Digression>,
    /// Steps that are defined again under a name that is taken; only the last definition counts.
    #[serde(skip)]
    pub shadowed: Vec<Step>,
    /// What the model does not model.
    #[serde(skip_serializing_if = "Extensions::is_empty")]
    pub extensions: Extensions,
    /// Where it is written.
    #[serde(skip)]
    pub span: Span,
}

impl Flow {
    /// The name of the step that comes first.
    #[must_use]
    pub fn entry(&self) -> Option<&str> {
        match &self.entry_point {
            Some(name) => Some(&name.value),
            None => self
                .steps
                .first()
                .map(|s| s.value.as_str())
                .or_else(|| self.definitions.keys().next().map(SmolStr::as_str)),
        }
    }
}

/// A step: its statements in the order in which they are executed, and what may interrupt them.
///
/// In JSON it has ABL's fields; a body that they cannot say (statements in another order, or twice)
/// is written out under `do`.
#[derive(Clone, Debug, Default)]
pub struct Step {
    /// Its name.
    pub name: Spanned<Name>,
    /// The step is skipped if this does not hold.
    pub when: Option<Condition>,
    /// What it is for.
    pub description: Option<Template>,
    /// The model is in charge here.
    pub reasoning_zone: Option<ReasoningZone>,
    /// Whether `REASONING` is written at all.
    pub reasoning: Option<bool>,
    /// What is done.
    pub body: Body,
    /// How often it is tried.
    pub max_attempts: Option<Number>,
    /// What happens then.
    pub on_exhausted: Option<Jump>,
    /// Ways out.
    pub digressions: Vec<Digression>,
    /// Questions that are answered without leaving.
    pub sub_intents: Vec<SubIntent>,
    /// What buttons do here.
    pub on_action: Vec<ActionHandler>,
    /// What happens when something goes wrong here.
    pub on_error: Vec<ErrorHandler>,
    /// A file that is waited for.
    pub await_attachment: Option<Spanned<Data>>,
    /// A person who must agree.
    pub human_approval: Option<Spanned<Data>>,
    /// What the model does not model.
    pub extensions: Extensions,
    /// Where it is written.
    pub span: Span,
}

/// A part of a conversation in which the model chooses.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct ReasoningZone {
    /// What it is to reach.
    pub goal: Option<Template>,
    /// The tools it may use; absent for all.
    pub available_tools: Option<Vec<Spanned<Name>>>,
    /// What is done each time before the model is asked; it may add to the instructions.
    #[serde(skip_serializing_if = "Body::is_empty")]
    pub prepare: Body,
    /// The tools as the model sees them, where they differ from their declarations.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub bindings: Vec<ToolBinding>,
    /// When it is done.
    pub exit_when: Option<Condition>,
    /// After so many turns it ends anyway.
    pub max_turns: Option<Number>,
    /// Rules for it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub constraints: Vec<Constraint>,
    /// What the model does not model.
    #[serde(skip_serializing_if = "Extensions::is_empty")]
    pub extensions: Extensions,
}

/// A way out of a step when the user wants something else.
#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Digression {
    /// What the user wants.
    pub intent: Option<Spanned<SmolStr>>,
    /// Words that show it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub keywords: Vec<Template>,
    /// Only if this holds.
    pub condition: Option<Condition>,
    /// Who decides.
    pub decided_by: Decider,
    /// What is done.
    #[serde(flatten)]
    pub body: Body,
    /// Whether the step goes on afterwards.
    pub resume: Option<bool>,
    /// What the model does not model.
    #[serde(skip_serializing_if = "Extensions::is_empty")]
    pub extensions: Extensions,
    /// Where it is written.
    #[serde(skip)]
    pub span: Span,
}

/// Something the user may ask for inside a step.
pub type SubIntent = Digression;

/// A [`Step`] with ABL's fields.
#[skip_serializing_none]
#[derive(Default, Serialize, JsonSchema)]
#[schemars(rename = "Step")]
struct StepJson<'a> {
    /// Its name.
    name: &'a str,
    /// The step is skipped if this does not hold.
    when: Option<&'a Condition>,
    /// What it is for.
    description: Option<&'a Template>,
    /// The model is in charge here.
    reasoning_zone: Option<&'a ReasoningZone>,
    /// Said before asking.
    present: Option<&'a Template>,
    /// What is asked for.
    gather: Option<&'a crate::gather::Gather>,
    /// Whether earlier answers may be corrected.
    corrections: Option<bool>,
    /// When enough is known.
    complete_when: Option<&'a Condition>,
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
    actions: Option<&'a crate::statement::Actions>,
    /// The tool that is called.
    call: Option<&'a Spanned<Name>>,
    /// The call in full.
    call_spec: Option<CallSpec<'a>>,
    /// What counts as success of the call.
    success_when: Option<&'a Condition>,
    /// After the fields are there or the call has succeeded.
    on_success: Option<&'a Body>,
    /// After the attempts are used up or the call has failed.
    on_failure: Option<&'a Body>,
    /// After the call: the first branch whose condition holds.
    on_result: Option<&'a [Branch]>,
    /// What must hold.
    check: Option<&'a Condition>,
    /// The step that comes next if it does not, or if the call fails.
    on_fail: Option<&'a Jump>,
    /// What the user's answer leads to.
    on_input: Option<&'a [Branch]>,
    /// Branches that are tried in order.
    branches: Option<&'a [Branch]>,
    /// The agent that is asked.
    delegate: Option<&'a crate::statement::Delegation>,
    /// The agent that takes over.
    handoff: Option<&'a crate::statement::Delegation>,
    /// Where to go on.
    then: Option<&'a Jump>,
    /// All statements in their order, where the fields above cannot say it.
    #[serde(rename = "do")]
    statements: Option<&'a [Statement]>,
    /// How often it is tried.
    max_attempts: Option<Number>,
    /// What happens then.
    on_exhausted: Option<&'a Jump>,
    /// Ways out.
    digressions: Option<&'a [Digression]>,
    /// Questions that are answered without leaving.
    sub_intents: Option<&'a [SubIntent]>,
    /// What buttons do here.
    on_action: Option<&'a [ActionHandler]>,
    /// What happens when something goes wrong here.
    on_error: Option<&'a [ErrorHandler]>,
    /// A file that is waited for.
    await_attachment: Option<&'a Spanned<Data>>,
    /// A person who must agree.
    human_approval: Option<&'a Spanned<Data>>,
    /// What the model does not model.
    extensions: Option<&'a Extensions>,
}

fn some<T>(all: &[T]) -> Option<&[T]> {
    (!all.is_empty()).then_some(all)
}

/// The phase of a statement in a step; `None` if the fields of a step cannot say it.
fn phase_in_step(statement: &Statement) -> Option<Phase> {
    statement.phase().filter(|phase| *phase != Phase::Escalate)
}

impl<'a> StepJson<'a> {
    fn new(step: &'a Step) -> Self {
        let mut json = Self {
            name: &step.name.value,
            when: step.when.as_ref(),
            description: step.description.as_ref(),
            reasoning_zone: step.reasoning_zone.as_ref(),
            max_attempts: step.max_attempts,
            on_exhausted: step.on_exhausted.as_ref(),
            digressions: some(&step.digressions),
            sub_intents: some(&step.sub_intents),
            on_action: some(&step.on_action),
            on_error: some(&step.on_error),
            await_attachment: step.await_attachment.as_ref(),
            human_approval: step.human_approval.as_ref(),
            extensions: (!step.extensions.is_empty()).then_some(&step.extensions),
            ..Self::default()
        };
        let mut last = None;
        let canonical = step.body.0.iter().all(|statement| {
            let here = phase_in_step(statement);
            let fits =
                here.is_some() && (last < here || (last == here && here == Some(Phase::Set)));
            last = here;
            fits
        });
        // Asking and calling share the fields for what follows; with both, the list says it.
        let follows = |s: &&Statement| match s {
            Statement::Collect(c) => !c.on_success.is_empty() || !c.on_failure.is_empty(),
            Statement::Call(_) => true,
            _ => false,
        };
        if !canonical || step.body.0.iter().filter(follows).count() > 1 {
            json.statements = Some(&step.body.0);
            return json;
        }
        for statement in &step.body.0 {
            json.statement(statement);
        }
        json
    }

    fn statement(&mut self, statement: &'a Statement) {
        match statement {
            Statement::Set(set) => self.set.get_or_insert_default().push(set),
            Statement::Clear { variables } => self.clear = Some(variables),
            Statement::Transform(transform) => self.transform = Some(transform),
            Statement::Log { value } => self.log = Some(value),
            Statement::Respond(Response {
                text,
                template,
                message_key,
                voice_config,
                rich_content,
                actions,
            }) => {
                self.respond = text.as_ref();
                self.respond_template = template.as_ref();
                self.message_key = message_key.as_ref();
                self.voice_config = voice_config.as_ref();
                self.rich_content = rich_content.as_ref();
                self.actions = actions.as_ref();
            }
            Statement::Collect(Collect {
                present,
                gather,
                corrections,
                complete_when,
                on_success,
                on_failure,
                span: _,
            }) => {
                self.on_success = on_success.non_empty();
                self.on_failure = on_failure.non_empty();
                self.present = present.as_ref();
                self.gather = Some(gather);
                self.corrections = *corrections;
                self.complete_when = complete_when.as_ref();
            }
            Statement::Call(call) => {
                self.call = Some(&call.tool);
                self.call_spec = Some(CallSpec::new(call));
                self.success_when = call.success_when.as_ref();
                self.on_success = call.on_success.non_empty();
                self.on_failure = call.on_failure.non_empty();
                self.on_result = some(&call.on_result);
            }
            Statement::Check { condition, otherwise } => {
                self.check = Some(condition);
                self.on_fail = otherwise.as_ref();
            }
            Statement::Delegate(delegation) => self.delegate = Some(delegation),
            Statement::Handoff(delegation) => self.handoff = Some(delegation),
            Statement::If { branches } => self.branches = Some(branches),
            Statement::Await { branches } => self.on_input = Some(branches),
            Statement::Goto(jump) => self.then = Some(jump),
            _ => {}
        }
    }
}

impl Serialize for Step {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        StepJson::new(self).serialize(serializer)
    }
}

impl JsonSchema for Step {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Step".into()
    }
    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        StepJson::json_schema(generator)
    }
}
