//! Translates JavaScript expressions that ABL can express.

use super::super::tables::{FUNCTIONS, METHODS, SESSION_OBJECTS};
use super::{JOIN, MAX_DEPTH, ROOTS, Reader, SessionCall, pieces};
use agentir_diagnostics::{Span, Spanned};
use agentir_expr::{BinaryOp, Expr, ExprKind, Literal, Name, ObjectEntry, Path, Segment, UnaryOp};
use smol_str::SmolStr;
use tree_sitter::Node;

impl Reader<'_> {
    /// Translates a value; `None` if ABL cannot express it.
    pub(super) fn expr(&self, node: Node<'_>, depth: u16) -> Option<Expr> {
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
                if SESSION_OBJECTS.contains(&name) {
                    return Some(Expr::path(self.whole(node)?, span));
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

    /// `+`: concatenates strings, adds numbers.
    fn sum(&self, left: Expr, right: Expr, span: Span) -> Option<Expr> {
        let text = |e: &Expr| {
            matches!(e.kind, ExprKind::Literal(Literal::String(_))) || pieces(e).is_some()
        };
        if text(&left) || text(&right) {
            let mut all = pieces(&left).map_or_else(|| vec![left.clone()], <[Expr]>::to_vec);
            all.extend(pieces(&right).map_or_else(|| vec![right.clone()], <[Expr]>::to_vec));
            return self.join(all, span);
        }
        // The type of other operands is unknown, unless they are literals.
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

    /// The value of a string.
    pub(super) fn string(&self, node: Node<'_>) -> Option<String> {
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
        if let Some(item) = self.counted(node) {
            return Some(item);
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
        match self.session_call(node) {
            Some(SessionCall::Get(path)) => return Some(Expr::path(path, span)),
            Some(_) => return None,
            None => {}
        }
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
            // A radix of ten is the default.
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

    /// Translates a condition: like [`Self::expr`], with logical operators.
    pub(super) fn condition(&self, node: Node<'_>, depth: u16) -> Option<Expr> {
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

    /// Comparisons. One with null becomes `IS SET`. ABL's `!=` also holds if a side is unset, as JavaScript's
    /// does if the other side is a constant.
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

/// The character that a JavaScript escape stands for.
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
