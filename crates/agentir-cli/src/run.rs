//! `agentir run`: a conversation with agents in the terminal.

use crate::input::{Input as Paths, load_input};
use crate::output::{mask_value, shown};
use crate::terminal::Terminal;
use agentir::{Severity, Snapshot, SourceMap};
use agentir_diagnostics::escape_json;
use agentir_ir::Program;
use agentir_mcp::Mcp;
use agentir_model::{ApiKey, Endpoint, Offline, OpenAi, Script, Scripted};
use agentir_runtime::{
    Clock, Escalation, Event, EventKind, FailureKind, Host, Human, HumanReply, Input, Machine,
    Model, NoHuman, Observer, OrchestrationMethod, Session, Status, Turn,
};
use agentir_secrets::Masker;
use agentir_store::{Memory, Sqlite, Store};
use agentir_tools::{Allow, EnvVars, HostGrant, Http, McpFile, Python, Stubs, Supervisor, Toolbox};
use clap::{Args, ValueEnum};
use std::collections::BTreeSet;
use std::fs;
use std::io::{self, BufRead, BufWriter, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The variable that holds the key of a model service, if no other is named.
const KEY: &str = "OPENAI_API_KEY";

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

/// The language model.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ModelKind {
    /// Heuristics: no network, deterministic
    Offline,
    /// A file with answers; see `--answers`
    Scripted,
    /// A service with OpenAI's chat completions protocol
    Openai,
}

#[derive(Args)]
struct ModelOf {
    /// The language model
    #[arg(long, value_enum, default_value_t = ModelKind::Offline)]
    model: ModelKind,
    /// The file with the answers of `--model scripted`
    #[arg(long, value_name = "FILE")]
    answers: Option<PathBuf>,
    /// The base URL of the service
    #[arg(long, value_name = "URL", default_value = Endpoint::OPENAI)]
    base_url: String,
    /// The model to use, overriding the model that agents name
    #[arg(long, value_name = "NAME")]
    model_name: Option<String>,
    /// The environment variable that holds the service's key
    #[arg(long, value_name = "VARIABLE", default_value = KEY)]
    key_from: String,
}

