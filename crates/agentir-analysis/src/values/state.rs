//! What the variables of a scope may hold together at a program point.

use super::scope::Scope;
use super::set::{Known, Range, Source, ValueSet};
use agentir_eval::Value;
use std::ops::{Deref, DerefMut};

/// More pairs of values than these are not kept.
const MAX_TUPLES: usize = 24;

/// More pairs are not listed in messages.
const MAX_SHOWN: usize = 4;

/// The sets of a scope's variables by slot, and what is known of pairs of them.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct State {
    sets: Vec<ValueSet>,
    /// By the scope's pairs.
    relations: Vec<Relation>,
}

/// What is known of two variables together.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Relation {
    /// Nothing.
    Any,
    /// They have one of these pairs of values; unset ones are undefined.
    Tuples(Vec<(Value, Value)>),
    /// If both are numbers, the second minus the first is in this interval.
    Difference(Range),
}

impl Deref for State {
    type Target = [ValueSet];

    fn deref(&self) -> &[ValueSet] {
        &self.sets
    }
}

impl DerefMut for State {
    fn deref_mut(&mut self) -> &mut [ValueSet] {
        &mut self.sets
    }
}

impl Relation {
    /// All pairs of two sets.
    fn product(first: &ValueSet, second: &ValueSet) -> Self {
        let (Some(first), Some(second)) = (first.listed(), second.listed()) else {
            return Self::Any;
        };
        if first.len().saturating_mul(second.len()) > MAX_TUPLES {
            return Self::Any;
        }
        let pairs = first.iter().flat_map(|a| second.iter().map(move |b| (a.clone(), b.clone())));
        Self::Tuples(pairs.collect())
    }

    /// The difference of pairs of numbers.
    fn difference(&self) -> Option<Range> {
        match self {
            Self::Any => None,
            Self::Difference(range) => Some(*range),
            Self::Tuples(all) => {
                let mut range =
                    Range { least: f64::INFINITY, most: f64::NEG_INFINITY, whole: true };
                for (first, second) in all {
                    let (Value::Number(first), Value::Number(second)) = (first, second) else {
                        return None;
                    };
                    let difference = second - first;
                    range.least = range.least.min(difference);
                    range.most = range.most.max(difference);
                    range.whole &= difference.fract() == 0.0;
                }
                (!all.is_empty()).then_some(range)
            }
        }
    }

    /// The relation of two variables in words, if there is one.
    pub(crate) fn words(&self, first: &str, second: &str) -> Option<String> {
        let value = |value: &Value| match value.is_unset() {
            true => "unset".to_owned(),
            false => format!("`{value}`"),
        };
        match self {
            Self::Tuples(all) if all.len() <= MAX_SHOWN => {
                let pairs: Vec<String> =
                    all.iter().map(|(a, b)| format!("{} and {}", value(a), value(b))).collect();
                Some(format!(
                    "on the paths here `{first}` and `{second}` are {}",
                    pairs.join(", or ")
                ))
            }
            Self::Difference(d) if d.least == d.most => {
                Some(format!("on the paths here `{second}` is `{first}` plus {}", d.least))
            }
            Self::Difference(d) if d.least.is_finite() => {
                Some(format!("on the paths here `{second}` is at least `{first}` plus {}", d.least))
            }
            Self::Difference(d) if d.most.is_finite() => {
                Some(format!("on the paths here `{second}` is at most `{first}` plus {}", d.most))
            }
            _ => None,
        }
    }

    /// Adds what another relation allows. Returns whether that is more.
    pub(crate) fn join(&mut self, other: &Self) -> bool {
        match (&mut *self, other) {
            (Self::Any, _) => return false,
            (Self::Tuples(own), Self::Tuples(more)) => {
                let before = own.len();
                for pair in more {
                    if !own.contains(pair) {
                        own.push(pair.clone());
                    }
                }
                if own.len() <= MAX_TUPLES {
                    return own.len() > before;
                }
            }
            (Self::Tuples(own), _) if own.is_empty() => {
                *self = other.clone();
                return true;
            }
            (_, Self::Tuples(more)) if more.is_empty() => return false,
            _ => {}
        }
        let joined = match (self.difference(), other.difference()) {
            (Some(own), Some(more)) => {
                let hull = Range {
                    least: own.least.min(more.least),
                    most: own.most.max(more.most),
                    whole: own.whole && more.whole,
                };
                Self::Difference(hull)
            }
            _ => Self::Any,
        };
        if *self == joined {
            return false;
        }
        // Differences that keep growing are given up.
        // Bounds that keep moving are given up, so that loops end.
        *self = match (&*self, joined) {
            (Self::Difference(own), Self::Difference(hull)) => {
                let least = if hull.least < own.least { f64::NEG_INFINITY } else { own.least };
                let most = if hull.most > own.most { f64::INFINITY } else { own.most };
                Self::Difference(Range { least, most, whole: hull.whole })
            }
            (_, joined) => joined,
        };
        true
    }
}

