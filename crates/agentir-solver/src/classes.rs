//! Equivalence classes of values: no test of the query distinguishes two values of a class.
//!
//! A class is represented by one of its values. Where no finite set of representatives is complete
//! (patterns, arithmetic), an *approximate* class stands for the remaining values of a type. Tests
//! of it may have any outcome.

use crate::atom_class::{AtomClass, classify, is_match, literals, may_occur_in_number};
use crate::problem::{Atom, AtomKind, Problem, Slot};
use crate::query::{Bound, FactKind, Type};
use crate::representatives;
use crate::truth::TruthSet;
use agentir_eval::{Date, Object, Value, parse_number};
use agentir_expr::dialect::Ordering;
use agentir_expr::{Expr, ExprKind, Literal, Visit};
use rustc_hash::{FxHashMap, FxHashSet};
use smol_str::{SmolStr, format_smolstr};
use std::collections::BTreeMap;

/// An equivalence class of values.
#[derive(Clone, Debug)]
pub(crate) struct EquivClass {
    /// The representative.
    pub(crate) slot: Slot,
    /// Whether the class over-approximates: its tests cannot be computed for all of its values.
    pub(crate) approximate: bool,
    /// The possible outcomes of each atom that reads only this variable, by the atom's position
    /// among the atoms of the variable.
    pub(crate) truths: Vec<TruthSet>,
}

/// The maximum length of a representative in characters or items.
const MAX_LENGTH: f64 = 1000.0;

/// The name of a field that stands for arbitrary fields of an object.
pub(crate) const FIELD: &str = "field";

/// The values and the kinds of tests that occur in the atoms of a variable and of those it is
/// compared with.
#[derive(Default)]
struct TestProfile {
    numbers: Vec<f64>,
    texts: Vec<SmolStr>,
    dates: Vec<Date>,
    lengths: Vec<f64>,
    patterns: Vec<SmolStr>,
    by_order: bool,
    by_length: bool,
    by_content: bool,
    irregular: bool,
    bools: bool,
    /// The number of variables that are compared with each other.
    related: usize,
}

impl TestProfile {
    fn literal(&mut self, literal: &Literal, negative: bool) {
        match literal {
            Literal::Number(n) => self.number(if negative { -n } else { *n }),
            Literal::String(text) => self.text(text),
            Literal::Regex(text) => self.patterns.push(text.clone()),
            Literal::Date(text) => match Date::parse(text) {
                Some(date) => self.dates.push(date),
                None => self.text(text),
            },
            Literal::Bool(_) => self.bools = true,
            Literal::Null | Literal::Undefined => {}
        }
    }

    fn number(&mut self, n: f64) {
        if n.is_finite() {
            self.numbers.push(n + 0.0);
        }
    }

    fn text(&mut self, text: &SmolStr) {
        self.numbers.extend(parse_number(text));
        self.dates.extend(Date::parse(text));
        self.texts.push(text.clone());
    }

    fn value(&mut self, value: &Value) {
        match value {
            Value::Number(n) => self.number(*n),
            Value::Text(text) => self.text(text),
            Value::Date(date) => self.dates.push(*date),
            Value::Bool(_) => self.bools = true,
            Value::List(list) => {
                self.lengths.push(list.items().len() as f64);
                self.irregular = true;
            }
            Value::Object(_) => self.irregular = true,
            Value::Undefined | Value::Null => {}
        }
    }

    fn atom(&mut self, atom: &Atom<'_>) {
        match &atom.kind {
            AtomKind::Expr(expr) => {
                if atom.variables.len() == 1 {
                    match classify(expr) {
                        AtomClass::TypeTest | AtomClass::Equality => {}
                        AtomClass::Order => self.by_order = true,
                        AtomClass::Length => self.by_length = true,
                        AtomClass::Content => self.by_content = true,
                        AtomClass::Other => self.irregular = true,
                    }
                } else {
                    self.by_order = true;
                }
                let by_length = classify(expr) == AtomClass::Length;
                literals(expr, &mut |literal, negative| match literal {
                    Literal::Number(n) if by_length => self.lengths.push(*n),
                    _ => self.literal(literal, negative),
                });
            }
            AtomKind::Fact(kind) => match kind {
                FactKind::Is(value) => self.value(value),
                FactKind::OneOf(values) => values.iter().for_each(|v| self.value(v)),
                FactKind::AtLeast(Bound::Value, n) | FactKind::AtMost(Bound::Value, n) => {
                    self.by_order = true;
                    self.number(*n);
                }
                FactKind::AtLeast(Bound::Length, n) | FactKind::AtMost(Bound::Length, n) => {
                    self.by_length = true;
                    self.lengths.push(*n);
                }
                FactKind::Pattern(by) => {
                    self.by_content = true;
                    self.patterns.push(by.clone());
                }
                FactKind::Type(Type::Date) => self.dates.extend(Date::parse("2026-01-15")),
                FactKind::Set | FactKind::Type(_) => {}
            },
            AtomKind::Opaque | AtomKind::Part => {}
        }
    }

