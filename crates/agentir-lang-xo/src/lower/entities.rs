//! Characters that exports write as entities of HTML: `&amp;` is `&`. The editor escapes what people type.

use crate::Text;
use std::borrow::Cow;
use std::ops::Range;

/// The longest entity without its `&`, in bytes: `CounterClockwiseContourIntegral;`.
const MAX_LEN: usize = 32;

/// A text with the characters that its entities stand for.
pub(super) fn unescaped(text: &Text) -> Text {
    let mut parts: Vec<(Range<usize>, String)> = Vec::new();
    for (start, _) in text.value.match_indices('&') {
        let rest = text.value.get(start..).unwrap_or_default();
        let Some(length) = rest.bytes().take(MAX_LEN + 1).position(|c| c == b';') else { continue };
        if let Some(characters) = rest.get(..=length).and_then(characters) {
            parts.push((start..start + length + 1, characters));
        }
    }
    if parts.is_empty() { text.clone() } else { text.replaced(&parts) }
}

/// What an entity stands for, if it is one.
fn characters(entity: &str) -> Option<String> {
    match html_escape::decode_html_entities(entity) {
        Cow::Owned(all) if all != entity && !all.contains(char::is_control) => Some(all),
        _ => None,
    }
}
