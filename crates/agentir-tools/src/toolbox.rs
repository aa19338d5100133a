//! Who answers a call.

#[cfg(feature = "scripts")]
use crate::Scripts;
use crate::arguments::{self, Nulls};
use crate::environment::EnvVars;
use crate::settings::time_limit;
use crate::{Http, Python, RecordedCall, Stubs, knowledge, remote, stubs, tables};
use agentir_ir::{Agent, Data, Program, Remote, Tool, ToolType};
use agentir_runtime::{FailureKind, MAX_ARGUMENTS, ToolCall, ToolFailure, Tools};
use serde_json::{Map, Value as Json};
use std::collections::{BTreeMap, BTreeSet};

/// Which tools may reach the world.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Allow {
    /// None: stubs, tables and knowledge bases in the program answer, everything else is refused.
    #[default]
    Nothing,
    /// Those with these names.
    Only(BTreeSet<String>),
    /// All.
    Everything,
}

impl Allow {
    fn permits(&self, tool: &str) -> bool {
        match self {
            Self::Nothing => false,
            Self::Only(names) => names.contains(tool),
            Self::Everything => true,
        }
    }
}

/// Tools, by agent and name.
type Implementations = BTreeMap<(Option<String>, String), Tool>;

/// The tools of a program.
#[derive(Default)]
pub struct Toolbox {
    /// The tools, merged with shared declarations, by agent and name; those of libraries have no agent. Agents often declare no more than a signature.
    implementations: Implementations,
    agents: BTreeMap<String, Agent>,
    allow: Allow,
    stubs: Stubs,
    http: Option<Http>,
    env: EnvVars,
    mcp: Option<Box<dyn Tools>>,
    python: Option<Python>,
    #[cfg(feature = "scripts")]
    scripts: Scripts,
    calls: Vec<RecordedCall>,
}

impl Toolbox {
    /// The tools of a program. Nothing answers yet but its tables and scripts.
    #[must_use]
    pub fn new(program: &Program) -> Self {
        let mut implementations = BTreeMap::new();
        let libraries = program.libraries.iter().map(|l| (None, &l.tools, &l.extensions.0));
        let own = program.agents().map(|agent| {
            (Some(agent.metadata.name.value.to_string()), &agent.tools, &agent.extensions.0)
        });
        for (agent, tools, extensions) in libraries.chain(own) {
            for tool in tools {
                let mut tool = tool.clone();
                apply_library_defaults(extensions, &mut tool);
                let key = (agent.clone(), tool.name.value.to_string());
                implementations.entry(key).or_insert(tool);
            }
        }
        let agents = program.agents().filter(|agent| !agent.lookup_tables.is_empty());
        Self {
            implementations,
            agents: agents.map(|a| (a.metadata.name.value.to_string(), a.clone())).collect(),
            ..Self::default()
        }
    }

    /// Lets tools reach the world.
    #[must_use]
    pub fn allow(mut self, allow: Allow) -> Self {
        self.allow = allow;
        self
    }

    /// Has these answer first.
    #[must_use]
    pub fn stubs(mut self, stubs: Stubs) -> Self {
        self.stubs = stubs;
        self
    }

    /// Calls tools of type `http`.
    #[must_use]
    pub fn http(mut self, http: Http) -> Self {
        self.env = http.env().clone();
        self.http = Some(http);
        self
    }

    /// Calls tools of type `mcp`.
    #[must_use]
    pub fn mcp(mut self, servers: impl Tools + 'static) -> Self {
        self.mcp = Some(Box::new(servers));
        self
    }

    /// Calls functions of an ADL bot.
    #[must_use]
    pub fn python(mut self, python: Python) -> Self {
        self.python = Some(python);
        self
    }

    /// Runs scripts in JavaScript with these settings.
    #[cfg(feature = "scripts")]
    #[must_use]
    pub fn scripts(mut self, scripts: Scripts) -> Self {
        self.scripts = scripts;
        self
    }

