//! A state that is found at once, for the questions to which it is the answer: nearly all of them.
//!
//! Conditions that people write can hold, and do not follow from each other. So before a question is
//! brought into the solver's own form, a few values are tried that the conditions themselves speak of.
//! What is found is evaluated, with the facts, before it counts; what is not found proves nothing.

use crate::problem::{fact_holds, is_opaque};
use crate::query::{Bound, Fact, FactKind, Facts, Literal, Query, Question, Test, Type};
use crate::shape::is_length;
use agentir_eval::{Environment, EvalError, Outcome, Semantics, Value, outcome, semantics};
use agentir_expr::{Dialect, Expr, ExprKind, Literal as Constant, Path, Segment, UnaryOp, Visit};
use smol_str::SmolStr;

/// Questions about more variables are not tried.
const VARIABLES: usize = 12;

/// How many values of a variable are tried at most.
const VALUES: usize = 24;

/// How often a condition is evaluated before it is given up.
const BUDGET: u32 = 200;

/// Parts that are nested deeper than this are not tried.
const SEGMENTS: usize = 4;

/// Whether there is a state that answers the question. No is no answer.
pub(crate) fn finds_state(query: &Query<'_>) -> bool {
    let Some(mut guess) = Guess::new(query) else { return false };
    guess.values();
    guess.choose(0)
}

/// Whether there is a state in which a condition holds, and one in which it does not: the values to try
/// are the same for both. No is no answer.
pub(crate) fn finds_both(expr: &Expr, facts: &Facts, dialect: Dialect) -> bool {
    let mut guess = Guess::empty(facts, dialect);
    if is_opaque(expr) || guess.condition(expr, true).is_none() || !guess.are_apart() {
        return false;
    }
    guess.values();
    if !guess.choose(0) {
        return false;
    }
    guess.parts.clear();
    guess.left = BUDGET;
    guess.condition(expr, false).is_some() && guess.choose(0)
}

/// A part of a condition that is no logical combination of others, and what it has to come out as. If all
/// parts do, the conditions do.
struct Part<'a> {
    expr: &'a Expr,
    wanted: Outcome,
    /// The variables it reads, a bit each.
    reads: u32,
}

struct Variable<'q, 'a> {
    path: &'a Path,
    /// What is known of it. Looked at when a value is tried: the first ones nearly always do.
    facts: &'q [Fact],
    /// The values that conditions and facts speak of. [`usual`] ones come behind them.
    said: Vec<Value>,
    chosen: Value,
}

struct Guess<'q, 'a> {
    facts: &'q Facts,
    dialect: Dialect,
    semantics: &'static Semantics,
    variables: Vec<Variable<'q, 'a>>,
    parts: Vec<Part<'a>>,
    left: u32,
}

impl<'q, 'a> Guess<'q, 'a> {
    /// None for questions that are not tried: about words, calls of which nothing is known, items,
    /// lengths, conditions of other dialects, and variables together with their parts.
    fn new(query: &'q Query<'a>) -> Option<Self> {
        let mut this = Self::empty(query.facts, query.dialect);
        for literal in &query.given {
            this.literal(literal, literal.holds)?;
        }
        match &query.question {
            Question::Satisfiable => {}
            Question::Implied(literal) => this.literal(literal, !literal.holds)?,
            Question::Equivalent(..) => return None,
        }
        this.are_apart().then_some(this)
    }

    fn empty(facts: &'q Facts, dialect: Dialect) -> Self {
        let (variables, parts) = (Vec::new(), Vec::new());
        let semantics = semantics(dialect);
        Self { facts, dialect, semantics, variables, parts, left: BUDGET }
    }

    fn literal(&mut self, literal: &Literal<'a>, holds: bool) -> Option<()> {
        match literal.test {
            Test::Expr(expr) if !is_opaque(expr) => self.condition(expr, holds),
            _ => None,
        }
    }

