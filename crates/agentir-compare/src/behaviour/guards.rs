//! Guards: Boolean functions over the conditions of both programs, as hash-consed binary decision
//! diagrams. Two guards are the same function if and only if they have the same number.

use crate::prover::{Condition, Key, Prover};
use agentir_diagnostics::Span;
use agentir_expr::{BinaryOp, ExprKind, Name, UnaryOp};
use biodivine_lib_bdd::{Bdd, BddPartialValuation, BddVariable, BddVariableSet, op_function};
use rustc_hash::{FxHashMap, FxHashSet};

/// The maximal number of nodes of the diagram of a guard.
const MAX_DIAGRAM_SIZE: usize = 20_000;

/// How many nodes of diagrams one comparison looks at or makes.
const MAX_WORK: usize = 5_000_000;

/// The maximal number of conditions of the other program that one is compared with.
const MAX_CANDIDATES: usize = 12;

/// A guard, by its number; the first never holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub(crate) struct Guard(u32);

impl Guard {
    pub(crate) const NEVER: Self = Self(0);
    pub(crate) const ALWAYS: Self = Self(1);
}

/// A proposition that guards consist of.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Atom {
    /// A condition on the state, or one that the model judges.
    Condition(Condition),
    /// An event that may happen: a call fails, the retries are exhausted.
    Event(String),
}

/// The conditions and events of two programs with their variables in guards. A condition that is
/// equivalent to one of the other program, or to its negation, shares its variable.
#[derive(Debug, Default)]
pub(crate) struct Atoms {
    /// The variable of each key, and whether it is negated.
    variables: FxHashMap<Key, (u16, bool)>,
    /// The atom of each variable, with its agent.
    all: Vec<(Atom, Name)>,
    /// The occurrences of each variable in the two programs.
    occurrences: Vec<[Vec<Span>; 2]>,
}

/// A condition and its agent.
pub(crate) type AgentCondition = (Condition, Name);

/// The conditions and events of one program, with the spans at which they occur.
#[derive(Debug, Default)]
pub(crate) struct AtomOccurrences {
    pub(crate) conditions: Vec<(AgentCondition, Span)>,
    pub(crate) events: Vec<(String, Span)>,
}

impl AtomOccurrences {
    /// The conditions without duplicates.
    fn distinct_conditions(&self) -> Vec<AgentCondition> {
        let mut seen = FxHashSet::default();
        let all = self.conditions.iter().map(|(owned, _)| owned);
        all.filter(|(condition, _)| seen.insert(condition.key())).cloned().collect()
    }
}

impl Atoms {
    /// Assigns a variable to every atom. None if there are too many for one comparison.
    ///
    /// A condition with an equivalent one in the other program is a single atom; others are split at
    /// their connectives.
    pub(crate) fn new(sides: &[AtomOccurrences; 2], prover: &mut Prover) -> Option<Self> {
        let mut this = Self::default();
        for (event, _) in sides.iter().flat_map(|side| &side.events) {
            this.variable(Atom::Event(event.clone()), &Name::default())?;
        }
        let [left, right] = sides.each_ref().map(AtomOccurrences::distinct_conditions);
        let keys =
            |side: &[AgentCondition]| side.iter().map(|(a, _)| a.key()).collect::<FxHashSet<_>>();
        let (ours, theirs) = (keys(&left), keys(&right));
        let (both, left): (Vec<_>, Vec<_>) =
            left.into_iter().partition(|(a, _)| theirs.contains(&a.key()));
        for (condition, agent) in &both {
            this.variable(Atom::Condition(condition.clone()), agent)?;
        }
        let mut candidates = Candidates::new(&left);
        let mut rest = Vec::new();
        for (condition, agent) in right.into_iter().filter(|(a, _)| !ours.contains(&a.key())) {
            match candidates.find(&condition, prover) {
                Some((one, negated)) => {
                    let variable = this.variable(Atom::Condition(one.0), &one.1)?;
                    this.variables.entry(condition.key()).or_insert((variable, negated));
                }
                None => rest.push((condition, agent)),
            }
        }
        let split_all = |whole: Vec<AgentCondition>, this: &Self| {
            let mut found = Vec::new();
            for (condition, agent) in whole {
                split(condition, &this.variables, &mut |part| found.push((part, agent.clone())));
            }
            found
        };
        let left = split_all(left, &this);
        for (part, agent) in &left {
            this.variable(Atom::Condition(part.clone()), agent)?;
        }
        let mut candidates = Candidates::new(&left);
        for (part, agent) in split_all(rest, &this) {
            match candidates.find(&part, prover) {
                Some((one, negated)) => {
                    let (variable, before) = *this.variables.get(&one.0.key())?;
                    this.variables.entry(part.key()).or_insert((variable, before != negated));
                }
                None => {
                    this.variable(Atom::Condition(part), &agent)?;
                }
            }
        }
        this.occurrences = this.all.iter().map(|_| Default::default()).collect();
        for (side, occurrences) in sides.iter().enumerate() {
            for ((condition, _), span) in &occurrences.conditions {
                this.add_condition(condition, side, *span);
            }
            for (event, span) in &occurrences.events {
                let variable = this.variables.get(&key(&Atom::Event(event.clone()))).copied();
                this.add_occurrence(variable.map(|(variable, _)| variable), side, *span);
            }
        }
        Some(this)
    }

