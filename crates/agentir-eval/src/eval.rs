//! The evaluator.

use crate::coerce::{number, parse_number, text, truthy};
use crate::compare::{contains, equal, is, is_in, order, scalar_texts, strictly_equal};
use crate::date::Date;
use crate::error::EvalError;
use crate::functions;
use crate::pattern::pattern;
use crate::state::Environment;
use crate::value::Value;
use agentir_expr::dialect::{Logic, Remainder, Semantics, Unset};
use agentir_expr::{
    BinaryOp, Dialect, Expr, ExprKind, Literal, ObjectEntry, Path, Segment, UnaryOp,
};
use std::cmp;
use std::collections::BTreeMap;

/// The value of `expr` in `state`.
///
/// # Errors
/// Any [`EvalError`].
pub fn evaluate(expr: &Expr, state: &dyn Environment, dialect: Dialect) -> Result<Value> {
    Evaluator { state, semantics: dialect.semantics() }.value(expr)
}

/// What becomes of a condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Outcome {
    /// It does not hold.
    False,
    /// It holds.
    True,
    /// It cannot be evaluated, and that stops what runs.
    Error,
}

/// Whether the condition `expr` holds in `state`. In ABL a condition that cannot be evaluated does
/// not hold.
#[must_use]
pub fn outcome(expr: &Expr, state: &dyn Environment, dialect: Dialect) -> Outcome {
    let semantics = dialect.semantics();
    match evaluate(expr, state, dialect) {
        Ok(value) if truthy(&value, semantics) => Outcome::True,
        Ok(_) => Outcome::False,
        Err(_) if semantics.error_is_false => Outcome::False,
        Err(_) => Outcome::Error,
    }
}

/// How many characters a text has, how many items a list, how many fields an object; none for others.
#[must_use]
pub fn length(value: &Value) -> Option<usize> {
    match value {
        Value::Text(text) => Some(text.chars().count()),
        Value::List(list) => Some(list.items().len()),
        Value::Object(object) => Some(object.fields().len()),
        _ => None,
    }
}

/// A part of a value. What an object does not have is undefined; a list has `length` besides its
/// items, and a text has `length`.
///
/// # Errors
/// [`EvalError::NoMember`] where the dialect forbids to look into what is unset.
pub fn member(value: &Value, segment: &Segment, semantics: &Semantics) -> Result<Value> {
    let missing = || match semantics.unset_member {
        Unset::Nothing => Ok(Value::Undefined),
        Unset::Error => Err(EvalError::NoMember),
    };
    match (value, segment) {
        (Value::Object(object), Segment::Field(name)) => {
            Ok(object.fields().get(&name.value).cloned().unwrap_or_default())
        }
        (Value::List(_) | Value::Text(_), Segment::Field(name)) if name.value == "length" => {
            Value::number(length(value).unwrap_or_default() as f64)
        }
        (Value::List(list), Segment::Index(at)) => {
            let at = usize::try_from(*at).unwrap_or(usize::MAX);
            list.items().get(at).map_or_else(missing, |item| Ok(item.clone()))
        }
        (_, Segment::Field(_) | Segment::Index(_)) => missing(),
        (_, Segment::Any) => Err(EvalError::NoMember),
    }
}

pub(crate) struct Evaluator<'a> {
    pub(crate) state: &'a dyn Environment,
    pub(crate) semantics: &'a Semantics,
}

type Result<T> = std::result::Result<T, EvalError>;

