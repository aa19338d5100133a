//! Lowers actions, and actions as exposed to the model (specification part I, 7; part II, 7 and 11).

use super::fields::Fields;
use super::statement::{body, conjunction, named};
use super::{Shared, Source, data};
use crate::dialect;
use crate::{self as script, Declaration, StatementKind};
use agentir_diagnostics::{Span, Spanned};
use agentir_expr::{Condition, ConditionKind, Expr, ExprKind, TypeExpr, TypeField, TypeKind};
use agentir_ir::{
    Agent, Binding, BindingAction, Confirmation, Data, Extensions, FilledBy, InputBinding,
    Parameter, ReturnType, Tool, ToolBinding,
};
use agentir_syntax::lower::declare_effect;
use smol_str::SmolStr;

/// The namespaces of agents; dialects have synonyms for the same.
pub(super) const AGENT_SPACES: &[&str] = &[
    "subagent",
    "topic",
    "start_agent",
    "connected_subagent",
    "orchestrator",
    "generator",
    "executor",
    "router",
    "echo",
];

/// Lowers an action (specification part I, 7).
pub(super) fn tool(mut fields: Fields<'_>, source: Source<'_>) -> Option<Tool> {
    let name = fields.name.take()?;
    let parameters =
        fields.declarations("inputs").into_iter().map(|d| parameter(d, source)).collect();
    let mut extensions = Extensions::default();
    let returns = outputs(fields.declarations("outputs"), source, &mut extensions);
    let binding = fields.text("target").map(|target| {
        Binding([("target".to_owned(), Data::from(target.value.as_str()))].into_iter().collect())
    });
    let asks = "require_user_confirmation";
    let place = fields.value_span(asks).unwrap_or(fields.span);
    let confirm = fields.boolean(asks).map(|asks| Confirmation {
        require: Some(Spanned::new(if asks { "always" } else { "never" }, place)),
        ..Confirmation::default()
    });
    Some(Tool {
        description: fields.template("description"),
        parameters,
        returns,
        binding,
        confirmation: confirm,
        span: fields.span,
        extensions: {
            fields.preserve(&mut extensions);
            extensions
        },
        ..Tool::new(name)
    })
}

/// An input. Optional inputs without a value are left to the platform.
fn parameter(declaration: Declaration<'_>, source: Source<'_>) -> Parameter {
    let Declaration { name, modifier: _, ty, value, properties, span } = declaration;
    let mut fields = Fields::new(properties, source);
    let description = fields.template("description");
    let required = fields.boolean("is_required").unwrap_or(false);
    let mut extensions = fields.into_extensions();
    Parameter {
        description,
        required,
        default: data::declared(value.as_ref(), &mut extensions),
        extensions,
        span,
        ..Parameter::new(name, ty)
    }
}

/// The outputs as one object; their other settings go to `extensions`.
fn outputs(
    declarations: Vec<Declaration<'_>>,
    source: Source<'_>,
    extensions: &mut Extensions,
) -> Option<ReturnType> {
    let span = declarations.first()?.span.to(declarations.last()?.span);
    let mut about = serde_json::Map::new();
    let mut fields = Vec::with_capacity(declarations.len());
    for Declaration { name, modifier: _, ty, value, properties, span } in declarations {
        let mut rest = match Fields::new(properties, source).into_data() {
            Data::Object(map) => map,
            _ => serde_json::Map::new(),
        };
        if let Some(value) = value {
            let reference = data::is_reference(&value);
            let key = if reference { data::REFERENCE } else { "default" };
            rest.insert(key.to_owned(), data::literal(&value));
        }
        if !rest.is_empty() {
            about.insert(name.value.to_string(), Data::Object(rest));
        }
        let ty = ty.unwrap_or_else(|| TypeExpr::named("any", span));
        fields.push(TypeField { name, optional: false, ty });
    }
    if !about.is_empty() {
        let dialect = dialect::AGENT_SCRIPT.id();
        extensions.insert(dialect, "outputs", Data::Object(about), span);
    }
    Some(ReturnType::new(TypeExpr { kind: TypeKind::Object(fields), span }))
}

