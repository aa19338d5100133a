//! Guards: boolean functions over the conditions of both programs, in a canonical form, so that two
//! guards are the same function if and only if they have the same number.

use crate::prover::{Asked, Prover};
use agentir_diagnostics::Span;
use agentir_expr::{BinaryOp, Dialect, ExprKind, Name, UnaryOp};
use biodivine_lib_bdd::{Bdd, BddPartialValuation, BddVariable, BddVariableSet, op_function};
use rustc_hash::{FxHashMap, FxHashSet};

/// How many nodes the diagram of one guard may have.
const LARGEST: usize = 20_000;

/// How many conditions of the other program one is compared with.
const NEAR: usize = 12;

/// A guard, by its number; the first is the one that never holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub(crate) struct Guard(u32);

impl Guard {
    pub(crate) const NEVER: Self = Self(0);
    pub(crate) const ALWAYS: Self = Self(1);
}

/// Something that is true or false at a place.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Atom {
    /// A condition over the state, or one that the model judges.
    Condition(Asked),
    /// Something that happens or not: a call fails, the tries are used up.
    Event(String),
}

/// The conditions and events of two programs, each with the variable that stands for it in guards. A
/// condition that holds in the same states as one of the other program, or in all others, shares its
/// variable.
#[derive(Debug, Default)]
pub(crate) struct Atoms {
    /// By what is written: the variable, and whether it stands for the negation.
    variables: FxHashMap<String, (u16, bool)>,
    /// What each variable stands for, with the agent whose it is.
    all: Vec<(Atom, Name)>,
    /// Where the two programs ask for each variable.
    places: Vec<[Vec<Span>; 2]>,
}

/// A condition and the agent whose it is.
pub(crate) type Owned = (Asked, Name);

/// What one program asks: conditions and events, each with the places at which it does.
#[derive(Debug, Default)]
pub(crate) struct Questions {
    pub(crate) conditions: Vec<(Owned, Span)>,
    pub(crate) events: Vec<(String, Span)>,
}

impl Questions {
    /// The conditions, each once.
    fn different(&self) -> Vec<Owned> {
        let mut seen = FxHashSet::default();
        let all = self.conditions.iter().map(|(owned, _)| owned);
        all.filter(|(asked, _)| seen.insert(asked.key())).cloned().collect()
    }
}

impl Atoms {
    /// Gives everything its variable. None if there are too many for one comparison.
    ///
    /// A condition that the other program has as well, in whatever words, is one atom; of others the
    /// parts are.
    pub(crate) fn new(sides: &[Questions; 2], prover: &mut Prover) -> Option<Self> {
        let mut this = Self::default();
        for (event, _) in sides.iter().flat_map(|side| &side.events) {
            this.variable(Atom::Event(event.clone()), &Name::default())?;
        }
        let [left, right] = sides.each_ref().map(Questions::different);
        let keys = |side: &[Owned]| side.iter().map(|(a, _)| a.key()).collect::<FxHashSet<_>>();
        let (ours, theirs) = (keys(&left), keys(&right));
        let (both, left): (Vec<_>, Vec<_>) =
            left.into_iter().partition(|(a, _)| theirs.contains(&a.key()));
        for (asked, agent) in &both {
            this.variable(Atom::Condition(asked.clone()), agent)?;
        }
        let mut near = Near::new(&left);
        let mut rest = Vec::new();
        for (asked, agent) in right.into_iter().filter(|(a, _)| !ours.contains(&a.key())) {
            match near.find(&asked, prover) {
                Some((one, turned)) => {
                    let variable = this.variable(Atom::Condition(one.0), &one.1)?;
                    this.variables.entry(asked.key()).or_insert((variable, turned));
                }
                None => rest.push((asked, agent)),
            }
        }
        let parts_of = |whole: Vec<Owned>, this: &Self| {
            let mut found = Vec::new();
            for (asked, agent) in whole {
                split(asked, &this.variables, &mut |part| found.push((part, agent.clone())));
            }
            found
        };
        let left = parts_of(left, &this);
        for (part, agent) in &left {
            this.variable(Atom::Condition(part.clone()), agent)?;
        }
        let mut near = Near::new(&left);
        for (part, agent) in parts_of(rest, &this) {
            match near.find(&part, prover) {
                Some((one, turned)) => {
                    let (variable, before) = *this.variables.get(&one.0.key())?;
                    this.variables.entry(part.key()).or_insert((variable, before != turned));
                }
                None => {
                    this.variable(Atom::Condition(part), &agent)?;
                }
            }
        }
        this.places = this.all.iter().map(|_| Default::default()).collect();
        for (side, questions) in sides.iter().enumerate() {
            for ((asked, _), span) in &questions.conditions {
                this.place(asked, side, *span);
            }
            for (event, span) in &questions.events {
                let variable = this.variables.get(&key(&Atom::Event(event.clone()))).copied();
                this.at(variable.map(|(variable, _)| variable), side, *span);
            }
        }
        Some(this)
    }

