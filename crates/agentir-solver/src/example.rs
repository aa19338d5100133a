//! Example states: built from what the search found, confirmed by the evaluator, cut down to what
//! matters.

use crate::answer::Example;
use crate::cells::FIELD;
use crate::outcome::Outcomes;
use crate::problem::{AtomKind, Problem, Slot, fact_holds};
use crate::query::{Literal, Query, Question, Test};
use crate::search::{Assignment, Domains};
use agentir_eval::{
    Environment, Object, Outcome, State, Unset, Value, evaluate, outcome, semantics, truthy,
};
use agentir_expr::Path;
use rustc_hash::FxHashSet;

/// The example that an assignment is, if the evaluator agrees that it answers the question.
pub(crate) fn confirmed(
    problem: &Problem<'_>,
    domains: &Domains,
    query: &Query<'_>,
    assignment: &Assignment,
) -> Option<Example> {
    let state = state(problem, assignment)?;
    let all: Vec<usize> = (0..problem.goals.len()).collect();
    if !goals_met(problem, &all, &state) || !answers(problem, query, &state) {
        return None;
    }
    let matter: Vec<_> = what_matters(problem, domains, assignment)
        .into_iter()
        .filter_map(|at| problem.variables.get(at))
        .collect();
    // A whole that is shown shows its parts.
    let within = |part: &Path| {
        matter.iter().map(|whole| &whole.path).any(|whole| {
            whole.segments.len() < part.segments.len()
                && whole.root == part.root
                && whole.namespace == part.namespace
                && part.segments.starts_with(&whole.segments)
        })
    };
    let mut shown: Vec<_> = matter
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

/// Whether an assignment of the variables of `goals` meets them.
pub(crate) fn meets(problem: &Problem<'_>, goals: &[usize], assignment: &Assignment) -> bool {
    state(problem, assignment).is_some_and(|state| goals_met(problem, goals, &state))
}

/// Whether the conditions of the question, each as a whole, come out as they should. Those that
/// depend on what is not known are left to the goals.
fn answers(problem: &Problem<'_>, query: &Query<'_>, state: &State) -> bool {
    let opaque = problem.atoms.iter().any(|a| matches!(a.kind, AtomKind::Opaque));
    if opaque {
        return true;
    }
    let holds = |literal: &Literal<'_>| match literal.test {
        Test::Expr(expr) | Test::In(_, expr) => {
            let wanted = if literal.holds { Outcome::True } else { Outcome::False };
            outcome(expr, state, literal.test.dialect(query.dialect)) == wanted
        }
        Test::Words(_) => false,
    };
    query.given.iter().all(holds)
        && match &query.question {
            Question::Satisfiable => true,
            Question::Implied(literal) => !holds(literal),
            Question::Equivalent(a, b) => holds(a) != holds(b),
        }
}

fn goals_met(problem: &Problem<'_>, goals: &[usize], state: &State) -> bool {
    let atom = |at: usize| {
        let Some(atom) = problem.atoms.get(at) else { return Outcomes::ANY };
        match &atom.kind {
            AtomKind::Opaque => Outcomes::EITHER,
            // A state is a whole, its parts always fit.
            AtomKind::Part => Outcomes::TRUE,
            AtomKind::Expr(expr) => match evaluate(expr, state, atom.dialect) {
                Ok(value) => Outcomes::of(truthy(&value, semantics(atom.dialect))),
                Err(_) => Outcomes::ERROR,
            },
            AtomKind::Fact(kind) => {
                let variable = atom.variables.first().and_then(|v| problem.variables.get(*v));
                let value = variable
                    .and_then(|v| state.path(&v.path, problem.semantics).ok())
                    .unwrap_or_default();
                Outcomes::of(fact_holds(kind, &value, problem.semantics))
            }
        }
    };
    goals
        .iter()
        .filter_map(|g| problem.goals.get(*g))
        .all(|goal| goal.outcomes(&atom) == Outcomes::TRUE)
}

/// The state in which the variables have these values. Wholes come before their parts.
fn state(problem: &Problem<'_>, assignment: &Assignment) -> Option<State> {
    let mut order: Vec<_> = assignment
        .iter()
        .filter_map(|(at, slot)| problem.variables.get(*at).map(|v| (&v.path, slot)))
        .collect();
    order.sort_by_cached_key(|(path, _)| (path.segments.len(), path.to_string()));
    let mut state = State::new();
    for (path, slot) in &order {
        let Slot::Value(value) = slot else { continue };
        let has_parts = || {
            order.iter().any(|(part, slot)| {
                part.segments.len() > path.segments.len()
                    && part.root == path.root
                    && part.namespace == path.namespace
                    && part.segments.starts_with(&path.segments)
                    && matches!(slot, Slot::Value(value) if !value.is_unset())
            })
        };
        let value = match value {
            Value::Undefined => {
                // A part that may be looked at needs a whole to be a part of.
                let whole = problem.semantics.unset_member == Unset::Error;
                if path.segments.is_empty() || !whole {
                    continue;
                }
                Value::Null
            }
            Value::Object(object)
                if object.fields().len() == 1
                    && object.fields().contains_key(FIELD)
                    && has_parts() =>
            {
                Value::Object(Object::default())
            }
            value => value.clone(),
        };
        state.set_path(path, value).ok()?;
    }
    Some(state)
}

/// The variables for which not any value would do that the facts allow.
fn what_matters(problem: &Problem<'_>, domains: &Domains, assignment: &Assignment) -> Vec<usize> {
    let mut free: FxHashSet<usize> = FxHashSet::default();
    let mut order: Vec<usize> = (0..problem.variables.len()).collect();
    // Where one of two would do, the one that was written first stays.
    order.reverse();
    for variable in order {
        if problem.variables.get(variable).is_some_and(|v| !v.mentioned) {
            free.insert(variable);
            continue;
        }
        free.insert(variable);
        let atom = |at: usize| {
            let Some(atom) = problem.atoms.get(at) else { return Outcomes::ANY };
            match atom.variables.as_slice() {
                [one] if free.contains(one) => domains.any_value(problem, *one, at),
                all if all.iter().any(|v| free.contains(v)) => Outcomes::ANY,
                _ => problem.outcome(atom, &|v| assignment.get(&v)),
            }
        };
        let asked = problem.goals.iter().filter(|g| !g.fact && g.variables.contains(&variable));
        let met = asked.map(|goal| goal.outcomes(&atom)).all(|o| o == Outcomes::TRUE);
        if !met {
            free.remove(&variable);
        }
    }
    (0..problem.variables.len()).filter(|v| !free.contains(v)).collect()
}
