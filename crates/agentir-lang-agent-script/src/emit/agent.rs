//! Emits an agent: actions, hooks, prompt, and the tools exposed to the model (specification part II,
//! 4 to 7).

use super::document::{Context, Declaration, declared_value, inner, type_name};
use super::layout::{Writer, name};
use super::{data, expr, prompt, statement};
use crate::schema::RecordType;
use agentir_expr::TypeKind;
use agentir_ir::{Agent, BindingAction, Body, Data, FilledBy, Parameter, Tool, ToolBinding};
use serde_json::Map;

pub(super) fn agent(
    w: &mut Writer,
    context: &Context<'_>,
    agent: &Agent,
    keyword: &str,
    fields: &mut Map<String, Data>,
) {
    let record_type = inner(context.root, keyword);
    let reasoning_rest = match fields.shift_remove("reasoning") {
        Some(Data::Object(fields)) => fields,
        _ => Map::new(),
    };
    w.block(format!("{keyword} {}:", name(&agent.metadata.name.value)), |w| {
        data::take(w, record_type, fields, &["label"]);
        if let Some(goal) = &agent.identity.goal {
            w.template("description", goal);
        }
        data::take(w, record_type, fields, &["schema", "parameters"]);
        w.block_if_any("system:", |w| {
            let own = agent.identity.system_prompt.as_ref().map(|s| &s.template);
            if let Some(own) = own.filter(|own| Some(*own) != context.instructions) {
                w.template("instructions", own);
            }
            data::record(
                w,
                inner(record_type, "system"),
                &data::own_fields(&agent.identity.extensions),
            );
        });
        w.block_if_any("model_config:", |w| {
            if record_type.field("model_config").is_none() {
                return;
            }
            if let Some(model) = agent.execution.model.as_ref().map(|m| m.value.as_str()) {
                // Agent Script refers to models by URI; other languages use plain names.
                let address = if model.contains("://") { "" } else { "model://" };
                w.text("model", &format!("{address}{model}"));
            }
            let rest = data::own_fields(&agent.execution.extensions);
            data::record(w, inner(record_type, "model_config"), &rest);
        });
        data::take(w, record_type, fields, &["skills"]);
        w.block_if_any("actions:", |w| {
            for one in &agent.tools {
                tool(w, inner(record_type, "actions"), one);
            }
        });
        let hook = |w: &mut Writer, key: &str, body: Option<&Body>| {
            if let Some(body) = body {
                w.block_if_any(format!("{key}:"), |w| statement::body(w, context, body));
            }
        };
        let hooks = &agent.hooks;
        hook(w, "on_init", hooks.before_agent.as_ref().map(|h| &h.body));
        hook(w, "before_reasoning", hooks.before_turn.as_ref().map(|h| &h.body));
        w.block_if_any("reasoning:", |w| {
            let record_type = inner(record_type, "reasoning");
            w.block_if_any("instructions: ->", |w| {
                prompt::instructions(w, &agent.identity.instructions);
                if let Some(zone) = &agent.reasoning {
                    statement::body(w, context, &zone.prepare);
                }
            });
            w.block_if_any("actions:", |w| {
                for one in agent.reasoning.iter().flat_map(|r| &r.bindings) {
                    binding(w, context, inner(record_type, "actions"), one);
                }
            });
            data::record(w, record_type, &reasoning_rest);
        });
        hook(w, "after_reasoning", hooks.after_turn.as_ref().map(|h| &h.body));
        hook(w, "on_exit", hooks.after_agent.as_ref().map(|h| &h.body));
        data::record(w, record_type, fields);
    });
}

