//! Values for Z3: of one of several kinds, with a part for each.

use super::text::escaped;
use agentir_eval::{Date, Value, parse_number};
use agentir_expr::dialect::{Semantics, Unset};
use agentir_z3::z3::ast::{Bool, Int, Real};
use agentir_z3::z3::{FuncDecl, Sort};
use std::str::FromStr;

/// Z3's texts.
pub(crate) type Text = agentir_z3::z3::ast::String;

/// A value. At most one of the `is_*` holds; if none does and it does not fail, it is unset.
#[derive(Clone)]
pub(crate) struct Term {
    /// It has no value.
    pub(crate) fails: Bool,
    pub(crate) is_bool: Bool,
    pub(crate) is_number: Bool,
    pub(crate) is_text: Bool,
    pub(crate) is_date: Bool,
    pub(crate) is_list: Bool,
    pub(crate) is_object: Bool,
    pub(crate) bool: Bool,
    pub(crate) number: Real,
    pub(crate) text: Text,
    /// Seconds.
    pub(crate) date: Real,
    /// Items of a list, fields of an object.
    pub(crate) size: Real,
}

pub(crate) fn yes(truth: bool) -> Bool {
    Bool::from_bool(truth)
}

pub(crate) fn all(parts: &[&Bool]) -> Bool {
    Bool::and(parts)
}

pub(crate) fn any(parts: &[&Bool]) -> Bool {
    Bool::or(parts)
}

/// A number as the decimals it is written with.
pub(crate) fn real(n: f64) -> Real {
    // `Display` writes no exponents.
    let written = format!("{n}");
    let (whole, part) = written.split_once('.').unwrap_or((&written, ""));
    let denominator = format!("1{}", "0".repeat(part.len()));
    Real::from_rational_str(&format!("{whole}{part}"), &denominator)
        .unwrap_or_else(|| Int::from_i64(0).to_real())
}

impl Term {
    /// A value that is unset.
    pub(crate) fn unset() -> Self {
        let no = yes(false);
        Self {
            fails: no.clone(),
            is_bool: no.clone(),
            is_number: no.clone(),
            is_text: no.clone(),
            is_date: no.clone(),
            is_list: no.clone(),
            is_object: no.clone(),
            bool: no,
            number: real(0.0),
            text: Text::from_str("").unwrap_or_else(|_| Text::fresh_const("t")),
            date: real(0.0),
            size: real(0.0),
        }
    }

    /// A value of which nothing is known.
    pub(crate) fn open(name: &str) -> Self {
        let kind = Int::fresh_const(name);
        let is = |n: i64| kind.eq(Int::from_i64(n));
        Self {
            fails: is(7),
            is_bool: is(1),
            is_number: is(2),
            is_text: is(3),
            is_date: is(4),
            is_list: is(5),
            is_object: is(6),
            bool: Bool::fresh_const(name),
            number: Real::fresh_const(name),
            text: Text::fresh_const(name),
            date: Real::fresh_const(name),
            size: Real::fresh_const(name),
        }
    }

    pub(crate) fn of_number(number: Real) -> Self {
        Self { is_number: yes(true), number, ..Self::unset() }
    }

    /// A constant; none if Z3 cannot have it.
    pub(crate) fn constant(value: &Value) -> Option<Self> {
        let unset = Self::unset();
        Some(match value {
            Value::Undefined | Value::Null => unset,
            Value::Bool(b) => Self { is_bool: yes(true), bool: yes(*b), ..unset },
            Value::Number(n) => Self::of_number(real(*n)),
            Value::Text(text) => {
                let text = Text::from_str(&escaped(text)?).ok()?;
                Self { is_text: yes(true), text, ..unset }
            }
            Value::Date(date) => Self { is_date: yes(true), date: seconds(*date), ..unset },
            Value::List(_) | Value::Object(_) => return None,
        })
    }

    pub(crate) fn is_set(&self) -> Bool {
        any(&[
            &self.is_bool,
            &self.is_number,
            &self.is_text,
            &self.is_date,
            &self.is_list,
            &self.is_object,
        ])
    }

