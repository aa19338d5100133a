//! Checks the targets and inputs of actions, skills and connected agents.

use super::super::tree::Record;
use super::{Check, constant};
use agentir_diagnostics::{Diagnostic, Span};
use agentir_expr::{Expr, ExprKind};
use agentir_syntax::rules;

/// The documented schemes of action targets, in lower case.
const SCHEMES: &[&str] = &[
    "api",
    "apex",
    "apexRest",
    "auraEnabled",
    "cdpMlPrediction",
    "createCatalogItemRequest",
    "executeIntegrationProcedure",
    "expressionSet",
    "externalConnector",
    "externalService",
    "flow",
    "generatePromptResponse",
    "integrationProcedureAction",
    "mcpTool",
    "namedQuery",
    "placeholder",
    "platformMcpTool",
    "prompt",
    "quickAction",
    "retriever",
    "runExpressionSet",
    "serviceCatalog",
    "slack",
    "standardInvocableAction",
    "system",
];

/// `invalid-action-target`, `placeholder-action-target`.
pub(super) fn action(check: &mut Check<'_, '_, '_>, action: &Record<'_>) {
    let Some((target, span)) = action.field("target").and_then(constant) else { return };
    if let Some("placeholder") = check.scheme(&target, span, "nothing carries out", SCHEMES) {
        check.report(
            Diagnostic::warning(rules::INVALID_VALUE, span, "this target is only a placeholder")
                .help("write the address of what carries the action out, such as `flow://Name`"),
        );
    }
}

/// `invalid-skill-target`.
pub(super) fn skill(check: &mut Check<'_, '_, '_>, skill: &Record<'_>) {
    let Some((target, span)) = skill.field("target").and_then(constant) else { return };
    if let Some((scheme, _)) = check.address(&target, span, "a skill")
        && scheme != "skill"
    {
        check.invalid(
            span,
            format!("`{target}` is not the address of a skill"),
            "skills are written `skill://Name`",
        );
    }
}

/// `connected-agent-unsupported-scheme`, `invalid-connected-subagent-target-name`, `bound-input-required`,
/// `bound-input-not-variable`.
pub(super) fn connected(check: &mut Check<'_, '_, '_>, agent: &Record<'_>) {
    if let Some((target, span)) = agent.field("target").and_then(constant)
        && let Some((scheme, name)) = target.split_once("://")
    {
        if !["agent", "agentforce"].contains(&scheme) {
            check.invalid(
                span,
                format!("`{scheme}://` is not the address of an agent"),
                "write `agentforce://Name`",
            );
        } else if !is_agent_name(name) {
            check.invalid(
                span,
                format!("`{name}` cannot be the name of an agent"),
                "names begin with a letter, followed by letters, digits and single underscores, and do not end with an underscore",
            );
        }
    }
    for input in agent.declarations("inputs") {
        match &input.value {
            None => check.error(
                rules::MISSING_FIELD,
                input.name.span,
                format!("the input `{}` of a connected subagent has no value", input.name),
                &format!("bind it, for example `{}: string = @variables.name`", input.name),
            ),
            Some(value) if !is_bound(value) => check.invalid(
                value.span,
                format!("the input `{}` must be bound to a variable", input.name),
                "write `@variables.name`; only lists may contain constants",
            ),
            Some(_) => {}
        }
    }
}

fn is_agent_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
        && !name.ends_with('_')
        && !name.contains("__")
}

/// Whether an input is a constant, a list of constants, or a variable.
fn is_bound(value: &Expr) -> bool {
    match &value.kind {
        ExprKind::Path(path) => path.namespace.as_ref().is_some_and(|n| n.value == "variables"),
        ExprKind::List(items) => items.iter().all(|i| matches!(i.kind, ExprKind::Literal(_))),
        kind => matches!(kind, ExprKind::Literal(_)),
    }
}

/// The reasoning model of a block.
pub(super) fn model(record: &Record<'_>) -> Option<(String, Span)> {
    record.record("model_config")?.field("model").and_then(constant)
}
