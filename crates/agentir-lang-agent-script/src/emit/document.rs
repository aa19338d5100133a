//! Emits a document: settings common to all agents, and the agents (specification part II).

use super::layout::{Writer, name, quoted};
use super::{agent, data, expr};
use crate::Dialect;
use crate::lower::REFERENCE;
use crate::schema::{FieldType, RecordType};
use agentir_expr::{Name, Template, TypeExpr, TypeKind};
use agentir_ir::{Agent, AgentReference, Data, SessionVariable, Statement};
use rustc_hash::FxHashSet;
use serde_json::Map;
use serde_json::json;
use std::fmt::Write as _;
use std::sync::Arc;

/// The contents of a document; its agents have been adapted to Agent Script.
pub(super) struct Script<'p> {
    pub agents: &'p [Arc<Agent>],
    /// The agent that every conversation starts with.
    pub entry: Option<Name>,
    pub dialect: Dialect,
    /// Whether the source does not name the user that the agent acts for, not even by a placeholder.
    pub lacks_user: bool,
}

/// Context of printing agents.
pub(super) struct Context<'p> {
    pub root: &'static RecordType,
    /// The instructions inherited by agents without their own.
    pub instructions: Option<&'p Template>,
    /// The agents deployed elsewhere.
    pub remote: FxHashSet<&'p str>,
}

/// The record type of a field.
pub(super) fn inner(record_type: &'static RecordType, key: &str) -> &'static RecordType {
    match record_type.field(key).map(|f| f.field_type) {
        Some(
            FieldType::Block(record_type)
            | FieldType::Named(record_type)
            | FieldType::Collection(record_type)
            | FieldType::Declarations(record_type)
            | FieldType::Bindings(record_type),
        ) => record_type,
        _ => record_type,
    }
}

/// Blocks of a document in the order of the specification's examples.
const BEFORE_VARIABLES: &[&str] =
    &["config", "access", "model_config", "language", "knowledge", "context", "skill_definitions"];
const AFTER_VARIABLES: &[&str] = &["connection", "modality"];

pub(super) fn print(script: &Script<'_>) -> String {
    let root = script.dialect.root();
    let mut w = Writer::default();
    if script.dialect == Dialect::AgentScript {
        w.line(format!("# @dialect: {}", script.dialect));
    }
    let is_entry = |a: &&Arc<Agent>| Some(&a.metadata.name.value) == script.entry.as_ref();
    let Some(first) = script.agents.iter().find(is_entry).or(script.agents.first()) else {
        return w.finish();
    };
    let mut fields = data::own_fields(&first.extensions);
    // The base dialect needs no `config`.
    if script.dialect == Dialect::Agentforce && !fields.contains_key("config") {
        let name = first.metadata.name.value.as_str();
        fields.insert("config".to_owned(), json!({ "developer_name": name }));
        let access = json!({ "default_agent_user": super::adapt::USER });
        fields.entry("access").or_insert(access);
    }
    let all_have = script.agents.iter().all(|a| a.identity.system_prompt.is_some());
    let instructions = match fields.shift_remove("system_instructions") {
        Some(Data::String(text)) => Some(Template::plain(plain(text))),
        _ if all_have => first.identity.system_prompt.as_ref().map(|s| s.template.clone()),
        _ => None,
    };
    let context = Context {
        root,
        instructions: instructions.as_ref(),
        remote: first.available_agents.iter().map(|a| a.alias.value.as_str()).collect(),
    };
    system(&mut w, &context, first, &mut fields);
    for block in BEFORE_VARIABLES {
        w.gap();
        let placeholder =
            *block == "access" && root.field(block).is_some() && is_placeholder_user(&fields);
        if placeholder && script.lacks_user {
            w.line("# Put the user here that the agent acts for.");
        }
        data::take(&mut w, root, &mut fields, &[block]);
    }
    w.gap();
    w.block_if_any("variables:", |w| {
        for one in &first.memory.session {
            variable(w, inner(root, "variables"), one);
        }
    });
    for block in AFTER_VARIABLES {
        w.gap();
        data::take(&mut w, root, &mut fields, &[block]);
    }
    for one in &first.available_agents {
        w.gap();
        connected(&mut w, inner(root, "connected_subagent"), one);
    }
    for one in script.agents {
        if one.metadata.name.value.is_empty() {
            continue;
        }
        let entry = is_entry(&one);
        let own = if std::ptr::eq(one, first) {
            &mut fields
        } else {
            &mut data::own_fields(&one.extensions)
        };
        w.gap();
        agent::agent(&mut w, &context, one, if entry { "start_agent" } else { "subagent" }, own);
    }
    let mut text = w.finish();
    text.truncate(text.trim_end().len());
    text.push('\n');
    text
}

/// Whether the default agent user is still a placeholder.
pub(super) fn is_placeholder_user(fields: &Map<String, Data>) -> bool {
    let user = fields.get("access").and_then(|a| a.get("default_agent_user"));
    user.and_then(Data::as_str) == Some(super::adapt::USER)
}

fn plain(text: String) -> agentir_diagnostics::Spanned<smol_str::SmolStr> {
    agentir_diagnostics::Spanned::new(text.into(), agentir_diagnostics::Span::default())
}

fn system(w: &mut Writer, context: &Context<'_>, first: &Agent, fields: &mut Map<String, Data>) {
    let record_type = inner(context.root, "system");
    let rest = match fields.shift_remove("system") {
        Some(Data::Object(fields)) => fields,
        _ => Map::new(),
    };
    let messages = match fields.shift_remove("messages") {
        Some(Data::Object(fields)) => fields,
        _ => Map::new(),
    };
    w.gap();
    w.block_if_any("system:", |w| {
        if let Some(instructions) = context.instructions {
            w.template("instructions", instructions);
        }
        w.block_if_any("messages:", |w| {
            if let Some(Statement::Respond(response)) = first.on_start.0.first()
                && let Some(text) = &response.text
            {
                w.template("welcome", text);
            }
            for (key, message) in &first.messages {
                if let Some(text) = &message.text {
                    w.template(key, text);
                }
            }
            data::record(w, inner(record_type, "messages"), &messages);
        });
        data::record(w, record_type, &rest);
    });
}

/// A type: `string`, `list[number]`. Agent Script has no declarations of domain types.
pub(super) fn type_name(ty: Option<&TypeExpr>) -> String {
    match ty.map(|t| &t.kind) {
        None => "object".to_owned(),
        Some(TypeKind::Named(name)) => name.to_string(),
        Some(TypeKind::Array(record_type)) => match &record_type.kind {
            TypeKind::Array(_) => "list[object]".to_owned(),
            _ => format!("list[{}]", type_name(Some(record_type))),
        },
        Some(TypeKind::Object(_)) => "object".to_owned(),
    }
}

/// A declaration and its properties.
pub(super) struct Declaration<'d> {
    pub name: &'d str,
    pub modifier: Option<&'static str>,
    pub ty: String,
    pub value: Option<String>,
}

