//! Answers as JSON, read in the form that the question asks for.
//!
//! *Invariant*: each function accepts exactly the documents that are valid against the JSON Schema
//! that [`Chat::of`](crate::chat::Chat::of) sends with the same question.

use agentir_runtime::{Candidate, FieldSpec, FieldType};
use serde_json::{Map, Value as Json};
use std::fmt;

/// Where and why an answer does not have the form that was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Mismatch {
    /// A JSON pointer; empty for the whole answer.
    pointer: String,
    problem: String,
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.pointer.is_empty() {
            write!(f, "at `{}`, ", self.pointer)?;
        }
        f.write_str(&self.problem)
    }
}

impl std::error::Error for Mismatch {}

/// The values of `fields` that are not null.
pub(super) fn values(answer: &Json, fields: &[FieldSpec]) -> Result<Map<String, Json>, Mismatch> {
    let answer = Part::whole(answer);
    let names: Vec<&str> = fields.iter().map(|field| field.name.as_str()).collect();
    answer.has_only(&names)?;
    let mut values = Map::new();
    for field in fields {
        let part = answer.member(&field.name)?;
        if !part.value.is_null() {
            part.check(field)?;
            values.insert(field.name.clone(), part.value.clone());
        }
    }
    Ok(values)
}

/// The names of the chosen candidates and how sure the model is of each, in the order of the answer.
pub(super) fn choices(
    answer: &Json,
    candidates: &[Candidate],
) -> Result<Vec<(String, f64)>, Mismatch> {
    let answer = Part::whole(answer);
    answer.has_only(&["choices"])?;
    let choice = |choice: Part<'_>| {
        choice.has_only(&["name", "confidence"])?;
        let name = choice.member("name")?.one_of(candidates.iter().map(|c| c.name.as_str()))?;
        let confidence = choice.member("confidence")?;
        let number = confidence.value.as_f64().ok_or_else(|| confidence.is_not("a number"))?;
        Ok((name.to_owned(), number))
    };
    answer.member("choices")?.items()?.map(choice).collect()
}

/// Whether the statement holds.
pub(super) fn verdict(answer: &Json) -> Result<bool, Mismatch> {
    let answer = Part::whole(answer);
    answer.has_only(&["holds"])?;
    let holds = answer.member("holds")?;
    holds.value.as_bool().ok_or_else(|| holds.is_not("true or false"))
}

/// The answers to several questions, in order.
pub(super) fn parts(answer: &Json, count: usize) -> Result<Vec<&Json>, Mismatch> {
    let answer = Part::whole(answer);
    let names: Vec<String> = (0..count).map(crate::chat::part_name).collect();
    answer.has_only(&names.iter().map(String::as_str).collect::<Vec<_>>())?;
    names.iter().map(|name| Ok(answer.member(name)?.value)).collect()
}

/// A value inside an answer.
struct Part<'a> {
    value: &'a Json,
    pointer: String,
}

impl<'a> Part<'a> {
    const fn whole(value: &'a Json) -> Self {
        Self { value, pointer: String::new() }
    }

    fn mismatch(&self, problem: String) -> Mismatch {
        Mismatch { pointer: self.pointer.clone(), problem }
    }

    fn is_not(&self, expected: &str) -> Mismatch {
        let found = match self.value {
            Json::Null => "null",
            Json::Bool(_) => "a boolean",
            Json::Number(_) => "a number",
            Json::String(_) => "a string",
            Json::Array(_) => "an array",
            Json::Object(_) => "an object",
        };
        self.mismatch(format!("expected {expected}, found {found}"))
    }