    /// Notes where a condition is written at all variables that it is made of.
    fn place(&mut self, asked: &Asked, side: usize, span: Span) {
        match self.variables.get(&asked.key()) {
            Some((variable, _)) => self.at(Some(*variable), side, span),
            // As deep as expressions nest, which is bounded.
            None => parts(asked).iter().for_each(|part| self.place(part, side, span)),
        }
    }

    fn at(&mut self, variable: Option<u16>, side: usize, span: Span) {
        let places = variable.and_then(|v| self.places.get_mut(usize::from(v)));
        if let Some(places) = places.and_then(|places| places.get_mut(side)) {
            places.push(span);
        }
    }

    /// Where a variable is asked for that only one of the programs asks for, with that program.
    pub(crate) fn of_one_side(&self, variable: u16) -> impl Iterator<Item = (usize, Span)> {
        let places = self.places.get(usize::from(variable)).filter(|places| {
            let [left, right] = places;
            left.is_empty() || right.is_empty()
        });
        let sides = places.into_iter().flatten().enumerate();
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

    /// What a variable stands for, and whose it is.
    pub(crate) fn of(&self, variable: u16) -> Option<&(Atom, Name)> {
        self.all.get(usize::from(variable))
    }
}

/// Conditions of the first program by the variables they are about.
struct Near {
    by_roots: FxHashMap<Vec<Name>, Vec<Owned>>,
}

impl Near {
    fn new(all: &[Owned]) -> Self {
        let mut by_roots: FxHashMap<Vec<Name>, Vec<Owned>> = FxHashMap::default();
        for one in all.iter().filter(|(asked, _)| matches!(asked, Asked::Expr(..))) {
            by_roots.entry(one.0.roots()).or_default().push(one.clone());
        }
        Self { by_roots }
    }

    /// One that holds in the same states, or (true) in all others.
    fn find(&mut self, asked: &Asked, prover: &mut Prover) -> Option<(Owned, bool)> {
        let Asked::Expr(..) = asked else { return None };
        let others = self.by_roots.get(&asked.roots())?;
        others.iter().take(NEAR).find_map(|one| {
            [false, true].into_iter().find_map(|turned| {
                let (answer, _) = prover.equivalent(&one.0, asked, turned, &one.1);
                answer.is_unsat().then(|| (one.clone(), turned))
            })
        })
    }
}

fn key(atom: &Atom) -> String {
    match atom {
        Atom::Condition(asked) => asked.key(),
        Atom::Event(event) => format!("event: {event}"),
    }
}

/// Calls `found` with the parts of a condition, down to those that have a variable already.
fn split(asked: Asked, known: &FxHashMap<String, (u16, bool)>, found: &mut impl FnMut(Asked)) {
    let inner = parts(&asked);
    if inner.is_empty() || known.contains_key(&asked.key()) {
        found(asked);
    } else {
        // As deep as expressions nest, which is bounded.
        inner.into_iter().for_each(|part| split(part, known, found));
    }
}

/// The parts of a condition that are joined by `AND`, `OR` and `NOT`. Only ABL's can be taken apart:
/// elsewhere a part that fails stops all, so the order of the parts has a meaning.
fn parts(asked: &Asked) -> Vec<Asked> {
    let Asked::Expr(dialect, expr) = asked else { return Vec::new() };
    if *dialect != Dialect::Abl {
        return Vec::new();
    }
    let of = |e: &agentir_expr::Expr| Asked::Expr(*dialect, e.clone());
    match &expr.kind {
        ExprKind::And(all) | ExprKind::Or(all) => all.iter().map(of).collect(),
        ExprKind::Unary { op: UnaryOp::Not, operand } => vec![of(operand)],
        ExprKind::Binary { op: BinaryOp::Implies, left, right } => vec![of(left), of(right)],
        _ => Vec::new(),
    }
}

/// All guards that were made.
pub(crate) struct Guards {
    variables: BddVariableSet,
    all: Vec<Bdd>,
    numbers: FxHashMap<Bdd, Guard>,
    ands: FxHashMap<(Guard, Guard), Guard>,
    ors: FxHashMap<(Guard, Guard), Guard>,
    /// What cannot be, as the solver proved.
    impossible: Guard,
    /// Whether a diagram got too large.
    pub(crate) too_large: bool,
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
        let made = Bdd::binary_op_with_limit(LARGEST, left, right, op);
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

