//! Checks `start_agent`, `subagent` and `topic`.

use super::super::tree::{Record, Statement, StatementKind, Value};
use super::{Check, actions, config, constant};
use agentir_diagnostics::Diagnostic;
use agentir_syntax::rules;

/// The prefix of custom nodes: `node://byon/namespace/type/version`.
const BYON: &str = "node://byon/";

pub(super) fn check(check: &mut Check<'_, '_, '_>, agent: &Record<'_>, kind: &str) {
    if let Some(Value::Record(model)) = agent.field("model_config").map(|f| &f.value) {
        config::model_address(check, model);
    }
    classifier(check, agent);
    node(check, agent);
    if kind == "start_agent"
        && let Some(prompt) = agent.record("reasoning").and_then(|r| r.procedure("instructions"))
    {
        collects(check, &prompt.statements);
    }
}

/// `hyperclassifier-non-transition`, `hyperclassifier-before-reasoning`, `hyperclassifier-after-reasoning`:
/// constraints on a model that only selects transitions.
fn classifier(check: &mut Check<'_, '_, '_>, agent: &Record<'_>) {
    let Some((model, at)) = actions::model(agent) else { return };
    if !model.to_ascii_lowercase().contains("hyperclassifier") {
        return;
    }
    for name in ["before_reasoning", "after_reasoning"] {
        if let Some(field) = agent.field(name) {
            check.conflict(
                field.key,
                at,
                format!("a subagent with a HyperClassifier model cannot have `{name}`"),
                "use another model, or move this to the subagents it leads to",
            );
        }
    }
    for tool in agent.record("reasoning").map_or(&[][..], |r| r.bindings("actions")) {
        let transition = tool.action.as_ref().and_then(|a| a.as_path()).is_some_and(|p| {
            p.namespace.as_ref().is_some_and(|n| n.value == "utils") && p.root.value == "transition"
        });
        if !transition {
            check.conflict(
                tool.name.span,
                at,
                format!("a HyperClassifier model can only route; it cannot call `{}`", tool.name),
                "keep only tools with `@utils.transition to …`, or use another model",
            );
        }
    }
}

/// The compiler's check of the node kind, and `byon-not-for-production`.
fn node(check: &mut Check<'_, '_, '_>, agent: &Record<'_>) {
    let Some((schema, span)) = agent.field("schema").and_then(constant) else { return };
    let Some(rest) = schema.strip_prefix(BYON) else { return };
    if rest.split('/').count() != 3 || rest.split('/').any(|part| part.trim().is_empty()) {
        check.invalid(
            span,
            format!("`{schema}` is not a node type"),
            "write `node://byon/namespace/type/version`",
        );
        return;
    }
    check.report(
        Diagnostic::warning(
            rules::INVALID_VALUE,
            span,
            "custom nodes are not available in production",
        )
        .note("the platform only runs them in test and lower environments"),
    );
}

/// The compiler's check that the first subagent does not collect.
fn collects(check: &mut Check<'_, '_, '_>, statements: &[Statement<'_>]) {
    for statement in statements {
        match &statement.kind {
            StatementKind::Collect { target, .. } => check.error(
                rules::MISPLACED_STATEMENT,
                target.span,
                "`start_agent` cannot ask for a variable",
                "move this into a subagent",
            ),
            StatementKind::If { branches, otherwise } => {
                branches.iter().for_each(|b| collects(check, &b.body));
                collects(check, otherwise.as_deref().unwrap_or_default());
            }
            _ => {}
        }
    }
}
