//! Model sampling: finds a state for most satisfiable queries before they are normalized.
//!
//! Most conditions that people write are satisfiable and independent of each other. So a few values
//! that the conditions mention are tried first. A state counts only if the evaluator confirms it,
//! with the facts; a failure proves nothing.

use crate::atom_class::is_length;
use crate::problem::{fact_holds, is_opaque};
use crate::query::{Assertion, Bound, Fact, FactKind, Facts, Goal, Query, Test, Type};
use crate::work::{self, Work};
use agentir_eval::{Environment, EvalError, Outcome, Value, outcome};
use agentir_expr::dialect::Semantics;
use agentir_expr::{Dialect, Expr, ExprKind, Literal as Constant, Path, Segment, UnaryOp, Visit};
use smol_str::SmolStr;

/// Queries with more variables are not sampled.
const MAX_VARIABLES: usize = 12;

/// The maximum number of values to try per variable.
const MAX_VALUES: usize = 24;

/// The maximum number of evaluations per query.
const MAX_EVALUATIONS: u32 = 200;

/// Longer paths are not sampled.
const MAX_SEGMENTS: usize = 4;

/// Whether sampling finds a state that answers the query. `false` proves nothing.
pub(crate) fn samples_a_model(query: &Query<'_>, work: &Work) -> bool {
    let Some(mut sampler) = Sampler::new(query, work) else { return false };
    sampler.values();
    sampler.assign(0)
}

/// Whether sampling finds both a state in which a condition holds and one in which it does not.
/// `false` proves nothing.
pub(crate) fn samples_both_truths(
    expr: &Expr,
    facts: &Facts,
    dialect: Dialect,
    work: &Work,
) -> bool {
    let mut sampler = Sampler::empty(facts, dialect, work);
    if is_opaque(expr) || sampler.condition(expr, true).is_none() || !sampler.are_independent() {
        return false;
    }
    sampler.values();
    if !sampler.assign(0) {
        return false;
    }
    sampler.conjuncts.clear();
    sampler.budget = MAX_EVALUATIONS;
    sampler.condition(expr, false).is_some() && sampler.assign(0)
}

/// A conjunct of the conditions and its required outcome. If all conjuncts have theirs, the
/// conditions hold.
struct Conjunct<'a> {
    expr: &'a Expr,
    wanted: Outcome,
    /// The variables that it reads, as a bit set.
    reads: u32,
    /// The steps that an evaluation takes.
    steps: u64,
}

struct Variable<'q, 'a> {
    path: &'a Path,
    /// The facts about the variable. Checked when a value is tried, because the first values nearly
    /// always pass.
    facts: &'q [Fact],
    /// The values that conditions and facts mention. The [`default_value`]s follow them.
    mentioned: Vec<Value>,
    value: Value,
}

struct Sampler<'q, 'a> {
    facts: &'q Facts,
    dialect: Dialect,
    semantics: &'static Semantics,
    variables: Vec<Variable<'q, 'a>>,
    conjuncts: Vec<Conjunct<'a>>,
    budget: u32,
    work: &'q Work,
}

impl<'q, 'a> Sampler<'q, 'a> {
    /// Returns `None` for queries that are not sampled: those with natural-language conditions,
    /// opaque calls, list items, lengths, several dialects, or variables together with their
    /// members.
    fn new(query: &'q Query<'a>, work: &'q Work) -> Option<Self> {
        let mut this = Self::empty(query.facts, query.dialect, work);
        for assertion in &query.assumptions {
            this.assertion(assertion, assertion.holds)?;
        }
        match &query.goal {
            Goal::Satisfiable => {}
            Goal::Implied(assertion) => this.assertion(assertion, !assertion.holds)?,
            Goal::Equivalent(..) => return None,
        }
        this.are_independent().then_some(this)
    }

