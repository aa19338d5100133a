//! The files `agentir.toml`, as the command line chooses and reports them.

use agentir::{ConfigProblems, Configs};
use agentir_diagnostics::{Format, Report, render};
use agentir_project::config_names;
use agentir_vfs::FileSystem;
use std::io;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

/// What the command line says of configurations.
pub fn chosen(
    file: Option<&Path>,
    none: bool,
    files: Arc<dyn FileSystem>,
) -> Result<Configs, ExitCode> {
    match file {
        _ if none => Ok(Configs::none(config_names())),
        None => Ok(agentir_project::configs(files)),
        Some(file) => Configs::fixed(files, file, config_names()).map_err(|error| {
            tell!("error: {} cannot be read: {error}", file.display());
            ExitCode::from(2)
        }),
    }
}

/// Reports what is wrong with configurations, which is an error.
pub fn sound(problems: &ConfigProblems) -> Result<(), ExitCode> {
    if problems.diagnostics.is_empty() {
        return Ok(());
    }
    let report = Report {
        sources: &problems.sources,
        diagnostics: &problems.diagnostics,
        files_checked: problems.sources.len(),
    };
    // Whoever read our output has gone: nobody is left to be told.
    let _ = render(&report, Format::Text, false, &mut io::stderr().lock());
    Err(ExitCode::from(2))
}
