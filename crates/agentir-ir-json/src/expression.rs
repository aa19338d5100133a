//! Parses the canonical notation of expressions, paths and types: what `Display` prints.
//!
//! The notation is that of ABL with the forms that only other languages have, so none of the languages' own parsers
//! reads all of it. Words that are operators (`AND`, `contains`) are names where a value is expected.

use agentir_diagnostics::{Span, Spanned};
use agentir_expr::{
    BinaryOp, Expr, ExprKind, Literal, MAX_DEPTH, Name, ObjectEntry, Path, Segment, TypeExpr,
    TypeField, TypeKind, UnaryOp,
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

type Parsed<T> = Result<T, Failure>;

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

const COMPARISONS: &[(&str, BinaryOp)] = &[
    ("==", BinaryOp::Equal),
    ("!=", BinaryOp::NotEqual),
    ("<=", BinaryOp::LessEqual),
    ("<", BinaryOp::Less),
    (">=", BinaryOp::GreaterEqual),
    (">", BinaryOp::Greater),
];

const WORD_COMPARISONS: &[(&str, BinaryOp)] = &[
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

    fn unexpected(&mut self, expected: &str) -> Failure {
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
        Failure { span: self.span(self.at..self.at + length), message, too_deep: false }
    }

    fn too_deep(&self) -> Failure {
        let message = format!("expressions must not nest more than {MAX_DEPTH} levels");
        Failure { span: self.span(self.at..self.at), message, too_deep: true }
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

    // ---- Expressions, loosest first ----

    fn expr(&mut self) -> Parsed<Expr> {
        self.nested(|this| {
            let condition = this.implication()?;
            if !this.take("?") {
                return Ok(condition);
            }
            let then = this.expr()?;
            this.expect(":")?;
            let otherwise = this.expr()?;
            let span = condition.span.to(otherwise.span);
            let [condition, then, otherwise] = [condition, then, otherwise].map(Box::new);
            this.node(ExprKind::Conditional { condition, then, otherwise }, span)
        })
    }

    fn implication(&mut self) -> Parsed<Expr> {
        let left = self
            .chain("OR", ExprKind::Or, |this| this.chain("AND", ExprKind::And, Self::negation))?;
        if !self.take_word("IMPLIES") {
            return Ok(left);
        }
        let right = self.nested(Self::implication)?;
        self.binary(BinaryOp::Implies, left, right)
    }

    fn chain(
        &mut self,
        operator: &str,
        kind: impl FnOnce(Vec<Expr>) -> ExprKind,
        mut part: impl FnMut(&mut Self) -> Parsed<Expr>,
    ) -> Parsed<Expr> {
        let first = part(self)?;
        let span = first.span;
        if !self.take_word(operator) {
            return Ok(first);
        }
        let mut parts = vec![first, part(self)?];
        while self.take_word(operator) {
            parts.push(part(self)?);
        }
        let end = parts.last().map_or(span, |last| last.span);
        self.node(kind(parts), span.to(end))
    }

    fn negation(&mut self) -> Parsed<Expr> {
        self.skip_space();
        let start = self.at;
        if !self.take_word("NOT") {
            return self.comparison();
        }
        let operand = self.nested(Self::negation)?;
        self.unary(UnaryOp::Not, operand, start)
    }

    fn comparison(&mut self) -> Parsed<Expr> {
        let left = self.sum()?;
        let start = left.span;
        if self.take_word("is_number") {
            let span = start.to(self.span(self.at..self.at));
            return self
                .node(ExprKind::Unary { op: UnaryOp::IsNumber, operand: Box::new(left) }, span);
        }
        for (words, negated) in [(["IS", "SET"], false), (["IS", "NOT"], true)] {
            let [first, second] = words;
            if self.take_words(first, second) {
                if negated && !self.take_word("SET") {
                    return Err(self.unexpected("`SET`"));
                }
                let span = start.to(self.span(self.at..self.at));
                return self.node(ExprKind::IsSet { operand: Box::new(left), negated }, span);
            }
        }
        let Some(op) = self.comparison_operator() else { return Ok(left) };
        let right = self.sum()?;
        self.binary(op, left, right)
    }

    fn comparison_operator(&mut self) -> Option<BinaryOp> {
        if self.take_words("NOT", "IN") {
            return Some(BinaryOp::NotIn);
        }
        if self.take_word("is") {
            return Some(if self.take_word("not") { BinaryOp::IsNot } else { BinaryOp::Is });
        }
        if let Some((_, op)) = WORD_COMPARISONS.iter().find(|(word, _)| self.take_word(word)) {
            return Some(*op);
        }
        let (_, op) = COMPARISONS.iter().find(|(symbol, _)| self.take(symbol))?;
        Some(match op {
            BinaryOp::Equal if self.strict => BinaryOp::StrictEqual,
            BinaryOp::NotEqual if self.strict => BinaryOp::StrictNotEqual,
            op => *op,
        })
    }

    fn sum(&mut self) -> Parsed<Expr> {
        let mut left = self.product()?;
        loop {
            let op = if self.take("+") {
                BinaryOp::Add
            } else if self.take("-") {
                BinaryOp::Subtract
            } else {
                return Ok(left);
            };
            let right = self.product()?;
            left = self.binary(op, left, right)?;
        }
    }

    fn product(&mut self) -> Parsed<Expr> {
        let mut left = self.sign()?;
        loop {
            let op = if self.take("*") {
                BinaryOp::Multiply
            } else if self.take("/") {
                BinaryOp::Divide
            } else if self.take("%") {
                BinaryOp::Remainder
            } else {
                return Ok(left);
            };
            let right = self.sign()?;
            left = self.binary(op, left, right)?;
        }
    }

    fn sign(&mut self) -> Parsed<Expr> {
        self.skip_space();
        let start = self.at;
        let mut next = self.rest().chars();
        match (next.next(), next.next()) {
            (Some('-'), Some(digit)) if digit.is_ascii_digit() => self.postfix(),
            (Some('-'), _) => {
                self.prefixed(start, |this, operand| this.unary(UnaryOp::Negate, operand, start))
            }
            (Some('+'), _) => {
                self.prefixed(start, |this, operand| this.unary(UnaryOp::Plus, operand, start))
            }
            (Some('*'), _) => self.prefixed(start, |this, operand| {
                let span = this.span_from(start);
                this.node(ExprKind::Spread(Box::new(operand)), span)
            }),
            _ => self.postfix(),
        }
    }

    fn prefixed(
        &mut self,
        start: usize,
        make: impl FnOnce(&Self, Expr) -> Parsed<Expr>,
    ) -> Parsed<Expr> {
        self.at = start + 1;
        let operand = self.nested(Self::sign)?;
        make(self, operand)
    }

    fn unary(&self, op: UnaryOp, operand: Expr, start: usize) -> Parsed<Expr> {
        let span = self.span_from(start);
        self.node(ExprKind::Unary { op, operand: Box::new(operand) }, span)
    }

    fn binary(&self, op: BinaryOp, left: Expr, right: Expr) -> Parsed<Expr> {
        let span = left.span.to(right.span);
        self.node(ExprKind::Binary { op, left: Box::new(left), right: Box::new(right) }, span)
    }

    /// A value and what follows it: members, subscripts, methods.
    fn postfix(&mut self) -> Parsed<Expr> {
        self.skip_space();
        let start = self.at;
        let mut value = self.value()?;
        loop {
            let before = self.at;
            let kind = if self.take_method() {
                let method = self.name()?;
                self.expect("(")?;
                let args = self.items(")")?;
                match &value.kind {
                    // `abl.word_count(x)` is a function.
                    ExprKind::Path(path)
                        if path.namespace.is_none()
                            && path.segments.is_empty()
                            && path.root.value == "abl"
                            && self.input.text.get(start..start + 3) == Some("abl") =>
                    {
                        let name = SmolStr::from_iter(["abl.", method.value.as_str()]);
                        let span = path.root.span.to(method.span);
                        ExprKind::Call { function: Spanned::new(name, span), args }
                    }
                    _ => ExprKind::Method { receiver: Box::new(value), method, args },
                }
            } else if let Some(segment) = self.segment()? {
                ExprKind::Member { base: Box::new(value), segment }
            } else if self.rest().starts_with('[') {
                self.at += 1;
                let index = self.expr()?;
                self.expect("]")?;
                ExprKind::Subscript { base: Box::new(value), index: Box::new(index) }
            } else {
                self.at = before;
                return Ok(value);
            };
            let span = self.span_from(start);
            value = self.node(kind, span)?;
        }
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
        let start = self.at;
        let rest = self.rest();
        let kind = match rest.chars().next() {
            Some('(') => {
                self.at += 1;
                let mut inner = self.expr()?;
                self.expect(")")?;
                // A path in parentheses is a value: `(a).b` is not the path `a.b`.
                inner.span = self.span_from(start);
                return Ok(inner);
            }
            Some('[') => {
                self.at += 1;
                ExprKind::List(self.items("]")?)
            }
            Some('{') => {
                self.at += 1;
                ExprKind::Object(self.entries()?)
            }
            Some('"' | '\'') => {
                let text = self.string()?;
                return Ok(Expr::literal(Literal::String(text.value), self.span_from(start)));
            }
            Some('/') => {
                let pattern = self.regex()?;
                return Ok(Expr::literal(Literal::Regex(pattern), self.span_from(start)));
            }
            Some('.') if rest.starts_with("...") => {
                self.at += 3;
                ExprKind::Ellipsis
            }
            Some(c) if c.is_ascii_digit() || c == '-' => {
                let literal = self.number()?;
                return Ok(Expr::literal(literal, self.span_from(start)));
            }
            Some('@') => return self.reference(),
            Some(c) if is_word_start(c) => return self.word(),
            _ => return Err(self.unexpected("a value")),
        };
        let span = self.span_from(start);
        self.node(kind, span)
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
            items.push(self.expr()?);
            if !self.take(",") {
                self.expect(close)?;
                break;
            }
        }
        Ok(items)
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

    // ---- Literals ----

    /// A string; its span is between the quotes.
    fn string(&mut self) -> Parsed<Spanned<SmolStr>> {
        let start = self.at;
        let mut chars = self.rest().char_indices();
        let quote = chars.next().map(|(_, c)| c);
        let mut text = String::new();
        while let Some((at, c)) = chars.next() {
            if Some(c) == quote {
                let span = self.span(start + 1..start + at);
                self.at = start + at + 1;
                return Ok(Spanned::new(text.into(), span));
            }
            if c != '\\' {
                text.push(c);
                continue;
            }
            match chars.next().map(|(_, c)| c) {
                Some('n') => text.push('\n'),
                Some('t') => text.push('\t'),
                Some('r') => text.push('\r'),
                Some(c @ ('"' | '\'' | '\\')) => text.push(c),
                Some(other) => text.extend(['\\', other]),
                None => break,
            }
        }
        let message = "this string has no closing quote".to_owned();
        let span = self.span(start..self.input.text.len());
        Err(Failure { span, message, too_deep: false })
    }

    fn regex(&mut self) -> Parsed<SmolStr> {
        let start = self.at;
        let mut chars = self.rest().char_indices().skip(1);
        let mut pattern = String::new();
        while let Some((at, c)) = chars.next() {
            match c {
                '/' => {
                    self.at = start + at + 1;
                    return Ok(pattern.into());
                }
                '\\' => match chars.next().map(|(_, c)| c) {
                    Some('/') => pattern.push('/'),
                    Some(other) => pattern.extend(['\\', other]),
                    None => break,
                },
                c => pattern.push(c),
            }
        }
        let message = "this pattern has no closing `/`".to_owned();
        let span = self.span(start..self.input.text.len());
        Err(Failure { span, message, too_deep: false })
    }

    /// A number or a date.
    fn number(&mut self) -> Parsed<Literal> {
        let rest = self.rest();
        if let Some(length) = date(rest) {
            self.at += length;
            return Ok(Literal::Date(SmolStr::new(rest.get(..length).unwrap_or_default())));
        }
        let digits = |from: usize| rest.bytes().skip(from).take_while(u8::is_ascii_digit).count();
        let byte = |at: usize| rest.as_bytes().get(at).copied();
        let mut end = usize::from(byte(0) == Some(b'-'));
        end += digits(end);
        if byte(end) == Some(b'.') && digits(end + 1) > 0 {
            end += 1 + digits(end + 1);
        }
        if matches!(byte(end), Some(b'e' | b'E')) {
            let sign = usize::from(matches!(byte(end + 1), Some(b'+' | b'-')));
            let exponent = digits(end + 1 + sign);
            if exponent > 0 {
                end += 1 + sign + exponent;
            }
        }
        let number = rest.get(..end).and_then(|n| n.parse().ok()).filter(|n: &f64| n.is_finite());
        let Some(number) = number else { return Err(self.unexpected("a number")) };
        self.at += end;
        Ok(Literal::Number(number))
    }

    // ---- Types ----

    fn type_expr(&mut self) -> Parsed<TypeExpr> {
        self.nested(|this| {
            this.skip_space();
            let start = this.at;
            let kind = if this.take("{") {
                TypeKind::Object(this.type_fields()?)
            } else {
                TypeKind::Named(this.type_name()?)
            };
            let mut ty = TypeExpr { kind, span: this.span_from(start) };
            let mut dimensions = 0;
            while this.take("[]") {
                dimensions += 1;
                if dimensions > MAX_DEPTH {
                    return Err(this.too_deep());
                }
                ty = TypeExpr { kind: TypeKind::Array(Box::new(ty)), span: this.span_from(start) };
            }
            Ok(ty)
        })
    }

    fn type_fields(&mut self) -> Parsed<Vec<TypeField>> {
        let mut fields = Vec::new();
        while !self.take("}") {
            let name = self.name()?;
            let optional = self.take("?");
            self.expect(":")?;
            fields.push(TypeField { name, optional, ty: self.type_expr()? });
            if !self.take(",") {
                self.expect("}")?;
                break;
            }
        }
        Ok(fields)
    }

    /// The name of a type. Names of other platforms have other signs as well: `list[string]`.
    fn type_name(&mut self) -> Parsed<Name> {
        let rest = self.rest();
        let (mut end, mut open) = (0, 0u32);
        for (at, c) in rest.char_indices() {
            end = at;
            match c {
                ',' | '}' | '{' if open == 0 => break,
                '[' if rest.get(at..).is_some_and(|rest| rest.starts_with("[]")) => break,
                '[' | '(' | '<' => open += 1,
                ']' | ')' | '>' => open = open.saturating_sub(1),
                _ => {}
            }
            end = at + c.len_utf8();
        }
        let name = rest.get(..end).unwrap_or_default().trim_end();
        if name.is_empty() {
            return Err(self.unexpected("a type"));
        }
        self.at += name.len();
        Ok(Name::new(name))
    }
}

fn is_word_start(c: char) -> bool {
    c.is_alphabetic() || matches!(c, '_' | '$')
}

fn is_word_part(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '$')
}

/// The length of a date, with or without a time: `2026-01-31`, `2026-01-31T08:30:00Z`.
fn date(text: &str) -> Option<usize> {
    const DATE: &str = "0000-00-00";
    let fits = |(pattern, byte): (u8, u8)| match pattern {
        b'0' => byte.is_ascii_digit(),
        sign => byte == sign,
    };
    let day = text.as_bytes().get(..DATE.len())?;
    if !DATE.bytes().zip(day.iter().copied()).all(fits) {
        return None;
    }
    let rest = text.get(DATE.len()..)?;
    let time = match rest.strip_prefix('T') {
        Some(time) => {
            let is_time = |c: &char| c.is_ascii_digit() || matches!(c, ':' | '.' | '+' | '-' | 'Z');
            1 + time.chars().take_while(is_time).count()
        }
        None => 0,
    };
    Some(DATE.len() + time)
}