    /// Whether a tool is a script, or has the rows of a table or the questions of a knowledge base itself: it answers by itself, the same at any time.
    #[must_use]
    pub fn is_self_contained(tool: &Tool) -> bool {
        let kind = tool.tool_type.or_else(|| inferred_type(tool));
        let code = || tool.binding.as_ref()?.0.get("code")?.as_str();
        let varies = || code().is_none_or(|code| VARYING.iter().any(|name| code.contains(name)));
        let is_run = cfg!(feature = "scripts") && kind == Some(ToolType::Sandbox);
        is_run && is_script(tool) && !varies()
            || tables::has_rows(tool)
            || !tool.questions.is_empty()
    }

    /// All calls so far, in their order, also those that nothing could answer, with the arguments as they came. A call with
    /// arguments that the tool does not declare is none.
    #[must_use]
    pub fn calls(&self) -> &[RecordedCall] {
        &self.calls
    }

    fn answer(&mut self, call: &ToolCall<'_>) -> Result<Json, ToolFailure> {
        let refused = |message: String| Err(ToolFailure::new(FailureKind::Refused, message));
        // Counted as they are sent.
        let size = serde_json::to_string(&call.arguments).map_or(usize::MAX, |text| text.len());
        if size > MAX_ARGUMENTS {
            return refused(format!(
                "the arguments of `{}` have {} KB, and {} KB is the most: pass less, for example an id \
                 in place of the whole value",
                call.name,
                size / 1024,
                MAX_ARGUMENTS / 1024
            ));
        }
        if let Some(remote) = call.remote {
            return self.call_remote_agent(remote, call);
        }
        let arguments = self.checked_arguments(call)?;
        let tool = implementation(&self.implementations, call);
        let function = self.is_function(tool);
        let declared = call.tool.or(tool);
        let limit = time_limit(tool, call, &self.env);
        let timeout_ms = limit.as_ref().map_or(call.timeout_ms, |ms| *ms);
        let call = ToolCall { tool, arguments, timeout_ms, ..call.clone() };
        if self.stubs.has(call.name) {
            return self.stubs.call(&ToolCall { tool: declared, ..call });
        }
        let Some(tool) = tool else {
            return refused(format!(
                "no tool `{}` is declared; to answer it anyway, stub it:\n{}",
                call.name,
                stubs::suggested_stub(call.name, None, &call.arguments)
            ));
        };
        if tool.tool_type == Some(ToolType::Table)
            && let Some(found) = tables::answer(tool, self.agents.get(call.agent), &call.arguments)
        {
            return Ok(found);
        }
        if !tool.questions.is_empty() {
            return Ok(knowledge::search(tool, &call.arguments));
        }
        let kind = tool.tool_type.or_else(|| inferred_type(tool));
        #[cfg(feature = "scripts")]
        if kind == Some(ToolType::Sandbox) && is_script(tool) {
            return match limit {
                Ok(_) => self.scripts.call(&call),
                Err(why) => refused(format!("`{}` cannot be called: {why}", call.name)),
            };
        }
        let stub = || stubs::suggested_stub(call.name, declared, &call.arguments);
        let by: Option<&mut dyn Tools> = match kind {
            Some(ToolType::Http) => self.http.as_mut().map(|by| by as &mut dyn Tools),
            Some(ToolType::Mcp) => self.mcp.as_mut().map(|by| &mut **by as &mut dyn Tools),
            None if function => self.python.as_mut().map(|by| by as &mut dyn Tools),
            _ => None,
        };
        let Some(by) = by else {
            return refused(format!("{}; stub it:\n{}", no_handler(tool, kind), stub()));
        };
        if !self.allow.permits(call.name) {
            return refused(format!(
                "`{}` would reach the world, which is not allowed: run with --allow-tools, or stub \
                 it:\n{}",
                call.name,
                stub()
            ));
        }
        if let Err(why) = limit {
            return refused(format!("`{}` cannot be called: {why}", call.name));
        }
        by.call(&call)
    }
}

