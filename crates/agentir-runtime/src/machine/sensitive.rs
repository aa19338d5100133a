//! The sensitive values of a conversation, which traces do not show wherever they occur: in the message that gave
//! them, in texts of the agent, in arguments and results.

use super::scope::{Scope, dotted};
use super::{MASK, Run};
use crate::derived::Derived;
use crate::json::to_json;
use crate::model::Message;
use crate::session::Session;
use crate::trace::EventKind;
use agentir_diagnostics::Span;
use agentir_eval::{Value, evaluate};
use agentir_expr::{Expr, ExprKind, Literal, Path, Visit};
use agentir_ir::{Agent, GatherField, Node};
use serde_json::{Map, Value as Json};
use std::collections::{BTreeMap, BTreeSet};

/// Shorter values occur by chance, and could be guessed anyway.
const MIN_CHARS: usize = 3;

/// The values that are known to be sensitive.
#[derive(Debug, Default)]
pub(super) struct SensitiveValues {
    known: BTreeSet<String>,
    /// Those that observers have not been told.
    untold: Vec<String>,
    /// What expressions made of them, and the session has not been told.
    derived: Derived,
}

impl SensitiveValues {
    /// Adds the texts and numbers of a value.
    pub(super) fn add(&mut self, value: &Json) {
        match value {
            Json::String(text) => self.add_text(text.trim()),
            Json::Number(number) => self.add_text(&number.to_string()),
            Json::Array(items) => items.iter().for_each(|item| self.add(item)),
            Json::Object(fields) => fields.values().for_each(|value| self.add(value)),
            Json::Null | Json::Bool(_) => {}
        }
    }

    fn add_text(&mut self, text: &str) {
        let long = text.chars().nth(MIN_CHARS - 1).is_some();
        if long && text != MASK && self.known.insert(text.to_owned()) {
            self.untold.push(text.to_owned());
        }
    }
}

impl Run<'_, '_, '_> {
    /// Notes the sensitive values that are known when a turn begins.
    pub(super) fn note_sensitive_values(&mut self) {
        let names = &self.machine.sensitive;
        // The session may have begun with another version of the program.
        if names.iter().any(|name| !self.session.sensitive.contains(*name)) {
            self.session.sensitive.extend(names.iter().map(|name| (*name).to_owned()));
        }
        if names.is_empty() {
            return;
        }
        let session = &*self.session;
        let frames = session.parked.iter().chain(&session.stack);
        let states = frames.map(|frame| &frame.variables).chain([&session.shared, &session.memory]);
        let mut values = self.sensitive.borrow_mut();
        for text in &session.derived.texts {
            values.add_text(text);
        }
        for (name, value) in states.flat_map(|state| state.variables()) {
            if self.is_sensitive(name) {
                values.add(&to_json(value));
            }
        }
    }

    /// Notes what an expression that was evaluated made of sensitive values. What is only read stays what it is.
    pub(super) fn note_computed(&self, expr: &Expr, scope: &Scope<'_>, value: &Value) {
        if expr.as_path().is_none() {
            self.note_derived(expr, scope, value);
        }
    }

    /// Notes what was made of the value of an expression, if it is made of sensitive values: one is read where it is evaluated, other than to decide between
    /// values, and its result is no constant of it. What the result is a part of, or was copied to, is found by what it
    /// is, like the values themselves.
    pub(super) fn note_derived(&self, expr: &Expr, scope: &Scope<'_>, value: &Value) {
        let is_shown =
            matches!(value, Value::Text(_) | Value::Number(_) | Value::List(_) | Value::Object(_));
        if self.machine.sensitive.is_empty() || !is_shown || self.session.derived.too_many {
            return;
        }
        let (reads, constants) = self.reads_sensitive(expr, scope);
        if !reads {
            return;
        }
        let mut made = SensitiveValues::default();
        made.add(&to_json(value));
        let mut values = self.sensitive.borrow_mut();
        let mut derived = Derived::default();
        for text in made.known {
            if !constants.contains(&text) && !values.known.contains(&text) {
                values.add_text(&text);
                derived.texts.insert(text);
            }
        }
        values.derived.extend(derived);
    }

    /// Whether an expression reads a sensitive value, other than to decide between values, and its constant texts.
    fn reads_sensitive(&self, expr: &Expr, scope: &Scope<'_>) -> (bool, BTreeSet<String>) {
        let mut paths: Vec<Path> = Vec::new();
        let mut constants = BTreeSet::new();
        let mut left = vec![expr];
        while let Some(expr) = left.pop() {
            expr.visit(&mut |inner| match &inner.kind {
                ExprKind::Conditional { then, otherwise, .. } => {
                    left.extend([&**then, &**otherwise]);
                    Visit::Skip
                }
                ExprKind::Literal(Literal::String(text)) => {
                    constants.insert(text.trim().to_owned());
                    Visit::Children
                }
                ExprKind::Path(path) => {
                    paths.push(path.clone());
                    Visit::Children
                }
                ExprKind::Object(entries) => {
                    let short = entries.iter().filter(|entry| entry.value.is_none());
                    paths.extend(short.map(|entry| Path::variable(entry.key.clone())));
                    Visit::Children
                }
                _ => Visit::Children,
            });
        }
        let reads = paths.into_iter().any(|path| {
            let is_declared =
                self.is_sensitive(&path.root.value) || self.is_sensitive(&dotted(&path));
            let path = Expr::path(path, Span::default());
            let Ok(value) = evaluate(&path, scope, self.dialect()) else { return false };
            if value.is_unset() || (!is_declared && self.sensitive.borrow().known.is_empty()) {
                return false;
            }
            is_declared || {
                let whole = to_json(&value);
                let mut shown = whole.clone();
                mask_json(&mut shown, &self.sensitive.borrow().known);
                shown != whole
            }
        });
        (reads, constants)
    }

    /// Tells the observer of values that turned out to be sensitive, and masks all of them in an event.
    pub(super) fn mask_event(&mut self, kind: &mut EventKind) {
        let mut values = self.sensitive.borrow_mut();
        for value in std::mem::take(&mut values.untold) {
            self.host.observer.sensitive(&value);
        }
        self.session.derived.extend(std::mem::take(&mut values.derived));
        if self.session.derived.too_many {
            kind.mask_all();
        }
        kind.mask(&values.known);
    }
}

