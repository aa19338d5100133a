//! Queries.

use agentir_diagnostics::Span;
use agentir_eval::Value;
use agentir_expr::{Condition, ConditionKind, Dialect, Expr, Path};
use rustc_hash::FxHashMap;
use smol_str::SmolStr;
use std::sync::Arc;

/// Identifies an assumption or a fact for the caller. The solver only returns labels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Label(pub u32);

/// A query.
#[derive(Clone, Debug)]
pub struct Query<'a> {
    /// The dialect that defines the semantics of the conditions, except for those in [`Test::In`].
    pub dialect: Dialect,
    /// The facts about variables. Only those about variables of the conditions matter.
    pub facts: &'a Facts,
    /// The assumptions, all of which hold.
    pub assumptions: Vec<Assertion<'a>>,
    /// The goal.
    pub goal: Goal<'a>,
}

/// The goal of a query. The solver always searches for a state.
#[derive(Clone, Debug)]
pub enum Goal<'a> {
    /// Are the assumptions consistent? A state is a model; the proof that there is none is a
    /// minimal core of contradictory labels.
    Satisfiable,
    /// Do the assumptions imply this? A state is a counterexample; the proof that there is none is
    /// a minimal core from which it follows.
    Implied(Assertion<'a>),
    /// Do these two hold in the same states, under the assumptions? A state distinguishes them.
    Equivalent(Assertion<'a>, Assertion<'a>),
}

impl<'a> Query<'a> {
    /// Returns all conditions: the assumptions, then those of the goal.
    pub(crate) fn assertions(&self) -> impl Iterator<Item = &Assertion<'a>> {
        let asked: [Option<&Assertion<'a>>; 2] = match &self.goal {
            Goal::Satisfiable => [None, None],
            Goal::Implied(one) => [Some(one), None],
            Goal::Equivalent(one, other) => [Some(one), Some(other)],
        };
        self.assumptions.iter().chain(asked.into_iter().flatten())
    }
}

/// A condition with its required outcome.
#[derive(Clone, Debug)]
pub struct Assertion<'a> {
    /// The condition.
    pub test: Test<'a>,
    /// Whether the condition holds or is false. In Agent Script and ADL a condition that fails is
    /// neither, because an error stops the execution.
    pub holds: bool,
    /// The label for the caller.
    pub label: Label,
}

/// A condition.
#[derive(Clone, Copy, Debug)]
pub enum Test<'a> {
    /// An expression in the dialect of the query.
    Expr(&'a Expr),
    /// An expression in another dialect, over the same variables. Its paths must use the same
    /// names.
    In(Dialect, &'a Expr),
    /// A natural-language condition or an invalid expression: uninterpreted, equal only to itself.
    Words(&'a str),
}

impl Test<'_> {
    /// Returns the span of an expression; words have none.
    #[must_use]
    pub const fn span(&self) -> Option<Span> {
        match self {
            Self::Expr(expr) | Self::In(_, expr) => Some(expr.span),
            Self::Words(_) => None,
        }
    }

    /// Returns the dialect of the condition, given the dialect of the query.
    pub(crate) const fn dialect(&self, goal: Dialect) -> Dialect {
        match self {
            Self::In(dialect, _) => *dialect,
            Self::Expr(_) | Self::Words(_) => goal,
        }
    }
}

impl<'a> From<&'a Condition> for Test<'a> {
    fn from(condition: &'a Condition) -> Self {
        match &condition.kind {
            ConditionKind::Expr(expr) => Test::Expr(expr),
            ConditionKind::Natural | ConditionKind::Invalid => Test::Words(&condition.text.value),
        }
    }
}

impl<'a> From<&'a Expr> for Test<'a> {
    fn from(expr: &'a Expr) -> Self {
        Test::Expr(expr)
    }
}

impl<'a> Assertion<'a> {
    /// Asserts that a condition holds.
    #[must_use]
    pub fn holds(test: impl Into<Test<'a>>, label: Label) -> Self {
        Self { test: test.into(), holds: true, label }
    }

    /// Asserts that a condition does not hold.
    #[must_use]
    pub fn fails(test: impl Into<Test<'a>>, label: Label) -> Self {
        Self { test: test.into(), holds: false, label }
    }
}

/// A fact about a variable or a member of one.
#[derive(Clone, Debug, PartialEq)]
pub struct Fact {
    /// The fact.
    pub kind: FactKind,
    /// The label of its origin, which appears in cores. `None` for facts of the language itself.
    pub label: Option<Label>,
}

