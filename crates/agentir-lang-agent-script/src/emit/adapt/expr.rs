//! Translates expressions, conditions and texts to Agent Script.
//!
//! Variables become `@variables.x`; `IS SET` becomes a comparison with `None`; `IN` a disjunction of
//! `==`; `IMPLIES` a disjunction; `!=` between variables keeps ABL's semantics for unset values.
//! Functions other than `LEN`, patterns and string operators have no equivalent; an expression that
//! needs them cannot be translated.

use super::Variables;
use agentir_diagnostics::{Span, Spanned};
use agentir_expr::{
    BinaryOp, Condition, ConditionKind, Expr, ExprKind, Literal, Name, Path, Piece, Segment,
    Template, TemplatePart, UnaryOp,
};
use smol_str::SmolStr;
use std::borrow::Cow;

pub(super) fn spanned<T>(value: T) -> Spanned<T> {
    Spanned::new(value, Span::default())
}

pub(in crate::emit) fn reference(namespace: &'static str, root: &str) -> Expr {
    Expr::path(path(namespace, root), Span::default())
}

pub(super) fn path(namespace: &'static str, root: &str) -> Path {
    Path {
        namespace: Some(spanned(Name::new_static(namespace))),
        root: spanned(Name::new(root)),
        segments: Vec::new(),
    }
}

pub(super) fn node(kind: ExprKind) -> Option<Expr> {
    Expr::new(kind, Span::default()).ok()
}

/// The negation; a double negation is removed.
pub(in crate::emit) fn not(operand: Expr) -> Option<Expr> {
    let opposite = |op| {
        Some(match op {
            BinaryOp::Is => BinaryOp::IsNot,
            BinaryOp::IsNot => BinaryOp::Is,
            BinaryOp::StrictEqual => BinaryOp::StrictNotEqual,
            BinaryOp::StrictNotEqual => BinaryOp::StrictEqual,
            _ => return None,
        })
    };
    match operand.kind {
        ExprKind::Unary { op: UnaryOp::Not, operand } => Some(*operand),
        ExprKind::Binary { op, left, right } if opposite(op).is_some() => {
            node(ExprKind::Binary { op: opposite(op)?, left, right })
        }
        kind => {
            let operand = Box::new(node(kind)?);
            node(ExprKind::Unary { op: UnaryOp::Not, operand })
        }
    }
}

pub(super) fn is_set(operand: Expr, negated: bool) -> Option<Expr> {
    let op = if negated { BinaryOp::Is } else { BinaryOp::IsNot };
    binary(op, operand, Expr::literal(Literal::Null, Span::default()))
}

fn binary(op: BinaryOp, left: Expr, right: Expr) -> Option<Expr> {
    node(ExprKind::Binary { op, left: Box::new(left), right: Box::new(right) })
}

/// The conjunction; `None` if there are no parts.
pub(super) fn all(parts: impl IntoIterator<Item = Expr>) -> Option<Expr> {
    parts.into_iter().map(Some).reduce(|all, one| Expr::and(all?, one?).ok())?
}

pub(super) fn condition(expr: Expr) -> Condition {
    Condition {
        text: spanned(SmolStr::new(super::super::expr::print(&expr))),
        kind: ConditionKind::Expr(expr),
    }
}

pub(super) fn text(text: impl AsRef<str>) -> Template {
    Template::plain(spanned(SmolStr::new(text.as_ref())))
}

/// A condition as a phrase for the model: natural language unchanged, expressions as sentences.
pub(super) fn to_phrase(condition: &Condition) -> String {
    match condition.expr() {
        Some(e) => to_sentence(e),
        None => condition.text.value.to_string(),
    }
}

fn to_sentence(e: &Expr) -> String {
    user_message_phrase(e).unwrap_or_else(|| agentir_syntax::emit::expr_phrase(e))
}

