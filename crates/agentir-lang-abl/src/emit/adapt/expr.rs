//! Translates expressions and texts of other languages to ABL.

use super::peers::ForeignVariables;
use super::variables::Variables;
use agentir_diagnostics::{Span, Spanned};
use agentir_expr::{
    BinaryOp, Condition, ConditionKind, Expr, ExprKind, Literal, Name, ObjectEntry, Path, Segment,
    Template, TemplatePart, UnaryOp, Visit,
};
use agentir_syntax::emit::expr_phrase;
use agentir_syntax::inline::InlineText;
use smol_str::{SmolStr, format_smolstr};

/// The scope of an expression.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scope<'n> {
    /// The tool whose result `@outputs` refers to.
    pub(super) outputs: Option<&'n str>,
    /// The names under which tools are exposed, with the tools' own names.
    pub(super) exposed_names: &'n [(SmolStr, SmolStr)],
    /// Variables renamed in ABL.
    pub(super) variables: &'n Variables,
    /// Variables of other agents that the agent has under their own names.
    pub(super) foreign: Option<&'n ForeignVariables>,
    /// The tools that have parameters.
    pub(super) taking: &'n [SmolStr],
}

impl Scope<'_> {
    /// A path: variables lose their namespace, and results are named by their tool.
    fn path(self, path: &Path) -> Path {
        let state = || {
            let mut path = Path { namespace: None, ..path.clone() };
            if let (Some(of), Some(Segment::Field(name))) =
                (self.foreign.and_then(|f| f.get(&path.root.value)), path.segments.first())
                && of.contains(&name.value)
            {
                path.root = name.clone();
                path.segments.remove(0);
            }
            self.variable(&mut path.root);
            path
        };
        let Some(namespace) = &path.namespace else { return state() };
        let below = |root: Spanned<Name>| {
            let mut segments = vec![Segment::Field(path.root.clone())];
            segments.extend(path.segments.iter().cloned());
            Path { namespace: None, root, segments }
        };
        match (namespace.value.as_str(), self.outputs) {
            ("variables", _) => state(),
            ("outputs", Some(tool)) => below(Spanned::new(Name::new(tool), namespace.span)),
            _ => below(namespace.clone()),
        }
    }

    /// An expression with the same meaning in ABL, as far as there is one.
    pub(super) fn expr(self, e: &Expr) -> Expr {
        let all = |items: &[Expr]| items.iter().map(|i| self.expr(i)).collect::<Vec<_>>();
        let boxed = |e: &Expr| Box::new(self.expr(e));
        let kind = match &e.kind {
            ExprKind::Path(path) => return Expr::path(self.path(path), e.span),
            ExprKind::Literal(_) | ExprKind::Ellipsis | ExprKind::Template(_) => return e.clone(),
            ExprKind::List(items) => ExprKind::List(all(items)),
            ExprKind::And(items) => ExprKind::And(all(items)),
            ExprKind::Or(items) => ExprKind::Or(all(items)),
            ExprKind::Object(entries) => {
                let entry = |o: &ObjectEntry| ObjectEntry {
                    key: o.key.clone(),
                    value: o.value.as_ref().map(|v| self.expr(v)),
                };
                ExprKind::Object(entries.iter().map(entry).collect())
            }
            ExprKind::Call { function, args } => match (function.value.as_str(), args.as_slice()) {
                ("len", [_]) => {
                    let function = Spanned::new(Name::new_static("LENGTH"), function.span);
                    ExprKind::Call { function, args: all(args) }
                }
                _ => ExprKind::Call { function: function.clone(), args: all(args) },
            },
            ExprKind::Method { receiver, method, args } => ExprKind::Method {
                receiver: boxed(receiver),
                method: method.clone(),
                args: all(args),
            },
            ExprKind::Member { base, segment } => {
                ExprKind::Member { base: boxed(base), segment: segment.clone() }
            }
            ExprKind::Subscript { base, index } => return self.subscript(e, base, index),
            ExprKind::Spread(operand) => ExprKind::Spread(boxed(operand)),
            ExprKind::Unary { op: UnaryOp::Plus, operand } => return self.expr(operand),
            ExprKind::Unary { op, operand } => ExprKind::Unary { op: *op, operand: boxed(operand) },
            ExprKind::IsSet { operand, negated } => {
                ExprKind::IsSet { operand: boxed(operand), negated: *negated }
            }
            ExprKind::Conditional { condition, then, otherwise } => ExprKind::Conditional {
                condition: boxed(condition),
                then: boxed(then),
                otherwise: boxed(otherwise),
            },
            ExprKind::Binary { op, left, right } => return self.binary(e, *op, left, right),
        };
        Expr::new(kind, e.span).unwrap_or_else(|_| e.clone())
    }

    /// `list[0]` and `map["a"]` are path segments in ABL. ABL has no computed indices; such an expression
    /// stays unchanged.
    fn subscript(self, e: &Expr, base: &Expr, index: &Expr) -> Expr {
        let segment = match &index.kind {
            ExprKind::Literal(Literal::String(text)) => {
                Segment::Field(Spanned::new(text.clone(), index.span))
            }
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "checked to be a small whole number"
            )]
            ExprKind::Literal(Literal::Number(n))
                if n.fract() == 0.0 && *n >= 0.0 && *n < f64::from(u16::MAX) =>
            {
                Segment::Index(*n as u32)
            }
            _ => {
                let (base, index) = (Box::new(self.expr(base)), Box::new(self.expr(index)));
                return rebuilt(ExprKind::Subscript { base, index }, e.span);
            }
        };
        let base = self.expr(base);
        match base.kind {
            ExprKind::Path(mut path) => {
                path.segments.push(segment);
                Expr::path(path, e.span)
            }
            _ => {
                let kind = ExprKind::Member { base: Box::new(base), segment };
                Expr::new(kind, e.span).unwrap_or_else(|_| e.clone())
            }
        }
    }

    /// Comparisons. One with null becomes `IS SET`. ABL's `!=` also holds if both sides are unset, so it
    /// equals Python's only if one side is a constant.
    fn binary(self, e: &Expr, op: BinaryOp, left: &Expr, right: &Expr) -> Expr {
        use BinaryOp as B;
        let null =
            |e: &Expr| matches!(e.kind, ExprKind::Literal(Literal::Null | Literal::Undefined));
        let constant = |e: &Expr| matches!(e.kind, ExprKind::Literal(_));
        let made = |kind| Expr::new(kind, e.span).unwrap_or_else(|_| e.clone());
        let (equality, negated) = match op {
            B::StrictEqual | B::Is => (true, false),
            B::StrictNotEqual | B::IsNot => (true, true),
            _ => (false, false),
        };
        let asked = match (null(left), null(right)) {
            (true, false) => Some(right),
            (false, true) => Some(left),
            _ => None,
        };
        if let (true, Some(asked)) = (equality, asked) {
            let operand = Box::new(self.expr(asked));
            return made(ExprKind::IsSet { operand, negated: !negated });
        }
        let compared = |op| ExprKind::Binary {
            op,
            left: Box::new(self.expr(left)),
            right: Box::new(self.expr(right)),
        };
        match (equality, negated) {
            (true, false) => made(compared(B::Equal)),
            (true, true) if constant(left) || constant(right) => made(compared(B::NotEqual)),
            (true, true) => {
                let operand = Box::new(made(compared(B::Equal)));
                made(ExprKind::Unary { op: UnaryOp::Not, operand })
            }
            _ => made(compared(op)),
        }
    }

    /// A value that ABL can express.
    pub(super) fn value(self, e: &Expr) -> Option<Expr> {
        Some(self.expr(e)).filter(is_expressible)
    }

    /// A condition that the runtime can evaluate; natural language would always hold.
    pub(super) fn evaluated(self, c: &Condition) -> Option<Condition> {
        Some(self.condition(c))
            .filter(|translated| translated.expr().is_some() || c.expr().is_none())
    }

    /// A condition. What ABL cannot express becomes natural language for the model.
    pub(super) fn condition(self, c: &Condition) -> Condition {
        match &c.kind {
            ConditionKind::Expr(e) => {
                let e = without_double_negation(self.expr(e));
                if is_expressible(&e) {
                    of_expr(e)
                } else {
                    let text = Spanned::new(SmolStr::new(expr_phrase(&e)), e.span);
                    Condition { text, kind: ConditionKind::Natural }
                }
            }
            _ => c.clone(),
        }
    }

    /// A text: `{!@variables.x}` becomes `{{x}}`, and names of actions become plain names. What is a placeholder in ABL
    /// only is written so that it stays text.
    pub(super) fn text(self, template: &mut Template) {
        let text = template.rewritten(|part, written| self.part(part, written));
        let text = self.rename_mentions(&text).unwrap_or(text);
        if text != template.text.value {
            replace_text(template, &text);
        }
    }

    /// A placeholder; `None` leaves it as it is written.
    fn part(self, part: &TemplatePart, written: &str) -> Option<String> {
        if let Some(name) = part.mention(written) {
            let tool = self.exposed_names.iter().find(|(exposed, _)| exposed == name);
            return Some(tool.map_or(name, |(_, tool)| tool).to_owned());
        }
        let expr = part.expr()?;
        if written.starts_with("{!") {
            return Some(self.placeholder(expr));
        }
        let renamed = self.expr(expr);
        part.written_with(&renamed).filter(|_| renamed != *expr)
    }

    /// A placeholder. ABL has no computed indices, so such a placeholder becomes a phrase for the reader.
    fn placeholder(self, e: &Expr) -> String {
        let e = self.expr(e);
        match &e.kind {
            ExprKind::Subscript { base, index } => {
                format!("element {{{{{index}}}}} (counted from 0) of {{{{{base}}}}}")
            }
            _ => format!("{{{{{e}}}}}"),
        }
    }

    /// Renames exposed tools mentioned in a text; `None` if none of them is renamed.
    fn rename_mentions(self, text: &str) -> Option<String> {
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        let mut changed = false;
        while !rest.is_empty() {
            let (word, tail) = rest.split_at(rest.find(|c| !in_name(c)).unwrap_or(rest.len()));
            let own = self.exposed_names.iter().find(|(name, own)| name == word && name != own);
            match own.filter(|_| is_unambiguous_name(word)) {
                Some((_, own)) => {
                    changed = true;
                    out.push_str(own);
                }
                None => out.push_str(word),
            }
            let (between, tail) = tail.split_at(tail.find(in_name).unwrap_or(tail.len()));
            out.push_str(between);
            rest = tail;
        }
        changed.then_some(out)
    }
}

