//! Expressions over sets of values: what they may be, and what is left of a state in which one holds.

use super::Scope;
use super::set::{Known, Range, SourceKind, ValueSet};
use super::state::{Relation, State};
use crate::conditions::is_stable;
use crate::proof::VariableFacts;
use agentir_eval::{Outcome, Value, evaluate, outcome};
use agentir_expr::{BinaryOp, Dialect, Expr, ExprKind, Literal, Path, UnaryOp, Visit, methods};
use agentir_solver::{Bound, FactKind, Type};
use std::rc::Rc;

/// The maximum number of combinations of values that an expression is evaluated for.
const MAX_COMBINATIONS: usize = 128;

/// The maximum depth of expressions.
const MAX_DEPTH: u8 = 32;

/// The maximum number of parts of a conjunction or disjunction whose cases are told apart.
const MAX_PARTS: usize = 12;

/// What expressions of an agent are evaluated in.
#[derive(Clone, Copy)]
pub(crate) struct Frame<'s> {
    pub(crate) scope: &'s Scope,
    pub(crate) dialect: Dialect,
    pub(crate) facts: &'s VariableFacts,
}

/// A variable of an expression, with its name in the evaluator's state and its values.
struct Listed {
    slot: usize,
    name: smol_str::SmolStr,
    values: Vec<Value>,
}

