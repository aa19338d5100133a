//! What an agent does when it starts, but for its first message, which is the welcome: it is done before the first
//! reasoning, which a variable tells. Only nodes with a schema have `on_init`.

use super::adapt::{before_turn, boolean, branch, expr, set};
use super::data;
use agentir_diagnostics::{Span, Spanned};
use agentir_expr::{Name, TypeExpr};
use agentir_ir::{Agent, Data, SessionVariable, Statement};
use std::mem;

/// The variable that says whether an agent of Agent Script itself, a node of a network or what another program wrote, has
/// started, if it does something then.
pub(super) fn initialize(agent: &mut Agent) -> Option<SessionVariable> {
    let is_message = |statement: &Statement| matches!(statement, Statement::Respond(_));
    let (messages, mut first): (Vec<_>, Vec<_>) =
        mem::take(&mut agent.on_start.0).into_iter().partition(is_message);
    agent.on_start.0 = messages;
    if !data::own_fields(&agent.extensions).contains_key("schema") {
        first.extend(agent.hooks.before_agent.take().into_iter().flat_map(|hook| hook.body.0));
    }
    // Of others there is no form.
    first.retain(|statement| {
        matches!(
            statement,
            Statement::Set(_) | Statement::Call(_) | Statement::If { .. } | Statement::Handoff(_)
        )
    });
    if first.is_empty() {
        return None;
    }
    let own = agent.metadata.name.value.split(|c: char| !c.is_ascii_alphanumeric());
    let own: Vec<&str> = own.filter(|part| !part.is_empty()).collect();
    let name = Name::new(format!("{}_started", own.join("_")));
    let mut flag = SessionVariable::new(Spanned::new(name, Span::default()));
    flag.ty = Some(TypeExpr::named("boolean", Span::default()));
    flag.initial_value = Some(Data::Bool(false));
    flag.mutability = Some("mutable");
    let unset = expr::not(expr::reference("variables", &flag.name.value));
    // First, because nothing is done behind a transition.
    first.insert(0, set(&flag.name.value, boolean(true)));
    before_turn(agent).insert(0, Statement::If { branches: vec![branch(unset, first)] });
    Some(flag)
}
