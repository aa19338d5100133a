//! Types of expressions, with the tables of two languages.

#![allow(clippy::unwrap_used)]

use agentir_diagnostics::{Span, Spanned};
use agentir_expr::ValueType::{Boolean, Date, List, Number, Object, Text};
use agentir_expr::{BinaryOp, Expr, ExprKind, Known, Literal, Path, Segment, ValueType, infer};
use agentir_lang_abl::dialect::ABL;
use agentir_lang_agent_script::dialect::AGENT_SCRIPT;

fn at() -> Span {
    Span::default()
}
fn text(value: &str) -> Expr {
    Expr::literal(Literal::String(value.into()), at())
}
fn number(value: f64) -> Expr {
    Expr::literal(Literal::Number(value), at())
}
fn variable(name: &str) -> Expr {
    Expr::path(Path::variable(Spanned::new(name.into(), at())), at())
}
fn both(op: BinaryOp, left: Expr, right: Expr) -> Expr {
    let (left, right) = (Box::new(left), Box::new(right));
    Expr::new(ExprKind::Binary { op, left, right }, at()).unwrap()
}
/// The type of an expression over variables called by their types, and how much is wrong with it.
fn inferred(expr: &Expr) -> (Option<ValueType>, usize) {
    let root = |path: &Path| match path.root.value.as_str() {
        "numbers" => Some(List(Some(Box::new(Number)))),
        name => ValueType::named(name),
    };
    let known = Known { coercion: AGENT_SCRIPT.coercion(), root: &root, function: &|_| None };
    let mut wrong = 0;
    let ty = infer(expr, &known, &mut |_, _| wrong += 1);
    (ty, wrong)
}

#[test]
fn only_what_never_converts_is_reported() {
    for (found, wanted) in [
        (List(None), Text),
        (Object, Number),
        (Number, List(None)),
        (Boolean, Date),
        (Date, Number),
    ] {
        assert!(ABL.coercion().never(&found, &wanted), "{} for {}", found.words(), wanted.words());
    }
    // Numbers in quotes, numbers as texts, milliseconds as dates, JSON as text.
    for (found, wanted) in
        [(Text, Number), (Number, Text), (Number, Date), (Text, Object), (Boolean, Text)]
    {
        assert!(!ABL.coercion().never(&found, &wanted), "{} for {}", found.words(), wanted.words());
    }
    let never = |a: &ValueType, b: &ValueType| AGENT_SCRIPT.coercion().never(a, b);
    assert!(never(&Text, &List(None)) && !never(&List(None), &Object) && !never(&Object, &Number));
    let list = |of| List(Some(Box::new(of)));
    assert!(never(&list(list(Text)), &list(Number)) && !never(&list(Text), &list(Number)));
}

#[test]
fn nothing_may_stand_for_everything() {
    for wanted in [Text, Number, Boolean, Date, List(None), Object] {
        assert!(!AGENT_SCRIPT.coercion().never(&ValueType::Null, &wanted));
    }
    assert_eq!(
        inferred(&both(BinaryOp::Is, variable("list"), Expr::literal(Literal::Null, at()))).1,
        0
    );
}

#[test]
fn constants_are_looked_at() {
    let rejects = |e: &Expr, t: &ValueType| AGENT_SCRIPT.coercion().rejects(e, t).is_some();
    assert!(rejects(&text("many"), &Number) && !rejects(&text(" 5 "), &Number));
    assert!(rejects(&text("yes"), &Boolean) && !rejects(&text("True"), &Boolean));
    assert!(!rejects(&text("{!@variables.x}"), &Number));
    let list = Expr::new(ExprKind::List(vec![number(1.0), text("two")]), at()).unwrap();
    assert!(rejects(&list, &List(Some(Box::new(Number)))) && !rejects(&list, &List(None)));
}

#[test]
fn operators_know_their_operands() {
    use BinaryOp::{Add, Greater, StrictEqual, Subtract};
    assert_eq!(inferred(&both(Add, variable("number"), number(1.0))), (Some(Number), 0));
    assert_eq!(inferred(&both(Add, text("no. "), variable("number"))), (Some(Text), 0));
    assert_eq!(inferred(&both(Add, variable("list"), number(1.0))).1, 1);
    assert_eq!(inferred(&both(Subtract, variable("list"), number(1.0))), (Some(Number), 1));
    assert_eq!(inferred(&both(Greater, variable("number"), text("high"))), (Some(Boolean), 1));
    assert_eq!(inferred(&both(Greater, variable("number"), text("5"))), (Some(Boolean), 0));
    assert_eq!(inferred(&both(StrictEqual, variable("text"), number(5.0))), (Some(Boolean), 0));
    assert_eq!(inferred(&both(StrictEqual, variable("list"), variable("text"))).1, 1);
}

#[test]
fn parts_have_types() {
    let part = |name: &str, segment| {
        let mut path = Path::variable(Spanned::new(name.into(), at()));
        path.segments.push(segment);
        inferred(&Expr::path(path, at()))
    };
    let field = |name: &str| Segment::Field(Spanned::new(name.into(), at()));
    assert_eq!(part("numbers", Segment::Index(0)), (Some(Number), 0));
    assert_eq!(part("numbers", field("length")), (Some(Number), 0));
    assert_eq!(part("numbers", field("first")), (None, 1));
    assert_eq!(part("object", field("first")), (None, 0));
    let by = |index| {
        let (base, index) = (Box::new(variable("numbers")), Box::new(index));
        inferred(&Expr::new(ExprKind::Subscript { base, index }, at()).unwrap())
    };
    assert_eq!(by(variable("number")), (Some(Number), 0));
    assert_eq!(by(variable("string")), (Some(Number), 1));
}
