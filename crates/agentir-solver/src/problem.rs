//! The normal form of a query: variables, atoms, and a conjunction of constraints.

use crate::atom_class::{AtomClass, classify, is_length};
use crate::query::{Assertion, Bound, Fact, FactKind, Facts, Goal, Label, Query, Test, Type};
use crate::truth::{Formula, TruthSet};
use crate::work::{self, Work};
use agentir_eval::{
    Date, Environment, EvalError, State, Value, evaluate, is_evaluated, is_evaluated_method,
    length, member, pattern, truthy,
};
use agentir_expr::dialect::{Semantics, Unset};
use agentir_expr::{
    BinaryOp, Dialect, Expr, ExprKind, Literal as Constant, Path, Segment, UnaryOp, Visit,
};
use rustc_hash::FxHashMap;
use smol_str::{SmolStr, ToSmolStr};
use std::fmt::Write;

/// The value of a variable, or a member that cannot be read because its object is unset (an error
/// in some dialects).
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Slot {
    Value(Value),
    Missing,
}

/// A variable or a member of one.
#[derive(Clone, Debug)]
pub(crate) struct Variable {
    pub(crate) path: Path,
    pub(crate) name: SmolStr,
    /// Whether a condition mentions it. Otherwise only facts do.
    pub(crate) mentioned: bool,
}

/// An atomic test. Its outcome is true, false or an error.
#[derive(Clone, Debug)]
pub(crate) struct Atom<'a> {
    pub(crate) kind: AtomKind<'a>,
    /// The variables that it reads.
    pub(crate) variables: Vec<usize>,
    /// Whether its outcome can be an error.
    pub(crate) may_fail: bool,
    /// The dialect that defines its semantics, if it is an expression.
    pub(crate) dialect: Dialect,
    /// The steps that an evaluation takes.
    pub(crate) steps: u64,
}

#[derive(Clone, Debug)]
pub(crate) enum AtomKind<'a> {
    Expr(&'a Expr),
    /// An uninterpreted atom: a natural-language condition or an expression without known
    /// semantics.
    Opaque,
    /// A fact about the only variable.
    Fact(&'a FactKind),
    /// Membership: the second variable is a member of the first and must agree with it.
    Part,
}

impl AtomKind<'_> {
    fn steps(&self) -> u64 {
        match self {
            Self::Expr(expr) => work::of_expr(expr),
            Self::Fact(FactKind::OneOf(values)) => values.len() as u64,
            Self::Fact(FactKind::Pattern(by)) => work::of_pattern(by),
            Self::Fact(_) | Self::Opaque | Self::Part => 1,
        }
    }
}

/// A constraint.
#[derive(Clone, Debug)]
pub(crate) struct Constraint {
    pub(crate) kind: ConstraintKind,
    /// The label of its origin, as an index into [`Problem::labels`].
    pub(crate) label: Option<usize>,
    pub(crate) variables: Vec<usize>,
    pub(crate) atoms: Vec<usize>,
    /// Whether it is a fact or a membership constraint. Otherwise it comes from the conditions of
    /// the query.
    pub(crate) fact: bool,
}

#[derive(Clone, Debug)]
pub(crate) enum ConstraintKind {
    /// The outcome of the formula is one of these.
    Is(Formula, TruthSet),
    /// Exactly one of the two holds.
    Differ([(Formula, TruthSet); 2]),
}

impl Constraint {
    /// Returns the possible outcomes of the constraint: true if it holds, false if it is violated.
    pub(crate) fn truth_set(&self, atom: &impl Fn(usize) -> TruthSet) -> TruthSet {
        let is = |formula: &Formula, required: TruthSet| {
            let found = formula.truth_set(atom);
            let mut all = TruthSet::NONE;
            if found.intersects(required) {
                all = all.or(TruthSet::TRUE);
            }
            if found.intersects(required.complement()) {
                all = all.or(TruthSet::FALSE);
            }
            all
        };
        match &self.kind {
            ConstraintKind::Is(formula, required) => is(formula, *required),
            ConstraintKind::Differ([(a, required_a), (b, required_b)]) => {
                let (a, b) = (is(a, *required_a), is(b, *required_b));
                if a.is_singleton() && b.is_singleton() {
                    TruthSet::from_bool(a != b)
                } else {
                    TruthSet::EITHER
                }
            }
        }
    }
}

