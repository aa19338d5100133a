//! The solver's own decision procedure: a bounded search over equivalence classes.
//!
//! It searches twice. The first search uses exact classes only, so a solution is a model by
//! construction. The second one over-approximates: it includes approximate classes and atoms with
//! several possible outcomes. If it fails too, the constraints are unsatisfiable.

use crate::classes::{EquivClass, classes};
use crate::problem::{AtomKind, Problem, Slot};
use crate::truth::TruthSet;
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::Cell;

/// The maximum number of constraint checks per search.
const MAX_CHECKS: u32 = 40_000;

/// The maximum number of tests, in the square of a group's atoms. Larger groups are left to Z3.
const MAX_TESTS: usize = 50_000_000;

/// The maximum number of variables and undetermined atoms of a search, which is recursive in them.
const MAX_DECISIONS: usize = 400;

/// A value for each variable.
pub(crate) type Assignment = FxHashMap<usize, Slot>;

/// The result of a search.
#[derive(Debug)]
pub(crate) enum SearchResult {
    /// This assignment satisfies all constraints.
    Sat(Assignment),
    /// The constraints are unsatisfiable.
    Unsat,
    /// The result depends on opaque atoms.
    Opaque,
    /// The search could not decide.
    Unknown,
}

/// The domains of the variables of a problem.
pub(crate) struct Domains {
    domains: Vec<Domain>,
}

struct Domain {
    classes: Vec<EquivClass>,
    /// The position of an atom in the truth sets of a class.
    position: FxHashMap<usize, usize>,
}

impl Domains {
    pub(crate) fn new(problem: &Problem<'_>) -> Self {
        let mut alone: Vec<Vec<usize>> = vec![Vec::new(); problem.variables.len()];
        let mut groups = UnionFind::new(problem.variables.len());
        for (at, atom) in problem.atoms.iter().enumerate() {
            match (&atom.kind, atom.variables.as_slice()) {
                (_, [one]) => {
                    if let Some(alone) = alone.get_mut(*one) {
                        alone.push(at);
                    }
                }
                (AtomKind::Expr(_), multivariate) => groups.union_all(multivariate),
                _ => {}
            }
        }
        let mut members: FxHashMap<usize, (usize, Vec<usize>)> = FxHashMap::default();
        for variable in 0..problem.variables.len() {
            members.entry(groups.find(variable)).or_default().0 += 1;
        }
        for (at, atom) in problem.atoms.iter().enumerate() {
            if let (Some(first), false) =
                (atom.variables.first(), matches!(atom.kind, AtomKind::Part))
            {
                members.entry(groups.find(*first)).or_default().1.push(at);
            }
        }
        let domains = alone
            .iter()
            .enumerate()
            .map(|(variable, alone)| {
                let empty = (1, Vec::new());
                let (related, group) = members.get(&groups.find(variable)).unwrap_or(&empty);
                let classes = if group.len().saturating_mul(group.len()) > MAX_TESTS {
                    Vec::new()
                } else {
                    classes(problem, variable, alone, group, *related)
                };
                let position = alone.iter().enumerate().map(|(i, atom)| (*atom, i)).collect();
                Domain { classes, position }
            })
            .collect();
        Self { domains }
    }

    /// Returns the possible outcomes of an atom over one variable, for all values that the facts
    /// about the variable allow.
    pub(crate) fn possible_truths(
        &self,
        problem: &Problem<'_>,
        variable: usize,
        atom: usize,
    ) -> TruthSet {
        let Some(domain) = self.get(variable).filter(|d| !d.classes.is_empty()) else {
            return TruthSet::ANY;
        };
        let facts = problem.uses(variable).map_or(&[][..], |uses| &uses.facts);
        let facts: Vec<_> = facts.iter().filter_map(|g| problem.constraints.get(*g)).collect();
        problem.work.spend((domain.classes.len() * (facts.len() + 1)) as u64);
        let mut all = TruthSet::NONE;
        for class in &domain.classes {
            let truth = |atom: usize| {
                let position = domain.position.get(&atom);
                position.and_then(|p| class.truths.get(*p)).copied().unwrap_or(TruthSet::ANY)
            };
            if facts.iter().all(|f| f.truth_set(&truth).intersects(TruthSet::TRUE)) {
                all = all.or(truth(atom));
            }
        }
        all
    }

    fn get(&self, variable: usize) -> Option<&Domain> {
        self.domains.get(variable)
    }
}

/// A disjoint-set forest.
struct UnionFind {
    parent: Vec<usize>,
}

impl UnionFind {
    fn new(count: usize) -> Self {
        Self { parent: (0..count).collect() }
    }

