//! From files to programs to findings: the one pipeline that everything uses.
//!
//! ```text
//! paths ──discover──► documents ──read──► texts ──parse, lower──► FileResult   (once per content)
//!                        │                                           │
//!                        └── which program each belongs to ──────────┴──assemble──► LoadedProgram
//!                                                                                       │
//!                                  findings ◄──levels, suppressions──── rules ◄─────────┘
//! ```
//!
//! The command line, the library `agentir`, the converter (which reads back what it wrote), migrations and tests
//! all go through here.
//!
//! *Invariant*: files are only read through a [`FileSystem`]; nothing is written or printed.

mod archive;
mod assemble;
mod cache;
mod check;
mod discover;
mod document;
mod file;
mod levels;
mod load;
mod request;
mod walk;

pub use assemble::{LoadedProgram, Member, assemble};
pub use cache::FileCache;
pub use check::{CheckOptions, check_loaded, check_programs};
pub use discover::discover;
pub use document::{Document, MANIFEST};
pub use file::{FileResult, READ_ERROR};
pub use levels::{Levels, config_names, configs, rule_options, selection};
pub use load::{
    Contents, Loaded, ProgramFiles, ReadDocument, build, build_with, documents, load, read_program,
};
pub use request::{LoadError, Request, TextInput, read_options};
