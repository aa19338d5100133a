//! Stopping a check early.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Stops a check from another thread. Clones stop the same checks; the default never does unless told to.
#[derive(Debug, Clone, Default)]
pub struct Cancellation(Arc<AtomicBool>);

/// A check was cancelled. It has no result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the check was cancelled")]
pub struct Cancelled;

impl Cancellation {
    /// Stops the checks at the next opportunity: between two rules, or before a query of the solver.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether cancellation was requested.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Stops the caller if checks are to stop.
    ///
    /// # Errors
    /// If they are.
    pub fn check(&self) -> Result<(), Cancelled> {
        if self.is_cancelled() { Err(Cancelled) } else { Ok(()) }
    }
}
