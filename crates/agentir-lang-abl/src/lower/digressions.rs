//! Lowers digressions of steps and flows (§3.14.4, §3.14.5).

use super::Context;
use super::fields::Fields;
use super::flow::digression_body;
use agentir_ir::{Decider, Digression, Extensions};
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

pub(super) fn digression(cx: &mut Context<'_>, mut f: Fields<'_>) -> Digression {
    let intent = f.text("intent");
    let keywords = f.templates("keywords");
    let condition = f.condition("condition");
    let resume = f.boolean("resume");
    let mut extensions = Extensions::default();
    let body = digression_body(cx, &mut f, &mut extensions);
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
