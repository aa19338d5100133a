//! Values that are not described by macros: constants, lists, maps, and values of any form.

use crate::describe::{Fields, Json, MARKED, Mode, Written, write_at};
use crate::reader::Reader;
use crate::schema::{Schemas, nullable};
use agentir_diagnostics::{Diagnostic, Span, Spanned};
use agentir_expr::{Dialect, Expr, Name, Template};
use agentir_ir::{Binding, Data, Extension, Extensions, Number, NumberOrText, TextData};
use agentir_syntax::data::{self, Form};
use agentir_syntax::json::{Json as Node, Kind};
use agentir_syntax::limits::{Range, range_of};
use agentir_syntax::rules;
use indexmap::IndexMap;
use serde::ser::{SerializeMap, Serializer};
use serde_json::{Value, json};
use smol_str::SmolStr;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::hash::Hash;
use std::sync::Arc;

/// The location of a value; of a string, what is between its quotes.
pub(crate) fn place(json: &Node) -> Span {
    json.text().map_or(json.span, |text| text.span)
}

impl<T: Json> Json for Spanned<T> {
    const NULLABLE: bool = T::NULLABLE;

    fn write<S: Serializer>(&self, mode: Mode, serializer: S) -> Result<S::Ok, S::Error> {
        write_at(&Written(&self.value, mode), self.span, mode, serializer)
    }
    fn read(json: &Node, reader: &mut Reader<'_>) -> Option<Self> {
        Some(Self::new(T::read(json, reader)?, place(json)))
    }
    fn schema(schemas: &mut Schemas) -> Value {
        T::schema(schemas)
    }
}

impl<T: Json> Json for Option<T> {
    fn write<S: Serializer>(&self, mode: Mode, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Some(value) => value.write(mode, serializer),
            None => serializer.serialize_unit(),
        }
    }
    fn read(json: &Node, reader: &mut Reader<'_>) -> Option<Self> {
        match json.kind {
            Kind::Null if !T::NULLABLE => Some(None),
            _ => T::read(json, reader).map(Some),
        }
    }
    fn schema(schemas: &mut Schemas) -> Value {
        nullable(T::schema(schemas))
    }
    fn is_absent(&self) -> bool {
        self.is_none()
    }
}

/// Pointers have the JSON of what they point to.
macro_rules! pointers {
    ($($pointer:ident by $get:expr),*) => {$(
        impl<T: Json> Json for $pointer<T> {
            fn write<S: Serializer>(&self, mode: Mode, serializer: S) -> Result<S::Ok, S::Error> {
                (**self).write(mode, serializer)
            }
            fn read(json: &Node, reader: &mut Reader<'_>) -> Option<Self> {
                T::read(json, reader).map(Self::new)
            }
            fn schema(schemas: &mut Schemas) -> Value {
                T::schema(schemas)
            }
            fn is_absent(&self) -> bool {
                (**self).is_absent()
            }
            fn unread(span: Span, reader: &mut Reader<'_>) -> Option<Self> {
                T::unread(span, reader).map(Self::new)
            }
            fn set_key(&mut self, key: &Spanned<Name>, reader: &mut Reader<'_>) {
                if let Some(value) = $get(self) {
                    value.set_key(key, reader);
                }
            }
        }
    )*};
}

pointers!(Box by in_box, Arc by Arc::get_mut);

#[expect(clippy::unnecessary_wraps, reason = "like `Arc::get_mut`")]
fn in_box<T>(value: &mut Box<T>) -> Option<&mut T> {
    Some(value)
}

impl<T: Json + Clone> Json for Cow<'_, T> {
    const NULLABLE: bool = T::NULLABLE;

    fn check_items<'v>(all: impl Iterator<Item = &'v Self>, reader: &mut Reader<'_>)
    where
        Self: 'v,
    {
        T::check_items(all.map(|one| &**one), reader);
    }

    fn write<S: Serializer>(&self, mode: Mode, serializer: S) -> Result<S::Ok, S::Error> {
        (**self).write(mode, serializer)
    }
    fn read(json: &Node, reader: &mut Reader<'_>) -> Option<Self> {
        T::read(json, reader).map(Self::Owned)
    }
    fn schema(schemas: &mut Schemas) -> Value {
        T::schema(schemas)
    }
    fn is_absent(&self) -> bool {
        (**self).is_absent()
    }
}

