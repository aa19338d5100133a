//! Reads the functions of a bot (Appendix C): names, parameters, defaults and descriptions from Python
//! files, and their imports.
//!
//! The files are parsed, never executed. The parser recovers from errors, so a function is found even if
//! the file has errors elsewhere.

mod uses;

pub(crate) use uses::{references, uses};

use crate::rules;
use agentir_diagnostics::{Diagnostic, FileId, Span, Spanned};
use agentir_expr::Name;
use agentir_syntax::text::{first_line, offset};
use smol_str::SmolStr;
use tree_sitter::Node;

/// A top-level function.
#[derive(Debug, Clone, PartialEq)]
pub struct Function {
    /// Its name.
    pub name: Spanned<Name>,
    /// Its parameters, in order.
    pub parameters: Vec<Parameter>,
    /// Whether it takes arbitrary keyword arguments: `**kwargs`.
    pub open: bool,
    /// The docstring, which describes the function to the model (C.2).
    pub description: Option<Spanned<SmolStr>>,
    /// The annotated return type, as written.
    pub returns: Option<Spanned<SmolStr>>,
    /// The location in the source.
    pub span: Span,
}

/// A parameter.
#[derive(Debug, Clone, PartialEq)]
pub struct Parameter {
    /// Its name.
    pub name: Spanned<Name>,
    /// The annotation, as written.
    pub annotation: Option<Spanned<SmolStr>>,
    /// The default, as written; it makes the parameter optional.
    pub default: Option<Spanned<SmolStr>>,
}

/// The contents of a Python file.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Module {
    /// The top-level functions.
    pub functions: Vec<Function>,
    /// The imported modules, anywhere in the file; the full name of `a.b`.
    pub imports: Vec<Spanned<Name>>,
    /// The first syntax error: what follows may have been misread.
    pub stopped: Option<Span>,
}

/// Whether a text is the name of a function or a parameter.
pub(crate) fn is_name(text: &str) -> bool {
    let module = read(FileId(0), &format!("def {text}(): pass\n"), &mut Vec::new());
    let is_it = |function: &Function| function.name.value == text;
    module.stopped.is_none() && module.functions.iter().all(is_it) && module.functions.len() == 1
}

/// Parses a file. Never fails: the first syntax error is reported.
pub fn read(file: FileId, text: &str, problems: &mut Vec<Diagnostic>) -> Module {
    let mut parser = tree_sitter::Parser::new();
    let tree = match parser.set_language(&tree_sitter_python::LANGUAGE.into()) {
        Ok(()) => parser.parse(text, None),
        Err(_) => None,
    };
    let Some(tree) = tree else { return Module::default() };
    let source = Source { file, text };
    let root = tree.root_node();
    let mut found = Vec::new();
    let mut cursor = root.walk();
    for node in root.children(&mut cursor) {
        match node.kind() {
            "function_definition" => found.extend(source.function(node)),
            "decorated_definition" => {
                let inner = node.child_by_field_name("definition");
                let inner = inner.filter(|n| n.kind() == "function_definition");
                found.extend(inner.and_then(|n| source.function(n)));
            }
            _ => {}
        }
    }
    let mut stopped = None;
    if root.has_error() {
        let error = first_error(root);
        let at = error.map_or(Span::new(file, 0, 0), |n| first_line(text, source.span(n)));
        let message = match error.filter(Node::is_missing) {
            Some(missing) => format!("invalid Python syntax: expected `{}`", missing.kind()),
            None => "invalid Python syntax".to_owned(),
        };
        problems.push(
            Diagnostic::error(rules::SYNTAX, at, message)
                .note("MICA does not start if a tool file has syntax errors"),
        );
        stopped = Some(at);
    }
    Module { functions: found, imports: source.imports(root), stopped }
}