    fn empty(facts: &'q Facts, dialect: Dialect, work: &'q Work) -> Self {
        let (variables, conjuncts) = (Vec::new(), Vec::new());
        let semantics = dialect.semantics();
        let budget = MAX_EVALUATIONS;
        Self { facts, dialect, semantics, variables, conjuncts, budget, work }
    }

    fn assertion(&mut self, assertion: &Assertion<'a>, holds: bool) -> Option<()> {
        match assertion.test {
            Test::Expr(expr) if !is_opaque(expr) => self.condition(expr, holds),
            _ => None,
        }
    }

    /// Splits a condition into conjuncts that must hold or must be false. Errors are not sampled,
    /// although an error refutes a condition as well. As recursive as the evaluator.
    fn condition(&mut self, expr: &'a Expr, holds: bool) -> Option<()> {
        match &expr.kind {
            ExprKind::And(all) if holds => all.iter().try_for_each(|e| self.condition(e, true)),
            ExprKind::Or(all) if !holds => all.iter().try_for_each(|e| self.condition(e, false)),
            ExprKind::Unary { op: UnaryOp::Not, operand } => self.condition(operand, !holds),
            _ => {
                let wanted = if holds { Outcome::True } else { Outcome::False };
                let mut steps = 0;
                let reads = self.reads(expr, &mut steps);
                self.work.spend(steps);
                self.conjuncts.push(Conjunct { expr, wanted, reads: reads?, steps });
                Some(())
            }
        }
    }

