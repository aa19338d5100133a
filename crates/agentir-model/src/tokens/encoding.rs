//! Byte pair encoding, as OpenAI's `tiktoken` does it.
//!
//! A regular expression splits a text into pieces. In each piece, which is one part per byte at first,
//! the two neighbouring parts whose concatenation has the lowest rank in the vocabulary become one
//! part, and again, until no concatenation of neighbours is in the vocabulary.

use flate2::read::GzDecoder;
use regex::Regex;
use rustc_hash::FxHashMap;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io::Read;
use std::sync::LazyLock;

/// Of GPT-4o and later.
pub(super) static O200K: LazyLock<Encoding> = LazyLock::new(|| {
    Encoding::new(
        include_bytes!("../../vocabularies/o200k_base.gz"),
        concat!(
            r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+",
            r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
            r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*",
            r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
            r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+",
        ),
    )
});

/// Of GPT-4 and GPT-3.5.
pub(super) static CL100K: LazyLock<Encoding> = LazyLock::new(|| {
    Encoding::new(
        include_bytes!("../../vocabularies/cl100k_base.gz"),
        concat!(
            r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}",
            r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+",
        ),
    )
});

/// A vocabulary and how texts are split.
pub(super) struct Encoding {
    /// Every token and its rank.
    ranks: FxHashMap<&'static [u8], u32>,
    /// The length of the longest token in bytes.
    longest: usize,
    /// Matches the next piece at the start of every text that is not empty.
    piece: Regex,
}

impl Encoding {
    #[expect(clippy::expect_used, reason = "the arguments are constants")]
    fn new(vocabulary: &[u8], piece: &str) -> Self {
        let mut tokens = Vec::new();
        GzDecoder::new(vocabulary).read_to_end(&mut tokens).expect("a vocabulary is valid gzip");
        // Encodings are never dropped.
        let mut rest: &'static [u8] = tokens.leak();
        let mut ranks = FxHashMap::default();
        ranks.reserve(rest.len() / 7);
        let (mut rank, mut longest) = (0, 0);
        while let Some((&length, after)) = rest.split_first() {
            let length = usize::from(length);
            let (token, after) = after.split_at_checked(length).expect("a token is complete");
            ranks.insert(token, rank);
            rank += 1;
            longest = longest.max(length);
            rest = after;
        }
        Self { ranks, longest, piece: Regex::new(piece).expect("a constant pattern") }
    }

    /// The number of tokens of `text`, in time proportional to n log n.
    pub(super) fn count(&self, text: &str) -> usize {
        let mut tokens = 0;
        let mut rest = text;
        while let Some(matched) = self.piece.find(rest) {
            let mut piece = matched.as_str();
            // The pattern of `tiktoken` has `\s+(?!\S)` before `\s+`: the last character of white space
            // belongs to the word after it. Line breaks are matched by another alternative.
            if matched.end() < rest.len()
                && let Some((last, character)) = piece.char_indices().next_back()
                && last > 0
                && character.is_whitespace()
                && !matches!(character, '\r' | '\n')
            {
                piece = piece.get(..last).unwrap_or(piece);
            }
            tokens += self.count_piece(piece.as_bytes());
            rest = rest.get(piece.len()..).unwrap_or_default();
        }
        tokens
    }

    /// The number of tokens of a piece.
    fn count_piece(&self, piece: &[u8]) -> usize {
        if self.ranks.contains_key(piece) {
            return 1;
        }
        let rank = |start: usize, end: usize| {
            let bytes = piece.get(start..end).filter(|bytes| bytes.len() <= self.longest);
            bytes.and_then(|bytes| self.ranks.get(bytes)).copied()
        };
        // By the byte at which a part begins. Where none begins any more, `pair` is `None`.
        let mut parts: Vec<Part> = (0..piece.len())
            .map(|start| Part {
                end: start + 1,
                previous: start.checked_sub(1),
                pair: rank(start, start + 2),
            })
            .collect();
        let pairs =
            parts.iter().enumerate().filter_map(|(start, part)| Some(key(part.pair?, start)));
        let mut pairs = BinaryHeap::from(pairs.collect::<Vec<_>>());
        let mut count = parts.len();
        while let Some(Reverse(next)) = pairs.pop() {
            let start = (next & START) as usize;
            let Some(&first) = parts.get(start) else { continue };
            // One of the two parts may have become part of another one since.
            if first.pair.map(|rank| key(rank, start)) != Some(Reverse(next)) {
                continue;
            }
            let Some(second) = parts.get_mut(first.end) else { continue };
            second.pair = None;
            let end = second.end;
            count -= 1;
            let pair = parts.get_mut(end).and_then(|after| {
                after.previous = Some(start);
                rank(start, after.end)
            });
            pairs.extend(pair.map(|rank| key(rank, start)));
            if let Some(merged) = parts.get_mut(start) {
                (merged.end, merged.pair) = (end, pair);
            }
            if let Some(start) = first.previous
                && let Some(before) = parts.get_mut(start)
            {
                before.pair = rank(start, end);
                pairs.extend(before.pair.map(|rank| key(rank, start)));
            }
        }
        count
    }
}

/// A part of a piece.
#[derive(Clone, Copy)]
struct Part {
    end: usize,
    /// Where the part before it begins.
    previous: Option<usize>,
    /// The rank of what it and the part after it are together.
    pair: Option<u32>,
}

/// The bits of a key that say where the pair begins.
const START: u64 = (1 << 40) - 1;

/// Orders pairs: the lowest rank is the greatest key, and of equal ranks the leftmost one.
fn key(rank: u32, start: usize) -> Reverse<u64> {
    Reverse(u64::from(rank) << 40 | start as u64 & START)
}

#[cfg(test)]
mod tests {
    use super::*;
    use base64::prelude::{BASE64_STANDARD, Engine};
    use sha2::{Digest, Sha256};

    /// The SHA-256 of the vocabulary in the format in which OpenAI publishes it: one line per token,
    /// with its bytes in Base64 and its rank.
    fn published(encoding: &Encoding) -> String {
        let mut tokens: Vec<_> = encoding.ranks.iter().collect();
        tokens.sort_by_key(|(_, rank)| **rank);
        let mut hash = Sha256::new();
        for (token, rank) in tokens {
            hash.update(format!("{} {rank}\n", BASE64_STANDARD.encode(token)));
        }
        hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
    }

    #[test]
    fn vocabularies_are_those_that_openai_publishes() {
        assert_eq!(
            published(&O200K),
            "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d"
        );
        assert_eq!(
            published(&CL100K),
            "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7"
        );
    }
}
