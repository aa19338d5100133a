//! The solver: one question in, one answer out.

use crate::answer::{Answer, Example, Verdict, Why};
use crate::example;
use crate::guess::{finds_both, finds_state};
use crate::minimal::smallest;
use crate::problem::{AtomKind, Problem, key};
use crate::query::{Facts, Label, Literal, Query, Question, Test};
use crate::search::{self, Assignment, Domains, Found};
use crate::smt::{self, Smt};
use crate::statistics::Statistics;
use agentir_eval::MAX_VALUE_DEPTH;
use agentir_expr::{Dialect, Expr, ExprKind, Visit};
use rustc_hash::FxHashMap;
use std::fmt::Write;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// Answers so far, shared by the solvers of a run.
#[derive(Clone, Debug, Default)]
pub struct Cache {
    answers: Arc<Mutex<FxHashMap<String, Kept>>>,
}

/// An answer, with lines by their index in the question.
#[derive(Clone, Debug)]
enum Kept {
    State(Example),
    NoState(Vec<usize>),
    Unknown(Why),
}

/// Answers questions. One for each thread; they share a [`Cache`].
pub struct Solver {
    cache: Cache,
    smt: Smt,
    statistics: Statistics,
}

impl Default for Solver {
    fn default() -> Self {
        Self::new(Cache::default())
    }
}

impl Solver {
    /// A solver that looks answers up in `cache`, and puts them there.
    #[must_use]
    pub fn new(cache: Cache) -> Self {
        Self { cache, smt: Smt::default(), statistics: Statistics::default() }
    }

    /// What was asked so far, and what it took.
    #[must_use]
    pub const fn statistics(&self) -> &Statistics {
        &self.statistics
    }

    /// Answers a question without saying which state there is, if there is one. Costs a small part of
    /// what [`Self::answer`] does where some simple state does.
    pub fn verdict(&mut self, query: &Query<'_>) -> Verdict {
        let start = Instant::now();
        if finds_state(query) {
            self.statistics.asked += 1;
            self.statistics.at_once += 1;
            self.statistics.time += start.elapsed();
            return Verdict::State;
        }
        self.answer(query).into()
    }

    /// Whether a condition certainly holds in some states and does not in others, with what is known of
    /// its variables. Two questions in one, and cheap; false says nothing.
    pub fn is_open(&mut self, condition: &Expr, facts: &Facts, dialect: Dialect) -> bool {
        let start = Instant::now();
        let open = finds_both(condition, facts, dialect);
        if open {
            self.statistics.asked += 2;
            self.statistics.at_once += 2;
            self.statistics.time += start.elapsed();
        }
        open
    }

    /// Answers a question. The order of what is given plays no role, nor what was asked before.
    pub fn answer(&mut self, query: &Query<'_>) -> Answer {
        let start = Instant::now();
        self.statistics.asked += 1;
        if query.literals().any(|literal| has_long_path(&literal.test)) {
            self.statistics.out_of_budget += 1;
            return Answer::Unknown(Why::Budget);
        }
        let (query, keys) = canonical(query);
        let problem = Problem::new(&query);
        let key = question_key(&problem, &query, &keys);
        let found = self.cache.get(&key);
        let kept = match found {
            Some(kept) => {
                self.statistics.cached += 1;
                kept
            }
            None => {
                let z3 = self.smt.asked();
                let kept = self.decide(&problem, &query);
                if self.smt.asked() == z3 {
                    self.statistics.cheap += 1;
                } else {
                    self.statistics.needed_z3 += 1;
                }
                if let Kept::Unknown(why) = &kept {
                    *match why {
                        Why::Opaque => &mut self.statistics.opaque,
                        Why::Budget => &mut self.statistics.out_of_budget,
                        Why::Unconfirmed => &mut self.statistics.unconfirmed,
                    } += 1;
                }
                self.cache.put(key, kept.clone());
                kept
            }
        };
        self.statistics.z3_time = self.smt.time();
        self.statistics.time += start.elapsed();
        match kept {
            Kept::State(example) => Answer::State(example),
            Kept::Unknown(why) => Answer::Unknown(why),
            Kept::NoState(lines) => {
                let mut labels: Vec<_> =
                    lines.iter().filter_map(|i| problem.labels.get(*i)).copied().collect();
                labels.sort_unstable();
                labels.dedup();
                Answer::NoState(labels)
            }
        }
    }

