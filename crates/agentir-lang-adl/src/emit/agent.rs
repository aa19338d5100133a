//! Emits an agent, by its type (B.1 to B.5).

use super::expr::Form;
use super::steps::Steps;
use super::yaml::Yaml;
use super::{ADL, Context, form, kind, own_data, prompt, results, verbatim, zone_name};
use crate::AgentKind;
use crate::schema;
use agentir_ir::{Agent, BindingAction, Body, Data, Handoff, Statement};
use agentir_syntax::emit::dotted_path;
use indexmap::IndexSet;
use rustc_hash::FxHashSet;

type Fields = Vec<(String, Yaml)>;

/// Keys of `extensions.adl` that are not fields of the agent.
const NON_FIELDS: &[&str] = &["type", "tools", "file", "step", "return"];

pub(super) fn agent(context: &Context<'_>, agent: &Agent) -> Yaml {
    let kind = kind(agent);
    let mut fields: Fields = vec![("type".to_owned(), Yaml::text(kind.name()))];
    if let Some(text) = description(context, agent) {
        fields.push(("description".to_owned(), Yaml::text(text)));
    }
    let mut args = args(agent);
    if context.agent(&agent.metadata.name.value) == super::MAIN {
        args.extend(context.shared_names());
    }
    if !args.is_empty() && schema_allows(kind, "args") {
        fields.push(("args".to_owned(), Yaml::names(args.into_iter())));
    }
    match kind {
        AgentKind::Kb => knowledge(agent, &mut fields),
        AgentKind::Llm => {
            fields.push(("prompt".to_owned(), Yaml::text(prompt::of(context, agent))));
            let uses = uses(agent);
            if !uses.is_empty() {
                fields.push(("uses".to_owned(), Yaml::names(uses.into_iter())));
            }
            initial(context, agent, &mut fields);
        }
        AgentKind::Ensemble => {
            fields.push(("contains".to_owned(), Yaml::List(members(context, agent))));
            initial(context, agent, &mut fields);
        }
        AgentKind::Flow => {}
    }
    policies(context, agent, kind, &mut fields);
    if kind == AgentKind::Flow {
        flow(context, agent, &mut fields);
    }
    own_fields(agent, kind, &mut fields);
    Yaml::Map(fields)
}

fn schema_allows(kind: AgentKind, field: &str) -> bool {
    schema::by_key(field).is_some_and(|def| def.of(kind) != schema::Standing::Unknown)
}

/// The description, including when other agents choose this one.
fn description(context: &Context<'_>, agent: &Agent) -> Option<String> {
    let goal = agent.identity.goal.as_ref().or(agent.metadata.description.as_ref()).map(verbatim);
    let known = context.chosen_when.get(agent.metadata.name.value.as_str());
    let when: Vec<_> = known
        .into_iter()
        .flatten()
        .filter(|w| form(agent) == Form::ForMica && goal.as_ref() != Some(*w))
        .map(String::as_str)
        .collect();
    let when = when.join("; ");
    match goal {
        goal if when.is_empty() => goal,
        None => Some(when),
        Some(goal) => {
            let goal = goal.trim_end();
            let stop = if goal.ends_with(['.', '!', '?', ':']) { "" } else { "." };
            Some(format!("{goal}{stop} Choose it for: {when}"))
        }
    }
}

/// The arguments: collected fields and variables. MICA ignores undeclared ones.
pub(super) fn args(agent: &Agent) -> IndexSet<&str> {
    let gathered = agent.gather.fields.iter().map(|f| f.name.value.as_str());
    let remembered = agent.memory.session.iter().map(|v| v.name.value.as_str());
    let shared = agent.memory.state.iter().map(|v| v.name.value.as_str());
    let mut all: IndexSet<&str> =
        gathered.chain(remembered).chain(shared.filter(|n| !n.contains('.'))).collect();
    if form(agent) == Form::ForMica {
        let bodies = agent.flow.iter().flat_map(|f| f.definitions.values().map(|s| &s.body));
        for body in bodies.chain([&agent.on_start]) {
            assigned(&body.0, &mut all);
        }
    }
    all
}

/// The variables that statements assign.
fn assigned<'a>(statements: &'a [Statement], all: &mut IndexSet<&'a str>) {
    let mut bodies: Vec<&'a Body> = Vec::new();
    for statement in statements {
        match statement {
            Statement::Set(set) if set.target.segments.is_empty() => {
                all.insert(&set.target.root.value);
            }
            Statement::Collect(collect) => {
                all.extend(collect.gather.fields.iter().map(|f| f.name.value.as_str()));
                bodies.extend([&collect.on_success, &collect.on_failure]);
            }
            Statement::Call(call) => {
                bodies.extend([&call.on_success, &call.on_failure]);
                bodies.extend(call.on_result.iter().map(|b| &b.body));
            }
            Statement::If { branches } | Statement::Await { branches } => {
                bodies.extend(branches.iter().map(|b| &b.body));
            }
            _ => {}
        }
    }
    bodies.into_iter().for_each(|body| assigned(&body.0, all));
}