impl Frame<'_> {
    /// What is known of any value of a path by its declarations.
    pub(crate) fn declared(&self, path: &Path) -> ValueSet {
        let mut set = ValueSet::any();
        let mut range = Range::ALL;
        let mut number = false;
        for fact in self.facts.facts().get(path) {
            match &fact.kind {
                FactKind::Type(Type::Bool) => {
                    set.known = Known::Values(vec![Value::Bool(true), Value::Bool(false)]);
                }
                FactKind::Type(Type::Number) => number = true,
                FactKind::Type(Type::Integer) => {
                    number = true;
                    range.whole = true;
                }
                FactKind::OneOf(values) if values.len() <= super::set::MAX_VALUES => {
                    set.known = Known::Values(values.clone());
                }
                FactKind::AtLeast(Bound::Value, least) => range.least = range.least.max(*least),
                FactKind::AtMost(Bound::Value, most) => range.most = range.most.min(*most),
                _ => {}
            }
        }
        if number && matches!(set.known, Known::Any) {
            set.known = Known::Range(range);
        }
        set
    }

    pub(crate) fn path(&self, path: &Path, state: &State) -> ValueSet {
        match self.scope.slot(path).and_then(|slot| state.get(slot)) {
            Some(set) => set.clone(),
            None => self.declared(path),
        }
    }

    /// What an expression may be.
    pub(crate) fn value(&self, expr: &Expr, state: &State, depth: u8) -> ValueSet {
        if depth > MAX_DEPTH {
            return ValueSet::any();
        }
        match &expr.kind {
            ExprKind::Path(path) => return self.path(path, state),
            ExprKind::Conditional { condition, then, otherwise } => {
                let mut set = ValueSet::none();
                for (holds, value) in [(true, then), (false, otherwise)] {
                    let mut state = Rc::new(state.clone());
                    if self.assume(&mut state, condition, holds) {
                        set.join(&self.value(value, &state, depth + 1));
                    }
                }
                return set;
            }
            _ => {}
        }
        if let Some(all) = self.listed(expr, state) {
            let mut set = ValueSet::none();
            for_each_combination(&all, self.scope, state, &mut |variables| {
                match evaluate(expr, variables, self.dialect) {
                    Ok(value) => set.join(&ValueSet::of(value)),
                    Err(_) => set.join(&ValueSet::unset()),
                };
            });
            for variable in &all {
                let sources = state.get(variable.slot).map(|set| set.sources.clone());
                sources.into_iter().flatten().for_each(|source| set.add_source(source));
            }
            return set;
        }
        match &expr.kind {
            ExprKind::Binary { op, left, right } if op.is_arithmetic() => {
                let [left, right] = [left, right].map(|e| self.value(e, state, depth + 1));
                arithmetic(*op, &left, &right).unwrap_or_else(ValueSet::any)
            }
            _ => ValueSet::any(),
        }
    }

    /// The variables of an expression with their values, if it depends on nothing else and they are few.
    fn listed(&self, expr: &Expr, state: &State) -> Option<Vec<Listed>> {
        let mut all: Vec<Listed> = Vec::new();
        let mut possible = is_stable(expr);
        expr.visit(&mut |e| {
            match &e.kind {
                ExprKind::Path(path) => {
                    let whole = Path { segments: Vec::new(), ..path.clone() };
                    match self.scope.slot(&whole).and_then(|slot| Some((slot, state.get(slot)?))) {
                        Some((slot, set)) => {
                            let name = match &path.namespace {
                                None => path.root.value.clone(),
                                Some(n) => {
                                    smol_str::format_smolstr!("@{}.{}", n.value, path.root.value)
                                }
                            };
                            if !all.iter().any(|known| known.name == name) {
                                match set.listed() {
                                    Some(values) => all.push(Listed { slot, name, values }),
                                    None => possible = false,
                                }
                            }
                        }
                        None => possible = false,
                    }
                }
                ExprKind::Method { method, .. } => {
                    possible &= methods().iter().any(|m| m.name == method.value);
                }
                ExprKind::Object(entries) if entries.iter().any(|e| e.value.is_none()) => {
                    possible = false;
                }
                ExprKind::Ellipsis => possible = false,
                _ => {}
            }
            if possible { Visit::Children } else { Visit::Skip }
        });
        let combinations =
            all.iter().try_fold(1_usize, |product, one| product.checked_mul(one.values.len()));
        (possible && combinations? <= MAX_COMBINATIONS).then_some(all)
    }

    /// Leaves in a state only what is possible where a condition has an outcome. Returns false if nothing is.
    pub(crate) fn assume(&self, state: &mut Rc<State>, expr: &Expr, holds: bool) -> bool {
        self.assume_at(state, expr, holds, 0)
    }

    fn assume_at(&self, state: &mut Rc<State>, expr: &Expr, holds: bool, depth: u8) -> bool {
        if depth > MAX_DEPTH {
            return true;
        }
        let depth = depth + 1;
        match &expr.kind {
            ExprKind::And(parts) | ExprKind::Or(parts) => {
                let all = matches!(expr.kind, ExprKind::And(_)) == holds;
                if all {
                    return parts.iter().all(|part| self.assume_at(state, part, holds, depth));
                }
                if parts.len() > MAX_PARTS {
                    return true;
                }
                // One of the parts decides, and those before it do not.
                let mut before = Rc::clone(state);
                let mut joined: Option<State> = None;
                for part in parts {
                    let mut here = Rc::clone(&before);
                    if self.assume_at(&mut here, part, holds, depth) {
                        match &mut joined {
                            Some(all) => {
                                all.join(&here, None);
                            }
                            None => joined = Some(here.as_ref().clone()),
                        }
                    }
                    if !self.assume_at(&mut before, part, !holds, depth) {
                        break;
                    }
                }
                match joined {
                    Some(all) => {
                        *state = Rc::new(all);
                        true
                    }
                    None => false,
                }
            }
            ExprKind::Unary { op: UnaryOp::Not, operand } => {
                self.assume_at(state, operand, !holds, depth)
            }
            _ => self.assume_atom(state, expr, holds),
        }
    }

    fn assume_atom(&self, state: &mut Rc<State>, expr: &Expr, holds: bool) -> bool {
        if let Some(all) = self.listed(expr, state) {
            return self.assume_listed(state, expr, holds, &all);
        }
        if let ExprKind::IsSet { operand, negated } = &expr.kind
            && let Some(slot) = operand.as_path().and_then(|path| self.scope.slot(path))
            && let Some(set) = state.get(slot)
        {
            let narrowed = match holds != *negated {
                true => ValueSet { unset: false, ..set.clone() },
                false => ValueSet { known: Known::Values(Vec::new()), ..set.clone() },
            };
            if narrowed.is_none() {
                return false;
            }
            let narrowed = narrowed.resting_on(expr.span, SourceKind::Tested);
            return Rc::make_mut(state).narrow(self.scope, slot, narrowed);
        }
        let Some((path, op, literal)) = comparison(expr) else {
            return self.assume_order(state, expr, holds);
        };
        let Some(slot) = self.scope.slot(path) else { return true };
        let Some(set) = state.get(slot) else { return true };
        let mut narrowed = set.clone();
        if narrowed.unset {
            let mut unset = agentir_eval::State::new();
            unset.set(name_of(path), Value::Undefined);
            narrowed.unset = may_be(outcome(expr, &unset, self.dialect), holds);
        }
        match (literal, &mut narrowed.known) {
            (Literal::Number(n), Known::Range(range)) => cut(range, op, *n, holds),
            (Literal::Bool(_) | Literal::Number(_), _) => {}
            (Literal::String(text), known @ Known::Any)
                if equality(op) == Some(holds) && is_only_text(text) =>
            {
                *known = Known::Values(vec![Value::from(text.as_str())]);
            }
            _ => {}
        }
        if narrowed.is_none() {
            return false;
        }
        if narrowed != *set {
            narrowed = narrowed.resting_on(expr.span, SourceKind::Tested);
            return Rc::make_mut(state).narrow(self.scope, slot, narrowed);
        }
        true
    }

    /// A comparison of two variables that are numbers.
    fn assume_order(&self, state: &mut Rc<State>, expr: &Expr, holds: bool) -> bool {
        let ExprKind::Binary { op, left, right } = &expr.kind else { return true };
        if !self.bounds_allow(state, (left, *op, right), holds) {
            return false;
        }
        let (Some((left, more)), Some((right, less))) = (self.offset(left), self.offset(right))
        else {
            return true;
        };
        // left + more OP right + less
        let Some((pair, swapped)) = self.scope.pair(left, right) else { return true };
        let bound = more - less;
        let whole = [left, right].iter().all(|slot| {
            state.get(*slot).and_then(ValueSet::range).is_some_and(|range| range.whole)
        }) && bound.fract() == 0.0;
        let mut by = Range { whole, ..Range::ALL };
        // The difference of the right and the left one.
        match (op, holds) {
            (BinaryOp::Less, true) | (BinaryOp::GreaterEqual, false) => {
                by.least = if whole { bound + 1.0 } else { bound };
            }
            (BinaryOp::LessEqual, true) | (BinaryOp::Greater, false) => by.least = bound,
            (BinaryOp::Greater, true) | (BinaryOp::LessEqual, false) => {
                by.most = if whole { bound - 1.0 } else { bound };
            }
            (BinaryOp::GreaterEqual, true) | (BinaryOp::Less, false) => by.most = bound,
            _ if equality(*op) == Some(holds) => {
                by.least = bound;
                by.most = bound;
            }
            _ => return true,
        }
        let known = match state.relation(pair) {
            Some(Relation::Difference(d)) if swapped => {
                Some(Range { least: -d.most, most: -d.least, whole: d.whole })
            }
            Some(Relation::Difference(d)) => Some(*d),
            _ => None,
        };
        // Strict bounds between numbers that need not be whole.
        let strict = !whole
            && matches!(
                (op, holds),
                (BinaryOp::Less | BinaryOp::Greater, true)
                    | (BinaryOp::LessEqual | BinaryOp::GreaterEqual, false)
            );
        let unset = [left, right].iter().any(|slot| state.get(*slot).is_none_or(|set| set.unset));
        if strict && !unset && known.is_some_and(|d| d.most == by.least || d.least == by.most) {
            return false;
        }
        if swapped {
            by = Range { least: -by.most, most: -by.least, whole };
        }
        Rc::make_mut(state).narrow_difference(self.scope, pair, by)
    }

    /// Whether the bounds of two numbers allow what is said of their order.
    fn bounds_allow(
        &self,
        state: &State,
        (left, op, right): (&Expr, BinaryOp, &Expr),
        holds: bool,
    ) -> bool {
        let bounds = |expr: &Expr| {
            let set = self.value(expr, state, 0);
            if set.unset { None } else { set.range() }
        };
        let (Some(left), Some(right)) = (bounds(left), bounds(right)) else { return true };
        match (op, holds) {
            (BinaryOp::Less, true) | (BinaryOp::GreaterEqual, false) => left.least < right.most,
            (BinaryOp::LessEqual, true) | (BinaryOp::Greater, false) => left.least <= right.most,
            (BinaryOp::Greater, true) | (BinaryOp::LessEqual, false) => left.most > right.least,
            (BinaryOp::GreaterEqual, true) | (BinaryOp::Less, false) => left.most >= right.least,
            _ if equality(op) == Some(holds) => {
                left.least <= right.most && right.least <= left.most
            }
            _ => true,
        }
    }

    /// A variable and a number that is added to it.
    fn offset(&self, expr: &Expr) -> Option<(usize, f64)> {
        let number = |expr: &Expr| match &expr.kind {
            ExprKind::Literal(Literal::Number(n)) => Some(*n),
            _ => None,
        };
        match &expr.kind {
            ExprKind::Path(path) => Some((self.scope.slot(path)?, 0.0)),
            ExprKind::Binary { op: BinaryOp::Add, left, right } => {
                match (left.as_path(), right.as_path()) {
                    (Some(path), None) => Some((self.scope.slot(path)?, number(right)?)),
                    (None, Some(path)) => Some((self.scope.slot(path)?, number(left)?)),
                    _ => None,
                }
            }
            ExprKind::Binary { op: BinaryOp::Subtract, left, right } => {
                Some((self.scope.slot(left.as_path()?)?, -number(right)?))
            }
            _ => None,
        }
    }

    /// Assigns a set to a variable, and keeps what the value has to do with other variables.
    pub(crate) fn assign(&self, state: &mut State, slot: usize, set: ValueSet, value: &Expr) {
        let mut related: Vec<(usize, Relation)> = Vec::new();
        for (pair, (first, second)) in self.scope.pairs.iter().enumerate() {
            if *first != slot && *second != slot {
                continue;
            }
            let other = if *first == slot { *second } else { *first };
            let relation = match state.relation(pair) {
                Some(Relation::Tuples(all)) => {
                    self.assigned_tuples(state, (*first, *second), slot, all, value)
                }
                _ => None,
            };
            let relation = relation.or_else(|| {
                let numeric = set.range().is_some() && !set.unset;
                let others =
                    state.get(other).is_some_and(|set| !set.unset && set.range().is_some());
                let (of, by) = self.offset(value).filter(|_| numeric && others)?;
                let sign = if slot == *second { 1.0 } else { -1.0 };
                match (of == other, of == slot, state.relation(pair)) {
                    (true, _, _) => {
                        let difference = sign * by;
                        let whole = difference.fract() == 0.0;
                        Some(Relation::Difference(Range {
                            least: difference,
                            most: difference,
                            whole,
                        }))
                    }
                    (_, true, Some(Relation::Difference(d))) => Some(Relation::Difference(Range {
                        least: d.least + sign * by,
                        most: d.most + sign * by,
                        whole: d.whole && by.fract() == 0.0,
                    })),
                    _ => None,
                }
            });
            related.extend(relation.map(|relation| (pair, relation)));
        }
        state.put(self.scope, slot, set);
        for (pair, relation) in related {
            state.relate(pair, relation);
        }
    }

    /// The pairs of values after an assignment, if they are few.
    fn assigned_tuples(
        &self,
        state: &State,
        (first, second): (usize, usize),
        slot: usize,
        all: &[(Value, Value)],
        value: &Expr,
    ) -> Option<Relation> {
        let mut result: Vec<(Value, Value)> = Vec::new();
        for (x, y) in all {
            let mut sets: Vec<ValueSet> = state.to_vec();
            *sets.get_mut(first)? = ValueSet::of(x.clone());
            *sets.get_mut(second)? = ValueSet::of(y.clone());
            let here = State::bare(sets);
            for new in self.value(value, &here, 0).listed()? {
                let pair = match slot == first {
                    true => (new, y.clone()),
                    false => (x.clone(), new),
                };
                if !result.contains(&pair) {
                    result.push(pair);
                }
            }
        }
        (result.len() <= super::set::MAX_VALUES).then_some(Relation::Tuples(result))
    }

    fn assume_listed(
        &self,
        state: &mut Rc<State>,
        expr: &Expr,
        holds: bool,
        all: &[Listed],
    ) -> bool {
        let mut kept: Vec<Vec<Value>> = vec![Vec::new(); all.len()];
        let mut possible = false;
        for_each_combination(all, self.scope, state, &mut |variables| {
            if may_be(outcome(expr, variables, self.dialect), holds) {
                possible = true;
                for (one, kept) in all.iter().zip(&mut kept) {
                    let value = variables.get(&one.name).cloned().unwrap_or_default();
                    if !kept.contains(&value) {
                        kept.push(value);
                    }
                }
            }
        });
        if !possible {
            return false;
        }
        for (one, kept) in all.iter().zip(kept) {
            if kept.len() < one.values.len()
                && let Some(set) = state.get(one.slot)
            {
                let unset = kept.iter().any(Value::is_unset);
                let values = kept.into_iter().filter(|value| !value.is_unset()).collect();
                let known = Known::Values(values);
                let sources = set.sources.clone();
                let narrowed = ValueSet { unset, known, sources };
                let narrowed = narrowed.resting_on(expr.span, SourceKind::Tested);
                if !Rc::make_mut(state).narrow(self.scope, one.slot, narrowed) {
                    return false;
                }
            }
        }
        true
    }
}

