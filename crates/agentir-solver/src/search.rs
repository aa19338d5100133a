//! The solver's own decision procedure: cells of values, and a bounded search over them.
//!
//! It looks at the same question twice. With values alone, a state is found that the evaluator agrees
//! with by construction. With loose cells and with tests that may come out either way, everything
//! that could be is allowed; if even then nothing fits, there is no state.

use crate::cells::{Cell, cells};
use crate::outcome::Outcomes;
use crate::problem::{AtomKind, Problem, Slot};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::Cell as Counter;

/// How many times a goal is looked at in a search before it is given up.
const BUDGET: u32 = 40_000;

/// How many values a variable may be parted into before it is left to Z3.
const MOST_TESTS: usize = 50_000_000;

/// How many variables and open atoms a search chooses among; it is recursive in them.
const MOST_CHOICES: usize = 400;

/// What a set of variables stands for.
pub(crate) type Assignment = FxHashMap<usize, Slot>;

/// What the search found.
#[derive(Debug)]
pub(crate) enum Found {
    /// These values meet all goals.
    State(Assignment),
    /// Nothing does.
    Nothing,
    /// It depends on what is not known.
    Opaque,
    /// It could not be decided.
    Open,
}

/// The cells of the variables of a problem.
pub(crate) struct Domains {
    domains: Vec<Domain>,
}

struct Domain {
    cells: Vec<Cell>,
    /// Where an atom's outcome stands in a cell.
    position: FxHashMap<usize, usize>,
}

impl Domains {
    pub(crate) fn new(problem: &Problem<'_>) -> Self {
        let mut alone: Vec<Vec<usize>> = vec![Vec::new(); problem.variables.len()];
        let mut groups = Groups::new(problem.variables.len());
        for (at, atom) in problem.atoms.iter().enumerate() {
            match (&atom.kind, atom.variables.as_slice()) {
                (_, [one]) => {
                    if let Some(alone) = alone.get_mut(*one) {
                        alone.push(at);
                    }
                }
                (AtomKind::Expr(_), several) => groups.join_all(several),
                _ => {}
            }
        }
        let mut members: FxHashMap<usize, (usize, Vec<usize>)> = FxHashMap::default();
        for variable in 0..problem.variables.len() {
            members.entry(groups.root(variable)).or_default().0 += 1;
        }
        for (at, atom) in problem.atoms.iter().enumerate() {
            if let (Some(first), false) =
                (atom.variables.first(), matches!(atom.kind, AtomKind::Part))
            {
                members.entry(groups.root(*first)).or_default().1.push(at);
            }
        }
        let domains = alone
            .iter()
            .enumerate()
            .map(|(variable, alone)| {
                let empty = (1, Vec::new());
                let (related, group) = members.get(&groups.root(variable)).unwrap_or(&empty);
                let cells = if group.len().saturating_mul(group.len()) > MOST_TESTS {
                    Vec::new()
                } else {
                    cells(problem, variable, alone, group, *related)
                };
                let position = alone.iter().enumerate().map(|(i, atom)| (*atom, i)).collect();
                Domain { cells, position }
            })
            .collect();
        Self { domains }
    }

    /// What an atom that reads this variable alone may come out as for any value that facts about
    /// the variable allow.
    pub(crate) fn any_value(
        &self,
        problem: &Problem<'_>,
        variable: usize,
        atom: usize,
    ) -> Outcomes {
        let Some(domain) = self.of(variable).filter(|d| !d.cells.is_empty()) else {
            return Outcomes::ANY;
        };
        let facts: Vec<_> =
            problem.goals.iter().filter(|g| g.fact && g.variables == [variable]).collect();
        let mut all = Outcomes::NONE;
        for cell in &domain.cells {
            let outcome = |atom: usize| {
                let position = domain.position.get(&atom);
                position.and_then(|p| cell.outcomes.get(*p)).copied().unwrap_or(Outcomes::ANY)
            };
            if facts.iter().all(|f| f.outcomes(&outcome).meets(Outcomes::TRUE)) {
                all = all.or(outcome(atom));
            }
        }
        all
    }

    fn of(&self, variable: usize) -> Option<&Domain> {
        self.domains.get(variable)
    }
}

/// Sets that are joined.
struct Groups {
    parent: Vec<usize>,
}

