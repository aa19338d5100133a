//! Sentences about the results of tools.

use super::questions::spoken;
use super::sentence;
use super::words::{Word, words};
use agentir_runtime::{Message, Role};
use serde_json::{Map, Value as Json};

/// The number of fields that a sentence about a result mentions.
const MAX_SHOWN_FIELDS: usize = 6;

/// The number of list items that a sentence about a result mentions.
const MAX_SHOWN_ITEMS: usize = 3;

/// What is said about a call that only succeeded.
pub(super) const DONE: &str = "That is done.";

/// Whether a result says that the call failed. What it says is for developers.
pub(super) fn is_failure(result: &str) -> bool {
    match serde_json::from_str::<Json>(result) {
        Ok(Json::Object(fields)) => fields.get("error").is_some_and(|error| {
            !matches!(error, Json::Null | Json::Bool(false)) && error.as_str() != Some("")
        }),
        _ => false,
    }
}

/// Whether a result says that the user did not agree to the call.
pub(super) fn is_refusal(result: &str) -> bool {
    serde_json::from_str::<Json>(result)
        .is_ok_and(|result| result.get("error").is_some_and(|e| e == "the user did not agree"))
}

/// Whether a result says that what was asked for can go on.
pub(super) fn is_success(result: &str) -> bool {
    const BAD: &[&str] = &[
        "fail",
        "error",
        "insufficient",
        "invalid",
        "unavailable",
        "not ",
        "denied",
        "declined",
        "rejected",
    ];
    let Ok(Json::Object(fields)) = serde_json::from_str::<Json>(result) else { return false };
    !fields.is_empty()
        && fields.iter().all(|(name, value)| match value {
            Json::Bool(good) => *good,
            Json::String(text) => {
                let text = text.to_lowercase();
                !BAD.iter().any(|bad| text.contains(bad))
            }
            Json::Null => name == "error",
            _ => true,
        })
}

/// A sentence about a tool result. Text fields meant for people are used as they are.
pub(super) fn describe_result(result: &str) -> String {
    match serde_json::from_str::<Json>(result) {
        Ok(Json::Object(fields)) => {
            let written = TEXTS.iter().find_map(|name| fields.get(*name)?.as_str());
            // "Result message", but not "error message".
            let written = written.or_else(|| {
                let mut texts = fields.iter().filter(|(name, _)| {
                    let name = super::words::name_words(name);
                    name.last().is_some_and(|w| TEXTS.contains(&w.text.as_str()))
                        && !name.iter().any(|w| w.text == "error")
                });
                texts.find_map(|(_, value)| value.as_str().filter(|text| text.contains(' ')))
            });
            match written.filter(|text| !text.trim().is_empty()) {
                Some(text) => text.to_owned(),
                None if fields.iter().all(|(name, value)| is_outcome(name, value)) => {
                    DONE.to_owned()
                }
                None if fields.values().all(is_nothing) => NOTHING.to_owned(),
                None if let Some(text) = verdict(&fields) => text,
                None => {
                    format!("Here is what I found: {}.", describe_value(&Json::Object(fields), 0))
                }
            }
        }
        Ok(Json::Array(items)) if items.is_empty() => NOTHING.to_owned(),
        Ok(Json::Null) => DONE.to_owned(),
        Ok(Json::String(text)) => text,
        Ok(other) => format!("Here is what I found: {}.", describe_value(&other, 0)),
        Err(_) if result.trim().is_empty() || result == "done" => DONE.to_owned(),
        Err(_) => result.to_owned(),
    }
}

/// The results of tools that are JSON, the last one first.
pub(super) fn results(messages: &[Message]) -> impl Iterator<Item = Json> {
    let results = messages.iter().rev().filter(|m| m.role == Role::Tool);
    results.filter_map(|m| serde_json::from_str(&m.text).ok())
}

