//! Flows and their steps.

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

/// A flow. Without one, the model leads the conversation.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct Flow {
    /// The steps in declaration order; a step without a `then` continues with the next.
    pub steps: Vec<Spanned<Name>>,
    /// An explicit order, written as `a -> b -> c`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sequence: Vec<Spanned<Name>>,
    /// The steps by name.
    pub definitions: IndexMap<SmolStr, Step>,
    /// The first step; the first of `steps` if absent.
    pub entry_point: Option<Spanned<Name>>,
    /// Digressions available in every step.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub global_digressions: Vec<Digression>,
    /// Steps redefined under the same name; only the last definition is effective.
    #[serde(skip)]
    pub shadowed: Vec<Step>,
    /// Dialect-specific data that AgentIR has no field for.
    #[serde(skip_serializing_if = "Extensions::is_empty")]
    pub extensions: Extensions,
    /// Its location in the source.
    #[serde(skip)]
    pub span: Span,
    /// The location of the key that introduces it; empty if there is none.
    #[serde(skip)]
    pub key: Span,
}

impl Flow {
    /// The name of the first step.
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

/// A step: its statements in execution order, and what may interrupt them.
///
/// Its JSON has ABL's fields. A body they cannot express (statements in another order, or repeated)
/// is a list under `do`.
#[derive(Clone, Debug, Default)]
pub struct Step {
    /// The name.
    pub name: Spanned<Name>,
    /// The step is skipped if this does not hold.
    pub when: Option<Condition>,
    /// A description.
    pub description: Option<Template>,
    /// The model leads in this step.
    pub reasoning_zone: Option<ReasoningZone>,
    /// The value of `REASONING`, if written.
    pub reasoning: Option<bool>,
    /// The statements.
    pub body: Body,
    /// The maximum number of attempts.
    pub max_attempts: Option<Number>,
    /// What happens when the attempts are used up.
    pub on_exhausted: Option<Jump>,
    /// Digressions: intents that leave the step.
    pub digressions: Vec<Digression>,
    /// Sub-intents: questions answered without leaving the step.
    pub sub_intents: Vec<SubIntent>,
    /// Handlers of buttons and inputs in this step.
    pub on_action: Vec<ActionHandler>,
    /// Error handlers of this step.
    pub on_error: Vec<ErrorHandler>,
    /// A file the step waits for.
    pub await_attachment: Option<Spanned<Data>>,
    /// An approval by a human.
    pub human_approval: Option<Spanned<Data>>,
    /// Dialect-specific data that AgentIR has no field for.
    pub extensions: Extensions,
    /// Its location in the source.
    pub span: Span,
}

/// A part of a conversation that the model leads.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct ReasoningZone {
    /// The goal.
    pub goal: Option<Template>,
    /// The tools it may use; all if absent.
    pub available_tools: Option<Vec<Spanned<Name>>>,
    /// Statements executed before each model request; they may add instructions.
    #[serde(skip_serializing_if = "Body::is_empty")]
    pub prepare: Body,
    /// The tools as exposed to the model, where they differ from their declarations.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub bindings: Vec<ToolBinding>,
    /// The exit condition.
    pub exit_when: Option<Condition>,
    /// The maximum number of turns.
    pub max_turns: Option<Number>,
    /// Constraints in this zone.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub constraints: Vec<Constraint>,
    /// Dialect-specific data that AgentIR has no field for.
    #[serde(skip_serializing_if = "Extensions::is_empty")]
    pub extensions: Extensions,
}

/// A digression: leaves a step when the user has another intent.
#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Digression {
    /// The intent.
    pub intent: Option<Spanned<SmolStr>>,
    /// Keywords that indicate it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub keywords: Vec<Template>,
    /// The condition.
    pub condition: Option<Condition>,
    /// Who decides that it happens.
    pub decided_by: Decider,
    /// The statements.
    #[serde(flatten)]
    pub body: Body,
    /// Whether the step is resumed afterwards.
    pub resume: Option<bool>,
    /// Dialect-specific data that AgentIR has no field for.
    #[serde(skip_serializing_if = "Extensions::is_empty")]
    pub extensions: Extensions,
    /// Its location in the source.
    #[serde(skip)]
    pub span: Span,
}