fn knowledge(agent: &Agent, fields: &mut Fields) {
    let Some(knowledge) = &agent.knowledge else { return };
    let mut rest: Vec<&str> = knowledge.sources.iter().map(|s| s.value.as_str()).collect();
    let mut index: Fields = Vec::new();
    for (key, listed) in knowledge.extensions.0.get(ADL).into_iter().flatten() {
        let Data::Array(listed) = &listed.value else { continue };
        let listed: Vec<_> = listed.iter().filter_map(Data::as_str).collect();
        rest.retain(|source| !listed.contains(source));
        let value = match listed.as_slice() {
            [one] if key == "file" => Yaml::text(*one),
            _ => Yaml::names(listed.into_iter()),
        };
        index.push((key.clone(), value));
    }
    if !rest.is_empty() {
        fields.push(("sources".to_owned(), Yaml::names(rest.into_iter())));
    }
    fields.extend(index);
    let questions = knowledge.questions.iter().map(|q| {
        let text = |key: &str, text: &Option<agentir_expr::Template>| {
            text.as_ref().map(|t| (key.to_owned(), Yaml::text(verbatim(t))))
        };
        Yaml::Map(text("q", &q.question).into_iter().chain(text("a", &q.answer)).collect())
    });
    let questions: Vec<_> = questions.collect();
    if !questions.is_empty() {
        fields.push(("faq".to_owned(), Yaml::List(questions)));
    }
}

/// The functions that the model may call, without duplicates.
pub(super) fn uses(agent: &Agent) -> Vec<&str> {
    let exposed = agent.reasoning.iter().flat_map(|r| {
        let bound = r.bindings.iter().filter_map(|b| match &b.action {
            BindingAction::Call { tool } => Some(tool.value.as_str()),
            _ => None,
        });
        bound.chain(r.available_tools.iter().flatten().map(|t| t.value.as_str()))
    });
    let exposed: Vec<&str> = exposed.collect();
    let own = agent.tools.iter().map(|t| t.name.value.as_str());
    let own = own.filter(|_| exposed.is_empty());
    let named = agent.use_tools.iter().map(|t| t.value.as_str());
    let all = own.chain(exposed.iter().copied()).chain(named);
    match form(agent) {
        Form::AsWritten => all.collect(),
        Form::ForMica => all.collect::<IndexSet<_>>().into_iter().collect(),
    }
}

/// The agents of an ensemble in declaration order, without duplicates.
fn members(context: &Context<'_>, agent: &Agent) -> Vec<Yaml> {
    let native = form(agent) == Form::AsWritten;
    let mut seen: FxHashSet<&str> = FxHashSet::default();
    let mut all = Vec::new();
    let handoffs = agent.coordination.handoffs.iter().filter(|h| !native || h.returns);
    // Agents that run elsewhere cannot be members.
    let mut targets = agent.targets().map(|target| target.value.as_str());
    let own = agent.metadata.name.value.as_str();
    let any = targets.any(|name| name != own && context.agents.contains_key(name));
    // An ensemble without members is none.
    let is_here = |name: &str| native || !any || context.agents.contains_key(name);
    for handoff in handoffs {
        let name = agent.resolve_alias(&handoff.to).value.as_str();
        if is_here(name) && (seen.insert(name) || native) {
            all.push(member(context, name, handoff, native));
        }
    }
    if !native {
        for target in agent.targets().map(|t| t.value.as_str()) {
            if target != agent.metadata.name.value && is_here(target) && seen.insert(target) {
                all.push(Yaml::text(context.agent(target)));
            }
        }
    }
    all
}

fn member(context: &Context<'_>, name: &str, handoff: &Handoff, native: bool) -> Yaml {
    let mut bound: Fields = Vec::new();
    for binding in &handoff.context.bindings {
        let path = binding.value.as_path().and_then(dotted_path);
        let mark = if binding.by_reference { "ref " } else { "" };
        bound.extend(
            path.map(|p| (binding.variable.value.to_string(), Yaml::text(format!("{mark}{p}")))),
        );
    }
    for passed in &handoff.context.pass {
        let plain = !passed.name.value.contains('.');
        if plain && !bound.iter().any(|(name, _)| *name == passed.name.value) {
            bound.push((passed.name.value.to_string(), Yaml::text(passed.name.value.as_str())));
        }
    }
    // What the other agent does not declare it never reads.
    let declared = context.args(name);
    bound.retain(|(argument, _)| native || declared.contains(argument.as_str()));
    let name = context.agent(name);
    if bound.is_empty() {
        return Yaml::text(name);
    }
    Yaml::pair(&name, Yaml::pair("args", Yaml::Map(bound)))
}

/// Steps before the prompt or the choice.
fn initial(context: &Context<'_>, agent: &Agent, fields: &mut Fields) {
    let mut steps = match form(agent) {
        Form::AsWritten => Vec::new(),
        Form::ForMica => first_values(agent),
    };
    steps.extend(Steps::new(agent, None, &context.tools, context).initial(&agent.on_start));
    if steps.iter().any(|s| !matches!(s, Yaml::Comment(_))) {
        fields.push(("steps".to_owned(), Yaml::List(steps)));
    }
}

