//! Truth sets, and formulas over atoms.
//!
//! The outcome of a condition is true, false or an error (see `agentir_eval::Outcome`). A truth set
//! over-approximates an outcome: it contains every possible one.

/// A set of outcomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct TruthSet(u8);

impl TruthSet {
    pub(crate) const NONE: Self = Self(0);
    pub(crate) const FALSE: Self = Self(1);
    pub(crate) const TRUE: Self = Self(2);
    pub(crate) const ERROR: Self = Self(4);
    pub(crate) const EITHER: Self = Self(3);
    pub(crate) const ANY: Self = Self(7);

    pub(crate) const fn from_bool(truth: bool) -> Self {
        if truth { Self::TRUE } else { Self::FALSE }
    }

    pub(crate) const fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    pub(crate) const fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Returns the outcomes that are not in the set.
    pub(crate) const fn complement(self) -> Self {
        Self(!self.0 & 7)
    }

    pub(crate) const fn is_subset(self, other: Self) -> bool {
        self.0 & !other.0 == 0
    }

    pub(crate) const fn intersects(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    pub(crate) const fn is_singleton(self) -> bool {
        self.0.count_ones() == 1
    }

    /// Returns the set with true and false exchanged.
    pub(crate) const fn negated(self) -> Self {
        Self((self.0 & 4) | ((self.0 & 1) << 1) | ((self.0 & 2) >> 1))
    }

    /// Returns the singletons of the set.
    pub(crate) fn iter(self) -> impl Iterator<Item = Self> {
        [Self::TRUE, Self::FALSE, Self::ERROR].into_iter().filter(move |o| o.is_subset(self))
    }
}

/// A boolean combination of atoms. As in the evaluator, connectives short-circuit from left to
/// right, so an error after the deciding operand does not count.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Formula {
    Const(TruthSet),
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
        Self::chain(parts, TruthSet::TRUE, Self::And)
    }

    pub(crate) fn or(parts: impl IntoIterator<Item = Self>) -> Self {
        Self::chain(parts, TruthSet::FALSE, Self::Or)
    }

    /// Returns a flat chain without redundant operands: neutral ones, duplicates, and those after
    /// one that always decides.
    fn chain(
        parts: impl IntoIterator<Item = Self>,
        neutral: TruthSet,
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
                Self::And(inner) if neutral == TruthSet::TRUE => {
                    for part in inner {
                        if add(part) {
                            break 'parts;
                        }
                    }
                }
                Self::Or(inner) if neutral == TruthSet::FALSE => {
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
            Self::Const(o) if o == TruthSet::TRUE => then,
            Self::Const(o) if o == TruthSet::FALSE => otherwise,
            Self::Const(o) => Self::Const(o),
            condition => Self::If(Box::new([condition, then, otherwise])),
        }
    }

    /// Returns the possible outcomes if the possible outcomes of each atom are those of `atom`.
    pub(crate) fn truth_set(&self, atom: &impl Fn(usize) -> TruthSet) -> TruthSet {
        match self {
            Self::Const(outcomes) => *outcomes,
            Self::Atom(index) => atom(*index),
            Self::Not(inner) => inner.truth_set(atom).negated(),
            Self::And(parts) => truth_of_chain(parts, TruthSet::TRUE, atom),
            Self::Or(parts) => truth_of_chain(parts, TruthSet::FALSE, atom),
            Self::If(parts) => {
                let [condition, then, otherwise] = &**parts;
                let condition = condition.truth_set(atom);
                let mut all = condition.and(TruthSet::ERROR);
                if condition.intersects(TruthSet::TRUE) {
                    all = all.or(then.truth_set(atom));
                }
                if condition.intersects(TruthSet::FALSE) {
                    all = all.or(otherwise.truth_set(atom));
                }
                all
            }
        }
    }

    /// Calls `found` with the index of each atom.
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

/// A chain continues as long as its operands evaluate to `neutral`.
fn truth_of_chain(
    parts: &[Formula],
    neutral: TruthSet,
    atom: &impl Fn(usize) -> TruthSet,
) -> TruthSet {
    let mut all = neutral;
    for part in parts {
        if !all.intersects(neutral) {
            break;
        }
        all = all.and(neutral.complement()).or(part.truth_set(atom));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::{Formula, TruthSet};
    use proptest::prelude::*;

    /// A formula without simplification.
    #[derive(Clone, Debug)]
    enum Written {
        Const(TruthSet),
        Atom(usize),
        Not(Box<Self>),
        And(Vec<Self>),
        Or(Vec<Self>),
        If(Box<[Self; 3]>),
    }

    impl Written {
        /// Returns the simplified formula.
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

        /// Evaluates from left to right, like the evaluator.
        fn evaluated(&self, atoms: &[TruthSet; 3]) -> TruthSet {
            let chain = |parts: &[Self], neutral: TruthSet| {
                let all = parts.iter().map(|part| part.evaluated(atoms));
                all.into_iter().find(|outcome| *outcome != neutral).unwrap_or(neutral)
            };
            match self {
                Self::Const(outcome) => *outcome,
                Self::Atom(atom) => *atoms.get(*atom).unwrap_or(&TruthSet::ERROR),
                Self::Not(inner) => match inner.evaluated(atoms) {
                    TruthSet::TRUE => TruthSet::FALSE,
                    TruthSet::FALSE => TruthSet::TRUE,
                    error => error,
                },
                Self::And(parts) => chain(parts, TruthSet::TRUE),
                Self::Or(parts) => chain(parts, TruthSet::FALSE),
                Self::If(parts) => {
                    let [condition, then, otherwise] = &**parts;
                    match condition.evaluated(atoms) {
                        TruthSet::TRUE => then.evaluated(atoms),
                        TruthSet::FALSE => otherwise.evaluated(atoms),
                        error => error,
                    }
                }
            }
        }
    }

    const ONE: [TruthSet; 3] = [TruthSet::TRUE, TruthSet::FALSE, TruthSet::ERROR];

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
        /// Simplification preserves all outcomes, errors included.
        #[test]
        fn simplification_keeps_what_a_formula_means(formula in written()) {
            let simplified = formula.simplified();
            for a in ONE {
                for b in ONE {
                    for c in ONE {
                        let atoms = [a, b, c];
                        let found = simplified.truth_set(&|i| *atoms.get(i).unwrap_or(&TruthSet::ANY));
                        prop_assert_eq!(found, formula.evaluated(&atoms), "{:?}", atoms);
                    }
                }
            }
        }

        /// Truth sets are sound: every outcome that the atoms' possible outcomes allow is included.
        #[test]
        fn what_may_come_out_is_not_left_out(formula in written(), known in [1u8..8, 1..8, 1..8]) {
            let known = known.map(TruthSet);
            let simplified = formula.simplified();
            let may = simplified.truth_set(&|i| *known.get(i).unwrap_or(&TruthSet::ANY));
            for a in known[0].iter() {
                for b in known[1].iter() {
                    for c in known[2].iter() {
                        prop_assert!(formula.evaluated(&[a, b, c]).is_subset(may));
                    }
                }
            }
        }
    }
}
