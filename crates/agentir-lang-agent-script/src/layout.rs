//! Lines and columns to tokens (specification part I, 1.1, 1.2 and 6.1).
//!
//! Each line is read in two steps: [`head`] reads how it starts (a bar, a key, a keyword), the logos
//! lexer [`Piece`] reads the rest far enough to know where it ends (texts, brackets, a comment).
//! Columns become `Indent`/`Dedent`, dashes become `ItemStart`/`ItemEnd`, always balanced.
//!
//! The *modes* of the language are decided here, once for each line:
//!
//! - *template*: behind `|`, everything up to the next line that is not indented deeper is prose and
//!   becomes one token. A line that begins with `#` is a comment only where it is not deeper.
//! - *brackets*: an open bracket or a `\` at the end goes on with the next line, unless that line
//!   clearly begins something else: one bracket that is never closed must not cost the file.
//! - *lines*: everything else. Blank lines and comment lines never open or close a block.

use super::outline::{Inline, Key, RawTemplate, Text, Word};
use super::schema::Dialect;
use agentir_diagnostics::{Applicability, Diagnostic, FileId, Span};
use agentir_syntax::outline::{
    DEEPER_LINES, MAX_NESTING, between_levels, last_end, nested_too_deep,
};
use agentir_syntax::rules;
use agentir_syntax::stray::StrayLines;
use agentir_syntax::text::{Cursor, Tabs, offset};
use agentir_syntax::words;
use logos::Logos;
use std::convert::Infallible;