/// `input == "yes"`, `input.contains("x") OR input matches /y/` as sentences.
fn user_message_phrase(e: &Expr) -> Option<String> {
    // `input`, `user.intent`
    let subject = |e: &Expr| {
        let path = e.as_path()?;
        match (path.root.value.as_str(), path.segments.as_slice()) {
            ("input", []) => Some("input".to_owned()),
            ("user", [Segment::Field(field)]) => Some(field.value.replace('_', " ")),
            _ => None,
        }
    };
    let sentence = |of: String, verb: &str, what: &Expr| format!("the user's {of} {verb} {what}");
    match &e.kind {
        ExprKind::Or(parts) => Some(parts.iter().map(to_sentence).collect::<Vec<_>>().join(" or ")),
        ExprKind::And(parts) => {
            // Disjunctions are parenthesised, since a phrase has no precedence.
            let part = |e: &Expr| match &e.kind {
                ExprKind::Or(_) => format!("({})", to_sentence(e)),
                _ => to_sentence(e),
            };
            Some(parts.iter().map(part).collect::<Vec<_>>().join(" and "))
        }
        ExprKind::IsSet { operand, negated } => {
            let no = if *negated { "no " } else { "" };
            Some(format!("there is {no}user's {}", subject(operand)?))
        }
        ExprKind::Binary { op, left, right } => {
            let verb = match op {
                BinaryOp::Equal | BinaryOp::StrictEqual => "is",
                BinaryOp::NotEqual | BinaryOp::StrictNotEqual => "is not",
                BinaryOp::Contains => "contains",
                BinaryOp::Matches => "matches",
                BinaryOp::StartsWith => "starts with",
                BinaryOp::EndsWith => "ends with",
                _ => return None,
            };
            Some(sentence(subject(left)?, verb, right))
        }
        ExprKind::Method { receiver, method, args } => {
            let [what] = args.as_slice() else { return None };
            let verb = match method.value.as_str() {
                "contains" => "contains",
                "startsWith" => "starts with",
                "endsWith" => "ends with",
                _ => return None,
            };
            Some(sentence(subject(receiver)?, verb, what))
        }
        _ => None,
    }
}

impl Variables {
    /// A text with placeholders as a sum of its parts; `None` with blocks or filters.
    fn concatenation(&mut self, text: &Template) -> Option<Expr> {
        let span = text.text.span;
        if let Some(expr) = text.only_placeholder() {
            return self.expr(expr);
        }
        let mut sum: Option<Expr> = None;
        for piece in text.pieces() {
            let part = match piece {
                // Not where the sum is, as the texts of a string with placeholders are.
                Piece::Text(text) => Expr::literal(Literal::String(text.into()), span.at_start()),
                Piece::Part(TemplatePart::Value { expr, filters, .. }, _) if filters.is_empty() => {
                    self.expr(expr)?
                }
                Piece::Part(..) => return None,
            };
            sum = Some(match sum {
                None => part,
                Some(left) => {
                    let (left, right) = (Box::new(left), Box::new(part));
                    Expr::new(ExprKind::Binary { op: BinaryOp::Add, left, right }, span).ok()?
                }
            });
        }
        sum
    }

