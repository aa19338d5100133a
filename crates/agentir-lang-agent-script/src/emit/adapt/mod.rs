//! Adapts agents of other languages to Agent Script.
//!
//! Constructs that Agent Script has (tools, handoffs, escalation, conditional texts) map directly. Flows
//! do not exist: **a step becomes a subagent**, because a subagent is a position in the conversation, has
//! a name, and can be the target of a transition from anywhere. A step's effects go to
//! `before_reasoning`, its messages to the instructions, its jumps to `after_reasoning`. A step that
//! waits continues in another subagent once the awaited value is there. Checks become guards of tools
//! and conditional texts; guardrails become instructions.
//!
//! *Variables* of all agents share one namespace. Variables of the same name and type are merged, so
//! passing them is implicit; a variable of another type gets the agent's name as a prefix.
//!
//! *Conditions* keep their meaning or become natural language: comparisons with values that may be
//! unset are guarded, and what only ABL's runtime knows is left to the model.

mod exposed_tools;
pub(super) mod expr;
mod flow;
mod guards;
mod order;
mod phrases;
mod procedure;
mod turns;
mod waits;

use crate::dialect;
use crate::names::is_reserved;
use agentir_diagnostics::{Span, Spanned};
use agentir_expr::dialect::{NONE, RuntimeNames, UncompiledForm, Unset};
use agentir_expr::{Name, Path, Segment, TypeExpr, TypeKind};
use agentir_ir::{
    Agent, AgentReference, Constraint, Data, Extensions, Flow, Metadata, Node, Parameter, Program,
    Remote, Response, SessionVariable, SetVariable, Statement, Tool,
};
use agentir_syntax::emit::{NameSyntax, Namespace, Remark, Renamed};
pub(super) use exposed_tools::{before_turn, boolean, branch, set};
use expr::{spanned, text};
use indexmap::IndexMap;
use rustc_hash::{FxHashMap, FxHashSet};
use serde_json::json;
use smol_str::SmolStr;

/// The placeholder for the user an agentforce agent runs as, which only the author knows.
pub(super) const USER: &str = "REPLACE_ME@example.com";

/// The variables of the document, and their names in the current agent.
#[derive(Clone)]
struct Variables {
    all: IndexMap<Name, SessionVariable>,
    names: Namespace,
    /// Names in the document, by name in the current agent: a root or a dotted path.
    current_names: FxHashMap<SmolStr, Name>,
    /// Variables of all agents, by name there, with the declared types.
    shared: FxHashMap<SmolStr, Vec<(Name, Option<String>)>>,
    agent: SmolStr,
    /// Variables set from tool results.
    results: FxHashSet<Name>,
    /// Variables that hold a constant and are never set.
    constants: FxHashSet<Name>,
    /// Paths known to have a value at the current expression.
    known_paths: Vec<Path>,
    /// Whether the agent's language allows comparisons with an unset value.
    unset_comparable: bool,
    /// The names that the runtime of the agent's language owns.
    runtime: &'static RuntimeNames,
}

impl Variables {
    /// None yet, of no agent.
    fn new() -> Self {
        Self {
            all: IndexMap::default(),
            names: Namespace::new(NameSyntax::Word, is_reserved),
            current_names: FxHashMap::default(),
            shared: FxHashMap::default(),
            agent: SmolStr::default(),
            results: FxHashSet::default(),
            constants: FxHashSet::default(),
            known_paths: Vec::new(),
            unset_comparable: false,
            runtime: NONE.runtime(),
        }
    }

    fn enter_agent(&mut self, agent: &Agent) {
        self.current_names.clear();
        self.agent = agent.metadata.name.value.clone();
        let semantics = agent.metadata.dialect.semantics();
        self.runtime = agent.metadata.dialect.runtime();
        self.unset_comparable = semantics.unset_number == Unset::Nothing;
    }