impl<T: Json + Clone> Json for Cow<'_, [T]> {
    fn write<S: Serializer>(&self, mode: Mode, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter().map(|item| Written(item, mode)))
    }
    fn read(json: &Node, reader: &mut Reader<'_>) -> Option<Self> {
        reader.items(json).map(Self::Owned)
    }
    fn schema(schemas: &mut Schemas) -> Value {
        Vec::<T>::schema(schemas)
    }
    fn is_absent(&self) -> bool {
        self.is_empty()
    }
}

impl Json for bool {
    fn write<S: Serializer>(&self, _: Mode, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bool(*self)
    }
    fn read(json: &Node, reader: &mut Reader<'_>) -> Option<Self> {
        match json.kind {
            Kind::Bool(value) => Some(value),
            _ => reader.expected(json, "`true` or `false`"),
        }
    }
    fn schema(_: &mut Schemas) -> Value {
        json!({ "type": "boolean" })
    }
    fn is_absent(&self) -> bool {
        !self
    }
}

impl Json for u32 {
    fn write<S: Serializer>(&self, _: Mode, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u32(*self)
    }
    fn read(json: &Node, reader: &mut Reader<'_>) -> Option<Self> {
        let any = Range { least: 0.0, most: f64::from(Self::MAX), whole: true };
        let range = range_of(reader.key()).unwrap_or(any);
        // `3.0` is a whole number too.
        let whole = match &json.kind {
            Kind::Number(text) if is_exact(text) => {
                text.parse().ok().filter(|n: &f64| n.fract() == 0.0)
            }
            _ => None,
        };
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "the number is whole and in the range"
        )]
        match whole {
            Some(number) if range.contains(number) => Some(number as Self),
            _ => reader.expected(json, &range.to_string()),
        }
    }
    fn schema(_: &mut Schemas) -> Value {
        json!({ "type": "integer", "format": "uint32", "minimum": 0, "maximum": u32::MAX })
    }
}

impl Json for SmolStr {
    fn write<S: Serializer>(&self, _: Mode, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self)
    }
    fn read(json: &Node, reader: &mut Reader<'_>) -> Option<Self> {
        reader.text(json).map(|text| Self::new(&text.value))
    }
    fn schema(_: &mut Schemas) -> Value {
        json!({ "type": "string" })
    }
}

impl Json for String {
    fn write<S: Serializer>(&self, _: Mode, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self)
    }
    fn read(json: &Node, reader: &mut Reader<'_>) -> Option<Self> {
        reader.text(json).map(|text| text.value.clone())
    }
    fn schema(_: &mut Schemas) -> Value {
        json!({ "type": "string" })
    }
}

/// A word: the field says which there are.
impl Json for &'static str {
    fn write<S: Serializer>(&self, _: Mode, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self)
    }
    fn read(json: &Node, reader: &mut Reader<'_>) -> Option<Self> {
        reader.word_of_field(json).map(|word| word.value)
    }
    fn schema(schemas: &mut Schemas) -> Value {
        json!({ "type": "string", "enum": schemas.words })
    }
}

/// The id of a dialect.
impl Json for Dialect {
    fn write<S: Serializer>(&self, _: Mode, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.id())
    }
    fn read(json: &Node, reader: &mut Reader<'_>) -> Option<Self> {
        reader.dialect_of(json)
    }
    fn schema(schemas: &mut Schemas) -> Value {
        json!({ "type": "string", "enum": schemas.dialects })
    }
}

impl Json for Number {
    fn write<S: Serializer>(&self, _: Mode, serializer: S) -> Result<S::Ok, S::Error> {
        match self.whole() {
            Some(whole) => serializer.serialize_i64(whole),
            None => serializer.serialize_f64(self.0),
        }
    }
    fn read(json: &Node, reader: &mut Reader<'_>) -> Option<Self> {
        match &json.kind {
            Kind::Number(text) => match text.parse::<f64>() {
                Ok(number) if number.is_finite() => {
                    if let Some(range) = range_of(reader.key())
                        && !range.contains(number)
                    {
                        return reader.expected(json, &range.to_string());
                    }
                    if !is_exact(text) {
                        reader.report(rounded(json.span, text, &number));
                    }
                    // Zero has no sign.
                    Some(Self(number + 0.0))
                }
                _ => {
                    let message = format!("the number `{text}` is too large");
                    reader.report(Diagnostic::error(rules::INVALID_VALUE, json.span, message));
                    None
                }
            },
            _ => reader.expected(json, "a number"),
        }
    }
    fn schema(_: &mut Schemas) -> Value {
        json!({ "type": "number" })
    }
}