/// Whether a character can be part of a name.
pub(super) fn in_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Whether a word can only be a name; `search` could be an ordinary verb.
pub(super) fn is_unambiguous_name(word: &str) -> bool {
    word.contains('_') || word.chars().skip(1).any(char::is_uppercase)
}

/// Gives a template another text, in ABL.
pub(super) fn replace_text(template: &mut Template, text: &str) {
    let span = template.text.span;
    let input = InlineText::verbatim(text, span.file, span.start);
    // What is wrong with it was wrong before.
    *template = Template {
        text: Spanned::new(SmolStr::new(text), span),
        shifts: Box::default(),
        ..crate::inline::template(input, &mut Vec::new())
    };
}

/// Whether ABL can express an expression.
fn is_expressible(e: &Expr) -> bool {
    let mut can = true;
    e.visit(&mut |e| {
        can &= !matches!(e.kind, ExprKind::Subscript { .. });
        Visit::Children
    });
    can
}

/// Removes a double negation where only truthiness matters.
fn without_double_negation(e: Expr) -> Expr {
    match e.kind {
        ExprKind::Unary { op: UnaryOp::Not, operand } => match operand.kind {
            ExprKind::Unary { op: UnaryOp::Not, operand } => without_double_negation(*operand),
            kind => negated(kind, operand.span, e.span),
        },
        ExprKind::And(parts) => {
            let parts = parts.into_iter().map(without_double_negation).collect();
            rebuilt(ExprKind::And(parts), e.span)
        }
        kind => rebuilt(kind, e.span),
    }
}

