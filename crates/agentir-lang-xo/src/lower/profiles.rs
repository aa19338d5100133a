//! What is said in other channels and languages than the default ones: profiles of the agents.

use super::messages::{Message, Variant, choices, preserve_variants};
use super::{Context, builders, entity};
use agentir_diagnostics::Spanned;
use agentir_expr::{Condition, Expr, ExprKind};
use agentir_ir::{Body, Extensions, GatherField, Number, NumberOrText, Profile, Statement, Step};
use smol_str::SmolStr;

/// The element that a profile overrides for a channel or language.
pub(super) enum OverrideTarget<'s> {
    /// A step with a message; the rest of its body is unchanged.
    Step(&'s Step),
    /// A field with a prompt.
    Field(&'s GatherField),
}

/// Adds the messages of variants to the agent's profiles.
pub(super) fn override_messages(
    cx: &mut Context<'_, '_>,
    agent: &Spanned<SmolStr>,
    used: &mut Vec<Spanned<SmolStr>>,
    target: &OverrideTarget<'_>,
    variants: Vec<Variant>,
) {
    for variant in variants {
        if let Some(profile) = profile(cx, agent, used, &variant) {
            add(profile, target, variant.message);
        }
    }
}

/// That a conversation is in the channel and the language of a text, and for how many of the two the text is.
fn tests(variant: &Variant) -> (Option<Expr>, u32) {
    let span = variant.span;
    let both = [("channel", &variant.channel), ("language", &variant.language)];
    let tests: Vec<Expr> = both
        .into_iter()
        .filter_map(|(variable, value)| {
            let left = builders::variable(Spanned::new(SmolStr::new_static(variable), span));
            let right = builders::text(value.as_ref()?, span);
            let (left, right) = (Box::new(left), Box::new(right));
            let kind = ExprKind::Binary { op: agentir_expr::BinaryOp::Equal, left, right };
            Expr::new(kind, span).ok()
        })
        .collect();
    let count = u32::try_from(tests.len()).unwrap_or(1);
    (tests.into_iter().reduce(|a, b| Expr::and(a.clone(), b).unwrap_or(a)), count)
}

/// When a text is said instead of the default one.
pub(super) fn condition(variant: &Variant) -> Option<Condition> {
    tests(variant).0.map(super::names::condition)
}

/// The profile of an agent for the channel and the language of a text.
fn profile<'c>(
    cx: &'c mut Context<'_, '_>,
    agent: &Spanned<SmolStr>,
    used: &mut Vec<Spanned<SmolStr>>,
    variant: &Variant,
) -> Option<&'c mut Profile> {
    let span = variant.span;
    let mut name = agent.value.to_string();
    for value in [&variant.channel, &variant.language].into_iter().flatten() {
        name = format!("{name}_{}", super::names::identifier(value));
    }
    let at = cx.profiles.iter().position(|p| p.name.value == name);
    let at = at.unwrap_or_else(|| {
        let (when, count) = tests(variant);
        let name = Spanned::new(SmolStr::new(&name), span);
        used.push(name.clone());
        cx.profiles.push(Profile {
            // More specific profiles take precedence.
            priority: NumberOrText::Number(Number(f64::from(10 * count))),
            when: when.map(super::names::condition),
            span,
            ..Profile::new(name, cx.dialect)
        });
        cx.profiles.len() - 1
    });
    cx.profiles.get_mut(at)
}

/// Texts for other channels and languages that need nothing computed before; the others are preserved.
fn literal(variants: Vec<Variant>, key: &str, into: &mut Extensions) -> Vec<Variant> {
    let (computed, literal) = variants
        .into_iter()
        .partition(|v| !v.message.before.is_empty() || v.message.response.text.is_none());
    preserve_variants(computed, key, into);
    literal
}

