//! Makes text that others wrote safe to show: a file must not be able to move the cursor, recolour
//! the terminal or reorder what is read on it.

use std::borrow::Cow;

/// A message that quotes a whole file helps nobody.
const LONGEST_MESSAGE: usize = 2000;

/// What to show for a character; `None` for itself.
pub(crate) fn stand_in(c: char) -> Option<char> {
    match c {
        // The control pictures stand in the order of the characters they picture.
        '\0'..='\u{1F}' => char::from_u32(0x2400 + u32::from(c)),
        '\u{7F}' => Some('\u{2421}'),
        // Controls, characters no one sees, those that reorder their neighbours, and those that
        // some take to end a line.
        '\u{80}'..='\u{9F}'
        | '\u{200B}'
        | '\u{2028}'..='\u{202E}'
        | '\u{2060}'..='\u{206F}'
        | '\u{FEFF}'
        | '\u{E0000}'..='\u{E007F}' => Some('\u{FFFD}'),
        _ => None,
    }
}

/// A message on one line.
pub(crate) fn one_line(message: &str) -> Cow<'_, str> {
    if message.len() <= LONGEST_MESSAGE && message.chars().all(|c| stand_in(c).is_none()) {
        return Cow::Borrowed(message);
    }
    let mut clean: String = message
        .chars()
        .filter(|&c| c != '\r')
        .map(|c| if matches!(c, '\n' | '\t') { ' ' } else { stand_in(c).unwrap_or(c) })
        .take(LONGEST_MESSAGE)
        .collect();
    if message.chars().nth(LONGEST_MESSAGE).is_some() {
        clean.push('…');
    }
    Cow::Owned(clean)
}

#[cfg(test)]
mod tests {
    use super::one_line;

    #[test]
    fn messages_cannot_drive_the_terminal() {
        assert_eq!(one_line("say `hällo`"), "say `hällo`");
        assert_eq!(one_line("a\r\nb\tc"), "a b c");
        assert_eq!(one_line("\u{1B}[2J\u{202E}x\u{7F}"), "␛[2J\u{FFFD}x␡");
        assert_eq!(one_line(&"x".repeat(1 << 20)).chars().count(), 2001);
    }
}
