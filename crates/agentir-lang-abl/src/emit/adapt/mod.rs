//! Adapts programs of other languages to ABL's constructs.
//!
//! The result is a program again; a program that came from ABL is unchanged. What another program wrote as ABL's may
//! have steps that ABL's cannot express; these are split.

mod agentic;
mod bodies;
mod choices;
mod expr;
mod peers;
mod reasoning;
mod removed;
mod shared;
mod variables;

use super::knowledge::Bases;
use crate::dialect;
pub(super) use agentic::program as agentic;
use agentir_diagnostics::Spanned;
use agentir_expr::{Expr, Name, Path, Template, TypeExpr};
use agentir_ir::{
    Agent, AgentReference, AgentType, BindingAction, Extensions, Instruction, Knowledge, Node,
    OnReturn, PassedValue, Profile, Program, SetVariable, Statement, Tool, ToolBinding, ToolType,
    VariableBinding,
};
use agentir_syntax::emit::{NameSyntax, Namespace, Renamed, declare_called_tools, knowledge_path};
use expr::Scope;
use indexmap::IndexSet;
use peers::{ForeignVariables, Goals};
use smol_str::{SmolStr, format_smolstr};
use std::sync::Arc;
use variables::Variables;

/// Adapts a program.
pub(super) fn program(program: &Program, bases: &Bases) -> (Program, Vec<Renamed>) {
    let mut program = program.clone();
    let owners = shared::declare(&mut program);
    let foreign = peers::import_variables(&mut program);
    declare_called_tools(&mut program, dialect::ABL);
    let goals = peers::goals(&program);
    let (variables, mut renamed) = variables::rename(&program);
    for agent in program.agents_mut() {
        if agent.metadata.dialect != dialect::ABL {
            let foreign = foreign.get(&agent.metadata.name.value);
            let base = bases.get(agent);
            self::agent((&variables, foreign), &goals, base, agent, &mut renamed);
        } else {
            removed::functions(agent);
            required(agent);
            agent.flow.iter_mut().for_each(bodies::own_flow);
        }
    }
    profiles(&mut program);
    shared::pass_variables(&mut program, &owners);
    for library in program.libraries.iter_mut().map(Arc::make_mut) {
        library.tools.iter_mut().for_each(tool);
    }
    (program, renamed)
}

/// Moves the profiles that adapting made to documents of their own, each under a name of its own: inside of an agent a
/// profile cannot hide tools.
fn profiles(program: &mut Program) {
    let mut names = Namespace::of(NameSyntax::Identifier);
    for profile in program.profiles() {
        names.claim(&[&profile.name.value]);
    }
    let mut made = Vec::new();
    for agent in program.agents_mut().filter(|agent| agent.metadata.dialect != dialect::ABL) {
        let own = agent.metadata.name.value.clone();
        let is_made = |profile: &Profile| profile.name.value == reasoning::INTERNAL_TOOLS;
        let (new, others) = std::mem::take(&mut agent.behavior_profiles)
            .into_iter()
            .partition::<Vec<_>, _>(is_made);
        agent.behavior_profiles = others;
        for mut profile in new {
            profile.name.value = names.claim(&[&format!("{own}_{}", reasoning::INTERNAL_TOOLS)]);
            agent.use_behavior_profiles.push(profile.name.clone());
            made.push(Arc::new(profile));
        }
    }
    program.profiles.extend(made);
}

