//! Lines and columns to tokens.
//!
//! Two logos lexers take turns on each line: [`Head`] reads how it starts (a dash, a key), [`Piece`]
//! reads the rest far enough to know where the value ends (quotes, brackets, a comment). Columns
//! become `Indent`/`Dedent`, dashes become `ItemStart`/`ItemEnd`, always balanced.

use super::{Key, MAX_NESTING, Scalar, Style};
use crate::rules;
use agentir_diagnostics::{Diagnostic, FileId, Span};
use logos::Logos;
use std::convert::Infallible;

/// The tokens of `abl_outline.lalrpop`.
#[derive(Debug, Clone)]
pub(crate) enum Token<'s> {
    Pair(Key<'s>, Option<Scalar<'s>>),
    Line(Scalar<'s>),
    ItemStart,
    ItemEnd,
    Indent,
    Dedent,
}

pub(crate) type Located<'s> = Result<(u32, Token<'s>, u32), Infallible>;

/// How a line may start.
#[derive(Logos, Debug, Clone, Copy, PartialEq, Eq)]
enum Head {
    #[regex(r"-[ \t]+")]
    #[regex(r"-\r?\n", priority = 4)]
    #[token("-", priority = 1)]
    Dash,
    #[regex(r#"[A-Za-z0-9_$@\x{80}-\x{10FFFF}][A-Za-z0-9_.*$/\x{80}-\x{10FFFF}-]*\??( [A-Z][A-Z_]*)?[ \t]*:"#)]
    #[regex(r#""[^"\\\r\n:]*"[ \t]*:"#)]
    Key,
}

/// The rest of a line.
#[derive(Logos, Debug, Clone, Copy, PartialEq, Eq)]
enum Piece {
    #[regex(r"[ \t\r]+")]
    Space,
    #[token("\n")]
    Newline,
    #[regex(r#""([^"\\\n]|\\[^\n])*""#)]
    Double,
    #[regex(r#""([^"\\\n]|\\[^\n])*"#)]
    OpenDouble,
    #[regex(r"'[^'\n]*'")]
    Single,
    #[regex(r"[ \t]+#[^\n]*", allow_greedy = true)]
    Comment,
    #[regex(r"[\[{(]")]
    Open,
    #[regex(r"[\]})]")]
    Close,
    // An apostrophe or a `#` inside a word is part of it.
    #[regex(r#"[^ \t\r\n"'\[\]{}()][^ \t\r\n"\[\]{}()]*"#)]
    Word,
}

/// An open block of the layout.
#[derive(Debug, Clone, Copy)]
struct Block {
    /// The column its entries start at.
    column: u32,
    /// What ends it.
    kind: BlockKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BlockKind {
    /// The left margin of the document.
    Document,
    /// Opened by deeper indentation.
    Indented,
    /// The dashes below a key at the key's own column, as YAML allows.
    Dashes,
    /// What stands behind a dash in column `dash`.
    Item { dash: u32 },
}

struct Layout<'s, 'p> {
    file: FileId,
    text: &'s str,
    at: usize,
    tokens: Vec<Located<'s>>,
    comments: Vec<Span>,
    blocks: Vec<Block>,
    problems: &'p mut Vec<Diagnostic>,
    /// The last entry given was a key without a value, so dashes at its column belong to it.
    open_key: bool,
    told_depth: bool,
}

fn offset(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

/// The tokens and comments of `text`.
pub(crate) fn tokens<'s>(
    file: FileId,
    text: &'s str,
    problems: &mut Vec<Diagnostic>,
) -> (Vec<Located<'s>>, Vec<Span>) {
    let mut layout = Layout {
        file,
        text,
        at: 0,
        // About one entry every 32 bytes in real files.
        tokens: Vec::with_capacity(text.len() / 24),
        comments: Vec::new(),
        blocks: vec![Block { column: 0, kind: BlockKind::Document }],
        problems,
        open_key: false,
        told_depth: false,
    };
    if text.starts_with('\u{feff}') {
        layout.at = '\u{feff}'.len_utf8();
    }
    layout.run();
    (layout.tokens, layout.comments)
}

impl<'s> Layout<'s, '_> {
    fn run(&mut self) {
        let mut first = true;
        while self.at < self.text.len() {
            let column = self.indentation();
            if self.skip_line_without_content() {
                continue;
            }
            if std::mem::take(&mut first) {
                // A document that is indented as a whole is still at its left margin.
                if let Some(document) = self.blocks.first_mut() {
                    document.column = column;
                }
            }
            self.place(column);
            self.entry(column);
        }
        let end = offset(self.text.len());
        while self.blocks.len() > 1 {
            self.close(end);
        }
    }

