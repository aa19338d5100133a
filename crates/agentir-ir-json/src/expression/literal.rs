//! Literals and types.

use super::{Failure, Parsed, Parser};
use agentir_diagnostics::Spanned;
use agentir_expr::{Literal, MAX_DEPTH, Name, TypeExpr, TypeField, TypeKind};
use smol_str::SmolStr;

impl Parser<'_> {
    /// A string; its span is between the quotes.
    pub(super) fn string(&mut self) -> Parsed<Spanned<SmolStr>> {
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
        Err(Box::new(Failure { span, message, too_deep: false }))
    }

    pub(super) fn regex(&mut self) -> Parsed<SmolStr> {
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
        Err(Box::new(Failure { span, message, too_deep: false }))
    }

    /// A number or a date.
    pub(super) fn number(&mut self) -> Parsed<Literal> {
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

    pub(super) fn type_expr(&mut self) -> Parsed<TypeExpr> {
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

    /// The name of a type. Names of other platforms have other signs as well: `list[string]`, `int | None`. Whatever is
    /// between brackets belongs to it, if they are closed.
    fn type_name(&mut self) -> Parsed<Name> {
        let (start, rest) = (self.at, self.rest());
        let mut open = Vec::new();
        let (mut end, mut begins) = (0, true);
        let mut chars = rest.char_indices();
        while let Some((at, c)) = chars.next() {
            end = at;
            self.at = start + at;
            match c {
                ',' | '}' | '{' if open.is_empty() => break,
                '[' if open.is_empty() && rest.get(at..).is_some_and(|r| r.starts_with("[]")) => {
                    break;
                }
                '"' | '\'' if begins || !open.is_empty() => {
                    if !chars.any(|(_, next)| next == c) {
                        return Err(self.unexpected(&format!("a second `{c}`")));
                    }
                    begins = false;
                }
                '[' | '(' | '<' | '{' if open.is_empty() && begins => {
                    return Err(self.unexpected("a type"));
                }
                '[' => open.push(']'),
                '(' => open.push(')'),
                '<' => open.push('>'),
                '{' => open.push('}'),
                ']' | ')' | '>' | '}' if open.pop() != Some(c) => {
                    return Err(self.unexpected("the name of a type"));
                }
                _ if !open.is_empty() || matches!(c, ']' | ')' | '>' | '}') => {}
                '|' if begins => return Err(self.unexpected("a type")),
                '|' => begins = true,
                c if c.is_whitespace() => {
                    // Only an alternative goes on behind a space.
                    let next = rest.get(at..).unwrap_or_default().trim_start();
                    let ends = next.is_empty() || next.starts_with([',', '}', '|', '[']);
                    if !begins && !ends {
                        self.skip_space();
                        return Err(self.unexpected("the end of the type"));
                    }
                    let next = rest.len() - next.len();
                    while chars.offset() < next {
                        chars.next();
                    }
                }
                c if begins && !(c.is_alphabetic() || matches!(c, '_' | '@' | '$')) => {
                    return Err(self.unexpected("a type"));
                }
                _ => begins = false,
            }
            end = chars.offset();
        }
        if let Some(closing) = open.pop() {
            self.at = start + rest.len();
            return Err(self.unexpected(&format!("`{closing}`")));
        }
        let name = rest.get(..end).unwrap_or_default().trim_end();
        self.at = start + name.len();
        if name.is_empty() || begins {
            return Err(self.unexpected("a type"));
        }
        Ok(Name::new(name))
    }
}

/// The length of a date, with or without a time: `2026-01-31`, `2026-01-31T08:30:00Z`.
pub(super) fn date(text: &str) -> Option<usize> {
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
            let bytes = time.as_bytes();
            let is_time = |at: &usize| match bytes.get(*at) {
                Some(b'.') => bytes.get(at + 1).is_some_and(u8::is_ascii_digit),
                Some(byte) => byte.is_ascii_digit() || matches!(byte, b':' | b'+' | b'-' | b'Z'),
                None => false,
            };
            1 + (0..).take_while(is_time).count()
        }
        None => 0,
    };
    Some(DATE.len() + time)
}