    /// Records an occurrence of a condition for all of its variables.
    fn add_condition(&mut self, condition: &Condition, side: usize, span: Span) {
        match self.variables.get(&condition.key()) {
            Some((variable, _)) => self.add_occurrence(Some(*variable), side, span),
            // As deep as expressions nest, which is bounded.
            None => parts(condition).iter().for_each(|part| self.add_condition(part, side, span)),
        }
    }

    fn add_occurrence(&mut self, variable: Option<u16>, side: usize, span: Span) {
        let spans = variable.and_then(|v| self.occurrences.get_mut(usize::from(v)));
        if let Some(spans) = spans.and_then(|spans| spans.get_mut(side)) {
            spans.push(span);
        }
    }

    /// The occurrences, with their side, of a variable that occurs in only one program.
    pub(crate) fn one_sided_occurrences(
        &self,
        variable: u16,
    ) -> impl Iterator<Item = (usize, Span)> {
        let occurrences = self.occurrences.get(usize::from(variable)).filter(|sides| {
            let [left, right] = sides;
            left.is_empty() || right.is_empty()
        });
        let sides = occurrences.into_iter().flatten().enumerate();
        sides.flat_map(|(side, spans)| spans.iter().map(move |span| (side, *span)))
    }

    fn variable(&mut self, atom: Atom, agent: &Name) -> Option<u16> {
        let key = key(&atom);
        if let Some((variable, _)) = self.variables.get(&key) {
            return Some(*variable);
        }
        let variable = u16::try_from(self.all.len()).ok().filter(|n| *n < u16::MAX)?;
        self.all.push((atom, agent.clone()));
        self.variables.insert(key, (variable, false));
        Some(variable)
    }

    /// The atom of a variable, and its agent.
    pub(crate) fn atom(&self, variable: u16) -> Option<&(Atom, Name)> {
        self.all.get(usize::from(variable))
    }
}

/// The conditions of the first program by the variables they read.
struct Candidates {
    by_roots: FxHashMap<Vec<Name>, Vec<AgentCondition>>,
}

impl Candidates {
    fn new(all: &[AgentCondition]) -> Self {
        let mut by_roots: FxHashMap<Vec<Name>, Vec<AgentCondition>> = FxHashMap::default();
        for one in all.iter().filter(|(condition, _)| matches!(condition, Condition::Expr(..))) {
            by_roots.entry(one.0.roots()).or_default().push(one.clone());
        }
        Self { by_roots }
    }

    /// A condition that is equivalent, or (true) equivalent to the negation.
    fn find(
        &mut self,
        condition: &Condition,
        prover: &mut Prover,
    ) -> Option<(AgentCondition, bool)> {
        let Condition::Expr(..) = condition else { return None };
        let others = self.by_roots.get(&condition.roots())?;
        others.iter().take(MAX_CANDIDATES).find_map(|one| {
            [false, true].into_iter().find_map(|negated| {
                let (answer, _) = prover.equivalent(&one.0, condition, negated, &one.1);
                answer.is_unsat().then(|| (one.clone(), negated))
            })
        })
    }
}

fn key(atom: &Atom) -> Key {
    match atom {
        Atom::Condition(condition) => condition.key(),
        Atom::Event(event) => Key::Event(event.clone()),
    }
}

/// Calls `found` with the operands of a condition, down to those that already have a variable.
fn split(
    condition: Condition,
    known: &FxHashMap<Key, (u16, bool)>,
    found: &mut impl FnMut(Condition),
) {
    let inner = parts(&condition);
    if inner.is_empty() || known.contains_key(&condition.key()) {
        found(condition);
    } else {
        // As deep as expressions nest, which is bounded.
        inner.into_iter().for_each(|part| split(part, known, found));
    }
}