/// A query in normal form.
#[derive(Debug)]
pub(crate) struct Problem<'a> {
    pub(crate) dialect: Dialect,
    /// The semantics of variables and members. If dialects are mixed, it is the strictest one,
    /// which distinguishes most values.
    pub(crate) semantics: &'static Semantics,
    /// The dialects of the conditions.
    dialects: Vec<Dialect>,
    pub(crate) variables: Vec<Variable>,
    pub(crate) atoms: Vec<Atom<'a>>,
    pub(crate) constraints: Vec<Constraint>,
    /// The labels: one per assumption, then one per labelled fact.
    pub(crate) labels: Vec<Label>,
    by_path: FxHashMap<Path, usize>,
    by_key: FxHashMap<SmolStr, usize>,
    /// Where each variable occurs.
    uses: Vec<Uses>,
    pub(crate) work: Work,
}

/// Where a variable occurs. Conditions may have as many variables as constraints, so none is searched for the other.
#[derive(Debug, Default)]
pub(crate) struct Uses {
    /// The constraints that read it, in order.
    pub(crate) constraints: Vec<usize>,
    /// Those among them that are facts about it alone.
    pub(crate) facts: Vec<usize>,
    /// Whether it is a member, or has members.
    pub(crate) is_whole_or_part: bool,
}

impl<'a> Problem<'a> {
    /// The normal form of a query that may take so many steps.
    pub(crate) fn new(query: &Query<'a>, limit: u64) -> Self {
        let dialects = dialects(query);
        let strict = dialects.iter().map(|d| d.semantics());
        let strict = strict.into_iter().find(|s| s.unset_member == Unset::Error);
        let mut problem = Self {
            dialect: query.dialect,
            semantics: strict.unwrap_or_else(|| query.dialect.semantics()),
            dialects,
            variables: Vec::new(),
            atoms: Vec::new(),
            constraints: Vec::new(),
            labels: Vec::new(),
            by_path: FxHashMap::default(),
            by_key: FxHashMap::default(),
            uses: Vec::new(),
            work: Work::new(limit),
        };
        for assertion in &query.assumptions {
            let (formula, required) = problem.assertion(assertion, query.facts);
            let label = problem.label(assertion.label);
            problem.require(formula, required, Some(label));
        }
        match &query.goal {
            Goal::Satisfiable => {}
            Goal::Implied(assertion) => {
                let (formula, required) = problem.assertion(assertion, query.facts);
                problem.require(formula, required.complement(), None);
            }
            Goal::Equivalent(a, b) => {
                let sides = [a, b].map(|l| problem.assertion(l, query.facts));
                problem.constraint(ConstraintKind::Differ(sides), None, false);
            }
        }
        problem.add_facts(query.facts);
        problem.add_membership();
        problem.find_uses();
        problem.work.spend(problem.atoms.iter().map(|atom| atom.steps).sum());
        problem
    }

    fn find_uses(&mut self) {
        let mut uses: Vec<Uses> = Vec::new();
        uses.resize_with(self.variables.len(), Uses::default);
        for (at, constraint) in self.constraints.iter().enumerate() {
            let alone = constraint.fact && constraint.variables.len() == 1;
            for variable in &constraint.variables {
                let Some(found) = uses.get_mut(*variable) else { continue };
                found.constraints.push(at);
                if alone {
                    found.facts.push(at);
                }
            }
        }
        for atom in self.atoms.iter().filter(|a| matches!(a.kind, AtomKind::Part)) {
            for variable in &atom.variables {
                if let Some(found) = uses.get_mut(*variable) {
                    found.is_whole_or_part = true;
                }
            }
        }
        self.uses = uses;
    }

    pub(crate) fn uses(&self, variable: usize) -> Option<&Uses> {
        self.uses.get(variable)
    }

