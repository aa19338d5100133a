//! Signatures of tools in messages.

use agentir_ir::{Data, Parameter, Tool};

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
