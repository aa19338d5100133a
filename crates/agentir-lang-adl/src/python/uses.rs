//! Where Python code uses the name of a function of a bot, or of its parameter.
//!
//! Names follow the scopes of Python: a name that a nested function or a comprehension binds is another one. Strings
//! are no uses, but for the docstring, which the model reads. What depends on values (`**arguments`, `locals()`) is
//! not known.

use agentir_syntax::code::{CodeName, CodeReference, CodeUses};
use rustc_hash::{FxHashMap, FxHashSet};
use std::ops::Range;
use tree_sitter::Node;

/// Functions that reach names by their text.
const REFLECTION: &[&str] = &["eval", "exec", "locals", "vars"];

/// Where the code of a file uses a name, and whether another name is free there.
pub(crate) fn uses(text: &str, name: CodeName<'_>, new: &str) -> CodeUses {
    let Some(tree) = parse(text) else { return CodeUses::default() };
    let mut found = Finder { text, name, new, out: CodeUses::default() };
    let root = tree.root_node();
    let functions: Vec<Node<'_>> = definitions(root)
        .into_iter()
        .filter(|node| node.child_by_field_name("name").is_some_and(|n| found.is(n, name.tool)))
        .collect();
    match name.parameter {
        None => found.tool(root, &functions),
        Some(parameter) => {
            for function in &functions {
                found.parameter(*function, parameter);
                found.docstring(*function, parameter);
            }
            found.calls(root, parameter, !functions.is_empty());
        }
    }
    let mut out = found.out;
    out.uses.sort_by_key(|range| range.start);
    out.uses.dedup();
    out
}

fn parse(text: &str) -> Option<tree_sitter::Tree> {
    let mut parser = tree_sitter::Parser::new();
    parser.set_language(&tree_sitter_python::LANGUAGE.into()).ok()?;
    parser.parse(text, None)
}

