//! `agentir session`: the conversations in a database.

use crate::output::{mask_value, shown};
use crate::write::{check_input, check_output, replace_private};
use agentir_diagnostics::escape_json;
use agentir_runtime::{Role, Session};
use agentir_secrets::Masker;
use agentir_store::{SessionInfo, Sqlite, Store};
use clap::{Args, Subcommand};
use serde_json::{Value as Json, json};
use std::fmt::Write as _;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

#[derive(Subcommand)]
pub enum SessionCommand {
    /// List conversations, the most recent first
    List {
        #[command(flatten)]
        store: Database,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Print what was said, and the state
    Show {
        /// The conversation
        id: String,
        #[command(flatten)]
        store: Database,
    },
    /// Print a conversation with its state as JSON
    Export {
        /// The conversation
        id: String,
        #[command(flatten)]
        store: Database,
        /// Write it to a file that only you may read, instead of standard output
        #[arg(long, short, value_name = "FILE")]
        output: Option<PathBuf>,
    },
    /// Delete conversations
    Delete {
        /// The conversations
        #[arg(required = true)]
        ids: Vec<String>,
        #[command(flatten)]
        store: Database,
    },
    /// Copy a conversation; both can then be continued
    Fork {
        /// The conversation
        id: String,
        /// The id of the copy
        copy: String,
        #[command(flatten)]
        store: Database,
    },
}

#[derive(Args)]
pub struct Database {
    /// The database for conversations
    #[arg(long, value_name = "FILE", default_value = "agentir.sqlite")]
    store: PathBuf,
}

impl Database {
    /// Opens what is there, to change it.
    fn open(&self) -> Result<Sqlite, String> {
        self.check()?;
        check_output(&self.store)?;
        Sqlite::open(&self.store).map_err(|e| e.to_string())
    }

    /// Opens what is there, to read it. An older schema is replaced, so that it may be written to all the same.
    fn open_to_read(&self) -> Result<Sqlite, String> {
        self.check()?;
        check_output(&self.store)?;
        Sqlite::open_to_read(&self.store).map_err(|e| e.to_string())
    }

