//! Z3, loaded at run time.
//!
//! Programs that link with Z3 pay for it at each start: the dynamic linker maps a library of more than
//! 20 MB and the C++ library, and binds their symbols. Few conditions need it. So this crate defines the
//! functions of Z3's C interface that are called (module `functions`), each of which passes its arguments
//! on to the library that [`load`] loads. The [`z3`] crate, which is the interface for everybody else,
//! does not notice.
//!
//! Call [`load`] before anything of [`z3`]. Where that failed, making a [`z3::Config`] or anything else
//! that needs a context panics.
//!
//! *Invariant*: the only published crate that uses `unsafe`, and each use says why it is sound; a library that does
//! not have all functions is not used.

mod functions;
mod library;

pub use library::{LIBRARY_VARIABLE, LoadError, failure, load};
pub use z3;
