//! Extensions: preserves data without a field in AgentIR, apart from credentials.

use crate::dialect::ID;
use crate::tables::ENCODED;
use crate::{Json, Kind, Text, factory};
use agentir_diagnostics::{Diagnostic, Span};
use agentir_ir::{Data, Extensions};
use agentir_secrets::{is_credential, is_credential_of_address, is_key, secrets};
use agentir_syntax::rules;
use rustc_hash::FxHashMap;
use std::ops::Range;

/// The replacement of a credential.
pub(super) const REDACTED: &str = "(a credential, not copied)";

/// What a reference to a secret of the project begins with.
pub(super) const SECRETS: &str = "secrets.";

/// What is reported about an export, and what its credentials are called.
pub(super) struct Reports<'p> {
    pub(super) problems: &'p mut Vec<Diagnostic>,
    /// The names of the secrets that stand for the credentials, by credential.
    secrets: FxHashMap<String, String>,
}

impl<'p> Reports<'p> {
    pub(super) fn new(problems: &'p mut Vec<Diagnostic>) -> Self {
        Self { problems, secrets: FxHashMap::default() }
    }

    /// Reports a credential by its kind and location, never by its value. Returns how the project refers to it: equal
    /// credentials are one secret, and different ones have different names.
    pub(super) fn credential(&mut self, what: &str, name: &str, value: &str, span: Span) -> String {
        let reference = self.reference(name, value);
        self.problems.push(
            Diagnostic::warning(
                rules::CREDENTIAL_NOT_COPIED,
                span,
                format!("this export contains {what}, which is not copied"),
            )
            .secret()
            .note("anyone who has the exported file has the credential, so revoke it")
            .help(format!(
                "add a new one to the project as a secret, and refer to it as `{reference}`"
            )),
        );
        reference
    }

    /// How the project refers to the secret for a credential.
    fn reference(&mut self, name: &str, value: &str) -> String {
        let known = self.secrets.get(value).cloned();
        let name = known.unwrap_or_else(|| {
            let wanted = super::names::identifier(name).to_ascii_uppercase();
            let numbered = (2_u32..).map(|n| format!("{wanted}_{n}"));
            let is_free = |name: &String| !self.secrets.values().any(|taken| taken == name);
            let free = std::iter::once(wanted.clone()).chain(numbered).find(is_free);
            let free = free.unwrap_or(wanted);
            self.secrets.insert(value.to_owned(), free.clone());
            free
        });
        format!("{{{{{SECRETS}{name}}}}}")
    }
}

/// Replaces the credentials in a text by references to secrets of the project.
pub(super) fn redacted(text: &Text, name: &str, reports: &mut Reports<'_>) -> Text {
    let found = secrets(&text.value);
    if found.is_empty() {
        return text.clone();
    }
    let mut parts: Vec<(Range<usize>, String)> = Vec::with_capacity(found.len());
    for secret in found {
        let value = text.value.get(secret.range.clone()).unwrap_or_default();
        let place = text.place(secret.range.clone());
        let reference = reports.credential(&secret.what, name, value, place);
        parts.push((secret.range, reference));
    }
    text.replaced(&parts)
}

/// Replaces the credentials in the body of a request: what [`redacted`] finds, and what the fields of a form
/// (`grant_type=password&password=…`) have by their names.
pub(super) fn redacted_body(text: &Text, name: &str, reports: &mut Reports<'_>) -> Text {
    let text = redacted(text, name, reports);
    let mut parts = Vec::new();
    let mut start = 0;
    for field in text.value.split('&') {
        if let Some((key, value)) = field.split_once('=')
            && key.bytes().all(|c| c.is_ascii_alphanumeric() || b"_-.".contains(&c))
            && is_credential(key, value)
        {
            let range = start + field.len() - value.len()..start + field.len();
            let what = format!("a credential (`{key}`)");
            let reference = reports.credential(
                &what,
                &format!("{name}_{key}"),
                value,
                text.place(range.clone()),
            );
            parts.push((range, reference));
        }
        start += field.len() + 1;
    }
    if parts.is_empty() { text } else { text.replaced(&parts) }
}

