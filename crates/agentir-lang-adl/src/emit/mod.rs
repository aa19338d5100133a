//! The ADL emitter: `agents.yml`, `config.yml` with settings, and `tools.py` with the tools' signatures.
//!
//! The type of each agent follows the conventions of ADL: an agent with a flow becomes a flow agent, one
//! that only routes an ensemble, one with only a knowledge base a kb agent, and any other an llm agent.
//! Constructs that ADL lacks become sentences in the prompt of an llm agent.
//!
//! Flows are inverted to ADL's steps: a step that only its predecessor continues to becomes a
//! label, one that others jump ahead to a subflow. Agents that hand over to each other share an
//! ensemble, because MICA changes the agent only there. Conditions that Table 4 of the paper has no
//! form for become natural language. What cannot be expressed is a sentence in the prompt or a
//! comment `not in ADL`. Settings go to `config.yml`: those of the bot, or the model that agents of
//! another language have in common.

mod agent;
mod config;
mod expr;
mod losses;
mod prompt;
mod results;
mod steps;
mod text;
mod tools;
mod yaml;

use crate::AgentKind;
use crate::dialect::LAST_MESSAGE;
use crate::{dialect, names};
use agentir_diagnostics::Spanned;
use agentir_expr::{Condition, Dialect, Name, Path, Segment, Template};
use agentir_ir::{
    Agent, AgentType, Body, Data, Handoff, NamedThing, Program, Statement, Tool, ToolBinding,
};
use agentir_syntax::emit::{
    Choices, Emitted, Emitter, LossRule, NameSyntax, Namespace, OutputFile, Renamed, dotted_path,
    is_user_message, phrase, template_phrase, with_legal_names,
};
use expr::Form;
use indexmap::IndexSet;
use losses::LOSSES;
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::RefCell;
use tools::Computation;
use yaml::Yaml;

/// Writes an `agents.yml` file, and a Python file with the signatures of the tools.
struct Writer;

/// The emitter.
pub static EMITTER: &dyn Emitter = &Writer;

impl Emitter for Writer {
    fn name(&self) -> &'static str {
        ADL
    }

    fn title(&self) -> &'static str {
        dialect::ADL.title()
    }

    fn summary(&self) -> &'static str {
        "ADL"
    }

    fn dialect(&self) -> Dialect {
        dialect::ADL
    }

    fn emit(&self, program: &Program) -> Emitted {
        emit(program)
    }

    fn shares_tools(&self, _: &Program) -> bool {
        // They are functions of one module (C.1).
        true
    }

    fn code_file(&self) -> Option<&'static str> {
        Some(tools::FILE)
    }

    fn losses(&self) -> &'static [&'static [LossRule]] {
        &[LOSSES]
    }
}

/// The key of ADL's extensions.
const ADL: &str = dialect::ADL.id();

/// The agent that a program starts with (B.6).
const MAIN: &str = "main";

/// Context of emitting agents.
struct Context<'p> {
    program: &'p Program,
    agents: FxHashMap<&'p str, &'p Agent>,
    chosen_when: FxHashMap<&'p str, IndexSet<String>>,
    tools: FxHashMap<&'p str, &'p Tool>,
    kinds: FxHashMap<&'p str, AgentKind>,
    args: FxHashMap<&'p str, FxHashSet<&'p str>>,
    /// The renaming of an agent that has the name of ADL's first agent.
    main: Option<Renamed>,
    /// What all agents share, by its path: arguments of ADL's first agent, which is there as long as the conversation.
    shared: FxHashMap<&'p str, &'p str>,
    /// The functions that compute values which `set` cannot.
    computations: RefCell<Vec<Computation>>,
}

/// The state of supervisors, and the persistent memory that agents write: by its path, with the name of an argument.
fn shared(program: &Program) -> FxHashMap<&str, &str> {
    let mut written: FxHashSet<String> = FxHashSet::default();
    for agent in program.agents() {
        agent.walk(&mut |node| {
            if let agentir_ir::Node::Set(set) = node {
                written.insert(set.target.to_string());
            }
        });
    }
    let mut all: FxHashMap<&str, &str> = FxHashMap::default();
    let mut taken: FxHashSet<&str> = FxHashSet::default();
    for agent in program.agents().filter(|agent| form(agent) == Form::ForMica) {
        let state = agent.memory.state.iter().map(|one| one.name.value.as_str());
        let kept = agent.memory.persistent.iter().map(|one| one.path.value.as_str());
        for path in state.chain(kept.filter(|path| written.contains(*path))) {
            if let Some((_, name)) = path.rsplit_once('.')
                && !all.contains_key(path)
                && taken.insert(name)
            {
                all.insert(path, name);
            }
        }
    }
    all
}

