//! Expectations written anew: a file of tests with what agents do now.
//!
//! Only values that are not as expected are replaced, each where it stands, so that comments, layout and
//! everything else stay as people wrote them.

use crate::file::{Scenario, ScenarioError};
use crate::run::{Expectation, Failure, run};
use crate::yaml_spans::{PathSegment, YamlNode, YamlValue};
use agentir_runtime::Machine;
use serde_json::Value as Json;
use std::ops::Range;

/// A file with what agents do now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Updated {
    /// The file.
    pub text: String,
    /// How many values were written anew.
    pub changes: usize,
    /// What could not be: errors of agents, values that stand for several in the file.
    pub left: Vec<String>,
}

/// Brings the expectations of a file up to what agents do now. Conversations stop at the first turn that
/// goes otherwise, so they are gone through anew until nothing does.
///
/// # Errors
/// [`ScenarioError`] if the program or the file cannot be run at all.
pub fn update(machine: &Machine<'_>, text: &str) -> Result<Updated, ScenarioError> {
    let mut scenario = Scenario::read(text)?;
    let mut updated = Updated { text: text.to_owned(), changes: 0, left: Vec::new() };
    let longest = scenario.tests.iter().map(|test| test.turns.len()).max().unwrap_or(0);
    for _ in 0..=longest {
        let outcomes = run(machine, &scenario)?;
        updated.left.clear();
        let before = updated.changes;
        for (number, outcome) in outcomes.iter().enumerate() {
            // From behind: what is taken out of a list moves what stands after it.
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

/// A file with one value written anew; none if nothing in it says what was expected, or if it would say
/// something else then.
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

/// What takes which place if an item of a list is another one, one more, or no more there.
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
            // Behind the line, and what is said there about the last one.
            let end = end + text.get(end..)?.find('\n').unwrap_or(text.len() - end);
            Some((end..end, format!("\n{}- {}", " ".repeat(indent), flow_style(value))))
        }
        (Some(_), None) if items.len() == 1 => {
            // Nothing is left of a list; one below its name goes up to it.
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

/// A value on one line.
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
        // JSON is YAML.
        other => other.to_string(),
    }
}

/// A text that needs no quotes goes without.
fn scalar(name: &str) -> String {
    let plain = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        && !["true", "false", "null", "yes", "no", "on", "off", "y", "n"]
            .contains(&name.to_ascii_lowercase().as_str());
    if plain { name.to_owned() } else { Json::from(name).to_string() }
}