    /// Returns the formula of an assertion and its required outcomes.
    fn assertion(&mut self, assertion: &Assertion<'a>, facts: &Facts) -> (Formula, TruthSet) {
        let dialect = assertion.test.dialect(self.dialect);
        let formula = match assertion.test {
            Test::Expr(expr) | Test::In(_, expr) => self.formula(expr, dialect, facts),
            Test::Words(words) => Formula::Atom(self.atom(
                &format!("words {words}"),
                AtomKind::Opaque,
                Vec::new(),
                false,
            )),
        };
        let required = match (assertion.holds, dialect.semantics().error_is_false) {
            (true, _) => TruthSet::TRUE,
            (false, true) => TruthSet::TRUE.complement(),
            (false, false) => TruthSet::FALSE,
        };
        (formula, required)
    }

    /// Adds a constraint, or one for each of its conjuncts.
    fn require(&mut self, formula: Formula, required: TruthSet, label: Option<usize>) {
        match formula {
            Formula::Not(inner) => self.require(*inner, required.negated(), label),
            Formula::And(parts) if required == TruthSet::TRUE => {
                for part in parts {
                    self.require(part, required, label);
                }
            }
            Formula::Or(parts)
                if required == TruthSet::FALSE
                    || (required == TruthSet::TRUE.complement()
                        && !parts.iter().any(|p| self.may_fail(p))) =>
            {
                for part in parts {
                    self.require(part, required, label);
                }
            }
            formula => self.constraint(ConstraintKind::Is(formula, required), label, false),
        }
    }

    fn label(&mut self, label: Label) -> usize {
        self.labels.push(label);
        self.labels.len() - 1
    }

    fn may_fail(&self, formula: &Formula) -> bool {
        formula
            .truth_set(&|atom| {
                let fails = self.atoms.get(atom).is_some_and(|a| a.may_fail);
                if fails { TruthSet::ANY } else { TruthSet::EITHER }
            })
            .intersects(TruthSet::ERROR)
    }

    fn constraint(&mut self, kind: ConstraintKind, label: Option<usize>, fact: bool) {
        let mut atoms = Vec::new();
        match &kind {
            ConstraintKind::Is(formula, _) => formula.atoms(&mut |a| atoms.push(a)),
            ConstraintKind::Differ(sides) => {
                sides.iter().for_each(|(formula, _)| formula.atoms(&mut |a| atoms.push(a)));
            }
        }
        atoms.sort_unstable();
        atoms.dedup();
        let mut variables: Vec<usize> = atoms
            .iter()
            .filter_map(|a| self.atoms.get(*a))
            .flat_map(|a| a.variables.clone())
            .collect();
        variables.sort_unstable();
        variables.dedup();
        self.constraints.push(Constraint { kind, label, variables, atoms, fact });
    }

    fn formula(&mut self, expr: &'a Expr, dialect: Dialect, facts: &Facts) -> Formula {
        match &expr.kind {
            ExprKind::And(parts) => {
                let parts: Vec<_> = parts.iter().map(|p| self.formula(p, dialect, facts)).collect();
                Formula::and(parts)
            }
            ExprKind::Or(parts) => {
                let parts: Vec<_> = parts.iter().map(|p| self.formula(p, dialect, facts)).collect();
                Formula::or(parts)
            }
            ExprKind::Unary { op: UnaryOp::Not, operand } => {
                Formula::not(self.formula(operand, dialect, facts))
            }
            ExprKind::Binary { op: BinaryOp::Implies, left, right } => {
                let left = Formula::not(self.formula(left, dialect, facts));
                let right = self.formula(right, dialect, facts);
                Formula::or([left, right])
            }
            ExprKind::Conditional { condition, then, otherwise } => {
                let condition = self.formula(condition, dialect, facts);
                let then = self.formula(then, dialect, facts);
                let otherwise = self.formula(otherwise, dialect, facts);
                Formula::conditional(condition, then, otherwise)
            }
            _ => self.expression(expr, dialect, facts),
        }
    }

