//! Conditions as text, answers as text.

use agentir_diagnostics::{Diagnostic, FileId};
use agentir_eval::Value;
use agentir_expr::{BinaryOp, Condition, Dialect, Expr, ExprKind, Path};
use agentir_solver::{
    Answer, Bound, FactKind, Facts, Label, Literal, Query, Question, Solver, Type,
};
use agentir_syntax::abl::leaf;
use agentir_syntax::leaf::Leaf;

/// A condition of ABL; what is in quotes as a whole is words.
pub fn condition(text: &str) -> Condition {
    let mut problems: Vec<Diagnostic> = Vec::new();
    let condition = leaf::condition(Leaf::verbatim(text, FileId(0), 0), false, &mut problems);
    assert!(problems.is_empty(), "{text}: {problems:?}");
    condition
}

/// A path of ABL: `order.status`.
pub fn path(text: &str) -> Path {
    let condition = condition(text);
    condition.expr().unwrap().as_path().unwrap().clone()
}

/// Facts, one a line: `x: number`, `x: set`, `x: a | b`, `x: 1..9`, `x: length 1..9`, `x: /re/`,
/// `x: = 5`. Their labels count from 100.
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

/// The same condition in another dialect: strict operators and `@variables` for Agent Script.
fn translated(expr: &Expr, dialect: Dialect) -> Expr {
    if dialect == Dialect::Abl {
        return expr.clone();
    }
    let again = |e: &Expr| translated(e, dialect);
    let boxed = |e: &Expr| Box::new(again(e));
    let kind = match &expr.kind {
        ExprKind::Binary { op, left, right } => ExprKind::Binary {
            op: match (op, dialect) {
                (BinaryOp::Equal, Dialect::AgentScript) => BinaryOp::StrictEqual,
                (BinaryOp::NotEqual, Dialect::AgentScript) => BinaryOp::StrictNotEqual,
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

/// Asks in a dialect. Conditions that do not hold begin with `- `; labels count from 0.
pub struct Asking {
    pub dialect: Dialect,
    pub facts: Facts,
    pub solver: Solver,
}

impl Asking {
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

    /// Whether the conditions can hold together.
    pub fn together(&mut self, conditions: &[&str]) -> Answer {
        self.ask(conditions, &[])
    }

    /// Whether the last follows from the others.
    pub fn follows(&mut self, conditions: &[&str], last: &str) -> Answer {
        self.ask(conditions, &[last])
    }

    /// Whether two conditions are the same.
    pub fn same(&mut self, a: &str, b: &str) -> Answer {
        self.ask(&[], &[a, b])
    }

    fn ask(&mut self, given: &[&str], question: &[&str]) -> Answer {
        let given: Vec<_> = given.iter().map(|t| self.parse(t)).collect();
        let asked: Vec<_> = question.iter().map(|t| self.parse(t)).collect();
        let given: Vec<Literal<'_>> = given
            .iter()
            .enumerate()
            .map(|(i, (c, holds))| Literal {
                test: c.into(),
                holds: *holds,
                label: Label(u32::try_from(i).unwrap()),
            })
            .collect();
        let made: Vec<Literal<'_>> = asked
            .iter()
            .map(|(c, holds)| Literal { test: c.into(), holds: *holds, label: Label(99) })
            .collect();
        let question = match made.as_slice() {
            [] => Question::Satisfiable,
            [one] => Question::Implied(one.clone()),
            [a, b, ..] => Question::Equivalent(a.clone(), b.clone()),
        };
        let query = Query { dialect: self.dialect, facts: &self.facts, given, question };
        self.solver.answer(&query)
    }
}

/// An answer in words: the example, or the labels of the core.
pub fn words(answer: &Answer) -> String {
    match answer {
        Answer::State(example) => format!("state: {example}"),
        Answer::NoState(labels) => {
            let labels: Vec<String> = labels.iter().map(|l| l.0.to_string()).collect();
            format!("none: {}", labels.join(" "))
        }
        Answer::Unknown(why) => format!("unknown: {why:?}"),
    }
}
