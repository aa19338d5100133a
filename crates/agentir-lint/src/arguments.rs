//! Tool calls matched with their signatures, for the rules about arguments.

use crate::rule::AgentContext;
use agentir_expr::{Argument, ExprKind};
use agentir_ir::{Call, Data, Parameter, Tool};

/// A call, with its arguments assigned to parameters.
pub(crate) struct MatchedCall<'a> {
    pub(crate) call: &'a Call,
    pub(crate) tool: &'a Tool,
    /// Every parameter with its argument, if the call has one.
    pub(crate) parameters: Vec<(&'a Parameter, Option<&'a Argument>)>,
    /// Arguments without a parameter.
    pub(crate) others: Vec<&'a Argument>,
}

/// Returns the calls that this agent reports, of tools with known parameters.
pub(crate) fn matched_calls<'a>(cx: &AgentContext<'a>) -> impl Iterator<Item = MatchedCall<'a>> {
    let calls = cx.index.calls.iter().copied().filter(|call| cx.answers_for(call.tool.span));
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
            None if tool.extensions.0.values().any(|e| e.contains_key("kwargs")) => {}
            None => others.push(argument),
        }
    }
    MatchedCall { call, tool, parameters, others }
}

/// Whether a call must pass the parameter.
pub(crate) fn is_required(parameter: &Parameter) -> bool {
    parameter.required
        && parameter.default.is_none()
        && matches!(parameter.source, None | Some("model"))
}

/// Returns a signature as in the declaration: `f(a: string, b: number = 1)`.
pub(crate) fn signature(tool: &Tool) -> String {
    let parameter = |p: &Parameter| {
        let mark = if p.required || p.default.is_some() { "" } else { "?" };
        let ty = p.ty.as_ref().map(|t| format!(": {t}")).unwrap_or_default();
        let default = p.default.as_ref().map(|d| match d {
            // Lists and objects are kept verbatim.
            Data::String(text) if text.starts_with(['[', '{']) => format!(" = {text}"),
            other => format!(" = {other}"),
        });
        let default = default.unwrap_or_default();
        format!("{}{mark}{ty}{default}", p.name)
    };
    let parameters: Vec<String> = tool.parameters.iter().map(parameter).collect();
    format!("{}({})", tool.name, parameters.join(", "))
}