/// Adds what is said before fields are asked for again to the agent's profiles.
pub(super) fn ask_again(
    cx: &mut Context<'_, '_>,
    agent: &Spanned<SmolStr>,
    used: &mut Vec<Spanned<SmolStr>>,
    step: &mut Step,
    fields: &[GatherField],
    variants: Vec<Variant>,
) {
    let base = cx.base;
    for variant in literal(variants, "errorMessage", &mut step.extensions) {
        let Some(text) = variant.message.response.text.clone() else { continue };
        let Some(profile) = profile(cx, agent, used, &variant) else { continue };
        // A step of the profile's own has the fields once more.
        let steps = profile.flow_modifications.iter_mut();
        let own = steps.filter_map(|changes| changes.overrides.get_mut(&step.name.value));
        for statement in own.flat_map(|step| &mut step.body.0) {
            if let Statement::Collect(collect) = statement {
                let all = collect.gather.fields.iter_mut();
                all.for_each(|field| entity::ask_again(base, field, text.clone()));
            }
        }
        let overrides = &mut profile.gather_overrides.get_or_insert_default().field_overrides;
        for field in fields {
            let at = overrides.iter().position(|one| one.name.value == field.name.value);
            let at = at.unwrap_or_else(|| {
                overrides.push(GatherField {
                    required: field.required,
                    ..agentir_syntax::lower::required_field(field.name.clone())
                });
                overrides.len() - 1
            });
            if let Some(one) = overrides.get_mut(at) {
                entity::ask_again(base, one, text.clone());
            }
        }
    }
}

/// Adds what is said after a form to the agent's profiles: a step of their own.
pub(super) fn submitted(
    cx: &mut Context<'_, '_>,
    agent: &Spanned<SmolStr>,
    used: &mut Vec<Spanned<SmolStr>>,
    step: &mut Step,
    variants: Vec<Variant>,
) {
    for variant in literal(variants, "submitMessage", &mut step.extensions) {
        let Some(profile) = profile(cx, agent, used, &variant) else { continue };
        let changes = profile.flow_modifications.get_or_insert_default();
        let own = || Step { extensions: Extensions::default(), ..step.clone() };
        let step = changes.overrides.entry(step.name.value.clone()).or_insert_with(own);
        let sent = step.body.0.iter_mut().find_map(|statement| match statement {
            Statement::Collect(collect) => {
                collect.on_success.0.iter_mut().find_map(|statement| match statement {
                    Statement::Respond(response) => Some(response),
                    _ => None,
                })
            }
            _ => None,
        });
        if let Some(sent) = sent {
            *sent = variant.message.response;
        }
    }
}

fn add(profile: &mut Profile, target: &OverrideTarget<'_>, message: Message) {
    match target {
        OverrideTarget::Field(field) => {
            let overrides = profile.gather_overrides.get_or_insert_default();
            overrides.field_overrides.push(GatherField {
                prompt: message.response.text,
                rich_content: message.response.actions.as_ref().map(choices),
                required: field.required,
                ..agentir_syntax::lower::required_field(field.name.clone())
            });
        }
        OverrideTarget::Step(step) => {
            let rest = after_message(step.body.0.clone());
            let mut body = message.statements();
            match body.last_mut() {
                Some(Statement::Call(call)) => call.on_success.0.extend(rest),
                _ => body.extend(rest),
            }
            let changes = profile.flow_modifications.get_or_insert_default();
            let step =
                Step { body: Body(body), extensions: Extensions::default(), ..(*step).clone() };
            changes.overrides.insert(step.name.value.clone(), step);
        }
    }
}

/// The statements of a body after its message.
fn after_message(mut body: Vec<Statement>) -> Vec<Statement> {
    let speaks = |s: &Statement| match s {
        Statement::Respond(_) => true,
        Statement::Call(call) => {
            call.on_success.0.iter().any(|s| matches!(s, Statement::Respond(_)))
        }
        _ => false,
    };
    let Some(at) = body.iter().position(speaks) else { return body };
    let rest = body.split_off(at + 1);
    match body.pop() {
        Some(Statement::Call(call)) => {
            let mut inside = after_message(call.on_success.0);
            inside.extend(rest);
            inside
        }
        _ => rest,
    }
}
