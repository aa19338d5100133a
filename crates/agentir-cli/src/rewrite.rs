//! `agentir fmt` and `agentir migrate`: documents written anew in place.

use crate::input::{AblVersion, check_stdin_filename, stdin};
use crate::output::{conceal_credentials, show_diff, unified, unless_closed};
use crate::settings;
use crate::write::replace;
use agentir::{Version, languages};
use agentir_diagnostics::{
    Diagnostic, FileId, Format, Report, SourceFile, SourceMap, Span, one_line, render, sort,
};
use agentir_project::{Document, documents};
use agentir_rewrite::NewFile;
use agentir_rewrite::RewriteError;
use agentir_secrets::mask;
use agentir_syntax::Detected;
use agentir_vfs::{Disk, MAX_FILE_SIZE};
use clap::{Args, ValueEnum};
use rayon::prelude::*;
use std::collections::{HashMap, HashSet};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

/// What to write anew, and what to do with it.
#[derive(Args)]
pub struct Rewrite {
    /// Files and folders, changed in place; `-` reads standard input and writes standard output
    #[arg(required = true)]
    paths: Vec<PathBuf>,
    /// The name of standard input, which also determines its format
    #[arg(long, value_name = "NAME")]
    stdin_filename: Option<PathBuf>,
    /// Only list the files that would change
    #[arg(long)]
    check: bool,
    /// Only show the changes
    #[arg(long)]
    diff: bool,
}

/// What to bring into the canonical layout.
#[derive(Args)]
pub struct Fmt {
    #[command(flatten)]
    rewrite: Rewrite,
}

/// `agentir fmt`.
pub fn fmt(args: &Fmt) -> ExitCode {
    run(&args.rewrite, "formatted", |language, file, text| {
        let text = agentir_rewrite::format(language, file, text)?;
        Ok(New { text, files: Vec::new(), findings: Vec::new() })
    })
}

/// What to bring into another version of ABL.
#[derive(Args)]
pub struct Migrate {
    #[command(flatten)]
    rewrite: Rewrite,
    /// The target version
    #[arg(long, value_enum, value_name = "VERSION")]
    to: To,
    /// The source version [default: detected from each document]
    #[arg(long, value_enum, value_name = "VERSION")]
    from: Option<AblVersion>,
}

#[derive(Clone, Copy, ValueEnum)]
enum To {
    Current,
    Newest,
}

/// `agentir migrate`.
pub fn migrate(args: &Migrate) -> ExitCode {
    let to = match args.to {
        To::Current => Version::Current,
        To::Newest => Version::Newest,
    };
    let from = args.from.map(Version::from);
    run(&args.rewrite, "migrated", |language, file, text| {
        let done = agentir::migrate(language, file, text, from, to)?;
        Ok(New { text: done.text, files: done.files, findings: done.findings })
    })
}

/// Where a document goes to.
enum Target {
    /// Standard output.
    Output,
    /// Where it came from.
    File(PathBuf),
}

/// A document that was written anew.
struct New {
    text: String,
    /// What came out of it.
    files: Vec<NewFile>,
    /// What has to be said about it; places are in the new text.
    findings: Vec<Diagnostic>,
}

type Rewritten = Result<New, RewriteError>;

/// Exit code: nothing to be done, or all of it was done.
const DONE: u8 = 0;
/// Exit code: something is to be done, and was only shown.
const DIFFERS: u8 = 1;
/// Exit code: something could not be done.
const FAILED: u8 = 2;

