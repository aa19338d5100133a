//! What the parts of a flow that the model leads wait for.

use super::{AccessKind, AgentCfg, Cfg};
use agentir_expr::Condition;
use agentir_ir::SessionVariable;
use rustc_hash::{FxHashMap, FxHashSet};

impl<'a> Cfg<'a> {
    /// The conditions that end the parts of a flow that the model leads, each with the variables in it that nothing sets: no
    /// statement, tool, field or agent. Only what the user says can give them a value.
    #[must_use]
    pub fn exit_variables(
        &self,
        part: &AgentCfg<'a>,
    ) -> Vec<(&'a Condition, Vec<&'a SessionVariable>)> {
        let steps = part.agent.flow.iter().flat_map(|flow| flow.definitions.values());
        let zones = steps.filter_map(|step| step.reasoning_zone.as_ref());
        let conditions: Vec<&Condition> =
            zones.filter_map(|zone| zone.exit_when.as_ref()).collect();
        if conditions.is_empty() {
            return Vec::new();
        }
        let mut unset: FxHashMap<&str, &SessionVariable> = FxHashMap::default();
        for variable in &part.agent.memory.session {
            unset.entry(variable.name.value.as_str()).or_insert(variable);
        }
        for node in part.nodes() {
            for access in self.defs(node) {
                if matches!(access.kind, AccessKind::Def) {
                    unset.remove(access.variable.root());
                }
            }
        }
        let all = conditions.into_iter().map(|condition| (condition, awaited(condition, &unset)));
        all.filter(|(_, variables)| !variables.is_empty()).collect()
    }
}

/// The variables in a condition among some that nothing sets.
fn awaited<'a>(
    exit_when: &Condition,
    unset: &FxHashMap<&str, &'a SessionVariable>,
) -> Vec<&'a SessionVariable> {
    let Some(until) = exit_when.expr() else { return Vec::new() };
    let mut seen: FxHashSet<&'a str> = FxHashSet::default();
    let mut found = Vec::new();
    until.paths(&mut |path| {
        let name = path.root.value.as_str();
        if let Some(variable) = unset.get(name).filter(|_| path.segments.is_empty())
            && seen.insert(variable.name.value.as_str())
        {
            found.push(*variable);
        }
    });
    found
}