/// Whether a test with this outcome may lead to where it must hold, or must not. One that cannot be evaluated does not
/// hold; whether it also stops what runs is not relied on.
fn may_be(outcome: Outcome, holds: bool) -> bool {
    match outcome {
        Outcome::True => holds,
        Outcome::False => !holds,
        Outcome::Error => !holds,
    }
}

fn name_of(path: &Path) -> smol_str::SmolStr {
    match &path.namespace {
        None => path.root.value.clone(),
        Some(n) => smol_str::format_smolstr!("@{}.{}", n.value, path.root.value),
    }
}

/// Calls `found` with each combination of the variables' values that is possible.
fn for_each_combination(
    all: &[Listed],
    scope: &Scope,
    known: &State,
    found: &mut dyn FnMut(&agentir_eval::State),
) {
    if all.iter().any(|one| one.values.is_empty()) {
        return;
    }
    let place = |slot: usize| all.iter().position(|one| one.slot == slot);
    let pairs = scope.pairs.iter().enumerate();
    let pairs: Vec<(usize, usize, usize)> = pairs
        .filter(|_| all.len() > 1)
        .filter_map(|(pair, (first, second))| Some((pair, place(*first)?, place(*second)?)))
        .collect();
    let mut at = vec![0_usize; all.len()];
    loop {
        let mut variables = agentir_eval::State::new();
        for (one, at) in all.iter().zip(&at) {
            if let Some(value) = one.values.get(*at) {
                variables.set(one.name.clone(), value.clone());
            }
        }
        let value = |one: usize| all.get(one)?.values.get(*at.get(one)?);
        let possible =
            pairs.iter().all(|(pair, first, second)| match (value(*first), value(*second)) {
                (Some(first), Some(second)) => known.allows(*pair, first, second),
                _ => true,
            });
        if possible {
            found(&variables);
        }
        let mut done = true;
        for (one, at) in all.iter().zip(&mut at) {
            *at += 1;
            if *at < one.values.len() {
                done = false;
                break;
            }
            *at = 0;
        }
        if done {
            return;
        }
    }
}