    /// Translates an expression; `None` if Agent Script cannot express it.
    pub(super) fn expr(&mut self, e: &Expr) -> Option<Expr> {
        let kind = match &e.kind {
            ExprKind::Literal(Literal::Regex(_)) => return None,
            ExprKind::Literal(Literal::Undefined) => ExprKind::Literal(Literal::Null),
            ExprKind::Literal(literal) => ExprKind::Literal(literal.clone()),
            ExprKind::Path(path) => return self.read(path),
            ExprKind::Template(text) => return self.concatenation(text),
            ExprKind::List(items) => ExprKind::List(self.exprs(items)?),
            ExprKind::And(parts) => ExprKind::And(self.chain(parts, false)?),
            ExprKind::Or(parts) => ExprKind::Or(self.chain(parts, true)?),
            ExprKind::Object(entries) => {
                let mut all = Vec::with_capacity(entries.len());
                for entry in entries {
                    let value = match &entry.value {
                        Some(value) => self.expr(value)?,
                        None => self.read(&Path::variable(entry.key.clone()))?,
                    };
                    all.push(agentir_expr::ObjectEntry {
                        key: entry.key.clone(),
                        value: Some(value),
                    });
                }
                ExprKind::Object(all)
            }
            ExprKind::Call { function, args }
                if ["LENGTH", "LEN", "len"].contains(&function.value.as_str()) =>
            {
                ExprKind::Call {
                    function: spanned(Name::new_static("len")),
                    args: self.exprs(args)?,
                }
            }
            ExprKind::Call { function, args } => return self.call_of(&function.value, args),
            ExprKind::Method { .. } => return None,
            ExprKind::Unary { op: UnaryOp::IsNumber, .. } => return None,
            ExprKind::Unary { op, operand } => {
                ExprKind::Unary { op: *op, operand: Box::new(self.expr(operand)?) }
            }
            ExprKind::IsSet { operand, negated } => return is_set(self.expr(operand)?, *negated),
            ExprKind::Binary { op, left, right } => return self.binary(*op, left, right),
            ExprKind::Conditional { condition, then, otherwise } => ExprKind::Conditional {
                condition: Box::new(self.expr(condition)?),
                then: Box::new(self.expr(then)?),
                otherwise: Box::new(self.expr(otherwise)?),
            },
            ExprKind::Subscript { base, index } => ExprKind::Subscript {
                base: Box::new(self.expr(base)?),
                index: Box::new(self.expr(index)?),
            },
            ExprKind::Member { base, segment } => {
                ExprKind::Member { base: Box::new(self.expr(base)?), segment: segment.clone() }
            }
            ExprKind::Spread(_) | ExprKind::Ellipsis => return None,
        };
        node(kind)
    }

    /// A placeholder. Agent Script's texts have no blocks, so these are described to the model.
    fn part(&mut self, part: &TemplatePart) -> Option<String> {
        let placeholder = |e: Expr| format!("{{!{}}}", super::super::expr::print(&e));
        Some(match part {
            TemplatePart::Value { expr, .. } | TemplatePart::SingleBrace { expr, .. } => {
                placeholder(self.value(expr)?)
            }
            TemplatePart::Open { block, expr, .. } => {
                let about = expr.as_ref().map_or_else(String::new, ToString::to_string);
                match block.value.as_str() {
                    "if" => format!("[if there is {about}: "),
                    "unless" => format!("[if there is no {about}: "),
                    _ => format!("[for {} of {about}: ", block.value),
                }
            }
            TemplatePart::Else { .. } => "; otherwise: ".to_owned(),
            TemplatePart::Close { .. } => "]".to_owned(),
        })
    }

    /// Translates a value. If its function has no equivalent, the result is its only variable.
    pub(super) fn value(&mut self, e: &Expr) -> Option<Expr> {
        if let Some(value) = self.expr(e) {
            return Some(value);
        }
        let mut paths: Vec<Path> = Vec::new();
        e.paths(&mut |path| {
            if !paths.contains(path) {
                paths.push(path.clone());
            }
        });
        match paths.as_slice() {
            [only] => self.read(only),
            _ => None,
        }
    }

    /// The operands of a conjunction or disjunction: after `x IS SET AND`, and after `x IS NOT SET OR`, `x`
    /// has a value.
    fn chain(&mut self, parts: &[Expr], or: bool) -> Option<Vec<Expr>> {
        let before = self.known_paths.len();
        let mut out = Vec::with_capacity(parts.len());
        for part in parts {
            match self.expr(part) {
                // Flatten the guard added before a comparison.
                Some(Expr { kind: ExprKind::And(inner), .. }) if !or => {
                    out.extend(inner.into_iter().map(Some));
                }
                part => out.push(part),
            }
            self.record_known(part, or);
        }
        self.known_paths.truncate(before);
        out.into_iter().collect()
    }

