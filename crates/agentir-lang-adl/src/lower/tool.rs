//! Lowers the functions of a bot to tools (Appendix C).

use super::ADL;
use crate::python;
use agentir_diagnostics::Span;
use agentir_expr::{Template, TypeExpr, TypeKind};
use agentir_ir::{Data, Extensions, Parameter, Tool};

pub(crate) fn tool(function: python::Function) -> Tool {
    let mut extensions = Extensions::default();
    if function.open {
        extensions.insert(ADL, "kwargs", Data::Bool(true), function.name.span);
    }
    if let Some(returns) = &function.returns {
        extensions.insert(ADL, "returns", Data::from(returns.value.as_str()), returns.span);
    }
    let described = function.description.as_ref().map(|text| text.value.as_str());
    let parameters = function.parameters.into_iter();
    Tool {
        parameters: parameters.map(|one| parameter(one, described.unwrap_or_default())).collect(),
        description: function.description.clone().map(Template::plain),
        extensions,
        span: function.span,
        ..Tool::new(function.name)
    }
}

/// A parameter of a function that is `described` so.
fn parameter(parameter: python::Parameter, described: &str) -> Parameter {
    let mut extensions = Extensions::default();
    let name = &parameter.name;
    let ty = match &parameter.annotation {
        Some(written) => {
            if plain_type(&written.value).is_none() {
                extensions.insert(
                    ADL,
                    "annotation",
                    Data::from(written.value.as_str()),
                    written.span,
                );
            }
            type_of(&written.value, written.span)
        }
        None => documented(described, &name.value).and_then(|ty| type_of(ty, name.span)),
    };
    let default = parameter.default.as_ref().and_then(|written| constant(&written.value));
    if let (Some(written), None) = (&parameter.default, &default) {
        let text = Data::from(written.value.as_str());
        extensions.insert(ADL, "default", text, written.span);
    }
    Parameter {
        required: parameter.default.is_none(),
        default,
        extensions,
        ..Parameter::new(parameter.name, ty)
    }
}

/// The type of an annotation that is a name alone.
fn plain_type(written: &str) -> Option<&'static str> {
    Some(match written {
        "str" => "string",
        "int" => "integer",
        "float" => "float",
        "bool" => "boolean",
        "list" | "List" => "array",
        "dict" | "Dict" => "object",
        _ => return None,
    })
}

/// The type of an annotation: `str`, `list[int]`, `Optional[str]`, `str | None`. Of alternatives that are types, none is
/// the type.
fn type_of(written: &str, span: Span) -> Option<TypeExpr> {
    let written = written.trim();
    let written = written.strip_prefix("typing.").unwrap_or(written);
    if let Some(name) = plain_type(written) {
        return Some(TypeExpr::named(name, span));
    }
    if let Some(of) = inside(written, &["Optional"]) {
        return type_of(of, span);
    }
    let mut different = written.split('|').map(str::trim).filter(|one| *one != "None");
    if written.contains('|') && !written.contains('[') {
        return match (different.next(), different.next()) {
            (Some(only), None) => type_of(only, span),
            _ => None,
        };
    }
    if inside(written, &["dict", "Dict"]).is_some() {
        return Some(TypeExpr::named("object", span));
    }
    let of = inside(written, &["list", "List", "Sequence", "Iterable"])?;
    Some(match type_of(of, span) {
        Some(of) => TypeExpr { kind: TypeKind::Array(Box::new(of)), span },
        None => TypeExpr::named("array", span),
    })
}

/// What stands in the brackets of one of these types.
fn inside<'w>(written: &'w str, names: &[&str]) -> Option<&'w str> {
    let (name, rest) = written.split_once('[')?;
    names.contains(&name.trim()).then(|| rest.strip_suffix(']'))?
}

/// What a docstring says of the type of a parameter, in one of the usual forms: `last4 (str): …`, `last4 (str, optional)`,
/// `last4 : str`, `:type last4: str`, `:param str last4: …`.
fn documented<'d>(docstring: &'d str, name: &str) -> Option<&'d str> {
    docstring.lines().find_map(|line| {
        let line = line.trim();
        let ty = if let Some(rest) = line.strip_prefix(":type ") {
            let (of, ty) = rest.split_once(':')?;
            (of.trim() == name).then_some(ty)?
        } else if let Some(rest) = line.strip_prefix(":param ") {
            let (ty, of) = rest.split_once(':')?.0.trim().rsplit_once(' ')?;
            (of == name).then_some(ty)?
        } else {
            let rest = line.trim_start_matches(['-', '*', ' ']).strip_prefix(name)?.trim_start();
            match rest.strip_prefix('(') {
                Some(rest) => rest.split_once(')')?.0.split(',').next()?,
                None => rest.strip_prefix(':')?.split(',').next()?,
            }
        };
        let ty = ty.trim().trim_end_matches('.');
        type_of(ty, Span::default()).is_some().then_some(ty)
    })
}

/// A default value as data, if it is a literal: what an expression is worth only the function knows. Lists and objects are
/// texts, as they are written.
fn constant(written: &str) -> Option<Data> {
    match written {
        "None" => return Some(Data::Null),
        "True" => return Some(Data::Bool(true)),
        "False" => return Some(Data::Bool(false)),
        _ if written.starts_with(['[', '{']) => return Some(Data::from(written)),
        _ => {}
    }
    let quoted = ["\"", "'"].iter().find_map(|q| written.strip_prefix(q)?.strip_suffix(q));
    if let Some(text) = quoted.filter(|t| !t.contains(['"', '\'', '\\'])) {
        return Some(Data::from(text));
    }
    serde_json::from_str::<serde_json::Number>(written).ok().map(Data::Number)
}
