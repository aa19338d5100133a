//! Plain messages for the errors of the YAML parser, which reports where it gave up and in its own terms.

use super::nested_too_deep;
use crate::rules;
use crate::text::{first_line, offset};
use agentir_diagnostics::{Diagnostic, FileId, Span};
use saphyr_parser::ScanError;

/// What to underline.
#[derive(Clone, Copy)]
enum Target {
    /// From the position of the error to the end of the line.
    Rest,
    /// The line of the error.
    Line,
    /// The last line before the error: the parser could not finish it.
    Unfinished,
    /// As `Unfinished`, where a key without its colon is the likely cause.
    UnfinishedKey,
    /// As `Line`, where a key without its colon above is the likely cause.
    LineAfterKey,
}

use Target::{Line, LineAfterKey, Rest, Unfinished, UnfinishedKey};

/// A part of the parser's message, and what to report instead: the target, the message, the help.
const ERRORS: &[(&str, Target, &str, &str)] = &[
    (
        "simple key expect",
        UnfinishedKey,
        "a `:` is missing after this key",
        "write `key: value`, or indent the line if it continues the value above",
    ),
    (
        "mapping values are not allowed",
        LineAfterKey,
        "a key is not allowed here",
        "put a value that contains `: ` in quotes, or correct the indentation",
    ),
    (
        "did not find expected key",
        Line,
        "expected a key",
        "indent this line like the keys of the block it belongs to",
    ),
    (
        "did not find expected '-'",
        Line,
        "expected a list item",
        "begin it with `- `, or indent it like the block it belongs to",
    ),
    (
        "block sequence entries are not allowed",
        Line,
        "a list cannot begin here",
        "begin the list on a separate line, or correct the indentation",
    ),
    (
        "expected ',' or ']'",
        Unfinished,
        "expected `,` or `]`",
        "separate the elements with commas, and close the list",
    ),
    (
        "expected ',' or '}'",
        Unfinished,
        "expected `,` or `}`",
        "separate the entries with commas, and close the map",
    ),
    (
        "did not find expected node content",
        Unfinished,
        "expected a value",
        "put a value that begins with a special character in quotes",
    ),
    ("quoted scalar, found unexpected", Rest, "this string is not closed", "add the closing quote"),
    (
        "invalid trailing content",
        Line,
        "unexpected text after a quoted string",
        "put the whole value in quotes, and write `\\\"` for a quote in it",
    ),
    (
        "invalid indentation in quoted",
        Rest,
        "this string is not closed",
        "add the closing quote, or indent the lines of the string further than its key",
    ),
    (
        "found unknown escape character",
        Rest,
        "unknown escape sequence",
        "write `\\\\` for a backslash, or use single quotes",
    ),
    ("hexadecimal number", Rest, "invalid escape sequence", "write it as `\\u00e4`"),
    ("invalid Unicode character", Rest, "invalid escape sequence", "write it as `\\u00e4`"),
    ("tab", Line, TAB.0, TAB.1),
    (
        "wrongly indented line in block scalar",
        Line,
        "this line is not indented like the text it belongs to",
        "indent all lines of the text by the same number of spaces",
    ),
    ("invalid indentation", Line, "invalid indentation", "indent this line further than its key"),
    (
        "scanning a block scalar, did not find expected comment or line break",
        Line,
        "unexpected text after `|` or `>`",
        "begin the text on the next line, indented",
    ),
    (
        "found unknown anchor",
        Rest,
        "there is no anchor of this name",
        "repeat the value, or put a string that begins with `*` in quotes",
    ),
    (
        "scanning an anchor or alias",
        Rest,
        "`*` and `&` cannot begin a string without quotes",
        "put the string in quotes",
    ),
    (
        "unexpected character",
        Rest,
        "this character cannot begin a value",
        "put the value in quotes",
    ),
    ("found unprintable character", Rest, "unprintable character", "remove it"),
    ("unexpected end of plain scalar", Rest, "expected a value", "put strings in quotes"),
    ("misplaced bracket", Rest, "this bracket does not close anything", "remove it"),
    (
        "comments must be separated",
        Rest,
        "a comment must be separated from what precedes it",
        "write a space before `#`, or put the value in quotes",
    ),
    ("comment intercepting", Line, "a comment interrupts a string", "put the string in quotes"),
    (
        "illegal placement of ':'",
        Line,
        "unexpected `:`",
        "close the list or map that is open here, or put the value in quotes",
    ),
    ("unexpected eof", Unfinished, "unexpected end of the file", "complete the last value"),
];

