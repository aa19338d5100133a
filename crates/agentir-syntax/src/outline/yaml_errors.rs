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
}

use Target::{Line, Rest, Unfinished};

/// A part of the parser's message, and what to report instead: the target, the message, the help.
const ERRORS: &[(&str, Target, &str, &str)] = &[
    (
        "simple key expect",
        Unfinished,
        "a `:` is missing after this key",
        "write `key: value`, or indent the line if it continues the value above",
    ),
    (
        "mapping values are not allowed",
        Line,
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
    ("tab", Line, "tabs cannot be used for indentation", "indent with spaces"),
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
    let span = match known.map_or(Rest, |(_, target, ..)| *target) {
        Unfinished if starts_line(text, at) => unfinished(file, text, at),
        Line | Unfinished => line(file, text, at),
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
