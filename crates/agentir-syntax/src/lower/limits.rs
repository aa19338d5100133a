//! How much a file may contain. Files are by anybody, and a check of one must fit into a gigabyte of memory.

use crate::lowered::MAX_FILE_SIZE;
use crate::rules;
use agentir_diagnostics::{Diagnostic, FileId, Span};

/// The maximum number of words and signs of a file in a notation of ours, lines included. Documents of real agents have a
/// few thousand.
pub const MAX_TOKENS: usize = 500_000;

/// How many of them a line counts as, beside its words. What stands on it takes more than they do: a field up to 6 KB, and
/// the shortest is a word and a sign.
const LINE_TOKENS: usize = 2;

/// The maximum number of agents of a file, or of files of a program: an agent takes up to 20 KB.
pub const MAX_AGENTS: usize = 10_000;

/// What is wrong with a file that is not read, because it is too large or not text.
#[must_use]
pub fn not_text(file: FileId, text: &str) -> Option<Diagnostic> {
    if text.len() > MAX_FILE_SIZE {
        let message =
            format!("this file is larger than {} MB and was not read", MAX_FILE_SIZE >> 20);
        return Some(Diagnostic::error(rules::UNREADABLE_FILE, at(file, 0), message));
    }
    let nul = text.find('\0')?;
    Some(
        Diagnostic::error(
            rules::NOT_TEXT,
            at(file, nul),
            "this file contains a NUL character, so it is not text",
        )
        .help("if it is UTF-16, save it as UTF-8"),
    )
}

/// What is wrong with a file in a notation of ours that is not read: it is no text, or contains too much.
#[must_use]
pub fn unreadable(file: FileId, text: &str) -> Option<Diagnostic> {
    let too_long = || {
        let offset = token_beyond(text, MAX_TOKENS)?;
        Some(too_many(
            file,
            offset,
            &format!("words and signs, counting each line as {LINE_TOKENS},"),
            MAX_TOKENS,
        ))
    };
    not_text(file, text).or_else(too_long)
}

/// A file with more than `most` of something, from an offset on.
pub(crate) fn too_many(file: FileId, offset: usize, what: &str, most: usize) -> Diagnostic {
    let message = format!("this file has more than {most} {what} and was not read");
    Diagnostic::error(rules::UNREADABLE_FILE, at(file, offset), message)
        .note("to check it would take more memory than a check may take")
        .help("make several files of it")
}

/// What is wrong with a file of so many agents, of which none is read; `None` if they are not too many.
#[must_use]
pub fn too_many_agents(file: FileId, count: usize) -> Option<Diagnostic> {
    (count > MAX_AGENTS).then(|| too_many(file, 0, "agents", MAX_AGENTS))
}

fn at(file: FileId, offset: usize) -> Span {
    let offset = u32::try_from(offset).unwrap_or(u32::MAX);
    Span::new(file, offset, offset)
}

/// The offset of the first word, sign or line end behind so many.
fn token_beyond(text: &str, most: usize) -> Option<usize> {
    // Each takes a byte.
    if text.len() <= most / LINE_TOKENS {
        return None;
    }
    let mut count = 0;
    let mut in_word = false;
    for (offset, byte) in text.bytes().enumerate() {
        let is_word = byte.is_ascii_alphanumeric() || byte == b'_' || !byte.is_ascii();
        let is_blank = byte.is_ascii_whitespace() && byte != b'\n';
        if !(is_blank || (is_word && in_word)) {
            count += if byte == b'\n' { LINE_TOKENS } else { 1 };
            if count > most {
                return Some(text.floor_char_boundary(offset));
            }
        }
        in_word = is_word;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::token_beyond;

    #[test]
    fn words_and_signs_are_counted() {
        let text = "a_1: [über, \"x y\"]\n";
        let starts: Vec<_> = (0..13).map(|most| token_beyond(text, most)).collect();
        let expected = [0, 3, 5, 6, 11, 13, 14, 16, 17, 18, 19, 19].map(Some);
        assert_eq!(starts.split_last(), Some((&None, &expected[..])));
        assert_eq!(token_beyond("", 0), None);
        assert_eq!(token_beyond("\n\n", 3), Some(1));
    }
}