#[derive(Args)]
struct ToolsOf {
    /// A file with the answers of tools; `agentir schema stubs` describes it
    #[arg(long, value_name = "FILE")]
    stubs: Option<PathBuf>,
    /// Allow tools to be called: all of them, or only the named ones. Python functions run with your
    /// rights; hosts and variables have to be allowed by name
    #[arg(long, value_name = "NAMES", num_args = 0..=1, value_delimiter = ',', default_missing_value = "*")]
    allow_tools: Option<Vec<String>>,
    /// Allow tools to call this host, at all ports or at one; can be repeated. An address that is not
    /// public has to be named itself, also if a named host is there
    #[arg(long, value_name = "HOST[:PORT]", value_delimiter = ',', requires = "allow_tools")]
    allow_host: Vec<HostGrant>,
    /// Allow tools to read this environment variable; can be repeated
    #[arg(long, value_name = "NAME", value_delimiter = ',', requires = "allow_tools")]
    allow_env: Vec<String>,
    /// A file with the configuration of MCP servers; `agentir schema mcp` describes it. Tools may call
    /// these servers, and the servers get the variables that the file inserts
    #[arg(long, value_name = "FILE")]
    mcp: Option<PathBuf>,
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

/// The one program of what was loaded.
pub fn program(snapshot: &Snapshot) -> Result<&Program, String> {
    let mut programs =
        snapshot.programs().map(|(_, program)| program).filter(|p| !p.agents.is_empty());
    match (programs.next(), programs.next()) {
        (Some(program), None) => Ok(program),
        (None, _) => Err(crate::input::no_agent(snapshot)),
        (Some(_), Some(_)) => Err(
            "there are several programs here, and a conversation needs one\nhelp: pass the folder or the file of one of them"
                .to_owned(),
        ),
    }
}

fn talk(args: &Run) -> Result<ExitCode, String> {
    let snapshot = match load_input(&args.input) {
        Ok(snapshot) => snapshot,
        Err(code) => return Ok(code),
    };
    if snapshot.read_findings().iter().any(|d| d.severity == Severity::Error) {
        tell!("warning: these agents have errors; run `agentir check` to see them");
    }
    let program = program(&snapshot)?;
    let machine = Machine::new(program);
    let mut model = model(&args.model)?;
    let mut tools = tools(&args.tools, program, snapshot.sources())?;
    let mut keeper = Keeper::new(args, program)?;
    let mut session = keeper.session(&machine, args)?;
    if args.orchestration.is_some() {
        session.set_orchestration(args.orchestration);
    }
    let mut observer = Trace {
        sources: snapshot.sources(),
        terminal: Terminal::new(snapshot.sources().masker()),
        show: args.trace,
        file: match &args.trace_file {
            Some(path) => Some(BufWriter::new(
                private(path).map_err(|e| format!("{} cannot be written: {e}", path.display()))?,
            )),
            None => None,
        },
    };
    let extractor = Offline::with_clock(jiff::Zoned::now);
    let mut person = Person(snapshot.sources().masker());
    let mut nobody = NoHuman;
    let talks = io::stdin().is_terminal();
    let stdin = io::stdin();
    let mut lines = stdin.lock().lines();
    let mut input: Option<Input> = None;
    let mut refusals = Refusals::default();
    let mut begins = session.turn == 0 && session.transcript.is_empty();
    // Whether the last turn failed.
    let mut failed = false;
    if !begins {
        for message in &session.transcript {
            let mark = if message.role == agentir_runtime::Role::User { "> " } else { "" };
            observer.terminal.say(&format!("{mark}{}", message.text))?;
        }
    }
    loop {
        if begins || input.is_some() {
            let human: &mut dyn Human = if args.human && talks { &mut person } else { &mut nobody };
            let mut host = Host {
                model: &mut *model,
                extractor: &extractor,
                tools: &mut tools,
                human,
                clock: &Now,
                observer: &mut observer,
            };
            let turn =
                machine.turn(&mut session, input.as_ref(), &mut host).map_err(|e| e.to_string())?;
            begins = false;
            keeper.save(&session)?;
            observer.flush()?;
            show(&turn, &mut observer)?;
            refusals.show(&tools);
            failed = turn.error.is_some();
            match turn.status {
                // The turn failed, the conversation goes on.
                Status::Await => {
                    if let Some(error) = &turn.error {
                        tell!("error: {}", observer.terminal.masker().mask(error));
                    }
                }
                Status::Human => {
                    println!("[a human agent takes over]");
                    return Ok(ExitCode::SUCCESS);
                }
                Status::Done => return Ok(ExitCode::SUCCESS),
                Status::Failed => {
                    let error = turn.error.as_deref().unwrap_or("the conversation failed");
                    tell!("error: {}", observer.terminal.masker().mask(error));
                    return Ok(ExitCode::from(1));
                }
            }
        }
        if talks {
            print!("> ");
            io::stdout().flush().map_err(|e| e.to_string())?;
        }
        match lines.next() {
            Some(Ok(line)) if line.trim().is_empty() => input = None,
            Some(Ok(line)) => {
                if !talks {
                    observer.terminal.say(&format!("> {line}"))?;
                }
                input = Some(said(&line));
            }
            Some(Err(error)) => return Err(format!("the input cannot be read: {error}")),
            None => return Ok(ExitCode::from(u8::from(failed))),
        }
    }
}

/// `!id value` presses a button, everything else is said.
fn said(line: &str) -> Input {
    match line.strip_prefix('!') {
        Some(action) => {
            let (id, value) = action.split_once(' ').unwrap_or((action, ""));
            let value = (!value.is_empty()).then(|| value.to_owned());
            Input { text: value.clone().unwrap_or_default(), action: Some((id.to_owned(), value)) }
        }
        None => Input::text(line),
    }
}

fn show(turn: &Turn, observer: &mut Trace<'_>) -> Result<(), String> {
    // What was shown while it was written is not shown again.
    let streamed = observer.terminal.finish();
    let terminal = &observer.terminal;
    let mut out = io::stdout().lock();
    for said in &turn.messages {
        if !streamed.is_empty() && said.text.trim() == streamed.trim() {
            writeln!(out).map_err(|e| e.to_string())?;
            continue;
        }
        terminal.say(&said.text)?;
        if let Some(actions) = &said.actions {
            let elements = actions.get("elements").and_then(|e| e.as_array());
            for element in elements.into_iter().flatten() {
                let text = |name: &str| element.get(name).and_then(|v| v.as_str());
                if let (Some(id), label) = (text("id"), text("label").or(text("id"))) {
                    terminal.say(&format!("  [!{id}] {}", label.unwrap_or_default()))?;
                }
            }
        }
    }
    out.flush().map_err(|e| e.to_string())
}

fn model(args: &ModelOf) -> Result<Box<dyn Model>, String> {
    Ok(match args.model {
        ModelKind::Offline => Box::new(Offline::with_clock(jiff::Zoned::now)),
        ModelKind::Scripted => {
            let path =
                args.answers.as_deref().ok_or("`--model scripted` needs `--answers FILE`")?;
            let script =
                Script::parse(&read(path)?).map_err(|e| format!("{}: {e}", path.display()))?;
            Box::new(Scripted::new(&script))
        }
        ModelKind::Openai => {
            let mut endpoint = Endpoint::new(args.base_url.as_str());
            endpoint.model.clone_from(&args.model_name);
            // A service of one's own may need none.
            let wanted = args.key_from != KEY || std::env::var_os(KEY).is_some();
            if wanted {
                endpoint.key = Some(ApiKey::from_env(&args.key_from).map_err(|e| e.to_string())?);
            }
            let service = OpenAi::new(endpoint).map_err(|e| e.to_string())?;
            Box::new(service.with_clock(jiff::Zoned::now))
        }
    })
}

fn tools(args: &ToolsOf, program: &Program, sources: &SourceMap) -> Result<Toolbox, String> {
    let mut tools = Toolbox::new(program);
    if let Some(path) = &args.stubs {
        let stubs = Stubs::read(&read(path)?).map_err(|e| format!("{}: {e}", path.display()))?;
        tools = tools.stubs(stubs.in_real_time(true));
    }
    // What is not allowed is refused by the toolbox, which says how to allow it.
    let allow = match &args.allow_tools {
        None => Allow::Nothing,
        Some(names) if names.iter().any(|name| name == "*") => Allow::Everything,
        Some(names) => Allow::Only(names.iter().cloned().collect()),
    };
    let env = EnvVars::from_environment(args.allow_env.iter().cloned());
    let supervisor = Supervisor::this_program(SUPERVISE);
    let hosts = args.allow_host.iter().cloned().collect();
    tools = tools.allow(allow).http(Http::new(env.clone(), hosts));
    if let Some(path) = &args.mcp {
        let file = McpFile::read(&read(path)?).map_err(|e| format!("{}: {e}", path.display()))?;
        let env = EnvVars::from_environment(file.variables());
        let servers = Mcp::new(file, env).map_err(|e| e.to_string())?;
        tools = tools.mcp(servers.supervisor(supervisor.clone()));
    }
    let functions: Vec<(String, PathBuf)> = program
        .tools()
        .filter_map(|tool| {
            let file = PathBuf::from(&*sources.get(tool.span.file)?.name);
            let is_python = file.extension().is_some_and(|e| e == "py");
            is_python.then(|| (tool.name.value.to_string(), file))
        })
        .collect();
    if let Some((_, file)) = functions.first() {
        let folder = match file.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder.to_owned(),
            _ => PathBuf::from("."),
        };
        let python = Python::new(&folder, functions).map_err(|e| e.to_string())?;
        let python = env.iter().fold(python, |python, (name, value)| python.variable(name, value));
        tools = tools.python(python.supervisor(supervisor));
    }
    Ok(tools)
}

