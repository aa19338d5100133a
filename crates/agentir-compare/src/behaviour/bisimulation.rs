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

/// The states of each block.
struct Blocks {
    members: Vec<Vec<u32>>,
    /// Where each state is among the members of its block.
    place: Vec<usize>,
}

impl Blocks {
    /// All states in one block.
    fn of_one(states: usize) -> Self {
        Self { members: vec![(0_u32..).take(states).collect()], place: (0..states).collect() }
    }

    /// Separates parts of a block from each other and from its other members. The largest group keeps the number of the
    /// block, so that the fewest states change theirs. Returns the states that get another number, with it.
    fn split(&mut self, number: u32, parts: Vec<Vec<u32>>) -> Option<Vec<(u32, u32)>> {
        let members = self.members.get_mut(number as usize)?;
        for state in parts.iter().flatten() {
            let at = *self.place.get(*state as usize)?;
            members.swap_remove(at);
            if let Some(other) = members.get(at) {
                *self.place.get_mut(*other as usize)? = at;
            }
        }
        let mut groups = parts;
        groups.insert(0, std::mem::take(members));
        let kept = (0..groups.len()).rev().max_by_key(|at| groups.get(*at).map(Vec::len))?;
        let largest = groups.remove(kept);
        if kept > 0 {
            for (at, state) in largest.iter().enumerate() {
                *self.place.get_mut(*state as usize)? = at;
            }
        }
        *self.members.get_mut(number as usize)? = largest;
        let mut moved = Vec::new();
        for group in groups.into_iter().filter(|group| !group.is_empty()) {
            let new = u32::try_from(self.members.len()).ok()?;
            for (at, state) in group.iter().enumerate() {
                *self.place.get_mut(*state as usize)? = at;
                moved.push((*state, new));
            }
            self.members.push(group);
        }
        Some(moved)
    }
}

impl Partition {
    /// Refines until a fixpoint is reached. None if that exceeds [`MAX_WORK`], or if guards became too large.
    ///
    /// A round visits only states from which a move leads to a state that changed its block in the
    /// previous round: the others of their block still have one signature. The work grows with the moves, but for a
    /// logarithm, also where a difference at the end of a long chain goes back to its beginning.
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
        let mut blocks = Blocks::of_one(states);
        let mut open: BTreeSet<u32> = (0_u32..).take(states).collect();
        let mut work = 0;
        let mut round = 0;
        let mut sign = |state: u32, block: &[u32]| {
            let moves = system.moves.get(state as usize)?;
            work += 1 + moves.len();
            let found = signature(moves, block, guards);
            (work <= MAX_WORK && !guards.too_large).then_some(found)
        };
        while !open.is_empty() {
            round += 1;
            let mut moved: Vec<(u32, u32)> = Vec::new();
            let mut by_block: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
            for state in &open {
                by_block.entry(*block.get(*state as usize)?).or_default().push(*state);
            }
            for (number, visited) in by_block {
                let mut parts: IndexMap<Signature, Vec<u32>> = IndexMap::new();
                for state in visited {
                    parts.entry(sign(state, &block)?).or_default().push(state);
                }
                let mut members = blocks.members.get(number as usize)?.iter();
                if let Some(other) = members.find(|state| !open.contains(state)) {
                    parts.shift_remove(&sign(*other, &block)?);
                }
                moved.extend(blocks.split(number, parts.into_values().collect())?);
            }
            // At the end of the round, whose signatures use the blocks of the previous one.
            for (state, new) in &moved {
                *block.get_mut(*state as usize)? = *new;
                history.get_mut(*state as usize)?.push((round, *new));
            }
            open.clear();
            for (state, _) in &moved {
                open.extend(predecessors.get(*state as usize)?);
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
