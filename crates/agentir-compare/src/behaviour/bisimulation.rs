//! The coarsest bisimulation of a transition system with guards, by signature refinement, and
//! distinguishing conversations.
//!
//! All states start in one block. In each round, the signature of a state is the set of its labels
//! with their guards and target blocks; states of one block with different signatures are
//! separated. The rounds are recorded: two states that are separated in round *n* are distinguished
//! by a conversation of at most *n* actions.

use super::guards::{Guard, Guards};
use super::system::{Move, System};
use indexmap::IndexMap;
use std::collections::{BTreeMap, BTreeSet};

/// The maximal number of moves that are visited.
const MAX_WORK: usize = 20_000_000;

/// The partition of the states after each round.
#[derive(Debug)]
pub(super) struct Partition {
    /// The blocks of each state, with the round in which it entered them.
    history: Vec<Vec<(u32, u32)>>,
}

/// Truth values of guard variables.
pub(super) type Cube = Vec<(u16, bool)>;

type Signature = Vec<(u32, u32, Guard)>;

/// A step that both sides take, and the values of variables under which they do.
#[derive(Debug, Clone)]
pub(super) struct CommonStep {
    pub(super) cube: Cube,
    pub(super) moves: [Move; 2],
}

/// A distinguishing conversation: evidence that two states are not bisimilar.
#[derive(Debug, Clone)]
pub(super) struct Distinction {
    /// The steps that both take first.
    pub(super) prefix: Vec<CommonStep>,
    /// The values of variables under which they differ.
    pub(super) cube: Cube,
    /// The move that the other cannot match, with its side.
    pub(super) unmatched: (usize, Move),
    /// The states after the prefix.
    pub(super) states: [u32; 2],
}

impl Partition {
    /// Refines until a fixpoint is reached. None if that exceeds [`MAX_WORK`], or if guards became too large.
    ///
    /// A round visits only blocks from which a move leads to a state that changed its block in the
    /// previous round, so that a difference at the end of a long chain costs the chain once.
    pub(super) fn new(system: &System, guards: &mut Guards) -> Option<Self> {
        let states = system.moves.len();
        let mut predecessors: Vec<Vec<u32>> = vec![Vec::new(); states];
        for (from, moves) in (0_u32..).zip(&system.moves) {
            for m in moves {
                predecessors.get_mut(m.to as usize)?.push(from);
            }
        }
        let mut history = vec![vec![(0, 0)]; states];
        let mut block = vec![0_u32; states];
        let mut members: Vec<Vec<u32>> = vec![(0_u32..).take(states).collect()];
        let mut open: BTreeSet<u32> = BTreeSet::from([0]);
        let mut work = 0;
        let mut round = 0;
        while !open.is_empty() {
            round += 1;
            let mut moved: Vec<(u32, u32)> = Vec::new();
            for number in std::mem::take(&mut open) {
                let all = std::mem::take(members.get_mut(number as usize)?);
                let mut parts: IndexMap<Signature, Vec<u32>> = IndexMap::new();
                for state in all {
                    let moves = system.moves.get(state as usize)?;
                    work += 1 + moves.len();
                    if work > MAX_WORK || guards.too_large {
                        return None;
                    }
                    parts.entry(signature(moves, &block, guards)).or_default().push(state);
                }
                // The largest part keeps the number, so that the fewest states change theirs.
                let kept =
                    (0..parts.len()).rev().max_by_key(|i| parts.get_index(*i).map(|p| p.1.len()));
                for (at, (_, part)) in parts.into_iter().enumerate() {
                    if Some(at) == kept {
                        *members.get_mut(number as usize)? = part;
                        continue;
                    }
                    let new = u32::try_from(members.len()).ok()?;
                    moved.extend(part.iter().map(|state| (*state, new)));
                    members.push(part);
                }
            }
            // At the end of the round, whose signatures use the blocks of the previous one.
            for (state, new) in &moved {
                *block.get_mut(*state as usize)? = *new;
                history.get_mut(*state as usize)?.push((round, *new));
            }
            for (state, _) in &moved {
                for from in predecessors.get(*state as usize)? {
                    open.extend(block.get(*from as usize));
                }
            }
        }
        // A guard that became too large was taken for one that always holds.
        (!guards.too_large).then_some(Self { history })
    }