    fn object(&self) -> Result<&'a Map<String, Json>, Mismatch> {
        self.value.as_object().ok_or_else(|| self.is_not("an object"))
    }

    /// Checks that no members have names other than these.
    fn has_only(&self, names: &[&str]) -> Result<(), Mismatch> {
        match self.object()?.keys().find(|key| !names.contains(&key.as_str())) {
            Some(other) => {
                Err(self
                    .mismatch(format!("unknown field `{other}`, expected {}", alternatives(names))))
            }
            None => Ok(()),
        }
    }

    fn member(&self, name: &str) -> Result<Self, Mismatch> {
        let value = self.object()?.get(name);
        let value = value.ok_or_else(|| self.mismatch(format!("missing field `{name}`")))?;
        // RFC 6901, section 3.
        let name = name.replace('~', "~0").replace('/', "~1");
        Ok(Self { value, pointer: format!("{}/{name}", self.pointer) })
    }

    fn items(&self) -> Result<impl Iterator<Item = Self>, Mismatch> {
        let items = self.value.as_array().ok_or_else(|| self.is_not("an array"))?;
        let part = |(index, value)| Self { value, pointer: format!("{}/{index}", self.pointer) };
        Ok(items.iter().enumerate().map(part))
    }

    fn one_of<'n>(&self, names: impl Iterator<Item = &'n str>) -> Result<&'a str, Mismatch> {
        let text = self.value.as_str().ok_or_else(|| self.is_not("a string"))?;
        let names: Vec<&str> = names.collect();
        if names.contains(&text) {
            return Ok(text);
        }
        Err(self.mismatch(format!("unknown value `{text}`, expected {}", alternatives(&names))))
    }

    /// Checks the value of a field against what [`schema_of`](crate::fields::schema_of) says of it.
    fn check(&self, field: &FieldSpec) -> Result<(), Mismatch> {
        let listed = || field.values.keys().map(String::as_str);
        let (fits, expected) = match field.ty {
            FieldType::List => {
                for item in self.items()? {
                    if !field.values.is_empty() {
                        item.one_of(listed())?;
                    } else if !(item.value.is_string()
                        || item.value.is_number()
                        || item.value.is_boolean())
                    {
                        return Err(item.is_not("a string, a number or a boolean"));
                    }
                }
                return Ok(());
            }
            _ if !field.values.is_empty() => return self.one_of(listed()).map(|_| ()),
            FieldType::Number | FieldType::Currency => (self.value.is_number(), "a number"),
            FieldType::Boolean => (self.value.is_boolean(), "true or false"),
            FieldType::Object => (self.value.is_object(), "an object"),
            FieldType::Text
            | FieldType::Date
            | FieldType::Time
            | FieldType::DateTime
            | FieldType::Email
            | FieldType::Phone => (self.value.is_string(), "a string"),
        };
        if fits { Ok(()) } else { Err(self.is_not(expected)) }
    }
}

