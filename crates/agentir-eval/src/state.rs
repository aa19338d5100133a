//! What an expression is evaluated in.

use crate::error::EvalError;
use crate::eval::member;
use crate::value::{MAX_VALUE_DEPTH, Object, Value};
use agentir_expr::dialect::Semantics;
use agentir_expr::{Name, Path};
use std::collections::BTreeMap;

/// What an expression reads.
pub trait Environment {
    /// The value of `path`. Something that was never assigned is [`Value::Undefined`].
    ///
    /// # Errors
    /// [`EvalError::NoMember`] where the dialect forbids to look into what is unset.
    fn path(&self, path: &Path, semantics: &Semantics) -> Result<Value, EvalError>;

    /// What a function gives that is the platform's: what it finds in a text no specification says
    /// (the detectors of guardrails). `None` if unknown.
    fn platform(&self, _function: &str, _args: &[Value]) -> Option<Value> {
        None
    }

    /// The time, in milliseconds since the beginning of 1970.
    fn now(&self) -> Option<i64> {
        None
    }

    /// A random number.
    fn random(&self) -> Option<u64> {
        None
    }
}

/// The values of variables, by their names: `order`, `@variables.total`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct State {
    variables: BTreeMap<Name, Value>,
}

impl State {
    /// A state in which nothing is set.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets a variable. In Agent Script the name is `@namespace.name`.
    pub fn set(&mut self, name: impl Into<Name>, value: Value) {
        self.variables.insert(name.into(), value);
    }

    /// The value of a variable.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.variables.get(name)
    }

    /// All variables that were set, by name.
    pub fn variables(&self) -> impl Iterator<Item = (&Name, &Value)> {
        self.variables.iter()
    }

    /// Sets a part of a variable, making the objects and lists on the way.
    ///
    /// # Errors
    /// [`EvalError::NoMember`] if something on the way is neither unset nor an object or list that
    /// could have the part; the errors of [`Object::new`].
    pub fn set_path(&mut self, path: &Path, value: Value) -> Result<(), EvalError> {
        let name = root(path);
        let old = self.variables.remove(&name).unwrap_or_default();
        let new = with_part(old, &path.segments, value)?;
        self.variables.insert(name, new);
        Ok(())
    }
}

/// The name of the variable that `path` begins with.
fn root(path: &Path) -> Name {
    match &path.namespace {
        Some(namespace) => smol_str::format_smolstr!("@{}.{}", namespace.value, path.root.value),
        None => path.root.value.clone(),
    }
}

fn with_part(
    old: Value,
    segments: &[agentir_expr::Segment],
    value: Value,
) -> Result<Value, EvalError> {
    use agentir_expr::Segment;
    let Some((first, rest)) = segments.split_first() else { return Ok(value) };
    // No value is as deep, and each segment is a call deeper.
    if segments.len() > usize::from(MAX_VALUE_DEPTH) {
        return Err(EvalError::TooLarge);
    }
    match first {
        Segment::Field(name) => {
            let object = match old {
                Value::Undefined | Value::Null => Object::default(),
                Value::Object(object) => object,
                _ => return Err(EvalError::NoMember),
            };
            let part = object.fields().get(&name.value).cloned().unwrap_or_default();
            Ok(Value::Object(object.with(name.value.clone(), with_part(part, rest, value)?)?))
        }
        Segment::Index(at) => {
            let mut items = match old {
                Value::Undefined | Value::Null => Vec::new(),
                Value::List(list) => list.items().to_vec(),
                _ => return Err(EvalError::NoMember),
            };
            let at = usize::try_from(*at).unwrap_or(usize::MAX);
            if at >= 1000 && at >= items.len() {
                return Err(EvalError::TooLarge);
            }
            if items.len() <= at {
                items.resize(at + 1, Value::Undefined);
            }
            let slot = items.get_mut(at).ok_or(EvalError::NoMember)?;
            *slot = with_part(std::mem::take(slot), rest, value)?;
            Value::list(items)
        }
        Segment::Any => Err(EvalError::NoMember),
    }
}

impl Environment for State {
    fn path(&self, path: &Path, semantics: &Semantics) -> Result<Value, EvalError> {
        let mut value = match &path.namespace {
            None => self.variables.get(&path.root.value),
            Some(_) => self.variables.get(&root(path)),
        }
        .cloned()
        .unwrap_or_default();
        for segment in &path.segments {
            value = member(&value, segment, semantics)?;
        }
        Ok(value)
    }
}
