//! What type the value of an expression has, as far as declarations say, and which types can stand
//! for each other.
//!
//! All languages convert values on the way, and none says so in full: the Agent Script specification
//! (part I, 3.1) speaks of "loose, Python-like type coercion … where the types are compatible". So
//! what cannot be is a table a language ([`Coercion`]), and everything that is not in it is legal:
//! inference never reports what a conversion could still save.

use crate::expr::{BinaryOp, Expr, ExprKind, Literal, Name, Path, Segment, UnaryOp};
use crate::types::{TypeExpr, TypeKind};
use agentir_diagnostics::Span;

/// The type of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ValueType {
    /// `None`, `null`: may stand for everything.
    Null,
    /// A text.
    Text,
    /// A number, whole or not.
    Number,
    /// True or false.
    Boolean,
    /// A day, a time, or both.
    Date,
    /// A list, with the type of its elements where that is known.
    List(Option<Box<Self>>),
    /// Named values.
    Object,
}

/// [`ValueType`] without what is inside, for tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueKind {
    /// `None`, `null`: may stand for everything.
    Null,
    /// A text.
    Text,
    /// A number, whole or not.
    Number,
    /// True or false.
    Boolean,
    /// A day, a time, or both.
    Date,
    /// A list.
    List,
    /// Named values.
    Object,
}

/// The names of types in all languages.
const NAMES: &[(&str, ValueKind)] = &[
    ("string", ValueKind::Text),
    ("text", ValueKind::Text),
    ("free_text", ValueKind::Text),
    ("email", ValueKind::Text),
    ("phone", ValueKind::Text),
    ("pattern", ValueKind::Text),
    ("enum", ValueKind::Text),
    ("id", ValueKind::Text),
    ("number", ValueKind::Number),
    ("integer", ValueKind::Number),
    ("long", ValueKind::Number),
    ("float", ValueKind::Number),
    ("currency", ValueKind::Number),
    ("boolean", ValueKind::Boolean),
    ("date", ValueKind::Date),
    ("datetime", ValueKind::Date),
    ("time", ValueKind::Date),
    ("timestamp", ValueKind::Date),
    ("array", ValueKind::List),
    ("list", ValueKind::List),
    ("object", ValueKind::Object),
];

impl ValueType {
    /// The type that is called `name`, if it says what its values are.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        let (_, kind) = NAMES.iter().find(|(n, _)| *n == name)?;
        Some(match kind {
            ValueKind::Null => Self::Null,
            ValueKind::Text => Self::Text,
            ValueKind::Number => Self::Number,
            ValueKind::Boolean => Self::Boolean,
            ValueKind::Date => Self::Date,
            ValueKind::List => Self::List(None),
            ValueKind::Object => Self::Object,
        })
    }

    /// The type of the values of a declaration.
    #[must_use]
    pub fn of(ty: &TypeExpr) -> Option<Self> {
        match &ty.kind {
            TypeKind::Array(element) => Some(Self::List(Self::of(element).map(Box::new))),
            TypeKind::Object(_) => Some(Self::Object),
            TypeKind::Named(name) => Self::named(name),
        }
    }

    /// The name of the type, with its article.
    #[must_use]
    pub const fn words(&self) -> &'static str {
        match self {
            Self::Null => "nothing",
            Self::Text => "a string",
            Self::Number => "a number",
            Self::Boolean => "a boolean",
            Self::Date => "a date",
            Self::List(_) => "a list",
            Self::Object => "an object",
        }
    }

    const fn kind(&self) -> ValueKind {
        match self {
            Self::Null => ValueKind::Null,
            Self::Text => ValueKind::Text,
            Self::Number => ValueKind::Number,
            Self::Boolean => ValueKind::Boolean,
            Self::Date => ValueKind::Date,
            Self::List(_) => ValueKind::List,
            Self::Object => ValueKind::Object,
        }
    }
}

/// What the values of a language can never be converted to.
#[derive(Debug)]
pub struct Coercion {
    /// Types, each with those that it never becomes.
    pub never: &'static [(ValueKind, &'static [ValueKind])],
    /// Whether a text with a list or an object in JSON can stand for it.
    pub json: bool,
}

impl Coercion {
    /// That of a language without declared types: nothing is rejected.
    pub const ANY: Self = Self { never: &[], json: true };