impl Groups {
    fn new(count: usize) -> Self {
        Self { parent: (0..count).collect() }
    }

    fn root(&mut self, of: usize) -> usize {
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

    fn join_all(&mut self, all: &[usize]) {
        for pair in all.windows(2) {
            if let [a, b] = pair {
                let (a, b) = (self.root(*a), self.root(*b));
                if let Some(slot) = self.parent.get_mut(a) {
                    *slot = b;
                }
            }
        }
    }
}

/// Parts the goals into those that have something to do with each other, in the order of their first
/// goals.
pub(crate) fn components(problem: &Problem<'_>, goals: &[usize]) -> Vec<Vec<usize>> {
    let atoms = problem.atoms.len();
    // Variables stand behind the atoms.
    let mut groups = Groups::new(atoms + problem.variables.len());
    let parts = |goal: usize| -> Vec<usize> {
        let Some(goal) = problem.goals.get(goal) else { return Vec::new() };
        let variables = goal.variables.iter().map(|v| atoms + v);
        goal.atoms.iter().copied().chain(variables).collect()
    };
    for goal in goals {
        groups.join_all(&parts(*goal));
    }
    let mut order: Vec<Vec<usize>> = Vec::new();
    let mut place: FxHashMap<usize, usize> = FxHashMap::default();
    for goal in goals {
        match parts(*goal).first() {
            Some(first) => {
                let root = groups.root(*first);
                let at = *place.entry(root).or_insert_with(|| {
                    order.push(Vec::new());
                    order.len() - 1
                });
                if let Some(component) = order.get_mut(at) {
                    component.push(*goal);
                }
            }
            // A goal without atoms is constant.
            None => order.push(vec![*goal]),
        }
    }
    order
}

/// Decides whether all `goals`, one component, can be met.
pub(crate) fn decide(problem: &Problem<'_>, domains: &Domains, goals: &[usize]) -> Found {
    let Some(search) = Search::new(problem, domains, goals) else { return Found::Nothing };
    if search.choices() > MOST_CHOICES {
        return Found::Open;
    }
    if let Some(assignment) = search.state() {
        return Found::State(assignment);
    }
    let budget = search.exhausted();
    if search.exact && !budget {
        return Found::Nothing;
    }
    search.spent.set(0);
    let possible = search.possible();
    match (possible, search.exhausted()) {
        (_, true) => Found::Open,
        (false, _) => Found::Nothing,
        (true, _) if search.only_opaque && !budget => Found::Opaque,
        (true, _) => Found::Open,
    }
}

struct Search<'p, 'a> {
    problem: &'p Problem<'a>,
    domains: &'p Domains,
    /// Goals about several variables or about what is not known; all others are met already.
    goals: Vec<usize>,
    /// Which cells of each variable are left: those of values only, and all.
    variables: Vec<(usize, Vec<usize>, Vec<usize>)>,
    /// Whether values alone are all there is.
    exact: bool,
    /// Whether what is open is so because of opaque atoms only.
    only_opaque: bool,
    spent: Counter<u32>,
}

/// What has been chosen so far.
#[derive(Default)]
struct Chosen {
    cells: FxHashMap<usize, usize>,
    atoms: FxHashMap<usize, Outcomes>,
}

impl<'p, 'a> Search<'p, 'a> {
    /// None if a single variable already has no value left.
    fn new(problem: &'p Problem<'a>, domains: &'p Domains, goals: &[usize]) -> Option<Self> {
        let mut single: FxHashMap<usize, Vec<usize>> = FxHashMap::default();
        let mut several = Vec::new();
        let mut variables: Vec<usize> = Vec::new();
        let mut opaque = false;
        let mut related = false;
        for at in goals {
            let Some(goal) = problem.goals.get(*at) else { continue };
            variables.extend(&goal.variables);
            let kinds = goal.atoms.iter().filter_map(|a| problem.atoms.get(*a));
            let mut plain = true;
            for atom in kinds {
                opaque |= matches!(atom.kind, AtomKind::Opaque);
                related |= matches!(atom.kind, AtomKind::Expr(_)) && atom.variables.len() > 1;
                plain &= atom.variables.len() == 1;
            }
            match goal.variables.as_slice() {
                [one] if plain => single.entry(*one).or_default().push(*at),
                _ => several.push(*at),
            }
        }
        variables.sort_unstable();
        variables.dedup();
        let mut this = Self {
            problem,
            domains,
            goals: several,
            variables: Vec::new(),
            exact: true,
            only_opaque: true,
            spent: Counter::new(0),
        };
        let matters: FxHashSet<usize> = this
            .goals
            .iter()
            .filter_map(|g| problem.goals.get(*g))
            .flat_map(|g| g.atoms.iter().copied())
            .collect();
        let mut loose = false;
        for variable in variables {
            let domain = domains.of(variable)?;
            if domain.cells.is_empty() {
                // Too many tests: nothing is known of it here.
                loose = true;
                this.variables.push((variable, Vec::new(), Vec::new()));
                continue;
            }
            let single = single.get(&variable).map_or(&[][..], Vec::as_slice);
            let (values, all) = this.left(domain, single, &matters);
            if all.is_empty() {
                return None;
            }
            loose |= all.iter().any(|c| domain.cells.get(*c).is_some_and(|c| c.loose));
            this.variables.push((variable, values, all));
        }
        this.exact = !(opaque || related || loose);
        this.only_opaque = !(related || loose);
        this.variables.sort_by_key(|(variable, _, all)| (all.len(), *variable));
        Some(this)
    }

