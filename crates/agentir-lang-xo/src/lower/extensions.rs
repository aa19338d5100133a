//! Extensions: preserves data without a field in AgentIR, apart from credentials.

use crate::dialect::ID;
use crate::tables::ENCODED;
use crate::{Json, Kind, Text, factory};
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
        .secret()
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

/// Replaces the credentials in an address: what [`redacted`] finds, and keys in its path and its query. If it was put
/// together, `written` are the texts that it was made of: a credential is where it stands in them.
pub(super) fn redacted_address(
    text: &Text,
    written: &[Text],
    name: &str,
    problems: &mut Vec<Diagnostic>,
) -> Text {
    let known = problems.len();
    let whole = text;
    let text = redacted(text, name, problems);
    let place = |in_text: &Text, range: Range<usize>| {
        let value = in_text.value.get(range.clone()).unwrap_or_default();
        let part = written.iter().find_map(|part| Some((part, part.value.find(value)?)));
        part.map_or_else(|| in_text.place(range), |(part, at)| part.place(at..at + value.len()))
    };
    if !written.is_empty() {
        let found = secrets(&whole.value);
        for (problem, secret) in problems.iter_mut().skip(known).zip(found) {
            problem.primary.span = place(whole, secret.range);
        }
    }
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
        let is_secret = match key {
            Some(key) => is_credential_of_address(key, value),
            None => is_key(value) && !value.contains(['{', '}']),
        };
        if is_secret && !value.contains("{{") {
            let called = key.unwrap_or_else(|| {
                // A name for a key in the path is what stands before it.
                let before = text.value.get(path..start).unwrap_or_default().trim_end_matches('/');
                before.rsplit('/').next().filter(|b| !b.is_empty()).unwrap_or(name)
            });
            let called = format!("{name}_{called}");
            let range = start + part.len() - value.len()..start + part.len();
            let place = place(&text, range.clone());
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
        set_aside(&member.key, &member.value, into, problems);
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
    set_aside(name, value, into, problems);
    if let Some(data) = remaining(name, value, problems) {
        into.insert(ID, name, data, value.span);
    }
}

/// Where settings are kept that are as in every new bot, and what is switched off.
const FACTORY: &str = "factory";
const DISABLED: &str = "disabled";

/// Adds the remaining settings that nobody has decided to extensions, under names of their own.
fn set_aside(name: &str, value: &Json, into: &mut Extensions, problems: &mut Vec<Diagnostic>) {
    type Test = dyn Fn(&[&str], &Json) -> bool;
    let parts: [(&str, &Test); 2] = [(DISABLED, &is_disabled), (FACTORY, &is_factory)];
    for (key, is_one) in parts {
        let Some(data) = part(&mut vec![name], value, is_one, problems) else { continue };
        let known = into.0.get_mut(ID).and_then(|all| all.get_mut(key));
        match known.map(|known| &mut known.value) {
            Some(Data::Object(known)) if !known.contains_key(name) => {
                known.insert(name.to_owned(), data);
            }
            _ => {
                let one = Data::Object([(name.to_owned(), data)].into_iter().collect());
                into.insert(ID, key, one, value.span);
            }
        }
    }
}

/// Whether a value is an event of the bot that is switched off.
fn is_disabled(path: &[&str], value: &Json) -> bool {
    let enabled = value.get("enabled").map(|enabled| &enabled.kind);
    matches!(path, ["botEvents", _]) && matches!(enabled, Some(Kind::Bool(false)))
}

/// Whether a value is as in every new bot: a setting, or the synonyms of a word.
fn is_factory(path: &[&str], value: &Json) -> bool {
    match &value.kind {
        Kind::Bool(value) => factory::is_setting(path, if *value { "true" } else { "false" }),
        Kind::Number(number) => factory::is_setting(path, number),
        Kind::String(text) => match path {
            ["multiLingualConfigurations", language, "nluLanguage"] => text.value == *language,
            _ => factory::is_setting(path, &text.value),
        },
        Kind::Array(items) => match path {
            ["localeData", _, "synonyms", word] => {
                let words = items.iter().filter_map(Json::text);
                factory::is_synonym_list(word, words.map(|text| text.value.as_str()))
            }
            ["smallTalk", "groups", .., "botUtterances" | "userUtterances"] => {
                factory::is_small_talk(items.iter().filter_map(|item| item.peek("text")))
            }
            _ => false,
        },
        _ => false,
    }
}

/// The remaining parts of a value that are of a kind, which are marked as taken; `None` if there are none. Recursive: the
/// JSON reader bounds the nesting.
fn part<'j>(
    path: &mut Vec<&'j str>,
    value: &'j Json,
    is_one: &dyn Fn(&[&str], &Json) -> bool,
    problems: &mut Vec<Diagnostic>,
) -> Option<Data> {
    if value.is_taken() || value.is_empty() {
        return None;
    }
    if is_one(path, value) {
        return remaining(path.last().copied().unwrap_or_default(), value, problems);
    }
    match &value.kind {
        Kind::Array(items) => {
            let mut part = |item| part(path, item, is_one, problems);
            let all: Vec<Data> = items.iter().filter_map(&mut part).collect();
            (!all.is_empty()).then_some(Data::Array(all))
        }
        Kind::Object(members) => {
            let mut all = serde_json::Map::new();
            for member in members {
                path.push(&member.key);
                let inner = part(path, &member.value, is_one, problems);
                path.pop();
                all.extend(inner.map(|inner| (member.key.to_string(), inner)));
            }
            (!all.is_empty()).then_some(Data::Object(all))
        }
        _ => None,
    }
}

