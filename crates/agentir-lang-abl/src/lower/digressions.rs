//! Lowers digressions of steps and flows (§3.14.4, §3.14.5).

use super::Context;
use super::fields::Fields;
use super::flow::body;
use agentir_ir::{Body, Decider, Digression, Extensions, Statement};
use agentir_syntax::lower::merge_extensions;

/// A list of digressions.
pub(super) fn digressions(
    cx: &mut Context<'_>,
    f: &mut Fields<'_>,
    name: &str,
    rest: &mut Extensions,
) -> Vec<Digression> {
    f.items_of(name, rest).into_iter().map(|item| digression(cx, Fields::new(item))).collect()
}

/// Moves a response that precedes a call after the call.
fn respond_after_call(body: &mut Body) {
    let response_at = body.0.iter().position(|s| matches!(s, Statement::Respond(_)));
    let call_at = body.0.iter().position(|s| matches!(s, Statement::Call(_)));
    if let (Some(response_at), Some(call_at)) = (response_at, call_at)
        && response_at < call_at
    {
        let response = body.0.remove(response_at);
        // The removal has shifted the call by one.
        body.0.insert(call_at, response);
    }
}

pub(super) fn digression(cx: &mut Context<'_>, mut f: Fields<'_>) -> Digression {
    let intent = f.text("intent");
    let keywords = f.templates("keywords");
    let condition = f.condition("condition");
    let resume = f.boolean("resume");
    let mut extensions = Extensions::default();
    // A response to the result of a call is written after the call (current specification, 3.14.5).
    let called = f.value_span("call").map(|span| span.start);
    let about_it = called
        .is_some_and(|call| f.value_span("respond").is_some_and(|respond| respond.start > call));
    let mut body = body(cx, &mut f, &mut extensions);
    if about_it {
        respond_after_call(&mut body);
    }
    let span = f.span;
    merge_extensions(&mut extensions, f.into_extensions());
    Digression {
        intent,
        keywords,
        condition,
        decided_by: Decider::User,
        body,
        resume,
        extensions,
        span,
    }
}
