//! Values.

use crate::date::Date;
use crate::error::EvalError;
use agentir_expr::Name;
use smol_str::SmolStr;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// How deep lists and objects may lie inside each other. Walks over values are recursive and rely
/// on it.
pub const MAX_VALUE_DEPTH: u16 = 64;

/// How many parts a value may have. Parts may be shared, so this is more than memory has to hold.
pub const MAX_SIZE: u32 = 1_000_000;

/// How many characters a text that an expression makes may have (current specification, limits).
pub const MAX_TEXT: usize = 100_000;

/// A value. Cloning is cheap.
#[derive(Clone, Debug, PartialEq, Default)]
pub enum Value {
    /// Nothing was ever there.
    #[default]
    Undefined,
    /// `null`, `None`.
    Null,
    /// `true`, `false`.
    Bool(bool),
    /// A number; finite, and never negative zero ([`Value::number`] sees to it).
    Number(f64),
    /// A text.
    Text(SmolStr),
    /// A date or a time. Agent Script only; ABL and ADL have texts that look like dates.
    Date(Date),
    /// A list.
    List(List),
    /// An object.
    Object(Object),
}

/// The items of a list.
#[derive(Clone, Debug, Default)]
pub struct List {
    items: Arc<Vec<Value>>,
    measure: Measure,
}

/// The fields of an object, by name.
#[derive(Clone, Debug, Default)]
pub struct Object {
    fields: Arc<BTreeMap<Name, Value>>,
    measure: Measure,
}

#[derive(Clone, Copy, Debug, Default)]
struct Measure {
    depth: u16,
    size: u32,
}

impl Measure {
    fn of<'a>(values: impl Iterator<Item = &'a Value>) -> Result<Self, EvalError> {
        let mut all = Self { depth: 0, size: 1 };
        for value in values {
            let one = match value {
                Value::List(list) => list.measure,
                Value::Object(object) => object.measure,
                _ => Self { depth: 0, size: 1 },
            };
            all.depth = all.depth.max(one.depth);
            all.size = all.size.saturating_add(one.size.max(1));
        }
        all.depth += 1;
        if all.depth > MAX_VALUE_DEPTH {
            Err(EvalError::TooDeep)
        } else if all.size > MAX_SIZE {
            Err(EvalError::TooLarge)
        } else {
            Ok(all)
        }
    }
}

impl List {
    /// A list of these items.
    ///
    /// # Errors
    /// [`EvalError::TooDeep`], [`EvalError::TooLarge`].
    pub fn new(items: Vec<Value>) -> Result<Self, EvalError> {
        let measure = Measure::of(items.iter())?;
        Ok(Self { items: Arc::new(items), measure })
    }

    /// The items.
    #[must_use]
    pub fn items(&self) -> &[Value] {
        &self.items
    }
}

impl PartialEq for List {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.items, &other.items) || self.items == other.items
    }
}

impl Object {
    /// An object of these fields.
    ///
    /// # Errors
    /// [`EvalError::TooDeep`], [`EvalError::TooLarge`].
    pub fn new(fields: BTreeMap<Name, Value>) -> Result<Self, EvalError> {
        let measure = Measure::of(fields.values())?;
        Ok(Self { fields: Arc::new(fields), measure })
    }

    /// The fields, by name.
    #[must_use]
    pub fn fields(&self) -> &BTreeMap<Name, Value> {
        &self.fields
    }

    /// The object with `name` set to `value`.
    ///
    /// # Errors
    /// As [`Object::new`].
    pub fn with(&self, name: Name, value: Value) -> Result<Self, EvalError> {
        let mut fields = (*self.fields).clone();
        fields.insert(name, value);
        Self::new(fields)
    }
}

impl PartialEq for Object {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.fields, &other.fields) || self.fields == other.fields
    }
}

impl Value {
    /// A number.
    ///
    /// # Errors
    /// [`EvalError::Overflow`] if it is not finite.
    pub fn number(n: f64) -> Result<Self, EvalError> {
        // Adding zero turns negative zero into zero.
        if n.is_finite() { Ok(Self::Number(n + 0.0)) } else { Err(EvalError::Overflow) }
    }

    /// A text that an expression made.
    ///
    /// # Errors
    /// [`EvalError::TooLarge`] above [`MAX_TEXT`] characters.
    pub fn made_text(text: impl Into<SmolStr>) -> Result<Self, EvalError> {
        let text = text.into();
        if text.len() > MAX_TEXT && text.chars().count() > MAX_TEXT {
            return Err(EvalError::TooLarge);
        }
        Ok(Self::Text(text))
    }

    /// A text.
    #[must_use]
    pub fn text(text: impl Into<SmolStr>) -> Self {
        Self::Text(text.into())
    }

    /// A list of these items.
    ///
    /// # Errors
    /// As [`List::new`].
    pub fn list(items: Vec<Self>) -> Result<Self, EvalError> {
        List::new(items).map(Self::List)
    }

    /// An object of these fields.
    ///
    /// # Errors
    /// As [`Object::new`].
    pub fn object(fields: BTreeMap<Name, Self>) -> Result<Self, EvalError> {
        Object::new(fields).map(Self::Object)
    }

    /// Whether it is null or undefined.
    #[must_use]
    pub const fn is_unset(&self) -> bool {
        matches!(self, Self::Undefined | Self::Null)
    }

    /// The kind of value, with its article: "a number".
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Undefined => "undefined",
            Self::Null => "null",
            Self::Bool(_) => "true or false",
            Self::Number(_) => "a number",
            Self::Text(_) => "a string",
            Self::Date(_) => "a date",
            Self::List(_) => "a list",
            Self::Object(_) => "an object",
        }
    }
}

impl From<bool> for Value {
    fn from(b: bool) -> Self {
        Self::Bool(b)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::text(text)
    }
}

/// As people write it, in the notation of ABL; texts are in quotes.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Undefined => f.write_str("undefined"),
            Self::Null => f.write_str("null"),
            Self::Bool(b) => b.fmt(f),
            Self::Number(n) => n.fmt(f),
            Self::Text(text) => agentir_expr::Literal::String(text.clone()).fmt(f),
            Self::Date(date) => date.fmt(f),
            Self::List(list) => {
                f.write_str("[")?;
                for (i, item) in list.items().iter().enumerate() {
                    f.write_str(if i > 0 { ", " } else { "" })?;
                    item.fmt(f)?;
                }
                f.write_str("]")
            }
            Self::Object(object) => {
                f.write_str("{")?;
                for (i, (name, value)) in object.fields().iter().enumerate() {
                    write!(f, "{}{name}: {value}", if i > 0 { ", " } else { "" })?;
                }
                f.write_str("}")
            }
        }
    }
}
