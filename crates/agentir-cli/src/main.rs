//! The command line: arguments in, calls, exit code out.

mod batch;
mod check;
mod commands;
mod compile;
mod converse;
mod convert;
mod export;
mod find;
mod found;
mod graph;
mod load;
mod page;
mod request;
mod rewrite;
mod settings;
mod stamp;
mod trial;
mod walk;
mod write;

use std::process::ExitCode;

/// Trees are many small allocations that are freed all at once; this one is made for that.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    commands::run()
}
