//! Properties of inline text: printing and parsing round-trips, and nothing panics.

#![allow(clippy::unwrap_used, missing_docs)]

use agentir_diagnostics::{Diagnostic, FileId, Span, Spanned};
use agentir_expr::{BinaryOp, Expr, ExprKind, Literal, Name, ObjectEntry, Path, Segment, UnaryOp};
use agentir_lang_abl::inline;
use agentir_syntax::inline::InlineText;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

fn spanned<T>(value: T) -> Spanned<T> {
    Spanned::new(value, Span::default())
}

fn node(kind: ExprKind) -> Expr {
    Expr::new(kind, Span::default()).unwrap()
}

fn name() -> impl Strategy<Value = Name> {
    prop_oneof![
        Just("in"),
        Just("is"),
        Just("set"),
        Just("contains"),
        Just("abl"),
        Just("before"),
        Just("a"),
        Just("b_1"),
        Just("größe"),
        Just("UPPER"),
    ]
    .prop_map(Name::new)
}

/// Names of members and fields, which may be keywords.
fn member() -> impl Strategy<Value = Name> {
    prop_oneof![4 => name(), 1 => prop_oneof![
        Just("and"), Just("not"), Just("true"), Just("null"), Just("0"), Just("b c"), Just(""), Just("x*y"),
    ]
    .prop_map(Name::new)]
}

fn literal() -> impl Strategy<Value = Literal> {
    prop_oneof![
        Just(Literal::Null),
        Just(Literal::Undefined),
        any::<bool>().prop_map(Literal::Bool),
        (-1e9..1e9f64).prop_map(Literal::Number),
        (-9i32..9).prop_map(|n| Literal::Number(n.into())),
        ".{0,12}".prop_map(|s| Literal::String(s.into())),
        r#"["'\\/{}a-c\n\t]{0,8}"#.prop_map(|s| Literal::String(s.into())),
        r"[a-c/.*]{1,4}(\\[dws])?(\[[a-c/]\])?".prop_map(|s| Literal::Regex(s.into())),
    ]
}

fn segment() -> impl Strategy<Value = Segment> {
    prop_oneof![
        member().prop_map(|m| Segment::Field(spanned(m))),
        any::<u32>().prop_map(Segment::Index),
    ]
}

fn path() -> impl Strategy<Value = Path> {
    (name(), prop::collection::vec(segment(), 0..4)).prop_map(|(root, segments)| Path {
        namespace: None,
        root: spanned(root),
        segments,
    })
}

fn binary_op() -> impl Strategy<Value = BinaryOp> {
    use BinaryOp::*;
    prop::sample::select(vec![
        Implies,
        Equal,
        NotEqual,
        Less,
        LessEqual,
        Greater,
        GreaterEqual,
        In,
        NotIn,
        Matches,
        Contains,
        StartsWith,
        EndsWith,
        Add,
        Subtract,
        Multiply,
        Divide,
        Remainder,
    ])
}

