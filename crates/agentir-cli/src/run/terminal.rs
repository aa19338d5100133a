//! What a conversation prints. Agents, tools, models and stored conversations are not trusted.

use crate::output::shown;
use agentir_secrets::Masker;
use std::io::{self, Write};

/// A streamed text is looked at in parts of about this size: longer than a private key.
const MAX_PART: usize = 64 << 10;

/// Standard output of a conversation.
pub struct Terminal {
    masker: Masker,
    /// What was streamed since the last message.
    streamed: String,
    /// The part of it that is looked at as a whole begins here, at the start of a line if lines are not too long.
    start: usize,
    /// What of this part was printed, as it was printed.
    printed: String,
}

impl Terminal {
    /// A terminal that does not show the secrets of the sources.
    pub const fn new(masker: Masker) -> Self {
        Self { masker, streamed: String::new(), start: 0, printed: String::new() }
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

    /// Prints what a model writes, word by word: how a word is shown is only known at its end.
    pub fn stream(&mut self, text: &str) {
        self.streamed.push_str(text);
        // A line may end with two characters.
        let ends_word = |c: char| c.is_whitespace() && c != '\r';
        let Some((at, last)) = self.streamed.char_indices().rev().find(|(_, c)| ends_word(*c))
        else {
            return;
        };
        if !text.contains(ends_word) || at < self.start {
            return;
        }
        self.print_to(at + last.len_utf8());
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
        let in_key = part.contains("-----BEGIN ");
        if (part.ends_with('\n') && !in_key) || part.len() > MAX_PART {
            self.start = end;
            self.printed.clear();
        } else {
            self.printed = shown;
        }
    }

    /// Prints the rest of what was streamed, and returns all of it.
    pub fn finish(&mut self) -> String {
        self.print_to(self.streamed.len());
        self.start = 0;
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
}
