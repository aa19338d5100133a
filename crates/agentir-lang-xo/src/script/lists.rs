//! Reads what scripts do with lists: loops that fill another list, and `filter`, `map` and `slice`.

use super::{ROOTS, Reader, Statement, starts_with_path};
use crate::tables::SESSION_OBJECTS;
use agentir_diagnostics::Spanned;
use agentir_expr::{Expr, ExprKind, Literal, Name, Path, Visit};
use tree_sitter::Node;

/// A list that is made of another one.
#[derive(Debug, Clone)]
pub struct Made {
    /// The other list.
    pub source: Expr,
    /// What each of its items is called in the other fields.
    pub item: Spanned<Name>,
    /// Which items are taken; all of them if absent.
    pub filter: Option<Expr>,
    /// The fields of what is made of an item; the item itself if there are none.
    pub fields: Vec<(Spanned<Name>, Expr)>,
    /// How many are taken.
    pub limit: Option<Expr>,
}

impl Made {
    /// Whether one of its parts holds for a path.
    pub(super) fn reads(&self, is: &mut dyn FnMut(&Path) -> bool) -> bool {
        let fields = self.fields.iter().map(|(_, value)| value);
        let all = fields.chain([&self.source]).chain(&self.filter).chain(&self.limit);
        let mut found = false;
        all.for_each(|part| part.paths(&mut |path| found |= is(path)));
        found
    }
}

/// A loop over a list.
struct Loop<'n> {
    source: Expr,
    item: Spanned<Name>,
    body: Node<'n>,
}

/// Where items are put.
enum Filled<'t> {
    Local(&'t str),
    Path(Path),
}

/// What the body of a loop does.
struct Pushed<'t> {
    list: Filled<'t>,
    filter: Option<Expr>,
    fields: Vec<(Spanned<Name>, Expr)>,
}

impl<'t> Reader<'t> {
    /// A loop of the script itself that does nothing but fill a list that was empty. `out`: what happened before.
    pub(super) fn fills(
        &mut self,
        node: Node<'_>,
        depth: u16,
        out: &mut Vec<Statement>,
    ) -> Option<()> {
        if depth > 0 {
            return None;
        }
        let outside = (self.locals.clone(), self.lists.clone());
        let filled = self.repeated(node).and_then(|each| {
            let pushed = self.pushed(each.body, &each.item, 0)?;
            Some((each, pushed))
        });
        (self.locals, self.lists) = outside;
        self.index = None;
        let (Loop { source, item, .. }, Pushed { list, filter, fields }) = filled?;
        let made = Made { source, item, filter, fields, limit: None };
        match list {
            Filled::Local(name) => {
                // Where the list was put before, it would be filled as well.
                let is_put = |statement: &Statement| match statement {
                    Statement::Assign { value, .. } => has_empty(value),
                    Statement::List { .. } | Statement::Print(_) | Statement::Log(_) => false,
                    Statement::If(_) => true,
                };
                if out.iter().any(is_put) {
                    return None;
                }
                self.locals.retain(|_, value| !has_empty(value));
                self.lists.insert(name, made);
            }
            Filled::Path(target) => {
                // What happened to the list before has to be that it was emptied.
                let emptied = out.iter().rposition(|statement| match statement {
                    Statement::Assign { target: one, value, .. } => {
                        *one == target && is_empty(value)
                    }
                    _ => false,
                })?;
                let after = out.get(emptied + 1..)?;
                let mut is = |path: &Path| {
                    starts_with_path(path, &target) || starts_with_path(&target, path)
                };
                let untouched = after.iter().all(|statement| match statement {
                    Statement::Assign { target: one, value, .. } => {
                        let mut reads = false;
                        value.paths(&mut |path| reads |= is(path));
                        !is(one) && !reads
                    }
                    Statement::List { target: one, made, .. } => !is(one) && !made.reads(&mut is),
                    Statement::Print(_) | Statement::Log(_) | Statement::If(_) => false,
                });
                // It is not filled from itself either.
                if !untouched || made.reads(&mut is) {
                    return None;
                }
                out.remove(emptied);
                // A local name for the list has what it is filled with.
                self.locals.retain(|_, value| !has_empty(value));
                let made = Box::new(made);
                let statement = Statement::List { target, made, span: self.span(node) };
                self.forget(&statement);
                out.push(statement);
            }
        }
        Some(())
    }

