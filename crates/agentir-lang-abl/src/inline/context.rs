//! The context of actions in `grammars/abl/inline.lalrpop`: spans, unescaped strings, and nodes with a checked
//! depth.

use super::ast::{
    Action, ActionKind, Assignment, Checkpoint, ConstraintKind, ConstraintRule, Direction,
    ProtocolHeader, RouteAction, RoutingRule, SignatureParameter, SortBy, Store, ToolCall,
    ToolSignature, TransformHeader,
};
use super::errors::Abl;
use super::lexer::SyntaxErrorKind;
use agentir_diagnostics::Spanned;
use agentir_expr::{
    Condition, ConditionKind, Expr, ExprKind, FUNCTION_NAMESPACE, Literal, Name, Path, Segment,
    TypeExpr, TypeKind,
};
use agentir_syntax::inline::{
    ExprBuilder, InlineText, syntax_error, unescaped_leniently, whole_number,
};
use smol_str::{SmolStr, format_smolstr};

/// A dotted name, of the part before the last dot and the one after it.
pub(crate) fn dotted(base: &Spanned<Name>, field: &Spanned<Name>) -> Spanned<Name> {
    Spanned::new(format_smolstr!("{}.{}", base.value, field.value), base.span.to(field.span))
}

/// Whether a word may be a name, without punctuation of a list or quotes.
fn is_plain(word: &str) -> bool {
    word.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.'))
}

/// The result of parsing with one of the entry points.
#[derive(Debug)]
pub(crate) enum Parsed {
    Expr(Box<Expr>),
    Placeholder(Box<(Expr, Vec<Spanned<Name>>)>),
    Path(Box<Spanned<Path>>),
    Type(TypeExpr),
    Signature(Box<ToolSignature>),
    Constraint(Box<ConstraintRule>),
    Action(Box<Action>),
    Call(Box<ToolCall>),
    Store(Box<Store>),
    Chain(Vec<Spanned<Name>>),
    Assignment(Box<Assignment>),
    Transform(Box<TransformHeader>),
    Sort(Box<SortBy>),
    RoutingRule(Box<RoutingRule>),
    RouteAction(Box<RouteAction>),
    Protocol(Box<ProtocolHeader>),
}

/// A clause of an action.
pub(crate) enum ActionPart {
    Target(Spanned<Name>),
    Arguments(Vec<Spanned<Name>>),
    Reason(Spanned<SmolStr>),
    Detail(Spanned<Name>, Spanned<SmolStr>),
}

/// Why the parser stopped.
pub(crate) type Error<'a> = agentir_syntax::inline::Error<'a, Abl>;
type Result<'a, T> = std::result::Result<T, Error<'a>>;

/// The maximum number of `[]` after a type.
const MAX_DIMENSIONS: usize = 8;

/// The text being parsed.
pub(crate) struct Context<'a> {
    pub input: InlineText<'a>,
}

impl<'a> ExprBuilder<'a> for Context<'a> {
    type InlineLanguage = Abl;

    fn input(&self) -> InlineText<'a> {
        self.input
    }
}

