//! What the parts of a flow that the model leads wait for.

use super::{Access, AccessKind, AgentCfg, Cfg};
use agentir_expr::Condition;
use agentir_ir::SessionVariable;

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
        let conditions = zones.filter_map(|zone| zone.exit_when.as_ref());
        let all = conditions.map(|condition| (condition, self.awaited_by(part, condition)));
        all.filter(|(_, variables)| !variables.is_empty()).collect()
    }

    fn awaited_by(
        &self,
        part: &AgentCfg<'a>,
        exit_when: &'a Condition,
    ) -> Vec<&'a SessionVariable> {
        let Some(until) = exit_when.expr() else { return Vec::new() };
        let mut found: Vec<&SessionVariable> = Vec::new();
        until.paths(&mut |path| {
            let session = &part.agent.memory.session;
            let declared = session.iter().find(|v| v.name.value == path.root.value);
            if let Some(variable) = declared.filter(|_| path.segments.is_empty())
                && found.iter().all(|other| other.name.value != variable.name.value)
            {
                found.push(variable);
            }
        });
        found.retain(|variable| {
            let name = variable.name.value.as_str();
            !part.nodes().any(|node| {
                let sets =
                    |a: &Access| matches!(a.kind, AccessKind::Def) && a.variable.root() == name;
                self.defs(node).iter().any(sets)
            })
        });
        found
    }
}
