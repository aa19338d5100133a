//! Questions about the conditions of an agent: the solver, with what the agent itself says about its
//! variables.
//!
//! A rule asks with [`AgentContext::ask`], says what is given, and gets an example state or the lines
//! that make it impossible. What could not be decided is no answer, and never a finding.

pub(crate) mod circle;
mod conditions;
mod first;
mod knowledge;
pub(crate) mod order;
pub(crate) mod start;

pub(crate) use conditions::{
    always, branches, comparisons, decided_alone, is_constant, is_stable, mistyped, roots,
    starts_unset, taken, test,
};
pub(crate) use first::{FirstValues, NOTHING_SET};
pub(crate) use knowledge::Declared;
pub use knowledge::{Knowledge, Line};

use crate::rule::AgentContext;
use agentir_diagnostics::{Diagnostic, Span};
use agentir_eval::{State, Value, evaluate};
use agentir_expr::{Dialect, Expr, Path};
use agentir_flow::cfg::Fact;
use agentir_solver::{
    Answer, Assertion, Example, FactKind, Facts, Goal, Label, Query, Solver, Statistics, Test,
    UnknownReason, Verdict,
};
use std::cell::{Cell, RefCell};

/// The solver of a program.
pub(crate) struct Prover {
    solver: RefCell<Solver>,
    /// How many questions may be asked.
    most: u64,
    refused: Cell<u64>,
}

impl Prover {
    /// The solver of a program of so many agents. What is asked is bounded by a count, so that a
    /// finding does not depend on how fast the machine is; no program that people write comes near it.
    /// What is answered at once does not count.
    pub(crate) fn new(agents: usize) -> Self {
        let most = 10_000 + 2_000 * u64::try_from(agents).unwrap_or(u64::MAX / 4_000);
        Self { solver: RefCell::default(), most, refused: Cell::new(0) }
    }

    fn is_contingent(&self, condition: &Expr, facts: &Facts, dialect: Dialect) -> bool {
        self.solver.borrow_mut().is_contingent(condition, facts, dialect)
    }

    fn ask<T: From<Answer>>(&self, query: &Query<'_>, ask: fn(&mut Solver, &Query<'_>) -> T) -> T {
        let mut solver = self.solver.borrow_mut();
        let Statistics { queries, by_sampling, .. } = *solver.statistics();
        if queries - by_sampling >= self.most {
            self.refused.set(self.refused.get() + 1);
            return Answer::Unknown(UnknownReason::Budget).into();
        }
        ask(&mut solver, query)
    }

    pub(crate) fn statistics(&self) -> Statistics {
        let mut statistics = *self.solver.borrow().statistics();
        statistics.queries += self.refused.get();
        statistics.out_of_budget += self.refused.get();
        statistics
    }
}

impl std::fmt::Debug for Prover {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Prover").field(&self.statistics()).finish()
    }
}

/// A question that is being put together.
#[derive(Debug)]
pub struct Ask<'c, 'a> {
    cx: &'c AgentContext<'a>,
    facts: Facts,
    /// What the labels of facts that were added to the agent's own stand for.
    added: Vec<Line>,
    given: Vec<Assertion<'a>>,
}

/// Something that was given, by the order in which it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Given(pub usize);

/// An answer that was proved; without a proof there is none.
#[derive(Debug)]
pub enum Found {
    /// There is such a state.
    Sat(Example),
    /// There is none.
    Unsat,
}

/// A smallest set of lines that suffices.
#[derive(Debug)]
pub struct Core {
    /// Of what was given.
    pub given: Vec<Given>,
    /// Of what is known about variables.
    pub facts: Vec<Line>,
}

impl Core {
    /// Shows in a finding what is known about variables and makes the difference.
    #[must_use]
    pub fn explain(&self, finding: Diagnostic) -> Diagnostic {
        self.facts.iter().fold(finding, |finding, line| match line.span {
            Some(span) => finding.label(span, line.says.clone()),
            None => finding.note(line.says.clone()),
        })
    }
}

impl Found {
    /// The state.
    #[must_use]
    pub fn state(self) -> Option<Example> {
        match self {
            Self::Sat(example) => Some(example),
            Self::Unsat => None,
        }
    }
}

/// Labels of lines that are given begin here; those below are of facts.
const GIVEN: u32 = 1 << 24;

impl<'c, 'a> Ask<'c, 'a> {
    pub(crate) fn new(cx: &'c AgentContext<'a>) -> Self {
        let facts = Facts::extending(&cx.knowledge().facts);
        Self { cx, facts, added: Vec::new(), given: Vec::new() }
    }

    /// Takes it for granted that a condition holds, or that it does not.
    pub fn given(&mut self, test: impl Into<Test<'a>>, holds: bool) -> Given {
        let at = self.given.len();
        let label = Label(GIVEN.saturating_add(u32::try_from(at).unwrap_or(u32::MAX)));
        self.given.push(Assertion { test: test.into(), holds, label });
        Given(at)
    }