/// A property of a variable. Only [`FactKind::Set`] and [`FactKind::Is`] say that it has a value;
/// all others constrain the value if there is one.
#[derive(Clone, Debug, PartialEq)]
pub enum FactKind {
    /// It is never unset: a required field that has been collected, a result that is always
    /// present.
    Set,
    /// It has exactly this value: a constant, or the initial value before any assignment.
    Is(Value),
    /// Its type.
    Type(Type),
    /// Its value is one of these (`VALUES`, an enumeration), compared without conversion.
    OneOf(Vec<Value>),
    /// A lower bound of the number or the length.
    AtLeast(Bound, f64),
    /// An upper bound of the number or the length.
    AtMost(Bound, f64),
    /// A string that contains a match of this regular expression.
    Pattern(SmolStr),
}

/// The quantity that a bound limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Bound {
    /// The value, which is a number.
    Value,
    /// The length of a string in characters, or of a list in items.
    Length,
}

/// A type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Type {
    /// Strings.
    Text,
    /// Numbers.
    Number,
    /// Integral numbers.
    Integer,
    /// Booleans.
    Bool,
    /// Dates, and strings that are dates in the form `2026-01-31`, with an optional time.
    Date,
    /// Lists.
    List,
    /// Objects.
    Object,
}

/// The facts about variables, by path. Built once per agent; a query adds its own facts in a layer
/// on top ([`Facts::extending`]).
#[derive(Clone, Debug, Default)]
pub struct Facts {
    base: Option<Arc<Self>>,
    /// An entry hides the entry of `base` for the same path.
    by_path: FxHashMap<Path, Vec<Fact>>,
}

impl Facts {
    /// Returns an empty set of facts.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns a layer on top of these facts, which neither copies nor changes them.
    #[must_use]
    pub fn extending(base: &Arc<Self>) -> Self {
        Self { base: Some(Arc::clone(base)), by_path: FxHashMap::default() }
    }

    /// Adds a fact about a variable or a member of one.
    pub fn add(&mut self, path: Path, kind: FactKind, label: Option<Label>) {
        let base = self.base.as_ref();
        let facts = self
            .by_path
            .entry(path)
            .or_insert_with_key(|path| base.map_or_else(Vec::new, |b| b.get(path).to_vec()));
        let fact = Fact { kind, label };
        if !facts.contains(&fact) {
            facts.push(fact);
        }
    }

    /// Returns the facts about exactly this path.
    #[must_use]
    pub fn get(&self, path: &Path) -> &[Fact] {
        match (self.by_path.get(path), &self.base) {
            (Some(facts), _) => facts,
            (None, Some(base)) => base.get(path),
            (None, None) => &[],
        }
    }

    /// Returns facts with renamed variables. Those that several have as their base are renamed once.
    pub fn all_renamed<'f>(
        all: impl IntoIterator<Item = &'f Self>,
        name: &impl Fn(&Path) -> Path,
    ) -> Vec<Self> {
        let mut bases = FxHashMap::default();
        all.into_iter().map(|facts| facts.renamed(name, &mut bases)).collect()
    }

    /// As recursive as there are layers. `bases` are those that were renamed, by their addresses.
    fn renamed(
        &self,
        name: &impl Fn(&Path) -> Path,
        bases: &mut FxHashMap<*const Self, Arc<Self>>,
    ) -> Self {
        let base = self.base.as_ref().map(|base| {
            let known = bases.get(&Arc::as_ptr(base)).map(Arc::clone);
            known.unwrap_or_else(|| {
                let new = Arc::new(base.renamed(name, bases));
                bases.insert(Arc::as_ptr(base), Arc::clone(&new));
                new
            })
        });
        let mut new = base.as_ref().map_or_else(Self::new, Self::extending);
        for (path, facts) in &self.by_path {
            if facts.is_empty() {
                new.by_path.insert(name(path), Vec::new());
            }
            for fact in facts {
                new.add(name(path), fact.kind.clone(), fact.label);
            }
        }
        new
    }

    /// Removes all facts about a path, for instance because it is assigned.
    pub fn remove(&mut self, path: &Path) {
        match &self.base {
            None => {
                self.by_path.remove(path);
            }
            Some(_) => {
                self.by_path.insert(path.clone(), Vec::new());
            }
        }
    }
}