/// When others choose an agent, by its name.
fn chosen_when(program: &Program) -> FxHashMap<&str, IndexSet<String>> {
    let mut all: FxHashMap<&str, IndexSet<String>> = FxHashMap::default();
    for agent in program.agents() {
        let c = &agent.coordination;
        let choices = Choices::of(agent);
        // Whatever the model chooses it chooses by the description; the guard is said in the prompt, and is no reason.
        let reason = |when: Option<&Condition>, choice: Option<&ToolBinding>| match choice {
            Some(choice) => choice.description.as_ref().map(verbatim),
            None => when.map(phrase),
        };
        let handoffs = c.handoffs.iter().zip(&choices.handoffs);
        let handoffs = handoffs.map(|(h, choice)| (&h.to, reason(h.when.as_ref(), *choice)));
        let delegates = c.delegates.iter().zip(&choices.delegates);
        let delegates = delegates.map(|(d, choice)| (&d.agent, reason(d.when.as_ref(), *choice)));
        let rules = agent.routing.iter().flat_map(|r| &r.rules);
        let rules = rules.filter_map(|r| Some((r.to.as_ref()?, reason(r.when.as_ref(), None))));
        for (to, reason) in handoffs.chain(delegates).chain(rules) {
            let to = agent.resolve_alias(to).value.as_str();
            all.entry(to).or_default().extend(reason);
        }
    }
    all
}

/// The renaming of an agent called `main` that is not the entry.
fn main(program: &Program) -> Option<Renamed> {
    if program.agents().all(|a| a.metadata.dialect == dialect::ADL) || program.agent(MAIN).is_none()
    {
        return None;
    }
    let mut names = Namespace::of(NameSyntax::Any);
    for agent in program.agents() {
        names.claim(&[&agent.metadata.name.value]);
    }
    names.rename("agent", MAIN, &["main_agent"]);
    names.into_renamed().pop()
}

impl<'p> Context<'p> {
    fn new(program: &'p Program) -> Self {
        let mut context = Self {
            program,
            agents: FxHashMap::default(),
            chosen_when: chosen_when(program),
            tools: FxHashMap::default(),
            kinds: FxHashMap::default(),
            args: FxHashMap::default(),
            main: main(program),
            shared: shared(program),
            computations: RefCell::default(),
        };
        for tool in program.tools() {
            context.tools.entry(&tool.name.value).or_insert(tool);
        }
        for agent in program.agents() {
            let name = agent.metadata.name.value.as_str();
            context.agents.entry(name).or_insert(agent);
            context.kinds.insert(name, kind(agent));
            context.args.insert(name, agent::args(agent).into_iter().collect());
        }
        context
    }

    /// The name of an agent in the output.
    fn agent(&self, name: &str) -> String {
        match &self.main {
            Some(renamed) if renamed.from == name => renamed.to.clone(),
            _ => name.to_owned(),
        }
    }

    /// The arguments of ADL's first agent that all agents share, in order.
    fn shared_names(&self) -> Vec<&'p str> {
        let mut all: Vec<&str> = self.shared.values().copied().collect();
        all.sort_unstable();
        all
    }

    /// The name of a function that computes a value: one that does already, or a new one.
    fn computation(&self, new: Computation) -> String {
        let mut all = self.computations.borrow_mut();
        if let Some(known) = all.iter().find(|known| known.is_same(&new)) {
            return known.name.clone();
        }
        let taken = |name: &str| {
            self.tools.contains_key(name)
                || self.agents.contains_key(name)
                || all.iter().any(|known| known.name == name)
        };
        let numbered = (2_u32..).map(|number| format!("{}_{number}", new.name));
        let mut names = std::iter::once(new.name.clone()).chain(numbered);
        let name = names.find(|name| !taken(name)).unwrap_or_default();
        all.push(Computation { name: name.clone(), ..new });
        name
    }

    fn args(&self, agent: &str) -> FxHashSet<&'p str> {
        self.args.get(agent).cloned().unwrap_or_default()
    }

    fn kind(&self, agent: &str) -> Option<AgentKind> {
        self.kinds.get(agent).copied()
    }
}

/// What the names in expressions and texts of an agent may be.
#[derive(Clone, Copy)]
struct Scope<'p> {
    form: Form,
    agent: &'p Agent,
    context: &'p Context<'p>,
}

impl Scope<'_> {
    /// How ADL calls what a path refers to: an argument of this or another agent, what a function returned, the last
    /// message. It has no names for anything else, such as the item of a list or what a platform knows of the user.
    fn name(self, path: &Path) -> Option<String> {
        if self.form == Form::AsWritten {
            return dotted_path(path);
        }
        if let Some(shared) = self.shared(path) {
            return Some(shared);
        }
        let root = path.root.value.as_str();
        let own = self.context.args.get(self.agent.metadata.name.value.as_str());
        if own.is_some_and(|args| args.contains(root)) {
            return dotted_path(path);
        }
        if path.segments.is_empty() && is_user_message(path) {
            return Some(LAST_MESSAGE.to_owned());
        }
        let field = path.first_field()?.value.as_str();
        let of_agent = self.context.args.get(root).is_some_and(|args| args.contains(field));
        (of_agent || self.context.tools.contains_key(root)).then(|| dotted_path(path)).flatten()
    }
}

