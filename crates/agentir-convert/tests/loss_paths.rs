//! The rows of the loss tables name paths that AgentIR has: a row whose path cannot occur any more is dead.

#![allow(clippy::indexing_slicing, clippy::unwrap_used, reason = "tests end by panicking")]

use agentir_convert::{Target, loss_rules};
use serde_json::Value;
use std::collections::HashSet;

const TARGETS: [Target; 5] = [
    Target(agentir_lang_abl::ABL_EMITTER),
    Target(agentir_lang_abl::YAML_EMITTER),
    Target(agentir_lang_agent_script::AGENTFORCE),
    Target(agentir_lang_agent_script::BASE),
    Target(agentir_lang_adl::EMITTER),
];

/// Whether a path that fits the pattern leads to a value of `schema`. Items of lists and maps are segments.
fn occurs<'s>(
    pattern: &[&str],
    schema: &'s Value,
    root: &'s Value,
    seen: &mut HashSet<(usize, *const Value)>,
) -> bool {
    if !seen.insert((pattern.len(), std::ptr::from_ref(schema))) {
        return false;
    }
    let Some((first, rest)) = pattern.split_first() else { return true };
    let Some(object) = schema.as_object() else {
        // Any value: whatever follows may be in it.
        return *schema == Value::Bool(true);
    };
    if let Some(name) = object.get("$ref").and_then(Value::as_str) {
        let definition = &root["$defs"][name.strip_prefix("#/$defs/").unwrap()];
        if occurs(pattern, definition, root, seen) {
            return true;
        }
    }
    let either = ["anyOf", "oneOf"].iter().filter_map(|key| object.get(*key)?.as_array()).flatten();
    for one in either {
        if occurs(pattern, one, root, seen) {
            return true;
        }
    }
    if *first == "**" && occurs(rest, schema, root, seen) {
        return true;
    }
    let is_any = !["$ref", "anyOf", "oneOf", "type", "properties", "enum", "const"]
        .iter()
        .any(|key| object.contains_key(*key));
    let below = |name: Option<&str>| match (*first, name) {
        ("**", _) => Some(pattern),
        ("*", _) | (_, None) => Some(rest),
        (first, Some(name)) => (first == name).then_some(rest),
    };
    let properties = object.get("properties").and_then(Value::as_object).into_iter().flatten();
    let named = properties.map(|(name, value)| (Some(name.as_str()), value));
    let items = ["items", "additionalProperties"].iter().filter_map(|key| object.get(*key));
    let mut all = named.chain(items.map(|value| (None, value)));
    is_any
        || all.any(|(name, value)| {
            below(name).is_some_and(|pattern| occurs(pattern, value, root, seen))
        })
}

/// The schema of the tree that programs are compared as: agents, and what is shared.
fn tree(schema: &Value) -> Value {
    let map = |name: &str| {
        serde_json::json!({
            "type": "object",
            "additionalProperties": { "$ref": format!("#/$defs/{name}") },
        })
    };
    serde_json::json!({
        "type": "object",
        "properties": {
            "agents": map("AgentIR"),
            "tools": map("Tool"),
            "profiles": map("Profile"),
            "libraries": { "type": "array", "items": { "$ref": "#/$defs/ToolLibrary" } },
            "entry": { "type": "string" },
            "settings": { "$ref": "#/$defs/Extensions" },
        },
        "$defs": schema["$defs"],
    })
}

fn can_occur(path: &str, tree: &Value) -> bool {
    let (path, start) = match path.strip_prefix('/') {
        Some(of_program) => (of_program.to_owned(), tree),
        None => (path.to_owned(), &tree["$defs"]["AgentIR"]),
    };
    let pattern: Vec<_> = path.split('.').collect();
    occurs(&pattern, start, tree, &mut HashSet::new())
}

#[test]
fn each_row_has_a_path_that_can_occur() {
    let tree = tree(&agentir_ir_json::schema([]));
    let mut dead: Vec<_> = TARGETS
        .into_iter()
        .flat_map(loss_rules)
        .map(|row| row.path)
        .filter(|path| !can_occur(path, &tree))
        .collect();
    dead.sort_unstable();
    dead.dedup();
    assert!(dead.is_empty(), "these paths cannot occur:\n  {}\n", dead.join("\n  "));
}

#[test]
fn paths_that_the_schema_does_not_have_cannot_occur() {
    let tree = tree(&agentir_ir_json::schema([]));
    for path in
        ["gather.fields.*.name", "flow.**.on_input.*.then", "/tools.*.returns.**", "**.then"]
    {
        assert!(can_occur(path, &tree), "{path}");
    }
    for path in [
        "gather.field.*.name",
        "identity.goal.text",
        "/tool.**",
        "gather.fields.*.prompt.x",
        "nothing",
    ] {
        assert!(!can_occur(path, &tree), "{path}");
    }
}
