//! Cells: the values of a variable, parted so that no test of the question tells two values of a
//! cell apart.
//!
//! A cell is a value that stands for all values like it. Where a test is such that no finite list of
//! values can stand for all (patterns, arithmetic), a *loose* cell stands for the rest of a kind, and
//! tests of it may come out either way.

use crate::outcome::Outcomes;
use crate::problem::{Atom, AtomKind, Problem, Slot};
use crate::query::{Bound, FactKind, Type};
use crate::samples;
use crate::shape::{Shape, in_numbers, is_match, literals, shape};
use agentir_eval::{Date, Object, Value, parse_number, semantics};
use agentir_expr::{Dialect, Expr, ExprKind, Literal, Visit};
use rustc_hash::{FxHashMap, FxHashSet};
use smol_str::{SmolStr, format_smolstr};
use std::collections::BTreeMap;

/// Values that no test of the question tells apart.
#[derive(Clone, Debug)]
pub(crate) struct Cell {
    /// A value that stands for all.
    pub(crate) slot: Slot,
    /// Whether there are more values of the kind than the tests can be computed for.
    pub(crate) loose: bool,
    /// What each atom that reads this variable alone may come out as, by the atom's position among
    /// those of the variable.
    pub(crate) outcomes: Vec<Outcomes>,
}

/// How many characters or items a value of a cell has at most.
const LONGEST: f64 = 1000.0;

/// The name of a field that stands for any fields of an object.
pub(crate) const FIELD: &str = "field";

/// What the tests of a variable, and of those it is compared with, ask for.
#[derive(Default)]
struct Asked {
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
    /// How many variables are compared with each other.
    related: usize,
}

impl Asked {
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
                    match shape(expr) {
                        Shape::Kind | Shape::Equality => {}
                        Shape::Order => self.by_order = true,
                        Shape::Length => self.by_length = true,
                        Shape::Content => self.by_content = true,
                        Shape::Irregular => self.irregular = true,
                    }
                } else {
                    self.by_order = true;
                }
                let by_length = shape(expr) == Shape::Length;
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

/// The cells of a variable, the ones that people would think of first coming first.
///
/// `atoms` are those that read this variable alone; `group` are all atoms that read it or one of the
/// variables it is compared with.
pub(crate) fn cells(
    problem: &Problem<'_>,
    variable: usize,
    atoms: &[usize],
    group: &[usize],
    related: usize,
) -> Vec<Cell> {
    let mut asked = Asked { related, ..Asked::default() };
    let kept = enough_texts(problem, group, related);
    for atom in group.iter().filter_map(|a| problem.atoms.get(*a)) {
        asked.atom(atom);
    }
    if let Some(kept) = kept {
        asked.texts.retain(|t| kept.contains(t));
    }
    asked.sort();
    let deep = problem.variables.get(variable).is_some_and(|v| !v.path.segments.is_empty());
    let mut made = Made { cells: Vec::new() };
    made.all(&asked, problem, deep);
    let mut seen: FxHashSet<(u8, bool, Vec<Outcomes>)> = FxHashSet::default();
    let compared = related > 1;
    let whole = problem
        .atoms
        .iter()
        .any(|a| matches!(a.kind, AtomKind::Part) && a.variables.contains(&variable));
    let mut cells = Vec::new();
    for (slot, loose) in made.cells {
        let outcomes: Vec<Outcomes> = atoms
            .iter()
            .filter_map(|a| problem.atoms.get(*a))
            .map(|atom| {
                if loose {
                    loose_outcomes(atom, &slot, problem)
                } else {
                    problem.outcome(atom, &|_| Some(&slot))
                }
            })
            .collect();
        // Cells that all tests treat alike are one, unless other variables are compared with them.
        let kind = if whole { fitting(&slot) } else { 0 };
        if compared || seen.insert((kind, loose, outcomes.clone())) {
            cells.push(Cell { slot, loose, outcomes });
        }
    }
    cells
}

/// What of a value decides whether parts and wholes fit each other.
fn fitting(slot: &Slot) -> u8 {
    match slot {
        Slot::Missing => 1,
        Slot::Value(Value::Undefined | Value::Null) => 2,
        Slot::Value(Value::List(list)) => 3 + u8::from(list.items().is_empty()),
        Slot::Value(Value::Object(object)) => 5 + u8::from(object.fields().is_empty()),
        Slot::Value(_) => 0,
    }
}

