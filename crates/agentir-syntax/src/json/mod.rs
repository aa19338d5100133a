//! JSON with spans, and a mark on each value that lowering has taken.

mod text;

pub use text::Text;

use crate::lower::too_many;
use crate::rules;
use crate::text::offset;
use agentir_diagnostics::{Diagnostic, FileId, Span};
use jsonc_parser::ast::Value;
use jsonc_parser::common::Ranged;
use jsonc_parser::errors::ParseErrorKind;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};
use smol_str::SmolStr;
use std::cell::Cell;

/// The documents of a format: how deep they may nest, and what messages say of them.
#[derive(Clone, Copy, Debug)]
pub struct Format {
    /// The maximum nesting depth.
    pub max_depth: usize,
    /// The maximum number of values.
    pub max_values: usize,
    /// How many of them an object counts as: what it stands for, such as a step, may take more than its members do.
    pub object_values: usize,
    /// How deep they usually nest: the note of the message.
    pub depth_note: &'static str,
    /// What to do if the text is not JSON.
    pub help: &'static str,
}

/// A value.
#[derive(Debug)]
pub struct Json {
    /// The location in the source.
    pub span: Span,
    /// The kind.
    pub kind: Kind,
    taken: Cell<bool>,
}

/// The kinds of value.
#[derive(Debug)]
pub enum Kind {
    /// `null`.
    Null,
    /// `true`, `false`.
    Bool(bool),
    /// A number, as written.
    Number(SmolStr),
    /// A string, with escapes resolved.
    String(Text),
    /// An array.
    Array(Vec<Json>),
    /// An object, with members in order.
    Object(Vec<Member>),
}

/// A member of an object.
#[derive(Debug)]
pub struct Member {
    /// Its name.
    pub key: SmolStr,
    /// The location of the name, without quotes.
    pub key_span: Span,
    /// Its value.
    pub value: Json,
}

/// Strict JSON, with none of the parser's extensions.
const STRICT: ParseOptions = ParseOptions {
    allow_comments: false,
    allow_loose_object_property_names: false,
    allow_trailing_commas: false,
    allow_missing_commas: false,
    allow_single_quoted_strings: false,
    allow_hexadecimal_numbers: false,
    allow_unary_plus_numbers: false,
    allow_bare_decimal_point_numbers: false,
    allow_non_finite_numbers: false,
    allow_extended_string_escapes: false,
};

/// The offset of the first value behind so many, if objects count as several. It is exact in what is JSON without empty
/// objects and arrays, which count for what may be in them.
fn value_beyond(text: &str, most: usize, object: usize) -> Option<usize> {
    // Each but the first takes a sign.
    if text.len() <= most / object.max(1) {
        return None;
    }
    let (mut inside, mut escaped, mut count) = (false, false, 1);
    for (at, byte) in text.bytes().enumerate() {
        let values = match byte {
            _ if escaped => {
                escaped = false;
                continue;
            }
            b'\\' if inside => {
                escaped = true;
                continue;
            }
            b'"' => {
                inside = !inside;
                continue;
            }
            b',' | b'[' if !inside => 1,
            b'{' if !inside => object,
            _ => continue,
        };
        count += values;
        if count > most {
            return Some(at);
        }
    }
    None
}

