//! What is printed of an expression is read as the same expression.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "tests end by panicking"
)]

use agentir_diagnostics::{FileId, Span, Spanned};
use agentir_expr::{BinaryOp, Expr, ExprKind, Literal, Name, ObjectEntry, Path, Segment, UnaryOp};
use agentir_ir_json::Parsers;
use agentir_ir_json::{Mode, read, to_value};
use agentir_lang_abl::dialect::ABL;
use agentir_lang_agent_script::dialect::AGENT_SCRIPT;
use proptest::prelude::*;

static PARSERS: Parsers = Parsers {
    inline: &agentir_lang_abl::INLINE_PARSERS,
    templates: &[(AGENT_SCRIPT, agentir_lang_agent_script::template)],
    dialects: || vec![ABL, AGENT_SCRIPT],
};

fn at() -> Span {
    Span::default()
}

fn name() -> impl Strategy<Value = Spanned<Name>> {
    const NAMES: &[&str] =
        &["a", "b1", "_x", "größe", "IN", "contains", "is", "SET", "abl", "nullable", "$v"];
    prop::sample::select(NAMES).prop_map(|name| Spanned::new(Name::new(name), at()))
}

fn segment() -> impl Strategy<Value = Segment> {
    prop_oneof![
        name().prop_map(Segment::Field),
        (0u32..20).prop_map(Segment::Index),
        prop::sample::select(&["a b", "7", "x-y", "\"", ""][..])
            .prop_map(|text| Segment::Field(Spanned::new(Name::new(text), at()))),
    ]
}

fn path() -> impl Strategy<Value = Path> {
    let namespace = prop::option::of(name());
    (namespace, name(), prop::collection::vec(segment(), 0..3))
        .prop_map(|(namespace, root, segments)| Path { namespace, root, segments })
}

fn literal() -> impl Strategy<Value = Literal> {
    prop_oneof![
        Just(Literal::Null),
        Just(Literal::Undefined),
        any::<bool>().prop_map(Literal::Bool),
        (-1e6..1e6).prop_map(Literal::Number),
        (-5i32..5).prop_map(|n| Literal::Number(f64::from(n))),
        prop::sample::select(&["", "a\"b", "\\d\n", "it's", "2026-01-31", "{{x}}"][..])
            .prop_map(|text| Literal::String(text.into())),
        prop::sample::select(&["a/b", "\\d+", "[a-z]\\\\", "x"][..])
            .prop_map(|text| Literal::Regex(text.into())),
        prop::sample::select(&["2026-01-31", "2026-01-31T08:30:00Z"][..])
            .prop_map(|text| Literal::Date(text.into())),
    ]
}

fn node(kind: ExprKind) -> Expr {
    Expr::new(kind, at()).unwrap()
}

fn operator() -> impl Strategy<Value = BinaryOp> {
    use BinaryOp::{
        Add, Contains, Divide, EndsWith, Greater, GreaterEqual, Implies, In, Is, IsNot, Less,
        LessEqual, Matches, Multiply, NotIn, Remainder, StartsWith, StrictEqual, StrictNotEqual,
        Subtract,
    };
    prop::sample::select(vec![
        Add,
        Contains,
        Divide,
        EndsWith,
        Greater,
        GreaterEqual,
        Implies,
        In,
        Is,
        IsNot,
        Less,
        LessEqual,
        Matches,
        Multiply,
        NotIn,
        Remainder,
        StartsWith,
        StrictEqual,
        StrictNotEqual,
        Subtract,
    ])
}

fn expr() -> impl Strategy<Value = Expr> {
    let leaf = prop_oneof![
        path().prop_map(|path| Expr::path(path, at())),
        literal().prop_map(|literal| Expr::literal(literal, at())),
        Just(node(ExprKind::Ellipsis)),
    ];
    leaf.prop_recursive(4, 32, 3, |inner| {
        let boxed = inner.clone().prop_map(Box::new).boxed();
        let items = prop::collection::vec(inner.clone(), 0..3).boxed();
        let parts = prop::collection::vec(inner.clone(), 2..4).boxed();
        let unary = prop::sample::select(
            &[UnaryOp::Not, UnaryOp::Negate, UnaryOp::Plus, UnaryOp::IsNumber][..],
        );
        let entry =
            (name(), prop::option::of(inner)).prop_map(|(key, value)| ObjectEntry { key, value });
        prop_oneof![
            items.clone().prop_map(ExprKind::List),
            prop::collection::vec(entry, 0..3).prop_map(ExprKind::Object),
            (name(), items.clone()).prop_map(|(function, args)| ExprKind::Call { function, args }),
            (boxed.clone(), name(), items)
                .prop_filter(
                    "languages with namespaces have functions instead",
                    |(receiver, ..)| {
                        receiver.as_path().is_none_or(|path| path.namespace.is_none())
                    }
                )
                .prop_map(|(receiver, method, args)| ExprKind::Method { receiver, method, args }),
            (unary, boxed.clone()).prop_map(|(op, operand)| ExprKind::Unary { op, operand }),
            (operator(), boxed.clone(), boxed.clone())
                .prop_map(|(op, left, right)| ExprKind::Binary { op, left, right }),
            parts.clone().prop_map(ExprKind::And),
            parts.prop_map(ExprKind::Or),
            (boxed.clone(), any::<bool>())
                .prop_map(|(operand, negated)| ExprKind::IsSet { operand, negated }),
            (boxed.clone(), boxed.clone(), boxed.clone()).prop_map(
                |(condition, then, otherwise)| ExprKind::Conditional { condition, then, otherwise }
            ),
            (boxed, segment()).prop_map(|(base, segment)| ExprKind::Member { base, segment }),
        ]
        .prop_map(node)
    })
}