/// What may be shown of a session: sensitive values are masked wherever they occur as whole words.
#[derive(Clone, Debug)]
pub struct ShownSession {
    /// The messages so far.
    pub transcript: Vec<Message>,
    /// All variables, by name.
    pub variables: BTreeMap<String, Json>,
    /// Long-term memory, by path.
    pub memory: BTreeMap<String, Json>,
}

impl Session {
    /// The session as it may be shown.
    #[must_use]
    pub fn shown(&self) -> ShownSession {
        let transcript = self.transcript.clone();
        let mut shown =
            ShownSession { transcript, variables: self.variables(), memory: self.memory() };
        if self.sensitive.is_empty() {
            return shown;
        }
        if self.derived.too_many {
            let values = shown.variables.values_mut().chain(shown.memory.values_mut());
            values.filter(|value| !value.is_null()).for_each(|value| *value = Json::from(MASK));
            shown.transcript.iter_mut().for_each(|one| MASK.clone_into(&mut one.text));
            return shown;
        }
        let is_sensitive = |name: &str| is_one_of(name, |name| self.sensitive.contains(name));
        let mut values = SensitiveValues::default();
        self.derived.texts.iter().for_each(|text| values.add_text(text));
        // Of several agents' variables of one name only one is shown, but all may have been said.
        let states = self.parked.iter().chain(&self.stack).map(|frame| &frame.variables);
        for (name, value) in states.flat_map(|state| state.variables()) {
            if is_sensitive(name) {
                values.add(&to_json(value));
            }
        }
        for (name, value) in shown.variables.iter_mut().chain(&mut shown.memory) {
            if is_sensitive(name) && !value.is_null() {
                values.add(value);
                *value = Json::from(MASK);
            }
        }
        for value in shown.variables.values_mut().chain(shown.memory.values_mut()) {
            mask_json(value, &values.known);
        }
        shown.transcript.iter_mut().for_each(|one| mask_text(&mut one.text, &values.known));
        shown
    }
}

/// The names that an agent declares as sensitive, including the fields collected by its steps. A field takes over what
/// its entity says, unless it says `sensitive: false` itself (ABL, current specification, 3.5.1: entities "follow the same
/// sensitive rendering behavior as GATHER privacy attributes").
pub(super) fn sensitive_names(agent: &Agent) -> Vec<&str> {
    let (mut names, mut plain) = (Vec::new(), Vec::new());
    let entities = agent.entities.iter().chain(agent.nlu.iter().flat_map(|nlu| &nlu.entities));
    let entities: Vec<_> = entities.filter(|e| e.sensitive == Some(true)).collect();
    let shared = |field: &GatherField| {
        let named = field.entity_ref.as_ref().map(|entity| entity.value.as_str());
        named.is_some_and(|named| entities.iter().any(|e| e.name.value == named))
    };
    agent.walk(&mut |node| {
        if let Node::Field(field) = node {
            let is_sensitive = field.sensitive.unwrap_or_else(|| shared(field));
            if is_sensitive { &mut names } else { &mut plain }.push(field.name.value.as_str());
        }
    });
    let paths = agent.memory.persistent.iter().filter(|p| p.sensitive == Some(true));
    // A field may have the name of its entity.
    let entities = entities.iter().map(|e| e.name.value.as_str());
    names.extend(entities.filter(|name| !plain.contains(name)));
    names.extend(paths.map(|p| p.path.value.as_str()));
    names
}