/// Parses a document.
pub fn parse(
    file: FileId,
    text: &str,
    format: &Format,
    problems: &mut Vec<Diagnostic>,
) -> Option<Json> {
    let (body, base) = match text.strip_prefix('\u{feff}') {
        Some(body) => (body, '\u{feff}'.len_utf8()),
        None => (text, 0),
    };
    let Format { max_values, object_values, .. } = *format;
    if let Some(offset) = value_beyond(body, max_values, object_values) {
        let what = match object_values {
            1 => "values".to_owned(),
            values => format!("values, counting each object as {values},"),
        };
        problems.push(too_many(file, base + offset, &what, max_values));
        return None;
    }
    let source = Source { file, text: body, base, max_depth: format.max_depth };
    let too_deep = |span: Span| {
        Diagnostic::error(rules::NESTING, span, "values are nested too deeply here")
            .note(format!("{}; this file was not read", format.depth_note))
    };
    match parse_to_ast(body, &CollectOptions::default(), &STRICT) {
        Ok(result) => match result.value.map(|value| source.value(&value, 0)) {
            Some(Ok(value)) => Some(value),
            Some(Err(span)) => {
                problems.push(too_deep(span));
                None
            }
            None => {
                problems.push(Diagnostic::error(
                    rules::SYNTAX,
                    Span::new(file, 0, 0),
                    "this file is empty",
                ));
                None
            }
        },
        Err(error) => {
            let range = error.range();
            let span = source.span(range.start, range.end);
            problems.push(match error.kind() {
                ParseErrorKind::NestingDepthExceeded => too_deep(span.at_start()),
                kind => {
                    let mut what = kind.to_string();
                    if what.contains("surrogate") {
                        "this escape is half of a character".clone_into(&mut what);
                    }
                    let mut letters = what.chars();
                    let first = letters.next().map(|c| c.to_ascii_lowercase());
                    let what: String = first.into_iter().chain(letters).collect();
                    Diagnostic::error(rules::SYNTAX, span, format!("invalid JSON: {what}"))
                        .help(format.help)
                }
            });
            None
        }
    }
}

struct Source<'t> {
    file: FileId,
    text: &'t str,
    base: usize,
    max_depth: usize,
}

impl Source<'_> {
    fn span(&self, start: usize, end: usize) -> Span {
        Span::new(self.file, offset(self.base + start), offset(self.base + end))
    }

    /// A value; its span if it is nested too deeply.
    fn value(&self, value: &Value<'_>, depth: usize) -> Result<Json, Span> {
        let (range, kind) = match value {
            Value::NullKeyword(null) => (null.range, Kind::Null),
            Value::BooleanLit(lit) => (lit.range, Kind::Bool(lit.value)),
            Value::NumberLit(lit) => (lit.range, Kind::Number(SmolStr::new(lit.value))),
            Value::StringLit(lit) => {
                // Between the quotes.
                let (start, end) = (lit.range.start + 1, lit.range.end.saturating_sub(1));
                let raw = self.text.get(start..end).unwrap_or_default();
                (lit.range, Kind::String(Text::of_json(raw, &lit.value, self.span(start, end))))
            }
            Value::Array(array) => {
                let span = self.span(array.range.start, array.range.end);
                if depth >= self.max_depth {
                    return Err(span.at_start());
                }
                let items = array.elements.iter().map(|item| self.value(item, depth + 1));
                (array.range, Kind::Array(items.collect::<Result<_, _>>()?))
            }
            Value::Object(object) => {
                let span = self.span(object.range.start, object.range.end);
                if depth >= self.max_depth {
                    return Err(span.at_start());
                }
                let member = |p: &jsonc_parser::ast::ObjectProp<'_>| {
                    let key = SmolStr::new(p.name.as_str());
                    let range = p.name.range();
                    let key_span = self.span(range.start + 1, range.end.saturating_sub(1));
                    Ok(Member { key, key_span, value: self.value(&p.value, depth + 1)? })
                };
                let members = object.properties.iter().map(member).collect::<Result<_, _>>()?;
                (object.range, Kind::Object(members))
            }
        };
        Ok(Json { span: self.span(range.start, range.end), kind, taken: Cell::new(false) })
    }
}

