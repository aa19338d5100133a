//! Texts behind escapes: JSON's (`https:\/\/…`, `\u0067hp_…`, JSON in JSON), and those of addresses (`%22…`).

/// A part of a text as it reads without its escapes.
#[derive(Debug)]
pub(super) struct View {
    /// What it reads.
    pub(super) text: String,
    /// Where offsets of the view are in the text that it is of, from each of them up to the next one.
    steps: Vec<(usize, usize)>,
}

impl View {
    /// A view that begins at an offset of its text.
    fn new(start: usize) -> Self {
        Self { text: String::new(), steps: vec![(0, start)] }
    }

    /// Appends what is written as it reads.
    fn plain(&mut self, text: &str) {
        self.text.push_str(text);
    }

    /// Appends what an escape at `from` reads, which ends at `to`.
    fn escape(&mut self, read: char, from: usize, to: usize) {
        self.step(from);
        self.text.push(read);
        self.step(to);
    }

    fn step(&mut self, source: usize) {
        let here = self.text.len();
        // What is already there needs no second step.
        if self.place(here) != source {
            if self.steps.last().is_some_and(|(view, _)| *view == here) {
                self.steps.pop();
            }
            self.steps.push((here, source));
        }
    }

    /// Where an offset of the view is in the text.
    pub(super) fn place(&self, at: usize) -> usize {
        let after = self.steps.partition_point(|(view, _)| *view <= at);
        let step = after.checked_sub(1).and_then(|before| self.steps.get(before));
        step.map_or(at, |(view, source)| source + (at - view))
    }
}

/// The length from which on a part of a text has several views, in bytes: they need more memory than the text.
const MAX_VIEW: usize = 64 << 10;
/// What two views have in common, in bytes: more than a secret and what stands before it.
const OVERLAP: usize = 16 << 10;

/// Calls `see` with the views of all parts of a text that have escapes.
pub(super) fn views(text: &str, see: &mut dyn FnMut(View)) {
    in_json(text, see);
    in_addresses(text, see);
    in_writing(text, see);
}

/// What is written for punctuation elsewhere: the wide forms of Chinese and Japanese, the entities of HTML.
const WRITINGS: &[(&str, char)] = &[
    ("：", ':'),
    ("＝", '='),
    ("＂", '"'),
    ("＇", '\''),
    ("“", '"'),
    ("”", '"'),
    ("「", '"'),
    ("」", '"'),
    ("&quot;", '"'),
    ("&#34;", '"'),
    ("&apos;", '\''),
    ("&#39;", '\''),
    ("&#x27;", '\''),
];

/// Lines with the punctuation that the formats of secrets know.
fn in_writing(text: &str, see: &mut dyn FnMut(View)) {
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let bytes = line.as_bytes();
        if memchr::memchr3(b'&', 0xE2, 0xE3, bytes).or(memchr::memchr(0xEF, bytes)).is_some() {
            let mut from = 0;
            while from < line.len() {
                let to = line.ceil_char_boundary(line.len().min(from + MAX_VIEW));
                let part = line.get(from..to).unwrap_or_default();
                written(part, start + from, see);
                from = if to == line.len() { to } else { line.floor_char_boundary(to - OVERLAP) };
            }
        }
        start += line.len();
    }
}

/// The view of a text that has other punctuation.
fn written(text: &str, start: usize, see: &mut dyn FnMut(View)) {
    let mut view = View::new(start);
    let mut at = 0;
    let mut found = false;
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        let known = WRITINGS.iter().find(|(written, _)| rest.starts_with(written));
        if let Some((written, read)) = known {
            view.escape(*read, start + at, start + at + written.len());
            at += written.len();
            found = true;
            continue;
        }
        let first = rest.chars().next().map_or(1, char::len_utf8);
        let next =
            rest.get(first..).and_then(|rest| rest.find(|c: char| c == '&' || !c.is_ascii()));
        let plain = next.map_or(rest.len(), |next| first + next);
        view.plain(rest.get(..plain).unwrap_or_default());
        at += plain;
    }
    if found {
        see(view);
    }
}

/// Lines with the escapes of JSON's strings (RFC 8259, section 7).
fn in_json(text: &str, see: &mut dyn FnMut(View)) {
    let bytes = text.as_bytes();
    let mut done = 0;
    while let Some(next) = memchr::memchr(b'\\', bytes.get(done..).unwrap_or_default()) {
        let first = done + next;
        let before = bytes.get(done..first).unwrap_or_default();
        let start = memchr::memrchr(b'\n', before).map_or(done, |at| done + at + 1);
        let rest = bytes.get(first..).unwrap_or_default();
        let end = memchr::memchr(b'\n', rest).map_or(bytes.len(), |at| first + at);
        let mut from = start;
        loop {
            let to = text.ceil_char_boundary(end.min(from + MAX_VIEW));
            if let Some(view) = line_in_json(text, from, to) {
                see(view);
            }
            if to == end {
                break;
            }
            from = text.floor_char_boundary(to - OVERLAP);
        }
        done = end;
    }
}

