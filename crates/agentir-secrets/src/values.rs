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

/// Characters that words and types do not have, and passwords do.
const MARKS: &str = "!#^&*?+$%@~\\€£¥§°";

/// The minimum length of a password in characters.
const MIN_CHARS: usize = 6;

/// Whether what stands behind the name of a secret is likely to be one, rather than a word or a type: it has letters of
/// any alphabet, and digits or marks.
pub(super) fn is_likely(value: &str) -> bool {
    let value = judged(value);
    value.chars().nth(MIN_CHARS - 1).is_some()
        && value.chars().all(|c| !c.is_whitespace() && !c.is_control())
        && value.chars().any(char::is_alphabetic)
        && (value.chars().any(|c| c.is_numeric() || MARKS.contains(c))
            || (is_mixed(value) && !begins_computed(value)))
        && !is_reference(value)
}

/// The part of a value by which it is told what it is. What is longer looks the same.
fn judged(value: &str) -> &str {
    value.get(..value.floor_char_boundary(MAX_JUDGED)).unwrap_or(value)
}

/// The length of that part in bytes.
const MAX_JUDGED: usize = 128;

/// Whether letters and marks alternate more than in words, types and paths.
fn is_mixed(value: &str) -> bool {
    let (mut length, mut changes, mut kinds, mut last) = (0_usize, 0_usize, 0_u32, 0);
    for c in value.chars() {
        let kind: u32 = match c {
            'A'..='Z' => 1,
            _ if c.is_alphabetic() => 2,
            _ if c.is_numeric() => 4,
            _ => 8,
        };
        // A capital letter begins a word.
        changes += usize::from(length > 0 && kind != last && (last, kind) != (1, 2));
        kinds |= kind;
        last = kind;
        length += 1;
    }
    length >= 8 && kinds.count_ones() >= 3 && changes * 20 >= (length - 1) * 9
}

/// Whether a value stands for a secret: it names one, says that there is to be one, or is computed. A sign within it, such
/// as `$` or `<`, does not make it one: passwords have all signs.
pub(super) fn is_reference(value: &str) -> bool {
    let lower = value.to_ascii_lowercase();
    if PLACEHOLDERS.iter().any(|word| lower.contains(word)) {
        return true;
    }
    let around = |start: &str, end: &str| {
        value.len() > start.len() + end.len() && value.starts_with(start) && value.ends_with(end)
    };
    let is_enclosed = [("<", ">"), ("{", "}"), ("[", "]"), ("%", "%"), ("${", "}"), ("$(", ")")];
    if is_enclosed.iter().any(|(start, end)| around(start, end)) || is_computed(value) {
        return true;
    }
    let mut rest = value.chars();
    let sign = rest.next();
    let name = rest.as_str();
    let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.bytes().all(|c| c.is_ascii_alphanumeric() || b"_.-/".contains(&c));
    let is_named = is_name
        && match sign {
            // A variable of a shell, of PHP.
            Some('$') => !is_made_up(name),
            // A variable of an agent: `@variables.token`.
            Some('@') => name.contains('.') && !is_made_up(name),
            // YAML's anchors, aliases and tags.
            Some('&' | '*' | '!') => !name.bytes().any(|c| c.is_ascii_digit()),
            _ => false,
        };
    is_named || (value.contains(['{', '<', '%']) && has_holes(value))
}

/// Whether a name is no word: digits stand between its letters more than once, or its letters are drawn.
fn is_made_up(name: &str) -> bool {
    let is_digit = |c: &u8| c.is_ascii_digit();
    let digits = name.as_bytes().chunk_by(|a, b| is_digit(a) == is_digit(b));
    let groups = digits.filter(|group| group.first().is_some_and(is_digit)).count();
    let has_small = name.bytes().any(|c| c.is_ascii_lowercase());
    (groups >= 2 && has_small) || are_drawn(name)
}

/// Whether a value is a call or a type with arguments: words, and brackets around the rest.
fn is_computed(value: &str) -> bool {
    let value = value.trim_start_matches('&').trim_end_matches([',', ';', '?', '!']);
    if value.starts_with('[') && value.ends_with(']') {
        return true;
    }
    let Some(at) = value.find(['(', '[', '<']) else { return false };
    let (name, rest) = value.split_at(at);
    let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.bytes().all(|c| c.is_ascii_alphanumeric() || b"_.:".contains(&c));
    let ends = matches!(
        (rest.bytes().next(), rest.bytes().next_back()),
        (Some(b'('), Some(b')')) | (Some(b'['), Some(b']')) | (Some(b'<'), Some(b'>'))
    );
    // Of a call with several arguments only the first may be here.
    let has_text = rest.get(1..).is_some_and(|rest| rest.starts_with(['"', '\'', '\\']));
    is_name && (ends || has_text) && !is_made_up(name)
}

