//! A question in the solver's own form: variables, atoms, and goals that are all to be met.

use crate::outcome::{Formula, Outcomes};
use crate::query::{Bound, Fact, FactKind, Facts, Label, Literal, Query, Question, Test, Type};
use crate::shape::{Shape, is_length, shape};
use agentir_eval::{
    Date, Environment, EvalError, Semantics, State, Unset, Value, evaluate, is_evaluated,
    is_evaluated_method, length, member, pattern, semantics, truthy,
};
use agentir_expr::{
    BinaryOp, Dialect, Expr, ExprKind, Literal as Constant, Path, Segment, UnaryOp, Visit,
};
use rustc_hash::FxHashMap;
use smol_str::{SmolStr, ToSmolStr};
use std::fmt::Write;

/// What a variable stands for: a value, or a part that cannot be looked at because what it is a
/// part of is unset (where the dialect makes that an error).
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Slot {
    Value(Value),
    Missing,
}

/// A variable or a part of one.
#[derive(Clone, Debug)]
pub(crate) struct Variable {
    pub(crate) path: Path,
    pub(crate) name: SmolStr,
    /// Whether a condition mentions it; else only facts do.
    pub(crate) mentioned: bool,
}

/// Something that is true or false or fails, and is no combination of others.
#[derive(Clone, Debug)]
pub(crate) struct Atom<'a> {
    pub(crate) kind: AtomKind<'a>,
    /// The variables it reads.
    pub(crate) variables: Vec<usize>,
    /// Whether it may fail.
    pub(crate) may_fail: bool,
    /// What it means, if it is an expression.
    pub(crate) dialect: Dialect,
}

#[derive(Clone, Debug)]
pub(crate) enum AtomKind<'a> {
    Expr(&'a Expr),
    /// Words, or an expression of which nothing is known but how it is written.
    Opaque,
    /// A fact about the only variable.
    Fact(&'a FactKind),
    /// That the second variable, a part of the first, fits the first.
    Part,
}

/// Something to be met.
#[derive(Clone, Debug)]
pub(crate) struct Goal {
    pub(crate) kind: GoalKind,
    /// The line it comes from, by its index in [`Problem::labels`].
    pub(crate) label: Option<usize>,
    pub(crate) variables: Vec<usize>,
    pub(crate) atoms: Vec<usize>,
    /// Whether it is a fact, or keeps parts and wholes together; else it is part of the question.
    pub(crate) fact: bool,
}

#[derive(Clone, Debug)]
pub(crate) enum GoalKind {
    /// The formula comes out as one of these.
    Is(Formula, Outcomes),
    /// One of the two does, the other does not.
    Differ([(Formula, Outcomes); 2]),
}

impl Goal {
    /// Whether it is met (true), not met (false), or may be either.
    pub(crate) fn outcomes(&self, atom: &impl Fn(usize) -> Outcomes) -> Outcomes {
        let is = |formula: &Formula, wanted: Outcomes| {
            let found = formula.outcomes(atom);
            let mut all = Outcomes::NONE;
            if found.meets(wanted) {
                all = all.or(Outcomes::TRUE);
            }
            if found.meets(wanted.others()) {
                all = all.or(Outcomes::FALSE);
            }
            all
        };
        match &self.kind {
            GoalKind::Is(formula, wanted) => is(formula, *wanted),
            GoalKind::Differ([(a, wanted_a), (b, wanted_b)]) => {
                let (a, b) = (is(a, *wanted_a), is(b, *wanted_b));
                if a.is_one() && b.is_one() { Outcomes::of(a != b) } else { Outcomes::EITHER }
            }
        }
    }
}

/// A question in the solver's form.
#[derive(Debug)]
pub(crate) struct Problem<'a> {
    pub(crate) dialect: Dialect,
    /// What variables and their parts mean. Where dialects meet it is the strictest of them, which
    /// tells most values apart.
    pub(crate) semantics: &'static Semantics,
    /// The dialects of the conditions.
    dialects: Vec<Dialect>,
    pub(crate) variables: Vec<Variable>,
    pub(crate) atoms: Vec<Atom<'a>>,
    pub(crate) goals: Vec<Goal>,
    /// The lines: one for each condition that is given, then one for each fact that has one.
    pub(crate) labels: Vec<Label>,
    by_path: FxHashMap<Path, usize>,
    by_key: FxHashMap<SmolStr, usize>,
}

