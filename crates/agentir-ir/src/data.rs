//! Free-form values, and the extensions that hold dialect-specific data.

use agentir_diagnostics::Span;
use agentir_expr::Template;
use smol_str::SmolStr;
use std::collections::BTreeMap;

/// A free-form value, as in JSON.
pub type Data = serde_json::Value;

/// Free-form data whose texts may have placeholders.
#[derive(Clone, Debug, PartialEq)]
pub enum TextData {
    /// A text.
    Text(Template),
    /// A list.
    List(Vec<Self>),
    /// Values by key, in the order of [`Data`].
    Object(Vec<(SmolStr, Self)>),
    /// Null, a truth value or a number.
    Other(Data),
}

impl TextData {
    /// Converts data; `template` reads the placeholders of a text.
    pub fn new(data: Data, template: &mut impl FnMut(String) -> Template) -> Self {
        match data {
            Data::String(text) => Self::Text(template(text)),
            Data::Array(all) => {
                Self::List(all.into_iter().map(|data| Self::new(data, template)).collect())
            }
            Data::Object(fields) => {
                let entry = |(name, data): (String, _)| (name.into(), Self::new(data, template));
                Self::Object(fields.into_iter().map(entry).collect())
            }
            other => Self::Other(other),
        }
    }

    /// The data, placeholders as written.
    #[must_use]
    pub fn data(&self) -> Data {
        self.data_with(&|text| text.text.value.to_string())
    }

    /// The data, with its texts as `text` writes them.
    #[must_use]
    pub fn data_with(&self, text: &dyn Fn(&Template) -> String) -> Data {
        match self {
            Self::Text(template) => Data::String(text(template)),
            Self::List(all) => all.iter().map(|data| data.data_with(text)).collect(),
            Self::Object(fields) => {
                let field =
                    |(name, data): &(SmolStr, Self)| (name.to_string(), data.data_with(text));
                fields.iter().map(field).collect()
            }
            Self::Other(data) => data.clone(),
        }
    }
}

/// A number as written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Number(pub f64);

impl Number {
    /// The number, if it is an integer that is exact.
    #[must_use]
    pub fn whole(self) -> Option<i64> {
        // Exact up to 2^53, as in the languages themselves.
        let whole = self.0.fract() == 0.0 && self.0.abs() < 9_007_199_254_740_992.0;
        #[expect(clippy::cast_possible_truncation, reason = "whole and in range")]
        whole.then_some(self.0 as i64)
    }
}

impl From<Number> for Data {
    fn from(number: Number) -> Self {
        number.whole().map_or_else(|| number.0.into(), Self::from)
    }
}

impl Default for Number {
    fn default() -> Self {
        Self(0.0)
    }
}

/// A number, or text that is resolved to one by configuration: `"{{config.TIMEOUT}}"`, `"15s"`.
#[derive(Clone, Debug, PartialEq)]
pub enum NumberOrText {
    /// A number.
    Number(Number),
    /// A duration with its unit, or a reference to configuration.
    Text(SmolStr),
}

/// Dialect-specific data of an element that AgentIR has no field for: by dialect, then by key.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Extensions(pub BTreeMap<SmolStr, BTreeMap<String, Extension>>);

/// A value of [`Extensions`].
#[derive(Clone, Debug)]
pub struct Extension {
    /// The value.
    pub value: Data,
    /// Its location in the source.
    pub span: Span,
}

impl PartialEq for Extension {
    fn eq(&self, other: &Self) -> bool {
        self.value == other.value
    }
}

impl Extensions {
    /// Whether there are no extensions.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether a dialect has an extension of this name.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        self.named(name).next().is_some()
    }

    /// The extensions of this name, of every dialect.
    pub fn named(&self, name: &str) -> impl Iterator<Item = &Extension> {
        self.0.values().filter_map(move |all| all.get(name))
    }

    /// Inserts `value` under `key`. If the key is taken, a suffix makes it unique.
    pub fn insert(&mut self, dialect: impl Into<SmolStr>, key: &str, value: Data, span: Span) {
        let all = self.0.entry(dialect.into()).or_default();
        let free = free_key(key, |taken| all.contains_key(taken));
        all.insert(free, Extension { value, span });
    }
}

/// Returns `key`, or if it is taken, the first free key of `key#2`, `key#3`, … The search is by
/// bisection: a key repeated a hundred thousand times must not be counted up to each time.
#[must_use]
pub fn free_key(key: &str, taken: impl Fn(&str) -> bool) -> String {
    if !taken(key) {
        return key.to_owned();
    }
    let name = |n: u32| format!("{key}#{n}");
    let (mut last_taken, mut free) = (1, 2);
    while taken(&name(free)) {
        last_taken = free;
        free *= 2;
    }
    while free - last_taken > 1 {
        let middle = last_taken + (free - last_taken) / 2;
        if taken(&name(middle)) { last_taken = middle } else { free = middle }
    }
    name(free)
}
