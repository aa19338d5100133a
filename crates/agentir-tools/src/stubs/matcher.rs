//! Which arguments a case is for.

use regex::{Regex, RegexBuilder};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, de};
use serde_json::{Map, Number, Value as Json};
use std::borrow::Cow;
use std::fmt;

/// How large a pattern may become, in bytes.
const MAX_REGEX_SIZE: usize = 1 << 20;

/// What an argument must be like.
#[derive(Clone, Debug)]
pub struct Matcher {
    tests: Vec<Test>,
    /// As it is written.
    written: Json,
}

#[derive(Clone, Debug)]
enum Test {
    Equals(Json),
    Not(Json),
    OneOf(Vec<Json>),
    Matches(Regex),
    Any,
    Absent,
    Above(f64),
    AtLeast(f64),
    Below(f64),
    AtMost(f64),
}

/// The words of a test, with what each of them means.
const TEST_NAMES: &[(&str, &str)] = &[
    ("equals", "The argument is this, objects included."),
    ("not", "The argument is not this."),
    ("one_of", "The argument is one of these."),
    ("matches", "A part of the argument, as text, has the form of this regular expression."),
    ("any", "With true: there is an argument. With false: there is none, or null."),
    ("above", "The argument is a number above this."),
    ("at_least", "The argument is this number or above it."),
    ("below", "The argument is a number below this."),
    ("at_most", "The argument is this number or below it."),
];

/// A test of an argument that is not valid: which, and why.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct MatcherError(String);

impl Matcher {
    /// A matcher as it is written in a file: a value for itself, or an object of tests.
    ///
    /// # Errors
    /// If there is no test of a name, or its operand is not valid.
    pub fn new(written: Json) -> Result<Self, MatcherError> {
        let tests = match &written {
            Json::Object(tests) if !tests.is_empty() => {
                let tests = tests.iter().map(|(word, value)| test(word, value));
                tests.collect::<Result<_, _>>().map_err(MatcherError)?
            }
            value => vec![Test::Equals(value.clone())],
        };
        Ok(Self { tests, written })
    }

    /// Whether an argument is like that; null stands for one that is not given.
    #[must_use]
    pub fn holds(&self, value: &Json) -> bool {
        self.tests.iter().all(|test| test.holds(value))
    }
}

/// As it is written.
impl fmt::Display for Matcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.written)
    }
}

impl Test {
    fn holds(&self, value: &Json) -> bool {
        let number = || match value {
            Json::Number(n) => n.as_f64(),
            Json::String(text) => text.trim().parse().ok(),
            _ => None,
        };
        match self {
            Self::Equals(wanted) => equal(wanted, value),
            Self::Not(unwanted) => !equal(unwanted, value),
            Self::OneOf(all) => all.iter().any(|wanted| equal(wanted, value)),
            Self::Matches(pattern) => {
                !value.is_null() && pattern.is_match(&crate::template::value_text(value))
            }
            Self::Any => !value.is_null(),
            Self::Absent => value.is_null(),
            Self::Above(n) => number().is_some_and(|value| value > *n),
            Self::AtLeast(n) => number().is_some_and(|value| value >= *n),
            Self::Below(n) => number().is_some_and(|value| value < *n),
            Self::AtMost(n) => number().is_some_and(|value| value <= *n),
        }
    }
}

fn test(word: &str, value: &Json) -> Result<Test, String> {
    let number =
        || value.as_f64().ok_or_else(|| format!("`{word}` needs a number, as in `{word}: 2`"));
    Ok(match word {
        "equals" => Test::Equals(value.clone()),
        "not" => Test::Not(value.clone()),
        "one_of" => match value {
            Json::Array(all) => Test::OneOf(all.clone()),
            _ => return Err("`one_of` needs a list, as in `one_of: [Paris, Rome]`".to_owned()),
        },
        "matches" => {
            let text = value.as_str().ok_or("`matches` needs a regular expression as text")?;
            let pattern = RegexBuilder::new(text).size_limit(MAX_REGEX_SIZE).build();
            let reason = |e: regex::Error| {
                let words = e.to_string();
                let last = words.lines().last().unwrap_or_default();
                last.trim_start_matches("error: ").to_owned()
            };
            Test::Matches(
                pattern
                    .map_err(|e| format!("`{text}` is not a regular expression ({})", reason(e)))?,
            )
        }
        "any" => match value {
            Json::Bool(true) => Test::Any,
            Json::Bool(false) => Test::Absent,
            _ => return Err("`any` needs true or false".to_owned()),
        },
        "above" => Test::Above(number()?),
        "at_least" => Test::AtLeast(number()?),
        "below" => Test::Below(number()?),
        "at_most" => Test::AtMost(number()?),
        _ => {
            let words: Vec<_> = TEST_NAMES.iter().map(|(word, _)| format!("`{word}`")).collect();
            return Err(format!(
                "`{word}` is not a test (tests are {}); to compare with an object, write it under \
                 `equals`",
                words.join(", ")
            ));
        }
    })
}

/// Whether two values are the same; 2 and 2.0 are. Recursive; both are at most as deep as JSON is read.
fn equal(a: &Json, b: &Json) -> bool {
    let number = |n: &Number| n.as_f64();
    match (a, b) {
        (Json::Number(a), Json::Number(b)) => a == b || number(a) == number(b),
        (Json::Array(a), Json::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| equal(a, b))
        }
        (Json::Object(a), Json::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(name, a)| b.get(name).is_some_and(|b| equal(a, b)))
        }
        _ => a == b,
    }
}

impl<'de> Deserialize<'de> for Matcher {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Self::new(Json::deserialize(from)?).map_err(de::Error::custom)
    }
}

impl JsonSchema for Matcher {
    fn schema_name() -> Cow<'static, str> {
        "Matcher".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let number = json_schema!({ "type": "number" });
        let properties = TEST_NAMES.iter().map(|(word, says)| {
            let mut schema = match *word {
                "one_of" => json_schema!({ "type": "array" }),
                "matches" => json_schema!({ "type": "string", "format": "regex" }),
                "any" => json_schema!({ "type": "boolean" }),
                "above" | "at_least" | "below" | "at_most" => number.clone(),
                _ => json_schema!({}),
            };
            schema.insert("description".to_owned(), (*says).into());
            ((*word).to_owned(), schema.to_value())
        });
        json_schema!({
            "description": "What an argument must be like: a value that it equals, or tests that all hold.",
            "anyOf": [
                { "type": ["string", "number", "boolean", "null", "array"] },
                { "type": "object", "additionalProperties": false,
                  "properties": properties.collect::<Map<_, _>>() },
            ],
        })
    }
}