/// Whether a name, or the variable that it is a part of, is one of the given ones.
pub(super) fn is_one_of(name: &str, given: impl Fn(&str) -> bool) -> bool {
    let root = name.split(['.', '[']).next().unwrap_or(name);
    [name, root].into_iter().any(given)
}

impl EventKind {
    /// Masks all values and texts that may contain what is not shown.
    fn mask_all(&mut self) {
        let mask = |text: &mut String| MASK.clone_into(text);
        match self {
            Self::Input { text } | Self::Say { text } => mask(text),
            Self::Set { value, .. } | Self::Log { value } | Self::Remember { value, .. } => {
                *value = Json::from(MASK);
            }
            Self::Call { arguments, .. } | Self::Reuse { arguments, .. } => {
                arguments.values_mut().for_each(|value| *value = Json::from(MASK));
            }
            Self::Result { result, error, .. } => {
                result.iter_mut().for_each(|result| *result = Json::from(MASK));
                error.iter_mut().for_each(mask);
            }
            Self::Model { answer, .. } => mask(answer),
            Self::Error { message, .. } => mask(message),
            Self::Escalated { reason } => reason.iter_mut().for_each(mask),
            Self::Condition { .. }
            | Self::Violation { .. }
            | Self::Node { .. }
            | Self::Clear { .. }
            | Self::Transfer { .. }
            | Self::Attempt { .. }
            | Self::TurnEnd { .. } => {}
        }
    }

    /// Masks values wherever they occur as whole words.
    pub fn mask(&mut self, values: &BTreeSet<String>) {
        if values.is_empty() {
            return;
        }
        match self {
            Self::Input { text } | Self::Say { text } => mask_text(text, values),
            Self::Condition { condition, .. } => mask_text(condition, values),
            Self::Set { value, .. } | Self::Log { value } | Self::Remember { value, .. } => {
                mask_json(value, values);
            }
            Self::Call { arguments, .. } | Self::Reuse { arguments, .. } => {
                mask_fields(arguments, values)
            }
            Self::Result { result, error, .. } => {
                result.iter_mut().for_each(|result| mask_json(result, values));
                error.iter_mut().for_each(|error| mask_text(error, values));
            }
            Self::Model { answer, .. } => mask_text(answer, values),
            Self::Violation { rule, .. } => mask_text(rule, values),
            Self::Error { message, .. } => mask_text(message, values),
            Self::Escalated { reason } => {
                reason.iter_mut().for_each(|reason| mask_text(reason, values));
            }
            Self::Node { .. }
            | Self::Clear { .. }
            | Self::Transfer { .. }
            | Self::Attempt { .. }
            | Self::TurnEnd { .. } => {}
        }
    }
}

fn mask_fields(fields: &mut Map<String, Json>, values: &BTreeSet<String>) {
    fields.values_mut().for_each(|value| mask_json(value, values));
}

fn mask_json(json: &mut Json, values: &BTreeSet<String>) {
    match json {
        Json::String(text) => mask_text(text, values),
        Json::Number(number) if values.contains(&number.to_string()) => *json = Json::from(MASK),
        Json::Array(items) => items.iter_mut().for_each(|item| mask_json(item, values)),
        Json::Object(fields) => mask_fields(fields, values),
        Json::Null | Json::Bool(_) | Json::Number(_) => {}
    }
}

fn mask_text(text: &mut String, values: &BTreeSet<String>) {
    // A longer value may contain a shorter one.
    let mut found: Vec<&String> = values.iter().filter(|value| text.contains(*value)).collect();
    found.sort_by_key(|value| std::cmp::Reverse(value.len()));
    for value in found {
        *text = without(text, value);
    }
}

/// A text in which whole-word occurrences of a value are masked.
fn without(text: &str, value: &str) -> String {
    let in_word = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    // Only a word goes on in a word.
    let (first, last) = (in_word(value.chars().next()), in_word(value.chars().next_back()));
    let mut masked = String::with_capacity(text.len());
    let mut done = 0;
    for (at, _) in text.match_indices(value) {
        let end = at + value.len();
        let before = text.get(..at).unwrap_or_default().chars().next_back();
        let after = text.get(end..).unwrap_or_default().chars().next();
        if !(first && in_word(before) || last && in_word(after)) {
            masked.push_str(text.get(done..at).unwrap_or_default());
            masked.push_str(MASK);
            done = end;
        }
    }
    masked.push_str(text.get(done..).unwrap_or_default());
    masked
}