impl Json for NumberOrText {
    fn write<S: Serializer>(&self, mode: Mode, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Number(number) => number.write(mode, serializer),
            Self::Text(text) => text.write(mode, serializer),
        }
    }
    fn read(json: &Node, reader: &mut Reader<'_>) -> Option<Self> {
        match &json.kind {
            Kind::Number(_) => Number::read(json, reader).map(Self::Number),
            Kind::String(text) if is_resolved(&text.value) => {
                Some(Self::Text(SmolStr::new(&text.value)))
            }
            Kind::String(text) => {
                let message = format!("`{}` is not a valid `{}`", text.value, reader.key());
                let problem = Diagnostic::error(rules::INVALID_VALUE, text.span, message);
                let number = text.value.trim().parse::<f64>().is_ok_and(f64::is_finite);
                reader.report(match number {
                    true => problem.help("write the number without quotes"),
                    false => problem.help(
                        "write a number, a duration such as `\"15s\"`, or a reference to configuration: `\"{{config.NAME}}\"`",
                    ),
                });
                None
            }
            _ => reader.expected(json, "a number or a string"),
        }
    }
    fn schema(schemas: &mut Schemas) -> Value {
        let description = "A number, or text that is resolved to one by configuration: `\"{{config.TIMEOUT}}\"`, `\"15s\"`.";
        schemas.named("NumberOrText", description, |_| {
            json!({ "anyOf": [
                { "type": "number", "description": "A number." },
                {
                    "type": "string",
                    "pattern": r"^(\d+(\.\d+)?(ms|s|m|h|d)|null)$|\{\{",
                    "description": "A duration with its unit, or a reference to configuration.",
                },
            ] })
        })
    }
}

impl<T: Json> Json for Vec<T> {
    fn write<S: Serializer>(&self, mode: Mode, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter().map(|item| Written(item, mode)))
    }
    fn read(json: &Node, reader: &mut Reader<'_>) -> Option<Self> {
        reader.items(json)
    }
    fn schema(schemas: &mut Schemas) -> Value {
        json!({ "type": "array", "items": T::schema(schemas) })
    }
    fn is_absent(&self) -> bool {
        self.is_empty()
    }
}

/// Names with expressions.
impl Json for Vec<(Spanned<Name>, Expr)> {
    fn write<S: Serializer>(&self, mode: Mode, serializer: S) -> Result<S::Ok, S::Error> {
        let entry = |(name, value): &(Spanned<Name>, Expr)| {
            (name.value.clone(), crate::notation::canonical(value, mode).to_string())
        };
        serializer.collect_map(self.iter().map(entry))
    }
    fn read(json: &Node, reader: &mut Reader<'_>) -> Option<Self> {
        reader.entries(json)
    }
    fn schema(_: &mut Schemas) -> Value {
        json!({ "type": "object", "additionalProperties": { "type": "string" } })
    }
    fn is_absent(&self) -> bool {
        self.is_empty()
    }
}

/// Maps whose keys are names.
macro_rules! maps {
    ($($map:ident where $key:ident: $($bound:ident),*;)*) => {$(
        impl<$key, T> Json for $map<$key, T>
        where
            $key: $($bound +)* AsRef<str> + From<Name>,
            T: Json,
        {
            fn write<S: Serializer>(&self, mode: Mode, serializer: S) -> Result<S::Ok, S::Error> {
                let entries = self.iter();
                serializer.collect_map(entries.map(|(key, value)| (key.as_ref(), Written(value, mode))))
            }
            fn read(json: &Node, reader: &mut Reader<'_>) -> Option<Self> {
                let entries = reader.entries(json)?;
                Some(entries.into_iter().map(|(key, value)| (key.value.into(), value)).collect())
            }
            fn schema(schemas: &mut Schemas) -> Value {
                json!({ "type": "object", "additionalProperties": T::schema(schemas) })
            }
            fn is_absent(&self) -> bool {
                self.is_empty()
            }
        }
    )*};
}

maps! {
    IndexMap where K: Eq, Hash;
    BTreeMap where K: Ord;
}

impl Json for Data {
    const NULLABLE: bool = true;

