//! Inputs and outputs whose names the vendor's compiler reserves.

use super::adapt::expr;
use crate::names::is_reserved;
use agentir_expr::{Name, TypeKind};
use agentir_ir::{Agent, BindingAction, Body, Statement};
use agentir_syntax::emit::{NameSyntax, Namespace, Renamed};

/// The new names of the inputs and outputs of actions.
#[derive(Default)]
struct NewNames {
    /// The action, whether it is an output, and its names.
    all: Vec<(Name, bool, Name, Name)>,
}

impl NewNames {
    fn of(&self, tool: &Name, output: bool, name: &Name) -> Option<&Name> {
        let found =
            self.all.iter().find(|(of, out, from, _)| of == tool && *out == output && from == name);
        found.map(|(.., to)| to)
    }

    /// Gives the reserved ones of some names others.
    fn rename<'n>(&mut self, tool: &Name, output: bool, names: impl Iterator<Item = &'n mut Name>) {
        let mut used = Namespace::new(NameSyntax::Any, is_reserved);
        let (taken, kept): (Vec<_>, Vec<_>) = names.partition(|name| is_reserved(name));
        for name in kept {
            used.claim(&[name]);
        }
        for name in taken {
            let to = used.claim(&[&format!("{name}_value")]);
            self.all.push((tool.clone(), output, name.clone(), to.clone()));
            *name = to;
        }
    }

    fn body(&self, inside: Option<&Name>, body: &mut Body) {
        for statement in &mut body.0 {
            match statement {
                Statement::Set(set) => {
                    if let (Some(tool), Some(path)) = (inside, set.value.as_path())
                        && path.namespace.as_ref().is_some_and(|space| space.value == "outputs")
                        && let Some(to) = self.of(tool, true, &path.root.value)
                    {
                        set.value = expr::reference("outputs", to);
                    }
                }
                Statement::Call(call) => {
                    let tool = call.tool.value.clone();
                    for name in call.with.iter_mut().filter_map(|argument| argument.name.as_mut()) {
                        if let Some(to) = self.of(&tool, false, &name.value) {
                            name.value = to.clone();
                        }
                    }
                    self.body(Some(&tool), &mut call.on_success);
                    self.body(Some(&tool), &mut call.on_failure);
                    for branch in &mut call.on_result {
                        self.body(Some(&tool), &mut branch.body);
                    }
                }
                Statement::If { branches } | Statement::Await { branches } => {
                    branches.iter_mut().for_each(|branch| self.body(inside, &mut branch.body));
                }
                _ => {}
            }
        }
    }
}

/// Renames the inputs and outputs of actions, where they are declared and where they are used.
pub(super) fn rename(agents: &mut [Agent]) -> Vec<Renamed> {
    let mut new = NewNames::default();
    for tool in agents.iter_mut().flat_map(|agent| &mut agent.tools) {
        let name = tool.name.value.clone();
        let known = new.all.iter().any(|(of, ..)| *of == name);
        let before = new.all.len();
        new.rename(&name, false, tool.parameters.iter_mut().map(|input| &mut input.name.value));
        if let Some(TypeKind::Object(fields)) = tool.returns.as_mut().map(|r| &mut r.ty.kind) {
            new.rename(&name, true, fields.iter_mut().map(|field| &mut field.name.value));
        }
        // Each subagent declares the actions that it uses.
        if known {
            new.all.truncate(before);
        }
    }
    for agent in agents.iter_mut().filter(|_| !new.all.is_empty()) {
        new.body(None, &mut agent.on_start);
        agent.hooks.bodies_mut().for_each(|body| new.body(None, body));
        let Some(zone) = &mut agent.reasoning else { continue };
        new.body(None, &mut zone.prepare);
        for binding in &mut zone.bindings {
            let BindingAction::Call { tool } = &binding.action else {
                new.body(None, &mut binding.after);
                continue;
            };
            let tool = tool.value.clone();
            for input in &mut binding.with {
                if let Some(to) = new.of(&tool, false, &input.name.value) {
                    input.name.value = to.clone();
                }
            }
            new.body(Some(&tool), &mut binding.after);
        }
    }
    let renamed = new.all.into_iter().map(|(tool, output, from, to)| Renamed {
        what: if output { "output" } else { "input" },
        from: format!("{tool}.{from}"),
        to: format!("{tool}.{to}"),
        agent: None,
    });
    renamed.collect()
}
