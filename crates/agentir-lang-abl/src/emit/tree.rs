//! A notation-independent ABL document, which [`super::layout`] writes as `.abl` or YAML.

use serde_json::Value;

/// The two notations of ABL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Notation {
    /// `.abl`: keywords in upper case.
    Abl,
    /// YAML: keywords in lower case.
    Yaml,
}

/// A value on the line of its key, or on a line of its own.
#[derive(Debug, Clone)]
pub(super) enum Scalar {
    /// A number, boolean or list of names: never quoted.
    Word(String),
    /// A name, condition, expression or action: quoted only where the notation requires it.
    Code(String),
    /// A jump and its reason. Quoting the whole would make it a message to the user.
    Jump { target: String, reason: Option<String> },
    /// Natural language: quoted, or a block if it has several lines.
    Text(String),
}

/// A key.
#[derive(Debug, Clone)]
pub(super) struct Key {
    pub(super) text: String,
    /// Whether it is a keyword that `.abl` writes in upper case.
    pub(super) upper: bool,
}

/// An entry of a document.
#[derive(Debug, Clone)]
pub(super) enum Entry {
    /// `key: value`, with nested entries.
    Field { key: Key, value: Option<Scalar>, children: Vec<Entry> },
    /// An item of a list.
    Item(Vec<Entry>),
    /// A line without a key, with nested entries. YAML allows only one of the two; there the line becomes
    /// the value of `key`.
    Line { key: &'static str, text: Scalar, children: Vec<Entry> },
    /// `target = value` or `name: value`. The values are expressions and therefore not quoted.
    Pairs { assign: bool, pairs: Vec<(String, String)> },
    /// An empty line.
    Gap,
}

impl Key {
    pub(super) fn keyword(text: &str) -> Self {
        Self { text: text.to_owned(), upper: true }
    }

    pub(super) fn own(text: &str) -> Self {
        Self { text: text.to_owned(), upper: false }
    }
}

impl Entry {
    /// A keyword and its value.
    pub(super) fn field(key: &str, value: Scalar) -> Self {
        Self::Field { key: Key::keyword(key), value: Some(value), children: Vec::new() }
    }

    /// A keyword and its nested entries.
    pub(super) fn block(key: &str, children: Vec<Self>) -> Self {
        Self::Field { key: Key::keyword(key), value: None, children }
    }

    /// A name chosen by the author and its nested entries.
    pub(super) fn named(name: &str, children: Vec<Self>) -> Self {
        Self::Field { key: Key::own(name), value: None, children }
    }

    /// A line.
    pub(super) const fn line(text: Scalar) -> Self {
        Self::Line { key: "text", text, children: Vec::new() }
    }

    /// Makes a keyword lower case.
    pub(super) fn lower(mut self) -> Self {
        if let Self::Field { key, .. } = &mut self {
            key.upper = false;
        }
        self
    }
}

/// Adds a block unless it is empty.
pub(super) fn push_block(into: &mut Vec<Entry>, key: &str, children: Vec<Entry>) {
    if !children.is_empty() {
        into.push(Entry::block(key, children));
    }
}

/// `[a, b]`.
pub(super) fn names<'a>(all: impl IntoIterator<Item = &'a str>) -> Scalar {
    let plain = |n: &str| {
        !n.is_empty()
            && n.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '.' | '-' | '*'))
    };
    let all: Vec<String> = all
        .into_iter()
        .map(|n| if plain(n) { n.to_owned() } else { format!("\"{}\"", n.replace('"', "'")) })
        .collect();
    Scalar::Word(format!("[{}]", all.join(", ")))
}

/// A field with free-form data.
pub(super) fn data(key: Key, value: &Value) -> Entry {
    match value {
        Value::Null => Entry::Field { key, value: None, children: Vec::new() },
        Value::Object(map) if map.is_empty() => {
            Entry::Field { key, value: Some(Scalar::Word("{}".to_owned())), children: Vec::new() }
        }
        Value::Object(map) => Entry::Field { key, value: None, children: data_fields(map) },
        Value::Array(items) if items.iter().all(is_small) => {
            Entry::Field { key, value: Some(Scalar::Word(inline(value))), children: Vec::new() }
        }
        Value::Array(items) => {
            Entry::Field { key, value: None, children: items.iter().map(data_item).collect() }
        }
        leaf => Entry::Field { key, value: Some(data_scalar(leaf)), children: Vec::new() },
    }
}

fn data_fields(map: &serde_json::Map<String, Value>) -> Vec<Entry> {
    map.iter().map(|(k, v)| data(Key::own(k), v)).collect()
}

/// A list item with free-form data.
pub(super) fn data_item(value: &Value) -> Entry {
    match value {
        Value::Object(map) if !map.is_empty() => Entry::Item(data_fields(map)),
        Value::Array(_) | Value::Object(_) => {
            Entry::Item(vec![Entry::line(Scalar::Word(inline(value)))])
        }
        leaf => Entry::Item(vec![Entry::line(data_scalar(leaf))]),
    }
}

fn data_scalar(value: &Value) -> Scalar {
    match value {
        Value::String(text) if is_word(text) => Scalar::Code(text.clone()),
        Value::String(text) => Scalar::Text(text.clone()),
        other => Scalar::Word(other.to_string()),
    }
}

/// Whether an unquoted text is read as a string.
fn is_word(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '.' | '-' | '/'))
        && !matches!(text, "true" | "false" | "null")
}

fn is_small(value: &Value) -> bool {
    match value {
        Value::String(text) => text.len() <= 24 && !text.contains('\n'),
        Value::Array(_) | Value::Object(_) => false,
        _ => true,
    }
}

fn inline(value: &Value) -> String {
    match value {
        Value::String(text) if is_word(text) => text.clone(),
        Value::String(text) => super::layout::quoted(text),
        Value::Array(items) => {
            format!("[{}]", items.iter().map(inline).collect::<Vec<_>>().join(", "))
        }
        Value::Object(map) => {
            let pair = |(k, v): (&String, &Value)| {
                let key = if is_word(k) { k.clone() } else { super::layout::quoted(k) };
                format!("{key}: {}", inline(v))
            };
            format!("{{{}}}", map.iter().map(pair).collect::<Vec<_>>().join(", "))
        }
        other => other.to_string(),
    }
}
