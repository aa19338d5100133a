//! The model, the tools and the program of a conversation, as the command line names them.

use super::SUPERVISE;
use agentir::{Snapshot, SourceMap};
use agentir_ir::Program;
use agentir_mcp::Mcp;
use agentir_model::{ApiKey, Endpoint, Offline, OpenAi, Script, Scripted};
use agentir_runtime::{Cancellation, Model};
use agentir_secrets::Issued;
use agentir_tools::{Allow, EnvVars, HostGrant, Http, McpFile, Python, Stubs, Supervisor, Toolbox};
use clap::{Args, ValueEnum};
use std::path::{Path, PathBuf};

/// The variable that holds the key of a model service, if no other is named.
const KEY: &str = "OPENAI_API_KEY";

/// The language model.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ModelKind {
    /// Heuristics: no network, deterministic
    Offline,
    /// A file with answers; see `--answers`
    Scripted,
    /// A service with OpenAI's chat completions protocol
    Openai,
}

#[derive(Args)]
pub struct ModelOf {
    /// The language model
    #[arg(long, value_enum, default_value_t = ModelKind::Offline)]
    pub model: ModelKind,
    /// The file with the answers of `--model scripted`
    #[arg(long, value_name = "FILE")]
    pub answers: Option<PathBuf>,
    /// The base URL of the service
    #[arg(long, value_name = "URL", default_value = Endpoint::OPENAI)]
    pub base_url: String,
    /// The model to use, overriding the model that agents name
    #[arg(long, value_name = "NAME")]
    pub model_name: Option<String>,
    /// The environment variable that holds the service's key
    #[arg(long, value_name = "VARIABLE", default_value = KEY)]
    pub key_from: String,
}

#[derive(Args)]
pub struct ToolsOf {
    /// A file with the answers of tools; `agentir schema stubs` describes it
    #[arg(long, value_name = "FILE")]
    pub stubs: Option<PathBuf>,
    /// Allow tools to be called: all of them, or only the named ones. Python functions run with your
    /// rights; hosts and variables have to be allowed by name
    #[arg(long, value_name = "NAMES", num_args = 0..=1, value_delimiter = ',', default_missing_value = "*")]
    pub allow_tools: Option<Vec<String>>,
    /// Allow tools to call this host, at all ports or at one; can be repeated. An address that is not
    /// public has to be named itself, also if a named host is there
    #[arg(long, value_name = "HOST[:PORT]", value_delimiter = ',', requires = "allow_tools")]
    pub allow_host: Vec<HostGrant>,
    /// Allow tools to read this environment variable; can be repeated
    #[arg(long, value_name = "NAME", value_delimiter = ',', requires = "allow_tools")]
    pub allow_env: Vec<String>,
    /// A file with the configuration of MCP servers; `agentir schema mcp` describes it. Tools may call
    /// these servers, and the servers get the variables that the file inserts
    #[arg(long, value_name = "FILE")]
    pub mcp: Option<PathBuf>,
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

/// The language model. What it cannot do without is asked for here, before anybody talks.
pub fn model(
    args: &ModelOf,
    program: &Program,
    cancellation: &Cancellation,
) -> Result<Box<dyn Model>, String> {
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
            } else if args.base_url == Endpoint::OPENAI {
                return Err(format!(
                    "{} needs a key, and the environment variable `{KEY}` is not set\nhelp: set it, name the \
                     variable that has the key with `--key-from`, or name another service with `--base-url`",
                    Endpoint::OPENAI
                ));
            }
            let unnamed = program.agents().find(|agent| agent.execution.model.is_none());
            if let (None, Some(agent)) = (&args.model_name, unnamed) {
                return Err(format!(
                    "the agent `{}` names no model\nhelp: name the model of the service with `--model-name`",
                    agent.metadata.name.value
                ));
            }
            let service = OpenAi::new(endpoint).map_err(|e| e.to_string())?;
            let service = service.with_cancellation(cancellation.clone());
            Box::new(service.with_clock(jiff::Zoned::now))
        }
    })
}

/// The key that the model's service is sent, if there is one.
pub fn model_key(args: &ModelOf) -> Option<String> {
    let is_sent = args.model == ModelKind::Openai;
    is_sent.then(|| std::env::var(&args.key_from).ok()).flatten()
}

/// The tools, of which the command line says what they may do, and the values of the environment that they may read.
/// Tokens that services give are added to those that are `issued`.
pub fn tools(
    args: &ToolsOf,
    program: &Program,
    sources: &SourceMap,
    cancellation: &Cancellation,
    issued: &Issued,
) -> Result<(Toolbox, Vec<String>), String> {
    let mut tools = Toolbox::new(program);
    #[cfg(feature = "scripts")]
    {
        let scripts = agentir_tools::Scripts::default();
        tools = tools.scripts(scripts.cancellation(cancellation.clone()));
    }
    if let Some(path) = &args.stubs {
        let stubs = Stubs::read(&read(path)?).map_err(|e| format!("{}: {e}", path.display()))?;
        tools = tools.stubs(stubs.in_real_time(true).cancellation(cancellation.clone()));
    }
    // What is not allowed is refused by the toolbox, which says how to allow it.
    let allow = match &args.allow_tools {
        None => Allow::Nothing,
        Some(names) if names.iter().any(|name| name == "*") => Allow::Everything,
        Some(names) => Allow::Only(names.iter().cloned().collect()),
    };
    let env = EnvVars::from_environment(args.allow_env.iter().cloned());
    let mut secrets: Vec<String> = env.iter().map(|(_, value)| value.to_owned()).collect();
    let supervisor = Supervisor::this_program(SUPERVISE);
    let hosts = args.allow_host.iter().cloned().collect();
    let http = Http::new(env.clone(), hosts).issued(issued.clone());
    tools = tools.allow(allow).http(http.cancellation(cancellation.clone()));
    if let Some(path) = &args.mcp {
        let file = McpFile::read(&read(path)?).map_err(|e| format!("{}: {e}", path.display()))?;
        let env = EnvVars::from_environment(file.variables());
        secrets.extend(env.iter().map(|(_, value)| value.to_owned()));
        let servers = Mcp::new(file, env).map_err(|e| e.to_string())?;
        tools =
            tools.mcp(servers.supervisor(supervisor.clone()).cancellation(cancellation.clone()));
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
        tools = tools.python(python.supervisor(supervisor).cancellation(cancellation.clone()));
    }
    Ok((tools, secrets))
}

/// What the banner says of a model.
pub fn model_name(args: &ModelOf) -> String {
    match args.model {
        ModelKind::Offline => "offline".to_owned(),
        ModelKind::Scripted => "scripted".to_owned(),
        ModelKind::Openai => format!(
            "{} at {}",
            args.model_name.as_deref().unwrap_or("as the agents say"),
            args.base_url
        ),
    }
}

fn read(path: &Path) -> Result<String, String> {
    agentir_vfs::read_text(&agentir_vfs::Disk::default(), path)
        .map_err(|e| format!("{} cannot be read: {e}", path.display()))
}