    /// Whether it is unset; meaningless if it fails.
    pub(crate) fn is_unset(&self) -> Bool {
        self.is_set().not()
    }

    fn is_list_or_object(&self) -> Bool {
        any(&[&self.is_list, &self.is_object])
    }
}

pub(crate) fn seconds(date: Date) -> Real {
    // Parts of a second count as well.
    let nanoseconds = date.nanoseconds().to_string();
    Real::from_rational_str(&nanoseconds, "1000000000").unwrap_or_else(|| real(0.0))
}

/// Which numbers and dates texts say. Z3 does not know; it knows that equal texts say the same, and
/// is told what the constants say.
pub(crate) struct Readings {
    is_number: FuncDecl,
    number: FuncDecl,
    is_date: FuncDecl,
    date: FuncDecl,
}

impl Readings {
    pub(crate) fn new() -> Self {
        let (text, real, bool) = (Sort::string(), Sort::real(), Sort::bool());
        Self {
            is_number: FuncDecl::new("is_number", &[&text], &bool),
            number: FuncDecl::new("number", &[&text], &real),
            is_date: FuncDecl::new("is_date", &[&text], &bool),
            date: FuncDecl::new("date", &[&text], &real),
        }
    }

    pub(crate) fn is_number(&self, text: &Text) -> Bool {
        self.is_number.apply(&[text]).as_bool().unwrap_or_else(|| yes(false))
    }

    pub(crate) fn number(&self, text: &Text) -> Real {
        self.number.apply(&[text]).as_real().unwrap_or_else(|| real(0.0))
    }

    pub(crate) fn is_date(&self, text: &Text) -> Bool {
        self.is_date.apply(&[text]).as_bool().unwrap_or_else(|| yes(false))
    }

    pub(crate) fn date(&self, text: &Text) -> Real {
        self.date.apply(&[text]).as_real().unwrap_or_else(|| real(0.0))
    }

    /// What a constant says.
    pub(crate) fn told(&self, text: &str) -> Option<Bool> {
        let term = Text::from_str(&escaped(text)?).ok()?;
        let number = match parse_number(text) {
            Some(n) => all(&[&self.is_number(&term), &self.number(&term).eq(real(n))]),
            None => self.is_number(&term).not(),
        };
        let date = match Date::parse(text) {
            Some(d) => all(&[&self.is_date(&term), &self.date(&term).eq(seconds(d))]),
            None => self.is_date(&term).not(),
        };
        Some(all(&[&number, &date]))
    }

    /// Whether a value counts as a number in ABL's order and in arithmetic, and which.
    pub(crate) fn counts(&self, term: &Term) -> (Bool, Real) {
        let said = all(&[&term.is_text, &self.is_number(&term.text)]);
        let counts = any(&[&term.is_unset(), &term.is_bool, &term.is_number, &said, &term.is_list]);
        let one = term.bool.ite(&real(1.0), &real(0.0));
        let number = term.is_bool.ite(
            &one,
            &term.is_number.ite(
                &term.number,
                &said.ite(&self.number(&term.text), &term.is_list.ite(&term.size, &real(0.0))),
            ),
        );
        (counts, number)
    }

    /// `==` of ABL and ADL. Lists and objects are equal or not as Z3 likes.
    pub(crate) fn equal(&self, a: &Term, b: &Term) -> Bool {
        let says = |text: &Term, number: &Term| {
            all(&[
                &text.is_text,
                &number.is_number,
                &self.is_number(&text.text),
                &self.number(&text.text).eq(&number.number),
            ])
        };
        any(&[&same_kind(a, b), &says(a, b), &says(b, a)])
    }

    /// `==` of Agent Script.
    pub(crate) fn strictly_equal(&self, a: &Term, b: &Term) -> Bool {
        let counts = |bool: &Term, number: &Term| {
            let one = bool.bool.ite(&real(1.0), &real(0.0));
            all(&[&bool.is_bool, &number.is_number, &number.number.eq(&one)])
        };
        any(&[&same_kind(a, b), &counts(a, b), &counts(b, a)])
    }

