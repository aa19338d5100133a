//! Reads the JavaScript of an export: scripts, and computed messages.
//!
//! It is parsed, never executed. A script that consists of assignments, comparisons and constant messages
//! is translated to statements. For any other script, the variables that it reads and writes are
//! determined, so that it can be called as a tool.

mod expr;
mod lists;
mod uses;

pub use lists::Made;

use crate::Text;
use crate::tables::{MUTATORS, SESSION_OBJECTS};
use agentir_diagnostics::{Span, Spanned};
use agentir_expr::{BinaryOp, Expr, ExprKind, Literal, Name, Path, Segment};
use rustc_hash::FxHashMap;
use smol_str::SmolStr;
use tree_sitter::{Node, Tree};

/// The maximum nesting of expressions and blocks in a simple script.
const MAX_DEPTH: u16 = 60;

/// The objects with the state of a conversation and its settings.
const ROOTS: &[&str] = &["context", "env", "content"];

/// A script.
#[derive(Debug, Default)]
pub struct Script {
    /// The statements, if it is simple.
    pub simple: Option<Vec<Statement>>,
    /// The paths it reads, without duplicates.
    pub reads: Vec<Path>,
    /// The paths it writes.
    pub writes: Vec<Path>,
    /// The written paths that it only writes on some ways, so that they have to keep their values on the others.
    pub keeps: Vec<Path>,
    /// The paths it deletes; they are among the written ones.
    pub deletes: Vec<Path>,
    /// Whether it sends messages with `print`.
    pub prints: bool,
    /// Whether it ends early by `return`.
    pub returns: bool,
    /// The objects of the session that it uses by their own names: `BotUserSession.get("key")`.
    pub objects: Vec<&'static str>,
    /// Where it is not known which value of these objects it uses.
    pub computed_keys: Vec<Span>,
    /// How many seconds the values live that it stores in these objects.
    pub lifetimes: Vec<Spanned<SmolStr>>,
    /// The kinds of cards that it builds (`template_type`).
    pub cards: Vec<SmolStr>,
    /// What it does with the paths it reads, each time that this says something of their values.
    pub uses: Vec<(Path, Use)>,
    /// The comments, without markers.
    pub comments: Vec<Spanned<SmolStr>>,
}

/// What a script does with a value that it reads.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Use {
    /// It compares it with a number; the value is the left side.
    Compared(BinaryOp, f64),
    /// It calculates with it.
    Number,
    /// It uses it as a text.
    Text,
    /// It uses it as a list.
    List,
    /// Something that every value allows.
    Any,
}

/// A statement of a simple script. Paths are XO's: `context.entities.x`.
#[derive(Debug, Clone)]
pub enum Statement {
    /// `target = value`.
    Assign {
        /// The target.
        target: Path,
        /// The value.
        value: Expr,
        /// The location in the source.
        span: Span,
    },
    /// `print(value)`.
    Print(Expr),
    /// `koreDebugger.log(value)`.
    Log(Expr),
    /// `if … else …`.
    If(Vec<Branch>),
    /// A loop that fills a list, or `target = list.filter(…).map(…)`.
    List {
        /// The target.
        target: Path,
        /// What it gets.
        made: Box<Made>,
        /// The location in the source.
        span: Span,
    },
}

/// A branch of [`Statement::If`].
#[derive(Debug, Clone)]
pub struct Branch {
    /// The condition; absent for `else`.
    pub condition: Option<Expr>,
    /// The statements.
    pub body: Vec<Statement>,
    /// The location in the source.
    pub span: Span,
}

/// The operands of a concatenation, if `expr` is one: `JOIN([a, b], "")`.
#[must_use]
pub fn pieces(expr: &Expr) -> Option<&[Expr]> {
    match &expr.kind {
        ExprKind::Call { function, args } if function.value == JOIN => match args.as_slice() {
            [Expr { kind: ExprKind::List(items), .. }, between] if is_text(between, "") => {
                Some(items)
            }
            _ => None,
        },
        _ => None,
    }
}

/// ABL's function that concatenates strings.
const JOIN: &str = "JOIN";

fn is_text(expr: &Expr, text: &str) -> bool {
    matches!(&expr.kind, ExprKind::Literal(Literal::String(s)) if s == text)
}

fn parse(text: &str) -> Option<Tree> {
    let mut parser = tree_sitter::Parser::new();
    parser.set_language(&tree_sitter_javascript::LANGUAGE.into()).ok()?;
    parser.parse(text, None)
}

