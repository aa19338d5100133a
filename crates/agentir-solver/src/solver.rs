//! The solver: from a query to an answer.

use crate::answer::{Answer, Example, UnknownReason, Verdict};
use crate::example;
use crate::patterns::Patterns;
use crate::problem::{AtomKind, Problem, key};
use crate::query::{Assertion, Facts, Goal, Label, Query, Test};
use crate::quickxplain::minimal_subset;
use crate::sampling::{samples_a_model, samples_both_truths};
use crate::search::{self, Assignment, Domains, SearchResult};
use crate::smt::{self, Smt};
use crate::statistics::Statistics;
use crate::work::Work;
use agentir_eval::MAX_VALUE_DEPTH;
use agentir_expr::{Dialect, Expr, ExprKind, Visit};
use rustc_hash::{FxHashMap, FxHashSet};
use std::fmt::Write;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// A cache of answers, shared by the solvers of a run.
#[derive(Clone, Debug, Default)]
pub struct Cache {
    answers: Arc<Mutex<FxHashMap<String, CachedAnswer>>>,
}

/// An answer whose labels are indices into those of the query.
#[derive(Clone, Debug)]
enum CachedAnswer {
    Sat(Example),
    Unsat(Vec<usize>),
    Unknown(UnknownReason),
}

/// A solver. Each thread has its own; they share a [`Cache`].
pub struct Solver {
    cache: Cache,
    smt: Smt,
    patterns: Patterns,
    statistics: Statistics,
    timed: bool,
    /// The steps that all queries together may take.
    limit: u64,
}

/// The steps that one query takes at most.
const MAX_QUERY_STEPS: u64 = 20_000_000;

impl Default for Solver {
    fn default() -> Self {
        Self::new(Cache::default())
    }
}

impl Solver {
    /// Returns a solver that uses `cache`.
    #[must_use]
    pub fn new(cache: Cache) -> Self {
        Self {
            cache,
            smt: Smt::default(),
            patterns: Patterns::default(),
            statistics: Statistics::default(),
            timed: false,
            limit: u64::MAX,
        }
    }

    /// Limits the work of all queries together to a number of [`Statistics::steps`]. Those that come after it was
    /// reached are not answered.
    #[must_use]
    pub fn limited(self, steps: u64) -> Self {
        Self { limit: steps, ..self }
    }

    /// The steps that all queries together may take.
    #[must_use]
    pub const fn max_steps(&self) -> u64 {
        self.limit
    }

    /// Whether the queries so far took all steps, so that no further one is answered.
    #[must_use]
    pub const fn is_exhausted(&self) -> bool {
        self.statistics.steps >= self.limit
    }

    /// The steps that the next query may take.
    fn query_limit(&self) -> u64 {
        self.limit.saturating_sub(self.statistics.steps).min(MAX_QUERY_STEPS)
    }

    /// Makes the solver measure the time of its queries. By default it does not use a clock.
    #[must_use]
    pub fn timed(self) -> Self {
        Self { smt: Smt::timed(), timed: true, ..self }
    }

    /// The statistics of all queries so far.
    #[must_use]
    pub const fn statistics(&self) -> &Statistics {
        &self.statistics
    }

    /// Decides a query without constructing a state. Much cheaper than [`Self::solve`] if sampling
    /// finds a model.
    pub fn check(&mut self, query: &Query<'_>) -> Verdict {
        let start = self.start();
        let work = Work::new(self.query_limit());
        let found = self.patterns.admits(query, &work) && samples_a_model(query, &work);
        self.statistics.steps += work.spent();
        if found {
            self.statistics.queries += 1;
            self.statistics.by_sampling += 1;
            self.stop(start);
            return Verdict::Sat;
        }
        self.solve(query).into()
    }

    /// Whether sampling finds both a state in which the condition holds and one in which it does
    /// not, given the facts. Cheap; `false` proves nothing.
    pub fn is_contingent(&mut self, condition: &Expr, facts: &Facts, dialect: Dialect) -> bool {
        let start = self.start();
        let work = Work::new(self.query_limit());
        let open = self.patterns.admits_expr(condition, facts, &work)
            && samples_both_truths(condition, facts, dialect, &work);
        self.statistics.steps += work.spent();
        if open {
            self.statistics.queries += 2;
            self.statistics.by_sampling += 2;
            self.stop(start);
        }
        open
    }