/// What is possible, for a message.
fn alternatives(names: &[&str]) -> String {
    if names.is_empty() {
        return "none".to_owned();
    }
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests end by panicking")]

    use super::*;
    use crate::chat::Chat;
    use agentir_runtime::ModelTask;
    use proptest::prelude::*;
    use serde_json::json;

    fn field(name: &str, ty: &str, values: &[&str]) -> FieldSpec {
        let values: Map<String, Json> =
            values.iter().map(|v| ((*v).to_owned(), json!([]))).collect();
        let field = json!({"name": name, "type": ty, "values": values, "required": false});
        serde_json::from_value(field).unwrap()
    }

    fn candidate(name: &str) -> Candidate {
        serde_json::from_value(json!({"name": name})).unwrap()
    }

    fn extract(fields: Vec<FieldSpec>) -> ModelTask {
        ModelTask::Extract {
            message: String::new(),
            context: Vec::new(),
            fields,
            asked: None,
            known: Map::new(),
        }
    }

    fn choose(candidates: Vec<Candidate>) -> ModelTask {
        ModelTask::Choose {
            purpose: String::new(),
            message: String::new(),
            context: Vec::new(),
            candidates,
            several: true,
        }
    }

    fn judge() -> ModelTask {
        ModelTask::Judge {
            statement: String::new(),
            text: String::new(),
            context: Vec::new(),
            in_doubt: false,
        }
    }

    /// What is wrong with an answer.
    fn problem(ask: &ModelTask, answer: &Json) -> Option<String> {
        let read = match ask {
            ModelTask::Extract { fields, .. } => values(answer, fields).map(|_| ()),
            ModelTask::Choose { candidates, .. } => choices(answer, candidates).map(|_| ()),
            _ => verdict(answer).map(|_| ()),
        };
        read.err().map(|mismatch| mismatch.to_string())
    }

    /// Values that some field takes, and others.
    fn value() -> impl Strategy<Value = Json> {
        let scalar = prop_oneof![
            Just(Json::Null),
            any::<bool>().prop_map(Json::from),
            (-2i64..3).prop_map(Json::from),
            (-2.0..2.0f64).prop_map(Json::from),
            prop::sample::select(vec!["a", "b", "1", "", "2026-03-15"]).prop_map(Json::from),
        ];
        scalar.prop_recursive(2, 8, 3, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..3).prop_map(Json::from),
                object(prop::sample::select(vec!["a", "b"]), inner, 0..3),
            ]
        })
    }

    fn object(
        name: impl Strategy<Value = &'static str>,
        value: impl Strategy<Value = Json>,
        size: std::ops::Range<usize>,
    ) -> impl Strategy<Value = Json> {
        prop::collection::vec((name.prop_map(str::to_owned), value), size)
            .prop_map(|members| Json::Object(members.into_iter().collect()))
    }

    fn fields() -> impl Strategy<Value = Vec<FieldSpec>> {
        let types = vec![
            "text",
            "number",
            "currency",
            "boolean",
            "date",
            "time",
            "date_time",
            "email",
            "phone",
            "list",
            "object",
        ];
        let listed = prop::sample::select(vec![&[][..], &["a", "1"][..]]);
        prop::collection::vec((prop::sample::select(types), listed), 1..4).prop_map(|specs| {
            let specs = specs.iter().zip(["a", "b", "c/d"]);
            specs.map(|((ty, listed), name)| field(name, ty, listed)).collect()
        })
    }

    fn question() -> impl Strategy<Value = ModelTask> {
        prop_oneof![
            4 => fields().prop_map(extract),
            1 => Just(choose(vec![candidate("a"), candidate("b")])),
            1 => Just(judge()),
        ]
    }

    fn answer() -> impl Strategy<Value = Json> {
        let choice = prop_oneof![
            4 => object(prop::sample::select(vec!["name", "confidence"]), value(), 1..4),
            1 => value(),
        ];
        let choices = prop::collection::vec(choice, 0..3).prop_map(|c| json!({"choices": c}));
        prop_oneof![
            4 => object(prop::sample::select(vec!["a", "b", "c/d"]), value(), 1..6),
            2 => choices,
            1 => object(prop::sample::select(vec!["holds", "choices"]), value(), 0..3),
            1 => value(),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]

        #[test]
        fn an_answer_is_read_if_its_schema_allows_it(ask in question(), answer in answer()) {
            let schema = &Chat::of(&ask).form.unwrap()["schema"];
            let valid = jsonschema::is_valid(schema, &answer);
            prop_assert_eq!(problem(&ask, &answer).is_none(), valid, "{} {}", schema, answer);
        }
    }

    #[test]
    fn a_mismatch_says_where_and_what() {
        let fields = extract(vec![
            field("a/b", "number", &[]),
            field("room", "text", &["single", "double"]),
            field("extras", "list", &[]),
        ]);
        let of = |number: Json, room: Json, extras: Json| {
            problem(&fields, &json!({"a/b": number, "room": room, "extras": extras})).unwrap()
        };
        let null = Json::Null;
        assert_eq!(
            of("two".into(), null.clone(), null.clone()),
            "at `/a~1b`, expected a number, found a string"
        );
        assert_eq!(
            of(null.clone(), "twin".into(), null.clone()),
            "at `/room`, unknown value `twin`, expected `single`, `double`"
        );
        assert_eq!(
            of(null.clone(), null, json!([1, {}])),
            "at `/extras/1`, expected a string, a number or a boolean, found an object"
        );
        assert_eq!(problem(&fields, &json!([])).unwrap(), "expected an object, found an array");
        let choose = choose(vec![candidate("a")]);
        assert_eq!(
            problem(&choose, &json!({"choices": [{"name": "a"}]})).unwrap(),
            "at `/choices/0`, missing field `confidence`"
        );
        assert_eq!(
            problem(&choose, &json!({"choice": "a"})).unwrap(),
            "unknown field `choice`, expected `choices`"
        );
        assert_eq!(
            problem(&judge(), &json!({"holds": "yes"})).unwrap(),
            "at `/holds`, expected true or false, found a string"
        );
    }
}