impl<'a> Context<'a> {
    /// `path.method(args)`, or a function in [`FUNCTION_NAMESPACE`].
    pub(crate) fn path_method(
        &self,
        start: u32,
        end: u32,
        path: Path,
        path_end: u32,
        method: Spanned<Name>,
        args: Vec<Expr>,
    ) -> Result<'a, Box<Expr>> {
        let kind = if path.segments.is_empty() && path.root.value == FUNCTION_NAMESPACE {
            let span = path.root.span.to(method.span);
            let name = SmolStr::from_iter([FUNCTION_NAMESPACE, ".", method.value.as_str()]);
            ExprKind::Call { function: Spanned::new(name, span), args }
        } else {
            let receiver = Expr::path(path, self.span(start, path_end)).into();
            ExprKind::Method { receiver, method, args }
        };
        self.node(start, end, kind)
    }

    pub(crate) fn index(&self, start: u32, end: u32, index: f64) -> Result<'a, u32> {
        whole_number(index).ok_or(syntax_error::<Abl>(SyntaxErrorKind::Subscript, start, end))
    }

    /// The value of a string literal. Unknown escapes are literal: `"\d"` is `\d`.
    pub(crate) fn unquoted(&self, literal: &str) -> SmolStr {
        let inner = literal.get(1..literal.len().saturating_sub(1)).unwrap_or_default();
        unescaped_leniently(inner, |c| match c {
            'n' => Some('\n'),
            't' => Some('\t'),
            'r' => Some('\r'),
            '"' | '\'' | '\\' => Some(c),
            _ => None,
        })
    }

    /// `/pattern/flags`. `\/` stands for `/`; flags become a group as in `(?i)`.
    pub(crate) fn regex(&self, start: u32, end: u32, literal: &str) -> Result<'a, Literal> {
        let close = literal.rfind('/').unwrap_or(0);
        let pattern = literal.get(1..close).unwrap_or_default();
        let flags = literal.get(close + 1..).unwrap_or_default();
        let mut text = String::with_capacity(literal.len());
        if !flags.is_empty() {
            if flags.bytes().any(|b| !matches!(b, b'i' | b'm' | b's' | b'u' | b'g')) {
                return Err(syntax_error::<Abl>(SyntaxErrorKind::RegexFlag, start, end));
            }
            // `g` only matters for replacing; patterns are always Unicode.
            let kept = || flags.chars().filter(|c| matches!(c, 'i' | 'm' | 's'));
            if kept().next().is_some() {
                text.push_str("(?");
                text.extend(kept());
                text.push(')');
            }
        }
        let mut chars = pattern.chars();
        while let Some(c) = chars.next() {
            match c {
                '\\' => match chars.next() {
                    Some('/') => text.push('/'),
                    Some(escaped) => text.extend(['\\', escaped]),
                    None => text.push('\\'),
                },
                c => text.push(c),
            }
        }
        Ok(Literal::Regex(text.into()))
    }

    pub(crate) fn parameter(
        &self,
        name: Spanned<Name>,
        optional: bool,
        ty: Option<TypeExpr>,
        default: Option<Box<Expr>>,
    ) -> SignatureParameter {
        SignatureParameter { name, optional, ty, default: default.map(|d| *d) }
    }

    pub(crate) fn sort_by(
        &self,
        field: Spanned<Path>,
        start: u32,
        direction: Option<Direction>,
        end: u32,
    ) -> SortBy {
        SortBy { field, direction: direction.map(|d| Spanned::new(d, self.span(start, end))) }
    }

    pub(crate) fn array_type(
        &self,
        start: u32,
        end: u32,
        base: TypeExpr,
        dimensions: usize,
    ) -> Result<'a, TypeExpr> {
        if dimensions > MAX_DIMENSIONS {
            return Err(syntax_error::<Abl>(SyntaxErrorKind::TooDeep, start, end));
        }
        let span = self.span(start, end);
        Ok((0..dimensions)
            .fold(base, |item, _| TypeExpr { kind: TypeKind::Array(item.into()), span }))
    }

    pub(crate) fn constraint(
        &self,
        kind: Spanned<ConstraintKind>,
        start: u32,
        condition: Expr,
        end: u32,
        checkpoint: Option<Spanned<Checkpoint>>,
    ) -> ConstraintRule {
        let text = Spanned::new(self.slice(start, end).into(), self.span(start, end));
        let condition = Condition { text, kind: ConditionKind::Expr(condition) };
        ConstraintRule { kind, condition, checkpoint }
    }

    pub(crate) fn checkpoint(
        &self,
        start: u32,
        end: u32,
        words: &[Spanned<Name>],
    ) -> Spanned<Checkpoint> {
        let is = |word: Option<&Spanned<Name>>, text: &str| {
            word.is_some_and(|w| w.value.eq_ignore_ascii_case(text))
        };
        let checkpoint = match words {
            [calling, tool] if is(Some(calling), "calling") && is_plain(&tool.value) => {
                Checkpoint::ToolCall(tool.clone())
            }
            [returning, what] if is(Some(returning), "returning") && is(Some(what), "results") => {
                Checkpoint::Response
            }
            _ => {
                let all = self.slice(start, end);
                let words = all.get("BEFORE".len()..).unwrap_or_default().trim_start();
                Checkpoint::Other(words.into())
            }
        };
        Spanned::new(checkpoint, self.span(start, end))
    }

    pub(crate) fn go_to(&self, step: Spanned<Name>) -> Action {
        Action {
            kind: ActionKind::GoTo,
            word: step.clone(),
            span: step.span,
            target: Some(step),
            reason: None,
            priority: None,
            arguments: Vec::new(),
        }
    }

    pub(crate) fn action(
        &self,
        start: u32,
        word_end: u32,
        kind: ActionKind,
        parts: Vec<ActionPart>,
        end: u32,
    ) -> Result<'a, Action> {
        let mut action = Action {
            kind,
            word: Spanned::new(self.slice(start, word_end).into(), self.span(start, word_end)),
            target: None,
            reason: None,
            priority: None,
            arguments: Vec::new(),
            span: self.span(start, end),
        };
        let wrong = || syntax_error::<Abl>(SyntaxErrorKind::ActionDetail, start, end);
        for part in parts {
            match part {
                ActionPart::Target(name) if action.target.is_none() => action.target = Some(name),
                ActionPart::Arguments(names) => action.arguments.extend(names),
                ActionPart::Reason(text) if action.reason.is_none() => action.reason = Some(text),
                ActionPart::Detail(key, value) => {
                    let slot = match key.value.to_ascii_uppercase().as_str() {
                        "REASON" | "MESSAGE" | "RESPOND" => &mut action.reason,
                        "PRIORITY" => &mut action.priority,
                        _ => return Err(wrong()),
                    };
                    if slot.replace(value).is_some() {
                        return Err(wrong());
                    }
                }
                ActionPart::Target(_) | ActionPart::Reason(_) => return Err(wrong()),
            }
        }
        Ok(action)
    }

    pub(crate) fn protocol(&self, from: Spanned<Name>, to: Spanned<Name>) -> ProtocolHeader {
        let any = from.value.eq_ignore_ascii_case("any");
        ProtocolHeader { from: (!any).then_some(from), to }
    }

    /// The path, if `text` consists only of names and dots. This is the most common text, and needs no parser.
    pub(crate) fn plain_path(&self, text: &str, start: u32) -> Option<Spanned<Path>> {
        let mut at = start;
        let mut path: Option<Path> = None;
        for name in text.split('.') {
            let mut bytes = name.bytes();
            let first = bytes.next()?;
            let plain = (first.is_ascii_alphabetic() || first == b'_')
                && bytes.all(|b| b.is_ascii_alphanumeric() || b == b'_');
            if !plain {
                return None;
            }
            let end = at + u32::try_from(name.len()).ok()?;
            let word = Spanned::new(Name::new(name), self.span(at, end));
            at = end + 1;
            match &mut path {
                None if is_reserved(name) => return None,
                None => path = Some(Path::variable(word)),
                Some(path) => {
                    if path.segments.is_empty() {
                        path.segments.reserve_exact(text.bytes().filter(|b| *b == b'.').count());
                    }
                    path.segments.push(Segment::Field(word));
                }
            }
        }
        Some(Spanned::new(path?, self.span(start, at.saturating_sub(1))))
    }
}

/// Whether a word is reserved, so that it is not a name where a value is expected.
fn is_reserved(word: &str) -> bool {
    const WORDS: &[&str] = &["and", "false", "implies", "not", "null", "or", "true", "undefined"];
    word.len() <= 9 && WORDS.iter().any(|w| w.eq_ignore_ascii_case(word))
}
