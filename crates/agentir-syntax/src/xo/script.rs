//! The JavaScript of an export: scripts, and messages that are computed.
//!
//! It is parsed, never executed. Of a script that only assigns, compares and says constant things the
//! statements are given; of any other, which variables of the conversation it reads and writes, so that
//! it can be called as a tool.

use super::tables::{FUNCTIONS, METHODS};
use super::text::Text;
use agentir_diagnostics::{Span, Spanned};
use agentir_expr::{BinaryOp, Expr, ExprKind, Literal, Name, ObjectEntry, Path, Segment, UnaryOp};
use rustc_hash::FxHashMap;
use smol_str::SmolStr;
use tree_sitter::{Node, Tree};

/// How deep expressions and blocks may lie inside each other to be read as simple.
const MAX_DEPTH: u16 = 60;

/// The objects that hold the state of a conversation and its settings.
const ROOTS: &[&str] = &["context", "env", "content"];

/// A script.
#[derive(Debug, Default)]
pub struct Script {
    /// What it does, if it is simple.
    pub simple: Option<Vec<Statement>>,
    /// What it reads of the conversation, each once.
    pub reads: Vec<Path>,
    /// What it writes.
    pub writes: Vec<Path>,
    /// Whether it says something with `print`.
    pub prints: bool,
    /// Its comments, without their marks.
    pub comments: Vec<Spanned<SmolStr>>,
}

/// A statement of a simple script. Paths are XO's: `context.entities.x`.
#[derive(Debug, Clone)]
pub enum Statement {
    /// `target = value`.
    Assign {
        /// What gets the value.
        target: Path,
        /// The value.
        value: Expr,
        /// Where it is written.
        span: Span,
    },
    /// `print(value)`.
    Print(Expr),
    /// `koreDebugger.log(value)`.
    Log(Expr),
    /// `if … else …`.
    If(Vec<Branch>),
}

/// A branch of [`Statement::If`].
#[derive(Debug, Clone)]
pub struct Branch {
    /// When it is taken; absent for `else`.
    pub condition: Option<Expr>,
    /// What is done then.
    pub body: Vec<Statement>,
    /// Where it is written.
    pub span: Span,
}

/// The pieces of a text that is put together, if `expr` is one: `JOIN([a, b], "")`.
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

/// ABL's function that puts texts together.
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
    let mut reader = Reader { text, locals: FxHashMap::default(), aliases: FxHashMap::default() };
    reader.uses(root, &mut script);
    if !root.has_error() {
        script.simple = reader.block(root, 0);
    }
    script
}

/// Reads a single expression; nothing if it is not simple.
#[must_use]
pub fn expression(text: &Text) -> Option<Expr> {
    let tree = parse(&text.value)?;
    let root = tree.root_node();
    let only =
        root.named_child(0).filter(|_| root.named_child_count() == 1 && !root.has_error())?;
    let inner = only.named_child(0).filter(|_| only.kind() == "expression_statement")?;
    Reader { text, locals: FxHashMap::default(), aliases: FxHashMap::default() }.expr(inner, 0)
}

/// What is done with a part of the conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    Read,
    Written,
    Called,
}

struct Reader<'t> {
    text: &'t Text,
    /// The local names so far, and what they stand for.
    locals: FxHashMap<&'t str, Expr>,
    /// The local names that stand for a part of the conversation.
    aliases: FxHashMap<&'t str, Path>,
}