fn read(path: &Path) -> Result<String, String> {
    agentir_vfs::read_text(&agentir_vfs::Disk::default(), path)
        .map_err(|e| format!("{} cannot be read: {e}", path.display()))
}

/// Keeps the conversation, if it is to be kept.
struct Keeper {
    store: Option<(Sqlite, String)>,
    memory: Memory,
}

impl Keeper {
    fn new(args: &Run, program: &Program) -> Result<Self, String> {
        let store = match &args.session {
            Some(id) => Some((Sqlite::open(&args.store).map_err(|e| e.to_string())?, id.clone())),
            None => None,
        };
        let project = program.entry().map_or("project", |a| a.metadata.name.value.as_str());
        Ok(Self { store, memory: Memory::new(program, project, args.user.as_deref()) })
    }

    fn session(&mut self, machine: &Machine<'_>, args: &Run) -> Result<Session, String> {
        let fresh = || -> Result<Session, String> {
            let mut session = machine.session(args.agent.as_deref()).map_err(|e| e.to_string())?;
            session.set_system("channel", &serde_json::Value::from(args.channel.as_str()));
            if let Some(user) = &args.user {
                session.set_system("user_id", &serde_json::Value::from(user.as_str()));
            }
            Ok(session)
        };
        let Some((store, id)) = &mut self.store else { return fresh() };
        let mut session = match store.load(id).map_err(|e| e.to_string())? {
            Some(session) => session,
            None => fresh()?,
        };
        self.memory.load_into(store, &mut session).map_err(|e| e.to_string())?;
        Ok(session)
    }

