//! Lowers services that read and write the platform's data tables.
//!
//! A request has no address: `payload` names the table (`name`), the operation (`method`), the values to write (`data`)
//! and the rows it is about (`query`).

use super::Context;
use super::service::Arguments;
use crate::{Json, Kind};
use agentir_ir::Data;

/// The operation that changes nothing.
const READ: &str = "query";

/// Whether a service is about a data table.
pub(super) fn is_table(component: &Json) -> bool {
    let kind = component.peek("serviceNodeType");
    let resource = component.get("payload").and_then(|p| p.peek("resource"));
    [kind, resource].into_iter().flatten().any(|k| k.to_ascii_lowercase().starts_with("datatable"))
}

/// Whether the operation of a request changes nothing.
pub(super) fn only_reads(binding: &serde_json::Map<String, Data>) -> bool {
    let all = binding.get("operations").and_then(Data::as_array);
    all.is_some_and(|all| all.iter().all(|operation| operation.as_str() == Some(READ)))
}

/// The members of a request that say what is written, which rows it is about, and how many of them.
const MAPPED: &[(&str, &str)] =
    &[("data", "values"), ("query", "filter"), ("skip", "skip"), ("limit", "limit")];

/// The request: the table, the operation, and what is given to it.
pub(super) fn request(
    cx: &mut Context<'_, '_>,
    payload: &Json,
    holes: &mut Arguments,
    binding: &mut serde_json::Map<String, Data>,
) {
    if let Some(name) = payload.take_text("name") {
        binding.insert("table".to_owned(), Data::from(name.value.as_str()));
    }
    if payload.peek("resource").is_some_and(|r| r.eq_ignore_ascii_case("dataTable")) {
        payload.take_member("resource");
    }
    if let Some(method) = payload.take_text("method") {
        let operation = Data::from(method.value.as_str());
        binding.insert("operations".to_owned(), Data::Array(vec![operation]));
    }
    let mut mapping = serde_json::Map::new();
    for (theirs, ours) in MAPPED {
        let given = payload.take_member(theirs).and_then(|value| given(cx, value, holes));
        mapping.extend(given.map(|value| ((*ours).to_owned(), value)));
    }
    if !mapping.is_empty() {
        binding.insert("param_mapping".to_owned(), Data::Object(mapping));
    }
}

/// A value of a request, with parameters for its placeholders; `None` if it is null.
fn given(cx: &mut Context<'_, '_>, value: &Json, holes: &mut Arguments) -> Option<Data> {
    Some(match &value.kind {
        Kind::Null => return None,
        Kind::Bool(b) => Data::Bool(*b),
        Kind::Number(n) => serde_json::from_str(n).map_or_else(|_| n.as_str().into(), Data::Number),
        Kind::String(text) => {
            let text = super::extensions::redacted(&cx.decoded(text), "value", cx.problems);
            Data::from(holes.text(cx, &text, ["{{", "}}"]).value)
        }
        Kind::Array(items) => {
            Data::Array(items.iter().filter_map(|item| given(cx, item, holes)).collect())
        }
        Kind::Object(members) => Data::Object(
            members
                .iter()
                .filter_map(|m| Some((m.key.to_string(), given(cx, &m.value, holes)?)))
                .collect(),
        ),
    })
}
