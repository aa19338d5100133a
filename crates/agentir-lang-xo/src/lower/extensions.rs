//! Extensions: preserves data without a field in AgentIR, apart from credentials.

use crate::dialect::ID;
use crate::tables::ENCODED;
use crate::{Json, Kind, Text};
use agentir_diagnostics::{Diagnostic, Span};
use agentir_ir::{Data, Extensions};
use agentir_secrets::{is_credential, is_credential_of_address, is_key, secrets};
use agentir_syntax::rules;
use std::ops::Range;

/// The replacement of a credential.
pub(super) const REDACTED: &str = "(a credential, not copied)";

/// How a project refers to a secret.
pub(super) fn secret_reference(name: &str) -> String {
    format!("{{{{secrets.{}}}}}", super::names::identifier(name).to_ascii_uppercase())
}

/// Reports a credential by its kind and location, never by its value.
pub(super) fn report_credential(
    what: &str,
    name: &str,
    span: Span,
    problems: &mut Vec<Diagnostic>,
) {
    problems.push(
        Diagnostic::warning(
            rules::CREDENTIAL_NOT_COPIED,
            span,
            format!("this export contains {what}, which is not copied"),
        )
        .note("anyone who has the exported file has the credential, so revoke it")
        .help(format!(
            "add a new one to the project as a secret, and refer to it as `{}`",
            secret_reference(name)
        )),
    );
}

/// Replaces the credentials in a text by references to secrets of the project.
pub(super) fn redacted(text: &Text, name: &str, problems: &mut Vec<Diagnostic>) -> Text {
    let found = secrets(&text.value);
    if found.is_empty() {
        return text.clone();
    }
    let mut parts: Vec<(Range<usize>, String)> = Vec::with_capacity(found.len());
    for secret in found {
        report_credential(&secret.what, name, text.place(secret.range.clone()), problems);
        parts.push((secret.range, secret_reference(name)));
    }
    text.replaced(&parts)
}

/// Replaces the credentials in an address: what [`redacted`] finds, and keys in its path and its query.
pub(super) fn redacted_address(text: &Text, name: &str, problems: &mut Vec<Diagnostic>) -> Text {
    let text = redacted(text, name, problems);
    let mut parts: Vec<(Range<usize>, String)> = Vec::new();
    let host = text.value.find("://").map_or(0, |at| at + 3);
    let path = text.value.get(host..).and_then(|rest| rest.find('/')).map_or(host, |at| host + at);
    let query = text.value.find('?').unwrap_or(text.value.len());
    let mut start = path;
    while let Some(rest) = text.value.get(start..).filter(|rest| !rest.is_empty()) {
        let length = rest.find(['/', '?', '&', '#', ';']).unwrap_or(rest.len());
        let part = rest.get(..length).unwrap_or_default();
        let (key, value) = match part.split_once('=') {
            Some((key, value)) if start > query => (Some(key), value),
            _ => (None, part),
        };
        // A name for a key in the path is what stands before it.
        let before =
            text.value.get(path..start).and_then(|b| b.trim_end_matches('/').rsplit('/').next());
        let is_secret = match key {
            Some(key) => is_credential_of_address(key, value),
            None => is_key(value) && !value.contains(['{', '}']),
        };
        if is_secret && !value.contains("{{") {
            let called = key.unwrap_or_else(|| before.filter(|b| !b.is_empty()).unwrap_or(name));
            let called = format!("{name}_{called}");
            let range = start + part.len() - value.len()..start + part.len();
            let place = text.place(range.clone());
            report_credential("a credential in an address", &called, place, problems);
            parts.push((range, secret_reference(&called)));
        }
        start += length + 1;
    }
    if parts.is_empty() { text } else { text.replaced(&parts) }
}

/// Adds the remaining members of an object to extensions, each under its own name.
pub(super) fn preserve(object: &Json, into: &mut Extensions, problems: &mut Vec<Diagnostic>) {
    for member in object.members() {
        if let Some(data) = remaining(&member.key, &member.value, problems) {
            into.insert(ID, &member.key, data, member.value.span);
        }
    }
}

/// Adds the remaining data of a value to extensions, under a name.
pub(super) fn preserve_as(
    name: &str,
    value: &Json,
    into: &mut Extensions,
    problems: &mut Vec<Diagnostic>,
) {
    if let Some(data) = remaining(name, value, problems) {
        into.insert(ID, name, data, value.span);
    }
}

/// The remaining data of a value, which is marked as taken; `None` if there is none or it is empty.
fn remaining(name: &str, value: &Json, problems: &mut Vec<Diagnostic>) -> Option<Data> {
    if value.is_taken() || value.is_empty() {
        return None;
    }
    let data = match &value.kind {
        Kind::Null => return None,
        Kind::Bool(b) => Data::Bool(*b),
        Kind::Number(n) => {
            serde_json::from_str(n).map_or_else(|_| Data::from(n.as_str()), Data::Number)
        }
        Kind::String(text) => Data::from(preserved_text(name, text, problems)),
        Kind::Array(items) => {
            let all: Vec<_> = items.iter().filter_map(|i| remaining(name, i, problems)).collect();
            if all.is_empty() {
                return None;
            }
            Data::Array(all)
        }
        Kind::Object(members) => {
            let all: serde_json::Map<String, Data> = members
                .iter()
                .filter_map(|m| Some((m.key.to_string(), remaining(&m.key, &m.value, problems)?)))
                .collect();
            if all.is_empty() {
                return None;
            }
            Data::Object(all)
        }
    };
    value.take();
    Some(data)
}

/// A text to preserve: decoded if it is encoded, without credentials.
fn preserved_text(name: &str, text: &Text, problems: &mut Vec<Diagnostic>) -> String {
    if is_credential(name, &text.value) {
        report_credential(&format!("a credential (`{name}`)"), name, text.span, problems);
        return REDACTED.to_owned();
    }
    let decoded = match text.decoded() {
        Ok(decoded) if ENCODED.contains(&name) => decoded,
        _ => text.clone(),
    };
    redacted(&decoded, name, problems).value
}
