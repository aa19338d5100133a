//! The pipeline from paths or texts to findings: discovery, parsing, assembly, rules, suppressions,
//! levels.
//!
//! ```text
//! paths ──discover──► documents ──read──► texts ──parse, lower──► FileResult   (once per content)
//!                        │                                           │
//!                        └── which program each belongs to ──────────┴──assemble──► LoadedProgram
//!                                                                                       │
//!                                  findings ◄──levels, suppressions──── rules ◄─────────┘
//! ```
//!
//! The command line, the library `agentir`, the converter (which reads its output back) and the
//! tests use it; migrations use its parsing and assembly.
//!
//! A file is parsed and lowered once per content ([`FileResult`]); programs share the results
//! (`Arc`). A [`FileCache`] keeps them from edit to edit, and the rules of a changed program run
//! again as a whole. There is no incremental engine: programs are small.
//!
//! All files below a `project.json` are one program, otherwise the files of one folder, with its
//! subfolders `agents`, `tools` and `behavior_profiles`; the rows of tables and the questions of knowledge bases beside them
//! (`tables/*.csv`, `knowledge/*.csv`) belong to what names them. Undefined names are reported only where
//! the program is complete, which single files are not.
//!
//! *Invariant*: files are only read through a [`FileSystem`](agentir_vfs::FileSystem); nothing is written or printed.

mod assemble;
mod cache;
mod check;
mod comments;
mod data;
mod discover;
mod document;
mod file;
mod internal_error;
mod levels;
mod load;
mod references;
mod request;
mod units;
mod walk;

pub use assemble::{LoadedProgram, Member, ProjectManifest, assemble};
pub use cache::FileCache;
pub use check::{CheckOptions, check_loaded, check_programs, max_steps};
pub use discover::discover;
pub use document::{Document, MANIFEST};
pub use file::{FileResult, READ_ERROR};
pub use internal_error::{INTERNAL_ERROR, InternalError, guarded};
pub use levels::{Levels, config_names, configs, rule_options, selection};
pub use load::{
    Contents, Loaded, ProgramFiles, ReadDocument, build, build_with, documents, load, read_program,
};
pub use request::{LoadError, Request, TextInput, read_options};
pub use units::{Unit, check_units, keep, units};
