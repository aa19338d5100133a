//! The arguments of a call, by the declaration of the tool.

use crate::MAX_DEPTH;
use agentir_diagnostics::closest;
use agentir_expr::{Dialect, TypeExpr, TypeKind, ValueType};
use agentir_ir::{Parameter, Tool, is_integer_type};
use serde_json::{Map, Value as Json};

/// What a call may leave open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Nulls {
    /// Null is as good as nothing: a required parameter needs more.
    Missing,
    /// Null is a value, as `None` is one for a function.
    Values,
}

/// Arguments as the tool takes them: defaults are added, and values have the type that is declared
/// where one can be made of the other without loss (`"2"` for a number). `dialect` is that of the agent that calls.
///
/// # Errors
/// All that is wrong, in one sentence. It names parameters and types and no value.
pub(crate) fn check_arguments(
    tool: &Tool,
    arguments: &Map<String, Json>,
    nulls: Nulls,
    dialect: Option<Dialect>,
) -> Result<Map<String, Json>, String> {
    let mut problems = Vec::new();
    let mut checked = Map::new();
    let open = tool.extensions.has("kwargs");
    for (name, value) in arguments {
        let known = tool.parameters.iter().find(|p| p.name.value == *name);
        match known {
            // The tool has a default for it, or does without.
            Some(_) if value.is_null() && nulls == Nulls::Missing => {}
            Some(parameter) => match convert_argument(parameter, value, nulls, dialect) {
                Ok(value) => {
                    checked.insert(name.clone(), value);
                }
                Err(problem) => problems.push(format!("`{name}` {problem}")),
            },
            None if open => {
                checked.insert(name.clone(), value.clone());
            }
            None => problems.push(unknown_parameter(tool, name)),
        }
    }
    for parameter in &tool.parameters {
        let name = parameter.name.value.as_str();
        if checked.contains_key(name)
            || problems.iter().any(|p| p.starts_with(&format!("`{name}` ")))
        {
            continue;
        }
        match &parameter.default {
            // A function knows its own defaults, and may have made them of more than a constant.
            Some(_) if nulls == Nulls::Values => {}
            Some(default) => {
                checked.insert(name.to_owned(), default.clone());
            }
            None if parameter.required => problems.push(format!("`{name}` is missing")),
            None => {}
        }
    }
    if problems.is_empty() {
        return Ok(checked);
    }
    Err(format!("`{}` cannot be called like this: {}", tool.name.value, problems.join("; ")))
}

fn unknown_parameter(tool: &Tool, name: &str) -> String {
    let names = tool.parameters.iter().map(|p| p.name.value.as_str());
    match closest(name, names) {
        Some(known) => format!("there is no parameter `{name}`, did you mean `{known}`?"),
        None => format!("there is no parameter `{name}`"),
    }
}

fn convert_argument(
    parameter: &Parameter,
    value: &Json,
    nulls: Nulls,
    dialect: Option<Dialect>,
) -> Result<Json, String> {
    if value.is_null() && nulls == Nulls::Values {
        return Ok(Json::Null);
    }
    let value = match &parameter.ty {
        Some(_)
            if value.is_string() && dialect.is_some_and(|d| parameter.text_type(d).is_some()) =>
        {
            value.clone()
        }
        Some(ty) => convert(ty, value, 0)?,
        None => value.clone(),
    };
    // Holes in a value are filled by the platform.
    let closed = parameter.values.iter().all(|v| v.parts.is_empty());
    let allowed = || parameter.values.iter().map(|v| v.text.value.as_str());
    if closed
        && allowed().next().is_some()
        && !allowed().any(|v| v == crate::template::value_text(&value))
    {
        let all: Vec<_> = allowed().map(|v| format!("`{v}`")).collect();
        return Err(format!("takes one of {}", all.join(", ")));
    }
    Ok(value)
}

/// A value of a declared type. Recursive; deeper than values may be, nothing is checked.
fn convert(ty: &TypeExpr, value: &Json, depth: usize) -> Result<Json, String> {
    let Some(wanted) = ValueType::of(ty).filter(|_| depth < MAX_DEPTH) else {
        return Ok(value.clone());
    };
    let parsed = || value.as_str().and_then(|text| serde_json::from_str::<Json>(text.trim()).ok());
    let fits = match (&wanted, value) {
        (_, Json::Null) => Some(Json::Null),
        (ValueType::Text | ValueType::Date, Json::String(_))
        | (ValueType::Number, Json::Number(_))
        | (ValueType::Boolean, Json::Bool(_))
        | (ValueType::List(_), Json::Array(_))
        | (ValueType::Object, Json::Object(_)) => Some(value.clone()),
        (ValueType::Text, Json::Number(_) | Json::Bool(_)) => Some(value.to_string().into()),
        (ValueType::Number, Json::String(_)) => parsed().filter(Json::is_number),
        (ValueType::Boolean, Json::String(_)) => parsed().filter(Json::is_boolean),
        (ValueType::List(_), Json::String(_)) => parsed().filter(Json::is_array),
        (ValueType::Object, Json::String(_)) => parsed().filter(Json::is_object),
        (ValueType::Null, _) => Some(value.clone()),
        _ => None,
    };
    let Some(value) = fits else {
        return Err(format!("takes {} and got {}", wanted.words(), type_name(value)));
    };
    let whole = value.as_f64().is_none_or(|number| number.fract() == 0.0);
    if !whole && is_integer_type(&ty.to_string()) {
        return Err("takes a whole number and got one with a fraction".to_owned());
    }
    match (&ty.kind, value) {
        (TypeKind::Array(element), Json::Array(items)) => {
            let items = items.iter().enumerate().map(|(n, item)| {
                convert(element, item, depth + 1).map_err(|e| format!("at {n} {e}"))
            });
            items.collect::<Result<Vec<_>, _>>().map(Json::Array)
        }
        (TypeKind::Object(fields), Json::Object(mut found)) => {
            for field in fields {
                let name = field.name.value.as_str();
                match found.get_mut(name) {
                    Some(value) => {
                        *value = convert(&field.ty, value, depth + 1)
                            .map_err(|e| format!("in `{name}` {e}"))?;
                    }
                    None if field.optional => {}
                    None => return Err(format!("lacks its field `{name}`")),
                }
            }
            Ok(Json::Object(found))
        }
        (_, value) => Ok(value),
    }
}

/// A description of the kind of a value.
const fn type_name(value: &Json) -> &'static str {
    match value {
        Json::Null => ValueType::Null.words(),
        Json::Bool(_) => ValueType::Boolean.words(),
        Json::Number(_) => ValueType::Number.words(),
        Json::String(_) => ValueType::Text.words(),
        Json::Array(_) => ValueType::List(None).words(),
        Json::Object(_) => ValueType::Object.words(),
    }
}
