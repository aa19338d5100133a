//! The layout pass: lines and columns to tokens.
//!
//! Two logos lexers alternate on each line: [`Head`] lexes its start (a dash, a key), [`Piece`] lexes the
//! rest far enough to find the end of the value (quotes, brackets, a comment). Columns become
//! `Indent`/`Dedent`, dashes become `ItemStart`/`ItemEnd`, always balanced.

use crate::schema::AGENT;
use agentir_diagnostics::{Diagnostic, FileId, Span};
use agentir_syntax::outline::{
    DEEPER_LINES, Key, MAX_NESTING, Scalar, Style, between_levels, last_end, nested_too_deep,
};
use agentir_syntax::rules;
use agentir_syntax::stray::StrayLines;
use agentir_syntax::text::{Cursor, Tabs, offset};
use logos::Logos;
use std::convert::Infallible;

/// The tokens of `grammars/abl/outline.lalrpop`.
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

/// The start of a line.
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
    /// The kind of block.
    kind: BlockKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BlockKind {
    /// The left margin of the document.
    Document,
    /// Opened by indentation.
    Indented,
    /// Dashes below a key at the key's own column, as YAML allows.
    Dashes,
    /// The content after a dash in column `dash`.
    Item { dash: u32 },
}

struct Layout<'s, 'p> {
    cursor: Cursor<'s>,
    tokens: Vec<Located<'s>>,
    comments: Vec<Span>,
    blocks: Vec<Block>,
    problems: &'p mut Vec<Diagnostic>,
    /// Whether the last entry was a key without a value, so that dashes at its column belong to it.
    open_key: bool,
    told_depth: bool,
    stray: StrayLines,
}

/// The tokens and comments of `text`.
pub(crate) fn tokens<'s>(
    file: FileId,
    text: &'s str,
    problems: &mut Vec<Diagnostic>,
) -> (Vec<Located<'s>>, Vec<Span>) {
    let mut layout = Layout {
        cursor: Cursor::new(file, text, Tabs::Stops(4)),
        // About one entry every 32 bytes in real files.
        tokens: Vec::with_capacity(text.len() / 24),
        comments: Vec::new(),
        blocks: vec![Block { column: 0, kind: BlockKind::Document }],
        problems,
        open_key: false,
        told_depth: false,
        stray: StrayLines::default(),
    };
    layout.run();
    (layout.tokens, layout.comments)
}