/// The finding for an error of the parser at `at`, an offset in `text`.
pub(super) fn diagnostic(file: FileId, text: &str, at: u32, error: &ScanError) -> Diagnostic {
    let info = error.info();
    let at = at as usize;
    if info.contains("recursion limit") {
        return nested_too_deep(line(file, text, at)).note(UNREAD);
    }
    let known = ERRORS.iter().find(|(part, ..)| info.contains(part));
    let target = known.map_or(Rest, |(_, target, ..)| *target);
    if let Some(span) = tab_in_indentation(file, text, at, info) {
        return Diagnostic::error(rules::SYNTAX, span, TAB.0).note(UNREAD).help(TAB.1);
    }
    if matches!(target, UnfinishedKey | LineAfterKey)
        && let Some(found) = without_colon(file, text, at)
    {
        return found.note(UNREAD);
    }
    let span = match target {
        Unfinished | UnfinishedKey if starts_line(text, at) => unfinished(file, text, at),
        Line | LineAfterKey | Unfinished | UnfinishedKey => line(file, text, at),
        Rest => {
            let rest = first_line(text, Span::new(file, offset(at), offset(text.len())));
            if rest.is_empty() { unfinished(file, text, at) } else { rest }
        }
    };
    let finding = |message: &str| Diagnostic::error(rules::SYNTAX, span, message).note(UNREAD);
    match known {
        Some((.., message, help)) => finding(message).help(*help),
        None => finding(&format!("invalid YAML: {info}")),
    }
}

/// The message and the help for a tab in the indentation.
const TAB: (&str, &str) = ("tabs cannot be used for indentation", "indent with spaces");

/// The line whose indentation contains a tab: the line of the error, or the next one if the error is about a tab,
/// since a string without quotes goes on over the end of its line.
fn tab_in_indentation(file: FileId, text: &str, at: usize, info: &str) -> Option<Span> {
    let mut start = line_start(text, at);
    for line in
        text.get(start..)?.split_inclusive('\n').take(if info.contains("tab") { 2 } else { 1 })
    {
        let content = line.trim_start();
        if !content.is_empty() && line.get(..line.len() - content.len())?.contains('\t') {
            return Some(trimmed(file, start, line));
        }
        start += line.len();
    }
    None
}

/// A line with more than white space and a comment.
#[derive(Clone, Copy)]
struct Written<'t> {
    start: usize,
    text: &'t str,
    /// The column of its key: behind the dashes of list items.
    column: usize,
    /// What begins at this column.
    content: &'t str,
}

impl<'t> Written<'t> {
    fn new(start: usize, line: &'t str) -> Option<Self> {
        let line = line.trim_end();
        let mut content = line.trim_start_matches(|c: char| c.is_whitespace() || c == '\u{feff}');
        if content.is_empty() || content.starts_with('#') {
            return None;
        }
        while let Some(item) = content.strip_prefix("- ") {
            content = item.trim_start();
        }
        let column = line.len() - content.len();
        Some(Self { start, text: line, column, content })
    }

    /// Whether it has a colon that ends a key.
    fn has_colon(&self) -> bool {
        self.content.ends_with(':') || self.content.contains(": ") || self.content.contains(":\t")
    }

    /// Whether it looks like a key whose colon was forgotten, rather than prose.
    fn is_like_a_key(&self) -> bool {
        let first = self.content.split([' ', ':', '：']).next().unwrap_or_default();
        let is_only_word = first.len() == self.content.len();
        first.starts_with(|c: char| {
            c.is_ascii_lowercase() || c == '_' || is_only_word && c.is_ascii_uppercase()
        }) && first.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-')
    }
}

