//! Guards that cannot be evaluated: constraints, the conditions of offered actions, checks of guardrails and of steps.

use crate::AgentAnalysis;
use agentir_diagnostics::Span;
use agentir_eval::{EvalError, State, Value, evaluate};
use agentir_expr::{BinaryOp, Condition, Expr, ExprKind, Path, Segment, Visit};
use agentir_flow::cfg::Origin;
use agentir_ir::{GatherField, Node, Statement};
use rustc_hash::{FxHashMap, FxHashSet};

/// A guard, and the first of its comparisons that cannot be evaluated once its variables have values of their declared types.
#[derive(Clone, Debug)]
pub struct Guard<'a> {
    /// The guard.
    pub expr: &'a Expr,
    /// The comparison.
    pub broken: Option<BrokenComparison<'a>>,
}

/// A comparison that cannot be evaluated.
#[derive(Clone, Debug)]
pub struct BrokenComparison<'a> {
    /// The comparison.
    pub expr: &'a Expr,
    /// Why.
    pub why: EvalError,
    /// Whether it is evaluated whenever its guard is; else other parts may decide without it.
    pub is_always_evaluated: bool,
}

/// The names by which checks of guardrails read their content.
const CONTENT: [&str; 7] =
    ["content", "input", "output", "response", "tool_input", "tool_output", "text"];

/// The guards of an agent, in the order: constraints, offered actions, guardrails, steps.
pub(crate) fn guards<'a>(cx: &AgentAnalysis<'_, 'a>) -> Vec<Guard<'a>> {
    let fields = types_of_fields(cx);
    let constraints = cx.agent.constraints.constraints.iter();
    let offers = cx.index.offers.iter().filter_map(|offer| offer.available_when.as_ref());
    let rails = cx.agent.constraints.guardrails.iter().filter_map(|rail| rail.check.as_ref());
    let conditions = constraints.flat_map(|c| c.applies_when.iter().chain([&c.condition]));
    let all = conditions.chain(offers).filter_map(Condition::expr).chain(rails);
    let all = all.chain(checks(cx));
    all.map(|expr| Guard { expr, broken: broken_comparison(cx, &fields, expr) }).collect()
}

/// The types that fields declare, by the names of the fields.
pub type Fields<'a> = FxHashMap<&'a str, &'a str>;

/// The types that the fields of an agent declare.
#[must_use]
pub fn types_of_fields<'a>(cx: &AgentAnalysis<'_, 'a>) -> Fields<'a> {
    let mut fields = Fields::default();
    cx.agent.walk(&mut |node| {
        if let Node::Field(GatherField { name, ty: Some(ty), .. }) = node {
            fields.entry(name.value.as_str()).or_insert(ty.value.as_str());
        }
    });
    fields
}

/// The conditions of `CHECK` in steps, of which a part may have become a choice.
fn checks<'a>(cx: &AgentAnalysis<'_, 'a>) -> Vec<&'a Expr> {
    let cfg = cx.program.graph();
    let nodes = cfg.agent(cx.id).into_iter().flat_map(|part| part.nodes());
    let statements = nodes.filter_map(|node| match cfg.node(node)?.origin {
        Origin::Statement(statement) => Some(statement),
        _ => None,
    });
    statements.filter_map(check_of).filter_map(Condition::expr).collect()
}

/// The condition of `CHECK` that a statement stands for.
#[must_use]
pub fn check_of(statement: &Statement) -> Option<&Condition> {
    match statement {
        Statement::Check { condition, .. } => Some(condition),
        Statement::If { branches } => {
            let first = branches.first()?;
            first.condition.as_ref().filter(|condition| condition.span() == first.span)
        }
        _ => None,
    }
}

fn broken_comparison<'a>(
    cx: &AgentAnalysis<'_, 'a>,
    fields: &Fields<'_>,
    guard: &'a Expr,
) -> Option<BrokenComparison<'a>> {
    let mut found = None;
    guard.visit(&mut |part| {
        if is_ordering(part) && found.is_none() {
            found = always_fails(cx, fields, part, Unset::Never).map(|why| (part, why));
        }
        Visit::Children
    });
    let (expr, why) = found?;
    Some(BrokenComparison { expr, why, is_always_evaluated: always_evaluates(guard, expr) })
}

const fn is_ordering(expr: &Expr) -> bool {
    matches!(
        &expr.kind,
        ExprKind::Binary {
            op: BinaryOp::Less | BinaryOp::LessEqual | BinaryOp::Greater | BinaryOp::GreaterEqual,
            ..
        }
    )
}