/// Whether an indented block may follow: behind an entry with a line of its own.
fn takes_nested_lines(tokens: &[Located<'_>]) -> bool {
    matches!(tokens.last(), Some(Ok((_, Token::Pair(..) | Token::Line(_) | Token::Dedent, _))))
}

/// Whether a line begins with the keyword of a section, in capitals.
fn begins_section(line: &str) -> bool {
    let keyword = line.split([':', '\n']).next().unwrap_or_default();
    let in_capitals = keyword.bytes().all(|b| b.is_ascii_uppercase() || b == b'_');
    in_capitals && !keyword.is_empty() && AGENT.field(&keyword.to_ascii_lowercase()).is_some()
}

impl<'s> Layout<'s, '_> {
    fn run(&mut self) {
        let mut first = true;
        while !self.cursor.is_at_end() {
            let column = self.cursor.indentation();
            if self.skip_line_without_content()
                || (column == 0 && self.skip_stray_line(!self.tokens.is_empty()))
            {
                continue;
            }
            if std::mem::take(&mut first) {
                // In a document that is indented as a whole, the left margin is its indentation.
                if let Some(document) = self.blocks.first_mut() {
                    document.column = column;
                }
            }
            self.place(column);
            self.entry(column);
        }
        let end = offset(self.cursor.text.len());
        while self.blocks.len() > 1 {
            self.close(end);
        }
    }

    /// Skips a blank line or a comment line.
    fn skip_line_without_content(&mut self) -> bool {
        let rest = self.cursor.rest();
        let comment = rest.starts_with('#') || rest.starts_with("//");
        if !comment && !matches!(self.cursor.peek(), None | Some(b'\n' | b'\r')) {
            return false;
        }
        let line_end = self.cursor.line_end();
        let line = self.cursor.slice(self.cursor.at, line_end).trim_end();
        if !comment && !line.is_empty() {
            // A lone carriage return followed by text.
            self.cursor.at += 1;
            return false;
        }
        if comment {
            self.comments.push(self.cursor.span(self.cursor.at, self.cursor.at + line.len()));
        }
        self.cursor.next_line(line_end);
        true
    }

    /// Skips a line at the margin that interrupts what it stands in, if it stands in something.
    fn skip_stray_line(&mut self, inside: bool) -> bool {
        let (file, text, at) = (self.cursor.file, self.cursor.text, self.cursor.at);
        let end = self.stray.after_marker(file, text, at, self.problems).or_else(|| {
            // Without a colon, a line in capitals is a keyword.
            let rest = self.cursor.rest();
            let word = rest.split([' ', '\t', '\r', '\n', '：']).next().unwrap_or_default();
            let keyword = word.chars().all(|c| c.is_ascii_uppercase() || c == '_');
            let is_entry = keyword
                || self.cursor.starts_with_dash()
                || Head::lexer(rest).next() == Some(Ok(Head::Key));
            if is_entry || !inside {
                return None;
            }
            StrayLines::after_text(file, text, at, self.problems)
        });
        if let Some(end) = end {
            self.cursor.next_line(end);
        }
        end.is_some()
    }

    fn push(&mut self, start: u32, token: Token<'s>, end: u32) {
        self.tokens.push(Ok((start, token, end)));
    }

    fn close(&mut self, at: u32) {
        let Some(block) = self.blocks.pop() else { return };
        let end = last_end(&self.tokens).unwrap_or(at);
        let token = match block.kind {
            BlockKind::Item { .. } => Token::ItemEnd,
            _ => Token::Dedent,
        };
        self.push(end, token, end);
        self.open_key = false;
    }

    /// Closes and opens blocks so that an entry at `column` can follow.
    fn place(&mut self, column: u32) {
        let at = offset(self.cursor.at);
        let dash = self.cursor.starts_with_dash();
        let mut popped = None;
        while let Some(top) = self.blocks.last().copied() {
            let leave = match top.kind {
                BlockKind::Document => false,
                BlockKind::Indented => column < top.column,
                BlockKind::Dashes => column < top.column || (column == top.column && !dash),
                // Anything right of the dash belongs to its item.
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
        let Some(top) = self.blocks.last_mut() else { return };
        if column > top.column && !takes_nested_lines(&self.tokens) {
            // The first line below a bare dash decides where its item starts.
            if matches!(top.kind, BlockKind::Item { .. }) {
                top.column = column;
            }
            return;
        }
        let top = *top;
        if dash && column == top.column && self.open_key {
            self.open(Block { column, kind: BlockKind::Dashes });
        } else if column > top.column {
            let is_section = popped.is_some()
                && top.kind == BlockKind::Document
                && begins_section(self.cursor.rest());
            if let Some(popped) = popped {
                let span = self.cursor.span(
                    self.cursor.at.saturating_sub((column as usize).min(self.cursor.at)),
                    self.cursor.at,
                );
                self.problems.push(between_levels(span, popped.column, top.column));
            }
            // A section that is indented by mistake is a section still: real exports have them.
            if !is_section {
                self.open(Block { column, kind: BlockKind::Indented });
            }
        }
    }

    fn open(&mut self, block: Block) {
        if self.blocks.len() > MAX_NESTING {
            if !std::mem::replace(&mut self.told_depth, true) {
                let here = self.cursor.span(self.cursor.at, self.cursor.at);
                self.problems.push(nested_too_deep(here).note(DEEPER_LINES));
            }
            return;
        }
        let at = offset(self.cursor.at);
        let token = match block.kind {
            BlockKind::Item { .. } => Token::ItemStart,
            _ => Token::Indent,
        };
        self.push(at, token, at);
        self.blocks.push(block);
    }

    /// An entry, from its first character to the end of its line or block text.
    fn entry(&mut self, mut column: u32) {
        while self.cursor.starts_with_dash() {
            self.cursor.at += 1;
            let dash = column;
            let start = self.cursor.at;
            column = dash + 1 + self.cursor.indentation();
            // A tab after a dash counts as one column, since the lines below are aligned visually.
            if self.cursor.text.get(start..self.cursor.at).is_some_and(|s| s.contains('\t')) {
                column = dash + 2;
            }
            // At the nesting limit an item still needs its tokens, or its lines would be separated; the dash
            // is then read as a sibling line.
            let depth = self.blocks.len();
            self.open(Block { column, kind: BlockKind::Item { dash } });
            self.open_key = false;
            if self.blocks.len() == depth {
                break;
            }
            if matches!(self.cursor.peek(), None | Some(b'\n' | b'\r')) || self.comment_follows() {
                self.end_of_line();
                // The content below a bare dash may be at any deeper column.
                if let Some(block) = self.blocks.last_mut() {
                    block.column = dash + 1;
                }
                return;
            }
        }
        let mut head = Head::lexer(self.cursor.rest());
        if let Some(Ok(Head::Key)) = head.next() {
            let slice = head.slice();
            let after = self.cursor.text.as_bytes().get(self.cursor.at + slice.len()).copied();
            if matches!(
                after,
                None | Some(b' ' | b'\t' | b'\r' | b'\n' | b'"' | b'[' | b'{' | b'|')
            ) {
                self.pair(slice, column);
                return;
            }
        }
        self.open_key = false;
        let start = self.cursor.at;
        let text = self.value(column, false);
        if let Some(text) = text {
            let end = text.span.end;
            self.push(offset(start), Token::Line(text), end);
        }
    }

    fn comment_follows(&self) -> bool {
        self.cursor.peek() == Some(b'#')
    }

    fn end_of_line(&mut self) {
        let line_end = self.cursor.line_end();
        if self.comment_follows() {
            let line = self.cursor.slice(self.cursor.at, line_end).trim_end();
            self.comments.push(self.cursor.span(self.cursor.at, self.cursor.at + line.len()));
        }
        self.cursor.next_line(line_end);
    }

    fn pair(&mut self, slice: &'s str, column: u32) {
        let start = self.cursor.at;
        let name = slice.strip_suffix(':').unwrap_or(slice).trim_end();
        let span = self.cursor.span(start, start + name.len());
        let name = name.strip_prefix('"').and_then(|n| n.strip_suffix('"')).unwrap_or(name);
        self.cursor.at += slice.len();
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

    /// Lexes the rest of the line, further lines while brackets are open, and the lines of a block text after
    /// `|`. `column` is the column of the entry.
    fn value(&mut self, column: u32, behind_key: bool) -> Option<Scalar<'s>> {
        let mut lexer = Piece::lexer(self.cursor.rest());
        let base = self.cursor.at;
        let mut first: Option<(usize, Piece)> = None;
        let mut last_end = base;
        let mut pieces = 0u32;
        let mut open = 0u32;
        // Whether the last piece requires more: an opening bracket, a comma, an arrow.
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
                    self.comments
                        .push(self.cursor.span(start + white, start + text.trim_end().len()));
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
                // Inside a longer text, the parser of that text decides.
                Piece::OpenDouble if pieces == 0 => {
                    let span = self.cursor.span(start, end);
                    self.problems.push(
                        Diagnostic::error(
                            rules::UNTERMINATED_STRING,
                            span,
                            "this string is not closed on its line",
                        )
                        .at("opened here")
                        .help("add the closing `\"`, or write a multi-line text below `|`"),
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
        self.cursor.at = line_end.unwrap_or(self.cursor.text.len());
        let (start, first) = first?;
        // White space may end an unterminated string.
        let raw = self.cursor.slice(start, last_end).trim_end();
        let end = start + raw.len();
        if matches!(raw, "|" | "|-" | "|+" | ">" | ">-" | ">+") && (behind_key || pieces == 1) {
            return Some(self.block(column, start));
        }
        let style = match first {
            Piece::Double if pieces == 1 => Style::Double,
            Piece::Single if pieces == 1 && raw.len() > 1 => Style::Single,
            _ => Style::Bare,
        };
        Some(Scalar { raw, span: self.cursor.span(start, end), style, decoded: None })
    }

    /// Whether the line at `at` continues an unfinished line: the previous one ended with a bracket, a comma
    /// or an arrow and this one is indented deeper than the entry, or this one closes a bracket. An open
    /// bracket alone is not enough, so that a forgotten one only affects its own line.
    fn continues(&self, at: usize, column: u32, open: u32, unfinished: bool) -> bool {
        if open == 0 && !unfinished {
            return false;
        }
        let rest = self.cursor.text.get(at..).unwrap_or_default();
        let (here, line) = self.cursor.tabs.indented(rest);
        match line.as_bytes().first() {
            Some(b']' | b'}' | b')') if open > 0 => here >= column,
            Some(b'\r' | b'\n') | None => false,
            Some(_) => unfinished && here > column,
        }
    }

    /// The lines of a block text that are indented deeper than `column`.
    fn block(&mut self, column: u32, pipe: usize) -> Scalar<'s> {
        let start = self.cursor.at;
        let mut content_start = None;
        let mut end = start;
        let mut indent = None;
        while !self.cursor.is_at_end() {
            let line_start = self.cursor.at;
            let here = self.cursor.indentation();
            let line_end = self.cursor.line_end();
            let line = self.cursor.slice(self.cursor.at, line_end).trim_end();
            if !line.is_empty() {
                if here <= column {
                    if here == 0 && self.skip_stray_line(true) {
                        continue;
                    }
                    self.cursor.at = line_start;
                    break;
                }
                let width = offset(self.cursor.at - line_start);
                indent = Some(indent.map_or(width, |i: u32| i.min(width)));
                content_start.get_or_insert(line_start);
                end = self.cursor.at + line.len();
            }
            self.cursor.next_line(line_end);
        }
        match content_start {
            Some(start) => Scalar {
                raw: self.cursor.slice(start, end),
                span: self.cursor.span(start, end),
                style: Style::Block(indent.unwrap_or(0)),
                decoded: None,
            },
            None => Scalar {
                raw: "",
                span: self.cursor.span(pipe, pipe + 1),
                style: Style::Block(0),
                decoded: None,
            },
        }
    }
}
