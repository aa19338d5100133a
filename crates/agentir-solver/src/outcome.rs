//! Sets of outcomes, and formulas over atoms.
//!
//! A condition comes out as true, false or an error (see `agentir_eval::Outcome`). What is known of
//! an outcome is the set of those it may be.

/// A set of outcomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Outcomes(u8);

impl Outcomes {
    pub(crate) const NONE: Self = Self(0);
    pub(crate) const FALSE: Self = Self(1);
    pub(crate) const TRUE: Self = Self(2);
    pub(crate) const ERROR: Self = Self(4);
    pub(crate) const EITHER: Self = Self(3);
    pub(crate) const ANY: Self = Self(7);

    pub(crate) const fn of(truth: bool) -> Self {
        if truth { Self::TRUE } else { Self::FALSE }
    }

    pub(crate) const fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    pub(crate) const fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// All outcomes that are not in the set.
    pub(crate) const fn others(self) -> Self {
        Self(!self.0 & 7)
    }

    pub(crate) const fn within(self, other: Self) -> bool {
        self.0 & !other.0 == 0
    }

    pub(crate) const fn meets(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    pub(crate) const fn is_one(self) -> bool {
        self.0.count_ones() == 1
    }

    /// The set with true and false exchanged.
    pub(crate) const fn negated(self) -> Self {
        Self((self.0 & 4) | ((self.0 & 1) << 1) | ((self.0 & 2) >> 1))
    }

    /// The outcomes of the set, one by one.
    pub(crate) fn each(self) -> impl Iterator<Item = Self> {
        [Self::TRUE, Self::FALSE, Self::ERROR].into_iter().filter(move |o| o.within(self))
    }
}

/// A boolean combination of atoms. Like the evaluator's, its parts are looked at from left to right,
/// and no further than needed, so an error behind a part that decides does not count.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Formula {
    Const(Outcomes),
    /// An atom, by its index.
    Atom(usize),
    Not(Box<Self>),
    And(Vec<Self>),
    Or(Vec<Self>),
    If(Box<[Self; 3]>),
}

impl Formula {
    pub(crate) fn not(inner: Self) -> Self {
        match inner {
            Self::Const(outcomes) => Self::Const(outcomes.negated()),
            Self::Not(inner) => *inner,
            inner => Self::Not(Box::new(inner)),
        }
    }

    pub(crate) fn and(parts: impl IntoIterator<Item = Self>) -> Self {
        Self::chain(parts, Outcomes::TRUE, Self::And)
    }

    pub(crate) fn or(parts: impl IntoIterator<Item = Self>) -> Self {
        Self::chain(parts, Outcomes::FALSE, Self::Or)
    }

    /// A flat chain without parts that cannot matter: neutral ones, repeated ones, and what stands
    /// behind one that always ends it.
    fn chain(
        parts: impl IntoIterator<Item = Self>,
        neutral: Outcomes,
        make: fn(Vec<Self>) -> Self,
    ) -> Self {
        let mut kept: Vec<Self> = Vec::new();
        let mut seen = rustc_hash::FxHashSet::default();
        let mut add = |part: Self| {
            match &part {
                Self::Const(o) if *o == neutral => return false,
                Self::Const(_) => {
                    kept.push(part);
                    return true;
                }
                Self::Atom(atom) if !seen.insert((*atom, true)) => return false,
                Self::Not(inner) => match &**inner {
                    Self::Atom(atom) if !seen.insert((*atom, false)) => return false,
                    _ => {}
                },
                _ => {}
            }
            kept.push(part);
            false
        };
        'parts: for part in parts {
            match part {
                Self::And(inner) if neutral == Outcomes::TRUE => {
                    for part in inner {
                        if add(part) {
                            break 'parts;
                        }
                    }
                }
                Self::Or(inner) if neutral == Outcomes::FALSE => {
                    for part in inner {
                        if add(part) {
                            break 'parts;
                        }
                    }
                }
                part => {
                    if add(part) {
                        break;
                    }
                }
            }
        }
        if kept.len() > 1 { make(kept) } else { kept.pop().unwrap_or(Self::Const(neutral)) }
    }

    pub(crate) fn conditional(condition: Self, then: Self, otherwise: Self) -> Self {
        match condition {
            Self::Const(o) if o == Outcomes::TRUE => then,
            Self::Const(o) if o == Outcomes::FALSE => otherwise,
            Self::Const(o) => Self::Const(o),
            condition => Self::If(Box::new([condition, then, otherwise])),
        }
    }

    /// What it may come out as if each atom may come out as `atom` says.
    pub(crate) fn outcomes(&self, atom: &impl Fn(usize) -> Outcomes) -> Outcomes {
        match self {
            Self::Const(outcomes) => *outcomes,
            Self::Atom(index) => atom(*index),
            Self::Not(inner) => inner.outcomes(atom).negated(),
            Self::And(parts) => chained(parts, Outcomes::TRUE, atom),
            Self::Or(parts) => chained(parts, Outcomes::FALSE, atom),
            Self::If(parts) => {
                let [condition, then, otherwise] = &**parts;
                let condition = condition.outcomes(atom);
                let mut all = condition.and(Outcomes::ERROR);
                if condition.meets(Outcomes::TRUE) {
                    all = all.or(then.outcomes(atom));
                }
                if condition.meets(Outcomes::FALSE) {
                    all = all.or(otherwise.outcomes(atom));
                }
                all
            }
        }
    }

    /// Calls `found` with the index of each atom in it.
    pub(crate) fn atoms(&self, found: &mut impl FnMut(usize)) {
        match self {
            Self::Const(_) => {}
            Self::Atom(index) => found(*index),
            Self::Not(inner) => inner.atoms(found),
            Self::And(parts) | Self::Or(parts) => parts.iter().for_each(|p| p.atoms(found)),
            Self::If(parts) => parts.iter().for_each(|p| p.atoms(found)),
        }
    }
}

