//! What commands print. Documents were written by others, so what quotes them is printed as it may be shown: without
//! secrets, and without commands to terminals and logs. Programs and AgentIR are printed as they are.

use agentir::languages;
use agentir_diagnostics::{
    Diagnostic, FileId, SourceFile, SourceMap, clean_lines, escape_json, write_json_lines,
};
use agentir_project::FileResult;
use agentir_secrets::{MASK, Masker, is_credential};
use agentir_syntax::ReadOptions;
use clap::error::ErrorKind;
use similar::TextDiff;
use std::borrow::Cow;
use std::env;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::process::ExitCode;

/// A text as it may be shown.
pub fn shown(text: &str, masker: &Masker) -> String {
    clean_lines(&masker.mask(text)).into_owned()
}

/// Prints a line to standard error.
pub fn tell(text: &str) {
    let mut line = shown(text, &Masker::default());
    line.push('\n');
    // Nobody is left to be told.
    let _ = io::stderr().lock().write_all(line.as_bytes());
}

/// Prints to standard output what quotes documents.
pub fn show(text: &str, masker: &Masker) -> ExitCode {
    print(&shown(text, masker))
}

/// The difference of two texts by lines, in the unified format, which is empty if they are equal. Like that of Git, it
/// takes time in proportion to the texts, and need not be the shortest.
pub fn unified(old: &str, new: &str, old_name: &str, new_name: &str) -> String {
    TextDiff::from_lines(old, new).unified_diff().header(old_name, new_name).to_string()
}

/// Prints a diff. Where people read it, in a terminal or the log of a CI system, it is printed as it may be shown;
/// elsewhere it may be applied, and so is printed as it is. `files` are the names and texts of the documents that it is the
/// difference of, or that these came from.
pub fn show_diff(diff: &str, files: &[(&str, &str)]) -> io::Result<()> {
    let mut out = io::stdout().lock();
    if !is_read_by_people() {
        return out.write_all(diff.as_bytes());
    }
    let text = shown(diff, &masker_of(files));
    out.write_all(text.as_bytes())?;
    if text != diff {
        tell(
            "note: secrets and control characters of the changes are not shown, so this diff cannot be applied\n\
             help: a diff that is redirected to a file has them",
        );
    }
    Ok(())
}

/// What masks the secrets of documents, those included that only their place in a document tells to be secrets.
fn masker_of(files: &[(&str, &str)]) -> Masker {
    let mut sources = SourceMap::new();
    for (name, text) in files {
        sources.add(SourceFile::new(*name, *text));
    }
    conceal_credentials(&mut sources, |_| true);
    sources.masker()
}

/// Hides what only its place in a document tells to be a secret, in those documents that are shown.
pub fn conceal_credentials(sources: &mut SourceMap, is_shown: impl Fn(FileId) -> bool) {
    let read = |(id, file): (FileId, &SourceFile)| {
        let options = ReadOptions::default();
        FileResult::new(languages(), id, &file.name, &file.text, true, options).lowered.diagnostics
    };
    let found: Vec<Diagnostic> =
        sources.iter().filter(|(id, _)| is_shown(*id)).flat_map(read).collect();
    let secrets = found.iter().filter(|finding| finding.secret);
    sources.conceal(secrets.map(|finding| finding.primary.span));
}

/// Prints a document that quotes others. It is printed as it is, so that it can be used, but masked where people read
/// it, like [a diff](show_diff).
pub fn show_document(document: &str, masker: &Masker) -> io::Result<()> {
    let mut out = io::stdout().lock();
    if !is_read_by_people() {
        return out.write_all(document.as_bytes());
    }
    let text = shown(document, masker);
    out.write_all(text.as_bytes())?;
    if text != document {
        tell(
            "note: secrets and control characters of the agents are not shown, so what is printed differs from what they do\n\
             help: written to a file, it has them",
        );
    }
    Ok(())
}

/// Variables that CI systems set: most of them the first, and each one of its own.
const CI: [&str; 9] = [
    "CI",
    "GITHUB_ACTIONS",
    "TF_BUILD",
    "GITLAB_CI",
    "JENKINS_URL",
    "BUILDKITE",
    "TEAMCITY_VERSION",
    "CIRCLECI",
    "BITBUCKET_BUILD_NUMBER",
];

/// Whether standard output is a terminal or the log of a CI system.
fn is_read_by_people() -> bool {
    let in_log = || CI.iter().any(|name| env::var_os(name).is_some()) && !is_file(&io::stdout());
    io::stdout().is_terminal() || in_log()
}

/// Whether standard output was redirected to a file.
#[cfg(unix)]
fn is_file(out: &io::Stdout) -> bool {
    use std::os::fd::AsFd;
    let file = out.as_fd().try_clone_to_owned().map(std::fs::File::from);
    file.and_then(|file| file.metadata()).is_ok_and(|metadata| metadata.is_file())
}

/// Whether standard output was redirected to a file.
#[cfg(windows)]
fn is_file(out: &io::Stdout) -> bool {
    use std::os::windows::io::AsHandle;
    let file = out.as_handle().try_clone_to_owned().map(std::fs::File::from);
    file.and_then(|file| file.metadata()).is_ok_and(|metadata| metadata.is_file())
}

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
        tell!("error: the output cannot be written: {error}");
        ExitCode::from(2)
    })
}

/// Prints a value, without secrets.
pub fn show_json(value: &impl serde::Serialize) -> ExitCode {
    match serde_json::to_value(value) {
        Ok(mut value) => {
            mask_value(&mut value, &Masker::default());
            print_json(&value)
        }
        Err(error) => {
            tell!("error: {error}");
            ExitCode::from(2)
        }
    }
}

/// Masks all texts of a value, names of fields included; a field that is called like a secret has one. Values are not
/// nested more deeply than what they were read from may be.
pub fn mask_value(value: &mut serde_json::Value, masker: &Masker) {
    use serde_json::Value;
    match value {
        Value::String(text) => masker.mask_in_place(text),
        Value::Number(number) if !masker.is_empty() => {
            if let Cow::Owned(masked) = masker.mask(&number.to_string()) {
                *value = Value::String(masked);
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| mask_value(item, masker)),
        Value::Object(fields) => {
            for (name, mut value) in std::mem::take(fields) {
                match &mut value {
                    Value::String(text) if is_credential(&name, text) => *text = MASK.to_string(),
                    value => mask_value(value, masker),
                }
                fields.insert(masker.mask(&name).into_owned(), value);
            }
        }
        _ => {}
    }
}

/// Prints a value, all of it, line by line.
pub fn print_json(value: &impl serde::Serialize) -> ExitCode {
    let mut out = BufWriter::new(io::stdout().lock());
    let written = write_json_lines(value, &mut out).and_then(|()| out.flush());
    delivered(written).err().unwrap_or(ExitCode::SUCCESS)
}

/// Prints a program that other programs go on with: all of it, but on a terminal without its secrets.
pub fn show_program(program: &impl serde::Serialize, masker: &Masker) -> ExitCode {
    if !io::stdout().is_terminal() {
        return print_json(program);
    }
    match serde_json::to_string_pretty(program) {
        Ok(text) => {
            let text = escape_json(&text).into_owned() + "\n";
            delivered(show_document(&text, masker)).err().unwrap_or(ExitCode::SUCCESS)
        }
        Err(error) => {
            tell!("error: {error}");
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
    tell!("error: {error}");
    match closest {
        Some(near) => tell!("help: did you mean `{near}`?"),
        None => tell!("help: `agentir rules` lists them all"),
    }
    ExitCode::from(2)
}
