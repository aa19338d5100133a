//! `agentir run`: a conversation with agents in the terminal.

mod console;
mod desk;
mod keeper;
mod lines;
mod pipe;
mod quiet;
mod screen;
mod setup;
mod spinner;
mod style;
mod terminal;
mod trace;

pub use setup::program;

use crate::convert::has_errors;
use crate::input::{Input as Paths, load_input, read_files};
use crate::write::check_input;
use agentir::{Diagnostic, Severity, Snapshot};
use agentir_ir::Program;
use agentir_ir_json::is_agent_ir;
use agentir_model::Offline;
use agentir_runtime::{
    Attachment, Cancellation, Clock, Host, Input, Machine, Model, OrchestrationMethod, Session,
    StartError, Status, Turn,
};
use agentir_secrets::Issued;
use agentir_tools::Toolbox;
use clap::Args;
use desk::Desk;
use keeper::Keeper;
use screen::Screen;
use setup::{ModelOf, ToolsOf};
use spinner::Spinner;
use std::fs;
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use trace::TraceFile;

/// The command by which the program supervises processes of tools; see [`Supervisor`].
pub const SUPERVISE: &str = "supervise";

#[derive(Args)]
pub struct Run {
    #[command(flatten)]
    input: Paths,
    /// The entry agent, if it is not clear
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,
    /// How the agents of an ensemble or a supervisor share the conversation: merging, first-success,
    /// best-of-n, proactive or autonomous [default: the rules of their language]
    #[arg(long, value_name = "METHOD")]
    orchestration: Option<OrchestrationMethod>,
    #[command(flatten)]
    model: ModelOf,
    #[command(flatten)]
    tools: ToolsOf,
    /// Store the conversation under this id, and continue it if it exists
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// The database for conversations
    #[arg(long, value_name = "FILE", default_value = "agentir.sqlite", requires = "session")]
    store: PathBuf,
    /// The user whose persistent memory is used
    #[arg(long, value_name = "ID")]
    user: Option<String>,
    /// The user's channel
    #[arg(long, value_name = "NAME", default_value = "web")]
    channel: String,
    /// Show each step on standard error
    #[arg(long)]
    trace: bool,
    /// Write each step to a file as JSON lines; `agentir schema trace` describes them
    #[arg(long, value_name = "FILE")]
    trace_file: Option<PathBuf>,
    /// Act as the human agent in this terminal
    #[arg(long)]
    human: bool,
}

/// Runs the command; see its exit codes.
pub fn run(args: &Run) -> ExitCode {
    match talk(args) {
        Ok(code) => code,
        Err(error) => {
            tell!("error: {error}");
            ExitCode::from(2)
        }
    }
}

fn talk(args: &Run) -> Result<ExitCode, String> {
    let snapshot = match load_input(&args.input) {
        Ok(snapshot) => snapshot,
        Err(code) => return Ok(code),
    };
    let sources = snapshot.sources();
    let errors = snapshot.read_findings().iter().filter(|d| d.severity == Severity::Error);
    let mut files = errors.filter_map(|d| sources.get(d.primary.span.file)).peekable();
    // An author may talk to an agent that is not finished: what is broken fails when it is reached. A document is made by
    // a program, and what is wrong in it is left out.
    let has_any = files.peek().is_some();
    if files.any(|file| is_agent_ir(&file.name, &file.text)) {
        has_errors(&snapshot);
        return Err("these agents have errors, so no conversation was started".to_owned());
    }
    // What rules find is no reason not to talk either, but some of it makes agents refuse or do the wrong thing.
    let is_error = |d: &Diagnostic| d.severity == Severity::Error;
    if has_any || snapshot.check().is_ok_and(|all| all.iter().any(is_error)) {
        tell!("warning: these agents have errors; run `agentir check` to see them");
    }
    let program = program(&snapshot)?;
    let mut talk = Talk::new(args, program, &snapshot)?;
    if talk.interactive { console::run(&mut talk, args) } else { pipe::run(&mut talk) }
}

/// A conversation.
struct Talk<'p> {
    machine: Machine<'p>,
    session: Session,
    model: Box<dyn Model>,
    extractor: Offline,
    tools: Toolbox,
    desk: Desk,
    keeper: Keeper,
    screen: Screen<'p>,
    cancellation: Cancellation,
    /// The values of the environment that tools may read, and the key of the model's service.
    secrets: Vec<String>,
    /// The tokens that services gave.
    issued: Issued,
    /// Whether a person types in a terminal.
    interactive: bool,
}

/// What became of a turn.
enum Outcome {
    Over(Turn),
    /// The session is as it was before.
    Cancelled,
}

