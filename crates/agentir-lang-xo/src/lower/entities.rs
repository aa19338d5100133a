//! Characters that exports write as entities of HTML: `&amp;` is `&`. The editor escapes what people type.

use crate::Text;
use std::ops::Range;

/// The entities with names that editors write.
const NAMED: &[(&str, &str)] = &[
    ("amp", "&"),
    ("lt", "<"),
    ("gt", ">"),
    ("quot", "\""),
    ("apos", "'"),
    ("nbsp", "\u{a0}"),
    ("hellip", "…"),
    ("ndash", "–"),
    ("mdash", "—"),
    ("lsquo", "‘"),
    ("rsquo", "’"),
    ("ldquo", "“"),
    ("rdquo", "”"),
    ("euro", "€"),
    ("pound", "£"),
    ("copy", "©"),
    ("reg", "®"),
];

/// The longest entity, in bytes.
const MAX_LEN: usize = 10;

/// A text with the characters that its entities stand for.
pub(super) fn unescaped(text: &Text) -> Text {
    let mut parts: Vec<(Range<usize>, String)> = Vec::new();
    for (start, _) in text.value.match_indices('&') {
        let rest = text.value.get(start + 1..).unwrap_or_default();
        let Some(end) = rest.bytes().take(MAX_LEN).position(|c| c == b';') else { continue };
        if let Some(character) = rest.get(..end).and_then(character) {
            parts.push((start..start + end + 2, character));
        }
    }
    if parts.is_empty() { text.clone() } else { text.replaced(&parts) }
}

fn character(name: &str) -> Option<String> {
    let named = NAMED.iter().find(|(known, _)| *known == name);
    if let Some((_, character)) = named {
        return Some((*character).to_owned());
    }
    let number = name.strip_prefix('#')?;
    let code = match number.strip_prefix(['x', 'X']) {
        Some(hex) => u32::from_str_radix(hex, 16).ok()?,
        None => number.parse().ok()?,
    };
    char::from_u32(code).filter(|c| !c.is_control()).map(String::from)
}
