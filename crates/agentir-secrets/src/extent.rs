//! How far the value behind the name of a secret goes: passwords are made of all characters, those included that separate
//! values elsewhere.

use crate::bytes::{WORD, is};
use crate::names::REACH;
use crate::{MASK, prefix_window};

/// What stands around a value that is in no quotes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place<'l> {
    /// The separator between its name and it.
    pub(super) separator: u8,
    /// The line up to its name.
    pub(super) before: &'l [u8],
    /// Whether a quotation begins before the name and goes on behind it: `-H 'Cookie: …'`.
    pub(super) is_enclosed: bool,
}

impl<'l> Place<'l> {
    /// An argument of a command, or a word of a sentence.
    pub(super) const WORD: Self = Self { separator: b' ', before: &[], is_enclosed: false };

    /// What stands around a value; its name is the last `name` bytes of `before`, which ends before the separator at `at`.
    pub(super) fn of(line: &'l [u8], at: usize, before: &[u8], name: usize) -> Option<Self> {
        let from = at.saturating_sub(REACH);
        let before_name = line.get(..from + before.len().checked_sub(name)?)?;
        let marks = line.get(from + before.len()..at)?;
        let is_quote = |byte: &u8| matches!(byte, b'"' | b'\'' | b'`');
        let is_enclosed = before_name.last().is_some_and(is_quote) && !marks.iter().any(is_quote);
        Some(Self { separator: *line.get(at)?, before: before_name, is_enclosed })
    }

    /// The quote in which the name and the value stand together, and whether it is escaped.
    fn quote(self) -> Option<(char, bool)> {
        let (last, before) = self.before.split_last().filter(|_| self.is_enclosed)?;
        Some((char::from(*last), before.last() == Some(&b'\\')))
    }

    /// The mark between the pairs that the name belongs to: of an address (`?a=…&password=…`), of a connection string.
    fn mark(self) -> Option<char> {
        match self.before.last()? {
            b'?' | b'&' if self.separator == b'=' => Some('&'),
            b';' if self.separator == b'=' => Some(';'),
            _ => None,
        }
    }

    /// Whether a bracket is open where the value begins.
    fn is_in(self, open: u8) -> bool {
        let near = self.before.get(self.before.len().saturating_sub(MAX_BEFORE)..);
        memchr::memchr(open, near.unwrap_or_default()).is_some()
    }
}

/// How far before a value a bracket is looked for.
const MAX_BEFORE: usize = 128;

/// The value of a header.
#[derive(Debug, Clone, Copy)]
pub(super) struct HeaderValue<'t> {
    /// Where it begins, behind blanks and a quote.
    pub(super) start: usize,
    pub(super) text: &'t str,
    pub(super) is_quoted: bool,
    /// Whether all of it is the value: it is in quotes, or alone on its line. Else a sentence may go on behind it.
    pub(super) is_whole: bool,
}

/// The value of a header, which may have several words; `after` is the line behind the separator. It goes to the end of its
/// quotation or of its line; in the middle of a line and in no quotes, to where the notation goes on, within `most` bytes.
pub(super) fn header<'t>(after: &'t str, place: Place<'_>, most: usize) -> Option<HeaderValue<'t>> {
    if let Some((quote, escaped)) = place.quote() {
        let value = after.trim_start_matches([' ', '\t']);
        if let Some(text) = within(value, quote, escaped) {
            let start = after.len() - value.len();
            return Some(HeaderValue { start, text, is_quoted: true, is_whole: true });
        }
    }
    let text = after.trim_start_matches([' ', '\t', '\\']);
    let quote = text.chars().next().filter(|c| matches!(c, '"' | '\'' | '`'));
    let value = text.get(quote.map_or(0, char::len_utf8)..)?;
    let start = after.len() - value.len();
    // In a text within a text, quotes are escaped.
    let escaped = after.get(..start).is_some_and(|before| before.contains('\\'));
    // From the end, so that the blanks between two headers of a line are looked at once.
    let is_alone = || place.before.iter().rev().all(|byte| b" \t\"'-".contains(byte));
    let (text, is_whole) = match quote {
        // Whoever follows opens a quotation of the same kind, and so ends this one: all of them together take linear time.
        Some(quote) => match within(value, quote, escaped) {
            // `Cookie: "a"; b=c`
            Some(text) if goes_on(value, text) && is_alone() => (value.trim_end(), true),
            Some(text) => (text, true),
            // The line was cut.
            None => (value.trim_end(), true),
        },
        // Only one header of a line has nothing before it, so that this takes linear time.
        None if is_alone() => (value.trim_end(), true),
        None => (
            unquoted_words(value.get(..value.floor_char_boundary(most)).unwrap_or(value), place),
            false,
        ),
    };
    Some(HeaderValue { start, text, is_quoted: quote.is_some(), is_whole })
}