    /// Records the variables that have a value where `part` holds, or with `unless`, where it does not.
    fn record_known(&mut self, part: &Expr, unless: bool) {
        if let ExprKind::IsSet { operand, negated } = &part.kind
            && *negated == unless
            && let Some(path) = operand.as_path()
        {
            self.known_paths.push(path.clone());
        }
    }

    /// `<` and the like. With an unset value they are false in some languages and an error in Agent
    /// Script, so a guard is added.
    fn ordering(&mut self, op: BinaryOp, left: &Expr, right: &Expr) -> Option<Expr> {
        let mut parts = Vec::new();
        for operand in [left, right] {
            let Some(path) = operand
                .as_path()
                .filter(|p| self.unset_comparable && !self.known_paths.contains(p))
            else {
                continue;
            };
            if self.is_set_by_runtime(path) {
                return None;
            }
            let here = self.path(path);
            let declared = self.all.get(&here.root.value);
            if declared.is_none_or(|d| d.initial_value.is_none()) || !here.segments.is_empty() {
                parts.push(is_set(Expr::path(here, Span::default()), false)?);
            }
        }
        parts.push(binary(op, self.expr(left)?, self.expr(right)?)?);
        all(parts)
    }

    /// Functions that have an operator in Agent Script.
    fn call_of(&mut self, function: &str, args: &[Expr]) -> Option<Expr> {
        let [left, right] = args else { return None };
        let [left, right] = [self.expr(left)?, self.expr(right)?];
        let op = match function {
            "ADD" => BinaryOp::Add,
            "SUB" | "SUBTRACT" => BinaryOp::Subtract,
            "MUL" | "MULTIPLY" => BinaryOp::Multiply,
            "DIV" | "DIVIDE" => BinaryOp::Divide,
            "COALESCE" => {
                return node(ExprKind::Conditional {
                    condition: Box::new(is_set(left.clone(), false)?),
                    then: Box::new(left),
                    otherwise: Box::new(right),
                });
            }
            _ => return None,
        };
        binary(op, left, right)
    }

    fn exprs(&mut self, all: &[Expr]) -> Option<Vec<Expr>> {
        all.iter().map(|e| self.expr(e)).collect()
    }

    fn binary(&mut self, op: BinaryOp, left: &Expr, right: &Expr) -> Option<Expr> {
        use BinaryOp as Op;
        let constant = |e: &Expr| matches!(&e.kind, ExprKind::Literal(l) if !matches!(l, Literal::Null | Literal::Undefined));
        let null =
            |e: &Expr| matches!(&e.kind, ExprKind::Literal(Literal::Null | Literal::Undefined));
        self.infer(left, right);
        match op {
            Op::Matches | Op::Contains | Op::StartsWith | Op::EndsWith | Op::Remainder => None,
            Op::Implies => {
                let before = self.known_paths.len();
                let condition = not(self.expr(left)?)?;
                self.record_known(left, false);
                let consequence = self.expr(right);
                self.known_paths.truncate(before);
                Expr::or(condition, consequence?).ok()
            }
            Op::Less | Op::LessEqual | Op::Greater | Op::GreaterEqual => {
                self.ordering(op, left, right)
            }
            Op::In | Op::NotIn => {
                let ExprKind::List(items) = &right.kind else { return None };
                let left = self.expr(left)?;
                let mut any: Option<Expr> = None;
                for item in items {
                    let one = binary(Op::StrictEqual, left.clone(), self.expr(item)?)?;
                    any = Some(match any {
                        Some(any) => Expr::or(any, one).ok()?,
                        None => one,
                    });
                }
                if op == Op::In { any } else { not(any?) }
            }
            Op::Equal | Op::StrictEqual if null(right) => is_set(self.expr(left)?, true),
            Op::NotEqual | Op::StrictNotEqual if null(right) => is_set(self.expr(left)?, false),
            // An unset value is unequal to everything, including another unset value.
            Op::NotEqual if !constant(left) && !constant(right) => {
                let [left, right] = [self.expr(left)?, self.expr(right)?];
                let unset = Expr::or(is_set(left.clone(), true)?, is_set(right.clone(), true)?);
                Expr::or(unset.ok()?, binary(Op::StrictNotEqual, left, right)?).ok()
            }
            Op::Equal => binary(Op::StrictEqual, self.expr(left)?, self.expr(right)?),
            Op::NotEqual => binary(Op::StrictNotEqual, self.expr(left)?, self.expr(right)?),
            op => binary(op, self.expr(left)?, self.expr(right)?),
        }
    }

