//! Renames variables of other languages whose names are reserved by ABL's runtime or expressions.
//!
//! A name denotes the same variable in every agent that declares it (agents share their session and pass
//! values by name), so it is renamed in the whole program.

use super::expr::Scope;
use crate::dialect;
use crate::inline::is_word_of_expressions;
use crate::runtime_names::RUNTIME;
use agentir_diagnostics::Spanned;
use agentir_expr::Name;
use agentir_ir::{Agent, Gather, Node, Program, Statement};
use agentir_syntax::emit::{NameSyntax, Namespace, Renamed};
use indexmap::IndexSet;
use rustc_hash::FxHashMap;
use smol_str::{SmolStr, format_smolstr};

/// New names of variables.
pub(super) type Variables = FxHashMap<Name, Name>;

/// A replacement for a name that a variable cannot have in ABL.
fn replacement_name(name: &str) -> Option<SmolStr> {
    if let Some(known) = RUNTIME.variable(name).filter(|known| !known.authored_wins) {
        return Some(SmolStr::new_static(known.instead));
    }
    if name.starts_with('_') {
        let free = name.trim_start_matches('_');
        let letter = free.starts_with(char::is_alphabetic);
        return Some(if letter { SmolStr::new(free) } else { format_smolstr!("value_{free}") });
    }
    if RUNTIME.namespace(name).is_some() {
        return Some(format_smolstr!("my_{name}"));
    }
    is_word_of_expressions(name).then(|| format_smolstr!("{name}_value"))
}

/// The variables that an agent declares or writes.
fn own_variables(agent: &Agent, found: &mut IndexSet<Name>) {
    found.extend(agent.memory.session.iter().map(|v| v.name.value.clone()));
    agent.walk(&mut |node| match node {
        Node::Field(field) => {
            found.insert(field.name.value.clone());
        }
        Node::Set(set) if set.target.segments.is_empty() => {
            found.insert(set.target.root.value.clone());
        }
        Node::Writes(name, _) => {
            found.insert(name.value.clone());
        }
        _ => {}
    });
}

/// The renamings needed for variables of a program.
pub(super) fn rename(program: &Program) -> (Variables, Vec<Renamed>) {
    let mut all = IndexSet::new();
    let foreign = |agent: &&Agent| agent.metadata.dialect != dialect::ABL;
    program.agents().filter(foreign).for_each(|agent| own_variables(agent, &mut all));
    // Only results of existing tools are reserved.
    let tools: IndexSet<&str> = program.tools().map(|tool| tool.name.value.as_str()).collect();
    let free = |name: &Name| RUNTIME.tool_of_result(name).is_some_and(|tool| !tools.contains(tool));
    let (taken, kept): (Vec<_>, Vec<_>) = all
        .into_iter()
        .map(|name| (replacement_name(&name).filter(|_| !free(&name)), name))
        .partition(|(instead, _)| instead.is_some());
    let mut used = Namespace::new(NameSyntax::Identifier, |name| replacement_name(name).is_some());
    for (_, name) in &kept {
        used.claim(&[name]);
    }
    let mut variables = Variables::default();
    for (instead, name) in taken {
        let to = used.rename("variable", &name, &[&instead.unwrap_or_default()]);
        variables.insert(name, to);
    }
    (variables, used.into_renamed())
}

impl Scope<'_> {
    /// Renames a variable that is declared, written or passed by name.
    pub(super) fn variable(self, name: &mut Spanned<Name>) {
        if let Some(to) = self.variables.get(&name.value) {
            name.value = to.clone();
        }
    }

    /// Renames the variables of fields.
    pub(super) fn fields(self, gather: &mut Gather) {
        for field in &mut gather.fields {
            self.variable(&mut field.name);
            field.depends_on.iter_mut().for_each(|name| self.variable(name));
            field.prompt.iter_mut().for_each(|t| self.text(t));
        }
        gather.prompt.iter_mut().for_each(|t| self.text(t));
    }

    /// Renames the variables that an agent declares.
    pub(super) fn declarations(self, agent: &mut Agent) {
        agent.memory.session.iter_mut().for_each(|v| self.variable(&mut v.name));
        self.fields(&mut agent.gather);
        let bindings = agent.reasoning.iter_mut().flat_map(|r| &mut r.bindings);
        // Inputs of bindings that only set variables are variables themselves.
        for binding in bindings.filter(|b| matches!(b.action, agentir_ir::BindingAction::Collect)) {
            binding.with.iter_mut().for_each(|input| self.variable(&mut input.name));
        }
    }

    /// Renames the variables that a statement writes by name.
    pub(super) fn rename_written(self, statement: &mut Statement) {
        match statement {
            Statement::Clear { variables } => {
                variables.iter_mut().for_each(|name| self.variable(name));
            }
            Statement::Collect(collect) => self.fields(&mut collect.gather),
            Statement::Call(call) => call.result.iter_mut().for_each(|name| self.variable(name)),
            Statement::Transform(transform) => self.variable(&mut transform.target),
            Statement::Delegate(delegation) | Statement::Handoff(delegation) => {
                delegation.bindings.iter_mut().for_each(|b| self.variable(&mut b.variable));
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::replacement_name;
    use crate::runtime_names::RUNTIME;

    #[test]
    fn what_is_said_instead_is_free() {
        let variables = RUNTIME.variables.iter().map(|v| v.name.replace('*', "x"));
        let words = ["and", "Not", "implies", "null", "__", "_7"].map(str::to_owned);
        for name in
            variables.chain(RUNTIME.namespaces.iter().map(|n| n.name.to_owned())).chain(words)
        {
            if let Some(other) = replacement_name(&name) {
                assert_eq!(replacement_name(&other), None, "{name}: {other}");
            }
        }
        assert_eq!(replacement_name("user_id").as_deref(), Some("customer_id"));
        assert_eq!(replacement_name("_1").as_deref(), Some("value_1"));
        assert_eq!(replacement_name("recent_input"), None, "an author's own takes precedence");
        assert_eq!(replacement_name("order"), None);
    }
}