/// Writes all documents anew. `did` says what was done with those that changed.
fn run(
    args: &Rewrite,
    did: &str,
    rewrite: impl Fn(Detected, FileId, &str) -> Rewritten + Sync,
) -> ExitCode {
    if let Err(code) = check_stdin_filename(&args.paths, args.stdin_filename.as_deref()) {
        return code;
    }
    let disk = Disk::named(args.paths.iter().cloned());
    let configs = agentir_project::configs(Arc::new(disk.clone()));
    let input = if args.paths.iter().any(|path| path.as_os_str() == "-") {
        match stdin(args.stdin_filename.as_deref(), &HashMap::new()) {
            Ok(input) => Some(input),
            Err(code) => return code,
        }
    } else {
        None
    };
    let found = match documents(&args.paths, input.as_ref(), languages(), &configs, &disk) {
        Ok(found) => found,
        Err(error) => {
            tell!("error: {error}");
            return ExitCode::from(FAILED);
        }
    };
    if let Err(code) = settings::sound(&configs.problems()) {
        return code;
    }
    let mut sources = SourceMap::new();
    let mut code = DONE;
    let mut texts: Vec<(Target, FileId)> = Vec::new();
    for (Document { path, text: own_text, .. }, bytes) in found {
        let from_stdin = own_text.is_some();
        // There is nothing to do in exports, which are found beside documents; one that is named is an error.
        let is_named = from_stdin || args.paths.contains(&path);
        if bytes.as_ref().is_ok_and(|bytes| bytes.len() > MAX_FILE_SIZE) {
            let size = MAX_FILE_SIZE >> 20;
            tell!("error: {} cannot be read: it is larger than {size} MB", path.display());
            code = FAILED;
            continue;
        }
        if !is_named && is_export(&path, &bytes) {
            continue;
        }
        let text = bytes
            .map_err(|e| format!("cannot be read: {e}"))
            .and_then(|bytes| String::from_utf8(bytes).map_err(|_| "is not UTF-8 text".to_owned()));
        match text {
            Ok(text) => {
                let name = path.strip_prefix("./").unwrap_or(&path).display().to_string();
                let target = if from_stdin { Target::Output } else { Target::File(path) };
                texts.push((target, sources.add(SourceFile::new(name, text))));
            }
            Err(error) => {
                tell!("error: {} {error}", path.display());
                code = FAILED;
            }
        }
    }
    let rewritten: Vec<Rewritten> = texts
        .par_iter()
        .map(|(_, id)| match sources.get(*id) {
            Some(file) => rewrite_one(*id, file, did, &rewrite),
            None => Err(RewriteError::InvalidStructure(Vec::new())),
        })
        .collect();
    let mut findings = Vec::new();
    // Findings are about the texts as they come to be.
    let mut after = SourceMap::new();
    let (mut changed, mut unchanged) = (0, 0);
    for ((target, id), result) in texts.iter().zip(rewritten) {
        let Some(file) = sources.get(*id) else { continue };
        match result {
            Ok(new) => {
                after.add(SourceFile::new(&*file.name, new.text.as_str()));
                let delivered = deliver(args, target, file, &new);
                findings.extend(new.findings);
                match delivered {
                    Ok(one) => {
                        code = code.max(one);
                        if *file.text == *new.text {
                            unchanged += 1;
                        } else {
                            changed += 1;
                        }
                    }
                    Err(error) => {
                        tell!("error: {error}");
                        code = FAILED;
                    }
                }
            }
            Err(RewriteError::InvalidStructure(found)) => {
                after.add(file.clone());
                findings.extend(found);
                tell!("error: {} was not changed; its errors are listed below", file.name);
                code = FAILED;
            }
            Err(RewriteError::MeaningChanged(what)) => {
                after.add(file.clone());
                tell!(
                    "error: {} was not changed, because {what} would have been altered",
                    file.name
                );
                code = FAILED;
            }
        }
    }
    sort(&mut findings, &after);
    if !findings.is_empty() {
        let labels = findings.iter().flat_map(|found| found.labels.iter().chain([&found.primary]));
        let shown: HashSet<FileId> = labels.map(|label| label.span.file).collect();
        conceal_credentials(&mut after, |id| shown.contains(&id));
        let report = Report { sources: &after, diagnostics: &findings, files_checked: texts.len() };
        // Whoever read our output has gone: nobody is left to be told.
        let _ = render(&report, Format::Text, false, &mut io::stderr().lock());
    }
    let files = |n: usize| if n == 1 { "1 file".to_owned() } else { format!("{n} files") };
    let would = if args.check || args.diff { "would be " } else { "" };
    tell!("{} {would}{did}, {unchanged} unchanged", files(changed));
    ExitCode::from(code)
}