/// The remaining data of a value, which is marked as taken; `None` if there is none or it is empty.
fn remaining(name: &str, value: &Json, problems: &mut Vec<Diagnostic>) -> Option<Data> {
    let is_left = |value: &Json| !value.is_taken() && !value.is_empty();
    data(name, value, &is_left, &mut |name, text| preserved_text(name, text, problems))
}

/// What a text is called where it stands.
#[derive(Debug, Clone, Copy)]
pub(super) struct Called<'j> {
    /// The member that it is, or whose items it is one of.
    member: &'j str,
    /// What it is the value of: the member, or for `{"field": "x", "value": …}` what is called so.
    pub(super) of: &'j str,
}

/// The members that say what the member `value` beside them is the value of.
const NAMES_OF_VALUES: &[&str] = &["field", "key", "name"];

/// A value as data, with its texts as `text` gives them; it is marked as taken. Values that are not `wanted` are left
/// out, as are lists and objects of which nothing is left.
pub(super) fn data<'j>(
    name: &'j str,
    value: &'j Json,
    wanted: &dyn Fn(&Json) -> bool,
    text: &mut dyn FnMut(Called<'j>, &'j Text) -> String,
) -> Option<Data> {
    data_of(Called { member: name, of: name }, value, wanted, text)
}

/// Recursive: the JSON reader bounds the nesting.
fn data_of<'j>(
    called: Called<'j>,
    value: &'j Json,
    wanted: &dyn Fn(&Json) -> bool,
    text: &mut dyn FnMut(Called<'j>, &'j Text) -> String,
) -> Option<Data> {
    if !wanted(value) {
        return None;
    }
    let data = match &value.kind {
        Kind::Null => return None,
        Kind::Bool(b) => Data::Bool(*b),
        Kind::Number(n) => {
            serde_json::from_str(n).map_or_else(|_| Data::from(n.as_str()), Data::Number)
        }
        Kind::String(own) => Data::from(text(called, own)),
        Kind::Array(items) => {
            let all: Vec<_> =
                items.iter().filter_map(|item| data_of(called, item, wanted, text)).collect();
            if all.is_empty() && !items.is_empty() {
                return None;
            }
            Data::Array(all)
        }
        Kind::Object(members) => {
            let named = || NAMES_OF_VALUES.iter().find_map(|key| value.peek(key));
            let all: serde_json::Map<String, Data> = members
                .iter()
                .filter_map(|m| {
                    let member = m.key.as_str();
                    let of = if member == "value" { named().unwrap_or(member) } else { member };
                    let inner = data_of(Called { member, of }, &m.value, wanted, text)?;
                    Some((m.key.to_string(), inner))
                })
                .collect();
            if all.is_empty() && !members.is_empty() {
                return None;
            }
            Data::Object(all)
        }
    };
    value.take();
    Some(data)
}

/// Whether a text is a credential by what it is called, which is reported.
pub(super) fn is_reported_credential(
    called: &str,
    text: &Text,
    problems: &mut Vec<Diagnostic>,
) -> bool {
    let is_credential = is_credential(called, &text.value);
    if is_credential {
        report_credential(&format!("a credential (`{called}`)"), called, text.span, problems);
    }
    is_credential
}

/// A text to preserve: decoded if it is encoded, without credentials.
fn preserved_text(called: Called<'_>, text: &Text, problems: &mut Vec<Diagnostic>) -> String {
    if is_reported_credential(called.of, text, problems) {
        return REDACTED.to_owned();
    }
    let decoded = match text.decoded() {
        Ok(decoded) if ENCODED.contains(&called.member) => decoded,
        _ => text.clone(),
    };
    redacted(&decoded, called.of, problems).value
}
