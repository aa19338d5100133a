//! What an agent does when it starts, but for its first message, which is the welcome: `on_init` does it.

use agentir_ir::{Agent, Statement};

/// Moves the statements of an agent of Agent Script itself, as another program may have written them.
pub(super) fn initialize(agent: &mut Agent) {
    let is_message = |statement: &Statement| matches!(statement, Statement::Respond(_));
    if agent.on_start.0.iter().all(is_message) {
        return;
    }
    let (messages, others): (Vec<_>, Vec<_>) =
        std::mem::take(&mut agent.on_start.0).into_iter().partition(is_message);
    agent.on_start.0 = messages;
    let own = &mut agent.hooks.before_agent.get_or_insert_default().body.0;
    own.splice(0..0, others);
}