impl Evaluator<'_> {
    /// Recursive, at most [`agentir_expr::MAX_DEPTH`] deep. Each form is a function of its own, so
    /// that a level takes little of the stack.
    pub(crate) fn value(&self, expr: &Expr) -> Result<Value> {
        match &expr.kind {
            ExprKind::Literal(literal) => self.literal(literal),
            ExprKind::Path(path) => self.state.path(path, self.semantics),
            ExprKind::List(items) => Value::list(self.items(items)?),
            ExprKind::Object(entries) => self.object(entries),
            ExprKind::Call { function, args } => {
                functions::call(self, &function.value, &self.items(args)?)
            }
            ExprKind::Method { receiver, method, args } => {
                functions::method(self, &method.value, &self.value(receiver)?, &self.items(args)?)
            }
            ExprKind::Subscript { base, index } => self.subscript(base, index),
            ExprKind::Member { base, segment } => {
                member(&self.value(base)?, segment, self.semantics)
            }
            ExprKind::Unary { op, operand } => self.unary(*op, operand),
            ExprKind::Binary { op, left, right } => self.binary(*op, left, right),
            ExprKind::And(parts) => self.chain(parts, false),
            ExprKind::Or(parts) => self.chain(parts, true),
            ExprKind::IsSet { operand, negated } => {
                Ok(Value::Bool(self.value(operand)?.is_unset() == *negated))
            }
            ExprKind::Conditional { condition, then, otherwise } => {
                self.value(if self.truthy(condition)? { then } else { otherwise })
            }
            // Outside a list or a call it stands for the list itself.
            ExprKind::Spread(list) => self.value(list),
            ExprKind::Ellipsis => Err(EvalError::Ellipsis),
            // Only whoever runs the program fills texts in.
            ExprKind::Template(_) => Err(EvalError::Environment),
        }
    }

    fn truthy(&self, expr: &Expr) -> Result<bool> {
        Ok(truthy(&self.value(expr)?, self.semantics))
    }

    fn literal(&self, literal: &Literal) -> Result<Value> {
        Ok(match literal {
            Literal::Null => Value::Null,
            Literal::Undefined => Value::Undefined,
            Literal::Bool(b) => Value::Bool(*b),
            Literal::Number(n) => Value::number(*n)?,
            Literal::String(text) | Literal::Regex(text) => Value::Text(text.clone()),
            Literal::Date(text) => match Date::parse(text) {
                Some(date) => Value::Date(date),
                None => Value::Text(text.clone()),
            },
        })
    }

    /// Items of a list or arguments, `*list` put in its place.
    fn items(&self, exprs: &[Expr]) -> Result<Vec<Value>> {
        let mut items = Vec::with_capacity(exprs.len());
        for expr in exprs {
            match &expr.kind {
                ExprKind::Spread(list) => match self.value(list)? {
                    Value::List(list) => items.extend_from_slice(list.items()),
                    other => return Err(EvalError::Operands("a spread", other.kind())),
                },
                _ => items.push(self.value(expr)?),
            }
        }
        Ok(items)
    }

    fn object(&self, entries: &[ObjectEntry]) -> Result<Value> {
        let mut fields = BTreeMap::new();
        for entry in entries {
            let value = match &entry.value {
                Some(value) => self.value(value)?,
                None => self.state.path(&Path::variable(entry.key.clone()), self.semantics)?,
            };
            fields.insert(entry.key.value.clone(), value);
        }
        Value::object(fields)
    }

    /// An item by its number, from the end if negative, or a field by its name.
    fn subscript(&self, base: &Expr, index: &Expr) -> Result<Value> {
        let (base, index) = (self.value(base)?, self.value(index)?);
        let found = match (&base, &index) {
            (Value::List(list), Value::Number(n)) if n.fract() == 0.0 => {
                let at = if *n < 0.0 { *n + list.items().len() as f64 } else { *n };
                // Out of range conversions saturate, and no list is that long.
                if at < 0.0 { None } else { list.items().get(at as usize).cloned() }
            }
            (Value::Object(object), Value::Text(name)) => {
                Some(object.fields().get(name).cloned().unwrap_or_default())
            }
            _ => None,
        };
        match (found, self.semantics.unset_member) {
            (Some(value), _) => Ok(value),
            (None, Unset::Nothing) => Ok(Value::Undefined),
            (None, Unset::Error) => Err(EvalError::NoMember),
        }
    }

    fn unary(&self, op: UnaryOp, operand: &Expr) -> Result<Value> {
        let value = self.value(operand)?;
        match op {
            UnaryOp::Not => Ok(Value::Bool(!truthy(&value, self.semantics))),
            UnaryOp::Negate => Value::number(-self.operand(&value)?),
            UnaryOp::Plus => Value::number(self.operand(&value)?),
            UnaryOp::IsNumber => Ok(Value::Bool(match &value {
                Value::Number(_) => true,
                Value::Text(text) => parse_number(text).is_some(),
                _ => false,
            })),
        }
    }

    /// A flat chain; it ends with the first operand that decides.
    fn chain(&self, parts: &[Expr], or: bool) -> Result<Value> {
        let mut last = Value::Bool(!or);
        for part in parts {
            last = self.value(part)?;
            if truthy(&last, self.semantics) == or {
                break;
            }
        }
        Ok(match self.semantics.logic {
            Logic::Boolean => Value::Bool(truthy(&last, self.semantics)),
            Logic::Operand => last,
        })
    }

    fn binary(&self, op: BinaryOp, left: &Expr, right: &Expr) -> Result<Value> {
        if op == BinaryOp::Implies {
            return Ok(Value::Bool(!self.truthy(left)? || self.truthy(right)?));
        }
        let (a, b) = (self.value(left)?, self.value(right)?);
        let (a, b) = (&a, &b);
        Ok(Value::Bool(match op {
            BinaryOp::Equal => equal(a, b),
            BinaryOp::NotEqual => a.is_unset() || b.is_unset() || !equal(a, b),
            BinaryOp::StrictEqual => strictly_equal(a, b),
            BinaryOp::StrictNotEqual => !strictly_equal(a, b),
            BinaryOp::Is => is(a, b),
            BinaryOp::IsNot => !is(a, b),
            BinaryOp::Less => self.order(a, b)? == Some(cmp::Ordering::Less),
            BinaryOp::LessEqual => self.order(a, b)?.is_some_and(cmp::Ordering::is_le),
            BinaryOp::Greater => self.order(a, b)? == Some(cmp::Ordering::Greater),
            BinaryOp::GreaterEqual => self.order(a, b)?.is_some_and(cmp::Ordering::is_ge),
            // Nothing is in a number, and what asks for it is a mistake.
            BinaryOp::In | BinaryOp::NotIn if matches!(b, Value::Number(_) | Value::Bool(_)) => {
                return Err(EvalError::Operands(a.kind(), b.kind()));
            }
            BinaryOp::In => is_in(a, b, self.semantics),
            BinaryOp::NotIn => !is_in(a, b, self.semantics),
            BinaryOp::Contains => contains(a, b, self.semantics),
            BinaryOp::StartsWith | BinaryOp::EndsWith => self.ends(op, a, b),
            BinaryOp::Matches => self.matches(a, b)?,
            _ => return self.arithmetic(op, a, b),
        }))
    }

    fn order(&self, a: &Value, b: &Value) -> Result<Option<cmp::Ordering>> {
        order(a, b, self.semantics)
    }

    pub(crate) fn ends(&self, op: BinaryOp, whole: &Value, part: &Value) -> bool {
        scalar_texts(whole, part, self.semantics).is_some_and(|(whole, part)| match op {
            BinaryOp::StartsWith => whole.starts_with(part.as_str()),
            _ => whole.ends_with(part.as_str()),
        })
    }

    /// What is unset matches nothing, a list or object neither.
    pub(crate) fn matches(&self, whole: &Value, by: &Value) -> Result<bool> {
        let Value::Text(by) = by else { return Err(EvalError::Pattern("no text".to_owned())) };
        let by = pattern(by)?;
        Ok(crate::compare::scalar_text(whole, self.semantics)
            .is_some_and(|text| by.is_match(&text)))
    }

    /// A number for arithmetic.
    pub(crate) fn operand(&self, value: &Value) -> Result<f64> {
        match value {
            // Only where a text or a list stands for a number are they converted.
            Value::Text(_) | Value::List(_) if !self.semantics.error_is_false => {
                Err(EvalError::NotANumber(value.kind()))
            }
            _ => number(value, self.semantics)?.ok_or(EvalError::NotANumber(value.kind())),
        }
    }

    fn arithmetic(&self, op: BinaryOp, a: &Value, b: &Value) -> Result<Value> {
        if op == BinaryOp::Add
            && let Some(joined) = self.joined(a, b)
        {
            return joined;
        }
        let (x, y) = (self.operand(a)?, self.operand(b)?);
        Value::number(match op {
            BinaryOp::Add => x + y,
            BinaryOp::Subtract => x - y,
            BinaryOp::Multiply => x * y,
            BinaryOp::Divide | BinaryOp::Remainder if y == 0.0 => {
                return Err(EvalError::DivisionByZero);
            }
            BinaryOp::Divide => x / y,
            BinaryOp::Remainder => remainder(x, y, self.semantics.remainder),
            _ => return Err(EvalError::Operands(a.kind(), b.kind())),
        })
    }

    /// `+` joins lists, and it joins texts if one side is a text and they are not both numbers.
    /// Agent Script's texts are never numbers, and joining what is unset to one fails.
    fn joined(&self, a: &Value, b: &Value) -> Option<Result<Value>> {
        let loose = self.semantics.error_is_false;
        match (a, b) {
            (Value::List(a), Value::List(b)) if !loose => {
                Some(Value::list(a.items().iter().chain(b.items()).cloned().collect()))
            }
            (Value::Text(_), _) | (_, Value::Text(_)) => {
                let numeric = |v: &Value| match v {
                    Value::Text(text) => parse_number(text).is_some(),
                    Value::Number(_) => true,
                    _ => false,
                };
                let texts = matches!((a, b), (Value::Text(_), Value::Text(_)));
                if loose && !texts && numeric(a) && numeric(b) {
                    return None;
                }
                if !loose && (a.is_unset() || b.is_unset()) {
                    return Some(Err(EvalError::Operands(a.kind(), b.kind())));
                }
                let (a, b) = (text(a, self.semantics), text(b, self.semantics));
                Some(Value::made_text([a.as_str(), b.as_str()].concat()))
            }
            _ => None,
        }
    }
}

fn remainder(x: f64, y: f64, sign: Remainder) -> f64 {
    let rest = x % y;
    match sign {
        Remainder::Divisor if rest != 0.0 && (rest < 0.0) != (y < 0.0) => rest + y,
        _ => rest,
    }
}