    /// The cells for which goals about this variable alone are met for sure, and those for which they
    /// may be; of several that further goals treat alike, the first.
    fn left(
        &self,
        domain: &Domain,
        single: &[usize],
        matters: &FxHashSet<usize>,
    ) -> (Vec<usize>, Vec<usize>) {
        let goals: Vec<_> = single.iter().filter_map(|g| self.problem.goals.get(*g)).collect();
        let positions: Vec<usize> = domain
            .position
            .iter()
            .filter(|(atom, _)| matters.contains(atom))
            .map(|(_, position)| *position)
            .collect();
        let parted = self.goals.iter().filter_map(|g| self.problem.goals.get(*g)).any(|g| {
            g.atoms.iter().filter_map(|a| self.problem.atoms.get(*a)).any(|a| a.variables.len() > 1)
        });
        let (mut values, mut all) = (Vec::new(), Vec::new());
        let mut seen = FxHashSet::default();
        for (at, cell) in domain.cells.iter().enumerate() {
            let outcome = |atom: usize| {
                let position = domain.position.get(&atom);
                position.and_then(|p| cell.outcomes.get(*p)).copied().unwrap_or(Outcomes::ANY)
            };
            let mut sure = true;
            let met = goals.iter().all(|goal| {
                let found = goal.outcomes(&outcome);
                sure &= found == Outcomes::TRUE;
                found.meets(Outcomes::TRUE)
            });
            if !met {
                continue;
            }
            let sure = sure && !cell.loose;
            let alike: Vec<Outcomes> =
                positions.iter().filter_map(|p| cell.outcomes.get(*p)).copied().collect();
            if !parted && !seen.insert((sure, alike)) {
                continue;
            }
            if sure {
                values.push(at);
            }
            all.push(at);
        }
        (values, all)
    }

    /// How many choices a search has to make at most.
    fn choices(&self) -> usize {
        if self.exact {
            return self.variables.len();
        }
        let goals = self.goals.iter().filter_map(|g| self.problem.goals.get(*g));
        let atoms: FxHashSet<usize> = goals.flat_map(|g| g.atoms.iter().copied()).collect();
        self.variables.len() + atoms.len()
    }

    fn exhausted(&self) -> bool {
        self.spent.get() > BUDGET
    }

    fn cell(&self, variable: usize, at: usize) -> Option<&'p Cell> {
        self.domains.of(variable).and_then(|d| d.cells.get(at))
    }

    /// Values that meet all goals for sure.
    fn state(&self) -> Option<Assignment> {
        let mut chosen = Chosen::default();
        if self.variables.iter().any(|(_, values, _)| values.is_empty()) {
            return None;
        }
        self.choose(0, true, &mut chosen).then(|| {
            chosen
                .cells
                .iter()
                .filter_map(|(v, at)| self.cell(*v, *at).map(|cell| (*v, cell.slot.clone())))
                .collect()
        })
    }