impl Json {
    /// The member called `key`; of several the last, as in JavaScript.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Self> {
        self.members().iter().rev().find(|m| m.key == key).map(|m| &m.value)
    }

    /// The value at a path of members.
    #[must_use]
    pub fn at(&self, path: &[&str]) -> Option<&Self> {
        path.iter().try_fold(self, |value, key| value.get(key))
    }

    /// Unwraps the object in the member `key`; that member's siblings are appended to its members.
    #[must_use]
    pub fn unwrapped(self, key: &str) -> Option<Self> {
        let Kind::Object(mut outer) = self.kind else { return None };
        let at = outer.iter().rposition(|m| m.key == key)?;
        let mut inner = outer.remove(at).value;
        if let Kind::Object(members) = &mut inner.kind {
            let beside = |m: Member| Member { key: SmolStr::new(format!("beside.{}", m.key)), ..m };
            members.extend(outer.into_iter().map(beside));
        }
        Some(inner)
    }

    /// The members of an object; empty for other values.
    #[must_use]
    pub fn members(&self) -> &[Member] {
        match &self.kind {
            Kind::Object(members) => members,
            _ => &[],
        }
    }

    /// The items of an array; empty for other values.
    #[must_use]
    pub fn items(&self) -> &[Self] {
        match &self.kind {
            Kind::Array(items) => items,
            _ => &[],
        }
    }

    /// The text of a string.
    #[must_use]
    pub fn text(&self) -> Option<&Text> {
        match &self.kind {
            Kind::String(text) => Some(text),
            _ => None,
        }
    }

    /// The text of the member `key`, without taking it; for references, which are looked up repeatedly.
    #[must_use]
    pub fn peek(&self, key: &str) -> Option<&str> {
        self.get(key)?.text().map(|t| t.value.as_str())
    }

    /// Whether it is null or an empty string, array or object.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        match &self.kind {
            Kind::Null => true,
            Kind::String(text) => text.value.is_empty(),
            Kind::Array(items) => items.iter().all(Self::is_empty),
            Kind::Object(members) => members.iter().all(|m| m.value.is_empty()),
            Kind::Bool(_) | Kind::Number(_) => false,
        }
    }

    /// Whether another value is the same, wherever the two stand. Recursive: the reader bounds the nesting.
    #[must_use]
    pub fn equals(&self, other: &Self) -> bool {
        match (&self.kind, &other.kind) {
            (Kind::Null, Kind::Null) => true,
            (Kind::Bool(a), Kind::Bool(b)) => a == b,
            (Kind::Number(a), Kind::Number(b)) => a == b,
            (Kind::String(a), Kind::String(b)) => a.value == b.value,
            (Kind::Array(a), Kind::Array(b)) => {
                a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.equals(b))
            }
            (Kind::Object(a), Kind::Object(b)) => {
                let same = |(a, b): (&Member, &Member)| a.key == b.key && a.value.equals(&b.value);
                a.len() == b.len() && a.iter().zip(b).all(same)
            }
            _ => false,
        }
    }

    /// Whether it was taken as a whole.
    #[must_use]
    pub const fn is_taken(&self) -> bool {
        self.taken.get()
    }

    /// Marks it and all nested values as taken.
    pub fn take(&self) -> &Self {
        self.taken.set(true);
        self
    }

    /// Unmarks it and all nested values, if they could not be used.
    pub fn release(&self) {
        self.taken.set(false);
        match &self.kind {
            Kind::Array(items) => items.iter().for_each(Self::release),
            Kind::Object(members) => members.iter().for_each(|m| m.value.release()),
            _ => {}
        }
    }

    /// Takes the member `key`, unless it is empty.
    pub fn take_member(&self, key: &str) -> Option<&Self> {
        self.get(key).filter(|m| !m.is_empty()).map(Self::take)
    }

    /// Takes the text of the member `key`.
    pub fn take_text(&self, key: &str) -> Option<&Text> {
        let member = self.get(key).filter(|m| !m.is_empty())?;
        member.text().inspect(|_| {
            member.take();
        })
    }

    /// Takes the member `key` if it is a boolean, or a string with one.
    pub fn take_bool(&self, key: &str) -> Option<bool> {
        let member = self.get(key)?;
        let value = match &member.kind {
            Kind::Bool(value) => *value,
            Kind::String(text) if text.value == "true" => true,
            Kind::String(text) if text.value == "false" => false,
            _ => return None,
        };
        member.take();
        Some(value)
    }

    /// Takes the member `key` if it is a number, or a string with one.
    pub fn take_number(&self, key: &str) -> Option<f64> {
        self.take_number_if(key, |_| true)
    }

    /// Takes the member `key` if it is a number, or a string with one, that fits. Another one stays what it is.
    pub fn take_number_if(&self, key: &str, fits: impl Fn(f64) -> bool) -> Option<f64> {
        let member = self.get(key)?;
        let value = match &member.kind {
            Kind::Number(text) => text.parse().ok(),
            Kind::String(text) => text.value.trim().parse().ok(),
            _ => None,
        };
        value.filter(|n: &f64| n.is_finite() && fits(*n)).inspect(|_| {
            member.take();
        })
    }
}