    fn sort(&mut self) {
        self.numbers.sort_by(f64::total_cmp);
        self.numbers.dedup();
        self.lengths.sort_by(f64::total_cmp);
        self.lengths.dedup();
        self.dates.sort_unstable();
        self.dates.dedup();
        let mut seen = FxHashSet::default();
        self.texts.retain(|t| seen.insert(t.clone()));
    }
}

/// Returns the classes of a variable, those with the most natural representatives first; none if they take too much
/// work.
///
/// `atoms` are those that read only this variable; `group` are all atoms that read it or a variable
/// that it is compared with.
pub(crate) fn classes(
    problem: &Problem<'_>,
    variable: usize,
    atoms: &[usize],
    group: &[usize],
    related: usize,
) -> Vec<EquivClass> {
    let mut profile = TestProfile { related, ..TestProfile::default() };
    let kept = sufficient_strings(problem, group, related);
    for atom in group.iter().filter_map(|a| problem.atoms.get(*a)) {
        problem.work.spend(atom.steps);
        profile.atom(atom);
    }
    if problem.work.is_exhausted() {
        return Vec::new();
    }
    if let Some(kept) = kept {
        profile.texts.retain(|t| kept.contains(t));
    }
    profile.sort();
    let deep = problem.variables.get(variable).is_some_and(|v| !v.path.segments.is_empty());
    let mut builder = ClassBuilder { classes: Vec::new() };
    builder.all(&profile, problem, deep);
    let mut seen: FxHashSet<(u8, bool, Vec<TruthSet>)> = FxHashSet::default();
    let compared = related > 1;
    let whole = problem.uses(variable).is_some_and(|uses| uses.is_whole_or_part);
    let mut classes = Vec::new();
    for (slot, approximate) in builder.classes {
        if problem.work.is_exhausted() {
            return Vec::new();
        }
        let truths: Vec<TruthSet> = atoms
            .iter()
            .filter_map(|a| problem.atoms.get(*a))
            .map(|atom| {
                if approximate {
                    approximate_truth(atom, &slot, problem)
                } else {
                    problem.truth_of(atom, &|_| Some(&slot))
                }
            })
            .collect();
        // Classes with the same outcomes are merged, unless the variable is compared with others.
        let kind = if whole { membership_key(&slot) } else { 0 };
        if compared || seen.insert((kind, approximate, truths.clone())) {
            classes.push(EquivClass { slot, approximate, truths });
        }
    }
    classes
}

/// Distinguishes values by how they relate an object or a list to its members.
fn membership_key(slot: &Slot) -> u8 {
    match slot {
        Slot::Missing => 1,
        Slot::Value(Value::Undefined | Value::Null) => 2,
        Slot::Value(Value::List(list)) => 3 + u8::from(list.items().is_empty()),
        Slot::Value(Value::Object(object)) => 5 + u8::from(object.fields().is_empty()),
        Slot::Value(_) => 0,
    }
}