    fn find(&mut self, of: usize) -> usize {
        let mut at = of;
        while let Some(parent) = self.parent.get(at).copied().filter(|p| *p != at) {
            let above = self.parent.get(parent).copied().unwrap_or(parent);
            if let Some(slot) = self.parent.get_mut(at) {
                *slot = above;
            }
            at = parent;
        }
        at
    }

    fn union_all(&mut self, all: &[usize]) {
        for pair in all.windows(2) {
            if let [a, b] = pair {
                let (a, b) = (self.find(*a), self.find(*b));
                if let Some(slot) = self.parent.get_mut(a) {
                    *slot = b;
                }
            }
        }
    }
}

/// Partitions the constraints into connected components, ordered by their first constraints.
pub(crate) fn components(problem: &Problem<'_>, constraints: &[usize]) -> Vec<Vec<usize>> {
    let atoms = problem.atoms.len();
    // The indices of variables follow those of the atoms.
    let mut groups = UnionFind::new(atoms + problem.variables.len());
    problem.work.spend((atoms + problem.variables.len()) as u64);
    let parts = |constraint: usize| -> Vec<usize> {
        let Some(constraint) = problem.constraints.get(constraint) else { return Vec::new() };
        problem.work.spend((constraint.atoms.len() + constraint.variables.len()) as u64);
        let variables = constraint.variables.iter().map(|v| atoms + v);
        constraint.atoms.iter().copied().chain(variables).collect()
    };
    for constraint in constraints {
        groups.union_all(&parts(*constraint));
    }
    let mut order: Vec<Vec<usize>> = Vec::new();
    let mut place: FxHashMap<usize, usize> = FxHashMap::default();
    for constraint in constraints {
        match parts(*constraint).first() {
            Some(first) => {
                let root = groups.find(*first);
                let at = *place.entry(root).or_insert_with(|| {
                    order.push(Vec::new());
                    order.len() - 1
                });
                if let Some(component) = order.get_mut(at) {
                    component.push(*constraint);
                }
            }
            // A constraint without atoms is constant.
            None => order.push(vec![*constraint]),
        }
    }
    order
}

/// Decides the satisfiability of one component.
pub(crate) fn decide(
    problem: &Problem<'_>,
    domains: &Domains,
    constraints: &[usize],
) -> SearchResult {
    let Some(search) = Search::new(problem, domains, constraints) else {
        return SearchResult::Unsat;
    };
    if search.decisions() > MAX_DECISIONS {
        return SearchResult::Unknown;
    }
    if let Some(assignment) = search.find_model() {
        return SearchResult::Sat(assignment);
    }
    let budget = search.budget_exceeded();
    if search.exact && !budget {
        return SearchResult::Unsat;
    }
    search.checks.set(0);
    let possible = search.may_be_satisfiable();
    match (possible, search.budget_exceeded()) {
        (_, true) => SearchResult::Unknown,
        (false, _) => SearchResult::Unsat,
        (true, _) if search.only_opaque && !budget => SearchResult::Opaque,
        (true, _) => SearchResult::Unknown,
    }
}

struct Search<'p, 'a> {
    problem: &'p Problem<'a>,
    domains: &'p Domains,
    /// Constraints over several variables or opaque atoms. All others are satisfied by the
    /// candidates.
    constraints: Vec<usize>,
    /// The candidate classes of each variable: the exact ones, and all.
    variables: Vec<(usize, Vec<usize>, Vec<usize>)>,
    /// Those among `constraints` that read a variable.
    by_variable: FxHashMap<usize, Vec<usize>>,
    /// Whether exact classes are complete.
    exact: bool,
    /// Whether opaque atoms are the only reason for undetermined outcomes.
    only_opaque: bool,
    checks: Cell<u32>,
}

/// The current partial assignment.
#[derive(Default)]
struct PartialAssignment {
    classes: FxHashMap<usize, usize>,
    atoms: FxHashMap<usize, TruthSet>,
}

