//! Tool calls matched with the signatures of their tools.

use crate::symbols::AgentSymbols;
use agentir_diagnostics::closest;
use agentir_expr::{Argument, ExprKind};
use agentir_ir::{Call, Parameter, Tool};

/// A call, with its arguments assigned to parameters.
pub struct MatchedCall<'a> {
    /// The call.
    pub call: &'a Call,
    /// The tool that it calls.
    pub tool: &'a Tool,
    /// Every parameter with its argument, if the call has one.
    pub parameters: Vec<(&'a Parameter, Option<&'a Argument>)>,
    /// Arguments without a parameter.
    pub others: Vec<&'a Argument>,
}

/// Returns the calls that the agent owns, of tools with known parameters.
pub fn matched_calls<'a>(cx: &AgentSymbols<'_, 'a>) -> impl Iterator<Item = MatchedCall<'a>> {
    let calls = cx.index.calls.iter().copied().filter(|call| cx.owns(call.tool.span));
    calls.filter_map(|call| {
        let tool = cx.tool(&call.tool.value)?;
        // The tool declares no signature, or one object holds all arguments.
        let untold = tool.parameters.is_empty() && tool.returns.is_none();
        let whole = matches!(call.with.as_slice(), [Argument { name: None, value }] if matches!(value.kind, ExprKind::Object(_)));
        (!untold && !whole).then(|| matched_call(call, tool))
    })
}

fn matched_call<'a>(call: &'a Call, tool: &'a Tool) -> MatchedCall<'a> {
    let mut parameters: Vec<(&Parameter, Option<&Argument>)> =
        tool.parameters.iter().map(|p| (p, None)).collect();
    let mut others = Vec::new();
    for (at, argument) in call.with.iter().enumerate() {
        let slot = match &argument.name {
            Some(name) => parameters.iter_mut().find(|(p, _)| p.name.value == name.value),
            None => parameters.get_mut(at),
        };
        match slot {
            Some((_, given)) => *given = Some(argument),
            // Python's `**kwargs` takes any argument.
            None if tool.extensions.has("kwargs") => {}
            None => others.push(argument),
        }
    }
    MatchedCall { call, tool, parameters, others }
}

impl<'a> MatchedCall<'a> {
    /// The parameters that the call must pass and does not pass. One that an argument with a misspelled name is meant for
    /// is none of them.
    pub fn missing(&self) -> impl Iterator<Item = &'a Parameter> {
        let names = || self.tool.parameters.iter().map(|p| p.name.value.as_str());
        let others = self.others.iter().filter_map(|argument| argument.name.as_ref());
        let meant: Vec<&str> = others.filter_map(|name| closest(&name.value, names())).collect();
        let absent = self.parameters.iter().filter(|(p, given)| given.is_none() && is_required(p));
        absent.map(|(p, _)| *p).filter(move |p| !meant.contains(&p.name.value.as_str()))
    }
}

/// Whether a call must pass the parameter.
pub fn is_required(parameter: &Parameter) -> bool {
    parameter.required && parameter.default.is_none() && !parameter.is_reserved()
}