/// Whether a part of an expression is evaluated whenever the expression is: of a chain, the others depend on the first.
fn always_evaluates(expr: &Expr, part: &Expr) -> bool {
    let mut open = vec![expr];
    let mut found = false;
    while let Some(next) = open.pop() {
        next.visit(&mut |e| {
            found |= std::ptr::eq(e, part);
            match &e.kind {
                ExprKind::And(parts) | ExprKind::Or(parts) => open.extend(parts.first()),
                ExprKind::Binary { op: BinaryOp::Implies, left, .. } => open.push(left),
                ExprKind::Conditional { condition, .. } => open.push(condition),
                _ => return Visit::Children,
            }
            Visit::Skip
        });
    }
    found
}

/// The comparisons in guards that cannot be evaluated, by where they are.
pub(crate) fn broken_comparisons(guards: &[Guard<'_>]) -> FxHashSet<Span> {
    guards.iter().filter_map(|guard| Some(guard.broken.as_ref()?.expr.span)).collect()
}

/// Why a guard has no value in any of a number of states; `None` if it has one in some.
#[must_use]
pub fn always_fails(
    cx: &AgentAnalysis<'_, '_>,
    fields: &Fields<'_>,
    guard: &Expr,
    unset: Unset,
) -> Option<EvalError> {
    let mut paths: Vec<Path> = Vec::new();
    let mut known: FxHashSet<Path> = FxHashSet::default();
    guard.paths(&mut |path| {
        if known.insert(path.clone()) {
            paths.push(path.clone());
        }
    });
    let typed =
        |path: &Path| path.segments.is_empty().then(|| declared(cx, fields, path)).flatten();
    let all_typed = paths.iter().all(|path| typed(path).is_some());
    let mut found = None;
    let first = usize::from(unset != Unset::Too);
    for sample in first..=SAMPLES {
        let mut state = State::new();
        for path in &paths {
            let value = match typed(path) {
                Some(ty) => of_type(ty, sample),
                None => untyped(sample),
            };
            let plain = path.segments.iter().all(|s| matches!(s, Segment::Field(_)));
            if sample > 0 && plain {
                // A path into a value that another path reads whole stays as it is.
                let _ = state.set_path(path, value);
            }
        }
        for name in CONTENT {
            if state.get(name).is_none() {
                state.set(name, Value::text("a text"));
            }
        }
        match evaluate(guard, &state, cx.dialect()) {
            Ok(_) => return None,
            Err(error) => found = Some(error),
        }
    }
    // Types that nobody declares may be those that fit.
    found.filter(|error| match error {
        EvalError::Pattern(_) | EvalError::DivisionByZero | EvalError::Arguments(_) => true,
        // Those of rules for values are reported nowhere else.
        EvalError::UnknownFunction(_) => unset == Unset::OfField,
        EvalError::NotANumber(_) | EvalError::NoOrder(..) | EvalError::Operands(..) => all_typed,
        _ => false,
    })
}

/// The states in which an expression is evaluated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unset {
    /// Also that in which nothing is set.
    Too,
    /// Those in which everything is set.
    Never,
    /// The same, for a rule about a value.
    OfField,
}

/// So many states are tried besides that in which nothing is set.
const SAMPLES: usize = 5;

fn untyped(sample: usize) -> Value {
    match sample {
        1 => Value::Bool(true),
        2 => Value::number(1.0).unwrap_or_default(),
        3 => Value::text("a"),
        4 => Value::text("2026-03-15"),
        _ => Value::list(vec![Value::Bool(true)]).unwrap_or_default(),
    }
}

/// A kind of value that an author declares.
#[derive(Clone, Copy)]
enum Kind {
    Text,
    Number,
    Boolean,
}

fn of_type(kind: Kind, sample: usize) -> Value {
    match kind {
        Kind::Text if sample.is_multiple_of(2) => Value::text("1"),
        Kind::Text => Value::text("a"),
        Kind::Number => Value::number(sample as f64).unwrap_or_default(),
        Kind::Boolean => Value::Bool(sample.is_multiple_of(2)),
    }
}

/// The declared type of a variable, if it is a simple one.
fn declared(cx: &AgentAnalysis<'_, '_>, fields: &Fields<'_>, path: &Path) -> Option<Kind> {
    let name = path.root.value.as_str();
    if path.namespace.as_ref().is_some_and(|n| n.value != "variables") {
        return None;
    }
    let of_session = || cx.program.session_types().get(name).and_then(|ty| ty.name());
    let ty = fields.get(name).copied().or_else(of_session)?;
    Some(match ty {
        "string" | "text" => Kind::Text,
        "number" | "integer" | "float" => Kind::Number,
        "boolean" => Kind::Boolean,
        _ => return None,
    })
}
