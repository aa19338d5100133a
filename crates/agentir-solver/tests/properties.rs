//! Properties: the solver never contradicts the evaluator, in any dialect.
//!
//! By default the cases are the same in every run, so that the result depends on the source alone.
//! `AGENTIR_SOLVER_CASES` sets the number of cases and makes them random.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

use agentir_diagnostics::{Span, Spanned};
use agentir_eval::{Outcome, State, Value, outcome};
use agentir_expr::{
    BinaryOp, Dialect, Expr, ExprKind, Literal as Constant, Name, Path, Segment, UnaryOp,
};
use agentir_lang_abl::dialect::ABL;
use agentir_lang_adl::dialect::ADL;
use agentir_lang_agent_script::dialect::AGENT_SCRIPT;
use agentir_solver::{
    Answer, Assertion, FactKind, Facts, Goal, Label, Query, Solver, Type, Verdict,
};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

fn spanned<T>(value: T) -> Spanned<T> {
    Spanned::new(value, Span::default())
}

fn node(kind: ExprKind) -> Expr {
    Expr::new(kind, Span::default()).unwrap()
}

fn constant() -> impl Strategy<Value = Constant> {
    prop_oneof![
        1 => Just(Constant::Null),
        1 => any::<bool>().prop_map(Constant::Bool),
        5 => (-3i32..6).prop_map(|n| Constant::Number(f64::from(n) / 2.0)),
        5 => text().prop_map(|s| Constant::String(s.into())),
    ]
}

fn text() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "",
        "a",
        "b",
        "ab",
        "2",
        "1.5",
        "false",
        "2026-01-31",
        "2026-02-01",
        "ü",
    ])
}

const VARIABLES: [(&str, Option<&str>); 4] =
    [("x", None), ("y", None), ("o", None), ("o", Some("f"))];

fn path(index: usize) -> Path {
    let (root, field) = VARIABLES[index % VARIABLES.len()];
    let segments = field.map(|f| Segment::Field(spanned(Name::new(f)))).into_iter().collect();
    Path { namespace: None, root: spanned(Name::new(root)), segments }
}

fn variable() -> impl Strategy<Value = Expr> {
    (0usize..VARIABLES.len()).prop_map(|i| node(ExprKind::Path(path(i))))
}

fn literal() -> impl Strategy<Value = Expr> {
    constant().prop_map(|c| Expr::literal(c, Span::default()))
}

fn binary(op: BinaryOp, left: Expr, right: Expr) -> Expr {
    node(ExprKind::Binary { op, left: Box::new(left), right: Box::new(right) })
}

fn call(function: &str, arg: Expr) -> Expr {
    node(ExprKind::Call { function: spanned(Name::new(function)), args: vec![arg] })
}

