//! Questions.

use agentir_eval::Value;
use agentir_expr::{Condition, ConditionKind, Dialect, Expr, Path};
use rustc_hash::FxHashMap;
use smol_str::SmolStr;
use std::sync::Arc;

/// By what the caller finds a line again. The solver gives labels back and makes nothing of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Label(pub u32);

/// A question about conditions.
#[derive(Clone, Debug)]
pub struct Query<'a> {
    /// What the conditions mean; those of another dialect say so themselves ([`Test::In`]).
    pub dialect: Dialect,
    /// What is known of the variables. Only facts about variables that the conditions mention count.
    pub facts: &'a Facts,
    /// What is taken for granted: conditions that hold or do not hold, all at once.
    pub given: Vec<Literal<'a>>,
    /// What is asked.
    pub question: Question<'a>,
}

/// What is asked. In every case a state is looked for.
#[derive(Clone, Debug)]
pub enum Question<'a> {
    /// Can all that is given be true at once? A state is an example; that there is none is proved by
    /// a smallest set of labels that contradict each other.
    Satisfiable,
    /// Does this follow from what is given? A state is a counterexample; that there is none is proved
    /// by a smallest set of labels from which it follows.
    Implied(Literal<'a>),
    /// Are these two true in the same states, if what is given is? A state is one that tells them
    /// apart.
    Equivalent(Literal<'a>, Literal<'a>),
}

impl<'a> Query<'a> {
    /// All its conditions: those that are given, then those that are asked about.
    pub(crate) fn literals(&self) -> impl Iterator<Item = &Literal<'a>> {
        let asked: [Option<&Literal<'a>>; 2] = match &self.question {
            Question::Satisfiable => [None, None],
            Question::Implied(one) => [Some(one), None],
            Question::Equivalent(one, other) => [Some(one), Some(other)],
        };
        self.given.iter().chain(asked.into_iter().flatten())
    }
}

/// A condition that holds, or that does not.
#[derive(Clone, Debug)]
pub struct Literal<'a> {
    /// The condition.
    pub test: Test<'a>,
    /// Whether it holds. One that does not hold is false; in Agent Script and ADL it is not one that
    /// fails, because that would stop what runs.
    pub holds: bool,
    /// By what the caller finds it again.
    pub label: Label,
}

/// A condition.
#[derive(Clone, Copy, Debug)]
pub enum Test<'a> {
    /// An expression.
    Expr(&'a Expr),
    /// An expression that means what it means in this dialect, over the same variables. A path of
    /// another dialect that names the same variable is to be written alike.
    In(Dialect, &'a Expr),
    /// Words that the model judges, or a broken expression: nothing is known of it but its text, and
    /// it is the same as another only if it is written the same.
    Words(&'a str),
}

impl Test<'_> {
    /// What it means, in a question of `question`'s dialect.
    pub(crate) const fn dialect(&self, question: Dialect) -> Dialect {
        match self {
            Self::In(dialect, _) => *dialect,
            Self::Expr(_) | Self::Words(_) => question,
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

impl<'a> Literal<'a> {
    /// A condition that holds.
    #[must_use]
    pub fn holds(test: impl Into<Test<'a>>, label: Label) -> Self {
        Self { test: test.into(), holds: true, label }
    }

    /// A condition that does not hold.
    #[must_use]
    pub fn fails(test: impl Into<Test<'a>>, label: Label) -> Self {
        Self { test: test.into(), holds: false, label }
    }
}

/// Something known of a variable, or of a part of one.
#[derive(Clone, Debug, PartialEq)]
pub struct Fact {
    /// What is known.
    pub kind: FactKind,
    /// The line that says so; it appears in cores. None for what the language itself says.
    pub label: Option<Label>,
}

/// What is known of a variable. Only [`FactKind::Set`] and [`FactKind::Is`] say that it has a value;
/// all others say something about the value it has if it has one.
#[derive(Clone, Debug, PartialEq)]
pub enum FactKind {
    /// It is never unset: a required field that is collected, a result that always comes.
    Set,
    /// It has exactly this value: a constant, or the initial value where nothing was assigned yet.
    Is(Value),
    /// Its type.
    Type(Type),
    /// Its values are among these (`VALUES`, an enumeration). Texts equal texts and numbers equal
    /// numbers, without conversion.
    OneOf(Vec<Value>),
    /// It is at least this number, or, for texts and lists, this long.
    AtLeast(Bound, f64),
    /// It is at most this number, or this long.
    AtMost(Bound, f64),
    /// It is a text in which this regular expression is found.
    Pattern(SmolStr),
}

/// What of a value has a bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Bound {
    /// The value, which is a number.
    Value,
    /// The length of a text in characters, or of a list in items.
    Length,
}

/// A type of values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Type {
    /// Texts.
    Text,
    /// Numbers.
    Number,
    /// Whole numbers.
    Integer,
    /// True and false.
    Bool,
    /// Dates, and texts that are dates in the form `2026-01-31`, perhaps with a time.
    Date,
    /// Lists.
    List,
    /// Objects.
    Object,
}

/// What is known of variables, by variable. Built once for an agent and used for many questions; what a
/// question knows besides is laid over it ([`Facts::over`]).
#[derive(Clone, Debug, Default)]
pub struct Facts {
    below: Option<Arc<Self>>,
    /// Of a path that is in it, what is below does not count.
    by_path: FxHashMap<Path, Vec<Fact>>,
}

impl Facts {
    /// No facts.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// These facts, to be changed without changing or copying them.
    #[must_use]
    pub fn over(below: &Arc<Self>) -> Self {
        Self { below: Some(Arc::clone(below)), by_path: FxHashMap::default() }
    }

    /// Adds a fact about a variable or a part of one.
    pub fn add(&mut self, path: Path, kind: FactKind, label: Option<Label>) {
        let below = self.below.as_ref();
        let facts = self
            .by_path
            .entry(path)
            .or_insert_with_key(|path| below.map_or_else(Vec::new, |b| b.of(path).to_vec()));
        let fact = Fact { kind, label };
        if !facts.contains(&fact) {
            facts.push(fact);
        }
    }

    /// What is known of exactly this path.
    #[must_use]
    pub fn of(&self, path: &Path) -> &[Fact] {
        match (self.by_path.get(path), &self.below) {
            (Some(facts), _) => facts,
            (None, Some(below)) => below.of(path),
            (None, None) => &[],
        }
    }

    /// The same facts about variables that are called otherwise.
    #[must_use]
    pub fn renamed(&self, name: impl Fn(&Path) -> Path) -> Self {
        let mut all = Self::new();
        let mut layer = Some(self);
        let mut above: Vec<&Self> = Vec::new();
        while let Some(facts) = layer {
            for (path, known) in &facts.by_path {
                if above.iter().any(|a| a.by_path.contains_key(path)) {
                    continue;
                }
                for fact in known {
                    all.add(name(path), fact.kind.clone(), fact.label);
                }
            }
            above.push(facts);
            layer = facts.below.as_deref();
        }
        all
    }

    /// Forgets what is known of a path: on a way on which it is assigned, for instance.
    pub fn remove(&mut self, path: &Path) {
        match &self.below {
            None => {
                self.by_path.remove(path);
            }
            Some(_) => {
                self.by_path.insert(path.clone(), Vec::new());
            }
        }
    }
}