    /// A list that a chain of `filter`, `map` and `slice` makes, or a local name for one.
    pub(super) fn list(&mut self, node: Node<'_>, depth: u16) -> Option<Made> {
        if depth > super::MAX_DEPTH {
            return None;
        }
        match node.kind() {
            "identifier" => self.lists.get(self.slice(node)).cloned(),
            "parenthesized_expression" => self.list(node.named_child(0)?, depth + 1),
            "call_expression" => {
                let function = node.child_by_field_name("function")?;
                let object = function.child_by_field_name("object")?;
                let method = self.slice(function.child_by_field_name("property")?);
                let arguments = node.child_by_field_name("arguments")?;
                let mut cursor = arguments.walk();
                let given: Vec<_> = arguments.named_children(&mut cursor).collect();
                let before = self.list(object, depth + 1);
                match (method, given.as_slice()) {
                    ("filter" | "map", [made_by]) => {
                        let (parameter, body) = self.callback(*made_by)?;
                        let item = self.local_name(parameter)?;
                        let mut made = match before {
                            Some(made) => made,
                            None => self.taken(object, item)?,
                        };
                        if !made.fields.is_empty() || made.limit.is_some() {
                            return None;
                        }
                        let returned = returned(body)?;
                        let outside = self.locals.clone();
                        self.bind(parameter, &made.item);
                        if method == "filter" {
                            let condition = self.condition(returned, 0);
                            made.filter = match (made.filter, condition) {
                                (Some(before), Some(more)) => Some(Expr::and(before, more).ok()?),
                                (_, condition) => Some(condition?),
                            };
                        } else {
                            made.fields = self.fields(returned, &made.item)?;
                        }
                        self.locals = outside;
                        Some(made)
                    }
                    ("slice", [from, to]) if self.slice(*from) == "0" => {
                        let mut made = match before {
                            Some(made) => made,
                            None => {
                                let item = Spanned::new(ITEM, self.span(object));
                                self.taken(object, item)?
                            }
                        };
                        // A negative end counts from the other side.
                        let limit = self.expr(*to, 0)?;
                        let is_count = matches!(limit.kind, ExprKind::Literal(Literal::Number(_)));
                        if !is_count || made.limit.is_some() {
                            return None;
                        }
                        made.limit = Some(limit);
                        Some(made)
                    }
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// All items of a list of the conversation.
    fn taken(&self, list: Node<'_>, item: Spanned<Name>) -> Option<Made> {
        let source = self.source(list)?;
        Some(Made { source, item, filter: None, fields: Vec::new(), limit: None })
    }

    /// A list of the conversation.
    fn source(&self, list: Node<'_>) -> Option<Expr> {
        let source = self.expr(list, 0)?;
        match &source.kind {
            ExprKind::Path(path) if path.root.value == "context" && !path.segments.is_empty() => {
                Some(source)
            }
            _ => None,
        }
    }

    /// Gives a local name the items of a list.
    fn bind(&mut self, name: Node<'_>, item: &Spanned<Name>) {
        let value = Expr::path(Path::variable(item.clone()), self.span(name));
        let name = self.slice(name);
        self.locals.insert(name, value);
        self.lists.remove(name);
    }

    /// The loop that a statement is, with its item as a local name.
    fn repeated<'n>(&mut self, node: Node<'n>) -> Option<Loop<'n>> {
        let field = |name: &str| node.child_by_field_name(name);
        match node.kind() {
            "for_in_statement" if self.slice(field("operator")?) == "of" => {
                let item = self.local_name(field("left")?)?;
                let source = self.source(field("right")?)?;
                self.bind(field("left")?, &item);
                Some(Loop { source, item, body: field("body")? })
            }
            "for_statement" => {
                let first = field("initializer")?;
                let declared = first.named_child(0).filter(|_| first.named_child_count() == 1)?;
                let counter = self.slice(declared.child_by_field_name("name")?);
                let start = self.slice(declared.child_by_field_name("value")?);
                let unwrapped = |node: Node<'n>| match node.kind() {
                    "expression_statement" => node.named_child(0),
                    _ => Some(node),
                };
                let condition = unwrapped(field("condition")?)?;
                let counted = condition.child_by_field_name("left")?;
                let end = condition.child_by_field_name("right")?;
                let below = self.slice(condition.child_by_field_name("operator")?) == "<";
                let is_length = end.kind() == "member_expression"
                    && self.slice(end.child_by_field_name("property")?) == "length";
                let step = self.slice(field("increment")?);
                let step: String = step.split_whitespace().collect();
                let counts =
                    [format!("{counter}++"), format!("++{counter}"), format!("{counter}+=1")];
                let is_each = start == "0"
                    && below
                    && is_length
                    && self.slice(counted) == counter
                    && counts.contains(&step);
                if !is_each {
                    return None;
                }
                let list = end.child_by_field_name("object")?;
                let source = self.source(list)?;
                self.locals.remove(counter);
                self.lists.remove(counter);
                let item = Spanned::new(ITEM, self.span(first));
                self.index = Some((counter, self.slice(list), item.clone()));
                Some(Loop { source, item, body: field("body")? })
            }
            "expression_statement" => {
                let call = node.named_child(0).filter(|call| call.kind() == "call_expression")?;
                let function = call.child_by_field_name("function")?;
                if self.slice(function.child_by_field_name("property")?) != "forEach" {
                    return None;
                }
                let arguments = call.child_by_field_name("arguments")?;
                let only = arguments.named_child(0).filter(|_| arguments.named_child_count() == 1);
                let (parameter, body) = self.callback(only?)?;
                let item = self.local_name(parameter)?;
                let source = self.source(function.child_by_field_name("object")?)?;
                self.bind(parameter, &item);
                Some(Loop { source, item, body })
            }
            _ => None,
        }
    }

    /// The parameter and the body of a function of one parameter.
    fn callback<'n>(&self, node: Node<'n>) -> Option<(Node<'n>, Node<'n>)> {
        if !matches!(node.kind(), "arrow_function" | "function_expression") {
            return None;
        }
        let parameter = match node.child_by_field_name("parameter") {
            Some(only) => only,
            None => {
                let all = node.child_by_field_name("parameters")?;
                all.named_child(0).filter(|_| all.named_child_count() == 1)?
            }
        };
        Some((parameter, node.child_by_field_name("body")?))
    }