    /// Declares a variable of the agent. Without a type it is merged with any variable of that name.
    fn declare(&mut self, own: &str, ty: &str, about: impl FnOnce(&mut SessionVariable)) -> Name {
        let same = self.shared.entry(SmolStr::new(own)).or_default();
        let fits = |known: &Option<String>| {
            ty.is_empty() || known.as_deref().is_none_or(|known| known == ty)
        };
        let here = self.current_names.get(own);
        let at = same.iter().position(|(name, known)| match here {
            Some(here) => name == here,
            None => fits(known),
        });
        let known = at.and_then(|at| same.get_mut(at));
        let name = match (here, known) {
            (_, Some((name, known))) => {
                if known.is_none() && !ty.is_empty() {
                    *known = Some(ty.to_owned());
                    if let Some(one) = self.all.get_mut(name) {
                        one.ty = Some(type_of(ty));
                    }
                }
                name.clone()
            }
            (Some(here), None) => here.clone(),
            (None, None) => {
                let long = format!("{}_{own}", self.agent);
                let name = self.names.rename("variable", own, &[&long]);
                same.push((name.clone(), (!ty.is_empty()).then(|| ty.to_owned())));
                name
            }
        };
        self.current_names.insert(SmolStr::new(own), name.clone());
        let declared = self.all.entry(name.clone()).or_insert_with(|| SessionVariable {
            ty: Some(type_of(ty)),
            scope: Some("program"),
            mutability: Some("mutable"),
            span: Span::default(),
            ..SessionVariable::new(spanned(name.clone()))
        });
        about(declared);
        name
    }

    /// An assignment that the vendor's compiler compiles: a constant list or object is the initial value of a variable of
    /// its own, which is assigned. `None` if there is no such form.
    fn compiled(&mut self, mut set: SetVariable) -> Option<SetVariable> {
        let forms = dialect::AGENT_SCRIPT.uncompiled_assignments();
        let Some(form) = forms.iter().find(|form| form.is_in(&set.target, &set.value)) else {
            return Some(set);
        };
        let ty = match form {
            UncompiledForm::List => "list",
            UncompiledForm::Object => "object",
            UncompiledForm::PartOfVariable => return None,
        };
        let value = crate::lower::constant(&set.value)?;
        let known = self.all.values().find(|one| {
            one.initial_value.as_ref() == Some(&value) && self.constants.contains(&one.name.value)
        });
        let name = match known {
            Some(known) => known.name.value.clone(),
            None => {
                let name = self.names.claim(&[&format!("{}_value", set.target.root.value)]);
                let constant = SessionVariable {
                    ty: Some(type_of(if value.is_array() { "list" } else { ty })),
                    initial_value: Some(value),
                    scope: Some("program"),
                    mutability: Some("mutable"),
                    span: Span::default(),
                    ..SessionVariable::new(spanned(name.clone()))
                };
                self.all.insert(name.clone(), constant);
                self.constants.insert(name.clone());
                name
            }
        };
        set.value = expr::reference("variables", &name);
        Some(set)
    }

    /// Translates a path of the agent.
    fn path(&mut self, path: &Path) -> Path {
        let mut dotted = path.root.value.to_string();
        let mut found = self.current_names.get(dotted.as_str()).map(|name| (name.clone(), 0));
        for (i, segment) in path.segments.iter().enumerate() {
            let Segment::Field(field) = segment else { break };
            dotted.push('.');
            dotted.push_str(&field.value);
            if let Some(name) = self.current_names.get(dotted.as_str()) {
                found = Some((name.clone(), i + 1));
            }
        }
        let (name, used) = found.unwrap_or_else(|| {
            let ty = if path.segments.is_empty() { "" } else { "object" };
            let name = self.declare(&path.root.value, ty, |declared| {
                // Accessing a member of an unset value would be an error.
                if ty == "object" && declared.initial_value.is_none() {
                    declared.initial_value = Some(json!({}));
                }
            });
            (name, 0)
        });
        Path {
            segments: path.segments.get(used..).unwrap_or_default().to_vec(),
            ..expr::path("variables", &name)
        }
    }
}

/// A type that Agent Script has, or `object`.
fn type_of(text: &str) -> TypeExpr {
    let known = |name: &str| match name.to_ascii_lowercase().as_str() {
        "string" | "str" | "text" | "email" | "phone" | "enum" | "pattern" | "any" | "" => "string",
        "number" | "float" | "int" => "number",
        "integer" => "integer",
        "boolean" | "bool" => "boolean",
        "date" => "date",
        "datetime" => "datetime",
        "time" => "time",
        "currency" => "currency",
        _ => "object",
    };
    if let Some(of) = text.strip_suffix("[]") {
        let of = TypeExpr::named(known(of), Span::default());
        return TypeExpr { kind: TypeKind::Array(Box::new(of)), span: Span::default() };
    }
    match text {
        "list" | "array" | "dict" | "map" => {
            let of = TypeExpr::named("object", Span::default());
            let list = TypeExpr { kind: TypeKind::Array(Box::new(of)), span: Span::default() };
            if matches!(text, "list" | "array") {
                list
            } else {
                TypeExpr::named("object", Span::default())
            }
        }
        name => TypeExpr::named(known(name), Span::default()),
    }
}

