//! Shared helpers of the whole-program tests: samples, in-memory programs, expected findings, word
//! coverage. The tests are in `tests/tests/all/`, one module per topic.
//!
//! *Invariant*: nothing here depends on a rule or a construct of a language, except `mutants`.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "test helpers panic on unexpected input"
)]

pub mod check;
pub mod conversions;
pub mod documents;
pub mod expect;
pub mod fuzz;
pub mod mutants;
pub mod mutate;
pub mod orchestration;
pub mod pages;
pub mod pairs;
pub mod samples;
pub mod schemas;
pub mod talk;
pub mod words;