fn agent(
    (variables, foreign): (&Variables, Option<&ForeignVariables>),
    goals: &Goals,
    base: Option<&SmolStr>,
    agent: &mut Agent,
    renamed: &mut Vec<Renamed>,
) {
    let routes = is_router(agent, goals);
    let guarded = choices::take_guards(agent);
    let exposed = exposed_names(agent);
    renamed.extend(renamed_mentions(agent, &exposed));
    let taking = agent.tools.iter().filter(|tool| !tool.parameters.is_empty());
    let taking: Vec<SmolStr> = taking.map(|tool| tool.name.value.clone()).collect();
    let scope =
        Scope { outputs: None, exposed_names: &exposed, variables, foreign, taking: &taking };
    scope.declarations(agent);
    required(agent);
    texts(scope, agent);
    for body in agent.hooks.bodies_mut() {
        bodies::rewrite(scope, body);
    }
    bodies::rewrite(scope, &mut agent.on_start);
    // ABL completes an agent under an evaluated condition; natural language goes to the model.
    let conditions = std::mem::take(&mut agent.completion.conditions);
    for done in conditions {
        match done.when.as_ref().filter(|w| w.expr().is_none()) {
            Some(words) => {
                let text = format_smolstr!("End the conversation: {}", words.text.value);
                let text = Template::plain(Spanned::new(text, words.span()));
                agent.identity.instructions.push(Instruction { when: None, text });
            }
            None => agent.completion.conditions.push(done),
        }
    }
    if let Some(mut flow) = agent.flow.take() {
        for step in flow.definitions.values_mut() {
            bodies::rewrite(scope, &mut step.body);
        }
        let (flow, steps, counters) = bodies::flow(&flow, agent);
        agent.flow = Some(flow);
        agent.memory.session.extend(counters);
        renamed.extend(steps);
    }
    coordination(scope, agent);
    peers::add_conditions(scope, goals, agent);
    agent.tools.iter_mut().for_each(tool);
    reasoning::hide_unbound_tools(agent);
    if let Some(reasoning) = agent.reasoning.take() {
        reasoning::tool_bindings(scope, agent, reasoning);
    }
    guarded.tell(scope, agent);
    let gates = reasoning::hooks(agent);
    guarded.constrain(scope, agent, &gates);
    // What is decided before the model is asked comes before what it chooses.
    agent.coordination.handoffs.splice(0..0, gates);
    if let Some(knowledge) = agent.knowledge.take() {
        self::knowledge(agent, &knowledge, base);
    }
    // Only supervisors have policies; other agents get instructions.
    if agent.metadata.kind == AgentType::Agent {
        for policy in std::mem::take(&mut agent.policies) {
            let occasion = match policy.name.value.as_str() {
                "exit" => "When the conversation ends",
                _ => "When you cannot help",
            };
            let behaviors = policy.rules.into_iter().filter_map(|r| r.behavior);
            agent.identity.instructions.extend(behaviors.map(|behavior| {
                let text = format_smolstr!("{occasion}: {}", behavior.text.value);
                let text = Template::plain(Spanned::new(text, behavior.text.span));
                Instruction { when: None, text }
            }));
        }
    }
    agent.on_start.0.retain(|s| !matches!(s, Statement::Await { .. } | Statement::Instruct { .. }));
    if routes {
        agent.metadata.kind = AgentType::Supervisor;
        let mut listed: IndexSet<Name> = IndexSet::new();
        for to in agent.coordination.handoffs.iter().map(|handoff| &handoff.to) {
            if listed.insert(to.value.clone()) {
                agent.available_agents.push(AgentReference {
                    alias: to.clone(),
                    agent: Some(to.clone()),
                    file: None,
                    capabilities: Vec::new(),
                    channels: Vec::new(),
                    requires_validation: None,
                    extensions: Extensions::default(),
                    span: to.span,
                });
            }
        }
    }
}

/// Whether all that an agent does is to let the model choose another one of the program (supervisor reference: "It does
/// not execute tools or gather information directly").
fn is_router(agent: &Agent, goals: &Goals) -> bool {
    let chooses = agent.metadata.dialect.traits().model_acts_by_tools
        && agent.metadata.kind == AgentType::Agent
        && agent.available_agents.is_empty();
    let nothing_else = agent.flow.is_none()
        && agent.tools.is_empty()
        && agent.use_tools.is_empty()
        && agent.knowledge.is_none()
        && agent.gather.fields.is_empty()
        && agent.hooks.iter().next().is_none()
        && agent.coordination.delegates.is_empty()
        && agent.coordination.escalation.is_none()
        && agent.completion.conditions.is_empty();
    let Some(zone) = agent.reasoning.as_ref().filter(|_| chooses && nothing_else) else {
        return false;
    };
    let leads_on = |binding: &ToolBinding| {
        binding.after.is_empty()
            && matches!(&binding.action, BindingAction::Handoff { to } if goals.contains_key(&to.value))
    };
    zone.prepare.0.iter().all(|statement| matches!(statement, Statement::Instruct { .. }))
        && zone.bindings.len() > 1
        && zone.bindings.iter().all(leads_on)
        && agent.coordination.handoffs.iter().all(|handoff| handoff.remote.is_none())
}

