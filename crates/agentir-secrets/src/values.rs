//! Whether a value looks like a secret: generated, chosen by a person, or standing for one.

use crate::table::{Alphabet, PLACEHOLDERS};

/// The minimum length of a run of token bytes in a generated secret. Only passwords are shorter.
pub(super) const MIN_RUN_LEN: usize = 16;

/// Whether a value is a placeholder of a secret.
pub(super) fn is_placeholder(value: &str) -> bool {
    let lower = value.to_ascii_lowercase();
    value.contains(['{', '}', '<', '>', '$', '[', ']', '%'])
        || PLACEHOLDERS.iter().any(|word| lower.contains(word))
}

/// The minimum number of digits in a generated value.
pub(super) const MIN_DIGITS: usize = 3;

/// Whether a value looks generated.
pub(super) fn is_random(value: &str) -> bool {
    let digits = value.bytes().filter(u8::is_ascii_digit).count();
    value.len() >= 16
        && digits >= MIN_DIGITS
        && value.bytes().any(|c| c.is_ascii_alphabetic())
        && value.bytes().all(|c| Alphabet::Base64.has(c) || matches!(c, b'.' | b'~'))
        && !is_placeholder(value)
        && entropy(value) > 3.5
}

/// Whether a value looks like a password chosen by a person.
pub(super) fn is_chosen_password(value: &str) -> bool {
    (6..=64).contains(&value.len())
        && value.bytes().all(|c| c.is_ascii_graphic())
        && value.bytes().any(|c| c.is_ascii_alphabetic())
        && value.bytes().any(|c| c.is_ascii_digit() || b"!@#^&*?+".contains(&c))
        && !is_placeholder(value)
}

/// Whether what stands behind the name of a secret is likely to be one, rather than a word or a type.
pub(super) fn is_likely(value: &str) -> bool {
    value.len() >= 6
        && value.bytes().all(|c| c.is_ascii_graphic())
        && value.bytes().any(|c| c.is_ascii_alphabetic())
        && value.bytes().any(|c| c.is_ascii_digit() || b"!#^&*?+".contains(&c))
        && !is_placeholder(value)
}

/// Whether one of several words is likely to be made up: digits stand between its letters.
pub(super) fn has_drawn_word(value: &str) -> bool {
    let is_drawn = |word: &str| {
        let pairs = word.bytes().zip(word.bytes().skip(1));
        let changes = pairs.filter(|(a, b)| {
            (a.is_ascii_digit() && b.is_ascii_alphabetic())
                || (a.is_ascii_alphabetic() && b.is_ascii_digit())
        });
        is_likely(word) && changes.count() >= 2
    };
    value.split_ascii_whitespace().any(is_drawn) && !is_placeholder(value)
}

/// Whether a value is likely to be generated, less surely than [`is_random`].
pub(super) fn is_drawn(value: &str) -> bool {
    let digits = value.bytes().filter(u8::is_ascii_digit).count();
    value.len() >= MIN_RUN_LEN && digits >= MIN_DIGITS && is_likely(value) && entropy(value) > 3.0
}

/// Whether letters behind the name of a secret are likely to be one, rather than words: many changes between small
/// letters and capitals, or more consonants in a row than words have, or more letters than one word has.
pub(super) fn is_letters(value: &str) -> bool {
    // What stands for a secret is looked for last: it takes longer.
    are_drawn(value) && !is_placeholder(value)
}

fn are_drawn(value: &str) -> bool {
    let is_separator = |byte: u8| matches!(byte, b'_' | b'-' | b'.' | b'+' | b'/' | b'=');
    let letters = value.bytes().filter(u8::is_ascii_alphabetic).count();
    let is_text = value.bytes().all(|byte| byte.is_ascii_alphabetic() || is_separator(byte));
    if letters < 12 || !is_text {
        return false;
    }
    let count = |class: fn(u8) -> bool| value.bytes().filter(|byte| class(*byte)).count();
    let is_vowel = |byte: u8| b"aeiouy".contains(&byte.to_ascii_lowercase());
    let (capitals, vowels) = (count(|b| b.is_ascii_uppercase()), count(is_vowel));
    if capitals == 0 || capitals == letters {
        let parts = value.as_bytes().split(|byte| is_vowel(*byte) || is_separator(*byte));
        let consonants = parts.map(<[u8]>::len).max().unwrap_or_default();
        return consonants >= 6 || (capitals == 0 && letters == value.len() && letters >= 20);
    }
    let pairs = value.bytes().zip(value.bytes().skip(1));
    let changes = pairs.filter(|(a, b)| a.is_ascii_lowercase() != b.is_ascii_lowercase()).count();
    // The letters that may be those of words.
    let small = value.as_bytes().split(|byte| !byte.is_ascii_lowercase());
    let in_words: usize = small.map(<[u8]>::len).filter(|length| *length >= 3).sum();
    capitals * 5 >= letters
        && capitals * 5 <= letters * 4
        && changes * 4 >= letters
        && (in_words * 20 < letters * 7
            || (in_words * 5 < letters * 3 && vowels * 10 < letters * 3))
}

/// Shannon entropy of the characters of a text, in bits per character.
pub(super) fn entropy(text: &str) -> f64 {
    let mut counts = [0_u32; 256];
    for byte in text.bytes() {
        if let Some(count) = counts.get_mut(usize::from(byte)) {
            *count += 1;
        }
    }
    #[expect(clippy::cast_precision_loss, reason = "lengths of lines")]
    let all = text.len() as f64;
    counts
        .iter()
        .filter(|count| **count > 0)
        .map(|count| {
            let share = f64::from(*count) / all;
            -share * share.log2()
        })
        .sum()
}
