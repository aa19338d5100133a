//! Lowers services that read and write the platform's data tables.
//!
//! A request has no address: `payload` names the table (`name`), the operation (`method`), the values to write (`data`)
//! and the rows it is about (`query`).

use super::service::Arguments;
use super::{Context, extensions};
use crate::{Json, Kind, Text};
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
        let given = payload.take_member(theirs).and_then(|value| {
            let is_given = |value: &Json| !matches!(value.kind, Kind::Null);
            extensions::data(theirs, value, &is_given, &mut |called, text| {
                given(cx, called.of, text, holes)
            })
        });
        mapping.extend(given.map(|value| ((*ours).to_owned(), value)));
    }
    if !mapping.is_empty() {
        binding.insert("param_mapping".to_owned(), Data::Object(mapping));
    }
}

/// A text of a request, with parameters for its placeholders and references to secrets for its credentials.
fn given(cx: &mut Context<'_, '_>, name: &str, text: &Text, holes: &mut Arguments) -> String {
    let text = cx.decoded(text);
    if let Some(reference) = extensions::named_credential(name, &text, &mut cx.reports) {
        return reference;
    }
    let text = extensions::redacted(&text, name, &mut cx.reports);
    holes.text(cx, &text, ["{{", "}}"]).value
}
