//! Emits `tools.py`: stubs with the signatures of the tools (Appendix C).

use super::{ADL, verbatim};
use agentir_expr::{TypeExpr, TypeKind};
use agentir_ir::{Data, Extensions, Parameter, Program, ReturnField, ReturnType, Tool};
use agentir_syntax::emit::OutputFile;
use askama::Template;
use rustc_hash::FxHashSet;

#[derive(Template)]
#[template(path = "tools.py", escape = "none")]
struct ToolsFile {
    functions: Vec<Function>,
}

struct Function {
    name: String,
    parameters: String,
    returns: Option<String>,
    docstring: Option<String>,
    /// The results, in AgentIR's notation of types.
    results: Vec<String>,
}

/// The file with all tools; `None` if there are none.
pub(super) fn file(program: &Program) -> Option<OutputFile> {
    let mut seen = FxHashSet::default();
    let functions: Vec<_> =
        program.tools().filter(|t| seen.insert(t.name.value.as_str())).map(function).collect();
    if functions.is_empty() {
        return None;
    }
    // Rendering a built-in template cannot fail.
    let text = ToolsFile { functions }.render().unwrap_or_default();
    Some(OutputFile { path: "tools.py".to_owned(), text })
}

fn own_data<'e>(extensions: &'e Extensions, key: &str) -> Option<&'e Data> {
    extensions.0.get(ADL)?.get(key).map(|e| &e.value)
}

fn function(tool: &Tool) -> Function {
    // In Python, optional parameters follow required ones.
    let (required, optional): (Vec<_>, Vec<_>) =
        tool.parameters.iter().partition(|p| p.required && p.default.is_none());
    let mut parameters: Vec<_> = required.into_iter().chain(optional).map(parameter).collect();
    if own_data(&tool.extensions, "kwargs").is_some() {
        parameters.push("**kwargs".to_owned());
    }
    let returns = own_data(&tool.extensions, "returns").and_then(Data::as_str).map(str::to_owned);
    let returns = returns.or_else(|| annotation(&tool.returns.as_ref()?.ty).map(str::to_owned));
    Function {
        name: identifier(&tool.name.value),
        parameters: parameters.join(", "),
        returns,
        docstring: docstring(tool),
        results: tool.returns.as_ref().map(results).unwrap_or_default(),
    }
}

/// The named fields of the result, else its type.
fn results(returns: &ReturnType) -> Vec<String> {
    if returns.fields.is_empty() {
        return vec![returns.ty.to_string()];
    }
    let optional = |f: &ReturnField| if f.optional { " (optional)" } else { "" };
    returns.fields.iter().map(|f| format!("{}: {}{}", f.name, f.ty, optional(f))).collect()
}

/// The description, the parameters as far as the signature does not describe them, and the result.
fn docstring(tool: &Tool) -> Option<String> {
    let mut paragraphs: Vec<String> = Vec::new();
    paragraphs.extend(tool.description.as_ref().map(verbatim));
    let described: Vec<_> = tool
        .parameters
        .iter()
        .filter_map(|p| {
            Some(format!("{}: {}", identifier(&p.name.value), verbatim(p.description.as_ref()?)))
        })
        .collect();
    if !described.is_empty() {
        paragraphs.push(described.join("\n"));
    }
    if paragraphs.is_empty() {
        return None;
    }
    let text = paragraphs.join("\n\n").replace('\\', "\\\\").replace("\"\"\"", "\\\"\\\"\\\"");
    // A quote at the end would belong to those that close the docstring.
    let text = match text.strip_suffix('"') {
        Some(before) if !before.ends_with('\\') => format!("{before}\\\""),
        _ => text,
    };
    let lines: Vec<_> = text.lines().map(str::trim_end).collect();
    let (first, rest) = lines.split_first()?;
    let mut out = (*first).to_owned();
    for line in rest {
        out.push('\n');
        if !line.is_empty() {
            out.push_str("    ");
            out.push_str(line);
        }
    }
    if !rest.is_empty() {
        out.push_str("\n    ");
    }
    Some(out)
}

fn parameter(parameter: &Parameter) -> String {
    let mut out = identifier(&parameter.name.value);
    let written = own_data(&parameter.extensions, "annotation").and_then(Data::as_str);
    let annotation = written.or_else(|| annotation(parameter.ty.as_ref()?));
    if let Some(annotation) = annotation {
        out += &format!(": {annotation}");
    }
    let default = parameter.default.as_ref().map(constant);
    let default = default.or_else(|| (!parameter.required).then(|| "None".to_owned()));
    if let Some(default) = default {
        let spaced = if annotation.is_some() { " = " } else { "=" };
        out += &format!("{spaced}{default}");
    }
    out
}

/// The Python annotation of a type.
fn annotation(ty: &TypeExpr) -> Option<&'static str> {
    match &ty.kind {
        TypeKind::Named(name) => Some(match name.to_lowercase().as_str() {
            "integer" | "int" | "long" => "int",
            "number" | "float" | "double" | "decimal" | "currency" => "float",
            "boolean" | "bool" => "bool",
            "array" | "list" => "list",
            "object" | "dict" | "map" => "dict",
            "any" | "void" | "null" | "none" => return None,
            _ => "str",
        }),
        TypeKind::Object(_) => Some("dict"),
        TypeKind::Array(_) => Some("list"),
    }
}

/// A default value. A string that is not a constant was stored as Python source.
fn constant(value: &Data) -> String {
    match value {
        Data::Null => "None".to_owned(),
        Data::Bool(value) => if *value { "True" } else { "False" }.to_owned(),
        Data::Number(number) => number.to_string(),
        Data::String(text) if expression(text) => text.clone(),
        Data::String(text) => {
            format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n"))
        }
        Data::Array(items) => {
            format!("[{}]", items.iter().map(constant).collect::<Vec<_>>().join(", "))
        }
        Data::Object(map) => {
            let pairs = map.iter().map(|(k, v)| format!("\"{k}\": {}", constant(v)));
            format!("{{{}}}", pairs.collect::<Vec<_>>().join(", "))
        }
    }
}

/// Whether a text is a Python list, dict or tuple.
fn expression(text: &str) -> bool {
    [('[', ']'), ('{', '}'), ('(', ')')]
        .iter()
        .any(|(open, close)| text.starts_with(*open) && text.ends_with(*close))
}

/// A valid Python identifier.
pub(super) fn identifier(name: &str) -> String {
    const KEYWORDS: &[&str] = &[
        "False", "None", "True", "and", "as", "assert", "async", "await", "break", "class",
        "continue", "def", "del", "elif", "else", "except", "finally", "for", "from", "global",
        "if", "import", "in", "is", "lambda", "nonlocal", "not", "or", "pass", "raise", "return",
        "try", "while", "with", "yield",
    ];
    let mut out: String =
        name.chars().map(|c| if c.is_alphanumeric() || c == '_' { c } else { '_' }).collect();
    if out.is_empty() || out.starts_with(|c: char| c.is_numeric()) {
        out.insert(0, '_');
    }
    if KEYWORDS.contains(&out.as_str()) {
        out.push('_');
    }
    out
}