    /// Takes a condition apart into what has to hold, or not to hold. What is neither true nor false is
    /// not looked for, although that refutes a condition as well. Recursive as the evaluator is.
    fn condition(&mut self, expr: &'a Expr, holds: bool) -> Option<()> {
        match &expr.kind {
            ExprKind::And(all) if holds => all.iter().try_for_each(|e| self.condition(e, true)),
            ExprKind::Or(all) if !holds => all.iter().try_for_each(|e| self.condition(e, false)),
            ExprKind::Unary { op: UnaryOp::Not, operand } => self.condition(operand, !holds),
            _ => {
                let wanted = if holds { Outcome::True } else { Outcome::False };
                let reads = self.reads(expr)?;
                self.parts.push(Part { expr, wanted, reads });
                Some(())
            }
        }
    }

    /// The variables that an expression reads.
    fn reads(&mut self, expr: &'a Expr) -> Option<u32> {
        let mut reads = Some(0);
        expr.visit(&mut |e| {
            match &e.kind {
                ExprKind::Path(path) => {
                    let bit = self.variable(path).map(|at| 1 << at);
                    reads = reads.zip(bit).map(|(all, bit)| all | bit);
                }
                // A field that is written by its name alone reads a variable of that name.
                ExprKind::Object(entries) if entries.iter().any(|e| e.value.is_none()) => {
                    reads = None;
                }
                _ => {}
            }
            Visit::Children
        });
        reads
    }

    fn variable(&mut self, path: &'a Path) -> Option<usize> {
        if let Some(at) = self.variables.iter().position(|v| v.path == path) {
            return Some(at);
        }
        let plain = path.segments.iter().all(|s| matches!(s, Segment::Field(_)));
        if !plain
            || is_length(path)
            || path.segments.len() > SEGMENTS
            || self.variables.len() >= VARIABLES
        {
            return None;
        }
        let facts = self.facts.of(path);
        self.variables.push(Variable { path, facts, said: Vec::new(), chosen: Value::Undefined });
        Some(self.variables.len() - 1)
    }

    /// Whether the value of no variable says anything about that of another: none is a part of
    /// another, and nothing is known of what they are parts of.
    fn are_apart(&self) -> bool {
        self.variables.iter().all(|variable| {
            let path = variable.path;
            let part = |other: &Path| {
                other.segments.len() < path.segments.len()
                    && other.root == path.root
                    && other.namespace == path.namespace
                    && path.segments.starts_with(&other.segments)
            };
            !self.variables.iter().any(|other| part(other.path))
                && (0..path.segments.len()).all(|end| {
                    let segments = path.segments.get(..end).unwrap_or_default().to_vec();
                    self.facts.of(&Path { segments, ..path.clone() }).is_empty()
                })
        })
    }

    /// The values to try: those that conditions compare a variable with come first.
    fn values(&mut self) {
        let mut leaves = Vec::new();
        for part in &self.parts {
            of_logic(part.expr, &mut leaves);
        }
        let mut said = Vec::new();
        for leaf in leaves {
            said.clear();
            leaf.visit(&mut |e| {
                match &e.kind {
                    ExprKind::Literal(literal) if said.len() < VALUES => near(literal, &mut said),
                    _ => {}
                }
                Visit::Children
            });
            leaf.visit(&mut |e| {
                if let ExprKind::Path(path) = &e.kind
                    && let Some(variable) = self.variables.iter_mut().find(|v| v.path == path)
                {
                    variable.said.extend_from_slice(&said);
                }
                Visit::Children
            });
        }
        for variable in &mut self.variables {
            for fact in variable.facts {
                by_fact(&fact.kind, &mut variable.said);
            }
        }
    }