/// Reads a script.
#[must_use]
pub fn read(text: &Text) -> Script {
    let Some(tree) = parse(&text.value) else { return Script::default() };
    let root = tree.root_node();
    let mut script = Script::default();
    let mut reader = Reader::new(text);
    reader.collect_numbers(root);
    reader.collect_uses(root, &mut script);
    if !root.has_error() {
        script.simple = reader.block(root, 0);
    }
    script
}

/// Parses a single expression; `None` if it is not simple.
#[must_use]
pub fn expression(text: &Text) -> Option<Expr> {
    let tree = parse(&text.value)?;
    let root = tree.root_node();
    let only =
        root.named_child(0).filter(|_| root.named_child_count() == 1 && !root.has_error())?;
    let inner = only.named_child(0).filter(|_| only.kind() == "expression_statement")?;
    Reader::new(text).expr(inner, 0)
}

/// How a part of the conversation is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    Read,
    Written,
    Called,
    /// Read, as the object of a member that is no part of the conversation, so that it is none either.
    Foreign,
}

/// A call of an object of the session.
enum SessionCall<'n> {
    Get(Path),
    Put(Path, Node<'n>),
    Delete(Path),
    /// The value is named by an expression, or it is not known which of the arguments names it.
    Computed,
}

/// Whether a path is one of the objects that keep values, as a whole.
fn is_session_object(path: &Path) -> bool {
    let [Segment::Field(first), Segment::Field(name)] = path.segments.as_slice() else {
        return false;
    };
    path.root.value == "context"
        && first.value == "session"
        && SESSION_OBJECTS.contains(&name.value.as_str())
}

struct Reader<'t> {
    text: &'t Text,
    /// The local names so far, and their values.
    locals: FxHashMap<&'t str, Expr>,
    /// The local names for lists that were made.
    lists: FxHashMap<&'t str, Made>,
    /// In a loop that counts over a list: the name of the counter, the list, and what its items are called.
    index: Option<(&'t str, &'t str, Spanned<Name>)>,
    /// The local names that alias a part of the conversation.
    aliases: FxHashMap<&'t str, Path>,
    /// The local names, and whether all of their values are numbers; `None` if that is not known.
    numbers: FxHashMap<&'t str, Option<bool>>,
}

impl<'t> Reader<'t> {
    fn new(text: &'t Text) -> Self {
        Self {
            text,
            locals: FxHashMap::default(),
            lists: FxHashMap::default(),
            index: None,
            aliases: FxHashMap::default(),
            numbers: FxHashMap::default(),
        }
    }