/// The operands of the outermost connective of a condition. Where an
/// operand that fails aborts the evaluation, their order matters, and the condition cannot be split.
fn parts(condition: &Condition) -> Vec<Condition> {
    let Condition::Expr(dialect, expr) = condition else { return Vec::new() };
    if !dialect.semantics().error_is_false {
        return Vec::new();
    }
    let of = |e: &agentir_expr::Expr| Condition::Expr(*dialect, e.clone());
    match &expr.kind {
        ExprKind::And(all) | ExprKind::Or(all) => all.iter().map(of).collect(),
        ExprKind::Unary { op: UnaryOp::Not, operand } => vec![of(operand)],
        ExprKind::Binary { op: BinaryOp::Implies, left, right } => vec![of(left), of(right)],
        _ => Vec::new(),
    }
}

/// The guards of one comparison.
pub(crate) struct Guards {
    variables: BddVariableSet,
    all: Vec<Bdd>,
    numbers: FxHashMap<Bdd, Guard>,
    ands: FxHashMap<(Guard, Guard), Guard>,
    ors: FxHashMap<(Guard, Guard), Guard>,
    /// The disjunction of the combinations that the solver refuted.
    impossible: Guard,
    /// Whether a diagram got too large, or all of them together.
    pub(crate) too_large: bool,
    /// How many nodes may still be looked at or made.
    left: usize,
}

impl Guards {
    pub(crate) fn new(atoms: &Atoms) -> Self {
        let variables =
            BddVariableSet::new_anonymous(u16::try_from(atoms.all.len()).unwrap_or(u16::MAX));
        let (never, always) = (variables.mk_false(), variables.mk_true());
        let mut this = Self {
            variables,
            all: Vec::new(),
            numbers: FxHashMap::default(),
            ands: FxHashMap::default(),
            ors: FxHashMap::default(),
            impossible: Guard::NEVER,
            too_large: false,
            left: MAX_WORK,
        };
        this.number(Some(never));
        this.number(Some(always));
        this
    }

    fn number(&mut self, bdd: Option<Bdd>) -> Guard {
        let Some(bdd) = bdd else {
            self.too_large = true;
            return Guard::ALWAYS;
        };
        if let Some(found) = self.numbers.get(&bdd) {
            return *found;
        }
        let number = Guard(u32::try_from(self.all.len()).unwrap_or(u32::MAX));
        self.all.push(bdd.clone());
        self.numbers.insert(bdd, number);
        number
    }

    /// Counts the nodes of diagrams.
    fn spend(&mut self, nodes: usize) {
        self.left = self.left.saturating_sub(nodes);
        self.too_large |= self.left == 0;
    }

    fn with(
        &mut self,
        a: Guard,
        b: Guard,
        op: fn(Option<bool>, Option<bool>) -> Option<bool>,
    ) -> Guard {
        let (Some(left), Some(right)) = (self.all.get(a.0 as usize), self.all.get(b.0 as usize))
        else {
            return Guard::ALWAYS;
        };
        let looked_at = left.size() + right.size();
        if self.left <= looked_at {
            self.too_large = true;
            return Guard::ALWAYS;
        }
        let made = Bdd::binary_op_with_limit(MAX_DIAGRAM_SIZE, left, right, op);
        self.spend(looked_at + made.as_ref().map_or(MAX_DIAGRAM_SIZE, Bdd::size));
        self.number(made)
    }

    pub(crate) fn and(&mut self, a: Guard, b: Guard) -> Guard {
        match (a, b) {
            (Guard::ALWAYS, other) | (other, Guard::ALWAYS) => return other,
            (Guard::NEVER, _) | (_, Guard::NEVER) => return Guard::NEVER,
            _ if a == b => return a,
            _ => {}
        }
        let key = (a.min(b), a.max(b));
        if let Some(found) = self.ands.get(&key) {
            return *found;
        }
        let made = self.with(a, b, op_function::and);
        self.ands.insert(key, made);
        made
    }

    pub(crate) fn or(&mut self, a: Guard, b: Guard) -> Guard {
        match (a, b) {
            (Guard::ALWAYS, _) | (_, Guard::ALWAYS) => return Guard::ALWAYS,
            (Guard::NEVER, other) | (other, Guard::NEVER) => return other,
            _ if a == b => return a,
            _ => {}
        }
        let key = (a.min(b), a.max(b));
        if let Some(found) = self.ors.get(&key) {
            return *found;
        }
        let made = self.with(a, b, op_function::or);
        self.ors.insert(key, made);
        made
    }

    /// `a` and not `b`.
    pub(crate) fn without(&mut self, a: Guard, b: Guard) -> Guard {
        match (a, b) {
            (_, Guard::NEVER) => a,
            (Guard::NEVER, _) | (_, Guard::ALWAYS) => Guard::NEVER,
            _ if a == b => Guard::NEVER,
            _ => self.with(a, b, op_function::and_not),
        }
    }