impl State {
    /// Variables that have nothing to do with each other.
    pub(crate) fn new(scope: &Scope, sets: Vec<ValueSet>) -> Self {
        let relations = scope
            .pairs
            .iter()
            .map(|(first, second)| match (sets.get(*first), sets.get(*second)) {
                (Some(first), Some(second)) => Relation::product(first, second),
                _ => Relation::Any,
            })
            .collect();
        Self { sets, relations }
    }

    /// Sets alone.
    pub(crate) const fn bare(sets: Vec<ValueSet>) -> Self {
        Self { sets, relations: Vec::new() }
    }

    /// Adds what another state may hold, with bounds moved to `thresholds` where they grow, if there are any. Returns
    /// whether that is more.
    pub(crate) fn join(&mut self, other: &Self, thresholds: Option<&[f64]>) -> bool {
        let mut grew = false;
        for (own, more) in self.sets.iter_mut().zip(&other.sets) {
            let before = thresholds.map(|_| own.clone());
            if own.join(more) {
                grew = true;
                if let (Some(thresholds), Some(before)) = (thresholds, before) {
                    own.widen(&before, thresholds);
                }
            }
        }
        for (own, more) in self.relations.iter_mut().zip(&other.relations) {
            grew |= own.join(more);
        }
        grew
    }

    /// Whether joining another state would change this one.
    pub(crate) fn covers(&self, other: &Self) -> bool {
        // Nearly always nothing grows, and nothing is copied to find that.
        self.sets.iter().zip(&other.sets).all(|(own, more)| own == more)
            && self.relations == other.relations
    }

    /// Replaces the set of a variable, of which nothing is known together with others.
    pub(crate) fn put(&mut self, scope: &Scope, slot: usize, set: ValueSet) {
        let Some(old) = self.sets.get_mut(slot) else { return };
        *old = set;
        for (at, (first, second)) in scope.pairs.iter().enumerate() {
            if *first != slot && *second != slot {
                continue;
            }
            let product = match (self.sets.get(*first), self.sets.get(*second)) {
                (Some(first), Some(second)) => Relation::product(first, second),
                _ => Relation::Any,
            };
            if let Some(relation) = self.relations.get_mut(at) {
                *relation = product;
            }
        }
    }

    /// Replaces a set and keeps relations: what is known is narrowed. Returns false if nothing is left.
    pub(crate) fn narrow(&mut self, scope: &Scope, slot: usize, set: ValueSet) -> bool {
        let Some(old) = self.sets.get_mut(slot) else { return true };
        *old = set;
        let mut work = vec![slot];
        // Each variable is narrowed a few times at most.
        for _ in 0..=2 * scope.pairs.len() {
            let Some(slot) = work.pop() else { return true };
            for (at, (first, second)) in scope.pairs.iter().enumerate() {
                let other = match (*first == slot, *second == slot) {
                    (true, _) => *second,
                    (_, true) => *first,
                    _ => continue,
                };
                match self.narrow_pair(at, *first, *second, other) {
                    None => return false,
                    Some(true) => work.push(other),
                    Some(false) => {}
                }
            }
        }
        true
    }