    fn decide(&mut self, problem: &Problem<'_>, query: &Query<'_>) -> Kept {
        let domains = Domains::new(problem);
        let goals: Vec<usize> = (0..problem.goals.len()).collect();
        match self.state(problem, &domains, &goals) {
            Step::State(assignment) => {
                match example::confirmed(problem, &domains, query, &assignment) {
                    Some(example) => Kept::State(example),
                    None => Kept::Unknown(Why::Unconfirmed),
                }
            }
            Step::Unknown(why) => Kept::Unknown(why),
            Step::Nothing(goals) => {
                let core = self.core(problem, &domains, &goals);
                Kept::NoState(self.only_needed(problem, query, core))
            }
        }
    }

    /// Looks for a state that meets `goals`.
    fn state(&mut self, problem: &Problem<'_>, domains: &Domains, goals: &[usize]) -> Step {
        let mut assignment = Assignment::default();
        let mut unknown = None;
        for component in search::components(problem, goals) {
            match search::decide(problem, domains, &component) {
                Found::State(part) => assignment.extend(part),
                Found::Nothing => return Step::Nothing(component),
                Found::Opaque => unknown = unknown.max(Some(Why::Opaque)),
                Found::Open => match self.smt.check(problem, &component) {
                    smt::Verdict::State(part) => {
                        if example::meets(problem, &component, &part) {
                            assignment.extend(part);
                        } else {
                            unknown = unknown.max(Some(not_met(problem, &component)));
                        }
                    }
                    smt::Verdict::Nothing => return Step::Nothing(component),
                    smt::Verdict::Unknown => unknown = unknown.max(Some(Why::Budget)),
                },
            }
        }
        unknown.map_or(Step::State(assignment), Step::Unknown)
    }

    /// A smallest set of lines because of which `goals` cannot be met.
    fn core(&mut self, problem: &Problem<'_>, domains: &Domains, goals: &[usize]) -> Vec<usize> {
        let line = |goal: &usize| problem.goals.get(*goal).and_then(|g| g.label);
        let mut lines: Vec<usize> = goals.iter().filter_map(line).collect();
        lines.sort_unstable();
        lines.dedup();
        smallest(&lines, &mut |kept| {
            let kept: Vec<usize> = goals
                .iter()
                .copied()
                .filter(|goal| line(goal).is_none_or(|line| kept.contains(&line)))
                .collect();
            matches!(self.state(problem, domains, &kept), Step::Nothing(_))
        })
    }

    /// A core without the lines that are not needed if the question is asked without all others: a
    /// smaller question parts values into fewer cells, so more of it can be decided.
    fn only_needed(
        &mut self,
        problem: &Problem<'_>,
        query: &Query<'_>,
        mut core: Vec<usize>,
    ) -> Vec<usize> {
        let mut at = 0;
        while at < core.len() {
            let mut fewer = core.clone();
            fewer.remove(at);
            let (facts, given) = of_lines(problem, query, &fewer);
            let asks = !matches!(query.question, Question::Satisfiable) || !given.is_empty();
            let fewer_query = Query { facts: &facts, given, ..query.clone() };
            let asked = Problem::new(&fewer_query);
            let goals: Vec<usize> = (0..asked.goals.len()).collect();
            if asks && matches!(self.state(&asked, &Domains::new(&asked), &goals), Step::Nothing(_))
            {
                core = fewer;
                // What was needed beside this line may not be needed without it.
                at = 0;
            } else {
                at += 1;
            }
        }
        core
    }
}