/// A comparison of a variable with a constant, the variable on the left.
fn comparison(expr: &Expr) -> Option<(&Path, BinaryOp, &Literal)> {
    let ExprKind::Binary { op, left, right } = &expr.kind else { return None };
    match (&left.kind, &right.kind) {
        (ExprKind::Path(path), ExprKind::Literal(literal)) => Some((path, *op, literal)),
        (ExprKind::Literal(literal), ExprKind::Path(path)) => {
            let op = match op {
                BinaryOp::Less => BinaryOp::Greater,
                BinaryOp::LessEqual => BinaryOp::GreaterEqual,
                BinaryOp::Greater => BinaryOp::Less,
                BinaryOp::GreaterEqual => BinaryOp::LessEqual,
                op if op.is_equality() => *op,
                _ => return None,
            };
            Some((path, op, literal))
        }
        _ => None,
    }
}

/// Whether an operator says that two values are equal, or that they are not.
const fn equality(op: BinaryOp) -> Option<bool> {
    match op {
        BinaryOp::Equal | BinaryOp::StrictEqual | BinaryOp::Is => Some(true),
        BinaryOp::NotEqual | BinaryOp::StrictNotEqual | BinaryOp::IsNot => Some(false),
        _ => None,
    }
}

/// Whether nothing but itself equals a text: it is no number, which converts.
fn is_only_text(text: &str) -> bool {
    text.trim().parse::<f64>().is_err() && !text.is_empty()
}