/// Strings that only occur in the same equality tests are interchangeable, so a few of them
/// suffice. This keeps long enumerations cheap. Returns `None` if all strings are needed.
fn sufficient_strings(
    problem: &Problem<'_>,
    group: &[usize],
    related: usize,
) -> Option<FxHashSet<SmolStr>> {
    let mut uses: FxHashMap<SmolStr, Vec<usize>> = FxHashMap::default();
    let mut order: Vec<SmolStr> = Vec::new();
    for (at, atom) in group.iter().filter_map(|a| problem.atoms.get(*a)).enumerate() {
        let mut add = |text: &SmolStr| {
            let uses = uses.entry(text.clone()).or_insert_with(|| {
                order.push(text.clone());
                Vec::new()
            });
            if uses.last() != Some(&at) {
                uses.push(at);
            }
        };
        match &atom.kind {
            AtomKind::Expr(expr) => match classify(expr) {
                AtomClass::TypeTest | AtomClass::Equality => literals(expr, &mut |literal, _| {
                    if let Literal::String(text) = literal {
                        add(text);
                    }
                }),
                _ if atom.variables.len() > 1 => {}
                _ => return None,
            },
            AtomKind::Fact(FactKind::OneOf(values)) => values.iter().for_each(|v| {
                if let Value::Text(text) = v {
                    add(text);
                }
            }),
            AtomKind::Fact(FactKind::Is(Value::Text(text))) => add(text),
            AtomKind::Fact(
                FactKind::Pattern(_)
                | FactKind::AtLeast(Bound::Length, _)
                | FactKind::AtMost(Bound::Length, _),
            ) => return None,
            _ => {}
        }
    }
    if order.len() <= 16 {
        return None;
    }
    let mut count: FxHashMap<Vec<usize>, usize> = FxHashMap::default();
    let special = |text: &SmolStr| {
        text.is_empty()
            || text == "false"
            || parse_number(text).is_some()
            || Date::parse(text).is_some()
    };
    order.retain(|text| {
        let uses = uses.get(text).cloned().unwrap_or_default();
        let so_far = count.entry(uses).or_default();
        *so_far += 1;
        special(text) || *so_far <= related
    });
    Some(order.into_iter().collect())
}

/// Returns the possible outcomes of an atom for the values of an approximate class.
fn approximate_truth(atom: &Atom<'_>, slot: &Slot, problem: &Problem<'_>) -> TruthSet {
    let open = if atom.may_fail { TruthSet::ANY } else { TruthSet::EITHER };
    let text = matches!(slot, Slot::Value(Value::Text(_)));
    let settled = match &atom.kind {
        AtomKind::Expr(expr) => match classify(expr) {
            AtomClass::TypeTest => true,
            AtomClass::Equality => {
                !matches!(expr.kind, ExprKind::Path(_)) && distinguishes_no_rest(expr, text)
            }
            AtomClass::Content => {
                // A string that cannot occur in a number is contained in none.
                let number = matches!(slot, Slot::Value(Value::Number(_)));
                let mut foreign = false;
                literals(expr, &mut |literal, _| {
                    foreign |= matches!(literal, Literal::String(s) if !may_occur_in_number(s));
                });
                number && foreign && !is_match(expr)
            }
            _ => false,
        },
        AtomKind::Fact(kind) => match kind {
            FactKind::Set => true,
            FactKind::Type(ty) => !matches!(ty, Type::Integer | Type::Date),
            // Every listed string has a class of its own.
            FactKind::Is(Value::Text(_)) => text,
            FactKind::OneOf(values) => {
                text || values.iter().all(|v| matches!(v, Value::Text(_) | Value::Bool(_)))
            }
            FactKind::Pattern(_) => !text && !matches!(slot, Slot::Value(Value::Number(_))),
            _ => false,
        },
        AtomKind::Opaque | AtomKind::Part => false,
    };
    if settled { problem.truth_of(atom, &|_| Some(slot)) } else { open }
}

/// Whether a comparison has the same outcome for all values of a type that have no class of their
/// own: for strings, if all constants are strings; for other types, if no constant can be of the
/// type.
fn distinguishes_no_rest(expr: &Expr, text: bool) -> bool {
    let mut only = true;
    expr.visit(&mut |e| {
        only &= match &e.kind {
            ExprKind::Literal(literal) => match literal {
                Literal::String(s) => text || parse_number(s).is_none(),
                Literal::Null | Literal::Undefined => true,
                Literal::Bool(_) => text,
                _ => false,
            },
            _ => true,
        };
        Visit::Children
    });
    only
}

struct ClassBuilder {
    classes: Vec<(Slot, bool)>,
}

impl ClassBuilder {
    fn add(&mut self, value: Value) {
        self.classes.push((Slot::Value(value), false));
    }

    fn approximate(&mut self, value: Value) {
        self.classes.push((Slot::Value(value), true));
    }