/// What stands before the end of a quotation, if it ends. In a text within a text, it is the next quote that ends it.
fn within(text: &str, quote: char, escaped: bool) -> Option<&str> {
    match escaped {
        true => text.split_once(quote).map(|(before, _)| before),
        false => text.get(..end_of_quotation(text, quote)?),
    }
}

/// Whether the pairs of a header go on behind the quotation at the start of its value.
fn goes_on(value: &str, quotation: &str) -> bool {
    let behind = value.get(quotation.len() + 1..).unwrap_or_default();
    behind.starts_with(';') && begins_pair(behind, b'=')
}

/// Words in no quotes, up to where the notation around them goes on.
fn unquoted_words<'t>(text: &'t str, place: Place<'_>) -> &'t str {
    let mut end = 0;
    let mut at = 0;
    while let Some(rest) = text.get(at..) {
        let word = rest.trim_start_matches(is_gap);
        at += rest.len() - word.len();
        // What is put in later is no list.
        let hole = word.starts_with("{{").then(|| prefix_window(word).find("}}")).flatten();
        let value = match hole {
            Some(end) => word.get(..end + 2).unwrap_or_default(),
            None => unquoted(word, place),
        };
        if value.is_empty() {
            break;
        }
        at += value.len();
        end = at;
        // A list goes on behind a comma, unless a name follows it.
        let behind = word.get(value.len()..).unwrap_or_default();
        let is_list = behind.starts_with([',', ';']) && !begins_pair(behind, place.separator);
        at += usize::from(is_list);
        if !text.get(at..).is_some_and(|rest| rest.starts_with(is_gap)) {
            break;
        }
    }
    text.get(..end).unwrap_or_default()
}

/// Whether a character stands between words of a line.
const fn is_gap(c: char) -> bool {
    matches!(c, ' ' | '\t')
}

/// A value at the start of a text, which begins with a quote or ends where values without one end. Returns it and where
/// it begins.
pub(super) fn value<'t>(text: &'t str, place: Place<'_>) -> (usize, &'t str) {
    match text.chars().next().filter(|c| matches!(c, '"' | '\'')) {
        Some(quote) => (1, quoted(text.get(1..).unwrap_or_default(), quote, place)),
        None => (0, unquoted(text, place)),
    }
}

/// What stands before the end of a quotation. One that was cut has none.
pub(super) fn quoted<'t>(text: &'t str, quote: char, place: Place<'_>) -> &'t str {
    match end_of_quotation(text, quote) {
        Some(end) => text.get(..end).unwrap_or_default(),
        None => unquoted(text, place),
    }
}

/// Where a quotation ends which begins before a text.
fn end_of_quotation(text: &str, quote: char) -> Option<usize> {
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        if c == '\\' {
            chars.next();
        } else if c == quote {
            // YAML writes an apostrophe twice.
            let twice =
                quote == '\'' && at > 0 && chars.next_if(|(_, next)| *next == quote).is_some();
            if !twice {
                return Some(at);
            }
        }
    }
    None
}

/// A value that ends where the notation around it goes on, at the latest before a blank.
pub(super) fn unquoted<'t>(text: &'t str, place: Place<'_>) -> &'t str {
    // Behind an entity for a quote there is a quotation, which is read without entities.
    if text.starts_with('&') && is_entity(text) {
        return "";
    }
    let mark = place.mark();
    let ends = |(at, c): (usize, char)| {
        let rest = || text.get(at..).unwrap_or_default();
        match c {
            _ if c.is_whitespace() || c.is_control() || c == MASK || is_of_sentence(c) => true,
            _ if at == 0 => false,
            '"' | '\'' | '`' => closes(text.get(at + 1..).unwrap_or_default()),
            // Several in a row are looked at once.
            '\\' if at > 1 && text.as_bytes().get(at - 1) == Some(&b'\\') => false,
            '\\' => rest().trim_start_matches('\\').starts_with(['"', '\'']),
            '<' => rest().starts_with("</") || rest().starts_with("<br"),
            '&' if is_entity(rest()) => true,
            '#' => mark == Some('&'),
            '&' => mark == Some('&') || (place.separator == b'=' && begins_pair(rest(), b'=')),
            ';' => mark == Some(';') || begins_pair(rest(), place.separator),
            ',' => begins_pair(rest(), place.separator),
            _ => false,
        }
    };
    let end = text.char_indices().find(|at| ends(*at)).map_or(text.len(), |(at, _)| at);
    let value = text.get(..end).unwrap_or_default();
    // `$(pass show db)`
    let is_command =
        value.starts_with("$(") && !value.contains(')') && prefix_window(text).contains(')');
    if is_command || begins_several(value) { "" } else { without_end(value, place) }
}

