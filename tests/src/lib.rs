//! What the whole-program tests share: samples and where they are, programs from texts, expected
//! findings, words. The tests themselves are in `tests/tests/all/`, one module a topic.
//!
//! *Invariant*: nothing here knows a rule or a construct of a language, except what plants defects; a test
//! that needs to says so itself.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "helpers of tests: whatever is not as expected ends the test"
)]

pub mod check;
pub mod conversions;
pub mod expect;
pub mod fuzz;
pub mod mutate;
pub mod orchestration;
pub mod pages;
pub mod plant;
pub mod samples;
pub mod schemas;
pub mod words;
