//! The lists of statements that an agent answers for.

use crate::rule::AgentContext;
use agentir_ir::Body;

/// Calls `found` with every list of statements of the agent and of the profiles it uses, those that
/// another agent answers for left out.
pub(crate) fn bodies<'a>(cx: &AgentContext<'a>, found: &mut dyn FnMut(&'a Body)) {
    agentir_flow::bodies(cx.agent, found);
    let own = cx.agent.metadata.name.span.file;
    for profile in cx.profiles().filter(|p| p.span.file != own && cx.answers_for(p.span)) {
        agentir_flow::profile_bodies(profile, found);
    }
}