    /// Whether a value of the type `found` can never become one of the type `wanted`.
    #[must_use]
    pub fn never(&self, found: &ValueType, wanted: &ValueType) -> bool {
        if let (ValueType::List(Some(found)), ValueType::List(Some(wanted))) = (found, wanted) {
            return self.never(found, wanted);
        }
        let (found, wanted) = (found.kind(), wanted.kind());
        self.never.iter().any(|(from, to)| *from == found && to.contains(&wanted))
    }

    /// What a constant is, if it can never become a value of the type `wanted`: `"many"` for a number.
    #[must_use]
    pub fn rejects(&self, constant: &Expr, wanted: &ValueType) -> Option<ValueType> {
        let found = match &constant.kind {
            ExprKind::Literal(Literal::String(text)) => {
                return self.rejects_text(text, wanted).then_some(ValueType::Text);
            }
            ExprKind::List(items) => {
                if let ValueType::List(Some(element)) = wanted
                    && let Some(found) = items.iter().find_map(|i| self.rejects(i, element))
                {
                    return Some(ValueType::List(Some(Box::new(found))));
                }
                ValueType::List(None)
            }
            ExprKind::Literal(literal) => literal_type(literal)?,
            ExprKind::Object(_) => ValueType::Object,
            ExprKind::Unary { op: UnaryOp::Negate, .. } => ValueType::Number,
            _ => return None,
        };
        self.never(&found, wanted).then_some(found)
    }

    /// The type of an expression, if it can never become a value of the type `wanted`; `infer` gives
    /// the type of one that is not constant.
    pub fn mismatch(
        &self,
        expr: &Expr,
        wanted: &ValueType,
        infer: impl FnOnce() -> Option<ValueType>,
    ) -> Option<ValueType> {
        self.rejects(expr, wanted).or_else(|| infer().filter(|found| self.never(found, wanted)))
    }

    /// Whether a constant text can never become a value of the type `wanted`. Text with
    /// placeholders can become anything.
    #[must_use]
    pub fn rejects_text(&self, text: &str, wanted: &ValueType) -> bool {
        let text = text.trim();
        if text.contains("{{") || text.contains("{!") {
            return false;
        }
        match wanted {
            ValueType::Number => text.parse::<f64>().is_err(),
            ValueType::Boolean => {
                !text.eq_ignore_ascii_case("true") && !text.eq_ignore_ascii_case("false")
            }
            ValueType::List(_) | ValueType::Object if self.json => !text.starts_with(['[', '{']),
            ValueType::List(_) => true,
            ValueType::Object => false,
            ValueType::Text | ValueType::Date | ValueType::Null => false,
        }
    }
}

/// What inference knows about names.
pub struct Known<'k> {
    /// What converts to what.
    pub coercion: &'static Coercion,
    /// The type of the variable at the root of a path; its segments are followed by inference.
    pub root: &'k dyn Fn(&Path) -> Option<ValueType>,
    /// What a function gives.
    pub function: &'k dyn Fn(&str) -> Option<ValueType>,
}

/// Something that cannot work, whatever the values are.
#[derive(Clone, Debug, PartialEq)]
pub enum Mismatch {
    /// An operand that the operator can do nothing with.
    Operand {
        /// The operator, as it is printed.
        operator: &'static str,
        /// What the operand is.
        found: ValueType,
        /// A description of what the operator takes.
        wanted: &'static str,
    },
    /// A comparison of values that are never alike.
    Comparison {
        /// The type on the left.
        left: ValueType,
        /// The type on the right.
        right: ValueType,
    },
    /// A list whose element is asked for by something else than a number.
    Index(ValueType),
    /// A member of a value that has none of this name.
    Member(ValueType, Name),
}

