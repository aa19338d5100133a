//! The command line: arguments in, calls, exit code out.

/// Prints a line to standard error, as it may be shown: it may quote names and texts of documents.
macro_rules! tell {
    ($($argument:tt)*) => { $crate::output::tell(&format!($($argument)*)) };
}

mod batch;
mod check;
mod commands;
mod convert;
mod graph;
#[cfg(feature = "pictures")]
mod graph_watch;
mod input;
mod output;
mod page;
mod rewrite;
#[cfg(feature = "runtime")]
mod run;
#[cfg(feature = "runtime")]
mod session;
mod settings;
#[cfg(feature = "runtime")]
mod test;
mod write;

use std::process::ExitCode;

/// Trees are many small allocations that are freed all at once; this one is made for that.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// How to get everything.
#[cfg(not(all(feature = "runtime", feature = "pictures")))]
const INSTALL_FULL: &str =
    "`cargo install --path crates/agentir-cli --features full` installs all of it";

fn main() -> ExitCode {
    // A file that must not become larger is an error of its writer, not the end of the program. Programs that are
    // started have the signal as it was, unlike with `SIG_IGN`.
    #[cfg(unix)]
    let _ = signal_hook::flag::register(signal_hook::consts::SIGXFSZ, std::sync::Arc::default());
    let code = commands::run();
    note_missing_z3();
    code
}

/// Says that something was left undecided because Z3 is missing, if that is so.
fn note_missing_z3() {
    let Some(error) = agentir::z3_failure() else { return };
    tell!("note: some conditions are undecided because Z3 is not available: {error}");
    #[cfg(feature = "z3")]
    tell!(
        "help: install Z3's library (on Debian: libz3-4), or set {} to its path",
        agentir_z3::LIBRARY_VARIABLE
    );
    #[cfg(not(feature = "z3"))]
    tell!("help: build agentir with the feature `z3`, which is on by default");
}