impl Toolbox {
    /// An agent that is not part of the program.
    fn call_remote_agent(
        &mut self,
        remote: &Remote,
        call: &ToolCall<'_>,
    ) -> Result<Json, ToolFailure> {
        let name = call.name;
        if self.stubs.has(name) {
            return self.stubs.call(call);
        }
        let refused = |why: String| {
            let stub = stubs::suggested_agent_stub(name, &call.arguments);
            let words = format!("{why}; to answer for it, stub it:\n{stub}");
            Err(ToolFailure::new(FailureKind::Refused, words))
        };
        let Some(tool) = remote::http_tool(name, remote) else {
            return refused(match &remote.endpoint {
                Some(at) => format!("`{}` can be reached on its platform only", at.value),
                None => format!(
                    "`{name}` is not part of what runs here, and nothing says where it runs"
                ),
            });
        };
        if !self.allow.permits(name) {
            return refused(format!(
                "asking `{name}` would reach the world, which is not allowed: run with --allow-tools"
            ));
        }
        let Some(http) = &mut self.http else {
            return refused(format!("no HTTP client is set up for `{name}`"));
        };
        let arguments =
            remote::request_arguments(remote, call.arguments.clone(), &call.idempotency_key);
        let call = ToolCall { tool: Some(&tool), arguments, ..call.clone() };
        let answer = http.call(&call)?;
        remote::parse_answer(name, remote, answer)
    }

    /// Whether a tool is a function of an ADL bot.
    fn is_function(&self, tool: Option<&Tool>) -> bool {
        tool.is_some_and(|t| t.binding.is_none() && t.tool_type.is_none()) && self.python.is_some()
    }

    /// The arguments of a call, as the tool declares them.
    fn checked_arguments(&self, call: &ToolCall<'_>) -> Result<Map<String, Json>, ToolFailure> {
        let tool = implementation(&self.implementations, call);
        let nulls = if self.is_function(tool) { Nulls::Values } else { Nulls::Missing };
        let dialect = self.agents.get(call.agent).map(|agent| agent.metadata.dialect);
        // What the agent declares is what it is held to.
        let Some(declared) = call.tool.or(tool) else { return Ok(call.arguments.clone()) };
        arguments::check_arguments(declared, &call.arguments, nulls, dialect)
            .map_err(|problem| ToolFailure::new(FailureKind::Error, problem))
    }
}

impl Tools for Toolbox {
    fn call(&mut self, call: &ToolCall<'_>) -> Result<Json, ToolFailure> {
        let result = self.answer(call).map_err(|failure| for_agents(call.name, failure));
        self.calls.push(RecordedCall::of(call, &result));
        result
    }

    fn refusal(&self, call: &ToolCall<'_>) -> Option<ToolFailure> {
        self.checked_arguments(call).err()
    }
}

/// The declaration that says how a tool is reached.
fn implementation<'t>(
    implementations: &'t Implementations,
    call: &'t ToolCall<'_>,
) -> Option<&'t Tool> {
    let key = |agent: Option<&str>| (agent.map(str::to_owned), call.name.to_owned());
    let own = implementations.get(&key(Some(call.agent)));
    // The declaration that came with the call, merged with the shared declarations.
    let own = own.filter(|own| call.tool.is_none_or(|tool| tool.span == own.span));
    let reached = |tool: &&Tool| tool.binding.is_some() || tool.tool_type.is_some();
    let library = own.filter(reached).or_else(|| implementations.get(&key(None)));
    match (call.tool.filter(reached), library) {
        (Some(tool), Some(shared)) if tool.span == shared.span => Some(shared),
        (tool, library) => tool.or(library).or(call.tool),
    }
}