/// The facts and conditions that stand in `lines`, and the facts that no line says.
fn of_lines<'a>(
    problem: &Problem<'_>,
    query: &Query<'a>,
    lines: &[usize],
) -> (Facts, Vec<Literal<'a>>) {
    let (given, facts): (Vec<usize>, Vec<usize>) =
        lines.iter().partition(|line| **line < query.given.len());
    let given = given.iter().filter_map(|line| query.given.get(*line)).cloned().collect();
    let labels: Vec<Label> =
        facts.iter().filter_map(|line| problem.labels.get(*line)).copied().collect();
    let mut kept = Facts::new();
    for variable in &problem.variables {
        for fact in query.facts.of(&variable.path) {
            if fact.label.is_none_or(|label| labels.contains(&label)) {
                kept.add(variable.path.clone(), fact.kind.clone(), fact.label);
            }
        }
    }
    (kept, given)
}

/// Why a state that Z3 found was not confirmed.
fn not_met(problem: &Problem<'_>, goals: &[usize]) -> Why {
    let opaque = goals
        .iter()
        .filter_map(|g| problem.goals.get(*g))
        .flat_map(|g| g.atoms.iter())
        .filter_map(|a| problem.atoms.get(*a))
        .any(|a| matches!(a.kind, AtomKind::Opaque));
    if opaque { Why::Opaque } else { Why::Unconfirmed }
}

/// Whether a test reads a part deeper than any value has: no state could give it one, and all that it
/// is a part of would be looked at in vain.
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

enum Step {
    State(Assignment),
    /// Goals of one component that cannot all be met.
    Nothing(Vec<usize>),
    Unknown(Why),
}

impl Cache {
    fn get(&self, key: &str) -> Option<Kept> {
        self.answers.lock().unwrap_or_else(PoisonError::into_inner).get(key).cloned()
    }

    fn put(&self, key: String, kept: Kept) {
        self.answers.lock().unwrap_or_else(PoisonError::into_inner).insert(key, kept);
    }
}

/// The question with what is given in a canonical order and nothing twice, and the keys of what is
/// given.
fn canonical<'a>(query: &Query<'a>) -> (Query<'a>, Vec<String>) {
    let mut given: Vec<(String, &Literal<'a>)> =
        query.given.iter().map(|literal| (literal_key(literal), literal)).collect();
    given.sort_by(|(a, _), (b, _)| a.cmp(b));
    given.dedup_by(|(a, _), (b, _)| a == b);
    let (keys, given) = given.into_iter().map(|(key, literal)| (key, literal.clone())).unzip();
    let query = Query {
        dialect: query.dialect,
        facts: query.facts,
        given,
        question: query.question.clone(),
    };
    (query, keys)
}

fn literal_key(literal: &Literal<'_>) -> String {
    let holds = if literal.holds { '+' } else { '-' };
    match literal.test {
        Test::Expr(expr) => format!("{holds}{}", key(expr)),
        Test::In(dialect, expr) => format!("{holds}{} in {}", key(expr), dialect.name()),
        Test::Words(words) => format!("{holds}words {words}"),
    }
}

/// By what a question is found again: everything that the answer depends on.
fn question_key(problem: &Problem<'_>, query: &Query<'_>, given: &[String]) -> String {
    let mut all = format!("{}\n{}\n", query.dialect.name(), given.join("\n"));
    let _ = match &query.question {
        Question::Satisfiable => writeln!(all, "?"),
        Question::Implied(literal) => writeln!(all, "=>{}", literal_key(literal)),
        Question::Equivalent(a, b) => {
            writeln!(all, "=={}\n{}", literal_key(a), literal_key(b))
        }
    };
    for variable in &problem.variables {
        for fact in query.facts.of(&variable.path) {
            let labelled = fact.label.is_some();
            let _ = writeln!(all, "{} {:?} {labelled}", variable.name, fact.kind);
        }
    }
    all
}