/// A question that is answered without leaving the step.
pub type SubIntent = Digression;

/// The JSON of a [`Step`], with ABL's fields.
#[skip_serializing_none]
#[derive(Default, Serialize, JsonSchema)]
#[schemars(rename = "Step")]
struct StepJson<'a> {
    /// The name.
    name: &'a str,
    /// The step is skipped if this does not hold.
    when: Option<&'a Condition>,
    /// A description.
    description: Option<&'a Template>,
    /// The model leads in this step.
    reasoning_zone: Option<&'a ReasoningZone>,
    /// The message before collecting.
    present: Option<&'a Template>,
    /// The fields to collect.
    gather: Option<&'a crate::gather::Gather>,
    /// Whether the user may correct earlier answers.
    corrections: Option<bool>,
    /// Collecting ends when this holds.
    complete_when: Option<&'a Condition>,
    /// Assignments, in order.
    set: Option<Vec<&'a SetVariable>>,
    /// Variables to clear.
    clear: Option<&'a [Spanned<Name>]>,
    /// A list pipeline.
    transform: Option<&'a Transform>,
    /// The value to log.
    log: Option<&'a Spanned<Data>>,
    /// The message to the user.
    respond: Option<&'a Template>,
    /// The named template of the message.
    respond_template: Option<&'a Spanned<Name>>,
    /// The key of the message.
    message_key: Option<&'a Spanned<Name>>,
    /// Settings for speech output.
    voice_config: Option<&'a Data>,
    /// Rich content for channels that show more than text.
    rich_content: Option<&'a Data>,
    /// Buttons and inputs shown with the message.
    actions: Option<&'a crate::statement::Actions>,
    /// The tool that is called.
    call: Option<&'a Spanned<Name>>,
    /// The call in full.
    call_spec: Option<CallSpec<'a>>,
    /// The success condition of the call.
    success_when: Option<&'a Condition>,
    /// Runs after the fields are collected or the call has succeeded.
    on_success: Option<&'a Body>,
    /// Runs after the attempts are used up or the call has failed.
    on_failure: Option<&'a Body>,
    /// After the call: the first branch whose condition holds.
    on_result: Option<&'a [Branch]>,
    /// A condition that must hold.
    check: Option<&'a Condition>,
    /// The jump taken if the check or the call fails.
    on_fail: Option<&'a Jump>,
    /// Branches on the user's answer.
    on_input: Option<&'a [Branch]>,
    /// Branches tried in order.
    branches: Option<&'a [Branch]>,
    /// The agent delegated to.
    delegate: Option<&'a crate::statement::Delegation>,
    /// The agent that takes over.
    handoff: Option<&'a crate::statement::Delegation>,
    /// The jump at the end.
    then: Option<&'a Jump>,
    /// All statements in order, if the fields above cannot express them.
    #[serde(rename = "do")]
    statements: Option<&'a [Statement]>,
    /// The maximum number of attempts.
    max_attempts: Option<Number>,
    /// What happens when the attempts are used up.
    on_exhausted: Option<&'a Jump>,
    /// Digressions: intents that leave the step.
    digressions: Option<&'a [Digression]>,
    /// Sub-intents: questions answered without leaving the step.
    sub_intents: Option<&'a [SubIntent]>,
    /// Handlers of buttons and inputs in this step.
    on_action: Option<&'a [ActionHandler]>,
    /// Error handlers of this step.
    on_error: Option<&'a [ErrorHandler]>,
    /// A file the step waits for.
    await_attachment: Option<&'a Spanned<Data>>,
    /// An approval by a human.
    human_approval: Option<&'a Spanned<Data>>,
    /// Dialect-specific data that AgentIR has no field for.
    extensions: Option<&'a Extensions>,
}

fn non_empty<T>(all: &[T]) -> Option<&[T]> {
    (!all.is_empty()).then_some(all)
}

/// The phase of a statement in a step; `None` if the fields of a step cannot express it.
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
            digressions: non_empty(&step.digressions),
            sub_intents: non_empty(&step.sub_intents),
            on_action: non_empty(&step.on_action),
            on_error: non_empty(&step.on_error),
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
        // Collecting and calling share the success and failure fields; a step with both is a list.
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
                self.on_result = non_empty(&call.on_result);
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
