//! Arguments by position: `score(id)` is `score` with `id: id`, if that is how the parameter is called.

use agentir_diagnostics::Spanned;
use agentir_expr::Name;
use agentir_ir::{Agent, Body, Branch, Node, Program, Statement, Step};
use rustc_hash::FxHashMap;
use std::borrow::Cow;
use std::sync::Arc;

/// The parameters of the tools, in order.
type Parameters = FxHashMap<Name, Vec<Name>>;

/// A program whose calls name their arguments, where the tool is declared, so that both forms are compared as equal.
#[must_use]
pub fn with_named_arguments(program: &Program) -> Cow<'_, Program> {
    let by_position = |agent: &Agent| {
        let mut found = false;
        agent.walk(&mut |node| {
            found |= matches!(node, Node::Call(call) if call.with.iter().any(|a| a.name.is_none()));
        });
        found
    };
    if !program.agents().any(by_position) {
        return Cow::Borrowed(program);
    }
    let shared = program.libraries.iter().flat_map(|library| &library.tools);
    let shared: Parameters = shared.map(parameters).collect();
    let mut program = program.clone();
    for agent in program.agents.iter_mut().filter(|agent| by_position(agent)) {
        let agent = Arc::make_mut(agent);
        let mut all = shared.clone();
        all.extend(agent.tools.iter().map(parameters));
        in_agent(agent, &all);
    }
    Cow::Owned(program)
}

fn parameters(tool: &agentir_ir::Tool) -> (Name, Vec<Name>) {
    let names = tool.parameters.iter().map(|parameter| parameter.name.value.clone());
    (tool.name.value.clone(), names.collect())
}

fn in_agent(agent: &mut Agent, all: &Parameters) {
    in_body(&mut agent.on_start, all);
    agent.hooks.bodies_mut().for_each(|body| in_body(body, all));
    for handler in &mut agent.action_handlers {
        in_body(&mut handler.body, all);
    }
    let errors = &mut agent.error_handling;
    for handler in errors.handlers.iter_mut().chain(errors.default_handler.as_deref_mut()) {
        in_body(&mut handler.body, all);
    }
    if let Some(zone) = &mut agent.reasoning {
        in_body(&mut zone.prepare, all);
        zone.bindings.iter_mut().for_each(|binding| in_body(&mut binding.after, all));
    }
    if let Some(flow) = &mut agent.flow {
        flow.definitions.values_mut().for_each(|step| in_step(step, all));
        for digression in &mut flow.global_digressions {
            in_body(&mut digression.body, all);
        }
    }
}

fn in_step(step: &mut Step, all: &Parameters) {
    in_body(&mut step.body, all);
    for digression in step.digressions.iter_mut().chain(&mut step.sub_intents) {
        in_body(&mut digression.body, all);
    }
    step.on_action.iter_mut().for_each(|handler| in_body(&mut handler.body, all));
    step.on_error.iter_mut().for_each(|handler| in_body(&mut handler.body, all));
}

fn in_branches(branches: &mut [Branch], all: &Parameters) {
    branches.iter_mut().for_each(|branch| in_body(&mut branch.body, all));
}

fn in_body(body: &mut Body, all: &Parameters) {
    for statement in &mut body.0 {
        match statement {
            Statement::Call(call) => {
                let names = all.get(&call.tool.value).map_or(&[][..], Vec::as_slice);
                for (argument, name) in call.with.iter_mut().zip(names) {
                    let span = argument.value.span;
                    argument.name.get_or_insert_with(|| Spanned::new(name.clone(), span));
                }
                in_body(&mut call.on_success, all);
                in_body(&mut call.on_failure, all);
                in_branches(&mut call.on_result, all);
            }
            Statement::Collect(collect) => {
                in_body(&mut collect.on_success, all);
                in_body(&mut collect.on_failure, all);
            }
            Statement::If { branches } | Statement::Await { branches } => {
                in_branches(branches, all);
            }
            _ => {}
        }
    }
}