/// `fallback` and `exit`.
fn policies(context: &Context<'_>, agent: &Agent, kind: AgentKind, fields: &mut Fields) {
    for field in ["fallback", "exit"] {
        if !schema_allows(kind, field) {
            continue;
        }
        let policy = agent.policies.iter().find(|p| p.name.value == field);
        let behavior = policy.and_then(|p| p.rules.first()?.behavior.as_ref()).map(verbatim);
        let named = agent.routing.as_ref().and_then(|r| r.default_agent.as_ref());
        let named = named.filter(|_| field == "fallback" && kind == AgentKind::Ensemble);
        let value = match (own_data(agent, field), named) {
            (Some(value), _) => Some(Yaml::data(value)),
            (_, Some(agent_name)) => {
                Some(Yaml::text(context.agent(&agent.resolve_alias(agent_name).value)))
            }
            _ => behavior.map(Yaml::text),
        };
        // Without one, MICA crashes if no agent matches.
        let default = || {
            let needed = kind == AgentKind::Ensemble && field == "fallback";
            (needed && form(agent) == Form::ForMica).then(|| Yaml::text("default"))
        };
        fields.extend(value.or_else(default).map(|value| (field.to_owned(), value)));
    }
}

fn flow(context: &Context<'_>, agent: &Agent, fields: &mut Fields) {
    let renamed = match form(agent) {
        Form::AsWritten => None,
        Form::ForMica => results::renamed(agent),
    };
    let flow = renamed.as_ref().or(agent.flow.as_ref());
    let mut steps = Steps::new(agent, flow, &context.tools, context);
    let mut before = Vec::new();
    if form(agent) == Form::ForMica {
        before = first_values(agent);
        before.extend(steps.initial(&agent.on_start));
    }
    let blocks = steps.flow(before);
    if !steps.flags.is_empty() {
        let all = args(agent).into_iter().chain(steps.flags.iter().map(String::as_str));
        let all = Yaml::names(all);
        match fields.iter_mut().find(|(key, _)| key == "args") {
            Some((_, args)) => *args = all,
            None => fields.push(("args".to_owned(), all)),
        }
    }
    for (key, steps) in blocks {
        if !steps.is_empty() {
            fields.push((key, Yaml::List(steps)));
        }
    }
    // A flow without steps does not start.
    let end = Yaml::pair("return", Yaml::text("success"));
    match fields.iter_mut().find(|(key, _)| key == "steps") {
        None => fields.push(("steps".to_owned(), Yaml::List(vec![end]))),
        Some((_, Yaml::List(steps))) if steps.iter().all(|s| matches!(s, Yaml::Comment(_))) => {
            steps.push(end);
        }
        Some(_) => {}
    }
}

/// The initial values of variables.
fn first_values(agent: &Agent) -> Vec<Yaml> {
    let values = agent.memory.session.iter().filter_map(|variable| {
        let value = match variable.initial_value.as_ref()? {
            Data::String(text) => Yaml::Quoted(text.clone()),
            Data::Number(number) => Yaml::Raw(number.to_string()),
            Data::Bool(value) => Yaml::Raw(if *value { "True" } else { "False" }.to_owned()),
            _ => return None,
        };
        Some((variable.name.value.to_string(), value))
    });
    let values: Fields = values.collect();
    if values.is_empty() { Vec::new() } else { vec![Yaml::pair("set", Yaml::Map(values))] }
}

/// ADL's own fields that AgentIR does not model.
fn own_fields(agent: &Agent, kind: AgentKind, fields: &mut Fields) {
    for (key, extension) in agent.extensions.0.get(ADL).into_iter().flatten() {
        let index = NON_FIELDS.contains(&key.as_str())
            || key.contains('#')
            || fields.iter().any(|(name, _)| name == key)
            || (matches!(key.as_str(), "fallback" | "exit") && schema_allows(kind, key));
        if !index {
            fields.push((key.clone(), Yaml::data(&extension.value)));
        }
    }
}

/// The agents that take over the reasoning zones of steps.
pub(super) fn zones(agent: &Agent) -> Vec<(String, Yaml)> {
    let steps = agent.flow.iter().flat_map(|f| f.definitions.values());
    let zones = steps.filter_map(|step| {
        let zone = step.reasoning_zone.as_ref()?;
        let mut fields: Fields = vec![("type".to_owned(), Yaml::text(AgentKind::Llm.name()))];
        if let Some(goal) = &zone.goal {
            fields.push(("description".to_owned(), Yaml::text(verbatim(goal))));
        }
        fields.push(("prompt".to_owned(), Yaml::text(prompt::of_zone(agent, step, zone))));
        let all = || agent.tools.iter().map(|t| &t.name);
        let uses: Vec<_> = match &zone.available_tools {
            Some(some) => some.iter().map(|t| t.value.as_str()).collect(),
            None => all().map(|t| t.value.as_str()).collect(),
        };
        if !uses.is_empty() {
            fields.push(("uses".to_owned(), Yaml::names(uses.into_iter())));
        }
        Some((zone_name(&agent.metadata.name.value, &step.name.value), Yaml::Map(fields)))
    });
    zones.collect()
}