    /// A read of a variable.
    fn read(&mut self, path: &Path) -> Option<Expr> {
        if path.namespace.is_some() {
            return Some(Expr::path(path.clone(), Span::default()));
        }
        if path.segments.contains(&Segment::Any) || self.is_set_by_runtime(path) {
            return None;
        }
        let path = self.path(path);
        if let Some((Segment::Field(last), before)) = path.segments.split_last()
            && last.value == "length"
        {
            let of = Path { segments: before.to_vec(), ..path.clone() };
            let args = vec![Expr::path(of, Span::default())];
            return node(ExprKind::Call { function: spanned(Name::new_static("len")), args });
        }
        Some(Expr::path(path, Span::default()))
    }

    /// Whether the runtime of the agent's language sets the variable. Nothing does so here, so the
    /// model judges conditions on it.
    /// Results of tools are set by the script itself.
    fn is_set_by_runtime(&self, path: &Path) -> bool {
        let mut dotted = path.root.value.to_string();
        if self.current_names.contains_key(dotted.as_str()) {
            return false;
        }
        for segment in &path.segments {
            let Segment::Field(field) = segment else { break };
            dotted.push('.');
            dotted.push_str(&field.value);
            if self.current_names.contains_key(dotted.as_str()) {
                return false;
            }
        }
        let root = path.root.value.as_str();
        let known = || {
            self.runtime.memory_roots.contains(&root) || self.runtime.variable(&dotted).is_some()
        };
        dotted == "input" || (self.unset_comparable && known())
    }

    /// Infers the type of an untyped variable from the constant it is compared with.
    fn infer(&mut self, left: &Expr, right: &Expr) {
        let ty = match &right.kind {
            ExprKind::Literal(Literal::Number(_)) => "number",
            ExprKind::Literal(Literal::Bool(_)) => "boolean",
            _ => return,
        };
        let declared = left.as_path().filter(|p| {
            p.namespace.is_none() && p.segments.is_empty() && !self.is_set_by_runtime(p)
        });
        if let Some(path) = declared {
            self.declare(&path.root.value, ty, |_| {});
        }
    }

    /// Translates a condition; `None` if it is natural language or Agent Script cannot express it.
    pub(super) fn condition(&mut self, c: &Condition) -> Option<Expr> {
        self.expr(c.expr()?)
    }

    /// Translates a text; placeholders that cannot be translated stay as written.
    pub(super) fn text(&mut self, template: &Template) -> Template {
        let mut out = String::with_capacity(template.text.value.len());
        for piece in template.pieces() {
            match piece {
                Piece::Text(text) => out.push_str(&plain(text)),
                Piece::Part(part, written) => match part.literal() {
                    Some(text) => out.push_str(&plain(text)),
                    None => out
                        .push_str(&self.part(part).unwrap_or_else(|| plain(written).into_owned())),
                },
            }
        }
        text(out)
    }
}

/// Plain text: what would begin a placeholder becomes a text in one.
fn plain(text: &str) -> Cow<'_, str> {
    if text.contains("{!") {
        Cow::Owned(text.replace("{!", "{!\"{!\"}"))
    } else {
        Cow::Borrowed(text)
    }
}