fn expr() -> impl Strategy<Value = Expr> {
    let input = prop_oneof![
        literal().prop_map(|l| node(ExprKind::Literal(l))),
        path().prop_map(|p| node(ExprKind::Path(p))),
    ];
    input.prop_recursive(6, 48, 4, |inner| {
        let several = prop::collection::vec(inner.clone(), 2..4);
        let args = prop::collection::vec(inner.clone(), 0..3);
        let one = inner.clone().prop_map(Box::new);
        let entry = prop_oneof![
            name().prop_map(|n| ObjectEntry { key: spanned(n), value: None }),
            (member(), inner).prop_map(|(n, e)| ObjectEntry { key: spanned(n), value: Some(e) }),
        ];
        prop_oneof![
            args.clone().prop_map(ExprKind::List),
            prop::collection::vec(entry, 0..3).prop_map(ExprKind::Object),
            (name(), args.clone())
                .prop_map(|(f, args)| ExprKind::Call { function: spanned(f), args }),
            (one.clone(), name(), args).prop_map(|(receiver, m, args)| ExprKind::Method {
                receiver,
                method: spanned(m),
                args
            }),
            (one.clone(), segment()).prop_map(|(base, segment)| ExprKind::Member { base, segment }),
            (
                prop::sample::select(vec![UnaryOp::Not, UnaryOp::Negate, UnaryOp::IsNumber]),
                one.clone()
            )
                .prop_map(|(op, operand)| ExprKind::Unary { op, operand }),
            (binary_op(), one.clone(), one.clone())
                .prop_map(|(op, left, right)| ExprKind::Binary { op, left, right }),
            several.clone().prop_map(ExprKind::And),
            several.prop_map(ExprKind::Or),
            (one.clone(), any::<bool>())
                .prop_map(|(operand, negated)| ExprKind::IsSet { operand, negated }),
            (one.clone(), one.clone(), one).prop_map(|(condition, then, otherwise)| {
                ExprKind::Conditional { condition, then, otherwise }
            }),
        ]
        .prop_map(node)
    })
}

fn parse_everything(text: &str) {
    let input = InlineText::verbatim(text, FileId(0), 0);
    let mut problems: Vec<Diagnostic> = Vec::new();
    inline::expr(input, &mut problems);
    inline::condition(input, false, &mut problems);
    inline::condition(input, true, &mut problems);
    inline::template(input, &mut problems);
    inline::path(input, &mut problems);
    inline::type_expr(input, &mut problems);
    inline::tool_signature(input, &mut problems);
    inline::constraint_rule(input, &mut problems);
    inline::action(input, &mut problems);
    inline::call(input, &mut problems);
    inline::store(input, &mut problems);
    inline::chain(input, &mut problems);
    inline::assignment(input, &mut problems);
    inline::transform_header(input, &mut problems);
    inline::sort_by(input, &mut problems);
    inline::routing_rule(input, &mut problems);
    inline::route_action(input, &mut problems);
    inline::protocol_header(input, &mut problems);
    inline::flow_collection(input, &mut problems);
    for problem in problems {
        let range = problem.primary.span.range();
        assert!(text.get(range).is_some(), "{problem:?} is not in {text:?}");
        let message = &problem.message;
        assert!(!message.ends_with('.') && !message.starts_with(char::is_uppercase), "{message}");
    }
}

/// Texts that the parser accepts more of than of random characters.
fn almost_valid() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "a",
        "b.c",
        " ",
        " AND ",
        "NOT ",
        "(",
        ")",
        "[",
        "]",
        "{",
        "}",
        "{{",
        "}}",
        "{{#if ",
        "{{/if}}",
        "\"",
        "'",
        "/",
        "\\",
        ":",
        ": ",
        ",",
        "=",
        "==",
        "->",
        "-",
        ".",
        "*",
        "?",
        "|",
        "IS SET",
        "IS ",
        "REQUIRE ",
        " BEFORE ",
        "calling ",
        "ESCALATE ",
        "with ",
        "INTENT",
        "1",
        "2.5",
        "é",
        "≠",
        "→",
        "@x",
        "\n",
    ]);
    prop::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

proptest! {
    // The same cases in every run, so that results are reproducible.
    #![proptest_config(ProptestConfig {
        cases: 2000,
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(1),
        ..ProptestConfig::default()
    })]

    #[test]
    fn printing_and_parsing_round_trips(e in expr()) {
        let text = e.to_string();
        let mut problems = Vec::new();
        let read = inline::expr(InlineText::verbatim(&text, FileId(0), 0), &mut problems);
        prop_assert_eq!(problems, vec![], "{}", text);
        prop_assert_eq!(read.unwrap(), e, "{}", text);
    }

    #[test]
    fn nothing_panics_on_any_text(text in ".{0,60}") {
        parse_everything(&text);
    }

    #[test]
    fn nothing_panics_on_almost_valid_text(text in almost_valid()) {
        parse_everything(&text);
    }
}