fn tool(w: &mut Writer, record_type: &'static RecordType, tool: &Tool) {
    let mut rest = data::own_fields(&tool.extensions);
    let outputs = match rest.shift_remove("outputs") {
        Some(Data::Object(about)) => about,
        _ => Map::new(),
    };
    w.block(format!("{}:", name(&tool.name.value)), |w| {
        data::take(w, record_type, &mut rest, &["label"]);
        if let Some(text) = &tool.description {
            w.template("description", text);
        }
        w.block_if_any("inputs:", |w| {
            for one in &tool.parameters {
                parameter(w, inner(record_type, "inputs"), one);
            }
        });
        w.block_if_any("outputs:", |w| {
            let fields = match tool.returns.as_ref().map(|r| &r.ty.kind) {
                Some(TypeKind::Object(fields)) => fields.as_slice(),
                _ => &[],
            };
            for field in fields {
                let mut about = match outputs.get(field.name.value.as_str()) {
                    Some(Data::Object(about)) => about.clone(),
                    _ => Map::new(),
                };
                let default = about.shift_remove("default");
                let ty = type_name(Some(&field.ty));
                let value = declared_value(default.as_ref(), &ty, &mut about);
                let declared = Declaration { name: &field.name.value, modifier: None, ty, value };
                declared.print(w, |w| data::record(w, inner(record_type, "outputs"), &about));
            }
        });
        let target = tool.binding.as_ref().and_then(|b| b.0.get("target")).and_then(Data::as_str);
        if let Some(target) = target {
            w.text("target", target);
        }
        let asks = record_type.field("require_user_confirmation").and(tool.confirmation.as_ref());
        match asks.and_then(|c| c.require).map(|require| require.value) {
            Some("always") => w.line("require_user_confirmation: True"),
            Some("never") => w.line("require_user_confirmation: False"),
            _ => {}
        }
        data::record(w, record_type, &rest);
    });
}

fn parameter(w: &mut Writer, record_type: &'static RecordType, one: &Parameter) {
    let mut rest = data::own_fields(&one.extensions);
    let ty = type_name(one.ty.as_ref());
    let value = declared_value(one.default.as_ref(), &ty, &mut rest);
    let declared = Declaration { name: &one.name.value, modifier: None, ty, value };
    declared.print(w, |w| {
        data::take(w, record_type, &mut rest, &["label"]);
        if let Some(text) = &one.description {
            w.template("description", text);
        }
        if one.required {
            w.line("is_required: True");
        }
        data::record(w, record_type, &rest);
    });
}

/// A tool exposed to the model (specification part II, 7).
fn binding(
    w: &mut Writer,
    context: &Context<'_>,
    record_type: &'static RecordType,
    one: &ToolBinding,
) {
    let mut rest = data::own_fields(&one.extensions);
    let mut targets: Vec<String> = Vec::new();
    let action = match &one.action {
        BindingAction::Call { tool } => format!("@actions.{}", tool.value),
        BindingAction::Handoff { to } => {
            targets.push(statement::agent(context, &to.value));
            "@utils.transition".to_owned()
        }
        BindingAction::Delegate { agent } => statement::agent(context, &agent.value),
        BindingAction::Escalate => "@utils.escalate".to_owned(),
        BindingAction::Collect => "@utils.setVariables".to_owned(),
        BindingAction::Complete => "@utils.end_session".to_owned(),
        BindingAction::Other { reference } => reference.value.to_string(),
    };
    let more: Vec<String> =
        rest.keys().filter(|k| *k == "to" || k.starts_with("to#")).cloned().collect();
    for key in more {
        if let Some(Data::String(target)) = rest.shift_remove(&key) {
            targets.push(target);
        }
    }
    let mut head = format!("{}: {action}", name(&one.name.value));
    if !targets.is_empty() {
        head.push_str(" to ");
        head.push_str(&targets.join(", "));
    }
    w.block(head, |w| {
        data::take(w, record_type, &mut rest, &["label"]);
        if let Some(text) = &one.description {
            w.template("description", text);
        }
        if let Some(guard) = one.available_when.as_ref().and_then(|c| c.expr()) {
            w.line(format!("available when {}", expr::print(guard)));
        }
        for input in &one.with {
            let value = match (&input.filled_by, &input.value) {
                (FilledBy::Value, Some(value)) => expr::print(value),
                _ => "...".to_owned(),
            };
            w.line(format!("with {}={value}", name(&input.name.value)));
        }
        statement::body(w, context, &one.after);
        data::record(w, record_type, &rest);
    });
}