/// Replaces the credentials in an address: what [`redacted`] finds, and keys in its path and its query. If it was put
/// together, `written` are the texts that it was made of: a credential is where it stands in them.
pub(super) fn redacted_address(
    text: &Text,
    written: &[Text],
    name: &str,
    reports: &mut Reports<'_>,
) -> Text {
    let known = reports.problems.len();
    let whole = text;
    let text = redacted(text, name, reports);
    let place = |in_text: &Text, range: Range<usize>| {
        let value = in_text.value.get(range.clone()).unwrap_or_default();
        let part = written.iter().find_map(|part| Some((part, part.value.find(value)?)));
        part.map_or_else(|| in_text.place(range), |(part, at)| part.place(at..at + value.len()))
    };
    if !written.is_empty() {
        let found = secrets(&whole.value);
        for (problem, secret) in reports.problems.iter_mut().skip(known).zip(found) {
            problem.primary.span = place(whole, secret.range);
        }
    }
    let mut parts: Vec<(Range<usize>, String)> = Vec::new();
    let host = text.value.find("://").map_or(0, |at| at + 3);
    let path = text.value.get(host..).and_then(|rest| rest.find('/')).map_or(host, |at| host + at);
    let query = text.value.find('?').unwrap_or(text.value.len());
    let mut start = path;
    while let Some(rest) = text.value.get(start..).filter(|rest| !rest.is_empty()) {
        // In a path, a colon stands between a user and a token.
        let ends = |c: char| "/?&#;".contains(c) || (c == ':' && start < query);
        let length = rest.find(ends).unwrap_or(rest.len());
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
                let before = text.value.get(path..start).unwrap_or_default();
                let before = before.trim_end_matches(['/', ':']);
                before.rsplit('/').next().filter(|b| !b.is_empty()).unwrap_or(name)
            });
            let called = format!("{name}_{called}");
            let range = start + part.len() - value.len()..start + part.len();
            let place = place(&text, range.clone());
            let what = "a credential in an address";
            let reference = reports.credential(what, &called, value, place);
            parts.push((range, reference));
        }
        start += length + 1;
    }
    if parts.is_empty() { text } else { text.replaced(&parts) }
}

/// Adds the remaining members of an object to extensions, each under its own name.
pub(super) fn preserve(object: &Json, into: &mut Extensions, reports: &mut Reports<'_>) {
    for member in object.members() {
        set_aside(&member.key, &member.value, into, reports);
        if let Some(data) = remaining(&member.key, &member.value, reports) {
            into.insert(ID, &member.key, data, member.value.span);
        }
    }
}

/// Adds the remaining data of a value to extensions, under a name.
pub(super) fn preserve_as(
    name: &str,
    value: &Json,
    into: &mut Extensions,
    reports: &mut Reports<'_>,
) {
    set_aside(name, value, into, reports);
    if let Some(data) = remaining(name, value, reports) {
        into.insert(ID, name, data, value.span);
    }
}

/// Where settings are kept that are as in every new bot, and what is switched off.
const FACTORY: &str = "factory";
const DISABLED: &str = "disabled";

/// Adds the remaining settings that nobody has decided to extensions, under names of their own.
fn set_aside(name: &str, value: &Json, into: &mut Extensions, reports: &mut Reports<'_>) {
    type Test = dyn Fn(&[&str], &Json) -> bool;
    let parts: [(&str, &Test); 2] = [(DISABLED, &is_disabled), (FACTORY, &is_factory)];
    for (key, is_one) in parts {
        let Some(data) = part(&mut vec![name], value, is_one, reports) else { continue };
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
    reports: &mut Reports<'_>,
) -> Option<Data> {
    if value.is_taken() || value.is_empty() {
        return None;
    }
    if is_one(path, value) {
        return remaining(path.last().copied().unwrap_or_default(), value, reports);
    }
    match &value.kind {
        Kind::Array(items) => {
            let mut part = |item| part(path, item, is_one, reports);
            let all: Vec<Data> = items.iter().filter_map(&mut part).collect();
            (!all.is_empty()).then_some(Data::Array(all))
        }
        Kind::Object(members) => {
            let mut all = serde_json::Map::new();
            for member in members {
                path.push(&member.key);
                let inner = part(path, &member.value, is_one, reports);
                path.pop();
                all.extend(inner.map(|inner| (member.key.to_string(), inner)));
            }
            (!all.is_empty()).then_some(Data::Object(all))
        }
        _ => None,
    }
}

/// The remaining data of a value, which is marked as taken; `None` if there is none or it is empty.
fn remaining(name: &str, value: &Json, reports: &mut Reports<'_>) -> Option<Data> {
    let is_left = |value: &Json| !value.is_taken() && !value.is_empty();
    let are_variables = VARIABLES.contains(&name);
    data(name, value, &is_left, &mut |called, text| {
        // What a variable is called need not say that it is one.
        if are_variables && called.member == "value" && is_key(&text.value) {
            reports.credential("the credential of a variable", called.of, &text.value, text.span);
            return REDACTED.to_owned();
        }
        preserved_text(called, text, reports)
    })
}

/// The members of a bot and of its settings that give variables their values, credentials of servers among them.
const VARIABLES: &[&str] = &["contentVariables", "envVariables", "variables"];

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

/// How the project refers to a text that is a credential by what it is called, which is reported.
pub(super) fn named_credential(
    called: &str,
    text: &Text,
    reports: &mut Reports<'_>,
) -> Option<String> {
    is_credential(called, &text.value).then(|| {
        let what = format!("a credential (`{called}`)");
        reports.credential(&what, called, &text.value, text.span)
    })
}

/// A text to preserve: decoded if it is encoded, without credentials.
fn preserved_text(called: Called<'_>, text: &Text, reports: &mut Reports<'_>) -> String {
    if named_credential(called.of, text, reports).is_some() {
        return REDACTED.to_owned();
    }
    let decoded = match text.decoded() {
        Ok(decoded) if ENCODED.contains(&called.member) => decoded,
        _ => text.clone(),
    };
    redacted(&decoded, called.of, reports).value
}