    /// Adds the types of the constants first, then unset values, then all other types.
    fn all(&mut self, profile: &TestProfile, problem: &Problem<'_>, deep: bool) {
        let texts = !profile.texts.is_empty() || !profile.patterns.is_empty();
        let numbers = !profile.numbers.is_empty();
        let dates = !texts && !numbers && !profile.dates.is_empty();
        let bools_first = profile.bools || !(texts || numbers || dates);
        if bools_first {
            self.add(Value::Bool(true));
            self.add(Value::Bool(false));
        }
        let numbers_first = numbers && !texts;
        if numbers_first {
            self.numbers(profile);
        }
        self.dates(profile, problem);
        self.texts(profile, problem);
        if !numbers_first {
            self.numbers(profile);
        }
        self.add(Value::Undefined);
        self.add(Value::Null);
        if deep && problem.semantics.unset_member == agentir_expr::dialect::Unset::Error {
            self.classes.push((Slot::Missing, false));
        }
        if !bools_first {
            self.add(Value::Bool(true));
            self.add(Value::Bool(false));
        }
        self.lists(profile);
        self.objects(profile);
    }

    /// Adds each constant, and numbers between, below and above the constants, integral and
    /// fractional ones. Each gap gets as many as there are variables that are compared with each
    /// other.
    fn numbers(&mut self, profile: &TestProfile) {
        let mut all: Vec<f64> = profile.numbers.clone();
        let count = profile.related.clamp(1, 4);
        let mut gap = |low: Option<f64>, high: Option<f64>| {
            let inside = |n: f64| low.is_none_or(|l| n > l) && high.is_none_or(|h| n < h);
            for i in 1..=count {
                let step = i as f64;
                let from_low = low.map(|l| l.floor() + step);
                let from_high = high.map(|h| h.ceil() - step);
                let whole = from_low.or(from_high).unwrap_or(step);
                all.extend([Some(whole), from_high].into_iter().flatten().filter(|n| inside(*n)));
                let share = step / (count as f64 + 1.0);
                let part = match (low, high) {
                    (Some(l), Some(h)) => l + (h - l) * share,
                    (Some(l), None) => l.floor() + step + 0.5,
                    (None, Some(h)) => h.ceil() - step - 0.5,
                    (None, None) => step + 0.5,
                };
                all.extend(Some(part).filter(|n| inside(*n)));
            }
        };
        let mut low = None;
        for n in &profile.numbers {
            gap(low, Some(*n));
            low = Some(*n);
        }
        gap(low, None);
        // Zero is falsy, so it is a class of its own.
        all.push(0.0);
        all.retain(|n| n.is_finite());
        all.sort_by(|a, b| {
            naturalness(*a).partial_cmp(&naturalness(*b)).unwrap_or(std::cmp::Ordering::Equal)
        });
        all.dedup();
        for n in all {
            self.add(Value::Number(n + 0.0));
        }
        if profile.irregular || profile.by_content {
            self.approximate(Value::Number(1.0));
        }
    }

    fn dates(&mut self, profile: &TestProfile, problem: &Problem<'_>) {
        let mut all: Vec<Date> = Vec::new();
        let near = |date: Date, days: i64| Date::from_seconds(date.seconds() + days * 86_400);
        for (i, date) in profile.dates.iter().enumerate() {
            all.push(*date);
            let next = profile.dates.get(i + 1);
            let after = match next {
                Some(next) if next.seconds() - date.seconds() <= 2 * 86_400 => {
                    Date::from_seconds((next.seconds() + date.seconds()) / 2)
                }
                _ => near(*date, 1),
            };
            all.extend(after.filter(|d| d > date && next.is_none_or(|n| d < n)));
            if i == 0 {
                all.extend((1..=profile.related as i64).filter_map(|n| near(*date, -n)));
            }
        }
        let dates = problem.any(|d| d.semantics().has_dates);
        let texts = problem.any(|d| !d.semantics().has_dates);
        if all.is_empty() {
            all.extend(Date::parse("2026-01-15").filter(|_| dates));
        }
        for date in all {
            if dates {
                self.add(Value::Date(date));
            }
            if texts
                || profile.dates.iter().any(|d| profile.texts.contains(&format_smolstr!("{d}")))
            {
                self.add(Value::text(format_smolstr!("{date}")));
            }
        }
    }