/// Comparisons of every class that the solver knows, and some that it does not.
fn atom() -> impl Strategy<Value = Expr> {
    use BinaryOp::*;
    let comparison = prop::sample::select(vec![
        Equal,
        NotEqual,
        StrictEqual,
        StrictNotEqual,
        Is,
        IsNot,
        Less,
        LessEqual,
        Greater,
        GreaterEqual,
    ]);
    let order = prop::sample::select(vec![Equal, Less, LessEqual, Greater, GreaterEqual]);
    let content = prop::sample::select(vec![Contains, StartsWith, EndsWith]);
    let sum = prop::sample::select(vec![Add, Subtract, Multiply, Divide]);
    let side = prop_oneof![variable(), literal()];
    let regex = prop::sample::select(vec!["a", "^a", "b$", "^[ab]+$", r"\d", "^$"]);
    let operand = prop::sample::select(vec![-2.0, 0.0, 0.5, 1.0, 4.0]);
    prop_oneof![
        2 => variable(),
        2 => (variable(), any::<bool>())
            .prop_map(|(x, negated)| node(ExprKind::IsSet { operand: Box::new(x), negated })),
        8 => (comparison.clone(), variable(), literal(), any::<bool>()).prop_map(|(op, x, c, turned)| {
            if turned { binary(op, c, x) } else { binary(op, x, c) }
        }),
        2 => (comparison, variable(), side).prop_map(|(op, x, y)| binary(op, x, y)),
        2 => (variable(), prop::collection::vec(literal(), 0..4), any::<bool>()).prop_map(
            |(x, items, within)| {
                binary(if within { In } else { NotIn }, x, node(ExprKind::List(items)))
            }
        ),
        3 => (content, variable(), text()).prop_map(|(op, x, t)| {
            binary(op, x, Expr::literal(Constant::String(t.into()), Span::default()))
        }),
        1 => (variable(), regex).prop_map(|(x, r)| {
            binary(Matches, x, Expr::literal(Constant::Regex(r.into()), Span::default()))
        }),
        2 => (order.clone(), variable(), 0i32..4, prop::sample::select(vec!["LENGTH", "len"])).prop_map(
            |(op, x, n, f)| {
                binary(op, call(f, x), Expr::literal(Constant::Number(n.into()), Span::default()))
            }
        ),
        1 => (variable(), prop::sample::select(vec!["IS_NUMBER", "IS_STRING", "IS_ARRAY"]))
            .prop_map(|(x, f)| call(f, x)),
        1 => variable().prop_map(|x| node(ExprKind::Unary { op: UnaryOp::IsNumber, operand: Box::new(x) })),
        2 => (order, sum, variable(), operand, literal()).prop_map(|(op, sum, x, n, c)| {
            let n = Expr::literal(Constant::Number(n), Span::default());
            binary(op, binary(sum, x, n), c)
        }),
        1 => variable().prop_map(|x| binary(Equal, call("UPPER", x), Expr::literal(Constant::String("A".into()), Span::default()))),
    ]
}

fn expr() -> impl Strategy<Value = Expr> {
    atom().prop_recursive(3, 12, 3, |inner| {
        let several = prop::collection::vec(inner.clone(), 2..4);
        let one = inner.prop_map(Box::new);
        prop_oneof![
            several.clone().prop_map(ExprKind::And),
            several.prop_map(ExprKind::Or),
            one.clone().prop_map(|operand| ExprKind::Unary { op: UnaryOp::Not, operand }),
            (one.clone(), one.clone()).prop_map(|(left, right)| ExprKind::Binary {
                op: BinaryOp::Implies,
                left,
                right
            }),
            (one.clone(), one.clone(), one).prop_map(|(condition, then, otherwise)| {
                ExprKind::Conditional { condition, then, otherwise }
            }),
        ]
        .prop_map(node)
    })
}

fn value() -> impl Strategy<Value = Value> {
    let scalar = prop_oneof![
        2 => Just(Value::Undefined),
        1 => Just(Value::Null),
        2 => any::<bool>().prop_map(Value::Bool),
        4 => (-4i32..7).prop_map(|n| Value::number(f64::from(n) / 2.0).unwrap()),
        4 => text().prop_map(Value::from),
        1 => "[ab0-9ü]{0,3}".prop_map(Value::text),
    ];
    let items = prop::collection::vec(text().prop_map(Value::from), 0..3);
    prop_oneof![
        8 => scalar.clone(),
        1 => items.prop_map(|items| Value::list(items).unwrap()),
        2 => scalar.prop_map(|v| Value::object([("f".into(), v)].into()).unwrap()),
    ]
}

fn state() -> impl Strategy<Value = State> {
    (value(), value(), value()).prop_map(|(x, y, o)| {
        let mut state = State::new();
        for (name, value) in [("x", x), ("y", y), ("o", o)] {
            if value != Value::Undefined {
                state.set(name, value);
            }
        }
        state
    })
}

fn dialect() -> impl Strategy<Value = Dialect> {
    prop::sample::select(vec![ABL, AGENT_SCRIPT, ADL])
}