/// Whether a file is an export of a platform or a package of one, which only its editor writes.
fn is_export(path: &Path, bytes: &io::Result<Vec<u8>>) -> bool {
    let Ok(bytes) = bytes else { return false };
    languages().unpack(bytes).is_some()
        || std::str::from_utf8(bytes)
            .is_ok_and(|text| is_only_read(languages().detect(&path.to_string_lossy(), text)))
}

/// Whether a file is of a language that is only read.
fn is_only_read(language: Detected) -> bool {
    language.language.emitters().is_empty()
}

fn rewrite_one(
    id: FileId,
    file: &SourceFile,
    did: &str,
    rewrite: &impl Fn(Detected, FileId, &str) -> Rewritten,
) -> Rewritten {
    let language = languages().detect(&file.name, &file.text);
    let other = match language.kind.notation {
        None => Some(language.kind.title),
        _ if file.name.ends_with(".json") => Some("JSON"),
        _ => None,
    };
    let problem = other.map(|other| {
        let message = format!("{other} cannot be {did}");
        let problem =
            Diagnostic::error(agentir_syntax::rules::SYNTAX, Span::new(id, 0, 0), message);
        match is_only_read(language) {
            true => problem.help("`agentir convert` writes agents in other languages"),
            false => problem,
        }
    });
    match problem.or_else(|| languages().no_agent(id, &file.name, &file.text)) {
        Some(problem) => Err(RewriteError::InvalidStructure(vec![problem])),
        None => rewrite(language, id, &file.text),
    }
}

/// Writes or shows the new text of a file.
fn deliver(args: &Rewrite, target: &Target, file: &SourceFile, new: &New) -> Result<u8, String> {
    let text = new.text.as_str();
    let differs = *file.text != *text;
    let said = |result: io::Result<()>| {
        unless_closed(result).map_err(|e| format!("the output cannot be written: {e}"))
    };
    let mut out = io::stdout().lock();
    let mut beside = Vec::new();
    for file in &new.files {
        match target {
            Target::File(path) => beside.push((profiles_of(path).join(&file.name), &file.text)),
            Target::Output => {
                return Err(format!(
                    "`{}` needs a file of its own, which cannot be written to standard output: name the file",
                    file.name
                ));
            }
        }
    }
    if args.diff || args.check {
        if args.diff {
            let nothing = "/dev/null";
            let show = |old: &str, old_name: &str, new: &str, new_name: &str| {
                unified(old, new, &one_line(old_name), &one_line(new_name))
            };
            let own = [(&*file.name, &*file.text), (&*file.name, text)];
            said(show_diff(&show(&file.text, &file.name, text, &file.name), &own))?;
            for (path, text) in &beside {
                let name = path.display().to_string();
                let all = [own.as_slice(), &[(&name, text)]].concat();
                said(show_diff(&show("", nothing, text, &name), &all))?;
            }
        } else if differs {
            said(writeln!(out, "{}", one_line(&mask(&file.name))))?;
        }
        return Ok(if differs { DIFFERS } else { DONE });
    }
    if let Some((there, _)) = beside.iter().find(|(path, _)| path.exists()) {
        return Err(format!("{} already exists and was not overwritten", there.display()));
    }
    for (path, text) in beside {
        replace(&path, text)?;
    }
    match target {
        Target::Output => said(out.write_all(text.as_bytes()))?,
        Target::File(path) if differs => replace(path, text)?,
        Target::File(_) => {}
    }
    Ok(DONE)
}

/// The folder of the profiles of the program that a file belongs to.
fn profiles_of(file: &Path) -> PathBuf {
    let folder = file.parent().unwrap_or(Path::new(""));
    let part = folder.file_name().and_then(|n| n.to_str());
    let home = if part == Some("agents") { folder.parent().unwrap_or(folder) } else { folder };
    home.join("behavior_profiles")
}
