//! A textual interface to the solver: conditions in, answers out.

use agentir_diagnostics::{Diagnostic, FileId};
use agentir_eval::Value;
use agentir_expr::{BinaryOp, Condition, Dialect, Expr, ExprKind, Path, dialect};
use agentir_lang_abl::dialect::ABL;
use agentir_lang_abl::inline;
use agentir_solver::{Answer, Assertion, Bound, FactKind, Facts, Goal, Label, Query, Solver, Type};
use agentir_syntax::inline::InlineText;

/// Parses a condition of ABL. A quoted text is a natural-language condition.
pub fn condition(text: &str) -> Condition {
    let mut problems: Vec<Diagnostic> = Vec::new();
    let condition =
        inline::condition(InlineText::verbatim(text, FileId(0), 0), false, &mut problems);
    assert!(problems.is_empty(), "{text}: {problems:?}");
    condition
}

/// Parses a path of ABL: `order.status`.
pub fn path(text: &str) -> Path {
    let condition = condition(text);
    condition.expr().unwrap().as_path().unwrap().clone()
}

/// Parses facts, one per line: `x: number`, `x: set`, `x: a | b`, `x: 1..9`, `x: length 1..9`, `x:
/// /re/`, `x: = 5`. Their labels start at 100.
pub fn facts(lines: &str) -> Facts {
    let mut facts = Facts::new();
    for (i, line) in lines.lines().map(str::trim).filter(|l| !l.is_empty()).enumerate() {
        let (name, what) = line.split_once(": ").unwrap();
        let label = Some(Label(100 + u32::try_from(i).unwrap()));
        let mut add = |kind| facts.add(path(name), kind, label);
        let value = |text: &str| text.parse().map_or_else(|_| Value::text(text), Value::Number);
        let (bound, range) = match what.strip_prefix("length ") {
            Some(range) => (Bound::Length, range),
            None => (Bound::Value, what),
        };
        match what {
            "set" => add(FactKind::Set),
            "text" => add(FactKind::Type(Type::Text)),
            "number" => add(FactKind::Type(Type::Number)),
            "integer" => add(FactKind::Type(Type::Integer)),
            "bool" => add(FactKind::Type(Type::Bool)),
            "date" => add(FactKind::Type(Type::Date)),
            "list" => add(FactKind::Type(Type::List)),
            "object" => add(FactKind::Type(Type::Object)),
            _ if what.starts_with('/') => add(FactKind::Pattern(what.trim_matches('/').into())),
            _ if what.starts_with("= ") => add(FactKind::Is(value(&what[2..]))),
            _ if range.contains("..") => {
                let (low, high) = range.split_once("..").unwrap();
                if let Ok(low) = low.parse() {
                    add(FactKind::AtLeast(bound, low));
                }
                if let Ok(high) = high.parse() {
                    add(FactKind::AtMost(bound, high));
                }
            }
            _ => add(FactKind::OneOf(what.split(" | ").map(value).collect())),
        }
    }
    facts
}

/// Translates a condition to another dialect: strict operators for Agent Script.
fn translated(expr: &Expr, dialect: Dialect) -> Expr {
    if dialect == ABL {
        return expr.clone();
    }
    let again = |e: &Expr| translated(e, dialect);
    let boxed = |e: &Expr| Box::new(again(e));
    let kind = match &expr.kind {
        ExprKind::Binary { op, left, right } => ExprKind::Binary {
            op: match (op, dialect.semantics().equality) {
                (BinaryOp::Equal, dialect::Equality::Strict) => BinaryOp::StrictEqual,
                (BinaryOp::NotEqual, dialect::Equality::Strict) => BinaryOp::StrictNotEqual,
                (op, _) => *op,
            },
            left: boxed(left),
            right: boxed(right),
        },
        ExprKind::Unary { op, operand } => ExprKind::Unary { op: *op, operand: boxed(operand) },
        ExprKind::IsSet { operand, negated } => {
            ExprKind::IsSet { operand: boxed(operand), negated: *negated }
        }
        ExprKind::And(parts) => ExprKind::And(parts.iter().map(again).collect()),
        ExprKind::Or(parts) => ExprKind::Or(parts.iter().map(again).collect()),
        ExprKind::List(items) => ExprKind::List(items.iter().map(again).collect()),
        ExprKind::Call { function, args } => {
            ExprKind::Call { function: function.clone(), args: args.iter().map(again).collect() }
        }
        ExprKind::Method { receiver, method, args } => ExprKind::Method {
            receiver: boxed(receiver),
            method: method.clone(),
            args: args.iter().map(again).collect(),
        },
        other => other.clone(),
    };
    Expr::new(kind, expr.span).unwrap()
}

/// Queries in one dialect. Conditions that begin with `- ` are negated; labels start at 0.
pub struct Harness {
    pub dialect: Dialect,
    pub facts: Facts,
    pub solver: Solver,
}

impl Harness {
    pub fn new(dialect: Dialect, lines: &str) -> Self {
        Self { dialect, facts: facts(lines), solver: Solver::default() }
    }

    fn parse(&self, text: &str) -> (Condition, bool) {
        let holds = !text.starts_with("- ");
        let mut condition = condition(text.trim_start_matches("- "));
        if let agentir_expr::ConditionKind::Expr(expr) = &condition.kind {
            condition.kind = agentir_expr::ConditionKind::Expr(translated(expr, self.dialect));
        }
        (condition, holds)
    }

    /// Are the conditions consistent?
    pub fn satisfiable(&mut self, conditions: &[&str]) -> Answer {
        self.ask(conditions, &[])
    }

    /// Do the conditions imply the last one?
    pub fn implied(&mut self, conditions: &[&str], last: &str) -> Answer {
        self.ask(conditions, &[last])
    }

    /// Are two conditions equivalent?
    pub fn equivalent(&mut self, a: &str, b: &str) -> Answer {
        self.ask(&[], &[a, b])
    }

    fn ask(&mut self, assumptions: &[&str], goal: &[&str]) -> Answer {
        let assumptions: Vec<_> = assumptions.iter().map(|t| self.parse(t)).collect();
        let asked: Vec<_> = goal.iter().map(|t| self.parse(t)).collect();
        let assumptions: Vec<Assertion<'_>> = assumptions
            .iter()
            .enumerate()
            .map(|(i, (c, holds))| Assertion {
                test: c.into(),
                holds: *holds,
                label: Label(u32::try_from(i).unwrap()),
            })
            .collect();
        let goals: Vec<Assertion<'_>> = asked
            .iter()
            .map(|(c, holds)| Assertion { test: c.into(), holds: *holds, label: Label(99) })
            .collect();
        let goal = match goals.as_slice() {
            [] => Goal::Satisfiable,
            [one] => Goal::Implied(one.clone()),
            [a, b, ..] => Goal::Equivalent(a.clone(), b.clone()),
        };
        let query = Query { dialect: self.dialect, facts: &self.facts, assumptions, goal };
        self.solver.solve(&query)
    }
}

/// Renders an answer: the example, or the labels of the core.
pub fn summary(answer: &Answer) -> String {
    match answer {
        Answer::Sat(example) => format!("state: {example}"),
        Answer::Unsat(labels) => {
            let labels: Vec<String> = labels.iter().map(|l| l.0.to_string()).collect();
            format!("none: {}", labels.join(" "))
        }
        Answer::Unknown(why) => format!("unknown: {why:?}"),
    }
}