/// The declared type, else that of the initial value, else an empty string.
fn type_text(ty: Option<&TypeExpr>, value: Option<&Data>) -> String {
    let of_value = match value {
        Some(Data::Bool(_)) => "boolean",
        Some(Data::Number(_)) => "number",
        Some(Data::Array(_)) => "list",
        Some(Data::Object(_)) => "object",
        _ => "",
    };
    ty.map_or_else(|| of_value.to_owned(), ToString::to_string)
}

/// The state of the adaptation.
struct Adapter<'p> {
    program: &'p Program,
    variables: Variables,
    /// Names of agents and steps, which share a namespace.
    subagents: Namespace,
    /// Names in the output, by name in the program.
    agents: FxHashMap<SmolStr, Name>,
    /// Agents that run elsewhere.
    remote: IndexMap<Name, AgentReference>,
    /// Agents that are delegated to and return control when done.
    delegated: FxHashSet<SmolStr>,
    /// Whether the current agent is one of them.
    returns_control: bool,
    /// The constraints of the current agent.
    constraints: Vec<Constraint>,
    /// The variables that say that a turn of an agent has begun.
    turn_flags: Vec<Name>,
    /// Whether a flow becomes the procedure of one subagent, where that can be.
    agentic: bool,
    /// Which flows do not, and why.
    remarks: Vec<Remark>,
    /// The agents whose flows do.
    procedures: Vec<Name>,
    out: Vec<Agent>,
}

/// Resolves the name of an agent; an alias may only refer to the agent's file.
fn resolve<'a>(program: &Program, agent: &'a Agent, to: &'a SmolStr) -> SmolStr {
    let reference = agent.available_agents.iter().find(|r| r.alias.value == *to);
    let Some(reference) = reference.filter(|_| program.agent(to).is_none()) else {
        return to.clone();
    };
    if let Some(agent) = &reference.agent {
        return agent.value.clone();
    }
    let file = reference.file.as_ref().map_or("", |f| f.value.as_str());
    let stem = file.rsplit('/').next().and_then(|f| f.split('.').next()).unwrap_or_default();
    let named = |a: &&Agent| a.metadata.name.value.eq_ignore_ascii_case(stem);
    program.agents().find(named).map_or_else(|| to.clone(), |a| a.metadata.name.value.clone())
}

/// Agents that are delegated to and never the target of a permanent handoff.
fn delegated_agents(program: &Program) -> FxHashSet<SmolStr> {
    let mut asked = FxHashSet::default();
    let mut taken = FxHashSet::default();
    for agent in program.agents() {
        for handoff in &agent.coordination.handoffs {
            let to = resolve(program, agent, &handoff.to.value);
            if handoff.returns {
                asked.insert(to)
            } else {
                taken.insert(to)
            };
        }
        asked.extend(agent.coordination.delegates.iter().map(|d| d.agent.value.clone()));
    }
    asked.retain(|agent| !taken.contains(agent));
    asked
}

/// A program adapted to Agent Script.
pub(super) struct AdaptedProgram {
    pub(super) agents: Vec<Agent>,
    /// The agent that every conversation starts with.
    pub(super) entry: Option<Name>,
    /// Renamings in the output.
    pub(super) renamed: Vec<Renamed>,
    /// How agents were written.
    pub(super) remarks: Vec<Remark>,
    /// The agents whose flows became procedures.
    pub(super) procedures: Vec<Name>,
    /// The variables for results that no agent declares.
    pub(super) made: FxHashSet<Name>,
}