impl<'a> Problem<'a> {
    pub(crate) fn new(query: &Query<'a>) -> Self {
        let dialects = dialects(query);
        let strict = dialects.iter().map(|d| semantics(*d));
        let strict = strict.into_iter().find(|s| s.unset_member == Unset::Error);
        let mut problem = Self {
            dialect: query.dialect,
            semantics: strict.unwrap_or_else(|| semantics(query.dialect)),
            dialects,
            variables: Vec::new(),
            atoms: Vec::new(),
            goals: Vec::new(),
            labels: Vec::new(),
            by_path: FxHashMap::default(),
            by_key: FxHashMap::default(),
        };
        for literal in &query.given {
            let (formula, wanted) = problem.literal(literal, query.facts);
            let label = problem.label(literal.label);
            problem.require(formula, wanted, Some(label));
        }
        match &query.question {
            Question::Satisfiable => {}
            Question::Implied(literal) => {
                let (formula, wanted) = problem.literal(literal, query.facts);
                problem.require(formula, wanted.others(), None);
            }
            Question::Equivalent(a, b) => {
                let sides = [a, b].map(|l| problem.literal(l, query.facts));
                problem.goal(GoalKind::Differ(sides), None, false);
            }
        }
        problem.add_facts(query.facts);
        problem.keep_parts_together();
        problem
    }

    /// The formula of a literal, and what it is to come out as.
    fn literal(&mut self, literal: &Literal<'a>, facts: &Facts) -> (Formula, Outcomes) {
        let dialect = literal.test.dialect(self.dialect);
        let formula = match literal.test {
            Test::Expr(expr) | Test::In(_, expr) => self.formula(expr, dialect, facts),
            Test::Words(words) => Formula::Atom(self.atom(
                &format!("words {words}"),
                AtomKind::Opaque,
                Vec::new(),
                false,
            )),
        };
        let wanted = match (literal.holds, semantics(dialect).error_is_false) {
            (true, _) => Outcomes::TRUE,
            (false, true) => Outcomes::TRUE.others(),
            (false, false) => Outcomes::FALSE,
        };
        (formula, wanted)
    }

    /// Adds a goal, or the several it consists of.
    fn require(&mut self, formula: Formula, wanted: Outcomes, label: Option<usize>) {
        match formula {
            Formula::Not(inner) => self.require(*inner, wanted.negated(), label),
            Formula::And(parts) if wanted == Outcomes::TRUE => {
                for part in parts {
                    self.require(part, wanted, label);
                }
            }
            Formula::Or(parts)
                if wanted == Outcomes::FALSE
                    || (wanted == Outcomes::TRUE.others()
                        && !parts.iter().any(|p| self.may_fail(p))) =>
            {
                for part in parts {
                    self.require(part, wanted, label);
                }
            }
            formula => self.goal(GoalKind::Is(formula, wanted), label, false),
        }
    }

    fn label(&mut self, label: Label) -> usize {
        self.labels.push(label);
        self.labels.len() - 1
    }

    fn may_fail(&self, formula: &Formula) -> bool {
        formula
            .outcomes(&|atom| {
                let fails = self.atoms.get(atom).is_some_and(|a| a.may_fail);
                if fails { Outcomes::ANY } else { Outcomes::EITHER }
            })
            .meets(Outcomes::ERROR)
    }