    /// A command about conversations makes no database.
    fn check(&self) -> Result<(), String> {
        if !self.store.exists() {
            return Err(format!(
                "there is no database {}\nhelp: `agentir run --session ID` makes one; `--store FILE` names another",
                self.store.display()
            ));
        }
        Ok(())
    }
}

/// Runs the command; see its exit codes.
pub fn run(command: &SessionCommand) -> ExitCode {
    let done = match command {
        SessionCommand::List { store, json } => list(store, *json),
        SessionCommand::Show { id, store } => show(id, store),
        SessionCommand::Export { id, store, output } => export(id, store, output.as_deref()),
        SessionCommand::Delete { ids, store } => delete(ids, store),
        SessionCommand::Fork { id, copy, store } => fork(id, copy, store),
    };
    match done {
        Ok(code) => code,
        Err(error) => {
            tell!("error: {error}");
            ExitCode::from(2)
        }
    }
}

fn print(text: &str) -> Result<ExitCode, String> {
    print_masked(text, &Masker::default())
}

/// What masks the secrets that a conversation contains.
fn masker(session: &Session) -> Masker {
    Masker::default().with_values(session.secrets())
}

fn print_masked(text: &str, masker: &Masker) -> Result<ExitCode, String> {
    let text = shown(text, masker);
    crate::output::unless_closed(io::stdout().lock().write_all(text.as_bytes()))
        .map_err(|e| format!("the output cannot be written: {e}"))?;
    Ok(ExitCode::SUCCESS)
}

/// The agents of the program that a conversation was begun with.
fn agents(info: &SessionInfo) -> String {
    // Names and hashes of their sources take turns.
    info.program.lines().step_by(2).collect::<Vec<_>>().join(", ")
}

/// A time in milliseconds since 1970, here.
fn local_time(milliseconds: i64) -> String {
    let time = jiff::Timestamp::from_millisecond(milliseconds);
    let zoned = time.map(|time| time.to_zoned(jiff::tz::TimeZone::system()));
    zoned.map_or_else(|_| "?".to_owned(), |time| time.strftime("%Y-%m-%d %H:%M").to_string())
}

fn list(store: &Database, as_json: bool) -> Result<ExitCode, String> {
    let all = store.open_to_read()?.list().map_err(|e| e.to_string())?;
    if as_json {
        let all: Vec<Json> = all
            .iter()
            .map(|info| {
                json!({
                    "id": info.id, "status": info.status, "turn": info.turn,
                    "created": info.created, "updated": info.updated, "agents": agents(info),
                })
            })
            .collect();
        return Ok(crate::output::show_json(&all));
    }
    if all.is_empty() {
        tell!("note: there are no conversations in {}", store.store.display());
        return Ok(ExitCode::SUCCESS);
    }
    let width = all.iter().map(|info| info.id.chars().count()).max().unwrap_or(0).max(2);
    let mut text =
        format!("{:<width$}  {:<6}  {:>5}  {:<16}  agents\n", "id", "status", "turns", "last turn");
    for info in &all {
        let _ = writeln!(
            text,
            "{:<width$}  {:<6}  {:>5}  {:<16}  {}",
            info.id,
            info.status,
            info.turn,
            local_time(info.updated),
            agents(info)
        );
    }
    print(&text)
}

/// Reads a conversation that there is.
fn load(store: &mut Sqlite, id: &str) -> Result<Session, String> {
    let found = store.load(id).map_err(|e| e.to_string())?;
    found.ok_or_else(|| {
        format!(
            "there is no session `{id}`\nhelp: `agentir session list` shows those that there are"
        )
    })
}

/// What was said, in lines.
pub fn transcript(session: &Session) -> String {
    let mut text = String::new();
    for message in session.shown().transcript {
        let mark = if message.role == Role::User { "> " } else { "" };
        let _ = writeln!(text, "{mark}{}", message.text);
    }
    text
}

/// A conversation as JSON, without what only the runtime can read.
pub fn exported(id: &str, session: &Session) -> String {
    let shown = session.shown();
    let mut value = json!({
        "id": id,
        "status": session.status.name(),
        "turn": session.turn,
        "agent": session.agent(),
        "transcript": shown.transcript.iter().map(|message| {
            json!({ "role": message.role, "text": message.text })
        }).collect::<Vec<_>>(),
        "variables": shown.variables,
        "memory": shown.memory,
        "model_calls": session.model_calls,
        "usage": session.usage,
    });
    mask_value(&mut value, &masker(session));
    let text = serde_json::to_string_pretty(&value).unwrap_or_default();
    format!("{}\n", escape_json(&text))
}

fn show(id: &str, store: &Database) -> Result<ExitCode, String> {
    let session = load(&mut store.open_to_read()?, id)?;
    let mut text = transcript(&session);
    let _ = write!(
        text,
        "\nstatus: {}    turns: {}    agent: {}\n",
        session.status.name(),
        session.turn,
        session.agent().unwrap_or("none")
    );
    let shown = session.shown();
    for (name, value) in shown.variables.iter().chain(&shown.memory) {
        if !value.is_null() {
            let _ = writeln!(text, "  {name} = {value}");
        }
    }
    print_masked(&text, &masker(&session))
}

fn export(id: &str, store: &Database, output: Option<&Path>) -> Result<ExitCode, String> {
    let session = load(&mut store.open_to_read()?, id)?;
    let text = exported(id, &session);
    match output {
        None => print(&text),
        Some(path) => {
            check_input(path, [store.store.as_path()])?;
            replace_private(path, &text)?;
            Ok(ExitCode::SUCCESS)
        }
    }
}

fn delete(ids: &[String], store: &Database) -> Result<ExitCode, String> {
    let mut store = store.open()?;
    let mut missing = false;
    for id in ids {
        if !store.delete(id).map_err(|e| e.to_string())? {
            tell!("error: there is no session `{id}`");
            missing = true;
        }
    }
    Ok(if missing { ExitCode::from(2) } else { ExitCode::SUCCESS })
}

fn fork(id: &str, copy: &str, store: &Database) -> Result<ExitCode, String> {
    let mut store = store.open()?;
    if store.load(copy).map_err(|e| e.to_string())?.is_some() {
        return Err(format!(
            "there is a session `{copy}` already: use another id, or delete it first"
        ));
    }
    let mut session = load(&mut store, id)?;
    // A call that one of them makes is none of the other.
    session.id = new_id();
    store.save(copy, &session, &[]).map_err(|e| e.to_string())?;
    Ok(ExitCode::SUCCESS)
}

/// An id that no other conversation has.
pub fn new_id() -> String {
    let random = || RandomState::new().build_hasher().finish();
    format!("{:016x}{:016x}", random(), random())
}