/// A call that was refused fails for the agent as well, but why is nothing that an agent or its user could
/// do something about.
fn for_agents(name: &str, failure: ToolFailure) -> ToolFailure {
    if failure.kind != FailureKind::Refused || failure.for_developers.is_some() {
        return failure;
    }
    let message = format!("`{name}` is not available");
    ToolFailure { for_developers: Some(failure.message.into()), message, ..failure }
}

/// Why no implementation can call a tool.
fn no_handler(tool: &Tool, kind: Option<ToolType>) -> String {
    let name = &tool.name.value;
    let target = tool.binding.as_ref().and_then(|b| b.0.get("target")).and_then(Data::as_str);
    match (kind, target) {
        (Some(ToolType::Http), _) => format!("no HTTP client is set up for `{name}`"),
        (Some(ToolType::Mcp), _) => format!("no MCP servers are set up for `{name}`"),
        #[cfg(not(feature = "scripts"))]
        (Some(ToolType::Sandbox), _) if is_script(tool) => format!(
            "`{name}` is a script, and this build runs none (`--features full` builds what runs them)"
        ),
        (_, Some(target)) => format!("`{name}` is `{target}`, which runs on its platform only"),
        (Some(kind), _) => {
            let kind = kind.name();
            format!("`{name}` is of type `{kind}`, which runs on its platform only")
        }
        (None, None) => format!("`{name}` is declared, and nothing says how it is reached"),
    }
}

/// What gives scripts another value each time: the clock, random numbers.
const VARYING: &[&str] = &["Date", "random"];

/// Whether a tool of type `sandbox` is a script in JavaScript.
fn is_script(tool: &Tool) -> bool {
    let binding = tool.binding.as_ref().map(|binding| &binding.0);
    let text = |field: &str| binding?.get(field)?.as_str();
    let language = text("runtime").unwrap_or_default().to_lowercase();
    matches!(language.as_str(), "javascript" | "js") && text("code").is_some()
}

/// The type of a tool that does not say it, by its binding.
fn inferred_type(tool: &Tool) -> Option<ToolType> {
    let binding = &tool.binding.as_ref()?.0;
    let has = |field: &str| binding.contains_key(field);
    if has("endpoint") { Some(ToolType::Http) } else { has("server").then_some(ToolType::Mcp) }
}

/// What a library says for all of its tools, and the tool does not say itself.
fn apply_library_defaults(
    extensions: &BTreeMap<agentir_expr::Name, BTreeMap<String, agentir_ir::Extension>>,
    tool: &mut Tool,
) {
    const FIELDS: &[&str] = &["auth", "auth_config", "retry", "retry_delay", "rate_limit"];
    let all = |name: &str| {
        extensions.values().find_map(|own| own.get(name)).map(|extension| &extension.value)
    };
    let kind = tool.tool_type.or_else(|| inferred_type(tool));
    let Some(binding) = tool.binding.as_mut() else { return };
    if let (None, Some(limit)) = (binding.0.get("timeout"), all("timeout")) {
        binding.0.insert("timeout".to_owned(), limit.clone());
    }
    if kind != Some(ToolType::Http) {
        return;
    }
    for field in FIELDS {
        if let (None, Some(value)) = (binding.0.get(*field), all(field)) {
            binding.0.insert((*field).to_owned(), value.clone());
        }
    }
    if let Some(Json::Object(headers)) = all("headers") {
        let own = binding.0.entry("headers").or_insert_with(|| Map::new().into());
        if let Json::Object(own) = own {
            for (name, value) in headers {
                own.entry(name.clone()).or_insert_with(|| value.clone());
            }
        }
    }
    if let (Some(Json::String(base)), Some(Json::String(endpoint))) =
        (all("base_url"), binding.0.get_mut("endpoint"))
        && !endpoint.contains("://")
        && !endpoint.starts_with("{{")
    {
        let slash = if endpoint.starts_with('/') { "" } else { "/" };
        *endpoint = format!("{}{slash}{endpoint}", base.trim_end_matches('/'));
    }
}