    /// Narrows a relation to the sets of its variables, and the set of `other` to the relation. Returns whether that
    /// changed; `None` if nothing is left.
    fn narrow_pair(
        &mut self,
        at: usize,
        first: usize,
        second: usize,
        other: usize,
    ) -> Option<bool> {
        let (Some(a), Some(b)) = (self.sets.get(first), self.sets.get(second)) else {
            return Some(false);
        };
        let both_set = !a.unset && !b.unset;
        match self.relations.get_mut(at) {
            Some(Relation::Tuples(all)) => {
                all.retain(|(x, y)| a.holds(x) && b.holds(y));
                if all.is_empty() {
                    return None;
                }
                let of_other =
                    |(x, y): &(Value, Value)| if other == first { x.clone() } else { y.clone() };
                let kept: Vec<Value> = all.iter().map(of_other).collect();
                let sources = self.sources_of(first, second);
                let set = self.sets.get_mut(other)?;
                let before = set.clone();
                set.unset &= kept.iter().any(Value::is_unset);
                match &mut set.known {
                    Known::Values(values) => values.retain(|value| kept.contains(value)),
                    known => {
                        let mut values: Vec<Value> = Vec::new();
                        for value in kept.into_iter().filter(|value| !value.is_unset()) {
                            if !values.contains(&value) {
                                values.push(value);
                            }
                        }
                        *known = Known::Values(values);
                    }
                }
                let changed = set.unset != before.unset || set.known != before.known;
                if changed {
                    sources.into_iter().for_each(|source| set.add_source(source));
                }
                if set.is_none() {
                    return None;
                }
                Some(changed)
            }
            Some(Relation::Difference(d)) if both_set => {
                let d = *d;
                let (Some(a), Some(b)) = (a.range(), b.range()) else { return Some(false) };
                let sources = self.sources_of(first, second);
                let set = self.sets.get_mut(other)?;
                let bounds = match other == second {
                    true => (a.least + d.least, a.most + d.most),
                    false => (b.least - d.most, b.most - d.least),
                };
                let Known::Range(range) = &mut set.known else { return Some(false) };
                let before = *range;
                // Bounds that are not numbers come of infinite ones, and say nothing.
                if bounds.0 > range.least {
                    range.least = bounds.0;
                }
                if bounds.1 < range.most {
                    range.most = bounds.1;
                }
                let changed = *range != before;
                if range.is_empty() {
                    return None;
                }
                if changed {
                    sources.into_iter().for_each(|source| set.add_source(source));
                }
                // Once is enough: differences could narrow each other for ever.
                Some(false)
            }
            _ => Some(false),
        }
    }

    fn sources_of(&self, first: usize, second: usize) -> Vec<Source> {
        let sets = [first, second].into_iter().filter_map(|slot| self.sets.get(slot));
        sets.flat_map(|set| set.sources.clone()).collect()
    }

    /// Whether two variables may have these values together.
    pub(crate) fn allows(&self, pair: usize, first: &Value, second: &Value) -> bool {
        match self.relations.get(pair) {
            Some(Relation::Tuples(all)) => all.iter().any(|(a, b)| {
                let same = |x: &Value, y: &Value| x == y || (x.is_unset() && y.is_unset());
                same(a, first) && same(b, second)
            }),
            Some(Relation::Difference(d)) => match (first, second) {
                (Value::Number(a), Value::Number(b)) => d.least <= b - a && b - a <= d.most,
                _ => true,
            },
            _ => true,
        }
    }

    pub(crate) fn relation(&self, pair: usize) -> Option<&Relation> {
        self.relations.get(pair)
    }

    pub(crate) fn relate(&mut self, pair: usize, relation: Relation) {
        if let Some(old) = self.relations.get_mut(pair) {
            *old = relation;
        }
    }

    /// Narrows the difference of two variables that are numbers. Returns false if nothing is left.
    pub(crate) fn narrow_difference(&mut self, scope: &Scope, pair: usize, by: Range) -> bool {
        let Some((first, second)) = scope.pairs.get(pair).copied() else { return true };
        let (Some(a), Some(b)) = (self.sets.get(first), self.sets.get(second)) else { return true };
        if a.unset || b.unset || a.range().is_none() || b.range().is_none() {
            return true;
        }
        let known = match self.relations.get(pair) {
            Some(Relation::Tuples(_)) | None => return true,
            Some(Relation::Difference(range)) => *range,
            Some(Relation::Any) => Range::ALL,
        };
        let narrowed = Range {
            least: known.least.max(by.least),
            most: known.most.min(by.most),
            whole: known.whole,
        };
        if narrowed.is_empty() {
            return false;
        }
        self.relate(pair, Relation::Difference(narrowed));
        [first, second]
            .into_iter()
            .all(|other| self.narrow_pair(pair, first, second, other).is_some())
    }

    /// Forgets what a pair has to do with each other.
    pub(crate) fn unrelate(&mut self, scope: &Scope, pair: usize) {
        let Some((first, second)) = scope.pairs.get(pair).copied() else { return };
        if let (Some(first), Some(second)) = (self.sets.get(first), self.sets.get(second)) {
            let product = Relation::product(first, second);
            self.relate(pair, product);
        }
    }

    /// Joins what else a pair may be.
    pub(crate) fn join_relation(&mut self, pair: usize, more: &Relation) {
        if let Some(own) = self.relations.get_mut(pair) {
            own.join(more);
        }
    }
}