/// Cuts an interval to the numbers that a comparison with `n` allows.
fn cut(range: &mut Range, op: BinaryOp, n: f64, holds: bool) {
    let whole = range.whole && n.fract() == 0.0;
    let step = if whole { 1.0 } else { 0.0 };
    let none = match (op, holds) {
        (BinaryOp::Less, true) | (BinaryOp::GreaterEqual, false) => range.least >= n,
        (BinaryOp::Greater, true) | (BinaryOp::LessEqual, false) => range.most <= n,
        _ => false,
    };
    if none {
        *range = Range { least: f64::INFINITY, most: f64::NEG_INFINITY, whole };
        return;
    }
    match (op, holds) {
        (BinaryOp::Less, true) | (BinaryOp::GreaterEqual, false) => {
            range.most = range.most.min(n - step);
        }
        (BinaryOp::LessEqual, true) | (BinaryOp::Greater, false) => range.most = range.most.min(n),
        (BinaryOp::Greater, true) | (BinaryOp::LessEqual, false) => {
            range.least = range.least.max(n + step);
        }
        (BinaryOp::GreaterEqual, true) | (BinaryOp::Less, false) => {
            range.least = range.least.max(n);
        }
        _ if equality(op) == Some(holds) => {
            range.least = range.least.max(n);
            range.most = range.most.min(n);
        }
        _ => {}
    }
}

