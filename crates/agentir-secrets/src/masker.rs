//! Masks for secrets that were found elsewhere, or that somebody says are secrets.

use crate::mask::{HEAD, MASK, MIN_SHOWN, Mask, masks, merged};
use crate::values::is_told_apart;
use crate::views::readings;
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt::{self, Write as _};

/// The minimum length of a secret that is recognised without what stands around it. Passwords in addresses may
/// be shorter, and are then words like others.
const MIN_KNOWN: usize = 6;

/// A text without its secrets, by what they look like alone.
#[must_use]
pub fn mask(text: &str) -> Cow<'_, str> {
    Masker::default().mask(text)
}

/// Whether a value can be told from other texts when it is masked wherever it stands: it has six characters or more, and
/// is no word that programs write, such as `false`.
#[must_use]
pub fn may_be_told(value: &str) -> bool {
    value.len() >= MIN_KNOWN && !COMMON.iter().any(|word| value.eq_ignore_ascii_case(word))
}

/// Values of settings that programs write as well.
const COMMON: &[&str] = &["development", "localhost", "production", "staging", "undefined"];

/// A value as it is, as JSON writes it, and as addresses and forms do.
fn forms(value: &str) -> BTreeSet<String> {
    let (mut json, mut address) = (String::new(), String::new());
    for c in value.chars() {
        match c {
            '"' | '\\' => json.extend(['\\', c]),
            '\n' => json.push_str("\\n"),
            '\r' => json.push_str("\\r"),
            '\t' => json.push_str("\\t"),
            _ => json.push(c),
        }
        if c.is_ascii_alphanumeric() || "-._~".contains(c) {
            address.push(c);
        } else {
            let mut bytes = [0; 4];
            for byte in c.encode_utf8(&mut bytes).bytes() {
                let _ = write!(address, "%{byte:02X}");
            }
        }
    }
    [value.to_owned(), json, address].into()
}

/// Masks secrets in texts, those included that were found elsewhere: a message may quote a password without the
/// key that says that it is one.
#[derive(Clone)]
pub struct Masker {
    /// In order.
    known: Vec<Box<str>>,
    /// Whether one of them begins with a byte.
    first: [bool; 256],
    /// Values that are masked where they stand as a whole, the longest first.
    whole: Vec<Box<str>>,
}

impl Default for Masker {
    fn default() -> Self {
        Self { known: Vec::new(), first: [false; 256], whole: Vec::new() }
    }
}

/// It does not show what it knows.
impl fmt::Debug for Masker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Masker")
            .field("known", &self.known.len())
            .field("whole", &self.whole.len())
            .finish()
    }
}

impl<'t> FromIterator<(&'t str, &'t [Mask])> for Masker {
    /// Knows the secrets of texts, by their masks.
    fn from_iter<T: IntoIterator<Item = (&'t str, &'t [Mask])>>(texts: T) -> Self {
        let mut known: Vec<Box<str>> = Vec::new();
        for (text, masks) in texts {
            let masks = masks.iter().filter(|mask| mask.searched);
            for secret in masks.filter_map(|mask| text.get(mask.secret.clone())) {
                // A message quotes what an escape means.
                let readings = readings(secret).into_iter().map(String::into_boxed_str);
                // Of one with several words, a part may be quoted, and a name that has one may be made into words.
                let words = secret.split(|c: char| c.is_whitespace() || matches!(c, '_' | '-'));
                let is_part = |word: &&str| {
                    word.len() < secret.len() && word.len() >= MIN_SHOWN && is_told_apart(word)
                };
                let words = words.filter(is_part).map(Box::from);
                let all = std::iter::once(Box::from(secret)).chain(readings).chain(words);
                known.extend(all.filter(|secret| secret.len() >= MIN_KNOWN));
            }
        }
        known.sort_unstable();
        known.dedup();
        let mut first = [false; 256];
        for byte in known.iter().filter_map(|secret| secret.as_bytes().first()) {
            if let Some(first) = first.get_mut(usize::from(*byte)) {
                *first = true;
            }
        }
        Self { known, first, whole: Vec::new() }
    }
}

