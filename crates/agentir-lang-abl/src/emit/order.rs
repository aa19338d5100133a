//! The order of statements that keys can express.

use agentir_ir::Phase;

/// The position of a body in ABL's execution order: each phase occurs once, except assignments that follow each other. What
/// keeps its place may stand anywhere before the jump.
#[derive(Clone, Copy, Default)]
pub(super) struct PhaseOrder {
    /// The last phase that has an order.
    last: Option<Phase>,
    /// The phases that have been written at their places.
    placed: [Option<Phase>; 4],
    /// Whether the last statement is an assignment.
    sets: bool,
}

impl PhaseOrder {
    /// Whether a statement of this phase may come next.
    pub(super) fn takes(&mut self, here: Option<Phase>) -> bool {
        let Some(here) = here else { return false };
        if here.keeps_its_place() {
            if here == Phase::Set && self.sets {
                return true;
            }
            let is_over = matches!(self.last, Some(Phase::Escalate | Phase::Goto));
            let fits = !is_over && !self.placed.contains(&Some(here));
            if fits && let Some(free) = self.placed.iter_mut().find(|slot| slot.is_none()) {
                *free = Some(here);
            }
            self.sets = fits && here == Phase::Set;
            return fits;
        }
        let fits = self.last.is_none_or(|last| last < here);
        if fits {
            self.last = Some(here);
            self.sets = false;
        }
        fits
    }
}
