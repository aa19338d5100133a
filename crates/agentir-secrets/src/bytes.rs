//! What single bytes say about a text: most of them need no further check.

use crate::table::{Alphabet, DISCORD_STARTS, FORMATS};

/// Authentication schemes followed by a secret, in lower case, with its description.
pub(super) const SCHEMES: &[(&str, &str)] =
    &[("bearer ", "a bearer token"), ("basic ", "a user name and password")];

/// For each byte, the formats and schemes that have it as first byte, and as second byte of their prefix,
/// as bit sets: formats first, then schemes. The first two bytes exclude nearly all words.
static PREFIXES: [[u128; 256]; 2] = prefixes();

#[expect(clippy::indexing_slicing, reason = "a byte is below 256, and this runs in the compiler")]
const fn prefixes() -> [[u128; 256]; 2] {
    let mut all = [[0; 256]; 2];
    let mut at = 0;
    while at < FORMATS.len() + SCHEMES.len() {
        let prefix =
            if at < FORMATS.len() { FORMATS[at].prefix } else { SCHEMES[at - FORMATS.len()].0 };
        if let [first, second, ..] = prefix.as_bytes() {
            all[0][*first as usize] |= 1 << at;
            all[1][*second as usize] |= 1 << at;
            if at >= FORMATS.len() {
                all[0][first.to_ascii_uppercase() as usize] |= 1 << at;
                all[1][second.to_ascii_uppercase() as usize] |= 1 << at;
            }
        }
        at += 1;
    }
    all
}

/// Whether a format or a scheme starts with these two bytes.
pub(super) fn may_begin(first: u8, second: Option<u8>) -> bool {
    let [firsts, seconds] = &PREFIXES;
    let of =
        |bits: &[u128; 256], byte: u8| bits.get(usize::from(byte)).copied().unwrap_or_default();
    let [discord, discord_second] = DISCORD_STARTS;
    second.is_some_and(|second| {
        of(firsts, first) & of(seconds, second) != 0
            || (discord.contains(&first) && discord_second.contains(&second))
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
