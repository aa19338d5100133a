//! Lowers the functions of a bot to tools (Appendix C).

use super::ADL;
use crate::python;
use agentir_diagnostics::Spanned;
use agentir_expr::{Template, TypeExpr};
use agentir_ir::{Data, Extensions, Parameter, Tool};
use smol_str::SmolStr;

pub(crate) fn tool(function: python::Function) -> Tool {
    let mut extensions = Extensions::default();
    if function.open {
        extensions.insert(ADL, "kwargs", Data::Bool(true), function.name.span);
    }
    if let Some(returns) = &function.returns {
        extensions.insert(ADL, "returns", Data::from(returns.value.as_str()), returns.span);
    }
    Tool {
        description: function.description.map(Template::plain),
        parameters: function.parameters.into_iter().map(parameter).collect(),
        extensions,
        span: function.span,
        ..Tool::new(function.name)
    }
}

fn parameter(parameter: python::Parameter) -> Parameter {
    let mut extensions = Extensions::default();
    let ty = parameter.annotation.as_ref().and_then(|written| {
        let ty = type_of(written);
        if ty.is_none() {
            extensions.insert(ADL, "annotation", Data::from(written.value.as_str()), written.span);
        }
        ty
    });
    Parameter {
        required: parameter.default.is_none(),
        default: parameter.default.map(|d| constant(&d.value)),
        extensions,
        ..Parameter::new(parameter.name, ty)
    }
}

fn type_of(written: &Spanned<SmolStr>) -> Option<TypeExpr> {
    let name = match written.value.as_str() {
        "str" => "string",
        "int" => "integer",
        "float" => "float",
        "bool" => "boolean",
        "list" | "List" => "array",
        "dict" | "Dict" => "object",
        _ => return None,
    };
    Some(TypeExpr::named(name, written.span))
}

/// A default value as data; anything but a literal is preserved as source text.
fn constant(written: &str) -> Data {
    match written {
        "None" => return Data::Null,
        "True" => return Data::Bool(true),
        "False" => return Data::Bool(false),
        _ => {}
    }
    let quoted = ["\"", "'"].iter().find_map(|q| written.strip_prefix(q)?.strip_suffix(q));
    if let Some(text) = quoted.filter(|t| !t.contains(['"', '\'', '\\'])) {
        return Data::from(text);
    }
    serde_json::from_str::<serde_json::Number>(written)
        .map_or_else(|_| Data::from(written), Data::Number)
}
