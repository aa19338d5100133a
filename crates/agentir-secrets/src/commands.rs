//! Secrets in the arguments of commands: `--password …`, `-u user:password`, `mysql -p…`.

use crate::bytes::{WORD, is};
use crate::extent::{Place, value};
use crate::values::{is_letters, is_likely, is_reference};
use crate::{Secret, before_separator, is_likely_name, name_before, prefix_window};
use std::ops::Range;

/// Commands with an option that is followed by a password, and whether it may stand apart: with the others, what
/// follows a blank is the name of a database.
const WITH_PASSWORD: &[(&str, &str, bool)] = &[
    ("mysql", "-p", false),
    ("mariadb", "-p", false),
    ("sshpass", "-p", true),
    ("docker login", "-p", true),
    ("podman login", "-p", true),
    ("registry login", "-p", true),
    ("az login", "-p", true),
    ("redis-cli", "-a", true),
    ("ldapsearch", "-w", true),
];

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
    let start = at + dashes + name.len();
    let after = prefix_window(line.get(start..)?);
    let blanks = [' ', '\t'];
    // The quotes around the option in a list.
    let value = match after.strip_prefix(['"', '\'']) {
        Some(rest) => {
            rest.trim_start_matches(blanks).trim_start_matches(',').trim_start_matches(blanks)
        }
        None => after.trim_start_matches(blanks),
    };
    secret(value, start + (after.len() - value.len()))
}

/// The password behind a short option of some commands.
fn glued(line: &str, at: usize) -> Option<Secret> {
    let apart = password_option(line.as_bytes(), at)?;
    let after = prefix_window(line.get(at + 2..)?);
    let value = if apart { after.trim_start_matches(' ') } else { after };
    secret(value, at + 2 + (after.len() - value.len()))
}

/// Whether the option of one of [these commands](WITH_PASSWORD) begins here; if so, whether its password may stand
/// apart.
pub(super) fn password_option(line: &[u8], at: usize) -> Option<bool> {
    let option = line.get(at..at + 2)?;
    if !begins(line, at) || !WITH_PASSWORD.iter().any(|(_, of, _)| of.as_bytes() == option) {
        return None;
    }
    let before = line.get(at.saturating_sub(MAX_BEFORE)..at)?;
    let named = |(name, of, _): &&(&str, &str, bool)| {
        of.as_bytes() == option && memchr::memmem::find(before, name.as_bytes()).is_some()
    };
    WITH_PASSWORD.iter().find(named).map(|(_, _, apart)| *apart)
}

/// A value that is likely to be a secret, at the start of a text.
fn secret(text: &str, start: usize) -> Option<Secret> {
    let unescaped = text.trim_start_matches('\\');
    let (skipped, value) = value(unescaped, Place::WORD);
    let start = start + (text.len() - unescaped.len()) + skipped;
    let value = value.trim_end_matches('\\');
    let is_secret = !value.starts_with('-') && (is_likely(value) || is_letters(value));
    is_secret.then(|| Secret {
        what: "a password, key or token".to_owned(),
        range: start..start + value.len(),
    })
}

/// The password of `auth=("user", "password")`, as clients of HTTP take it in Python; `at` is the separator.
pub(super) fn login_in_call(line: &[u8], at: usize) -> Option<Range<usize>> {
    let name = name_before(before_separator(line, at))?;
    if line.get(at) != Some(&b'=') || !name.ends_with(b"auth") {
        return None;
    }
    let rest = line.get(at + 1..)?;
    let rest = rest.get(..rest.len().min(MAX_BEFORE))?;
    let open = rest.iter().take(32).position(|byte| *byte == b'(')?;
    let comma = open + memchr::memchr(b',', rest.get(open..)?)?;
    let blank = rest.get(comma + 1..)?.iter().take_while(|byte| **byte == b' ').count();
    let quote = rest.get(comma + 1 + blank).filter(|byte| matches!(byte, b'"' | b'\''))?;
    let start = comma + 2 + blank;
    let length = memchr::memchr(*quote, rest.get(start..)?)?;
    let value = std::str::from_utf8(rest.get(start..start + length)?).ok()?;
    let is_secret = value.len() >= MIN_PASSWORD && !is_reference(value);
    is_secret.then(|| at + 1 + start..at + 1 + start + length)
}

/// The minimum length of a password that only its place tells.
const MIN_PASSWORD: usize = 4;

/// What `aws configure set NAME VALUE` stores, and the password in a line of `.netrc`, as far as it is on one line.
pub(super) fn stored(line: &str, offset: usize, found: &mut Vec<Secret>) {
    let mut add =
        |at: usize| {
            let value = line.get(at..).map(prefix_window).and_then(|value| secret(value, at));
            found.extend(value.map(|one| Secret {
                range: one.range.start + offset..one.range.end + offset,
                ..one
            }));
        };
    for at in memchr::memmem::find_iter(line.as_bytes(), STORE) {
        let name = prefix_window(line.get(at + STORE.len()..).unwrap_or_default());
        if let Some((name, _)) =
            name.split_once(' ').filter(|(name, _)| is_likely_name(name.as_bytes()))
        {
            add(at + STORE.len() + name.len() + 1);
        }
    }
    let machine = memchr::memmem::find(line.as_bytes(), b"machine ");
    if let Some(machine) = machine {
        let rest = line.get(machine..).unwrap_or_default();
        let login = memchr::memmem::find(rest.as_bytes(), b" login ");
        let passwords = memchr::memmem::find_iter(rest.as_bytes(), NETRC);
        passwords.filter(|at| login.is_some_and(|login| login < *at)).for_each(|at| {
            add(machine + at + NETRC.len());
        });
    }
}

/// Before the name and the value of a setting.
const STORE: &[u8] = b"configure set ";

/// Before a password.
const NETRC: &[u8] = b" password ";

/// Whether a line may have what [`stored`] finds.
pub(super) fn may_be_stored(line: &[u8]) -> bool {
    [STORE, NETRC].iter().any(|words| memchr::memmem::find(line, words).is_some())
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
            "redis-cli -a {} ping",
            "docker login -u me -p {} registry.example",
            "aws configure set aws_secret_access_key {}",
            "machine h.example login me password {}",
            "requests.post(url, auth=(\"admin\", \"{}\"))",
            "AZDO_PAT={}",
            "export SECRET_KEY_BASE={}",
        ] {
            let shown = mask(&text.replace("{}", "Zk7qVx2m")).into_owned();
            assert_eq!(shown, text.replace("{}", "…"));
        }
        for plain in [
            "mysql -p shop2024x",
            "mkdir -pZk7qVx2m",
            "mysql -p$SECRET1",
            "compat: v2beta1",
            "grep -a Zk7qVx2m",
            "auth=(user, password)",
        ] {
            assert_eq!(mask(plain), plain);
        }
    }
}