impl Scope<'_> {
    /// How ADL calls what all agents share: an argument of its first agent.
    fn shared(self, path: &Path) -> Option<String> {
        if self.form == Form::AsWritten || path.namespace.is_some() {
            return None;
        }
        (0..=path.segments.len()).rev().find_map(|length| {
            let (own, rest) = path.segments.split_at_checked(length)?;
            let own = Path { segments: own.to_vec(), ..path.clone() }.to_string();
            let name = self.context.shared.get(own.as_str())?;
            let root = Spanned::new(Name::new_static(MAIN), path.root.span);
            let mut segments = vec![Segment::Field(Spanned::new(Name::new(name), root.span))];
            segments.extend_from_slice(rest);
            dotted_path(&Path { namespace: None, root, segments })
        })
    }
}

fn form(agent: &Agent) -> Form {
    if agent.metadata.dialect == dialect::ADL { Form::AsWritten } else { Form::ForMica }
}

/// ADL's own data of an agent that AgentIR does not model.
fn own_data<'a>(agent: &'a Agent, key: &str) -> Option<&'a Data> {
    agent.extensions.0.get(ADL)?.get(key).map(|e| &e.value)
}

/// The ADL type of an agent.
fn kind(agent: &Agent) -> AgentKind {
    let declared = own_data(agent, "type").and_then(Data::as_str).and_then(AgentKind::from_name);
    if let Some(kind) = declared {
        return kind;
    }
    let works = !agent.gather.fields.is_empty()
        || !agent.tools.is_empty()
        || !agent.use_tools.is_empty()
        || agent.reasoning.is_some();
    let instructed = !agent.identity.instructions.is_empty()
        || agent.identity.system_prompt.is_some()
        || agent.identity.persona.is_some();
    // A member of an ensemble of ADL comes back.
    let comes_back = |handoff: &Handoff| handoff.returns || form(agent) == Form::ForMica;
    // An ensemble has members.
    let own = agent.metadata.name.value.as_str();
    let chooses = agent.targets().any(|target| target.value != own)
        && (agent.routing.is_some() || agent.coordination.handoffs.iter().any(comes_back));
    let supervises = agent.metadata.kind == AgentType::Supervisor;
    match () {
        () if agent.flow.is_some() => AgentKind::Flow,
        () if agent.is_knowledge_base() => AgentKind::Kb,
        () if chooses && (supervises || (!works && !instructed)) => AgentKind::Ensemble,
        () => AgentKind::Llm,
    }
}

/// The agent that takes over the reasoning zone of a step.
fn zone_name(agent: &str, step: &str) -> String {
    format!("{agent}_{step}")
}

/// The agents that an agent may lead to: by declarations, after calls and around turns.
fn reachable_agents<'p>(agent: &'p Agent) -> Vec<&'p str> {
    let mut found: Vec<_> = agent.targets().map(|t| t.value.as_str()).collect();
    let mut open: Vec<&'p Body> =
        agent.reasoning.iter().flat_map(|r| &r.bindings).map(|b| &b.after).collect();
    open.extend(agent.hooks.iter().map(|(_, hook)| &hook.body));
    while let Some(body) = open.pop() {
        for statement in &body.0 {
            match statement {
                Statement::Handoff(d) | Statement::Delegate(d) => found.push(&d.agent.value),
                Statement::If { branches } => open.extend(branches.iter().map(|b| &b.body)),
                _ => {}
            }
        }
    }
    found
}

/// The members of the ensemble in which agents hand the conversation to each other. ADL's agents can only
/// hand over within an ensemble.
fn handoff_ensemble<'p>(context: &Context<'p>, entry: &'p Agent) -> IndexSet<&'p str> {
    let mut members = IndexSet::from([entry.metadata.name.value.as_str()]);
    let mut hands_over = false;
    let mut at = 0;
    while let Some(name) = members.get_index(at).copied() {
        at += 1;
        let Some(agent) = context.agents.get(name) else { continue };
        if context.kind(name) == Some(AgentKind::Ensemble) {
            continue;
        }
        for target in reachable_agents(agent).into_iter().filter(|t| context.agents.contains_key(t))
        {
            hands_over = true;
            members.insert(target);
        }
    }
    if hands_over && form(entry) == Form::ForMica { members } else { IndexSet::new() }
}