/// Whether a result states a condition in the words of an author: "the refund is due". It is the value of what the condition
/// is about that counts, a text or whether it is so; a result without such a value states nothing.
pub(super) fn states(result: &Json, condition: &str) -> bool {
    let Some((subject, predicate)) =
        [" is ", " are "].iter().find_map(|verb| condition.split_once(verb))
    else {
        return false;
    };
    let content =
        |text: &str| -> Vec<Word> { words(text).into_iter().filter(Word::is_content).collect() };
    let stated = content(condition);
    let (subject, predicate) = (content(subject), content(predicate));
    let denied = predicate.iter().any(|w| w.negated);
    let has = |all: &[Word], own: &[Word]| {
        !own.is_empty() && own.iter().all(|own| all.iter().any(|w| w.stem == own.stem))
    };
    let mut values = vec![(Vec::new(), result)];
    collect_values(result, &[], 0, &mut values);
    // "Sensors active" says nothing about an alarm that is active.
    const WRAPPERS: &[&str] = &["data", "result", "response", "output"];
    let names_only = |path: &[Vec<Word>]| {
        path.iter().flatten().filter(|w| w.is_content()).all(|w| {
            WRAPPERS.contains(&w.text.as_str())
                || subject.iter().chain(&predicate).any(|own| own.stem == w.stem)
        })
    };
    let holds = values.iter().filter_map(|(path, value)| match value {
        // `{"refund": {"due": true}}`, `{"is_due": true}`
        Json::Bool(so)
            if path.last().is_some_and(|name| has(name, &predicate)) && names_only(path) =>
        {
            Some(*so != denied)
        }
        // `{"refund": "due"}`
        Json::String(text) if has(&path.concat(), &subject) => {
            let said = words(text);
            let says = |own: &Word| said.iter().any(|w| w.stem == own.stem && !w.negated);
            Some((!predicate.is_empty() && predicate.iter().all(says)) != denied)
        }
        // A sentence that states it: "The reader is no member."
        Json::String(text) => {
            let said = words(text);
            let about = has(&said, &stated);
            let same =
                |own: &Word| said.iter().any(|w| w.stem == own.stem && w.negated == own.negated);
            about.then(|| stated.iter().all(same))
        }
        _ => None,
    });
    // Values that contradict each other state nothing.
    let mut holds = holds.peekable();
    holds.peek().is_some() && holds.all(|so| so)
}

/// The names in front of the values in the objects of a result, and the values.
type Named<'j> = (Vec<Vec<Word>>, &'j Json);

/// How many levels of a result are looked at.
const MAX_LEVELS: u8 = 4;

/// The values in the objects of a result, in its first levels.
fn collect_values<'j>(value: &'j Json, path: &[Vec<Word>], depth: u8, found: &mut Vec<Named<'j>>) {
    const MAX_VALUES: usize = 64;
    let Json::Object(fields) = value else { return };
    for (name, value) in fields {
        if depth >= MAX_LEVELS || found.len() >= MAX_VALUES {
            return;
        }
        let path = [path, &[super::words::name_words(name)]].concat();
        match value {
            Json::Object(_) => collect_values(value, &path, depth + 1, found),
            _ => found.push((path, value)),
        }
    }
}

/// The value of `key`, or of `id`, in the only object of a result that a message refers to by one of its texts.
pub(super) fn referred_to(result: &Json, key: &str, message: &str) -> Option<Json> {
    let mut objects = Vec::new();
    collect_objects(result, 0, &mut objects);
    let said: Vec<Word> = words(message).into_iter().filter(Word::is_content).collect();
    let keyed = objects.into_iter().filter_map(|fields| {
        let id = fields.get(key).or_else(|| fields.get("id").filter(|_| key.ends_with("_id")))?;
        // Words that the message shares with the texts of the object, and whether it has all of one text.
        let score = fields
            .values()
            .filter(|value| *value != id)
            .filter_map(Json::as_str)
            .map(|text| {
                let own: Vec<Word> = words(text).into_iter().filter(Word::is_content).collect();
                let found =
                    own.iter().filter(|own| said.iter().any(|w| w.stem == own.stem)).count();
                if found == own.len() { found * 2 } else { found }
            })
            .max()?;
        (id.is_string() || id.is_number()).then(|| (id.clone(), score))
    });
    let mut found: Vec<(Json, usize)> = keyed.filter(|(_, score)| *score > 0).collect();
    found.sort_by_key(|(_, score)| std::cmp::Reverse(*score));
    match found.as_slice() {
        [(id, best), rest @ ..]
            if rest.iter().all(|(other, score)| score < best || other == id) =>
        {
            Some(id.clone())
        }
        _ => None,
    }
}

