//! What a conversation prints. Agents, tools, models and stored conversations are not trusted.

use crate::output::shown;
use agentir_secrets::Masker;
use std::io::{self, Write};

/// A streamed text is looked at in parts of about this size: longer than a private key.
const MAX_PART: usize = 64 << 10;

/// A part that is longer than this is looked at again only after it has grown by a share of its length, so that the
/// time for all of it does not grow with the square of its length.
const LONG_PART: usize = 1 << 10;

/// Standard output of a conversation.
pub struct Terminal {
    masker: Masker,
    /// What was streamed since the last message.
    streamed: String,
    /// The part of it that is looked at as a whole begins here, at the start of a line if lines are not too long.
    start: usize,
    /// The end of what was looked at.
    looked_at: usize,
    /// Whether a private key begins in the part.
    in_key: bool,
    /// What of this part was printed, as it was printed.
    printed: String,
}

impl Terminal {
    /// A terminal that does not show the secrets of the sources.
    pub const fn new(masker: Masker) -> Self {
        Self {
            masker,
            streamed: String::new(),
            start: 0,
            looked_at: 0,
            in_key: false,
            printed: String::new(),
        }
    }

    /// What masks secrets here.
    pub const fn masker(&self) -> &Masker {
        &self.masker
    }

    /// A text as it may be shown.
    pub fn shown(&self, text: &str) -> String {
        shown(text, &self.masker)
    }

    /// Prints a line.
    pub fn say(&self, text: &str) -> Result<(), String> {
        writeln!(io::stdout().lock(), "{}", self.shown(text)).map_err(|e| e.to_string())
    }

    /// Prints what a model writes, word by word: how a word is shown is only known at its end. Takes linear time for the
    /// whole text.
    pub fn stream(&mut self, text: &str) {
        let before = self.streamed.len();
        self.streamed.push_str(text);
        // A line may end with two characters.
        let ends_word = |c: char| c.is_whitespace() && c != '\r';
        let Some((at, last)) = text.char_indices().rev().find(|(_, c)| ends_word(*c)) else {
            return;
        };
        if let Some(line) = text.rfind('\n') {
            self.look_at(before + line + 1, true);
        }
        self.look_at(before + at + last.len_utf8(), false);
    }

    /// Prints the part up to a byte, if it is time for it.
    fn look_at(&mut self, end: usize, ends_line: bool) {
        let (part, new) = (end - self.start, end - self.looked_at);
        if part <= LONG_PART || new >= part / 16 || (ends_line && !self.in_key) {
            self.print_to(end);
        }
    }

    /// Prints the part up to a byte.
    fn print_to(&mut self, end: usize) {
        let part = self.streamed.get(self.start..end).unwrap_or_default();
        let shown = self.shown(part);
        // What follows may show that there was a secret, of which no more is printed.
        let same = shown.bytes().zip(self.printed.bytes()).take_while(|(a, b)| a == b).count();
        let new = shown.get(shown.floor_char_boundary(same)..).unwrap_or_default();
        let mut out = io::stdout().lock();
        // Whoever reads it gets the rest with the answer.
        let _ = out.write_all(new.as_bytes()).and_then(|()| out.flush());
        self.looked_at = end;
        self.in_key = part.contains("-----BEGIN ");
        if (part.ends_with('\n') && !self.in_key) || part.len() > MAX_PART {
            self.start = end;
            self.in_key = false;
            self.printed.clear();
        } else {
            self.printed = shown;
        }
    }

    /// Prints the rest of what was streamed, and returns all of it.
    pub fn finish(&mut self) -> String {
        self.print_to(self.streamed.len());
        self.start = 0;
        self.looked_at = 0;
        self.in_key = false;
        self.printed.clear();
        std::mem::take(&mut self.streamed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is printed of a text that comes in pieces: the parts as they were shown.
    fn streamed(pieces: &[&str]) -> (String, Vec<String>) {
        let mut terminal = Terminal::new(Masker::default());
        let mut printed = Vec::new();
        for piece in pieces {
            terminal.stream(piece);
            printed.push(terminal.printed.clone());
        }
        (terminal.finish(), printed)
    }

    #[test]
    fn a_secret_that_comes_in_pieces_is_masked() {
        // Put together here, so that scanners find no secret in the repository.
        let tail = "Zx7Qw9Er2Ty5Ui8Op1As4Df6Gh3Jk0Lz7Xc9V";
        let (all, printed) = streamed(&["use gh", "p_", &tail[..9], &tail[9..], " and ", "rest"]);
        assert_eq!(all, format!("use ghp_{tail} and rest"));
        assert_eq!(printed, ["use ", "use ", "use ", "use ", "use ghp_… and ", "use ghp_… and "]);
    }

    #[test]
    fn lines_that_are_complete_are_not_looked_at_again() {
        let (_, printed) = streamed(&["one\n", "two ", "::error::x\n", "::"]);
        assert_eq!(printed, ["", "two ", "", ""]);
    }

    /// The bytes that are looked at for a text in pieces of four bytes, for each byte of it.
    fn looks(text: &str) -> f64 {
        let mut terminal = Terminal::new(Masker::default());
        let (mut bytes, mut looked_at) = (0, 0);
        for piece in text.as_bytes().chunks(4) {
            let start = terminal.start;
            terminal.stream(std::str::from_utf8(piece).unwrap_or_default());
            if terminal.looked_at != looked_at {
                looked_at = terminal.looked_at;
                bytes += looked_at - start;
            }
        }
        assert_eq!(terminal.finish(), text);
        bytes as f64 / text.len() as f64
    }

    #[test]
    fn the_time_for_a_stream_is_linear() {
        let key = "-----BEGIN RSA PRIVATE KEY-----\n";
        for line in
            ["word ".repeat(2_000), "a b\n".repeat(2_500), format!("{key}{}", "ab\n".repeat(3_000))]
        {
            let (short, long) = (looks(&line), looks(&line.repeat(20)));
            assert!(long < 150.0 && long < 1.5 * short + 20.0, "{short} {long}");
        }
    }
}
