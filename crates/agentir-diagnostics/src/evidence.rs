//! What findings are concluded from, as data. People read the same in the finding's text.

use crate::diagnostic::Label;
use crate::source::Span;
use serde::{Deserialize, Serialize};

/// The evidence for a finding. Each part may be empty.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Evidence {
    /// An example: values of variables with which the problem occurs. Other variables may have any value.
    pub state: Vec<Binding>,
    /// The premises that the finding follows from. Conditions among them cannot all be true at the
    /// same time, and none of the premises can be omitted.
    pub core: Vec<Premise>,
    /// The steps of an execution that leads to the finding: a path or a cycle.
    pub run: Option<Run>,
}

/// A variable and its value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Binding {
    /// The variable, as it is written.
    pub variable: String,
    /// Its value as JSON, dates as text; `None` if it is not set.
    #[serde(with = "as_text")]
    pub value: Option<serde_json::Value>,
}

/// A premise of a proof.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Premise {
    /// Its location; `None` if it follows from the language itself.
    pub span: Option<Span>,
    /// What is true, lower-case, no final full stop.
    pub message: String,
}

/// Steps in the order in which they happen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Run {
    /// The steps, each with its location and a description.
    pub steps: Vec<Label>,
    /// Whether the first step follows the last one.
    pub repeats: bool,
}

impl Evidence {
    /// Calls `change` with every span in it.
    pub(crate) fn spans_mut(&mut self, change: &mut dyn FnMut(&mut Span)) {
        self.core.iter_mut().filter_map(|premise| premise.span.as_mut()).for_each(&mut *change);
        let steps = self.run.iter_mut().flat_map(|run| &mut run.steps);
        steps.for_each(|step| change(&mut step.span));
    }
}

impl Evidence {
    /// Calls `change` with every text in it.
    pub(crate) fn texts_mut(&mut self, change: &mut dyn FnMut(&mut String)) {
        for Binding { variable, value } in &mut self.state {
            change(variable);
            value.iter_mut().for_each(|value| value_texts_mut(value, change));
        }
        self.core.iter_mut().for_each(|premise| change(&mut premise.message));
        let steps = self.run.iter_mut().flat_map(|run| &mut run.steps);
        steps.for_each(|step| change(&mut step.message));
    }
}

/// Calls `change` with every text in a value but for the names of fields. Values are not nested more deeply than
/// documents and the solver may nest them.
pub fn value_texts_mut(value: &mut serde_json::Value, change: &mut dyn FnMut(&mut String)) {
    match value {
        serde_json::Value::String(text) => change(text),
        serde_json::Value::Array(items) => {
            items.iter_mut().for_each(|item| value_texts_mut(item, change));
        }
        serde_json::Value::Object(fields) => {
            fields.values_mut().for_each(|field| value_texts_mut(field, change));
        }
        _ => {}
    }
}

/// JSON as text where the format does not describe itself, as the cache's, which cannot hold a
/// [`serde_json::Value`].
mod as_text {
    use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};
    use serde_json::Value;

    pub(super) fn serialize<S: Serializer>(
        value: &Option<Value>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        if serializer.is_human_readable() {
            return value.serialize(serializer);
        }
        value.as_ref().map(Value::to_string).serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Value>, D::Error> {
        if deserializer.is_human_readable() {
            return Option::deserialize(deserializer);
        }
        let text = Option::<String>::deserialize(deserializer)?;
        text.map(|text| serde_json::from_str(&text).map_err(D::Error::custom)).transpose()
    }
}
