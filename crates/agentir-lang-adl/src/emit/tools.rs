//! Emits `tools.py`: stubs with the signatures of the tools (Appendix C).

use super::{ADL, verbatim};
use agentir_expr::{TypeExpr, TypeKind};
use agentir_ir::{
    Data, Extensions, Node, Parameter, Program, ReturnField, ReturnType, Tool, ToolType,
};
use agentir_syntax::emit::{Invented, InventedAt, OutputFile};
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
    /// The last line.
    body: String,
}

/// The file.
pub(super) const FILE: &str = "tools.py";

/// A function that computes a value and sets an argument.
#[derive(Debug, Clone)]
pub(super) struct Computation {
    /// Its name.
    pub(super) name: String,
    /// The names of its parameters.
    pub(super) parameters: Vec<String>,
    /// The argument.
    pub(super) target: String,
    /// The value, in Python.
    pub(super) value: String,
    /// The value as the source has it.
    pub(super) written: String,
}

impl Computation {
    /// Whether it does the same as another one, whatever they are called.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        (&self.target, &self.value) == (&other.target, &other.value)
    }

    fn function(&self) -> Function {
        Function {
            name: self.name.clone(),
            parameters: self.parameters.join(", "),
            returns: Some("list".to_owned()),
            docstring: docstring_of(&format!("Sets `{}` to: {}", self.target, self.written)),
            results: Vec::new(),
            body: format!("return [{{\"arg\": \"{}\", \"value\": {}}}]", self.target, self.value),
        }
    }
}

/// What a function returns that has failed, where a flow asks whether it has.
const FAILURE: &str = "{\"status\": \"error\", \"msg\": \"why\"}";

/// How a function asks a service.
fn request(tool: &Tool, name: &str, handled: bool) -> String {
    let said = |key: &str| tool.binding.as_ref().and_then(|binding| binding.0.get(key)?.as_str());
    let method = said("method").unwrap_or("POST").to_lowercase();
    let endpoint = said("endpoint").map_or_else(
        || format!("https://service.example/{name}"),
        |endpoint| endpoint.replace("{{", "{").replace("}}", "}"),
    );
    let given =
        |parameter: &&Parameter| endpoint.contains(&format!("{{{}}}", parameter.name.value));
    let (in_address, rest): (Vec<_>, Vec<_>) = tool.parameters.iter().partition(given);
    let names: Vec<String> =
        tool.parameters.iter().map(|one| identifier(&one.name.value)).collect();
    let inputs: Vec<String> = rest
        .iter()
        .map(|one| format!("\"{}\": {}", one.name.value, identifier(&one.name.value)))
        .collect();
    let formatted = if in_address.is_empty() { "" } else { "f" };
    let passed = match (inputs.is_empty(), method.as_str()) {
        (true, _) => String::new(),
        (false, "get" | "delete" | "head") => format!(", params={{{}}}", inputs.join(", ")),
        (false, _) => format!(", json={{{}}}", inputs.join(", ")),
    };
    let address = Data::from(endpoint);
    let call = format!("requests.{method}({formatted}{address}{passed}, timeout=30)");
    let parameters = names.join(", ");
    if !handled {
        return format!(
            "import requests\n\n\ndef {name}({parameters}):\n    answer = {call}\n    answer.raise_for_status()\n    return answer.json()\n"
        );
    }
    format!(
        "import requests\n\n\ndef {name}({parameters}):\n    try:\n        answer = {call}\n        answer.raise_for_status()\n    except requests.RequestException as error:\n        return {{\"status\": \"error\", \"msg\": str(error)}}\n    return answer.json()\n"
    )
}

/// The tools of which a flow asks whether their call has failed.
fn handled_failures(program: &Program) -> FxHashSet<&str> {
    let mut all = FxHashSet::default();
    for agent in program.agents() {
        agent.walk(&mut |node| {
            if let Node::Call(call) = node
                && (!call.on_failure.is_empty() && call.success_when.is_none())
            {
                all.insert(call.tool.value.as_str());
            }
        });
    }
    all
}

/// The tools, each once.
fn distinct(program: &Program) -> impl Iterator<Item = &Tool> {
    let mut seen = FxHashSet::default();
    program.tools().filter(move |tool| seen.insert(tool.name.value.as_str()))
}

/// The functions that are to be written: those of all tools.
pub(super) fn stubs(program: &Program) -> Vec<Invented> {
    let handled = handled_failures(program);
    let stub = |tool: &Tool| {
        let name = identifier(&tool.name.value);
        let handled = handled.contains(tool.name.value.as_str());
        let fails =
            if handled { ", which returns a `status` of `error` where it fails" } else { "" };
        let snippet = match tool.tool_type {
            Some(ToolType::Http) => request(tool, &name, handled),
            _ => String::new(),
        };
        Invented {
            cause: "its stub raises `NotImplementedError`".to_owned(),
            help: format!("write the function `{name}` in `tools.py`{fails}"),
            snippet,
            at: InventedAt::Tool(name),
        }
    };
    distinct(program).map(stub).collect()
}

/// The file with all tools and computations; `None` if there are none.
pub(super) fn file(program: &Program, computations: &[Computation]) -> Option<OutputFile> {
    let handled = handled_failures(program);
    let tools = distinct(program).map(|tool| {
        let handled = handled.contains(tool.name.value.as_str());
        function(tool, handled)
    });
    let functions: Vec<_> = tools.chain(computations.iter().map(Computation::function)).collect();
    if functions.is_empty() {
        return None;
    }
    // Rendering a built-in template cannot fail.
    let text = ToolsFile { functions }.render().unwrap_or_default();
    Some(OutputFile { path: FILE.to_owned(), text })
}

fn own_data<'e>(extensions: &'e Extensions, key: &str) -> Option<&'e Data> {
    extensions.0.get(ADL)?.get(key).map(|e| &e.value)
}

/// The stub of a tool.
fn function(tool: &Tool, handled: bool) -> Function {
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
        results: tool
            .returns
            .as_ref()
            .map(results)
            .unwrap_or_default()
            .into_iter()
            .chain(handled.then(|| format!("and where it fails {FAILURE}")))
            .collect(),
        body: "raise NotImplementedError".to_owned(),
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
    docstring_of(&paragraphs.join("\n\n"))
}

/// A text as the docstring of a function.
fn docstring_of(text: &str) -> Option<String> {
    let text = text.replace('\\', "\\\\").replace("\"\"\"", "\\\"\\\"\\\"");
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