    fn expression(&mut self, expr: &'a Expr, dialect: Dialect, facts: &Facts) -> Formula {
        if is_opaque(expr) {
            let key = format!("opaque {}", key(expr));
            return Formula::Atom(self.atom(&key, AtomKind::Opaque, Vec::new(), false));
        }
        let mut paths = Vec::new();
        expr.paths(&mut |path| paths.push(path.clone()));
        if paths.is_empty() {
            return Formula::Const(match evaluate(expr, &State::new(), dialect) {
                Ok(value) => TruthSet::from_bool(truthy(&value, dialect.semantics())),
                Err(_) => TruthSet::ERROR,
            });
        }
        let mut variables: Vec<usize> = paths
            .into_iter()
            .map(|mut path| {
                // `items.length` is a test of `items`, unless there is a field of that name.
                if is_length(&path) && facts.get(&path).is_empty() {
                    path.segments.pop();
                }
                self.variable(path, true)
            })
            .collect();
        variables.sort_unstable();
        variables.dedup();
        let may_fail = expr_may_fail(expr, dialect);
        let mut key = key(expr);
        if !dialect.computes_like(self.dialect) {
            let _ = write!(key, " in {}", dialect.id());
        }
        let atom = self.atom(&key, AtomKind::Expr(expr), variables, may_fail);
        if let Some(atom) = self.atoms.get_mut(atom) {
            atom.dialect = dialect;
        }
        Formula::Atom(atom)
    }

    /// Whether the predicate holds for a dialect of the conditions.
    pub(crate) fn any(&self, has: impl Fn(Dialect) -> bool) -> bool {
        self.dialects.iter().any(|d| has(*d))
    }

    fn variable(&mut self, path: Path, mentioned: bool) -> usize {
        if let Some(found) = self.by_path.get(&path) {
            if let Some(variable) = self.variables.get_mut(*found) {
                variable.mentioned |= mentioned;
            }
            return *found;
        }
        let index = self.variables.len();
        let name = path.to_smolstr();
        self.variables.push(Variable { path: path.clone(), name, mentioned });
        self.by_path.insert(path, index);
        index
    }

    fn atom(
        &mut self,
        key: &str,
        kind: AtomKind<'a>,
        variables: Vec<usize>,
        may_fail: bool,
    ) -> usize {
        if let Some(found) = self.by_key.get(key) {
            return *found;
        }
        let index = self.atoms.len();
        let steps = kind.steps();
        self.atoms.push(Atom { kind, variables, may_fail, dialect: self.dialect, steps });
        self.by_key.insert(key.into(), index);
        index
    }

    /// Adds the facts about the variables and about the objects that contain them.
    fn add_facts(&mut self, facts: &'a Facts) {
        let mut at = 0;
        while let Some(variable) = self.variables.get(at) {
            let path = variable.path.clone();
            for end in 0..path.segments.len() {
                let whole = Path {
                    segments: path.segments.get(..end).unwrap_or_default().to_vec(),
                    ..path.clone()
                };
                if !facts.get(&whole).is_empty() {
                    self.variable(whole, false);
                }
            }
            for (i, Fact { kind, label }) in facts.get(&path).iter().enumerate() {
                let key = format!("fact {i} {path}");
                let atom = self.atom(&key, AtomKind::Fact(kind), vec![at], false);
                let label = label.map(|label| self.label(label));
                self.constraint(
                    ConstraintKind::Is(Formula::Atom(atom), TruthSet::TRUE),
                    label,
                    true,
                );
            }
            at += 1;
        }
    }

    fn add_membership(&mut self) {
        for part in 0..self.variables.len() {
            let Some(path) = self.variables.get(part).map(|v| v.path.clone()) else { continue };
            let whole = (0..path.segments.len()).rev().find_map(|end| {
                let segments = path.segments.get(..end).unwrap_or_default().to_vec();
                self.by_path.get(&Path { segments, ..path.clone() }).copied()
            });
            if let Some(whole) = whole {
                let key = format!("part {path}");
                let atom = self.atom(&key, AtomKind::Part, vec![whole, part], false);
                self.constraint(
                    ConstraintKind::Is(Formula::Atom(atom), TruthSet::TRUE),
                    None,
                    true,
                );
            }
        }
    }

