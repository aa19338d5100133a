//! Steps: their statements at keys, with those that only a step has; else a list.

use super::body::{Followed, add_statement, goto, is_in_order, response_of};
pub(crate) use super::fields::StepForm;
use super::{CallForm, PlainName, by_form};
use crate::describe::*;
use crate::reader::{Object, Reader};
use crate::schema::{ObjectSchema, Schemas};
use crate::values::is_nothing;
use agentir_diagnostics::{Diagnostic, Span, Spanned};
use agentir_expr::Name;
use agentir_ir::{Body, Collect, Phase, Response, Statement, Step};
use agentir_syntax::json::Json as Node;
use agentir_syntax::rules;
use serde::ser::{SerializeMap, Serializer};
use serde_json::Value;
use std::borrow::Cow;

by_form!(Step = "Step" by StepForm<'_>, form_of, step_of);

fn list<T: Clone>(all: &[T]) -> Option<Cow<'_, [T]>> {
    (!all.is_empty()).then_some(Cow::Borrowed(all))
}

fn form_of(step: &Step) -> StepForm<'_> {
    let mut form = StepForm {
        name: PlainName(Cow::Borrowed(&step.name)),
        when: step.when.as_ref().map(Cow::Borrowed),
        description: step.description.as_ref().map(Cow::Borrowed),
        reasoning: step.reasoning.filter(|leads| !(*leads && step.reasoning_zone.is_some())),
        reasoning_zone: step.reasoning_zone.as_ref().map(Cow::Borrowed),
        max_attempts: step.max_attempts,
        on_exhausted: step.on_exhausted.as_ref().map(Cow::Borrowed),
        digressions: list(&step.digressions),
        sub_intents: list(&step.sub_intents),
        on_action: list(&step.on_action),
        on_error: list(&step.on_error),
        await_attachment: step.await_attachment.as_ref().map(Cow::Borrowed),
        human_approval: step.human_approval.as_ref().map(Cow::Borrowed),
        extensions: (!step.extensions.is_empty()).then_some(Cow::Borrowed(&step.extensions)),
        ..StepForm::default()
    };
    let phase = |s: &Statement| s.phase().filter(|phase| *phase != Phase::Escalate);
    // Collecting and calling share the keys of what follows; a step with both is a list.
    let is_followed = |s: &&Statement| match s {
        Statement::Collect(c) => !c.on_success.is_empty() || !c.on_failure.is_empty(),
        Statement::Call(_) => true,
        _ => false,
    };
    let statements = &step.body.0;
    if !is_in_order(statements, phase) || statements.iter().filter(is_followed).count() > 1 {
        form.statements = Some(Cow::Borrowed(statements));
        return form;
    }
    for statement in statements {
        match statement {
            Statement::Collect(collect) => {
                form.on_success = collect.on_success.non_empty().map(Cow::Borrowed);
                form.on_failure = collect.on_failure.non_empty().map(Cow::Borrowed);
                form.present = collect.present.as_ref().map(Cow::Borrowed);
                form.gather = Some(Cow::Borrowed(&collect.gather));
                form.corrections = collect.corrections;
                form.complete_when = collect.complete_when.as_ref().map(Cow::Borrowed);
            }
            Statement::Check { condition, otherwise } => {
                form.check = Some(Cow::Borrowed(condition));
                form.on_fail = otherwise.as_ref().map(Cow::Borrowed);
            }
            Statement::Await { branches } => form.on_input = Some(Cow::Borrowed(branches)),
            statement => add_statement!(form, statement),
        }
    }
    form
}

/// The keys of statements in a step.
const STATEMENTS: &[&str] = &[
    "gather",
    "set",
    "clear",
    "transform",
    "log",
    "respond",
    "respond_template",
    "message_key",
    "voice_config",
    "rich_content",
    "actions",
    "call",
    "call_spec",
    "check",
    "on_input",
    "branches",
    "delegate",
    "handoff",
    "then",
];

/// Reports keys of a step that exclude each other, or that mean nothing without others.
pub(super) fn check_keys(object: &Object<'_>, reader: &mut Reader<'_>) {
    object.exclude(
        "do",
        STATEMENTS,
        "`do` lists all statements: move this one into the list",
        reader,
    );
    for key in ["present", "corrections", "complete_when"] {
        object.require(key, &["gather"], reader);
    }
    for key in ["success_when", "on_result"] {
        object.require(key, &["call", "call_spec"], reader);
    }
    for key in ["on_success", "on_failure"] {
        object.require(key, &["call", "call_spec", "gather"], reader);
    }
    object.require("on_fail", &["check"], reader);
}

