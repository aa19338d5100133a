//! What no element takes is kept with the element it belongs to; credentials are not.

use super::XO;
use agentir_diagnostics::{Diagnostic, Span};
use agentir_ir::{Data, Extensions};
use agentir_syntax::rules;
use agentir_syntax::secrets::{is_credential, secrets};
use agentir_syntax::xo::tables::ENCODED;
use agentir_syntax::xo::{Json, Kind, Text};
use std::ops::Range;

/// What stands where a credential was.
pub(super) const NOT_COPIED: &str = "(a credential, not copied)";

/// How a project refers to a secret that it was given.
pub(super) fn reference(name: &str) -> String {
    format!("{{{{secrets.{}}}}}", super::names::word(name).to_ascii_uppercase())
}

/// Says that a credential was found. It is named by what it is and where, never by its value.
pub(super) fn report(what: &str, name: &str, span: Span, problems: &mut Vec<Diagnostic>) {
    problems.push(
        Diagnostic::warning(
            rules::CREDENTIAL_NOT_COPIED,
            span,
            format!("this export holds {what}, which is not copied"),
        )
        .note("an export is passed on as a file, so whoever has it has the credential: revoke it")
        .help(format!(
            "give the project a new one as a secret, and refer to it as `{}`",
            reference(name)
        )),
    );
}

/// A text without the credentials in it; each becomes a reference to a secret of the project.
pub(super) fn without(text: &Text, name: &str, problems: &mut Vec<Diagnostic>) -> Text {
    let found = secrets(&text.value);
    if found.is_empty() {
        return text.clone();
    }
    let mut parts: Vec<(Range<usize>, String)> = Vec::with_capacity(found.len());
    for secret in found {
        report(&secret.what, name, text.place(secret.range.clone()), problems);
        parts.push((secret.range, reference(name)));
    }
    text.replaced(&parts)
}

/// Keeps what nobody took of an object, each member under its own name.
pub(super) fn keep(object: &Json, into: &mut Extensions, problems: &mut Vec<Diagnostic>) {
    for member in object.members() {
        if let Some(data) = left(&member.key, &member.value, problems) {
            into.keep(XO, &member.key, data, member.value.span);
        }
    }
}

/// Keeps what nobody took of a value, under a name.
pub(super) fn keep_as(
    name: &str,
    value: &Json,
    into: &mut Extensions,
    problems: &mut Vec<Diagnostic>,
) {
    if let Some(data) = left(name, value, problems) {
        into.keep(XO, name, data, value.span);
    }
}

/// What nobody took of a value; what is empty says nothing. It is taken with this.
fn left(name: &str, value: &Json, problems: &mut Vec<Diagnostic>) -> Option<Data> {
    if value.is_taken() || value.is_empty() {
        return None;
    }
    let data = match &value.kind {
        Kind::Null => return None,
        Kind::Bool(b) => Data::Bool(*b),
        Kind::Number(n) => {
            serde_json::from_str(n).map_or_else(|_| Data::from(n.as_str()), Data::Number)
        }
        Kind::String(text) => Data::from(shown(name, text, problems)),
        Kind::Array(items) => {
            let all: Vec<_> = items.iter().filter_map(|i| left(name, i, problems)).collect();
            if all.is_empty() {
                return None;
            }
            Data::Array(all)
        }
        Kind::Object(members) => {
            let all: serde_json::Map<String, Data> = members
                .iter()
                .filter_map(|m| Some((m.key.to_string(), left(&m.key, &m.value, problems)?)))
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

/// A text as it is kept: decoded where it is encoded, without credentials.
fn shown(name: &str, text: &Text, problems: &mut Vec<Diagnostic>) -> String {
    if is_credential(name, &text.value) {
        report(&format!("a credential (`{name}`)"), name, text.span, problems);
        return NOT_COPIED.to_owned();
    }
    let decoded = match text.decoded() {
        Ok(decoded) if ENCODED.contains(&name) => decoded,
        _ => text.clone(),
    };
    without(&decoded, name, problems).value
}
