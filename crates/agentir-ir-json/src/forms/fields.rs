//! The keys of bodies and steps.

use super::{CallForm, PlainName};
use crate::describe::*;
use agentir_diagnostics::{Span, Spanned};
use agentir_expr::{Condition, Name, Template};
use agentir_ir::{
    ActionHandler, Actions, Body, Branch, Data, Delegation, Digression, ErrorHandler, Extensions,
    Gather, Jump, Number, ReasoningZone, SetVariable, Statement, Transform,
};
use std::borrow::Cow;

/// The statements of a body, by their kinds.
#[derive(Default)]
pub(crate) struct BodyForm<'a> {
    pub(crate) set: Option<Vec<Cow<'a, SetVariable>>>,
    pub(crate) clear: Option<Cow<'a, [Spanned<Name>]>>,
    pub(crate) transform: Option<Cow<'a, Transform>>,
    pub(crate) log: Option<Cow<'a, Spanned<Data>>>,
    pub(crate) respond: Option<Cow<'a, Template>>,
    pub(crate) respond_template: Option<Cow<'a, Spanned<Name>>>,
    pub(crate) message_key: Option<Cow<'a, Spanned<Name>>>,
    pub(crate) voice_config: Option<Cow<'a, Data>>,
    pub(crate) rich_content: Option<Cow<'a, Data>>,
    pub(crate) actions: Option<Cow<'a, Actions>>,
    pub(crate) call: Option<Cow<'a, Spanned<Name>>>,
    pub(crate) call_spec: Option<CallForm<'a>>,
    pub(crate) success_when: Option<Cow<'a, Condition>>,
    pub(crate) on_success: Option<Cow<'a, Body>>,
    pub(crate) on_failure: Option<Cow<'a, Body>>,
    pub(crate) on_result: Option<Cow<'a, [Branch]>>,
    pub(crate) delegate: Option<Cow<'a, Delegation>>,
    pub(crate) handoff: Option<Cow<'a, Delegation>>,
    pub(crate) branches: Option<Cow<'a, [Branch]>>,
    pub(crate) then: Option<Cow<'a, Jump>>,
    pub(crate) statements: Option<Cow<'a, [Statement]>>,
}

object! {
    /// The JSON of a [`Body`], with ABL's fields.
    BodyForm<'_> = "Body" {
        /// Assignments, in order.
        set as "set": optional;
        /// Variables to clear.
        clear as "clear": optional;
        /// A list pipeline.
        transform as "transform": optional;
        /// The value to log.
        log as "log": optional;
        /// The message to the user.
        respond as "respond": optional;
        /// The named template of the message.
        respond_template as "respond_template": optional;
        /// The key of the message.
        message_key as "message_key": optional;
        /// Settings for speech output.
        voice_config as "voice_config": optional;
        /// Rich content for channels that show more than text.
        rich_content as "rich_content": optional;
        /// Buttons and inputs shown with the message.
        actions as "actions": optional;
        /// The tool that is called.
        call as "call": optional;
        /// The call in full.
        call_spec as "call_spec": optional;
        /// The success condition of the call.
        success_when as "success_when": optional;
        /// Runs after success.
        on_success as "on_success": optional;
        /// Runs after failure.
        on_failure as "on_failure": optional;
        /// After success or failure: the first branch whose condition holds.
        on_result as "on_result": optional;
        /// The agent delegated to.
        delegate as "delegate": optional;
        /// The agent that takes over.
        handoff as "handoff": optional;
        /// Branches tried in order.
        branches as "branches": optional;
        /// The jump at the end.
        then as "then": optional;
        /// All statements in order, if the fields above cannot express them.
        statements as "do": optional;
    }
    then |_, object, reader| super::body::check_keys(object, reader);
}

