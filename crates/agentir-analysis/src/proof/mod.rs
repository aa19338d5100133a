//! Queries to the solver about the conditions of an agent, with the facts that the agent states
//! about its variables.
//!
//! [`AgentAnalysis::query`](crate::AgentAnalysis::query) begins a query. It takes assumptions, and
//! yields a model or an unsatisfiable core. An undecided query has no answer, so it never causes a
//! finding.
//!
//! What may change a variable (the user, a tool, a handler, another agent) is the business of
//! [`Cfg::facts`](agentir_flow::cfg::Cfg::facts). With these facts as assumptions, a proof about a
//! branch is one about the paths that lead to it. `tests/tests/all/proofs/` lists small cases that
//! rules with proofs must and must not report.
//!
//! `agentir check --statistics` counts undecided queries.

mod outcomes;
mod variable_facts;

pub(crate) use outcomes::Outcomes;
pub(crate) use variable_facts::SharedDeclarations;
pub use variable_facts::{FactSource, VariableFacts};

use crate::cancel::Cancellation;
use crate::clock::Clock;
use crate::conditions::test;
use crate::limits::{Limit, Limits};
use crate::text_conditions;
use agentir_diagnostics::{Premise, Span};
use agentir_eval::{State, Value, evaluate};
use agentir_expr::{Dialect, Expr, Path};
use agentir_flow::cfg::Fact;
use agentir_solver::{
    Answer, Assertion, Example, FactKind, Facts, Goal, Label, Query, Solver, Statistics, Test,
    UnknownReason, Verdict,
};
use std::cell::{Cell, RefCell};
use std::rc::Rc;

/// The solver of a program.
pub(crate) struct Prover {
    solver: RefCell<Solver>,
    cancelled: Cell<u64>,
    cancellation: Cancellation,
    limits: Rc<Limits>,
}

/// The steps that the queries about a program may take together: a few seconds. Those about a hundred programs that
/// people wrote take a thousandth.
const MAX_STEPS: u64 = 30_000_000;

/// The steps that each agent adds.
const MAX_STEPS_PER_AGENT: u64 = 300_000;

/// The most that many agents make of it.
const MAX_STEPS_OF_ALL: u64 = 300_000_000;

impl Prover {
    /// Returns the solver of a program with this many agents. Its work is bounded by a count, so that findings do not
    /// depend on the speed of the machine.
    pub(crate) fn new(agents: usize, limits: Rc<Limits>) -> Self {
        let agents = u64::try_from(agents).unwrap_or(u64::MAX);
        let more = MAX_STEPS_PER_AGENT.saturating_mul(agents);
        let steps = MAX_STEPS.saturating_add(more).min(MAX_STEPS_OF_ALL);
        Self {
            solver: RefCell::new(Solver::default().limited(steps)),
            cancelled: Cell::new(0),
            cancellation: Cancellation::default(),
            limits,
        }
    }

    /// Limits the work to fewer steps than the size of the program allows.
    pub(crate) fn limited(self, steps: u64) -> Self {
        let solver = self.solver.into_inner();
        let steps = steps.min(solver.max_steps());
        Self { solver: RefCell::new(solver.limited(steps)), ..self }
    }

    /// Answers no further query once `cancellation` says so.
    pub(crate) fn stop_at(&mut self, cancellation: Cancellation) {
        self.cancellation = cancellation;
    }

    /// Makes the prover measure the time of its queries.
    pub(crate) fn timed(self) -> Self {
        Self { solver: RefCell::new(self.solver.into_inner().timed()), ..self }
    }

    fn is_contingent(&self, condition: &Expr, facts: &Facts, dialect: Dialect) -> bool {
        self.solver.borrow_mut().is_contingent(condition, facts, dialect)
    }

    fn decide<T: From<Answer>>(
        &self,
        query: &Query<'_>,
        decide: fn(&mut Solver, &Query<'_>) -> T,
    ) -> T {
        let mut solver = self.solver.borrow_mut();
        if self.cancellation.is_cancelled() {
            self.cancelled.set(self.cancelled.get() + 1);
            return Answer::Unknown(UnknownReason::Budget).into();
        }
        let before = solver.statistics().out_of_budget;
        let decided = decide(&mut solver, query);
        if solver.statistics().out_of_budget != before {
            let limit = match solver.is_exhausted() {
                true => Limit::Conditions,
                false => Limit::Condition,
            };
            self.limits.reach(limit, place(query));
        }
        decided
    }

    /// Returns the queries so far, refused ones included.
    pub(crate) fn statistics(&self) -> Statistics {
        let mut statistics = *self.solver.borrow().statistics();
        statistics.queries += self.cancelled.get();
        statistics.out_of_budget += self.cancelled.get();
        statistics
    }
}

/// The condition that a query is about: that of its goal, or else the last that it assumes.
fn place(query: &Query<'_>) -> Option<Span> {
    let goal = match &query.goal {
        Goal::Implied(assertion) | Goal::Equivalent(assertion, _) => assertion.test.span(),
        Goal::Satisfiable => None,
    };
    goal.or_else(|| query.assumptions.iter().rev().find_map(|a| a.test.span()))
}

impl std::fmt::Debug for Prover {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Prover").field(&self.statistics()).finish()
    }
}

