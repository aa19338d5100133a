//! Made-up projects of any size, and how fast each phase reads them.
//!
//! *Invariant*: the same seed gives the same projects, on every machine; nothing here writes a file.

pub mod generate;
pub mod measure;