/// The value of a declaration: the reference that it was written as, or a constant. Takes the reference out of `rest`.
pub(super) fn declared_value(
    value: Option<&Data>,
    ty: &str,
    rest: &mut Map<String, Data>,
) -> Option<String> {
    match rest.shift_remove(REFERENCE) {
        Some(Data::String(reference)) => Some(reference),
        _ => value.map(|value| initial(value, ty)),
    }
}

impl Declaration<'_> {
    pub(super) fn print(&self, w: &mut Writer, properties: impl FnOnce(&mut Writer)) {
        let mut line = format!("{}: ", name(self.name));
        if let Some(modifier) = self.modifier {
            let _ = write!(line, "{modifier} ");
        }
        line.push_str(&self.ty);
        if let Some(value) = &self.value {
            let _ = write!(line, " = {value}");
        }
        w.block(line, properties);
    }
}

/// A value of a type; anything but a constant is stored as its text.
fn initial(value: &Data, ty: &str) -> String {
    let textual = ["string", "id", "object"].contains(&ty);
    match value {
        Data::String(text) if !textual => {
            let day = text.as_bytes().first().is_some_and(u8::is_ascii_digit);
            if day || text.starts_with(['[', '{', '@']) || text == "..." {
                text.clone()
            } else {
                quoted(text)
            }
        }
        value => expr::data(value),
    }
}

fn variable(w: &mut Writer, record_type: &'static RecordType, one: &SessionVariable) {
    let mut rest = data::own_fields(&one.extensions);
    let ty = type_name(one.ty.as_ref());
    let value = declared_value(one.initial_value.as_ref(), &ty, &mut rest);
    let declared = Declaration { name: &one.name.value, modifier: one.mutability, ty, value };
    declared.print(w, |w| {
        data::take(w, record_type, &mut rest, &["label", "source"]);
        if let Some(text) = &one.description {
            w.template("description", text);
        }
        data::record(w, record_type, &rest);
    });
}

fn connected(w: &mut Writer, record_type: &'static RecordType, one: &AgentReference) {
    let mut rest = data::own_fields(&one.extensions);
    w.block(format!("connected_subagent {}:", name(&one.alias.value)), |w| {
        data::take(w, record_type, &mut rest, &["label"]);
        if let Some(target) = &one.file {
            w.text("target", &target.value);
        }
        for text in one.capabilities.iter().take(1) {
            w.template("description", text);
        }
        data::record(w, record_type, &rest);
    });
}