/// Whether a text is the start of a list or of fields instead of one value.
fn begins_several(value: &str) -> bool {
    let Some(rest) = value.strip_prefix(['[', '{']) else { return false };
    rest.starts_with(['"', '\'', '\\']) || rest.ends_with([',', ']', '}', ':'])
}

/// A value without the marks of what it stands in.
fn without_end<'t>(value: &'t str, place: Place<'_>) -> &'t str {
    let mut value = value;
    for _ in 0..MAX_MARKS {
        let Some(last) = value.chars().next_back() else { break };
        let closes = |open: char, close: char| {
            let count = |of: char| value.chars().filter(|c| *c == of).count();
            u8::try_from(open).is_ok_and(|open| place.is_in(open)) && count(close) > count(open)
        };
        let is_mark = match last {
            ',' | ';' | '"' | '\'' | '`' => true,
            ')' => closes('(', ')'),
            ']' => closes('[', ']'),
            '}' => closes('{', '}'),
            _ => false,
        };
        if !is_mark {
            break;
        }
        value = value.get(..value.len() - last.len_utf8()).unwrap_or_default();
    }
    value
}

/// How many marks of what a value stands in may follow it.
const MAX_MARKS: usize = 8;

/// Whether what follows a quote shows that it ends something.
fn closes(rest: &str) -> bool {
    rest.chars().next().is_none_or(|c| c.is_whitespace() || ",;:)]}>\\".contains(c))
}

/// Whether a text begins with the entity of a quote, or of `&` before a name and its value.
fn is_entity(text: &str) -> bool {
    let quotes = ["&quot;", "&#34;", "&apos;", "&#39;", "&#x27;"];
    quotes.iter().any(|entity| text.starts_with(entity))
        || text.strip_prefix("&amp").is_some_and(|rest| begins_pair(rest, b'='))
}

/// Whether a text, behind its first character, begins with a name and a separator, which is none for words.
fn begins_pair(text: &str, separator: u8) -> bool {
    let rest = text.as_bytes().get(1..).unwrap_or_default().trim_ascii_start();
    let quoted = matches!(rest.first(), Some(b'"' | b'\''));
    let rest = rest.get(usize::from(quoted)..).unwrap_or_default();
    let in_name = |byte: &&u8| is(**byte, WORD) || matches!(**byte, b'-' | b'.');
    let length = rest.iter().take(MAX_NAME).take_while(in_name).count();
    let name = rest.get(..length).unwrap_or_default();
    let behind = rest.get(length..).unwrap_or_default();
    let behind = if quoted { behind.get(1..).unwrap_or_default() } else { behind };
    let is_name = separator != b' ' && name.iter().any(u8::is_ascii_alphabetic);
    is_name && behind.trim_ascii_start().first().is_some_and(|byte| *byte == separator)
}

/// The length of a name that is looked for behind a value.
const MAX_NAME: usize = 64;

/// Whether a character belongs to a sentence rather than to a password: those of writings without blanks between words, and
/// their punctuation.
fn is_of_sentence(c: char) -> bool {
    matches!(c,
        '“' | '”' | '„' | '«' | '»' | '‘' | '’' | '–' | '—'
        // Thai, Lao, Burmese, Khmer
        | '\u{e00}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}'
        // Chinese, Japanese, and their wide forms
        | '\u{2e80}'..='\u{31ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}'
        | '\u{f900}'..='\u{faff}' | '\u{ff00}'..='\u{ffef}' | '\u{20000}'..='\u{3ffff}')
}

#[cfg(test)]
mod tests {
    use crate::mask;