/// The type of an expression's value, if it is known. Calls `found` with everything in it that cannot
/// work, and where.
pub fn infer(
    expr: &Expr,
    known: &Known<'_>,
    found: &mut dyn FnMut(Span, Mismatch),
) -> Option<ValueType> {
    match &expr.kind {
        ExprKind::Literal(literal) => literal_type(literal),
        ExprKind::Path(path) => {
            let mut ty = (known.root)(path)?;
            for segment in &path.segments {
                ty = member(ty, segment, expr.span, found)?;
            }
            Some(ty)
        }
        ExprKind::List(items) => {
            let types: Vec<_> = items.iter().map(|i| infer(i, known, found)).collect();
            let (first, rest) = match types.split_first() {
                Some((Some(first), rest)) => (first, rest),
                _ => return Some(ValueType::List(None)),
            };
            let same = rest.iter().all(|t| t.as_ref() == Some(first));
            Some(ValueType::List(same.then(|| Box::new(first.clone()))))
        }
        ExprKind::Object(entries) => {
            for value in entries.iter().filter_map(|e| e.value.as_ref()) {
                infer(value, known, found);
            }
            Some(ValueType::Object)
        }
        ExprKind::Call { function, args } => {
            for arg in args {
                infer(arg, known, found);
            }
            (known.function)(&function.value)
        }
        ExprKind::Method { receiver, args, .. } => {
            infer(receiver, known, found);
            for arg in args {
                infer(arg, known, found);
            }
            None
        }
        ExprKind::Subscript { base, index } => {
            let base = infer(base, known, found);
            let by = infer(index, known, found);
            let Some(ValueType::List(element)) = base else { return None };
            if let Some(by) = by
                && !matches!(by, ValueType::Number | ValueType::Null)
            {
                found(index.span, Mismatch::Index(by));
            }
            element.map(|e| *e)
        }
        ExprKind::Member { base, segment } => {
            let base = infer(base, known, found)?;
            member(base, segment, expr.span, found)
        }
        ExprKind::Unary { op, operand } => {
            let ty = infer(operand, known, found);
            match op {
                UnaryOp::Not | UnaryOp::IsNumber => Some(ValueType::Boolean),
                UnaryOp::Negate | UnaryOp::Plus => {
                    let sign = if *op == UnaryOp::Plus { "+" } else { "-" };
                    number(operand, ty.as_ref(), sign, known, found);
                    Some(ValueType::Number)
                }
            }
        }
        ExprKind::Binary { op, left, right } => binary(expr, *op, left, right, known, found),
        ExprKind::And(all) | ExprKind::Or(all) => {
            let truths = all.iter().map(|e| infer(e, known, found)).collect::<Vec<_>>();
            truths.iter().all(|t| *t == Some(ValueType::Boolean)).then_some(ValueType::Boolean)
        }
        ExprKind::IsSet { operand, .. } => {
            infer(operand, known, found);
            Some(ValueType::Boolean)
        }
        ExprKind::Conditional { condition, then, otherwise } => {
            infer(condition, known, found);
            let then = infer(then, known, found);
            let otherwise = infer(otherwise, known, found);
            if then == otherwise { then } else { None }
        }
        ExprKind::Spread(list) => {
            infer(list, known, found);
            None
        }
        ExprKind::Ellipsis => None,
        ExprKind::Template(_) => Some(ValueType::Text),
    }
}

fn literal_type(literal: &Literal) -> Option<ValueType> {
    Some(match literal {
        Literal::Null | Literal::Undefined => ValueType::Null,
        Literal::Bool(_) => ValueType::Boolean,
        Literal::Number(_) => ValueType::Number,
        Literal::String(_) => ValueType::Text,
        Literal::Date(_) => ValueType::Date,
        Literal::Regex(_) => return None,
    })
}

/// The type of a part of a value.
fn member(
    of: ValueType,
    segment: &Segment,
    span: Span,
    found: &mut dyn FnMut(Span, Mismatch),
) -> Option<ValueType> {
    match (of, segment) {
        (ValueType::List(element), Segment::Index(_)) => element.map(|e| *e),
        (ValueType::Text, Segment::Index(_)) => Some(ValueType::Text),
        (ValueType::List(_) | ValueType::Text, Segment::Field(name)) if name.value == "length" => {
            Some(ValueType::Number)
        }
        (
            of @ (ValueType::List(_) | ValueType::Text | ValueType::Number | ValueType::Boolean),
            Segment::Field(name),
        ) => {
            let at = if name.span.end > name.span.start { name.span } else { span };
            found(at, Mismatch::Member(of, name.value.clone()));
            None
        }
        (of @ (ValueType::Number | ValueType::Boolean), Segment::Index(_)) => {
            found(
                span,
                Mismatch::Operand { operator: "[…]", found: of, wanted: "a list or a string" },
            );
            None
        }
        _ => None,
    }
}

