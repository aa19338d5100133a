//! What the words of a file are, for colours.

use crate::snapshot::Snapshot;
use agentir_analysis::references::{Role, SymbolKind};
use agentir_diagnostics::{FileId, Span};
use agentir_expr::{Expr, ExprKind, Literal, Visit};
use agentir_ir::Program;
use agentir_syntax::line_layout::LineKind;
use std::collections::BTreeMap;

/// A word or another part of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Token {
    /// Where it is, within one line.
    pub span: Span,
    /// What it is.
    pub kind: TokenKind,
    /// Whether it defines a name.
    pub is_definition: bool,
    /// Whether it assigns.
    pub is_write: bool,
}

/// What a token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenKind {
    /// A comment.
    Comment,
    /// The key of an entry.
    Key,
    /// The name of a symbol.
    Name(SymbolKind),
    /// A built-in function or a method.
    Function,
    /// A string in an expression.
    String,
    /// A number.
    Number,
    /// A constant with a name: `true`, `null`.
    Constant,
}

/// Tokens by where they begin; the first one that is added keeps its place.
#[derive(Default)]
struct Tokens(BTreeMap<u32, Token>);

impl Tokens {
    fn add(&mut self, token: Token) {
        let Span { start, end, .. } = token.span;
        let before = self.0.range(..end).next_back().map(|(_, before)| before.span.end);
        if start < end && before.is_none_or(|before| before <= start) {
            self.0.insert(start, token);
        }
    }

    fn plain(&mut self, span: Span, kind: TokenKind) {
        self.add(Token { span, kind, is_definition: false, is_write: false });
    }
}

impl Snapshot {
    /// The tokens of a file that follow from its meaning, by position. None is longer than a line, and none overlap.
    #[must_use]
    pub fn tokens(&self, file: FileId) -> Vec<Token> {
        let Some(source) = self.sources().get(file) else { return Vec::new() };
        let mut tokens = Tokens::default();
        let layout = self.layout(file);
        for comment in layout.iter().flat_map(|(layout, _)| layout.comments()) {
            tokens.plain(comment, TokenKind::Comment);
        }
        let programs: Vec<_> =
            self.programs().filter(|(id, _)| self.files_of(*id).contains(&file)).collect();
        for (id, _) in &programs {
            let occurrences =
                self.references(*id).map(|references| (references, references.in_file(file)));
            let Some((references, occurrences)) = occurrences else { continue };
            for one in occurrences.iter().filter(|one| one.role != Role::Mention) {
                let Some(symbol) = references.symbol(one.symbol) else { continue };
                tokens.add(Token {
                    span: one.span,
                    kind: TokenKind::Name(symbol.kind),
                    is_definition: one.role == Role::Definition,
                    is_write: one.role == Role::Write,
                });
            }
        }
        for (_, program) in &programs {
            expressions(program, file, &mut tokens);
        }
        for line in layout.iter().flat_map(|(layout, _)| &layout.lines) {
            if line.kind == LineKind::Entry
                && let Some(key) = key_of(&source.text, line.content, line.span.end)
            {
                tokens.plain(Span::new(file, key.0, key.1), TokenKind::Key);
            }
        }
        let text = &*source.text;
        let one_line = |token: &Token| {
            !text.get(token.span.range()).unwrap_or_default().contains(['\n', '\r'])
        };
        tokens.0.into_values().filter(one_line).collect()
    }
}

/// The key that a line begins with, after dashes.
fn key_of(text: &str, start: u32, end: u32) -> Option<(u32, u32)> {
    let line = text.get(start as usize..end as usize)?;
    let key = line.trim_start_matches(['-', ' ', '\t']);
    let start = start + u32::try_from(line.len() - key.len()).ok()?;
    let colon = key.find(':')?;
    let written = key.get(..colon)?;
    let is_key = |c: char| c.is_alphanumeric() || matches!(c, '_' | ' ' | '.' | '-' | '@');
    let is_plain = written.starts_with(|c: char| c.is_alphabetic() || c == '_')
        && written.chars().all(is_key)
        && key
            .get(colon + 1..)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\t']));
    is_plain.then(|| (start, start + u32::try_from(written.trim_end().len()).unwrap_or(0)))
}

/// The constants and functions of expressions.
fn expressions(program: &Program, file: FileId, tokens: &mut Tokens) {
    let mut of = |expr: &Expr| {
        if expr.span.file != file {
            return;
        }
        expr.visit(&mut |part| {
            match &part.kind {
                ExprKind::Call { function, .. } => tokens.plain(function.span, TokenKind::Function),
                ExprKind::Method { method, .. } => tokens.plain(method.span, TokenKind::Function),
                ExprKind::Literal(literal) => {
                    let kind = match literal {
                        Literal::String(_) => TokenKind::String,
                        Literal::Number(_) => TokenKind::Number,
                        _ => TokenKind::Constant,
                    };
                    tokens.plain(part.span, kind);
                }
                _ => {}
            }
            Visit::Children
        });
    };
    for agent in program.agents() {
        agent.walk(&mut |node| node.exprs(&mut of));
    }
}