impl Masker {
    /// Masks these values as well, also as they are written in JSON and in addresses: those of
    /// [`may_be_told`]. They stand for what is secret whatever they look like, so another text that begins like one of them
    /// stays as it is, and of a short one only a whole word is masked.
    #[must_use]
    pub fn with_values<'v>(mut self, values: impl IntoIterator<Item = &'v str>) -> Self {
        for value in values.into_iter().map(str::trim).filter(|value| may_be_told(value)) {
            self.whole.extend(forms(value).into_iter().map(String::into_boxed_str));
        }
        self.whole.sort_unstable_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        self.whole.dedup();
        self
    }

    /// Whether it knows no secrets. Those of known formats are masked all the same.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.known.is_empty() && self.whole.is_empty()
    }

    /// A text without its secrets.
    #[must_use]
    pub fn mask<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let all = self.masks(text);
        if all.is_empty() {
            return Cow::Borrowed(text);
        }
        let mut out = String::with_capacity(text.len());
        let mut at = 0;
        for Mask { hidden, .. } in all {
            out.push_str(text.get(at..hidden.start).unwrap_or_default());
            out.push(MASK);
            at = hidden.end;
        }
        out.push_str(text.get(at..).unwrap_or_default());
        Cow::Owned(out)
    }

    /// Takes the secrets out of a text.
    pub fn mask_in_place(&self, text: &mut String) {
        if let Cow::Owned(masked) = self.mask(text) {
            *text = masked;
        }
    }

    /// The masks of a text, in order and without overlap.
    #[must_use]
    pub fn masks(&self, text: &str) -> Vec<Mask> {
        let mut all = masks(text);
        if self.is_empty() {
            return all;
        }
        self.find_known(text, &mut all);
        self.find_values(text, &mut all);
        merged(all)
    }

    /// Finds the values that are masked as a whole.
    fn find_values(&self, text: &str, all: &mut Vec<Mask>) {
        for value in &self.whole {
            let is_long = value.chars().nth(MIN_SHOWN - 1).is_some();
            for at in memchr::memmem::find_iter(text.as_bytes(), value.as_bytes()) {
                let end = at + value.len();
                let is_outside = |c: Option<char>| !c.is_some_and(char::is_alphanumeric);
                let before = text.get(..at).and_then(|before| before.chars().next_back());
                let behind = text.get(end..).and_then(|behind| behind.chars().next());
                if is_long || (is_outside(before) && is_outside(behind)) {
                    let head = Mask::new(value, 0..value.len()).hidden.start;
                    all.push(Mask { secret: at..end, hidden: at + head..end, searched: true });
                }
            }
        }
    }

    /// Finds the secrets that are known. A text that was cut may contain only the start of one.
    fn find_known(&self, text: &str, all: &mut Vec<Mask>) {
        let mut end = 0;
        for (at, byte) in text.bytes().enumerate() {
            if at < end || !self.first.get(usize::from(byte)).is_some_and(|first| *first) {
                continue;
            }
            let Some(rest) = text.get(at..) else { continue };
            let after = self.known.partition_point(|secret| &**secret <= rest);
            let near = [after.checked_sub(1), Some(after)];
            let near = near.into_iter().flatten().filter_map(|index| self.known.get(index));
            let longest = near.map(|secret| (common(secret, rest), secret)).max();
            let Some((length, secret)) = longest else { continue };
            let is_word = || {
                let is_outside = |c: Option<char>| !c.is_some_and(char::is_alphanumeric);
                let before = text.get(..at).and_then(|before| before.chars().next_back());
                let behind = rest.get(length..).and_then(|behind| behind.chars().next());
                is_outside(before) && is_outside(behind)
            };
            // A text that ends here, or was cut here, may have ended in the middle of it.
            let is_cut = || matches!(rest.get(length..), Some(rest) if rest.is_empty() || rest.starts_with(MASK));
            let long = length >= MIN_SHOWN || (length > HEAD && is_cut());
            if long || (length == secret.len() && is_word()) {
                end = at + length;
                // How much of it is shown depends on the secret, not on how much of it is here.
                let head = Mask::new(secret, 0..secret.len()).hidden.start;
                let hidden = at + head.min(length)..end;
                all.push(Mask { secret: at..end, hidden, searched: true });
            }
        }
    }
}

/// The number of bytes in which two texts agree, in whole characters.
fn common(one: &str, other: &str) -> usize {
    let same = one.bytes().zip(other.bytes()).take_while(|(a, b)| a == b).count();
    one.floor_char_boundary(same)
}
