//! How fast each phase is.

/// What to measure.
#[derive(Debug, Clone, Copy, Default)]
pub struct Options {}

/// Measures, and writes a table.
#[must_use]
pub fn table(_: &Options) -> String {
    String::new()
}
