//! The pages of all rules, as text.
//!
//! A page says what its rule reports and why, with examples that fail and pass. `agentir explain` prints
//! it, reports in SARIF contain it, and the tests run its examples.
//!
//! *Invariant*: contains the pages and nothing else; which rules there are is decided by the registry in
//! `agentir-lint`.

include!(concat!(env!("OUT_DIR"), "/pages.rs"));
