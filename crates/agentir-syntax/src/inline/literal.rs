//! Values of literals.

use crate::text::offset;
use smol_str::SmolStr;

/// Resolves escapes. `resolve` maps the character after a backslash; the error is the offset of the first
/// backslash before an unknown character.
pub fn unescaped(text: &str, resolve: impl Fn(char) -> Option<char>) -> Result<SmolStr, u32> {
    let Some(first) = memchr::memchr(b'\\', text.as_bytes()) else {
        return Ok(SmolStr::new(text));
    };
    let mut result = String::with_capacity(text.len());
    result.push_str(text.get(..first).unwrap_or_default());
    let mut chars = text.get(first..).unwrap_or_default().char_indices();
    while let Some((at, c)) = chars.next() {
        result.push(match c {
            '\\' => chars.next().and_then(|(_, c)| resolve(c)).ok_or(offset(first + at))?,
            _ => c,
        });
    }
    Ok(result.into())
}

/// Resolves escapes; unknown escapes are literal: `"\d"` is `\d`.
pub fn unescaped_leniently(text: &str, resolve: impl Fn(char) -> Option<char>) -> SmolStr {
    if memchr::memchr(b'\\', text.as_bytes()).is_none() {
        return SmolStr::new(text);
    }
    let mut result = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match chars.clone().next().filter(|_| c == '\\').and_then(&resolve) {
            Some(resolved) => {
                result.push(resolved);
                chars.next();
            }
            None => result.push(c),
        }
    }
    result.into()
}

/// The number as an index, if it is a valid one.
pub fn whole_number(number: f64) -> Option<u32> {
    let whole = number.fract() == 0.0 && (0.0..=f64::from(u32::MAX)).contains(&number);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked above")]
    whole.then_some(number as u32)
}