    /// Returns the possible outcomes of an atom if its variables have the values of `slot`. Opaque
    /// atoms may be true or false.
    pub(crate) fn truth_of<'s>(
        &self,
        atom: &Atom<'a>,
        slot: &dyn Fn(usize) -> Option<&'s Slot>,
    ) -> TruthSet {
        self.work.spend(atom.steps);
        match &atom.kind {
            AtomKind::Opaque => TruthSet::EITHER,
            AtomKind::Expr(expr) => {
                let slots = Slots { problem: self, slot };
                match evaluate(expr, &slots, atom.dialect) {
                    Ok(value) => TruthSet::from_bool(truthy(&value, atom.dialect.semantics())),
                    Err(_) => TruthSet::ERROR,
                }
            }
            AtomKind::Fact(kind) => {
                let value = match atom.variables.first().and_then(|v| slot(*v)) {
                    Some(Slot::Value(value)) => value,
                    _ => &Value::Undefined,
                };
                TruthSet::from_bool(fact_holds(kind, value, self.semantics))
            }
            AtomKind::Part => match atom.variables.as_slice() {
                [whole, part] => match (slot(*whole), slot(*part)) {
                    (Some(whole_slot), Some(part_slot)) => TruthSet::from_bool(
                        self.is_member((*whole, whole_slot), (*part, part_slot)),
                    ),
                    _ => TruthSet::EITHER,
                },
                _ => TruthSet::TRUE,
            },
        }
    }

    /// Whether a member may have its value if its object has the other one.
    fn is_member(&self, whole: (usize, &Slot), part: (usize, &Slot)) -> bool {
        let (Some(w), Some(p)) = (self.variables.get(whole.0), self.variables.get(part.0)) else {
            return true;
        };
        let rest = p.path.segments.get(w.path.segments.len()..).unwrap_or_default();
        let Slot::Value(value) = whole.1 else { return *part.1 == Slot::Missing };
        let open = match (value, rest.first()) {
            (Value::Object(object), _) => !object.fields().is_empty(),
            (Value::List(list), Some(Segment::Index(_))) => !list.items().is_empty(),
            _ => false,
        };
        if open {
            return rest.len() > 1 || *part.1 != Slot::Missing;
        }
        let mut found = Ok(value.clone());
        for segment in rest {
            found = found.and_then(|v| member(&v, segment, self.semantics));
        }
        match (found, part.1) {
            (Ok(found), Slot::Value(value)) => {
                found == *value || (found.is_unset() && value.is_unset())
            }
            (Err(_), Slot::Missing) => true,
            _ => false,
        }
    }

    /// Returns the variable with this path.
    pub(crate) fn variable_of(&self, path: &Path) -> Option<usize> {
        self.by_path.get(path).copied()
    }
}

/// Returns the dialects of a query, its own first, and one of those that compute alike.
fn dialects(query: &Query<'_>) -> Vec<Dialect> {
    let mut all = vec![query.dialect];
    for assertion in query.assertions() {
        let dialect = assertion.test.dialect(query.dialect);
        if !all.iter().any(|known| dialect.computes_like(*known)) {
            all.push(dialect);
        }
    }
    all
}

/// Comparisons and tests of ABL never fail; the rest may.
fn expr_may_fail(expr: &Expr, dialect: Dialect) -> bool {
    if !dialect.semantics().error_is_false {
        return true;
    }
    match classify(expr) {
        AtomClass::TypeTest | AtomClass::Equality | AtomClass::Order => false,
        AtomClass::Content => !matches!(&expr.kind, ExprKind::Binary { op, right, .. }
            if *op != BinaryOp::Matches || literal_pattern(right)),
        AtomClass::Length | AtomClass::Other => {
            let mut fails = false;
            expr.visit(&mut |e| {
                fails |= match &e.kind {
                    ExprKind::Binary { op, .. } => op.is_arithmetic() || *op == BinaryOp::Matches,
                    ExprKind::Path(_)
                    | ExprKind::Literal(_)
                    | ExprKind::IsSet { .. }
                    | ExprKind::And(_)
                    | ExprKind::Or(_)
                    | ExprKind::Conditional { .. } => false,
                    ExprKind::Unary { op, .. } => {
                        matches!(op, UnaryOp::Negate | UnaryOp::Plus)
                    }
                    ExprKind::Call { function, .. } => function.value != "LENGTH",
                    _ => true,
                };
                Visit::Children
            });
            fails
        }
    }
}

/// An environment that reads variables from slots.
struct Slots<'p, 'a, 's, 'f> {
    problem: &'p Problem<'a>,
    slot: &'f dyn Fn(usize) -> Option<&'s Slot>,
}

