//! A sign of life while a model or a tool works.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

/// Between two pictures.
const TICK: Duration = Duration::from_millis(120);

/// A line on standard error that shows what is going on. Clones are the same.
#[derive(Clone)]
pub struct Spinner {
    enabled: bool,
    bar: Rc<RefCell<Option<ProgressBar>>>,
}

impl Spinner {
    /// A line that is shown only where somebody waits.
    pub fn new(enabled: bool) -> Self {
        Self { enabled, bar: Rc::default() }
    }

    /// Shows what is going on, for which `text` has no control characters.
    pub fn show(&self, text: &str) {
        if !self.enabled {
            return;
        }
        let mut shown = self.bar.borrow_mut();
        if let Some(bar) = shown.as_ref() {
            // What is set is drawn at once, and this is called at every event.
            if bar.message() != text {
                bar.set_message(text.to_owned());
            }
            return;
        }
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
        if let Ok(style) = ProgressStyle::with_template("{spinner} {msg} ({elapsed})") {
            bar.set_style(style);
        }
        let bar = bar.with_message(text.to_owned());
        bar.enable_steady_tick(TICK);
        *shown = Some(bar);
    }

    /// Removes the line, so that something else can be printed.
    pub fn clear(&self) {
        if let Some(bar) = self.bar.borrow_mut().take() {
            bar.finish_and_clear();
        }
    }
}
