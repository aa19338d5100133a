//! Where the library is, and what may be wrong with it.

use crate::functions::Functions;
use libloading::Library;
use std::env;
use std::env::consts::OS;
use std::error::Error;
use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// The environment variable with the path of Z3's library. If it is set, no other library is tried.
pub const LIBRARY_VARIABLE: &str = "AGENTIR_Z3_LIBRARY";

/// The library, loaded at most once and never unloaded; or why it could not be.
static LOADED: OnceLock<Result<Loaded, LoadError>> = OnceLock::new();

struct Loaded {
    functions: Functions,
    path: PathBuf,
    /// The functions are in it.
    _library: Library,
}

/// Why Z3 cannot be used.
#[derive(Debug)]
#[non_exhaustive]
pub enum LoadError {
    /// There is no library that can be loaded.
    NotFound {
        /// The paths and names that were tried.
        tried: Vec<PathBuf>,
        /// What the system says about the first of them.
        reason: String,
    },
    /// A library was loaded, but it is not Z3's, or not of a version that has all functions.
    MissingFunction {
        /// The library.
        library: PathBuf,
        /// The first function that it lacks.
        function: &'static str,
    },
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotFound { tried, reason } => {
                let tried: Vec<String> = tried.iter().map(|p| p.display().to_string()).collect();
                write!(f, "cannot load {}: {reason}", tried.join(" or "))
            }
            Self::MissingFunction { library, function } => {
                write!(f, "{} lacks the function {function}", library.display())
            }
        }
    }
}

impl Error for LoadError {}

/// Loads Z3's library, if that was not tried before, and returns the path or name by which it was found.
///
/// The library is the one that the environment variable [`LIBRARY_VARIABLE`] names. Where that is not
/// set, it is looked for in the folder `../lib` beside the folder of the running program, then where the
/// system looks for libraries.
///
/// # Errors
/// When no library is found, or one that lacks a function. The answer stays the same until the process
/// ends.
pub fn load() -> Result<&'static Path, &'static LoadError> {
    let loaded = LOADED.get_or_init(|| {
        let named = env::var_os(LIBRARY_VARIABLE);
        let program = env::current_exe().and_then(|path| path.canonicalize()).ok();
        first(candidates(named, program.as_deref()))
    });
    loaded.as_ref().map(|loaded| &*loaded.path)
}

/// Why [`load`] failed; nothing if it did not, or was not called.
pub fn failure() -> Option<&'static LoadError> {
    LOADED.get()?.as_ref().err()
}

/// The functions of the library; nothing before [`load`] has loaded it.
pub(crate) fn functions() -> Option<&'static Functions> {
    Some(&LOADED.get()?.as_ref().ok()?.functions)
}

/// What Z3's library is called where it is installed to be used, then where it is installed to build with.
fn names() -> &'static [&'static str] {
    match OS {
        "macos" | "ios" => &["libz3.dylib"],
        "windows" => &["libz3.dll"],
        _ => &["libz3.so.4", "libz3.so"],
    }
}

/// The paths and names to try, in order.
fn candidates(named: Option<OsString>, program: Option<&Path>) -> Vec<PathBuf> {
    if let Some(path) = named.filter(|path| !path.is_empty()) {
        return vec![path.into()];
    }
    let beside = program.and_then(|path| Some(path.parent()?.parent()?.join("lib")));
    let beside = beside.iter().flat_map(|folder| names().iter().map(|name| folder.join(name)));
    beside.filter(|path| path.exists()).chain(names().iter().map(PathBuf::from)).collect()
}

/// The first library that can be loaded.
fn first(candidates: Vec<PathBuf>) -> Result<Loaded, LoadError> {
    let mut reason = None;
    for path in &candidates {
        match open(path) {
            Ok(library) => return Loaded::new(library, path),
            Err(error) => {
                reason.get_or_insert_with(|| match error.source() {
                    Some(source) => source.to_string(),
                    None => error.to_string(),
                });
            }
        }
    }
    Err(LoadError::NotFound { tried: candidates, reason: reason.unwrap_or_default() })
}

impl Loaded {
    fn new(library: Library, path: &Path) -> Result<Self, LoadError> {
        let missing = |function| LoadError::MissingFunction { library: path.to_owned(), function };
        // SAFETY: `LOADED`, where this value goes, is never dropped, so the library stays loaded.
        #[allow(unsafe_code, reason = "functions are taken out of a library")]
        let functions = unsafe { Functions::of(&library) }.map_err(missing)?;
        Ok(Self { functions, path: path.to_owned(), _library: library })
    }
}

fn open(path: &Path) -> Result<Library, libloading::Error> {
    // SAFETY: Loading a library runs its initializers. Those of Z3 and of the C++ library, which it needs,
    // expect nothing from the program; a library of somebody else is only loaded where the user says so
    // or has put it in Z3's place.
    #[allow(unsafe_code, reason = "a library is loaded at run time")]
    unsafe {
        Library::new(path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_named_library_is_the_only_one_tried() {
        let program = Path::new("/opt/agentir/bin/agentir");
        let named = candidates(Some("/opt/z3.so".into()), Some(program));
        assert_eq!(named, [Path::new("/opt/z3.so")]);
        // An empty name would be the program itself.
        assert_eq!(candidates(Some("".into()), None), candidates(None, None));
    }

    #[test]
    fn the_library_beside_the_program_comes_first() {
        let folder = env::temp_dir().join(format!("agentir-z3-{}", std::process::id()));
        let library = folder.join("lib").join(names().first().copied().unwrap_or_default());
        let made =
            std::fs::create_dir_all(folder.join("lib")).and_then(|()| std::fs::write(&library, ""));
        let found = candidates(None, Some(&folder.join("bin").join("agentir")));
        let removed = std::fs::remove_dir_all(&folder);
        assert!(made.is_ok() && removed.is_ok());
        assert_eq!(found.first(), Some(&library));
        assert_eq!(found.get(1..), Some(&*candidates(None, None)));
    }

    #[test]
    fn a_library_that_is_missing_or_lacks_functions_is_an_error() {
        let missing = first(vec!["/nonexistent/libz3.so".into()]);
        let message = missing.err().map(|error| error.to_string()).unwrap_or_default();
        assert!(message.starts_with("cannot load /nonexistent/libz3.so: "), "{message}");
        if OS == "linux" {
            let other = first(vec!["libc.so.6".into()]).err().map(|error| error.to_string());
            assert_eq!(other.as_deref(), Some("libc.so.6 lacks the function Z3_ast_to_string"));
        }
    }
}