fn negated(kind: ExprKind, inner: Span, span: Span) -> Expr {
    let operand = Box::new(rebuilt(kind, inner));
    rebuilt(ExprKind::Unary { op: UnaryOp::Not, operand }, span)
}

/// A node whose operands already were in a node, so that its depth is valid.
fn rebuilt(kind: ExprKind, span: Span) -> Expr {
    Expr::new(kind, span).unwrap_or_else(|_| Expr::literal(Literal::Bool(false), span))
}

/// An expression as a condition.
pub(super) fn of_expr(e: Expr) -> Condition {
    let text = Spanned::new(SmolStr::new(e.to_string()), e.span);
    Condition { text, kind: ConditionKind::Expr(e) }
}

/// A condition as a phrase.
fn to_phrase(c: &Condition) -> String {
    c.expr().map_or_else(|| c.text.value.to_string(), expr_phrase)
}

/// The maximum length in bytes of a condition in natural language. Longer ones are unreadable, and
/// chains of them would take quadratic time.
const MAX_PHRASE_LEN: usize = 4096;

/// The conjunction of two conditions, unless it is too large. If one is natural language, so is the
/// result.
pub(super) fn conjunction(one: &Condition, other: &Condition) -> Option<Condition> {
    if let (Some(one), Some(other)) = (one.expr(), other.expr()) {
        return Expr::and(one.clone(), other.clone()).ok().map(of_expr);
    }
    let part = |c: &Condition| match to_phrase(c) {
        words if words.contains(" or ") => format!("({words})"),
        words => words,
    };
    let text = format_smolstr!("{} and {}", part(one), part(other));
    (text.len() <= MAX_PHRASE_LEN)
        .then(|| Condition { text: Spanned::new(text, other.span()), kind: ConditionKind::Natural })
}

/// The negation of a condition.
pub(super) fn not(c: &Condition) -> Condition {
    match c.expr() {
        Some(Expr { kind: ExprKind::Unary { op: UnaryOp::Not, operand }, .. }) => {
            of_expr((**operand).clone())
        }
        Some(e) => of_expr(negated(e.kind.clone(), e.span, e.span)),
        None => {
            let text = format_smolstr!("not ({})", c.text.value);
            Condition { text: Spanned::new(text, c.span()), kind: ConditionKind::Natural }
        }
    }
}
