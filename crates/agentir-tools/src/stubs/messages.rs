//! Messages about stubs: invalid files, and calls without a matching stub.

use super::StubCase;
use agentir_expr::{TypeExpr, TypeKind, ValueType};
use agentir_ir::Tool;
use agentir_runtime::ToolCall;
use serde_json::{Map, Value as Json};

/// So many cases are explained when none of them holds.
const MAX_EXPLAINED_CASES: usize = 3;

/// So long an argument is shown, in characters.
const MAX_SHOWN_CHARS: usize = 200;

/// Why no case answers a call, and one that would.
pub(super) fn unanswered(call: &ToolCall<'_>, cases: &[StubCase], used: &[u32]) -> String {
    let mut message = format!("no stub answers this call of `{}`", call.name);
    for (n, (case, used)) in cases.iter().zip(used).enumerate().take(MAX_EXPLAINED_CASES) {
        let why = match case.mismatch(&call.arguments) {
            Some((name, wanted)) => format!("wants `{name}` to be {wanted}"),
            None => format!("was for {used} calls, and they were made"),
        };
        message.push_str(&format!("\n  case {} {why}", n + 1));
    }
    if let Some(more) = cases.len().checked_sub(MAX_EXPLAINED_CASES).filter(|more| *more > 0) {
        message.push_str(&format!("\n  {more} more do not hold either"));
    }
    message.push_str("\nthis one would:\n");
    message.push_str(&suggested_stub(call.name, &example_answer(call.tool), &call.arguments));
    message
}

/// Some answer of a tool's declared type.
pub(super) fn example_answer(tool: Option<&Tool>) -> Json {
    tool.and_then(|t| t.returns.as_ref()).map_or(Json::Null, |r| example(&r.ty, 0))
}

/// A stub that would answer a call, as YAML. Values are written as JSON, which YAML is.
pub(super) fn suggested_stub(name: &str, answer: &Json, arguments: &Map<String, Json>) -> String {
    let shown = arguments.iter().map(|(name, value)| {
        let value = match value {
            // An object would be read as tests.
            Json::Object(_) => format!("{{ equals: {value} }}"),
            value => value.to_string(),
        };
        let value = if value.chars().count() > MAX_SHOWN_CHARS {
            "{ any: true }".to_owned()
        } else {
            value
        };
        format!("{}: {value}", key(name))
    });
    let when: Vec<String> = shown.collect();
    let when = match when.as_slice() {
        [] => String::new(),
        _ => format!("when: {{ {} }}\n      ", when.join(", ")),
    };
    format!("tools:\n  {}:\n    - {when}answer: {answer}\n", key(name))
}

/// A name as a key of YAML: plain where it is a word that means nothing else.
fn key(name: &str) -> String {
    let plain = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        && name.starts_with(|c: char| c.is_ascii_alphabetic())
        && !["true", "false", "null", "yes", "no", "on", "off", "y", "n"]
            .contains(&name.to_lowercase().as_str());
    if plain { name.to_owned() } else { Json::from(name).to_string() }
}

/// Some value of a type.
fn example(ty: &TypeExpr, depth: usize) -> Json {
    if depth > 8 {
        return Json::Null;
    }
    if let TypeKind::Object(fields) = &ty.kind {
        let fields = fields.iter().filter(|f| !f.optional);
        return fields.map(|f| (f.name.value.to_string(), example(&f.ty, depth + 1))).collect();
    }
    match ValueType::of(ty) {
        Some(ValueType::Text) => "…".into(),
        Some(ValueType::Number) => 1.into(),
        Some(ValueType::Boolean) => true.into(),
        Some(ValueType::Date) => "2030-01-31".into(),
        Some(ValueType::List(_)) => match &ty.kind {
            TypeKind::Array(element) => vec![example(element, depth + 1)].into(),
            _ => Json::Array(Vec::new()),
        },
        Some(ValueType::Null) => Json::Null,
        Some(ValueType::Object) | None => Json::Object(Map::new()),
    }
}
