//! Parses the canonical notation of expressions, paths and types: what `Display` prints.
//!
//! The notation is that of ABL with the forms that only other languages have, so none of the languages' own parsers
//! reads all of it. Words that are operators (`AND`, `contains`) are names where a value is expected.

mod literal;

use literal::date;

use agentir_diagnostics::{Span, Spanned};
use agentir_expr::{
    BinaryOp, Expr, ExprKind, FUNCTION_NAMESPACE, Literal, MAX_DEPTH, Name, ObjectEntry, Path,
    Segment, TypeExpr, UnaryOp,
};
use agentir_syntax::inline::InlineText;
use smol_str::SmolStr;
use std::ops::Range;

/// Why a text is not in the notation, and where.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) span: Span,
    pub(crate) message: String,
    /// Whether the text is nested too deeply.
    pub(crate) too_deep: bool,
}

type Parsed<T> = Result<T, Box<Failure>>;

/// Parses an expression. `strict` says that `==` does not convert between types.
pub(crate) fn expression(input: InlineText<'_>, strict: bool) -> Parsed<Expr> {
    let mut parser = Parser::new(input, strict);
    let expr = parser.expr()?;
    parser.end()?;
    Ok(expr)
}

/// Parses the path of a variable.
pub(crate) fn path(input: InlineText<'_>) -> Parsed<Path> {
    let mut parser = Parser::new(input, false);
    let path = parser.path()?;
    parser.end()?;
    Ok(path)
}

/// Parses a type.
pub(crate) fn type_expr(input: InlineText<'_>) -> Parsed<TypeExpr> {
    let mut parser = Parser::new(input, false);
    let ty = parser.type_expr()?;
    parser.end()?;
    Ok(ty)
}

struct Parser<'a> {
    input: InlineText<'a>,
    /// The next byte.
    at: usize,
    depth: u16,
    strict: bool,
}

/// How tightly operators bind, loosest first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Level {
    Conditional,
    Implies,
    Or,
    And,
    Not,
    Comparison,
    Sum,
    Product,
    Sign,
}

/// What may follow an operand.
#[derive(Clone, Copy)]
enum Operator {
    Conditional,
    Implies,
    Or,
    And,
    IsNumber,
    /// `IS SET`, or `IS NOT SET`.
    IsSet(bool),
    Binary(BinaryOp),
}

impl Operator {
    const fn level(self) -> Level {
        match self {
            Self::Conditional => Level::Conditional,
            Self::Implies => Level::Implies,
            Self::Or => Level::Or,
            Self::And => Level::And,
            Self::Binary(BinaryOp::Add | BinaryOp::Subtract) => Level::Sum,
            Self::Binary(BinaryOp::Multiply | BinaryOp::Divide | BinaryOp::Remainder) => {
                Level::Product
            }
            Self::IsNumber | Self::IsSet(_) | Self::Binary(_) => Level::Comparison,
        }
    }
}

/// The longer ones first, of which others are the beginning.
const SYMBOLS: &[(&str, BinaryOp)] = &[
    ("==", BinaryOp::Equal),
    ("!=", BinaryOp::NotEqual),
    ("<=", BinaryOp::LessEqual),
    ("<", BinaryOp::Less),
    (">=", BinaryOp::GreaterEqual),
    (">", BinaryOp::Greater),
    ("+", BinaryOp::Add),
    ("-", BinaryOp::Subtract),
    ("*", BinaryOp::Multiply),
    ("/", BinaryOp::Divide),
    ("%", BinaryOp::Remainder),
];

const WORDS: &[(&str, BinaryOp)] = &[
    ("IN", BinaryOp::In),
    ("matches", BinaryOp::Matches),
    ("contains", BinaryOp::Contains),
    ("startsWith", BinaryOp::StartsWith),
    ("endsWith", BinaryOp::EndsWith),
];

impl<'a> Parser<'a> {
    const fn new(input: InlineText<'a>, strict: bool) -> Self {
        Self { input, at: 0, depth: 0, strict }
    }

    // ---- Text ----