/// A query under construction.
#[derive(Debug)]
pub struct QueryBuilder<'c, 'a> {
    variable_facts: &'c VariableFacts,
    prover: &'c Prover,
    clock: &'c Clock,
    facts: Facts,
    /// The sources of the facts that were added to those of the agent.
    added_sources: Vec<FactSource>,
    assumptions: Vec<Assertion<'a>>,
}

/// An assumption, by the order in which it was added.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Assumption(pub usize);

/// A proved answer.
#[derive(Debug)]
pub enum SatResult {
    /// A state exists.
    Sat(Example),
    /// No state exists.
    Unsat,
}

/// A minimal unsatisfiable core.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct UnsatCore {
    /// The assumptions of the core.
    pub assumptions: Vec<Assumption>,
    /// The facts of the core.
    pub facts: Vec<FactSource>,
    /// The assumptions and the negated goal.
    conditions: Vec<Premise>,
}

impl UnsatCore {
    /// Returns a core of facts only.
    pub fn of_facts(facts: Vec<FactSource>) -> Self {
        Self { facts, ..Self::default() }
    }

    /// Returns the tests of the core and their outcomes: the assumptions and the negated goal.
    #[must_use]
    pub fn premises(&self) -> &[Premise] {
        &self.conditions
    }
}

/// Returns a condition and its outcome, as evidence.
fn premise(test: &Test<'_>, holds: bool) -> Premise {
    let outcome = if holds { "holds" } else { "does not hold" };
    let message = match test {
        Test::Words(words) => format!("`{words}` {outcome}"),
        Test::Expr(_) | Test::In(..) => format!("this {outcome}"),
    };
    Premise { span: test.span(), message }
}

impl SatResult {
    /// Returns the state, if there is one.
    #[must_use]
    pub fn state(self) -> Option<Example> {
        match self {
            Self::Sat(example) => Some(example),
            Self::Unsat => None,
        }
    }
}

/// The first label of assumptions. Smaller labels are those of facts.
const FIRST_ASSUMPTION: u32 = 1 << 24;

impl<'c, 'a> QueryBuilder<'c, 'a> {
    pub(crate) fn new(
        variable_facts: &'c VariableFacts,
        prover: &'c Prover,
        clock: &'c Clock,
    ) -> Self {
        let facts = Facts::extending(&variable_facts.facts);
        let (added_sources, assumptions) = (Vec::new(), Vec::new());
        Self { variable_facts, prover, clock, facts, added_sources, assumptions }
    }

    /// Assumes that a condition holds, or that it does not.
    pub fn assume(&mut self, test: impl Into<Test<'a>>, holds: bool) -> Assumption {
        let at = self.assumptions.len();
        let label = Label(FIRST_ASSUMPTION.saturating_add(u32::try_from(at).unwrap_or(u32::MAX)));
        self.assumptions.push(Assertion { test: test.into(), holds, label });
        Assumption(at)
    }

    /// Assumes a fact that holds on every path to the queried program point. Outcomes of tests
    /// become assumptions, assignments become facts.
    pub fn assume_fact(&mut self, fact: Fact<'a>) -> Option<Assumption> {
        match fact {
            Fact::Test(literal) => {
                return Some(self.assume(test(literal.test), literal.holds));
            }
            Fact::Value(set) => {
                let dialect = self.variable_facts.dialect;
                let value = evaluate(&set.value, &State::new(), dialect).ok()?;
                let message = "every path here sets it to this, and nothing changes it in between";
                self.add_fact(
                    set.target.clone(),
                    FactKind::Is(value),
                    FactSource::on_paths(set.span, message),
                );
            }
            Fact::Cleared(name) => {
                let message = "every path here clears it, and nothing sets it in between";
                let unset = FactKind::Is(Value::Undefined);
                self.add_fact(
                    Path::variable(name.clone()),
                    unset,
                    FactSource::on_paths(name.span, message),
                );
            }
        }
        None
    }

    /// Adds a fact about a variable.
    pub fn add_fact(&mut self, path: Path, kind: FactKind, source: FactSource) {
        let own = self.variable_facts.source_count();
        let label =
            Label(u32::try_from(own + self.added_sources.len()).unwrap_or(FIRST_ASSUMPTION - 1));
        self.added_sources.push(source);
        self.facts.add(path, kind, Some(label));
    }

    /// Whether a condition holds in some states and not in others, given only the agent's facts.
    /// Cheap; `false` proves nothing.
    fn is_contingent(&self, condition: &Expr) -> bool {
        let VariableFacts { facts, dialect, .. } = self.variable_facts;
        self.clock.time("(solver)", || self.prover.is_contingent(condition, facts, *dialect))
    }