/// The finding for a key above `at` that has no colon, or none that YAML takes as one. The parser reads such a line
/// as a string, and notices only at the next key.
fn without_colon(file: FileId, text: &str, at: usize) -> Option<Diagnostic> {
    let mut end = line_start(text, at);
    let here = text.get(end..).and_then(|rest| rest.lines().next());
    let mut below = here.and_then(|line| Written::new(end, line));
    let mut found: Option<Written<'_>> = None;
    // A line that is neither a key nor the rest of a value.
    let mut other: Option<Written<'_>> = None;
    while let Some(before) = text.get(..end).filter(|before| !before.is_empty()) {
        let start = line_start(text, end - 1);
        end = start;
        let Some(line) = before.get(start..).and_then(|line| Written::new(start, line)) else {
            continue;
        };
        if line.has_colon() {
            // What is indented further than the key of a value continues the value.
            let complete = !line.content.ends_with(':');
            found = found.filter(|key| !complete || key.column <= line.column);
            other = other.filter(|text| text.column <= line.column);
            break;
        }
        if found.is_some_and(|key| line.column >= key.column) {
            break;
        }
        let is_item = line.content.len() < line.text.trim_start().len();
        let fits = below.is_none_or(|below| line.column <= below.column);
        if found.is_none() && fits && !is_item && !line.is_like_a_key() {
            other = other.or(Some(line));
        }
        if line.is_like_a_key() && below.is_none_or(|below| line.column <= below.column) {
            found = Some(line);
        }
        below = Some(line);
    }
    let Some(key) = found else {
        let text = other?;
        let span = trimmed(file, text.start, text.text);
        let help = "remove the line, or indent it if it continues the value above";
        return Some(Diagnostic::error(rules::SYNTAX, span, "expected a key and a `:`").help(help));
    };
    let span = |part: &str, from: usize| {
        let start = key.start + key.column + from;
        Span::new(file, offset(start), offset(start + part.len()))
    };
    let (name, value) =
        key.content.split_at(key.content.find([' ', ':', '：']).unwrap_or(key.content.len()));
    let finding = |span, message: &str| Diagnostic::error(rules::SYNTAX, span, message);
    let written = |value: &str| match value.trim() {
        "" => format!("write `{name}:`"),
        value => format!("write `{name}: {value}`"),
    };
    Some(if let Some(value) = value.strip_prefix('：') {
        finding(span("：", name.len()), "a full-width colon does not end a key")
            .help(written(value))
    } else if let Some(value) = value.strip_prefix(':') {
        finding(span(":", name.len()), "a space is missing after this colon").help(written(value))
    } else {
        let help = if value.len() > 60 { format!("write `{name}: …`") } else { written(value) };
        finding(trimmed(file, key.start, key.text), "a `:` is missing after this key").help(help)
    })
}

/// The note on every error.
const UNREAD: &str = "the rest of this file was not read";

/// Where the line of an offset begins.
fn line_start(text: &str, at: usize) -> usize {
    text.get(..at).and_then(|before| before.rfind('\n')).map_or(0, |end| end + 1)
}

/// Whether only white space precedes an offset on its line.
fn starts_line(text: &str, at: usize) -> bool {
    text.get(line_start(text, at)..at).is_some_and(|before| before.trim().is_empty())
}

/// The line at an offset without white space around it; the last line before it if it is blank.
fn line(file: FileId, text: &str, at: usize) -> Span {
    let start = line_start(text, at);
    let rest = text.get(start..).unwrap_or_default();
    let written = rest.lines().next().unwrap_or_default();
    if written.trim().is_empty() {
        return unfinished(file, text, at);
    }
    trimmed(file, start, written)
}

/// The last line before an offset's that has more than white space and a comment.
fn unfinished(file: FileId, text: &str, at: usize) -> Span {
    let mut end = line_start(text, at);
    while let Some(before) = text.get(..end).filter(|before| !before.is_empty()) {
        let start = line_start(text, end - 1);
        let written = before.get(start..).unwrap_or_default();
        let content = written.trim_start_matches('\u{feff}').trim();
        if !content.is_empty() && !content.starts_with('#') {
            return trimmed(file, start, written);
        }
        end = start;
    }
    Span::new(file, offset(at), offset(at))
}

/// A line that begins at `start`, without white space around it.
fn trimmed(file: FileId, start: usize, written: &str) -> Span {
    let content = written.trim_end();
    let indented = content.trim_start_matches(|c: char| c.is_whitespace() || c == '\u{feff}');
    let end = start + content.len();
    Span::new(file, offset(end - indented.len()), offset(end))
}