    fn save(&mut self, session: &Session) -> Result<(), String> {
        match &mut self.store {
            Some((store, id)) => self.memory.save(store, id, session).map_err(|e| e.to_string()),
            None => Ok(()),
        }
    }
}

/// Calls that were not made: whoever runs the agents can allow them, and agents may not say why they fail.
#[derive(Default)]
struct Refusals {
    /// How many calls have been looked at.
    seen: usize,
    said: BTreeSet<String>,
}

impl Refusals {
    /// Says what is new, once.
    fn show(&mut self, tools: &Toolbox) {
        for call in tools.calls().iter().skip(self.seen) {
            self.seen += 1;
            let Err(failure) = &call.result else { continue };
            // A stub may follow, which the trace shows.
            let why = failure.message.lines().next().unwrap_or_default().trim_end_matches(':');
            let escaped =
                |c: char| if c.is_control() { c.escape_default().to_string() } else { c.into() };
            let why: String = why.chars().map(escaped).collect();
            if failure.kind == FailureKind::Refused && self.said.insert(why.clone()) {
                eprintln!("note: {why}");
            }
        }
    }
}

/// The clock of this machine, and chance.
struct Now;

impl Clock for Now {
    fn now(&self) -> i64 {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
    }

    fn random(&self) -> u64 {
        use std::hash::{BuildHasher, Hasher};
        std::collections::hash_map::RandomState::new().build_hasher().finish()
    }

    fn sleep(&self, milliseconds: u64) {
        std::thread::sleep(Duration::from_millis(milliseconds));
    }
}

/// A person at this terminal, who is not shown secrets.
struct Person(Masker);

impl Human for Person {
    fn take_over(&mut self, escalation: &Escalation<'_>) -> HumanReply {
        let asked = format!(
            "[{} escalates to a human agent{}; what do you say? An empty line hands back to the agent, `end` keeps the conversation]",
            escalation.agent,
            escalation.reason.as_ref().map(|r| format!(": {r}")).unwrap_or_default()
        );
        println!("{}", shown(&asked, &self.0));
        let mut reply = HumanReply::default();
        for line in io::stdin().lock().lines().map_while(Result::ok) {
            match line.trim() {
                "" => {
                    let outcome = serde_json::json!({ "resolved": true, "handed_back": true });
                    reply.outcome = outcome.as_object().cloned();
                    break;
                }
                "end" => break,
                said => reply.messages.push(said.to_owned()),
            }
        }
        reply
    }
}

/// Creates a file that only its owner may read: it contains conversations.
fn private(path: &Path) -> io::Result<fs::File> {
    let mut options = fs::File::options();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let file = options.open(path)?;
    #[cfg(unix)]
    if file.metadata()?.is_file() {
        use std::os::unix::fs::PermissionsExt;
        // It may have been there, and may belong to somebody else, who then decides.
        let _ = file.set_permissions(fs::Permissions::from_mode(0o600));
    }
    Ok(file)
}