/// Adapts a program to Agent Script; `agentic` makes flows procedures of one subagent, where that can be.
pub(super) fn program(program: &Program, agentic: bool) -> AdaptedProgram {
    let mut adapter = Adapter {
        program,
        variables: Variables::new(),
        subagents: Namespace::of(NameSyntax::Word),
        agents: FxHashMap::default(),
        remote: IndexMap::new(),
        delegated: delegated_agents(program),
        returns_control: false,
        constraints: Vec::new(),
        turn_flags: Vec::new(),
        agentic,
        remarks: Vec::new(),
        procedures: Vec::new(),
        out: Vec::new(),
    };
    let entry = program.entry().or(program.agents().next());
    let entry_agent = entry;
    let mut agents: Vec<&Agent> = program.agents().collect();
    agents.sort_by_key(|a| entry.is_none_or(|e| !std::ptr::eq(*a, e)));
    for agent in &agents {
        let own = &agent.metadata.name.value;
        let name = adapter.subagents.rename("agent", own, &[&format!("agent_{own}")]);
        adapter.agents.entry(agent.metadata.name.value.clone()).or_insert(name);
    }
    for agent in &agents {
        adapter.agent(agent);
    }
    adapter.end_turns();
    let Adapter { variables, remote, mut out, subagents, remarks, procedures, .. } = adapter;
    let entry = out.first().map(|a| a.metadata.name.value.clone());
    let made = made_for_results(program, &variables);
    if let Some(first) = out.first_mut() {
        first.memory.session = variables.all.into_values().collect();
        first.available_agents = remote.into_values().collect();
        let error = entry_agent.and_then(error_message);
        document(first, error.unwrap_or_else(|| super::words::ERROR.into()));
    }
    let mut renamed = subagents.into_renamed();
    renamed.extend(variables.names.into_renamed());
    AdaptedProgram { agents: out, entry, renamed, remarks, procedures, made }
}

/// The variables that hold results and that no agent declares.
fn made_for_results(program: &Program, variables: &Variables) -> FxHashSet<Name> {
    let mut declared: FxHashSet<&str> = FxHashSet::default();
    for agent in program.agents() {
        declared.extend(agent.memory.session.iter().map(|one| one.name.value.as_str()));
        declared.extend(agent.memory.persistent.iter().map(|one| one.path.value.as_str()));
        agent.walk(&mut |node| {
            if let Node::Field(field) = node {
                declared.insert(field.name.value.as_str());
            }
        });
    }
    let mut made = variables.results.clone();
    for (own, names) in &variables.shared {
        if declared.contains(own.as_str()) {
            for (name, _) in names {
                made.remove(name);
            }
        }
    }
    made
}

/// The message of an agent for failures without a specific one.
fn error_message(agent: &Agent) -> Option<SmolStr> {
    let handler = agent.error_handling.default_handler.as_ref().and_then(|h| h.respond.as_ref());
    let own = || agent.messages.get("error_default").and_then(|m| m.text.as_ref());
    Some(handler.or_else(own)?.text.value.clone())
}

/// Adds settings that a document requires.
fn document(first: &mut Agent, error: SmolStr) {
    let name = first.metadata.name.value.clone();
    let mut keep = |key: &str, value: Data| {
        first.extensions.insert(dialect::AGENT_SCRIPT.id(), key, value, Span::default());
    };
    keep("config", json!({ "developer_name": name.as_str() }));
    keep("access", json!({ "default_agent_user": USER }));
    let message = Response { text: Some(text(error)), ..Response::default() };
    first.messages.insert("error".into(), message);
}

/// An agent with default values apart from its name.
fn empty_agent(name: Name) -> Agent {
    let metadata = Metadata::new(spanned(name), dialect::AGENT_SCRIPT, SmolStr::default());
    Agent::new(metadata, Span::default())
}