    /// The block of a state after a round.
    fn block(&self, state: u32, round: u32) -> Option<u32> {
        let history = self.history.get(state as usize)?;
        let at = history.partition_point(|(from, _)| *from <= round);
        Some(history.get(at.checked_sub(1)?)?.1)
    }

    pub(super) fn bisimilar(&self, [a, b]: [u32; 2]) -> bool {
        self.block(a, u32::MAX) == self.block(b, u32::MAX)
    }

    /// The round that separated two states.
    fn separating_round(&self, [a, b]: [u32; 2]) -> Option<u32> {
        let rounds = |state: u32| self.history.get(state as usize).into_iter().flatten();
        let mut all: Vec<u32> = rounds(a).chain(rounds(b)).map(|(round, _)| *round).collect();
        all.sort_unstable();
        all.into_iter().find(|round| self.block(a, *round) != self.block(b, *round))
    }

    /// What distinguishes two states; `None` if they are bisimilar.
    pub(super) fn distinguish(
        &self,
        system: &System,
        guards: &mut Guards,
        states: [u32; 2],
    ) -> Option<Distinction> {
        let mut prefix = Vec::new();
        let mut states = states;
        // Each iteration goes back by at least one round.
        while let Some(round) = self.separating_round(states) {
            let [a, b] = states;
            let sides = [system.moves.get(a as usize)?, system.moves.get(b as usize)?];
            if let Some((cube, unmatched)) = unmatched_move(sides, guards) {
                return Some(Distinction { prefix, cube, unmatched, states });
            }
            let block = |state: u32| self.block(state, round.saturating_sub(1));
            let (cube, moves) = diverging_moves(sides, &block, guards)?;
            states = moves.map(|m| m.to);
            prefix.push(CommonStep { cube, moves });
        }
        None
    }
}

fn signature(moves: &[Move], blocks: &[u32], guards: &mut Guards) -> Signature {
    let mut all: BTreeMap<(u32, u32), Guard> = BTreeMap::new();
    for m in moves {
        let block = blocks.get(m.to as usize).copied().unwrap_or(0);
        let guard = all.entry((m.label, block)).or_default();
        *guard = guards.or(*guard, m.guard);
    }
    let mut found = Vec::with_capacity(all.len());
    for ((label, block), guard) in all {
        let guard = guards.possible(guard);
        if guard != Guard::NEVER {
            found.push((label, block, guard));
        }
    }
    found
}

/// The guard under which each label is enabled.
fn enabled(moves: &[Move], guards: &mut Guards) -> BTreeMap<u32, Guard> {
    let mut all: BTreeMap<u32, Guard> = BTreeMap::new();
    for m in moves {
        let guard = all.entry(m.label).or_default();
        *guard = guards.or(*guard, m.guard);
    }
    all
}

/// The first move whose label the other state cannot match.
fn unmatched_move(sides: [&Vec<Move>; 2], guards: &mut Guards) -> Option<(Cube, (usize, Move))> {
    let all = sides.map(|moves| enabled(moves, guards));
    for (side, moves) in sides.iter().enumerate() {
        let other = all.get(1 - side)?;
        for m in *moves {
            let theirs = other.get(&m.label).copied().unwrap_or(Guard::NEVER);
            let only = guards.without(m.guard, theirs);
            if guards.possible(only) != Guard::NEVER {
                return Some((guards.example(only)?, (side, *m)));
            }
        }
    }
    None
}

/// A pair of moves with the same label to different blocks.
fn diverging_moves(
    sides: [&Vec<Move>; 2],
    block: &impl Fn(u32) -> Option<u32>,
    guards: &mut Guards,
) -> Option<(Cube, [Move; 2])> {
    let block = |m: &Move| block(m.to);
    for (side, moves) in sides.iter().enumerate() {
        let others = *sides.get(1 - side)?;
        for m in *moves {
            let mut theirs = Guard::NEVER;
            for other in others.iter().filter(|o| o.label == m.label && block(o) == block(m)) {
                theirs = guards.or(theirs, other.guard);
            }
            let open = guards.without(m.guard, theirs);
            if guards.possible(open) == Guard::NEVER {
                continue;
            }
            for other in others.iter().filter(|o| o.label == m.label && block(o) != block(m)) {
                let both = guards.and(open, other.guard);
                if guards.possible(both) != Guard::NEVER {
                    let cube = guards.example(both)?;
                    let pair = if side == 0 { [*m, *other] } else { [*other, *m] };
                    return Some((cube, pair));
                }
            }
        }
    }
    None
}