    fn write<S: Serializer>(&self, mode: Mode, serializer: S) -> Result<S::Ok, S::Error> {
        if mode != Mode::WithSpans || !needs_mark(self) {
            return serde::Serialize::serialize(self, serializer);
        }
        let mut map = serializer.serialize_map(Some(1))?;
        map.serialize_entry(MARKED, self)?;
        map.end()
    }
    fn read(json: &Node, reader: &mut Reader<'_>) -> Option<Self> {
        Some(match &json.kind {
            Kind::Null => Self::Null,
            Kind::Bool(value) => Self::Bool(*value),
            Kind::String(text) => Self::String(text.value.clone()),
            Kind::Number(text) => match serde_json::from_str(text) {
                Ok(number) => {
                    if !is_kept(text) {
                        let finding = rounded(json.span, text, &number);
                        reader.report(finding.help("write it as a string, if each digit matters"));
                    }
                    Self::Number(number)
                }
                Err(_) => {
                    // The only numbers that cannot be represented.
                    let message = format!("the number `{text}` is too large");
                    reader.report(Diagnostic::error(rules::INVALID_VALUE, json.span, message));
                    return None;
                }
            },
            Kind::Array(_) => Self::Array(reader.items(json)?),
            Kind::Object(_) => {
                let entries = reader.entries::<Self>(json)?;
                let entry = |(key, value): (Spanned<Name>, Self)| (key.value.to_string(), value);
                Self::Object(entries.into_iter().map(entry).collect())
            }
        })
    }
    fn schema(_: &mut Schemas) -> Value {
        Value::Bool(true)
    }
}

/// Whether data has values that an object of AgentIR would leave out, or keys that could be taken for those of
/// [`Mode::WithSpans`].
fn needs_mark(data: &Data) -> bool {
    match data {
        Data::Null => true,
        Data::Array(items) => items.is_empty() || items.iter().any(needs_mark),
        Data::Object(fields) => {
            fields.is_empty()
                || fields.iter().any(|(key, value)| key.starts_with('$') || needs_mark(value))
        }
        _ => false,
    }
}

/// Whether a number is kept: in 64 bits, as a whole number or with a fraction.
fn is_kept(text: &str) -> bool {
    let is_whole = || text.parse::<i64>().is_ok() || text.parse::<u64>().is_ok();
    is_exact(text) || (!text.contains(['.', 'e', 'E']) && is_whole())
}

/// So many digits write any 64-bit float exactly.
const MAX_DIGITS: usize = 770;

/// Whether a number is kept as a 64-bit float: to as many digits as are written, the float is the number. Where two
/// numbers are equally near to it, both are.
fn is_exact(text: &str) -> bool {
    let written = decimal(text);
    let places = written.0.len().clamp(1, MAX_DIGITS) - 1;
    text.parse::<f64>().is_ok_and(|number| {
        [format!("{number:e}"), format!("{number:.places$e}")].iter().any(|n| decimal(n) == written)
    })
}

/// A number that is kept as another one.
fn rounded(at: Span, text: &str, number: &impl fmt::Display) -> Diagnostic {
    let message = format!("the number `{text}` is kept as `{number}`");
    Diagnostic::warning(rules::INVALID_VALUE, at, message).note("numbers have 64 bits")
}

/// The digits of a number without zeros around them, and the power of ten of the first one.
fn decimal(text: &str) -> (String, i64) {
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let all = format!("{}{fraction}", whole.trim_start_matches('-'));
    let digits = all.trim_start_matches('0');
    let zeros = i64::try_from(all.len() - digits.len()).unwrap_or(i64::MAX);
    let places = i64::try_from(whole.trim_start_matches('-').len()).unwrap_or(i64::MAX);
    let digits = digits.trim_end_matches('0');
    let first = exponent.parse::<i64>().unwrap_or(i64::MAX).saturating_add(places - zeros);
    (digits.to_owned(), if digits.is_empty() { 0 } else { first })
}

impl Json for TextData {
    const NULLABLE: bool = true;

    fn write<S: Serializer>(&self, mode: Mode, serializer: S) -> Result<S::Ok, S::Error> {
        let data = match mode {
            Mode::WithSpans => self.data_with(&crate::notation::shared_notation),
            Mode::Published | Mode::Plain => self.data(),
        };
        data.write(mode, serializer)
    }
    fn read(json: &Node, reader: &mut Reader<'_>) -> Option<Self> {
        Some(match &json.kind {
            Kind::String(_) => Self::Text(Template::read(json, reader)?),
            Kind::Array(_) => Self::List(reader.items(json)?),
            Kind::Object(_) => {
                let entries = reader.entries::<Self>(json)?;
                let entry = |(key, value): (Spanned<Name>, Self)| (key.value, value);
                Self::Object(entries.into_iter().map(entry).collect())
            }
            _ => Self::Other(Data::read(json, reader)?),
        })
    }
    fn schema(_: &mut Schemas) -> Value {
        Value::Bool(true)
    }
}