impl<'t> Reader<'t> {
    fn slice(&self, node: Node<'_>) -> &'t str {
        self.text.value.get(node.byte_range()).unwrap_or_default()
    }

    fn span(&self, node: Node<'_>) -> Span {
        self.text.place(node.byte_range())
    }

    fn name(&self, node: Node<'_>) -> Spanned<Name> {
        Spanned::new(SmolStr::new(self.slice(node)), self.span(node))
    }

    /// What the script reads, writes and says, in any part of it. Without recursion: nobody bounds how
    /// deep a script nests.
    fn uses(&mut self, root: Node<'_>, script: &mut Script) {
        let assigned = self.assigned(root);
        let given =
            |path: &Path, at: usize| !assigned.iter().any(|(p, end)| at >= *end && begins(path, p));
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
                }
                "member_expression" | "subscript_expression" => {
                    let mut below = Vec::new();
                    if let Some(mut path) = self.chain(node, &mut below) {
                        if role == Role::Called || path.segments.last().is_some_and(is_length) {
                            path.segments.pop();
                        }
                        if role == Role::Written {
                            keep(&mut script.writes, path);
                        } else if given(&path, node.start_byte()) {
                            keep(&mut script.reads, path);
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
                _ => (None, Role::Read),
            };
            let mut cursor = node.walk();
            let children: Vec<_> = node.children(&mut cursor).collect();
            // The last one in is the first one out.
            let role_of = |n| if Some(n) == special { role } else { Role::Read };
            open.extend(children.into_iter().rev().map(|n| (n, role_of(n))));
        }
    }

    /// What the script gives a value in any case, and where that has been done.
    fn assigned(&self, root: Node<'_>) -> Vec<(Path, usize)> {
        let mut cursor = root.walk();
        let statements = root.named_children(&mut cursor);
        statements
            .filter_map(|statement| {
                let assignment = statement.named_child(0);
                let assignment = assignment.filter(|a| a.kind() == "assignment_expression")?;
                let mut below = Vec::new();
                let path = self.chain(assignment.child_by_field_name("left")?, &mut below)?;
                below.is_empty().then_some((path, assignment.end_byte()))
            })
            .collect()
    }

    /// The path that `node` is, as far as it is constant; what is computed in it goes to `below`.
    fn chain<'n>(&self, node: Node<'n>, below: &mut Vec<Node<'n>>) -> Option<Path> {
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
                            // What lies behind is not known.
                            segments.clear();
                        }
                    }
                }
                "identifier" if ROOTS.contains(&self.slice(at)) => {
                    segments.reverse();
                    return Some(Path { namespace: None, root: self.name(at), segments });
                }
                "identifier" => {
                    let mut path = self.aliases.get(self.slice(at))?.clone();
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

    /// The statements of a block; nothing if one of them is not simple.
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
            "expression_statement" => self.action(node.named_child(0)?, out)?,
            "lexical_declaration" | "variable_declaration" => {
                let mut cursor = node.walk();
                let all: Vec<_> = node.named_children(&mut cursor).collect();
                for declarator in all.into_iter().filter(|d| d.kind() != "comment") {
                    let name = declarator.child_by_field_name("name")?;
                    let value = declarator.child_by_field_name("value")?;
                    if name.kind() != "identifier" {
                        return None;
                    }
                    let value = self.expr(value, 0)?;
                    self.locals.insert(self.slice(name), value);
                }
            }
            "if_statement" => {
                let mut branches = Vec::new();
                let mut at = node;
                // What is declared inside of a branch is unknown behind it.
                let outside = self.locals.clone();
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
                let value = self.expr(node.child_by_field_name("right")?, 0)?;
                let assign = Statement::Assign { target, value, span: self.span(node) };
                self.forget(&assign);
                out.push(assign);
            }
            "call_expression" => {
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

    /// Forgets the local names that stand for what a statement changes.
    fn forget(&mut self, statement: &Statement) {
        match statement {
            Statement::Assign { target, .. } => self.locals.retain(|_, value| {
                let mut reads = false;
                value.paths(&mut |p| {
                    let shorter = p.segments.len().min(target.segments.len());
                    reads |= p.root.value == target.root.value
                        && p.segments.get(..shorter) == target.segments.get(..shorter);
                });
                !reads
            }),
            Statement::If(branches) => {
                branches.iter().flat_map(|b| &b.body).for_each(|s| self.forget(s));
            }
            Statement::Print(_) | Statement::Log(_) => {}
        }
    }

    /// A value; nothing if ABL cannot say it.
    fn expr(&self, node: Node<'_>, depth: u16) -> Option<Expr> {
        if depth > MAX_DEPTH {
            return None;
        }
        let span = self.span(node);
        let literal = |l| Some(Expr::literal(l, span));
        let made = |kind| Expr::new(kind, span).ok();
        match node.kind() {
            "identifier" => {
                let name = self.slice(node);
                if ROOTS.contains(&name) {
                    return Some(Expr::path(Path::variable(self.name(node)), span));
                }
                self.locals.get(name).cloned()
            }
            "undefined" | "null" => literal(Literal::Null),
            "true" => literal(Literal::Bool(true)),
            "false" => literal(Literal::Bool(false)),
            "number" => literal(Literal::Number(self.slice(node).parse().ok()?)),
            "string" => literal(Literal::String(SmolStr::new(self.string(node)?))),
            "template_string" => self.template(node, depth),
            "parenthesized_expression" => self.expr(node.named_child(0)?, depth + 1),
            "member_expression" | "subscript_expression" => self.member(node, depth),
            "array" => {
                let mut cursor = node.walk();
                let items = node.named_children(&mut cursor).filter(|n| n.kind() != "comment");
                made(ExprKind::List(items.map(|n| self.expr(n, depth + 1)).collect::<Option<_>>()?))
            }
            "object" => {
                let mut cursor = node.walk();
                let entries = node.named_children(&mut cursor).filter(|n| n.kind() != "comment");
                let entry = |n: Node<'_>| {
                    let key = n.child_by_field_name("key").filter(|_| n.kind() == "pair")?;
                    let text = match key.kind() {
                        "string" => SmolStr::new(self.string(key)?),
                        "property_identifier" => SmolStr::new(self.slice(key)),
                        _ => return None,
                    };
                    let value = self.expr(n.child_by_field_name("value")?, depth + 1)?;
                    let key = Spanned::new(text, self.span(key));
                    Some(ObjectEntry { key, value: Some(value) })
                };
                made(ExprKind::Object(entries.map(entry).collect::<Option<_>>()?))
            }
            "unary_expression" => {
                let operand =
                    Box::new(self.expr(node.child_by_field_name("argument")?, depth + 1)?);
                let op = match self.slice(node.child_by_field_name("operator")?) {
                    "-" => UnaryOp::Negate,
                    "+" => return self.call("TO_NUMBER", vec![*operand], span),
                    _ => return None,
                };
                made(ExprKind::Unary { op, operand })
            }
            "binary_expression" => {
                let op = self.slice(node.child_by_field_name("operator")?);
                let left = self.expr(node.child_by_field_name("left")?, depth + 1)?;
                let right = self.expr(node.child_by_field_name("right")?, depth + 1)?;
                if op == "+" {
                    return self.sum(left, right, span);
                }
                let op = match op {
                    "-" => BinaryOp::Subtract,
                    "*" => BinaryOp::Multiply,
                    "/" => BinaryOp::Divide,
                    "%" => BinaryOp::Remainder,
                    _ => return self.comparison(op, left, right, span),
                };
                made(ExprKind::Binary { op, left: Box::new(left), right: Box::new(right) })
            }
            "call_expression" => self.called(node, depth),
            _ => None,
        }
    }

    /// `+`: texts are put together, numbers are added.
    fn sum(&self, left: Expr, right: Expr, span: Span) -> Option<Expr> {
        let text = |e: &Expr| {
            matches!(e.kind, ExprKind::Literal(Literal::String(_))) || pieces(e).is_some()
        };
        if text(&left) || text(&right) {
            let mut all = pieces(&left).map_or_else(|| vec![left.clone()], <[Expr]>::to_vec);
            all.extend(pieces(&right).map_or_else(|| vec![right.clone()], <[Expr]>::to_vec));
            return self.join(all, span);
        }
        // Of anything else it is not known whether it is a number, unless it is written as one.
        let number = |e: &Expr| match &e.kind {
            ExprKind::Literal(Literal::Number(_)) | ExprKind::Binary { .. } => true,
            ExprKind::Call { function, .. } => function.value == "TO_NUMBER",
            _ => false,
        };
        if !number(&left) || !number(&right) {
            return None;
        }
        let (left, right) = (Box::new(left), Box::new(right));
        Expr::new(ExprKind::Binary { op: BinaryOp::Add, left, right }, span).ok()
    }

    fn join(&self, all: Vec<Expr>, span: Span) -> Option<Expr> {
        let list = Expr::new(ExprKind::List(all), span).ok()?;
        let between = Expr::literal(Literal::String(SmolStr::default()), span);
        self.call(JOIN, vec![list, between], span)
    }

    fn call(&self, function: &'static str, args: Vec<Expr>, span: Span) -> Option<Expr> {
        let function = Spanned::new(Name::new_static(function), span);
        Expr::new(ExprKind::Call { function, args }, span).ok()
    }

    fn template(&self, node: Node<'_>, depth: u16) -> Option<Expr> {
        let mut cursor = node.walk();
        let mut all = Vec::new();
        for part in node.named_children(&mut cursor) {
            let span = self.span(part);
            let text = match part.kind() {
                "string_fragment" => self.slice(part).to_owned(),
                "escape_sequence" => unescaped(self.slice(part))?.to_string(),
                "template_substitution" => {
                    all.push(self.expr(part.named_child(0)?, depth + 1)?);
                    continue;
                }
                _ => return None,
            };
            all.push(Expr::literal(Literal::String(SmolStr::new(text)), span));
        }
        self.join(all, self.span(node))
    }

    /// A string's text.
    fn string(&self, node: Node<'_>) -> Option<String> {
        let mut cursor = node.walk();
        let mut text = String::new();
        for part in node.named_children(&mut cursor) {
            match part.kind() {
                "string_fragment" => text.push_str(self.slice(part)),
                "escape_sequence" => text.push(unescaped(self.slice(part))?),
                _ => return None,
            }
        }
        Some(text)
    }

    fn member(&self, node: Node<'_>, depth: u16) -> Option<Expr> {
        let span = self.span(node);
        let object = node.child_by_field_name("object")?;
        if let Some(property) = node.child_by_field_name("property")
            && self.slice(property) == "length"
        {
            let of = self.expr(object, depth + 1)?;
            return self.call("LENGTH", vec![of], span);
        }
        let segment = match node.child_by_field_name("property") {
            Some(property) => Segment::Field(self.name(property)),
            None => self.constant_index(node.child_by_field_name("index")?)?,
        };
        let base = self.expr(object, depth + 1)?;
        let ExprKind::Path(mut path) = base.kind else { return None };
        path.segments.push(segment);
        Some(Expr::path(path, span))
    }

    fn called(&self, node: Node<'_>, depth: u16) -> Option<Expr> {
        let span = self.span(node);
        let function = node.child_by_field_name("function")?;
        let arguments = node.child_by_field_name("arguments")?;
        let mut cursor = arguments.walk();
        let arguments = arguments.named_children(&mut cursor);
        let args: Vec<Expr> =
            arguments.map(|a| self.expr(a, depth + 1)).collect::<Option<Vec<_>>>()?;
        let name = self.slice(function);
        if let (Some((_, ours)), Some(first)) =
            (FUNCTIONS.iter().find(|(theirs, _)| *theirs == name), args.first())
        {
            // A radix of ten says nothing.
            return self.call(ours, vec![first.clone()], span);
        }
        if let ("JSON.stringify", Some(value)) = (name, args.first()) {
            return Some(value.clone());
        }
        let method = self.slice(function.child_by_field_name("property")?);
        let receiver = self.expr(function.child_by_field_name("object")?, depth + 1)?;
        match (method, args.as_slice()) {
            ("toString", []) => self.call("TO_STRING", vec![receiver], span),
            ("includes", [part]) => {
                let (left, right) = (Box::new(receiver), Box::new(part.clone()));
                Expr::new(ExprKind::Binary { op: BinaryOp::Contains, left, right }, span).ok()
            }
            (_, []) => {
                let (_, ours) = METHODS.iter().find(|(theirs, _)| *theirs == method)?;
                self.call(ours, vec![receiver], span)
            }
            _ => None,
        }
    }

    /// A condition: as [`Self::expr`], with what joins conditions.
    fn condition(&self, node: Node<'_>, depth: u16) -> Option<Expr> {
        if depth > MAX_DEPTH {
            return None;
        }
        let span = self.span(node);
        match node.kind() {
            "parenthesized_expression" => self.condition(node.named_child(0)?, depth + 1),
            "unary_expression" => {
                let op = node.child_by_field_name("operator")?;
                if self.slice(op) != "!" {
                    return None;
                }
                let operand = self.condition(node.child_by_field_name("argument")?, depth + 1)?;
                let kind = ExprKind::Unary { op: UnaryOp::Not, operand: Box::new(operand) };
                Expr::new(kind, span).ok()
            }
            "binary_expression" => {
                let op = self.slice(node.child_by_field_name("operator")?);
                if !matches!(op, "&&" | "||") {
                    return self.expr(node, depth);
                }
                let left = self.condition(node.child_by_field_name("left")?, depth + 1)?;
                let right = self.condition(node.child_by_field_name("right")?, depth + 1)?;
                if op == "&&" { Expr::and(left, right) } else { Expr::or(left, right) }.ok()
            }
            _ => self.expr(node, depth),
        }
    }

    /// Comparisons. With nothing, it is asked whether there is a value; ABL's `!=` also holds where a
    /// side is unset, as JavaScript's does where the other one is a constant.
    fn comparison(&self, op: &str, left: Expr, right: Expr, span: Span) -> Option<Expr> {
        let null = |e: &Expr| matches!(e.kind, ExprKind::Literal(Literal::Null));
        let op = match op {
            "==" | "===" => BinaryOp::Equal,
            "!=" | "!==" => BinaryOp::NotEqual,
            "<" => BinaryOp::Less,
            "<=" => BinaryOp::LessEqual,
            ">" => BinaryOp::Greater,
            ">=" => BinaryOp::GreaterEqual,
            _ => return None,
        };
        let equality = matches!(op, BinaryOp::Equal | BinaryOp::NotEqual);
        let kind = match (null(&left), null(&right)) {
            (false, true) if equality => {
                let negated = op == BinaryOp::Equal;
                ExprKind::IsSet { operand: Box::new(left), negated }
            }
            (true, _) | (_, true) => return None,
            _ => ExprKind::Binary { op, left: Box::new(left), right: Box::new(right) },
        };
        Expr::new(kind, span).ok()
    }
}

