//! Ways out of a step and out of a flow (§3.14.4, §3.14.5).

use super::Context;
use super::agent::merge;
use super::fields::Fields;
use super::flow::body;
use agentir_ir::{Body, Decider, Digression, Extensions, Statement};

/// The ways out in a list.
pub(super) fn digressions(
    cx: &mut Context<'_>,
    f: &mut Fields<'_>,
    name: &str,
    rest: &mut Extensions,
) -> Vec<Digression> {
    f.items_of(name, rest).into_iter().map(|item| digression(cx, Fields::new(item))).collect()
}

/// Puts what is said before a call behind it.
fn say_behind_call(body: &mut Body) {
    let said = body.0.iter().position(|s| matches!(s, Statement::Respond(_)));
    let called = body.0.iter().position(|s| matches!(s, Statement::Call(_)));
    if let (Some(said), Some(called)) = (said, called)
        && said < called
    {
        let said = body.0.remove(said);
        // One place earlier now.
        body.0.insert(called, said);
    }
}

pub(super) fn digression(cx: &mut Context<'_>, mut f: Fields<'_>) -> Digression {
    let intent = f.text("intent");
    let keywords = f.templates("keywords");
    let condition = f.condition("condition");
    let resume = f.boolean("resume");
    let mut extensions = Extensions::default();
    // What is said about the result of a call is written behind it (current specification, 3.14.5).
    let called = f.value_span("call").map(|span| span.start);
    let about_it = called
        .is_some_and(|call| f.value_span("respond").is_some_and(|respond| respond.start > call));
    let mut body = body(cx, &mut f, &mut extensions);
    if about_it {
        say_behind_call(&mut body);
    }
    let span = f.span;
    merge(&mut extensions, f.rest());
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