/// What a tool refers to that is none of the known actions.
fn other_action(action: Option<&Expr>, binding: Span, source: Source<'_>) -> BindingAction {
    let reference = action.map_or_else(
        || Spanned::new(SmolStr::default(), binding),
        |a| Spanned::new(SmolStr::new(source.slice(a.span)), a.span),
    );
    BindingAction::Other { reference }
}

/// Lowers a tool binding (specification part II, 7), and the handoffs and fields that it implies.
pub(super) fn binding(binding: script::Binding<'_>, shared: &Shared<'_>, agent: &mut Agent) {
    let source = shared.source;
    let script::Binding { name, action, targets, available, with, body: after, properties, span } =
        binding;
    let mut fields = Fields::new(properties, source);
    let description = fields.template("description");
    let mut extensions = fields.into_extensions();
    let guards: Vec<_> = available.iter().map(|a| a.value.clone()).collect();
    let mut available_when = conjunction(&guards, source);
    if available_when.is_none() && !guards.is_empty() {
        let all = guards.iter().map(|g| Data::from(source.slice(g.span))).collect();
        extensions.insert(dialect::AGENT_SCRIPT.id(), "available_when", all, span);
    }
    // A guard that cannot be read is still one: nobody knows when it would hold.
    let unreadable = after.iter().find(|statement| {
        matches!(statement.kind, StatementKind::Invalid(..))
            && source.slice(statement.span).trim_start().starts_with("available")
    });
    let lost = guards.first().filter(|_| available_when.is_none()).map(|guard| guard.span);
    if let Some(at) = unreadable.map(|statement| statement.span).or(lost) {
        available_when = Some(Condition {
            text: Spanned::new(SmolStr::new(source.slice(at).trim()), at),
            kind: ConditionKind::Invalid,
        });
    }
    let util =
        action.as_ref().and_then(|a| named(a, &["utils"])).map(|u| u.value).unwrap_or_default();
    let tool = action.as_ref().and_then(|a| named(a, &["actions"]));
    let other = action.as_ref().and_then(|a| named(a, AGENT_SPACES));
    let action = match (util.as_str(), tool, other) {
        (_, Some(tool), _) => BindingAction::Call { tool },
        (_, _, Some(agent)) => BindingAction::Delegate { agent },
        ("transition", ..) => match targets.first() {
            Some(to) => BindingAction::Handoff { to: to.value.root.clone() },
            None => other_action(action.as_ref(), span, source),
        },
        ("escalate", ..) => BindingAction::Escalate,
        ("setVariables", ..) => BindingAction::Collect,
        ("end_session", ..) => BindingAction::Complete,
        _ => other_action(action.as_ref(), span, source),
    };
    let spare = if matches!(action, BindingAction::Handoff { .. }) { 1 } else { 0 };
    for target in targets.iter().skip(spare) {
        let to = Data::from(source.slice(target.span));
        extensions.insert(dialect::AGENT_SCRIPT.id(), "to", to, target.span);
    }
    let with: Vec<InputBinding> = with
        .into_iter()
        .map(|a| match a.value.kind {
            ExprKind::Ellipsis => {
                InputBinding { name: a.name, filled_by: FilledBy::Model, value: None }
            }
            _ => InputBinding { name: a.name, filled_by: FilledBy::Value, value: Some(a.value) },
        })
        .collect();
    let binding = ToolBinding {
        name,
        action,
        description,
        available_when,
        with,
        after: body(after, source),
        extensions,
        span,
    };
    let elsewhere = match &binding.action {
        BindingAction::Handoff { to: name } | BindingAction::Delegate { agent: name } => {
            shared.remote.get(&name.value)
        }
        _ => None,
    };
    declare_effect(agent, &binding, elsewhere);
    agent.reasoning.get_or_insert_default().bindings.push(binding);
}