/// What the code of a file refers to of its own functions: where it calls or names them, names their parameters in a call,
/// and uses these in their bodies. A function whose name something else in the file binds, too, is no one's for
/// certain, and neither are parameters whose uses depend on values.
pub(crate) fn references(text: &str) -> Vec<CodeReference> {
    let Some(tree) = parse(text) else { return Vec::new() };
    let root = tree.root_node();
    let slice = |node: Node<'_>| text.get(node.byte_range()).unwrap_or_default();
    let mut functions: FxHashMap<&str, (Node<'_>, FxHashSet<&str>)> = FxHashMap::default();
    let mut names: FxHashSet<Node<'_>> = FxHashSet::default();
    let mut twice = FxHashSet::default();
    for function in definitions(root) {
        let Some(name) = function.child_by_field_name("name") else { continue };
        let mut parameters = FxHashSet::default();
        if let Some(list) = function.child_by_field_name("parameters") {
            below(list, &mut |node| {
                if node.kind() == "identifier" && is_bound(node) {
                    parameters.insert(slice(node));
                }
                !(is_field(node, "value") || is_field(node, "type"))
            });
        }
        names.insert(name);
        if functions.insert(slice(name), (function, parameters)).is_some() {
            twice.insert(slice(name));
        }
    }
    functions.retain(|name, _| !twice.contains(name));
    let mut bound = FxHashSet::default();
    below(root, &mut |node| {
        if node.kind() == "identifier"
            && !is_member(node)
            && is_bound(node)
            && !names.contains(&node)
        {
            bound.insert(slice(node));
        }
        true
    });
    let callable = |name: &str| functions.get(name).filter(|_| !bound.contains(name));
    let mut found = Vec::new();
    let mut add = |tool: &str, parameter: Option<&str>, at: Range<usize>| {
        let (tool, parameter) = (tool.to_owned(), parameter.map(str::to_owned));
        found.push(CodeReference { tool, parameter, at });
    };
    below(root, &mut |node| {
        if node.kind() == "identifier"
            && !is_member(node)
            && !names.contains(&node)
            && callable(slice(node)).is_some()
        {
            add(slice(node), None, node.byte_range());
        }
        let called = (node.kind() == "call").then(|| node.child_by_field_name("function"));
        let called = called.flatten().filter(|called| called.kind() == "identifier").map(slice);
        let function = called.and_then(|tool| Some((tool, callable(tool)?)));
        let arguments = node.child_by_field_name("arguments");
        if let (Some((tool, (_, parameters))), Some(arguments)) = (function, arguments) {
            let mut cursor = arguments.walk();
            for argument in arguments.named_children(&mut cursor) {
                let name = argument.child_by_field_name("name");
                if let Some(name) = name.filter(|name| parameters.contains(slice(*name))) {
                    add(tool, Some(slice(name)), name.byte_range());
                }
            }
        }
        true
    });
    for (tool, (function, parameters)) in &functions {
        for parameter in parameters {
            let name = CodeName { tool, parameter: Some(parameter) };
            let mut finder = Finder { text, name, new: "", out: CodeUses::default() };
            finder.parameter(*function, parameter);
            if finder.out.unclear.is_none() {
                finder.out.uses.into_iter().for_each(|at| add(tool, Some(parameter), at));
            }
        }
    }
    found
}

/// The top-level functions.
fn definitions(root: Node<'_>) -> Vec<Node<'_>> {
    let mut cursor = root.walk();
    let all = root.children(&mut cursor).filter_map(|node| match node.kind() {
        "function_definition" => Some(node),
        "decorated_definition" => {
            let inner = node.child_by_field_name("definition")?;
            (inner.kind() == "function_definition").then_some(inner)
        }
        _ => None,
    });
    all.collect()
}

/// All nodes below one, in order. Iterative, since code may be nested to any depth.
fn below<'t>(root: Node<'t>, visit: &mut dyn FnMut(Node<'t>) -> bool) {
    let mut open = vec![root];
    while let Some(node) = open.pop() {
        if visit(node) {
            let mut cursor = node.walk();
            let children: Vec<_> = node.named_children(&mut cursor).collect();
            open.extend(children.into_iter().rev());
        }
    }
}

/// Whether a node is a part of its parent.
fn is_field(node: Node<'_>, field: &str) -> bool {
    node.parent().and_then(|parent| parent.child_by_field_name(field)) == Some(node)
}

/// What stands behind a dot or names an argument is no name of a scope.
fn is_member(node: Node<'_>) -> bool {
    let parent = node.parent();
    match parent.map_or("", |parent| parent.kind()) {
        "attribute" => is_field(node, "attribute"),
        "keyword_argument" => is_field(node, "name"),
        "dotted_name" => node.prev_named_sibling().is_some(),
        _ => false,
    }
}

/// Whether a name is bound where it stands: assigned, imported, a parameter.
fn is_bound(mut node: Node<'_>) -> bool {
    while let Some(parent) = node.parent() {
        match parent.kind() {
            "assignment" | "augmented_assignment" | "for_statement" | "for_in_clause" => {
                return is_field(node, "left");
            }
            "named_expression" | "function_definition" | "class_definition" => {
                return is_field(node, "name");
            }
            "default_parameter" | "typed_default_parameter" => return is_field(node, "name"),
            "parameters" | "lambda_parameters" | "as_pattern_target" | "import_statement"
            | "global_statement" | "nonlocal_statement" | "delete_statement" => return true,
            "import_from_statement" => return !is_field(node, "module_name"),
            "typed_parameter" => {
                if is_field(node, "type") {
                    return false;
                }
            }
            "pattern_list"
            | "tuple_pattern"
            | "list_pattern"
            | "list_splat_pattern"
            | "dictionary_splat_pattern"
            | "aliased_import"
            | "dotted_name" => {}
            _ => return false,
        }
        node = parent;
    }
    false
}

struct Finder<'t> {
    text: &'t str,
    name: CodeName<'t>,
    new: &'t str,
    out: CodeUses,
}

impl<'t> Finder<'t> {
    fn slice(&self, node: Node<'_>) -> &'t str {
        self.text.get(node.byte_range()).unwrap_or_default()
    }

    fn is(&self, node: Node<'_>, name: &str) -> bool {
        node.kind() == "identifier" && self.slice(node) == name
    }

    fn unclear(&mut self, node: Node<'_>) {
        self.out.unclear.get_or_insert(node.byte_range());
    }

    /// The uses of a function's name in its module.
    fn tool(&mut self, root: Node<'_>, functions: &[Node<'_>]) {
        let tool = self.name.tool;
        let defined = |node: Node<'_>| {
            functions.iter().any(|function| function.child_by_field_name("name") == Some(node))
        };
        below(root, &mut |node| {
            if self.is(node, tool) {
                if functions.is_empty() {
                    // Another file may import it.
                    self.unclear(node);
                } else if !is_member(node) {
                    if is_bound(node) && !defined(node) {
                        self.unclear(node);
                    }
                    self.out.uses.push(node.byte_range());
                }
            } else if !functions.is_empty() && self.is(node, self.new) && !is_member(node) {
                self.out.taken.get_or_insert(node.byte_range());
            }
            true
        });
    }

    /// The uses of a parameter in its function.
    fn parameter(&mut self, function: Node<'_>, parameter: &str) {
        if let Some(list) = function.child_by_field_name("parameters") {
            below(list, &mut |node| {
                if self.is(node, parameter) && is_bound(node) {
                    self.out.uses.push(node.byte_range());
                }
                self.check_new(node);
                !(is_field(node, "value") || is_field(node, "type"))
            });
        }
        let Some(body) = function.child_by_field_name("body") else { return };
        below(body, &mut |node| {
            self.check_new(node);
            match node.kind() {
                "function_definition" | "lambda" if self.rebinds(node, parameter) => {
                    // Its defaults belong to what is around it.
                    if let Some(list) = node.child_by_field_name("parameters") {
                        let mut cursor = list.walk();
                        let parameters: Vec<_> = list.named_children(&mut cursor).collect();
                        let values =
                            parameters.iter().filter_map(|p| p.child_by_field_name("value"));
                        values.for_each(|value| self.plain(value, parameter));
                    }
                    below(node, &mut |inner| {
                        self.check_new(inner);
                        true
                    });
                    return false;
                }
                "identifier" if self.is(node, parameter) && !is_member(node) => {
                    if in_own_clause(node) {
                        self.unclear(node);
                    }
                    self.out.uses.push(node.byte_range());
                }
                "call" => {
                    let called = node.child_by_field_name("function");
                    if called.is_some_and(|f| REFLECTION.contains(&self.slice(f))) {
                        self.unclear(node);
                    }
                }
                _ => {}
            }
            true
        });
    }

    fn plain(&mut self, node: Node<'_>, name: &str) {
        below(node, &mut |node| {
            if self.is(node, name) && !is_member(node) {
                self.out.uses.push(node.byte_range());
            }
            true
        });
    }

    fn check_new(&mut self, node: Node<'_>) {
        if self.is(node, self.new) && !is_member(node) {
            self.out.taken.get_or_insert(node.byte_range());
        }
    }

    /// Whether a nested function has a name of its own.
    fn rebinds(&self, function: Node<'_>, name: &str) -> bool {
        let (mut bound, mut outer) = (false, false);
        below(function, &mut |node| {
            if self.is(node, name) && is_bound(node) && !in_own_clause(node) {
                let own = node.parent().is_some_and(|p| p.kind() == "nonlocal_statement");
                outer |= own;
                bound |= !own;
            }
            true
        });
        bound && !outer
    }

    /// Calls that name the parameter: `tool(parameter=value)`.
    fn calls(&mut self, root: Node<'_>, parameter: &str, is_defined: bool) {
        let tool = self.name.tool;
        below(root, &mut |node| {
            let called = (node.kind() == "call").then(|| node.child_by_field_name("function"));
            let Some(called) = called.flatten() else { return true };
            let Some(arguments) = node.child_by_field_name("arguments") else { return true };
            let mut cursor = arguments.walk();
            let arguments: Vec<_> = arguments.named_children(&mut cursor).collect();
            let direct = self.is(called, tool);
            let other = called.child_by_field_name("attribute").is_some_and(|a| self.is(a, tool))
                || arguments.iter().any(|argument| self.is(*argument, tool));
            if direct || other {
                for argument in arguments {
                    let name = argument.child_by_field_name("name");
                    if argument.kind() == "dictionary_splat" {
                        self.unclear(argument);
                    } else if let Some(name) = name.filter(|name| self.is(*name, parameter)) {
                        if direct && is_defined {
                            self.out.uses.push(name.byte_range());
                        } else {
                            self.unclear(name);
                        }
                    }
                }
            }
            true
        });
    }

    /// Where the docstring, which the model reads, names the parameter: `name: meaning`, `:param name:`, in marks, or
    /// with `_` inside.
    fn docstring(&mut self, function: Node<'_>, parameter: &str) {
        let body = function.child_by_field_name("body");
        let Some(string) =
            body.and_then(|body| body.named_child(0)).map(|first| match first.kind() {
                "expression_statement" => first.named_child(0).unwrap_or(first),
                _ => first,
            })
        else {
            return;
        };
        if string.kind() != "string" {
            return;
        }
        let (text, start) = (self.slice(string), string.start_byte());
        for (at, _) in text.match_indices(parameter) {
            let (before, rest) = text.split_at(at);
            let after = rest.get(parameter.len()..).unwrap_or_default();
            let is_part = |c: char| c.is_alphanumeric() || c == '_';
            if before.ends_with(is_part) || after.starts_with(is_part) {
                continue;
            }
            let line = before.rsplit('\n').next().unwrap_or_default().trim();
            let documented = (line.is_empty() || line.starts_with(":param"))
                && (after.starts_with(':') || after.starts_with(" ("));
            let marked = before.ends_with('`') && after.starts_with('`');
            if documented || marked || parameter.trim_matches('_').contains('_') {
                let at = start + at;
                self.out.uses.push(Range { start: at, end: at + parameter.len() });
            }
        }
    }
}

