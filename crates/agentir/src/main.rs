//! The command line: arguments in, calls, exit code out.

mod commands;
mod compile;
mod load;

use std::process::ExitCode;

fn main() -> ExitCode {
    commands::run()
}