    fn goal(&mut self, kind: GoalKind, label: Option<usize>, fact: bool) {
        let mut atoms = Vec::new();
        match &kind {
            GoalKind::Is(formula, _) => formula.atoms(&mut |a| atoms.push(a)),
            GoalKind::Differ(sides) => {
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
        self.goals.push(Goal { kind, label, variables, atoms, fact });
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
                Ok(value) => Outcomes::of(truthy(&value, semantics(dialect))),
                Err(_) => Outcomes::ERROR,
            });
        }
        let mut variables: Vec<usize> = paths
            .into_iter()
            .map(|mut path| {
                // `items.length` is a test of `items`, unless there is a field of that name.
                if is_length(&path) && facts.of(&path).is_empty() {
                    path.segments.pop();
                }
                self.variable(path, true)
            })
            .collect();
        variables.sort_unstable();
        variables.dedup();
        let may_fail = expr_may_fail(expr, dialect);
        let mut key = key(expr);
        if dialect != self.dialect {
            let _ = write!(key, " in {}", dialect.name());
        }
        let atom = self.atom(&key, AtomKind::Expr(expr), variables, may_fail);
        if let Some(atom) = self.atoms.get_mut(atom) {
            atom.dialect = dialect;
        }
        Formula::Atom(atom)
    }

    /// Whether a dialect of the conditions has this property.
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
        self.atoms.push(Atom { kind, variables, may_fail, dialect: self.dialect });
        self.by_key.insert(key.into(), index);
        index
    }

    /// The facts about the variables, and about what they are parts of.
    fn add_facts(&mut self, facts: &'a Facts) {
        let mut at = 0;
        while let Some(variable) = self.variables.get(at) {
            let path = variable.path.clone();
            for end in 0..path.segments.len() {
                let whole = Path {
                    segments: path.segments.get(..end).unwrap_or_default().to_vec(),
                    ..path.clone()
                };
                if !facts.of(&whole).is_empty() {
                    self.variable(whole, false);
                }
            }
            for (i, Fact { kind, label }) in facts.of(&path).iter().enumerate() {
                let key = format!("fact {i} {path}");
                let atom = self.atom(&key, AtomKind::Fact(kind), vec![at], false);
                let label = label.map(|label| self.label(label));
                self.goal(GoalKind::Is(Formula::Atom(atom), Outcomes::TRUE), label, true);
            }
            at += 1;
        }
    }

    fn keep_parts_together(&mut self) {
        for part in 0..self.variables.len() {
            let Some(path) = self.variables.get(part).map(|v| v.path.clone()) else { continue };
            let whole = (0..path.segments.len()).rev().find_map(|end| {
                let segments = path.segments.get(..end).unwrap_or_default().to_vec();
                self.by_path.get(&Path { segments, ..path.clone() }).copied()
            });
            if let Some(whole) = whole {
                let key = format!("part {path}");
                let atom = self.atom(&key, AtomKind::Part, vec![whole, part], false);
                self.goal(GoalKind::Is(Formula::Atom(atom), Outcomes::TRUE), None, true);
            }
        }
    }

    /// What an atom comes out as where its variables stand for `slots`; opaque ones may be either.
    pub(crate) fn outcome<'s>(
        &self,
        atom: &Atom<'a>,
        slot: &dyn Fn(usize) -> Option<&'s Slot>,
    ) -> Outcomes {
        match &atom.kind {
            AtomKind::Opaque => Outcomes::EITHER,
            AtomKind::Expr(expr) => {
                let slots = Slots { problem: self, slot };
                match evaluate(expr, &slots, atom.dialect) {
                    Ok(value) => Outcomes::of(truthy(&value, semantics(atom.dialect))),
                    Err(_) => Outcomes::ERROR,
                }
            }
            AtomKind::Fact(kind) => {
                let value = match atom.variables.first().and_then(|v| slot(*v)) {
                    Some(Slot::Value(value)) => value,
                    _ => &Value::Undefined,
                };
                Outcomes::of(fact_holds(kind, value, self.semantics))
            }
            AtomKind::Part => match atom.variables.as_slice() {
                [whole, part] => match (slot(*whole), slot(*part)) {
                    (Some(whole_slot), Some(part_slot)) => {
                        Outcomes::of(self.fits((*whole, whole_slot), (*part, part_slot)))
                    }
                    _ => Outcomes::EITHER,
                },
                _ => Outcomes::TRUE,
            },
        }
    }

    /// Whether a part may be what it is if the whole is what it is.
    fn fits(&self, whole: (usize, &Slot), part: (usize, &Slot)) -> bool {
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

    /// The variable that `path` is or begins with.
    pub(crate) fn variable_of(&self, path: &Path) -> Option<usize> {
        self.by_path.get(path).copied()
    }
}

/// The dialects of a question's conditions, that of the question first.
fn dialects(query: &Query<'_>) -> Vec<Dialect> {
    let mut all = vec![query.dialect];
    for literal in query.literals() {
        let dialect = literal.test.dialect(query.dialect);
        if !all.contains(&dialect) {
            all.push(dialect);
        }
    }
    all
}

/// Comparisons and tests of ABL never fail; the rest may.
fn expr_may_fail(expr: &Expr, dialect: Dialect) -> bool {
    if !semantics(dialect).error_is_false {
        return true;
    }
    match shape(expr) {
        Shape::Kind | Shape::Equality | Shape::Order => false,
        Shape::Content => !matches!(&expr.kind, ExprKind::Binary { op, right, .. }
            if *op != BinaryOp::Matches || literal_pattern(right)),
        Shape::Length | Shape::Irregular => {
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

/// An environment in which variables stand for slots.
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
        // `items.length`, of which `items` is the variable.
        let Some((last, rest)) = path.segments.split_last() else { return Ok(Value::Undefined) };
        let whole = Path { segments: rest.to_vec(), ..path.clone() };
        match self.problem.variable_of(&whole) {
            Some(variable) => member(&value(variable)?, last, semantics),
            None => Ok(Value::Undefined),
        }
    }
}

/// Whether a fact is true of a value.
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
        FactKind::Type(ty) => has_type(*ty, value),
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

fn has_type(ty: Type, value: &Value) -> bool {
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

/// What a bound is about: the number or the length; none if the value has none.
fn measure(bound: Bound, value: &Value) -> Option<f64> {
    match (bound, value) {
        (Bound::Value, Value::Number(n)) => Some(*n),
        (Bound::Length, Value::Text(_) | Value::List(_)) => length(value).map(|n| n as f64),
        _ => None,
    }
}

/// Whether nothing is known of an expression but how it is written.
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

/// The canonical text of an expression. Texts, patterns and dates print alike, so what they are is
/// added where it is not a text.
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