    fn texts(&mut self, profile: &TestProfile, problem: &Problem<'_>) {
        let mut texts: Vec<SmolStr> = profile.texts.clone();
        let fresh = representatives::fresh(&profile.texts);
        texts.push(fresh.clone());
        for i in 1..profile.related.min(4) {
            texts.push(format_smolstr!("{fresh} {i}"));
        }
        if profile.by_content {
            texts.extend(representatives::combined(&profile.texts, &profile.patterns));
        }
        texts.push(SmolStr::default());
        // Strings that represent numbers, in two spellings each.
        let mut between = Self { classes: Vec::new() };
        if problem.any(|d| d.semantics().ordering == Ordering::AsNumbers)
            || !profile.numbers.is_empty()
        {
            between.numbers(&TestProfile {
                numbers: profile.numbers.clone(),
                related: profile.related,
                ..TestProfile::default()
            });
        }
        for (slot, _) in between.classes {
            if let Slot::Value(Value::Number(n)) = slot {
                texts.push(format_smolstr!("{n}"));
                texts.push(format_smolstr!("{n} "));
            }
        }
        // ABL's only string that is neither empty nor truthy.
        texts.push("false".into());
        if problem.any(|d| d.semantics().ordering == Ordering::ByType) && profile.by_order {
            texts.extend(representatives::between(&profile.texts));
        }
        if profile.by_length {
            for length in lengths(profile) {
                texts.extend(representatives::of_length(&profile.texts, length));
            }
        }
        for text in texts {
            self.add(Value::Text(text));
        }
        let long = profile.lengths.iter().any(|n| *n > MAX_LENGTH);
        let mixed = profile.by_length
            && (profile.by_order || profile.by_content || !profile.numbers.is_empty());
        if profile.irregular || profile.by_content || mixed || long {
            self.approximate(Value::Text(fresh));
        }
    }

    fn lists(&mut self, profile: &TestProfile) {
        let mut sizes = vec![1, 0];
        sizes.extend(lengths(profile));
        // Where a list is compared by its length, numbers are lengths as well.
        for n in
            profile.numbers.iter().filter(|n| profile.by_order && (-1.0..MAX_LENGTH).contains(*n))
        {
            let n = n.floor().max(0.0) as usize;
            sizes.extend([n.saturating_sub(1), n, n + 1, n + 2]);
        }
        sizes.sort_unstable();
        sizes.dedup();
        sizes.sort_by_key(|n| *n == 0);
        let fresh = Value::Text(representatives::fresh(&profile.texts));
        for size in sizes {
            self.classes.extend(
                Value::list(vec![fresh.clone(); size]).ok().map(|v| (Slot::Value(v), false)),
            );
        }
        if profile.by_content {
            let all: Vec<Value> = profile
                .texts
                .iter()
                .map(|t| Value::Text(t.clone()))
                .chain(profile.numbers.iter().map(|n| Value::Number(*n)))
                .take(64)
                .collect();
            let whole = std::iter::once(all.clone());
            let single = all.iter().map(|v| vec![v.clone()]);
            for items in whole.chain(single) {
                self.classes.extend(Value::list(items).ok().map(|v| (Slot::Value(v), false)));
            }
        }
        let long = profile.numbers.iter().chain(&profile.lengths).any(|n| *n >= MAX_LENGTH);
        if profile.irregular
            || profile.by_content
            || (long && (profile.by_order || profile.by_length))
        {
            self.classes.extend(Value::list(vec![fresh]).ok().map(|v| (Slot::Value(v), true)));
        }
    }

    fn objects(&mut self, profile: &TestProfile) {
        let some = BTreeMap::from([(SmolStr::new_static(FIELD), Value::Bool(true))]);
        if let Ok(some) = Object::new(some) {
            self.add(Value::Object(some.clone()));
            if profile.irregular || profile.by_length || profile.by_content {
                self.approximate(Value::Object(some));
            }
        }
        self.add(Value::Object(Object::default()));
    }
}

/// The lengths at which the outcome of a length test may change, and their neighbours.
fn lengths(profile: &TestProfile) -> Vec<usize> {
    let mut all = Vec::new();
    for n in profile.lengths.iter().filter(|n| (-1.0..MAX_LENGTH).contains(*n)) {
        let n = n.floor().max(0.0) as usize;
        all.extend([n, n + 1, n.saturating_sub(1)]);
    }
    all
}

/// The sort key of numbers in examples: integral, positive and small ones first.
fn naturalness(n: f64) -> (bool, bool, f64) {
    (n.fract() != 0.0, n < 0.0, n.abs())
}