fn literals(exprs: &[(Expr, bool)]) -> Vec<Assertion<'_>> {
    exprs
        .iter()
        .enumerate()
        .map(|(i, (expr, holds))| Assertion {
            test: expr.into(),
            holds: *holds,
            label: Label(u32::try_from(i).unwrap()),
        })
        .collect()
}

/// Facts that fix the values of all variables.
fn pinned(state: &State) -> Facts {
    let mut facts = Facts::new();
    for (root, field) in VARIABLES {
        if field.is_none() {
            let value = state.get(root).cloned().unwrap_or_default();
            let path = Path::variable(spanned(Name::new(root)));
            facts.add(path, FactKind::Is(value), None);
        }
    }
    facts
}

fn typed(x: Option<Type>, y: Option<Type>) -> Facts {
    let mut facts = Facts::new();
    for (name, ty) in [("x", x), ("y", y)] {
        if let Some(ty) = ty {
            let path = Path::variable(spanned(Name::new(name)));
            facts.add(path, FactKind::Type(ty), Some(Label(if name == "x" { 100 } else { 101 })));
        }
    }
    facts
}

fn types() -> impl Strategy<Value = Option<Type>> {
    prop::option::of(prop::sample::select(vec![
        Type::Text,
        Type::Number,
        Type::Integer,
        Type::Bool,
        Type::Date,
    ]))
}

fn hold(exprs: &[(Expr, bool)], state: &State, dialect: Dialect) -> bool {
    exprs.iter().all(|(expr, holds)| {
        let wanted = if *holds { Outcome::True } else { Outcome::False };
        outcome(expr, state, dialect) == wanted
    })
}

