//! The mapping of names between two programs.

use agentir_ir::{Agent, Program, Statement};
use rustc_hash::{FxHashMap, FxHashSet};

/// Maps the agents and variables of a program to those of another one, the first.
#[derive(Clone, Debug, Default)]
pub struct Names {
    /// Agents that both programs have, by their names in this one.
    agents: FxHashMap<String, String>,
    /// Renamed variables, by their names in this program.
    renamed: FxHashMap<String, String>,
    /// For each agent of the first program, the variables that both have, as pairs of the names in
    /// this and in the first program.
    declared: FxHashMap<String, Vec<(String, String)>>,
}

impl Names {
    /// The mapping of a program to itself.
    #[must_use]
    pub fn own(program: &Program) -> Self {
        Self::between(program, program, [])
    }

    /// The mapping of `second` to `first`. `renamed` lists the kind (`agent`, `variable`), the name
    /// in the first and the name in the second program.
    #[must_use]
    pub fn between<'n>(
        first: &Program,
        second: &Program,
        renamed: impl IntoIterator<Item = (&'n str, &'n str, &'n str)>,
    ) -> Self {
        let mut names = Self::default();
        let mut agents: FxHashMap<&str, &str> = FxHashMap::default();
        for (what, from, to) in renamed {
            match what {
                "variable" => {
                    names.renamed.insert(to.to_owned(), from.to_owned());
                }
                "agent" => {
                    agents.insert(from, to);
                }
                _ => {}
            }
        }
        for agent in first.agents() {
            let name = agent.metadata.name.value.as_str();
            let there = agents.get(name).copied().unwrap_or(name);
            if second.agent(there).is_some() {
                names.agents.insert(there.to_owned(), name.to_owned());
            }
        }
        // If no names match, the entry agents correspond.
        if names.agents.is_empty()
            && let (Some(one), Some(other)) = (begins(first), begins(second))
        {
            let name = |agent: &Agent| agent.metadata.name.value.to_string();
            names.agents.insert(name(other), name(one));
        }
        let there: FxHashSet<String> = second.agents().flat_map(declared).collect();
        for agent in first.agents() {
            let mut both = Vec::new();
            for own in &there {
                let first = names.variable(own);
                if declared(agent).any(|name| name == first) {
                    both.push((own.clone(), first.to_owned()));
                }
            }
            names.declared.insert(agent.metadata.name.value.to_string(), both);
        }
        names
    }

    /// The name of an agent in the first program; `None` if only this one has it.
    pub(crate) fn agent(&self, own: &str) -> Option<&str> {
        self.agents.get(own).map(String::as_str)
    }

    /// The name of a variable in the first program.
    pub(crate) fn variable<'n>(&'n self, own: &'n str) -> &'n str {
        self.renamed.get(own).map_or(own, String::as_str)
    }

    /// The variables of an agent of the first program that both have, as pairs of names.
    pub(crate) fn variables(&self, agent: Option<&str>) -> impl Iterator<Item = (&str, &str)> {
        let of = agent.and_then(|agent| self.declared.get(agent));
        of.into_iter().flatten().map(|(own, first)| (own.as_str(), first.as_str()))
    }
}

fn begins(program: &Program) -> Option<&Agent> {
    program.entry().or_else(|| program.agents().next())
}

/// The variables that an agent declares, in memory and as fields.
fn declared(agent: &Agent) -> impl Iterator<Item = String> + '_ {
    let mut fields = Vec::new();
    agentir_flow::bodies(agent, &mut |body| {
        for statement in &body.0 {
            if let Statement::Collect(collect) = statement {
                fields.extend(collect.gather.fields.iter().map(|f| f.name.value.to_string()));
            }
        }
    });
    let memory = agent.memory.session.iter().map(|v| v.name.value.to_string());
    let gather = agent.gather.fields.iter().map(|f| f.name.value.to_string());
    memory.chain(gather).chain(fields)
}