    /// The guard that an event happens or does not.
    pub(crate) fn event(&mut self, atoms: &Atoms, event: &str, happens: bool) -> Guard {
        match atoms.variables.get(&key(&Atom::Event(event.to_owned()))) {
            Some((variable, _)) => self.literal(*variable, happens),
            None => Guard::ALWAYS,
        }
    }

    fn literal(&mut self, variable: u16, holds: bool) -> Guard {
        let variable = BddVariable::from_index(usize::from(variable));
        let bdd = self.variables.mk_literal(variable, holds);
        self.number(Some(bdd))
    }

    /// The guard that a condition holds or does not.
    pub(crate) fn condition(&mut self, atoms: &Atoms, condition: &Condition, holds: bool) -> Guard {
        let guard = self.formula(atoms, condition);
        if holds { guard } else { self.without(Guard::ALWAYS, guard) }
    }

    fn formula(&mut self, atoms: &Atoms, condition: &Condition) -> Guard {
        if let Some((variable, negated)) = atoms.variables.get(&condition.key()) {
            return self.literal(*variable, !negated);
        }
        let inner = parts(condition);
        let Condition::Expr(_, expr) = condition else { return Guard::ALWAYS };
        let mut inner = inner.iter().map(|part| self.formula(atoms, part)).collect::<Vec<_>>();
        match &expr.kind {
            ExprKind::And(_) => self.join(inner, Guard::ALWAYS, Self::and),
            ExprKind::Or(_) => self.join(inner, Guard::NEVER, Self::or),
            ExprKind::Unary { .. } => {
                let inner = inner.pop().unwrap_or(Guard::NEVER);
                self.without(Guard::ALWAYS, inner)
            }
            _ => {
                let right = inner.pop().unwrap_or(Guard::ALWAYS);
                let left = inner.pop().unwrap_or(Guard::ALWAYS);
                let not = self.without(Guard::ALWAYS, left);
                self.or(not, right)
            }
        }
    }

    /// All parts together. Neighbours are joined first: one after the other would make a diagram of all before it for
    /// each part.
    fn join(
        &mut self,
        mut parts: Vec<Guard>,
        none: Guard,
        op: fn(&mut Self, Guard, Guard) -> Guard,
    ) -> Guard {
        while parts.len() > 1 {
            let pairs = parts.chunks(2);
            parts = pairs
                .map(|pair| match pair {
                    [a, b] => op(self, *a, *b),
                    rest => rest.first().copied().unwrap_or(none),
                })
                .collect();
        }
        parts.first().copied().unwrap_or(none)
    }

    /// A guard without the refuted combinations.
    pub(crate) fn possible(&mut self, guard: Guard) -> Guard {
        self.without(guard, self.impossible)
    }

    /// Excludes a combination that the solver refuted.
    pub(crate) fn learn(&mut self, cube: &[(u16, bool)]) {
        let clause = BddPartialValuation::from_values(&values(cube));
        let bdd = self.variables.mk_conjunctive_clause(&clause);
        let cube = self.number(Some(bdd));
        self.impossible = self.or(self.impossible, cube);
    }

    /// A minimal cube that implies a guard; none if the guard is impossible.
    pub(crate) fn example(&mut self, guard: Guard) -> Option<Vec<(u16, bool)>> {
        let possible = self.possible(guard);
        let clause = self.all.get(possible.0 as usize)?.most_free_clause()?;
        let number =
            |(v, holds): (BddVariable, bool)| Some((u16::try_from(v.to_index()).ok()?, holds));
        let mut cube: Vec<(u16, bool)> =
            clause.to_values().into_iter().map(number).collect::<Option<_>>()?;
        // Drop literals that only exclude refuted combinations.
        let mut at = 0;
        while at < cube.len() && self.left > 0 {
            let mut fewer = cube.clone();
            fewer.remove(at);
            if self.restrict(guard, &fewer) == Guard::ALWAYS {
                cube = fewer;
            } else {
                at += 1;
            }
        }
        Some(cube)
    }

    /// The cofactor of a guard with respect to a cube.
    pub(crate) fn restrict(&mut self, guard: Guard, cube: &[(u16, bool)]) -> Guard {
        let Some(bdd) = self.all.get(guard.0 as usize) else { return guard };
        let looked_at = bdd.size() + cube.len();
        if self.left <= looked_at {
            self.too_large = true;
            return guard;
        }
        let restricted = bdd.restrict(&values(cube));
        self.spend(looked_at);
        self.number(Some(restricted))
    }
}

fn values(cube: &[(u16, bool)]) -> Vec<(BddVariable, bool)> {
    cube.iter().map(|(v, holds)| (BddVariable::from_index(usize::from(*v)), *holds)).collect()
}

impl std::fmt::Debug for Guards {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Guards({})", self.all.len())
    }
}