/// The comments of a file, in order.
#[must_use]
pub fn comments(file: FileId, text: &str) -> Vec<Span> {
    let mut parser = tree_sitter::Parser::new();
    let tree = match parser.set_language(&tree_sitter_python::LANGUAGE.into()) {
        Ok(()) => parser.parse(text, None),
        Err(_) => None,
    };
    let Some(tree) = tree else { return Vec::new() };
    let mut found = Vec::new();
    let mut open = vec![tree.root_node()];
    while let Some(node) = open.pop() {
        if node.kind() == "comment" {
            found.push(Span::new(file, offset(node.start_byte()), offset(node.end_byte())));
        }
        let mut cursor = node.walk();
        let below: Vec<_> = node.children(&mut cursor).collect();
        open.extend(below.into_iter().rev());
    }
    found
}

struct Source<'s> {
    file: FileId,
    text: &'s str,
}

impl<'s> Source<'s> {
    fn span(&self, node: Node<'_>) -> Span {
        Span::new(self.file, offset(node.start_byte()), offset(node.end_byte()))
    }

    fn slice(&self, node: Node<'_>) -> &'s str {
        self.text.get(node.byte_range()).unwrap_or_default()
    }

    fn spanned(&self, node: Node<'_>) -> Spanned<SmolStr> {
        Spanned::new(SmolStr::new(self.slice(node)), self.span(node))
    }

    /// The imports of a file. Iterative, to avoid deep recursion.
    fn imports(&self, root: Node<'_>) -> Vec<Spanned<Name>> {
        let mut found = Vec::new();
        let mut open = vec![root];
        while let Some(node) = open.pop() {
            let mut cursor = node.walk();
            match node.kind() {
                "import_statement" => {
                    for name in node.children_by_field_name("name", &mut cursor) {
                        let name = name.child_by_field_name("name").unwrap_or(name);
                        found.push(self.spanned(name));
                    }
                }
                "import_from_statement" => {
                    let from = node.child_by_field_name("module_name");
                    found.extend(
                        from.filter(|n| n.kind() == "dotted_name").map(|n| self.spanned(n)),
                    );
                }
                _ => open.extend(node.named_children(&mut cursor)),
            }
        }
        found.sort_by_key(|name| name.span.start);
        found
    }

    fn function(&self, node: Node<'_>) -> Option<Function> {
        let name = self.spanned(node.child_by_field_name("name")?);
        let mut parameters = Vec::new();
        let mut open = false;
        if let Some(list) = node.child_by_field_name("parameters") {
            let mut cursor = list.walk();
            for parameter in list.named_children(&mut cursor) {
                match self.parameter(parameter) {
                    Some(parameter) => parameters.push(parameter),
                    None => open |= parameter.kind().starts_with("dictionary_splat"),
                }
            }
        }
        Some(Function {
            name,
            parameters,
            open,
            description: node.child_by_field_name("body").and_then(|body| self.docstring(body)),
            returns: node.child_by_field_name("return_type").map(|n| self.spanned(n)),
            span: self.span(node),
        })
    }

    fn parameter(&self, node: Node<'_>) -> Option<Parameter> {
        let name = match node.kind() {
            "identifier" => node,
            // The name of `p: type` has no field of its own; `*p: type` is not a named parameter.
            "typed_parameter" => node.named_child(0).filter(|n| n.kind() == "identifier")?,
            "default_parameter" | "typed_default_parameter" => {
                node.child_by_field_name("name").filter(|n| n.kind() == "identifier")?
            }
            _ => return None,
        };
        Some(Parameter {
            name: self.spanned(name),
            annotation: node.child_by_field_name("type").map(|n| self.spanned(n)),
            default: node.child_by_field_name("value").map(|n| self.spanned(n)),
        })
    }

    /// The string that a body starts with.
    fn docstring(&self, body: Node<'_>) -> Option<Spanned<SmolStr>> {
        let mut first = body.named_child(0)?;
        let mut at = 0;
        while first.kind() == "comment" {
            at += 1;
            first = body.named_child(at)?;
        }
        let string = match first.kind() {
            "expression_statement" => first.named_child(0)?,
            "string" => first,
            _ => return None,
        };
        if string.kind() != "string" {
            return None;
        }
        let raw = self.slice(string);
        let quoted = raw.trim_start_matches(|c: char| c.is_ascii_alphabetic());
        let inner = ["\"\"\"", "'''", "\"", "'"]
            .iter()
            .find_map(|q| quoted.strip_prefix(q)?.strip_suffix(q))?;
        Some(Spanned::new(dedented(inner), self.span(string)))
    }
}

/// A docstring without indentation.
fn dedented(text: &str) -> SmolStr {
    let lines: Vec<&str> = text.trim().lines().map(str::trim).collect();
    SmolStr::new(lines.join("\n"))
}

/// The first syntax error. Iterative, since malformed code may be nested to any depth.
fn first_error(root: Node<'_>) -> Option<Node<'_>> {
    let mut open = vec![root];
    while let Some(node) = open.pop() {
        if node.is_error() || node.is_missing() {
            return Some(node);
        }
        let mut cursor = node.walk();
        let below: Vec<_> = node.children(&mut cursor).filter(|n| n.has_error()).collect();
        open.extend(below.into_iter().rev());
    }
    None
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing)]
mod tests {
    use super::*;

