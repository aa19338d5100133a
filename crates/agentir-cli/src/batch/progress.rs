//! How far the work is, for who watches a terminal.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::cell::Cell;
use std::time::{Duration, Instant};

/// How long work takes at least before it is worth a bar.
const PATIENCE: Duration = Duration::from_millis(500);

/// A bar on standard error; nothing where that is not a terminal, or the work is soon done.
pub struct Progress {
    bar: ProgressBar,
    begun: Instant,
    shown: Cell<bool>,
}

impl Progress {
    /// A bar for as many programs.
    pub fn new(programs: usize) -> Self {
        let bar =
            ProgressBar::with_draw_target(Some(programs as u64), ProgressDrawTarget::hidden());
        let style = ProgressStyle::with_template("{wide_bar} {pos}/{len} programs, {eta} left");
        if let Ok(style) = style {
            bar.set_style(style);
        }
        Self { bar, begun: Instant::now(), shown: Cell::new(false) }
    }

    /// One more is done.
    pub fn step(&self) {
        if !self.shown.get() && self.begun.elapsed() > PATIENCE {
            self.shown.set(true);
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
        }
        self.bar.inc(1);
    }

    /// Prints something where the bar is.
    pub fn hidden<R>(&self, print: impl FnOnce() -> R) -> R {
        if self.shown.get() { self.bar.suspend(print) } else { print() }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
