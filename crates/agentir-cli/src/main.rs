//! The command line: arguments in, calls, exit code out.

mod batch;
mod check;
mod commands;
mod compile;
mod convert;
mod graph;
mod input;
mod output;
mod page;
mod rewrite;
mod run;
mod settings;
mod test;
mod write;

use std::process::ExitCode;

/// Trees are many small allocations that are freed all at once; this one is made for that.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let code = commands::run();
    note_missing_z3();
    code
}

/// Says that something was left undecided because Z3 is missing, if that is so.
fn note_missing_z3() {
    if let Some(error) = agentir_z3::failure() {
        eprintln!("note: some conditions are undecided because Z3 is not available: {error}");
        eprintln!(
            "help: install Z3's library (on Debian: libz3-4), or set {} to its path",
            agentir_z3::LIBRARY_VARIABLE
        );
    }
}