    const PASSWORDS: &[&str] = &[
        "xK9$mQ2vL7!pW4z",
        "xK9mQ2&vL7pW4zz",
        "xK9mQ2vL7)pW4zz",
        "xK<9mQ2vL7pW4z",
        "$mQ2vL7pW4zxK9",
        "%mQ2vL7pW4zxK9",
        "[mQ2vL7pW4zxK9",
        "{mQ2vL7pW4zxK9",
        ";mQ2vL7pW4zxK9",
        ">mQ2vL7pW4zxK9",
        ",mQ2vL7pW4zxK9",
        "Größe7mQ2vL7pW",
        "xK9mÄQ2vL7pW4zz",
        "мойПароль7mQ2vL7pW",
        "xK'9mQ2vL7pW4z",
        "xK\"9mQ2vL7pW4z",
        "xK`9mQ}2vL7]p(W4z",
        "a;b=7mQ2vL7pW4z|~",
        "qWm{Tz<Kx,Rb.Ln_Pv",
    ];

    #[test]
    fn passwords_have_all_characters() {
        for name in ["password", "Passwort", "DB_PASSWORD", "пароль", "密码", "the password is"]
        {
            for password in PASSWORDS {
                let head: String = password.chars().take(4).collect();
                for (before, behind) in [(": ", ""), (": ", " and so on"), (" = ", "\n")] {
                    let is = if name.ends_with(" is") { " " } else { before };
                    // Such a mark separates pairs behind `=`.
                    if before == " = " && password.contains(';') && password.contains('=') {
                        continue;
                    }
                    let shown = format!("{name}{is}{head}…{behind}");
                    let text = format!("{name}{is}{password}{behind}");
                    assert_eq!(mask(&text), shown, "{text}");
                }
            }
        }
        for short in ["Tr0ub4dor&3", "Äb1€xyz99", "Zk7)Vx2m", "a$b7cd9"] {
            assert_eq!(mask(&format!("password: {short}")), "password: …");
            assert_eq!(mask(&format!("password = \"{short}\", x")), "password = \"…\", x");
        }
    }

    #[test]
    fn a_quotation_is_masked_to_its_end() {
        for password in PASSWORDS.iter().filter(|text| !text.contains(['"', '\''])) {
            let head: String = password.chars().take(4).collect();
            for (before, behind) in [
                ("password: \"", "\", \"next\": 1"),
                ("password='", "'"),
                ("{\"password\": \"", "\"}"),
                ("client --password '", "' --user x"),
            ] {
                let text = format!("{before}{password}{behind}");
                assert_eq!(mask(&text), format!("{before}{head}…{behind}"), "{text}");
            }
        }
        assert_eq!(mask(r#"password: "xK9\"mQ2vL7pW4z", x"#), "password: \"xK9\\…\", x");
        assert_eq!(mask("password: 'xK9''mQ2vL7pW4z', x"), "password: 'xK9'…', x");
    }

    #[test]
    fn a_value_ends_where_its_notation_goes_on() {
        for (text, shown) in [
            ("https://h/x?password=Zk7qVx2m&user=bob#top", "https://h/x?password=…&user=bob#top"),
            ("Server=db;Password=Zk7qVx2m;Encrypt=yes", "Server=db;Password=…;Encrypt=yes"),
            ("{password: Zk7qVx2m, user: bob}", "{password: …, user: bob}"),
            ("{\"password\":Zk7qVx2m,\"user\":\"bob\"}", "{\"password\":…,\"user\":\"bob\"}"),
            ("{user: bob, password: Zk7qVx2m}", "{user: bob, password: …}"),
            ("(the password: Zk7qVx2m), then", "(the password: …), then"),
            ("\"password: Zk7qVx2m\", \"x\"", "\"password: …\", \"x\""),
            ("<li>password: Zk7qVx2m</li>", "<li>password: …</li>"),
            ("密码: Zk7qVx2m。请", "密码: …。请"),
            ("the password is Zk7qVx2m.", "the password is …."),
        ] {
            assert_eq!(mask(text), shown);
        }
    }

    #[test]
    fn what_stands_for_a_password_is_shown() {
        for plain in [
            "password: {{secrets.DB_PASSWORD_1}}",
            "password: ${DB_PASSWORD_1}",
            "password: $DB_PASSWORD_1",
            "password: $password1",
            "password: <your-password-1>",
            "password: %DB_PASSWORD_1%",
            "password: [the password 1]",
            "password: $(pass show db1)",
            "password: @variables.password1",
            "password: {{user.name}}-{{user.number}}",
            "password: at least 8 characters",
            "password: string",
            "password: string?",
            "password: Optional[str1]",
            "password: get_password(user1)",
            "password = headers[\"X-Password-1\"]",
            "password: *anchor",
            "password: \"What is your password?\"",
            "密码：请输入6位数字密码",
            "password: {\"type\": \"string\", \"minLength\": 8}",
            "Passwort: mindestens 8 Zeichen",
        ] {
            assert_eq!(mask(plain), plain);
        }
    }
}