/// Whether a name is bound by a clause of a comprehension, which is a scope of its own.
fn in_own_clause(mut node: Node<'_>) -> bool {
    while let Some(parent) = node.parent() {
        match parent.kind() {
            "for_in_clause" => return is_field(node, "left"),
            "pattern_list" | "tuple_pattern" | "list_pattern" => node = parent,
            _ => return false,
        }
    }
    false
}

#[cfg(test)]
#[allow(clippy::indexing_slicing, reason = "tests")]
mod tests {
    use super::*;

    fn renamed(text: &str, tool: &str, parameter: Option<&str>, new: &str) -> Result<String, u8> {
        let found = uses(text, CodeName { tool, parameter }, new);
        if found.taken.is_some() {
            return Err(b't');
        }
        if found.unclear.is_some() {
            return Err(b'u');
        }
        let mut out = text.to_owned();
        found.uses.into_iter().rev().for_each(|range| out.replace_range(range, new));
        Ok(out)
    }

    #[test]
    fn functions_are_used_in_their_module() {
        let text = "import json\nLIMIT = 3\n\ndef find(a):\n    return find(a) + len(x.find) # find\n\nTABLE = {\"find\": find}\n";
        assert_eq!(
            renamed(text, "find", None, "seek").as_deref(),
            Ok(
                "import json\nLIMIT = 3\n\ndef seek(a):\n    return seek(a) + len(x.find) # find\n\nTABLE = {\"find\": seek}\n"
            )
        );
        for taken in ["json", "LIMIT", "len", "TABLE", "a"] {
            assert_eq!(renamed(text, "find", None, taken), Err(b't'), "{taken}");
        }
        assert_eq!(renamed(&format!("{text}find = 3\n"), "find", None, "seek"), Err(b'u'));
        assert_eq!(renamed("from tools import find\n", "find", None, "seek"), Err(b'u'));
        assert_eq!(renamed("x = 1\n", "find", None, "x").as_deref(), Ok("x = 1\n"));
    }