    /// Chooses values for the variables from `at` on. Recursive, [`VARIABLES`] deep.
    fn choose(&mut self, at: usize) -> bool {
        let Some(variable) = self.variables.get(at) else {
            // All others were looked at when the last variable that they read was chosen.
            return self.parts.iter().filter(|p| p.reads == 0).all(|part| self.is_met(part));
        };
        let (facts, semantics) = (variable.facts, self.semantics);
        let known = (1_u32 << (at + 1)) - 1;
        let mut tried = 0;
        for index in 0.. {
            let Some(variable) = self.variables.get_mut(at) else { break };
            let value = match variable.said.get(index) {
                Some(said) => said.clone(),
                None => match usual(index - variable.said.len()) {
                    Some(value) => value,
                    None => break,
                },
            };
            if !facts.iter().all(|fact| fact_holds(&fact.kind, &value, semantics)) {
                continue;
            }
            variable.chosen = value;
            // What this variable completes.
            let mut spent = 0;
            let fits = self
                .parts
                .iter()
                .filter(|p| p.reads & !known == 0 && p.reads & (1 << at) != 0)
                .all(|part| {
                    spent += 1;
                    self.is_met(part)
                });
            self.left = self.left.saturating_sub(spent + 1);
            if self.left == 0 {
                return false;
            }
            if fits && self.choose(at + 1) {
                return true;
            }
            tried += 1;
            if tried == VALUES {
                break;
            }
        }
        false
    }

    fn is_met(&self, part: &Part<'_>) -> bool {
        outcome(part.expr, self, self.dialect) == part.wanted
    }
}

impl Environment for Guess<'_, '_> {
    fn path(&self, path: &Path, _: &Semantics) -> Result<Value, EvalError> {
        let variable = self.variables.iter().find(|v| std::ptr::eq(v.path, path) || v.path == path);
        Ok(variable.map(|v| v.chosen.clone()).unwrap_or_default())
    }
}

/// Values that are tried of every variable, by their order.
fn usual(index: usize) -> Option<Value> {
    Some(match index {
        0 => Value::Bool(true),
        1 => Value::Undefined,
        2 => Value::Text(SmolStr::new_static("other")),
        3 => Value::Number(1.0),
        4 => Value::Bool(false),
        5 => Value::Text(SmolStr::default()),
        // More than a few times what it is compared with, and less than the least whole one.
        6 => Value::Number(1_000_000.0),
        7 => Value::Number(0.5),
        _ => return None,
    })
}

/// What a condition is a logical combination of. Recursive as the evaluator is.
fn of_logic<'a>(expr: &'a Expr, found: &mut Vec<&'a Expr>) {
    match &expr.kind {
        ExprKind::And(all) | ExprKind::Or(all) => all.iter().for_each(|e| of_logic(e, found)),
        ExprKind::Unary { op: UnaryOp::Not, operand } => of_logic(operand, found),
        _ => found.push(expr),
    }
}

/// Values that a comparison with a constant may tell apart.
fn near(literal: &Constant, values: &mut Vec<Value>) {
    match literal {
        Constant::Number(n) => {
            let all = [*n, n + 1.0, n - 1.0, -n];
            values.extend(all.into_iter().filter_map(|n| Value::number(n).ok()));
        }
        Constant::String(text) => values.push(Value::Text(text.clone())),
        Constant::Bool(value) => values.extend([Value::Bool(*value), Value::Bool(!value)]),
        Constant::Null | Constant::Undefined | Constant::Regex(_) | Constant::Date(_) => {}
    }
}

/// Values that a fact may allow.
fn by_fact(kind: &FactKind, values: &mut Vec<Value>) {
    match kind {
        FactKind::Is(value) => values.push(value.clone()),
        FactKind::OneOf(all) => values.extend(all.iter().take(VALUES / 2).cloned()),
        FactKind::AtLeast(Bound::Value, n) | FactKind::AtMost(Bound::Value, n) => {
            values.extend(Value::number(*n));
        }
        FactKind::Type(Type::Number | Type::Integer) => values.push(Value::Number(0.0)),
        _ => {}
    }
}
