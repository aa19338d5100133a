//! Example states: built from an assignment, confirmed by the evaluator, reduced to the relevant
//! variables.

use crate::answer::Example;
use crate::classes::FIELD;
use crate::problem::{AtomKind, Problem, Slot, fact_holds};
use crate::query::{Assertion, Goal, Query, Test};
use crate::search::{Assignment, Domains};
use crate::truth::TruthSet;
use agentir_eval::{Environment, Object, Outcome, State, Value, evaluate, outcome, truthy};
use agentir_expr::Path;
use agentir_expr::dialect::Unset;
use rustc_hash::FxHashSet;

/// Returns the example for an assignment, if the evaluator confirms that it answers the query.
pub(crate) fn confirm(
    problem: &Problem<'_>,
    domains: &Domains,
    query: &Query<'_>,
    assignment: &Assignment,
) -> Option<Example> {
    let state = state(problem, assignment)?;
    let all: Vec<usize> = (0..problem.constraints.len()).collect();
    if !constraints_hold(problem, &all, &state) || !answers_query(problem, query, &state) {
        return None;
    }
    let relevant: Vec<_> = relevant_variables(problem, domains, assignment)
        .into_iter()
        .filter_map(|at| problem.variables.get(at))
        .collect();
    // An object that is shown includes its members.
    let wholes: FxHashSet<&Path> = relevant.iter().map(|variable| &variable.path).collect();
    let within = |part: &Path| wholes_of(part).any(|whole| wholes.contains(&whole));
    let mut shown: Vec<_> = relevant
        .iter()
        .filter(|variable| !within(&variable.path))
        .map(|variable| {
            let value = state.path(&variable.path, problem.semantics).unwrap_or_default();
            (variable.name.clone(), value)
        })
        .collect();
    shown.sort_by(|(a, _), (b, _)| a.cmp(b));
    Some(Example { state, shown })
}

/// Returns the paths of the objects that a path is below.
fn wholes_of(part: &Path) -> impl Iterator<Item = Path> {
    (0..part.segments.len()).map(|end| {
        let segments = part.segments.get(..end).unwrap_or_default().to_vec();
        Path { segments, ..part.clone() }
    })
}

/// Whether an assignment satisfies `constraints`.
pub(crate) fn satisfies(
    problem: &Problem<'_>,
    constraints: &[usize],
    assignment: &Assignment,
) -> bool {
    state(problem, assignment).is_some_and(|state| constraints_hold(problem, constraints, &state))
}

/// Whether the conditions of the query, evaluated as a whole, have the required outcomes. Queries
/// with opaque atoms are left to the constraints.
fn answers_query(problem: &Problem<'_>, query: &Query<'_>, state: &State) -> bool {
    let opaque = problem.atoms.iter().any(|a| matches!(a.kind, AtomKind::Opaque));
    if opaque {
        return true;
    }
    let holds = |assertion: &Assertion<'_>| match assertion.test {
        Test::Expr(expr) | Test::In(_, expr) => {
            let wanted = if assertion.holds { Outcome::True } else { Outcome::False };
            outcome(expr, state, assertion.test.dialect(query.dialect)) == wanted
        }
        Test::Words(_) => false,
    };
    query.assumptions.iter().all(holds)
        && match &query.goal {
            Goal::Satisfiable => true,
            Goal::Implied(assertion) => !holds(assertion),
            Goal::Equivalent(a, b) => holds(a) != holds(b),
        }
}

fn constraints_hold(problem: &Problem<'_>, constraints: &[usize], state: &State) -> bool {
    let atom = |at: usize| {
        let Some(atom) = problem.atoms.get(at) else { return TruthSet::ANY };
        match &atom.kind {
            AtomKind::Opaque => TruthSet::EITHER,
            // Members always agree with their object, because the state has only one value for
            // both.
            AtomKind::Part => TruthSet::TRUE,
            AtomKind::Expr(expr) => match evaluate(expr, state, atom.dialect) {
                Ok(value) => TruthSet::from_bool(truthy(&value, atom.dialect.semantics())),
                Err(_) => TruthSet::ERROR,
            },
            AtomKind::Fact(kind) => {
                let variable = atom.variables.first().and_then(|v| problem.variables.get(*v));
                let value = variable
                    .and_then(|v| state.path(&v.path, problem.semantics).ok())
                    .unwrap_or_default();
                TruthSet::from_bool(fact_holds(kind, &value, problem.semantics))
            }
        }
    };
    constraints
        .iter()
        .filter_map(|g| problem.constraints.get(*g))
        .all(|constraint| constraint.truth_set(&atom) == TruthSet::TRUE)
}

/// Builds the state of an assignment. Objects are set before their members.
fn state(problem: &Problem<'_>, assignment: &Assignment) -> Option<State> {
    let mut order: Vec<_> = assignment
        .iter()
        .filter_map(|(at, slot)| problem.variables.get(*at).map(|v| (&v.path, slot)))
        .collect();
    order.sort_by_cached_key(|(path, _)| (path.segments.len(), path.to_string()));
    let mut state = State::new();
    let set = |slot: &Slot| matches!(slot, Slot::Value(value) if !value.is_unset());
    let with_parts: FxHashSet<Path> = order
        .iter()
        .filter(|(part, slot)| !part.segments.is_empty() && set(slot))
        .flat_map(|(part, _)| wholes_of(part))
        .collect();
    for (path, slot) in &order {
        let Slot::Value(value) = slot else { continue };
        let value = match value {
            Value::Undefined => {
                // A member that can be read needs an object.
                let whole = problem.semantics.unset_member == Unset::Error;
                if path.segments.is_empty() || !whole {
                    continue;
                }
                Value::Null
            }
            Value::Object(object)
                if object.fields().len() == 1
                    && object.fields().contains_key(FIELD)
                    && with_parts.contains(*path) =>
            {
                Value::Object(Object::default())
            }
            value => value.clone(),
        };
        state.set_path(path, value).ok()?;
    }
    Some(state)
}

/// Returns the variables for which not every value that the facts allow would do.
fn relevant_variables(
    problem: &Problem<'_>,
    domains: &Domains,
    assignment: &Assignment,
) -> Vec<usize> {
    let mut free: FxHashSet<usize> = FxHashSet::default();
    let mut order: Vec<usize> = (0..problem.variables.len()).collect();
    // Prefer the variables that occur first.
    order.reverse();
    for variable in order {
        if problem.variables.get(variable).is_some_and(|v| !v.mentioned) {
            free.insert(variable);
            continue;
        }
        // What is not examined any more is shown.
        if problem.work.is_exhausted() {
            continue;
        }
        free.insert(variable);
        let atom = |at: usize| {
            let Some(atom) = problem.atoms.get(at) else { return TruthSet::ANY };
            match atom.variables.as_slice() {
                [one] if free.contains(one) => domains.possible_truths(problem, *one, at),
                all if all.iter().any(|v| free.contains(v)) => TruthSet::ANY,
                _ => problem.truth_of(atom, &|v| assignment.get(&v)),
            }
        };
        let uses = problem.uses(variable).map_or(&[][..], |uses| &uses.constraints);
        let mut asked = uses.iter().filter_map(|g| problem.constraints.get(*g)).filter(|g| !g.fact);
        let met = asked.all(|constraint| {
            problem.work.spend(constraint.atoms.len() as u64);
            constraint.truth_set(&atom) == TruthSet::TRUE
        });
        if !met {
            free.remove(&variable);
        }
    }
    (0..problem.variables.len()).filter(|v| !free.contains(v)).collect()
}