impl Adapter<'_> {
    /// The name of another agent; an agent outside the program runs elsewhere.
    fn agent_name(&mut self, own: &str, remote: Option<&Remote>) -> Name {
        if let Some(name) = self.agents.get(own).filter(|_| remote.is_none()) {
            return name.clone();
        }
        let name = match self.remote.keys().find(|n| **n == NameSyntax::Word.legalize(own)) {
            Some(known) => return known.clone(),
            None => self.subagents.rename("agent", own, &[&format!("remote_{own}")]),
        };
        // The platform only reaches agents deployed on it.
        let endpoint = remote
            .and_then(|r| r.endpoint.clone())
            .filter(|a| a.value.starts_with("agentforce://") || a.value.starts_with("agent://"));
        let target = endpoint
            .map_or_else(|| format!("agentforce://{name}"), |address| address.value.to_string());
        self.agents.entry(SmolStr::new(own)).or_insert_with(|| name.clone());
        self.remote.insert(
            name.clone(),
            AgentReference {
                alias: spanned(name.clone()),
                agent: Some(spanned(name.clone())),
                file: Some(spanned(SmolStr::new(target))),
                capabilities: vec![text(own.replace('_', " "))],
                channels: Vec::new(),
                requires_validation: None,
                extensions: Extensions::default(),
                span: Span::default(),
            },
        );
        name
    }

    fn declare(&mut self, agent: &Agent) {
        let variables = &mut self.variables;
        for one in &agent.memory.session {
            variables.declare(
                &one.name.value,
                &type_text(one.ty.as_ref(), one.initial_value.as_ref()),
                |declared| {
                    declared.description = one.description.clone();
                    declared.initial_value = one.initial_value.clone();
                },
            );
        }
        // What a supervisor shares is a variable for every agent.
        for one in self.program.agents().flat_map(|agent| &agent.memory.state) {
            variables.declare(
                &one.name.value,
                &type_text(one.ty.as_ref(), one.default.as_ref()),
                |declared| {
                    declared.description = one.description.clone();
                    declared.initial_value = one.default.clone();
                },
            );
        }
        for one in &agent.memory.persistent {
            variables.declare(
                &one.path.value,
                &type_text(one.ty.as_ref(), one.default_value.as_ref()),
                |declared| {
                    declared.description = one.description.clone();
                    declared.initial_value = one.default_value.clone();
                },
            );
        }
        let mut fields: Vec<_> = agent.gather.fields.iter().collect();
        for step in agent.flow.iter().flat_map(|f| f.definitions.values()) {
            for statement in &step.body.0 {
                if let Statement::Collect(asked) = statement {
                    fields.extend(&asked.gather.fields);
                }
            }
        }
        for field in fields {
            let ty = field.ty.as_ref().map_or("", |t| t.value.as_str());
            let about = field.description.as_ref().or(field.prompt.as_ref());
            let about = about.map(|text| variables.text(text));
            variables.declare(&field.name.value, ty, |declared| {
                // What the declaration of the variable says comes first.
                declared.description = declared.description.take().or(about);
                let initial = declared.initial_value.take();
                declared.initial_value = initial.or_else(|| field.default.clone());
            });
        }
    }

    /// Declares the variables that calls set, before anything reads them.
    fn declare_results(&mut self, agent: &Agent) {
        let mut calls = Vec::new();
        calls_of(&agent.on_start.0, &mut calls);
        agent.hooks.iter().for_each(|(_, hook)| calls_of(&hook.body.0, &mut calls));
        for step in agent.flow.iter().flat_map(|f| f.definitions.values()) {
            calls_of(&step.body.0, &mut calls);
        }
        if agent.flow.is_none() {
            let own = agent.tools.iter().map(|t| &t.name).chain(&agent.use_tools);
            calls.extend(own.map(|name| (name.value.clone(), name.value.clone())));
        }
        for (tool, result_name) in calls {
            self.results(&tool, &result_name);
        }
        // `result` of the last call is resolved where it is used.
        self.variables
            .current_names
            .retain(|name, _| name != "result" && !name.starts_with("result."));
    }

    /// The purpose of another agent, by which the model selects it.
    fn purpose(&self, own: &str, name: &Name) -> String {
        let goal = self.program.agent(own).and_then(|a| a.identity.goal.as_ref());
        goal.map_or_else(|| format!("Go on with {name}"), |goal| goal.text.value.to_string())
    }

    fn tool(&self, name: &str) -> Option<&Tool> {
        self.program.tools().find(|t| t.name.value == name)
    }

    /// Adapts an agent to a subagent; its steps become further subagents.
    fn agent(&mut self, agent: &Agent) {
        self.variables.enter_agent(agent);
        self.constraints.clone_from(&agent.constraints.constraints);
        self.declare(agent);
        self.returns_control =
            !self.out.is_empty() && self.delegated.contains(&agent.metadata.name.value);
        let name = self.agent_name(&agent.metadata.name.value, None);
        self.declare_results(agent);
        let mut new = empty_agent(name.clone());
        let identity = &agent.identity;
        let goal = identity.goal.as_ref().or(agent.metadata.description.as_ref());
        new.identity.goal = Some(match goal {
            Some(goal) => self.variables.text(goal),
            None => text(name.replace('_', " ")),
        });
        new.identity.system_prompt = exposed_tools::system_prompt(&mut self.variables, agent);
        new.execution.model = agent.execution.model.clone();
        let welcome = self.start(agent, &mut new);
        let at = self.out.len();
        self.instructions(agent, &mut new);
        match &agent.flow {
            Some(flow) if !self.as_procedure(agent, flow, &mut new, &welcome) => {
                self.flow(agent, flow, &mut new, welcome);
            }
            Some(_) => {}
            None => {
                for words in welcome {
                    if let Statement::Instruct { text: words } = words {
                        let begin = text(format!("First of all: {}", words.text.value));
                        exposed_tools::instruct(&mut new, None, begin);
                    }
                }
                self.expose_all(agent, &mut new);
            }
        }
        self.out.insert(at, new);
    }

    /// Whether a flow became the procedure of the subagent of its agent.
    fn as_procedure(
        &mut self,
        agent: &Agent,
        flow: &Flow,
        new: &mut Agent,
        welcome: &[Statement],
    ) -> bool {
        if !self.agentic {
            return false;
        }
        let (mut one, variables) = (new.clone(), self.variables.clone());
        match self.procedure(agent, flow, &mut one, welcome) {
            Ok(()) => {
                *new = one;
                self.procedures.push(new.metadata.name.value.clone());
                true
            }
            Err(why) => {
                self.variables = variables;
                self.remarks.push(Remark {
                    agent: new.metadata.name.value.to_string(),
                    cause: format!("each step of the flow is a subagent: {why}"),
                    help: "leave them, or write one subagent with instructions by hand".to_owned(),
                });
                false
            }
        }
    }
}

