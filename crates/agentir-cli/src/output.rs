//! What commands print.

use clap::error::ErrorKind;
use std::io::{self, Write};
use std::process::ExitCode;

/// Prints to standard output.
pub fn print(text: &str) -> ExitCode {
    let mut out = io::stdout().lock();
    match delivered(out.write_all(text.as_bytes()).and_then(|()| out.flush())) {
        Ok(()) => ExitCode::SUCCESS,
        Err(code) => code,
    }
}

/// The result of writing to standard output. It is no failure that the reader has gone: it has read what it wanted.
pub fn unless_closed(written: io::Result<()>) -> io::Result<()> {
    match written {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        written => written,
    }
}

/// Reports that standard output could not be written to.
pub fn delivered(written: io::Result<()>) -> Result<(), ExitCode> {
    unless_closed(written).map_err(|error| {
        eprintln!("error: the output cannot be written: {error}");
        ExitCode::from(2)
    })
}

pub fn print_json(value: &impl serde::Serialize) -> ExitCode {
    match serde_json::to_string_pretty(value) {
        Ok(text) => print(&(text + "\n")),
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}

/// Reports arguments that do not fit together, as clap does.
pub fn misuse(message: &str) -> ExitCode {
    let mut usage = clap::Command::new("agentir").override_usage("agentir <COMMAND>");
    let error = usage.error(ErrorKind::MissingRequiredArgument, message);
    // Nobody is left to be told.
    let _ = error.print();
    ExitCode::from(2)
}

/// Says that there is no rule of some name, and which was probably meant.
pub fn no_such(error: &dyn std::fmt::Display, closest: Option<&str>) -> ExitCode {
    eprintln!("error: {error}");
    match closest {
        Some(near) => eprintln!("help: did you mean `{near}`?"),
        None => eprintln!("help: `agentir rules` lists them all"),
    }
    ExitCode::from(2)
}
