//! Emits tools and tool libraries (§3.5).

use super::body::{extension_entries, pair};
use super::record::{self, inner};
use super::tree::{Entry, Key, Notation, Scalar, data, names};
use crate::schema::{RecordType, TOOL_LIBRARY};
use agentir_ir::{Data, Parameter, Tool, ToolLibrary};
use agentir_ir_json::{Mode, to_value};
use serde_json::Value;

fn section() -> &'static RecordType {
    inner(&TOOL_LIBRARY, "tools").unwrap_or(&TOOL_LIBRARY)
}

/// A library: common settings, and the tools.
pub(super) fn library(notation: Notation, library: &ToolLibrary) -> Vec<Entry> {
    let shared = extension_entries(section(), &library.extensions);
    // In YAML the tools are a list, which cannot have other fields next to it.
    if notation == Notation::Yaml {
        let mut entries = shared;
        if !entries.is_empty() {
            entries.push(Entry::Gap);
        }
        entries.push(Entry::block("tools", tools(notation, &library.tools, true)));
        return entries;
    }
    let mut children = shared;
    for tool in tools(notation, &library.tools, false) {
        if !children.is_empty() {
            children.push(Entry::Gap);
        }
        children.push(tool);
    }
    vec![Entry::block("tools", children)]
}

/// The tools of a section, with or without dashes.
pub(super) fn tools(notation: Notation, all: &[Tool], dashes: bool) -> Vec<Entry> {
    all.iter()
        .map(|t| match (notation, tool(notation, t)) {
            (Notation::Yaml, Entry::Field { key, children, .. }) => {
                let mut item = vec![Entry::field("name", Scalar::Code(key.text))];
                item.extend(children);
                Entry::Item(item)
            }
            (Notation::Abl, entry) if dashes => Entry::Item(vec![entry]),
            (_, entry) => entry,
        })
        .collect()
}

fn tool(notation: Notation, tool: &Tool) -> Entry {
    let ty = section().items.unwrap_or(section());
    let mut children = Vec::new();
    let text = |t: &agentir_expr::Template| Scalar::Text(t.text.value.to_string());
    children
        .extend(tool.description.as_ref().map(|d| Entry::field("description", text(d)).lower()));
    let signed = notation == Notation::Abl && tool.parameters.iter().all(is_plain);
    if !signed {
        let all: Vec<Entry> = tool.parameters.iter().filter_map(parameter_block).collect();
        if !all.is_empty() {
            children.push(Entry::block("parameters", all).lower());
        }
        children.extend(tool.returns.as_ref().map(|r| return_type(&r.ty)));
    }
    let Value::Object(mut json) = to_value(tool, Mode::Plain) else { return Entry::Gap };
    for gone in ["description", "parameters", "returns", "binding"] {
        json.remove(gone);
    }
    if tool.hints.timeout.is_none()
        && let Some(Value::Object(hints)) = json.remove("hints")
    {
        json.extend(hints);
    }
    if let Some(Value::Object(mut c)) = json.remove("confirmation") {
        for (from, to) in [("require", "confirm"), ("immutable_params", "immutable")] {
            if let Some(value) = c.remove(from) {
                json.insert(to.to_owned(), value);
            }
        }
        json.insert("confirmation".to_owned(), Value::Object(c));
    }
    let tool_type = json.remove("tool_type").and_then(|t| t.as_str().map(str::to_owned));
    children.extend(tool_type.map(|t| Entry::field("type", Scalar::Word(t)).lower()));
    if let Some(binding) = &tool.binding {
        children.extend(binding.0.iter().map(|(key, value)| data(Key::own(key), value)));
    }
    for (key, sets) in [("on_result", &tool.on_result), ("on_error", &tool.on_error)] {
        json.remove(key);
        if !sets.is_empty() {
            let pairs = sets.iter().map(pair).collect();
            let set = Entry::block("set", vec![Entry::Pairs { assign: true, pairs }]);
            children.push(Entry::block(key, vec![set.lower()]).lower());
        }
    }
    children.extend(record::record(ty, &json));
    if signed {
        let text = Scalar::Word(signature(tool));
        return Entry::Line { key: "name", text, children };
    }
    Entry::named(&tool.name.value, children)
}

/// Whether the signature fully describes a parameter.
fn is_plain(p: &Parameter) -> bool {
    p.description.is_none()
        && p.values.is_empty()
        && p.validation.is_none()
        && !p.is_reserved()
        && p.source.is_none()
        && p.value.is_none()
        && p.value_expr.is_none()
        && p.key.is_none()
        && p.hidden.is_none()
        && p.extensions.is_empty()
        && (p.default.is_none() || !p.required)
        && !matches!(p.default, Some(Data::Array(_) | Data::Object(_)))
}

fn signature(tool: &Tool) -> String {
    let parameter = |p: &Parameter| {
        let mark = if p.required || p.default.is_some() { "" } else { "?" };
        let ty = p.ty.as_ref().map(|t| format!(": {t}")).unwrap_or_default();
        let default = match &p.default {
            None => String::new(),
            Some(Data::String(text)) if text.starts_with(['[', '{']) => format!(" = {text}"),
            Some(default) => format!(" = {default}"),
        };
        format!("{}{mark}{ty}{default}", p.name)
    };
    let all: Vec<String> = tool.parameters.iter().map(parameter).collect();
    let returns = tool.returns.as_ref().map(|r| format!(" -> {}", r.ty)).unwrap_or_default();
    format!("{}({}){returns}", tool.name, all.join(", "))
}

fn parameter_block(p: &Parameter) -> Option<Entry> {
    let ty = inner(section().items?, "parameters")?.items?;
    let Value::Object(mut json) = to_value(p, Mode::Plain) else { return None };
    json.remove("name");
    if p.required == p.default.is_none() {
        json.remove("required");
    }
    let children = record::record(ty, &json);
    match children.as_slice() {
        [Entry::Field { key, value: Some(value), .. }] if key.text == "type" => {
            let value = Some(value.clone());
            Some(Entry::Field { key: Key::own(&p.name.value), value, children: Vec::new() })
        }
        _ => Some(Entry::named(&p.name.value, children)),
    }
}

/// A type; an object type is written field by field.
fn return_type(ty: &agentir_expr::TypeExpr) -> Entry {
    let agentir_expr::TypeKind::Object(fields) = &ty.kind else {
        return Entry::field("returns", Scalar::Code(ty.to_string())).lower();
    };
    let field = |f: &agentir_expr::TypeField| {
        let mark = if f.optional { "?" } else { "" };
        Entry::Field {
            key: Key::own(&format!("{}{mark}", f.name)),
            value: Some(Scalar::Code(f.ty.to_string())),
            children: Vec::new(),
        }
    };
    let children = vec![
        Entry::field("type", Scalar::Word("object".to_owned())).lower(),
        Entry::block("fields", fields.iter().map(field).collect()).lower(),
    ];
    Entry::block("returns", children).lower()
}

/// `USE TOOL`.
pub(super) fn use_tools<'n>(notation: Notation, all: impl IntoIterator<Item = &'n str>) -> Entry {
    match notation {
        Notation::Abl => {
            let all: Vec<&str> = all.into_iter().collect();
            Entry::field("USE TOOL", Scalar::Code(all.join(", ")))
        }
        Notation::Yaml => Entry::field("use_tool", names(all)),
    }
}
