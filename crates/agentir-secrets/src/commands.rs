//! Secrets in the arguments of commands: `--password …`, `-u user:password`, `mysql -p…`.

use crate::bytes::{WORD, is};
use crate::values::{is_letters, is_likely};
use crate::{Secret, before_separator, ends_value, is_likely_name, name_before, prefix_window};

/// Commands whose option `-p` is followed by a password, and whether it may stand apart: with the others, what
/// follows a blank is the name of a database.
const WITH_PASSWORD: &[(&str, bool)] = &[("mysql", false), ("mariadb", false), ("sshpass", true)];

/// How far before its option the name of a command may be.
const MAX_BEFORE: usize = 256;

/// The name of the option of a command that begins here, with one dash or two, if it is that of a secret which is
/// its own argument: `--password …`.
pub(super) fn option_name(line: &[u8], at: usize) -> Option<&[u8]> {
    if !begins(line, at) {
        return None;
    }
    let rest = line.get(at..)?.strip_prefix(b"-")?;
    let rest = rest.strip_prefix(b"-").unwrap_or(rest);
    let in_name = |byte: &&u8| is(**byte, WORD) || **byte == b'-';
    let name = rest.get(..rest.iter().take(64).take_while(in_name).count())?;
    let separated = rest.get(name.len()).is_some_and(|byte| b" \t\"'".contains(byte));
    (separated && is_likely_name(name)).then_some(name)
}

/// Whether an option may begin here.
fn begins(line: &[u8], at: usize) -> bool {
    let outside = |byte: &u8| !is(*byte, WORD) && *byte != b'-';
    at.checked_sub(1).and_then(|before| line.get(before)).is_none_or(outside)
}

/// What stands behind the option of a command that begins here: `--password …`, also as a list, `"--password", "…"`.
pub(super) fn after_option(line: &str, at: usize) -> Option<Secret> {
    let Some(name) = option_name(line.as_bytes(), at) else { return glued(line, at) };
    let dashes = if line.get(at..)?.starts_with("--") { 2 } else { 1 };
    let after = prefix_window(line.get(at + dashes + name.len()..)?);
    let value = after.trim_start_matches([' ', '\t', '"', '\'', ',']);
    let start = at + dashes + name.len() + (after.len() - value.len());
    secret(value, start)
}

/// The password behind `-p` of some commands.
fn glued(line: &str, at: usize) -> Option<Secret> {
    let apart = password_option(line.as_bytes(), at)?;
    let after = prefix_window(line.get(at + 2..)?);
    let blanks: &[char] = if apart { &[' ', '\'', '"'] } else { &['\'', '"'] };
    let value = after.trim_start_matches(blanks);
    secret(value, at + 2 + (after.len() - value.len()))
}

/// Whether the option `-p` of one of [these commands](WITH_PASSWORD) begins here; if so, whether its password may stand
/// apart.
pub(super) fn password_option(line: &[u8], at: usize) -> Option<bool> {
    if !line.get(at..)?.starts_with(b"-p") || !begins(line, at) {
        return None;
    }
    let before = line.get(at.saturating_sub(MAX_BEFORE)..at)?;
    let named = |(name, _): &&(&str, bool)| memchr::memmem::find(before, name.as_bytes()).is_some();
    WITH_PASSWORD.iter().find(named).map(|(_, apart)| *apart)
}

/// A value that is likely to be a secret, at the start of a text.
fn secret(text: &str, start: usize) -> Option<Secret> {
    let value = text.get(..text.find(ends_value).unwrap_or(text.len()))?;
    let is_secret = !value.starts_with('-') && (is_likely(value) || is_letters(value));
    is_secret.then(|| Secret {
        what: "a password, key or token".to_owned(),
        range: start..start + value.len(),
    })
}

/// Whether a separator is that of a login in a command: `-u user:password`.
pub(super) fn is_login(line: &[u8], at: usize) -> bool {
    let before = before_separator(line, at);
    let Some(user) = name_before(before) else { return false };
    let option = before.strip_suffix(user).unwrap_or_default();
    line.get(at) == Some(&b':') && (option.ends_with(b"-u ") || option.ends_with(b"--user "))
}

#[cfg(test)]
mod tests {
    use crate::mask;

    #[test]
    fn passwords_of_commands_are_not_shown() {
        for text in [
            "mysql -u root -p{} shop",
            "mysqldump -p'{}' shop",
            "sshpass -p {} ssh host",
            "run: [\"mariadb\", \"-p{}\"]",
        ] {
            let shown = mask(&text.replace("{}", "Zk7qVx2m")).into_owned();
            assert_eq!(shown, text.replace("{}", "…"));
        }
        for plain in ["mysql -p shop2024x", "mkdir -pZk7qVx2m", "mysql -p$SECRET1"] {
            assert_eq!(mask(plain), plain);
        }
    }
}