/// The tools that statements call, and the variables of their results.
fn calls_of(statements: &[Statement], found: &mut Vec<(SmolStr, SmolStr)>) {
    for one in statements {
        match one {
            Statement::Call(call) => {
                let tool = call.tool.value.clone();
                let result_name = call.result.as_ref().map_or(tool.clone(), |r| r.value.clone());
                found.push((tool, result_name));
                for body in [&call.on_success, &call.on_failure] {
                    calls_of(&body.0, found);
                }
                call.on_result.iter().for_each(|b| calls_of(&b.body.0, found));
            }
            Statement::If { branches } | Statement::Await { branches } => {
                branches.iter().for_each(|b| calls_of(&b.body.0, found));
            }
            Statement::Collect(asked) => {
                calls_of(&asked.on_success.0, found);
                calls_of(&asked.on_failure.0, found);
            }
            _ => {}
        }
    }
}

/// An action in Agent Script's form: inputs, and outputs by name.
fn action(tool: &Tool) -> Tool {
    let asks = tool.confirmation_required_at();
    let mut tool = tool.clone();
    tool.extensions = Extensions::default();
    let plain = |ty: &TypeExpr| type_of(&ty.to_string());
    tool.parameters = tool
        .parameters
        .iter()
        .map(|p| Parameter {
            ty: Some(p.ty.as_ref().map_or_else(|| type_of("string"), plain)),
            ..p.clone()
        })
        .collect();
    if let Some(returns) = &mut tool.returns {
        let fields = match &returns.ty.kind {
            TypeKind::Object(fields) => fields
                .iter()
                .map(|f| agentir_expr::TypeField { ty: plain(&f.ty), ..f.clone() })
                .collect(),
            _ => vec![agentir_expr::TypeField {
                name: spanned(Name::new_static("result")),
                optional: false,
                ty: plain(&returns.ty),
            }],
        };
        returns.ty = TypeExpr { kind: TypeKind::Object(fields), span: Span::default() };
    }
    if let Some(span) = asks {
        tool.confirmation.get_or_insert_default().require = Some(Spanned::new("always", span));
    } else if let Some(require) = tool.confirmation.as_mut().and_then(|c| c.require.as_mut()) {
        require.value = "never";
    }
    give_target(&mut tool);
    tool
}

/// Every action has a target (part II, 7): that of a tool without one is a flow of its name, which is to be created.
pub(super) fn give_target(tool: &mut Tool) {
    let binding = tool.binding.take().filter(|binding| binding.0.contains_key("target"));
    tool.binding = binding.or_else(|| {
        let target = json!({ "target": format!("flow://{}", tool.name.value) });
        target.as_object().cloned().map(agentir_ir::Binding)
    });
}