impl<'p, 'a> Search<'p, 'a> {
    /// Returns `None` if a single variable has no candidate.
    fn new(problem: &'p Problem<'a>, domains: &'p Domains, constraints: &[usize]) -> Option<Self> {
        let mut single: FxHashMap<usize, Vec<usize>> = FxHashMap::default();
        let mut multivariate = Vec::new();
        let mut variables: Vec<usize> = Vec::new();
        let mut opaque = false;
        let mut related = false;
        for at in constraints {
            let Some(constraint) = problem.constraints.get(*at) else { continue };
            variables.extend(&constraint.variables);
            let kinds = constraint.atoms.iter().filter_map(|a| problem.atoms.get(*a));
            let mut plain = true;
            for atom in kinds {
                opaque |= matches!(atom.kind, AtomKind::Opaque);
                related |= matches!(atom.kind, AtomKind::Expr(_)) && atom.variables.len() > 1;
                plain &= atom.variables.len() == 1;
            }
            match constraint.variables.as_slice() {
                [one] if plain => single.entry(*one).or_default().push(*at),
                _ => multivariate.push(*at),
            }
        }
        variables.sort_unstable();
        variables.dedup();
        let mut this = Self {
            problem,
            domains,
            constraints: multivariate,
            variables: Vec::new(),
            by_variable: FxHashMap::default(),
            exact: true,
            only_opaque: true,
            checks: Cell::new(0),
        };
        let matters: FxHashSet<usize> = this
            .constraints
            .iter()
            .filter_map(|g| problem.constraints.get(*g))
            .flat_map(|g| g.atoms.iter().copied())
            .collect();
        let mut parted = false;
        for at in &this.constraints {
            let Some(constraint) = problem.constraints.get(*at) else { continue };
            for variable in &constraint.variables {
                this.by_variable.entry(*variable).or_default().push(*at);
            }
            let mut atoms = constraint.atoms.iter().filter_map(|a| problem.atoms.get(*a));
            parted |= atoms.any(|a| a.variables.len() > 1);
        }
        let mut approximate = false;
        for variable in variables {
            let domain = domains.get(variable)?;
            if domain.classes.is_empty() {
                // Too many tests: the variable is unconstrained here.
                approximate = true;
                this.variables.push((variable, Vec::new(), Vec::new()));
                continue;
            }
            let single = single.get(&variable).map_or(&[][..], Vec::as_slice);
            let (values, all) = this.candidates(domain, single, &matters, parted);
            if all.is_empty() {
                return None;
            }
            approximate |=
                all.iter().any(|c| domain.classes.get(*c).is_some_and(|c| c.approximate));
            this.variables.push((variable, values, all));
        }
        this.exact = !(opaque || related || approximate);
        this.only_opaque = !(related || approximate);
        this.variables.sort_by_key(|(variable, _, all)| (all.len(), *variable));
        Some(this)
    }

    /// Returns the classes that certainly satisfy the constraints over this variable alone, and
    /// those that possibly do. Of classes that the other constraints do not distinguish, only the
    /// first is returned, unless some compare variables: those are `parted`.
    fn candidates(
        &self,
        domain: &Domain,
        single: &[usize],
        matters: &FxHashSet<usize>,
        parted: bool,
    ) -> (Vec<usize>, Vec<usize>) {
        let constraints: Vec<_> =
            single.iter().filter_map(|g| self.problem.constraints.get(*g)).collect();
        let positions: Vec<usize> = domain
            .position
            .iter()
            .filter(|(atom, _)| matters.contains(atom))
            .map(|(_, position)| *position)
            .collect();
        let (mut values, mut all) = (Vec::new(), Vec::new());
        let mut seen = FxHashSet::default();
        for (at, class) in domain.classes.iter().enumerate() {
            let truth = |atom: usize| {
                let position = domain.position.get(&atom);
                position.and_then(|p| class.truths.get(*p)).copied().unwrap_or(TruthSet::ANY)
            };
            let mut definite = true;
            self.problem.work.spend((constraints.len() + positions.len()) as u64);
            let met = constraints.iter().all(|constraint| {
                let found = constraint.truth_set(&truth);
                definite &= found == TruthSet::TRUE;
                found.intersects(TruthSet::TRUE)
            });
            if !met {
                continue;
            }
            let definite = definite && !class.approximate;
            let signature: Vec<TruthSet> =
                positions.iter().filter_map(|p| class.truths.get(*p)).copied().collect();
            if !parted && !seen.insert((definite, signature)) {
                continue;
            }
            if definite {
                values.push(at);
            }
            all.push(at);
        }
        (values, all)
    }

    /// Returns the maximum number of decisions of a search.
    fn decisions(&self) -> usize {
        if self.exact {
            return self.variables.len();
        }
        let constraints = self.constraints.iter().filter_map(|g| self.problem.constraints.get(*g));
        let atoms: FxHashSet<usize> = constraints.flat_map(|g| g.atoms.iter().copied()).collect();
        self.variables.len() + atoms.len()
    }

    fn budget_exceeded(&self) -> bool {
        self.checks.get() > MAX_CHECKS || self.problem.work.is_exhausted()
    }

