//! Made-up programs of each language and of any size, and how fast each phase reads them.
//!
//! *Invariant*: the same seed gives the same programs, on every machine; nothing here writes a file.

mod convert;
mod external;
pub mod generate;
pub mod measure;
mod proofs;