impl Environment for Slots<'_, '_, '_, '_> {
    fn path(&self, path: &Path, semantics: &Semantics) -> Result<Value, EvalError> {
        let value = |variable: usize| match (self.slot)(variable) {
            Some(Slot::Value(value)) => Ok(value.clone()),
            Some(Slot::Missing) if semantics.unset_member == Unset::Nothing => Ok(Value::Undefined),
            Some(Slot::Missing) => Err(EvalError::NoMember),
            None => Ok(Value::Undefined),
        };
        if let Some(variable) = self.problem.variable_of(path) {
            return value(variable);
        }
        // `items.length`, where `items` is the variable.
        let Some((last, rest)) = path.segments.split_last() else { return Ok(Value::Undefined) };
        let whole = Path { segments: rest.to_vec(), ..path.clone() };
        match self.problem.variable_of(&whole) {
            Some(variable) => member(&value(variable)?, last, semantics),
            None => Ok(Value::Undefined),
        }
    }
}

/// Whether a fact holds for a value.
pub(crate) fn fact_holds(kind: &FactKind, value: &Value, semantics: &Semantics) -> bool {
    if value.is_unset() {
        return match kind {
            FactKind::Set => false,
            FactKind::Is(is) => is.is_unset(),
            _ => true,
        };
    }
    match kind {
        FactKind::Set => true,
        FactKind::Is(is) => is == value,
        FactKind::Type(ty) => is_of_type(*ty, value),
        FactKind::OneOf(values) => values.contains(value),
        FactKind::AtLeast(bound, n) => measure(*bound, value).is_none_or(|m| m >= *n),
        FactKind::AtMost(bound, n) => measure(*bound, value).is_none_or(|m| m <= *n),
        FactKind::Pattern(by) => match (value, pattern(by)) {
            (Value::Text(text), Ok(by)) => by.is_match(text),
            (Value::Number(_), Ok(by)) => by.is_match(&agentir_eval::text(value, semantics)),
            _ => true,
        },
    }
}

fn is_of_type(ty: Type, value: &Value) -> bool {
    match (ty, value) {
        (Type::Text, Value::Text(_))
        | (Type::Number, Value::Number(_))
        | (Type::Bool, Value::Bool(_))
        | (Type::Date, Value::Date(_))
        | (Type::List, Value::List(_))
        | (Type::Object, Value::Object(_)) => true,
        (Type::Integer, Value::Number(n)) => n.fract() == 0.0,
        (Type::Date, Value::Text(text)) => Date::parse(text).is_some(),
        _ => false,
    }
}

/// Returns what a bound limits: the number or the length. `None` if the value has neither.
fn measure(bound: Bound, value: &Value) -> Option<f64> {
    match (bound, value) {
        (Bound::Value, Value::Number(n)) => Some(*n),
        (Bound::Length, Value::Text(_) | Value::List(_)) => length(value).map(|n| n as f64),
        _ => None,
    }
}

/// Whether an expression has no known semantics.
pub(crate) fn is_opaque(expr: &Expr) -> bool {
    let mut opaque = false;
    expr.visit(&mut |e| {
        opaque |= match &e.kind {
            ExprKind::Call { function, .. } => !is_evaluated(&function.value),
            ExprKind::Method { method, .. } => !is_evaluated_method(&method.value),
            ExprKind::Ellipsis => true,
            ExprKind::Path(path) => path.segments.contains(&Segment::Any),
            _ => false,
        };
        Visit::Children
    });
    opaque
}

fn literal_pattern(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Literal(Constant::Regex(text) | Constant::String(text)) => pattern(text).is_ok(),
        _ => false,
    }
}

/// Returns a canonical key of an expression. Strings, patterns and dates print alike, so a suffix
/// distinguishes them.
pub(crate) fn key(expr: &Expr) -> String {
    let mut key = expr.to_string();
    expr.visit(&mut |e| {
        let mark = match &e.kind {
            ExprKind::Literal(Constant::Date(_)) => "d",
            ExprKind::Literal(Constant::String(_)) => "s",
            ExprKind::Binary { op: BinaryOp::StrictEqual | BinaryOp::StrictNotEqual, .. } => "!",
            _ => "",
        };
        let _ = key.write_str(mark);
        Visit::Children
    });
    key
}
