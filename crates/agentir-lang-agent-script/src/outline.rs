//! The outline of a document: entries nested by indentation, without meaning.

use super::layout;
use agentir_diagnostics::{Diagnostic, FileId, Span};
use agentir_syntax::outline::invalid_layout;
use agentir_syntax::text::offset;

/// A piece of text and its position.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Text<'s> {
    /// The source without trailing white space and comment. May span several lines, where brackets or `\`
    /// continue one.
    pub raw: &'s str,
    /// The start offset.
    pub start: u32,
    /// Whether it is exactly one double-quoted string.
    pub quoted: bool,
}

impl Text<'_> {
    pub(crate) fn end(&self) -> u32 {
        self.start + offset(self.raw.len())
    }

    pub(crate) fn span(&self, file: FileId) -> Span {
        Span::new(file, self.start, self.end())
    }
}

/// `key`, `type name`, `"quoted key"`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Key<'s> {
    /// The first word, or a quoted key without its quotes.
    pub name: &'s str,
    pub start: u32,
    pub end: u32,
    /// The text between the first word and the colon: the name of a named block.
    pub instance: Option<Text<'s>>,
    /// The offset of the colon.
    pub colon: u32,
}

impl Key<'_> {
    /// The span of the first word.
    pub(crate) const fn span(&self, file: FileId) -> Span {
        Span::new(file, self.start, self.end)
    }

    /// The span of all words before the colon.
    pub(crate) fn whole(&self, file: FileId) -> Span {
        Span::new(file, self.start, self.instance.map_or(self.end, |i| i.end()))
    }
}

/// The rest of the line after a colon.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Inline<'s> {
    Nothing,
    Text(Text<'s>),
    Template(RawTemplate<'s>),
    /// `->`, and any invalid text after it.
    Arrow(u32, Option<Text<'s>>),
}

/// A block text after `|`, with its further lines.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RawTemplate<'s> {
    /// Everything after the bar.
    pub raw: &'s str,
    /// The offset of the bar.
    pub pipe: u32,
    /// The column of the bar.
    pub pipe_column: u32,
    /// The column of the line or key with the bar: lines at this column or left of it are not part of the
    /// text.
    pub base: u32,
}

/// The keywords of statements and clauses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Word {
    Set,
    Run,
    With,
    To,
    Transition,
    /// `available`, to be followed by `when`.
    Available,
    Collect,
    /// `ask`, to be followed by `for`.
    Ask,
    /// `else` or `else if` without a preceding `if`.
    StrayElse,
}

/// A line with its nested entries, an item of a sequence, or a whole condition.
#[derive(Debug)]
pub(crate) struct Entry<'s> {
    pub start: u32,
    /// One past the last byte of the last nested line.
    pub end: u32,
    pub kind: EntryKind<'s>,
    pub children: Vec<Entry<'s>>,
}

#[derive(Debug)]
pub(crate) enum EntryKind<'s> {
    Pair { key: Key<'s>, value: Inline<'s> },
    Statement { word: Word, text: Text<'s> },
    Template(RawTemplate<'s>),
    Line(Text<'s>),
    Item,
    Conditional(Vec<Branch<'s>>),
}

#[derive(Debug)]
pub(crate) struct Branch<'s> {
    pub start: u32,
    pub end: u32,
    pub kind: BranchKind,
    /// The condition with its colon; only the colon after `else`.
    pub text: Text<'s>,
    pub body: Vec<Entry<'s>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BranchKind {
    If,
    ElseIf,
    Else,
}

impl Entry<'_> {
    pub(crate) const fn span(&self, file: FileId) -> Span {
        Span::new(file, self.start, self.end)
    }
}

/// The outline of a document.
#[derive(Debug)]
pub(crate) struct Outline<'s> {
    pub entries: Vec<Entry<'s>>,
    pub comments: Vec<Span>,
    /// The first `{{…}}` outside of texts, and the number of all of them.
    pub placeholders: Option<(Span, u32)>,
}

/// Parses the outline. Never fails: lines that do not fit are reported and kept.
pub(crate) fn parse<'s>(
    file: FileId,
    text: &'s str,
    problems: &mut Vec<Diagnostic>,
) -> Outline<'s> {
    let laid_out = layout::tokens(file, text, problems);
    let entries =
        grammar::outline::EntriesParser::new().parse(laid_out.tokens).unwrap_or_else(|error| {
            problems.push(invalid_layout(file, &error));
            Vec::new()
        });
    Outline { entries, comments: laid_out.comments, placeholders: laid_out.placeholders }
}

agentir_syntax::grammars!(outline);

#[cfg(test)]
mod tests {
    use super::*;
    use agentir_syntax::words::testing::{lines, words_of_lines};
    use proptest::prelude::*;

    const FORMS: &[&str] = &[
        "",
        "-",
        "- ",
        "- - -",
        "- %",
        "- K%:",
        "- K%: %",
        "- - K%: %",
        "K%:",
        "K%: %",
        "K%: |",
        "| %",
        "|",
        "- | %",
        "-> %",
        "K%: ->",
        "if %:",
        "elif %:",
        "else:",
        "run %",
        "set % = %",
        "%",
        "K%: [",
        "K%: [%,",
        "]",
        "% \\",
        "# c",
        "\"%\": %",
        "K% %:",
    ];

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        /// The grammar reads what the layout pass makes of a text, and no line is lost unless a finding is about it.
        #[test]
        fn every_layout_is_a_sentence_of_the_grammar(text in lines(FORMS)) {
            let mut problems = Vec::new();
            let outline = parse(FileId(0), &text, &mut problems);
            prop_assert!(problems.iter().all(|p| p.rule != agentir_syntax::rules::SYNTAX || !p.message.contains("nesting")), "{}: {:?}", text, problems);
            let mut kept = words_of_lines(&format!("{:?}", outline.entries));
            let reported = problems.iter().filter_map(|p| text.get(p.primary.span.range()));
            kept.extend(reported.flat_map(words_of_lines));
            for word in words_of_lines(&text) {
                prop_assert!(kept.contains(&word), "{word} of:\n{text}");
            }
        }
    }
}
