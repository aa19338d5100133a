//! Questions as lints ask them, with the answers people would give.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    missing_docs
)]

mod asking;
mod hostile;
mod questions;