    fn rest(&self) -> &'s str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn span(&self, start: usize, end: usize) -> Span {
        Span::new(self.file, offset(start), offset(end))
    }

    /// The column of the first character; a tab goes to the next multiple of four.
    fn indentation(&mut self) -> u32 {
        let mut column = 0u32;
        loop {
            match self.peek() {
                Some(b' ') => column += 1,
                Some(b'\t') => column = (column / 4 + 1) * 4,
                _ => return column,
            }
            self.at += 1;
        }
    }

    /// Skips the line if it is blank or a comment.
    fn skip_line_without_content(&mut self) -> bool {
        let rest = self.rest();
        let comment = rest.starts_with('#') || rest.starts_with("//");
        if !comment && !matches!(self.peek(), None | Some(b'\n' | b'\r')) {
            return false;
        }
        let length = memchr::memchr(b'\n', rest.as_bytes()).unwrap_or(rest.len());
        let line = rest.get(..length).unwrap_or_default().trim_end();
        if !comment && !line.is_empty() {
            // A lone carriage return followed by text.
            self.at += 1;
            return false;
        }
        if comment {
            self.comments.push(self.span(self.at, self.at + line.len()));
        }
        self.at = (self.at + length + 1).min(self.text.len());
        true
    }

    fn push(&mut self, start: u32, token: Token<'s>, end: u32) {
        self.tokens.push(Ok((start, token, end)));
    }

    fn close(&mut self, at: u32) {
        let Some(block) = self.blocks.pop() else { return };
        // The end of what was closed is the end of the last thing said, not the line we are at.
        let end = self.tokens.last().map_or(at, |t| match t {
            Ok((_, _, end)) => *end,
            Err(never) => match *never {},
        });
        let token = match block.kind {
            BlockKind::Item { .. } => Token::ItemEnd,
            _ => Token::Dedent,
        };
        self.push(end, token, end);
        self.open_key = false;
    }

    /// Closes and opens blocks so that an entry at `column` can follow.
    fn place(&mut self, column: u32) {
        let at = offset(self.at);
        let dash = self.starts_with_dash();
        let mut popped = None;
        while let Some(top) = self.blocks.last().copied() {
            let leave = match top.kind {
                BlockKind::Document => false,
                BlockKind::Indented => column < top.column,
                BlockKind::Dashes => column < top.column || (column == top.column && !dash),
                // Anything right of the dash still belongs to its item.
                BlockKind::Item { dash } => column <= dash,
            };
            if !leave {
                break;
            }
            if top.kind == BlockKind::Indented {
                popped = Some(top);
            }
            self.close(at);
        }
        let Some(top) = self.blocks.last().copied() else { return };
        if dash && column == top.column && self.open_key {
            self.open(Block { column, kind: BlockKind::Dashes });
        } else if column > top.column {
            if let Some(popped) = popped {
                let span =
                    self.span(self.at.saturating_sub((column as usize).min(self.at)), self.at);
                self.problems.push(
                    Diagnostic::warning(
                        rules::INDENTATION,
                        span,
                        "this line is indented less than the lines above it, but more than what they belong to",
                    )
                    .help(format!(
                        "indent it by {} to go on with the block above, or by {} to leave it",
                        popped.column, top.column
                    )),
                );
            }
            self.open(Block { column, kind: BlockKind::Indented });
        }
    }

    fn open(&mut self, block: Block) {
        if self.blocks.len() > MAX_NESTING {
            if !std::mem::replace(&mut self.told_depth, true) {
                self.problems.push(
                    Diagnostic::error(
                        rules::NESTING,
                        self.span(self.at, self.at),
                        format!("nested more than {MAX_NESTING} levels deep"),
                    )
                    .note("deeper lines are read as if they were at this level"),
                );
            }
            return;
        }
        let at = offset(self.at);
        let token = match block.kind {
            BlockKind::Item { .. } => Token::ItemStart,
            _ => Token::Indent,
        };
        self.push(at, token, at);
        self.blocks.push(block);
    }

    fn starts_with_dash(&self) -> bool {
        let rest = self.rest().as_bytes();
        rest.first() == Some(&b'-')
            && matches!(rest.get(1), None | Some(b' ' | b'\t' | b'\r' | b'\n'))
    }

    /// One entry, from its first character to the end of its line or block text.
    fn entry(&mut self, mut column: u32) {
        while self.starts_with_dash() {
            self.at += 1;
            let dash = column;
            let start = self.at;
            column = dash + 1 + self.indentation();
            // A tab behind a dash counts as one column: what is below it is aligned by eye.
            if self.text.get(start..self.at).is_some_and(|s| s.contains('\t')) {
                column = dash + 2;
            }
            // An item of a full stack is still an item, or its lines would fall apart; the dash
            // is then read as a sibling line.
            let depth = self.blocks.len();
            self.open(Block { column, kind: BlockKind::Item { dash } });
            self.open_key = false;
            if self.blocks.len() == depth {
                break;
            }
            if matches!(self.peek(), None | Some(b'\n' | b'\r')) || self.comment_follows() {
                self.end_of_line();
                // What follows below a bare dash is aligned wherever it is.
                if let Some(block) = self.blocks.last_mut() {
                    block.column = dash + 2;
                }
                return;
            }
        }
        let mut head = Head::lexer(self.rest());
        if let Some(Ok(Head::Key)) = head.next() {
            let slice = head.slice();
            let after = self.text.as_bytes().get(self.at + slice.len()).copied();
            if matches!(
                after,
                None | Some(b' ' | b'\t' | b'\r' | b'\n' | b'"' | b'[' | b'{' | b'|')
            ) {
                self.pair(slice, column);
                return;
            }
        }
        self.open_key = false;
        let start = self.at;
        let text = self.value(column, false);
        if let Some(text) = text {
            let end = text.span.end;
            self.push(offset(start), Token::Line(text), end);
        }
    }

    fn comment_follows(&self) -> bool {
        self.peek() == Some(b'#')
    }

    fn end_of_line(&mut self) {
        let rest = self.rest();
        let length = memchr::memchr(b'\n', rest.as_bytes()).unwrap_or(rest.len());
        if self.comment_follows() {
            let line = rest.get(..length).unwrap_or_default().trim_end();
            self.comments.push(self.span(self.at, self.at + line.len()));
        }
        self.at = (self.at + length + 1).min(self.text.len());
    }

    fn pair(&mut self, slice: &'s str, column: u32) {
        let start = self.at;
        let name = slice.strip_suffix(':').unwrap_or(slice).trim_end();
        let span = self.span(start, start + name.len());
        let name = name.strip_prefix('"').and_then(|n| n.strip_suffix('"')).unwrap_or(name);
        self.at += slice.len();
        let value = self.value(column, true);
        let value_end = value.as_ref().map_or(span.end + 1, |v| v.span.end);
        let block = value.as_ref().is_some_and(|v| matches!(v.style, Style::Block(_)));
        let line_end = if block { start + slice.len() } else { value_end as usize };
        let line_length = offset(line_end - start);
        self.open_key = value.is_none();
        self.push(
            offset(start),
            Token::Pair(Key { text: name, span, line_length }, value),
            value_end,
        );
    }

    /// Reads the rest of the line (more lines, while brackets are open; the lines below, behind
    /// `|`). `column` is where the entry starts.
    fn value(&mut self, column: u32, behind_key: bool) -> Option<Scalar<'s>> {
        let mut lexer = Piece::lexer(self.rest());
        let base = self.at;
        let mut first: Option<(usize, Piece)> = None;
        let mut last_end = base;
        let mut pieces = 0u32;
        let mut open = 0u32;
        // Whether what was read last asks for more: an opening bracket, a comma, an arrow.
        let mut unfinished = false;
        let mut line_end = None;
        while let Some(piece) = lexer.next() {
            let range = lexer.span();
            let (start, end) = (base + range.start, base + range.end);
            let piece = piece.unwrap_or(Piece::Word);
            match piece {
                Piece::Space => continue,
                Piece::Comment => {
                    let text = lexer.slice();
                    let white = text.len() - text.trim_start().len();
                    self.comments.push(self.span(start + white, start + text.trim_end().len()));
                    continue;
                }
                Piece::Newline => {
                    if self.continues(end, column, open, unfinished) {
                        unfinished = false;
                        continue;
                    }
                    line_end = Some(end);
                    break;
                }
                // Inside a longer text it is for whoever reads that text to say.
                Piece::OpenDouble if pieces == 0 => {
                    let span = self.span(start, end);
                    self.problems.push(
                        Diagnostic::error(
                            rules::UNTERMINATED_STRING,
                            span,
                            "this string is not closed on its line",
                        )
                        .at("opened here")
                        .help("add the closing `\"`, or write a text of several lines below `|`"),
                    );
                }
                Piece::Open => open += 1,
                Piece::Close => open = open.saturating_sub(1),
                _ => {}
            }
            first.get_or_insert((start, piece));
            pieces += 1;
            unfinished = match piece {
                Piece::Open => true,
                Piece::Word => {
                    let word = lexer.slice();
                    word == "->" || (open > 0 && word.ends_with(','))
                }
                _ => false,
            };
            last_end = end;
        }
        self.at = line_end.unwrap_or(self.text.len());
        let (start, first) = first?;
        // White space may end a string that is not closed.
        let raw = self.text.get(start..last_end).unwrap_or_default().trim_end();
        let end = start + raw.len();
        if matches!(raw, "|" | "|-" | "|+" | ">" | ">-" | ">+") && (behind_key || pieces == 1) {
            return Some(self.block(column, start));
        }
        let style = match first {
            Piece::Double if pieces == 1 => Style::Double,
            Piece::Single if pieces == 1 && raw.len() > 1 => Style::Single,
            _ => Style::Bare,
        };
        Some(Scalar { raw, span: self.span(start, end), style, decoded: None })
    }

    /// Whether the line at `at` goes on with what the line before left open: that line broke off
    /// behind a bracket, a comma or an arrow and this one is indented deeper than the entry, or
    /// this one closes a bracket. Brackets alone are not enough: one that was forgotten costs its
    /// own line and no other.
    fn continues(&self, at: usize, column: u32, open: u32, unfinished: bool) -> bool {
        if open == 0 && !unfinished {
            return false;
        }
        let mut here = 0u32;
        let mut at = at;
        loop {
            match self.text.as_bytes().get(at) {
                Some(b' ') => here += 1,
                Some(b'\t') => here = (here / 4 + 1) * 4,
                Some(b']' | b'}' | b')') if open > 0 => return here >= column,
                Some(b'\r' | b'\n') | None => return false,
                Some(_) => return unfinished && here > column,
            }
            at += 1;
        }
    }

    /// The lines below `|` that are indented deeper than `column`.
    fn block(&mut self, column: u32, pipe: usize) -> Scalar<'s> {
        let start = self.at;
        let mut content_start = None;
        let mut end = start;
        let mut indent = None;
        while self.at < self.text.len() {
            let line_start = self.at;
            let here = self.indentation();
            let rest = self.rest();
            let length = memchr::memchr(b'\n', rest.as_bytes()).unwrap_or(rest.len());
            let blank = rest.get(..length).is_some_and(|l| l.trim().is_empty());
            if !blank {
                if here <= column {
                    self.at = line_start;
                    break;
                }
                let width = offset(self.at - line_start);
                indent = Some(indent.map_or(width, |i: u32| i.min(width)));
                content_start.get_or_insert(line_start);
                let trimmed = rest.get(..length).unwrap_or_default().trim_end();
                end = self.at + trimmed.len();
            }
            self.at = (self.at + length + 1).min(self.text.len());
        }
        match content_start {
            Some(start) => Scalar {
                raw: self.text.get(start..end).unwrap_or_default(),
                span: self.span(start, end),
                style: Style::Block(indent.unwrap_or(0)),
                decoded: None,
            },
            None => Scalar {
                raw: "",
                span: self.span(pipe, pipe + 1),
                style: Style::Block(0),
                decoded: None,
            },
        }
    }
}