/// A chain goes on as long as its parts come out as `neutral`.
fn chained(parts: &[Formula], neutral: Outcomes, atom: &impl Fn(usize) -> Outcomes) -> Outcomes {
    let mut all = neutral;
    for part in parts {
        if !all.meets(neutral) {
            break;
        }
        all = all.and(neutral.others()).or(part.outcomes(atom));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::{Formula, Outcomes};
    use proptest::prelude::*;

    /// A formula as it is written, without anything being left out.
    #[derive(Clone, Debug)]
    enum Written {
        Const(Outcomes),
        Atom(usize),
        Not(Box<Self>),
        And(Vec<Self>),
        Or(Vec<Self>),
        If(Box<[Self; 3]>),
    }

    impl Written {
        /// The formula, with what cannot matter left out.
        fn simplified(&self) -> Formula {
            match self {
                Self::Const(outcome) => Formula::Const(*outcome),
                Self::Atom(atom) => Formula::Atom(*atom),
                Self::Not(inner) => Formula::not(inner.simplified()),
                Self::And(parts) => Formula::and(parts.iter().map(Self::simplified)),
                Self::Or(parts) => Formula::or(parts.iter().map(Self::simplified)),
                Self::If(parts) => {
                    let [condition, then, otherwise] = &**parts;
                    Formula::conditional(
                        condition.simplified(),
                        then.simplified(),
                        otherwise.simplified(),
                    )
                }
            }
        }

        /// What the evaluator makes of it, part by part from left to right.
        fn outcome(&self, atoms: &[Outcomes; 3]) -> Outcomes {
            let chain = |parts: &[Self], neutral: Outcomes| {
                let all = parts.iter().map(|part| part.outcome(atoms));
                all.into_iter().find(|outcome| *outcome != neutral).unwrap_or(neutral)
            };
            match self {
                Self::Const(outcome) => *outcome,
                Self::Atom(atom) => *atoms.get(*atom).unwrap_or(&Outcomes::ERROR),
                Self::Not(inner) => match inner.outcome(atoms) {
                    Outcomes::TRUE => Outcomes::FALSE,
                    Outcomes::FALSE => Outcomes::TRUE,
                    error => error,
                },
                Self::And(parts) => chain(parts, Outcomes::TRUE),
                Self::Or(parts) => chain(parts, Outcomes::FALSE),
                Self::If(parts) => {
                    let [condition, then, otherwise] = &**parts;
                    match condition.outcome(atoms) {
                        Outcomes::TRUE => then.outcome(atoms),
                        Outcomes::FALSE => otherwise.outcome(atoms),
                        error => error,
                    }
                }
            }
        }
    }

    const ONE: [Outcomes; 3] = [Outcomes::TRUE, Outcomes::FALSE, Outcomes::ERROR];

    fn written() -> impl Strategy<Value = Written> {
        let leaf = prop_oneof![
            1 => prop::sample::select(ONE.to_vec()).prop_map(Written::Const),
            4 => (0usize..3).prop_map(Written::Atom),
        ];
        leaf.prop_recursive(5, 40, 4, |inner| {
            let parts = prop::collection::vec(inner.clone(), 0..4);
            prop_oneof![
                inner.clone().prop_map(|e| Written::Not(Box::new(e))),
                parts.clone().prop_map(Written::And),
                parts.prop_map(Written::Or),
                [inner.clone(), inner.clone(), inner].prop_map(|all| Written::If(Box::new(all))),
            ]
        })
    }

    proptest! {
        /// Leaving out what is neutral, repeated or never reached changes no outcome, errors included.
        #[test]
        fn simplification_keeps_what_a_formula_means(formula in written()) {
            let simplified = formula.simplified();
            for a in ONE {
                for b in ONE {
                    for c in ONE {
                        let atoms = [a, b, c];
                        let found = simplified.outcomes(&|i| *atoms.get(i).unwrap_or(&Outcomes::ANY));
                        prop_assert_eq!(found, formula.outcome(&atoms), "{:?}", atoms);
                    }
                }
            }
        }

        /// Of atoms of which little is known, no outcome is left out that one of their outcomes gives.
        #[test]
        fn what_may_come_out_is_not_left_out(formula in written(), known in [1u8..8, 1..8, 1..8]) {
            let known = known.map(Outcomes);
            let simplified = formula.simplified();
            let may = simplified.outcomes(&|i| *known.get(i).unwrap_or(&Outcomes::ANY));
            for a in known[0].each() {
                for b in known[1].each() {
                    for c in known[2].each() {
                        prop_assert!(formula.outcome(&[a, b, c]).within(may));
                    }
                }
            }
        }
    }
}
