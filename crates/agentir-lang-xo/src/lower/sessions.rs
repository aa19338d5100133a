//! Which variables of the session several dialogs use: `BotUserSession` and the like belong to the conversation, not to
//! a dialog. Dialogs are separate agents, so these variables are declared where all of them find them.

use crate::tables::{SCOPES, SESSION_OBJECTS};
use crate::{Json, Kind};
use rustc_hash::{FxHashMap, FxHashSet};
use smol_str::SmolStr;

/// The methods of the session's objects; the first argument names the variable.
const METHODS: &[&str] = &["put", "get", "delete", "remove"];

/// The variables of the session's objects that several dialogs use.
#[derive(Debug, Default)]
pub(super) struct Shared {
    /// By the scope of the object and the name.
    variables: FxHashSet<(&'static str, SmolStr)>,
    /// The names that were found. Any other one is computed, so that it may be used anywhere.
    known: FxHashSet<(&'static str, SmolStr)>,
}

impl Shared {
    /// Whether several dialogs use a variable of an object's scope.
    pub(super) fn contains(&self, scope: &str, name: &str) -> bool {
        let Some(scope) = objects().find_map(|(_, own)| (own == scope).then_some(own)) else {
            return false;
        };
        let key = (scope, SmolStr::new(name));
        self.variables.contains(&key) || !self.known.contains(&key)
    }
}

/// The objects of the session, each with its scope.
fn objects() -> impl Iterator<Item = (&'static str, &'static str)> {
    SCOPES.iter().filter_map(|(prefix, scope)| {
        let object = prefix.last().filter(|last| SESSION_OBJECTS.contains(last))?;
        Some((*object, *scope))
    })
}

/// Which dialogs mention which variables.
#[derive(Default)]
struct Mentions {
    /// The dialogs, by scope and name.
    by: FxHashMap<(&'static str, SmolStr), FxHashSet<usize>>,
    /// The dialogs that use an object's scope in another way.
    any: FxHashMap<&'static str, FxHashSet<usize>>,
}

/// Finds the variables that several dialogs use. Everything outside of dialogs counts as one more.
pub(super) fn shared(root: &Json, dialogs: &[Json], components: &[Json]) -> Shared {
    let by_id: FxHashMap<&str, &Json> =
        components.iter().filter_map(|one| Some((one.peek("_id")?, one))).collect();
    let mut found = Mentions::default();
    for (at, dialog) in dialogs.iter().enumerate() {
        let mut ids = Vec::new();
        mentions(dialog, at, &mut found, &mut ids);
        for component in ids.into_iter().filter_map(|id| by_id.get(id)) {
            mentions(component, at, &mut found, &mut Vec::new());
        }
    }
    for member in root.members() {
        if !matches!(member.key.as_str(), "dialogs" | "dialogComponents") {
            mentions(&member.value, dialogs.len(), &mut found, &mut Vec::new());
        }
    }
    let known = found.by.keys().cloned().collect();
    let several = found.by.iter().filter(|((scope, _), users)| {
        let others = found.any.get(scope).into_iter().flatten();
        users.len() > 1 || others.into_iter().any(|other| !users.contains(other))
    });
    let variables = several.map(|(key, _)| key.clone()).collect();
    Shared { variables, known }
}

/// Adds what the texts of a value mention, and the ids of components. Recursive: the JSON reader bounds the nesting.
fn mentions<'j>(value: &'j Json, dialog: usize, found: &mut Mentions, ids: &mut Vec<&'j str>) {
    match &value.kind {
        Kind::String(text) if objects().any(|(object, _)| text.value.contains(object)) => {
            let decoded = text.decoded();
            let text = decoded.as_ref().map_or(&text.value, |text| &text.value);
            mentioned(text, dialog, found);
        }
        Kind::Array(items) => items.iter().for_each(|item| mentions(item, dialog, found, ids)),
        Kind::Object(members) => {
            ids.extend(value.peek("componentId"));
            members.iter().for_each(|m| mentions(&m.value, dialog, found, ids));
        }
        _ => {}
    }
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '$'
}

/// Adds what one text mentions.
fn mentioned(text: &str, dialog: usize, found: &mut Mentions) {
    for (object, scope) in objects() {
        for (at, _) in text.match_indices(object) {
            let before = text.get(..at).and_then(|before| before.chars().next_back());
            let after = text.get(at + object.len()..).unwrap_or_default();
            if before.is_some_and(is_word) || after.starts_with(is_word) {
                continue;
            }
            match name_after(after) {
                Some(name) => {
                    found.by.entry((scope, SmolStr::new(name))).or_default().insert(dialog);
                }
                None => {
                    found.any.entry(scope).or_default().insert(dialog);
                }
            }
        }
    }
}

/// The name of the variable that follows an object: `.tier`, `["tier"]`, `.get("tier")`.
fn name_after(text: &str) -> Option<&str> {
    let text = text.trim_start();
    let text = text.strip_prefix('?').filter(|rest| rest.starts_with('.')).unwrap_or(text);
    if let Some(index) = text.strip_prefix('[').or_else(|| text.strip_prefix(".[")) {
        return quoted(index);
    }
    let rest = text.strip_prefix('.')?.trim_start();
    let end = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
    let (name, after) = rest.split_at_checked(end)?;
    let arguments = after.trim_start().strip_prefix('(');
    match arguments.filter(|_| METHODS.contains(&name)) {
        Some(arguments) => quoted(arguments),
        None => Some(name).filter(|name| !name.is_empty()),
    }
}

/// The string that a text begins with.
fn quoted(text: &str) -> Option<&str> {
    let text = text.trim_start();
    let quote = text.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    let rest = text.get(1..)?;
    rest.find(quote).and_then(|end| rest.get(..end))
}
