//! The tables of the crate's documentation, row by row, and functions.

#![allow(clippy::unwrap_used, missing_docs)]

use agentir_diagnostics::{Span, Spanned};
use agentir_eval::{Environment, EvalError, State, Value, evaluate, text};
use agentir_expr::dialect::Semantics;
use agentir_expr::{BinaryOp, Dialect, Expr, ExprKind, Literal, Name, Path, Segment, UnaryOp};
use agentir_lang_abl::dialect::ABL;
use agentir_lang_adl::dialect::ADL;
use agentir_lang_agent_script::dialect::AGENT_SCRIPT;

fn node(kind: ExprKind) -> Expr {
    Expr::new(kind, Span::default()).unwrap()
}

fn name(text: &str) -> Spanned<Name> {
    Spanned::new(text.into(), Span::default())
}

fn literal(literal: Literal) -> Expr {
    Expr::literal(literal, Span::default())
}

fn n(n: f64) -> Expr {
    literal(Literal::Number(n))
}

fn s(text: &str) -> Expr {
    literal(Literal::String(text.into()))
}

fn x() -> Expr {
    node(ExprKind::Path(Path::variable(name("x"))))
}

fn op(op: BinaryOp, left: Expr, right: Expr) -> Expr {
    node(ExprKind::Binary { op, left: Box::new(left), right: Box::new(right) })
}

fn call(function: &str, args: Vec<Expr>) -> Expr {
    node(ExprKind::Call { function: name(function), args })
}

/// The values in ABL, Agent Script and ADL as text, `x` being unset; `fails` for an error.
fn all(abl: &Expr, script: &Expr, adl: &Expr) -> [String; 3] {
    let shown = |expr: &Expr, dialect| {
        evaluate(expr, &State::new(), dialect).map_or("fails".to_owned(), |v| v.to_string())
    };
    [shown(abl, ABL), shown(script, AGENT_SCRIPT), shown(adl, ADL)]
}

fn same(expr: &Expr) -> [String; 3] {
    all(expr, expr, expr)
}

/// `==` and `!=` are operators of their own in Agent Script; ADL's `!=` is the negation of `==`.
fn equal(left: Expr, right: Expr) -> [String; 3] {
    all(
        &op(BinaryOp::Equal, left.clone(), right.clone()),
        &op(BinaryOp::StrictEqual, left.clone(), right.clone()),
        &op(BinaryOp::Equal, left, right),
    )
}

fn unequal(left: Expr, right: Expr) -> [String; 3] {
    let not = op(BinaryOp::Equal, left.clone(), right.clone());
    all(
        &op(BinaryOp::NotEqual, left.clone(), right.clone()),
        &op(BinaryOp::StrictNotEqual, left, right),
        &node(ExprKind::Unary { op: UnaryOp::Not, operand: Box::new(not) }),
    )
}

#[test]
fn unset_values() {
    let null = || literal(Literal::Null);
    assert_eq!(equal(x(), null()), ["true", "true", "true"]);
    assert_eq!(equal(x(), n(0.0)), ["false", "false", "false"]);
    assert_eq!(equal(x(), s("")), ["false", "false", "false"]);
    assert_eq!(unequal(x(), n(5.0)), ["true", "true", "true"]);
    assert_eq!(unequal(x(), null()), ["true", "false", "false"]);
    assert_eq!(same(&op(BinaryOp::Less, x(), n(5.0))), ["true", "fails", "fails"]);
    assert_eq!(same(&op(BinaryOp::Add, x(), n(1.0))), ["1", "fails", "fails"]);
    let field = Path { segments: vec![Segment::Field(name("f"))], ..Path::variable(name("x")) };
    assert_eq!(same(&node(ExprKind::Path(field))), ["undefined", "fails", "undefined"]);
    let list = node(ExprKind::List(vec![n(1.0)]));
    assert_eq!(same(&op(BinaryOp::In, x(), list)), ["false", "false", "false"]);
    assert_eq!(same(&op(BinaryOp::Contains, x(), s("a"))), ["false", "false", "false"]);
    let not = node(ExprKind::Unary { op: UnaryOp::Not, operand: Box::new(x()) });
    assert_eq!(same(&not), ["true", "true", "true"]);
    let shown = |dialect: Dialect| text(&Value::Null, dialect.semantics()).to_string();
    assert_eq!([ABL, AGENT_SCRIPT, ADL].map(shown), ["", "None", ""]);
}