#[expect(clippy::unnecessary_wraps, reason = "forms of other types can be wrong")]
fn step_of(form: StepForm<'_>, reader: &mut Reader<'_>) -> Option<Step> {
    let mut all = Vec::new();
    let set = form.set.unwrap_or_default();
    all.extend(set.into_iter().map(|set| Statement::Set(set.into_owned())));
    all.extend(form.clear.map(|names| Statement::Clear { variables: names.into_owned() }));
    all.extend(form.transform.map(|transform| Statement::Transform(transform.into_owned())));
    all.extend(form.log.map(|value| Statement::Log { value: value.into_owned() }));
    all.extend(response_of!(form));
    let called = form.call.is_some() || form.call_spec.is_some();
    let (mut on_success, mut on_failure) = (form.on_success, form.on_failure);
    if let Some(gather) = form.gather {
        // What follows belongs to the call, if there is one.
        let follows = |body: &mut Option<Cow<'_, Body>>| match called {
            true => Body::default(),
            false => body.take().map(Cow::into_owned).unwrap_or_default(),
        };
        all.push(Statement::Collect(Collect {
            present: form.present.map(Cow::into_owned),
            gather: gather.into_owned(),
            corrections: form.corrections,
            complete_when: form.complete_when.map(Cow::into_owned),
            on_success: follows(&mut on_success),
            on_failure: follows(&mut on_failure),
            span: form.span,
        }));
    }
    let call = Followed {
        call: form.call,
        spec: form.call_spec,
        success_when: form.success_when,
        on_success,
        on_failure,
        on_result: form.on_result,
    };
    all.extend(call.into_call(reader).map(|call| Statement::Call(Box::new(call))));
    all.extend(form.check.map(|condition| Statement::Check {
        condition: condition.into_owned(),
        otherwise: form.on_fail.map(Cow::into_owned),
    }));
    all.extend(form.delegate.map(|to| Statement::Delegate(to.into_owned())));
    all.extend(form.handoff.map(|to| Statement::Handoff(to.into_owned())));
    all.extend(form.branches.map(|branches| Statement::If { branches: branches.into_owned() }));
    all.extend(form.on_input.map(|branches| Statement::Await { branches: branches.into_owned() }));
    all.extend(form.then.map(|jump| goto(jump, reader)));
    let body = form.statements.map_or(Body(all), |list| super::body::listed(list, reader));
    Some(Step {
        name: form.name.0.into_owned(),
        when: form.when.map(Cow::into_owned),
        description: form.description.map(Cow::into_owned),
        reasoning: form.reasoning.or_else(|| form.reasoning_zone.is_some().then_some(true)),
        reasoning_zone: form.reasoning_zone.map(Cow::into_owned),
        body,
        max_attempts: form.max_attempts,
        on_exhausted: form.on_exhausted.map(Cow::into_owned),
        digressions: form.digressions.map(Cow::into_owned).unwrap_or_default(),
        sub_intents: form.sub_intents.map(Cow::into_owned).unwrap_or_default(),
        on_action: form.on_action.map(Cow::into_owned).unwrap_or_default(),
        on_error: form.on_error.map(Cow::into_owned).unwrap_or_default(),
        await_attachment: form.await_attachment.map(Cow::into_owned),
        human_approval: form.human_approval.map(Cow::into_owned),
        extensions: form.extensions.map(Cow::into_owned).unwrap_or_default(),
        span: form.span,
    })
}

/// Takes the key of a step in `definitions` as its name, or reports that they differ.
pub(super) fn set_name(step: &mut Step, key: &Spanned<Name>, reader: &mut Reader<'_>) {
    if key.value.trim().is_empty() {
        let message = "the name of a step must not be empty";
        reader.report(Diagnostic::error(rules::INVALID_VALUE, key.span, message));
    }
    if step.name.value.is_empty() {
        step.name = key.clone();
    } else if step.name != *key {
        let message = format!("the step `{key}` is called `{}`", step.name);
        reader.report(
            Diagnostic::error(rules::CONFLICTING_FIELDS, step.name.span, message)
                .label(key.span, "jumps find it by this key")
                .help("use the same name for both, or leave `name` out"),
        );
        step.name = key.clone();
    }
}
