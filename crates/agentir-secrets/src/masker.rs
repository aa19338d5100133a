//! Masks for secrets that were found elsewhere, or that somebody says are secrets.

use crate::encodings::{Form, MIN_KNOWN, forms, may_be_told};
use crate::issued::Issued;
use crate::mask::{HEAD, MASK, MIN_SHOWN, Mask, masks, merged};
use crate::values::is_told_apart;
use crate::views::readings;
use std::borrow::Cow;
use std::fmt;

/// A text without its secrets, by what they look like alone.
#[must_use]
pub fn mask(text: &str) -> Cow<'_, str> {
    Masker::default().mask(text)
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
    whole: Vec<Form>,
    /// Likewise, those that become known later.
    issued: Option<Issued>,
}

impl Default for Masker {
    fn default() -> Self {
        Self { known: Vec::new(), first: [false; 256], whole: Vec::new(), issued: None }
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
        Self { known, first, whole: Vec::new(), issued: None }
    }
}

impl Masker {
    /// Masks these values as well, also as they are written in other case, in JSON, addresses, HTML and Base64: those of
    /// [`may_be_told`]. They stand for what is secret whatever they look like, so another text that begins like one of them
    /// stays as it is, and of a short one only a whole word is masked.
    #[must_use]
    pub fn with_values<'v>(mut self, values: impl IntoIterator<Item = &'v str>) -> Self {
        for value in values.into_iter().map(str::trim).filter(|value| may_be_told(value)) {
            self.whole.extend(forms(value));
        }
        let length = |form: &Form| form.text.len();
        self.whole.sort_unstable_by(|a, b| {
            length(b)
                .cmp(&length(a))
                .then_with(|| (&a.text, b.in_words).cmp(&(&b.text, a.in_words)))
        });
        // Of two that are the same, the first is found in more places.
        self.whole.dedup_by(|a, b| a.text == b.text);
        self
    }

    /// Masks what is issued from now on as well, likewise.
    #[must_use]
    pub fn with_issued(mut self, issued: Issued) -> Self {
        self.issued = Some(issued);
        self
    }

    /// Whether a text contains one of the [values](Self::with_values), in any form.
    #[must_use]
    pub fn finds_value(&self, text: &str) -> bool {
        let mut found = Vec::new();
        self.find_values(text, &mut found);
        !found.is_empty()
    }

    /// Whether it knows no secrets. Those of known formats are masked all the same.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.known.is_empty() && self.whole.is_empty() && self.issued.is_none()
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
        self.whole.iter().for_each(|form| find_form(form, text, all));
        if let Some(issued) = &self.issued {
            issued.forms(&mut |form| find_form(form, text, all));
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

/// Finds a form of a value in a text.
fn find_form(form: &Form, text: &str, all: &mut Vec<Mask>) {
    let value = &*form.text;
    let is_long = form.in_words || value.chars().nth(MIN_SHOWN - 1).is_some();
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

/// The number of bytes in which two texts agree, in whole characters.
fn common(one: &str, other: &str) -> usize {
    let same = one.bytes().zip(other.bytes()).take_while(|(a, b)| a == b).count();
    one.floor_char_boundary(same)
}