#[cfg(test)]
mod tests {
    use super::super::yaml::parse_yaml;
    use agentir_diagnostics::FileId;

    /// The first finding, with the text it underlines.
    fn first(text: &str) -> String {
        let mut problems = Vec::new();
        parse_yaml(FileId(0), text, &mut problems);
        let Some(found) = problems.first() else { return "no finding".to_owned() };
        let spanned = text.get(found.primary.span.range()).unwrap_or("outside of the text");
        format!("{}: »{spanned}« {}", found.rule.0, found.message)
    }

    #[test]
    fn errors_are_explained_where_they_are() {
        let cases = [
            (
                "agent: A\ngoal\n\n# note\npersona: x\n",
                "syntax-error: »goal« a `:` is missing after this key",
            ),
            ("agent: A\ngoal", "syntax-error: »goal« a `:` is missing after this key"),
            ("goal: one: two\n", "syntax-error: »goal: one: two« a key is not allowed here"),
            (
                "agent Laundry\ngoal: x\n",
                "syntax-error: »agent Laundry« a `:` is missing after this key",
            ),
            (
                "agent: A\ntasks\n  - name: x\n    b: c\n",
                "syntax-error: »tasks« a `:` is missing after this key",
            ),
            (
                "agent: A\ntasks\n- name: x\n",
                "syntax-error: »tasks« a `:` is missing after this key",
            ),
            (
                "t:\n  - name x\n    goal: c\n",
                "syntax-error: »- name x« a `:` is missing after this key",
            ),
            (
                "t:\n  a: b\n  goal to help\n  c: d\n",
                "syntax-error: »goal to help« a `:` is missing after this key",
            ),
            (
                "m:\n  s:\n    - a\n    - b\n  persistent\n    - path: x\n",
                "syntax-error: »persistent« a `:` is missing after this key",
            ),
            (
                "s:\n  - user\n  - if it rains\n    then: x\n",
                "syntax-error: »- if it rains« a `:` is missing after this key",
            ),
            (
                "m:\n  args:\n    - a\n    - b\n  fallback Sorry, no.\n  x: y\n",
                "syntax-error: »fallback Sorry, no.« a `:` is missing after this key",
            ),
            (
                "m:\n  s:\n    - a\n    - b\n  persistent：\n    - path: x\n",
                "syntax-error: »：« a full-width colon does not end a key",
            ),
            ("a: b\nc:d\ne: f\n", "syntax-error: »:« a space is missing after this colon"),
            ("a: b\nc：d\ne: f\n", "syntax-error: »：« a full-width colon does not end a key"),
            (
                "a: long\n  text\n  and: more\n",
                "syntax-error: »and: more« a key is not allowed here",
            ),
            ("t:\n\tname: x\n", "syntax-error: »name: x« tabs cannot be used for indentation"),
            ("t:\n  a: b\n\tc: x\n", "syntax-error: »c: x« tabs cannot be used for indentation"),
            ("t: |\n  a\n\tb\n", "syntax-error: »b« tabs cannot be used for indentation"),
            ("a: [x, y\nb: 1\n", "syntax-error: »b: 1« unexpected `:`"),
            ("a: \"x\nb: 1\n", "syntax-error: »\"x« this string is not closed"),
            ("a: \"x\" y\n", "syntax-error: »a: \"x\" y« unexpected text after a quoted string"),
            ("a: \"x\\q\"\n", "syntax-error: »\"x\\q\"« unknown escape sequence"),
            ("a: - b\n", "syntax-error: »a: - b« a list cannot begin here"),
            ("a: @b\n", "syntax-error: »@b« this character cannot begin a value"),
            ("a:\n  b: 1\n c: 2\n", "syntax-error: »c: 2« expected a key"),
        ];
        assert_eq!(cases.map(|(text, _)| first(text)), cases.map(|(_, expected)| expected));
    }

    #[test]
    fn brackets_beyond_the_limit_are_nesting() {
        let text = format!("a: {}", "[".repeat(300));
        assert!(first(&text).starts_with("nesting-too-deep: "), "{}", first(&text));
    }
}