    /// Takes for granted what holds on every way to the place that is asked about. What comes of a test
    /// is given, what comes of an assignment is known.
    pub fn known(&mut self, known: Fact<'a>) -> Option<Given> {
        match known {
            Fact::Test(assertion) => {
                return Some(self.given(test(assertion.test), assertion.holds));
            }
            Fact::Value(set) => {
                let dialect = self.cx.knowledge().dialect;
                let value = evaluate(&set.value, &State::new(), dialect).ok()?;
                let says = "every way here sets it to this, and nothing on the way changes it";
                self.know(set.target.clone(), FactKind::Is(value), Line::at(set.span, says));
            }
            Fact::Cleared(name) => {
                let says = "every way here removes it, and nothing on the way sets it";
                let unset = FactKind::Is(Value::Undefined);
                self.know(Path::variable(name.clone()), unset, Line::at(name.span, says));
            }
        }
        None
    }

    /// Takes it for granted that something more is known of a variable here.
    pub fn know(&mut self, path: Path, kind: FactKind, line: Line) {
        let own = self.cx.knowledge().lines();
        let label = Label(u32::try_from(own + self.added.len()).unwrap_or(GIVEN - 1));
        self.added.push(line);
        self.facts.add(path, kind, Some(label));
    }

    /// Forgets what is known of a variable here.
    pub fn forget(&mut self, path: &Path) {
        self.facts.remove(path);
    }

    /// Whether a condition, with nothing given but what is known of its variables, holds in some states
    /// and not in others. Cheap; false says nothing.
    pub(crate) fn is_contingent(cx: &AgentContext<'_>, condition: &Expr) -> bool {
        let (program, knowledge) = (cx.program, cx.knowledge());
        let ask = || program.prover.is_contingent(condition, &knowledge.facts, knowledge.dialect);
        program.clock.time("(solver)", ask)
    }

    /// Can all of it hold at once?
    #[must_use]
    pub fn satisfiable(&self) -> Option<Found> {
        match self.put(Goal::Satisfiable, Solver::solve) {
            Answer::Sat(example) => Some(Found::Sat(example)),
            Answer::Unsat(_) => Some(Found::Unsat),
            Answer::Unknown(_) => None,
        }
    }

    /// The proof that not all of it can hold at once.
    #[must_use]
    pub fn impossible(&self) -> Option<Core> {
        self.refuted(Goal::Satisfiable)
    }

    /// The proof that this follows.
    #[must_use]
    pub fn proves(&self, test: impl Into<Test<'a>>, holds: bool) -> Option<Core> {
        let assertion = Assertion { test: test.into(), holds, label: Label(u32::MAX) };
        self.refuted(Goal::Implied(assertion))
    }

    /// Whether all of it can hold at once; `None` if that could not be decided. Cheaper than
    /// [`Self::satisfiable`], which says when it does.
    #[must_use]
    pub fn possible(&self) -> Option<bool> {
        match self.check(Goal::Satisfiable) {
            Verdict::Sat => Some(true),
            Verdict::Unsat(_) => Some(false),
            Verdict::Unknown(_) => None,
        }
    }

    fn refuted(&self, goal: Goal<'a>) -> Option<Core> {
        match self.check(goal) {
            Verdict::Unsat(labels) => Some(self.core(&labels)),
            Verdict::Sat | Verdict::Unknown(_) => None,
        }
    }

    fn check(&self, goal: Goal<'a>) -> Verdict {
        self.put(goal, Solver::check)
    }

    fn put<T: From<Answer>>(&self, goal: Goal<'a>, ask: fn(&mut Solver, &Query<'_>) -> T) -> T {
        let query = Query {
            dialect: self.cx.knowledge().dialect,
            facts: &self.facts,
            assumptions: self.given.clone(),
            goal,
        };
        let program = self.cx.program;
        program.clock.time("(solver)", || program.prover.ask(&query, ask))
    }

    fn core(&self, labels: &[Label]) -> Core {
        let own = self.cx.knowledge();
        let mut core = Core { given: Vec::new(), facts: Vec::new() };
        for Label(label) in labels {
            let at = *label as usize;
            if *label == u32::MAX {
                continue;
            }
            if *label >= GIVEN {
                core.given.push(Given(at - GIVEN as usize));
            } else if let Some(line) = own.line(at).or_else(|| self.added.get(at - own.lines())) {
                core.facts.push(line.clone());
            }
        }
        core
    }
}

impl Line {
    /// A line of the source.
    #[must_use]
    pub fn at(span: Span, says: impl Into<String>) -> Self {
        Self { span: Some(span), says: says.into() }
    }
}