    fn slice(&self, node: Node<'_>) -> &'t str {
        self.text.value.get(node.byte_range()).unwrap_or_default()
    }

    fn span(&self, node: Node<'_>) -> Span {
        self.text.place(node.byte_range())
    }

    fn name(&self, node: Node<'_>) -> Spanned<Name> {
        Spanned::new(SmolStr::new(self.slice(node)), self.span(node))
    }

    /// Collects what the script reads, writes and prints. Iterative, since scripts may be nested to any depth.
    fn collect_uses(&mut self, root: Node<'_>, script: &mut Script) {
        let assigned = self.always_assigned(root);
        let given = |path: &Path, at: usize| {
            !assigned.iter().any(|(p, end)| at >= *end && starts_with_path(path, p))
        };
        let always = |assigned: &[(Path, usize)], path: &Path| {
            assigned.iter().any(|(p, _)| starts_with_path(path, p))
        };
        let mut open = vec![(root, Role::Read)];
        let keep = |into: &mut Vec<Path>, path: Path| {
            if !into.contains(&path) {
                into.push(path);
            }
        };
        while let Some((node, role)) = open.pop() {
            match node.kind() {
                "comment" => {
                    let text = self.slice(node);
                    let text = text.trim_start_matches(['/', '*']).trim_end_matches(['/', '*']);
                    let text = SmolStr::new(text.trim());
                    script.comments.push(Spanned::new(text, self.span(node)));
                    continue;
                }
                "pair" => {
                    let key = node.child_by_field_name("key").map(|key| self.slice(key));
                    let value = node.child_by_field_name("value").filter(|v| v.kind() == "string");
                    if key.is_some_and(|key| key.trim_matches(['"', '\'']) == "template_type")
                        && let Some(kind) = value.and_then(|v| self.string(v)).map(SmolStr::new)
                        && !script.cards.contains(&kind)
                    {
                        script.cards.push(kind);
                    }
                }
                "return_statement" => script.returns |= is_at_top(node),
                "identifier" => {
                    let named = SESSION_OBJECTS.iter().find(|name| **name == self.slice(node));
                    if let Some(name) = named
                        && !script.objects.contains(name)
                    {
                        script.objects.push(name);
                    }
                }
                "unary_expression" => {
                    let argument = node.child_by_field_name("argument");
                    if self.is_delete(node)
                        && let Some(path) = argument.and_then(|a| self.whole(a))
                    {
                        self.note_objects(node, script);
                        if !always(&assigned, &path) {
                            keep(&mut script.keeps, path.clone());
                        }
                        keep(&mut script.deletes, path.clone());
                        keep(&mut script.writes, path);
                        continue;
                    }
                }
                "update_expression" => {
                    let argument = node.child_by_field_name("argument");
                    if let Some(path) = argument.and_then(|a| self.whole(a)) {
                        keep(&mut script.writes, path);
                    }
                }
                "variable_declarator" => {
                    let name =
                        node.child_by_field_name("name").filter(|n| n.kind() == "identifier");
                    let value = node.child_by_field_name("value");
                    let path = value.and_then(|v| self.chain(v, &mut Vec::new()));
                    if let (Some(name), Some(path)) = (name, path) {
                        self.aliases.insert(self.slice(name), path);
                    }
                }
                "call_expression" => {
                    let called = node.child_by_field_name("function");
                    script.prints |= called.is_some_and(|f| self.slice(f) == "print");
                    match self.session_call(node) {
                        Some(SessionCall::Get(path)) => {
                            self.note_objects(node, script);
                            script.uses.push((path.clone(), self.use_around(node)));
                            if given(&path, node.start_byte()) {
                                keep(&mut script.reads, path);
                            }
                            continue;
                        }
                        Some(SessionCall::Put(path, value)) => {
                            self.note_objects(node, script);
                            script.lifetimes.extend(self.lifetime(node, value));
                            if !always(&assigned, &path) {
                                keep(&mut script.keeps, path.clone());
                            }
                            keep(&mut script.writes, path);
                            open.push((value, Role::Read));
                            continue;
                        }
                        Some(SessionCall::Delete(path)) => {
                            self.note_objects(node, script);
                            if !always(&assigned, &path) {
                                keep(&mut script.keeps, path.clone());
                            }
                            keep(&mut script.deletes, path.clone());
                            keep(&mut script.writes, path);
                            continue;
                        }
                        Some(SessionCall::Computed) => script.computed_keys.push(self.span(node)),
                        None => {}
                    }
                    // What changes a list writes it.
                    let object = called.and_then(|f| f.child_by_field_name("object"));
                    let method = called.and_then(|f| f.child_by_field_name("property"));
                    if method.is_some_and(|m| MUTATORS.contains(&self.slice(m)))
                        && let Some(path) = object.and_then(|o| self.whole(o))
                    {
                        keep(&mut script.writes, path);
                    }
                }
                "member_expression" | "subscript_expression" if role != Role::Foreign => {
                    let mut below = Vec::new();
                    if let Some(mut path) = self.chain(node, &mut below) {
                        // `context.session.UserSession[key]`
                        if !below.is_empty() && is_session_object(&path) {
                            script.computed_keys.push(self.span(node));
                        }
                        let used = self.use_of(node, &path, role);
                        if role == Role::Called || path.segments.last().is_some_and(is_length) {
                            path.segments.pop();
                        }
                        self.note_objects(node, script);
                        if role == Role::Written {
                            // What is only written on some ways keeps its value on the others.
                            if !always(&assigned, &path) {
                                keep(&mut script.keeps, path.clone());
                            }
                            keep(&mut script.writes, path);
                        } else {
                            script.uses.push((path.clone(), used));
                            if given(&path, node.start_byte()) {
                                keep(&mut script.reads, path);
                            }
                        }
                        open.extend(below.into_iter().map(|n| (n, Role::Read)));
                        continue;
                    }
                }
                _ => {}
            }
            let (special, role) = match node.kind() {
                "assignment_expression" => (node.child_by_field_name("left"), Role::Written),
                "augmented_assignment_expression" => {
                    let left = node.child_by_field_name("left");
                    open.extend(left.map(|l| (l, Role::Read)));
                    (left, Role::Written)
                }
                "call_expression" => (node.child_by_field_name("function"), Role::Called),
                // It was followed to where it begins. Where a part is missing, it was not.
                "member_expression" | "subscript_expression" if !node.has_error() => {
                    (node.child_by_field_name("object"), Role::Foreign)
                }
                _ => (None, Role::Read),
            };
            let mut cursor = node.walk();
            let children: Vec<_> = node.children(&mut cursor).collect();
            // Pushed last, popped first.
            let role_of = |n| if Some(n) == special { role } else { Role::Read };
            open.extend(children.into_iter().rev().map(|n| (n, role_of(n))));
        }
    }

    /// The paths that the script always assigns, and where.
    fn always_assigned(&self, root: Node<'_>) -> Vec<(Path, usize)> {
        let mut cursor = root.walk();
        let statements = root.named_children(&mut cursor);
        statements
            .filter_map(|statement| {
                let action = statement.named_child(0)?;
                let path = match action.kind() {
                    "assignment_expression" => self.whole(action.child_by_field_name("left")?)?,
                    "unary_expression" if self.is_delete(action) => {
                        self.whole(action.child_by_field_name("argument")?)?
                    }
                    "call_expression" => match self.session_call(action)? {
                        SessionCall::Put(path, _) | SessionCall::Delete(path) => path,
                        SessionCall::Get(_) | SessionCall::Computed => return None,
                    },
                    _ => return None,
                };
                Some((path, action.end_byte()))
            })
            .collect()
    }

    /// How long a stored value lives: the argument behind it.
    fn lifetime(&self, call: Node<'_>, value: Node<'_>) -> Option<Spanned<SmolStr>> {
        let arguments = call.child_by_field_name("arguments")?;
        let mut cursor = arguments.walk();
        let last = arguments.named_children(&mut cursor).last().filter(|last| *last != value)?;
        Some(Spanned::new(SmolStr::new(self.slice(last)), self.span(last)))
    }

    /// The path of `node`, if all of it is constant.
    fn whole(&self, node: Node<'_>) -> Option<Path> {
        let mut below = Vec::new();
        self.chain(node, &mut below).filter(|_| below.is_empty())
    }

    fn is_delete(&self, node: Node<'_>) -> bool {
        let operator = node.child_by_field_name("operator");
        operator.is_some_and(|operator| self.slice(operator) == "delete")
    }

    /// Notes that an expression begins with an object of the session.
    fn note_objects(&self, node: Node<'_>, script: &mut Script) {
        let mut at = node;
        while let Some(inner) = ["object", "function", "argument"]
            .into_iter()
            .find_map(|field| at.child_by_field_name(field))
        {
            at = inner;
        }
        let named = SESSION_OBJECTS.iter().find(|name| **name == self.slice(at));
        if let Some(name) = named
            && !script.objects.contains(name)
        {
            script.objects.push(name);
        }
    }

    /// What a call of an object of the session does: `UserSession.put("key", value, seconds)`, or with the name of a
    /// map in front of the key.
    fn session_call<'n>(&self, call: Node<'n>) -> Option<SessionCall<'n>> {
        let function = call.child_by_field_name("function")?;
        let method = self.slice(function.child_by_field_name("property")?);
        if !matches!(method, "put" | "get" | "delete" | "remove") {
            return None;
        }
        // The objects are named, so what a call answers is none of them.
        let mut below = Vec::new();
        let object = self.chain_of(function.child_by_field_name("object")?, &mut below, false)?;
        if !is_session_object(&object) || !below.is_empty() {
            return None;
        }
        let arguments = call.child_by_field_name("arguments")?;
        let mut cursor = arguments.walk();
        let all: Vec<_> =
            arguments.named_children(&mut cursor).filter(|n| n.kind() != "comment").collect();
        let (keys, value) = match (method, all.as_slice()) {
            ("put", [key, value]) => (vec![*key], Some(*value)),
            ("put", [first, second, third]) => match self.is_number(*third, 0) {
                Some(true) => (vec![*first], Some(*second)),
                Some(false) => (vec![*first, *second], Some(*third)),
                // Seconds or a value.
                None => return Some(SessionCall::Computed),
            },
            ("put", [map, key, value, ..]) => (vec![*map, *key], Some(*value)),
            ("get" | "delete" | "remove", [_, ..]) => (all, None),
            _ => return None,
        };
        let key = |node: &Node<'_>| match node.kind() {
            "string" => self.constant_index(*node),
            _ => None,
        };
        let Some(keys) = keys.iter().map(key).collect::<Option<Vec<_>>>() else {
            return Some(SessionCall::Computed);
        };
        let mut path = object;
        path.segments.extend(keys);
        Some(match value {
            Some(value) => SessionCall::Put(path, value),
            None if method == "get" => SessionCall::Get(path),
            None => SessionCall::Delete(path),
        })
    }

    /// The constant path of `node`; computed parts of it are added to `below`.
    fn chain<'n>(&self, node: Node<'n>, below: &mut Vec<Node<'n>>) -> Option<Path> {
        self.chain_of(node, below, true)
    }

    /// Like [`Self::chain`]; `calls`: whether it may begin with a value that an object of the session is asked for.
    fn chain_of<'n>(&self, node: Node<'n>, below: &mut Vec<Node<'n>>, calls: bool) -> Option<Path> {
        let mut segments = Vec::new();
        let mut at = node;
        loop {
            match at.kind() {
                "member_expression" => {
                    let property = at.child_by_field_name("property")?;
                    segments.push(Segment::Field(self.name(property)));
                }
                "subscript_expression" => {
                    let index = at.child_by_field_name("index")?;
                    match self.constant_index(index) {
                        Some(segment) => segments.push(segment),
                        None => {
                            below.push(index);
                            // The segments after a computed index are unknown.
                            segments.clear();
                        }
                    }
                }
                "identifier" if ROOTS.contains(&self.slice(at)) => {
                    segments.reverse();
                    return Some(Path { namespace: None, root: self.name(at), segments });
                }
                "identifier" if SESSION_OBJECTS.contains(&self.slice(at)) => {
                    let own = self.name(at);
                    let session = Spanned::new(Name::new_static("session"), own.span);
                    segments.extend([Segment::Field(own.clone()), Segment::Field(session)]);
                    segments.reverse();
                    let root = Spanned::new(Name::new_static("context"), own.span);
                    return Some(Path { namespace: None, root, segments });
                }
                "identifier" => {
                    let mut path = self.aliases.get(self.slice(at))?.clone();
                    segments.reverse();
                    path.segments.append(&mut segments);
                    return Some(path);
                }
                "call_expression" if calls => {
                    let Some(SessionCall::Get(mut path)) = self.session_call(at) else {
                        return None;
                    };
                    segments.reverse();
                    path.segments.append(&mut segments);
                    return Some(path);
                }
                _ => return None,
            }
            at = at.child_by_field_name("object")?;
        }
    }

    fn constant_index(&self, index: Node<'_>) -> Option<Segment> {
        match index.kind() {
            "number" => self.slice(index).parse().ok().map(Segment::Index),
            "string" => {
                let text = self.string(index)?;
                let word = text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
                    && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
                let name = Spanned::new(SmolStr::new(text), self.span(index));
                word.then_some(Segment::Field(name))
            }
            _ => None,
        }
    }

    /// The statements of a block; `None` if one of them is not simple.
    fn block(&mut self, block: Node<'_>, depth: u16) -> Option<Vec<Statement>> {
        let mut out = Vec::new();
        let mut cursor = block.walk();
        let all: Vec<_> = block.named_children(&mut cursor).collect();
        for node in all {
            self.statement(node, depth, &mut out)?;
        }
        Some(out)
    }

    fn statement(&mut self, node: Node<'_>, depth: u16, out: &mut Vec<Statement>) -> Option<()> {
        if depth > MAX_DEPTH {
            return None;
        }
        match node.kind() {
            "comment" | "empty_statement" => {}
            "for_in_statement" | "for_statement" => self.fills(node, depth, out)?,
            "expression_statement" => {
                if self.action(node.named_child(0)?, out).is_none() {
                    self.fills(node, depth, out)?;
                }
            }
            "lexical_declaration" | "variable_declaration" => {
                let mut cursor = node.walk();
                let all: Vec<_> = node.named_children(&mut cursor).collect();
                for declarator in all.into_iter().filter(|d| d.kind() != "comment") {
                    let name = declarator.child_by_field_name("name")?;
                    let value = declarator.child_by_field_name("value")?;
                    if name.kind() != "identifier" {
                        return None;
                    }
                    let name = self.slice(name);
                    if let Some(value) = self.expr(value, 0) {
                        self.locals.insert(name, value);
                        self.lists.remove(name);
                    } else {
                        let made = self.list(value, 0)?;
                        self.locals.remove(name);
                        self.lists.insert(name, made);
                    }
                }
            }
            "if_statement" => {
                let mut branches = Vec::new();
                let mut at = node;
                // Declarations inside a branch are unknown after it, and so is what it does to lists.
                let outside = self.locals.clone();
                self.lists.clear();
                loop {
                    let condition = at.child_by_field_name("condition")?;
                    let body = at.child_by_field_name("consequence")?;
                    let branch = Branch {
                        condition: Some(self.condition(condition, 0)?),
                        body: self.body(body, depth + 1)?,
                        span: self.span(at),
                    };
                    self.locals.clone_from(&outside);
                    branches.push(branch);
                    let Some(other) = at.child_by_field_name("alternative") else { break };
                    let other = other.named_child(0)?;
                    if other.kind() != "if_statement" {
                        let body = self.body(other, depth + 1)?;
                        self.locals.clone_from(&outside);
                        branches.push(Branch { condition: None, body, span: self.span(other) });
                        break;
                    }
                    at = other;
                }
                self.lists.clear();
                for branch in &branches {
                    branch.body.iter().for_each(|s| self.forget(s));
                }
                out.push(Statement::If(branches));
            }
            "statement_block" => out.extend(self.block(node, depth + 1)?),
            _ => return None,
        }
        Some(())
    }

    fn body(&mut self, node: Node<'_>, depth: u16) -> Option<Vec<Statement>> {
        if node.kind() == "statement_block" {
            return self.block(node, depth);
        }
        let mut out = Vec::new();
        self.statement(node, depth, &mut out)?;
        Some(out)
    }

    fn action(&mut self, node: Node<'_>, out: &mut Vec<Statement>) -> Option<()> {
        match node.kind() {
            "assignment_expression" => {
                let left = node.child_by_field_name("left")?;
                let mut below = Vec::new();
                let target = self.chain(left, &mut below).filter(|_| below.is_empty())?;
                // Only the conversation can be written.
                if target.root.value != "context" || target.segments.is_empty() {
                    return None;
                }
                let (right, span) = (node.child_by_field_name("right")?, self.span(node));
                let assign = match self.expr(right, 0) {
                    Some(value) => Statement::Assign { target, value, span },
                    None => Statement::List { target, made: Box::new(self.list(right, 0)?), span },
                };
                self.forget(&assign);
                out.push(assign);
            }
            "unary_expression" if self.is_delete(node) => {
                let target = self.whole(node.child_by_field_name("argument")?)?;
                out.push(self.cleared(target, self.span(node))?);
            }
            "call_expression" => {
                match self.session_call(node) {
                    Some(SessionCall::Put(target, value)) => {
                        let value = self.expr(value, 0)?;
                        let assign = Statement::Assign { target, value, span: self.span(node) };
                        self.forget(&assign);
                        out.push(assign);
                        return Some(());
                    }
                    Some(SessionCall::Delete(target)) => {
                        out.push(self.cleared(target, self.span(node))?);
                        return Some(());
                    }
                    Some(SessionCall::Get(_) | SessionCall::Computed) => return None,
                    None => {}
                }
                let called = node.child_by_field_name("function")?;
                let arguments = node.child_by_field_name("arguments")?;
                let value = arguments.named_child(0).filter(|_| arguments.named_child_count() == 1);
                let value = self.expr(value?, 0)?;
                out.push(match self.slice(called) {
                    "print" => Statement::Print(value),
                    "koreDebugger.log" | "console.log" => Statement::Log(value),
                    _ => return None,
                });
            }
            _ => return None,
        }
        Some(())
    }

    /// `delete target`: afterwards it has no value.
    fn cleared(&mut self, target: Path, span: Span) -> Option<Statement> {
        if target.root.value != "context" || target.segments.is_empty() {
            return None;
        }
        let value = Expr::literal(Literal::Null, span);
        let assign = Statement::Assign { target, value, span };
        self.forget(&assign);
        Some(assign)
    }
}

/// Whether `path` is `start` or a part of it.
fn starts_with_path(path: &Path, start: &Path) -> bool {
    path.root.value == start.root.value
        && path.segments.get(..start.segments.len()) == Some(start.segments.as_slice())
}

/// Whether a statement belongs to the script itself, not to a function in it.
fn is_at_top(node: Node<'_>) -> bool {
    const FUNCTIONS: &[&str] =
        &["function_declaration", "function_expression", "arrow_function", "method_definition"];
    let mut at = node.parent();
    while let Some(outer) = at {
        if FUNCTIONS.contains(&outer.kind()) || outer.kind().starts_with("generator_function") {
            return false;
        }
        at = outer.parent();
    }
    true
}

fn is_length(segment: &Segment) -> bool {
    matches!(segment, Segment::Field(name) if name.value == "length")
}

#[cfg(test)]
mod tests;
