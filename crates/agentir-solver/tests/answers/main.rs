//! Queries as lints pose them, with the expected answers.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    missing_docs
)]

mod harness;
mod hostile;
mod queries;