/// Reads an expression in an agent of Agent Script, which has the most forms.
fn read_expr(text: &str) -> Expr {
    let text = serde_json::to_string(text).unwrap();
    let document = format!(
        r#"{{"ir_version": "1.0", "metadata": {{"name": "a", "dialect": "agent-script"}},
            "on_start": {{"set": [{{"variable": "x", "expression": {text}}}]}}}}"#
    );
    let mut problems = Vec::new();
    let document = read(FileId(0), &document, &PARSERS, &mut problems);
    assert!(problems.is_empty(), "{text}: {problems:#?}");
    match document.program.agents[0].on_start.0.as_slice() {
        [agentir_ir::Statement::Set(set)] => set.value.clone(),
        other => panic!("{other:?}"),
    }
}

/// Texts of the parts of expressions in any order.
fn tokens() -> impl Strategy<Value = String> {
    const TOKENS: &[&str] = &[
        "a",
        "b.c",
        "1",
        "-2",
        "\"s\"",
        "true",
        "null",
        "f(",
        "(",
        ")",
        "[",
        "]",
        ",",
        "*",
        "**",
        "+",
        "-",
        "/",
        "%",
        "<",
        ">=",
        "==",
        "AND",
        "OR",
        "NOT",
        "IN",
        "IS SET",
        "IS NOT SET",
        "?",
        ":",
        ".d",
        "[0]",
        "...",
    ];
    let operand = prop::sample::select(&["a", "b.c", "1", "f(a)", "[1]", "(a)"][..]);
    let token = prop::sample::select(TOKENS);
    prop_oneof![
        prop::collection::vec(token, 1..6).prop_map(|tokens| tokens.join(" ")),
        (prop::collection::vec((operand, prop::sample::select(TOKENS)), 1..4), "a?").prop_map(
            |(pairs, last)| {
                let mut text: String = pairs.iter().map(|(a, b)| format!("{a} {b} ")).collect();
                text.push_str(&last);
                text
            }
        ),
    ]
}

/// Reads a text as an expression of an agent, if it is one.
fn parse(dialect: &str, text: &str) -> Option<Expr> {
    let text = serde_json::to_string(text).unwrap();
    let document = format!(
        r#"{{"ir_version": "1.0", "metadata": {{"name": "a", "dialect": "{dialect}"}},
            "on_start": {{"set": [{{"variable": "x", "expression": {text}}}]}}}}"#
    );
    let mut problems = Vec::new();
    let document = read(FileId(0), &document, &PARSERS, &mut problems);
    match document.program.agents[0].on_start.0.as_slice() {
        [agentir_ir::Statement::Set(set)] if problems.is_empty() => Some(set.value.clone()),
        _ => None,
    }
}

#[test]
fn signs_that_mean_nothing_are_refused() {
    for text in ["x ** 3", "*n", "a * * b", "[a] + *b", "f(**b)", "- * a"] {
        for dialect in ["abl", "agent-script"] {
            assert_eq!(parse(dialect, text), None, "{text}");
        }
    }
    // Only a language that has it spreads lists.
    assert_eq!(parse("abl", "UPPER(*b)"), None);
    assert!(parse("agent-script", "max(*b)").is_some());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn printed_expressions_are_read_as_they_were(expr in expr()) {
        let text = to_value(&expr, Mode::Published);
        let text = text.as_str().unwrap();
        let read = read_expr(text);
        prop_assert_eq!(&read, &expr, "{}", text);
    }

    #[test]
    fn accepted_texts_are_printed_as_they_were_read(text in tokens()) {
        for dialect in ["abl", "agent-script"] {
            let Some(first) = parse(dialect, &text) else { continue };
            let printed = to_value(&first, Mode::Published);
            let printed = printed.as_str().unwrap();
            // Every sign that is not white space, a parenthesis or a trailing comma means something.
            let signs = |text: &str| text.matches(['*', '+', '/', '%', '<', '>']).count();
            prop_assert_eq!(signs(&text), signs(printed), "{} is read as {}", text, printed);
            let second = parse(dialect, printed);
            prop_assert_eq!(second.as_ref(), Some(&first), "{} is printed as {}", text, printed);
        }
    }

    #[test]
    fn any_text_is_read_or_reported(text in "\\PC{0,40}") {
        let text = serde_json::to_string(&text).unwrap();
        let document = format!(
            r#"{{"ir_version": "1.0", "metadata": {{"name": "a", "dialect": "abl"}},
                "flow": {{"definitions": {{"a": {{"check": {text}, "respond": {text}, "then": {text}}}}}}},
                "tools": [{{"name": {text}, "returns": {{"type": {text}}}}}]}}"#
        );
        read(FileId(0), &document, &PARSERS, &mut Vec::new());
    }

    #[test]
    fn any_json_is_read_or_reported(cut in 0usize..4000, by in "[\\[\\]{}\",:0-9a-z]{0,3}") {
        let text = include_str!("document.json");
        let cut = text.floor_char_boundary(cut.min(text.len()));
        let rest = text.ceil_char_boundary((cut + by.len()).min(text.len()));
        let document = format!("{}{by}{}", &text[..cut], &text[rest..]);
        read(FileId(0), &document, &PARSERS, &mut Vec::new());
    }
}