/// Texts that are only ever compared for equality, and by the same atoms, are alike: a few of them
/// stand for all. This is what keeps long enumerations cheap. None if all are needed.
fn enough_texts(
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
            AtomKind::Expr(expr) => match shape(expr) {
                Shape::Kind | Shape::Equality => literals(expr, &mut |literal, _| {
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

/// What an atom may come out as for the values of a loose cell.
fn loose_outcomes(atom: &Atom<'_>, slot: &Slot, problem: &Problem<'_>) -> Outcomes {
    let open = if atom.may_fail { Outcomes::ANY } else { Outcomes::EITHER };
    let text = matches!(slot, Slot::Value(Value::Text(_)));
    let settled = match &atom.kind {
        AtomKind::Expr(expr) => match shape(expr) {
            Shape::Kind => true,
            Shape::Equality => !matches!(expr.kind, ExprKind::Path(_)) && only_texts(expr, text),
            Shape::Content => {
                // What could be no part of a number is in none.
                let number = matches!(slot, Slot::Value(Value::Number(_)));
                let mut foreign = false;
                literals(expr, &mut |literal, _| {
                    foreign |= matches!(literal, Literal::String(s) if !in_numbers(s));
                });
                number && foreign && !is_match(expr)
            }
            _ => false,
        },
        AtomKind::Fact(kind) => match kind {
            FactKind::Set => true,
            FactKind::Type(ty) => !matches!(ty, Type::Integer | Type::Date),
            // Every text that is listed has a cell of its own.
            FactKind::Is(Value::Text(_)) => text,
            FactKind::OneOf(values) => {
                text || values.iter().all(|v| matches!(v, Value::Text(_) | Value::Bool(_)))
            }
            FactKind::Pattern(_) => !text && !matches!(slot, Slot::Value(Value::Number(_))),
            _ => false,
        },
        AtomKind::Opaque | AtomKind::Part => false,
    };
    if settled { problem.outcome(atom, &|_| Some(slot)) } else { open }
}

/// Whether a comparison comes out the same for all values of a kind that have no cell of their own:
/// for texts, if all constants are texts; for others, if no constant could be of their kind.
fn only_texts(expr: &Expr, text: bool) -> bool {
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

struct Made {
    cells: Vec<(Slot, bool)>,
}

impl Made {
    fn add(&mut self, value: Value) {
        self.cells.push((Slot::Value(value), false));
    }

    fn loose(&mut self, value: Value) {
        self.cells.push((Slot::Value(value), true));
    }

    /// Kinds of values that the constants speak of come first, then what is unset, then the rest.
    fn all(&mut self, asked: &Asked, problem: &Problem<'_>, deep: bool) {
        let texts = !asked.texts.is_empty() || !asked.patterns.is_empty();
        let numbers = !asked.numbers.is_empty();
        let dates = !texts && !numbers && !asked.dates.is_empty();
        let bools_first = asked.bools || !(texts || numbers || dates);
        if bools_first {
            self.add(Value::Bool(true));
            self.add(Value::Bool(false));
        }
        let numbers_first = numbers && !texts;
        if numbers_first {
            self.numbers(asked);
        }
        self.dates(asked, problem);
        self.texts(asked, problem);
        if !numbers_first {
            self.numbers(asked);
        }
        self.add(Value::Undefined);
        self.add(Value::Null);
        if deep && problem.semantics.unset_member == agentir_eval::Unset::Error {
            self.cells.push((Slot::Missing, false));
        }
        if !bools_first {
            self.add(Value::Bool(true));
            self.add(Value::Bool(false));
        }
        self.lists(asked);
        self.objects(asked);
    }

    /// Each constant, and numbers between, below and above them, whole ones and others; as many in
    /// each gap as there are variables that are compared with each other.
    fn numbers(&mut self, asked: &Asked) {
        let mut all: Vec<f64> = asked.numbers.clone();
        let many = asked.related.clamp(1, 4);
        let mut gap = |low: Option<f64>, high: Option<f64>| {
            let inside = |n: f64| low.is_none_or(|l| n > l) && high.is_none_or(|h| n < h);
            for i in 1..=many {
                let step = i as f64;
                let from_low = low.map(|l| l.floor() + step);
                let from_high = high.map(|h| h.ceil() - step);
                let whole = from_low.or(from_high).unwrap_or(step);
                all.extend([Some(whole), from_high].into_iter().flatten().filter(|n| inside(*n)));
                let share = step / (many as f64 + 1.0);
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
        for n in &asked.numbers {
            gap(low, Some(*n));
            low = Some(*n);
        }
        gap(low, None);
        // Zero is falsy, so it is a class of its own.
        all.push(0.0);
        all.retain(|n| n.is_finite());
        all.sort_by(|a, b| human(*a).partial_cmp(&human(*b)).unwrap_or(std::cmp::Ordering::Equal));
        all.dedup();
        for n in all {
            self.add(Value::Number(n + 0.0));
        }
        if asked.irregular || asked.by_content {
            self.loose(Value::Number(1.0));
        }
    }

    fn dates(&mut self, asked: &Asked, problem: &Problem<'_>) {
        let mut all: Vec<Date> = Vec::new();
        let near = |date: Date, days: i64| Date::from_seconds(date.seconds() + days * 86_400);
        for (i, date) in asked.dates.iter().enumerate() {
            all.push(*date);
            let next = asked.dates.get(i + 1);
            let after = match next {
                Some(next) if next.seconds() - date.seconds() <= 2 * 86_400 => {
                    Date::from_seconds((next.seconds() + date.seconds()) / 2)
                }
                _ => near(*date, 1),
            };
            all.extend(after.filter(|d| d > date && next.is_none_or(|n| d < n)));
            if i == 0 {
                all.extend((1..=asked.related as i64).filter_map(|n| near(*date, -n)));
            }
        }
        let script = problem.any(|d| d == Dialect::AgentScript);
        let other = problem.any(|d| d != Dialect::AgentScript);
        if all.is_empty() {
            all.extend(Date::parse("2026-01-15").filter(|_| script));
        }
        for date in all {
            if script {
                self.add(Value::Date(date));
            }
            if other || asked.dates.iter().any(|d| asked.texts.contains(&format_smolstr!("{d}"))) {
                self.add(Value::text(format_smolstr!("{date}")));
            }
        }
    }

    fn texts(&mut self, asked: &Asked, problem: &Problem<'_>) {
        let mut texts: Vec<SmolStr> = asked.texts.clone();
        let fresh = samples::fresh(&asked.texts);
        texts.push(fresh.clone());
        for i in 1..asked.related.min(4) {
            texts.push(format_smolstr!("{fresh} {i}"));
        }
        if asked.by_content {
            texts.extend(samples::combined(&asked.texts, &asked.patterns));
        }
        texts.push(SmolStr::default());
        // Texts that say numbers, in two spellings each.
        let mut between = Self { cells: Vec::new() };
        if problem.any(|d| semantics(d).ordering == agentir_eval::Ordering::AsNumbers)
            || !asked.numbers.is_empty()
        {
            between.numbers(&Asked {
                numbers: asked.numbers.clone(),
                related: asked.related,
                ..Asked::default()
            });
        }
        for (slot, _) in between.cells {
            if let Slot::Value(Value::Number(n)) = slot {
                texts.push(format_smolstr!("{n}"));
                texts.push(format_smolstr!("{n} "));
            }
        }
        // ABL's one text that is neither empty nor truthy.
        texts.push("false".into());
        if problem.any(|d| semantics(d).ordering == agentir_eval::Ordering::ByType)
            && asked.by_order
        {
            texts.extend(samples::between(&asked.texts));
        }
        if asked.by_length {
            for length in lengths(asked) {
                texts.extend(samples::of_length(&asked.texts, length));
            }
        }
        for text in texts {
            self.add(Value::Text(text));
        }
        let long = asked.lengths.iter().any(|n| *n > LONGEST);
        let mixed =
            asked.by_length && (asked.by_order || asked.by_content || !asked.numbers.is_empty());
        if asked.irregular || asked.by_content || mixed || long {
            self.loose(Value::Text(fresh));
        }
    }

    fn lists(&mut self, asked: &Asked) {
        let mut sizes = vec![1, 0];
        sizes.extend(lengths(asked));
        // Where a list counts as its length, numbers are lengths as well.
        for n in asked.numbers.iter().filter(|n| asked.by_order && (-1.0..LONGEST).contains(*n)) {
            let n = n.floor().max(0.0) as usize;
            sizes.extend([n.saturating_sub(1), n, n + 1, n + 2]);
        }
        sizes.sort_unstable();
        sizes.dedup();
        sizes.sort_by_key(|n| *n == 0);
        let fresh = Value::Text(samples::fresh(&asked.texts));
        for size in sizes {
            self.cells.extend(
                Value::list(vec![fresh.clone(); size]).ok().map(|v| (Slot::Value(v), false)),
            );
        }
        if asked.by_content {
            let all: Vec<Value> = asked
                .texts
                .iter()
                .map(|t| Value::Text(t.clone()))
                .chain(asked.numbers.iter().map(|n| Value::Number(*n)))
                .take(64)
                .collect();
            let whole = std::iter::once(all.clone());
            let single = all.iter().map(|v| vec![v.clone()]);
            for items in whole.chain(single) {
                self.cells.extend(Value::list(items).ok().map(|v| (Slot::Value(v), false)));
            }
        }
        let long = asked.numbers.iter().chain(&asked.lengths).any(|n| *n >= LONGEST);
        if asked.irregular || asked.by_content || (long && (asked.by_order || asked.by_length)) {
            self.cells.extend(Value::list(vec![fresh]).ok().map(|v| (Slot::Value(v), true)));
        }
    }

    fn objects(&mut self, asked: &Asked) {
        let some = BTreeMap::from([(SmolStr::new_static(FIELD), Value::Bool(true))]);
        if let Ok(some) = Object::new(some) {
            self.add(Value::Object(some.clone()));
            if asked.irregular || asked.by_length || asked.by_content {
                self.loose(Value::Object(some));
            }
        }
        self.add(Value::Object(Object::default()));
    }
}

/// The lengths at which tests of length may change, and their neighbours.
fn lengths(asked: &Asked) -> Vec<usize> {
    let mut all = Vec::new();
    for n in asked.lengths.iter().filter(|n| (-1.0..LONGEST).contains(*n)) {
        let n = n.floor().max(0.0) as usize;
        all.extend([n, n + 1, n.saturating_sub(1)]);
    }
    all
}

/// How odd a number looks in an example: whole ones come first, positive ones, small ones.
fn human(n: f64) -> (bool, bool, f64) {
    (n.fract() != 0.0, n < 0.0, n.abs())
}