    /// Whether there may be a state at all.
    fn possible(&self) -> bool {
        self.choose(0, false, &mut Chosen::default())
    }

    /// Chooses cells for the variables from `at` on.
    fn choose(&self, at: usize, sure: bool, chosen: &mut Chosen) -> bool {
        let Some((variable, values, all)) = self.variables.get(at) else {
            return if sure { self.met(chosen, true) } else { self.choose_atoms(chosen) };
        };
        let left = if sure { values } else { all };
        if left.is_empty() {
            return self.choose(at + 1, sure, chosen);
        }
        for cell in left {
            chosen.cells.insert(*variable, *cell);
            let fits = self.goals_of(*variable).all(|goal| self.may_be_met(goal, chosen, sure));
            if fits && self.choose(at + 1, sure, chosen) {
                return true;
            }
            if self.exhausted() {
                return false;
            }
        }
        chosen.cells.remove(variable);
        false
    }

    /// Chooses outcomes for atoms that may still come out in several ways.
    fn choose_atoms(&self, chosen: &mut Chosen) -> bool {
        let open = self
            .goals
            .iter()
            .filter_map(|g| self.problem.goals.get(*g))
            .flat_map(|g| g.atoms.iter().copied())
            .find(|a| !self.outcomes(*a, chosen, false).is_one());
        let Some(atom) = open else { return self.met(chosen, false) };
        for outcome in self.outcomes(atom, chosen, false).each() {
            chosen.atoms.insert(atom, outcome);
            let fits = self.goals.iter().all(|goal| self.may_be_met(*goal, chosen, false));
            if fits && self.choose_atoms(chosen) {
                return true;
            }
            if self.exhausted() {
                return false;
            }
        }
        chosen.atoms.remove(&atom);
        false
    }

    fn goals_of(&self, variable: usize) -> impl Iterator<Item = usize> {
        self.goals.iter().copied().filter(move |g| {
            self.problem.goals.get(*g).is_some_and(|g| g.variables.contains(&variable))
        })
    }

    fn met(&self, chosen: &Chosen, sure: bool) -> bool {
        self.goals
            .iter()
            .filter_map(|g| self.problem.goals.get(*g))
            .all(|goal| goal.outcomes(&|a| self.outcomes(a, chosen, sure)) == Outcomes::TRUE)
    }

    fn may_be_met(&self, goal: usize, chosen: &Chosen, sure: bool) -> bool {
        self.spent.set(self.spent.get().saturating_add(1));
        self.problem.goals.get(goal).is_none_or(|goal| {
            goal.outcomes(&|a| self.outcomes(a, chosen, sure)).meets(Outcomes::TRUE)
        })
    }

    /// What an atom may come out as, given what has been chosen. With values only (`sure`), what
    /// compares several variables is computed.
    fn outcomes(&self, atom: usize, chosen: &Chosen, sure: bool) -> Outcomes {
        if let Some(outcome) = chosen.atoms.get(&atom) {
            return *outcome;
        }
        let Some(found) = self.problem.atoms.get(atom) else { return Outcomes::ANY };
        let open = if found.may_fail { Outcomes::ANY } else { Outcomes::EITHER };
        let slot = |variable: usize| {
            let at = chosen.cells.get(&variable)?;
            self.cell(variable, *at).map(|cell| &cell.slot)
        };
        match (&found.kind, found.variables.as_slice()) {
            (AtomKind::Opaque, _) => Outcomes::EITHER,
            (_, [one]) => {
                let domain = self.domains.of(*one);
                let position = domain.and_then(|d| d.position.get(&atom));
                let cell = chosen.cells.get(one).and_then(|at| self.cell(*one, *at));
                match (position, cell) {
                    (Some(position), Some(cell)) => {
                        cell.outcomes.get(*position).copied().unwrap_or(open)
                    }
                    _ => open,
                }
            }
            (AtomKind::Part, all) => {
                if all.iter().all(|v| chosen.cells.contains_key(v)) {
                    self.problem.outcome(found, &slot)
                } else {
                    Outcomes::EITHER
                }
            }
            (_, all) if sure && all.iter().all(|v| chosen.cells.contains_key(v)) => {
                self.problem.outcome(found, &slot)
            }
            _ => open,
        }
    }
}