    fn class(&self, variable: usize, at: usize) -> Option<&'p EquivClass> {
        self.domains.get(variable).and_then(|d| d.classes.get(at))
    }

    /// Searches for an assignment that certainly satisfies all constraints.
    fn find_model(&self) -> Option<Assignment> {
        let mut assigned = PartialAssignment::default();
        if self.variables.iter().any(|(_, values, _)| values.is_empty()) {
            return None;
        }
        self.assign(0, true, &mut assigned).then(|| {
            assigned
                .classes
                .iter()
                .filter_map(|(v, at)| self.class(*v, *at).map(|class| (*v, class.slot.clone())))
                .collect()
        })
    }

    /// Whether the constraints may be satisfiable.
    fn may_be_satisfiable(&self) -> bool {
        self.assign(0, false, &mut PartialAssignment::default())
    }

    /// Assigns classes to the variables from `at` on.
    fn assign(&self, at: usize, definite: bool, assigned: &mut PartialAssignment) -> bool {
        let Some((variable, values, all)) = self.variables.get(at) else {
            return if definite {
                self.all_hold(assigned, true)
            } else {
                self.assign_atoms(assigned)
            };
        };
        let candidates = if definite { values } else { all };
        if candidates.is_empty() {
            return self.assign(at + 1, definite, assigned);
        }
        for class in candidates {
            assigned.classes.insert(*variable, *class);
            let fits = self
                .constraints_of(*variable)
                .iter()
                .all(|constraint| self.may_hold(*constraint, assigned, definite));
            if fits && self.assign(at + 1, definite, assigned) {
                return true;
            }
            if self.budget_exceeded() {
                return false;
            }
        }
        assigned.classes.remove(variable);
        false
    }

    /// Assigns outcomes to atoms with several possible outcomes.
    fn assign_atoms(&self, assigned: &mut PartialAssignment) -> bool {
        let mut steps = 0;
        let open = self
            .constraints
            .iter()
            .filter_map(|g| self.problem.constraints.get(*g))
            .flat_map(|g| g.atoms.iter().copied())
            .find(|a| {
                steps += 1;
                !self.truth_set(*a, assigned, false).is_singleton()
            });
        self.problem.work.spend(steps);
        let Some(atom) = open else { return self.all_hold(assigned, false) };
        for truth in self.truth_set(atom, assigned, false).iter() {
            assigned.atoms.insert(atom, truth);
            let fits = self
                .constraints
                .iter()
                .all(|constraint| self.may_hold(*constraint, assigned, false));
            if fits && self.assign_atoms(assigned) {
                return true;
            }
            if self.budget_exceeded() {
                return false;
            }
        }
        assigned.atoms.remove(&atom);
        false
    }

    fn constraints_of(&self, variable: usize) -> &[usize] {
        self.by_variable.get(&variable).map_or(&[], Vec::as_slice)
    }

    fn all_hold(&self, assigned: &PartialAssignment, definite: bool) -> bool {
        self.constraints.iter().filter_map(|g| self.problem.constraints.get(*g)).all(|constraint| {
            self.problem.work.spend(constraint.atoms.len() as u64);
            constraint.truth_set(&|a| self.truth_set(a, assigned, definite)) == TruthSet::TRUE
        })
    }

    fn may_hold(&self, constraint: usize, assigned: &PartialAssignment, definite: bool) -> bool {
        self.checks.set(self.checks.get().saturating_add(1));
        self.problem.constraints.get(constraint).is_none_or(|constraint| {
            self.problem.work.spend(constraint.atoms.len() as u64);
            constraint
                .truth_set(&|a| self.truth_set(a, assigned, definite))
                .intersects(TruthSet::TRUE)
        })
    }

    /// Returns the possible outcomes of an atom under a partial assignment. A `definite` search
    /// computes comparisons between variables.
    fn truth_set(&self, atom: usize, assigned: &PartialAssignment, definite: bool) -> TruthSet {
        if let Some(truth) = assigned.atoms.get(&atom) {
            return *truth;
        }
        let Some(found) = self.problem.atoms.get(atom) else { return TruthSet::ANY };
        let open = if found.may_fail { TruthSet::ANY } else { TruthSet::EITHER };
        let slot = |variable: usize| {
            let at = assigned.classes.get(&variable)?;
            self.class(variable, *at).map(|class| &class.slot)
        };
        match (&found.kind, found.variables.as_slice()) {
            (AtomKind::Opaque, _) => TruthSet::EITHER,
            (_, [one]) => {
                let domain = self.domains.get(*one);
                let position = domain.and_then(|d| d.position.get(&atom));
                let class = assigned.classes.get(one).and_then(|at| self.class(*one, *at));
                match (position, class) {
                    (Some(position), Some(class)) => {
                        class.truths.get(*position).copied().unwrap_or(open)
                    }
                    _ => open,
                }
            }
            (AtomKind::Part, all) => {
                if all.iter().all(|v| assigned.classes.contains_key(v)) {
                    self.problem.truth_of(found, &slot)
                } else {
                    TruthSet::EITHER
                }
            }
            (_, all) if definite && all.iter().all(|v| assigned.classes.contains_key(v)) => {
                self.problem.truth_of(found, &slot)
            }
            _ => open,
        }
    }
}