#[test]
fn other_differences() {
    let truth = |b| literal(Literal::Bool(b));
    let not_false = node(ExprKind::Unary { op: UnaryOp::Not, operand: Box::new(s("false")) });
    assert_eq!(same(&not_false), ["true", "false", "false"]);
    assert_eq!(equal(s("5"), n(5.0)), ["true", "false", "true"]);
    assert_eq!(equal(truth(true), n(1.0)), ["false", "true", "false"]);
    assert_eq!(same(&op(BinaryOp::Less, s("10"), n(9.0))), ["false", "fails", "fails"]);
    assert_eq!(same(&op(BinaryOp::Less, s("b"), s("c"))), ["fails", "true", "true"]);
    assert_eq!(same(&op(BinaryOp::Less, s("b"), n(9.0))), ["fails", "fails", "fails"]);
    assert_eq!(same(&op(BinaryOp::Less, x(), s("2026-01-31"))), ["false", "fails", "fails"]);
    let (early, late) = (s("2026-01-31"), s("2026-02-01T08:00:00Z"));
    assert_eq!(same(&op(BinaryOp::Less, early, late)), ["true", "true", "true"]);
    let list = node(ExprKind::List(vec![n(1.0), n(2.0)]));
    assert_eq!(same(&op(BinaryOp::Less, list, n(3.0))), ["true", "fails", "fails"]);
    let and = node(ExprKind::And(vec![n(2.0), s("a")]));
    assert_eq!(same(&and), ["true", "\"a\"", "true"]);
    assert_eq!(same(&op(BinaryOp::Remainder, n(7.0), n(-4.0))), ["3", "-1", "-1"]);
    assert_eq!(same(&op(BinaryOp::Divide, n(7.0), n(0.0))), ["fails", "fails", "fails"]);
    assert_eq!(same(&op(BinaryOp::Multiply, n(1e300), n(1e300))), ["fails", "fails", "fails"]);
    assert_eq!(same(&op(BinaryOp::Add, s("id "), n(7.0))), ["\"id 7\"", "\"id 7\"", "\"id 7\""]);
    assert_eq!(same(&op(BinaryOp::Add, s("2"), n(7.0))), ["9", "\"27\"", "\"27\""]);
}

#[test]
fn functions() {
    let shown = |function: &str, args: Vec<Expr>| {
        evaluate(&call(function, args), &State::new(), ABL)
            .map_or_else(|e| e.to_string(), |v| v.to_string())
    };
    assert_eq!(shown("DIV", vec![n(1.0), n(0.0)]), "null");
    assert_eq!(shown("ADD", vec![s("2"), n(3.0)]), "5");
    assert_eq!(shown("ROUND", vec![n(2.345), n(2.0)]), "2.35");
    assert_eq!(shown("UPPER", vec![x()]), "\"\"");
    assert_eq!(shown("MASK", vec![s("12345678"), s("last4")]), "\"****5678\"");
    assert_eq!(shown("MASK", vec![s("123"), s("last4")]), "\"***\"");
    assert_eq!(shown("FORMAT_CURRENCY", vec![n(1234.5), s("USD")]), "\"$1,234.50\"");
    assert_eq!(shown("FORMAT_DATE", vec![s("2026-01-31"), s("MMM DD, YYYY")]), "\"Jan 31, 2026\"");
    assert_eq!(shown("ORDINAL", vec![n(112.0)]), "\"112th\"");
    assert_eq!(shown("ORDINAL", vec![n(22.0)]), "\"22nd\"");
    assert_eq!(shown("TO_NUMBER", vec![s("abc")]), "null");
    assert_eq!(shown("LENGTH", vec![s("größe")]), "5");
    assert_eq!(shown("LENGTH", vec![n(5.0)]), "0");
    assert_eq!(shown("COALESCE", vec![x(), n(0.0)]), "0");
    assert_eq!(shown("REGEX_EXTRACT", vec![s("room 12"), s(r"(\d+)"), n(1.0)]), "\"12\"");
    assert_eq!(shown("REGEX_REPLACE", vec![s("ab"), s("(a)"), s("$1$1")]), "\"aab\"");
    assert_eq!(shown("SUBSTRING", vec![s("abc"), n(1.0), n(2.0)]), "\"b\"");
    assert_eq!(shown("REPEAT", vec![s("abc"), n(1e9)]), "the value would be too large");
    assert_eq!(shown("NOW", vec![]), "the value comes from outside");
    assert_eq!(shown("ADD", vec![n(1.0)]), "`ADD` does not take these arguments");
    assert_eq!(shown("contains_pii", vec![s("a")]), "what `contains_pii` gives is not known");
}

struct Fixed;

impl Environment for Fixed {
    fn path(&self, _: &Path, _: &Semantics) -> Result<Value, EvalError> {
        Ok(Value::Undefined)
    }

    fn now(&self) -> Option<i64> {
        Some(1_767_225_600_000)
    }

    fn random(&self) -> Option<u64> {
        Some(1)
    }
}

#[test]
fn the_environment_gives_time_and_chance() {
    let shown = |function| evaluate(&call(function, vec![]), &Fixed, ABL).unwrap();
    assert_eq!(shown("NOW"), Value::from("2026-01-01T00:00:00Z"));
    assert_eq!(shown("UNIQUE_ID"), Value::from("BBBBBB"));
}

/// Values that double with each step are shared in memory, but not in time.
#[test]
fn values_stay_bounded() {
    let mut state = State::new();
    state.set("x", Value::from("a"));
    let twice = node(ExprKind::List(vec![x(), x()]));
    let mut steps = 0;
    let error = loop {
        match evaluate(&twice, &state, ABL) {
            Ok(value) => state.set("x", value),
            Err(error) => break error,
        }
        steps += 1;
    };
    assert_eq!((error, steps), (EvalError::TooLarge, 18));
}
