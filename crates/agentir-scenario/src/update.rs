//! Updating the expectations of a test file to the actual behaviour.
//!
//! Only the values of unmet expectations are replaced, in place, so that comments and layout are
//! preserved.

use crate::file::{Scenario, ScenarioError};
use crate::run::{Expectation, Failure, run};
use crate::yaml_spans::{PathSegment, YamlNode, YamlValue};
use agentir_runtime::Machine;
use serde_json::Value as Json;
use std::ops::Range;

/// An updated test file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Updated {
    /// The updated text.
    pub text: String,
    /// The number of replaced values.
    pub changes: usize,
    /// Descriptions of failures that could not be updated: errors of agents, values shared through
    /// YAML aliases.
    pub left: Vec<String>,
}

/// Updates the expectations of a file to the actual behaviour. A conversation stops at its first
/// failing turn, so the tests are repeated until nothing changes.
///
/// # Errors
/// Returns a [`ScenarioError`] if the program or the file cannot be run.
pub fn update(machine: &Machine<'_>, text: &str) -> Result<Updated, ScenarioError> {
    let mut scenario = Scenario::read(text)?;
    let mut updated = Updated { text: text.to_owned(), changes: 0, left: Vec::new() };
    let longest = scenario.tests.iter().map(|test| test.turns.len()).max().unwrap_or(0);
    for _ in 0..=longest {
        let outcomes = run(machine, &scenario)?;
        updated.left.clear();
        let before = updated.changes;
        for (number, outcome) in outcomes.iter().enumerate() {
            // In reverse order, as removing an item moves those after it.
            for failure in outcome.failures.iter().rev() {
                match with_replacement(&updated.text, number, failure) {
                    Some(text) => {
                        updated.text = text;
                        updated.changes += 1;
                    }
                    None => updated.left.push(format!(
                        "test `{}`, turn {}, {}: {}",
                        outcome.name, failure.turn, failure.what, failure.found
                    )),
                }
            }
        }
        if updated.changes == before {
            break;
        }
        scenario = Scenario::read(&updated.text)?;
    }
    Ok(updated)
}

/// Replaces one expectation; `None` if the file does not contain it, or if the result would not be
/// valid.
fn with_replacement(text: &str, test: usize, failure: &Failure) -> Option<String> {
    let expectation = failure.expectation.as_ref()?;
    let file = YamlNode::of(text)?;
    let number = failure.turn.checked_sub(1)?;
    let path = [
        PathSegment::Key("tests"),
        PathSegment::Index(test),
        PathSegment::Key("turns"),
        PathSegment::Index(number),
    ];
    let turn = file.find(&path)?;
    let (range, new) = match (expectation, &failure.replacement) {
        (Expectation::Field(name), Some(value)) => {
            (turn.find(&[PathSegment::Key(name)])?.range.clone(), flow_style(value))
        }
        (Expectation::Variable(path), Some(value)) => {
            let node = turn.find(&[PathSegment::Key("state"), PathSegment::Key(path)])?;
            (node.range.clone(), flow_style(value))
        }
        (Expectation::Item(name, at), replacement) => {
            let list = turn.find(&[PathSegment::Key(name)])?;
            item(text, list, *at, replacement.as_ref())?
        }
        (Expectation::Field(_) | Expectation::Variable(_), None) => return None,
    };
    let mut out = text.to_owned();
    out.replace_range(range, &new);
    Scenario::read(&out).ok().map(|_| out)
}

/// The edit that replaces, adds or removes an item of a list.
fn item(
    text: &str,
    list: &YamlNode,
    at: usize,
    replacement: Option<&Json>,
) -> Option<(Range<usize>, String)> {
    let YamlValue::List { flow: brackets, items } = &list.value else { return None };
    match (items.get(at), replacement) {
        (Some(item), Some(value)) => Some((item.range.clone(), flow_style(value))),
        (None, Some(value)) => {
            let Some(last) = items.last() else {
                return Some((list.range.clone(), format!("[{}]", flow_style(value))));
            };
            let end = last.range.end;
            if *brackets {
                return Some((end..end, format!(", {}", flow_style(value))));
            }
            let line = text.get(..last.range.start)?.rfind('\n').map_or(0, |at| at + 1);
            let indent = text.get(line..last.range.start)?.find('-')?;
            // After the line, including a comment on it.
            let end = end + text.get(end..)?.find('\n').unwrap_or(text.len() - end);
            Some((end..end, format!("\n{}- {}", " ".repeat(indent), flow_style(value))))
        }
        (Some(_), None) if items.len() == 1 => {
            // The last item is removed: an empty list goes on the line of the key.
            let start = text.get(..list.range.start)?.trim_end().len();
            Some((start..list.range.end, " []".to_owned()))
        }
        (Some(item), None) => {
            let before = at.checked_sub(1).and_then(|before| items.get(before));
            let next = items.get(at + 1);
            let range = match (*brackets, before, next) {
                (true, Some(before), _) => before.range.end..item.range.end,
                (true, None, Some(next)) => item.range.start..next.range.start,
                (false, Some(before), _) => {
                    let end = before.range.end;
                    let end = end + text.get(end..)?.find('\n')?;
                    let last = item.range.end;
                    end..last + text.get(last..)?.find('\n').unwrap_or(text.len() - last)
                }
                (false, None, Some(next)) => {
                    let dash = |node: &YamlNode| text.get(..node.range.start)?.rfind('-');
                    dash(item)?..dash(next)?
                }
                (_, None, None) => return None,
            };
            Some((range, String::new()))
        }
        (None, None) => None,
    }
}

/// A value in flow style, on one line.
fn flow_style(value: &Json) -> String {
    match value {
        Json::Array(items) => {
            format!("[{}]", items.iter().map(flow_style).collect::<Vec<_>>().join(", "))
        }
        Json::Object(fields) if fields.is_empty() => "{}".to_owned(),
        Json::Object(fields) => {
            let all = fields
                .iter()
                .map(|(name, value)| format!("{}: {}", scalar(name), flow_style(value)));
            format!("{{ {} }}", all.collect::<Vec<_>>().join(", "))
        }
        Json::String(text) => scalar(text),
        // JSON is valid YAML.
        other => other.to_string(),
    }
}

/// A string, unquoted if it needs no quotes.
fn scalar(name: &str) -> String {
    let plain = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        && !["true", "false", "null", "yes", "no", "on", "off", "y", "n"]
            .contains(&name.to_ascii_lowercase().as_str());
    if plain { name.to_owned() } else { Json::from(name).to_string() }
}