    /// Decides a query. The answer depends neither on the order of the assumptions nor on earlier
    /// queries.
    pub fn solve(&mut self, query: &Query<'_>) -> Answer {
        let start = self.start();
        self.statistics.queries += 1;
        if query.assertions().any(|assertion| has_long_path(&assertion.test)) {
            self.statistics.out_of_budget += 1;
            return Answer::Unknown(UnknownReason::Budget);
        }
        let work = Work::new(self.query_limit());
        let admitted = self.patterns.admits(query, &work);
        self.statistics.steps += work.spent();
        let limit = work.left();
        if limit == 0 || !admitted {
            self.statistics.out_of_budget += 1;
            return Answer::Unknown(UnknownReason::Budget);
        }
        let (query, keys) = canonical(query);
        let problem = Problem::new(&query, limit);
        let key = cache_key(&problem, &query, &keys);
        problem.work.spend(key.len() as u64 / 8);
        let cached = self.cache.get(&key);
        let cached = match cached {
            Some(cached) => {
                self.statistics.cached += 1;
                cached
            }
            None => {
                let (asked, unavailable) = (self.smt.asked(), self.smt.unavailable());
                let cached = self.decide(&problem, &query);
                let complete = self.smt.unavailable() == unavailable;
                if self.smt.asked() == asked {
                    self.statistics.without_z3 += 1;
                } else {
                    self.statistics.with_z3 += 1;
                    self.statistics.incomplete += u64::from(!complete);
                }
                if let CachedAnswer::Unknown(why) = &cached {
                    *match why {
                        UnknownReason::Opaque => &mut self.statistics.opaque,
                        UnknownReason::Budget => &mut self.statistics.out_of_budget,
                        UnknownReason::Unconfirmed => &mut self.statistics.unconfirmed,
                        UnknownReason::Unavailable => &mut self.statistics.unavailable,
                    } += 1;
                }
                // Z3 might change an incomplete answer, and each use of one is counted.
                if complete {
                    self.cache.put(key, cached.clone());
                }
                cached
            }
        };
        self.statistics.steps += problem.work.spent();
        self.statistics.z3_time = self.smt.time();
        self.stop(start);
        match cached {
            CachedAnswer::Sat(example) => Answer::Sat(example),
            CachedAnswer::Unknown(why) => Answer::Unknown(why),
            CachedAnswer::Unsat(lines) => {
                let mut labels: Vec<_> =
                    lines.iter().filter_map(|i| problem.labels.get(*i)).copied().collect();
                labels.sort_unstable();
                labels.dedup();
                Answer::Unsat(labels)
            }
        }
    }

    fn start(&self) -> Option<Instant> {
        self.timed.then(Instant::now)
    }

    fn stop(&mut self, start: Option<Instant>) {
        self.statistics.time += start.map_or(Duration::ZERO, |start| start.elapsed());
    }

    fn decide(&mut self, problem: &Problem<'_>, query: &Query<'_>) -> CachedAnswer {
        let domains = Domains::new(problem);
        let constraints: Vec<usize> = (0..problem.constraints.len()).collect();
        match self.attempt(problem, &domains, &constraints) {
            Attempt::Sat(assignment) => {
                match example::confirm(problem, &domains, query, &assignment) {
                    Some(example) => CachedAnswer::Sat(example),
                    None => CachedAnswer::Unknown(UnknownReason::Unconfirmed),
                }
            }
            Attempt::Unknown(why) => CachedAnswer::Unknown(why),
            Attempt::Unsat(constraints) => {
                let core = self.minimal_core(problem, &domains, &constraints);
                CachedAnswer::Unsat(self.drop_redundant(problem, query, core))
            }
        }
    }