    /// Decides whether the assumptions are consistent.
    #[must_use]
    pub fn solve(&self) -> Option<SatResult> {
        match self.run(Goal::Satisfiable, Solver::solve) {
            Answer::Sat(example) => Some(SatResult::Sat(example)),
            Answer::Unsat(_) => Some(SatResult::Unsat),
            Answer::Unknown(_) => None,
        }
    }

    /// Proves that the assumptions are contradictory.
    #[must_use]
    pub fn refute(&self) -> Option<UnsatCore> {
        self.unsat_core(Goal::Satisfiable)
    }

    /// Proves that the assumptions imply a condition.
    #[must_use]
    pub fn prove(&self, test: impl Into<Test<'a>>, holds: bool) -> Option<UnsatCore> {
        let assertion = Assertion { test: test.into(), holds, label: Label(u32::MAX) };
        self.unsat_core(Goal::Implied(assertion))
    }

    /// Whether the assumptions are consistent; `None` if undecided. Cheaper than [`Self::solve`],
    /// which constructs a state.
    #[must_use]
    pub fn is_satisfiable(&self) -> Option<bool> {
        match self.check(Goal::Satisfiable) {
            Verdict::Sat => Some(true),
            Verdict::Unsat(_) => Some(false),
            Verdict::Unknown(_) => None,
        }
    }

    fn unsat_core(&self, goal: Goal<'a>) -> Option<UnsatCore> {
        let negated = match &goal {
            Goal::Implied(assertion) => Some(premise(&assertion.test, !assertion.holds)),
            Goal::Satisfiable | Goal::Equivalent(..) => None,
        };
        match self.check(goal) {
            Verdict::Unsat(labels) => {
                let mut core = self.core(&labels);
                core.conditions.extend(negated);
                Some(core)
            }
            Verdict::Sat | Verdict::Unknown(_) => None,
        }
    }

    fn check(&self, goal: Goal<'a>) -> Verdict {
        let negated = match &goal {
            Goal::Implied(assertion) => {
                Some(Assertion { holds: !assertion.holds, ..assertion.clone() })
            }
            Goal::Satisfiable => None,
            Goal::Equivalent(..) => return self.run(goal, Solver::check),
        };
        // Cheaper than a search, which cannot decide what these are about.
        match self.contradicting_texts(negated.as_ref()) {
            Some(labels) => Verdict::Unsat(labels),
            None => self.run(goal, Solver::check),
        }
    }

    /// Finds assumptions that contradict each other, or one that never holds, by the literals in their tests of strings.
    fn contradicting_texts(&self, negated: Option<&Assertion<'a>>) -> Option<Vec<Label>> {
        let expr = |assertion: &Assertion<'a>| match assertion.test {
            Test::Expr(expr) => Some(expr),
            Test::In(..) | Test::Words(_) => None,
        };
        let all = || self.assumptions.iter().chain(negated);
        let is_text = |path: &Path| self.is_text(path);
        for this in all().filter(|assertion| assertion.holds) {
            let Some(own) = expr(this) else { continue };
            if text_conditions::is_impossible(own) {
                return Some(vec![this.label]);
            }
            for other in all().filter(|assertion| !assertion.holds) {
                if expr(other).is_some_and(|other| text_conditions::implies(own, other, &is_text)) {
                    return Some(vec![this.label, other.label]);
                }
            }
        }
        None
    }

    /// Whether a variable is declared as a string, or is what the user said.
    fn is_text(&self, path: &Path) -> bool {
        let mut facts = self.facts.get(path).iter();
        facts.any(|fact| matches!(fact.kind, FactKind::Type(agentir_solver::Type::Text)))
    }

    fn run<T: From<Answer>>(&self, goal: Goal<'a>, decide: fn(&mut Solver, &Query<'_>) -> T) -> T {
        let query = Query {
            dialect: self.variable_facts.dialect,
            facts: &self.facts,
            assumptions: self.assumptions.clone(),
            goal,
        };
        self.clock.time("(solver)", || self.prover.decide(&query, decide))
    }

    fn core(&self, labels: &[Label]) -> UnsatCore {
        let own = self.variable_facts;
        let mut core = UnsatCore::default();
        for Label(label) in labels {
            let at = *label as usize;
            if *label == u32::MAX {
                continue;
            }
            if *label >= FIRST_ASSUMPTION {
                let at = at - FIRST_ASSUMPTION as usize;
                core.assumptions.push(Assumption(at));
                let assertion = self.assumptions.get(at);
                core.conditions.extend(assertion.map(|a| premise(&a.test, a.holds)));
            } else if let Some(source) =
                own.source(at).or_else(|| self.added_sources.get(at - own.source_count()))
            {
                core.facts.push(source.clone());
            }
        }
        core
    }
}

impl FactSource {
    /// Returns the source of a fact that holds everywhere.
    #[must_use]
    pub fn at(span: Span, message: impl Into<String>) -> Self {
        Self { span: Some(span), message: message.into(), ..Self::default() }
    }

    /// Returns the source of a fact that follows from the paths to the queried program point.
    #[must_use]
    pub fn on_paths(span: Span, message: impl Into<String>) -> Self {
        Self { on_paths: true, ..Self::at(span, message) }
    }
}