impl Json for Extension {
    const NULLABLE: bool = true;

    fn write<S: Serializer>(&self, mode: Mode, serializer: S) -> Result<S::Ok, S::Error> {
        write_at(&Written(&self.value, mode), self.span, mode, serializer)
    }
    fn read(json: &Node, reader: &mut Reader<'_>) -> Option<Self> {
        Some(Self { value: Data::read(json, reader)?, span: place(json) })
    }
    fn schema(schemas: &mut Schemas) -> Value {
        schemas.named("Extension", "A value of [`Extensions`].", |_| Value::Bool(true))
    }
}

impl Json for Extensions {
    fn write<S: Serializer>(&self, mode: Mode, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.write(mode, serializer)
    }
    fn read(json: &Node, reader: &mut Reader<'_>) -> Option<Self> {
        Json::read(json, reader).map(Self)
    }
    fn schema(schemas: &mut Schemas) -> Value {
        let description = "Dialect-specific data of an element that AgentIR has no field for: by dialect, then by key.";
        schemas.named("Extensions", description, |schemas| {
            <BTreeMap<SmolStr, BTreeMap<String, Extension>>>::schema(schemas)
        })
    }
    fn is_absent(&self) -> bool {
        self.is_empty()
    }
}

impl Json for Binding {
    fn write<S: Serializer>(&self, mode: Mode, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(key, value)| (key, Written(value, mode))))
    }
    fn read(json: &Node, reader: &mut Reader<'_>) -> Option<Self> {
        let keys = data::BINDING.iter().chain([&data::TARGET]);
        reader.data_with_keys(json, "a binding", keys).map(Self)
    }
    fn schema(schemas: &mut Schemas) -> Value {
        let description = "How a tool's implementation is reached: the fields of its type, with the platform's names.";
        schemas.named("Binding", description, |_| {
            keys_schema(data::BINDING.iter().chain([&data::TARGET]))
        })
    }
}

/// The schema of an object of data with some keys.
pub(crate) fn keys_schema<'k>(keys: impl Iterator<Item = &'k (&'static str, Form)>) -> Value {
    let property = |(key, form): &(&'static str, Form)| {
        let schema = match form {
            Form::Text => json!({ "type": ["string", "number", "boolean"] }),
            Form::Number => json!({ "type": ["number", "string"] }),
            Form::Retry => json!({ "type": ["number", "string", "boolean", "object"] }),
            // In any case, which a list of words cannot say.
            Form::Word(words) => {
                let any_case = |c: char| match c.is_ascii_alphabetic() {
                    true => format!("[{}{}]", c.to_ascii_lowercase(), c.to_ascii_uppercase()),
                    false => c.to_string(),
                };
                let all: Vec<String> =
                    words.iter().map(|word| word.chars().map(any_case).collect()).collect();
                json!({ "type": "string", "pattern": format!(r"^({})$|\{{\{{", all.join("|")) })
            }
            Form::Names => json!({ "type": ["array", "string"] }),
            Form::Pairs => json!({ "type": ["object", "array", "string"] }),
            Form::Any => Value::Bool(true),
        };
        ((*key).to_owned(), crate::schema::ranged(key, schema))
    };
    let properties: serde_json::Map<String, Value> = keys.map(property).collect();
    json!({ "type": "object", "properties": properties })
}

/// Whether a text stands for a number: a duration, or what configuration resolves.
fn is_resolved(text: &str) -> bool {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = text.get(digits.len()..).unwrap_or_default();
    let is_duration = matches!(unit, "ms" | "s" | "m" | "h" | "d")
        && digits.starts_with(|c: char| c.is_ascii_digit())
        && digits.parse::<f64>().is_ok();
    is_duration || text.contains("{{") || text == "null"
}

/// An object of one entry.
pub(crate) fn write_entry<S: Serializer, T: Json>(
    key: &str,
    value: &T,
    mode: Mode,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(Some(1))?;
    map.serialize_entry(key, &Written(value, mode))?;
    map.end()
}

/// Whether nothing would be written of a value.
pub(crate) fn is_nothing<T: Fields + Json>(value: &T) -> bool {
    crate::describe::to_value(value, Mode::Plain).as_object().is_some_and(|map| map.is_empty())
}