impl<'p> Talk<'p> {
    fn new(args: &Run, program: &'p Program, snapshot: &'p Snapshot) -> Result<Self, String> {
        let sources = snapshot.sources();
        let machine = Machine::new(program);
        let cancellation = Cancellation::default();
        let model = setup::model(&args.model, program, &cancellation)?;
        let issued = Issued::default();
        let (tools, mut secrets) =
            setup::tools(&args.tools, program, sources, &cancellation, &issued)?;
        secrets.extend(setup::model_key(&args.model));
        let mut keeper = Keeper::new(args, program)?;
        let mut session = keeper.session(&machine, args)?;
        if args.orchestration.is_some() {
            session.set_orchestration(args.orchestration);
        }
        let interactive = io::stdin().is_terminal() && io::stdout().is_terminal();
        let spinner = Spinner::new(interactive && io::stderr().is_terminal());
        // A service may answer with what it was sent, in this run or, in a session that goes on, in an earlier one.
        let values = secrets.iter().map(String::as_str).chain(session.secrets());
        let masker = sources.masker().with_values(values).with_issued(issued.clone());
        let mut screen = Screen::new(
            sources,
            masker.clone(),
            interactive,
            spinner.clone(),
            cancellation.clone(),
        );
        screen.trace = args.trace;
        if args.session.is_some() && !interactive {
            screen.hold();
        }
        if let Some(path) = &args.trace_file {
            let tools = [&args.tools.stubs, &args.tools.mcp, &args.model.answers];
            let store = args.session.as_ref().map(|_| &args.store);
            let others = tools.into_iter().flatten().chain(store).cloned();
            let read: Vec<PathBuf> = read_files(snapshot).into_iter().chain(others).collect();
            check_input(path, read.iter().map(PathBuf::as_path))?;
            screen.trace_file(TraceFile::create(path)?);
        }
        let desk = Desk {
            attended: args.human && io::stdin().is_terminal(),
            masker,
            style: screen.style(),
            spinner,
        };
        Ok(Self {
            machine,
            session,
            model,
            extractor: Offline::with_clock(jiff::Zoned::now),
            tools,
            desk,
            keeper,
            screen,
            cancellation,
            secrets,
            issued,
            interactive,
        })
    }

    /// Takes a turn, shows it and keeps it.
    fn turn(&mut self, input: Option<&Input>) -> Result<Outcome, String> {
        if let Some((id, _)) = input.and_then(|input| input.action.as_ref())
            && !self.screen.offers(id)
        {
            if self.session.has_offered(id) {
                tell!(
                    "note: `{id}` was shown earlier, and not with the last answer; it counts only where the conversation still waits for it"
                );
            } else {
                tell!(
                    "note: no button or menu `{id}` was shown; it is for its handler alone, and answers nothing"
                );
            }
        }
        self.keeper.refresh(&mut self.session)?;
        // Only a turn that can be cancelled needs the state before it.
        let before = self.interactive.then(|| self.session.clone());
        self.screen.begin();
        let mut host = Host {
            model: &mut *self.model,
            extractor: &self.extractor,
            tools: &mut self.tools,
            human: &mut self.desk,
            clock: &Now(&self.cancellation),
            observer: &mut self.screen,
        };
        let turn = self.machine.turn(&mut self.session, input, &mut host);
        if let (Err(StartError::Cancelled), Some(before)) = (&turn, before) {
            self.session = before;
            self.screen.cancel();
            self.screen.end(None)?;
            return Ok(Outcome::Cancelled);
        }
        let turn = turn.map_err(|e| e.to_string())?;
        let issued = self.issued.values();
        self.session.note_secrets(self.secrets.iter().chain(&issued).map(String::as_str));
        let saved = self.keeper.save(&self.session);
        if saved.is_err() {
            self.screen.drop_held();
        }
        self.screen.end(turn.error.as_deref())?;
        saved?;
        // The conversation may go on although the turn failed.
        let failed = (turn.status == Status::Failed).then_some("the conversation failed");
        if let Some(error) = turn.error.as_deref().or(failed) {
            tell!("error: {}", self.screen.masker().mask(error));
        }
        Ok(Outcome::Over(turn))
    }
}

/// `!id value` presses a button, everything else is said.
fn said(line: &str) -> Input {
    match line.strip_prefix('!') {
        Some(action) => {
            let (id, value) = action.split_once(' ').unwrap_or((action, ""));
            Input::press(id, (!value.is_empty()).then(|| value.to_owned()))
        }
        None => Input::text(line),
    }
}

/// A file that can be sent with a message. What it is, its name says.
fn attachment(path: &Path) -> Result<Attachment, String> {
    let failed = |e: io::Error| format!("{} cannot be read: {e}", path.display());
    let file = fs::metadata(path).map_err(failed)?;
    if !file.is_file() {
        return Err(format!("{} is not a file", path.display()));
    }
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let end = path.extension().map(|end| end.to_string_lossy().to_ascii_lowercase());
    let known = MEDIA_TYPES.iter().find(|(known, _)| end.as_deref() == Some(*known));
    Ok(Attachment {
        name,
        media_type: known.map_or("application/octet-stream", |(_, media)| *media).to_owned(),
        size: file.len(),
        location: path.canonicalize().map_err(failed)?.to_string_lossy().into_owned(),
    })
}

/// The media types of files that people send, by the ends of their names.
const MEDIA_TYPES: &[(&str, &str)] = &[
    ("jpg", "image/jpeg"),
    ("jpeg", "image/jpeg"),
    ("png", "image/png"),
    ("gif", "image/gif"),
    ("webp", "image/webp"),
    ("heic", "image/heic"),
    ("pdf", "application/pdf"),
    ("txt", "text/plain"),
    ("csv", "text/csv"),
    ("json", "application/json"),
    ("docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"),
    ("xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
    ("mp3", "audio/mpeg"),
    ("wav", "audio/wav"),
    ("mp4", "video/mp4"),
];

/// The clock of this machine, and chance.
struct Now<'c>(&'c Cancellation);

impl Clock for Now<'_> {
    fn now(&self) -> i64 {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
    }

    fn random(&self) -> u64 {
        use std::hash::{BuildHasher, Hasher};
        std::collections::hash_map::RandomState::new().build_hasher().finish()
    }

    fn sleep(&self, milliseconds: u64) {
        // The machine asks whether the turn is cancelled.
        let _ = self.0.sleep(Duration::from_millis(milliseconds));
    }
}