    /// Returns the variables that an expression reads, and adds the steps that an evaluation takes.
    fn reads(&mut self, expr: &'a Expr, steps: &mut u64) -> Option<u32> {
        let mut reads = Some(0);
        expr.visit(&mut |e| {
            *steps += work::of_node(e);
            match &e.kind {
                ExprKind::Path(path) => {
                    let bit = self.variable(path).map(|at| 1 << at);
                    reads = reads.zip(bit).map(|(all, bit)| all | bit);
                }
                // A shorthand field reads the variable of the same name.
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
            || path.segments.len() > MAX_SEGMENTS
            || self.variables.len() >= MAX_VARIABLES
        {
            return None;
        }
        let facts = self.facts.get(path);
        self.variables.push(Variable {
            path,
            facts,
            mentioned: Vec::new(),
            value: Value::Undefined,
        });
        Some(self.variables.len() - 1)
    }

    /// Whether the values of the variables are independent: none is a member of another, and there
    /// are not facts about objects that contain them.
    fn are_independent(&self) -> bool {
        self.variables.iter().all(|variable| {
            let path = variable.path;
            let is_part_of = |other: &Path| {
                other.segments.len() < path.segments.len()
                    && other.root == path.root
                    && other.namespace == path.namespace
                    && path.segments.starts_with(&other.segments)
            };
            !self.variables.iter().any(|other| is_part_of(other.path))
                && (0..path.segments.len()).all(|end| {
                    let segments = path.segments.get(..end).unwrap_or_default().to_vec();
                    self.facts.get(&Path { segments, ..path.clone() }).is_empty()
                })
        })
    }

    /// Collects the values to try, those from comparisons first.
    fn values(&mut self) {
        let mut leaves = Vec::new();
        for conjunct in &self.conjuncts {
            flatten(conjunct.expr, &mut leaves);
        }
        let mut mentioned = Vec::new();
        for leaf in leaves {
            mentioned.clear();
            leaf.visit(&mut |e| {
                match &e.kind {
                    ExprKind::Literal(literal) if mentioned.len() < MAX_VALUES => {
                        values_near(literal, &mut mentioned)
                    }
                    _ => {}
                }
                Visit::Children
            });
            leaf.visit(&mut |e| {
                if let ExprKind::Path(path) = &e.kind
                    && let Some(variable) = self.variables.iter_mut().find(|v| v.path == path)
                {
                    variable.mentioned.extend_from_slice(&mentioned);
                }
                Visit::Children
            });
        }
        for variable in &mut self.variables {
            for fact in variable.facts {
                values_of_fact(&fact.kind, &mut variable.mentioned);
            }
        }
    }

    /// Assigns values to the variables from `at` on. The recursion depth is at most
    /// [`MAX_VARIABLES`].
    fn assign(&mut self, at: usize) -> bool {
        let Some(variable) = self.variables.get(at) else {
            // All other conjuncts were checked when their last variable was assigned.
            return self
                .conjuncts
                .iter()
                .filter(|p| p.reads == 0)
                .all(|conjunct| self.holds(conjunct));
        };
        let (facts, semantics) = (variable.facts, self.semantics);
        let assigned = (1_u32 << (at + 1)) - 1;
        let mut tried = 0;
        for index in 0.. {
            let Some(variable) = self.variables.get_mut(at) else { break };
            let value = match variable.mentioned.get(index) {
                Some(mentioned) => mentioned.clone(),
                None => match default_value(index - variable.mentioned.len()) {
                    Some(value) => value,
                    None => break,
                },
            };
            if !facts.iter().all(|fact| fact_holds(&fact.kind, &value, semantics)) {
                continue;
            }
            variable.value = value;
            // Check the conjuncts that this variable completes.
            let mut spent = 0;
            let fits = self
                .conjuncts
                .iter()
                .filter(|p| p.reads & !assigned == 0 && p.reads & (1 << at) != 0)
                .all(|conjunct| {
                    spent += 1;
                    self.holds(conjunct)
                });
            self.work.spend(self.conjuncts.len() as u64);
            self.budget = self.budget.saturating_sub(spent + 1);
            if self.budget == 0 || self.work.is_exhausted() {
                return false;
            }
            if fits && self.assign(at + 1) {
                return true;
            }
            tried += 1;
            if tried == MAX_VALUES {
                break;
            }
        }
        false
    }

    fn holds(&self, conjunct: &Conjunct<'_>) -> bool {
        self.work.spend(conjunct.steps);
        outcome(conjunct.expr, self, self.dialect) == conjunct.wanted
    }
}

impl Environment for Sampler<'_, '_> {
    fn path(&self, path: &Path, _: &Semantics) -> Result<Value, EvalError> {
        let variable = self.variables.iter().find(|v| std::ptr::eq(v.path, path) || v.path == path);
        Ok(variable.map(|v| v.value.clone()).unwrap_or_default())
    }
}

/// The values that are tried for every variable, by index.
fn default_value(index: usize) -> Option<Value> {
    Some(match index {
        0 => Value::Bool(true),
        1 => Value::Undefined,
        2 => Value::Text(SmolStr::new_static("other")),
        3 => Value::Number(1.0),
        4 => Value::Bool(false),
        5 => Value::Text(SmolStr::default()),
        // Exceeds small multiples of most constants.
        6 => Value::Number(1_000_000.0),
        7 => Value::Number(0.5),
        _ => return None,
    })
}

/// Collects the operands of the logical connectives. As recursive as the evaluator.
fn flatten<'a>(expr: &'a Expr, found: &mut Vec<&'a Expr>) {
    match &expr.kind {
        ExprKind::And(all) | ExprKind::Or(all) => all.iter().for_each(|e| flatten(e, found)),
        ExprKind::Unary { op: UnaryOp::Not, operand } => flatten(operand, found),
        _ => found.push(expr),
    }
}

/// Adds values around a constant, on both sides of a comparison.
fn values_near(literal: &Constant, values: &mut Vec<Value>) {
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

/// Adds values that a fact may allow.
fn values_of_fact(kind: &FactKind, values: &mut Vec<Value>) {
    match kind {
        FactKind::Is(value) => values.push(value.clone()),
        FactKind::OneOf(all) => values.extend(all.iter().take(MAX_VALUES / 2).cloned()),
        FactKind::AtLeast(Bound::Value, n) | FactKind::AtMost(Bound::Value, n) => {
            values.extend(Value::number(*n));
        }
        FactKind::Type(Type::Number | Type::Integer) => values.push(Value::Number(0.0)),
        _ => {}
    }
}