/// Whether `path` is `start`, or a part of it.
fn begins(path: &Path, start: &Path) -> bool {
    path.root.value == start.root.value
        && path.segments.get(..start.segments.len()) == Some(start.segments.as_slice())
}

fn is_length(segment: &Segment) -> bool {
    matches!(segment, Segment::Field(name) if name.value == "length")
}

/// The character that an escape of JavaScript stands for.
fn unescaped(escape: &str) -> Option<char> {
    Some(match escape.strip_prefix('\\')? {
        "n" => '\n',
        "t" => '\t',
        "r" => '\r',
        "\\" => '\\',
        "\"" => '"',
        "'" => '\'',
        "`" => '`',
        "/" => '/',
        "$" => '$',
        code => char::from_u32(u32::from_str_radix(code.strip_prefix('u')?, 16).ok()?)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use agentir_diagnostics::FileId;
    use std::fmt::Write;

    fn text(code: &str) -> Text {
        let end = u32::try_from(code.len()).unwrap_or_default();
        Text::made(code.to_owned(), Span::new(FileId(0), 0, end))
    }

    fn shown(all: &[Statement]) -> String {
        let mut out = String::new();
        for statement in all {
            let _ = match statement {
                Statement::Assign { target, value, span } => {
                    write!(out, "{} = {value}; ", Expr::path(target.clone(), *span))
                }
                Statement::Print(value) => write!(out, "print {value}; "),
                Statement::Log(value) => write!(out, "log {value}; "),
                Statement::If(branches) => branches.iter().try_for_each(|b| {
                    let when = b.condition.as_ref().map_or("else".to_owned(), Expr::to_string);
                    write!(out, "[{when}] {}", shown(&b.body))
                }),
            };
        }
        out
    }

    #[test]
    fn simple_scripts_are_read() {
        for (code, expected) in [
            ("context.entities.DOB = \"\";", "context.entities.DOB = \"\"; "),
            (
                "context.a = context.entities.x; context.b = null",
                "context.a = context.entities.x; context.b = null; ",
            ),
            (
                "context.note = \"From \" + context.d + '.';",
                "context.note = JOIN([\"From \", context.d, \".\"], \"\"); ",
            ),
            ("const m = `Hi ${context.n}`; print(m);", "print JOIN([\"Hi \", context.n], \"\"); "),
            (
                "if (context.a == context['b'] && !context.c) { context.ok = 1 } else context.ok = 0;",
                "[context.a == context.b AND NOT context.c] context.ok = 1; [else] context.ok = 0; ",
            ),
            (
                "if (context.a === undefined) {} else if (context.a.length > 2) { koreDebugger.log('x') }",
                "[context.a IS NOT SET] [LENGTH(context.a) > 2] log \"x\"; ",
            ),
            ("context.n = parseInt(context.m, 10) + 1", "context.n = TO_NUMBER(context.m) + 1; "),
            ("context.u = context.n.trim().toUpperCase()", "context.u = UPPER(TRIM(context.n)); "),
            (
                "var v = {type: 'button', 'all': [1, true]}; print(JSON.stringify(v))",
                "print {type: \"button\", all: [1, true]}; ",
            ),
        ] {
            let script = read(&text(code));
            let simple = script.simple.unwrap_or_else(|| panic!("not simple: {code}"));
            assert_eq!(shown(&simple), expected);
        }
    }

    #[test]
    fn what_abl_cannot_say_is_not_simple() {
        for code in [
            "context.otp = Math.floor(Math.random() * 9000);",
            "for (const x of context.list) { print(x) }",
            "const t = context.x; context.x = 1; context.y = t;",
            "let r = ''; if (context.a) { r = 'b' } print(r)",
            "context.a = context.b || 'c'",
            "context.a = context.b + context.c",
            "env.KEY = 1",
            "context.a = ;",
            "context[context.k] = 1",
        ] {
            assert!(read(&text(code)).simple.is_none(), "{code}");
        }
    }

    #[test]
    fn reads_and_writes_are_found_in_any_script() {
        let code = "// makes a list\nfor (const el of context.Svc.response.body.data) { context.session.BotContext.max = Math.max(context.session.BotContext.max, el.id, env.LIMIT) }\nprint(context.entities.name.split(' ')[0]);";
        let script = read(&text(code));
        let all = |paths: &[Path]| -> Vec<String> {
            paths
                .iter()
                .map(|p| Expr::path(p.clone(), Span::new(FileId(0), 0, 0)).to_string())
                .collect()
        };
        assert_eq!(
            all(&script.reads),
            [
                "context.Svc.response.body.data",
                "context.session.BotContext.max",
                "env.LIMIT",
                "context.entities.name"
            ]
        );
        assert_eq!(all(&script.writes), ["context.session.BotContext.max"]);
        assert!(script.prints);
        assert_eq!(
            script.comments.iter().map(|c| c.value.as_str()).collect::<Vec<_>>(),
            ["makes a list"]
        );
    }

    #[test]
    fn what_a_script_makes_itself_need_not_be_given() {
        let code = "const ent = context.entities; context.a = 1; f(context.a); if (g()) { context.b = 1 }\nf(context.b, ent.Name);";
        let script = read(&text(code));
        let all = |paths: &[Path]| -> Vec<String> {
            paths
                .iter()
                .map(|p| Expr::path(p.clone(), Span::new(FileId(0), 0, 0)).to_string())
                .collect()
        };
        assert_eq!(all(&script.reads), ["context.entities", "context.b", "context.entities.Name"]);
        assert_eq!(all(&script.writes), ["context.a", "context.b"]);
    }

    #[test]
    fn deep_scripts_are_no_danger() {
        for code in [
            format!("context.a = {}1{};", "(".repeat(50_000), ")".repeat(50_000)),
            "if (context.a) {".repeat(5_000),
            format!("context.a = {};", "1 + ".repeat(20_000) + "1"),
            format!("context.a = context{};", ".x".repeat(50_000)),
        ] {
            let _ = read(&text(&code));
        }
    }
}