/// The names under which tools, agents and actions are exposed to the model, with their names in ABL:
/// tools and agents have their own names, other actions are described by a phrase.
fn exposed_names(agent: &Agent) -> Vec<(SmolStr, SmolStr)> {
    let bindings = agent.reasoning.iter().flat_map(|r| &r.bindings);
    bindings
        .map(|binding| {
            let name = &binding.name.value;
            let own = match &binding.action {
                BindingAction::Call { tool: own }
                | BindingAction::Handoff { to: own }
                | BindingAction::Delegate { agent: own } => own.value.clone(),
                BindingAction::Collect if reasoning::has_fixed_values(binding) => name.clone(),
                _ => SmolStr::new(name.replace('_', " ")),
            };
            (name.clone(), own)
        })
        .collect()
}

/// Exposed names in the instructions of an agent that are renamed in ABL.
fn renamed_mentions(agent: &Agent, exposed_names: &[(SmolStr, SmolStr)]) -> Vec<Renamed> {
    let renamed =
        exposed_names.iter().filter(|(name, own)| name != own && expr::is_unambiguous_name(name));
    let mut renamed: Vec<_> = renamed.map(|both| (both, false)).collect();
    agent.walk(&mut |node| {
        if let Node::Template(text) = node {
            for word in text.text.value.split(|c| !expr::in_name(c)) {
                let found = renamed.iter_mut().filter(|((name, _), _)| name == word);
                found.for_each(|(_, mentioned)| *mentioned = true);
            }
        }
    });
    let mentioned = renamed.into_iter().filter(|(_, mentioned)| *mentioned);
    mentioned
        .map(|((from, to), _)| Renamed {
            what: "action",
            from: from.to_string(),
            to: to.to_string(),
            agent: None,
        })
        .collect()
}

/// Adds what ABL requires: a name, and a goal, which defaults to the name.
fn required(agent: &mut Agent) {
    let name = &mut agent.metadata.name;
    if name.value.is_empty() {
        name.value = SmolStr::new_static("agent");
    }
    let is_set = |t: &Template| !t.text.value.trim().is_empty();
    if agent.metadata.kind == AgentType::Agent && !agent.identity.goal.as_ref().is_some_and(is_set)
    {
        let words = SmolStr::new(name.value.replace(['_', '-'], " "));
        agent.identity.goal = Some(Template::plain(Spanned::new(words, name.span)));
    }
}

/// Translates the texts of an agent that may have placeholders.
fn texts(scope: Scope<'_>, agent: &mut Agent) {
    let identity = &mut agent.identity;
    let all = identity.goal.iter_mut().chain(identity.persona.iter_mut());
    all.for_each(|t| scope.text(t));
    identity.limitations.iter_mut().for_each(|t| scope.text(t));
    for instruction in &mut identity.instructions {
        scope.text(&mut instruction.text);
        // Block texts have no trailing spaces.
        let text = &mut instruction.text.text.value;
        *text = SmolStr::new(text.trim_end());
        instruction.when = instruction.when.as_ref().map(|w| scope.condition(w));
    }
    identity.system_prompt.iter_mut().for_each(|p| scope.text(&mut p.template));
    agent.messages.values_mut().filter_map(|m| m.text.as_mut()).for_each(|t| scope.text(t));
}

