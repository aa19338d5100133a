//! Bodies: each kind of statement at its key, if every kind occurs once and in ABL's order; else a list.

pub(crate) use super::fields::BodyForm;
use super::{CallForm, by_form};
use crate::describe::*;
use crate::notation::check_agent;
use crate::reader::{Object, Reader};
use crate::schema::{ObjectSchema, Schemas};
use crate::values::is_nothing;
use agentir_diagnostics::{Diagnostic, Spanned};
use agentir_expr::{Condition, Name};
use agentir_ir::{Body, Branch, Call, Jump, Phase, Response, Statement};
use agentir_syntax::json::Json as Node;
use agentir_syntax::lower::report_lost;
use agentir_syntax::rules;
use serde::ser::{SerializeMap, Serializer};
use serde_json::Value;
use std::borrow::Cow;

by_form!(Body = "Body" by BodyForm<'_>, form_of, statements_of);

/// Whether keys can express the statements: each kind once, assignments together, in the order of their phases.
pub(super) fn is_in_order(
    statements: &[Statement],
    phase: impl Fn(&Statement) -> Option<Phase>,
) -> bool {
    let mut last = None;
    statements.iter().all(|statement| {
        let here = phase(statement);
        let fits = here.is_some() && (last < here || (last == here && here == Some(Phase::Set)));
        last = here;
        let is_empty = match statement {
            Statement::Respond(response) => is_nothing(response),
            _ => false,
        };
        fits && !is_empty
    })
}

fn form_of(body: &Body) -> BodyForm<'_> {
    let no_keys = [Phase::Collect, Phase::Check, Phase::Await, Phase::Escalate];
    let phase = |s: &Statement| s.phase().filter(|phase| !no_keys.contains(phase));
    let mut form = BodyForm::default();
    if !is_in_order(&body.0, phase) {
        form.statements = (!body.0.is_empty()).then_some(Cow::Borrowed(&body.0));
        return form;
    }
    for statement in &body.0 {
        add_statement!(form, statement);
    }
    form
}

/// Puts a statement at its keys in the form of a body or a step.
macro_rules! add_statement {
    ($form:ident, $statement:ident) => {
        match $statement {
            Statement::Set(set) => {
                $form.set.get_or_insert_default().push(Cow::Borrowed(set));
            }
            Statement::Clear { variables } => $form.clear = Some(Cow::Borrowed(variables)),
            Statement::Transform(transform) => $form.transform = Some(Cow::Borrowed(transform)),
            Statement::Log { value } => $form.log = Some(Cow::Borrowed(value)),
            Statement::Respond(Response {
                text,
                template,
                message_key,
                voice_config,
                rich_content,
                actions,
            }) => {
                $form.respond = text.as_ref().map(Cow::Borrowed);
                $form.respond_template = template.as_ref().map(Cow::Borrowed);
                $form.message_key = message_key.as_ref().map(Cow::Borrowed);
                $form.voice_config = voice_config.as_ref().map(Cow::Borrowed);
                $form.rich_content = rich_content.as_ref().map(Cow::Borrowed);
                $form.actions = actions.as_ref().map(Cow::Borrowed);
            }
            Statement::Call(call) => {
                $form.call = Some(Cow::Borrowed(&call.tool));
                $form.call_spec = Some(CallForm::new(call));
                $form.success_when = call.success_when.as_ref().map(Cow::Borrowed);
                $form.on_success = call.on_success.non_empty().map(Cow::Borrowed);
                $form.on_failure = call.on_failure.non_empty().map(Cow::Borrowed);
                $form.on_result =
                    (!call.on_result.is_empty()).then_some(Cow::Borrowed(&call.on_result));
            }
            Statement::Delegate(delegation) => $form.delegate = Some(Cow::Borrowed(delegation)),
            Statement::Handoff(delegation) => $form.handoff = Some(Cow::Borrowed(delegation)),
            Statement::If { branches } => $form.branches = Some(Cow::Borrowed(branches)),
            Statement::Goto(jump) => $form.then = Some(Cow::Borrowed(jump)),
            _ => {}
        }
    };
}
pub(super) use add_statement;

/// The call of a body or a step, with what follows it.
pub(super) struct Followed<'a> {
    pub(super) call: Option<Cow<'a, Spanned<Name>>>,
    pub(super) spec: Option<CallForm<'a>>,
    pub(super) success_when: Option<Cow<'a, Condition>>,
    pub(super) on_success: Option<Cow<'a, Body>>,
    pub(super) on_failure: Option<Cow<'a, Body>>,
    pub(super) on_result: Option<Cow<'a, [Branch]>>,
}

