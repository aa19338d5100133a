//! What single bytes say about a text: most of them need no further check.

use crate::table::{Alphabet, DISCORD_STARTS, FORMATS};

/// Authentication schemes followed by a secret, in lower case, with its description.
pub(super) const SCHEMES: &[(&str, &str)] =
    &[("bearer ", "a bearer token"), ("basic ", "a user name and password")];

/// Whether a format, a scheme or a form with parts begins with two bytes: a bit for each second byte, in two words for
/// each first byte. The first two bytes exclude nearly all words.
static PREFIXES: [[u128; 2]; 256] = prefixes();

#[expect(clippy::indexing_slicing, reason = "a byte is below 256, and this runs in the compiler")]
const fn prefixes() -> [[u128; 2]; 256] {
    let mut all = [[0; 2]; 256];
    let mut at = 0;
    while at < FORMATS.len() + SCHEMES.len() {
        let prefix =
            if at < FORMATS.len() { FORMATS[at].prefix } else { SCHEMES[at - FORMATS.len()].0 };
        if let [first, second, ..] = prefix.as_bytes() {
            // Schemes do not distinguish case.
            let mut case = 0;
            while case < if at < FORMATS.len() { 1 } else { 4 } {
                let first = if case % 2 == 0 { *first } else { first.to_ascii_uppercase() };
                let second = if case < 2 { *second } else { second.to_ascii_uppercase() };
                all[first as usize][second as usize / 128] |= 1 << (second % 128);
                case += 1;
            }
        }
        at += 1;
    }
    all
}

/// Whether a format or a scheme starts with these two bytes.
pub(super) fn may_begin(first: u8, second: Option<u8>) -> bool {
    let [discord, discord_second] = DISCORD_STARTS;
    second.is_some_and(|second| {
        let seconds = PREFIXES.get(usize::from(first));
        let half = seconds.and_then(|halves| halves.get(usize::from(second / 128)));
        half.is_some_and(|half| half & (1 << (second % 128)) != 0)
            || (discord.contains(&first) && discord_second.contains(&second))
            // Salesforce
            || (first == b'0' && second == b'0')
    })
}

/// A byte of words.
pub(super) const WORD: u8 = 1;
/// A byte that separates a name from a secret.
pub(super) const SEPARATOR: u8 = 2;
/// A byte of secrets.
pub(super) const TOKEN: u8 = 4;

/// The classes of each byte. Most bytes of a text need no further check.
static CLASSES: [u8; 256] = classes();

#[expect(clippy::indexing_slicing, reason = "a byte is below 256, and this runs in the compiler")]
const fn classes() -> [u8; 256] {
    let mut all = [0; 256];
    let mut byte = 0;
    while byte < all.len() {
        // No truncation: it is below 256.
        let this = byte as u8;
        if this.is_ascii_alphanumeric() || this == b'_' {
            all[byte] |= WORD;
        }
        if matches!(this, b':' | b'=' | b'-') {
            all[byte] |= SEPARATOR;
        }
        if Alphabet::Base64.has(this) || matches!(this, b'.' | b'~') {
            all[byte] |= TOKEN;
        }
        byte += 1;
    }
    all
}

pub(super) fn is(byte: u8, class: u8) -> bool {
    CLASSES.get(usize::from(byte)).is_some_and(|classes| classes & class != 0)
}