fn coordination(scope: Scope<'_>, agent: &mut Agent) {
    let c = &mut agent.coordination;
    for handoff in &mut c.handoffs {
        handoff.when = handoff.when.as_ref().map(|w| scope.condition(w));
        let bound = std::mem::take(&mut handoff.context.bindings);
        for VariableBinding { mut variable, value, by_reference } in bound {
            scope.variable(&mut variable);
            let Some(value) = scope.value(&value) else { continue };
            let text = SmolStr::new(value.to_string());
            if by_reference && value.as_path().is_some() {
                let back = Expr::path(Path::variable(variable.clone()), variable.span);
                let on_return = handoff.on_return.get_or_insert_with(default_on_return);
                on_return.map.push((Spanned::new(text.clone(), value.span), back));
            }
            if text == variable.value {
                let ty = SmolStr::new_static("string");
                handoff.context.pass.push(PassedValue { name: variable, ty });
            } else {
                let (target, span) = (Path::variable(variable), value.span);
                handoff.context.set.push(SetVariable { target, value, span });
            }
        }
    }
    for delegate in &mut c.delegates {
        delegate.when = delegate.when.as_ref().map(|w| scope.condition(w));
        delegate.input.retain_mut(|(name, value)| {
            scope.variable(name);
            scope.value(value).map(|new| *value = new).is_some()
        });
    }
    if let Some(escalation) = &mut c.escalation {
        escalation.triggers.retain_mut(|trigger| {
            let Some(when) = &trigger.when else { return true };
            trigger.when = scope.evaluated(when);
            trigger.when.is_some()
        });
    }
    for completion in &mut agent.completion.conditions {
        completion.when = completion.when.as_ref().map(|w| scope.condition(w));
    }
    for rule in agent.routing.iter_mut().flat_map(|r| &mut r.rules) {
        rule.when = rule.when.as_ref().map(|w| scope.condition(w));
    }
}

const fn default_on_return() -> OnReturn {
    OnReturn {
        action: None,
        handler: None,
        resume_with: None,
        map: Vec::new(),
        set: Vec::new(),
        extensions: Extensions(std::collections::BTreeMap::new()),
    }
}

/// Maps `flow://Name` to the action `Name` of the connector `flow`.
fn tool(tool: &mut Tool) {
    let Some(binding) = &mut tool.binding else { return };
    let target = binding.0.get("target").and_then(|t| t.as_str()).map(str::to_owned);
    let Some((scheme, name)) = target.as_deref().and_then(|t| t.split_once("://")) else { return };
    binding.0.shift_remove("target");
    binding.0.insert("connector".to_owned(), scheme.into());
    binding.0.insert("action".to_owned(), name.into());
    tool.tool_type = tool.tool_type.or(Some(ToolType::Connector));
}

/// A knowledge base becomes a search tool; a few fixed answers become instructions. `base`: where its questions are a file.
fn knowledge(agent: &mut Agent, knowledge: &Knowledge, base: Option<&SmolStr>) {
    let span = knowledge.span;
    let template = |text: String| Template::plain(Spanned::new(SmolStr::new(text), span));
    let mut sources: Vec<String> = knowledge.sources.iter().map(|s| s.value.to_string()).collect();
    sources.extend(base.map(|base| knowledge_path(base)));
    if !sources.is_empty() {
        let name = match base {
            Some(base) => format_smolstr!("search_{base}"),
            None => SmolStr::new_static("search_knowledge"),
        };
        let name = Spanned::new(name, span);
        let query = Spanned::new(Name::new_static("query"), span);
        let called = base.unwrap_or(&agent.metadata.name.value);
        let binding = [("kb_name".to_owned(), called.as_str().into())];
        agent.tools.push(Tool {
            description: Some(template(format!("Searches {}", sources.join(", ")))),
            parameters: vec![agentir_ir::Parameter::new(
                query,
                Some(TypeExpr::named("string", span)),
            )],
            tool_type: Some(ToolType::Searchai),
            binding: Some(agentir_ir::Binding(binding.into_iter().collect())),
            span,
            ..Tool::new(name.clone())
        });
        if base.is_some() {
            let text = template(format!(
                "Search with `{name}` and give the answer that it finds, unchanged. If it finds none, say that you do not know."
            ));
            agent.identity.instructions.push(Instruction { when: None, text });
            return;
        }
    }
    let answers: Vec<String> = knowledge
        .questions
        .iter()
        .filter_map(|q| {
            let answer = &q.answer.as_ref()?.text.value;
            let question = q.question.as_ref().map_or("anything else", |t| t.text.value.as_str());
            Some(format!("- {question}\n  {}", answer.replace('\n', "\n  ")))
        })
        .collect();
    if !answers.is_empty() {
        let text = template(format!("Answer these questions like this:\n{}", answers.join("\n")));
        agent.identity.instructions.push(Instruction { when: None, text });
    }
}

/// The label of a constraint on a tool.
fn label(tool: &str) -> SmolStr {
    format_smolstr!("{tool}_guard")
}