fn cases(usual: u32) -> ProptestConfig {
    let cases = std::env::var("AGENTIR_SOLVER_CASES").ok().and_then(|n| n.parse().ok());
    ProptestConfig {
        cases: cases.unwrap_or(usual),
        failure_persistence: None,
        max_shrink_iters: 400,
        rng_seed: if cases.is_some() { RngSeed::Random } else { RngSeed::Fixed(1) },
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(cases(60))]

    /// The solver does not refute conditions that a state satisfies, and its states satisfy them.
    #[test]
    fn satisfied_conditions_are_not_refuted(
        exprs in prop::collection::vec((expr(), any::<bool>()), 1..4),
        state in state(),
        dialect in dialect(),
    ) {
        let facts = Facts::new();
        let assumptions = literals(&exprs);
        let query = Query { dialect, facts: &facts, assumptions, goal: Goal::Satisfiable };
        let answer = Solver::default().solve(&query);
        if hold(&exprs, &state, dialect) {
            prop_assert!(!answer.is_unsat(), "{:?} is met by {:?}", texts(&exprs), state);
        }
        if let Answer::Sat(example) = &answer {
            prop_assert!(hold(&exprs, &example.state, dialect), "{}", example);
        }
    }

    /// If all values are fixed, the solver agrees with the evaluator.
    #[test]
    fn fixed_states_are_decided_as_the_evaluator_does(
        exprs in prop::collection::vec((expr(), any::<bool>()), 1..3),
        state in state(),
        dialect in dialect(),
    ) {
        let facts = pinned(&state);
        let assumptions = literals(&exprs);
        let query = Query { dialect, facts: &facts, assumptions, goal: Goal::Satisfiable };
        let holds = hold(&exprs, &state, dialect);
        match Solver::default().solve(&query) {
            Answer::Sat(_) => prop_assert!(holds),
            Answer::Unsat(_) => prop_assert!(!holds, "{:?} is met by {:?}", texts(&exprs), state),
            Answer::Unknown(_) => {}
        }
    }

    /// If sampling finds a state, the solver does not refute the query. Any other verdict equals
    /// the answer.
    #[test]
    fn verdicts_agree_with_answers(
        exprs in prop::collection::vec((expr(), any::<bool>()), 1..4),
        asked in (expr(), any::<bool>()),
        x in types(), y in types(),
        dialect in dialect(),
    ) {
        let facts = typed(x, y);
        let follows = Assertion { test: (&asked.0).into(), holds: asked.1, label: Label(99) };
        for goal in [Goal::Satisfiable, Goal::Implied(follows)] {
            let query = Query { dialect, facts: &facts, assumptions: literals(&exprs), goal };
            let answer = Solver::default().solve(&query);
            match Solver::default().check(&query) {
                Verdict::Sat => prop_assert!(!answer.is_unsat(), "{:?}: {:?}", texts(&exprs), answer),
                verdict => prop_assert_eq!(verdict, Verdict::from(answer)),
            }
        }
    }

    /// Cores are sufficient and minimal.
    #[test]
    fn cores_are_minimal(
        exprs in prop::collection::vec((atom(), any::<bool>()), 2..7),
        x in types(), y in types(),
        dialect in dialect(),
    ) {
        let facts = typed(x, y);
        let ask = |assumptions: Vec<Assertion<'_>>, facts: &Facts| {
            Solver::default().solve(&Query { dialect, facts, assumptions, goal: Goal::Satisfiable })
        };
        if let Answer::Unsat(core) = ask(literals(&exprs), &facts) {
            let kept = |out: Option<Label>| -> (Vec<Assertion<'_>>, Facts) {
                let stays = |label: Label| core.contains(&label) && Some(label) != out;
                let assumptions = literals(&exprs).into_iter().filter(|l| stays(l.label)).collect();
                (assumptions, typed(x.filter(|_| stays(Label(100))), y.filter(|_| stays(Label(101)))))
            };
            let (assumptions, facts) = kept(None);
            prop_assert!(ask(assumptions, &facts).is_unsat(), "the core suffices: {:?}", core);
            for label in &core {
                let (assumptions, facts) = kept(Some(*label));
                prop_assert!(!ask(assumptions, &facts).is_unsat(), "{:?} is not needed in {:?}", label, core);
            }
        }
    }

    /// Answers depend neither on the order of the assumptions nor on earlier queries.
    #[test]
    fn answers_do_not_depend_on_order(
        exprs in prop::collection::vec((expr(), any::<bool>()), 2..5),
        others in prop::collection::vec((expr(), any::<bool>()), 1..3),
        dialect in dialect(),
    ) {
        let facts = Facts::new();
        let ask = |solver: &mut Solver, assumptions: Vec<Assertion<'_>>| {
            solver.solve(&Query { dialect, facts: &facts, assumptions, goal: Goal::Satisfiable })
        };
        let alone = ask(&mut Solver::default(), literals(&exprs));
        let mut warm = Solver::default();
        ask(&mut warm, literals(&others));
        let mut turned = literals(&exprs);
        turned.reverse();
        let again = ask(&mut warm, turned);
        match (&alone, &again) {
            // Of equivalent conditions, the first one is in the core.
            (Answer::Unsat(a), Answer::Unsat(b)) => prop_assert_eq!(a.len(), b.len()),
            (a, b) => prop_assert_eq!(a, b, "{:?}", texts(&exprs)),
        }
    }

    /// A condition is equivalent to its conjunction with itself.
    #[test]
    fn idempotent_conjunctions_are_equivalent(expr in expr(), dialect in dialect()) {
        let facts = Facts::new();
        let twice = node(ExprKind::And(vec![expr.clone(), expr.clone()]));
        let sides = [&expr, &twice].map(|e| Assertion::holds(e, Label(0)));
        let [a, b] = sides;
        let query = Query { dialect, facts: &facts, assumptions: Vec::new(), goal: Goal::Equivalent(a, b) };
        let answer = Solver::default().solve(&query);
        prop_assert!(answer.example().is_none(), "{expr}: {answer:?}");
    }
}

fn texts(exprs: &[(Expr, bool)]) -> Vec<String> {
    exprs.iter().map(|(e, holds)| format!("{}{e}", if *holds { "" } else { "- " })).collect()
}