/// Reports an operand that cannot be a number.
fn number(
    operand: &Expr,
    ty: Option<&ValueType>,
    operator: &'static str,
    known: &Known<'_>,
    found: &mut dyn FnMut(Span, Mismatch),
) {
    let wanted = ValueType::Number;
    let wrong = known.coercion.rejects(operand, &wanted).or_else(|| {
        let ty = ty.filter(|t| **t != ValueType::Date)?;
        known.coercion.never(ty, &wanted).then(|| ty.clone())
    });
    if let Some(wrong) = wrong.filter(|w| *w != ValueType::Date) {
        found(operand.span, Mismatch::Operand { operator, found: wrong, wanted: "a number" });
    }
}

fn binary(
    whole: &Expr,
    op: BinaryOp,
    left: &Expr,
    right: &Expr,
    known: &Known<'_>,
    found: &mut dyn FnMut(Span, Mismatch),
) -> Option<ValueType> {
    let l = infer(left, known, found);
    let r = infer(right, known, found);
    match op {
        BinaryOp::Equal
        | BinaryOp::NotEqual
        | BinaryOp::StrictEqual
        | BinaryOp::StrictNotEqual
        | BinaryOp::Is
        | BinaryOp::IsNot
        | BinaryOp::Less
        | BinaryOp::LessEqual
        | BinaryOp::Greater
        | BinaryOp::GreaterEqual => {
            if let (Some(a), Some(b)) = (l, r)
                && alien(left, &a, right, &b, known)
            {
                found(whole.span, Mismatch::Comparison { left: a, right: b });
            }
            Some(ValueType::Boolean)
        }
        BinaryOp::Implies
        | BinaryOp::Matches
        | BinaryOp::Contains
        | BinaryOp::StartsWith
        | BinaryOp::EndsWith => Some(ValueType::Boolean),
        BinaryOp::In | BinaryOp::NotIn => {
            if let Some(wrong @ (ValueType::Number | ValueType::Boolean)) = r {
                let wanted = "a list or a string on its right";
                found(right.span, Mismatch::Operand { operator: "in", found: wrong, wanted });
            }
            Some(ValueType::Boolean)
        }
        BinaryOp::Add => match (l?, r?) {
            (ValueType::Text, _) | (_, ValueType::Text) => Some(ValueType::Text),
            (ValueType::Null | ValueType::Object, _) | (_, ValueType::Null | ValueType::Object) => {
                None
            }
            (a @ ValueType::List(_), ValueType::List(_)) => Some(a),
            (ValueType::List(_), wrong) => {
                let wanted = "two lists";
                found(right.span, Mismatch::Operand { operator: "+", found: wrong, wanted });
                None
            }
            (wrong, ValueType::List(_)) => {
                let wanted = "two lists";
                found(left.span, Mismatch::Operand { operator: "+", found: wrong, wanted });
                None
            }
            (ValueType::Date, _) | (_, ValueType::Date) => None,
            _ => Some(ValueType::Number),
        },
        // `list * 2` repeats.
        BinaryOp::Multiply => {
            let repeats = |t: &Option<ValueType>| {
                matches!(t, None | Some(ValueType::List(_) | ValueType::Text))
            };
            (!repeats(&l) && !repeats(&r)).then(|| {
                number(left, l.as_ref(), "*", known, found);
                number(right, r.as_ref(), "*", known, found);
                ValueType::Number
            })
        }
        BinaryOp::Subtract | BinaryOp::Divide | BinaryOp::Remainder => {
            let operator = match op {
                BinaryOp::Subtract => "-",
                BinaryOp::Divide => "/",
                _ => "%",
            };
            number(left, l.as_ref(), operator, known, found);
            number(right, r.as_ref(), operator, known, found);
            let dates = l == Some(ValueType::Date) || r == Some(ValueType::Date);
            (!dates).then_some(ValueType::Number)
        }
    }
}

/// Whether two values are of types that are never alike, however they are converted.
fn alien(left: &Expr, l: &ValueType, right: &Expr, r: &ValueType, known: &Known<'_>) -> bool {
    let coercion = known.coercion;
    let cannot = |expr: &Expr, is: &ValueType, wanted: &ValueType| {
        coercion.rejects(expr, wanted).is_some() || coercion.never(is, wanted)
    };
    // A string that is not a number is not the text of a number either.
    let words = |expr: &Expr, other: &ValueType| {
        matches!(expr.kind, ExprKind::Literal(Literal::String(_)))
            && coercion.rejects(expr, other).is_some()
    };
    words(left, r) || words(right, l) || (cannot(left, l, r) && cannot(right, r, l))
}
