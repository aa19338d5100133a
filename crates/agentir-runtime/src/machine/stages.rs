//! The progress within nodes ([`ReturnPoint`](crate::session::ReturnPoint)), apart from the small numbers that nodes count
//! by themselves.

/// The stage of a node whose error was handled: the node is left without being executed again.
pub(super) const STAGE_SKIP: u32 = u32::MAX;

/// The stage of a node that was left for the checks before an answer.
pub(super) const STAGE_ANSWERS: u32 = u32::MAX - 1;

/// The stage of a node that was left for the checks before a handoff.
pub(super) const STAGE_HANDOFF: u32 = u32::MAX - 2;

/// A return point at a wait that was interrupted: the step asks again.
pub(super) const STAGE_ASKS: u32 = u32::MAX - 3;

/// A return point at the questions of a failed constraint of every turn, which is not decided before they are answered.
pub(super) const STAGE_RULE: u32 = u32::MAX - 4;

/// A return point at a checkpoint whose call is not made: it continues after the call.
pub(super) const STAGE_REFUSED: u32 = u32::MAX - 5;