/// A line without the escapes of JSON, if it has some.
fn line_in_json(text: &str, start: usize, end: usize) -> Option<View> {
    let line = text.get(start..end)?;
    let mut view = View::new(start);
    let mut at = 0;
    let mut escapes = 0_usize;
    while let Some(next) = memchr::memchr(b'\\', line.as_bytes().get(at..)?) {
        let from = at + next;
        view.plain(line.get(at..from)?);
        if let Some((read, length)) = escape_of_json(line.as_bytes().get(from + 1..)?) {
            at = from + 1 + length;
            view.escape(read, start + from, start + at);
            escapes += 1;
        } else {
            view.plain("\\");
            at = from + 1;
        }
    }
    view.plain(line.get(at..)?);
    (escapes > 0).then_some(view)
}

/// What an escape reads, and how long it is, without the backslash before it.
fn escape_of_json(after: &[u8]) -> Option<(char, usize)> {
    Some(match after.first()? {
        b'/' => ('/', 1),
        b'"' => ('"', 1),
        b'\\' => ('\\', 1),
        b'n' | b'r' => ('\n', 1),
        b't' | b'b' | b'f' => (' ', 1),
        b'u' => {
            let digits = std::str::from_utf8(after.get(1..5)?).ok()?;
            let code = u32::from_str_radix(digits, 16).ok()?;
            // Of a pair of surrogates neither is a part of a secret.
            (char::from_u32(code).unwrap_or('?'), 5)
        }
        _ => return None,
    })
}

/// Words with the escapes of addresses, as exports of bots have them: `%22Authorization%22%3A%20…`.
fn in_addresses(text: &str, see: &mut dyn FnMut(View)) {
    let bytes = text.as_bytes();
    let code = |at: usize| {
        let hex = |at: usize| char::from(*bytes.get(at)?).to_digit(16);
        (bytes.get(at) == Some(&b'%')).then_some(())?;
        u8::try_from(hex(at + 1)? * 16 + hex(at + 2)?).ok()
    };
    let ends = |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, b'"' | b'\'' | b'`');
    let mut at = 0;
    while let Some(next) = memchr::memchr(b'%', bytes.get(at..).unwrap_or_default()) {
        let first = at + next;
        let lead = bytes.get(at..first).unwrap_or_default().iter().rev();
        let mut here = first - lead.take_while(|byte| !ends(byte)).count();
        let mut view = View::new(here);
        let mut escapes = 0_usize;
        while let Some(byte) = bytes.get(here).filter(|byte| !ends(byte)) {
            if view.text.len() >= MAX_VIEW {
                here -= OVERLAP;
                see(std::mem::replace(&mut view, View::new(here)));
                continue;
            }
            // What is not ASCII is no part of a secret.
            let read = |byte: u8| if byte.is_ascii() { char::from(byte) } else { '?' };
            match code(here) {
                Some(decoded) => {
                    view.escape(read(decoded), here, here + 3);
                    escapes += 1;
                    here += 3;
                }
                None => {
                    view.text.push(read(*byte));
                    here += 1;
                }
            }
        }
        if escapes > 0 {
            see(view);
        }
        at = here.max(first + 1);
    }
}

/// The readings of a text without escapes, one level after the other: a message may quote any of them.
pub(super) fn readings(text: &str) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for _ in 0..MAX_DEPTH {
        let last = all.last().map_or(text, String::as_str);
        match line_in_json(last, 0, last.len()) {
            Some(view) => all.push(view.text),
            None => break,
        }
    }
    all
}

/// How often texts in texts are read: a header in a JSON text in a JSON text.
pub(super) const MAX_DEPTH: usize = 3;

#[cfg(test)]
mod tests {
    #![allow(clippy::indexing_slicing, reason = "a test that fails should stop")]

    use super::*;

    fn seen(text: &str) -> Vec<View> {
        let mut all = Vec::new();
        views(text, &mut |view| all.push(view));
        all
    }

    #[test]
    fn each_character_of_a_view_is_where_it_is_written() {
        let text = "plain\nä x\\/y \\u0067z \\\"q\\d\\\nnext";
        let all = seen(text);
        assert_eq!(all.len(), 1);
        let view = &all[0];
        assert_eq!(view.text, "ä x/y gz \"q\\d\\");
        for (read, written) in
            [("x/", "x\\/"), ("/y", "\\/y"), ("gz", "\\u0067z"), ("\"q", "\\\"q")]
        {
            let at = view.text.find(read).unwrap_or_default();
            let (from, to) = (view.place(at), view.place(at + read.len()));
            assert_eq!(text.get(from..to), Some(written));
        }
        let text = "a=1 \"b%3D%41c\" d";
        let all = seen(text);
        assert_eq!(all.len(), 1);
        assert_eq!(all[0].text, "b=Ac");
        assert_eq!(text.get(all[0].place(2)..all[0].place(4)), Some("%41c"));
    }

    #[test]
    fn texts_in_texts_are_read_level_by_level() {
        assert_eq!(readings(r#"a\\\/b"#), ["a\\/b", "a/b"]);
        assert_eq!(readings("a/b"), Vec::<String>::new());
    }
}