    /// Something that happens, or does not.
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

    /// A condition: what it is made of, if it was taken apart.
    pub(crate) fn condition(&mut self, atoms: &Atoms, asked: &Asked, holds: bool) -> Guard {
        let guard = self.formula(atoms, asked);
        if holds { guard } else { self.without(Guard::ALWAYS, guard) }
    }

    fn formula(&mut self, atoms: &Atoms, asked: &Asked) -> Guard {
        if let Some((variable, turned)) = atoms.variables.get(&asked.key()) {
            return self.literal(*variable, !turned);
        }
        let inner = parts(asked);
        let Asked::Expr(_, expr) = asked else { return Guard::ALWAYS };
        let mut inner = inner.iter().map(|part| self.formula(atoms, part)).collect::<Vec<_>>();
        match &expr.kind {
            ExprKind::And(_) => {
                inner.into_iter().fold(Guard::ALWAYS, |all, part| self.and(all, part))
            }
            ExprKind::Or(_) => inner.into_iter().fold(Guard::NEVER, |all, part| self.or(all, part)),
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

    /// A guard without what cannot be.
    pub(crate) fn possible(&mut self, guard: Guard) -> Guard {
        self.without(guard, self.impossible)
    }

    /// Learns that these cannot come out like this all at once.
    pub(crate) fn learn(&mut self, cube: &[(u16, bool)]) {
        let clause = BddPartialValuation::from_values(&values(cube));
        let bdd = self.variables.mk_conjunctive_clause(&clause);
        let cube = self.number(Some(bdd));
        self.impossible = self.or(self.impossible, cube);
    }

    /// A possible way to meet a guard, with no value that is not needed; none if there is no way.
    pub(crate) fn example(&mut self, guard: Guard) -> Option<Vec<(u16, bool)>> {
        let possible = self.possible(guard);
        let clause = self.all.get(possible.0 as usize)?.most_free_clause()?;
        let number =
            |(v, holds): (BddVariable, bool)| Some((u16::try_from(v.to_index()).ok()?, holds));
        let mut cube: Vec<(u16, bool)> =
            clause.to_values().into_iter().map(number).collect::<Option<_>>()?;
        // What only keeps it possible says nothing about the guard.
        let mut at = 0;
        while at < cube.len() {
            let mut fewer = cube.clone();
            fewer.remove(at);
            if self.where_holds(guard, &fewer) == Guard::ALWAYS {
                cube = fewer;
            } else {
                at += 1;
            }
        }
        Some(cube)
    }

    /// The guard as it is where variables have these values.
    pub(crate) fn where_holds(&mut self, guard: Guard, cube: &[(u16, bool)]) -> Guard {
        let Some(bdd) = self.all.get(guard.0 as usize) else { return guard };
        let restricted = bdd.restrict(&values(cube));
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