/// A step, with its statements by their kinds.
#[derive(Default)]
pub(crate) struct StepForm<'a> {
    pub(crate) name: PlainName<'a>,
    pub(crate) when: Option<Cow<'a, Condition>>,
    pub(crate) description: Option<Cow<'a, Template>>,
    pub(crate) reasoning: Option<bool>,
    pub(crate) reasoning_zone: Option<Cow<'a, ReasoningZone>>,
    pub(crate) present: Option<Cow<'a, Template>>,
    pub(crate) gather: Option<Cow<'a, Gather>>,
    pub(crate) corrections: Option<bool>,
    pub(crate) complete_when: Option<Cow<'a, Condition>>,
    pub(crate) set: Option<Vec<Cow<'a, SetVariable>>>,
    pub(crate) clear: Option<Cow<'a, [Spanned<Name>]>>,
    pub(crate) transform: Option<Cow<'a, Transform>>,
    pub(crate) log: Option<Cow<'a, Spanned<Data>>>,
    pub(crate) respond: Option<Cow<'a, Template>>,
    pub(crate) respond_template: Option<Cow<'a, Spanned<Name>>>,
    pub(crate) message_key: Option<Cow<'a, Spanned<Name>>>,
    pub(crate) voice_config: Option<Cow<'a, Data>>,
    pub(crate) rich_content: Option<Cow<'a, Data>>,
    pub(crate) actions: Option<Cow<'a, Actions>>,
    pub(crate) call: Option<Cow<'a, Spanned<Name>>>,
    pub(crate) call_spec: Option<CallForm<'a>>,
    pub(crate) success_when: Option<Cow<'a, Condition>>,
    pub(crate) on_success: Option<Cow<'a, Body>>,
    pub(crate) on_failure: Option<Cow<'a, Body>>,
    pub(crate) on_result: Option<Cow<'a, [Branch]>>,
    pub(crate) check: Option<Cow<'a, Condition>>,
    pub(crate) on_fail: Option<Cow<'a, Jump>>,
    pub(crate) on_input: Option<Cow<'a, [Branch]>>,
    pub(crate) branches: Option<Cow<'a, [Branch]>>,
    pub(crate) delegate: Option<Cow<'a, Delegation>>,
    pub(crate) handoff: Option<Cow<'a, Delegation>>,
    pub(crate) then: Option<Cow<'a, Jump>>,
    pub(crate) statements: Option<Cow<'a, [Statement]>>,
    pub(crate) max_attempts: Option<Number>,
    pub(crate) on_exhausted: Option<Cow<'a, Jump>>,
    pub(crate) digressions: Option<Cow<'a, [Digression]>>,
    pub(crate) sub_intents: Option<Cow<'a, [Digression]>>,
    pub(crate) on_action: Option<Cow<'a, [ActionHandler]>>,
    pub(crate) on_error: Option<Cow<'a, [ErrorHandler]>>,
    pub(crate) await_attachment: Option<Cow<'a, Spanned<Data>>>,
    pub(crate) human_approval: Option<Cow<'a, Spanned<Data>>>,
    pub(crate) extensions: Option<Cow<'a, Extensions>>,
    pub(crate) span: Span,
}

object! {
    /// The JSON of a [`Step`], with ABL's fields.
    StepForm<'_> = "Step" {
        /// The name.
        name as "name": default(Default::default());
        /// The step is skipped if this does not hold.
        when as "when": optional;
        /// A description.
        description as "description": optional;
        /// Whether the model leads in this step, if that is said; with `reasoning_zone` it does. If no step of a flow
        /// leaves it open, tools that no step names are never called.
        reasoning as "reasoning": optional;
        /// How the model leads in this step.
        reasoning_zone as "reasoning_zone": optional;
        /// The message before collecting.
        present as "present": optional;
        /// The fields to collect.
        gather as "gather": optional;
        /// Whether the user may correct earlier answers.
        corrections as "corrections": optional;
        /// Collecting ends when this holds.
        complete_when as "complete_when": optional;
        /// Assignments, in order.
        set as "set": optional;
        /// Variables to clear.
        clear as "clear": optional;
        /// A list pipeline.
        transform as "transform": optional;
        /// The value to log.
        log as "log": optional;
        /// The message to the user.
        respond as "respond": optional;
        /// The named template of the message.
        respond_template as "respond_template": optional;
        /// The key of the message.
        message_key as "message_key": optional;
        /// Settings for speech output.
        voice_config as "voice_config": optional;
        /// Rich content for channels that show more than text.
        rich_content as "rich_content": optional;
        /// Buttons and inputs shown with the message.
        actions as "actions": optional;
        /// The tool that is called.
        call as "call": optional;
        /// The call in full.
        call_spec as "call_spec": optional;
        /// The success condition of the call.
        success_when as "success_when": optional;
        /// Runs after the fields are collected or the call has succeeded.
        on_success as "on_success": optional;
        /// Runs after the attempts are used up or the call has failed.
        on_failure as "on_failure": optional;
        /// After the call: the first branch whose condition holds.
        on_result as "on_result": optional;
        /// A condition that must hold.
        check as "check": optional;
        /// The jump taken if the check or the call fails.
        on_fail as "on_fail": optional;
        /// Branches on the user's answer.
        on_input as "on_input": optional;
        /// Branches tried in order.
        branches as "branches": optional;
        /// The agent delegated to.
        delegate as "delegate": optional;
        /// The agent that takes over.
        handoff as "handoff": optional;
        /// The jump at the end.
        then as "then": optional;
        /// All statements in order, if the fields above cannot express them.
        statements as "do": optional;
        /// The maximum number of attempts.
        max_attempts as "max_attempts": optional;
        /// What happens when the attempts are used up.
        on_exhausted as "on_exhausted": optional;
        /// Digressions: intents that leave the step.
        digressions as "digressions": optional;
        /// Sub-intents: questions answered without leaving the step.
        sub_intents as "sub_intents": optional;
        /// Handlers of buttons and inputs in this step.
        on_action as "on_action": optional;
        /// Error handlers of this step.
        on_error as "on_error": optional;
        /// A file the step waits for.
        await_attachment as "await_attachment": optional;
        /// An approval by a human.
        human_approval as "human_approval": optional;
        /// Dialect-specific data that AgentIR has no field for.
        extensions as "extensions": optional;
    }
    span span;
    then |_, object, reader| super::step::check_keys(object, reader);
}