    #[test]
    fn signatures_defaults_and_docstrings_are_read() {
        let text = "import os\n\n@tool\ndef book(seat: str, row=3, *rest, late: bool = False, **more) -> list:\n    # why\n    \"\"\"Books a seat.\n\n    For tonight.\"\"\"\n    return []\n\nasync def cancel(): pass\n\nclass Hall:\n    def hidden(self): pass\n";
        let mut problems = Vec::new();
        let Module { functions: found, imports, .. } = read(FileId(0), text, &mut problems);
        assert_eq!(problems, []);
        assert_eq!(imports.iter().map(|i| i.value.as_str()).collect::<Vec<_>>(), ["os"]);
        let names: Vec<_> = found.iter().map(|f| f.name.value.as_str()).collect();
        assert_eq!(names, ["book", "cancel"]);
        let book = &found[0];
        let parameters: Vec<_> = book
            .parameters
            .iter()
            .map(|p| {
                let text = |t: &Option<Spanned<SmolStr>>| t.as_ref().map(|t| t.value.to_string());
                (p.name.value.to_string(), text(&p.annotation), text(&p.default))
            })
            .collect();
        let some = |s: &str| Some(s.to_owned());
        assert_eq!(
            parameters,
            [
                ("seat".to_owned(), some("str"), None),
                ("row".to_owned(), None, some("3")),
                ("late".to_owned(), some("bool"), some("False")),
            ]
        );
        assert!(book.open);
        assert_eq!(book.description.as_ref().unwrap().value, "Books a seat.\n\nFor tonight.");
        assert_eq!(book.returns.as_ref().unwrap().value, "list");
    }

    #[test]
    fn a_broken_file_is_reported_once_and_read_on() {
        let mut problems = Vec::new();
        let text =
            "def a(x):\n    return x\n\ndef b(y):\n    return y + )\n\ndef c(z):\n    pass\n";
        let found = read(FileId(0), text, &mut problems).functions;
        assert_eq!(problems.len(), 1);
        assert!(found.iter().any(|f| f.name.value == "a"), "{found:?}");
        assert!(found.iter().any(|f| f.name.value == "c"), "{found:?}");
    }

    #[test]
    fn imports_are_found_wherever_they_stand() {
        let text = "import a.b as c, d\nfrom e import f\nfrom . import g\ndef h():\n    if True:\n        from i.j import k\n";
        let module = read(FileId(0), text, &mut Vec::new());
        let names: Vec<_> = module.imports.iter().map(|i| i.value.as_str()).collect();
        assert_eq!(names, ["a.b", "d", "e", "i.j"]);
    }

    #[test]
    fn deep_nesting_is_no_crash() {
        let mut problems = Vec::new();
        read(FileId(0), &format!("x = {}", "(".repeat(100_000)), &mut problems);
        assert_eq!(problems.len(), 1);
    }
}