/// ADL's first agent: it has what all agents share as its arguments.
fn first_agent(context: &Context<'_>, steps: Vec<Yaml>) -> Yaml {
    let mut fields = vec![("type".to_owned(), Yaml::text(AgentKind::Flow.name()))];
    let shared = context.shared_names();
    if !shared.is_empty() {
        fields.push(("args".to_owned(), Yaml::names(shared.into_iter())));
    }
    fields.push(("steps".to_owned(), Yaml::List(steps)));
    Yaml::Map(fields)
}

/// `main`, and the ensemble that it calls, if one is needed.
fn entry_agents(context: &Context<'_>) -> Vec<(String, Yaml)> {
    let program = context.program;
    let native = program.agents().any(|a| a.metadata.dialect == dialect::ADL);
    let entry = program.entry().or_else(|| {
        let chooses = |a: &&Agent| kind(a) == AgentKind::Ensemble;
        let first = program.agents().find(chooses).or_else(|| program.agents().next());
        first.filter(|_| !native)
    });
    let named_main = |a: &Agent| context.agent(&a.metadata.name.value) == MAIN;
    let Some(entry) = entry.filter(|e| !named_main(e)) else { return Vec::new() };
    if native && program.agent(MAIN).is_some() {
        return Vec::new();
    }
    let own = context.agent(&entry.metadata.name.value);
    let members = handoff_ensemble(context, entry);
    if members.is_empty() {
        let steps = vec![Yaml::pair("call", Yaml::text(own))];
        return vec![(MAIN.to_owned(), first_agent(context, steps))];
    }
    let mut team = format!("{own}_team");
    while program.agent(&team).is_some() {
        team.push('_');
    }
    let ensemble = Yaml::Map(vec![
        ("type".to_owned(), Yaml::text(AgentKind::Ensemble.name())),
        ("description".to_owned(), Yaml::text(format!("Begins with {own}"))),
        (
            "contains".to_owned(),
            Yaml::List(members.iter().map(|m| Yaml::text(context.agent(m))).collect()),
        ),
        ("fallback".to_owned(), Yaml::text("default")),
    ]);
    let steps = vec![Yaml::pair("call", Yaml::text(team.as_str()))];
    vec![(MAIN.to_owned(), first_agent(context, steps)), (team, ensemble)]
}

/// The agents in output order: ADL's own order, else the entry first and each agent followed by those it
/// leads to.
fn output_order<'p>(context: &Context<'p>) -> Vec<&'p Agent> {
    let native = context.program.agents().any(|a| a.metadata.dialect == dialect::ADL);
    if native {
        return context.program.agents().collect();
    }
    let mut all: IndexSet<&str> =
        context.program.entry().iter().map(|e| e.metadata.name.value.as_str()).collect();
    let mut at = 0;
    while let Some(name) = all.get_index(at).copied() {
        at += 1;
        let targets = context.agents.get(name).into_iter().flat_map(|a| reachable_agents(a));
        all.extend(targets.filter(|t| context.agents.contains_key(t)));
    }
    all.extend(context.program.agents().map(|a| a.metadata.name.value.as_str()));
    all.iter().filter_map(|name| context.agents.get(name).copied()).collect()
}

fn emit(program: &Program) -> Emitted {
    let flows = || program.agents().filter_map(|agent| agent.flow.as_ref());
    // The key of the steps that a flow begins with is no name of theirs.
    let is_written = |step: &str| {
        let mut all = flows().filter(|flow| flow.definitions.contains_key(step));
        all.any(|flow| !steps::is_nameless(flow, step))
    };
    let (program, mut renamed) = with_legal_names(program, |what, name| {
        names::can_be_written(what, name)
            || (what == NamedThing::Step && name == steps::MAIN_STEPS && !is_written(name))
    });
    let program = &program;
    let context = Context::new(program);
    let mut entries = Vec::new();
    for agent in program.agents() {
        if let Some(Data::Array(files)) = own_data(agent, "tools") {
            entries.push(("tools".to_owned(), Yaml::names(files.iter().filter_map(Data::as_str))));
        }
    }
    entries.extend(entry_agents(&context));
    for agent in output_order(&context) {
        entries.push((context.agent(&agent.metadata.name.value), agent::agent(&context, agent)));
        entries.extend(agent::zones(agent));
    }
    let mut files = vec![OutputFile { path: "agents.yml".to_owned(), text: yaml::file(&entries) }];
    files.extend(config::file(program));
    files.extend(tools::file(program, &context.computations.borrow()));
    renamed.extend(context.main);
    Emitted { files, renamed, invented: tools::stubs(program), ..Emitted::default() }
}

/// The source text of a template, including placeholders.
fn verbatim(text: &Template) -> String {
    if text.parts.is_empty() { text.text.value.to_string() } else { template_phrase(text) }
}