    #[test]
    fn parameters_are_used_in_their_function() {
        let one = |text: &str| renamed(text, "f", Some("a"), "b");
        for (text, new) in [
            ("def f(a): print(a, o.a, a.a, g(a=a))\n", "def f(b): print(b, o.a, b.a, g(a=b))\n"),
            (
                "def f(a: int = a) -> a: return f'{a} a'\n",
                "def f(b: int = a) -> a: return f'{b} a'\n",
            ),
            (
                "def f(a):\n  def g(a): return a\n  return g(a)\n",
                "def f(b):\n  def g(a): return a\n  return g(b)\n",
            ),
            ("def f(a):\n  return lambda a=a: a\n", "def f(b):\n  return lambda a=b: a\n"),
            (
                "def f(a):\n  def g(): return a\n  return g\n",
                "def f(b):\n  def g(): return b\n  return g\n",
            ),
            ("def f(a): pass\na = f(a=a)\n", "def f(b): pass\na = f(b=a)\n"),
            (
                "def f(a):\n  \"\"\"A a.\n\n  a: the a\n  \"\"\"\n",
                "def f(b):\n  \"\"\"A a.\n\n  b: the a\n  \"\"\"\n",
            ),
        ] {
            assert_eq!(one(text).as_deref(), Ok(new), "{text}");
        }
        for unclear in [
            "def f(a): return [a for a in a]\n",
            "def f(a): return locals()['a']\n",
            "def f(a): pass\nf(**x)\n",
            "def f(a): pass\npartial(f, a=1)\n",
            "import m\nm.f(a=3)\n",
        ] {
            assert_eq!(one(unclear), Err(b'u'), "{unclear}");
        }
        for taken in
            ["def f(a):\n  b = 1\n", "def f(a): return b(a)\n", "def f(a): return lambda b: a\n"]
        {
            assert_eq!(one(taken), Err(b't'), "{taken}");
        }
        assert!(one("def f(a): return x.b\n").is_ok());
    }

    #[test]
    fn deep_nesting_is_no_crash() {
        let text = format!("def f(a):\n  return {}a{}\n", "(".repeat(5_000), ")".repeat(5_000));
        assert_eq!(uses(&text, CodeName { tool: "f", parameter: Some("a") }, "b").uses.len(), 2);
    }
}