/// The result of an operator on numbers. What is unset may count as 0 or make the result unset.
fn arithmetic(op: BinaryOp, left: &ValueSet, right: &ValueSet) -> Option<ValueSet> {
    let with_zero = |set: &ValueSet| {
        let range = set.range()?;
        Some(match set.unset {
            true => {
                Range { least: range.least.min(0.0), most: range.most.max(0.0), whole: range.whole }
            }
            false => range,
        })
    };
    let (a, b) = (with_zero(left)?, with_zero(right)?);
    let whole = a.whole && b.whole;
    let range = match op {
        BinaryOp::Add => Range { least: a.least + b.least, most: a.most + b.most, whole },
        BinaryOp::Subtract => Range { least: a.least - b.most, most: a.most - b.least, whole },
        BinaryOp::Multiply => {
            let all = [a.least * b.least, a.least * b.most, a.most * b.least, a.most * b.most];
            if all.iter().any(|n| n.is_nan()) {
                return None;
            }
            let least = all.iter().copied().fold(f64::INFINITY, f64::min);
            let most = all.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            Range { least, most, whole }
        }
        _ => return None,
    };
    if range.least.is_nan() || range.most.is_nan() {
        return None;
    }
    let mut set = ValueSet::of_range(range);
    set.unset = left.unset || right.unset;
    left.sources.iter().chain(&right.sources).for_each(|source| set.add_source(*source));
    Some(set)
}