    /// A name that items may have in an expression.
    fn local_name(&self, node: Node<'_>) -> Option<Spanned<Name>> {
        let name = self.name(node);
        let is_free = !ROOTS.contains(&&*name.value)
            && !SESSION_OBJECTS.contains(&&*name.value)
            && !WORDS.iter().any(|word| name.value.eq_ignore_ascii_case(word));
        (node.kind() == "identifier" && is_free).then_some(name)
    }

    /// What a body puts into a list, if it does nothing else.
    fn pushed(&mut self, body: Node<'_>, item: &Spanned<Name>, depth: u16) -> Option<Pushed<'t>> {
        if depth > super::MAX_DEPTH {
            return None;
        }
        match body.kind() {
            "statement_block" => {
                let mut cursor = body.walk();
                let all: Vec<_> =
                    body.named_children(&mut cursor).filter(|n| n.kind() != "comment").collect();
                let (last, before) = all.split_last()?;
                for node in before {
                    let declares =
                        matches!(node.kind(), "lexical_declaration" | "variable_declaration");
                    self.statement(*node, depth + 1, &mut Vec::new()).filter(|()| declares)?;
                }
                self.pushed(*last, item, depth + 1)
            }
            "if_statement" if body.child_by_field_name("alternative").is_none() => {
                let condition = self.condition(body.child_by_field_name("condition")?, 0)?;
                let inner = body.child_by_field_name("consequence")?;
                let inner = self.pushed(inner, item, depth + 1)?;
                let filter = match inner.filter {
                    Some(more) => Expr::and(condition, more).ok()?,
                    None => condition,
                };
                Some(Pushed { filter: Some(filter), ..inner })
            }
            "expression_statement" => self.pushed(body.named_child(0)?, item, depth + 1),
            "call_expression" => {
                let function = body.child_by_field_name("function")?;
                let object = function.child_by_field_name("object")?;
                let arguments = body.child_by_field_name("arguments")?;
                let only =
                    arguments.named_child(0).filter(|_| arguments.named_child_count() == 1)?;
                if self.slice(function.child_by_field_name("property")?) != "push" {
                    return None;
                }
                let is_local = object.kind() == "identifier"
                    && self.locals.get(self.slice(object)).is_some_and(is_empty);
                let list = if is_local {
                    Filled::Local(self.slice(object))
                } else {
                    let path = self.whole(object)?;
                    let is_kept = path.root.value == "context" && !path.segments.is_empty();
                    Some(Filled::Path(path)).filter(|_| is_kept)?
                };
                Some(Pushed { list, filter: None, fields: self.fields(only, item)? })
            }
            _ => None,
        }
    }

    /// The fields of what is made of an item: those of an object, or none for the item itself.
    fn fields(&self, node: Node<'_>, item: &Spanned<Name>) -> Option<Vec<(Spanned<Name>, Expr)>> {
        let value = self.expr(node, 0)?;
        match value.kind {
            ExprKind::Path(path) if path == Path::variable(item.clone()) => Some(Vec::new()),
            ExprKind::Object(entries) if !entries.is_empty() => {
                let field = |entry: agentir_expr::ObjectEntry| {
                    let is_word = entry.key.value.starts_with(|c: char| c.is_ascii_alphabetic())
                        && entry.key.value.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
                    Some((entry.key, entry.value?)).filter(|_| is_word)
                };
                entries.into_iter().map(field).collect()
            }
            _ => None,
        }
    }

    /// Drops the local names whose value a statement changes.
    pub(super) fn forget(&mut self, statement: &Statement) {
        match statement {
            Statement::Assign { target, .. } | Statement::List { target, .. } => {
                let mut is = |p: &Path| {
                    let shorter = p.segments.len().min(target.segments.len());
                    p.root.value == target.root.value
                        && p.segments.get(..shorter) == target.segments.get(..shorter)
                };
                self.lists.retain(|_, made| !made.reads(&mut is));
                self.locals.retain(|_, value| {
                    let mut reads = false;
                    value.paths(&mut |p| reads |= is(p));
                    !reads
                });
            }
            Statement::If(branches) => {
                branches.iter().flat_map(|b| &b.body).for_each(|s| self.forget(s));
            }
            Statement::Print(_) | Statement::Log(_) => {}
        }
    }

    /// `list[i]` in a loop that counts `i` over the list.
    pub(super) fn counted(&self, node: Node<'_>) -> Option<Expr> {
        let (counter, list, item) = self.index.as_ref()?;
        let index = node.child_by_field_name("index")?;
        let object = node.child_by_field_name("object")?;
        let is_item = index.kind() == "identifier"
            && self.slice(index) == *counter
            && self.slice(object) == *list;
        is_item.then(|| Expr::path(Path::variable(item.clone()), self.span(node)))
    }
}

/// What items are called that have no name in the script.
const ITEM: Name = Name::new_static("item");

/// Words of expressions, which are no names there.
const WORDS: &[&str] = &[
    "and",
    "as",
    "between",
    "contains",
    "exists",
    "false",
    "in",
    "into",
    "is",
    "matches",
    "not",
    "null",
    "or",
    "set",
    "true",
    "undefined",
];

/// What a function returns.
fn returned(body: Node<'_>) -> Option<Node<'_>> {
    if body.kind() != "statement_block" {
        return match body.kind() {
            "parenthesized_expression" => body.named_child(0),
            _ => Some(body),
        };
    }
    let only = body.named_child(0).filter(|_| body.named_child_count() == 1)?;
    only.named_child(0).filter(|_| only.kind() == "return_statement")
}

/// Whether a value has an empty list in it.
fn has_empty(value: &Expr) -> bool {
    let mut found = false;
    value.visit(&mut |part| {
        found |= is_empty(part);
        Visit::Children
    });
    found
}

fn is_empty(value: &Expr) -> bool {
    matches!(&value.kind, ExprKind::List(items) if items.is_empty())
}