/// Shows and writes what happens.
struct Trace<'s> {
    sources: &'s SourceMap,
    show: bool,
    file: Option<BufWriter<fs::File>>,
    terminal: Terminal,
}

impl Trace<'_> {
    fn flush(&mut self) -> Result<(), String> {
        match &mut self.file {
            Some(file) => file.flush().map_err(|e| format!("the trace cannot be written: {e}")),
            None => Ok(()),
        }
    }

    /// Where a place is written.
    fn placed(&self, event: &Event) -> Event {
        let mut event = event.clone();
        if let EventKind::Node { location, span, .. } = &mut event.kind
            && let Some(file) = self.sources.get(span.file)
        {
            let at = file.line_column(span.start);
            *location = Some(format!("{}:{}:{}", file.name, at.line, at.column));
        }
        event
    }
}

impl Observer for Trace<'_> {
    fn event(&mut self, event: &Event) {
        // What blocks because it is broken is said to whoever runs the agents in any case.
        if let EventKind::Error { kind, message } = &event.kind
            && kind == "check_error"
            && !self.show
        {
            tell!("error: {}: {}", event.agent, self.terminal.shown(message));
        }
        if !self.show && self.file.is_none() {
            return;
        }
        let event = self.placed(event);
        if let (Some(file), Ok(mut value)) = (&mut self.file, serde_json::to_value(&event)) {
            mask_value(&mut value, self.terminal.masker());
            // That it cannot be written is said at the end of the turn.
            let _ = writeln!(file, "{}", escape_json(&value.to_string()));
        }
        if self.show {
            tell!("{}", self.terminal.shown(&line(&event)));
        }
    }

    fn partial(&mut self, text: &str) {
        self.terminal.stream(text);
    }
}

/// An event for people.
fn line(event: &Event) -> String {
    let who = match &event.step {
        Some(step) => format!("{}/{step}", event.agent),
        None => event.agent.clone(),
    };
    let what = match &event.kind {
        EventKind::Input { text } => format!("user: {text}"),
        EventKind::Node { node, kind, why, location, .. } => format!(
            "{kind} #{node}{}{}",
            why.map(|w| format!(" ({w})")).unwrap_or_default(),
            location.as_ref().map(|p| format!(" at {p}")).unwrap_or_default()
        ),
        EventKind::Condition { condition, holds, decided_by } => {
            format!("  {condition} = {holds} ({decided_by})")
        }
        EventKind::Set { variable, value } => format!("  {variable} = {value}"),
        EventKind::Clear { variable } => format!("  {variable} cleared"),
        EventKind::Call { tool, arguments } => {
            format!("  calls {tool} {}", serde_json::Value::Object(arguments.clone()))
        }
        EventKind::Result { tool, result, error } => match (result, error) {
            (_, Some(error)) => format!("  {tool} failed: {error}"),
            (Some(result), None) => format!("  {tool} returned {result}"),
            (None, None) => format!("  {tool} returned nothing"),
        },
        EventKind::Model { task, answer, usage } => format!(
            "  model, {task}: {answer} ({} + {} tokens)",
            usage.input_tokens, usage.output_tokens
        ),
        EventKind::Say { text } => format!("  says: {text}"),
        EventKind::Log { value } => format!("  log: {value}"),
        EventKind::Violation { rule, action } => format!("  violated: {rule} ({action})"),
        EventKind::Error { kind, message } => format!("  {kind}: {message}"),
        EventKind::Transfer { how, from, to } => format!("  {how}: {from} -> {to}"),
        EventKind::Attempt { by, taken: true } => format!("  the answer of {by} is used"),
        EventKind::Attempt { by, taken: false } => format!("  the answer of {by} is discarded"),
        EventKind::Escalated { reason } => {
            format!(
                "  escalated to a human agent{}",
                reason.as_ref().map(|r| format!(": {r}")).unwrap_or_default()
            )
        }
        EventKind::Remember { path, value } => format!("  remembers {path} = {value}"),
        EventKind::TurnEnd { status } => format!("  end of turn: {status}"),
    };
    format!("{:>3} {who}: {what}", event.turn)
}
