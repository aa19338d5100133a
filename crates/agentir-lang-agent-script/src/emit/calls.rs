//! Arguments by position, which no `run` has: they are named after the inputs of the action.

use agentir_diagnostics::Spanned;
use agentir_expr::Name;
use agentir_ir::{Agent, Body, Statement};

/// The inputs of an action, in order.
type Inputs = Vec<(Name, Vec<Name>)>;

/// Names the arguments of the calls of an agent of Agent Script itself, as another program may have written them.
pub(super) fn name_arguments(agent: &mut Agent) {
    let tools = agent.tools.iter();
    let inputs: Inputs = tools
        .map(|tool| {
            let names = tool.parameters.iter().map(|input| input.name.value.clone());
            (tool.name.value.clone(), names.collect())
        })
        .collect();
    in_body(&mut agent.on_start, &inputs);
    agent.hooks.bodies_mut().for_each(|body| in_body(body, &inputs));
    if let Some(zone) = &mut agent.reasoning {
        in_body(&mut zone.prepare, &inputs);
        zone.bindings.iter_mut().for_each(|binding| in_body(&mut binding.after, &inputs));
    }
}

fn in_body(body: &mut Body, inputs: &Inputs) {
    for statement in &mut body.0 {
        match statement {
            Statement::Call(call) => {
                let names = inputs.iter().find(|(tool, _)| *tool == call.tool.value);
                let names = names.map_or(&[][..], |(_, names)| names);
                for (argument, name) in call.with.iter_mut().zip(names) {
                    let span = argument.value.span;
                    argument.name.get_or_insert_with(|| Spanned::new(name.clone(), span));
                }
                in_body(&mut call.on_success, inputs);
                in_body(&mut call.on_failure, inputs);
                call.on_result.iter_mut().for_each(|branch| in_body(&mut branch.body, inputs));
            }
            Statement::If { branches } | Statement::Await { branches } => {
                branches.iter_mut().for_each(|branch| in_body(&mut branch.body, inputs));
            }
            _ => {}
        }
    }
}