impl Followed<'_> {
    pub(super) fn into_call(self, reader: &mut Reader<'_>) -> Option<Call> {
        let call = match (self.call, self.spec) {
            (Some(tool), Some(spec)) if *tool != *spec.tool => {
                let message = format!("`call` says `{tool}`, and `call_spec` says `{}`", spec.tool);
                reader.report(
                    Diagnostic::error(rules::CONFLICTING_FIELDS, tool.span, message)
                        .label(spec.tool.span, "this tool is called")
                        .help("write the same tool, or only `call_spec`"),
                );
                spec.into_call()
            }
            (Some(tool), Some(spec)) => Call { named_again: Some(tool.span), ..spec.into_call() },
            (None, Some(spec)) => spec.into_call(),
            (Some(tool), None) => {
                let span = tool.span;
                Call::new(tool.into_owned(), Vec::new(), span)
            }
            (None, None) => return None,
        };
        Some(Call {
            success_when: self.success_when.map(Cow::into_owned),
            on_success: self.on_success.map(Cow::into_owned).unwrap_or_default(),
            on_failure: self.on_failure.map(Cow::into_owned).unwrap_or_default(),
            on_result: self.on_result.map(Cow::into_owned).unwrap_or_default(),
            ..call
        })
    }
}

/// A jump as a statement.
pub(super) fn goto(jump: Cow<'_, Jump>, reader: &mut Reader<'_>) -> Statement {
    check_agent(&jump, reader);
    Statement::Goto(jump.into_owned())
}

/// The keys of statements in a body.
const STATEMENTS: &[&str] = &[
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
    "delegate",
    "handoff",
    "branches",
    "then",
];

/// Reports keys of a body that exclude each other, or that mean nothing without others.
pub(super) fn check_keys(object: &Object<'_>, reader: &mut Reader<'_>) {
    object.exclude(
        "do",
        STATEMENTS,
        "`do` lists all statements: move this one into the list",
        reader,
    );
    for key in ["success_when", "on_success", "on_failure", "on_result"] {
        object.require(key, &["call", "call_spec"], reader);
    }
}

/// A message of its parts; none if there are none.
macro_rules! response_of {
    ($form:ident) => {{
        let response = Response {
            text: $form.respond.map(Cow::into_owned),
            template: $form.respond_template.map(Cow::into_owned),
            message_key: $form.message_key.map(Cow::into_owned),
            voice_config: $form.voice_config.map(Cow::into_owned),
            rich_content: $form.rich_content.map(Cow::into_owned),
            actions: $form.actions.map(Cow::into_owned),
        };
        (!is_nothing(&response)).then_some(Statement::Respond(response))
    }};
}
pub(super) use response_of;

#[expect(clippy::unnecessary_wraps, reason = "forms of other types can be wrong")]
fn statements_of(form: BodyForm<'_>, reader: &mut Reader<'_>) -> Option<Body> {
    let mut all = Vec::new();
    let set = form.set.unwrap_or_default();
    all.extend(set.into_iter().map(|set| Statement::Set(set.into_owned())));
    all.extend(form.clear.map(|names| Statement::Clear { variables: names.into_owned() }));
    all.extend(form.transform.map(|transform| Statement::Transform(transform.into_owned())));
    all.extend(form.log.map(|value| Statement::Log { value: value.into_owned() }));
    all.extend(response_of!(form));
    let call = Followed {
        call: form.call,
        spec: form.call_spec,
        success_when: form.success_when,
        on_success: form.on_success,
        on_failure: form.on_failure,
        on_result: form.on_result,
    };
    all.extend(call.into_call(reader).map(|call| Statement::Call(Box::new(call))));
    all.extend(form.delegate.map(|to| Statement::Delegate(to.into_owned())));
    all.extend(form.handoff.map(|to| Statement::Handoff(to.into_owned())));
    all.extend(form.branches.map(|branches| Statement::If { branches: branches.into_owned() }));
    all.extend(form.then.map(|jump| goto(jump, reader)));
    Some(form.statements.map_or(Body(all), |list| listed(list, reader)))
}

/// A body that is a list.
pub(super) fn listed(list: Cow<'_, [Statement]>, reader: &mut Reader<'_>) -> Body {
    for together in
        list.chunk_by(|one, next| matches!((one, next), (Statement::Set(_), Statement::Set(_))))
    {
        let sets = together.iter().filter_map(|statement| match statement {
            Statement::Set(set) => Some((&set.target, &set.value)),
            _ => None,
        });
        reader.reporting(|problems| report_lost(sets, problems));
    }
    Body(list.into_owned())
}