    fn rest(&self) -> &'a str {
        self.input.text.get(self.at..).unwrap_or_default()
    }

    fn skip_space(&mut self) {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start().len();
    }

    fn span(&self, range: Range<usize>) -> Span {
        self.input.origin.span(range)
    }

    fn span_from(&self, start: usize) -> Span {
        self.span(start..self.at)
    }

    /// Takes a symbol, after white space.
    fn take(&mut self, symbol: &str) -> bool {
        self.skip_space();
        let found = self.rest().starts_with(symbol);
        if found {
            self.at += symbol.len();
        }
        found
    }

    fn expect(&mut self, symbol: &str) -> Parsed<()> {
        if self.take(symbol) { Ok(()) } else { Err(self.unexpected(&format!("`{symbol}`"))) }
    }

    /// The word at the next byte.
    fn word_here(&self) -> Option<&'a str> {
        let rest = self.rest();
        let mut chars = rest.char_indices();
        chars.next().filter(|(_, c)| is_word_start(*c))?;
        let end = chars.find(|(_, c)| !is_word_part(*c)).map_or(rest.len(), |(at, _)| at);
        rest.get(..end)
    }

    /// Takes a word that is an operator.
    fn take_word(&mut self, word: &str) -> bool {
        self.skip_space();
        let found = self.word_here() == Some(word);
        if found {
            self.at += word.len();
        }
        found
    }

    /// Takes the operator of two words, if both are there.
    fn take_words(&mut self, first: &str, second: &str) -> bool {
        let start = self.at;
        let found = self.take_word(first) && self.take_word(second);
        if !found {
            self.at = start;
        }
        found
    }

    fn name(&mut self) -> Parsed<Spanned<Name>> {
        self.skip_space();
        let Some(word) = self.word_here() else { return Err(self.unexpected("a name")) };
        let start = self.at;
        self.at += word.len();
        Ok(Spanned::new(Name::new(word), self.span_from(start)))
    }

    fn end(&mut self) -> Parsed<()> {
        self.skip_space();
        if self.rest().is_empty() { Ok(()) } else { Err(self.unexpected("an operator")) }
    }

    fn unexpected(&mut self, expected: &str) -> Box<Failure> {
        self.skip_space();
        let rest = self.rest();
        let length = match self.word_here() {
            Some(word) => word.len(),
            None => rest.chars().next().map_or(0, char::len_utf8),
        };
        let found = rest.get(..length).unwrap_or_default();
        let message = if found.is_empty() {
            format!("expected {expected} at the end")
        } else {
            format!("expected {expected}, found `{found}`")
        };
        Box::new(Failure { span: self.span(self.at..self.at + length), message, too_deep: false })
    }

    fn too_deep(&self) -> Box<Failure> {
        let message = format!("expressions must not nest more than {MAX_DEPTH} levels");
        Box::new(Failure { span: self.span(self.at..self.at), message, too_deep: true })
    }

    fn node(&self, kind: ExprKind, span: Span) -> Parsed<Expr> {
        Expr::new(kind, span).map_err(|_| self.too_deep())
    }

    /// Parses a part that may contain parts of its kind.
    fn nested<T>(&mut self, parse: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth >= MAX_DEPTH {
            return Err(self.too_deep());
        }
        self.depth += 1;
        let parsed = parse(self);
        self.depth -= 1;
        parsed
    }

    // ---- Expressions ----

    fn expr(&mut self) -> Parsed<Expr> {
        self.operands(Level::Conditional)
    }

    /// Operands, and operators between them that bind at least as tightly as `least`. One function for all levels:
    /// a function for each would need too much stack where expressions nest.
    fn operands(&mut self, least: Level) -> Parsed<Expr> {
        if self.depth >= MAX_DEPTH {
            return Err(self.too_deep());
        }
        self.depth += 1;
        let mut left = self.operand(least)?;
        let mut compared = false;
        loop {
            let before = self.at;
            let operator = self.operator().filter(|operator| {
                let level = operator.level();
                // Comparisons do not chain.
                level >= least && !(compared && level == Level::Comparison)
            });
            let Some(operator) = operator else {
                self.at = before;
                self.depth -= 1;
                return Ok(left);
            };
            compared |= operator.level() == Level::Comparison;
            left = self.joined(left, operator)?;
        }
    }

    /// An operand with the prefix operators that may stand there.
    fn operand(&mut self, least: Level) -> Parsed<Expr> {
        self.skip_space();
        let start = self.at;
        if least <= Level::Not && self.take_word("NOT") {
            let operand = self.operands(Level::Not)?;
            return self.unary(UnaryOp::Not, operand, start);
        }
        let mut next = self.rest().chars();
        let sign = next.next();
        // `-5` is a number.
        let digit = next.as_str().starts_with(|c: char| c.is_ascii_digit())
            && date(next.as_str()).is_none();
        let op = match sign {
            Some('-') if !digit => UnaryOp::Negate,
            Some('+') => UnaryOp::Plus,
            _ => return self.postfix(),
        };
        self.at += 1;
        let operand = self.operands(Level::Sign)?;
        self.unary(op, operand, start)
    }

    /// Takes an operator after an operand.
    fn operator(&mut self) -> Option<Operator> {
        self.skip_space();
        if let Some(word) = self.word_here() {
            let start = self.at;
            self.at += word.len();
            let found = match word {
                "AND" => Some(Operator::And),
                "OR" => Some(Operator::Or),
                "IMPLIES" => Some(Operator::Implies),
                "is_number" => Some(Operator::IsNumber),
                "NOT" if self.take_word("IN") => Some(Operator::Binary(BinaryOp::NotIn)),
                "IS" if self.take_word("SET") => Some(Operator::IsSet(true)),
                "IS" if self.take_words("NOT", "SET") => Some(Operator::IsSet(false)),
                "is" if self.strict && self.take_word("not") => {
                    Some(Operator::Binary(BinaryOp::IsNot))
                }
                "is" if self.strict => Some(Operator::Binary(BinaryOp::Is)),
                word => {
                    let known = WORDS.iter().find(|(known, _)| *known == word);
                    known.map(|(_, op)| Operator::Binary(*op))
                }
            };
            if found.is_none() {
                self.at = start;
            }
            return found;
        }
        if self.take("?") {
            return Some(Operator::Conditional);
        }
        let (_, op) = SYMBOLS.iter().find(|(symbol, _)| self.take(symbol))?;
        Some(Operator::Binary(match op {
            BinaryOp::Equal if self.strict => BinaryOp::StrictEqual,
            BinaryOp::NotEqual if self.strict => BinaryOp::StrictNotEqual,
            op => *op,
        }))
    }

    /// An operand and what follows its operator.
    fn joined(&mut self, left: Expr, operator: Operator) -> Parsed<Expr> {
        let start = left.span;
        let (kind, span) = match operator {
            Operator::Conditional => {
                let then = self.expr()?;
                self.expect(":")?;
                let otherwise = self.expr()?;
                let span = start.to(otherwise.span);
                let [condition, then, otherwise] = [left, then, otherwise].map(Box::new);
                (ExprKind::Conditional { condition, then, otherwise }, span)
            }
            Operator::Implies => return self.binary(BinaryOp::Implies, left, Level::Implies),
            Operator::Or => {
                let (parts, span) = self.chain(left, "OR", Level::And)?;
                (ExprKind::Or(parts), span)
            }
            Operator::And => {
                let (parts, span) = self.chain(left, "AND", Level::Not)?;
                (ExprKind::And(parts), span)
            }
            Operator::IsNumber => {
                let span = start.to(self.span(self.at..self.at));
                (ExprKind::Unary { op: UnaryOp::IsNumber, operand: Box::new(left) }, span)
            }
            Operator::IsSet(set) => {
                let span = start.to(self.span(self.at..self.at));
                (ExprKind::IsSet { operand: Box::new(left), negated: !set }, span)
            }
            Operator::Binary(op) => {
                let right = match operator.level() {
                    Level::Sum => Level::Product,
                    Level::Product => Level::Sign,
                    _ => Level::Sum,
                };
                return self.binary(op, left, right);
            }
        };
        self.node(kind, span)
    }

    /// The operands of a chain, after its first operator.
    fn chain(&mut self, first: Expr, operator: &str, level: Level) -> Parsed<(Vec<Expr>, Span)> {
        let span = first.span;
        let mut parts = vec![first, self.operands(level)?];
        while self.take_word(operator) {
            parts.push(self.operands(level)?);
        }
        let span = parts.last().map_or(span, |last| span.to(last.span));
        Ok((parts, span))
    }

    fn unary(&self, op: UnaryOp, operand: Expr, start: usize) -> Parsed<Expr> {
        let span = self.span_from(start);
        self.node(ExprKind::Unary { op, operand: Box::new(operand) }, span)
    }

    fn binary(&mut self, op: BinaryOp, left: Expr, level: Level) -> Parsed<Expr> {
        let right = self.operands(level)?;
        let span = left.span.to(right.span);
        self.node(ExprKind::Binary { op, left: Box::new(left), right: Box::new(right) }, span)
    }

    /// A value and what follows it: members, subscripts, methods.
    ///
    /// This and the other functions that are on the stack while a part is parsed only pass values on, so that they
    /// need little of it.
    fn postfix(&mut self) -> Parsed<Expr> {
        self.skip_space();
        let start = self.at;
        let mut value = Ok(self.value()?);
        while let Ok(before) = value {
            value = self.member(before, start)?;
        }
        value.or_else(Ok)
    }

    /// A member of a value, if one follows; else the value as the error.
    fn member(&mut self, value: Expr, start: usize) -> Parsed<Result<Expr, Expr>> {
        let kind = if self.take_method() {
            self.method(value, start)?
        } else if let Some(segment) = self.segment()? {
            ExprKind::Member { base: Box::new(value), segment }
        } else if self.rest().starts_with('[') {
            self.at += 1;
            let index = Box::new(self.expr()?);
            self.expect("]")?;
            ExprKind::Subscript { base: Box::new(value), index }
        } else {
            return Ok(Err(value));
        };
        let span = self.span_from(start);
        self.node(kind, span).map(Ok)
    }

    fn method(&mut self, receiver: Expr, start: usize) -> Parsed<ExprKind> {
        let method = self.name()?;
        self.expect("(")?;
        let args = self.items(")")?;
        let bare = self.input.text.get(start..start + FUNCTION_NAMESPACE.len())
            == Some(FUNCTION_NAMESPACE);
        Ok(match &receiver.kind {
            // `abl.word_count(x)` is a function.
            ExprKind::Path(path)
                if bare
                    && path.namespace.is_none()
                    && path.segments.is_empty()
                    && path.root.value == FUNCTION_NAMESPACE =>
            {
                let name = SmolStr::from_iter([FUNCTION_NAMESPACE, ".", method.value.as_str()]);
                let span = path.root.span.to(method.span);
                ExprKind::Call { function: Spanned::new(name, span), args }
            }
            _ => ExprKind::Method { receiver: Box::new(receiver), method, args },
        })
    }

    /// Takes the dot before the name of a method.
    fn take_method(&mut self) -> bool {
        let start = self.at;
        if self.rest().starts_with('.') {
            self.at += 1;
            if let Some(word) = self.word_here()
                && self.rest().get(word.len()..).is_some_and(|rest| rest.starts_with('('))
            {
                return true;
            }
        }
        self.at = start;
        false
    }

    /// A constant member of a value: `.name`, `.0`, `[0]`, `["name"]`.
    fn segment(&mut self) -> Parsed<Option<Segment>> {
        let rest = self.rest();
        if let Some(after) = rest.strip_prefix('.') {
            let start = self.at + 1;
            let digits = after.bytes().take_while(u8::is_ascii_digit).count();
            let length = match digits {
                0 if after.starts_with('*') => {
                    self.at += 2;
                    return Ok(Some(Segment::Any));
                }
                0 => {
                    self.at = start;
                    return Ok(Some(Segment::Field(self.name()?)));
                }
                digits => digits,
            };
            self.at = start + length;
            let name = Name::new(after.get(..length).unwrap_or_default());
            return Ok(Some(Segment::Field(Spanned::new(name, self.span_from(start)))));
        }
        let Some(inside) = rest.strip_prefix('[') else { return Ok(None) };
        if inside.starts_with(['"', '\'']) {
            let before = self.at;
            self.at += 1;
            let name = self.string()?;
            if self.rest().starts_with(']') {
                self.at += 1;
                return Ok(Some(Segment::Field(name)));
            }
            self.at = before;
            return Ok(None);
        }
        let digits = inside.bytes().take_while(u8::is_ascii_digit).count();
        let closed = inside.get(digits..).is_some_and(|rest| rest.starts_with(']'));
        let index = inside.get(..digits).filter(|_| closed).and_then(|n| n.parse().ok());
        if index.is_some() {
            self.at += digits + 2;
        }
        Ok(index.map(Segment::Index))
    }

    fn value(&mut self) -> Parsed<Expr> {
        match self.rest().chars().next() {
            Some('(') => self.parenthesized(),
            Some('[') => self.list(),
            Some('{') => self.object(),
            Some('@') => self.reference(),
            Some(c) if is_word_start(c) => self.word(),
            c => self.constant(c),
        }
    }

    fn parenthesized(&mut self) -> Parsed<Expr> {
        let start = self.at;
        self.at += 1;
        let mut inner = self.expr()?;
        self.expect(")")?;
        // A path in parentheses is a value: `(a).b` is not the path `a.b`.
        inner.span = self.span_from(start);
        Ok(inner)
    }

    fn list(&mut self) -> Parsed<Expr> {
        let start = self.at;
        self.at += 1;
        let kind = ExprKind::List(self.items("]")?);
        self.node(kind, self.span_from(start))
    }

    fn object(&mut self) -> Parsed<Expr> {
        let start = self.at;
        self.at += 1;
        let kind = ExprKind::Object(self.entries()?);
        self.node(kind, self.span_from(start))
    }

    fn constant(&mut self, first: Option<char>) -> Parsed<Expr> {
        let start = self.at;
        let literal = match first {
            Some('"' | '\'') => Literal::String(self.string()?.value),
            Some('/') => Literal::Regex(self.regex()?),
            Some('.') if self.rest().starts_with("...") => {
                self.at += 3;
                return self.node(ExprKind::Ellipsis, self.span_from(start));
            }
            Some(c) if c.is_ascii_digit() || c == '-' => self.number()?,
            _ => return Err(self.unexpected("a value")),
        };
        Ok(Expr::literal(literal, self.span_from(start)))
    }

    /// A constant, a function or a path.
    fn word(&mut self) -> Parsed<Expr> {
        let start = self.at;
        let word = self.word_here().unwrap_or_default();
        let literal = match word {
            "true" => Some(Literal::Bool(true)),
            "false" => Some(Literal::Bool(false)),
            "null" => Some(Literal::Null),
            "undefined" => Some(Literal::Undefined),
            _ => None,
        };
        if let Some(literal) = literal {
            self.at += word.len();
            return Ok(Expr::literal(literal, self.span_from(start)));
        }
        let path = self.path()?;
        self.call_or_path(path, start)
    }

    /// `@namespace.member`, or a function with such a name.
    fn reference(&mut self) -> Parsed<Expr> {
        let start = self.at;
        let path = self.path()?;
        self.call_or_path(path, start)
    }

    /// A path, or the call of a function that is named like it.
    fn call_or_path(&mut self, path: Path, start: usize) -> Parsed<Expr> {
        let span = self.span_from(start);
        if !self.rest().starts_with('(') {
            return Ok(Expr::path(path, span));
        }
        let function = if path.namespace.is_none() {
            path.root
        } else {
            let text = self.input.text.get(start..self.at).unwrap_or_default();
            Spanned::new(Name::new(text), span)
        };
        self.at += 1;
        let args = self.items(")")?;
        let span = self.span_from(start);
        self.node(ExprKind::Call { function, args }, span)
    }

    /// A path; it ends before the name of a method.
    fn path(&mut self) -> Parsed<Path> {
        self.skip_space();
        let namespace = if self.rest().starts_with('@') {
            self.at += 1;
            let namespace = self.name()?;
            self.expect(".")?;
            Some(namespace)
        } else {
            None
        };
        let root = self.name()?;
        let qualified = namespace.is_some();
        let mut path = Path { namespace, root, segments: Vec::new() };
        loop {
            let before = self.at;
            // With a namespace, the whole is the name of a function.
            if !qualified && self.take_method() {
                self.at = before;
                return Ok(path);
            }
            match self.segment()? {
                Some(segment) => path.segments.push(segment),
                None => return Ok(path),
            }
        }
    }

    fn items(&mut self, close: &str) -> Parsed<Vec<Expr>> {
        let mut items = Vec::new();
        while !self.take(close) {
            items.push(self.item()?);
            if !self.take(",") {
                self.expect(close)?;
                break;
            }
        }
        Ok(items)
    }

    /// An item of a list or a call: `*list` puts the items of a list in its place, where the language has that.
    fn item(&mut self) -> Parsed<Expr> {
        self.skip_space();
        let start = self.at;
        if !self.strict || !self.take("*") {
            return self.expr();
        }
        let operand = self.operands(Level::Sign)?;
        self.node(ExprKind::Spread(Box::new(operand)), self.span_from(start))
    }

    fn entries(&mut self) -> Parsed<Vec<ObjectEntry>> {
        let mut entries = Vec::new();
        while !self.take("}") {
            self.skip_space();
            let key = match self.rest().starts_with(['"', '\'']) {
                true => self.string()?,
                false => self.name()?,
            };
            let value = if self.take(":") { Some(self.expr()?) } else { None };
            entries.push(ObjectEntry { key, value });
            if !self.take(",") {
                self.expect("}")?;
                break;
            }
        }
        Ok(entries)
    }
}

fn is_word_start(c: char) -> bool {
    c.is_alphabetic() || matches!(c, '_' | '$')
}

fn is_word_part(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '$')
}