    /// Searches for a state that satisfies `constraints`.
    fn attempt(
        &mut self,
        problem: &Problem<'_>,
        domains: &Domains,
        constraints: &[usize],
    ) -> Attempt {
        let mut assignment = Assignment::default();
        let mut unknown = None;
        for component in search::components(problem, constraints) {
            match search::decide(problem, domains, &component) {
                SearchResult::Sat(part) => assignment.extend(part),
                SearchResult::Unsat => return Attempt::Unsat(component),
                SearchResult::Opaque => unknown = unknown.max(Some(UnknownReason::Opaque)),
                SearchResult::Unknown => match self.smt.check(problem, &component) {
                    smt::Verdict::State(part) => {
                        if example::satisfies(problem, &component, &part) {
                            assignment.extend(part);
                        } else {
                            unknown = unknown.max(Some(unconfirmed_reason(problem, &component)));
                        }
                    }
                    smt::Verdict::Nothing => return Attempt::Unsat(component),
                    smt::Verdict::Unknown => unknown = unknown.max(Some(UnknownReason::Budget)),
                    smt::Verdict::Unavailable => {
                        unknown = unknown.max(Some(UnknownReason::Unavailable));
                    }
                },
            }
        }
        unknown.map_or(Attempt::Sat(assignment), Attempt::Unknown)
    }

    /// Returns a minimal set of labels whose constraints are unsatisfiable.
    fn minimal_core(
        &mut self,
        problem: &Problem<'_>,
        domains: &Domains,
        constraints: &[usize],
    ) -> Vec<usize> {
        let line = |constraint: &usize| problem.constraints.get(*constraint).and_then(|g| g.label);
        let mut lines: Vec<usize> = constraints.iter().filter_map(line).collect();
        lines.sort_unstable();
        lines.dedup();
        minimal_subset(&lines, &mut |subset| {
            // A core that is not minimal is one as well.
            if problem.work.is_exhausted() {
                return false;
            }
            let subset: FxHashSet<usize> = subset.iter().copied().collect();
            let kept: Vec<usize> = constraints
                .iter()
                .copied()
                .filter(|constraint| line(constraint).is_none_or(|line| subset.contains(&line)))
                .collect();
            problem.work.spend(constraints.len() as u64);
            matches!(self.attempt(problem, domains, &kept), Attempt::Unsat(_))
        })
    }

    /// Drops labels from a core that are redundant once the query is reduced to the core. A smaller
    /// query has fewer equivalence classes, so more of it is decidable.
    fn drop_redundant(
        &mut self,
        problem: &Problem<'_>,
        query: &Query<'_>,
        mut core: Vec<usize>,
    ) -> Vec<usize> {
        let mut at = 0;
        while at < core.len() && !problem.work.is_exhausted() {
            let mut fewer = core.clone();
            fewer.remove(at);
            let (facts, assumptions) = restricted_to(problem, query, &fewer);
            let asks = !matches!(query.goal, Goal::Satisfiable) || !assumptions.is_empty();
            let fewer_query = Query { facts: &facts, assumptions, ..query.clone() };
            let smaller = Problem::new(&fewer_query, problem.work.left());
            let constraints: Vec<usize> = (0..smaller.constraints.len()).collect();
            let unsat = asks
                && matches!(
                    self.attempt(&smaller, &Domains::new(&smaller), &constraints),
                    Attempt::Unsat(_)
                );
            problem.work.spend(smaller.work.spent());
            if unsat {
                core = fewer;
                // Labels that were necessary together with this one may be redundant without it.
                at = 0;
            } else {
                at += 1;
            }
        }
        core
    }
}

/// Restricts a query to the facts and assumptions in `lines`, and the facts without a label.
fn restricted_to<'a>(
    problem: &Problem<'_>,
    query: &Query<'a>,
    lines: &[usize],
) -> (Facts, Vec<Assertion<'a>>) {
    let (assumptions, facts): (Vec<usize>, Vec<usize>) =
        lines.iter().partition(|line| **line < query.assumptions.len());
    let assumptions =
        assumptions.iter().filter_map(|line| query.assumptions.get(*line)).cloned().collect();
    let labels: FxHashSet<Label> =
        facts.iter().filter_map(|line| problem.labels.get(*line)).copied().collect();
    let mut kept = Facts::new();
    for variable in &problem.variables {
        for fact in query.facts.get(&variable.path) {
            if fact.label.is_none_or(|label| labels.contains(&label)) {
                kept.add(variable.path.clone(), fact.kind.clone(), fact.label);
            }
        }
    }
    (kept, assumptions)
}