/// The tokens of `grammars/agent-script/outline.lalrpop`.
#[derive(Debug, Clone)]
pub(crate) enum Token<'s> {
    Key(Key<'s>, Inline<'s>),
    Statement(Word, Text<'s>),
    Template(RawTemplate<'s>),
    Line(Text<'s>),
    If(Text<'s>),
    ElseIf(Text<'s>),
    Else(Text<'s>),
    ItemStart,
    ItemEnd,
    Indent,
    Dedent,
}

pub(crate) type Located<'s> = Result<(u32, Token<'s>, u32), Infallible>;

/// How many columns a tab is worth. Not a tab stop: the official tools count so.
const TAB: u32 = 3;
pub(crate) const TABS: Tabs = Tabs::Width(TAB);

/// How a line may start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Head<'s> {
    /// `|`.
    Pipe,
    /// A key with its colon: a quoted name, or a word that other words and quoted names may follow.
    Key(&'s str),
    /// A word.
    Word(&'s str),
}

/// How `line` starts, if it starts with a bar, a key or a word.
fn head(line: &str) -> Option<Head<'_>> {
    if line.starts_with('|') {
        return Some(Head::Pipe);
    }
    let word = word_length(line);
    let mut end = if word > 0 { word } else { quoted_length(line)? };
    loop {
        let rest = line.get(end..)?;
        let next = rest.trim_start_matches([' ', '\t']);
        let space = rest.len() - next.len();
        if next.starts_with(':') {
            return line.get(..end + space + 1).map(Head::Key);
        }
        let length = match word_length(next) {
            0 => quoted_length(next),
            length => Some(length),
        };
        match length {
            Some(length) if word > 0 && space > 0 => end += space + length,
            _ => break,
        }
    }
    line.get(..word).filter(|word| !word.is_empty()).map(Head::Word)
}

/// The length in bytes of the word that `text` begins with, or zero.
fn word_length(text: &str) -> usize {
    if text.starts_with('-') {
        return 0;
    }
    words::prefix(text, |c| c.is_alphanumeric() || matches!(c, '_' | '-'))
}

/// The length in bytes of the quoted name that `text` begins with.
fn quoted_length(text: &str) -> Option<usize> {
    let inside = text.strip_prefix('"')?;
    let end = inside.find(['"', '\\', '\r', '\n'])?;
    inside.get(end..)?.starts_with('"').then_some(end + 2)
}

/// The rest of a line.
#[derive(Logos, Debug, Clone, Copy, PartialEq, Eq)]
enum Piece {
    #[regex(r"[ \t\r]+")]
    Space,
    // Blank lines are part of the line's end, so that nobody looks at them twice.
    #[regex(r"\n([ \t\r]*\n)*")]
    Newline,
    #[regex(r"\\[ \t]*\r?\n")]
    Continuation,
    #[regex(r#""([^"\\\n]|\\[^\n])*""#)]
    Double,
    #[regex(r#""([^"\\\n]|\\[^\n])*\\?"#)]
    OpenDouble,
    #[regex(r"'[^'\n]*'")]
    Single,
    #[regex(r"#[^\n]*", allow_greedy = true)]
    Comment,
    #[regex(r"[\[{(]")]
    Open,
    #[regex(r"[\]})]")]
    Close,
    // An apostrophe inside a word is part of it.
    #[regex(r#"[^ \t\r\n"'\[\]{}()#\\][^ \t\r\n"\[\]{}()#\\]*"#)]
    Word,
}

/// What a first word may begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Keyword {
    Statement(Word),
    If,
    Else,
    /// Another language's word for `else if`.
    Elif,
}

fn keyword(word: &str) -> Option<Keyword> {
    Some(match word {
        "set" => Keyword::Statement(Word::Set),
        "run" => Keyword::Statement(Word::Run),
        "with" => Keyword::Statement(Word::With),
        "to" => Keyword::Statement(Word::To),
        "transition" => Keyword::Statement(Word::Transition),
        "available" => Keyword::Statement(Word::Available),
        "collect" => Keyword::Statement(Word::Collect),
        "ask" => Keyword::Statement(Word::Ask),
        "if" => Keyword::If,
        "else" => Keyword::Else,
        "elif" | "elseif" | "elsif" => Keyword::Elif,
        _ => return None,
    })
}

/// An open block of the layout.
#[derive(Debug, Clone, Copy)]
struct Block {
    /// The column its entries start at.
    column: u32,
    kind: BlockKind,
    /// The last entry is a condition that may go on with `else`.
    condition: bool,
    /// The column of the last entry, if that stands right of where it should.
    ragged: Option<u32>,
    /// A line between two levels was reported already.
    told: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BlockKind {
    /// The left margin of the document.
    Document,
    /// Opened by deeper indentation.
    Indented,
    /// What stands behind a dash in column `dash`.
    Item { dash: u32 },
}

struct Layout<'s, 'p> {
    cursor: Cursor<'s>,
    tokens: Vec<Located<'s>>,
    comments: Vec<Span>,
    blocks: Vec<Block>,
    /// The brackets that are open on the current line.
    brackets: Vec<u8>,
    placeholders: Option<(Span, u32)>,
    /// The first tab of the text.
    first_tab: Option<usize>,
    problems: &'p mut Vec<Diagnostic>,
    told_depth: bool,
    stray: StrayLines,
}

/// What the layout pass gives.
pub(crate) struct LaidOut<'s> {
    pub tokens: Vec<Located<'s>>,
    pub comments: Vec<Span>,
    /// The first `{{…}}` outside of texts, and how many there are.
    pub placeholders: Option<(Span, u32)>,
}

/// The tokens and comments of `text`.
pub(crate) fn tokens<'s>(
    file: FileId,
    text: &'s str,
    problems: &mut Vec<Diagnostic>,
) -> LaidOut<'s> {
    let mut layout = Layout {
        cursor: Cursor::new(file, text, TABS),
        // About one token every 32 bytes in real files.
        tokens: Vec::with_capacity(text.len() / 24),
        comments: Vec::new(),
        blocks: vec![Block {
            column: 0,
            kind: BlockKind::Document,
            condition: false,
            ragged: None,
            told: false,
        }],
        brackets: Vec::new(),
        placeholders: None,
        first_tab: memchr::memchr(b'\t', text.as_bytes()),
        problems,
        told_depth: false,
        stray: StrayLines::default(),
    };
    layout.run();
    let Layout { tokens, comments, placeholders, .. } = layout;
    LaidOut { tokens, comments, placeholders }
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
                // A document that is indented as a whole is still at its left margin.
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

    fn comment(&mut self, start: usize, end: usize) {
        let text = self.cursor.slice(start, end);
        self.comments.push(self.cursor.span(start, start + text.trim_end().len()));
    }

    /// Skips the line if it is blank or a comment.
    fn skip_line_without_content(&mut self) -> bool {
        let end = match self.cursor.peek() {
            None | Some(b'\n') => self.cursor.at,
            Some(b'#') => {
                let end = self.cursor.line_end();
                self.comment(self.cursor.at, end);
                end
            }
            Some(b'\r') => {
                let end = self.cursor.line_end();
                if self.cursor.text.get(self.cursor.at..end).is_some_and(|l| !l.trim().is_empty()) {
                    // A lone carriage return followed by text.
                    self.cursor.at += 1;
                    return false;
                }
                end
            }
            _ => return false,
        };
        self.cursor.next_line(end);
        true
    }

    /// Skips a line at the margin that interrupts what it stands in, if it stands in something.
    fn skip_stray_line(&mut self, inside: bool) -> bool {
        let (file, text, at) = (self.cursor.file, self.cursor.text, self.cursor.at);
        let end = self.stray.after_marker(file, text, at, self.problems).or_else(|| {
            let rest = self.cursor.rest();
            let line = rest.lines().next().unwrap_or_default();
            let word = line.split([' ', '\t', ':', '：']).next().unwrap_or_default();
            // The name of a block without its colon, or what begins an entry.
            let is_block = Dialect::ALL.iter().any(|d| d.root().field(word).is_some());
            let is_entry = is_block
                || matches!(head(rest), Some(Head::Pipe | Head::Key(_)))
                || line.starts_with(['|', '"', '-']);
            if is_entry || keyword(word).is_some() || !inside {
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
        if let Some(block) = self.blocks.last_mut() {
            match token {
                Token::If(_) | Token::ElseIf(_) => block.condition = true,
                Token::Indent | Token::Dedent => {}
                _ => block.condition = false,
            }
        }
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
    }

    /// Closes and opens blocks so that an entry at `column` can follow.
    fn place(&mut self, column: u32) {
        let at = offset(self.cursor.at);
        let mut popped = None;
        while let Some(top) = self.blocks.last().copied() {
            let leave = match top.kind {
                BlockKind::Document => false,
                BlockKind::Indented => column < top.column,
                // Anything right of the dash still belongs to its item.
                BlockKind::Item { dash } => column <= dash,
            };
            if !leave {
                break;
            }
            if top.kind == BlockKind::Indented {
                popped = Some(top.column);
            }
            self.close(at);
        }
        let Some(top) = self.blocks.last_mut() else { return };
        if column <= top.column {
            top.ragged = None;
            return;
        }
        if !takes_nested_lines(&self.tokens) {
            // The first line below a bare dash decides where its item starts.
            if matches!(top.kind, BlockKind::Item { .. }) {
                top.column = column;
            }
            return;
        }
        let Some(popped) = popped else {
            if top.ragged != Some(column) {
                self.open(at, column, BlockKind::Indented);
            }
            return;
        };
        top.ragged = Some(column);
        // Left of the block above, right of what that belongs to: whoever goes back to the left
        // wants to leave the block, so it is read as a line of the outer one.
        let outer = top.column;
        if !std::mem::replace(&mut top.told, true) {
            let start = self
                .cursor
                .text
                .get(..self.cursor.at)
                .and_then(|t| t.rfind('\n'))
                .map_or(0, |n| n + 1);
            let mut diagnostic =
                between_levels(self.cursor.span(start, self.cursor.at), popped, outer)
                    .note("it is read as if it ended the block");
            if self.first_tab.is_some_and(|tab| tab < self.cursor.at) {
                diagnostic = diagnostic.note(format!(
                    "it is read as if it ended the block; a tab counts as {TAB} columns, so do not mix tabs and spaces"
                ));
            }
            self.problems.push(diagnostic);
        }
    }

    fn open(&mut self, at: u32, column: u32, kind: BlockKind) {
        if self.blocks.len() > MAX_NESTING {
            if !std::mem::replace(&mut self.told_depth, true) {
                let here = self.cursor.span(self.cursor.at, self.cursor.at);
                self.problems.push(nested_too_deep(here).note(DEEPER_LINES));
            }
            return;
        }
        let token = match kind {
            BlockKind::Item { .. } => Token::ItemStart,
            _ => Token::Indent,
        };
        self.push(at, token, at);
        self.blocks.push(Block { column, kind, condition: false, ragged: None, told: false });
    }

    /// One entry, from its first character to the end of its line or template.
    fn entry(&mut self, mut column: u32) {
        // The column that a template of this entry has to be right of.
        let mut base = column;
        while self.cursor.starts_with_dash() {
            let at = offset(self.cursor.at);
            self.cursor.at += 1;
            let dash = column;
            base = dash;
            column = dash + 1 + self.cursor.indentation();
            // An item of a full stack is still an item, or its lines would fall apart; the dash
            // is then read as a sibling line.
            let depth = self.blocks.len();
            self.open(at, column, BlockKind::Item { dash });
            if self.blocks.len() == depth {
                break;
            }
            if matches!(self.cursor.peek(), None | Some(b'\n' | b'\r' | b'#')) {
                let end = self.cursor.line_end();
                if self.cursor.peek() == Some(b'#') {
                    self.comment(self.cursor.at, end);
                }
                self.cursor.next_line(end);
                // What follows below a bare dash is aligned wherever it is.
                if let Some(block) = self.blocks.last_mut() {
                    block.column = dash + 1;
                }
                return;
            }
        }
        let start = self.cursor.at;
        match head(self.cursor.rest()) {
            Some(Head::Pipe) => {
                let template = self.template(column, base);
                let end = offset(start + 1 + template.raw.len());
                self.push(offset(start), Token::Template(template), end);
                return;
            }
            Some(Head::Key(slice)) => {
                let first = first_word(slice);
                // `set:` is a key; `if ready:`, `else:` and `run x:` are not.
                let words = slice.strip_suffix(':').unwrap_or(slice).trim_end();
                match keyword(first) {
                    Some(keyword) if words.len() > first.len() || keyword == Keyword::Else => {
                        self.statement(keyword, first, column);
                    }
                    _ => self.pair(slice, first, column),
                }
                return;
            }
            Some(Head::Word(word)) => {
                // Not `set.x` or `run(…)`.
                let next = self.cursor.text.as_bytes().get(start + word.len());
                if let Some(keyword) = keyword(word)
                    && matches!(
                        next,
                        None | Some(b' ' | b'\t' | b'\r' | b'\n' | b'@' | b'#' | b'(')
                    )
                {
                    self.statement(keyword, word, column);
                    return;
                }
            }
            None => {}
        }
        if let Some(text) = self.value(column) {
            self.push(offset(start), Token::Line(text), text.end());
        }
    }

    /// `key: …`.
    fn pair(&mut self, slice: &'s str, first: &'s str, column: u32) {
        let start = self.cursor.at;
        let words = slice.strip_suffix(':').unwrap_or(slice).trim_end();
        let quoted = first.strip_prefix('"').and_then(|n| n.strip_suffix('"'));
        let name_end = start + first.len();
        let rest = words.get(first.len()..).unwrap_or_default();
        let instance = rest.trim_start();
        let instance = (!instance.is_empty()).then(|| Text {
            raw: instance,
            start: offset(name_end + rest.len() - instance.len()),
            quoted: false,
        });
        let colon = start + slice.len() - 1;
        let key = Key {
            name: quoted.unwrap_or(first),
            start: offset(start),
            end: offset(name_end),
            instance,
            colon: offset(colon),
        };
        self.cursor.at += slice.len();
        while matches!(self.cursor.peek(), Some(b' ' | b'\t')) {
            self.cursor.at += 1;
        }
        let here = column + offset(self.cursor.at - start);
        let (value, end) = match self.cursor.peek() {
            Some(b'|') => {
                let pipe = self.cursor.at;
                let template = self.template(here, column);
                (Inline::Template(template), offset(pipe + 1 + template.raw.len()))
            }
            Some(b'-') if self.cursor.rest().starts_with("->") => {
                let arrow = offset(self.cursor.at);
                self.cursor.at += 2;
                let behind = self.value(column);
                (Inline::Arrow(arrow, behind), behind.map_or(arrow + 2, |b| b.end()))
            }
            _ => match self.value(column) {
                Some(text) => (Inline::Text(text), text.end()),
                None => (Inline::Nothing, key.colon + 1),
            },
        };
        self.push(offset(start), Token::Key(key, value), end);
    }

    /// A line that begins with a keyword.
    fn statement(&mut self, keyword: Keyword, word: &'s str, column: u32) {
        let start = self.cursor.at;
        self.cursor.at += word.len();
        let open = self.blocks.last().is_some_and(|b| b.condition);
        let mut keyword = keyword;
        if keyword == Keyword::Elif {
            self.problems.push(
                Diagnostic::error(
                    rules::SYNTAX,
                    self.cursor.span(start, self.cursor.at),
                    format!("Agent Script has no `{word}`"),
                )
                .help("write `else if`")
                .replace("else if", Applicability::Safe),
            );
        } else if keyword == Keyword::Else {
            let rest = self.cursor.rest();
            let white = rest.len() - rest.trim_start_matches([' ', '\t']).len();
            let behind = rest.get(white..).unwrap_or_default();
            if let Some(condition) = behind.strip_prefix("if")
                && !condition.starts_with(|c: char| c.is_alphanumeric() || c == '_')
            {
                self.cursor.at += white + 2;
                keyword = Keyword::Elif;
            }
        }
        let words_end = offset(self.cursor.at);
        let text = self.value(column).unwrap_or(Text { raw: "", start: words_end, quoted: false });
        let token = match keyword {
            Keyword::Statement(word) => Token::Statement(word, text),
            Keyword::If => Token::If(text),
            Keyword::Elif if open => Token::ElseIf(text),
            Keyword::Else if open => Token::Else(text),
            Keyword::Elif | Keyword::Else => Token::Statement(Word::StrayElse, text),
        };
        self.push(offset(start), token, text.end());
    }

    /// Reads the rest of the line, and more lines while brackets are open or `\` ends them.
    /// `column` is where the entry starts.
    fn value(&mut self, column: u32) -> Option<Text<'s>> {
        let mut lexer = Piece::lexer(self.cursor.rest());
        let base = self.cursor.at;
        let mut first: Option<(usize, Piece)> = None;
        let mut last = (base, Piece::Space);
        let mut pieces = 0u32;
        let mut line_end = None;
        self.brackets.clear();
        while let Some(piece) = lexer.next() {
            let range = lexer.span();
            let (start, end) = (base + range.start, base + range.end);
            let piece = piece.unwrap_or(Piece::Word);
            match piece {
                Piece::Space => continue,
                Piece::Continuation if self.cursor.text.len() > end => continue,
                Piece::Comment => {
                    self.comment(start, end);
                    continue;
                }
                Piece::Newline => {
                    if !self.brackets.is_empty() && self.continues(end, column, base, last) {
                        continue;
                    }
                    line_end = Some(end);
                    break;
                }
                Piece::OpenDouble => {
                    self.problems.push(
                        Diagnostic::error(
                            rules::UNTERMINATED_STRING,
                            self.cursor.span(start, start + 1),
                            "this string has no closing `\"` on its line",
                        )
                        .help("close it, or write a multi-line text after `|`"),
                    );
                }
                Piece::Open => {
                    let bracket = lexer.slice().as_bytes().first().copied().unwrap_or_default();
                    if bracket == b'{' {
                        self.placeholder(start);
                    }
                    self.brackets.push(bracket);
                }
                Piece::Close => {
                    self.brackets.pop();
                }
                _ => {}
            }
            first.get_or_insert((start, piece));
            pieces += 1;
            last = (end, piece);
        }
        self.cursor.at = line_end.unwrap_or(self.cursor.text.len());
        let (start, first) = first?;
        // White space may end a string that is not closed.
        let raw = self.cursor.slice(start, last.0).trim_end();
        let quoted = pieces == 1 && first == Piece::Double;
        Some(Text { raw, start: offset(start), quoted })
    }

    /// Whether the line at `at` goes on with the brackets that are open. It does if it is indented
    /// deeper than the entry, or closes a bracket, and does not look like the begin of another
    /// entry.
    fn continues(&self, at: usize, column: u32, base: usize, last: (usize, Piece)) -> bool {
        let rest = self.cursor.text.get(at..).unwrap_or_default();
        let (here, line) = TABS.indented(rest);
        match line.as_bytes().first() {
            Some(b')' | b']' | b'}') => return here >= column,
            // A comment says nothing; the line below it will.
            Some(b'#') => return true,
            None => return false,
            Some(_) if here <= column => return false,
            Some(b'|') => return false,
            Some(_) => {}
        }
        let begins = match head(line) {
            Some(Head::Key(_)) => self.brackets.last() != Some(&b'{'),
            Some(Head::Word(word)) => {
                return matches!(keyword(word), None | Some(Keyword::If | Keyword::Else));
            }
            Some(Head::Pipe) | None => return true,
        };
        if begins {
            return false;
        }
        // `key:` inside `{`: a field, if a field may come here.
        last.1 == Piece::Open
            || self.cursor.text.get(base..last.0).is_some_and(|t| t.ends_with([',', ':']))
    }

    /// Notes `{{name}}` of a template language.
    fn placeholder(&mut self, at: usize) {
        let rest = self.cursor.text.get(at..).unwrap_or_default();
        if !rest.starts_with("{{") {
            return;
        }
        // Names are short; a line of nothing but braces must not be read once for each of them.
        const LONGEST: usize = 128;
        let name = rest.as_bytes().get(..rest.len().min(LONGEST)).unwrap_or_default();
        let name = name.split(|b| *b == b'\n').next().unwrap_or_default();
        let Some(length) = memchr::memmem::find(name, b"}}") else { return };
        let span = self.cursor.span(at, at + length + 2);
        let (_, count) = self.placeholders.get_or_insert((span, 0));
        *count += 1;
    }

    /// The text behind the bar at the current place and on the lines below that are indented deeper
    /// than `base`.
    fn template(&mut self, pipe_column: u32, base: u32) -> RawTemplate<'s> {
        let pipe = self.cursor.at;
        let start = pipe + 1;
        let line_end = self.cursor.line_end();
        let mut end = line_end;
        self.cursor.next_line(line_end);
        while !self.cursor.is_at_end() {
            let line_start = self.cursor.at;
            let column = self.cursor.indentation();
            let line_end = self.cursor.line_end();
            if self.cursor.at < line_end && self.cursor.peek() != Some(b'\r') {
                if column <= base {
                    if column == 0 && self.skip_stray_line(true) {
                        continue;
                    }
                    if self.cursor.peek() != Some(b'#') {
                        self.cursor.at = line_start;
                        break;
                    }
                    // A comment, which neither ends the text nor belongs to it.
                    self.comment(self.cursor.at, line_end);
                } else {
                    end = line_end;
                }
            }
            self.cursor.next_line(line_end);
        }
        let raw = self.cursor.slice(start, end);
        RawTemplate {
            raw: raw.strip_suffix('\r').unwrap_or(raw),
            pipe: offset(pipe),
            pipe_column,
            base,
        }
    }
}

/// Whether an indented block may follow: behind an entry with a line of its own.
fn takes_nested_lines(tokens: &[Located<'_>]) -> bool {
    !matches!(
        tokens.last(),
        None | Some(Ok((_, Token::ItemStart | Token::ItemEnd | Token::Indent, _)))
    )
}

/// The first word of a key, with its quotes.
fn first_word(slice: &str) -> &str {
    let end = if slice.starts_with('"') {
        slice.get(1..).and_then(|s| s.find('"')).map_or(slice.len(), |n| n + 2)
    } else {
        slice.find([' ', '\t', ':', '"']).unwrap_or(slice.len())
    };
    slice.get(..end).unwrap_or(slice)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests end by panicking")]

    use super::*;
    use agentir_syntax::words::testing::{reference, text};
    use proptest::prelude::*;
    use regex::Regex;
    use std::sync::LazyLock;

    /// Keys, words, bars.
    static REFERENCE: LazyLock<Regex> = LazyLock::new(|| {
        let pattern = concat!(
            r#"\A(?:(WORD(?:[ \t]+(?:WORD|QUOTED))*[ \t]*:|QUOTED[ \t]*:)"#,
            r"|(WORD)",
            r"|(\|))",
        );
        let word = r"[\p{Alphabetic}\p{N}_][\p{Alphabetic}\p{N}_-]*";
        let quoted = r#""[^"\\\r\n]*""#;
        Regex::new(&pattern.replace("WORD", word).replace("QUOTED", quoted)).unwrap()
    });

    proptest! {
        #[test]
        fn a_line_starts_as_the_pattern_says(text in text(r#"[-:::  ""|.\\\n]"#)) {
            // Every suffix is the start of a line, too.
            for (at, _) in text.char_indices() {
                let line = &text[at..];
                let found = head(line).map(|head| match head {
                    Head::Key(key) => (1, 0..key.len()),
                    Head::Word(word) => (2, 0..word.len()),
                    Head::Pipe => (3, 0..1),
                });
                prop_assert_eq!(found, reference(&REFERENCE, line).pop(), "{:?}", line);
            }
        }
    }
}