/// Whether a value begins as a call or a type with arguments does: with a word.
fn begins_computed(value: &str) -> bool {
    let name = value.trim_start_matches(['&', '*', '[']);
    let in_name = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.';
    let length = name.find(|c| !in_name(c)).unwrap_or(name.len());
    let (name, rest) = name.split_at(length);
    length >= 2 && is_wordy(name) && rest.starts_with(['(', '[', '<', ':', '!'])
}

/// How many signs that may begin a hole are looked at.
const MAX_HOLES: usize = 16;

/// Whether parts of a value are put in later, and the rest of it is no secret: `{{user}}-{{number}}`.
fn has_holes(value: &str) -> bool {
    let mut rest = value;
    let mut kept = String::new();
    let mut holes = 0_usize;
    // More than a value has: what follows them counts as text.
    for _ in 0..MAX_HOLES {
        let Some(at) = rest.find(['{', '<', '%']) else { break };
        let (before, hole) = rest.split_at(at);
        let before_sign = before.strip_suffix('$').unwrap_or(before);
        kept.push_str(before_sign);
        let name = |text: &str| {
            text.bytes().all(|c| c.is_ascii_alphanumeric() || b"_.-@! ".contains(&c))
                && !is_made_up(text)
        };
        let found =
            [("{{", "}}"), ("{", "}"), ("<", ">"), ("%", "%")].iter().find_map(|(start, end)| {
                let inside = hole.strip_prefix(start)?;
                let (inside, behind) = inside.split_once(end)?;
                (!inside.is_empty() && name(inside.trim())).then_some(behind)
            });
        match found {
            Some(behind) => {
                holes += 1;
                rest = behind;
            }
            None => {
                let first = hole.chars().next().map_or(1, char::len_utf8);
                kept.push_str(hole.get(..first).unwrap_or_default());
                rest = hole.get(first..).unwrap_or_default();
            }
        }
    }
    kept.push_str(rest);
    holes > 0 && !(kept.len() >= MIN_CHARS && is_made_up(&kept))
}

/// Whether a secret can be told from words, so that it may be looked for where nothing says that it is one.
pub(super) fn is_told_apart(value: &str) -> bool {
    is_likely(value) || is_letters(value) || (value.len() >= MIN_RUN_LEN && !is_wordy(value))
}

/// Whether a value is words: joined by hyphens, dots and the like, or by capital letters (`sessionCookie`).
pub(super) fn is_wordy(value: &str) -> bool {
    let humps = |part: &str| {
        let capital = |c: char| c.is_ascii_uppercase();
        let count = part.chars().filter(|c| capital(*c)).count();
        let letters = part.bytes().all(|c| c.is_ascii_alphabetic());
        // As in `getUserIDByKey`, some letters of which are capital.
        letters && !are_drawn(part) && count * 4 <= part.len()
    };
    is_words(value) || value.split(['-', '_', '.', '/', ':']).all(humps)
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
    value.split_whitespace().any(is_drawn) && !is_reference(value)
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
    let value = judged(value);
    are_drawn(value) && !is_reference(value)
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

/// Whether a text is words, joined by hyphens and the like: `self-service`, `Room/Suite`, `configuration-v2`. A number
/// may follow them.
pub(super) fn is_words(text: &str) -> bool {
    let mut digits = 0;
    for (at, part) in text.split(['-', '_', '.', '/']).enumerate() {
        let word = part.trim_end_matches(|c: char| c.is_ascii_digit());
        let here = part.len() - word.len();
        let counts = here == 0 || (at > 0 && (word.is_empty() || here == 1));
        if !is_word(word) || !counts || (digits > 0 && !word.is_empty()) {
            return false;
        }
        digits += here;
    }
    digits <= MAX_DIGITS
}

/// The number of digits of a year, or of a version.
const MAX_DIGITS: usize = 4;

/// The length of an abbreviation.
const MAX_ABBREVIATION: usize = 4;

/// Whether a text is lower-case letters, a capitalised word, or an abbreviation in capitals.
fn is_word(text: &str) -> bool {
    let rest = text.strip_prefix(|c: char| c.is_ascii_uppercase()).unwrap_or(text);
    let is_short =
        text.len() <= MAX_ABBREVIATION && text.bytes().all(|byte| byte.is_ascii_uppercase());
    is_short || rest.bytes().all(|byte| byte.is_ascii_lowercase())
}