/// Returns why a state that Z3 found was not confirmed.
fn unconfirmed_reason(problem: &Problem<'_>, constraints: &[usize]) -> UnknownReason {
    let opaque = constraints
        .iter()
        .filter_map(|g| problem.constraints.get(*g))
        .flat_map(|g| g.atoms.iter())
        .filter_map(|a| problem.atoms.get(*a))
        .any(|a| matches!(a.kind, AtomKind::Opaque));
    if opaque { UnknownReason::Opaque } else { UnknownReason::Unconfirmed }
}

/// Whether a test reads a path that is longer than values are deep. No state can satisfy it, and
/// all prefixes would be searched in vain.
fn has_long_path(test: &Test<'_>) -> bool {
    let (Test::Expr(expr) | Test::In(_, expr)) = test else { return false };
    let mut long = false;
    expr.visit(&mut |e| {
        if let ExprKind::Path(path) = &e.kind {
            long |= path.segments.len() > usize::from(MAX_VALUE_DEPTH);
        }
        Visit::Children
    });
    long
}

enum Attempt {
    Sat(Assignment),
    /// The unsatisfiable constraints of one component.
    Unsat(Vec<usize>),
    Unknown(UnknownReason),
}

impl Cache {
    fn get(&self, key: &str) -> Option<CachedAnswer> {
        self.answers.lock().unwrap_or_else(PoisonError::into_inner).get(key).cloned()
    }

    fn put(&self, key: String, cached: CachedAnswer) {
        self.answers.lock().unwrap_or_else(PoisonError::into_inner).insert(key, cached);
    }
}

/// Returns the query with sorted and deduplicated assumptions, and their keys.
fn canonical<'a>(query: &Query<'a>) -> (Query<'a>, Vec<String>) {
    let mut assumptions: Vec<(String, &Assertion<'a>)> =
        query.assumptions.iter().map(|assertion| (assertion_key(assertion), assertion)).collect();
    assumptions.sort_by(|(a, _), (b, _)| a.cmp(b));
    assumptions.dedup_by(|(a, _), (b, _)| a == b);
    let (keys, assumptions) =
        assumptions.into_iter().map(|(key, assertion)| (key, assertion.clone())).unzip();
    let query =
        Query { dialect: query.dialect, facts: query.facts, assumptions, goal: query.goal.clone() };
    (query, keys)
}

fn assertion_key(assertion: &Assertion<'_>) -> String {
    let holds = if assertion.holds { '+' } else { '-' };
    match assertion.test {
        Test::Expr(expr) => format!("{holds}{}", key(expr)),
        Test::In(dialect, expr) => format!("{holds}{} in {}", key(expr), dialect.id()),
        Test::Words(words) => format!("{holds}words {words}"),
    }
}

/// Returns the cache key of a query: everything that the answer depends on.
fn cache_key(problem: &Problem<'_>, query: &Query<'_>, assumptions: &[String]) -> String {
    let mut all = format!("{}\n{}\n", query.dialect.id(), assumptions.join("\n"));
    let _ = match &query.goal {
        Goal::Satisfiable => writeln!(all, "?"),
        Goal::Implied(assertion) => writeln!(all, "=>{}", assertion_key(assertion)),
        Goal::Equivalent(a, b) => {
            writeln!(all, "=={}\n{}", assertion_key(a), assertion_key(b))
        }
    };
    for variable in &problem.variables {
        for fact in query.facts.get(&variable.path) {
            let labelled = fact.label.is_some();
            let _ = writeln!(all, "{} {:?} {labelled}", variable.name, fact.kind);
        }
    }
    all
}