    /// Whether `a` is less than `b`, whether they are equal in order, and whether comparing fails.
    pub(crate) fn order(&self, a: &Term, b: &Term, semantics: &Semantics) -> (Bool, Bool, Bool) {
        let dates = all(&[&a.is_date, &b.is_date]);
        let (less_date, same_date) = (a.date.lt(&b.date), a.date.eq(&b.date));
        if semantics.ordering == agentir_expr::dialect::Ordering::AsNumbers {
            let ((is_a, x), (is_b, y)) = (self.counts(a), self.counts(b));
            let numbers = all(&[&is_a, &is_b]);
            let said = all(&[
                &a.is_text,
                &b.is_text,
                &is_a.not(),
                &is_b.not(),
                &self.is_date(&a.text),
                &self.is_date(&b.text),
            ]);
            let (p, q) = (self.date(&a.text), self.date(&b.text));
            let pick = |n: &Bool, s: &Bool, d: &Bool| {
                any(&[&all(&[&numbers, n]), &all(&[&said, s]), &all(&[&dates, d])])
            };
            return (
                pick(&x.lt(&y), &p.lt(&q), &less_date),
                pick(&x.eq(&y), &p.eq(&q), &same_date),
                yes(false),
            );
        }
        let number = |t: &Term| {
            let one = t.bool.ite(&real(1.0), &real(0.0));
            (any(&[&t.is_number, &t.is_bool]), t.is_bool.ite(&one, &t.number))
        };
        let ((is_a, x), (is_b, y)) = (number(a), number(b));
        let numbers = all(&[&is_a, &is_b]);
        let texts = all(&[&a.is_text, &b.is_text]);
        let pick = |n: &Bool, t: &Bool, d: &Bool| {
            any(&[&all(&[&numbers, n]), &all(&[&texts, t]), &all(&[&dates, d])])
        };
        (
            pick(&x.lt(&y), &a.text.str_lt(&b.text), &less_date),
            pick(&x.eq(&y), &a.text.eq(&b.text), &same_date),
            any(&[&numbers, &texts, &dates]).not(),
        )
    }

    pub(crate) fn truthy(&self, term: &Term, semantics: &Semantics) -> Bool {
        let empty = term.text.length().eq(Int::from_i64(0));
        let mut text = all(&[&term.is_text, &empty.not()]);
        if semantics.false_text_is_falsy
            && let Ok(no) = Text::from_str("false")
        {
            text = all(&[&text, &term.text.eq(&no).not()]);
        }
        any(&[
            &all(&[&term.is_bool, &term.bool]),
            &all(&[&term.is_number, &term.number.eq(real(0.0)).not()]),
            &text,
            &term.is_date,
            &all(&[&term.is_list_or_object(), &term.size.gt(real(0.0))]),
        ])
    }

    /// A number for arithmetic, and whether there is none.
    pub(crate) fn operand(&self, term: &Term, semantics: &Semantics) -> (Bool, Real) {
        let (counts, number) = self.counts(term);
        let is = if semantics.unset_number == Unset::Nothing {
            counts
        } else {
            any(&[&term.is_number, &term.is_bool])
        };
        (any(&[&term.fails, &is.not()]), number)
    }
}

fn same_kind(a: &Term, b: &Term) -> Bool {
    let both = |a: &Bool, b: &Bool, equal: &Bool| all(&[a, b, equal]);
    let whole = Bool::fresh_const("equal");
    any(&[
        &all(&[&a.is_unset(), &b.is_unset()]),
        &both(&a.is_bool, &b.is_bool, &a.bool.eq(&b.bool)),
        &both(&a.is_number, &b.is_number, &a.number.eq(&b.number)),
        &both(&a.is_text, &b.is_text, &a.text.eq(&b.text)),
        &both(&a.is_date, &b.is_date, &a.date.eq(&b.date)),
        &both(&a.is_list, &b.is_list, &whole),
        &both(&a.is_object, &b.is_object, &whole),
    ])
}

/// `is` of Agent Script.
pub(crate) fn is(a: &Term, b: &Term) -> Bool {
    same_kind(a, b)
}