/// The objects in a result, in its first levels.
fn collect_objects<'j>(value: &'j Json, depth: u8, found: &mut Vec<&'j Map<String, Json>>) {
    const MAX_OBJECTS: usize = 100;
    if depth >= MAX_LEVELS || found.len() >= MAX_OBJECTS {
        return;
    }
    match value {
        Json::Array(items) => {
            for item in items.iter().take(MAX_OBJECTS) {
                collect_objects(item, depth + 1, found);
            }
        }
        Json::Object(fields) => {
            found.push(fields);
            for value in fields.values().filter(|v| v.is_array() || v.is_object()) {
                collect_objects(value, depth + 1, found);
            }
        }
        _ => {}
    }
}

/// Names of values that are texts for people.
const TEXTS: &[&str] = &["message", "text", "answer", "summary", "msg"];

/// What is said about a search without a result.
const NOTHING: &str = "I found nothing.";

/// Whether a value says nothing.
fn is_nothing(value: &Json) -> bool {
    match value {
        Json::Null => true,
        Json::String(text) => text.trim().is_empty(),
        Json::Array(items) => items.is_empty(),
        Json::Object(fields) => fields.is_empty(),
        _ => false,
    }
}

/// Whether a result only says whether something is so: of a check.
pub(super) fn is_check(result: &str) -> bool {
    let Ok(Json::Object(fields)) = serde_json::from_str::<Json>(result) else { return false };
    let mut told = fields.values().filter(|value| !is_nothing(value));
    told.next().is_some_and(Json::is_boolean) && told.all(|v| v.is_boolean() || v.is_number())
}

/// A sentence about a result that only says whether something is so: "It is not available."
fn verdict(fields: &Map<String, Json>) -> Option<String> {
    const SAID: &[&str] = &[
        "allowed",
        "valid",
        "available",
        "eligible",
        "possible",
        "open",
        "free",
        "active",
        "closed",
        "covered",
        "confirmed",
        "included",
        "ready",
        "found",
        "approved",
        "paid",
    ];
    let mut told = fields.iter().filter(|(_, value)| !is_nothing(value));
    let ((name, value), None) = (told.next()?, told.next()) else { return None };
    let name = name.trim_start_matches("is_");
    let holds = value.as_bool()?;
    SAID.contains(&name).then(|| format!("It is {}{name}.", if holds { "" } else { "not " }))
}

/// Whether a field only says that the call succeeded.
fn is_outcome(name: &str, value: &Json) -> bool {
    let named =
        ["status", "success", "ok", "done", "result", "sent", "created", "updated", "saved"]
            .contains(&name);
    let good = match value {
        Json::Bool(good) => *good,
        Json::String(text) => {
            let text = text.to_lowercase();
            ["success", "ok", "done", "sent", "updated", "created", "saved", "completed"]
                .contains(&text.as_str())
        }
        _ => false,
    };
    named && good
}

/// Recursive, limited to three levels; deeper values are omitted.
pub(super) fn describe_value(value: &Json, depth: u8) -> String {
    match value {
        Json::Null => "nothing".to_owned(),
        Json::Bool(true) => "yes".to_owned(),
        Json::Bool(false) => "no".to_owned(),
        Json::Number(number) => number.to_string(),
        Json::String(text) => sentence(text).trim_end_matches('.').to_owned(),
        Json::Array(_) | Json::Object(_) if depth > 2 => "…".to_owned(),
        Json::Array(items) => {
            let shown_items =
                items.iter().take(MAX_SHOWN_ITEMS).map(|item| describe_value(item, depth + 1));
            let mut list = shown_items.collect::<Vec<_>>().join("; ");
            if items.len() > MAX_SHOWN_ITEMS {
                list.push_str(&format!("; and {} more", items.len() - MAX_SHOWN_ITEMS));
            }
            if items.is_empty() { "none".to_owned() } else { list }
        }
        Json::Object(fields) => {
            let told = fields.iter().filter(|(_, value)| !is_nothing(value));
            let some = told.clone().any(|(name, value)| !is_outcome(name, value));
            let shown = told.filter(|(name, value)| !some || !is_outcome(name, value));
            let fields = shown.take(MAX_SHOWN_FIELDS).map(|(name, value)| match value {
                // "Available", "not available" instead of yes and no.
                Json::Bool(holds) => {
                    let name = name.trim_start_matches("is_").trim_start_matches("has_");
                    format!("{}{}", if *holds { "" } else { "not " }, spoken(name))
                }
                _ => format!("{} {}", spoken(name), describe_value(value, depth + 1)),
            });
            fields.collect::<Vec<_>>().join(", ")
        }
    }
}
